"""The value of one more sample, and of one more feature."""

import math
from dataclasses import dataclass
from typing import Self

from doubletrouble.advice._option import changed
from doubletrouble.ensembles import Scheme
from doubletrouble.theory import AnyProblem, error_slopes


@dataclass(frozen=True, kw_only=True)
class MarginalValue:
    """How much the error falls per unit of N and of P, of every model; negative where it rises.

    The unit is that of the problem: D samples, or D features, of a `Problem`; one of a
    `SpectralProblem`. The derivatives are exact, and inf where one more takes a divergence away. At
    the best ridge they are also the derivatives of the least error over all ridges.
    """

    sample: float
    feature: float
    sample_at_best_ridge: float
    feature_at_best_ridge: float

    @classmethod
    def of(cls, problem: AnyProblem, ensemble: Scheme, best_ridge: float) -> Self:
        """Differentiate the error here, and at the best ridge."""
        here = error_slopes(problem, ensemble)
        best = error_slopes(changed(problem, ridge=best_ridge), ensemble)
        return cls(
            sample=0.0 - float(here.by_samples),
            feature=0.0 - float(here.by_features),
            sample_at_best_ridge=0.0 - float(best.by_samples),
            feature_at_best_ridge=0.0 - float(best.by_features),
        )

    @property
    def features_per_sample(self) -> float:
        """How many features (of every model) one sample is worth, when the ridge is the best.

        inf where features are worth nothing and samples are; 0 where samples are worth nothing; 1
        where both take a divergence away.

        >>> MarginalValue(sample=2.0, feature=1.0, sample_at_best_ridge=0.6,
        ...          feature_at_best_ridge=0.2).features_per_sample
        2.9999999999999996
        """
        sample, feature = self.sample_at_best_ridge, self.feature_at_best_ridge
        if sample <= 0:
            return 0.0
        if sample == feature:
            return 1.0
        return sample / feature if feature > 0 else math.inf
