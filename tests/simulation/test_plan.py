"""Checks of the arguments of `simulate`."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import doubletrouble as dt
from tests.messages import message_of

KERNEL = dt.Problem(features_per_dim=math.inf)
NO_RIDGE = dt.Problem(features_per_dim=0.6, ridge=0.0)
BANK = dt.FeatureBank(2, bank_per_dim=3.0)

REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("model", {"model": "deep"}),
    ("test", {"test": "guess"}),
    ("test", {"test": "exact", "model": "kernel", "problem": KERNEL}),
    ("test", {"test": "sample", "model": "gaussian"}),
    ("n_data", {"n_data": 1}),
    ("n_init", {"n_init": 2.5}),
    ("seed", {"seed": -1}),
    ("seed", {"seed": 2**32}),
    ("dim", {"dim": 0}),
    ("dim", {"dim": 0.5}),
    ("dim", {"dim": [10, 20]}),
    ("dim", {"features_per_dim": [0.01, 1.0]}),
    ("dim", {"problem": dt.Problem(features_per_dim=1e-3)}),
    ("problem", {"problem": dt.Problem(ridge=[0.1, 1.0])}),
    ("center", {"center": "false"}),
    ("dtype", {"dtype": "float16"}),
    ("activation", {"problem": dt.Problem(activation="tanh"), "test": "exact"}),
    ("activation", {"problem": replace(KERNEL, activation="tanh"), "model": "kernel"}),
    ("nonlinear_signal", {"problem": dt.Problem(nonlinear_signal=0.5), "test": "exact"}),
    ("features_per_dim", {"model": "kernel"}),
    ("features_per_dim", {"problem": KERNEL}),
    ("features_per_dim", {"features_per_dim": []}),
    ("features_per_dim", {"features_per_dim": [[1.0, 2.0]]}),
    ("features_per_dim", {"features_per_dim": "abc"}),
    ("times", {"times": [1.0, -1.0]}),
    ("times", {"times": []}),
    ("times", {"times": 3.0}),
    ("times", {"times": [1.0], "model": "kernel", "problem": KERNEL}),
    ("ridge", {"ridge": [-1.0]}),
    ("ridge", {"ridge": iter([1.0])}),
    ("ridge", {"ridge": 0.1}),
    ("ridge", {"problem": dt.Problem(ridge=math.inf)}),
    ("ridge", {"problem": dt.Problem(features_per_dim=1.0, ridge=0.0)}),
    ("ridge", {"problem": replace(NO_RIDGE, ridge=1e-300), "ensembles": dt.Divide(2)}),
    ("ridge", {"problem": NO_RIDGE, "ensembles": dt.Subsample(2, fraction=0.5)}),
    ("ridge", {"problem": NO_RIDGE, "ensembles": dt.Bootstrap()}),
    ("ensembles", {"ensembles": [dt.Divide([2, 3])]}),
    ("ensembles", {"ensembles": [0]}),
    ("ensembles", {"ensembles": 2.5}),
    ("ensembles", {"ensembles": None}),
    ("ensembles", {"ensembles": "divide"}),
    ("ensembles", {"ensembles": [dt.Divide]}),
    ("ensembles", {"ensembles": BANK, "model": "kernel", "problem": KERNEL}),
    ("fraction", {"ensembles": dt.Subsample(2, fraction=0.01)}),
    ("bank_per_dim", {"ensembles": dt.FeatureBank(2, bank_per_dim=1.5)}),
    ("bank_per_dim", {"ensembles": BANK, "features_per_dim": [1.0, 4.0]}),
    ("bank_per_dim", {"ensembles": dt.FeatureBank(2, n_bank=30)}),
    ("n_members", {"ensembles": [dt.Divide(2), dt.Divide(20)]}),
]


def test_arguments_are_checked() -> None:
    """The message begins with the name of the argument."""
    for name, changes in REFUSED:
        arguments = {"problem": dt.Problem(ridge=0.1), "dim": 10, "n_data": 2, "n_init": 2}
        message = message_of(dt.simulate, **(arguments | changes))
        assert message.startswith(f"{name} must"), (changes, message)


def test_one_ensemble_equals_a_sequence_of_one() -> None:
    problem = dt.Problem(ridge=0.1)
    one = dt.simulate(problem, dim=10, n_data=2, n_init=2, ensembles=dt.Divide(2))
    both: Iterator[Any] = iter([2, dt.Divide(2)])
    many = dt.simulate(problem, dim=10, n_data=2, n_init=2, ensembles=both)
    assert one.ensembles == many.ensembles == (dt.Divide(2),)
    assert one.error(dt.Divide(2)) == many.error(dt.Divide(2))


def test_bootstrap_far_from_its_peak_needs_no_ridge() -> None:
    """Of 100 samples 63 ± 3 are different: never 20 nor 200."""
    for width in (0.2, 2.0):
        problem = dt.Problem(features_per_dim=width, ridge=0.0)
        run = dt.simulate(problem, dim=100, n_data=2, n_init=2, ensembles=dt.Bootstrap())
        assert 0 < run.error(dt.Bootstrap(2)).total.value < 20
    near = dt.Problem(features_per_dim=0.8, ridge=0.0)
    with pytest.raises(ValueError, match=r"^ridge must"):
        dt.simulate(near, dim=100, n_data=2, n_init=2, ensembles=dt.Bootstrap())
