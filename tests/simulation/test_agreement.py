"""Simulation against theory on the enumerated curves of `conformance`, in standard errors.

`make conformance` runs the same at larger sizes and for more seeds. Here the seed comes from
DOUBLETROUBLE_SEED, 0 unless set.
"""

import math
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from conformance.cases import ACROSS, CURVES, Curve
from conformance.compare import Sizes, compared, shrinking
from doubletrouble.simulation import SimulatedTerms

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))
REPEATS = 800
PARTS = ("noise", "initialization", "sampling", "bias", "total")
SMALL = Sizes(dims=(50, 100, 200), draws=(30, 16, 10))


@pytest.mark.statistical
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_agrees_with_theory(curve: Curve) -> None:
    rows = compared(curve, SEED, SMALL)
    assert len(rows) == 24 * len(curve.ratios)
    worst = max(rows, key=lambda row: abs(row.z))
    assert abs(worst.z) < 5, worst


@pytest.mark.statistical
def test_the_bias_is_of_order_one_over_dim() -> None:
    """Halved by doubling D, and clearly there at the smallest size."""
    curve = Curve(activation="relu", ridge=1e-2, ratios=(0.5, 2.0, 3.0))
    first, second, count = shrinking(
        compared(curve, SEED, Sizes(dims=(25, 50, 100), draws=(200, 100, 60)))
    )
    assert count > 5
    assert 0.35 < first < 0.65
    assert 0.3 < second < 0.75


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("activation", "wrong"), [("relu", "tanh"), ("tanh", "erf"), ("abs", "relu"), ("erf", "sin")]
)
def test_a_wrong_activation_is_noticed(activation: str, wrong: str) -> None:
    """Negative control: even neighbours are told apart."""
    rows = compared(Curve(activation=activation, ratios=(0.3, 3.0)), SEED, SMALL, activation=wrong)
    assert max(abs(row.t) for row in rows) > 10
    assert max(abs(row.z) for row in rows) > 5


def test_the_list_is_complete() -> None:
    assert {c.activation for c in CURVES if c.model == "features"} == {"relu", "tanh", "erf", "abs"}
    assert {c.model for c in CURVES} == {"features", "gaussian", "kernel"}
    assert min(ACROSS) == 0.1
    assert max(ACROSS) == 10
    assert {0.95, 1.0, 1.05} < set(ACROSS)
    assert all(c.ridge >= 1e-3 for c in CURVES if set(c.ratios) & {0.95, 1.0, 1.05})
    assert all(c.nonlinear_signal > 0 for c in CURVES)


def some(terms: SimulatedTerms, rows: slice) -> SimulatedTerms:
    """A part of the draws."""
    return SimulatedTerms.combined(lambda values: values[0][rows], [terms])


@pytest.mark.statistical
@pytest.mark.parametrize("ratio", [0.5, 1.0, 2.0])
def test_intervals_cover(ratio: float) -> None:
    """Nominal 95 % intervals of ten draws hold the mean of all in 92-98 % of 800 repeats."""
    problem = dt.Problem(features_per_dim=ratio, ridge=1e-3)
    run = dt.simulate(
        problem, dim=20, n_data=10 * REPEATS, n_init=2, ensembles=dt.Divide(2), seed=SEED,
        progress=False,
    )  # fmt: skip
    ensembles = [dt.Ensemble(1), dt.Ensemble(10), dt.Ensemble(math.inf), dt.Divide(2)]
    truth = {(e, part): getattr(run.error(e), part).value for e in ensembles for part in PARTS}
    del truth[dt.Ensemble(math.inf), "initialization"]  # exactly zero
    hits = dict.fromkeys(truth, 0)
    (divided,) = run.drawn
    for repeat in range(REPEATS):
        rows = slice(10 * repeat, 10 * (repeat + 1))
        few = replace(
            run,
            draws=some(run.draws, rows),
            drawn=(replace(divided, terms=some(divided.terms, rows)),),
        )
        for ensemble, name in truth:
            found = getattr(few.error(ensemble), name).confidence_interval(0.95)
            hits[ensemble, name] += bool(found.low <= truth[ensemble, name] <= found.high)
    covered = np.array(list(hits.values())) / REPEATS
    assert np.all(covered > 0.92), hits
    assert np.all(covered < 0.98), hits


@pytest.mark.statistical
def test_sampling_test_points_costs_little() -> None:
    """Less than doubles the standard error of the total that the exact average has."""
    problem = dt.Problem(features_per_dim=0.5, ridge=1e-3)
    options: dict[str, Any] = {"dim": 80, "n_data": 100, "n_init": 2, "progress": False}
    exact, sampled = (
        dt.simulate(problem, test=test, **options).error() for test in ("exact", "sample")
    )
    assert sampled.total.standard_error < 2 * exact.total.standard_error
