"""What cannot be simulated is refused with a sentence, before anything is drawn."""

import math
from typing import Any

import pytest

import doubletrouble as dt


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "deep"}, "model must be one of features, gaussian, kernel, got 'deep'"),
        ({"test": "guess"}, "test must be one of auto, exact, sample, got 'guess'"),
        ({"n_data": 1}, "n_data must be a whole number of at least 2, got 1"),
        ({"n_init": 2.5}, "n_init must be a whole number of at least 2, got 2.5"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
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
            "activation must have a kernel in closed form \\(relu.*\\) for model 'kernel'",
        ),
        (
            {"model": "kernel", "problem": dt.Problem(features_per_dim=math.inf), "test": "exact"},
            "test must be 'sample' or 'auto' for model 'kernel', got 'exact'",
        ),
        (
            {"model": "gaussian", "test": "sample"},
            "test must be 'exact' or 'auto' for model 'gaussian', got 'sample'",
        ),
        (
            {"problem": dt.Problem(activation="tanh"), "test": "exact"},
            "activation must have a closed form \\(relu.*\\) for test 'exact', got 'tanh'",
        ),
        (
            {"problem": dt.Problem(nonlinear_signal=0.5), "test": "exact"},
            "nonlinear_signal must be 0 for test 'exact', got 0.5",
        ),
        (
            {"n_members": (1, 20), "schemes": ("divide",)},
            "n_members must be at most N = 10 to divide the data, got 20",
        ),
        ({"n_members": (0,), "schemes": ("divide",)}, "n_members must be"),
        ({"widths": []}, "widths must be a sequence of numbers, got \\[\\]"),
        ({"ridges": [-1.0]}, "ridge must be"),
        ({"widths": [0.01, 1.0]}, "dim must be large enough"),
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


def test_one_value_is_as_good_as_a_sequence() -> None:
    problem = dt.Problem(ridge=0.1)
    one = dt.simulate(problem, dim=10, n_data=2, n_init=2, n_members=2, schemes="divide")
    many = dt.simulate(problem, dim=10, n_data=2, n_init=2, n_members=iter([2]), schemes=["divide"])
    assert list(one.divided) == [2.0]
    assert one.error(2, "divide") == many.error(2, "divide")
