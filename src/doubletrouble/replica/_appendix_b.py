# ruff: noqa: N802 - the paper's letters
r"""The formulas of [dascoli2020] App. B, corrected, in the order of the print.

The trace of two resolvents is written as an integral over replicas, and after all averages as one
over overlaps: q, r within a replica, q̃, r̃ between two of them, with weight exp(-D S/2). S₀ fixes
q and r; the rest of the action S is the curvature in q̃ and r̃ around zero. What multiplies the
weight is the prefactor P_Ψ: an overlap of the two students' weights (through r̃, and q̃ where the
features are shared), times an overlap of what they fit (signal, Ψ₂, or noise, Ψ₃). Which randomness
the two resolvents share is the index:

    v  vanilla               same X, same W and Θ         e  ensembling       same X
    d  divide and conquer    nothing

Ψ₁ is the value of its prefactor at the saddle point. The other prefactors vanish there, and what
remains is the Gaussian fluctuation around it, Ψ = ± Tr[H[S]⁻¹ H[P_Ψ]]. The sign is minus for the
vanilla terms: 2n replicas have 2n(2n-1)/2 → -n pairs as n → 0. The factor D in front of every
prefactor but P_Ψ₁ is left out: it cancels the 1/D of the trace.

**Differs from the paper.** Its misprints are corrected here; `_errata` has what is printed instead.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from doubletrouble.replica._hessian import Jet, expand, log, trace
from doubletrouble.replica._point import ReplicaPoint

Real = TypeVar("Real", Decimal, Jet)
Overlaps: TypeAlias = Callable[[ReplicaPoint, Jet, Jet, Jet, Jet], Jet]
Matrix: TypeAlias = npt.NDArray[np.object_]  # 2 × 2, of jets


# --- results -------------------------------------------------------------------------------------


def psi(at: ReplicaPoint, q: Decimal, r: Decimal) -> dict[str, Decimal]:
    """The terms Ψ from the Hessians at the saddle point (q, r, 0, 0)."""

    def H(F: Overlaps) -> Jet:
        return expand(lambda q, r, qt, rt: F(at, q, r, qt, rt), q, r)

    v, e, d = H(S_v), H(S_e), H(S_d)
    return {  # [dascoli2020] App. B
        "psi1": H(P_psi1).value,
        "psi2_vanilla": -trace(v, H(P_psi2_v)),
        "psi3_vanilla": -trace(v, H(P_psi3_v)),
        "psi2_ensemble": trace(e, H(P_psi2_e)),
        "psi3_ensemble": trace(e, H(P_psi3_e)),
        "psi2_divide": trace(d, H(P_psi2_d)),
    }


def S0(at: ReplicaPoint, q: Jet, r: Jet) -> Jet:
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


# --- actions -------------------------------------------------------------------------------------


def S_v(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Same data, same features."""
    return 2 * (S0(at, q, r) + qt * f_v(at, q, r) + rt * g_v(at, q, r))  # [dascoli2020] App. B


def S_e(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Same data, fresh features."""
    return S0(at, q, r) + rt**2 * f_e(at, q, r) + qt**2 * g_e(at, q, r)  # [dascoli2020] App. B


def S_d(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Fresh data, fresh features."""
    return S0(at, q, r) + rt**2 * f_d(at, q, r) + qt**2 * g_d(at, q, r)  # [dascoli2020] App. B


def f_v(at: ReplicaPoint, q: Real, r: Real) -> Real:
    """∂S₀/∂q."""
    psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
    return (  # [dascoli2020] App. B
        lam * psi1**2 * psi2
        + mustar**2 * psi1 * psi2 / (mustar**2 * psi1 * q + mu1**2 * psi1 * r + 1)
        + (1 - psi1) / q
        - r / q**2
    )


def g_v(at: ReplicaPoint, q: Real, r: Real) -> Real:
    """∂S₀/∂r."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    return (  # [dascoli2020] App. B
        -(mustar**2) * mu1**2 * psi1**2 * psi2 * q
        / ((mu1**2 * psi1 * r + 1) * (mustar**2 * psi1 * q + mu1**2 * psi1 * r + 1))
        + mu1**2 * psi1 * psi2 / (mu1**2 * psi1 * r + 1)
        + 1 / q
        - 1 / r
    )  # fmt: skip


def f_e(at: ReplicaPoint, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵉ in r̃."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    return (  # [dascoli2020] App. B
        2 * r * mu1**2 * psi1 * (1 + q * mustar**2 * psi1)
        + (1 + q * mustar**2 * psi1) ** 2
        - r**2 * mu1**4 * psi1**2 * (-1 + psi2)
    ) / (r**2 * (1 + r * mu1**2 * psi1 + q * mustar**2 * psi1) ** 2)


def g_e(at: ReplicaPoint, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵉ in q̃."""
    return at.psi1 / q**2  # [dascoli2020] App. B


def f_d(at: ReplicaPoint, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵈ in r̃."""
    return 1 / r**2  # [dascoli2020] App. B


def g_d(at: ReplicaPoint, q: Jet, r: Jet) -> Jet:
    """Half the curvature of Sᵈ in q̃."""
    return at.psi1 / q**2  # [dascoli2020] App. B


# --- prefactors ----------------------------------------------------------------------------------


def P_psi1(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of teacher and student."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    M_X, M_W, _ = matrices_v(at, q, r, qt, rt)
    return psi1 * psi2 * mu1**2 * (  # [dascoli2020] App. B
        _11(M_X)
        + mu1**2 * mustar**2 * psi1**2 * _11(M_X @ M_W @ M_X)
        - mustar**2 * psi1 * _11(M_X @ M_W)
    )  # fmt: skip


def P_psi2_v(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Power of the noise-free student."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    signal = signal_12(at, matrices_v(at, q, r, qt, rt))
    return psi1**2 * psi2 * (mu1**2 * rt + mustar**2 * qt) * signal  # [dascoli2020] App. B


def P_psi3_v(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Response to label noise."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    noise = noise_12(at, matrices_v(at, q, r, qt, rt))
    return psi1**2 * psi2 * (mu1**2 * rt + mustar**2 * qt) * noise  # [dascoli2020] App. B


def P_psi2_e(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of two noise-free students: same data, fresh features."""
    signal = signal_12(at, matrices_e(at, q, r, qt, rt))
    return at.psi1**2 * at.psi2 * at.mu1**2 * rt * signal  # [dascoli2020] App. B


def P_psi3_e(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Common response of two students to label noise: same data, fresh features."""
    noise = noise_12(at, matrices_e(at, q, r, qt, rt))
    return at.psi1**2 * at.psi2 * at.mu1**2 * rt * noise  # [dascoli2020] App. B


def P_psi2_d(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of two noise-free students: fresh data, fresh features."""
    signal = signal_11(at, matrices_d(at, q, r, rt))
    return at.mu1**2 * at.psi1 * at.psi2**2 * rt * signal  # [dascoli2020] App. B


# the brackets of the prefactors, and the scalars P_XX, P_WX, P_WW in them


class Matrices(NamedTuple):
    """M_Xᵃ, M_Wᵃ, N_Xᵃ for one a of v, e, d."""

    M_X: Matrix
    M_W: Matrix
    N_X: Matrix


def signal_12(at: ReplicaPoint, matrices: Matrices) -> Jet:
    """The bracket of P_Ψ₂ᵛ and P_Ψ₂ᵉ: the data are shared."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    c = (mu1 * mustar * psi1) ** 2
    M_X, M_W, N_X = matrices
    P_XX = (  # [dascoli2020] App. B
        psi2 * _12(N_X)
        + _12(M_X)
        + 2 * psi2 * c * _12(M_X @ N_X @ M_W)
        + c * _12(M_X @ M_W @ M_X)
        + psi2 * c**2 * _12(M_X @ M_W @ N_X @ M_W @ M_X)
    )
    P_WX = psi2 * _12(N_X @ M_W) + _12(M_X @ M_W) + psi2 * c * _12(M_X @ M_W @ N_X @ M_W)
    P_WW = _12(M_W) + psi2 * c * _12(M_W @ N_X @ M_W)
    return mu1**2 * P_XX - 2 * mu1**2 * mustar**2 * psi1 * P_WX + mustar**2 * P_WW


def noise_12(at: ReplicaPoint, matrices: Matrices) -> Jet:
    """The bracket of P_Ψ₃ᵛ and P_Ψ₃ᵉ."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    M_X, M_W, _ = matrices
    return (  # [dascoli2020] App. B
        mu1**2 * (_12(M_X) + mu1**2 * mustar**2 * psi1**2 * _12(M_X @ M_W @ M_X))
        - 2 * mu1**2 * mustar**2 * psi1 * _12(M_X @ M_W)
        + mustar**2 * _12(M_W)
    )


def signal_11(at: ReplicaPoint, matrices: Matrices) -> Jet:
    """The bracket of P_Ψ₂ᵈ: the data are not shared."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    c = (mu1 * mustar * psi1) ** 2
    M_X, M_W, N_X = matrices
    P_XX = (  # [dascoli2020] App. B
        _11(N_X) + 2 * c * _11(N_X @ M_W @ M_X) + c**2 * _11(M_X @ M_W @ N_X @ M_W @ M_X)
    )
    P_WX = _11(N_X @ M_W) + c * _11(M_X @ M_W @ N_X @ M_W)
    P_WW = c * _11(M_W @ N_X @ M_W)
    return psi1 * mu1**2 * P_XX - 2 * mustar**2 * mu1**2 * psi1**2 * P_WX + mustar**2 * psi1 * P_WW


def _11(matrix: Matrix) -> Jet:
    entry: Jet = matrix[0, 0]
    return entry


def _12(matrix: Matrix) -> Jet:
    entry: Jet = matrix[0, 1]
    return entry


# --- matrices ------------------------------------------------------------------------------------
#
# App. C defines them for any overlaps Q = [[q, q̃], [q̃, q]] and R = [[r, r̃], [r̃, r]] by
#
#     M_X = R (1 + μ₁² ψ₁ R)⁻¹,    N_X = R (1 + μ₁² ψ₁ R)⁻²,    M_W = Q (1 + μ⋆² ψ₁ A Q)⁻¹,
#
# with A = 1 - μ₁² ψ₁ M_X. App. B gives them to first order in q̃ and r̃, which is all that the
# Hessian at q̃ = r̃ = 0 depends on. Every one has the form [[a, b], [b, a]]; they commute, so the
# order in which App. B and App. C write products does not matter.


def matrices_v(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
    """M_Xᵛ, M_Wᵛ, N_Xᵛ."""
    psi1, mu1 = at.psi1, at.mu1
    one = 1 + mu1**2 * psi1 * r
    return Matrices(  # [dascoli2020] App. B
        M_X=_matrix(r / one, rt / one**2),
        M_W=M_W_v(at, q, r, qt, rt),
        N_X=_matrix(r / one**2, rt * (1 - mu1**2 * psi1 * r) / one**3),
    )


def matrices_e(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
    """M_Xᵉ, M_Wᵉ, N_Xᵉ."""
    M_X, _, N_X = matrices_v(at, q, r, qt, rt)  # [dascoli2020] App. B
    return Matrices(M_X=M_X, M_W=M_W_e(at, q, r, qt, rt), N_X=N_X)


def matrices_d(at: ReplicaPoint, q: Jet, r: Jet, rt: Jet) -> Matrices:
    """M_Xᵈ, M_Wᵈ, N_Xᵈ: multiples of the identity."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    return Matrices(  # [dascoli2020] App. B
        M_X=_matrix(r / one, 0 * r),
        M_W=_matrix(q * one / (one + mustar**2 * psi1 * q), 0 * q),
        N_X=_matrix(rt / one**2, 0 * r),
    )


def M_W_v(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """The W of the two resolvents is the same."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    L = one + mustar**2 * psi1 * q
    return _matrix(  # [dascoli2020] App. B
        q * one / L,
        q**2 * mu1**2 * mustar**2 * psi1**2 * rt / L**2 + one**2 * qt / L**2,
    )


def M_W_e(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """W⁽¹⁾ and W⁽²⁾ are independent: that of v without its term in q̃."""
    return M_W_v(at, q, r, 0 * qt, rt)  # [dascoli2020] App. B


def M_W_e_multiplied_out(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """M_Wᵉ as App. C multiplies it out."""
    psi1, mustar = at.psi1, at.mustar
    A, Q, identity = _A(at, r, rt), _matrix(q, 0 * q), _matrix(0 * q + 1, 0 * q)
    # [dascoli2020] App. C
    M_W: Matrix = Q - mustar**2 * psi1 * Q @ Q @ A @ _inverse(identity + mustar**2 * psi1 * Q @ A)
    return M_W


def M_W_e_defined(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """M_Wᵉ as App. C defines it, with Q = q 1."""
    psi1, mustar = at.psi1, at.mustar
    A, Q, identity = _A(at, r, rt), _matrix(q, 0 * q), _matrix(0 * q + 1, 0 * q)
    M_W: Matrix = Q @ _inverse(identity + mustar**2 * psi1 * A @ Q)  # [dascoli2020] App. C
    return M_W


def _A(at: ReplicaPoint, r: Jet, rt: Jet) -> Matrix:
    """1 - μ₁²ψ₁ M_X."""
    psi1, mu1 = at.psi1, at.mu1
    one = 1 + mu1**2 * psi1 * r
    A: Matrix = _matrix(0 * r + 1, 0 * r) - mu1**2 * psi1 * _matrix(r / one, rt / one**2)
    return A


def _matrix(same: Jet, other: Jet) -> Matrix:
    return np.array([[same, other], [other, same]], dtype=object)


def _inverse(matrix: Matrix) -> Matrix:
    a, b = matrix[0]
    det = a**2 - b**2
    return _matrix(a / det, -b / det)
