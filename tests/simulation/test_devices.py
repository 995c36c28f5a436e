"""Equal draws and results on NumPy and torch, and the limits of float32."""

import math
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import doubletrouble as dt
from doubletrouble.simulation import _devices as devices
from doubletrouble.simulation._draws import activate
from tests.messages import message_of
from tests.simulation.comparison import PARTS, same


def shifted(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.tanh(z + 0.3)


def test_draws_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_BLOCK", 7)
    many = devices.normals(np.random.default_rng(3), (5, 6))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    np.testing.assert_array_equal(many, devices.normals(np.random.default_rng(3), (5, 6)))
    assert np.unique(many).size == 30


@pytest.mark.parametrize(
    ("model", "features", "activation"),
    [
        ("features", 0.5, "relu"),
        ("features", 2.0, "softplus"),
        pytest.param("features", 2.0, "gelu", marks=pytest.mark.full),
        pytest.param("features", 2.0, shifted, marks=pytest.mark.full),
        ("gaussian", 2.0, "erf"),
        ("kernel", math.inf, "abs"),
    ],
)
@pytest.mark.parametrize("center", [True, False])
def test_torch_agrees_with_numpy(
    model: str, features: float, activation: Any, center: bool
) -> None:
    problem = dt.Problem(
        features_per_dim=features, ridge=1e-3, activation=activation, nonlinear_signal=0.5
    )
    options: dict[str, Any] = {
        "dim": 40,
        "model": model,
        "n_data": 2,
        "n_init": 3,
        "ensembles": dt.Divide(3),
        "center": center,
    }
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    same(a, b, 1e-9)


@pytest.mark.parametrize("activation", ["relu", "sign", "quadratic"])
def test_torch_agrees_with_numpy_on_exact_averages(activation: str) -> None:
    problem = dt.Problem(features_per_dim=0.8, ridge=[1e-3, 0.1], activation=activation)
    options: dict[str, Any] = {
        "dim": 30,
        "n_data": 2,
        "n_init": 3,
        "test": "exact",
    }
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    same(a, b, 1e-9)


def test_activations_agree_on_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    z = np.linspace(-4, 4, 101)
    for name in dt.activations.NAMES:
        sigma: Any = dt.activation(name).function
        expected = np.asarray(sigma(z))
        np.testing.assert_allclose(
            sigma(torch.tensor(z)), expected, rtol=1e-13, atol=1e-15, err_msg=name
        )
        assert np.asarray(sigma(z[3])) == pytest.approx(expected[3]), name
    on_torch = devices.ArrayDevice.of("torch", "float64")
    user = activate(dt.activation(shifted), torch.tensor(z), on_torch)
    assert isinstance(user, torch.Tensor)
    np.testing.assert_array_equal(user, shifted(z))


@pytest.mark.parametrize(
    ("activation", "nonlinear"), [("relu", 1.0), ("linear", 0.0), ("quadratic", 1.0)]
)
def test_float32_agrees_with_float64(activation: str, nonlinear: float) -> None:
    options: dict[str, Any] = {
        "dim": 60,
        "n_data": 3,
        "n_init": 2,
        "ensembles": [dt.Divide(1), dt.Divide(2)],
    }
    problem = dt.Problem(
        features_per_dim=0.3, ridge=1e-2, activation=activation, nonlinear_signal=nonlinear
    )
    exact, single = (dt.simulate(problem, dtype=d, **options) for d in ("float64", "float32"))
    assert single.dtype == "float32"
    for members in (1, 2):
        for name in PARTS:
            a, b = (getattr(r.error(dt.Divide(members)), name).value for r in (exact, single))
            assert b == pytest.approx(a, rel=1e-3, abs=1e-6), name


def test_float32_needs_a_large_ridge() -> None:
    with pytest.raises(ValueError, match=r"^ridge must .*float32"):
        dt.simulate(dt.Problem(ridge=1e-9), dtype="float32", dim=60, n_data=2, n_init=2)


def test_device_must_be_available_for_simulations() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    for device in ("abacus", "meta"):
        message = message_of(
            dt.simulate, dt.Problem(ridge=0.1), dim=10, n_data=2, n_init=2, device=device
        )
        assert message.startswith("device must"), device


def test_auto_is_the_gpu_of_an_imported_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert devices.ArrayDevice.of("auto", "float64").device == "cpu"
    monkeypatch.setattr(devices.ArrayDevice, "__post_init__", lambda self: None)
    torch.cuda.is_available = lambda: True
    assert devices.ArrayDevice.of("auto", "float64").device == "cuda"
    monkeypatch.delitem(sys.modules, "torch")
    assert devices.ArrayDevice.of("auto", "float64").device == "cpu"
