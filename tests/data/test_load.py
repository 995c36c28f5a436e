"""load_data: the digits, every argument, files, OpenML, and the page of the guide."""

import json
import subprocess
import sys
from hashlib import sha256
from http.client import IncompleteRead
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest

import doubletrouble.data as module
from doubletrouble.data import DataError, StatisticsName, load_data
from doubletrouble.errors import MissingExtraError
from tests.data.files import (
    BATCHES,
    PIXELS,
    OpenML,
    cifar_batches,
    images,
    store,
    write_cifar,
)
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
    classes = module._digits().classes
    assert classes[:12].tolist() == [0, 6, 3, 8, 1, 8, 4, 1, 5, 8, 9, 7]
    assert classes[-5:].tolist() == [9, 7, 6, 7, 4]
    assert np.bincount(classes[-500:]).min() > 30  # every class is in the test set


def test_labels_are_parity_or_a_pair() -> None:
    train, test = np.split(module._digits().classes, [1297])
    parity = load_data(n_samples=None)
    np.testing.assert_array_equal(parity.y_train, 2.0 * (train % 2) - 1)
    np.testing.assert_array_equal(parity.y_test, 2.0 * (test % 2) - 1)
    pair = load_data(labels=(8, 3), n_samples=None)
    selected = train[np.isin(train, (3, 8))]
    np.testing.assert_array_equal(pair.y_train, np.where(selected == 3, 1.0, -1.0))
    np.testing.assert_array_equal(  # directions are those of all images
        pair.x_train, parity.x_train[np.isin(train, (3, 8))]
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
    heavy = ("sklearn", "pandas", "urllib.request")
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
    *({option: 0, "name": "mnist"} for option in ("pca", "n_samples", "n_test")),
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


# --- .npz files ----------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
ARRAYS: dict[str, Any] = {  # the columns of a projection are orthogonal
    "X_train": (np.linalg.qr(RNG.standard_normal((40, 6)))[0] * range(6, 0, -1)).astype(np.float32),
    "y_train": np.arange(40, dtype=np.uint8) % 10,
    "X_test": RNG.standard_normal((20, 6)).astype(np.float32),
    "X_test_ownstats": RNG.standard_normal((20, 6)).astype(np.float32),
    "y_test": np.arange(20, dtype=np.uint8) % 10,
}
IMAGES: dict[str, Any] = {
    "X_train": images(40, 16, seed=1)[0].reshape(40, 4, 4),
    "y_train": np.arange(40) % 10,
    "X_test": images(20, 16, seed=2)[0].reshape(20, 4, 4),
    "y_test": np.arange(20) % 10,
}
SMALL: dict[str, Any] = {"pca": 3, "n_samples": 20, "download": False}


@pytest.mark.parametrize(("statistics", "key"), [("own", "X_test_ownstats"), ("train", "X_test")])
def test_projections_are_the_first_columns(
    tmp_path: Path, statistics: StatisticsName, key: str
) -> None:
    path = store(tmp_path / "mine.npz", **ARRAYS)
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


def test_projections_may_have_one_test_set(tmp_path: Path) -> None:
    path = store(tmp_path / "one.npz", **{**ARRAYS, "X_test_ownstats": None})
    for statistics in ("own", "train"):
        data = load_data(path, test_statistics=statistics, **SMALL)
        np.testing.assert_array_equal(data.x_test, ARRAYS["X_test"][:, :3])
        assert data.settings["test_statistics"] == "as stored"
    path = store(tmp_path / "own.npz", **{**ARRAYS, "X_test": None})
    assert load_data(path, **SMALL).settings["test_statistics"] == "own"
    with pytest.raises(DataError, match="must have X_test"):
        load_data(path, test_statistics="train", **SMALL)


@pytest.mark.parametrize(
    "pixels",
    [IMAGES["X_train"].reshape(40, 16) / 255, IMAGES["X_train"].reshape(40, 16).astype(int)],
    ids=["from 0 to 1", "int64"],
)
def test_pixels_of_other_types_are_no_projection(tmp_path: Path, pixels: Any) -> None:
    path = store(tmp_path / "pixels.npz", **IMAGES | {"X_train": pixels, "X_test": pixels[:20]})
    with pytest.raises(DataError, match=r"X_train in .* must be images .* as uint8, .*, got"):
        load_data(path, **SMALL)
    path = store(tmp_path / "axes.npz", **IMAGES | {"X_train": pixels.reshape(40, 4, 4)})
    with pytest.raises(DataError, match=r"X_train in .* must be images as uint8"):
        load_data(path, **SMALL)


def test_names_in_small_letters_are_those_of_keras(tmp_path: Path) -> None:
    expected = load_data(store(tmp_path / "large.npz", **IMAGES), **SMALL)
    small = {name.lower(): array for name, array in IMAGES.items()}
    assert load_data(store(tmp_path / "small.npz", **small), **SMALL).fingerprint == (
        expected.fingerprint
    )


def test_other_arrays_are_listed(tmp_path: Path) -> None:
    path = store(tmp_path / "other.npz", images=np.zeros(3), labels=np.zeros(3))
    with pytest.raises(DataError, match="must have X_train, got images, labels"):
        load_data(path, **SMALL)


def test_bytes_are_images_which_are_projected(tmp_path: Path) -> None:
    path = store(tmp_path / "images.npz", **IMAGES)
    data = load_data(path, pca=None, n_samples=None)
    x, x_test = (IMAGES[key].reshape(-1, 16).astype(float) for key in ("X_train", "X_test"))
    np.testing.assert_allclose(data.x_train, (x - x.mean()) / x.std(), atol=1e-12)
    np.testing.assert_allclose(data.x_test, (x_test - x_test.mean()) / x_test.std(), atol=1e-12)
    assert load_data(path, scaling="whiten", **SMALL).settings["test_statistics"] == "train"


def test_files_of_a_folder_have_the_names_of_the_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, file in (("mnist", "mnist"), ("fashion-mnist", "fashion_mnist"), ("cifar10",) * 2):
        path = store(tmp_path / f"{file}.npz", **IMAGES)
        data = load_data(name, folder=tmp_path, **SMALL)
        assert (data.name, data.settings["source"]) == (name, path.name)
    store(tmp_path / "variable" / "mnist" / "mnist.npz", **IMAGES)
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "variable"))
    assert load_data("mnist", **SMALL).name == "mnist"
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(tmp_path / "none"))
    with pytest.raises(ValueError, match="DOUBLETROUBLE_DATA must be an existing folder"):
        load_data("mnist", **SMALL)
    assert load_data("mnist", folder=tmp_path, **SMALL).name == "mnist"


def test_invalid_arrays_are_named(tmp_path: Path) -> None:
    x, nan = ARRAYS["X_train"], ARRAYS["X_train"].copy()
    nan[3, 1] = np.nan
    cases: list[tuple[str, dict[str, Any]]] = [
        ("X_train", {**ARRAYS, "X_train": None}),
        ("X_test", {**ARRAYS, "X_test": None, "X_test_ownstats": None}),
        ("not an .npz file of numbers", {**ARRAYS, "X_train": x.astype(object)}),
        ("X_train", {**ARRAYS, "X_train": x[:, 0]}),
        ("X_train", {**ARRAYS, "X_train": x[:0]}),
        ("X_train", {**ARRAYS, "X_train": x.astype(str)}),
        ("X_train", {**ARRAYS, "X_train": nan}),
        ("X_test_ownstats", {**ARRAYS, "X_test_ownstats": x[:20, :5]}),
        ("y_train", {**ARRAYS, "y_train": ARRAYS["y_train"][:9]}),
        ("y_train", {**ARRAYS, "y_train": ARRAYS["y_train"].astype(int) - 1}),
        ("y_test", {**ARRAYS, "y_test": ARRAYS["y_test"] / 2}),
        ("X_test", {**IMAGES, "X_test": IMAGES["X_test"] / 255}),
        ("X_test", {**IMAGES, "X_test": IMAGES["X_test"][:, 1:]}),
        ("y_test", {**IMAGES, "y_test": None}),
    ]
    for name, arrays in cases:
        path = store(tmp_path / "bad.npz", **arrays)
        with pytest.raises(DataError, match=f"{name}.*") as caught:
            load_data(path, **SMALL)
        assert str(path) in str(caught.value), name


def test_labels_must_have_both_classes(tmp_path: Path) -> None:
    path = store(tmp_path / "odd.npz", **{**ARRAYS, "y_train": np.full(40, 3)})
    with pytest.raises(ValueError, match="y_train must hold both classes"):
        load_data(path, **SMALL)


def test_invalid_files_are_named(tmp_path: Path) -> None:
    whole = store(tmp_path / "good.npz", **ARRAYS).read_bytes()
    path = tmp_path / "bad.npz"
    flipped = bytearray(whole)
    flipped[200] ^= 1
    for content in (b"", b"abc", whole[:-1], whole[: len(whole) // 2], whole[:30], bytes(flipped)):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"is damaged, or not an \.npz file of numbers$"):
            load_data(path, **SMALL)
    with path.open("wb") as file:
        np.save(file, np.ones(3))
    with pytest.raises(DataError, match=r"bad\.npz"):
        load_data(path, **SMALL)
    with pytest.raises(DataError, match=r"none\.npz cannot be read: No such"):
        load_data(tmp_path / "none.npz", **SMALL)


def test_options_beyond_a_projection_are_refused(tmp_path: Path) -> None:
    path = store(tmp_path / "mine.npz", **ARRAYS)
    with pytest.raises(ValueError, match="pca must be at most 6"):
        load_data(path, pca=7, n_samples=20)
    with pytest.raises(ValueError, match="scaling must be authors"):
        load_data(path, scaling="whiten", pca=3, n_samples=20)


# --- the binary version of CIFAR-10 --------------------------------------------------------------


@pytest.mark.parametrize("inside", ["cifar-10-batches-bin", "cifar10/cifar-10-batches-bin", "."])
def test_binary_batches_are_read_in_their_order(tmp_path: Path, inside: str) -> None:
    write_cifar(tmp_path / inside)
    data = load_data("cifar10", folder=tmp_path, pca=None, n_samples=None, download=False)
    *train, (test, test_classes) = cifar_batches()
    x, classes = (np.concatenate(arrays) for arrays in zip(*train, strict=True))
    np.testing.assert_allclose(data.x_train, (x - x.mean()) / x.std(), atol=1e-12)
    np.testing.assert_allclose(data.x_test, (test - test.mean()) / test.std(), atol=1e-12)
    np.testing.assert_array_equal(data.y_train, 2.0 * (classes % 2) - 1)
    np.testing.assert_array_equal(data.y_test, 2.0 * (test_classes % 2) - 1)
    assert data.settings["source"] == (tmp_path / inside).name


def test_images_are_the_same_from_binary_batches_and_from_a_file(tmp_path: Path) -> None:
    *train, (test, test_classes) = cifar_batches()
    x, classes = (np.concatenate(arrays) for arrays in zip(*train, strict=True))
    arrays = {"X_train": x, "y_train": classes, "X_test": test, "y_test": test_classes}
    path = store(tmp_path / "same.npz", **arrays)
    one = load_data("cifar10", folder=write_cifar(tmp_path), **SMALL)
    assert one.fingerprint == load_data(path, **SMALL).fingerprint


def test_invalid_batches_are_named(tmp_path: Path) -> None:
    folder = write_cifar(tmp_path / "cifar-10-batches-bin")
    for name in (BATCHES[2], BATCHES[5]):
        whole = (folder / name).read_bytes()
        for content in (b"", whole[:-1], bytes([10]) + whole[1:], b"a" * PIXELS):
            (folder / name).write_bytes(content)
            with pytest.raises(DataError, match=f"{name} must have 3073 bytes"):
                load_data("cifar10", folder=tmp_path, **SMALL)
        (folder / name).write_bytes(whole)
    (folder / BATCHES[3]).unlink()
    with pytest.raises(DataError, match="cifar10 must be in"):
        load_data("cifar10", folder=tmp_path, **SMALL)


# --- OpenML --------------------------------------------------------------------------------------

PIXELS_OF_ALL, CLASSES_OF_ALL = images(60, 16)


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What `fetch_openml` returns or raises, and its arguments: a small MNIST."""
    made: dict[str, Any] = {"x": PIXELS_OF_ALL.astype(float), "y": CLASSES_OF_ALL.astype(float)}

    def fetch(**arguments: Any) -> tuple[Any, Any]:
        made["arguments"] = arguments
        if "error" in made:
            raise made["error"]
        return made["x"], made["y"]

    digest = sha256(CLASSES_OF_ALL.tobytes()).hexdigest()[:32]
    monkeypatch.setitem(module._PUBLISHED, "mnist", (554, 40, digest))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return made


def test_published_sets_come_from_openml(openml: dict[str, Any], tmp_path: Path) -> None:
    data = load_data("MNIST", pca=3, n_samples=20)
    assert (data.name, data.settings["source"]) == ("mnist", "data set 554 of OpenML")
    arguments = openml["arguments"]
    assert (arguments["data_id"], arguments["data_home"]) == (554, None)
    path = store(
        tmp_path / "mnist" / "same.npz",
        X_train=PIXELS_OF_ALL[:40],
        y_train=CLASSES_OF_ALL[:40],
        X_test=PIXELS_OF_ALL[40:],
        y_test=CLASSES_OF_ALL[40:],
    )
    assert load_data(path, pca=3, n_samples=20).fingerprint == data.fingerprint
    load_data("mnist", folder=tmp_path, pca=3, n_samples=20)
    assert openml["arguments"]["data_home"] == tmp_path
    del openml["arguments"]
    with pytest.raises(DataError, match="mnist must be in"):
        load_data("mnist", **SMALL)
    assert "arguments" not in openml


def test_scikit_learn_downloads_a_set_once(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = sha256(CLASSES_OF_ALL.tobytes()).hexdigest()[:32]
    monkeypatch.setitem(module._PUBLISHED, "mnist", (554, 40, digest))
    server = OpenML(PIXELS_OF_ALL, CLASSES_OF_ALL)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", server.urlopen)
    for _ in range(2):
        found = module._openml("mnist", None)
        np.testing.assert_array_equal(found.rows, PIXELS_OF_ALL)
        np.testing.assert_array_equal(found.classes, CLASSES_OF_ALL)
        assert (len(server.requests), found.n_pool) == (4, 40)


def test_failed_downloads_are_one_sentence(openml: dict[str, Any]) -> None:
    for error in (URLError("no route\nto host"), IncompleteRead(b""), ValueError("md5 checksum")):
        openml["error"] = error
        with pytest.raises(DataError, match="mnist, data set 554 of OpenML, cannot be") as caught:
            load_data("mnist")
        assert type(error).__name__ in str(caught.value)
        assert "\n" not in str(caught.value)


def test_without_a_network_there_is_one_error_and_no_warning() -> None:
    for name in ("mnist", "fashion-mnist", "cifar10"):
        with pytest.raises(DataError, match="no network in tests; without a network, give a fold"):
            load_data(name)


def test_other_data_of_openml_are_refused(openml: dict[str, Any]) -> None:
    changes: list[tuple[str, dict[str, Any]]] = [
        ("classes of mnist in their published order", {"y": openml["y"][::-1]}),
        ("classes of mnist in their published order", {"y": openml["y"][:59]}),
        ("pixels from 0 to 255", {"x": PIXELS_OF_ALL + 0.5}),
        ("pixels from 0 to 255", {"x": PIXELS_OF_ALL * np.nan}),
        ("pixels from 0 to 255", {"x": PIXELS_OF_ALL[:59]}),
    ]
    for message, change in changes:
        before = {key: openml[key] for key in change}
        openml.update(change)
        with pytest.raises(DataError, match=f"data set 554 of OpenML must have .*{message}"):
            load_data("mnist")
        openml.update(before)


@pytest.mark.parametrize("missing", ["sklearn.datasets", "pandas"])
def test_downloads_need_the_extra(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'doubletrouble\[data\]'"):
        load_data("mnist")


# --- docs/data.md --------------------------------------------------------------------------------


@pytest.mark.full
def test_examples_print_the_output_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compared("data.md") == 7
    assert list(tmp_path.iterdir()) == []


def test_sets_and_files_are_documented() -> None:
    text = text_of("data.md")
    for name, (number, *_) in module._PUBLISHED.items():
        assert f'`"{name}"`' in text
        assert f"| {number} |" in text
        assert f"`{name.replace('-', '_')}.npz`" in text
