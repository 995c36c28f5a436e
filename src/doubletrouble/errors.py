"""Our errors, and the sentence for a missing optional package.

Bad input raises ``ValueError`` (or ``TypeError``) with a sentence; these are for the rest.
"""

import importlib
from functools import partial
from types import ModuleType
from typing import Any


class DoubleTroubleError(Exception):
    """Base of our own errors."""


class ConvergenceError(DoubleTroubleError, RuntimeError):
    """A solver stopped before its tolerance; `last` and `residual` say where."""

    def __init__(self, message: str, *, last: object, residual: float) -> None:
        super().__init__(message)
        self.last, self.residual = last, residual

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the keyword arguments, too: a worker's failure must arrive whole."""
        return partial(type(self), last=self.last, residual=self.residual), self.args


class DivergenceError(DoubleTroubleError, RuntimeError):
    """Members of an ensemble diverged in training; the message says which."""


class FitError(DoubleTroubleError, RuntimeError):
    """Fits of a learner failed; the message says which, and what is kept of the others.

    `failures` are those that failed, `predictions` all others (NaN in their places), and `partial`
    is the decomposition of the data sets on which none failed, if there are two or more.
    """

    def __init__(
        self, message: str, *, failures: Any = (), predictions: Any = None, partial: Any = None
    ) -> None:
        super().__init__(message)
        self.failures, self.predictions, self.partial = tuple(failures), predictions, partial


class MissingExtraError(DoubleTroubleError, ImportError):
    """An optional dependency is not installed."""


class StoreError(DoubleTroubleError, ValueError):
    """A file cannot serve as the store of a sweep, or as a checkpoint."""


class ExecutorError(DoubleTroubleError, RuntimeError):
    """What should run the cells of a sweep does not; the message says how to go on."""


class SweepInterrupted(KeyboardInterrupt):
    """A sweep was stopped by hand; the message says what is stored and how to go on.

    No `Exception`: code that goes on after errors does not go on after Ctrl-C.
    """


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{module} is needed: pip install 'doubletrouble[{extra}]'"
        ) from error
