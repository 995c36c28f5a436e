"""What the rows leave open: the label noise, and the deviations that come from their choice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble._numbers import plain
from doubletrouble.estimates import ConfidenceInterval
from doubletrouble.forecasting._ridge_functions import DataRows, LeaveOneOut
from doubletrouble.parameters import FloatArray, Value

_ROUNDING = 1e-12  # relative difference of equal numbers


@dataclass(frozen=True, kw_only=True, repr=False)
class LabelNoise(Shown):
    """Standard deviation of the label noise: an estimate, and the bounds that hold for any target.

    There is no lower bound but 0: structure of the target that is too fine for the rows, or not in
    the span of the features, cannot be distinguished from noise.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 3))
    >>> noise = dt.forecast(X, X[:, 0] + 0.3 * rng.standard_normal(100), check=False).noise
    >>> round(noise.estimate, 2), round(noise.upper, 2)
    (0.26, 0.3)
    """

    estimate: float
    upper: float
    given: float | None  # by the user; the estimate is the bound where it is less
    n_samples: int  # rows that determine it

    @property
    def interval(self) -> ConfidenceInterval:
        """[0, upper]; of a given noise, the estimate twice."""
        return ConfidenceInterval(0.0 if self.given is None else self.estimate, self.upper)

    def _content(self) -> Content:
        low, high = self.interval
        columns = (
            Column(name="bound", heading="noise", form="words"),
            Column(name="value", heading="standard deviation"),
        )
        rows = [("estimate", self.estimate), ("low", low), ("high", high)]
        return Content(
            tables=[Table(name="noise", columns=columns, rows=rows)], verdict=self.verdict
        )

    @property
    def verdict(self) -> str:
        """The estimate and its bound, as text."""
        text = f"Label noise: standard deviation {plain(self.estimate)}"
        if self.given is not None and self.given > self.upper * (1 + _ROUNDING):
            return f"{text}, the largest that these rows allow; {plain(self.given)} was given."
        if self.given is not None:
            return f"{text}, as given."
        return (
            f"{text}, at most {plain(self.upper)}; it may also be structure too fine for "
            f"{self.n_samples:,} rows, or not in the span of the features."
        )

    def _picture(self) -> _plots.Picture:
        rows = [("estimate", self.estimate), ("upper bound", self.upper)]
        bars = [_plots.Bar(label=name, value=value) for name, value in rows]
        return _plots.Bars(rows=bars, xlabel="standard deviation of the label noise")


@dataclass(frozen=True, kw_only=True, eq=False)
class RowDeviations:
    """Draws of the relative deviation of the functions that comes from the choice of the rows."""

    log_kappa: FloatArray  # (m,)
    error: FloatArray  # (m, B)
    label_energy: FloatArray
    feature_error: FloatArray
    rows: str  # digest of the labels: forecasts of the same rows have the same draws

    @classmethod
    def of(
        cls, loo: LeaveOneOut, rows: DataRows, rng: np.random.Generator, n_draws: int
    ) -> RowDeviations:
        """Gaussian multipliers of the contributions of rows; those of a group share one."""
        n = len(rows)
        groups = np.arange(n) if rows.groups is None else rows.groups
        multipliers = rng.standard_normal((n_draws, int(groups.max()) + 1))
        multipliers -= multipliers.mean(axis=0)
        multipliers = multipliers[:, groups]

        def draws(rows: FloatArray, total: FloatArray, scale: Value) -> FloatArray:
            centred = rows - rows.mean(axis=0)
            return np.asarray((multipliers @ centred / total * scale).T)

        own = loo.functions
        return cls(
            log_kappa=np.log(loo.kappa),
            error=draws(loo.row_errors, n * own.error, loo.inflation),
            label_energy=draws(loo.row_label_energy, own.label_energy, 1.0),
            feature_error=draws(loo.row_feature_error, n * own.feature_error, 1.0),
            rows=hashlib.blake2b(rows.labels.tobytes(), digest_size=8).hexdigest(),
        )

    @property
    def count(self) -> int:
        """The number of draws."""
        return int(self.error.shape[1])

    def at(self, log_kappa: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The draws (B, ...) of E_∞, w and v, at the nearest nodes below and above."""
        flat = np.clip(log_kappa.ravel(), self.log_kappa[0], self.log_kappa[-1])
        index = np.clip(np.searchsorted(self.log_kappa, flat) - 1, 0, len(self.log_kappa) - 2)
        low, high = self.log_kappa[index], self.log_kappa[index + 1]
        share = ((flat - low) / (high - low))[:, None]

        def interpolated(nodes: FloatArray) -> FloatArray:
            values = (1 - share) * nodes[index] + share * nodes[index + 1]
            return np.asarray(np.moveaxis(values, -1, 0).reshape(-1, *log_kappa.shape))

        error, energy, feature = map(
            interpolated, (self.error, self.label_energy, self.feature_error)
        )
        return error, energy, feature
