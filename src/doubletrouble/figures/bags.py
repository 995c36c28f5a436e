r"""Ways to give samples to the members of an ensemble: their names, strokes and simulations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from doubletrouble.figures.ratios import numbers
from doubletrouble.figures.simulated import Points, TwoSizes, two_sizes
from doubletrouble.figures.spec import Line
from doubletrouble.figures.style import Stroke
from doubletrouble.palette import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.simulation.result import Simulation
from doubletrouble.theory.bootstrap import DISTINCT
from doubletrouble.theory.error import exact_error

_DRAWN = ("ensemble", "divide", "bootstrap", "subbag")
_STROKES = (
    Stroke("", BLUE, (0, (5, 1.5, 1, 1.5)), "^", 1.7, BLUE),
    Stroke("", GREEN, (0, (1.2, 1.0)), "D", 2.0, "white"),
    Stroke("", ORANGE, (0, (3, 1, 1, 1, 1, 1)), "P", 1.7, ORANGE),
)


class Scheme(NamedTuple):
    """One way to give samples to members."""

    words: str
    scheme: str
    share: float  # of the samples, what a member fits
    options: Mapping[str, Any]
    stroke: Stroke


def schemes(fractions: Sequence[float], members: float) -> dict[str, Scheme]:
    """Every way to give samples to members that is drawn, by the name of its column."""
    found = {
        "ensemble": Scheme(
            "All samples", "ensemble", 1.0, {}, Stroke("", BLACK, "-", "o", 1.7, BLACK)
        ),
        "bootstrap": Scheme(
            "Bootstrap", "bootstrap", DISTINCT, {},
            Stroke("", VERMILION, (0, (6, 2)), "s", 1.7, "white"),
        ),
    }  # fmt: skip
    for place, fraction in enumerate(numbers("fractions", fractions)):
        found[f"subbag_{fraction:g}"] = Scheme(
            f"Sub-bag, {fraction:.0%}".replace("%", " %"), "subbag", fraction,
            {"fraction": fraction}, _STROKES[place % len(_STROKES)],
        )  # fmt: skip
    found["divide"] = Scheme(
        "Divided", "divide", 1 / members, {},
        Stroke("", PURPLE, (0, (3, 1, 1, 1, 1, 1)), "v", 1.7, PURPLE),
    )  # fmt: skip
    return dict(sorted(found.items(), key=lambda item: -item[1].share))


def total_error(problem: Problem, members: float, one: Scheme) -> FloatArray:
    """The test error of K members along a problem."""
    return np.asarray(exact_error(problem, members, one.scheme, **one.options).total)


def simulations(
    problem: Problem, known: Mapping[str, Scheme], members: int, **settings: Any
) -> dict[str, TwoSizes]:
    """One simulation has all schemes but the fractions, of which it can have one at a time."""
    shared = {"model": "features", "n_members": [members], **settings}
    found: dict[str, TwoSizes] = {}
    for name, one in known.items():
        if one.scheme == "subbag":
            wanted = ["subbag"] if found else list(_DRAWN)
            found[name] = two_sizes(problem, schemes=wanted, **one.options, **shared)
    if not found:
        return dict.fromkeys(known, two_sizes(problem, schemes=list(_DRAWN[:3]), **shared))
    first = next(iter(found.values()))
    return {name: found.get(name, first) for name in known}


def simulated_points(runs: TwoSizes, label: str, one: Scheme, members: int, noise: float) -> Points:
    """One scheme as simulated, at another label noise: no term of a simulation depends on it."""

    def noisy(simulation: Simulation) -> Simulation:
        return replace(simulation, problem=replace(simulation.problem, noise=noise))

    again = replace(runs, whole=noisy(runs.whole), half=noisy(runs.half))
    at = again.problem
    x = members * np.asarray(at.features_per_dim) / np.asarray(at.samples_per_dim)
    theory = Line(label, x, total_error(at, members, one))
    return again.points(theory, lambda simulation: simulation.error(members, one.scheme).total)
