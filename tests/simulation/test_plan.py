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
    ("features_per_dim", {"problem": dt.Problem(features_per_dim=1e-3)}),
    ("samples_per_dim", {"problem": dt.Problem(samples_per_dim=[1.0, 0.01])}),
    ("problem", {"problem": "ridge"}),
    ("problem", {"problem": dt.Member()}),
    ("signal", {"signal": 1.0}),
    ("noise", {"noise": 0.5}),
    ("sharing", {"sharing": "both"}),
    ("center", {"center": "false"}),
    ("dtype", {"dtype": "float16"}),
    ("activation", {"problem": dt.Problem(activation="tanh"), "test": "exact"}),
    ("activation", {"problem": replace(KERNEL, activation="tanh"), "model": "kernel"}),
    ("nonlinear_signal", {"problem": dt.Problem(nonlinear_signal=0.5), "test": "exact"}),
    ("features_per_dim", {"model": "kernel"}),
    ("features_per_dim", {"problem": KERNEL}),
    ("times", {"times": [1.0, -1.0]}),
    ("times", {"times": []}),
    ("times", {"times": 3.0}),
    ("times", {"times": [1.0], "model": "kernel", "problem": KERNEL}),
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
    ("bank_per_dim", {"ensembles": BANK, "problem": dt.Problem(features_per_dim=[1.0, 4.0])}),
    ("bank_per_dim", {"ensembles": dt.FeatureBank(2, n_bank=30)}),
    ("n_members", {"ensembles": [dt.Divide(2), dt.Divide(20)]}),
    ("ensembles", {"ensembles": dt.Divide(math.inf), "problem": dt.Problem(loss="huber")}),
]


def test_arguments_are_checked() -> None:
    """The message begins with the name of the argument."""
    for name, changes in REFUSED:
        arguments = {"problem": dt.Problem(ridge=0.1), "dim": 10, "n_data": 2, "n_init": 2}
        message = message_of(dt.simulate, **(arguments | changes))
        assert message.startswith(f"{name} must"), (changes, message)


@pytest.mark.parametrize(
    ("fields", "options", "message"),
    [
        ({"features_per_dim": [1.0, 0.01]}, {}, r"features_per_dim .* got 0.01 at index 1"),
        ({"samples_per_dim": [[1.0], [0.04]]}, {}, r"samples_per_dim .* index \(1, 0\)"),
        ({"features_per_dim": [[0.5], [1.0]], "ridge": [0.1, 0.0]}, {}, r"ridge .* \(1, 1\)"),
        ({"samples_per_dim": [1.0, 2.0], "ridge": 0.0}, {}, r"ridge .* got 0.0 at index 1"),
        ({"ridge": [0.1, math.inf]}, {}, "ridge .* got inf at index 1"),
        ({"nonlinear_signal": [0.0, 0.5]}, {"test": "exact"}, "nonlinear_signal .* at index 1"),
        ({"ridge": [1.0, 1e-9]}, {"dtype": "float32"}, "ridge .* got 1e-09 at index 1"),
    ],
)
def test_points_that_cannot_be_simulated_are_named(
    fields: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        dt.simulate(dt.Problem(**fields), dim=10, n_data=2, n_init=2, **options)


def test_points_of_a_zipped_curve_need_a_ridge_only_at_their_own_size() -> None:
    """At P = N the ridge is positive; the outer product has a point without one."""
    zipped = dt.Problem(features_per_dim=[0.5, 1.0], ridge=[0.0, 0.1])
    run = dt.simulate(zipped, dim=20, n_data=2, n_init=2)
    assert run.error().total.value.shape == (2,)  # type: ignore[union-attr]


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
