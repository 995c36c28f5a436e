r"""The best P, K and λ under a budget, by search.

For every number of models K the budget leaves a greatest width. What is then searched, for every K:

- **λ free:** the ridge. More features never hurt at the best ridge (of one model, [simon2023]; of
  several, and for divided data, we have only ever seen the same), so that P is the greatest width.
- **λ kept:** the width, since next to P = N more of it does hurt. Models that share the data are
  never too many, so that widths which K + 1 models could have, too, need not be tried; for divided
  data all are.

K runs over whole numbers that grow by factors, and then over those between the neighbours of the
best. A budget may pay for far more: then also over those that leave each model a width worth
trying. A plateau is left at its cheapest point: the fewest models, then the fewest features.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from doubletrouble.advice._cost import Cost, most_members, widest
from doubletrouble.advice._equality import SAME
from doubletrouble.advice._option import changed, samples, scalar, width
from doubletrouble.advice._zoom import STAGES, zoom
from doubletrouble.ensembles import Divide, Ensemble, Scheme
from doubletrouble.glossary import N_FEATURES
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import AnyProblem, exact_error, spectrum_of

_FEW = np.array([1, 2, 3, 4, 5, 6, 7, 8, 10, 12], dtype=np.float64)
_MEMBERS = np.concatenate([_FEW, 2.0 ** np.arange(4, 41)])
_BETWEEN = 4  # numbers of models tried between two others
_ROUNDS = 12
_PROMISING = 1.1  # a dip that is shallower by a tenth is not looked into
_HOPELESS = 1.5  # nor is what is worse by half on a first grid
_MOST_PARTS = 1e6  # of the data, for each sample per dimension, or each sample
_NEAR = 1e-4  # numbers of models this close have errors equal to the eighth digit
_NOTHING = 1e-13  # errors this small are equal, too, as shares of the target's power
_NARROWEST, _WIDEST = N_FEATURES.low, N_FEATURES.high  # the least P there is, and the largest
_AS_GOOD_AS_INF = 1e5  # a best width of so many times the samples: the more, the better
_RIDGES = np.geomspace(1e-16, 1e12, 29)  # in units of the kernel's weight over its data
_CELL = 9  # widths between those of K and K + 1 models
# widths in units of the samples: everywhere, and closer where the peak is
_WIDTHS = np.unique(
    np.concatenate([
        np.geomspace(1e-12, 1e-5, 8), np.geomspace(1e-4, 1e4, 41), np.geomspace(1e5, 1e8, 4),
        1 - np.array([0.3, 0.2, 0.1, 0.05, 0.02, 0.01]), 1 + np.array([0.01, 0.05, 0.1, 0.3]),
    ])
)  # fmt: skip


class Allocation(NamedTuple):
    """How many models, and how wide."""

    members: float
    width: float


class _Profile(NamedTuple):
    """The least error for each number of models, and where (a width, or a ridge)."""

    members: FloatArray
    at: FloatArray
    total: FloatArray


class Search:
    """The allocations of one problem under one budget."""

    def __init__(
        self, problem: AnyProblem, kind: type[Scheme], budget: float, cost: Cost, *, free: bool,
        most_parts: float = np.inf,
    ) -> None:  # fmt: skip
        """Search among models of one scheme; data cannot be divided into more than `most_parts`."""
        self._problem, self._kind, self._free = problem, kind, free
        self._budget, self._cost, self._most_parts = budget, cost, most_parts
        self._samples, self._power = samples(problem), _power(problem)
        self._spectrum = spectrum_of(problem)
        self._least = np.inf  # the best error seen so far

    def best(self) -> Allocation:
        """The best allocation."""
        members = self._members()
        profile = self._profile(members)
        for start in self._minima(profile):
            profile = self._refined(profile, start)
        place = _first(profile.total, self._power)
        K, at, total = (float(v[place]) for v in profile)
        if self._free:
            return Allocation(K, float(self._widest(np.array([K]))[0]))
        return Allocation(K, self._polished(K, at, total))

    def one_model(self) -> Allocation:
        """One model, of all the features that there may be."""
        return Allocation(1.0, float(self._widest(np.ones(1))[0]))

    def _members(self) -> FloatArray:
        """Numbers of models to begin with: up to very narrow ones, or very small parts."""
        if np.isinf(self._budget) and self._kind is Ensemble:  # one model is as good as any
            return _MEMBERS[:1]
        if self._kind is Divide:
            most = min(self._most_parts, _MOST_PARTS * max(self._samples, 1.0))
            members = _MEMBERS[most >= _MEMBERS]
            if self._most_parts == most:
                members = np.union1d(members, np.floor([most]))
        else:
            many = most_members(self._budget, self._samples, _WIDTHS * self._samples, self._cost)
            beyond = np.isfinite(many) & (many > _MEMBERS[-1])
            members = np.union1d(_MEMBERS, np.floor(many[beyond]))
        wide = self._widest(members)
        enough = wide > max(_NARROWEST, 1e-6 * min(self._samples, float(wide[0])))
        enough[0] = True
        return members[enough]

    def _polished(self, members: float, at: float, total: float) -> float:
        """The width to more digits, if it is not one of the ends."""
        K, most = np.array([members]), float(self._widest(np.array([members]))[0])
        if not 0 < at < most:
            return at
        ends = (np.array([at * 0.999]), np.array([min(at * 1.001, most)]))
        found, _ = zoom(lambda i, x: self._total(K, i, x), *ends, np.array([at]), np.array([total]))
        return float(min(found[0], most))

    def _widest(self, members: FloatArray) -> FloatArray:
        most = widest(self._budget, self._samples, members, self._kind.name, self._cost)
        return _possible(most)

    def _minima(self, profile: _Profile) -> list[float]:
        """The numbers of models that are better than both neighbours, the best two."""
        padded = np.concatenate([[np.inf], profile.total, [np.inf]])
        dips = np.flatnonzero((padded[1:-1] <= padded[:-2]) & (padded[1:-1] <= padded[2:]))
        order = dips[np.argsort(profile.total[dips], kind="stable")]
        good = profile.total[order] <= _PROMISING * profile.total.min()
        return [float(profile.members[i]) for i in order[good][:2]]

    def _refined(self, profile: _Profile, members: float) -> _Profile:
        """Look between the neighbours of a number of models, until none is left between."""
        for _ in range(_ROUNDS):
            place = int(np.searchsorted(profile.members, members))
            low = profile.members[max(place - 1, 0)]
            high = profile.members[min(place + 1, profile.members.size - 1)]
            beside = profile.total[max(place - 1, 0) : place + 2]
            flat = beside.max() <= beside.min() * (1 + SAME)  # what lies between is no better
            if flat or high - low <= _NEAR * members:
                break
            tried: FloatArray = np.unique(np.rint(np.geomspace(low, high, 2 * _BETWEEN + 1)))
            tried = np.setdiff1d(tried, profile.members)
            if tried.size == 0:
                break
            new = self._profile(tried)
            both = [np.concatenate(pair) for pair in zip(profile, new, strict=True)]
            order = np.argsort(both[0])
            profile = _Profile(*(v[order] for v in both))
            near = (profile.members >= low) & (profile.members <= high)
            members = float(profile.members[near][np.argmin(profile.total[near])])
        return profile

    def _profile(self, members: FloatArray) -> _Profile:
        """The least error of each number of models."""
        grid = self._ridges(members) if self._free else self._widths(members)
        rows = np.arange(members.size)
        index = np.repeat(rows, grid.shape[1])
        total = self._total(members, index, grid.ravel()).reshape(grid.shape)
        place = np.array([_first(row, self._power) for row in total])
        at, least = grid[rows, place], total[rows, place]
        low = _between(grid[rows, np.maximum(place - 1, 0)], grid)
        high = _between(grid[rows, np.minimum(place + 1, grid.shape[1] - 1)], grid)
        hope = np.flatnonzero(least <= _HOPELESS * min(least.min(), self._least))
        some = members[hope]
        if hope.size:
            at[hope], least[hope] = zoom(
                lambda i, x: self._total(some, i, x), low[hope], high[hope], at[hope], least[hope]
            )
        self._least = min(self._least, float(least.min()))
        return _Profile(members, at if self._free else np.minimum(at, self._widest(members)), least)

    def _total(
        self, members: FloatArray, index: npt.NDArray[np.int_], at: FloatArray
    ) -> FloatArray:
        """The error of `members[index]` models at a ridge, or at a width."""
        K = members[index]
        if self._free:
            problem = changed(self._problem, width=self._widest(K), ridge=at)
        else:
            problem = changed(self._problem, width=_possible(at))
        return np.asarray(exact_error(problem, self._kind(K)).total)

    def _ridges(self, members: FloatArray) -> FloatArray:
        """No ridge, any, and infinitely much."""
        N = np.array([self._samples])
        # a few features or samples are penalized more: r is against y, which grows with both
        small = np.minimum(self._widest(members), self._samples)[:, None]
        inside = _RIDGES / np.minimum(small, 1.0)
        ends = np.zeros((members.size, 1)), np.full((members.size, 1), np.inf)
        return np.hstack([ends[0], self._spectrum.own_ridge(inside, N), ends[1]])

    def _widths(self, members: FloatArray) -> FloatArray:
        """The widths worth trying, for each number of models."""
        most = self._widest(members)[:, None]
        if self._kind is Ensemble and np.isinf(self._budget):
            return most
        if self._kind is Ensemble:
            least = self._widest(members + 1)[:, None]
            return np.hstack([least * (most / least) ** np.linspace(0, 1, _CELL)[:-1], most])
        some = np.clip(_WIDTHS * self._samples / members[:, None], _NARROWEST, _WIDEST)
        return np.sort(np.hstack([np.minimum(some, most), most]))


def _as_good(values: FloatArray, power: float) -> npt.NDArray[np.bool_]:
    """Which are as small as any; `power` is that of the target."""
    good: npt.NDArray[np.bool_] = values <= values.min() * (1 + SAME) + _NOTHING * power
    return good


def _first(values: FloatArray, power: float) -> int:
    """The first that is as small as any, the cheapest."""
    return int(np.argmax(_as_good(values, power)))


def _power(problem: AnyProblem) -> float:
    """The power of the target, or of what there is in its place."""
    if isinstance(problem, Problem):
        linear = scalar(problem.signal) ** 2
    else:
        linear = float(np.sum(problem.target_powers))
    return linear + scalar(problem.nonlinear_signal) ** 2 or scalar(problem.noise) ** 2


def _between(ends: FloatArray, grid: FloatArray) -> FloatArray:
    """Ends of a logarithmic scale: in the place of 0 and inf, the numbers next to them."""
    inside = np.isfinite(grid) & (grid > 0)
    least = np.where(inside, grid, np.inf).min(axis=1)
    most = np.where(inside, grid, 0.0).max(axis=1)
    return np.where(least > most, 1.0, np.clip(ends, least, np.maximum(least, most)))


def _possible(widths: FloatArray) -> FloatArray:
    """Widths that there are, after rounding."""
    return np.where(np.isinf(widths), widths, np.clip(widths, _NARROWEST, _WIDEST))


def best_of_many(problem: AnyProblem) -> float:
    """The width at which infinitely many models that share the data are best, at this ridge.

    Of equal ones the least that is not below N, where without ridge a plateau may begin.
    """
    usual = np.clip(_WIDTHS * samples(problem), _NARROWEST, _WIDEST)
    grid = np.unique(np.append(usual, [width(problem), np.inf]))

    def total(_: object, P: FloatArray) -> FloatArray:
        return np.asarray(exact_error(changed(problem, width=_possible(P)), np.inf).total)

    found = total(None, grid)
    if found.max() <= found.min() * (1 + SAME):  # nothing to choose
        return max(width(problem), samples(problem))
    good = _as_good(found, _power(problem))
    broad = good & (grid >= samples(problem))
    place = int(np.argmax(broad if broad.any() else good))
    # not the neighbours: the present width may be next to N, and a dip beyond it
    near = np.searchsorted(grid, [0.999 * grid[place], 1.001 * grid[place]], side="right")
    low, high = grid[np.clip([near[0] - 1, near[1]], 0, grid.size - 2)]  # both finite
    one = [np.array([v]) for v in (low, high, grid[place], found[place])]
    at, _ = zoom(total, one[0], one[1], one[2], one[3], 2 * STAGES)
    return float(_possible(at)[0]) if at[0] < _AS_GOOD_AS_INF * samples(problem) else np.inf
