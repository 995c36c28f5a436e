r"""Variance components of predictions: mean products, the parts made of them, and their errors.

**Mean products.** At one test point a prediction is f_dnk: data set d, noise draw n on its labels,
initialization k. Two predictions may differ in each of these. The mean over all pairs that differ
in the same way is unbiased for the expectation of such a product (a U-statistic):

    same               f_dnk f_dnk            other_noise         f_dnk f_dn'k
    other_init         f_dnk f_dnk'           other_noise_init    f_dnk f_dn'k'
    other_data         f_dnk f_d'n'k          other_data_init     f_dnk f_d'n'k'

Sums over pairs come from sums over predictions, as in Σ_{k≠k'} f_k f_k' = (Σ_k f_k)² - Σ_k f_k².
Predictions are measured from their mean m at each test point, so that no large numbers are
subtracted. A level corrects a square for that: (f - y)² = h² + (2bh + b²) with h = f - m and
b = m - y; every kind of product against the target y is corrected by the same amount.

**Parts.** A part of the error is a difference of mean products. The paper averages over noise, then
initializations, then data sets [dascoli2020]; every average leaves a product with one more factor
that differs, and the differences add up:

    noise                            same - other_noise
    initialization                   other_noise - other_noise_init
    sampling                         other_noise_init - other_data_init
    bias                             other_data_init, against the truth
    total                            same, against the target

Where an axis has length one its step is skipped, and the next part contains it. The analysis of
variance [adlam2020] splits the first two once more, into the noise that remains when
initializations differ, and the initialization that remains when data sets differ:

    noise_sampling                   other_init - other_noise_init
    noise_initialization_sampling    noise - noise_sampling
    initialization                   other_data - other_data_init
    initialization_sampling          the paper's initialization - this one

Labels of a finite pool have one draw of noise, of known variance σ². Further draws, with noise of
variance s² added to the same labels, measure the response of the learner: a learner linear in its
labels turns their own noise into c = σ²/s² times the effect of the added noise (`injected`; for
others noise is overestimated, initialization underestimated). With "added" for fits to labels with
added noise:

    noise                            c (added_same - added_other_noise)
    noise_sampling                   c (added_other_init - added_other_noise_init)
    initialization                   same - other_init, less noise - noise_sampling
    sampling                         other_init - other_data_init, less noise_sampling

**Standard errors.** Data sets, with their noise, are independent: leaving out one at a time gives

    V_d = (D-1)/D Σ_i (θ_{-i} - θ)²,

the variance of θ for the given initializations. Where these are shared, their draw adds to it; V_k
does the same for initializations. Both count the part that belongs to cells (i, j), which is
subtracted once, by the second differences of leaving out both:

    V_dk = (D-1)(K-1)/(DK) Σ_ij (θ_{-i,-j} - θ_{-i} - θ_{-j} + θ)²,    V = V_d + max(V_k - V_dk, 0).

For a mean over a two-way table V_d + V_k - V_dk is unbiased. For products of distinct draws one
jackknife counts terms of second order twice, and V_dk up to four times: V is therefore at least
V_d, an upper bound on average for the given initializations (Efron and Stein).

The draw of the test points adds the variance of θ from point to point, estimated by the covariance
of two halves of the data sets, V_t = Cov_t(θ_t of one half, θ_t of the other)/T. Effects of shared
initializations are in it, too, and with too few data sets for two halves also the uncertainty at
each point: these are counted twice, and intervals are then a little too wide.

**Intervals.** The estimate of a variance is skewed to the right where few degrees of freedom carry
it. Every part is a mean square A, positive, less a correction B: for sampling, A is the variance
over data sets of the mean over all their fits. A is taken as a scaled chi-square variable whose
degrees of freedom match the standard error (Satterthwaite), see `Estimate.confidence_interval`.
`benchmarks/coverage.py` measures the coverage.
"""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.estimates import Statistic
from doubletrouble.learners._design import Design
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import FloatArray

LARGEST = 1e60  # fourth powers, of which variances are made, must stay representable

ADDED = "added_"
"""Prefix of the products of fits to labels with added noise."""

ProductWeights: TypeAlias = dict[str, float]
"""The weight of each mean product in a sum, by its name."""

_BLOCK = 2**16  # predictions of a block: they fit into the processor's cache


# --- parts as weights of mean products ---


def weighted_sum(weights: Mapping[str, float], statistics: Mapping[str, Statistic]) -> Statistic:
    """A weighted sum of statistics; an empty sum is 0."""
    same = next(iter(statistics.values()))
    table, points = np.zeros_like(same.table), np.zeros_like(same.points)
    for name, weight in weights.items():
        if weight:
            table = table + weight * statistics[name].table
            points = points + weight * statistics[name].points
    return Statistic(table=table, points=points, key=same.key)


SEQUENTIAL = {  # with the requirements of each part, see `Design`
    "noise": ("noise",),
    "initialization": ("init",),
    "sampling": ("data",),
    "bias": ("target",),
    "bayes": ("both",),
    "total": ("target",),
}
ANOVA = {
    "bias": ("target",),
    "initialization": ("init", "data", "crossed"),
    "sampling": ("data",),
    "initialization_sampling": ("init", "data", "crossed"),
    "noise_sampling": ("noise", "init"),
    "noise_initialization_sampling": ("noise", "init"),
    "bayes": ("both",),
    "total": ("target",),
}


def missing_parts(
    design: Design,
    parts: Mapping[str, tuple[str, ...]] = SEQUENTIAL,
    measure: LearnerMeasure = "squared",
) -> dict[str, str]:
    """The reasons why parts are not identified, by their names; `parts` have their needs."""
    reasons = {name: design.lacks(name, needs, measure) for name, needs in parts.items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


_OTHER = {  # products with the same draw of a factor, and those with another draw
    "noise": {"same": "other_noise", "other_init": "other_noise_init"},
    "init": {
        "same": "other_init",
        "other_noise": "other_noise_init",
        "other_data": "other_data_init",
    },
}


def sequential(design: Design, n_members: float = 1.0) -> dict[str, ProductWeights]:
    """The paper's parts and their total for K averaged members, as far as they are identified."""
    parts = _parts_of_one(design)
    if design.targets:
        parts["total"] = {"same": 1.0, design.target: 1.0}
    return {name: averaged(part, _members(design, n_members)) for name, part in parts.items()}


def anova(design: Design, n_members: float = 1.0) -> dict[str, ProductWeights]:
    """Main effects, interactions and their total, as far as they are identified."""
    parts = sequential(design)
    noise, initialization = parts.get("noise", {}), parts.get("initialization", {})
    own = _noise_sampling(design, noise)
    alone = {} if design.deterministic else {"other_data": 1.0, "other_data_init": -1.0}
    parts |= {
        "noise_sampling": own,
        "noise_initialization_sampling": _less(noise, own),
        "initialization": alone,
        "initialization_sampling": _less(initialization, alone),
    }
    return {
        name: averaged(parts[name], _members(design, n_members))
        for name, needs in ANOVA.items()
        if design.lacks(name, needs) is None
    }


def averaged(weights: ProductWeights, size: float, factor: str = "init") -> ProductWeights:
    """A sum of products, with every prediction replaced by a mean over `size` draws of a factor.

    Of the products of two means, 1/size are products with the same draw. For initializations, this
    is the ensemble of K = `size` members, trained on the same labels.

    >>> averaged({"same": 1.0, "truth": 1.0}, 4)
    {'same': 0.25, 'other_init': 0.75, 'truth': 1.0}
    """
    if size == 1:
        return weights
    total: ProductWeights = {}
    for name, weight in weights.items():
        prefix = ADDED if name.startswith(ADDED) else ""
        other = _OTHER[factor].get(name.removeprefix(prefix))
        shares = {name: 1.0}
        if other is not None:
            shares = {name: 1 / size, prefix + other: 1 - 1 / size}
        for product, share in shares.items():
            total[product] = total.get(product, 0.0) + weight * share
    return total


def mean_squares(
    design: Design, n_members: float = 1.0, *, effects: bool = False
) -> dict[str, ProductWeights]:
    """The mean square A of each part of `sequential`; with `effects`, of `anova`.

    A is the part plus a correction, and is not negative: its means run over the draws that there
    are, and their products include those of a draw with itself.
    """
    D, K, members = design.n_data, design.n_init, _members(design, n_members)
    c, prefix, N = 1.0, "", design.n_noise
    if design.injected is not None:
        c, prefix, N = design.injected, ADDED, 1
    between = "other_data" if design.crossed else "other_data_init"

    def over_noise(weights: ProductWeights) -> ProductWeights:
        return averaged(weights, N, "noise")

    noise = {f"{prefix}same": c, f"{prefix}other_noise": -c}
    parts = {
        "noise": averaged(noise, min(members, K)),
        "initialization": over_noise({"same": 1 / members, "other_init": -1 / members}),
        "sampling": averaged(over_noise({"same": 1.0, between: -1.0}), K),
    }
    if design.targets:
        mean = over_noise({"same": 1 / D, between: 1 - 1 / D})
        parts["bias"] = averaged(mean, K) | {design.targets[0]: 1.0}
        parts["total"] = averaged({"same": 1.0}, min(members, K)) | {design.target: 1.0}
    if effects:
        share, rest = 1 / D / members, (1 - 1 / D) / members
        main = {"same": share, "other_init": -share, "other_data": rest, "other_data_init": -rest}
        both = {"same": 1.0, "other_init": -1.0, "other_data": -1.0, "other_data_init": 1.0}
        parts |= {
            "initialization": over_noise(main),
            "initialization_sampling": over_noise({k: w / members for k, w in both.items()}),
            "noise_sampling": averaged(noise, K),
            "noise_initialization_sampling": {
                f"{prefix}same": c / members,
                f"{prefix}other_noise": -c / members,
                f"{prefix}other_init": -c / members,
                f"{prefix}other_noise_init": c / members,
            },
        }
    return parts


def _members(design: Design, n_members: float) -> float:
    """K; members of a deterministic learner are one."""
    return 1.0 if design.deterministic else n_members


def _parts_of_one(design: Design) -> dict[str, ProductWeights]:
    """The paper's parts for one member."""
    if design.injected is not None:
        return _with_own_noise(_parts_of_one(design.own_labels), design)
    steps = {"noise": "other_noise"}
    steps["initialization"] = "other_noise_init" if design.n_noise > 1 else "other_init"
    shared = design.crossed and design.n_init == 1
    steps["sampling"] = "other_data" if shared else "other_data_init"
    zero = {"noise": design.noiseless, "initialization": design.deterministic}
    parts: dict[str, ProductWeights] = {}
    last = "same"
    for name, product in steps.items():
        if zero.get(name):
            parts[name] = {}
        elif design.lacks(name, SEQUENTIAL[name]) is None:
            parts[name] = {last: 1.0, product: -1.0}
            last = product
    if design.targets:
        parts["bias"] = {last: 1.0, design.targets[0]: 1.0}
    if len(design.targets) > 1:
        parts["bayes"] = {design.targets[1]: 1.0, design.targets[0]: -1.0}
    return parts


def _with_own_noise(parts: dict[str, ProductWeights], design: Design) -> dict[str, ProductWeights]:
    """The parts with the labels' own noise subtracted from those that contain it."""
    c = design.injected or 0.0
    noise = {f"{ADDED}same": c, f"{ADDED}other_noise": -c}
    own = _noise_sampling(design, noise)
    last = "sampling" if "sampling" in parts else "bias"  # with one data set
    if last in parts:
        parts[last] = _less(parts[last], own)
    if parts.get("initialization"):
        parts["initialization"] = _less(parts["initialization"], _less(noise, own))
    return {"noise": noise, **parts}


def _noise_sampling(design: Design, noise: ProductWeights) -> ProductWeights:
    """The part of noise that does not depend on the initialization."""
    if design.n_init == 1:
        return noise
    if design.n_noise == 1:
        return {}
    c, prefix = (1.0, "") if design.injected is None else (design.injected, ADDED)
    return {f"{prefix}other_init": c, f"{prefix}other_noise_init": -c}


def _less(left: Mapping[str, float], right: Mapping[str, float]) -> ProductWeights:
    """A difference of two sums."""
    return {name: left.get(name, 0.0) - right.get(name, 0.0) for name in {**left, **right}}


# --- mean products ---


class Target(NamedTuple):
    """A target of the predictions, and the variance of the noise in it."""

    value: FloatArray  # (T,) or (T, C)
    floor: FloatArray


def mean_products(
    predictions: npt.NDArray[np.generic],
    targets: Mapping[str, Target],
    design: Design,
    *,
    parts: Sequence[slice],
    key: Hashable,
) -> dict[str, Statistic]:
    """Every mean product that the design allows, and the level of each target, by name.

    `predictions` are (D, N, K, T) or (D, N, K, T, C); products of the C outputs at a test point are
    added up. `parts` of the data sets have values at each test point. Products of labels with added
    noise have names of their own.
    """
    if design.injected is not None:
        own, added = design.own_labels, replace(design, injected=None)
        known = mean_products(predictions[:, :1], targets, own, parts=parts, key=key)
        more = mean_products(predictions[:, 1:], {}, added, parts=parts, key=key)
        return known | {f"{ADDED}{name}": statistic for name, statistic in more.items()}
    columns = 1 + (design.n_init if design.shares_inits else 0)
    tables: dict[str, FloatArray] = {}
    points: dict[str, list[FloatArray]] = {}
    for f, here in _by_block(predictions.reshape(*predictions.shape[:3], -1), targets):
        sums = _PredictionSums.of(f)
        for pairs in sums.pairs(here, crossed=design.crossed):
            by_data = left_out(pairs.sums.sum(axis=-1), order=pairs.data)
            table = left_out(by_data, 1, order=pairs.init)[:, :columns] / design.n_test
            tables[pairs.name] = tables[pairs.name] + table if pairs.name in tables else table
        for some in parts:
            for pairs in sums.some(some).pairs(here, crossed=design.crossed):
                points.setdefault(pairs.name, []).append(pairs.at_points())
    statistics = {}
    for name, table in tables.items():
        by_part = np.zeros((len(parts), design.n_test))
        for k in range(len(parts)):
            joined = np.concatenate(points[name][k :: len(parts)])
            by_part[k] = joined.reshape(design.n_test, -1).sum(axis=1)  # over outputs
        statistics[name] = Statistic(table=table, points=by_part, key=key)
    return statistics


def halves(n_data: int) -> list[slice]:
    """Two halves of the data sets, each with pairs in it; all, where there are too few."""
    return [slice(0, None, 2), slice(1, None, 2)] if n_data > 3 else [slice(None)]


def left_out(x: FloatArray, axis: int = 0, *, order: int = 1) -> FloatArray:
    """The mean along an axis, then those with one index left out; NaN for one of one.

    Of `order` 2 are sums over every two different indices, each with both of them.
    """
    n, total = x.shape[axis], x.sum(axis=axis, keepdims=True)
    left = (total - order * x) / (math.perm(n - 1, order) or np.nan)
    return np.concatenate([total / math.perm(n, order), left], axis=axis)


class _PairSums(NamedTuple):
    """Sums (D, K, T) over pairs of a kind; pairs of two are in the sums of both."""

    name: str
    sums: FloatArray
    data: int  # 1: of one data set, 2: of two
    init: int  # 1: of one initialization, 2: of two

    def at_points(self) -> FloatArray:
        """The means at each test point."""
        D, K, _ = self.sums.shape
        n_pairs = math.perm(D, self.data) * math.perm(K, self.init)
        return np.asarray(self.sums.sum(axis=(0, 1)) / n_pairs)


class _PredictionSums(NamedTuple):
    """Sums over noise draws and initializations of predictions h, measured from their mean."""

    n_noise: int
    mean: FloatArray  # (T,)
    u: FloatArray  # (D, K, T): Σ_n h
    v: FloatArray  # (D, 1, T): Σ_nk h
    diagonal: FloatArray  # (D, K, T): Σ_n h_k h_k
    row: FloatArray  # (D, K, T): Σ_nk' h_k h_k'

    @classmethod
    def of(cls, f: FloatArray) -> Self:
        """The sums of predictions (D, N, K, T)."""
        mean = f.mean(axis=(0, 1, 2))
        h = f - mean
        u = h.sum(axis=1)
        return cls(
            n_noise=f.shape[1],
            mean=mean,
            u=u,
            v=u.sum(axis=1, keepdims=True),
            diagonal=np.einsum("dnkt,dnkt->dkt", h, h),
            row=np.einsum("dnkt,dnt->dkt", h, h.sum(axis=2)),
        )

    def some(self, data: slice) -> Self:
        """The sums of some data sets, from the same mean."""
        return self._replace(
            u=self.u[data], v=self.v[data], diagonal=self.diagonal[data], row=self.row[data]
        )

    def pairs(self, targets: Mapping[str, Target], *, crossed: bool) -> Iterator[_PairSums]:
        """Levels, then products within a data set, then those of two data sets."""
        N, u, v, diagonal, row = self.n_noise, self.u, self.v, self.diagonal, self.row
        D, K, _ = u.shape
        for name, target in targets.items():
            b = self.mean - target.value
            yield _PairSums(name, (2 / N * b) * u + (b**2 - target.floor), 1, 1)
        yield _PairSums("same", diagonal / N, 1, 1)
        if K > 1:
            yield _PairSums("other_init", (row - diagonal) / N, 1, 2)
        if N > 1:
            again = u**2 - diagonal
            yield _PairSums("other_noise", again / (N * (N - 1)), 1, 1)
            if K > 1:
                yield _PairSums("other_noise_init", (u * v - row - again) / (N * (N - 1)), 1, 2)
        if D > 1 and not crossed:  # any initializations of two data sets are different
            yield _PairSums("other_data_init", v * (v.sum(axis=0) - v) / (N * K) ** 2, 2, 1)
        elif D > 1:
            others = u.sum(axis=0) - u  # (D, K, T): over the other data sets
            same_init = u * others / N**2
            yield _PairSums("other_data", same_init, 2, 1)
            if K > 1:
                any_init = (u * others.sum(axis=1, keepdims=True) + v * others) / (2 * N**2)
                yield _PairSums("other_data_init", any_init - same_init, 2, 2)


def _by_block(
    predictions: npt.NDArray[np.generic], targets: Mapping[str, Target]
) -> Iterator[tuple[FloatArray, dict[str, Target]]]:
    """Predictions and targets by blocks of test points, as float64; ValueError if not numbers."""
    *draws, n_test = predictions.shape
    flat = {
        name: Target(*(values.ravel() for values in target)) for name, target in targets.items()
    }
    for block in blocks(n_test, _BLOCK // math.prod(draws)):
        f = predictions[..., block].astype(np.float64)
        bad = ~(np.abs(f) <= LARGEST)
        if bad.any():
            first = tuple(int(i) for i in np.argwhere(bad)[0])
            where = (*first[:-1], first[-1] + block.start)
            raise ValueError(
                f"predictions must be finite numbers up to {LARGEST:g}, "
                f"got {float(f[first])!r} at index {where}"
            )
        yield f, {name: Target(t.value[block], t.floor[block]) for name, t in flat.items()}


def blocks(count: int, size: int) -> Iterator[slice]:
    """Slices of `size` or 1, which together are `count` long."""
    step = max(1, size)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
