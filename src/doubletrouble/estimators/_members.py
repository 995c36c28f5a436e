r"""All members of an ensemble: penalties, rows, fits, paths of ridges and the mean prediction.

The penalty alpha = λ P N / D of each member follows from λ (`doubletrouble.conventions`).
With sample weights w the paper's loss is a weighted mean,

    (1/W) Σ_i w_i (y_i - f(x_i))² + (P λ / D) |a|²,        W = Σ_i w_i,

with W in place of N: a row of weight 2 counts as two rows, one of weight 0 as none, and a common
factor of all weights changes nothing. scikit-learn's loss is a weighted sum, in which alpha would
need the same factor. λ does not change when a row is left out; alpha does with the weight that
remains.

With infinitely many features members of the same rows are equal, so that one stands for all of
them. Others, of `Divide` or `Bootstrap`, differ in their rows alone: their mean is
f(x) = Σ_i k(x, x_i) β_i + b with the mean of β and b over members, where β is zero for the rows
that a member does not have.
"""

from __future__ import annotations  # help() shows the names of types, not their definitions

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots, glossary
from doubletrouble._display import Column, Content, Shown, point_table
from doubletrouble._numbers import plain, whole
from doubletrouble.conventions import RidgeUnit, convert_ridge
from doubletrouble.ensembles import Scheme
from doubletrouble.estimators._features import (
    InputMap,
    KernelMap,
    RealArray,
    Seed,
    check_range,
    draws_generator,
)
from doubletrouble.estimators._fits import MemberFit, Sample, fit_member, fit_path
from doubletrouble.forecasting import DEFAULT_RIDGE
from doubletrouble.losses import Loss
from doubletrouble.parameters import FloatArray, IntArray, Numeric, checked, number, refuse

Criterion: TypeAlias = Literal["loo", "forecast"]
"""Choices of λ in `fit`: least leave-one-out error, or least forecast error."""


def alphas_of(ridges: Numeric, weights: Numeric, phi: InputMap) -> FloatArray:
    """Penalties λ in scikit-learn's convention, for samples of these total weights.

    For infinitely many features δ = alpha / P = λ W / D, the penalty of the kernel matrix.
    """
    unit: RidgeUnit = "gram" if math.isinf(phi.n_features) else "sklearn"
    sizes = {"n_features": phi.n_features, "n_samples": weights, "dim": phi.dim}
    return np.asarray(convert_ridge(ridges, "paper", unit, **sizes))


@dataclass(frozen=True)
class Penalty:
    """A penalty in the paper's convention, or in that of scikit-learn."""

    value: float
    convention: Literal["paper", "sklearn"] = "paper"

    def alphas(self, weights: FloatArray, phi: InputMap) -> FloatArray:
        """The penalty in scikit-learn's convention, for samples of these total weights."""
        if self.convention == "sklearn":
            return np.full(len(weights), self.value)
        return alphas_of(self.value, weights, phi)

    def ridge(self, weights: FloatArray, phi: InputMap) -> float:
        """The penalty in the paper's convention; from alpha, for the mean weight."""
        if self.convention == "paper":
            return self.value
        sizes = {"n_features": phi.n_features, "n_samples": weights.mean(), "dim": phi.dim}
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


def draw_counts(ensemble: Scheme, *, n_members: int, n_samples: int, seed: Seed) -> IntArray:
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

    coef: FloatArray  # (K, T, P); for infinitely many features (1, T, N)
    intercept: FloatArray  # (T,)
    alphas: FloatArray  # (K,)
    ridge: float  # in the paper's convention


def fit_members(
    maps: Sequence[InputMap], sample: Sample, counts: IntArray, penalty: Penalty, loss: Loss
) -> Solution:
    """Fit every member to the rows of the sample in its row of `counts`.

    `maps` are the features of each, or the one kernel of infinitely many.
    """
    weights = counts @ sample.weights
    alphas = penalty.alphas(weights, maps[0]).tolist()
    members = zip(_members(maps, sample, counts), alphas, strict=True)
    fits = [fit_member(phi, own, alpha, loss) for (phi, own), alpha in members]
    return solution_of(_combined(fits, maps, counts), weights, penalty, maps[0])


def solution_of(
    fits: Sequence[MemberFit], weights: FloatArray, penalty: Penalty, phi: InputMap
) -> Solution:
    """The fits of members to samples of these total weights."""
    return Solution(
        coef=np.stack([fit.coef.T for fit in fits]),
        intercept=np.mean([fit.intercept for fit in fits], axis=0),
        alphas=penalty.alphas(weights, phi),
        ridge=penalty.ridge(weights, phi),
    )


def _members(
    maps: Sequence[InputMap], sample: Sample, counts: IntArray
) -> Iterator[tuple[InputMap, Sample]]:
    """The features of each member, or its kernel, and its rows."""
    for k, drawn in enumerate(counts):
        own, phi = sample.drawn(drawn), maps[k % len(maps)]
        yield (replace(phi, inputs=own.inputs) if isinstance(phi, KernelMap) else phi), own


def _combined(fits: list[MemberFit], maps: Sequence[InputMap], counts: IntArray) -> list[MemberFit]:
    """Fits of finite features; of infinitely many their mean, with coefficients of all rows."""
    if not isinstance(maps[0], KernelMap):
        return fits
    coef = np.zeros((counts.shape[1], *fits[0].coef.shape[1:]))
    for fit, drawn in zip(fits, counts, strict=True):
        coef[drawn > 0] += fit.coef / len(fits)
    return [MemberFit(coef, np.mean([fit.intercept for fit in fits], axis=0))]


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


# --- paths of ridges ---


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RidgePath(Shown):
    """A fit for every ridge λ of a list, in the paper's convention.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((80, 5))
    >>> y = x[:, 0] + 0.1 * rng.standard_normal(80)
    >>> path = dt.RandomFeaturesRidge(60, random_state=0).ridge_path(x, y, ridges=[0, 1e-3, 1])
    >>> print(path)
        λ  leave-one-out error
    0                   0.153
    0.001               0.0233
    1                   0.536
    The least leave-one-out error is 0.0233, at ridge = 0.001.
    >>> path.best
    0.001
    >>> path.predict(x[:4]).shape
    (3, 4)
    """

    ridges: FloatArray  # (R,)
    loo_error: FloatArray  # (R,): mean squared error of each row under the fit to all others
    # (R, K, P), or (R, K, T, P) for labels of T columns; for infinitely many features
    # dual coefficients of the N rows, (R, 1, N) or (R, 1, T, N)
    coef: FloatArray
    intercept: FloatArray  # (R,), or (R, T)
    maps: tuple[InputMap, ...]  # of each member

    @property
    def best(self) -> float:
        """The ridge of least leave-one-out error."""
        return float(self.ridges[np.argmin(self.loo_error)])

    def _content(self) -> Content:
        error = Column(name="loo_error", heading="leave-one-out error")
        path = point_table(
            "path", self.ridges.shape, {"ridge": self.ridges}, [(error, self.loo_error)]
        )
        least = plain(float(np.min(self.loo_error)))
        verdict = f"The least leave-one-out error is {least}, at ridge = {whole(self.best)}."
        return Content(tables=[path], verdict=verdict)

    def _picture(self) -> _plots.Curves:
        order = np.argsort(self.ridges)
        shown = order[(self.ridges[order] > 0) | (order.size == 1)]  # the axis is logarithmic
        return _plots.Curves(
            x=self.ridges[shown],
            xlabel="ridge λ",
            lines=[_plots.Curve(label="", y=self.loo_error[shown], part="total")],
            ylabel="leave-one-out error",
            marks=[_plots.Mark(label="best", x=self.best)],
            note="" if shown.size == order.size else "not shown: ridge 0",
        )

    def predict(self, X: npt.ArrayLike) -> RealArray:
        """The predictions of every fit.

        Parameters
        ----------
        X : array_like of shape (n, D)
            Inputs.

        Returns
        -------
        ndarray of shape (R, n) or (R, n, T)
            The mean prediction of all members, for each of R ridges and, for labels of T columns,
            each column.

        Raises
        ------
        ValueError
            If `X` has another shape, or numbers that are too large.
        """
        inputs, dim = np.asarray(X, dtype=self.maps[0].dtype), self.maps[0].dim
        if inputs.ndim != 2 or inputs.shape[1] != dim:
            raise ValueError(f"X must have shape (n, {dim}), got {inputs.shape}")
        check_range(inputs)
        single = self.coef.ndim == 3
        coef = self.coef[:, :, None, :] if single else self.coef  # (R, K, T, P)
        outputs = coef.shape[2]
        flat = coef.transpose(1, 0, 2, 3).reshape(coef.shape[1], -1, coef.shape[3])
        mean = predict_mean(self.maps, flat, self.intercept.reshape(-1), inputs)
        stacked = mean.reshape(len(inputs), -1, outputs).transpose(1, 0, 2)
        return stacked[..., 0] if single else stacked


def ridge_grid(ridges: npt.ArrayLike | None) -> FloatArray:
    """The ridges of a path, in the paper's convention: four a decade by default.

    >>> ridge_grid(None).size
    33
    """
    if ridges is None:
        return np.geomspace(1e-6, 1e2, 33)
    grid = np.atleast_1d(np.asarray(checked("ridges", ridges, glossary.RIDGE)))
    refuse("ridges", grid, np.isinf(grid), "in [0, inf)")
    if grid.ndim > 1:
        raise ValueError(f"ridges must be a list of numbers, got an array of shape {grid.shape}")
    return grid


def fit_ridge_path(
    maps: Sequence[InputMap],
    sample: Sample,
    counts: IntArray,
    ridges: FloatArray,
    *,
    single: bool,
) -> RidgePath:
    """Fit every member for every ridge, as `fit_members`, with leave-one-out errors.

    `single`: whether labels were one-dimensional.
    """
    fewest = int(np.count_nonzero(counts, axis=1).min())
    if fewest < 2:
        raise ValueError(
            "every member must have at least 2 rows for a leave-one-out error, got "
            f"n_samples = {fewest}"
        )
    outside = np.zeros((*sample.labels.shape, ridges.size))  # sum over members
    fits = []
    for (phi, own), drawn in zip(_members(maps, sample, counts), counts, strict=True):
        fit, without_row = fit_path(phi, own, alphas_of(ridges, own.weight, phi))
        outside[drawn > 0] += without_row
        others = np.flatnonzero(drawn == 0)
        for part in phi.blocks(others.size):
            rows = others[part]
            outside[rows] += np.tensordot(phi(sample.inputs[rows]), fit.coef, 1) + fit.intercept
        fits.append(fit)
    residuals = sample.labels[..., None] - outside / len(counts)
    fits = _combined(fits, maps, counts)
    coef = np.stack([fit.coef for fit in fits]).transpose(3, 0, 2, 1)  # (R, K, T, P)
    intercept = np.mean([fit.intercept for fit in fits], axis=0).T  # (R, T)
    return RidgePath(
        ridges=ridges,
        loo_error=np.average(np.mean(residuals**2, axis=1), axis=0, weights=sample.weights),
        coef=coef[:, :, 0] if single else coef,
        intercept=intercept[:, 0] if single else intercept,
        maps=tuple(maps),
    )


def best_solution(path: RidgePath, sample: Sample, counts: IntArray) -> Solution:
    """The fit of least leave-one-out error."""
    at, length = int(np.argmin(path.loo_error)), path.coef.shape[-1]
    return Solution(
        coef=path.coef[at].reshape(len(path.maps), -1, length),
        intercept=path.intercept[at].reshape(-1),
        alphas=alphas_of(path.best, counts @ sample.weights, path.maps[0]),
        ridge=path.best,
    )
