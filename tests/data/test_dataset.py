"""Validation, immutability, blocks and fingerprints of a data set."""

import copy
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

from doubletrouble.data import Data

X = np.arange(12.0).reshape(6, 2)
Y = np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
GOOD: dict[str, Any] = {"x_train": X, "y_train": Y, "x_test": X[:2], "y_test": Y[:2]}
POOL: dict[str, Any] = {**GOOD, "x_train": X[:2], "y_train": Y[:2], "pool_x": X, "pool_y": Y}


def data(**fields: Any) -> Data:
    return Data(**{**GOOD, **fields})


def changed(array: Any, index: Any, value: float) -> Any:
    new = np.array(array, dtype=float)
    new[index] = value
    return new


# --- arrays --------------------------------------------------------------------------------------


def test_arrays_are_read_only_float64_copies() -> None:
    x, y = X.astype(np.float32), Y.astype(np.int8)
    result = data(x_train=x, y_train=y, pool_x=x.tolist(), pool_y=y.tolist())
    x[0], y[0] = 99, 99
    np.testing.assert_array_equal(result.x_train, X)
    np.testing.assert_array_equal(result.y_train, Y)
    for name in ("x_train", "y_train", "x_test", "y_test", "pool_x", "pool_y"):
        array = getattr(result, name)
        assert array.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_read_only_view_of_a_writable_array_is_copied() -> None:
    base = X.copy()
    view = base[:]
    view.flags.writeable = False
    result = data(x_train=view)
    base[0, 0] = 99.0
    assert result.x_train[0, 0] == 0.0


def test_largest_inputs_are_accepted() -> None:
    assert data(x_train=changed(X, (0, 0), -1e15)).x_train[0, 0] == -1e15
    assert data(x_test=changed(X[:2], (0, 0), 1e15)).x_test[0, 0] == 1e15


def test_training_set_is_a_view_of_the_pool() -> None:
    result = Data(**POOL)
    assert np.shares_memory(result.x_train, result.pool_x)
    assert all(np.shares_memory(b.x_train, result.pool_x) for b in result.blocks(3))
    assert all(b.x_test is result.x_test for b in result.blocks(3))


def test_settings_are_a_read_only_copy() -> None:
    settings = {"pca": 10}
    result = data(settings=settings)
    settings["pca"] = 3
    assert result.settings == {"pca": 10}
    with pytest.raises(TypeError):
        result.settings["pca"] = 3  # type: ignore[index]


@pytest.mark.parametrize("again", [lambda d: pickle.loads(pickle.dumps(d)), copy.deepcopy])
def test_copies_are_read_only(again: Any) -> None:
    first = Data(**POOL, name="mine", settings={"pca": 2})
    second = again(first)
    assert second.fingerprint == first.fingerprint
    assert (second.name, second.settings) == ("mine", {"pca": 2})
    assert not second.x_train.flags.writeable
    assert len(second.blocks(3)) == 3


# --- blocks --------------------------------------------------------------------------------------


def test_blocks_are_disjoint_and_cover_the_pool() -> None:
    blocks = Data(**POOL).blocks(3)
    np.testing.assert_array_equal(np.vstack([block.x_train for block in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([block.y_train for block in blocks]), Y)
    for number, block in enumerate(blocks):
        np.testing.assert_array_equal(block.x_test, X[:2])
        assert block.settings["block"] == number
        assert block.pool_x is None
    assert blocks[0].blocks(1)[0].fingerprint == blocks[0].fingerprint


def test_number_of_blocks_is_at_most_that_of_the_pool() -> None:
    with pytest.raises(ValueError, match="n_data must be at most 3"):
        Data(**POOL).blocks(4)
    with pytest.raises(ValueError, match="n_data must be at most 1"):
        data().blocks(2)
    with pytest.raises(ValueError, match="n_data must be"):
        data().blocks(0)


# --- fingerprints --------------------------------------------------------------------------------


def test_fingerprint_depends_on_every_number_and_shape() -> None:
    alike = [
        data(),
        data(name="x", settings={"a": 1}),
        data(x_train=X.tolist()),
        data(pool_x=X, pool_y=Y),
    ]
    others = [
        data(x_train=changed(X, (5, 1), 11.000000001)),
        data(y_train=changed(Y, 0, 1.0)),
        data(x_test=changed(X[:2], (0, 0), 5.0)),
        data(y_test=[1, 1]),
        data(x_test=X[:3], y_test=Y[:3]),
        data(x_train=X[:4], y_train=Y[:4]),
        data(x_train=X[:4], y_train=Y[:4], pool_x=X, pool_y=Y),
        data(x_train=X[:2], y_train=Y[:2], pool_x=X, pool_y=Y),
    ]
    assert len({result.fingerprint for result in alike}) == 1
    assert len({result.fingerprint for result in [alike[0], *others]}) == 1 + len(others)
    assert len(alike[0].fingerprint) == 64


def test_fingerprint_is_fixed() -> None:
    """The keys of stored results contain it."""
    assert data().fingerprint.startswith("bbb633d8eba04b08")


# --- invalid input ------------------------------------------------------------------------------

POOLED: dict[str, Any] = {"pool_x": X, "pool_y": Y}
BAD: list[tuple[dict[str, Any], str]] = [  # the index of the invalid value, where there is one
    ({"x_train": changed(X, (3, 1), np.nan)}, "(3, 1)"),
    ({"x_train": [[0.0, np.nan]] * 6}, "(0, 1)"),
    ({"x_test": changed(X[:2], (1, 0), -np.inf)}, "(1, 0)"),
    ({"pool_x": changed(X, (4, 0), np.nan), "pool_y": Y}, "(4, 0)"),
    ({"x_train": changed(X, (0, 0), np.nan), **POOLED}, "(0, 0)"),
    ({"x_train": changed(X, (3, 1), 1e39)}, "(3, 1)"),
    ({"x_test": changed(X[:2], (1, 0), -1.1e15).tolist()}, "(1, 0)"),
    ({"pool_x": changed(X, (4, 0), 1e50), "pool_y": Y}, "(4, 0)"),
    ({"y_train": np.ones(6)}, ""),
    ({"y_train": -np.ones(6)}, ""),
    ({"y_train": changed(Y, 2, 0.0)}, "index 2"),
    ({"y_test": [1, np.nan]}, ""),
    ({"y_test": np.array([1, np.nan])}, "index 1"),
    ({"y_train": Y[:5]}, ""),
    ({"y_train": Y[:, None]}, ""),
    ({"x_train": X.ravel()}, ""),
    ({"x_train": 3.0}, ""),
    ({"x_test": X[:0], "y_test": Y[:0]}, ""),
    ({"x_test": X[:2, :1]}, ""),
    ({"pool_x": X}, ""),
]
WRONG: list[dict[str, Any]] = [
    {"x_train": "abc"},
    {"x_train": [["a", 1.0]] * 6},
    {"x_train": X.astype(complex)},
    {"y_test": [True, False]},
    {"name": 3},
    {"settings": [1]},
]


def test_invalid_fields_are_named() -> None:
    cases = [(ValueError, *case) for case in BAD] + [(TypeError, case, "") for case in WRONG]
    for kind, fields, index in cases:
        try:
            data(**fields)
        except kind as error:
            message = str(error)
        else:
            message = "accepted"
        name = next(iter(fields))
        assert message.startswith((f"{name} must ", f"{name} and ")), (fields, message)
        assert index in message, (fields, message)


def test_training_set_must_be_the_first_rows_of_the_pool() -> None:
    for pool in ({"pool_x": X[::-1], "pool_y": Y}, {"pool_x": X[:3], "pool_y": Y[:3]}):
        with pytest.raises(ValueError, match="x_train and y_train must"):
            data(**pool)


def test_immutable_arrays_are_not_copied() -> None:
    large = np.ones((1000, 1000))
    large.flags.writeable = False
    y = np.tile([-1.0, 1.0], 500)
    tracemalloc.start()
    try:
        pool: dict[str, Any] = {"pool_x": large, "pool_y": y}
        result = Data(x_train=large[:10], y_train=y[:10], x_test=large[:2], y_test=y[:2], **pool)
        result.blocks(100)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < large.nbytes / 4  # the comparison with the pool takes an eighth
