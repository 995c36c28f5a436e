"""What to simulate for a view, within limits; a process of its own does it (`worker`)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from doubletrouble.page import fields
from doubletrouble.page.setting import PageSetting, PageView

N_POINTS = 11
N_INIT = 4
_MOST_UNITS = 4000  # features or samples
_TAMED = 1e-6  # a ridge below which a square fit has errors that no mean can tell
_DIMS = (10, 15, 20, 30, 40, 50, 60, 80, 100, 120, 150, 200, 250, 300, 350, 400)
_MOST_WORK = 1e12  # multiplications: a minute or two on one core


@dataclass(frozen=True, kw_only=True)
class Request:
    """A simulation of one setting at points along an axis; plain enough for JSON."""

    setting: PageSetting
    along: str
    dim: int
    draws: int
    places: tuple[float, ...]

    @property
    def signature(self) -> tuple[Any, ...]:
        """What tells one simulation from another: all but the setting's place on the axis."""
        return (self.setting.changed({self.along: 0.0}), self.along, self.dim, self.draws,
                self.places)  # fmt: skip


def request(view: PageView, setting: PageSetting) -> Request:
    """The simulation that belongs to one setting of a view; `ValueError` says what is too much."""
    dim, draws = int(view.dim), int(view.draws)
    low, high = view.range()
    places = _places(setting, view.along, dim, low, high)
    found = Request(setting=setting, along=view.along, dim=dim, draws=draws, places=places)
    timed = view.along == "time" or not setting.is_trained
    if timed and math.isinf(setting.width) and view.along != "width":
        raise ValueError(
            f"{fields.WIDTH[setting.per].label} must be finite to be simulated in time, since "
            "infinitely many features have learned all they can at any time, got inf"
        )
    if not places:
        raise ValueError(_too_few_or_many(setting, view.along, dim, low, high))
    one = sum(_work(setting, view.along, x, dim) for x in places)
    if one * draws > _MOST_WORK:
        enough = int(_MOST_WORK / one)
        fewer = f", at most {enough} draws" if enough >= fields.DRAWS.spec.low else ""
        raise ValueError(
            f"a simulation must take at most {_MOST_WORK:.0e} operations on this page, got "
            f"{_beyond(one * draws, _MOST_WORK)}: choose a smaller D{fewer}, or run doubletrouble "
            "simulate"
        )
    return found


def _beyond(value: float, limit: float) -> str:
    """A number with as many digits as it takes to be seen above a limit."""
    texts = (f"{value:.{digits}e}" for digits in range(1, 17))
    return next((text for text in texts if float(text) > limit), repr(value))


def _too_few_or_many(setting: PageSetting, along: str, dim: int, low: float, high: float) -> str:
    """Why nothing on an axis can be simulated at a dimension, and at which it can."""
    others = sorted(_DIMS, key=lambda other: abs(math.log(other / dim)))
    good = next((D for D in others if _places(setting, along, D, low, high)), None)
    advice = f"D = {good} would do" if good else f"no D up to {_DIMS[-1]} would do"
    counts = np.array([sizes(setting, along, x, dim) for x in np.geomspace(low, high, N_POINTS)])
    for name, count in zip("NP", counts.T[::-1], strict=True):
        if count.max() < 1:
            return f"{name} must be at least 1 somewhere on the axis, got 0 at D = {dim}; {advice}"
        if count.min() > _MOST_UNITS and not np.isinf(count.max()):
            return (
                f"{name} must be at most {_MOST_UNITS} somewhere on the axis, got "
                f"{count.min():.0f} at D = {dim}; {advice}"
            )
    return (
        f"P and N must be from 1 to {_MOST_UNITS} at one point of the axis, with at least a sample "
        f"for each of K models, got D = {dim}; {advice}"
    )


def _places(
    setting: PageSetting, along: str, dim: int, low: float, high: float
) -> tuple[float, ...]:
    """Points along the axis that can be simulated: evenly spaced in its logarithm, and the peak."""
    grid = np.geomspace(low, high, N_POINTS)
    if setting.ridge >= _TAMED or not setting.is_trained:
        peaks = [place for place in setting.thresholds(along) if low <= place <= high]
        grid = np.unique([*grid, *peaks])
    if along == "members":
        grid = np.unique(np.clip(np.round(grid), *setting.members_range))
    return tuple(float(x) for x in grid if _is_affordable(setting, along, float(x), dim))


def _is_affordable(setting: PageSetting, along: str, x: float, dim: int) -> bool:
    P, N = sizes(setting, along, x, dim)
    members = x if along == "members" else setting.members
    enough = setting.kind.any_size or math.isinf(members) or members <= N
    width = 1 <= P <= _MOST_UNITS or math.isinf(P)  # the kernel has no features to draw
    return width and 1 <= N <= _MOST_UNITS and enough


def _work(setting: PageSetting, along: str, x: float, dim: int) -> float:
    """Multiplications of one draw: two data sets, and a fit for each set of features."""
    P, N = sizes(setting, along, x, dim)
    if math.isinf(P):
        return 2.0 * N * N * (N + dim)
    each = 3.0 if setting.is_resampled else 1.0  # members that draw, and their twins
    return each * 2.0 * N_INIT * (P * N * min(P, N) + P * N * dim)


def sizes(setting: PageSetting, along: str, x: float, dim: int) -> tuple[float, float]:
    """P and N at a point of the axis."""
    problem = setting.problem_along(along, x)
    P, N = (np.asarray(v) * dim for v in (problem.features_per_dim, problem.samples_per_dim))
    return float(np.round(P)), float(np.round(N))
