"""The result of `forecast`: the error at any P, ridge, number of models and of rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots, glossary, options
from doubletrouble._display import (
    Content,
    Shown,
    against_mean,
    fit_verdict,
    table_by_part,
    tables_of,
)
from doubletrouble._numbers import alone, whole
from doubletrouble._plots import Axes
from doubletrouble.costs import COSTS, CostName, check_cost, cost_of, most_features, relative_cost
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.estimates import Estimate, PosteriorDraws
from doubletrouble.forecasting import _pictures
from doubletrouble.forecasting._checks import ForecastChecks
from doubletrouble.forecasting._population import Population
from doubletrouble.forecasting._random_features import (
    FeatureAverage,
    FeatureEnergy,
    average_over_features,
)
from doubletrouble.forecasting._ridge_functions import (
    DataRows,
    LeaveOneOut,
    RidgeFunctions,
    RidgeTable,
    split_functions,
)
from doubletrouble.forecasting._uncertainty import LabelNoise, RowDeviations
from doubletrouble.options import Advice, Option, option_after
from doubletrouble.palette import EXTRAPOLATED, FORECAST
from doubletrouble.parameters import FloatArray, Numeric, Value, checked, common_shape, number
from doubletrouble.results import ErrorTerms, fixed

GIVEN_KERNEL = "given kernel"  # in place of the name of an activation
DEFAULT_RIDGE = 1e-3
"""The paper's λ of tables and plots, that of `RandomFeaturesRidge`."""
_NEAR_ALL = 0.8  # between this share of the rows and all, splits and leave-one-out are interpolated
_RIDGES = (1e-8, 10.0)  # ends of a grid of δ, relative to the mean and the sum of the diagonal of Γ
_RIDGE_COUNT = 97
_COUNT, _MOST = 60, 1e3  # values of P in a search: their number, the largest in multiples of N
_COARSER = 3  # step in the grid of ridges of that search
_N_MEMBERS = (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)
_UNRELIABLE = 0.3  # error of the back-test: the rows do not determine a forecast there
_NORMAL, _SPLITS, _NOISE = 1, 4, 5  # streams of random numbers; splits of all sizes are nested


class _Model(NamedTuple):
    """The arguments of `Forecast.error` for one model."""

    n_features: float
    ridge: float
    n_members: float
    n_samples: float

    def cost(self, of: CostName) -> float:
        """The features of all models, or the operations of training."""
        return cost_of(self.n_features, self.n_samples, self.n_members, "ensemble", of)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Forecast(Shown):
    """The test error of random-features ridge regression on one data set, forecast from its rows.

    `error` is the error by cause at any number of features, ridge, number of models and of rows;
    `checks` are those of its assumptions; `noise` is the label noise; `advise` compares changes.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 3))
    >>> y = np.tanh(X[:, 0]) + 0.3 * rng.standard_normal(100)
    >>> f = dt.forecast(X, y, check=False)
    >>> print(f.error(n_features=50, ridge=0.01))
    part                 error ± s.e.  share
    noise           0.0068  ± 0.0029      6%
    initialization  0.00176 ± 0.00023     2%
    sampling        0.0010  ± 0.0032    0.9%
    bias            0.013   ± 0.041      12%
    noise floor     0.086   ± 0.036      79%
    total           0.108   ± 0.019
    <BLANKLINE>
    Predicting the mean: 0.486 (R² 0.78, 90% interval 0.71 to 0.84).
    <BLANKLINE>
    Underfitting or label noise: 91% of the error is bias + noise floor.
    """

    dim: float  # D in λ N/D, the ridge on the Gram matrix
    activation: str
    scale: bool  # whether the columns are scaled to mean 0 and variance 1
    noise: LabelNoise
    checks: ForecastChecks
    notes: tuple[str, ...]
    seed: int
    confidence: float
    _rows: DataRows = field(repr=False)
    _loo: LeaveOneOut = field(repr=False)
    _energy: FeatureEnergy
    _population: Population = field(repr=False)
    _deviations: RowDeviations = field(repr=False)
    _back_test: tuple[FloatArray, FloatArray] = field(repr=False)  # log g/g_min, error of log error
    _sizes: dict[int, RidgeTable] = field(default_factory=dict, repr=False)

    @property
    def n_samples(self) -> int:
        """The rows of the data set."""
        return len(self._rows)

    @property
    def fit_intercept(self) -> bool:
        """Whether a constant that is not penalized is fitted."""
        return self._rows.intercept

    @property
    def n_outputs(self) -> int:
        """The columns of y."""
        return int(self._rows.labels.shape[1])

    @property
    def baseline(self) -> float:
        """The error of predicting the mean of y: its variance, summed over columns."""
        return float(self._rows.labels.var(axis=0).sum())

    # --- errors ---

    def error(
        self,
        *,
        n_features: Numeric = math.inf,
        ridge: Numeric = DEFAULT_RIDGE,
        ensemble: EnsembleLike = 1,
        n_samples: Numeric | None = None,
    ) -> ErrorTerms[Estimate]:
        """The expected squared error on new rows and labels, by cause.

        Arrays broadcast with each other.

        Parameters
        ----------
        n_features : float or array_like, default: math.inf
            P, the random features of each model, at least 1; `math.inf` is kernel ridge regression.
        ridge : float or array_like, default: 0.001
            The paper's λ, at least 0; 0 is the minimum-norm fit.
        ensemble : float or array_like or Ensemble, default: 1
            K, the number of models averaged, a whole number of at least 1 or inf.
        n_samples : float or array_like or None, default: None
            N, rows of the training set, at least 5; None for all rows. May be more than there are.
            A list whose length is not that of the others has an axis of its own, the first.

        Returns
        -------
        ErrorTerms
            Noise, initialization, sampling, bias and bayes (the noise floor), with standard
            errors; `extrapolated` marks what the rows do not determine.

        Raises
        ------
        ValueError
            If a number is out of range, arrays do not broadcast, or `ridge` is too small at large P
            for a kernel whose eigenvalues decrease to rounding.
        TypeError
            If an argument is not a number.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((100, 3))
        >>> y = np.tanh(X[:, 0]) + 0.3 * rng.standard_normal(100)
        >>> f = dt.forecast(X, y, check=False)
        >>> one, ten = f.error(n_features=50), f.error(n_features=50, ensemble=10)
        >>> round(one.initialization.value / ten.initialization.value, 6)
        10.0
        >>> f.error(n_features=[50, 500, np.inf]).total.value.shape
        (3,)
        """
        settings = self._settings(n_features, ridge, ensemble, n_samples)
        shape = common_shape(settings)
        P, lam, K, N = (np.broadcast_to(value, shape).ravel() for value in settings.values())
        parts = {name: _Part.empty(N.size, self._deviations.count) for name in _PARTS}
        marks = np.zeros(N.size, dtype=bool)
        for size in np.unique(N):
            here = size == N
            split, marks[here] = self._split(P[here], lam[here], K[here], int(size))
            for name, (value, draws) in split.items():
                parts[name].value[here], parts[name].draws[:, here] = value, draws
        key = ("forecast", self.seed, self._deviations.rows)
        words = tuple(np.where(marks, EXTRAPOLATED, FORECAST).tolist())
        estimates: dict[str, Any] = {
            name: part.estimate(shape, key) for name, part in parts.items()
        }
        return ErrorTerms(
            **estimates,
            coordinates={name: value for name, value in settings.items() if np.ndim(value)},
            settings=fixed(settings),
            status={"total": words if shape else words[0]},
            baseline=self.baseline,
        )

    def _total(
        self,
        n_features: Numeric = math.inf,
        ridge: Numeric = DEFAULT_RIDGE,
        ensemble: EnsembleLike = 1,
        n_samples: Numeric | None = None,
    ) -> Value:
        """The total of `error` alone, without standard errors: faster on large grids."""
        settings = self._settings(n_features, ridge, ensemble, n_samples)
        shape = common_shape(settings)
        P, lam, K, N = (np.broadcast_to(value, shape) for value in settings.values())
        total = np.empty(shape)
        for size in np.unique(N):
            here = size == N
            average = self._average(P[here], lam[here], int(size))
            total[here] = average.functions.error + _per_member(average.variance, K[here])
        return total if shape else float(total)

    def _settings(
        self,
        n_features: Numeric = math.inf,
        ridge: Numeric = DEFAULT_RIDGE,
        ensemble: EnsembleLike = 1,
        n_samples: Numeric | None = None,
    ) -> dict[str, Value]:
        """P, λ, K and N, validated; N is rounded."""
        scheme = as_ensemble(ensemble, "Forecast.error")
        N = checked("n_samples", self.n_samples if n_samples is None else n_samples, glossary.ROWS)
        settings = {
            "n_features": checked("n_features", n_features, glossary.RANDOM_FEATURES),
            "ridge": checked("ridge", ridge, glossary.RIDGE),
            "n_members": checked("ensemble", scheme.n_members, glossary.N_MEMBERS),
        }
        shape = common_shape(settings)
        if np.ndim(N) == 1 and shape and len({1, np.size(N), shape[-1]}) == 3:  # not of one length
            N = np.reshape(N, (-1, *(1 for _ in shape)))
        settings["n_samples"] = np.round(N) if isinstance(N, np.ndarray) else float(round(N))
        return settings

    def _average(self, n_features: FloatArray, ridge: FloatArray, size: int) -> FeatureAverage:
        with np.errstate(over="ignore"):
            delta = ridge * (size / self.dim)
        average = average_over_features(self._table(size), self._energy, n_features, delta)
        rounding = self._loo.rounding
        if rounding and np.any(lost := average.log_kappa < math.log(rounding)):
            least = rounding * self.dim / size
            raise ValueError(
                f"ridge must be at least {least:.1g} at many features, as the eigenvalues of this "
                f"kernel decrease to rounding, got {float(ridge[lost].min()):g}"
            )
        return average

    def _table(self, size: int) -> RidgeTable:
        """The functions of κ at N rows, computed at first use."""
        if size not in self._sizes:
            self._sizes[size] = self._new_table(size)
        return self._sizes[size]

    def _new_table(self, size: int) -> RidgeTable:
        n, kappa, modes = self.n_samples, self._loo.kappa, size - int(self._rows.intercept)
        if size == n:
            return RidgeTable.of(kappa, self._loo.functions, modes)
        if size > n:
            return self._population.at_size(modes)
        near = math.floor(_NEAR_ALL * n)
        if size > near:  # few rows are left to test on
            low, high = self._table(near), self._table(n)
            share = (size - near) / (n - near)  # linearly: N - df₁ and df₁ add up to N
            pairs = zip(low.functions, high.functions, strict=True)
            between = (np.asarray((1 - share) * a + share * b) for a, b in pairs)
            return RidgeTable.of(kappa, RidgeFunctions(*between), modes)
        rng = np.random.default_rng((self.seed, _SPLITS))
        return RidgeTable.of(kappa, split_functions(self._rows, size, self._loo, rng), modes)

    def _split(
        self, P: FloatArray, lam: FloatArray, K: FloatArray, size: int
    ) -> tuple[dict[str, _Part], npt.NDArray[np.bool_]]:
        """The parts at one number of rows, and whether they are extrapolated."""
        average = self._average(P, lam, size)
        own, rows = average.functions, self._table(size)
        variance = _per_member(average.variance, K)
        extrapolated = np.zeros(P.shape, dtype=bool)
        at, growth, scale = average.log_kappa, np.zeros((1, *P.shape)), np.ones(P.shape)
        if rows.log_g is not None:  # the deviation at the same g, and that of the back-test
            log_g = np.interp(at, rows.log_kappa, rows.log_g)
            at = np.interp(log_g, self._population.log_g, self._population.log_kappa)
            off = np.interp(log_g - self._population.log_g_min, *self._back_test)
            extrapolated = self._population.is_extrapolated(log_g) | (off > _UNRELIABLE)
            doublings = math.log2(size / self.n_samples)  # of independent errors, after the first
            growth = self._normal[:, None] * off * min(doublings, math.sqrt(doublings))
            # of the larger error: a forecast of almost no error is not certain
            scale = np.maximum(1.0, self._table(self.n_samples).at(at).error / own.error)
        error, energy, feature = self._deviations.at(at)
        error, energy = error + growth * scale, energy + growth
        h, floor = own.sampling, own.error / (1 + own.sampling)  # floor: bias² + σ²
        noise = np.full_like(floor, self.noise.estimate**2 * self.n_outputs)
        if self.noise.given is None:
            noise = np.minimum(noise, floor)
        bias = floor - noise  # negative by chance where the noise is given
        diverges = np.isinf(variance)
        unit = _per_member(np.where(diverges, 0.0, average.noise_variance), K)
        noisy = np.minimum(noise * unit, variance)
        shift, alone = floor * error, noisy * feature
        finite = np.where(diverges, 0.0, variance)
        unknown = self._unknown_noise[:, None]
        infinite = diverges & (noise > 0)
        return {
            "noise": _Part(
                np.where(infinite, math.inf, noise * h + noisy), alone + unknown * (h + unit)
            ),
            "initialization": _Part(
                variance - noisy, finite * (energy + feature) - alone - unknown * unit
            ),
            "sampling": _Part(h * bias, h * (shift - unknown)),
            "bias": _Part(bias, shift - unknown),
            "bayes": _Part(noise, np.broadcast_to(unknown, shift.shape)),
        }, extrapolated

    @cached_property
    def _normal(self) -> FloatArray:
        """A standard normal deviation for each draw, of the error of the back-test."""
        z = np.random.default_rng((self.seed, _NORMAL)).standard_normal(self._deviations.count)
        return np.asarray((z - z.mean()) / z.std())

    @cached_property
    def _unknown_noise(self) -> FloatArray:
        """Deviations of the noise variance for each draw: it may be anything in [0, bound]."""
        known = self.noise.given is not None
        largest = 0.0 if known else self.noise.upper**2 * self.n_outputs
        share = np.random.default_rng((self.seed, _NOISE)).random(self._deviations.count)
        return np.asarray(largest * (share - share.mean()))

    # --- the best ridge, the best allocation, advice ---

    def _model(
        self, n_features: float, ridge: float, ensemble: float, n_samples: float | None
    ) -> _Model:
        """One model, validated."""
        scheme = as_ensemble(ensemble, "Forecast.error")
        N = self.n_samples if n_samples is None else n_samples
        return _Model(
            n_features=number("n_features", n_features, glossary.RANDOM_FEATURES),
            ridge=number("ridge", ridge, glossary.RIDGE),
            n_members=number("ensemble", scheme.n_members, glossary.N_MEMBERS),
            n_samples=number("n_samples", N, glossary.ROWS),
        )

    def best_ridge(
        self,
        n_features: float = math.inf,
        *,
        ensemble: float = 1,
        n_samples: float | None = None,
        ridges: FloatArray | None = None,
    ) -> float:
        """The paper's λ of least total error: among `ridges`, or on a grid that is refined.

        Parameters
        ----------
        n_features : float, default: math.inf
            P, the random features of each model.
        ensemble : float, default: 1
            K, the number of models averaged.
        n_samples : float or None, default: None
            N, rows of the training set; None for all rows.
        ridges : ndarray or None, default: None
            λ to choose from; None for a grid that is refined about the best.

        Returns
        -------
        float
            λ.

        Raises
        ------
        ValueError
            If a number is out of range.
        TypeError
            If an argument is not one number.
        """
        P, _, K, N = self._model(n_features, DEFAULT_RIDGE, ensemble, n_samples)
        grid = self._ridges(N) if ridges is None else _choices(ridges)
        best = int(np.argmin(self._total(P, grid, K, N)))
        if ridges is None:
            grid = np.geomspace(*_neighbours(grid, best), 33)
            best = int(np.argmin(self._total(P, grid, K, N)))
        return float(grid[best])

    def _ridges(self, n_samples: float) -> FloatArray:
        """A grid of λ, increasing from nearly none to the scale of the whole Gram matrix."""
        scale = float(np.diagonal(self._rows.gram).mean())
        low, high = (np.array(_RIDGES) * (1, n_samples)) * scale * self.dim / n_samples
        return np.geomspace(low, high, _RIDGE_COUNT)

    def best_allocation(
        self,
        budget: float,
        *,
        n_samples: float | None = None,
        cost: CostName = "features",
        n_members: Sequence[float] = _N_MEMBERS,
        ridges: FloatArray | None = None,
    ) -> Option:
        """The number of features, of models, and the ridge of least error within a budget.

        Parameters
        ----------
        budget : float
            The largest cost; at least that of one feature.
        n_samples : float or None, default: None
            N, rows of the training set; None for all rows.
        cost : "features" or "training", default: "features"
            P K features in total, or K N P min(N, P) operations of training.
        n_members : sequence of float, default: (1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 70, 100)
            K to choose from.
        ridges : ndarray or None, default: None
            λ to choose from; None for a grid that is refined about the best.

        Returns
        -------
        Option
            The forecast error, and the model in `setting`: P, λ, K and N.

        Raises
        ------
        ValueError
            If the budget is too small, or an argument is out of range.
        TypeError
            If an argument is not one number.
        """
        return self._option(options.BEST, self._best(budget, n_samples, cost, n_members, ridges))

    def _best(
        self,
        budget: float,
        n_samples: float | None,
        cost: CostName,
        n_members: Sequence[float] = _N_MEMBERS,
        ridges: FloatArray | None = None,
    ) -> _Model:
        """The model of `best_allocation`."""
        check_cost(cost)
        C = number("budget", budget, glossary.BUDGET)
        N = self._model(1, DEFAULT_RIDGE, 1, n_samples).n_samples
        K = np.unique(checked("n_members", n_members, glossary.N_MEMBERS))
        if not K.size:
            raise ValueError("n_members must have at least one number, got none")
        if (least := cost_of(1.0, N, K[0], "ensemble", cost)) > C:
            raise ValueError(f"budget must be at least {least:g}, that of one feature, got {C:g}")
        most = np.floor(most_features(C, N, K, "ensemble", cost))
        lam = self._ridges(N)[::_COARSER] if ridges is None else _choices(ridges)

        def least_error(sizes: FloatArray) -> tuple[int, int]:
            """Indices of K and P, each at its best ridge."""
            P, ridge = np.broadcast_arrays(sizes[:, None], lam)
            average = self._average(P, ridge, round(N))
            totals = average.functions.error + _per_member(average.variance, K[:, None, None])
            totals[sizes > most[:, None]] = math.inf
            member, best = np.unravel_index(int(np.argmin(totals.min(axis=2))), totals.shape[:2])
            return int(member), int(best)

        grid = np.floor(np.geomspace(1, min(most[0], _MOST * N), _COUNT))
        sizes = np.unique([*grid, *most[most >= 1]])
        member, best = least_error(sizes)
        if ridges is not None:  # at the best of all ridges the error is flat about the best P
            low, high = _neighbours(sizes[np.isfinite(sizes)], best)
            sizes = np.unique([*np.linspace(low, high, _COUNT).round(), sizes[best]])
            member, best = least_error(sizes)
        P, k = float(sizes[best]), float(K[member])
        return _Model(P, self.best_ridge(P, ensemble=k, n_samples=N, ridges=ridges), k, N)

    def _option(self, name: str, model: _Model, now: Option | None = None) -> Option:
        """A model with its error; beside a present one, with its gain and its relative costs."""
        error = self.error(
            n_features=model.n_features,
            ridge=model.ridge,
            ensemble=model.n_members,
            n_samples=model.n_samples,
        )
        about: dict[str, Any] = {
            "status": EXTRAPOLATED if error.extrapolated else FORECAST,
            "setting": model._asdict(),
        }
        before = model if now is None else _Model(**now.setting)
        features, training = (relative_cost(model.cost(of), before.cost(of)) for of in COSTS)
        data = model.n_samples / before.n_samples
        about["cost"] = {"features": features, "data": data, "training": training}
        if now is None or model == before:
            return Option(name=name, error=error, **about)
        return option_after(name, error, now, confidence=self.confidence, **about)

    def advise(
        self,
        *,
        n_features: float = math.inf,
        ridge: float = DEFAULT_RIDGE,
        ensemble: float = 1,
        n_samples: float | None = None,
        budget: float | None = None,
        cost: CostName = "features",
    ) -> Advice:
        """What each change of the present model brings, and the best allocation of a budget.

        The changes are twice the features, twice the models, infinitely many models, the best ridge
        and twice the rows, without those that change nothing; gains have standard errors, in which
        the choice of these rows cancels.

        Parameters
        ----------
        n_features : float, default: math.inf
            P, the random features of each model at present.
        ridge : float, default: 0.001
            The present λ, in the paper's convention.
        ensemble : float, default: 1
            K, the present number of models averaged.
        n_samples : float or None, default: None
            N, the present rows of the training set; None for all rows.
        budget : float or None, default: None
            The largest cost of the best allocation, may be `math.inf`; None for the present cost.
        cost : "features" or "training", default: "features"
            P K features in total, or K N P min(N, P) operations of training.

        Returns
        -------
        Advice
            The present model, every change and the best allocation, with errors and gains.

        Raises
        ------
        ValueError
            If the budget is too small, or an argument is out of range.
        TypeError
            If an argument is not one number.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((100, 3))
        >>> y = np.tanh(X[:, 0]) + 0.3 * rng.standard_normal(100)
        >>> advice = dt.forecast(X, y, check=False).advise(n_features=50)
        >>> advice.choice.name, round(float(advice["2x models"].gain), 2)
        ('2x data', 0.01)
        """
        now = self._model(n_features, ridge, ensemble, n_samples)
        P, _, K, N = now
        check_cost(cost)
        present = now.cost(cost)
        budget = present if budget is None else budget
        regularized = now._replace(ridge=self.best_ridge(P, ensemble=K, n_samples=N))
        changes = {options.RIDGE: regularized, options.DATA: now._replace(n_samples=2 * N)}
        if math.isfinite(P):  # infinitely many features have no variance that averaging reduces
            more = {options.FEATURES: now._replace(n_features=2 * P)}
            if math.isfinite(K):
                more[options.MODELS] = now._replace(n_members=2 * K)
                more[options.MANY] = now._replace(n_members=math.inf)
            changes = more | changes
        found = self._best(budget, N, cost)
        candidates = (found, regularized, now) if present <= budget else (found,)
        best = min(candidates, key=lambda model: self._total(*model))
        before = self._option(options.NOW, now)
        return Advice(
            now=before,
            changes=tuple(self._option(name, one, before) for name, one in changes.items()),
            allocations=(self._option(options.BEST, best, before),),
            confidence=self.confidence,
            facts={"budget": budget, "cost": cost},
        )

    # --- presentation ---

    def plot(self, ax: Axes | None = None, **settings: Any) -> Axes:
        """Draw the error by cause along the setting that is an array.

        By default along the number of features, from a tenth to ten times that of rows, and without
        any setting at the ridge of the printed forecast, `best_ridge()`. The band is the interval
        of the total; curves are dashed where they are extrapolated. Two arrays of features and
        ridges, on axes of their own, are a map. A note has the settings that are fixed.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.
        **settings : float or array_like
            Arguments of `error`: `n_features`, `ridge`, `ensemble` and `n_samples`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ValueError
            If a setting is out of range, or the error has more than two axes.
        TypeError
            If a setting is not an argument of `error`, or not a number.
        MissingExtraError
            If matplotlib is not installed.
        """
        return _plots.draw(_pictures.along(self, settings), ax)

    def map(
        self,
        ax: Axes | None = None,
        *,
        n_features: float = math.inf,
        ridge: float = DEFAULT_RIDGE,
        ensemble: float = 1,
        n_samples: float | None = None,
    ) -> Axes:
        """Draw the error over the number of features and the ridge, with the present model.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.
        n_features, ridge : float, default: math.inf, 0.001
            P and λ of the present model, which is marked, as is the least error of the map.
        ensemble : float, default: 1
            K, the number of models averaged.
        n_samples : float or None, default: None
            N, rows of the training set; None for all rows.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ValueError
            If a number is out of range.
        TypeError
            If an argument is not one number.
        MissingExtraError
            If matplotlib is not installed.
        """
        model = self._model(n_features, ridge, ensemble, n_samples)
        return _plots.draw(_pictures.map_around(self, *model), ax)

    def _picture(self) -> _plots.Picture:
        return _pictures.along(self, {})

    def _content(self) -> Content:
        ridge = self.best_ridge()
        error = self.error(ridge=ridge)
        lead, line = against_mean(
            error.total, self.baseline, where="at best", confidence=self.confidence
        )
        title = f"Infinitely many features at the best ridge, λ = {whole(ridge)}"
        low, high = self.noise.interval
        return Content(
            title=(
                f"Forecast for random features ({self.activation}) from {self.n_samples:,} rows in "
                f"{whole(self.dim)} dimension{'s' * (self.dim != 1)}; {self._convention}"
            ),
            lead=lead,
            tables=[
                replace(table_by_part(error, self.confidence), title=title),
                *(replace(table, title="Checks") for table in tables_of(self.checks)),
            ],
            lines=[self.checks.verdict, self.noise.verdict, line],
            notes=self.notes,
            verdict=_verdict(error, ridge),
            facts={
                "activation": self.activation,
                "scale": self.scale,
                "fit_intercept": self.fit_intercept,
                "n_samples": self.n_samples,
                "dim": self.dim,
                "confidence": self.confidence,
                "n_outputs": self.n_outputs,
                "best_ridge": ridge,
                "baseline": self.baseline,
                "noise": {"estimate": self.noise.estimate, "low": low, "high": high},
            },
        )

    @property
    def _convention(self) -> str:
        """The treatment of inputs and labels, as text."""
        constant = "with an intercept" if self.fit_intercept else "without an intercept"
        if self.activation == GIVEN_KERNEL:
            return constant
        scaled = "scaled to mean 0 and variance 1" if self.scale else "not scaled"
        return f"inputs {scaled}, {constant}"


def _verdict(error: ErrorTerms[Estimate], ridge: float) -> str:
    """The least error, and its causes."""
    least = alone(error.total)
    text = f"At best {least}, with infinitely many features and λ = {whole(ridge)}"
    return f"{text}. {fit_verdict(error)[0]}" if float(error.total) > 0 else f"{text}."


_PARTS = ("noise", "initialization", "sampling", "bias", "bayes")


class _Part(NamedTuple):
    """A part of the error, and draws of its deviation."""

    value: FloatArray
    draws: FloatArray  # (B, ...)

    @classmethod
    def empty(cls, size: int, n_draws: int) -> _Part:
        return cls(np.empty(size), np.empty((n_draws, size)))

    def estimate(self, shape: tuple[int, ...], key: Hashable) -> Estimate:
        """The estimate; the standard error of a divergence is 0."""
        value, draws = self.value.reshape(shape), self.draws.reshape(-1, *shape)
        spread = np.where(np.isfinite(value), draws.std(axis=0), 0.0)
        known = np.where(np.isfinite(value), value, 0.0) + draws
        return Estimate(
            value=value if shape else float(value),
            standard_error=spread if shape else float(spread),
            n_draws=len(draws),
            sources=(PosteriorDraws(values=known, key=key),),
        )


def _per_member(variance: FloatArray, n_members: FloatArray) -> FloatArray:
    """V/K; 0 for infinitely many models."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(n_members), 0.0, variance / n_members)


def _choices(ridges: npt.ArrayLike) -> FloatArray:
    """The ridges to choose from."""
    return np.atleast_1d(np.asarray(checked("ridges", ridges, glossary.RIDGE)))


def _neighbours(grid: FloatArray, index: int) -> tuple[float, float]:
    """The values of a grid before and after one of them."""
    return float(grid[max(index - 1, 0)]), float(grid[min(index + 1, len(grid) - 1)])
