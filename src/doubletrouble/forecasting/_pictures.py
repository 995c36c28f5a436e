"""Pictures of a forecast: the error along a setting, and over features and ridge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from doubletrouble import _plots
from doubletrouble._numbers import plain, whole
from doubletrouble.estimates import Estimate
from doubletrouble.glossary import axis_label
from doubletrouble.options import MANY
from doubletrouble.palette import BLACK
from doubletrouble.parameters import FloatArray
from doubletrouble.results import ErrorTerms

if TYPE_CHECKING:
    from doubletrouble.forecasting._result import Forecast

_SPAN = 10.0  # P, from the rows over it to the rows times it
_COUNT = 81  # values of P of curves
_RIDGE_SPAN = 1e-4, 1e2  # λ of a map, in multiples of the best
_MAP_SIZE = 61, 49  # values of P and λ of a map


def along(f: Forecast, settings: Mapping[str, Any]) -> _plots.Picture:
    """The error at some settings; along the number of features where none is an array.

    Without any setting at the ridge of the printed forecast.
    """
    settings = settings or {"ridge": f.best_ridge()}
    if not any(np.ndim(value) for value in settings.values()):
        settings = {"n_features": _features(f, _COUNT), **settings}
    terms = f.error(**settings)
    varying = {name: np.broadcast_to(v, terms.shape) for name, v in terms.coordinates.items()}
    if _is_map(varying):
        peak = [_peak(terms.settings["n_samples"])]
        return replace(_map(terms, _plots.settings_note(terms.settings)), marks=peak)
    picture = replace(_plots.error_picture(terms), confidence=f.confidence)
    if isinstance(picture, _plots.Bars):
        return picture
    last = len(terms.shape) - 1
    name = next((name for name, value in varying.items() if _varies(value, last)), min(varying))
    picture = replace(picture, xlabel="rows N" if name == "n_samples" else axis_label(name))
    if not isinstance(picture, _plots.Curves):
        return picture
    lines = [*picture.lines]
    if "ensemble" not in settings and np.isfinite(settings.get("n_features", math.inf)).any():
        many = f._total(**settings, ensemble=math.inf)
        lines.append(_plots.Curve(label=f"total, {MANY}", y=many, color=BLACK, dotted=True))
    return replace(picture, lines=lines)


def map_around(f: Forecast, P: float, lam: float, K: float, N: float) -> _plots.Map:
    """The total over P and λ about a model, which is marked, as is the least one."""
    features = _features(f, _MAP_SIZE[0], *([P] if math.isfinite(P) else []))
    best = f.best_ridge(P, ensemble=K, n_samples=N)
    ends = [best * share for share in _RIDGE_SPAN] + ([lam] if 0 < lam < math.inf else [])
    least = 2 * f._loo.rounding * f.dim / N  # of λ, as κ is at least λ N/D
    ridges = np.geomspace(max(min(ends), least), max(ends), _MAP_SIZE[1])
    terms = f.error(n_features=features, ridge=ridges[:, None], ensemble=K, n_samples=N)
    totals = np.asarray(terms.total.value)
    row, column = np.unravel_index(int(np.argmin(totals)), totals.shape)
    lowest, where_best = (features[column], ridges[row], totals[row, column]), ""
    limit = f.best_ridge(ensemble=K, n_samples=N)
    of_limit = float(f._total(math.inf, limit, K, N))
    if column == len(features) - 1 and of_limit <= totals[row, column]:
        lowest, where_best = (features[-1], limit, of_limit), f" (P = ∞, λ = {whole(limit)})"
    outside = [
        name for name, is_outside in (("P = ∞", math.isinf(P)), ("λ = 0", not lam)) if is_outside
    ]
    where = f" ({', '.join(outside)})" if outside else ""
    points = [
        _plots.MapPoint(
            x=min(P, features[-1]),
            y=min(max(lam, ridges[0]), ridges[-1]),
            label=f"now{where}: {plain(float(f._total(P, lam, K, N)))}",
        ),
        _plots.MapPoint(
            x=lowest[0],
            y=min(max(lowest[1], ridges[0]), ridges[-1]),
            label=f"best{where_best}: {plain(lowest[2])}",
        ),
    ]
    fixed = f"K = {whole(K)}, N = {whole(N)}"
    return replace(_map(terms, fixed), points=points, marks=[_peak(N)])


def _features(f: Forecast, count: int, *others: float) -> FloatArray:
    """Values of P about the number of rows, as far as some others."""
    ends = (f.n_samples / _SPAN, f.n_samples * _SPAN, *others)
    return np.geomspace(min(ends), max(ends), count)


def _peak(x: float) -> _plots.Mark:
    return _plots.Mark(label=f"P = N = {whole(x)}", x=x)


def _varies(value: FloatArray, axis: int) -> bool:
    return bool((value != np.take(value, [0], axis=axis)).any())


def _is_map(varying: Mapping[str, FloatArray]) -> bool:
    """Whether P and λ vary along an axis each."""
    axes = [[k for k in range(value.ndim) if _varies(value, k)] for value in varying.values()]
    return varying.keys() == {"n_features", "ridge"} and sorted(axes) == [[0], [1]]


def _map(terms: ErrorTerms[Estimate], note: str) -> _plots.Map:
    """The total over P and λ, each of which varies along one axis."""
    P, ridge = (
        np.broadcast_to(terms.coordinates[name], terms.shape) for name in ("n_features", "ridge")
    )
    totals = np.asarray(terms.total.value)
    if _varies(P, 0):
        P, ridge, totals = P.T, ridge.T, totals.T
    return _plots.Map(
        x=P[0],
        y=ridge[:, 0],
        z=totals,
        xlabel=axis_label("n_features"),
        ylabel=axis_label("ridge"),
        zlabel="squared error",
        note=f"{note}; extrapolated in part" if np.any(terms.extrapolated) else note,
    )
