"""Order parameters and overlaps: an independent oracle, limits, and every point of a wide range."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

import doubletrouble as dt
from doubletrouble.convex import _fixed_point, order_parameters, threshold_ratio
from doubletrouble.convex._order_parameters import SolvedMember
from doubletrouble.convex._overlaps import _Pairs
from doubletrouble.parameters import FloatArray
from tests.convex.oracle import STORED

ROWS: list[dict[str, Any]] = json.loads(STORED.read_text(encoding="utf-8"))
LOSSES = {
    "regression": ("squared", "huber:0.7", "absolute", "quantile:0.8"),
    "classification": ("squared", "hinge", "squared_hinge", "logistic"),
}
CASES = [(task, loss) for task, losses in LOSSES.items() for loss in losses]


def classes(**fields: Any) -> dt.Problem:
    return dt.Problem(task="classification", **fields)


def random_problem(task: Any, loss: str, activation: str, count: int, seed: int = 0) -> dt.Problem:
    """Sizes from 0.05 to 20 and ridges from 1e-6 to 1e2."""
    rng = np.random.default_rng(seed)

    def decades(low: float, high: float) -> FloatArray:
        return np.exp(rng.uniform(np.log(low), np.log(high), count))

    fields: dict[str, Any] = {
        "features_per_dim": decades(0.05, 20),
        "samples_per_dim": decades(0.05, 20),
        "ridge": decades(1e-6, 1e2),
        "noise": rng.choice([0.0, 0.3, 1.0], count),
    }
    if task == "classification":
        fields["flips"] = rng.choice([0.0, 0.1, 0.3], count)
    return dt.Problem(task=task, loss=loss, activation=activation, **fields)


# --- the oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['loss']}-{row['psi1']}")
def test_raw_definitions(row: dict[str, Any]) -> None:
    problem = dt.Problem(
        task="classification" if "flips" in row else "regression",
        loss=row["loss"],
        features_per_dim=row["psi1"],
        samples_per_dim=row["psi2"],
        ridge=row["ridge"],
        noise=row["tau"],
        flips=row.get("flips", 0.0),
    )
    one = order_parameters(problem)
    ours: dict[str, Any] = {"m": one.m, "q": one.q, "V": one.V, "intercept": one.intercept}
    ours |= {"q1": one.overlap(), "q_init": one.overlap(shared_noise=False)}
    for name, value in ours.items():
        if name in row:
            assert value == pytest.approx(row[name], rel=1e-9), name


@pytest.mark.parametrize("loss", ["huber:0.3", "absolute", "quantile:0.95"])
def test_both_forms_of_the_pair_equation_have_one_root(loss: str) -> None:
    """Near P = N that of lost labels is used; away from rounding the other one is as accurate."""
    rng = np.random.default_rng(2)
    samples = 10 ** rng.uniform(-0.5, 0.5, 200)
    problem = dt.Problem(
        loss=loss,
        features_per_dim=samples * rng.uniform(0.9, 1.1, 200),
        samples_per_dim=samples,
        ridge=10 ** rng.uniform(-5, -2, 200),
        noise=rng.uniform(0.1, 1.0, 200),
    )
    (solution,) = SolvedMember.of(problem, problem.samples_per_dim, problem.shape).blocks
    ones = np.ones(200)
    pairs = _Pairs.of(solution, ones, ones, False)
    near = pairs.interpolates
    assert near.sum() > 50
    plain = replace(pairs, interpolates=np.zeros_like(near), complement=1 - pairs.noise_gain)
    np.testing.assert_allclose(pairs.root()[near], plain.root()[near], rtol=1e-9)


# --- every point ---------------------------------------------------------------------------------


def check_order(problem: dt.Problem) -> None:
    """No failure, no NaN, and q_d <= q_init <= min(q_noise, q1) <= q."""
    one = order_parameters(problem)
    q, m = np.asarray(one.q), np.asarray(one.m)
    q_1, q_noise, q_init, q_theta = (
        np.asarray(one.overlap(*shared))
        for shared in ((0.0, 1.0, True), (1.0, 1.0, False), (0.0, 1.0, False), (1.0, 0.0, True))
    )
    q_d, slack = m**2 / np.asarray(problem.signal) ** 2, 1e-12 * q
    for value in (q, m, np.asarray(one.V), q_1, q_noise, q_init, q_theta):
        assert np.isfinite(value).all()
    assert (q_d <= q_init + slack).all()
    assert (q_init <= np.minimum(q_noise, q_1) + slack).all()
    assert (np.maximum(q_noise, q_1) <= q + slack).all()
    assert (q_d <= q_theta + slack).all()
    assert (q_theta <= q_noise + slack).all()


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_overlaps_are_ordered(task: str, loss: str) -> None:
    check_order(random_problem(task, loss, "relu", 60))


@pytest.mark.full
@pytest.mark.parametrize("activation", ["relu", "tanh", "linear"])
@pytest.mark.parametrize(("task", "loss"), CASES)
def test_overlaps_are_ordered_everywhere(task: str, loss: str, activation: str) -> None:
    check_order(random_problem(task, loss, activation, 420, seed=1))


@pytest.mark.parametrize(("task", "loss"), CASES)
def test_arrays_are_their_points(task: str, loss: str) -> None:
    problem = random_problem(task, loss, "tanh", 6, seed=2)
    one = order_parameters(problem)
    overlaps = np.asarray(one.overlap(shared_noise=False))
    names = ("features_per_dim", "samples_per_dim", "ridge", "noise", "flips")
    for k in range(6):
        point: dict[str, Any] = {n: np.broadcast_to(getattr(problem, n), 6)[k] for n in names}
        single = order_parameters(
            dt.Problem(task=problem.task, loss=loss, activation="tanh", **point)
        )
        assert isinstance(single.m, float)
        # a row of a batch is solved with as many nodes as the others of its block
        assert single.q == pytest.approx(np.asarray(one.q)[k], rel=1e-10)
        assert single.overlap(shared_noise=False) == pytest.approx(overlaps[k], rel=1e-9)


def test_overlaps_broadcast() -> None:
    one = order_parameters(classes(loss="hinge", ridge=[0.1, 1.0], flips=0.1))
    shared = np.linspace(0.0, 1.0, 3)[:, None]
    overlaps = np.asarray(one.overlap(shared_features=shared, shared_samples=shared))
    assert overlaps.shape == (3, 2)
    np.testing.assert_allclose(overlaps[0], np.asarray(one.m) ** 2, rtol=1e-13)
    np.testing.assert_allclose(overlaps[2], one.q, rtol=1e-13)
    assert (np.diff(overlaps, axis=0) > 0).all()


@pytest.mark.parametrize(("task", "loss"), CASES)
@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_overlaps_are_ordered_next_to_interpolation(task: Any, loss: str, activation: str) -> None:
    widths = 1 + np.array([[0.0], [1e-6], [-1e-6], [1e-3], [-1e-3]])
    ridges = 10.0 ** np.array([-300.0, -150.0, -99.0, -60.0, -30.0, -20.0, -13.0, -6.0, 2.0])
    fields: dict[str, Any] = {"features_per_dim": widths, "samples_per_dim": 1.0, "ridge": ridges}
    if task == "classification":
        fields["flips"] = 0.2
    check_order(dt.Problem(task=task, loss=loss, activation=activation, noise=0.5, **fields))


@pytest.mark.parametrize(
    ("loss", "ridge", "V", "q", "ratio"),
    [
        ("absolute", 1e-20, 7247935.5246587545, 993719508303.7291, 0.6306664112436964),
        ("absolute", 1e-40, 43210079732829.82, 1.6519415275561448e25, 0.6363434385257921),
        ("huber", 1e-30, 450357200722152.75, 157153542501041.53, 0.6417856753697074),
    ],
)
def test_peak_at_tiny_ridges(loss: str, ridge: float, V: float, q: float, ratio: float) -> None:
    """V, q and q_noise/q at P = N = D, confirmed at 80 digits from the raw equations."""
    one = order_parameters(
        dt.Problem(loss=loss, noise=0.5, features_per_dim=1.0, samples_per_dim=1.0, ridge=ridge)
    )
    assert pytest.approx(V, rel=1e-10) == one.V
    assert one.q == pytest.approx(q, rel=1e-10)
    assert one.overlap(1.0, 1.0, shared_noise=False) / one.q == pytest.approx(ratio, rel=1e-10)


def test_peak_of_the_square_loss_is_that_of_the_closed_form() -> None:
    ridges = 10.0 ** np.array([-99.0, -40.0, -20.0, -13.0])
    problem = dt.Problem(noise=0.5, features_per_dim=3.0, samples_per_dim=3.0, ridge=ridges)
    one, error = order_parameters(problem), dt.exact_error(problem)
    np.testing.assert_allclose(1 - 2 * np.asarray(one.m) + one.q, error.total, rtol=1e-10)
    noise = np.asarray(one.q) - one.overlap(1.0, 1.0, shared_noise=False)
    np.testing.assert_allclose(noise, error.noise, rtol=1e-10)


# --- limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["huber", "absolute", "quantile:0.3"])
def test_losses_of_residuals_interpolate_without_ridge(loss: str) -> None:
    widths = np.array([1.0, 1.5, 4.0, math.inf])
    sizes: dict[str, Any] = {"features_per_dim": widths, "samples_per_dim": 1.0, "ridge": 0.0}
    errors = [dt.exact_error(dt.Problem(loss=kind, **sizes)) for kind in ("squared", loss)]
    for name, part in errors[0].parts.items():
        np.testing.assert_allclose(errors[1].parts[name], part, rtol=1e-10, err_msg=name)
    assert np.isinf(np.asarray(errors[1].total)[0])


def test_peak_without_ridge_beside_other_points() -> None:
    """At P = N, where q is infinite; its rounding depends on the other points of an array."""
    problem = dt.Problem(
        loss="quantile:0.8",
        noise=0.5,
        features_per_dim=[0.3, 1.0, 4.0],
        samples_per_dim=[1.0, 1.0, 0.5],
        ridge=[1e-3, 0.0, 0.1],
    )
    np.testing.assert_array_equal(np.isinf(dt.exact_error(problem).noise), [False, True, False])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_separable_data_without_ridge_have_the_maximum_margin(loss: str) -> None:
    sizes: dict[str, Any] = {"features_per_dim": [2.0, 8.0, math.inf], "samples_per_dim": 1.5}
    margin = order_parameters(classes(loss="max_margin", ridge=1.0, flips=0.1, **sizes))
    for ridge in (0.0, 1e-300):
        limit = order_parameters(classes(loss=loss, ridge=ridge, flips=0.1, **sizes))
        np.testing.assert_allclose(limit.q, margin.q, rtol=1e-10)
        np.testing.assert_allclose(limit.overlap(), margin.overlap(), rtol=1e-10)


def test_logistic_weights_diverge_on_separable_data() -> None:
    narrow = classes(loss="logistic", features_per_dim=0.2, samples_per_dim=2.0, ridge=0.0)
    nearly = classes(loss="logistic", features_per_dim=0.2, samples_per_dim=2.0, ridge=1e-12)
    assert order_parameters(narrow).q == pytest.approx(order_parameters(nearly).q, rel=1e-8)
    with pytest.raises(dt.DivergenceError, match="MaxMargin"):
        order_parameters(classes(loss="logistic", ridge=0.0))
    tiny = order_parameters(classes(loss="logistic", ridge=1e-300))
    wide = order_parameters(classes(loss="max_margin"))
    # the direction tends to that of the maximum margin, slowly
    tilt = [one.m / math.sqrt(one.q) for one in (tiny, wide)]
    assert tilt[0] == pytest.approx(tilt[1], rel=1e-2)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "squared"])
def test_labels_without_information(loss: str) -> None:
    for uninformative in (
        classes(loss=loss, flips=0.5),
        classes(loss=loss, signal=0.0),
        classes(loss=loss, activation="abs"),
    ):
        one = order_parameters(uninformative)
        assert one.m == 0
        assert one.q > 0
        assert dt.exact_error(uninformative, 3).total == 0.5
        noisy = dt.exact_error(uninformative, 3, measure="zero_one_noisy")
        assert noisy.total == 0.5
    assert order_parameters(classes(loss=loss, flips=0.5)).overlap(1.0, 1.0, False) == 0


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "squared"])
def test_labels_with_hardly_any_information(loss: str) -> None:
    """The parts have limits, and what is learned is proportional to the information."""
    tiny = np.array([1e-5, 1e-6, 1e-9])
    for fields in ({"flips": 0.5 - tiny}, {"noise": 0.1 / tiny}):
        problem = classes(loss=loss, features_per_dim=2.0, ridge=0.1, **fields)
        error = dt.exact_error(problem)
        for name, part in error.parts.items():
            np.testing.assert_allclose(part, np.asarray(part)[-1], rtol=1e-4, err_msg=name)
        learned = (0.5 - np.asarray(error.total)) / tiny
        np.testing.assert_allclose(learned, learned[0], rtol=1e-6)


@pytest.mark.parametrize("members", [1, 3, math.inf, dt.Vote(3), dt.Vote(math.inf)])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "squared"])
def test_labels_without_information_are_a_limit(loss: str, members: Any) -> None:
    """All of the 0/1 error is fluctuation, as for labels with hardly any information."""
    for none, hardly in (
        ({"flips": 0.5}, {"flips": 0.5 - 1e-8}),
        ({"signal": 0.0, "noise": 1.0}, {"noise": 1e8}),
    ):
        limit, near = (
            dt.exact_error(classes(loss=loss, ridge=0.1, **fields), members)
            for fields in (none, hardly)
        )
        assert limit.bias == 0
        for name, part in limit.parts.items():
            assert part == pytest.approx(near.parts[name], abs=1e-7), name


@pytest.mark.parametrize("activation", ["abs", "quadratic"])
def test_even_features_with_noisy_labels(activation: str) -> None:
    """Fits of the squared loss are linear in labels: the overlap is the mean product of two."""
    noise = np.array([0.1, 1.0, 10.0, 1e4])
    fields: dict[str, Any] = {"activation": activation, "ridge": 0.01, "noise": noise}
    one = order_parameters(classes(loss="squared", **fields))
    mean_product = 2 / np.pi * np.arcsin(1 / (1 + noise**2))
    np.testing.assert_allclose(one.overlap(1.0, 1.0, False) / one.q, mean_product, rtol=1e-11)
    for loss in ("hinge", "logistic"):
        narrow = classes(loss=loss, features_per_dim=0.1, **fields)
        np.testing.assert_array_equal(dt.exact_error(narrow).total, 0.5)


def test_an_infinite_ridge_predicts_zero() -> None:
    noise = dt.Mixture([(0.9, 0.5), (0.1, 4.0)])
    zero = order_parameters(dt.Problem(loss="quantile:0.9", ridge=math.inf, noise=noise))
    assert (zero.m, zero.q, zero.V) == (0.0, 0.0, 0.0)
    quantile = brentq(
        lambda x: 0.9 * ndtr(x / math.hypot(1, 0.5)) + 0.1 * ndtr(x / math.hypot(1, 4.0)) - 0.9,
        0.0,
        9.0,
        xtol=1e-14,
    )
    assert zero.intercept == pytest.approx(quantile, rel=1e-12)
    # the direction of a classifier has a limit
    far, limit = (dt.exact_error(classes(loss="hinge", ridge=r), 2) for r in (1e9, math.inf))
    assert limit.total == pytest.approx(far.total, rel=1e-8)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "max_margin"])
def test_no_ridge_close_to_the_threshold(loss: str) -> None:
    rng = np.random.default_rng(8)
    widths, flips = 10 ** rng.uniform(-1, 1, 40), rng.choice([0.0, 0.1, 0.3], 40)
    most = widths * np.asarray(dt.separability(classes(features_per_dim=widths, flips=flips)))
    sides = [0.5, 0.995, 0.9999] if loss == "max_margin" else [0.5, 0.999, 1.001, 2.0]
    problem = classes(
        loss=loss,
        features_per_dim=widths,
        flips=flips,
        ridge=0.0,
        samples_per_dim=most * rng.choice(sides, 40),
    )
    error = dt.exact_error(problem, [[1.0], [3.0]])
    assert np.isfinite(error.total).all()
    assert (np.asarray(error.total) < 0.5).all()


def test_sizes_and_ridges_far_apart() -> None:
    sizes, ridges = np.array([1e-3, 1e-2, 1.0, 1e3]), np.array([1e-8, 1.0, 1e6])
    grid = np.meshgrid(np.r_[2 * sizes, math.inf], sizes, ridges)
    fields: dict[str, Any] = dict(
        zip(("features_per_dim", "samples_per_dim", "ridge"), grid, strict=True)
    )
    for task, loss in CASES:
        problem: Any = dt.Problem(task=task, loss=loss, noise=0.3, **fields)  # type: ignore[arg-type]
        assert np.isfinite(dt.exact_error(problem, 3).total).all(), (task, loss)


@pytest.mark.parametrize("loss", ["huber", "absolute", "quantile:0.8"])
def test_a_linear_network_recovers_a_target_without_noise(loss: str) -> None:
    sizes: dict[str, Any] = {"features_per_dim": 2.0, "samples_per_dim": [2.0, 3.0], "noise": 0.0}
    problem = dt.Problem(loss=loss, activation="linear", ridge=0.0, **sizes)
    np.testing.assert_allclose(dt.exact_error(problem, 2).total, 0.0, atol=1e-20)


def test_units_of_the_labels() -> None:
    """Huber's loss and the ridge of absolute residuals scale with the labels."""
    for loss, scaled, ridge in (("huber:1", "huber:100", 0.1), ("absolute", "absolute", 1e-3)):
        one = order_parameters(dt.Problem(loss=loss, noise=0.5, ridge=0.1))
        hundred = order_parameters(dt.Problem(loss=scaled, noise=50.0, signal=100.0, ridge=ridge))
        assert hundred.q == pytest.approx(1e4 * one.q, rel=1e-12)
        np.testing.assert_allclose(hundred.V, one.V * 0.1 / ridge, rtol=1e-12)
    a, b = (classes(loss="hinge", signal=s, noise=0.3 * s) for s in (1.0, 1e5))
    assert order_parameters(b).m == pytest.approx(1e5 * order_parameters(a).m, rel=1e-13)


class Deviation(dt.losses.Loss):
    """The absolute loss."""

    tasks = ("regression",)
    slopes = (-1.0, 1.0)


class Bounded(dt.losses.Loss):
    """The Huber loss with δ = 0.7."""

    tasks = ("regression",)
    softness = 1.0
    slopes = (-0.7, 0.7)


@pytest.mark.parametrize(("own", "loss"), [(Deviation(), "absolute"), (Bounded(), "huber:0.7")])
def test_own_loss_classes_have_the_same_units(own: dt.losses.Loss, loss: str) -> None:
    given, named = (
        dt.Problem(loss=one, signal=2.0, noise=[0.0, 1.5], ridge=1e-2) for one in (own, loss)
    )
    assert repr(order_parameters(given)) == repr(order_parameters(named))
    np.testing.assert_array_equal(dt.exact_error(given, 3).total, dt.exact_error(named, 3).total)
    ours, theirs = (dt.training_error(problem, mean_loss=True) for problem in (given, named))
    np.testing.assert_array_equal(ours, theirs)


def test_a_mixture_of_equal_components_is_one() -> None:
    plain = dt.Problem(loss="huber", noise=0.7, ridge=0.1)
    mixed = dt.Problem(loss="huber", noise=dt.Mixture([(0.3, 0.7), (0.7, 0.7)]), ridge=0.1)
    for name, part in dt.exact_error(plain, 3).parts.items():
        assert dt.exact_error(mixed, 3).parts[name] == pytest.approx(part, rel=1e-12)


# --- separability --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("activation", "flips", "ratio"),
    [("relu", 0.0, 0.3842), ("relu", 0.1, 0.4267), ("tanh", 0.0, 0.3423), ("tanh", 0.1, 0.3991)],
)
def test_threshold_at_two_samples_per_dimension(
    activation: str, flips: float, ratio: float
) -> None:
    widths = np.linspace(0.5, 1.0, 5001)
    problem = classes(features_per_dim=widths, activation=activation, flips=flips)
    most = widths * np.asarray(dt.separability(problem))  # N⋆/D
    assert np.interp(2.0, most, widths) / 2 == pytest.approx(ratio, abs=5e-5)


def test_threshold_ratio_is_the_width_of_separability() -> None:
    samples = np.array([0.5, 2.0, 4.0])
    ratio = np.asarray(threshold_ratio(classes(samples_per_dim=samples, flips=0.1)))
    at = classes(features_per_dim=ratio * samples, flips=0.1)
    np.testing.assert_allclose(ratio * np.asarray(dt.separability(at)), 1.0, rtol=1e-12)
    many = classes(activation="linear", samples_per_dim=20.0, flips=0.1)
    assert math.isinf(threshold_ratio(many))  # more samples than features of rank D separate


def test_separability_of_labels_without_information_is_covers() -> None:
    assert dt.separability(classes(flips=0.5)) == pytest.approx(2.0)
    assert dt.separability(classes(activation="abs")) == pytest.approx(2.0)
    assert dt.separability(classes(signal=0.0)) == pytest.approx(2.0)
    assert math.isinf(dt.separability(classes(features_per_dim=math.inf)))  # a linear target
    with pytest.raises(ValueError, match="task must be classification"):
        dt.separability(dt.Problem())


def test_linear_features_have_at_most_the_rank_of_the_inputs() -> None:
    sizes: dict[str, Any] = {"activation": "linear", "features_per_dim": [1.0, 10.0, math.inf]}
    ratio = np.asarray(dt.separability(classes(flips=0.3, **sizes)))  # N⋆/P
    np.testing.assert_allclose(ratio, ratio[0] * np.array([1.0, 0.1, 0.0]), rtol=1e-14)
    assert np.isinf(dt.separability(classes(**sizes))).all()  # by the target
    # the margin vanishes, and weights without a ridge are finite, at the same N⋆/D = 2.1457
    fields = sizes | {"flips": 0.3}
    margin = order_parameters(classes(loss="max_margin", samples_per_dim=2.12, **fields))
    assert (np.asarray(margin.q) > 1e3).all()
    with pytest.raises(ValueError, match=r"2\.14572"):
        order_parameters(classes(loss="max_margin", samples_per_dim=2.2, **fields))
    fields["features_per_dim"] = [2.0, 10.0, math.inf]
    q = np.asarray(
        order_parameters(classes(loss="logistic", ridge=0.0, samples_per_dim=2.3, **fields)).q
    )
    np.testing.assert_allclose(q, q[0], rtol=1e-9)  # of inputs as of any linear map of them


def test_margin_vanishes_linearly_at_the_threshold() -> None:
    most = 0.8 * float(np.asarray(dt.separability(classes(features_per_dim=0.8, flips=0.1))))
    gaps = np.array([1e-3, 2e-3])
    problem = classes(
        loss="max_margin", features_per_dim=0.8, flips=0.1, samples_per_dim=most * (1 - gaps)
    )
    margins = 1 / np.sqrt(np.asarray(order_parameters(problem).q))
    ratios = margins / gaps
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-2)
    with pytest.raises(ValueError, match="separability"):
        order_parameters(
            classes(loss="max_margin", features_per_dim=0.8, flips=0.1, samples_per_dim=most)
        )


# --- hard points ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("flips", [0.0, 0.1, 0.5])
def test_directions_have_a_limit_at_the_threshold(loss: str, flips: float) -> None:
    problem = classes(features_per_dim=0.8, flips=flips)
    most = 0.8 * float(np.asarray(dt.separability(problem)))
    near, at = (
        classes(loss=loss, features_per_dim=0.8, flips=flips, ridge=0.0, samples_per_dim=samples)
        for samples in (most * (1 + 3e-7), most * (1 + 1e-12))
    )
    assert order_parameters(at).q == math.inf
    for K in (1, 3, math.inf):
        expected, limit = (dt.exact_error(p, K).parts for p in (near, at))
        assert limit == pytest.approx(expected, abs=1e-4)
    assert dt.exact_error(at, 3, measure="squared").total == math.inf


def test_narrow_linear_parts_of_forces_keep_their_digits() -> None:
    narrow, wide = (
        order_parameters(
            dt.Problem(loss="quantile:0.9", ridge=0.0, features_per_dim=width, samples_per_dim=2.0)
        )
        for width in (2e-12, 2e-7)
    )
    assert np.divide(narrow.q, wide.q) == pytest.approx(1e-5, rel=1e-3)
    assert np.divide(narrow.V, wide.V) == pytest.approx(1e-5, rel=1e-5)


@pytest.mark.parametrize("loss", LOSSES["classification"])
def test_large_ridges_need_no_continuation(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fixed_point, "_continued", None)
    ridges = np.array([1e4, 1e8, 1e20, 1e60])
    one = order_parameters(classes(loss=loss, ridge=ridges, flips=0.1))
    scaled = np.asarray(one.q) * ridges**2
    np.testing.assert_allclose(scaled, scaled[-1], rtol=1e-3)


def test_points_without_convergence_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: Any, at: Any, unknowns: Any) -> Any:
        return unknowns, np.full(at.size, np.inf)

    monkeypatch.setattr(_fixed_point, "newton", failing)
    problem = dt.Problem(loss="absolute", ridge=0.25, noise=0.5, samples_per_dim=3.0)
    with pytest.raises(
        dt.ConvergenceError, match=r"samples_per_dim = 3, ridge = 0\.25, signal = 1"
    ):
        order_parameters(problem)
