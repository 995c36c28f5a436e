"""Ridge regression on random features, as a scikit-learn regressor."""

from __future__ import annotations  # help() shows the names of types, not their definitions

import math
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from doubletrouble.activations import Activation, Function
from doubletrouble.ensembles import Ensemble, EnsembleLike, FeatureBank, Scheme, as_ensemble
from doubletrouble.estimators._features import (
    FeatureMap,
    InputMap,
    KernelMap,
    RealArray,
    Seed,
    check_flag,
    check_kernel_range,
    ensemble_weights,
    feature_map,
    known_activation,
    seed_of,
    validated,
)
from doubletrouble.estimators._fits import NormalEquations, Sample
from doubletrouble.estimators._members import (
    Criterion,
    Penalty,
    RidgePath,
    Solution,
    best_solution,
    checked_penalty,
    draw_counts,
    fit_members,
    fit_ridge_path,
    predict_mean,
    ridge_grid,
    solution_of,
)
from doubletrouble.forecasting import Forecast, forecast
from doubletrouble.losses import Loss, Squared
from doubletrouble.parameters import FloatArray, Value, whole_number

_FITTED = {"loo_path_", "loo_error_", "forecast_", "forecast_error_", "weights_", "X_fit_"}
"""Attributes of some fits alone."""


@dataclass(frozen=True, kw_only=True)
class LearnerParameters:
    """The validated parameters of an estimator."""

    n_features: float  # inf: kernel ridge regression
    ensemble: Scheme
    n_members: int
    activation: Activation
    center: bool
    intercept: bool
    penalty: Penalty | Criterion
    budget: int | None  # of features P K
    ridges: FloatArray | None
    loss: Loss = Squared()

    def weights(self, seed: Seed, dim: int) -> FloatArray:
        """Θ of all members, (K, P, D)."""
        count, members = int(self.n_features), self.n_members
        return ensemble_weights(seed, self.ensemble, n_members=members, n_features=count, dim=dim)

    def maps(self, fitted: Mapping[str, Any], dtype: npt.DTypeLike) -> list[InputMap]:
        """The features of every member with Θ, or the kernel of infinitely many with its rows."""
        sigma, center = self.activation, self.center
        if math.isinf(self.n_features):
            return [KernelMap(inputs=fitted["X_fit_"], activation=sigma, center=center)]
        return [feature_map(t, sigma, center=center, dtype=dtype) for t in fitted["weights_"]]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The number of features and the ridge of least forecast error."""

    n_features: float
    ridge: float
    forecast: Forecast
    error: float  # mean over the columns of the labels


def least_forecast_error(sample: Sample, parameters: LearnerParameters, seed: Seed) -> Choice:
    """The choice for the rows of a sample.

    `forecast` integrates the random features in closed form, so that its error at P, λ and K is the
    mean over draws of the features, where leave-one-out is the error of the draw at hand. λ is for
    all N rows of a fit, also where the forecast uses fewer of them; by default it is chosen from a
    grid relative to the Gram matrix.
    """
    if np.ptp(sample.weights) > 0:
        raise ValueError("sample_weight must be None or equal for ridge = 'forecast', got others")
    check_kernel_range(sample.inputs, "ridge = 'forecast'")
    known = forecast(
        sample.inputs,
        sample.labels,
        scale=False,
        fit_intercept=sample.intercept,
        activation=parameters.activation,
        center=parameters.center,
        seed=int(seed[0]),
        device="cpu",
        check=False,
        progress=False,
    )
    N, K, n_features = sample.size, parameters.n_members, parameters.n_features
    budget, ridges = parameters.budget, parameters.ridges
    if budget is not None:
        best = known.best_allocation(budget, n_samples=N, n_members=[K], ridges=ridges)
        n_features = int(best.setting["n_features"])
    ridge = known.best_ridge(n_features, ensemble=K, n_samples=N, ridges=ridges)
    terms = known.error(n_features=n_features, ridge=ridge, ensemble=K, n_samples=N)
    error = float(terms.total) / sample.labels.shape[1]
    return Choice(n_features=n_features, ridge=ridge, forecast=known, error=error)


class RandomFeaturesModel(BaseEstimator):
    """Base of the regressor and the classifier: ridge regression of the columns of a matrix."""

    _name: ClassVar[str] = "RandomFeaturesRidge"  # in messages, also of subclasses
    weights_: FloatArray
    X_fit_: RealArray  # for infinitely many features, in place of weights_
    activation_: Activation
    _sums: list[NormalEquations] | None
    _solution: Solution | None
    _fitted: LearnerParameters
    _single: bool
    _precision: np.dtype[np.floating]
    loo_path_: RidgePath
    loo_error_: float
    forecast_: Forecast
    forecast_error_: float
    n_features_: float

    def __init__(
        self,
        n_features: float = 100,
        *,
        activation: str | Activation | Function = "relu",
        center: bool = True,
        ridge: float | Criterion | None = None,
        alpha: float | None = None,
        ridges: npt.ArrayLike | None = None,
        budget: float | None = None,
        ensemble: EnsembleLike = 1,
        fit_intercept: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features = n_features
        self.activation = activation
        self.center = center
        self.ridge = ridge
        self.alpha = alpha
        self.ridges = ridges
        self.budget = budget
        self.ensemble = ensemble
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    @property
    def coef_(self) -> RealArray:
        """Weights of the features: (K, P), or (K, T, P) for labels of T columns."""
        coef = self._solved_for("coef_", finite=True).coef.astype(self._precision, copy=False)
        return coef[:, 0] if self._single else coef

    @property
    def dual_coef_(self) -> FloatArray:
        """Coefficients of the kernel with every row of `X_fit_`, (N,) or (N, T), in float64."""
        (coef,) = self._solved_for("dual_coef_", finite=False).coef
        return np.asarray(coef[0] if self._single else coef.T)

    @property
    def intercept_(self) -> Value:
        """The intercept of the mean prediction: a number, or (T,); zero unless fitted."""
        intercept = self._solved().intercept.astype(self._precision, copy=False)
        return intercept[0] if self._single else intercept

    @property
    def alpha_(self) -> FloatArray:
        """The penalty of each member in scikit-learn's convention, (K,)."""
        return self._solved_for("alpha_", finite=True).alphas

    @property
    def ridge_(self) -> float:
        """The penalty in the paper's convention."""
        return self._solved().ridge

    def _solved(self) -> Solution:
        """The solution, computed on first use after `partial_fit`."""
        if not hasattr(self, "activation_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        if self._solution is None:
            assert self._sums is not None
            penalty, phi = self._fitted.penalty, self._maps(self._precision)[0]
            assert isinstance(penalty, Penalty)
            weights = np.array([sums.weight for sums in self._sums])
            alphas = penalty.alphas(weights, phi).tolist()
            fits = [sums.fit(alpha) for sums, alpha in zip(self._sums, alphas, strict=True)]
            self._solution = solution_of(fits, weights, penalty, phi)
        return self._solution

    def _solved_for(self, name: str, *, finite: bool) -> Solution:
        """The solution, for an attribute of finite or of infinitely many features alone."""
        solution = self._solved()
        if finite != hasattr(self, "weights_"):
            kind = "finite n_features" if finite else "n_features = inf"
            raise AttributeError(f"{name} is an attribute of fits with {kind}")
        return solution

    def _fit(self, X: RealArray, labels: RealArray, weights: npt.ArrayLike | None) -> Self:
        parameters = self._parameters()
        sample = _sample(X, labels, weights, intercept=parameters.intercept)
        seed, choice = seed_of(self.random_state), None
        if parameters.penalty == "forecast":
            choice = least_forecast_error(sample, parameters, seed)
            parameters = replace(
                parameters, n_features=choice.n_features, penalty=Penalty(choice.ridge)
            )
        counts = draw_counts(
            parameters.ensemble, n_members=parameters.n_members, n_samples=sample.size, seed=seed
        )
        fitted: dict[str, RealArray]
        if math.isinf(parameters.n_features):
            fitted = {"X_fit_": sample.inputs.copy()}
        else:
            fitted = {"weights_": parameters.weights(seed, X.shape[1])}
        maps, penalty = parameters.maps(fitted, X.dtype), parameters.penalty
        if isinstance(penalty, Penalty):
            path = None
            solution = fit_members(maps, sample, counts, penalty, parameters.loss)
        else:
            ridges, single = ridge_grid(parameters.ridges), labels.ndim == 1
            path = fit_ridge_path(maps, sample, counts, ridges, single=single)
            solution = best_solution(path, sample, counts)
        self._start(parameters, X, labels, **fitted)
        if path is not None:
            self.loo_path_, self.loo_error_ = path, float(path.loo_error.min())
        if choice is not None:
            self.forecast_, self.forecast_error_ = choice.forecast, choice.error
        self._sums, self._solution = None, solution
        return self

    def _is_first(self) -> bool:
        """Whether `partial_fit` starts; it does not continue `fit`, which stores no sums."""
        return getattr(self, "_sums", None) is None

    def _partial_fit(self, X: RealArray, labels: RealArray, weights: npt.ArrayLike | None) -> Self:
        parameters = self._parameters()
        scheme = parameters.ensemble
        if math.isinf(parameters.n_features):
            raise ValueError("n_features must be finite for partial_fit, got inf")
        if not _has_all_rows(scheme):
            raise ValueError(
                f"ensemble must have every row in each member for partial_fit, got {scheme!r}"
            )
        if not isinstance(parameters.penalty, Penalty):
            raise ValueError(f"ridge must be a number for partial_fit, got {self.ridge!r}")
        intercept = parameters.intercept if self._is_first() else self._fitted.intercept
        sample = _sample(X, labels, weights, intercept=intercept)
        outputs = sample.labels.shape[1]
        if self._is_first():
            theta = parameters.weights(seed_of(self.random_state), X.shape[1])
            self._start(parameters, X, labels, weights_=theta)
            self._sums = [NormalEquations(theta.shape[1], outputs) for _ in theta]
        assert self._sums is not None
        if self._sums[0].right.shape[1] != outputs:
            raise ValueError(
                f"y must have {self._sums[0].right.shape[1]} columns as before, got {outputs}"
            )
        for sums, phi in zip(self._sums, self._maps(X.dtype), strict=True):
            assert isinstance(phi, FeatureMap)
            sums.add(phi, sample)  # in float64: rows are not available again
        self._fitted = replace(self._fitted, penalty=parameters.penalty)
        self._solution = None
        return self

    def _predict(self, X: npt.ArrayLike) -> RealArray:
        """The mean prediction, (n,) or (n, T)."""
        check_is_fitted(self, "activation_")
        inputs: RealArray = validated(self, X, reset=False)
        solution = self._solved()
        mean = predict_mean(self._maps(inputs.dtype), solution.coef, solution.intercept, inputs)
        return mean[:, 0] if self._single else mean

    def _maps(self, dtype: npt.DTypeLike) -> list[InputMap]:
        return self._fitted.maps(vars(self), dtype)

    def _parameters(self) -> LearnerParameters:
        scheme = as_ensemble(self.ensemble, self._name)
        if scheme.shape:
            raise ValueError(f"ensemble must have numbers, not arrays, got {scheme!r}")
        count, members = self.n_features, scheme.n_members
        if isinstance(count, float | np.floating) and math.isinf(count) and count > 0:
            if self.alpha is not None:
                raise ValueError(f"alpha must be None for n_features = inf, got {self.alpha!r}")
            if isinstance(scheme, FeatureBank):
                raise ValueError(
                    f"ensemble must not choose from a bank for n_features = inf, got {scheme!r}"
                )
            if _has_all_rows(scheme):
                members = 1  # all are equal
        else:
            count = whole_number("n_features", count, 1)
        members = whole_number("ensemble", members, 1, floats=True)
        penalty = checked_penalty(self.ridge, self.alpha)
        if penalty == "forecast" and type(scheme) is not Ensemble:
            raise ValueError(
                f"ensemble must be a number of models for ridge = 'forecast', got {scheme!r}"
            )
        return LearnerParameters(
            n_features=count,
            ensemble=scheme,
            n_members=members,
            activation=known_activation(self.activation),
            center=check_flag("center", self.center),
            intercept=check_flag("fit_intercept", self.fit_intercept),
            penalty=penalty,
            budget=self._budget(count, members, penalty),
            ridges=None if self.ridges is None else ridge_grid(self.ridges),
        )

    def _budget(
        self, n_features: float, n_members: int, penalty: Penalty | Criterion
    ) -> int | None:
        if self.budget is None:
            return None
        if penalty != "forecast":
            raise ValueError(f"budget must be None unless ridge = 'forecast', got {self.budget!r}")
        if math.isinf(n_features):
            raise ValueError(f"budget must be None for n_features = inf, got {self.budget!r}")
        return whole_number("budget", self.budget, n_members, floats=True)

    def _start(
        self, parameters: LearnerParameters, X: RealArray, labels: RealArray, **fitted: RealArray
    ) -> None:
        """Store the state of a new fit, with Θ or its rows, and drop that of an earlier one."""
        for name in _FITTED & set(vars(self)):
            delattr(self, name)
        for name, value in fitted.items():
            setattr(self, name, value)
        self._fitted, self.n_features_ = parameters, parameters.n_features
        self.activation_ = parameters.activation
        self._single, self._precision = labels.ndim == 1, X.dtype


def _has_all_rows(scheme: Scheme) -> bool:
    """Whether every member has every row once."""
    taken, total = scheme.sample_share
    return not scheme.with_replacement and bool(taken == total)


def _sample(
    X: RealArray, labels: RealArray, sample_weight: npt.ArrayLike | None, *, intercept: bool
) -> Sample:
    """Rows of positive weight, labels as a matrix."""
    Y = np.asarray(labels, dtype=np.float64).reshape(len(X), -1)
    weights = np.ones(len(X)) if sample_weight is None else checked_weights(sample_weight, len(X))
    keep = weights > 0
    if not keep.any():
        raise ValueError("sample_weight must be positive somewhere, got only zeros")
    if not keep.all():
        X, Y, weights = X[keep], Y[keep], weights[keep]
    return Sample(inputs=X, labels=Y, weights=weights, intercept=intercept)


def checked_weights(sample_weight: npt.ArrayLike | Real, n_samples: int) -> FloatArray:
    """Sample weights (N,) as float64; a number stands for equal weights."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_samples, sample_weight)
    weights: FloatArray = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight must have shape ({n_samples},), got {weights.shape}")
    if np.any(weights < 0):
        raise ValueError(f"sample_weight must not be negative, got {weights.min():g}")
    return weights


class RandomFeaturesRidge(MultiOutputMixin, RegressorMixin, RandomFeaturesModel):
    r"""Ridge regression on random features: the paper's learner, for any data.

    The prediction is the mean over K members of a_k·φ_k(x), φ_k(x) = σ(Θ_k x / √D) - μ₀ with P
    features. Each member minimizes, over its N rows,

        (1/N) |y - Φ a|² + (P λ / D) |a|²        [dascoli2020] Eq. (4)

    With sample weights, their sum takes the place of N: a row of weight 2 is two rows. Inputs must
    be at most 1e100 in magnitude (1e30 in float32).

    Parameters
    ----------
    n_features : int or math.inf, default: 100
        P, the random features of each member; `math.inf` is the limit of infinitely many, kernel
        ridge regression with `kernel(activation, X, center=center)`.
    activation : str or Activation or callable, default: "relu"
        σ: a name, an `Activation` or any function on arrays.
    center : bool, default: True
        Whether μ₀ = E σ(z), z ~ N(0, 1), is subtracted, as in the paper.
    ridge : float or str or None, default: None
        λ, in [0, inf); 0 is the minimum-norm fit, "loo" the λ among `ridges` of least leave-one-out
        error, "forecast" the one of least error by `forecast`, in which the features are averaged
        over. None for 0.001, or for `alpha`.
    alpha : float or None, default: None
        The penalty in scikit-learn's convention, |y - Φ a|² + alpha |a|², in place of `ridge`:
        alpha = λ P N / D. Must be None for infinitely many features.
    ridges : array_like or None, default: None
        λ to choose from; None for 33 from 1e-6 to 100, for "forecast" a grid relative to the Gram
        matrix.
    budget : int or None, default: None
        With `ridge="forecast"`, the most features P K of all members: P of least forecast error is
        chosen too, in place of `n_features`.
    ensemble : int or Scheme, default: 1
        K, models averaged, with features of their own and all rows; or an ensemble such as
        `Divide(K)` (each model has its own block of N/K rows), `Subsample`, `Bootstrap` or
        `FeatureBank`. N is the number of rows of a model, including repeated ones. With infinitely
        many features, models of the same rows are equal, and one is fitted.
    fit_intercept : bool, default: False
        Whether a constant, not penalized, is fitted in addition.
    random_state : int or RandomState instance or None, default: None
        As in scikit-learn. Member k is the same for every K.

    Attributes
    ----------
    coef_ : ndarray of shape (K, P) or (K, T, P)
        Weights of the features, for T columns of labels.
    intercept_ : float or ndarray of shape (T,)
        The intercept of the mean prediction; zero unless fitted.
    weights_ : ndarray of shape (K, P, D)
        Θ of each member.
    ridge_ : float
        λ.
    alpha_ : ndarray of shape (K,)
        The penalty of each member in scikit-learn's convention.
    n_features_ : float
        P.
    n_features_in_ : int
        D.
    activation_ : Activation
        σ.
    loo_error_ : float
        With `ridge="loo"`, the leave-one-out error.
    loo_path_ : RidgePath
        With `ridge="loo"`, the fits for all ridges.
    forecast_error_ : float
        With `ridge="forecast"`, the mean squared error expected on new rows.
    forecast_ : Forecast
        With `ridge="forecast"`, the forecast itself.
    dual_coef_ : ndarray of shape (N,) or (N, T)
        For infinitely many features, in place of `coef_`, `weights_` and `alpha_`, as in
        scikit-learn's `KernelRidge`: the prediction is k_xᵀ (Γ + λ N / D)⁻¹ y, with the kernel k_x
        of x and the rows, and their Gram matrix Γ.
    X_fit_ : ndarray of shape (N, D)
        For infinitely many features, the rows.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((300, 10))
    >>> y = x[:, 0] + 0.1 * rng.standard_normal(300)
    >>> model = dt.RandomFeaturesRidge(n_features=200, ridge="loo", random_state=0).fit(x, y)
    >>> round(model.ridge_, 6), round(model.loo_error_, 3)
    (0.001, 0.016)
    >>> model.predict(x[:2]).shape
    (2,)
    """

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Fit to inputs and labels.

        Needs memory for P² numbers, or N² where P > N, and for blocks of features; and for all
        features, up to 1 GB, where a very small penalty leaves too few digits otherwise. For
        infinitely many features it needs memory for three to five matrices N × N, and time N³;
        so does `ridge="forecast"`, for 10,000 rows at most.

        Parameters
        ----------
        X : array_like of shape (N, D)
            Inputs.
        y : array_like of shape (N,) or (N, T)
            Labels.
        sample_weight : float or array_like of shape (N,) or None, default: None
            Weights of the rows, 0 or more; a number stands for equal weights.

        Returns
        -------
        RandomFeaturesRidge
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data or a parameter are invalid, or parameters are incompatible.
        TypeError
            If `activation`, `ensemble` or a penalty is not of the type above.
        """
        inputs, labels = validated(self, X, y, y_numeric=True, multi_output=True)
        return self._fit(inputs, labels, sample_weight)

    def partial_fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Add rows to those of earlier calls; the result is that of `fit` to all of them.

        Stores Φᵀ Φ and Φᵀ y, not the rows; the equations are solved on first use of the result.
        The first call after `fit` starts from no rows.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs of further rows.
        y : array_like of shape (n,) or (n, T)
            Their labels.
        sample_weight : float or array_like of shape (n,) or None, default: None
            Weights of the rows, 0 or more; a number stands for equal weights.

        Returns
        -------
        RandomFeaturesRidge
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are invalid or have other columns than before; if `n_features` is inf,
            `ridge` is not a number, or members of `ensemble` do not have all rows.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x, y = rng.standard_normal((100, 3)), rng.standard_normal(100)
        >>> parts = dt.RandomFeaturesRidge(n_features=20, random_state=0)
        >>> for rows in np.split(np.arange(100), 4):
        ...     parts = parts.partial_fit(x[rows], y[rows])
        >>> whole = dt.RandomFeaturesRidge(n_features=20, random_state=0).fit(x, y)
        >>> bool(np.allclose(parts.coef_, whole.coef_))
        True
        """
        first = self._is_first()
        inputs, labels = validated(self, X, y, reset=first, y_numeric=True, multi_output=True)
        return self._partial_fit(inputs, labels, sample_weight)

    def predict(self, X: npt.ArrayLike) -> RealArray:
        """The mean prediction of all members.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (n,) or (n, T)
            Predictions, for labels of one or T columns.

        Raises
        ------
        ValueError
            If `X` is invalid or predictions are not finite; `NotFittedError` of scikit-learn, a
            subclass, before a fit.
        """
        return self._predict(X)

    def ridge_path(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        ridges: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> RidgePath:
        """Fits for every ridge from one factorization, with their exact leave-one-out errors.

        A row is left out with all its weight; λ does not change, alpha does with the rows that
        remain. In an ensemble the other rows stay with their members. The estimator itself is not
        fitted.

        Parameters
        ----------
        X : array_like of shape (N, D)
            Inputs.
        y : array_like of shape (N,) or (N, T)
            Labels.
        ridges : array_like or None, default: None
            λ, in the paper's convention, finite and 0 or more; None for the parameter of that name.
        sample_weight : float or array_like of shape (N,) or None, default: None
            Weights of the rows, 0 or more; a number stands for equal weights.

        Returns
        -------
        RidgePath
            The fits and their errors.

        Raises
        ------
        ValueError
            If the data or a parameter are invalid, or a member has fewer than 2 rows.
        TypeError
            If `ridges` are not numbers.
        """
        model = copy(self)
        model.ridge, model.alpha, model.budget = "loo", None, None
        model.ridges = self.ridges if ridges is None else ridges
        return model.fit(X, y, sample_weight).loo_path_
