r"""All members of an ensemble: their penalties, their rows, their fits and the mean prediction.

The penalty alpha = λ P N / D of each member follows from λ (`doubletrouble.conventions`).
With sample weights w the paper's loss is a weighted mean,

    (1/W) Σ_i w_i (y_i - f(x_i))² + (P λ / D) |a|²,        W = Σ_i w_i,

with W in place of N: a row of weight 2 counts as two rows, one of weight 0 as none, and a common
factor of all weights changes nothing. scikit-learn's loss is a weighted sum, in which alpha would
need the same factor.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble.conventions import RidgeUnit, convert_ridge
from doubletrouble.ensembles import Scheme
from doubletrouble.estimators._features import InputMap, RealArray, Seed, draws_generator
from doubletrouble.estimators._solvers import MemberFit
from doubletrouble.forecasting import DEFAULT_RIDGE
from doubletrouble.parameters import FloatArray, Numeric, number

Criterion: TypeAlias = Literal["loo", "forecast"]
"""Choices of λ in `fit`: least leave-one-out error, or least forecast error."""


@dataclass(frozen=True)
class Penalty:
    """A penalty in the paper's convention, or in that of scikit-learn."""

    value: float
    convention: Literal["paper", "sklearn"] = "paper"

    def alphas(self, weights: FloatArray, *, n_features: float, dim: int) -> FloatArray:
        """The penalty in scikit-learn's convention, for samples of these total weights.

        For infinitely many features δ = alpha / P = λ N / D, the penalty of the kernel matrix.
        """
        if self.convention == "sklearn":
            return np.full(len(weights), self.value)
        unit: RidgeUnit = "gram" if np.isinf(n_features) else "sklearn"
        sizes: dict[str, Numeric] = {"n_features": n_features, "n_samples": weights, "dim": dim}
        return np.asarray(convert_ridge(self.value, "paper", unit, **sizes))

    def ridge(self, weights: FloatArray, *, n_features: float, dim: int) -> float:
        """The penalty in the paper's convention; from alpha, for the mean weight."""
        if self.convention == "paper":
            return self.value
        sizes = {"n_features": n_features, "n_samples": float(np.mean(weights)), "dim": dim}
        return float(convert_ridge(self.value, "sklearn", "paper", **sizes))


def checked_penalty(ridge: float | str | None, alpha: float | None) -> Penalty | Criterion:
    """The penalty of an estimator, or the criterion by which `fit` chooses it.

    >>> checked_penalty(None, 2)
    Penalty(value=2.0, convention='sklearn')
    >>> checked_penalty("loo", None)
    'loo'
    """
    if ridge is not None and alpha is not None:
        raise ValueError(f"alpha must be None where ridge is given, got {alpha!r} and {ridge!r}")
    if isinstance(ridge, str):
        if ridge not in get_args(Criterion):
            raise ValueError(
                f"ridge must be a number in [0, inf), 'loo' or 'forecast', got {ridge!r}"
            )
        return cast(Criterion, ridge)
    if alpha is not None:
        return Penalty(_finite("alpha", alpha), "sklearn")
    return Penalty(DEFAULT_RIDGE if ridge is None else _finite("ridge", ridge))


def _finite(name: str, value: float) -> float:
    penalty = number(name, value, glossary.RIDGE)
    if np.isinf(penalty):
        raise ValueError(f"{name} must be in [0, inf), got {value!r}")
    return penalty


def draw_counts(
    ensemble: Scheme, *, n_members: int, n_samples: int, seed: Seed
) -> npt.NDArray[np.int64]:
    """The number of times that each row is in the sample of each member, (K, N).

    >>> from doubletrouble.ensembles import Divide
    >>> draw_counts(Divide(2), n_members=2, n_samples=5, seed=np.arange(4))
    array([[1, 1, 0, 0, 0],
           [0, 0, 1, 1, 1]])
    """
    counts = np.asarray(ensemble.draw_samples(n_samples, n_members, draws_generator(seed)))
    if counts.shape != (n_members, n_samples):
        raise ValueError(
            f"draw_samples must return an array of shape {(n_members, n_samples)}, got "
            f"{counts.shape} for {ensemble!r}"
        )
    if not counts.any(axis=1).all():
        raise ValueError(
            f"ensemble must leave every member a row, got {ensemble!r} for n_samples = {n_samples}"
        )
    return counts


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A fit of all members: f(x) = mean over members of a_k·φ_k(x), plus the intercept."""

    coef: FloatArray  # (K, T, P)
    intercept: FloatArray  # (T,)
    alphas: FloatArray  # (K,)
    ridge: float  # in the paper's convention


def fit_members(
    fits: Sequence[Callable[[float], MemberFit]],
    weights: Sequence[float],
    penalty: Penalty,
    *,
    n_features: float,
    dim: int,
) -> Solution:
    """Fit every member by its function of alpha, for a sample of its total weight."""
    totals = np.array(weights)
    alphas = penalty.alphas(totals, n_features=n_features, dim=dim)
    solved = [fit(alpha) for fit, alpha in zip(fits, alphas.tolist(), strict=True)]
    return Solution(
        coef=np.stack([one.coef.T for one in solved]),
        intercept=np.mean([one.intercept for one in solved], axis=0),
        alphas=alphas,
        ridge=penalty.ridge(totals, n_features=n_features, dim=dim),
    )


def predict_mean(
    maps: Sequence[InputMap], coef: FloatArray, intercept: FloatArray, inputs: RealArray
) -> RealArray:
    """The mean prediction of all members, (n, T), in the precision of the inputs."""
    total = np.zeros((len(inputs), coef.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for phi, weights in zip(maps, coef, strict=True):
            for rows in phi.blocks(len(inputs)):
                z = phi(inputs[rows])
                total[rows] += z @ weights.T.astype(z.dtype)
        mean = (total / len(maps) + intercept).astype(inputs.dtype)
    if not np.isfinite(mean).all():
        raise ValueError(
            f"X must have finite predictions, got values up to {np.abs(inputs).max():.3g}"
        )
    return mean
