"""What the fits measure, against direct computations."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.learners._extrapolation import law_sampling
from doubletrouble.learners._losses import zero_one_loss
from doubletrouble.learners._windows import (
    PROBES,
    RUNGS,
    Measurements,
    Predictions,
    WindowDesign,
    WindowFit,
    cross_entropy,
    deal,
    squared_error,
)


def random_measurements(*, seeded: bool) -> tuple[WindowDesign, Predictions, Any, Measurements]:
    """Predictions that are a window's effect, a seed's effect and noise."""
    rng = np.random.default_rng(0)
    first, second = (deal(60, seed=0, round=r) for r in range(2))
    design = WindowDesign(
        blocks=(first, first if seeded else second), seeded=seeded, rungs=RUNGS, seed=0
    )
    target = rng.standard_normal((60, 2))
    predictions = {
        fit: rng.standard_normal((int(np.sum(~design.in_window(fit))), 2))
        for fit in [*design.fits, *PROBES]
    }
    return design, predictions, target, Measurements.of(design, predictions, target)


def at_all_rows(design: WindowDesign, predictions: Predictions, fit: WindowFit) -> Any:
    values = np.full((60, 2), np.nan)
    values[~design.in_window(fit)] = predictions[fit]
    return values


@pytest.mark.parametrize("seeded", [True, False])
def test_total_and_variances_are_means_over_rows_outside(seeded: bool) -> None:
    design, predictions, target, measured = random_measurements(seeded=seeded)
    f = {
        (w, r): at_all_rows(design, predictions, WindowFit(4, w, r))
        for w in range(10)
        for r in range(2)
    }
    total = np.nanmean([np.sum((target - g) ** 2, axis=1) for g in f.values()], axis=0)
    assert measured.total[4].mean == pytest.approx(total.mean())
    pairs = [(w, (w + s) % 10) for s in (4, 5) for w in range(10 if s == 4 else 5)]
    if seeded:
        seeds = np.nanmean(
            [np.sum((f[w, 0] - f[w, 1]) ** 2, axis=1) / 2 for w in range(10)], axis=0
        )
        assert measured.initialization[4].mean == pytest.approx(seeds.mean())
        apart = [
            np.mean(
                [np.sum((f[a, r] - f[b, q]) ** 2, axis=1) / 2 for r in (0, 1) for q in (0, 1)], 0
            )
            - sum(np.sum((f[w, 0] - f[w, 1]) ** 2, axis=1) / 4 for w in (a, b))
            for a, b in pairs
        ]
    else:
        apart = [np.sum((f[a, r] - f[b, r]) ** 2, axis=1) / 2 for a, b in pairs for r in range(2)]
        assert not measured.initialization
    assert measured.sampling[4].mean == pytest.approx(np.nanmean(np.nanmean(apart, axis=0)))


def test_bags_are_products_of_errors() -> None:
    design, predictions, target, measured = random_measurements(seeded=True)
    pair = np.empty(60)
    for w in range(10):
        fits = [WindowFit(9, w, r, bootstrap=True) for r in range(2)]
        outside = ~design.in_window(fits[0])
        a, b = (target[outside] - predictions[fit] for fit in fits)
        pair[outside] = np.sum(a * b, axis=1)
    assert measured.bags.pair.mean == pytest.approx(pair.mean())


def test_overlap_law_is_exact_for_random_features() -> None:
    """1 / (E (y - f_a)(y - f_b)) is linear in the shared rows, and the law gives the variance."""
    noise = 0.5
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=1.5, ridge=0.1, noise=noise)
    shares = np.array([0.0, 0.25, 0.5, 1.0])
    shared = shares * 1.5
    pair = dt.pair_error(problem, problem, shared_samples=shared)
    products = np.asarray(pair.total) + noise**2
    inverse = 1 / products
    straight = inverse[0] + shares * (inverse[-1] - inverse[0])
    assert np.allclose(inverse, straight, rtol=1e-12)
    averaged, apart, half = products[-1], products[0], products[2]
    value, *_ = law_sampling(averaged - half, averaged)
    assert value == pytest.approx(averaged - apart, rel=1e-12)
    assert averaged - half < value < 2 * (averaged - half)


def test_derivatives_of_the_law() -> None:
    value, by_shared, by_averaged = law_sampling(0.2, 1.0)
    step = 1e-6
    assert (law_sampling(0.2 + step, 1.0)[0] - value) / step == pytest.approx(by_shared, rel=1e-4)
    assert (law_sampling(0.2, 1.0 + step)[0] - value) / step == pytest.approx(by_averaged, rel=1e-4)


def test_losses_of_rows() -> None:
    target = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    predicted = np.array([[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    assert squared_error(predicted, target).tolist() == [1.125, 0.5, 2.0]
    assert cross_entropy(predicted, target).tolist() == [-np.log(0.25), -np.log(0.5), np.inf]
    assert zero_one_loss(predicted, target).tolist() == [1.0, 0.5, 1.0]
