"""Estimators of scikit-learn: cloned, every random_state set, and not changed."""

from typing import Any, Self

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import doubletrouble as dt
from doubletrouble.errors import require
from doubletrouble.parameters import FloatArray
from tests.learners.known import FEW, curved, least_squares, pool, source


class SeedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Predicts the output of the step before it and its seed in turn."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        return np.where(np.arange(len(X)) % 2, self.random_state, X[:, 0])


class SeedTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Outputs its seed."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: FloatArray, y: Any = None) -> Self:
        return self

    def transform(self, X: FloatArray) -> FloatArray:
        return np.full((len(X), 1), float(self.random_state))


# --- seeds ---------------------------------------------------------------------------------------


def test_every_seed_of_a_pipeline_comes_from_the_initialization() -> None:
    result = dt.decompose(make_pipeline(SeedTransformer(), SeedRegressor()), source(), **FEW)
    before, own = result.predictions[..., 0], result.predictions[..., 1]
    for seeds in (before, own):
        assert len(np.unique(seeds)) == 3
        np.testing.assert_array_equal(seeds, np.broadcast_to(seeds[:1, :1], seeds.shape))
    assert not np.intersect1d(before, own).size
    others = dt.decompose(
        make_pipeline(SeedTransformer(), SeedRegressor()), source(), seed=1, **FEW
    )
    assert not np.intersect1d(others.predictions, result.predictions).size


def test_nested_estimators_are_seeded() -> None:
    bag = BaggingRegressor(DecisionTreeRegressor(max_features=1), n_estimators=2, random_state=5)
    result = dt.decompose(bag, source(), **FEW)
    again = dt.decompose(bag, source(), **FEW)
    np.testing.assert_array_equal(result.predictions, again.predictions)
    assert result.error().initialization.value > 0
    assert result.n_fits == 24


def test_the_estimator_is_not_changed() -> None:
    model = make_pipeline(StandardScaler(), RandomForestRegressor(2, random_state=3))
    before = str(model.get_params())
    dt.decompose(model, source(), **FEW)
    assert str(model.get_params()) == before
    assert not hasattr(model[-1], "estimators_")
    assert not hasattr(model[0], "mean_")


def test_a_fitted_estimator_is_fitted_anew() -> None:
    X, y = pool(20)
    fitted = LinearRegression().fit(X, y)
    coefficients = fitted.coef_.copy()
    result = dt.decompose(fitted, source(), **FEW)
    assert result.error().sampling.value > 0
    np.testing.assert_array_equal(fitted.coef_, coefficients)


# --- without randomness --------------------------------------------------------------------------


@pytest.mark.parametrize("model", [KernelRidge(), make_pipeline(StandardScaler(), KernelRidge())])
def test_estimators_without_a_seed_are_fitted_once(model: Any) -> None:
    result = dt.decompose(model, source(), **FEW)
    assert result.predictions.shape == (4, 2, 1, 30)
    assert result.n_fits == 8
    part = result.error().initialization
    assert (part.value, part.standard_error) == (0, 0)
    assert tuple(part.confidence_interval()) == (0, 0)
    assert result.anova().initialization.value == 0
    assert result.anova().noise_sampling == result.error().noise
    assert result.anova().noise_initialization_sampling.value == 0
    assert result.error(10).total == result.error().total
    assert any("random_state" in note for note in result.notes)
    assert not any("One initialization" in note for note in result.notes)


@pytest.mark.parametrize("model", [Ridge(), least_squares])
def test_a_seed_without_effect_has_a_note(model: Any) -> None:
    result = dt.decompose(model, source(), **FEW)
    assert result.n_fits == 24
    part = result.error().initialization
    assert (part.value, part.standard_error) == (0, 0)
    assert not any("negative" in note for note in result.notes)
    assert any("initializations" in note for note in result.notes)


def test_a_seed_that_changes_something_is_not_noted() -> None:
    result = dt.decompose(dt.RandomFeaturesRidge(10), source(), **FEW)
    assert not any("deterministic" in note for note in result.notes)


def test_an_estimator_equals_its_function() -> None:
    result = dt.decompose(LinearRegression(fit_intercept=False), source(), **FEW)
    expected = dt.decompose(least_squares, source(), **FEW)
    np.testing.assert_allclose(result.predictions[:, :, 0], expected.predictions[:, :, 0])


def test_searches_over_parameters_are_estimators() -> None:
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=2)
    result = dt.decompose(search, source(), **(FEW | {"n_data": 2}))
    assert result.error().total.value > 0


# --- inputs and outputs -------------------------------------------------------------------------


def test_several_outputs_are_added_up() -> None:
    X, y = pool(150, noise=0.3)
    both = dt.PoolSource(X, np.stack([y, -y], axis=1), n_samples=20, noise=0.3, n_test=50)
    one = dt.PoolSource(X, y, n_samples=20, noise=0.3, n_test=50, inject=0.3)
    result, half = (dt.decompose(KernelRidge(), data, **FEW) for data in (both, one))
    assert result.predictions.shape == (4, 3, 1, 50, 2)  # as they are, and twice with more noise
    assert result.error().bias.value == pytest.approx(2 * half.error().bias.value, rel=0.5)
    parts = sum(float(part.value) for part in result.error().parts.values())
    assert parts == pytest.approx(result.error().total.value)


def test_labels_may_be_one_column() -> None:
    def column(rng: np.random.Generator, n: int) -> Any:
        X, y = curved(rng, n)
        return X, y[:, None]

    data = dt.GeneratorSource(column, n_samples=20, noise=0.5, n_test=30)
    result = dt.decompose(KernelRidge(), data, **FEW)
    flat = dt.decompose(KernelRidge(), source(), **FEW)
    assert result.error().total.value == pytest.approx(flat.error().total.value)


def test_predictions_may_be_tensors() -> None:
    torch = require("torch", "torch")

    def fit(X: FloatArray, y: FloatArray, seed: int) -> Any:
        weights = torch.linalg.lstsq(torch.as_tensor(X), torch.as_tensor(y)[:, None]).solution
        weights.requires_grad_()
        return lambda X: torch.as_tensor(X) @ weights  # (T, 1), with a gradient

    result = dt.decompose(fit, source(), **FEW)
    expected = dt.decompose(least_squares, source(), **FEW)
    np.testing.assert_allclose(result.predictions, expected.predictions)


def test_inputs_may_be_tables() -> None:
    pandas = require("pandas", "tables")
    X, y = pool(150, noise=0.3)
    frame = pandas.DataFrame(X, columns=list("abc"))
    seen: list[Any] = []

    def fit(X: Any, y: Any, seed: int) -> Any:
        seen.append(X)
        return least_squares(X.to_numpy(), y, seed)

    result = dt.decompose(fit, dt.PoolSource(frame, pandas.Series(y), n_samples=20), **FEW)
    expected = dt.decompose(least_squares, dt.PoolSource(X, y, n_samples=20), **FEW)
    assert list(seen[0].columns) == ["a", "b", "c"]
    np.testing.assert_allclose(result.predictions, expected.predictions)
    model = make_pipeline(StandardScaler(), KernelRidge())
    assert dt.decompose(model, dt.PoolSource(frame, y, n_samples=20), **FEW).error().total.value > 0


def test_inputs_may_be_sparse_or_lists() -> None:
    sparse = require("scipy.sparse", "")
    X, y = pool(150)
    dense, thin, listed = (
        dt.decompose(Ridge(fit_intercept=False), dt.PoolSource(Z, y, n_samples=20), **FEW)
        for Z in (X, sparse.csr_array(X), X.tolist())
    )
    np.testing.assert_array_equal(dense.predictions, listed.predictions)
    np.testing.assert_allclose(dense.predictions, thin.predictions, rtol=1e-2, atol=1e-2)
