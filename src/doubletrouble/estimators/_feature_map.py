r"""The map from inputs to features, φ(x) = σ(Θ x / √D) - μ₀, evaluated in place.

μ₀ = E σ(z), z ~ N(0, 1), is subtracted where the features are centred, as in the paper's model
[dascoli2020]. Named activations overwrite their argument: for the simple ones the matrix product
is all that takes time. A user's function is evaluated on copies, and what it returns is checked.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.activations import Activation, Function, activation, activation_values, is_named

RealArray: TypeAlias = npt.NDArray[Any]
"""An array of float32 or float64."""

_IN_PLACE: dict[str, Callable[..., Any]] = {
    "relu": partial(np.maximum, 0.0), "tanh": np.tanh, "abs": np.abs, "sign": np.sign,
    "sin": np.sin, "cos": np.cos, "linear": np.positive,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FeatureMap:
    """φ for one draw of the weights, in the precision of `weights`."""

    weights: RealArray  # (D, P): Θᵀ/√D
    activation: Activation
    mean: float  # subtracted from every feature

    @property
    def n_features(self) -> int:
        """P."""
        return int(self.weights.shape[1])

    def __call__(self, x: RealArray) -> RealArray:
        """Features of x (n, D), (n, P)."""
        out = np.empty((len(x), self.n_features), self.weights.dtype)
        self.fill(x, out)
        return out

    def fill(self, x: RealArray, out: RealArray, columns: slice = slice(None)) -> None:
        """Write features of x into `out`: all P, or some columns."""
        np.matmul(x, self.weights[:, columns], out=out)
        self._bend(out)

    def _bend(self, z: RealArray) -> None:
        sigma, name = self.activation.function, self.activation.name
        assert sigma is not None  # asked by known_activation
        if not is_named(self.activation):
            z[...] = activation_values(sigma, z, name)
        elif name in _IN_PLACE:
            _IN_PLACE[name](z, out=z)
        else:
            z[...] = sigma(z)
        if self.mean:
            z -= self.mean


def feature_map(theta: RealArray, sigma: Activation, *, center: bool, dtype: Any) -> FeatureMap:
    """φ for weights Θ (P, D) as they were drawn."""
    scaled = (theta / np.sqrt(theta.shape[1])).astype(dtype)
    return FeatureMap(weights=scaled.T, activation=sigma, mean=sigma.mean if center else 0.0)


def known_activation(spec: str | Activation | Function) -> Activation:
    """The activation for a name, an `Activation` or a callable; one that can be evaluated.

    >>> known_activation("tanh").name
    'tanh'
    """
    found = _integrated(spec) if isinstance(spec, Hashable) and callable(spec) else activation(spec)
    if found.function is None:
        raise ValueError(f"activation must have a function to be evaluated, got {found!r}")
    return found


@lru_cache(maxsize=64)
def _integrated(function: Function) -> Activation:
    """The moments of a callable take a third of a second: clones share them."""
    return activation(function)


def blocks(length: int, width: int, bytes_each: int = 8) -> list[slice]:
    """Cut `length` rows of `width` numbers: 64 MB a block, or the size of a width² matrix.

    NumPy mirrors the triangle of every product Zᵀ Z: fewer rows would make that felt.

    >>> blocks(10_000, 2000)
    [slice(0, 4194, None), slice(4194, 8388, None), slice(8388, 10000, None)]
    """
    step = max(2**26 // (width * bytes_each), width)
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
