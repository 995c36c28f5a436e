"""The value of one more sample, and of one more feature: derivatives of the error."""

from __future__ import annotations  # help() shows names instead of unions

import math
from dataclasses import dataclass

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble._numbers import whole
from doubletrouble.advice._settings import changed, scalar
from doubletrouble.ensembles import EnsembleLike, Scheme, as_ensemble
from doubletrouble.losses import Measure
from doubletrouble.theory import AnyProblem, error_slopes, optimal_ridge


@dataclass(frozen=True, kw_only=True, repr=False)
class MarginalValue(Shown):
    """Decrease of the error per unit of N and of P, negative where the error increases.

    The unit is that of the problem: D samples or features for a `Problem`, one for a
    `SpectralProblem`. The derivatives are exact, and inf at a divergence; those of other losses
    than the squared loss of regression are central differences, to six digits. At the best ridge
    they are also the derivatives of the least error over all ridges.
    """

    sample: float  # of N, at the present ridge
    feature: float  # of P, at the present ridge
    sample_at_best_ridge: float  # of N
    feature_at_best_ridge: float  # of P

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

    def _content(self) -> Content:
        columns = (
            Column(name="one_more", form="words"),
            Column(name="at_this_ridge"),
            Column(name="at_best_ridge", heading="at the best ridge"),
        )
        rows = [
            ["sample", self.sample, self.sample_at_best_ridge],
            ["feature", self.feature, self.feature_at_best_ridge],
        ]
        worth = self.features_per_sample
        return Content(
            title="Decrease of the error per unit of samples and of features",
            tables=[Table(name="marginal", columns=columns, rows=rows)],
            verdict=f"At the best ridge one sample has the value of {whole(worth)} "
            f"feature{'s' if worth != 1 else ''}.",
            facts={"features_per_sample": worth},
        )

    def _picture(self) -> _plots.Picture:
        values = {
            "sample, at this ridge": self.sample,
            "sample, at the best ridge": self.sample_at_best_ridge,
            "feature, at this ridge": self.feature,
            "feature, at the best ridge": self.feature_at_best_ridge,
        }
        label = "decrease of the error per unit of samples or features"
        return _plots.quantity_picture(values, label)


def marginal_value(
    problem: AnyProblem, ensemble: EnsembleLike = 1, measure: Measure | None = None
) -> MarginalValue:
    """Return the decrease of the error by one more sample, and by one more feature.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        A single problem.
    ensemble : int or Ensemble or Divide, default: 1
        The present models.
    measure : None or "zero_one" or "zero_one_noisy" or "squared" or "log", default: None
        The error of classification, as for `exact_error`.

    Returns
    -------
    MarginalValue
        The derivatives with respect to N and P, at the present ridge and at the best one.

    Raises
    ------
    ValueError
        If the ensemble is not supported, or a measure is unknown.
    TypeError
        If an argument is not of the type above.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> from doubletrouble.advice import marginal_value
    >>> value = marginal_value(dt.Problem(features_per_dim=4.0, samples_per_dim=1.0))
    >>> round(value.sample_at_best_ridge, 4), round(value.feature_at_best_ridge, 4)
    (0.2154, 0.0204)
    """
    scheme = as_ensemble(ensemble, "advise")
    best_ridge = scalar(optimal_ridge(problem, scheme, measure).value)
    return marginal_at(problem, scheme, measure, best_ridge)


def marginal_at(
    problem: AnyProblem, scheme: Scheme, measure: Measure | None, best_ridge: float
) -> MarginalValue:
    """The derivatives at the present and at the best ridge."""
    here = error_slopes(problem, scheme, measure)
    best = error_slopes(changed(problem, ridge=best_ridge), scheme, measure)
    return MarginalValue(
        sample=0.0 - float(here.by_n_samples),
        feature=0.0 - float(here.by_n_features),
        sample_at_best_ridge=0.0 - float(best.by_n_samples),
        feature_at_best_ridge=0.0 - float(best.by_n_features),
    )
