"""Selection of the parameters that every run checks; the others are marked `full`."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def full_beyond(default: Container[Any], values: Iterable[Any]) -> list[Any]:
    """Parameters of a test; those that are not in `default` are for `make test-all`."""
    return [
        pytest.param(
            value,
            id=getattr(value, "name", None),
            marks=() if value in default else pytest.mark.full,
        )
        for value in values
    ]


def full_beyond_cases(
    default: Container[tuple[Any, ...]], cases: Iterable[tuple[Any, ...]]
) -> list[Any]:
    """Like `full_beyond`, for tests with several parameters."""
    return [
        case if case in default else pytest.param(*case, marks=pytest.mark.full) for case in cases
    ]
