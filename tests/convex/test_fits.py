"""Fits with convex losses against scikit-learn's solvers, limits and certificates."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import entr
from sklearn.linear_model import LogisticRegression, QuantileRegressor
from sklearn.svm import SVC, SVR, LinearSVC

import doubletrouble as dt
from doubletrouble.convex import LinearFit, LinearModel
from doubletrouble.losses import LOSSES, Logistic, loss
from doubletrouble.parameters import FloatArray

SIZES = [(60, 25), (40, 90)]  # N, P
MARGIN = ("logistic", "hinge", "squared_hinge")


def data(n: int, p: int, seed: int = 0) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Random features, noisy labels, and their signs, a tenth of them flipped."""
    rng = np.random.default_rng(seed)
    x, theta = rng.standard_normal((n, 20)), rng.standard_normal((p, 20))
    phi = np.maximum(x @ theta.T / np.sqrt(20), 0) - 0.4
    signs = np.where(x[:, 0] > 0, 1.0, -1.0) * np.where(rng.random(n) < 0.1, -1, 1)
    return phi, x[:, 0] + 0.5 * rng.standard_t(2, n), signs


def weights(fit: LinearFit) -> FloatArray:
    assert fit.weights is not None
    return fit.weights


def objective(phi: FloatArray, y: FloatArray, kind: Any, alpha: float, a: Any, b: Any) -> float:
    return float(np.sum(loss(kind).value(y, phi @ a + b)) + alpha / 2 * float(a @ a))


def dual_objective(
    phi: FloatArray, y: FloatArray, kind: Any, alpha: float, w: FloatArray, gamma: FloatArray
) -> float:
    """A lower bound of the objective: Σ of the conjugate losses at G = alpha γ, less |Φᵀ G|²/2α."""
    G = alpha * gamma
    if isinstance(kind, Logistic):
        g = np.clip(y * G / w, 0.0, 1.0)
        conjugate = w * (entr(g) + entr(1 - g))
    else:
        low, high = kind.slopes
        bounded = y * G / w if kind.margin else G / w
        assert np.all((bounded >= low - 1e-9) & (bounded <= high + 1e-9))  # feasible
        conjugate = y * G - kind.softness * G * G / (2 * w)
    return float(np.sum(conjugate)) - float(np.sum((phi.T @ G) ** 2)) / (2 * alpha)


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("alpha", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("intercept", [False, True])
def test_fits_are_those_of_scikit_learn(n: int, p: int, alpha: float, intercept: bool) -> None:
    phi, values, signs = data(n, p)
    C, model = 1 / alpha, LinearModel(phi)
    cases: list[tuple[str, FloatArray, Any]] = [
        (
            "logistic",
            signs,
            LogisticRegression(
                C=C, tol=1e-10, max_iter=10**5, fit_intercept=intercept, solver="newton-cholesky"
            ),
        )
    ]
    if intercept:
        cases += [
            ("hinge", signs, SVC(kernel="linear", C=C, tol=1e-10)),
            ("absolute", values, SVR(kernel="linear", C=C, epsilon=0.0, tol=1e-10)),
        ]
    else:
        plain: Any = {"tol": 1e-7, "max_iter": 10**6, "fit_intercept": False}
        cases += [
            ("hinge", signs, LinearSVC(loss="hinge", C=C, **plain)),
            ("squared_hinge", signs, LinearSVC(C=C / 2, **plain)),
        ]
    for name, y, other in cases:
        ours, theirs = model.fit(y, name, alpha, intercept=intercept), other.fit(phi, y)
        a, b = np.ravel(theirs.coef_), float(np.ravel(theirs.intercept_)[0]) if intercept else 0.0
        np.testing.assert_allclose(weights(ours), a, atol=2e-4 * np.abs(a).max())
        best = objective(phi, y, name, alpha, weights(ours), ours.intercept)
        reached = objective(phi, y, name, alpha, a, b)
        assert best <= reached * (1 + 1e-9)
        assert reached <= best * (1 + 1e-4)  # to their tolerance


@pytest.mark.parametrize("level", [0.2, 0.5])
@pytest.mark.parametrize("intercept", [False, True])
def test_quantiles_without_penalty_are_those_of_scikit_learn(level: float, intercept: bool) -> None:
    phi, y, _ = data(60, 12)
    theirs = QuantileRegressor(quantile=level, alpha=0.0, fit_intercept=intercept).fit(phi, y)
    ours = LinearModel(phi).fit(y, f"quantile:{level}", 0.0, intercept=intercept)
    np.testing.assert_allclose(weights(ours), theirs.coef_, atol=1e-7)
    assert ours.intercept == pytest.approx(float(theirs.intercept_), abs=1e-7)


@pytest.mark.parametrize(("n", "p"), SIZES)
def test_huber_is_the_minimum_of_its_objective(n: int, p: int) -> None:
    phi, y, _ = data(n, p)
    kind, alpha = dt.losses.Huber(0.3), 0.5

    def value_and_slope(a: FloatArray) -> tuple[float, FloatArray]:
        slope = alpha * a - phi.T @ np.clip(y - phi @ a, -0.3, 0.3)
        return objective(phi, y, kind, alpha, a, 0.0), slope

    tight: Any = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10**5}
    theirs = minimize(value_and_slope, np.zeros(p), jac=True, method="L-BFGS-B", options=tight)
    ours = LinearModel(phi).fit(y, kind, alpha)
    np.testing.assert_allclose(weights(ours), theirs.x, atol=1e-6)


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("name", sorted(set(LOSSES) - {"max_margin"}))
def test_gap_bounds_the_objective_and_weights_are_repeated_rows(n: int, p: int, name: str) -> None:
    phi, values, signs = data(n, p)
    y, kind = signs if name in MARGIN else values, loss(name)
    counts = np.random.default_rng(1).integers(1, 4, n)
    for alpha in (1e-6, 0.1, 10.0):
        weighted = LinearModel(phi).fit(y, name, alpha, sample_weight=counts)
        repeated = LinearModel(np.repeat(phi, counts, axis=0)).fit(
            np.repeat(y, counts), name, alpha
        )
        if not kind.intercept:
            primal = float(counts @ kind.value(y, weighted.outputs))
            primal += alpha / 2 * float(weights(weighted) @ weights(weighted))
            w = counts.astype(np.float64)
            dual = dual_objective(phi, y, kind, alpha, w, weighted.dual)
            # residuals of an interpolation are rounding, of the size of the labels
            scale = primal + 1e-5 * float(w @ kind.value(y, 0 * y))
            assert abs(primal - dual) <= 2e-9 * scale
        scale = float(np.abs(weighted.outputs).max())
        first, second = weighted.outputs, repeated.outputs[np.cumsum(counts) - 1]
        np.testing.assert_allclose(first, second, atol=2e-4 * scale)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_both_sides_have_the_same_solution(name: str) -> None:
    """A rotation into more dimensions than samples changes nothing; nor does K alone."""
    phi, values, signs = data(40, 30)
    wide = phi @ np.linalg.qr(np.random.default_rng(2).standard_normal((70, 30)))[0].T
    y = signs if loss(name).margin else values
    narrow, broad, kernel = (
        LinearModel(*arguments).fit(y, name, 0.3, intercept=True).outputs
        for arguments in ((phi,), (wide,), (None, phi @ phi.T))
    )
    np.testing.assert_allclose(narrow, broad, atol=1e-5)
    np.testing.assert_allclose(narrow, kernel, atol=1e-5)


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["squared", "huber", "absolute", "quantile:0.9"])
def test_without_penalty_wide_models_interpolate_with_least_norm(name: str) -> None:
    phi, y, _ = data(20, 60)
    fit = LinearModel(phi).fit(y, name, 0.0, intercept=False)
    np.testing.assert_allclose(weights(fit), np.linalg.pinv(phi) @ y, atol=1e-8)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "max_margin"])
@pytest.mark.parametrize("intercept", [False, True])
def test_without_penalty_separable_data_have_the_maximum_margin(name: str, intercept: bool) -> None:
    phi, _, y = data(30, 50)
    fit = LinearModel(phi).fit(y, name, 0.0, intercept=intercept)
    assert np.min(y * fit.outputs) == pytest.approx(1, abs=1e-7)
    hard = LinearModel(phi).fit(y, "hinge", 1e-7, intercept=intercept)
    np.testing.assert_allclose(weights(fit), weights(hard), atol=1e-6)


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "absolute", "huber", "quantile:0.9"])
@pytest.mark.parametrize(("n", "p"), [(60, 25), (20, 60)])
def test_tiny_penalties_are_the_limit(n: int, p: int, name: str) -> None:
    """Also where the objective is below the rounding of its terms."""
    phi, values, signs = data(n, p)
    model, y = LinearModel(phi), signs if name in MARGIN else values
    limit = weights(model.fit(y, name, 0.0))
    for alpha in (1e-300, 1e-30, 1e-20, 1e-14):
        np.testing.assert_allclose(weights(model.fit(y, name, alpha)), limit, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("n", "p"), SIZES)
@pytest.mark.parametrize("name", MARGIN)
def test_huge_penalties_have_the_direction_of_the_mean(n: int, p: int, name: str) -> None:
    phi, _, y = data(n, p)
    slope = phi.T @ y * (0.5 if name == "logistic" else 1.0)  # of the loss at weights 0
    for alpha in (1e10, 1e15, 1e30):
        scaled = alpha * weights(LinearModel(phi).fit(y, name, alpha))
        np.testing.assert_allclose(scaled, slope, rtol=1e-6, atol=1e-7 * np.abs(slope).max())


def test_without_penalty_logistic_weights_diverge_on_separable_data_alone() -> None:
    phi, _, y = data(30, 50)
    with pytest.raises(dt.DivergenceError, match="MaxMargin"):
        LinearModel(phi).fit(y, "logistic", 0.0)
    phi, _, y = data(200, 10)
    ours = LinearModel(phi).fit(y, "logistic", 0.0)
    theirs = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10, max_iter=10**4)
    np.testing.assert_allclose(weights(ours), theirs.fit(phi, y).coef_[0], atol=1e-4)


@pytest.mark.parametrize("intercept", [False, True])
def test_maximum_margin_needs_separable_data(intercept: bool) -> None:
    phi, _, y = data(200, 10)
    with pytest.raises(dt.DivergenceError, match="separable"):
        LinearModel(phi).fit(y, "max_margin", 0.0, intercept=intercept)


def test_one_class_has_the_constant_of_its_label() -> None:
    phi, _, _ = data(10, 5)
    fit = LinearModel(phi).fit(np.ones(10), "hinge", 0.1, intercept=True)
    np.testing.assert_allclose(fit.outputs, 1.0)
    with pytest.raises(ValueError, match="both classes"):
        LinearModel(phi).fit(np.ones(10), "logistic", 0.1, intercept=True)


def test_random_settings_converge() -> None:
    """Sizes, penalties from 1e-8, repeated rows, weights and labels drawn at random."""
    rng = np.random.default_rng(0)
    names = sorted(set(LOSSES) - {"max_margin"})
    for _ in range(300):
        n, p = (int(k) for k in np.exp(rng.uniform(0.8, 4.5, 2)))
        phi, values, signs = data(n, p, int(rng.integers(1000)))
        if rng.random() < 0.2:
            phi = np.repeat(phi, 2, axis=0)[:n]
        name = str(rng.choice(names))
        y = signs if name in MARGIN else values
        counts = rng.integers(1, 4, n) if rng.random() < 0.3 else None
        intercept = bool(rng.random() < 0.5) and len(set(signs)) == 2
        alpha = float(10 ** rng.uniform(-6, 3))
        fit = LinearModel(phi).fit(y, name, alpha, sample_weight=counts, intercept=intercept)
        w = np.ones(n) if counts is None else counts
        a, b = weights(fit), fit.intercept
        least = float(w @ loss(name).value(y, phi @ a + b)) + alpha / 2 * float(a @ a)
        for scale in (0.0, 1e-3, 0.1):  # no other weights nearby are better
            other = a + scale * rng.standard_normal(p) * (float(np.abs(a).max()) or 1.0)
            more = float(w @ loss(name).value(y, phi @ other + b)) + alpha / 2 * float(
                other @ other
            )
            assert more >= least * (1 - 1e-8)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"alpha": -1.0}, r"^alpha must be in \[0, inf\), got -1.0$"),
        ({"alpha": math.nan}, r"^alpha must be in \[0, inf\), got nan$"),
        ({"labels": [1, 2, 1]}, r"^labels must be -1 or 1 for loss hinge, got 2.0 at index 1$"),
        ({"labels": [1, 1]}, r"^labels must have shape \(3,\), got \(2,\)$"),
        ({"sample_weight": [1, 1, 0]}, r"^sample_weight must be positive, got 0.0 at index 2$"),
    ],
)
def test_bad_input(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"labels": [1, -1, 1], "loss_like": "hinge", "alpha": 0.1}
    with pytest.raises(ValueError, match=message):
        LinearModel(np.eye(3)).fit(**given | changed)
