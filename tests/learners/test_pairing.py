"""Two learners on the same data sets: their estimates are paired."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from doubletrouble.parameters import FloatArray
from tests.learners.known import FEW, Predict, curved, pool, random_features, source


def compared(one: Any, other: Any, **options: Any) -> tuple[dt.Estimate, float]:
    """The difference of two totals, and its standard error if they were independent."""
    data = options.pop("data", None) or (source(), source())
    given: dict[str, Any] = {"n_data": 10, "n_init": 3, "n_noise": 2, "progress": False} | options
    a, b = (
        dt.decompose(model, where, **given).error().total
        for model, where in zip((one, other), data, strict=True)
    )
    return a - b, math.hypot(float(a.standard_error), float(b.standard_error))


def squares(model: Any, **options: Any) -> FloatArray:
    """The squared errors [data, noise, init, test] of all fits."""
    given: dict[str, Any] = {"n_data": 10, "n_init": 3, "n_noise": 2, "progress": False} | options
    result = dt.decompose(model, source(), **given)
    return np.asarray((result.predictions - result.y_test) ** 2)


def test_deterministic_learners_are_compared_data_set_by_data_set() -> None:
    models = Ridge(alpha=1.0), Ridge(alpha=3.0)
    result, independent = compared(*models, include_test=False)
    losses = [squares(model).mean(axis=(1, 2, 3)) for model in models]
    differences = losses[0] - losses[1]
    assert float(result) == pytest.approx(differences.mean())
    expected = differences.std(ddof=1) / math.sqrt(10)
    assert result.standard_error == pytest.approx(expected, rel=1e-9)
    assert result.standard_error < 0.8 * independent


def other_features(X: FloatArray, y: FloatArray, seed: int) -> Predict:
    return random_features(X, np.tanh(y), seed)


@pytest.mark.parametrize("other", [Ridge(alpha=3.0), other_features])
def test_standard_error_of_a_difference_is_the_jackknife_of_differences(other: Any) -> None:
    result, independent = compared(random_features, other, include_test=False)
    losses = [squares(model).mean(axis=(1, 3)) for model in (random_features, other)]
    differences = losses[0] - losses[1]  # [data, init]; one initialization goes with all
    D, K = differences.shape
    assert float(result) == pytest.approx(differences.mean())
    whole = differences.mean()
    no_data = np.array([np.delete(differences, d, axis=0).mean() for d in range(D)])
    no_init = np.array([np.delete(differences, k, axis=1).mean() for k in range(K)])
    neither = np.array(
        [
            [np.delete(np.delete(differences, d, axis=0), k, axis=1).mean() for k in range(K)]
            for d in range(D)
        ]
    )
    V_d = (D - 1) / D * np.sum((no_data - whole) ** 2)
    V_k = (K - 1) / K * np.sum((no_init - whole) ** 2)
    both = neither - no_data[:, None] - no_init + whole
    V_dk = (D - 1) * (K - 1) / (D * K) * np.sum(both**2)
    expected = math.sqrt(V_d + max(V_k - V_dk, 0.0))
    assert result.standard_error == pytest.approx(expected, rel=1e-9)
    assert result.standard_error != pytest.approx(independent, rel=1e-3)


def test_differences_of_similar_learners_are_precise() -> None:
    result, independent = compared(Ridge(alpha=1.0), Ridge(alpha=1.001))
    assert result.standard_error < 0.01 * independent


@pytest.mark.parametrize(
    "options",
    [
        {"data": (source(), source(n_test=31))},
        {"data": (source(), source(noise=0.7))},
        {"data": (dt.PoolSource(*pool(300), n_samples=20, n_test=30),) * 2},
    ],
    ids=["test points", "noise", "pool"],
)
def test_keys_are_those_of_the_data(options: dict[str, Any]) -> None:
    result, independent = compared(Ridge(alpha=1.0), Ridge(alpha=3.0), **options)
    same = options["data"][0] is options["data"][1]
    assert (result.standard_error == pytest.approx(independent)) is not same


@pytest.mark.parametrize("change", [{"seed": 1}, {"n_data": 9}, {"n_noise": 3}, {"n_init": 4}])
def test_other_draws_are_independent(change: dict[str, int]) -> None:
    given: dict[str, Any] = {"n_data": 10, "n_init": 3, "n_noise": 2, "progress": False}
    a = dt.decompose(random_features, source(), **given).error().total
    b = dt.decompose(random_features, source(), **given | change).error().total
    expected = math.hypot(float(a.standard_error), float(b.standard_error))
    assert (a - b).standard_error == pytest.approx(expected)


def test_sources_of_equal_draws_are_paired() -> None:
    """Draws are compared, not code: a local function is the same source as its copy."""

    def again(rng: np.random.Generator, n: int) -> Any:
        return curved(rng, n)

    copied = dt.GeneratorSource(again, n_samples=20, noise=0.5, n_test=30)
    one = dt.decompose(Ridge(), source(), **FEW)
    result = one.error().total - dt.decompose(Ridge(), copied, **FEW).error().total
    assert (result.value, result.standard_error) == (0, 0)
    stored = pickle.loads(pickle.dumps(one)).error().total
    assert (one.error().total - stored).standard_error == 0


def test_a_difference_of_errors_is_paired() -> None:
    a, b = (dt.decompose(Ridge(alpha=alpha), source(), **FEW) for alpha in (1.0, 3.0))
    result = a.error() - b.error()
    assert list(result.parts) == ["noise", "initialization", "sampling", "bias"]
    for name, part in {**result.parts, "total": result.total}.items():
        assert part == getattr(a.error(), name) - getattr(b.error(), name)
    independent = math.hypot(*(float(d.error().total.standard_error) for d in (a, b)))
    assert result.total.standard_error < 0.8 * independent


@pytest.mark.parametrize("change", [{"seed": 1}, {"n_init": 4}, {"include_test": False}])
def test_errors_of_other_draws_subtract_as_independent_ones(change: dict[str, Any]) -> None:
    a = dt.decompose(random_features, source(), **FEW).error()
    b = dt.decompose(random_features, source(), **(FEW | change)).error()
    for name, part in (a - b).parts.items():
        errors = [float(getattr(terms, name).standard_error) for terms in (a, b)]
        assert part.standard_error == pytest.approx(math.hypot(*errors))
