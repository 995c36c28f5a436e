r"""The overlap q₁₂ = E h₁ h₂ of the outputs of two members that share features, samples or noise.

For members that share the fractions f₁ of their features and f₂ of their samples, the excess
Δ = q₁₂ - m²/ρ over members that share nothing is the root of

    Δ = ρ m̂² [Q(f₁/ψ₁) - Q(0)] + f₂ q̂₁₂(Δ) T(f₁/ψ₁)

with q̂₁₂ the mean product of the forces on both (`_labels`). It is convex and increasing in Δ, so
that Newton's method converges, monotonically from the left. Where f₁ = f₂ = 1 and P is near N, both
sides are nearly equal: the equation is then solved for what labels lose, as in `_fixed_point`.

[loureiro2022] has the joint law of learners on correlated features. The form with one scalar, for
any shared fractions and for labels drawn independently, is derived here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doubletrouble.convex._fixed_point import SolvedPoints
from doubletrouble.convex._labels import LearningPoints, Pair, ResidualLabels
from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import BoolArray, FloatArray, Indices

_STEPS = 80
_START = 0.4  # of the bounds of an excess
_UNINFORMED = 1e-3  # correlation of labels with the target below which an excess may vanish
_NEAR = 1e-14  # relative step at which iteration stops
_ROUNDING = 1e-9  # below it a step that does not fall is rounding


def excess_overlap(
    solution: SolvedPoints,
    shared_features: FloatArray,
    shared_samples: FloatArray,
    shared_noise: bool,
) -> FloatArray:
    """q₁₂ - m²/ρ of two members at every point."""
    points = solution.points
    # features that are infinitely many are their mean: the same for all members
    f1 = np.where(points.inverse_features == 0, 1.0, shared_features)
    f2 = np.broadcast_to(np.asarray(shared_samples, dtype=np.float64), f1.shape)
    excess = np.where(f2 == 0, solution.fluctuation(f1), solution.excess)
    same = np.full(f1.shape, True) if shared_noise else ~points.noisy
    for equal in (True, False):
        todo = (f2 > 0) & (same == equal)
        if equal:
            todo &= (f1 < 1) | (f2 < 1)
        index = np.flatnonzero(todo)
        if index.size:
            every = index.size == todo.size
            some = solution if every else solution.take(index)
            excess[index] = _Pairs.of(some, f1[index], f2[index], equal).root()
    return excess


@dataclass(slots=True, kw_only=True)
class _Pairs:
    """The equation of the excess of two members, at every point."""

    solution: SolvedPoints
    same_labels: bool
    least: FloatArray  # of the excess: what shared features alone give
    most: FloatArray  # the excess of one member with itself
    noise_gain: FloatArray  # f₂ ψ₂ T(f₁/ψ₁)
    complement: FloatArray  # 1 - noise_gain
    base: FloatArray  # m²/ρ, or the bias for residuals
    interpolates: BoolArray  # near interpolation, where the equation is one of what labels lose

    @classmethod
    def of(
        cls, solution: SolvedPoints, f1: FloatArray, f2: FloatArray, same_labels: bool
    ) -> _Pairs:
        points, residual = solution.points, solution.equations.residual
        noise_gain = f2 * points.samples * solution.features.noise(f1)
        complement, interpolates = 1 - noise_gain, np.full(f1.shape, False)
        if residual:
            interpolates = (f2 == 1) & (solution.forces.missing < 0.5) & (np.abs(complement) < 0.1)
            if np.any(interpolates):
                complement = np.where(interpolates, solution.complement(f1), complement)
        return cls(
            solution=solution,
            same_labels=same_labels,
            least=solution.fluctuation(f1),
            most=solution.excess,
            noise_gain=noise_gain,
            complement=complement,
            base=solution.bias if residual else solution.q_d,
            interpolates=interpolates,
        )

    def root(self) -> FloatArray:
        """The excess, by Newton's method between bounds."""
        result, last = self._start(), np.full(self.least.size, np.inf)
        low, high = self.least.copy(), self.most.copy()
        active = np.arange(result.size)
        with np.errstate(all="ignore"):
            for _ in range(_STEPS):
                x, most = result[active], self.most[active]
                move = self._step(active, x)
                low[active] = np.where(move > 0, x, low[active])
                high[active] = np.where(move < 0, x, high[active])
                left, right = low[active], np.maximum(high[active], low[active])
                new, slack = x + move, _ROUNDING * right
                newton = (new >= left - slack) & (new <= right + slack)
                new = np.where(newton, np.clip(new, left, right), 0.5 * (left + right))
                step, before = np.abs(new - x), last[active]
                result[active], last[active] = new, step
                near = _NEAR * new + 1e-20 * most
                # steps of Newton's method fall quadratically: the next is step·(step/before)²
                following = np.where(step < 1e-2 * before, step * (step / before) ** 2, np.inf)
                done = np.minimum(step, np.where(np.isfinite(before), following, np.inf)) <= near
                rounded = newton & (step <= _ROUNDING * new) & (step >= 0.3 * before)
                rounded |= right - left <= _NEAR * new
                active = active[~done & ~rounded]
                if not active.size:
                    return result
        raise ConvergenceError(
            f"an overlap did not converge in {_STEPS} steps",
            last=result,
            residual=float(np.max(last[active])),
        )

    def _start(self) -> FloatArray:
        """The least excess, or for margin losses, whose layers are sharp there, one above it."""
        solution, points = self.solution, self.solution.points
        if solution.equations.residual:
            return self.least.copy()
        bound = self.noise_gain * solution.forces.power / points.samples  # that of equal forces
        informed = points.information**2 > _UNINFORMED**2 * (1 + points.label_noise)
        above = np.where(informed, np.minimum(self.most - self.least, bound), 0.0)
        return self.least + _START * np.maximum(above, 0.0)

    def _step(self, active: Indices, x: FloatArray) -> FloatArray:
        """The step of Newton's method from an excess x."""
        step, near = np.empty_like(x), self.interpolates[active]
        for part, step_of in ((near, self._interpolating_step), (~near, self._plain_step)):
            if part.any():
                step[part] = step_of(active[part], x[part])
        return step

    def _plain_step(self, i: Indices, x: FloatArray) -> FloatArray:
        value, slope = self.solution.equations.labels.product(*self._pair(i, x))
        gap = self.least[i] + self.noise_gain[i] * value - x
        return gap / np.maximum(1 - self.noise_gain[i] * slope, 1e-12)

    def _interpolating_step(self, i: Indices, x: FloatArray) -> FloatArray:
        points, pair = self._pair(i, x)
        labels = self.solution.equations.labels
        assert isinstance(labels, ResidualLabels)
        missing, slope = labels.missing_product(points, pair)
        power = (
            pair.base
            + pair.intercept**2
            + (points.noise_power if self.same_labels else points.nonlinear)
        )
        k, complement = self.noise_gain[i], self.complement[i]
        return (self.least[i] + k * (power - missing) - x * complement) / (complement + k * slope)

    def _pair(self, i: Indices, x: FloatArray) -> tuple[LearningPoints, Pair]:
        solution = self.solution
        every = i.size == self.least.size
        return solution.points if every else solution.points.take(i), Pair(
            V=solution.V[i],
            base=self.base[i],
            excess=x,
            own=np.maximum(self.most[i] - x, 0.0),
            intercept=solution.state.intercept[i],
            same_labels=self.same_labels,
        )
