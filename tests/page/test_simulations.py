"""Simulations for the page: in their own processes, bounded, cancelled and continued."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.page import _simulations
from doubletrouble.page._processes import Worker
from doubletrouble.page._simulations import (
    MOST_WAITING,
    N_INIT,
    SimulationRequest,
    Simulations,
)
from tests.page.serving import WAIT

pytestmark = pytest.mark.xdist_group("processes")


def request(setting: dict[str, Any] | None = None, **given: Any) -> SimulationRequest:
    defaults = {"along": "features_per_sample", "range": [0.5, 2.0], "dim": 10, "n_data": 2}
    return SimulationRequest.from_json(setting or {}, defaults | given)


LONG = request({"features_per_sample": 2}, dim=40, draws=100, range=[1.0, 10.0])


@pytest.fixture
def simulations() -> Iterator[Simulations]:
    one = Simulations()
    yield one
    one.close()


def wait_for(condition: Callable[[], Any]) -> Any:
    """Poll until a condition holds."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("the condition never held")


def result(simulations: Simulations, one: SimulationRequest) -> dict[str, Any]:
    def ended() -> Any:
        status = simulations.status(one)
        return status if status and status["ended"] else None

    status: dict[str, Any] = wait_for(ended)
    return status


def test_points_are_those_of_the_library(simulations: Simulations) -> None:
    one = request({"n_members": 3, "scheme": "divide"}, range=[0.8, 1.2])
    simulations.start(one)
    status = result(simulations, one)
    assert (status["status"], status["done"]) == ("done", len(one.points)), status
    point = status["points"][2]
    problem, ensemble = one.problem_and_ensemble(point["at"])
    run = dt.simulate(
        problem, dim=10, n_data=2, n_init=N_INIT, ensembles=[ensemble], progress=False
    )
    total = run.error(dt.Divide(3)).total
    assert point["causes"]["total"] == [total.value, total.standard_error]
    P, N = (
        float(np.asarray(v)) for v in (run.problem.features_per_dim, run.problem.samples_per_dim)
    )
    assert point["x"] == P / N


@pytest.mark.parametrize(
    "setting",
    [{"features_per_sample": "inf"}, {"scheme": "bootstrap", "n_members": 5}, {"time": 10.0}],
    ids=["kernel", "bootstrap", "time"],
)
def test_kinds_of_settings(setting: dict[str, Any], simulations: Simulations) -> None:
    one = request(setting, along="ridge", range=[0.1, 1.0])
    if setting.get("features_per_sample") == "inf":
        assert all(float("inf") == P for P, _ in map(one.sizes, one.points))
    simulations.start(one)
    status = result(simulations, one)
    assert status["status"] == "done", status
    assert status["points"]


def test_points_beyond_the_limits_of_size_are_reported(simulations: Simulations) -> None:
    one = request(range=[0.1, 1e5], dim=10)
    simulations.start(one)
    status = simulations.status(one)
    assert status is not None
    refused = [point["at"] for point in status["refused"]]
    assert 0 < len(refused) < 12
    assert sorted([*refused, *one.points]) == sorted([*np.geomspace(0.1, 1e5, 11), 1.0])
    assert {point["message"] for point in status["refused"]} == {
        "P and N must be from 1 to 4000 at D = 10"
    }


def test_refused_points_have_their_own_reason(simulations: Simulations) -> None:
    """One fold is no scheme, and five models on four samples are refused when they are drawn."""
    folds = request({"scheme": "folds"}, along="n_members", range=[1.0, 3.0])
    simulations.start(folds)
    status = result(simulations, folds)
    assert status["status"] == "done"
    assert (status["done"], status["total"]) == (len(status["points"]), len(folds.points))
    assert [point["at"] for point in status["refused"]] == [1.0]
    assert status["refused"][0]["message"].startswith("K must be")
    divided = request(
        {"scheme": "divide", "samples_per_dim": 0.4}, along="n_members", range=[2.0, 9.0]
    )
    simulations.start(divided)
    status = result(simulations, divided)
    assert status["status"] == "done"
    assert 0 < status["done"] == status["total"] == len(status["points"])
    assert len(status["points"]) + len(status["refused"]) == len(divided.points)
    assert status["refused"]


def test_cancelled_simulations_keep_their_points_and_continue(
    simulations: Simulations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_simulations, "_AT_ONCE", 4)
    simulations.start(LONG)
    wait_for(lambda: (simulations.status(LONG) or {})["done"])
    simulations.cancel(LONG)
    first = simulations.status(LONG)
    assert first is not None
    assert first["status"] == "cancelled"
    simulations.start(LONG)
    again = wait_for(lambda: (s := simulations.status(LONG)) and s["done"] > first["done"] and s)
    assert again["status"] == "running", again
    assert again["points"][: first["done"]] == first["points"]


def test_value_on_the_axis_does_not_make_another_simulation(simulations: Simulations) -> None:
    simulations.start(request({"features_per_sample": 2}))
    assert simulations.status(request({"features_per_sample": 3})) is not None
    assert simulations.status(request({"features_per_sample": 3, "ridge": 1})) is None


def test_waiting_simulations_are_bounded(
    simulations: Simulations, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused start changes nothing: no second setting runs, and no point is lost."""
    simulations.start(LONG)
    wait_for(lambda: (simulations.status(LONG) or {})["done"])
    simulations.cancel(LONG)
    monkeypatch.setattr(_simulations, "_AT_ONCE", 0)
    for k in range(MOST_WAITING - 1):
        simulations.start(request({"ridge": 1 + k}))
    with pytest.raises(ValueError, match=r"^simulations must be at most"):
        simulations.start(request({"ridge": 0.5}), LONG)
    assert simulations.status(request({"ridge": 0.5})) is None
    kept = simulations.status(LONG)
    assert kept is not None
    assert kept["status"] == "cancelled"
    assert kept["points"]
    simulations.start(request({"ridge": 0.5}))  # one more


def test_failed_processes_are_reported_and_started_again(
    simulations: Simulations, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as changed:
        changed.setattr(sys, "executable", "/bin/false")
        simulations.start(request())
        failed = result(simulations, request())
        assert failed["status"] == "failed"
        assert failed["message"].endswith("exit code 1")
        program = tmp_path / "program"
        program.write_text("#!/bin/sh\nread request\necho no point\n")
        program.chmod(0o700)
        changed.setattr(sys, "executable", str(program))
        simulations.start(request())
        assert "not JSON" in result(simulations, request())["message"]
    simulations.start(request())
    assert result(simulations, request())["status"] == "done"


def test_processes_end_when_the_server_ends(simulations: Simulations) -> None:
    simulations.start(LONG)
    (worker,) = (one.worker for one in simulations._known.values())
    assert worker is not None
    simulations.close()
    wait_for(lambda: worker.process.poll() is not None)


def test_process_ends_when_its_input_is_closed() -> None:
    worker = Worker(_simulations.__name__, threads=1)
    worker.send(asdict(LONG))
    assert next(worker.answers())  # it computes
    assert worker.close() == "the process ended with exit code 0"


def test_process_whose_answers_nobody_reads_ends() -> None:
    code = (
        "from doubletrouble.page import _processes\n"
        "def main(given):\n"
        "    raise BrokenPipeError\n"
        "_processes.run(main)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
