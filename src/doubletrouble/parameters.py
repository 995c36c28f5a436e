"""Declarations of parameters, and the validation that follows from them.

A `Parameter` holds symbol, meaning, domain and typical range; those of this project are in
`glossary`. It is stored in the metadata of a dataclass field (`parameter`) and read back with
`declarations`: validation, command-line flags, property tests, figures and documentation use it.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Indices: TypeAlias = IntArray | BoolArray
"""Some of the points of a block: by their positions, or by a mask."""
Array: TypeAlias = Any
"""An array of NumPy or torch, for functions of the array API standard."""
Numbers: TypeAlias = npt.NDArray[Any]
"""Real numbers, or complex ones: at complex ridges, and after complex steps."""
Labels: TypeAlias = npt.NDArray[Any]
"""Labels of rows: numbers, or classes of any type."""
Value: TypeAlias = float | FloatArray
"""A numeric field after validation: a Python float, or a read-only float64 array."""
Numeric: TypeAlias = float | npt.ArrayLike
"""An argument for a numeric field."""
Parts: TypeAlias = dict[str, Numbers | float]
"""Values by name, as the parts of an error: one number each, or arrays of one shape."""

Given = TypeVar("Given")
Kept = TypeVar("Kept")


class Validated(Generic[Given, Kept]):
    """Types of a dataclass field for type checkers: what its class accepts, and what it keeps."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, owner: None, kind: type) -> Self: ...
        @overload
        def __get__(self, owner: object, kind: type) -> Kept: ...
        def __get__(self, owner: object, kind: type) -> Self | Kept: ...
        def __set__(self, owner: object, value: Given) -> None: ...


NumericField: TypeAlias = Validated[Numeric, Value]
"""A field of a number or an array of numbers."""
OptionalField: TypeAlias = Validated[Numeric | None, Value | None]
"""The same, or None if it is not given."""

MOST_SEEDS = 2**32
"""Seeds are below it: a larger one takes more than one 32-bit word of a seed sequence, and could
coincide with the sequence of another draw."""

Choice = TypeVar("Choice")

_LONGEST = 80  # characters of a bad value shown in a message


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """The declaration of one number: its symbol, meaning, domain and typical range."""

    symbol: str
    meaning: str
    typical: tuple[float, float]
    low: float = 0.0
    high: float = math.inf
    or_inf: bool = False  # inf itself is allowed beyond `high`
    whole: bool = False  # whole numbers only (and inf where the domain has it)
    open_low: bool = False  # `low` is the smallest number above 0, printed as (0
    open_high: bool = False  # `high` is the largest number below its six digits, printed as 1)

    @property
    def domain(self) -> str:
        """The allowed values as text, for error messages and help texts."""
        low = "(0" if self.open_low else f"[{self.low:g}"
        high = f"{self.high:g}" + (")" if self.open_high else "]")
        interval = f"in {low}, {high}" + (" or inf" if self.or_inf else "")
        return f"a whole number {interval}" if self.whole else interval

    def outside(self, values: FloatArray) -> BoolArray:
        """Mask of the elements of an array outside the domain (NaN is outside)."""
        good = (values >= self.low) & (values <= self.high)
        if self.whole:
            good &= values == np.floor(values)
        return ~(good | (values == np.inf)) if self.or_inf else ~good


def parameter(
    spec: Parameter,
    default: Any = MISSING,
    *,
    vector: bool = False,
    kw_only: bool | Any = MISSING,
) -> Any:
    """Make a dataclass field with its declaration; `vector` marks the levels of a spectrum."""
    metadata = {"parameter": spec, "vector": vector}
    return field(default=default, kw_only=kw_only, metadata=metadata)


def declared(owner: Any) -> list[tuple[Field[Any], Parameter]]:
    """List the dataclass fields of a class or instance that carry a declaration."""
    return _declared(owner if isinstance(owner, type) else type(owner))


@cache
def _declared(owner: Any) -> list[tuple[Field[Any], Parameter]]:
    return [(f, f.metadata["parameter"]) for f in fields(owner) if "parameter" in f.metadata]


def declarations(owner: Any) -> dict[str, Parameter]:
    """Return the declaration of each numeric field, by name.

    >>> from doubletrouble import Problem
    >>> declarations(Problem)["ridge"].symbol
    'λ'
    """
    return {f.name: spec for f, spec in declared(owner)}


def checked(name: str, value: Numeric, spec: Parameter) -> Value:
    """Return `value` as a float or a read-only float64 array, or raise ValueError.

    >>> checked("ridge", [0, 0.5], Parameter(symbol="λ", meaning="penalty", typical=(0, 1)))
    array([0. , 0.5])
    >>> checked("ridge", -1, Parameter(symbol="λ", meaning="penalty", typical=(0, 1)))
    Traceback (most recent call last):
    ValueError: ridge must be in [0, inf], got -1
    """
    if type(value) is float or type(value) is int:  # without NumPy: fast
        try:
            number = float(value)
        except OverflowError:
            number = math.nan
        inside = spec.low <= number <= spec.high and not (
            spec.whole and math.isfinite(number) and number % 1
        )
        if not inside and not (spec.or_inf and number == math.inf):
            raise ValueError(f"{name} must be {spec.domain}, got {shown(value)}")
        return number + 0.0  # -0.0 becomes 0.0
    array = _as_array(name, value)
    if array.size == 0:
        raise ValueError(f"{name} must not be empty, got an array of shape {array.shape}")
    refuse(name, array, spec.outside(array), spec.domain)
    if array.ndim == 0:
        return float(array)
    array.flags.writeable = False
    return array


def number(name: str, value: Numeric, spec: Parameter) -> float:
    """Return one number in the domain; raise TypeError for an array.

    >>> number("ridge", 1, Parameter(symbol="λ", meaning="penalty", typical=(0.0, 1.0)))
    1.0
    """
    result = checked(name, value, spec)
    if not isinstance(result, float):
        raise TypeError(f"{name} must be one number, got {shown(value)}")
    return result


def whole_number(
    name: str, value: Any, low: int, below: float = math.inf, *, floats: bool = False
) -> int:
    """Return a whole number of at least `low` as an int; with `floats`, 1e3 is allowed.

    >>> whole_number("max_steps", 1e3, 1, floats=True)
    1000
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    whole |= floats and isinstance(value, float) and value.is_integer()
    if not whole or not low <= value < below:
        limit = "" if math.isinf(below) else f" and below {below}"
        raise ValueError(f"{name} must be a whole number of at least {low}{limit}, got {value!r}")
    return int(value)


def check_level(name: str, level: float) -> None:
    """Raise ValueError for a confidence level outside (0, 1)."""
    if isinstance(level, bool) or not isinstance(level, float | int) or not 0 < level < 1:
        raise ValueError(f"{name} must be a number in (0, 1), got {level!r}")


def by_name(kind: str, known: Mapping[str, Choice], name: str) -> Choice:
    """One of several results; KeyError with all their names for another name."""
    if name not in known:
        raise KeyError(f"{kind} must be one of {', '.join(known) or 'none'}, got {name!r}")
    return known[name]


def as_value(array: Any) -> Value:
    """A Python float for a scalar."""
    return array if np.ndim(array) else float(array)


ROUNDING = 1e-12
"""A difference of numbers that is smaller than this share of them is their rounding."""


def without_rounding(difference: FloatArray, of: Value) -> FloatArray:
    """A difference of larger numbers, 0 where it is their rounding."""
    return np.where(np.abs(difference) < ROUNDING * np.abs(of), 0.0, difference)


def check_choice(name: str, value: object, known: Iterable[str], case: str = "") -> None:
    """Raise ValueError for a value that is not one of some names.

    >>> check_choice("cost", "time", ("features", "training"))
    Traceback (most recent call last):
    ValueError: cost must be one of features, training, got 'time'
    """
    names = tuple(known)
    if isinstance(value, str) and value in names:
        return
    wanted = names[0] if len(names) == 1 else f"one of {', '.join(names)}"
    raise ValueError(f"{name} must be {wanted}{case and f' for {case}'}, got {shown(value)}")


def check_flag(name: str, value: object) -> bool:
    """Return True or False; raise TypeError for anything else.

    >>> check_flag("center", np.True_)
    True
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def refuse(name: str, value: Value, bad: npt.ArrayLike, domain: str) -> None:
    """Raise ValueError with the first bad element and its index, if there is one."""
    if not np.any(bad):
        return
    position = int(np.flatnonzero(bad)[0])
    bad_value, where = np.ravel(value)[position], _index(np.shape(value), position)
    raise ValueError(f"{name} must be {domain}, got {float(bad_value)!r}{where}")


def refuse_masked(name: str, value: object) -> None:
    """Raise TypeError if an array has masked elements: NumPy would use the numbers under them."""
    if isinstance(value, np.ma.MaskedArray) and np.any(np.ma.getmaskarray(value)):
        count = int(np.ma.getmaskarray(value).sum())
        raise TypeError(f"{name} must not have masked elements, got {count} of {value.size}")


def shown(value: object) -> str:
    """A bad value on one line of bounded length."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # very long integers are not printed
        text = f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "…"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _as_array(name: str, value: Numeric) -> FloatArray:
    """Copy numbers into a float64 array; raise TypeError for anything that is not a number."""
    wanted = f"{name} must be a number or an array of numbers"
    try:
        # as objects: NumPy would turn [True, 1.0] into floats and ["a", 1.0] into strings
        raw = np.asarray(value, dtype=object if isinstance(value, list | tuple) else None)
    except (ValueError, TypeError) as error:  # objects that are no arrays
        raise ValueError(f"{wanted}, got {shown(value)}") from error
    if raw.dtype.kind == "O":
        for position, element in enumerate(raw.flat):
            if isinstance(element, bool | np.bool_) or not isinstance(element, Real):
                raise TypeError(f"{wanted}, got {shown(element)}{_index(raw.shape, position)}")
            try:
                float(element)
            except OverflowError:
                text = shown(element)
                raise ValueError(f"{name} must be representable as a float, got {text}") from None
    elif raw.dtype.kind not in "iuf" and raw.size:
        raise TypeError(f"{wanted}, got {shown(value)}")
    refuse_masked(name, value)
    with np.errstate(over="ignore"):  # a long double above the largest float is inf
        return raw.astype(np.float64) + 0.0  # -0.0 becomes 0.0


def _index(shape: tuple[int, ...], position: int) -> str:
    """The index as text: " at index 3", " at index (1, 0)", or "" for a scalar."""
    index = tuple(int(i) for i in np.unravel_index(position, shape)) if shape else ()
    return f" at index {index[0] if len(index) == 1 else index}" if index else ""


def common_shape(values: Mapping[str, Value | tuple[int, ...]]) -> tuple[int, ...]:
    """Return the broadcast shape of named values, or of shapes.

    Raise ValueError naming the first that does not broadcast with those before it.
    """
    shape: tuple[int, ...] = ()
    seen: list[str] = []
    for name, value in values.items():
        if isinstance(value, float):
            continue
        own = value if isinstance(value, tuple) else value.shape
        if own == ():
            continue
        try:
            shape = np.broadcast_shapes(shape, own)
        except ValueError:
            raise ValueError(
                f"{name} must broadcast with {' and '.join(seen)} of shape {shape}, got shape {own}"
            ) from None
        seen.append(name)
    return shape


@dataclass(frozen=True, kw_only=True, eq=False)
class Declared:
    """Base of dataclasses with declared fields, which are validated; instances compare by value."""

    shape: ClassVar[tuple[int, ...]]  # of each instance: the broadcast shape of numeric fields

    def __post_init__(self) -> None:
        arrays: dict[str, Value] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if "parameter" not in f.metadata or (value is None and f.default is None):
                continue
            value = checked(f.name, value, f.metadata["parameter"])
            object.__setattr__(self, f.name, value)
            if not isinstance(value, float) and not f.metadata["vector"]:
                arrays[f.name] = value
        object.__setattr__(self, "shape", common_shape(arrays) if arrays else ())

    def _key(self) -> tuple[Any, ...]:
        values = (getattr(self, f.name) for f in fields(self))
        return tuple((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))
