"""Simulate in a process of its own: a request on standard input, a line of JSON for each point.

It can be stopped at any time, and the page stays quick while it works. Nothing of a request is
executed or read as a path: it is numbers and names, checked where they are used.
"""

import json
import sys
from dataclasses import asdict
from typing import IO, Any

import numpy as np

from doubletrouble.ensembles import SUPPORT
from doubletrouble.page.setting import PageSetting
from doubletrouble.page.simulation import N_INIT, Request
from doubletrouble.results import AnovaTerms, ErrorTerms
from doubletrouble.simulation import simulate


def main(source: IO[str], sink: IO[str]) -> None:
    """Answer one request."""
    given = json.loads(source.read())
    request = Request(
        setting=PageSetting(**given["setting"]), along=given["along"], dim=given["dim"],
        draws=given["draws"], places=tuple(given["places"]),
    )  # fmt: skip
    for x in request.places:
        sink.write(json.dumps(_point(request, x)) + "\n")
        sink.flush()


def text(request: Request) -> str:
    """A request as `main` reads it."""
    return json.dumps(asdict(request))


def _point(request: Request, x: float) -> dict[str, Any]:
    """One point of the axis: where it is at whole P and N, and each part with its error."""
    setting, along = request.setting, request.along
    times = _times(request, x)
    try:
        problem = setting.problem_along(along, x)
        ensemble = setting.ensemble(problem, setting.members_along(along, x))
        run = simulate(
            problem, model="kernel" if np.isinf(problem.features_per_dim) else "features",
            dim=request.dim, n_data=request.draws, n_init=N_INIT, ensembles=[ensemble],
            times=times, progress=False,
        )  # fmt: skip
    except ValueError as error:
        return {"at": x, "refused": str(error)}
    at = run.problem
    P, N = (float(np.ravel(v)[0]) for v in (at.features_per_dim, at.samples_per_dim))
    realized = {"width": P / N if setting.per == "N" else P, "samples": N}.get(along, x)
    has_effects = times is None and SUPPORT["Simulation.anova"](type(ensemble))
    return {
        "at": x,
        "x": realized,
        "causes": _numbers(run.error(ensemble)),
        "effects": _numbers(run.anova(ensemble)) if has_effects else {},
    }


def _times(request: Request, x: float) -> list[float] | None:
    """When training stops, if it does."""
    if request.along == "time":
        return [x]
    return None if request.setting.is_trained else [request.setting.time]


def _numbers(terms: ErrorTerms[Any] | AnovaTerms[Any]) -> dict[str, list[float]]:
    """Values and standard errors; in time, those of the one time that was asked for."""
    parts = {"total": terms.total, **terms.parts}
    return {
        name: [float(np.asarray(v).reshape(())) for v in (part.value, part.standard_error)]
        for name, part in parts.items()
    }


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
