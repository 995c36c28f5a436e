"""A file from which a killed training goes on: results so far, and the batch on its way.

Written beside its place and moved there, so that it is whole at any time. No pickle: reading it
runs nobody's code.
"""

import glob
import json
import os
import struct
import time
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble.errors import StoreError
from doubletrouble.networks._outcome import TrainingOutcome
from doubletrouble.networks._run import Run

_EVERY = 60.0  # seconds between two writes, at least
_SHARE = 0.05  # of the time that writing may take
_SPEED = 2e8  # bytes a second, until the first write has been timed
_BROKEN = (
    OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, RuntimeError,
    struct.error, zlib.error, zipfile.BadZipFile,
)  # fmt: skip
"""What a file that is not ours, or no longer whole, makes zipfile, NumPy and json raise."""


class Checkpoint:
    """The file of one training; `key` says which."""

    def __init__(self, path: str | Path, key: str) -> None:
        self.path, self._key = Path(path), key
        self._outcomes: dict[int, TrainingOutcome] = {}
        self._states: list[dict[str, Any]] = []
        self._last, self._cost = time.monotonic(), 0.0
        self._refuse_unwritable()
        if self.path.exists():
            self._read()
        self._clear_away()

    def _refuse_unwritable(self) -> None:
        folder = self.path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise StoreError(f"store must lie in a writable folder, got {self.path}")
        if self.path.is_dir():
            raise StoreError(f"store must be a file, got the folder {self.path}")

    def _clear_away(self) -> None:
        """Remove what a process that was killed in the middle of a write left behind."""
        for part in self.path.parent.glob(f"{glob.escape(self.path.name)}.*.part"):
            process = part.suffixes[-2].removeprefix(".")
            if process.isdigit() and not _is_alive(int(process)):
                part.unlink(missing_ok=True)

    def outcomes(self) -> dict[int, TrainingOutcome]:
        """What was done before, by the index of the member."""
        return dict(self._outcomes)

    def resume(self, run: Run) -> None:
        """Bring a batch to where it was; members that were in another are dropped from it."""
        for k, state in enumerate(self._states):
            was, width = state["places"].tolist(), int(state["width"])
            if set(was) <= set(run.indices) and width == run.batch.architecture.width:
                if was != run.indices:
                    run.keep(was)
                run.program.restore(state)
                del self._states[k]
                return

    def keep(
        self, runs: Sequence[Run], found: Mapping[int, TrainingOutcome], *, now: bool = False
    ) -> None:
        """Write everything, if it is time."""
        start = time.monotonic()
        cost = max(self._cost, sum(run.program.size for run in runs) / _SPEED)
        if not now and start - self._last < max(_EVERY, cost / _SHARE):
            return
        taken = set(found).union(*(run.indices for run in runs))
        waiting = [s for s in self._states if taken.isdisjoint(s["places"].tolist())]
        self._write(found, [*map(_state, runs), *waiting])
        self._last = time.monotonic()
        self._cost = self._last - start

    def _write(
        self, found: Mapping[int, TrainingOutcome], states: Sequence[Mapping[str, Any]]
    ) -> None:
        outcomes = {k: asdict(found[k]) for k in sorted(found)}
        arrays = {f"scores.{k}": o.pop("scores") for k, o in outcomes.items()}
        for k, state in enumerate(states):
            arrays |= {f"state.{k}.{name}": np.asarray(value) for name, value in state.items()}
        header = json.dumps({"key": self._key, "outcomes": outcomes})
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with temporary.open("wb") as file:
                np.savez(file, header=np.array(header), **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"store {self.path} cannot be written: {reason}") from error
        finally:
            temporary.unlink(missing_ok=True)

    def _read(self) -> None:
        try:
            with self.path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                key = header["key"]
                if key == self._key:  # all is read, and with it checked
                    arrays = {name: file[name] for name in file.files}
                    self._outcomes, self._states = _parts(header["outcomes"], arrays)
        except _BROKEN as error:
            raise StoreError(
                f"store must be a file that training wrote, got {self.path}; delete it to "
                "start anew"
            ) from error
        if key != self._key:
            raise StoreError(
                f"store must belong to the same data and settings, got {self.path} of another "
                "training; name another file"
            )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        pass
    return True


def _state(run: Run) -> dict[str, Any]:
    """A batch on its way: its members, the width they are padded to, and all that changes."""
    indices, width = np.array(run.indices), np.array(run.batch.architecture.width)
    return {**run.program.state(), "places": indices, "width": width}


def _parts(
    outcomes: Mapping[str, Any], arrays: Mapping[str, Any]
) -> tuple[dict[int, TrainingOutcome], list[dict[str, Any]]]:
    """Results by index, and batches on their way."""
    found = {
        int(k): TrainingOutcome(scores=arrays[f"scores.{k}"], **o) for k, o in outcomes.items()
    }
    states: dict[str, dict[str, Any]] = {}
    for name in arrays:
        kind, _, rest = name.partition(".")
        if kind == "state":
            number, _, what = rest.partition(".")
            states.setdefault(number, {})[what] = arrays[name]
    if not all({"places", "width", "time"} <= set(state) for state in states.values()):
        raise KeyError("a batch on its way is not whole")
    return found, list(states.values())
