"""One point of the paper's parameter space, and which of its misprints are kept there.

The letters are those of [dascoli2020] App. B: ψ₁ = P/D, ψ₂ = N/D, λ, and the moments μ₁, μ⋆ of the
activation. `printed` holds the numbers of errata (docs/errata.md) that are left as printed; every
place in this package that departs from the print asks for its number there.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Self

ERRATA = {
    1: "App. B, Ψ₁: a trace of Hessians",
    2: "App. B and C, P_Ψ₁: sign of the M_X M_W term",
    3: "App. B and C, Ψ₂ᵛ and Ψ₃ᵛ: overall sign",
    4: "App. B, M_Wᵛ and M_Wᵉ: place of the q̃ term",
    5: "App. B, M_Wᵛ: factor 2 in the diagonal",
    6: "App. B, N_Xᵛ and N_Xᵉ: off-diagonal",
    7: "App. B, M_Xᵈ: r² in the denominator",
    8: "App. B and C, P_Ψ₂ᵈ: sign of the P_WX term",
    9: "App. C, P_Ψ₃ᵛ and P_Ψ₃ᵉ: sign of the M_X M_W term",
    10: "App. C, fᵉ and gᵉ: factor 1/2",
    11: "App. C, P_Ψ₁: factor μ₁ in the M_X M_W term",
    12: "App. C, expanded M_Wᵉ: factor q² missing",
    13: "App. C, defined M_Wᵉ: factor μ⋆² missing",
    14: "App. C, sketch of proof: q̃ and r̃ exchanged in the vanilla prefactors",
}
"""The misprints that change a number, by their number in docs/errata.md."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """ψ₁, ψ₂, λ, μ₁, μ⋆, and the errata left as printed.

    >>> Setting.of(psi1=2.0, psi2=1.0, lam=0.5, mu1=0.5, mustar=0.25).mu1
    Decimal('0.5')
    """

    psi1: Decimal
    psi2: Decimal
    lam: Decimal
    mu1: Decimal
    mustar: Decimal
    printed: frozenset[int] = frozenset()

    @classmethod
    def of(cls, *, printed: frozenset[int] = frozenset(), **numbers: float) -> Self:
        """The setting for given floats, which decimals represent exactly."""
        return cls(printed=printed, **{name: Decimal(v) for name, v in numbers.items()})

    @property
    def power(self) -> Decimal:
        """μ₁² + μ⋆², the scale of λ (1 for an activation that vanishes)."""
        return self.mu1**2 + self.mustar**2 or Decimal(1)

    @property
    def digits(self) -> int:
        """Decimal digits that leave at least 17 correct ones after all cancellations."""
        scales = (self.psi1, self.psi2, self.lam / self.power)
        return 40 + 4 * sum(abs(v.adjusted()) for v in scales)
