"""Curves through measured rungs: exact laws, rises, and parts that add up."""

import numpy as np
import pytest

from doubletrouble.diagnosis._extrapolation import (
    Extrapolation,
    Falls,
    RowNoise,
    VariancePower,
    total_curve,
)
from doubletrouble.diagnosis._measurements import Bags, Measurement, Measurements

RUNGS = (1, 2, 4, 6, 9)
N_ROWS = 500


def measured(mean: float, noise: float = 0.02, seed: int = 0) -> Measurement:
    """Rows and windows around a mean."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal(N_ROWS)
    windows = rng.standard_normal(10)
    rows, windows = (values - values.mean() for values in (rows, windows))
    return Measurement(rows=mean + 10 * noise * rows, windows=mean + noise * windows)


def totals(curve: dict[int, float], noise: float = 0.002) -> dict[int, Measurement]:
    return {rung: measured(mean, noise, rung) for rung, mean in curve.items()}


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_curve_covers_the_power_law_it_is_given(alpha: float) -> None:
    known = {rung: 0.4 + 0.3 * (rung / 10) ** -alpha for rung in RUNGS}
    curve = total_curve(totals(known), RowNoise(N_ROWS, 0), np.random.default_rng(0))
    for x in (1.0, 2.0, 4.0):
        expected = 0.4 + 0.3 * x**-alpha
        low, high = np.quantile(curve.at(x), [0.05, 0.95])
        assert low < expected < high
        assert np.mean(curve.at(x)) == pytest.approx(expected, rel=0.06)


def test_a_flat_curve_stays_flat_and_has_an_interval_on_both_sides() -> None:
    curve = total_curve(
        totals(dict.fromkeys(RUNGS, 1.0)), RowNoise(N_ROWS, 0), np.random.default_rng(0)
    )
    low, high = np.quantile(curve.at(4.0) / curve.at(1.0), [0.05, 0.95])
    assert low < 1.0 < high
    assert high - low < 0.2


def test_no_curve_falls_below_the_known_noise() -> None:
    known = {rung: 0.1 + 0.9 * (rung / 10) ** -0.5 for rung in RUNGS}
    curve = total_curve(totals(known), RowNoise(N_ROWS, 0), np.random.default_rng(0), floor=0.3)
    assert curve.at(1000.0).min() >= 0.3


def test_a_rise_between_sizes_is_found_and_a_fall_is_not() -> None:
    noise = RowNoise(N_ROWS, 0)
    peak = Falls.of(totals({1: 2.0, 2: 1.5, 4: 1.2, 6: 1.6, 9: 2.5}, 0.02), noise)
    assert peak.rise() == (6, 9)
    fall = Falls.of(totals({1: 2.0, 2: 1.5, 4: 1.2, 6: 1.1, 9: 1.0}, 0.02), noise)
    assert fall.rise() is None


def test_a_plateau_at_small_sizes_is_left_out() -> None:
    plateau = {1: 1.02, 2: 1.0, 4: 0.6, 6: 0.45, 9: 0.35}
    curve = total_curve(totals(plateau), RowNoise(N_ROWS, 0), np.random.default_rng(0))
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


def test_variances_never_exceed_the_total() -> None:
    sampling = {rung: measured(0.9, 0.05, rung) for rung in (1, 2, 4)}
    all_parts = Measurements(
        total=totals(dict.fromkeys(RUNGS, 1.0), 0.02),
        initialization={rung: measured(0.6, 0.05, rung) for rung in RUNGS},
        sampling=sampling,
        shared={4: measured(0.2), 6: measured(0.2)},
        bags=Bags(measured(1.0), measured(0.5)),
    )
    known = Extrapolation.of(all_parts, RowNoise(N_ROWS, 0), seed=0)
    for x in (0.1, 0.5, 1.0, 4.0):
        total, seeds, sets = known.parts(x)
        assert np.all(seeds + sets <= total * (1 + 1e-12))
        assert np.all(seeds >= 0)


def test_row_noise_has_the_variance_of_a_mean_and_is_shared() -> None:
    one = measured(1.0, 0.1)
    noise = RowNoise(N_ROWS, 3)
    expected = 1.25 * one.rows.std(ddof=1) / np.sqrt(N_ROWS)  # 1.25: see _extrapolation
    assert noise.draws(noise.deviations(one)).std() == pytest.approx(expected, rel=0.1)
    again = RowNoise(N_ROWS, 3)
    assert np.array_equal(noise.draws(noise.deviations(one)), again.draws(again.deviations(one)))


def test_groups_are_the_units_of_row_noise() -> None:
    groups = np.repeat(np.arange(50), 10)
    same = Measurement(
        rows=np.repeat(np.random.default_rng(0).normal(size=50), 10), windows=np.ones(10)
    )
    by_row, by_group = RowNoise(N_ROWS, 0), RowNoise(N_ROWS, 0, groups)
    ratio = (
        by_group.draws(by_group.deviations(same)).std()
        / by_row.draws(by_row.deviations(same)).std()
    )
    assert ratio == pytest.approx(np.sqrt(10), rel=0.15)
