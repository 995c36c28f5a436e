r"""Errors on the training set of one member with any convex loss.

A training output is the proximal point of its cavity output (`_labels`): with e the cavity residual
and g the force, the residual after training is e - V g. Margin losses leave a training label on the
wrong side where t = y ω < t₀, with t₀ = -V min(1/c, h), or -V/2 for the logistic loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from doubletrouble.convex._fixed_point import SolvedPoints
from doubletrouble.convex._labels import Clip, density, partial_moments, skew_nodes

_FAR = 40.0


def residual_training(solution: SolvedPoints, softness: float) -> tuple[Any, Any]:
    """The mean squared residual and the mean loss on the training labels."""
    at, V, b, c = solution.at, solution.V, solution.third, softness
    clip = Clip.of(at, c, V)
    S = np.sqrt(solution.unaligned + solution.excess + at.variances)
    alpha = np.clip((clip.start + b) / S, -_FAR, _FAR)
    beta = np.clip((clip.stop + b) / S, -_FAR, _FAR)
    shrink = c / (c + V)

    def moments(low: Any, high: Any) -> tuple[Any, Any, Any]:
        """∫ e^k over e = S x - b, x from low to high."""
        mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        edge, tilt = density(low) - density(high), low * density(low) - high * density(high)
        first = S * edge - b * mass
        return mass, first, b * b * mass - 2 * b * S * edge + S * S * (mass + tilt)

    inside = moments(alpha, beta)
    squares, losses = shrink**2 * inside[2], (c / 2) * inside[2] / (c + V) ** 2
    for slope, stop, tail in (
        (at.high, clip.top, moments(beta, np.full_like(beta, _FAR))),
        (at.low, clip.bottom, moments(np.full_like(alpha, -_FAR), alpha)),
    ):
        mass, first, second = tail
        reached = mass > 0  # a force that is never reached may be infinite
        force, stop = np.where(reached, slope, 0.0), np.where(reached, stop, 0.0)
        squares = squares + second - 2 * stop * first + stop**2 * mass
        losses = losses + force * (first - stop * mass) - 0.5 * c * force**2 * mass
    return (at.weights * squares).sum(0), (at.weights * losses).sum(0)


def margin_training(solution: SolvedPoints, softness: float) -> tuple[Any, Any]:
    """The share of training labels on the wrong side, and the mean loss."""
    at, V, a, c = solution.at, solution.V, solution.third, softness
    clip = Clip.of(at, c, V)
    r = np.sqrt(solution.aligned + solution.excess)
    with np.errstate(divide="ignore"):
        most = np.minimum(np.divide(1.0, c), at.high)
    wrong, _, _ = partial_moments(np.clip(-V * most / r, -_FAR, _FAR), a, at.flips)
    ends = np.clip(np.stack([1 - clip.stop, 1 - clip.start]) / r, -_FAR, _FAR)
    (P0, P1), (E0, E1), (F0, F1) = partial_moments(ends, a, at.flips)
    squares = P1 - P0 - 2 * r * (E1 - E0) + r * r * (F1 - F0)
    reached = P0 > 0
    force, stop = np.where(reached, at.high, 0.0), np.where(reached, clip.top, 0.0)
    beyond = force * ((1 - stop) * P0 - r * E0) - 0.5 * c * force**2 * P0
    return wrong, 0.5 * c * squares / (c + V) ** 2 + beyond


def logistic_training(solution: SolvedPoints) -> tuple[Any, Any]:
    """The share of training labels on the wrong side, and the mean loss."""
    at, V, a = solution.at, solution.V, solution.third
    r = np.sqrt(solution.aligned + solution.excess)
    wrong, _, _ = partial_moments(np.clip(-0.5 * V / r, -_FAR, _FAR), a, at.flips)
    loss = np.empty_like(wrong)
    for i, omega, mass, force in skew_nodes(at, V, r, a):
        loss[i] = (mass * np.logaddexp(0.0, -(omega + force))).sum(-1)
    return wrong, loss
