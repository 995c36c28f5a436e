"""What a field of the page is: a number or a choice, read from text and written as text.

Text that is no valid value gives the nearest one that is, and a sentence that says so.
"""

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TypeAlias

import numpy as np

from doubletrouble.parameters import Parameter

SLIDER, BOX, CHOICE = "slider-", "box-", "choice-"
"""How the identifiers of controls begin; a field's name follows."""

_STOPS = 120  # of a slider, between the ends of its range
_LONGEST = 40  # characters of what was typed that are shown again

Read: TypeAlias = tuple[float | str, str]
"""A valid value, and a sentence if it is not what was asked for."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Fields that stand together on the page, and belong to the setting or to the look of it."""

    title: str
    of_setting: bool = False


@dataclass(frozen=True, kw_only=True)
class NumberField:
    """A number, typed or chosen with a slider."""

    name: str
    group: Group
    spec: Parameter
    default: float
    axis: str = ""  # what it is called as an axis of the plot, if it can be one
    zero: bool = False  # whether the slider has a stop at 0 before its range
    infinity: bool = False  # and one at ∞ after it
    linear: bool = False  # whether the stops are evenly spaced, not their logarithms
    slider: bool = True  # whether there is one
    blank: bool = False  # whether no text at all is an answer, too: 0
    schemes: tuple[str, ...] = ()  # those it means something for; none: it does for all

    @property
    def label(self) -> str:
        """The symbol, as controls and axes have it."""
        return self.spec.symbol

    @property
    def meaning(self) -> str:
        """What it means, in words."""
        return plain(self.spec.meaning)

    @cached_property
    def stops(self) -> tuple[float, ...]:
        """The values of the slider, in order."""
        low, high = self.spec.typical
        space = np.linspace if self.linear else np.geomspace
        found = [float(f"{v:.3g}") for v in space(low, high, _STOPS + 1)]
        if self.spec.whole:
            found = [float(round(v)) for v in found]
        ends = [0.0] * self.zero, [math.inf] * self.infinity
        return tuple(sorted({*ends[0], *found, *ends[1]}))

    def __contains__(self, value: float) -> bool:
        return not self.spec.outside(np.asarray(value)) or (self.blank and value == 0)

    def nearest_stop(self, value: float) -> int:
        """The position of the slider that shows a value best."""
        if not self.linear:
            near = [abs(_log(stop) - _log(value)) for stop in self.stops]
        else:
            near = [abs(stop - value) for stop in self.stops]
        return int(np.argmin(near))

    def read(self, text: str, before: float | str | None = None) -> Read:
        """The value that a text stands for, or the nearest there is: for no number, that before."""
        otherwise = self.default if before is None else float(before)
        if self.blank and not text.strip():
            return 0.0, ""
        try:
            wanted = _number(text)
        except (ValueError, ZeroDivisionError):
            return otherwise, self._told(text, otherwise)
        if wanted in self and not _is_rounded(text, wanted):
            return wanted + 0.0, ""
        found = otherwise if math.isnan(wanted) else self.nearest(wanted)
        return found, self._told(text, found)

    def nearest(self, value: float) -> float:
        """The nearest value that is allowed."""
        if value in self:
            return value
        found = min(max(value, self.spec.low), self.spec.high)
        return float(round(found)) if self.spec.whole and math.isfinite(found) else found

    def _told(self, text: str, found: float) -> str:
        domain = self.spec.domain if self.spec.whole else f"a number {self.spec.domain}"
        return _told(self.label, domain, text, self.write(found))

    def write(self, value: float | str) -> str:
        """A value as text that `read` takes back to the last bit, as short as can be."""
        if value == math.inf:
            return "inf"
        if self.blank and not value:
            return ""
        return repr(float(value)).removesuffix(".0")

    def shown(self, value: float | str) -> str:
        """A value for readers."""
        return "∞" if value == math.inf else f"{float(value):.4g}"


@dataclass(frozen=True, kw_only=True)
class ChoiceField:
    """One of a few names."""

    name: str
    group: Group
    label: str
    meaning: str
    choices: Mapping[str, str]  # by name in the address: what readers see
    default: str
    opens: bool = False  # whether it is a list to open, not choices beside each other

    def read(self, text: str, before: float | str | None = None) -> Read:
        """The name that a text stands for, or the nearest there is: else that before."""
        if text in self.choices:
            return text, ""
        close = get_close_matches(text.strip().lower()[:_LONGEST], self.choices, n=1)
        found = close[0] if close else self.default if before is None else str(before)
        wanted = f"one of {', '.join(self.choices)}"
        return found, _told(self.label, wanted, text, found)

    def write(self, value: float | str) -> str:
        """The name itself."""
        return str(value)

    def shown(self, value: float | str) -> str:
        """What readers see of a name."""
        return self.choices[str(value)]


Field: TypeAlias = NumberField | ChoiceField


def _number(text: str) -> float:
    """A number, or one by another: 300/120 is N/D of so many samples and dimensions."""
    above, slash, below = text.strip().replace("∞", "inf").replace("−", "-").partition("/")
    found = float(above) / float(below) if slash else float(above)
    if math.isinf(found) and "inf" not in above.lower():  # no float holds it
        return math.copysign(sys.float_info.max, found)
    return found


def _is_rounded(text: str, value: float) -> bool:
    """Whether a text is read as a number that it is not: one that no float holds."""
    if abs(value) == sys.float_info.max:
        return True
    mantissa = text.lower().replace("−", "-").partition("/")[0].partition("e")[0]
    return value == 0 and any(digit in mantissa for digit in "123456789")


def plain(text: str) -> str:
    """The words of a declaration without the marks of code."""
    return text.replace("`math.inf`", "∞").replace("`", "")


def _told(label: str, wanted: str, text: str, found: str) -> str:
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{label} must be {wanted}, got {shown!r}; {found or 'nothing'} is shown."


def _log(value: float) -> float:
    """For distances: 0 and ∞ lie beyond all that a slider has."""
    if value == 0:
        return -1e3
    return math.log(value) if math.isfinite(value) else 1e3
