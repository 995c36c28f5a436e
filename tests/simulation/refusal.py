"""The message of an argument that is refused."""

from collections.abc import Callable
from typing import Any


def refusal(function: Callable[..., Any], *values: Any, **arguments: Any) -> str:
    """The message of a ValueError or TypeError; empty if there is none."""
    try:
        function(*values, **arguments)
    except (ValueError, TypeError) as error:
        return str(error)
    return ""
