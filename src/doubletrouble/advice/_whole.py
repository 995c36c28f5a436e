"""Whole numbers of features, where features and samples are counted.

The theory is of ratios, and so is the best allocation. Of the whole ones next to it, this takes the
one of least error that the budget pays for; its own error is the one reported.
"""

from dataclasses import replace

import numpy as np

from doubletrouble.advice._cost import Cost, cost_of, most_members, widest
from doubletrouble.advice._counts import CLOSE, is_whole
from doubletrouble.advice._counts import most_parts as most_parts  # found here as well
from doubletrouble.advice._equality import SAME, affordable
from doubletrouble.advice._option import AdviceOption, changed, samples
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import SpectralProblem
from doubletrouble.theory import AnyProblem, exact_error, optimal_ridge

_BESIDE = np.arange(-3.0, 4.0)
_AROUND = np.geomspace(0.6, 1.7, 11)
_GOOD = 8
_LARGEST = 2.0**53  # larger floats are all whole


def one_of(problem: AnyProblem, dim: float | None) -> float | None:
    """One feature, or sample, in the problem's units; nothing where they are not counted."""
    if isinstance(problem, SpectralProblem):
        one = 1.0
    elif dim is None:
        return None
    else:
        one = 1 / dim
    return one if is_whole(samples(problem) / one) else None


def nearest_many(option: AdviceOption, one: float | None) -> AdviceOption:
    """Infinitely many models of a whole number of features each."""
    if one is None or np.isinf(option.width) or is_whole(option.width / one):
        return option
    below = np.floor(option.width / one)
    widths = np.maximum(np.array([below, below + 1]), 1.0) * one
    totals = np.asarray(exact_error(changed(option.problem, width=widths), np.inf).total)
    there = changed(option.problem, width=float(widths[np.argmin(totals)]))
    found = AdviceOption.of(option.name, option.label, there, option.ensemble)
    return replace(found, ideal=option)


def nearest(
    option: AdviceOption, budget: float, cost: Cost, one: float | None, *, free: bool
) -> AdviceOption:
    """The best whole allocation next to the best one; that itself where none can be paid for."""
    if one is None or np.isinf(option.width) or is_whole(option.width / one):
        return option
    pairs = _pairs(option, budget, cost, one)
    if not pairs:
        return option
    kind = type(option.ensemble)
    members, counts = (np.array(v) for v in zip(*sorted(pairs), strict=True))
    there = changed(option.problem, width=counts * one)
    total = np.asarray(exact_error(there, kind(members)).total)
    ridges = np.full_like(total, option.ridge)
    if free:  # best ridges are close, and take long: only of those that are good at this one
        good = np.sort(np.argsort(total, kind="stable")[:_GOOD])
        members, counts = members[good], counts[good]
        best = optimal_ridge(changed(option.problem, width=counts * one), kind(members))
        total, ridges = np.asarray(best.error.total), np.asarray(best.ridge)
    place = int(np.argmax(total <= total.min() * (1 + SAME)))  # the fewest models of those
    chosen = {"width": float(counts[place] * one), "ridge": float(ridges[place])}
    found = AdviceOption.of(
        option.name, option.label, changed(option.problem, **chosen), kind(float(members[place])),
    )  # fmt: skip
    return replace(found, ideal=option)


def _pairs(option: AdviceOption, budget: float, cost: Cost, one: float) -> set[tuple[float, float]]:
    """Numbers of models and of features that can be paid for: fewer and more than the best."""
    K, P, N = option.n_members, option.width / one, option.samples
    divided = option.scheme == "divide"
    members = _beside(K, most_parts(option.problem, one) if divided else np.inf)
    widths = _beside(P, np.inf)
    wide = np.floor(widest(budget, N, members, option.scheme, cost) / one * (1 + CLOSE))
    tried = [(k, p) for k in members.tolist() for p in (np.floor(P), np.ceil(P))]
    tried += zip(members.tolist(), wide.tolist(), strict=True)
    if not divided:  # the more models, the better
        many = np.floor(most_members(budget, N, widths * one, cost) * (1 + CLOSE))
        tried += zip(many.tolist(), widths.tolist(), strict=True)
    elif cost == "features":
        many = np.minimum(np.floor(budget / (widths * one) * (1 + CLOSE)), members[-1])
        tried += zip(many.tolist(), widths.tolist(), strict=True)
    return {
        (float(k), float(p)) for k, p in tried
        if k >= 1 and p >= 1 and affordable(cost_of(p * one, N, k, option.scheme, cost), budget)
    }  # fmt: skip


def _beside(value: float, most: float) -> FloatArray:
    """Whole numbers around a number."""
    near = np.array([value]) if value > _LARGEST else np.concatenate(
        [np.floor(value) + _BESIDE, np.rint(value * _AROUND)]
    )  # fmt: skip
    return np.unique(np.clip(near, 1.0, most))
