"""The numbers of the plot: total and parts along the axis, and where the sliders stand."""

import math
from dataclasses import dataclass

import numpy as np

from doubletrouble.page.setting import Setting, View
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.results import AnovaTerms, ErrorTerms
from doubletrouble.theory.error import anova, exact_error

CAUSES = ("noise", "initialization", "sampling", "bias")
EFFECTS = (
    "noise_initialization_sampling", "noise_sampling", "initialization_sampling", "initialization",
    "sampling", "bias",
)  # fmt: skip
PARTS = {"causes": CAUSES, "effects": EFFECTS}
"""The parts of each split, from the top of a stack down."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """The error of one setting along the axis."""

    setting: Setting
    x: FloatArray
    total: FloatArray
    parts: dict[str, FloatArray]
    mark: float  # where the slider of the axis stands
    here: dict[str, float]  # total and parts there
    many: float | None  # the total for infinitely many models, where K is on the axis


def curves(view: View, setting: Setting) -> Curves:
    """The total error and its parts along the axis of a view."""
    x = view.grid(setting)
    along, names = view.along, PARTS[view.split]
    found = _terms(view, setting, setting.problem_along(along, x), setting.members_along(along, x))
    here = _terms(view, setting, setting.problem, setting.members)
    many = exact_error(setting.problem, math.inf, setting.scheme).total
    return Curves(
        setting=setting,
        x=x,
        total=np.broadcast_to(found.total, x.shape),
        parts={name: np.broadcast_to(getattr(found, name), x.shape) for name in names},
        mark=float(getattr(setting, along)),
        here={name: float(getattr(here, name)) for name in ("total", *names)},
        many=float(many) if along == "members" else None,
    )


def _terms(
    view: View, setting: Setting, problem: Problem, members: Numeric
) -> ErrorTerms | AnovaTerms:
    split = anova if view.split == "effects" else exact_error
    return split(problem, members, setting.scheme)
