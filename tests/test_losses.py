"""Losses by name, and back."""

from dataclasses import asdict, dataclass

import pytest

import doubletrouble as dt
from doubletrouble.losses import LOSSES, Huber, Loss, Quantile, Squared, loss


@pytest.mark.parametrize(
    "given",
    [*(kind() for kind in LOSSES.values()), Huber(0.1), Quantile(0.9), Quantile(1 / 3, False)],
    ids=str,
)
def test_the_shorthand_of_a_loss_is_complete(given: Loss) -> None:
    assert loss(str(given)) == given
    for task in given.tasks:
        problem = dt.Problem(task=task, loss=given)
        assert (problem.loss, problem.loss_function) == (str(given), given)
        assert dt.Problem(**asdict(problem)) == problem


def test_a_loss_without_a_name_is_stored_itself() -> None:
    @dataclass(frozen=True, repr=False)
    class Mine(Squared):
        """The squared loss without a name of its own."""

        factor: float = 2.0

        name = ""

    problem = dt.Problem(loss=Mine())
    assert problem.loss is problem.loss_function


def test_the_shorthand_of_an_intercept_is_stored_with_a_sweep() -> None:
    both = [dt.Problem(loss=Quantile(0.9, intercept=one)) for one in (True, False)]
    cells = dt.Sweep(both, dim=10, n_data=2, n_init=2).cells()
    losses = [cell.parameters["loss"] for cell in cells]
    assert losses == ["quantile:0.9", "quantile:0.9:no_intercept"]
    assert [loss(name) for name in losses] == [one.loss_function for one in both]


@pytest.mark.parametrize(
    "given",
    ["huber:x", "huber:1:2", "huber:1:no_intercept", "hinge:1", "quantile:0.9:x", "linear"],
)
def test_an_unknown_shorthand_raises(given: str) -> None:
    with pytest.raises(ValueError, match=r"^loss must be .*, got"):
        loss(given)
