"""Coverage of intervals: random features, where tails are heavy, and one common output."""

import math
from functools import cache

import numpy as np
import pytest

from benchmarks.coverage import VARIANCES, random_features
from benchmarks.coverage import coverage as covered
from benchmarks.coverage import repeated as draws_of
from doubletrouble.decomposition import Decomposition, decompose_predictions
from doubletrouble.results import Estimate
from tests.decomposition.random_effects import rows

DIM, N_DATA, REPEATS = 40, 20, 200
RATIOS = (0.5, 1.0, 2.0)  # P/N


@cache
def repeated(ratio: float) -> list[tuple[Decomposition, Decomposition]]:
    """Two decompositions of the same data: the second one ignores shared initializations."""
    rng = np.random.default_rng([7, round(10 * ratio)])
    result = []
    for _ in range(REPEATS):
        f, truth = random_features(rng, N_DATA, width=round(ratio * DIM))
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
    """How often intervals of nominally 95 % contain the mean of all (unbiased) estimates."""
    draws = [answers(pair[which]) for pair in repeated(ratio)]
    right = [answers(pair[0]) for pair in repeated(ratio)]
    result = {}
    for name in draws[0]:
        truth = float(np.mean([draw[name].value for draw in right]))
        intervals = [draw[name].confidence_interval() for draw in draws]
        result[name] = float(np.mean([bool(low <= truth <= high) for low, high in intervals]))
    return result


@pytest.mark.statistical
@pytest.mark.parametrize("ratio", RATIOS)
def test_intervals_cover(ratio: float) -> None:
    result = coverage(ratio, 0)
    assert min(result.values()) > 0.90, result  # 0.92 to 0.98, and the error of 200 repeats
    assert max(result.values()) < 0.99, result


@pytest.mark.statistical
def test_intervals_cover_on_average() -> None:
    result = [share for ratio in RATIOS for share in coverage(ratio, 0).values()]
    assert 0.93 < np.mean(result) < 0.97


@pytest.mark.statistical
def test_independent_errors_do_not_cover_shared_draws() -> None:
    """Negative control: initializations and test points as if drawn anew for every fit."""
    result = coverage(0.5, 1)
    assert result["bias"] < 0.85
    assert result["sampling"] < 0.85


# --- one common output ---


@pytest.mark.statistical
@pytest.mark.parametrize("n_data", [5, 20])
@pytest.mark.parametrize("model", ["linear, one common output", "Gaussian, one common output"])
def test_intervals_of_variances_cover_where_test_points_move_together(
    model: str, n_data: int
) -> None:
    """The small version of benchmarks/coverage.py; Student's t is the negative control."""
    estimates, most = draws_of(model, n_data, 400), draws_of(model, 20, 400)
    expected = {name: np.mean([part.value for part in most[name]]) for name in VARIANCES}
    shares = {name: covered(estimates[name], float(expected[name])) for name in VARIANCES}
    ours, symmetric = zip(*shares.values(), strict=True)
    assert min(ours) > 0.90, shares  # 0.92, and two standard errors of 400 repeats
    assert max(ours) < 0.99, shares
    if n_data == 5 and model.startswith("linear"):
        assert np.mean(symmetric) < 0.88 < 0.93 < np.mean(ours), shares
