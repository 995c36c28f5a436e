"""What each change of a model brings, by a forecast, and the best allocation of a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import Any

from doubletrouble.costs import CostName, cost_of, relative_cost
from doubletrouble.errors import require
from doubletrouble.forecasting._terms import ForecastTerms
from doubletrouble.results import WORTHWHILE, Estimate, aligned, by_name

MANY, RIDGE = "∞ models", "best ridge"
"""Names of two changes."""


@dataclass(frozen=True, kw_only=True)
class ForecastOption:
    """One model: its features, ridge, number of models and of rows, and its forecast error."""

    name: str
    n_features: float
    ridge: float
    n_members: float
    n_samples: float
    error: ForecastTerms
    gain: Estimate | None = None  # 1 - error/error now

    def __str__(self) -> str:
        models = "one model" if self.n_members == 1 else f"{self.n_members:g} models"
        model = f"{models} of P = {self.n_features:g}, λ = {self.ridge:.3g}"
        return f"{self.name}: {model}, error {self.total:.4g}"

    @property
    def total(self) -> float:
        """Total test error."""
        return float(self.error.total)

    @property
    def extrapolated(self) -> bool:
        """Whether the rows do not determine the error."""
        return bool(self.error.extrapolated)

    @property
    def total_features(self) -> float:
        """P K."""
        return self.n_features * self.n_members

    @property
    def training_cost(self) -> float:
        """K N P min(N, P)."""
        return self.cost("training")

    def cost(self, of: CostName) -> float:
        """The features of all models, or the operations of training.

        Parameters
        ----------
        of : {"features", "training"}
            P K features in total, or K N P min(N, P) operations of training.

        Returns
        -------
        float
            The cost.
        """
        return cost_of(self.n_features, self.n_samples, self.n_members, "ensemble", of)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForecastAdvice:
    """The forecast error now, after each change, and at the best allocation of a budget.

    `advice["2x data"]` is an option by name; `ranked` are the changes by their gain.
    """

    now: ForecastOption
    changes: tuple[ForecastOption, ...]
    best: ForecastOption
    budget: float
    cost: CostName
    confidence: float

    @property
    def options(self) -> tuple[ForecastOption, ...]:
        """Now, the changes and the best allocation."""
        return (self.now, *self.changes, self.best)

    def __getitem__(self, name: str) -> ForecastOption:
        """An option by its name."""
        return by_name("option", {one.name: one for one in self.options}, name)

    @property
    def ranked(self) -> tuple[ForecastOption, ...]:
        """The changes, the one of least error first."""
        return tuple(sorted(self.changes, key=lambda option: option.total))

    @property
    def choice(self) -> ForecastOption:
        """The change of least error that can be made; `now` if none removes 1 % of the error."""
        best = next(option for option in self.ranked if option.name != MANY)
        return best if best.total <= (1 - WORTHWHILE) * self.now.total else self.now

    @property
    def summary(self) -> str:
        """The best change as text."""
        choice = self.choice
        if choice is self.now:
            return "No single change reduces the error by 1 % or more."
        text = (
            f"Of the finite single changes, {_named(choice)} reduces the error most, from "
            f"{self.now.total:.4g} to {choice.total:.4g}."
        )
        sure = [one for one in self.ranked if self._is_sure(one) and one.name != MANY]
        if choice in sure or not sure:
            return text
        return f"{text} The largest gain whose interval is above 0: {_named(sure[0])}."

    def _is_sure(self, option: ForecastOption) -> bool:
        """Whether the interval of the gain is above 0."""
        gain = option.gain
        return gain is not None and bool(gain.confidence_interval(self.confidence).low > 0)

    def records(self) -> list[dict[str, Any]]:
        """The options as rows.

        Returns
        -------
        list of dict
            A row for each option: the model, its error, its gain with interval, and relative costs.
        """
        rows = []
        for option in self.options:
            row: dict[str, Any] = {
                "option": option.name,
                "n_features": option.n_features,
                "ridge": option.ridge,
                "n_members": option.n_members,
                "n_samples": option.n_samples,
                "total": option.total,
                "total_standard_error": float(option.error.total.standard_error),
                "gain": math.nan,
                "gain_low": math.nan,
                "gain_high": math.nan,
                "extrapolated": option.extrapolated,
                "relative_features": relative_cost(option.total_features, self.now.total_features),
                "relative_training": relative_cost(option.training_cost, self.now.training_cost),
            }
            if option.gain is not None:
                low, high = option.gain.confidence_interval(self.confidence)
                # at most 1, as no error is negative; in its logarithm, errors near 0 have no bound
                row |= {"gain": float(option.gain), "gain_low": low, "gain_high": min(high, 1.0)}
            rows.append(row)
        return rows

    def to_frame(self) -> Any:
        """The options as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each option.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return require("pandas", "tables").DataFrame(self.records())

    def __str__(self) -> str:
        head = ("option", "error", "gain", f"{self.confidence:.0%} interval", "P", "K", "N", "λ")
        cells = [[*head, "features", "training", ""]]
        for row in self.records():
            known = not math.isnan(row["gain"])
            cells.append(
                [
                    row["option"],
                    f"{row['total']:.4g}",
                    f"{row['gain']:+z.1%}" if known else "",
                    f"[{row['gain_low']:+z.1%}, {row['gain_high']:+z.1%}]" if known else "",
                    _count(row["n_features"]),
                    _count(row["n_members"]),
                    _count(row["n_samples"]),
                    f"{row['ridge']:.3g}",
                    f"×{_count(row['relative_features'])}",
                    f"×{_count(row['relative_training'])}",
                    "extrapolated" if row["extrapolated"] else "",
                ]
            )
        return f"{aligned(cells, '<' + '>' * len(head[1:]) + '>>>')}\n\n{self.summary}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _named(option: ForecastOption) -> str:
    return f"best ridge (λ = {option.ridge:.3g})" if option.name == RIDGE else option.name


def _count(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.6g}"
