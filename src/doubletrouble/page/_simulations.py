"""Simulations for the page, in processes of their own.

A request is one setting at points along an axis, within limits of size and work. Each runs in a
process that answers with every point, and is killed when the simulation is cancelled. Finished
points stay: a simulation that is started again continues after them. Points that cannot be
simulated are refused, each with its reason.
"""

import json
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import IO, Any, Self

import numpy as np

from doubletrouble._display import Json
from doubletrouble.page._processes import Worker, exit_when_closed, run, write
from doubletrouble.page._settings import PageSetting, json_number, view_value
from doubletrouble.parameters import Parameter
from doubletrouble.results import AnovaTerms, ErrorTerms
from doubletrouble.simulation import simulate

N_POINTS = 11
N_INIT = 4
MOST_WAITING = 20
_MOST_KNOWN = 64  # finished simulations whose points are held
_AT_ONCE = max(1, min(4, (os.cpu_count() or 1) - 1))
_MOST_UNITS = 4000  # features or samples
_MOST_WORK = 1e12  # multiplications: a minute or two on one core
_SMALLEST_RIDGE_AT_PEAK = 1e-6  # below, the error at P = N has no useful mean
_LOG_RANGE = math.log(1e12)  # the longest axis
_END = Parameter(symbol="", meaning="end of an axis", low=5e-324, high=1e300, typical=(0.1, 10.0))


@dataclass(frozen=True, kw_only=True)
class SimulationRequest:
    """One setting at points along an axis."""

    setting: PageSetting
    along: str
    dim: int
    n_data: int
    points: tuple[float, ...]
    refused: tuple[tuple[float, str], ...] = ()  # other points of the axis, and why

    @classmethod
    def from_json(cls, setting: object, given: Mapping[str, Any]) -> Self:
        """Validate a request of the browser, and choose the points between the ends of its axis."""
        along = view_value("along", given)
        ends = given.get("range")
        if not isinstance(ends, list) or len(ends) != 2:
            raise ValueError(f"range must be two numbers, got {ends!r}")
        low, high = (json_number("range", end, _END) for end in ends)
        if not 0 < math.log(high / low) <= _LOG_RANGE:
            raise ValueError(f"range must be an interval, got {ends!r}")
        request = cls(
            setting=PageSetting.from_json(setting),
            along=along,
            dim=int(view_value("dim", given)),
            n_data=int(view_value("n_data", given)),
            points=(),
        )
        grid = request._grid(low, high)
        reasons = {x: request._refusal(x) for x in grid}
        points = tuple(x for x, reason in reasons.items() if not reason)
        refused = tuple((x, reason) for x, reason in reasons.items() if reason)
        return replace(request, points=points, refused=refused)._checked()

    @property
    def key(self) -> "SimulationRequest":
        """What distinguishes simulations: all but the setting's own value on the axis."""
        anywhere: dict[str, Any] = {self.along: 0.0}
        return replace(self, setting=replace(self.setting, **anywhere))

    def problem_and_ensemble(self, value: float) -> tuple[Any, Any]:
        """The problem and the ensemble at a point."""
        problem = self.setting.problem(self.along, value)
        return problem, self.setting.ensemble(problem, self.along, value)

    def times(self, value: float) -> list[float] | None:
        """The time of training at a point, if it is finite."""
        if self.along == "time":
            return [value]
        return None if self.setting.is_trained else [self.setting.time]

    def sizes(self, value: float) -> tuple[float, float]:
        """P and N at a point."""
        problem = self.setting.problem(self.along, value)
        sizes = (problem.features_per_dim, problem.samples_per_dim)
        features, samples = (float(np.asarray(size)) for size in sizes)
        P = features if math.isinf(features) else float(round(features * self.dim))
        return P, float(round(samples * self.dim))

    def _grid(self, low: float, high: float) -> list[float]:
        """Points of equal distance in their logarithm, and the peak."""
        grid = np.geomspace(low, high, N_POINTS)
        peak = self.setting.threshold(self.along)
        if (
            peak is not None
            and low <= peak <= high
            and (self.setting.ridge >= _SMALLEST_RIDGE_AT_PEAK or not self.setting.is_trained)
        ):
            grid = np.append(grid, peak)
        if self.along == "n_members":
            grid = np.round(grid)
        return [float(x) for x in np.unique(grid)]

    def _refusal(self, value: float) -> str:
        """Why a point cannot be simulated; empty if it can."""
        P, N = self.sizes(value)
        feasible = 1 <= P <= _MOST_UNITS or math.isinf(P)  # infinitely many features: the kernel
        if not feasible or not 1 <= N <= _MOST_UNITS:
            return f"P and N must be from 1 to {_MOST_UNITS} at D = {self.dim}"
        try:
            self.problem_and_ensemble(value)
        except ValueError as error:
            return _reason(error)
        return ""

    def _work(self, value: float) -> float:
        """Multiplications of one draw of a point.

        A fit has P N min(P, N) for the system and P N D for the features; the kernel has N for P. A
        draw has two data sets with N_INIT sets of features on each. Where members choose samples or
        features, each fit has two twins (`simulation._learners`).
        """
        P, N = self.sizes(value)
        if math.isinf(P):
            return 2.0 * N * N * (N + self.dim)
        _, ensemble = self.problem_and_ensemble(value)
        fits = 2.0 * N_INIT * (1.0 if ensemble.resamples is None else 3.0)
        return fits * P * N * (min(P, N) + self.dim)

    def _checked(self) -> Self:
        if not self.points:
            reasons = "; ".join(dict.fromkeys(reason for _, reason in self.refused))
            raise ValueError(f"range must have a point that can be simulated: {reasons}")
        timed = self.times(self.points[0]) is not None
        if timed and any(math.isinf(self.sizes(x)[0]) for x in self.points):
            raise ValueError("P must be finite for a simulation in time, got inf")
        work = sum(map(self._work, self.points))
        if work * self.n_data > _MOST_WORK:
            raise ValueError(
                f"n_data must be at most {math.floor(_MOST_WORK / work)} at D = {self.dim} on this "
                f"page, got {self.n_data}; `doubletrouble simulate` has no such limit"
            )
        return self


# --- one simulation in its process ---------------------------------------------------------------


def main(given: IO[bytes]) -> None:
    """Simulate the request on standard input; answer with each point."""
    values = json.loads(given.readline())
    exit_when_closed(given)
    request = SimulationRequest(**values | {"setting": PageSetting(**values["setting"])})
    for value in request.points:
        write(_simulated(request, value))


def _simulated(request: SimulationRequest, value: float) -> Json:
    """One point: its position at whole P and N, and every part with its standard error."""
    problem, ensemble = request.problem_and_ensemble(value)
    times = request.times(value)
    try:
        run = simulate(
            problem,
            model="kernel" if math.isinf(problem.features_per_dim) else "features",
            dim=request.dim,
            n_data=request.n_data,
            n_init=N_INIT,
            ensembles=[ensemble],
            times=times,
            progress=False,
        )
    except ValueError as error:
        return {"at": value, "refused": _reason(error)}
    P, N = (
        float(np.ravel(v)[0]) for v in (run.problem.features_per_dim, run.problem.samples_per_dim)
    )
    realized = {"features_per_sample": P / N, "features_per_dim": P, "samples_per_dim": N}
    causes = _estimates(run.error(ensemble))
    has_anova = times is None and "Simulation.anova" in ensemble.functions()
    return {
        "at": value,
        "x": realized.get(request.along, value),
        "causes": causes,
        "effects": _estimates(run.anova(ensemble)) if has_anova else {"total": causes["total"]},
    }


def _reason(error: ValueError) -> str:
    """A message of the library in the symbols of the page."""
    return str(error).replace("n_members", "K")


def _estimates(terms: ErrorTerms[Any] | AnovaTerms[Any]) -> dict[str, list[float]]:
    """Value and standard error of every part."""
    parts = {"total": terms.total, **terms.parts}
    return {
        name: [float(np.asarray(v).reshape(())) for v in (part.value, part.standard_error)]
        for name, part in parts.items()
    }


# --- all simulations of a server -----------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class _Simulation:
    """A request and its results so far."""

    request: SimulationRequest
    results: dict[float, Json] = field(default_factory=dict)
    status: str = "waiting"  # then running, and done, cancelled or failed
    message: str = ""
    worker: Worker | None = None

    @property
    def ended(self) -> bool:
        return self.status not in ("waiting", "running")

    @property
    def resumes(self) -> bool:
        """Whether it continues when it is started again."""
        return self.status in ("cancelled", "failed")

    def to_json(self) -> Json:
        points = [result for result in self.results.values() if "refused" not in result]
        refused = [(x, r["refused"]) for x, r in self.results.items() if "refused" in r]
        return {
            "status": self.status,
            "ended": self.ended,
            "message": self.message,
            "done": len(points),
            "total": len(self.request.points) - len(refused),
            "points": points,
            "refused": [
                {"at": x, "message": reason} for x, reason in (*self.request.refused, *refused)
            ],
        }


class Simulations:
    """The simulations of a server: a bounded number, a few at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[SimulationRequest, _Simulation] = OrderedDict()
        self._closed = False

    def start(self, *requests: SimulationRequest) -> None:
        """Start simulations, or continue those that were cancelled or failed: all, or none."""
        with self._lock:
            named = {request.key: request for request in requests}
            new = [key for key in named if (one := self._known.get(key)) is None or one.resumes]
            active = sum(not one.ended for one in self._known.values())
            if new and (active + len(new) > MOST_WAITING or self._closed):
                raise ValueError(
                    f"simulations must be at most {MOST_WAITING} at a time, got "
                    f"{active + len(new)}: wait"
                )
            for key, request in named.items():
                self._known.setdefault(key, _Simulation(request=request))
                self._known.move_to_end(key)
            for key in new:
                self._known[key].status, self._known[key].message = "waiting", ""
            for key in [key for key, one in self._known.items() if one.ended]:
                if len(self._known) > _MOST_KNOWN:
                    del self._known[key]
            self._start_waiting()

    def status(self, request: SimulationRequest) -> Json | None:
        """Status and points of a simulation, or None if it was never started."""
        with self._lock:
            one = self._known.get(request.key)
            return one.to_json() if one else None

    def cancel(self, *requests: SimulationRequest) -> None:
        """Stop simulations; their points stay."""
        with self._lock:
            for request in requests:
                one = self._known.get(request.key)
                if one and not one.ended:
                    self._end(one)

    def close(self) -> None:
        """Stop all simulations."""
        with self._lock:
            self._closed = True
            for one in self._known.values():
                if not one.ended:
                    self._end(one)

    def _end(self, one: _Simulation) -> None:
        one.status = "cancelled"
        if one.worker:
            one.worker.process.kill()

    def _start_waiting(self) -> None:
        """Start processes while there is room; the lock is held."""
        running = sum(one.worker is not None for one in self._known.values())
        for one in self._known.values():
            # the process of a cancelled simulation may not have ended yet
            may_start = one.status == "waiting" and one.worker is None
            if not may_start or running >= _AT_ONCE or self._closed:
                continue
            try:
                one.worker = Worker(__name__, threads=1)
            except OSError as error:
                one.status, one.message = "failed", f"no process starts: {error.strerror}"
                continue
            one.status, running = "running", running + 1
            threading.Thread(target=self._follow, args=(one, one.worker), daemon=True).start()

    def _follow(self, one: _Simulation, worker: Worker) -> None:
        """Collect the points of a process until its end."""
        left = tuple(x for x in one.request.points if x not in one.results)
        problem = ""
        try:
            worker.send(asdict(replace(one.request, points=left)))
            for result in worker.answers():
                with self._lock:
                    one.results[result["at"]] = result
        except OSError:  # of its pipes: the process has ended
            pass
        except ValueError as error:
            problem = f"a point was not JSON: {error}"
        ended = worker.close()
        with self._lock:
            one.worker = None
            if one.status == "running":
                done = len(one.results) == len(one.request.points)
                one.status = "done" if done else "failed"
                one.message = "" if done else problem or ended
            self._start_waiting()


if __name__ == "__main__":
    run(main)
