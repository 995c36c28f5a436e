"""`ridge="forecast"`: the chosen ridge and features, and the forecast error, against new rows."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

import doubletrouble as dt
from doubletrouble.forecasting import _forecast
from doubletrouble.parameters import FloatArray
from tests.forecasting.datasets import forecast_of

N, DIM, N_TEST = 100, 10, 1000
GRID = np.geomspace(1e-6, 1e2, 33)
CASES: list[tuple[float, int, float, dict[str, Any]]] = [  # P, K, λ, options
    (200, 1, 0.3, {}),
    (100, 3, 0.01, {"fit_intercept": True, "activation": "tanh"}),
    (100, 1, 0.003, {}),
    (50, 2, 0.03, {"center": False}),
    (math.inf, 1, 0.03, {}),
    (math.inf, 1, 0.3, {"fit_intercept": True, "center": False}),
]


def problem(seed: int, n: int = N, noise: float = 0.3) -> tuple[FloatArray, ...]:
    """Training and test rows of a nonlinear target whose mean is not zero."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n + N_TEST, DIM))
    y = 1 + x[:, 0] + np.tanh(x[:, 1] + x[:, 2]) + noise * rng.standard_normal(len(x))
    return x[:n], y[:n], x[n:], y[n:]


def diabetes(seed: int) -> tuple[FloatArray, ...]:
    x, y = load_diabetes(return_X_y=True)
    x, new, y, target = train_test_split(scale(x), scale(y), train_size=N, random_state=seed)
    return x, y, new, target


def model(n_features: float, seed: int = 0, **options: Any) -> dt.RandomFeaturesRidge:
    return dt.RandomFeaturesRidge(n_features, ridge="forecast", random_state=seed, **options)


def held_out(fitted: Any, x: FloatArray, y: FloatArray) -> float:
    return float(np.mean((fitted.predict(x) - y) ** 2))


# --- the forecast error ---


def fits(
    n_features: float, members: int, ridge: float, options: dict[str, Any], draws: int
) -> list[tuple[dt.RandomFeaturesRidge, FloatArray, FloatArray, float]]:
    """Over data sets: the fit, its rows, and its held-out error."""
    found = []
    for seed in range(draws):
        x, y, new, target = problem(seed)
        fitted = model(n_features, seed, ensemble=members, ridges=[ridge], **options).fit(x, y)
        found.append((fitted, x, y, held_out(fitted, new, target)))
    return found


def deviation(forecast: list[Any], measured: list[float]) -> float:
    """Mean difference in standard errors, beyond 3% of the error."""
    off = np.subtract(forecast, measured)
    beyond = abs(off.mean()) - 0.03 * np.mean(measured)
    return float(beyond / (off.std(ddof=1) / math.sqrt(len(off))))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("cases", "draws"), [(CASES[:2], 20), pytest.param(CASES, 120, marks=pytest.mark.full)]
)
def test_forecast_error_is_that_of_held_out_rows(
    cases: list[tuple[float, int, float, dict[str, Any]]], draws: int
) -> None:
    for case in cases:
        found = fits(*case, draws)
        forecast, measured = [f.forecast_error_ for f, *_ in found], [e for *_, e in found]
        assert deviation(forecast, measured) < 4, case


@pytest.mark.statistical
def test_forecast_of_another_convention_deviates() -> None:
    """Negative controls: features with their mean, and a ridge without the factor N/D."""
    n_features, members, ridge, options = CASES[0]
    found = fits(n_features, members, ridge, options, 20)
    measured = [error for *_, error in found]
    uncentred = [forecast_of(x, y, center=False, check=False) for _, x, y, _ in found]
    assert (
        deviation(
            [f.error(n_features=n_features, ridge=ridge).total.value for f in uncentred], measured
        )
        > 10
    )
    bare = [
        f.forecast_.error(n_features=n_features, ridge=ridge * DIM / N).total.value
        for f, *_ in found
    ]
    assert deviation(bare, measured) > 10


def test_forecast_error_is_that_of_the_fitted_settings() -> None:
    x, y, *_ = problem(0)
    for n_features in (40, math.inf):
        fitted = model(n_features, ensemble=3).fit(x, y)
        total = float(
            fitted.forecast_.error(n_features=n_features, ridge=fitted.ridge_, ensemble=3).total
        )
        assert fitted.forecast_error_ == pytest.approx(total)
        assert fitted.n_features_ == n_features
    pair = model(40, ensemble=3).fit(x, np.stack([y, y], axis=1))
    assert pair.forecast_error_ == pytest.approx(model(40, ensemble=3).fit(x, y).forecast_error_)


# --- the choice ---


@pytest.mark.statistical
@pytest.mark.parametrize("draw", [problem, diabetes])
def test_chosen_ridge_is_near_the_best_of_held_out_rows(draw: Any) -> None:
    for n_features, members in ((40, 1), (N, 1), (N, 3), (math.inf, 1)):
        chosen, known = [], []
        for seed in range(6):
            x, y, new, target = draw(seed)
            fitted = model(n_features, seed, ensemble=members).fit(x, y)
            path = fitted.ridge_path(x, y, GRID)
            chosen.append(held_out(fitted, new, target))
            known.append(((path.predict(new) - target) ** 2).mean(axis=1))
        best = np.mean(known, axis=0).min()  # of one ridge for all data sets
        assert np.mean(chosen) < 1.05 * best, (n_features, members)


def test_peak_is_avoided() -> None:
    x, y, new, target = problem(0, noise=0.01)
    fitted = model(N).fit(x, y)
    peak = dt.RandomFeaturesRidge(N, ridge=1e-7, random_state=0).fit(x, y)
    best = min(((fitted.ridge_path(x, y, GRID).predict(new) - target) ** 2).mean(axis=1))
    assert held_out(fitted, new, target) < 1.05 * best
    assert held_out(peak, new, target) > 10 * best


def test_ridge_is_one_of_those_given() -> None:
    x, y, *_ = problem(0)
    free, given = model(60).fit(x, y), model(60, ridges=GRID).fit(x, y)
    assert given.ridge_ in GRID
    assert free.ridge_ == pytest.approx(given.ridge_, rel=0.8)
    assert free.forecast_error_ <= given.forecast_error_
    assert free.ridge_ == free.forecast_.best_ridge(60)
    assert model(60, ridges=[0.0]).fit(x, y).ridge_ == 0


@pytest.mark.parametrize("intercept", [True, False])
def test_infinitely_many_features_have_the_error_of_leave_one_out(intercept: bool) -> None:
    x, y, *_ = problem(1)
    grid = np.append(0.0, GRID)
    ours = model(math.inf, ridges=grid, fit_intercept=intercept).fit(x, y)
    loo = clone(ours).set_params(ridge="loo").fit(x, y)
    others = (N - 1) / N  # a row is left out, and λ is that of the rest
    forecast = ours.forecast_.error(n_features=math.inf, ridge=grid * others).total.value
    np.testing.assert_allclose(forecast, loo.loo_path_.loo_error, rtol=5e-4)
    assert ours.forecast_error_ == pytest.approx(loo.loo_error_, rel=0.01)
    assert abs(np.searchsorted(GRID, [ours.ridge_, loo.ridge_]) @ [1, -1]) <= 1


def test_ridge_is_for_all_rows_of_a_large_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, new, target = problem(0, 600)
    whole = model(150).fit(x, y)
    monkeypatch.setattr(_forecast, "_MOST_ROWS", 200)
    part = model(150).fit(x, y)
    assert part.forecast_.n_samples == 200
    assert part.forecast_.notes
    assert part.ridge_ == part.forecast_.best_ridge(150, n_samples=600)
    assert part.forecast_error_ == pytest.approx(whole.forecast_error_, rel=0.25)
    assert held_out(part, new, target) < 1.05 * held_out(whole, new, target)


def test_repeated_rows_are_reported() -> None:
    x, y, *_ = problem(0)
    with pytest.warns(UserWarning, match="1 row of X is repeated"):
        model(10).fit(np.append(x, x[:1], axis=0), np.append(y, y[:1]))


# --- the number of features ---


def test_number_of_features_is_chosen_within_the_budget() -> None:
    x, y, new, target = problem(0)
    for members in (1, 3):
        fitted = model(7, ensemble=members, budget=301).fit(x, y)
        assert fitted.get_params()["n_features"] == 7
        assert fitted.n_features_ <= 301 // members
        assert fitted.weights_.shape == (members, fitted.n_features_, DIM)
        others = [model(p, ensemble=members).fit(x, y) for p in (10, 50, 301 // members)]
        assert fitted.forecast_error_ <= (1 + 1e-9) * min(one.forecast_error_ for one in others)
        least = min(held_out(one, new, target) for one in others)
        assert held_out(fitted, new, target) < 1.05 * least


def test_number_of_features_avoids_the_peak_of_a_small_ridge() -> None:
    x, y, new, target = problem(0)
    fitted = model(7, budget=120, ridges=[1e-7]).fit(x, y)
    every = [
        held_out(dt.RandomFeaturesRidge(p, ridge=1e-7, random_state=0).fit(x, y), new, target)
        for p in range(10, 121, 10)
    ]
    assert fitted.n_features_ < 60  # far from P = N = 100
    assert held_out(fitted, new, target) < 1.15 * min(every)
    assert max(every) > 10 * min(every)
    assert model(7, budget=1).fit(x, y).n_features_ == 1


# --- the estimator ---


def test_random_state_determines_the_forecast() -> None:
    x, y, *_ = problem(0)
    first, again = model(30, 1).fit(x, y), model(30, 1).fit(x, y)
    assert first.ridge_ == again.ridge_
    assert np.array_equal(first.predict(x), again.predict(x))
    fixed = dt.RandomFeaturesRidge(30, ridge=first.ridge_, random_state=1).fit(x, y)
    assert np.array_equal(first.weights_, fixed.weights_)
    np.testing.assert_allclose(first.coef_, fixed.coef_)


def test_attributes_of_a_forecast_are_dropped_by_the_next_fit() -> None:
    x, y, *_ = problem(0)
    fitted = model(7, budget=40).fit(x, y)
    assert not hasattr(fitted, "loo_error_")
    assert fitted.ridge_path(x, y).coef.shape[-1] == 7
    fitted.set_params(ridge=0.1, budget=None).fit(x, y)
    assert fitted.n_features_ == 7
    assert not {"forecast_", "forecast_error_"} & set(vars(fitted))


def test_equal_weights_are_none() -> None:
    x, y, *_ = problem(0)
    plain = model(30).fit(x, y)
    for weights in (np.full(N, 3.0), 0.5):
        weighted = model(30).fit(x, y, weights)
        assert weighted.ridge_ == plain.ridge_
        np.testing.assert_allclose(weighted.predict(x), plain.predict(x))
    half = np.where(np.arange(N) < 60, 2.0, 0.0)
    assert model(30).fit(x, y, half).ridge_ == model(30).fit(x[:60], y[:60]).ridge_


@pytest.mark.statistical
def test_classifier_has_the_forecast_error_of_its_labels() -> None:
    x, y = load_digits(return_X_y=True)
    x = (x[y < 3] - 8) / 8
    y = y[y < 3]
    off = []
    for seed in range(4):
        train, test, own, target = train_test_split(x, y, train_size=200, random_state=seed)
        fitted = dt.RandomFeaturesClassifier(
            150, ridge="forecast", fit_intercept=True, random_state=seed
        ).fit(train, own)
        signs = np.where(target[:, None] == fitted.classes_, 1, -1)
        measured = np.mean((fitted.decision_function(test) - signs) ** 2)
        off.append(math.log(fitted.forecast_error_ / measured))
        assert fitted.score(test, target) > 0.97
    assert abs(np.mean(off)) < 4 * np.std(off, ddof=1) / math.sqrt(len(off)) + 0.05
