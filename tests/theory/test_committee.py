"""Committees: equal members, optimal weights, overlaps, and invalid arguments."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble._numbers import plain
from doubletrouble.results import Committee
from tests.messages import message_of

WIDE = dt.Member(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3)
NARROW = dt.Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-2, activation="tanh")
PEAK = dt.Member(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0)


def random_committee(seed: int) -> tuple[list[dt.Member], str]:
    rng = np.random.default_rng(seed)
    members = [
        dt.Member(
            features_per_dim=rng.uniform(0.1, 5),
            samples_per_dim=rng.uniform(0.3, 3),
            ridge=10 ** rng.uniform(-5, 1),
            activation=str(rng.choice(["relu", "tanh", "erf"])),
        )
        for _ in range(rng.integers(2, 7))
    ]
    return members, ("samples", "features", "both", "nothing")[seed % 4]


@pytest.mark.parametrize("weights", ["equal", "optimal"])
def test_equal_members_are_an_ensemble(weights: str) -> None:
    for members, ridge in itertools.product((1, 2, 10), (0.0, 1e-3, 1.0)):
        sizes: dict[str, Any] = {"features_per_dim": 2.0, "samples_per_dim": 1.0, "ridge": ridge}
        problem = dt.Problem(**sizes, noise=0.5, nonlinear_signal=0.2)
        known = dt.exact_error(problem, members)
        result = dt.committee(
            [dt.Member(**sizes)] * members, weights=weights, noise=0.5, nonlinear_signal=0.2
        )
        for name in ("noise", "initialization", "sampling", "bias", "total"):
            assert getattr(result.error, name) == pytest.approx(getattr(known, name), rel=1e-12)
        assert result.weights == pytest.approx(np.full(members, 1 / members), rel=1e-9)


def test_best_weights_do_not_depend_on_the_size_of_the_target() -> None:
    def best(size: float, signal: float) -> Committee:
        target: dict[str, Any] = {"signal": signal * size, "noise": 0.5 * size}
        return dt.committee([WIDE, PEAK, NARROW], weights="optimal", **target)

    for signal in (0.0, 1.0):
        known = best(1.0, signal)
        for size in (1e-300, 1e-200, 1e-162, 1e-158, 1e-150, 1e150):
            result = best(size, signal)
            np.testing.assert_allclose(result.weights, known.weights, rtol=1e-12)
            assert result.error.total == pytest.approx(size**2 * known.error.total, rel=1e-6)


def test_best_weights_of_members_without_bias() -> None:
    """Linear members with more samples than dimensions: only the noise has an effect."""
    exact = [
        dt.Member(features_per_dim=p, samples_per_dim=n, ridge=0.0, activation="linear")
        for p, n in ((2.0, 3.0), (2.0, 1.5))
    ]
    alone = dt.committee(exact, sharing="nothing", weights="optimal", signal=0.0, noise=1.0)
    for noise in (1e-10, 1e-140, 1e-158, 1e-162, 1e-300):
        best = dt.committee([WIDE, *exact], sharing="nothing", weights="optimal", noise=noise)
        np.testing.assert_allclose(best.weights, [0, *alone.weights], atol=1e-9)


def test_members_without_overlap_equal_divided_data() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=3.0, ridge=0.1, noise=0.5)
    third = dt.Member(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    result = dt.committee([third] * 3, sharing="nothing", noise=0.5)
    assert result.error.total == pytest.approx(
        dt.exact_error(problem, dt.Divide(3)).total, rel=1e-12
    )


def test_optimal_weights_have_the_least_error() -> None:
    """The least of wᵀ R w with the sum of w equal to 1 is 1/(1ᵀ R⁻¹ 1)."""
    for seed in range(20):
        members, sharing = random_committee(seed)
        best = dt.committee(members, sharing=sharing, weights="optimal", noise=0.7)
        R, w = best.pair_errors, best.weights
        assert best.error.total == pytest.approx(w @ R @ w, rel=1e-12)
        assert best.error.total <= 1 / np.linalg.solve(R, np.ones(len(members))).sum() + 1e-10
        moved = w + 0.05 * np.random.default_rng(seed).standard_normal(len(members))
        moved /= moved.sum()
        assert moved @ R @ moved > best.error.total + 1e-10  # above rounding


def test_pair_errors_are_a_positive_semidefinite_matrix() -> None:
    for seed in range(20):
        members, sharing = random_committee(seed)
        R = dt.committee(members, sharing=sharing).pair_errors
        assert np.array_equal(R, R.T)
        assert np.linalg.eigvalsh(R)[0] > -1e-12


def test_parts_add_up() -> None:
    result = dt.committee([WIDE, NARROW], weights=[0.7, 0.3], noise=0.5)
    w = np.array([0.7, 0.3])
    assert result.error.total == pytest.approx(w @ result.pair_errors @ w, rel=1e-13)
    assert sum(result.error.parts.values()) == pytest.approx(result.error.total, rel=1e-13)
    assert result.pair_errors[0, 1] == pytest.approx(
        dt.pair_error(WIDE, NARROW, shared_samples=0.8, noise=0.5).total, rel=1e-13
    )


def test_member_of_infinite_error_has_no_weight() -> None:
    best = dt.committee([WIDE, PEAK, NARROW], weights="optimal", noise=0.5)
    without = dt.committee([WIDE, NARROW], weights="optimal", noise=0.5)
    assert best.weights[1] == 0
    assert best.error.total == pytest.approx(without.error.total, rel=1e-12)
    assert dt.committee([WIDE, PEAK], noise=0.5).error.total == math.inf
    assert dt.committee([WIDE, PEAK], weights=[1.0, 0.0], noise=0.5).error.total < 2
    assert dt.committee([PEAK, PEAK], weights="optimal", noise=0.5).error.total == math.inf


def test_optimal_weights_of_tiny_errors_are_finite() -> None:
    """Errors near the smallest float: the square of the noise is subnormal."""
    exact, wrong = (dt.Member(features_per_dim=p, samples_per_dim=2.0, ridge=0.0) for p in (3, 0.5))
    exact = replace(exact, activation="linear")
    for noise in (1e-162, 1e-158, 1e-155, 1e-150):
        best = dt.committee([exact, wrong], weights="optimal", noise=noise)
        assert best.weights == pytest.approx(np.array([1.0, 0.0]), abs=1e-12)
        assert best.error.total <= 1e-290


def test_identical_members_have_equal_weights() -> None:
    best = dt.committee([WIDE, WIDE, NARROW], sharing="both", weights="optimal", noise=0.5)
    assert best.weights[0] == pytest.approx(best.weights[1], rel=1e-9)
    pair = dt.committee([WIDE, NARROW], sharing="both", weights="optimal", noise=0.5)
    assert best.error.total == pytest.approx(pair.error.total, rel=1e-10)


def test_member_without_error_has_all_the_weight() -> None:
    perfect = dt.Member(features_per_dim=3.0, samples_per_dim=2.0, ridge=0.0, activation="linear")
    best = dt.committee([WIDE, perfect], weights="optimal", noise=0.0)
    assert best.error.total == 0
    assert best.weights.tolist() == [0.0, 1.0]


def test_forms_of_the_sharing_argument_agree() -> None:
    by_name = dt.committee([WIDE, NARROW], sharing={"features": 0.3, "samples": 0.8})
    by_position = dt.committee([WIDE, NARROW], sharing=(0.3, [[1.0, 0.8], [0.8, 0.8]]))
    assert by_name == by_position
    nested = dt.committee([WIDE, NARROW], sharing="both")
    assert nested.shared_features.tolist() == [[2.0, 0.5], [0.5, 0.5]]
    assert nested.shared_samples.tolist() == [[1.0, 0.8], [0.8, 0.8]]


def test_text_has_the_error_and_that_of_every_member() -> None:
    result = dt.committee([WIDE, NARROW], noise=0.5)
    text = str(result)
    assert text.startswith(str(result.error).rpartition("\n")[0])
    errors = result.pair_errors
    assert ["2", "0.500", plain(errors[1, 1])] in [line.split() for line in text.splitlines()]
    frame = result.to_frame().query("table == 'members'")
    np.testing.assert_array_equal(frame[["error_with_1", "error_with_2"]], errors)
    assert f"Averaged, the error is {plain(float(result.error.total))}; member 1 alone" in " ".join(
        text.split()
    )
    noisy = dt.committee([dt.Problem(test_noise=0.5)] * 30)
    assert len(str(noisy).splitlines()) < 40
    alone = noisy.to_frame().query("table == 'members'")["error"]
    np.testing.assert_allclose(alone, noisy.pair_errors.diagonal() + 0.25)
    assert [table.name for table in result._tables()] == ["parts", "members"]


def test_committee_of_a_flat_spectrum_is_an_ensemble() -> None:
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3, noise=0.5)
    spectrum = dt.SpectralProblem.from_problem(problem, dim=5)
    result = dt.committee([spectrum] * 3)
    assert result.error.total == pytest.approx(dt.exact_error(problem, 3).total, rel=1e-12)


def test_arguments_of_a_committee_are_validated() -> None:
    several = dt.Member(features_per_dim=np.array([1.0, 2.0]))
    invalid: list[tuple[str, Any, str]] = [
        *(("weights", value, "weights") for value in ([0.5, 0.6], "best", [1.0], [math.nan, 1.0])),
        *(("sharing", value, "sharing") for value in ("all", 3, {"data": 1.0})),
        ("sharing", (0.6, 0.0), "shared features"),
        ("sharing", (0.0, 0.9), "shared samples"),
        ("sharing", ([[2, 0.1], [0.2, 0.5]], 0), "shared features"),  # not symmetric
        ("sharing", ([0.1, 0.2], 0), "shared features"),
        ("noise", [0.1, 0.2], "noise"),
        *(("members", value, "members") for value in ([], WIDE, [WIDE, several])),
    ]
    for argument, value, name in invalid:
        message = message_of(dt.committee, **{"members": [WIDE, NARROW], argument: value})
        assert message.startswith(f"{name} must"), (argument, value)
    assert message_of(dt.committee, WIDE).endswith("got Member")
    assert message_of(dt.committee, [WIDE, 3]).startswith("members[1] must be a Member, Problem or")


def test_impossible_overlaps_raise() -> None:
    """The first shares everything with two disjoint members."""
    overlap = [[2, 2, 2], [2, 2, 0], [2, 0, 2]]
    with pytest.raises(ValueError, match=r"^shared features must be possible"):
        dt.committee([WIDE] * 3, sharing=(overlap, 0))


def test_noise_of_test_labels_is_bayes_error() -> None:
    problem = dt.Problem(features_per_dim=2.0, ridge=1e-3, noise=0.5, test_noise=0.7)
    spectrum = dt.SpectralProblem.from_problem(problem, dim=4)
    result = dt.committee([spectrum] * 2)
    assert result.error.total == pytest.approx(dt.exact_error(problem, 2).total, rel=1e-12)
    assert result.error.bayes == pytest.approx(0.49)
    other = dt.SpectralProblem.from_problem(dt.Problem(ridge=1e-3, noise=0.5), dim=4)
    with pytest.raises(ValueError, match=r"^test_noise must be the same"):
        dt.committee([spectrum, other])


def test_spectral_ridge_is_in_proportion_to_samples() -> None:
    """δ on the Gram matrix of a third of the samples is a third of that on all."""
    whole = dt.SpectralProblem.from_problem(dt.Problem(samples_per_dim=3.0, ridge=0.1), dim=4)
    third = dt.SpectralProblem.from_problem(dt.Problem(samples_per_dim=1.0, ridge=0.1), dim=4)
    assert third.gram_ridge == pytest.approx(float(whole.gram_ridge) / 3)
    divided = dt.exact_error(whole, dt.Divide(3)).total
    result = dt.committee([third] * 3, sharing="nothing").error.total
    assert result == pytest.approx(divided, rel=1e-12)
