"""The batched program agrees with literal networks, whatever the batch."""

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from doubletrouble.losses import ClassifierLoss
from doubletrouble.networks import train_lazy
from doubletrouble.networks._network import NetworkMember
from doubletrouble.networks._optimizers import SampleOrder
from doubletrouble.networks._settings import DTypeName, OptimizerName, Training
from tests.networks.literal import (
    LOSSES,
    Lazy,
    literal_weights,
    program,
    scores_at_test,
    small_data,
)
from tests.selection import full_beyond_cases

STEPS = 50
MEMBERS = [
    NetworkMember(width=7, laziness=1.0, number=0),
    NetworkMember(width=4, laziness=100.0, number=1, data=1),
    NetworkMember(width=2, laziness=0.3, number=5, seed=3),
]
DATA = [small_data(seed=0), small_data(seed=10)]


def of(member: NetworkMember) -> tuple[torch.Tensor, torch.Tensor]:
    data = DATA[member.data]
    return torch.tensor(data.x_train), torch.tensor(data.y_train)


@pytest.mark.parametrize(
    ("loss", "optimizer", "depth"),
    full_beyond_cases(
        [
            ("hinge", "adam", 5),
            ("squared_hinge", "gd", 3),
            ("squared", "adam", 2),
            ("squared", "gd", 5),
            ("logistic", "gd", 3),
        ],
        itertools.product(LOSSES, ("adam", "gd"), (2, 3, 5)),
    ),
)
def test_program_agrees_with_literal_networks(
    loss: ClassifierLoss, optimizer: OptimizerName, depth: int
) -> None:
    rate = None if optimizer == "adam" else 0.1
    training = Training(loss=loss, optimizer=optimizer, learning_rate=rate, max_steps=STEPS)
    with torch.no_grad():
        trained = program(MEMBERS, DATA, training, depth)
        trained.advance(STEPS)
        trained.record_final_loss()
    result = scores_at_test(trained, DATA[0])
    for k, member in enumerate(MEMBERS):
        literal = Lazy(member, depth, loss)
        its_rate = 0.1 * min(1, member.laziness) if rate is None else rate
        losses = literal.train(*of(member), STEPS, optimizer=optimizer, rate=its_rate)
        expected = literal.scores(torch.tensor(DATA[0].x_test))
        assert np.abs(expected).max() > 1e-3
        np.testing.assert_allclose(result[k], expected, rtol=1e-10, atol=1e-10)
        assert trained.stopping.steps[k] == (losses.index(0) if 0 in losses else STEPS)
        assert trained.stopping.loss[k].item() == pytest.approx(
            literal.value(*of(member)).item(), rel=1e-10, abs=1e-14
        )
        moved = literal_weights(trained.weights, k, member)
        for mine, theirs in zip(moved[::2], literal.network.weights, strict=True):
            np.testing.assert_allclose(mine, theirs.detach(), rtol=1e-9, atol=1e-10)
        for mine, theirs in zip(moved[1::2], literal.network.biases, strict=True):
            np.testing.assert_allclose(mine, theirs.detach(), rtol=1e-9, atol=1e-10)
        assert any(np.abs(bias).max() > 1e-4 for bias in moved[1::2])  # biases are trained


def test_unscaled_bias_is_a_different_network() -> None:
    """The negative control: z = h W/√n + b."""
    training = Training(loss="squared", optimizer="gd", learning_rate=0.1, max_steps=STEPS)
    member = MEMBERS[0]
    with torch.no_grad():
        trained = program([member], DATA, training, 3)
        trained.advance(STEPS)
    other = Lazy(member, 3, "squared")
    for W, b in zip(other.network.weights, other.network.biases, strict=True):
        b.register_hook(partial(torch.mul, len(W)))  # a step of b√n in place of b
    other.train(*of(member), STEPS, optimizer="gd", rate=0.1)
    expected = other.scores(torch.tensor(DATA[0].x_test))
    assert np.abs(scores_at_test(trained, DATA[0])[0] - expected).max() > 1e-3


@pytest.mark.parametrize(
    ("size", "laziness"),
    full_beyond_cases(
        [(1, 1.0), (7, 30.0), (50, 1.0)], itertools.product((1, 7, 21, 50), (1.0, 30.0))
    ),
)
def test_stochastic_gradient_descent_agrees_with_literal_networks(
    size: int, laziness: float
) -> None:
    # minibatches of odd size: labels that cancel leave preactivations of 0, where ReLU has a kink
    data = DATA[0]
    training = Training(
        loss="logistic", optimizer="sgd", learning_rate=0.05, batch_size=size, max_steps=STEPS
    )
    members = [NetworkMember(width=5, laziness=laziness, number=k) for k in range(2)]
    with torch.no_grad():
        trained = program(members, [data], training, 3)
        trained.advance(STEPS)
    for k, member in enumerate(members):
        literal = Lazy(member, 3, "logistic")
        literal.train(
            torch.tensor(data.x_train),
            torch.tensor(data.y_train),
            STEPS,
            optimizer="sgd",
            rate=0.05,
            size=size,
        )
        expected = literal.scores(torch.tensor(data.x_test))
        np.testing.assert_allclose(
            scores_at_test(trained, data)[k], expected, rtol=1e-10, atol=1e-10
        )


def test_minibatches_of_an_epoch_are_a_permutation() -> None:
    """Every epoch and every member has its own permutation."""
    members = [NetworkMember(width=5, laziness=1.0, number=k) for k in range(2)]
    order = SampleOrder(members, 12, 4, torch.device("cpu"))
    epochs = [torch.cat([order.minibatch(3 * e + k) for k in range(3)], dim=1) for e in range(2)]
    for epoch in epochs:
        np.testing.assert_array_equal(epoch.sort(dim=1)[0], np.tile(np.arange(12), (2, 1)))
    assert not torch.equal(*epochs)
    assert not torch.equal(epochs[0][0], epochs[0][1])
    again = SampleOrder(members, 12, 4, torch.device("cpu"))
    np.testing.assert_array_equal(again.minibatch(4), epochs[1][:, 4:8])


def test_train_lazy_agrees_with_literal_networks() -> None:
    data = DATA[0]
    run = train_lazy(
        data,
        width=6,
        depth=4,
        laziness=20,
        ensemble=3,
        max_steps=STEPS,
        device="cpu",
        dtype="float64",
        seed=4,
    )
    x, y = torch.tensor(data.x_train), torch.tensor(data.y_train)
    for k in range(3):
        literal = Lazy(NetworkMember(width=6, laziness=20.0, number=k, seed=4), 4, "hinge")
        losses = literal.train(x, y, STEPS, optimizer="adam", rate=0.1)
        np.testing.assert_allclose(
            run.predictions[k], literal.scores(torch.tensor(data.x_test)), rtol=1e-9, atol=1e-9
        )
        wrong = np.mean(np.sign(literal.scores(x)) != data.y_train)
        assert run.train_error[k] == pytest.approx(wrong)
        assert run.steps[k] == (losses.index(0) if 0 in losses else STEPS)
        pairs = zip(literal.network.parameters(), literal.start.parameters(), strict=True)
        moved = math.sqrt(sum((a - b).detach().square().sum().item() for a, b in pairs))
        assert run.distance[k] == pytest.approx(moved, rel=1e-9)


def test_float32_is_close_to_float64() -> None:
    options: dict[str, Any] = {"width": 8, "depth": 3, "laziness": 10.0, "ensemble": 2}
    dtypes: tuple[DTypeName, ...] = ("float64", "float32", "tf32")
    runs = [
        train_lazy(DATA[0], device="cpu", dtype=p, loss="logistic", max_steps=30, **options)
        for p in dtypes
    ]
    for run in runs[1:]:
        scale = np.abs(runs[0].predictions).max()
        np.testing.assert_allclose(run.predictions, runs[0].predictions, atol=2e-4 * scale)


def test_padding_does_not_change_a_network() -> None:
    """A narrow network is in a program padded to a wide one."""
    training = Training(max_steps=40)
    narrow = NetworkMember(width=3, laziness=2.0, number=4)
    with torch.no_grad():
        both = program(
            [NetworkMember(width=11, laziness=1.0, number=0), narrow], [DATA[0]], training, 4
        )
        alone = program([narrow], [DATA[0]], training, 4)
        for made in (both, alone):
            made.advance(40)
    np.testing.assert_allclose(
        scores_at_test(both, DATA[0])[1], scores_at_test(alone, DATA[0])[0], rtol=1e-10, atol=1e-10
    )
    padded = both.weights
    assert not padded.first[1, :, 3:].any()
    assert not padded.hidden[:, 1, 3:].any()
    assert not padded.hidden[:, 1, :, 3:].any()
    assert not padded.last[1, 3:].any()
    assert not padded.biases[:, 1, :, 3:].any()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_dropping_stopped_networks_does_not_change_the_others(optimizer: str) -> None:
    """Members stop at different steps."""
    data = small_data(6)
    size, rate = (4, 3.0) if optimizer == "sgd" else (None, 0.03)
    how: dict[str, Any] = {
        "optimizer": optimizer,
        "max_steps": 75,
        "batch_size": size,
        "learning_rate": rate,
    }
    members = [NetworkMember(width=8, laziness=1.0, number=k) for k in range(8)]
    with torch.no_grad():
        complete, dropped = (program(members, [data], Training(**how), 3) for _ in range(2))
        complete.advance(75)
        dropped.advance(50)
        left = torch.nonzero(dropped.stopping.status == 0).ravel()
        others = left.tolist()
        assert 0 < len(left) < len(members)
        dropped.keep(others)
        dropped.advance(25)
        for made in (complete, dropped):
            made.record_final_loss()
    np.testing.assert_allclose(
        scores_at_test(dropped, data),
        scores_at_test(complete, data)[others],
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_array_equal(dropped.stopping.steps, complete.stopping.steps[others])
    np.testing.assert_array_equal(dropped.stopping.status, complete.stopping.status[others])
    run = train_lazy(
        data, width=8, depth=3, laziness=1.0, ensemble=8, device="cpu", dtype="float64", **how
    )
    np.testing.assert_allclose(
        run.predictions, scores_at_test(complete, data), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(run.steps, complete.stopping.steps)
    assert len(set(run.steps)) > 3
