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

**Logistic loss.** The proximal map z = ω + Vσ(-z) is analytic but for branch points at ω_c ± iπ and
-V - ω_c ± iπ, ω_c = ln E + 1 - 1/E, E = (√V/2 + √(1 + V/4))². The trapezoidal rule in
asinh((ω - ω_c)/4) + asinh((ω + V + ω_c)/4), whose inverse is explicit, converges geometrically for
every V.

**Two members** with outputs of covariance q₁₂ on a sample of both have ω = C + √(q - q₁₂) ε with a
common C ~ N(0, q₁₂) and own ε: the mean product of their forces is one integral over C of
products of G(C) = E g over ε, which is closed for all but the logistic loss. Its derivative
by q₁₂ is the mean product of ∂g/∂ω (Price's theorem). With labels drawn independently, the force
given C is A + yB with A odd and B even in C, and the mean product A² + 2AB E[y|C] + B² E[y₁y₂|C]:
it has no large terms that cancel where the labels are nearly independent of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from scipy.special import erf, ndtr, owens_t, wrightomega

from doubletrouble.parameters import FloatArray

_FAR = 40.0  # standard deviations: densities and tails are 0 beyond
_ROOT_2PI = np.sqrt(2 * np.pi)
_LINEAR = 1e-5  # of the width of a layer: forces are linear to 1e-11


@dataclass(slots=True, kw_only=True)
class LearningPoints:
    """Parameters of a flat block of points, in units in which the labels have power one."""

    inverse_width: Any  # D/P
    samples: Any  # N/D of one member
    ridge: Any
    power: Any  # ρ
    flips: Any
    low: Any  # least and largest slope of the loss
    high: Any
    weights: Any  # of the components of the noise, (k, n)
    variances: Any  # (k, n)

    def take(self, index: Any) -> LearningPoints:
        """Some of the points."""
        return LearningPoints(**{f.name: getattr(self, f.name)[..., index] for f in fields(self)})

    @property
    def size(self) -> int:
        """The number of points."""
        return int(self.samples.size)


@dataclass(slots=True, kw_only=True)
class Forces:
    """Moments of the forces, in units of V."""

    response: Any  # v̂V
    power: Any  # q̂V²
    alignment: Any  # m̂V
    mean: Any = 0.0  # E g V


@dataclass(slots=True, kw_only=True)
class Pair:
    """The outputs of two members on a common sample, conditional on what they share."""

    V: Any
    aligned: Any  # m²/ρ: of the part along the target (0 for residual losses)
    excess: Any  # q₁₂ - m²/ρ
    own: Any  # q - q₁₂
    intercept: Any  # b
    same_labels: bool  # whether the label noise is shared

    @property
    def common(self) -> Any:
        """q₁₂, or the mean product of two residuals."""
        return self.aligned + self.excess


def density(x: Any) -> Any:
    """The standard normal density."""
    return np.exp(-0.5 * x * x) / _ROOT_2PI


@cache
def gauss(count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss's rule on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


class Labels:
    """Base: the forces of the labels on one member, and their mean product on two."""

    def forces(
        self, at: LearningPoints, V: Any, spread: Any, third: Any, *, coarse: bool = False
    ) -> Forces:
        """The moments at V; `spread` is q and `third` a, or R and b for residual losses."""
        raise NotImplementedError

    def product(self, at: LearningPoints, pair: Pair) -> tuple[Any, Any]:
        """The mean product of the forces on two members over V², and its slope in q₁₂."""
        raise NotImplementedError


# --- piecewise linear forces ---------------------------------------------------------------------


@dataclass(slots=True)
class Clip:
    """V g(e) = clip(κ e, l V, h V), κ = V/(c + V), linear for e from `start` to `stop`."""

    ratio: Any  # κ
    start: Any
    stop: Any
    bottom: Any  # l V; 0 where it is not reached
    top: Any

    @classmethod
    def of(cls, at: LearningPoints, softness: float, V: Any) -> Clip:
        A = softness + V
        start, stop = at.low * A, at.high * A
        bottom, top = (np.where(np.isfinite(x), x, 0.0) * V for x in (at.low, at.high))
        return cls(V / A, start, stop, bottom, top)

    def take(self, index: Any) -> Clip:
        """The forces of some of the points."""
        return Clip(*(getattr(self, f.name)[index] for f in fields(self)))

    def smoothed(self, e: Any, sd: Any) -> tuple[Any, Any]:
        """E V g(e + sd ε) and its slope, at (points, nodes); `self` and sd are of the points."""
        sd = np.maximum(sd, 1e-150)[:, None]
        start, stop = self.start[:, None], self.stop[:, None]
        ratio, bottom, top = self.ratio[:, None], self.bottom[:, None], self.top[:, None]
        with np.errstate(over="ignore"):
            alpha = np.clip((start - e) / sd, -_FAR, _FAR)
            beta = np.clip((stop - e) / sd, -_FAR, _FAR)
        below, inside = ndtr(alpha), ndtr(beta)
        slope = ratio * (inside - below)
        value = bottom * below + top * (1 - inside) + slope * e
        value += ratio * sd * (density(alpha) - density(beta))
        narrow = np.flatnonzero(self.stop - self.start < 0.5 * sd[:, 0])
        if narrow.size:
            x, w = gauss(8)
            wide = (stop - start)[narrow, :, None]
            at = (e[narrow, :, None] - start[narrow, :, None] - wide * x) / sd[narrow, :, None]
            value[narrow] = bottom[narrow] + (ratio * (stop - start))[narrow] * (ndtr(at) @ w)
            slope[narrow] = (ratio * (stop - start) / sd)[narrow] * (density(at) @ w)
        return value, slope


class ResidualLabels(Labels):
    """Residual losses with a piecewise linear force, for any mixture of noise."""

    def __init__(self, softness: float) -> None:
        self.softness = softness

    def forces(
        self, at: LearningPoints, V: Any, spread: Any, third: Any, *, coarse: bool = False
    ) -> Forces:
        """Closed forms of the moments, summed over the components of the noise."""
        clip, b = Clip.of(at, self.softness, V), third
        S = np.sqrt(spread + at.variances)  # (k, n)
        S = np.maximum(S, 1e-150)
        alpha = np.clip((clip.start + b) / S, -_FAR, _FAR)
        beta = np.clip((clip.stop + b) / S, -_FAR, _FAR)
        below, above = ndtr(alpha), ndtr(-beta)
        lower, upper = density(alpha), density(beta)
        inside = np.where(alpha > 0, ndtr(-alpha) - above, ndtr(beta) - below)
        first = S * (lower - upper) - b * inside
        second = b * b * inside - 2 * b * S * (lower - upper)
        second += S * S * (inside + alpha * lower - beta * upper)
        narrow = beta - alpha < 1
        if np.any(narrow):
            x, w = gauss(10)
            lo, wide, s = alpha[narrow], (beta - alpha)[narrow], S[narrow]
            nodes = lo[:, None] + wide[:, None] * x
            e = s[:, None] * nodes - np.broadcast_to(b, S.shape)[narrow][:, None]
            mass = density(nodes) * wide[:, None] * w
            inside[narrow] = mass.sum(-1)
            first[narrow], second[narrow] = (mass * e).sum(-1), (mass * e * e).sum(-1)
        weights, k = at.weights, clip.ratio
        response = k * (weights * inside).sum(0)
        mean = (weights * (clip.top * above + clip.bottom * below + k * first)).sum(0)
        # the root first: a force 1e250 is never reached
        ends = (clip.top * np.sqrt(above)) ** 2 + (clip.bottom * np.sqrt(below)) ** 2
        power = weights * (ends + k * k * second)
        v = at.samples * response
        return Forces(response=v, power=at.samples * power.sum(0), alignment=v, mean=mean)

    def product(self, at: LearningPoints, pair: Pair) -> tuple[Any, Any]:
        """One integral over C for each component, or one in all for noise that is not shared."""
        clip, b = Clip.of(at, self.softness, pair.V), pair.intercept
        value, slope = np.zeros(at.size), np.zeros(at.size)
        shares = [(at.weights[k], at.variances[k]) for k in range(len(at.weights))]
        outer = shares if pair.same_labels else [(1.0, 0.0)]
        inner = [(1.0, 0.0)] if pair.same_labels else shares
        for weight, variance in outer:
            sd = np.sqrt(pair.common + variance)
            least = np.minimum.reduce([np.broadcast_to(v, at.size) for _, v in inner])
            width = np.sqrt(pair.own + least)

            def integrand(x: Any, i: Any, sd: Any = sd) -> tuple[Any, Any]:
                own = clip.take(i)
                e = sd[i][:, None] * x - b[i][:, None]
                H: Any = 0.0
                dH: Any = 0.0
                for share, inner_variance in inner:
                    share, inner_variance = (
                        np.broadcast_to(v, at.size)[i] for v in (share, inner_variance)
                    )
                    h, dh = own.smoothed(e, np.sqrt(pair.own[i] + inner_variance))
                    H, dH = H + share[:, None] * h, dH + share[:, None] * dh
                return H * H, dH * dH

            centres = [(clip.start + b, width), (clip.stop + b, width)]
            one, by = gaussian_mean(integrand, sd, centres)
            value, slope = value + weight * one, slope + weight * by
        return value, slope


def partial_moments(z: Any, a: Any, flips: Any) -> tuple[Any, Any, Any]:
    """Moments of order 0, 1, 2 up to z of the skew normal law of t/√q."""
    k = 1 - 2 * flips
    root = np.sqrt(1 + a * a)
    far = np.clip(z, -_FAR, _FAR)
    cdf, phi = ndtr(far), density(far)
    tilted = phi * ndtr(np.clip(a * far, -_FAR, _FAR))
    steep = np.clip(far * root, -_FAR, _FAR)
    plain = cdf - 2 * owens_t(far, a)
    c = np.sqrt(2 / np.pi)
    zeroth = 2 * flips * cdf + k * plain
    first = k * (c * a / root * ndtr(steep) - 2 * tilted) - 2 * flips * phi
    second = 2 * flips * (cdf - far * phi) + k * (
        plain - 2 * far * tilted - c * a / root**2 * density(steep)
    )
    return zeroth, first, second


class MarginLabels(Labels):
    """Margin losses with a piecewise linear force in 1 - y f, and the square loss of labels ±1."""

    def __init__(self, softness: float) -> None:
        self.softness = softness

    def forces(
        self, at: LearningPoints, V: Any, spread: Any, third: Any, *, coarse: bool = False
    ) -> Forces:
        """Closed forms of the moments of t = y ω."""
        clip, a = Clip.of(at, self.softness, V), third
        r, root = np.sqrt(spread), np.sqrt(1 + third * third)
        ends = np.stack([1 - clip.stop, 1 - clip.start]) / r  # (2, n)
        ends = np.clip(ends, -_FAR, _FAR)
        (P0, P1), first, second = partial_moments(ends, a, at.flips)
        E, F = first[1] - first[0], second[1] - second[0]
        inside, squares = P1 - P0, P1 - P0 - 2 * r * E + spread * F
        tails, slopes = ndtr(ends * root), density(np.clip(ends * root, -_FAR, _FAR))
        narrower = tails[1] - tails[0] + r / root * (slopes[1] - slopes[0])
        narrow = np.flatnonzero((ends[1] - ends[0]) * (1 + a) < 1)
        if narrow.size:
            x, w = gauss(12)
            lo, wide = ends[0, narrow, None], (ends[1] - ends[0])[narrow, None]
            nodes, scale, p = lo + wide * x, r[narrow, None], at.flips[narrow, None]
            tilt, steep = a[narrow, None], root[narrow, None]
            e = scale * wide * (1 - x) + clip.start[narrow, None]
            mass = wide * w * 2 * density(nodes) * (p + (1 - 2 * p) * ndtr(tilt * nodes))
            inside[narrow], squares[narrow] = mass.sum(-1), (mass * e * e).sum(-1)
            narrower[narrow] = (wide * w * steep * density(steep * nodes) * e).sum(-1)
        k = clip.ratio
        above, below = np.maximum(P0, 0.0), np.maximum(1 - P1, 0.0)
        # the root first: a force 1e250 is never reached
        power = (clip.top * np.sqrt(above)) ** 2 + (clip.bottom * np.sqrt(below)) ** 2
        power += k * k * squares
        mean = clip.top * tails[0] + clip.bottom * (1 - tails[1]) + k * narrower
        return Forces(
            response=at.samples * k * inside,
            power=at.samples * power,
            alignment=at.samples * _label_power(at) * mean,
        )

    def product(self, at: LearningPoints, pair: Pair) -> tuple[Any, Any]:
        """The integral over C of products of G, weighed with the labels' probabilities given C."""
        clip = Clip.of(at, self.softness, pair.V)
        sd, width = np.sqrt(pair.common), np.sqrt(pair.own)
        tilt = tilt_of(at, pair)

        def integrand(x: Any, i: Any) -> tuple[Any, Any]:
            own = clip.take(i)
            C = sd[i][:, None] * x
            H, dH = own.smoothed(1 - C, width[i])
            if pair.same_labels:
                plus = shared_label(at, tilt, x, i)
                return 2 * plus * H * H, 2 * plus * dH * dH
            there = _mirrored(x, (H, dH), lambda: own.smoothed(1 + C, width[i]))
            labels = _OwnLabels.of(at, pair, tilt, x, i)
            return labels.products(C, width[i], (H, dH), there)

        centres = [(1 - clip.start, width), (1 - clip.stop, width)]
        if not pair.same_labels:
            centres += [(clip.start - 1, width), (clip.stop - 1, width)]
        return gaussian_mean(integrand, sd, [*centres, (0.0 * sd, sd / np.maximum(tilt, 1e-9))])


def _mirrored(x: Any, here: tuple[Any, Any], there: Callable[[], tuple[Any, Any]]) -> Any:
    """A function at -x: its values in reverse where the nodes x are symmetric."""
    if np.array_equal(x, -x[:, ::-1]):
        return tuple(value[:, ::-1] for value in here)
    return there()


def _label_power(at: LearningPoints) -> Any:
    return (1 - 2 * at.flips) * np.sqrt(2 / (np.pi * (at.power + at.variances[0])))


def tilt_of(at: LearningPoints, pair: Pair) -> Any:
    """The tilt a₁ of C: a label is +1 with probability Φ(a₁ C/√q₁₂) before flips."""
    spare = at.power * pair.excess + at.variances[0] * pair.common
    with np.errstate(divide="ignore", invalid="ignore"):
        tilt = np.sqrt(at.power * pair.aligned / spare)
    return np.where(pair.aligned > 0, np.minimum(tilt, 1e12), 0.0)


def shared_label(at: LearningPoints, tilt: Any, x: Any, i: Any) -> Any:
    """The probability that a label of both members is +1, given C."""
    p = at.flips[i][:, None]
    return p + (1 - 2 * p) * ndtr(np.clip(tilt[i][:, None] * x, -_FAR, _FAR))


@dataclass(slots=True)
class _OwnLabels:
    """Two labels drawn independently at one input, given C."""

    plus: Any  # probabilities that both are +1, both -1, and that they are +1 and -1
    minus: Any
    unlike: Any
    mean: Any  # E y
    product: Any  # E y₁y₂

    @classmethod
    def of(cls, at: LearningPoints, pair: Pair, tilt: Any, x: Any, i: Any) -> _OwnLabels:
        p, noise = at.flips[i][:, None], at.variances[0][i]
        k, q = 1 - 2 * p, 1 - p
        h = np.clip(tilt[i][:, None] * x, -_FAR, _FAR)
        mean, apart = erf(np.sqrt(0.5) * h), np.zeros_like(h)
        product = np.ones_like(h)
        if np.any(noise > 0):
            # correlation k of the two labels' fields given C: (1 - k)/(1 + k) = τ²/(2w + τ²)
            common = pair.common[i]
            w = at.power[i] * np.divide(
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

    def products(self, C: Any, width: Any, here: Any, there: Any) -> tuple[Any, Any]:
        """The mean product of two forces and of their slopes, from both at C and at -C."""
        (H, dH), (other, slope) = here, there
        slopes = self.plus * dH**2 + self.minus * slope**2 + 2 * self.unlike * dH * slope
        value = self.plus * H**2 + self.minus * other**2 - 2 * self.unlike * H * other
        vague = (np.abs(self.mean) < 0.5) & (self.product < 0.5)
        if np.any(vague):
            A, B = 0.5 * (H - other), 0.5 * (H + other)
            # a difference of equals near 0
            A = np.where(np.abs(C) < _LINEAR * width[:, None], -0.5 * C * (dH + slope), A)
            small = A * A + B * (2 * A * self.mean + B * self.product)
            value = np.where(vague, small, value)
        return value, slopes


def _owen_to_one(h: Any, wide: Any) -> Any:
    """T(h, 1) - T(h, 1 - wide) of Owen's function."""
    nodes, weights = gauss(8)
    total: Any = 0.0
    for node, weight in zip(nodes, weights, strict=True):
        y = 1 + (1 - wide * node) ** 2
        total = total + weight * np.exp(-0.5 * h * h * y) / y
    return wide * total / (2 * np.pi)


# --- logistic forces -----------------------------------------------------------------------------


def logistic_force(omega: Any, V: Any) -> tuple[Any, Any]:
    """V σ(-z) and -∂(V σ(-z))/∂ω at the proximal point z = ω + V σ(-z)."""
    mirrored = omega < -0.5 * V  # ω → -(ω + V), z → -z: z is positive then
    start = np.where(mirrored, -(omega + V), omega)
    z = start + wrightomega(np.log(V) - 0.2 - start)
    for _ in range(4):
        e = np.exp(-z)
        s = e / (1 + e)
        w = V * s
        z = z - (z - start - w) / (1 + w * (1 - s))
    e = np.exp(-z)
    s = e / (1 + e)
    w = V * s * (1 - s)
    return np.where(mirrored, V * (1 - s), V * s), w / (1 + w)


def _corner(V: Any) -> Any:
    """The real part ω_c of the branch points."""
    E = (0.5 * np.sqrt(V) + np.sqrt(1 + 0.25 * V)) ** 2
    return np.log(E) + 1 - 1 / E


@dataclass(slots=True)
class _Line:
    """Nodes along ω from -reach to reach, equidistant in the variable T of the module's rule."""

    V: Any
    reach: Any
    corner: Any  # ω_c

    @classmethod
    def of(cls, V: Any, reach: Any) -> _Line:
        return cls(V, reach, _corner(V))

    def variable(self, omega: Any) -> Any:
        """T at ω."""
        V, c = self.V, self.corner
        return np.arcsinh((omega - c) / 4) + np.arcsinh((omega + V + c) / 4)

    def slope(self, omega: Any) -> Any:
        """dω/dT."""
        V, c = self.V, self.corner
        return 1 / (1 / np.hypot(omega - c, 4) + 1 / np.hypot(omega + V + c, 4))

    def counts(self, step: Any) -> Any:
        """Nodes of each point at most `step` apart in T."""
        span = self.variable(self.reach) - self.variable(-self.reach)
        tiny = np.ceil(2 * self.reach / (step * self.slope(0 * self.reach))) + 1
        return np.where(self.reach < _TINY_REACH, tiny, np.ceil(span / step) + 1)

    def take(self, index: Any) -> _Line:
        """The lines of some points."""
        return _Line(self.V[index], self.reach[index], self.corner[index])

    def nodes(self, count: int) -> tuple[Any, Any]:
        """ω and the weights dω, (points, nodes)."""
        low, high = self.variable(-self.reach), self.variable(self.reach)
        half = 0.5 * (low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, count))
        V, corner = self.V[:, None], self.corner[:, None]
        k = corner + 0.5 * V
        sinh, cosh = np.sinh(half), np.cosh(half)
        # |ω + V/2| = |tanh| √(16 cosh² + k²), and its distance from k without cancellation
        far = np.abs(sinh) * np.sqrt(16 + (k / cosh) ** 2) + k
        near = (4 * sinh - k / cosh) * ((4 * sinh + k / cosh) / far)
        omega = np.where(half > 0, corner + near, -(V + corner) - near)
        spacing = ((high - low) / (count - 1))[:, None]
        spacing = spacing / (1 / np.hypot(near, 4) + 1 / np.hypot(far, 4))
        tiny = self.reach < _TINY_REACH  # the force is linear there: equal distances in ω
        if np.any(tiny):
            omega[tiny] = self.reach[tiny, None] * np.linspace(-1.0, 1.0, count)
            spacing[tiny] = (2 * self.reach[tiny] / (count - 1))[:, None]
        return omega, spacing


def _blocks(counts: Any, most: float = 2e4) -> list[tuple[Any, int]]:
    """Points of similar numbers of nodes, in blocks of `most` nodes: indices, and their number."""
    levels = np.ceil(4 * np.log2(np.maximum(counts, 16.0)))
    blocks = []
    for level in np.unique(levels):
        index, count = np.flatnonzero(levels == level), int(2 ** (level / 4)) + 1
        size = max(1, int(most / count))
        blocks += [(index[k : k + size], count) for k in range(0, index.size, size)]
    return blocks


def skew_nodes(
    at: LearningPoints, V: Any, r: Any, a: Any, *, coarse: bool = False
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Blocks of points i with nodes t, their weights in the law of t = y ω, and V σ(-z) there."""
    for i, omega, mass in _normal_nodes(V, r, a, coarse):
        p = at.flips[i, None]
        tilted = ndtr((a / r)[i, None] * omega)
        force, _ = logistic_force(omega, V[i, None])
        yield i, omega, 2 * mass * (p + (1 - 2 * p) * tilted), force


def _normal_nodes(V: Any, r: Any, a: Any, coarse: bool) -> Iterator[tuple[Any, Any, Any]]:
    """Blocks of points with nodes ω, and their weights in N(0, r²)."""
    line = _Line.of(V, 8.7 * r)
    slopes = [np.sqrt(1 + a * a) * line.slope(0 * r), line.slope(2 * r), line.slope(-2 * r)]
    fine = r / np.maximum.reduce(slopes)
    counts = line.counts(np.minimum(0.3, fine) if coarse else np.minimum(0.1, 0.5 * fine))
    counts = np.where(np.isfinite(counts), np.minimum(counts, _MOST_NODES), 16.0)
    for i, count in _blocks(counts):
        omega, spacing = line.take(i).nodes(count)
        scale = 1 / r[i, None]
        yield i, omega, density(omega * scale) * (spacing * scale)


class LogisticLabels(Labels):
    """The logistic loss."""

    def forces(
        self, at: LearningPoints, V: Any, spread: Any, third: Any, *, coarse: bool = False
    ) -> Forces:
        """The moments of t = y ω by the trapezoidal rule."""
        a, r = third, np.sqrt(spread)
        sums = np.empty((3, at.size))
        for i, omega, mass in _normal_nodes(V, r, a, coarse):
            force, slope = logistic_force(omega, V[i, None])
            tilted, p = (a / r)[i, None] * omega, at.flips[i, None]
            skew = 2 * mass * (p + (1 - 2 * p) * ndtr(tilted))
            sums[0, i] = (skew * slope).sum(-1)
            sums[1, i] = (skew * force * force).sum(-1)
            sums[2, i] = (mass * np.exp(-0.5 * tilted * tilted) * force).sum(-1)
        sums *= at.samples
        alignment = _label_power(at) * np.sqrt(1 + a * a) * sums[2]
        return Forces(response=sums[0], power=sums[1], alignment=alignment)

    def product(self, at: LearningPoints, pair: Pair) -> tuple[Any, Any]:
        """The integral over C of products of G, itself an integral over ω."""
        V, sd, own = pair.V, np.sqrt(pair.common), np.sqrt(pair.own)
        tilt = tilt_of(at, pair)
        corner = _corner(V)
        width = np.sqrt(pair.own + 4)  # a layer of the logistic force itself has the width 2
        # nodes of ω that serve every C, or nodes around each C where the law given C is narrow
        line = _Line.of(V, 8.7 * (sd + own))
        ends = np.maximum(line.slope(line.reach), line.slope(-line.reach))
        counts = line.counts(np.minimum(0.1, 0.55 * own / np.maximum(ends, 1e-300)))
        local = ~(counts < 600)

        def integrand(x: Any, i: Any) -> tuple[Any, Any]:
            C = sd[i][:, None] * x
            value, slope = smoothed(C, i)
            if pair.same_labels:
                plus = shared_label(at, tilt, x, i)
                return 2 * plus * value * value, 2 * plus * slope * slope
            there = _mirrored(x, (value, slope), lambda: smoothed(-C, i))
            labels = _OwnLabels.of(at, pair, tilt, x, i)
            return labels.products(C, width[i], (value, slope), there)

        def smoothed(C: Any, i: Any) -> tuple[Any, Any]:
            """G(C) and -G'(C) at (points, nodes)."""
            result = np.empty((*C.shape, 2))
            for part in (True, False):
                some = np.flatnonzero(local[i] == part)
                if not some.size:
                    continue
                method = around if part else along
                sizes = inner_counts(i[some]) if part else counts[i[some]]
                for k, count in _blocks(sizes, 4e4 / C.shape[1]):
                    result[some[k]] = method(C[some[k]], i[some[k]], count)
            return result[..., 0], result[..., 1]

        def inner_counts(i: Any) -> Any:
            return np.minimum(17.4 / np.minimum(0.6, 0.7 / np.maximum(own[i], 1e-9)), _MOST_NODES)

        def along(C: Any, i: Any, count: int) -> Any:
            omega, spacing = line.take(i).nodes(count)
            force, slope = logistic_force(omega, V[i, None])
            s = own[i]
            weights = spacing / (s[:, None] * _ROOT_2PI)
            moments = np.stack([force * weights, slope * weights], axis=-1)
            scale = np.sqrt(0.5) / s[:, None]
            kernel = (scale * C)[:, :, None] - (scale * omega)[:, None, :]
            np.multiply(kernel, kernel, out=kernel)  # in place: half of the time of an overlap
            np.negative(kernel, out=kernel)
            return np.exp(kernel, out=kernel) @ moments

        def around(C: Any, i: Any, count: int) -> Any:
            nodes = np.linspace(-8.7, 8.7, count)
            weights = density(nodes) * (nodes[1] - nodes[0])
            omega = C[..., None] + own[i][:, None, None] * nodes
            return np.stack([f @ weights for f in logistic_force(omega, V[i, None, None])], axis=-1)

        centres = [(corner, width), (-V - corner, width), (0.0 * sd, sd / np.maximum(tilt, 1e-9))]
        if not pair.same_labels:
            centres += [(-corner, width), (V + corner, width)]
        return gaussian_mean(integrand, sd, centres)


_MOST_NODES = 4000
_TINY_REACH = 1e-2


# --- integrals over what two members share -------------------------------------------------------

Integrand = Callable[[Any, Any], tuple[Any, Any]]


def gaussian_mean(integrand: Integrand, sd: Any, centres: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Means over C = sd x, x ~ N(0, 1), of a function smooth but for layers.

    A layer at a centre has the profile of a normal distribution function of a width, given as
    (centre, width) in units of C. `integrand(x, i)` is the function of points i at nodes x.
    Without sharp layers the trapezoidal rule is used, with them Gauss's rule on panels.
    """
    safe = np.maximum(sd, 1e-150)
    sharpest = np.minimum.reduce([width for _, width in centres])
    inverse = 1 + 3 * (safe / np.maximum(sharpest, 1e-150)) ** 2
    value, slope = np.empty_like(safe), np.empty_like(safe)
    bounds = (0.0, 10.0, 40.0, 160.0)
    for low, high in zip(bounds, (*bounds[1:], np.inf), strict=True):
        points = np.flatnonzero((inverse > low) & (inverse <= high))
        if not points.size:
            continue
        sharp = not np.isfinite(high)
        h = 0.75 / np.sqrt(np.max(inverse[points]))
        count = int(np.ceil(9.0 / h)) if not sharp else 300
        size = max(1, int(1.5e4 / count))
        for k in range(0, points.size, size):
            i = points[k : k + size]
            if sharp:
                x, weights = _panels(safe[i], [(c[i], w[i]) for c, w in centres])
            else:
                x = np.broadcast_to(h * np.arange(-count, count + 1), (i.size, 2 * count + 1))
                weights = h * density(x)
            one, two = integrand(x, i)
            value[i], slope[i] = (weights * one).sum(-1), (weights * two).sum(-1)
    return value, slope


_BASE = np.array([-9.0, -6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0, 9.0])
_LAYER = np.array([-6.5, -4.0, -2.0, 0.0, 2.0, 4.0, 6.5])


def _panels(sd: Any, centres: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Nodes and weights of Gauss's rule between breakpoints at the layers."""
    breaks = [np.broadcast_to(_BASE, (sd.size, _BASE.size))]
    with np.errstate(over="ignore", invalid="ignore"):
        for centre, width in centres:
            at = (centre[:, None] + width[:, None] * _LAYER) / sd[:, None]
            breaks.append(np.clip(np.nan_to_num(at, nan=9.0), -9.0, 9.0))
    edges = np.sort(np.concatenate(breaks, axis=1), axis=1)
    wide = np.diff(edges, axis=1)[:, :, None]
    x, w = gauss(14)
    nodes = edges[:, :-1, None] + wide * x
    weights = wide * w * density(nodes)
    return nodes.reshape(sd.size, -1), weights.reshape(sd.size, -1)
