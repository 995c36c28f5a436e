"""Simulation against theory on the enumerated curves of `conformance`, in standard errors.

`make conformance` runs the same at larger sizes and for more seeds. One short curve of each model
runs by default, all of `conformance` with the marker `full`. The seed is DOUBLETROUBLE_SEED, 0
unless set.
"""

import math
import os
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from conformance.cases import ACROSS, CURVES, Curve
from conformance.compare import Sizes, compared, shrinking
from tests.selection import full_beyond_cases
from tests.theory import features

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))
CAUSES = ("noise", "initialization", "sampling", "bias")
PARTS = (*CAUSES, "total")
SMALL = Sizes(dims=(50, 100, 200), draws=(30, 16, 10))
SHORT = Sizes(dims=(30, 60, 120), draws=(40, 24, 16))

KERNEL = Curve(activation="relu", model="kernel", ridge=1e-2, ratios=(math.inf,))
DEFAULT = (
    Curve(activation="tanh", samples_per_dim=0.5, ridge=1e-2, ratios=(0.3, 1.0, 3.0)),
    Curve(activation="relu", model="gaussian", ratios=(0.3, 1.5)),
    KERNEL,
)


@pytest.mark.statistical
@pytest.mark.parametrize("curve", DEFAULT, ids=lambda curve: curve.model)
def test_short_curve_agrees_with_theory(curve: Curve) -> None:
    agrees(curve, SHORT)


@pytest.mark.full
@pytest.mark.statistical
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
def test_curve_agrees_with_theory(curve: Curve) -> None:
    agrees(curve, SMALL)


def agrees(curve: Curve, sizes: Sizes) -> None:
    rows = compared(curve, SEED, sizes)
    assert len(rows) == 24 * len(curve.ratios)
    worst = max(rows, key=lambda row: abs(row.z))
    assert abs(worst.z) < 5, worst


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("curve", "sizes"),
    [
        (KERNEL, Sizes(dims=(25, 50, 100), draws=(120, 60, 40))),
        pytest.param(
            Curve(activation="relu", ridge=1e-2, ratios=(0.5, 2.0, 3.0)),
            Sizes(dims=(25, 50, 100), draws=(200, 100, 60)),
            marks=pytest.mark.full,
        ),
    ],
    ids=["kernel", "features"],
)
def test_bias_is_of_order_one_over_dim(curve: Curve, sizes: Sizes) -> None:
    """Doubling D halves the deviation, which is clear at the smallest size."""
    first, second, count = shrinking(compared(curve, SEED, sizes))
    assert count > 5
    assert 0.35 < first < 0.65
    assert 0.3 < second < 0.75


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("activation", "wrong"),
    full_beyond_cases(
        [("tanh", "erf")], [("relu", "tanh"), ("tanh", "erf"), ("abs", "relu"), ("erf", "sin")]
    ),
)
def test_wrong_activation_disagrees(activation: str, wrong: str) -> None:
    """Negative control, also between similar activations."""
    rows = compared(Curve(activation=activation, ratios=(3.0,)), SEED, SMALL, activation=wrong)
    assert max(abs(row.t) for row in rows) > 10
    assert max(abs(row.z) for row in rows) > 5


def test_curves_cover_models_and_activations() -> None:
    assert {c.model for c in DEFAULT} == {"features", "gaussian", "kernel"}
    assert {c.model for c in CURVES} == {"features", "gaussian", "kernel"}
    assert {c.activation for c in CURVES if c.model == "features"} == {"relu", "tanh", "erf", "abs"}
    assert min(ACROSS) == 0.1
    assert max(ACROSS) == 10
    assert {0.95, 1.0, 1.05} < set(ACROSS)
    assert all(c.ridge >= 1e-3 for c in CURVES if set(c.ratios) & {0.95, 1.0, 1.05})
    assert all(c.nonlinear_signal > 0 for c in CURVES)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("ratio", "repeats"),
    full_beyond_cases([(1.0, 80)], [(1.0, 80), (0.5, 800), (1.0, 800), (2.0, 800)]),
)
def test_intervals_cover(ratio: float, repeats: int) -> None:
    """Nominal 95% intervals of ten draws contain the mean of all in 92-98% of 800 repeats."""
    problem = dt.Problem(features_per_dim=ratio, ridge=1e-3)
    ensembles = [dt.Ensemble(1), dt.Ensemble(10), dt.Ensemble(math.inf), dt.Divide(2)]
    run = dt.simulate(
        problem,
        dim=20,
        n_data=10 * repeats,
        n_init=2,
        ensembles=dt.Divide(2),
        seed=SEED,
        progress=False,
    )
    covered: dict[Any, float] = {}
    by_repeated_draws: dict[Any, float] = {}
    for ensemble in ensembles:
        for part in PARTS:
            if (ensemble, part) == (dt.Ensemble(math.inf), "initialization"):
                continue  # exactly zero
            estimate: Any = getattr(run.error(ensemble), part)
            draws = estimate.sources[0].values.reshape(repeats, 10).T
            for several, shares in ((1, covered), (4, by_repeated_draws)):
                few = dt.Estimate.of(np.repeat(draws, several, axis=0))
                low, high = few.confidence_interval(0.95)
                inside = (low <= estimate.value) & (estimate.value <= high)
                shares[ensemble, part] = float(np.mean(inside))
    margin = 3.89 * math.sqrt(0.95 * 0.05 / repeats)  # 0.03 for 800 repeats
    assert min(covered.values()) > 0.95 - margin, covered
    assert max(covered.values()) < 0.95 + margin, covered
    # negative control: every draw counted four times
    assert max(by_repeated_draws.values()) < 0.95 - margin, by_repeated_draws


@pytest.mark.statistical
def test_sampled_test_points_less_than_double_the_standard_error() -> None:
    problem = dt.Problem(features_per_dim=0.5, ridge=1e-3)
    options: dict[str, Any] = {"dim": 60, "n_data": 100, "n_init": 2, "progress": False}
    exact, sampled = (
        dt.simulate(problem, test=test, **options).error() for test in ("exact", "sample")
    )
    assert sampled.total.standard_error < 2 * exact.total.standard_error


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("width", "samples"), full_beyond_cases([(2.5, 0.8)], [(0.6, 1.0), (1.0, 1.0), (2.5, 0.8)])
)
def test_small_sizes_agree_with_plain_sampling(
    width: float, samples: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain sampling draws teachers, label noise and test points one by one."""
    monkeypatch.setattr(features, "N_TEST", 200)
    powers: dict[str, Any] = {"ridge": 0.05, "signal": 1.0, "noise": 0.7, "nonlinear_signal": 0.8}
    setting = features.Setting(features_per_dim=width, samples_per_dim=samples, **powers)
    rng = np.random.default_rng(0)
    table = [features.draw(setting, 10, rng) for _ in range(2000)]
    problem = dt.Problem(features_per_dim=width, samples_per_dim=samples, **powers)
    run = dt.simulate(problem, dim=10, n_data=500, n_init=2, progress=False)
    for part in CAUSES:
        literal = dt.Estimate.of(np.array([row[part] for row in table]))
        ours = getattr(run.error(), part)
        error = np.hypot(literal.standard_error, ours.standard_error)
        assert abs(literal.value - ours.value) < 5 * error, part
    theory = dt.exact_error(problem)  # negative control: of infinite size
    off = [abs(getattr(run.error(), part).z_score(getattr(theory, part))) for part in CAUSES]
    assert max(off) > 10
