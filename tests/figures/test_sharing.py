"""The figures about what members share: bags, effective ridges, committees."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from doubletrouble.ensembles import Bootstrap
from doubletrouble.figures import _bagging, _equivalences
from doubletrouble.figures._bagging import (
    BEST,
    PARTS,
    Bagging,
    bag_styles,
    part_of,
    table,
)
from doubletrouble.figures._committee import CommitteeWeights, committee_data, errors
from doubletrouble.figures._equivalences import (
    Equivalences,
    linear_error,
    members,
)
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Member, Problem
from doubletrouble.simulation import simulate_committee
from doubletrouble.theory import exact_error, optimal_ridge

bagging_data = _bagging.FIGURE.compute
equivalences_data = _equivalences.FIGURE.compute

TINY: dict[str, Any] = {"dim": 40, "n_data": 2, "seed": 3}
# P = 10 N, F/τ = 1 and 10; all but the bootstrap also by hand, from the formulas without a penalty
AT_THE_WIDEST = {
    "ensemble": (0.7431, 0.2981),
    "subsample_0.8": (0.6723, 0.3679),
    "bootstrap": (0.6489, 0.4451),
    "subsample_0.5": (0.6581, 0.5212),
    "divide": (0.8735, 0.8671),
    BEST: (0.6235, 0.2981),
}


@pytest.fixture(scope="module")
def bags() -> Bagging:
    return bagging_data(simulated_ratios=(0.4, 1.2, 2), **TINY)


@pytest.fixture(scope="module")
def paths() -> Equivalences:
    return equivalences_data(
        ratio_range=(0.1, 10.0, 21),
        ridge_range=(1e-3, 10.0, 21),
        fraction_range=(0.1, 1.0, 11),
        **TINY,
    )


@pytest.fixture(scope="module")
def voters() -> CommitteeWeights:
    return committee_data(snr_range=(0.5, 10.0, 21), dim=20, n_data=2)


# --- bagging -------------------------------------------------------------------------------------


def test_bags_of_wide_members_help_with_noisy_labels_and_hurt_with_clean_ones(
    bags: Bagging,
) -> None:
    for place, panel in enumerate(bags.panels):
        found = {line.label: float(line.y[-1]) for line in panel.lines}
        assert found == pytest.approx({k: v[place] for k, v in AT_THE_WIDEST.items()}, abs=6e-5)
    noisy, clean = bags.panels
    for name in ("subsample_0.8", "bootstrap", "subsample_0.5"):
        assert noisy.line(name).y[-1] < 0.92 * noisy.line("ensemble").y[-1]
        assert clean.line(name).y[-1] > 1.2 * clean.line("ensemble").y[-1]


def test_each_scheme_peaks_where_its_members_have_as_many_features_as_samples(
    bags: Bagging,
) -> None:
    shares = {"ensemble": 1.0, "subsample_0.8": 0.8, "bootstrap": 1 - math.exp(-1), "divide": 0.1}
    for panel in bags.panels:
        for name, share in shares.items():
            line = panel.line(name)
            assert line.x[np.argmax(line.y)] == pytest.approx(10 * share, rel=0.01)


def test_all_samples_with_the_best_penalty_are_never_worse(bags: Bagging) -> None:
    for panel in bags.panels:
        for line in panel.lines:
            assert np.all(panel.line(BEST).y <= line.y * (1 + 1e-9))


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_not_even_if_the_others_choose_theirs(noise: float) -> None:
    widths = np.geomspace(0.03, 10.0, 13)
    free = Problem(features_per_dim=widths, ridge=np.geomspace(1e-6, 1e2, 41)[:, None], noise=noise)
    whole = np.asarray(optimal_ridge(replace(free, ridge=1.0), 10).error.total)
    for one in bag_styles((0.8, 0.5), 10).values():
        found = exact_error(free, one.ensemble).total
        assert np.all(whole <= np.min(found, axis=0) * (1 + 1e-9))
    # the control: it is the penalty, not the samples
    bag = exact_error(replace(free, ridge=1e-5), Bootstrap(10)).total
    assert np.any(bag < 0.9 * np.asarray(exact_error(replace(free, ridge=1e-5), 10).total))


def test_fewer_samples_are_more_bias_and_less_noise_and_the_choice_costs_nothing(
    bags: Bagging,
) -> None:
    for split in bags.splits:
        parts = {k: {p: part_of(e, p) for p in PARTS} for k, e in split.items()}
        for name, found in parts.items():
            assert sum(found.values()) == pytest.approx(float(split[name].total), rel=1e-12)
            assert found["resampling"] <= 0.013 * sum(found.values())
        ordered = [parts[k] for k in ("ensemble", "subsample_0.8", "bootstrap", "subsample_0.5")]
        for more, fewer in pairwise(ordered):
            assert fewer["bias"] > more["bias"]
            assert fewer["noise"] < more["noise"]
            assert fewer["resampling"] > more["resampling"]


def test_costs_of_training_are_told(bags: Bagging) -> None:
    distinct = 1 - math.exp(-1)
    assert bags.costs == pytest.approx(
        {
            "ensemble": 1.0,
            "subsample_0.8": 0.64,
            "bootstrap": distinct**2,
            "subsample_0.5": 0.25,
            "divide": 0.01,
            BEST: 1.0,
        }
    )


def test_one_simulation_serves_every_noise(bags: Bagging) -> None:
    alone = bagging_data(snrs=[10.0], simulated_ratios=(0.4, 1.2, 2), **TINY)
    for p, q in zip(bags.panels[1].points, alone.panels[0].points, strict=True):
        np.testing.assert_array_equal(p.value, q.value)
        np.testing.assert_allclose(p.value, p.theory, rtol=0.5)
    columns, rows = table(alone)
    assert {len(row) for row in rows} == {len(columns)}
    assert rows[-1][1] == pytest.approx(20.0)


# --- equivalences --------------------------------------------------------------------------------


def off_the_curve(problem: Problem, rho: FloatArray, error: FloatArray) -> float:
    return float(np.max(np.abs(error / linear_error(problem, rho) - 1)))


def test_width_samples_and_penalty_are_one_ridge(paths: Equivalences) -> None:
    for found in (*paths.planes, *paths.paths):
        assert off_the_curve(paths.problem, found.effective, found.total) < 1e-12


def test_a_nonlinear_part_of_the_teacher_is_noise_to_the_ridge(paths: Equivalences) -> None:
    at = replace(paths.problem, nonlinear_signal=0.7)
    linear, bent = (members(one, "any", 2.0, [0.4, 0.9], 0.1) for one in (paths.problem, at))
    np.testing.assert_array_equal(linear.effective, bent.effective)
    assert off_the_curve(at, bent.effective, bent.total) < 1e-12
    assert np.all(bent.total > linear.total + 0.4)


def test_a_bootstrap_is_the_same_ridge(paths: Equivalences) -> None:
    at = replace(paths.problem, features_per_dim=np.array([0.5, 2.0, np.inf]), ridge=0.01)
    found = exact_error(at, Bootstrap(math.inf))
    u = np.sqrt(found.bias)
    assert off_the_curve(at, u / (1 - u) - u, np.asarray(found.total)) < 1e-12


def test_finitely_many_members_are_not(paths: Equivalences) -> None:
    at = replace(paths.problem, features_per_dim=np.array([0.5, 2.0]), ridge=0.01)
    few = exact_error(at, 10)
    u = np.sqrt(few.bias)
    assert off_the_curve(at, u / (1 - u) - u, np.asarray(few.total)) > 0.01
    many = exact_error(at, math.inf)
    assert off_the_curve(at, u / (1 - u), np.asarray(many.total)) > 0.01  # another ridge


@pytest.mark.parametrize(
    ("ratio", "fraction", "ridge"),
    [(0.606547, 1.0, 0.0), (math.inf, 0.606547, 0.0), (math.inf, 1.0, 0.1591549431)],
)
def test_each_alone_reaches_the_best_linear_predictor(
    ratio: float, fraction: float, ridge: float
) -> None:
    found = members(Problem(), "any", ratio, fraction, ridge)
    assert float(found.effective) == pytest.approx(1.0, abs=2e-6)
    assert float(found.total) == pytest.approx(0.618034, abs=1e-6)


def test_without_a_penalty_the_smaller_of_features_and_samples_counts() -> None:
    for ratio, fraction in ((0.4, 0.7), (0.4, 1.0), (math.inf, 0.4), (3.0, 0.4)):
        found = members(Problem(), "any", ratio, fraction, 0.0)
        assert float(found.effective) == pytest.approx(
            float(members(Problem(), "any", 0.4, 1.0, 0.0).effective), rel=1e-12
        )


def test_simulations_are_near_the_curve(paths: Equivalences) -> None:
    for points in paths.points:
        np.testing.assert_allclose(points.value, points.theory, rtol=0.2)
        assert off_the_curve(paths.problem, points.x, points.theory) < 1e-12


# --- committee -----------------------------------------------------------------------------------


def test_whoever_has_as_many_features_as_samples_gets_no_weight(voters: CommitteeWeights) -> None:
    at = int(np.flatnonzero(voters.widths == 1.0)[0])
    for weights in voters.by_snr.values():
        assert weights[at] == 0
        assert weights.sum() == pytest.approx(1.0)
    without, *with_penalty = (weights[at] for weights in voters.by_ridge.values())
    assert without == 0
    assert 0.02 < with_penalty[0] < with_penalty[1]


def test_narrow_members_are_trusted_by_noise_and_subtracted_without(
    voters: CommitteeWeights,
) -> None:
    ends = {snr: (w[0], w[-1]) for snr, w in voters.by_snr.items()}
    assert ends[1.0] == pytest.approx((0.228, 0.283), abs=1e-3)
    assert ends[10.0] == pytest.approx((-0.096, 0.601), abs=1e-3)
    _, _, penalized = voters.by_ridge.values()
    assert penalized[0] < 0.3 * ends[1.0][0]


def test_the_best_weights_gain_and_equal_ones_may_lose(voters: CommitteeWeights) -> None:
    equal, single, best = (voters.gain.line(k).y for k in ("equal", "single", "optimal"))
    assert np.all(best < 0.86 * np.minimum(equal, single))
    assert equal[-1] > 1.2 * single[-1]  # clean labels
    middle = int(np.argmin(np.abs(voters.gain.lines[0].x - 1)))
    assert equal[middle] < 0.9 * single[middle]
    team = [Member(features_per_dim=w, samples_per_dim=1.0, ridge=1e-3) for w in voters.widths]
    found = errors(team, np.array([1.0, 10.0]))
    np.testing.assert_allclose(found["optimal"], [0.7332, 0.3460], atol=6e-5)
    np.testing.assert_allclose(found["equal"], [0.8994, 0.4971], atol=6e-5)


def test_two_simulations_of_a_committee_serve_every_noise() -> None:
    team = [Member(features_per_dim=w, samples_per_dim=1.0, ridge=0.01) for w in (0.5, 2.0)]
    signal, noise, both = (
        simulate_committee(team, signal=s, noise=n, dim=20, n_data=3, progress=False).draws
        for s, n in ((1.0, 0.0), (0.0, 1.0), (1.0, 0.5))
    )
    np.testing.assert_allclose(signal + noise / 4, both, rtol=1e-12)
