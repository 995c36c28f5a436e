"""What the error of one setting means, in a sentence or two."""

import math
from typing import NamedTuple

from doubletrouble.advice.option import changed, richer, samples, wider, width
from doubletrouble.advice.words import MEANINGS, divergence, largest, said, seen_below, share
from doubletrouble.results import ErrorTerms
from doubletrouble.theory.error import exact_error
from doubletrouble.theory.optimum import optimal_ridge
from doubletrouble.theory.points import AnyProblem

MANY = 10  # models, or as many times the features or the data
_GAIN = 0.9  # a remedy takes at least a tenth of the error away
_FOR = {
    "noise": ("ridge", "models", "width"),
    "initialization": ("models", "width", "ridge"),
    "sampling": ("data", "all data", "ridge"),
    "bias": ("width", "data", "all data", "less ridge"),
    "bayes": (),
}
"""What makes each part smaller; "all data" is for models that have a part of them each."""


class _Remedy(NamedTuple):
    """A change, in words, and the error after it."""

    name: str
    words: str
    error: ErrorTerms

    @property
    def total(self) -> float:
        return float(self.error.total)

    def lowers(self, name: str, now: ErrorTerms) -> bool:
        """Whether a part of the error is one that this is for, and falls."""
        before, after = (float(getattr(error, name)) for error in (now, self.error))
        return self.name in _FOR[name] and seen_below(after, before)


def meaning(problem: AnyProblem, n_members: float = 1, scheme: str = "ensemble") -> str:
    """Say which part of the error is the largest, what that is, and what would remove it.

    Where nothing that makes this part smaller takes a tenth of the error away, but something else
    does, it says so.

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
    remedies = _remedies(problem, n_members, scheme)
    fitting = [one for one in remedies if one.lowers(largest(now), now)]
    if remedy := _best(fitting, total):
        return f"{opening} {remedy.words} would take the error to {said(remedy.total)}."
    if remedy := _best(remedies, total):
        words = remedy.words[0].lower() + remedy.words[1:]
        beginning = "It is not the part to begin with"
        return f"{opening} {beginning}: {words} would take the error to {said(remedy.total)}."
    return f"{opening} No change within reach takes a tenth of it away."


def _best(remedies: list[_Remedy], total: float) -> _Remedy | None:
    """The one that helps most, if any does; more data, which nobody has to spare, come last."""
    helping = [one for one in remedies if one.total <= _GAIN * total]
    return min(helping, key=lambda one: (one.name == "data", one.total), default=None)


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
    """The errors after some large changes, and at the best ridge."""
    P, N, ridge = width(problem), samples(problem), float(problem.ridge)  # type: ignore[arg-type]
    K = members

    def after(name: str, words: str, there: AnyProblem, K: float, scheme: str) -> _Remedy:
        return _Remedy(name, words, exact_error(there, K, scheme))

    best = optimal_ridge(problem, K, scheme)
    least = float(best.ridge)
    wide, rich = changed(problem, width=wider(P, MANY)), changed(problem, samples=richer(N, MANY))
    return [
        after("models", f"Averaging {said(MANY * K)} models", problem, MANY * K, scheme)
        if scheme == "ensemble"
        else after("all data", "All data for each model", problem, K, "ensemble"),
        after("width", f"{MANY} times the features", wide, K, scheme),
        after("data", f"{MANY} times the data", rich, K, scheme),
        _Remedy("less ridge" if least < ridge else "ridge", _ridge(least), best.error),
    ]


def _ridge(value: float) -> str:
    """A best ridge in words."""
    if value == 0:
        return "No ridge at all"
    return "Predicting zero" if math.isinf(value) else f"The best ridge, λ = {said(value)},"
