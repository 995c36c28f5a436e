"""The path of ridges, and leave-one-out errors, against separate fits."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import doubletrouble as dt
from doubletrouble.errors import require
from doubletrouble.estimators._features import draws_generator, seed_of
from doubletrouble.parameters import FloatArray
from tests.estimators.literal import data, left_out_error

RIDGES = [0.0, 1e-8, 1e-3, 0.1, 10.0]


def check_path(
    p: int,
    x: FloatArray,
    y: FloatArray,
    w: FloatArray | None = None,
    *,
    rel: float = 1e-6,
    counts: Any = None,
    **options: Any,
) -> None:
    """Compare errors with leaving out each row in turn, and predictions with fits."""
    path = dt.RandomFeaturesRidge(p, random_state=0, **options).ridge_path(x, y, RIDGES, w)
    case: dict[str, Any] = {"counts": counts, "weights": w}
    case["intercept"] = options.get("fit_intercept", False)
    for ridge, error, predictions in zip(RIDGES, path.loo_error, path.predict(x), strict=True):
        model = dt.RandomFeaturesRidge(p, ridge=ridge, random_state=0, **options).fit(x, y, w)
        np.testing.assert_allclose(model.predict(x), predictions, atol=1e-6)
        expected = left_out_error(x, y, model.weights_, ridge, **case)
        assert error == pytest.approx(expected, rel=rel), (p, ridge, options)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(25, 10), (15, 30), (12, 12), (12, 11), (2, 5), (2, 1)])
def test_leave_one_out_error_is_exact(n: int, p: int, intercept: bool) -> None:
    for members in (1, 3):
        check_path(p, *data(n, 5), ensemble=members, fit_intercept=intercept)


def test_agrees_with_cross_validation() -> None:
    x, y = data(30, 5)
    model = dt.RandomFeaturesRidge(20, ridge=0.01, random_state=0)
    outside = cross_val_predict(model, x, y, cv=LeaveOneOut())
    (error,) = model.ridge_path(x, y, 0.01).loo_error
    assert error == pytest.approx(np.mean((y - outside) ** 2), rel=1e-10)
    within = np.mean((y - model.fit(x, y).predict(x)) ** 2)
    assert error > 2 * within  # negative control


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("p", [8, 40])
def test_leave_one_out_error_is_exact_with_weights_and_outputs(p: int, intercept: bool) -> None:
    x, y = data(20, 5, outputs=2)
    w = np.random.default_rng(1).uniform(0.2, 3, 20)
    check_path(p, x, y, w, fit_intercept=intercept)
    path = dt.RandomFeaturesRidge(p, random_state=0).ridge_path(x, y, RIDGES)
    assert path.coef.shape == (5, 1, 2, p)
    assert path.intercept.shape == (5, 2)
    assert path.predict(x).shape == (5, 20, 2)


@pytest.mark.parametrize("ensemble", [dt.Divide(2), dt.Subsample(3, fraction=0.6), dt.Bootstrap(3)])
@pytest.mark.parametrize("p", [4, 30])
def test_rows_are_left_out_of_every_member_that_has_them(p: int, ensemble: dt.Scheme) -> None:
    """All copies of a row are left out; the other rows stay with their members."""
    x, y = data(15, 5)
    w = np.random.default_rng(1).uniform(0.5, 2, 15)
    n_members = int(np.asarray(ensemble.n_members))
    counts = ensemble.draw_samples(15, n_members, draws_generator(seed_of(0)))
    for intercept in (True, False):
        how: dict[str, Any] = {"ensemble": ensemble, "fit_intercept": intercept}
        check_path(p, x, y, w, counts=counts, rel=1e-5, **how)


def test_row_of_leverage_one_is_left_out_exactly() -> None:
    """The row is the only one on which a feature is not zero."""
    x = -np.ones((6, 1))
    x[0] = 2.0
    y = np.arange(1.0, 7.0)
    model = dt.RandomFeaturesRidge(1, center=False, random_state=1).fit(x, y)
    x *= np.sign(model.weights_[0, 0, 0])
    path = model.ridge_path(x, y, [0.0, 0.1])
    for ridge, error in zip(path.ridges, path.loo_error, strict=True):
        expected = left_out_error(x, y, model.weights_, ridge, center=False)
        assert error == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p", [20, 100])
@pytest.mark.parametrize("ensemble", [2, dt.Divide(2), dt.Bootstrap(2)], ids=repr)
def test_loo_selects_the_best_ridge(p: int, ensemble: int | dt.Scheme) -> None:
    x, y = data(60, 10)
    model = dt.RandomFeaturesRidge(
        p, ridge="loo", ridges=[1e3, 0.01, 1e2], ensemble=ensemble, random_state=0
    ).fit(x, y)
    assert model.ridge_ == 0.01
    assert model.loo_error_ == model.loo_path_.loo_error.min() == model.loo_path_.loo_error[1]
    same = dt.RandomFeaturesRidge(p, ridge=0.01, ensemble=ensemble, random_state=0)
    np.testing.assert_allclose(model.predict(x), same.fit(x, y).predict(x), atol=1e-10)
    np.testing.assert_allclose(model.alpha_, same.alpha_)
    assert not hasattr(model.set_params(ridge=0.1).fit(x, y), "loo_path_")


def test_single_precision_is_factorized_in_double() -> None:
    x, y = (a.astype(np.float32) for a in data(40, 5))
    for p in (20, 60):
        model = dt.RandomFeaturesRidge(p, random_state=0)
        single = model.ridge_path(x, y, [1e-4, 0.1])
        double = model.ridge_path(x.astype(float), y.astype(float), [1e-4, 0.1])
        np.testing.assert_allclose(single.loo_error, double.loo_error, rtol=1e-3)
        assert single.predict(x).dtype == np.float32


def test_paths_are_printed_and_drawn() -> None:
    require("matplotlib", "figures").use("Agg")
    path = dt.RandomFeaturesRidge(10, random_state=0).ridge_path(*data(25, 5), RIDGES)
    assert str(path).splitlines()[-1].endswith(f"at ridge = {path.best:.3g}.")
    assert path.to_frame()["loo_error"].tolist() == path.loo_error.tolist()
    axes: Any = path.plot()
    (line,) = (line for line in axes.lines if len(line.get_xdata()) == len(RIDGES) - 1)
    assert line.get_xdata().tolist() == RIDGES[1:]
    assert any("ridge 0" in text.get_text() for text in axes.texts)
