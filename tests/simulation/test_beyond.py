"""Simulations beyond the paper against formulas written independently, in standard errors.

Every scheme of resampling, gradient flow and unequal members, on the cases of `conformance` at
smaller sizes, extrapolated in 1/D. The formulas of `pair_oracle` share nothing with the library's
theory, and both must agree. Some cases run by default, all of them with the marker `full`. The seed
is DOUBLETROUBLE_SEED, 0 unless set.
"""

import itertools
import math
import os
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from conformance.beyond import BEYOND, MEMBERS, Case, Flow, Resampled, Unequal
from conformance.compare import Sizes, extrapolated, noticed
from conformance.controls import CONTROLS, FEW, NARROW
from conformance.theory import EVERY, Library, Parts, Wrong
from tests.pair_oracle import Level, Point, level, product, rest
from tests.selection import full_beyond

SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))
SMALL = Sizes(dims=(40, 80, 160), draws=(24, 14, 10))
SHORT = Sizes(dims=(30, 60, 120), draws=(24, 14, 10))
CONTROL_SIZES = Sizes(dims=(16, 32, 64), draws=(60, 40, 30))
DEFAULT = tuple(BEYOND[k] for k in (2, 3, 5, 9))
FAR = 1e9  # features per dimension that are as good as infinitely many


def point(problem: Any) -> Point:
    psi1 = float(problem.features_per_dim)
    return Point(
        psi1=psi1 if math.isfinite(psi1) else FAR,
        psi2=float(problem.samples_per_dim),
        ridge=float(problem.ridge),
        name=str(problem.activation),
        noise=float(problem.noise),
    )


def half(one: Any) -> Level:
    return level(one.features_per_dim, one.samples_per_dim, one.ridge, one.activation)


def size(ensemble: dt.Scheme) -> float:
    return float(np.asarray(ensemble.n_members))


class Formula:
    """The formulas of `pair_oracle` as a theory to compare with."""

    def error(self, problem: dt.Problem, ensemble: dt.Scheme) -> Parts:
        options = {name: float(value) for name, value in ensemble.options.items()}
        result = point(problem).error(ensemble.name, size(ensemble), **options)
        if problem.features_per_dim == math.inf:
            result["initialization"] = 0.0  # of infinitely many features
        return result

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        return point(problem).flow(time, members)

    def pair(self, a: dt.Member, b: dt.Member, shared: tuple[float, float], noise: float) -> float:
        first, second = (half(one) for one in (a, b))
        tails = rest(str(a.activation), str(b.activation))
        result = product(first, second, *first.common(second, *shared), tails)
        return float(result.signal + noise**2 * result.noise)


THEORIES: tuple[Any, ...] = (Formula(), Library())


@pytest.mark.statistical
@pytest.mark.parametrize("case", full_beyond(DEFAULT, BEYOND))
def test_simulation_agrees_with_formulas(case: Case) -> None:
    rows = case.rows(SEED, SHORT if case in DEFAULT else SMALL, Formula())
    worst = max(rows, key=lambda row: abs(row.z))
    assert abs(worst.z) < 5, worst


def test_cases_cover_schemes_models_and_activations() -> None:
    resampled = [case for case in BEYOND if isinstance(case, Resampled)]
    flows = [case for case in BEYOND if isinstance(case, Flow)]
    unequal = [case for case in BEYOND if isinstance(case, Unequal)]
    assert {case.activation for case in resampled} == {"relu", "tanh"}
    assert {case.model for case in resampled} == {"features", "gaussian", "kernel"}
    assert {case.activation for case in flows} == {"relu", "tanh"}
    assert all(len(case.times) >= 4 for case in flows)
    assert {case.sharing for case in unequal} >= {"samples", "both", (0.4, 0.5)}
    assert {1, 2, math.inf} == {*MEMBERS}


def test_every_part_of_the_formulas_equals_the_library() -> None:
    for case, width, members in itertools.product(BEYOND, range(3), MEMBERS):
        if isinstance(case, Unequal) or width >= len(case.widths):
            continue
        problem = case.problem(case.widths[width])
        for ours, exact in (
            [[one.flow(problem, time, members) for one in THEORIES] for time in case.times]
            if isinstance(case, Flow)
            else [[one.error(problem, e) for one in THEORIES] for e in case.ensembles(members)]
        ):
            for part, value in exact.items():
                where = (case.name, problem, part)
                assert ours[part] == pytest.approx(value, rel=1e-6, abs=1e-8), where


def test_formulas_equal_the_library_for_unequal_members() -> None:
    members = [case.members[1:] for case in BEYOND if isinstance(case, Unequal)]
    for a, b in dict.fromkeys(members):
        for shared in ((0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.4, 0.5)):
            ours, theirs = (one.pair(a, b, shared, 0.5) for one in THEORIES)
            assert ours == pytest.approx(theirs, rel=1e-8), (a, b, shared)


@pytest.mark.statistical
@pytest.mark.parametrize("activation", full_beyond(["relu"], ["relu", "tanh"]))
def test_divided_data_agree_with_gradient_flow_in_time(activation: str) -> None:
    at = Point(psi1=1.5, psi2=1.0, ridge=1e-3, name=activation)
    problem = dt.Problem(
        features_per_dim=1.5, samples_per_dim=1.0, ridge=1e-3, noise=0.5, activation=activation
    )
    times = (0.5, 3.0, 20.0, 300.0)
    runs = [
        dt.simulate(
            problem,
            dim=dim,
            n_data=draws,
            n_init=2,
            ensembles=dt.Divide(2),
            times=times,
            seed=SEED,
            progress=False,
        )
        for dim, draws in zip(SHORT.dims, SHORT.draws, strict=True)
    ]
    for t, time in enumerate(times):
        expected = at.flow(time, 2, "divide")
        assert expected.pop("resampling", 0.0) == 0
        for part, theory in expected.items():
            result = [getattr(run.error(dt.Divide(2)), part) for run in runs]
            row = extrapolated(
                1.5,
                "divide",
                2,
                part,
                theory=theory,
                sizes=SHORT,
                means=np.array([one.value[t] for one in result]),
                errors=np.array([one.standard_error[t] for one in result]),
            )
            assert abs(row.z) < 5, (time, row)


class SameAsOther(Formula):
    """The self term with c₂ of two members."""

    def error(self, problem: dt.Problem, ensemble: dt.Scheme) -> Parts:
        options = {name: float(value) for name, value in ensemble.options.items()}
        options["own"] = 1 / float(problem.samples_per_dim)
        return point(problem).error(ensemble.name, size(ensemble), **options)


@pytest.mark.statistical
def test_wrong_theory_disagrees() -> None:
    """Negative controls; some share their simulations."""
    cases = {control.case for control in CONTROLS}
    every = {case: case.rows(SEED, CONTROL_SIZES, Wrong()) for case in cases}
    for control in CONTROLS:
        rows = [row for row in every[control.case] if row.scheme == control.scheme]
        assert max(abs(row.t) for row in rows) > 10, control.what
        assert noticed(rows), control.what


@pytest.mark.full
@pytest.mark.statistical
def test_wrong_self_term_disagrees() -> None:
    """The theory of the package has no option for this mistake."""
    rows = [row for row in NARROW.rows(SEED, FEW, SameAsOther()) if row.scheme == "subsample"]
    assert max(abs(row.t) for row in rows) > 10
    assert noticed(rows)


def test_formulas_have_every_part() -> None:
    result = Formula().error(dt.Problem(ridge=0.1), dt.Bootstrap(2))
    assert {*result} == {*EVERY}
