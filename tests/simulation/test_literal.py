"""A simulation against one that draws everything, at the same small size: no 1/D between them."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from tests.theory.features import Setting, draw

PARTS = ("noise", "initialization", "sampling", "bias")


@pytest.mark.statistical
@pytest.mark.parametrize(("features", "samples"), [(0.6, 1.0), (1.0, 1.0), (2.5, 0.8)])
def test_small_sizes(features: float, samples: float) -> None:
    """Teachers, label noise and test points drawn one by one, ten dimensions, ReLU features."""
    powers: dict[str, Any] = {"ridge": 0.05, "signal": 1.0, "noise": 0.7, "nonlinear_signal": 0.8}
    setting = Setting(features_per_dim=features, samples_per_dim=samples, **powers)
    rng = np.random.default_rng(0)
    table = [draw(setting, 10, rng) for _ in range(2000)]
    problem = dt.Problem(features_per_dim=features, samples_per_dim=samples, **powers)
    run = dt.simulate(problem, dim=10, n_data=2000, n_init=2, progress=False)
    for part in PARTS:
        literal = dt.Estimate.of(np.array([row[part] for row in table]))
        ours = getattr(run.error(), part)
        error = np.hypot(literal.standard_error, ours.standard_error)
        assert abs(literal.value - ours.value) < 5 * error, part
    theory = dt.exact_error(problem)  # negative control: of infinite size
    off = [abs(getattr(run.error(), part).z_score(getattr(theory, part))) for part in PARTS]
    assert max(off) > 10
