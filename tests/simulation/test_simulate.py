"""What `simulate` takes, returns and refuses."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import doubletrouble as dt
from doubletrouble.simulation import place
from doubletrouble.simulation.result import Simulation

PARTS = ("noise", "initialization", "sampling", "bias", "bayes", "total")


def shifted(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.tanh(z + 0.3)


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


def test_large_arrays_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_BLOCK", 7)
    many = place.normals(np.random.default_rng(3), (5, 6))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    np.testing.assert_array_equal(many, place.normals(np.random.default_rng(3), (5, 6)))
    assert np.unique(many).size == 30


@pytest.mark.parametrize(
    ("model", "features", "activation"),
    [
        ("features", 0.5, "relu"),
        ("features", 2.0, "gelu"),
        ("features", 2.0, shifted),
        ("gaussian", 0.5, "erf"),
        ("gaussian", 2.0, "softplus"),
        ("kernel", math.inf, "abs"),
    ],
)
@pytest.mark.parametrize("center", [True, False])
def test_torch_agrees_with_numpy(
    model: str, features: float, activation: Any, center: bool
) -> None:
    problem = dt.Problem(
        features_per_dim=features, ridge=1e-3, activation=activation, nonlinear_signal=0.5
    )
    options: dict[str, Any] = {"dim": 40, "model": model, "n_data": 2, "n_init": 3,
                               "n_members": (1, 3), "schemes": ("ensemble", "divide"),
                               "center": center}  # fmt: skip
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    same(a, b, 1e-9)


@pytest.mark.parametrize("name", dt.activations.NAMES)
def test_every_activation_is_the_same_on_torch(name: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    sigma: Any = dt.activation(name).function
    z = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(sigma(torch.tensor(z)), np.asarray(sigma(z)), rtol=1e-13, atol=1e-15)
    assert np.asarray(sigma(0.5)) == pytest.approx(np.asarray(sigma(np.array([0.5])))[0])


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
    np.testing.assert_allclose(estimates.total.value, theory.total, rtol=0.3)
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
    monkeypatch.setattr("doubletrouble.simulation.plan._test_points", lambda *_: 200_000)
    sampled = dt.simulate(problem, test="sample", **options)
    for term, values in exact.draws.items():
        np.testing.assert_allclose(sampled.draws[term], values, rtol=0.02, atol=2e-3)


def data_first(at: Any, rng: np.random.Generator) -> Any:
    """Draw test points from a generator of their own, so that the features stay the same."""
    from doubletrouble.simulation.terms import Labels

    (aside,) = rng.spawn(1)
    inputs = [rng.standard_normal((at.n_samples, at.dim)) for _ in range(2)]
    test = aside.standard_normal((at.n_test, at.dim)) if at.n_test else None
    return [Labels(x, None) for x in inputs], test


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


def test_float32() -> None:
    options: dict[str, Any] = {"dim": 60, "n_data": 4, "n_init": 2, "center": True}
    problem = dt.Problem(features_per_dim=1.0, ridge=1e-3)
    exact, single = (dt.simulate(problem, dtype=d, **options) for d in ("float64", "float32"))
    same(exact, single, 5e-3)
    assert single.dtype == "float32"
    with pytest.raises(
        ValueError, match=r"^ridge must be at least .* for dtype 'float32'.*, got 1"
    ):
        dt.simulate(dt.Problem(ridge=1e-9), dtype="float32", **options)
    with pytest.raises(ValueError, match=r"^dtype must be one of float64, float32, got 'float16'"):
        dt.simulate(problem, dtype="float16", **options)


def test_sizes_are_those_realized() -> None:
    run = dt.simulate(dt.Problem(features_per_dim=0.333, ridge=0.1), dim=10, n_data=2, n_init=2)
    assert run.problem.features_per_dim == 0.3
    assert run.dim == 10


def test_minimum_norm() -> None:
    """At ridge 0 with P > N every noise-free training label is met: Ψ₁ is the plateau's."""
    problem = dt.Problem(features_per_dim=3.0, ridge=0.0)
    run = dt.simulate(problem, dim=100, n_data=20, n_init=2)
    assert run.psi.psi1.value == pytest.approx(dt.psi_terms(problem).psi1, rel=0.02)
    tiny = dt.simulate(dt.Problem(features_per_dim=3.0, ridge=1e-300), dim=100, n_data=20, n_init=2)
    same(run, tiny, 1e-9)


def test_features_of_low_rank() -> None:
    """Linear features of P > D span D directions only: the ridge may still be zero."""
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=2.0, ridge=0.0, activation="linear")
    run = dt.simulate(problem, dim=20, n_data=3, n_init=2)
    assert run.psi.psi1.value == pytest.approx(1.0, abs=1e-9)
    assert run.psi.psi2_vanilla.value == pytest.approx(1.0, abs=1e-9)


def test_a_long_run_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """Only to a terminal, and only after two seconds: nothing here."""
    dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=2, n_init=2)
    assert capsys.readouterr().err == ""


def test_what_was_not_simulated_is_not_invented() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=2, n_init=2)
    with pytest.raises(ValueError, match=r"^scheme must be 'ensemble', or 'divide' with n_members"):
        run.error(2, "divide")


def test_estimates_read_as_a_table() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=10, n_data=3, n_init=2)
    lines = str(run.error()).splitlines()
    assert [line.split()[0] for line in lines] == list(PARTS)
    assert all("±" in line for line in lines)
