"""Ensembles of networks as a store has them: a record in, a run and its numbers out.

Nothing here needs torch: what was trained elsewhere can be read anywhere.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble.networks._outcome import STATUSES
from doubletrouble.networks._result import LazyRun, as_used
from doubletrouble.runs import Record, Store, decode

KIND = "lazy"

_SETTINGS = {"precision": "dtype"}  # names in older stores
_RENAMED = {"max_steps": "most_steps"}  # a column counts the networks that reached it


def to_record(run: LazyRun) -> Record:
    """Every field of a run."""
    return {f.name: getattr(run, f.name) for f in fields(run)}


def from_record(record: Record) -> LazyRun:
    """Make a run from its fields again."""
    settings = {_SETTINGS.get(name, name): value for name, value in record["settings"].items()}
    used = as_used(settings, record["laziness"])  # older stores have what was asked
    return LazyRun(**{**record, "settings": used})


def row_of(run: LazyRun) -> dict[str, Any]:
    """An ensemble in numbers; members that diverged are counted, and left out of the rest."""
    row: dict[str, Any] = {"laziness": run.laziness, "width": run.width, "n_members": run.n_members}
    errors = ("single_error", "single_std", "ensemble_error", "vote_error", "train_error")
    reasons = Counter(run.status)
    row |= dict.fromkeys((*errors, "train_loss"), float("nan"))
    row["interpolating"] = int(run.interpolates.sum())
    row |= {name: reasons[name] for name in STATUSES}
    row |= {"median_steps": float("nan"), "mean_distance": float("nan")}
    left = run.n_members - reasons["diverged"]
    if not left:
        return row
    sound = run.without_diverged()
    single = sound.errors(1)
    return row | {
        "single_error": float(single.mean()),
        "single_std": float(single.std(ddof=1)) if left > 1 else float("nan"),
        "ensemble_error": float(sound.error(left).total),
        "vote_error": float(sound.error(left, "vote").total),
        "train_error": float(sound.train_error.mean()),
        "train_loss": float(sound.train_loss.mean()),
        "median_steps": float(np.median(sound.steps)),
        "mean_distance": float(sound.distance.mean()),
    }


def stored_runs(store: str | Path, others: Collection[str] = ()) -> list[LazyRun]:
    """Every ensemble that a store holds, by α and width; the keys of `others` are not looked at."""
    with Store.read(store) as opened:
        stored = (opened.outcome(key) for key in opened.statuses() if key not in others)
        records = [decode(cell.result) for cell in stored if cell and cell.result]
    runs = [from_record(record) for record in records if "laziness" in record]
    return sorted(runs, key=lambda run: (run.laziness, run.width))


def table(runs: Sequence[LazyRun]) -> dict[str, list[Any]]:
    """Columns: the numbers of every ensemble, then how it was trained."""
    known = dict.fromkeys(name for run in runs for name in run.settings)
    columns: dict[str, list[Any]] = {}
    for run in runs:
        settings = {_RENAMED.get(name, name): run.settings.get(name) for name in known}
        for name, value in {**row_of(run), **settings}.items():
            columns.setdefault(name, []).append(value)
    return columns
