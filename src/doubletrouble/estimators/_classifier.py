"""Classification on random features, as a scikit-learn classifier."""

from __future__ import annotations  # help() shows the names of types, not their definitions

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from doubletrouble.activations import Activation, Function
from doubletrouble.ensembles import EnsembleLike
from doubletrouble.estimators._features import RealArray, validated
from doubletrouble.estimators._members import Criterion, Penalty
from doubletrouble.estimators._regressor import (
    LearnerParameters,
    RandomFeaturesModel,
    checked_weights,
)
from doubletrouble.losses import CLASSIFIER_LOSSES, ClassifierLoss, Loss
from doubletrouble.losses import loss as named_loss
from doubletrouble.parameters import FloatArray, Labels, check_choice

Method = TypeVar("Method", bound=Callable[..., Any])


def _available(check: Callable[[RandomFeaturesClassifier], bool]) -> Callable[[Method], Method]:
    """Methods that models have where `check` returns True; it raises AttributeError otherwise."""
    decorator: Callable[[Method], Method] = available_if(check)
    return decorator


def _needs_squared(model: RandomFeaturesClassifier) -> bool:
    if str(model.loss) != "squared":
        raise AttributeError(
            f"loss must be squared for partial_fit, got {model.loss!r}: other losses need all "
            "rows at once"
        )
    return True


def _needs_logistic(model: RandomFeaturesClassifier) -> bool:
    if str(model.loss) != "logistic":
        raise AttributeError(
            f"loss must be logistic for predict_proba, got {model.loss!r}: its outputs are not "
            "probabilities (CalibratedClassifierCV calibrates them)"
        )
    return True


class RandomFeaturesClassifier(ClassifierMixin, RandomFeaturesModel):
    r"""Classification by random features; the class is that of the largest prediction.

    Two classes make one column of labels, -1 and +1; more make one column each, +1 for the class
    and -1 for all others. Each member minimizes, over its N rows and for each column,

        (1/N) Σ_i 2 ℓ(y_i, a·φ(x_i)) + (P λ / D) |a|²

    Losses other than "squared" have no closed form: they need memory for all features, `ridge` must
    be a number, and there is no `partial_fit`. `predict_proba` is available for the logistic loss
    alone (scikit-learn's `CalibratedClassifierCV` calibrates other outputs). Other attributes are
    those of `RandomFeaturesRidge`.

    Parameters
    ----------
    n_features : int or math.inf, default: 100
        P, the random features of each member; `math.inf` is the limit of infinitely many.
    activation : str or Activation or callable, default: "relu"
        σ: a name, an `Activation` or any function on arrays.
    center : bool, default: True
        Whether μ₀ = E σ(z), z ~ N(0, 1), is subtracted.
    ridge : float or str or None, default: None
        λ, in [0, inf), or how it is chosen, see `RandomFeaturesRidge`; None for 0.001, or for
        `alpha`.
    alpha : float or None, default: None
        The penalty in scikit-learn's convention, in place of `ridge`: alpha = λ P N / D.
    ridges : array_like or None, default: None
        λ to choose from with "loo" or "forecast"; None for a grid.
    budget : int or None, default: None
        With `ridge="forecast"`, the most features P K of all members.
    ensemble : int or Scheme, default: 1
        K, models averaged, or an ensemble such as `Divide(K)`, `Subsample`, `Bootstrap` or
        `FeatureBank`.
    fit_intercept : bool, default: False
        Whether a constant, not penalized, is fitted in addition.
    loss : str or losses.Loss, default: "squared"
        ℓ: "squared" for (y - f)²/2, ridge regression of ±1; "logistic" for log(1 + e^(-y f));
        "hinge" for max(0, 1 - y f), the support vector machine; "squared_hinge" for
        max(0, 1 - y f)²/2. A `losses.Loss` stands for its name.
    class_weight : dict or str or None, default: None
        Weights of the classes, which multiply `sample_weight`.
    random_state : int or RandomState instance or None, default: None
        As in scikit-learn. Member k is the same for every K.

    Attributes
    ----------
    classes_ : ndarray
        The sorted classes.
    coef_ : ndarray of shape (K, P) or (K, T, P)
        Weights of the features, for T columns of labels.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 5))
    >>> y = np.where(x[:, 0] > 0, "right", "left")
    >>> model = dt.RandomFeaturesClassifier(n_features=50, ridge=0.01, random_state=0).fit(x, y)
    >>> model.classes_
    array(['left', 'right'], dtype='<U5')
    >>> model.score(x, y) > 0.9
    True
    >>> logistic = dt.RandomFeaturesClassifier(n_features=50, loss="logistic", random_state=0)
    >>> logistic.fit(x, y).predict_proba(x[:3]).shape
    (3, 2)
    """

    _name = "RandomFeaturesClassifier"
    classes_: Labels

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
        loss: ClassifierLoss | Loss = "squared",
        class_weight: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_features,
            activation=activation,
            center=center,
            ridge=ridge,
            alpha=alpha,
            ridges=ridges,
            budget=budget,
            ensemble=ensemble,
            fit_intercept=fit_intercept,
            random_state=random_state,
        )
        self.loss = loss
        self.class_weight = class_weight

    def fit(
        self, X: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Fit to inputs and their classes.

        Parameters
        ----------
        X : array_like of shape (N, D)
            Inputs.
        y : array_like of shape (N,)
            Classes, two or more.
        sample_weight : float or array_like of shape (N,) or None, default: None
            Weights of the rows, 0 or more; a number stands for equal weights.

        Returns
        -------
        RandomFeaturesClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data or a parameter are invalid, or parameters are incompatible.
        TypeError
            If `activation`, `ensemble` or a penalty is not of the type above.
        DivergenceError
            If the logistic loss has no minimum: without ridge, on linearly separable data.
        """
        inputs, labels = validated(self, X, y)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        return self._fit(inputs, self._signs(labels), self._weights(labels, sample_weight))

    @_available(_needs_squared)
    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        classes: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Add rows to those of earlier calls, for the squared loss.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs of further rows.
        y : array_like of shape (n,)
            Their classes.
        classes : array_like or None, default: None
            All classes, in the first call; None or the same ones in later calls.
        sample_weight : float or array_like of shape (n,) or None, default: None
            Weights of the rows, 0 or more; a number stands for equal weights.

        Returns
        -------
        RandomFeaturesClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If the data are invalid, `classes` are missing or others than before, `class_weight` is
            "balanced", `n_features` is inf, `ridge` is not a number, or members of `ensemble` do
            not have all rows.
        AttributeError
            If the loss is not "squared".
        """
        first = self._is_first()
        inputs, labels = validated(self, X, y, reset=first)
        check_classification_targets(labels)
        if self.class_weight == "balanced":
            raise ValueError(
                "class_weight must be None or a dictionary for partial_fit, got 'balanced'"
            )
        if classes is None and not hasattr(self, "classes_"):
            raise ValueError("classes must be given in the first call of partial_fit, got None")
        listed = self.classes_ if classes is None else np.unique(classes)
        if not first and not np.array_equal(listed, self.classes_):
            raise ValueError(f"classes must be those of the first call, got {classes!r}")
        self.classes_ = listed
        unknown = np.setdiff1d(labels, self.classes_)
        if unknown.size:
            raise ValueError(f"y must only have the classes of the first call, got {unknown[0]!r}")
        return self._partial_fit(inputs, self._signs(labels), self._weights(labels, sample_weight))

    def decision_function(self, X: npt.ArrayLike) -> RealArray:
        """The mean prediction of all members.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            A number for two classes, positive for the second; else one for each class.

        Raises
        ------
        ValueError
            If `X` is invalid or predictions are not finite; `NotFittedError` of scikit-learn, a
            subclass, before a fit.
        """
        return self._predict(X)

    def predict(self, X: npt.ArrayLike) -> Labels:
        """The class of each row.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (n,)
            Classes.

        Raises
        ------
        ValueError
            If `X` is invalid or predictions are not finite; `NotFittedError` of scikit-learn, a
            subclass, before a fit.
        """
        outputs = self._predict(X)
        which = (outputs > 0).astype(int) if outputs.ndim == 1 else np.argmax(outputs, axis=1)
        return np.asarray(self.classes_[which])

    @_available(_needs_logistic)
    def predict_proba(self, X: npt.ArrayLike) -> RealArray:
        """The probability of each class, for the logistic loss.

        σ(f) = 1/(1 + e^(-f)) of the mean prediction f of all members. For more than two classes,
        σ(f) of each class against the rest, divided by their sum.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (n, classes)
            Probabilities, in the order of `classes_`.

        Raises
        ------
        ValueError
            If `X` is invalid or predictions are not finite; `NotFittedError` of scikit-learn, a
            subclass, before a fit.
        AttributeError
            If the loss is not "logistic".
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @_available(_needs_logistic)
    def predict_log_proba(self, X: npt.ArrayLike) -> RealArray:
        """The logarithm of `predict_proba`.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (n, classes)
            Logarithms of probabilities, in the order of `classes_`.

        Raises
        ------
        ValueError
            If `X` is invalid or predictions are not finite; `NotFittedError` of scikit-learn, a
            subclass, before a fit.
        AttributeError
            If the loss is not "logistic".
        """
        outputs = self._predict(X)
        if outputs.ndim == 1:
            return np.asarray(-np.logaddexp(0, np.stack([outputs, -outputs], axis=1)))
        logs = -np.logaddexp(0, -outputs)
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))

    def _parameters(self) -> LearnerParameters:
        check_choice("loss", str(self.loss), CLASSIFIER_LOSSES)
        parameters = super()._parameters()
        if str(self.loss) != "squared" and not isinstance(parameters.penalty, Penalty):
            raise ValueError(
                f"ridge must be a number for loss {self.loss!r}, which has no closed form, got "
                f"{self.ridge!r}"
            )
        return replace(parameters, loss=named_loss(self.loss))

    def _signs(self, y: Labels) -> FloatArray:
        """-1 and +1: (N,) for two classes, else a column for each."""
        if self.classes_.size < 2:
            raise ValueError(
                f"y must have at least two classes, got one class: {self.classes_[0]!r}"
            )
        table = np.where(y[:, None] == self.classes_, 1.0, -1.0)
        return table[:, 1] if self.classes_.size == 2 else table

    def _weights(self, y: Labels, sample_weight: npt.ArrayLike | None) -> FloatArray | None:
        if self.class_weight is None:
            return None if sample_weight is None else np.asarray(sample_weight)
        given = 1.0 if sample_weight is None else checked_weights(sample_weight, len(y))
        return np.asarray(given * compute_sample_weight(self.class_weight, y))
