"""What each change of a model brings, by a forecast, and the best allocation of a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from doubletrouble.costs import Measure, cost_of, widest
from doubletrouble.errors import require
from doubletrouble.results import ErrorTerms, Estimate

if TYPE_CHECKING:
    from doubletrouble.forecasting._result import Forecast

_WIDTHS = 60  # of the search for the best allocation
_MEMBERS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)
_WIDEST = 1e3  # finite width of the search, in multiples of the rows
_COARSER = 3  # step in the grid of ridges
MANY, RIDGE = "∞ models", "best ridge"
"""Names of two changes."""
_WORTH = 0.01  # the least gain that is recommended


@dataclass(frozen=True, kw_only=True)
class ForecastOption:
    """One model: its width, ridge, number of models and of rows, and its forecast error."""

    name: str
    width: float
    ridge: float
    n_members: float
    n_samples: float
    error: ErrorTerms[Estimate] | None = None
    gain: Estimate | None = None  # 1 - error/error now
    extrapolated: bool = False

    def changed(self, name: str, **values: Any) -> ForecastOption:
        """Another model."""
        return replace(self, name=name, **values)

    @property
    def total_features(self) -> float:
        """P K."""
        return self.width * self.n_members

    @property
    def training_cost(self) -> float:
        """K N P min(N, P)."""
        return self.cost("training")

    def cost(self, measure: Measure) -> float:
        """The cost in one of the measures."""
        return cost_of(self.width, self.n_samples, self.n_members, "ensemble", measure)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForecastAdvice:
    """The forecast error now, after each change, and at the best allocation of a budget.

    `advice["2x data"]` is an option by name; `ranked` are the changes by their gain.
    """

    now: ForecastOption
    changes: tuple[ForecastOption, ...]
    best: ForecastOption
    budget: float
    cost: Measure
    confidence: float

    @classmethod
    def of(
        cls,
        forecast: Forecast,
        now: ForecastOption,
        changes: Sequence[ForecastOption],
        best: ForecastOption,
        *,
        budget: float,
        cost: Measure,
    ) -> ForecastAdvice:
        """Forecast every option."""
        base = forecast.error(now.width, now.ridge, now.n_members, now.n_samples)

        def known(option: ForecastOption) -> ForecastOption:
            error = forecast.error(option.width, option.ridge, option.n_members, option.n_samples)
            finite = math.isfinite(float(base.total)) and float(base.total) > 0
            gain = 1 - error.total / base.total if finite else None
            return replace(option, error=error, gain=gain, extrapolated=error.extrapolated)

        return cls(
            now=replace(now, error=base, extrapolated=base.extrapolated),
            changes=tuple(known(change) for change in changes),
            best=known(best),
            budget=budget,
            cost=cost,
            confidence=forecast.confidence,
        )

    @property
    def options(self) -> tuple[ForecastOption, ...]:
        """Now, the changes and the best allocation."""
        return (self.now, *self.changes, self.best)

    def __getitem__(self, name: str) -> ForecastOption:
        """An option by its name."""
        known = {option.name: option for option in self.options}
        if name not in known:
            raise KeyError(f"option must be one of {', '.join(known)}, got {name!r}")
        return known[name]

    @property
    def ranked(self) -> tuple[ForecastOption, ...]:
        """The changes, the one of least error first."""
        return tuple(sorted(self.changes, key=lambda option: _total(option)))

    @property
    def choice(self) -> ForecastOption:
        """The change of least error that can be made; `now` if none removes 1 % of the error."""
        best = next(option for option in self.ranked if option.name != MANY)
        return best if _total(best) <= (1 - _WORTH) * _total(self.now) else self.now

    @property
    def summary(self) -> str:
        """The best change as text."""
        choice = self.choice
        if choice is self.now:
            return "No single change reduces the error by 1 % or more."
        text = (
            f"Of the finite single changes, {_named(choice)} reduces the error most, from "
            f"{_total(self.now):.4g} to {_total(choice):.4g}."
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
        """A row for each option, as dictionaries."""
        rows = []
        for option in self.options:
            assert option.error is not None
            row: dict[str, Any] = {
                "option": option.name,
                "width": option.width,
                "ridge": option.ridge,
                "n_members": option.n_members,
                "n_samples": option.n_samples,
                "error": float(option.error.total),
                "error_standard_error": float(option.error.total.standard_error),
                "gain": math.nan,
                "gain_low": math.nan,
                "gain_high": math.nan,
                "extrapolated": option.extrapolated,
                "relative_features": _relative(option.total_features, self.now.total_features),
                "relative_training": _relative(option.training_cost, self.now.training_cost),
            }
            if option.gain is not None:
                low, high = option.gain.confidence_interval(self.confidence)
                # at most 1, as no error is negative; in its logarithm, errors near 0 have no bound
                row |= {"gain": float(option.gain), "gain_low": low, "gain_high": min(high, 1.0)}
            rows.append(row)
        return rows

    def to_frame(self) -> Any:
        """A pandas table with a row for each option."""
        return require("pandas", "tables").DataFrame(self.records())

    def __str__(self) -> str:
        head = ("option", "error", "gain", f"{self.confidence:.0%} interval", "P", "K", "N", "λ")
        cells = [[*head, "features", "training", ""]]
        for row in self.records():
            known = not math.isnan(row["gain"])
            cells.append(
                [
                    row["option"],
                    f"{row['error']:.4g}",
                    f"{row['gain']:+z.1%}" if known else "",
                    f"[{row['gain_low']:+z.1%}, {row['gain_high']:+z.1%}]" if known else "",
                    _count(row["width"]),
                    _count(row["n_members"]),
                    _count(row["n_samples"]),
                    f"{row['ridge']:.3g}",
                    f"×{_count(row['relative_features'])}",
                    f"×{_count(row['relative_training'])}",
                    "extrapolated" if row["extrapolated"] else "",
                ]
            )
        wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                [f"{first:<{wide[0]}}", *(f"{c:>{w}}" for c, w in zip(rest, wide[1:], strict=True))]
            ).rstrip()
            for first, *rest in cells
        ]
        return "\n".join([*lines, "", self.summary])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def allocate(
    forecast: Forecast, now: ForecastOption, budget: float, cost: Measure
) -> ForecastOption:
    """The width, number of models and ridge of least error within a budget, at the present rows."""
    N = now.n_samples
    cheapest = replace(now, width=1.0, n_members=1.0).cost(cost)
    if budget < cheapest:
        raise ValueError(f"budget must be at least {cheapest:g}, that of one feature, got {budget}")
    tops = np.floor(widest(budget, N, np.array(_MEMBERS, dtype=float), "ensemble", cost))
    grid = np.floor(np.geomspace(1, min(tops[0], _WIDEST * N), _WIDTHS))
    widths = np.unique([*grid, *tops[tops >= 1]])
    ridges = forecast.ridges(N)[::_COARSER]
    single = np.asarray(forecast.total(widths[:, None], ridges, 1, N))
    mean = np.asarray(forecast.total(widths[:, None], ridges, math.inf, N))
    totals = mean + (single - mean) / np.array(_MEMBERS)[:, None, None]  # (K, P, λ)
    totals[widths > tops[:, None]] = math.inf
    member, width, _ = np.unravel_index(int(np.argmin(totals)), totals.shape)
    best = replace(now, width=float(widths[width]), n_members=float(_MEMBERS[member]))
    options = [best, now] if now.cost(cost) <= budget else [best]
    options += [replace(o, ridge=forecast.best_ridge(o.width, o.n_members, N)) for o in options]
    least_error = min(options, key=lambda o: forecast.total(o.width, o.ridge, o.n_members, N))
    return least_error.changed("best allocation")


def _named(option: ForecastOption) -> str:
    return f"best ridge (λ = {option.ridge:.3g})" if option.name == RIDGE else option.name


def _total(option: ForecastOption) -> float:
    assert option.error is not None
    return float(option.error.total)


def _relative(cost: float, now: float) -> float:
    return 1.0 if cost == now else cost / now


def _count(value: float) -> str:
    return "∞" if math.isinf(value) else f"{value:.6g}"
