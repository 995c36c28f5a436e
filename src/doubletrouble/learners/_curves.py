"""The learning curve of a diagnosis: the error by cause at several numbers of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Content, Shown, Table, table_by_point
from doubletrouble._numbers import alone, level, whole
from doubletrouble._plots import part_label
from doubletrouble.estimates import Estimate
from doubletrouble.options import Option, less
from doubletrouble.palette import EXTRAPOLATED, LAW
from doubletrouble.parameters import FloatArray
from doubletrouble.results import ErrorTerms


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearningCurve(Shown):
    """The error by cause at several numbers of rows, measured or extrapolated."""

    error: ErrorTerms[Estimate]  # arrays along `n_samples`
    present: int  # the number of rows at hand
    doubled: Option  # the error on twice the rows, and the gain
    withheld: str  # why no error beyond the rows is given, or ""
    confidence: float  # of printed intervals

    @property
    def n_samples(self) -> FloatArray:
        """The numbers of rows."""
        return np.asarray(self.error.coordinates["n_samples"])

    @property
    def verdict(self) -> str:
        """What twice the rows would change, as text."""
        rows = f"{2 * self.present:,} instead of {self.present:,} rows"
        if self.doubled.interval is None or self.doubled.gain is None:
            return f"The error on {rows} is withheld: {self.doubled.reason}."
        total = math.nan if self.doubled.error is None else self.doubled.error.total
        interval = self.doubled.interval
        gain, *ends = (less(float(one), interval) for one in (self.doubled.gain, *interval))
        return (
            f"With {rows} the error is {alone(total)}, {gain} "
            f"({level(self.confidence)} interval {' to '.join(ends)}, {self.doubled.status})."
        )

    def _table(self) -> Table:
        table, parts = table_by_point(self.error, self.confidence), self.error.parts
        columns = {column.name: column for column in table.columns}
        columns["n_samples"] = replace(columns["n_samples"], heading="rows")
        for name, part in parts.items():
            columns[name] = replace(columns[name], printed=bool(np.any(part.value)))
        return replace(table, name="learning_curve", columns=[*columns.values()], omitted="")

    def _content(self) -> Content:
        how = self.error.status.get("sampling", "")
        law = [n for n, one in zip(self.n_samples.tolist(), how, strict=False) if one == LAW]
        sizes = " to ".join(whole(n) for n in law[:1] + law[-1:])
        return Content(
            title=f"{self.error.label.capitalize()} by the number of training rows",
            tables=[self._table()],
            notes=[f"Sampling is by the overlap law at {sizes} rows."] if law else [],
            verdict=self.verdict,
            facts={"confidence": self.confidence, "withheld": self.withheld},
        )

    def _picture(self) -> _plots.Picture:
        error, n = self.error, self.n_samples
        later = np.array([status == EXTRAPOLATED for status in error.status["total"]])
        forecast = later | (n == self.present) & later.any()
        total = np.asarray(error.total.value)
        low, high = map(np.asarray, error.total.confidence_interval(self.confidence))
        lines = [
            _plots.Curve(
                label="total",
                y=np.where(later, np.nan, total),
                part="total",
                low=low,
                high=high,
                points=True,
                joined=True,
            ),
            _plots.Curve(
                label="forecast of the total" if later.any() else "",
                y=np.where(forecast, total, np.nan),
                part="total",
                low=low,
                high=high,
                extrapolated=forecast,
            ),
        ]
        lines += [
            _plots.Curve(
                label=part_label(error, name), y=part, part=name, extrapolated=later, band=False
            )
            for name, part in error.parts.items()
        ]
        return _plots.Curves(
            x=n,
            xlabel="rows N",
            lines=lines,
            ylabel=error.label,
            marks=[_plots.Mark(label=f"now ({self.present:,})", x=float(self.present))],
            note=f"more rows withheld: {self.withheld}" if self.withheld else "",
            confidence=self.confidence,
            logx=True,
            logy=False,
            baseline=error.baseline,
            baseline_label=f"predicting {error.baseline_name}",
        )
