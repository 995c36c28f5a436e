"""Messages of errors that invalid arguments raise, and reasons of parts not identified."""

import re
from collections.abc import Callable
from typing import Any

import pytest

INVALID = (ValueError, TypeError)


def message_of(
    call: Callable[..., object], /, *values: Any, raises: Any = INVALID, **arguments: Any
) -> str:
    """The message of the error that a call must raise: one short line."""
    with pytest.raises(raises) as caught:
        call(*values, **arguments)
    assert caught.type in INVALID
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


def not_identified(terms: Any, name: str, reason: str) -> None:
    """Assert that a part is None, and that the reason matches."""
    assert getattr(terms, name) is None
    assert name not in terms.parts
    assert re.search(reason, terms.reasons[name])
