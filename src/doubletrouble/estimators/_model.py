"""What the regressor and the classifier share: parameters, draws, fits in one go or in parts."""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from doubletrouble.activations import Activation
from doubletrouble.ensembles import EnsembleLike, FeatureBank, Scheme, as_ensemble
from doubletrouble.estimators._feature_map import (
    FeatureMap,
    RealArray,
    feature_map,
    known_activation,
)
from doubletrouble.estimators._members import (
    Solution,
    fitted,
    fitted_to_sums,
    has_all_rows,
    member_samples,
    predicted,
)
from doubletrouble.estimators._normal_equations import NormalEquations
from doubletrouble.estimators._path import RidgePath, best_of, ridge_path
from doubletrouble.estimators._penalty import Penalty, penalty, ridge_grid
from doubletrouble.estimators._primal import add_rows
from doubletrouble.estimators._sample import MemberSample, Sample
from doubletrouble.estimators._weights import (
    Seed,
    bank_weights,
    choices,
    random_weights,
    seed_of,
)
from doubletrouble.parameters import FloatArray, whole_number

INPUT_DTYPES = (np.float64, np.float32)
"""What inputs are taken as: float32 stays, all else becomes float64."""


class ModelParameters(NamedTuple):
    """The parameters of an estimator, checked."""

    n_features: int
    ensemble: Scheme
    n_members: int
    penalty: Penalty
    ridges: FloatArray
    activation: Activation
    center: bool


class RandomFeaturesModel(BaseEstimator):
    """Ridge regression of the columns of a label matrix on random features."""

    n_features: int
    activation: Any
    center: bool
    ridge: Any
    alpha: Any
    ridges: npt.ArrayLike | None
    ensemble: EnsembleLike
    fit_intercept: bool
    random_state: Any
    weights_: FloatArray
    activation_: Activation
    _sums: list[NormalEquations] | None
    _solution: Solution | None
    _penalty: Penalty
    _center: bool
    _single: bool
    _precision: np.dtype[Any]

    # --- what a fit found ---

    @property
    def coef_(self) -> RealArray:
        """Weights of the features: (K, P), or (K, T, P) for labels of T columns."""
        coef = self._solved().coef.astype(self._precision, copy=False)
        return coef[:, 0] if self._single else coef

    @property
    def intercept_(self) -> Any:
        """The intercept of the mean prediction: a number, or (T,); zero unless fitted."""
        intercept = self._solved().intercept.astype(self._precision, copy=False)
        return intercept[0] if self._single else intercept

    @property
    def alpha_(self) -> FloatArray:
        """The penalty of each member in scikit-learn's convention, (K,)."""
        return self._solved().alphas

    @property
    def ridge_(self) -> float:
        """The penalty in the paper's convention."""
        return self._solved().ridge

    def _solved(self) -> Solution:
        """The solution, worked out when it is first asked for after `partial_fit`."""
        if not hasattr(self, "weights_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet.")
        if self._solution is None:
            assert self._sums is not None
            self._solution = fitted_to_sums(self._sums, self._penalty, self.weights_.shape[2])
        return self._solution

    # --- fitting ---

    def _fit(self, X: RealArray, labels: RealArray, weights: FloatArray | None) -> Self:
        asked = self._asked()
        sample = self._sample(X, labels, weights)
        seed = seed_of(self.random_state)
        theta, parts = _theta(asked, X.shape[1], seed), _parts(asked, sample, seed)
        maps = _maps(theta, asked.activation, asked.center, X.dtype)
        if asked.penalty.by_loo:
            path = ridge_path(maps, sample, parts, asked.ridges, single=labels.ndim == 1)
            solution = best_of(path, parts)
            self._begin(asked, theta, X, labels)
            self.loo_path_, self.loo_error_ = path, float(path.loo_error.min())
        else:
            solution = fitted(maps, parts, asked.penalty)
            self._begin(asked, theta, X, labels)
        self._sums, self._solution = None, solution
        return self

    def _first(self) -> bool:
        """Whether `partial_fit` begins; it does not go on from `fit`, which keeps no sums."""
        return getattr(self, "_sums", None) is None

    def _partial_fit(self, X: RealArray, labels: RealArray, weights: FloatArray | None) -> Self:
        asked = self._asked()
        if not has_all_rows(asked.ensemble):
            raise ValueError(
                "ensemble must have every row in each member for partial_fit, got "
                f"{asked.ensemble!r}"
            )
        if asked.penalty.by_loo:
            raise ValueError("ridge must be a number for partial_fit, got 'loo'")
        sample = self._sample(X, labels, weights)
        outputs = sample.labels.shape[1]
        if self._first():
            theta = _theta(asked, X.shape[1], seed_of(self.random_state))
            self._begin(asked, theta, X, labels)
            self._sums = [
                NormalEquations(asked.n_features, outputs) for _ in range(asked.n_members)
            ]
        assert self._sums is not None
        if self._sums[0].right.shape[1] != outputs:
            raise ValueError(
                f"y must have {self._sums[0].right.shape[1]} columns as before, got {outputs}"
            )
        maps = _maps(self.weights_, self.activation_, self._center, X.dtype)
        for sums, phi in zip(self._sums, maps, strict=True):
            add_rows(sums, phi, sample)  # in float64: rows that are gone cannot be taken again
        self._penalty, self._solution = asked.penalty, None
        return self

    def _path(
        self, X: RealArray, labels: RealArray, weights: FloatArray | None, ridges: Any
    ) -> RidgePath:
        asked = self._asked()
        seed = seed_of(self.random_state)
        theta = _theta(asked, X.shape[1], seed)
        maps = _maps(theta, asked.activation, asked.center, X.dtype)
        grid = asked.ridges if ridges is None else ridge_grid(ridges)
        sample = self._sample(X, labels, weights)
        parts = _parts(asked, sample, seed)
        return ridge_path(maps, sample, parts, grid, single=labels.ndim == 1)

    def _decide(self, X: Any) -> RealArray:
        """The mean prediction, (n,) or (n, T)."""
        check_is_fitted(self, "weights_")
        X = validate_data(self, X, reset=False, dtype=INPUT_DTYPES)
        solution = self._solved()
        maps = _maps(self.weights_, self.activation_, self._center, X.dtype)
        found = predicted(maps, solution.coef, solution.intercept, X)
        return found[:, 0] if self._single else found

    # --- parts ---

    def _asked(self) -> ModelParameters:
        for name in ("center", "fit_intercept"):
            if not isinstance(value := getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {value!r}")
        scheme = as_ensemble(self.ensemble, "RandomFeaturesRidge")
        if scheme.shape:
            raise ValueError(f"ensemble must have numbers, not arrays, got {scheme!r}")
        return ModelParameters(
            n_features=whole_number("n_features", self.n_features, 1),
            ensemble=scheme,
            n_members=whole_number("ensemble", scheme.n_members, 1, floats=True),
            penalty=penalty(self.ridge, self.alpha),
            ridges=ridge_grid(self.ridges),
            activation=known_activation(self.activation),
            center=bool(self.center),
        )

    def _sample(self, X: RealArray, labels: RealArray, weights: Any) -> Sample:
        """Rows of positive weight, labels as a matrix."""
        Y = np.asarray(labels, dtype=np.float64).reshape(len(X), -1)
        if weights is not None:
            weights = _check_sample_weight(weights, X, dtype=np.float64, ensure_non_negative=True)
            keep = weights > 0
            if not keep.any():
                raise ValueError("sample_weight must be positive somewhere, got only zeros")
            if not keep.all():
                X, Y, weights = X[keep], Y[keep], weights[keep]
        return Sample(inputs=X, labels=Y, weights=weights, intercept=bool(self.fit_intercept))

    def _begin(
        self, asked: ModelParameters, theta: FloatArray, X: RealArray, labels: RealArray
    ) -> None:
        """Keep what every fit keeps, and nothing of an earlier one."""
        for name in {"loo_path_", "loo_error_"} & set(vars(self)):
            delattr(self, name)
        self.weights_, self.activation_, self._center = theta, asked.activation, asked.center
        self._single, self._precision = labels.ndim == 1, X.dtype


def _theta(asked: ModelParameters, dim: int, seed: Seed) -> FloatArray:
    """The weights of all members, (K, P, D)."""
    members, features = asked.n_members, asked.n_features
    if isinstance(asked.ensemble, FeatureBank):
        return bank_weights(seed, asked.ensemble, n_members=members, n_features=features, dim=dim)
    return random_weights(seed, n_members=members, n_features=features, dim=dim)


def _parts(asked: ModelParameters, sample: Sample, seed: Seed) -> list[MemberSample]:
    """What each member is fitted to."""
    return member_samples(sample, asked.ensemble, asked.n_members, choices(seed))


def _maps(theta: FloatArray, activation: Activation, center: bool, dtype: Any) -> list[FeatureMap]:
    """φ of every member, for weights Θ (K, P, D)."""
    return [feature_map(member, activation, center=center, dtype=dtype) for member in theta]
