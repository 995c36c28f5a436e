"""load_data: the digits, stored projections, every argument, and the page of the guide."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import DataError, load_data
from doubletrouble.data._load import digits
from doubletrouble.data._originals import ORIGINS
from doubletrouble.data._projection import StatisticsName
from doubletrouble.errors import MissingExtraError
from tests.data.files import cifar_python, mnist_files, packed, write
from tests.docs.pages import compared, text_of

# --- digits --------------------------------------------------------------------------------------


def test_default_is_the_digits() -> None:
    data = load_data("digits", pca=10, labels="parity", n_samples=1000)
    assert data.x_train.shape == (1000, 10)
    assert data.x_test.shape == (500, 10)
    assert data.pool_x is not None
    assert data.pool_x.shape == (1297, 10)
    assert data.fingerprint == load_data().fingerprint
    assert (data.name, dict(data.settings)) == (
        "digits",
        {
            "pca": 10,
            "labels": "parity",
            "scaling": "authors",
            "test_statistics": "own",
            "source": "scikit-learn",
        },
    )


def test_split_of_the_digits_is_fixed() -> None:
    arrays = digits()
    assert arrays.train_classes[:12].tolist() == [0, 6, 3, 8, 1, 8, 4, 1, 5, 8, 9, 7]
    assert arrays.test_classes[-5:].tolist() == [9, 7, 6, 7, 4]
    assert np.bincount(arrays.test_classes).min() > 30  # every class is in the test set


def test_labels_are_parity_or_a_pair() -> None:
    arrays = digits()
    parity = load_data(n_samples=None)
    np.testing.assert_array_equal(parity.y_train, 2.0 * (arrays.train_classes % 2) - 1)
    np.testing.assert_array_equal(parity.y_test, 2.0 * (arrays.test_classes % 2) - 1)
    pair = load_data(labels=(8, 3), n_samples=None)
    selected = arrays.train_classes[np.isin(arrays.train_classes, (3, 8))]
    np.testing.assert_array_equal(pair.y_train, np.where(selected == 3, 1.0, -1.0))
    np.testing.assert_array_equal(  # directions are those of all images
        pair.x_train, parity.x_train[np.isin(arrays.train_classes, (3, 8))]
    )
    swapped = load_data(labels=[3, 8], n_samples=100)  # type: ignore[arg-type]
    np.testing.assert_array_equal(swapped.y_train, -pair.y_train[:100])


def test_counts_take_the_first_samples() -> None:
    whole, part = load_data(n_samples=None), load_data(n_samples=50, n_test=70)
    np.testing.assert_array_equal(part.x_train, whole.x_train[:50])
    np.testing.assert_array_equal(part.y_train, whole.y_train[:50])
    np.testing.assert_array_equal(part.x_test, whole.x_test[:70])
    np.testing.assert_array_equal(part.y_test, whole.y_test[:70])
    assert len(part.blocks(25)) == 25


def test_pixels_are_normalized_and_whitened_inputs_are_uncorrelated() -> None:
    pixels = load_data(pca=None, n_samples=None)
    assert pixels.x_train.shape == (1297, 64)
    np.testing.assert_allclose([pixels.x_train.mean(), pixels.x_train.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose([pixels.x_test.mean(), pixels.x_test.std()], [0, 1], atol=1e-12)
    white = load_data(scaling="whiten", n_samples=None)
    covariance = np.cov(white.x_train.T, bias=True)
    np.testing.assert_allclose(covariance, np.eye(10), atol=1e-10)
    assert white.settings["test_statistics"] == "train"


def test_digits_need_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'doubletrouble\[networks\]'"):
        load_data()


def test_settings_are_plain_values() -> None:
    data = load_data(pca=np.int64(5), labels=np.array([3, 8]), n_samples=np.int64(50))  # type: ignore[arg-type]
    assert json.loads(json.dumps(dict(data.settings)))["pca"] == 5
    assert data.settings["labels"] == (3, 8)


def test_import_is_light() -> None:
    heavy = ("sklearn", "pooch", "requests")
    code = f"import sys, doubletrouble.data; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


# --- invalid arguments ---------------------------------------------------------------------------

BAD: list[dict[str, Any]] = [  # the first argument is the invalid one
    {"name": "svhn"},
    *({"pca": pca} for pca in (0, 2.5, True, 65)),
    *({"n_samples": n} for n in (0, 1298)),
    *({"n_test": n} for n in (501, -1)),
    *({"labels": pair} for pair in ("odd", (3, 3), (3,), (3, True), (1.0, 2.0), 3, (3, 12))),
    {"scaling": "zca"},
    {"test_statistics": "both"},
    {"folder": "nowhere", "name": "mnist"},
    {"name": 3},
    {"folder": 3, "name": "mnist"},
    {"download": "no"},
]


def test_invalid_arguments_are_named() -> None:
    for arguments in BAD:
        name, value = next(iter(arguments.items()))
        kind = TypeError if value in (3, "no") and name != "labels" else ValueError
        try:
            load_data(**arguments)
        except kind as error:
            message = str(error)
        else:
            message = "accepted"
        assert message.startswith(f"{name} must "), (arguments, message)


def test_first_samples_must_have_both_classes_and_pairs_enough_samples() -> None:
    with pytest.raises(ValueError, match="y_train must hold both classes"):
        load_data(n_samples=1)
    with pytest.raises(ValueError, match="n_samples must be at most 2"):
        load_data(labels=(3, 8))


# --- stored projections --------------------------------------------------------------------------

RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {
    "X_train": RNG.standard_normal((40, 6)).astype(np.float32),
    "y_train": np.arange(40, dtype=np.uint8) % 10,
    "X_test": RNG.standard_normal((20, 6)).astype(np.float32),
    "X_test_ownstats": RNG.standard_normal((20, 6)).astype(np.float32),
    "y_test": np.arange(20, dtype=np.uint8) % 10,
}
SMALL: dict[str, Any] = {"pca": 3, "n_samples": 20, "download": False}


def store(path: Path, **changes: Any) -> Path:
    """Write a stored projection; None leaves an array out."""
    arrays = {key: array for key, array in {**ARRAYS, **changes}.items() if array is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(("statistics", "key"), [("own", "X_test_ownstats"), ("train", "X_test")])
def test_projections_are_the_first_columns(
    tmp_path: Path, statistics: StatisticsName, key: str
) -> None:
    path = store(tmp_path / "mine.npz")
    data = load_data(path, test_statistics=statistics, **SMALL)
    np.testing.assert_array_equal(data.x_train, ARRAYS["X_train"][:20, :3])
    np.testing.assert_array_equal(data.x_test, ARRAYS[key][:, :3])
    np.testing.assert_array_equal(data.y_train, 2.0 * (ARRAYS["y_train"][:20] % 2) - 1)
    assert data.name == "mine"
    assert data.settings["source"] == "mine.npz"
    assert data.settings["test_statistics"] == statistics
    assert len(data.blocks(2)) == 2
    everything = load_data(str(path), pca=None, n_samples=None)
    assert everything.x_train.shape == (40, 6)
    pair = load_data(path, pca=3, n_samples=None, labels=(3, 8))
    np.testing.assert_array_equal(
        pair.x_train, ARRAYS["X_train"][[3, 8, 13, 18, 23, 28, 33, 38], :3]
    )


def test_files_may_have_one_test_set(tmp_path: Path) -> None:
    path = store(tmp_path / "one.npz", X_test_ownstats=None)
    for statistics in ("own", "train"):
        data = load_data(path, test_statistics=statistics, **SMALL)
        np.testing.assert_array_equal(data.x_test, ARRAYS["X_test"][:, :3])
        assert data.settings["test_statistics"] == "as stored"
    path = store(tmp_path / "own.npz", X_test=None)
    assert load_data(path, **SMALL).settings["test_statistics"] == "own"
    with pytest.raises(DataError, match="must have X_test"):
        load_data(path, test_statistics="train", **SMALL)


def test_originals_then_projection_then_download(tmp_path: Path) -> None:
    for name, file in (("mnist", "mnist"), ("fashion-mnist", "fashion_mnist"), ("cifar10",) * 2):
        path = store(tmp_path / f"{file}_pca6.npz")
        data = load_data(name, folder=tmp_path, pca=3, n_samples=20)  # without network
        assert (data.name, data.settings["source"]) == (name, path.name)
    write(tmp_path / "mnist", packed(mnist_files()))
    assert "files as found" in load_data("mnist", folder=tmp_path, **SMALL).settings["source"]


def test_projection_replaces_incomplete_originals(tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-py", {"test_batch": cifar_python()["test_batch"]})
    store(tmp_path / "cifar10_pca6.npz")
    assert load_data("cifar10", folder=tmp_path, **SMALL).settings["source"] == "cifar10_pca6.npz"


def test_smallest_sufficient_projection_is_used(tmp_path: Path) -> None:
    store(tmp_path / "mnist" / "mnist_pca2.npz")
    store(tmp_path / "mnist" / "mnist_pca6.npz")
    store(tmp_path / "mnist" / "mnist_pca10.npz")
    store(tmp_path / "mnist" / "mnist_pcaten.npz")
    assert load_data("mnist", folder=tmp_path, **SMALL).settings["source"] == "mnist_pca6.npz"
    for arguments in ({"pca": 11}, {"pca": None}, {"scaling": "whiten"}):
        with pytest.raises(DataError, match="mnist must be in"):
            load_data("mnist", folder=tmp_path, **{**SMALL, **arguments})


def test_invalid_arrays_are_named(tmp_path: Path) -> None:
    x, nan = ARRAYS["X_train"], ARRAYS["X_train"].copy()
    nan[3, 1] = np.nan
    cases: list[tuple[str, dict[str, Any]]] = [
        ("X_train", {"X_train": None}),
        ("X_test", {"X_test": None, "X_test_ownstats": None}),
        ("", {"X_train": x.astype(object)}),
        ("X_train", {"X_train": x[:, 0]}),
        ("X_train", {"X_train": x.astype(str)}),
        ("X_train", {"X_train": nan}),
        ("y_train", {"y_train": ARRAYS["y_train"][:9]}),
        ("y_train", {"y_train": ARRAYS["y_train"].astype(int) - 1}),
        ("y_test", {"y_test": ARRAYS["y_test"] / 2}),
    ]
    for name, changes in cases:
        path = store(tmp_path / "bad.npz", **changes)
        with pytest.raises(DataError, match=f"{name}.*") as caught:
            load_data(path, **SMALL)
        assert str(path) in str(caught.value), name
        assert ("index (3, 1)" in str(caught.value)) == (changes.get("X_train") is nan)


def test_labels_must_have_both_classes(tmp_path: Path) -> None:
    path = store(tmp_path / "odd.npz", y_train=np.full(40, 3))
    with pytest.raises(ValueError, match="y_train must hold both classes"):
        load_data(path, **SMALL)


def test_invalid_files_are_named(tmp_path: Path) -> None:
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


def test_options_beyond_a_projection_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path / "mine.npz")
    with pytest.raises(ValueError, match="pca must be at most 6"):
        load_data(path, pca=7, n_samples=20)
    with pytest.raises(ValueError, match="scaling must be 'authors'"):
        load_data(path, scaling="whiten", pca=3, n_samples=20)


# --- docs/data.md --------------------------------------------------------------------------------


@pytest.mark.full
def test_examples_print_the_output_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compared("data.md") == 7
    assert list(tmp_path.iterdir()) == []


def test_folders_and_files_are_documented() -> None:
    text = text_of("data.md")
    for origin in ORIGINS.values():
        assert f'`"{origin.name}"`' in text
        assert all(f"`{folder}`" in text for folder in origin.folders if folder)
        assert f"`{origin.files[0]}`" in text
