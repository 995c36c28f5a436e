"""Simulations beside a theory curve: stored, resumed, and without their O(1/D) deviation."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble import Problem
from doubletrouble.errors import DoubleTroubleError
from doubletrouble.figures import _committee, _double_descent, _term_by_term, make_figure
from doubletrouble.figures import _simulated as module
from doubletrouble.figures._figure import SIMULATIONS, FigureSpec
from doubletrouble.figures._panel import Line, Points, table
from doubletrouble.figures._settings import DrawSettings, SimulationSettings
from doubletrouble.figures._simulated import simulated, two_sizes
from doubletrouble.problems import Member
from doubletrouble.results import Estimate
from doubletrouble.runs import _executors
from doubletrouble.runs._executors import attempt
from doubletrouble.theory import exact_error
from tests.selection import full_beyond

double_descent_data = _double_descent.FIGURE.compute
term_by_term_data = _term_by_term.FIGURE.compute

TINY: dict[str, Any] = {"dim": 10, "n_data": 2, "n_init": 2, "seed": 3}
CURVE: dict[str, Any] = {"simulated_ratios": (0.5, 2.0, 3), **TINY}


class Counted:
    """Counts simulations; raises KeyboardInterrupt after a number of them."""

    def __init__(self, after: float = math.inf) -> None:
        self.calls, self.after = 0, after

    def __call__(self, *arguments: Any) -> Any:
        if self.calls >= self.after:
            raise KeyboardInterrupt
        self.calls += 1
        return attempt(*arguments)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counter = Counted()
    monkeypatch.setattr(_executors, "attempt", counter)
    return counter


def test_stored_curve_is_not_simulated_again(tmp_path: Path, counted: Counted) -> None:
    store = tmp_path / "store.sqlite"
    first = double_descent_data(store=store, **CURVE)
    assert counted.calls == 2  # at D and at D/2
    again = double_descent_data(store=store, **CURVE)
    assert counted.calls == 2
    alone = double_descent_data(**CURVE)
    assert counted.calls == 4
    for p, q, r in zip(first.points, again.points, alone.points, strict=True):
        np.testing.assert_array_equal(p.value, q.value)
        np.testing.assert_array_equal(p.value, r.value)
    double_descent_data(store=store, **{**CURVE, "seed": 4})
    assert counted.calls == 6


def test_stored_committee_is_not_simulated_again(tmp_path: Path, counted: Counted) -> None:
    options = {"store": tmp_path / "store.sqlite", "snr_range": (1, 10, 2), "dim": 10, "n_data": 2}
    first, again = (_committee.FIGURE.compute(**options).gain.points for _ in range(2))
    assert counted.calls == 2  # at D and at D/2
    for p, q in zip(first, again, strict=True):
        np.testing.assert_array_equal(p.value, q.value)


def test_committee_with_a_function_as_activation_is_simulated_and_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, calls = tmp_path / "store.sqlite", []
    monkeypatch.setattr(_committee, "simulate", lambda *team, **how: calls.append(how))
    sizes = DrawSettings(dim=10, n_data=2, store=store)
    _committee._run([Member(activation=np.tanh)], sizes)
    expected = {"dim": 10, "n_data": 2, "seed": 0}
    assert calls == [{"progress": False, **expected}]
    assert not store.exists()


def test_interrupted_run_continues_with_the_next_simulation(
    tmp_path: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FigureSpec, "_save_pictures", lambda *_: None)
    counted.after = 1
    with pytest.raises(KeyboardInterrupt):
        make_figure("double-descent", tmp_path, options=CURVE)
    assert (tmp_path / SIMULATIONS).exists()
    assert not (tmp_path / "double-descent.csv").exists()
    counted.after = math.inf
    make_figure("double-descent", tmp_path, options=CURVE)
    assert counted.calls == 2
    assert (tmp_path / "double-descent.csv").exists()


def test_failed_simulation_raises(tmp_path: Path) -> None:
    for store in (None, tmp_path / "store.sqlite"):
        with pytest.raises(DoubleTroubleError, match=r"a simulation failed: .*model"):
            simulated(Problem(), store=store, model="unknown", features_per_dim=[1.0], **TINY)


def test_widths_are_whole_at_both_sizes() -> None:
    settings = SimulationSettings(dim=20, n_data=2, n_init=2)
    ratios = [0.01, 0.11, 1.0, 3.33]
    runs = two_sizes(Problem(ridge=0.1), settings, ratios=ratios, model="gaussian")
    widths = np.asarray(runs.problem.features_per_dim)
    np.testing.assert_array_equal(widths, [0.1, 1.0, 3.3])
    np.testing.assert_array_equal(widths, np.asarray(runs.half.problem.features_per_dim))
    assert runs.half.dim == 10


@pytest.mark.parametrize(("dim", "samples"), [(15, 1.0), (10, 0.3)])
def test_sizes_that_cannot_be_halved_are_refused(dim: int, samples: float) -> None:
    with pytest.raises(ValueError, match="dim must be even"):
        two_sizes(
            Problem(samples_per_dim=samples), SimulationSettings(dim=dim, n_data=2), ratios=[1.0]
        )


def test_function_as_activation_is_simulated_and_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, calls = tmp_path / "store.sqlite", []
    monkeypatch.setattr(module, "simulate", lambda problem, **settings: calls.append(settings))
    simulated(Problem(activation=np.tanh), store=store, features_per_dim=[1.0], **TINY)
    assert calls == [{"ensembles": (), "progress": False, "features_per_dim": [1.0], **TINY}]
    assert not store.exists()


def test_extrapolation_removes_the_first_order_in_the_inverse_dimension() -> None:
    theory = Line("one_model", np.array([1.0]), np.array([3.0]))
    at, half = (
        Estimate(value=3 + 4 / dim, standard_error=error, n_draws=2)
        for dim, error in ((10, 0.1), (5, 0.2))
    )
    points = Points.extrapolated(theory, at, half, dim=10, n_data=2)
    assert points.z[0] == pytest.approx(4)
    assert points.limit[0] == pytest.approx(3)
    assert points.limit_error[0] == pytest.approx(math.hypot(0.2, 0.2))


@pytest.mark.statistical
@pytest.mark.parametrize("seed", full_beyond([0], range(3)))
def test_two_sizes_remove_the_deviation_of_finite_ones(seed: int) -> None:
    """Without the 1/D deviation, theory and simulation agree; another theory is the control."""
    settings = SimulationSettings(dim=40, n_data=120, n_init=2, seed=seed)
    runs = two_sizes(Problem(ridge=0.1), settings, ratios=[0.5, 1.0, 2.0], model="gaussian")
    x = np.asarray(runs.problem.features_per_dim)
    theory = Line("one_model", x, np.asarray(exact_error(runs.problem).total))
    points = runs.points(theory, lambda simulation: simulation.error().total)
    assert points.limit_z.max() < 5
    wrong = runs.points(theory._replace(y=0.9 * theory.y), lambda s: s.error().total)
    assert wrong.limit_z.max() > 10


def test_table_has_theory_and_simulation_in_one_row() -> None:
    panel = term_by_term_data(ratios=[0.5, 1.0], **CURVE)
    columns, rows = table([panel])
    assert columns[0] == "features_per_sample"
    assert len(rows) == 2 + 3
    assert len({len(row) for row in rows}) == 1
    simulated_column = columns.index("simulated_psi1")
    assert math.isnan(rows[0][simulated_column])
    for row, x, value in zip(rows[2:], panel.points[0].x, panel.points[0].value, strict=True):
        assert row[0] == x
        assert row[columns.index(f"simulated_{panel.points[0].label}")] == value
        assert all(map(math.isfinite, row))


def test_invalid_ranges_are_named() -> None:
    for bounds in ((0.0, 1.0, 2), (2.0, 1.0, 2), (1.0, 2.0, 0), (1.0, 2.0, 1.5), (1.0, 2.0)):
        with pytest.raises(ValueError, match="simulated_ratios must be"):
            term_by_term_data(simulated_ratios=bounds)
