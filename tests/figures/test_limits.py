"""The figures of the appendix and beyond the paper: laws, minima, interactions, borders."""

import math

import numpy as np
import pytest

from doubletrouble.figures import (
    _anova,
    _asymptotics,
    _divide_and_conquer,
    _ensemble_or_regularize_map,
    _under_or_over,
)
from doubletrouble.figures._anova import DIVERGING, FINITE
from doubletrouble.figures._asymptotics import slopes, table

anova_data = _anova.FIGURE.compute
asymptotics_data = _asymptotics.FIGURE.compute
divide_and_conquer_data = _divide_and_conquer.FIGURE.compute
map_data = _ensemble_or_regularize_map.FIGURE.compute
under_or_over_data = _under_or_over.FIGURE.compute


def test_slopes_are_minus_one() -> None:
    far, near = (slopes(panel) for panel in asymptotics_data())
    assert set(far) == {"noise", "initialization", "sampling", "bias"}
    assert all(slope == pytest.approx(-1, abs=0.02) for slope in far.values())
    for cause in ("noise", "initialization"):
        assert near[cause] == pytest.approx(-1, abs=0.02)
        assert near[f"law_{cause}"] == pytest.approx(-1, abs=1e-12)


def test_law_is_exact_without_a_penalty() -> None:
    _, near = asymptotics_data(ridge=0.0, noise=0.7, signal=1.3)
    for cause in ("noise", "initialization"):
        # the value above the limit is a difference of two numbers that grow alike
        np.testing.assert_allclose(near.line(cause).y, near.line(f"law_{cause}").y, rtol=1e-11)


def test_penalty_limits_the_divergence() -> None:
    _, near = asymptotics_data()
    for cause in ("noise", "initialization"):
        value, law = near.line(cause).y, near.line(f"law_{cause}").y
        assert np.all(value < law)
        assert value[0] < law[0] / 10
        assert value[-1] == pytest.approx(law[-1], rel=1e-3)


def test_table_of_the_laws_has_both_axes() -> None:
    columns, rows = table(asymptotics_data(far=[10.0, 100.0], near=[0.1, 1.0, 10.0]))
    assert len(rows) == 5
    assert {len(row) for row in rows} == {len(columns)}
    assert all(row[0] == pytest.approx(row[1] + 1) for row in rows)


def test_divided_data_have_an_earlier_peak_and_less_noise() -> None:
    clean, noisy = divide_and_conquer_data()
    for panel in (clean, noisy):
        for label, peak in (("single", 1.0), ("ensemble", 1.0), ("divide", 0.5)):
            line = panel.line(label)
            assert line.x[np.argmax(line.y)] == pytest.approx(peak, rel=0.02)
            limit = panel.limits["divide" if label == "divide" else "ensemble"]
            assert line.y[-1] == pytest.approx(limit, rel=0.03)
    assert clean.limits["divide"] > 1.5 * clean.limits["ensemble"]
    assert noisy.limits["divide"] < 0.95 * noisy.limits["ensemble"]


def test_more_members_and_more_noise_move_the_minimum_below_the_threshold() -> None:
    members, snrs, _ = under_or_over_data()
    by_k = {curve.n_members: curve.best for curve in members.curves}
    assert math.isinf(by_k[1])
    assert math.isinf(by_k[10])
    assert 0.5 < by_k[100] < by_k[math.inf] < 1
    # closed form for infinitely many members as the penalty vanishes
    assert by_k[math.inf] == pytest.approx(0.606547, abs=0.02)
    by_snr = {curve.snr: curve.best for curve in snrs.curves}
    assert by_snr[0.5] < 1
    assert math.isinf(by_snr[2.0])


def test_fewer_samples_move_the_minimum_only_where_labels_are_noisy_enough() -> None:
    *_, papers = under_or_over_data()
    assert all(math.isinf(curve.best) for curve in papers.curves)
    *_, noisier = under_or_over_data(third_snr=0.6)
    best = {curve.samples_per_dim: curve.best for curve in noisier.curves}
    assert best[0.3] < 1
    assert best[1.0] < 1
    assert math.isinf(best[10.0])


def test_with_infinitely_many_members_only_the_noise_decides() -> None:
    def dips(snr: float, samples: float) -> bool:
        curves = under_or_over_data(n_members=[math.inf], middle=(2, snr, samples), ridge=1e-9)[
            0
        ].curves
        return curves[0].best < 0.999

    for samples in (0.3, 1.0, 3.0):
        assert dips(1.4, samples)
        assert not dips(2.0, samples)


def test_only_interactions_with_the_features_diverge() -> None:
    weak, weaker = (anova_data(ridge=ridge, ratios=[1.0]) for ridge in (1e-5, 1e-11))
    for name in DIVERGING:
        assert weaker.line(name).y[0] > 500 * weak.line(name).y[0]
    for name in FINITE:
        assert weaker.line(name).y[0] == pytest.approx(weak.line(name).y[0], rel=0.02)


def test_map_has_the_known_border() -> None:
    data = map_data(ratio_range=(0.1, 1e6, 29), snr_range=(0.3, 10.0, 61))
    assert np.all(data.excess[-1] < 1e-9)  # clean labels: the ensemble is never worse
    assert data.excess[0, -1] > 1
    assert data.threshold == pytest.approx(math.sqrt(2.75193839), rel=1e-6)
    worse = data.snrs[data.excess[:, -1] > 1e-4]
    assert 0.9 * data.threshold < worse.max() < data.threshold
    border = [data.snrs[column > 0].max(initial=0.0) for column in data.excess.T]
    assert np.all(np.diff(border) >= 0)  # the more features, the sooner a penalty is better


def test_signal_to_noise_ratio_must_be_positive() -> None:
    for call in (divide_and_conquer_data, under_or_over_data):
        with pytest.raises(ValueError, match="snr must be positive"):
            call(snrs=[0.0])
