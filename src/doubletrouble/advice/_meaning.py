"""The largest part of the error of one setting, and what reduces it, as text."""

import math
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.advice._option import changed, richer, samples, scalar, wider, width
from doubletrouble.advice._words import (
    MEANINGS,
    divergence,
    largest,
    models,
    said,
    seen_below,
    share,
    times,
)
from doubletrouble.ensembles import Divide, Ensemble, EnsembleLike, Scheme, as_ensemble
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, exact_error, optimal_ridge

MANY = 10  # as many times the models, the features or the data are within reach
_FACTORS = (1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.2, 2.5, 2.8, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5,
            6.0, 7.0, 8.0, 9.0, MANY)  # fmt: skip
"""Not the largest alone: it may lead to the peak at P = N, and out of a dip before it."""
_GAIN = 0.902  # a remedy takes a tenth of the error away, or what between two factors may be one
_FOR = {
    "noise": ("ridge", "models", "width"),
    "initialization": ("models", "width", "ridge"),
    "sampling": ("data", "all data", "ridge"),
    "bias": ("width", "data", "all data", "less ridge"),
    "bayes": (),
}
"""What makes each part smaller; "all data" is for models that have a part of them each."""


class _Remedy(NamedTuple):
    """A change, as text, and the error after it."""

    name: str
    words: str
    error: ErrorTerms[Any]
    last: int = 0  # the more, the less anybody can do it

    @property
    def total(self) -> float:
        return float(self.error.total)

    def helps(self, now: float) -> bool:
        """Whether about a tenth of the error, or more, goes away."""
        return math.isfinite(self.total) and self.total <= _GAIN * now

    def lowers(self, name: str, now: ErrorTerms[Any]) -> bool:
        """Whether a part of the error is one that this is for, and falls."""
        before, after = (float(getattr(error, name)) for error in (now, self.error))
        return self.name in _FOR[name] and seen_below(after, before)


def meaning(problem: AnyProblem, ensemble: EnsembleLike = 1) -> str:
    """Name the largest part of the error, its meaning, and the changes that reduce it.

    Where nothing that makes this part smaller takes a tenth of the error away, but something else
    does, the text states it.

    >>> from doubletrouble import Problem
    >>> print(meaning(Problem(features_per_dim=1.5, ridge=1e-5, noise=0.1)))
    74 % of the error of 1.21 is initialization: the luck of the random features. 10 times the
    features would take the error to 0.326.
    """
    scheme = as_ensemble(ensemble, "advise")
    now = exact_error(problem, scheme)
    total = float(now.total)
    if total == 0:
        return "The error is 0: there is nothing to remove."
    opening = _opening(problem, scheme, now)
    helping = [one for one in _remedies(problem, scheme, total) if one.helps(total)]
    # the one that helps most is first; more data, which are rarely available, come last
    helping.sort(key=lambda one: (one.last, one.total))
    part = largest(now)
    if remedy := next((one for one in helping if one.lowers(part, now)), None):
        return f"{opening} {remedy.words} would take the error to {said(remedy.total)}."
    if helping:
        remedy = helping[0]
        words = remedy.words[0].lower() + remedy.words[1:]
        beginning = "It is not the part to begin with"
        return f"{opening} {beginning}: {words} would take the error to {said(remedy.total)}."
    whole = "all data for each model, " if isinstance(scheme, Divide) else ""
    return (
        f"{opening} No change within reach ({whole}another ridge, or up to {MANY} times the "
        "features, models or data) takes a tenth of it away."
    )


def _opening(problem: AnyProblem, ensemble: Scheme, now: ErrorTerms[Any]) -> str:
    total = float(now.total)
    if math.isinf(total):
        return f"The error is infinite: {divergence(problem, ensemble)}."
    if math.isinf(scalar(problem.ridge)):
        return f"With λ = ∞ the models predict zero, and miss all of the target: {said(total)}."
    name = largest(now)
    part = float(getattr(now, name))
    return f"{share(part, total)} of the error of {said(total)} is {name}: {MEANINGS[name]}."


def _remedies(problem: AnyProblem, ensemble: Scheme, now: float) -> list[_Remedy]:
    """The errors after some large changes, and at the best ridge."""
    best = optimal_ridge(problem, ensemble)
    least, ridge = float(best.ridge), scalar(problem.ridge)
    found = [
        _Remedy("less ridge" if least < ridge else "ridge", _ridge(least), best.error),
        *_larger(problem, ensemble, now),
    ]
    members = scalar(ensemble.n_members)
    more = MANY * members
    averaging = f"Averaging {models(more)}"
    if isinstance(ensemble, Ensemble):  # the more models, the better
        return [*found, _Remedy("models", averaging, exact_error(problem, more))]
    whole = exact_error(problem, np.array([members, more]))
    return [
        *found,
        _Remedy("all data", "All data for each model", _one(whole, 0)),
        _Remedy("models", f"{averaging}, each on all data,", _one(whole, 1), last=1),
    ]


def _larger(problem: AnyProblem, ensemble: Scheme, now: float) -> list[_Remedy]:
    """More features, and more data, where they help: all factors at once."""
    P, N, count = width(problem), samples(problem), len(_FACTORS)
    there = changed(
        problem,
        width=np.array([wider(P, factor) for factor in _FACTORS] + [P] * count),
        samples=np.array([N] * count + [richer(N, factor) for factor in _FACTORS]),
    )
    errors = exact_error(there, ensemble)
    found = []
    for place in np.flatnonzero(np.asarray(errors.total) <= _GAIN * now).tolist():
        name, what, last = ("width", "features", 0) if place < count else ("data", "data", 2)
        words = f"{times(_FACTORS[place % count]).capitalize()} the {what}"
        found.append(_Remedy(name, words, _one(errors, place), last))
    return found


def _one(errors: ErrorTerms[Any], place: int) -> ErrorTerms[Any]:
    """The error of one of several settings."""
    parts: dict[str, Any] = {name: float(getattr(errors, name)[place]) for name in MEANINGS}
    return ErrorTerms(**parts)


def _ridge(value: float) -> str:
    """A best ridge in words."""
    if value == 0:
        return "No ridge at all"
    return "Predicting zero" if math.isinf(value) else f"The best ridge, λ = {said(value)},"
