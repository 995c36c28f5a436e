"""Standard errors of statistics of data sets, and of initializations that data sets share.

Data sets, with their noise, are independent: leaving out one at a time gives

    V_d = (D-1)/D Σ_i (θ_{-i} - θ)²,

the variance of θ for the initializations at hand. Where these are shared, their draw adds to it;
V_k does the same for initializations. Both count the part that belongs to cells (i, j), so we take
it away once, by the second differences of leaving out both:

    V_dk = (D-1)(K-1)/(DK) Σ_ij (θ_{-i,-j} - θ_{-i} - θ_{-j} + θ)²,    V = V_d + max(V_k - V_dk, 0).

For a mean over a two-way table V_d + V_k - V_dk is without bias. For products of distinct draws one
jackknife counts terms of second order twice, and V_dk up to four times: V is therefore at least
V_d, an upper bound on average for the initializations at hand (Efron and Stein).

The draw of the test points adds the variance of θ from point to point. What two halves of the data
sets agree on is that variance, V_t = Cov_t(θ_t of one half, θ_t of the other)/T. What they agree on
because they share initializations is in it, too, and with too few data sets for two halves all that
is uncertain at each point: these are counted twice, and intervals are then a little too wide.

Measured on random features (N = D = 40, P/N = 0.5, 1, 2; 20 data sets, 5 shared initializations,
2 draws of noise, 150 test points; 800 repeats of what tests/learners/test_coverage.py does with
200) intervals of nominally 95 % cover in 93 to 97 % for the parts of the sequential split, and on
Gaussian random effects in 92 to 98 %. A variance spread over few degrees of freedom (few
initializations, and test points that move together) has a skewed estimate, and its intervals cover
less.
"""

import hashlib
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray, Value


class Variances(NamedTuple):
    """Contributions to the variance of a statistic; NaN stands for too few draws, or points."""

    data: float  # the draw of data sets
    init: float  # the draw of initializations that data sets share
    test: float  # the draw of test points; 0 where these are fixed

    @property
    def total(self) -> float:
        """Their sum."""
        return sum(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistic:
    """A mean over test points, and its values with a data set or an initialization left out.

    Entry [0, 0] of `table` is the statistic itself; row d leaves out the d-th data set, column k
    the k-th initialization. Where initializations are not shared by data sets there is no column
    but the first. NaN is what too few draws do not determine. Statistics of an equal `key` are of
    the same draws: `Estimate` combines them entry by entry.
    """

    table: FloatArray  # (1 + D, 1 + K), or (1 + D, 1)
    points: (
        FloatArray  # (H, T): at each test point, for H = 2 halves of the data sets, or all; or 0
    )
    key: Hashable

    def variances(self) -> Variances:
        """The contributions of data sets, initializations and test points to its variance."""
        z = self.table
        D, K = z.shape[0] - 1, z.shape[1] - 1
        data, init = z[1:, :1] - z[0, 0], z[:1, 1:] - z[0, 0]
        V_d, extra = _scaled(data, D) if D > 1 else math.nan, 0.0
        if K:
            V_dk = _scaled(z[1:, 1:] - z[0, 0] - data - init, D, K)
            extra = float(np.maximum(_scaled(init, K) - V_dk, 0.0))  # keeps NaN
        return Variances(data=V_d, init=extra, test=_of_points(self.points))

    def summary(self) -> tuple[float, float, int]:
        """The statistic, its standard error (inf for too few draws), and a number of draws.

        The number makes intervals as wide as the shares of the variance ask: it is that of data
        sets where these are all that varies, and tends to that of the initializations, or of test
        points, where those vary most (Satterthwaite).
        """
        value, (D, K) = float(self.table[0, 0]), (n - 1 for n in self.table.shape)
        parts = self.variances()
        variance = parts.total
        if math.isnan(variance):
            return value, math.inf, D
        sources = zip(parts, (D - 1, K - 1, self.points.shape[-1] - 1), strict=True)
        blur = sum((V / variance) ** 2 / freedom for V, freedom in sources if V)
        freedom = 1 / blur if blur else D - 1
        return value, math.sqrt(variance), 1 + max(1, math.floor(freedom + 1e-9))

    def combined(self, scale: Value, other: "Statistic", other_scale: Value) -> "Statistic":
        """A linear combination with another statistic of the same draws.

        A table of one column, of a learner without randomness, goes with each initialization of
        the other.
        """
        table = scale * self.table + other_scale * other.table
        points = scale * self.points + other_scale * other.points
        return Statistic(table=table, points=points, key=self.key)


def digest(predictions: npt.NDArray[np.generic]) -> str:
    """A digest of predictions, which identifies the draws they are from.

    >>> digest(np.zeros((2, 3))) == digest(np.zeros((2, 3))) != digest(np.zeros((3, 2)))
    True
    """
    found = hashlib.blake2b(repr((predictions.shape, predictions.dtype.str)).encode())
    for block in predictions:
        found.update(np.ascontiguousarray(block).reshape(-1).data)
    return found.hexdigest()


def weighted_sum(weights: Mapping[str, float], statistics: Mapping[str, Statistic]) -> Statistic:
    """A weighted sum of statistics; that of none is 0."""
    same = statistics["same"]
    table, points = np.zeros_like(same.table), np.zeros_like(same.points)
    for name, weight in weights.items():
        if weight:
            table = table + weight * statistics[name].table
            points = points + weight * statistics[name].points
    return Statistic(table=table, points=points, key=same.key)


def _of_points(points: FloatArray) -> float:
    """The variance of a mean over test points, by what two halves say of each, or one."""
    T: int = points.shape[-1]
    if not len(points):
        return 0.0
    if T == 1:
        return math.nan
    centred = points - points.mean(axis=1, keepdims=True)
    return max(0.0, float(np.sum(centred[0] * centred[-1])) / (T - 1) / T)


def _scaled(differences: FloatArray, *sizes: int) -> float:
    """The jackknife's variance from what leaving out one does."""
    return math.prod((n - 1) / n for n in sizes) * float(np.sum(differences**2))
