"""Ensembles of lazy neural networks, trained as one program. Needs torch."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doubletrouble.networks._outcome import STATUSES as STATUSES
from doubletrouble.networks._outcome import TrainingOutcome as TrainingOutcome
from doubletrouble.networks._result import LazyRun as LazyRun
from doubletrouble.networks._settings import DTYPES as DTYPES
from doubletrouble.networks._settings import LAPTOP as LAPTOP
from doubletrouble.networks._settings import LOSSES as LOSSES
from doubletrouble.networks._settings import OPTIMIZERS as OPTIMIZERS
from doubletrouble.networks._settings import Training as Training

if TYPE_CHECKING:
    from doubletrouble.networks._curve import LazyCurve as LazyCurve
    from doubletrouble.networks._curve import lazy_curve as lazy_curve
    from doubletrouble.networks._rows import stored_runs as stored_runs
    from doubletrouble.networks._split import LazySplit as LazySplit
    from doubletrouble.networks._split import lazy_split as lazy_split
    from doubletrouble.networks._train import train_lazy as train_lazy

_LAZY = {
    "LazyCurve": "_curve",
    "lazy_curve": "_curve",
    "LazySplit": "_split",
    "lazy_split": "_split",
    "stored_runs": "_rows",
    "train_lazy": "_train",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
