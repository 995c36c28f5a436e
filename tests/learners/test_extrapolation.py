"""Curves through measured rungs: exact laws, rises, and parts that add up."""

from typing import Any

import numpy as np
import pytest

from doubletrouble.learners._extrapolation import (
    Extrapolation,
    Falls,
    TotalCurve,
    VariancePower,
    total_curve,
)
from doubletrouble.learners._windows import Bags, Measurement, Measurements, RowMultipliers

RUNGS = (1, 2, 4, 6, 9)
N_ROWS = 500


def measured(mean: float, noise: float = 0.02, seed: int = 0) -> Measurement:
    """Rows and windows around a mean."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal(N_ROWS)
    windows = rng.standard_normal(10)
    rows, windows = (values - values.mean() for values in (rows, windows))
    return Measurement(by_row=mean + 10 * noise * rows, windows=mean + noise * windows)


def curve_of(known: dict[int, Measurement], floor: float | None = None) -> TotalCurve:
    rows = RowMultipliers(N_ROWS, 0)
    falls = Falls.of(known, rows)
    return total_curve(falls, known[9], rows, np.random.default_rng(0), floor)


def totals(curve: dict[int, float], noise: float = 0.002) -> dict[int, Measurement]:
    return {rung: measured(mean, noise, rung) for rung, mean in curve.items()}


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_curve_covers_the_power_law_it_is_given(alpha: float) -> None:
    known = {rung: 0.4 + 0.3 * (rung / 10) ** -alpha for rung in RUNGS}
    curve = curve_of(totals(known))
    for x in (1.0, 2.0, 4.0):
        expected = 0.4 + 0.3 * x**-alpha
        low, high = np.quantile(curve.at(x), [0.05, 0.95])
        assert low < expected < high
        assert np.mean(curve.at(x)) == pytest.approx(expected, rel=0.06)


def test_a_flat_curve_stays_flat_and_has_an_interval_on_both_sides() -> None:
    curve = curve_of(totals(dict.fromkeys(RUNGS, 1.0)))
    low, high = np.quantile(curve.at(4.0) / curve.at(1.0), [0.05, 0.95])
    assert low < 1.0 < high
    assert high - low < 0.2


def test_curves_that_end_below_the_known_noise_are_left_out() -> None:
    known = {rung: 0.1 + 0.9 * (rung / 10) ** -0.5 for rung in RUNGS}
    free, bounded = curve_of(totals(known)), curve_of(totals(known), floor=0.3)

    def end(curve: TotalCurve) -> Any:
        shape = (1000.0**-curve.alpha - 0.9**-curve.alpha) / (0.1**-curve.alpha - 1)
        return known[9] + curve.fall * shape

    assert np.mean(end(free) < 0.3) > 0.3
    assert end(bounded).min() >= 0.3


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_a_curve_that_falls_to_the_known_noise_is_recognized(alpha: float) -> None:
    def off(limit: float, floor: float | None) -> Any:
        """The deviations of draws at four times the rows."""
        known = {rung: limit + (1 - limit) * (rung / 10) ** -alpha for rung in RUNGS}
        return curve_of(totals(known), floor).at(4.0) - limit - (1 - limit) * 4.0**-alpha

    assert abs(np.mean(off(0.2, 0.2))) < 0.75 * np.mean(off(0.2, None))
    low, high = np.quantile(off(0.6, 0.0), [0.05, 0.95])  # a limit above the noise
    assert low < 0 < high


def test_forecasts_widen_with_the_number_of_rows_even_for_exact_falls() -> None:
    known = {rung: 0.4 + 0.3 * (rung / 10) ** -0.5 for rung in RUNGS}
    curve = curve_of(totals(known, 1e-6))
    gains = {x: 1 - curve.at(x) / curve.at(1.0) for x in (2.0, 4.0)}
    assert np.std(gains[4.0]) > np.std(gains[2.0])
    assert np.std(gains[4.0]) / np.mean(gains[4.0]) > 0.25  # the misfit of the form


def test_a_rise_between_sizes_is_found_and_a_fall_is_not() -> None:
    rows = RowMultipliers(N_ROWS, 0)
    peak = Falls.of(totals({1: 2.0, 2: 1.5, 4: 1.2, 6: 1.6, 9: 2.5}, 0.02), rows)
    assert peak.rise() == (6, 9)
    fall = Falls.of(totals({1: 2.0, 2: 1.5, 4: 1.2, 6: 1.1, 9: 1.0}, 0.02), rows)
    assert fall.rise() is None


def test_a_plateau_at_small_sizes_is_left_out() -> None:
    plateau = {1: 1.02, 2: 1.0, 4: 0.6, 6: 0.45, 9: 0.35}
    curve = curve_of(totals(plateau))
    assert curve.dropped == (1,)


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_variance_power_covers_the_law_it_is_given(gamma: float) -> None:
    x = np.array([0.1, 0.2, 0.4, 0.6])
    values = 0.2 * x**-gamma
    power = VariancePower.fitted(x, values, (0.05 * values) ** 2, np.random.default_rng(0))
    low, high = np.quantile(power.at(1.0), [0.05, 0.95])
    assert low < 0.2 < high
    assert np.mean(power.at(1.0)) == pytest.approx(0.2, rel=0.15)


def test_a_variance_below_its_noise_is_not_far_from_zero() -> None:
    x = np.array([0.1, 0.2, 0.4, 0.6])
    values = np.array([0.01, -0.02, 0.005, -0.01])
    power = VariancePower.fitted(x, values, np.full(4, 0.02**2), np.random.default_rng(0))
    assert np.quantile(power.at(1.0), 0.95) < 0.03


def measurements(
    *,
    sampling: dict[int, float],
    shared: dict[int, float],
    seeds: dict[int, float],
    total: dict[int, float] | None = None,
) -> Measurements:
    return Measurements(
        total=totals(total or dict.fromkeys(RUNGS, 1.0), 0.002),
        initialization={rung: measured(mean, 0.001, rung) for rung, mean in seeds.items()},
        sampling={rung: measured(mean, 0.001, rung) for rung, mean in sampling.items()},
        shared={rung: measured(mean, 0.001, rung) for rung, mean in shared.items()},
        bags=Bags(measured(1.0), measured(0.5)),
    )


def test_draws_of_variances_rarely_need_to_be_cut_to_the_total() -> None:
    known = Extrapolation.of(
        measurements(
            sampling=dict.fromkeys((1, 2, 4), 0.4),
            shared={4: 0.25, 6: 0.25},
            seeds=dict.fromkeys(RUNGS, 0.5),
        ),
        RowMultipliers(N_ROWS, 0),
        seed=0,
    )
    total, *variances = (
        part.at(1.0) for part in (known.total, known.initialization, known.sampling)
    )
    assert np.mean(sum(variances) > total) < 0.01


@pytest.mark.parametrize("excess", [1.0, 1.3])
def test_the_overlap_law_is_corrected_where_sampling_is_known(excess: float) -> None:
    """D such that the law gives `excess` times the truth, 0.2 at 0.4 and 0.15 at 0.6."""

    def shared(truth: float) -> float:  # D / (1/2 + D/2) = excess * truth, A = 1
        law = excess * truth
        return 0.5 * law / (1 - 0.5 * law)

    known = Extrapolation.of(
        measurements(
            sampling={1: 0.5, 2: 0.32, 4: 0.2},
            shared={4: shared(0.2), 6: shared(0.15)},
            seeds={},
        ),
        RowMultipliers(N_ROWS, 0),
        seed=0,
    )
    assert np.mean(known.sampling.at(0.6)) == pytest.approx(0.15, rel=0.06)
    assert known.law_excess == pytest.approx(np.log(excess), abs=0.03)


@pytest.mark.parametrize(
    ("seeds", "near"),
    [
        ((0.5, 0.4, 0.3, 0.3, 0.45), True),  # grows after a fall
        ((0.05, 0.1, 0.2, 0.3, 0.7), True),  # grows strongly
        ((0.5, 0.4, 0.3, 0.3, 0.3), False),
        ((0.5, 0.45, 0.4, 0.35, 0.3), False),
        ((0.05, 0.04, 0.03, 0.03, 0.1), False),  # is small
    ],
)
def test_growing_variance_over_seeds_withholds_more_data(seeds: Any, near: bool) -> None:
    parts = measurements(
        sampling=dict.fromkeys((1, 2, 4), 0.1),
        shared={4: 0.05, 6: 0.05},
        seeds=dict(zip(RUNGS, seeds, strict=True)),
    )
    known = Extrapolation.of(parts, RowMultipliers(N_ROWS, 0), seed=0)
    assert bool(known.withheld) is near
    if near:
        assert np.mean(known.parts(1.0)[1]) == pytest.approx(seeds[-1], rel=0.02)


def test_more_data_does_not_increase_a_variance() -> None:
    x = np.array([0.1, 0.2, 0.4, 0.6])
    power = VariancePower.fitted(x, 0.2 * x**0.3, np.full(4, 1e-4), np.random.default_rng(0))
    assert np.all(power.at(4.0) <= power.at(1.0))


def test_multipliers_have_the_variance_of_a_mean_and_is_shared() -> None:
    one = measured(1.0, 0.1)
    rows = RowMultipliers(N_ROWS, 3)
    expected = 1.25 * one.by_row.std(ddof=1) / np.sqrt(N_ROWS)  # 1.25: see _extrapolation
    assert rows.draws(rows.deviations(one)).std() == pytest.approx(expected, rel=0.1)
    again = RowMultipliers(N_ROWS, 3)
    assert np.array_equal(rows.draws(rows.deviations(one)), again.draws(again.deviations(one)))


def test_groups_are_the_units_of_multipliers() -> None:
    groups = np.repeat(np.arange(50), 10)
    same = Measurement(
        by_row=np.repeat(np.random.default_rng(0).normal(size=50), 10), windows=np.ones(10)
    )
    by_row, by_group = RowMultipliers(N_ROWS, 0), RowMultipliers(N_ROWS, 0, groups)
    ratio = (
        by_group.draws(by_group.deviations(same)).std()
        / by_row.draws(by_row.deviations(same)).std()
    )
    assert ratio == pytest.approx(np.sqrt(10), rel=0.15)
