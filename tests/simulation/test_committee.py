"""Committees of unequal members: arguments, results, and plain sampling."""

import json
import math
import os
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble import Member, simulate
from tests.messages import message_of, not_identified

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))

A = Member(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.05)
B = Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=0.1, activation="tanh")


def test_total_is_the_weighted_sum_of_pair_errors() -> None:
    run = simulate([A, B, A], sharing=(0.31, 0.58), dim=20, n_data=5, noise=0.5)
    errors = run.pair_errors
    assert np.shape(errors.value) == np.shape(errors.standard_error) == (3, 3)
    np.testing.assert_array_equal(errors.value, np.transpose(errors.value))
    assert run.shared_features[0, 1] == 0.3
    assert run.shared_samples[0, 1] == 0.6
    np.testing.assert_array_equal(np.diag(run.shared_samples), [1.0, 0.8, 1.0])
    assert run.members == (A, B, A)
    w = np.array([0.5, 0.7, -0.2])
    total = run.error(w).total
    assert total.value == pytest.approx(w @ errors.value @ w)
    assert total.standard_error == pytest.approx(
        np.std(np.einsum("a,dab,b->d", w, run.draws, w), ddof=1) / math.sqrt(5)
    )
    assert run.error().total.value == pytest.approx(np.mean(errors.value))
    not_identified(run.error(), "bias", r"^parts must be computed by theory")
    assert "±" in str(run.error())
    lines = [line.split() for line in str(run).splitlines()]
    assert ["total", *str(run.error().total).split()] in lines
    assert ["2", "0.333", *str(errors[1, 1]).split()] in lines
    content = json.loads(run.to_json())
    assert content["settings"] == [asdict(one) for one in (A, B, A)]
    first, second, *_ = content["members"]
    assert second["error_with_1"] == first["error_with_2"] == np.asarray(errors.value)[0, 1]
    labels = [tick.get_text() for tick in run.plot().get_yticklabels()]
    assert labels == ["member 1", "member 2", "member 3", "mean of all"]


def test_sizes_are_rounded_to_whole_numbers() -> None:
    odd = Member(features_per_dim=0.333, samples_per_dim=1.26, ridge=0.1)
    run = simulate([odd, A], sharing="both", dim=10, n_data=2)
    assert run.members[0].features_per_dim == 0.3
    assert run.members[0].samples_per_dim == 1.3
    assert run.shared_features[0, 1] == 0.3
    assert run.shared_samples[0, 1] == 1.0


@pytest.mark.parametrize("model", ["features", "gaussian"])
def test_draws_depend_on_the_seed_alone(model: Any) -> None:
    first, again, other = (
        simulate([A, B], dim=10, n_data=3, seed=seed, model=model).draws for seed in (2, 2, 3)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.any(first == other)


@pytest.mark.parametrize("model", ["features", "gaussian"])
def test_members_that_share_everything_are_equal(model: Any) -> None:
    run = simulate([A, A], sharing="both", dim=20, n_data=40, model=model)
    difference = dt.Estimate.of(run.draws[:, 0, 1] - run.draws[:, 0, 0])
    assert abs(float(difference.z_score(0.0))) < 5
    apart = simulate([A, A], sharing="nothing", dim=20, n_data=40, model=model)
    gain = dt.Estimate.of(apart.draws[:, 0, 1] - apart.draws[:, 0, 0])
    assert float(gain.z_score(0.0)) < -10


@pytest.mark.parametrize("model", ["features", "gaussian"])
def test_equal_members_are_an_ensemble(model: Any) -> None:
    run = simulate([A, A], dim=20, n_data=60, noise=0.5, model=model)
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.05, noise=0.5)
    sim = dt.simulate(problem, dim=20, n_data=60, n_init=2, model=model)
    ours, expected = run.error().total, sim.error(2).total
    spread = np.hypot(ours.standard_error, expected.standard_error)
    assert abs(ours.value - expected.value) < 5 * spread


def drawn_once(rng: np.random.Generator, dim: int) -> float:
    """(f* - f_a)(f* - f_b) of A and B that share 4 features and 6 samples, everything drawn."""
    beta = rng.standard_normal(dim)
    beta /= np.linalg.norm(beta)
    x, test = rng.standard_normal((2 * dim, dim)), rng.standard_normal((100, dim))
    y = x @ beta + 0.7 * rng.standard_normal(2 * dim)
    theta = rng.standard_normal((3 * dim, dim))
    off = []
    for p, n, start, ridge, sigma in (
        (20, 10, 0, 0.05, lambda z: np.maximum(z, 0) - 1 / math.sqrt(2 * math.pi)),
        (5, 8, 4, 0.1, np.tanh),
    ):
        weights = theta[:p] if start == 0 else np.concatenate([theta[:4], theta[20 : 20 + p - 4]])
        rows = slice(start, start + n)
        phi, there = (sigma(v @ weights.T / math.sqrt(dim)) for v in (x[rows], test))
        alpha = n * p * ridge / dim
        a = np.linalg.solve(phi.T @ phi + alpha * np.eye(p), phi.T @ y[rows])
        off.append(test @ beta - there @ a)
    return float(np.mean(off[0] * off[1]))


@pytest.mark.statistical
def test_pair_errors_equal_plain_sampling() -> None:
    rng = np.random.default_rng(0)
    literal = dt.Estimate.of(np.array([drawn_once(rng, 10) for _ in range(2500)]))
    run = simulate([A, B], sharing=(0.4, 0.6), dim=10, n_data=400, noise=0.7)
    result = dt.Estimate.of(run.draws[:, 0, 1])
    assert abs(result.value - literal.value) < 5 * np.hypot(
        result.standard_error, literal.standard_error
    )
    less = simulate([A, B], sharing=(0.0, 0.0), dim=10, n_data=400, noise=0.7)
    control = dt.Estimate.of(less.draws[:, 0, 1])
    assert abs(control.value - literal.value) > 10 * np.hypot(
        control.standard_error, literal.standard_error
    )


UNEQUAL = [
    Member(features_per_dim=width, ridge=1e-2, activation=name)
    for width, name in ((0.3, "relu"), (1.0, "tanh"), (2.0, "relu"), (4.0, "tanh"))
]


@pytest.mark.statistical
@pytest.mark.parametrize(("model", "sharing"), [("features", "both"), ("gaussian", "samples")])
def test_optimal_weights_gain_as_predicted(model: Any, sharing: str) -> None:
    """Both have the same draws, at D and 2D, extrapolated in 1/D."""
    runs = [
        simulate(
            UNEQUAL,
            sharing=sharing,
            noise=0.3,
            dim=dim,
            n_data=draws,
            seed=SEED,
            model=model,
            progress=False,
        )
        for dim, draws in ((30, 60), (60, 30))
    ]
    equal, best = (
        dt.committee(UNEQUAL, sharing=sharing, weights=which, noise=0.3)
        for which in ("equal", "optimal")
    )
    for run in runs:
        one, other = (
            np.einsum("a,dab,b->d", w, run.draws, w) for w in (equal.weights, best.weights)
        )
        gain = dt.Estimate.of(one - other)
        assert float(gain.z_score(0.0)) > 5
        assert run.error(best.weights).total.value == pytest.approx(np.mean(other))
    alike = dt.committee(
        [replace(one, activation="relu") for one in UNEQUAL], sharing=sharing, noise=0.3
    )
    for theory in (equal, best):
        small, large = (run.error(theory.weights).total for run in runs)
        value = 2 * float(large.value) - float(small.value)
        error = math.hypot(2 * float(large.standard_error), float(small.standard_error))
        assert abs(value - float(theory.error.total)) < 5 * error
        assert abs(value - float(alike.error.total)) > 10 * error  # negative control


def test_arguments_are_checked() -> None:
    """The message begins with the name of the argument."""
    problems: list[tuple[str, dict[str, Any]]] = [
        ("model", {"model": "kernel"}),
        ("n_data", {"n_data": 1}),
        ("dim", {"dim": 0}),
        ("seed", {"seed": -1}),
        ("noise", {"noise": -1.0}),
        ("sharing", {"sharing": "all"}),
        ("shared features", {"sharing": (0.6, 0.0)}),
        ("shared samples", {"sharing": {"samples": 0.9}}),
        ("members", {"members": [Member(ridge=[0.1, 0.2])]}),
        ("problem", {"members": []}),
        ("problem", {"members": A}),
        ("problem", {"members": [dt.Problem()]}),
        ("features_per_dim", {"members": [Member(features_per_dim=math.inf)]}),
        ("ridge", {"members": [Member(ridge=math.inf)]}),
        ("ridge", {"members": [Member(features_per_dim=1.0, ridge=0.0)]}),
        ("features_per_dim", {"members": [Member(features_per_dim=0.01)]}),
        ("samples_per_dim", {"members": [Member(samples_per_dim=0.01)]}),
        ("n_init", {"n_init": 2}),
        ("ensembles", {"ensembles": dt.Divide(2)}),
        ("times", {"times": [1.0]}),
        ("test", {"test": "exact"}),
        ("center", {"center": False}),
        ("dtype", {"dtype": "float32"}),
        ("device", {"device": "torch"}),
    ]
    for name, changes in problems:
        arguments = {"members": [A, B], "dim": 10, "n_data": 2, **changes}
        message = message_of(simulate, arguments.pop("members"), **arguments)
        assert message.startswith(f"{name} must"), (changes, message)


def test_weights_sum_to_one() -> None:
    run = simulate([A, B], dim=10, n_data=2)
    wrong: Any
    for wrong in ([0.5, 0.6], [1.0], [[0.5, 0.5]], [0.5, math.nan], "optimal"):
        assert message_of(run.error, wrong).startswith("weights must"), wrong
