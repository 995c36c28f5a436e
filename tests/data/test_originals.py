"""Original files: every form and place they are found in, and what is said where they are not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import Data, load_data
from doubletrouble.data._errors import DataError
from doubletrouble.errors import DoubleTroubleError
from tests.data import files as make
from tests.data.files import contents, mnist_files, packed, tar, unpacked, write

SMALL: dict[str, Any] = {"pca": 3, "n_train": 20, "download": False}
PIXELS: dict[str, Any] = {**SMALL, "pca": None}  # directions of CIFAR-10 take seconds


# --- original files ------------------------------------------------------------------------------


def same(one: Data, other: Data) -> bool:
    return one.fingerprint == other.fingerprint


@pytest.mark.parametrize("place", ["", "mnist", "MNIST/raw"])
def test_mnist_is_found_packed_and_unpacked(tmp_path: Path, place: str) -> None:
    files = mnist_files()
    first = load_data("mnist", folder=write(tmp_path / "gz" / place, packed(files)), **SMALL)
    assert first.settings["source"] == "files as found, not verified"
    assert first.x_train.shape == (20, 3)
    for number, written in enumerate(
        [
            unpacked(files),
            {name.replace("-idx", ".idx"): file for name, file in unpacked(files).items()},
            {**unpacked(files), **packed({n: f for n, f in files.items() if "train" in n})},
        ]
    ):
        folder = tmp_path / str(number)
        write(folder / place, written)
        assert same(load_data("MNIST", folder=str(folder), **SMALL), first)


def test_sets_with_the_same_file_names_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path / "mnist", packed(mnist_files(40)))
    write(tmp_path / "fashion-mnist", packed(mnist_files(30)))
    sizes = [
        len(load_data(name, folder=tmp_path, pca=3, n_train=None, download=False).y_train)
        for name in ("mnist", "fashion_mnist", "fashion-mnist")
    ]
    assert sizes == [40, 30, 30]


def test_a_file_of_another_sets_size_is_not_taken(tmp_path: Path) -> None:
    write(tmp_path, packed(mnist_files()))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(b"\x1f\x8b" + bytes(28879))  # as MNIST
    with pytest.raises(DataError, match=r"where train-labels-idx1-ubyte\.gz cannot be found"):
        load_data("fashion-mnist", folder=tmp_path, **SMALL)
    with pytest.raises(DataError, match="is damaged: Unknown compression method; replace it, or"):
        load_data("mnist", folder=tmp_path, **SMALL)


@pytest.mark.parametrize("place", ["", "cifar10", "cifar-10"])
def test_cifar_is_found_in_every_form(tmp_path: Path, place: str) -> None:
    binary, python = make.cifar_binary(), make.cifar_python()
    forms: list[tuple[str, dict[str, bytes]]] = [
        ("cifar-10-batches-bin", binary),
        ("", binary),
        ("cifar-10-batches-py", python),
        ("", python),
        ("", {"cifar-10-binary.tar.gz": tar(binary, "cifar-10-batches-bin")}),
        ("", {"cifar-10-python.tar.gz": tar(python, "cifar-10-batches-py")}),
    ]
    found = []
    for number, (folder, files) in enumerate(forms):
        write(tmp_path / str(number) / place / folder, files)
        found.append(load_data("cifar-10", folder=tmp_path / str(number), **PIXELS))
    assert all(same(one, found[0]) for one in found)
    classes = np.concatenate([batch[1] for batch in make.cifar_batches()[:5]])
    np.testing.assert_array_equal(found[0].y_train, 2.0 * (classes[:20] % 2) - 1)
    assert found[0].name == "cifar10"


def test_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    good, other = packed(mnist_files()), packed(mnist_files(50, 30, side=5))
    for name, sentence in (
        ("train-labels-idx1-ubyte.gz", "the training images of mnist must have a label each"),
        ("t10k-labels-idx1-ubyte.gz", "the test images of mnist must have a label each"),
    ):
        write(tmp_path, {**good, name: other[name]})
        with pytest.raises(DataError, match=sentence):
            load_data("mnist", folder=tmp_path, **SMALL)
    write(tmp_path, {**good, **{name: other[name] for name in other if "t10k" in name}})
    with pytest.raises(DataError, match="must be as large as those to train on, 16 pixels, got 25"):
        load_data("mnist", folder=tmp_path, **SMALL)
    _, classes = make.images(40, 1)
    write(tmp_path, {**good, **packed({"train-labels-idx1-ubyte.gz": make.idx(classes + 7)})})
    with pytest.raises(DataError, match="training labels of mnist must be 0 to 9, got 16"):
        load_data("mnist", folder=tmp_path, **SMALL)


# --- places --------------------------------------------------------------------------------------


def test_the_folder_comes_before_the_variable_and_that_before_the_cache(
    tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def size(**arguments: Any) -> int:
        data = load_data("mnist", pca=3, n_train=None, download=False, **arguments)
        return len(data.y_train)

    write(elsewhere / "mnist", packed(mnist_files(30)))
    assert size() == 30
    write(tmp_path / "named" / "mnist", packed(mnist_files(50)))
    write(tmp_path / "given" / "mnist", packed(mnist_files(60)))
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "named"))
    assert size() == 50
    assert size(folder=tmp_path / "given") == 60
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "empty"))
    assert size() == 30  # the cache has what was downloaded
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="DOUBLETROUBLE_DATA must be a folder, got"):
        size()


def test_without_download_the_missing_files_are_named(tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-py", {"test_batch": make.cifar_python()["test_batch"]})
    with pytest.raises(DataError) as caught:
        load_data("cifar10", folder=tmp_path, **SMALL)
    missing = ", ".join(f"data_batch_{i}" for i in range(1, 6))
    assert str(caught.value) == (
        f"cifar10 must be in {tmp_path}, where {missing} cannot be found, and downloads are "
        "switched off"
    )
    assert isinstance(caught.value, DoubleTroubleError)
    files = packed(mnist_files())
    del files["t10k-images-idx3-ubyte.gz"]
    write(tmp_path / "mnist", files)
    with pytest.raises(DataError, match=r"where t10k-images-idx3-ubyte\.gz cannot be found"):
        load_data("mnist", folder=tmp_path, **SMALL)
    with pytest.raises(DataError, match=r"where cifar-10-binary\.tar\.gz cannot be found"):
        load_data("cifar10", folder=tmp_path / "mnist", **SMALL)


def test_reading_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    write(tmp_path / "mnist", packed(mnist_files()))
    write(tmp_path, {"cifar-10-binary.tar.gz": tar(make.cifar_binary(), "cifar-10-batches-bin")})
    before = contents(tmp_path)
    load_data("mnist", folder=tmp_path, **SMALL)
    load_data("cifar10", folder=tmp_path, **PIXELS)
    assert contents(tmp_path) == before
