"""Invalid arguments of `forecast` and of its methods: the message names the argument."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.forecasting.datasets import draw, forecast, forecast_of
from tests.messages import message_of

X, Y = draw(40, np.random.default_rng(0))
GRAM = X @ X.T
MOMENTS = dt.Activation(name="moments", mean=0.4, linear=0.5, nonlinear=0.3)


def changed(array: Any, index: Any, value: Any) -> Any:
    copy = array.copy()
    copy[index] = value
    return copy


class Frame:
    """The part of a data frame that the validation reads."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self.columns = columns

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]


DATA = [
    ("X", {"X": changed(X, (3, 1), math.nan)}),
    ("X", {"X": changed(X, (3, 1), math.inf)}),
    ("X", {"X": changed(X, (3, 1), 1e200)}),
    ("X", {"X": X[:30]}),
    ("X", {"X": X[:, 0]}),
    ("X", {"X": X[:, :0]}),
    ("X", {"X": X.astype(str)}),
    ("X", {"X": X.astype(complex)}),
    ("X", {"X": changed(X.astype(object), (3, 1), "1.5")}),
    ("X", {"X": changed(X.astype(object), (3, 1), None)}),
    ("X", {"X": [[1.0], [1.0, 2.0]] * 20}),
    ("X", {"X": np.ma.masked_greater(X, 1.0)}),
    ("X", {"X": Frame({"size": X[:, 0], "city": np.array(["Rome"] * 40)})}),
    ("X", {"X": None}),
    ("X", {"X": np.zeros((40, 3)), "activation": "linear", "groups": np.arange(40)}),
    ("y", {"y": changed(Y, 3, math.nan)}),
    ("y", {"y": np.ones(40)}),
    ("y", {"y": 1e-200 * Y}),
    ("y", {"y": 1e100 * Y}),
    ("y", {"y": Y[:19], "X": X[:19]}),
    ("y", {"y": np.array(["a", "b"] * 20)}),
    ("y", {"y": np.ones((40, 2, 2))}),
    ("y", {"y": 3.0}),
    ("y", {"y": None}),
    ("kernel", {"kernel": GRAM[:30]}),
    ("kernel", {"kernel": changed(GRAM, (0, 1), 3.0)}),
    ("kernel", {"kernel": -GRAM}),
    ("kernel", {"kernel": changed(GRAM, (0, 0), math.nan)}),
    ("kernel", {"kernel": 1e80 * GRAM}),
    ("kernel", {"kernel": "relu"}),
    ("kernel", {"kernel": np.zeros((40, 40)), "groups": np.arange(40)}),
    ("groups", {"groups": np.zeros(40)}),
    ("groups", {"groups": np.arange(39)}),
    ("groups", {"groups": 3}),
    ("groups", {"groups": np.array([1, "a", None, 2.0] * 10, dtype=object)}),
    ("activation", {"activation": "swish2"}),
    ("activation", {"activation": MOMENTS}),
    ("activation", {"activation": 3}),
    ("scale", {"scale": "columns"}),
    ("center", {"center": 1}),
    ("fit_intercept", {"fit_intercept": "yes"}),
    ("check", {"check": None}),
    ("noise", {"noise": -1}),
    ("noise", {"noise": math.nan}),
    ("noise", {"noise": [0.1, 0.2]}),
    ("dim", {"dim": 0}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 0.5}),
    ("device", {"device": 0}),
    pytest.param("device", {"device": "abacus"}, marks=pytest.mark.full),  # imports torch
    ("confidence", {"confidence": 95}),
]


@pytest.mark.parametrize(("name", "arguments"), DATA)
def test_bad_data_are_named(name: str, arguments: dict[str, Any]) -> None:
    message = message_of(dt.forecast, **{"X": X, "y": Y, "check": False, **arguments})
    assert message.startswith(f"{name} must")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("n_features", {"n_features": 0.5}),
        ("n_features", {"n_features": math.nan}),
        ("n_features", {"n_features": "wide"}),
        ("n_features", {"n_features": []}),
        ("ridge", {"ridge": -1e-3}),
        ("ensemble", {"ensemble": 0}),
        ("ensemble", {"ensemble": 1.5}),
        ("ensemble", {"ensemble": dt.Divide(2)}),
        ("n_samples", {"n_samples": 4}),
        ("n_samples", {"n_samples": math.inf}),
        ("ridge", {"n_features": [10, 20], "ridge": [1, 2, 3]}),
        ("n_samples", {"n_features": [10, 20], "n_samples": [[10, 20, 30]]}),
    ],
)
def test_bad_settings_are_named(name: str, arguments: dict[str, Any]) -> None:
    assert message_of(forecast().error, **arguments).startswith(f"{name} must")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.ones((40, 3))}, "X must vary, got 40 equal rows"),
        (
            {"y": np.stack([Y, np.ones(40)], axis=1)},
            "y must vary in every column, got column 1 constant",
        ),
    ],
)
def test_constants_are_refused(arguments: dict[str, Any], message: str) -> None:
    assert message_of(dt.forecast, **{"X": X, "y": Y, **arguments}) == message


def test_column_of_words_is_named() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": X[:, 0], "city": ["Rome"] * 40})
    assert "'city'" in message_of(dt.forecast, frame, Y)


def test_unknown_check_is_named() -> None:
    with pytest.raises(KeyError, match="spectrum"):
        forecast(check=True).checks["luck"]


def test_repeated_rows_are_a_warning() -> None:
    repeated, labels = changed(X, 1, X[0]), changed(Y, 1, Y[0])
    for arguments in (
        {"X": repeated, "y": Y},
        {"X": None, "kernel": repeated @ repeated.T, "y": labels},
        {"X": np.sign(repeated), "y": labels},
        {"X": np.r_[X, X.astype("f4")], "y": np.r_[Y, Y]},
    ):
        with pytest.warns(UserWarning, match="groups="):
            dt.forecast(**arguments, check=False)


@pytest.mark.parametrize("classes", [False, True])
def test_rows_of_few_values_are_repeated_by_chance(classes: bool) -> None:
    """Leave-one-out is right then: the error is that on new rows, and the checks pass."""
    rng = np.random.default_rng(0)
    x = np.sign(rng.standard_normal((400, 6)))
    y = x[:, 0] + x[:, 1] * x[:, 2] + rng.standard_normal(400)
    y = np.sign(y) if classes else y
    f = forecast_of(x[:200], y[:200])
    assert "independent draws" in f.notes[0]
    assert all(f.checks[name].passed for name in ("spectrum", "features", "back_test"))
    for ridge in (1e-3, 0.1):
        drawn = [
            dt.RandomFeaturesRidge(100, ridge=ridge, random_state=seed).fit(x[:200], y[:200])
            for seed in range(5)
        ]
        held_out = np.mean([(model.predict(x[200:]) - y[200:]) ** 2 for model in drawn])
        assert f.error(n_features=100, ridge=ridge).total.value == pytest.approx(held_out, rel=0.15)
        assert f.error(n_features=100, ridge=ridge, n_samples=400).extrapolated is False


def test_settings_are_named() -> None:
    f: Any = forecast()
    for method in (f.error, f.advise):
        with pytest.raises(TypeError, match="positional argument"):
            method(10)
    for call in (f.best_ridge, f.best_allocation):
        assert message_of(call, 100, ridges=[]).startswith("ridges must not be empty")
        assert message_of(call, 100, ridges=[1.0, -2.0]).startswith(
            "ridges must be in [0, inf], got"
        )
