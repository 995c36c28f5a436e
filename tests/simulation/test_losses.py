"""The finite model with convex losses: against theory, held-out points, and the squared loss."""

import os
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from conformance.losses import (
    LEAST_CONTROL,
    MOST_UNLIKELY,
    PROBLEMS,
    LossSizes,
    compared,
    of_problem,
    unlikely,
)
from doubletrouble.convex import order_parameters
from doubletrouble.losses import LOSSES, MEASURES, VOTE_MEASURES, loss
from doubletrouble.simulation import Simulation
from doubletrouble.simulation._cells import from_record, to_record
from doubletrouble.simulation._pairs import majority
from tests.messages import not_identified

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))
CLASSES = dt.Problem(
    features_per_dim=1.5,
    samples_per_dim=2.0,
    ridge=1e-2,
    task="classification",
    loss="hinge",
    flips=0.1,
)
VALUES = dt.Problem(features_per_dim=0.7, samples_per_dim=1.5, ridge=0.1, loss="absolute")
DRAWN: tuple[dt.Scheme, ...] = (
    dt.Divide(2),
    dt.Subsample(3, fraction=0.5),
    dt.FeatureBank(3, bank_per_dim=3.0),
)
SMALL: dict[str, Any] = {"dim": 30, "n_data": 6, "n_init": 2, "progress": False}


def simulated(problem: dt.Problem, **options: Any) -> Simulation:
    return dt.simulate(problem, **{**SMALL, **options})


# --- agreement -----------------------------------------------------------------------------------


@pytest.mark.statistical
def test_overlaps_and_errors_agree_with_theory() -> None:
    sizes = LossSizes(dim=80, draws=12)
    chosen = [PROBLEMS[k] for k in (0, 4, 10, 12, 19)]
    rows = [row for k, p in enumerate(chosen) for row in compared(p, SEED + k, sizes)]
    assert len(rows) == 50
    worst = max(rows, key=lambda row: abs(row.t))
    assert abs(worst.t) < 6, worst  # twelve draws, and a bias of 1/80
    assert np.median([abs(row.t) for row in rows]) < 1.6
    control = compared(PROBLEMS[0], SEED, sizes, control=True)
    assert np.median([abs(row.t) for row in control]) > LEAST_CONTROL


@pytest.mark.full
@pytest.mark.statistical
def test_every_loss_agrees_with_theory() -> None:
    assert {loss(p.loss).name for p in PROBLEMS} == set(LOSSES)
    sizes = LossSizes(draws=8)
    rows = [
        row
        for seed in range(3 * SEED, 3 * SEED + 3)
        for k in range(len(PROBLEMS))
        for row in of_problem(k, seed, sizes)
    ]
    assert len(rows) == 720
    assert unlikely(rows) <= MOST_UNLIKELY, sorted(rows, key=lambda row: -abs(row.t))[:8]


@pytest.mark.statistical
@pytest.mark.parametrize("problem", [CLASSES, VALUES], ids=["classes", "values"])
def test_parts_of_drawn_ensembles_agree_with_theory(problem: dt.Problem) -> None:
    run: Any = simulated(problem, dim=60, n_data=20, ensembles=DRAWN, seed=SEED)
    members: tuple[Any, ...] = (1, 3, *DRAWN)
    for ensemble in members:
        found, exact = run.error(ensemble), dt.exact_error(run.problem, run.realized(ensemble))
        assert found.parts.keys() == exact.parts.keys()
        for name, part in found.parts.items():
            assert abs(part.z_score(exact.parts[name])) < 6, (ensemble, name)
    if problem.task == "classification":
        found, exact = (run.error(3, measure="log"), dt.exact_error(run.problem, 3, "log"))
        for name, part in found.parts.items():
            assert abs(part.z_score(exact.parts[name])) < 6, name
    symmetric, theory = run.anova(3), dt.anova(run.problem, 3)
    for name, part in symmetric.parts.items():
        assert abs(part.z_score(theory.parts[name])) < 6, name


@pytest.mark.statistical
def test_huber_loss_without_outliers_is_the_square_loss() -> None:
    """The overlaps are those of Ψ terms, from other code."""
    plain = dt.Problem(features_per_dim=0.6, samples_per_dim=1.5, ridge=0.1, noise=0.7)
    run = simulated(replace(plain, loss="huber:1e6"), n_data=40)
    ours = dt.simulate(plain, dim=30, n_data=40, n_init=2, seed=1, progress=False)
    for ensemble in (1, 5):
        for name, part in run.error(ensemble).parts.items():
            other = getattr(ours.error(ensemble), name)
            error = np.hypot(part.standard_error, other.standard_error)
            assert abs(part.value - other.value) <= 5 * error, name


@pytest.mark.statistical
@pytest.mark.parametrize("model", ["features", "gaussian"])
@pytest.mark.parametrize(
    "problem", [CLASSES, replace(VALUES, activation="tanh")], ids=["classes", "values"]
)
def test_errors_are_those_counted_at_points_held_out(problem: dt.Problem, model: str) -> None:
    run = simulated(problem, dim=60, n_data=16, model=model)
    for members in (1, 2):
        counted, total = run.held_out(members), run.error(members).total
        difference: Any = counted - total
        # differences are paired: both are of the same draws; scores are Gaussian up to 1/D
        assert abs(difference.value) < 5 * difference.standard_error + 0.01


@pytest.mark.statistical
def test_majorities_agree_with_theory() -> None:
    problem = replace(CLASSES, noise=0.5, ridge=1e-3)
    run: Any = simulated(problem, dim=100, n_data=20, n_init=5, seed=SEED)
    members = np.array([1, 2, 3, 5])
    for measure in ("zero_one", "zero_one_noisy"):
        found = run.error(dt.Vote(members), measure=measure).total
        theory, mean = (
            dt.exact_error(run.problem, kind, measure).total
            for kind in (run.realized(dt.Vote(members)), members)
        )
        assert np.all(np.abs(found.z_score(theory)) < 5)
        # the mean score of two is better than their vote
        assert found.z_score(mean)[1] > 8


# --- properties ----------------------------------------------------------------------------------


def test_parts_sum_to_the_rate_of_the_mean_score() -> None:
    run: Any = simulated(CLASSES)
    m, q, q1 = run.m.value, run.q.value, run.overlap().value
    for members in (1, 4, np.inf):
        Q = q1 + (q - q1) / members
        expected = np.arccos(m / np.sqrt(Q)) / np.pi
        assert run.error(members).total.value == pytest.approx(expected, abs=0.01)
        parts = run.error(members).parts
        assert parts["bias"].value == parts["bayes"].value == 0
    noisy = run.error(1, measure="zero_one_noisy")
    assert noisy.bayes.value == pytest.approx(0.1)
    expected = 0.1 + 0.8 * run.error().total.value
    assert noisy.total.value == pytest.approx(expected)


def test_curves_are_single_points() -> None:
    ridges = [1e-2, 1.0]
    curve = simulated(replace(CLASSES, features_per_dim=[[0.5], [1.5]], ridge=ridges))
    assert curve.error(2).shape == (2, 2)
    for k, ridge in enumerate(ridges):
        one = simulated(replace(CLASSES, ridge=ridge))
        np.testing.assert_allclose(
            curve.draws.linear.other[:, 1, k], one.draws.linear.other, rtol=1e-5
        )
    several = simulated(CLASSES).error(np.array([1, 2, 10]))
    assert several.shape == (3,)


def test_arrays_of_labels_are_single_points_for_every_measure() -> None:
    """Every signal and share of flips is a run of its own from the same seed."""
    options: dict[str, Any] = {"dim": 20, "n_data": 4}
    problem = replace(CLASSES, signal=[[1.0], [2.0]], flips=[0.1, 0.3], noise=0.3)
    run = simulated(problem, **options)
    alone = simulated(replace(problem, signal=2.0, flips=0.1), **options)
    for measure in MEASURES:
        parts = run.error(2, measure=measure).parts
        for name, part in alone.error(2, measure=measure).parts.items():
            assert np.asarray(parts[name].value)[1, 0] == pytest.approx(part.value, abs=1e-12)
    pair = [one.error(dt.Vote(2), measure=VOTE_MEASURES[1]).total for one in (run, alone)]
    votes, vote = pair
    assert np.asarray(votes.value)[1, 0] == pytest.approx(vote.value)
    uninformative = simulated(replace(problem, flips=[0.1, 0.5]), **options).error()
    assert uninformative.shape == (2, 2)
    not_identified(uninformative, "noise", "without information")
    np.testing.assert_allclose(
        np.asarray(uninformative.total.value)[1, 0], alone.error().total.value
    )


def test_draws_depend_on_the_seed_alone() -> None:
    first, again, other = (simulated(VALUES, seed=seed).draws.linear.same for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_labels_without_information_are_guessed() -> None:
    run: Any = simulated(replace(CLASSES, flips=0.5), n_data=10)
    not_identified(run.error(), "bias", "computed by theory")
    assert abs(run.error().total.z_score(0.5)) < 5


@pytest.mark.statistical
def test_rates_near_the_threshold_are_those_of_all_learners() -> None:
    fields: dict[str, Any] = {"features_per_dim": 0.8, "samples_per_dim": 2.1, "ridge": 0.0}
    run: Any = simulated(replace(CLASSES, flips=0.0, **fields), dim=60, n_data=20, seed=SEED)
    assert abs((run.error().total - run.held_out()).z_score(0.0)) < 5
    power = run.draws.linear.same + run.draws.noise.same
    norms = power / power.mean()
    assert norms.max() > 3  # a few learners have most of the power


@pytest.mark.statistical
def test_labels_without_a_signal_are_drawn() -> None:
    problem = replace(CLASSES, signal=0.0, flips=0.0)
    run: Any = simulated(problem, dim=60, n_data=20)
    assert run.error().total.value == 0.5
    assert abs(run.q.z_score(order_parameters(run.problem).q)) < 4


def test_votes_are_those_of_every_choice_of_members() -> None:
    rng = np.random.default_rng(0)
    wrong = rng.random((5, 400)) < rng.random(400)  # (members, points)
    shares = np.bincount(wrong.sum(axis=0), minlength=6) / 400
    for K in range(1, 6):
        chosen = [wrong[list(some)].mean(axis=0) for some in combinations(range(5), K)]
        expected = np.mean([(share > 0.5) + 0.5 * (share == 0.5) for share in chosen])
        assert majority(shares, K) == pytest.approx(expected)
    run: Any = simulated(CLASSES)
    assert run.error(dt.Vote(1)).total.value == pytest.approx(run.held_out().value)


def test_records_hold_a_simulation() -> None:
    run = simulated(CLASSES, ensembles=DRAWN)
    votes = from_record(to_record(run)).error(dt.Vote(2))
    assert votes.total == run.error(dt.Vote(2)).total
    again = from_record(to_record(run))
    for ensemble in (dt.Ensemble(2), *DRAWN):
        assert again.error(ensemble) == run.error(ensemble)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "kernel"}, "model must be"),
        ({"center": False}, "center must be"),
        ({"dtype": "float32"}, "dtype must be"),
        ({"times": [1.0]}, "times must be"),
        ({"device": "torch"}, "device must be"),
        ({"ensembles": dt.Bootstrap(3)}, "ensembles must be"),
    ],
)
def test_settings_of_the_square_loss_alone_raise(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulated(CLASSES, **options)


def test_quantities_that_do_not_exist_raise() -> None:
    run = simulated(CLASSES)
    assert run.psi is None
    with pytest.raises(ValueError, match="shared_samples must be 0 or 1"):
        run.overlap(0.0, 0.5)
    with pytest.raises(ValueError, match="measure must be"):
        run.error(1, measure="brier")
    with pytest.raises(ValueError, match="ensemble must be 1 or n_init"):
        run.held_out(7)
    with pytest.raises(ValueError, match="n_members must be at most n_init = 2"):
        run.error(dt.Vote(3))
    with pytest.raises(ValueError, match="measure must be one of zero_one, zero_one_noisy"):
        run.error(dt.Vote(2), measure="log")
    not_identified(run.error(dt.Vote(2)), "noise", "parts of a vote")
    with pytest.raises(ValueError, match="ensemble must average"):
        simulated(VALUES).error(dt.Vote(2))


def test_draws_without_a_fit_are_listed() -> None:
    margin = replace(CLASSES, flips=0.0, loss="max_margin", features_per_dim=0.8)
    with pytest.raises(dt.DivergenceError, match=r"5 of 6 without one \(draws 0, 1, 2, 4, 5\)"):
        simulated(margin)
    values = simulated(replace(margin, loss="hinge", ridge=0.0)).draws.named().values()
    assert all(np.isfinite(v).all() and len(v) == 6 for v in values)
    with pytest.raises(dt.DivergenceError, match=r"6 of 6 .* a positive ridge"):
        simulated(replace(CLASSES, loss="logistic", ridge=0.0, features_per_dim=4.0))
