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
and N d rises, so that their ratio has one root over all log V; no unused fraction is ever the
difference of two numbers that are close.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble.theory._fixed_point import NO_SAMPLES, FixedPoint, Spectrum
from doubletrouble.theory._roots import crossings

DISTINCT = -math.expm1(-1)
"""The share of distinct samples in a bootstrap sample, 1 - 1/e."""

_COUNTS = np.arange(1.0, 25.0)  # w; larger counts have probabilities below rounding
_CHANCES = np.array([math.exp(-1) / math.factorial(int(w)) for w in _COUNTS])
_UNDRAWN = math.exp(-1)
_TINIEST_RIDGE = 1e-220  # times 1/y: equal to ridge 0 to rounding, and V still fits a float
_LOG_V = 690.0
_LARGEST_RIDGE = 1e180  # predicts zero, and V still fits a float
_MOST_RIDGE = 575.0  # bound on its logarithm
_ENDLESS = 1e70  # features, as a stand-in for infinitely many: sizes reach 1e50
_VANISHING = 1e-250


@dataclass(slots=True, kw_only=True)
class Averages:
    """Averages over the weights, finite for all V; also for complex V."""

    used: Any  # d
    idle: Any  # 1 - d/(1 - 1/e): the unused share of the distinct samples
    unused: Any  # a₃/a₁
    ratio: Any  # a₁²/a₂
    residual: Any  # E 1/(1 + w V)
    residual_square: Any  # E 1/(1 + w V)²

    @classmethod
    def at(cls, log_v: Any) -> Averages:
        """The averages at a given log V."""
        V = np.exp(log_v)[..., None]
        left = 1 / (1 + _COUNTS * V)
        pull = _COUNTS * (1 + V) * left  # from w (V = 0) to 1 (V = ∞)
        first = pull @ _CHANCES
        return cls(
            used=(_COUNTS * V * left) @ _CHANCES,
            idle=(left @ _CHANCES) / DISTINCT,
            unused=((pull * left) @ _CHANCES) / first,
            ratio=first * first / ((pull * pull) @ _CHANCES),
            residual=_UNDRAWN + left @ _CHANCES,
            residual_square=_UNDRAWN + (left * left) @ _CHANCES,
        )


@dataclass(slots=True, kw_only=True)
class BootstrapPoint:
    """A member on a bootstrap sample: its fixed point, and averages over the weights."""

    point: FixedPoint
    shared_samples: Any  # c_N between two members over that within one
    residual: Any  # E 1/(1 + w V)
    residual_square: Any  # E 1/(1 + w V)²


def bootstrap(
    spectrum: Spectrum, features: Any, samples: Any, ridge: Any, log_step: Any = None
) -> BootstrapPoint:
    """Solve for y and V, limits included.

    With `log_step` everything is evaluated at the solution plus that imaginary step of log y, so
    that imaginary parts are derivatives along log y.
    """
    if spectrum.rank == 0:  # the features do not depend on the inputs
        spare = features - samples
        point = spectrum.fixed_point(features, samples, spare, ridge)
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
    arrays = np.broadcast_arrays(
        np.minimum(features, _ENDLESS), solved, np.maximum(ridge, least), limit
    )
    shape = arrays[0].shape
    P, N, r = (np.asarray(v, dtype=np.float64).reshape(-1) for v in arrays[:3])
    endless = np.full_like(P, np.inf)

    def solved_at(log_v: Any, i: Any) -> tuple[FixedPoint, Averages]:
        averages = Averages.at(log_v)
        reduced = np.exp(np.log(r[i]) + log_v - np.log(averages.used))  # r/a₁
        return spectrum.solve(P[i], endless[i], -endless[i], reduced), averages

    def excess(log_v: Any, i: Any) -> Any:
        point, averages = solved_at(log_v, i)
        used = spectrum.count(point.learnability) + point.tail
        distinct, A = N[i] * DISTINCT, point.unused_features
        # next to the peak both sides are close to their sizes: log z/P = log(1 - A)
        close = np.log1p((P[i] - distinct) / distinct) + np.log1p(-A) - np.log1p(-averages.idle)
        apart = np.log(used) - np.log(N[i] * averages.used)
        return np.asarray(np.where((A < 0.5) & (averages.idle < 0.5), close, apart))

    everywhere = np.arange(P.size)
    low_end, high_end = np.full(P.size, -_LOG_V), np.clip(_MOST_RIDGE - np.log(r), 1.0, _LOG_V)
    log_v = crossings(
        excess, low_end, high_end, excess(low_end, everywhere), excess(high_end, everywhere)
    )
    point, averages = solved_at(log_v, everywhere)
    if log_step is not None:
        step = log_step.reshape(-1)
        gap = spectrum.count(point.learnability * point.unlearned) + point.tail
        # dz = (z - Q) dlog y = N V a₃ dlog V, and V a₃ = d·a₃/a₁, as d = V a₁
        turned = step * gap / (N * averages.used * averages.unused)
        point, averages = point.stepped(spectrum, step), Averages.at(log_v + 1j * turned)
    within = 1 / (N * averages.ratio)  # c_N
    L, M = point.learnability, point.unlearned
    infinite = P == _ENDLESS
    point = replace(
        point,
        samples=N,
        unused_features=np.where(infinite, 1.0, point.unused_features),
        gap_per_feature=np.where(infinite, 0.0, point.gap_per_feature),
        unused_samples=averages.unused,
        gap_per_sample=within * (spectrum.count(L * M) + point.tail),
        second_per_sample=within * spectrum.count(L * L),
        limit=np.asarray(arrays[3]).reshape(-1),
    )
    return BootstrapPoint(
        point=point.reshape(shape),
        shared_samples=averages.ratio.reshape(shape),
        residual=averages.residual.reshape(shape),
        residual_square=averages.residual_square.reshape(shape),
    )
