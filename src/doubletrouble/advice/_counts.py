"""What is counted: whether a number is a whole one, and into how many parts data can be divided."""

import math

from doubletrouble.advice._option import samples
from doubletrouble.theory import AnyProblem

CLOSE = 1e-9  # a number as close to a whole one is meant to be it


def is_whole(value: float) -> bool:
    """Whether a number is a whole one, up to rounding.

    >>> is_whole(3.0), is_whole(2.9999999999999996), is_whole(2.99), is_whole(math.inf)
    (True, True, False, False)
    """
    return math.isfinite(value) and abs(value - round(value)) <= CLOSE * value


def most_parts(problem: AnyProblem, one: float | None) -> float:
    """Into how many parts the data can be divided: of one sample at least."""
    return math.inf if one is None else float(round(samples(problem) / one))
