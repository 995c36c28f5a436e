"""Estimates against effects of known size: without bias, and with honest standard errors."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from doubletrouble.decomposition import Decomposition, decompose_predictions
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Estimate
from tests.decomposition.random_effects import Effects

FEW = (3, 2, 3, 6)
MEMBERS = (1.0, 4.0, math.inf)


def answers(result: Decomposition) -> dict[str, Estimate]:
    """Everything that was estimated, by name."""
    anova = {f"anova {name}": part for name, part in result.anova().parts.items()}
    ensembles = {f"K = {K:g}": result.error(K).total for K in MEMBERS}
    return dict(result.error().parts) | anova | ensembles


def expected(effects: Effects) -> dict[str, float]:
    anova = {f"anova {name}": part for name, part in effects.anova.items()}
    return effects.sequential | anova | {f"K = {K:g}": effects.ensemble(K) for K in MEMBERS}


def z_scores(draws: list[dict[str, float]], truth: dict[str, float]) -> dict[str, float]:
    return {
        name: float(Estimate.of(np.array([draw[name] for draw in draws])).z_score(truth[name]))
        for name in draws[0]
    }


# --- bias ----------------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize("tails", [None, 5.0])
def test_estimates_have_no_bias(crossed: bool, tails: float | None) -> None:
    effects, rng = Effects(tails=tails), np.random.default_rng(3)
    draws = []
    for _ in range(1500):
        f = effects.draw(FEW, rng, crossed=crossed)
        split = decompose_predictions(f, np.zeros(6), crossed=crossed, include_test=False)
        result = answers(split)
        draws.append({name: float(part.value) for name, part in result.items()})
    scores = z_scores(draws, expected(effects))
    assert len(scores) == (13 if crossed else 11)
    assert max(map(abs, scores.values())) < 5, scores


def plug_in(f: FloatArray) -> dict[str, float]:
    """What one would write down first: variances of means, and the square of the mean."""
    over_noise, over_init = f.mean(axis=1), f.mean(axis=(1, 2))
    return {
        "noise": float(f.var(axis=1).mean()),
        "initialization": float(over_noise.var(axis=1).mean()),
        "sampling": float(over_init.var(axis=0).mean()),
        "bias": float((f.mean(axis=(0, 1, 2)) ** 2).mean()),
    }


def leaking(f: FloatArray) -> dict[str, float]:
    """Shared initializations taken for fresh ones: their main effect goes into the bias."""
    result = decompose_predictions(f, np.zeros(6), crossed=False)
    return {name: float(result.error().parts[name].value) for name in ("sampling", "bias")}


@pytest.mark.statistical
@pytest.mark.parametrize("wrong", [plug_in, leaking])
def test_wrong_estimators_are_rejected(wrong: Callable[[FloatArray], dict[str, float]]) -> None:
    effects, rng = Effects(initialization=2.0), np.random.default_rng(3)
    draws = [wrong(effects.draw(FEW, rng)) for _ in range(1500)]
    scores = z_scores(draws, effects.sequential)
    assert min(map(abs, scores.values())) > 10, scores


@pytest.mark.statistical
def test_notes_name_the_parts_that_absorb_others() -> None:
    effects, rng = Effects(), np.random.default_rng(4)
    e = effects
    cases: dict[tuple[tuple[int, int, int, int], bool], dict[str, float]] = {
        ((3, 1, 3, 6), True): {
            "initialization": e.sequential["initialization"] + e.noise_initialization_sampling,
            "sampling": e.sampling + e.noise_sampling,
            "bias": e.bias,
        },
        ((3, 2, 1, 6), True): {
            "noise": e.sequential["noise"],
            "sampling": e.sampling + e.initialization_sampling,
            "bias": e.bias + e.initialization,
        },
        ((3, 2, 1, 6), False): {
            "noise": e.sequential["noise"],
            "sampling": e.sampling + e.sequential["initialization"],
            "bias": e.bias,
        },
        ((1, 2, 3, 6), True): {
            "noise": e.sequential["noise"],
            "initialization": e.sequential["initialization"],
            "bias": e.bias + e.sampling,
        },
    }
    for (shape, crossed), truth in cases.items():
        draws = []
        for _ in range(1500):
            f = effects.draw(shape, rng, crossed=crossed)
            split = decompose_predictions(f, np.zeros(6), crossed=crossed, include_test=False)
            parts = split.error().parts
            draws.append({name: float(part.value) for name, part in parts.items()})
        scores = z_scores(draws, truth)
        assert scores.keys() == truth.keys()
        assert max(map(abs, scores.values())) < 5, (shape, crossed, scores)


# --- coverage ------------------------------------------------------------------------------------


def coverage(
    effects: Effects, shape: tuple[int, int, int, int], *, crossed: bool, repeats: int = 500
) -> dict[str, float]:
    """How often the interval of nominally 95 % has the true value in it."""
    rng, truth = np.random.default_rng(5), expected(effects)
    hits: dict[str, list[bool]] = {}
    for _ in range(repeats):
        f = effects.draw(shape, rng, crossed=crossed)
        result = decompose_predictions(f, np.zeros(shape[-1]), crossed=crossed, include_test=False)
        for name, part in answers(result).items():
            low, high = part.confidence_interval(0.95)
            hits.setdefault(name, []).append(bool(low <= truth[name] <= high))
    return {name: float(np.mean(result)) for name, result in hits.items()}


@pytest.mark.statistical
@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize("shape", [(20, 2, 4, 30), (10, 2, 6, 30)])
def test_intervals_cover(shape: tuple[int, int, int, int], crossed: bool) -> None:
    result = coverage(Effects(), shape, crossed=crossed)
    assert min(result.values()) > 0.91, result  # 0.92 to 0.98, and one standard error
    assert max(result.values()) < 0.99, result


@pytest.mark.statistical
@pytest.mark.parametrize("crossed", [True, False])
def test_intervals_cover_with_heavy_tails(crossed: bool) -> None:
    result = coverage(Effects(tails=5.0), (20, 2, 5, 30), crossed=crossed)
    assert min(result.values()) > 0.86, result
    assert max(result.values()) < 0.99, result


@pytest.mark.statistical
def test_shared_initializations_taken_for_fresh_ones_do_not_cover() -> None:
    effects, rng = Effects(initialization=2.0), np.random.default_rng(6)
    hits = []
    for _ in range(200):
        f = effects.draw((20, 2, 4, 30), rng)
        result = decompose_predictions(f, crossed=False, include_test=False)
        low, high = result.error().initialization.confidence_interval()
        hits.append(bool(low <= effects.sequential["initialization"] <= high))
    assert np.mean(hits) < 0.7


@pytest.mark.statistical
def test_intervals_cover_the_average_over_all_test_points() -> None:
    rng, T = np.random.default_rng(7), 60
    truth = Effects().sequential | {"bias": 1.0}
    hits: dict[bool, list[list[bool]]] = {False: [], True: []}
    for _ in range(300):
        f = Effects(bias=0.0).draw((20, 2, 4, T), rng) / np.sqrt(np.linspace(0.5, 1.5, T))
        f = rng.normal(size=T) + np.sqrt(rng.exponential(size=T)) * f
        for include_test, result in hits.items():
            parts = decompose_predictions(f, np.zeros(T), include_test=include_test).error().parts
            intervals = {name: part.confidence_interval() for name, part in parts.items()}
            result.append([bool(a <= truth[name] <= b) for name, (a, b) in intervals.items()])
    assert np.min(np.mean(hits[True], axis=0)) > 0.91
    assert np.max(np.mean(hits[True], axis=0)) < 0.99
    assert np.min(np.mean(hits[False], axis=0)) < 0.7  # for those test points alone
