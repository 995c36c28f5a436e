"""The result of `advise`: a table of options, the best change as text, JSON and a plot."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import numpy as np

from doubletrouble._display import strict_json
from doubletrouble.advice._options import (
    DATA,
    DIVIDED,
    FEATURES,
    MODELS,
    RIDGE,
    AdviceOption,
    changed,
    is_whole,
    less,
    n_features_of,
    n_samples_of,
    ridge_of,
    rounded,
)
from doubletrouble.costs import CostName, relative_cost
from doubletrouble.decomposition import COLORS
from doubletrouble.errors import require
from doubletrouble.palette import LABELS
from doubletrouble.problems import SpectralProblem, ridge_name
from doubletrouble.results import WORTHWHILE, aligned, by_name
from doubletrouble.theory import error_slopes

_FIGURE_SIZE = (7.5, 4.4)  # in inches
_LETTERS = {"noise": "n", "initialization": "i", "sampling": "s", "bias": "b", "bayes": "f"}
_BAR = 48  # letters
_LIMIT = 4.0  # bars are cut at this multiple of the median error
_ERRORS: dict[str, str] = {  # of classification, by measure
    "zero_one": "misclassification rate",
    "zero_one_noisy": "rate of wrong noisy labels",
    "squared": "squared error of the scores",
    "log": "log loss",
}
_EXACT = 1e15  # larger numbers of models are not exact to the last digit


@dataclass(frozen=True, kw_only=True)
class MarginalValue:
    """Decrease of the error per unit of N and of P, negative where the error increases.

    The unit is that of the problem: D samples or features for a `Problem`, one for a
    `SpectralProblem`. The derivatives are exact, and inf at a divergence; those of other losses
    than the squared loss of regression are central differences, to six digits. At the best ridge
    they are also the derivatives of the least error over all ridges.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> marginal = dt.advise(dt.Problem(features_per_dim=4.0, samples_per_dim=1.0)).marginal
    >>> round(marginal.sample_at_best_ridge, 4), round(marginal.feature_at_best_ridge, 4)
    (0.2154, 0.0204)
    """

    sample: float  # of N, at the present ridge
    feature: float  # of P, at the present ridge
    sample_at_best_ridge: float  # of N
    feature_at_best_ridge: float  # of P

    @classmethod
    def _of(cls, now: AdviceOption, best_ridge: float) -> MarginalValue:
        """Differentiate the error at the present and at the best ridge."""
        problem, ensemble, measure = now.problem, now.ensemble, now.measure
        here = error_slopes(problem, ensemble, measure)
        best = error_slopes(changed(problem, ridge=best_ridge), ensemble, measure)
        return cls(
            sample=0.0 - float(here.by_n_samples),
            feature=0.0 - float(here.by_n_features),
            sample_at_best_ridge=0.0 - float(best.by_n_samples),
            feature_at_best_ridge=0.0 - float(best.by_n_features),
        )

    @property
    def features_per_sample(self) -> float:
        """Number of features, of every model, with the value of one sample at the best ridge.

        0 where samples have no value, inf where only features have none, 1 where both are infinite.
        """
        sample, feature = self.sample_at_best_ridge, self.feature_at_best_ridge
        if sample <= 0:
            return 0.0
        if sample == feature:
            return 1.0
        return sample / feature if feature > 0 else math.inf


@dataclass(frozen=True, kw_only=True, repr=False)
class Advice:
    """The exact error now, after every single change, and at its best under a budget.

    `advice["2x features"]` is an option by name; `print(advice)` shows the table and the summary.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> advice = dt.advise(dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5))
    >>> wide = advice["2x features"]
    >>> wide.problem.features_per_dim, round(wide.total, 3)
    (2.4, 1.761)
    """

    now: AdviceOption  # the present setting
    changes: tuple[AdviceOption, ...]  # every single change
    best: AdviceOption  # P, K and λ under the budget
    best_at_this_ridge: AdviceOption  # P and K under the budget, at the present λ
    many_at_best_features: AdviceOption  # K → ∞ on all data, at the present λ
    marginal: MarginalValue  # the value of one more sample, and of one more feature
    budget: float  # the largest cost
    cost: CostName  # what the budget limits
    dim: float | None = None  # D, if P and N are shown as counts
    frontier: AdviceOption | None = None  # n ≤ N, P, K and λ at the present cost of training

    def __getitem__(self, name: str) -> AdviceOption:
        """An option by its name."""
        return by_name("option", {one.name: one for one in self.options}, name)

    @property
    def options(self) -> tuple[AdviceOption, ...]:
        """All options in the order of the table: now, the changes, the best allocations."""
        best = (self.many_at_best_features, self.best_at_this_ridge, self.best)
        frontier = () if self.frontier is None else (self.frontier,)
        return (self.now, *self.changes, *best, *frontier)

    @property
    def choice(self) -> AdviceOption:
        """The finite change of least error; `now` if none removes 1 % of the error.

        Of equal ones the cheapest: the ridge, then features, then samples. K → ∞ is not finite.
        """
        least = self.now
        for name in (RIDGE, FEATURES, MODELS, DIVIDED, DATA):
            if less(self[name].total, least.total):
                least = self[name]
        return least if least.total <= (1 - WORTHWHILE) * self.now.total else self.now

    @property
    def prefers_few_features(self) -> bool:
        """Whether the best P of infinitely many models is below the threshold, P < N.

        Without ridge, it is if and only if (τ² + F⋆²)/F² > μ⋆²/μ₁²: the nonlinear part of the
        teacher acts as noise.
        """
        many = self.many_at_best_features
        return n_features_of((many.ideal or many).problem) < n_samples_of(many.problem)

    @property
    def summary(self) -> str:
        """The best change, its error and its cost, as text."""
        now, choice = self.now, self.choice
        if choice is now:
            error = f"{self._error} of {rounded(now.total)}"
            return f"No finite single change reduces the {error} by 1 % or more."
        ridge = (
            f" ({self._ridge} = {rounded(ridge_of(choice.problem))})"
            if choice.name == RIDGE
            else ""
        )
        costs = {
            "features": relative_cost(choice.total_features, now.total_features),
            "samples": relative_cost(n_samples_of(choice.problem), n_samples_of(now.problem)),
            "training": relative_cost(choice.training_cost, now.training_cost),
        }
        paid = ", ".join(f"{name} ×{rounded(value)}" for name, value in costs.items() if value != 1)
        return (
            f"Of the finite single changes, {choice.name}{ridge} reduces the {self._error} most, "
            f"from {rounded(now.total)} to {rounded(choice.total)} ({paid or 'at no cost'})."
        )

    def table(self, text: Callable[[str], str] = str) -> str:
        """Return the table of all options.

        Parameters
        ----------
        text : callable, default: str
            Replaces characters of a cell, such as those outside an encoding.

        Returns
        -------
        str
            One line per option: error, P, N, K, λ, and the costs relative to now.
        """
        per = "" if self._is_counted else "/D"
        head = ("option", "error", f"P{per}", f"N{per}", "K", self._ridge, "features", "training")
        rows = [[*map(text, row)] for row in (head, *map(self._cells, self.options))]
        return aligned(rows, "<" + ">" * len(head[1:]))

    def bars(self, text: Callable[[str], str] = str) -> str:
        """Return the errors of all options as rows of letters, one letter for each part.

        Parameters
        ----------
        text : callable, default: str
            Replaces characters of a name, such as those outside an encoding.

        Returns
        -------
        str
            One line per option, and a line with the letters of the parts.
        """
        limit, labels = bar_limit(self), [text(option.name) for option in self.options]
        size, lines = max(map(len, labels)), []
        for option, label in zip(self.options, labels, strict=True):
            row, end = "", 0.0
            for name, length in bar_lengths(option, limit).items():
                end += length
                row += _LETTERS[name] * (round(_BAR * end / limit) - len(row))
            cut = "…" if option.total > limit else ""
            lines.append(f"{label:<{size}}  {row}{cut} {rounded(option.total, 4)}")
        letters = (f"{_LETTERS[name]} {LABELS[name].lower()}" for name in self._parts)
        return "\n".join([*lines, ", ".join(letters)])

    def plot(self, axes: Any = None) -> Any:
        """Draw the error of every option as a bar of its parts.

        Bars much longer than the median are cut at the end of the axis and marked by a gap.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib, doubletrouble as dt
        >>> matplotlib.use("Agg")
        >>> dt.advise(dt.Problem(features_per_dim=3.0, noise=0.1)).plot().get_xlabel()
        'test error'
        """
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            axes = pyplot.figure(figsize=_FIGURE_SIZE, layout="constrained").add_subplot()
        limit = bar_limit(self)
        lengths = [bar_lengths(option, limit) for option in self.options]
        rows, left = np.arange(len(lengths)), np.zeros(len(lengths))
        for name in self._parts:
            part, (color, hatch) = np.array([each[name] for each in lengths]), COLORS[name]
            style = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.0}
            axes.barh(rows, part, left=left, height=0.7, label=LABELS[name].lower(), **style)
            left += part
        for row, option in enumerate(self.options):
            axes.text(left[row], row, f" {rounded(option.total)}", va="center", fontsize="small")
            if option.total > limit:  # a slanted gap
                gap = limit * np.array([0.96, 0.97, 0.985, 0.975])
                axes.fill(gap, row + 0.4 * np.array([1, -1, -1, 1]), color=axes.get_facecolor())
        for end in (1, 1 + len(self.changes)):  # now; single changes; best allocations
            axes.axhline(end - 0.5, color="#999999", linewidth=0.6, linestyle=(0, (4, 3)))
        axes.set_yticks(rows, [option.name for option in self.options])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0.0, 1.12 * limit)
        cut = any(option.total > limit for option in self.options)
        error = "test error" if self._error == "error" else self._error
        axes.set_xlabel(f"{error} (bars with a gap are cut)" if cut else error)
        axes.spines[["top", "right"]].set_visible(False)
        if self._parts:
            anchor = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0)}
            axes.legend(**anchor, ncols=5, frameon=False, fontsize="small")
        return axes

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, for programs.

        Returns
        -------
        dict
            Infinite numbers are "inf" and "-inf", as strict JSON needs.
        """
        values: dict[str, Any] = strict_json(
            {
                "unit": "one" if self._is_counted else "dimension",  # of features and samples
                "budget": self.budget * self._unit(self.cost),
                "cost": self.cost,
                "error": self._error,
                "choice": self.choice.name,
                "prefers_few_features": self.prefers_few_features,
                "options": [self._row(option) for option in self.options],
                "marginal": {
                    **{n: value / self._scale for n, value in asdict(self.marginal).items()},
                    "features_per_sample": self.marginal.features_per_sample,
                },
                "summary": self.summary,
            }
        )
        return values

    def to_json(self) -> str:
        """Return the numbers of `to_dict` as JSON.

        Returns
        -------
        str
            The text, indented.
        """
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the table of all options, the numbers of `to_dict`.

        Returns
        -------
        pandas.DataFrame
            A row per option.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        rows = [self._row(option) for option in self.options]
        return require("pandas", "tables").DataFrame(rows)

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.summary}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.table())}</pre><p>{escape(self.summary)}</p>"

    def __repr__(self) -> str:
        totals = ", ".join(f"{option.name}={rounded(option.total, 4)}" for option in self.options)
        return f"Advice({totals})"

    @property
    def _error(self) -> str:
        """The error in words."""
        classes = getattr(self.now.problem, "task", "regression") == "classification"
        return _ERRORS[self.now.measure or "zero_one"] if classes else "error"

    @property
    def _is_counted(self) -> bool:
        """Whether features and samples are shown as counts."""
        return self.dim is not None or isinstance(self.now.problem, SpectralProblem)

    @property
    def _ridge(self) -> str:
        """The heading of the ridge in the table."""
        return "gram_ridge" if isinstance(self.now.problem, SpectralProblem) else "λ"

    @property
    def _scale(self) -> float:
        return 1.0 if self.dim is None else self.dim

    def _unit(self, cost: CostName) -> float:
        return self._scale if cost == "features" else self._scale**3

    @property
    def _parts(self) -> tuple[str, ...]:
        """The parts of the error that are not 0 everywhere."""
        return tuple(n for n in _LETTERS if any(getattr(one.error, n) for one in self.options))

    def _cells(self, option: AdviceOption) -> tuple[str, ...]:
        """One line of the table."""
        parts = "/K" if option.scheme == "divide" and option.n_members > 1 else ""
        return (
            option.name,
            rounded(option.total, 4),
            self._size(n_features_of(option.problem)),
            f"{self._size(n_samples_of(option.problem))}{parts}",
            rounded(option.n_members, 6),
            rounded(ridge_of(option.problem)),
            f"×{rounded(relative_cost(option.total_features, self.now.total_features))}",
            f"×{rounded(relative_cost(option.training_cost, self.now.training_cost))}",
        )

    def _size(self, value: float) -> str:
        """A number of features or of samples; a count with all its digits."""
        shown = value * self._scale
        whole = self._is_counted and shown >= 1 and is_whole(shown)
        return rounded(float(round(shown)), 6) if whole else rounded(shown)

    def _row(self, option: AdviceOption) -> dict[str, Any]:
        """One option for programs; `ideal_` are the numbers before rounding to counts."""
        ideal = option.ideal or option
        features, samples = (
            ("n_features", "n_samples")
            if self._is_counted
            else ("features_per_dim", "samples_per_dim")
        )
        return {
            "option": option.name,
            features: n_features_of(option.problem) * self._scale,
            samples: n_samples_of(option.problem) * self._scale,
            "n_members": _whole(option.n_members),
            "scheme": option.scheme,
            ridge_name(option.problem): ridge_of(option.problem),
            "total_features": option.total_features * self._unit("features"),
            "training_cost": option.training_cost * self._unit("training"),
            "relative_features": relative_cost(option.total_features, self.now.total_features),
            "relative_training": relative_cost(option.training_cost, self.now.training_cost),
            **{f"error_{name}": getattr(option.error, name) for name in _LETTERS},
            "error_total": option.total,
            f"ideal_{features}": n_features_of(ideal.problem) * self._scale,
            "ideal_n_members": _whole(ideal.n_members),
            "ideal_error_total": ideal.total,
        }


def bar_limit(advice: Advice) -> float:
    """The error at which bars are cut, so that the others stay visible."""
    totals = sorted(option.total for option in advice.options if math.isfinite(option.total))
    if not totals or totals[-1] == 0:
        return 1.0
    return min(totals[-1], _LIMIT * totals[len(totals) // 2] or totals[-1])


def bar_lengths(option: AdviceOption, limit: float) -> dict[str, float]:
    """The length of each part of a bar that is cut at `limit`."""
    ends = np.cumsum([getattr(option.error, name) for name in _LETTERS])
    lengths = np.diff(np.minimum(ends, limit), prepend=0.0)
    return dict(zip(_LETTERS, lengths.tolist(), strict=True))


def _whole(n_members: float) -> float:
    return int(n_members) if n_members < _EXACT else n_members
