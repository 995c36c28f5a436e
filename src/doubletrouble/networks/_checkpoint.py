"""The checkpoint of a training: outcomes so far, and the state of the batches in training.

A checkpoint is written to a temporary file and renamed, so that it is complete at any time. It is
an .npz file without pickled objects, so that reading it executes no code.
"""

import glob
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble.errors import StoreError
from doubletrouble.networks._program import Program
from doubletrouble.networks._settings import TrainingOutcome

_INTERVAL = 60.0  # seconds between two writes, at least
_SHARE = 0.05  # of the time, for writing

_State = dict[str, Any]


class Checkpoint:
    """The checkpoint file of the training that `key` identifies."""

    def __init__(self, path: str | Path, key: str) -> None:
        self.path, self._key = Path(path), key
        self.outcomes: dict[int, TrainingOutcome] = {}  # by the index of the member
        self._states: list[_State] = []  # of batches that have not resumed yet
        self._last, self._cost = time.monotonic(), 0.0  # of writing
        folder = self.path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise StoreError(f"store must be in a writable folder, got {self.path}")
        if self.path.is_dir():
            raise StoreError(f"store must be a file, got the folder {self.path}")
        if self.path.exists():
            self._read()
        self._remove_temporary()

    def _remove_temporary(self) -> None:
        """Remove temporary files of processes that were killed while writing."""
        for part in self.path.parent.glob(f"{glob.escape(self.path.name)}.*.part"):
            process = part.suffixes[-2].removeprefix(".")
            if process.isdigit() and not _is_alive(int(process)):
                part.unlink(missing_ok=True)

    def resume(self, program: Program) -> None:
        """Restore the state of a batch if there is one; drop members of other batches from it."""
        for k, state in enumerate(self._states):
            indices, width = state["places"].tolist(), int(state["width"])
            same_width = width == program.batch.architecture.width
            if same_width and set(indices) <= set(program.indices):
                if indices != program.indices:
                    program.keep([program.indices.index(i) for i in indices])
                program.restore(state)
                del self._states[k]
                return

    def save(
        self,
        programs: Sequence[Program],
        outcomes: Mapping[int, TrainingOutcome],
        *,
        now: bool = False,
    ) -> None:
        """Write everything, if the last write is long enough ago or `now`."""
        start = time.monotonic()
        if not now and start - self._last < max(_INTERVAL, self._cost / _SHARE):
            return
        taken = set(outcomes).union(*(program.indices for program in programs))
        waiting = [s for s in self._states if taken.isdisjoint(s["places"].tolist())]
        self._write(outcomes, [*(program.state() for program in programs), *waiting])
        self._last = time.monotonic()
        self._cost = self._last - start

    def _write(self, outcomes: Mapping[int, TrainingOutcome], states: Sequence[_State]) -> None:
        written = {k: asdict(outcomes[k]) for k in sorted(outcomes)}
        arrays = {f"scores.{k}": fields.pop("scores") for k, fields in written.items()}
        for k, state in enumerate(states):
            arrays |= {f"state.{k}.{name}": np.asarray(value) for name, value in state.items()}
        header = json.dumps({"key": self._key, "outcomes": written})
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
                if key == self._key:  # reading all arrays verifies their checksums
                    arrays = {name: file[name] for name in file.files}
                    self.outcomes = {
                        int(k): TrainingOutcome(scores=arrays[f"scores.{k}"], **fields)
                        for k, fields in header["outcomes"].items()
                    }
                    self._states = _states_in(arrays)
        except Exception as error:  # zipfile, NumPy and json raise many classes
            raise StoreError(
                f"store must be a complete checkpoint of a training, got {self.path}; delete it to "
                "start again"
            ) from error
        if key != self._key:
            raise StoreError(
                f"store must belong to the same data and settings, got {self.path} of another "
                "training; choose another file"
            )


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True


def _states_in(arrays: Mapping[str, Any]) -> list[_State]:
    """Return the states of the batches in training."""
    states: dict[str, _State] = {}
    for name, array in arrays.items():
        kind, _, rest = name.partition(".")
        if kind == "state":
            number, _, part = rest.partition(".")
            states.setdefault(number, {})[part] = array
    if not all({"places", "width", "time"} <= set(state) for state in states.values()):
        raise KeyError("the state of a batch is incomplete")
    return list(states.values())
