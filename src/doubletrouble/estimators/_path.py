"""Fits for many ridges from one factorization a member, with their leave-one-out errors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from doubletrouble.conventions import ridge_to
from doubletrouble.estimators._feature_map import FeatureMap, RealArray, blocks
from doubletrouble.estimators._leave_one_out import left_out
from doubletrouble.estimators._members import Solution, factorized, predicted
from doubletrouble.estimators._penalty import Penalty
from doubletrouble.estimators._sample import MemberSample, Sample
from doubletrouble.parameters import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RidgePath:
    """A fit for every ridge λ of a list, in the paper's convention.

    >>> import numpy as np, doubletrouble as dt
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((80, 5))
    >>> y = x[:, 0] + 0.1 * rng.standard_normal(80)
    >>> path = dt.RandomFeaturesRidge(60, random_state=0).ridge_path(x, y, ridges=[0, 1e-3, 1])
    >>> path.loo_error.round(3)
    array([0.153, 0.023, 0.536])
    >>> path.best
    0.001
    >>> path.predict(x[:4]).shape
    (3, 4)
    """

    ridges: FloatArray  # (R,)
    loo_error: FloatArray  # (R,): mean squared error of each row under the fit to all others
    coef: FloatArray = field(repr=False)  # (R, K, P), or (R, K, T, P) for labels of T columns
    intercept: FloatArray = field(repr=False)  # (R,), or (R, T)
    maps: tuple[FeatureMap, ...] = field(repr=False)  # of each member

    @property
    def best(self) -> float:
        """The ridge of least leave-one-out error."""
        return float(self.ridges[np.argmin(self.loo_error)])

    def predict(self, X: Any) -> RealArray:
        """What every fit predicts: (R, n), or (R, n, T)."""
        inputs = np.asarray(X, dtype=self.maps[0].weights.dtype)
        dim = len(self.maps[0].weights)
        if inputs.ndim != 2 or inputs.shape[1] != dim:
            raise ValueError(f"X must have shape (n, {dim}), got {inputs.shape}")
        single = self.coef.ndim == 3
        coef = self.coef[:, :, None, :] if single else self.coef  # (R, K, T, P)
        outputs = coef.shape[2]
        flat = coef.transpose(1, 0, 2, 3).reshape(coef.shape[1], -1, coef.shape[3])
        found = predicted(self.maps, flat, self.intercept.reshape(-1), inputs)
        stacked = found.reshape(len(inputs), -1, outputs).transpose(1, 0, 2)
        return stacked[..., 0] if single else stacked


def ridge_path(
    maps: Sequence[FeatureMap], sample: Sample, parts: Sequence[MemberSample], ridges: FloatArray,
    *, single: bool,
) -> RidgePath:  # fmt: skip
    """Fit every member, to its part of the sample, for every ridge.

    `single`: whether labels were one-dimensional.
    """
    shortest = min(part.sample.size for part in parts)
    if shortest < 2:
        raise ValueError(
            "every member must have at least 2 rows for a leave-one-out error, got "
            f"n_samples = {shortest}"
        )
    outside = np.zeros((*sample.labels.shape, ridges.size))  # sum over members
    coefs, intercepts = [], []
    for phi, part in zip(maps, parts, strict=True):
        own = part.sample
        alphas = np.asarray(ridge_to(
            "sklearn", ridges, n_features=phi.n_features, n_samples=own.weight,
            dim=own.inputs.shape[1],
        ))  # fmt: skip
        side, modes = factorized(phi, own, float(alphas.min()))
        coef = side.weights(modes, alphas)  # (P, T, R)
        shift = own.label_mean[:, None] - np.tensordot(side.mean, coef, 1)  # (T, R)
        outside[part.rows] += left_out(side, modes, own, alphas)
        if own.size < sample.size:
            others = np.delete(np.arange(sample.size), part.rows)
            outside[others] += _outputs(phi, coef, shift, sample.inputs[others])
        coefs.append(coef)
        intercepts.append(shift)
    missed = sample.labels[..., None] - outside / len(maps)
    errors = np.average(np.mean(missed**2, axis=1), axis=0, weights=sample.weights)
    coef = np.stack(coefs).transpose(3, 0, 2, 1)  # (R, K, T, P)
    intercept = np.mean(intercepts, axis=0).T  # (R, T)
    return RidgePath(
        ridges=ridges,
        loo_error=errors,
        coef=coef[:, :, 0] if single else coef,
        intercept=intercept[:, 0] if single else intercept,
        maps=tuple(maps),
    )


def best_of(path: RidgePath, parts: Sequence[MemberSample]) -> Solution:
    """The fit of least leave-one-out error."""
    at, chosen = int(np.argmin(path.loo_error)), Penalty(path.best, None)
    n_members, n_features = path.coef.shape[1], path.coef.shape[-1]
    dim = parts[0].sample.inputs.shape[1]
    alphas = [
        chosen.alpha_for(n_features=n_features, weight=part.sample.weight, dim=dim)
        for part in parts
    ]
    return Solution(
        coef=path.coef[at].reshape(n_members, -1, n_features),
        intercept=path.intercept[at].reshape(-1),
        alphas=np.array(alphas),
        ridge=path.best,
    )


def _outputs(phi: FeatureMap, coef: FloatArray, shift: FloatArray, inputs: RealArray) -> FloatArray:
    """What one member predicts for rows it has not seen, (n, T, R)."""
    found = np.empty((len(inputs), *shift.shape))
    for rows in blocks(len(inputs), phi.n_features):
        found[rows] = np.tensordot(phi(inputs[rows]), coef, 1) + shift
    return found
