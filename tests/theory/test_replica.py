"""The paper's replica route, corrected, against the closed forms and against Mei and Montanari."""

import cmath
import inspect
import itertools
import math
import re
from dataclasses import fields
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.replica import ERRATA, SaddlePoint, _errata, psi_terms, saddle_point
from doubletrouble.replica._appendix_b import Formulas, ReplicaPoint, symmetric
from doubletrouble.replica._hessian import Jet, expand
from doubletrouble.replica._psi_terms import _newton, points_of
from doubletrouble.results import PsiTerms
from tests.messages import message_of
from tests.selection import full_beyond

TERMS = [f.name for f in fields(PsiTerms)]
ERRATA_PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
# where docs/errata.md states its numbers
REFERENCE = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1, activation="relu")

MOST = sorted(set(ERRATA) - {13})  # 12 and 13 exclude each other

# P < N, P = N and P > N, on both sides of D, from strong to the paper's weak ridge
SIZES = [(0.1, 10.0), (0.5, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 3.0), (10.0, 0.3)]
POINTS = [(*sizes, ridge) for sizes in SIZES for ridge in (1e-5, 1e-2, 1.0)]


def problem_at(point: tuple[float, float, float], activation: str) -> dt.Problem:
    features, samples, ridge = point
    return dt.Problem(
        features_per_dim=features, samples_per_dim=samples, ridge=ridge, activation=activation
    )


def point_of(problem: dt.Problem) -> ReplicaPoint:
    (at,) = points_of(problem)
    return at


# --- agreement with the closed forms -------------------------------------------------------------


def grid_of(points: list[tuple[float, float, float]], activation: str) -> dt.Problem:
    features, samples, ridge = np.array(points).T
    return dt.Problem(
        features_per_dim=features, samples_per_dim=samples, ridge=ridge, activation=activation
    )


def assert_equals_the_closed_form(problem: dt.Problem, rounding: float = 0.0) -> None:
    result, known = psi_terms(problem), dt.theory.psi_terms(problem)
    for name in TERMS:
        np.testing.assert_allclose(
            getattr(result, name), getattr(known, name), rtol=1e-12, atol=rounding, err_msg=name
        )


@pytest.mark.parametrize("activation", full_beyond({"relu"}, ["relu", "tanh", "erf", "sign"]))
def test_equals_the_closed_form(activation: str) -> None:
    extreme = [(2.0, 1.0, 1e-12), (1.0, 1.0, 1e-12), (1e4, 1e-3, 1e6)]
    assert_equals_the_closed_form(grid_of([*POINTS, *extreme], activation))


@pytest.mark.parametrize("activation", ["linear", "quadratic"])
def test_covers_activations_without_a_linear_or_a_nonlinear_part(activation: str) -> None:
    points = [(features, 1.0, 0.01) for features in (0.5, 1.0, 2.0)]
    assert_equals_the_closed_form(grid_of(points, activation), rounding=1e-30)


def test_arrays_broadcast_and_scalars_stay_floats() -> None:
    grid = dt.Problem(features_per_dim=[[0.5], [2.0]], samples_per_dim=[1.0, 2.0, 3.0], ridge=0.1)
    terms = psi_terms(grid)
    single = psi_terms(dt.Problem(features_per_dim=2.0, samples_per_dim=3.0, ridge=0.1))
    for name in TERMS:
        values = getattr(terms, name)
        assert values.shape == (2, 3)
        assert type(getattr(single, name)) is float
        assert values[1, 2] == getattr(single, name)


def test_does_not_depend_on_the_callers_decimal_context() -> None:
    expected = psi_terms(REFERENCE)
    with localcontext(prec=6):
        assert psi_terms(REFERENCE) == expected


# --- the saddle point ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "ridge", "kappa", "q", "r"),
    [
        (0.5, 1e-5, 0.259612, 7.703796, 5.199977),
        (2.0, 1e-5, 2.0e-5, 25002.46, 11199.64),
        (1.0, 0.1, 0.217091, 4.606362, 3.009781),
    ],
)
def test_saddle_point_equals_known_values(
    features: float, ridge: float, kappa: float, q: float, r: float
) -> None:
    result = saddle_point(problem_at((features, 1.0, ridge), "relu"))
    assert isinstance(result, SaddlePoint)
    assert type(result.q) is type(result.r) is float
    assert result.q == pytest.approx(q, rel=1e-6)
    assert result.r == pytest.approx(r, rel=1e-6)
    assert 1 / (features * result.q) == pytest.approx(kappa, rel=1e-4)


def test_overlap_and_effective_ridge_at_the_saddle_point() -> None:
    for point in POINTS[::2]:
        problem = problem_at(point, "relu")
        result = saddle_point(problem)
        overlap = 1 - result.r / result.q
        assert overlap == pytest.approx(dt.theory.psi_terms(problem).psi1, rel=1e-12)
        effective = 1 / (point[0] * point[1] * result.q)
        assert effective == pytest.approx(dt.theory.effective_ridge(problem), rel=1e-12)


def test_printed_gradient_is_the_gradient_of_the_printed_action() -> None:
    at, q, r = point_of(REFERENCE), Decimal("1.3"), Decimal("0.4")
    formulas = Formulas(at)
    gradient = expand(lambda q, r, qt, rt: formulas.S0(q, r), q, r).gradient
    assert float(gradient[0]) == pytest.approx(float(q * formulas.f_v(q, r)), rel=1e-20)
    assert float(gradient[1]) == pytest.approx(float(r * formulas.g_v(q, r)), rel=1e-20)


def test_unconverged_saddle_point_raises_with_the_last_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    barrier = point_of(REFERENCE).lam * 5

    def stuck(at: ReplicaPoint, start: Any, tolerance: Decimal) -> Any:
        return None if at.lam < barrier else _newton(at, start, tolerance)

    monkeypatch.setattr("doubletrouble.replica._psi_terms._newton", stuck)
    with pytest.raises(dt.ConvergenceError, match=r"converged down to ridge .* only") as caught:
        saddle_point(REFERENCE)
    last: Any = caught.value.last
    assert 0 < last[1] < last[0]  # r < q
    assert 0 < caught.value.residual < 10


# --- the errata ----------------------------------------------------------------------------------


def errata_rows() -> dict[int, str]:
    """The last column of every numbered row of docs/errata.md."""
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", ERRATA_PAGE.read_text("utf-8"), re.MULTILINE)
    return {int(number): effect for number, effect in rows}


def test_errata_are_numbered_consecutively() -> None:
    numbers = list(errata_rows())
    assert numbers == list(range(1, len(numbers) + 1))
    assert set(ERRATA) == {n for n, effect in errata_rows().items() if "`psi" in effect}


def test_each_misprint_has_the_effect_that_the_page_states() -> None:
    right = psi_terms(REFERENCE)
    for number in ERRATA:
        stated = {
            name: (as_printed, correct)
            for name, as_printed, correct in re.findall(
                r"`(psi\w+)` (-?\d+\.\d{5}) for (-?\d+\.\d{5})", errata_rows()[number]
            )
        }
        wrong = psi_terms(REFERENCE, printed={number})
        changed = {
            n for n in TERMS if getattr(wrong, n) != pytest.approx(getattr(right, n), rel=1e-12)
        }
        assert changed == set(stated) != set(), number
        for name, values in stated.items():
            assert values == (f"{getattr(wrong, name):.5f}", f"{getattr(right, name):.5f}"), number


@pytest.mark.parametrize("numbers", [{1, 2, 4, 5}, {2, 11}])
def test_combined_misprints_have_the_documented_value(numbers: set[int]) -> None:
    value = psi_terms(REFERENCE, printed=numbers).psi1
    assert f"`printed={numbers}`: {value:.5f}" in ERRATA_PAGE.read_text("utf-8")


def test_appendix_as_printed_has_the_documented_values() -> None:
    terms = psi_terms(REFERENCE, printed=range(1, 9))
    line = ", ".join(f"`{name}` {getattr(terms, name):.5f}" for name in TERMS[:-1])
    assert line in " ".join(ERRATA_PAGE.read_text("utf-8").split())


def test_the_table_replaces_methods_by_functions_of_the_same_arguments() -> None:
    for erratum in _errata._TABLE.values():
        for name, printed in erratum.functions.items():
            correct = inspect.signature(getattr(Formulas, name))
            assert list(inspect.signature(printed).parameters) == list(correct.parameters)


def test_each_misprint_has_an_effect_in_addition_to_those_before_it() -> None:
    results = [psi_terms(REFERENCE, printed=MOST[:count]) for count in range(len(MOST) + 1)]
    for number, (before, after) in zip(MOST, itertools.pairwise(results), strict=True):
        assert before != after, number


def test_errata_do_not_change_the_formulas_themselves() -> None:
    expected = psi_terms(REFERENCE)
    psi_terms(REFERENCE, printed=MOST)
    assert psi_terms(REFERENCE) == expected


def test_three_forms_of_one_matrix_agree_to_first_order() -> None:
    """They are M_W of e in App. B, and its definition and its expansion in App. C."""
    at, q, r = point_of(REFERENCE), Decimal("1.3"), Decimal("0.4")
    formulas = Formulas(at)
    c = at.mustar**2 * at.psi1

    def multiplied_out(q: Jet, r: Jet, qt: Jet, rt: Jet) -> Any:
        square = symmetric(q**2, 0 * q)
        return _errata.multiplied_out(formulas, q, r, rt, factor=square)

    def defined(q: Jet, r: Jet, qt: Jet, rt: Jet) -> Any:
        return _errata.defined(formulas, q, r, rt, factor=c)

    for index in ((0, 0), (0, 1)):

        def entry(form: Any, index: tuple[int, int] = index) -> Jet:
            return expand(lambda *overlaps: form(*overlaps)[index], q, r)

        forms = (formulas.M_W_e, multiplied_out, defined)
        first, *others = (entry(form) for form in forms)
        for other in others:
            assert float(other.value) == pytest.approx(float(first.value), rel=1e-20)
            for ours, theirs in zip(first.gradient, other.gradient, strict=True):
                assert float(theirs) == pytest.approx(float(ours), rel=1e-20, abs=1e-30)


def test_shared_feature_term_ignores_errata() -> None:
    terms = psi_terms(REFERENCE, printed=MOST)
    assert terms.psi2_features == psi_terms(REFERENCE).psi2_features


# --- bad input -----------------------------------------------------------------------------------


def test_limits_raise_and_name_the_closed_form() -> None:
    for name, value, shown in (
        ("ridge", 0.0, "0.0"),
        ("ridge", math.inf, "inf"),
        ("ridge", [0.1, 0.0], "0.0 at index 1"),
        ("features_per_dim", [1.0, math.inf], "inf at index 1"),
    ):
        fields_: dict[str, Any] = {"ridge": 0.1, name: value}
        for call in (psi_terms, saddle_point):
            with pytest.raises(ValueError, match=f"^{name} must .*psi_terms.*, got {shown}$"):
                call(dt.Problem(**fields_))


def test_saddle_point_requires_a_single_point() -> None:
    for problem in (dt.Problem(ridge=[0.1, 0.2]), dt.Problem(features_per_dim=[[1.0]], ridge=0.1)):
        with pytest.raises(ValueError, match=r"^problem must be a single point"):
            saddle_point(problem)
    noisy = dt.Problem(ridge=0.1, noise=[0.1, 0.2])  # which does not change the point
    assert saddle_point(noisy) == saddle_point(dt.Problem(ridge=0.1))


def test_errata_must_be_known_and_consistent() -> None:
    for printed in ({99}, {0, 8}, {"8"}, {True}, [1, True], 8, [[1]], {12, 13}):
        assert message_of(psi_terms, REFERENCE, printed=printed).startswith("printed must")


# --- a third route: Mei and Montanari ------------------------------------------------------------


def chi(psi1: float, psi2: float, z2: float, ridge: float) -> float:
    """χ = ν₁ν₂ at ξ = i √(ψ₁ψ₂λ/μ⋆²), followed from |ξ| = ∞ where ν = -ψ/ξ [mei2019]."""
    goal = math.sqrt(psi1 * psi2 * ridge)
    top = max(goal, 100 * math.sqrt((1 + psi1 + psi2) * (1 + z2)))
    nu = np.array([-psi1 / (1j * top), -psi2 / (1j * top)])
    for size in np.geomspace(top, goal, 200):
        xi = 1j * size
        for _ in range(30):
            a, b = nu
            rest = 1 - z2 * a * b
            f = np.array(
                [
                    a * (-xi - b - z2 * b / rest) - psi1,
                    b * (-xi - a - z2 * a / rest) - psi2,
                ]
            )
            # d/da and d/db of a b z²/(1 - z² a b) are b and a times z²/(1 - z² a b)²
            common = 1 + z2 / rest**2
            jacobian = np.array([[-xi - b * common, -a * common], [-b * common, -xi - a * common]])
            step = np.linalg.solve(jacobian, f)
            nu = nu - step
            if np.max(np.abs(step)) < 1e-15 * np.max(np.abs(nu)):
                break
    product = complex(nu[0] * nu[1])
    assert cmath.isclose(product, product.real, rel_tol=1e-12)
    return product.real


def mei_montanari(problem: dt.Problem) -> tuple[float, float]:
    """B = E₁/E₀ and V = E₂/E₀, typed in as [mei2019] prints them."""
    psi1, psi2, ridge = (
        float(np.asarray(v))
        for v in (problem.features_per_dim, problem.samples_per_dim, problem.ridge)
    )
    mu1, mustar = problem.moments.linear, problem.moments.nonlinear
    z = mu1 / mustar
    x = chi(psi1, psi2, z**2, ridge / mustar**2)
    E0 = (
        -(x**5) * z**6
        + 3 * x**4 * z**4
        + (psi1 * psi2 - psi2 - psi1 + 1) * x**3 * z**6
        - 2 * x**3 * z**4
        - 3 * x**3 * z**2
        + (psi1 + psi2 - 3 * psi1 * psi2 + 1) * x**2 * z**4
        + 2 * x**2 * z**2
        + x**2
        + 3 * psi1 * psi2 * x * z**2
        - psi1 * psi2
    )
    E1 = psi2 * x**3 * z**4 - psi2 * x**2 * z**2 + psi1 * psi2 * x * z**2 - psi1 * psi2
    E2 = (
        x**5 * z**6
        - 3 * x**4 * z**4
        + (psi1 - 1) * x**3 * z**6
        + 2 * x**3 * z**4
        + 3 * x**3 * z**2
        + (-psi1 - 1) * x**2 * z**4
        - 2 * x**2 * z**2
        - x**2
    )
    return E1 / E0, E2 / E0


@pytest.mark.parametrize("activation", full_beyond({"relu"}, ["relu", "tanh", "erf"]))
@pytest.mark.parametrize(
    "point", [(0.5, 1.0, 1e-3), (1.0, 1.0, 0.1), (1.5, 0.6, 1e-2), (3.0, 4.0, 1.0)], ids=str
)
def test_mei_and_montanari_formulas_agree(
    point: tuple[float, float, float], activation: str
) -> None:
    problem = problem_at(point, activation)
    bias, variance = mei_montanari(problem)
    for terms, tolerance in ((psi_terms(problem), 1e-8), (dt.theory.psi_terms(problem), 1e-10)):
        signal = np.asarray(1 - 2 * terms.psi1 + terms.psi2_vanilla)
        assert float(signal) == pytest.approx(bias, rel=tolerance)
        assert terms.psi3_vanilla == pytest.approx(variance, rel=tolerance)
