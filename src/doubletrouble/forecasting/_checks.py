"""Checks of a forecast on the data themselves: which of its assumptions hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble.forecasting._population import Population
from doubletrouble.forecasting._random_features import FeatureEnergy, average_over_features
from doubletrouble.forecasting._ridge_functions import LeaveOneOut, RidgeTable
from doubletrouble.parameters import FloatArray, by_name

SPECTRUM_LIMIT = 0.05
FEATURE_LIMIT = 0.05
GCV_LIMIT = 0.1
BACK_TEST_LIMIT = 0.1
_ABOVE = 1.2  # multiples of g_min of the halves
_SIZES = (1 / 3, 1.0, 3.0)  # of drawn models, in multiples of n
_MODELS = 12  # drawn at each number of features
_STANDARD_ERRORS = 3.5  # of the mean of drawn models, beyond the limit
_TOO_WIDE = 0.2  # limit of drawn models beyond which agreement means little
_SMOOTH = 2.0  # of log g, the width of the average over the back-test
_RIDGE = 0.01  # of drawn models, in multiples of the mean of the Gram matrix's diagonal
_FINEST = 0.01  # of g at the best ridge: the least g of a comparison, if not that of _RIDGE
_NEAR_BEST = 1.05  # of the least error: ridges up to this error are best, too
_RANGE = math.log(1e4)  # of log g


@dataclass(frozen=True, kw_only=True, repr=False)
class ForecastCheck(Shown):
    """One check: its number, whether it is within the limit, and what it means.

    A check that `concerns_others` is information on other methods, and does not fail.
    """

    name: str
    value: float
    limit: float
    meaning: str
    concerns_others: bool = False

    @property
    def passed(self) -> bool:
        """Whether the number is within the limit."""
        return self.value <= self.limit

    @property
    def failed(self) -> bool:
        """Whether the check speaks against the forecast."""
        return not self.passed and not self.concerns_others

    @property
    def verdict(self) -> str:
        """The result in one word."""
        return "passed" if self.passed else "FAILED" if self.failed else "differs"

    def _content(self) -> Content:
        return Content(tables=[_table([self])], verdict=f"The check {self.verdict}.")

    def _picture(self) -> _plots.Picture:
        return _picture([self])


@dataclass(frozen=True, eq=False, repr=False)
class ForecastChecks(Shown, Mapping[str, ForecastCheck]):
    """The checks by name; they print as a table.

    Parameters
    ----------
    checks : tuple of ForecastCheck
        The checks.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> check = dt.results.ForecastCheck(
    ...     name="spectrum", value=0.01, limit=0.05, meaning="halves agree"
    ... )
    >>> checks = dt.results.ForecastChecks((check,))
    >>> checks["spectrum"].passed, checks.failed
    (True, ())
    >>> print(checks)
    check     deviation   limit  result  meaning
    spectrum     0.0100  0.0500  passed  halves agree
    Every check passed.
    """

    checks: tuple[ForecastCheck, ...]

    @cached_property
    def _checks(self) -> dict[str, ForecastCheck]:
        return {check.name: check for check in self.checks}

    def __getitem__(self, name: str) -> ForecastCheck:
        return by_name("check", self._checks, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._checks)

    def __len__(self) -> int:
        return len(self._checks)

    @property
    def failed(self) -> tuple[ForecastCheck, ...]:
        """The checks that speak against the forecast."""
        return tuple(check for check in self.values() if check.failed)

    @property
    def verdict(self) -> str:
        """How many checks passed, and which did not."""
        if not self:
            return "No checks were run."
        failed = [check.name for check in self.failed]
        others = [check.name for check in self.values() if not (check.passed or check.failed)]
        text = "Every check passed."
        if failed:
            text = f"{len(failed)} of {len(self)} checks failed: {', '.join(failed)}."
        elif others:
            text = "All checks of this forecast passed."
        return text + "".join(f" {name} concerns other methods only." for name in others)

    def _content(self) -> Content:
        return Content(tables=[_table(list(self.values()))], verdict=self.verdict)

    def _picture(self) -> _plots.Picture:
        return _picture(list(self.values()))


def _table(checks: Sequence[ForecastCheck]) -> Table:
    """A row for each check."""
    columns = (
        Column(name="check", form="words"),
        Column(name="value", heading="deviation"),
        Column(name="limit"),
        Column(name="passed", form="words", printed=False),
        Column(name="result", form="words"),
        Column(name="meaning", form="words"),
    )
    rows = [[c.name, c.value, c.limit, c.passed, c.verdict, c.meaning] for c in checks]
    return Table(name="checks", columns=columns, rows=rows)


def _picture(checks: Sequence[ForecastCheck]) -> _plots.Picture:
    bars = [
        _plots.Bar(label=f"{check.name}: {check.verdict}", value=check.value / check.limit)
        for check in checks
    ]
    return _plots.Bars(
        rows=bars,
        xlabel="deviation, in multiples of the limit",
        marks=[_plots.Mark(label="limit", x=1.0)],
    )


def least_resolution(loo: LeaveOneOut, whole: Population) -> float:
    """Log g of the smallest ridge for which forecasts are checked.

    In one to three dimensions, a smooth kernel has a g_min many decades below that of any useful
    ridge, and the functions there are those of a few outer rows. The least g is that of 1% of the
    best ridge or of the mean variance of a feature, whichever is smaller.
    """
    error = loo.functions.error
    best = np.log(loo.kappa[np.flatnonzero(error <= _NEAR_BEST * error.min())[-1]])
    small = whole.log_g[-1] + whole.log_z[-1] + math.log(_RIDGE)  # s(κ → ∞) is the diagonal
    at_best, at_small = np.interp([best, small], whole.log_kappa, whole.log_g)
    return float(min(at_best + math.log(_FINEST), at_small))


def spectrum_check(whole: Population, halves: list[Population], least: float) -> ForecastCheck:
    """Whether halves of the rows and all of them have one spectrum z(g), from log g = `least`.

    Deviations of z are relative to the rows, as they affect a forecast through N - z: with few
    distinct rows, z is small. The largest of every half is averaged over halves: rare directions
    are in one half and not in the other, so that their deviations have opposite signs.
    """
    largest = []
    for half in halves:
        low = max(half.log_g_min + math.log(_ABOVE), least)
        g = np.linspace(low, low + _RANGE, 120)
        largest.append(np.abs(half.z(g) - whole.z(g)).max() / half.n_samples)
    value = float(np.mean(largest))
    return ForecastCheck(
        name="spectrum",
        value=value,
        limit=SPECTRUM_LIMIT,
        meaning=(
            "half of the rows and all of them have the same spectrum"
            if value <= SPECTRUM_LIMIT
            else "half of the rows have another spectrum than all (directions of the inputs that "
            "few rows have): forecasts for more rows than these are unreliable at small ridge"
        ),
    )


def feature_check(
    rows: RidgeTable,
    energy: FeatureEnergy,
    features: Any,
    labels: FloatArray,
    mean_diagonal: float,
    rng: np.random.Generator,
) -> ForecastCheck:
    """Whether drawn models agree with the forecast for the same rows, by leave-one-out."""
    n, ridge = len(labels), _RIDGE * mean_diagonal
    found = []
    for share in _SIZES:
        P = max(1, round(share * n))
        average = average_over_features(rows, energy, np.array(float(P)), np.array(ridge))
        predicted = float(average.functions.error + average.variance)
        drawn = []
        for _ in range(_MODELS):
            z = features(P, rng)  # (n, P)
            inverse = np.linalg.inv(z @ z.T / P + ridge * np.eye(n))
            residual = inverse @ labels / np.diagonal(inverse)[:, None]
            drawn.append(float(np.square(residual).sum(axis=1).mean()))
        error = float(np.log(drawn).std(ddof=1)) / math.sqrt(_MODELS)
        off = abs(math.log(float(np.mean(drawn)) / predicted))
        found.append((off, _STANDARD_ERRORS * error + FEATURE_LIMIT))
    worst, limit = max(found, key=lambda pair: pair[0] - pair[1])
    if worst > limit:
        meaning = (
            "drawn models have another error than forecast on the same rows: the variance over "
            "features is unreliable"
        )
    elif limit > _TOO_WIDE:
        meaning = "drawn models vary too much to tell whether they have the forecast error"
    else:
        meaning = "drawn models have the forecast error on the same rows"
    return ForecastCheck(name="features", value=worst, limit=limit, meaning=meaning)


def gcv_check(loo: LeaveOneOut) -> ForecastCheck:
    """The largest logarithm of leave-one-out over generalized cross-validation, in magnitude."""
    value = float(np.abs(np.log(loo.functions.error / loo.gcv)).max())
    return ForecastCheck(
        name="loo_over_gcv",
        value=value,
        limit=GCV_LIMIT,
        meaning=(
            "generalized cross-validation agrees with leave-one-out"
            if value <= GCV_LIMIT
            else "no failure: generalized cross-validation, which this forecast does not use, is "
            "off by this much, as some rows have high leverage"
        ),
        concerns_others=True,
    )


def back_test(whole: RidgeTable, halves: list[Population]) -> tuple[FloatArray, FloatArray]:
    """The forecast of all rows from each half against leave-one-out.

    Returns log g/g_min of the half, and the error of the logarithm of the error there: the mean
    over halves with its sign, in which the choice of rows of the two halves cancels, as a
    root mean square over neighbouring g.
    """
    ratio = np.linspace(math.log(0.2), _RANGE, 100)
    offs = []
    for half in halves:
        grown = half.at_size(whole.n_samples)
        assert grown.log_g is not None
        kappa = np.interp(half.log_g_min + ratio, grown.log_g, grown.log_kappa)
        offs.append(np.log(grown.at(kappa).error / whole.at(kappa).error))
    weights = np.exp(-0.5 * np.square((ratio[:, None] - ratio) / _SMOOTH))
    square = np.square(np.mean(offs, axis=0))
    return ratio, np.sqrt(weights @ square / weights.sum(axis=1))


def back_test_check(
    ratio: FloatArray, errors: FloatArray, halves: list[Population], least: float
) -> ForecastCheck:
    """The error of forecasting all rows from half of them, where the half determines it.

    As in `spectrum_check`, from log g = `least`.
    """
    low = max(0.0, least - float(np.mean([half.log_g_min for half in halves])))
    value = float(errors[ratio >= min(low, float(ratio[-1]))].mean())
    return ForecastCheck(
        name="back_test",
        value=value,
        limit=BACK_TEST_LIMIT,
        meaning=(
            "half of the rows forecast the error of all"
            if value <= BACK_TEST_LIMIT
            else "forecasts of all rows from half of them are off by this much; it is part of the "
            "standard error of forecasts for more rows"
        ),
    )
