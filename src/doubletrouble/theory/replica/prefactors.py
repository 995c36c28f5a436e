r"""The prefactors P_Ψ of [dascoli2020] App. B, in the order of the print; and P_Ψ₂ᵖ.

What multiplies exp(-D S/2) in the replica integral of each term: an overlap of the two students'
weights (through r̃, and q̃ where the features are shared), times an overlap of what they fit (signal,
Ψ₂, or noise, Ψ₃). The latter is made of

    M_X = R (1 + μ₁² ψ₁ R)⁻¹,    N_X = R (1 + μ₁² ψ₁ R)⁻²,    M_W = Q (1 + μ⋆² ψ₁ A Q)⁻¹,

with A = 1 - μ₁² ψ₁ M_X. App. B gives these 2 × 2 matrices to first order in q̃ and r̃, which is all
the Hessian at q̃ = r̃ = 0 asks for. Every matrix here has the form [[a, b], [b, a]]; they commute, so
the order in which App. B and App. C write products does not matter.

The factor D in front of every prefactor but P_Ψ₁ is left out: it cancels the 1/D of the trace.

**Not in the paper: P_Ψ₂ᵖ.** Two students on independent data fit their signals through the same
M_X, M_W, N_X as in P_Ψ₂ᵈ; the overlap of their weights is that of shared features, as in P_Ψ₂ᵛ.
"""

from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.theory.replica.hessian import Jet
from doubletrouble.theory.replica.setting import Setting

Matrix: TypeAlias = npt.NDArray[np.object_]  # 2 × 2, of jets


class Matrices(NamedTuple):
    """M_Xᵃ, M_Wᵃ, N_Xᵃ for one a of v, e, d."""

    M_X: Matrix
    M_W: Matrix
    N_X: Matrix


class Scalars(NamedTuple):
    """P_XXᵃ, P_WXᵃ, P_WWᵃ for one a of v, e, d."""

    P_XX: Jet
    P_WX: Jet
    P_WW: Jet


def P_psi1(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of teacher and student."""
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    M_X, M_W, _ = matrices_v(at, q, r, qt, rt)
    sign = +1 if 2 in at.printed else -1  # erratum 2
    extra = mu1 if 11 in at.printed else 1  # erratum 11
    return psi1 * psi2 * mu1**2 * (  # [dascoli2020] App. B
        _11(M_X)
        + mu1**2 * mustar**2 * psi1**2 * _11(M_X @ M_W @ M_X)
        + sign * extra * mustar**2 * psi1 * _11(M_X @ M_W)
    )  # fmt: skip


def P_psi2_v(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Power of the noise-free student."""
    scalars = scalars_12(at, matrices_v(at, q, r, qt, rt))
    return at.psi1**2 * at.psi2 * _same_features(at, qt, rt) * _signal_12(at, scalars)


def P_psi3_v(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Response to label noise."""
    noise = _noise_12(at, matrices_v(at, q, r, qt, rt))
    return at.psi1**2 * at.psi2 * _same_features(at, qt, rt) * noise  # [dascoli2020] App. B


def P_psi2_e(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of two noise-free students: same data, fresh features."""
    scalars = scalars_12(at, matrices_e(at, q, r, qt, rt))
    return at.psi1**2 * at.psi2 * at.mu1**2 * rt * _signal_12(at, scalars)


def P_psi3_e(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Common response of two students to label noise: same data, fresh features."""
    noise = _noise_12(at, matrices_e(at, q, r, qt, rt))
    return at.psi1**2 * at.psi2 * at.mu1**2 * rt * noise  # [dascoli2020] App. B


def P_psi2_d(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of two noise-free students: fresh data, fresh features."""
    scalars = scalars_11(at, matrices_d(at, q, r, rt))
    return at.mu1**2 * at.psi1 * at.psi2**2 * rt * _signal_11(at, scalars)


def P_psi2_p(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Overlap of two noise-free students: fresh data, same features; not in the paper."""
    at = replace(at, printed=frozenset())  # what is not printed has no misprint
    scalars = scalars_11(at, matrices_d(at, q, r, rt))
    weights = at.mu1**2 * rt + at.mustar**2 * qt
    return at.psi1 * at.psi2**2 * weights * _signal_11(at, scalars)


# --- the brackets shared by several prefactors ---------------------------------------------------


def _same_features(at: Setting, qt: Jet, rt: Jet) -> Jet:
    if 14 in at.printed:  # erratum 14
        qt, rt = rt, qt
    return at.mu1**2 * rt + at.mustar**2 * qt


def _signal_12(at: Setting, scalars: Scalars) -> Jet:
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    P_XX, P_WX, P_WW = scalars
    return mu1**2 * P_XX - 2 * mu1**2 * mustar**2 * psi1 * P_WX + mustar**2 * P_WW


def _noise_12(at: Setting, matrices: Matrices) -> Jet:
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    M_X, M_W, _ = matrices
    sign = +1 if 9 in at.printed else -1  # erratum 9
    return (  # [dascoli2020] App. B
        mu1**2 * (_12(M_X) + mu1**2 * mustar**2 * psi1**2 * _12(M_X @ M_W @ M_X))
        + sign * 2 * mu1**2 * mustar**2 * psi1 * _12(M_X @ M_W)
        + mustar**2 * _12(M_W)
    )


def _signal_11(at: Setting, scalars: Scalars) -> Jet:
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    P_XX, P_WX, P_WW = scalars
    sign = +1 if 8 in at.printed else -1  # erratum 8
    return (  # [dascoli2020] App. B
        psi1 * mu1**2 * P_XX
        + sign * 2 * mustar**2 * mu1**2 * psi1**2 * P_WX
        + mustar**2 * psi1 * P_WW
    )


def scalars_12(at: Setting, matrices: Matrices) -> Scalars:
    """P_XX, P_WX, P_WW of v and e: the data are shared."""
    psi2, c = at.psi2, (at.mu1 * at.mustar * at.psi1) ** 2
    M_X, M_W, N_X = matrices
    return Scalars(  # [dascoli2020] App. B
        P_XX=psi2 * _12(N_X)
        + _12(M_X)
        + 2 * psi2 * c * _12(M_X @ N_X @ M_W)
        + c * _12(M_X @ M_W @ M_X)
        + psi2 * c**2 * _12(M_X @ M_W @ N_X @ M_W @ M_X),
        P_WX=psi2 * _12(N_X @ M_W) + _12(M_X @ M_W) + psi2 * c * _12(M_X @ M_W @ N_X @ M_W),
        P_WW=_12(M_W) + psi2 * c * _12(M_W @ N_X @ M_W),
    )


def scalars_11(at: Setting, matrices: Matrices) -> Scalars:
    """P_XX, P_WX, P_WW of d (and p): the data are not shared."""
    c = (at.mu1 * at.mustar * at.psi1) ** 2
    M_X, M_W, N_X = matrices
    return Scalars(  # [dascoli2020] App. B
        P_XX=_11(N_X)
        + 2 * c * _11(N_X @ M_W @ M_X)
        + c**2 * _11(M_X @ M_W @ N_X @ M_W @ M_X),
        P_WX=_11(N_X @ M_W) + c * _11(M_X @ M_W @ N_X @ M_W),
        P_WW=c * _11(M_W @ N_X @ M_W),
    )


# --- the 2 × 2 matrices --------------------------------------------------------------------------


def matrices_v(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
    """M_Xᵛ, M_Wᵛ, N_Xᵛ."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    whole = one + mustar**2 * psi1 * q
    doubled = whole + mu1**2 * psi1 * r if 5 in at.printed else whole  # erratum 5
    through_W = 0 * qt if 4 in at.printed else qt * one**2 / whole**2  # erratum 4
    slope = 1 if 6 in at.printed else (1 - mu1**2 * psi1 * r) / one  # erratum 6
    return Matrices(  # [dascoli2020] App. B
        M_X=_matrix(r / one, rt / one**2),
        M_W=_matrix(q * one / doubled, q**2 * mu1**2 * mustar**2 * psi1**2 * rt / whole**2 + through_W),
        N_X=_matrix(r / one**2, rt / one**2 * slope),
    )  # fmt: skip


def matrices_e(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
    """M_Xᵉ, M_Wᵉ, N_Xᵉ: those of v, but for the q̃ in M_W, since W⁽¹⁾ and W⁽²⁾ are independent."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    whole = one + mustar**2 * psi1 * q
    M_X, M_W, N_X = matrices_v(at, q, r, 0 * qt, rt)
    if 4 in at.printed:  # erratum 4
        M_W = M_W + _matrix(0 * q, one**2 * qt / whole**2)
    Q, identity = _matrix(q, 0 * q), _matrix(0 * q + 1, 0 * q)
    A = identity - mu1**2 * psi1 * M_X
    if 12 in at.printed:  # erratum 12: the second term lacks q²
        M_W = Q - mustar**2 * psi1 * A @ _inverse(identity + mustar**2 * psi1 * Q @ A)
    if 13 in at.printed:  # erratum 13: the second term lacks μ⋆²
        M_W = Q @ _inverse(identity + psi1 * A @ Q)
    return Matrices(M_X, M_W, N_X)


def matrices_d(at: Setting, q: Jet, r: Jet, rt: Jet) -> Matrices:
    """M_Xᵈ, M_Wᵈ, N_Xᵈ: multiples of the identity."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    below = 1 + mu1**2 * psi1 * r**2 if 7 in at.printed else one  # erratum 7
    return Matrices(  # [dascoli2020] App. B
        M_X=_matrix(r / below, 0 * r),
        M_W=_matrix(q * one / (one + mustar**2 * psi1 * q), 0 * q),
        N_X=_matrix(rt / one**2, 0 * r),
    )


def _matrix(same: Jet, other: Jet) -> Matrix:
    return np.array([[same, other], [other, same]], dtype=object)


def _inverse(matrix: Matrix) -> Matrix:
    a, b = matrix[0]
    det = a**2 - b**2
    return _matrix(a / det, -b / det)


def _11(matrix: Matrix) -> Any:
    return matrix[0, 0]


def _12(matrix: Matrix) -> Any:
    return matrix[0, 1]
