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
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import NamedTuple

from array_api_compat import array_namespace

from doubletrouble.results import PsiTerms
from doubletrouble.simulation.learner import Learner
from doubletrouble.simulation.place import Array
from doubletrouble.simulation.teacher import Curvature

Terms = dict[str, float]
Pair = tuple[Learner, Learner]

TERMS = tuple(f.name for f in fields(PsiTerms))
CURVED = ("curved_overlap", "curved_vanilla", "curved_ensemble", "curved_divide")
"""What the quadratic teacher adds to the terms."""


class Labels(NamedTuple):
    """One data set: inputs, and the quadratic teacher's labels where there are any."""

    inputs: Array  # (N, D)
    curvature: Curvature | None

    def rows(self, part: slice) -> "Labels":
        """Some of the data."""
        curvature = self.curvature and self.curvature.rows(part)
        return Labels(self.inputs[part, :], curvature)


class _Products:
    """Mean products, between data sets i and k, of maps that share their features or do not.

    Outputs after the first `n_shared` are uncorrelated between feature sets by construction.
    """

    def __init__(self, n_shared: int) -> None:
        self.n_shared, self.count = n_shared, 0
        self.sums: list[Array] = []
        self.same = {(0, 0): 0.0, (1, 1): 0.0, (0, 1): 0.0}
        self.own = dict(self.same)

    def add(self, maps: list[Array]) -> None:
        """Take in the maps of one feature set, one for each data set."""
        shared = [m[:, : self.n_shared] for m in maps]
        for i, k in self.same:
            self.same[i, k] += dot(shared[i], shared[k])
            if maps[0].shape[1] > self.n_shared:
                self.own[i, k] += dot(maps[i][:, self.n_shared :], maps[k][:, self.n_shared :])
        self.sums = (
            [a + b for a, b in zip(self.sums, shared, strict=True)] if self.count else shared
        )
        self.count += 1

    def together(self, i: int, k: int) -> float:
        """The same features."""
        return (self.same[i, k] + self.own[i, k]) / self.count

    def apart(self, i: int, k: int) -> float:
        """Different features."""
        pairs = self.count * (self.count - 1)
        return (dot(self.sums[i], self.sums[k]) - self.same[i, k]) / pairs


def draw_terms(
    learners: Iterable[Pair], data: Sequence[Labels], alpha: float, n_shared: int
) -> Terms:
    """Every Ψ term of one draw; the j-th learners are trained with features j on each data set.

    The first `n_shared` outputs, the linear ones foremost, mean the same for all learners.
    """
    xp, dim = array_namespace(data[0].inputs), data[0].inputs.shape[1]
    teachers, noises, curved = (_Products(n_shared) for _ in range(3))
    overlap = curved_overlap = 0.0
    for pair in learners:
        noise = [one.respond(alpha) for one in pair]  # (N, R)
        teacher = [labels.inputs.T @ w for labels, w in zip(data, noise, strict=True)]  # (D, R)
        overlap += sum(float(xp.linalg.trace(m[:, :dim])) for m in teacher) / 2
        teachers.add(teacher)
        noises.add(noise)
        bent = [one.curvature for one in data if one.curvature]
        if bent:
            curved.add([c.factor.T @ w for c, w in zip(bent, noise, strict=True)])
            curved_overlap += (
                sum(_seen(c, w[:, dim:n_shared]) for c, w in zip(bent, noise, strict=True)) / 2
            )

    def mean(values: Iterable[float]) -> float:
        return sum(values) / 2

    terms = {
        "psi1": overlap / teachers.count / dim,
        "psi2_vanilla": mean(teachers.together(i, i) for i in (0, 1)) / dim,
        "psi3_vanilla": mean(noises.together(i, i) for i in (0, 1)),
        "psi2_ensemble": mean(teachers.apart(i, i) for i in (0, 1)) / dim,
        "psi3_ensemble": mean(noises.apart(i, i) for i in (0, 1)),
        "psi2_divide": teachers.apart(0, 1) / dim,
        "psi2_features": teachers.together(0, 1) / dim,
    }
    if curved.count:
        terms |= {
            "curved_overlap": curved_overlap / curved.count,
            "curved_vanilla": mean(curved.together(i, i) for i in (0, 1)),
            "curved_ensemble": mean(curved.apart(i, i) for i in (0, 1)),
            "curved_divide": curved.apart(0, 1),
        }
    return terms


def _seen(curvature: Curvature, response: Array) -> float:
    """The overlap of the quadratic teacher with what is learned of it, at test points."""
    if curvature.to_test is None:
        return 0.0
    return dot(curvature.to_test, response) / math.sqrt(response.shape[1])


def dot(left: Array, right: Array) -> float:
    """The sum of the products of all entries."""
    xp = array_namespace(left)
    return float(xp.tensordot(left, right, axes=((0, 1), (0, 1))))
