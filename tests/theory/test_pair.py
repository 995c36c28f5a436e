"""Two learners: against 60 digits, in every special case, and at the edges."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import correlation
from doubletrouble.theory import psi_terms
from tests import pair_oracle
from tests.theory import oracle

LEARNERS: dict[str, dict[str, Any]] = {
    "wide": {"features_per_dim": 2.0, "samples_per_dim": 1.0, "ridge": 1e-3},
    "narrow": {"features_per_dim": 0.5, "samples_per_dim": 0.8, "ridge": 1e-2},
    "peak": {"features_per_dim": 1.0, "samples_per_dim": 1.0, "ridge": 1e-8},
    "rich": {"features_per_dim": 3.0, "samples_per_dim": 4.0, "ridge": 0.3},
}


def learner(name: str, activation: str = "relu", **changes: Any) -> dt.Member:
    return dt.Member(**{**LEARNERS[name], **changes}, activation=activation)


def expected(a: Any, b: Any, features: float, samples: float, noise: float) -> float:
    halves = [
        pair_oracle.half(
            one.features_per_dim,
            one.samples_per_dim,
            one.ridge,
            mpmath.mpf(one.moments.linear),
            mpmath.mpf(one.moments.nonlinear),
        )
        for one in (a, b)
    ]
    names = (a.moments.name, b.moments.name)
    a_half, b_half = halves
    shared = (features, samples, oracle.tails(*names))
    return float(pair_oracle.error(a_half, b_half, *shared, signal=1.3, noise=noise))


@pytest.mark.parametrize(
    ("a", "b", "features", "samples"),
    [
        (learner("wide"), learner("narrow", "tanh"), 0.3, 0.8),
        (learner("peak"), learner("peak", ridge=1e-4), 1.0, 1.0),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (
                (learner("wide"), learner("narrow"), 0.3, 0.8),
                (learner("wide"), learner("narrow", "gelu"), 0.5, 0.5),
                (learner("rich", "erf"), learner("narrow", "tanh"), 0.5, 0.0),
                (learner("rich", "tanh"), learner("peak"), 0.0, 1.0),
                (learner("peak"), learner("peak"), 0.999, 0.999),
                (learner("peak", "erf"), learner("peak", "gelu"), 1.0, 1.0),
            )
        ),
    ],
)
def test_pair_error_equals_high_precision(
    a: dt.Member, b: dt.Member, features: float, samples: float
) -> None:
    sharing: dict[str, Any] = {"shared_features": features, "shared_samples": samples}
    result = dt.pair_error(a, b, **sharing, signal=1.3, noise=0.5).total
    assert result == pytest.approx(expected(a, b, features, samples, 0.5), rel=2e-13)
    assert dt.pair_error(b, a, **sharing, signal=1.3, noise=0.5).total == pytest.approx(
        result, rel=1e-13
    )


def test_different_activations_change_the_product() -> None:
    """Negative control: with one activation for both, the product differs."""
    a, b = learner("wide"), learner("narrow", "tanh")
    result = dt.pair_error(a, b, shared_features=0.5, shared_samples=0.8).total
    alike = dt.pair_error(a, learner("narrow"), shared_features=0.5, shared_samples=0.8).total
    assert np.abs(result - alike) > 0.05 * np.abs(result)


def test_schemes_are_special_cases_of_pairs() -> None:
    width = np.array([0.3, 1.0, 1 + 1e-12, 4.0, math.inf])[:, None]
    sizes: dict[str, Any] = {
        "features_per_dim": width,
        "samples_per_dim": 1.0,
        "ridge": [0.0, 1e-300, 1e-5, 1.0, math.inf],
    }
    one = dt.Member(**sizes)
    powers: dict[str, Any] = {"noise": 0.5, "nonlinear_signal": 0.3}
    problem = dt.Problem(**sizes, **powers)
    psi, single = psi_terms(problem), dt.exact_error(problem)

    def same(result: Any, known: Any, name: str = "") -> None:
        np.testing.assert_allclose(result, known, rtol=1e-12, atol=1e-12, err_msg=name)

    for features, terms in ((width, single), (0.0, dt.exact_error(problem, math.inf))):
        result = dt.pair_error(one, one, shared_features=features, shared_samples=1.0, **powers)
        for name in ("noise", "initialization", "sampling", "bias"):
            same(getattr(result, name), getattr(terms, name), name)
    fresh = dt.pair_error(one, one, shared_features=width, **powers).total
    same(fresh, 1 - 2 * np.asarray(psi.psi1) + psi.psi2_features + 0.09)
    same(dt.pair_error(one, one, **powers).total, single.bias)


def test_parts_without_overlap_are_zero() -> None:
    a, b = learner("wide"), learner("narrow", "tanh")
    samples = dt.pair_error(a, b, shared_samples=0.8)
    assert samples.initialization == 0
    assert samples.sampling > 0
    features = dt.pair_error(a, b, shared_features=0.5)
    assert features.sampling == features.noise == 0
    assert features.initialization > 0


def test_rescaled_activation_is_the_same_learner() -> None:
    """-2 relu with four times the ridge is relu with its weights divided by -2."""
    relu = learner("wide")
    other = dt.Member(
        **{**LEARNERS["wide"], "ridge": 4e-3}, activation=lambda z: -2 * np.maximum(z, 0.0)
    )
    sharing: dict[str, Any] = {"shared_features": 1.5, "shared_samples": 0.7, "noise": 0.4}
    assert dt.pair_error(relu, other, **sharing).total == pytest.approx(
        dt.pair_error(relu, relu, **sharing).total, rel=1e-11
    )


def test_flat_spectrum_equals_the_isotropic_problem() -> None:
    problems = [
        dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-2, noise=0.5),
        dt.Problem(features_per_dim=0.7, samples_per_dim=0.5, ridge=0.1, noise=0.5),
    ]
    spectra = [dt.SpectralProblem.from_problem(problem, dim=7) for problem in problems]
    learners = [
        dt.Member(
            features_per_dim=p.features_per_dim, samples_per_dim=p.samples_per_dim, ridge=p.ridge
        )
        for p in problems
    ]
    flat = dt.pair_error(*learners, shared_features=0.6, shared_samples=0.3, noise=0.5).total
    counted = dt.pair_error(*spectra, shared_features=0.6 * 7, shared_samples=0.3 * 7).total
    assert counted == pytest.approx(flat, rel=1e-13)


def test_pair_error_of_a_spectrum_equals_the_printed_formula() -> None:
    levels, powers = np.array([2.0, 0.5, 0.1, 0.03]), np.array([1.0, 0.3, 0.2, 0.4])
    tail, noise, shared_features, shared_samples = 0.05, 0.6, 4.0, 3.0
    spectrum: dict[str, Any] = {
        "eigenvalues": levels,
        "target_powers": powers,
        "tail": tail,
        "noise": noise,
    }
    a = dt.SpectralProblem(**spectrum, n_features=9, n_samples=6, gram_ridge=0.02)
    b = dt.SpectralProblem(**spectrum, n_features=5, n_samples=8, gram_ridge=0.3)

    def effective(k: float, n: float, delta: float) -> float:
        low, high = 1e-9, 1e9
        for _ in range(300):
            g = math.sqrt(low * high)
            z = float(np.sum(levels / (levels + g))) + tail / g
            small = z < min(k, n) and g * (1 - z / k) * (1 - z / n) > delta / n
            low, high = (low, g) if small else (g, high)
        return g

    ga, gb = effective(9, 6, 0.02), effective(5, 8, 0.3)
    w = 1 / ((levels + ga) * (levels + gb))
    Q, S = np.sum(levels**2 * w), np.sum(levels * w) + tail / (ga * gb)
    c1, c2 = shared_features / 45, shared_samples / 48
    T = Q + c1 * ga * gb * S**2 / (1 - c1 * Q)
    N = np.sum(powers * ga * gb * w * (1 + c1 * levels * S / (1 - c1 * Q)))
    result = dt.pair_error(
        a, b, shared_features=shared_features, shared_samples=shared_samples
    ).total
    assert result == pytest.approx((N + noise**2 * c2 * T) / (1 - c2 * T), rel=1e-12)


@pytest.mark.parametrize("activation", ["relu", "tanh", "cos", "linear"])
def test_pair_error_satisfies_cauchy_schwarz(activation: str) -> None:
    """|E ab| is at most the root of E a² E b², for every overlap."""
    rng, count = np.random.default_rng(4), 500
    a, b = (
        dt.Member(
            features_per_dim=10 ** rng.uniform(-2, 2, count),
            samples_per_dim=10 ** rng.uniform(-2, 2, count),
            ridge=10 ** rng.uniform(-6, 2, count),
            activation=name,
        )
        for name in ("relu", activation)
    )
    k = rng.choice([0.0, 0.5, 1.0], count) * np.minimum(a.features_per_dim, b.features_per_dim)
    n = rng.choice([0.0, 0.5, 1.0], count) * np.minimum(a.samples_per_dim, b.samples_per_dim)
    both = dt.pair_error(a, b, shared_features=k, shared_samples=n).total
    own: list[Any] = [
        dt.pair_error(
            one, one, shared_features=one.features_per_dim, shared_samples=one.samples_per_dim
        ).total
        for one in (a, b)
    ]
    assert np.all(np.abs(both) <= np.sqrt(own[0] * own[1]) * (1 + 1e-9))


def test_peak_requires_shared_features_and_samples() -> None:
    at_peak = learner("peak", ridge=0.0)
    everything = dt.pair_error(at_peak, at_peak, shared_features=1.0, shared_samples=1.0).total
    assert everything == math.inf
    for features, samples in ((1.0, 0.0), (0.0, 1.0), (0.9, 1.0), (1.0, 0.9)):
        part = dt.pair_error(
            at_peak, at_peak, shared_features=features, shared_samples=samples
        ).total
        assert math.isfinite(part)


def test_arrays_broadcast() -> None:
    a = dt.Member(features_per_dim=np.array([0.5, 2.0]))
    result = dt.pair_error(a, dt.Member(), shared_samples=np.array([[0.0], [1.0]])).total
    assert np.shape(result) == (2, 2)
    one = dt.Member(features_per_dim=2.0)
    assert np.asarray(result)[1, 1] == dt.pair_error(one, dt.Member(), shared_samples=1.0).total


def test_overlaps_and_powers_are_validated() -> None:
    invalid: dict[str, tuple[float, ...]] = {
        "shared_features": (0.6,),  # above the features of one
        "shared_samples": (1.1, -0.1),
        "noise": (-1.0,),
    }
    for name, values in invalid.items():
        for value in values:
            with pytest.raises(ValueError, match=f"^{name} must .* got {value}"):
                dt.pair_error(learner("wide"), learner("narrow"), **{name: value})


def test_pair_of_problems_has_their_target() -> None:
    sizes: dict[str, Any] = {"features_per_dim": 2.0, "samples_per_dim": 1.0, "ridge": 1e-2}
    powers: dict[str, Any] = {"signal": 1.3, "noise": 0.4, "nonlinear_signal": 0.2}
    problem, member = dt.Problem(**sizes, **powers), dt.Member(**sizes)
    common: dict[str, Any] = {"shared_features": 1.5, "shared_samples": 0.7}
    result = dt.pair_error(problem, problem, **common)
    assert result == dt.pair_error(member, member, **common, **powers)
    with pytest.raises(ValueError, match=r"^noise must be the same"):
        dt.pair_error(problem, dt.Problem(**sizes, signal=1.3, nonlinear_signal=0.2))


def test_members_must_be_of_one_kind() -> None:
    spectrum: dict[str, Any] = {"eigenvalues": [1.0], "target_powers": [1.0], "n_features": 3}
    a = dt.SpectralProblem(**spectrum, n_samples=2)
    with pytest.raises(TypeError, match=r"^b must be a Member as a is, got a SpectralProblem"):
        dt.pair_error(learner("wide"), a)
    with pytest.raises(TypeError, match=r"^b must be a Member, Problem or Spec.* got int"):
        dt.pair_error(learner("wide"), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^tail must be the same"):
        dt.pair_error(a, dt.SpectralProblem(**spectrum, n_samples=2, tail=0.1))
    with pytest.raises(ValueError, match=r"^noise must be left out"):
        dt.pair_error(a, a, noise=1.0)


def test_members_must_be_of_ridge_regression() -> None:
    problem, classes = dt.Problem(loss="huber"), dt.Problem(task="classification", flips=0.1)
    with pytest.raises(ValueError, match=r"^loss must be squared for pair_error, got huber:1.0"):
        dt.pair_error(dt.Problem(), problem)
    with pytest.raises(ValueError, match=r"^loss must be squared for committee, got huber:1.0"):
        dt.committee([problem, problem])
    with pytest.raises(ValueError, match=r"^task must be regression for committee, got class"):
        dt.committee([classes, classes])


def test_members_with_noise_of_heavy_tails_have_its_variance() -> None:
    heavy = dt.Problem(noise=dt.Mixture([(0.9, 0.5), (0.1, 4.0)]))
    usual = dt.Problem(noise=heavy.noise_sd)
    pairs = [dt.pair_error(one, one, shared_samples=1.0) for one in (heavy, usual)]
    assert pairs[0] == pairs[1]
    assert dt.committee([heavy, heavy]).error == dt.committee([usual, usual]).error


def test_correlation_requires_a_function() -> None:
    known = dt.Activation(name="mine", mean=0.0, linear=0.5, nonlinear=0.3)
    a, b = dt.Member(activation=known), dt.Member()
    assert math.isfinite(dt.pair_error(a, b, shared_samples=1.0).total)
    with pytest.raises(ValueError, match=r"^activation must have a function"):
        dt.pair_error(a, b, shared_features=1.0)


def test_activations_of_one_parity_are_correlated() -> None:
    relu, even, odd = (dt.activation(name) for name in ("relu", "abs", "tanh"))
    assert correlation(relu, even) == pytest.approx(1.0, abs=1e-13)
    assert correlation(relu, odd) == pytest.approx(0.0, abs=1e-13)
    assert correlation(odd, dt.activation("linear")) == 0.0
    negative = dt.activation(lambda z: -np.maximum(z, 0.0))
    assert correlation(relu, negative) == pytest.approx(-1.0, abs=1e-12)
