"""What a decomposition of predictions returns: every part with its standard error."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from doubletrouble.decomposition import parts
from doubletrouble.decomposition.design import Design
from doubletrouble.decomposition.jackknife import estimate
from doubletrouble.decomposition.products import Statistic, combine
from doubletrouble.errors import require
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.parameters import number
from doubletrouble.results import Estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class _Estimates:
    """Parts by name; asking for one that cannot be told raises a sentence."""

    design: Design
    parts: Mapping[str, Estimate]  # those that can be told; they add up to the total

    _needs: ClassVar[Mapping[str, tuple[str, ...]]]

    def _part(self, name: str) -> Estimate:
        if name not in self.parts:
            self._refuse(name, self._needs[name])
        return self.parts[name]

    def _refuse(self, name: str, needs: tuple[str, ...]) -> NoReturn:
        raise ValueError(self.design.lacks(name, needs))

    @property
    def sampling(self) -> Estimate:
        """What the draw of the training inputs adds."""
        return self._part("sampling")

    @property
    def bias(self) -> Estimate:
        """What remains when everything is averaged."""
        return self._part("bias")

    @property
    def bayes(self) -> Estimate:
        """What the noise of the test labels adds; needs truth and y_test both."""
        return self._part("bayes")


@dataclass(frozen=True, kw_only=True, eq=False)
class AnovaEstimates(_Estimates):
    """The squared error by cause, main effects and interactions apart, as in `AnovaTerms`."""

    _needs = parts.ANOVA

    @property
    def initialization(self) -> Estimate:
        """V_P: the initialization alone."""
        return self._part("initialization")

    @property
    def initialization_sampling(self) -> Estimate:
        """V_PX: initialization and inputs together."""
        return self._part("initialization_sampling")

    @property
    def noise_sampling(self) -> Estimate:
        """V_Xε: label noise seen through the inputs."""
        return self._part("noise_sampling")

    @property
    def noise_initialization_sampling(self) -> Estimate:
        """V_PXε: label noise seen through inputs and initialization."""
        return self._part("noise_initialization_sampling")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decomposition(_Estimates):
    """The squared error by cause, in the paper's sequential order, from predictions.

    Parts that cannot be told from the draws raise a sentence; `notes` says where they went.
    """

    anova: AnovaEstimates
    notes: tuple[str, ...]  # what a reader of the parts must know, a sentence each
    confidence: float  # of the intervals
    statistics: Mapping[str, Statistic]  # the mean products behind all parts

    _needs = parts.SEQUENTIAL

    @property
    def noise(self) -> Estimate:
        """What label noise of the training set adds."""
        return self._part("noise")

    @property
    def initialization(self) -> Estimate:
        """What the draw of the initialization adds."""
        return self._part("initialization")

    @property
    def total(self) -> Estimate:
        """The squared error of one learner: the sum of all parts."""
        if not self.design.targets:
            self._refuse("total", ("target",))
        return self.ensemble(1)

    @property
    def foretells_ensembles(self) -> bool:
        """Whether the error of K > 1 averaged members can be told."""
        return self.design.lacks("ensemble", ("target", "init")) is None

    def ensemble(self, n_members: float) -> Estimate:
        """The squared error of K averaged re-initializations on the same data; K may be inf.

        Initialization falls as 1/K, and so does that part of noise which depends on it.
        """
        K = number("n_members", n_members, N_MEMBERS)
        needs = ("target",) if K == 1 else ("target", "init")
        if self.design.lacks("ensemble", needs):
            self._refuse("the error of an ensemble", needs)
        weights = parts.ensemble(self.design, K)
        return estimate(combine(weights, self.statistics), confidence=self.confidence)

    @property
    def rows(self) -> dict[str, Estimate]:
        """Every part, and the total where it is known."""
        return {**self.parts, **({"total": self.total} if self.design.targets else {})}

    def label(self, name: str) -> str:
        """The name of a part, with what else it contains."""
        more = self.design.absorbed.get(name)
        return f"{name} + {more}" if more else name

    def table(self) -> str:
        """One line a part: the value, its standard error and its share of the total."""
        rows, total = self.rows, self.rows.get("total")
        wide = max(14, *(len(self.label(name)) for name in rows))
        lines = [f"{'part':<{wide}} {'value':>12}   {'± SE':<8} {'share':>7}".rstrip()]
        for name, part in rows.items():
            share = f"{part.value / total.value:7.1%}" if total and total.value > 0 else ""
            shown = f"{part.value:12.6g} ± {part.standard_error:<8.2g} {share}"
            lines.append(f"{self.label(name):<{wide}} {shown}".rstrip())
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """A pandas table: a row for each part, the total and the parts of `anova`."""
        pandas = require("pandas", "tables")
        views = {"sequential": self.rows, "anova": self.anova.parts}
        total, absorbed = self.rows.get("total"), self.design.absorbed
        alone = ("anova", "initialization")  # without what depends on the labels
        return pandas.DataFrame(
            [
                {
                    "view": view, "part": name, "value": part.value,
                    "standard_error": part.standard_error,
                    "low": part.interval.low, "high": part.interval.high,
                    "share": part.value / total.value if total and total.value > 0 else math.nan,
                    "includes": "" if (view, name) == alone else absorbed.get(name, ""),
                }
                for view, parts_ in views.items() for name, part in parts_.items()
            ]
        )  # fmt: skip

    def plot(self, axes: Any = None) -> Any:
        """Draw every part with its interval, and K averaged members; return the axes.

        >>> import matplotlib, numpy as np
        >>> matplotlib.use("Agg")
        >>> from doubletrouble.decomposition.predictions import decompose_predictions
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> axes = decompose_predictions(f, truth=np.zeros(50)).plot()
        >>> axes.get_xlabel()
        'squared error'
        """
        from doubletrouble.decomposition.drawing import draw

        return draw(self, axes)

    def __str__(self) -> str:
        """The table, and the notes."""
        return "\n".join([self.table(), *self.notes])

    def __repr__(self) -> str:
        """The parts, without what they come from."""
        shown = (
            f"{name}={part.value:.4g}±{part.standard_error:.1g}"
            for name, part in self.parts.items()
        )
        return f"Decomposition({', '.join(shown)})"
