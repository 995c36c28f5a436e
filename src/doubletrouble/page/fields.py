"""What can be set on the page, each declared once: in the address, as a control, with its limits.

A number takes its symbol, meaning, domain and the range of its slider from the glossary; the page
adds only where the slider stops beyond that range, at 0 or ∞. A field's group tells where its
control stands and whether it is part of a setting; fields of a group stand in the order in which
they are declared. What else is needed of a new one is its line in `setting`, with its type.
"""

import math
import re
from dataclasses import replace
from typing import TypeVar

from doubletrouble import glossary
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import SCHEMES, SUPPORT
from doubletrouble.page.kinds import ChoiceField, Field, Group, NumberField
from doubletrouble.parameters import Parameter, declarations

MODEL = Group(title="The model", of_setting=True)
DATA = Group(title="The data", of_setting=True)
ENSEMBLE = Group(title="The ensemble", of_setting=True)
PLOT = Group(title="The plot")
SIMULATION = Group(title="Simulate it")
ADVICE = Group(title="What should I change?")
FILES = Group(title="Take it with you")

Kind = TypeVar("Kind", NumberField, ChoiceField)
_declared: list[Field] = []


def _declare(field: Kind) -> Kind:
    _declared.append(field)
    return field


def _limited(spec: Parameter, low: float, high: float) -> Parameter:
    """A declared parameter with tighter limits: what can be seen in a plot, or soon simulated."""
    return replace(spec, low=low, high=high)


def _schemes_with(option: str) -> tuple[str, ...]:
    """The schemes that have an option."""
    return tuple(name for name, kind in SCHEMES.items() if option in declarations(kind))


_SCHEMES = {
    "ensemble": "ensemble: all see all samples",
    "divide": "divide: each has N/K samples",
    "subsample": "subsample: each draws ηN samples",
    "bootstrap": "bootstrap: N draws with replacement",
    "feature_bank": "feature bank: P of B features each",
}
"""Schemes in a few words; another is described by its summary."""


def _described(name: str) -> str:
    summary = re.sub(r"[{}]", "", SCHEMES[name].summary)
    return _SCHEMES.get(name, f"{name.replace('_', ' ')}: {summary}")


# --- the setting of one curve --------------------------------------------------------------------

WIDTH = {
    per: NumberField(name="width", group=MODEL, axis="width", spec=_limited(spec, 1e-3, 1e5),
                     default=2.0, infinity=True)
    for per, spec in (("N", glossary.FEATURES_PER_SAMPLE), ("D", glossary.FEATURES_PER_DIM))
}  # fmt: skip
"""The width, by what it is counted per."""
_declare(WIDTH["N"])

PER = _declare(ChoiceField(
    name="per", group=MODEL, label="Width counted as",
    meaning="features per sample or per input dimension",
    choices={"N": "P/N", "D": "P/D"}, default="N",
))  # fmt: skip
RIDGE = _declare(NumberField(
    name="ridge", group=MODEL, axis="ridge λ", default=1e-5, zero=True,
    spec=replace(glossary.RIDGE, high=1e6, or_inf=True),
))  # fmt: skip
TIME = _declare(NumberField(
    name="time", group=MODEL, axis="time t", default=math.inf, infinity=True,
    schemes=tuple(name for name, kind in SCHEMES.items() if SUPPORT["gradient_flow"](kind)),
    spec=replace(
        glossary.TIME, high=1e12, or_inf=True,
        meaning="training time, 2 (D/N) × steps × learning rate; ∞ is the end",
    ),
))  # fmt: skip
ACTIVATION = _declare(ChoiceField(
    name="activation", group=MODEL, label="Activation σ",
    meaning="the function of each random feature",
    choices={name: name.replace("_", " ") for name in NAMES}, default="relu", opens=True,
))  # fmt: skip
SAMPLES = _declare(NumberField(
    name="samples", group=DATA, axis="samples N/D", default=1.0,
    spec=_limited(glossary.SAMPLES_PER_DIM, 1e-3, 1e3),
))  # fmt: skip
SNR = _declare(NumberField(
    name="snr", group=DATA, spec=glossary.SNR, default=1.0, infinity=True,
))  # fmt: skip
NONLINEAR = _declare(NumberField(
    name="nonlinear", group=DATA, default=0.0, linear=True,
    spec=_limited(glossary.NONLINEAR_SIGNAL, 0.0, 100.0),
))  # fmt: skip
MEMBERS = _declare(NumberField(
    name="members", group=ENSEMBLE, axis="models K", default=1.0, infinity=True,
    spec=replace(glossary.N_MEMBERS, high=1e6, or_inf=True),
))  # fmt: skip
SCHEME = _declare(ChoiceField(
    name="scheme", group=ENSEMBLE, label="Scheme", meaning="what the K models have in common",
    choices={name: _described(name) for name in SCHEMES}, default="ensemble", opens=True,
))  # fmt: skip
FRACTION = _declare(NumberField(
    name="fraction", group=ENSEMBLE, default=0.5, linear=True, schemes=_schemes_with("fraction"),
    spec=replace(glossary.FRACTION, low=1e-3, open_low=False),
))  # fmt: skip
BANK = _declare(NumberField(
    name="bank", group=ENSEMBLE, default=2.0, infinity=True,
    schemes=_schemes_with("bank_per_dim"),
    spec=Parameter(
        symbol="B/P", meaning="features in the bank for each that a model draws", low=1.0,
        high=1e5, typical=(1.0, 100.0), or_inf=True,
    ),
))  # fmt: skip

# --- how it is looked at -------------------------------------------------------------------------

ALONG = _declare(ChoiceField(
    name="along", group=PLOT, label="Plot against",
    meaning="what changes along the horizontal axis",
    choices={one.name: one.axis for one in _declared if isinstance(one, NumberField) and one.axis},
    default="width",
))  # fmt: skip
SPLIT = _declare(ChoiceField(
    name="split", group=PLOT, label="Split", meaning="how the error is split into parts",
    choices={"causes": "by cause (sequential)", "effects": "effects and interactions (symmetric)"},
    default="causes",
))  # fmt: skip
FORM = _declare(ChoiceField(
    name="form", group=PLOT, label="Draw", meaning="how the parts are drawn",
    choices={"lines": "lines", "areas": "stacked areas"}, default="lines",
))  # fmt: skip
X_SCALE = _declare(ChoiceField(
    name="x", group=PLOT, label="Horizontal", meaning="the scale of the horizontal axis",
    choices={"log": "log", "linear": "linear"}, default="log",
))  # fmt: skip
Y_SCALE = _declare(ChoiceField(
    name="y", group=PLOT, label="Vertical", meaning="the scale of the vertical axis",
    choices={"log": "log", "linear": "linear"}, default="log",
))  # fmt: skip
DIM = _declare(NumberField(
    name="dim", group=SIMULATION, slider=False, default=60,
    spec=replace(glossary.WHOLE_DIM, low=10, high=400, typical=(10, 400)),
))  # fmt: skip
DRAWS = _declare(NumberField(
    name="draws", group=SIMULATION, slider=False, default=10,
    spec=Parameter(
        symbol="draws", meaning="independent draws of data and features in a simulation", low=2,
        high=200, typical=(2, 200), whole=True,
    ),
))  # fmt: skip
BUDGET = _declare(NumberField(
    name="budget", group=ADVICE, slider=False, default=0.0, blank=True,
    spec=replace(
        glossary.BUDGET, meaning="what models may cost in all; empty: what the setting costs"
    ),
))  # fmt: skip
COST = _declare(ChoiceField(
    name="cost", group=ADVICE, label="Budget on", meaning="what is limited",
    choices={"features": "features P·K/D", "training": "training cost"}, default="features",
))  # fmt: skip
POINTS = _declare(NumberField(
    name="points", group=FILES, slider=False, default=241,
    spec=Parameter(
        symbol="points", meaning="values along a curve, more are added near P = N", low=2,
        high=2000, typical=(41, 1000), whole=True,
    ),
))  # fmt: skip


def of(group: Group) -> tuple[Field, ...]:
    """The fields of a group, in order."""
    return tuple(field for field in _declared if field.group is group)


SETTING = tuple(field for field in _declared if field.group.of_setting)
"""What is set of one curve; the width is that per N."""
LOOK = tuple(field for field in _declared if not field.group.of_setting)
"""What is set of the view of it."""
