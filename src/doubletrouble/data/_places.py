"""Where files are looked for, and where downloads go.

A folder that is given is the only one. Otherwise it is the one in the environment variable
DOUBLETROUBLE_DATA, if that is set, and then the cache: `doubletrouble` in XDG_CACHE_HOME or, where
that is not set, in `.cache` at home. Downloads go to the folder that is given, or to the cache.
"""

import os
from pathlib import Path
from typing import Any

VARIABLE = "DOUBLETROUBLE_DATA"


def roots(folder: str | os.PathLike[str] | None) -> list[Path]:
    """The folders to look in, in this order; those a user names must exist."""
    if folder is not None:
        return [_existing("folder", folder)]
    named = os.environ.get(VARIABLE)
    return [*([_existing(VARIABLE, named)] if named else []), cache()]


def target(folder: str | os.PathLike[str] | None) -> Path:
    """The folder that downloads go to; the cache is made when something arrives."""
    return cache() if folder is None else _existing("folder", folder)


def cache() -> Path:
    """Our folder in the user's cache."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else _home() / ".cache") / "doubletrouble"


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _existing(name: str, folder: Any) -> Path:
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {folder!r}")
    path = Path(os.path.expanduser(folder))
    if not path.is_dir():
        what = "is not a folder" if path.exists() else "does not exist"
        raise ValueError(f"{name} must be a folder, got {str(folder)!r}, which {what}")
    return path
