r"""The ridge, and the width within a budget, of least forecast error.

`forecast` integrates the random features in closed form, so that its error at P, λ and K is the
mean over draws of the features, where leave-one-out is the error of the draw at hand. λ is for all
N rows of a fit, also where the forecast uses fewer of them.
"""

from dataclasses import dataclass

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.ensembles import Ensemble, Scheme
from doubletrouble.estimators._features import Seed
from doubletrouble.estimators._kernel_limit import check_kernel_range
from doubletrouble.estimators._solvers import Sample
from doubletrouble.forecasting import Forecast, forecast
from doubletrouble.parameters import FloatArray

_WIDTHS = 60  # of the search for the best width, and of its refinement


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The width and ridge of least forecast error."""

    n_features: float
    ridge: float
    forecast: Forecast
    error: float  # mean over the columns of the labels


def check_forecast(ensemble: Scheme) -> None:
    """Raise ValueError unless every member has features of its own and all rows."""
    if type(ensemble) is not Ensemble:
        raise ValueError(
            f"ensemble must be a number of models for ridge = 'forecast', got {ensemble!r}"
        )


def least_forecast_error(
    sample: Sample,
    *,
    n_features: float,
    budget: int | None,
    n_members: int,
    ridges: FloatArray | None,
    activation: Activation,
    center: bool,
    seed: Seed,
) -> Choice:
    """The choice for the rows of a sample.

    `ridges` are λ to choose from, by default a grid relative to the Gram matrix. With a `budget` of
    features P K, P is chosen too, and `n_features` is not used.
    """
    if sample.weights is not None and np.ptp(sample.weights) > 0:
        raise ValueError("sample_weight must be None or equal for ridge = 'forecast', got others")
    check_kernel_range(sample.inputs, "ridge = 'forecast'")
    known = forecast(
        sample.inputs,
        sample.labels,
        activation=activation,
        center=center,
        fit_intercept=sample.intercept,
        seed=int(seed[0]),
        check=False,
    )
    if budget is not None:
        candidates = known.ridges(sample.size) if ridges is None else ridges
        n_features = _best_width(known, budget // n_members, candidates, n_members, sample.size)
    if ridges is None:
        ridge = known.best_ridge(n_features, n_members, sample.size)
    else:
        totals = known.total(n_features, ridges, n_members, sample.size)
        ridge = float(ridges[int(np.argmin(totals))])
    total = float(known.total(n_features, ridge, n_members, sample.size))
    error = total / sample.labels.shape[1]
    return Choice(n_features=n_features, ridge=ridge, forecast=known, error=error)


def _best_width(
    known: Forecast, most: int, ridges: FloatArray, n_members: int, n_samples: int
) -> int:
    """The width up to `most` of least error, among ridges; refined between its neighbours."""
    widths = np.unique(np.geomspace(1, most, _WIDTHS).round())
    best = _least(known, widths, ridges, n_members, n_samples)
    low, high = widths[max(best - 1, 0)], widths[min(best + 1, len(widths) - 1)]
    between = np.unique(np.append(np.linspace(low, high, _WIDTHS).round(), widths[best]))
    return int(between[_least(known, between, ridges, n_members, n_samples)])


def _least(
    known: Forecast, widths: FloatArray, ridges: FloatArray, n_members: int, n_samples: int
) -> int:
    """The index of the width of least error, each at the best of the ridges."""
    totals = np.asarray(known.total(widths[:, None], ridges, n_members, n_samples))
    return int(np.argmin(totals.min(axis=1)))
