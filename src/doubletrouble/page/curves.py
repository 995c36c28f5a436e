"""The numbers of the plot: total and parts along the axis, and where the sliders stand."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.parameters import FloatArray
from doubletrouble.results import AnovaTerms, ErrorTerms, StoppingTime
from doubletrouble.theory import anova, exact_error, gradient_flow

CAUSES = ("noise", "initialization", "sampling", "bias")
RESAMPLED_CAUSES = ("noise", "initialization", "resampling", "sampling", "bias")
EFFECTS = (
    "noise_initialization_sampling", "noise_sampling", "initialization_sampling", "initialization",
    "sampling", "bias",
)  # fmt: skip
ENDLESS = {"members": "K → ∞", "time": "t → ∞"}
"""Axes that have a level at their end, and what that is called."""


def has_end(view: PageView, setting: PageSetting) -> bool:
    """Whether the axis has a level at its end; not every scheme has infinitely many models."""
    if view.along == "members":
        return math.isinf(setting.members_range[1])
    return view.along in ENDLESS


def parts_of(view: PageView, setting: PageSetting) -> tuple[str, ...]:
    """The parts of the error of one setting, from the top of a stack down."""
    if view.split == "effects":
        return EFFECTS
    return RESAMPLED_CAUSES if setting.is_resampled else CAUSES


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """The error of one setting along the axis."""

    setting: PageSetting
    x: FloatArray
    total: FloatArray
    parts: dict[str, FloatArray]
    mark: float  # where the slider of the axis stands
    here: dict[str, float]  # total and parts there
    level: float | None  # the total at the end of the axis, where there is one
    stop: StoppingTime | None = None  # the best, where time is on the axis and it is known


def curves(view: PageView, setting: PageSetting) -> Curves:
    """The total error and its parts along the axis of a view."""
    x = view.grid(setting)
    mark = float(getattr(setting, view.along))
    ends = [math.inf] * has_end(view, setting)
    if _is_slow(view, setting):  # one point costs as much as a hundred: all at once
        at = _kept(view.along, setting, np.array([*x, mark, *ends]).tobytes())
        found, here, end = (
            {name: values[part] for name, values in at.items()}
            for part in (slice(x.size), x.size, -1)
        )
    else:
        found = _named(view, setting, x)
        here, end = (_named(view, setting, value) for value in (mark, *(ends or [mark])))
    return Curves(
        setting=setting,
        x=x,
        total=found["total"],
        parts={name: found[name] for name in parts_of(view, setting)},
        mark=mark,
        here={name: float(values) for name, values in here.items()},
        level=float(end["total"]) if ends else None,
    )


def _named(view: PageView, setting: PageSetting, at: FloatArray | float) -> dict[str, FloatArray]:
    """The total and the parts at some places of the axis."""
    error, names = _error(view, setting, at), ("total", *parts_of(view, setting))
    return {name: np.broadcast_to(getattr(error, name), np.shape(at)) for name in names}


@lru_cache(maxsize=64)
def _kept(along: str, setting: PageSetting, at: bytes) -> dict[str, FloatArray]:
    """What is slow, once: of two settings only one is moved, and words are made of the same."""
    return _named(PageView(first=setting, along=along), setting, np.frombuffer(at))


def _is_slow(view: PageView, setting: PageSetting) -> bool:
    return view.along == "time" or not setting.is_trained or setting.kind.with_replacement


def _error(
    view: PageView, setting: PageSetting, at: FloatArray | float
) -> ErrorTerms[Any] | AnovaTerms[Any]:
    problem = setting.problem_along(view.along, at)
    ensemble = setting.ensemble(problem, setting.members_along(view.along, at))
    if view.along == "time":
        return gradient_flow(problem, at, ensemble)
    if not setting.is_trained:
        return gradient_flow(problem, setting.time, ensemble)
    if view.split == "effects":
        return anova(problem, ensemble)
    return exact_error(problem, ensemble)
