"""Simulations in the background, with real processes."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO

import pytest

from doubletrouble.page import jobs as module
from doubletrouble.page.answer import answer
from doubletrouble.page.jobs import Job, Jobs
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.simulation import Request, request

pytestmark = pytest.mark.xdist_group("processes")

SMALL = PageView(dim=10.0, draws=2.0)
LONG = PageView(dim=300.0, draws=50.0)


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    found = Jobs()
    yield found
    found.close()


def until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def asked(view: PageView, ridge: float = 0.1) -> Request:
    return request(view, PageSetting(ridge=ridge))


def test_a_simulation_runs_to_its_end_and_is_kept(jobs: Jobs) -> None:
    wanted = asked(SMALL)
    assert jobs.find(wanted) is None
    (job,) = jobs.start([wanted])
    assert job.status.startswith("Simulating: ")
    until(lambda: job.ended)
    assert job.ended == "done"
    count = len(wanted.places)
    assert job.status == f"Simulated {count} points at D = 10."
    assert len(job.points) == job.finished == count
    assert jobs.find(wanted) is job
    assert jobs.start([wanted]) == [job]  # not again

    view = replace(SMALL, first=PageSetting(ridge=0.1, width=7.0))
    measured = answer({"query": "ridge=0.1&width=7&dim=10&draws=2"}, jobs).measured
    assert jobs.find(request(view, view.first)) is job  # the slider stands elsewhere
    assert [points.name for points in measured[0]] == [
        "total", "noise", "initialization", "sampling", "bias",
    ]  # fmt: skip
    assert measured[0][0].value == [point["causes"]["total"][0] for point in job.points]


def test_a_cancelled_one_stops_and_can_be_started_again(jobs: Jobs) -> None:
    (job,) = jobs.start([asked(LONG)])
    until(lambda: job.process)
    jobs.cancel(job)
    assert job.process is not None
    assert job.process.wait(timeout=20) != 0
    assert job.status.startswith("Cancelled after ")
    jobs.cancel(job)  # once more does nothing
    (again,) = jobs.start([asked(LONG)])
    assert again is not job
    until(lambda: again.process)
    assert not again.ended
    assert jobs.find(asked(LONG)) is again


def test_what_was_found_before_a_cancel_is_not_lost(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = asked(SMALL, 0.7)
    stopped = Job(request=wanted, ended="cancelled")
    for place in wanted.places[:-2]:
        stopped.take({"at": place, "x": place, "causes": {}, "effects": {}})
    monkeypatch.setitem(jobs._jobs, wanted.signature, stopped)
    (job,) = jobs.start([wanted])
    until(lambda: job.ended)
    assert job.points[:-2] == stopped.points
    assert [point["at"] for point in job.points] == list(wanted.places)
    assert len(stopped.points) == len(wanted.places) - 2  # it stays as it was


def test_one_after_the_other(jobs: Jobs) -> None:
    first, second = jobs.start([asked(LONG), asked(SMALL)])
    until(lambda: first.process)
    assert second.process is None
    assert "waiting for another one" in second.status
    jobs.cancel(first)
    until(lambda: second.ended)
    assert second.ended == "done"


def test_one_that_waits_can_be_cancelled(jobs: Jobs) -> None:
    first, second = jobs.start([asked(LONG), asked(SMALL)])
    jobs.cancel(second)
    jobs.cancel(first)
    assert second.ended == "cancelled"
    assert second.process is None


def test_too_many_are_refused(jobs: Jobs) -> None:
    started = jobs.start([asked(LONG, 0.1 + k) for k in range(20)])
    assert len(started) == 20
    with pytest.raises(ValueError, match="simulations must be at most 20 at a time, got 21"):
        jobs.start([asked(LONG, 50.0)])
    assert jobs.start([asked(LONG, 0.1)]) == [started[0]]  # which is no new one


def test_closing_stops_everything() -> None:
    jobs = Jobs()
    running = jobs.start([asked(LONG, 0.1 + k) for k in range(3)])
    until(lambda: running[0].process)
    jobs.close()
    assert {job.ended for job in running} == {"cancelled"}
    assert running[0].process is not None
    assert running[0].process.wait(timeout=20) != 0


def test_what_went_wrong_is_told(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(errors: IO[str]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        code = "import sys; sys.stdin.read(); sys.exit('no more memory')"
        return subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe,
                                stderr=errors, text=True)  # fmt: skip

    monkeypatch.setattr(module, "_started", broken)
    (job,) = jobs.start([asked(SMALL)])
    until(lambda: job.ended)
    assert job.status == "The simulation stopped: no more memory."


def test_a_process_that_cannot_start_is_told(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    (job,) = jobs.start([asked(SMALL)])
    until(lambda: job.ended)
    assert "no process can be started" in job.status
    monkeypatch.undo()
    (again,) = jobs.start([asked(SMALL)])
    until(lambda: again.ended)
    assert again.ended == "done"


def test_much_that_is_said_does_not_stop_it(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    def talkative(errors: IO[str]) -> "subprocess.Popen[str]":
        pipe = subprocess.PIPE
        code = "import sys; sys.stdin.read(); sys.stderr.write('x' * 10**6 + chr(10))"
        return subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe,
                                stderr=errors, text=True)  # fmt: skip

    monkeypatch.setattr(module, "_started", talkative)
    (job,) = jobs.start([asked(SMALL)])
    until(lambda: job.ended)
    assert job.ended == "done"


def test_those_asked_for_last_are_kept(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 1)
    (first,) = jobs.start([asked(SMALL, 0.1)])
    until(lambda: first.ended)
    both = jobs.start([asked(SMALL, 0.1), asked(SMALL, 0.2)])  # neither is dropped
    assert both[0] is first
    until(lambda: both[1].ended)
    (third,) = jobs.start([asked(SMALL, 0.3)])
    until(lambda: third.ended)
    assert jobs.find(asked(SMALL, 0.1)) is None
    assert jobs.find(asked(SMALL, 0.3)) is third


def test_points_that_cannot_be_are_told() -> None:
    job = Job(request=asked(SMALL), ended="done")
    job.take({"at": 1.0, "refused": "n_members must be at most N"})
    assert job.status == "Simulated 0 points at D = 10. 1 left out: n_members must be at most N."
