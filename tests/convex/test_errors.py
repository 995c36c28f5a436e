"""Errors by cause with any convex loss: the closed form, published numbers, measures and votes."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import entr, ndtr

import doubletrouble as dt
from doubletrouble.convex import order_parameters
from doubletrouble.convex._order_parameters import SolvedMember
from doubletrouble.ensembles import as_ensemble
from doubletrouble.theory import effective_ridge, total_of
from doubletrouble.theory._error import convex_parts
from tests.convex.test_order_parameters import CASES, classes, random_problem
from tests.schemes import ensemble, supported

WITHOUT_REPLACEMENT = [name for name in supported() if name != "bootstrap"]
MEASURES = ("zero_one", "zero_one_noisy", "squared", "log")


# --- the squared loss -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITHOUT_REPLACEMENT)
@pytest.mark.parametrize("interactions", [False, True])
def test_square_loss_equals_its_closed_form(name: str, *, interactions: bool) -> None:
    rng = np.random.default_rng(3)
    count = 40
    problem = dt.Problem(
        features_per_dim=np.r_[math.inf, 10 ** rng.uniform(-1, 1, count - 1)],
        samples_per_dim=10 ** rng.uniform(-1, 1, count),
        ridge=np.r_[np.zeros(8), 10 ** rng.uniform(-5, 1, count - 8)],
        signal=rng.uniform(0.1, 2, count),
        noise=rng.uniform(0, 2, count),
        test_noise=0.3,
    )
    members = ensemble(name, problem, np.array([1, 2, 7, math.inf])[:, None])
    exact = (dt.anova if interactions else dt.exact_error)(problem, members)
    scheme = as_ensemble(members)
    parts = convex_parts(problem, scheme, None if interactions else "squared")
    assert parts.keys() == exact.parts.keys()
    total: Any = exact.total
    for part, value in exact.parts.items():
        assert (np.abs(parts[part] - value) <= 1e-10 * total).all(), part


# --- known numbers -------------------------------------------------------------------------------


def test_peaks_of_the_error_rate() -> None:
    """At N/D = 2, λ = 1e-4: local maxima at P/N = 0.40 for logistic and hinge, at 1 for square."""
    widths = 2 * np.linspace(0.34, 1.2, 87)
    for loss, place, height, at_n in (
        ("logistic", 0.40, 0.3721, 0.2889),
        ("hinge", 0.40, 0.3777, 0.2982),
        ("squared", 1.0, 0.4275, 0.4275),
    ):
        problem = classes(loss=loss, features_per_dim=widths, samples_per_dim=2.0, ridge=1e-4)
        one, many = (np.asarray(dt.exact_error(problem, K).total) for K in (1, math.inf))
        peak = int(one.argmax())
        assert widths[peak] / 2 == pytest.approx(place, abs=0.006)
        assert one[peak] == pytest.approx(height, abs=1e-4)
        assert np.interp(2.0, widths, one) == pytest.approx(at_n, abs=1e-4)
        rise = many - np.minimum.accumulate(many)
        assert rise.max() < 1e-3  # infinitely many have no peak


def test_maximum_margin_depends_on_the_width() -> None:
    widths = [0.8, 1, 1.5, 2, 4, 10, 40]
    problem = classes(loss="max_margin", features_per_dim=widths, samples_per_dim=1.5)
    known = [0.21675, 0.21479, 0.21216, 0.21097, 0.20966, 0.20945, 0.20967]
    np.testing.assert_allclose(dt.exact_error(problem, math.inf).total, known, atol=6e-6)
    wide = classes(loss="squared", features_per_dim=[2.0, 4.0, 40.0], samples_per_dim=1.5, ridge=0)
    np.testing.assert_allclose(dt.exact_error(wide, math.inf).total, 0.21615, atol=6e-6)


def test_ensemble_of_hinges_beats_the_kernel_machine() -> None:
    sizes: dict[str, Any] = {"loss": "hinge", "samples_per_dim": 2.0, "flips": 0.2}
    for width, members, error in (
        (2000.0, 1, 0.30484),
        (2.0, math.inf, 0.30287),
        (4.0, 4, 0.313260),
        (16.0, 1, 0.313928),
    ):
        best = dt.optimal_ridge(classes(features_per_dim=width, **sizes), members)
        assert best.error.total == pytest.approx(error, abs=6e-6)


def test_huber_loss_cuts_the_noise_of_outliers() -> None:
    noise = dt.Mixture([(0.9, 0.4), (0.1, 4.0)])
    for width, square, huber in ((0.5, 0.577, 0.183), (1.0, 1.679, 0.667)):
        for loss, value in (("squared", square), ("huber", huber)):
            problem = dt.Problem(
                loss=loss, noise=noise, features_per_dim=width, samples_per_dim=2.0, ridge=1e-3
            )
            assert dt.exact_error(problem).noise == pytest.approx(value, abs=6e-4)


# --- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITHOUT_REPLACEMENT)
@pytest.mark.parametrize(("task", "loss"), CASES)
def test_parts_are_not_negative_and_sum_to_the_error(task: str, loss: str, name: str) -> None:
    problem = random_problem(task, loss, "relu", 8, seed=4)
    members = ensemble(name, problem, 3)
    for measure in MEASURES if task == "classification" else ("squared",):
        error = dt.exact_error(problem, members, measure=measure)  # type: ignore[arg-type]
        for part, value in error.parts.items():
            assert (np.asarray(value) >= 0).all(), (measure, part)
            assert np.isfinite(value).all()
        # negative differences would be cut off, and missing in the sum
        total = total_of(problem, as_ensemble(members), measure)  # type: ignore[arg-type]
        np.testing.assert_allclose(error.total, total, rtol=1e-10)
    squared, effects = (
        dt.exact_error(problem, members, measure="squared"),
        dt.anova(problem, members),
    )
    np.testing.assert_allclose(effects.total, squared.total, rtol=1e-10)
    np.testing.assert_allclose(effects.sampling, squared.sampling, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("flips", "noise"), [(0.0, 0.5), (0.1, 0.0), (0.2, 1.5)])
def test_least_log_loss_is_the_entropy_of_labels(flips: float, noise: float) -> None:
    def entropy(x: float) -> float:
        clean = float(ndtr(x / noise)) if noise else float(x > 0)
        p = flips + (1 - 2 * flips) * clean
        return float(entr(p) + entr(1 - p)) * math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)

    expected = quad(entropy, -10, 0, epsabs=1e-13)[0] + quad(entropy, 0, 10, epsabs=1e-13)[0]
    error = dt.exact_error(classes(flips=flips, noise=noise, ridge=0.1), measure="log")
    assert error.bayes == pytest.approx(expected, rel=1e-10)


def test_error_rate_has_no_bias() -> None:
    """Of a linear target; the 0/1 error of an ensemble is the angle of its mean score."""
    problem = classes(loss="logistic", ridge=1e-2, flips=0.1, noise=0.3)
    one = order_parameters(problem)
    for K in (1, 5, math.inf):
        error = dt.exact_error(problem, K)
        mean = one.overlap() + (one.q - one.overlap()) / K
        assert error.bias == error.bayes == 0
        assert error.total == pytest.approx(math.acos(one.m / math.sqrt(mean)) / math.pi, rel=1e-12)
        noisy = dt.exact_error(problem, K, measure="zero_one_noisy")
        angle = math.acos(one.m / math.sqrt(1.09 * mean)) / math.pi
        assert noisy.total == pytest.approx(0.1 + 0.8 * angle, rel=1e-12)
        assert noisy.bayes == pytest.approx(0.1 + 0.8 * math.atan(0.3) / math.pi, rel=1e-12)


def test_measures_are_those_of_sampled_scores() -> None:
    """Scores, targets and noisy labels drawn from their Gaussian law."""
    problem = classes(loss="logistic", ridge=1e-2, flips=0.1, noise=0.5)
    one, count = order_parameters(problem), 4_000_000
    rng = np.random.default_rng(0)
    target = rng.standard_normal(count)
    score = one.m * target + math.sqrt(one.q - one.m**2) * rng.standard_normal(count)
    labels = np.sign(target + 0.5 * rng.standard_normal(count))
    labels *= np.where(rng.random(count) < 0.1, -1, 1)
    clean = np.sign(target)
    sampled = {
        "zero_one": np.sign(score) != clean,
        "zero_one_noisy": np.sign(score) != labels,
        "squared": (score - clean) ** 2,
        "log": np.logaddexp(0, -labels * score),
    }
    for measure, draws in sampled.items():
        error = dt.exact_error(problem, measure=measure)  # type: ignore[arg-type]
        assert abs(error.total - draws.mean()) < 5 * draws.std() / math.sqrt(count), measure
    near = np.abs(score - 1.0) < 0.05
    actual = dt.calibration(problem).actual(1.0)
    assert abs((labels[near] > 0).mean() - actual) < 5 * 0.5 / math.sqrt(near.sum())


def test_a_vote_of_infinitely_many_is_their_mean_score() -> None:
    problem = classes(loss="hinge", ridge=[1e-3, 0.1], flips=0.1, noise=0.2)
    measures: tuple[Any, ...] = ("zero_one", "zero_one_noisy")
    for measure in measures:
        vote, mean = (
            np.asarray(dt.exact_error(problem, K, measure=measure).total)
            for K in (dt.Vote(math.inf), dt.Ensemble(math.inf))
        )
        np.testing.assert_allclose(vote, mean, rtol=1e-12)
    one, two, three, many = (
        np.asarray(dt.exact_error(problem, dt.Vote(K)).total) for K in (1, 2, 3, 10**6)
    )
    np.testing.assert_allclose(one, dt.exact_error(problem).total, rtol=1e-12)
    np.testing.assert_allclose(two, one, rtol=1e-12)  # ties count half
    assert (three < one).all()
    np.testing.assert_allclose(many, dt.exact_error(problem, math.inf).total, rtol=1e-5)


def test_a_vote_of_three_is_that_of_sampled_scores() -> None:
    problem = classes(loss="hinge", ridge=0.1, flips=0.1)
    one, count = order_parameters(problem), 2_000_000
    rng = np.random.default_rng(1)
    q12, target = one.overlap(), rng.standard_normal(count)
    common = one.m * target + math.sqrt(q12 - one.m**2) * rng.standard_normal(count)
    scores = common + math.sqrt(one.q - q12) * rng.standard_normal((3, count))
    wrong = np.sign(np.sign(scores).sum(0)) != np.sign(target)
    error = dt.exact_error(problem, dt.Vote(3)).total
    assert abs(error - wrong.mean()) < 5 * wrong.std() / math.sqrt(count)


# --- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_training_error_is_that_of_sampled_residuals(task: str, loss: str) -> None:
    """Labels and cavity outputs from their law, and the proximal point by a fine grid."""
    problem = random_problem(task, loss, "relu", 1, seed=5)
    one = order_parameters(problem)
    m, q, V, b, tau = (
        float(np.squeeze(v)) for v in (one.m, one.q, one.V, one.intercept, problem.noise_sd)
    )
    rng, count = np.random.default_rng(2), 20_000
    target = rng.standard_normal(count)
    cavity = m * target + math.sqrt(q - m**2) * rng.standard_normal(count)
    labels = target + tau * rng.standard_normal(count)
    if task == "classification":
        flipped = rng.random(count) < float(np.squeeze(problem.flips))
        labels = np.sign(labels) * np.where(flipped, -1, 1)
    low, high = cavity - 10 * (1 + V), cavity + 10 * (1 + V)
    kind = problem.loss_function
    for _ in range(100):  # ternary search of a convex function
        left, right = low + (high - low) / 3, high - (high - low) / 3
        values = [kind.value(labels, z + b) + (z - cavity) ** 2 / (2 * V) for z in (left, right)]
        falls = values[0] > values[1]
        low, high = np.where(falls, left, low), np.where(falls, high, right)
    outputs = (low + high) / 2 + b
    wrong = labels * outputs < 0 if task == "classification" else (labels - outputs) ** 2
    for mean_loss, draws in ((False, wrong), (True, kind.value(labels, outputs))):
        exact = float(np.squeeze(dt.training_error(problem, mean_loss=mean_loss)))
        assert abs(exact - draws.mean()) <= 5 * draws.std() / math.sqrt(count) + 1e-6, mean_loss


def test_training_error_of_the_squared_loss() -> None:
    problem = random_problem("regression", "squared", "relu", 20, seed=6)
    member = SolvedMember.of(problem, problem.samples_per_dim, problem.shape)
    error, loss = member.training()
    np.testing.assert_allclose(error, dt.training_error(problem), rtol=1e-10)
    np.testing.assert_allclose(loss, dt.training_error(problem, mean_loss=True), rtol=1e-10)


# --- the best ridge, and refusals ----------------------------------------------------------------


def test_best_ridge_is_a_minimum() -> None:
    problem = classes(loss="logistic", features_per_dim=[0.5, 4.0], samples_per_dim=2.0, flips=0.2)
    best = dt.optimal_ridge(problem, 3, measure="log")
    for factor in (0.9, 1.1):
        near = dt.exact_error(
            classes(
                loss="logistic",
                features_per_dim=[0.5, 4.0],
                samples_per_dim=2.0,
                flips=0.2,
                ridge=factor * np.asarray(best.ridge),
            ),
            3,
            measure="log",
        )
        assert (np.asarray(near.total) > np.asarray(best.error.total)).all()
    square = dt.optimal_ridge(dt.Problem(features_per_dim=10.0))
    huber = dt.optimal_ridge(dt.Problem(features_per_dim=10.0, loss="huber:1e6"))
    assert huber.ridge == pytest.approx(square.ridge, rel=1e-5)
    assert math.isinf(dt.optimal_ridge(dt.Problem(loss="absolute", signal=0.0)).ridge)


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_best_ridge_of_labels_that_cannot_be_learned_is_infinite(task: Any, loss: str) -> None:
    fields: dict[str, Any] = {"task": task, "loss": loss, "samples_per_dim": 2.0}
    for other in ({"activation": "abs"}, {"signal": 0.0, "features_per_dim": 1.0}):
        assert dt.optimal_ridge(dt.Problem(**fields, **other)).ridge == math.inf


def test_diverging_scores_have_calibration_slope_zero() -> None:
    result = dt.calibration(classes(ridge=0.0, features_per_dim=2.0, samples_per_dim=2.0))
    assert (result.score_sd, result.slope, result.tilt) == (math.inf, 0.0, 0.0)


def test_calibration_slope_minimizes_the_log_loss() -> None:
    problem = classes(loss="logistic", ridge=1e-3, flips=0.1, noise=0.2)
    one, five = dt.calibration(problem), dt.calibration(problem, 5)
    assert one.slope < five.slope < 1
    assert one.calibration_error > five.calibration_error > 0
    best = dt.optimal_ridge(problem, measure="log").ridge
    tuned = dt.calibration(classes(loss="logistic", ridge=best, flips=0.1, noise=0.2))
    assert tuned.slope == pytest.approx(1.0, abs=0.2)
    z = np.linspace(-9, 9, 4001)
    f, w = five.score_sd * z, np.exp(-0.5 * z * z) * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    p = five.actual(f)
    losses = [
        float(w @ (p * np.logaddexp(0, -b * f) + (1 - p) * np.logaddexp(0, b * f)))
        for b in np.asarray(five.slope) * np.array([0.99, 1.0, 1.01])
    ]
    assert losses[1] < min(losses[0], losses[2])


@pytest.mark.parametrize(("ridge", "flips"), [(1e-4, 0.1), (0.1, 0.1), (1.0, 0.3), (10.0, 0.0)])
def test_calibration_error_is_the_mean_gap(ridge: float, flips: float) -> None:
    scores = dt.calibration(classes(loss="logistic", ridge=ridge, flips=flips))

    def gap(z: float) -> float:
        f = np.asarray(scores.score_sd) * z
        return float(scores.predicted(f) - scores.actual(f))

    grid = np.geomspace(1e-3, 9.0, 200)
    pairs = [(a, b) for a, b in pairwise(grid) if gap(a) * gap(b) < 0]
    ends = [0.0, *(brentq(gap, a, b, xtol=1e-15) for a, b in pairs), 9.0]
    pieces = [
        quad(lambda z: abs(gap(z)) * math.exp(-z * z / 2), a, b, epsabs=1e-14, epsrel=1e-13)[0]
        for a, b in pairwise(ends)
    ]
    assert scores.calibration_error == pytest.approx(
        sum(pieces) * math.sqrt(2 / math.pi), rel=1e-11
    )


def test_what_is_not_defined_is_refused() -> None:
    hinge = classes(loss="hinge")
    for call, name in (
        (lambda: dt.exact_error(dt.Problem(), measure="zero_one_noisy"), "measure"),
        (lambda: dt.exact_error(hinge, measure="absolute"), "measure"),  # type: ignore[arg-type]
        (lambda: dt.exact_error(hinge, dt.Vote(3), measure="squared"), "measure"),
        (lambda: dt.exact_error(dt.Problem(), dt.Vote(3)), "ensemble"),
        (lambda: dt.exact_error(hinge, dt.Bootstrap(3)), "ensemble"),
        (lambda: dt.anova(hinge, dt.Vote(3)), "ensemble"),
        (lambda: dt.training_error(hinge, 3), "ensemble"),
        (lambda: dt.optimal_ridge(classes(loss="max_margin")), "loss"),
        (lambda: effective_ridge(hinge), "task"),
        (lambda: dt.gradient_flow(hinge, times=1.0), "task"),
        (lambda: dt.calibration(dt.Problem()), "task"),
        (lambda: order_parameters(hinge).overlap(1.5), "shared_features"),
        (lambda: order_parameters(dt.Problem(nonlinear_signal=1.0)), "nonlinear_signal"),
    ):
        with pytest.raises(ValueError, match=f"^{name} must"):
            call()


# --- extreme powers ------------------------------------------------------------------------------


def test_finite_errors_are_finite_and_divergences_infinite() -> None:
    """At P = N, as the squared loss: a Huber loss without outliers, and labels of any size."""
    for ridge in (1e-300, 1e-150, 1e-20):
        square = dt.exact_error(dt.Problem(features_per_dim=1.0, ridge=ridge))
        huber = dt.exact_error(dt.Problem(features_per_dim=1.0, ridge=ridge, loss="huber:1e149"))
        assert huber.total == pytest.approx(square.total, rel=1e-9)
    assert dt.exact_error(dt.Problem(features_per_dim=1.0, ridge=0.0, loss="huber")).total == np.inf
    large = dt.Problem(loss="huber:1e36", signal=1e36, noise=1e36, ridge=0.0)
    unit = dt.exact_error(dt.Problem(loss="huber:1", ridge=0.0))
    assert dt.exact_error(large).total == pytest.approx(1e72 * unit.total, rel=1e-12)


@pytest.mark.parametrize("loss", ["huber", "absolute", "quantile:0.9"])
def test_labels_that_are_all_zero_are_predicted(loss: str) -> None:
    error = dt.exact_error(dt.Problem(loss=loss, signal=[0.0, 1.0], noise=[0.0, 1.0]), 3)
    one = dt.exact_error(dt.Problem(loss=loss, signal=1.0, noise=1.0), 3)
    assert error.total == pytest.approx(np.array([0.0, one.total]), rel=1e-12)
