"""The paper's replica route to the Ψ terms.

The letters and the order of the formulas are those of [dascoli2020] App. B. `_appendix_b` has the
formulas (actions S, prefactors P_Ψ, matrices M_X, M_W, N_X), `_hessian` the Hessians H[F] and the
traces Tr[H[S]⁻¹ H[P]], `_psi_terms` the saddle point (q⋆, r⋆) and the terms at it. The route shares
no formula with the closed forms of `doubletrouble.theory.psi_terms`, and serves to check them.

**Differs from the paper.** The formulas are corrected. `psi_terms(problem, printed={n})` evaluates
them with erratum n of docs/errata.md as printed; `_errata` has the functions as printed, and the
table that replaces the correct ones.
"""

from doubletrouble.replica._errata import ERRATA
from doubletrouble.replica._psi_terms import SaddlePoint, psi_terms, saddle_point

__all__ = ["ERRATA", "SaddlePoint", "psi_terms", "saddle_point"]
