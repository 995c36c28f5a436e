"""load_data: the digits, and every argument."""

import json
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import load_data
from doubletrouble.data._digits import digits
from doubletrouble.errors import MissingExtraError

# --- digits --------------------------------------------------------------------------------------


def test_the_default_is_the_digits() -> None:
    data = load_data("digits", pca=10, labels="parity", n_train=1000)
    assert data.x_train.shape == (1000, 10)
    assert data.x_test.shape == (500, 10)
    assert data.pool_x is not None
    assert data.pool_x.shape == (1297, 10)
    assert data.fingerprint == load_data().fingerprint
    assert (data.name, dict(data.settings)) == (
        "digits",
        {"pca": 10, "labels": "parity", "scaling": "authors", "test_statistics": "own",
         "source": "scikit-learn"},
    )  # fmt: skip


def test_the_split_of_the_digits_never_changes() -> None:
    found = digits()
    assert found.train_classes[:12].tolist() == [0, 6, 3, 8, 1, 8, 4, 1, 5, 8, 9, 7]
    assert found.test_classes[-5:].tolist() == [9, 7, 6, 7, 4]
    assert np.bincount(found.test_classes).min() > 30  # every class is tested


def test_labels_are_parity_or_a_pair() -> None:
    found = digits()
    parity = load_data(n_train=None)
    np.testing.assert_array_equal(parity.y_train, 2.0 * (found.train_classes % 2) - 1)
    np.testing.assert_array_equal(parity.y_test, 2.0 * (found.test_classes % 2) - 1)
    pair = load_data(labels=(8, 3), n_train=None)
    kept = found.train_classes[np.isin(found.train_classes, (3, 8))]
    np.testing.assert_array_equal(pair.y_train, np.where(kept == 3, 1.0, -1.0))
    np.testing.assert_array_equal(  # directions are those of all images
        pair.x_train, parity.x_train[np.isin(found.train_classes, (3, 8))]
    )
    swapped = load_data(labels=[3, 8], n_train=100)  # type: ignore[arg-type]
    np.testing.assert_array_equal(swapped.y_train, -pair.y_train[:100])


def test_counts_take_the_first_samples() -> None:
    whole, part = load_data(n_train=None), load_data(n_train=50, n_test=70)
    np.testing.assert_array_equal(part.x_train, whole.x_train[:50])
    np.testing.assert_array_equal(part.y_train, whole.y_train[:50])
    np.testing.assert_array_equal(part.x_test, whole.x_test[:70])
    np.testing.assert_array_equal(part.y_test, whole.y_test[:70])
    assert len(part.blocks(25)) == 25


def test_pixels_and_whitening() -> None:
    pixels = load_data(pca=None, n_train=None)
    assert pixels.x_train.shape == (1297, 64)
    np.testing.assert_allclose([pixels.x_train.mean(), pixels.x_train.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose([pixels.x_test.mean(), pixels.x_test.std()], [0, 1], atol=1e-12)
    white = load_data(scaling="whiten", n_train=None)
    covariance = np.cov(white.x_train.T, bias=True)
    np.testing.assert_allclose(covariance, np.eye(10), atol=1e-10)
    assert white.settings["test_statistics"] == "train"


def test_scikit_learn_is_asked_for_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'doubletrouble\[networks\]'"):
        load_data()


def test_settings_are_plain_values() -> None:
    data = load_data(pca=np.int64(5), labels=np.array([3, 8]), n_train=np.int64(50))  # type: ignore[arg-type]
    assert json.loads(json.dumps(dict(data.settings)))["pca"] == 5
    assert data.settings["labels"] == (3, 8)


def test_import_is_light() -> None:
    heavy = ("sklearn", "tqdm", "urllib.request", "tarfile", "gzip", "zipfile")
    code = f"import sys, doubletrouble.data; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


# --- bad arguments -------------------------------------------------------------------------------

BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": "svhn"}, "name must be one of digits, mnist, fashion-mnist, cifar10 or the path of "
                       "an .npz file, got 'svhn'"),
    ({"pca": 0}, "pca must be a whole number of at least 1, got 0"),
    ({"pca": 2.5}, "pca must be a whole number of at least 1, got 2.5"),
    ({"pca": True}, "pca must be a whole number of at least 1, got True"),
    ({"pca": 65}, "pca must be at most 64, the pixels of an image, got 65"),
    ({"n_train": 0}, "n_train must be a whole number of at least 1, got 0"),
    ({"n_train": 1}, "y_train must hold both classes, got only"),
    ({"n_train": 1298}, "n_train must be at most 1297, the samples there are of digits, got 1298; "
                        "n_train=None takes them all"),
    ({"n_test": 501}, "n_test must be at most 500, the samples there are of digits, got 501"),
    ({"n_test": -1}, "n_test must be a whole number of at least 1, got -1"),
    ({"labels": (3, 8)}, "n_train must be at most 2"),
    ({"labels": "odd"}, "labels must be 'parity' or two different classes, got 'odd'"),
    ({"labels": (3, 3)}, "labels must be 'parity' or two different classes, got (3, 3)"),
    ({"labels": (3,)}, "labels must be 'parity' or two different classes, got (3,)"),
    ({"labels": (3, True)}, "labels must be 'parity' or two different classes, got (3, True)"),
    ({"labels": (1.0, 2.0)}, "labels must be 'parity' or two different classes, got (1.0, 2.0)"),
    ({"labels": 3}, "labels must be 'parity' or two different classes, got 3"),
    ({"labels": (3, 12)}, "labels must be among the classes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 of digits,"
                          " got (3, 12)"),
    ({"scaling": "zca"}, "scaling must be one of authors, whiten, got 'zca'"),
    ({"test_statistics": "both"}, "test_statistics must be one of own, train, got 'both'"),
    ({"name": "mnist", "folder": "nowhere"},
     "folder must be a folder, got 'nowhere', which does not exist"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "sentence"), BAD)
def test_bad_arguments_are_named(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        load_data(**arguments)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": 3}, "name must be a string or a path, got 3"),
        ({"name": "mnist", "folder": 3}, "folder must be a path, got 3"),
        ({"download": "no"}, "download must be true or false, got 'no'"),
    ],
)
def test_arguments_of_a_wrong_type_are_named(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TypeError) as caught:
        load_data(**arguments)
    assert str(caught.value) == sentence
