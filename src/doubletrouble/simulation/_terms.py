r"""The Ψ terms of one draw, without bias.

A draw is two data sets X₁, X₂ and J sets of features. Learner (i, j) maps labels to outputs by
its W (`learner`). The outputs stand for the features at a Gaussian test point x: their linear
part, one output for each direction of input space, V = E_x φ(x) xᵀ; and what is beyond it,
ρ = φ - V x, at sampled test points or in a basis of its known covariance. Averages over label noise
and over the teacher's direction are traces: with y = Xβ + ε,

    Ψ₁ = tr(Xᵀ W)/D on the linear outputs,    Ψ₂ = tr(Xᵀ W W'ᵀ X')/D,    Ψ₃ = tr(W W'ᵀ)

for one learner (vanilla), two that share the data, the features, or nothing. Products of
different learners are summed over pairs as |Σ_j W_j|² - Σ_j |W_j|². A quadratic teacher
(`teacher`), where there is one, has powers of its own beside these.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import NamedTuple

from array_api_compat import array_namespace

from doubletrouble.kernels import Array
from doubletrouble.results import PsiTerms
from doubletrouble.simulation._learner import Fit, RidgeMap
from doubletrouble.simulation._result import CURVED
from doubletrouble.simulation._teacher import PAIRS, Curvature

Terms = dict[str, float]
Pair = tuple[RidgeMap, RidgeMap]

TERMS = tuple(f.name for f in fields(PsiTerms))


class DataPair(NamedTuple):
    """Two data sets: inputs, and the quadratic teacher's labels where there are any."""

    inputs: tuple[Array, Array]  # (N, D) each
    curvature: Curvature | None

    def rows(self, parts: Sequence[slice]) -> "DataPair":
        """Some of each data set."""
        first, second = (x[part, :] for x, part in zip(self.inputs, parts, strict=True))
        return DataPair((first, second), self.curvature and self.curvature.rows(parts))


class Products:
    """Mean products, between data sets i and k, of maps that share their features or do not.

    Outputs after the first `n_shared` are uncorrelated between feature sets by construction.
    `metrics`, one for each of `PAIRS`, stand between two maps.
    """

    def __init__(self, n_shared: int, metrics: Sequence[Array] | None = None) -> None:
        self.n_shared, self.count = n_shared, 0
        self.metrics = dict(zip(PAIRS, metrics, strict=True)) if metrics else {}
        self.sums: list[Array] = []
        self.same = dict.fromkeys(PAIRS, 0.0)
        self.own = dict.fromkeys(PAIRS, 0.0)

    def add(self, maps: Sequence[Array], pairs: Sequence[tuple[int, int]] = PAIRS) -> None:
        """Take in the maps of one feature set, one for each data set."""
        shared = [m[:, : self.n_shared] for m in maps]
        for i, k in pairs:
            self.same[i, k] += self.product(i, k, shared[i], shared[k])
            if maps[0].shape[1] > self.n_shared:
                own = [m[:, self.n_shared :] for m in maps]
                self.own[i, k] += self.product(i, k, own[i], own[k])
        self.sums = [a + b for a, b in zip(self.sums, shared, strict=True)] if self.sums else shared
        self.count += 1

    def product(self, i: int, k: int, left: Array, right: Array) -> float:
        """Of a map of data set i and one of data set k."""
        metric = self.metrics.get((i, k))
        return dot(left, right if metric is None else metric @ right)

    def together(self, i: int, k: int) -> float:
        """The same features."""
        return (self.same[i, k] + self.own[i, k]) / self.count

    def apart(self, i: int, k: int) -> float:
        """Different features."""
        pairs = self.count * (self.count - 1)
        return (self.product(i, k, self.sums[i], self.sums[k]) - self.same[i, k]) / pairs


def draw_terms(
    learners: Iterable[Pair], data: DataPair, fits: tuple[Fit, Fit], n_shared: int
) -> Terms:
    """Every Ψ term of one draw; the j-th learners are trained with features j on each data set.

    `fits` are those of the two data sets. The first `n_shared` outputs, the linear ones foremost,
    mean the same for all learners.
    """
    xp, dim, bent = array_namespace(data.inputs[0]), data.inputs[0].shape[1], data.curvature
    teachers, noises = Products(n_shared), Products(n_shared)
    curved = Products(n_shared, bent.blocks) if bent else None
    overlap = curved_overlap = 0.0
    for pair in learners:
        noise = [one.respond(fit) for one, fit in zip(pair, fits, strict=True)]  # (N, R)
        teacher = [x.T @ w for x, w in zip(data.inputs, noise, strict=True)]  # (D, R)
        overlap += sum(float(xp.linalg.trace(m[:, :dim])) for m in teacher) / 2
        teachers.add(teacher)
        noises.add(noise, ((0, 0), (1, 1)))
        if curved and bent:
            curved.add(noise)
            curved_overlap += bent_overlap(bent, [w[:, dim:n_shared] for w in noise])
    terms = {
        "psi1": overlap / teachers.count / dim,
        "psi2_vanilla": over_data(teachers.together) / dim,
        "psi3_vanilla": over_data(noises.together),
        "psi2_ensemble": over_data(teachers.apart) / dim,
        "psi3_ensemble": over_data(noises.apart),
        "psi2_divide": teachers.apart(0, 1) / dim,
        "psi2_features": teachers.together(0, 1) / dim,
    }
    if curved:
        values = (
            curved_overlap / curved.count,
            over_data(curved.together),
            over_data(curved.apart),
            curved.apart(0, 1),
            curved.together(0, 1),
        )
        terms |= dict(zip(CURVED, values, strict=True))
    return terms


def over_data(product: Callable[[int, int], float]) -> float:
    """Over the two data sets."""
    return (product(0, 0) + product(1, 1)) / 2


def bent_overlap(bent: Curvature, responses: Sequence[Array]) -> float:
    """The overlap of the quadratic teacher with what is learned of it, at test points."""
    if bent.to_test is None:
        return 0.0
    both = sum(dot(seen, response) for seen, response in zip(bent.to_test, responses, strict=True))
    return both / 2 / math.sqrt(responses[0].shape[1])


def dot(left: Array, right: Array) -> float:
    """The sum of the products of all entries."""
    xp = array_namespace(left)
    return float(xp.tensordot(left, right, axes=((0, 1), (0, 1))))
