"""The two scalings against their definitions, written out with a singular value decomposition."""

import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest

from doubletrouble.data import _projection as projection
from doubletrouble.data._projection import (
    STATISTICS,
    Projection,
    ProjectionOptions,
    ScalingName,
    StatisticsName,
    projections,
)
from tests.data.files import Bytes

FloatArray = npt.NDArray[np.float64]


def pictures(n: int, d: int, seed: int) -> Bytes:
    """Correlated pixels with a spectrum that falls."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d)) * np.geomspace(1, 0.03, d)[:, None]
    return np.clip(90 + 40 * rng.standard_normal((n, d)) @ mixing, 0, 255).astype(np.uint8)


TRAIN, TEST = pictures(300, 20, 0), pictures(80, 20, 1)


def everything(images: Bytes, by: Projection) -> FloatArray:
    return by(images, np.arange(len(images)))


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
def test_authors_scaling_is_that_of_their_definition(statistics: StatisticsName, by: Bytes) -> None:
    for k in (1, 7, 20):
        maps = projections(TRAIN, TEST, ProjectionOptions(pca=k, test_statistics=statistics))
        for images, map_, expected in zip((TRAIN, TEST), maps, authors(by, k), strict=True):
            np.testing.assert_allclose(everything(images, map_), expected, rtol=0, atol=1e-9)


def test_train_and_own_statistics_differ() -> None:
    own, train = (
        projections(TRAIN, TEST, ProjectionOptions(test_statistics=s))[1] for s in ("own", "train")
    )
    assert np.max(np.abs(everything(TEST, own) - everything(TEST, train))) > 1e-3


@pytest.mark.parametrize("k", [1, 20])
def test_whitening_makes_the_training_covariance_the_identity(k: int) -> None:
    ours, theirs = projections(TRAIN, TEST, ProjectionOptions(pca=k, scaling="whiten"))
    x = everything(TRAIN, ours)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(x.T @ x / len(x), np.eye(k), atol=1e-10)
    centred = TRAIN - TRAIN.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(centred, full_matrices=False)
    expected = (TEST - TRAIN.mean(axis=0)) @ Vt[:k].T / sigma[:k] * np.sqrt(len(TRAIN))
    np.testing.assert_allclose(np.abs(everything(TEST, theirs)), np.abs(expected), atol=1e-9)


def test_authors_scaling_does_not_whiten() -> None:
    x = everything(TRAIN, projections(TRAIN, TEST, ProjectionOptions(pca=3))[0])
    assert np.max(np.abs(x.T @ x / len(x) - np.eye(3))) > 0.5


def test_pixels_are_normalized_without_directions() -> None:
    for statistics, by in zip(STATISTICS, (TEST, TRAIN), strict=True):
        ours, theirs = projections(
            TRAIN, TEST, ProjectionOptions(pca=None, test_statistics=statistics)
        )
        np.testing.assert_allclose(everything(TRAIN, ours), normalized(TRAIN, TRAIN), atol=1e-12)
        np.testing.assert_allclose(everything(TEST, theirs), normalized(TEST, by), atol=1e-12)


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_result_does_not_depend_on_a_factor_of_all_pixels(scaling: ScalingName) -> None:
    small_train, small_test = TRAIN // 4, TEST // 4
    view = ProjectionOptions(pca=5, scaling=scaling)
    small = projections(small_train, small_test, view)
    large = projections(4 * small_train, 4 * small_test, view)
    for images, one, other in zip((small_train, small_test), small, large, strict=True):
        np.testing.assert_allclose(
            everything(images, one), everything(4 * images, other), atol=1e-10
        )


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_result_does_not_depend_on_the_order_of_images_and_on_blocks(
    scaling: ScalingName, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = ProjectionOptions(pca=5, scaling=scaling)
    whole = projections(TRAIN, TEST, view)
    monkeypatch.setattr(projection, "_BLOCK", 7 * 20)
    shuffled = TRAIN[np.random.default_rng(3).permutation(len(TRAIN))]
    again = projections(shuffled, TEST, view)
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one.directions, other.directions)  # sums are exact
        np.testing.assert_allclose(everything(TEST, one), everything(TEST, other), atol=1e-12)


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_entry_of_largest_magnitude_is_positive(scaling: ScalingName) -> None:
    directions = projections(TRAIN, TEST, ProjectionOptions(pca=20, scaling=scaling))[0].directions
    assert directions is not None
    assert np.all(directions[np.abs(directions).argmax(axis=0), range(20)] > 0)


@pytest.mark.parametrize("scaling", ["authors", "whiten"])
def test_number_of_directions_is_at_most_the_rank(scaling: ScalingName) -> None:
    flat = TRAIN.copy()
    flat[:, 5:9] = 0  # as the border of MNIST
    rank = {"authors": 17, "whiten": 16}[scaling]
    ours, _ = projections(flat, TEST, ProjectionOptions(pca=rank, scaling=scaling))
    assert np.all(np.isfinite(everything(flat, ours)))
    with pytest.raises(ValueError, match=f"pca must be at most {rank}"):
        projections(flat, TEST, ProjectionOptions(pca=rank + 1, scaling=scaling))
    with pytest.raises(ValueError, match="pca must be at most 20"):
        projections(flat, TEST, ProjectionOptions(pca=21, scaling=scaling))


def test_whitening_has_as_many_directions_as_the_rank() -> None:
    flat = TRAIN.copy()
    flat[:, 5:9] = 0
    x = everything(flat, projections(flat, TEST, ProjectionOptions(pca=None, scaling="whiten"))[0])
    np.testing.assert_allclose(x.T @ x / len(x), np.eye(16), atol=1e-9)


def test_constant_images_are_refused() -> None:
    grey = np.full((5, 4), 7, dtype=np.uint8)
    with pytest.raises(ValueError, match="training images must"):
        projections(grey, TEST[:, :4], ProjectionOptions(pca=1))
    with pytest.raises(ValueError, match="test images must"):
        projections(TRAIN[:, :4], grey, ProjectionOptions(pca=1))


def test_no_float_copy_of_all_images_is_held() -> None:
    many = np.tile(pictures(500, 64, 5), (400, 1))  # 200,000 x 64: 12.8 MB, 102 MB as float64
    tracemalloc.start()
    try:
        ours, _ = projections(many, many[:100], ProjectionOptions(pca=2))
        ours(many, np.arange(len(many)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 90e6  # a block has 34 MB, or a few of them
