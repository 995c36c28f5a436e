"""Simulations in the background: started, watched, cancelled, and kept for whoever asks again."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

from doubletrouble.page import worker
from doubletrouble.page.simulation import Request

_MOST = 20  # that wait or run
_AT_ONCE = max(1, min(4, (os.cpu_count() or 1) - 1))
_KEPT = 64  # finished simulations, those asked for last
_DONE, _CANCELLED = "done", "cancelled"


@dataclass(kw_only=True, eq=False)
class Job:
    """One simulation, as far as it has got."""

    request: Request
    points: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    seen: set[float] = field(default_factory=set)  # the places that are done
    ended: str = ""  # done, cancelled, or what went wrong
    process: "subprocess.Popen[str] | None" = None

    def take(self, found: dict[str, Any]) -> None:
        """One more point, or why there is none."""
        self.seen.add(found["at"])
        if "refused" in found:
            self.refused.append(found["refused"])
        else:
            self.points.append(found)

    def left(self) -> Request:
        """What is still to be simulated."""
        places = tuple(x for x in self.request.places if x not in self.seen)
        return replace(self.request, places=places)

    def again(self) -> "Job":
        """The same, to go on where it stopped."""
        return Job(request=self.request, points=list(self.points), refused=list(self.refused),
                   seen=set(self.seen))  # fmt: skip

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
        if self.ended == _CANCELLED:
            return f"Cancelled after {self.finished} of {total} points.{left}"
        if self.ended == _DONE:
            return f"Simulated {len(self.points)} points at D = {self.request.dim}.{left}"
        return f"The simulation stopped: {self.ended}."


class Jobs:
    """All simulations of a server: a few at a time, so that it does not take the whole machine."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Any, Job] = OrderedDict()
        self._waiting: deque[Job] = deque()
        self._threads: list[threading.Thread] = []

    def start(self, requests: Sequence[Request]) -> list[Job]:
        """Start what is not running or done; `ValueError` says when too much is waiting."""
        with self._lock:
            fresh = [r for r in requests if self._stale(self._jobs.get(r.signature))]
            count = sum(not job.ended for job in self._jobs.values()) + len(fresh)
            if count > _MOST:
                raise ValueError(
                    f"simulations must be at most {_MOST} at a time, got {count}; try again later"
                )
            for request in fresh:
                before = self._jobs.get(request.signature)
                job = before.again() if before else Job(request=request)
                self._jobs[request.signature] = job
                self._waiting.append(job)
            asked = [self._known(request) for request in requests]
            ended = [key for key, job in self._jobs.items() if job.ended and job not in asked]
            for key in ended[: max(0, len(self._jobs) - _KEPT)]:
                del self._jobs[key]
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            for _ in range(min(len(fresh), _AT_ONCE - len(self._threads))):
                thread = threading.Thread(target=self._work, daemon=True, name="simulation")
                self._threads.append(thread)
                thread.start()
        return [job for job in asked if job is not None]

    def find(self, request: Request) -> Job | None:
        """The simulation of a setting, if it is known."""
        with self._lock:
            return self._known(request)

    def cancel(self, job: Job) -> None:
        """Stop a simulation; what it has found stays."""
        with self._lock:
            if job.ended:
                return
            job.ended = _CANCELLED
            if job in self._waiting:
                self._waiting.remove(job)
            if job.process:
                job.process.kill()

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            jobs, threads = list(self._jobs.values()), list(self._threads)
        for job in jobs:
            self.cancel(job)
        for thread in threads:
            thread.join()

    def _known(self, request: Request) -> Job | None:
        """A simulation, which is now the last asked for."""
        job = self._jobs.get(request.signature)
        if job:
            self._jobs.move_to_end(request.signature)
        return job

    @staticmethod
    def _stale(job: Job | None) -> bool:
        return job is None or job.ended not in ("", _DONE)

    def _work(self) -> None:
        """Run what is waiting, one after the other."""
        while job := self._next():
            ended = "it broke off"
            try:
                ended = self._run(job)
            finally:
                with self._lock:
                    job.ended = job.ended or ended

    def _next(self) -> Job | None:
        """The next one that waits; when there is none, the thread is at its end."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._threads.remove(threading.current_thread())
            return None

    def _run(self, job: Job) -> str:
        """Run one simulation; how it ended."""
        # a file, not a pipe: nobody reads it before the end
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            try:
                process = _started(errors)
            except OSError as error:
                return f"no process can be started, {error.strerror}"
            with self._lock:
                job.process = process
                if job.ended:  # cancelled meanwhile
                    process.kill()
            with process:  # which waits for its end
                try:
                    _listen(process, job)
                except (OSError, ValueError):  # killed between two words, or it said something else
                    process.kill()
            errors.seek(0)
            said = errors.read().strip().splitlines()
        return _DONE if process.returncode == 0 else (said or ["it gave no reason"])[-1]


def _started(errors: IO[str]) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", worker.__name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=errors, text=True, env=environment, start_new_session=True,  # Ctrl-C is not for it
    )  # fmt: skip


def _listen(process: "subprocess.Popen[str]", job: Job) -> None:
    """Ask, and take every point as it comes."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(worker.text(job.left()))
    process.stdin.close()
    for line in process.stdout:
        job.take(json.loads(line))
