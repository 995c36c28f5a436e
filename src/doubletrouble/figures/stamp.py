"""A record beside a figure's files of what they were made from.

A figure is remade only when something it was made from has changed: its arguments, the package's
code and tables, or the versions of the packages that compute and draw; or when a file is missing or
was altered. The note is written last: files without one are unfinished.
"""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from doubletrouble._version import __version__

_ROOT = Path(__file__).resolve().parents[1]
_ASIDE = {"cli", "page"}  # rooms that no figure depends on


def inputs(name: str, arguments: Mapping[str, object]) -> str:
    """A hash of everything the files of a figure are made from."""
    packages = [version(package) for package in ("numpy", "scipy", "matplotlib")]
    content = [name, _shown(arguments), __version__, _code(), packages]
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write(
    place: Path, name: str, arguments: Mapping[str, object], files: Sequence[Path],
    agreement: Sequence[str],
) -> None:  # fmt: skip
    """Note what `files` were made from, all at once."""
    content = {
        "figure": name,
        "arguments": _shown(arguments),
        "agreement": list(agreement),
        "inputs": inputs(name, arguments),
        "files": {path.name: _hash(path) for path in files},
    }
    new = place / f".{name}.json.new"
    new.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(new, path_of(place, name))


def read(place: Path, name: str, arguments: Mapping[str, object]) -> list[str] | None:
    """The statements of agreement of a figure that is finished and up to date, or None."""
    try:
        content = json.loads(path_of(place, name).read_text(encoding="utf-8"))
        files: dict[str, str] = content["files"]
        same = content["inputs"] == inputs(name, arguments)
        unchanged = all(_hash(place / file) == found for file, found in files.items())
        statements: list[str] = content["agreement"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # no note, or not one of ours
    return statements if same and unchanged else None


def path_of(place: Path, name: str) -> Path:
    """Where the note lies."""
    return place / f"{name}.json"


def _shown(arguments: Mapping[str, object]) -> dict[str, str]:
    return {name: repr(value) for name, value in arguments.items()}


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@cache
def _code() -> str:
    """A hash of the package's own code and tables."""
    found = sha256()
    for path in sorted(p for kind in ("*.py", "*.csv") for p in _ROOT.rglob(kind)):
        if path.relative_to(_ROOT).parts[0] not in _ASIDE:
            found.update(path.relative_to(_ROOT).as_posix().encode() + path.read_bytes())
    return found.hexdigest()
