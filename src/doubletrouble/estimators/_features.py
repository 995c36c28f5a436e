r"""Random features φ(x) = σ(Θ x / √D) - μ₀: the weights Θ, the maps, and the transformer.

Θ (P × D) is drawn from N(0, 1). μ₀ = E σ(z), z ~ N(0, 1), is subtracted where the features are
centred, as in the paper's model [dascoli2020]. The weights of member k of an ensemble do not depend
on the number of members, nor those of feature h on the number of features.
"""

from __future__ import annotations  # help() shows the names of types, not their definitions

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from doubletrouble.activations import Activation, Function, activation, activation_values, is_named
from doubletrouble.ensembles import FeatureBank, Scheme
from doubletrouble.kernels import kernel
from doubletrouble.parameters import FloatArray, whole_number

RealArray: TypeAlias = npt.NDArray[Any]
"""An array of float32 or float64."""

Seed: TypeAlias = npt.NDArray[np.int64]
"""Four numbers, from which all draws of a fit follow."""

_DRAWS_KEY = (0, 0)  # spawn key of draws of rows and bank features; those of members have length 1
_LARGEST = {np.dtype(np.float64): 1e100, np.dtype(np.float32): 1e30}  # of an input: Θ x is finite
_BLOCK_BYTES = 2**26
_BLOCK_ENTRIES = 2**21  # of a kernel matrix: 16 MB, and as much for each intermediate result
_SMALLEST, _LARGEST_OF_KERNEL = 1e-70, 1e70  # of inputs: products of their squares are finite
_IN_PLACE: dict[str, Callable[..., RealArray]] = {
    "relu": partial(np.maximum, 0.0),
    "tanh": np.tanh,
    "abs": np.abs,
    "sign": np.sign,
    "sin": np.sin,
    "cos": np.cos,
    "linear": np.positive,
}


class InputMap(Protocol):
    """A map of inputs (n, D) to the numbers (n, P or N) that are multiplied by coefficients."""

    @property
    def n_features(self) -> float:
        """P."""

    @property
    def dim(self) -> int:
        """D."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of inputs and predictions."""

    def __call__(self, x: RealArray) -> RealArray:
        """The map of x (n, D)."""

    def blocks(self, length: int) -> list[slice]:
        """Cut `length` rows, for a limited memory."""


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

    @property
    def dim(self) -> int:
        """D."""
        return int(self.weights.shape[0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of inputs, features and predictions."""
        return self.weights.dtype

    def blocks(self, length: int) -> list[slice]:
        """Cut `length` rows."""
        return blocks(length, self.n_features)

    def __call__(self, x: RealArray) -> RealArray:
        """Features of x (n, D), (n, P)."""
        out = np.empty((len(x), self.n_features), self.weights.dtype)
        for rows in self.blocks(len(x)):
            self.fill(x[rows], out[rows])
        return out

    def fill(self, x: RealArray, out: RealArray, columns: slice = slice(None)) -> None:
        """Write features of x into `out`: all P, or some columns."""
        np.matmul(x, self.weights[:, columns], out=out)
        sigma, name = self.activation.function, self.activation.name
        assert sigma is not None  # checked by known_activation
        if not is_named(self.activation):
            out[...] = activation_values(sigma, out, name)
        elif name in _IN_PLACE:
            _IN_PLACE[name](out, out=out)
        else:
            out[...] = sigma(out)
        if self.mean:
            out -= self.mean


def feature_map(
    theta: RealArray, sigma: Activation, *, center: bool, dtype: npt.DTypeLike
) -> FeatureMap:
    """φ for weights Θ (P, D)."""
    scaled = (theta / np.sqrt(theta.shape[1])).astype(dtype)
    return FeatureMap(weights=scaled.T, activation=sigma, mean=sigma.mean if center else 0.0)


@dataclass(frozen=True, kw_only=True)
class KernelMap:
    """x ↦ k(x, x_i) for the rows x_i of a fit, in float64."""

    inputs: RealArray  # (N, D)
    activation: Activation
    center: bool

    @property
    def n_features(self) -> float:
        """P → ∞."""
        return math.inf

    @property
    def dim(self) -> int:
        """D."""
        return int(self.inputs.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the inputs."""
        return self.inputs.dtype

    def blocks(self, length: int) -> list[slice]:
        """Cut `length` rows into blocks of 16 MB of the kernel matrix."""
        step = max(_BLOCK_ENTRIES // len(self.inputs), 1)
        return [slice(start, min(start + step, length)) for start in range(0, length, step)]

    def __call__(self, x: RealArray) -> FloatArray:
        """k(x, x_i), (n, N)."""
        return kernel(self.activation, x, self.inputs, center=self.center)

    def gram(self) -> FloatArray:
        """Γ, (N, N): block by block of its lower triangle."""
        x, sigma, center = self.inputs, self.activation, self.center
        check_kernel_range(x, "n_features = inf")
        matrix = np.empty((len(x), len(x)))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in self.blocks(len(x)):
                matrix[rows, rows] = kernel(sigma, x[rows], center=center)
                if rows.start:
                    below = kernel(sigma, x[rows], x[: rows.start], center=center)
                    matrix[rows, : rows.start] = below
                    matrix[: rows.start, rows] = below.T
        return matrix


def check_kernel_range(x: RealArray, setting: str) -> None:
    """Raise ValueError where the kernel of inputs could over- or underflow, for a parameter."""
    size = float(np.abs(x).max())
    if size and not _SMALLEST < size < _LARGEST_OF_KERNEL:
        interval = f"[-{_LARGEST_OF_KERNEL:g}, {_LARGEST_OF_KERNEL:g}]"
        raise ValueError(
            f"X must be in {interval} and not below {_SMALLEST:g} in magnitude for {setting}, got "
            f"{size:g}: scale the inputs"
        )


def known_activation(spec: str | Activation | Function) -> Activation:
    """The activation for a name, an `Activation` or a callable; its function must be given.

    >>> known_activation("tanh").name
    'tanh'
    """
    hashable = isinstance(spec, Hashable) and callable(spec)
    known = _from_callable(spec) if hashable else activation(spec)
    if known.function is None:
        raise ValueError(f"activation must have a function, got {known!r}")
    return known


@lru_cache(maxsize=64)
def _from_callable(function: Function) -> Activation:
    """The moments of a callable take a third of a second to compute: cached for clones."""
    return activation(function)


def blocks(length: int, width: int, bytes_each: int = 8) -> list[slice]:
    """Cut `length` rows of `width` numbers: 64 MB a block, or the size of a width² matrix.

    NumPy mirrors the triangle of every product Zᵀ Z, which dominates for fewer rows.

    >>> blocks(10_000, 2000)
    [slice(0, 4194, None), slice(4194, 8388, None), slice(8388, 10000, None)]
    """
    step = max(_BLOCK_BYTES // (width * bytes_each), width)
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def seed_of(random_state: int | np.random.RandomState | None) -> Seed:
    """The seed of one fit, for any random state of scikit-learn."""
    return np.asarray(check_random_state(random_state).randint(2**31 - 1, size=4), dtype=np.int64)


def draws_generator(seed: Seed) -> np.random.Generator:
    """The generator for rows of members, or features of a bank."""
    return np.random.default_rng(np.random.SeedSequence(seed.tolist(), spawn_key=_DRAWS_KEY))


def random_weights(seed: Seed, *, n_members: int, n_features: int, dim: int) -> FloatArray:
    """Independent Θ of all members, (K, P, D).

    >>> few = random_weights(seed_of(0), n_members=1, n_features=2, dim=3)
    >>> many = random_weights(seed_of(0), n_members=4, n_features=9, dim=3)
    >>> bool(np.all(few[0] == many[0, :2]))
    True
    """
    theta = np.empty((n_members, n_features, dim))
    for rng, member in zip(np.random.default_rng(seed).spawn(n_members), theta, strict=True):
        rng.standard_normal(out=member)
    return theta


def ensemble_weights(
    seed: Seed, ensemble: Scheme, *, n_members: int, n_features: int, dim: int
) -> FloatArray:
    """Θ of all members of an ensemble, (K, P, D); of a `FeatureBank`, P rows of a common matrix.

    >>> bank = FeatureBank(2, n_bank=3)
    >>> theta = ensemble_weights(seed_of(0), bank, n_members=2, n_features=3, dim=1)
    >>> bool(np.all(np.sort(theta[0], axis=0) == np.sort(theta[1], axis=0)))
    True
    """
    if not isinstance(ensemble, FeatureBank):
        return random_weights(seed, n_members=n_members, n_features=n_features, dim=dim)
    if ensemble.bank_per_dim is None:
        name, size = "n_bank", whole_number("n_bank", ensemble.n_bank, 1, floats=True)
    else:
        rounded = float(np.round(np.multiply(ensemble.bank_per_dim, dim)))
        name, size = "bank_per_dim", whole_number("features of the bank", rounded, 1, floats=True)
    if size < n_features:
        raise ValueError(
            f"{name} must give a bank of at least n_features = {n_features}, got {size}"
        )
    (bank,) = random_weights(seed, n_members=1, n_features=size, dim=dim)
    rng = draws_generator(seed)
    return np.stack([bank[rng.permutation(size)[:n_features]] for _ in range(n_members)])


def validated(estimator: BaseEstimator, X: Any, *y: Any, **options: Any) -> Any:
    """`validate_data` of scikit-learn, for float32 or float64 inputs with finite features."""
    data = validate_data(estimator, X, *y, dtype=(np.float64, np.float32), **options)
    check_range(data[0] if y else data)
    return data


def check_range(X: RealArray) -> None:
    """Raise ValueError where Θ X could overflow."""
    largest, size = _LARGEST[X.dtype], max(X.max(), -X.min(), key=float)
    if size > largest:
        raise ValueError(f"X must be in [-{largest:g}, {largest:g}] ({X.dtype}), got {size:g}")


def check_flag(name: str, value: object) -> bool:
    """The value of a parameter that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random features φ(x) = σ(Θ x / √D) - μ₀ of inputs of dimension D, with Θ ~ N(0, 1).

    Parameters
    ----------
    n_features : int, default: 100
        P, the number of features, at least 1.
    activation : str or Activation or callable, default: "relu"
        σ: a name, an `Activation` or any function on arrays.
    center : bool, default: True
        Whether μ₀ = E σ(z), z ~ N(0, 1), is subtracted.
    random_state : int or RandomState instance or None, default: None
        As in scikit-learn; for equal integers the features are those of the first member of
        `RandomFeaturesRidge`.

    Attributes
    ----------
    weights_ : ndarray of shape (P, D)
        Θ.
    activation_ : Activation
        σ.
    n_features_in_ : int
        D.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> features = dt.RandomFeatures(n_features=4, activation="tanh", random_state=0)
    >>> features.fit_transform(np.ones((2, 3))).shape
    (2, 4)
    >>> features.get_feature_names_out()[:2]
    array(['randomfeatures0', 'randomfeatures1'], dtype=object)
    """

    weights_: FloatArray
    activation_: Activation
    _center: bool

    def __init__(
        self,
        n_features: int = 100,
        *,
        activation: str | Activation | Function = "relu",
        center: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features = n_features
        self.activation = activation
        self.center = center
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: object = None) -> Self:
        """Draw the weights; only the dimension of the inputs is used.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs, at most 1e100 in magnitude (1e30 in float32).
        y : object or None, default: None
            Not used; for pipelines.

        Returns
        -------
        RandomFeatures
            The fitted transformer.

        Raises
        ------
        ValueError
            If `X` or a parameter is invalid.
        TypeError
            If `activation` is not of the type above.
        """
        inputs: RealArray = validated(self, X)
        center = check_flag("center", self.center)
        count = whole_number("n_features", self.n_features, 1)
        self.activation_, self._center = known_activation(self.activation), center
        seed = seed_of(self.random_state)
        dim = inputs.shape[1]
        (self.weights_,) = random_weights(seed, n_members=1, n_features=count, dim=dim)
        return self

    def transform(self, X: npt.ArrayLike) -> RealArray:
        """Features of the inputs, in their precision.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (n, P)
            Features, float32 for inputs of float32 and float64 for others.

        Raises
        ------
        ValueError
            If `X` is invalid; `NotFittedError` of scikit-learn, a subclass, before `fit`.
        """
        check_is_fitted(self, "weights_")
        inputs: RealArray = validated(self, X, reset=False)
        how: dict[str, Any] = {"center": self._center, "dtype": inputs.dtype}
        return feature_map(self.weights_, self.activation_, **how)(inputs)

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
