"""Published files: every form and folder in which they are found, verification and download."""

import gc
import gzip
import socket
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import DataError, load_data
from doubletrouble.data import _originals as originals
from doubletrouble.data._originals import ORIGINS
from doubletrouble.errors import DoubleTroubleError, MissingExtraError, require
from tests.data import files as make
from tests.data.files import Server, contents, packed, published, serving, tar, unpacked, write

FILES = make.mnist_files()
FASHION = make.mnist_files(5000, 4000)  # no packed file has the size of one of MNIST
IMAGES = "train-images-idx3-ubyte"
FIRST, SECOND = list(FILES)[:2]
BATCHES, BINARY = make.cifar_python(), make.cifar_binary()
ARCHIVE = {"cifar-10-binary.tar.gz": tar(BINARY, "cifar-10-batches-bin")}
SMALL: dict[str, Any] = {"pca": None, "n_samples": 20}  # the directions of CIFAR-10 take seconds
HERE: dict[str, Any] = {**SMALL, "download": False}

VERIFIED, UNVERIFIED = "original files", "files as found, not verified"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets as the published ones; of Fashion-MNIST, only the packed files are known."""
    for name, known in (
        ("mnist", packed(FILES) | unpacked(FILES)),
        ("fashion-mnist", packed(FASHION)),
        ("cifar10", ARCHIVE | BATCHES),
    ):
        monkeypatch.setitem(ORIGINS, name, replace(ORIGINS[name], published=published(known)))


@pytest.fixture
def server(small: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A local server of the small sets."""
    gc.freeze()  # the collection below is then fast
    with serving() as server:
        server.files |= packed(FILES) | ARCHIVE
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.setattr(originals, "RETRIES", 0)
        # the handler of its logger has the stream of another test
        require("pooch", "data").get_logger().setLevel("WARNING")
        for name in ("mnist", "cifar10"):
            monkeypatch.setitem(ORIGINS, name, replace(ORIGINS[name], url=server.url))
        yield server
    with warnings.catch_warnings():  # sockets of failed transfers, which pooch does not close
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    gc.unfreeze()


def source(folder: Path, files: dict[str, bytes], name: str = "mnist") -> str:
    return str(load_data(name, folder=write(folder, files), **HERE).settings["source"])


def message(folder: Path, files: dict[str, bytes], name: str = "mnist", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        load_data(name, folder=write(folder, files), **{**HERE, **options})
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, DoubleTroubleError)
    return str(caught.value)


def flipped(content: bytes, at: int = -100) -> bytes:
    changed = bytearray(content)
    changed[at] ^= 1
    return bytes(changed)


def repacked(content: bytes) -> bytes:
    """The same content in two parts, and so of another size."""
    return gzip.compress(content[:30]) + gzip.compress(content[30:])


# --- forms and folders ---------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["", "MNIST/raw"])
def test_mnist_is_read_packed_and_unpacked(tmp_path: Path, folder: str) -> None:
    first = load_data("mnist", folder=write(tmp_path / "gz" / folder, packed(FILES)), **HERE)
    assert first.settings["source"] == UNVERIFIED
    for number, written in enumerate(
        [
            unpacked(FILES),
            {name.replace("-idx", ".idx"): file for name, file in unpacked(FILES).items()},
            {**unpacked(FILES), **packed({n: f for n, f in FILES.items() if "train" in n})},
        ]
    ):
        write(tmp_path / str(number) / folder, written)
        again = load_data("MNIST", folder=str(tmp_path / str(number)), **HERE)
        assert again.fingerprint == first.fingerprint


def test_sets_with_the_same_file_names_are_in_their_own_folders(tmp_path: Path) -> None:
    write(tmp_path / "mnist", packed(make.mnist_files(40)))
    write(tmp_path / "fashion-mnist", packed(make.mnist_files(30)))
    sizes = [
        len(load_data(name, folder=tmp_path, pca=3, n_samples=None, download=False).y_train)
        for name in ("mnist", "fashion_mnist", "fashion-mnist")
    ]
    assert sizes == [40, 30, 30]


def test_file_with_the_size_of_another_set_is_not_read(tmp_path: Path) -> None:
    label = {SECOND: b"\x1f\x8b" + bytes(28879)}  # the size of MNIST's
    assert f"got no {SECOND}" in message(tmp_path, packed(FILES) | label, "fashion-mnist")
    assert "is truncated or damaged" in message(tmp_path, {})


@pytest.mark.parametrize("folder", ["", "cifar-10"])
def test_cifar_is_read_in_every_form(tmp_path: Path, folder: str) -> None:
    forms: list[tuple[str, dict[str, bytes]]] = [
        ("cifar-10-batches-bin", BINARY),
        ("", BINARY),
        ("cifar-10-batches-py", BATCHES),
        ("", BATCHES),
        ("", ARCHIVE),
        ("", {"cifar-10-python.tar.gz": tar(BATCHES, "cifar-10-batches-py")}),
    ]
    loaded = []
    for number, (inner, files) in enumerate(forms):
        write(tmp_path / str(number) / folder / inner, files)
        loaded.append(load_data("cifar-10", folder=tmp_path / str(number), **HERE))
    assert len({data.fingerprint for data in loaded}) == 1
    classes = np.concatenate([batch[1] for batch in make.cifar_batches()[:5]])
    np.testing.assert_array_equal(loaded[0].y_train, 2.0 * (classes[:20] % 2) - 1)
    assert loaded[0].name == "cifar10"


def test_files_must_match_each_other(tmp_path: Path) -> None:
    good, other = packed(FILES), packed(make.mnist_files(50, 30, side=5))
    for name in ("train-labels-idx1-ubyte.gz", "t10k-labels-idx1-ubyte.gz"):
        assert "with one class from 0 to 9 each" in message(tmp_path, {**good, name: other[name]})
    test = {name: other[name] for name in other if "t10k" in name}
    assert "must have images of 16 pixels" in message(tmp_path, {**good, **test})
    _, classes = make.images(40, 1)
    labels = packed({"train-labels-idx1-ubyte.gz": make.idx(classes + 7)})
    assert "classes up to 16" in message(tmp_path, {**good, **labels})


def test_missing_batch_of_an_archive_is_named(tmp_path: Path) -> None:
    files = {name: content for name, content in BINARY.items() if name != "data_batch_4.bin"}
    archive = {"cifar-10-binary.tar.gz": tar(files, "cifar-10-batches-bin")}
    assert message(tmp_path, archive, "cifar10").endswith("got no data_batch_4.bin")


def test_folder_precedes_the_variable_and_the_cache(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def size(**arguments: Any) -> int:
        data = load_data("mnist", pca=3, n_samples=None, download=False, **arguments)
        return len(data.y_train)

    write(cache / "mnist", packed(make.mnist_files(30)))
    assert size() == 30
    write(tmp_path / "named" / "mnist", packed(make.mnist_files(50)))
    write(tmp_path / "given" / "mnist", packed(make.mnist_files(60)))
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "named"))
    assert size() == 50
    assert size(folder=tmp_path / "given") == 60
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "empty"))
    assert size() == 30
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"^DOUBLETROUBLE_DATA must"):
        size()


def test_missing_files_are_named_without_download(server: Server, tmp_path: Path) -> None:
    files = packed(FILES)
    del files["t10k-images-idx3-ubyte.gz"]
    text = message(tmp_path, files)
    assert str(tmp_path) in text
    assert text.endswith("got no t10k-images-idx3-ubyte.gz")
    assert "got no cifar-10-binary.tar.gz" in message(tmp_path, {}, "cifar10")
    assert server.requests == []


def test_reading_does_not_change_the_folder(tmp_path: Path) -> None:
    write(tmp_path / "mnist", packed(FILES))
    write(tmp_path, ARCHIVE)
    before = contents(tmp_path)
    load_data("mnist", folder=tmp_path, **HERE)
    load_data("cifar10", folder=tmp_path, **HERE)
    assert contents(tmp_path) == before


# --- verification --------------------------------------------------------------------------------


def test_mnist_is_verified_in_every_form(small: None, tmp_path: Path) -> None:
    forms = [
        packed(FILES),
        unpacked(FILES),
        {name.replace("-idx", ".idx"): content for name, content in unpacked(FILES).items()},
        {name: repacked(content) for name, content in FILES.items()},
    ]
    sources = [source(tmp_path / str(number), files) for number, files in enumerate(forms)]
    assert sources == [VERIFIED] * len(forms)


@pytest.mark.parametrize("name", list(FILES)[:2])
def test_one_changed_byte_of_mnist_is_refused(small: None, tmp_path: Path, name: str) -> None:
    changed, plain = flipped(FILES[name], -3), name.removesuffix(".gz")
    others = {other: content for other, content in packed(FILES).items() if other != name}
    for number, (file, content) in enumerate(
        [
            (plain, changed),
            (plain.replace("-idx", ".idx"), changed),
            (name, repacked(changed)),
            (name, flipped(packed(FILES)[name], -6)),
        ]
    ):
        folder = tmp_path / str(number)
        text = message(folder, {**others, file: content})
        assert text.startswith(f"{folder / file} is ")
        assert "damaged" in text


def test_files_of_another_size_are_not_verified(small: None, tmp_path: Path) -> None:
    train = {name: content for name, content in make.mnist_files(39).items() if "train" in name}
    assert source(tmp_path / "packed", packed({**FILES, **train})) == UNVERIFIED
    assert source(tmp_path / "unpacked", unpacked({**FILES, **train})) == UNVERIFIED


def test_fashion_is_verified_as_published(small: None, tmp_path: Path) -> None:
    name = "fashion-mnist"
    assert source(tmp_path / "a", packed(FASHION), name) == VERIFIED
    assert source(tmp_path / "b", unpacked(FASHION), name) == UNVERIFIED
    one = {FIRST: repacked(FASHION[FIRST])}
    assert source(tmp_path / "c", {**packed(FASHION), **one}, name) == UNVERIFIED


def test_published_file_under_the_name_of_another_is_refused(small: None, tmp_path: Path) -> None:
    files = {name: repacked(content) for name, content in FILES.items()}
    text = message(tmp_path, files, "fashion-mnist")
    assert f"must be {IMAGES} of fashion-mnist, got {IMAGES} of mnist" in text
    write(tmp_path / "fashion-mnist", packed(FASHION))
    assert source(tmp_path, files, "fashion-mnist") == VERIFIED
    test = {IMAGES: FILES["t10k-images-idx3-ubyte.gz"]}
    text = message(tmp_path / "test", {**unpacked(FILES), **test})
    assert f"must be {IMAGES} of mnist, got t10k-images-idx3-ubyte of mnist" in text


@pytest.mark.parametrize("archive", [False, True])
def test_python_batches_are_verified_one_by_one(small: None, tmp_path: Path, archive: bool) -> None:
    def files(batches: dict[str, bytes]) -> dict[str, bytes]:
        packed = {"cifar-10-python.tar.gz": tar(batches, "cifar-10-batches-py")}
        return packed if archive else batches

    assert source(tmp_path / "good", files(BATCHES), "cifar10") == VERIFIED
    changed = {**BATCHES, "data_batch_3": flipped(BATCHES["data_batch_3"], 5000)}
    text = message(tmp_path / "changed", files(changed), "cifar10")
    assert "data_batch_3" in text
    assert "is damaged" in text
    copied = dict.fromkeys(BATCHES, BATCHES["test_batch"])
    text = message(tmp_path / "copied", files(copied), "cifar10")
    assert "must be data_batch_1 of cifar10, got test_batch of cifar10" in text
    longer = {**BATCHES, "data_batch_3": make.cifar_python(11)["data_batch_3"]}
    assert source(tmp_path / "longer", files(longer), "cifar10") == UNVERIFIED


def test_binary_batches_are_verified_in_their_archive(small: None, tmp_path: Path) -> None:
    assert source(tmp_path / "archive", ARCHIVE, "cifar10") == VERIFIED
    assert source(tmp_path / "folder", BINARY, "cifar10") == UNVERIFIED
    other = {n: tar({**BINARY, "readme.html": b""}, "cifar-10-batches-bin") for n in ARCHIVE}
    assert source(tmp_path / "other", other, "cifar10") == UNVERIFIED
    damaged = {name: flipped(content) for name, content in ARCHIVE.items()}
    assert "is damaged" in message(tmp_path / "damaged", damaged, "cifar10")


# --- downloads -----------------------------------------------------------------------------------


def failed(folder: Path, name: str = "mnist") -> str:
    """The message of a failed download, which leaves no file."""
    text = message(folder, {}, name, download=True)
    assert not [path for path in folder.rglob("*") if path.is_file()]
    assert str(folder / name) in text
    return text


@pytest.mark.parametrize(("name", "files"), [("mnist", packed(FILES)), ("cifar10", ARCHIVE)])
def test_data_set_is_downloaded_once(
    server: Server,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    files: dict[str, bytes],
) -> None:
    first = load_data(name, folder=tmp_path, **SMALL)
    assert first.settings["source"] == VERIFIED
    assert "100%" in capsys.readouterr().err
    assert contents(tmp_path / name) == files
    assert server.requests == list(files)
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / name / next(iter(files))).stat().st_mode & 0o777 == 0o644
    again = load_data(name, folder=tmp_path, **SMALL)
    assert again.fingerprint == first.fingerprint
    assert server.requests == list(files)


def test_downloads_go_to_the_cache(
    server: Server, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path))
    load_data("mnist", **SMALL)
    assert contents(tmp_path) == {}
    assert contents(cache / "mnist") == packed(FILES)


def test_only_missing_files_are_downloaded(server: Server, tmp_path: Path) -> None:
    write(tmp_path, {name: file for name, file in packed(FILES).items() if name != SECOND})
    load_data("mnist", folder=tmp_path, **SMALL)
    assert server.requests == [SECOND]


def test_incomplete_batches_of_cifar_are_not_used(server: Server, tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-bin", {"test_batch.bin": b"x"})
    assert load_data("cifar10", folder=tmp_path, **SMALL).name == "cifar10"
    assert server.requests == list(ARCHIVE)


def test_wrong_checksum_is_refused(server: Server, tmp_path: Path) -> None:
    server.files[FIRST] = flipped(server.files[FIRST], -1)
    text = failed(tmp_path)
    assert f"{server.url}{FIRST} cannot be downloaded" in text
    assert "hash" in text


def test_broken_transfer_leaves_no_file(server: Server, tmp_path: Path) -> None:
    server.cut.add(FIRST)
    assert f"{server.url}{FIRST} cannot be downloaded" in failed(tmp_path)


def test_missing_file_on_the_server_is_reported(server: Server, tmp_path: Path) -> None:
    del server.files[FIRST]
    assert "404" in failed(tmp_path)


def test_refused_connection_is_reported_with_the_files_needed(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    monkeypatch.setitem(ORIGINS, "mnist", replace(ORIGINS["mnist"], url=url))
    text = failed(tmp_path)
    assert f"{url}{FIRST} cannot be downloaded" in text
    assert f"put {', '.join(FILES)} there" in text


def test_server_without_an_answer_times_out(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(originals, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        monkeypatch.setitem(ORIGINS, "mnist", replace(ORIGINS["mnist"], url=url))
        assert "timed out" in failed(tmp_path)


def test_failed_transfer_is_repeated(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(originals, "RETRIES", 2)
    monkeypatch.setattr("time.sleep", lambda _: server.cut.clear())
    server.cut.add(FIRST)
    load_data("mnist", folder=tmp_path, **SMALL)
    assert server.requests == [FIRST, *FILES]


def test_earlier_files_of_a_failed_download_stay(server: Server, tmp_path: Path) -> None:
    server.cut.add(SECOND)
    message(tmp_path, {}, download=True)
    assert contents(tmp_path / "mnist") == {FIRST: packed(FILES)[FIRST]}


def test_folder_that_cannot_be_made_is_named(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cifar10").write_bytes(b"a file")
    assert str(tmp_path / "cifar10") in message(tmp_path, {}, "cifar10", download=True)


def test_downloads_need_pooch(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'doubletrouble\[data\]'"):
        load_data("mnist", folder=tmp_path, **SMALL)


def test_every_file_has_an_address_and_a_checksum() -> None:
    hosts = {name: origin.url.split("/")[2] for name, origin in ORIGINS.items()}
    assert hosts["mnist"] == "ossci-datasets.s3.amazonaws.com"
    assert hosts["cifar10"] == "www.cs.toronto.edu"
    for origin in ORIGINS.values():
        assert set(origin.files) <= set(origin.published)
        assert all(len(file.sha256) == 64 for file in origin.published.values())
