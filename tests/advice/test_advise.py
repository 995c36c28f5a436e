"""`advise`: arguments, limits, and known facts, each with a setting in which it does not hold."""

import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.advice import advise_problem, marginal_value
from doubletrouble.advice._settings import changed
from doubletrouble.costs import COSTS, CostName
from doubletrouble.ensembles import named_ensemble
from doubletrouble.options import BEST, BEST_AT_THIS_RIDGE, MANY_AT_BEST
from doubletrouble.problems import ridge_name
from doubletrouble.theory import error_slopes
from tests.advice.brute_force import features, models, paid, random_problem, samples, setting
from tests.selection import full_beyond_cases

INF = math.inf
SEEDS = range(12)
SPECTRUM = dt.SpectralProblem(
    eigenvalues=[1.0, 0.1, 0.01],
    target_powers=[1.0, 0.5, 0.1],
    tail=0.05,
    n_features=50,
    n_samples=20,
    gram_ridge=0.1,
    noise=0.3,
)


# --- arguments -----------------------------------------------------------------------------------


def test_second_argument_is_the_ensemble() -> None:
    assert models(dt.advise(dt.Problem(), 10).now) == 10
    with pytest.raises(TypeError):
        dt.advise(dt.Problem(), 1, 10)  # type: ignore[call-arg, arg-type]


def test_default_budget_is_the_present_cost() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.01)
    for cost, ensemble in ((c, e) for c in COSTS for e in (dt.Ensemble(2), dt.Divide(2))):
        advice = advise_problem(problem, ensemble, cost=cost)
        assert advice.facts["budget"] == paid(advice.now, cost)
        assert advice[BEST].total <= advice["best ridge"].total
        assert advice[BEST_AT_THIS_RIDGE].total <= advice.now.total
    assert dt.advise(SPECTRUM, 2).facts["budget"] == 100


INVALID: list[tuple[type[Exception], dict[str, Any]]] = [  # the first argument is invalid
    (TypeError, {"problem": 3}),
    (TypeError, {"problem": dt.Problem(ridge=[0.1, 1])}),
    (ValueError, {"budget": 0}),
    (ValueError, {"budget": math.nan}),
    (TypeError, {"budget": [1.0, 2.0]}),
    (TypeError, {"budget": "much"}),
    (ValueError, {"ensemble": 1.5}),
    (TypeError, {"ensemble": dt.Divide([1, 2])}),
    (TypeError, {"ensemble": "both"}),
    (ValueError, {"ensemble": dt.Bootstrap(2)}),
    (ValueError, {"dim": 0}),
    (ValueError, {"dim": 3, "problem": SPECTRUM}),
    (ValueError, {"cost": "money"}),
    (ValueError, {"cost": np.array(["features", "training"])}),
]


def test_invalid_arguments_are_named() -> None:
    for kind, arguments in INVALID:
        with pytest.raises(kind, match=f"{next(iter(arguments))} must be"):
            advise_problem(**{"problem": dt.Problem(), **arguments})
    with pytest.raises(TypeError, match="source must be a Problem"):
        dt.advise(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ridge must be one of"):
        dt.best_allocation(dt.Problem(), 3.0, ridge="any")  # type: ignore[arg-type]


def test_best_allocation_is_that_of_the_advice() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.01)
    for cost in COSTS:
        advice = advise_problem(problem, 2, budget=4.0, cost=cost)
        for ridge, name in (("best", BEST), ("fixed", BEST_AT_THIS_RIDGE)):
            found = dt.best_allocation(problem, 4.0, 2, cost=cost, ridge=ridge)  # type: ignore[arg-type]
            assert (found.name, found.setting) == (name, advice[name].setting)
            assert (found.error, found.gain) == (advice[name].error, advice[name].gain)


# --- limits --------------------------------------------------------------------------------------

LIMITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"features_per_dim": INF, "ridge": 0.0}, {}),
    ({"features_per_dim": 1.0, "ridge": 0.0}, {}),
    ({"features_per_dim": 1.0, "ridge": 0.0}, {"ensemble": INF}),
    ({"features_per_dim": 1 + 1e-12, "ridge": 1e-300}, {}),
    ({"features_per_dim": 1 - 1e-12, "ridge": 0.0}, {"ensemble": 2}),
    ({"ridge": INF}, {"ensemble": dt.Divide(3)}),
    ({"ridge": INF}, {"ensemble": dt.Divide(INF), "cost": "training"}),
    ({"signal": 0.0}, {}),
    ({"noise": 0.0}, {"budget": INF}),
    ({"signal": 0.0, "noise": 0.0}, {"budget": INF, "ensemble": dt.Divide()}),
    ({"activation": "linear", "ridge": 0.0}, {}),
    ({"activation": "quadratic", "ridge": 0.0}, {}),
    ({"features_per_dim": 1e-50, "samples_per_dim": 1e-50}, {}),
    ({"features_per_dim": 1e50, "samples_per_dim": 1e50}, {}),
    ({"features_per_dim": 1e50, "samples_per_dim": 1e-50}, {"cost": "training"}),
    ({"noise": 1e150, "signal": 1e-100}, {}),
    ({"samples_per_dim": 1e49, "features_per_dim": INF}, {"budget": INF, "ensemble": dt.Divide()}),
    ({"activation": "linear", "ridge": 0.0, "noise": 1e100}, {"budget": INF, "cost": "training"}),
]


def test_limits_have_no_nan() -> None:
    for fields, arguments in LIMITS:
        problem = dt.Problem(**{"features_per_dim": 1.5, "ridge": 0.01, **fields})
        advice = advise_problem(problem, **arguments)
        text = advice.to_json()
        assert "nan" not in text.lower(), (fields, arguments)
        json.loads(text, parse_constant=lambda name: pytest.fail(name))
        assert advice[BEST].total <= advice[BEST_AT_THIS_RIDGE].total * (1 + 1e-9), fields
        assert "nan" not in str(advice), fields


def test_error_and_its_slopes_are_infinite_at_the_peak() -> None:
    advice = dt.advise(dt.Problem(features_per_dim=1.0, ridge=0.0))
    assert advice.now.total == advice["2x models"].total == INF
    assert advice["2x models"].gain == 0
    assert advice["2x data"].gain == 1
    assert advice.facts["marginal"]["sample"] == advice.facts["marginal"]["feature"] == INF
    assert math.isfinite(advice[BEST_AT_THIS_RIDGE].total)


@settings(max_examples=10, deadline=None)
@given(
    P=st.floats(1e-3, 1e3),
    N=st.floats(1e-3, 1e3),
    ridge=st.sampled_from([0.0, 1e-300, 1e-3, 1.0]),
    noise=st.floats(0, 100),
    scheme=st.sampled_from([kind(K) for kind in (dt.Ensemble, dt.Divide) for K in (1, 3, 50)]),
    budget=st.floats(1e-3, 1e3),
    cost=st.sampled_from(COSTS),
)
def test_no_affordable_option_is_better_than_the_best(
    P: float, N: float, ridge: float, noise: float, scheme: dt.Scheme, budget: float, cost: CostName
) -> None:
    problem = dt.Problem(features_per_dim=P, samples_per_dim=N, ridge=ridge, noise=noise)
    advice = advise_problem(problem, scheme, budget=budget, cost=cost)
    for option in (advice[BEST], advice[BEST_AT_THIS_RIDGE]):
        assert paid(option, cost) <= budget * (1 + 1e-12)
    for option in (advice.now, *advice.changes):
        fixed = option.setting["ridge"] == ridge and samples(option) == N
        if fixed and paid(option, cost) <= budget:
            assert advice[BEST_AT_THIS_RIDGE].total <= option.total * (1 + 1e-8)
    assert advice[BEST].total <= advice[BEST_AT_THIS_RIDGE].total * (1 + 1e-8)
    assert advice[MANY_AT_BEST].total <= advice["∞ models"].total * (1 + 1e-8)


# --- one wide model is better than K narrow ones at the best ridge -------------------------------


def test_one_wide_model_is_best_at_the_best_ridge() -> None:
    """With the ridge fixed, several models are often better (the control)."""
    several = 0
    for seed in SEEDS:
        problem, budget = random_problem(np.random.default_rng(seed), spectral=seed % 8 == 7)
        advice = advise_problem(problem, budget=budget)
        assert models(advice[BEST]) == 1
        assert features(advice[BEST]) == pytest.approx(budget, rel=1e-12)
        for K in (2, 5):
            narrow = dt.optimal_ridge(changed(problem, n_features=budget / K), K).error.total
            assert float(narrow) >= advice[BEST].total * (1 - 1e-12)
        several += models(advice[BEST_AT_THIS_RIDGE]) > 1
    assert several > 3


def test_one_wide_model_is_best_where_errors_nearly_agree() -> None:
    """For noisy labels they agree to ten digits, more than the ridge of the search has."""
    rng = np.random.default_rng(5)
    close = dt.Problem(features_per_dim=15.18, samples_per_dim=0.1625, noise=5.1, activation="erf")
    cases = [(close, 2714.3)]
    for _ in range(9):
        P, N, noise = 10 ** rng.uniform([-1, -1.5, -0.3], [1.5, 1.5, 1.0])
        sigma = str(rng.choice(["relu", "erf", "tanh", "sign"]))
        problem = dt.Problem(features_per_dim=P, samples_per_dim=N, noise=noise, activation=sigma)
        cases.append((problem, float(5 * 1000 ** rng.uniform())))
    for problem, budget in cases:
        best = advise_problem(problem, budget=budget)[BEST]
        assert models(best) == 1, problem
        assert features(best) == pytest.approx(budget, rel=1e-12)


@pytest.mark.parametrize("scheme", ["ensemble", "divide"])
def test_samples_and_features_have_value_at_the_best_ridge(scheme: str) -> None:
    """At a fixed ridge (the control) they may increase the error."""
    harm = 0
    for seed in range(24):
        problem, _ = random_problem(np.random.default_rng(seed), spectral=seed % 8 == 7)
        ensemble = named_ensemble(scheme, (1, 2, 5, 30)[seed % 4])
        optimum = dt.optimal_ridge(problem, ensemble)
        ridge = float(getattr(optimum, ridge_name(problem)))
        best = error_slopes(changed(problem, ridge=ridge), ensemble)
        fixed = error_slopes(problem, ensemble)
        assert max(float(best.by_n_features), float(best.by_n_samples)) <= 0
        harm += max(float(fixed.by_n_features), float(fixed.by_n_samples)) > 1e-3
    assert harm > 5


# --- just beyond P = N, without ridge, two models are better than slightly more features ---------


@pytest.mark.parametrize(("noise", "N"), [(0.0, 4.0), (0.5, 0.3), (3.0, 4.0)])
def test_several_models_are_best_just_beyond_the_threshold(noise: float, N: float) -> None:
    problem = dt.Problem(features_per_dim=1.2 * N, samples_per_dim=N, ridge=0.0, noise=noise)
    advice = advise_problem(problem, budget=1.05 * N)
    assert advice["2x models"].total < advice["slightly more features"].total
    assert models(advice[BEST_AT_THIS_RIDGE]) >= 2


@pytest.mark.parametrize(
    ("gap", "members", "noise"),
    [(1e-9, 1, 1.0), (1e-3, 3, 0.0), (0.03, 1, 0.0), (0.2, 3, 1.0), (0.249, 1, 1.0), (0.9, 3, 0.0)],
)
def test_twice_the_models_equal_twice_the_distance(gap: float, members: int, noise: float) -> None:
    problem = dt.Problem(features_per_dim=1 + gap, ridge=0.0, noise=noise)
    advice = dt.advise(problem, members)
    assert advice["2x models"].total < advice["slightly more features"].total < advice.now.total
    twice, further = (replace(problem, features_per_dim=1 + k * gap) for k in (2, 2.5))
    as_far = float(dt.exact_error(twice, members).total)
    assert advice["2x models"].total == pytest.approx(as_far, rel=1e-6)
    assert float(dt.exact_error(further, members).total) < advice["2x models"].total  # the control


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_one_wide_model_is_better_far_beyond_the_threshold(noise: float) -> None:
    advice = dt.advise(dt.Problem(features_per_dim=8.0, ridge=0.0, noise=noise))
    assert advice["2x features"].total < advice["2x models"].total
    clean = dt.advise(dt.Problem(features_per_dim=50.0, ridge=0.0, noise=0.1))
    assert models(clean[BEST_AT_THIS_RIDGE]) == 1


# --- infinitely many models prefer P < N if and only if σ²/F² > μ⋆²/μ₁² --------------------------


def threshold(sigma: dt.Activation) -> float:
    """μ⋆²/μ₁²."""
    return (sigma.nonlinear / sigma.linear) ** 2


def best_features(rho: float, N: float, sigma: dt.Activation) -> float:
    """ψ1* = s (1 + 1/(ζ u)): s is Ψ1 of linear ridge regression with ridge σ²/F²."""
    b = rho + N - 1
    m = (-b + math.sqrt(b * b + 4 * rho)) / (2 * rho)  # ρ m² + (ρ + ψ2 - 1) m = 1
    u = rho * m
    return (1 - u) * (1 + threshold(sigma) / u)


@pytest.mark.parametrize(
    ("activation", "N", "side"),
    full_beyond_cases(
        [("relu", 0.2, 0.5), ("tanh", 1.0, 0.99), ("erf", 3.0, 1.01), ("relu", 1.0, 3.0)],
        itertools.product(("relu", "tanh", "erf"), (0.2, 1.0, 3.0), (0.5, 0.99, 1.01, 3.0)),
    ),
)
def test_noisy_labels_prefer_few_features(activation: str, N: float, side: float) -> None:
    sigma = dt.activation(activation)
    rho = side * threshold(sigma)  # σ²/F²
    problem = dt.Problem(
        features_per_dim=2 * N,
        samples_per_dim=N,
        ridge=0.0,
        noise=math.sqrt(rho),
        activation=activation,
    )
    advice = dt.advise(problem)
    assert advice.facts["prefers_few_features"] == (side > 1)
    assert models(advice[MANY_AT_BEST]) == INF
    expected = N if side < 1 else best_features(rho, N, sigma)  # the plateau begins at N
    many = features(advice[MANY_AT_BEST])
    assert many == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("activation", "gap"),
    full_beyond_cases(
        [("relu", 1e-12), ("sign", 1e-6)],
        itertools.product(("relu", "tanh", "sign"), (1e-12, 1e-6)),
    ),
)
def test_clean_labels_do_not_prefer_fewer_features_than_samples(
    activation: str, gap: float
) -> None:
    """Just below P = N the error is that of the plateau; noisier labels are the control."""
    for side in (0.0, 0.5, 0.99, 1.01):
        noise = math.sqrt(side * threshold(dt.activation(activation)))
        problem = dt.Problem(
            features_per_dim=1 - gap, ridge=0.0, noise=noise, activation=activation
        )
        advice = dt.advise(problem)
        assert advice.facts["prefers_few_features"] == (side > 1), side
        many = features(advice[MANY_AT_BEST])
        assert (many == 1.0) == (side < 1), side


def test_nonlinear_teacher_acts_as_noise() -> None:
    quiet = dt.Problem(ridge=0.0, noise=0.3)
    assert not dt.advise(quiet).facts["prefers_few_features"]
    assert dt.advise(replace(quiet, nonlinear_signal=1.0)).facts["prefers_few_features"]


# --- divided data are better at a low signal-to-noise ratio --------------------------------------


@pytest.mark.parametrize(("P", "ridge"), [(2.0, 0.0), (5.0, 1e-5)])
def test_dividing_the_data_is_better_for_noisy_labels(P: float, ridge: float) -> None:
    noisy = dt.advise(dt.Problem(features_per_dim=P, ridge=ridge, noise=1.0))
    assert models(noisy["divided data"]) == models(noisy["2x models"]) == 2
    assert noisy["divided data"].total < noisy["2x models"].total
    clean = dt.advise(dt.Problem(features_per_dim=P, ridge=ridge, noise=0.1))
    assert clean["divided data"].total > clean["2x models"].total


# --- results of decompose and diagnose -----------------------------------------------------------


def test_advice_on_a_decomposition_is_the_error_of_averaged_seeds() -> None:
    rng = np.random.default_rng(0)
    f = rng.normal(size=(12, 1, 1, 40)) + rng.normal(size=(12, 2, 5, 40))
    result = dt.decompose_predictions(f, truth=np.zeros(40))
    advice = dt.advise(result)
    assert advice.confidence == result.confidence
    for K, name in ((10, "10 models"), (INF, "∞ models")):
        option, total = advice[name], result.error(K).total
        assert option.cost == {"fits": K, "data": 1}
        assert option.error == result.error(K)
        assert option.gain == 1 - total / result.error().total
        assert option.interval is not None
        assert option.interval.low > 0.2
    assert "withheld" in str(advice)
    more = advice["2x data"]
    assert more.error is None
    assert "dt.diagnose" in more.reason
    assert more.reason[:30] in str(advice)
    assert advice.choice is advice["10 models"]
    two = dt.advise(result, 2)
    assert two.now.error == result.error(2)
    assert two["10 models"].cost == {"fits": 5, "data": 1}
    assert dt.advise(result, measure="squared").to_json() == advice.to_json()
    assert result.advise(2).to_json() == two.to_json()
    with pytest.raises(ValueError, match="measure must be squared for a"):
        dt.advise(result, measure="log")


def test_advice_on_another_measure_is_that_of_the_fitted_seeds() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=(6, 1, 4, 20))
    cases: Any = (("log", "4 models"), ("zero_one", "vote of 4 models"))
    for measure, name in cases:
        y = np.tile([0, 1], 10)
        result = dt.decompose_predictions(p, y_test=np.eye(3)[y], measure=measure)
        option = dt.advise(result)[name]
        assert option.error == result.error(4)
    p[0, 0, 0, 0] = [0, 1, 0]
    infinite = dt.decompose_predictions(p, y_test=np.eye(3)[y], measure="log")
    assert "infinite" in dt.advise(infinite)["4 models"].reason


def test_advice_without_second_seeds_has_the_reason() -> None:
    f = np.random.default_rng(0).normal(size=(12, 1, 1, 40))
    advice = dt.advise(dt.decompose_predictions(f, truth=np.zeros(40)))
    assert advice["10 models"].error is None
    assert "init" in advice["10 models"].reason
    with pytest.raises(ValueError, match="total"):
        dt.advise(dt.decompose_predictions(f))


def test_advice_on_a_forecast_is_its_own() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    forecast = dt.forecast(X, X[:, 0], check=False)
    assert str(dt.advise(forecast)) == str(forecast.advise())
    assert str(dt.advise(forecast, 2)) == str(forecast.advise(ensemble=2))
    with pytest.raises(ValueError, match="measure must be squared for a Forecast"):
        dt.advise(forecast, measure="zero_one")


def test_advice_on_a_diagnosis_is_its_own() -> None:
    X, noise = np.split(np.random.default_rng(0).normal(size=(60, 3)), [2], axis=1)

    def nearest(X: Any, y: Any, seed: int) -> Any:
        return lambda new: y[np.argmin(((new[:, None] - X) ** 2).sum(axis=2), axis=1)]

    diagnosis = dt.diagnose(nearest, X, X[:, 0] + noise[:, 0], progress=False)
    advice = dt.advise(diagnosis)
    assert str(advice) == str(diagnosis.advise())
    assert {"measured, paired", "extrapolated"} == {option.status for option in advice}


# --- other losses --------------------------------------------------------------------------------


def classes(**fields: Any) -> dt.Problem:
    usual: dict[str, Any] = {"task": "classification", "samples_per_dim": 2.0, "flips": 0.2}
    return dt.Problem(**usual | fields)


def test_other_losses_have_the_errors_of_their_options() -> None:
    problem = classes(loss="hinge", ridge=1e-3)
    advice = dt.advise(problem, 2, measure="zero_one_noisy")
    assert "rate of wrong noisy labels" in advice.verdict
    assert advice.now.total == dt.exact_error(problem, 2, "zero_one_noisy").total
    twice = replace(problem, samples_per_dim=4.0)
    assert advice["2x data"].total == dt.exact_error(twice, 2, "zero_one_noisy").total
    assert advice["∞ models"].total == dt.exact_error(problem, INF, "zero_one_noisy").total
    best = dt.optimal_ridge(problem, 2, "zero_one_noisy")
    assert advice["best ridge"].setting["ridge"] == best.ridge
    assert advice[BEST].total <= best.error.total <= advice.now.total
    assert advice[BEST_AT_THIS_RIDGE].total <= advice.now.total
    assert paid(advice[BEST], "features") <= advice.facts["budget"] * (1 + 1e-9)


def test_wide_huber_loss_has_the_advice_of_the_square_loss() -> None:
    for budget in (None, 5.0):
        square = advise_problem(dt.Problem(ridge=0.05), 2, budget=budget)
        huber = advise_problem(dt.Problem(ridge=0.05, loss="huber:1e6"), 2, budget=budget)
        assert huber.choice.name == square.choice.name
        for one, other in zip(huber.options, square.options, strict=True):
            searched = one.name.startswith("best")
            assert one.total == pytest.approx(other.total, rel=1e-3 if searched else 1e-9), one.name
        for name, value in square.facts["marginal"].items():
            assert huber.facts["marginal"][name] == pytest.approx(value, rel=1e-5), name


def test_hinge_ensemble_beats_one_wide_model_with_flipped_labels() -> None:
    many = dt.advise(classes(loss="hinge", features_per_dim=16.0, ridge=0.1))[BEST]
    assert models(many) > 1
    assert many.total == dt.exact_error(*setting(many)).total < 0.31326 + 1e-6
    few = dt.advise(classes(loss="squared_hinge", features_per_dim=16.0))[BEST]
    assert models(few) == 1


def test_losses_without_a_limit_are_refused() -> None:
    with pytest.raises(ValueError, match="loss must depend on the ridge"):
        dt.advise(classes(loss="max_margin", features_per_dim=4.0))
    for width in (0.3, 4.0):  # not separable, and separable
        with pytest.raises(ValueError, match="ridge must be positive"):
            dt.advise(classes(loss="logistic", features_per_dim=width, ridge=0.0))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber", "absolute", "quantile:0.9"])
def test_other_losses_have_advice_without_ridge(loss: str) -> None:
    margin = dt.losses.loss(loss).margin
    advice = dt.advise(
        (classes if margin else dt.Problem)(loss=loss, features_per_dim=3.0, ridge=0.0)
    )
    totals = [option.total for option in advice.options]
    assert np.isfinite(totals).all()
    assert advice[MANY_AT_BEST].total == min(totals[1:-2])
    assert advice[BEST].total <= advice["best ridge"].total <= advice.now.total


def test_value_of_samples_is_infinite_where_the_error_is() -> None:
    for loss in ("squared", "huber", "absolute"):
        peak = dt.Problem(features_per_dim=1.0, ridge=0.0, loss=loss)
        marginal = marginal_value(peak)
        assert marginal.sample == marginal.feature == INF
        assert 0 < marginal.sample_at_best_ridge < 1
