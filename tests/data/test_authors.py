"""Real images, and projections by the code of the authors, where they are available."""

import gzip
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from doubletrouble.data import _PUBLISHED, StatisticsName, load_data
from tests.data.files import REAL, store

ROUNDING = 1e-7  # of float32, where inputs are about 1


def needed(name: str) -> Path:
    path = REAL / name
    if not path.exists():
        pytest.skip(f"{name} is not available")
    return path


@cache
def stored(name: str) -> dict[str, npt.NDArray[Any]]:
    with np.load(needed(f"{name}_pca10.npz")) as file:
        return dict(file)


def idx(name: str) -> npt.NDArray[np.uint8]:
    """The numbers of a published file of MNIST."""
    content = gzip.decompress(needed(f"mnist/{name}-ubyte.gz").read_bytes())
    axes = content[3]
    shape = np.frombuffer(content, dtype=">u4", count=axes, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 * (1 + axes)).reshape(shape)


@pytest.fixture(scope="module")
def mnist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All images of MNIST in a file."""
    return store(
        tmp_path_factory.mktemp("images") / "mnist.npz",
        X_train=idx("train-images-idx3"),
        y_train=idx("train-labels-idx1"),
        X_test=idx("t10k-images-idx3"),
        y_test=idx("t10k-labels-idx1"),
    )


@pytest.mark.full
@pytest.mark.parametrize(("statistics", "key"), [("own", "X_test_ownstats"), ("train", "X_test")])
def test_mnist_is_projected_as_the_authors_do(
    mnist: Path, statistics: StatisticsName, key: str
) -> None:
    expected = stored("mnist")
    data = load_data("mnist", folder=mnist.parent, n_samples=None, test_statistics=statistics)
    np.testing.assert_allclose(data.x_train, expected["X_train"], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(data.x_test, expected[key], rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(data.y_train, np.where(expected["y_train"] % 2, 1.0, -1.0))
    np.testing.assert_array_equal(data.y_test, np.where(expected["y_test"] % 2, 1.0, -1.0))


@pytest.mark.full
def test_mnist_whitened_has_the_identity_as_covariance(mnist: Path) -> None:
    data = load_data(mnist, n_samples=None, scaling="whiten", pca=20)
    np.testing.assert_allclose(np.cov(data.x_train.T, bias=True), np.eye(20), atol=1e-8)


def test_stored_statistics_differ() -> None:
    expected = stored("mnist")
    assert np.max(np.abs(expected["X_test"] - expected["X_test_ownstats"])) > 100 * ROUNDING


@pytest.mark.parametrize("name", ["cifar10", "fashion_mnist"])
def test_stored_projections_are_read_by_their_path(name: str) -> None:
    expected = stored(name)
    data = load_data(needed(f"{name}_pca10.npz"), pca=7, n_samples=5000)
    np.testing.assert_array_equal(data.x_train, expected["X_train"][:5000, :7])
    np.testing.assert_array_equal(data.x_test, expected["X_test_ownstats"][:, :7])
    assert len(data.blocks(10)) == 10


def test_classes_of_the_published_sets_have_the_digests_of_openml() -> None:
    for name, (_, n_pool, digest) in _PUBLISHED.items():
        arrays = stored(name.replace("-", "_"))
        classes = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.uint8)
        assert (len(arrays["y_train"]), sha256(classes.tobytes()).hexdigest()[:32]) == (
            n_pool,
            digest,
        )


def test_stored_directions_have_our_signs() -> None:
    for name in ("mnist", "fashion_mnist", "cifar10"):
        directions = stored(name)["components"]
        assert np.all(directions[np.abs(directions).argmax(axis=0), range(10)] > 0), name
