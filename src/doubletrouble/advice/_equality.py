"""Equality of errors, up to the tolerance of a search, and of costs."""

SAME = 1e-10  # relative
WORTH = 0.01  # of an error
_ROUNDING = 1e-12  # costs that differ by as much are equal


def less(one: float, other: float) -> bool:
    """Whether one error is below another, and not equal to it.

    >>> less(1.0, 2.0), less(1 - 1e-12, 1.0), less(float("inf"), float("inf"))
    (True, False, False)
    """
    return one < other * (1 - SAME)


def helps(after: float, before: float) -> bool:
    """Whether an error falls by 1 % or more: less is not worth a change, and hardly seen.

    >>> helps(0.98, 1.0), helps(0.995, 1.0), helps(1.0, float("inf")), helps(0.0, 0.0)
    (True, False, True, False)
    """
    return after <= (1 - WORTH) * before and less(after, before)


def affordable(cost: float, budget: float) -> bool:
    """Whether something costs no more than there is.

    >>> affordable(1.0, 1.0), affordable(1 + 1e-15, 1.0), affordable(1.1, 1.0)
    (True, True, False)
    """
    return cost <= budget * (1 + _ROUNDING)
