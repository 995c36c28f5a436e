r"""The table of mean products of two learners' outputs, by what the two have in common.

With h and h' the outputs of two learners at a Gaussian test point x, and ν those of the teacher,
the terms of a draw are E ν h, the *overlap*, and E h h' averaged over all pairs of a kind,

    same       a learner with itself             features  with itself on the other data set
    twin       with its twin                     apart     with one of another group on other data
    other      with one of another group

for groups and twins as in `_learners`; a learner without a twin has those with other features on
its samples. Each step from one kind to the next, which shares less, adds the variance by one more
cause (`terms_by_cause`). Sums over pairs of different groups are |Σ_j h_j|² - Σ_j |h_j|².

**Ridge regression** maps labels to outputs by a response W. Averages over label noise and over the
teacher's direction are traces: with y = Xβ + ε,

    Ψ₁ = tr(Xᵀ W)/D on the linear outputs,    Ψ₂ = tr(Xᵀ W W'ᵀ X')/D,    Ψ₃ = tr(W W'ᵀ),

and with C the covariance of a quadratic teacher's labels (`_draws`), tr(W W'ᵀ C): a row of products
for labels of each origin, the linear teacher, the noise and the quadratic teacher.

**Other convex losses** have outputs for drawn labels, h₁ and h₂ for two draws of the noise on the
same inputs. Products of their mean s and of half their difference δ are those of two learners with
the same noise, (s, s') + (δ, δ'), and with other noise, (s, s') - (δ, δ'). The latter are the row
of the teacher, and 2 (δ, δ'), which the same noise adds, is that of the noise. By rotation
invariance β = F e₁.

**Rates** of classes depend on directions only: they are computed from learners scaled to outputs of
power one (`directions`), and several learners are averaged with equal weights. In the limit D → ∞
all norms are equal, so that scaling changes nothing. At finite D norms differ, near N = N⋆ at a
small ridge by large factors, and the plain products are those of the largest learners.

**Majority votes** are counted at points held out. Where w of the J learners with the same data are
wrong, a majority of K of them is wrong with the probability of a hypergeometric number: the mean
over all choices of K is unbiased for K ≤ J, and the numbers of points with each w are enough.

**The kernel** of infinitely many features has no initialization: a learner with other features is
the same learner.
"""

from __future__ import annotations  # help() then shows the alias FloatArray

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace
from scipy.special import ndtr

from doubletrouble.ensembles import CrossTerms, MemberTerms, Scheme
from doubletrouble.parameters import Array, FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.simulation._draws import PAIRS, DataPair
from doubletrouble.simulation._learners import LabelFit
from doubletrouble.simulation._plan import is_division

# --- the table -----------------------------------------------------------------------------------


class Products(NamedTuple):
    """Mean products of two learners' outputs, for labels of one origin and unit power.

    Arrays have an axis for the draws, and further ones for points.
    """

    overlap: FloatArray  # of one learner with the target at test points
    same: FloatArray  # of a learner with itself
    twin: FloatArray  # of two that share the choice of samples, or the bank
    other: FloatArray  # of two that share the data set
    features: FloatArray  # of two that share their features
    apart: FloatArray  # of two that share nothing


def label_origins(problem: Problem) -> tuple[str, ...]:
    """The origins of labels in the terms of a problem, in their order.

    >>> label_origins(Problem(nonlinear_signal=1.0))
    ('linear', 'noise', 'quadratic')
    """
    if problem.task == "classification":
        return ("linear", "noise", "directions", "direction_noise")
    return ("linear", "noise", *(("quadratic",) if np.any(problem.nonlinear_signal) else ()))


_N_KINDS = len(Products._fields)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedTerms:
    """Every term of a simulation, as one table of products for labels of each origin.

    The last rows, of losses other than the squared loss, are counted at points held out.
    """

    origins: tuple[str, ...]
    values: FloatArray  # (terms, draws, ...)

    def of(self, origin: str) -> Products:
        """Return the products for labels of one origin.

        Parameters
        ----------
        origin : "linear" or "noise" or "quadratic" or "directions" or "direction_noise"
            The linear teacher, the label noise, the quadratic teacher; or the former two for
            outputs scaled to power one, of classes.

        Returns
        -------
        Products
            The arrays of the overlap and of every mean product, with an axis for the draws.
        """
        start = _N_KINDS * self.origins.index(origin)
        return Products(*self.values[start : start + _N_KINDS])

    @property
    def linear(self) -> Products:
        """The products for labels of the teacher; without the quadratic one."""
        return self.of("linear")

    @property
    def noise(self) -> Products:
        """What label noise adds to them."""
        return self.of("noise")

    @property
    def quadratic(self) -> Products | None:
        """The products for labels of the quadratic teacher, where there is one."""
        return self.of("quadratic") if "quadratic" in self.origins else None

    @property
    def counts(self) -> FloatArray:
        """The rows counted at points held out: see `counted`."""
        return self.values[_N_KINDS * len(self.origins) :]

    def named(self) -> dict[str, FloatArray]:
        """Return every product by its origin and kind, as "linear_same".

        Returns
        -------
        dict of numpy.ndarray
            The arrays, with an axis for the draws.
        """
        return {
            f"{origin}_{kind}": values
            for origin in self.origins
            for kind, values in self.of(origin)._asdict().items()
            if not (origin.endswith("noise") and kind in _WITHOUT_NOISE)
        }

    @property
    def psi(self) -> dict[str, FloatArray]:
        """The Ψ terms by their names in `PsiTerms`."""
        linear, noise = self.linear, self.noise
        return {
            "psi1": linear.overlap,
            "psi2_vanilla": linear.same,
            "psi3_vanilla": noise.same,
            "psi2_ensemble": linear.other,
            "psi3_ensemble": noise.other,
            "psi2_divide": linear.apart,
            "psi2_features": linear.features,
        }


_WITHOUT_NOISE = ("overlap", "features", "apart")  # of test points, and of other data


def terms_by_cause(scheme: Scheme, t: Products, noise: Products) -> MemberTerms:
    """The terms of two members, and of one beyond them, for one teacher, draw by draw.

    Each step from one kind of pair to the next, which shares less, is one more cause
    ([dascoli2020] Sec. 5). The noise is the same for both teachers.
    """
    shared = CrossTerms(bias=1 - 2 * t.overlap + t.apart)
    own = CrossTerms(
        initialization=t.features - t.apart,
        interaction=t.same - t.twin - t.features + t.apart,
        noise_interaction=noise.same - noise.twin,
    )
    if is_division(scheme):  # two members have different parts of the data
        own.sampling, own.noise_sampling = t.twin - t.apart, noise.twin
        return MemberTerms(shared=shared, own=own)
    shared.sampling, shared.noise_sampling = t.other - t.apart, noise.other
    if scheme.shares_features:  # twins are two members: they have the bank in common
        shared.interaction, shared.noise_interaction = t.twin - t.other, noise.twin - noise.other
    else:  # twins share the choice of samples, two members do not
        own.sampling, own.noise_sampling = t.twin - t.other, noise.twin - noise.other
    return MemberTerms(shared=shared, own=own)


# --- the product of two maps ---------------------------------------------------------------------


class OutputLayout(NamedTuple):
    """The columns of a response, or of another map to outputs.

    The outputs stand for the prediction at a Gaussian test point x: the linear part, one output for
    each direction of input space; and the remainder, at sampled test points or in a basis of its
    known covariance. These `n_shared` columns mean the same for all learners. For the kernel as
    many columns as test points follow, the linear student there: its products are known exactly,
    and only the difference from them is sampled. For Gaussian covariates a column for each feature
    of the learner follows, uncorrelated with those of other features.
    """

    dim: int
    n_shared: int
    kernel_test: Array | None = None  # (T, D) test points, for the kernel

    @property
    def n_common(self) -> int:
        """The number of columns that are common to all learners."""
        return self.n_shared + (0 if self.kernel_test is None else int(self.kernel_test.shape[0]))

    def products(
        self,
        left: Array,
        right: Array,
        *,
        metric: Array | None = None,
        n_features: int | None = None,
    ) -> tuple[float, float]:
        """The mean product over test points of two maps by common columns, and by own ones.

        `metric` is the covariance of the labels, if not unit. Own columns are those of features in
        common: all of them or, of the number given, the last of the left and first of the right.
        """
        right = right if metric is None else metric @ right
        first, last, width = self.n_shared, self.n_shared, left.shape[1]
        if self.kernel_test is not None:
            last += int(self.kernel_test.shape[0])
        common = dot(left[:, :last], right[:, :last])
        if last > first:  # all columns at once need no copy; those of the control count as -1
            common -= 2 * dot(left[:, first:last], right[:, first:last])
        if width == last:
            return common, 0.0
        count = width - last if n_features is None else n_features
        return common, dot(left[:, width - count :], right[:, last : last + count])

    def overlap(self, maps: Array) -> float:
        """The overlap of a map of the linear teacher, (D, ·), with that teacher."""
        xp = array_namespace(maps)
        trace = float(xp.linalg.trace(maps[:, : self.dim]))
        if self.kernel_test is None:  # the remainder of features has no linear part
            return trace
        return trace + self.remainder_overlap(self.kernel_test.T, maps)

    def remainder_overlap(self, to_test: Array, maps: Array) -> float:
        """The overlap of the remainder with a target of covariance (·, T) with test points."""
        rest = maps[:, self.dim : self.n_shared]
        if self.kernel_test is not None:
            rest = rest - maps[:, self.n_shared : self.n_common]
        return dot(to_test, rest) / math.sqrt(to_test.shape[1])


def dot(left: Array, right: Array) -> float:
    """The sum of the products of all entries."""
    return float(left.reshape(-1) @ right.reshape(-1))


# --- sums over groups ----------------------------------------------------------------------------

Metric = Mapping[tuple[int, int], Array]
"""The covariances of the labels of two data sets, by their indices."""


class ProductSums:
    """Sums over groups of the products of maps, for labels of one origin."""

    def __init__(
        self, layout: OutputLayout, *, apart: bool = True, metric: Metric | None = None
    ) -> None:
        self.layout, self.metric = layout, metric or {}
        self.pairs = PAIRS if apart else PAIRS[:2]
        self.n_groups = 0
        self.overlap = self.twin = 0.0
        self.same = [0.0] * len(self.pairs)  # of a learner with itself
        self.common = [0.0] * len(self.pairs)  # the same by common columns alone
        self.sums: Sequence[Sequence[Array]] = []  # of common columns, by twin and data set

    def add(
        self, maps: Sequence[Sequence[Array]], n_common: int, overlaps: Sequence[float] = ()
    ) -> None:
        """Add a group: its maps for each twin and data set, and the features common to twins."""
        products, metric, last = self.layout.products, self.metric, self.layout.n_common
        for both in maps:
            for p, (i, k) in enumerate(self.pairs):
                common, own = products(both[i], both[k], metric=metric.get((i, k)))
                self.common[p] += common / len(maps)
                self.same[p] += (common + own) / len(maps)
        if len(maps) > 1:
            for i, (left, right) in enumerate(zip(*maps, strict=True)):
                at = metric.get((i, i))
                self.twin += sum(products(left, right, metric=at, n_features=n_common)) / 2
        if maps[0][0].shape[1] > last:
            maps = [[one[:, :last] for one in both] for both in maps]
        if self.n_groups:
            maps = [
                [a + b for a, b in zip(before, new, strict=True)]
                for before, new in zip(self.sums, maps, strict=True)
            ]
        self.sums = maps
        if overlaps:
            self.overlap += sum(overlaps) / len(overlaps)
        self.n_groups += 1

    def means(self) -> FloatArray:
        """The means, in the order of `Products`."""
        J, kernel = self.n_groups, self.layout.kernel_test is not None
        others = []
        for (i, k), common in zip(self.pairs, self.common, strict=True):
            at = self.metric.get((i, k))
            total = 0.0
            for sums in self.sums:
                total += self.layout.products(sums[i], sums[k], metric=at)[0] / len(self.sums)
            if kernel and (J == 1 or i != k):  # no features are shared: all pairs count
                others.append(total / J**2)
            else:
                others.append((total - common) / (J * (J - 1)))
        same, other = sum(self.same[:2]) / 2 / J, sum(others[:2]) / 2
        alone = same if kernel else other  # with the kernel, other features are the same learner
        twin = self.twin / J if len(self.sums) > 1 else alone
        features, apart = (self.same[2] / J, others[2]) if len(self.pairs) > 2 else (0.0, 0.0)
        return np.array([self.overlap / J, same, twin, other, features, apart])


# --- the terms of one draw -----------------------------------------------------------------------

Responses = Sequence[Sequence[Array]]
"""The responses of the learners of a group, for each twin and data set."""


def ridge_terms(
    groups: Iterable[tuple[Responses, int]], data: DataPair, layout: OutputLayout
) -> FloatArray:
    """Every term of one fit of all groups, by their responses and the features common to twins."""
    teacher = data.quadratic
    linear, noise = ProductSums(layout), ProductSums(layout, apart=False)
    quadratic = ProductSums(layout, metric=teacher.blocks) if teacher else None
    for responses, n_common in groups:
        projected = [
            [x.T @ w for x, w in zip(data.inputs, both, strict=True)] for both in responses
        ]
        overlaps = [layout.overlap(one) for both in projected for one in both]
        linear.add(projected, n_common, overlaps)
        noise.add(responses, n_common)
        if quadratic is None or teacher is None:
            continue
        overlaps = [
            layout.remainder_overlap(to_test, w)
            for both in responses
            for to_test, w in zip(teacher.to_test or (), both, strict=bool(teacher.to_test))
        ]
        quadratic.add(responses, n_common, overlaps)
    rows = [linear.means() / data.inputs[0].shape[1], noise.means()]
    return np.concatenate(rows if quadratic is None else [*rows, quadratic.means()])


LabelFits = Sequence[Sequence[Sequence[LabelFit]]]
"""The fits of the learners of a group, for each twin, data set and draw of the noise."""


def convex_terms(
    groups: Iterable[tuple[LabelFits, int]],
    problem: Problem,
    layout: OutputLayout,
    held: FloatArray,
) -> FloatArray:
    """Every term of one ridge, for all groups of fits; then what is counted at points held out.

    `held` are the teacher's values there.
    """
    fits, n_common = zip(*groups, strict=True)
    outputs = np.array(  # (groups, twins, data sets, draws of the noise, 1, outputs)
        [[[[fit.outputs for fit in own] for own in both] for both in group] for group in fits]
    )
    rows = []
    for scaled in (False, True) if problem.task == "classification" else (False,):
        if scaled:
            power = np.sum(outputs**2, axis=-1, keepdims=True)
            outputs = outputs / np.sqrt(np.where(power > 0, power, 1.0))
        first, second = outputs[:, :, :, 0], outputs[:, :, :, -1]
        means, halves = (first + second) / 2, (first - second) / 2
        overlaps = float(np.asarray(problem.signal)) * means[..., 0, 0]
        clean, noise = ProductSums(layout), ProductSums(layout, apart=False)
        for j, count in enumerate(n_common):
            clean.add(list(means[j]), count, overlaps[j].ravel().tolist())
            noise.add(list(halves[j]), count)
        excess = noise.means()
        rows += [clean.means() - excess, 2 * excess]
    by_labels = [
        [both[i][n] for group in fits for both in group]
        for i in (0, 1)
        for n in range(outputs.shape[3])
    ]
    return np.concatenate([*rows, counted(by_labels, problem, held)])


# --- counted at points held out ------------------------------------------------------------------


def counted(fits: Sequence[Sequence[LabelFit]], problem: Problem, held: FloatArray) -> FloatArray:
    """The mean intercept; errors at points held out; for classes, shares of these by wrong votes.

    `fits` are those to the same labels. The errors, without label noise, are those of one learner,
    and of the mean of all with the same labels. The shares are those of points at which 0, 1, … J
    of the learners with the same labels are wrong: first against the clean sign, then against
    labels with noise, before flips.
    """
    classes = problem.task == "classification"
    scores = np.array([[fit.scores for fit in same] for same in fits])  # (labels, J, T)

    def errors(scores: FloatArray) -> float:
        if classes:
            return float(np.mean((scores > 0) != (held > 0)))
        return float(np.mean((scores - held) ** 2))

    intercept = float(np.mean([fit.intercept for same in fits for fit in same]))
    rows = [np.array([intercept, errors(scores), errors(scores.mean(axis=1))])]
    if not classes:
        return rows[0]
    J, noise = scores.shape[1], float(np.asarray(problem.noise_sd))
    # the probability that the label with noise has the sign of the teacher
    sure = ndtr(np.abs(held) / noise) if noise else np.ones_like(held)
    wrong = np.sum((scores > 0) != (held > 0), axis=1)  # (labels, T)
    clean, right, other = (
        np.bincount(wrong.ravel(), np.broadcast_to(w, wrong.shape).ravel(), J + 1) / wrong.size
        for w in (np.ones_like(held), sure, 1 - sure)
    )
    return np.concatenate([*rows, clean, right + other[::-1]])


def majority(wrong_votes: FloatArray, n_members: Numeric) -> FloatArray:
    """The rate at which a majority of K of J votes is wrong; ties count half.

    `wrong_votes` are the shares of points with 0, 1, … J wrong votes, the first axis. Numbers of
    members broadcast with the axes after it.

    >>> majority(np.array([0.5, 0.3, 0.1, 0.1]), 3).round(4)
    np.float64(0.2)
    """
    from scipy.stats import hypergeom

    shares = np.moveaxis(wrong_votes, 0, -1)
    J = shares.shape[-1] - 1
    K, wrong = np.asarray(n_members, dtype=np.float64)[..., None], np.arange(J + 1)
    half = K / 2
    chosen = hypergeom(J, wrong, K)
    above, below = chosen.sf(np.floor(half)), chosen.cdf(np.ceil(half) - 1)
    return np.asarray(np.sum(shares * 0.5 * (1 + above - below), axis=-1))
