"""Fits of as many features as samples: without a ridge, their mean error is infinite."""

import math
from collections.abc import Iterable

_VANISHING = 1e-12  # a ridge that does not keep a square fit from blowing up
_FAR = 6.0  # standard deviations that no draw is away from the mean


def refuse_square(width: float, ridge: float, samples: Iterable[float], bootstrap: int = 0) -> None:
    """Refuse a fit without ridge of `width` features to as many `samples`, any of those given.

    How many different samples a `bootstrap` of N has is left to chance: of the order of
    0.632 N ± 0.312 √N. Any number has some probability, so the mean is infinite everywhere,
    strictly; but what lies 6 standard deviations away is seen in no simulation, nor by the theory,
    in which the number is 0.632 N exactly.

    >>> refuse_square(20, 0.0, [40, 20])
    Traceback (most recent call last):
    ValueError: ridge must be at least 1e-12 where P = 20 features meet 20 samples, since the mean \
error is infinite without, got 0.0
    """
    if ridge >= _VANISHING:
        return
    met = [f"{n:.0f} samples" for n in samples if abs(width - n) <= 1]
    empty = math.exp(-1.0)
    mean, spread = bootstrap * (1 - empty), math.sqrt(bootstrap * empty * (1 - 2 * empty))
    if bootstrap and abs(width - mean) <= 1 + _FAR * spread:
        met.append(f"the {mean:.0f} ± {spread:.0f} different samples of a bootstrap")
    if met:
        raise ValueError(
            f"ridge must be at least {_VANISHING:g} where P = {width:.0f} features meet {met[0]}, "
            f"since the mean error is infinite without, got {ridge!r}"
        )
