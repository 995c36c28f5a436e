"""Grids as text: TOML files to write by hand, and JSON as noted in a store."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from doubletrouble.errors import StoreError

TABLES = ("problem", "simulation")
"""Tables a TOML file may be divided in; they carry no meaning of their own."""

_SHOWN = 12  # characters of a hash; any beginning that is clear chooses one
_REQUIRED = "dim"


def read_toml(path: str | Path, known: Sequence[str]) -> dict[str, Any]:
    """The fields in a TOML file or text, flat or in the tables [problem] and [simulation]."""
    text = path if isinstance(path, str) and "\n" in path else ""
    path = "the text" if text else path
    try:
        content = tomllib.loads(text or Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # TOML or UTF-8
        raise ValueError(f"{path} must be a TOML file: {error}") from error
    found: dict[str, Any] = {}
    for table in TABLES:
        part = content.pop(table, {})
        if not isinstance(part, dict):
            raise ValueError(f"{table} must be a table, [{table}], in {path}, got {part!r}")
        _merge(found, part, path)
    _merge(found, content, path)
    for name in found:
        if name not in known:
            raise ValueError(f"fields in {path} must be among {', '.join(known)}, got {name!r}")
    if _REQUIRED not in found:
        raise ValueError(f"{_REQUIRED} must be given in {path}")
    return found


def toml_text(values: Mapping[str, Any]) -> str:
    """Fields as lines of TOML; those that are None are left out.

    >>> print(toml_text({"ridge": [0.1, float("inf")], "center": True, "ensembles": [{"K": 2.0}]}))
    ridge = [0.1, inf]
    center = true
    ensembles = [{K = 2.0}]
    """
    given = {name: value for name, value in values.items() if value is not None}
    return "\n".join(f"{name} = {_literal(value)}" for name, value in given.items())


def read_specification(text: str, kind: str, revision: int) -> dict[str, Any]:
    """The fields of a specification in a store, if it means the same today."""
    content = json.loads(text)
    if content["kind"] != kind:
        raise StoreError(f"sweep must be of kind {kind!r}, got {content['kind']!r}")
    if content["revision"] != revision:
        raise StoreError(
            f"sweep must be of revision {revision}, got {content['revision']}: its numbers mean "
            "something else; use the release that made them, or run it again"
        )
    fields: dict[str, Any] = content["fields"]
    return fields


def stored_specifications(store: str | Path) -> list[str]:
    """Every specification in a store, the oldest first."""
    from doubletrouble.runs import Store

    with Store.read(store) as opened:
        return list(opened.sweeps().values())


def stored_specification(store: str | Path, beginning: str | None) -> str:
    """The specification in a store whose hash begins so; the only one, if there is no other."""
    from doubletrouble.runs import Store

    with Store.read(store) as opened:
        stored, others = opened.sweeps(), len(opened.statuses())
    if not stored:
        instead = f"holds {others} results of another kind" if others else "holds none yet"
        raise StoreError(f"store must hold a sweep of simulations, got {store}, which {instead}")
    found = [name for name in stored if name.startswith(beginning or "")]
    if len(found) != 1:
        listed = ", ".join(name[:_SHOWN] for name in stored)
        if beginning is None:
            raise ValueError(
                f"sweep must be chosen by its hash (--sweep HASH), as {store} holds several: "
                f"{listed}"
            )
        raise ValueError(f"sweep must be the hash of one in {store} ({listed}), got {beginning!r}")
    return stored[found[0]]


def _merge(found: dict[str, Any], part: Mapping[str, Any], path: str | Path) -> None:
    for name, value in part.items():
        if name in found:
            raise ValueError(f"{name} must be given once in {path}")
        found[name] = value


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name} = {_literal(item)}' for name, item in value.items())}}}"
    return json.dumps(value) if isinstance(value, str) else repr(value)
