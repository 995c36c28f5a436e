"""The controls of the page, declared once for the browser and the server.

Symbols, domains and typical ranges are those of `glossary`; a control adds its label, its group and
the ends of its slider. `python -m doubletrouble.page._declarations docs/claims.md` writes
`static/declarations.json`: controls, parts and colours, presets and the claims of the paper. The
browser reads that file; `doubletrouble.page._settings` validates settings by the same controls.
"""

import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from doubletrouble import __version__, glossary
from doubletrouble._display import Json, strict_json
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import SCHEMES, supporting
from doubletrouble.losses import LOSSES
from doubletrouble.palette import CAUSES, EFFECTS, PART_WORDS, in_sentences
from doubletrouble.parameters import Parameter
from doubletrouble.parameters import declarations as declared_by

STATIC = Path(__file__).with_name("static")
FILE = STATIC / "declarations.json"


@dataclass(frozen=True, kw_only=True)
class NumberControl:
    """A number, set by a slider or typed."""

    spec: Parameter
    label: str
    meaning: str
    default: float
    group: str  # of a setting "basic" or "more"; "plot", "simulation", "advice"
    axis: str = ""  # label as the horizontal axis, if it can be one
    zero: bool = False  # whether the slider has a stop at 0 below its range
    infinity: bool = False  # and one at infinity above it
    linear: bool = False  # whether the slider is linear, not logarithmic
    schemes: tuple[str, ...] = ()  # the schemes it applies to; empty: all


@dataclass(frozen=True, kw_only=True)
class ChoiceControl:
    """One of a few names."""

    label: str
    meaning: str
    choices: Mapping[str, str]  # label by name
    default: str
    group: str


Control: TypeAlias = NumberControl | ChoiceControl

_SCHEME_LABELS = {
    "ensemble": "Same data for all",
    "divide": "Divided data: N/K samples each",
    "subsample": "Subsamples: ηN samples each",
    "bootstrap": "Bootstrap: N draws with replacement",
    "feature_bank": "Feature bank: P of B features each",
    "folds": "Folds: all samples but one part",
}


_LOSS_LABELS = {
    "huber": "Huber, δ = 1",
    "quantile": "quantile, of level 1/2",
    "hinge": "hinge (support vector machine)",
    "max_margin": "maximum margin",
}
OUTLIER_SD = 8.0  # standard deviation of outliers, relative to that of the other labels


def _schemes_with(option: str) -> tuple[str, ...]:
    return tuple(name for name, kind in SCHEMES.items() if option in declared_by(kind))


def _features(spec: Parameter, meaning: str) -> NumberControl:
    return NumberControl(
        spec=replace(spec, low=1e-3, high=1e5),
        label="Features",
        meaning=meaning,
        default=2.0,
        group="basic",
        axis=f"features {spec.symbol}",
        infinity=True,
    )


FEATURES: dict[str, Control] = {
    "features_per_sample": _features(
        glossary.FEATURES_PER_SAMPLE, "random features of each model, per training sample"
    ),
    "features_per_dim": _features(
        glossary.FEATURES_PER_DIM, "random features of each model, per input dimension"
    ),
}
"""The controls of P, of which a setting has one: the first unless the second is given."""

SETTING: dict[str, Control] = {
    **FEATURES,
    "n_members": NumberControl(
        spec=replace(glossary.N_MEMBERS, high=1e6, or_inf=True),
        label="Models",
        meaning="models whose predictions are averaged",
        default=1.0,
        group="basic",
        axis="models K",
        infinity=True,
    ),
    "ridge": NumberControl(
        spec=replace(glossary.RIDGE, high=1e6, or_inf=True),
        label="Ridge",
        meaning="penalty on large weights; 0 fits the training labels as closely as possible",
        default=1e-5,
        group="basic",
        axis="ridge λ",
        zero=True,
    ),
    "snr": NumberControl(
        spec=glossary.SNR,
        label="Signal-to-noise",
        meaning="strength of the true signal relative to the noise on the training labels",
        default=1.0,
        group="basic",
        infinity=True,
    ),
    "samples_per_dim": NumberControl(
        spec=replace(glossary.SAMPLES_PER_DIM, low=1e-3, high=1e3),
        label="Data",
        meaning="training samples per input dimension",
        default=1.0,
        group="more",
        axis="samples N/D",
    ),
    "scheme": ChoiceControl(
        label="Data of each model",
        meaning="the samples and features that the K models share",
        choices={name: _SCHEME_LABELS.get(name, name.replace("_", " ")) for name in SCHEMES},
        default="ensemble",
        group="more",
    ),
    "fraction": NumberControl(
        spec=replace(glossary.FRACTION, low=1e-3, open_low=False),
        label="Share of samples",
        meaning="share of the samples that each model draws",
        default=0.5,
        group="more",
        linear=True,
        schemes=_schemes_with("fraction"),
    ),
    "bank_per_feature": NumberControl(
        spec=replace(glossary.BANK_PER_DIM, symbol="B/P", low=1.0, high=1e5, typical=(1.0, 100.0)),
        label="Size of the bank",
        meaning="features in the common bank for each feature of a model",
        default=2.0,
        group="more",
        infinity=True,
        schemes=_schemes_with("bank_per_dim"),
    ),
    "activation": ChoiceControl(
        label="Activation σ",
        meaning="the function of each random feature",
        choices={name: name.replace("_", " ") for name in NAMES},
        default="relu",
        group="more",
    ),
    "nonlinear_signal": NumberControl(
        spec=replace(glossary.NONLINEAR_SIGNAL, high=100.0),
        label="Nonlinear signal",
        meaning="strength of the part of the target that no model here can learn",
        default=0.0,
        group="more",
        linear=True,
    ),
    "time": NumberControl(
        spec=replace(glossary.TIME, high=1e12),
        label="Training time",
        meaning="2 (D/N) × steps × learning rate of gradient descent; ∞ is the end of training",
        default=math.inf,
        group="more",
        axis="training time t",
        infinity=True,
        schemes=tuple(kind.name for kind in supporting("gradient_flow")),
    ),
}
"""What determines one curve."""


def _scale(axis: str) -> ChoiceControl:
    return ChoiceControl(
        label=f"{axis.capitalize()} scale",
        meaning=f"scale of the {axis} axis",
        choices={"log": "logarithmic", "linear": "linear"},
        default="log",
        group="plot",
    )


VIEW: dict[str, Control] = {
    "along": ChoiceControl(
        label="Horizontal axis",
        meaning="the quantity that varies along the curve",
        choices={
            name: control.axis
            for name, control in SETTING.items()
            if isinstance(control, NumberControl) and control.axis
        },
        default="features_per_sample",
        group="plot",
    ),
    "split": ChoiceControl(
        label="Split",
        meaning="how the test error is divided among its causes",
        choices={"causes": "four causes, as in the paper", "effects": "effects and interactions"},
        default="causes",
        group="plot",
    ),
    "form": ChoiceControl(
        label="Parts",
        meaning="how the parts of the error are drawn",
        choices={"lines": "lines", "areas": "stacked areas"},
        default="lines",
        group="plot",
    ),
    "x": _scale("horizontal"),
    "y": _scale("vertical"),
    "dim": NumberControl(
        spec=replace(glossary.WHOLE_DIM, low=10, high=400, typical=(10, 400)),
        label="Dimensions",
        meaning="input dimensions D of the simulated models",
        default=60.0,
        group="simulation",
    ),
    "n_data": NumberControl(
        spec=Parameter(
            symbol="n_data", meaning="data sets", low=2, high=200, typical=(2, 200), whole=True
        ),
        label="Data sets",
        meaning="independent data sets per simulated point",
        default=10.0,
        group="simulation",
    ),
    "budget": NumberControl(
        spec=replace(glossary.BUDGET, low=0.0),
        label="Budget",
        meaning="largest total cost of the models; 0 is the cost of the present setting",
        default=0.0,
        group="advice",
    ),
    "cost": ChoiceControl(
        label="Budget of",
        meaning="the quantity that the budget limits",
        choices={"features": "features, P·K/D", "training": "training operations"},
        default="features",
        group="advice",
    ),
}
"""How curves are drawn, simulated and advised on."""

LOSS: dict[str, Control] = {
    "task": ChoiceControl(
        label="Labels",
        meaning="numbers, or two classes by the sign of the target",
        choices={"classification": "two classes", "regression": "numbers"},
        default="classification",
        group="losses",
    ),
    "loss": ChoiceControl(
        label="Loss",
        meaning="the function of label and output that a fit minimizes, besides the penalty",
        choices={name: _LOSS_LABELS.get(name, name.replace("_", " ")) for name in LOSSES},
        default="logistic",
        group="losses",
    ),
    "flips": NumberControl(
        spec=glossary.FLIPS,
        label="Flipped labels",
        meaning="share of the training labels that are of the wrong class",
        default=0.1,
        group="losses",
        linear=True,
    ),
    "outliers": NumberControl(
        spec=replace(glossary.MIXTURE_WEIGHT, typical=(0.0, 0.5)),
        label="Outliers",
        meaning=f"share of the training labels with {OUTLIER_SD:g} times the noise",
        default=0.0,
        group="losses",
        linear=True,
    ),
}
"""The controls of other losses, which only the server has."""


def served_declarations() -> Json:
    """The declarations of a page that has a server: with the controls of other losses."""
    declared: Json = json.loads(FILE.read_text(encoding="utf-8"))
    declared["controls"] |= {name: _control(one) for name, one in LOSS.items()}
    declared["losses"] = {name: list(kind.tasks) for name, kind in LOSSES.items()}
    served: Json = strict_json(declared)
    return served


_PRESETS = {
    "term-by-term": (2, "The peak at P = N", "features_per_sample=1"),
    "decomposition": (3, "The peak with a small and a larger ridge", "second.ridge=0.1"),
    "double-descent": (5, "One model and infinitely many", "snr=10&second.n_members=inf"),
    "multiple-k-decomposition": (6, "Ten models and one", "n_members=10&second.n_members=1"),
    "ensemble-vs-overparametrize": (
        7,
        "Two models, or one twice as wide",
        "along=samples_per_dim&features_per_dim=0.5&snr=10&n_members=2&second.features_per_dim=1"
        "&second.n_members=1",
    ),
    "ensemble-vs-regularize": (
        8,
        "The best ridge of one model and of ten",
        "along=ridge&features_per_dim=2&snr=10&second.n_members=10",
    ),
    "asymptotics": (10, "Far beyond P = N", "features_per_sample=100"),
    "divide-and-conquer": (
        11,
        "Divided data, or the same for both models",
        "n_members=2&scheme=divide&second.scheme=ensemble",
    ),
    "under-or-over": (12, "Best P of two and of a hundred", "n_members=100&second.n_members=2"),
    "anova": (None, "Effects and interactions", "split=effects"),
    "ensemble-or-regularize-map": (
        None,
        "Infinitely many models against the best ridge",
        "along=ridge&features_per_sample=10&second.n_members=inf",
    ),
    "bagging": (
        None,
        "Half of the samples for each model, or all",
        "n_members=10&scheme=subsample&second.scheme=ensemble",
    ),
    "equivalences": (
        None,
        "Fewer features act as more ridge",
        "along=ridge&features_per_sample=inf&n_members=inf&second.features_per_sample=0.8",
    ),
    "training-time": (
        None,
        "The peak grows with training time",
        "along=time&features_per_sample=1&ridge=0&second.n_members=inf",
    ),
}
"""Figures as addresses: the number in the paper (None: beyond it), a title, the query."""

_URL = "https://arxiv.org/abs/2003.01054"
_CITATION = {
    "url": _URL,
    "text": (
        "S. d'Ascoli, M. Refinetti, G. Biroli, F. Krzakala. Double Trouble in Double Descent: "
        "Bias and Variance(s) in the Lazy Regime. ICML 2020. arXiv:2003.01054."
    ),
    "bibtex": (
        "@inproceedings{dascoli2020,\n"
        "  title = {Double Trouble in Double Descent: Bias and Variance(s) in the Lazy Regime},\n"
        "  author = {d'Ascoli, St{\\'e}phane and Refinetti, Maria and Biroli, Giulio and "
        "Krzakala, Florent},\n"
        "  booktitle = {International Conference on Machine Learning},\n"
        "  year = {2020},\n"
        "  note = {arXiv:2003.01054},\n"
        "}"
    ),
}


def page_declarations(claims: str) -> Json:
    """Everything that the browser takes from Python, as JSON: infinite numbers are "inf".

    `claims` is the text of docs/claims.md.
    """
    result: Json = strict_json(
        {
            "version": __version__,
            "citation": _CITATION,
            "controls": {name: _control(one) for name, one in (SETTING | VIEW).items()},
            "parts": {
                "labels": {name: part.label for name, part in PART_WORDS.items()},
                "names": {name: part.name for name, part in PART_WORDS.items()},
                "in_sentences": {name: in_sentences(name) for name in PART_WORDS},
                "meanings": {name: part.meaning for name, part in PART_WORDS.items()},
                "colors": {"causes": CAUSES, "effects": _without_noise(EFFECTS)},
            },
            "presets": [
                {"title": title, "query": query, **({"figure": figure} if figure else {})}
                for figure, title, query in _PRESETS.values()
            ],
            "claims": _claims(claims),
        }
    )
    return result


def _without_noise(colors: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The colours of effects: label noise is in interactions only."""
    return {
        theme: {name: color for name, color in named.items() if name != "noise"}
        for theme, named in colors.items()
    }


def _control(control: Control) -> Json:
    """A control; of a number, what is empty or false is left out."""
    shared = {
        "label": control.label,
        "meaning": control.meaning,
        "default": control.default,
        "group": control.group,
    }
    if isinstance(control, ChoiceControl):
        return {**shared, "choices": dict(control.choices)}
    spec = control.spec
    optional = {
        "axis": control.axis,
        "whole": spec.whole,
        "or_inf": spec.or_inf,
        "stops": {name: True for name in ("zero", "infinity") if getattr(control, name)},
        "scale": "linear" if control.linear else "",  # else logarithmic
        "schemes": list(control.schemes),
    }
    domain = {"low": spec.low, "high": spec.high, "typical": list(spec.typical)}
    return {
        **shared,
        "symbol": spec.symbol,
        **domain,
        **{name: value for name, value in optional.items() if value},
    }


def _claims(text: str) -> dict[str, str]:
    """Claims and verdicts of the table of docs/claims.md; the browser adds numbers and anchors."""
    rows = re.findall(r"^\| (\d+) \| \[(.+?)\]\(#(.+?)\) \| (.+?) \|", text, re.MULTILINE)
    for k, (number, claim, anchor, _) in enumerate(rows, 1):
        if int(number) != k:
            raise ValueError(f"claims must be numbered in their order, got {number} for {k}")
        slug = re.sub(r"[^\w -]", "", f"{number} {claim}").lower().replace(" ", "-")
        if anchor != slug:
            raise ValueError(f"the anchor of claim {number} must be {slug}, got {anchor}")
    return {claim: verdict for _, claim, _, verdict in rows}


def as_json(claims: str) -> str:
    """The text of `static/declarations.json`, one line for each of its parts."""
    write = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    lines = (f'"{name}":{write(one)}' for name, one in page_declarations(claims).items())
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    return re.sub(r"(?<=\d)\.0(?=[],}])", "", text)  # 2 for 2.0


if __name__ == "__main__":
    FILE.write_text(as_json(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
