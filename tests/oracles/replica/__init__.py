"""The paper's replica route to the Ψ terms, as a check of the closed forms.

The letters and the order of the formulas are those of [dascoli2020] App. B. `appendix_b` has the
formulas, `misprints` the places where the print is wrong, `hessian` the derivatives, and `saddle`
the saddle point and the terms at it. Nothing is shared with `doubletrouble.theory`.
"""

from tests.oracles.replica.misprints import MISPRINTS
from tests.oracles.replica.saddle import psi_terms, saddle_point

__all__ = ["MISPRINTS", "psi_terms", "saddle_point"]
