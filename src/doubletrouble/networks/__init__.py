"""Ensembles of lazy neural networks, trained in batches; training needs torch, results do not."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from doubletrouble.networks._settings import DEFAULTS as DEFAULTS
from doubletrouble.networks._settings import DTYPES as DTYPES
from doubletrouble.networks._settings import LAPTOP as LAPTOP
from doubletrouble.networks._settings import OPTIMIZERS as OPTIMIZERS
from doubletrouble.networks._settings import STATUSES as STATUSES
from doubletrouble.networks._settings import Training as Training
from doubletrouble.networks._settings import TrainingOutcome as TrainingOutcome

if TYPE_CHECKING:
    from doubletrouble.networks._curve import LazyCurve as LazyCurve
    from doubletrouble.networks._curve import lazy_curve as lazy_curve
    from doubletrouble.networks._curve import stored_curve as stored_curve
    from doubletrouble.networks._curve import table_row as table_row
    from doubletrouble.networks._result import LazyRun as LazyRun
    from doubletrouble.networks._split import LazySplit as LazySplit
    from doubletrouble.networks._split import lazy_split as lazy_split
    from doubletrouble.networks._training import train_lazy as train_lazy

_LAZY = {  # imported on first access: they need torch or sqlite3
    "LazyCurve": "_curve",
    "lazy_curve": "_curve",
    "stored_curve": "_curve",
    "table_row": "_curve",
    "LazyRun": "_result",
    "LazySplit": "_split",
    "lazy_split": "_split",
    "train_lazy": "_training",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
