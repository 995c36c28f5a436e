r"""Measures of the scores of classes, and their differences along a chain of mean scores.

A centred Gaussian score of power Q and overlap m with the target has, for a target of power ρ,
labels with noise τ, flipped with probability p,

    zero_one         arccos(m/√(ρ Q))/π, against the clean sign
    zero_one_noisy   p + (1-2p) arccos(m/√((ρ+τ²) Q))/π, against labels with noise and flips
    squared          1 - 2m √(2/(πρ)) + Q, against the clean sign
    log              E log(1 + exp(√Q z)) - (1-2p) m/√(2π(ρ+τ²)), against noisy labels

for log(1 + exp(-y f)) is log(1 + exp(f)) - f [y = 1], and E f [y = 1] = E y f/2. The measure of the
mean predictor, Q = q_d = m²/ρ, is the bias; the power that a cause adds to Q increases the measure
by its part. A part is non-negative, depends on the order of the causes, and the parts sum to the
error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtr, xlogy

from doubletrouble.convex._labels import ValueAndSlope, gaussian_mean
from doubletrouble.parameters import FloatArray, IntArray, Numbers, Value
from doubletrouble.problems import Problem

CHAIN = ("sampling", "initialization", "resampling", "noise")
"""Causes in the order in which their powers are added to that of the mean predictor."""


@dataclass(slots=True, kw_only=True)
class ClassMeasure:
    """A measure of scores, as a function of m/√ρ and of the power beyond q_d = m²/ρ."""

    name: str
    flips: FloatArray
    variance: FloatArray  # τ²/ρ

    @classmethod
    def of(cls, problem: Problem, name: str) -> ClassMeasure:
        """The measure of a name; labels without a signal are flipped with probability 1/2."""
        signal, noise = np.asarray(problem.signal), np.asarray(problem.noise_sd)
        seen = signal > 0
        variance = np.where(seen, noise / np.where(seen, signal, 1.0), 0.0) ** 2
        return cls(name=name, flips=np.where(seen, problem.flips, 0.5), variance=variance)

    def value(self, along: FloatArray, excess: Value) -> FloatArray:
        """The measure of a score of overlap `along` = m/√ρ and power m²/ρ + excess."""
        p, power = self.flips, along * along + excess
        if self.name == "zero_one":
            return _angle(along, excess)
        if self.name == "zero_one_noisy":
            return p + (1 - 2 * p) * _angle(along, excess + self.variance * power)
        if self.name == "squared":
            return 1 - 2 * math.sqrt(2 / math.pi) * along + power
        aligned = (1 - 2 * p) * along / np.sqrt(2 * np.pi * (1 + self.variance))
        return mean_softplus(np.sqrt(np.maximum(power, 0.0))) - aligned

    @property
    def bayes(self) -> Value:
        """The least value of the measure, due to flipped and noisy test labels."""
        p = self.flips
        if self.name == "zero_one_noisy":
            return p + (1 - 2 * p) * np.arctan(np.sqrt(self.variance)) / np.pi
        if self.name == "log":
            return label_entropy(p, self.variance)
        return 0.0

    def parts(
        self, value: Callable[[Value], FloatArray], powers: Mapping[str, Numbers | float]
    ) -> dict[str, Value]:
        """The parts of the measure, given by the power beyond q_d, for the powers of causes."""
        excess: Value = 0.0
        last, bayes = value(excess), self.bayes
        result: dict[str, Value] = {"bias": last - bayes, "bayes": bayes}
        for name in CHAIN:
            if name in powers:
                excess = excess + powers[name]
                new = value(excess)
                result[name], last = new - last, new
        return result


def _angle(along: FloatArray, across: Value) -> FloatArray:
    """The angle of a score to the label's field, over π; 1/2 without correlation."""
    angle = np.arctan2(np.sqrt(np.maximum(across, 0.0)), along) / np.pi
    return np.where(np.asarray(along) == 0, 0.5, angle)


def mean_softplus(sd: FloatArray) -> FloatArray:
    """E log(1 + exp(sd z)) for a standard normal z: the mean of max(0, sd z), and the rest."""
    rest = _half_line_mean(sd, lambda f: np.log1p(np.exp(-f)))
    return np.asarray(sd) / math.sqrt(2 * math.pi) + rest


def mean_slope(sd: FloatArray) -> FloatArray:
    """E σ'(sd z) for a standard normal z."""
    return _half_line_mean(sd, lambda f: np.exp(-f) / (1 + np.exp(-f)) ** 2)


_RULE = np.polynomial.legendre.leggauss(24)


def _half_line_mean(sd: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """E function(sd |z|), z standard normal, of a function that is 0 beyond 40: Gauss's rule."""
    s = np.asarray(sd, dtype=np.float64)[..., None]
    x, w = _RULE
    scale = np.minimum(1.0, 4.5 / np.maximum(s, 1e-300))
    total = np.zeros(s.shape[:-1])
    for low, high in pairwise((0.0, 1.0, 3.0, 6.0, 9.0)):
        z = scale * (low + (high - low) * (x + 1) / 2)
        weights = scale * (high - low) * w * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        total = total + (weights * function(s * z)).sum(-1)
    return total


def label_entropy(flips: FloatArray, variance: FloatArray) -> FloatArray:
    """The entropy of a noisy label given its input, a mean over inputs."""
    shape = np.broadcast_shapes(np.shape(flips), np.shape(variance))
    p, sd = (
        np.broadcast_to(v, shape).astype(np.float64).reshape(-1) for v in (flips, np.sqrt(variance))
    )

    def entropy(x: FloatArray, i: IntArray) -> ValueAndSlope:
        noise = np.maximum(sd[i], 1e-150)[:, None]
        plus, minus = (
            p[i][:, None] + (1 - 2 * p[i][:, None]) * ndtr(np.clip(sign * x / noise, -40, 40))
            for sign in (1, -1)
        )
        value = np.asarray(-xlogy(plus, plus) - xlogy(minus, minus), dtype=np.float64)
        return value, value

    mean, _ = gaussian_mean(entropy, np.ones(p.size), [(np.zeros(p.size), sd)])
    return mean.reshape(shape)
