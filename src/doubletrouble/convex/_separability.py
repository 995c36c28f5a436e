r"""Linear separability of the training data in feature space, in closed form.

In the limit D → ∞, N labelled points with P random features are separable with probability one if
N < N⋆ = P/P₀ and with probability zero if N > N⋆. Here P₀ = 1/2 - k arctan(a)/π with k = 1 - 2p,
and a is the only root of

    a P₀(a) = k s ρ/(π (ρ + τ²)),        s = x/(1+x),  x/(1+x) + x μ⋆²/μ₁² = P/D.

The closed form is derived here: it is the limit of zero margin of the equations in
`_fixed_point`. Labels that do not depend on the features (s = 0 or p = 1/2) give N⋆ = 2P, the
result of [cover1965]. Features of the linear activation have the rank min(P, D), which replaces P.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doubletrouble._numerics import bisected
from doubletrouble.parameters import BoolArray, FloatArray, Value
from doubletrouble.problems import Problem


def separability(problem: Problem) -> Value:
    """Return N⋆/P: data with N < N⋆ are linearly separable in feature space.

    Parameters
    ----------
    problem : Problem
        A problem of classification. Its P/D, activation, `flips` and `noise`/`signal` matter; its
        samples and its ridge have no effect.

    Returns
    -------
    float or numpy.ndarray
        N⋆/P, of the problem's shape; inf means that any number of samples is separable.

    Raises
    ------
    ValueError
        If the task is not classification.
    TypeError
        If `problem` is not a `Problem`.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=0.8, task="classification", flips=0.1)
    >>> round(dt.separability(problem), 4)
    2.323
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.task != "classification":
        raise ValueError(f"task must be classification for separability, got {problem.task!r}")
    noise, signal = np.asarray(problem.noise_sd), np.asarray(problem.signal)
    with np.errstate(all="ignore"):
        share = np.where(signal > 0, 1 / (1 + (noise / signal) ** 2), 0.0)
        inverse_features = 1 / np.asarray(problem.features_per_dim)
        sigma = problem.moments
        fraction, inverse_rank, _ = active_fraction(
            inverse_features, share, np.asarray(problem.flips), sigma.linear**2, sigma.nonlinear**2
        )
        loss_of_rank = np.where(
            inverse_rank > inverse_features, inverse_features / inverse_rank, 1.0
        )
        ratio = np.where(fraction > 0, loss_of_rank / fraction, np.inf)
        result = np.broadcast_to(ratio, problem.shape)
    return result.copy() if problem.shape else float(result)


def threshold_ratio(problem: Problem) -> Value:
    """Return P/N⋆ at the N/D of a problem: the least P/N at which its data are separable.

    P/D and the ridge of the problem have no effect. Linear features have the rank D at most:
    inf means that no P is enough.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(samples_per_dim=2.0, task="classification")
    >>> round(threshold_ratio(problem), 4)
    0.3842
    """
    problem = replace(problem, features_per_dim=1.0, ridge=1.0)
    samples = np.broadcast_to(np.asarray(problem.samples_per_dim, dtype=np.float64), problem.shape)

    def separable(log_features: FloatArray) -> BoolArray:
        features = np.exp(log_features)
        most = np.asarray(separability(replace(problem, features_per_dim=features)))
        return np.asarray(features * most > samples)

    # N⋆ increases with P, and is at least twice the rank of the features
    low = np.log(samples) - 40
    high = np.log(np.maximum(samples / 2, 1.0)) + 1e-9
    possible = separable(high)
    log_features = bisected(lambda x: ~separable(x), low, high)
    result = np.where(possible, np.exp(log_features) / samples, np.inf)
    return result if problem.shape else float(result)


def active_fraction(
    inverse_features: FloatArray,
    share: FloatArray,
    flips: FloatArray,
    linear: float,
    nonlinear: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P₀ = R/N⋆, D/R and a/(1 - 2p), R the rank of the features; `share` is ρ/(ρ + τ²)."""
    if not nonlinear:
        inverse_features = np.maximum(inverse_features, 1.0)
    if linear:
        ratio = nonlinear / linear
        b = 1 - inverse_features * (1 + ratio)
        c = 2 * inverse_features * ratio
        root = np.sqrt(b * b + 2 * c)
        up = np.abs(b) + root  # two forms of one root, as in `_fixed_point`
        s = np.where(b > 0, up / (up + c), 2 / (2 + up))
    else:
        s = 0.0 * inverse_features
    k = 1 - 2 * flips
    target = k * s * share
    # in φ = π/2 - arctan(a): cot(φ) (π(1-k)/2 + kφ) = target falls from ∞ (k < 1) or 1 to 0
    shape = np.shape(target)

    def is_below(phi: FloatArray) -> BoolArray:
        return (0.5 * np.pi * (1 - k) + k * phi) > target * np.tan(phi)

    phi = bisected(is_below, np.zeros(shape), np.full(shape, np.pi / 2))
    # without noise, infinitely many features separate any number of samples
    fraction = np.where(target >= 1, 0.0, flips + k * phi / np.pi)
    return fraction, inverse_features, s * share / (np.pi * fraction)
