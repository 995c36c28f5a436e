"""The misprints of [dascoli2020] App. B and C that change a number, by their number in the errata.

Each is one number at one place of a formula: a sign, a factor or a power. `appendix_b.Formulas`
reads the number from here, the correct one unless that misprint is asked for.
"""

from typing import NamedTuple


class Misprint(NamedTuple):
    """A place in the formulas, and the number there."""

    place: str
    printed: int
    correct: int


MISPRINTS = {
    1: Misprint("Ψ₁: the order of the derivatives of P_Ψ₁", 2, 0),
    2: Misprint("P_Ψ₁: the sign of M_X M_W", +1, -1),
    3: Misprint("Ψ₂ᵛ and Ψ₃ᵛ: the sign of the trace", +1, -1),
    4: Misprint("M_Wᵛ: the factor of q̃, which is 1 minus that in M_Wᵉ", 0, 1),
    5: Misprint("M_Wᵛ: the factor of r in the denominator of the diagonal", 2, 1),
    6: Misprint("N_Xᵛ: the sign of r in r̃ (1 ± μ₁² ψ₁ r)/(1 + μ₁² ψ₁ r)³", +1, -1),
    7: Misprint("M_Xᵈ: the power of r in the denominator", 2, 1),
    8: Misprint("P_Ψ₂ᵈ: the sign of P_WX", +1, -1),
    9: Misprint("P_Ψ₃ᵛ and P_Ψ₃ᵉ: the sign of M_X M_W", +1, -1),
    10: Misprint("fᵉ and gᵉ: the number they are divided by", 2, 1),
    11: Misprint("P_Ψ₁: the power of μ₁ at M_X M_W", 3, 2),
    12: Misprint("M_Wᵉ multiplied out: the power of q", 0, 2),
    13: Misprint("M_Wᵉ defined: the power of μ⋆", 0, 2),
    14: Misprint("the factor of μ₁² r̃ + μ⋆² q̃, which is 1 minus that of μ₁² q̃ + μ⋆² r̃", 0, 1),
}
