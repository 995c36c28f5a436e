"""The figure on bagging: peaks, the best penalty, parts and costs."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from doubletrouble.ensembles import Bootstrap
from doubletrouble.figures import _bagging
from doubletrouble.figures._bagging import BEST, PARTS, Bagging, bag_styles, part_of, table
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, optimal_ridge

bagging_data = _bagging.FIGURE.compute
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


def test_bags_of_wide_members_are_better_with_noisy_labels_only(bags: Bagging) -> None:
    for index, panel in enumerate(bags.panels):
        result = {line.label: float(line.y[-1]) for line in panel.lines}
        assert result == pytest.approx({k: v[index] for k, v in AT_THE_WIDEST.items()}, abs=6e-5)
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
def test_all_samples_with_the_best_penalty_are_never_worse_than_bags_with_theirs(
    noise: float,
) -> None:
    widths = np.geomspace(0.03, 10.0, 13)
    free = Problem(features_per_dim=widths, ridge=np.geomspace(1e-6, 1e2, 41)[:, None], noise=noise)
    whole = np.asarray(optimal_ridge(replace(free, ridge=1.0), 10).error.total)
    for one in bag_styles((0.8, 0.5), 10).values():
        result = exact_error(free, one.ensemble).total
        assert np.all(whole <= np.min(result, axis=0) * (1 + 1e-9))
    # the control: it is the penalty, not the samples
    bag = exact_error(replace(free, ridge=1e-5), Bootstrap(10)).total
    assert np.any(bag < 0.9 * np.asarray(exact_error(replace(free, ridge=1e-5), 10).total))


def test_fewer_samples_have_more_bias_and_less_noise(bags: Bagging) -> None:
    for split in bags.splits:
        parts = {k: {p: part_of(e, p) for p in PARTS} for k, e in split.items()}
        for name, result in parts.items():
            assert sum(result.values()) == pytest.approx(float(split[name].total), rel=1e-12)
            assert result["resampling"] <= 0.013 * sum(result.values())
        ordered = [parts[k] for k in ("ensemble", "subsample_0.8", "bootstrap", "subsample_0.5")]
        for more, fewer in pairwise(ordered):
            assert fewer["bias"] > more["bias"]
            assert fewer["noise"] < more["noise"]
            assert fewer["resampling"] > more["resampling"]


def test_cost_is_the_square_of_the_share_of_distinct_samples(bags: Bagging) -> None:
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


def test_points_are_compared_with_the_theory_at_their_noise(bags: Bagging) -> None:
    for panel, noise in zip(bags.panels, (1.0, 0.1), strict=True):
        points = panel.points[0]
        at = Problem(features_per_dim=points.x / 10, ridge=1e-5, noise=noise)
        np.testing.assert_allclose(points.theory, exact_error(at, 10).total, rtol=1e-12)


def test_points_do_not_depend_on_the_other_panels(bags: Bagging) -> None:
    alone = bagging_data(snrs=[10.0], simulated_ratios=(0.4, 1.2, 2), **TINY)
    for p, q in zip(bags.panels[1].points, alone.panels[0].points, strict=True):
        np.testing.assert_array_equal(p.value, q.value)
        np.testing.assert_allclose(p.value, p.theory, rtol=0.5)
    columns, rows = table(alone)
    assert {len(row) for row in rows} == {len(columns)}
    assert rows[-1][1] == pytest.approx(20.0)
