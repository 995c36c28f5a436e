"""What to simulate for a view, within limits; a process of its own does it (`worker`)."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from doubletrouble.page.setting import Setting, View

N_POINTS = 11
N_INIT = 4
_MOST_UNITS = 4000  # features or samples
_TAMED = 1e-6  # a ridge below which a square fit has errors that no mean can tell
_MOST_WORK = 1e12  # multiplications: a minute or two on one core


@dataclass(frozen=True, kw_only=True)
class Request:
    """A simulation of one setting at points along an axis; plain enough for JSON."""

    setting: Setting
    along: str
    dim: int
    draws: int
    places: tuple[float, ...]

    @property
    def signature(self) -> tuple[Any, ...]:
        """What tells one simulation from another: all but the setting's place on the axis."""
        return (self.setting.changed({self.along: 0.0}), self.along, self.dim, self.draws,
                self.places)  # fmt: skip


def request(view: View, setting: Setting) -> Request:
    """The simulation that belongs to one setting of a view; `ValueError` says what is too much."""
    dim, draws = int(view.dim), int(view.draws)
    low, high = view.range()
    places = _places(setting, view.along, dim, low, high)
    found = Request(setting=setting, along=view.along, dim=dim, draws=draws, places=places)
    if not places:
        raise ValueError(
            f"D must be such that P and N have at most {_MOST_UNITS} units somewhere on the axis, "
            f"got {dim}"
        )
    needed = sum(_work(setting, view.along, x, dim) for x in places) * draws
    if needed > _MOST_WORK:
        raise ValueError(
            f"a simulation must take at most {_MOST_WORK:.0e} operations on this page, got "
            f"{needed:.0e}: choose a smaller D or fewer draws, or run doubletrouble simulate"
        )
    return found


def _places(setting: Setting, along: str, dim: int, low: float, high: float) -> tuple[float, ...]:
    """Points along the axis that can be simulated: evenly spaced in its logarithm, and the peak."""
    grid = np.geomspace(low, high, N_POINTS)
    if setting.ridge >= _TAMED:
        peaks = [place for place in setting.thresholds(along) if low <= place <= high]
        grid = np.unique([*grid, *peaks])
    if along == "members":
        grid = np.unique(np.round(grid))
    return tuple(float(x) for x in grid if _is_affordable(setting, along, float(x), dim))


def _is_affordable(setting: Setting, along: str, x: float, dim: int) -> bool:
    P, N = sizes(setting, along, x, dim)
    members = x if along == "members" else setting.members
    enough = setting.scheme == "ensemble" or math.isinf(members) or members <= N
    width = 1 <= P <= _MOST_UNITS or math.isinf(P)  # the kernel has no features to draw
    return width and 1 <= N <= _MOST_UNITS and enough


def _work(setting: Setting, along: str, x: float, dim: int) -> float:
    """Multiplications of one draw: two data sets, and a fit for each set of features."""
    P, N = sizes(setting, along, x, dim)
    if math.isinf(P):
        return 2.0 * N * N * (N + dim)
    return 2.0 * N_INIT * (P * N * min(P, N) + P * N * dim)


def sizes(setting: Setting, along: str, x: float, dim: int) -> tuple[float, float]:
    """P and N at a point of the axis."""
    problem = setting.problem_along(along, x)
    P, N = (np.asarray(v) * dim for v in (problem.features_per_dim, problem.samples_per_dim))
    return float(np.round(P)), float(np.round(N))
