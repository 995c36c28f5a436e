"""Simulation against theory in standard errors, on NumPy and on torch."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt

PARTS = ("noise", "initialization", "sampling", "bias", "total")
POWERS: dict[str, Any] = {"signal": 1.2, "noise": 0.6, "nonlinear_signal": 0.5}
CASES = [
    ("features", "relu", 0.5, 1e-3),
    ("features", "relu", 1.0, 1e-2),
    ("features", "tanh", 2.0, 1e-2),
    ("features", "erf", 1.5, 1e-1),
    ("features", "abs", 0.7, 1e-2),
    ("gaussian", "relu", 1.0, 1e-2),
    ("gaussian", "sign", 3.0, 1e-3),
    ("kernel", "relu", math.inf, 1e-2),
    ("kernel", "erf", math.inf, 1e-1),
]


def extrapolated(small: dt.Estimate, large: dt.Estimate) -> dt.Estimate:
    """The O(1/D) bias cancels between D and 2D."""
    error = math.hypot(2 * large.standard_error, small.standard_error)
    value = 2 * large.value - small.value
    return dt.Estimate(value=value, standard_error=error, n_draws=large.n_draws)


@pytest.mark.statistical
@pytest.mark.parametrize(("model", "activation", "features", "ridge"), CASES)
def test_agrees_with_theory(model: str, activation: str, features: float, ridge: float) -> None:
    problem = dt.Problem(features_per_dim=features, ridge=ridge, activation=activation, **POWERS)
    options: dict[str, Any] = {"model": model, "n_init": 3, "n_members": (1, 2),
                               "schemes": ("ensemble", "divide")}  # fmt: skip
    small = dt.simulate(problem, dim=100, n_data=80, **options)
    large = dt.simulate(problem, dim=200, n_data=30, **options)
    z = {}
    for name, expected in vars(dt.psi_terms(problem)).items():
        found = extrapolated(getattr(small.psi, name), getattr(large.psi, name))
        z[name] = found.z_score(expected) if found.standard_error else found.value - expected
    for members, scheme in (
        (1, "ensemble"),
        (10, "ensemble"),
        (math.inf, "ensemble"),
        (2, "divide"),
    ):
        theory = dt.exact_error(problem, members, scheme)
        a, b = (run.error(members, scheme) for run in (small, large))
        for name in PARTS:
            found = extrapolated(getattr(a, name), getattr(b, name))
            expected = getattr(theory, name)
            off = found.z_score(expected) if found.standard_error else found.value - expected
            z[f"{name} {scheme} {members}"] = off
    assert max(map(abs, z.values())) < 5, z


@pytest.mark.statistical
def test_a_wrong_activation_is_noticed() -> None:
    """Negative control."""
    run = dt.simulate(dt.Problem(features_per_dim=2.0, ridge=0.1), dim=100, n_data=30, n_init=2)
    wrong = dt.psi_terms(dt.Problem(features_per_dim=2.0, ridge=0.1, activation="tanh"))
    assert abs(run.psi.psi1.z_score(float(np.asarray(wrong.psi1)))) > 10


def test_the_seed_decides() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    first, again, other = (
        dt.simulate(problem, dim=20, n_data=3, n_init=2, seed=seed).draws for seed in (4, 4, 5)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


@pytest.mark.parametrize(
    ("model", "features"),
    [
        ("features", 0.5),
        ("features", 2.0),
        ("gaussian", 0.5),
        ("gaussian", 2.0),
        ("kernel", math.inf),
    ],
)
def test_torch_agrees_with_numpy(model: str, features: float) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    problem = dt.Problem(features_per_dim=features, ridge=1e-3)
    options: dict[str, Any] = {"dim": 40, "model": model, "n_data": 2, "n_init": 3}
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    for name, values in a.draws.items():
        np.testing.assert_allclose(b.draws[name], values, rtol=1e-9)


def test_sizes_are_those_realized() -> None:
    run = dt.simulate(dt.Problem(features_per_dim=0.333, ridge=0.1), dim=10, n_data=2, n_init=2)
    assert run.problem.features_per_dim == 0.3
    assert run.dim == 10


def test_minimum_norm() -> None:
    """At ridge 0 with P > N every noise-free training label is met: Ψ₁ is the plateau's."""
    problem = dt.Problem(features_per_dim=3.0, ridge=0.0)
    run = dt.simulate(problem, dim=100, n_data=20, n_init=2)
    assert run.psi.psi1.value == pytest.approx(dt.psi_terms(problem).psi1, rel=0.02)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "deep"}, "model must be one of features, gaussian, kernel, got 'deep'"),
        ({"n_data": 1}, "n_data must be a whole number of at least 2, got 1"),
        ({"n_init": 2.5}, "n_init must be a whole number of at least 2, got 2.5"),
        ({"dim": 0}, "dim must be a whole number in"),
        ({"dim": 0.5}, "dim must be a whole number in"),
        ({"schemes": ("bag",)}, "schemes must be among ensemble, divide, got 'bag'"),
        ({"device": "abacus"}, "device must be 'cpu', 'torch' or a device torch has"),
        ({"model": "kernel"}, "features_per_dim must be inf for model 'kernel', got 2.0"),
        (
            {
                "model": "kernel",
                "problem": dt.Problem(features_per_dim=math.inf, activation="tanh"),
            },
            "activation must have a kernel in closed form for model 'kernel', got 'tanh'",
        ),
        ({"problem": dt.Problem(ridge=math.inf)}, "ridge must be finite to be simulated, got inf"),
        ({"problem": dt.Problem(features_per_dim=math.inf)}, "features_per_dim must be finite"),
        ({"problem": dt.Problem(ridge=[0.1, 1.0])}, "problem must be a single point"),
        ({"problem": dt.Problem(features_per_dim=1e-3)}, "dim must be large enough"),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    if changes.get("device"):
        pytest.importorskip("torch", reason="torch is not installed")
    arguments = {"problem": dt.Problem(ridge=0.1), "dim": 10, "n_data": 2, "n_init": 2, **changes}
    with pytest.raises(ValueError, match=f"^{message}"):
        dt.simulate(arguments.pop("problem"), **arguments)


def test_what_was_not_simulated_is_not_invented() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=2, n_init=2)
    with pytest.raises(ValueError, match=r"^scheme must be 'ensemble', or 'divide' with n_members"):
        run.error(2, "divide")
