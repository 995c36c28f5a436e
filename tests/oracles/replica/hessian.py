r"""The Hessian H[F] of a function of (q, r, q̃, r̃), exact to rounding.

[dascoli2020] App. B reads every term off 4 × 4 Hessians at (q⋆, r⋆, 0, 0). A `Jet` carries a
function's value, gradient and Hessian through +, -, ·, / and log by the rules

    F = φ(G):   F' = φ' G',            F'' = φ' G'' + φ'' G' G'ᵀ
    F = G K:    F' = G K' + K G',      F'' = G K'' + K G'' + G' K'ᵀ + K' G'ᵀ

so that there is no step size, and formulas are written as in the paper.

**Decimal numbers.** The prefactors, as printed, are differences of nearly equal terms: with more
features than samples they lose two digits for every decade of λ. The numbers are therefore
decimals, with as many digits as `Point.digits` requires.

**Units.** Derivatives are taken in (q/q⋆, r/r⋆, q̃/q⋆, r̃/r⋆); the traces Tr[H[S]⁻¹ H[P]] do not
depend on the units.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

DecimalArray: TypeAlias = npt.NDArray[np.object_]


class Jet:
    """A number with its first and second derivatives in four variables."""

    __slots__ = ("gradient", "hessian", "value")

    def __init__(self, value: Decimal, gradient: DecimalArray, hessian: DecimalArray) -> None:
        self.value, self.gradient, self.hessian = value, gradient, hessian

    def _chain(self, value: Decimal, first: Decimal, second: Decimal) -> "Jet":
        """φ of this jet, given φ, φ' and φ'' at its value."""
        curvature = self.hessian * first + np.outer(self.gradient, self.gradient) * second
        return Jet(value, self.gradient * first, curvature)

    def __add__(self, other: "Jet | Decimal | int") -> "Jet":
        if isinstance(other, Jet):
            value, gradient = self.value + other.value, self.gradient + other.gradient
            return Jet(value, gradient, self.hessian + other.hessian)
        return Jet(self.value + other, self.gradient, self.hessian)

    def __mul__(self, other: "Jet | Decimal | int") -> "Jet":
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.gradient * other, self.hessian * other)
        G, K = self, other
        cross = np.outer(G.gradient, K.gradient)
        gradient = K.gradient * G.value + G.gradient * K.value
        return Jet(
            G.value * K.value,
            gradient,
            K.hessian * G.value + G.hessian * K.value + cross + cross.T,
        )

    def __pow__(self, power: int) -> "Jet":
        x, n = self.value, power
        second = n * (n - 1) * x ** (n - 2) if n > 2 else Decimal(n * (n - 1))
        return self._chain(x**n, n * x ** (n - 1), second)

    def inverse(self) -> "Jet":
        """1/x."""
        y = 1 / self.value
        return self._chain(y, -(y**2), 2 * y**3)

    def log(self) -> "Jet":
        """The natural logarithm."""
        y = 1 / self.value
        return self._chain(self.value.ln(), y, -(y**2))

    def __neg__(self) -> "Jet":
        return self * -1

    def __sub__(self, other: "Jet | Decimal | int") -> "Jet":
        return self + -other

    def __rsub__(self, other: Decimal | int) -> "Jet":
        return -self + other

    def __truediv__(self, other: "Jet | Decimal | int") -> "Jet":
        return self * (other.inverse() if isinstance(other, Jet) else Decimal(1) / other)

    def __rtruediv__(self, other: Decimal | int) -> "Jet":
        return self.inverse() * other

    __radd__ = __add__
    __rmul__ = __mul__


def log(x: Jet) -> Jet:
    """The logarithm, written as in the formulas."""
    return x.log()


def expand(F: Callable[[Jet, Jet, Jet, Jet], Jet], q: Decimal, r: Decimal) -> Jet:
    """F with its derivatives at (q, r, 0, 0), in units of (q, r, q, r)."""
    values, scales = (q, r, Decimal(0), Decimal(0)), (q, r, q, r)
    flat = np.full((4, 4), Decimal(0))
    variables = []
    for i in range(4):
        gradient = np.full(4, Decimal(0))
        gradient[i] = scales[i]
        variables.append(Jet(values[i], gradient, flat))
    return F(*variables)


def solve(matrix: DecimalArray, right: DecimalArray) -> DecimalArray:
    """matrix⁻¹ right by Gauss-Jordan elimination (NumPy solves no decimal systems)."""
    n = len(matrix)
    rows = np.concatenate([matrix, right], axis=1)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(rows[i:, i])))
        rows[[i, pivot]] = rows[[pivot, i]]
        rows[i] = rows[i] / rows[i, i]
        for j in range(n):
            if j != i:
                rows[j] = rows[j] - rows[i] * rows[j, i]
    return rows[:, n:]


def trace(action: Jet, prefactor: Jet) -> Decimal:
    """Tr[H[S]⁻¹ H[P]], [dascoli2020] App. B (the D of P and the 1/D in front have cancelled)."""
    return Decimal(np.trace(solve(action.hessian, prefactor.hessian)))
