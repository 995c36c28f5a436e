"""Numbers for people: as many digits as can be read at a glance, aligned down a column."""

import math
from collections.abc import Sequence

_DIGITS = 4  # significant ones, of the largest number of a column
_FEWEST = 3  # and of the smallest
_DECADES = 2  # a column that spans more is not aligned
_LARGEST, _SMALLEST = 1e5, 1e-4


def brief(value: object) -> str:
    """A parameter in a title.

    >>> brief(2.0), brief(1e-05), brief(True), brief("relu")
    ('2', '1e-05', 'yes', 'relu')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def aligned(values: Sequence[float]) -> list[str]:
    """A column with the same number of decimals, as far as its range allows; a true 0 is "0".

    >>> aligned([0.1, 0.31623, 1.0]), aligned([0.5, 1.0, 0.0])
    (['0.100', '0.316', '1.000'], ['0.5', '1.0', '0'])
    >>> aligned([1, 10, math.inf]), aligned([1e-5, 0.1])
    (['1', '10', 'inf'], ['1e-05', '0.1'])
    """
    form = _form([abs(value) for value in values if value and math.isfinite(value)])
    return [f"{value:{form}}" if value else "0" for value in values]


def _form(sizes: Sequence[float]) -> str:
    if not sizes:
        return ".0f"
    low, high = decade(min(sizes)), decade(max(sizes))
    most = max(_DIGITS - 1 - high, _FEWEST - 1 - low, 0)
    # fewer where they are exact: 0.5, not 0.500
    exact = (p for p in range(most) if all(round(size, p) == size for size in sizes))
    places = next(exact, most)
    if max(sizes) >= _LARGEST or min(sizes) < _SMALLEST or (places and high - low > _DECADES):
        return f".{_DIGITS}g"
    return f".{places}f"


def measured(value: float, standard_error: float, *others: float) -> list[str]:
    """A value, its standard error and more of the same kind, to two digits of the error.

    >>> measured(1.23456, 0.0789, 1.2)
    ['1.235', '0.079', '1.200']
    >>> measured(0.5, 0.0, 0.5)
    ['0.5', '0', '0.5']
    """
    numbers = (value, standard_error, *others)
    known = 0 < standard_error < math.inf
    places = 1 - decade(standard_error) if known else 0
    if not known or not 0 <= places <= 8 or abs(value) >= _LARGEST:
        return [f"{number:.{_DIGITS}g}" for number in numbers]
    return [f"{number:.{places}f}" for number in numbers]


def decade(size: float) -> int:
    """The power of ten of the first digit."""
    return math.floor(math.log10(size))
