"""Random features alone, as a scikit-learn transformer."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from doubletrouble.activations import Activation, Function
from doubletrouble.estimators._feature_map import RealArray, blocks, feature_map, known_activation
from doubletrouble.estimators._model import INPUT_DTYPES
from doubletrouble.estimators._weights import random_weights, seed_of
from doubletrouble.parameters import FloatArray, whole_number


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random features φ(x) = σ(Θ x / √D) - μ₀ of inputs of dimension D, with Θ ~ N(0, 1).

    Parameters:
        n_features: P, how many.
        activation: σ: a name, an `Activation` or any callable on arrays.
        center: whether μ₀ = E σ(z), z ~ N(0, 1), is subtracted.
        random_state: as everywhere in scikit-learn; with the same number these are the features
            of the first member of `RandomFeaturesRidge`.

    Attributes: `weights_` Θ (P, D), `activation_`, `n_features_in_`.

    >>> import numpy as np
    >>> features = RandomFeatures(n_features=4, activation="tanh", random_state=0)
    >>> features.fit_transform(np.ones((2, 3))).shape
    (2, 4)
    >>> features.get_feature_names_out()[:2]
    array(['randomfeatures0', 'randomfeatures1'], dtype=object)
    """

    weights_: FloatArray
    activation_: Activation
    _center: bool

    def __init__(
        self, n_features: int = 100, *, activation: str | Activation | Function = "relu",
        center: bool = True, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_features = n_features
        self.activation = activation
        self.center = center
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the weights; of the inputs only their dimension counts."""
        X = validate_data(self, X, dtype=INPUT_DTYPES)
        if not isinstance(self.center, bool | np.bool_):
            raise ValueError(f"center must be True or False, got {self.center!r}")
        count = whole_number("n_features", self.n_features, 1)
        self.activation_, self._center = known_activation(self.activation), bool(self.center)
        seed = seed_of(self.random_state)
        (self.weights_,) = random_weights(seed, n_members=1, n_features=count, dim=X.shape[1])
        return self

    def transform(self, X: Any) -> RealArray:
        """Features of the inputs, (n, P), in their precision."""
        check_is_fitted(self, "weights_")
        X = validate_data(self, X, reset=False, dtype=INPUT_DTYPES)
        phi = feature_map(self.weights_, self.activation_, center=self._center, dtype=X.dtype)
        out: RealArray = np.empty((len(X), phi.n_features), X.dtype)
        for rows in blocks(len(X), phi.n_features):
            phi.fill(X[rows], out[rows])
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
