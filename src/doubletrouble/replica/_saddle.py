r"""The saddle point (q⋆, r⋆): where the gradient (fᵛ, gᵛ) of S₀ vanishes.

q = (1/P) tr B⁻¹ and r = (1/PD) tr Θᵀ B⁻¹ Θ, with B = ZᵀZ + ψ₁ψ₂λ: when λ is large,
q = r = 1/(ψ₁ψ₂λ). From there λ is lowered step by step, each solution (extrapolated) being the
start of Newton's method for the next, so that the physical branch is followed.

The unknowns are log q and log r, and the equations q fᵛ = 0, r gᵛ = 0, which have no units; their
Jacobian is H[S₀] in the units of `_hessian`, plus the gradient on the diagonal.
"""

from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext

import numpy as np

from doubletrouble.errors import ConvergenceError
from doubletrouble.problems import Problem
from doubletrouble.replica._appendix_b import Formulas
from doubletrouble.replica._hessian import DecimalArray, expand, solve
from doubletrouble.replica._point import ReplicaPoint, points_of, shape_of

_STEP = Decimal(2)  # in log λ; halved when Newton's method fails
_SMALLEST_STEP = Decimal("1e-3")
_NEWTON_STEPS = 20
_ROUGH = Decimal("1e-3")  # tolerance at the ridges before the last
_FAR = Decimal(5)  # a Newton step in log q or log r beyond this diverges


@dataclass(frozen=True, kw_only=True)
class SaddlePoint:
    """The stationary point (q⋆, r⋆) of the action S₀ [dascoli2020] App. B.

    q⋆ = (1/P) tr B⁻¹ and r⋆ = (1/PD) tr Θᵀ B⁻¹ Θ with B = ZᵀZ + ψ₁ψ₂λ. Then Ψ₁ = 1 - r⋆/q⋆, and
    the effective ridge is λ̃ = 1/(ψ₁ψ₂q⋆).
    """

    q: float
    r: float


def saddle_point(problem: Problem) -> SaddlePoint:
    """Return the saddle point of the replica route at a single point.

    The ridge has to be positive and finite, and the number of features finite.

    >>> from doubletrouble import Problem
    >>> point = saddle_point(Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.1))
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
