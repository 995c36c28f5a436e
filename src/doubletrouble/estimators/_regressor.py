"""Ridge regression on random features, as a scikit-learn regressor."""

from typing import Any, Literal, Self

import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from doubletrouble.activations import Activation, Function
from doubletrouble.ensembles import EnsembleLike
from doubletrouble.estimators._feature_map import RealArray
from doubletrouble.estimators._model import INPUT_DTYPES, RandomFeaturesModel
from doubletrouble.estimators._path import RidgePath


class RandomFeaturesRidge(MultiOutputMixin, RegressorMixin, RandomFeaturesModel):
    r"""Ridge regression on random features: the paper's learner, for data of any kind.

    The prediction is the mean over K members of a_k·φ_k(x), φ_k(x) = σ(Θ_k x / √D) - μ₀ with P
    features. Each member minimizes, over the N rows it sees,

        (1/N) |y - Φ a|² + (P λ / D) |a|²        [dascoli2020] Eq. (4)

    Parameters:
        n_features: P, the random features of each member.
        activation: σ: a name, an `Activation` or any callable on arrays.
        center: whether μ₀ = E σ(z), z ~ N(0, 1), is subtracted, as in the paper.
        ridge: λ; 0 is the minimum-norm fit, "loo" the λ among `ridges` of least leave-one-out
            error. 0.001 where neither `ridge` nor `alpha` is given.
        alpha: the penalty in scikit-learn's convention, |y - Φ a|² + alpha |a|², in place of
            `ridge`: alpha = λ P N / D.
        ridges: λ to choose from; 33 from 1e-6 to 100 unless given.
        ensemble: K, models averaged, with features of their own and all rows; or an ensemble such
            as `Divide(K)` (each model has its own block of N/K rows), `Subsample`, `Bootstrap` or
            `FeatureBank`. N is the number of rows of a model, repeated ones included.
        fit_intercept: whether a constant, not penalized, is fitted beside the features.
        random_state: as everywhere in scikit-learn. Member k is the same for every K.

    With sample weights, their sum counts for N: a row of weight 2 is two rows.

    Attributes: `coef_` (K, P), `intercept_`, `weights_` Θ (K, P, D), `ridge_`, `alpha_` (K,),
    `n_features_in_`; with `ridge="loo"` also `loo_error_` and `loo_path_`. After labels of T
    columns `coef_` is (K, T, P).

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((300, 10))
    >>> y = x[:, 0] + 0.1 * rng.standard_normal(300)
    >>> model = RandomFeaturesRidge(n_features=200, ridge="loo", random_state=0).fit(x, y)
    >>> round(model.ridge_, 6), round(model.loo_error_, 3)
    (0.001, 0.016)
    >>> model.predict(x[:2]).shape
    (2,)
    """

    def __init__(
        self, n_features: int = 100, *, activation: str | Activation | Function = "relu",
        center: bool = True, ridge: float | Literal["loo"] | None = None,
        alpha: float | None = None, ridges: npt.ArrayLike | None = None, ensemble: EnsembleLike = 1,
        fit_intercept: bool = False, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_features = n_features
        self.activation = activation
        self.center = center
        self.ridge = ridge
        self.alpha = alpha
        self.ridges = ridges
        self.ensemble = ensemble
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to inputs (N, D) and labels (N,) or (N, T).

        Takes memory for P² numbers, or N² where P > N, beside blocks of features; and for all of
        them, up to 1 GB, where a penalty of next to nothing leaves too few digits otherwise.
        """
        X, y = self._checked(X, y, reset=True)
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those of earlier calls: in the end as if `fit` had seen them all.

        Keeps Φᵀ Φ and Φᵀ y, never rows; the equations are solved when the result is first used.
        After `fit` it begins anew.

        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.standard_normal((100, 3)), rng.standard_normal(100)
        >>> parts = RandomFeaturesRidge(n_features=20, random_state=0)
        >>> for rows in np.split(np.arange(100), 4):
        ...     parts = parts.partial_fit(x[rows], y[rows])
        >>> whole = RandomFeaturesRidge(n_features=20, random_state=0).fit(x, y)
        >>> bool(np.allclose(parts.coef_, whole.coef_))
        True
        """
        X, y = self._checked(X, y, reset=self._first())
        return self._partial_fit(X, y, sample_weight)

    def predict(self, X: Any) -> RealArray:
        """The mean prediction of all members, (n,) or (n, T)."""
        return self._decide(X)

    def ridge_path(
        self, X: Any, y: Any, ridges: npt.ArrayLike | None = None, sample_weight: Any = None
    ) -> RidgePath:
        """Fits for every ridge from one factorization, with their exact leave-one-out errors.

        `ridges` are in the paper's convention; the parameter of that name unless given. The
        estimator itself stays as it is.

        Leaving a row out leaves it out with all its weight; λ stays, so that alpha goes with the
        rows that remain. In an ensemble the other rows stay with their members.
        """
        X, y = self._checked(X, y, reset=None)
        return self._path(X, y, sample_weight, ridges)

    def _checked(self, X: Any, y: Any, *, reset: bool | None) -> tuple[RealArray, RealArray]:
        """Inputs and labels as arrays; `reset` None leaves the estimator as it is."""
        estimator = type(self)() if reset is None else self
        X, y = validate_data(
            estimator, X, y, reset=reset is not False, dtype=INPUT_DTYPES, y_numeric=True,
            multi_output=True,
        )  # fmt: skip
        return X, y
