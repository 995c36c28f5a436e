# ruff: noqa: N802 - the paper's letters
r"""The formulas of [dascoli2020] App. B, in the order of the print.

The trace of two resolvents is written as an integral over replicas, and after all averages as one
over overlaps: q, r within a replica, q̃, r̃ between two of them, with weight exp(-D S/2). S₀ fixes
q and r; the rest of the action S is the curvature in q̃ and r̃ around zero. The weight is multiplied
by the prefactor P_Ψ: an overlap of the two students' weights (through r̃, and q̃ where the
features are shared), times an overlap of their targets (signal, Ψ₂, or noise, Ψ₃). Which randomness
the two resolvents share is the index:

    v  vanilla               same X, same W and Θ         e  ensembling       same X
    d  divide and conquer    nothing

Ψ₁ is the value of its prefactor at the saddle point. The other prefactors vanish there, and what
remains is the Gaussian fluctuation around it, Ψ = ± Tr[H[S]⁻¹ H[P_Ψ]]. The sign is minus for the
vanilla terms: 2n replicas have 2n(2n-1)/2 → -n pairs as n → 0. The factor D in front of every
prefactor but P_Ψ₁ is left out: it cancels the 1/D of the trace.

**Differs from the paper.** Its misprints are corrected: where the print is wrong, the formula asks
`misprints` for the number, by the number of the erratum.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tests.oracles.replica.hessian import Jet, expand, log, trace
from tests.oracles.replica.misprints import MISPRINTS

Real = TypeVar("Real", Decimal, Jet)
OverlapFunction: TypeAlias = Callable[[Jet, Jet, Jet, Jet], Jet]  # of q, r, q̃, r̃
Matrix: TypeAlias = npt.NDArray[np.object_]  # 2 × 2, of jets


class Point(NamedTuple):
    """A point of parameter space: ψ₁ = P/D, ψ₂ = N/D, λ, and the moments μ₁, μ⋆."""

    psi1: Decimal
    psi2: Decimal
    lam: Decimal
    mu1: Decimal
    mustar: Decimal

    @property
    def power(self) -> Decimal:
        """μ₁² + μ⋆², the scale of λ (1 for an activation that vanishes)."""
        return self.mu1**2 + self.mustar**2 or Decimal(1)

    @property
    def digits(self) -> int:
        """Decimal digits that leave at least 17 correct ones after all cancellations."""
        scales = (self.psi1, self.psi2, self.lam / self.power)
        return 40 + 4 * sum(abs(v.adjusted()) for v in scales)


class Matrices(NamedTuple):
    """M_Xᵃ, M_Wᵃ, N_Xᵃ for one a of v, e, d."""

    M_X: Matrix
    M_W: Matrix
    N_X: Matrix


@dataclass(frozen=True)
class Formulas:
    """The formulas at a point of parameter space, with the misprints `printed`."""

    at: Point
    printed: frozenset[int] = field(default=frozenset())

    def number(self, misprint: int) -> int:
        """The number at the place of a misprint."""
        place = MISPRINTS[misprint]
        return place.printed if misprint in self.printed else place.correct

    # --- results ---------------------------------------------------------------------------------

    def psi(self, q: Decimal, r: Decimal) -> dict[str, Decimal]:
        """The terms Ψ from the Hessians at the saddle point (q, r, 0, 0)."""

        def H(F: OverlapFunction) -> Jet:
            return expand(F, q, r)

        v, e, d = H(self.S_v), H(self.S_e), H(self.S_d)
        return {  # [dascoli2020] App. B
            "psi1": self.psi_1(v, H(self.P_psi1)),
            "psi2_vanilla": self.psi_v(v, H(self.P_psi2_v)),
            "psi3_vanilla": self.psi_v(v, H(self.P_psi3_v)),
            "psi2_ensemble": trace(e, H(self.P_psi2_e)),
            "psi3_ensemble": trace(e, H(self.P_psi3_e)),
            "psi2_divide": trace(d, H(self.P_psi2_d)),
        }

    def psi_1(self, action: Jet, prefactor: Jet) -> Decimal:
        """Ψ₁, of one resolvent: the prefactor at the saddle point, without fluctuations."""
        # [dascoli2020] App. B
        return trace(action, prefactor) if self.number(1) else prefactor.value

    def psi_v(self, action: Jet, prefactor: Jet) -> Decimal:
        """Ψ₂ᵛ and Ψ₃ᵛ: the sign is minus, from the number of pairs of replicas."""
        return self.number(3) * trace(action, prefactor)  # [dascoli2020] App. B

    def S0(self, q: Jet, r: Jet) -> Jet:
        """The action within one replica; its stationary point is (q⋆, r⋆)."""
        at = self.at
        psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
        return (  # [dascoli2020] App. B
            lam * psi1**2 * psi2 * q
            + psi2 * log(mustar**2 * psi1 * q / (mu1**2 * psi1 * r + 1) + 1)
            + r / q
            + (1 - psi1) * log(q)
            + psi2 * log(mu1**2 * psi1 * r + 1)
            - log(r)
        )

    # --- actions ---------------------------------------------------------------------------------

    def S_v(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Same data, same features."""
        # [dascoli2020] App. B
        return 2 * (self.S0(q, r) + qt * self.f_v(q, r) + rt * self.g_v(q, r))

    def S_e(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Same data, fresh features."""
        # [dascoli2020] App. B
        return self.S0(q, r) + rt**2 * self.f_e(q, r) + qt**2 * self.g_e(q, r)

    def S_d(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Fresh data, fresh features."""
        # [dascoli2020] App. B
        return self.S0(q, r) + rt**2 * self.f_d(q, r) + qt**2 * self.g_d(q, r)

    def f_v(self, q: Real, r: Real) -> Real:
        """∂S₀/∂q."""
        at = self.at
        psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
        return (  # [dascoli2020] App. B
            lam * psi1**2 * psi2
            + mustar**2 * psi1 * psi2 / (mustar**2 * psi1 * q + mu1**2 * psi1 * r + 1)
            + (1 - psi1) / q
            - r / q**2
        )

    def g_v(self, q: Real, r: Real) -> Real:
        """∂S₀/∂r."""
        at = self.at
        psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
        return (  # [dascoli2020] App. B
            -(mustar**2)
            * mu1**2
            * psi1**2
            * psi2
            * q
            / ((mu1**2 * psi1 * r + 1) * (mustar**2 * psi1 * q + mu1**2 * psi1 * r + 1))
            + mu1**2 * psi1 * psi2 / (mu1**2 * psi1 * r + 1)
            + 1 / q
            - 1 / r
        )

    def f_e(self, q: Jet, r: Jet) -> Jet:
        """Half the curvature of Sᵉ in r̃."""
        at = self.at
        psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
        return (  # [dascoli2020] App. B
            2 * r * mu1**2 * psi1 * (1 + q * mustar**2 * psi1)
            + (1 + q * mustar**2 * psi1) ** 2
            - r**2 * mu1**4 * psi1**2 * (-1 + psi2)
        ) / (self.number(10) * r**2 * (1 + r * mu1**2 * psi1 + q * mustar**2 * psi1) ** 2)

    def g_e(self, q: Jet, r: Jet) -> Jet:
        """Half the curvature of Sᵉ in q̃."""
        return self.at.psi1 / (self.number(10) * q**2)  # [dascoli2020] App. B

    def f_d(self, q: Jet, r: Jet) -> Jet:
        """Half the curvature of Sᵈ in r̃."""
        return 1 / r**2  # [dascoli2020] App. B

    def g_d(self, q: Jet, r: Jet) -> Jet:
        """Half the curvature of Sᵈ in q̃."""
        return self.at.psi1 / q**2  # [dascoli2020] App. B

    # --- prefactors ------------------------------------------------------------------------------

    def P_psi1(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Overlap of teacher and student."""
        at = self.at
        psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
        M_X, M_W, _ = self.matrices_v(q, r, qt, rt)
        student = (  # [dascoli2020] App. B
            mu1**2 * entry_11(M_X)
            + mu1**4 * mustar**2 * psi1**2 * entry_11(M_X @ M_W @ M_X)
            + self.number(2) * mu1 ** self.number(11) * mustar**2 * psi1 * entry_11(M_X @ M_W)
        )
        return psi1 * psi2 * student

    def P_psi2_v(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Power of the noise-free student."""
        at = self.at
        signal = self.signal_12(self.matrices_v(q, r, qt, rt))
        return at.psi1**2 * at.psi2 * self.weights_v(qt, rt) * signal  # [dascoli2020] App. B

    def P_psi3_v(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Response to label noise."""
        at = self.at
        noise = self.noise_12(self.matrices_v(q, r, qt, rt))
        return at.psi1**2 * at.psi2 * self.weights_v(qt, rt) * noise  # [dascoli2020] App. B

    def P_psi2_e(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Overlap of two noise-free students: same data, fresh features."""
        at = self.at
        signal = self.signal_12(self.matrices_e(q, r, qt, rt))
        return at.psi1**2 * at.psi2 * at.mu1**2 * rt * signal  # [dascoli2020] App. B

    def P_psi3_e(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Common response of two students to label noise: same data, fresh features."""
        at = self.at
        noise = self.noise_12(self.matrices_e(q, r, qt, rt))
        return at.psi1**2 * at.psi2 * at.mu1**2 * rt * noise  # [dascoli2020] App. B

    def P_psi2_d(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Overlap of two noise-free students: fresh data, fresh features."""
        at = self.at
        signal = self.signal_11(self.matrices_d(q, r, rt))
        return at.mu1**2 * at.psi1 * at.psi2**2 * rt * signal  # [dascoli2020] App. B

    def weights_v(self, qt: Jet, rt: Jet) -> Jet:
        """The overlap of the weights of two students with the same features."""
        mu1, mustar = self.at.mu1, self.at.mustar
        if not self.number(14):
            qt, rt = rt, qt
        return mu1**2 * rt + mustar**2 * qt  # [dascoli2020] App. B

    # the brackets of the prefactors, and the scalars P_XX, P_WX, P_WW in them

    def signal_12(self, matrices: Matrices) -> Jet:
        """The bracket of P_Ψ₂ᵛ and P_Ψ₂ᵉ: the data are shared."""
        at = self.at
        psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
        c = (mu1 * mustar * psi1) ** 2
        M_X, M_W, N_X = matrices
        P_XX = (  # [dascoli2020] App. B
            psi2 * entry_12(N_X)
            + entry_12(M_X)
            + 2 * psi2 * c * entry_12(M_X @ N_X @ M_W)
            + c * entry_12(M_X @ M_W @ M_X)
            + psi2 * c**2 * entry_12(M_X @ M_W @ N_X @ M_W @ M_X)
        )
        P_WX = (
            psi2 * entry_12(N_X @ M_W)
            + entry_12(M_X @ M_W)
            + psi2 * c * entry_12(M_X @ M_W @ N_X @ M_W)
        )
        P_WW = entry_12(M_W) + psi2 * c * entry_12(M_W @ N_X @ M_W)
        return mu1**2 * P_XX - 2 * mu1**2 * mustar**2 * psi1 * P_WX + mustar**2 * P_WW

    def noise_12(self, matrices: Matrices) -> Jet:
        """The bracket of P_Ψ₃ᵛ and P_Ψ₃ᵉ."""
        at = self.at
        psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
        M_X, M_W, _ = matrices
        return (  # [dascoli2020] App. B
            mu1**2 * (entry_12(M_X) + mu1**2 * mustar**2 * psi1**2 * entry_12(M_X @ M_W @ M_X))
            + self.number(9) * 2 * mu1**2 * mustar**2 * psi1 * entry_12(M_X @ M_W)
            + mustar**2 * entry_12(M_W)
        )

    def signal_11(self, matrices: Matrices) -> Jet:
        """The bracket of P_Ψ₂ᵈ: the data are not shared."""
        at = self.at
        psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
        c = (mu1 * mustar * psi1) ** 2
        M_X, M_W, N_X = matrices
        P_XX = (  # [dascoli2020] App. B
            entry_11(N_X)
            + 2 * c * entry_11(N_X @ M_W @ M_X)
            + c**2 * entry_11(M_X @ M_W @ N_X @ M_W @ M_X)
        )
        P_WX = entry_11(N_X @ M_W) + c * entry_11(M_X @ M_W @ N_X @ M_W)
        P_WW = c * entry_11(M_W @ N_X @ M_W)
        return (
            psi1 * mu1**2 * P_XX
            + self.number(8) * 2 * mustar**2 * mu1**2 * psi1**2 * P_WX
            + mustar**2 * psi1 * P_WW
        )

    # --- matrices --------------------------------------------------------------------------------
    #
    # App. C defines them for any overlaps Q = [[q, q̃], [q̃, q]] and R = [[r, r̃], [r̃, r]] by
    #
    #     M_X = R (1 + μ₁² ψ₁ R)⁻¹,    N_X = R (1 + μ₁² ψ₁ R)⁻²,    M_W = Q (1 + μ⋆² ψ₁ A Q)⁻¹,
    #
    # with A = 1 - μ₁² ψ₁ M_X. App. B gives them to first order in q̃ and r̃, which is all that the
    # Hessian at q̃ = r̃ = 0 depends on. Every one has the form [[a, b], [b, a]]; they commute, so the
    # order in which App. B and App. C write products does not matter.

    def matrices_v(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
        """M_Xᵛ, M_Wᵛ, N_Xᵛ."""
        return Matrices(M_X=self.M_X(r, rt), M_W=self.M_W_v(q, r, qt, rt), N_X=self.N_X(r, rt))

    def matrices_e(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrices:
        """M_Xᵉ, M_Wᵉ, N_Xᵉ."""
        return Matrices(M_X=self.M_X(r, rt), M_W=self.M_W_e(q, r, qt, rt), N_X=self.N_X(r, rt))

    def matrices_d(self, q: Jet, r: Jet, rt: Jet) -> Matrices:
        """M_Xᵈ, M_Wᵈ, N_Xᵈ: multiples of the identity."""
        at = self.at
        psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
        one = 1 + mu1**2 * psi1 * r
        return Matrices(  # [dascoli2020] App. B
            M_X=self.M_X_d(r),
            M_W=symmetric(q * one / (one + mustar**2 * psi1 * q), 0 * q),
            N_X=symmetric(rt / one**2, 0 * r),
        )

    def M_X(self, r: Jet, rt: Jet) -> Matrix:
        """M_Xᵛ = M_Xᵉ."""
        one = 1 + self.at.mu1**2 * self.at.psi1 * r
        return symmetric(r / one, rt / one**2)  # [dascoli2020] App. B

    def M_X_d(self, r: Jet) -> Matrix:
        """M_Xᵈ."""
        one = 1 + self.at.mu1**2 * self.at.psi1 * r ** self.number(7)
        return symmetric(r / one, 0 * r)  # [dascoli2020] App. B

    def N_X(self, r: Jet, rt: Jet) -> Matrix:
        """N_Xᵛ = N_Xᵉ."""
        psi1, mu1 = self.at.psi1, self.at.mu1
        one = 1 + mu1**2 * psi1 * r
        # [dascoli2020] App. B
        return symmetric(r / one**2, rt * (1 + self.number(6) * mu1**2 * psi1 * r) / one**3)

    def M_W_v(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
        """The W of the two resolvents is the same."""
        return self.M_W(q, r, self.number(4) * qt, rt)

    def M_W_e(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
        """W⁽¹⁾ and W⁽²⁾ are independent: that of v without its term in q̃."""
        if 12 in self.printed:
            return self.M_W_e_multiplied_out(q, r, rt)
        if 13 in self.printed:
            return self.M_W_e_defined(q, r, rt)
        return self.M_W(q, r, (1 - self.number(4)) * qt, rt)

    def M_W(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
        """Both to first order, where q̃ is 0 for e."""
        at = self.at
        psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
        one = 1 + mu1**2 * psi1 * r
        L = one + mustar**2 * psi1 * q
        return symmetric(  # [dascoli2020] App. B
            q * one / (1 + self.number(5) * mu1**2 * psi1 * r + mustar**2 * psi1 * q),
            q**2 * mu1**2 * mustar**2 * psi1**2 * rt / L**2 + one**2 * qt / L**2,
        )

    # M_Wᵉ as App. C has it, with Q = q 1

    def M_W_e_multiplied_out(self, q: Jet, r: Jet, rt: Jet) -> Matrix:
        """Q - Q² μ⋆²ψ₁ A (1 + μ⋆²ψ₁ Q A)⁻¹."""
        A, Q, one = self.A(r, rt), symmetric(q, 0 * q), symmetric(0 * q + 1, 0 * q)
        c, factor = self.at.mustar**2 * self.at.psi1, symmetric(q ** self.number(12), 0 * q)
        M_W: Matrix = Q - c * factor @ A @ inverse(one + c * Q @ A)  # [dascoli2020] App. C
        return M_W

    def M_W_e_defined(self, q: Jet, r: Jet, rt: Jet) -> Matrix:
        """Q (1 + μ⋆²ψ₁ A Q)⁻¹."""
        A, Q, one = self.A(r, rt), symmetric(q, 0 * q), symmetric(0 * q + 1, 0 * q)
        c = self.at.mustar ** self.number(13) * self.at.psi1
        M_W: Matrix = Q @ inverse(one + c * A @ Q)  # [dascoli2020] App. C
        return M_W

    def A(self, r: Jet, rt: Jet) -> Matrix:
        """1 - μ₁²ψ₁ M_X."""
        A: Matrix = symmetric(0 * r + 1, 0 * r) - self.at.mu1**2 * self.at.psi1 * self.M_X(r, rt)
        return A

    # --- shared features and fresh data: not in the paper -----------------------------------------
    #
    # With independent X and W the determinants of G_X and G_W factorize, as for d; with a common Θ
    # the integral over λ̂ couples the two systems through the full 2 × 2 matrices Q and R, as for v:
    #
    #     Sᵖ = Σ_copies [λ ψ₁² ψ₂ q + ψ₂ log(1 + μ₁² ψ₁ r + μ⋆² ψ₁ q)]
    #          + Tr(R Q⁻¹) + (1 - ψ₁) log det Q - log det R.
    #
    # Two students on independent data fit their signals through the same M_X, M_W, N_X as in P_Ψ₂ᵈ;
    # the overlap of their weights is that of shared features, as in P_Ψ₂ᵛ.

    def S_p(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Fresh data, same features."""
        at = self.at
        psi1, psi2, lam, mu1, mustar = at.psi1, at.psi2, at.lam, at.mu1, at.mustar
        det_Q, det_R = q**2 - qt**2, r**2 - rt**2
        trace_R_over_Q = 2 * (r * q - rt * qt) / det_Q
        one_copy = lam * psi1**2 * psi2 * q + psi2 * log(
            1 + mu1**2 * psi1 * r + mustar**2 * psi1 * q
        )
        return 2 * one_copy + trace_R_over_Q + (1 - psi1) * log(det_Q) - log(det_R)

    def P_psi2_p(self, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
        """Overlap of two noise-free students: fresh data, same features."""
        at = self.at
        signal = self.signal_11(self.matrices_d(q, r, rt))
        return at.psi1 * at.psi2**2 * self.weights_v(qt, rt) * signal


def entry_11(matrix: Matrix) -> Jet:
    """The entry of one resolvent with itself."""
    entry: Jet = matrix[0, 0]
    return entry


def entry_12(matrix: Matrix) -> Jet:
    """The entry of the two resolvents."""
    entry: Jet = matrix[0, 1]
    return entry


def symmetric(same: Jet, other: Jet) -> Matrix:
    """[[same, other], [other, same]]."""
    return np.array([[same, other], [other, same]], dtype=object)


def inverse(matrix: Matrix) -> Matrix:
    """The inverse of a matrix [[a, b], [b, a]]."""
    a, b = matrix[0]
    det = a**2 - b**2
    return symmetric(a / det, -b / det)
