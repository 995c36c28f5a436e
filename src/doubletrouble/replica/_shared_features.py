r"""The term for shared features and fresh data, Ψ₂ᵖ; not in the paper.

**Action.** With independent X and W the determinants of G_X and G_W factorize, as for d; with a
common Θ the integral over λ̂ couples the two systems through the full 2 × 2 matrices
Q = [[q, q̃], [q̃, q]] and R = [[r, r̃], [r̃, r]], as for v:

    Sᵖ = Σ_copies [λ ψ₁² ψ₂ q + ψ₂ log(1 + μ₁² ψ₁ r + μ⋆² ψ₁ q)]
         + Tr(R Q⁻¹) + (1 - ψ₁) log det Q - log det R.

**Prefactor.** Two students on independent data fit their signals through the same M_X, M_W, N_X as
in P_Ψ₂ᵈ; the overlap of their weights is that of shared features, as in P_Ψ₂ᵛ.
"""

from decimal import Decimal

from doubletrouble.replica._appendix_b import Formulas
from doubletrouble.replica._hessian import Jet, expand, log, trace
from doubletrouble.replica._point import ReplicaPoint


def psi2_features(at: ReplicaPoint, q: Decimal, r: Decimal) -> Decimal:
    """Ψ₂ᵖ from the Hessians at the saddle point."""
    action = expand(lambda *overlaps: S_p(at, *overlaps), q, r)
    return trace(action, expand(lambda *overlaps: P_psi2_p(at, *overlaps), q, r))


def S_p(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:  # noqa: N802
    """The action: fresh data, same features."""
    psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
    det_Q, det_R = q**2 - qt**2, r**2 - rt**2
    trace_R_over_Q = 2 * (r * q - rt * qt) / det_Q
    one_copy = lam * psi1**2 * psi2 * q + psi2 * log(1 + mu1**2 * psi1 * r + mustar**2 * psi1 * q)
    return 2 * one_copy + trace_R_over_Q + (1 - psi1) * log(det_Q) - log(det_R)


def P_psi2_p(at: ReplicaPoint, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:  # noqa: N802
    """The prefactor: overlap of two noise-free students."""
    formulas = Formulas(at)
    signal = formulas.signal_11(formulas.matrices_d(q, r, rt))
    return at.psi1 * at.psi2**2 * formulas.weights_v(qt, rt) * signal
