# ruff: noqa: N802 - the paper's letters
r"""The actions S₀, Sᵛ, Sᵉ, Sᵈ of [dascoli2020] App. B, in the order of the print; and Sᵖ.

The trace of two resolvents is written as an integral over replicas, and after all averages as one
over overlaps: q, r within a replica, q̃, r̃ between two of them, with weight exp(-D S/2). S₀ fixes
q and r; the rest of the action says how much q̃ and r̃ fluctuate around zero. Which randomness the
two resolvents share decides how q̃ and r̃ are coupled:

    v  vanilla               same X, same W and Θ         e  ensembling       same X
    d  divide and conquer    nothing                      p  shared features  same Θ

**Not in the paper: Sᵖ.** With independent X and W the determinants of G_X and G_W factorize, as for
d; with a common Θ the integral over λ̂ couples the two systems through the full 2 × 2 matrices
Q = [[q, q̃], [q̃, q]] and R = [[r, r̃], [r̃, r]], as for v:

    Sᵖ = Σ_copies [λ ψ₁² ψ₂ q + ψ₂ log(1 + μ₁² ψ₁ r + μ⋆² ψ₁ q)]
         + Tr(R Q⁻¹) + (1 - ψ₁) log det Q - log det R.
"""

from decimal import Decimal
from typing import TypeVar

from doubletrouble.theory.replica.hessian import Jet, log
from doubletrouble.theory.replica.setting import Setting

Real = TypeVar("Real", Decimal, Jet)


def S0(at: Setting, q: Jet, r: Jet) -> Jet:
    """The action within one replica; its stationary point is (q⋆, r⋆)."""
    psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
    return (  # [dascoli2020] App. B
        lam * psi1**2 * psi2 * q
        + psi2 * log(mustar**2 * psi1 * q / (mu1**2 * psi1 * r + 1) + 1)
        + r / q
        + (1 - psi1) * log(q)
        + psi2 * log(mu1**2 * psi1 * r + 1)
        - log(r)
    )


def f_v(at: Setting, q: Real, r: Real) -> Real:
    """∂S₀/∂q."""
    psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
    return (  # [dascoli2020] App. B
        lam * psi1**2 * psi2
        + mustar**2 * psi1 * psi2 / (mustar**2 * psi1 * q + mu1**2 * psi1 * r + 1)
        + (1 - psi1) / q
        - r / q**2
    )


def g_v(at: Setting, q: Real, r: Real) -> Real:
    """∂S₀/∂r."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    return (  # [dascoli2020] App. B
        -(mustar**2) * mu1**2 * psi1**2 * psi2 * q
        / ((mu1**2 * psi1 * r + 1) * (mustar**2 * psi1 * q + mu1**2 * psi1 * r + 1))
        + mu1**2 * psi1 * psi2 / (mu1**2 * psi1 * r + 1)
        + 1 / q
        - 1 / r
    )  # fmt: skip


def f_e(at: Setting, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵉ in r̃."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    value = (  # [dascoli2020] App. B
        2 * r * mu1**2 * psi1 * (1 + q * mustar**2 * psi1)
        + (1 + q * mustar**2 * psi1) ** 2
        - r**2 * mu1**4 * psi1**2 * (-1 + psi2)
    ) / (r**2 * (1 + r * mu1**2 * psi1 + q * mustar**2 * psi1) ** 2)
    return value / 2 if 10 in at.printed else value  # erratum 10


def g_e(at: Setting, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵉ in q̃."""
    value = at.psi1 / q**2  # [dascoli2020] App. B
    return value / 2 if 10 in at.printed else value  # erratum 10


def f_d(at: Setting, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵈ in r̃."""
    return 1 / r**2  # [dascoli2020] App. B


def g_d(at: Setting, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵈ in q̃."""
    return at.psi1 / q**2  # [dascoli2020] App. B


def S_v(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Same data, same features."""
    return 2 * (S0(at, q, r) + qt * f_v(at, q, r) + rt * g_v(at, q, r))  # [dascoli2020] App. B


def S_e(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Same data, fresh features."""
    return S0(at, q, r) + rt**2 * f_e(at, q, r) + qt**2 * g_e(at, q, r)  # [dascoli2020] App. B


def S_d(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Fresh data, fresh features."""
    return S0(at, q, r) + rt**2 * f_d(at, q, r) + qt**2 * g_d(at, q, r)  # [dascoli2020] App. B


def S_p(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Fresh data, same features; not in the paper."""
    psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
    det_Q, det_R = q**2 - qt**2, r**2 - rt**2
    trace_R_over_Q = 2 * (r * q - rt * qt) / det_Q
    one_copy = lam * psi1**2 * psi2 * q + psi2 * log(1 + mu1**2 * psi1 * r + mustar**2 * psi1 * q)
    return 2 * one_copy + trace_R_over_Q + (1 - psi1) * log(det_Q) - log(det_R)
