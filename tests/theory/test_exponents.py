"""Exponents by cause: against differences, asymptotic laws, and identities without ridge."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import doubletrouble as dt
from doubletrouble.results import Exponents

PARTS = ["noise", "initialization", "sampling", "bias", "total"]
SIZES = {"by_n_samples": "n_samples", "by_n_features": "n_features"}
SOURCES = np.array([0.25, 0.4, 0.75, 0.9, 1.4])


def law(
    capacity: float, source: float, n_modes: float = math.inf, **sizes: Any
) -> dt.SpectralProblem:
    power = dt.PowerLaw(capacity=capacity, source=source, n_modes=n_modes)
    return dt.SpectralProblem.from_law(power, **sizes)


def table(exponents: Exponents) -> np.ndarray:
    """All exponents of the four parts, (direction, part, ...)."""
    directions = (exponents.by_n_samples, exponents.by_n_features, exponents.by_n_members)
    return np.array([[getattr(one, part) for part in PARTS[:-1]] for one in directions])


@pytest.mark.parametrize("members", [1, 7, math.inf])
def test_local_exponents_are_derivatives_of_logarithms(members: float) -> None:
    rng = np.random.default_rng(3)
    problem = dt.SpectralProblem(
        eigenvalues=np.sort(rng.exponential(size=60))[::-1] * 0.9 ** np.arange(60),
        target_powers=rng.exponential(size=60),
        tail=0.01,
        n_features=np.array([10.0, 25.0, 80.0, 400.0]),
        n_samples=np.array([40.0, 30.0, 20.0, 33.0]),
        gram_ridge=np.array([0.0, 1e-3, 0.1, 0.0]),
        noise=0.3,
        nonlinear_signal=0.2,
    )
    exponents = dt.exponents(problem, members)
    step = 1e-4
    for direction, size in SIZES.items():
        up, down = (
            dt.exact_error(
                replace(problem, **{size: getattr(problem, size) * math.exp(h)}), members
            )
            for h in (step, -step)
        )
        for part in PARTS:
            if part == "initialization" and members == math.inf:
                continue  # 0: the exponent is the limit
            with np.errstate(divide="ignore"):
                slope = np.log(getattr(up, part) / getattr(down, part)) / (2 * step)
            ours = getattr(getattr(exponents, direction), part)
            np.testing.assert_allclose(ours, slope, atol=2e-6, err_msg=f"{part} {direction}")


def test_exponents_by_n_members_are_those_of_one_over_k() -> None:
    problem = law(1.5, 0.8, n_features=2e3, n_samples=1e3, noise=0.5)
    few, many = dt.exact_error(problem, 1000), dt.exact_error(problem, 1001)
    exponents = dt.exponents(problem, 1000).by_n_members
    for part in PARTS:
        slope = math.log(getattr(many, part) / getattr(few, part)) / math.log(1001 / 1000)
        assert getattr(exponents, part) == pytest.approx(slope, rel=1e-3, abs=1e-12)


@pytest.mark.parametrize("size", [1e-3, 30.0])
def test_exponents_of_absent_parts_are_limits(size: float) -> None:
    sizes: dict[str, Any] = {"n_features": 300.0, "n_samples": 100.0}
    silent, noisy = (dt.exponents(law(1.5, 0.8, noise=noise, **sizes)) for noise in (0.0, size))
    np.testing.assert_allclose(table(silent), table(noisy), rtol=1e-12)
    many, kernel = dt.exponents(law(1.5, 0.8, **sizes), math.inf), law(1.5, 0.8, **sizes)
    assert many.by_n_features.initialization == pytest.approx(silent.by_n_features.initialization)
    wide = dt.exponents(replace(kernel, n_features=math.inf))
    wider = dt.exponents(replace(kernel, n_features=1e15))
    np.testing.assert_allclose(table(wide), table(wider), atol=1e-9)


def test_exponents_at_the_peak_are_infinite() -> None:
    peak = dt.exponents(dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0), 3)
    assert peak.by_n_samples.noise == peak.by_n_features.total == -math.inf
    assert peak.by_n_members.total == peak.by_n_members.noise == -1
    assert peak.asymptotic is None
    many = dt.exponents(law(1.5, 0.8, n_features=100.0, n_samples=100.0, noise=0.1), math.inf)
    assert many.by_n_samples.noise == pytest.approx(-1.49, abs=0.01)  # to the right: N > P
    assert many.by_n_members.noise == 0


MANY = 10**6  # models
# Sizes deep in a regime, and the ridge.
REGIMES: dict[str, dict[str, Any]] = {
    "samples": {"n_features": 1e18, "n_samples": 1e12},
    "features": {"n_features": 1e12, "n_samples": 1e18},
    "ridge": {"n_features": 1e16, "n_samples": 1e16, "gram_ridge": 1e4},
}


def deviation(regime: str, capacity: float, source: float, wrong: tuple[float, float]) -> float:
    """The largest difference of local exponents from those of the law with other α and r."""
    sizes = REGIMES[regime]
    local = dt.exponents(law(capacity, source, noise=0.1, **sizes), MANY)
    other = dt.exponents(law(capacity + wrong[0], source + wrong[1], noise=0.1, **sizes), MANY)
    assert local.regime == other.regime == regime
    assert other.asymptotic is not None
    return float(np.abs(table(local) - table(other.asymptotic)).max())


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("capacity", [1.3, 1.5, 2.2])
def test_local_exponents_tend_to_the_law_of_their_regime(regime: str, capacity: float) -> None:
    for source in SOURCES:
        assert deviation(regime, capacity, source, (0.0, 0.0)) < 0.02
        # controls: the laws of another capacity, and of another source, are excluded
        assert deviation(regime, capacity, source, (0.3, 0.0)) > 0.03
        if source < 0.95:  # saturated beyond 1
            assert deviation(regime, capacity, source, (0.0, 0.05)) > 0.03


@pytest.mark.parametrize("capacity", [1.3, 2.2])
@pytest.mark.parametrize("source", [0.3, 0.7, 1.3])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_rates_of_kernel_regression_at_the_best_ridge(
    capacity: float, source: float, noise: float
) -> None:
    problem = law(capacity, source, n_features=math.inf, n_samples=1e14, noise=noise)
    slope = float(dt.exponents(problem, ridge="best").by_n_samples.total)
    b = 2 * capacity * min(source, 1.0)
    rate = -b / (b + 1) if noise else -b
    assert slope == pytest.approx(rate, abs=0.02)
    b = 2 * (capacity + 0.6) * min(source, 1.0)
    assert abs(slope + (b / (b + 1) if noise else b)) > 0.02  # control


def test_exponents_at_the_best_ridge_tend_to_their_laws() -> None:
    regimes: dict[str, tuple[float, float, float]] = {
        "features": (1e8, 1e40, MANY),
        "noise": (1e25, 1e16, MANY),
        "noise and initialization": (1e18, 1e40, 1),
    }
    for regime, (P, N, K) in regimes.items():
        sizes = {"n_features": P, "n_samples": N}
        exponents = dt.exponents(law(1.5, 0.8, noise=1.0, **sizes), K, ridge="best")
        assert exponents.regime == regime
        assert exponents.asymptotic is not None
        np.testing.assert_allclose(table(exponents), table(exponents.asymptotic), atol=0.03)


@pytest.mark.parametrize("source", [0.3, 0.8])
@pytest.mark.parametrize(
    ("regime", "P", "N", "ridge"),
    [
        ("samples", 1e20, 1e14, 0.0),
        ("samples", 1e12, 1e4, 0.0),
        ("features", 1e14, 1e24, 0.0),
        ("features", 1e4, 1e12, 0.0),
        ("features", 1e9, 1e18, 1e-3),  # the ridge would limit a law without the knee
        ("ridge", 1e30, 1e30, 1e3),
        ("ridge", 1e10, 1e10, 1e5),
    ],
)
def test_two_power_laws_have_the_exponents_of_their_side(
    regime: str, P: float, N: float, ridge: float, source: float
) -> None:
    early = min(P, N, (N / ridge) ** 0.7 if ridge else N) < 1e8
    bent = dt.SpectralProblem.from_law(
        dt.TwoPowerLaw(capacity=1.3, later_capacity=2.5, knee=1e8 if early else 1e6, source=source),
        n_features=P,
        n_samples=N,
        gram_ridge=ridge,
        noise=0.1,
    )
    exponents = dt.exponents(bent, MANY)
    assert exponents.regime == regime
    assert exponents.asymptotic is not None
    np.testing.assert_allclose(table(exponents), table(exponents.asymptotic), atol=0.05)


def test_regimes_change_where_their_degrees_of_freedom_are_equal() -> None:
    """Also for noise other than 1, and a target so rough that initialization never limits."""
    b = 2 * 1.5 * 0.8
    for noise in (0.01, 3.0):
        limit = 1e8 ** (1 + b) * noise**2  # samples at which z = P balances noise and bias
        for factor, regime in ((1e-4, "noise"), (1e9, "features")):
            problem = law(1.5, 0.8, n_features=1e8, n_samples=limit * factor, noise=noise)
            assert dt.exponents(problem, 1e20, ridge="best").regime == regime
    rough = law(1.5, 0.2, n_features=1e6, n_samples=1e8, noise=1.0)
    assert dt.exponents(rough, ridge="best").regime == "noise"  # not "noise and initialization"


def test_exponents_at_the_best_ridge_are_derivatives() -> None:
    problem = law(1.5, 0.8, n_features=3e3, n_samples=2e3, noise=0.3)
    exponents = dt.exponents(problem, 2, ridge="best")
    for direction, size in SIZES.items():
        slopes = []
        for step in (0.02, 0.01):
            up, down = (
                dt.optimal_ridge(
                    replace(problem, **{size: getattr(problem, size) * math.exp(h)}), 2
                ).error
                for h in (step, -step)
            )
            slopes.append(
                {k: math.log(getattr(up, k) / getattr(down, k)) / (2 * step) for k in PARTS}
            )
        for part in PARTS:
            richardson = (4 * slopes[1][part] - slopes[0][part]) / 3
            ours = getattr(getattr(exponents, direction), part)
            assert ours == pytest.approx(richardson, abs=1e-5)


def test_initialization_of_infinitely_many_models_falls_as_one_over_k() -> None:
    problem = law(1.5, 0.8, n_features=3e3, n_samples=2e3, noise=0.3)
    best = dt.exponents(problem, math.inf, ridge="best")
    assert best.by_n_members.initialization == pytest.approx(-1)
    assert best.by_n_members.noise == pytest.approx(0.0, abs=1e-9)


def test_a_nonlinear_target_has_no_asymptotic_exponents_and_test_noise_is_constant() -> None:
    sizes: dict[str, Any] = {"n_features": 1e9, "n_samples": 1e8}
    assert dt.exponents(law(1.5, 0.8, nonlinear_signal=0.3, **sizes)).asymptotic is None
    constant = dt.exponents(law(1.5, 0.8, test_noise=1.0, **sizes))
    assert constant.asymptotic is not None
    assert constant.asymptotic.by_n_samples.total == 0
    assert constant.by_n_samples.total == pytest.approx(0.0, abs=1e-6)


def test_total_features_on_a_path_fall_with_the_slower_of_two_laws() -> None:
    deviations, wrong = [], []
    for capacity in (1.2, 1.5, 2.0, 3.0):
        for source in (0.3, 0.7, 1.3):
            b, c = 2 * capacity * min(source, 1.0), 2 * capacity * min(source, 0.5)
            crossover = 1 / (1 + b - c)
            for ell in (0.3, 0.6, 0.9):
                if abs(ell - crossover) < 0.08:
                    continue
                P, K = 1e20**ell, float(round(1e20 ** (1 - ell)))
                problem = law(capacity, source, n_features=P, n_samples=1e45)
                local = dt.exponents(problem, K)
                assert local.asymptotic is not None
                s = min(ell * b, 1 - ell + ell * c)
                path = {"n_features": ell, "n_members": 1 - ell}
                deviations.append(float(local.along(**path).total) + s)
                assert local.asymptotic.along(**path).total == pytest.approx(-s)
                wrong.append(float(local.along(**path).total) + min(ell * b, 1 - ell + ell * b))
    assert len(deviations) >= 27
    assert np.abs(deviations).max() < 0.02
    assert np.abs(wrong).max() > 0.1  # control: the law without the limit of the source at 1/2


def unexplained(eigenvalues: np.ndarray, powers: np.ndarray, noise: float, size: float) -> float:
    """σ² + Σ v² (1 - L), with degrees of freedom of `size`."""
    y = brentq(
        lambda y: np.sum(eigenvalues * y / (1 + eigenvalues * y)) - size,
        1e-6,
        1e12,
        xtol=1e-300,
        rtol=1e-15,
    )
    return float(noise**2 + np.sum(powers / (1 + eigenvalues * y)))


@pytest.mark.parametrize("seed", range(5))
def test_identities_without_ridge_hold_for_any_spectrum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    eigenvalues, powers = rng.exponential(size=(2, 80)) * np.geomspace(1, 1e-4, 80)
    N, noise = 30.0, 0.4
    wide = dt.SpectralProblem(
        eigenvalues=eigenvalues,
        target_powers=powers,
        n_features=[31.0, 60.0, 1e4],
        n_samples=N,
        noise=noise,
    )
    A = unexplained(eigenvalues, powers, noise, N)
    for K in (1, 4):
        excess = dt.exact_error(wide, K).total - dt.exact_error(wide, math.inf).total
        predicted = A / (K * (np.asarray(wide.n_features) / N - 1))
        np.testing.assert_allclose(excess, predicted, rtol=1e-9)
    narrow = replace(wide, n_features=12.0)
    expected = unexplained(eigenvalues, powers, noise, 12.0) * N / (N - 12.0) - noise**2
    assert dt.exact_error(narrow).total == pytest.approx(expected, rel=1e-12)


def test_laws_without_a_power_of_their_own_have_no_asymptotic_exponents() -> None:
    sizes: dict[str, Any] = {"n_features": 1e6, "n_samples": 1e5}
    assert dt.exponents(law(1.5, 0.8, n_modes=1e7, **sizes)).asymptotic is None
    exponential = dt.SpectralProblem.from_law(dt.ExponentialLaw(scale=1e3, source=0.5), **sizes)
    assert dt.exponents(exponential).asymptotic is None
    bent = dt.SpectralProblem.from_law(
        dt.TwoPowerLaw(capacity=1.2, later_capacity=2.0, knee=1e3, source=0.4), **sizes
    )
    later = dt.exponents(bent).asymptotic
    assert later is not None
    assert later.by_n_samples.bias == pytest.approx(-2 * 2.0 * 0.4)


def test_frame_has_a_row_for_each_point_and_part() -> None:
    exponents = dt.exponents(law(1.5, 0.8, n_features=[1e3, 1e9], n_samples=1e6))
    frame = exponents.to_frame()
    assert len(frame) == 2 * len(PARTS)
    bias = frame[frame["part"] == "bias"]
    assert bias["by_n_features"].tolist() == np.asarray(exponents.by_n_features.bias).tolist()
    assert bias["regime"].tolist() == ["features", "samples"]
    lines = str(exponents).splitlines()
    assert [line.split()[-1] for line in lines[2:4]] == ["features", "samples"]
    axes: Any = exponents.plot()
    assert axes.get_xlabel() == "features P"
    shown = {text.get_text() for text in axes.get_legend().get_texts()}
    assert shown == {f"{law}by {size}" for law in ("", "law, ") for size in "NPK"}
    point = dt.exponents(law(1.5, 0.8, n_features=1e3, n_samples=1e6)).plot()
    rows = [label.get_text() for label in point.get_yticklabels()]
    assert rows == ["by N", "law, by N", "by P", "law, by P", "by K", "law, by K"]
    path = exponents.along(n_samples=1.0)
    assert path.to_frame()["total"].tolist() == np.asarray(path.total).tolist()


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="ridge must be one of fixed, best"):
        dt.exponents(law(1.5, 0.8, n_features=9, n_samples=9), ridge="free")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ensemble must be one of Ensemble"):
        dt.exponents(law(1.5, 0.8, n_features=9, n_samples=9), dt.Divide(2))
    with pytest.raises(ValueError, match="loss must be squared"):
        dt.exponents(dt.Problem(loss="huber"))


@pytest.mark.parametrize("activation", ["abs", "cos"])
def test_exponents_at_the_best_ridge_of_activations_without_a_linear_part(activation: str) -> None:
    slopes = dt.exponents(dt.Problem(activation=activation, noise=0.5), 2, ridge="best")
    assert slopes.by_n_samples.sampling == -np.inf  # the part is 0
    assert np.isfinite(slopes.by_n_samples.total)
