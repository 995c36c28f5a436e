"""Label noise of a pool: which knowledge about it identifies which parts."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.tree import ExtraTreeRegressor

import doubletrouble as dt
from doubletrouble.decomposition import LearnerDecomposition
from tests.decomposition.known import FEW, curved, least_squares, pool, random_features
from tests.decomposition.random_effects import label, rows

SIGMA, N_TRAIN, N_DATA, N_TEST, REPEATS = 0.8, 16, 10, 60, 120
SIZES: dict[str, Any] = {"n_data": N_DATA, "n_init": 3, "n_noise": 2, "progress": False}
PARTS = ("noise", "initialization", "sampling", "bias", "total")
Parts = dict[str, dt.Estimate]


def labels(seed: int, again: int = 1) -> tuple[Any, list[Any]]:
    """A pool, with so many measurements of its labels."""
    X, clean = pool(N_DATA * N_TRAIN + N_TEST, seed=seed)
    rng = np.random.default_rng([seed, 1])
    return X, [clean + SIGMA * rng.standard_normal(len(clean)) for _ in range(again)]


def averaged(split: Any) -> Parts:
    """Every part, over many pools."""
    result: dict[str, list[float]] = {}
    for seed in range(REPEATS):
        for name, part in rows(split(seed)).items():
            result.setdefault(name, []).append(float(part.value))
    return {name: dt.Estimate.of(np.array(draws)) for name, draws in result.items()}


def z_scores(result: Parts, expected: Parts) -> dict[str, float]:
    """Differences in standard errors of both."""
    scores = {}
    for name in expected.keys() & result.keys():
        a, b = result[name], expected[name]
        error = np.hypot(a.standard_error, b.standard_error)
        scores[name] = float((a.value - b.value) / error)
    return scores


@pytest.fixture(scope="module")
def truth() -> Parts:
    """With every draw of the noise at hand."""
    data = dt.GeneratorSource(curved, n_train=N_TRAIN, noise=SIGMA, n_test=N_TEST)
    return averaged(lambda seed: dt.decompose(random_features, data, seed=seed, **SIZES))


def from_pool(n_labels: int = 1, **options: Any) -> Parts:
    def split(seed: int) -> Any:
        X, (y, *repeated) = labels(seed, n_labels)
        data = dt.PoolSource(X, y, n_train=N_TRAIN, n_test=N_TEST, repeated=repeated, **options)
        return dt.decompose(random_features, data, seed=seed, **SIZES)

    return averaged(split)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "options",
    [{"noise": SIGMA}, {"noise": SIGMA, "inject": 0.5 * SIGMA}, {"n_labels": 2}, {"n_labels": 3}],
    ids=["known", "known, another injected", "measured twice", "three times"],
)
def test_known_noise_identifies_all_parts(truth: Parts, options: dict[str, Any]) -> None:
    scores = z_scores(from_pool(**options), truth)
    assert set(scores) == set(PARTS)
    assert max(map(abs, scores.values())) < 4, scores


@pytest.mark.statistical
def test_unknown_noise_is_not_separated(truth: Parts) -> None:
    """Negative control: the same labels without any knowledge of their noise."""
    result = from_pool()
    scores = z_scores(result, truth)
    assert set(scores) == {"initialization", "sampling", "bias", "total"}
    assert min(scores[name] for name in ("initialization", "sampling", "bias", "total")) > 5
    floor = float(result["bias"].value - truth["bias"].value)
    assert floor == pytest.approx(SIGMA**2, rel=0.2)


@pytest.mark.statistical
def test_a_wrong_noise_level_gives_wrong_parts(truth: Parts) -> None:
    scores = z_scores(from_pool(noise=1.5 * SIGMA), truth)
    assert scores["noise"] > 5
    assert scores["bias"] < -5


# --- labels of parts, and notes ---


def split(**options: Any) -> LearnerDecomposition:
    X, y = pool(150, noise=SIGMA)
    extra = {key: FEW[key] for key in FEW if key not in options}
    counts = {key: options.pop(key) for key in list(options) if key.startswith("n_")}
    data = dt.PoolSource(X, y, n_train=20, n_test=50, **options)
    return dt.decompose(random_features, data, **extra, **counts)


def test_unknown_noise_has_a_label() -> None:
    result = split()
    assert result.predictions.shape[1] == 1
    assert label(result, "initialization") == "initialization + label noise"
    assert label(result, "sampling") == "sampling + label noise"
    assert label(result, "bias") == "bias + noise floor"
    assert "sampling + label noise" in str(result.error())
    with pytest.raises(ValueError, match=r"^noise needs 2 or more draws of label noise"):
        _ = result.error().noise
    assert any("n_noise = 2 draws of label noise were requested, and 1" in n for n in result.notes)
    assert any("noise of its labels" in note for note in result.notes)


def test_known_noise_has_a_note() -> None:
    result = split(noise=SIGMA)
    assert [label(result, name) for name in PARTS] == list(PARTS)
    assert result.design.injected == 1
    assert any("Noise is the response to noise added" in n for n in result.notes)


def test_clean_labels() -> None:
    result = split(noise=0.0)
    assert (result.error().noise.value, result.error().noise.standard_error) == (0, 0)
    assert [label(result, name) for name in PARTS] == list(PARTS)
    assert not result.notes


def test_noise_injected_into_clean_labels_is_their_noise() -> None:
    result = split(noise=0.0, inject=SIGMA)
    assert result.error().noise.value > 0
    assert result.design.injected is None
    expected = np.mean((result.predictions - result.y_test) ** 2)
    assert result.error().total.value == pytest.approx(expected)


def test_noise_injected_into_labels_of_unknown_noise() -> None:
    result = split(inject=0.5)
    assert result.error().noise.value > 0
    assert label(result, "sampling") == "sampling + label noise"
    assert any("effect of the injected noise" in note for note in result.notes)


def test_repeated_labels_are_noise_draws() -> None:
    X, y = pool(150, noise=SIGMA)
    again = [y + 0.1, y - 0.1]
    data = dt.PoolSource(X, y, n_train=20, n_test=50, repeated=again)
    result = dt.decompose(random_features, data, **(FEW | {"n_noise": 5}))
    assert result.predictions.shape[1] == 3
    assert any("n_noise = 5 draws" in note and "3 are available" in note for note in result.notes)
    np.testing.assert_allclose(result.y_test, data.test(0, classification=False).y)
    training = data.training(1, n_noise=3, seed=0, classes=None)
    np.testing.assert_allclose(training.y[1] - training.y[0], 0.1)


def test_one_draw_of_known_noise_does_not_identify_it() -> None:
    result = split(noise=SIGMA, n_noise=1)
    assert label(result, "sampling") == "sampling + label noise"
    assert label(result, "bias") == "bias"


def test_one_data_set_with_known_noise() -> None:
    result = split(noise=SIGMA, n_data=1)
    assert list(result.error().parts) == ["noise", "initialization", "bias"]
    parts = sum(float(part.value) for part in result.error().parts.values())
    assert parts == pytest.approx(result.error().total.value)


def test_without_initializations_own_noise_leaves_sampling() -> None:
    X, y = pool(150, noise=SIGMA)
    counts: dict[str, Any] = {"n_data": 5, "n_init": 1, "progress": False}
    known, unknown = (
        dt.decompose(least_squares, dt.PoolSource(X, y, 20, noise, 50), **counts)
        for noise in (0.8, None)
    )
    expected = unknown.error().sampling.value - known.error().noise.value
    assert known.error().sampling.value == pytest.approx(expected, rel=1e-9)


@pytest.mark.statistical
def test_known_noise_and_trees() -> None:
    """Total and bias are right for any learner; noise only for one that is linear in its labels."""

    def sample(rng: np.random.Generator, n: int) -> Any:
        X = rng.standard_normal((n, 3))
        return X, X[:, 0]

    draws: dict[str, list[float]] = {"noise": [], "bias": [], "total": []}
    counts: dict[str, Any] = {"n_data": 10, "n_init": 3, "progress": False}
    for seed in range(20):
        X, clean = sample(np.random.default_rng(seed), 600)
        y = clean + 0.8 * np.random.default_rng(100 + seed).standard_normal(600)
        pairs = (
            dt.PoolSource(X, y, n_train=30, noise=0.8, n_test=300),
            dt.GeneratorSource(sample, n_train=30, noise=0.8, n_test=300),
        )
        pool, truth = (
            dt.decompose(ExtraTreeRegressor(), one, seed=seed, **counts) for one in pairs
        )
        assert any("such as trees" in note for note in pool.notes)
        for name, result in draws.items():
            result.append(float(rows(pool)[name].value - rows(truth)[name].value))
    z = {name: np.mean(d) / (np.std(d) / math.sqrt(20)) for name, d in draws.items()}
    assert abs(z["bias"]) < 4
    assert abs(z["total"]) < 4
    assert z["noise"] > 5
