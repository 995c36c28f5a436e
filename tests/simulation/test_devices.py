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
from tests.simulation.test_simulate import PARTS, same


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
        ("features", 2.0, "gelu"),
        ("features", 2.0, shifted),
        ("gaussian", 0.5, "erf"),
        ("gaussian", 2.0, "softplus"),
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
    problem = dt.Problem(features_per_dim=0.8, activation=activation)
    options: dict[str, Any] = {
        "dim": 30,
        "n_data": 2,
        "n_init": 3,
        "test": "exact",
        "ridge": [1e-3, 0.1],
    }
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    same(a, b, 1e-9)


@pytest.mark.parametrize("name", dt.activations.NAMES)
def test_every_activation_is_the_same_on_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    sigma: Any = dt.activation(name).function
    z = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(sigma(torch.tensor(z)), np.asarray(sigma(z)), rtol=1e-13, atol=1e-15)
    assert np.asarray(sigma(0.5)) == pytest.approx(np.asarray(sigma(np.array([0.5])))[0])


@pytest.mark.parametrize("activation", ["relu", "linear", "quadratic"])
@pytest.mark.parametrize("nonlinear", [0.0, 1.0])
def test_float32(activation: str, nonlinear: float) -> None:
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


def test_float32_is_refused_for_small_ridges() -> None:
    options: dict[str, Any] = {"dim": 60, "n_data": 2, "n_init": 2}
    with pytest.raises(
        ValueError, match=r"^ridge must be at least .* for dtype 'float32'.*, got 1"
    ):
        dt.simulate(dt.Problem(ridge=1e-9), dtype="float32", **options)
    with pytest.raises(ValueError, match=r"^dtype must be one of float64, float32, got 'float16'"):
        dt.simulate(dt.Problem(), **(options | {"dtype": "float16"}))


def test_auto_is_the_gpu_of_a_torch_that_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert devices.ArrayDevice.of("auto", "float64").device == "cpu"
    monkeypatch.setattr(devices.ArrayDevice, "__post_init__", lambda self: None)
    torch.cuda.is_available = lambda: True
    assert devices.ArrayDevice.of("auto", "float64").device == "cuda"
    monkeypatch.delitem(sys.modules, "torch")
    assert devices.ArrayDevice.of("auto", "float64").device == "cpu"
