r"""The saddle point (q⋆, r⋆) of the action S₀, and the Ψ terms at it.

With B = ZᵀZ + ψ₁ψ₂λ, q = (1/P) tr B⁻¹ and r = (1/PD) tr Θᵀ B⁻¹ Θ. The gradient (fᵛ, gᵛ) of S₀
vanishes at the saddle point [dascoli2020] App. B. When λ is large, q = r = 1/(ψ₁ψ₂λ). From there λ
is lowered step by step, each solution (extrapolated) being the start of Newton's method for the
next, so that the physical branch is followed.

The unknowns are log q and log r, and the equations q fᵛ = 0, r gᵛ = 0, which have no units; their
Jacobian is H[S₀] in the units of `hessian`, plus the gradient on the diagonal.
"""

from collections.abc import Iterable
from decimal import Context, Decimal, localcontext

import numpy as np

from doubletrouble.problems import Problem
from tests.oracles.replica.appendix_b import Formulas, Point
from tests.oracles.replica.hessian import DecimalArray, expand, solve, trace

_STEP = Decimal(2)  # in log λ; halved when Newton's method fails
_SMALLEST_STEP = Decimal("1e-3")
_NEWTON_STEPS = 20
_ROUGH = Decimal("1e-3")  # tolerance at the ridges before the last
_FAR = Decimal(5)  # a Newton step in log q or log r beyond this diverges


def psi_terms(problem: Problem, printed: Iterable[int] = ()) -> dict[str, float]:
    """The Ψ terms of a problem without arrays, with the misprints `printed`."""
    at = point_of(problem)
    with localcontext(Context(prec=at.digits)):
        q, r = _saddle_point(at)
        terms = Formulas(at, frozenset(printed)).psi(q, r)
        correct = Formulas(at)  # the term that is not in the paper has no misprint
        action, prefactor = expand(correct.S_p, q, r), expand(correct.P_psi2_p, q, r)
        terms["psi2_features"] = trace(action, prefactor)
        return {name: float(value) for name, value in terms.items()}


def saddle_point(problem: Problem) -> tuple[float, float]:
    """(q⋆, r⋆) of a problem without arrays."""
    at = point_of(problem)
    with localcontext(Context(prec=at.digits)):
        q, r = _saddle_point(at)
        return float(q), float(r)


def point_of(problem: Problem) -> Point:
    """The point of a problem: floats, which decimals represent exactly."""
    sizes = (problem.features_per_dim, problem.samples_per_dim, problem.ridge)
    moments = (problem.moments.linear, problem.moments.nonlinear)
    return Point(*(Decimal(float(np.asarray(value))) for value in (*sizes, *moments)))


def _saddle_point(at: Point) -> DecimalArray:
    """Track the solution from a large λ down to that of `at`."""
    # where the degrees of freedom are below a twentieth of P and N
    large = 20 * at.power * (1 + 1 / at.psi1 + 1 / at.psi2)
    log_lam, target, step = max(at.lam, large).ln(), at.lam.ln(), _STEP
    point = np.full(2, -(at.psi1 * at.psi2).ln() - log_lam)
    slope = np.full(2, Decimal(-1))  # d(log q, log r)/d(log λ)
    while log_lam > target:
        following = max(log_lam - step, target)
        start = point + slope * (following - log_lam)
        solved = _newton(at._replace(lam=following.exp()), start, _ROUGH)
        if solved is None:
            step = step / 2
            assert step > _SMALLEST_STEP, f"no saddle point below ridge {log_lam.exp():.3g}"
            continue
        slope = (solved - point) / (following - log_lam)
        point, log_lam = solved, following
    solution = _newton(at, point, Decimal(10) ** -(at.digits // 2))
    assert solution is not None
    return np.asarray(np.exp(solution))


def _newton(at: Point, start: DecimalArray, tolerance: Decimal) -> DecimalArray | None:
    """Solve for (log q, log r) from `start`; None if that does not converge."""
    formulas, point = Formulas(at), start
    for _ in range(_NEWTON_STEPS):
        q, r = np.exp(point)
        gradient = np.array([q * formulas.f_v(q, r), r * formulas.g_v(q, r)])
        curvature = expand(lambda q, r, qt, rt: formulas.S0(q, r), q, r).hessian[:2, :2]
        step: DecimalArray = solve(curvature + np.diag(gradient), gradient[:, None])[:, 0]
        if max(abs(step)) > _FAR:
            return None
        point = np.subtract(point, step)
        if max(abs(step)) < tolerance:  # the next step would be its square
            return point
    return None
