"""Fits of all members of an ensemble, each to the rows that its scheme draws for it."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.ensembles import Scheme
from doubletrouble.estimators._dual import Dual
from doubletrouble.estimators._feature_map import FeatureMap, RealArray, blocks
from doubletrouble.estimators._modes import EigenModes, eigenmodes, resolved, solve
from doubletrouble.estimators._normal_equations import NormalEquations
from doubletrouble.estimators._penalty import Penalty
from doubletrouble.estimators._primal import Primal
from doubletrouble.estimators._refinement import refined
from doubletrouble.estimators._sample import MemberSample, Sample
from doubletrouble.parameters import FloatArray

Side: TypeAlias = Primal | Dual


class Solution(NamedTuple):
    """What a fit found: f(x) = mean over members of a_k·φ_k(x), plus the intercept."""

    coef: FloatArray  # (K, T, P)
    intercept: FloatArray  # (T,)
    alphas: FloatArray  # (K,)
    ridge: float  # the paper's; with alpha given, for the mean weight of the members' samples


def member_samples(
    sample: Sample, ensemble: Scheme, n_members: int, rng: np.random.Generator
) -> list[MemberSample]:
    """The rows of each member, as its scheme draws them.

    >>> from doubletrouble.ensembles import Divide
    >>> rows = Sample(inputs=np.ones((5, 1)), labels=np.ones((5, 1)), weights=None, intercept=False)
    >>> parts = member_samples(rows, Divide(2), 2, np.random.default_rng(0))
    >>> [part.rows for part in parts]
    [slice(0, 2, None), slice(2, 5, None)]
    """
    n = sample.size
    if has_all_rows(ensemble):
        return [MemberSample(rows=slice(0, n), sample=sample)] * n_members
    counts = np.asarray(ensemble.draw_samples(n, n_members, rng))
    if counts.shape != (n_members, n):
        raise ValueError(
            f"draw_samples must return an array of shape {(n_members, n)}, got {counts.shape} "
            f"for {ensemble!r}"
        )
    if not counts.any(axis=1).all():
        raise ValueError(
            f"ensemble must leave every member a row, got {ensemble!r} for n_samples = {n}"
        )
    return [sample.counted(own) for own in counts]


def has_all_rows(ensemble: Scheme) -> bool:
    """Whether every member is fitted to all rows."""
    numerator, denominator = ensemble.sample_share
    return not ensemble.with_replacement and numerator == denominator


def fitted(maps: Sequence[FeatureMap], parts: Sequence[MemberSample], penalty: Penalty) -> Solution:
    """Fit every member with one penalty."""
    found = []
    for phi, part in zip(maps, parts, strict=True):
        own = part.sample
        dim = own.inputs.shape[1]
        alpha = penalty.alpha_for(n_features=phi.n_features, weight=own.weight, dim=dim)
        coef, intercept = _fit(phi, own, alpha)
        found.append(_Fit(coef, intercept, alpha, own.weight))
    return _gathered(found, penalty, dim)


def fitted_to_sums(sums: Sequence[NormalEquations], penalty: Penalty, dim: int) -> Solution:
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
        intercept = total.label_mean - total.mean @ coef
        found.append(_Fit(coef, intercept, alpha, total.weight))
    return _gathered(found, penalty, dim)


def factorized(phi: FeatureMap, sample: Sample, smallest: float) -> tuple[Side, EigenModes]:
    """The modes of one member, right down to the smallest of some alphas."""
    side = _side(phi, sample, np.float64)
    modes = side.modes()
    rank = min(phi.n_features, sample.size - sample.intercept)
    low = modes.values[0] if modes.values.size == rank > 0 else 0.0
    if not resolved(low + smallest, modes.values.max(initial=0.0)):
        modes = side.precise_modes()
    return side, modes


def predicted(
    maps: Sequence[FeatureMap], coef: FloatArray, intercept: FloatArray, inputs: RealArray
) -> RealArray:
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


class _Fit(NamedTuple):
    """The fit of one member."""

    coef: FloatArray  # (P, T)
    intercept: FloatArray  # (T,)
    alpha: float
    weight: float  # of its rows, which counts for N


def _gathered(found: Sequence[_Fit], penalty: Penalty, dim: int) -> Solution:
    coef = np.stack([fit.coef.T for fit in found])
    weight = float(np.mean([fit.weight for fit in found]))
    return Solution(
        coef=coef,
        intercept=np.mean([fit.intercept for fit in found], axis=0),
        alphas=np.array([fit.alpha for fit in found]),
        ridge=penalty.ridge_for(n_features=coef.shape[2], weight=weight, dim=dim),
    )
