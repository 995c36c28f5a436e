"""Ensembles: construction, and properties of every scheme."""

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.ensembles import as_ensemble, named_ensemble
from doubletrouble.theory import overlaps
from tests.schemes import KINDS, NAMES, example, sharing

PROBLEM = dt.Problem(features_per_dim=1.7, samples_per_dim=1.2, ridge=1e-2, noise=0.6)
EVERY = pytest.mark.parametrize("kind", KINDS, ids=NAMES)


# --- construction --------------------------------------------------------------------------------


def test_number_is_converted_to_an_ensemble() -> None:
    assert as_ensemble(10) == dt.Ensemble(10)
    assert as_ensemble(math.inf) == dt.Ensemble(math.inf)
    assert dt.exact_error(PROBLEM, 10) == dt.exact_error(PROBLEM, dt.Ensemble(10))
    several = dt.exact_error(PROBLEM, [1, 10, math.inf]).total
    single = np.array([dt.exact_error(PROBLEM, k).total for k in (1, 10, math.inf)])
    assert np.array_equal(several, single)


@EVERY
def test_text_of_an_ensemble_is_read_back(kind: Any) -> None:
    ensemble = example(kind, 7)
    assert eval(repr(ensemble), vars(dt) | {kind.__name__: kind}) == ensemble
    assert str(ensemble).startswith("7 models")
    assert "∞" in str(example(kind, math.inf))
    assert named_ensemble(kind.name, 7, **ensemble.options) == ensemble


@EVERY
def test_ensembles_are_frozen_values(kind: Any) -> None:
    ensemble: Any = example(kind, 3)
    with pytest.raises(FrozenInstanceError):
        ensemble.n_members = 4
    assert pickle.loads(pickle.dumps(ensemble)) == ensemble
    assert hash(ensemble) == hash(example(kind, 3))
    assert ensemble != example(kind, 5)
    assert replace(ensemble, n_members=5) == example(kind, 5)


def test_different_schemes_are_unequal() -> None:
    assert dt.Ensemble(2) != dt.Divide(2)
    assert len({kind.name for kind in KINDS}) == len(KINDS)


@EVERY
def test_arrays_broadcast_with_the_problem(kind: Any) -> None:
    problem = replace(PROBLEM, ridge=np.array([0.0, 1e-3, 1.0]))
    members = np.array([[2], [5]])
    total = np.asarray(dt.exact_error(problem, example(kind, members)).total)
    assert total.shape == (2, 3)
    for i, K in enumerate((2, 5)):
        for j, ridge in enumerate((0.0, 1e-3, 1.0)):
            one = dt.exact_error(replace(PROBLEM, ridge=ridge), example(kind, K))
            assert total[i, j] == pytest.approx(one.total, rel=1e-13)


# --- properties of every scheme ------------------------------------------------------------------


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.with_replacement])
def test_ensemble_equals_a_committee_of_equal_members(kind: Any) -> None:
    for problem in (
        PROBLEM,
        replace(PROBLEM, ridge=0.0),
        replace(PROBLEM, features_per_dim=0.3, nonlinear_signal=0.5),
        replace(PROBLEM, activation="tanh", test_noise=0.4),
    ):
        ensemble = example(kind, 4, problem)
        samples, common_features, common_samples = sharing(ensemble, problem)
        member = replace(problem, samples_per_dim=samples)
        whole = dt.committee([member] * 4, sharing=(common_features, common_samples)).error
        error = dt.exact_error(problem, ensemble)
        assert error.total == pytest.approx(whole.total, rel=1e-12)
        assert error.noise == pytest.approx(whole.noise, rel=1e-12)
        assert error.bias == pytest.approx(whole.bias, rel=1e-12)
        variances = error.initialization + error.sampling + (error.resampling or 0.0)
        assert variances == pytest.approx(whole.initialization + whole.sampling, rel=1e-12)
        if kind.resamples is None:
            assert error.initialization == pytest.approx(whole.initialization, rel=1e-12)
            assert error.sampling == pytest.approx(whole.sampling, rel=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.any_size])
def test_variances_fall_as_one_over_the_number_of_members(kind: Any) -> None:
    few, many, infinite = (dt.exact_error(PROBLEM, example(kind, k)) for k in (2, 20, math.inf))
    for name, part in infinite.parts.items():
        gap = many.parts[name] - part
        assert few.parts[name] - part == pytest.approx(10 * gap, rel=1e-9, abs=1e-13)


@pytest.mark.statistical
@EVERY
def test_a_simulation_agrees_with_the_theory(kind: Any) -> None:
    problem = dt.Problem(features_per_dim=1.5, samples_per_dim=1.0, ridge=0.1, noise=0.7)
    dim, ensemble = 48, example(kind, 4, problem)
    run = dt.simulate(problem, dim=dim, n_data=24, n_init=4, ensembles=[ensemble], progress=False)
    result: dict[str, Any] = run.error(ensemble).parts

    def agrees(other: dt.Scheme) -> bool:
        theory = dt.exact_error(run.problem, other)
        return all(
            abs(part.value - getattr(theory, name))
            <= 5 * part.standard_error + 2 / dim * abs(part.value)  # finite size: O(1/D)
            for name, part in result.items()
        )

    assert agrees(run.realized(ensemble))
    controls = [example(other, 4, problem) for other in KINDS if other is not kind]
    assert not any(agrees(other) for other in controls)  # the theory of another scheme


# --- supported functions -------------------------------------------------------------------------

CALLS: dict[str, Any] = {
    "exact_error": dt.exact_error,
    "anova": dt.anova,
    "training_error": dt.training_error,
    "optimal_ridge": dt.optimal_ridge,
    "gradient_flow": lambda problem, ensemble: dt.gradient_flow(problem, 10.0, ensemble),
    "best_stopping_time": dt.best_stopping_time,
    "advise": lambda problem, ensemble: dt.advise(problem, ensemble=ensemble),
}


def test_support_table_lists_every_function() -> None:
    functions = dt.Ensemble.functions()
    assert set(CALLS) <= set(functions)
    assert all(set(kind.functions()) <= set(functions) for kind in KINDS)
    known = {*dt.__all__, *dir(dt.results), *dir(dt.theory)}
    assert {name.split(".")[0] for name in functions} <= known


@pytest.mark.parametrize("name", CALLS)
def test_support_table_matches_behaviour(name: str) -> None:
    for kind in KINDS:
        ensemble = example(kind, 3)
        if name in kind.functions():
            assert CALLS[name](PROBLEM, ensemble) is not None
        else:
            with pytest.raises(ValueError, match=f"^ensemble must be one of .* for {name}, got"):
                CALLS[name](PROBLEM, ensemble)


# --- overlaps of committee members ---------------------------------------------------------------


def test_overlaps_of_nested_sets_are_the_smaller_ones() -> None:
    result = overlaps([2.0, 0.5, math.inf], [1.0, 1.0, 3.0], "both")
    assert result.features.tolist() == [[2.0, 0.5, 2.0], [0.5, 0.5, 0.5], [2.0, 0.5, math.inf]]
    assert result.samples.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 3.0]]
    apart = overlaps([2.0, 0.5], [1.0, 1.0], "nothing")
    assert apart.features.tolist() == [[2.0, 0.0], [0.0, 0.5]]


def test_overlaps_of_three_sets_must_be_possible() -> None:
    """Two disjoint sets cannot each cover 70% of a third."""
    for first, second, third, possible in (
        (0.7, 0.7, 0.4, True),
        (0.7, 0.7, 0.0, False),
        (0.5, 0.5, 0.0, True),
        (1.0, 1.0, 0.9, False),
    ):
        matrix = np.array([[1.0, first, second], [first, 1.0, third], [second, third, 1.0]])
        if possible:
            result = overlaps([1.0] * 3, [1.0] * 3, (matrix, 0.0))
            assert result.features.tolist() == matrix.tolist()
        else:
            with pytest.raises(ValueError, match=r"^shared features must be possible"):
                overlaps([1.0] * 3, [1.0] * 3, (matrix, 0.0))


def test_many_members_may_have_large_or_small_equal_overlaps() -> None:
    """One overlap for all pairs is possible if it is large or small enough."""
    assert overlaps([1.0] * 50, [1.0] * 50, (0.5, 1.0)).samples.min() == 1.0
    assert overlaps([1.0] * 50, [1.0] * 50, (0.5, 1.0)).features.max() == 1.0
