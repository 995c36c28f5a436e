"""Invalid parameters and data raise errors at fit, with the name of the argument."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.estimators.literal import data
from tests.messages import message_of

X, Y = data(20, 4)
NO_FUNCTION = dt.Activation(name="bare", mean=0.0, linear=1.0, nonlinear=1.0)
BAD: dict[str, list[Any]] = {
    "n_features": [0, 2.5],
    "ensemble": [-1, np.inf, [1, 2], "divide", dt.Subsample(2, fraction=0.01), dt.Divide(21)],
    "center": ["yes"],
    "fit_intercept": [2],
    "ridge": [-1.0, np.inf, np.nan, "best"],
    "alpha": [-0.1],
    "ridges": [[1.0, -1.0], [1.0, np.inf], [[1.0]]],
    "activation": ["step", 3.0, lambda z: z[:1], lambda z: z * np.nan, NO_FUNCTION],
}


def refusal(**options: Any) -> str:
    return message_of(dt.RandomFeaturesRidge(**({"n_features": 5} | options)).fit, X, Y)


def test_parameters_are_checked() -> None:
    for name, values in BAD.items():
        for bad in values:
            assert refusal(**{name: bad}).startswith(f"{name} must"), bad
    assert refusal(ridge=1, alpha=2).startswith("alpha must")
    bank = refusal(ensemble=dt.FeatureBank(2, bank_per_dim=1.0))
    assert bank.startswith("bank_per_dim must")
    assert refusal(ensemble=dt.FeatureBank(2, n_bank=4)).startswith("n_bank must")
    assert "2 rows" in refusal(ensemble=dt.Divide(20), ridge="loo")
    for name in ("n_features", "center", "activation"):
        model = dt.RandomFeatures(**{name: BAD[name][0]})
        assert message_of(model.fit, X).startswith(f"{name} must")


def test_settings_of_a_forecast_are_checked() -> None:
    forecast: dict[str, Any] = {"ridge": "forecast"}
    for scheme in (dt.Divide(2), dt.Bootstrap(2), dt.FeatureBank(2, n_bank=9)):
        assert refusal(**forecast, ensemble=scheme).startswith("ensemble must be a number")
    for bad in (0, -3, 2.5, math.inf, math.nan, "20", True):
        assert refusal(**forecast, budget=bad).startswith("budget must"), bad
    assert "at least 3" in refusal(**forecast, ensemble=3, budget=2)
    assert refusal(budget=20).startswith("budget must be None unless")
    assert refusal(ridge="loo", budget=20).startswith("budget must be None unless")
    assert refusal(alpha=0.1, budget=20).startswith("budget must be None unless")
    assert refusal(**forecast, n_features=math.inf, budget=20).startswith("budget must be None for")
    assert refusal(**forecast, alpha=1.0).startswith("alpha must")
    model = dt.RandomFeaturesRidge(5, **forecast)
    assert message_of(model.fit, X, np.ones(20)).startswith("y must not be constant")
    assert message_of(model.fit, X[:19], Y[:19]).startswith("y must have at least 20 rows")
    assert message_of(model.fit, X, Y, np.arange(1, 21)).startswith("sample_weight must")
    assert message_of(model.partial_fit, X, Y).startswith("ridge must be a number for partial_fit")
    for size in (1e90, 1e-90):
        assert message_of(model.fit, size * X, Y).startswith("X must be in")
    for classes in (Y > 0.7, np.arange(20) < 9):
        balanced = dt.RandomFeaturesClassifier(5, **forecast, class_weight="balanced")
        assert message_of(balanced.fit, X, classes).startswith("sample_weight must")


def test_activations_must_return_finite_numbers() -> None:
    late = replace(NO_FUNCTION, function=lambda z: np.where(z > 0, z, np.nan))
    with pytest.raises(ValueError, match=r"^activation must"):
        dt.RandomFeatures(3, activation=late).fit_transform(X)


def test_missing_values_are_refused() -> None:
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        dt.RandomFeaturesRidge(5).fit(holes, Y)


def test_sample_weights_are_checked() -> None:
    for bad in (np.zeros(20), -np.ones(20), np.ones(19)):
        with pytest.raises(ValueError, match=r"^sample_weight must"):
            dt.RandomFeaturesRidge(5).fit(X, Y, bad)
    equal = dt.RandomFeaturesRidge(5, random_state=0).fit(X, Y, 2.0)
    assert np.array_equal(equal.coef_, equal.fit(X, Y, np.full(20, 2.0)).coef_)


@pytest.mark.parametrize(("size", "dtype"), [(1e101, "f8"), (1e308, "f8"), (1e31, "f4")])
def test_inputs_too_large_are_refused(size: float, dtype: str) -> None:
    large = X.astype(dtype)
    large[3, 1] = -size
    model = dt.RandomFeaturesRidge(5, random_state=0)
    path = model.ridge_path(X.astype(dtype), Y, [0.1])
    fitted = model.fit(X.astype(dtype), Y)
    map_ = dt.RandomFeatures(5).fit(X)
    classes = Y > 0
    for call in (
        lambda: dt.RandomFeaturesRidge(5).fit(large, Y),
        lambda: dt.RandomFeaturesRidge(5).partial_fit(large, Y),
        lambda: dt.RandomFeaturesRidge(5).ridge_path(large, Y),
        lambda: dt.RandomFeaturesClassifier(5).fit(large, classes),
        lambda: dt.RandomFeaturesClassifier(5).partial_fit(large, classes, [False, True]),
        lambda: fitted.predict(large),
        lambda: path.predict(large),
        lambda: map_.transform(large),
    ):
        with pytest.raises(ValueError, match=r"^X must be in"):
            call()


@pytest.mark.parametrize("p", [5, 50])
def test_predictions_do_not_depend_on_the_scale_of_inputs(p: int) -> None:
    model = dt.RandomFeaturesRidge(p, ridge=0.0, center=False, random_state=0)
    expected = model.fit(X, Y).predict(X)
    for size in (1e-30, 1e29, 1e90):
        np.testing.assert_allclose(model.fit(size * X, Y).predict(size * X), expected, atol=1e-8)


@pytest.mark.parametrize("p", [5, 50])
def test_squares_of_features_must_not_overflow_or_underflow(p: int) -> None:
    for ridge in (0.0, 0.1, "loo"):
        model = dt.RandomFeaturesRidge(p, activation="quadratic", ridge=ridge)
        with pytest.raises(ValueError, match=r"^X must"):
            model.fit(1e90 * X, Y)
        if ridge != "loo":
            with pytest.raises(ValueError, match=r"^X must"):
                model.partial_fit(1e90 * X, Y).predict(X)
    model = dt.RandomFeaturesRidge(p, ridge=0.0, center=False)
    with pytest.raises(ValueError, match=r"^X must"):
        model.fit(1e-200 * X, Y)


def test_partial_fit_needs_a_ridge_and_all_rows_in_each_member() -> None:
    bad: Any
    for name, bad in (("ridge", "loo"), ("ensemble", dt.Divide(2)), ("ensemble", dt.Bootstrap(2))):
        with pytest.raises(ValueError, match=f"^{name} must .* for partial_fit"):
            dt.RandomFeaturesRidge(5, **{name: bad}).partial_fit(X, Y)


def test_parts_must_have_the_shape_of_the_first() -> None:
    model = dt.RandomFeaturesRidge(5).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"^y must have 1 columns"):
        model.partial_fit(X, np.stack([Y, Y], axis=1))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], Y)


def test_leave_one_out_needs_two_rows() -> None:
    with pytest.raises(ValueError, match="at least 2 rows"):
        dt.RandomFeaturesRidge(5, ridge="loo").fit(X[:1], Y[:1])


def test_inputs_of_a_path_are_checked() -> None:
    path = dt.RandomFeaturesRidge(5).ridge_path(X, Y, [0.1])
    with pytest.raises(ValueError, match=r"^X must have shape"):
        path.predict(X[:, :3])


def test_classes_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^y must"):
        dt.RandomFeaturesClassifier(5).fit(X, np.ones(20, int))
    model = dt.RandomFeaturesClassifier(5)
    with pytest.raises(ValueError, match=r"^classes must be given"):
        model.partial_fit(X, Y > 0)
    model.partial_fit(X, np.where(Y > 0, 1, 2), classes=[1, 2])
    with pytest.raises(ValueError, match=r"^y must"):
        model.partial_fit(X, np.where(Y > 0, 1, 3))
    with pytest.raises(ValueError, match=r"^classes must be those"):
        model.partial_fit(X, np.where(Y > 0, 1, 2), classes=[1, 3])
    with pytest.raises(ValueError, match=r"^class_weight must"):
        dt.RandomFeaturesClassifier(5, class_weight="balanced").partial_fit(X, Y > 0, [False, True])
