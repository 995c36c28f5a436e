"""LazyRun: errors of groups of members, their parts and standard errors, diverged members."""

import math
import pickle
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import DivergenceError
from doubletrouble.losses import NETWORK_MEASURES
from doubletrouble.networks import LazyRun, train_lazy
from doubletrouble.parameters import FloatArray
from tests.messages import not_identified
from tests.networks.literal import small_data

WILD: dict[str, Any] = {
    "width": 6,
    "depth": 3,
    "laziness": 10,
    "loss": "squared",
    "optimizer": "gd",
    "max_steps": 150,
    "device": "cpu",
    "dtype": "float64",
}


def ensemble_of(scores: FloatArray, y: FloatArray) -> LazyRun:
    """An ensemble with these scores."""
    count = len(scores)
    return LazyRun(
        predictions=scores,
        y_test=y,
        train_error=np.zeros(count),
        train_loss=np.zeros(count),
        displacement=np.full(count, 6.0),
        steps=np.arange(count),
        status=("zero",) * count,
        width=3,
        laziness=2.0,
    )


def partly_diverged() -> LazyRun:
    """An ensemble of five members, two of which diverged."""
    sound = train_lazy(small_data(), ensemble=5, learning_rate=0.1, **WILD)
    lost = train_lazy(small_data(), ensemble=5, learning_rate=1e4, **WILD)
    chosen = [(lost if k in (1, 3) else sound).members[k] for k in range(5)]
    return LazyRun._of(chosen, sound.y_test, width=6, laziness=10.0, settings=sound.settings)


def test_errors_of_groups_equal_those_by_hand() -> None:
    y = np.array([1.0, 1.0, -1.0, -1.0])
    scores = np.array([[1, 1, 1, -1], [1, -4, -1, -1], [1, 1, -1, -1], [0, -1, -1, -1.0]])
    run = ensemble_of(scores, y)
    np.testing.assert_allclose(run.by_group(1, measure="zero_one"), [1 / 4, 1 / 4, 0, 3 / 8])
    assert float(run.error(1, measure="zero_one").total) == pytest.approx(7 / 32)
    np.testing.assert_allclose(
        run.by_group(2, measure="zero_one"), [(1 + 0.5) / 4, 0.5 / 4]
    )  # a mean of 0: 1/2
    assert float(run.error(4, measure="zero_one").total) == 1 / 4  # -3/4 on average at the second
    np.testing.assert_allclose(
        run.by_group(dt.Vote(2), measure="zero_one"), [(0.5 + 0.5) / 4, 0.5 / 4]
    )
    assert float(run.error(dt.Vote(4), measure="zero_one").total) == pytest.approx(0.5 / 4)
    assert float(run.error(4).total) == pytest.approx(np.mean((scores.mean(0) - y) ** 2))
    np.testing.assert_array_equal(run.distance, 3.0)
    with pytest.raises(ValueError, match=r"^ensemble must be .* got 5"):
        run.error(5)
    measure: Any = "mse"
    with pytest.raises(ValueError, match=r"^measure must be one of"):
        run.error(1, measure=measure)
    with pytest.raises(ValueError, match=r"^measure must be zero_one for Vote\(2\), got 'sq"):
        run.error(dt.Vote(2), measure="squared")


@pytest.mark.parametrize("K", [1, 5])
def test_parts_sum_to_the_squared_error(K: int) -> None:
    rng = np.random.default_rng(K)
    scores, y = rng.normal(size=(10, 30)) + rng.normal(size=30), np.sign(rng.normal(size=30))
    run = ensemble_of(scores, y)
    error = run.error(K, measure="squared")
    variance = np.mean(scores.var(axis=0, ddof=1)) / K
    assert float(error.initialization) == pytest.approx(variance)
    groups = run.by_group(K, measure="squared")
    assert float(error.total) == pytest.approx(groups.mean())
    expected = groups.std(ddof=1) / math.sqrt(len(groups))
    assert error.total.standard_error == pytest.approx(expected)
    assert error.total.n_draws == len(groups)
    together = error.initialization + error.bias
    assert float(together) == pytest.approx(float(error.total))
    assert together.standard_error == pytest.approx(expected)
    assert "bias + sampling, label noise and noise floor" in str(error)
    for name, printed in (("noise", "noise"), ("sampling", "sampling"), ("bayes", "noise floor")):
        not_identified(error, name, f"^{printed} needs")
    assert run.error(dt.Ensemble(K), measure="squared").total == error.total


@pytest.mark.statistical
def test_standard_error_of_the_initialization_is_that_of_repeats() -> None:
    rng, scores = np.random.default_rng(0), []
    for _ in range(400):
        run = ensemble_of(rng.normal(size=(12, 40)) + np.ones(40), np.ones(40))
        part = run.error(2, measure="squared").initialization
        scores.append(float(part.z_score(0.5)))
    assert abs(np.mean(scores)) < 0.4
    assert 0.8 < np.std(scores) < 1.6  # of six groups


def test_standard_error_of_a_single_group_is_infinite() -> None:
    run = ensemble_of(np.random.default_rng(0).normal(size=(3, 5)), np.ones(5))
    error = run.error(3, measure="squared")
    assert all(math.isinf(part.standard_error) for part in error.parts.values())
    assert float(error.initialization + error.bias) == pytest.approx(float(error.total))
    alone = ensemble_of(run.predictions[:1], run.y_test).error(1, measure="squared")
    assert list(alone.parts) == ["bias"]
    assert float(alone.bias) == float(alone.total)
    not_identified(alone, "initialization", r"^initialization needs 2")


@pytest.mark.parametrize("ensemble", [2, dt.Ensemble(2), dt.Vote(2)])
def test_error_rates_have_no_parts(ensemble: Any) -> None:
    run = ensemble_of(np.random.default_rng(0).normal(size=(6, 50)), np.ones(50))
    error = run.error(ensemble, measure="zero_one")
    groups = run.by_group(ensemble, measure="zero_one")
    assert error.total.value == pytest.approx(groups.mean())
    assert error.total.standard_error == pytest.approx(groups.std(ddof=1) / math.sqrt(3))
    assert error.parts == {}
    not_identified(error, "bias", "parts need measure")
    assert f"total  {error.total}" in str(error)


def test_ensembles_and_networks_are_drawn() -> None:
    mpl.use("Agg")
    run = ensemble_of(np.random.default_rng(0).normal(size=(6, 50)), np.ones(50))
    axes: Any = run.plot()
    means = [float(run.error(K, measure="zero_one").total) for K in (1, 2, 3, 5, 6)]
    assert any(list(line.get_ydata()) == means for line in axes.lines)


def test_errors_of_the_same_groups_are_paired() -> None:
    rng = np.random.default_rng(0)
    run, other = (ensemble_of(rng.normal(size=(12, 40)) + 1, np.ones(40)) for _ in range(2))
    same = pickle.loads(pickle.dumps(run))
    for measure in NETWORK_MEASURES:
        total = run.error(2, measure=measure).total
        for again in (run, same):
            gap = total - again.error(2, measure=measure).total
            assert (gap.value, gap.standard_error) == (0, 0)
        for apart in (run.error(3, measure=measure).total, other.error(2, measure=measure).total):
            independent = math.hypot(float(total.standard_error), float(apart.standard_error))
            assert (total - apart).standard_error == pytest.approx(independent)
    by_group = dt.Estimate.of(
        run.by_group(2, measure="zero_one") - run.by_group(dt.Vote(2), measure="zero_one")
    )
    gap = run.error(2, measure="zero_one").total - run.error(dt.Vote(2), measure="zero_one").total
    assert gap.standard_error == pytest.approx(by_group.standard_error)


def test_ensemble_is_validated() -> None:
    run = ensemble_of(np.zeros((4, 5)), np.ones(5))
    bad: Any
    for bad in (dt.Divide(2), 0, 1.5, math.inf, [1, 2]):
        with pytest.raises(ValueError, match=r"^ensemble must be"):
            run.error(bad)
        with pytest.raises(ValueError, match=r"^ensemble must be"):
            run.by_group(bad)


def test_errors_of_diverged_members_are_refused() -> None:
    run = partly_diverged()
    assert run.diverged.tolist() == [False, True, False, True, False]
    options: Any
    for options in ({}, {"ensemble": 2}, {"ensemble": dt.Vote(2), "measure": "zero_one"}):
        with pytest.raises(DivergenceError, match=r"^2 of 5 members diverged \(1, 3\)"):
            run.error(**options)
    left = run.without_diverged()
    assert left.n_members == 3
    np.testing.assert_array_equal(left.predictions, run.predictions[[0, 2, 4]])
    assert np.isfinite(float(left.error(ensemble=3).total))
    assert np.isfinite(left.distance).all()
    text = " ".join(str(run).split())
    assert text.startswith("5 networks of width 6, α = 10: 3 max_steps, 2 diverged")
    one, mean = (left.error(K, measure="zero_one").total for K in (1, 3))
    assert f"one network 1 {one} mean 3 {float(mean):.3f}" in text
    assert "2 of 5 networks diverged, and are left out" in text
    assert repr(run) == repr(left)
    lost = train_lazy(small_data(), ensemble=2, learning_rate=1e4, **WILD)
    with pytest.raises(DivergenceError, match=r"^all 2 members diverged"):
        lost.without_diverged()
    assert str(lost).endswith("All networks diverged.")
