r"""Learners: what each is trained on, and its fits by ridge regression or with a convex loss.

**Ridge regression** is a linear map from labels to outputs, computed on the smaller side. With
features Φ (N × P) of the training set and alpha = N P λ / D, the weights for labels y are
Φᵀ (Φ Φᵀ + alpha)⁻¹ y = (Φᵀ Φ + alpha)⁻¹ Φᵀ y. Outputs are linear in the weights, with coefficients
O (P × R): the outputs for labels y are Wᵀ y with the response

    W = (Φ Φᵀ + alpha)⁻¹ Φ O        where P > N: Φ Φᵀ and Φ O grow by sums over features
      = Φ (Φᵀ Φ + alpha)⁻¹ O        otherwise

A single ridge takes a Cholesky decomposition (`_ridge`). Several, or one at which the matrix is
singular up to rounding, take one eigendecomposition.

**Gradient flow** from zero, da/dt = (Φᵀ (y - Φ a) - alpha a)/D, has at time t fitted the share
1 - exp(-t x/D) of the ridge solution on a mode of eigenvalue e, with x = e + alpha: the same
eigendecomposition gives every time.

**Samples drawn with weights.** A sample drawn w times is one of weight w, whose row of features and
label are multiplied by √w; a member of n samples in all has alpha = n P λ/D. Its response acts on
all N labels, with zeros for the samples it does not have, so that responses of members with
different samples can be multiplied.

**Other convex losses** are fitted to labels, which are drawn: two draws of their noise for the
inputs of each data set (one where there is no noise), by `convex.LinearModel`.

**Members of a scheme.** A draw has two data sets, and groups of learners on each. Learners of
different groups share neither features nor, where members draw them, samples. A group is one
learner, or two *twins*, which share the draw from a common set.

- *Divided data* are consecutive blocks of both data sets.
- *Members that draw samples*: `Scheme.draw_samples` returns how often each of the N samples is in
  each member. Choice j is given to the features j and j - 1, which are twins. Of all first twins,
  no two share a choice or features, nor do any two second ones, also where J = 2.
- *Members that share features* have P of the B features of a bank, without replacement. For any
  such scheme B = P²/k, where k is the number of features that two members have in common. A bank
  is not drawn as a whole: its features are exchangeable, so that two choices from it are P features
  each, m of them in common, with m from the hypergeometric distribution.

Features are nested: the first P of the largest set are P random features, as a draw of their own
would be. Points of one run then share their draws, each unbiased with its own standard error. Sums
over features grow from one P to the next.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from array_api_compat import array_namespace

from doubletrouble._ridge import Modes, cholesky_solution
from doubletrouble.convex import LinearModel
from doubletrouble.ensembles import Scheme
from doubletrouble.errors import DivergenceError
from doubletrouble.kernels import closed_form
from doubletrouble.parameters import Array, FloatArray, IntArray
from doubletrouble.simulation._devices import ArrayDevice
from doubletrouble.simulation._draws import DataPair, FeatureSet, centred_overlap
from doubletrouble.simulation._plan import (
    RidgeFit,
    SimulationPlan,
    draw_counts,
    n_members,
)

_SINGULAR = 1e-12  # reciprocal condition below which modes with S = 0 are omitted
_LARGEST_DRAW = 10**9  # of NumPy's hypergeometric numbers


# --- what learners are trained on ----------------------------------------------------------------


class SampleChoice(NamedTuple):
    """The samples of a member: a block of consecutive ones, or distinct ones with weights."""

    n_drawn: int  # the sum of the weights
    rows: slice | Array  # (n,)
    roots: Array | None = None  # (n, 1) square roots of the weights; None: a block
    back: Array | None = None  # (N,) index of each of the N samples in `rows`; n if not drawn

    @classmethod
    def block(cls, rows: slice) -> "SampleChoice":
        """Consecutive samples; labels are those of the block only."""
        return cls(int(rows.stop - rows.start), rows)

    @classmethod
    def weighted(cls, counts: IntArray, device: ArrayDevice, like: Array) -> "SampleChoice":
        """Each of the N samples as often as counted; arrays on the device of `like`."""
        rows = np.flatnonzero(counts)
        back = np.full(counts.size, rows.size)
        back[rows] = np.arange(rows.size)
        xp = array_namespace(like)
        return cls(
            int(counts.sum()),
            xp.asarray(rows, device=like.device),
            device.asarray(np.sqrt(counts[rows]))[:, None],
            xp.asarray(back, device=like.device),
        )

    def of_rows(self, values: Array) -> Array:
        """Rows of the samples, multiplied by the roots of their weights."""
        return values[self.rows] if self.roots is None else self.roots * values[self.rows]

    def of_gram(self, gram: Array) -> Array:
        """The Gram matrix of the samples, out of that of all N."""
        part = gram[self.rows][:, self.rows]
        return part if self.roots is None else part * (self.roots * self.roots.T)

    def to_all_labels(self, response: Array) -> Array:
        """The response to all N labels: zero for samples that were not drawn."""
        if self.back is None:
            return response
        xp = array_namespace(response)
        return xp.concat([self.roots * response, 0 * response[:1]], axis=0)[self.back]


class LearnerKey(NamedTuple):
    """What a learner is trained on, which other learners may share."""

    features: int  # the set of features, or the bank
    samples: tuple[SampleChoice, SampleChoice]  # of each data set
    start: int = 0  # of the features in a bank


class Block(NamedTuple):
    """Data sets, or parts of them, and the groups of learners on them: single ones, or twins."""

    data: DataPair
    groups: tuple[tuple[LearnerKey, ...], ...]
    n_common: tuple[int, ...]  # features that the twins of each group have in common


def scheme_members(
    plan: SimulationPlan, s: int, data: DataPair, n_sets: int, rng: np.random.Generator
) -> list[list[Block]]:
    """The blocks of data of the s-th scheme, and the members on each, for every P."""
    scheme, banks, n_parts = plan.schemes[s], plan.banks[s], plan.n_parts[s]
    drawn = not n_parts and not scheme.shares_features
    choices = _sample_choices(plan, scheme, data, n_sets, rng) if drawn else []
    every = SampleChoice.block(slice(0, plan.n_samples))
    blocks: list[list[Block]] = [[] for _ in plan.n_features]
    for w in plan.by_features:
        if drawn:
            twins = 2 if n_sets > 1 else 1
            groups = tuple(
                tuple(LearnerKey((j - twin) % n_sets, samples) for twin in range(twins))
                for j, samples in enumerate(choices)
            )
            blocks[w] = [Block(data, groups, (0,) * len(groups))]
        elif scheme.shares_features:
            P = int(plan.n_features[w])
            common = tuple(n_common(P, banks[w], rng) for _ in range(n_sets))
            groups = tuple(
                (LearnerKey(j, (every, every)), LearnerKey(j, (every, every), P - m))
                for j, m in enumerate(common)
            )
            blocks[w] = [Block(data, groups, common)]
        else:
            for rows in _parts(plan.n_samples, n_parts, rng):
                first, second = map(SampleChoice.block, rows)
                groups = tuple((LearnerKey(j, (first, second)),) for j in range(n_sets))
                blocks[w].append(Block(data.rows(rows), groups, (0,) * n_sets))
    return blocks


def _parts(n_samples: int, n_parts: int, rng: np.random.Generator) -> Iterator[tuple[slice, slice]]:
    """One of K parts of each data set: consecutive ones, equal up to one sample.

    Where sizes differ, each part of one data set is paired with any other part with equal
    probability, as two different parts of one data set are.
    """
    ends = [round(k * n_samples / n_parts) for k in range(n_parts + 1)]
    parts = [slice(start, end) for start, end in pairwise(ends)]
    turn = int(rng.integers(1, n_parts)) if n_samples % n_parts else 0
    return zip(parts, parts[turn:] + parts[:turn], strict=True)


def _sample_choices(
    plan: SimulationPlan, scheme: Scheme, data: DataPair, n_sets: int, rng: np.random.Generator
) -> list[tuple[SampleChoice, SampleChoice]]:
    """Samples of both data sets for each group of members."""
    count = max(2, n_sets)
    if not scheme.any_size:  # the shares depend on K
        count = min(count, int(n_members(scheme)))
    first, second = (
        [
            SampleChoice.weighted(counts, plan.device, x)
            for counts in draw_counts(scheme, plan.n_samples, count, rng)
        ]
        for x in data.inputs
    )
    return list(zip(first, second, strict=True))


def n_common(n_features: int, size: float, rng: np.random.Generator) -> int:
    """The number of features that two choices of P from a bank of B have in common.

    Its mean is P²/B. Where B is no whole number, the bank is one of the next smaller and larger
    sizes at random, so that the mean is the same.

    >>> n_common(5, 5, np.random.default_rng(0)), n_common(5, np.inf, np.random.default_rng(0))
    (5, 0)
    """
    if size < _LARGEST_DRAW:
        whole = math.floor(size)
        if whole < size:  # mean of 1/B: whole with probability whole (whole + 1 - B)/B
            whole += int(rng.random() >= whole * (whole + 1 - size) / size)
        return int(rng.hypergeometric(n_features, whole - n_features, n_features))
    return int(rng.binomial(n_features, n_features / size))


# --- ridge regression ----------------------------------------------------------------------------

RidgeLearner: TypeAlias = Callable[[int], Array]
"""All fits to one set of features and samples: the response W, (N, R), of the k-th fit."""


class FeatureSums(NamedTuple):
    """Sums over features, which grow with P: Φ Φᵀ and Φ O."""

    gram: Array  # (N, N)
    right: Array  # (N, R)


class FeatureFits:
    """Ridge regression on the first features of every set, or on some of those of banks."""

    def __init__(
        self, plan: SimulationPlan, sets: Sequence[FeatureSet], *, banks: bool = False
    ) -> None:
        self.plan, self.sets, self.n_sets, self.banks = plan, sets, len(sets), banks
        self.n_shared = int(sets[0].outputs.shape[1])
        self.w = self.n_features = self.n_summed = 0
        self.sums: dict[tuple[int, int], FeatureSums] = {}  # by set and data set

    def of_banks(self, pools: Sequence[FeatureSet]) -> "FeatureFits":
        """The same with features from banks."""
        return FeatureFits(self.plan, pools, banks=True)

    def grow(self, w: int) -> None:
        """Go on to the w-th P, in increasing order; sums over features are needed where P > N."""
        self.w, self.n_features = w, int(self.plan.n_features[w])
        if self.banks or self.n_features <= self.plan.n_samples:
            return
        new = slice(self.n_summed, self.n_features)
        for j, one in enumerate(self.sets):
            for i in (0, 1):
                phi = one.train[i][:, new]
                gram, right = phi @ phi.T, phi @ one.outputs[new, :]
                if before := self.sums.get((j, i)):
                    gram, right = before.gram + gram, before.right + right
                self.sums[j, i] = FeatureSums(gram, right)
        self.n_summed = self.n_features

    def learner(self, key: LearnerKey, i: int) -> RidgeLearner:
        """All fits of a learner on data set i."""
        one, samples, sums = self.sets[key.features], key.samples[i], None
        if before := self.sums.get((key.features, i)):
            sums = FeatureSums(samples.of_gram(before.gram), samples.of_rows(before.right))
        part = slice(key.start, key.start + self.n_features)
        return feature_learner(
            samples.of_rows(one.train[i][:, part]),
            one.outputs[part],
            one.own,
            self.plan.fits(samples.n_drawn, self.w),
            sums=sums,
            samples=samples,
        )


class KernelFits:
    """Ridge regression with the exact kernel of infinitely many features.

    f(x) = k(x)ᵀ (K + δ)⁻¹ y, where K = E_θ φ(x_μ) φ(x_ν) is the overlap of `kernels` with the roles
    of inputs and features exchanged, and δ = λ N/D.
    """

    n_sets = 1

    def __init__(self, plan: SimulationPlan, data: DataPair, test: Array) -> None:
        self.plan, dim, count = plan, plan.dim, test.shape[0]
        self.n_shared, self.test = dim + count, test
        sigma = plan.problem.moments
        known, xp = closed_form(sigma), array_namespace(test)
        assert known is not None  # checked by the plan
        self.grams, self.outputs = [], []
        for x in data.inputs:
            scaled, there = x / math.sqrt(dim), test / math.sqrt(dim)
            self.grams.append(centred_overlap(known, scaled, scaled, plan.mean))
            sampled = centred_overlap(known, scaled, there, plan.mean)
            linear = x * (sigma.linear**2 / dim)
            rest = xp.concat([sampled, linear @ test.T], axis=1) / math.sqrt(count)
            self.outputs.append(xp.concat([linear, rest], axis=1))

    def grow(self, w: int) -> None:
        """There is one P, which is infinite."""

    def learner(self, key: LearnerKey, i: int) -> RidgeLearner:
        """All fits of a learner on data set i, whatever its features."""
        samples = key.samples[i]
        return gram_learner(
            samples.of_gram(self.grams[i]),
            samples.of_rows(self.outputs[i]),
            self.plan.fits(samples.n_drawn, 0),
            samples=samples,
        )


def feature_learner(
    features: Array,
    outputs: Array,
    own: float,
    fits: Sequence[RidgeFit],
    *,
    sums: FeatureSums | None = None,
    samples: SampleChoice | None = None,
) -> RidgeLearner:
    """All fits to features (n, P) of a member's samples.

    `own` adds an output of that size for each feature, in columns after those of `outputs`.
    """
    xp = array_namespace(features)
    n, p = features.shape
    if p > n:
        gram, right = sums or (features @ features.T, features @ outputs)
        extra, lift = features, None
    else:
        gram, right = features.T @ features, outputs
        extra, lift = xp.eye(p, dtype=features.dtype, device=features.device), features
    if own:
        right = xp.concat([right, own * extra], axis=1)
    return gram_learner(gram, right, fits, lift=lift, samples=samples)


def gram_learner(
    gram: Array,
    right: Array,
    fits: Sequence[RidgeFit],
    *,
    lift: Array | None = None,
    samples: SampleChoice | None = None,
) -> RidgeLearner:
    """All fits (gram + alpha)⁻¹ right, from one decomposition.

    `gram` is of the smaller side, m × m; `lift` is Φ where that is the side of the features.
    """

    def to_labels(inner: Array) -> Array:
        full = inner if lift is None else lift @ inner
        return full if samples is None else samples.to_all_labels(full)

    if len(fits) == 1 and math.isinf(fits[0].time):
        solution = cholesky_solution(gram, right, fits[0].alpha, least=_SINGULAR)
        if solution is not None:
            return lambda _: to_labels(solution)
    modes = Modes.of_rows(array_namespace(gram).asarray(gram, copy=True), right)
    return lambda k: to_labels((modes.left * gains(modes.values, fits[k])) @ modes.projections)


def gains(values: Array, fit: RidgeFit) -> Array:
    """(1 - exp(-t x/D))/x with x = e + alpha, for positive eigenvalues e of a Gram matrix."""
    total = values + fit.alpha
    if math.isinf(fit.time):
        return 1 / total
    return -array_namespace(values).expm1(-fit.time * total) / total


# --- other convex losses -------------------------------------------------------------------------


class LabelFit(NamedTuple):
    """A fit to the labels of one draw of their noise."""

    outputs: FloatArray  # (1, R), and a column for each feature of Gaussian covariates
    scores: FloatArray  # (T,) at points held out
    intercept: float


ConvexLearner: TypeAlias = Callable[[int], list[LabelFit]]
"""All fits to one set of features and samples: for the k-th ridge, one for each draw of noise."""


class ConvexFits:
    """Fits with a convex loss to drawn labels, on the first features of every set, or of banks."""

    def __init__(
        self,
        plan: SimulationPlan,
        sets: Sequence[FeatureSet],
        labels: Sequence[Sequence[FloatArray]],
        held: FloatArray,
    ) -> None:
        self.plan, self.sets, self.n_sets = plan, sets, len(sets)
        self.labels = labels  # of each data set, for each draw of their noise
        self.held = held  # (T,) of the teacher at points held out
        self.n_shared = int(sets[0].outputs.shape[1])
        self.w = 0

    def of_banks(self, pools: Sequence[FeatureSet]) -> "ConvexFits":
        """The same with features from banks."""
        return ConvexFits(self.plan, pools, self.labels, self.held)

    def grow(self, w: int) -> None:
        """Go on to the w-th P."""
        self.w = w

    def learner(self, key: LearnerKey, i: int) -> ConvexLearner:
        """All fits of a learner on data set i."""
        plan, one, rows = self.plan, self.sets[key.features], key.samples[i].rows
        P = int(plan.n_features[self.w])
        part = slice(key.start, key.start + P)
        phi, outputs, held = one.train[i][rows, part], one.outputs[part], one.train[2][:, part]
        model, n, own = LinearModel(phi), len(phi), one.own

        def fit(y: FloatArray, ridge: float) -> LabelFit:
            try:
                found = model.fit(y, plan.problem.loss_function, n * P * ridge / plan.dim)
            except DivergenceError as error:
                raise DivergenceError(f"at P = {P} and N = {n}, {error}") from None
            a = found.weights
            assert a is not None
            at_test = a @ outputs
            row = np.concatenate([at_test, own * a]) if own else at_test
            return LabelFit(row[None, :], held @ a + found.intercept, found.intercept)

        fits = [[fit(y[rows], ridge) for ridge in plan.ridges[self.w]] for y in self.labels[i]]
        return lambda k: [of_noise[k] for of_noise in fits]
