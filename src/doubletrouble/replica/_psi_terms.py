r"""The Ψ terms by the paper's own route, at every point of a problem; the saddle point (q⋆, r⋆).

With B = ZᵀZ + ψ₁ψ₂λ, q = (1/P) tr B⁻¹ and r = (1/PD) tr Θᵀ B⁻¹ Θ. The gradient (fᵛ, gᵛ) of S₀
vanishes at the saddle point. When λ is large, q = r = 1/(ψ₁ψ₂λ). From there λ is lowered step by
step, each solution (extrapolated) being the start of Newton's method for the next, so that the
physical branch is followed.

The unknowns are log q and log r, and the equations q fᵛ = 0, r gᵛ = 0, which have no units; their
Jacobian is H[S₀] in the units of `_hessian`, plus the gradient on the diagonal.
"""

from __future__ import annotations  # help() then shows the alias Value

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import Value, common_shape, refuse
from doubletrouble.problems import Problem, require_ridge_regression
from doubletrouble.replica._appendix_b import Formulas, ReplicaPoint
from doubletrouble.replica._errata import checked_errata, formulas
from doubletrouble.replica._hessian import DecimalArray, expand, solve, trace
from doubletrouble.results import PsiTerms

_SIZES = ("features_per_dim", "samples_per_dim", "ridge")
_DOMAIN = "positive and finite for the replica route (theory.psi_terms covers the limits)"

_STEP = Decimal(2)  # in log λ; halved when Newton's method fails
_SMALLEST_STEP = Decimal("1e-3")
_NEWTON_STEPS = 20
_ROUGH = Decimal("1e-3")  # tolerance at the ridges before the last
_FAR = Decimal(5)  # a Newton step in log q or log r beyond this diverges


def psi_terms(problem: Problem, printed: Iterable[int] = frozenset()) -> PsiTerms[Value]:
    """Return the Ψ terms by the paper's own route: saddle point, Hessians, prefactors.

    The values agree with those of `theory.psi_terms`, which shares no formula with this
    route and is faster (20 ms per point here).

    Parameters
    ----------
    problem : Problem
        A problem of ridge regression, with a positive, finite ridge and finitely many features.
        P/D, N/D and λ may be arrays.
    printed : iterable of int, default: frozenset()
        Errata, by their numbers in docs/errata.md, to leave as the paper prints them; 12 and 13,
        two forms of one matrix, exclude each other.

    Returns
    -------
    PsiTerms
        Floats, or arrays of the shape that P/D, N/D and λ broadcast to.

    Raises
    ------
    ValueError
        For other losses than the squared loss of regression, sizes or a ridge that are not positive
        and finite, or unknown errata.
    TypeError
        If `problem` is not a `Problem`, or `printed` not a set of numbers.
    ConvergenceError
        If the saddle point does not converge.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    >>> round(dt.replica.psi_terms(problem).psi2_divide, 5)
    0.15333
    >>> round(dt.replica.psi_terms(problem, printed={8}).psi2_divide, 5)
    0.77534
    """
    shape, errata = shape_of(problem), checked_errata(printed)
    rows = [_at_point(at, errata) for at in points_of(problem)]
    if not shape:
        return PsiTerms(**rows[0])
    return PsiTerms(**{name: np.reshape([row[name] for row in rows], shape) for name in rows[0]})


def _at_point(at: ReplicaPoint, printed: frozenset[int]) -> dict[str, float]:
    with localcontext(Context(prec=at.digits)):
        q, r = stationary_point(at)
        terms = formulas(printed)(at).psi(q, r)
        correct = Formulas(at)  # no erratum applies to the term that is not in the paper
        action, prefactor = expand(correct.S_p, q, r), expand(correct.P_psi2_p, q, r)
        terms["psi2_features"] = trace(action, prefactor)
        return {name: float(value) for name, value in terms.items()}


def shape_of(problem: Any) -> tuple[int, ...]:
    """The broadcast shape of P/D, N/D and λ; raise outside the domain of the replica route."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    require_ridge_regression(problem, "the replica route")
    sizes = {name: getattr(problem, name) for name in _SIZES}
    for name, value in sizes.items():
        refuse(name, value, ~((np.asarray(value) > 0) & np.isfinite(value)), _DOMAIN)
    return common_shape(sizes)


def points_of(problem: Problem) -> Iterator[ReplicaPoint]:
    """Every point of a problem, in the order of its arrays."""
    shape, moments = shape_of(problem), problem.moments
    sizes = [np.broadcast_to(getattr(problem, name), shape).reshape(-1) for name in _SIZES]
    for psi1, psi2, lam in np.stack(sizes, axis=-1).tolist():
        yield ReplicaPoint.of(
            psi1=psi1, psi2=psi2, lam=lam, mu1=moments.linear, mustar=moments.nonlinear
        )


# --- the saddle point -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SaddlePoint:
    """The stationary point (q⋆, r⋆) of the action S₀ [dascoli2020] App. B.

    q⋆ = (1/P) tr B⁻¹ and r⋆ = (1/PD) tr Θᵀ B⁻¹ Θ with B = ZᵀZ + ψ₁ψ₂λ. Then Ψ₁ = 1 - r⋆/q⋆, and
    the effective ridge is λ̃ = 1/(ψ₁ψ₂q⋆).

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    >>> q = dt.replica.saddle_point(problem).q
    >>> round(1 / (2.0 * 1.0 * q), 6) == round(dt.theory.effective_ridge(problem), 6)
    True
    """

    q: float  # q⋆
    r: float  # r⋆


def saddle_point(problem: Problem) -> SaddlePoint:
    """Return the saddle point of the replica route at a single point.

    Parameters
    ----------
    problem : Problem
        A problem of ridge regression, with a positive, finite ridge and finitely many features.

    Returns
    -------
    SaddlePoint
        The stationary point (q⋆, r⋆) of the action.

    Raises
    ------
    ValueError
        For other losses than the squared loss of regression, sizes or a ridge that are not positive
        and finite, or fields that are arrays.
    TypeError
        If `problem` is not a `Problem`.
    ConvergenceError
        If the saddle point does not converge.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.1)
    >>> point = dt.replica.saddle_point(problem)
    >>> round(point.q, 6), round(point.r, 6)
    (4.606362, 3.009781)
    """
    if shape := shape_of(problem):
        raise ValueError(f"problem must be a single point, got fields of shape {shape}")
    (at,) = points_of(problem)
    q, r = stationary_point(at)
    return SaddlePoint(q=float(q), r=float(r))


def stationary_point(at: ReplicaPoint) -> tuple[Decimal, Decimal]:
    """Return (q⋆, r⋆), to the digits of the point."""
    with localcontext(Context(prec=at.digits)):
        # at this λ the degrees of freedom are below a twentieth of P and N
        large = 20 * at.power * (1 + 1 / at.psi1 + 1 / at.psi2)
        q, r = _follow(at, max(at.lam, large).ln())
        return q, r


def _follow(at: ReplicaPoint, log_lam: Decimal) -> DecimalArray:
    """Track the solution from a large λ down to that of `at`."""
    target, step = at.lam.ln(), _STEP
    point = np.full(2, -(at.psi1 * at.psi2).ln() - log_lam)
    slope = np.full(2, Decimal(-1))  # d(log q, log r)/d(log λ)
    while log_lam > target and step > _SMALLEST_STEP:
        following = max(log_lam - step, target)
        start = point + slope * (following - log_lam)
        solved = _newton(replace(at, lam=following.exp()), start, _ROUGH)
        if solved is None:
            step = step / 2
            continue
        slope = (solved - point) / (following - log_lam)
        point, log_lam = solved, following
    tolerance = Decimal(10) ** -(at.digits // 2)
    solution = _newton(at, point, tolerance) if log_lam <= target else None
    if solution is None:
        q, r = np.exp(point)
        raise ConvergenceError(
            f"the saddle point converged down to ridge {log_lam.exp():.3g} only, "
            f"not to {at.lam:.3g}",
            last=(float(q), float(r)),
            residual=float(max(abs(_gradient(at, q, r)))),
        )
    return np.asarray(np.exp(solution))


def _gradient(at: ReplicaPoint, q: Decimal, r: Decimal) -> DecimalArray:
    formulas = Formulas(at)
    return np.array([q * formulas.f_v(q, r), r * formulas.g_v(q, r)])


def _newton(at: ReplicaPoint, start: DecimalArray, tolerance: Decimal) -> DecimalArray | None:
    """Solve for (log q, log r) from `start`; None if that does not converge."""
    point = start
    for _ in range(_NEWTON_STEPS):
        q, r = np.exp(point)
        gradient = _gradient(at, q, r)
        curvature = expand(lambda q, r, qt, rt: Formulas(at).S0(q, r), q, r).hessian[:2, :2]
        step: DecimalArray = solve(curvature + np.diag(gradient), gradient[:, None])[:, 0]
        if max(abs(step)) > _FAR:
            return None
        point = np.subtract(point, step)
        if max(abs(step)) < tolerance:  # the next step would be its square
            return point
    return None
