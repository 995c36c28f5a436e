r"""The ridge, and the number of features within a budget, of least forecast error.

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


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The number of features and the ridge of least forecast error."""

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
        scale=False,
        fit_intercept=sample.intercept,
        activation=activation,
        center=center,
        seed=int(seed[0]),
        device="cpu",
        check=False,
        progress=False,
    )
    N, K = sample.size, n_members
    if budget is not None:
        best = known.best_allocation(budget, n_samples=N, n_members=[K], ridges=ridges)
        n_features = int(best.setting["n_features"])
    ridge = known.best_ridge(n_features, ensemble=K, n_samples=N, ridges=ridges)
    terms = known.error(n_features=n_features, ridge=ridge, ensemble=K, n_samples=N)
    error = float(terms.total) / sample.labels.shape[1]
    return Choice(n_features=n_features, ridge=ridge, forecast=known, error=error)
