"""The decomposition of an error: every part with its standard error, as a table and a figure."""

from __future__ import annotations  # help() then shows names, not their definitions

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from doubletrouble.decomposition._components import (
    ANOVA,
    SEQUENTIAL,
    ProductWeights,
    Statistic,
    anova,
    mean_squares,
    sequential,
    weighted_sum,
)
from doubletrouble.decomposition._design import Design
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.errors import require
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.palette import BLACK, CAUSES, HATCHES, YELLOW
from doubletrouble.parameters import FloatArray, number
from doubletrouble.results import AnovaTerms, ErrorTerms, Estimate

MEMBERS = (5, math.inf)  # ensembles in tables and figures

COLORS = {
    part: (CAUSES["light"][part], HATCHES[part])
    for part in ("noise", "initialization", "sampling", "bias")
} | {"bayes": (YELLOW, "xxxx"), "total": ("#555555", "")}
"""Color and hatch of each part."""

_WHISKER = {"capsize": 3, "elinewidth": 1.2, "ecolor": BLACK}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decomposition:
    """The squared error of a learner by cause, from predictions: `error()`, `anova()`.

    All estimates of one decomposition are of the same draws: their sums and differences have the
    standard errors of paired draws. The difference `a - b` of two decompositions on the same draws
    is a `DecompositionDifference`.
    """

    design: Design
    notes: tuple[str, ...]  # on what each part contains, and on standard errors
    confidence: float  # of the intervals in tables and plots
    statistics: Mapping[str, Statistic]  # mean products, with keys of pairs (name, value)

    def error(self, ensemble: EnsembleLike = 1) -> ErrorTerms[Estimate]:
        """The error of K averaged re-initializations on the same data, in the sequential order.

        `ensemble` is K, which may be inf, or `Ensemble(K)`. Initialization falls as 1/K, and so
        does the part of noise that depends on it. Accessing a part that the design does not
        identify raises ValueError; `notes` name the part that contains it.
        """
        design, K = self.design, self._size(ensemble, "Decomposition.error")
        parts = self._estimates(sequential(design, K), mean_squares(design, K))
        total = parts.pop("total", None)
        missing = self._missing(SEQUENTIAL)
        return ErrorTerms.identified(parts, missing=missing, includes=design.absorbed, total=total)

    def anova(self, ensemble: EnsembleLike = 1) -> AnovaTerms[Estimate]:
        """The same error as main effects and interactions."""
        design, K = self.design, self._size(ensemble, "Decomposition.anova")
        parts = self._estimates(anova(design, K), mean_squares(design, K, effects=True))
        total = parts.pop("total", None)
        includes = design.absorbed
        includes.pop("initialization", None)  # the main effect does not depend on the labels
        missing = self._missing(ANOVA)
        return AnovaTerms.identified(parts, missing=missing, includes=includes, total=total)

    def _size(self, ensemble: EnsembleLike, function: str) -> float:
        """K; more than one member needs a second initialization."""
        K = number("ensemble", as_ensemble(ensemble, function).n_members, N_MEMBERS)
        if K > 1 and (reason := self.design.lacks("the error of an ensemble", ("init",))):
            raise ValueError(reason)
        return K

    def _estimates(
        self, weights: Mapping[str, ProductWeights], squares: Mapping[str, ProductWeights]
    ) -> dict[str, Estimate]:
        estimates = {}
        for name, part in weights.items():
            square = None
            if any(part.values()) and name in squares:
                square = sum(
                    weight * float(self.statistics[product].table[0, 0])
                    for product, weight in squares[name].items()
                    if weight
                )
            estimates[name] = Estimate.of_draws(weighted_sum(part, self.statistics), square)
        return estimates

    def _missing(self, needs: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
        """The reasons why parts are not identified, by their names."""
        reasons = {name: self.design.lacks(name, needed) for name, needed in needs.items()}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def _rows(self) -> dict[str, Estimate]:
        """The parts, and the total where it is identified."""
        error = self.error()
        return error.parts | ({"total": error.total} if self.design.targets else {})

    def _averaged(self) -> dict[float, Estimate]:
        """The total error of K averaged members, where the design identifies it."""
        identified = self.design.lacks("total", ("target", "init")) is None
        if not identified or self.design.deterministic:
            return {}
        return {K: self.error(K).total for K in MEMBERS}

    # --- comparison ---

    def __sub__(self, other: object) -> DecompositionDifference:
        """The difference of two decompositions on the same draws, part by part."""
        if not isinstance(other, Decomposition):
            return NotImplemented
        mine, theirs = (dict(result.statistics["same"].key) for result in (self, other))
        differing = [name for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        if differing:
            raise ValueError(
                "two decompositions must be of the same draws to be compared, got other "
                f"{', '.join(differing)}"
            )
        rows, others = self._rows(), other._rows()
        return DecompositionDifference(
            parts={name: rows[name] - others[name] for name in rows if name in others},
            confidence=self.confidence,
        )

    # --- shown ---

    def to_frame(self) -> Any:
        """A pandas table: a row for each part and the total, then for each part of `anova`."""
        pandas = require("pandas", "tables")
        return pandas.DataFrame(self._table())

    def to_json(self) -> str:
        """The design, every part with its interval, the error of K = 5 and K = ∞, and the notes.

        >>> import json, numpy as np
        >>> from doubletrouble.decomposition import decompose_predictions
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> parts = json.loads(decompose_predictions(f, truth=np.zeros(50)).to_json())["parts"]
        >>> [part["part"] for part in parts[:3]]
        ['noise', 'initialization', 'sampling']
        """
        averaged = [
            {"n_members": "inf" if math.isinf(K) else K, **_entry(total, self.confidence)}
            for K, total in self._averaged().items()
        ]
        content = {
            "design": asdict(self.design),
            "confidence": self.confidence,
            "parts": self._table(),
            "averaged": averaged,
            "notes": list(self.notes),
        }
        return json.dumps(_finite(content), ensure_ascii=False, allow_nan=False, indent=2)

    def _table(self) -> list[dict[str, Any]]:
        """A row for each part and the total, then for each part of `anova`."""
        error, effects = self.error(), self.anova()
        total = float(error.total) if self.design.targets else math.nan
        views = (
            ("sequential", self._rows(), error.includes),
            ("anova", effects.parts, effects.includes),
        )
        return [
            {
                "view": view,
                "part": name,
                **_entry(part, self.confidence),
                "share": float(part) / total if total > 0 else math.nan,
                "includes": includes.get(name, ""),
            }
            for view, parts, includes in views
            for name, part in parts.items()
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draw every part with its interval, and K averaged members; return the axes.

        >>> import matplotlib, numpy as np
        >>> matplotlib.use("Agg")
        >>> from doubletrouble.decomposition import decompose_predictions
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> axes = decompose_predictions(f, truth=np.zeros(50)).plot()
        >>> axes.get_xlabel()
        'squared error'
        """
        includes = self.error().includes
        bars = []
        for name, part in self._rows().items():
            label = f"{name} + {includes[name]}" if name in includes else name
            bars.append((label, part, *COLORS[name]))
        for K, total in self._averaged().items():
            bars.append((f"{_members_label(K)} averaged", total, "#BBBBBB", ""))
        return draw_bars(bars, self.confidence, axes)

    def __str__(self) -> str:
        """The parts with their shares of the total, the error of ensembles, and the notes."""
        averaged = [f"{_members_label(K)} averaged: {part}" for K, part in self._averaged().items()]
        return "\n".join([str(self.error()), *averaged, *self.notes])

    def _repr_html_(self) -> str:
        error = self.error()
        rest = str(self).removeprefix(str(error)).strip()
        return error._repr_html_() + (f"<pre>{escape(rest)}</pre>" if rest else "")

    def __repr__(self) -> str:
        """The parts on one line."""
        shown = (
            f"{name}={part.value:.4g}±{part.standard_error:.1g}"
            for name, part in self.error().parts.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerDecomposition(Decomposition):
    """The squared error of a learner by cause, and its predictions."""

    predictions: FloatArray  # [data, noise, init, test] or [data, noise, init, test, class]
    y_test: FloatArray  # the target of the predictions, one-hot for classes
    classes: Any  # the sorted class labels, or None
    n_fits: int
    most_data: float  # the largest number of training sets of the source
    seconds: float  # the time of the whole call


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecompositionDifference:
    """The paired difference of two decompositions on the same draws, part by part.

    >>> import numpy as np
    >>> from doubletrouble.decomposition import decompose_predictions
    >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
    >>> result = decompose_predictions(f, truth=np.zeros(50))
    >>> (result - result).total
    Estimate(value=0.0, standard_error=0.0, n_draws=8)
    """

    parts: Mapping[str, Estimate]  # and the total, where both have one
    confidence: float

    @property
    def total(self) -> Estimate:
        """The difference of the total errors."""
        if "total" not in self.parts:
            raise ValueError("total needs truth or y_test, got neither")
        return self.parts["total"]

    def to_frame(self) -> Any:
        """A pandas table: a row for each part and the total."""
        return require("pandas", "tables").DataFrame(self._table())

    def to_json(self) -> str:
        """Every difference with its interval."""
        content = {"confidence": self.confidence, "differences": self._table()}
        return json.dumps(_finite(content), ensure_ascii=False, allow_nan=False, indent=2)

    def _table(self) -> list[dict[str, Any]]:
        """A row for each part and the total."""
        return [
            {"part": name, **_entry(part, self.confidence)} for name, part in self.parts.items()
        ]

    def __str__(self) -> str:
        """The differences with their intervals."""
        wide = max(map(len, self.parts), default=0) + 2
        most = max((len(str(part)) for part in self.parts.values()), default=0)
        lines = [f"paired differences, {self.confidence:.0%} intervals"]
        for name, part in self.parts.items():
            low, high = part.confidence_interval(self.confidence)
            lines.append(f"{name:<{wide}} {part!s:>{most}}   [{low:.4g}, {high:.4g}]")
        return "\n".join(lines)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={part}" for name, part in self.parts.items())
        return f"{type(self).__name__}({shown})"


def _entry(part: Estimate, confidence: float) -> dict[str, Any]:
    low, high = part.confidence_interval(confidence)
    return {"value": part.value, "standard_error": part.standard_error, "low": low, "high": high}


def _finite(value: Any) -> Any:
    """A value for JSON: None for what is not finite."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _members_label(K: float) -> str:
    return f"K = {'∞' if math.isinf(K) else K}"


def draw_bars(
    bars: list[tuple[str, Estimate, str, str]], confidence: float, axes: Any = None
) -> Any:
    """Horizontal bars (label, estimate, color, hatch) with intervals, the first one on top."""
    if axes is None:
        pyplot = require("matplotlib.pyplot", "figures")
        axes = pyplot.figure(figsize=(6.0, 3.2), layout="constrained").add_subplot()
    for row, (_, part, color, hatch) in enumerate(bars):
        known = math.isfinite(part.standard_error)
        low, high = part.confidence_interval(confidence) if known else (part.value, part.value)
        axes.barh(
            row,
            part.value,
            height=0.7,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.0,
            xerr=[[part.value - low], [high - part.value]],
            error_kw=_WHISKER,
        )
        if not known:
            axes.text(max(part.value, 0.0), row, "  ± ?", va="center", fontsize="small")
    axes.set_yticks(range(len(bars)), [label for label, *_ in bars])
    axes.invert_yaxis()
    axes.axvline(0.0, color="#333333", linewidth=0.8)
    axes.set_xlabel("squared error")
    axes.set_title(f"whiskers: {confidence:.0%} intervals", fontsize="small", loc="right")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
