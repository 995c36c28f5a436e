r"""The best P, K and λ under a budget, over ratios and over whole counts.

For each number of models K the budget gives a largest P. The search then is, for each K, over

- **the ridge**, if it is free: at the best ridge more features never increase the error (proven for
  one model in [simon2023], observed for several and for divided data), and P is the largest;
- **P**, if the ridge is fixed: near P = N more features may increase the error. More models
  that share the data never do, so that P which K + 1 models can have are left out for these; for
  divided data all are searched.

K starts from a geometric grid of whole numbers, refined around the best ones. For large budgets the
grid is extended by the numbers of models that leave P of the order of N. On a plateau the
cheapest point is chosen: the fewest models, then the fewest features.

Losses other than the squared loss of regression cost a thousand times as much per point, so that
`coarse_search` has fewer of them: K up to 1024, refined once. All their P are a fiftieth of N
or more.

The theory depends on ratios. Where features and samples are counted, `round_to_counts` takes the
affordable whole numbers of least error near the optimum.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.advice._settings import (
    ERROR_TOLERANCE,
    WHOLE_TOLERANCE,
    Setting,
    affordable,
    changed,
    is_whole,
    less,
    most_parts,
    n_features_of,
    n_samples_of,
    ridge_of,
    scalar,
)
from doubletrouble.costs import CostName, cost_of, most_features, most_members
from doubletrouble.ensembles import Divide, Ensemble, Scheme, supporting
from doubletrouble.glossary import N_FEATURES
from doubletrouble.losses import Measure
from doubletrouble.options import BEST, BEST_AT_THIS_RIDGE
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import Problem
from doubletrouble.theory import AnyProblem, has_any_loss, optimal_ridge, spectrum_of, total_of

Values: TypeAlias = Callable[[npt.NDArray[np.int_], FloatArray], FloatArray]
"""Values of the functions of some indices, at one point each."""

_MEMBERS = np.concatenate([[1.0, 2, 3, 4, 5, 6, 7, 8, 10, 12], 2.0 ** np.arange(4, 41)])
_MOST_PARTS = 1e6  # parts per unit of samples
_RIDGES = np.geomspace(1e-16, 1e12, 29)  # in units of the kernel's weight per sample
_FEATURES = np.unique(  # in units of N, denser around the peak
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
_FEW_MEMBERS = np.array([1.0, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 512, 1024])
_NARROWEST = 0.02  # in units of N, in a coarse search
_RIDGE_ENDS = (1e-6, 1e3)  # of the centre of its ridges
_FACTORS = np.geomspace(1e-3, 1e3, 11)
_SHARES = np.geomspace(_NARROWEST, 1.0, 13)  # of the largest P
_STEPS = np.linspace(0.0, 1.0, 9)  # of grids between two ends: each zoom is four times finer


def best_setting(
    known: Setting,
    many: Setting,
    *,
    budget: float,
    cost: CostName,
    unit: float | None,
    free_ridge: bool,
) -> Setting:
    """The best affordable setting over both schemes; `known` if affordable and none is better.

    `many` is that of infinitely many models at their best P, for an infinite budget.
    """
    name = BEST if free_ridge else BEST_AT_THIS_RIDGE
    problem, present = known.problem, type(known.ensemble)

    def setting_of(n_members: float, n_features: float, kind: type[Scheme]) -> Setting:
        ensemble, there = kind(n_members), changed(problem, n_features=n_features)
        changes: dict[str, Any] = {"n_features": n_features}
        if free_ridge:
            changes["ridge"] = optimal_ridge(there, ensemble, known.measure).value
        setting = known.moved(name, ensemble, **changes)
        return round_to_counts(setting, budget, cost, unit, free_ridge=free_ridge)

    settings = []
    # of equals, the present
    for kind in sorted(supporting("advise"), key=lambda kind: kind is not present):
        most = most_parts(problem, unit)
        models = Models(problem, kind, budget, cost, most, known.measure)
        if free_ridge and kind is present:  # the ridge of the search is not precise enough for ties
            settings.append(setting_of(1.0, float(models.most_features(np.ones(1))[0]), kind))
        best = search(models, free_ridge=free_ridge)
        if best.n_members > 1 or not free_ridge:
            settings.append(setting_of(best.n_members, best.n_features, kind))
    if np.isinf(budget):
        settings.append(replace(many, name=name))
    least = settings[0]
    for setting in settings[1:]:
        least = setting if less(setting.total, least.total) else least
    if affordable(known.cost(cost), budget) and not less(least.total, known.total):
        least = replace(known, name=name)
    return least


class Allocation(NamedTuple):
    """A number of models, and the features of each."""

    n_members: float
    n_features: float


class Least(NamedTuple):
    """The least error of each number of models, and its P."""

    n_members: FloatArray
    error: FloatArray
    n_features: FloatArray

    def merged(self, other: "Least") -> "Least":
        """Both, in the order of the number of models."""
        order = np.argsort(np.append(self.n_members, other.n_members))
        return Least(*(np.append(a, b)[order] for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Models:
    """Models of one scheme within a budget."""

    problem: AnyProblem
    kind: type[Scheme]
    budget: float
    cost: CostName
    most_parts: float = np.inf
    measure: Measure | None = None

    @property
    def n_samples(self) -> float:
        """N in the units of the problem."""
        return n_samples_of(self.problem)

    def most_features(self, n_members: FloatArray) -> FloatArray:
        """Largest P of each number of models."""
        return _valid(
            most_features(self.budget, self.n_samples, n_members, self.kind.name, self.cost)
        )

    def errors(self, n_members: FloatArray, **changes: FloatArray) -> FloatArray:
        """Errors after a change of `n_features` or `ridge`."""
        return total_of(changed(self.problem, **changes), self.kind(n_members), self.measure)

    def first_members(self) -> FloatArray:
        """Numbers of models of the first grid, up to very narrow ones or very small parts."""
        if np.isinf(self.budget) and self.kind is Ensemble:  # one infinitely wide model
            return _MEMBERS[:1]
        if self.kind is Divide:
            most = min(self.most_parts, _MOST_PARTS * max(self.n_samples, 1.0))
            n_members = _MEMBERS[most >= _MEMBERS]
            if self.most_parts == most:
                n_members = np.union1d(n_members, np.floor([most]))
        else:
            many = most_members(self.budget, self.n_samples, _FEATURES * self.n_samples, self.cost)
            beyond = np.isfinite(many) & (many > _MEMBERS[-1])
            n_members = np.union1d(_MEMBERS, np.floor(many[beyond]))
        wide = self.most_features(n_members)
        enough = wide > max(N_FEATURES.low, 1e-6 * min(self.n_samples, float(wide[0])))
        enough[0] = True
        return n_members[enough]

    def least_over_ridges(self, n_members: FloatArray, so_far: float) -> Least:
        """The least error over all ridges, at the largest P."""
        n_features = self.most_features(n_members)
        # a kernel of few features or samples is weak, and its best ridge large
        small = np.minimum(np.minimum(n_features, self.n_samples), 1.0)[:, None]
        ridges = spectrum_of(self.problem).own_ridge(_RIDGES / small, np.array([self.n_samples]))
        none = np.zeros_like(n_features)
        if not isinstance(self.problem, Problem):
            none = np.asarray(self.problem._least_ridge(n_features, self.n_samples))
        ends = none[:, None], np.full_like(small, np.inf)
        grid = np.concatenate([ends[0], np.maximum(ridges, ends[0]), ends[1]], axis=1)
        _, error = self._least_on(
            grid, lambda i, x: self.errors(n_members[i], n_features=n_features[i], ridge=x), so_far
        )
        return Least(n_members, error, n_features)

    def least_over_features(self, n_members: FloatArray, so_far: float) -> Least:
        """The least error over all affordable P, at the ridge of the problem."""
        most = self.most_features(n_members)[:, None]
        if self.kind is Ensemble and np.isinf(self.budget):
            grid = most
        elif self.kind is Ensemble:
            least = self.most_features(n_members + 1)[:, None]
            grid = np.hstack([least * (most / least) ** _STEPS[:-1], most])
        else:
            some = _valid(_FEATURES * self.n_samples / n_members[:, None])
            grid = np.sort(np.hstack([np.minimum(some, most), most]))
        n_features, error = self._least_on(
            grid, lambda i, x: self.errors(n_members[i], n_features=_valid(x)), so_far
        )
        return Least(n_members, error, np.minimum(n_features, most[:, 0]))

    def few_members(self) -> FloatArray:
        """Numbers of models of the first grid of `coarse_search`."""
        if np.isinf(self.budget) and self.kind is Ensemble:
            return _FEW_MEMBERS[:1]
        wide = self.most_features(_FEW_MEMBERS)
        enough = wide >= _NARROWEST * min(self.n_samples, float(wide[0]))
        if self.kind is Divide:
            enough &= self.most_parts >= _FEW_MEMBERS
        enough[0] = True
        return _FEW_MEMBERS[enough]

    def least_over_some_ridges(self, n_members: FloatArray) -> Least:
        """The least error over ridges around that of the problem, at the largest P."""
        n_features = self.most_features(n_members)
        ridges = np.clip(ridge_of(self.problem), *_RIDGE_ENDS) * _FACTORS
        tried = self.errors(n_members[:, None], n_features=n_features[:, None], ridge=ridges)
        rows = np.arange(n_members.size)
        i = np.clip(np.argmin(tried, axis=1), 1, _FACTORS.size - 2)
        below, middle, above = (tried[rows, i + k] for k in (-1, 0, 1))
        # the minimum of the parabola through three values at equal distances in log λ
        curvature = below - 2 * middle + above
        gain = (above - below) ** 2 / np.where(curvature > 0, 8 * curvature, np.inf)
        inside = (middle <= below) & (middle <= above)
        least = np.where(inside, middle - gain, tried.min(axis=1))
        return Least(n_members, least, n_features)

    def least_at_some_features(self, n_members: FloatArray) -> Least:
        """The least error over affordable P, at the ridge of the problem."""
        most = self.most_features(n_members)
        if np.isinf(most).any():
            return Least(n_members, self.errors(n_members, n_features=most), most)
        grid = _valid(most[:, None] * _SHARES)
        tried = self.errors(n_members[:, None], n_features=grid)
        rows, i = np.arange(n_members.size), np.argmin(tried, axis=1)
        low, high = (grid[rows, np.clip(i + k, 0, _SHARES.size - 1)] for k in (-1, 1))
        n_features, error = zoom(
            lambda i, x: self.errors(n_members[i], n_features=_valid(x)),
            low,
            high,
            grid[rows, i],
            tried[rows, i],
            stages=3,
        )
        return Least(n_members, error, np.minimum(n_features, most))

    def _least_on(
        self, grid: FloatArray, values: Values, so_far: float
    ) -> tuple[FloatArray, FloatArray]:
        """Minimize functions on a grid each, then between the neighbours of the minimum.

        The latter only for minima within 1.5 times the least one. 0 and inf have no logarithm: the
        values next to them are the ends there.
        """
        rows, points = np.arange(len(grid)), grid.shape[1]
        tried = values(np.repeat(rows, points), grid.ravel()).reshape(grid.shape)
        i = np.argmax(_minimal(tried, _power(self.problem)), axis=1)
        at, least = grid[rows, i], tried[rows, i]
        inside = np.isfinite(grid) & (grid > 0)
        lowest = np.where(inside, grid, np.inf).min(axis=1)
        highest = np.where(inside, grid, 0.0).max(axis=1)
        ends = grid[rows, np.clip(i + np.array([[-1], [1]]), 0, points - 1)]
        low, high = np.where(inside.any(axis=1), np.clip(ends, lowest, highest), 1.0)
        some = np.flatnonzero(least <= 1.5 * min(least.min(), so_far))
        if some.size:
            at[some], least[some] = zoom(
                lambda i, x: values(some[i], x), low[some], high[some], at[some], least[some]
            )
        return at, least


def search(models: Models, *, free_ridge: bool) -> Allocation:
    """The best allocation, at the best ridge or at that of the problem."""
    if has_any_loss(models.problem):
        return coarse_search(models, free_ridge=free_ridge)
    least_at = models.least_over_ridges if free_ridge else models.least_over_features
    found = least_at(models.first_members(), np.inf)
    for n_members in _minima(found):
        found = _refine(found, n_members, least_at)
    i = [int(np.argmax(_minimal(found.error, _power(models.problem))))]
    K, n_features = found.n_members[i], found.n_features[i]
    most = models.most_features(K)
    if n_features[0] < most[0]:  # at the ridge of the problem: P to more digits
        low, high = n_features * 0.999, np.minimum(n_features * 1.001, most)
        n_features, _ = zoom(
            lambda i, x: models.errors(K[i], n_features=_valid(x)),
            low,
            high,
            n_features,
            found.error[i],
        )
        n_features = np.minimum(n_features, most)
    return Allocation(float(K[0]), float(n_features[0]))


def coarse_search(models: Models, *, free_ridge: bool) -> Allocation:
    """The best allocation of a few numbers of models, for losses without a closed form."""
    least_at = models.least_over_some_ridges if free_ridge else models.least_at_some_features
    found = least_at(models.few_members())
    i = int(np.argmin(found.error))
    low, high = found.n_members[[max(i - 1, 0), min(i + 1, len(found.n_members) - 1)]]
    between = np.setdiff1d(np.rint(np.geomspace(low, high, 6)), found.n_members)
    if between.size:
        found = found.merged(least_at(between))
    i = int(np.argmax(_minimal(found.error, 0.0)))
    return Allocation(float(found.n_members[i]), float(found.n_features[i]))


def _minima(found: Least) -> list[float]:
    """The numbers of models of the two best local minima, if they are within 10%."""
    error = np.pad(found.error, 1, constant_values=np.inf)
    minima = np.flatnonzero((error[1:-1] <= error[:-2]) & (error[1:-1] <= error[2:]))
    order = minima[np.argsort(found.error[minima], kind="stable")]
    good = found.error[order] <= 1.1 * found.error.min()
    return [float(n_members) for n_members in found.n_members[order[good][:2]]]


def _refine(
    found: Least, n_members: float, least_at: Callable[[FloatArray, float], Least]
) -> Least:
    """Add numbers of models between the neighbours of a minimum until there are none left."""
    for _ in range(12):
        i = int(np.searchsorted(found.n_members, n_members))
        near = slice(max(i - 1, 0), i + 2)
        low, high = found.n_members[near][[0, -1]]
        flat = found.error[near].max() <= found.error[near].min() * (1 + ERROR_TOLERANCE)
        if flat or high - low <= 1e-4 * n_members:  # errors then agree to eight digits
            break
        tried = np.setdiff1d(np.rint(np.geomspace(low, high, 9)), found.n_members)
        if tried.size == 0:
            break
        found = found.merged(least_at(tried, found.error.min()))
        between = (found.n_members >= low) & (found.n_members <= high)
        n_members = float(found.n_members[between][np.argmin(found.error[between])])
    return found


def best_features_of_many(problem: AnyProblem, measure: Measure | None = None) -> float:
    """P at which infinitely many models that share the data are best, at this ridge.

    Of equally good ones, the least that is not below N: a plateau without ridge begins there.
    """
    P, N = n_features_of(problem), n_samples_of(problem)
    ratios = _FEATURES[_FEATURES >= _NARROWEST] if has_any_loss(problem) else _FEATURES
    grid = np.unique(np.append(_valid(ratios * N), [P, np.inf]))

    def total(_: object, sizes: FloatArray) -> FloatArray:
        return total_of(changed(problem, n_features=_valid(sizes)), Ensemble(np.inf), measure)

    totals = total(None, grid)
    if totals.max() <= totals.min() * (1 + ERROR_TOLERANCE):  # every P is as good
        return max(P, N)
    good = _minimal(totals, _power(problem))
    broad = good & (grid >= N)
    i = int(np.argmax(broad if broad.any() else good))
    # not the neighbours on the grid: P may be next to N, and the minimum beyond it
    near = np.searchsorted(grid, [0.999 * grid[i], 1.001 * grid[i]], side="right")
    low, high = np.clip([near[0] - 1, near[1]], 0, grid.size - 2)  # both finite
    at, _ = zoom(total, grid[[low]], grid[[high]], grid[[i]], totals[[i]], stages=10)
    return float(_valid(at)[0]) if at[0] < 1e5 * N else np.inf


def zoom(
    values: Values,
    low: FloatArray,
    high: FloatArray,
    first: FloatArray,
    known: FloatArray,
    stages: int = 5,
) -> tuple[FloatArray, FloatArray]:
    """Minimize many functions of one variable at once, on finer and finer logarithmic grids.

    The value `known` at `first` is returned where no value on the grids between `low` and `high` is
    below it by more than the tolerance: 0, inf and the cheapest point of a plateau stay exact.

    With `scipy.optimize.elementwise.find_minimum`, `advise` takes 45 ms in place of 34, and its
    import 0.3 s.
    """
    low, high, at, least = np.log(low), np.log(high), first, known
    rows, points = np.arange(at.size), _STEPS.size
    for _ in range(stages):
        grid = low[:, None] + (high - low)[:, None] * _STEPS
        tried = values(np.repeat(rows, points), np.exp(grid).ravel()).reshape(grid.shape)
        i = np.argmin(tried, axis=1)
        at = np.where(tried[rows, i] < least, np.exp(grid[rows, i]), at)
        least = np.minimum(tried[rows, i], least)
        low, high = grid[rows, np.maximum(i - 1, 0)], grid[rows, np.minimum(i + 1, points - 1)]
    improved = least < known * (1 - ERROR_TOLERANCE)
    return np.where(improved, at, first), np.where(improved, least, known)


def count_unit(problem: AnyProblem, dim: float | None) -> float | None:
    """One feature or sample in the units of the problem; None unless the samples are counted."""
    if isinstance(problem, Problem) and dim is None:
        return None
    unit = 1.0 if dim is None else 1 / dim
    return unit if is_whole(n_samples_of(problem) / unit) else None


def round_many(setting: Setting, unit: float | None) -> Setting:
    """Infinitely many models of the better of the two whole numbers next to the best P."""
    P = n_features_of(setting.problem)
    if unit is None or np.isinf(P) or is_whole(P / unit):
        return setting
    below = np.floor(P / unit)
    sizes = np.maximum(np.array([below, below + 1]), 1.0) * unit
    there = changed(setting.problem, n_features=sizes)
    totals = total_of(there, Ensemble(np.inf), setting.measure)
    n_features = float(sizes[np.argmin(totals)])
    counted = setting.moved(setting.name, setting.ensemble, n_features=n_features)
    return replace(counted, ideal=setting)


def round_to_counts(
    setting: Setting, budget: float, cost: CostName, unit: float | None, *, free_ridge: bool
) -> Setting:
    """The best affordable whole allocation near an setting; the setting itself if there is none."""
    P = n_features_of(setting.problem)
    if unit is None or np.isinf(P) or is_whole(P / unit):
        return setting
    problem, kind = setting.problem, type(setting.ensemble)
    pairs = _integer_pairs(setting, budget, cost, unit)
    if not pairs:
        return setting
    n_members, counts = np.array(sorted(pairs)).T
    total = total_of(changed(problem, n_features=counts * unit), kind(n_members), setting.measure)
    ridges = np.full_like(total, ridge_of(problem))
    if free_ridge:  # slow, and the best ridges are close to each other: only for the good ones
        good = np.sort(np.argsort(total, kind="stable")[:8])
        n_members, counts = n_members[good], counts[good]
        there = changed(problem, n_features=counts * unit)
        best = optimal_ridge(there, kind(n_members), setting.measure)
        total, ridges = np.asarray(best.error.total), np.asarray(best.value)
    i = int(np.argmax(total <= total.min() * (1 + ERROR_TOLERANCE)))  # the fewest models of these
    changes = {"n_features": float(counts[i] * unit), "ridge": float(ridges[i])}
    counted = setting.moved(setting.name, kind(float(n_members[i])), **changes)
    return replace(counted, ideal=setting)


def _integer_pairs(
    setting: Setting, budget: float, cost: CostName, unit: float
) -> set[tuple[float, float]]:
    """Affordable whole numbers of models and features near those of an setting."""
    K, P, N = (
        setting.n_members,
        n_features_of(setting.problem) / unit,
        n_samples_of(setting.problem),
    )
    divided = setting.scheme == "divide"
    n_members = _integers_near(K, most_parts(setting.problem, unit) if divided else np.inf)
    sizes = _integers_near(P, np.inf)
    wide = np.floor(
        most_features(budget, N, n_members, setting.scheme, cost) / unit * (1 + WHOLE_TOLERANCE)
    )
    tried = [(k, p) for k in n_members.tolist() for p in (np.floor(P), np.ceil(P))]
    tried += zip(n_members.tolist(), wide.tolist(), strict=True)
    if not divided or cost == "features":  # as many models as the budget allows
        many = np.floor(most_members(budget, N, sizes * unit, cost) * (1 + WHOLE_TOLERANCE))
        many = np.minimum(many, n_members[-1] if divided else np.inf)
        tried += zip(many.tolist(), sizes.tolist(), strict=True)
    return {
        (k, p)
        for k, p in tried
        if k >= 1 and p >= 1 and affordable(cost_of(p * unit, N, k, setting.scheme, cost), budget)
    }


def _integers_near(value: float, most: float) -> FloatArray:
    near = np.array([value])
    if value <= 2.0**53:  # larger floats are all whole
        near = np.concatenate(
            [np.floor(value) + np.arange(-3.0, 4.0), np.rint(value * np.geomspace(0.6, 1.7, 11))]
        )
    return np.unique(np.clip(near, 1.0, most))


def _minimal(values: FloatArray, power: float) -> npt.NDArray[np.bool_]:
    """Which values equal the least along the last axis, up to rounding; `power` is the target's."""
    least = values.min(axis=-1, keepdims=True)
    good: npt.NDArray[np.bool_] = values <= least * (1 + ERROR_TOLERANCE) + 1e-13 * power
    return good


def _power(problem: AnyProblem) -> float:
    """The power of the target, or of the noise if the target is 0."""
    if isinstance(problem, Problem):
        if not problem.is_ridge_regression:
            return 0.0  # errors are sums of parts of their own scale
        linear = scalar(problem.signal) ** 2
    else:
        linear = float(np.dot(problem.multiplicities, problem.target_powers))
    return linear + scalar(problem.nonlinear_signal) ** 2 or scalar(problem.noise_sd) ** 2


def _valid(sizes: FloatArray) -> FloatArray:
    """Sizes P within the domain, after rounding."""
    return np.where(np.isinf(sizes), sizes, np.clip(sizes, N_FEATURES.low, N_FEATURES.high))
