"""The forecast error by cause, as a table and as curves; what is extrapolated is marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.palette import BLACK
from doubletrouble.parameters import FloatArray
from doubletrouble.results import ErrorTerms, Estimate, scaled_axes

_LEAST_SHOWN = 0.01  # share of the error below which parts are outside of a plot


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ForecastTerms(ErrorTerms[Estimate]):
    """The forecast error by cause; `extrapolated` is True where the rows do not determine it.

    There, functions of the population are continued below what the rows determine.
    """

    extrapolated: bool | npt.NDArray[np.bool_] = field(default=False, compare=False)
    note: str = field(default="", compare=False)  # the meaning of the part called noise

    def to_frame(self) -> Any:
        """The parts as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each point, with every part, its standard error, and the mark `extrapolated`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        frame = super().to_frame().drop(columns="total_status", errors="ignore")
        frame["extrapolated"] = np.ravel(self.extrapolated)
        return frame

    def _draw_curves(self, axes: Any) -> None:
        """Lines with bands of one standard error; dashed where extrapolated."""
        (count,) = self.shape
        varying = {k: v for k, v in self._coordinates().items() if np.shape(v) == (count,)}
        name, x = next(iter(varying.items()), ("point", np.arange(count)))
        marks = np.asarray(self.extrapolated)
        for part, value in self._columns().items():
            y = np.broadcast_to(value.value, (count,))
            if not np.any(y):
                continue
            style = {"color": self._colors.get(part, BLACK), "label": self._label(part)}
            _draw_line(axes, x, y, marks, linewidth=2.0 if part == "total" else 1.3, **style)
            error = np.broadcast_to(value.standard_error, (count,))
            if part == "total":
                axes.fill_between(x, y - error, y + error, color=BLACK, alpha=0.15, linewidth=0)
        finish_axes(axes, name, np.asarray(x), marks)
        least = _LEAST_SHOWN * float(np.min(self.total.value))
        axes.set_ylim(bottom=max(least, axes.get_ylim()[0]))

    def _draw_family(self, axes: Any) -> None:
        """Totals, a line for each row; dashed where extrapolated."""
        varying = {k: np.broadcast_to(v, self.shape) for k, v in self._coordinates().items()}
        along = {k: v[0] for k, v in varying.items() if np.ptp(v[0]) > 0}
        name, x = next(iter(along.items()), ("point", np.arange(self.shape[1])))
        totals = np.broadcast_to(self.total.value, self.shape)
        for row, marks in enumerate(np.asarray(self.extrapolated)):
            labels = (f"{k} = {v[row, 0]:.4g}" for k, v in varying.items() if k not in along)
            _draw_line(axes, x, totals[row], marks, color=f"C{row % 10}", label=", ".join(labels))
        finish_axes(axes, name, np.asarray(x), self.extrapolated)


def _draw_line(
    axes: Any,
    x: npt.ArrayLike,
    y: FloatArray,
    marks: npt.NDArray[np.bool_],
    *,
    label: str,
    **style: Any,
) -> None:
    """A line, dashed at the marks and between them and their neighbours."""
    dashed = marks.copy()
    dashed[1:] |= marks[:-1]
    dashed[:-1] |= marks[1:]
    if not marks.all():
        axes.plot(x, np.where(marks, np.nan, y), linestyle="-", label=label, **style)
    if marks.any():
        own = label if marks.all() else None
        axes.plot(x, np.where(dashed, y, np.nan), linestyle=(0, (3, 2)), label=own, **style)


def finish_axes(axes: Any, name: str, x: FloatArray, marks: npt.ArrayLike) -> None:
    """Axes, labels and a legend."""
    if np.any(marks):
        axes.set_title("dashed: extrapolated", fontsize="small", loc="right")
    names = {"n_features": "random features P", "n_samples": "rows N"}
    scaled_axes(axes, names.get(name, name), x, "squared error")
