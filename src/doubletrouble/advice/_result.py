"""The result of `advise`: the options, and the reasons for the choice."""

import json
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from doubletrouble.advice._cost import Cost
from doubletrouble.advice._equality import helps, less
from doubletrouble.advice._marginal import MarginalValue
from doubletrouble.advice._option import AdviceOption
from doubletrouble.advice._reasons import reasons
from doubletrouble.advice._table import bars, ratio, table
from doubletrouble.advice._units import Units
from doubletrouble.advice._words import MEANINGS, said

_DIGITS = 1e15  # larger numbers of models are not exact to the last digit


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """The exact error now, after every single change, and at its best under a budget.

    `advice["widen"]` is one of the changes by name; `print(advice)` shows everything.
    """

    now: AdviceOption
    changes: tuple[AdviceOption, ...]
    best: AdviceOption  # P, K and λ under the budget
    best_at_this_ridge: AdviceOption  # P and K under it, λ as it is
    many_at_best_width: AdviceOption  # K → ∞ on all data, λ as it is
    marginal: MarginalValue  # the value of one more sample, and of one more feature
    budget: float
    cost: Cost  # what the budget is of
    dim: float | None = None  # D, where P and N are to be shown as counts

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """The reasons as text; the first one is the advice."""
        return reasons(self)

    def __getitem__(self, name: str) -> AdviceOption:
        """An option by its name."""
        options = {option.name: option for option in self.options}
        if name not in options:
            raise KeyError(f"option must be one of {', '.join(options)}, got {name!r}")
        return options[name]

    @property
    def options(self) -> tuple[AdviceOption, ...]:
        """Now, every change, and the best allocations, in the order of the table."""
        return (
            self.now,
            *self.changes,
            self.many_at_best_width,
            self.best_at_this_ridge,
            self.best,
        )

    @property
    def choice(self) -> AdviceOption:
        """The single change after which the error is least; `now` where none takes 1 % of it away.

        Of equal ones the cheaper: the ridge, then the features, then the samples. Infinitely
        many models are not among the choices.
        """
        names = ("regularize", "widen", "ensemble", "divide", "collect")
        least = self.now
        for option in (self[name] for name in names):
            if less(option.total, least.total):
                least = option
        return least if helps(least.total, self.now.total) else self.now

    @property
    def prefers_narrow(self) -> bool:
        """Whether the best width of infinitely many models is below the threshold, P < N.

        Without ridge they do if and only if (τ² + F⋆²)/F² > μ⋆²/μ₁²: the nonlinear part of the
        teacher acts as noise.
        """
        many = self.many_at_best_width
        return (many.ideal or many).width < many.samples

    @property
    def reason(self) -> str:
        """The reasons as one paragraph."""
        return " ".join(self.reasons)

    def table(self) -> str:
        """One line an option: error, P, K, λ, its cost and its parts."""
        return table(self)

    def bars(self) -> str:
        """The error of every option as a row of letters, one letter for each cause."""
        return bars(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for programs: infinite numbers are "inf" and "-inf", as strict JSON needs."""
        units = Units.of(self.now.problem, self.dim)
        found = {
            "unit": "one" if units.features == "P" else "dimension",  # of features and samples
            "budget": units.shown(self.budget, self.cost),
            "cost": self.cost,
            "choice": self.choice.name,
            "prefers_narrow": self.prefers_narrow,
            "options": [_row(option, self.now, units) for option in self.options],
            "marginal": {
                **{
                    f.name: getattr(self.marginal, f.name) / units.scale
                    for f in fields(MarginalValue)
                },
                "features_per_sample": self.marginal.features_per_sample,
            },
            "reasons": list(self.reasons),
        }
        strict: dict[str, Any] = _strict(found)
        return strict

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def plot(self, axes: Any = None) -> Any:
        """Draw the error of every option as a bar of its parts; return the axes.

        >>> import matplotlib, doubletrouble as dt
        >>> matplotlib.use("Agg")
        >>> dt.advise(dt.Problem()).plot().get_xlabel()
        'test error'
        """
        from doubletrouble.advice._drawing import draw

        return draw(self, axes)

    def __str__(self) -> str:
        """The table, and the reasons."""
        return "\n".join([self.table(), "", *self.reasons])

    def __repr__(self) -> str:
        """The errors."""
        shown = ", ".join(f"{option.name}={said(option.total, 4)}" for option in self.options)
        return f"Advice({shown})"


def _row(option: AdviceOption, now: AdviceOption, units: Units) -> dict[str, Any]:
    """One option in plain numbers; ideal ones are the best of ratios, before rounding to counts."""
    ideal = option.ideal or option
    return {
        "name": option.name,
        "label": option.label,
        "features": option.width * units.scale,
        "samples": option.samples * units.scale,
        "n_members": _whole(option.n_members),
        "scheme": option.scheme,
        "ridge": option.ridge,
        "total_features": units.shown(option.features, "features"),
        "training_cost": units.shown(option.training, "training"),
        "relative_features": ratio(option.features, now.features),
        "relative_training": ratio(option.training, now.training),
        **{f"error_{name}": getattr(option.error, name) for name in MEANINGS},
        "error_total": option.total,
        "ideal_features": ideal.width * units.scale,
        "ideal_n_members": _whole(ideal.n_members),
        "ideal_error_total": ideal.total,
    }


def _whole(members: float) -> float:
    """A number without decimals, if all its digits are meant."""
    return int(members) if members < _DIGITS else members


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _strict(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_strict(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
