r"""The balance of a learner whose samples are drawn with replacement.

N draws from N samples give each a weight w, Poisson of mean one when N is large. Sample by sample,
1/(1 + w V) of it stays unused, with V the leverage of unit weight, and (*) of `balance` becomes

    z = N d(V),     A a₁(V) = r y,     A = 1 - z/P,
    d = E w V/(1 + w V),    a₁ = E w/(1 + w V),    a₂ = E w²/(1 + w V)²,    a₃ = E w/(1 + w V)².

Within a learner c_N is a₂/(N a₁²), and 1 - c_N z = a₃/a₁; between two whose draws are independent
c_N is 1/N. N (1 - 1/e) of the samples are distinct: without ridge, P beyond that interpolates
(V = ∞, and c_N is as if the distinct ones were all the samples), and P at that is the peak.

**Numerical form.** Given V, y is that of infinitely many samples and the ridge r/a₁: z falls with V
and N d rises, so that their ratio is searched for the one root, over all log V; no unused fraction
is ever the difference of two numbers that are close.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.crossing import crossings
from doubletrouble.theory.modes import Modes

DISTINCT = -math.expm1(-1)
"""The share of samples that are drawn at all."""

_COUNTS = np.arange(1.0, 25.0)  # w; what is left of a Poisson variable is below rounding
_CHANCES = np.array([math.exp(-1) / math.factorial(int(w)) for w in _COUNTS])
_TINIEST_RIDGE = 1e-220  # times 1/y: as good as none, and V still fits a float
_LOG_V = 690.0
LARGEST_RIDGE = 1e180  # predicts zero, and V still fits a float
_MOST_RIDGE = 575.0  # its logarithm, beyond any that can be
_ENDLESS = 1e70  # features: sizes reach 1e50


class _Averages(NamedTuple):
    """What follows from averages over the weights, finite for all V."""

    used: FloatArray  # d
    idle: FloatArray  # 1 - d/(1 - 1/e): what is left of the distinct samples
    unused: FloatArray  # a₃/a₁
    ratio: FloatArray  # a₁²/a₂

    @classmethod
    def at(cls, log_v: FloatArray) -> "_Averages":
        V = np.exp(log_v)[..., None]
        left = 1 / (1 + _COUNTS * V)
        pull = _COUNTS * (1 + V) * left  # from w (V = 0) to 1 (V = ∞)
        first = pull @ _CHANCES
        return cls(
            used=(_COUNTS * V * left) @ _CHANCES,
            idle=(left @ _CHANCES) / DISTINCT,
            unused=((pull * left) @ _CHANCES) / first,
            ratio=first * first / ((pull * pull) @ _CHANCES),
        )


def bootstrap_balance(
    modes: Modes, features: FloatArray, samples: FloatArray, ridge: FloatArray
) -> tuple[Balance, FloatArray]:
    """Solve for y and V; return the balance, and c_N between two learners over that within one."""
    least = _TINIEST_RIDGE / np.minimum(1.0, np.minimum(features, samples))
    arrays = np.broadcast_arrays(np.minimum(features, _ENDLESS), samples, np.maximum(ridge, least))
    shape = arrays[0].shape
    P, N, r = (np.asarray(v, dtype=np.float64).reshape(-1) for v in arrays)

    def solved(log_v: FloatArray, P: FloatArray, r: FloatArray) -> tuple[Balance, _Averages]:
        weighed = _Averages.at(log_v)
        without_limit = np.full_like(P, np.inf)
        ridge = np.exp(np.log(r) + log_v - np.log(weighed.used))  # r/a₁
        return modes.solve(P, without_limit, -without_limit, ridge), weighed

    def excess(log_v: FloatArray, i: Any) -> FloatArray:
        balance, weighed = solved(log_v, P[i], r[i])
        used = modes.count(balance.learned) + balance.tail
        distinct, A = N[i] * DISTINCT, balance.unused_features
        # next to the peak both sides are a size less a little: log z/P = log(1 - A)
        close = np.log1p((P[i] - distinct) / distinct) + np.log1p(-A) - np.log1p(-weighed.idle)
        apart = np.log(used) - np.log(N[i] * weighed.used)
        return np.asarray(np.where((A < 0.5) & (weighed.idle < 0.5), close, apart))

    everywhere = slice(None)
    low, high = np.full(P.size, -_LOG_V), np.clip(_MOST_RIDGE - np.log(r), 1.0, _LOG_V)
    log_v = crossings(excess, low, high, excess(low, everywhere), excess(high, everywhere))
    balance, (_, _, unused, ratio) = solved(log_v, P, r)
    within = 1 / (N * ratio)  # c_N
    L, M, endless = balance.learned, balance.missed, P == _ENDLESS
    found = balance._replace(
        unused_features=np.where(endless, 1.0, balance.unused_features),
        partial_features=np.where(endless, 0.0, balance.partial_features),
        unused_samples=unused,
        partial_samples=within * (modes.count(L * M) + balance.tail),
        squared_samples=within * modes.count(L * L),
    )
    return Balance(*(v.reshape((*v.shape[:-1], *shape)) for v in found)), ratio.reshape(shape)
