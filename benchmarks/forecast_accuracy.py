"""Accuracy of `forecast` on real data, beside generalized cross-validation and the plug-in.

From samples of n rows, `forecast` estimates the error of random features at N = n, n/2, 2n and 5n,
for P/N from 0.1 to 10, ridges δ on the Gram matrix from 1e-4 to 10 and K = 1, 5 and ∞. The
truth is the mean over fresh training sets and drawn features, on the other rows; K = ∞ from pairs
of draws. Cells whose truth has a standard error above 10% are left out.

Printed are relative deviations of the mean forecast over 24 samples of rows, all of which have the
checks: one sample of 200 rows has its own luck of 5-10% (more on standardized digits), and the
mean of 8 would still have 2-3%. A cell is beyond its tolerance if it deviates by more than 3%
and three standard errors, those of the truth and of the mean over samples combined. Coverage is
how often two standard errors of one forecast, with that of the truth, contain the truth.

Beside them: the average over features alone, on the same splits; the share of the bias and the
factor of the noise, where the target is known; the advice, as loss from following it; generalized
cross-validation of drawn models (for K = ∞: of kernel ridge regression at the effective ridge);
and `exact_error` of the spectrum and label powers of the sample. `--full` has all data sets, and
the time and memory of 5000 rows. MNIST, Fashion-MNIST and CIFAR-10 are read from the folder of
DOUBLETROUBLE_DATA, and skipped with a message without it.
"""

import argparse
import math
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.data import DataError, _find
from doubletrouble.forecasting._forecast import _feature_draws, _feature_energy, standardized
from doubletrouble.forecasting._random_features import average_over_features
from doubletrouble.forecasting._ridge_functions import (
    DataRows,
    Eigenbasis,
    RidgeTable,
    one_split,
)
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Forecast

RATIOS = (0.1, 0.3, 1.0, 3.0, 10.0)  # P/N
RIDGES = (1e-4, 1e-2, 1.0, 10.0)  # δ
MEMBERS = (1.0, 5.0, math.inf)
RAW: dict[str, Any] = {"scale": False, "fit_intercept": False}  # as the models are fitted
SAMPLES = 24  # of rows, each forecast
KNOWN = 0.1  # the largest relative standard error of the truth
TEST_ROWS = 1000
QUICK = ("diabetes", "digits one-hot", "Friedman 1")

Pool = tuple[FloatArray, FloatArray]


# --- data ---


def _scaled(x: FloatArray) -> FloatArray:
    """Centred, with one scale for all columns."""
    x = x - x.mean(axis=0)
    return np.asarray(x / math.sqrt(np.square(x).mean()))


def _column(y: FloatArray) -> FloatArray:
    return np.asarray((y - y.mean()) / y.std())[:, None]


def _one_hot(classes: Any) -> FloatArray:
    table = np.equal.outer(classes, np.unique(classes)).astype(float)
    return np.asarray(table - table.mean(axis=0))


def diabetes() -> Pool:
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    return standardized(x), _column(y)


def breast_cancer() -> Pool:
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    return standardized(x), _column(y)


def wine() -> Pool:
    from sklearn.datasets import load_wine

    x, y = load_wine(return_X_y=True)
    return standardized(x), _one_hot(y)


def digits_one_hot() -> Pool:
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return _scaled(x), _one_hot(y)


def digits_standardized() -> Pool:
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    return standardized(x), _column(y % 2.0)


def friedman1_target(x: FloatArray) -> FloatArray:
    """Friedman's first function, of inputs of variance 1; its variance is 1 too."""
    u = x / math.sqrt(12) + 0.5
    y = 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2
    return np.asarray((y + 10 * u[:, 3] + 5 * u[:, 4] - 14.41) / 4.88)


def friedman1_inputs(rng: np.random.Generator, n: int) -> FloatArray:
    return (rng.random((n, 10)) - 0.5) * math.sqrt(12)


def friedman1() -> Pool:
    rng = np.random.default_rng(0)
    x = friedman1_inputs(rng, 6000)
    return x, friedman1_target(x)[:, None] + 0.3 * rng.standard_normal((6000, 1))


def _friedman(generate: Any) -> Pool:
    x, y = generate(n_samples=6000, random_state=0)
    return standardized(x), _column(y) + 0.3 * np.random.default_rng(0).standard_normal((6000, 1))


def friedman2() -> Pool:
    from sklearn.datasets import make_friedman2

    return _friedman(make_friedman2)


def friedman3() -> Pool:
    from sklearn.datasets import make_friedman3

    return _friedman(make_friedman3)


def swiss_roll() -> Pool:
    from sklearn.datasets import make_swiss_roll

    x, t = make_swiss_roll(6000, noise=0.3, random_state=0)
    return standardized(x), _column(t) + 0.1 * np.random.default_rng(0).standard_normal((6000, 1))


def _images(name: str, pca: int | None) -> Pool:
    data = dt.load_data(name, pca=pca, n_samples=None, n_test=1, download=False)
    return _scaled(np.asarray(data.pool_x)[:6000]), np.asarray(data.pool_y)[:6000, None]


def mnist_one_hot() -> Pool:
    images = _find("mnist", folder=None, download=False, scaling="authors", statistics="own")
    return _scaled(images.rows[:6000].astype(float)), _one_hot(images.classes[:6000])


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """A data set, the rows of a sample, and the activation of the features."""

    load: Callable[[], Pool]
    n: int = 200
    activation: str = "relu"
    group: str = "development"

    @cached_property
    def pool(self) -> Pool:
        """All rows, loaded once."""
        return self.load()

    @property
    def sizes(self) -> tuple[int, ...]:
        """n/2, n and as much of 2n and 5n as leaves rows to test on."""
        rows = len(self.pool[0])
        larger = (m * self.n for m in (2, 5) if m * self.n <= 0.75 * rows)
        return (self.n // 2, self.n, *larger)


SETS: Mapping[str, DataSet] = {
    "diabetes": DataSet(load=diabetes, n=150),
    "breast cancer": DataSet(load=breast_cancer),
    "digits one-hot": DataSet(load=digits_one_hot),
    "digits standardized": DataSet(load=digits_standardized),
    "Friedman 1": DataSet(load=friedman1),
    "MNIST parity": DataSet(load=partial(_images, "mnist", None)),
    "CIFAR parity": DataSet(load=partial(_images, "cifar10", None)),
    "diabetes, tanh": DataSet(load=diabetes, n=150, activation="tanh"),
    "wine": DataSet(load=wine, n=60, group="calibration"),
    "Friedman 2": DataSet(load=friedman2, group="calibration"),
    "Friedman 3": DataSet(load=friedman3, group="calibration"),
    "digits one-hot, tanh": DataSet(load=digits_one_hot, activation="tanh", group="calibration"),
    "MNIST one-hot": DataSet(load=mnist_one_hot, group="calibration"),
    "Fashion-MNIST in 10": DataSet(load=partial(_images, "fashion-mnist", 10), group="calibration"),
    "CIFAR in 10": DataSet(load=partial(_images, "cifar10", 10), group="calibration"),
    "MNIST in 10": DataSet(load=partial(_images, "mnist", 10), n=150, group="held out"),
    "Swiss roll": DataSet(load=swiss_roll, n=150, group="calibration"),
    "breast cancer, tanh": DataSet(load=breast_cancer, n=150, activation="tanh", group="held out"),
}
GROUPS = {
    "development": "data sets on which the method was developed",
    "calibration": "data sets in view when limits of checks and the continuation were chosen",
    "held out": "data sets used for no limit",
}


# --- truth ---


def model_errors(
    pool: Pool,
    train: Any,
    test: Any,
    counts: Sequence[int],
    ridges: Sequence[float],
    *,
    draws: int,
    activation: str,
    rng: np.random.Generator,
) -> FloatArray:
    """The errors of drawn models on one training set for K = 1 and ∞, (P, δ, 2)."""
    x, y = pool
    table = np.empty((len(counts), len(ridges), 2))
    for i, n_features in enumerate(counts):
        residuals = np.empty((draws, len(ridges), len(test), y.shape[1]))
        for k in range(draws):
            fits = predictions(x, y[train], train, test, n_features, ridges, activation, rng)
            residuals[k] = y[test] - fits
        one = np.square(residuals).sum(axis=-1).mean(axis=(0, 2))
        mean = np.square(residuals.mean(axis=0)).sum(axis=-1).mean(axis=1)
        table[i] = np.stack([one, (mean * draws - one) / (draws - 1)], axis=-1)
    return table


def predictions(
    x: FloatArray,
    labels: FloatArray,
    train: Any,
    test: Any,
    n_features: int,
    ridges: Sequence[float],
    activation: str,
    rng: np.random.Generator,
) -> FloatArray:
    """Of one drawn model at every ridge, (δ, test rows, columns of y)."""
    sigma, dim = dt.activation(activation), x.shape[1]
    assert sigma.function is not None
    theta = rng.standard_normal((dim, n_features)) / math.sqrt(dim)
    z, zt = (
        (np.asarray(sigma.function(x[rows] @ theta), float) - sigma.mean) / math.sqrt(n_features)
        for rows in (train, test)
    )
    wide = n_features >= len(train)
    d, U = np.linalg.eigh(z @ z.T if wide else z.T @ z)
    left = zt @ (z.T @ U if wide else U)
    right = U.T @ (labels if wide else z.T @ labels)
    inverse = 1 / (np.maximum(d, 0.0) + np.asarray(ridges)[:, None])  # (δ, r)
    return np.asarray(left @ (inverse[:, :, None] * right))


def with_members(table: FloatArray, members: Sequence[float] = MEMBERS) -> FloatArray:
    """Errors of K models from those of one and of infinitely many, in the last axis."""
    one, many = table[..., 0], table[..., 1]
    return np.stack([many + (one - many) / K for K in members], axis=-1)


def features_at(n: int) -> list[int]:
    return [max(1, round(share * n)) for share in RATIOS]


@dataclass(frozen=True, kw_only=True)
class Truth:
    """Mean errors over training sets and features, (P, δ, K), with standard errors."""

    error: FloatArray
    standard_error: FloatArray

    @property
    def known(self) -> Any:
        """The cells that are compared."""
        return self.standard_error < KNOWN * self.error


def truth(data: DataSet, size: int, *, sets: int) -> Truth:
    """The errors at N = `size` by fitting drawn models, two on each training set."""
    rng, found = np.random.default_rng(size), []
    for _ in range(sets):
        order = rng.permutation(len(data.pool[0]))
        train, test = order[:size], order[size : size + TEST_ROWS]
        found.append(
            with_members(
                model_errors(
                    data.pool,
                    train,
                    test,
                    features_at(size),
                    RIDGES,
                    draws=2,
                    activation=data.activation,
                    rng=rng,
                )
            )
        )
    spread = np.std(found, axis=0, ddof=1) / math.sqrt(sets)
    return Truth(error=np.mean(found, axis=0), standard_error=spread)


# --- estimates from one sample of rows ---


def generalized_cross_validation(
    f: Forecast, x: FloatArray, activation: str, rng: np.random.Generator
) -> FloatArray:
    """Of one drawn model of every P, and of kernel ridge regression, (P, δ, K)."""
    n, y, loo = f.n_samples, f._rows.labels, f._loo
    draw = _feature_draws(x, dt.activation(activation), center=True)
    table = np.empty((len(RATIOS), len(RIDGES), 2))
    for i, n_features in enumerate(features_at(n)):
        z = draw(n_features, rng)
        d, U = np.linalg.eigh(z @ z.T / n_features)
        inverse = 1 / (np.maximum(d, 0.0) + np.array(RIDGES)[:, None])
        fitted = np.square(inverse[:, :, None] * (U.T @ y)).sum(axis=(1, 2)) / n
        table[i, :, 0] = fitted / inverse.mean(axis=1) ** 2
    P, delta = np.broadcast_arrays(np.array(features_at(n), float)[:, None], np.array(RIDGES))
    rows = RidgeTable.of(loo.kappa, loo.functions, n)
    log_kappa = average_over_features(rows, f._energy, P, delta).log_kappa
    table[:, :, 1] = np.exp(np.interp(log_kappa, np.log(loo.kappa), np.log(loo.gcv)))
    return with_members(table)


def plug_in(f: Forecast) -> FloatArray:
    """The theory for the spectrum and the label powers of the sample, (P, δ, K)."""
    d, U = np.linalg.eigh(f._rows.gram)
    problem = dt.SpectralProblem(
        eigenvalues=np.maximum(d, 1e-14 * d[-1])[::-1] / f.n_samples,
        target_powers=np.square(U.T @ f._rows.labels).sum(axis=1)[::-1] / f.n_samples,
        n_features=np.array(features_at(f.n_samples), float)[:, None, None],
        n_samples=f.n_samples,
        gram_ridge=np.array(RIDGES)[:, None],
    )
    return np.asarray(dt.exact_error(problem, np.array(MEMBERS)).total)


@dataclass(frozen=True, kw_only=True)
class Forecasts:
    """Forecasts from samples of rows: arrays of (samples, sizes, P, δ, K)."""

    values: FloatArray
    standard_errors: FloatArray
    extrapolated: Any
    gcv: FloatArray  # (samples, P, δ, K), at N = n
    plug_in: FloatArray
    checks: Mapping[str, Any]  # (samples,): whether each passed
    seconds: float  # of one forecast and its checks

    @classmethod
    def of(cls, data: DataSet, samples: int) -> "Forecasts":
        """Draw samples of rows and forecast from each."""
        (x, y), rng = data.pool, np.random.default_rng(11)
        columns: dict[str, list[Any]] = {k: [] for k in ("v", "e", "m", "gcv", "plug", "checks")}
        seconds = 0.0
        for seed in range(samples):
            rows = rng.choice(len(x), data.n, replace=False)
            started = time.perf_counter()
            f = dt.forecast(x[rows], y[rows], **RAW, activation=data.activation, seed=seed)
            seconds += time.perf_counter() - started
            terms = []
            for size in data.sizes:
                P = np.array(features_at(size))[:, None, None]
                lam = np.array(RIDGES)[:, None] * x.shape[1] / size
                model = {"n_features": P, "ridge": lam, "ensemble": np.array(MEMBERS)}
                terms.append(f.error(**model, n_samples=size))
            columns["v"].append([e.total.value for e in terms])
            columns["e"].append([e.total.standard_error for e in terms])
            columns["m"].append([e.extrapolated for e in terms])
            columns["gcv"].append(generalized_cross_validation(f, x[rows], data.activation, rng))
            columns["plug"].append(plug_in(f))
            columns["checks"].append([check.passed for check in f.checks.values()])
        arrays = {name: np.array(column) for name, column in columns.items()}
        return cls(
            values=arrays["v"],
            standard_errors=arrays["e"],
            extrapolated=arrays["m"],
            gcv=arrays["gcv"],
            plug_in=arrays["plug"],
            checks=dict(zip(f.checks, arrays["checks"].T, strict=True)),
            seconds=seconds / samples,
        )


# --- deviations ---


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Relative deviations from the truth in some cells, with standard errors."""

    deviations: FloatArray
    standard_errors: FloatArray
    ridges: FloatArray

    @classmethod
    def of(cls, values: FloatArray, truth: Truth, among: Any = True) -> "Cells":
        """The mean of values (samples, P, δ, K) in the cells whose truth is known."""
        here = truth.known & among
        spread = values.std(axis=0, ddof=1) / math.sqrt(len(values))
        relative = np.hypot(spread, truth.standard_error) / truth.error
        ridges = np.broadcast_to(np.array(RIDGES)[:, None], truth.error.shape)
        return cls(
            deviations=(values.mean(axis=0) / truth.error - 1)[here],
            standard_errors=relative[here],
            ridges=ridges[here],
        )

    @classmethod
    def joined(cls, parts: Sequence["Cells"]) -> "Cells":
        """All cells of several data sets."""
        names = ("deviations", "standard_errors", "ridges")
        empty = [np.empty(0)]
        return cls(**{k: np.concatenate(empty + [getattr(p, k) for p in parts]) for k in names})

    def where(self, mask: Any) -> "Cells":
        """Some of the cells."""
        return Cells(
            deviations=self.deviations[mask],
            standard_errors=self.standard_errors[mask],
            ridges=self.ridges[mask],
        )

    def beyond(self, tolerance: float = 0.03) -> int:
        """The number of cells off by more than the tolerance and three standard errors."""
        return int((np.abs(self.deviations) > tolerance + 3 * self.standard_errors).sum())

    def __str__(self) -> str:
        if not len(self.deviations):
            return "-"
        off = 100 * np.abs(self.deviations)
        return f"{np.median(off):.1f} / {off.max():.1f}"


@dataclass(kw_only=True)
class Found:
    """The cells of one data set by what they measure, and the coverage."""

    cells: dict[str, Cells]
    covered: dict[str, FloatArray]  # N ≤ n and N > n: share of samples, of every cell
    passed: float  # share of samples that pass the check of the spectrum
    features_passed: float
    width: float  # median relative standard error at N > n
    seconds: float


def accuracy(data: DataSet, samples: int, sets: Mapping[int, int]) -> Found:
    """Compare forecasts with the truth at every size; `sets` are training sets by N/n."""
    made = Forecasts.of(data, samples)
    passed = made.checks["spectrum"]
    cells: dict[str, list[Cells]] = {}
    covered: dict[str, list[FloatArray]] = {"N <= n": [], "N > n": []}
    wide = []

    def add(name: str, values: FloatArray, known: Truth, among: Any = True) -> None:
        if len(values) > 2:
            cells.setdefault(name, []).append(Cells.of(values, known, among))

    for index, size in enumerate(data.sizes):
        growth = max(1, size // data.n)
        known = truth(data, size, sets=sets[growth])
        values, errors = made.values[:, index], made.standard_errors[:, index]
        reach = 2 * np.hypot(errors, known.standard_error)
        within = (np.abs(values - known.error) <= reach).mean(axis=0)[known.known]
        covered["N > n" if growth > 1 else "N <= n"].append(within)
        if growth == 1:
            add("N = n" if size == data.n else "N < n", values, known)
            if size == data.n:
                add("GCV", made.gcv, known)
                add("plug-in", made.plug_in, known)
            continue
        wide.append(np.median((errors / values).mean(axis=0)[known.known]))
        beyond = made.extrapolated[:, index].mean(axis=0) > 0.5
        add("determined", values[passed], known, ~beyond)
        add("determined, failed", values[~passed], known, ~beyond)
        add("extrapolated", values[passed], known, beyond)
        add("extrapolated, failed", values[~passed], known, beyond)
    return Found(
        cells={name: Cells.joined(parts) for name, parts in cells.items()},
        covered={k: np.concatenate([np.empty(0), *v]) for k, v in covered.items()},
        passed=float(passed.mean()),
        features_passed=float(made.checks["features"].mean()),
        width=float(np.mean(wide)) if wide else math.nan,
        seconds=made.seconds,
    )


COLUMNS = {
    "N = n": "N = n",
    "N < n": "N < n",
    "determined": "N > n",
    "determined, failed": "(failed)",
    "extrapolated": "extrapol.",
    "extrapolated, failed": "(failed)",
    "GCV": "GCV",
    "plug-in": "plug-in",
}
"""What cells measure, and the heads of the table."""


def print_accuracy(found: Mapping[str, Found], samples: int) -> None:
    print(f"\nmedian / worst deviation of the mean forecast, {samples} samples of rows, %")
    print("N > n: 2n and 5n, determined by the rows, or extrapolated; (failed): from samples that")
    print("fail the spectrum check. SE: median relative standard error at N > n")
    heads = ["beyond", "spectrum", "features", "cov. N<=n", "cov. N>n", "SE", "s"]
    print(_row("", [*COLUMNS.values(), *heads]))
    for name, one in found.items():
        cells = [one.cells.get(column, Cells.joined([])) for column in COLUMNS]
        beyond = sum(one.cells[k].beyond() for k in ("N = n", "N < n"))
        print(
            _row(
                name,
                [
                    *map(str, cells),
                    str(beyond),
                    f"{one.passed:.0%}",
                    f"{one.features_passed:.0%}",
                    f"{one.covered['N <= n'].mean():.0%}",
                    f"{one.covered['N > n'].mean():.0%}" if one.covered["N > n"].size else "-",
                    f"{one.width:.0%}",
                    f"{one.seconds:.2f}",
                ],
            )
        )
    print(
        "beyond: cells of N <= n; spectrum, features: samples that pass the check; cov.: coverage"
    )


def summarize(found: Mapping[str, Found], names: Sequence[str], what: str) -> None:
    """The table of bars, over some of the data sets."""
    chosen = [found[name] for name in names]

    def pooled(*columns: str) -> Cells:
        return Cells.joined([one.cells[c] for one in chosen for c in columns if c in one.cells])

    near = pooled("N = n", "N < n")
    print(f"\n{what}: {', '.join(names)}")
    _bar("N = n and N < n, ridge >= 1e-2", str(near.where(near.ridges > 1e-3)), "5 / 15%")
    _bar("N = n and N < n, ridge 1e-4", str(near.where(near.ridges < 1e-3)), "5 / 20%")
    _bar("cells beyond 3 SE + 3%", f"{near.beyond()} of {len(near.deviations)}", "none")
    _bar("N = 2n, 5n, determined, spectrum passed", str(pooled("determined")), "5 / 10%")
    _bar("the same, spectrum failed", str(pooled("determined, failed")), "")
    _bar("extrapolated, spectrum passed", str(pooled("extrapolated")), "15 / 30%")
    _bar("extrapolated, spectrum failed", str(pooled("extrapolated, failed")), "")
    shares = [np.concatenate(list(one.covered.values())).mean() for one in chosen]
    _bar("coverage of 2 SE: least / mean", f"{min(shares):.0%} / {np.mean(shares):.0%}", "80 / 90%")
    _bar("GCV at N = n", str(pooled("GCV")), "")
    _bar("plug-in of the sample's spectrum at N = n", str(pooled("plug-in")), "")


def _row(name: str, cells: Sequence[str]) -> str:
    return f"{name:<23}" + "".join(f"{cell:>13}" for cell in cells)


def _bar(name: str, value: str, bar: str) -> None:
    print(f"  {name:<44}{value:>22}   {f'bar {bar}' if bar else ''}".rstrip())


# --- features alone ---


def features_alone(data: DataSet, splits: int, draws: int) -> Cells:
    """The average over features against drawn models on the same splits of the rows."""
    (x, y), n, rng = data.pool, data.n, np.random.default_rng(3)
    sigma = dt.activation(data.activation)
    P, delta = np.broadcast_arrays(np.array(features_at(n), float)[:, None], np.array(RIDGES))
    drawn, predicted = [], []
    for _ in range(splits):
        order = rng.permutation(len(x))
        train, test = order[:n], order[n : n + TEST_ROWS]
        both = np.concatenate([train, test])
        table = model_errors(
            data.pool,
            train,
            test,
            features_at(n),
            RIDGES,
            draws=draws,
            activation=data.activation,
            rng=rng,
        )
        drawn.append(with_members(table))
        K, index = dt.kernel(sigma, x[both], center=True), np.arange(len(both))
        rows = DataRows(gram=K, labels=y[both])
        spectrum = Eigenbasis.of(rows.subset(index[:n]))
        kappa = spectrum.kappas
        energy = _feature_energy(spectrum, _feature_draws(x[train], sigma, center=True), rng)
        split = one_split(rows, index[:n], index[n:], kappa)
        average = average_over_features(RidgeTable.of(kappa, split, n), energy, P, delta)
        many = average.functions.error
        predicted.append(with_members(np.stack([many + average.variance, many], axis=-1)))
    mean = np.mean(drawn, axis=0)
    off = np.array(predicted) - np.array(drawn)
    error = off.std(axis=0, ddof=1) / math.sqrt(splits) / mean
    ridges = np.broadcast_to(np.array(RIDGES)[:, None], mean.shape)
    known = error < KNOWN
    return Cells(
        deviations=(off.mean(axis=0) / mean)[known],
        standard_errors=error[known],
        ridges=ridges[known],
    )


def print_features(cells: Mapping[str, Cells]) -> None:
    print("\nfeatures alone, same splits: median / worst deviation, %")
    every = Cells.joined(list(cells.values()))
    for name, one in [*cells.items(), ("all", every)]:
        large = one.where(one.ridges > 1e-3)
        small = one.where(one.ridges < 1e-3)
        over = np.abs(large.deviations) > np.maximum(0.04, 3 * large.standard_errors)
        print(
            f"  {name:<22} ridge >= 1e-2 {large!s:>12} ({int(over.sum())} of {len(over)} cells off "
            f"by more than 4% and 3 SE), ridge 1e-4 {small!s:>12}"
        )
    print("  bars: ridge >= 1e-2 1 / 4% (or 3 SE); ridge 1e-4 10%")


# --- the causes, where the target is known ---


def causes(
    x: FloatArray, target: FloatArray, noise: float, n: int, *, samples: int, rounds: int
) -> None:
    """Print the share of the bias and the factor of the noise against refits with fresh noise."""
    rng, counts = np.random.default_rng(4), features_at(n)
    groups = min(6, (len(x) - TEST_ROWS // 2) // n)  # disjoint training sets
    bias, error, factor = [], [], []
    for _ in range(rounds):
        order = rng.permutation(len(x))
        test, rest = order[: TEST_ROWS // 2], order[TEST_ROWS // 2 :]
        left = np.empty((len(counts), groups, len(RIDGES), len(test)))
        total, noisy = (np.empty((len(counts), groups, len(RIDGES))) for _ in range(2))
        spread = np.empty((len(counts), groups, len(RIDGES)))
        for k in range(groups):
            train = rest[k * n : (k + 1) * n]
            labels = np.column_stack([target[train], rng.standard_normal((n, 4))])
            for i, n_features in enumerate(counts):
                one, two = (
                    predictions(x, labels, train, test, n_features, RIDGES, "relu", rng)
                    for _ in range(2)
                )
                a, b = target[test] - one[..., 0], target[test] - two[..., 0]
                left[i, k] = (a + b) / 2
                many = (one * two)[..., 1:].mean(axis=(1, 2))
                total[i, k] = (a * b).mean(axis=1) + noise**2 * (1 + many)
                noisy[i, k] = many
                spread[i, k] = (np.square(one) + np.square(two))[..., 1:].mean(axis=(1, 2)) / 2
        mean = left.sum(axis=1)
        pairs = (np.square(mean) - np.square(left).sum(axis=1)) / (groups * (groups - 1))
        bias.append(pairs.mean(axis=-1))
        error.append(total.mean(axis=1))
        factor.append(np.stack([spread.mean(axis=1), noisy.mean(axis=1)], axis=-1))
    share = np.mean(bias, axis=0) / np.mean(error, axis=0)
    expected, doubt = (
        np.mean(factor, axis=0),
        np.std(factor, axis=0, ddof=1) / math.sqrt(rounds),
    )
    shares, factors = [], []
    for seed in range(samples):
        rows = rng.choice(len(x), n, replace=False)
        y = target[rows] + noise * rng.standard_normal(n)
        f = dt.forecast(x[rows], y, **RAW, noise=noise, check=False, seed=seed)
        P = np.array(counts)[:, None, None]
        lam = np.array(RIDGES)[:, None] * x.shape[1] / n
        e = f.error(n_features=P, ridge=lam, ensemble=np.array([1.0, math.inf]))
        shares.append(np.asarray(e.bias.value / e.total.value)[..., 1])
        factors.append(np.asarray(e.noise.value) / noise**2)
    off = np.abs(np.mean(shares, axis=0) - share)
    ratio = np.abs(np.mean(factors, axis=0) / expected - 1)[doubt < KNOWN * expected]
    print(
        f"noise {noise:.1f}: bias share off by {np.median(off):.3f} / {off.max():.3f} "
        f"(bar 0.05); noise factor by {100 * np.median(ratio):.1f} / {100 * ratio.max():.1f}% "
        f"(bar 5% median; SE of the truth {100 * np.median(doubt / expected):.1f}%)"
    )


def print_causes(*, full: bool) -> None:
    print("\ncauses where the target is known, median / worst over P and ridge")
    rng = np.random.default_rng(5)
    x = friedman1_inputs(rng, 6000)
    cases = {"Friedman 1": (x, friedman1_target(x))}
    if full:
        images = digits_one_hot()[0]
        hidden = np.tanh(images @ rng.standard_normal((64, 8)) / 4)
        cases["digits, smooth labels"] = (images, _column(hidden @ rng.standard_normal(8))[:, 0])
    for name, (inputs, target) in cases.items():
        for noise in (0.3, 1.0) if full else (0.3,):
            print(f"  {name:<22}", end=" ")
            causes(inputs, target, noise, 200, samples=24 if full else 12, rounds=6 if full else 3)


# --- advice ---

ADVISED = ("diabetes", "breast cancer", "digits one-hot", "Friedman 1", "MNIST parity")
BASES = (1e-3, 0.1, 1.0)  # δ
FINE = tuple(np.geomspace(1e-6, 1e3, 55))  # δ of the truth
SHARE = 0.6  # P/N


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """Outcomes of following the advice."""

    right: list[bool] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)  # errors of predicted logarithms

    def extend(self, other: "Decisions") -> None:
        """Add the outcomes of other data."""
        self.right.extend(other.right)
        self.losses.extend(other.losses)
        self.gains.extend(other.gains)

    def __str__(self) -> str:
        return (
            f"{len(self.losses)} decisions: best action named in {np.mean(self.right):.0%}, loss "
            f"{100 * np.mean(self.losses):.2f}% on average, {100 * max(self.losses):.1f}% at "
            f"worst, error of the log gain {np.median(np.abs(self.gains)):.3f} in the median"
        )


def advice(data: DataSet, noise: float, *, samples: int, sets: int) -> Decisions:
    """Follow the advice from samples of rows, with noise added to the labels."""
    rng, n, (x, clean) = np.random.default_rng(6), data.n, data.pool
    y = clean + noise * clean.std(axis=0) * rng.standard_normal(clean.shape)
    n_features = round(SHARE * n)
    logs = {1: np.zeros((2, len(FINE), 2)), 2: np.zeros((1, len(FINE), 2))}
    for growth, table in logs.items():
        size = growth * n
        for _ in range(sets):
            order = rng.permutation(len(x))
            table += model_errors(
                (x, y),
                order[:size],
                order[size : size + TEST_ROWS],
                (n_features, 2 * n_features)[: len(table)],
                FINE,
                draws=2,
                activation=data.activation,
                rng=rng,
            )
        np.log(with_members(table / sets, (1.0, 2.0)), out=table)

    def log_error(delta: float, growth: int = 1, wide: int = 0, double: int = 0) -> float:
        return float(np.interp(np.log(delta), np.log(FINE), logs[growth][wide, :, double]))

    made = Decisions()
    for seed in range(samples):
        rows = rng.choice(len(x), n, replace=False)
        options: dict[str, Any] = {"activation": data.activation, "check": False, "seed": seed}
        f = dt.forecast(x[rows], y[rows], **RAW, **options)
        for delta in BASES:
            advised = f.advise(n_features=n_features, ridge=delta * x.shape[1] / n)
            own = advised["best ridge"].setting["ridge"] * n / x.shape[1]
            actions = {
                "now": log_error(delta),
                "2x features": log_error(delta, wide=1),
                "2x models": log_error(delta, double=1),
                "best ridge": log_error(own),
                "2x data": log_error(2 * delta, growth=2),
            }
            ideal = actions | {"best ridge": float(logs[1][0, :, 0].min())}
            choice = advised.choice.name
            made.right.append(choice == min(ideal, key=lambda name: ideal[name]))
            made.losses.append(math.expm1(actions[choice] - min(ideal.values())))
            now = float(advised.now.error.total) if advised.now.error else math.nan
            for option in advised.changes:
                if option.name in actions and option.error is not None:
                    gain = math.log(float(option.error.total) / now)
                    made.gains.append(gain - actions[option.name] + actions["now"])
    return made


def print_advice(names: Sequence[str], *, full: bool) -> None:
    print(
        "\nadvice at P = 0.6 N, K = 1 and ridge 1e-3, 0.1 and 1: twice the features, the models or"
    )
    print("the rows, or the best ridge; label noise 0 and 1 added")
    every = Decisions()
    for name in names:
        for noise in (0.0, 1.0):
            made = advice(SETS[name], noise, samples=6 if full else 2, sets=16 if full else 8)
            if full:
                print(f"  {name}, noise {noise:.0f}: {made}")
            every.extend(made)
    print(f"  all: {every}; bar: loss 1% on average")


# --- speed ---


def speed(n: int = 5000) -> None:
    """Time and memory of one forecast, in a process of its own."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 30))
    y = np.tanh(x[:, 0]) + x[:, 1] * x[:, 2] + 0.3 * rng.standard_normal(n)
    dt.forecast(x[:50], y[:50], check=False)  # imports
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, worked = time.perf_counter(), time.process_time()
    f = dt.forecast(x, y)
    setup, work = time.perf_counter() - started, time.process_time() - worked
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / (8 * n**2)
    counts, ridges = np.geomspace(n / 50, 10 * n, 100)[:, None], np.geomspace(1e-4, 10, 20)
    seconds = []
    for size in (n, 2 * n):
        started = time.perf_counter()
        f.error(n_features=counts, ridge=ridges, n_samples=size)
        seconds.append(time.perf_counter() - started)
    print(
        f"  n = {n}, {os.environ.get('OPENBLAS_NUM_THREADS', 'all')} threads: set-up {setup:.1f} s "
        f"(bar 40; {work:.1f} s of processors), grid of 100 x 20 {seconds[0]:.2f} s at "
        f"N = n and {seconds[1]:.2f} s at 2n (bar 1), {used:.1f} n x n matrices (bar 4)"
    )


def available(names: Sequence[str]) -> list[str]:
    """The data sets at hand; the others are skipped with a message."""
    found = []
    for name in names:
        try:
            rows = len(SETS[name].pool[0])
        except DataError as error:
            print(f"{name} is skipped: {error}")
            continue
        found.append(name)
        assert rows > SETS[name].n
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="all data sets, and the speed")
    parser.add_argument("--speed", action="store_true", help="the speed alone")
    options = parser.parse_args([] if arguments is None else arguments)
    if options.speed:
        speed()
        return
    full, started = bool(options.full), time.perf_counter()
    names = available(list(SETS) if full else QUICK)
    samples = SAMPLES if full else SAMPLES // 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of repeated rows
        print_features(
            {n: features_alone(SETS[n], 10 if full else 5, 6 if full else 4) for n in names}
        )
        sets = {1: 36, 2: 12, 5: 6} if full else {1: 24, 2: 8, 5: 4}
        found = {}
        for name in names:
            found[name] = accuracy(SETS[name], samples, sets)
        print_accuracy(found, samples)
        for group, meaning in GROUPS.items():
            if members := [name for name in names if SETS[name].group == group]:
                summarize(found, members, meaning)
        print_causes(full=full)
        print_advice([n for n in names if n in ADVISED], full=full)
    if full:
        print("\nspeed")
        two = os.environ | {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
        command = [sys.executable, "-m", "benchmarks.forecast_accuracy", "--speed"]
        subprocess.run(command, env=two, check=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
