"""Mean products and mean squares against direct computation."""

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from doubletrouble.learners import Design, decompose_predictions
from doubletrouble.learners import _components as components
from doubletrouble.learners._components import Target, halves, mean_products, weighted_sum
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Estimate

SHAPES = [(3, 2, 3, 2), (4, 3, 3, 1), (3, 1, 4, 2), (4, 2, 1, 3), (3, 1, 1, 2), (1, 2, 3, 2)]
Differ = Callable[[bool, bool, bool], bool]
KINDS: dict[str, Differ] = {  # by whether data set, noise draw and initialization are the same
    "same": lambda d, n, k: d and n and k,
    "other_init": lambda d, n, k: d and n and not k,
    "other_noise": lambda d, n, k: d and not n and k,
    "other_noise_init": lambda d, n, k: d and not n and not k,
    "other_data": lambda d, n, k: not d and k,
    "other_data_init": lambda d, n, k: not d and not k,
}
FRESH: dict[str, Differ] = KINDS | {"other_data_init": lambda d, n, k: not d}


def brute(f: FloatArray, differ: Differ) -> float:
    """The mean over all pairs of one kind, one by one; NaN if there is none."""
    cells = list(product(*map(range, f.shape[:3])))
    result = [
        float(np.mean(f[a] * f[b]))
        for a, b in product(cells, cells)
        if differ(a[0] == b[0], a[1] == b[1], a[2] == b[2])
    ]
    return float(np.mean(result)) if result else float("nan")


def left_out(f: FloatArray, n_columns: int) -> Iterator[tuple[tuple[int, int], FloatArray]]:
    for i, j in product(range(f.shape[0] + 1), range(n_columns)):
        some = np.delete(f, i - 1, axis=0) if i else f
        yield (i, j), np.delete(some, j - 1, axis=2) if j else some


def described(shape: tuple[int, int, int, int], *, crossed: bool) -> Design:
    D, N, K, T = shape
    return Design(n_data=D, n_noise=N, n_init=K, n_test=T, crossed=crossed, targets=("truth",))


def against(truth: FloatArray) -> dict[str, Target]:
    return {"truth": Target(truth, np.zeros_like(truth))}


@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_means_over_all_possible_pairs(
    shape: tuple[int, int, int, int], crossed: bool
) -> None:
    rng = np.random.default_rng(sum(shape))
    f, truth = 3 + rng.normal(size=shape), rng.normal(size=shape[-1])
    design = described(shape, crossed=crossed)
    statistics = mean_products(f, against(truth), design, parts=halves(shape[0]), key=())
    shared = crossed and shape[2] > 1
    kinds = KINDS if crossed else {n: d for n, d in FRESH.items() if n != "other_data"}
    possible = {n for n, differ in kinds.items() if not np.isnan(brute(f, differ))}
    assert statistics.keys() - {"truth"} == possible
    compared = 0
    for kind in statistics.keys() - {"truth"}:
        result = weighted_sum({kind: 1.0, "truth": 1.0}, statistics)
        assert result.table.shape == (shape[0] + 1, shape[2] + 1 if shared else 1)
        for index, some in left_out(f - truth, result.table.shape[1]):
            expected = brute(some, (KINDS if crossed else FRESH)[kind])
            assert result.table[index] == pytest.approx(expected, rel=1e-11, nan_ok=True)
            compared += not np.isnan(expected)
        two = [f[::2], f[1::2]] if len(f) > 3 else [f]
        for points, half in zip(result.points, two, strict=True):
            expected = brute(half - truth, (KINDS if crossed else FRESH)[kind])
            assert points.mean() == pytest.approx(expected, rel=1e-11)
    assert compared >= 3


def test_result_is_independent_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = (4, 2, 3, 7)
    rng = np.random.default_rng(1)
    f, targets = rng.normal(size=shape), against(rng.normal(size=7))
    design = described(shape, crossed=True)
    whole = mean_products(f, targets, design, parts=halves(shape[0]), key=())
    monkeypatch.setattr(components, "_BLOCK", 50)  # two test points at a time
    for name, result in mean_products(f, targets, design, parts=halves(shape[0]), key=()).items():
        assert result.points.shape == (2, 7)
        np.testing.assert_allclose(result.table, whole[name].table, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(result.points, whole[name].points, rtol=1e-12, atol=1e-14)


# --- mean squares ---


@pytest.mark.parametrize("shape", [(4, 2, 3, 5), (4, 1, 3, 5), (4, 2, 1, 5)])
def test_mean_squares_are_variances_of_means(shape: tuple[int, int, int, int]) -> None:
    rng = np.random.default_rng(2)
    f, y = rng.normal(size=shape), rng.normal(size=5)
    result = decompose_predictions(f, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # variances of one draw
        expected = {
            "noise": f.var(axis=1, ddof=1).mean(),
            "initialization": f.mean(axis=1).var(axis=1, ddof=1).mean(),
            "sampling": f.mean(axis=(1, 2)).var(axis=0, ddof=1).mean(),
            "bias": ((f.mean(axis=(0, 1, 2)) - y) ** 2).mean(),
            "total": ((f - y) ** 2).mean(),
        }
        effects = expected | {
            "initialization": f.mean(axis=(0, 1)).var(axis=0, ddof=1).mean(),
            "noise_sampling": f.mean(axis=2).var(axis=1, ddof=1).mean(),
        }
    for terms, squares in ((result.error(), expected), (result.anova(), effects)):
        for name, part in (terms.parts | {"total": terms.total}).items():
            assert part.mean_square is not None
            assert part.mean_square > max(0, float(part) - 1e-12)
            if name in squares:
                assert part.mean_square == pytest.approx(squares[name], rel=1e-12), name


@pytest.mark.parametrize("options", [{}, {"crossed": False}, {"injected": 0.5}])
def test_mean_squares_of_ensembles_are_not_negative(options: dict[str, Any]) -> None:
    f = np.random.default_rng(3).normal(size=(5, 3, 4, 6))
    result = decompose_predictions(f, np.zeros(6), **options)
    for K in (2, 3, 10, np.inf):
        for terms in (result.error(K), result.anova(K)):
            for name, part in (terms.parts | {"total": terms.total}).items():
                assert part.mean_square is None or part.mean_square > -1e-14, (K, name)


def test_intervals_of_a_variance_are_those_of_chi_square() -> None:
    part = Estimate(value=2.0, standard_error=2 * 0.2**0.5, n_draws=10**9, mean_square=2.0)
    low, high = part.confidence_interval(0.95)
    assert (low, high) == pytest.approx((20 / 20.48318, 20 / 3.24697), rel=1e-5)
    shifted = Estimate(value=1.5, standard_error=2 * 0.2**0.5, n_draws=10**9, mean_square=2.0)
    assert shifted.confidence_interval(0.95) == pytest.approx((low - 0.5, high - 0.5))
    few = Estimate(value=2.0, standard_error=2 * 0.2**0.5, n_draws=11, mean_square=2.0)
    assert few.confidence_interval(0.95).high > high
    precise = Estimate(value=2.0, standard_error=1e-9, n_draws=11, mean_square=2.0)
    symmetric = Estimate(value=2.0, standard_error=1e-9, n_draws=11)
    assert precise.confidence_interval() == symmetric.confidence_interval()
