"""Random features as a transformer."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.errors import require
from tests.estimators.literal import data, features

pd = require("pandas", "tables")


def test_features_follow_the_formula() -> None:
    x, _ = data(30, 7)
    for name, center in product(NAMES, (True, False)):
        map_ = dt.RandomFeatures(11, activation=name, center=center, random_state=3).fit(x)
        expected = features(x, map_.weights_, name, center)
        np.testing.assert_allclose(
            map_.transform(x), expected, rtol=1e-12, atol=1e-13, err_msg=name
        )
        assert map_.weights_.shape == (11, 7)


@pytest.mark.parametrize("sigma", [np.tanh, math.tanh, dt.activation("tanh")])
def test_activations_may_be_callables(sigma: Any) -> None:
    x, _ = data(20, 4)
    named = dt.RandomFeatures(9, activation="tanh", random_state=0).fit_transform(x)
    np.testing.assert_allclose(
        dt.RandomFeatures(9, activation=sigma, random_state=0).fit_transform(x), named, atol=1e-12
    )


def test_weights_are_standard_normal_and_nested() -> None:
    x, _ = data(2, 50)
    theta = dt.RandomFeatures(400, random_state=0).fit(x).weights_
    assert abs(theta.mean()) < 0.03
    assert abs(theta.std() - 1) < 0.03
    few = dt.RandomFeatures(5, random_state=0).fit(x).weights_
    assert np.array_equal(few, theta[:5])
    assert not np.array_equal(few, dt.RandomFeatures(5, random_state=1).fit(x).weights_)


def test_features_are_those_of_the_first_member() -> None:
    x, y = data(20, 4)
    theta = dt.RandomFeatures(6, random_state=5).fit(x).weights_
    one = dt.RandomFeaturesRidge(9, random_state=5).fit(x, y)
    three = dt.RandomFeaturesRidge(6, ensemble=3, random_state=5).fit(x, y)
    assert np.array_equal(one.weights_[0, :6], theta)
    assert np.array_equal(three.weights_[0], theta)
    assert not np.array_equal(three.weights_[1], theta)


def test_random_state_object_is_advanced() -> None:
    x, _ = data(3, 4)
    state = np.random.RandomState(0)
    map_ = dt.RandomFeatures(6, random_state=state)
    assert not np.array_equal(map_.fit(x).weights_, map_.fit(x).weights_)


def test_result_is_independent_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x, _ = data(50, 4)
    map_ = dt.RandomFeatures(6, random_state=0).fit(x)
    whole = map_.transform(x)
    cut = [slice(0, 20), slice(20, 50)]
    monkeypatch.setattr("doubletrouble.estimators._features.blocks", lambda *_: cut)
    np.testing.assert_allclose(map_.transform(x), whole, rtol=1e-14)


def test_float32_is_preserved() -> None:
    x, _ = data(30, 7)
    map_ = dt.RandomFeatures(11, random_state=3).fit(x)
    single = map_.transform(x.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, map_.transform(x), atol=1e-5)


def test_feature_names_are_those_of_frames() -> None:
    x, _ = data(30, 3)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    map_ = dt.RandomFeatures(4, random_state=0).set_output(transform="pandas")
    out = map_.fit_transform(frame)
    assert list(out.columns) == [f"randomfeatures{h}" for h in range(4)]
    assert list(map_.feature_names_in_) == ["a", "b", "c"]
    assert map_.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names"):
        map_.transform(frame[["b", "a", "c"]])
