"""Which errors are equal: those that differ by less than a search can tell."""

SAME = 1e-10  # relative


def less(one: float, other: float) -> bool:
    """Whether one error is below another, and not equal to it.

    >>> less(1.0, 2.0), less(1 - 1e-12, 1.0), less(float("inf"), float("inf"))
    (True, False, False)
    """
    return one < other * (1 - SAME)
