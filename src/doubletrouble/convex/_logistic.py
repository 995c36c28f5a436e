r"""The forces of labels with the logistic loss, by quadrature.

The proximal map z = ω + Vσ(-z) is analytic but for branch points at ω_c ± iπ and -V - ω_c ± iπ,
ω_c = ln E + 1 - 1/E, E = (√V/2 + √(1 + V/4))². The trapezoidal rule in
asinh((ω - ω_c)/4) + asinh((ω + V + ω_c)/4), whose inverse is explicit, converges geometrically for
every V.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import wrightomega

from doubletrouble._numerics import PointArrays
from doubletrouble.convex._labels import (
    ROOT_2PI,
    Forces,
    Labels,
    LearningPoints,
    MarginLabels,
    Pair,
    State,
    ValueAndSlope,
    density,
    label_power,
    positive_label,
    product_of_classes,
    wrong_share,
)
from doubletrouble.parameters import FloatArray, Indices, IntArray, Value

_MOST_NODES = 4000
_TINY_REACH = 1e-2
_FEW = 4  # points
_HUGE = 1e18  # variance of scores with the forces of the hinge loss


def logistic_force(omega: FloatArray, V: FloatArray) -> ValueAndSlope:
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


def _corner(V: FloatArray) -> FloatArray:
    """The real part ω_c of the branch points."""
    E = (0.5 * np.sqrt(V) + np.sqrt(1 + 0.25 * V)) ** 2
    return np.log(E) + 1 - 1 / E


@dataclass(slots=True)
class _Line(PointArrays):
    """Nodes along ω from -reach to reach, equidistant in the variable T of the module's rule."""

    V: FloatArray
    reach: FloatArray
    corner: FloatArray  # ω_c
    low: FloatArray  # T at the ends
    high: FloatArray

    @classmethod
    def of(cls, V: FloatArray, reach: FloatArray) -> _Line:
        c, ends = _corner(V), np.stack([-reach, reach])
        low, high = np.arcsinh((ends - c) / 4) + np.arcsinh((ends + V + c) / 4)
        return cls(V, reach, c, low, high)

    def slope(self, omega: Value) -> FloatArray:
        """dω/dT."""
        V, c = self.V, self.corner
        return 1 / (1 / np.hypot(omega - c, 4) + 1 / np.hypot(omega + V + c, 4))

    def counts(self, step: FloatArray) -> FloatArray:
        """Nodes of each point at most `step` apart in T."""
        counts = np.ceil((self.high - self.low) / step) + 1
        if np.any(tiny := self.reach < _TINY_REACH):
            equal = np.ceil(2 * self.reach / (step * self.slope(0.0))) + 1
            counts = np.where(tiny, equal, counts)
        return counts

    def nodes(self, count: int) -> tuple[FloatArray, FloatArray]:
        """ω and the weights dω, (points, nodes)."""
        spacing = ((self.high - self.low) / (count - 1))[:, None]
        half = 0.5 * (self.low[:, None] + spacing * np.arange(count))
        V, corner = self.V[:, None], self.corner[:, None]
        k = corner + 0.5 * V
        sinh, cosh = np.sinh(half), np.cosh(half)
        # |ω + V/2| = |tanh| √(16 cosh² + k²), and its distance from k without cancellation
        far = np.abs(sinh) * np.sqrt(16 + (k / cosh) ** 2) + k
        near = (4 * sinh - k / cosh) * ((4 * sinh + k / cosh) / far)
        omega = np.where(half > 0, corner + near, -(V + corner) - near)
        spacing = spacing / (1 / np.hypot(near, 4) + 1 / np.hypot(far, 4))
        tiny = self.reach < _TINY_REACH  # the force is linear there: equal distances in ω
        if np.any(tiny):
            omega[tiny] = self.reach[tiny, None] * np.linspace(-1.0, 1.0, count)
            spacing[tiny] = (2 * self.reach[tiny] / (count - 1))[:, None]
        return omega, spacing


def _blocks(counts: FloatArray, most: float = 2e4) -> list[tuple[IntArray, int]]:
    """Points of similar numbers of nodes, in blocks of `most` nodes: indices, and their number."""
    levels = np.ceil(4 * np.log2(np.maximum(counts, 16.0)))
    if counts.size <= _FEW:  # calls cost more than nodes
        levels = np.full(counts.shape, levels.max())
    blocks = []
    for level in np.unique(levels) if levels.size > _FEW else levels[:1]:
        index, count = np.flatnonzero(levels == level), int(2 ** (level / 4)) + 1
        size = max(1, int(most / count))
        blocks += [(index[k : k + size], count) for k in range(0, index.size, size)]
    return blocks


def _normal_nodes(
    V: FloatArray, r: FloatArray, a: FloatArray, coarse: bool
) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Blocks of points with nodes ω, and their weights in N(0, r²)."""
    line = _Line.of(V, 8.7 * r)
    slopes = line.slope(np.stack([0 * r, 2 * r, -2 * r]))
    slopes[0] *= np.sqrt(1 + a * a)
    fine = r / slopes.max(axis=0)
    counts = line.counts(np.minimum(0.3, fine) if coarse else np.minimum(0.1, 0.5 * fine))
    counts = np.where(np.isfinite(counts), np.minimum(counts, _MOST_NODES), 16.0)
    for i, count in _blocks(counts):
        omega, spacing = line.take(i).nodes(count)
        scale = 1 / r[i, None]
        yield i, omega, density(omega * scale) * (spacing * scale)


class LogisticLabels(Labels):
    """The logistic loss."""

    def forces(self, points: LearningPoints, state: State, *, coarse: bool = False) -> Forces:
        """The moments of t = y ω by the trapezoidal rule."""
        V, a, r = state.V, state.tilt, np.sqrt(state.spread)
        sums = np.empty((3, points.size))
        for i, omega, mass in _normal_nodes(V, r, a, coarse):
            force, slope = logistic_force(omega, V[i, None])
            tilted = (a / r)[i, None] * omega
            skew = 2 * mass * positive_label(points, tilted, i)
            sums[0, i] = (skew * slope).sum(-1)
            sums[1, i] = (skew * force * force).sum(-1)
            sums[2, i] = (mass * np.exp(-0.5 * tilted * tilted) * force).sum(-1)
        sums *= points.samples
        alignment = label_power(points) * np.sqrt(1 + a * a) * sums[2]
        return Forces(response=sums[0], power=sums[1], alignment=alignment)

    def product(self, points: LearningPoints, pair: Pair) -> ValueAndSlope:
        """The integral over C of products of G, itself an integral over ω.

        Scores far beyond 1 have the forces of the hinge loss.
        """
        huge = pair.own > _HUGE
        if not np.any(huge):
            return self._integrals(points, pair)
        result = np.empty((2, points.size))
        for part in (True, False):
            i = np.flatnonzero(huge == part)
            some, two = points.take(i), pair.take(i)
            if part:
                some.low, some.high = np.zeros(i.size), np.ones(i.size)
                result[:, i] = MarginLabels(0.0).product(some, two)
            elif i.size:
                result[:, i] = self._integrals(some, two)
        return result[0], result[1]

    def _integrals(self, points: LearningPoints, pair: Pair) -> ValueAndSlope:
        V, sd, own = pair.V, np.sqrt(pair.common), np.sqrt(pair.own)
        # nodes of ω that serve every C, or nodes around each C where the law given C is narrow
        line = _Line.of(V, 8.7 * (sd + own))
        ends = line.slope(np.stack([line.reach, -line.reach])).max(axis=0)
        counts = line.counts(np.minimum(0.1, 0.55 * own / np.maximum(ends, 1e-300)))
        local = ~(counts < 600)

        def smoothed(C: FloatArray, i: IntArray) -> ValueAndSlope:
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

        def inner_counts(i: Indices) -> FloatArray:
            return np.minimum(17.4 / np.minimum(0.6, 0.7 / np.maximum(own[i], 1e-9)), _MOST_NODES)

        def along(C: FloatArray, i: Indices, count: int) -> FloatArray:
            omega, spacing = line.take(i).nodes(count)
            force, slope = logistic_force(omega, V[i, None])
            s = own[i]
            weights = spacing / (s[:, None] * ROOT_2PI)
            moments = np.stack([force * weights, slope * weights], axis=-1)
            scale = np.sqrt(0.5) / s[:, None]
            kernel = (scale * C)[:, :, None] - (scale * omega)[:, None, :]
            np.multiply(kernel, kernel, out=kernel)  # in place: half of the time of an overlap
            np.negative(kernel, out=kernel)
            result: FloatArray = np.exp(kernel, out=kernel) @ moments
            return result

        def around(C: FloatArray, i: Indices, count: int) -> FloatArray:
            nodes = np.linspace(-8.7, 8.7, count)
            weights = density(nodes) * (nodes[1] - nodes[0])
            omega = C[..., None] + own[i][:, None, None] * nodes
            return np.stack([f @ weights for f in logistic_force(omega, V[i, None, None])], axis=-1)

        corner = _corner(V)
        width = np.sqrt(pair.own + 4)  # a layer of the logistic force itself has the width 2
        return product_of_classes(points, pair, smoothed, (corner, -V - corner), width)

    def training(self, points: LearningPoints, state: State) -> tuple[FloatArray, FloatArray]:
        """The share of labels on the wrong side, t < -V/2, and the mean loss."""
        V, a, r = state.V, state.tilt, np.sqrt(state.spread)
        loss = np.empty_like(V)
        for i, omega, mass in _normal_nodes(V, r, a, coarse=False):
            force, _ = logistic_force(omega, V[i, None])
            skew = 2 * mass * positive_label(points, (a / r)[i, None] * omega, i)
            loss[i] = (skew * np.logaddexp(0.0, -(omega + force))).sum(-1)
        return wrong_share(points, 0.5 * V, r, a), loss
