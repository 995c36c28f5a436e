"""Ctrl-C between steps, never within one: what a checkpoint then holds is whole."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[Callable[[], bool]]:
    """Hold the first Ctrl-C back, and tell whether there was one; the second acts at once.

    Signals reach the main thread alone, and whoever handles them in another way goes on doing so.
    """
    asked = threading.Event()
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield asked.is_set
        return

    def note(*_: Any) -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
