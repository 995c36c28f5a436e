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

from doubletrouble.kernels import Array

PAIRS = ((0, 0), (1, 1), (0, 1))
"""Of the two data sets of a draw."""


class Curvature(NamedTuple):
    """Covariances of the quadratic teacher's labels."""

    blocks: tuple[Array, ...]  # (N, N) for each of `PAIRS`
    to_test: tuple[Array, Array] | None  # (N, T), with test points; None: uncorrelated

    def rows(self, parts: Sequence[slice]) -> "Curvature":
        """Some of the labels of each data set."""
        blocks = tuple(
            block[parts[i], parts[k]] for (i, k), block in zip(PAIRS, self.blocks, strict=True)
        )
        if self.to_test is None:
            return Curvature(blocks, None)
        first, second = (seen[part, :] for seen, part in zip(self.to_test, parts, strict=True))
        return Curvature(blocks, (first, second))


def curvature(inputs: Sequence[Array], test: Array | None) -> Curvature:
    """The quadratic teacher on two data sets, and at test points."""
    blocks = tuple(_covariance(inputs[i], inputs[k]) for i, k in PAIRS)
    if test is None:
        return Curvature(blocks, None)
    return Curvature(blocks, (_covariance(inputs[0], test), _covariance(inputs[1], test)))


def _covariance(x: Array, z: Array) -> Array:
    xp, dim = array_namespace(x), x.shape[1]
    a, b = xp.sum(x * x, axis=1)[:, None], xp.sum(z * z, axis=1)[None, :]
    return ((x @ z.T) ** 2 - a - b + dim) / (dim**2 + dim)
