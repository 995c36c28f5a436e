"""Files as they are published: read exactly, and refused with a sentence where they are broken."""

import gzip
import os
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.data._cifar import BINARY, PIXELS, PYTHON, Version, python_batch, read_cifar
from doubletrouble.data._errors import DataError
from doubletrouble.data._idx import read_idx
from doubletrouble.data._pickles import read_pickle
from tests.data.files import cifar_batches, cifar_binary, cifar_python, idx, images, tar, write

PICTURES = images(6, 12)[0].reshape(6, 3, 4)
FILE = idx(PICTURES)


def refused(call: Any, *arguments: Any) -> str:
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
    np.testing.assert_array_equal(read_idx(put(tmp_path, FILE, name), 3), PICTURES)


@pytest.mark.parametrize("name", ["a", "a.gz"])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (FILE[:-1], "must hold the 72 bytes its header tells of, got 71, so it is truncated"),
        (FILE + b"x", "must hold the 72 bytes its header tells of, got more"),
        (FILE[:9], "is truncated: it ends within its header"),
        (b"", "must begin with the bytes 00000803 of an idx file, got nothing"),
        (idx(images(6, 4)[1]), "must begin with the bytes 00000803 of an idx file, got 00000801"),
        (b"<html>not found</html>", "must begin with the bytes 00000803 of an idx file"),
        (FILE[:4] + struct.pack(">3I", 2**31, 2**31, 2**31), "bytes, got a header with"),
        (FILE[:4] + bytes(12), "bytes, got a header with (0, 0, 0)"),
    ],
)
def test_broken_idx_files_are_refused(
    tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    path = put(tmp_path, content, name)
    assert refused(read_idx, path, 3).startswith(str(path))
    assert sentence in refused(read_idx, path, 3)


def test_every_cut_of_a_compressed_file_is_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.gz", gzip.compress(FILE)
    for end in range(len(whole)):
        path.write_bytes(whole[:end])
        refused(read_idx, path, 3)


def test_every_changed_byte_of_a_compressed_file_is_refused(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.gz", gzip.compress(FILE, mtime=0)
    for place in range(10, len(whole)):  # the ten before are gzip's own header
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        refused(read_idx, path, 3)


def test_a_file_that_swells_is_read_no_further_than_its_header_says(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(FILE + bytes(10**8), compresslevel=1))
    assert "got more" in refused(read_idx, path, 3)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "cannot be read" in refused(read_idx, tmp_path / "nothing.gz", 3)
    assert "cannot be read" in refused(read_idx, tmp_path / "nothing", 3)


# --- CIFAR-10 ------------------------------------------------------------------------------------

VERSIONS = [(BINARY, cifar_binary()), (PYTHON, cifar_python())]


def check_cifar(version: Version, path: Path) -> None:
    *train, test = cifar_batches()
    (x, c), (x_test, c_test) = read_cifar(version, path)
    np.testing.assert_array_equal(x, np.vstack([batch[0] for batch in train]))
    np.testing.assert_array_equal(c, np.concatenate([batch[1] for batch in train]))
    np.testing.assert_array_equal(x_test, test[0])
    np.testing.assert_array_equal(c_test, test[1])


@pytest.mark.parametrize(("version", "files"), VERSIONS)
def test_both_versions_are_read_from_folders_and_archives(
    tmp_path: Path, version: Version, files: dict[str, bytes]
) -> None:
    check_cifar(version, write(tmp_path / "batches", files))
    archive = tmp_path / version.archive
    for folder in (version.folder, f"./{version.folder}"):
        archive.write_bytes(tar({"readme.html": b"x", **files}, folder))
        check_cifar(version, archive)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["batches", version.archive])


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_pickles_of_every_python_are_read(tmp_path: Path, protocol: int) -> None:
    check_cifar(PYTHON, write(tmp_path, cifar_python(protocol=protocol)))


def test_arrays_stored_by_columns_are_read() -> None:
    data = np.asfortranarray(images(4, PIXELS)[0])
    batch = pickle.dumps({"data": data, "labels": [1, 2, 3, 4]}, protocol=2)
    np.testing.assert_array_equal(python_batch(batch, "a batch")[0], data)


@pytest.mark.parametrize(("version", "files"), VERSIONS)
def test_a_broken_batch_is_named(tmp_path: Path, version: Version, files: dict[str, bytes]) -> None:
    name = version.train[2]
    for content in (files[name][:-1], files[name][: len(files[name]) // 3], b"", b"<html>"):
        broken = {**files, name: content}
        sentence = refused(read_cifar, version, write(tmp_path / "batches", broken))
        assert str(tmp_path / "batches" / name) in sentence
        archive = tmp_path / version.archive
        archive.write_bytes(tar(broken, version.folder))
        assert f"{name} in {archive}" in refused(read_cifar, version, archive)


@pytest.mark.parametrize(("version", "files"), VERSIONS)
def test_a_broken_archive_is_refused(
    tmp_path: Path, version: Version, files: dict[str, bytes]
) -> None:
    archive, whole = tmp_path / version.archive, tar(files, version.folder)
    for cut in (0, 5, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        archive.write_bytes(whole[:cut])
        assert str(archive) in refused(read_cifar, version, archive)
    archive.write_bytes(whole[:-6] + bytes([whole[-6] ^ 1]) + whole[-5:])
    assert "CRC" in refused(read_cifar, version, archive)
    archive.write_bytes(b"<html>")
    assert "is not the expected file" in refused(read_cifar, version, archive)


def test_only_the_batches_of_an_archive_are_looked_at(tmp_path: Path) -> None:
    files = cifar_binary()
    archive = tmp_path / BINARY.archive
    for folder in (f"../{BINARY.folder}", f"/{BINARY.folder}", "elsewhere"):
        archive.write_bytes(tar(files, folder))
        assert "got no data_batch_1.bin, data_batch_2.bin" in refused(read_cifar, BINARY, archive)
    del files["data_batch_4.bin"]
    archive.write_bytes(tar(files, BINARY.folder))
    assert refused(read_cifar, BINARY, archive).endswith("got no data_batch_4.bin")


# --- pickles -------------------------------------------------------------------------------------


class Malicious:
    """Runs a command when it is unpickled."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_malicious_pickle_does_nothing(tmp_path: Path, protocol: int) -> None:
    victim = tmp_path / "victim"
    batch = {"data": Malicious(f"touch '{victim}'"), "labels": [1]}
    content = pickle.dumps(batch, protocol=protocol)
    sentence = refused(read_pickle, content, "batch")
    assert sentence == f"batch is refused: it asks for {os.name}.system, which no batch needs"
    assert not victim.exists()
    pickle.loads(content)  # the negative control: unrestricted, it does
    assert victim.exists()


@pytest.mark.parametrize(
    "program",
    [
        b"cbuiltins\neval\n(S'1+1'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"cnumpy\nload\n.",
        b"cnumpy.core.multiarray\nscalar\n.",
        b"cnumpy\nndarray.__class__\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x0cdtype.mro.im\x93.",
        b"\x82\x01.",  # from the registry of extensions
        b"S'id'\nQ.",  # a persistent object
    ],
)
def test_other_names_are_refused(program: bytes) -> None:
    refused(read_pickle, program, "batch")


def test_the_admitted_names_are_never_numpys_own() -> None:
    """A pickle that has NumPy allocate a terabyte gets a note of that wish, and no memory."""
    wish = b"cnumpy\nndarray\n((I1000000\nI1000000\ntS'f8'\ntR"
    assert "must hold a dictionary" in refused(read_pickle, wish + b".", "batch")
    content = b"(S'data'\n" + wish + b"d."
    assert "must hold a matrix of bytes" in refused(read_pickle, content, "batch")


@pytest.mark.parametrize("cut", range(0, 60, 7))
def test_cut_pickles_are_refused(cut: int) -> None:
    refused(read_pickle, cifar_python()["test_batch"][:cut], "batch")


@pytest.mark.parametrize(
    "batch",
    [
        [1, 2],
        {"labels": [1]},
        {"data": np.zeros((1, PIXELS), np.uint8)},
        {"data": np.zeros((1, PIXELS), np.uint8), "labels": [1, 2]},
        {"data": np.zeros((1, PIXELS), np.uint8), "labels": [10]},
        {"data": np.zeros((1, PIXELS), np.uint8), "labels": ["1"]},
        {"data": np.zeros((1, PIXELS), np.uint8), "fine_labels": [1]},
        {"data": np.zeros((1, PIXELS), np.float32), "labels": [1]},
        {"data": np.zeros((1, 3, 1024), np.uint8), "labels": [1]},
        {"data": np.zeros((1, 784), np.uint8), "labels": [1]},
        {"data": np.array([[{}]]), "labels": [1]},
    ],
)
def test_other_pickles_are_no_batches(batch: Any) -> None:
    assert "batch must hold" in refused(python_batch, pickle.dumps(batch, protocol=2), "batch")


def test_random_bytes_never_get_through() -> None:
    rng = np.random.default_rng(0)
    whole = pickle.dumps({"data": np.zeros((2, PIXELS), np.uint8), "labels": [1, 2]}, protocol=2)
    base = python_batch(whole, "batch")
    for _ in range(300):
        content = bytearray(whole)
        place = int(rng.integers(0, 120))
        content[place] = int(rng.integers(0, 256))
        try:
            found = python_batch(bytes(content), "batch")
        except DataError:
            continue
        assert found[0].shape == base[0].shape


def test_zlib_errors_are_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(FILE, mtime=0)[:10] + b"\xff" * 30)
    with pytest.raises(zlib.error):
        gzip.decompress(path.read_bytes())
    assert "is damaged: Error -3" in refused(read_idx, path, 3)


@pytest.mark.parametrize(
    ("content", "got"),
    [
        (b"<html>not found</html>", "a web page"),
        (b"\xef\xbb\xbf\r\n<!DOCTYPE html>", "a web page"),
        (FILE, "the bytes 00000803 first"),
    ],
)
def test_what_is_not_packed_is_not_called_truncated(
    tmp_path: Path, content: bytes, got: str
) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(content)
    sentence = (
        f"{path} is not the expected file: it must be packed by gzip, got {got}; "
        "replace it, or delete it to have it downloaded"
    )
    assert refused(read_idx, path, 3) == sentence
    assert refused(read_cifar, BINARY, path) == sentence
