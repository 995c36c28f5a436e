"""Schemes against Monte Carlo of Gaussian-equivalent features: test error, flow and training error.

|z| < 5 for every scheme; theory of other shares of samples or features is a control that fails.
"""

import os
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.ensembles import Scheme
from tests.selection import full_beyond
from tests.theory import members
from tests.theory.members import Setting
from tests.theory.traces import Measured

pytestmark = pytest.mark.statistical

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))  # any seed must pass
LIMIT, CONTROL = 5.0, 10.0
SIZES = ({40: 80, 80: 40}, {75: 80, 150: 40})  # draws by dimension
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
    if "gradient_flow" in ensemble.functions():
        result["flow"] = dt.gradient_flow(PROBLEM, time, ensemble).total
    return result


def z_scores(measured: dict[str, Measured], ensemble: Scheme, time: float) -> dict[str, float]:
    return {kind: measured[kind].z_score(v) for kind, v in theory(ensemble, time).items()}


@pytest.mark.parametrize("sizes", full_beyond(SIZES[:1], SIZES), ids=lambda s: f"D={max(s)}")
@pytest.mark.parametrize("name", CASES)
def test_schemes_agree_with_monte_carlo(name: str, sizes: dict[int, int]) -> None:
    setting, ensemble, control = CASES[name]
    measured = members.measured(setting, sizes, seed=SEED)
    z = z_scores(measured, ensemble, setting.time)
    assert max(map(abs, z.values())) < LIMIT, z
    wrong = z_scores(measured, control, setting.time)
    assert min(abs(wrong[kind]) for kind in z if kind != "test") > CONTROL, wrong
