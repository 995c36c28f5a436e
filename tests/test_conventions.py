"""Conversions of the ridge and of training time, checked against fits and gradient descent."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.conventions import RIDGE_UNITS, TIME_UNITS, RidgeUnit, TimeUnit
from doubletrouble.parameters import FloatArray

# --- ridge ---------------------------------------------------------------------------------------


SIZES = [(40, 25, 10), (25, 40, 10), (30, 30, 30), (7, 50, 20)]  # P, N, D


class Draw:
    """Random features Φ on training and test inputs, and training labels."""

    def __init__(self, sizes: tuple[int, int, int], seed: int) -> None:
        self.P, self.N, self.D = sizes
        rng = np.random.default_rng(seed)
        theta = rng.standard_normal((self.D, self.P))
        x, x_test = rng.standard_normal((self.N, self.D)), rng.standard_normal((11, self.D))
        self.train = np.maximum(x @ theta / math.sqrt(self.D), 0.0)  # (N, P)
        self.test = np.maximum(x_test @ theta / math.sqrt(self.D), 0.0)  # (11, P)
        self.y = x @ rng.standard_normal(self.D) / math.sqrt(self.D) + rng.standard_normal(self.N)

    def converted(self, convention: RidgeUnit, ridge: float) -> float:
        sizes = {"n_features": self.P, "n_samples": self.N, "dim": self.D}
        value = dt.convert_ridge(ridge, "paper", convention, **sizes)
        assert isinstance(value, float)
        return value


def fitted(draw: Draw, convention: RidgeUnit, ridge: float) -> FloatArray:
    """Test predictions of the fit written in `convention`, each by a different route."""
    Phi, y, P, N, D = draw.train, draw.y, draw.P, draw.N, draw.D
    if convention == "paper":  # the gradient of (1/N)|y - Φa|² + (Pλ/D)|a|² vanishes
        a = np.linalg.solve(Phi.T @ Phi / N + ridge * P / D * np.eye(P), Phi.T @ y / N)
    elif convention == "sklearn":  # |y - Φa|² + alpha|a|² is least squares with P more rows
        rows = np.vstack([Phi, math.sqrt(ridge) * np.eye(P)])
        a = np.linalg.lstsq(rows, np.concatenate([y, np.zeros(P)]))[0]
    elif convention == "gram":
        c = np.linalg.solve(Phi @ Phi.T / P + ridge * np.eye(N), y)
        a = Phi.T @ c / P
    else:
        Z = Phi / math.sqrt(D)
        a = np.linalg.solve(Z.T @ Z + ridge * np.eye(P), Z.T @ y) / math.sqrt(D)
    return np.asarray(draw.test @ a, dtype=np.float64)


@pytest.mark.parametrize("convention", RIDGE_UNITS)
def test_conventions_give_the_same_fit(convention: RidgeUnit) -> None:
    for sizes in SIZES:
        draw = Draw(sizes, seed=0)
        for ridge in (1e-2, 1.0, 30.0):
            expected = fitted(draw, "paper", ridge)
            result = fitted(draw, convention, draw.converted(convention, ridge))
            rounding = 1e-10 * np.abs(expected).max()
            np.testing.assert_allclose(result, expected, rtol=1e-10, atol=rounding)


def test_the_papers_fit_minimizes_the_papers_loss() -> None:
    draw, ridge = Draw((12, 9, 5), seed=1), 0.3
    rng = np.random.default_rng(2)
    normal = draw.train.T @ draw.train / draw.N + ridge * draw.P / draw.D * np.eye(draw.P)
    best: FloatArray = np.asarray(np.linalg.solve(normal, draw.train.T @ draw.y / draw.N), float)

    def loss(a: FloatArray) -> float:
        misfit = float(np.mean((draw.y - draw.train @ a) ** 2))
        return misfit + draw.P * ridge / draw.D * float(a @ a)

    for _ in range(20):
        assert loss(best) < loss(best + 1e-3 * rng.standard_normal(draw.P))


def test_unconverted_ridge_gives_another_fit() -> None:
    draw = Draw((40, 25, 10), seed=0)
    for convention in set(RIDGE_UNITS) - {"paper"}:
        wrong = fitted(draw, convention, 1.0) - fitted(draw, "paper", 1.0)
        assert np.abs(wrong).max() > 1e-2, convention


def test_gram_is_the_ridge_of_a_spectral_problem() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.5, ridge=0.3)
    delta = dt.convert_ridge(0.3, "paper", "gram", n_features=400, n_samples=300, dim=200)
    spectral = dt.SpectralProblem.from_problem(problem, dim=200)
    assert spectral.gram_ridge == pytest.approx(delta, rel=1e-15)


def test_converted_ridges_convert_back() -> None:
    for (source, target), sizes in product(product(RIDGE_UNITS, repeat=2), SIZES):
        counts = dict(zip(("n_features", "n_samples", "dim"), sizes, strict=True))
        for ridge in (0.0, 1e-300, 1e-5, 0.7, 1e9, math.inf):
            there = dt.convert_ridge(ridge, source, target, **counts)
            back = dt.convert_ridge(there, target, source, **counts)
            assert type(back) is float
            assert back == pytest.approx(ridge, rel=8e-16, abs=0)
            assert source != target or there == ridge


def test_conversions_compose() -> None:
    sizes: dict[str, Any] = {"n_features": 7, "n_samples": 50, "dim": 20}
    for one, two in product(RIDGE_UNITS, repeat=2):
        on_the_way = dt.convert_ridge(
            dt.convert_ridge(0.3, one, "paper", **sizes), "paper", two, **sizes
        )
        assert dt.convert_ridge(0.3, one, two, **sizes) == pytest.approx(on_the_way, rel=1e-15)
    for first, second in product(TIME_UNITS, repeat=2):
        on_the_way = dt.convert_time(
            dt.convert_time(0.3, first, "flow", **sizes), "flow", second, **sizes
        )
        assert dt.convert_time(0.3, first, second, **sizes) == pytest.approx(on_the_way, rel=1e-15)


@pytest.mark.parametrize("convention", RIDGE_UNITS)
def test_arrays_broadcast(convention: RidgeUnit) -> None:
    ridge, features = np.array([0.0, 0.1, 1.0]), np.array([[10.0], [20.0]])
    there = dt.convert_ridge(ridge, "paper", convention, n_features=features, n_samples=5, dim=4)
    assert np.shape(there) == (2, 3)
    one = dt.convert_ridge(0.1, "paper", convention, n_features=20, n_samples=5, dim=4)
    assert np.asarray(there)[1, 1] == one
    back = dt.convert_ridge(there, convention, "paper", n_features=features, n_samples=5, dim=4)
    np.testing.assert_allclose(back, np.broadcast_to(ridge, (2, 3)), rtol=1e-15)


@pytest.mark.parametrize("convention", RIDGE_UNITS)
def test_zero_and_infinite_ridges_are_unchanged(convention: RidgeUnit) -> None:
    sizes: dict[str, Any] = {"n_features": 1e50, "n_samples": 1e50, "dim": 1.0}
    assert dt.convert_ridge(0.0, "paper", convention, **sizes) == 0.0
    assert dt.convert_ridge(math.inf, convention, "paper", **sizes) == math.inf
    tiny: dict[str, Any] = {"n_features": 1e-50, "n_samples": 1e-50, "dim": 1.0}
    assert dt.convert_ridge(0.0, convention, "paper", **tiny) == 0.0
    assert dt.convert_ridge(math.inf, "paper", convention, **tiny) == math.inf


def test_large_sizes_do_not_overflow_on_the_way() -> None:
    sizes: dict[str, Any] = {"n_features": 1e50, "n_samples": 1e50, "dim": 1e50}
    assert dt.convert_ridge(1.0, "paper", "sklearn", **sizes) == pytest.approx(1e50, rel=1e-15)


def test_gram_ridge_does_not_depend_on_the_number_of_features() -> None:
    many = dt.convert_ridge(0.1, "paper", "gram", n_features=math.inf, n_samples=3, dim=2)
    assert many == dt.convert_ridge(0.1, "paper", "gram", n_features=5, n_samples=3, dim=2)


# --- training time -------------------------------------------------------------------------------


P, N, D, RIDGE = 7, 5, 3, 0.02


def descended(
    loss: TimeUnit, features: FloatArray, y: FloatArray, steps: int, rate: float
) -> FloatArray:
    """Weights a after gradient descent on a loss, from zero: a ← a + rate (b - H a)."""
    scale = {"mean": 2 / N, "half_mean": 1 / N, "sum": 2.0, "half_sum": 1.0}[loss]
    H = scale * (features.T @ features + N * P * RIDGE / D * np.eye(P))
    remaining = np.linalg.matrix_power(np.eye(P) - rate * H, steps)
    best = np.linalg.solve(H, scale * features.T @ y)
    return np.asarray(best - remaining @ best, dtype=np.float64)


@pytest.mark.parametrize("loss", ["mean", "half_mean", "sum", "half_sum"])
def test_gradient_descent_follows_the_flow(loss: TimeUnit) -> None:
    rng = np.random.default_rng(0)
    features, y = rng.standard_normal((N, P)), rng.standard_normal(N)
    alpha, time, steps = N * P * RIDGE / D, 0.8, 20_000
    values, vectors = np.linalg.eigh(features.T @ features)
    gains = -np.expm1(-time * (values + alpha) / D) / (values + alpha)
    flowed = vectors @ (gains * (vectors.T @ (features.T @ y)))
    rate = float(dt.convert_time(time, "flow", loss, n_samples=N, dim=D)) / steps
    assert descended(loss, features, y, steps, rate) == pytest.approx(flowed, rel=1e-3)
    wrong = descended(loss, features, y, steps, 1.2 * rate)
    assert wrong != pytest.approx(flowed, rel=1e-3)


@pytest.mark.parametrize("time_unit", TIME_UNITS)
def test_converted_times_convert_back(time_unit: TimeUnit) -> None:
    sizes: dict[str, Any] = {"n_features": 20, "n_samples": 30, "dim": 10}
    time = np.array([0.0, 0.1, 1e6])
    there = dt.convert_time(time, "flow", time_unit, **sizes)
    back = dt.convert_time(there, time_unit, "flow", **sizes)
    assert back == pytest.approx(time)


@pytest.mark.parametrize("time_unit", TIME_UNITS)
def test_times_have_the_shape_of_all_arguments(time_unit: TimeUnit) -> None:
    sizes: dict[str, Any] = {"n_features": [[10.0], [20.0]], "n_samples": 5, "dim": 4}
    for source, target in ((time_unit, "flow"), ("flow", time_unit), (time_unit, time_unit)):
        units: Any = source, target
        many = dt.convert_time(0.1, *units, **sizes)
        assert np.shape(many) == (2, 1)
        one = dt.convert_time(0.1, *units, n_features=20, n_samples=5, dim=4)
        assert np.asarray(many)[1, 0] == one


def test_a_conversion_of_ridges_needs_the_features_where_they_enter() -> None:
    sizes = {"n_samples": 300, "dim": 100}
    assert dt.convert_ridge(1.0, "paper", "gram", **sizes) == 3.0
    with pytest.raises(ValueError, match=r"^n_features must be given for the unit 'sklearn'"):
        dt.convert_ridge(1.0, "paper", "sklearn", **sizes)
    with pytest.raises(ValueError, match=r"^n_features must be finite for the unit 'per_dim'"):
        dt.convert_ridge(1.0, "per_dim", "gram", n_features=math.inf, **sizes)


def test_arguments_of_a_conversion_of_time_are_validated() -> None:
    unknown: Any = "epochs"
    with pytest.raises(ValueError, match=r"^target must"):
        dt.convert_time(1.0, "flow", unknown, n_samples=1, dim=1)
    with pytest.raises(ValueError, match=r"^value must"):
        dt.convert_time(-1, "mean", "flow", n_samples=1, dim=1)
    with pytest.raises(ValueError, match=r"^n_features must be given"):
        dt.convert_time(1.0, "gram", "mean", n_samples=1, dim=1)
    with pytest.raises(ValueError, match=r"^n_features must be finite"):
        dt.convert_time(1.0, "flow", "gram", n_samples=1, dim=1, n_features=np.inf)
