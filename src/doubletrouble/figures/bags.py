r"""Ways to give samples to the members of an ensemble: their names, strokes and simulations."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from doubletrouble.ensembles import Bootstrap, Divide, Ensemble, Scheme, Subsample
from doubletrouble.figures.ratios import numbers
from doubletrouble.figures.simulated import Points, TwoSizes
from doubletrouble.figures.spec import Line
from doubletrouble.figures.style import Stroke
from doubletrouble.palette import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.simulation import Simulation
from doubletrouble.theory import DISTINCT, exact_error

_STROKES = (
    Stroke("", BLUE, (0, (5, 1.5, 1, 1.5)), "^", 1.7, BLUE),
    Stroke("", GREEN, (0, (1.2, 1.0)), "D", 2.0, "white"),
    Stroke("", ORANGE, (0, (3, 1, 1, 1, 1, 1)), "P", 1.7, ORANGE),
)


class BagStyle(NamedTuple):
    """One way to give samples to members, and how it is drawn."""

    words: str
    ensemble: Scheme
    share: float  # of the samples, what a member fits
    stroke: Stroke


def bag_styles(fractions: Sequence[float], members: float) -> dict[str, BagStyle]:
    """Every way to give samples to members that is drawn, by the name of its column."""
    found = {
        "ensemble": BagStyle(
            "All samples", Ensemble(members), 1.0, Stroke("", BLACK, "-", "o", 1.7, BLACK)
        ),
        "bootstrap": BagStyle(
            "Bootstrap", Bootstrap(members), DISTINCT,
            Stroke("", VERMILION, (0, (6, 2)), "s", 1.7, "white"),
        ),
    }  # fmt: skip
    for place, fraction in enumerate(numbers("fractions", fractions)):
        found[f"subsample_{fraction:g}"] = BagStyle(
            f"Sub-bag, {fraction:.0%}".replace("%", " %"), Subsample(members, fraction=fraction),
            fraction, _STROKES[place % len(_STROKES)],
        )  # fmt: skip
    found["divide"] = BagStyle(
        "Divided", Divide(members), 1 / members,
        Stroke("", PURPLE, (0, (3, 1, 1, 1, 1, 1)), "v", 1.7, PURPLE),
    )  # fmt: skip
    return dict(sorted(found.items(), key=lambda item: -item[1].share))


def total_error(problem: Problem, ensemble: Scheme) -> FloatArray:
    """The test error of an ensemble along a problem."""
    return np.asarray(exact_error(problem, ensemble).total)


def simulated_points(runs: TwoSizes, label: str, ensemble: Scheme, noise: float) -> Points:
    """One ensemble as simulated, at another label noise: no term of a simulation depends on it."""

    def noisy(simulation: Simulation) -> Simulation:
        return replace(simulation, problem=replace(simulation.problem, noise=noise))

    again = replace(runs, whole=noisy(runs.whole), half=noisy(runs.half))
    at, members = again.problem, np.asarray(ensemble.n_members)
    x = members * np.asarray(at.features_per_dim) / np.asarray(at.samples_per_dim)
    theory = Line(label, x, total_error(at, runs.whole.realized(ensemble)))
    return again.points(theory, lambda simulation: simulation.error(ensemble).total)
