"""Bad input is refused with the name of the argument, before anything is drawn."""

import math
from collections.abc import Iterator
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
        ({"seed": -1}, "seed must be a whole number of at least 0 and below 4294967296, got -1"),
        ({"dim": 0}, "dim must be a whole number in"),
        ({"dim": 0.5}, "dim must be a whole number in"),
        (
            {"ensembles": dt.Subsample(2, fraction=0.01)},
            "fraction must be large enough for one of N = 10 samples, got 0.01",
        ),
        (
            {"ensembles": dt.FeatureBank(2, bank_per_dim=1.5)},
            "bank_per_dim must be at least the features of one member, got 1.5",
        ),
        (
            {"ensembles": dt.FeatureBank(2, bank_per_dim=3.0), "features_per_dim": [1.0, 4.0]},
            "bank_per_dim must be at least the features of one member, got 3.0",
        ),
        (
            {"ensembles": dt.FeatureBank(2, n_bank=30)},
            "bank_per_dim must be given for a Problem, got FeatureBank",
        ),
        (
            {
                "model": "kernel",
                "problem": dt.Problem(features_per_dim=math.inf),
                "ensembles": [dt.FeatureBank(2, bank_per_dim=math.inf)],
            },
            "ensembles must not share features for model 'kernel', got FeatureBank",
        ),
        ({"ensembles": [dt.Divide([2, 3])]}, "ensembles must have numbers, not arrays, got Divide"),
        ({"ensembles": [0]}, "ensembles must be a whole number in"),
        ({"ensembles": 2.5}, "ensembles must be a whole number in"),
        ({"times": [1.0, -1.0]}, "times must be in \\[0, 1e\\+150\\] or inf, got -1.0 at index 1"),
        ({"times": []}, "times must not be empty"),
        (
            {
                "model": "kernel",
                "problem": dt.Problem(features_per_dim=math.inf),
                "times": [1.0],
            },
            "times must be None for model 'kernel'",
        ),
        (
            {
                "problem": dt.Problem(features_per_dim=0.6, ridge=0.0),
                "ensembles": dt.Subsample(2, fraction=0.5),
            },
            "ridge must be at least 1e-12 for P = 6 features and 5 samples",
        ),
        (
            {"problem": dt.Problem(features_per_dim=0.6, ridge=0.0), "ensembles": dt.Bootstrap()},
            "ridge must be at least 1e-12 for P = 6 features and the 6 ± 1 different samples",
        ),
        ({"device": "abacus"}, "device must be 'auto', 'cpu', 'torch' or a device torch has"),
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
            {"ensembles": [dt.Divide(2), dt.Divide(20)]},
            "n_members must be at most N = 10 to divide the data, got 20",
        ),
        ({"features_per_dim": []}, "features_per_dim must not be empty"),
        (
            {"features_per_dim": [[1.0, 2.0]]},
            "features_per_dim must be a sequence of numbers, got shape \\(1, 2\\)",
        ),
        ({"ridge": [-1.0]}, "ridge must be in \\[0, inf\\], got -1.0 at index 0"),
        ({"seed": 2**32}, "seed must be a whole number of at least 0 and below 4294967296"),
        (
            {"device": "meta"},
            "device must be 'auto', 'cpu', 'torch' or a device torch has, got 'meta'",
        ),
        (
            {"problem": dt.Problem(features_per_dim=1.0, ridge=0.0)},
            "ridge must be at least 1e-12 for P = 10 features and 10 samples",
        ),
        (
            {
                "problem": dt.Problem(features_per_dim=0.5, ridge=1e-300),
                "ensembles": dt.Divide(2),
            },
            "ridge must be at least 1e-12 for P = 5 features and 5 samples",
        ),
        ({"features_per_dim": [0.01, 1.0]}, "dim must be large enough"),
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dim": [10, 20]}, "dim must be one number, got \\[10, 20\\]"),
        ({"ensembles": None}, "ensembles must be a number of models or one of Ensemble, "),
        ({"ensembles": "divide"}, "ensembles must be a number of models or one of Ensemble, "),
        ({"ensembles": [dt.Divide]}, "ensembles must be a number of models or one of Ensemble, "),
        ({"center": "false"}, "center must be true or false, got 'false'"),
        ({"features_per_dim": "abc"}, "features_per_dim must be a sequence of numbers, got 'abc'"),
        ({"times": 3.0}, "times must be a sequence of numbers, got 3.0"),
        ({"ridge": iter([1.0])}, "ridge must be a sequence of numbers, got"),
        ({"ridge": 0.1}, "ridge must be a sequence of numbers, got 0.1"),
    ],
)
def test_wrong_types(changes: dict[str, Any], message: str) -> None:
    arguments = {"dim": 10, "n_data": 2, "n_init": 2, **changes}
    with pytest.raises(TypeError, match=f"^{message}"):
        dt.simulate(dt.Problem(ridge=0.1), **arguments)


def test_one_ensemble_equals_a_sequence_of_one() -> None:
    problem = dt.Problem(ridge=0.1)
    one = dt.simulate(problem, dim=10, n_data=2, n_init=2, ensembles=dt.Divide(2))
    both: Iterator[Any] = iter([2, dt.Divide(2)])
    many = dt.simulate(problem, dim=10, n_data=2, n_init=2, ensembles=both)
    assert one.ensembles == many.ensembles == (dt.Divide(2),)
    assert one.error(dt.Divide(2)) == many.error(dt.Divide(2))


def test_a_bootstrap_far_from_its_peak_needs_no_ridge() -> None:
    """Of 100 samples 63 ± 3 are different: never 20 nor 200."""
    for width in (0.2, 2.0):
        problem = dt.Problem(features_per_dim=width, ridge=0.0)
        run = dt.simulate(problem, dim=100, n_data=2, n_init=2, ensembles=dt.Bootstrap())
        assert 0 < run.error(dt.Bootstrap(2)).total.value < 20
    near = dt.Problem(features_per_dim=0.8, ridge=0.0)
    with pytest.raises(ValueError, match=r"^ridge must be .* the 63 ± 3 different samples"):
        dt.simulate(near, dim=100, n_data=2, n_init=2, ensembles=dt.Bootstrap())
