"""Gradient flow stopped at a time: limits, the flow itself step by step, and ensembles of it."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.simulation import Simulation
from doubletrouble.simulation._learners import feature_learner, gains
from doubletrouble.simulation._plan import RidgeFit
from tests.simulation.literal import errors

OPTIONS: dict[str, Any] = {"dim": 20, "n_data": 3, "n_init": 2, "ensembles": dt.Divide(2)}


def of_divided(run: Simulation) -> dict[str, Any]:
    """Every term of two members on divided data."""
    return run.terms_of(dt.Divide(2)).named()


@pytest.mark.parametrize(("n", "p"), [(6, 4), (4, 7)])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_gradient_flow_is_the_limit_of_small_steps(n: int, p: int, alpha: float) -> None:
    """Euler's method has steps of 1e-4."""
    rng = np.random.default_rng(0)
    phi, outputs = rng.standard_normal((n, p)), rng.standard_normal((p, 3))
    time, step = 0.4, 1e-4
    a = np.zeros((p, n))  # for every label
    for _ in range(round(time / step)):
        a += step * (phi.T @ (np.eye(n) - phi @ a) - alpha * a)
    fit = RidgeFit(alpha, time)
    result = feature_learner(phi, outputs, 0.0, [fit])(0)
    np.testing.assert_allclose(result, a.T @ outputs, rtol=5e-3, atol=5e-4)
    later = RidgeFit(alpha, 2 * time)
    assert np.max(np.abs(feature_learner(phi, outputs, 0.0, [later])(0) - result)) > 0.02


def test_gains_of_modes() -> None:
    values = np.array([1e-9, 1.0, 50.0])
    np.testing.assert_allclose(gains(values, RidgeFit(0.0, 2.0))[:2], [2.0, 1 - math.exp(-2)])
    np.testing.assert_array_equal(gains(values, RidgeFit(0.3, 0.0)), 0)
    np.testing.assert_allclose(gains(values, RidgeFit(0.3, 1e9)), 1 / (values + 0.3))
    np.testing.assert_allclose(gains(values, RidgeFit(0.3)), 1 / (values + 0.3))


@pytest.mark.parametrize(("n", "p"), [(9, 6), (6, 9)])
@pytest.mark.parametrize("times", [[math.inf], [math.inf, 1e9]])
def test_fits_of_least_norm_to_dependent_features(n: int, p: int, times: list[float]) -> None:
    """Of rank 3: modes that are zero up to rounding are not fitted, with and without a ridge."""
    rng = np.random.default_rng(0)
    phi = rng.standard_normal((n, 3)) @ rng.standard_normal((3, p))
    outputs = rng.standard_normal((p, 2))
    for alpha in (0.0, 1e-18):
        learner = feature_learner(phi, outputs, 0.0, [RidgeFit(alpha, t) for t in times])
        for k in range(len(times)):
            np.testing.assert_allclose(learner(k), np.linalg.pinv(phi).T @ outputs, rtol=1e-7)


@pytest.mark.parametrize("ridge", [0.0, 1e-2])
@pytest.mark.parametrize("model", ["features", "gaussian"])
def test_infinite_time_is_ridge_regression(ridge: float, model: Any) -> None:
    problem = dt.Problem(features_per_dim=3.0, ridge=ridge, nonlinear_signal=0.5)
    plain = dt.simulate(problem, model=model, **OPTIONS)
    timed = dt.simulate(problem, model=model, times=[math.inf, 1e9, 1.0], **OPTIONS)
    assert plain.times is None
    np.testing.assert_array_equal(timed.times, [math.inf, 1e9, 1.0])
    for left, right in (
        (plain.draws.named(), timed.draws.named()),
        (of_divided(plain), of_divided(timed)),
    ):
        for name, values in left.items():
            np.testing.assert_allclose(right[name][:, 0], values, rtol=1e-8, err_msg=name)
            np.testing.assert_allclose(right[name][:, 1], values, rtol=1e-5, err_msg=name)
            assert not values.any() or not np.allclose(right[name][:, 2], values, rtol=1e-2)


def test_time_zero_predicts_zero() -> None:
    problem = dt.Problem(features_per_dim=1.5, signal=2.0, noise=0.5, test_noise=0.3)
    run = dt.simulate(problem, times=[0.0], **OPTIONS)
    for ensemble in (1, math.inf, dt.Divide(2)):
        result = run.error(ensemble)
        assert result.bias.value == [4.0]
        assert result.bayes.value == pytest.approx([0.09])
        for part in ("noise", "initialization", "sampling"):
            assert getattr(result, part).value == [0.0]


def test_times_are_the_last_axis() -> None:
    """The problem broadcasts with times, and each point equals a simulation of its own."""
    times, ridge, widths = [0.5, 4.0, 100.0], [1e-3, 0.1], [2.0, 0.5]
    grid = dt.Problem(features_per_dim=np.array(widths)[:, None], ridge=ridge)
    run: Any = dt.simulate(grid, times=times, **OPTIONS)
    assert run.problem.shape == (2, 2, 1)
    assert np.shape(run.error(dt.Divide(2)).total.value) == (2, 2, 3)
    assert np.shape(run.psi.psi1.value) == (2, 2, 3)
    for k, time in enumerate(times):
        curve = dt.Problem(features_per_dim=widths, ridge=0.1)
        one = dt.simulate(curve, times=[time], **OPTIONS)
        for name, values in one.draws.named().items():
            np.testing.assert_allclose(
                run.draws.named()[name][:, :, 1, k], values[..., 0], rtol=1e-9
            )
    path = dt.simulate(dt.Problem(ridge=ridge), times=times, **OPTIONS)
    assert np.shape(path.error().total.value) == (2, 3)


def test_square_fit_without_ridge_needs_a_finite_time() -> None:
    """An error that diverges for t → ∞ is finite at any time."""
    square = dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0)
    run = dt.simulate(square, dim=20, n_data=5, n_init=2, times=[1.0, 1e3])
    assert np.all(np.diff(np.asarray(run.error().noise.value)) > 0)
    with pytest.raises(ValueError, match=r"^ridge must"):
        dt.simulate(square, dim=20, n_data=5, n_init=2, times=[1.0, math.inf])


@pytest.mark.statistical
def test_stopped_ensembles_equal_plain_sampling() -> None:
    """The control is training for 2t."""
    powers: dict[str, Any] = {"ridge": 0.02, "noise": 0.7}
    sizes: dict[str, Any] = {"dim": 10, "psi1": 1.2, "psi2": 1.4, "time": 6.0}
    problem = dt.Problem(features_per_dim=1.2, samples_per_dim=1.4, **powers)
    ensembles = (dt.Ensemble(2), dt.Divide(2), dt.Bootstrap(2))
    run = dt.simulate(
        problem,
        dim=10,
        n_data=300,
        n_init=2,
        ensembles=ensembles,
        progress=False,
        times=[6.0, 12.0],
    )
    for ensemble in ensembles:
        literal = dt.Estimate.of(errors(ensemble, 2000, **sizes, **powers))
        stopped, later = np.asarray((run.error(ensemble).total - literal).z_score(0.0))
        assert abs(stopped) < 5, ensemble
        assert abs(later) > 4, ensemble


def test_torch_agrees_with_numpy() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    problem = dt.Problem(features_per_dim=1.5, ridge=1e-3)
    a, b = (
        dt.simulate(problem, device=device, times=[0.0, 3.0, math.inf], **OPTIONS)
        for device in ("cpu", "torch")
    )
    for name, values in a.draws.named().items():
        np.testing.assert_allclose(b.draws.named()[name], values, rtol=1e-9, atol=1e-12)
