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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from doubletrouble.ensembles import CrossTerms, MemberTerms, Scheme
from doubletrouble.parameters import Array, FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.simulation._draws import DataPair
from doubletrouble.simulation._learners import LabelFit, OutputLayout
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
        origin : {"linear", "noise", "quadratic", "directions", "direction_noise"}
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


# --- sums over groups ----------------------------------------------------------------------------

Metric = Mapping[tuple[int, int], Array]
"""The covariances of the labels of two data sets, by their indices."""


class ProductSums:
    """Sums over groups of the products of maps, for labels of one origin."""

    def __init__(
        self, layout: OutputLayout, *, apart: bool = True, metric: Metric | None = None
    ) -> None:
        self.layout, self.metric = layout, metric
        self.pairs = ((0, 0), (1, 1), (0, 1)) if apart else ((0, 0), (1, 1))  # of data sets
        self.n_groups = 0
        self.overlap = self.twin = 0.0
        self.common = [0.0] * len(self.pairs)  # of a learner with itself, by common columns
        self.own = [0.0] * len(self.pairs)  # by its own columns
        self.sums: Sequence[
            Sequence[Array]
        ] = []  # of the common columns, for each twin and data set

    def add(
        self, maps: Sequence[Sequence[Array]], n_common: int, overlaps: Sequence[float] = ()
    ) -> None:
        """Add a group: its maps for each twin and data set, and the features common to twins."""
        layout, last, twins = self.layout, self.layout.n_common, len(maps)
        owned = maps[0][0].shape[1] > last
        for both in maps:
            for p, (i, k) in enumerate(self.pairs):
                right = self._weighted(i, k, both[k])
                self.common[p] += layout.product(both[i], right) / twins
                if owned:
                    self.own[p] += layout.own_product(both[i], right) / twins
        if twins > 1:
            for i, (left, other) in enumerate(zip(*maps, strict=True)):
                right = self._weighted(i, i, other)
                self.twin += layout.product(left, right) / 2
                if owned:
                    self.twin += layout.own_product(left, right, n_common) / 2
        shared = [[one[:, :last] for one in both] for both in maps] if owned else maps
        if self.n_groups:
            shared = [
                [a + b for a, b in zip(before, new, strict=True)]
                for before, new in zip(self.sums, shared, strict=True)
            ]
        self.sums = shared
        if overlaps:
            self.overlap += sum(overlaps) / len(overlaps)
        self.n_groups += 1

    def _weighted(self, i: int, k: int, maps: Array) -> Array:
        return maps if self.metric is None else self.metric[i, k] @ maps

    def products(self) -> FloatArray:
        """The means, in the order of `Products`."""
        J, kernel = self.n_groups, self.layout.kernel_test is not None
        own = [(a + b) / J for a, b in zip(self.common, self.own, strict=True)]
        means = []
        for (i, k), common in zip(self.pairs, self.common, strict=True):
            total = 0.0
            for sums in self.sums:
                right = self._weighted(i, k, sums[k])
                total += self.layout.product(sums[i], right) / len(self.sums)
            if kernel and (J == 1 or i != k):  # no features are shared: all pairs count
                means.append(total / J**2)
            else:
                means.append((total - common) / (J * (J - 1)))
        same, other = (own[0] + own[1]) / 2, (means[0] + means[1]) / 2
        alone = same if kernel else other  # with the kernel, other features are the same learner
        twin = self.twin / J if len(self.sums) > 1 else alone
        features, apart = (own[2], means[2]) if len(self.pairs) > 2 else (0.0, 0.0)
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
    rows = [linear.products() / data.inputs[0].shape[1], noise.products()]
    return np.concatenate(rows if quadratic is None else [*rows, quadratic.products()])


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
        mean, noise = ProductSums(layout), ProductSums(layout, apart=False)
        for j, count in enumerate(n_common):
            mean.add(list(means[j]), count, overlaps[j].ravel().tolist())
            noise.add(list(halves[j]), count)
        excess = noise.products()
        rows += [mean.products() - excess, 2 * excess]
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
