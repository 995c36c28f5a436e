"""When a member stops, what is then true of it, and members that diverge."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import doubletrouble as dt
from doubletrouble.errors import DivergenceError
from doubletrouble.networks import lazy_split, train_lazy
from doubletrouble.networks._progress import CONVERGED, DIVERGED, RUNNING, ZERO, Progress
from doubletrouble.networks._result import MEASURES, LazyRun, Measure
from doubletrouble.networks._settings import LossName, Training
from doubletrouble.networks._weights import NetworkMember
from doubletrouble.parameters import FloatArray
from tests.networks.literal import Lazy, program, scores_of, small_data

CPU: dict[str, Any] = {"depth": 3, "device": "cpu", "dtype": "float64"}


def literal_losses(
    member: NetworkMember, loss: str, steps: int, n: int, rate: float
) -> list[float]:
    data = small_data(n)
    x, y = torch.tensor(data.x_train), torch.tensor(data.y_train)
    return Lazy(member, 3, loss).train(x, y, steps, optimizer="adam", rate=rate)


# --- zero loss -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_zero_loss_freezes_a_member_at_that_step(loss: LossName) -> None:
    data = small_data(6)
    run = train_lazy(data, width=8, laziness=1, ensemble=4, loss=loss, max_steps=150, **CPU)
    assert set(run.status) == {"zero"}
    assert run.converged.all()
    np.testing.assert_array_equal(run.train_loss, 0.0)
    np.testing.assert_array_equal(run.train_error, 0.0)
    for k, steps in enumerate(run.steps):
        losses = literal_losses(NetworkMember(width=8, laziness=1.0, number=k), loss, 150, 6, 0.1)
        assert steps == len(losses) - 1  # the last one is zero: no step is made there
    members = [NetworkMember(width=8, laziness=1.0, number=k) for k in range(4)]
    with torch.no_grad():
        going = program(members, [data], Training(loss=loss, max_steps=150), 3)
        going.advance(int(run.steps.max()) + 1)
        before = going.weights.copy()
        np.testing.assert_array_equal(going._losses(), 0.0)  # of the frozen weights
        going.advance(20)
        for a, b in zip(before, going.weights, strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(going.progress.steps, run.steps)
    np.testing.assert_allclose(scores_of(going, data), run.predictions, rtol=1e-9, atol=1e-9)


def test_zero_at_the_very_last_step_counts() -> None:
    options: dict[str, Any] = {"width": 8, "laziness": 1, "ensemble": 1, **CPU}
    steps = int(train_lazy(small_data(6), max_steps=150, **options).steps[0])
    ended = train_lazy(small_data(6), max_steps=steps, **options)
    assert (ended.status, ended.steps[0], ended.train_loss[0]) == (("zero",), steps, 0.0)
    short = train_lazy(small_data(6), max_steps=steps - 1, **options)
    assert (short.status, short.steps[0]) == (("max_steps",), steps - 1)
    assert short.train_loss[0] > 0
    assert not short.converged.any()


def test_squared_loss_is_zero_when_rounding_is_all_that_is_left() -> None:
    run = train_lazy(
        small_data(4), width=30, laziness=10, ensemble=2, loss="squared", optimizer="gd",
        max_steps=5000, tolerance=0, **CPU,
    )  # fmt: skip
    assert set(run.status) == {"zero"}
    assert run.train_loss.max() < (4 * 2.3e-16 * 10) ** 2
    assert run.steps.max() < 5000


def test_stochastic_descent_looks_at_all_samples() -> None:
    """A batch without loss is no reason to stop; zero loss on all samples is."""
    data = small_data(6)
    run = train_lazy(
        data, width=8, laziness=1, ensemble=6, optimizer="sgd", batch_size=2, learning_rate=3.0,
        max_steps=300, **CPU,
    )  # fmt: skip
    assert set(run.status) == {"zero"}
    np.testing.assert_array_equal(run.train_loss, 0.0)
    np.testing.assert_array_equal(run.steps % 3, 0)  # epochs of three steps
    assert len(set(run.steps)) > 1


# --- the rule of convergence ---------------------------------------------------------------------


def stops_at(losses: list[float], window: int, tolerance: float) -> int | None:
    """The rule as the documentation states it."""
    means = [np.mean(losses[k : k + window]) for k in range(0, len(losses), window)]
    whole = len(losses) // window
    for k in range(1, whole):
        if (1 - tolerance) * means[k - 1] < means[k] <= 2 * means[k - 1]:
            return (k + 1) * window
    return None


@pytest.mark.parametrize(("patience", "tolerance"), [(7, 0.3), (10, 0.1), (25, 0.3)])
def test_a_plateau_ends_training_at_the_window_it_is_seen_in(
    patience: int, tolerance: float
) -> None:
    options: dict[str, Any] = {"width": 5, "ensemble": 3, "loss": "logistic", **CPU}
    run = train_lazy(
        small_data(12), laziness=0.5, max_steps=300, patience=patience, tolerance=tolerance,
        **options,
    )  # fmt: skip
    assert "converged" in run.status
    for k in range(3):
        member = NetworkMember(width=5, laziness=0.5, number=k)
        losses = literal_losses(member, "logistic", 301, 12, 0.05)
        expected = stops_at(losses[:300], patience, tolerance)
        assert run.steps[k] == (expected or 300)
        assert (run.status[k] == "converged") == run.converged[k] == (expected is not None)
        assert run.train_loss[k] == pytest.approx(losses[run.steps[k]], rel=1e-8)


def test_the_window_is_a_tenth_of_the_steps_and_at_least_100() -> None:
    assert Training(max_steps=100_000).window == 10_000
    assert Training(max_steps=50).window == 100
    assert Training(max_steps=50, patience=3).window == 3


def watched(losses: list[list[float]], window: int, tolerance: float = 0.1) -> Progress:
    """Networks whose losses are given, step by step."""
    progress = Progress.start(len(losses[0]), torch.device("cpu"))
    for step, loss in enumerate(losses, start=1):
        progress.see(torch.tensor(loss, dtype=torch.float64))
        if step % window == 0:
            progress.end_of_window(tolerance, torch.tensor(loss, dtype=torch.float64))
    return progress


def test_the_rule_step_by_step() -> None:
    columns = {
        "flat": [1, 1, 1, 1, 1, 1],
        "falling": [6, 5, 4, 3, 2, 1],
        "growing": [1, 2, 4, 8, 16, 32],
        "zero": [1, 1, 1, 0, 1, 1],
        "lost": [1, math.nan, 1, 1, 1, 1],
    }
    found = watched([list(map(float, row)) for row in zip(*columns.values(), strict=True)], 2)
    assert found.status.tolist() == [CONVERGED, RUNNING, RUNNING, ZERO, DIVERGED]
    assert found.steps.tolist() == [4, 6, 6, 3, 1]


@pytest.mark.parametrize("loss", [math.nan, math.inf, 1e30])
def test_a_hopeless_loss_has_diverged(loss: float) -> None:
    found = watched([[1.0], [loss]], window=10)
    assert found.status.tolist() == [DIVERGED]
    assert found.steps.tolist() == [1]


# --- diverging -----------------------------------------------------------------------------------

WILD: dict[str, Any] = {
    "width": 6, "laziness": 10, "loss": "squared", "optimizer": "gd", "max_steps": 150, **CPU
}  # fmt: skip


def mixed() -> LazyRun:
    """An ensemble of five, two of which diverged."""
    sound = train_lazy(small_data(), ensemble=5, learning_rate=0.1, **WILD)
    lost = train_lazy(small_data(), ensemble=5, learning_rate=1e4, **WILD)
    chosen = [(lost if k in (1, 3) else sound).members[k] for k in range(5)]
    return LazyRun.of(chosen, sound.y_test, width=6, laziness=10.0, settings=sound.settings)


@pytest.mark.parametrize("rate", [100.0, 1e4, 1e12])
@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_members_that_diverge_are_named(rate: float, loss: str) -> None:
    run = train_lazy(small_data(), ensemble=3, learning_rate=rate, **{**WILD, "loss": loss})
    lost = np.flatnonzero(run.diverged)
    assert lost.size > 0
    assert not (run.diverged & run.converged).any()
    assert np.isnan(run.predictions[lost]).all()
    assert np.isnan(run.train_error[lost]).all()
    assert (run.steps[lost] < 150).all()
    with pytest.raises(DivergenceError, match=rf"^{lost.size} of 3 members diverged \({lost[0]}"):
        run.error(ensemble=1)


def test_a_loss_that_grows_has_not_converged() -> None:
    """Whatever the window: exponential growth is no plateau."""
    run = train_lazy(
        small_data(), ensemble=4, **{**WILD, "learning_rate": 60.0, "patience": 5, "max_steps": 60}
    )
    assert not run.converged[run.train_loss > 100].any()
    assert run.diverged.any()


def test_nothing_is_averaged_with_members_that_diverged() -> None:
    run = mixed()
    assert run.diverged.tolist() == [False, True, False, True, False]
    for measure in ("classification", "vote", "squared"):
        with pytest.raises(DivergenceError, match=r"^2 of 5 members diverged \(1, 3\); run\.with"):
            run.error(ensemble=2, measure=measure)
    left = run.without_diverged()
    assert left.n_members == 3
    np.testing.assert_array_equal(left.predictions, run.predictions[[0, 2, 4]])
    assert np.isfinite(float(left.error(ensemble=3).total))
    assert np.isfinite(left.distance).all()
    assert repr(run) == "LazyRun(5 x width 6, α = 10: 3 max_steps, 2 diverged)"
    nothing = train_lazy(small_data(), ensemble=2, learning_rate=1e4, **WILD)
    with pytest.raises(DivergenceError, match=r"^all 2 members diverged; lower learning_rate$"):
        nothing.without_diverged()


def test_a_split_with_networks_that_diverged_is_refused() -> None:
    with pytest.raises(
        DivergenceError, match=r"^8 of 8 networks diverged; .* \[0, 0, 0\], \[0, 0,"
    ):
        lazy_split(
            small_data(pool=2), n_data=2, n_init=2, noise=0.5, learning_rate=1e4, progress=False,
            **WILD,
        )  # fmt: skip


# --- what an ensemble answers --------------------------------------------------------------------


def test_errors_of_groups() -> None:
    y = np.array([1.0, 1.0, -1.0, -1.0])
    scores = np.array([[1, 1, 1, -1], [1, -4, -1, -1], [1, 1, -1, -1], [0, -1, -1, -1.0]])
    run = LazyRun(
        predictions=scores, y_test=y, train_error=np.zeros(4), train_loss=np.zeros(4),
        displacement=np.full(4, 6.0), steps=np.arange(4), status=("zero",) * 4, width=3,
        laziness=2.0,
    )  # fmt: skip
    np.testing.assert_allclose(run.errors(1), [1 / 4, 1 / 4, 0, 3 / 8])
    assert float(run.error().total) == pytest.approx(7 / 32)
    np.testing.assert_allclose(run.errors(2), [(1 + 0.5) / 4, 0.5 / 4])  # a mean of 0 is half wrong
    assert float(run.error(4).total) == 1 / 4  # the second point: -3/4 on average
    np.testing.assert_allclose(run.errors(2, "vote"), [(0.5 + 0.5) / 4, 0.5 / 4])
    assert float(run.error(4, "vote").total) == pytest.approx(0.5 / 4)
    assert float(run.error(4, "squared").total) == pytest.approx(np.mean((scores.mean(0) - y) ** 2))
    np.testing.assert_array_equal(run.distance, 3.0)
    with pytest.raises(
        ValueError, match=r"^ensemble must be at most the 4 members there are, got 5"
    ):
        run.error(5)
    with pytest.raises(ValueError, match=r"^measure must be one of classification, vote, squared"):
        run.error(1, "mse")  # type: ignore[arg-type]


def ensemble_of(scores: FloatArray, y: FloatArray) -> LazyRun:
    """A run with these scores."""
    count = len(scores)
    return LazyRun(
        predictions=scores, y_test=y, train_error=np.zeros(count), train_loss=np.zeros(count),
        displacement=np.ones(count), steps=np.arange(count), status=("zero",) * count, width=3,
        laziness=2.0,
    )  # fmt: skip


@pytest.mark.parametrize("K", [1, 2, 5])
def test_parts_of_the_squared_error(K: int) -> None:
    rng = np.random.default_rng(K)
    scores, y = rng.normal(size=(10, 30)) + rng.normal(size=30), np.sign(rng.normal(size=30))
    run = ensemble_of(scores, y)
    error = run.error(K, "squared")
    variance = np.mean(scores.var(axis=0, ddof=1)) / K
    assert float(error.initialization) == pytest.approx(variance)
    groups = run.errors(K, "squared")
    assert float(error.total) == pytest.approx(groups.mean())
    expected = groups.std(ddof=1) / math.sqrt(len(groups))
    assert error.total.standard_error == pytest.approx(expected)
    assert error.total.n_draws == len(groups)
    together = error.initialization + error.bias
    assert float(together) == pytest.approx(float(error.total))
    assert together.standard_error == pytest.approx(expected)
    assert "bias + sampling, label noise and noise floor" in str(error)
    for name in ("noise", "sampling", "bayes"):
        with pytest.raises(ValueError, match=f"^{name} needs"):
            getattr(error, name)
    assert run.error(dt.Ensemble(K), "squared").total == error.total


@pytest.mark.statistical
def test_the_variance_over_initializations_has_a_standard_error() -> None:
    rng, scores = np.random.default_rng(0), []
    for _ in range(400):
        run = ensemble_of(rng.normal(size=(12, 40)) + np.ones(40), np.ones(40))
        part = run.error(2, "squared").initialization
        scores.append(float(part.z_score(0.5)))
    assert abs(np.mean(scores)) < 0.4
    assert 0.8 < np.std(scores) < 1.6  # of six groups


def test_a_single_group_has_no_standard_error() -> None:
    run = ensemble_of(np.random.default_rng(0).normal(size=(3, 5)), np.ones(5))
    error = run.error(3, "squared")
    assert all(math.isinf(part.standard_error) for part in error.parts.values())
    assert float(error.initialization + error.bias) == pytest.approx(float(error.total))
    alone = ensemble_of(run.predictions[:1], run.y_test).error(1, "squared")
    assert list(alone.parts) == ["bias"]
    assert float(alone.bias) == float(alone.total)
    with pytest.raises(ValueError, match=r"^initialization needs 2 or more members, got 1$"):
        _ = alone.initialization


@pytest.mark.parametrize("measure", ["classification", "vote"])
def test_a_share_of_errors_has_no_parts(measure: Measure) -> None:
    run = ensemble_of(np.random.default_rng(0).normal(size=(6, 50)), np.ones(50))
    error = run.error(2, measure)
    groups = run.errors(2, measure)
    assert error.total.value == pytest.approx(groups.mean())
    assert error.total.standard_error == pytest.approx(groups.std(ddof=1) / math.sqrt(3))
    assert error.parts == {}
    with pytest.raises(ValueError, match="parts need the squared error, got measure"):
        _ = error.bias
    assert str(error).split()[0] == "total"


def test_errors_of_the_same_groups_are_paired() -> None:
    rng = np.random.default_rng(0)
    run, other = (ensemble_of(rng.normal(size=(12, 40)) + 1, np.ones(40)) for _ in range(2))
    same = pickle.loads(pickle.dumps(run))
    for measure in MEASURES:
        total = run.error(2, measure).total
        for again in (run, same):
            gap = total - again.error(2, measure).total
            assert (gap.value, gap.standard_error) == (0, 0)
        for apart in (run.error(3, measure).total, other.error(2, measure).total):
            independent = math.hypot(float(total.standard_error), float(apart.standard_error))
            assert (total - apart).standard_error == pytest.approx(independent)
    by_group = dt.Estimate.of(run.errors(2, "classification") - run.errors(2, "vote"))
    gap = run.error(2).total - run.error(2, "vote").total
    assert gap.standard_error == pytest.approx(by_group.standard_error)


def test_ensembles_of_networks_are_checked() -> None:
    run = ensemble_of(np.zeros((4, 5)), np.ones(5))
    bad: Any
    for bad in (dt.Divide(2), 0, 1.5, math.inf, [1, 2]):
        with pytest.raises(ValueError, match=r"^ensemble must be"):
            run.error(bad)
        with pytest.raises(ValueError, match=r"^ensemble must be"):
            run.errors(bad)


def test_windows_of_stochastic_descent_are_whole_epochs() -> None:
    """Within an epoch the loss is known once; two windows inside one would look like a plateau."""
    how: dict[str, Any] = {"optimizer": "sgd", "batch_size": 1, "loss": "squared", "max_steps": 200}
    run = train_lazy(small_data(60), width=8, ensemble=2, patience=10, **how, **CPU)
    assert all(steps % 60 == 0 or steps == 200 for steps in run.steps)
    assert min(run.steps) >= 120


def test_an_alpha_that_leaves_no_digits_is_refused() -> None:
    how: dict[str, Any] = {"width": 4, "ensemble": 1, "max_steps": 2, "device": "cpu"}
    with pytest.raises(ValueError, match=r"laziness must be at most 8e\+03 or inf with dtype"):
        train_lazy(small_data(6), laziness=1e5, **how)
    assert train_lazy(small_data(6), laziness=1e5, **how, dtype="float64").n_members == 1


def test_a_given_rate_means_the_same_steps_at_infinite_alpha() -> None:
    assert Training(learning_rate=0.02).rate(math.inf) == pytest.approx(2.0)
    assert Training(learning_rate=0.02).rate(100.0) == pytest.approx(0.02)
    assert Training(optimizer="gd", learning_rate=0.02).rate(math.inf) == pytest.approx(0.02)
