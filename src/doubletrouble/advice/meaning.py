"""What the error of one setting means, in a sentence or two."""

import math
from typing import NamedTuple

import numpy as np

from doubletrouble.advice.option import changed, richer, samples, wider, width
from doubletrouble.advice.words import MEANINGS, divergence, largest, said, share
from doubletrouble.results import ErrorTerms
from doubletrouble.theory.error import exact_error
from doubletrouble.theory.points import AnyProblem

MANY = 10  # models, or as many times the features or the data
_GAIN = 0.9  # a remedy takes at least a tenth of the error away


class _Remedy(NamedTuple):
    """A change in words, and the error after it."""

    words: str
    total: float


def meaning(problem: AnyProblem, n_members: float = 1, scheme: str = "ensemble") -> str:
    """Say which part of the error is the largest, what that is, and what would remove it.

    >>> from doubletrouble import Problem
    >>> print(meaning(Problem(features_per_dim=1.5, ridge=1e-5, noise=0.1)))
    74 % of the error of 1.21 is initialization: the luck of the random features. 10 times the
    features would take the error to 0.326.
    """
    now = exact_error(problem, n_members, scheme)
    total = float(now.total)
    if total == 0:
        return "The error is 0: there is nothing to remove."
    opening = _opening(problem, n_members, scheme, now)
    *remedies, data = _remedies(problem, n_members, scheme)
    remedy = min(remedies, key=lambda one: one.total)
    if remedy.total > _GAIN * total:  # only then more data, which nobody has to spare
        remedy = min(remedy, data, key=lambda one: one.total)
    if remedy.total > _GAIN * total:
        return f"{opening} No change within reach takes a tenth of it away."
    return f"{opening} {remedy.words} would take the error to {said(remedy.total)}."


def _opening(problem: AnyProblem, members: float, scheme: str, now: ErrorTerms) -> str:
    total = float(now.total)
    if math.isinf(total):
        return f"The error is infinite: {divergence(problem, members, scheme)}."
    if math.isinf(float(problem.ridge)):  # type: ignore[arg-type]
        return f"With λ = ∞ the models predict zero, and miss all of the target: {said(total)}."
    name = largest(now)
    part = float(getattr(now, name))
    return f"{share(part, total)} of the error of {said(total)} is {name}: {MEANINGS[name]}."


def _remedies(problem: AnyProblem, members: float, scheme: str) -> list[_Remedy]:
    """The errors after some large changes, in one evaluation for each scheme; data are the last."""
    P, N, ridge = width(problem), samples(problem), float(problem.ridge)  # type: ignore[arg-type]
    K = members
    # enough to tell whether a ridge helps; the best one takes longer
    ridges = [v for v in (0.0, 0.001, 0.01, 0.1, 1.0, 10.0) if v != ridge]
    tried = [
        (f"{MANY} times the features", wider(P, MANY), N, ridge, K),
        *((f"A ridge of λ = {said(v)}" if v else "No ridge at all", P, N, v, K) for v in ridges),
        (f"{MANY} times the data", P, richer(N, MANY), ridge, K),
    ]
    if scheme == "ensemble":
        tried.insert(0, (f"Averaging {said(MANY * K)} models", P, N, ridge, MANY * K))
    found = _evaluated(problem, tried, scheme)
    if scheme == "divide":
        all_data = (f"All data for each of the {said(K)} models", P, N, ridge, K)
        found = [*_evaluated(problem, [all_data], "ensemble"), *found]
    return found


def _evaluated(
    problem: AnyProblem, tried: list[tuple[str, float, float, float, float]], scheme: str
) -> list[_Remedy]:
    words, *columns = zip(*tried, strict=True)
    P, N, ridge, K = (np.array(column, dtype=np.float64) for column in columns)
    there = changed(problem, width=P, samples=N, ridge=ridge)
    totals = np.asarray(exact_error(there, K, scheme).total)
    return [_Remedy(*pair) for pair in zip(words, totals.tolist(), strict=True)]
