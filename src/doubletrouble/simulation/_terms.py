r"""Mean products of two learners' outputs, without bias: the Ψ terms of one draw.

A learner maps labels to outputs by its response W (`_fits`). The outputs stand for its prediction
at a Gaussian test point x: the linear part, one output for each direction of input space; and the
remainder, at sampled test points or in a basis of its known covariance. Averages over label noise
and over the teacher's direction are traces: with y = Xβ + ε,

    Ψ₁ = tr(Xᵀ W)/D on the linear outputs,    Ψ₂ = tr(Xᵀ W W'ᵀ X')/D,    Ψ₃ = tr(W W'ᵀ),

and with C the covariance of a quadratic teacher's labels (`_draws`), tr(W W'ᵀ C).

**Pairs of learners.** A draw has two data sets, and J groups of learners on each. Learners of
different groups share neither features nor, where members draw them, samples. A group is one
learner, or two *twins*, which share the draw from a common set: of samples, the choice, with
features of their own; of features, the bank, with choices of their own. Products are averaged over
all pairs of a kind,

    same       a learner with itself             features  with itself on the other data set
    other      with one of another group         apart     with one of another group on other data
    twin       with its twin

and each step from one kind to the next, which shares less, adds the variance by one more cause.
Sums over pairs of different groups are |Σ_j W_j|² - Σ_j |W_j|².

**The kernel** of infinitely many features has no initialization: a learner with other features is
the same learner. Test points are sampled. The kernel is nearly linear, k(x, x') ≈ μ₁² x·x'/D + …;
the linear student ℓ(x) = μ₁² x·Xᵀ (K + δ)⁻¹ y/D is the control variate: its products are known
exactly, and only the difference from them is sampled.
"""

from __future__ import annotations  # help() then shows the alias FloatArray

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.parameters import Array, FloatArray
from doubletrouble.simulation._draws import PAIRS, DataPair
from doubletrouble.simulation._fits import RidgeLearner

# --- terms ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanProducts:
    """Mean products of two learners' outputs, for labels of one origin and unit power."""

    overlap: FloatArray  # of one learner with the target at test points
    same: FloatArray  # of a learner with itself
    other: FloatArray  # of two that share the data set
    apart: FloatArray  # of two that share nothing
    features: FloatArray | None = None  # of two that share their features
    twin: FloatArray | None = None  # of two that share the choice of samples, or the bank


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedTerms:
    """Every term of a simulation, by the origin of the labels.

    Members that draw from a common set have `twin` in place of `features`. Arrays have an axis for
    the draws, and further ones for curves.
    """

    linear: MeanProducts  # Ψ₁ and Ψ₂: the linear teacher
    noise: MeanProducts  # Ψ₃: label noise, independent of test points
    quadratic: MeanProducts | None = None  # the quadratic teacher

    def named(self) -> dict[str, FloatArray]:
        """Return every term by its name in `PsiTerms` and in stored simulations.

        Returns
        -------
        dict of numpy.ndarray
            The terms that were simulated.
        """
        names = _TERMS if self.linear.twin is None else _DRAWN_TERMS
        terms = {}
        for name, (origin, kind) in names.items():
            products: MeanProducts | None = getattr(self, origin)
            if products is not None:
                terms[name] = getattr(products, kind)
        return terms

    @classmethod
    def from_named(cls, values: dict[str, FloatArray]) -> Self:
        """Make terms from those of `named`.

        Parameters
        ----------
        values : dict of numpy.ndarray
            The terms by their names.

        Returns
        -------
        SimulatedTerms
            The terms by the origin of the labels.
        """
        names = _TERMS if "psi2_features" in values else _DRAWN_TERMS
        # noise is independent of test points and of other data
        zero = np.zeros_like(values["psi1"])
        origins: dict[str, dict[str, FloatArray]] = {"noise": {"overlap": zero, "apart": zero}}
        for name, (origin, kind) in names.items():
            if name in values:
                origins.setdefault(origin, {})[kind] = values[name]
        return cls(**{origin: MeanProducts(**kinds) for origin, kinds in origins.items()})

    @classmethod
    def combined(
        cls, function: Callable[[list[FloatArray]], FloatArray], several: Sequence[Self]
    ) -> Self:
        """Combine the terms of several simulations, each by itself.

        Parameters
        ----------
        function : callable
            The term as a function of the list of its values.
        several : sequence of SimulatedTerms
            Terms of the same kinds.

        Returns
        -------
        SimulatedTerms
            The values of the function.
        """
        values = [one.named() for one in several]
        return cls.from_named({name: function([one[name] for one in values]) for name in values[0]})


_TERMS = {
    "psi1": ("linear", "overlap"),
    "psi2_vanilla": ("linear", "same"),
    "psi3_vanilla": ("noise", "same"),
    "psi2_ensemble": ("linear", "other"),
    "psi3_ensemble": ("noise", "other"),
    "psi2_divide": ("linear", "apart"),
    "psi2_features": ("linear", "features"),
    "curved_overlap": ("quadratic", "overlap"),
    "curved_vanilla": ("quadratic", "same"),
    "curved_ensemble": ("quadratic", "other"),
    "curved_divide": ("quadratic", "apart"),
    "curved_features": ("quadratic", "features"),
}
_DRAWN_TERMS = {
    "psi1": ("linear", "overlap"),
    "psi2_same": ("linear", "same"),
    "psi2_twin": ("linear", "twin"),
    "psi2_other": ("linear", "other"),
    "psi2_apart": ("linear", "apart"),
    "psi3_same": ("noise", "same"),
    "psi3_twin": ("noise", "twin"),
    "psi3_other": ("noise", "other"),
    "curved_overlap": ("quadratic", "overlap"),
    "curved_same": ("quadratic", "same"),
    "curved_twin": ("quadratic", "twin"),
    "curved_other": ("quadratic", "other"),
    "curved_apart": ("quadratic", "apart"),
}


# --- the product of two maps ---------------------------------------------------------------------


class OutputLayout(NamedTuple):
    """The columns of a response, or of another map to outputs.

    The linear part and the remainder, `n_shared` columns, mean the same for all learners. For the
    kernel as many columns as test points follow, the linear student there. For Gaussian covariates
    a column for each feature of the learner follows, uncorrelated with those of other features.
    """

    dim: int
    n_shared: int
    kernel_test: Array | None = None  # (T, D) test points, for the kernel

    @property
    def n_common(self) -> int:
        """The number of columns that are common to all learners."""
        return self.n_shared + (0 if self.kernel_test is None else int(self.kernel_test.shape[0]))

    def product(self, left: Array, right: Array) -> float:
        """The mean product over test points of two maps, by the columns of all learners."""
        first, last = self.n_shared, self.n_common
        product = dot(left[:, :last], right[:, :last])
        if last > first:  # all columns at once need no copy; those of the control count as -1
            product -= 2 * dot(left[:, first:last], right[:, first:last])
        return product

    def own_product(self, left: Array, right: Array, n_features: int | None = None) -> float:
        """The same by the columns of common features: the last of the left, the first of the right.

        All features are common unless their number is given.
        """
        own = left.shape[1] - self.n_common
        count = own if n_features is None else n_features
        if not own or not count:
            return 0.0
        start = self.n_common
        return dot(left[:, left.shape[1] - count :], right[:, start : start + count])

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


# --- the terms of one draw -----------------------------------------------------------------------


class LearnerGroup(NamedTuple):
    """One learner, or two twins, on each of two data sets."""

    learners: tuple[tuple[RidgeLearner, RidgeLearner], ...]
    n_features: int = 0  # common to twins: the last of the first, the first of the second


class _ProductSums:
    """Sums over groups of the products of maps, for labels of one origin.

    `metrics`, for each of `pairs` of data sets, are the covariances of the labels if not unit.
    """

    def __init__(
        self,
        layout: OutputLayout,
        pairs: Sequence[tuple[int, int]] = PAIRS,
        metrics: Sequence[Array] | None = None,
    ) -> None:
        self.layout, self.pairs = layout, pairs
        self.metrics = dict(zip(pairs, metrics, strict=True)) if metrics else {}
        self.n_groups = 0
        self.overlap = self.twin = 0.0
        self.common = dict.fromkeys(pairs, 0.0)  # of a learner with itself, by common columns
        self.own = dict.fromkeys(pairs, 0.0)  # by its own columns
        self.sums: list[list[Array]] = []  # of the common columns, for each twin and data set

    def add(self, maps: Sequence[Sequence[Array]], n_features: int) -> None:
        """Add the maps of one group, for each twin and data set."""
        layout, n_twins = self.layout, len(maps)
        for both in maps:
            for i, k in self.pairs:
                right = self._weighted(i, k, both[k])
                self.common[i, k] += layout.product(both[i], right) / n_twins
                self.own[i, k] += layout.own_product(both[i], right) / n_twins
        if n_twins > 1:
            for i, (left, other) in enumerate(zip(*maps, strict=True)):
                right = self._weighted(i, i, other)
                self.twin += layout.product(left, right) / 2
                self.twin += layout.own_product(left, right, n_features) / 2
        shared = [[one[:, : layout.n_common] for one in both] for both in maps]
        self.sums = (
            shared
            if not self.sums
            else [
                [a + b for a, b in zip(before, new, strict=True)]
                for before, new in zip(self.sums, shared, strict=True)
            ]
        )
        self.n_groups += 1

    def terms(self, *, drawn: bool, scale: float = 1.0) -> MeanProducts:
        """All means, divided by `scale`; `drawn`: with those of twins."""
        J = self.n_groups
        same = {pair: (self.common[pair] + self.own[pair]) / J for pair in self.pairs}
        own, other = (same[0, 0] + same[1, 1]) / 2, (self._other(0, 0) + self._other(1, 1)) / 2
        between = (0, 1) in self.pairs
        features = same[0, 1] if between else 0.0
        # twins with the kernel are the same learner
        twin = own if self.layout.kernel_test is not None else self.twin / J
        return MeanProducts(
            overlap=np.asarray(self.overlap / J / scale),
            same=np.asarray(own / scale),
            other=np.asarray(other / scale),
            apart=np.asarray((self._other(0, 1) if between else 0.0) / scale),
            features=None if drawn else np.asarray(features / scale),
            twin=np.asarray(twin / scale) if drawn else None,
        )

    def _other(self, i: int, k: int) -> float:
        """The mean product of learners that share neither features nor choices."""
        J = self.n_groups
        total = 0.0
        for sums in self.sums:
            total += self.layout.product(sums[i], self._weighted(i, k, sums[k])) / len(self.sums)
        if self.layout.kernel_test is not None and (J == 1 or i != k):
            return total / J**2  # no features are shared: all pairs count
        return (total - self.common[i, k]) / (J * (J - 1))

    def _weighted(self, i: int, k: int, maps: Array) -> Array:
        metric = self.metrics.get((i, k))
        return maps if metric is None else metric @ maps


def draw_terms(
    groups: Iterable[LearnerGroup],
    data: DataPair,
    layout: OutputLayout,
    k: int,
    *,
    drawn: bool,
) -> SimulatedTerms:
    """Every term of the k-th fit of all groups; `drawn`: members draw from a common set."""
    teacher = data.quadratic
    linear, noise = _ProductSums(layout), _ProductSums(layout, PAIRS[:2])
    quadratic = _ProductSums(layout, PAIRS, teacher.blocks) if teacher else None
    for group in groups:
        responses = [[one(k) for one in both] for both in group.learners]  # (N, R) each
        projected = [  # (D, R) each
            [x.T @ w for x, w in zip(data.inputs, both, strict=True)] for both in responses
        ]
        share = 1 / (2 * len(responses))
        linear.overlap += share * sum(layout.overlap(m) for both in projected for m in both)
        linear.add(projected, group.n_features)
        noise.add(responses, group.n_features)
        if quadratic is not None and teacher is not None:
            quadratic.add(responses, group.n_features)
            if teacher.to_test is not None:
                quadratic.overlap += share * sum(
                    layout.remainder_overlap(to_test, w)
                    for both in responses
                    for to_test, w in zip(teacher.to_test, both, strict=True)
                )
    return SimulatedTerms(
        linear=linear.terms(drawn=drawn, scale=data.inputs[0].shape[1]),
        noise=noise.terms(drawn=drawn),
        quadratic=None if quadratic is None else quadratic.terms(drawn=drawn),
    )
