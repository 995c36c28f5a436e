r"""The fixed point of a learner whose samples are drawn with replacement.

N draws from N samples give each a weight w, Poisson of mean one when N is large. Sample by sample,
a fraction 1/(1 + w V) stays unused, with V the leverage of unit weight, and (*) of `_fixed_point`
becomes

    z = N d(V),     A a₁(V) = r y,     A = 1 - z/P,
    d = E w V/(1 + w V),    a₁ = E w/(1 + w V),    a₂ = E w²/(1 + w V)²,    a₃ = E w/(1 + w V)².

Within a member c_N is a₂/(N a₁²), and 1 - c_N z = a₃/a₁; between two whose draws are independent
c_N is 1/N. N (1 - 1/e) of the samples are distinct: without ridge, P beyond that interpolates
(V = ∞, and c_N is as if the distinct ones were all the samples), and P at that is the peak.

On a training sample the residual of a member is 1/(1 + w V) times the residual of a member trained
without the sample.

**Numerical form.** Given V, y is that of infinitely many samples and the ridge r/a₁: z falls with V
and N d rises, so that there is one root over all log V; no unused fraction is ever the difference
of two numbers that are close.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble._numerics import PointArrays
from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import FloatArray, IntArray, Numbers
from doubletrouble.theory._fixed_point import NO_SAMPLES, FixedPoint, Spectrum

DISTINCT = -math.expm1(-1)
"""The share of distinct samples in a bootstrap sample, 1 - 1/e."""

_COUNTS = np.arange(1.0, 25.0)  # w; larger counts have probabilities below rounding
_CHANCES = np.array([math.exp(-1) / math.factorial(int(w)) for w in _COUNTS])
_FIRST = np.stack([_COUNTS * _CHANCES, _CHANCES], axis=1)
_SECOND = np.stack([_COUNTS * _CHANCES, _COUNTS**2 * _CHANCES, _CHANCES], axis=1)
_UNDRAWN = math.exp(-1)
_TINIEST_RIDGE = 1e-220  # times 1/y: equal to ridge 0 to rounding, and V still fits a float
_LOG_V = 690.0
_LARGEST_RIDGE = 1e180  # predicts zero, and V still fits a float
_MOST_RIDGE = 575.0  # bound on its logarithm
_HUGE = 1e70  # features, as a stand-in for infinitely many: sizes reach 1e50
_VANISHING = 1e-250
_INFINITE = np.float64(np.inf)  # a NumPy scalar: Python's would raise where it divides by 0
_LAST_STEP = 3e-8  # of log V: the next one is below rounding
_MOST_STEPS = 200


@dataclass(slots=True, kw_only=True)
class Averages:
    """Averages over the weights, finite for all V; also for complex V."""

    used: Numbers  # d
    idle: Numbers  # 1 - d/(1 - 1/e): the unused share of the distinct samples
    unused: Numbers  # a₃/a₁
    ratio: Numbers  # a₁²/a₂
    residual: Numbers  # E 1/(1 + w V)
    residual_square: Numbers  # E 1/(1 + w V)²

    @classmethod
    def at(cls, log_v: Numbers) -> Averages:
        """The averages at a given log V."""
        V = np.exp(log_v)
        one = 1 + V
        left = one[..., None] / (1 + V[..., None] * _COUNTS)  # from 1 (V = 0) to 1/w (V = ∞)
        first, unused = (left @ _FIRST).T
        mixed, second, square = ((left * left) @ _SECOND).T
        unused = unused / one
        return cls(
            used=first * (V / one),
            idle=unused / DISTINCT,
            unused=mixed / first / one,
            ratio=first * first / second,
            residual=_UNDRAWN + unused,
            residual_square=_UNDRAWN + square / one / one,
        )


@dataclass(slots=True, kw_only=True)
class BootstrapPoint(PointArrays):
    """A member on a bootstrap sample: its fixed point, and averages over the weights."""

    point: FixedPoint
    shared_samples: FloatArray  # c_N between two members over that within one
    residual: Numbers  # E 1/(1 + w V)
    residual_square: Numbers  # E 1/(1 + w V)²


def bootstrap(
    spectrum: Spectrum,
    features: FloatArray,
    samples: FloatArray,
    ridge: FloatArray,
    log_step: FloatArray | None = None,
) -> BootstrapPoint:
    """Solve for y and V, limits included.

    With `log_step` everything is evaluated at the solution plus that imaginary step of log y, so
    that imaginary parts are derivatives along log y.
    """
    if spectrum.rank == 0:  # the features do not depend on the inputs
        surplus = features - samples
        point = spectrum.fixed_point(features, samples, surplus, ridge)
        one = np.ones_like(point.tail)
        return BootstrapPoint(point=point, shared_samples=one, residual=one, residual_square=one)
    few = samples * DISTINCT < NO_SAMPLES
    limit = few | (ridge == 0) | (ridge > _LARGEST_RIDGE)
    ridge = np.minimum(ridge, _LARGEST_RIDGE)
    solved = np.where(few, _VANISHING, samples)
    if spectrum.rank < math.inf:
        low = spectrum.complete(features, samples * DISTINCT, ridge)
        ridge, limit = np.where(low, _VANISHING, ridge), limit | low
    least = _TINIEST_RIDGE / np.minimum(1.0, np.minimum(features, solved))
    learner = _Learner(
        spectrum=spectrum,
        features=np.minimum(features, _HUGE),
        samples=solved,
        ridge=np.maximum(ridge, least),
    )
    shape = np.broadcast_shapes(learner.shape, np.shape(limit))
    if shape:
        learner = learner.map(lambda v: np.broadcast_to(v, shape).reshape(-1))
        limit = np.broadcast_to(limit, shape).reshape(-1)
    log_v = learner.leverage()
    point, averages = learner.at(log_v)
    P, N = learner.features, learner.samples
    gap, second = P * point.gap_per_feature, spectrum.degrees(point)[1]
    point = replace(point, samples=N, gap_per_sample=gap / N, second_per_sample=second / N)
    if log_step is not None:
        step = log_step.reshape(-1)
        # dz = (z - Q) dlog y = N V a₃ dlog V, and V a₃ = d·a₃/a₁, as d = V a₁
        turned = step * gap / (N * averages.used * averages.unused)
        point, averages = point.stepped(spectrum, step), Averages.at(log_v + 1j * turned)
    infinite = P == _HUGE
    point = replace(
        point,
        unused_features=np.where(infinite, 1.0, point.unused_features),
        gap_per_feature=np.where(infinite, 0.0, point.gap_per_feature),
        unused_samples=averages.unused,
        gap_per_sample=point.gap_per_sample / averages.ratio,  # c_N = 1/(N ratio)
        second_per_sample=point.second_per_sample / averages.ratio,
        limit=limit,
    )
    bag = BootstrapPoint(
        point=point,
        shared_samples=averages.ratio,
        residual=averages.residual,
        residual_square=averages.residual_square,
    )
    return bag.map(lambda v: np.reshape(v, shape)) if shape else bag


@dataclass(slots=True, kw_only=True)
class _Learner(PointArrays):
    """P, N and r of learners, as numbers or as flat arrays, for which V is sought."""

    spectrum: Spectrum
    features: FloatArray
    samples: FloatArray
    ridge: FloatArray

    def at(self, log_v: Numbers) -> tuple[FixedPoint, Averages]:
        """The fixed point and the averages at a given log V."""
        averages = Averages.at(log_v)
        reduced = np.exp(np.log(self.ridge) + log_v - np.log(averages.used))  # r/a₁
        return self.spectrum.solve(self.features, _INFINITE, -_INFINITE, reduced), averages

    def step(self, log_v: Numbers) -> tuple[FloatArray, FloatArray]:
        """A function of log V that falls through 0 at the solution, and Newton's step.

        With n distinct samples it is log z - log N d where many features or samples are unused;
        elsewhere the equation is P A - n idle = P - n, between logarithms of positive terms.
        """
        point, averages = self.at(log_v)
        P, N, A, e = self.features, self.samples, point.unused_features, point.gap_per_feature
        idle, used, u = averages.idle, averages.used, averages.unused
        distinct = N * DISTINCT
        z = self.spectrum.degrees(point)[0]
        turned = (1 - u) / (A + e)  # of log y: d log(r/a₁)/d log V = 1 - a₃/a₁
        apart, fall = np.log(z / (N * used)), P * e / z * A * turned + u
        more, less = np.maximum(P - distinct, 0.0), np.maximum(distinct - P, 0.0)
        left, right = more + distinct * idle, less + P * A
        close = np.log(left / right)
        close_fall = N * used * u / left + P * A / right * e * turned
        near = (A < 0.5) & (idle < 0.5)
        # [()] turns arrays without axes into numbers, which are faster
        value = np.where(near, close, apart)[()]
        return value, value / np.where(near, close_fall, fall)[()]

    def leverage(self) -> FloatArray:
        """Solve for log V, by Newton's method in a bracket.

        The start is the leverage z/(N B) of a learner that has the distinct samples once each.
        """
        distinct = self.samples * DISTINCT
        point = self.spectrum.solve(self.features, distinct, self.features - distinct, self.ridge)
        high = np.minimum(np.maximum(_MOST_RIDGE - np.log(self.ridge), 1.0), _LOG_V)
        low = -_LOG_V + 0.0 * high
        unused = point.unused_samples
        start = np.log(self.spectrum.degrees(point)[0]) - np.log(self.samples * unused)
        log_v: FloatArray = np.minimum(np.maximum(start, low), high)
        some: IntArray | tuple[()] = np.arange(log_v.size) if np.ndim(log_v) else ()
        few, here = self, log_v
        for _ in range(_MOST_STEPS):
            value, step = few.step(here)
            right = value > 0
            low, high = np.where(right, here, low)[()], np.where(right, high, here)[()]
            there: FloatArray = here + step
            there = np.where((there >= low) & (there <= high), there, 0.5 * (low + high))[()]
            going = ~(np.abs(there - here) < _LAST_STEP)
            here = there
            if not np.ndim(log_v):
                if not going:
                    return there
                continue
            log_v[some] = there
            if not going.any():
                return log_v
            some, low, high, here = some[going], low[going], high[going], here[going]
            few = few.take(going)
        residual = float(np.max(np.abs(step)))
        raise ConvergenceError(
            f"the leverage of a bootstrap sample did not converge in {_MOST_STEPS} steps",
            last=log_v,
            residual=residual,
        )
