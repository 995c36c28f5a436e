# ruff: noqa: N802 - the paper's letters
"""The misprints of [dascoli2020] App. B and C: the formulas as printed, and one table of them.

`_appendix_b` has the correct formulas. Each erratum of docs/errata.md that changes a
number is an entry of `_TABLE`: the methods of `Formulas` that it replaces. `formulas(printed)`
applies the table. Errata of one function share its printed form, in which terms depend on the set
`printed`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar

import numpy as np

from doubletrouble.replica._appendix_b import (
    Formulas,
    Matrices,
    Matrix,
    entry_11,
    entry_12,
    symmetric,
)
from doubletrouble.replica._hessian import Jet, trace


class PrintedFormulas(Formulas):
    """The formulas with some errata as printed."""

    printed: ClassVar[frozenset[int]]


# --- the functions as printed --------------------------------------------------------------------


def psi_1(self: PrintedFormulas, action: Jet, prefactor: Jet) -> Decimal:
    """Erratum 1."""
    return trace(action, prefactor)


def P_psi1(self: PrintedFormulas, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Jet:
    """Errata 2 and 11: sign and factor of the last term."""
    at = self.at
    psi1, psi2, mu1, mustar = at.psi1, at.psi2, at.mu1, at.mustar
    sign = 1 if 2 in self.printed else -1
    factor = mu1 if 11 in self.printed else 1
    M_X, M_W, _ = self.matrices_v(q, r, qt, rt)
    return (
        psi1
        * psi2
        * mu1**2
        * (
            entry_11(M_X)
            + mu1**2 * mustar**2 * psi1**2 * entry_11(M_X @ M_W @ M_X)
            + sign * factor * mustar**2 * psi1 * entry_11(M_X @ M_W)
        )
    )


def psi_v(self: PrintedFormulas, action: Jet, prefactor: Jet) -> Decimal:
    """Erratum 3."""
    return trace(action, prefactor)


def M_W_v(self: PrintedFormulas, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """Errata 4 and 5: the term in q̃, and the denominator of the diagonal."""
    at = self.at
    psi1, mu1, mustar = at.psi1, at.mu1, at.mustar
    one = 1 + mu1**2 * psi1 * r
    L = one + mustar**2 * psi1 * q
    other = q**2 * mu1**2 * mustar**2 * psi1**2 * rt / L**2
    if 4 not in self.printed:
        other = other + one**2 * qt / L**2
    diagonal = 1 + 2 * mu1**2 * psi1 * r + mustar**2 * psi1 * q if 5 in self.printed else L
    return symmetric(q * one / diagonal, other)


def M_W_e_with_qt(self: PrintedFormulas, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """Erratum 4."""
    at = self.at
    one = 1 + at.mu1**2 * at.psi1 * r
    L = one + at.mustar**2 * at.psi1 * q
    M_W: Matrix = self.M_W_v(q, r, qt, rt) + symmetric(0 * q, one**2 * qt / L**2)
    return M_W


def N_X(self: PrintedFormulas, r: Jet, rt: Jet) -> Matrix:
    """Erratum 6."""
    one = 1 + self.at.mu1**2 * self.at.psi1 * r
    return symmetric(r / one**2, rt / one**2)


def M_X_d(self: PrintedFormulas, r: Jet) -> Matrix:
    """Erratum 7."""
    return symmetric(r / (1 + self.at.mu1**2 * self.at.psi1 * r**2), 0 * r)


def signal_11(self: PrintedFormulas, matrices: Matrices) -> Jet:
    """Erratum 8: the sign of P_WX."""
    psi1, mu1, mustar = self.at.psi1, self.at.mu1, self.at.mustar
    c = (mu1 * mustar * psi1) ** 2
    M_X, M_W, N_X = matrices
    P_XX = (
        entry_11(N_X)
        + 2 * c * entry_11(N_X @ M_W @ M_X)
        + c**2 * entry_11(M_X @ M_W @ N_X @ M_W @ M_X)
    )
    P_WX = entry_11(N_X @ M_W) + c * entry_11(M_X @ M_W @ N_X @ M_W)
    P_WW = c * entry_11(M_W @ N_X @ M_W)
    return psi1 * mu1**2 * P_XX + 2 * mustar**2 * mu1**2 * psi1**2 * P_WX + mustar**2 * psi1 * P_WW


def noise_12(self: PrintedFormulas, matrices: Matrices) -> Jet:
    """Erratum 9: the sign of M_X M_W."""
    psi1, mu1, mustar = self.at.psi1, self.at.mu1, self.at.mustar
    M_X, M_W, _ = matrices
    return (
        mu1**2 * (entry_12(M_X) + mu1**2 * mustar**2 * psi1**2 * entry_12(M_X @ M_W @ M_X))
        + 2 * mu1**2 * mustar**2 * psi1 * entry_12(M_X @ M_W)
        + mustar**2 * entry_12(M_W)
    )


def f_e(self: PrintedFormulas, q: Jet, r: Jet) -> Jet:
    """Erratum 10."""
    return Formulas.f_e(self, q, r) / 2


def g_e(self: PrintedFormulas, q: Jet, r: Jet) -> Jet:
    """Erratum 10."""
    return Formulas.g_e(self, q, r) / 2


def M_W_e_multiplied_out(self: PrintedFormulas, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """Erratum 12."""
    return multiplied_out(self, q, r, rt, factor=symmetric(0 * q + 1, 0 * q))


def M_W_e_defined(self: PrintedFormulas, q: Jet, r: Jet, qt: Jet, rt: Jet) -> Matrix:
    """Erratum 13."""
    return defined(self, q, r, rt, factor=self.at.psi1)


def weights_v(self: PrintedFormulas, qt: Jet, rt: Jet) -> Jet:
    """Erratum 14."""
    return self.at.mu1**2 * qt + self.at.mustar**2 * rt


# M_Wᵉ as App. C has it, with Q = q 1


def multiplied_out(self: Formulas, q: Jet, r: Jet, rt: Jet, *, factor: Matrix) -> Matrix:
    """Q - factor μ⋆²ψ₁ A (1 + μ⋆²ψ₁ Q A)⁻¹; the correct factor is Q²."""
    c = self.at.mustar**2 * self.at.psi1
    A, Q, identity = _A(self, r, rt), symmetric(q, 0 * q), symmetric(0 * q + 1, 0 * q)
    M_W: Matrix = Q - c * factor @ A @ _inverse(identity + c * Q @ A)
    return M_W


def defined(self: Formulas, q: Jet, r: Jet, rt: Jet, *, factor: Decimal) -> Matrix:
    """Q (1 + factor A Q)⁻¹; the correct factor is μ⋆²ψ₁."""
    Q, identity = symmetric(q, 0 * q), symmetric(0 * q + 1, 0 * q)
    M_W: Matrix = Q @ _inverse(identity + factor * _A(self, r, rt) @ Q)
    return M_W


def _A(self: Formulas, r: Jet, rt: Jet) -> Matrix:
    """1 - μ₁²ψ₁ M_X."""
    A: Matrix = symmetric(0 * r + 1, 0 * r) - self.at.mu1**2 * self.at.psi1 * self.M_X(r, rt)
    return A


def _inverse(matrix: Matrix) -> Matrix:
    a, b = matrix[0]
    det = a**2 - b**2
    return symmetric(a / det, -b / det)


# --- the table -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Erratum:
    """Where a misprint is, and {name of the method: the method as printed}."""

    where: str
    functions: dict[str, Callable[..., Any]]


_TABLE = {  # in this order: of errata of one function, the last entry applies
    1: _Erratum("App. B, Ψ₁: a trace of Hessians", {"psi_1": psi_1}),
    2: _Erratum("App. B and C, P_Ψ₁: sign of the M_X M_W term", {"P_psi1": P_psi1}),
    3: _Erratum("App. B and C, Ψ₂ᵛ and Ψ₃ᵛ: overall sign", {"psi_v": psi_v}),
    4: _Erratum(
        "App. B, M_Wᵛ and M_Wᵉ: the q̃ term in the wrong matrix",
        {"M_W_v": M_W_v, "M_W_e": M_W_e_with_qt},
    ),
    5: _Erratum("App. B, M_Wᵛ: factor 2 in the diagonal", {"M_W_v": M_W_v}),
    6: _Erratum("App. B, N_Xᵛ and N_Xᵉ: off-diagonal", {"N_X": N_X}),
    7: _Erratum("App. B, M_Xᵈ: r² in the denominator", {"M_X_d": M_X_d}),
    8: _Erratum("App. B and C, P_Ψ₂ᵈ: sign of the P_WX term", {"signal_11": signal_11}),
    9: _Erratum("App. C, P_Ψ₃ᵛ and P_Ψ₃ᵉ: sign of the M_X M_W term", {"noise_12": noise_12}),
    10: _Erratum("App. C, fᵉ and gᵉ: factor 1/2", {"f_e": f_e, "g_e": g_e}),
    11: _Erratum("App. C, P_Ψ₁: factor μ₁ in the M_X M_W term", {"P_psi1": P_psi1}),
    12: _Erratum("App. C, expanded M_Wᵉ: factor q² missing", {"M_W_e": M_W_e_multiplied_out}),
    13: _Erratum("App. C, defined M_Wᵉ: factor μ⋆² missing", {"M_W_e": M_W_e_defined}),
    14: _Erratum(
        "App. C, sketch of proof: q̃ and r̃ exchanged in the vanilla prefactors",
        {"weights_v": weights_v},
    ),
}

ERRATA = {number: erratum.where for number, erratum in _TABLE.items()}
"""The misprints that change a number, by their number in docs/errata.md."""

_EXCLUSIVE = frozenset({12, 13})  # two forms of one matrix


def checked_errata(printed: Iterable[int]) -> frozenset[int]:
    """The numbers of errata as a set; raise for unknown numbers and for 12 with 13."""
    known = f"errata from {min(ERRATA)} to {max(ERRATA)}, as numbered in docs/errata.md"
    try:
        given = tuple(printed)
        numbers = frozenset(given)
    except TypeError:
        raise TypeError(f"printed must be a set of {known}, got {printed!r}") from None
    # True equals 1
    if any(isinstance(n, bool | np.bool_) for n in given) or not numbers <= ERRATA.keys():
        raise ValueError(f"printed must be a set of {known}, got {printed!r}")
    if numbers >= _EXCLUSIVE:
        raise ValueError(
            "printed must have 12 or 13, not both, as they are two forms of one matrix, "
            f"got {printed!r}"
        )
    return numbers


@cache
def formulas(printed: frozenset[int]) -> type[Formulas]:
    """The formulas, with the errata `printed` as in the paper."""
    if not printed:
        return Formulas
    functions: dict[str, Any] = {"printed": printed}
    for number, erratum in _TABLE.items():
        if number in printed:
            functions |= erratum.functions
    return type("PrintedFormulas", (PrintedFormulas,), functions)
