r"""The members of every scheme in one draw, fitted for one P after the other.

Features are nested: the first P of the largest set are P random features, as a draw of their own
would be. Points of one run then share their draws, each unbiased with its own standard error. Sums
over features grow from one P to the next.

- *Divided data* are consecutive blocks of both data sets.
- *Members that draw samples*: `Scheme.draw_samples` returns how often each of the N samples is in
  each member. Choice j is given to the features j and j - 1, which are twins (`_terms`). Of all
  first twins, no two share a choice or features, nor do any two second ones, also where J = 2.
- *Members that share features* have P of the B features of a bank, without replacement. For any
  such scheme B = P²/k, where k is the number of features that two members have in common. A bank
  is not drawn as a whole: its features are exchangeable, so that two choices from it are P features
  each, m of them in common, with m from the hypergeometric distribution.

**Random numbers.** All schemes of a draw start from copies of one generator. The draws of a scheme
do not depend on the others, and those of one class are correlated: smaller subsamples are parts of
larger ones, which reduces the standard errors of differences between schemes.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.ensembles import Divide, Scheme
from doubletrouble.kernels import closed_form
from doubletrouble.parameters import Array
from doubletrouble.simulation._draws import (
    DataPair,
    FeatureSet,
    centred_overlap,
    draw_data,
    draw_features,
)
from doubletrouble.simulation._ensembles import draw_counts, n_members
from doubletrouble.simulation._fits import (
    FeatureSums,
    RidgeLearner,
    SampleChoice,
    feature_learner,
    feature_sums,
    gram_learner,
)
from doubletrouble.simulation._plan import SimulationPlan
from doubletrouble.simulation._terms import LearnerGroup, OutputLayout, SimulatedTerms, draw_terms

_LARGEST_DRAW = 10**9  # of NumPy's hypergeometric numbers


Blocks: TypeAlias = Iterator[tuple[DataPair, Iterator[LearnerGroup]]]
"""Data sets, or parts of them, and the learners on each."""


class MemberFits(NamedTuple):
    """The members of one scheme."""

    blocks: Callable[[int], Blocks]  # of the w-th P
    layout: OutputLayout
    drawn: bool  # whether they draw from a common set


def draw(plan: SimulationPlan, rng: np.random.Generator) -> dict[Scheme, SimulatedTerms]:
    """Every term of one draw, for every fit; divided data are `Divide(K)`, the whole `Divide(1)`.

    The draws of one scheme do not depend on the others.
    """
    data, test = draw_data(plan, rng)
    order = [int(w) for w in np.argsort(plan.n_features, kind="stable")]
    source: FeatureFits | KernelFits
    if plan.model == "kernel":
        assert test is not None  # the kernel has no exact average
        source = KernelFits(plan, data, test)
    else:
        sets = draw_features(plan, data.inputs, test, int(max(plan.n_features)), rng)
        source = FeatureFits(plan, sets)
    (common,) = rng.spawn(1)
    members: dict[Scheme, MemberFits] = {}
    for scheme in plan.schemes:
        own = deepcopy(common)
        if scheme.shares_features:
            members[scheme] = bank_members(plan, scheme, data, test, own)
        else:
            choices = sample_choices(plan, scheme, data, source.n_sets, own)
            members[scheme] = sampled_members(data, source, choices)
    for parts in plan.divisions:
        own = deepcopy(rng) if plan.n_samples % parts else rng  # equal parts draw nothing
        members[Divide(parts)] = divided_members(plan, parts, data, source, own)
    rows: dict[Scheme, dict[int, list[SimulatedTerms]]] = {scheme: {} for scheme in members}
    for w in order:
        source.grow(w)
        for scheme, one in members.items():
            rows[scheme][w] = _fit_terms(one, w, len(plan.fits(1, w)))
    return {
        scheme: SimulatedTerms.combined(np.array, [term for w in sorted(row) for term in row[w]])
        for scheme, row in rows.items()
    }


def _fit_terms(members: MemberFits, w: int, n_fits: int) -> list[SimulatedTerms]:
    """The terms of every fit with the w-th P, means over all blocks."""
    tables = []
    for data, groups in members.blocks(w):
        # several fits share factorizations; for a single one, learners are made one by one
        learners = groups if n_fits == 1 else list(groups)
        terms = partial(draw_terms, learners, data, members.layout, drawn=members.drawn)
        tables.append([terms(k) for k in range(n_fits)])
    if len(tables) == 1:
        return tables[0]
    return [
        SimulatedTerms.combined(lambda values: np.mean(values, axis=0), blocks)
        for blocks in zip(*tables, strict=True)
    ]


# --- fits to features, or with their kernel ------------------------------------------------------


class FeatureFits:
    """Learners with the first features of every set, in increasing numbers."""

    def __init__(self, plan: SimulationPlan, sets: Sequence[FeatureSet]) -> None:
        self.plan, self.sets, self.n_sets = plan, sets, len(sets)
        self.layout = OutputLayout(plan.dim, sets[0].outputs.shape[1])
        self.w = self.n_features = self.n_summed = 0
        self.sums: list[list[FeatureSums | None]] = [[None, None] for _ in sets]

    def grow(self, w: int) -> None:
        """Go on to the w-th P; sums over features are needed where P > N."""
        self.w, self.n_features = w, int(self.plan.n_features[w])
        if self.n_features > self.plan.n_samples:
            new = slice(self.n_summed, self.n_features)
            self.sums = [
                [
                    feature_sums(phi[:, new], one.outputs[new, :], before)
                    for phi, before in zip(one.train, sums, strict=True)
                ]
                for one, sums in zip(self.sets, self.sums, strict=True)
            ]
            self.n_summed = self.n_features

    def learner(self, j: int, i: int, samples: SampleChoice) -> RidgeLearner:
        """The learner with the j-th set of features on samples of data set i."""
        one, sums = self.sets[j], self.sums[j][i]
        if sums is not None:
            sums = FeatureSums(samples.of_gram(sums.gram), samples.of_rows(sums.right))
        return feature_learner(
            samples.of_rows(one.train[i][:, : self.n_features]),
            one.outputs[: self.n_features],
            one.own,
            self.plan.fits(samples.n_drawn, self.w),
            sums=sums,
            samples=samples,
        )


class KernelFits:
    """Learners with the exact kernel of infinitely many features.

    f(x) = k(x)ᵀ (K + δ)⁻¹ y, where K = E_θ φ(x_μ) φ(x_ν) is the overlap of `kernels` with the roles
    of inputs and features exchanged, and δ = λ N/D.
    """

    n_sets = 1

    def __init__(self, plan: SimulationPlan, data: DataPair, test: Array) -> None:
        self.plan, dim, count = plan, plan.dim, test.shape[0]
        self.layout = OutputLayout(dim, dim + count, test)
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

    def learner(self, j: int, i: int, samples: SampleChoice) -> RidgeLearner:
        """The learner on samples of data set i, whatever the set of features."""
        return gram_learner(
            samples.of_gram(self.grams[i]),
            samples.of_rows(self.outputs[i]),
            self.plan.fits(samples.n_drawn, 0),
            samples=samples,
        )


# --- members -------------------------------------------------------------------------------------


def divided_members(
    plan: SimulationPlan,
    n_parts: int,
    data: DataPair,
    source: FeatureFits | KernelFits,
    rng: np.random.Generator,
) -> MemberFits:
    """Members with one of K parts of the data each: consecutive ones, equal up to one sample.

    Where sizes differ, each part of one data set is paired with any other part with equal
    probability, as two different parts of one data set are.
    """
    ends = [round(k * plan.n_samples / n_parts) for k in range(n_parts + 1)]
    parts = [slice(start, end) for start, end in pairwise(ends)]

    def group(j: int, first: SampleChoice, second: SampleChoice) -> LearnerGroup:
        return LearnerGroup(((source.learner(j, 0, first), source.learner(j, 1, second)),))

    def blocks(w: int) -> Blocks:
        turn = int(rng.integers(1, n_parts)) if plan.n_samples % n_parts else 0
        for rows in zip(parts, parts[turn:] + parts[:turn], strict=True):
            first, second = map(SampleChoice.block, rows)
            yield data.rows(rows), (group(j, first, second) for j in range(source.n_sets))

    return MemberFits(blocks, source.layout, drawn=False)


def sample_choices(
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


def sampled_members(
    data: DataPair,
    source: FeatureFits | KernelFits,
    choices: Sequence[tuple[SampleChoice, SampleChoice]],
) -> MemberFits:
    """Members with samples of their own."""

    def group(j: int) -> LearnerGroup:
        first, second = choices[j]
        sets = (j, j - 1) if source.n_sets > 1 else (0,)
        return LearnerGroup(
            tuple((source.learner(k, 0, first), source.learner(k, 1, second)) for k in sets)
        )

    def blocks(w: int) -> Blocks:
        yield data, map(group, range(len(choices)))

    return MemberFits(blocks, source.layout, drawn=True)


def bank_members(
    plan: SimulationPlan,
    scheme: Scheme,
    data: DataPair,
    test: Array | None,
    rng: np.random.Generator,
) -> MemberFits:
    """Members with all of the samples, and features of their own from a bank."""
    pools = draw_features(plan, data.inputs, test, 2 * int(max(plan.n_features)), rng)

    def blocks(w: int) -> Blocks:
        P = int(plan.n_features[w])
        fits = plan.fits(plan.n_samples, w)

        def learner(pool: FeatureSet, i: int, start: int) -> RidgeLearner:
            part = slice(start, start + P)
            return feature_learner(pool.train[i][:, part], pool.outputs[part], pool.own, fits)

        def group(pool: FeatureSet) -> LearnerGroup:
            common = n_common(P, plan.banks[scheme][w], rng)
            starts = (0, P - common)
            twins = tuple((learner(pool, 0, start), learner(pool, 1, start)) for start in starts)
            return LearnerGroup(twins, common)

        yield data, map(group, pools)

    return MemberFits(blocks, OutputLayout(plan.dim, pools[0].outputs.shape[1]), drawn=True)


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
