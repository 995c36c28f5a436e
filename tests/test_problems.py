"""The two problems: defaults, value semantics, shapes, and the way from one to the other."""

import math
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.parameters import declarations
from doubletrouble.theory import effective_ridge, psi_terms
from tests.messages import message_of

GIVEN: dict[str, Any] = {
    "eigenvalues": [1.0, 0.5, 0.1],
    "target_powers": [1.0, 0.0, 2.0],
    "n_features": 20,
    "n_samples": 10,
}


def spectral(**changes: Any) -> dt.SpectralProblem:
    return dt.SpectralProblem(**{**GIVEN, **changes})


# --- Problem -------------------------------------------------------------------------------------


def test_defaults_are_the_papers_running_example() -> None:
    usual = dt.Problem()
    assert {f.name: getattr(usual, f.name) for f in fields(usual)} == {
        "features_per_dim": 2.0,
        "samples_per_dim": 1.0,
        "ridge": 1e-5,
        "signal": 1.0,
        "noise": 1.0,
        "nonlinear_signal": 0.0,
        "test_noise": 0.0,
        "flips": 0.0,
        "activation": "relu",
        "loss": "squared",
        "task": "regression",
    }
    assert dt.Problem().moments == dt.activation("relu")


def test_numbers_become_floats() -> None:
    problem = dt.Problem(features_per_dim=3, ridge=np.float32(0.5), noise=np.array(2))
    assert {type(getattr(problem, name)) for name in declarations(problem)} == {float}
    assert (problem.features_per_dim, problem.ridge, problem.noise) == (3.0, 0.5, 2.0)


def test_limits_are_legal() -> None:
    problem = dt.Problem(features_per_dim=math.inf, ridge=0)
    assert (problem.features_per_dim, problem.ridge) == (math.inf, 0.0)
    assert dt.Problem(ridge=math.inf, signal=0, noise=0).ridge == math.inf


def test_problems_are_frozen() -> None:
    problems: list[Any] = [dt.Problem(), spectral()]
    for problem in problems:
        with pytest.raises(FrozenInstanceError):
            problem.noise = 1.0
        with pytest.raises(FrozenInstanceError):
            del problem.noise


def test_arguments_are_keyword_only() -> None:
    with pytest.raises(TypeError, match="positional"):
        dt.Problem(2.0, 1.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="ridges"):
        dt.Problem(ridges=1.0)  # type: ignore[call-arg]


def test_shape_is_the_broadcast_shape_of_the_fields() -> None:
    assert dt.Problem().shape == ()
    assert dt.Problem(ridge=[0.1, 0.2]).shape == (2,)
    grid = dt.Problem(features_per_dim=np.ones((3, 1)), noise=np.ones(4), signal=np.ones((1, 1)))
    assert grid.shape == (3, 4)
    assert spectral(n_features=[[10], [20]], gram_ridge=[0.1, 0.2, 0.3]).shape == (2, 3)
    assert spectral().shape == ()  # the spectrum is not a broadcast axis


def test_results_take_the_shape_of_the_problem() -> None:
    grid = dt.Problem(features_per_dim=np.ones((3, 1)), noise=np.ones(4))
    assert np.shape(dt.exact_error(grid).total) == (3, 4)
    assert np.shape(dt.exact_error(grid, np.full((2, 1, 1), 3)).total) == (2, 3, 4)
    assert isinstance(dt.exact_error(dt.Problem()).total, float)


# --- equality, hash, replace ---------------------------------------------------------------------


def test_problems_are_equal_by_value() -> None:
    builds: list[Any] = [dt.Problem, spectral]
    for build in builds:
        one, same = build(noise=[0.1, 0.2]), build(noise=np.array([0.1, 0.2]))
        assert one == same
        assert hash(one) == hash(same)
        assert len({one, same}) == 1
        for noise in ([0.1, 0.3], [[0.1, 0.2]], 0.1):
            assert one != build(noise=noise)
        assert one != "noise"


def test_the_two_kinds_are_never_equal() -> None:
    flat = dt.SpectralProblem.from_problem(dt.Problem(), dim=2)
    assert dt.Problem() != flat


def test_activations_count_in_equality() -> None:
    assert dt.Problem(activation="tanh") != dt.Problem(activation="relu")
    assert dt.Problem(activation=np.tanh) == dt.Problem(activation=np.tanh)
    assert hash(dt.Problem(activation=np.tanh)) == hash(dt.Problem(activation=np.tanh))


def test_replace_changes_one_field_and_validates() -> None:
    base = dt.Problem(ridge=[0.1, 0.2], activation="erf")
    changed = replace(base, ridge=0.3, noise=[1.0, 2.0, 3.0])
    assert (changed.ridge, changed.shape, changed.activation) == (0.3, (3,), "erf")
    assert base.shape == (2,)
    assert replace(base, activation="tanh").moments == dt.activation("tanh")
    with pytest.raises(ValueError, match=r"^ridge must"):
        replace(base, ridge=-1)


def test_replace_preserves_a_callable_and_a_spectrum() -> None:
    problem = dt.Problem(activation=lambda z: np.maximum(z, 0.1 * z))
    assert replace(problem, ridge=1.0).moments == problem.moments
    changed = replace(spectral(), noise=0.5)
    assert np.array_equal(changed.eigenvalues, [1.0, 0.5, 0.1])
    assert changed.noise == 0.5


# --- from sizes ----------------------------------------------------------------------------------


def test_from_sizes_divides_by_the_dimension() -> None:
    built = dt.Problem.from_sizes(
        n_features=400, n_samples=100, dim=200, noise=0.5, activation="tanh"
    )
    ratios = dt.Problem(features_per_dim=2.0, samples_per_dim=0.5, noise=0.5, activation="tanh")
    assert built == ratios


def test_from_sizes_takes_arrays_and_the_kernel_limit() -> None:
    built = dt.Problem.from_sizes(n_features=[100, math.inf], n_samples=[[10], [20]], dim=10)
    assert np.array_equal(built.features_per_dim, [10.0, math.inf])
    assert np.array_equal(built.samples_per_dim, [[1.0], [2.0]])
    assert built.shape == (2, 2)


def test_unknown_fields_of_from_sizes_raise() -> None:
    with pytest.raises(TypeError, match="ridges"):
        dt.Problem.from_sizes(n_features=1, n_samples=1, dim=1, ridges=1)


# --- SpectralProblem -----------------------------------------------------------------------------


def test_a_spectrum_holds_vectors_and_defaults_to_no_tail_no_noise_no_ridge() -> None:
    problem = spectral()
    for vector in (problem.eigenvalues, problem.target_powers):
        assert isinstance(vector, np.ndarray)
        assert vector.dtype == np.float64
        assert not vector.flags.writeable
    assert (problem.tail, problem.gram_ridge, problem.noise) == (0.0, 0.0, 0.0)
    assert (problem.nonlinear_signal, problem.test_noise) == (0.0, 0.0)


def test_one_eigenvalue_may_be_a_number() -> None:
    problem = spectral(eigenvalues=1.0, target_powers=2.0)
    assert np.shape(problem.eigenvalues) == np.shape(problem.target_powers) == (1,)
    assert problem == spectral(eigenvalues=[1.0], target_powers=[2.0])


def test_the_order_of_modes_does_not_matter() -> None:
    forward, backward = (
        spectral(gram_ridge=0.1),
        spectral(eigenvalues=[0.1, 0.5, 1.0], target_powers=[2.0, 0.0, 1.0], gram_ridge=0.1),
    )
    assert dt.exact_error(forward).total == pytest.approx(dt.exact_error(backward).total, rel=1e-14)


def test_a_mode_of_zero_weight_is_only_bias() -> None:
    plain = dt.exact_error(spectral(gram_ridge=0.1, noise=0.3))
    more = dt.exact_error(
        spectral(
            eigenvalues=[1.0, 0.5, 0.1, 0.0],
            target_powers=[1.0, 0.0, 2.0, 0.5],
            gram_ridge=0.1,
            noise=0.3,
        )
    )
    tail = dt.exact_error(spectral(gram_ridge=0.1, noise=0.3, nonlinear_signal=math.sqrt(0.5)))
    assert more.bias == pytest.approx(plain.bias + 0.5, rel=1e-14)
    assert more.parts == pytest.approx(tail.parts, rel=1e-13)


# --- from one to the other -----------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "linear", "quadratic"])
def test_an_isotropic_problem_is_a_flat_spectrum(activation: str) -> None:
    problem = dt.Problem(
        features_per_dim=[0.5, 2.0, math.inf],
        samples_per_dim=1.5,
        ridge=[[0.0], [1e-3], [2.0]],
        signal=2.0,
        noise=0.5,
        nonlinear_signal=0.3,
        test_noise=0.1,
        activation=activation,
    )
    flat = dt.SpectralProblem.from_problem(problem, dim=8)
    assert np.array_equal(flat.n_features, [4.0, 16.0, math.inf])
    assert flat.n_samples == 12.0
    for members in (1, 3, math.inf):
        assert_same(dt.exact_error(flat, members), dt.exact_error(problem, members))


def test_divided_data_preserve_the_penalty_per_sample() -> None:
    # δ = λ N/D of the whole data set; a third of the samples has a third of it
    problem = dt.Problem(features_per_dim=0.7, samples_per_dim=1.5, ridge=[0.0, 1e-3, 2.0])
    flat = dt.SpectralProblem.from_problem(problem, dim=8)
    assert_same(dt.exact_error(flat, dt.Divide(3)), dt.exact_error(problem, dt.Divide(3)))
    best, flat_best = (dt.optimal_ridge(p, dt.Divide(3)) for p in (problem, flat))
    assert flat_best.gram_ridge == pytest.approx(1.5 * np.asarray(best.ridge), rel=1e-10)


def assert_same(result: dt.ErrorTerms[Any], expected: dt.ErrorTerms[Any]) -> None:
    assert result.parts.keys() == expected.parts.keys()
    for part, values in expected.parts.items():
        np.testing.assert_allclose(
            getattr(result, part), values, rtol=1e-12, atol=1e-15, err_msg=part
        )


def test_the_dimension_does_not_matter_for_a_flat_spectrum() -> None:
    problem = dt.Problem(ridge=0.1, noise=0.3)
    totals = [
        dt.exact_error(dt.SpectralProblem.from_problem(problem, dim=dim)).total
        for dim in (1, 7, 50)
    ]
    assert totals == pytest.approx([dt.exact_error(problem).total] * 3, rel=1e-13)


def test_from_problem_validates_its_arguments() -> None:
    dims: list[Any] = [0, 1.5, math.inf, math.nan, "two", None, [2, 3], True]
    for dim in dims:
        message = message_of(dt.SpectralProblem.from_problem, dt.Problem(), dim=dim)
        assert message.startswith("dim must ")
        assert repr(dim) in message
    with pytest.raises(ValueError, match=r"^signal must be a scalar"):
        dt.SpectralProblem.from_problem(dt.Problem(signal=[1.0, 2.0]), dim=3)
    with pytest.raises(TypeError, match=r"^problem must be"):
        dt.SpectralProblem.from_problem("flat", dim=3)  # type: ignore[arg-type]


# --- functions of ridge regression ---------------------------------------------------------------


def test_functions_of_the_square_loss_refuse_other_losses() -> None:
    functions: dict[str, Any] = {
        "psi_terms": psi_terms,
        "effective_ridge": effective_ridge,
        "gradient_flow": lambda problem: dt.gradient_flow(problem, 1.0),
        "best_stopping_time": dt.best_stopping_time,
        "SpectralProblem": lambda problem: dt.SpectralProblem.from_problem(problem, dim=3),
    }
    for name, function in functions.items():
        message = message_of(function, dt.Problem(loss="huber", signal=[1.0, 2.0]))
        assert message == f"loss must be squared for {name}, got huber:1.0"
        message = message_of(function, dt.Problem(task="classification"))
        assert message == f"task must be regression for {name}, got classification"


@pytest.mark.parametrize("components", [[(0.9,), (0.1, 2)], "abc", [("a", "b")], None, []])
def test_a_mixture_is_of_pairs(components: Any) -> None:
    with pytest.raises(ValueError, match=r"^components must be pairs \(weight, sd\), got "):
        dt.Mixture(components)
