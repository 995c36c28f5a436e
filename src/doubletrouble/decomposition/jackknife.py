"""Standard errors of statistics of data sets, and of initializations that data sets share.

Data sets, with their noise, are independent: leaving out one at a time gives

    V_d = (D-1)/D Σ_i (θ_{-i} - θ)²,

the variance of θ for the initializations at hand. Where these are shared, their draw adds to it;
V_k does the same for initializations. Both count the part that belongs to cells (i, j), so we take
it away once, by the second differences of leaving out both:

    V_dk = (D-1)(K-1)/(DK) Σ_ij (θ_{-i,-j} - θ_{-i} - θ_{-j} + θ)²,    V = V_d + V_k - V_dk.

For a mean over a two-way table this is without bias. For products of distinct draws V_dk counts
some terms up to four times: V is therefore never taken below V_d or V_k. One jackknife counts terms
of second order twice, so these are upper bounds on average (Efron and Stein).

Measured on Gaussian random effects, at 30 test points, for 10 to 40 data sets and 3 to 10 shared
initializations: intervals of nominally 95 % cover in 92 to 98 % (V_d alone: as little as 15 %). A
variance that is spread over few degrees of freedom (few initializations, and test points that
move together) has a skewed estimate; its intervals may then cover as little as 80 %.
"""

import math

import numpy as np

from doubletrouble.decomposition.products import Statistic
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Estimate


def estimate(statistic: Statistic, *, include_test: bool) -> Estimate:
    """The statistic with its standard error, inf where the draws are too few to tell.

    `n_draws` makes intervals as wide as the shares of the variance ask: it is the number of data
    sets where these are all that varies, and tends to that of the initializations, or of test
    points, where those vary most (Satterthwaite).
    """
    z, points = statistic.table, statistic.points
    D, K, T = z.shape[0] - 1, z.shape[1] - 1, points.size
    data, init = z[1:, :1] - z[0, 0], z[:1, 1:] - z[0, 0]
    V_d, V_k, V_dk = _scaled(data, D), 0.0, 0.0
    if K:
        V_k, V_dk = _scaled(init, K), _scaled(z[1:, 1:] - z[0, 0] - data - init, D, K)
    V_t = _scaled((points - points.mean()) / (T - 1), T) if include_test and T > 1 else 0.0
    variance = float(np.max([V_d, V_k, V_d + V_k - V_dk])) + V_t
    if math.isnan(variance) or D == 1 or (include_test and T == 1):
        return Estimate(value=float(z[0, 0]), standard_error=math.inf, n_draws=D)
    # each with its degrees of freedom
    sources = ((V_d, D - 1), (max(V_k - V_dk, 0.0), K - 1), (V_t, T - 1))
    blur = sum((V / variance) ** 2 / freedom for V, freedom in sources if V)
    freedom = 1 / blur if blur else D - 1
    return Estimate(
        value=float(z[0, 0]),
        standard_error=math.sqrt(variance),
        n_draws=1 + max(1, math.floor(freedom + 1e-9)),
    )


def _scaled(differences: FloatArray, *sizes: int) -> float:
    """The jackknife's variance from what leaving out one does."""
    return math.prod((n - 1) / n for n in sizes) * float(np.sum(differences**2))
