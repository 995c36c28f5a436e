"""Coverage of intervals: random features, where tails are heavy, and one common output."""

import math
from functools import cache

import numpy as np
import pytest

from benchmarks.coverage import VARIANCES, random_features
from benchmarks.coverage import coverage as covered
from benchmarks.coverage import repeated as draws_of
from doubletrouble.learners import Decomposition, decompose_predictions
from doubletrouble.results import Estimate
from tests.learners.random_effects import rows

DIM, N_DATA, REPEATS = 40, 20, 200
RATIOS = (0.5, 1.0, 2.0)  # P/N


@cache
def repeated(ratio: float) -> list[tuple[Decomposition, Decomposition]]:
    """Two decompositions of the same data: the second one ignores shared initializations."""
    rng = np.random.default_rng([7, round(10 * ratio)])
    result = []
    for _ in range(REPEATS):
        f, truth = random_features(rng, N_DATA, n_features=round(ratio * DIM))
        result.append(
            (
                decompose_predictions(f, truth),
                decompose_predictions(f, truth, crossed=False, include_test=False),
            )
        )
    return result


def answers(result: Decomposition) -> dict[str, Estimate]:
    return rows(result) | {"K = 5": result.error(5).total, "K = inf": result.error(math.inf).total}


def coverage(ratio: float, which: int) -> dict[str, float]:
    """The share of intervals of nominally 95% that contain the mean of all estimates."""
    draws = [answers(pair[which]) for pair in repeated(ratio)]
    right = [answers(pair[0]) for pair in repeated(ratio)]
    result = {}
    for name in draws[0]:
        truth = float(np.mean([draw[name].value for draw in right]))
        intervals = [draw[name].confidence_interval(0.95) for draw in draws]
        result[name] = float(np.mean([bool(low <= truth <= high) for low, high in intervals]))
    return result


@pytest.mark.full
@pytest.mark.statistical
@pytest.mark.xdist_group("coverage of random features")
def test_intervals_cover_errors_of_random_features() -> None:
    """Errors of independent fits, which ignore shared draws, are the negative control."""
    shares = {ratio: coverage(ratio, 0) for ratio in RATIOS}
    for result in shares.values():
        assert min(result.values()) > 0.90, shares  # 0.92 to 0.98, and the error of 200 repeats
        assert max(result.values()) < 0.99, shares
    assert 0.93 < np.mean([list(result.values()) for result in shares.values()]) < 0.97
    wrong = coverage(0.5, 1)
    assert wrong["bias"] < 0.85
    assert wrong["sampling"] < 0.85


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("model", "n_data"),
    [
        ("linear, one common output", 5),
        pytest.param("linear, one common output", 20, marks=pytest.mark.full),
        pytest.param("Gaussian, one common output", 5, marks=pytest.mark.full),
        pytest.param("Gaussian, one common output", 20, marks=pytest.mark.full),
    ],
)
def test_intervals_cover_variances_of_one_common_output(model: str, n_data: int) -> None:
    """The small version of benchmarks/coverage.py; Student's t is the negative control."""
    estimates, most = draws_of(model, n_data, 400), draws_of(model, 20, 400)
    expected = {name: np.mean([part.value for part in most[name]]) for name in VARIANCES}
    shares = {name: covered(estimates[name], float(expected[name])) for name in VARIANCES}
    ours, symmetric = zip(*shares.values(), strict=True)
    assert min(ours) > 0.90, shares  # 0.92, and two standard errors of 400 repeats
    assert max(ours) < 0.99, shares
    if n_data == 5 and model.startswith("linear"):
        assert np.mean(symmetric) < 0.88 < 0.93 < np.mean(ours), shares
