"""Arguments and results of `simulate`."""

import json
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import matplotlib as mpl  # noqa: TID251 (the plot is tested)
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.parameters import declarations
from doubletrouble.simulation import plan
from doubletrouble.simulation._draws import DataPair
from doubletrouble.simulation._learners import scheme_members
from tests.messages import message_of
from tests.simulation.comparison import PARTS, same


def test_draws_depend_on_the_seed_alone() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    first, again, other = (
        dt.simulate(problem, dim=20, n_data=3, n_init=2, seed=seed).draws.named()
        for seed in (4, 4, 5)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


def test_a_path_of_ridges_equals_single_ridges() -> None:
    """One eigendecomposition replaces a solve for each ridge."""
    problem, ridges = dt.Problem(features_per_dim=1.5), [1e-3, 0.1, 0.0, 2.0]
    options: dict[str, Any] = {"dim": 30, "n_data": 3, "n_init": 2, "ensembles": dt.Divide(2)}
    path: Any = dt.simulate(replace(problem, ridge=ridges), **options)
    assert np.shape(path.psi.psi1.value) == (4,)
    for k, ridge in enumerate(ridges):
        one = dt.simulate(dt.Problem(features_per_dim=1.5, ridge=ridge), **options)
        for name, values in one.draws.named().items():
            np.testing.assert_allclose(path.draws.named()[name][:, k], values, rtol=1e-8)
        divided = path.terms_of(dt.Divide(2)).named()
        for name, values in one.terms_of(dt.Divide(2)).named().items():
            np.testing.assert_allclose(divided[name][:, k], values, rtol=1e-8)


def test_nested_widths_are_the_first_features_of_the_widest() -> None:
    options: dict[str, Any] = {
        "dim": 20,
        "n_data": 2,
        "n_init": 2,
        "model": "features",
        "test": "sample",
    }
    problem, widths = dt.Problem(ridge=1e-2), [2.0, 0.5, 3.0, 1.0, 1.5]
    curve = dt.simulate(replace(problem, features_per_dim=widths), **options)
    np.testing.assert_array_equal(np.ravel(curve.problem.features_per_dim), widths)
    for k, width in enumerate(widths):
        # the same widest features are drawn; only what lies between differs
        pair = dt.simulate(replace(problem, features_per_dim=[width, 3.0]), **options)
        for name, values in pair.draws.named().items():
            np.testing.assert_allclose(curve.draws.named()[name][:, k], values[:, 0], rtol=1e-9)


def test_axes_match_the_theory() -> None:
    problem = dt.Problem(features_per_dim=[[0.5], [2.0], [4.0]], ridge=[0.1, 1.0])
    run = dt.simulate(problem, dim=20, n_data=2, n_init=2)
    theory = dt.exact_error(run.problem, 10)
    estimates = run.error(10)
    for name in PARTS:
        assert np.shape(getattr(estimates, name).value) == (3, 2)
    assert np.shape(estimates.total.z_score(theory.total)) == (3, 2)
    low, high = estimates.total.confidence_interval(0.95)
    assert np.all(low < estimates.total.value)
    assert np.all(estimates.total.value < high)


def test_exact_and_sampled_test_averages_agree() -> None:
    """Both are unbiased; `test` is the one used."""
    problem = dt.Problem(features_per_dim=0.8, ridge=1e-2)
    options: dict[str, Any] = {"dim": 40, "n_data": 60, "n_init": 2}
    exact, sampled = (dt.simulate(problem, test=test, **options) for test in ("exact", "sample"))
    assert (exact.test, sampled.test) == ("exact", "sample")
    assert exact.n_test == 0
    assert sampled.n_test == 64
    for name in ("psi2_vanilla", "psi3_vanilla", "psi2_ensemble", "psi3_ensemble", "psi2_divide"):
        first, second = (dt.Estimate.of(run.draws.psi[name]) for run in (exact, sampled))
        error = np.hypot(first.standard_error, second.standard_error)
        assert abs(first.value - second.value) < 5 * error, name


@pytest.mark.parametrize(
    "name",
    [
        "relu",
        "quadratic",
        *(pytest.param(n, marks=pytest.mark.full) for n in ("abs", "linear", "erf", "cos")),
    ],
)
def test_many_test_points_approach_the_exact_average(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=1e-2, activation=name)
    options: dict[str, Any] = {"dim": 8, "n_data": 2, "n_init": 2}
    monkeypatch.setattr("doubletrouble.simulation._simulate.draw_data", data_first)
    exact = dt.simulate(problem, test="exact", **options)
    monkeypatch.setattr("doubletrouble.simulation._plan.n_test_points", lambda *_: 200_000)
    sampled = dt.simulate(problem, test="sample", **options)
    for term, values in exact.draws.named().items():
        np.testing.assert_allclose(sampled.draws.named()[term], values, rtol=0.02, atol=2e-3)


def data_first(at: Any, rng: np.random.Generator) -> Any:
    """Draw test points from a generator of their own, so that the features stay the same."""
    (aside,) = rng.spawn(1)
    inputs = [rng.standard_normal((at.n_samples, at.dim)) for _ in range(2)]
    test = aside.standard_normal((at.n_test, at.dim)) if at.n_test else None
    return DataPair((inputs[0], inputs[1]), None), test


def test_auto_is_exact_where_that_is_cheaper() -> None:
    def chosen(features: float, **options: Any) -> str:
        problem = dt.Problem(features_per_dim=features, ridge=0.1, **options)
        return dt.simulate(problem, dim=20, n_data=2, n_init=2).test

    assert chosen(0.5) == "exact"
    assert chosen(4.0) == "sample"
    assert chosen(0.5, activation="tanh") == "sample"
    assert chosen(0.5, nonlinear_signal=1.0) == "sample"


def test_uncentred_features_have_an_outlying_eigenvalue() -> None:
    """It is near μ₀² N P, in the direction of constant labels; terms change by O(1/D)."""
    rng, relu, dim = np.random.default_rng(0), dt.activation("relu"), 200
    x, theta = rng.standard_normal((dim, dim)), rng.standard_normal((2 * dim, dim))
    features = np.maximum(x @ theta.T / math.sqrt(dim), 0)
    values, vectors = np.linalg.eigh(features @ features.T)
    assert values[-1] == pytest.approx(relu.mean**2 * dim * 2 * dim, rel=0.1)
    assert values[-1] > 10 * values[-2]
    assert abs(vectors[:, -1].sum()) / math.sqrt(dim) > 0.99
    problem = dt.Problem(features_per_dim=2.0, ridge=1e-2)
    theory = dt.exact_error(problem).total
    off = [
        dt.simulate(problem, dim=size, n_data=40, n_init=2, center=False).error().total.value
        - theory
        for size in (30, 120)
    ]
    assert 0 < off[1] < off[0] / 2


def test_data_divided_among_infinitely_many_members_predict_zero() -> None:
    problem, ensemble = dt.Problem(ridge=0.1, nonlinear_signal=0.5), dt.Divide(math.inf)
    run = dt.simulate(problem, dim=10, n_data=2, n_init=2, ensembles=[dt.Divide(2), ensemble])
    for name, expected in dt.exact_error(problem, ensemble).parts.items():
        assert run.error(ensemble).parts[name].value == expected


def test_kernel_is_equal_at_all_infinite_widths() -> None:
    problem = dt.Problem(features_per_dim=[math.inf, math.inf], ridge=0.1)
    run: Any = dt.simulate(problem, dim=10, n_data=2, n_init=2, model="kernel")
    first, second = np.asarray(run.psi.psi1.value)
    assert first == second > 0


def test_unequal_parts_are_paired_with_other_parts() -> None:
    """Each other part is equally likely."""
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=0.7, ridge=0.05)
    options: dict[str, Any] = {"n_data": 2, "n_init": 2, "seed": 0, "test": "auto"}
    settings: dict[str, Any] = {"model": "gaussian", "center": True, "dtype": "float64"}
    (at,) = plan(problem, dim=10, ensembles=dt.Divide(3), **options, **settings).runs
    rng = np.random.default_rng(0)
    rows = np.arange(7.0)[:, None]  # inputs are the numbers of the samples
    pairs: Counter[tuple[float, float]] = Counter()
    for _ in range(200):
        (blocks,) = scheme_members(at, 1, DataPair((rows, rows), None), 2, rng)
        for block in blocks:
            first, second = block.data.inputs
            pairs[first[0, 0], second[0, 0]] += 1
    starts = (0.0, 2.0, 5.0)
    assert set(pairs) == {(a, b) for a in starts for b in starts if a != b}
    assert 60 < min(pairs.values()) <= max(pairs.values()) < 140


@pytest.mark.full
@pytest.mark.statistical
def test_mean_product_is_that_of_two_unequal_parts() -> None:
    """N = 3 divided by 2 has parts of 1 and 2 samples."""
    problem = dt.Problem(features_per_dim=4.0, samples_per_dim=0.6, ridge=0.05)
    options: dict[str, Any] = {"dim": 5, "n_data": 4000, "n_init": 2, "progress": False}
    whole = dt.simulate(problem, ensembles=dt.Divide(2), **options)
    one, two = (
        dt.simulate(dt.Problem(features_per_dim=4.0, samples_per_dim=n / 5, ridge=0.05), **options)
        for n in (1, 2)
    )
    # isotropy: the mean students are multiples psi1 of the teacher
    alone, together = (float(of_part.draws.psi["psi1"].mean()) for of_part in (one, two))
    result = dt.Estimate.of(whole.terms_of(dt.Divide(2)).linear.apart)
    assert abs(float(result.z_score(alone * together))) < 5
    assert abs(float(result.z_score((alone**2 + together**2) / 2))) > 10


def test_sizes_are_rounded_to_whole_numbers() -> None:
    run = dt.simulate(dt.Problem(features_per_dim=0.333, ridge=0.1), dim=10, n_data=2, n_init=2)
    assert run.problem.features_per_dim == 0.3
    assert run.dim == 10


def test_ridge_zero_is_the_limit_of_small_ridges() -> None:
    options: dict[str, Any] = {"dim": 50, "n_data": 5, "n_init": 2}
    runs = [
        dt.simulate(dt.Problem(features_per_dim=3.0, ridge=ridge), **options)
        for ridge in (0.0, 1e-300, 1e-13)
    ]
    same(runs[0], runs[1], 1e-9)
    same(runs[0], runs[2], 1e-6)


def test_features_of_low_rank_need_no_ridge() -> None:
    """Linear features of P > D span D directions only: the ridge may still be zero."""
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=2.0, ridge=0.0, activation="linear")
    run: Any = dt.simulate(problem, dim=20, n_data=3, n_init=2)
    assert run.psi.psi1.value == pytest.approx(1.0, abs=1e-9)
    assert run.psi.psi2_vanilla.value == pytest.approx(1.0, abs=1e-9)


def test_progress_counts_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    class Bar:
        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None: ...

        def update(self) -> None:
            seen.append("draw")

    def bar(total: int, **options: Any) -> Bar:
        seen.append((total, options["progress"]))
        return Bar()

    monkeypatch.setattr("doubletrouble.simulation._draws.progress_bar", bar)
    for progress in (True, False):
        dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=3, n_init=2, progress=progress)
    assert seen == [(3, True), *["draw"] * 3, (3, False), *["draw"] * 3]


def test_ensembles_must_be_drawn() -> None:
    options: dict[str, Any] = {"dim": 10, "n_data": 2, "n_init": 2}
    plain = dt.simulate(dt.Problem(ridge=0.1), **options)
    assert "none" in message_of(plain.error, dt.Divide(2))
    drawn = [dt.Divide(2), dt.Subsample(10, fraction=0.6)]
    run = dt.simulate(dt.Problem(ridge=0.1), ensembles=drawn, **options)
    for ensemble in (dt.Divide(5), dt.Subsample(10, fraction=0.5), dt.Bootstrap(10)):
        for method in (run.error, run.realized, run.terms_of):
            message = message_of(method, ensemble)
            assert message.startswith("ensemble must"), ensemble
            assert "Divide(2), Subsample(K, fraction=0.6)" in message, ensemble
    for arrays in (dt.Subsample([1, 2], fraction=[0.1, 0.2]), dt.Divide([2, 5])):
        for method in (run.error, run.realized, run.terms_of):
            assert "arrays" in message_of(method, arrays), arrays
    assert message_of(run.anova, drawn[1]).startswith("ensemble must")


def test_repr_has_the_parts_of_the_error() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=3, n_init=2)
    assert repr(run).startswith(f"Simulation(noise={run.error().noise}")
    robust = dt.simulate(dt.Problem(ridge=0.1, loss="huber"), dim=10, n_data=3, n_init=2)
    assert repr(robust).startswith("Simulation(noise=")
    with pytest.raises(TypeError, match="shared_noise must be True or False, got 'no'"):
        robust.overlap(0.0, 1.0, "no")  # type: ignore[arg-type]


@pytest.mark.parametrize(("model", "nonlinear"), [("features", 0.0), ("gaussian", 0.5)])
def test_anova_agrees_with_theory(model: Any, nonlinear: float) -> None:
    """Parts at D and 2D are extrapolated in 1/D; swapped parts disagree."""
    problem = dt.Problem(features_per_dim=0.6, ridge=0.05, noise=0.5, nonlinear_signal=nonlinear)
    ensembles = (dt.Ensemble(1), dt.Ensemble(3), dt.Divide(2))
    small, large = (
        dt.simulate(
            problem,
            dim=dim,
            n_data=draws,
            n_init=2,
            model=model,
            ensembles=ensembles,
            seed=dim,
            progress=False,
        )
        for dim, draws in ((30, 120), (60, 60))
    )
    for ensemble in ensembles:
        theory, parts = dt.anova(problem, ensemble), small.anova(ensemble).parts
        assert list(parts) == list(theory.parts)
        assert parts.pop("bayes").value == 0
        limit = {name: 2 * large.anova(ensemble).parts[name] - part for name, part in parts.items()}
        for name, estimate in limit.items():
            assert abs(float(estimate.z_score(theory.parts[name]))) < 5, (ensemble, name)
        alone, both = theory.initialization, theory.initialization_sampling
        assert abs(float(limit["initialization"].z_score(both))) > 10
        assert abs(float(limit["initialization_sampling"].z_score(alone))) > 5
        for run in (small, large):
            assert run.anova(ensemble).total.value == pytest.approx(run.error(ensemble).total.value)


def test_differences_of_one_simulation_are_paired() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    options: dict[str, Any] = {"dim": 10, "n_data": 8, "n_init": 2, "ensembles": dt.Divide(2)}
    run, other = (dt.simulate(problem, seed=seed, **options) for seed in (0, 1))
    one, ten, divided = (run.error(e).total for e in (1, 10, dt.Divide(2)))
    by_draw: Any = [estimate.sources[0] for estimate in (one, ten, divided)]
    for a, b, k in ((one, ten, 1), (one, divided, 2)):
        expected = dt.Estimate.of(by_draw[0].values - by_draw[k].values)
        assert (a - b).standard_error == pytest.approx(expected.standard_error, rel=1e-12)
        assert (a - b).value == pytest.approx(expected.value)
    apart = one - other.error(1).total
    independent = np.hypot(one.standard_error, other.error(1).total.standard_error)
    assert apart.standard_error == pytest.approx(independent)
    # the same random numbers at another ridge
    again = dt.simulate(dt.Problem(features_per_dim=1.5, ridge=0.11), **options)
    close = one - again.error(1).total
    assert close.standard_error < 0.1 * one.standard_error


def test_differences_of_a_curve_and_its_points_are_paired() -> None:
    options: dict[str, Any] = {"dim": 10, "n_data": 6, "n_init": 2}
    curve = dt.simulate(dt.Problem(ridge=[0.1, 0.3, 1.0]), **options).error(2).total
    first = dt.simulate(dt.Problem(ridge=0.1), **options).error(2).total
    by_draw: Any = [estimate.sources[0] for estimate in (curve, first)]
    expected = dt.Estimate.of(by_draw[0].values - by_draw[1].values[:, None])
    for difference in (curve - first, first - curve):
        np.testing.assert_allclose(difference.standard_error, expected.standard_error, atol=1e-12)
        assert np.asarray(difference.value)[0] == pytest.approx(0.0, abs=1e-12)
        assert np.asarray(difference.standard_error)[0] == pytest.approx(0.0, abs=1e-12)
        assert (np.asarray(difference.standard_error)[1:] > 1e-3).all()


def test_tables_of_curves_have_columns_of_the_varied_parameters() -> None:
    problem = dt.Problem(features_per_dim=[[0.5], [2.0]], ridge=[0.1, 1.0])
    run = dt.simulate(problem, dim=10, n_data=3, n_init=2, times=[1.0, 10.0, math.inf])
    for result in (run.error(2), run.anova(2)):
        frame = result.to_frame()
        assert list(frame.columns[:3]) == ["features_per_dim", "ridge", "time"]
        assert len(frame) == 12
        assert frame["time"].tolist() == [1.0, 10.0, math.inf] * 4


def test_settings_error_and_ensembles_are_printed() -> None:
    run = dt.simulate(
        dt.Problem(ridge=0.1, noise=0.5, flips=0.0),
        dim=10,
        n_data=3,
        n_init=2,
        ensembles=dt.Divide(2),
    )
    text = str(run)
    assert all(word in text for word in ("random features", "D = 10", "3 draws", "λ = 0.1"))
    lines = [line.split() for line in text.splitlines()]
    error = run.error()
    for name, part in {**error.parts, "total": error.total}.items():
        wanted = [*("noise floor" if name == "bayes" else name).split(), *str(part).split()]
        assert any(line[: len(wanted)] == wanted for line in lines), name
    assert [
        *["2", "models,", "own", "features,", "the", "data", "in", "2", "disjoint", "parts"],
        *str(run.error(dt.Divide(2)).total).split(),
    ] in lines
    assert text.splitlines()[-1] == str(error).splitlines()[-1]
    content = json.loads(run.to_json())
    assert content["problem"]["ridge"] == 0.1
    assert (content["dim"], content["n_data"], content["seed"]) == (10, 3, 0)


@pytest.mark.parametrize(
    "problem",
    [
        dt.Problem(ridge=0.1),
        dt.Problem(ridge=[0.1, 0.3, 1.0]),
    ],
)
def test_theory_is_drawn_in_the_colours_of_the_simulation(problem: dt.Problem) -> None:
    mpl.use("Agg")
    run = dt.simulate(problem, dim=10, n_data=3, n_init=2)
    theory = dt.exact_error(run.problem)
    axes: Any = run.plot(theory=theory)
    if problem.shape:
        lines = [line for line in axes.lines if len(line.get_xdata()) == 3]
        drawn = {tuple(np.round(line.get_ydata(), 12)): line.get_color() for line in lines}
        totals = [np.atleast_2d(total) for total in (theory.total, run.error().total.value)]
        for one, other in zip(*totals, strict=True):
            assert drawn[tuple(np.round(one, 12))] == drawn[tuple(np.round(other, 12))]
    else:
        labels = [tick.get_text() for tick in axes.get_yticklabels()]
        widths = [bar.get_width() for bar in axes.patches]
        assert labels[-2:] == ["total", "theory"]
        assert widths[-2:] == pytest.approx([run.error().total.value, theory.total])
    axes.figure.canvas.draw()
    with pytest.raises(TypeError, match="theory must be an ErrorTerms"):
        run.plot(theory=theory.total)  # type: ignore[arg-type]
    other = dt.exact_error(dt.Problem(ridge=[0.1, 0.2]))
    with pytest.raises(ValueError, match="theory must be of the points"):
        run.plot(theory=other)
    if problem.shape:
        other = dt.exact_error(dt.Problem(ridge=[0.1, 0.3, 2.0]))
        with pytest.raises(ValueError, match="theory and simulation must be of the same ridge"):
            run.plot(theory=other)


def test_theory_of_a_grid_is_drawn_as_lines_through_the_points() -> None:
    mpl.use("Agg")
    grid = dt.Problem(features_per_dim=[0.5, 1.0, 2.0], ridge=[[0.1], [1.0]])
    run = dt.simulate(grid, dim=10, n_data=3, n_init=2)
    theory = dt.exact_error(run.problem)
    axes: Any = run.plot(theory=theory)
    drawn = [np.asarray(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 3]
    totals = [*theory.total, *run.error().total.value]  # type: ignore[misc]
    for one in totals:
        assert any(np.allclose(one, other) for other in drawn)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["λ = 0.1", "λ = 1"]
    assert axes.get_xlabel() == "features per dimension P/D"
    assert any("lines: theory" in text.get_text() for text in axes.texts)


def test_arrays_of_members_broadcast_with_the_curve() -> None:
    run = dt.simulate(
        dt.Problem(features_per_dim=[0.5, 2.0, 4.0], ridge=0.1),
        dim=20,
        n_data=4,
        n_init=2,
        ensembles=[dt.Bootstrap(2)],
        progress=False,
    )
    for kind in (dt.Ensemble, dt.Bootstrap):
        several = run.error(kind([[1], [10]]))
        assert several.shape == (2, 3)
        for row, members in enumerate((1, 10)):
            one = run.error(kind(members))
            for name, part in several.parts.items():
                np.testing.assert_array_equal(part[row].value, one.parts[name].value)
    assert "broadcast" in message_of(run.error, [1, 10])


# --- problems with arrays ------------------------------------------------------------------------

CLASSES: dict[str, Any] = {"task": "classification", "loss": "hinge"}
GRIDS: list[dict[str, Any]] = [
    {"ridge": 0.1},
    {"ridge": [0.1]},
    {"ridge": [0.01, 0.1, 1.0]},
    {"features_per_dim": [0.5, 1.0, 2.0], "ridge": [0.01, 0.1, 1.0]},
    {"features_per_dim": [[0.55], [2.0]], "ridge": [0.01, 0.1, 1.0]},
    {"samples_per_dim": [0.5, 1.26, 2.0], "ridge": 0.1, "noise": [[0.5], [1.0]]},
    {"signal": [0.5, 1.0], "nonlinear_signal": [[0.0], [0.5]], "test_noise": 0.1, "ridge": 0.1},
    {**CLASSES, "ridge": [0.1, 1.0], "flips": [[0.0], [0.1], [0.2]]},
    {**CLASSES, "ridge": 0.1, "samples_per_dim": [1.0, 2.04], "signal": [1.0, 2.0]},
    {"loss": "huber", "ridge": 0.1, "test_noise": [0.0, 1.0], "noise": [[0.3], [1.0]]},
]


@pytest.mark.parametrize("fields", GRIDS)
def test_results_have_the_axes_and_coordinates_of_the_theory(fields: dict[str, Any]) -> None:
    problem = dt.Problem(**fields)
    run = dt.simulate(problem, dim=10, n_data=2, n_init=2, progress=False)
    for members in (2, np.array([1.0, 5.0]).reshape(2, *(1 for _ in problem.shape))):
        found, theory = run.error(members), dt.exact_error(run.problem, members)
        assert np.shape(found.total.value) == np.shape(theory.total)
        assert found.coordinates.keys() == theory.coordinates.keys()
        for name, values in theory.coordinates.items():
            np.testing.assert_array_equal(found.coordinates[name], values)
            if name != "n_members":
                assert np.shape(values) == np.shape(getattr(problem, name))
    for name in ("features_per_dim", "samples_per_dim"):
        requested, realized = (np.asarray(getattr(p, name)) for p in (problem, run.problem))
        np.testing.assert_array_equal(realized, np.rint(requested * 10) / 10)


@pytest.mark.parametrize("fields", GRIDS)
def test_points_that_share_no_draws_equal_simulations_of_their_own(fields: dict[str, Any]) -> None:
    """Those of one N/D and, where labels are drawn, of one signal and noise, at one P/D."""
    options: dict[str, Any] = {"dim": 10, "n_data": 3, "n_init": 2, "ensembles": dt.Divide(2)}
    problem = dt.Problem(**fields)
    run = dt.simulate(problem, test="sample", **options)
    names = [n for n in declarations(problem) if np.ndim(getattr(problem, n))]
    values = np.broadcast_arrays(*(getattr(problem, n) for n in names)) if names else []
    last = (-1,) * len(problem.shape)  # of the largest P/D
    point: dict[str, Any] = {n: float(v[last]) for n, v in zip(names, values, strict=True)}
    one = replace(problem, **point)
    alone = dt.simulate(one, test="sample", **options)
    for ensemble in (1, 10, dt.Divide(2)):
        for name, part in alone.error(ensemble).parts.items():
            ours = np.asarray(run.error(ensemble).parts[name].value)[last]
            assert ours == pytest.approx(part.value, rel=1e-6, abs=1e-12), (ensemble, name)
    paired = run.error(2).total - alone.error(2).total
    assert np.ravel(paired.standard_error)[-1] == pytest.approx(0.0, abs=1e-6)


def test_sizes_of_ensembles_and_test_averages_may_differ_from_point_to_point() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=[[1.0], [40.0]], ridge=[0.1, 1.0])
    bag = dt.Subsample(3, fraction=0.58)
    run = dt.simulate(problem, dim=10, n_data=2, n_init=2, ensembles=bag, times=[1.0, math.inf])
    assert run.test == "exact"
    np.testing.assert_array_equal(
        np.asarray(run.realized(bag).options["fraction"])[:, 0, 0], [0.6, 0.58]
    )
    theory = dt.gradient_flow(run.problem, np.array([1.0, math.inf]), run.realized(bag))
    assert np.shape(theory.total) == np.shape(run.error(bag).total.value) == (2, 2, 2)
    assert run.error(bag).coordinates.keys() == theory.coordinates.keys()
    wide = dt.simulate(replace(problem, features_per_dim=4.0), dim=10, n_data=2, n_init=2)
    assert wide.test == "auto"  # the exact average of 80 features is the cheaper one at N = 400
    np.testing.assert_array_equal(wide.n_test, [[64, 64], [0, 0]])


@pytest.mark.statistical
def test_grid_over_samples_and_noise_agrees_with_theory() -> None:
    """Parts at D and 2D are extrapolated in 1/D; the control is the theory of another noise."""
    problem = dt.Problem(
        features_per_dim=1.5, samples_per_dim=[0.6, 1.0, 3.0], ridge=0.1, noise=[[0.2], [1.0]]
    )
    small, large = (
        dt.simulate(problem, dim=dim, n_data=draws, n_init=2, seed=dim, progress=False)
        for dim, draws in ((20, 200), (40, 100))
    )
    wrong = replace(problem, noise=np.asarray(problem.noise)[::-1])
    for members in (1, 5):
        theory, control = (dt.exact_error(p, members) for p in (problem, wrong))
        at, half = large.error(members), small.error(members)
        for name in ("noise", "initialization", "sampling", "bias"):
            limit = 2 * at.parts[name] - half.parts[name]
            assert np.all(np.abs(limit.z_score(theory.parts[name])) < 5), (members, name)
        limit = 2 * at.noise - half.noise
        assert np.all(np.abs(limit.z_score(control.noise)) > 10)
