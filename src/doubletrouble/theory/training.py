r"""The training error.

On a sample it was trained on, a ridge learner's residual is B times what it would have been without
that sample, B = 1 - z/N being the unused fraction of the samples: generalized cross-validation,
exact in the limit, and for two learners on the same data as well. With ρ_k the residual of learner
k on a fresh sample (noisy label included), K averaged models leave on a training sample

    on one data set       B Σ_k ρ_k / K
    on divided data       (B ρ_1 + Σ_{k>1} ρ_k) / K         (learner 1 has seen the sample)

and the average of ρ_k ρ_l is the test error of one model (k = l), or of two that share the data or
nothing (k ≠ l), plus the noise of the label.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from doubletrouble.parameters import FloatArray, Numeric, Value
from doubletrouble.theory.evaluate import Product, Weights, evaluate
from doubletrouble.theory.points import AnyProblem
from doubletrouble.theory.split import Split


def training_error(problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble") -> Value:
    """Return the mean squared error on the (noisy) training labels of K averaged models.

    With `scheme="divide"` the average is judged on the whole data set: on each sample, one
    member has trained and the others have not.

    >>> from doubletrouble import Problem
    >>> training_error(Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.0))
    0.0
    """
    return evaluate(problem, n_members, scheme, _divided if scheme == "divide" else _together)[0]


def _residuals(p: Split, w: Weights, times: Product) -> tuple[FloatArray, FloatArray, FloatArray]:
    """E ρ_k ρ_l: what all learners share, what those on one data set add, and a single one."""
    noise = w.noise + w.nonlinear
    always = w.signal * p.missed + noise
    on_the_data = times(w.signal, p.data) + times(noise, p.noise_shared)
    alone = times(w.signal, p.features + p.features_data) + times(noise, p.noise_own)
    return always, on_the_data, alone


def _together(p: Split, w: Weights, times: Product) -> tuple[FloatArray, ...]:
    always, on_the_data, alone = _residuals(p, w, times)
    B, test = p.unused_samples, always + on_the_data + times(w.member, alone)
    return (times(B, times(B, test)),)  # B² alone could underflow


def _divided(p: Split, w: Weights, times: Product) -> tuple[FloatArray, ...]:
    always, on_the_data, alone = _residuals(p, w, times)
    B, others = p.unused_samples, 1 - w.member
    mean = others + w.member * B
    spread = w.member * (others + w.member * B**2)
    return (mean**2 * always + times(spread, on_the_data + alone),)
