r"""Cross-entropy and error rate of classifiers by cause.

Both are split like the squared error, by averaging over noise, then initializations, then data sets
[dascoli2020]. Every average gives a central predictor, and a part is the loss that an average
removes. With e₀ the loss of single fits, e₁ that of central predictors over noise draws, e₂ over
noise draws and initializations, and e₃ over all fits:

    noise = e₀ - e₁,    initialization = e₁ - e₂,    sampling = e₂ - e₃,    bias = e₃.

**Cross-entropy** -Σ_c y_c log f_c of probabilities f, with labels y. The central predictor is the
normalized geometric mean exp(F_c)/Z, where F = E log f and Z = Σ_c exp F_c: it is the argument q
of least E KL(q‖f), and that least value is -log Z [heskes1998]. Therefore

    e_j = E log Z_j - Σ_c y_c E log f_c,    Z_0 = 1,

all parts are non-negative (log Z is a convex function of F) and do not depend on the labels, but
for the bias. Against a truth that is a distribution the loss is KL(truth‖f).

The mean of n draws in place of the expectation, in F, gives log Z(n), which is too large:
E log Z(n) = log Z + c₁/n + c₂/n² + … with c₁ = ½ Σ_c p_c (ΔF_c)² - ½ (Σ_c p_c ΔF_c)², averaged
over draws ΔF about their mean, and p the central predictor. The part is too small by c₁/n, a share
1/n of it. No estimate from finitely many fits is unbiased. Leaving out one draw at a time gives
log Z(n-1), and the jackknife n log Z(n) - (n-1) log Z(n-1) has error -c₂/(n(n-1)) + O(1/n³); it
is applied to every factor in turn. For normally distributed log f (c₂ is then a fourth derivative
of log Z), c₂ is four times the mean of J - J₂ over pairs of draws, where J = -log Z of the pair and
J₂ its quadratic approximation: this gives the remaining error of a note.

Standard errors leave out data sets and initializations as in `_components`. Of n log Z(n) -
(n-1) log Z(n-1), for data sets, only the second term is computed: leaving out two of D would take
D² evaluations. Deviations of sampling are those of the mean over D, times (D-1)/(D-2), which is
exact for a quadratic function.

**Error rate.** The central predictor is the majority of votes; a tie of k classes counts as 1 -
1/k. Parts are the effects of voting [domingos2000], [james2003]: they add up to the error of single
fits, and may be negative, since a vote makes wrong majorities certain. The majority of n votes is
not that of infinitely many, and with two it has the error of one: noise, initialization and
sampling need three draws or more. The loss is not a smooth function of shares of votes, and parts
are those of the votes at hand. A note states their extrapolation in 1/n: from n and n - 2 votes,
and for data sets, with less variance, from all and half of them.

**Ensembles.** `members_K` is the loss of K averaged members (of their probabilities, or votes),
from groups of K of the initializations. For cross-entropy the limit of many members is that of
geometric means, by extrapolation; for the error rate, the vote of all members at hand.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import percent, plain
from doubletrouble.estimates import Statistic
from doubletrouble.learners._components import (
    ProductWeights,
    Target,
    blocks,
    left_out,
    mean_products,
    missing_parts,
)
from doubletrouble.learners._design import Design, least_draws
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import FloatArray

SINGLE, OVER_NOISE, OVER_INIT, OVER_NOISE_INIT, OVER_ALL = (
    "single",
    "over_noise",
    "over_init",
    "over_noise_init",
    "over_all",
)
MEMBERS_OF = "members_"
BAYES = "bayes"  # the loss against y_test less that against the truth
BAYES_OVER_INIT = "bayes_over_init"

_FACTORS = {"noise": 1, "initialization": 2, "sampling": 0}  # axes of predictions
_BLOCK = 2**18  # numbers of the largest array
_MOST_GROUPS = 24  # of K members each
_SMALL_BIAS = 0.01  # of a part
_SHOWN_BIAS = 0.001
_TIE = 1e-9  # of votes


# --- parts as weights of losses ---


def parts_of_losses(
    design: Design, measure: LearnerMeasure, n_members: float = 1.0
) -> dict[str, ProductWeights]:
    """The parts and their total for one member or infinitely many, as weights of losses."""
    many = n_members > 1 and not design.deterministic
    missing = missing_parts(design, measure=measure)
    first = OVER_INIT if many else SINGLE
    steps = {
        "noise": None if design.noiseless else OVER_NOISE_INIT if many else OVER_NOISE,
        "initialization": None if design.deterministic or many else OVER_NOISE_INIT,
        "sampling": OVER_ALL,
    }
    parts: dict[str, ProductWeights] = {}
    last = first
    for name, step in steps.items():
        if name in missing:
            continue
        parts[name] = {} if step is None else {last: 1.0, step: -1.0}
        last = last if step is None else step
    if design.targets:
        bayes = BAYES_OVER_INIT if many else BAYES
        both = {bayes: 1.0} if len(design.targets) > 1 else {}
        parts["bias"] = {last: 1.0}
        if both:
            parts["bayes"] = both
        parts["total"] = {first: 1.0, **both}
    return parts


def absorbed_causes(design: Design, measure: LearnerMeasure) -> dict[str, str]:
    """Causes that are not separated, by the name of the part that contains them."""
    absorbed, missing = design.absorbed, missing_parts(design, measure=measure)
    if design.n_noise > 1 and "noise" in missing:
        where = next((k for k in ("initialization", "sampling") if k not in missing), "bias")
        absorbed[where] = "label noise"
    return absorbed


# --- losses of central predictors ---


def error_statistics(
    predictions: npt.NDArray[np.generic],
    targets: Mapping[str, Target],
    design: Design,
    measure: LearnerMeasure,
    *,
    parts: Sequence[slice],
    key: Hashable,
) -> tuple[dict[str, Statistic], list[str]]:
    """The statistics that parts of an error are made of, and notes on finite numbers of draws.

    `predictions` are (D, N, K, T) or (D, N, K, T, C). `parts` of the data sets have values at each
    test point.
    """
    if measure == "squared":
        return mean_products(predictions, targets, design, parts=parts, key=key), []
    loss = _LOSSES[measure](design, parts)
    for f, here in _by_block(predictions, targets):
        loss.add(f, here)
    statistics = loss.statistics(key)
    return statistics, list(loss.notes(statistics))


def _by_block(
    predictions: npt.NDArray[np.generic], targets: Mapping[str, Target]
) -> Iterator[tuple[FloatArray, dict[str, FloatArray]]]:
    """Predictions and targets by blocks of test points, as float64."""
    *draws, n_test, n_classes = predictions.shape
    for block in blocks(n_test, _BLOCK // (math.prod(n + 1 for n in draws) * n_classes)):
        here = {name: target.value[block] for name, target in targets.items()}
        yield predictions[..., block, :].astype(np.float64), here


def _jackknife(values: FloatArray, axis: int) -> FloatArray:
    """The value of infinitely many draws to first order, from that of n and those of n - 1."""
    n = values.shape[axis] - 1
    whole = np.asarray(values.take(0, axis=axis))
    if n == 1:
        return whole
    left = values.take(range(1, n + 1), axis=axis).mean(axis=axis)
    return np.asarray(n * whole - (n - 1) * left)


def _log_sum(x: FloatArray) -> FloatArray:
    """The logarithm of Σ_c exp x_c, over the last axis."""
    top = x.max(axis=-1)
    return np.asarray(top + np.log(np.exp(x - top[..., None]).sum(axis=-1)))


def _groups(n: int, size: int) -> list[tuple[int, ...]]:
    """All groups of some members, or n of them if these are many."""
    if math.comb(n, size) <= _MOST_GROUPS:
        return list(combinations(range(n), size))
    return [tuple((start + k) % n for k in range(size)) for start in range(n)]


class _Loss(ABC):
    """Sums of a loss whose central predictors are functions of means of transformed predictions."""

    def __init__(self, design: Design, parts: Sequence[slice]) -> None:
        self.design, self._parts = design, parts  # halves of the data sets
        self._columns = 1 + (design.n_init if design.shares_inits else 0)
        self._infinite: set[str] = set()
        self._deviations = dict.fromkeys(_FACTORS, 0.0)
        self._tables: dict[str, FloatArray] = {}  # (1 + D, 1 + K)
        self._groups: dict[int, FloatArray] = {}  # (groups of members, 1 + D), by their size
        self._points: dict[str, list[FloatArray]] = {}  # (halves, t)

    @abstractmethod
    def transformed(self, f: FloatArray) -> FloatArray:
        """Predictions whose means are central predictors."""

    @abstractmethod
    def losses(self, x: FloatArray, targets: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """The losses of central predictors, (1 + D, t): rows leave out a data set."""

    @abstractmethod
    def of_members(
        self, f: FloatArray, x: FloatArray, group: tuple[int, ...], y: FloatArray
    ) -> FloatArray:
        """The loss (D, N, t) of averaged members, by predictions f or transformed ones x."""

    @abstractmethod
    def deviations(self, x: FloatArray, targets: Mapping[str, FloatArray], factor: str) -> float:
        """A sum over test points that determines the remaining error of a part."""

    @abstractmethod
    def notes(self, statistics: Mapping[str, Statistic]) -> Iterator[str]:
        """Notes on the remaining errors."""

    def add(self, f: FloatArray, targets: Mapping[str, FloatArray]) -> None:
        """Add the losses of a block of test points."""
        design, x, n_test = self.design, self.transformed(f), f.shape[3]
        without = [np.delete(x, k, axis=2) for k in range(self._columns - 1)]
        columns = [self.losses(some, targets) for some in (x, *without)]
        points = [self.losses(x[some], targets) for some in self._parts]
        for name in columns[0]:
            sums = np.stack([column[name].sum(axis=-1) for column in columns], axis=1)
            if x.shape[2] == 2 and name not in (SINGLE, OVER_NOISE, BAYES):
                sums[:, 1:] = np.nan
            self._tables[name] = self._tables.get(name, 0.0) + sums
            self._add_points(name, [one[name][0] for one in points], n_test)
        if design.targets and design.n_init > 1:
            y = targets[design.target]
            for size in range(2, design.n_init + 1):
                groups = _groups(design.n_init, size)
                values = np.stack([self.of_members(f, x, one, y).mean(axis=1) for one in groups])
                if np.isinf(values).any():
                    self._infinite.add(f"{MEMBERS_OF}{size}")
                    values = np.where(np.isinf(values), 0.0, values)
                sums = np.stack([left_out(v).sum(axis=-1) for v in values])
                self._groups[size] = self._groups.get(size, 0.0) + sums
                means = [values[:, some].mean(axis=(0, 1)) for some in self._parts]
                self._add_points(f"{MEMBERS_OF}{size}", means, n_test)
        for factor, axis in _FACTORS.items():
            if x.shape[axis] > 1:
                self._deviations[factor] += self.deviations(x, targets, factor)

    def _add_points(self, name: str, values: Sequence[FloatArray], n_test: int) -> None:
        by_half = np.array(values).reshape(len(self._parts), n_test)
        self._points.setdefault(name, []).append(by_half)

    def statistics(self, key: Hashable) -> dict[str, Statistic]:
        """Means over test points; those of infinite losses are inf."""
        tables = self._tables | {f"{MEMBERS_OF}{n}": self._group_table(n) for n in self._groups}
        return {
            name: Statistic(
                table=np.full_like(table, np.inf)
                if name in self._infinite
                else table / self.design.n_test,
                points=np.concatenate(self._points[name], axis=1),
                key=key,
            )
            for name, table in tables.items()
        }

    def _group_table(self, size: int) -> FloatArray:
        """Columns leave out groups with an initialization; of one group, deviations of smaller."""
        mean, K = self._groups[size].mean(axis=0)[:, None], self.design.n_init  # (1 + D, 1)
        if self._columns == 1:
            return np.asarray(mean)
        smaller = size if size < K else size - 1
        if smaller not in self._groups:
            return np.concatenate([mean, np.full((len(mean), K), np.nan)], axis=1)
        sums, groups = self._groups[smaller], _groups(K, smaller)
        left = np.stack(
            [sums[[k not in group for group in groups]].mean(axis=0) for k in range(K)], axis=1
        )
        return np.concatenate([mean, mean + left - left.mean(axis=1, keepdims=True)], axis=1)

    @staticmethod
    def _values(statistics: Mapping[str, Statistic]) -> dict[str, float]:
        return {name: float(one.table[0, 0]) for name, one in statistics.items()}


class _Logarithms(_Loss):
    """Cross-entropy: means of log-probabilities."""

    def __init__(self, design: Design, parts: Sequence[slice]) -> None:
        super().__init__(design, parts)
        fits = design.n_data * design.n_noise * design.n_init
        self._lowest = -1e3 * fits  # log 0: means of it underflow to probability 0
        self._zeros, self._wrong, self._impossible, self._counted = 0, 0.0, 0.0, 0

    def transformed(self, f: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            x = np.log(f / f.sum(axis=-1, keepdims=True))
        return np.asarray(np.maximum(x, self._lowest))

    def add(self, f: FloatArray, targets: Mapping[str, FloatArray]) -> None:
        zero = f == 0
        self._zeros += int(zero.sum())
        self._counted += f.size
        impossible = zero.any(axis=(0, 1, 2)).all(axis=-1)  # no class is possible in all fits
        wrong = np.zeros(f.shape[:-1], dtype=bool)  # the label has probability 0
        for y in targets.values():
            wrong |= (zero & (y > 0)).any(axis=-1)
        self._wrong += float(wrong.mean() * f.size)
        self._impossible += float(impossible.mean() * f.size)
        if wrong.any() or impossible.any():
            self._infinite |= {SINGLE, OVER_NOISE, OVER_INIT, OVER_NOISE_INIT, OVER_ALL}
        super().add(f, targets)

    def losses(self, x: FloatArray, targets: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        D, noise = len(x), left_out(x, 1)
        over_noise = _jackknife(_log_sum(noise), 1).mean(axis=1)  # (D, t)
        both = _log_sum(left_out(noise, 2))  # (D, 1 + N, 1 + K, t)
        over_both = _jackknife(_jackknife(both, 2), 1)
        over_init = _jackknife(_log_sum(left_out(x, 2)), 2).mean(axis=1)
        mean = x.mean(axis=1)  # (D, K, t, C): the noise of a data set is part of its draw
        if self.design.crossed:
            everything = _jackknife(_log_sum(left_out(left_out(mean, 0), 1)), 1)
        else:
            everything = _log_sum(left_out(mean.mean(axis=1), 0))
        rows = {
            name: left_out(a, 0)
            for name, a in (
                (OVER_NOISE, over_noise),
                (OVER_INIT, over_init),
                (OVER_NOISE_INIT, over_both),
            )
        }
        rows[SINGLE] = np.zeros_like(everything)
        rows[OVER_ALL] = everything
        if D > 1:
            last = rows[OVER_NOISE_INIT]
            left = (last - everything)[1:]
            sampling = last[0] - _jackknife(everything, 0)
            scale = (D - 1) / (D - 2 or math.nan)
            without = sampling + scale * (left - left.mean(axis=0))
            rows[OVER_ALL] = last - np.concatenate([sampling[None], without])
        if not targets:
            return rows
        F = left_out(mean.mean(axis=1), 0)  # (1 + D, t, C)
        first, *others = (self._against(F, y) for y in targets.values())
        rows = {name: a + first for name, a in rows.items()}
        if others:
            rows[BAYES] = rows[BAYES_OVER_INIT] = others[0] - first
        return rows

    def _against(self, F: FloatArray, y: FloatArray) -> FloatArray:
        """Σ_c y_c (log y_c - F_c)."""
        own = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)), 0.0).sum(axis=-1)
        return np.asarray(own - np.einsum("tc,dtc->dt", y, F))

    def of_members(
        self, f: FloatArray, x: FloatArray, group: tuple[int, ...], y: FloatArray
    ) -> FloatArray:
        mean = f[:, :, list(group)].mean(axis=2)
        p = mean / mean.sum(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(y > 0, y * (np.log(np.where(y > 0, y, 1.0)) - np.log(p)), 0.0)
        return np.asarray(terms.sum(axis=-1))

    def deviations(self, x: FloatArray, targets: Mapping[str, FloatArray], factor: str) -> float:
        """J - J₂ of neighbouring draws of a factor."""
        axis = _FACTORS[factor]
        means = {"noise": x, "initialization": x.mean(axis=1, keepdims=True)}
        draws = np.moveaxis(means.get(factor, x.mean(axis=(1, 2), keepdims=True)), axis, 0)
        total = 0.0
        for one, other in pairwise(draws):
            middle, half = (one + other) / 2, (one - other) / 2
            log_z = _log_sum(middle)
            p = np.exp(middle - log_z[..., None])
            square = (p * half**2).sum(axis=-1) - (p * half).sum(axis=-1) ** 2
            gap = (_log_sum(one) + _log_sum(other)) / 2 - log_z
            total += float((gap - square / 2).mean(axis=(0, 1)).sum()) / (len(draws) - 1)
        return total

    def notes(self, statistics: Mapping[str, Statistic]) -> Iterator[str]:
        if self._zeros:
            if self._infinite & {SINGLE}:
                share, where = self._wrong, "predictions have probability 0 for the label"
                if not share:
                    share = self._impossible
                    where = "test points have no class of positive probability in all fits"
                yield (
                    f"The cross-entropy is infinite: {percent(share / self._counted)} of the "
                    f"{where}. Smooth the probabilities, or use measure='squared'."
                )
                return
            yield (
                f"{percent(self._zeros / self._counted)} of the probabilities are 0, none of them "
                "of a label: such classes have probability 0 in the central predictors."
            )
        design, values = self.design, self._values(statistics)
        weights = parts_of_losses(design, "log")
        parts = {name: _weighted(weights[name], values) for name in _FACTORS if weights.get(name)}
        counts = {
            "noise": design.n_noise,
            "initialization": design.n_init,
            "sampling": design.n_data,
        }
        left, wanted = [], []
        for name, part in parts.items():
            n, c = counts[name], 4 * self._deviations[name] / design.n_test
            if part <= 0 or n < 2:
                continue
            error = c / (n * (n - 1)) / part
            if abs(error) >= _SHOWN_BIAS:
                left.append(f"{percent(error, '+')} of {name} ({n} draws)")
            if abs(error) > _SMALL_BIAS:
                enough = math.ceil(0.5 + math.sqrt(0.25 + abs(c) / (_SMALL_BIAS * part)))
                wanted.append(f"{enough} for {name}")
        if parts:
            more = (
                f"; below {percent(_SMALL_BIAS)} with about {', '.join(wanted)}" if wanted else ""
            )
            yield (
                "Parts of the cross-entropy have no unbiased estimate from few fits; they are "
                "extrapolated in the number of draws. Estimated bias that remains: "
                f"{', '.join(left) or f'below {percent(_SHOWN_BIAS)} of each part'}{more}."
            )


class _Votes(_Loss):
    """Error rate: shares of votes."""

    def transformed(self, f: FloatArray) -> FloatArray:
        return _votes(f)

    def losses(self, x: FloatArray, targets: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        first, *others = targets.values()
        rows = self._against(x, first)
        if others:
            other = self._against(x, others[0])
            rows[BAYES] = other[SINGLE] - rows[SINGLE]
            rows[BAYES_OVER_INIT] = other[OVER_INIT] - rows[OVER_INIT]
        return rows

    def _against(self, x: FloatArray, y: FloatArray) -> dict[str, FloatArray]:
        by_data = x.mean(axis=(1, 2))
        return {
            SINGLE: left_out(zero_one_loss(x, y).mean(axis=(1, 2)), 0),
            OVER_NOISE: left_out(zero_one_loss(x.mean(axis=1), y).mean(axis=1), 0),
            OVER_INIT: left_out(zero_one_loss(x.mean(axis=2), y).mean(axis=1), 0),
            OVER_NOISE_INIT: left_out(zero_one_loss(by_data, y), 0),
            OVER_ALL: zero_one_loss(left_out(by_data, 0), y),
        }

    def of_members(
        self, f: FloatArray, x: FloatArray, group: tuple[int, ...], y: FloatArray
    ) -> FloatArray:
        return zero_one_loss(x[:, :, list(group)].mean(axis=2), y)

    def deviations(self, x: FloatArray, targets: Mapping[str, FloatArray], factor: str) -> float:
        """The change of the loss from fewer draws of a factor to infinitely many."""
        axis, y = _FACTORS[factor], next(iter(targets.values()))
        n, over = x.shape[axis], {"noise": (1,), "initialization": (1, 2)}.get(factor, (0, 1, 2))
        if n < least_draws("zero_one"):
            return 0.0
        if factor == "sampling":
            groups, scale = [x[0::2], x[1::2]], 1.0
        else:
            left = [[k, (k + 1) % n] for k in range(n)]
            groups, scale = [np.delete(x, two, axis=axis) for two in left], (n - 2) / 2
        means = [zero_one_loss(some.mean(axis=over), y) for some in (x, *groups)]
        all_draws, *fewer = (float(e.sum()) / math.prod(e.shape[:-1]) for e in means)
        return scale * (all_draws - sum(fewer) / len(fewer))

    def notes(self, statistics: Mapping[str, Statistic]) -> Iterator[str]:
        design, values = self.design, self._values(statistics)
        missing = missing_parts(design, measure="zero_one")
        counts = (design.n_noise, design.n_init, design.n_data)
        parts, carried = {}, 0.0
        weights = parts_of_losses(design, "zero_one")
        for name, total in self._deviations.items():
            if not weights.get(name):
                continue
            change = total / design.n_test
            parts[name] = _weighted(weights[name], values) + carried - change
            carried = change
        parts["bias"] = _weighted(weights["bias"], values) + carried
        yield (
            "Parts of the error rate are effects of voting: they may be negative, and depend on "
            f"the numbers of noise draws ({counts[0]}), initializations ({counts[1]}) and data "
            f"sets ({counts[2]}). With infinitely many, about: "
            f"{', '.join(f'{name} {plain(value)}' for name, value in parts.items())}."
        )
        for name, n in zip(self._deviations, counts, strict=True):
            if n == 2 and name in missing:
                yield f"{name.capitalize()}{missing[name].removeprefix(name)}."


_LOSSES: dict[LearnerMeasure, type[_Loss]] = {"log": _Logarithms, "zero_one": _Votes}


def _votes(f: FloatArray) -> FloatArray:
    """The vote of each fit: 1 for its most probable class, shared in a tie."""
    best = f >= f.max(axis=-1, keepdims=True)
    return np.asarray(best / best.sum(axis=-1, keepdims=True))


def zero_one_loss(shares: FloatArray, y: FloatArray) -> FloatArray:
    """0 where the class of most votes is the label, 1 elsewhere; a tie of k classes is 1 - 1/k."""
    best = shares >= shares.max(axis=-1, keepdims=True) - _TIE
    return np.asarray(1 - (best * y).sum(axis=-1) / best.sum(axis=-1))


def _weighted(weights: ProductWeights, values: Mapping[str, float]) -> float:
    return sum(weight * values[name] for name, weight in weights.items())
