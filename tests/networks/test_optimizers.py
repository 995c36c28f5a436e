"""Step sizes and the stopping rule: zero loss, convergence, divergence."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.errors import DivergenceError
from doubletrouble.losses import ClassifierLoss
from doubletrouble.networks import Training, train_lazy
from doubletrouble.networks._network import NetworkMember
from doubletrouble.networks._optimizers import CONVERGED, DIVERGED, RUNNING, ZERO, StoppingRule
from tests.networks.literal import Lazy, program, scores_at_test, small_data
from tests.selection import full_beyond_cases

CPU: dict[str, Any] = {"depth": 3, "device": "cpu", "dtype": "float64"}


def literal_losses(
    member: NetworkMember, loss: str, steps: int, n: int, rate: float
) -> list[float]:
    data = small_data(n)
    x, y = torch.tensor(data.x_train), torch.tensor(data.y_train)
    return Lazy(member, 3, loss).train(x, y, steps, optimizer="adam", rate=rate)


# --- zero loss -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_members_stop_at_zero_loss(loss: ClassifierLoss) -> None:
    data = small_data(6)
    run = train_lazy(data, width=8, laziness=1, ensemble=4, loss=loss, max_steps=150, **CPU)
    assert set(run.status) == {"zero"}
    assert run.converged.all()
    np.testing.assert_array_equal(run.train_loss, 0.0)
    np.testing.assert_array_equal(run.train_error, 0.0)
    for k, steps in enumerate(run.steps):
        losses = literal_losses(NetworkMember(width=8, laziness=1.0, number=k), loss, 150, 6, 0.1)
        assert steps == len(losses) - 1  # no step is made at zero loss
    members = [NetworkMember(width=8, laziness=1.0, number=k) for k in range(4)]
    with torch.no_grad():
        going = program(members, [data], Training(loss=loss, max_steps=150), 3)
        going.advance(int(run.steps.max()) + 1)
        before = going.weights.copy()
        np.testing.assert_array_equal(going._losses(), 0.0)  # of the frozen weights
        going.advance(20)
        for a, b in zip(before, going.weights, strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(going.stopping.steps, run.steps)
    np.testing.assert_allclose(scores_at_test(going, data), run.predictions, rtol=1e-9, atol=1e-9)


def test_zero_loss_at_the_last_step_is_detected() -> None:
    options: dict[str, Any] = {"width": 8, "laziness": 1, "ensemble": 1, **CPU}
    steps = int(train_lazy(small_data(6), max_steps=150, **options).steps[0])
    ended = train_lazy(small_data(6), max_steps=steps, **options)
    assert (ended.status, ended.steps[0], ended.train_loss[0]) == (("zero",), steps, 0.0)
    short = train_lazy(small_data(6), max_steps=steps - 1, **options)
    assert (short.status, short.steps[0]) == (("max_steps",), steps - 1)
    assert short.train_loss[0] > 0
    assert not short.converged.any()


def test_squared_loss_is_zero_up_to_rounding() -> None:
    run = train_lazy(
        small_data(4),
        width=30,
        laziness=10,
        ensemble=2,
        loss="squared",
        optimizer="gd",
        max_steps=5000,
        tolerance=0,
        **CPU,
    )
    assert set(run.status) == {"zero"}
    assert run.train_loss.max() < (4 * 2.3e-16 * 10) ** 2
    assert run.steps.max() < 5000


def test_stochastic_descent_stops_by_the_loss_on_all_samples() -> None:
    """Zero loss on a minibatch does not stop a member."""
    data = small_data(6)
    run = train_lazy(
        data,
        width=8,
        laziness=1,
        ensemble=6,
        optimizer="sgd",
        batch_size=2,
        learning_rate=3.0,
        max_steps=300,
        **CPU,
    )
    assert set(run.status) == {"zero"}
    np.testing.assert_array_equal(run.train_loss, 0.0)
    np.testing.assert_array_equal(run.steps % 3, 0)  # epochs of three steps
    assert len(set(run.steps)) > 1


# --- convergence ---------------------------------------------------------------------


def stops_at(losses: list[float], window: int, tolerance: float) -> int | None:
    """The rule as documented."""
    means = [np.mean(losses[k : k + window]) for k in range(0, len(losses), window)]
    whole = len(losses) // window
    for k in range(1, whole):
        if (1 - tolerance) * means[k - 1] < means[k] <= 2 * means[k - 1]:
            return (k + 1) * window
    return None


@pytest.mark.parametrize(
    ("patience", "tolerance"), full_beyond_cases([(7, 0.3)], [(7, 0.3), (10, 0.1), (25, 0.3)])
)
def test_members_stop_at_the_end_of_a_window_without_progress(
    patience: int, tolerance: float
) -> None:
    options: dict[str, Any] = {"width": 5, "ensemble": 3, "loss": "logistic", **CPU}
    run = train_lazy(
        small_data(12),
        laziness=0.5,
        max_steps=300,
        patience=patience,
        tolerance=tolerance,
        **options,
    )
    assert "converged" in run.status
    for k in range(3):
        member = NetworkMember(width=5, laziness=0.5, number=k)
        losses = literal_losses(member, "logistic", 301, 12, 0.05)
        expected = stops_at(losses[:300], patience, tolerance)
        assert run.steps[k] == (expected or 300)
        assert (run.status[k] == "converged") == run.converged[k] == (expected is not None)
        assert run.train_loss[k] == pytest.approx(losses[run.steps[k]], rel=1e-8)


def test_default_window_is_a_tenth_of_the_steps_and_at_least_100() -> None:
    assert Training(max_steps=100_000).window == 10_000
    assert Training(max_steps=50).window == 100
    assert Training(max_steps=50, patience=3).window == 3


def rule_after(losses: list[list[float]], window: int, tolerance: float = 0.1) -> StoppingRule:
    """The rule after some steps with given losses of each network."""
    rule = StoppingRule.start(len(losses[0]), torch.device("cpu"))
    for step, loss in enumerate(losses, start=1):
        rule.before_step(torch.tensor(loss, dtype=torch.float64))
        if step % window == 0:
            rule.end_window(tolerance, torch.tensor(loss, dtype=torch.float64))
    return rule


def test_stopping_rule_distinguishes_losses() -> None:
    columns = {
        "flat": [1, 1, 1, 1, 1, 1],
        "falling": [6, 5, 4, 3, 2, 1],
        "growing": [1, 2, 4, 8, 16, 32],
        "zero": [1, 1, 1, 0, 1, 1],
        "lost": [1, math.nan, 1, 1, 1, 1],
    }
    rule = rule_after([list(map(float, row)) for row in zip(*columns.values(), strict=True)], 2)
    assert rule.status.tolist() == [CONVERGED, RUNNING, RUNNING, ZERO, DIVERGED]
    assert rule.steps.tolist() == [4, 6, 6, 3, 1]


def test_loss_that_is_not_finite_or_too_large_has_diverged() -> None:
    rule = rule_after([[1.0] * 3, [math.nan, math.inf, 1e30]], window=10)
    assert rule.status.tolist() == [DIVERGED] * 3
    assert rule.steps.tolist() == [1] * 3


# --- divergence -----------------------------------------------------------------------------------

WILD: dict[str, Any] = {
    "width": 6,
    "laziness": 10,
    "loss": "squared",
    "optimizer": "gd",
    "max_steps": 150,
    **CPU,
}


@pytest.mark.parametrize(("rate", "loss"), [(100.0, "squared"), (1e12, "squared_hinge")])
def test_diverged_members_have_nan_predictions(rate: float, loss: str) -> None:
    run = train_lazy(small_data(), ensemble=3, learning_rate=rate, **{**WILD, "loss": loss})
    lost = np.flatnonzero(run.diverged)
    assert lost.size > 0
    assert not (run.diverged & run.converged).any()
    assert np.isnan(run.predictions[lost]).all()
    assert np.isnan(run.train_error[lost]).all()
    assert (run.steps[lost] < 150).all()
    with pytest.raises(DivergenceError, match=rf"^{lost.size} of 3 members diverged \({lost[0]}"):
        run.error(ensemble=1)


def test_growing_loss_has_not_converged() -> None:
    run = train_lazy(
        small_data(), ensemble=4, **{**WILD, "learning_rate": 60.0, "patience": 5, "max_steps": 60}
    )
    assert not run.converged[run.train_loss > 100].any()
    assert run.diverged.any()


def test_windows_of_stochastic_descent_are_whole_epochs() -> None:
    """The loss is computed once an epoch: two windows in one epoch would have equal means."""
    how: dict[str, Any] = {"optimizer": "sgd", "batch_size": 1, "loss": "squared", "max_steps": 200}
    run = train_lazy(small_data(60), width=8, ensemble=2, patience=10, **how, **CPU)
    assert all(steps % 60 == 0 or steps == 200 for steps in run.steps)
    assert min(run.steps) >= 120


def test_rate_of_adam_at_infinite_laziness_is_that_of_100() -> None:
    assert Training(learning_rate=0.02).rate(math.inf) == pytest.approx(2.0)
    assert Training(learning_rate=0.02).rate(100.0) == pytest.approx(0.02)
    assert Training(optimizer="gd", learning_rate=0.02).rate(math.inf) == pytest.approx(0.02)
