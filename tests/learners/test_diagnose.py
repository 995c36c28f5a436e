"""Diagnoses of real learners: known answers, designs, arguments, and results as users see them."""

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble._numbers import plain
from doubletrouble.results import Diagnosis
from tests.messages import message_of, not_identified

sklearn = pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.dummy import DummyClassifier, DummyRegressor  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsRegressor  # noqa: E402
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402

quiet: dict[str, Any] = {"progress": False}


def rows(n: int = 100, p: int = 3, seed: int = 0, noise: float = 0.5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] + noise * rng.standard_normal(n)


@pytest.fixture(scope="module")
def tree() -> Diagnosis:
    return dt.diagnose(DecisionTreeRegressor(max_features=1), *rows(), **quiet)


# --- known answers ---


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("n_sets", "least"), [(12, 0.7), pytest.param(40, 0.85, marks=pytest.mark.full)]
)
def test_mean_and_least_squares_have_their_exact_sampling_variance(
    n_sets: int, least: float
) -> None:
    """Of the mean Var(y)/M, of least squares σ² (1/M + p/(M - p - 2) (1 + 1/M))."""
    M, p, noise = 100, 5, 0.7
    least_squares = noise**2 * (1 / M + p / (M - p - 2) * (1 + 1 / M))
    inside = {"mean": 0, "least squares": 0, "wrong": 0}
    for seed in range(n_sets):
        X, y = rows(M, p, seed, noise)
        for name, model, expected in (
            ("mean", DummyRegressor(), (1 + noise**2) / M),
            ("least squares", LinearRegression(), least_squares),
        ):
            d = dt.diagnose(model, X, y, seed=seed, **quiet)
            assert d.error().initialization.value == 0
            low, high = d.error().sampling.confidence_interval(0.9)
            inside[name] += bool(low <= expected <= high)
            inside["wrong"] += bool(low <= 4 * expected <= high)
    assert inside["mean"] >= least * n_sets
    assert inside["least squares"] >= least * n_sets
    assert inside["wrong"] <= 0.3 * 2 * n_sets


@pytest.mark.statistical
@pytest.mark.parametrize("p", [40, pytest.param(60, marks=pytest.mark.full)])
def test_sampling_past_a_peak_is_covered(p: int) -> None:
    """Least squares with p inputs has its peak at n = p, a fifth of the rows or more."""

    def fit(X: Any, y: Any, seed: int) -> Any:
        weights = np.linalg.lstsq(X, y, rcond=None)[0]
        return lambda X: X @ weights

    M, inside = 200, 0
    exact = p / (M - p - 1)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((M, p))
        d = dt.diagnose(fit, X, X[:, 0] + rng.standard_normal(M), seed=seed, **quiet)
        low, high = d.error().sampling.confidence_interval(0.9)
        inside += bool(low <= exact <= high)
    assert inside >= 4


@pytest.mark.statistical
def test_sampling_at_four_tenths_agrees_with_decompose() -> None:
    M = 80

    def model(X: Any, y: Any, seed: int) -> Any:
        weights = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)
        return lambda X: X @ weights

    def sample(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        X = rng.standard_normal((n, 4))
        return X, X[:, 0]

    measured = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = sample(rng, M)
        y = y + 0.5 * rng.standard_normal(M)
        measured.append(
            float(dt.diagnose(model, X, y, seed=seed, **quiet).measured.sampling[4].mean)
        )
    source = dt.GeneratorSource(sample, n_samples=int(0.4 * M), noise=0.5, n_test=2000)
    parts = dt.decompose(model, source, n_data=200, **quiet).error()
    expected = parts.sampling + parts.noise
    error = np.hypot(np.std(measured, ddof=1) / np.sqrt(len(measured)), expected.standard_error)
    assert abs(np.mean(measured) - expected.value) < 3 * error
    assert abs(np.mean(measured) - 1.5 * expected.value) > 3 * error


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.full) for s in range(1, 8))]
)
def test_more_data_is_withheld_at_an_interpolation_peak(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 30))
    y = X[:, :5] @ [1, -0.8, 0.6, 0.5, -0.4] + 0.7 * rng.standard_normal(200)
    d = dt.diagnose(dt.RandomFeaturesRidge(200, ridge=1e-6), X, y, seed=seed, **quiet)
    assert "interpolation peak" in d.withheld
    assert "withheld" in str(d)
    assert d.advise()["2x data"].error is None
    assert d.advise()["2x data"].status == "withheld"
    content = json.loads(d.to_json())["options"][-1]
    assert (content["status"], content["reason"]) == ("withheld", d.withheld)
    pytest.importorskip("pandas")
    assert list(d.to_frame()["status"][-2:]) == ["withheld", "withheld"]
    labels = [label.get_text() for label in d.plot().get_yticklabels()]
    assert labels[-2:] == ["2x data", "4x data"]
    assert "peak is near" in d.learning_curve().verdict
    assert "interpolation peak is near" in message_of(d.error, n_samples=400)
    assert np.isfinite(d.error(n_samples=100).total.value)


# --- parts, ensembles, sizes ---


def test_parts_add_up_in_every_draw(tree: Diagnosis) -> None:
    for terms in (tree.error(), tree.error(10), tree.error(n_samples=[50, 100, 400])):
        draws: list[Any] = [part.sources[0] for part in (*terms.parts.values(), terms.total)]
        *parts, total = (one.values for one in draws)
        assert np.allclose(sum(parts), total, rtol=1e-12)
    assert all(float(part) >= 0 for part in tree.error().parts.values())


def test_averaging_divides_initialization_by_the_number_of_seeds(tree: Diagnosis) -> None:
    one, ten, many = (tree.error(K) for K in (1, 10, math.inf))
    assert ten.initialization.value == pytest.approx(one.initialization.value / 10)
    assert many.initialization.value == 0
    assert ten.bias == one.bias
    assert tree.error(ensemble=dt.Ensemble(10)).total == ten.total
    single, pair = (bag.mean for bag in tree.measured.bags)
    for K in (1, 4, math.inf):
        ratio = float(tree.error(dt.Bootstrap(K)).total) / float(one.total)
        expected = (pair + (single - pair) / K) / tree.measured.total[9].mean
        assert ratio == pytest.approx(expected, rel=0.03)
    not_identified(tree.error(dt.Bootstrap(10)), "bias", "not identified")


def test_error_at_a_measured_size_is_the_measurement(tree: Diagnosis) -> None:
    error = tree.error(n_samples=40)
    assert error.total.value == pytest.approx(tree.measured.total[4].mean, rel=0.02)
    assert error.sampling.value == pytest.approx(tree.measured.sampling[4].mean, rel=0.05)


def test_labels_without_noise_have_a_curve_that_falls_further() -> None:
    from sklearn.datasets import load_digits
    from sklearn.neighbors import KNeighborsClassifier

    X, y = load_digits(return_X_y=True)
    model, order = KNeighborsClassifier(3), np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]

    def brier(n: int) -> float:
        """The mean over four training sets."""
        errors = []
        for rows in (np.arange(k * 200, k * 200 + n) % 1000 for k in range(4)):
            probabilities = model.fit(X[rows], y[rows]).predict_proba(X[1000:])
            errors.append(np.mean(np.sum((np.eye(10)[y[1000:]] - probabilities) ** 2, axis=1)))
        return float(np.mean(errors))

    unknown, none = (
        dt.diagnose(model, X[:200], y[:200], noise=noise, **quiet) for noise in (None, 0)
    )
    for growth in (2, 4):
        truth = 1 - brier(growth * 200) / brier(200)
        options: list[Any] = [d.advise()[f"{growth}x data"] for d in (unknown, none)]
        gains = [float(option.gain) for option in options]
        assert gains[1] > gains[0]
        assert abs(gains[1] - truth) < abs(gains[0] - truth)
    assert none.error().bayes.value == 0
    wrong = [float(d.error(n_samples=800, measure="zero_one").total) for d in (unknown, none)]
    assert wrong[1] < wrong[0]
    assert "noise" in message_of(dt.diagnose, model, X, y, noise=0.1)


def test_no_draw_is_below_the_given_noise() -> None:
    X, y = rows(200)
    d = dt.diagnose(DecisionTreeRegressor(), X, y, noise=0.5, **quiet)
    draws: Any = d.error(n_samples=[20, 200, 800, 20000]).total.sources[0]
    assert draws.values[:, 1:].min() >= 0.25 - 1e-12
    assert np.array_equal(d.error(n_samples=[20, 200, 800]).bayes.value, [0.25] * 3)


def test_noise_above_the_error_is_reported() -> None:
    d = dt.diagnose(DummyRegressor(), *rows(), noise=1.8, **quiet)
    assert d.error().bias.value < 0
    assert any("noise" in note for note in d.notes)
    ax = d.learning_curve().plot()  # no curve where the bias is below 0
    assert any("bias at or below zero" in text.get_text() for text in ax.texts)
    assert all(np.nanmin(line.get_ydata()) >= 0 for line in ax.get_lines())


def test_noise_counts_for_every_output() -> None:
    X, y = rows(150)
    rng = np.random.default_rng(1)
    target = np.stack([y, X[:, 1] + 0.5 * rng.standard_normal(150)], axis=1)
    error = dt.diagnose(Ridge(), X, target, noise=0.5, **quiet).error()
    assert error.bayes.value == 0.5
    assert abs(float(error.bias)) < 0.1


def test_rows_have_the_parts_of_the_whole(tree: Diagnosis) -> None:
    pandas = pytest.importorskip("pandas")
    points, error = tree.by_row(), tree.error()
    for name, part in error.parts.items():
        assert np.mean(points.parts[name]) == pytest.approx(part.value)
    frame = points.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert points.worst(5)["total"].is_monotonic_decreasing
    X, y = rows(60)
    table = pandas.DataFrame(X, index=[f"r{k}" for k in range(60)], columns=list("abc"))
    labelled = dt.diagnose(Ridge(), table, y, **quiet).by_row()
    assert list(table.join(labelled.to_frame()).columns[-2:]) == ["bias", "total"]
    difference = dt.diagnose(Ridge(10.0), table, y, **quiet).by_row() - labelled
    assert list(difference.to_frame().index) == list(table.index)
    with pytest.raises(ValueError, match=r"^errors must be of the same rows"):
        _ = points - labelled


# --- learners ---


class Counted(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The mean of the labels, and a seed with or without effect."""

    fits: list[int] = []  # noqa: RUF012 (shared by clones on purpose)

    def __init__(self, effect: float = 1.0, random_state: int | None = None) -> None:
        self.effect, self.random_state = effect, random_state

    def fit(self, X: Any, y: Any) -> "Counted":
        self.fits.append(len(y))
        rng = np.random.default_rng(self.random_state)
        self.mean_ = np.mean(y) + self.effect * rng.standard_normal()
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The count and the total at the end of every progress bar."""
    ends: list[list[int]] = []

    class Bar:
        def __init__(self, total: int, **options: Any) -> None:
            self.done, self.total = 0, total

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            ends.append([self.done, self.total])

        def update(self, n: int = 1) -> None:
            self.done += n
            assert self.done <= self.total

    monkeypatch.setattr("doubletrouble.learners._diagnose.progress_bar", Bar)
    return ends


def test_progress_ends_at_the_number_of_fits(bars: list[list[int]], tmp_path: Path) -> None:
    X, y = rows()
    others = {"mean": DummyRegressor(), "tree": DecisionTreeRegressor(max_features=1)}
    tree = DecisionTreeRegressor(max_features=1)
    options = ({"cv": KFold(10)}, {"workers": 2}, {"store": tmp_path / "fits.db"})
    cases = [(Ridge(), {}), (tree, {}), (Counted(0.0), {}), *((tree, each) for each in options)]
    for model, option in cases:
        d = dt.diagnose(model, X, y, alternatives=others, **option)
        assert bars.pop() == [d.n_fits, d.n_fits]
    dt.compare({"a": Ridge(), "b": Ridge(2.0)}, X, y)
    assert bars == [[120, 120], [120, 120]]


@pytest.mark.parametrize("effect", [0.0, 0.3])
def test_120_fits_whether_seeds_have_an_effect_or_not(effect: float, bars: list[list[int]]) -> None:
    Counted.fits.clear()
    d = dt.diagnose(Counted(effect), *rows(), **quiet)
    assert len(Counted.fits) == d.n_fits == 120
    assert bars == [[120, 120]]
    assert sum(Counted.fits) < 66 * 100  # the cost of 62 to 65 fits on all rows
    assert d.design.seeded is (effect > 0)
    assert d.error().initialization.value == pytest.approx(effect**2, abs=0.05)
    if effect == 0:
        assert any("no effect" in note for note in d.notes)


def test_a_learner_that_ignores_its_seed_is_reported() -> None:
    drawn = iter(range(1000))

    def fit(X: Any, y: Any, seed: int) -> Any:
        value = np.random.default_rng(next(drawn)).standard_normal()
        return lambda X: np.full(len(X), value)

    d = dt.diagnose(fit, *rows(), **quiet)
    assert any("does not depend on its seed alone" in note for note in d.notes)
    assert not any("seed" in note for note in dt.diagnose(Counted(0.3), *rows(), **quiet).notes)


def test_state_that_one_fit_leaves_to_the_next_is_reported() -> None:
    seen: list[Any] = []

    def fit(X: Any, y: Any, seed: int) -> Any:
        seen.extend(y)
        value = np.mean(seen)
        return lambda X: np.full(len(X), value)

    d = dt.diagnose(fit, *rows(), **quiet)
    assert any("state" in note for note in d.notes)


def test_windows_too_small_for_a_learner_are_left_out() -> None:
    def fit(X: Any, y: Any, seed: int) -> Any:
        if len(y) < 15:
            raise ValueError("too few rows")
        return lambda X: np.full(len(X), np.mean(y))

    d = dt.diagnose(fit, *rows(), **quiet)
    assert d.design.rungs == (2, 4, 6, 9)
    assert any("too few rows" in note for note in d.notes)

    def fail(X: Any, y: Any, seed: int) -> Any:
        if len(y) < 50:
            raise ValueError("too few rows")
        return lambda X: np.full(len(X), np.mean(y))

    with pytest.raises(dt.FitError, match="too few rows"):
        dt.diagnose(fail, *rows(), **quiet)


def test_a_perfect_learner_has_no_error_and_no_options() -> None:
    X, _ = rows()
    d = dt.diagnose(Ridge(1e-12), X, np.ones(len(X)), **quiet)
    assert d.error().total.value == pytest.approx(0.0, abs=1e-12)
    exact = dt.diagnose(DummyRegressor(), X, np.ones(len(X)), **quiet)
    assert exact.error(10).total.value == 0.0
    assert all(option.error is None for option in exact.advise())
    assert math.isnan(exact.skill.value)
    exact.plot()
    assert "is 0" in str(exact)
    json.loads(exact.to_json())


def test_an_error_of_rounding_is_0() -> None:
    X, _ = rows(p=10)
    others = {"tree": DecisionTreeRegressor()}
    d = dt.diagnose(LinearRegression(), X, X @ np.arange(10.0), alternatives=others, **quiet)
    assert d.error().total.value == 0.0
    assert d.verdict == "The measured error is 0."
    assert d.error(n_samples=10).total.value > 0  # ten rows do not determine ten weights
    assert d.learning_curve().verdict.endswith("withheld: the measured error is 0.")
    both = dt.compare({"least squares": LinearRegression(), "ridge": Ridge()}, X, X[:, 0], **quiet)
    assert both.verdict.startswith("Least error: least squares, 0. The measured error is 0. ")


def test_an_error_of_few_rows_has_positive_draws() -> None:
    X, _ = rows(200)
    y = (X[:, 0] > 0) != (np.arange(200) == 7)
    d = dt.diagnose(DecisionTreeClassifier(max_depth=1), X, y, **quiet)
    assert d.error().total.confidence_interval(0.99).low > 0
    assert "bag of 10" in str(d)


def test_warnings_are_counted() -> None:
    def fit(X: Any, y: Any, seed: int) -> Any:
        import warnings

        warnings.warn("not converged", UserWarning, stacklevel=1)
        return lambda X: np.zeros(len(X))

    with pytest.warns(UserWarning, match="120 of 120 fits warned"):
        d = dt.diagnose(fit, *rows(), **quiet)
    assert any("not converged" in note for note in d.notes)


def test_same_seed_same_result() -> None:
    X, y = rows()
    first, again, other = (
        dt.diagnose(DecisionTreeRegressor(max_features=1), X, y, seed=seed, **quiet)
        for seed in (3, 3, 4)
    )
    assert first.to_json() == again.to_json() != other.to_json()
    assert pickle.loads(pickle.dumps(first)).to_json() == first.to_json()


def test_fits_are_resumed_from_the_store(tmp_path: Path) -> None:
    Counted.fits.clear()
    results = [
        dt.diagnose(Counted(0.3), *rows(), store=tmp_path / "fits.db", **quiet) for _ in range(2)
    ]
    assert len(Counted.fits) == 120
    assert results[0].to_json() == results[1].to_json()


def test_workers_make_the_same_fits() -> None:
    model, (X, y) = DecisionTreeRegressor(max_features=1), rows()
    with_workers = dt.diagnose(model, X, y, workers=2, **quiet)
    assert with_workers.to_json() == dt.diagnose(model, X, y, **quiet).to_json()


@pytest.mark.parametrize("kind", ["sparse", "text", "rare class", "few rows"])
def test_inputs_of_every_kind(kind: str) -> None:
    X, y = rows(100)
    rng = np.random.default_rng(0)
    model: Any = Ridge()
    if kind == "sparse":
        from scipy.sparse import coo_array

        X = coo_array(X * (np.abs(X) > 0.5))
    elif kind == "text":
        pandas = pytest.importorskip("pandas")
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        X = pandas.DataFrame({"x": X[:, 0], "town": rng.choice(["Rome", "Oslo"], 100)})
        encoder = OneHotEncoder(handle_unknown="ignore")
        model = make_pipeline(
            make_column_transformer((encoder, ["town"]), remainder="passthrough"), Ridge()
        )
    elif kind == "rare class":
        y, model = np.arange(100) < 5, DecisionTreeClassifier(max_depth=2)
    else:
        X, y = X[:30], rng.standard_t(2, 30)
    d = dt.diagnose(model, X, y, **quiet)
    assert d.error().total.confidence_interval(0.9).low > 0
    assert "data" in str(d)


# --- alternatives and comparisons ---


def test_alternatives_are_compared_on_the_same_folds() -> None:
    X, y = rows()
    d = dt.diagnose(
        DecisionTreeRegressor(),
        X,
        y,
        alternatives={"same": DecisionTreeRegressor(), "ridge": Ridge(), "mean": DummyRegressor()},
        **quiet,
    )
    options: Any = d.advise()
    assert options["ridge"].gain.confidence_interval(0.9).low > 0
    assert abs(options["same"].gain.value) < 1e-12  # the same seeds
    assert "measured" in options["mean"].status
    blocks = d.design.blocks[0]
    by_hand = np.mean([(y[i] - y[blocks != blocks[i]].mean()) ** 2 for i in range(len(y))])
    expected = 1 - by_hand / d.measured.total[9].mean
    assert options["mean"].gain.value == pytest.approx(expected, rel=0.05)
    assert d.design.seeded  # of equal splits a tree takes one at random
    assert d.n_fits == 120 + 20 + 20 + 10  # the mean has no seed


def test_an_alternative_lowers_the_bound_of_the_noise() -> None:
    """Of a constant the bias is 1 + σ²; the error of another learner bounds σ² from above."""
    X, y = rows(200)
    alone = dt.diagnose(DummyRegressor(), X, y, **quiet).largest_noise
    others = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_features=1)}
    d = dt.diagnose(DummyRegressor(), X, y, alternatives=others, **quiet)
    error = d.advise()["ridge"].error
    assert error is not None
    assert d.largest_noise == error.total
    assert 0.25 < d.largest_noise.confidence_interval(0.9).high < 0.4 < alone.value
    assert f"at most {plain(float(d.largest_noise.confidence_interval(0.9).high))}" in str(d)
    worse = dt.diagnose(Ridge(), X, y, alternatives={"mean": DummyRegressor()}, **quiet)
    assert worse.largest_noise == worse.error().bias


def test_the_variance_over_seeds_of_an_alternative_is_no_noise() -> None:
    X, y = rows(200, noise=0.1)
    base = DecisionTreeRegressor(max_depth=1, max_features=1)
    d = dt.diagnose(base, X, y, alternatives={"seeded": Counted(3.0)}, **quiet)
    averaged = d.alternatives["seeded"].averaged.mean
    assert averaged < 0.5 * d.alternatives["seeded"].total.mean


def test_advice_on_a_comparison_is_which_learner() -> None:
    X, y = rows()
    comparison = dt.compare({"mean": DummyRegressor(), "ridge": Ridge()}, X, y, **quiet)
    (ridge,) = dt.advise(comparison)
    expected = comparison["ridge"].error().total.value / comparison["mean"].error().total.value
    assert ridge.name == "ridge"
    assert ridge.gain is not None
    assert ridge.interval is not None
    assert float(ridge.gain) == pytest.approx(1 - expected)
    assert ridge.interval.low > 0
    assert "measured, paired" in str(dt.advise(comparison))
    assert "note: Now: mean.\nnote: Errors are of 5 averaged seeds each." in str(
        dt.advise(comparison, 5)
    )


def test_compare_pairs_learners_by_rows() -> None:
    X, y = rows(150, seed=2)
    models = {"ridge": Ridge(), "strong": Ridge(50.0), "tree": DecisionTreeRegressor()}
    comparison = dt.compare(models, X, y, **quiet)
    assert comparison.difference("tree").total.confidence_interval(0.9).low > 0
    close = comparison.difference("strong").total.standard_error
    a, b = (float(comparison[k].error().total.standard_error) for k in ("ridge", "strong"))
    assert close < 0.6 * np.hypot(a, b)
    same = dt.compare({"a": Ridge(), "b": Ridge()}, X, y, **quiet).difference("b")
    assert same.total.value == 0
    content = json.loads(comparison.to_json())
    assert [row["learner"] for row in content["learners"]] == list(models)
    assert content["learners"][2]["sampling"] == comparison["tree"].error().sampling.value
    assert content["differences"][1]["error"] == comparison.difference("tree").total.value
    assert {"table", "learner", "skill", "bias_low"} <= set(comparison.to_frame().columns)


def test_the_winner_of_a_comparison_is_significant_or_not() -> None:
    X, y = rows(150, seed=2)
    models = {"mean": DummyRegressor(), "same": Ridge(1.1), "ridge": Ridge(), "tree": stump()}
    close = dt.compare({name: models[name] for name in ("tree", "ridge", "same")}, X, y, **quiet)
    assert "not significant" in close.verdict
    clear = dt.compare({name: models[name] for name in ("mean", "ridge")}, X, y, **quiet)
    assert clear.verdict.startswith("Least error: ridge")
    assert clear["ridge"].verdict.split(". ")[0] in clear.verdict
    assert f" {float(clear['ridge'].skill):.2f} " in str(clear)
    assert clear.verdict.endswith(": significant.")
    assert "mean: Not better than predicting the mean" in str(clear)
    notes = [text.get_text() for text in clear.plot().texts]
    assert any("predicting the mean" in note for note in notes)


def stump() -> Any:
    return DecisionTreeRegressor(max_depth=1)


# --- the baseline and the verdict ---


def test_error_is_compared_with_predicting_the_mean() -> None:
    X, y = rows()
    d = dt.diagnose(Ridge(), X, y, **quiet)
    assert d.baseline == pytest.approx(np.var(y))
    assert d.skill.value == pytest.approx(1 - d.error().total.value / np.var(y))
    low, high = d.skill.confidence_interval(0.9)
    assert low < d.skill.value < high
    assert f"Predicting the mean: {plain(d.baseline)} (R² {d.skill.value:.2f}" in str(d)
    content = json.loads(d.to_json())
    assert (content["baseline"], content["skill"]) == (d.baseline, d.skill.value)
    both = dt.diagnose(Ridge(), X, np.stack([y, 2 * y], axis=1), **quiet)
    assert both.baseline == pytest.approx(5 * np.var(y))
    classes = y + X[:, 1] > 0.5
    tree = dt.diagnose(DecisionTreeClassifier(), X, classes, **quiet)
    assert tree.baseline == pytest.approx(1 - classes.mean() ** 2 - (1 - classes.mean()) ** 2)
    assert "Predicting the class frequencies: " in str(tree)
    assert "(skill " in str(tree)


def test_a_model_worse_than_the_mean_is_reported_first() -> None:
    X, y = rows(noise=3.0)
    d = dt.diagnose(DecisionTreeRegressor(), X, y, **quiet)
    assert d.skill.value < 0
    assert str(d).startswith("Worse than predicting the mean: error ")
    assert str(dt.diagnose(DummyRegressor(), X, y, **quiet)).startswith("Not better")


def test_verdict_names_overfitting_and_underfitting_with_their_part() -> None:
    X, y = rows(200, noise=0.1)
    over = dt.diagnose(Counted(3.0), X, y, **quiet).verdict
    assert over.startswith("Overfitting and underfitting or label noise: ")
    assert "by seeds" in over
    under = dt.diagnose(stump(), X, y, **quiet).verdict
    assert under.startswith("Underfitting or label noise: ")
    assert under.startswith(str(dt.diagnose(stump(), X, y, **quiet).error()).split("\n")[-1])
    assert "bias + noise floor" in under
    known = dt.diagnose(stump(), X, y, noise=0.1, **quiet).verdict
    assert known.startswith("Underfitting: ")
    floor = dt.diagnose(Ridge(), *rows(200, noise=0.5), noise=0.5, **quiet).verdict
    assert floor.startswith("Label noise: ")
    data = dt.diagnose(KNeighborsRegressor(3), X[:, :2], X[:, 0], noise=0, **quiet)
    assert data.advise().choice.name == "4x data"
    assert "is bias. With 4x data it is " in data.verdict
    deterministic = dt.diagnose(KNeighborsRegressor(1), *rows(200, noise=0.5), noise=0.1, **quiet)
    assert "variance over training rows" in deterministic.verdict


# --- options ---


def test_error_after_a_change_has_its_parts(tree: Diagnosis) -> None:
    advice = tree.advise()
    many, more, bag = advice["10 models"].error, advice["2x data"].error, advice["bag of 10"].error
    assert many == tree.error(10)
    assert more == tree.error(n_samples=200)
    assert bag is not None
    not_identified(bag, "bias", "not identified")
    assert advice.now.error == tree.error()
    assert advice["4x data"].setting == {"n_samples": 400}
    assert advice["bag of 10"].setting == {"n_members": 10}
    advice.plot()
    advice.waterfall("10 models")


def test_advice_begins_with_the_present_learners(tree: Diagnosis) -> None:
    ten = tree.advise(10)
    assert [option.name for option in ten] == ["bag of 10", "2x data", "4x data"]
    assert ten.now.error == tree.error(10)
    assert ten["2x data"].error == tree.error(10, n_samples=200)
    assert ten["bag of 10"].cost == {"fits": 1.0, "data": 1.0}
    bag = tree.advise(dt.Bootstrap(5))
    assert "note: Now: a bag of 5." in str(bag)
    assert bag.now.total == float(tree.error(dt.Bootstrap(5)).total)
    assert bag["2x data"].status == "withheld"
    assert "bag" in bag["2x data"].reason
    assert bag["bag of 10"].gain is not None
    assert dt.advise(tree)["2x data"].error == tree.advise()["2x data"].error
    assert "ensemble" in message_of(tree.advise, dt.Divide(2))


def test_advice_on_another_measure_is_that_of_more_data() -> None:
    X, y = rows()
    d = dt.diagnose(LogisticRegression(), X, y > 0, alternatives={"tree": stumps()}, **quiet)
    advice = d.advise(measure="zero_one")
    assert advice.label == "error rate"
    assert advice.now.error == d.error(measure="zero_one")
    assert advice["2x data"].gain is not None
    assert {advice[name].status for name in ("tree", "bag of 10")} == {"withheld"}
    both = dt.compare({"logistic": LogisticRegression(), "tree": stumps()}, X, y > 0, **quiet)
    (option,) = both.advise(measure="zero_one")
    assert option.error == both["tree"].error(measure="zero_one")
    endless = dt.diagnose(DecisionTreeClassifier(), X, y > 0, **quiet).advise(measure="log")
    assert "infinite" in endless["2x data"].reason
    assert "no change is compared" in str(endless)
    assert "withheld" not in endless._content().title
    assert "measure" in message_of(dt.diagnose(Ridge(), X, y, **quiet).advise, measure="log")


def stumps() -> Any:
    return DecisionTreeClassifier(max_depth=1)


def test_gain_is_the_share_of_the_error_that_is_removed(tree: Diagnosis) -> None:
    now = float(tree.error().total)
    for option in tree.advise():
        assert option.gain is not None
        assert option.interval is not None
        assert float(option.gain) == pytest.approx(1 - option.total / now)
        low, high = option.interval
        assert low < float(option.gain) < high
    assert tree.advise().choice.name in tree.verdict


def test_options_are_named_and_have_their_cost(tree: Diagnosis) -> None:
    names = ["10 models", "bag of 10", "2x data", "4x data"]
    assert [option.name for option in tree.advise()] == names
    assert tree.advise()["bag of 10"].cost == {"fits": 10.0, "data": 1.0}
    assert tree.advise()["2x data"].cost == {"fits": 1.0, "data": 2.0}
    with pytest.raises(KeyError, match="option"):
        tree.advise()["3x"]


# --- classes, groups, splitters ---


def test_learners_to_compare_must_be_named() -> None:
    X, y = rows()
    wanted = 'models must be two or more learners by name, as {"a": …, "b": …}, got '
    assert message_of(dt.compare, [Ridge(), Ridge()], X, y) == f"{wanted}list"
    assert message_of(dt.compare, {"a": Ridge()}, X, y) == f"{wanted}1"


def test_the_measure_of_a_diagnosis_is_that_of_its_error() -> None:
    X, y = rows(100)
    model, classes = DecisionTreeClassifier(max_depth=2), y > 0.5
    usual = dt.diagnose(model, X, classes, **quiet)
    for name in ("zero_one", "log"):
        measure: Any = name
        d = dt.diagnose(model, X, classes, measure=measure, **quiet)
        assert d.error() == usual.error(measure=measure)
        assert d.error(measure="squared") == usual.error()
        assert d.advise().now.error == d.error()
        assert d.advise(measure="squared")["bag of 10"].error == usual.advise()["bag of 10"].error
        assert f"{d.error().label.capitalize()}, trained on all" in str(d)
        assert d.learning_curve().error.label == d.error().label
        np.testing.assert_array_equal(d.by_row().bias, usual.by_row().bias)
        share = classes.mean()
        log = -share * math.log(share) - (1 - share) * math.log(1 - share)
        assert d.baseline == pytest.approx({"zero_one": min(share, 1 - share), "log": log}[name])
    both = dt.compare({"a": model, "b": model}, X, classes, measure="zero_one", **quiet)
    assert both.difference("b").label == "error rate"
    assert (both.difference("b").total.value, both.advise().label) == (0.0, "error rate")
    endless = {"a": DecisionTreeClassifier(), "b": DecisionTreeClassifier(max_depth=9)}
    infinite = dt.compare(endless, X, classes, measure="log", **quiet)
    assert infinite.verdict == "The cross-entropy of every learner is infinite."
    assert message_of(dt.diagnose, Ridge(), X, y, measure="log").startswith("measure must be squ")


def test_classifiers_have_brier_by_cause_and_other_losses_as_a_whole() -> None:
    X, y = rows()
    d = dt.diagnose(DecisionTreeClassifier(max_depth=2, max_features=1), X, y > 0, **quiet)
    assert "Brier" in str(d)
    assert 0 < d.error().total.value < 1
    wrong = d.error(measure="zero_one")
    assert 0 < wrong.total.value < 0.5
    not_identified(wrong, "bias", "whole")
    endless = d.error(measure="log", n_samples=[90, 100]).total  # leaves of one class
    assert np.all(np.isinf(endless.value))
    assert "infinite" in message_of(d.error, measure="log", n_samples=200)
    smooth = dt.diagnose(LogisticRegression(), X, y > 0, **quiet)
    assert 0.1 < smooth.error(measure="log").total.value < 0.7
    assert smooth.error(measure="log", n_samples=200).total.value < 0.7
    assert "measure" in message_of(dt.diagnose(Ridge(), X, y, **quiet).error, measure="log")


@pytest.mark.statistical
def test_groups_stay_together() -> None:
    """Rows of a group share their label's noise: only with groups the tree does not see it."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 4)
    X = rng.standard_normal((60, 2))[groups] + 0.01 * rng.standard_normal((240, 2))
    y = rng.standard_normal(60)[groups] + 0.01 * rng.standard_normal(240)
    model = DecisionTreeRegressor()
    apart = dt.diagnose(model, X, y, **quiet)
    together = dt.diagnose(model, X, y, groups=groups, **quiet)
    assert together.error().total.value > 3 * apart.error().total.value
    assert any("neighbouring" in note for note in dt.diagnose(Ridge(), X, y, **quiet).notes)


def test_splitters_become_blocks_and_others_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    d = dt.diagnose(Ridge(), X, y, cv=KFold(10), **quiet)
    assert np.array_equal(d.design.blocks[0], np.arange(100) // 10)
    assert d.n_fits == 104  # windows of one and of nine blocks are the same in any order
    dt.diagnose(DecisionTreeClassifier(), X, y > 0, cv=StratifiedKFold(10), **quiet)
    whole = {"groups": np.arange(100) // 4}
    assert "cv" in message_of(dt.diagnose, Ridge(), X, y, cv=KFold(10, shuffle=True), **whole)
    for cv in (TimeSeriesSplit(10), ShuffleSplit(10), KFold(5)):
        assert "cv" in message_of(dt.diagnose, Ridge(), X, y, cv=cv)
    dated = pandas.DataFrame(X, index=pandas.date_range("2020-01-01", periods=100))
    assert "time index" in message_of(dt.diagnose, Ridge(), dated, y)
    series = pandas.Series(y, index=dated.index)
    assert "y" in message_of(dt.diagnose, Ridge(), X, series)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("X", {"X": np.zeros((20, 2)), "y": np.zeros(20)}),
        ("y", {"y": np.zeros(99)}),
        ("y", {"y": np.array(["a"] * 100)}),
        ("groups", {"groups": np.arange(100) % 5}),
        ("noise", {"noise": -1.0}),
        ("seed", {"seed": -1}),
        ("task", {"task": "ranking"}),
        ("cv", {"cv": 10}),
        ("model", {"model": DecisionTreeRegressor}),
        ("model", {"task": "classification"}),
        ("alternatives", {"alternatives": {"a": DecisionTreeClassifier()}}),
        ("alternatives", {"alternatives": [Ridge()]}),
        ("groups", {"groups": np.minimum(np.arange(100), 60)}),
        ("confidence", {"confidence": 90}),
        ("name", {"store": "fits.db", "name": ""}),
    ],
)
def test_arguments_are_checked_before_any_fit(name: str, changed: dict[str, Any]) -> None:
    X, y = rows()
    arguments: dict[str, Any] = {"model": Ridge(), "X": X, "y": y, **quiet, **changed}
    assert name in message_of(dt.diagnose, **arguments)


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("X", np.zeros(100)),
        ("X", [[1.0, 2.0], [3.0]]),
        ("X", np.zeros((100, 2), dtype=complex)),
        ("y", None),
        ("groups", [None] * 100),
        ("groups", np.zeros((100, 2))),
        ("cv", "a"),
        ("cv", StratifiedKFold(10)),  # of numbers
        ("store", 5),
        ("store", ""),
        ("name", 5),
        ("workers", 1.5),
        ("executor", "a"),
        ("noise", "a"),
    ],
)
def test_messages_name_the_argument(name: str, wrong: Any, compared: bool) -> None:
    X, y = rows()
    arguments: dict[str, Any] = {"X": X, "y": y, **quiet, name: wrong}
    if compared:
        message = message_of(dt.compare, models={"a": Ridge(), "b": Ridge()}, **arguments)
    else:
        message = message_of(dt.diagnose, model=Ridge(), **arguments)
    assert message.startswith(f"{name} must ")
    assert ", got " in message


def test_learners_of_mappings_are_named() -> None:
    X, y = rows()
    wrongs: list[Any] = [{"a": 5}, {"a": Ridge}, {5: Ridge()}, {"": Ridge()}, {"a": lambda X: X}]
    wrongs.append({"now": Ridge()})
    for wrong in wrongs:
        message = message_of(dt.diagnose, Ridge(), X, y, alternatives=wrong)
        assert message.startswith("alternatives must ")
        assert ", got " in message
        models = {"first": Ridge(), **wrong}
        assert message_of(dt.compare, models, X, y).startswith("models")


@pytest.mark.parametrize("kind", ["datetime64", "timedelta", "period", "date"])
def test_columns_of_times_are_refused(kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    days = pandas.Series(pandas.date_range("2020-01-01", periods=100))
    column = {
        "datetime64": days,
        "timedelta": days - days[0],
        "period": days.dt.to_period("M"),
        "date": days.dt.date,
    }[kind]
    table = pandas.DataFrame({"x": X[:, 0], "when": column})
    for model in (DecisionTreeRegressor(), lambda X, y, seed: len):
        message = message_of(dt.diagnose, model, table, y)
        assert message.startswith("X must hold numbers or categories, got ")
        assert kind in message
        assert "'when'" in message
    if kind != "period":
        assert "column 1" in message_of(dt.diagnose, Ridge(), table.to_numpy(), y)


def test_rows_sorted_by_class_are_not_neighbours_in_time() -> None:
    from sklearn.datasets import load_iris

    def noted(X: Any, y: Any) -> bool:
        model = LogisticRegression(max_iter=1000)
        return any("neighbouring" in note for note in dt.diagnose(model, X, y, **quiet).notes)

    assert not noted(*load_iris(return_X_y=True))
    rng = np.random.default_rng(0)
    walk = np.zeros(300)
    for t in range(1, 300):
        walk[t] = 0.95 * walk[t - 1] + rng.standard_normal()
    assert noted((walk + 2 * rng.standard_normal(300))[:, None], walk > 0)


def test_arguments_of_error_are_checked(tree: Diagnosis) -> None:
    for wrong in (0, 1, math.inf, "many"):
        assert "n_samples" in message_of(tree.error, n_samples=wrong)
    assert "ensemble" in message_of(tree.error, dt.Divide(2))
    assert "measure" in message_of(tree.error, measure="huber")


# --- shown ---


def test_the_printout_names_the_source_of_each_number(tree: Diagnosis) -> None:
    text = str(tree)
    for word in (
        "measured",
        "overlap law",
        "extrapolated",
        "90% interval",
        "label noise",
        "120 fits",
    ):
        assert word in text
    assert "Diagnosis(" in repr(tree)
    assert "<pre" not in tree._repr_html_()


def test_every_printed_error_has_its_status(tree: Diagnosis) -> None:
    known = {"measured", "overlap law", "total less the others", "extrapolated"}
    paired, between = "measured, paired", "measured, interpolated"
    for ensemble, size in ((1, None), (10, None), (dt.Bootstrap(10), None), (1, [30, 100, 200])):
        for row in tree.error(ensemble, n_samples=size)._content().tables[0].records():
            assert row["status"] in known | {paired, between}
    assert set(tree.learning_curve().error.status["total"]) == {"measured", "extrapolated"}
    status = tree.error().status
    assert set(status.values()) == known - {"extrapolated"}
    for how in map(str, status.values()):
        assert how in str(tree)
        assert how in str(tree.error())
    assert set(tree.error(n_samples=200).status.values()) == {"extrapolated"}
    unseeded = dt.diagnose(Counted(0.0), *rows(), **quiet)
    assert unseeded.error().status["initialization"] == "seeds have no effect"
    assert tree.error(n_samples=[10, 95]).status["total"] == ("measured", "measured, interpolated")


@pytest.mark.parametrize("model", [DecisionTreeRegressor(max_features=1), DummyRegressor()])
def test_known_noise_is_split_off_the_bias_alone(model: Any) -> None:
    without, known = (dt.diagnose(model, *rows(), noise=tau, **quiet) for tau in (None, 0.5))
    for part in ("initialization", "sampling"):  # equal but for draws above the total
        values = [float(getattr(d.error(), part)) for d in (known, without)]
        assert values[0] == pytest.approx(values[1], rel=0.05)
    bias, both = known.error().bias.value, without.error().bias.value
    assert known.error().bayes.value == 0.25
    assert bias >= 0
    assert both == pytest.approx(bias + 0.25, rel=0.05)
    not_identified(without.error(), "bayes", "noise")
    known.learning_curve().plot()


@pytest.mark.parametrize("seed", [19, 3])
def test_a_learner_whose_fits_are_equal_at_some_sizes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((200, 3)), rng.integers(3, size=200)
    d = dt.diagnose(DummyClassifier(strategy="most_frequent"), X, y, **quiet)
    assert math.isfinite(float(d.error().sampling))


def test_gains_of_nothing_have_no_sign() -> None:
    d = dt.diagnose(DummyRegressor(), *rows(200, noise=0.1), **quiet)
    assert " 0%" in str(d)
    assert "-0%" not in str(d)
    assert "+0%" not in str(d)
    assert d.learning_curve().plot().get_ylim()[0] == 0


def test_results_as_tables_and_figures(tree: Diagnosis) -> None:
    pytest.importorskip("pandas")
    frame = tree.to_frame()
    assert list(frame["part"][:4]) == ["initialization", "sampling", "bias", "total"]
    assert set(frame["table"]) == {"parts", "options"}
    content = json.loads(tree.to_json())
    assert [row["part"] for row in content["parts"]] == list(frame["part"][:4])
    curve = tree.learning_curve()
    assert list(curve.n_samples) == [10, 20, 40, 60, 90, 100, 200, 400]
    frame = curve.to_frame()
    assert set(curve.error.parts) == {"initialization", "sampling", "bias"}
    for name in curve.error.parts:
        assert {name, f"{name}_standard_error", f"{name}_low", f"{name}_status"} <= set(frame)
    assert all(name.isidentifier() for name in frame.columns)
    assert frame["status"].iloc[-1] == "extrapolated"
    assert list(frame["sampling_status"][2:5]) == ["measured", "overlap law", "overlap law"]
    sizes = content["learning_curve"]
    assert sizes[-1]["sampling_status"] == "extrapolated"
    assert sizes[4]["status"] == "measured"
    assert curve.plot().get_xlabel() == "rows N"
    assert tree.plot().get_xlabel() == curve.error.label == "squared error"
    assert tree.by_row().plot().get_ylabel() == "row"


def test_noise_beyond_the_labels_is_refused() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0)
    with pytest.raises(ValueError, match=r"^noise must be at most the standard deviation of y, 17"):
        dt.diagnose(LinearRegression(), X, y, noise=100.0)


def test_a_wrong_model_of_a_comparison_is_named() -> None:
    X, y = np.zeros((60, 2)), np.arange(60.0)
    models: Any = {"a": LinearRegression(), "b": "x"}
    with pytest.raises(TypeError, match=r"^models\['b'\] must be"):
        dt.compare(models, X, y)
