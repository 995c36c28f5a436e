"""The paper's replica route to the Ψ terms, to be read beside its Appendix B.

The letters and the order of the formulas are those of [dascoli2020] App. B: `saddle` (q⋆ and r⋆),
`actions` (S₀, Sᵛ, Sᵉ, Sᵈ), `prefactors` (P_Ψ), `matrices` (M_X, M_W, N_X), `hessian` (H[F]) and
`terms` (Tr[H[S]⁻¹ H[P]]). It shares no formula with the closed forms behind
`doubletrouble.psi_terms`, and serves to check them.

**Differs from the paper.** Misprints are corrected where they stand, each marked `# erratum n` with
the numbers of docs/errata.md; `psi_terms(problem, printed={n})` puts erratum n back. The
term for shared features and fresh data (`S_p`, `P_psi2_p`) is not in the paper.
"""

from doubletrouble.theory.replica.saddle import saddle_point
from doubletrouble.theory.replica.setting import ERRATA, Setting
from doubletrouble.theory.replica.terms import psi_terms

__all__ = ["ERRATA", "Setting", "psi_terms", "saddle_point"]
