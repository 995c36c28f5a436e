"""What is called original: what was published and nothing else, in whatever form it is found."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from doubletrouble.data import load_data
from doubletrouble.data._errors import DataError
from doubletrouble.data._sources import CIFAR10, FASHION_MNIST, MNIST, SOURCES
from tests.data import files as make
from tests.data.files import originals, packed, tar, unpacked, write

FILES = make.mnist_files()
FASHION = make.mnist_files(5000, 4000)  # no packed file is as long as MNIST's
IMAGES = "train-images-idx3-ubyte"
BATCHES, BINARY = make.cifar_python(), make.cifar_binary()
BINARY_ARCHIVE = {"cifar-10-binary.tar.gz": tar(BINARY, "cifar-10-batches-bin")}
SMALL: dict[str, Any] = {"pca": None, "n_train": 20, "download": False}

ORIGINAL, AS_FOUND = "original files", "files as found, not verified"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets as the published ones: of Fashion-MNIST, only the packed files are known."""
    for source, files, others in (
        (MNIST, packed(FILES), unpacked(FILES)),
        (FASHION_MNIST, packed(FASHION), {}),
        (CIFAR10, BINARY_ARCHIVE, BATCHES),
    ):
        here = replace(source, files=originals(files), others=originals(others))
        monkeypatch.setitem(SOURCES, source.name, here)


def flipped(content: bytes, place: int = -100) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


def repacked(content: bytes) -> bytes:
    """The same in two pieces, and so of another length."""
    return gzip.compress(content[:30]) + gzip.compress(content[30:])


def source(folder: Path, files: dict[str, bytes], name: str = "mnist") -> str:
    return str(load_data(name, folder=write(folder, files), **SMALL).settings["source"])


def refused(folder: Path, files: dict[str, bytes], name: str = "mnist") -> str:
    with pytest.raises(DataError) as caught:
        load_data(name, folder=write(folder, files), **SMALL)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- idx files -----------------------------------------------------------------------------------


def test_mnist_is_original_in_every_form(tmp_path: Path) -> None:
    forms = [
        packed(FILES),
        unpacked(FILES),
        {name.replace("-idx", ".idx"): content for name, content in unpacked(FILES).items()},
        {name: repacked(content) for name, content in FILES.items()},
        {**unpacked(FILES), f"{IMAGES}.gz": repacked(FILES[f"{IMAGES}.gz"])},
    ]
    found = [source(tmp_path / str(number), files) for number, files in enumerate(forms)]
    assert found == [ORIGINAL] * len(forms)


@pytest.mark.parametrize("name", list(FILES))
def test_a_changed_number_of_mnist_is_damage(tmp_path: Path, name: str) -> None:
    changed = flipped(FILES[name], -3)
    plain = name.removesuffix(".gz")
    sentence = (
        "is damaged, or of another set: it has the size of the original but another checksum; "
        "replace it, or delete it to have it downloaded"
    )
    for number, (file, content) in enumerate(
        [
            (plain, changed),
            (plain.replace("-idx", ".idx"), changed),
            (name, repacked(changed)),
            (name, gzip.compress(changed, mtime=0)),
        ]
    ):
        folder = tmp_path / str(number)
        files = {other: content for other, content in packed(FILES).items() if other != name}
        assert refused(folder, {**files, file: content}) == f"{folder / file} {sentence}"


def test_a_broken_packed_file_is_damaged(tmp_path: Path) -> None:
    whole = packed(FILES)[f"{IMAGES}.gz"]
    sentence = refused(tmp_path, {**packed(FILES), f"{IMAGES}.gz": flipped(whole)})
    assert sentence.startswith(f"{tmp_path / IMAGES}.gz is damaged: ")
    assert sentence.endswith("replace it, or delete it to have it downloaded")


def test_files_of_another_length_are_ones_own_and_not_called_original(tmp_path: Path) -> None:
    shorter = make.mnist_files(39)
    train = {name: content for name, content in shorter.items() if "train" in name}
    assert source(tmp_path / "packed", packed({**FILES, **train})) == AS_FOUND
    assert source(tmp_path / "unpacked", unpacked({**FILES, **train})) == AS_FOUND


def test_fashion_is_original_only_as_it_was_published(tmp_path: Path) -> None:
    name = "fashion-mnist"
    assert source(tmp_path / "a", packed(FASHION), name) == ORIGINAL
    assert source(tmp_path / "b", unpacked(FASHION), name) == AS_FOUND
    one = {f"{IMAGES}.gz": repacked(FASHION[f"{IMAGES}.gz"])}
    assert source(tmp_path / "c", {**packed(FASHION), **one}, name) == AS_FOUND
    damaged = {f"{IMAGES}.gz": flipped(packed(FASHION)[f"{IMAGES}.gz"])}
    assert "is damaged, or of" in refused(tmp_path / "d", {**packed(FASHION), **damaged}, name)


def test_a_file_in_the_place_of_another_is_named(tmp_path: Path) -> None:
    for number, files in enumerate((unpacked(FILES), {n: repacked(c) for n, c in FILES.items()})):
        folder, file = tmp_path / str(number), next(iter(files))
        assert refused(folder, files, "fashion-mnist") == (
            f"{folder / file} must be {IMAGES} of fashion-mnist, got {IMAGES} of mnist; "
            "keep fashion-mnist in a folder of that name"
        )
        write(folder / "fashion-mnist", packed(FASHION))
        assert source(folder, files, "fashion-mnist") == ORIGINAL
    test = FILES["t10k-images-idx3-ubyte.gz"]
    assert refused(tmp_path / "test", {**unpacked(FILES), IMAGES: test}) == (
        f"{tmp_path / 'test' / IMAGES} must be {IMAGES} of mnist, got t10k-images-idx3-ubyte of "
        "mnist; replace it, or delete it to have it downloaded"
    )


# --- CIFAR-10 ------------------------------------------------------------------------------------


def python(files: dict[str, bytes], archive: bool) -> dict[str, bytes]:
    return {"cifar-10-python.tar.gz": tar(files, "cifar-10-batches-py")} if archive else files


@pytest.mark.parametrize("archive", [False, True])
def test_batches_are_original_one_by_one(tmp_path: Path, archive: bool) -> None:
    name = "cifar10"
    assert source(tmp_path / "good", python(BATCHES, archive), name) == ORIGINAL
    changed = {**BATCHES, "data_batch_3": flipped(BATCHES["data_batch_3"], 5000)}
    sentence = refused(tmp_path / "changed", python(changed, archive), name)
    assert "data_batch_3" in sentence
    assert "is damaged, or of another set: it has the size of the original" in sentence
    copied = dict.fromkeys(BATCHES, BATCHES["test_batch"])
    sentence = refused(tmp_path / "copied", python(copied, archive), name)
    assert "must be data_batch_1 of cifar10, got test_batch of cifar10; replace it" in sentence
    longer = {**BATCHES, "data_batch_3": make.cifar_python(11)["data_batch_3"]}
    assert source(tmp_path / "longer", python(longer, archive), name) == AS_FOUND


def test_binary_batches_are_original_in_their_archive_only(tmp_path: Path) -> None:
    assert source(tmp_path / "archive", BINARY_ARCHIVE, "cifar10") == ORIGINAL
    assert source(tmp_path / "folder", BINARY, "cifar10") == AS_FOUND
    other = {
        name: tar({**BINARY, "readme.html": b""}, "cifar-10-batches-bin") for name in BINARY_ARCHIVE
    }
    assert source(tmp_path / "other", other, "cifar10") == AS_FOUND
    damaged = {name: flipped(content) for name, content in BINARY_ARCHIVE.items()}
    assert "is damaged, or of another set" in refused(tmp_path / "damaged", damaged, "cifar10")
