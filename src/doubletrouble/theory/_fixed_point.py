r"""The spectrum of a problem, and the fixed point that determines every term.

Let the kernel have eigenvalues l_i and a tail of total weight t, and let y be the inverse of the
effective ridge of a learner with P features and N samples. The learnability of mode i is
L_i = l_i y/(1 + l_i y), and the degrees of freedom of first and second order are

    z(y) = Σ_i L_i + t y,        Q(y) = Σ_i L_i²,        z - Q = Σ_i L_i (1 - L_i) + t y.

The fixed point is the balance of the unused fractions of features and samples with the ridge
([simon2023], [defilippis2024]):

    (1 - z/P) (1 - z/N) = r y.                                                              (*)

The isotropic problem is the case of one level, counted per dimension: l = μ₁², t = μ⋆², r = λ,
P → ψ₁ = P/D, N → ψ₂ = N/D; then L = Ψ₁ = 1 - r/q with (q, r) of [dascoli2020] App. B.
For a measured spectrum with ridge δ on the Gram matrix, r = δ/N.

**Numerical form.** With small = min(P, N), big = max(P, N) and gap = 1 - small/big, the smaller
unused fraction h solves h (gap + h small/big) = r y, so h(y) is known without subtraction, and
(*) reads z(y) + small·h(y) = small: a sum of increasing positive terms. Every quantity is then
accurate to a few units in the last place, also at P = N and for r down to 1e-300.

**Limits.** At ridge 0 some terms are 0/0 (for example for a linear network at P = N = D). There (*)
is solved at a surrogate ridge of 1e±250, where finite limits are exact to rounding and other values
are so small or large that they stand for 0 or inf (`limit_value`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from doubletrouble._numerics import PointArrays, bisected, crossings
from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import BoolArray, FloatArray, Indices, IntArray, Numbers, Value
from doubletrouble.problems import Member, Problem, SpectralProblem

TINIEST = 5e-324
NO_SAMPLES = 1e-150  # reached only by data divided among very many members

_NEGLIGIBLE_WEIGHT = 1e-250  # relative to the largest: counts as zero
_VANISHING = 1e-250  # the surrogate ridge, or number of samples, for 0
_TINY_RIDGE = 1e-305  # below this y of a saturated learner overflows


@dataclass(slots=True, kw_only=True)
class FixedPoint(PointArrays):
    """The solution of (*) for a learner; also for complex ridges."""

    features: Value  # P
    samples: Value  # N, or its surrogate in a limit
    learnability: Numbers  # L of the largest level
    unlearned: Numbers  # 1 - L of the largest level, without subtraction
    bias: Numbers  # ρ = Σ v² (1 - L)², over modes with the target's normalized powers
    crossed: Numbers  # χ = Σ v² L (1 - L)
    unused_features: Numbers  # A = 1 - z/P
    unused_samples: Numbers  # B = 1 - z/N
    gap_per_feature: Numbers  # (z - Q)/P
    gap_per_sample: Numbers  # (z - Q)/N
    second_per_sample: Numbers  # Q/N
    tail: Numbers  # t y: degrees of freedom that go into the tail
    limit: BoolArray | bool = False  # whether values are at a surrogate ridge: see `limit_value`

    @classmethod
    def at(
        cls,
        spectrum: Spectrum,
        features: Value,
        samples: Value,
        y: Numbers,
        unused: tuple[Numbers | float, Numbers | float],
    ) -> FixedPoint:
        """The fixed point at y, given the unused fractions of the smaller and the bigger size."""
        sums = _SelfSums(*spectrum.sum_at(_self_sums, y))
        learnability, unlearned = spectrum.fractions(y)
        rest = spectrum.tail * y
        gap = sums.gap + rest
        smaller, bigger = unused
        narrow = features <= samples
        return cls(
            features=features,
            samples=samples,
            learnability=learnability,
            unlearned=unlearned,
            bias=sums.bias,
            crossed=sums.crossed,
            unused_features=np.where(narrow, smaller, bigger),
            unused_samples=np.where(narrow, bigger, smaller),
            gap_per_feature=gap / features,
            gap_per_sample=gap / samples,
            second_per_sample=sums.second / samples,
            tail=rest,
        )

    @property
    def joint(self) -> Numbers:
        """J = A B + B (z - Q)/P + A (z - Q)/N, the determinant that vanishes at P = N, r = 0."""
        A, B = self.unused_features, self.unused_samples
        J: Numbers = A * B + B * self.gap_per_feature + A * self.gap_per_sample
        return J

    def moved(self, spectrum: Spectrum, step: FloatArray, by: Moves) -> FixedPoint:
        """The fixed point after a step i·`step`: imaginary parts are derivatives times the step.

        Those that are not in `by` follow from d L = L (1-L) dlog y, d z = (z - Q) dlog y,
        d Q = 2 Σ L² (1-L) dlog y, d ρ = -2 κ dlog y and d χ = (2 κ - χ) dlog y with
        κ = Σ v² L (1-L)².
        """
        L, M = self.learnability, self.unlearned
        e_P, e_N, Q_N = self.gap_per_feature, self.gap_per_sample, self.second_per_sample
        second, kappa = spectrum.sum_over(_turning_sums, self)
        t_P, t_N = 2 * second / self.features, 2 * second / self.samples
        i, y = 1j * step, by.y
        return replace(
            self,
            learnability=L + i * y * (L * M),
            unlearned=M - i * y * (L * M),
            bias=self.bias - i * y * (2 * kappa),
            crossed=self.crossed + i * y * (2 * kappa - self.crossed),
            unused_features=self.unused_features + i * by.unused_features,
            unused_samples=self.unused_samples + i * by.unused_samples,
            gap_per_feature=e_P + i * ((e_P - t_P) * y - e_P * by.features),
            gap_per_sample=e_N + i * ((e_N - t_N) * y - e_N * by.samples),
            second_per_sample=Q_N + i * (t_N * y - Q_N * by.samples),
            tail=self.tail + i * (self.tail * y),
        )

    def stepped(self, spectrum: Spectrum, step: FloatArray) -> FixedPoint:
        """The fixed point after a complex step i·`step` of log y, at constant P and N."""
        e_P, e_N = self.gap_per_feature, self.gap_per_sample
        return self.moved(spectrum, step, Moves(y=1.0, unused_features=-e_P, unused_samples=-e_N))


@dataclass(slots=True, kw_only=True)
class Moves:
    """Derivatives along a step of log y, log P or log N."""

    y: Numbers | float  # its logarithm
    unused_features: Numbers
    unused_samples: Numbers
    features: float = 0.0  # d log P
    samples: float = 0.0  # d log N


Sum: TypeAlias = Callable[[Numbers], Numbers]
Formula: TypeAlias = Callable[..., Iterable[Numbers]]
"""Sums over modes, in order: of `count`, `weigh` and one pair (L, 1 - L) or more."""


class _SelfSums(NamedTuple):
    """Sums over the modes of one learner."""

    gap: Numbers  # Σ L (1-L)
    second: Numbers  # Q
    bias: Numbers  # ρ
    crossed: Numbers  # χ


def _self_sums(count: Sum, weigh: Sum, one: tuple[Numbers, Numbers]) -> _SelfSums:
    L, M = one
    both = L * M
    return _SelfSums(gap=count(both), second=count(L * L), bias=weigh(M * M), crossed=weigh(both))


def _turning_sums(count: Sum, weigh: Sum, one: tuple[Numbers, Numbers]) -> tuple[Numbers, ...]:
    """Σ L² (1-L) and Σ v² L (1-L)²."""
    L, M = one
    both = L * M
    return count(both * L), weigh(both * M)


def _first_degree(count: Sum, weigh: Sum, one: tuple[Numbers, Numbers]) -> tuple[Numbers, ...]:
    """Σ L."""
    return (count(one[0]),)


def _degrees(count: Sum, weigh: Sum, one: tuple[Numbers, Numbers]) -> tuple[Numbers, ...]:
    """Σ L and Q."""
    L, _ = one
    return count(L), count(L * L)


class _BalanceSums(NamedTuple):
    """The parts of z - size, see `Spectrum.balance`."""

    rest: Numbers  # Σ L of modes with L ≤ 1/2, less Σ (1-L) of the others
    gap: Numbers  # Σ L (1-L)
    learned: Numbers  # modes with L > 1/2
    others: Numbers  # modes with L ≤ 1/2


def _balance_sums(count: Sum, weigh: Sum, one: tuple[Numbers, Numbers]) -> _BalanceSums:
    L, M = one
    learned = np.abs(M) < 0.5
    return _BalanceSums(
        rest=count(np.where(learned, -M, L)),
        gap=count(L * M),
        learned=count(learned.astype(np.float64)),
        others=count((~learned).astype(np.float64)),
    )


@dataclass(slots=True)
class Sizes(PointArrays):
    """The smaller and the bigger of P and N, on which the unused fractions depend."""

    small: FloatArray
    big: FloatArray
    twice_ratio: FloatArray  # 2 small/big, 0 in the kernel limit
    gap: FloatArray  # 1 - small/big, exact near P = N
    square: FloatArray  # gap²

    @classmethod
    def of(cls, features: FloatArray, samples: FloatArray, surplus: FloatArray) -> Sizes:
        """Sort the two sizes; `surplus` is P - N, to full precision where they are close."""
        small, big = np.minimum(features, samples), np.maximum(features, samples)
        gap = np.fmin(np.abs(surplus) / big, 1.0)  # fmin turns inf/inf, the kernel limit, into 1
        return cls(small, big, 2 * small / big, gap, gap * gap)

    def unused(self, twice_ry: Numbers) -> tuple[Numbers, Numbers]:
        """The unused fractions of the smaller and of the bigger size, given 2 r y."""
        twice = self.gap + np.sqrt(self.square + self.twice_ratio * twice_ry)
        return twice_ry / (twice + TINIEST), 0.5 * twice  # TINIEST: 0/0 at P = N, r = 0 is 0


class Spectrum:
    """The levels of a problem, scaled to a total weight of one."""

    cost: int  # numbers stored per point
    tail: float  # t
    learnable: bool  # whether the target has power on a mode of positive eigenvalue
    rank: float  # features and samples that learn every mode in full; inf where there is a tail
    null: float  # modes of eigenvalue 0
    scale: float  # of the levels: the root of their total weight per dimension, or the weight
    ridge_falls_with_samples: ClassVar[bool]  # whether r is the problem's own ridge over N

    def scaled_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        """The problem's own ridge as r of (*); `samples` is the whole data set."""
        return ridge / self.scale / (samples if self.ridge_falls_with_samples else self.scale)

    def own_ridge(self, ridge: FloatArray, samples: FloatArray) -> FloatArray:
        """The inverse of `scaled_ridge`."""
        return ridge * self.scale * (samples if self.ridge_falls_with_samples else self.scale)

    def solve(
        self, features: Value, samples: Value, surplus: Value, ridge: FloatArray
    ) -> FixedPoint:
        """Solve (*) at ridge r; `surplus` is P - N."""
        raise NotImplementedError

    def at_ridge_of_time(
        self, time: Value, features: FloatArray, samples: FloatArray
    ) -> FloatArray:
        """The ridge r whose penalty decays weights at the rate 1/time."""
        raise NotImplementedError

    def fractions(self, y: Numbers) -> tuple[Numbers, Numbers]:
        """L and 1 - L of the largest level at y, real or complex."""
        raise NotImplementedError

    def inverse_ridge(self, point: FixedPoint) -> Numbers:
        """The y of a fixed point."""
        raise NotImplementedError

    def sum_at(self, formula: Formula, *y: Numbers) -> Iterable[Numbers]:
        """Sums over modes at one y or more, real or complex.

        `formula` takes `count` (the sum over modes), `weigh` (the sum weighted by the target's
        normalized powers) and, for each y, the pair of L and 1 - L by mode.
        """
        raise NotImplementedError

    def sum_over(self, formula: Formula, *points: FixedPoint) -> Iterable[Numbers]:
        """Sums over modes at the y of fixed points."""
        raise NotImplementedError

    def degrees(self, point: FixedPoint) -> tuple[Numbers, Numbers]:
        """The degrees of freedom z and Q of a fixed point."""
        first, second = self.sum_over(_degrees, point)
        return first + point.tail, second

    def balance(self, y: Numbers, size: FloatArray) -> tuple[Numbers, Numbers]:
        """Return z - size and z - Q; modes with L > 1/2 are counted exactly, less their 1 - L.

        Without a tail, most modes are all but the others: multiplicities that are not whole add up
        exactly where no mode is learned, and where all are.
        """
        sums = _BalanceSums(*self.sum_at(_balance_sums, y))
        learned = sums.learned
        if self.rank < math.inf:
            others = sums.others - self.null
            learned = np.where(learned < others, learned, self.rank - others)
        ty = self.tail * y
        return (sums.rest + ty) + (learned - size), sums.gap + ty

    def saturated(self, features: Value, samples: Value) -> BoolArray:
        """Where features and samples suffice to learn every mode in full."""
        return np.asarray(np.minimum(features, samples) >= self.rank)

    def complete(self, features: Value, samples: Value, ridge: FloatArray) -> BoolArray:
        """Where every mode is learned in full: features and samples suffice, and the ridge is 0."""
        return np.asarray(self.saturated(features, samples) & (ridge < _TINY_RIDGE))

    def fixed_point(
        self,
        features: FloatArray,
        samples: FloatArray,
        surplus: FloatArray,
        ridge: FloatArray,
    ) -> FixedPoint:
        """Solve (*) at ridge r, limits included; `surplus` is P - N."""
        high, empty = ridge > 1 / _VANISHING, samples < NO_SAMPLES
        limit = high | empty
        if self.rank < math.inf:
            low = self.complete(features, samples, ridge)
            ridge, limit = np.where(low, _VANISHING, ridge), limit | low
        if not limit.any():
            return self.solve(features, samples, surplus, ridge)
        ridge = np.where(high, 1 / _VANISHING, ridge)
        point = self.solve(features, np.where(empty, _VANISHING, samples), surplus, ridge)
        return replace(point, limit=limit)


class IsotropicSpectrum(Spectrum):
    """One level l = μ₁² and the tail t = μ⋆²; P, N are P/D, N/D, and the ridge is λ."""

    cost = 1
    ridge_falls_with_samples = False

    def __init__(self, problem: Problem | Member) -> None:
        moments = problem.moments
        self.scale = math.hypot(moments.linear, moments.nonlinear) or 1.0
        self._level = (moments.linear / self.scale) ** 2
        self.tail = (moments.nonlinear / self.scale) ** 2
        self.learnable = self._level > 0
        self.null = float(not self.learnable)
        self.rank = float(self.learnable) if self.tail < _NEGLIGIBLE_WEIGHT else math.inf

    def fractions(self, y: Numbers) -> tuple[Numbers, Numbers]:
        ly = self._level * y
        unlearned = 1 / (1 + ly)
        return ly * unlearned, unlearned

    def inverse_ridge(self, point: FixedPoint) -> Numbers:
        if self._level > 0:
            return np.asarray(point.learnability / point.unlearned / self._level)
        return np.asarray(point.tail / self.tail)

    def at_ridge_of_time(
        self, time: Value, features: FloatArray, samples: FloatArray
    ) -> FloatArray:
        return self.scaled_ridge(1 / time / features / samples, samples)

    def sum_at(self, formula: Formula, *y: Numbers) -> Iterable[Numbers]:
        # the sum over one level is the value itself
        values: Iterable[Numbers] = formula(np.asarray, np.asarray, *map(self.fractions, y))
        return values

    def sum_over(self, formula: Formula, *points: FixedPoint) -> Iterable[Numbers]:
        # by their own L: points may have levels of different activations
        pairs = ((point.learnability, point.unlearned) for point in points)
        values: Iterable[Numbers] = formula(np.asarray, np.asarray, *pairs)
        return values

    def solve(
        self, features: Value, samples: Value, surplus: Value, ridge: FloatArray
    ) -> FixedPoint:
        """Solve (*) for one level of multiplicity one, vectorized and branch-free.

        Multiplying (*) by 1 + l y gives, divided by `small`,

            (1 + l y) (t y/small + h(y)) + (1/small - 1)⁺ l y = 1 + (1 - 1/small)⁺ l y.

        Both sides are close to power laws of y, so Newton's method on their logarithms converges
        from any start, in three or four steps from the one below.
        """
        level, tail = self._level, self.tail
        # as in `Sizes`, inline for speed
        small, big = np.minimum(features, samples), np.maximum(features, samples)
        gap = np.fmin(np.abs(surplus) / big, 1.0)  # fmin turns inf/inf, the kernel limit, into 1
        twice_ratio, square = 2 * small / big, gap * gap
        twice_ridge, inverse_small = 2 * ridge, 1 / small
        excess = (1 - small) * inverse_small * level
        less = np.maximum(excess, 0.0)
        equation = _OneLevel(
            level=level,
            flat=tail * inverse_small,
            less=less,
            more=less - excess,
            gap=gap,
            square=square + 1e-320,  # which only matters at P = N, r = 0, where h = 0
            twice_ratio=twice_ratio,
            twice_ridge=twice_ridge,
        )
        # start: the ridgeless root (of a quadratic, the larger of two forms, which does not
        # subtract) combined with the root when the ridge dominates, scaled down by the share of
        # `small` that both terms use there
        linear = (level + tail) - small * level
        root = np.sqrt(linear * linear + (4 * level * tail) * small)
        width = np.abs(linear) + root + TINIEST  # TINIEST: a linear network at min(P, N) = D
        inverse = np.maximum((linear + root) * (0.5 * inverse_small), (2 * level * tail) / width)
        y = 1 / (inverse + ridge)
        ry = twice_ridge * y
        y = y / (y * inverse + ry / (gap + np.sqrt(square + twice_ratio * ry) + TINIEST))
        y = equation.newton(y)

        ly = level * y
        unlearned = 1 / (1 + ly)
        learnability = ly * unlearned
        rest = tail * y
        ry = twice_ridge * y
        twice = gap + np.sqrt(square + twice_ratio * ry)
        smaller, bigger = ry / (twice + TINIEST), 0.5 * twice
        crossed = learnability * unlearned
        degrees, narrow = crossed + rest, features <= samples  # z - Q
        # `FixedPoint.at` for one level, inline for speed
        return FixedPoint(
            features=features,
            samples=samples,
            learnability=learnability,
            unlearned=unlearned,
            bias=unlearned * unlearned,
            crossed=crossed,
            unused_features=np.where(narrow, smaller, bigger),
            unused_samples=np.where(narrow, bigger, smaller),
            gap_per_feature=degrees / features,
            gap_per_sample=degrees / samples,
            second_per_sample=learnability * learnability / samples,
            tail=rest,
        )


_LAST_STEP = 1e-8  # the Newton step at which the next one is below rounding
_DAMPED_AFTER = 8
_MAX_STEPS = 200


@dataclass(slots=True, kw_only=True)
class _OneLevel(PointArrays):
    """Coefficients of the one-level equation, per point."""

    level: float
    flat: FloatArray
    less: FloatArray
    more: FloatArray
    gap: FloatArray
    square: FloatArray
    twice_ratio: FloatArray
    twice_ridge: FloatArray

    def newton(self, y: FloatArray, steps: int = 0) -> FloatArray:
        """Newton's method on the logarithms; converged points are dropped once they are most.

        The logarithmic slope lies in [1/2, 2] everywhere. Points may alternate between
        regimes (nearly linear networks just above P = N = D); after a few steps those far from the
        root are stepped with the slope 2, which always contracts.
        """
        for taken in range(steps, _MAX_STEPS):
            ly, ty, below, above = self.level * y, self.flat * y, self.less * y, self.more * y
            ry = self.twice_ridge * y  # 2 r y
            root = np.sqrt(self.square + self.twice_ratio * ry)
            inner, one = ty + ry / (self.gap + root), 1 + ly
            left, right = one * inner + below, 1 + above
            slope = (ly * inner + one * (ty + 0.5 * (ry / root)) + below) / left - above / right
            excess = np.log(left / right)
            if taken >= _DAMPED_AFTER:
                slope = np.where(np.abs(excess) > 0.5, 2.0, slope)
            step = excess / slope
            y = y * np.exp(-step)
            if np.ndim(y) == 0:
                if abs(step) < _LAST_STEP:
                    return y
            elif taken >= 1:  # few blocks converge in one step
                active = np.flatnonzero(~(np.abs(step) < _LAST_STEP))
                if active.size == 0:
                    return y
                if active.size < 0.2 * step.size:
                    y[active] = self.take(active).newton(y[active], taken + 1)
                    return y
        residual = float(np.max(np.abs(step)))
        raise ConvergenceError(
            f"the fixed point did not converge in {_MAX_STEPS} steps (last step {residual:.1e})",
            last=y,
            residual=residual,
        )


class MeasuredSpectrum(Spectrum):
    """The measured levels and their tail, with the ridge δ on the Gram matrix."""

    ridge_falls_with_samples = True

    def __init__(self, problem: SpectralProblem) -> None:
        levels, powers = np.asarray(problem.eigenvalues), np.asarray(problem.target_powers)
        self._counts, tail = np.asarray(problem.multiplicities), float(np.asarray(problem.tail))
        self.scale = float(self._counts @ levels) + tail or 1.0
        levels = levels / self.scale
        self._levels = np.where(levels < _NEGLIGIBLE_WEIGHT, 0.0, levels)
        self.tail = tail / self.scale
        # divided by the largest first: the sum of large powers could overflow
        weights = self._counts * (powers / powers.max() if powers.any() else 1.0)
        self._weights = weights / weights.sum()
        self._top = float(self._levels.max())
        self.cost = levels.size
        self.learnable = bool(np.any(self._levels * self._weights > 0))
        self._modes = float(np.sum(self._counts, where=self._levels > 0))
        if abs(self._modes - round(self._modes)) < 1e-12 * self._modes:  # weights of quadrature
            self._modes = float(round(self._modes))
        self.null = float(np.sum(self._counts, where=self._levels == 0))
        self.rank = self._modes if self.tail < _NEGLIGIBLE_WEIGHT else math.inf

    @cached_property
    def _rough(self) -> MeasuredSpectrum:
        """A long list in bins of the logarithm, each at its mean: its solution is a start."""
        positive = self._levels > 0
        levels, counts = self._levels[positive], self._counts[positive]
        logs = np.log(levels)
        low, high = float(logs.min()), float(logs.max())
        index = ((logs - low) * ((_ROUGH - 1) / ((high - low) or 1.0))).astype(np.intp)
        modes = np.bincount(index, counts, _ROUGH)
        totals = np.bincount(index, counts * levels, _ROUGH)
        some = modes > 0
        rough = copy(self)
        rough._counts = np.asarray(modes[some], dtype=np.float64)
        rough._levels = totals[some] / modes[some]
        rough.null = 0.0
        rough._weights, rough.cost = rough._counts, int(np.count_nonzero(some))
        rough._top = float(rough._levels.max())
        return rough

    def fractions(self, y: Numbers) -> tuple[Numbers, Numbers]:
        ly = self._top * y
        unlearned = 1 / (1 + ly)
        return ly * unlearned, unlearned

    def inverse_ridge(self, point: FixedPoint) -> Numbers:
        if self._top > 0:
            return np.asarray(point.learnability / point.unlearned / self._top)
        return np.asarray(point.tail / self.tail)

    def sum_at(self, formula: Formula, *y: Numbers) -> Iterable[Numbers]:
        # in chunks that stay in the cache: memory does not grow with the number of modes
        chunk = max(1, _CHUNK // max(np.asarray(v).nbytes for v in y))
        if chunk >= self.cost:
            return self._sum_part(formula, slice(None), y)
        parts = [
            self._sum_part(formula, slice(start, start + chunk), y)
            for start in range(0, self.cost, chunk)
        ]
        return tuple(sum(terms) for terms in zip(*parts, strict=True))

    def _sum_part(
        self, formula: Formula, part: slice, ys: tuple[Numbers, ...]
    ) -> tuple[Numbers, ...]:
        """Sums over some of the levels."""
        levels, pairs = self._levels[part], []
        for y in ys:
            ly = np.multiply.outer(levels, y)
            unlearned = 1 / (1 + ly)
            pairs.append((ly * unlearned, unlearned))
        return tuple(
            formula(
                self._counts[part].__matmul__,
                self._weights[part].__matmul__,
                *pairs,
            )
        )

    def sum_over(self, formula: Formula, *points: FixedPoint) -> Iterable[Numbers]:
        return self.sum_at(formula, *map(self.inverse_ridge, points))

    def at_ridge_of_time(
        self, time: Value, features: FloatArray, samples: FloatArray
    ) -> FloatArray:
        # features are divided by √P: the rate does not depend on their number
        return self.scaled_ridge(np.divide(1, time), samples)

    def solve(
        self, features: Value, samples: Value, surplus: Value, ridge: FloatArray
    ) -> FixedPoint:
        """Solve (*) for a list of levels with multiplicities; they are the first axis.

        For a mode with l y > 1, L is written 1 - (1 - L) and the one is moved to the right-hand
        side, where counting is exact: no digits are lost for saturated spectra.
        """
        shape = np.broadcast_shapes(*map(np.shape, (features, samples, surplus, ridge)))
        features, samples = (np.broadcast_to(v, shape).reshape(-1) for v in (features, samples))
        surplus, ridge = (np.broadcast_to(v, shape).reshape(-1) for v in (surplus, ridge))
        sizes = Sizes.of(features, samples, surplus)

        def excess(log_y: FloatArray, points: Sizes, ridge: FloatArray) -> FloatArray:
            y = np.exp(log_y)
            used = points.small * points.unused(2 * ridge * y)[0]
            over: FloatArray = self.balance(y, points.small)[0] + used
            return over

        def newton(log_y: FloatArray, points: Sizes, ridge: FloatArray) -> FloatArray:
            """The step: d(z + small·h)/dlog y = z - Q + small·dh/dlog y."""
            y = np.exp(log_y)
            h, bigger = points.unused(2 * ridge * y)
            slope = h * bigger / np.maximum(2 * bigger - points.gap, TINIEST)
            off, gap = self.balance(y, points.small)
            step: FloatArray = (off + points.small * h) / (gap + points.small * slope)
            return step

        bracket = self._bracket(sizes, ridge)
        log_y, reach = self._start(sizes, ridge, bracket)
        active = np.arange(log_y.size)
        for _ in range(_FAST):
            step = newton(log_y[active], sizes.take(active), ridge[active])
            log_y[active] -= np.clip(step, -reach, reach)
            active = active[~(np.abs(step) < _LAST_LOG_STEP)]
            if active.size == 0:
                break
        else:  # spectra with gaps, saturated up to one of them
            log_y[active] = self._bracketed(excess, bracket, sizes, ridge, active)
        for _ in range(2):
            step = newton(log_y, sizes, ridge)
            log_y = log_y - step
        if not (change := float(np.max(np.abs(step)))) < _LAST_LOG_STEP:
            raise ConvergenceError(
                f"the fixed point did not converge (last step {change:.1e})",
                last=np.exp(log_y),
                residual=change,
            )
        y = np.exp(log_y)
        point = FixedPoint.at(self, features, samples, y, sizes.unused(2 * ridge * y))
        point = replace(point, limit=np.zeros(features.shape, dtype=bool))
        return point.map(lambda v: np.reshape(v, shape))

    def _bracket(self, sizes: Sizes, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds on log y: below, z and h each use at most half; above, one term suffices."""
        positive, count = self._levels[self._levels > 0], self._modes
        half = 0.125 * sizes.twice_ratio + 0.5 * sizes.gap  # r y at which h = 1/2
        total = np.float64(self._counts @ self._levels + self.tail)
        smallest = positive.min() if count else 1.0
        low = np.minimum(0.5 * sizes.small / total, half / ridge)
        few = sizes.small < count
        by_modes = np.where(few, sizes.small / ((count - sizes.small) * smallest), np.inf)
        high = np.minimum(np.minimum(1 / ridge, sizes.small / np.float64(self.tail)), by_modes)
        return np.log(low) - 0.1, np.log(high) + 0.1

    def _start(
        self, sizes: Sizes, ridge: FloatArray, bracket: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, float]:
        """Log y interpolated in a table of z, and a bound on its error.

        For long lists it is the solution for fewer levels instead.
        """
        if self.cost > 4 * _ROUGH and self._top > 0:
            surplus = sizes.gap * sizes.big
            point = self._rough.solve(sizes.small, sizes.big, -surplus, ridge)
            return np.log(self._rough.inverse_ridge(point)), 1.0
        low, high = float(bracket[0].min()), float(bracket[1].max())
        nodes = np.linspace(low, high, min(_NODES, 32 + sizes.small.size))
        y = np.exp(nodes)
        (first,) = self.sum_at(_first_degree, y)
        z = first + self.tail * y

        def share(index: IntArray) -> FloatArray:
            used = z[index] / sizes.small + sizes.unused(2 * ridge * y[index])[0]
            return np.asarray(np.log(used))

        below = np.zeros(sizes.small.shape, dtype=int)
        above = np.full_like(below, nodes.size - 1)
        while np.any(above - below > 1):
            middle = (below + above) // 2
            over = share(middle) > 0
            below, above = np.where(over, below, middle), np.where(over, middle, above)
        first, last = share(below), share(above)
        part = np.clip(-first / np.maximum(last - first, TINIEST), 0.0, 1.0)
        spacing = float(nodes[1] - nodes[0])
        return nodes[below] + part * spacing, spacing

    def _bracketed(
        self,
        excess: Callable[[FloatArray, Sizes, FloatArray], FloatArray],
        bracket: tuple[FloatArray, FloatArray],
        sizes: Sizes,
        ridge: FloatArray,
        active: IntArray,
    ) -> FloatArray:
        """Log y of some points by bracketing, which is slower and always converges."""

        def values(log_y: FloatArray, index: Indices) -> FloatArray:
            points = active[index]
            return excess(log_y, sizes.take(points), ridge[points])

        every = np.arange(active.size)
        low, high = bracket[0][active], bracket[1][active]
        return crossings(values, low, high, values(low, every), values(high, every))


_CHUNK = 2**17  # bytes of L at the levels and points that are summed at once
_ROUGH = 4096  # levels of the start for long lists
_NODES = 512  # of the table of z, at most
_FAST = 10  # steps of Newton's method from the table; other points are bracketed
_LAST_LOG_STEP = 1e-9


@dataclass(slots=True, kw_only=True)
class ModeSums:
    """Sums over modes along y, on which the error at given sizes depends."""

    inverse_ridge: FloatArray  # y
    degrees: FloatArray  # z
    gap: FloatArray  # z - Q
    bias: FloatArray  # ρ = Σ v² M²
    crossed: FloatArray  # χ = Σ v² L M


def mode_sums(spectrum: Spectrum, least: float, most: float, per_decade: int) -> ModeSums:
    """The sums at nodes along log y, for degrees of freedom from `least` to `most`."""

    def sums(log_y: FloatArray) -> ModeSums:
        y = np.exp(log_y)
        point = FixedPoint.at(spectrum, 1.0, 1.0, y, (0.0, 0.0))  # unit sizes: the sums themselves
        return ModeSums(
            inverse_ridge=y,
            degrees=point.gap_per_sample + point.second_per_sample,
            gap=point.gap_per_sample,
            bias=point.bias,
            crossed=point.crossed,
        )

    def log_y(degrees: float) -> float:
        bounds = np.asarray(-100.0), np.asarray(600.0)
        return float(bisected(lambda x: sums(x).degrees <= degrees, *bounds))

    ends = log_y(least), log_y(min(most, (1 - 1e-6) * spectrum.rank))
    count = 8 + math.ceil(per_decade * (ends[1] - ends[0]) / math.log(10))
    return sums(np.linspace(*ends, count))


def sizes_of(problem: Problem | Member | SpectralProblem) -> tuple[Value, Value, Value]:
    """P, N and the ridge in the units of a problem, or of a member of a committee."""
    if isinstance(problem, SpectralProblem):
        return problem.n_features, problem.n_samples, problem.gram_ridge
    return problem.features_per_dim, problem.samples_per_dim, problem.ridge


def root_power(problem: Problem | SpectralProblem) -> Value:
    """F, of a measured spectrum the root of the target's total power on the modes."""
    if isinstance(problem, Problem):
        return problem.signal
    powers, counts = np.asarray(problem.target_powers), np.asarray(problem.multiplicities)
    largest = float(powers.max()) or 1.0
    return math.sqrt(largest) * math.sqrt(float(counts @ (powers / largest)))


def spectrum_of(problem: Problem | Member | SpectralProblem) -> Spectrum:
    """Return the spectrum of a problem, or of a member of a committee."""
    if isinstance(problem, SpectralProblem):
        return MeasuredSpectrum(problem)
    return IsotropicSpectrum(problem)
