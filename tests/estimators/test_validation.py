"""Invalid parameters and data raise errors at fit, with the name of the argument."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.estimators.literal import data

X, Y = data(20, 4)
BAD: list[tuple[dict[str, Any], str]] = [
    ({"n_features": 0}, "n_features must be a whole number of at least 1, got 0"),
    ({"n_features": 2.5}, "n_features must be a whole number of at least 1, got 2.5"),
    ({"ensemble": -1}, "ensemble must be a whole number in [1, inf], got -1"),
    ({"ensemble": np.inf}, "ensemble must be a whole number of at least 1, got inf"),
    ({"ensemble": [1, 2]}, "ensemble must have numbers, not arrays, got Ensemble([1., 2.])"),
    ({"ensemble": dt.Subsample(2, fraction=0.01)}, "ensemble must leave every member a row"),
    (
        {"ensemble": dt.FeatureBank(2, bank_per_dim=1.0)},
        "bank_per_dim must",
    ),
    ({"ensemble": dt.FeatureBank(2, n_bank=4)}, "n_bank must"),
    ({"center": "yes"}, "center must be True or False, got 'yes'"),
    ({"fit_intercept": 2}, "fit_intercept must be True or False, got 2"),
    ({"ridge": -1.0}, "ridge must be in [0, inf], got -1.0"),
    ({"ridge": np.inf}, "ridge must be in [0, inf), got inf"),
    ({"ridge": np.nan}, "ridge must be in [0, inf], got nan"),
    ({"ridge": "best"}, "ridge must be a number in [0, inf) or 'loo', got 'best'"),
    ({"alpha": -0.1}, "alpha must be in [0, inf], got -0.1"),
    ({"ridge": 1, "alpha": 2}, "alpha must be None where ridge is given, got 2 and 1"),
    ({"ridges": [1.0, -1.0]}, "ridges must be in [0, inf], got -1.0 at index 1"),
    ({"ridges": [1.0, np.inf]}, "ridges must be in [0, inf), got inf at index 1"),
    ({"ridges": [[1.0]]}, "ridges must be a list of numbers, got an array of shape (1, 1)"),
    ({"activation": "step"}, "activation must be one of"),
    ({"activation": lambda z: z[:1]}, "activation must return an array of the shape"),
    ({"activation": lambda z: z * np.nan}, "activation must return finite numbers"),
    ({"ensemble": dt.Divide(21)}, "ensemble must leave every member a row"),
    ({"ensemble": dt.Divide(20), "ridge": "loo"}, "at least 2 rows"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=lambda case: str(case)[:40])
def test_parameters(options: dict[str, Any], message: str) -> None:
    model = dt.RandomFeaturesRidge(**({"n_features": 5} | options))
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        model.fit(X, Y)
    assert message in str(raised.value)


def test_a_name_is_no_ensemble() -> None:
    with pytest.raises(TypeError, match="ensemble must be a number of models or one of Ensemble"):
        dt.RandomFeaturesRidge(5, ensemble="divide").fit(X, Y)


def test_a_number_is_no_activation() -> None:
    with pytest.raises(TypeError, match="activation must be a name, an Activation or a callable"):
        dt.RandomFeatures(3, activation=3.0).fit(X)  # type: ignore[arg-type]


def test_an_activation_without_function() -> None:
    bare = dt.Activation(name="bare", mean=0.0, linear=1.0, nonlinear=1.0)
    with pytest.raises(ValueError, match="activation must have a function"):
        dt.RandomFeatures(3, activation=bare).fit(X)


def test_a_function_that_fails_on_other_inputs() -> None:
    late = dt.Activation(
        name="late",
        mean=0.0,
        linear=1.0,
        nonlinear=1.0,
        function=lambda z: np.where(z > 0, z, np.nan),
    )
    with pytest.raises(ValueError, match="activation must return finite numbers, got nan"):
        dt.RandomFeatures(3, activation=late).fit_transform(X)


def test_missing_values() -> None:
    holes = X.copy()
    holes[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        dt.RandomFeaturesRidge(5).fit(holes, Y)


def test_weights() -> None:
    model = dt.RandomFeaturesRidge(5)
    with pytest.raises(ValueError, match=r"[Ss]ample.weights? must"):
        model.fit(X, Y, np.zeros(20))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        model.fit(X, Y, -np.ones(20))


def test_shape_of_sample_weights() -> None:
    with pytest.raises(ValueError, match="sample_weight must have shape"):
        dt.RandomFeaturesRidge(5).fit(X, Y, np.ones(19))
    equal = dt.RandomFeaturesRidge(5, random_state=0).fit(X, Y, 2.0)
    assert np.array_equal(equal.coef_, equal.fit(X, Y, np.full(20, 2.0)).coef_)


@pytest.mark.parametrize(
    ("size", "dtype"), [(1e101, "f8"), (1e154, "f8"), (1e308, "f8"), (1e31, "f4")]
)
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_inputs_too_large(size: float, dtype: str, activation: str) -> None:
    large = X.astype(dtype)
    large[3, 1] = -size
    model = dt.RandomFeaturesRidge(5, activation=activation, random_state=0)
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
        with pytest.raises(ValueError, match=r"X must be in \[-1e\+\d+, 1e\+\d+\]"):
            call()


@pytest.mark.parametrize("size", [1e-30, 1e29, 1e90])
@pytest.mark.parametrize("p", [5, 50])
def test_predictions_do_not_depend_on_the_scale_of_inputs(size: float, p: int) -> None:
    model = dt.RandomFeaturesRidge(p, ridge=0.0, center=False, random_state=0)
    expected = model.fit(X, Y).predict(X)
    np.testing.assert_allclose(model.fit(size * X, Y).predict(size * X), expected, atol=1e-8)


@pytest.mark.parametrize("options", [{"ridge": 0.0}, {"ridge": 0.1}, {"ridge": "loo"}])
@pytest.mark.parametrize("p", [5, 50])
def test_features_whose_squares_overflow(options: dict[str, Any], p: int) -> None:
    model = dt.RandomFeaturesRidge(p, activation="quadratic", **options)
    with pytest.raises(ValueError, match="X must"):
        model.fit(1e90 * X, Y)
    if options["ridge"] != "loo":
        with pytest.raises(ValueError, match="X must"):
            model.partial_fit(1e90 * X, Y).predict(X)


def test_features_whose_squares_underflow() -> None:
    model = dt.RandomFeaturesRidge(5, ridge=0.0, center=False)
    with pytest.raises(ValueError, match="X must"):
        model.fit(1e-200 * X, Y)


@pytest.mark.parametrize(
    "options", [{"ridge": "loo"}, {"ensemble": dt.Divide(2)}, {"ensemble": dt.Bootstrap(2)}]
)
def test_what_parts_refuse(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="for partial_fit, got"):
        dt.RandomFeaturesRidge(5, **options).partial_fit(X, Y)


def test_parts_that_do_not_fit() -> None:
    model = dt.RandomFeaturesRidge(5).partial_fit(X, Y)
    with pytest.raises(ValueError, match="y must have 1 columns as before, got 2"):
        model.partial_fit(X, np.stack([Y, Y], axis=1))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :2], Y)


def test_one_row_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="at least 2 rows for a leave-one-out error"):
        dt.RandomFeaturesRidge(5, ridge="loo").fit(X[:1], Y[:1])


def test_inputs_of_a_path() -> None:
    path = dt.RandomFeaturesRidge(5).ridge_path(X, Y, [0.1])
    with pytest.raises(ValueError, match=r"X must have shape \(n, 4\), got \(20, 3\)"):
        path.predict(X[:, :3])


def test_classes() -> None:
    with pytest.raises(ValueError, match="y must have at least two classes, got one class"):
        dt.RandomFeaturesClassifier(5).fit(X, np.ones(20, int))
    model = dt.RandomFeaturesClassifier(5)
    with pytest.raises(ValueError, match="classes must be given in the first call"):
        model.partial_fit(X, Y > 0)
    model.partial_fit(X, np.where(Y > 0, 1, 2), classes=[1, 2])
    with pytest.raises(ValueError, match="y must only have the classes"):
        model.partial_fit(X, np.where(Y > 0, 1, 3))
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, np.where(Y > 0, 1, 2), classes=[1, 3])
    with pytest.raises(ValueError, match="class_weight must be None or a dictionary"):
        dt.RandomFeaturesClassifier(5, class_weight="balanced").partial_fit(X, Y > 0, [False, True])
