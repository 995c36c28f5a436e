r"""The log loss of Gaussian scores, in closed form but for one integral.

A centred score f of power Q = E f², with overlap m with the target of power ρ, has the log loss
E log(1 + exp(√Q z)) - (1-2p) m/√(2π(ρ+τ²)) against labels with noise τ, flipped with probability p:
log(1 + exp(-y f)) is log(1 + exp(f)) - f [y = 1], and E f [y = 1] = E y f/2. The least of any score
is the entropy of a label given its input.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtr, xlogy

from doubletrouble.convex._labels import gaussian_mean


def mean_softplus(sd: Any) -> Any:
    """E log(1 + exp(sd z)) for a standard normal z: the mean of max(0, sd z), and the rest."""
    rest = _half_line_mean(sd, lambda f: np.log1p(np.exp(-f)))
    return np.asarray(sd) / math.sqrt(2 * math.pi) + rest


def mean_slope(sd: Any) -> Any:
    """E σ'(sd z) for a standard normal z."""
    return _half_line_mean(sd, lambda f: np.exp(-f) / (1 + np.exp(-f)) ** 2)


def _half_line_mean(sd: Any, function: Callable[[Any], Any]) -> Any:
    """E function(sd |z|), z standard normal, of a function that is 0 beyond 40: Gauss's rule."""
    s = np.asarray(sd, dtype=np.float64)[..., None]
    x, w = np.polynomial.legendre.leggauss(24)
    scale = np.minimum(1.0, 4.5 / np.maximum(s, 1e-300))
    total: Any = 0.0
    for low, high in pairwise((0.0, 1.0, 3.0, 6.0, 9.0)):
        z = scale * (low + (high - low) * (x + 1) / 2)
        weights = scale * (high - low) * w * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        total = total + (weights * function(s * z)).sum(-1)
    return total


def label_entropy(flips: Any, variance: Any) -> Any:
    """The entropy of a noisy label given its input, a mean over inputs."""
    shape = np.broadcast_shapes(np.shape(flips), np.shape(variance))
    p, sd = (
        np.broadcast_to(v, shape).astype(np.float64).reshape(-1) for v in (flips, np.sqrt(variance))
    )

    def entropy(x: Any, i: Any) -> tuple[Any, Any]:
        noise = np.maximum(sd[i], 1e-150)[:, None]
        plus, minus = (
            p[i][:, None] + (1 - 2 * p[i][:, None]) * ndtr(np.clip(sign * x / noise, -40, 40))
            for sign in (1, -1)
        )
        value = -xlogy(plus, plus) - xlogy(minus, minus)
        return value, value

    mean, _ = gaussian_mean(entropy, np.ones(p.size), [(np.zeros(p.size), sd)])
    return mean.reshape(shape)
