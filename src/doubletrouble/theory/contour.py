r"""The exponential as a sum of poles: gradient flow is a combination of ridge fits.

Talbot's contour, z(θ) = n (0.5017 θ cot(0.6407 θ) - 0.6122 + 0.2645 iθ), -π < θ < π, winds around
the negative real axis; the midpoint rule on Cauchy's integral along it gives, for all x ≥ 0,

    e⁻ˣ ≈ Σ_j c_j/(x + z_j)        with an error of about 3.9⁻ⁿ for n poles    [weideman2006]

so that what gradient flow has learned at time t along an eigenvalue x is

    (1 - e⁻ᵗˣ)/x ≈ Σ_j w_j/(x + z_j/t),        w_j = c_j/z_j,  Σ_j w_j = 1.

Poles come in conjugate pairs; only those with θ > 0 are kept, from the middle outwards: the first
is the closest to a real ridge, and every next one is near the one before.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

ComplexArray = npt.NDArray[np.complex128]

_ENDED = 100.0  # e⁻¹⁰⁰ of what the ridge fit learns is still to be learned


class Poles(NamedTuple):
    """Complex ridges for unit time, and their weights; each stands for itself and its conjugate."""

    ridges: ComplexArray  # z
    weights: ComplexArray  # w
    ending: float  # times the ridge over 1/t: beyond, what is learned is that of the ridge fit


@lru_cache(maxsize=8)
def exponential_poles(count: int) -> Poles:
    """Half of `count` poles, the others being their conjugates.

    >>> ridges, weights, _ = exponential_poles(20)
    >>> x = 3.0
    >>> learned = 2 * np.sum(weights * x / (x + ridges)).real
    >>> bool(abs(learned - (1 - np.exp(-x))) < 1e-11)
    True
    """
    theta = np.pi * np.arange(1, count, 2) / count
    angle = 0.6407 * theta
    z = count * (0.5017 * theta / np.tan(angle) - 0.6122 + 0.2645j * theta)
    slope = 0.5017 / np.tan(angle) - 0.5017 * angle / np.sin(angle) ** 2 + 0.2645j
    residues = -1j * np.exp(z) * slope  # c: times n (from z'), over n (from the rule)
    weights = residues / z
    return Poles(z, weights / (2 * weights.sum().real), _ENDED)
