"""Exceptions of the package, and the import of optional packages.

Invalid input raises ``ValueError`` or ``TypeError``; these are for other failures.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class DoubleTroubleError(Exception):
    """Base of the exceptions of this package."""


class ConvergenceError(DoubleTroubleError, RuntimeError):
    """A solver stopped before its tolerance.

    Parameters
    ----------
    message : str
        What did not converge.
    last : object
        The last iterate.
    residual : float
        The residual there.
    """

    def __init__(self, message: str, *, last: object, residual: float) -> None:
        super().__init__(message)
        self.last, self.residual = last, residual

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        """Pickle the keyword arguments as well, for errors raised in worker processes."""
        return partial(type(self), last=self.last, residual=self.residual), self.args


class DivergenceError(DoubleTroubleError, RuntimeError):
    """A fit has no minimum, or members diverged in training; the message lists them."""


class FitError(DoubleTroubleError, RuntimeError):
    """Fits of a learner failed.

    Parameters
    ----------
    message : str
        A list of the failed fits.
    failures : iterable
        The failed fits, stored as a tuple.
    predictions : numpy.ndarray or None, default: None
        The predictions of all fits, NaN for the failed ones.
    partial : Decomposition or None, default: None
        The decomposition of the data sets without a failure, if there are two or more.
    """

    def __init__(
        self,
        message: str,
        *,
        failures: Iterable[Any] = (),  # a type of the package that raises, as of `partial`
        predictions: npt.NDArray[np.float64] | None = None,
        partial: Any = None,
    ) -> None:
        super().__init__(message)
        self.failures, self.predictions, self.partial = tuple(failures), predictions, partial


class MissingExtraError(DoubleTroubleError, ImportError):
    """An optional dependency is not installed."""


class StoreError(DoubleTroubleError, ValueError):
    """A file is not a valid store of a sweep, or not a valid checkpoint."""


class ExecutorError(DoubleTroubleError, RuntimeError):
    """The executor of a sweep failed; the message has the command to continue."""


class SweepInterrupted(KeyboardInterrupt):
    """A sweep was interrupted; the message has the stored cells and the command to continue.

    Not a subclass of `Exception`, as for `KeyboardInterrupt`: `except Exception` does not catch it.
    """


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or raise MissingExtraError with the name of its extra."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module} is needed: pip install 'doubletrouble[{extra}]'"
        ) from error


def automatic_device() -> str:
    """The device "auto": a GPU where torch is imported already and has one, else "cpu"."""
    torch = sys.modules.get("torch")
    return "cuda" if torch is not None and torch.cuda.is_available() else "cpu"


_EXTRAS = {
    "doubletrouble.estimators": ("sklearn", "estimators"),
    "doubletrouble.networks": ("torch", "networks"),
}
"""The optional package that a module needs, and the extra that installs it."""


def listed_names(stub: Path) -> dict[str, str]:
    """The module of every name that a stub imports; a line for each."""
    lines = (line.split() for line in stub.read_text(encoding="utf-8").splitlines())
    return {words[3]: words[1] for words in lines if words[:1] == ["from"]}


def import_name(name: str, home: str) -> Any:
    """Import a name from its module; MissingExtraError without its optional package."""
    if home in _EXTRAS:
        require(*_EXTRAS[home])
    if home == __package__:  # a module
        return importlib.import_module(f"{home}.{name}")
    return getattr(importlib.import_module(home), name)


def is_available(home: str) -> bool:
    """Whether the optional package that a module needs is installed."""
    try:
        return home not in _EXTRAS or importlib.util.find_spec(_EXTRAS[home][0]) is not None
    except ValueError:  # its entry in sys.modules is None
        return False


@contextmanager
def file_errors(path: str | Path) -> Iterator[None]:
    """Add the name of the file to an OSError without one: a full disk while it is written.

    >>> with file_errors("figure.png"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: [Errno 28] No space left on device: 'figure.png'
    """
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise
