"""Schemes against Monte Carlo of Gaussian-equivalent features: test error, flow and training error.

|z| < 5 for every scheme; theory of other shares of samples or features is a control that fails.
"""

import os
from functools import cache
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.ensembles import SUPPORT, Scheme
from tests.theory import members
from tests.theory.members import Setting
from tests.theory.traces import Measured

pytestmark = pytest.mark.statistical

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))  # any seed must pass
LIMIT, CONTROL = 5.0, 10.0
SIZES = {75: 80, 150: 40}  # draws by dimension
PROBLEM = dt.Problem(features_per_dim=1.5, samples_per_dim=1.0, ridge=1e-2, signal=1.2, noise=0.6)
CASES: dict[str, tuple[Setting, Scheme, Scheme]] = {  # simulated, theory, negative control
    "ensemble": (Setting(scheme="ensemble", members=2), dt.Ensemble(2), dt.Ensemble(1)),
    "divide": (Setting(scheme="divide", members=2), dt.Divide(2), dt.Ensemble(2)),
    "subsample": (
        Setting(scheme="subsample", members=3, fraction=0.6),
        dt.Subsample(3, fraction=0.6),
        dt.Subsample(3, fraction=0.9),
    ),
    "bootstrap": (
        Setting(scheme="bootstrap", members=2),
        dt.Bootstrap(2),
        dt.Subsample(2, fraction=0.9),
    ),
    "feature_bank": (
        Setting(scheme="feature_bank", members=3, bank=2.0),
        dt.FeatureBank(3, bank_per_dim=3.0),
        dt.FeatureBank(3, bank_per_dim=1.5),
    ),
}


def theory(ensemble: Scheme, time: float) -> dict[str, Any]:
    result = {
        "test": dt.exact_error(PROBLEM, ensemble).total,
        "training": dt.training_error(PROBLEM, ensemble),
    }
    if SUPPORT["gradient_flow"](type(ensemble)):
        result["flow"] = dt.gradient_flow(PROBLEM, time, ensemble).total
    return result


@cache
def measured(name: str) -> dict[str, Measured]:
    return members.measured(CASES[name][0], SIZES, seed=SEED)


def z_scores(name: str, ensemble: Scheme) -> dict[str, float]:
    expected = theory(ensemble, CASES[name][0].time)
    return {kind: measured(name)[kind].z_score(value) for kind, value in expected.items()}


@pytest.mark.parametrize("name", CASES)
def test_schemes_agree_with_monte_carlo(name: str) -> None:
    _, ensemble, control = CASES[name]
    z = z_scores(name, ensemble)
    assert max(map(abs, z.values())) < LIMIT, z
    wrong = z_scores(name, control)
    assert min(abs(wrong[kind]) for kind in z if kind != "test") > CONTROL, wrong
