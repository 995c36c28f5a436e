"""Sources: draws that do not depend on other draws, disjoint sets, and the noise of labels."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import doubletrouble as dt
from doubletrouble.errors import require
from doubletrouble.learners import TrainingSet
from doubletrouble.learners._sources import init_seed
from tests.learners.known import FEW, curved, pool, random_features, source
from tests.messages import not_identified


def training(some: Any, number: int, n_noise: int = 2, seed: int = 0) -> TrainingSet:
    result: TrainingSet = some.training(number, n_noise=n_noise, seed=seed, classes=None)
    return result


def same(left: TrainingSet, right: TrainingSet) -> bool:
    return np.array_equal(left.X, right.X) and all(map(np.array_equal, left.y, right.y))


def test_rows_of_a_pool_have_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = pool(120)
    names = [f"r{k}" for k in range(120)]
    few: Any = {"n_samples": 20, "n_data": 3, "n_init": 2, "progress": False}
    result = dt.decompose(random_features, X, y, **few)
    rows: Any = result.by_row().index
    np.testing.assert_array_equal(y[rows], result.y_test)
    named: Any = pandas.DataFrame(X, index=names)
    labelled, numbered = (dt.decompose(Ridge(), one, y, **few).by_row() for one in (named, X))
    numbers: Any = numbered.index
    assert list(labelled.index) == [names[k] for k in numbers]


# --- determinism ---------------------------------------------------------------------------------


def test_a_draw_does_not_depend_on_how_many_there_are() -> None:
    few = dt.decompose(random_features, source(), **FEW)
    more = dt.decompose(random_features, source(), n_data=6, n_init=5, n_noise=3, progress=False)
    np.testing.assert_array_equal(few.predictions, more.predictions[:4, :2, :3])


def test_seeds_determine_predictions() -> None:
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


@pytest.mark.parametrize("some", [source(), dt.PoolSource(*pool(200), n_samples=20, inject=0.3)])
def test_training_sets_do_not_depend_on_other_draws(some: Any) -> None:
    assert same(training(some, 1), training(some, 1))
    assert same(training(some, 1, 3), training(some, 1))  # as far as the shorter goes
    assert not np.any(np.isin(training(some, 0).X, training(some, 1).X))
    assert not np.array_equal(training(some, 0).X, training(some, 0, seed=1).X)
    first, second = training(some, 0).y
    assert not np.any(first == second)


@pytest.mark.parametrize(
    ("noisy", "exact"),
    [
        (source(), source(noise=0.0)),
        (
            dt.PoolSource(*pool(200), n_samples=20, inject=0.5),
            dt.PoolSource(*pool(200), n_samples=20),
        ),
    ],
    ids=["generator", "pool"],
)
def test_noise_is_drawn_anew_for_each_data_set(noisy: Any, exact: Any) -> None:
    noises = []
    for d in range(3):
        some = training(noisy, d)
        clean = training(exact, d, 1)
        np.testing.assert_array_equal(some.X, clean.X)  # for any noise
        noises += [y - clean.y[0] for y in some.y]
    table = np.corrcoef(noises) - np.eye(6)
    assert np.abs(table).max() < 0.8
    assert np.std(noises) == pytest.approx(0.5, rel=0.2)


def test_noise_may_be_a_function() -> None:
    def doubled(rng: np.random.Generator, y: Any) -> Any:
        return y * (1 + rng.integers(2, size=len(y)))

    some = dt.GeneratorSource(curved, n_samples=10, noise=doubled)
    clean = training(source(n_samples=10, noise=0.0), 0, 1).y[0]
    ratios = training(some, 0).y[0] / clean
    assert set(np.round(ratios, 12)) == {1.0, 2.0}


# --- pools ---------------------------------------------------------------------------------------


def numbered(**options: Any) -> dt.PoolSource:
    """A pool whose inputs are the indices of its samples."""
    X = np.arange(100.0)[:, None]
    return dt.PoolSource(X, 10 * X[:, 0], **({"n_samples": 15, "n_test": 25} | options))


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
    with pytest.warns(UserWarning, match=r"^resampling") as caught:
        data = numbered(resampling="subsample", n_samples=50)
    assert caught[0].filename.endswith("test_sources.py")
    one, other = (set(training(data, d, 1).X[:, 0]) for d in (0, 1))
    assert len(one) == 50
    assert one & other
    assert not one & set(data.test(0, classification=False).X[:, 0])


def test_bootstrap_samples_have_duplicates() -> None:
    with pytest.warns(UserWarning, match=r"^resampling"):
        data = numbered(resampling="bootstrap", n_samples=75)
    sets = [training(data, d, 1).X[:, 0] for d in range(30)]
    distinct = np.mean([len(set(some)) / 75 for some in sets])
    assert distinct == pytest.approx(1 - np.exp(-1), abs=0.03)
    assert not set(sets[0]) & set(data.test(0, classification=False).X[:, 0])


@pytest.mark.full
@pytest.mark.statistical
def test_bootstrap_moves_parts() -> None:
    """Effects shared by resamples are in bias; 12 features have 13 distinct samples of 20."""
    off: dict[str, list[float]] = {"bias": [], "initialization": []}
    for seed in range(60):
        X, y = pool(520, noise=1.0, seed=seed)
        whole = dt.PoolSource(X, y, n_samples=20, n_test=200)
        with pytest.warns(UserWarning, match=r"^resampling"):
            again = dt.PoolSource(
                X[:220], y[:220], n_samples=20, n_test=200, resampling="bootstrap"
            )
        right, wrong = (
            dt.decompose(random_features, data, n_data=16, n_init=3, progress=False)
            for data in (whole, again)
        )
        for name, result in off.items():
            result.append(float(wrong.error().parts[name].value - right.error().parts[name].value))
    for name, result in off.items():
        assert dt.Estimate.of(np.array(result)).z_score(0.0) > 5, name


def test_the_test_set_is_a_quarter_by_default() -> None:
    assert numbered(n_test=None).n_test == 25
    X = np.zeros((8000, 1))
    assert dt.PoolSource(X, X[:, 0], n_samples=5).n_test == 1000
    assert dt.PoolSource(X[:2], X[:2, 0], n_samples=1).n_test == 1


def grouped_pool(**options: Any) -> dt.PoolSource:
    X = np.arange(100.0)[:, None]
    groups = np.arange(100) // 7  # of unequal size
    given: dict[str, Any] = {"n_samples": 15, "n_test": 25, "groups": groups}
    return dt.PoolSource(X, X[:, 0], **(given | options))


@pytest.mark.parametrize("resampling", ["disjoint", "subsample"])
@pytest.mark.filterwarnings("ignore:resampling")
def test_no_group_is_on_both_sides(resampling: str) -> None:
    data = grouped_pool(resampling=resampling)
    for seed in range(5):
        test = data.test(seed, classification=False).X[:, 0]
        sets = [training(data, d, 1, seed).X[:, 0] for d in range(4)]
        assert len(test) == 25
        assert not {x // 7 for x in test} & {x // 7 for x in np.concatenate(sets)}
        if resampling == "disjoint":
            assert len(set(np.concatenate(sets))) == 60
    assert not np.array_equal(
        data.test(0, classification=False).X, data.test(1, classification=False).X
    )
    if resampling == "disjoint":
        assert data.most_data == 4  # 100 - 25 - 6 samples remain in the worst case


def test_groups_in_several_training_sets_are_noted() -> None:
    (note,) = (n for n in dt.decompose(Ridge(), grouped_pool(), **FEW).notes if "groups" in n)
    sets = [set(training(grouped_pool(), d, 1).X[:, 0] // 7) for d in range(4)]
    counts = [sum(group in some for some in sets) for group in set().union(*sets)]
    shared = sum(count > 1 for count in counts)
    assert note.startswith(f"{shared} of {len(counts)} groups")
    alone = dt.decompose(Ridge(), grouped_pool(groups=np.arange(100)), **FEW)
    assert not any("groups" in n for n in alone.notes)


def test_groups_may_leave_too_few_samples() -> None:
    data = grouped_pool(groups=np.arange(100) // 50, n_samples=40, n_test=10)
    with pytest.raises(ValueError, match=r"^n_data = 4 training sets .* got 50"):
        dt.decompose(random_features, data, **FEW)


def test_a_pool_prints_as_one_line() -> None:
    X, y = pool(100)
    plain = dt.PoolSource(X, y, n_samples=10)
    assert repr(plain) == "PoolSource(100 rows of shape (3,), n_samples=10, n_test=25)"
    more = dt.PoolSource(X, y, n_samples=10, noise=0.5, inject=1.0, groups=np.arange(100) % 9)
    assert repr(more).endswith("n_test=25, noise=0.5, inject=1.0, 9 groups)")


def test_pandas_tables_are_accepted() -> None:
    pandas, joblib = require("pandas", "tables"), require("joblib", "runs")
    X, y = pool(100)
    frame = pandas.DataFrame(X).assign(label=pandas.array(np.round(y).astype(int), dtype="Int64"))
    tables = dt.PoolSource(
        frame[[0, 1, 2]], frame.label, n_samples=10, groups=pandas.Series(["a", "b"] * 50)
    )
    arrays = dt.PoolSource(X, np.round(y).astype(int), n_samples=10, groups=np.arange(100) % 2)
    assert tables.y.dtype.kind == "i"
    np.testing.assert_array_equal(training(tables, 1, 1).X, training(arrays, 1, 1).X)
    assert joblib.hash(tables) == joblib.hash(
        dt.PoolSource(
            frame[[0, 1, 2]].copy(),
            frame.label,
            n_samples=10,
            groups=pandas.Series(["a", "b"] * 50),
        )
    )


# --- invalid labels -------------------------------------------------------------------------------


def test_labels_of_mixed_type_are_refused() -> None:
    mixed = np.array(["a", None] * 50, dtype=object)
    for labels in (["a", 1] * 50, mixed, [True, 2] * 50, [1.0, None] * 50):
        with pytest.raises(TypeError, match=r"^y must have labels of one type"):
            dt.PoolSource(np.zeros((100, 1)), labels, n_samples=10)


def test_masked_arrays_are_refused() -> None:
    X, y = pool(100)
    masked, hidden = np.ma.masked_less(X, -2), np.ma.masked_less(y, 0)
    given: dict[str, Any] = {"X": X, "y": y, "n_samples": 10}
    for options in (
        {"X": masked},
        {"X": list(masked)},
        {"y": hidden},
        {"y": list(hidden)},
        {"repeated": [hidden]},
        {"groups": hidden},
    ):
        with pytest.raises(TypeError, match="must not have masked elements, got"):
            dt.PoolSource(**(given | options))
    data = dt.GeneratorSource(lambda rng, n: (X[:n], hidden[:n]), n_samples=10, n_test=50)
    with pytest.raises(TypeError, match=r"^y of sample must not have masked elements"):
        dt.decompose(random_features, data, **FEW)
    assert (
        dt.PoolSource(np.ma.array(X), np.ma.array(y), n_samples=10).n_test == 25
    )  # without a mask


def test_masked_predictions_and_targets_are_refused() -> None:
    f, y = np.ones((3, 2, 3, 4)), np.zeros(4)
    for name in ("predictions", "truth", "y_test", "label_noise"):
        given: dict[str, Any] = {"predictions": f, "y_test": y, "label_noise": y}
        if name == "truth":
            given = {"predictions": f, "truth": y}
        given[name] = np.ma.masked_equal(given[name], given[name].flat[0])
        with pytest.raises(TypeError, match=rf"^{name} must not have masked elements"):
            dt.decompose_predictions(**given)


# --- noise in the labels of a generator ----------------------------------------------------------


def from_a_seed(rng: np.random.Generator, n: int) -> Any:
    return curved(np.random.default_rng(rng.integers(2**31)), n)


def from_another_generator(rng: np.random.Generator, n: int) -> Any:
    X, y = curved(rng, n)
    return X, y + 0.3 * OTHER.standard_normal(n)


OTHER = np.random.default_rng(3)


def test_noise_in_the_labels_of_a_generator_is_noted() -> None:
    source = dt.GeneratorSource(from_another_generator, 20, n_test=30)
    result = dt.decompose(random_features, source, **FEW)
    assert any("sample" in note for note in result.notes)
    assert result.error().includes["sampling"] == "label noise"
    assert result.error().includes["bias"] == "noise floor"
    not_identified(result.error(), "noise", r"^noise needs")
    both = dt.GeneratorSource(from_another_generator, 20, noise=0.5, n_test=30)
    result = dt.decompose(random_features, both, **FEW)
    assert result.error().noise.value > 0
    assert result.error().includes["sampling"] == "label noise"


@pytest.mark.parametrize("sample", [curved, from_a_seed])
def test_clean_labels_of_a_generator_are_exact(sample: Any) -> None:
    data = dt.GeneratorSource(sample, 20, n_test=30)
    assert not data._hides_noise(seed=0)
    result = dt.decompose(random_features, data, **FEW)
    assert result.error().noise.value == 0
    assert result.notes[-1].startswith("noise = 0")


def test_inputs_must_depend_on_the_generator_alone() -> None:
    data = dt.GeneratorSource(lambda rng, n: curved(OTHER, n), 20, n_test=30)
    with pytest.raises(ValueError, match=r"^sample must depend on rng alone"):
        dt.decompose(random_features, data, **FEW)


def test_equal_inputs_may_have_missing_values() -> None:
    def sample(rng: np.random.Generator, n: int) -> Any:
        X, y = curved(rng, n)
        return np.where(X < -1, np.nan, X), y

    assert not dt.GeneratorSource(sample, 20)._hides_noise(seed=0)


# --- duplicates ----------------------------------------------------------------------------------


def test_duplicates_are_counted() -> None:
    X, y = pool(150)
    twice = dt.PoolSource(np.tile(X, (2, 1)), np.tile(y, 2), n_samples=20, n_test=100)
    (note,) = (n for n in dt.decompose(Ridge(), twice, **FEW).notes if "duplicates" in n)
    order = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0,))).permutation(300) % 150
    shared = np.isin(order[:100], order[100:]).sum()
    repeated = 200 - len(set(order[100:]))
    assert f"{shared} of 100 test rows" in note
    assert f"{repeated} of 200 training rows" in note
    once = dt.decompose(Ridge(), dt.PoolSource(X, y, n_samples=20), **FEW)
    assert not any("duplicates" in n for n in once.notes)


def test_duplicate_inputs_with_other_labels_are_counted() -> None:
    X, y = pool(150)
    data = dt.PoolSource(np.tile(X, (2, 1)), np.append(y, y + 1), n_samples=20, n_test=100)
    (note,) = (n for n in dt.decompose(Ridge(), data, **FEW).notes if "duplicates" in n)
    order = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0,))).permutation(300) % 150
    shared = np.isin(order[:100], order[100:]).sum()
    assert "0 of 100 test rows" in note
    assert f"({shared} in their inputs)" in note
