"""The decomposition of an error: every part with its standard error, as a table and a figure."""

from __future__ import annotations  # help() then shows names, not their definitions

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from doubletrouble.decomposition._components import (
    ANOVA,
    SEQUENTIAL,
    ProductWeights,
    Statistic,
    Target,
    anova,
    mean_squares,
    products_by_row,
    sequential,
    weighted_sum,
)
from doubletrouble.decomposition._design import Design
from doubletrouble.decomposition._losses import (
    MEASURE_LABELS,
    MEMBERS_OF,
    SINGLE,
    LearnerMeasure,
    absorbed_causes,
    losses_by_row,
    missing_parts,
    parts_of_losses,
)
from doubletrouble.decomposition._sources import Labels
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.errors import require
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.palette import BLACK, CAUSES, HATCHES, YELLOW
from doubletrouble.parameters import FloatArray, Value, number
from doubletrouble.results import (
    AnovaTerms,
    ErrorTerms,
    Estimate,
    RowErrors,
    printed_name,
    strict_json,
)

_FEW_MEMBERS = 5
MEMBERS = (_FEW_MEMBERS, math.inf)  # ensembles in tables and figures

COLORS = {
    part: (CAUSES["light"][part], HATCHES[part])
    for part in ("noise", "initialization", "sampling", "bias")
} | {"bayes": (YELLOW, "xxxx"), "total": ("#555555", "")}
"""Color and hatch of each part."""

_WHISKER = {"capsize": 3, "elinewidth": 1.2, "ecolor": BLACK}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decomposition:
    """The error of a learner by cause, from predictions: `error()`, `anova()`.

    The error is the squared one (for probabilities of classes, the Brier score), or with another
    `measure` the cross-entropy or the 0/1 loss of a classifier.

    All estimates of one decomposition are of the same draws: their sums and differences have the
    standard errors of paired draws, as has the difference `a.error() - b.error()` of two
    decompositions of the same data, seed and numbers of draws; others are independent.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> f = 1 + rng.normal(size=(20, 1, 1, 50)) + rng.normal(size=(20, 1, 3, 50))
    >>> result = dt.decompose_predictions(f, truth=np.zeros(50), noiseless=True)
    >>> print(result)
    noise                    0 ± 0    0.0%
    initialization   0.996 ± 0.032   35.0%
    sampling         0.957 ± 0.065   33.6%
    bias             0.895 ± 0.077   31.4%
    total              2.85 ± 0.11
    K = 5 averaged: 2.05 ± 0.10
    K = ∞ averaged: 1.85 ± 0.10
    >>> round(result.anova().sampling.value, 2)
    0.96
    """

    design: Design
    notes: tuple[str, ...]  # on what each part contains, and on standard errors
    confidence: float  # of the intervals in tables and plots
    statistics: Mapping[str, Statistic]  # mean products, with keys of pairs (name, value)
    measure: LearnerMeasure = "squared"

    def error(self, ensemble: EnsembleLike = 1) -> ErrorTerms[Estimate]:
        """The error of K averaged re-initializations on the same data, in the sequential order.

        Initialization falls as 1/K, and so does the part of noise that depends on it. Measures
        other than the squared error do not fall as 1/K. For `measure="log"`, K = inf is the limit
        of geometric means of probabilities; for `measure="zero_one"`, the vote of all
        initializations. For other K, up to their number, the total alone is given: that of K
        averaged probabilities, or of K votes.

        Parameters
        ----------
        ensemble : float or Ensemble, default: 1
            K, a whole number of at least 1 or inf, or `Ensemble(K)`.

        Returns
        -------
        ErrorTerms of Estimate
            Every part and the total. A part that the design does not identify is None: `reasons`
            has the reason, and `notes` name the part that contains it.

        Raises
        ------
        ValueError
            If `ensemble` is another scheme, is above 1 with a single initialization, or is not
            available for the measure.
        TypeError
            If `ensemble` is neither a number nor a scheme.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> result = dt.decompose_predictions(f, truth=np.zeros(50))
        >>> round(result.error().total.value, 2), round(result.error(10).total.value, 2)
        (1.0, 0.09)
        """
        design, K = self.design, self._size(ensemble, "Decomposition.error")
        if self.measure != "squared":
            return self._other_measure(1.0 if design.deterministic else K)
        parts = self._estimates(sequential(design, K), mean_squares(design, K))
        total = parts.pop("total", None)
        missing = self._missing(SEQUENTIAL)
        includes = {name: cause for name, cause in design.absorbed.items() if name in parts}
        return ErrorTerms(**parts, reasons=missing, includes=includes, separate_total=total)

    def _other_measure(self, K: float) -> ErrorTerms[Estimate]:
        """The cross-entropy or the 0/1 loss by cause."""
        design, measure = self.design, self.measure
        if 1 < K < math.inf:
            name = f"{MEMBERS_OF}{K:g}"
            if (reason := design.lacks("total", ("target",))) is not None:
                raise ValueError(reason)
            if name not in self.statistics:
                raise ValueError(
                    f"ensemble must be inf or an integer up to {design.n_init}, the number of "
                    f"initializations, for measure={measure!r}, got {K:g}"
                )
            reason = f"the causes are identified for ensemble = 1 and inf with measure={measure!r}"
            return ErrorTerms._of_total(self._estimate({name: 1.0}), reason)
        missing, weights = missing_parts(design, measure), parts_of_losses(design, measure, K)
        if self._is_infinite:
            reason = "is not defined: probabilities of 0 make the cross-entropy infinite"
            missing |= {
                n: f"{printed_name(n)} {reason}"
                for n in ErrorTerms.names()
                if n not in ("bias", "resampling")
            }
            weights = {name: {SINGLE: 1.0} for name in ("bias", "total") if name in weights}
        parts: dict[str, Any] = {name: self._estimate(part) for name, part in weights.items()}
        total = parts.pop("total", None)
        includes = absorbed_causes(design, measure)
        return ErrorTerms(**parts, reasons=missing, includes=includes, separate_total=total)

    @property
    def _is_infinite(self) -> bool:
        return self.measure == "log" and math.isinf(self.statistics[SINGLE].table[0, 0])

    def _estimate(self, weights: ProductWeights) -> Estimate:
        """A weighted sum of statistics; one of an infinite one is infinite."""
        if any(math.isinf(self.statistics[name].table[0, 0]) for name in weights):
            return Estimate(value=math.inf, standard_error=0.0, n_draws=self.design.n_data)
        return Estimate._of_draws(weighted_sum(weights, self.statistics))

    def _weights(self) -> dict[str, ProductWeights]:
        """The parts and the total of one member, as weights of statistics."""
        if self.measure != "squared":
            return parts_of_losses(self.design, self.measure)
        return sequential(self.design)

    def anova(self, ensemble: EnsembleLike = 1) -> AnovaTerms[Estimate]:
        """The same error as main effects and interactions; of the squared error only.

        Parameters
        ----------
        ensemble : float or Ensemble, default: 1
            K, a whole number of at least 1 or inf, or `Ensemble(K)`.

        Returns
        -------
        AnovaTerms of Estimate
            Every main effect and interaction, and the total.

        Raises
        ------
        ValueError
            If the measure is not "squared", or `ensemble` is another scheme or is above 1 with a
            single initialization.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        if self.measure != "squared":
            raise ValueError(f"measure must be 'squared' for main effects, got {self.measure!r}")
        design, K = self.design, self._size(ensemble, "Decomposition.anova")
        parts = self._estimates(anova(design, K), mean_squares(design, K, effects=True))
        total = parts.pop("total", None)
        includes = design.absorbed
        includes.pop("initialization", None)  # the main effect does not depend on the labels
        missing = self._missing(ANOVA)
        return AnovaTerms(**parts, reasons=missing, includes=includes, separate_total=total)

    def _size(self, ensemble: EnsembleLike, function: str) -> float:
        """K; more than one member needs a second initialization."""
        K = number("ensemble", as_ensemble(ensemble, function).n_members, N_MEMBERS)
        if K > 1 and (reason := self.design.lacks("the error of an ensemble", ("init",))):
            raise ValueError(reason)
        return K

    def _estimates(
        self, weights: Mapping[str, ProductWeights], squares: Mapping[str, ProductWeights]
    ) -> dict[str, Any]:
        estimates = {}
        for name, part in weights.items():
            square = None
            if any(part.values()) and name in squares:
                square = sum(
                    weight * float(self.statistics[product].table[0, 0])
                    for product, weight in squares[name].items()
                    if weight
                )
            estimates[name] = Estimate._of_draws(weighted_sum(part, self.statistics), square)
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
        if self.measure != "squared":
            sizes: list[float] = [min(_FEW_MEMBERS, self.design.n_init)]
            if self.measure == "log" and not self._is_infinite:
                sizes.append(math.inf)
            return {K: self.error(K).total for K in sizes}
        return {K: self.error(K).total for K in MEMBERS}

    # --- shown ---

    def to_frame(self) -> Any:
        """The parts as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each part and the total, then for each part of `anova`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pandas = require("pandas", "tables")
        return pandas.DataFrame(self._table())

    def to_json(self) -> str:
        """The decomposition as JSON.

        Returns
        -------
        str
            The design, every part with its interval, the error of K = 5 and K = ∞, and the notes.

        Examples
        --------
        >>> import json, doubletrouble as dt, numpy as np
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> parts = json.loads(dt.decompose_predictions(f, truth=np.zeros(50)).to_json())["parts"]
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
        if self.measure != "squared":
            content = strict_json({"measure": self.measure, **content})
        return json.dumps(_finite(content), ensure_ascii=False, allow_nan=False, indent=2)

    def _table(self) -> list[dict[str, Any]]:
        """A row for each part and the total, then for each part of `anova`."""
        error = self.error()
        total = float(error.total) if self.design.targets else math.nan
        views = [("sequential", self._rows(), error.includes)]
        if self.measure == "squared":
            effects = self.anova()
            views.append(("anova", effects.parts, effects.includes))
        return [
            {
                "view": view,
                "part": name,
                **_entry(part, self.confidence),
                "share": float(part) / total if 0 < total < math.inf else math.nan,
                "includes": includes.get(name, ""),
            }
            for view, parts, includes in views
            for name, part in parts.items()
        ]

    def plot(self, axes: Any = None) -> Any:
        """Draw every part with its interval, and the error of K averaged members.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib, doubletrouble as dt, numpy as np
        >>> matplotlib.use("Agg")
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> axes = dt.decompose_predictions(f, truth=np.zeros(50)).plot()
        >>> axes.get_xlabel()
        'squared error'
        """
        label, bars = self.error()._label, []
        for name, part in self._rows().items():
            bars.append((label(name), part, *COLORS[name]))
        for K, total in self._averaged().items():
            bars.append((self._averaged_label(K), total, "#BBBBBB", ""))
        return draw_bars(bars, self.confidence, axes, MEASURE_LABELS[self.measure])

    def _averaged_label(self, K: float) -> str:
        """The label of K averaged members."""
        how = "voting" if self.measure == "zero_one" else "averaged"
        if self.measure == "log":
            how += " (logarithms)" if math.isinf(K) else " (probabilities)"
        return f"{_members_label(K)} {how}"

    def __str__(self) -> str:
        """The parts with their shares of the total, the error of ensembles, and the notes."""
        averaged = [f"{self._averaged_label(K)}: {part}" for K, part in self._averaged().items()]
        title = [] if self.measure == "squared" else [MEASURE_LABELS[self.measure]]
        return "\n".join([*title, str(self.error()), *averaged, *self.notes])

    def _repr_html_(self) -> str:
        error = self.error()
        title, _, rest = (text.strip() for text in str(self).partition(str(error)))
        before, after = (f"<pre>{escape(text)}</pre>" if text else "" for text in (title, rest))
        return before + error._repr_html_() + after

    def __repr__(self) -> str:
        """The parts on one line."""
        shown = (
            f"{name}={part.value:.4g}±{part.standard_error:.1g}"
            for name, part in self.error().parts.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerDecomposition(Decomposition):
    """The error of a learner by cause, and its predictions."""

    predictions: FloatArray  # [data, noise, init, test] or [data, noise, init, test, class]
    y_test: FloatArray  # the target of the predictions, one-hot for classes
    classes: Labels | None  # the sorted class labels, or None
    n_fits: int
    most_data: float  # the largest number of training sets of the source
    seconds: float  # the time of the whole call
    label_noise: Value | None = None  # the standard deviation of the noise in y_test, if known

    def by_row(self) -> RowErrors:
        """The error at every test row by cause; the means over them are those of `error()`.

        Returns
        -------
        RowErrors
            Every part, with a number for each test row.

        Raises
        ------
        ValueError
            If the error is infinite.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> from sklearn.tree import ExtraTreeRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> tree = ExtraTreeRegressor()
        >>> result = dt.decompose(tree, X, X[:, 0], n_samples=30, n_data=6, progress=False)
        >>> rows = result.by_row()
        >>> bool(np.isclose(rows.sampling.mean(), result.error().sampling.value))
        True
        """
        design, error = self.design, self.error()
        f = self.predictions[:, :, : design.n_init]
        known: Mapping[str, FloatArray]
        if self.measure == "squared":
            floor = np.zeros(self.y_test.shape)
            if self.label_noise is not None:
                sigma = np.asarray(self.label_noise, dtype=float)
                wide = sigma.reshape(sigma.shape + (1,) * (floor.ndim - 1)) if sigma.ndim else sigma
                floor = floor + wide**2
            target = Target(self.y_test.ravel(), floor.ravel())
            known = products_by_row(f.reshape(*f.shape[:3], -1), {design.target: target}, design)
        elif not self._is_infinite:
            known = losses_by_row(f, {design.target: self.y_test}, design, self.measure)
        else:
            raise ValueError("measure must be finite to be split by row, got an infinite one")
        zero = np.zeros(design.n_test)
        parts: dict[str, Any] = {
            name: sum((w * known[one] for one, w in part.items() if w), start=zero)
            for name, part in self._weights().items()
            if name != "total"
        }
        missing = missing_parts(design, self.measure)
        if self.measure == "squared":
            missing = self._missing(SEQUENTIAL)
        return RowErrors(
            **parts,
            coordinates={"row": np.arange(design.n_test, dtype=np.float64)},
            includes=error.includes,
            index=range(design.n_test),
            reasons=missing,
            label=MEASURE_LABELS[self.measure],
        )


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
    return f"K = {'∞' if math.isinf(K) else f'{K:g}'}"


def draw_bars(
    bars: Sequence[tuple[str, Estimate | None, str, str]],
    confidence: float,
    axes: Any = None,
    label: str = "squared error",
) -> Any:
    """Horizontal bars (label, estimate, color, hatch) with intervals, the first one on top.

    A bar without an estimate is left empty.
    """
    if axes is None:
        pyplot = require("matplotlib.pyplot", "figures")
        axes = pyplot.figure(figsize=(6.0, 3.2), layout="constrained").add_subplot()
    for row, (_, part, color, hatch) in enumerate(bars):
        if part is None:
            axes.barh(row, 0.0, height=0.7)
            continue
        if math.isinf(part.value):
            axes.text(0.0, row, "  ∞", va="center")
            continue
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
    axes.set_xlabel(label)
    axes.set_title(f"whiskers: {confidence:.0%} intervals", fontsize="small", loc="right")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
