"""Settings of all tests: Ctrl-C, Hypothesis without deadlines, and no figures left open."""

import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# background jobs of a shell ignore SIGINT, and child processes of the tests would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@pytest.fixture(autouse=True)
def _figures_are_closed() -> Iterator[None]:
    """Close the figures of a test: matplotlib warns when more than twenty are open."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
