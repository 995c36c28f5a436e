"""The paper's learner, fitted one by one, against direct simulation and the exact theory."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.learners import LearnerDecomposition
from tests.learners.random_effects import rows

DIM, RIDGE = 60, 1e-3
PARTS = ("noise", "initialization", "sampling", "bias", "total")
RATIOS = pytest.mark.parametrize(
    "ratio", [1.0, *(pytest.param(ratio, marks=pytest.mark.full) for ratio in (0.5, 2.0))]
)
pytestmark = pytest.mark.xdist_group("agreement of decompose")


def sample(rng: np.random.Generator, n: int) -> Any:
    x = rng.standard_normal((n, DIM))
    return x, x[:, 0]


def problem(ratio: float, **changes: float) -> dt.Problem:
    given: dict[str, Any] = {
        "features_per_dim": ratio,
        "samples_per_dim": 1.0,
        "ridge": RIDGE,
        "noise": 1.0,
    }
    return dt.Problem(**(given | changes))


@cache  # shared by the tests of this module
def split(ratio: float) -> LearnerDecomposition:
    source = dt.GeneratorSource(sample, n_samples=DIM, noise=1.0, n_test=500)
    model = dt.RandomFeaturesRidge(round(ratio * DIM), ridge=RIDGE)
    return dt.decompose(model, source, n_data=20, n_init=5, n_noise=2, progress=False)


def off(result: dt.Estimate, expected: dt.Estimate) -> float:
    error = np.hypot(result.standard_error, expected.standard_error)
    return float(abs(result.value - expected.value) / error)


def simulated(ratio: float, **changes: float) -> Any:
    return dt.simulate(
        problem(ratio, **changes), dim=DIM, n_data=60, n_init=5, progress=False
    ).error()


@pytest.mark.statistical
@RATIOS
def test_agrees_with_direct_simulation(ratio: float) -> None:
    expected = simulated(ratio)
    scores = {name: off(rows(split(ratio))[name], getattr(expected, name)) for name in PARTS}
    assert max(scores.values()) < 4, scores


@pytest.mark.statistical
@RATIOS
def test_agrees_with_theory(ratio: float) -> None:
    expected = dt.exact_error(problem(ratio))
    for name in PARTS:
        result, value = rows(split(ratio))[name], float(getattr(expected, name))
        slack = 4 / DIM * value  # of finite size
        assert abs(float(result.value) - value) < 4 * float(result.standard_error) + slack, name


@pytest.mark.statistical
@pytest.mark.parametrize("n_members", [3, float("inf")])
def test_ensembles_agree_with_theory(n_members: float) -> None:
    result = split(1.0).error(n_members).total
    expected = float(dt.exact_error(problem(1.0), n_members).total)
    assert abs(float(result.z_score(expected))) < 4


@pytest.mark.statistical
def test_the_symmetric_view_agrees_with_theory() -> None:
    expected = dt.anova(problem(1.0))
    for name, part in split(1.0).anova().parts.items():
        value = float(getattr(expected, name))
        slack = 4 / DIM * value
        assert abs(float(part.value) - value) < 4 * float(part.standard_error) + slack, name


@pytest.mark.statistical
def test_another_problem_disagrees() -> None:
    """Negative controls: less noise, another ridge."""
    assert off(split(1.0).error().noise, simulated(1.0, noise=0.7).noise) > 5
    assert off(split(1.0).error().total, simulated(1.0, ridge=1e-1).total) > 5
