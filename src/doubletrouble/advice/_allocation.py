r"""The best P, K and λ under a budget, over ratios and over whole counts.

For each number of models K the budget gives a largest width. The search then is, for each K, over

- **the ridge**, if it is free: at the best ridge more features never increase the error (proven for
  one model in [simon2023], observed for several and for divided data), and P is the largest width;
- **the width**, if the ridge is fixed: near P = N more features may increase the error. More models
  that share the data never do, so that widths which K + 1 models can have are left out for these;
  for divided data all widths are searched.

K starts from a geometric grid of whole numbers, refined around the best ones. For large budgets the
grid is extended by the numbers of models that leave a width of the order of N. On a plateau the
cheapest point is chosen: the fewest models, then the fewest features.

The theory depends on ratios. Where features and samples are counted, `round_to_counts` takes the
affordable whole numbers of least error near the optimum.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from doubletrouble.advice._options import (
    ERROR_TOLERANCE,
    WHOLE_TOLERANCE,
    AdviceOption,
    Cost,
    affordable,
    changed,
    cost_of,
    is_whole,
    less,
    most_members,
    most_parts,
    samples,
    scalar,
    widest,
    width,
)
from doubletrouble.ensembles import SCHEMES, SUPPORT, Divide, Ensemble, Scheme
from doubletrouble.glossary import N_FEATURES
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import AnyProblem, exact_error, optimal_ridge, spectrum_of

_NARROWEST, _WIDEST = N_FEATURES.low, N_FEATURES.high
_MEMBERS = np.concatenate([[1.0, 2, 3, 4, 5, 6, 7, 8, 10, 12], 2.0 ** np.arange(4, 41)])
_ROUNDS = 12  # of refinement around a number of models
_REFINED = 9  # numbers of models in each round
_REFINE_FACTOR = 1.1  # minima over K within this factor of the best are refined
_SKIP_FACTOR = 1.5  # minima beyond this factor of the best on the first grid are not
_MOST_PARTS = 1e6  # parts per unit of samples
_MEMBER_TOLERANCE = 1e-4  # relative distance in K at which errors agree to eight digits
_ZERO_SHARE = 1e-13  # errors as small as this share of the target's power are equal
_INFINITE_WIDTH = 1e5  # a best width of this many times N is taken as infinite
_RIDGES = np.geomspace(1e-16, 1e12, 29)  # in units of the kernel's weight per sample
_CELL = 9  # widths between those of K and K + 1 models
_WIDTHS = np.unique(  # in units of N, denser around the peak
    np.concatenate(
        [
            np.geomspace(1e-12, 1e-5, 8),
            np.geomspace(1e-4, 1e4, 41),
            np.geomspace(1e5, 1e8, 4),
            1 - np.array([0.3, 0.2, 0.1, 0.05, 0.02, 0.01]),
            1 + np.array([0.01, 0.05, 0.1, 0.3]),
        ]
    )
)
_POINTS = 9  # of a zoom's grid: each stage is four times finer than the last
_STAGES = 5
_MAX_RIDGES = 8  # whole allocations whose best ridge is computed
_LARGEST_EXACT = 2.0**53  # larger floats are all whole


def best_allocation(
    known: AdviceOption,
    many: AdviceOption,
    *,
    budget: float,
    cost: Cost,
    unit: float | None,
    free_ridge: bool,
) -> AdviceOption:
    """The best affordable option over both schemes; `known` if it is affordable and none is better.

    `many` is the option of infinitely many models at their best width, for an infinite budget.
    """
    name = "best" if free_ridge else "best_at_this_ridge"
    label = "best P, K, λ" if free_ridge else "best P, K at this λ"
    problem, present = known.problem, type(known.ensemble)

    def option_of(members: float, width: float, kind: type[Scheme]) -> AdviceOption:
        ensemble, there = kind(members), changed(problem, width=width)
        if free_ridge:
            there = changed(there, ridge=optimal_ridge(there, ensemble).ridge)
        option = AdviceOption.of(name, label, there, ensemble)
        return round_to_counts(option, budget, cost, unit, free_ridge=free_ridge)

    options = []
    kinds = [kind for kind in SCHEMES.values() if SUPPORT["advise"](kind)]
    for kind in sorted(kinds, key=lambda kind: kind is not present):  # of equals, the present
        parts = most_parts(problem, unit)
        search = Search(problem, kind, budget, cost, free_ridge=free_ridge, most_parts=parts)
        if free_ridge and kind is present:  # the ridge of the search is not precise enough for ties
            options.append(option_of(1.0, search.widest(1.0), kind))
        members, width = search.best()
        if members > 1 or not free_ridge:
            options.append(option_of(members, width, kind))
    if np.isinf(budget):
        options.append(replace(many, name=name, label=label))
    best = options[0]
    for option in options[1:]:
        best = option if less(option.total, best.total) else best
    if affordable(known.cost(cost), budget) and not less(best.total, known.total):
        best = replace(known, name=name, label=label)
    return best


class Search:
    """The allocations of one problem under one budget, for models of one scheme."""

    def __init__(
        self,
        problem: AnyProblem,
        kind: type[Scheme],
        budget: float,
        cost: Cost,
        *,
        free_ridge: bool,
        most_parts: float = np.inf,
    ) -> None:
        self._problem, self._kind, self._free_ridge = problem, kind, free_ridge
        self._budget, self._cost, self._most_parts = budget, cost, most_parts
        self._samples, self._power = samples(problem), _power(problem)
        # the least error for each number of models so far, and the width or ridge of it
        self._members, self._at, self._total = np.empty(0), np.empty(0), np.empty(0)

    def best(self) -> tuple[float, float]:
        """Number of models and width of the best allocation."""
        self._add(self._first_members())
        for members in self._minima():
            self._refine(members)
        i = [int(np.argmax(_minimal(self._total, self._power)))]
        K, at = self._members[i], self._at[i]
        most = self._widest(K)
        if self._free_ridge:
            at = most
        elif 0 < at[0] < most[0]:  # the width to more digits
            low, high = at * 0.999, np.minimum(at * 1.001, most)
            at, _ = zoom(lambda i, x: self._error(K[i], x), low, high, at, self._total[i])
            at = np.minimum(at, most)
        return float(K[0]), float(at[0])

    def widest(self, members: float) -> float:
        """Largest width of a number of models."""
        return float(self._widest(np.array([members]))[0])

    def _widest(self, members: FloatArray) -> FloatArray:
        return _valid(widest(self._budget, self._samples, members, self._kind.name, self._cost))

    def _error(self, members: FloatArray, at: FloatArray) -> FloatArray:
        """Errors at a ridge, or at a width."""
        if self._free_ridge:
            problem = changed(self._problem, width=self._widest(members), ridge=at)
        else:
            problem = changed(self._problem, width=_valid(at))
        return np.asarray(exact_error(problem, self._kind(members)).total)

    def _first_members(self) -> FloatArray:
        """Numbers of models of the first grid, up to very narrow ones or very small parts."""
        if np.isinf(self._budget) and self._kind is Ensemble:  # one infinitely wide model
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

    def _add(self, members: FloatArray) -> None:
        """Add the least errors of some numbers of models."""
        grid = self._ridges(members) if self._free_ridge else self._widths(members)
        rows = np.arange(members.size)
        total = self._error(np.repeat(members, grid.shape[1]), grid.ravel()).reshape(grid.shape)
        i = np.argmax(_minimal(total, self._power), axis=1)
        at, least = grid[rows, i], total[rows, i]
        low = _inside(grid[rows, np.maximum(i - 1, 0)], grid)
        high = _inside(grid[rows, np.minimum(i + 1, grid.shape[1] - 1)], grid)
        some = least <= _SKIP_FACTOR * min(least.min(), self._total.min(initial=np.inf))
        if some.any():
            at[some], least[some] = zoom(
                lambda i, x: self._error(members[some][i], x),
                low[some],
                high[some],
                at[some],
                least[some],
            )
        if not self._free_ridge:
            at = np.minimum(at, self._widest(members))
        members = np.append(self._members, members)
        order = np.argsort(members)
        self._members = members[order]
        self._at = np.append(self._at, at)[order]
        self._total = np.append(self._total, least)[order]

    def _ridges(self, members: FloatArray) -> FloatArray:
        """The grid of ridges for each number of models, from 0 to infinity."""
        # a kernel of few features or samples is weak, and its best ridge large
        small = np.minimum(self._widest(members), self._samples)[:, None]
        inside = spectrum_of(self._problem).own_ridge(
            _RIDGES / np.minimum(small, 1.0), np.array([self._samples])
        )
        return np.pad(inside, ((0, 0), (1, 1)), constant_values=((0, 0), (0.0, np.inf)))

    def _widths(self, members: FloatArray) -> FloatArray:
        """The grid of widths for each number of models."""
        most = self._widest(members)[:, None]
        if self._kind is Ensemble and np.isinf(self._budget):
            return most
        if self._kind is Ensemble:
            least = self._widest(members + 1)[:, None]
            return np.hstack([least * (most / least) ** np.linspace(0, 1, _CELL)[:-1], most])
        some = np.clip(_WIDTHS * self._samples / members[:, None], _NARROWEST, _WIDEST)
        return np.sort(np.hstack([np.minimum(some, most), most]))

    def _minima(self) -> list[float]:
        """The numbers of models of the two best local minima."""
        total = np.pad(self._total, 1, constant_values=np.inf)
        minima = np.flatnonzero((total[1:-1] <= total[:-2]) & (total[1:-1] <= total[2:]))
        order = minima[np.argsort(self._total[minima], kind="stable")]
        good = self._total[order] <= _REFINE_FACTOR * self._total.min()
        return [float(members) for members in self._members[order[good][:2]]]

    def _refine(self, members: float) -> None:
        """Add numbers of models between the neighbours of a minimum until there are none left."""
        for _ in range(_ROUNDS):
            i = int(np.searchsorted(self._members, members))
            near = slice(max(i - 1, 0), i + 2)
            low, high = self._members[near][[0, -1]]
            flat = self._total[near].max() <= self._total[near].min() * (1 + ERROR_TOLERANCE)
            if flat or high - low <= _MEMBER_TOLERANCE * members:
                break
            tried = np.unique(np.rint(np.geomspace(low, high, _REFINED)))
            tried = np.setdiff1d(tried, self._members)
            if tried.size == 0:
                break
            self._add(tried)
            between = (self._members >= low) & (self._members <= high)
            members = float(self._members[between][np.argmin(self._total[between])])


def best_width_of_many(problem: AnyProblem) -> float:
    """The width at which infinitely many models that share the data are best, at this ridge.

    Of equally good widths, the least that is not below N: a plateau without ridge begins there.
    """
    P, N = width(problem), samples(problem)
    grid = np.unique(np.append(np.clip(_WIDTHS * N, _NARROWEST, _WIDEST), [P, np.inf]))

    def total(_: object, widths: FloatArray) -> FloatArray:
        return np.asarray(exact_error(changed(problem, width=_valid(widths)), np.inf).total)

    totals = total(None, grid)
    if totals.max() <= totals.min() * (1 + ERROR_TOLERANCE):  # every width is as good
        return max(P, N)
    good = _minimal(totals, _power(problem))
    broad = good & (grid >= N)
    i = int(np.argmax(broad if broad.any() else good))
    # not the neighbours on the grid: P may be next to N, and the minimum beyond it
    near = np.searchsorted(grid, [0.999 * grid[i], 1.001 * grid[i]], side="right")
    low, high = np.clip([near[0] - 1, near[1]], 0, grid.size - 2)  # both finite
    at, _ = zoom(total, grid[[low]], grid[[high]], grid[[i]], totals[[i]], 2 * _STAGES)
    return float(_valid(at)[0]) if at[0] < _INFINITE_WIDTH * N else np.inf


def zoom(
    values: Callable[[npt.NDArray[np.int_], FloatArray], FloatArray],
    low: FloatArray,
    high: FloatArray,
    at: FloatArray,
    least: FloatArray,
    stages: int = _STAGES,
) -> tuple[FloatArray, FloatArray]:
    """Minimize many functions of one variable at once, on finer and finer logarithmic grids.

    `values(i, x)` are the values of functions i at points x. The known minimum `least` at `at` is
    returned where the grids between `low` and `high` have no value below it by more than the
    tolerance, so that the ends 0 and inf and the cheapest point of a plateau stay exact.
    """
    low, high = np.log(low), np.log(high)
    first, known = at, least
    at, least = at.copy(), least.copy()
    index = np.repeat(np.arange(at.size), _POINTS)
    rows, steps = np.arange(at.size), np.linspace(0.0, 1.0, _POINTS)
    for _ in range(stages):
        grid = low[:, None] + (high - low)[:, None] * steps
        tried = values(index, np.exp(grid).ravel()).reshape(grid.shape)
        i = np.argmin(tried, axis=1)
        better = tried[rows, i] < least
        at[better] = np.exp(grid[rows, i])[better]
        least[better] = tried[rows, i][better]
        low, high = grid[rows, np.maximum(i - 1, 0)], grid[rows, np.minimum(i + 1, _POINTS - 1)]
    improved = least < known * (1 - ERROR_TOLERANCE)
    return np.where(improved, at, first), np.where(improved, least, known)


def count_unit(problem: AnyProblem, dim: float | None) -> float | None:
    """One feature or sample in the units of the problem; None unless the samples are counted."""
    if isinstance(problem, Problem) and dim is None:
        return None
    unit = 1.0 if dim is None else 1 / dim
    return unit if is_whole(samples(problem) / unit) else None


def round_many(option: AdviceOption, unit: float | None) -> AdviceOption:
    """Infinitely many models of the better of the two whole numbers next to the best width."""
    if unit is None or np.isinf(option.width) or is_whole(option.width / unit):
        return option
    below = np.floor(option.width / unit)
    widths = np.maximum(np.array([below, below + 1]), 1.0) * unit
    totals = np.asarray(exact_error(changed(option.problem, width=widths), np.inf).total)
    there = changed(option.problem, width=float(widths[np.argmin(totals)]))
    return replace(AdviceOption.of(option.name, option.label, there, option.ensemble), ideal=option)


def round_to_counts(
    option: AdviceOption, budget: float, cost: Cost, unit: float | None, *, free_ridge: bool
) -> AdviceOption:
    """The best affordable whole allocation near an option; the option itself if there is none."""
    if unit is None or np.isinf(option.width) or is_whole(option.width / unit):
        return option
    problem, kind = option.problem, type(option.ensemble)
    pairs = _integer_pairs(option, budget, cost, unit)
    if not pairs:
        return option
    members, counts = np.array(sorted(pairs)).T
    total = np.asarray(exact_error(changed(problem, width=counts * unit), kind(members)).total)
    ridges = np.full_like(total, option.ridge)
    if free_ridge:  # slow, and the best ridges are close to each other: only for the good ones
        good = np.sort(np.argsort(total, kind="stable")[:_MAX_RIDGES])
        members, counts = members[good], counts[good]
        best = optimal_ridge(changed(problem, width=counts * unit), kind(members))
        total, ridges = np.asarray(best.error.total), np.asarray(best.ridge)
    i = int(np.argmax(total <= total.min() * (1 + ERROR_TOLERANCE)))  # the fewest models of these
    there = changed(problem, width=float(counts[i] * unit), ridge=float(ridges[i]))
    counted = AdviceOption.of(option.name, option.label, there, kind(float(members[i])))
    return replace(counted, ideal=option)


def _integer_pairs(
    option: AdviceOption, budget: float, cost: Cost, unit: float
) -> set[tuple[float, float]]:
    """Affordable whole numbers of models and features near those of an option."""
    K, P, N = option.n_members, option.width / unit, option.samples
    divided = option.scheme == "divide"
    members = _integers_near(K, most_parts(option.problem, unit) if divided else np.inf)
    widths = _integers_near(P, np.inf)
    wide = np.floor(widest(budget, N, members, option.scheme, cost) / unit * (1 + WHOLE_TOLERANCE))
    tried = [(k, p) for k in members.tolist() for p in (np.floor(P), np.ceil(P))]
    tried += zip(members.tolist(), wide.tolist(), strict=True)
    if not divided or cost == "features":  # as many models as the budget allows
        many = np.floor(most_members(budget, N, widths * unit, cost) * (1 + WHOLE_TOLERANCE))
        many = np.minimum(many, members[-1] if divided else np.inf)
        tried += zip(many.tolist(), widths.tolist(), strict=True)
    return {
        (k, p)
        for k, p in tried
        if k >= 1 and p >= 1 and affordable(cost_of(p * unit, N, k, option.scheme, cost), budget)
    }


def _integers_near(value: float, most: float) -> FloatArray:
    near = np.array([value])
    if value <= _LARGEST_EXACT:
        near = np.concatenate(
            [np.floor(value) + np.arange(-3.0, 4.0), np.rint(value * np.geomspace(0.6, 1.7, 11))]
        )
    return np.unique(np.clip(near, 1.0, most))


def _minimal(values: FloatArray, power: float) -> npt.NDArray[np.bool_]:
    """Which values are equal to the least along the last axis; `power` is that of the target."""
    least = values.min(axis=-1, keepdims=True)
    good: npt.NDArray[np.bool_] = values <= least * (1 + ERROR_TOLERANCE) + _ZERO_SHARE * power
    return good


def _power(problem: AnyProblem) -> float:
    """The power of the target, or of the noise if the target is 0."""
    if isinstance(problem, Problem):
        linear = scalar(problem.signal) ** 2
    else:
        linear = float(np.sum(problem.target_powers))
    return linear + scalar(problem.nonlinear_signal) ** 2 or scalar(problem.noise) ** 2


def _inside(ends: FloatArray, grid: FloatArray) -> FloatArray:
    """Ends on a logarithmic scale: 0 and inf are replaced by the values next to them."""
    inside = np.isfinite(grid) & (grid > 0)
    least = np.where(inside, grid, np.inf).min(axis=1)
    most = np.where(inside, grid, 0.0).max(axis=1)
    return np.where(least > most, 1.0, np.clip(ends, least, np.maximum(least, most)))


def _valid(widths: FloatArray) -> FloatArray:
    """Widths within the domain, after rounding."""
    return np.where(np.isinf(widths), widths, np.clip(widths, _NARROWEST, _WIDEST))
