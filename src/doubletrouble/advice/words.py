"""Numbers and causes in plain words."""

import math

from doubletrouble.activations import activation
from doubletrouble.problems import Problem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory.points import AnyProblem

CAUSES = {
    "noise": "label noise that is fitted",
    "initialization": "the luck of the random features",
    "sampling": "the luck of the training inputs",
    "bias": "what no average removes",
    "bayes": "noise on the test labels, which nothing removes",
}


def said(value: float) -> str:
    """A number to three digits.

    >>> said(0.61803), said(1234.5), said(math.inf), said(0.0), said(2.0)
    ('0.618', '1230', '∞', '0', '2')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    return f"{rounded:g}" if 1e-3 <= abs(rounded) < 1e6 else f"{rounded:.3g}"


def share(part: float, total: float) -> str:
    """A share in per cent.

    >>> share(1.0, 3.0), share(0.0, 0.0)
    ('33 %', '0 %')
    """
    return f"{100 * part / total:.0f} %" if total > 0 else "0 %"


def largest(error: ErrorTerms) -> str:
    """The name of the part that is most of the error."""
    return max(CAUSES, key=lambda name: float(getattr(error, name)))


def models(members: float) -> str:
    """How many models.

    >>> models(1.0), models(12.0), models(math.inf)
    ('one model', '12 models', 'infinitely many models')
    """
    if math.isinf(members):
        return "infinitely many models"
    return "one model" if members == 1 else f"{members:.0f} models"


def noise_ratios(problem: AnyProblem) -> tuple[float, float] | None:
    """σ²/F² and μ⋆²/μ₁² of an isotropic problem with something to learn, else nothing."""
    if not isinstance(problem, Problem):
        return None
    sigma = activation(problem.activation)
    F, tau, G = (float(v) for v in (  # type: ignore[arg-type]
        problem.signal, problem.noise, problem.nonlinear_signal))  # fmt: skip
    if F == 0 or sigma.linear == 0:
        return None
    noise, curved = math.hypot(tau / F, G / F), sigma.nonlinear / sigma.linear
    return noise * noise, curved * curved  # not **, which refuses to overflow
