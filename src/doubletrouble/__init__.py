"""Decompose a learner's test error by cause, and compare what reduces it.

>>> import doubletrouble as dt
>>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
>>> round(dt.exact_error(problem, 10).total, 6)
0.87171

Names are imported at their first use, so that `import doubletrouble` takes milliseconds. The types
of results are in `doubletrouble.results`.
"""

from pathlib import Path
from typing import Any

from doubletrouble.errors import import_name, is_available, listed_names

_HOMES = listed_names(Path(__file__).with_suffix(".pyi"))
"""The module of every public name."""

__all__ = sorted(name for name, home in _HOMES.items() if is_available(home))
"""Those whose optional package is installed, so that `from doubletrouble import *` works."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = import_name(name, _HOMES[name])
    return value


def __dir__() -> list[str]:
    return __all__
