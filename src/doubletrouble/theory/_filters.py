r"""Spectral filters: the share learned along each eigenvalue by a given time; Talbot's contour.

A filter that is a rational function with simple poles,

    learned(t x) = Σ_j w_j t x/(t x + z_j),

is a combination of ridge fits: at time t, the sum of fits with the ridges z_j/t, with weights w_j.
One pole z = 1 is ridge regression with the penalty 1/t. The ridge of the problem is added to each.

**Gradient flow** is the filter 1 - e⁻ᵗˣ. Talbot's contour,
z(θ) = n (0.5017 θ cot(0.6407 θ) - 0.6122 + 0.2645 iθ), -π < θ < π, winds around the negative real
axis; the midpoint rule on Cauchy's integral along it gives, for all x ≥ 0,

    e⁻ˣ ≈ Σ_j c_j/(x + z_j)        with an error of about 3.9⁻ⁿ for n poles    [weideman2006]

so that the filter of gradient flow at time t along an eigenvalue x is

    (1 - e⁻ᵗˣ)/x ≈ Σ_j w_j/(x + z_j/t),        w_j = c_j/z_j,  Σ_j w_j = 1.

Poles come in conjugate pairs; only those with θ > 0 are stored, in the order of θ: the first is the
closest to a real ridge, and each is close to the one before.
"""

from __future__ import annotations  # help() then shows the alias ComplexArray

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

ComplexArray = npt.NDArray[np.complex128]

_ALIKE = 1e-9  # tolerance for conjugates
_EXPONENTIAL_END = 100.0  # a relative e⁻¹⁰⁰ of the ridge fit is not learned yet
_RATIONAL_END = 1e18  # the share of a pole that is not learned yet falls as 1/t


@dataclass(frozen=True, slots=True)
class Poles:
    """Complex ridges for unit time, and their weights; each represents itself and its conjugate."""

    ridges: ComplexArray  # z
    weights: ComplexArray  # w
    ending: float  # ridge times t beyond which the result equals the ridge fit


@lru_cache(maxsize=8)
def talbot_poles(count: int) -> Poles:
    """Nodes of Talbot's contour: half of `count` poles, the others being their conjugates.

    >>> poles = talbot_poles(20)
    >>> x = 3.0
    >>> learned = 2 * np.sum(poles.weights * x / (x + poles.ridges)).real
    >>> bool(abs(learned - (1 - np.exp(-x))) < 1e-11)
    True
    """
    theta = np.pi * np.arange(1, count, 2) / count
    angle = 0.6407 * theta
    z = count * (0.5017 * theta / np.tan(angle) - 0.6122 + 0.2645j * theta)
    slope = 0.5017 / np.tan(angle) - 0.5017 * angle / np.sin(angle) ** 2 + 0.2645j
    residues = -1j * np.exp(z) * slope  # c: times n (from z'), over n (from the rule)
    weights = residues / z
    return Poles(z, weights / (2 * weights.sum().real), _EXPONENTIAL_END)


@dataclass(frozen=True, kw_only=True, eq=False)
class Filter:
    """A spectral filter by its poles, Σ_j w_j t x/(t x + z_j) for the eigenvalue x at time t.

    `gradient_flow(problem, times, filter=…)` uses it in place of 1 - e⁻ᵗˣ.

    Parameters
    ----------
    ridges : array_like of complex
        The poles z_j for unit time, up to 200, none of them zero or negative. Those that are not
        real come with their conjugates, so that the filter is real.
    weights : array_like of complex
        The weights w_j, one for each pole.

    Raises
    ------
    ValueError
        If these conditions do not hold, or a number is not finite.
    TypeError
        If these are not lists of numbers.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> ridge = dt.Filter(ridges=[1.0], weights=[1.0])  # ridge regression, with the penalty 1/t
    >>> ridge.learned(3.0)
    0.75
    """

    ridges: Sequence[complex] | ComplexArray
    weights: Sequence[complex] | ComplexArray

    def __post_init__(self) -> None:
        for name in ("ridges", "weights"):
            given = np.asarray(getattr(self, name))
            if given.ndim != 1 or given.dtype.kind not in "iufc":
                raise TypeError(f"{name} must be a list of numbers, got {getattr(self, name)!r}")
            if not given.size:
                raise ValueError(f"{name} must not be empty, got {getattr(self, name)!r}")
            if not np.isfinite(given).all():
                raise ValueError(f"{name} must be finite, got {given.tolist()!r}")
            object.__setattr__(self, name, given.astype(np.complex128))
        ridges, weights = np.asarray(self.ridges), np.asarray(self.weights)
        if ridges.shape != weights.shape:
            raise ValueError(
                f"weights must be one for each of {ridges.size} ridges, got {weights.size}"
            )
        bad = (ridges.real <= 0) & (np.abs(ridges.imag) <= 1e-6 * np.abs(ridges.real))
        if bad.any():
            raise ValueError(
                f"ridges must not be zero or negative, got {complex(ridges[bad][0])!r}"
            )
        if ridges.size > 200:
            raise ValueError(f"ridges must be 200 at most, got {ridges.size}")
        _ = self.poles  # raises where conjugates are missing

    @property
    def poles(self) -> Poles:
        """Poles on or above the real axis, by angle; the weights of real ones are halved."""
        ridges, weights = np.asarray(self.ridges), np.asarray(self.weights)
        size = _ALIKE * np.abs(ridges)
        real, upper = np.abs(ridges.imag) <= size, ridges.imag > size
        for z, w in zip(ridges[~real], weights[~real], strict=True):
            others = np.abs(ridges - np.conj(z)) <= _ALIKE * abs(z)
            if abs(np.sum(weights[others]) - np.conj(w)) > _ALIKE * (1 + abs(w)):
                raise ValueError(f"ridges must come with their conjugates, got {complex(z)!r}")
        if np.any(np.abs(weights[real].imag) > _ALIKE * (1 + np.abs(weights[real]))):
            raise ValueError(
                f"weights must be real where ridges are, got {weights[real].tolist()!r}"
            )
        chosen = real | upper
        ridges, weights = ridges[chosen], np.where(real, weights / 2, weights)[chosen]
        order = np.lexsort((np.abs(ridges), np.abs(np.angle(ridges))))
        return Poles(ridges[order], weights[order], _RATIONAL_END)

    def learned(self, x: float) -> float:
        """Return the share learned.

        Parameters
        ----------
        x : float
            Eigenvalue times time, at least 0.

        Returns
        -------
        float
            The share Σ_j w_j x/(x + z_j).
        """
        ridges, weights = np.asarray(self.ridges), np.asarray(self.weights)
        return float(np.sum(weights * x / (x + ridges)).real)
