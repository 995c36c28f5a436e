"""The paper's replica route, corrected, against the closed forms and against Mei and Montanari."""

import cmath
import itertools
import math
import re
import subprocess
import sys
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.results import PsiTerms
from tests.oracles.replica import MISPRINTS, psi_terms, saddle_point
from tests.oracles.replica.appendix_b import Formulas
from tests.oracles.replica.hessian import Jet, expand
from tests.oracles.replica.saddle import point_of
from tests.selection import full_beyond

TERMS = [*PsiTerms.symbols()]
ROOT = Path(__file__).parents[2]
ERRATA_PAGE = ROOT / "docs" / "errata.md"
# where docs/errata.md states its numbers
REFERENCE = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1, activation="relu")

MOST = sorted(set(MISPRINTS) - {13})  # 12 and 13 are two forms of one matrix
APPENDIX_B = range(1, 9)

# P < N, P = N and P > N, on both sides of D, from strong to the paper's weak ridge
SIZES = [(0.1, 10.0), (0.5, 1.0), (1.0, 1.0), (2.0, 1.0), (3.0, 3.0), (10.0, 0.3)]
POINTS = [(*sizes, ridge) for sizes in SIZES for ridge in (1e-5, 1e-2, 1.0)]
Size = tuple[float, float, float]


def problem_at(point: Size, activation: str | dt.Activation) -> dt.Problem:
    features, samples, ridge = point
    return dt.Problem(
        features_per_dim=features, samples_per_dim=samples, ridge=ridge, activation=activation
    )


# --- agreement with the closed forms -------------------------------------------------------------


def assert_equals_the_closed_form(problem: dt.Problem, rounding: float = 0.0) -> None:
    replica, closed = psi_terms(problem), dt.theory.psi_terms(problem)
    assert list(replica) == TERMS
    for name, value in replica.items():
        expected = getattr(closed, name)
        assert value == pytest.approx(expected, rel=1e-12, abs=rounding), (name, problem)


@pytest.mark.parametrize("activation", full_beyond({"relu"}, ["relu", "tanh", "erf", "sign"]))
def test_equals_the_closed_form(activation: str) -> None:
    extreme = [(2.0, 1.0, 1e-12), (1.0, 1.0, 1e-12), (1e4, 1e-3, 1e6)]
    for point in [*POINTS, *extreme]:
        assert_equals_the_closed_form(problem_at(point, activation))


@pytest.mark.parametrize("seed", full_beyond({0}, range(6)))
def test_equals_the_closed_form_at_random_problems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(25):
        features, samples = 10 ** rng.uniform(-3, 3, 2)
        linear, nonlinear = 10 ** rng.uniform(-1.5, 0.5, 2)
        activation = dt.Activation(name="random", mean=0.0, linear=linear, nonlinear=nonlinear)
        point = (float(features), float(samples), float(10 ** rng.uniform(-10, 3)))
        assert_equals_the_closed_form(problem_at(point, activation))


@pytest.mark.parametrize("activation", ["linear", "quadratic"])
def test_covers_activations_without_a_linear_or_a_nonlinear_part(activation: str) -> None:
    for features in (0.5, 1.0, 2.0):
        problem = problem_at((features, 1.0, 0.01), activation)
        assert_equals_the_closed_form(problem, rounding=1e-30)


def test_shares_nothing_with_the_closed_form() -> None:
    code = """
import sys
import doubletrouble as dt
from tests.oracles.replica import psi_terms, saddle_point
problem = dt.Problem(ridge=0.1)
psi_terms(problem), psi_terms(problem, printed={8}), saddle_point(problem)
print(*(name for name in sys.modules if name.startswith("doubletrouble.theory")))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.stdout.split() == []


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
    point = saddle_point(problem_at((features, 1.0, ridge), "relu"))
    assert point == pytest.approx((q, r), rel=1e-6)
    assert 1 / (features * point[0]) == pytest.approx(kappa, rel=1e-4)


def test_overlap_and_effective_ridge_at_the_saddle_point() -> None:
    for point in POINTS[::2]:
        problem = problem_at(point, "relu")
        q, r = saddle_point(problem)
        assert 1 - r / q == pytest.approx(dt.theory.psi_terms(problem).psi1, rel=1e-12)
        effective = 1 / (point[0] * point[1] * q)
        assert effective == pytest.approx(dt.theory.effective_ridge(problem), rel=1e-12)


def test_printed_gradient_is_the_gradient_of_the_printed_action() -> None:
    formulas, q, r = Formulas(point_of(REFERENCE)), Decimal("1.3"), Decimal("0.4")
    gradient = expand(lambda q, r, qt, rt: formulas.S0(q, r), q, r).gradient
    assert float(gradient[0]) == pytest.approx(float(q * formulas.f_v(q, r)), rel=1e-20)
    assert float(gradient[1]) == pytest.approx(float(r * formulas.g_v(q, r)), rel=1e-20)


# --- the misprints -------------------------------------------------------------------------------


def errata_rows() -> dict[int, str]:
    """The last column of every numbered row of docs/errata.md."""
    rows = re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", ERRATA_PAGE.read_text("utf-8"), re.MULTILINE)
    return {int(number): effect for number, effect in rows}


def test_errata_are_numbered_consecutively() -> None:
    numbers = list(errata_rows())
    assert numbers == list(range(1, len(numbers) + 1))
    assert set(MISPRINTS) == {n for n, effect in errata_rows().items() if "`psi" in effect}


def test_each_misprint_has_the_effect_that_the_page_states() -> None:
    right = psi_terms(REFERENCE)
    for number in MISPRINTS:
        stated = {
            name: (as_printed, correct)
            for name, as_printed, correct in re.findall(
                r"`(psi\w+)` (-?\d+\.\d{5}) for (-?\d+\.\d{5})", errata_rows()[number]
            )
        }
        wrong = psi_terms(REFERENCE, printed={number})
        changed = {n for n in TERMS if wrong[n] != pytest.approx(right[n], rel=1e-12)}
        assert changed == set(stated) != set(), number
        for name, values in stated.items():
            assert values == (f"{wrong[name]:.5f}", f"{right[name]:.5f}"), number


@pytest.mark.parametrize("numbers", [(1, 2, 4, 5), (2, 11)])
def test_combined_misprints_have_the_stated_value(numbers: tuple[int, ...]) -> None:
    value = psi_terms(REFERENCE, printed=numbers)["psi1"]
    listed = f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
    assert f"with {listed} together: {value:.5f}" in ERRATA_PAGE.read_text("utf-8")


def test_appendix_as_printed_has_the_stated_values() -> None:
    terms = psi_terms(REFERENCE, printed=APPENDIX_B)
    line = ", ".join(f"`{name}` {terms[name]:.5f}" for name in TERMS[:-1])
    assert line in " ".join(ERRATA_PAGE.read_text("utf-8").split())


@pytest.mark.parametrize("page", ["claims.md", "notebooks/paper.ipynb"])
def test_pages_quote_the_appendix_as_printed(page: str) -> None:
    terms = psi_terms(REFERENCE, printed=APPENDIX_B)
    text = (ROOT / "docs" / page).read_text("utf-8").replace('\\"', '"')
    quoted = re.findall(r'"(psi\w+)": (-?\d\.\d{5})', text)
    assert len(quoted) > 3
    for name, value in quoted:
        assert value == f"{terms[name]:.5f}", name


def test_each_misprint_has_an_effect_in_addition_to_those_before_it() -> None:
    results = [psi_terms(REFERENCE, printed=MOST[:count]) for count in range(len(MOST) + 1)]
    for number, (before, after) in zip(MOST, itertools.pairwise(results), strict=True):
        assert before != after, number


def test_three_forms_of_one_matrix_agree_to_first_order() -> None:
    """They are M_W of e in App. B, and its definition and its expansion in App. C."""
    formulas, q, r = Formulas(point_of(REFERENCE)), Decimal("1.3"), Decimal("0.4")
    forms = (
        formulas.M_W_e,
        lambda q, r, qt, rt: formulas.M_W_e_multiplied_out(q, r, rt),
        lambda q, r, qt, rt: formulas.M_W_e_defined(q, r, rt),
    )
    for index in ((0, 0), (0, 1)):

        def entry(form: Any, index: tuple[int, int] = index) -> Jet:
            return expand(lambda *overlaps: form(*overlaps)[index], q, r)

        first, *others = map(entry, forms)
        for other in others:
            assert float(other.value) == pytest.approx(float(first.value), rel=1e-20)
            for ours, theirs in zip(first.gradient, other.gradient, strict=True):
                assert float(theirs) == pytest.approx(float(ours), rel=1e-20, abs=1e-30)


def test_term_of_shared_features_has_no_misprint() -> None:
    terms = psi_terms(REFERENCE, printed=MOST)
    assert terms["psi2_features"] == psi_terms(REFERENCE)["psi2_features"]


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
    closed = vars(dt.theory.psi_terms(problem))
    for terms, tolerance in ((psi_terms(problem), 1e-8), (closed, 1e-10)):
        signal = 1 - 2 * terms["psi1"] + terms["psi2_vanilla"]
        assert signal == pytest.approx(bias, rel=tolerance)
        assert terms["psi3_vanilla"] == pytest.approx(variance, rel=tolerance)
