"""The two scalings against their definitions, written out with a singular value decomposition."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import doubletrouble.data as module
from doubletrouble.data import STATISTICS, ScalingName, StatisticsName, load_data
from tests.data.files import Bytes, store

FloatArray = npt.NDArray[np.float64]


def pictures(n: int, d: int, seed: int) -> Bytes:
    """Correlated pixels with a spectrum that falls."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d)) * np.geomspace(1, 0.03, d)[:, None]
    return np.clip(90 + 40 * rng.standard_normal((n, d)) @ mixing, 0, 255).astype(np.uint8)


TRAIN, TEST = pictures(300, 20, 0), pictures(80, 20, 1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def projected(train: Bytes, test: Bytes, **options: Any) -> tuple[FloatArray, FloatArray]:
    """Inputs of all images, by way of a file in the working directory."""
    classes = (np.arange(len(images)) % 10 for images in (train, test))
    arrays = dict(zip(("y_train", "y_test"), classes, strict=True))
    path = store(Path("images.npz"), X_train=train, X_test=test, **arrays)
    data = load_data(path, n_samples=None, **options)
    return data.x_train, data.x_test


def normalized(images: Bytes, by: Bytes) -> FloatArray:
    reference = by / 255
    return np.asarray((images / 255 - reference.mean()) / reference.std())


def authors(by: Bytes, k: int) -> tuple[FloatArray, FloatArray]:
    _, sigma, Vt = np.linalg.svd(normalized(TRAIN, TRAIN), full_matrices=False)
    V = Vt[:k].T
    V = V * np.sign(V[np.abs(V).argmax(axis=0), range(k)])
    return normalized(TRAIN, TRAIN) @ V / np.sqrt(sigma[:k]), (
        normalized(TEST, by) @ V / np.sqrt(sigma[:k])
    )


@pytest.mark.parametrize(("statistics", "by"), [("own", TEST), ("train", TRAIN)])
def test_authors_scaling_is_that_of_their_definition(
    folder: Path, statistics: StatisticsName, by: Bytes
) -> None:
    for k in (1, 7, 20):
        inputs = projected(TRAIN, TEST, pca=k, test_statistics=statistics)
        for x, expected in zip(inputs, authors(by, k), strict=True):
            np.testing.assert_allclose(x, expected, rtol=0, atol=1e-9)


def test_train_and_own_statistics_differ(folder: Path) -> None:
    own, train = (projected(TRAIN, TEST, test_statistics=name)[1] for name in STATISTICS)
    assert np.max(np.abs(own - train)) > 1e-3


@pytest.mark.parametrize("k", [1, 20])
def test_whitening_makes_the_training_covariance_the_identity(folder: Path, k: int) -> None:
    x, x_test = projected(TRAIN, TEST, pca=k, scaling="whiten")
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(x.T @ x / len(x), np.eye(k), atol=1e-10)
    centred = TRAIN - TRAIN.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(centred, full_matrices=False)
    expected = (TEST - TRAIN.mean(axis=0)) @ Vt[:k].T / sigma[:k] * np.sqrt(len(TRAIN))
    np.testing.assert_allclose(np.abs(x_test), np.abs(expected), atol=1e-9)


def test_authors_scaling_does_not_whiten(folder: Path) -> None:
    x, _ = projected(TRAIN, TEST, pca=3)
    assert np.max(np.abs(x.T @ x / len(x) - np.eye(3))) > 0.5


def test_pixels_are_normalized_without_directions(folder: Path) -> None:
    for statistics, by in zip(STATISTICS, (TEST, TRAIN), strict=True):
        x, x_test = projected(TRAIN, TEST, pca=None, test_statistics=statistics)
        np.testing.assert_allclose(x, normalized(TRAIN, TRAIN), atol=1e-12)
        np.testing.assert_allclose(x_test, normalized(TEST, by), atol=1e-12)


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_result_does_not_depend_on_a_factor_of_all_pixels(
    folder: Path, scaling: ScalingName
) -> None:
    small_train, small_test = TRAIN // 4, TEST // 4
    small = projected(small_train, small_test, pca=5, scaling=scaling)
    large = projected(4 * small_train, 4 * small_test, pca=5, scaling=scaling)
    for one, other in zip(small, large, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_directions_do_not_depend_on_the_order_of_images_and_on_blocks(
    scaling: ScalingName, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = {"authors": module._authors, "whiten": module._whitening}[scaling]
    whole = find(TRAIN, 5)
    monkeypatch.setattr(module, "_BLOCK", 7 * 20)
    again = find(TRAIN[np.random.default_rng(3).permutation(len(TRAIN))], 5)
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one, other)  # sums are exact


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_entry_of_largest_magnitude_is_positive(scaling: ScalingName) -> None:
    directions = {"authors": module._authors, "whiten": module._whitening}[scaling](TRAIN, 20)[2]
    assert directions is not None
    assert np.all(directions[np.abs(directions).argmax(axis=0), range(20)] > 0)


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_number_of_directions_is_at_most_the_rank(folder: Path, scaling: ScalingName) -> None:
    flat = TRAIN.copy()
    flat[:, 5:9] = 0  # as the border of MNIST
    rank = {"authors": 17, "whiten": 16}[scaling]
    assert projected(flat, TEST, pca=rank, scaling=scaling)[0].shape == (300, rank)
    for k, most in ((rank + 1, rank), (21, 20)):
        with pytest.raises(ValueError, match=f"pca must be at most {most}"):
            projected(flat, TEST, pca=k, scaling=scaling)
    if scaling == "whiten":
        x, _ = projected(flat, TEST, pca=None, scaling=scaling)
        np.testing.assert_allclose(x.T @ x / len(x), np.eye(16), atol=1e-9)


def test_constant_images_are_refused(folder: Path) -> None:
    grey = np.full((5, 4), 7, dtype=np.uint8)
    for which, train, test in (("training", grey, TEST[:, :4]), ("test", TRAIN[:, :4], grey)):
        with pytest.raises(ValueError, match=f"{which} images must"):
            projected(train, test, pca=1)


def test_no_float_copy_of_all_images_is_held(folder: Path) -> None:
    many = np.tile(pictures(500, 64, 5), (400, 1))  # 200,000 x 64: 12.8 MB, 102 MB as float64
    tracemalloc.start()
    try:
        projected(many, many[:100], pca=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # a block has 34 MB, or a few of them, and the images twice 13 MB
