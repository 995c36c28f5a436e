"""A data set: training and test inputs with labels ±1, validated once and read-only."""

from __future__ import annotations  # help() then shows FloatArray, not its definition

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from hashlib import sha256
from types import MappingProxyType
from typing import Any

import numpy as np

from doubletrouble.parameters import FloatArray, Parameter, checked, refuse, whole_number

# networks are trained in float32, whose largest number is 3e38, and inputs are squared
_INPUT = Parameter(
    symbol="x", meaning="a coordinate of a sample", typical=(-1.0, 1.0), low=-1e15, high=1e15
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Data:
    """Two classes of samples, from `load_data` or from user arrays.

    Arrays are copied and read-only; invalid ones raise ValueError or TypeError.

    Parameters
    ----------
    x_train : array_like of shape (N, D)
        Training inputs, a row for each sample, with numbers up to 1e15 in magnitude.
    y_train : array_like of shape (N,)
        Training labels, -1 or +1; both must occur.
    x_test : array_like of shape (n_test, D)
        Test inputs.
    y_test : array_like of shape (n_test,)
        Test labels, -1 or +1.
    name : str, default: "own"
        The name of the data set, as printed and stored.
    pool_x : array_like of shape (n, D) or None, default: None
        Inputs of all available training samples, of which `x_train` are the first; `blocks` makes
        several data sets from them.
    pool_y : array_like of shape (n,) or None, default: None
        Labels of `pool_x`, of which `y_train` are the first.
    settings : mapping, default: {}
        How the data were made; nothing is computed from it.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> data = dt.Data(x_train=[[0, 1], [2, 3]], y_train=[-1, 1], x_test=[[1, 1]], y_test=[1])
    >>> data
    Data('own', N=2, D=2, n_test=1)
    >>> dt.Data(x_train=[[0, 1], [2, 3]], y_train=[1, 1], x_test=[[1, 1]], y_test=[1])
    Traceback (most recent call last):
    ValueError: y_train must hold both classes, got only 1.0
    """

    x_train: FloatArray
    y_train: FloatArray
    x_test: FloatArray
    y_test: FloatArray
    name: str = "own"
    pool_x: FloatArray | None = None
    pool_y: FloatArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {self.name!r}")
        if not isinstance(self.settings, Mapping):
            raise TypeError(f"settings must be a mapping, got {self.settings!r}")
        if (self.pool_x is None) != (self.pool_y is None):
            raise ValueError("pool_x and pool_y must be given together, got only one of them")
        self._set(settings=MappingProxyType(dict(self.settings)))
        self._set(x_train=_inputs("x_train", self.x_train))
        self._set(y_train=_labels("y_train", self.y_train, "x_train", self.x_train))
        self._set(x_test=_inputs("x_test", self.x_test))
        self._set(y_test=_labels("y_test", self.y_test, "x_test", self.x_test))
        if self.x_test.shape[1] != self.x_train.shape[1]:
            raise ValueError(
                f"x_test must have as many columns as x_train, {self.x_train.shape[1]}, "
                f"got {self.x_test.shape[1]}"
            )
        if np.all(self.y_train == self.y_train[0]):
            raise ValueError(f"y_train must hold both classes, got only {float(self.y_train[0])!r}")
        if self.pool_x is not None:
            self._share_pool()

    def _share_pool(self) -> None:
        """Make the training set a view of the pool."""
        x = _inputs("pool_x", self.pool_x)
        y = _labels("pool_y", self.pool_y, "pool_x", x)
        n = len(self.y_train)
        if not (np.array_equal(x[:n], self.x_train) and np.array_equal(y[:n], self.y_train)):
            raise ValueError("x_train and y_train must be the first rows of pool_x and pool_y")
        self._set(pool_x=x, pool_y=y, x_train=x[:n], y_train=y[:n])

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """The name and the sizes."""
        (n, d), n_test = self.x_train.shape, len(self.y_test)
        return f"Data({self.name!r}, N={n}, D={d}, n_test={n_test})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Construct again: unpickled arrays would be writable."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return partial(type(self), **{**values, "settings": dict(self.settings)}), ()

    def blocks(self, n_data: int) -> list[Data]:
        """Return disjoint training sets of N samples of the pool, with the same test set.

        Parameters
        ----------
        n_data : int
            The number of sets, at least 1.

        Returns
        -------
        list of Data
            The sets, in the order of the pool; `settings["block"]` is their index.

        Raises
        ------
        ValueError
            If `n_data` is not a whole number of at least 1, or the pool has fewer than `n_data`
            times N samples.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> x, y = [[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]
        >>> data = dt.Data(x_train=x[:2], y_train=y[:2], x_test=x, y_test=y, pool_x=x, pool_y=y)
        >>> [block.x_train.ravel().tolist() for block in data.blocks(2)]
        [[0.0, 1.0], [2.0, 3.0]]
        """
        whole_number("n_data", n_data, 1)
        pool_x, pool_y, n = self._pool[0], self._pool[1], len(self.y_train)
        most = len(pool_y) // n
        if n_data > most:
            raise ValueError(
                f"n_data must be at most {most}, since {len(pool_y)} training samples make no more "
                f"disjoint sets of {n}, got {n_data}; load_data(n_samples={len(pool_y) // n_data}) "
                "would fit"
            )
        parts = (slice(block * n, (block + 1) * n) for block in range(n_data))
        return [
            Data(
                x_train=pool_x[part],
                y_train=pool_y[part],
                x_test=self.x_test,
                y_test=self.y_test,
                name=self.name,
                settings={**self.settings, "block": block},
            )
            for block, part in enumerate(parts)
        ]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all numbers, and of nothing else."""
        digest = sha256(f"data 1, N = {len(self.y_train)}".encode())
        for array in (*self._pool, self.x_test, self.y_test):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").data)
        return digest.hexdigest()

    @property
    def _pool(self) -> tuple[FloatArray, FloatArray]:
        if self.pool_x is None or self.pool_y is None:
            return self.x_train, self.y_train
        return self.pool_x, self.pool_y


def as_data(value: object) -> Data:
    """Return a data set, or raise TypeError."""
    if not isinstance(value, Data):
        raise TypeError(f"data must be a Data, as from load_data, got {type(value).__name__}")
    return value


def _inputs(name: str, value: Any) -> FloatArray:
    array = _numbers(name, value)
    if array.ndim != 2 or not array.size:
        raise ValueError(
            f"{name} must have a row for each sample and a column for each dimension, "
            f"got shape {array.shape}"
        )
    # two numbers suffice (NaN propagates); a mask would take memory
    if not max(array.max(), -array.min()) <= _INPUT.high:
        refuse(name, array, ~np.isfinite(array), "finite")
        refuse(name, array, _INPUT.outside(array), _INPUT.domain)
    return array


def _labels(name: str, value: Any, inputs: str, x: FloatArray) -> FloatArray:
    array = _numbers(name, value)
    if array.shape != x.shape[:1]:
        raise ValueError(
            f"{name} must have one label for each of the {len(x)} rows of {inputs}, "
            f"got shape {array.shape}"
        )
    refuse(name, array, np.abs(array) != 1, "-1 or 1")
    return array


def _numbers(name: str, value: Any) -> FloatArray:
    """Numbers as a read-only, C-contiguous float64 array; immutable arrays are not copied."""
    if _is_immutable(value):
        return np.asarray(value)
    plain = type(value) is np.ndarray and value.dtype.kind in "iuf"
    numbers = value if plain else np.asarray(checked(name, value, _INPUT))
    array = np.array(numbers, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def _is_immutable(value: object) -> bool:
    """Whether an array is immutable: neither it nor its base is writable."""
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.flags.writeable:
        return False
    return value.flags.c_contiguous and (value.base is None or _is_immutable(value.base))
