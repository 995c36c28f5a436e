"""What can be set on the page, each declared once: in the address, as a control, with its limits.

A number takes its symbol, meaning, domain and the range of its slider from the glossary; the page
adds only where the slider stops beyond that range, at 0 or ∞. Text that is no valid value gives
the nearest one that is, and a sentence that says so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import NAMES
from doubletrouble.parameters import Parameter

SLIDER, BOX, CHOICE = "slider-", "box-", "choice-"
"""How the identifiers of controls begin; a field's name follows."""

_STOPS = 120  # of a slider, between the ends of its range
_LONGEST = 40  # characters of what was typed that are shown again

Read: TypeAlias = tuple[float | str, str]
"""A valid value, and a sentence if it is not what was asked for."""


@dataclass(frozen=True, kw_only=True)
class NumberField:
    """A number, typed or chosen with a slider."""

    name: str
    spec: Parameter
    default: float
    zero: bool = False  # whether the slider has a stop at 0 before its range
    infinity: bool = False  # and one at ∞ after it
    linear: bool = False  # whether the stops are evenly spaced, not their logarithms
    slider: bool = True  # whether there is one
    blank: bool = False  # whether no text at all is an answer, too: 0

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
        return value in self.spec or (self.blank and value == 0)

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
        if wanted in self:
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
    label: str
    meaning: str
    choices: Mapping[str, str]  # by name in the address: what readers see
    default: str

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
    return float(above) / float(below) if slash else float(above)


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


def _limited(spec: Parameter, low: float, high: float) -> Parameter:
    """A declared parameter with tighter limits: what can be seen in a plot, or soon simulated."""
    return replace(spec, low=low, high=high)


# --- the setting of one curve --------------------------------------------------------------------

WIDTH = {
    per: NumberField(name="width", spec=_limited(spec, 1e-3, 1e5), default=2.0, infinity=True)
    for per, spec in (("N", glossary.FEATURES_PER_SAMPLE), ("D", glossary.FEATURES_PER_DIM))
}
"""The width, by what it is counted per."""

PER = ChoiceField(
    name="per", label="Width counted as", meaning="features per sample or per input dimension",
    choices={"N": "P/N", "D": "P/D"}, default="N",
)  # fmt: skip
SAMPLES = NumberField(
    name="samples", spec=_limited(glossary.SAMPLES_PER_DIM, 1e-3, 1e3), default=1.0
)
RIDGE = NumberField(
    name="ridge", default=1e-5, zero=True, spec=replace(glossary.RIDGE, high=1e6, or_inf=True)
)
SNR = NumberField(name="snr", spec=glossary.SNR, default=1.0, infinity=True)
NONLINEAR = NumberField(
    name="nonlinear",
    spec=_limited(glossary.NONLINEAR_SIGNAL, 0.0, 100.0),
    default=0.0,
    linear=True,
)
MEMBERS = NumberField(
    name="members", default=1.0, infinity=True,
    spec=replace(glossary.N_MEMBERS, high=1e6, or_inf=True),
)  # fmt: skip
SCHEME = ChoiceField(
    name="scheme", label="Scheme", meaning="whether all K models see all samples",
    choices={"ensemble": "ensemble: all see all data", "divide": "divide: each has N/K samples"},
    default="ensemble",
)  # fmt: skip
ACTIVATION = ChoiceField(
    name="activation", label="Activation σ", meaning="the function of each random feature",
    choices={name: name.replace("_", " ") for name in NAMES}, default="relu",
)  # fmt: skip

# --- how it is looked at -------------------------------------------------------------------------

ALONG = ChoiceField(
    name="along", label="Plot against", meaning="what changes along the horizontal axis",
    choices={
        "width": "width", "samples": "samples N/D", "ridge": "ridge λ", "members": "models K",
    },
    default="width",
)  # fmt: skip
SPLIT = ChoiceField(
    name="split", label="Split", meaning="how the error is split into parts",
    choices={"causes": "by cause (sequential)", "effects": "effects and interactions (symmetric)"},
    default="causes",
)  # fmt: skip
FORM = ChoiceField(
    name="form", label="Draw", meaning="how the parts are drawn",
    choices={"lines": "lines", "areas": "stacked areas"}, default="lines",
)  # fmt: skip
X_SCALE = ChoiceField(
    name="x", label="Horizontal", meaning="the scale of the horizontal axis",
    choices={"log": "log", "linear": "linear"}, default="log",
)  # fmt: skip
Y_SCALE = ChoiceField(
    name="y", label="Vertical", meaning="the scale of the vertical axis",
    choices={"log": "log", "linear": "linear"}, default="log",
)  # fmt: skip
POINTS = NumberField(
    name="points", slider=False, default=241,
    spec=Parameter(
        symbol="points", meaning="values along a curve, more are added near P = N", low=2,
        high=2000, typical=(41, 1000), whole=True,
    ),
)  # fmt: skip
DIM = NumberField(
    name="dim",
    slider=False,
    default=60,
    spec=replace(glossary.WHOLE_DIM, low=10, high=400, typical=(10, 400)),
)
DRAWS = NumberField(
    name="draws", slider=False, default=10,
    spec=Parameter(
        symbol="draws", meaning="independent draws of data and features in a simulation", low=2,
        high=200, typical=(2, 200), whole=True,
    ),
)  # fmt: skip
COST = ChoiceField(
    name="cost", label="Budget on", meaning="what is limited",
    choices={"features": "features P·K/D", "training": "training cost"}, default="features",
)  # fmt: skip
BUDGET = NumberField(
    name="budget", slider=False, default=0.0, blank=True,
    spec=replace(
        glossary.BUDGET, meaning="what models may cost in all; empty: what the setting costs"
    ),
)  # fmt: skip
