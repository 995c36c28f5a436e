r"""The 2 × 2 matrices M_X, M_W, N_X of [dascoli2020] App. B, for a = v, e, d.

App. C defines them for any overlaps Q = [[q, q̃], [q̃, q]] and R = [[r, r̃], [r̃, r]] by

    M_X = R (1 + μ₁² ψ₁ R)⁻¹,    N_X = R (1 + μ₁² ψ₁ R)⁻²,    M_W = Q (1 + μ⋆² ψ₁ A Q)⁻¹,

with A = 1 - μ₁² ψ₁ M_X. App. B gives them to first order in q̃ and r̃, which is all the Hessian at
q̃ = r̃ = 0 asks for. Every one has the form [[a, b], [b, a]]; they commute, so the order in which
App. B and App. C write products does not matter.
"""

from typing import NamedTuple, TypeAlias

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


def matrices_v(at: Setting, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
    """M_Xᵛ, M_Wᵛ, N_Xᵛ."""
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    whole = one + mustar**2 * psi1 * q
    doubled = whole + mu1**2 * psi1 * r if 5 in at.printed else whole  # erratum 5
    through_W = 0 * qt if 4 in at.printed else qt * one**2 / whole**2  # erratum 4
    slope = 1 if 6 in at.printed else (1 - mu1**2 * psi1 * r) / one  # erratum 6
    through_X = q**2 * mu1**2 * mustar**2 * psi1**2 * rt / whole**2
    return Matrices(  # [dascoli2020] App. B
        M_X=_matrix(r / one, rt / one**2),
        M_W=_matrix(q * one / doubled, through_X + through_W),
        N_X=_matrix(r / one**2, rt / one**2 * slope),
    )


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
