"""Stored projections: what is taken from them, and when."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import load_data
from doubletrouble.data._errors import DataError
from doubletrouble.data._projection import StatisticsName
from tests.data.files import cifar_python, mnist_files, packed, write

RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "X_train": RNG.standard_normal((40, 6)).astype(np.float32),
    "y_train": np.arange(40, dtype=np.uint8) % 10,
    "X_test": RNG.standard_normal((20, 6)).astype(np.float32),
    "X_test_ownstats": RNG.standard_normal((20, 6)).astype(np.float32),
    "y_test": np.arange(20, dtype=np.uint8) % 10,
}
SMALL: dict[str, Any] = {"pca": 3, "n_train": 20, "download": False}


def store(path: Path, **changes: Any) -> Path:
    """Write a stored projection; None leaves an array out."""
    arrays = {key: array for key, array in {**ARRAYS, **changes}.items() if array is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(("statistics", "key"), [("own", "X_test_ownstats"), ("train", "X_test")])
def test_the_first_columns_are_taken(tmp_path: Path, statistics: StatisticsName, key: str) -> None:
    path = store(tmp_path / "mine.npz")
    data = load_data(path, test_statistics=statistics, **SMALL)
    np.testing.assert_array_equal(data.x_train, ARRAYS["X_train"][:20, :3])
    np.testing.assert_array_equal(data.x_test, ARRAYS[key][:, :3])
    np.testing.assert_array_equal(data.y_train, 2.0 * (ARRAYS["y_train"][:20] % 2) - 1)
    assert data.name == "mine"
    assert data.settings["source"] == "mine.npz"
    assert data.settings["test_statistics"] == statistics
    assert len(data.blocks(2)) == 2
    everything = load_data(str(path), pca=None, n_train=None)
    assert everything.x_train.shape == (40, 6)
    pair = load_data(path, pca=3, n_train=None, labels=(3, 8))
    np.testing.assert_array_equal(
        pair.x_train, ARRAYS["X_train"][[3, 8, 13, 18, 23, 28, 33, 38], :3]
    )


def test_a_file_with_one_test_set_has_no_choice(tmp_path: Path) -> None:
    path = store(tmp_path / "one.npz", X_test_ownstats=None)
    for statistics in ("own", "train"):
        data = load_data(path, test_statistics=statistics, **SMALL)
        np.testing.assert_array_equal(data.x_test, ARRAYS["X_test"][:, :3])
        assert data.settings["test_statistics"] == "as stored"
    path = store(tmp_path / "own.npz", X_test=None)
    assert load_data(path, **SMALL).settings["test_statistics"] == "own"
    with pytest.raises(ValueError, match="test_statistics must be 'own', since"):
        load_data(path, test_statistics="train", **SMALL)


def test_originals_come_first_and_a_projection_before_a_download(tmp_path: Path) -> None:
    for name, file in (("mnist", "mnist"), ("fashion-mnist", "fashion_mnist"), ("cifar10",) * 2):
        path = store(tmp_path / f"{file}_pca6.npz")
        data = load_data(name, folder=tmp_path, pca=3, n_train=20)  # no need of a network
        assert (data.name, data.settings["source"]) == (name, path.name)
    write(tmp_path / "mnist", packed(mnist_files()))
    assert "files as found" in load_data("mnist", folder=tmp_path, **SMALL).settings["source"]


def test_incomplete_originals_give_way_to_a_projection(tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-py", {"test_batch": cifar_python()["test_batch"]})
    store(tmp_path / "cifar10_pca6.npz")
    assert load_data("cifar10", folder=tmp_path, **SMALL).settings["source"] == "cifar10_pca6.npz"


def test_the_smallest_sufficient_projection_is_used(tmp_path: Path) -> None:
    store(tmp_path / "mnist" / "mnist_pca2.npz")
    store(tmp_path / "mnist" / "mnist_pca6.npz")
    store(tmp_path / "mnist" / "mnist_pca10.npz")
    store(tmp_path / "mnist" / "mnist_pcaten.npz")
    assert load_data("mnist", folder=tmp_path, **SMALL).settings["source"] == "mnist_pca6.npz"
    for arguments in ({"pca": 11}, {"pca": None}, {"scaling": "whiten"}):
        with pytest.raises(DataError, match="mnist must be in"):
            load_data("mnist", folder=tmp_path, **{**SMALL, **arguments})


BAD: list[tuple[dict[str, Any], str]] = [
    ({"X_train": None}, "must hold X_train, got y_train, X_test_ownstats, X_test, y_test"),
    ({"X_test": None, "X_test_ownstats": None}, "must hold X_test, got X_train, y_train, y_test"),
    ({"X_train": ARRAYS["X_train"].astype(object)}, "no .npz file of numbers"),
    ({"X_train": ARRAYS["X_train"][:, 0]}, "must be a matrix of numbers, got float32 of shape (4"),
    ({"X_train": ARRAYS["X_train"].astype(str)}, "must be a matrix of numbers, got <U"),
    ({"y_train": ARRAYS["y_train"][:9]}, "y_train in"),
    ({"y_train": ARRAYS["y_train"].astype(int) - 1}, "must be 40 classes, whole numbers from 0"),
    ({"y_test": ARRAYS["y_test"] / 2}, "must be 20 classes, whole numbers from 0, got float64"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "sentence"), BAD)
def test_bad_arrays_are_named(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    path = store(tmp_path / "bad.npz", **changes)
    with pytest.raises(DataError) as caught:
        load_data(path, **SMALL)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)


def test_nan_is_named_with_its_place(tmp_path: Path) -> None:
    x = ARRAYS["X_train"].copy()
    x[3, 1] = np.nan
    path = store(tmp_path / "bad.npz", X_train=x)
    with pytest.raises(DataError) as caught:
        load_data(path, **SMALL)
    assert str(caught.value) == f"X_train in {path} must be finite, got nan at index (3, 1)"


def test_labels_of_one_class_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path / "odd.npz", y_train=np.full(40, 3))
    with pytest.raises(ValueError, match=r"y_train must hold both classes, got only 1\.0"):
        load_data(path, **SMALL)


def test_broken_files_are_refused(tmp_path: Path) -> None:
    whole = store(tmp_path / "good.npz").read_bytes()
    path = tmp_path / "bad.npz"
    for content in (b"", b"abc", whole[:-1], whole[: len(whole) // 2], whole[:30]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"bad\.npz"):
            load_data(path, **SMALL)
    flipped = bytearray(whole)
    flipped[200] ^= 1
    path.write_bytes(bytes(flipped))
    with pytest.raises(DataError, match=r"bad\.npz is damaged, .*: Bad CRC"):
        load_data(path, **SMALL)
    with pytest.raises(DataError, match=r"none\.npz cannot be read: No such"):
        load_data(tmp_path / "none.npz", **SMALL)
    with path.open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(DataError, match=r"bad\.npz"):
        load_data(path, **SMALL)


def test_what_a_projection_cannot_give_is_said(tmp_path: Path) -> None:
    path = store(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match=r"pca must be at most 6, the columns of .*, got 7"):
        load_data(path, pca=7, n_train=20)
    with pytest.raises(ValueError, match="scaling must be 'authors' for the stored projection"):
        load_data(path, scaling="whiten", pca=3, n_train=20)
