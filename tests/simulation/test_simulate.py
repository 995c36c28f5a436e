"""What `simulate` takes, returns and refuses."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.simulation.result import Simulation

PARTS = ("noise", "initialization", "sampling", "bias", "bayes", "total")


def same(a: Simulation, b: Simulation, rtol: float) -> None:
    assert a.draws.keys() == b.draws.keys()
    assert a.divided.keys() == b.divided.keys()
    for left, right in ((a.draws, b.draws), *((a.divided[k], b.divided[k]) for k in a.divided)):
        for name, values in left.items():
            np.testing.assert_allclose(right[name], values, rtol=rtol, atol=1e-12)


def test_the_seed_decides() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    first, again, other = (
        dt.simulate(problem, dim=20, n_data=3, n_init=2, seed=seed).draws for seed in (4, 4, 5)
    )
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
        assert not np.array_equal(first[name], other[name])


def test_a_path_of_ridges_is_its_points() -> None:
    """One eigendecomposition for all, against a solve for each; also a ridge of zero."""
    problem, ridges = dt.Problem(features_per_dim=1.5), [1e-3, 0.1, 0.0, 2.0]
    options: dict[str, Any] = {"dim": 30, "n_data": 3, "n_init": 2, "n_members": (1, 2),
                               "schemes": ("ensemble", "divide")}  # fmt: skip
    path = dt.simulate(problem, ridges=ridges, **options)
    assert np.shape(path.psi.psi1.value) == (4,)
    for k, ridge in enumerate(ridges):
        one = dt.simulate(dt.Problem(features_per_dim=1.5, ridge=ridge), **options)
        for name, values in one.draws.items():
            np.testing.assert_allclose(path.draws[name][:, k], values, rtol=1e-8)
        for name, values in one.divided[2].items():
            np.testing.assert_allclose(path.divided[2][name][:, k], values, rtol=1e-8)


def test_nested_widths_are_the_first_features_of_the_widest() -> None:
    """Any order, on either side of P = N: each as if simulated by itself from the same features."""
    options: dict[str, Any] = {"dim": 20, "n_data": 2, "n_init": 2, "model": "features",
                               "test": "sample"}  # fmt: skip
    problem, widths = dt.Problem(ridge=1e-2), [2.0, 0.5, 3.0, 1.0, 1.5]
    curve = dt.simulate(problem, widths=widths, **options)
    np.testing.assert_array_equal(np.ravel(curve.problem.features_per_dim), widths)
    for k, width in enumerate(widths):
        # the same widest features are drawn; only what lies between differs
        pair = dt.simulate(problem, widths=[width, 3.0], **options)
        for name, values in pair.draws.items():
            np.testing.assert_allclose(curve.draws[name][:, k], values[:, 0], rtol=1e-9)


def test_axes_match_the_theory() -> None:
    run = dt.simulate(
        dt.Problem(), dim=20, n_data=2, n_init=2, widths=[0.5, 2.0, 4.0], ridges=[0.1, 1.0]
    )
    theory = dt.exact_error(run.problem, 10)
    estimates = run.error(10)
    for name in PARTS:
        assert np.shape(getattr(estimates, name).value) == (3, 2)
    assert np.shape(estimates.total.z_score(theory.total)) == (3, 2)
    low, high = estimates.interval(0.95)
    assert np.all(low < estimates.total.value)
    assert np.all(estimates.total.value < high)


def test_the_test_average_exact_or_sampled() -> None:
    """Both unbiased: equal within the noise of sampling, and the result says which."""
    problem = dt.Problem(features_per_dim=0.8, ridge=1e-2)
    options: dict[str, Any] = {"dim": 40, "n_data": 60, "n_init": 2}
    exact, sampled = (dt.simulate(problem, test=test, **options) for test in ("exact", "sample"))
    assert (exact.test, sampled.test) == ("exact", "sample")
    assert exact.n_test == 0
    assert sampled.n_test == 64
    for name in ("psi2_vanilla", "psi3_vanilla", "psi2_ensemble", "psi3_ensemble", "psi2_divide"):
        first, second = (dt.Estimate.of(run.draws[name]) for run in (exact, sampled))
        error = np.hypot(first.standard_error, second.standard_error)
        assert abs(first.value - second.value) < 5 * error, name


@pytest.mark.parametrize("name", ["relu", "abs", "quadratic", "linear", "erf", "cos"])
def test_many_test_points_approach_the_exact_average(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the same draws of data and features."""
    problem = dt.Problem(features_per_dim=1.5, ridge=1e-2, activation=name)
    options: dict[str, Any] = {"dim": 8, "n_data": 2, "n_init": 2}
    monkeypatch.setattr("doubletrouble.simulation.draw.drawn_data", data_first)
    exact = dt.simulate(problem, test="exact", **options)
    monkeypatch.setattr("doubletrouble.simulation.plan.n_test_points", lambda *_: 200_000)
    sampled = dt.simulate(problem, test="sample", **options)
    for term, values in exact.draws.items():
        np.testing.assert_allclose(sampled.draws[term], values, rtol=0.02, atol=2e-3)


def data_first(at: Any, rng: np.random.Generator) -> Any:
    """Draw test points from a generator of their own, so that the features stay the same."""
    from doubletrouble.simulation.terms import Data

    (aside,) = rng.spawn(1)
    inputs = [rng.standard_normal((at.n_samples, at.dim)) for _ in range(2)]
    test = aside.standard_normal((at.n_test, at.dim)) if at.n_test else None
    return Data((inputs[0], inputs[1]), None), test


def test_auto_is_exact_where_it_is_cheap() -> None:
    def chosen(features: float, **options: Any) -> str:
        problem = dt.Problem(features_per_dim=features, ridge=0.1, **options)
        return dt.simulate(problem, dim=20, n_data=2, n_init=2).test

    assert chosen(0.5) == "exact"
    assert chosen(4.0) == "sample"
    assert chosen(0.5, activation="tanh") == "sample"
    assert chosen(0.5, nonlinear_signal=1.0) == "sample"


def test_the_outlier_of_uncentred_features() -> None:
    """One eigenvalue near μ₀² N P, its direction that of constant labels; terms move by O(1/D)."""
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
        for size in (50, 200)
    ]
    assert 0 < off[1] < off[0] / 2


def test_divided_among_infinitely_many() -> None:
    problem = dt.Problem(ridge=0.1, nonlinear_signal=0.5)
    run = dt.simulate(
        problem, dim=10, n_data=2, n_init=2, n_members=(1, 2, math.inf), schemes=("divide",)
    )
    for name, expected in vars(dt.exact_error(problem, math.inf, "divide")).items():
        assert getattr(run.error(math.inf, "divide"), name).value == expected


def test_a_kernel_at_any_number_of_infinite_widths() -> None:
    problem = dt.Problem(features_per_dim=math.inf, ridge=0.1)
    run = dt.simulate(
        problem, dim=10, n_data=2, n_init=2, model="kernel", widths=[math.inf, math.inf]
    )
    first, second = np.asarray(run.psi.psi1.value)
    assert first == second > 0


def test_unequal_parts_meet_as_parts_of_one_data_set_do() -> None:
    """N = 3 divided by 2: parts of 1 and 2 samples, whose mean students must meet crosswise."""
    problem = dt.Problem(features_per_dim=4.0, samples_per_dim=0.6, ridge=0.05)
    options: dict[str, Any] = {"dim": 5, "n_data": 4000, "n_init": 2, "progress": False}
    whole = dt.simulate(problem, schemes="divide", n_members=2, **options)
    one, two = (
        dt.simulate(dt.Problem(features_per_dim=4.0, samples_per_dim=n / 5, ridge=0.05), **options)
        for n in (1, 2)
    )
    # isotropy: the mean students are multiples psi1 of the teacher
    alone, together = float(one.psi.psi1.value), float(two.psi.psi1.value)
    found = dt.Estimate.of(whole.divided[2]["psi2_divide"])
    assert abs(float(found.z_score(alone * together))) < 5
    assert abs(float(found.z_score((alone**2 + together**2) / 2))) > 10


def test_sizes_are_those_realized() -> None:
    run = dt.simulate(dt.Problem(features_per_dim=0.333, ridge=0.1), dim=10, n_data=2, n_init=2)
    assert run.problem.features_per_dim == 0.3
    assert run.dim == 10


def test_minimum_norm() -> None:
    """Ridge 0 is the limit of small ridges, also as far down as floats go."""
    options: dict[str, Any] = {"dim": 50, "n_data": 5, "n_init": 2}
    runs = [
        dt.simulate(dt.Problem(features_per_dim=3.0, ridge=ridge), **options)
        for ridge in (0.0, 1e-300, 1e-13)
    ]
    same(runs[0], runs[1], 1e-9)
    same(runs[0], runs[2], 1e-6)


def test_features_of_low_rank() -> None:
    """Linear features of P > D span D directions only: the ridge may still be zero."""
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=2.0, ridge=0.0, activation="linear")
    run = dt.simulate(problem, dim=20, n_data=3, n_init=2)
    assert run.psi.psi1.value == pytest.approx(1.0, abs=1e-9)
    assert run.psi.psi2_vanilla.value == pytest.approx(1.0, abs=1e-9)


def test_progress_is_told_where_it_takes_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def bar(draws: Any, **options: Any) -> Any:
        seen.append(options)
        return draws

    monkeypatch.setattr("tqdm.tqdm", bar)
    for progress in (True, False):
        dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=3, n_init=2, progress=progress)
    assert [(o["total"], o["delay"], o["disable"]) for o in seen] == [(3, 2, None), (3, 2, True)]


def test_what_was_not_simulated_is_not_invented() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=2, n_init=2)
    with pytest.raises(ValueError, match=r"^scheme must be 'ensemble', or 'divide' with n_members"):
        run.error(2, "divide")


def test_a_simulation_is_shown_without_its_draws() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=3, n_init=2)
    assert repr(run).startswith("Simulation(problem=Problem(")
    assert repr(run).endswith("dim=10, model='features', seed=0, n_data=3, n_init=2, test='exact')")


def test_estimates_read_as_a_table() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=3, n_init=2)
    lines = str(run.error()).splitlines()
    assert [line.split()[0] for line in lines] == list(PARTS)
    assert all("±" in line for line in lines)
