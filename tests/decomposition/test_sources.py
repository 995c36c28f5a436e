"""Draws: the same wherever they occur, and none in common where none should be."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.decomposition import TrainingSet
from doubletrouble.decomposition._sources import init_seed
from tests.decomposition.known import FEW, curved, pool, random_features, source


def training(some: Any, number: int, n_noise: int = 2, seed: int = 0) -> TrainingSet:
    found: TrainingSet = some.training(number, n_noise=n_noise, seed=seed, classes=None)
    return found


def same(left: TrainingSet, right: TrainingSet) -> bool:
    return np.array_equal(left.X, right.X) and all(map(np.array_equal, left.y, right.y))


# --- determinism ---------------------------------------------------------------------------------


def test_a_draw_does_not_depend_on_how_many_there_are() -> None:
    few = dt.decompose(random_features, source(), **FEW)
    more = dt.decompose(random_features, source(), n_data=6, n_init=5, n_noise=3, progress=False)
    np.testing.assert_array_equal(few.predictions, more.predictions[:4, :2, :3])


def test_seeds() -> None:
    one, again = (dt.decompose(random_features, source(), seed=3, **FEW) for _ in range(2))
    other = dt.decompose(random_features, source(), seed=4, **FEW)
    assert str(one) == str(again)
    assert not np.any(one.predictions == other.predictions)


def test_initializations_are_the_same_for_all_data_sets() -> None:
    used: dict[int, set[int]] = {}

    def fit(X: Any, y: Any, seed: int) -> Any:
        used.setdefault(hash(X.tobytes()), set()).add(seed)
        return lambda X: np.zeros(len(X))

    dt.decompose(fit, source(), **FEW)
    assert len(used) == 4
    assert set(map(frozenset, used.values())) == {frozenset(init_seed(0, k) for k in range(3))}


@pytest.mark.parametrize("some", [source(), dt.PoolSource(*pool(200), n_train=20, inject=0.3)])
def test_training_sets(some: Any) -> None:
    assert same(training(some, 1), training(some, 1))
    assert same(training(some, 1, 3), training(some, 1))  # as far as the shorter goes
    assert not np.any(np.isin(training(some, 0).X, training(some, 1).X))
    assert not np.array_equal(training(some, 0).X, training(some, 0, seed=1).X)
    first, second = training(some, 0).y
    assert not np.any(first == second)


def test_noise_is_drawn_anew_for_each_data_set() -> None:
    noises = []
    for d in range(3):
        some = training(source(), d)
        clean = training(source(noise=0.0), d, 1)
        np.testing.assert_array_equal(some.X, clean.X)  # whatever the noise
        noises += [y - clean.y[0] for y in some.y]
    table = np.corrcoef(noises) - np.eye(6)
    assert np.abs(table).max() < 0.8
    assert np.std(noises) == pytest.approx(0.5, rel=0.2)


def test_noise_of_the_user() -> None:
    def doubled(rng: np.random.Generator, y: Any) -> Any:
        return y * (1 + rng.integers(2, size=len(y)))

    some = dt.GeneratorSource(curved, n_train=10, noise=doubled)
    clean = training(source(n_train=10, noise=0.0), 0, 1).y[0]
    ratios = training(some, 0).y[0] / clean
    assert set(np.round(ratios, 12)) == {1.0, 2.0}


# --- pools ---------------------------------------------------------------------------------------


def numbered(**options: Any) -> dt.PoolSource:
    """A pool whose samples tell which they are."""
    X = np.arange(100.0)[:, None]
    return dt.PoolSource(X, 10 * X[:, 0], **({"n_train": 15, "n_test": 25} | options))


@pytest.mark.parametrize("seed", [0, 1])
def test_pools_are_cut_without_a_sample_twice(seed: int) -> None:
    data = numbered()
    sets = [training(data, d, 1, seed).X[:, 0] for d in range(5)]
    test = data.test(seed, classification=False)
    every = np.concatenate([*sets, test.X[:, 0]])
    assert sorted(every) == list(range(100))  # all of them, each once
    np.testing.assert_array_equal(test.y, 10 * test.X[:, 0])
    np.testing.assert_array_equal(training(data, 2, 1, seed).y[0], 10 * sets[2])


def test_subsamples_share_samples_but_not_with_the_test_set() -> None:
    with pytest.warns(UserWarning, match="share samples: they are not independent") as caught:
        data = numbered(resampling="subsample", n_train=50)
    assert caught[0].filename.endswith("test_sources.py")
    one, other = (set(training(data, d, 1).X[:, 0]) for d in (0, 1))
    assert len(one) == 50
    assert one & other
    assert not one & set(data.test(0, classification=False).X[:, 0])


def test_bootstrap_samples_repeat_themselves() -> None:
    with pytest.warns(UserWarning, match="resampling='bootstrap' draws with replacement"):
        data = numbered(resampling="bootstrap", n_train=75)
    sets = [training(data, d, 1).X[:, 0] for d in range(30)]
    distinct = np.mean([len(set(some)) / 75 for some in sets])
    assert distinct == pytest.approx(1 - np.exp(-1), abs=0.03)
    assert not set(sets[0]) & set(data.test(0, classification=False).X[:, 0])


@pytest.mark.statistical
def test_bootstrap_moves_parts() -> None:
    """What resamples share is taken for bias, and 12 features meet 13 distinct samples of 20."""
    off: dict[str, list[float]] = {"bias": [], "initialization": []}
    for seed in range(60):
        X, y = pool(520, noise=1.0, seed=seed)
        whole = dt.PoolSource(X, y, n_train=20, n_test=200)
        with pytest.warns(UserWarning, match="bootstrap"):
            again = dt.PoolSource(X[:220], y[:220], n_train=20, n_test=200, resampling="bootstrap")
        right, wrong = (
            dt.decompose(random_features, data, n_data=16, n_init=3, progress=False)
            for data in (whole, again)
        )
        for name, found in off.items():
            found.append(float(wrong.error().parts[name].value - right.error().parts[name].value))
    for name, found in off.items():
        assert dt.Estimate.of(np.array(found)).z_score(0.0) > 5, name


def test_the_test_set_is_a_quarter_unless_told() -> None:
    assert numbered(n_test=None).n_test == 25
    X = np.zeros((8000, 1))
    assert dt.PoolSource(X, X[:, 0], n_train=5).n_test == 1000
    assert dt.PoolSource(X[:2], X[:2, 0], n_train=1).n_test == 1
