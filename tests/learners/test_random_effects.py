"""Estimates against effects of known size: bias, and coverage of the intervals."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from doubletrouble.learners import Decomposition, decompose_predictions
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Estimate
from tests.learners.random_effects import Effects

Shape = tuple[int, int, int, int]
REPEATS, T = 100, 120  # effects at test points are independent: 12 000 samples of each
MEMBERS = (1.0, 4.0, math.inf)


def answers(result: Decomposition) -> dict[str, Estimate]:
    """All estimates, by name."""
    anova = {f"anova {name}": part for name, part in result.anova().parts.items()}
    ensembles = {f"K = {K:g}": result.error(K).total for K in MEMBERS}
    return dict(result.error().parts) | anova | ensembles


def expected(effects: Effects) -> dict[str, float]:
    anova = {f"anova {name}": part for name, part in effects.anova.items()}
    return effects.sequential | anova | {f"K = {K:g}": effects.ensemble(K) for K in MEMBERS}


def z_scores(
    estimate: Callable[[FloatArray], dict[str, float]],
    truth: dict[str, float],
    effects: Effects,
    draws: tuple[int, int, int],
    *,
    crossed: bool = True,
) -> dict[str, float]:
    """Mean deviations of an estimator over many repeats, in standard errors."""
    rng = np.random.default_rng(3)
    drawn = (effects.draw((*draws, T), rng, crossed=crossed) for _ in range(REPEATS))
    results = [estimate(f) for f in drawn]
    return {
        name: float(Estimate.of(np.array([one[name] for one in results])).z_score(truth[name]))
        for name in results[0]
    }


# --- bias ----------------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("draws", "crossed", "tails"),
    [
        ((2, 2, 2), True, None),
        ((3, 2, 3), True, 5.0),
        ((3, 2, 3), False, None),
        *(
            pytest.param(draws, crossed, tails, marks=pytest.mark.full)
            for draws, crossed, tails in [
                ((3, 2, 3), True, None),
                ((3, 2, 3), False, 5.0),
                ((3, 2, 2), True, None),
                ((2, 3, 2), True, None),
                ((2, 2, 3), True, None),
                ((3, 3, 3), True, None),
            ]
        ),
    ],
)
def test_estimates_have_no_bias(
    draws: tuple[int, int, int], crossed: bool, tails: float | None
) -> None:
    def estimate(f: FloatArray) -> dict[str, float]:
        split = decompose_predictions(f, np.zeros(T), crossed=crossed, include_test=False)
        return {name: float(part.value) for name, part in answers(split).items()}

    effects = Effects(tails=tails)
    scores = z_scores(estimate, expected(effects), effects, draws, crossed=crossed)
    assert len(scores) == (13 if crossed else 11)
    assert max(map(abs, scores.values())) < 5, scores


def plug_in(f: FloatArray) -> dict[str, float]:
    """The biased estimates: variances of means, and the square of the mean."""
    over_noise, over_init = f.mean(axis=1), f.mean(axis=(1, 2))
    return {
        "noise": float(f.var(axis=1).mean()),
        "initialization": float(over_noise.var(axis=1).mean()),
        "sampling": float(over_init.var(axis=0).mean()),
        "bias": float((f.mean(axis=(0, 1, 2)) ** 2).mean()),
    }


def as_fresh(f: FloatArray) -> dict[str, float]:
    """Shared initializations taken for fresh ones: their main effect goes into the bias."""
    result = decompose_predictions(f, np.zeros(T), crossed=False)
    return {name: float(result.error().parts[name].value) for name in ("sampling", "bias")}


@pytest.mark.statistical
@pytest.mark.parametrize("wrong", [plug_in, as_fresh])
def test_wrong_estimators_are_rejected(wrong: Callable[[FloatArray], dict[str, float]]) -> None:
    effects = Effects(initialization=2.0)
    scores = z_scores(wrong, effects.sequential, effects, (3, 2, 3))
    assert min(map(abs, scores.values())) > 10, scores


@pytest.mark.statistical
def test_parts_absorb_those_that_are_not_identified() -> None:
    e = Effects()
    noise, initialization = e.sequential["noise"], e.sequential["initialization"]
    cases: dict[tuple[tuple[int, int, int], bool], dict[str, float]] = {
        ((3, 1, 3), True): {
            "initialization": initialization + e.noise_initialization_sampling,
            "sampling": e.sampling + e.noise_sampling,
            "bias": e.bias,
        },
        ((3, 2, 1), True): {
            "noise": noise,
            "sampling": e.sampling + e.initialization_sampling,
            "bias": e.bias + e.initialization,
        },
        ((3, 2, 1), False): {
            "noise": noise,
            "sampling": e.sampling + initialization,
            "bias": e.bias,
        },
        ((1, 2, 3), True): {
            "noise": noise,
            "initialization": initialization,
            "bias": e.bias + e.sampling,
        },
    }
    for (draws, crossed), truth in cases.items():

        def estimate(f: FloatArray, crossed: bool = crossed) -> dict[str, float]:
            split = decompose_predictions(f, np.zeros(T), crossed=crossed, include_test=False)
            return {name: float(part.value) for name, part in split.error().parts.items()}

        scores = z_scores(estimate, truth, e, draws, crossed=crossed)
        assert scores.keys() == truth.keys()
        assert max(map(abs, scores.values())) < 5, (draws, crossed, scores)


# --- coverage ------------------------------------------------------------------------------------


def coverage(effects: Effects, shape: Shape, *, crossed: bool) -> dict[str, float]:
    """The share of intervals of nominally 95% that contain the true value, of 500."""
    rng, truth = np.random.default_rng(5), expected(effects)
    hits: dict[str, list[bool]] = {}
    for _ in range(500):
        f = effects.draw(shape, rng, crossed=crossed)
        result = decompose_predictions(f, np.zeros(shape[-1]), crossed=crossed, include_test=False)
        for name, part in answers(result).items():
            low, high = part.confidence_interval(0.95)
            hits.setdefault(name, []).append(bool(low <= truth[name] <= high))
    return {name: float(np.mean(result)) for name, result in hits.items()}


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("tails", "shape", "crossed", "least"),  # 0.92 to 0.98, and one standard error
    [
        (None, (20, 2, 4, 30), True, 0.91),
        *(
            pytest.param(tails, shape, crossed, least, marks=pytest.mark.full)
            for tails, shape, crossed, least in [
                (None, (20, 2, 4, 30), False, 0.91),
                (None, (10, 2, 6, 30), True, 0.91),
                (None, (10, 2, 6, 30), False, 0.91),
                (5.0, (20, 2, 5, 30), True, 0.86),
                (5.0, (20, 2, 5, 30), False, 0.86),
            ]
        ),
    ],
)
def test_intervals_cover(tails: float | None, shape: Shape, crossed: bool, least: float) -> None:
    result = coverage(Effects(tails=tails), shape, crossed=crossed)
    assert min(result.values()) > least, result
    assert max(result.values()) < 0.99, result


@pytest.mark.statistical
def test_shared_initializations_taken_for_fresh_ones_do_not_cover() -> None:
    effects, rng = Effects(initialization=2.0), np.random.default_rng(6)
    hits = []
    for _ in range(100):
        f = effects.draw((20, 2, 4, 30), rng)
        result = decompose_predictions(f, crossed=False, include_test=False)
        low, high = result.error().initialization.confidence_interval(0.95)
        hits.append(bool(low <= effects.sequential["initialization"] <= high))
    assert np.mean(hits) < 0.7


@pytest.mark.statistical
def test_intervals_cover_the_average_over_all_test_points() -> None:
    """Fixed test points are the negative control."""
    rng, n_test = np.random.default_rng(7), 60
    truth = Effects().sequential | {"bias": 1.0}
    hits: dict[bool, list[list[bool]]] = {False: [], True: []}
    for repeat in range(300):
        f = Effects(bias=0.0).draw((20, 2, 4, n_test), rng) / np.sqrt(np.linspace(0.5, 1.5, n_test))
        f = rng.normal(size=n_test) + np.sqrt(rng.exponential(size=n_test)) * f
        for include_test in (True, False) if repeat < 100 else (True,):
            parts = decompose_predictions(f, np.zeros(n_test), include_test=include_test).error()
            intervals = {name: part.confidence_interval(0.95) for name, part in parts.parts.items()}
            hits[include_test].append(
                [bool(a <= truth[name] <= b) for name, (a, b) in intervals.items()]
            )
    assert np.min(np.mean(hits[True], axis=0)) > 0.91
    assert np.max(np.mean(hits[True], axis=0)) < 0.99
    assert np.min(np.mean(hits[False], axis=0)) < 0.7


@pytest.mark.full
@pytest.mark.statistical
@pytest.mark.parametrize("draws", [(10, 2, 3), (12, 2, 4)])
def test_z_scores_are_zero_on_average(draws: tuple[int, int, int]) -> None:
    effects, rng, off = Effects(), np.random.default_rng(sum(draws)), []
    truth = expected(effects)
    for _ in range(200):
        f = effects.draw((*draws, 150), rng)
        result = answers(decompose_predictions(f, np.zeros(150), include_test=False))
        off.append([float(part.z_score(truth[name])) for name, part in result.items()])
    assert np.max(np.abs(np.mean(off, axis=0))) < 0.2
