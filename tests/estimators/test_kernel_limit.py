"""Infinitely many features: kernel ridge regression, its leave-one-out errors and its limit."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge

import doubletrouble as dt
from doubletrouble.estimators import _features
from doubletrouble.estimators._features import draws_generator, seed_of
from doubletrouble.parameters import FloatArray
from tests.estimators.literal import data
from tests.messages import message_of

RIDGES = [0.0, 1e-6, 1e-3, 0.1, 10.0]
SCHEMES = [dt.Divide(2), dt.Subsample(3, fraction=0.6), dt.Bootstrap(3)]


def infinite(**options: Any) -> dt.RandomFeaturesRidge:
    return dt.RandomFeaturesRidge(math.inf, **({"random_state": 0} | options))


def literal(
    x: FloatArray,
    y: FloatArray,
    new: FloatArray,
    ridge: float,
    *,
    weights: FloatArray | None = None,
    intercept: bool = False,
    activation: str = "relu",
) -> FloatArray:
    """The prediction from the stationary point [K + δ/w, 1; 1ᵀ, 0] (β, b) = (y, 0)."""
    n, dim = x.shape
    w = np.ones(n) if weights is None else weights
    system = np.zeros((n + intercept, n + intercept))
    system[:n, :n] = dt.kernel(activation, x, center=True) + np.diag(ridge * w.sum() / dim / w)
    if intercept:
        system[n, :n] = system[:n, n] = 1
    right = np.vstack([y.reshape(n, -1), np.zeros((int(intercept), y.size // n))])
    solved = np.linalg.lstsq(system, right, rcond=1e-13)[0]
    mean = dt.kernel(activation, new, x, center=True) @ solved[:n]
    return np.asarray(mean + solved[n:].sum(axis=0)).reshape(len(new), *y.shape[1:])


@pytest.mark.parametrize("name", ["relu", "erf", "sign", "cos", "leaky_relu", "tanh", "gelu"])
def test_equals_kernel_ridge_of_scikit_learn(name: str) -> None:
    x, y = data(40, 5)
    new, _ = data(15, 5, seed=1)
    for center in (True, False):
        for ridge in (1e-3, 0.5):
            sizes = {"n_features": math.inf, "n_samples": 40, "dim": 5}
            delta = float(dt.convert_ridge(ridge, "paper", "gram", **sizes))
            theirs = KernelRidge(alpha=delta, kernel="precomputed")
            theirs.fit(dt.kernel(name, x, center=center), y)
            expected = theirs.predict(dt.kernel(name, new, x, center=center))
            ours = infinite(activation=name, center=center, ridge=ridge).fit(x, y)
            np.testing.assert_allclose(ours.predict(new), expected, atol=1e-9)
            np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-7)
            assert np.array_equal(ours.X_fit_, x)


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_the_literal_solution(weighted: bool, intercept: bool, outputs: int | None) -> None:
    x, y = data(25, 4, outputs=outputs)
    new, _ = data(10, 4, seed=1)
    w = np.random.default_rng(1).uniform(0.2, 3, 25) if weighted else None
    y = y + 3.0
    path = infinite(fit_intercept=intercept).ridge_path(x, y, RIDGES, w)
    for ridge, along in zip(RIDGES, path.predict(new), strict=True):
        model = infinite(ridge=ridge, fit_intercept=intercept).fit(x, y, w)
        expected = literal(x, y, new, ridge, weights=w, intercept=intercept)
        np.testing.assert_allclose(model.predict(new), expected, atol=1e-7)
        np.testing.assert_allclose(along, expected, atol=1e-7)
        by_hand = dt.kernel("relu", new, model.X_fit_, center=True) @ model.dual_coef_
        np.testing.assert_allclose(by_hand + model.intercept_, expected, atol=1e-7)
        assert model.dual_coef_.shape == y.shape
        assert model.ridge_ == ridge


@pytest.mark.parametrize("outputs", [None, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_leave_one_out_error_is_exact(weighted: bool, intercept: bool, outputs: int | None) -> None:
    x, y = data(20, 4, outputs=outputs)
    y = y + 1.0
    w = np.random.default_rng(1).uniform(0.2, 3, 20) if weighted else np.ones(20)
    path = infinite(fit_intercept=intercept).ridge_path(x, y, RIDGES, w if weighted else None)
    for ridge, error in zip(RIDGES, path.loo_error, strict=True):
        missed = []
        for row in range(20):
            rest = np.arange(20) != row
            at = literal(
                x[rest], y[rest], x[row : row + 1], ridge, weights=w[rest], intercept=intercept
            )
            missed.append(np.mean((y[row] - at[0]) ** 2))
        assert error == pytest.approx(np.average(missed, weights=w), rel=1e-6), ridge
    within = np.mean((path.predict(x)[2] - y) ** 2)
    assert path.loo_error[2] > 2 * within  # negative control


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_members_with_their_own_rows_are_averaged(scheme: dt.Scheme) -> None:
    x, y = data(24, 4)
    new, _ = data(6, 4, seed=1)
    w = np.random.default_rng(1).uniform(0.5, 2, 24)
    n_members = int(np.asarray(scheme.n_members))
    counts = scheme.draw_samples(24, n_members, draws_generator(seed_of(0)))
    for intercept in (True, False):
        how: dict[str, Any] = {"ensemble": scheme, "fit_intercept": intercept}

        def mean(points: FloatArray, keep: FloatArray, how: Any = intercept) -> FloatArray:
            predictions = []
            for drawn in counts:
                own = (drawn > 0) & keep
                weights = (drawn * w)[own]
                fit = literal(x[own], y[own], points, 0.1, weights=weights, intercept=how)
                predictions.append(fit)
            return np.asarray(np.mean(predictions, axis=0))

        everything = np.ones(24, bool)
        model = infinite(ridge=0.1, **how).fit(x, y, w)
        np.testing.assert_allclose(model.predict(new), mean(new, everything), atol=1e-10)
        path = infinite(**how).ridge_path(x, y, 0.1, w)
        np.testing.assert_allclose(path.predict(new)[0], mean(new, everything), atol=1e-10)
        outside = [mean(x[i : i + 1], np.arange(24) != i)[0] for i in range(24)]
        expected = np.average((y - np.array(outside)) ** 2, weights=w)
        assert path.loo_error[0] == pytest.approx(expected, rel=1e-9)


def test_members_with_all_rows_are_equal() -> None:
    x, y = data(20, 4)
    one = infinite(ridge="loo").fit(x, y)
    for ensemble in (5, math.inf, dt.Ensemble(3)):
        several = infinite(ridge="loo", ensemble=ensemble, random_state=1).fit(x, y)
        assert np.array_equal(several.predict(x), one.predict(x))


@pytest.mark.parametrize("ensemble", [1, dt.Divide(2)], ids=repr)
def test_loo_selects_the_best_ridge(ensemble: int | dt.Scheme) -> None:
    x, y = data(60, 5)
    how: dict[str, Any] = {"ensemble": ensemble, "fit_intercept": True}
    model = infinite(ridge="loo", ridges=[1e3, 0.01, 1e2], **how).fit(x, y)
    assert model.ridge_ == 0.01
    assert model.loo_error_ == model.loo_path_.loo_error.min() == model.loo_path_.loo_error[1]
    same = infinite(ridge=0.01, **how).fit(x, y)
    np.testing.assert_allclose(model.predict(x), same.predict(x), atol=1e-10)


@pytest.mark.statistical
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_finite_features_converge_to_the_limit(name: str, intercept: bool) -> None:
    """In standard errors of the mean over draws; a δ with one more factor 1/D is a control."""
    x, y = data(30, 5)
    new, _ = data(20, 5, seed=1)
    how: dict[str, Any] = {"activation": name, "fit_intercept": intercept}
    limit, wrong = (infinite(ridge=r, **how).fit(x, y).predict(new) for r in (0.1, 0.1 / 5))
    deviations, from_wrong = [], []
    for p in (400, 1600, 6400):
        draws = np.array(
            [
                dt.RandomFeaturesRidge(p, ridge=0.1, random_state=seed, **how)
                .fit(x, y)
                .predict(new)
                for seed in range(40)
            ]
        )
        deviations.append(np.sqrt(np.mean((draws - limit) ** 2)))
        error = draws.std(axis=0, ddof=1) / np.sqrt(len(draws))
        z, z_wrong = ((draws.mean(axis=0) - mean) / error for mean in (limit, wrong))
        from_wrong.append(np.abs(z_wrong).max())
    assert np.abs(z).max() < 4.5
    assert min(from_wrong[1:]) > 10
    ratios = np.array(deviations[:-1]) / deviations[1:]
    np.testing.assert_allclose(ratios, 2.0, rtol=0.25)  # the root of the ratio of P


@pytest.mark.statistical
def test_members_have_the_rows_of_finite_features() -> None:
    x, y = data(30, 5)
    how: dict[str, Any] = {"ensemble": dt.Bootstrap(2), "ridge": 0.1, "random_state": 3}
    finite = dt.RandomFeaturesRidge(20_000, **how).fit(x, y).predict(x)
    limit = dt.RandomFeaturesRidge(math.inf, **how).fit(x, y).predict(x)
    other = dt.RandomFeaturesRidge(math.inf, **(how | {"random_state": 4})).fit(x, y).predict(x)
    assert np.abs(finite - limit).max() < 0.05 < np.abs(finite - other).max()


def test_no_ridge_interpolates() -> None:
    x, y = data(40, 5)
    for intercept in (True, False):
        model = infinite(ridge=0, fit_intercept=intercept).fit(x, y + 10)
        np.testing.assert_allclose(model.predict(x), y + 10, atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_singular_kernel_has_the_minimum_norm_fit(intercept: bool) -> None:
    """A linear kernel is linear regression, for fewer and for more rows than dimensions."""
    new, _ = data(10, 6, seed=1)
    for n in (30, 4):
        x, y = data(n, 6)
        y = y + 2.0
        model = infinite(activation="linear", ridge=0, fit_intercept=intercept).fit(x, y)
        shift, mean = (x.mean(axis=0), y.mean()) if intercept else (np.zeros(6), 0.0)
        weights = np.linalg.lstsq(x - shift, y - mean, rcond=None)[0]
        np.testing.assert_allclose(model.predict(new), (new - shift) @ weights + mean, atol=1e-9)
        path = infinite(activation="linear", fit_intercept=intercept).ridge_path(x, y, [0, 1e-9])
        missed = []
        for row in range(n):
            rest = np.arange(n) != row
            fit = clone(model).fit(x[rest], y[rest])
            missed.append(y[row] - fit.predict(x[row : row + 1])[0])
        assert path.loo_error[0] == pytest.approx(np.mean(np.square(missed)), rel=1e-8)
        assert path.loo_error[1] == pytest.approx(path.loo_error[0], rel=1e-4)


@pytest.mark.parametrize("name", ["relu", "erf", "sign", "tanh"])
def test_repeated_rows_have_their_mean_label(name: str) -> None:
    x, y = data(12, 5)
    twice = np.vstack([x, x[:4]])
    labels = np.concatenate([y, y[:4] + 1.0])
    model = infinite(activation=name, ridge=0).fit(twice, labels)
    expected = y + 0.5 * (np.arange(12) < 4)
    np.testing.assert_allclose(model.predict(x), expected, atol=1e-6)
    merged = infinite(activation=name, ridge=0.1).fit(x, expected, 1 + (np.arange(12) < 4))
    both = infinite(activation=name, ridge=0.1).fit(twice, labels)
    np.testing.assert_allclose(both.predict(x), merged.predict(x), atol=1e-8)


@pytest.mark.parametrize("name", ["erf", "cos", "tanh", "relu", "sign"])
def test_one_dimension_is_fitted_without_a_ridge(name: str) -> None:
    """The eigenvalues of a kernel in one dimension decrease to the rounding of the largest."""
    x, _ = data(200, 1)
    y = np.sin(2 * x[:, 0])
    small, none = (
        infinite(activation=name, ridge=ridge, fit_intercept=True).fit(x, y).score(x, y)
        for ridge in (1e-6, 0)
    )
    assert small - 1e-3 < none <= 1


def test_rows_that_are_all_zero_are_fitted() -> None:
    x, y = np.zeros((6, 3)), np.arange(6.0)
    assert np.array_equal(infinite(center=False, ridge=0).fit(x, y).predict(x), np.zeros(6))
    constant = infinite(center=False, ridge=0, fit_intercept=True).fit(x, y)
    np.testing.assert_allclose(constant.predict(x), np.full(6, 2.5))
    np.testing.assert_allclose(infinite(ridge=0).fit(x, y).predict(x), np.full(6, 2.5))


def test_result_is_independent_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = data(30, 5, outputs=2)
    for ridge in (0.0, 0.1, "loo"):
        model = infinite(ridge=ridge, fit_intercept=True, ensemble=dt.Bootstrap(2))
        whole = model.fit(x, y).predict(x)
        with monkeypatch.context() as patch:
            patch.setattr(_features, "_BLOCK_ENTRIES", 100)
            np.testing.assert_allclose(model.fit(x, y).predict(x), whole, atol=1e-8)


def test_zero_weights_leave_rows_out() -> None:
    x, y = data(20, 4)
    keep = np.arange(20) % 3 > 0
    model = infinite(ridge=0.1).fit(x, y, keep.astype(float))
    assert np.array_equal(model.predict(x), infinite(ridge=0.1).fit(x[keep], y[keep]).predict(x))
    assert model.X_fit_.shape == (13, 4)


def test_single_precision_is_fitted_in_double() -> None:
    x, y = data(40, 5)
    x32 = x.astype(np.float32)
    for ridge in (1e-6, "loo"):
        single, double = (infinite(ridge=ridge).fit(v, y) for v in (x32, x32.astype(float)))
        assert single.predict(x32).dtype == np.float32
        np.testing.assert_allclose(single.dual_coef_, double.dual_coef_, rtol=1e-12)
        np.testing.assert_allclose(single.predict(x32), double.predict(x32), rtol=1e-6)
    assert single.loo_path_.predict(x32).dtype == np.float32


def test_later_changes_of_the_data_have_no_effect() -> None:
    x, y = data(20, 4)
    model = infinite().fit(x, y)
    new, _ = data(5, 4, seed=1)
    before = model.predict(new)
    x[:] = 0
    assert np.array_equal(model.predict(new), before)


def test_attributes_are_those_of_the_kernel() -> None:
    x, y = data(20, 4)
    model = infinite(ridge="loo").fit(x, y)
    for name in ("coef_", "alpha_", "weights_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=r"^coef_ is an attribute of fits with finite"):
        _ = model.coef_
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(x), model.predict(x))
    assert clone(model).get_params() == model.get_params()
    model.set_params(n_features=5, ridge=0.1).fit(x, y)
    assert model.coef_.shape == (1, 5)
    for name in ("dual_coef_", "X_fit_", "loo_path_"):
        assert not hasattr(model, name)
    assert not hasattr(model.set_params(n_features=math.inf).fit(x, y), "weights_")


def test_classes_are_those_of_the_largest_output() -> None:
    x, _ = data(60, 3)
    for labels in (x[:, 0] > 0, np.digitize(x[:, 0], [-0.5, 0.5])):
        model = dt.RandomFeaturesClassifier(math.inf, ridge="loo", fit_intercept=True)
        assert model.fit(x, labels).score(x, labels) > 0.9


def test_parameters_are_checked() -> None:
    x, y = data(20, 4)
    bad: list[tuple[str, dict[str, Any]]] = [
        ("n_features", {"n_features": -math.inf}),
        ("n_features", {"n_features": math.nan}),
        ("alpha", {"alpha": 1.0}),
        ("ensemble", {"ensemble": dt.FeatureBank(2, bank_per_dim=5.0)}),
        ("ensemble", {"ensemble": dt.Bootstrap(math.inf)}),
        ("ensemble", {"ensemble": dt.Divide(21)}),
        ("ridge", {"ridge": -1}),
    ]
    for name, options in bad:
        model = dt.RandomFeaturesRidge(**({"n_features": math.inf} | options))
        assert message_of(model.fit, x, y).startswith(f"{name} must"), options
    message = message_of(infinite().partial_fit, x, y)
    assert message == "n_features must be finite for partial_fit, got inf"
    transformer = dt.RandomFeatures().set_params(n_features=math.inf)
    assert message_of(transformer.fit, x).startswith("n_features must")
    assert "2 rows" in message_of(infinite(ridge="loo").fit, x[:1], y[:1])


def test_inputs_out_of_range_are_refused() -> None:
    x, y = data(20, 4)
    model = infinite(center=False)
    for size in (1e-100, 1e80):
        for ridge in (0.1, "loo"):
            assert message_of(model.set_params(ridge=ridge).fit, size * x, y).startswith("X must")
    assert message_of(model.fit(1e60 * x, y).predict, 1e99 * x).startswith("X must")
    assert message_of(model.ridge_path(x, y, 0.1).predict, x[:, :2]).startswith("X must")
