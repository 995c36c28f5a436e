"""Simulations in the background: started, watched, cancelled, and kept for whoever asks again."""

import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from doubletrouble.page import worker
from doubletrouble.page.simulation import Request

_AT_ONCE = 1  # the others wait: a page should not take the whole machine
_MOST_WAITING = 20
_KEPT = 64  # finished simulations, for whoever comes back to their setting


@dataclass(kw_only=True)
class Job:
    """One simulation, as far as it has got."""

    request: Request
    points: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    ended: str = ""  # "done", "cancelled", or what went wrong
    process: "subprocess.Popen[str] | None" = None

    def take(self, found: dict[str, Any]) -> None:
        """One more point, or why there is none."""
        if "refused" in found:
            self.refused.append(found["refused"])
        else:
            self.points.append(found)

    @property
    def finished(self) -> int:
        """How many points are done, with those that cannot be."""
        return len(self.points) + len(self.refused)

    @property
    def status(self) -> str:
        """How far it is, in words."""
        total = len(self.request.places)
        if not self.ended:
            waiting = "" if self.process else "waiting for another one; "
            return f"Simulating: {waiting}{self.finished} of {total} points done."
        left = f" {len(self.refused)} left out: {self.refused[0]}." if self.refused else ""
        if self.ended == "cancelled":
            return f"Cancelled after {self.finished} of {total} points.{left}"
        if self.ended == "done":
            return f"Simulated {len(self.points)} points at D = {self.request.dim}.{left}"
        return f"The simulation stopped: {self.ended}."


class Jobs:
    """All simulations of a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Any, Job] = OrderedDict()
        self._executor = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="simulation")

    def start(self, requests: Sequence[Request]) -> list[Job]:
        """Start what is not running or done; `RuntimeError` says when too much is waiting."""
        with self._lock:
            fresh = [r for r in requests if self._stale(self._jobs.get(r.signature))]
            waiting = sum(not job.ended for job in self._jobs.values())
            if waiting + len(fresh) > _MOST_WAITING:
                raise RuntimeError(f"{waiting} simulations are waiting already; try again later.")
            for request in fresh:
                job = self._jobs[request.signature] = Job(request=request)
                self._jobs.move_to_end(request.signature)
                self._executor.submit(self._run, job)
            ended = [key for key, job in self._jobs.items() if job.ended]
            for key in ended[: max(0, len(self._jobs) - _KEPT)]:
                del self._jobs[key]
            return [self._jobs[r.signature] for r in requests]

    def find(self, request: Request) -> Job | None:
        """The simulation of a setting, if it was ever started."""
        with self._lock:
            return self._jobs.get(request.signature)

    def cancel(self, job: Job) -> None:
        """Stop a simulation; what it has found stays."""
        with self._lock:
            if not job.ended:
                job.ended = "cancelled"
                if job.process:
                    job.process.kill()

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            self.cancel(job)
        self._executor.shutdown(wait=True, cancel_futures=True)

    @staticmethod
    def _stale(job: Job | None) -> bool:
        return job is None or job.ended not in ("", "done")

    def _run(self, job: Job) -> None:
        with self._lock:
            if job.ended:
                return
            job.process = process = _started()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            process.stdin.write(worker.text(job.request))
            process.stdin.close()
            for line in process.stdout:
                job.take(json.loads(line))
            said = process.stderr.read().strip().splitlines()
        except (OSError, ValueError) as error:  # killed between two words
            said = [str(error)]
        code = process.wait()
        for pipe in (process.stdout, process.stderr):
            pipe.close()
        with self._lock:
            if not job.ended:
                job.ended = "done" if code == 0 else (said or [f"exit code {code}"])[-1]


def _started() -> "subprocess.Popen[str]":
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", worker.__name__], stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        env=environment, start_new_session=True,
    )  # fmt: skip
