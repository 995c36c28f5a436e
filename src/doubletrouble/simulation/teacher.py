r"""A nonlinear teacher for simulations: a random quadratic form of the inputs.

g(x) = Σ_ij B_ij (x_i x_j - δ_ij)/√(D² + D) with independent Gaussian B has unit power, no linear
part, and the covariance

    E_B g(x) g(x') = ((x·x')² - |x|² - |x'|² + D)/(D² + D)

over its draws. Its average is therefore a trace, like that of the linear teacher. With N of order D
it cannot be learned and acts as noise [mei2019]; here this is simulated, not assumed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from array_api_compat import array_namespace

from doubletrouble.simulation.place import Array


class Curvature(NamedTuple):
    """The quadratic teacher as the labels of one data set have it."""

    factor: Array  # (N, 2N): factors of both data sets give all label covariances
    to_test: Array | None  # (N, T): covariance of labels and test points; None: uncorrelated

    def rows(self, part: slice) -> "Curvature":
        """Some of the labels."""
        to_test = None if self.to_test is None else self.to_test[part, :]
        return Curvature(self.factor[part, :], to_test)


def curvatures(data: Sequence[Array], test: Array | None) -> list[Curvature]:
    """The quadratic teacher on both data sets."""
    xp = array_namespace(data[0])
    both = xp.concat(list(data), axis=0)
    covariance = _covariance(both, both)
    count, n = both.shape[0], data[0].shape[0]
    eye = xp.eye(count, dtype=both.dtype, device=both.device)
    # 2N > D(D + 1)/2 labels are dependent: only just not negative after rounding
    lift = 100 * count * xp.finfo(both.dtype).eps
    factor = xp.linalg.cholesky(covariance + lift * eye)
    found = []
    for i, x in enumerate(data):
        to_test = None if test is None else _covariance(x, test)
        found.append(Curvature(factor[n * i : n * (i + 1), :], to_test))
    return found


def _covariance(x: Array, z: Array) -> Array:
    xp, dim = array_namespace(x), x.shape[1]
    a, b = xp.sum(x * x, axis=1)[:, None], xp.sum(z * z, axis=1)[None, :]
    return ((x @ z.T) ** 2 - a - b + dim) / (dim**2 + dim)
