"""The progress of a long computation: a bar in terminals and notebooks, lines in a log.

Every computation that may take more than some seconds shows its progress through `progress_bar`,
in units of fits or draws. Nothing is shown for what ends within two seconds.
"""

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, Self

_DELAY = 2.0  # seconds before anything is shown
_INTERVAL = 30.0  # seconds between two lines of a log, unless a tenth is done before
_PARTS = 10


class ProgressBar(Protocol):
    """A bar of tqdm, or lines in a log."""

    total: Any  # the number of units, which may change

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: Any) -> None: ...
    def update(self, n: float = 1) -> Any:
        """Count `n` more units as done."""

    def close(self) -> None:
        """Show the final state."""


def progress_bar(
    total: int, *, unit: str, description: str = "", progress: bool = True, initial: int = 0
) -> ProgressBar:
    """Show how many of `total` units are done, of which `initial` are done already.

    Parameters
    ----------
    total : int
        The number of units, such as draws or fits.
    unit : str
        The name of one unit.
    description : str
        A short name of the computation.
    progress : bool
        False shows nothing.
    initial : int
        The units that are done before the computation begins.

    Examples
    --------
    >>> with progress_bar(3, unit="fit") as bar:  # shows nothing within two seconds
    ...     for _ in range(3):
    ...         bar.update()
    """
    if progress and not (_in_notebook() or sys.stderr.isatty()):
        return ProgressLog(total, unit=unit, description=description, initial=initial)
    widgets = progress and _in_notebook() and find_spec("ipywidgets") is not None
    bar: ProgressBar = import_module("tqdm.notebook" if widgets else "tqdm").tqdm(
        total=total,
        initial=initial,
        unit=unit,
        desc=description or None,
        disable=not progress,
        delay=_DELAY,
        mininterval=0.5,
        smoothing=0.05,
        dynamic_ncols=True,
    )
    return bar


def _in_notebook() -> bool:
    """Whether an IPython kernel runs this process, as in Jupyter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and "IPKernelApp" in shell.config


class ProgressLog:
    """A line on stderr for every tenth, or after thirty seconds."""

    def __init__(self, total: int, *, unit: str, description: str = "", initial: int = 0) -> None:
        self.total, self._unit, self._initial = total, unit, initial
        self._prefix = f"{description}: " if description else ""
        self._done = self._shown = float(initial)
        self._start = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, n: float = 1) -> None:
        """Count `n` more units as done, and write a line if one is due."""
        self._done += n
        now = time.monotonic()
        tenths = int(self._done * _PARTS / self.total) > int(self._shown * _PARTS / self.total)
        if now - self._start >= _DELAY and (tenths or now - self._last >= _INTERVAL):
            self._write(now)

    def close(self) -> None:
        """Write the final state, unless it is written or nothing was shown so far."""
        if self._shown > self._initial and self._done > self._shown:
            self._write(time.monotonic())

    def _write(self, now: float) -> None:
        elapsed = now - self._start
        left = elapsed * (self.total - self._done) / max(self._done - self._initial, 1e-9)
        sys.stderr.write(
            f"{self._prefix}{self._done:.0f}/{self.total} {self._unit}s "
            f"({100 * self._done / self.total:.0f}%), {_clock(elapsed)} elapsed, "
            f"{_clock(left)} left\n"
        )
        sys.stderr.flush()
        self._shown, self._last = self._done, now


def _clock(seconds: float) -> str:
    """Seconds as h:mm:ss or mm:ss.

    >>> _clock(61.2), _clock(3600)
    ('01:01', '1:00:00')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute:02}:{second:02}"
