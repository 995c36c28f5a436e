"""The decomposition of predictions: every part of the error with its standard error."""

from __future__ import annotations  # help() then shows names, not what they stand for

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from doubletrouble.decomposition import _parts as parts
from doubletrouble.decomposition._design import Design
from doubletrouble.decomposition._jackknife import Statistic, weighted_sum
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.errors import require
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.parameters import number
from doubletrouble.results import AnovaTerms, ErrorTerms, Estimate


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decomposition:
    """The squared error of a learner by cause, from predictions: `error()`, `anova()`.

    All estimates of one decomposition are of the same draws: their sums and differences have the
    standard errors of paired draws.
    """

    design: Design
    notes: tuple[str, ...]  # on what each part contains, and on standard errors
    confidence: float  # of the intervals in tables and plots
    statistics: Mapping[str, Statistic]  # the mean products behind all parts

    def error(self, ensemble: EnsembleLike = 1) -> ErrorTerms[Estimate]:
        """The error of K averaged re-initializations on the same data, in the sequential order.

        `ensemble` is K, which may be inf, or `Ensemble(K)`. Initialization falls as 1/K, and so
        does the part of noise that depends on it. Accessing a part that the design does not
        identify raises ValueError; `notes` name the part that contains it.
        """
        K = self._size(ensemble, "Decomposition.error")
        found = self._estimates(parts.sequential(self.design, K))
        total = found.pop("total", None)
        return ErrorTerms.identified(
            found, missing=self._missing(parts.SEQUENTIAL), includes=self.design.absorbed,
            total=total,
        )  # fmt: skip

    def anova(self, ensemble: EnsembleLike = 1) -> AnovaTerms[Estimate]:
        """The same error as main effects and interactions."""
        K = self._size(ensemble, "Decomposition.anova")
        found = self._estimates(parts.anova(self.design, K))
        total = found.pop("total", None)
        absorbed = dict(self.design.absorbed)
        absorbed.pop("initialization", None)  # the main effect does not depend on the labels
        return AnovaTerms.identified(
            found, missing=self._missing(parts.ANOVA), includes=absorbed, total=total
        )

    def _size(self, ensemble: EnsembleLike, function: str) -> float:
        """K; more than one member needs a second initialization."""
        K = number("ensemble", as_ensemble(ensemble, function).n_members, N_MEMBERS)
        if K > 1 and (lack := self.design.lacks("the error of an ensemble", ("init",))):
            raise ValueError(lack)
        return K

    def _estimates(self, weights: Mapping[str, parts.ProductWeights]) -> dict[str, Estimate]:
        return {
            name: Estimate.of_draws(weighted_sum(of_products, self.statistics))
            for name, of_products in weights.items()
        }

    def _missing(self, needs: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
        """Why parts are not identified, by their names."""
        reasons = {name: self.design.lacks(name, needed) for name, needed in needs.items()}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def to_frame(self) -> Any:
        """A pandas table: a row for each part and the total, then for each part of `anova`."""
        pandas = require("pandas", "tables")
        error, anova = self.error(), self.anova()
        rows = [("sequential", name, part) for name, part in error.parts.items()]
        total = math.nan
        if self.design.targets:
            rows.append(("sequential", "total", error.total))
            total = float(error.total)
        rows += [("anova", name, part) for name, part in anova.parts.items()]
        includes = {"sequential": error.includes, "anova": anova.includes}
        found = []
        for view, name, part in rows:
            interval = part.confidence_interval(self.confidence)
            found.append({
                "view": view, "part": name, "value": part.value,
                "standard_error": part.standard_error,
                "low": interval.low, "high": interval.high,
                "share": part.value / total if total > 0 else math.nan,
                "includes": includes[view].get(name, ""),
            })  # fmt: skip
        return pandas.DataFrame(found)

    def plot(self, axes: Any = None) -> Any:
        """Draw every part with its interval, and K averaged members; return the axes.

        >>> import matplotlib, numpy as np
        >>> matplotlib.use("Agg")
        >>> from doubletrouble.decomposition._predictions import decompose_predictions
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> axes = decompose_predictions(f, truth=np.zeros(50)).plot()
        >>> axes.get_xlabel()
        'squared error'
        """
        from doubletrouble.decomposition._drawing import draw

        return draw(self, axes)

    def __str__(self) -> str:
        """The parts with their shares of the total, and the notes."""
        return "\n".join([str(self.error()), *self.notes])

    def __repr__(self) -> str:
        """The parts, without the mean products behind them."""
        shown = (
            f"{name}={part.value:.4g}±{part.standard_error:.1g}"
            for name, part in self.error().parts.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"
