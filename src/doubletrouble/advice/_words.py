"""Numbers and causes in plain words."""

import math
from typing import Any

import numpy as np

from doubletrouble.activations import activation
from doubletrouble.ensembles import Scheme
from doubletrouble.problems import Problem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, Inputs, Spectrum, evaluate

MEANINGS = {
    "noise": "label noise that is fitted",
    "initialization": "the luck of the random features",
    "sampling": "the luck of the training inputs",
    "bias": "what no average removes",
    "bayes": "noise on the test labels, which nothing removes",
}
_TOO_LARGE = "it is larger than the largest number there is here"


def said(value: float, digits: int = 3) -> str:
    """A number to three digits, or as many as are asked for.

    >>> said(0.61803), said(1234.5), said(math.inf), said(0.0), said(2.0), said(0.61803, 4)
    ('0.618', '1230', '∞', '0', '2', '0.618')
    >>> said(12345678.0), said(1234.56, 5)
    ('1.23e+07', '1234.6')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    plain = 1e-3 <= abs(rounded) < 1e6  # no exponent
    return f"{rounded:.{max(digits, 6) if plain else digits}g}"


def noun(number: str, name: str) -> str:
    """What there are so many of.

    >>> noun("1", "feature"), noun("1.2", "feature"), noun("0", "feature")
    ('feature', 'features', 'features')
    """
    return name if number == "1" else f"{name}s"


def seen_below(one: float, other: float) -> bool:
    """Whether a number is less than another, and is said to be.

    >>> seen_below(0.98, 1.0), seen_below(0.9999999, 1.0), seen_below(math.inf, math.inf)
    (True, False, False)
    """
    return one < other and said(one) != said(other)


def share(part: float, total: float) -> str:
    """A share in per cent.

    >>> share(1.0, 3.0), share(0.0, 0.0)
    ('33 %', '0 %')
    """
    return f"{100 * part / total:.0f} %" if total > 0 else "0 %"


def largest(error: ErrorTerms[Any]) -> str:
    """The name of the part that is most of the error."""
    return max(MEANINGS, key=lambda name: float(getattr(error, name)))


def models(members: float) -> str:
    """How many models.

    >>> models(1.0), models(1234.0), models(math.inf), models(2.0**40)
    ('one model', '1234 models', 'infinitely many models', '1.1e+12 models')
    """
    if math.isinf(members):
        return "infinitely many models"
    return "one model" if members == 1 else f"{count(members)} models"


def count(value: float) -> str:
    """A whole number: all its digits, if they are few.

    >>> count(123456.0), count(1e300), count(math.inf)
    ('123456', '1e+300', '∞')
    """
    return said(value, 6 if value < 1e6 else 3)


def times(factor: float) -> str:
    """So many times as much.

    >>> times(2.0), times(0.5), times(20000.0), times(1.0), times(math.inf)
    ('twice', 'half', '20000 times', 'as much as', 'infinitely many times')
    """
    known = {"2": "twice", "0.5": "half", "1": "as much as", "∞": "infinitely many times"}
    return known.get(said(factor), f"{said(factor)} times")


def divergence(problem: AnyProblem, ensemble: Scheme) -> str:
    """Why an error is infinite.

    >>> from doubletrouble import Divide, Ensemble
    >>> print(divergence(Problem(features_per_dim=0.5, ridge=0.0), Divide(2)))
    each model has as many features as samples, and there is no ridge
    >>> print(divergence(Problem(ridge=0.0, activation="linear"), Ensemble(1)))
    the model is linear and has as many samples as inputs have dimensions, and there is no ridge
    """
    each = "the model" if ensemble.n_members == 1 else "each model"
    if np.any(np.asarray(problem.ridge) > 0):
        return _TOO_LARGE
    member = evaluate(problem, ensemble, _member_sizes)
    if member["samples"] == member["rank"]:  # whatever the features, so that this comes first
        if isinstance(problem, Problem):
            each, what = f"{each} is linear and", "inputs have dimensions"
        else:
            what = "the kernel has eigenvalues above 0"
        return f"{each} has as many samples as {what}, and there is no ridge"
    if member["spare"] == 0:
        return f"{each} has as many features as samples, and there is no ridge"
    return _TOO_LARGE


def _member_sizes(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> dict[str, Any]:
    """The samples of one member, P less these, and the samples that learn every mode in full."""
    samples, spare = at.member_samples()
    return {"samples": samples, "spare": spare, "rank": spectrum.rank}


def noise_ratios(problem: AnyProblem) -> tuple[float, float] | None:
    """(τ² + F⋆²)/F² and μ⋆²/μ₁² of an isotropic problem with something to learn, else nothing."""
    if not isinstance(problem, Problem):
        return None
    sigma = activation(problem.activation)
    F, tau, G = (
        float(np.asarray(v)) for v in (problem.signal, problem.noise, problem.nonlinear_signal)
    )
    if F == 0 or sigma.linear == 0:
        return None
    noise, curved = math.hypot(tau / F, G / F), sigma.nonlinear / sigma.linear
    return noise * noise, curved * curved  # not **, which refuses to overflow
