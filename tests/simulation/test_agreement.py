"""Simulation against theory on the enumerated curves of `conformance`, in standard errors.

`make conformance` runs the same at larger sizes and for more seeds. One curve of each model runs by
default, all of them with the marker `full`. The seed is DOUBLETROUBLE_SEED, 0 unless set.
"""

import math
import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from conformance.cases import ACROSS, CURVES, NEAR, Curve
from conformance.compare import Sizes, compared, shrinking
from doubletrouble.simulation import SimulatedTerms
from tests.theory.features import Setting, draw

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))
REPEATS = 800
CAUSES = ("noise", "initialization", "sampling", "bias")
PARTS = (*CAUSES, "total")
SMALL = Sizes(dims=(50, 100, 200), draws=(30, 16, 10))


DEFAULT = (
    Curve(activation="tanh", samples_per_dim=0.5, ridge=1e-2),
    Curve(activation="relu", model="gaussian", ratios=NEAR),
    Curve(activation="relu", model="kernel", ridge=1e-2, ratios=(math.inf,)),
)


def marked(values: Iterable[Any], default: Collection[Any]) -> list[Any]:
    """Parameters of a test, of which all but some run with the marker `full` only."""
    return [
        pytest.param(
            value,
            id=getattr(value, "name", str(value)),
            marks=() if value in default else pytest.mark.full,
        )
        for value in values
    ]


@pytest.mark.statistical
@pytest.mark.parametrize("curve", marked(CURVES, DEFAULT))
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
    "pair",
    marked([("relu", "tanh"), ("tanh", "erf"), ("abs", "relu"), ("erf", "sin")], [("tanh", "erf")]),
)
def test_a_wrong_activation_disagrees(pair: tuple[str, str]) -> None:
    """Negative control, also between similar activations."""
    activation, wrong = pair
    rows = compared(Curve(activation=activation, ratios=(0.3, 3.0)), SEED, SMALL, activation=wrong)
    assert max(abs(row.t) for row in rows) > 10
    assert max(abs(row.z) for row in rows) > 5


def test_curves_cover_models_and_activations() -> None:
    assert {c.model for c in DEFAULT} == {c.model for c in CURVES}
    assert set(DEFAULT) < set(CURVES)
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
@pytest.mark.parametrize("ratio", marked([0.5, 1.0, 2.0], [1.0]))
def test_intervals_cover(ratio: float) -> None:
    """Nominal 95 % intervals of ten draws hold the mean of all in 92-98 % of 800 repeats."""
    problem = dt.Problem(features_per_dim=ratio, ridge=1e-3)
    run = dt.simulate(
        problem,
        dim=20,
        n_data=10 * REPEATS,
        n_init=2,
        ensembles=dt.Divide(2),
        seed=SEED,
        progress=False,
    )
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
            result = getattr(few.error(ensemble), name).confidence_interval(0.95)
            hits[ensemble, name] += bool(result.low <= truth[ensemble, name] <= result.high)
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


@pytest.mark.statistical
@pytest.mark.parametrize("ratios", marked([(0.6, 1.0), (1.0, 1.0), (2.5, 0.8)], [(2.5, 0.8)]))
def test_small_sizes_agree_with_plain_sampling(ratios: tuple[float, float]) -> None:
    """Teachers, label noise and test points drawn one by one, ten dimensions, ReLU features."""
    features, samples = ratios
    powers: dict[str, Any] = {"ridge": 0.05, "signal": 1.0, "noise": 0.7, "nonlinear_signal": 0.8}
    setting = Setting(features_per_dim=features, samples_per_dim=samples, **powers)
    rng = np.random.default_rng(0)
    table = [draw(setting, 10, rng) for _ in range(2000)]
    problem = dt.Problem(features_per_dim=features, samples_per_dim=samples, **powers)
    run = dt.simulate(problem, dim=10, n_data=2000, n_init=2, progress=False)
    for part in CAUSES:
        literal = dt.Estimate.of(np.array([row[part] for row in table]))
        ours = getattr(run.error(), part)
        error = np.hypot(literal.standard_error, ours.standard_error)
        assert abs(literal.value - ours.value) < 5 * error, part
    theory = dt.exact_error(problem)  # negative control: of infinite size
    off = [abs(getattr(run.error(), part).z_score(getattr(theory, part))) for part in CAUSES]
    assert max(off) > 10
