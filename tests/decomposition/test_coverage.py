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
    found = []
    for _ in range(REPEATS):
        f, truth = random_features(rng, N_DATA, width=round(ratio * DIM))
        found.append(
            (
                decompose_predictions(f, truth),
                decompose_predictions(f, truth, crossed=False, include_test=False),
            )
        )
    return found


def answers(found: Decomposition) -> dict[str, Estimate]:
    return rows(found) | {"K = 5": found.error(5).total, "K = inf": found.error(math.inf).total}


def coverage(ratio: float, which: int) -> dict[str, float]:
    """How often intervals of nominally 95 % contain the mean of all (unbiased) estimates."""
    draws = [answers(pair[which]) for pair in repeated(ratio)]
    right = [answers(pair[0]) for pair in repeated(ratio)]
    found = {}
    for name in draws[0]:
        truth = float(np.mean([draw[name].value for draw in right]))
        intervals = [draw[name].confidence_interval() for draw in draws]
        found[name] = float(np.mean([bool(low <= truth <= high) for low, high in intervals]))
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("ratio", RATIOS)
def test_intervals_cover(ratio: float) -> None:
    found = coverage(ratio, 0)
    assert min(found.values()) > 0.90, found  # 0.92 to 0.98, and the error of 200 repeats
    assert max(found.values()) < 0.99, found


@pytest.mark.statistical
def test_intervals_cover_on_average() -> None:
    found = [share for ratio in RATIOS for share in coverage(ratio, 0).values()]
    assert 0.93 < np.mean(found) < 0.97


@pytest.mark.statistical
def test_ignoring_shared_draws_does_not_cover() -> None:
    """Negative control: initializations and test points as if drawn anew for every fit."""
    found = coverage(0.5, 1)
    assert found["bias"] < 0.85
    assert found["sampling"] < 0.85


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
