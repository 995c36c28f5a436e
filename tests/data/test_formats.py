"""File formats: valid files are read exactly, invalid ones raise DataError with their path."""

import gzip
import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import DataError
from doubletrouble.data._formats import (
    BINARY,
    CIFAR_PIXELS,
    PYTHON,
    CifarVersion,
    parse_idx,
    pickled_batch,
    read_content,
    read_npz,
)
from tests.data.files import (
    Bytes,
    cifar_batches,
    cifar_binary,
    cifar_python,
    idx,
    images,
    python2_pickle,
    tar,
    write,
)

PICTURES = images(6, 12)[0].reshape(6, 3, 4)
FILE = idx(PICTURES)


def read_idx(path: Path) -> Bytes:
    return parse_idx(read_content(path), 3, path)


def message(call: Any, *arguments: Any) -> str:
    with pytest.raises(DataError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- idx -----------------------------------------------------------------------------------------


def put(folder: Path, content: bytes, name: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


@pytest.mark.parametrize("name", ["a-idx3-ubyte", "a-idx3-ubyte.gz"])
def test_idx_files_are_read(tmp_path: Path, name: str) -> None:
    np.testing.assert_array_equal(read_idx(put(tmp_path, FILE, name)), PICTURES)


@pytest.mark.parametrize("name", ["a", "a.gz"])
def test_invalid_idx_files_are_named(tmp_path: Path, name: str) -> None:
    for content in (
        FILE[:-1],
        FILE + b"x",
        FILE[:9],
        b"",
        idx(images(6, 4)[1]),
        b"<html>not found</html>",
        FILE[:4] + struct.pack(">3I", 2**31, 2**31, 2**31),
        FILE[:4] + bytes(12),
    ):
        path = put(tmp_path, content, name)
        assert message(read_idx, path).startswith(f"{path} must "), content


def test_every_truncation_and_changed_byte_of_a_compressed_file_is_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.gz", gzip.compress(FILE, mtime=0)
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        message(read_idx, path)
    for at in range(10, len(whole)):  # the first ten bytes are the header of gzip
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        message(read_idx, path)
    path.write_bytes(b"<html>")
    assert "Not a gzipped file" in message(read_idx, path)


def test_missing_files_are_reported(tmp_path: Path) -> None:
    for name in ("absent", "absent.gz"):
        assert "cannot be read" in message(read_idx, tmp_path / name)


def test_size_of_a_decompressed_file_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("doubletrouble.data._formats._LARGEST_FILE", 1000)
    path = put(tmp_path, FILE + bytes(10**6), "a.gz")
    assert "must have at most 1000 bytes" in message(read_idx, path)


# --- CIFAR-10 ------------------------------------------------------------------------------------

VERSIONS = [(BINARY, cifar_binary()), (PYTHON, cifar_python())]


def read_cifar(version: CifarVersion, path: Path) -> dict[str, tuple[Bytes, Bytes]]:
    return {name: version.decode(content, where) for name, content, where in version.contents(path)}


def check_cifar(version: CifarVersion, path: Path) -> None:
    batches = read_cifar(version, path)
    for name, (x, classes) in zip(version.batches, cifar_batches(), strict=True):
        np.testing.assert_array_equal(batches[name][0], x)
        np.testing.assert_array_equal(batches[name][1], classes)


@pytest.mark.parametrize(("version", "files"), VERSIONS)
def test_both_versions_are_read_from_folders_and_archives(
    tmp_path: Path, version: CifarVersion, files: dict[str, bytes]
) -> None:
    check_cifar(version, write(tmp_path / "batches", files))
    archive = tmp_path / version.archive
    for folder in (version.folder, f"./{version.folder}"):
        archive.write_bytes(tar({"readme.html": b"x", **files}, folder))
        check_cifar(version, archive)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["batches", version.archive])


@pytest.mark.parametrize(("version", "files"), VERSIONS)
def test_invalid_batches_are_named(
    tmp_path: Path, version: CifarVersion, files: dict[str, bytes]
) -> None:
    name = version.batches[2]
    for content in (files[name][:-1], files[name][: len(files[name]) // 3], b"", b"<html>"):
        broken = {**files, name: content}
        text = message(read_cifar, version, write(tmp_path / "batches", broken))
        assert str(tmp_path / "batches" / name) in text
        archive = tmp_path / version.archive
        archive.write_bytes(tar(broken, version.folder))
        assert f"{name} in {archive}" in message(read_cifar, version, archive)


@pytest.mark.parametrize(("version", "files"), VERSIONS)
def test_invalid_archives_are_named(
    tmp_path: Path, version: CifarVersion, files: dict[str, bytes]
) -> None:
    archive, whole = tmp_path / version.archive, tar(files, version.folder)
    for end in (0, 5, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        archive.write_bytes(whole[:end])
        assert str(archive) in message(read_cifar, version, archive)
    archive.write_bytes(whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:])
    assert "CRC" in message(read_cifar, version, archive)
    archive.write_bytes(b"<html>")
    assert "Not a gzipped file" in message(read_cifar, version, archive)


def test_only_the_batches_of_an_archive_are_read(tmp_path: Path) -> None:
    archive = tmp_path / BINARY.archive
    for folder in (f"../{BINARY.folder}", f"/{BINARY.folder}", "elsewhere"):
        archive.write_bytes(tar(cifar_binary(), folder))
        assert read_cifar(BINARY, archive) == {}


# --- pickles -------------------------------------------------------------------------------------

X, CLASSES = images(2, CIFAR_PIXELS)


class Malicious:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", [0, 2, pickle.HIGHEST_PROTOCOL])
def test_malicious_pickle_is_not_executed(tmp_path: Path, protocol: int) -> None:
    victim = tmp_path / "victim"
    batch = {"data": Malicious(f"touch '{victim}'"), "labels": [1]}
    content = pickle.dumps(batch, protocol=protocol)
    message(pickled_batch, content, "batch")
    assert not victim.exists()
    pickle.loads(content)  # negative control: unrestricted, it is
    assert victim.exists()


def test_pickled_batches_of_python_2_are_those_of_pickle() -> None:
    content = python2_pickle(X, CLASSES.tolist())
    expected = pickle.loads(content, encoding="bytes")
    x, classes = pickled_batch(content, "batch")
    np.testing.assert_array_equal(x, expected[b"data"])
    assert classes.tolist() == expected[b"labels"]


OTHER_PICKLES = [
    b"cbuiltins\neval\n(S'1+1'\ntR.",
    b"\x82\x01.",  # an entry of the extension registry
    b"S'id'\nQ.",  # a persistent object
    b"}.",
    b"].",
    b"t.",
    b"}(U\x06labelsu.",
    b"}q\x01h\x02.",
    python2_pickle(X, [1]),
    python2_pickle(X, [1, 10]),
    python2_pickle(X[:, :784].copy(), [1, 2]),
    python2_pickle(X, [1, 2]).replace(b"u1", b"f4"),
    python2_pickle(X, [1, 2]).replace(b"_reconstruct", b"scalar"),
    python2_pickle(X, [1, 2]).replace(b"labels", b"levels"),
]


def test_other_pickles_are_not_batches() -> None:
    for content in OTHER_PICKLES:
        assert message(pickled_batch, content, "batch").startswith("batch "), content[:80]


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02}r\xff\xff\xff\x7f.",  # the memo of an unpickler would have 32 GB
        b"\x80\x02}" + b"N" * 20_000 + b".",
        b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".",
        b"cnumpy\nndarray\n(J\x00\x00\x00\x10J\x00\x00\x00\x10\x86\x85R.",
    ],
)
def test_memory_of_pickles_is_limited(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.data._formats._MOST_OPCODES", 10_000)
    tracemalloc.start()
    try:
        message(pickled_batch, content, "batch")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1e8


DOUBLED = b"K\x01K\x02\x86q\x00" + b"".join(
    b"h" + bytes([i - 1]) + b"\x86q" + bytes([i]) for i in range(1, 60)
)
WIDE = b"K\x01\x85q\x00" + b"".join(
    b"(" + (b"h" + bytes([i])) * 1000 + b"tq" + bytes([i + 1]) for i in range(8)
)


@pytest.mark.parametrize(
    "key",
    [
        DOUBLED,  # each tuple has the one before it twice: 2⁶⁰ hashes
        WIDE,  # the same with few tuples
        b"K\x01" + b"\x85" * 900_000,  # nested deeper than the stack of the interpreter
        b"K\x01\x85",
        b"K\x01",
    ],
    ids=["doubled", "wide", "deep", "tuple", "number"],
)
@pytest.mark.parametrize("content", [b"\x80\x02}%bK\x01s.", b"\x80\x02}(%bK\x01u."])
def test_keys_that_are_not_strings_are_not_hashed(key: bytes, content: bytes) -> None:
    message(pickled_batch, content % key, "batch")


def test_changed_and_truncated_pickles_are_refused_or_read() -> None:
    rng = np.random.default_rng(0)
    whole = python2_pickle(X, CLASSES.tolist())
    for _ in range(300):
        content = bytearray(whole)
        content[int(rng.integers(0, 150))] = int(rng.integers(0, 256))
        try:
            x, _ = pickled_batch(bytes(content), "batch")
        except DataError:
            continue
        assert x.shape == X.shape
    for end in range(0, 150, 7):
        message(pickled_batch, whole[:end], "batch")


# --- npz -----------------------------------------------------------------------------------------


def npz(**headers: bytes) -> bytes:
    """An .npz file whose arrays have these headers, and no data."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, header in headers.items():
            length = struct.pack("<H", len(header))
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + length + header)
    return out.getvalue()


INVALID_HEADERS = [
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (1" + b"0" * 30 + b",), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (1e400,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (",
    b"{'descr': '''",
    b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    b"{'descr': [('a', '<f8', 10**9)], 'fortran_order': False, 'shape': (1,), }",
    b"(" * 5000,
    b"\xff\xfe",
    b"1L",
    b"",
]


@pytest.mark.filterwarnings("ignore:Reading:UserWarning")  # of headers by Python 2
def test_invalid_npz_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for header in INVALID_HEADERS:
        path.write_bytes(npz(x=header))
        assert str(path) in message(read_npz, path, ("x",)), header[:80]


def test_changed_npz_files_are_refused_or_read(tmp_path: Path) -> None:
    path, out = tmp_path / "a.npz", io.BytesIO()
    np.savez(out, x=np.arange(4.0))
    whole, rng = out.getvalue(), np.random.default_rng(0)
    for at in range(len(whole)):
        content = bytearray(whole)
        content[at] = int(rng.integers(0, 256))
        path.write_bytes(bytes(content))
        try:
            arrays = read_npz(path, ("x",))
        except DataError:
            continue
        assert arrays == {} or np.array_equal(arrays["x"], np.arange(4.0))


def test_npz_arrays_are_read_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.arange(4.0), z=np.zeros(2))
    arrays = read_npz(path, ("x", "y"))
    assert list(arrays) == ["x"]
    np.testing.assert_array_equal(arrays["x"], np.arange(4.0))
