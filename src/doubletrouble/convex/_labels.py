r"""The data side of the order parameters: the forces of the training labels on a member.

The output of a member on a training sample is the proximal map of its cavity output ω ~ N(0, q),

    z = argmin ℓ(y, z) + (z - ω)²/(2V),        force g = (z - ω)/V = -ℓ'(z),

and the forces have the mean response v̂ = -ψ₂ E ∂g/∂ω, power q̂ = ψ₂ E g² and alignment m̂ with the
target. All forces here are V g, so that v̂V, q̂V² and m̂V are returned (`Forces`).

**Residual losses** act on e = y - ω - b ~ N(-b, S²), S² = R + τ², R being the test error (summed
over the components of the noise). By Stein's lemma m̂ = v̂, for every residual loss and noise.

**Margin losses** act on t = yω, which has the skew normal density
2 N(t; 0, q) [p + (1-2p) Φ(a t/√q)], a = r/√(1-r²), r = m/√(q (ρ+τ²)), with p the probability of a
flip; and m̂ = ψ₂ (1-2p) √(2/(π(ρ+τ²))) E g over t ~ N(0, q/(1+a²)).

With a piecewise linear force (`losses`) moments are partial moments of these densities, in closed
form with the error function and Owen's T. They are differences: where the linear part is narrow
(the hinge loss at a large ridge) they are integrated by Gauss's rule instead.

The forces of the logistic loss are in `_logistic`. A training output is the proximal point: with e
the cavity residual, the residual after training is e - V g.

**Two members** with outputs of covariance q₁₂ on a sample of both have ω = C + √(q - q₁₂) ε with a
common C ~ N(0, q₁₂) and own ε: the mean product of their forces is one integral over C of
products of G(C) = E g over ε, which is closed for all but the logistic loss. Its derivative
by q₁₂ is the mean product of ∂g/∂ω (Price's theorem). With labels drawn independently, the force
given C is A + yB with A odd and B even in C, and the mean product A² + 2AB E[y|C] + B² E[y₁y₂|C]:
it has no large terms that cancel where the labels are nearly independent of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from scipy.special import erf, ndtr, owens_t

from doubletrouble._numerics import PointArrays
from doubletrouble.parameters import BoolArray, FloatArray, Indices, IntArray, Value

ValueAndSlope: TypeAlias = tuple[FloatArray, FloatArray]

FAR = 40.0  # standard deviations: densities and tails are 0 beyond
ROOT_2PI = float(np.sqrt(2 * np.pi))
_NOISELESS = 1e-23  # variance, relative to that of the labels
_LINEAR = 1e-5  # of the width of a layer: forces are linear to 1e-11


@dataclass(slots=True, kw_only=True)
class LearningPoints(PointArrays):
    """Parameters of a flat block of points, in units in which the labels have power one."""

    inverse_features: FloatArray  # D/P
    samples: FloatArray  # N/D of one member
    ridge: FloatArray
    log_load: FloatArray  # log of N over the rank of the features
    power: FloatArray  # ρ
    low: FloatArray  # least and largest slope of the loss
    high: FloatArray
    flips: FloatArray  # p
    information: FloatArray  # 1 - 2p
    label_noise: FloatArray  # τ²/ρ of classes
    nonlinear: FloatArray  # variance of labels that is neither linear in the inputs nor noise
    weights: FloatArray  # of the components of the noise of residual losses, (k, n)
    variances: FloatArray  # (k, n)
    unit: FloatArray  # of squared outputs
    loss_unit: FloatArray
    limit: BoolArray  # whether the ridge, or the information of the labels, stands for 0

    @property
    def size(self) -> int:
        """The number of points."""
        return int(self.samples.size)

    @property
    def noise_power(self) -> FloatArray:
        """The variance of the labels beyond their linear part, for residual losses."""
        power: FloatArray = (self.weights * self.variances).sum(axis=0)
        return power

    @property
    def noisy(self) -> BoolArray:
        """Whether labels drawn twice at one input may differ."""
        noise = self.noise_power > np.maximum(1.00001 * self.nonlinear, _NOISELESS)
        return (self.flips > 0) | (self.label_noise > 0) | noise


@dataclass(slots=True, kw_only=True)
class State(PointArrays):
    """The unknowns of one member."""

    V: FloatArray  # variance of the cavity output
    spread: FloatArray  # q, or the test error R for residual losses
    tilt: FloatArray  # a; 0 for residual losses
    intercept: FloatArray  # b; 0 for margin losses


@dataclass(slots=True, kw_only=True)
class Forces(PointArrays):
    """Moments of the forces, in units of V."""

    response: FloatArray  # v̂V
    power: FloatArray  # q̂V²
    alignment: FloatArray  # m̂V
    mean: Value = 0.0  # E g V
    missing: Value = 0.0  # for residual losses 1 - v̂V/ψ₂, and the power of e less that of gV
    missing_power: Value = 0.0


@dataclass(slots=True, kw_only=True)
class Pair(PointArrays):
    """The outputs of two members on a common sample, conditional on what they share."""

    V: FloatArray
    base: FloatArray  # m²/ρ, or the bias for the residuals of both
    excess: FloatArray  # q₁₂ - m²/ρ
    own: FloatArray  # q - q₁₂
    intercept: FloatArray  # b
    same_labels: bool  # whether the label noise is shared

    @property
    def common(self) -> FloatArray:
        """q₁₂, or the mean product of two residuals."""
        return self.base + self.excess


def density(x: FloatArray) -> FloatArray:
    """The standard normal density."""
    return np.exp(-0.5 * x * x) / ROOT_2PI


@cache
def gauss(count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss's rule on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


class Labels:
    """Base: the forces of the labels on one member, and their mean product on two."""

    def forces(self, points: LearningPoints, state: State, *, coarse: bool = False) -> Forces:
        """The moments of the forces."""
        raise NotImplementedError

    def product(self, points: LearningPoints, pair: Pair) -> ValueAndSlope:
        """The mean product of the forces on two members over V², and its slope in q₁₂."""
        raise NotImplementedError

    def training(self, points: LearningPoints, state: State) -> tuple[FloatArray, FloatArray]:
        """The error on training labels (squared residuals, or wrong signs), and the mean loss."""
        raise NotImplementedError


# --- piecewise linear forces ---------------------------------------------------------------------


@dataclass(slots=True)
class Clip(PointArrays):
    """V g(e) = clip(κ e, l V, h V), κ = V/(c + V), linear for e from `start` to `stop`."""

    ratio: FloatArray  # κ
    rest: FloatArray  # 1 - κ
    start: FloatArray
    stop: FloatArray
    bottom: FloatArray  # l V; 0 where it is not reached
    top: FloatArray

    @classmethod
    def of(cls, points: LearningPoints, softness: float, V: FloatArray) -> Clip:
        A = softness + V
        start, stop = points.low * A, points.high * A
        bottom, top = (np.where(np.isfinite(x), x, 0.0) * V for x in (points.low, points.high))
        return cls(V / A, softness / A, start, stop, bottom, top)

    def smoothed(self, e: FloatArray, sd: FloatArray) -> ValueAndSlope:
        """E V g(e + sd ε) and its slope, at (points, nodes); `self` and sd are of the points."""
        sd = np.maximum(sd, 1e-150)[:, None]
        start, stop = self.start[:, None], self.stop[:, None]
        ratio, bottom, top = self.ratio[:, None], self.bottom[:, None], self.top[:, None]
        with np.errstate(over="ignore"):
            alpha = np.clip((start - e) / sd, -FAR, FAR)
            beta = np.clip((stop - e) / sd, -FAR, FAR)
        below, inside = ndtr(alpha), ndtr(beta)
        slope = ratio * (inside - below)
        value = bottom * below + top * (1 - inside) + slope * e
        value += ratio * sd * (density(alpha) - density(beta))
        narrow = np.flatnonzero(self.stop - self.start < 0.5 * sd[:, 0])
        if narrow.size:
            x, w = gauss(8)
            wide = (stop - start)[narrow, :, None]
            z = (e[narrow, :, None] - start[narrow, :, None] - wide * x) / sd[narrow, :, None]
            value[narrow] = bottom[narrow] + (ratio * (stop - start))[narrow] * (ndtr(z) @ w)
            slope[narrow] = (ratio * (stop - start) / sd)[narrow] * (density(z) @ w)
        return value, slope

    def loss(self, e: FloatArray, sd: FloatArray) -> ValueAndSlope:
        """E [x - V g(x)], x = e + sd ε, and its slope in e: small where the force is linear."""
        sd, rest, ratio = (v[:, None] for v in (np.maximum(sd, 1e-150), self.rest, self.ratio))
        below = _beyond((e - self.start[:, None]) / sd)
        above = _beyond((self.stop[:, None] - e) / sd)
        slope = rest + ratio * (below[0] + above[0])
        return rest * e + ratio * sd * (above[1] - below[1]), slope


def _beyond(x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Moments E (z - x)^k over z > x of a standard normal z: k = 0, 1, and E (z² - x²)."""
    x = np.minimum(x, FAR)
    mass, edge = ndtr(-x), density(x)
    return mass, np.maximum(edge - x * mass, 0.0), x * edge + (1 - x * x) * mass


class ResidualLabels(Labels):
    """Residual losses with a piecewise linear force, for any mixture of noise."""

    def __init__(self, softness: float) -> None:
        self.softness = softness

    def forces(self, points: LearningPoints, state: State, *, coarse: bool = False) -> Forces:
        """Closed forms of the moments, summed over the components of the noise."""
        clip, b = Clip.of(points, self.softness, state.V), state.intercept
        S = np.sqrt(state.spread + points.variances)  # (k, n)
        S = np.maximum(S, 1e-150)
        alpha = np.clip((clip.start + b) / S, -FAR, FAR)
        beta = np.clip((clip.stop + b) / S, -FAR, FAR)
        below, above = ndtr(alpha), ndtr(-beta)
        lower, upper = density(alpha), density(beta)
        inside = np.where(alpha > 0, ndtr(-alpha) - above, ndtr(beta) - below)
        first = S * (lower - upper) - b * inside
        second = b * b * inside - 2 * b * S * (lower - upper)
        second += S * S * (inside + alpha * lower - beta * upper)
        narrow = beta - alpha < 1
        if np.any(narrow):
            x, w = gauss(10)
            # widths and residuals from the forces: alpha and beta may be equal to rounding
            span = np.broadcast_to(clip.stop - clip.start, S.shape)[narrow][:, None]
            wide = np.minimum(span / S[narrow][:, None], 1.0)
            nodes = alpha[narrow][:, None] + wide * x
            e = np.broadcast_to(clip.start, S.shape)[narrow][:, None] + span * x
            mass = density(nodes) * wide * w
            inside[narrow] = mass.sum(-1)
            first[narrow], second[narrow] = (mass * e).sum(-1), (mass * e * e).sum(-1)
        weights, k = points.weights, clip.ratio
        response = k * (weights * inside).sum(0)
        mean = (weights * (clip.top * above + clip.bottom * below + k * first)).sum(0)
        # the root first: a force 1e250 is never reached
        ends = (clip.top * np.sqrt(above)) ** 2 + (clip.bottom * np.sqrt(below)) ** 2
        power = weights * (ends + k * k * second)
        missing = clip.rest + k * (weights * (above + below)).sum(0)
        v = points.samples * response
        return Forces(
            response=v,
            power=points.samples * power.sum(0),
            alignment=v,
            mean=mean,
            missing=missing,
            missing_power=self._missing_power(points, clip, S, alpha, beta, b),
        )

    @staticmethod
    def _missing_power(
        points: LearningPoints,
        clip: Clip,
        S: FloatArray,
        alpha: FloatArray,
        beta: FloatArray,
        b: FloatArray,
    ) -> FloatArray:
        """E e² - E (gV)², the sum of positive terms but for those of an intercept."""
        k, whole = clip.ratio, S * S + b * b
        (_, first, second), (_, below, under) = _beyond(beta), _beyond(-alpha)
        # (e² - stop²) and (e² - start²) beyond the ends, e = S x - b
        beyond = S * S * (second + under) - 2 * b * S * (first - below)
        missing: FloatArray = (points.weights * ((1 + k) * clip.rest * whole + k * k * beyond)).sum(
            0
        )
        return missing

    def product(self, points: LearningPoints, pair: Pair) -> ValueAndSlope:
        """One integral over C for each component, or one in all for noise that is not shared."""

        def pairs(_: FloatArray, force: FloatArray, slope: FloatArray) -> ValueAndSlope:
            return force * force, slope * slope

        return self._mean(points, pair, Clip.smoothed, pairs)

    def missing_product(self, points: LearningPoints, pair: Pair) -> ValueAndSlope:
        """The mean product of two residuals, less that of V g, and its slope in q₁₂."""

        def pairs(e: FloatArray, missing: FloatArray, slope: FloatArray) -> ValueAndSlope:
            return missing * (2 * e - missing), slope * (2 - slope)

        return self._mean(points, pair, Clip.loss, pairs, 30.0)

    def _mean(
        self,
        points: LearningPoints,
        pair: Pair,
        smooth: Callable[[Clip, FloatArray, FloatArray], ValueAndSlope],
        combine: Callable[[FloatArray, FloatArray, FloatArray], ValueAndSlope],
        reach: float = 9.0,
    ) -> ValueAndSlope:
        clip, b = Clip.of(points, self.softness, pair.V), pair.intercept
        value, slope = np.zeros(points.size), np.zeros(points.size)
        own_noise = np.maximum(points.variances - points.nonlinear, 0.0)
        shares = list(zip(points.weights, own_noise, strict=True))
        outer = (
            [(w, v + points.nonlinear) for w, v in shares]
            if pair.same_labels
            else [(1.0, points.nonlinear)]
        )
        inner = [(1.0, 0.0)] if pair.same_labels else shares
        for weight, variance in outer:
            sd = np.sqrt(pair.common + variance)
            least = np.minimum.reduce([np.broadcast_to(v, points.size) for _, v in inner])
            width = np.sqrt(pair.own + least)

            def integrand(x: FloatArray, i: Indices, sd: FloatArray = sd) -> ValueAndSlope:
                own = clip.take(i)
                e = sd[i][:, None] * x - b[i][:, None]
                H, dH = np.zeros_like(e), np.zeros_like(e)
                for share, inner_variance in inner:
                    share, inner_variance = (
                        np.broadcast_to(v, points.size)[i] for v in (share, inner_variance)
                    )
                    h, dh = smooth(own, e, np.sqrt(pair.own[i] + inner_variance))
                    H, dH = H + share[:, None] * h, dH + share[:, None] * dh
                return combine(e, H, dH)

            centres = [(clip.start + b, width), (clip.stop + b, width)]
            one, by = gaussian_mean(integrand, sd, centres, reach)
            value, slope = value + weight * one, slope + weight * by
        return value, slope

    def training(self, points: LearningPoints, state: State) -> tuple[FloatArray, FloatArray]:
        """The mean of (e - V g)², and of the loss there."""
        V, b, c = state.V, state.intercept, self.softness
        clip, S = Clip.of(points, c, V), np.sqrt(state.spread + points.variances)
        alpha = np.maximum((clip.start + b) / S, -FAR)
        beta = np.minimum((clip.stop + b) / S, FAR)

        mass = np.where(alpha > 0, ndtr(-alpha) - ndtr(-beta), ndtr(beta) - ndtr(alpha))
        edge = density(alpha) - density(beta)
        tilt = alpha * density(alpha) - beta * density(beta)
        inside = b * b * mass - 2 * b * S * edge + S * S * (mass + tilt)  # E e² of linear forces
        squares, losses = clip.rest**2 * inside, (c / 2) * inside / (c + V) ** 2
        for slope, x in ((points.high, beta), (-points.low, -alpha)):
            # residuals e beyond an end: e - V l = c l + (e - end)
            mass, first, square = _beyond(x)
            slope = np.where(mass > 0, slope, 0.0)  # a force that is never reached may be infinite
            beyond, second = S * first, S * S * (square - 2 * x * first)
            squares = squares + second + c * slope * (2 * beyond + c * slope * mass)
            losses = losses + slope * (beyond + 0.5 * c * slope * mass)
        return (points.weights * squares).sum(0), (points.weights * losses).sum(0)


def partial_moments(
    z: FloatArray, a: FloatArray, points: LearningPoints
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Moments of order 0, 1, 2 up to z of the skew normal law of t/√q."""
    k, flips = points.information, points.flips
    root = np.sqrt(1 + a * a)
    far = np.clip(z, -FAR, FAR)
    cdf, phi = ndtr(far), density(far)
    tilted = phi * ndtr(np.clip(a * far, -FAR, FAR))
    steep = np.clip(far * root, -FAR, FAR)
    plain = cdf - 2 * owens_t(far, a)
    c = np.sqrt(2 / np.pi)
    zeroth = 2 * flips * cdf + k * plain
    first = k * (c * a / root * ndtr(steep) - 2 * tilted) - 2 * flips * phi
    second = 2 * flips * (cdf - far * phi) + k * (
        plain - 2 * far * tilted - c * a / root**2 * density(steep)
    )
    return zeroth, first, second


class MarginLabels(Labels):
    """Margin losses with a piecewise linear force in 1 - y f, and the squared loss of labels ±1."""

    def __init__(self, softness: float) -> None:
        self.softness = softness

    def forces(self, points: LearningPoints, state: State, *, coarse: bool = False) -> Forces:
        """Closed forms of the moments of t = y ω."""
        clip, a, spread = Clip.of(points, self.softness, state.V), state.tilt, state.spread
        r, root = np.sqrt(spread), np.sqrt(1 + a * a)
        ends = np.stack([1 - clip.stop, 1 - clip.start]) / r  # (2, n)
        ends = np.clip(ends, -FAR, FAR)
        (P0, P1), first, second = partial_moments(ends, a, points)
        E, F = first[1] - first[0], second[1] - second[0]
        inside, squares = P1 - P0, P1 - P0 - 2 * r * E + spread * F
        tails, slopes = ndtr(ends * root), density(np.clip(ends * root, -FAR, FAR))
        narrower = tails[1] - tails[0] + r / root * (slopes[1] - slopes[0])
        narrow = np.flatnonzero((ends[1] - ends[0]) * (1 + a) < 1)
        if narrow.size:
            x, w = gauss(12)
            lo, wide = ends[0, narrow, None], (ends[1] - ends[0])[narrow, None]
            nodes, scale = lo + wide * x, r[narrow, None]
            tilt, steep = a[narrow, None], root[narrow, None]
            e = scale * wide * (1 - x) + clip.start[narrow, None]
            mass = wide * w * 2 * density(nodes) * positive_label(points, tilt * nodes, narrow)
            inside[narrow], squares[narrow] = mass.sum(-1), (mass * e * e).sum(-1)
            narrower[narrow] = (wide * w * steep * density(steep * nodes) * e).sum(-1)
        k = clip.ratio
        above, below = np.maximum(P0, 0.0), np.maximum(1 - P1, 0.0)
        # the root first: a force 1e250 is never reached
        power = (clip.top * np.sqrt(above)) ** 2 + (clip.bottom * np.sqrt(below)) ** 2
        power += k * k * squares
        mean = clip.top * tails[0] + clip.bottom * (1 - tails[1]) + k * narrower
        return Forces(
            response=points.samples * k * inside,
            power=points.samples * power,
            alignment=points.samples * label_power(points) * mean,
        )

    def product(self, points: LearningPoints, pair: Pair) -> ValueAndSlope:
        """The integral over C of products of G, weighed with the labels' probabilities given C."""
        clip, width = Clip.of(points, self.softness, pair.V), np.sqrt(pair.own)

        def smoothed(C: FloatArray, i: Indices) -> ValueAndSlope:
            return clip.take(i).smoothed(1 - C, width[i])

        return product_of_classes(points, pair, smoothed, (1 - clip.start, 1 - clip.stop), width)

    def training(self, points: LearningPoints, state: State) -> tuple[FloatArray, FloatArray]:
        """The share of labels on the wrong side, t < -V min(1/c, h), and the mean loss."""
        V, a, c, r = state.V, state.tilt, self.softness, np.sqrt(state.spread)
        clip = Clip.of(points, c, V)
        wrong = wrong_share(points, V * np.minimum(np.divide(1.0, c), points.high), r, a)
        ends = np.clip(np.stack([1 - clip.stop, 1 - clip.start]) / r, -FAR, FAR)
        (P0, P1), (E0, E1), (F0, F1) = partial_moments(ends, a, points)
        squares = P1 - P0 - 2 * r * (E1 - E0) + r * r * (F1 - F0)
        reached = P0 > 0
        force, stop = np.where(reached, points.high, 0.0), np.where(reached, clip.top, 0.0)
        beyond = force * ((1 - stop) * P0 - r * E0) - 0.5 * c * force**2 * P0
        return wrong, 0.5 * c * squares / (c + V) ** 2 + beyond


def wrong_share(
    points: LearningPoints, shift: FloatArray, r: FloatArray, a: FloatArray
) -> FloatArray:
    """The share of training labels on the wrong side: P(t < -shift)."""
    wrong, _, _ = partial_moments(np.clip(-shift / r, -FAR, FAR), a, points)
    return np.maximum(wrong, 0.0)


def product_of_classes(
    points: LearningPoints,
    pair: Pair,
    smoothed: Callable[[FloatArray, IntArray], ValueAndSlope],
    layers: tuple[FloatArray, FloatArray],
    width: FloatArray,
) -> ValueAndSlope:
    """The integral over C of products of G, weighed with the labels' probabilities given C.

    `smoothed(C, i)` is G(C) and its slope at points i, with layers of a width.
    """
    sd, tilt = np.sqrt(pair.common), tilt_of(points, pair)

    def integrand(x: FloatArray, i: IntArray) -> ValueAndSlope:
        C = sd[i][:, None] * x
        G, dG = smoothed(C, i)
        if pair.same_labels:
            plus = positive_label(points, tilt[i][:, None] * x, i)
            return 2 * plus * G * G, 2 * plus * dG * dG
        symmetric = np.array_equal(x, -x[:, ::-1])  # nodes: G(-C) is G(C) in reverse
        opposite = (G[:, ::-1], dG[:, ::-1]) if symmetric else smoothed(-C, i)
        labels = IndependentLabels.of(points, pair, tilt, x, i)
        return labels.products(C, width[i], (G, dG), opposite)

    centres = [(layer, width) for layer in layers]
    if not pair.same_labels:
        centres += [(-layer, width) for layer in layers]
    return gaussian_mean(integrand, sd, [*centres, (0.0 * sd, sd / np.maximum(tilt, 1e-9))])


def label_power(points: LearningPoints) -> FloatArray:
    return points.information * np.sqrt(2 / (np.pi * (points.power + points.label_noise)))


def positive_label(points: LearningPoints, field: FloatArray, i: Indices) -> FloatArray:
    """The probability p + (1-2p) Φ(field) of the label +1, at (points i, nodes)."""
    return points.flips[i, None] + points.information[i, None] * ndtr(np.clip(field, -FAR, FAR))


def tilt_of(points: LearningPoints, pair: Pair) -> FloatArray:
    """The tilt a₁ of C: a label is +1 with probability Φ(a₁ C/√q₁₂) before flips."""
    across = points.power * pair.excess + points.label_noise * pair.common
    with np.errstate(divide="ignore", invalid="ignore"):
        tilt = np.sqrt(points.power * pair.base / across)
    return np.where(pair.base > 0, np.minimum(tilt, 1e12), 0.0)


@dataclass(slots=True)
class IndependentLabels:
    """Two labels drawn independently at one input, given C."""

    plus: FloatArray  # probabilities that both are +1, both -1, and that they are +1 and -1
    minus: FloatArray
    unlike: FloatArray
    mean: FloatArray  # E y
    product: FloatArray  # E y₁y₂

    @classmethod
    def of(
        cls, points: LearningPoints, pair: Pair, tilt: FloatArray, x: FloatArray, i: Indices
    ) -> IndependentLabels:
        p, noise = points.flips[i][:, None], points.label_noise[i]
        k, q = points.information[i][:, None], 1 - p
        h = np.clip(tilt[i][:, None] * x, -FAR, FAR)
        mean, apart = erf(np.sqrt(0.5) * h), np.zeros_like(h)
        product = np.ones_like(h)
        if np.any(noise > 0):
            # correlation k of the two labels' fields given C: (1 - k)/(1 + k) = τ²/(2w + τ²)
            common = pair.common[i]
            w = points.power[i] * np.divide(
                pair.excess[i], common, out=np.ones_like(common), where=common > 0
            )
            total = np.where(noise > 0, 2 * w + noise, 1.0)
            ratio = np.sqrt(noise / total)
            apart = 2 * owens_t(h, ratio[:, None])
            product = 1 - 4 * apart
            weak = np.flatnonzero(ratio > 0.9)
            if weak.size:  # 8 T(h, 1) = 1 - mean²; the rest is an integral from `ratio` to 1
                rest = _owen_to_one(h[weak], (2 * w / total / (1 + ratio))[weak, None])
                product[weak] = mean[weak] ** 2 + 8 * rest
        both, neither = ndtr(h) - apart, ndtr(-h) - apart
        return cls(
            plus=q * q * both + 2 * p * q * apart + p * p * neither,
            minus=q * q * neither + 2 * p * q * apart + p * p * both,
            unlike=p * q * (both + neither) + (q * q + p * p) * apart,
            mean=k * mean,
            product=k * k * product,
        )

    def products(
        self, C: FloatArray, width: FloatArray, here: ValueAndSlope, there: ValueAndSlope
    ) -> ValueAndSlope:
        """The mean product of two forces and of their slopes, from both at C and at -C."""
        (H, dH), (other, slope) = here, there
        slopes = self.plus * dH**2 + self.minus * slope**2 + 2 * self.unlike * dH * slope
        value = self.plus * H**2 + self.minus * other**2 - 2 * self.unlike * H * other
        cancelling = (np.abs(self.mean) < 0.5) & (self.product < 0.5)
        if np.any(cancelling):
            A, B = 0.5 * (H - other), 0.5 * (H + other)
            # a difference of equals near 0
            A = np.where(np.abs(C) < _LINEAR * width[:, None], -0.5 * C * (dH + slope), A)
            small = A * A + B * (2 * A * self.mean + B * self.product)
            value = np.where(cancelling, small, value)
        return value, slopes


def _owen_to_one(h: FloatArray, wide: FloatArray) -> FloatArray:
    """T(h, 1) - T(h, 1 - wide) of Owen's function."""
    nodes, weights = gauss(8)
    total: Value = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        y = 1 + (1 - wide * node) ** 2
        total = total + weight * np.exp(-0.5 * h * h * y) / y
    return wide * total / (2 * np.pi)


# --- integrals over what two members share -------------------------------------------------------

Integrand: TypeAlias = Callable[[FloatArray, IntArray], ValueAndSlope]


def gaussian_mean(
    integrand: Integrand,
    sd: FloatArray,
    centres: list[tuple[FloatArray, FloatArray]],
    reach: float = 9.0,
) -> ValueAndSlope:
    """Means over C = sd x, x ~ N(0, 1), of a function smooth but for layers.

    A layer at a centre has the profile of a normal distribution function of a width, given as
    (centre, width) in units of C. `integrand(x, i)` is the function of points i at nodes x.
    Without sharp layers the trapezoidal rule is used, with them Gauss's rule on panels, up to
    `reach` standard deviations.
    """
    safe = np.maximum(sd, 1e-150)
    sharpest = np.minimum.reduce([width for _, width in centres])
    inverse = 1 + 3 * (safe / np.maximum(sharpest, 1e-150)) ** 2
    value, slope = np.empty_like(safe), np.empty_like(safe)
    bounds = (0.0, 10.0, 40.0, 160.0)
    for low, high in zip(bounds, (*bounds[1:], np.inf), strict=True):
        inside = np.flatnonzero((inverse > low) & (inverse <= high))
        if not inside.size:
            continue
        sharp = not np.isfinite(high)
        h = 0.75 / np.sqrt(np.max(inverse[inside]))
        count = int(np.ceil(reach / h)) if not sharp else 300
        size = max(1, int(1.5e4 / count))
        for k in range(0, inside.size, size):
            i = inside[k : k + size]
            if sharp:
                x, weights = _panels(safe[i], [(c[i], w[i]) for c, w in centres], reach)
            else:
                x = np.broadcast_to(h * np.arange(-count, count + 1), (i.size, 2 * count + 1))
                weights = h * density(x)
            one, two = integrand(x, i)
            value[i], slope[i] = (weights * one).sum(-1), (weights * two).sum(-1)
    return value, slope


_BASE = np.concatenate([[0.0, 2.0, 4.0, 6.0], np.arange(9.0, 30.0, 1.5)])
_LAYER = np.array([-6.5, -4.0, -2.0, 0.0, 2.0, 4.0, 6.5])


def _panels(
    sd: FloatArray, centres: list[tuple[FloatArray, FloatArray]], reach: float
) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss's rule between breakpoints at the layers."""
    base = _BASE[reach >= _BASE]
    base = np.concatenate([-base[:0:-1], base])
    most = base[-1]
    breaks = [np.broadcast_to(base, (sd.size, base.size))]
    with np.errstate(over="ignore", invalid="ignore"):
        for centre, width in centres:
            edge = (centre[:, None] + width[:, None] * _LAYER) / sd[:, None]
            breaks.append(np.clip(np.nan_to_num(edge, nan=most), -most, most))
    edges = np.sort(np.concatenate(breaks, axis=1), axis=1)
    wide = np.diff(edges, axis=1)[:, :, None]
    x, w = gauss(14)
    nodes = (edges[:, :-1, None] + wide * x).reshape(sd.size, -1)
    opposite = -nodes[:, ::-1]
    if np.allclose(nodes, opposite, rtol=1e-15, atol=1e-14):  # see `product_of_classes`
        nodes = 0.5 * (nodes + opposite)
    return nodes, (wide * w).reshape(sd.size, -1) * density(nodes)
