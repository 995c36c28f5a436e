r"""Real data: the forecast from some rows, and the held-out error of models that are then fitted.

`forecast` has n rows of a data set and no model. The held-out error is the mean over training sets
drawn from all rows: of models r and s with independent features, fitted to the same training rows,
K = 1 is the mean square of the residuals e_r and e_s on all other rows, and K → ∞ the mean of
e_r e_s, which has no variance over features.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from doubletrouble import glossary
from doubletrouble.errors import require
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable, log_grid, number_list
from doubletrouble.figures._settings import RANGE, FigureSettings, GridBounds, setting
from doubletrouble.forecasting import Forecast, forecast, standardized
from doubletrouble.parameters import FloatArray

HELD_OUT = "Markers: fitted models"
EXTRAPOLATED = "Dashed: extrapolated"
_MEMBERS = (1.0, math.inf)
_GROWTH = 2  # N/n of the forecast for more rows
_ROOM = 1.03  # above the bands
_BAND = 2  # standard errors on each side
_DASHES = (0, (3, 1.6))
_LOOKS = {
    (1, 1.0): drawing.SERIES[0],
    (1, math.inf): drawing.SERIES[1]._replace(linestyle="-"),
    (_GROWTH, 1.0): drawing.SERIES[2]._replace(linestyle="-"),
    (_GROWTH, math.inf): drawing.SERIES[3]._replace(linestyle="-", width=1.7),
}
"""By N/n and K. Dashes are for extrapolated parts."""


class RealData(NamedTuple):
    """A data set: its name, inputs, labels, and whether more rows are forecast."""

    name: str
    inputs: FloatArray  # (rows, D)
    labels: FloatArray  # (rows,) or (rows, outputs)
    grows: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastCurve:
    """The forecast along P/n at one K and N, and the held-out error at some P."""

    n_members: float
    n_samples: int  # N, of which n are known to the forecast
    ratio: FloatArray  # P/n
    total: FloatArray
    standard_error: FloatArray
    extrapolated: FloatArray  # 0 or 1
    held_out_ratio: FloatArray
    held_out: FloatArray
    held_out_error: FloatArray  # standard error of `held_out`
    forecast: FloatArray  # at `held_out_ratio`
    forecast_error: FloatArray  # standard error of `forecast`

    @property
    def z(self) -> FloatArray:
        """Standard errors between forecast and held-out error."""
        size = np.hypot(self.held_out_error, self.forecast_error)
        return np.asarray(np.abs(self.held_out - self.forecast) / size)


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastPanel:
    """The curves of one data set."""

    name: str
    dim: int
    n_known: int  # n
    curves: tuple[ForecastCurve, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastSettings(FigureSettings):
    """The settings of the figure."""

    n_samples: int = setting(300, "n", "rows from which the error is forecast")
    ridge: float = setting(1e-5, glossary.RIDGE)
    activation: str = setting("relu", "σ", "activation function")
    ratio_range: GridBounds = setting((0.1, 10.0, 81), "P/n", f"of the forecast: {RANGE}")
    fitted_ratios: Sequence[float] = setting(
        (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), "P/n", "of fitted models"
    )
    n_data: int = setting(6, "training sets", "on each of which two models are fitted")
    seed: int = setting(0, "seed", "of the random numbers")


def data_sets() -> tuple[RealData, ...]:
    """Three data sets that come with scikit-learn: a regression and two classifications."""
    datasets = require("sklearn.datasets", "estimators")
    patients, progress = datasets.load_diabetes(return_X_y=True)
    tumours, benign = datasets.load_breast_cancer(return_X_y=True)
    images, digit = datasets.load_digits(return_X_y=True)
    images = images - images.mean(axis=0)
    return (
        RealData("Diabetes", standardized(patients), standardized(progress)),
        RealData("Breast cancer", standardized(tumours), 2.0 * benign - 1.0),
        RealData("Digits", images / images.std(), np.eye(10)[digit] - 0.1, grows=True),
    )


def forecast_data(settings: ForecastSettings) -> tuple[ForecastPanel, ...]:
    """Return a panel for each data set."""
    panels = []
    for index, data in enumerate(data_sets()):
        rng = np.random.default_rng((settings.seed, index))
        n, most = settings.n_samples, len(data.inputs) * 3 // (4 * _GROWTH if data.grows else 4)
        if n > most:
            raise ValueError(f"n_samples must be at most {most} for {data.name}, got {n}")
        rows = rng.permutation(len(data.inputs))[:n]
        known = forecast(
            data.inputs[rows],
            data.labels[rows],
            scale=False,
            fit_intercept=False,
            activation=settings.activation,
            check=data.grows,  # the back-test is part of the error for more rows
            seed=settings.seed,
            progress=False,
        )
        curves = []
        for growth in (1, _GROWTH) if data.grows else (1,):
            fitted = _held_out(data, growth * n, settings, rng)
            curves += [_curve(known, K, growth * n, fitted, settings) for K in _MEMBERS]
        panels.append(
            ForecastPanel(name=data.name, dim=data.inputs.shape[1], n_known=n, curves=tuple(curves))
        )
    return tuple(panels)


def _fitted_features(settings: ForecastSettings) -> FloatArray:
    """P of the fitted models."""
    ratios = number_list("fitted_ratios", settings.fitted_ratios)
    return np.unique(np.maximum(1.0, np.round(np.multiply(ratios, settings.n_samples))))


def _held_out(
    data: RealData, n_samples: int, settings: ForecastSettings, rng: np.random.Generator
) -> dict[float, FloatArray]:
    """The held-out error by K: an array [training set, P]."""
    from doubletrouble.estimators import RandomFeaturesRidge

    def residuals(P: float, train: Any, test: Any) -> FloatArray:
        model = RandomFeaturesRidge(
            int(P),
            activation=settings.activation,
            ridge=settings.ridge,
            random_state=int(rng.integers(2**31)),
        ).fit(data.inputs[train], data.labels[train])
        off = data.labels[test] - model.predict(data.inputs[test])
        return np.asarray(off).reshape(len(test), -1)

    sizes = _fitted_features(settings)
    errors = {K: np.empty((settings.n_data, len(sizes))) for K in _MEMBERS}
    for row in range(settings.n_data):
        train, test = np.split(rng.permutation(len(data.inputs)), [n_samples])
        for column, P in enumerate(sizes):
            one, two = (residuals(P, train, test) for _ in range(2))
            errors[1.0][row, column] = (one**2 + two**2).sum(axis=1).mean() / 2
            errors[math.inf][row, column] = (one * two).sum(axis=1).mean()
    return errors


def _curve(
    known: Forecast,
    n_members: float,
    n_samples: int,
    fitted: dict[float, FloatArray],
    settings: ForecastSettings,
) -> ForecastCurve:
    """The forecast at one K and N, with the held-out errors of fitted models."""
    ratio = log_grid(settings.ratio_range, "ratio_range")
    others: dict[str, Any] = {
        "ridge": settings.ridge,
        "ensemble": n_members,
        "n_samples": n_samples,
    }
    line = known.error(n_features=ratio * settings.n_samples, **others)
    at = known.error(n_features=_fitted_features(settings), **others)
    draws = fitted[n_members]
    return ForecastCurve(
        n_members=n_members,
        n_samples=n_samples,
        ratio=ratio,
        total=np.asarray(line.total.value),
        standard_error=np.asarray(line.total.standard_error),
        extrapolated=np.asarray(line.extrapolated, dtype=float),
        held_out_ratio=_fitted_features(settings) / settings.n_samples,
        held_out=draws.mean(axis=0),
        held_out_error=draws.std(axis=0, ddof=1) / math.sqrt(len(draws)),
        forecast=np.asarray(at.total.value),
        forecast_error=np.asarray(at.total.standard_error),
    )


def table(panels: Sequence[ForecastPanel]) -> PanelTable:
    """Return the numbers drawn: forecasts, then held-out errors, with numbers for the data sets."""
    blocks: list[dict[str, Any]] = []
    for number, panel in enumerate(panels, start=1):
        for curve in panel.curves:
            keys = {"data_set": number, "n_samples": curve.n_samples, "n_members": curve.n_members}
            blocks.append(
                {
                    **keys,
                    "features_per_sample": curve.ratio,
                    "forecast": curve.total,
                    "forecast_error": curve.standard_error,
                    "extrapolated": curve.extrapolated,
                }
            )
            blocks.append(
                {
                    **keys,
                    "features_per_sample": curve.held_out_ratio,
                    "forecast": curve.forecast,
                    "forecast_error": curve.forecast_error,
                    "held_out": curve.held_out,
                    "held_out_error": curve.held_out_error,
                }
            )
    return PanelTable.stack(*blocks)


def draw_panel(axes: "drawing.Axes", panel: ForecastPanel) -> None:
    """Draw the forecasts with bands, and the held-out errors with bars."""
    drawing.log_axes(axes, panel.curves[0].ratio, xlabel="Features per row, $P/n$", room=1.12)
    axes.set_yscale("linear")
    for curve in panel.curves:
        growth = curve.n_samples // panel.n_known
        look = _LOOKS[growth, curve.n_members]
        rows = "" if growth == 1 else f", $N={growth}n$"
        band = _BAND * curve.standard_error
        axes.fill_between(
            curve.ratio,
            curve.total - band,
            curve.total + band,
            color=look.color,
            alpha=0.13,
            linewidth=0,
        )
        beyond = curve.extrapolated > 0
        first = int(np.argmax(beyond)) if beyond.any() else len(beyond)
        axes.plot(
            curve.ratio[: first + 1],
            curve.total[: first + 1],
            label=drawing.members_label(curve.n_members) + rows,
            markevery=[],
            **look.line,
            **look.data,
        )
        axes.plot(curve.ratio[first:], curve.total[first:], **look.line | {"linestyle": _DASHES})
        error = curve.held_out_error
        drawing.points_with_bars(
            axes, curve.held_out_ratio, curve.held_out, error, look, markersize=4.4
        )
    tops = [float((c.total + _BAND * c.standard_error).max()) for c in panel.curves]
    axes.set_ylim(0.0, _ROOM * max(tops))
    grows = len(panel.curves) > len(_MEMBERS)
    drawing.threshold(axes, 1.0, "$P=n$", align="right" if grows else "center")
    if grows:
        drawing.threshold(axes, float(_GROWTH), f"$P={_GROWTH}n$", align="left")


def plot(panels: Sequence[ForecastPanel]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=3.7) as figure:
        row = figure.subplots(1, len(panels))
        for index, (axes, panel) in enumerate(zip(row, panels, strict=True)):
            draw_panel(axes, panel)
            name = f"({chr(ord('a') + index)}) {panel.name}, $D={panel.dim}$"
            axes.set_title(name, loc="left", pad=18)  # above the names of thresholds
            axes.set_ylabel(drawing.ERROR if index == 0 else "")
        look = {"linestyle": "none", "marker": "o", "markerfacecolor": "white"}
        drawing.legend_line(row[0], HELD_OUT, color=drawing.INK, **look)
        drawing.legend_line(row[-1], EXTRAPOLATED, color=drawing.INK, linestyle=_DASHES)
        drawing.figure_legend(figure, ncols=3)
    return figure


def comparisons(panels: Sequence[ForecastPanel]) -> tuple[agreement.Agreement, ...]:
    """The forecast against fitted models."""
    return tuple(
        agreement.Agreement.of(
            f"Held-out error of fitted models, {panel.name} ({panel.n_known} rows known)",
            np.concatenate([curve.z for curve in panel.curves]),
            unit=agreement.STANDARD_ERRORS,
        )
        for panel in panels
    )


FIGURE = FigureSpec(
    name="forecast",
    title="The error on real data, forecast before any model is trained",
    caption=(
        "Ridge regression on P random features, for three data sets that come with scikit-learn. "
        "Lines: the forecast from one sample of n = 300 rows, before any model is trained, with a "
        "band of two standard errors, most of which is the choice of the rows. Markers: the "
        "held-out error of models that are then fitted to training sets of the same size, with "
        "bars of two standard errors. One model (K = 1) has a peak where it has as many features "
        "as rows; the average of many models (K → ∞) has none. The forecast has both, and their "
        "distance, for a regression (a), two classes (b) and ten classes (c).\n"
        "(c) also has the forecast for twice as many training rows, N = 2n, from the same n rows: "
        "the peak moves to P = 2n. Where the line is solid, the n rows determine the forecast; "
        "where it is dashed, the spectrum is continued by a power law.\n"
        "Inputs are standardized (those of the digits have one common scale); labels are the "
        "standardized progression of the disease, ±1, and centred one-hot vectors. Fitted models "
        "are averages over training sets drawn from all rows, and are tested on the rows left "
        "out; K → ∞ is the mean product of the residuals of two models with independent features."
    ),
    alt=(
        "Three panels, test error against features per row from 0.1 to 10. Diabetes: one model "
        "rises from 0.55 to 1.3 at P = n and falls to 0.9, infinitely many rise smoothly from 0.5 "
        "to 0.8. Breast cancer: one model has a peak of 1.0 at P = n, infinitely many stay between "
        "0.2 and 0.3. Digits: a narrow peak of 1.4 at P = n for one model and a lower one, 0.55, "
        "at P = 2n for twice the rows; infinitely many models fall to 0.14 and 0.10. The markers "
        "of fitted models lie close to the lines, within the bands."
    ),
    settings=ForecastSettings(),
    data=forecast_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={"paper": {"n_data": 40, "ratio_range": (0.1, 10.0, 241)}},
)
