"""The figures on power-law data: exponents, phases, frontiers and equal numbers of features."""

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.figures import (
    _frontier,
    _no_free_lunch,
    _phases,
    _power_law_peak,
    _scaling_laws,
)
from doubletrouble.figures._decomposition import CAUSES


def test_lines_have_the_slopes_that_are_marked() -> None:
    paths = _scaling_laws.FIGURE.compute(size_range=(1e9, 1e11, 2))
    assert [(path.power, path.regime) for path in paths] == [
        (0.7, "samples"), (1.4, "features"), (0.7, "noise"), (1.4, "noise"),
    ]  # fmt: skip
    for path in paths:
        for line in path.lines:
            if line.label != "total":
                slope = float(np.diff(np.log10(line.y))[0] / 2)
                assert slope == pytest.approx(path.asymptotic[line.label], abs=0.02), line.label
    a, b, c = 0.7, 2.4, 1.5  # N = P^a without ridge, z = N
    law = {"noise": 0.0, "initialization": a * (1 - c) - 1, "sampling": -a * b, "bias": -a * b}
    assert {name: paths[0].asymptotic[name] for name in CAUSES} == pytest.approx(law)


def test_dominating_causes_are_those_of_the_caption() -> None:
    data = _phases.FIGURE.compute(size_range=(1e2, 1e12, 11))
    maps = {(m.noise > 0, m.n_members): m.dominant for m in data.maps}
    corners = {"samples": (10, 0), "features": (0, 10), "ridge": (10, 10)}  # of P and N
    for name, (row, column) in corners.items():
        z = {k: np.broadcast_to(v, (11, 11))[row, column] for k, v in data.limits.items()}
        assert min(z, key=lambda k: float(z[k])) == name
    found = {
        key: [CAUSES[chosen[corners[name]]] for name in corners] for key, chosen in maps.items()
    }
    assert found == {
        (True, 1.0): ["noise", "initialization", "noise"],
        (True, np.inf): ["noise", "bias", "noise"],
        (False, 1.0): ["sampling", "initialization", "initialization"],
        (False, np.inf): ["sampling", "bias", "bias"],
    }


def test_sampling_is_capacity_less_one_times_the_bias_where_samples_limit_the_fit() -> None:
    for capacity in (1.5, 2.5):
        law = dt.SpectralProblem.from_law(
            dt.PowerLaw(capacity=capacity, source=0.6), n_features=np.inf, n_samples=1e6
        )
        error = dt.exact_error(law)
        assert error.sampling / error.bias == pytest.approx(capacity - 1, rel=1e-3)


def test_ensembles_reduce_the_cost_of_direct_solvers_only() -> None:
    direct, iterative, parallel = _frontier.FIGURE.compute(compute_range=(1e12, 1e24, 3))
    one = direct.frontier.one_model
    assert one is not None
    ratio = np.asarray(one.error.total / direct.frontier.error.total)
    assert ratio[[0, -1]] == pytest.approx([2.64, 8.81], rel=1e-2)
    assert direct.frontier.n_members[[0, -1]] == pytest.approx([81, 3937], rel=0.05)
    features = direct.frontier.n_members * direct.frontier.n_features / one.n_features
    assert features[[0, -1]] == pytest.approx([7, 31], rel=0.05)
    assert np.all(iterative.frontier.n_members == 1)
    assert np.all(np.isinf(parallel.frontier.n_members))
    for panel in (direct, iterative, parallel):
        frontier = panel.frontier
        assert frontier.asymptotic is not None
        ends = np.log(np.asarray(frontier.error.total))[[0, -1]]
        assert np.diff(ends)[0] / np.log(1e12) == pytest.approx(frontier.asymptotic.total, abs=0.01)
    assert iterative.frontier.asymptotic is not None
    assert iterative.frontier.asymptotic.n_members == pytest.approx(0.0, abs=1e-6)


def test_one_model_is_better_at_the_best_ridge_only() -> None:
    data = _no_free_lunch.FIGURE.compute(best_range=(0.1, 100.0, 4), total_range=(0.1, 100.0, 31))
    assert data.best.ratio[1:].min() > 1
    assert data.best.ratio.max() == pytest.approx(33.1, rel=0.01)
    k, x = np.unravel_index(np.argmin(data.fixed.ratio), data.fixed.ratio.shape)
    assert (data.fixed.n_members[k], data.fixed.totals[x]) == (3.0, pytest.approx(1.0))
    assert data.fixed.ratio[k, x] == pytest.approx(0.358, rel=1e-3)
    spectra = data.spectra
    assert (spectra.worse_steps, spectra.steps, spectra.better_ensembles) == (180, 180, 18)


def test_peak_of_power_law_data_is_lower_and_made_of_noise() -> None:
    panels = _power_law_peak.FIGURE.compute(ratio_range=(0.1, 100.0, 61))
    small = {panel.data: panel for panel in panels if not panel.best_ridge}
    heights = {}
    for name, panel in small.items():
        total = panel.line("total")
        at = int(np.argmax(total.y))
        assert total.x[at] == pytest.approx(1.0)
        heights[name] = {line.label: float(line.y[at]) for line in panel.lines}
    isotropic, law = heights["isotropic"], heights["power-law"]
    assert (isotropic["total"], law["total"]) == pytest.approx((65.905, 3.2017), rel=1e-3)
    assert isotropic["initialization"] / isotropic["total"] == pytest.approx(0.83, abs=0.005)
    assert law["noise"] / law["total"] == pytest.approx(0.94, abs=0.005)
    for panel in panels:
        if panel.best_ridge:
            assert np.all(np.diff(panel.line("total").y) < 0)  # no peak


def test_both_targets_of_the_peak_have_unit_power() -> None:
    one = _power_law_peak.FIGURE.compute(ratio_range=(1e-6, 1e-6, 1))  # nothing is learned
    assert [float(panel.line("total").y[0]) for panel in one] == pytest.approx([1.0] * 4, rel=1e-3)
