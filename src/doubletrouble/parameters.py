"""Every parameter is declared once: symbol, meaning, domain, typical range.

A declaration lives in the metadata of a dataclass field (`parameter`) and is read back with
`declarations`. Validation, command-line flags, sliders, property tests and the tables in the
documentation all come from it, so a parameter is never described twice.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
Value: TypeAlias = float | FloatArray
"""What a numeric field holds after validation: a Python float, or a read-only float64 array."""
Numeric: TypeAlias = float | npt.ArrayLike
"""What a user may pass for a numeric field."""

_LONGEST = 80  # characters of a bad value shown in a message


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What may be said of one number: its symbol, meaning, domain and typical range."""

    symbol: str
    meaning: str
    typical: tuple[float, float]
    low: float = 0.0
    high: float = math.inf
    open_low: bool = False  # the lower end itself is excluded
    open_high: bool = False
    whole: bool = False  # whole numbers only (inf allowed where the domain has it)

    @property
    def domain(self) -> str:
        """The allowed values in words, as error messages and help texts print them."""
        left, right = "(" if self.open_low else "[", ")" if self.open_high else "]"
        interval = f"in {left}{self.low:g}, {self.high:g}{right}"
        return f"a whole number {interval}" if self.whole else interval

    def __contains__(self, value: float) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        below = value < self.high if self.open_high else value <= self.high
        return above and below and not (self.whole and value != math.inf and value % 1)

    def outside(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Which elements of an array are not allowed (NaN never is)."""
        above = values > self.low if self.open_low else values >= self.low
        below = values < self.high if self.open_high else values <= self.high
        good = above & below
        if self.whole:
            good &= (values == np.floor(values)) | np.isinf(values)
        return ~good


_SIZE: dict[str, Any] = {"low": 1e-50, "high": 1e50, "typical": (1.0, 1e4)}
COUNT = Parameter(symbol="N, D", meaning="a count", **_SIZE)
COUNT_OR_INF = Parameter(symbol="P", meaning="a count, or inf", low=1e-50, typical=(1.0, 1e4))
N_MEMBERS = Parameter(symbol="K", meaning="models averaged", typical=(1, 100), low=1.0, whole=True)


def parameter(default: Any = MISSING, *, vector: bool = False, **declaration: Any) -> Any:
    """Make a dataclass field with its declaration; `vector` marks part of a spectrum."""
    metadata = {"parameter": Parameter(**declaration), "vector": vector}
    return field(default=default, metadata=metadata)


def declared(owner: Any) -> list[tuple[Field[Any], Parameter]]:
    """List the dataclass fields of a class or instance that carry a declaration."""
    return [(f, f.metadata["parameter"]) for f in fields(owner) if "parameter" in f.metadata]


def declarations(owner: Any) -> dict[str, Parameter]:
    """Return the declaration of each numeric field, by name.

    >>> from doubletrouble import Problem
    >>> declarations(Problem)["ridge"].symbol
    'λ'
    """
    return {f.name: spec for f, spec in declared(owner)}


def checked(name: str, value: Numeric, spec: Parameter) -> Value:
    """Return `value` as a float or a read-only float64 array, or raise a sentence.

    >>> checked("ridge", [0, 0.5], Parameter(symbol="λ", meaning="penalty", typical=(0, 1)))
    array([0. , 0.5])
    >>> checked("ridge", -1, Parameter(symbol="λ", meaning="penalty", typical=(0, 1)))
    Traceback (most recent call last):
    ValueError: ridge must be in [0, inf], got -1
    """
    if isinstance(value, float | int) and not isinstance(value, bool):  # without NumPy: fast
        number = _as_float(name, value)
        if number not in spec:
            raise ValueError(f"{name} must be {spec.domain}, got {value!r}")
        return number
    array = _as_array(name, value)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got an array of shape {array.shape}")
    refuse(name, array, spec.outside(array), spec.domain)
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def refuse(name: str, value: Value, bad: npt.ArrayLike, domain: str) -> None:
    """Raise a sentence about the first bad element, with its index, if there is one."""
    if not np.any(bad):
        return
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    where = f" at index {index[0] if len(index) == 1 else index}" if index else ""
    raise ValueError(f"{name} must be {domain}, got {float(np.asarray(value)[index])!r}{where}")


def _as_float(name: str, value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be representable as a float, got {value!r}") from None


def _as_array(name: str, value: Numeric) -> FloatArray:
    """Copy numbers into a float64 array; refuse everything that is not a number."""
    shown = " ".join(repr(value).split())
    shown = shown if len(shown) <= _LONGEST else shown[:_LONGEST] + "…"
    message = f"{name} must be a number or an array of numbers, got {shown}"
    try:
        raw = np.asarray(value)
        if isinstance(value, list | tuple):  # NumPy would turn [True, 1.0] into floats
            raw = np.asarray(value, dtype=object) if raw.dtype.kind in "biuf" else raw
    except (ValueError, TypeError) as error:  # ragged lists, exotic objects
        raise ValueError(message) from error
    if raw.dtype.kind == "O" and raw.size:
        real = all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in raw.flat)
    else:
        real = raw.dtype.kind in "iuf" or raw.size == 0
    if not real or np.any(getattr(raw, "mask", False)):
        raise TypeError(message)
    try:
        return np.array(raw, dtype=np.float64)
    except (OverflowError, ValueError, TypeError) as error:
        raise ValueError(message) from error


def common_shape(values: Mapping[str, Value]) -> tuple[int, ...]:
    """Return the broadcast shape of named values, or say which two do not fit together."""
    shape: tuple[int, ...] = ()
    seen: list[str] = []
    for name, value in values.items():
        if isinstance(value, float):
            continue
        try:
            shape = np.broadcast_shapes(shape, value.shape)
        except ValueError:
            others = " and ".join(seen)
            raise ValueError(
                f"{name} must broadcast with {others} of shape {shape}, got shape {value.shape}"
            ) from None
        seen.append(name)
    return shape
