r"""Fits for many ridges from one factorization, with their exact leave-one-out errors.

With Z = U S Vᵀ the residuals of the labels are R y, and the residual of row i under the fit to all
other rows is (R y)_i / R_ii, where

    R = alpha U (S² + alpha)⁻¹ Uᵀ + Q,        Q = 1 - U Uᵀ - c cᵀ

and Q projects on the orthogonal complement of all predictions; c is the unit vector of the
intercept, if there is one. Where Q_ii = 0, as for all rows of a fit that interpolates, alpha drops
out of the ratio, which then holds down to alpha = 0.

λ does not change when a row is left out; alpha = λ P W / D does, with the weight W that remains.
"""

from __future__ import annotations  # help() shows the names of types, not their definitions

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots, glossary
from doubletrouble._display import Column, Content, Shown, point_table
from doubletrouble._numbers import plain, whole
from doubletrouble.conventions import convert_ridge
from doubletrouble.estimators._features import FeatureMap, InputMap, RealArray, check_range
from doubletrouble.estimators._members import Penalty, Solution, predict_mean
from doubletrouble.estimators._solvers import EigenModes, MemberFit, Sample, factorize
from doubletrouble.parameters import FloatArray, Numeric, checked, refuse

Map = TypeVar("Map", bound=InputMap)

_NO_SHARE = float(np.sqrt(np.finfo(np.float64).eps))  # Q_ii below is taken as zero


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


def fit_path(
    maps: Sequence[FeatureMap],
    sample: Sample,
    counts: npt.NDArray[np.int64],
    ridges: FloatArray,
    *,
    single: bool,
) -> RidgePath:
    """Fit every member for every ridge, to the rows of the sample in its row of `counts`.

    `single`: whether labels were one-dimensional.
    """
    errors, fits = leave_one_out(maps, sample, counts, ridges, _fit_features)
    return ridge_path(ridges, errors, fits, maps, single=single)


def ridge_path(
    ridges: FloatArray,
    errors: FloatArray,
    fits: Sequence[MemberFit],
    maps: Sequence[InputMap],
    *,
    single: bool,
) -> RidgePath:
    """The path of fits with coefficients (P, T, R) and intercepts (T, R)."""
    coef = np.stack([fit.coef for fit in fits]).transpose(3, 0, 2, 1)  # (R, K, T, P)
    intercept = np.mean([fit.intercept for fit in fits], axis=0).T  # (R, T)
    return RidgePath(
        ridges=ridges,
        loo_error=errors,
        coef=coef[:, :, 0] if single else coef,
        intercept=intercept[:, 0] if single else intercept,
        maps=tuple(maps),
    )


def leave_one_out(
    maps: Sequence[Map],
    sample: Sample,
    counts: npt.NDArray[np.int64],
    ridges: FloatArray,
    fit: Callable[[Map, Sample, FloatArray], tuple[MemberFit, FloatArray]],
) -> tuple[FloatArray, list[MemberFit]]:
    """The leave-one-out error for every ridge, (R,), and the fits of all members.

    `fit` returns coefficients (P, T, R) and intercepts (T, R) of a member, and the predictions for
    each of its rows by the fit to its other rows, (N, T, R).
    """
    fewest = int(np.count_nonzero(counts, axis=1).min())
    if fewest < 2:
        raise ValueError(
            "every member must have at least 2 rows for a leave-one-out error, got "
            f"n_samples = {fewest}"
        )
    outside = np.zeros((*sample.labels.shape, ridges.size))  # sum over members
    fits = []
    for phi, drawn in zip(maps, counts, strict=True):
        member, without_row = fit(phi, sample.drawn(drawn), ridges)
        outside[drawn > 0] += without_row
        others = np.flatnonzero(drawn == 0)
        for part in phi.blocks(others.size):
            rows = others[part]
            outside[rows] += np.tensordot(phi(sample.inputs[rows]), member.coef, 1)
            outside[rows] += member.intercept
        fits.append(member)
    residuals = sample.labels[..., None] - outside / len(maps)
    errors = np.average(np.mean(residuals**2, axis=1), axis=0, weights=sample.weights)
    return np.asarray(errors), fits


def _fit_features(phi: FeatureMap, own: Sample, ridges: FloatArray) -> tuple[MemberFit, FloatArray]:
    sizes: dict[str, Numeric] = {"n_features": phi.n_features, "dim": phi.dim}
    alphas = np.asarray(convert_ridge(ridges, "paper", "sklearn", n_samples=own.weight, **sizes))
    system, modes = factorize(phi, own, float(alphas.min()))
    coef = system.weights(modes, alphas)  # (P, T, R)
    intercept = own.label_mean[:, None] - np.tensordot(system.mean, coef, 1)  # (T, R)
    left = left_out(own, modes, alphas, system.left_vectors(modes))
    return MemberFit(coef, intercept), left


def best_solution(path: RidgePath, samples: Sequence[Sample], n_features: float) -> Solution:
    """The fit of least leave-one-out error, to the samples of the members."""
    at, length = int(np.argmin(path.loo_error)), path.coef.shape[-1]
    weights = np.array([sample.weight for sample in samples])
    dim = samples[0].inputs.shape[1]
    return Solution(
        coef=path.coef[at].reshape(len(path.maps), -1, length),
        intercept=path.intercept[at].reshape(-1),
        alphas=Penalty(path.best).alphas(weights, n_features=n_features, dim=dim),
        ridge=path.best,
    )


def left_out(
    sample: Sample,
    modes: EigenModes,
    alphas: FloatArray,
    left: Iterable[tuple[slice, FloatArray]],
) -> FloatArray:
    """Predictions for each row by the fit to all others, (N, T, R), for alphas of all rows.

    `left` is U in blocks of rows.
    """
    constant = sample.constant
    predictions = np.empty((*sample.labels.shape, alphas.size))
    for rows, u in left:
        part = sample.rows(rows)
        remaining = sample.weight - (np.ones(1) if part.weights is None else part.weights)
        own_alphas = np.outer(remaining / sample.weight, alphas)  # (1 or n, R)
        above, below = _resolvent(u, modes, own_alphas)
        free = np.zeros(len(u))  # Q_ii
        if modes.values.size < sample.size - sample.intercept:
            free = 1 - np.sum(u * u, axis=1)
            if constant is not None:
                free -= constant[rows] ** 2
        tied = (free < _NO_SHARE)[:, None]
        beyond = sample.targets[rows] - u @ modes.projections  # Q y
        # where Q_ii = 0, alpha drops out of the ratio: 1 is used for it
        share = np.where(tied, 1.0, own_alphas)
        above = share[:, None, :] * above + np.where(tied, 0.0, beyond)[..., None]
        below = share * below + np.where(tied, 0.0, free[:, None])
        residual = above / below[:, None, :]
        if part.roots is not None:
            residual /= part.roots[:, None, None]
        predictions[rows] = part.labels[..., None] - residual
    return predictions


def _resolvent(
    u: FloatArray, modes: EigenModes, alphas: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """U (S² + alpha)⁻¹ Uᵀ y, (n, T, R), and the diagonal of U (S² + alpha)⁻¹ Uᵀ, (n, R).

    `alphas` has one row for all, or one for each.
    """
    if len(alphas) == 1:
        above = u @ modes.gains(alphas[0], 0)
        below = (u * u) @ (1 / (modes.values[:, None] + alphas))
        return above.reshape(len(u), -1, alphas.size), below
    above = np.empty((len(u), modes.projections.shape[1], alphas.shape[1]))
    below = np.empty(alphas.shape)
    for r, column in enumerate(alphas.T):
        scaled = u / (modes.values + column[:, None])
        above[..., r] = scaled @ modes.projections
        below[:, r] = np.sum(u * scaled, axis=1)
    return above, below
