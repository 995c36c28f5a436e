"""The progress of a long computation: a bar in terminals and notebooks, lines in a log.

Every computation that may take more than some seconds shows its progress through `progress_bar`,
in units of fits or draws. Nothing is shown for what ends within two seconds.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn, TypeAlias

from tqdm import tqdm

ProgressBar: TypeAlias = "tqdm[NoReturn]"

_DELAY = 2.0  # seconds before anything is shown
_INTERVAL = 10.0  # seconds between two lines of a log
_LINE = "{desc}: {n:.0f}/{total} {unit}s ({percentage:.0f}%), {elapsed} elapsed, {remaining} left"


def progress_bar(
    total: int, *, unit: str, description: str = "", progress: bool = True, initial: int = 0
) -> ProgressBar:
    """Show how many of `total` units are done, of which `initial` are done already.

    Without `progress`, nothing is shown.

    >>> with progress_bar(3, unit="fit") as bar:  # shows nothing within two seconds
    ...     for _ in range(3):
    ...         bar.update()
    """
    log = progress and not (_in_notebook() or sys.stderr.isatty())
    widgets = progress and _in_notebook() and find_spec("ipywidgets") is not None
    kind: Any = _Log if log else import_module("tqdm.notebook").tqdm if widgets else tqdm
    bar: ProgressBar = kind(
        total=total,
        initial=initial,
        unit=unit,
        desc=description or None,
        disable=not progress,
        delay=_DELAY,
        mininterval=_INTERVAL if log else 0.5,
        bar_format=_LINE if log else None,
        smoothing=0.05,
        dynamic_ncols=not log,
    )
    return bar


class _Log(tqdm):  # type: ignore[type-arg]
    """A line for every state, in place of one that is written anew."""

    monitor_interval = 0  # no thread that updates bars

    @staticmethod
    def status_printer(file: Any) -> Callable[[str], None]:
        """The function that writes a state; at the end, tqdm writes the last line break."""
        shown = ""

        def write(state: str) -> None:
            nonlocal shown
            if state != shown:
                file.write(f"\n{state}" if shown else state)
                file.flush()
                shown = state

        return write


def _in_notebook() -> bool:
    """Whether an IPython kernel runs this process, as in Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config
