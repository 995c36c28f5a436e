r"""The Ψ terms of one draw, for every ridge, without bias.

A draw is two data sets X₁, X₂ and J sets of features. Learner (i, j) maps labels y to weights
H y. Averages over label noise and over the teacher's direction are traces: with y = Xβ + ε,

    Ψ₁    = tr(Vᵀ H X)/D                                   V = E_x φ(x) xᵀ
    Ψ₂    = tr(Xᵀ Hᵀ U H' X')/D,    Ψ₃ = tr(Hᵀ U H')       U = E_x φ(x) φ'(x)ᵀ

for one learner (vanilla), two that share the data, the features, or nothing. The test average U
splits into its linear part V V'ᵀ, exact, and what the features do beyond it, E_x ρ(x) ρ'(x)ᵀ with
ρ = φ - V x: known in the Gaussian model, sampled over test points (`residual`) otherwise. For
fresh features the latter is nearly zero, so that sampling it adds little noise.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from doubletrouble.simulation.learner import Learner, fit, gains

Array = Any  # a NumPy array or a torch tensor


class Features(NamedTuple):
    """One set of features: on both training sets, and what they are at a test point."""

    train: tuple[Array, Array]  # (N, P) each
    linear: Array  # V, (P, D)
    residual: Array | None  # ρ at test points over √T, (T, P); None: `flat`² times the identity
    flat: float


class Student(NamedTuple):
    """What one fit makes of the teacher's direction β and of label noise ε, as linear maps.

    The rows of a map are directions of input space (the linear student) and, where the rest is
    sampled, test points; products of two students are sums over rows.
    """

    teacher: list[Array]  # (D, D), and (T, D) where sampled
    noise: list[Array]  # (D, N), and (T, N)
    own_teacher: list[Array]  # (P, D): shared only by students with the same features
    own_noise: float


def draw_terms(
    data: tuple[Array, Array], features: Sequence[Features], alphas: Sequence[float]
) -> list[dict[str, float]]:
    """Every Ψ term of one draw, for each alpha."""
    fits = [[fit(z) for z in f.train] for f in features]
    results = []
    for alpha in alphas:
        students = [
            [_student(f, learner, x, alpha) for learner, x in zip(pair, data, strict=True)]
            for f, pair in zip(features, fits, strict=True)
        ]
        results.append(_terms(students, data[0].shape[1]))
    return results


def _student(f: Features, learner: Learner, x: Array, alpha: float) -> Student:
    xp = array_namespace(x)
    gain = gains(learner.eigenvalues, alpha)
    weights = learner.left * gain  # (P, m)
    seen = learner.right.T @ x  # (m, D)
    maps = [f.linear.T @ weights]  # (D, m)
    if f.residual is not None:
        maps.append(f.residual @ weights)  # (T, m)
        own, response = [], 0.0
    else:
        own = [f.flat * (weights @ seen)]
        squares = learner.left_square * learner.right_square
        response = f.flat**2 * float(xp.sum(gain**2 * squares))
    return Student([m @ seen for m in maps], [m @ learner.right.T for m in maps], own, response)


def _terms(students: list[list[Student]], dim: int) -> dict[str, float]:
    """The Ψ terms from students[j][i], trained with features j on data set i."""
    count, every = len(students), [s for pair in students for s in pair]
    xp = array_namespace(every[0].teacher[0])
    pairs = count * (count - 1)

    def apart(left: list[list[Array]], right: list[list[Array]]) -> float:
        """The mean product of two students with different features."""
        sums = ([sum(parts) for parts in zip(*side, strict=True)] for side in (left, right))
        same = sum(_dot(a, b) for a, b in zip(left, right, strict=True))
        return (_dot(*sums) - same) / pairs

    teacher, noise = ([[getattr(pair[i], name) for pair in students] for i in range(2)]
                      for name in ("teacher", "noise"))  # fmt: skip
    full = [[s.teacher + s.own_teacher for s in pair] for pair in students]
    return {
        "psi1": sum(float(xp.linalg.trace(s.teacher[0])) for s in every) / len(every) / dim,
        "psi2_vanilla": sum(_dot(v, v) for pair in full for v in pair) / len(every) / dim,
        "psi3_vanilla": sum(_dot(s.noise, s.noise) + s.own_noise for s in every) / len(every),
        "psi2_ensemble": sum(apart(side, side) for side in teacher) / 2 / dim,
        "psi3_ensemble": sum(apart(side, side) for side in noise) / 2,
        "psi2_divide": apart(*teacher) / dim,
        "psi2_features": sum(_dot(*pair) for pair in full) / count / dim,
    }


def _dot(left: Sequence[Array], right: Sequence[Array]) -> float:
    return sum(float((a * b).sum()) for a, b in zip(left, right, strict=True))
