"""What the advice must rediscover, each fact with a setting in which it does not hold."""

import math
from dataclasses import replace

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.advice._option import changed
from doubletrouble.ensembles import named_ensemble
from doubletrouble.theory import error_slopes
from tests.advice.brute_force import random_problem

SEEDS = range(40)


def ratio(sigma: dt.Activation) -> float:
    """μ⋆²/μ₁², the threshold of σ²/F²."""
    return (sigma.nonlinear / sigma.linear) ** 2


# --- one wide model beats K narrow ones at the best ridge ---------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_at_the_best_ridge_one_wide_model_is_best(seed: int) -> None:
    problem, budget = random_problem(np.random.default_rng(seed), spectral=seed % 8 == 7)
    best = dt.advise(problem, budget).best
    assert best.n_members == 1
    assert best.width == pytest.approx(budget, rel=1e-12)
    for K in (2, 5):
        narrow = dt.optimal_ridge(changed(problem, width=budget / K), K).error.total
        assert float(np.asarray(narrow)) >= best.total * (1 - 1e-12)


def test_one_model_is_best_also_where_several_are_all_but_as_good() -> None:
    """With noisy labels errors agree to ten digits: more than a search of the ridge has."""
    rng = np.random.default_rng(5)
    close = dt.Problem(
        features_per_dim=15.18, samples_per_dim=0.1625, noise=5.1, activation="erf"
    )  # fmt: skip
    asked = [(close, 2714.3)]
    for _ in range(100):
        P, N, noise = 10 ** rng.uniform([-1, -1.5, -0.3], [1.5, 1.5, 1.0])
        sigma = str(rng.choice(["relu", "erf", "tanh", "sign"]))
        problem = dt.Problem(features_per_dim=P, samples_per_dim=N, noise=noise, activation=sigma)
        asked.append((problem, float(5 * 1000 ** rng.uniform())))
    for problem, budget in asked:
        best = dt.advise(problem, budget).best
        assert best.n_members == 1, problem
        assert best.width == pytest.approx(budget, rel=1e-12)


def test_with_the_ridge_kept_several_models_may_be_better() -> None:
    """The control: the same problems, λ as it is."""
    several = 0
    for seed in SEEDS:
        problem, budget = random_problem(np.random.default_rng(seed))
        several += dt.advise(problem, budget).best_at_this_ridge.n_members > 1
    assert several > 10


@pytest.mark.parametrize("scheme", ["ensemble", "divide"])
def test_at_the_best_ridge_one_more_of_anything_helps(scheme: str) -> None:
    """With λ as it is (the control) it may do harm."""
    harm = 0
    for seed in SEEDS:
        problem, _ = random_problem(np.random.default_rng(seed), spectral=seed % 8 == 7)
        K = (1, 2, 5, 30)[seed % 4]
        ridge = float(np.asarray(dt.optimal_ridge(problem, named_ensemble(scheme, K)).ridge))
        best, kept = (
            error_slopes(one, named_ensemble(scheme, K))
            for one in (changed(problem, ridge=ridge), problem)
        )
        assert max(float(best.by_features), float(best.by_samples)) <= 0
        harm += max(float(kept.by_features), float(kept.by_samples)) > 1e-3
    assert harm > 5


# --- just beyond P = N, without ridge, ensembling beats a little more width ---------------------


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("N", [0.3, 1.0, 4.0])
def test_just_beyond_the_threshold_ensembling_is_better(noise: float, N: float) -> None:
    problem = dt.Problem(features_per_dim=1.2 * N, samples_per_dim=N, ridge=0.0, noise=noise)
    found = dt.advise(problem, 1.05 * N)
    assert found["ensemble"].total < found["widen_a_little"].total
    assert found.best_at_this_ridge.n_members >= 2
    assert "a little more width" in found.reason


@pytest.mark.parametrize("gap", [1e-9, 1e-6, 1e-3, 0.01, 0.03, 0.05, 0.1, 0.2, 0.249, 0.3, 0.9])
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_it_is_so_however_close_to_the_threshold(gap: float, members: int, noise: float) -> None:
    """A little more width is less than twice the distance P - N, which twice the models equal."""
    problem = dt.Problem(features_per_dim=1 + gap, ridge=0.0, noise=noise)
    found = dt.advise(problem, ensemble=members)
    assert found["ensemble"].total < found["widen_a_little"].total < found.now.total
    twice = replace(problem, features_per_dim=1 + 2 * gap)
    as_far = float(np.asarray(dt.exact_error(twice, members).total))
    assert found["ensemble"].total == pytest.approx(as_far, rel=1e-6)
    assert "it is worth as much as twice the distance P - N" in found.reason
    further = replace(problem, features_per_dim=1 + 2.5 * gap)  # the control: no longer a little
    assert float(np.asarray(dt.exact_error(further, members).total)) < found["ensemble"].total


def test_a_little_more_width_is_less_than_the_distance_to_the_peak() -> None:
    labels = {}
    for P, scheme, members in ((0.9, "ensemble", 1), (1.0, "ensemble", 1), (1.2, "ensemble", 2),
                               (1.3, "ensemble", 1), (3.0, "ensemble", 1), (0.6, "divide", 2),
                               (math.inf, "ensemble", 1)):  # fmt: skip
        found = dt.advise(dt.Problem(features_per_dim=P), ensemble=named_ensemble(scheme, members))
        little = found["widen_a_little"]
        labels[P] = little.label
        n = 1 / members if scheme == "divide" else 1.0
        expected = P + (P - n) / 2 if "/2" in little.label else 1.1 * P
        assert little.width == pytest.approx(expected)
    tenth = "P → 1.1P"
    assert labels == {
        0.9: tenth, 1.0: tenth, 1.2: "P → P + (P-N)/2", 1.3: tenth, 3.0: tenth,
        0.6: "P → P + (P-N/K)/2", math.inf: tenth,
    }  # fmt: skip


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_far_beyond_it_one_wide_model_is_better(noise: float) -> None:
    """The control: 1/(2 P/N - 1) < 1/(2 P/N - 2), and the gap closes slowly."""
    found = dt.advise(dt.Problem(features_per_dim=8.0, ridge=0.0, noise=noise))
    assert found["widen"].total < found["ensemble"].total
    clean = dt.advise(dt.Problem(features_per_dim=50.0, ridge=0.0, noise=0.1))
    assert clean.best_at_this_ridge.n_members == 1
    assert "a little more width" not in found.reason


# --- infinitely many models prefer P < N if and only if σ²/F² > μ⋆²/μ₁² --------------------------


@pytest.mark.parametrize("activation", ["relu", "tanh", "erf"])
@pytest.mark.parametrize("N", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("side", [0.5, 0.99, 1.01, 3.0])
def test_noisy_labels_favour_few_features(activation: str, N: float, side: float) -> None:
    sigma = dt.activation(activation)
    rho = side * ratio(sigma)  # σ²/F²
    problem = dt.Problem(
        features_per_dim=2 * N, samples_per_dim=N, ridge=0.0, noise=math.sqrt(rho),
        activation=activation,
    )  # fmt: skip
    found = dt.advise(problem)
    assert found.prefers_narrow == (side > 1)
    assert found.many_at_best_width.n_members == math.inf
    if side < 1:
        assert found.many_at_best_width.width == N  # the plateau begins there
        assert "as many features as samples" in found.reason
    else:
        assert found.many_at_best_width.width == pytest.approx(_best_width(rho, N, sigma), rel=1e-4)
        assert "fewer features than samples" in found.reason


@pytest.mark.parametrize("activation", ["relu", "tanh", "erf", "sign"])
@pytest.mark.parametrize("gap", [1e-12, 1e-10, 1e-8, 1e-6])
def test_clean_labels_favour_no_width_below_the_samples(activation: str, gap: float) -> None:
    """Just below P = N the error is that of the plateau; noisier labels are the control."""
    for side in (0.0, 0.03, 0.5, 0.99, 1.01, 3.0):
        noise = math.sqrt(side * ratio(dt.activation(activation)))
        problem = dt.Problem(
            features_per_dim=1 - gap, ridge=0.0, noise=noise, activation=activation
        )  # fmt: skip
        found = dt.advise(problem)
        assert found.prefers_narrow == (side > 1), side
        assert (found.many_at_best_width.width == 1.0) == (side < 1), side


def _best_width(rho: float, N: float, sigma: dt.Activation) -> float:
    """ψ1* = s (1 + 1/(ζ u)): s is Ψ1 of linear ridge regression with ridge σ²/F²."""
    b = rho + N - 1
    m = (-b + math.sqrt(b * b + 4 * rho)) / (2 * rho)  # ρ m² + (ρ + ψ2 - 1) m = 1
    u = rho * m
    return (1 - u) * (1 + ratio(sigma) / u)


def test_the_nonlinear_teacher_counts_as_noise() -> None:
    quiet = dt.Problem(ridge=0.0, noise=0.3)
    assert not dt.advise(quiet).prefers_narrow
    assert dt.advise(replace(quiet, nonlinear_signal=1.0)).prefers_narrow


# --- dividing wins at low signal-to-noise ratio ---------------------------------------------------


@pytest.mark.parametrize("ridge", [0.0, 1e-5])
@pytest.mark.parametrize("P", [2.0, 5.0])
def test_dividing_wins_at_low_snr(P: float, ridge: float) -> None:
    noisy = dt.advise(dt.Problem(features_per_dim=P, ridge=ridge, noise=1.0))
    assert noisy["divide"].n_members == noisy["ensemble"].n_members == 2
    assert noisy["divide"].features == noisy["ensemble"].features
    assert noisy["divide"].total < noisy["ensemble"].total
    noisier = dt.advise(dt.Problem(features_per_dim=P, ridge=ridge, noise=3.0))
    assert noisier.choice.name in ("divide", "regularize")
    assert "divide among 2 gives" in noisier.reason


@pytest.mark.parametrize("P", [2.0, 5.0])
def test_dividing_loses_at_high_snr(P: float) -> None:
    clean = dt.advise(dt.Problem(features_per_dim=P, ridge=1e-5, noise=0.1))
    assert clean["divide"].total > clean["ensemble"].total
