"""Real images, and projections by the code of the authors, where they are available."""

import csv
import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from doubletrouble.data import DataError, load_data
from doubletrouble.data._formats import PYTHON, pickled_batch
from doubletrouble.data._originals import ORIGINS
from doubletrouble.data._projection import StatisticsName
from tests.data.files import SHARED
from tests.selection import full_beyond

ROUNDING = 1e-7  # of float32, where inputs are about 1


def needed(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not available")
    return path


@cache
def stored(name: str) -> dict[str, npt.NDArray[Any]]:
    with np.load(needed(f"{name}_pca10.npz")) as file:
        return dict(file)


@pytest.mark.full
@pytest.mark.parametrize(("statistics", "key"), [("own", "X_test_ownstats"), ("train", "X_test")])
def test_mnist_is_projected_as_the_authors_do(statistics: StatisticsName, key: str) -> None:
    needed("mnist")
    expected = stored("mnist")
    data = load_data("mnist", folder=SHARED, n_samples=None, test_statistics=statistics)
    assert data.settings["source"] == "original files"
    np.testing.assert_allclose(data.x_train, expected["X_train"], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(data.x_test, expected[key], rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(data.y_train, np.where(expected["y_train"] % 2, 1.0, -1.0))
    np.testing.assert_array_equal(data.y_test, np.where(expected["y_test"] % 2, 1.0, -1.0))


def test_stored_statistics_differ() -> None:
    expected = stored("mnist")
    assert np.max(np.abs(expected["X_test"] - expected["X_test_ownstats"])) > 100 * ROUNDING


@pytest.mark.full
def test_mnist_whitened_has_the_identity_as_covariance() -> None:
    needed("mnist")
    data = load_data("mnist", folder=SHARED, n_samples=None, scaling="whiten", pca=20)
    np.testing.assert_allclose(np.cov(data.x_train.T, bias=True), np.eye(20), atol=1e-8)


@pytest.mark.parametrize("name", ["cifar10", "fashion-mnist"])
def test_stored_projections_replace_missing_originals(name: str) -> None:
    expected = stored(name.replace("-", "_"))
    data = load_data(name, folder=SHARED, pca=7, n_samples=5000, download=False)
    assert data.settings["source"] == f"{name.replace('-', '_')}_pca10.npz"
    np.testing.assert_array_equal(data.x_train, expected["X_train"][:5000, :7])
    np.testing.assert_array_equal(data.x_test, expected["X_test_ownstats"][:, :7])
    assert len(data.blocks(10)) == 10


def test_batch_of_cifar_is_projected_on_the_stored_directions() -> None:
    path, expected = needed("cifar-10-batches-py/test_batch"), stored("cifar10")
    images, classes = pickled_batch(path.read_bytes(), "test_batch")
    np.testing.assert_array_equal(classes, expected["y_test"])
    some = slice(None, None, 10)
    for key, whose in (("X_test", "train"), ("X_test_ownstats", "test")):
        x = (images[some] / 255 - expected[f"{whose}_mean"]) / expected[f"{whose}_std"]
        inputs = x @ expected["components"] / np.sqrt(expected["singular_values"])
        np.testing.assert_allclose(inputs, expected[key][some], rtol=0, atol=ROUNDING)


def test_stored_directions_have_our_signs() -> None:
    for name in ("mnist", "fashion_mnist", "cifar10"):
        directions = stored(name)["components"]
        assert np.all(directions[np.abs(directions).argmax(axis=0), range(10)] > 0), name


def test_sizes_and_checksums_agree_with_the_manifest() -> None:
    with needed("MANIFEST.csv").open(encoding="utf-8") as file:
        rows = {row["path"]: row for row in csv.DictReader(file)}
    compared = 0
    for origin in ORIGINS.values():
        folder = {"cifar10": "cifar10/cifar-10-batches-py"}.get(origin.name, origin.name)
        for name, known in origin.published.items():
            row = rows.get(f"{folder}/{name}")
            if row is not None:
                assert known == (int(row["bytes"]), row["sha256"])
                compared += 1
    assert compared == 14


def test_published_checksums_are_those_of_the_files() -> None:
    known = ORIGINS["mnist"].published | ORIGINS["cifar10"].published
    packed = list(needed("mnist").iterdir())
    files = {path.name: path.read_bytes() for path in packed}
    files |= {path.stem: gzip.decompress(files[path.name]) for path in packed}
    files["test_batch"] = needed("cifar-10-batches-py/test_batch").read_bytes()
    for name, content in files.items():
        assert known[name] == (len(content), hashlib.sha256(content).hexdigest()), name


@pytest.mark.parametrize("suffix", full_beyond([""], ["", ".gz"]))
def test_one_changed_byte_of_mnist_is_detected(tmp_path: Path, suffix: str) -> None:
    for path in needed("mnist").iterdir():
        (tmp_path / path.name).symlink_to(path)
    changed = tmp_path / "t10k-images-idx3-ubyte.gz"
    content = bytearray(gzip.decompress(changed.read_bytes()))
    content[5000] ^= 1
    changed.unlink()
    new = gzip.compress(content, compresslevel=1) if suffix else bytes(content)
    changed.with_name(f"t10k-images-idx3-ubyte{suffix}").write_bytes(new)
    with pytest.raises(DataError, match=r"t10k-images.* is damaged"):
        load_data("mnist", folder=tmp_path, download=False)


def test_test_batch_of_cifar_in_place_of_a_training_batch_is_refused(tmp_path: Path) -> None:
    for name in PYTHON.batches:
        (tmp_path / name).symlink_to(needed("cifar-10-batches-py/test_batch"))
    with pytest.raises(DataError, match=r"data_batch_1 .* test_batch"):
        load_data("cifar10", folder=tmp_path, download=False)
