# ruff: noqa: N802 - the paper's letters
r"""The prefactors P_Ψ of [dascoli2020] App. B, in the order of the print; and P_Ψ₂ᵖ.

What multiplies exp(-D S/2) in the replica integral of each term: an overlap of the two students'
weights (through r̃, and q̃ where the features are shared), times an overlap of what they fit (signal,
Ψ₂, or noise, Ψ₃), built from the `matrices` M_X, M_W, N_X.

The factor D in front of every prefactor but P_Ψ₁ is left out: it cancels the 1/D of the trace.

**Not in the paper: P_Ψ₂ᵖ.** Two students on independent data fit their signals through the same
M_X, M_W, N_X as in P_Ψ₂ᵈ; the overlap of their weights is that of shared features, as in P_Ψ₂ᵛ.
"""

from dataclasses import replace
from typing import NamedTuple

from doubletrouble.theory.replica.hessian import Jet
from doubletrouble.theory.replica.matrices import (
    Matrices,
    Matrix,
    matrices_d,
    matrices_e,
    matrices_v,
)
from doubletrouble.theory.replica.setting import Setting


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
    P_XX, P_WX, P_WW = scalars  # [dascoli2020] App. B
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
        P_XX=_11(N_X) + 2 * c * _11(N_X @ M_W @ M_X) + c**2 * _11(M_X @ M_W @ N_X @ M_W @ M_X),
        P_WX=_11(N_X @ M_W) + c * _11(M_X @ M_W @ N_X @ M_W),
        P_WW=c * _11(M_W @ N_X @ M_W),
    )


def _11(matrix: Matrix) -> Jet:
    entry: Jet = matrix[0, 0]
    return entry


def _12(matrix: Matrix) -> Jet:
    entry: Jet = matrix[0, 1]
    return entry
