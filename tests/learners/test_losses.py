"""Cross-entropy and error rate by cause: oracles, limits with known answers, and arguments."""

import json
import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier, ExtraTreeRegressor

import doubletrouble as dt
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Decomposition, Estimate
from tests.learners.known import FEW, pool, source
from tests.learners.random_effects import label
from tests.learners.test_classifiers import zoo
from tests.messages import not_identified

MEASURES: tuple[Any, ...] = ("log", "squared", "zero_one")
PARTS = ("noise", "initialization", "sampling", "bias")
VARIANCES = (0.5, 0.3, 0.8, 0.4, 0.6)  # d, k, dk, dn, dnk: of the logit
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


def logits(
    rng: np.random.Generator, mean: FloatArray, shape: tuple[int, int, int], *, crossed: bool = True
) -> FloatArray:
    """Logits [data, noise, init, test] of class 1, normal at every test point."""
    D, N, K = shape
    u = np.zeros((D, N, K, len(mean))) + mean
    draws = ((D, 1, 1), (1 if crossed else D, 1, K), (D, 1, K), (D, N, 1), (D, N, K))
    for variance, size in zip(VARIANCES, draws, strict=True):
        u += math.sqrt(variance) * rng.standard_normal((*size, len(mean)))
    return u


def two_classes(u: FloatArray) -> FloatArray:
    p = 1 / (1 + np.exp(-u))
    return np.stack([1 - p, p], axis=-1)


def normal_parts(measure: str, mean: FloatArray) -> dict[str, float]:
    """The parts for infinitely many draws, class 1 being the label everywhere."""
    d, k, dk, dn, dnk = VARIANCES

    def expected(variance: float) -> float:
        u = mean[:, None] + math.sqrt(variance) * NODES
        if measure == "log":
            return float(np.mean(np.logaddexp(0, -u) @ WEIGHTS / WEIGHTS.sum()))
        if variance == 0:
            return float(np.mean(mean < 0))
        return float(np.mean([math.erfc(m / math.sqrt(2 * variance)) / 2 for m in mean]))

    e = [expected(v) for v in (d + k + dk + dn + dnk, d + k + dk, d, 0.0)]
    parts = dict(zip(PARTS, (e[0] - e[1], e[1] - e[2], e[2] - e[3], e[3]), strict=True))
    return parts | {"total": e[0], "inf": expected(d + dn)}


def answers(result: Decomposition) -> dict[str, Estimate]:
    error = result.error()
    return {**error.parts, "total": error.total, "inf": result.error(math.inf).total}


def some_probabilities(seed: int, shape: tuple[int, ...] = (4, 3, 4, 7, 3)) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.dirichlet(np.ones(shape[-1]), size=shape[:-1]))


# --- known answers ---


def mean_z(
    mean: FloatArray, shape: tuple[int, int, int], repeats: int, *, crossed: bool = True
) -> dict[str, float]:
    """The deviation of the mean over repeats from the known answer, in standard errors."""
    rng, expected = np.random.default_rng(5), normal_parts("log", mean)
    rows = []
    for _ in range(repeats):
        f = two_classes(logits(rng, mean, shape, crossed=crossed))
        split = dt.decompose_predictions(
            f, np.ones(len(mean), int), crossed=crossed, include_test=False, measure="log"
        )
        rows.append({name: float(part) for name, part in answers(split).items()})
    z = {}
    for name, value in expected.items():
        draws = np.array([row[name] for row in rows])
        z[name] = float((draws.mean() - value) / (draws.std(ddof=1) / math.sqrt(repeats)))
    return z


MANY_REPEATS = pytest.param(
    np.random.default_rng(1).normal(0, 2, 60), (8, 6, 6), 120, marks=pytest.mark.full
)


@pytest.mark.statistical
@pytest.mark.parametrize("crossed", [True, False])
@pytest.mark.parametrize(
    ("mean", "sizes", "repeats"),
    [(np.random.default_rng(0).normal(1, 1, 40), (6, 4, 4), 40), MANY_REPEATS],
)
def test_parts_of_normal_logits_equal_their_limit_of_many_draws(
    mean: Any, sizes: tuple[int, int, int], repeats: int, crossed: bool
) -> None:
    z = mean_z(mean, sizes, repeats, crossed=crossed)
    assert all(abs(value) < 4 for value in z.values()), z


def test_without_extrapolation_parts_are_too_small() -> None:
    """Negative control: means over the draws at hand, put into the definition."""
    rng = np.random.default_rng(5)
    mean = rng.normal(1, 1, 200)
    expected = normal_parts("log", mean)
    L = np.log(two_classes(logits(rng, mean, (20, 2, 3))))
    over_noise, over_both, over_all = (
        np.log(np.exp(L.mean(axis=axes)).sum(axis=-1)).mean() for axes in ((1,), (1, 2), (0, 1, 2))
    )
    plug_in = {
        "noise": -over_noise,
        "initialization": over_noise - over_both,
        "sampling": over_both - over_all,
    }
    split = dt.decompose_predictions(np.exp(L), np.ones(200, int), measure="log")
    assert plug_in["noise"] < 0.55 * expected["noise"]
    for name in ("noise", "sampling"):
        part = split.error().parts[name]
        assert abs(part.value - expected[name]) < 0.2 * abs(plug_in[name] - expected[name])
    assert sum(plug_in.values()) == pytest.approx(-over_all)


def test_the_stated_bias_of_two_draws_is_right() -> None:
    rng = np.random.default_rng(0)
    u = rng.normal(0, 1.5, size=(400, 2, 1, 50))
    split = dt.decompose_predictions(two_classes(u), measure="log", noiseless=False)
    spread = np.logaddexp(0, 1.5 * NODES) @ WEIGHTS / WEIGHTS.sum() - math.log(2)
    share = split.error().noise.value / spread - 1
    (note,) = (note for note in split.notes if "unbiased" in note)
    stated = float(note.split("remains: ")[1].split("%")[0]) / 100
    assert share == pytest.approx(-0.08, abs=0.02)
    assert stated == pytest.approx(share, abs=0.02)
    assert "5 for noise" in note


def test_two_equal_logits_have_a_closed_form() -> None:
    """Two draws at ±u: the jackknife is twice log cosh(u/2) of the pair."""
    u = 0.8
    f = np.tile(two_classes(np.array([u, -u]))[None, :, None, None], (3, 1, 1, 5, 1))
    error = dt.decompose_predictions(f, truth=np.ones(5, int), measure="log").error()
    single = (np.logaddexp(0, u) + np.logaddexp(0, -u)) / 2
    assert error.total.value == pytest.approx(single)
    assert error.noise.value == pytest.approx(2 * math.log(math.cosh(u / 2)))


@pytest.mark.statistical
def test_votes_approach_the_sign_of_the_mean_logit() -> None:
    rng = np.random.default_rng(2)
    mean = rng.normal(0.7, 1, 400)
    expected = normal_parts("zero_one", mean)
    f, y = two_classes(logits(rng, mean, (31, 9, 9))), np.ones(400, int)
    many, few = (
        dt.decompose_predictions(some, y, include_test=False, measure="zero_one")
        for some in (f, f[:, :3, :3])
    )
    for name, part in answers(many).items():
        assert part.value == pytest.approx(expected[name], abs=0.02), name
    noise = expected["noise"]  # of the vote of 3, with its extrapolation, and of 9
    (note,) = (note for note in few.notes if "infinitely many" in note)
    stated = float(note.split("noise ")[-1].split(",")[0])
    assert few.error().noise.value < 0.6 * noise < stated < many.error().noise.value < noise


# --- independent definitions ---


def test_cross_entropy_equals_a_direct_evaluation() -> None:
    f, y = some_probabilities(0), np.arange(7) % 3
    L = np.log(f)

    def centre(M: FloatArray, axes: tuple[int, ...]) -> FloatArray:
        """The jackknife of log Z over some axes, one after the other, by loops."""
        if not axes:
            return np.asarray(np.log(np.exp(M).sum(axis=-1)).mean(axis=(0, 1, 2)))
        axis, rest = axes[0], axes[1:]
        n = M.shape[axis]
        whole = centre(M.mean(axis=axis, keepdims=True), rest)
        left = [
            centre(np.delete(M, k, axis).mean(axis=axis, keepdims=True), rest) for k in range(n)
        ]
        return np.asarray(n * whole - (n - 1) * np.mean(left, axis=0))

    own = -L[..., np.arange(7), y].mean(axis=(0, 1, 2))
    noise = np.mean([centre(L[d : d + 1, :, k : k + 1], (1,)) for d in range(4) for k in range(4)])
    both = np.mean([centre(L[d : d + 1], (1, 2)) for d in range(4)])
    everything = centre(L.mean(axis=1, keepdims=True), (0, 2)).mean()
    error = dt.decompose_predictions(f, y_test=y, measure="log").error()
    expected = (-noise, noise - both, both - everything, everything + own.mean())
    for name, value in zip(PARTS, expected, strict=True):
        assert error.parts[name].value == pytest.approx(float(value), abs=1e-12), name
    assert error.total.value == pytest.approx(own.mean())
    assert sum(float(part) for part in error.parts.values()) == pytest.approx(own.mean())


def majority_error(votes: Any, y: int) -> float:
    counts = np.bincount(votes, minlength=3)
    best = np.flatnonzero(counts == counts.max())
    return 1 - (y in best) / len(best)


def test_zero_one_loss_equals_a_count_of_votes() -> None:
    f, y = some_probabilities(1), np.arange(7) % 3
    votes = f.argmax(axis=-1)
    D, _, K, T = votes.shape
    grid = [(d, k, t) for d in range(D) for k in range(K) for t in range(T)]
    e = [
        np.mean(votes != y),
        np.mean([majority_error(votes[d, :, k, t], y[t]) for d, k, t in grid]),
        np.mean([majority_error(votes[d, :, :, t].ravel(), y[t]) for d, _, t in grid]),
        np.mean([majority_error(votes[..., t].ravel(), y[t]) for t in range(T)]),
    ]
    split = dt.decompose_predictions(f, y_test=y, measure="zero_one")
    for name, value in zip(PARTS, (e[0] - e[1], e[1] - e[2], e[2] - e[3], e[3]), strict=True):
        assert split.error().parts[name].value == pytest.approx(float(value), abs=1e-12), name
    assert split.error().total.value == pytest.approx(e[0])
    assert any("may be negative" in note for note in split.notes)


@pytest.mark.parametrize("measure", ["log", "zero_one"])
def test_ensembles_are_averages_of_all_groups(measure: LearnerMeasure) -> None:
    f, y = some_probabilities(2), np.arange(7) % 3
    split = dt.decompose_predictions(f, y_test=y, measure=measure)
    one_hot = np.eye(3)[f.argmax(axis=-1)]
    for size in (2, 4):
        errors = []
        for group in combinations(range(4), size):
            if measure == "log":
                p = f[:, :, list(group)].mean(axis=2)[..., np.arange(7), y]
                errors.append(-np.log(p).mean())
            else:
                shares = one_hot[:, :, list(group)].sum(axis=2)
                best = shares == shares.max(axis=-1, keepdims=True)
                right = best[..., np.arange(7), y] / best.sum(axis=-1)
                errors.append(1 - right.mean())
        error = split.error(size)
        assert error.total.value == pytest.approx(np.mean(errors))
        assert 0 < error.total.standard_error < 1
        not_identified(error, "noise", "ensemble")
    with pytest.raises(ValueError, match=r"^ensemble must be .* got 5"):
        split.error(5)
    many = split.error(math.inf)
    assert many.initialization.value == 0
    assert sum(map(float, many.parts.values())) == pytest.approx(many.total.value)


def test_a_true_distribution_separates_the_entropy_of_labels() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=4000)
    y = np.array([rng.choice(3, p=row) for row in p])
    f = some_probabilities(3, (3, 2, 3, 4000, 3))
    both = dt.decompose_predictions(f, truth=p, y_test=y, measure="log").error()
    entropy = -np.sum(p * np.log(p), axis=1)
    assert abs(float(both.bayes.z_score(entropy.mean()))) < 4
    own = -np.log(f[..., np.arange(4000), y]).mean()
    assert both.total.value == pytest.approx(own)
    assert sum(map(float, both.parts.values())) == pytest.approx(own)
    perfect = np.broadcast_to(p, f.shape)
    alone = dt.decompose_predictions(perfect, truth=p, measure="log").error()
    assert alone.total.value == pytest.approx(0, abs=1e-12)


# --- standard errors ---


@pytest.mark.full
@pytest.mark.statistical
@pytest.mark.parametrize("measure", ["log", "zero_one"])
def test_standard_errors_are_the_spread_of_repeats(measure: LearnerMeasure) -> None:
    rng = np.random.default_rng(3)
    mean = rng.normal(1, 1, 100)
    rows = []
    for _ in range(150):
        f = two_classes(logits(rng, mean, (10, 3, 4)))
        split = dt.decompose_predictions(
            f,
            np.ones(100, int),
            include_test=False,
            measure=measure,
        )
        rows.append(answers(split))
    for name in rows[0]:
        spread = np.std([float(row[name]) for row in rows], ddof=1)
        stated = np.sqrt(np.mean([float(row[name].standard_error) ** 2 for row in rows]))
        assert 0.8 < stated / spread < (1.4 if measure == "log" else 3.0), name


# --- infinite cross-entropy ---


def test_probability_zero_of_a_label_is_an_infinite_loss() -> None:
    f, y = some_probabilities(0), np.zeros(7, int)
    f[0, 0, 0, 0] = [0, 0.5, 0.5]
    split = dt.decompose_predictions(f, y_test=y, measure="log")
    error = split.error()
    assert error.total.value == error.bias.value == math.inf
    not_identified(error, "sampling", r"^sampling is not defined: probabilities of 0")
    assert math.isfinite(split.error(4).total.value)
    assert any(f"{1 / f[..., 0].size:.1%} of the predictions" in note for note in split.notes)
    assert json.loads(split.to_json())["parts"][-1]["error"] == "inf"
    split.plot()
    assert math.isnan((error - error).total.value)
    with pytest.raises(ValueError, match="finite"):
        dt.plan_repeats(split)


def test_probability_zero_of_another_class_removes_it_from_the_centre() -> None:
    f, y = some_probabilities(0, (3, 2, 3, 7, 2)), np.zeros(7, int)
    third = np.concatenate([f, np.zeros((*f.shape[:-1], 1))], axis=-1)
    two, three = (dt.decompose_predictions(g, y_test=y, measure="log") for g in (f, third))
    for name, part in two.error().parts.items():
        assert three.error().parts[name].value == pytest.approx(part.value, abs=1e-9)
    third[0, 0, 0, :, 2] = third[0, 0, 0, :, 1]  # possible in one fit of 18
    third /= third.sum(axis=-1, keepdims=True)
    some = dt.decompose_predictions(third, y_test=y, measure="log").error()
    assert all(np.isfinite(part.value) for part in some.parts.values())
    assert any("probabilities are 0" in note for note in three.notes)


# --- learners and arguments ---


@pytest.mark.parametrize("measure", ["log", "zero_one"])
def test_results_of_learners_print_plot_and_convert(measure: str) -> None:
    name = {"log": "cross-entropy", "zero_one": "error rate"}[measure]
    options: dict[str, Any] = FEW | {"n_noise": None, "measure": measure}
    model = LogisticRegression() if measure == "log" else DecisionTreeClassifier(max_features=1)
    result = dt.decompose(model, zoo(), **options)
    assert result.design.n_noise == (3 if measure == "zero_one" else 2)
    assert str(result).startswith(name.capitalize())
    assert name.capitalize() in result._repr_html_()
    assert result.plot().get_xlabel().startswith(name)
    assert "anova" not in json.loads(result.to_json())
    assert json.loads(result.to_json())["measure"] == measure
    with pytest.raises(ValueError, match="measure must be squared"):
        result.anova()
    points = result.by_row()
    for part, values in points.parts.items():
        assert np.mean(values) == pytest.approx(result.error().parts[part].value, abs=1e-12)
    assert (result.error() - result.error()).total.value == 0
    if measure == "zero_one":
        wrong = result.predictions.argmax(-1) != result.y_test.argmax(-1)
        assert result.error().total.value == pytest.approx(wrong.mean())
    assert dt.plan_repeats(result, 0.5).n_fits > 0


def test_stored_fits_serve_all_losses(tmp_path: Any) -> None:
    options: dict[str, Any] = FEW | {"n_noise": 3, "store": tmp_path / "fits.sqlite", "name": "zoo"}
    calls = []

    def fit(X: FloatArray, y: Any, seed: int) -> Any:
        calls.append(seed)
        return LogisticRegression().fit(X, y).predict_proba

    results = [
        dt.decompose(fit, zoo(), task="classification", measure=measure, **options)
        for measure in MEASURES
    ]
    assert len(calls) == results[0].n_fits
    plain = dt.decompose_predictions(results[1].predictions, truth=results[1].y_test)
    assert results[1].error() == plain.error()


def test_the_effect_of_two_votes_is_not_identified() -> None:
    split = dt.decompose_predictions(
        some_probabilities(0)[:, :2], y_test=np.arange(7) % 3, measure="zero_one"
    )
    not_identified(split.error(), "noise", r"^noise needs 3 or more draws .* two votes")
    assert label(split, "initialization") == "initialization + label noise"
    assert sum(map(float, split.error().parts.values())) == pytest.approx(split.error().total.value)


@pytest.mark.parametrize("measure", ["log", "zero_one"])
def test_other_losses_need_classes(measure: Any) -> None:
    with pytest.raises(ValueError, match=f"^measure must be squared.*got '{measure}'"):
        dt.decompose(ExtraTreeRegressor(), source(), **FEW, measure=measure)
    with pytest.raises(ValueError, match=f"^measure must be squared.*got '{measure}'"):
        dt.decompose_predictions(np.zeros((3, 2, 2, 5)), y_test=np.zeros(5), measure=measure)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"measure": "hinge"}, "measure must be one of"),
        ({"y_test": np.arange(7)}, "y_test must be a class from 0 to 2"),
        ({"y_test": np.full((7, 3), 1 / 3)}, "y_test must be"),
        ({"truth": np.full((7, 3), 0.5)}, "truth must be"),
        ({"label_noise": 0.1}, "label_noise must be left out"),
        ({"injected": 1.0}, "injected must be None"),
        ({"predictions": 2 * some_probabilities(0)}, "predictions must be probabilities"),
        ({"measure": "zero_one", "y_test": None}, "truth or y_test must be given"),
    ],
)
def test_wrong_arguments_are_refused(changed: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {
        "predictions": some_probabilities(0),
        "y_test": np.zeros(7, int),
        "measure": "log",
    }
    dt.decompose_predictions(**good)
    with pytest.raises(ValueError, match=f"^{message}"):
        dt.decompose_predictions(**(good | changed))


# --- squared errors by point ---


@pytest.mark.parametrize("kind", ["drawn", "pool", "known", "repeated", "classes", "identical"])
def test_parts_at_test_points_have_the_means_of_all(kind: str) -> None:
    X, y = pool(200, noise=0.5)
    again = y + np.random.default_rng(3).standard_normal(200)
    sizes: dict[str, Any] = {"n_samples": 20, "n_test": 40}
    sources: dict[str, Any] = {
        "pool": dt.PoolSource(X, y, **sizes),
        "known": dt.PoolSource(X, y, noise=0.5, **sizes),
        "repeated": dt.PoolSource(X, y, repeated=[again], **sizes),
        "classes": zoo(),
    }
    model: Any = ExtraTreeClassifier() if kind == "classes" else ExtraTreeRegressor()
    if kind == "identical":
        model = ExtraTreeRegressor(max_depth=1, splitter="best")
    result = dt.decompose(model, sources.get(kind, source()), **FEW)
    points, error = result.by_row(), result.error()
    assert list(points.parts) == list(error.parts)
    for name, part in error.parts.items():
        assert np.mean(points.parts[name]) == pytest.approx(part.value, abs=1e-12), name
    np.testing.assert_allclose(np.mean(points.total), error.total.value)
    frame = points.to_frame()
    assert len(frame) == result.design.n_test == len(points.total)
    assert points.worst(3).total.is_monotonic_decreasing
    name = "Brier score" if kind == "classes" else "squared error"
    assert points.plot(count=5).get_xlabel() == name == error.label
    difference = points - points
    assert not np.any(difference.total)
    assert difference.plot(count=5).get_xlabel() == name
    assert list(difference.index) == list(points.index)
    with pytest.raises(
        ValueError, match=r"^errors must be of the same rows, got errors by row and"
    ):
        _ = points - error
    other = dt.decompose(model, sources.get(kind, source()), seed=1, **FEW).by_row()
    with pytest.raises(ValueError, match=r"^errors must be of the same rows, got two"):
        _ = points - other
    with pytest.raises(ValueError, match=r"^an estimate of a decomposition must be combined with"):
        _ = error.total - np.zeros(3)
    if kind == "drawn":
        own = np.mean((result.predictions - result.y_test) ** 2, axis=(0, 1, 2))
        np.testing.assert_allclose(points.total, own)
        expected = result.predictions.mean(axis=1).var(axis=1, ddof=1).mean(axis=0)
        assert points.initialization.shape == expected.shape
    if kind == "pool":
        not_identified(points, "noise", "noise needs")
