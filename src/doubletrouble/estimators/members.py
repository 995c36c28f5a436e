"""Fits of all members of an ensemble: the same rows for each, or a block of rows for each."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.estimators.dual import Dual
from doubletrouble.estimators.feature_map import Array, FeatureMap, blocks
from doubletrouble.estimators.modes import Modes, eigenmodes, resolved, solve
from doubletrouble.estimators.penalty import Penalty
from doubletrouble.estimators.primal import Primal
from doubletrouble.estimators.refinement import refined
from doubletrouble.estimators.sample import Sample
from doubletrouble.estimators.sums import Sums
from doubletrouble.parameters import FloatArray

Side: TypeAlias = Primal | Dual

SCHEMES = ("ensemble", "divide")


class Solution(NamedTuple):
    """What a fit found: f(x) = mean over members of a_k·φ_k(x), plus the intercept."""

    coef: FloatArray  # (K, T, P)
    intercept: FloatArray  # (T,)
    alphas: FloatArray  # (K,)
    ridge: float  # the paper's; with alpha given, for the mean weight of the members' samples


def shares(sample: Sample, n_members: int, scheme: str) -> list[slice]:
    """The rows of each member.

    >>> rows = Sample(inputs=np.ones((5, 1)), labels=np.ones((5, 1)), weights=None, intercept=False)
    >>> shares(rows, 2, "divide")
    [slice(0, 3, None), slice(3, 5, None)]
    """
    n = sample.size
    if scheme == "ensemble":
        return [slice(0, n)] * n_members
    if n_members > n:
        raise ValueError(
            f"n_members must be at most the number of rows where scheme is 'divide', got "
            f"{n_members} for n_samples = {n}"
        )
    short, longer = divmod(n, n_members)  # the first blocks have a row more
    ends = [k * short + min(k, longer) for k in range(n_members + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def fitted(maps: Sequence[FeatureMap], sample: Sample, scheme: str, penalty: Penalty) -> Solution:
    """Fit every member with one penalty."""
    found = []
    for phi, rows in zip(maps, shares(sample, len(maps), scheme), strict=True):
        part = sample.rows(rows)
        dim = part.inputs.shape[1]
        alpha = penalty.alpha_for(n_features=phi.n_features, weight=part.weight, dim=dim)
        found.append((*_fit(phi, part, alpha), alpha, part.weight))
    return _gathered(found, penalty, dim)


def fitted_to_sums(sums: Sequence[Sums], penalty: Penalty, dim: int) -> Solution:
    """Fit every member to what was accumulated."""
    found = []
    for total in sums:
        size = total.mean.size
        alpha = penalty.alpha_for(n_features=size, weight=total.weight, dim=dim)
        coef = solve(total.gram, total.right, alpha)
        if coef is None:
            modes = eigenmodes(total.gram, total.right, primal=True)
            assert modes.right is not None
            coef = modes.right @ modes.gains(np.array([alpha]), 1)
        found.append((coef, total.label_mean - total.mean @ coef, alpha, total.weight))
    return _gathered(found, penalty, dim)


def factorized(phi: FeatureMap, sample: Sample, smallest: float) -> tuple[Side, Modes]:
    """The modes of one member, right down to the smallest of some alphas."""
    side = _side(phi, sample, np.float64)
    modes = side.modes()
    rank = min(phi.n_features, sample.size - sample.intercept)
    low = modes.values[0] if modes.values.size == rank > 0 else 0.0
    if not resolved(low + smallest, modes.values.max(initial=0.0)):
        modes = side.precise_modes()
    return side, modes


def predicted(
    maps: Sequence[FeatureMap], coef: FloatArray, intercept: FloatArray, inputs: Array
) -> Array:
    """The mean prediction of all members, (n, T), in the precision of the inputs."""
    found = np.zeros((len(inputs), coef.shape[1]), inputs.dtype)
    share = coef.astype(inputs.dtype) / len(maps)
    for phi, weights in zip(maps, share, strict=True):
        for rows in blocks(len(inputs), phi.n_features):
            found[rows] += phi(inputs[rows]) @ weights.T
    return np.asarray(found + intercept.astype(inputs.dtype))


def _side(phi: FeatureMap, sample: Sample, kind: npt.DTypeLike) -> Side:
    return (Dual if phi.n_features > sample.size else Primal)(phi, sample, kind)


def _fit(phi: FeatureMap, sample: Sample, alpha: float) -> tuple[FloatArray, FloatArray]:
    """Weights (P, T) and intercept: quickly if that is right, precisely if not."""
    quick = refined(phi, sample, alpha)
    if quick is not None:
        weights, mean = quick
        return weights, sample.label_mean - mean @ weights
    for kind in dict.fromkeys([sample.inputs.dtype, np.dtype(np.float64)]):
        side = _side(phi, sample, kind)
        coef = side.solve(alpha)
        if coef is not None:
            break
    else:
        coef = side.weights(side.precise_modes(), np.array([alpha]))[..., 0]
    return coef, sample.label_mean - side.mean @ coef


def _gathered(
    found: list[tuple[FloatArray, FloatArray, float, float]], penalty: Penalty, dim: int
) -> Solution:
    coefs, intercepts, alphas, weights = zip(*found, strict=True)
    coef = np.stack([c.T for c in coefs])
    weight = float(np.mean(weights))
    return Solution(
        coef=coef,
        intercept=np.mean(intercepts, axis=0),
        alphas=np.array(alphas),
        ridge=penalty.ridge_for(n_features=coef.shape[2], weight=weight, dim=dim),
    )
