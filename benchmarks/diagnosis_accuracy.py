"""Accuracy of `diagnose` on data of known truth, beside a learning curve of scikit-learn.

A cell is a generator of data and a learner. The truth is `decompose` on fresh training sets of M,
2M and 4M rows. From one data set of M rows each, `diagnose` estimates the error by cause and its
ratios at 2M and 4M; the fit c + a n^-α to the mean scores of scikit-learn's `learning_curve` gives
the same ratios. Printed are root mean square deviations, of parts as shares of the total, and how
often intervals of 90% contain the truth.
"""

import argparse
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.estimates import Estimate
from doubletrouble.parameters import FloatArray

ROWS = 200  # M
GROWTHS = (2, 4)
LEVEL = 0.9
TRUTH = {1: 48, 2: 32, 4: 24}  # fresh training sets of M, 2M and 4M rows
SHARES = (0.1, 0.2, 0.4, 0.6, 1.0)  # of the rows of a fold, in the learning curve
FOLDS = 10
BARS = {"sampling": 0.06, "initialization": 0.04, "2x": 0.05, "4x": 0.09}
COVERED = (0.85, 0.99)
WITHHELD, FALSE_ALARMS = 0.75, 0.03
MOST_FITS = 120

Sample = Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]


# --- cells of known truth ---


def friedman1(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    x = rng.random((n, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    return x, (y + 10 * x[:, 3] + 5 * x[:, 4]) / 5


def smooth(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """A network of eight tanh units, in ten dimensions."""
    fixed = np.random.default_rng(5)
    weights, outputs = fixed.standard_normal((10, 8)) / np.sqrt(10), fixed.standard_normal(8)
    x = rng.standard_normal((n, 10))
    return x, np.tanh(2 * x @ weights) @ outputs / 1.5


def sparse(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """A linear function of five of thirty dimensions."""
    x = rng.standard_normal((n, 30))
    return x, x[:, :5] @ np.array([1, -0.8, 0.6, 0.5, -0.4])


GENERATORS: Mapping[str, tuple[Sample, float]] = {
    "friedman1": (friedman1, 0.2),
    "smooth10": (smooth, 0.3),
    "sparse30": (sparse, 0.7),
}
"""Inputs with clean labels, and the standard deviation of the noise."""


def learners() -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Lasso, Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import ExtraTreeRegressor

    return {
        "Ridge": Ridge(),
        "Lasso": Lasso(0.05),
        "kNN": KNeighborsRegressor(),
        "ExtraTree": ExtraTreeRegressor(),
        "KernelRidge": KernelRidge(kernel="rbf"),
        "boosting": GradientBoostingRegressor(),
    }


def peaked() -> dict[str, Any]:
    """Learners at their interpolation peak on M rows."""
    from sklearn.neural_network import MLPRegressor

    network = MLPRegressor(hidden_layer_sizes=(16,), solver="lbfgs", max_iter=200)
    return {"random features, P = M": dt.RandomFeaturesRidge(ROWS, ridge=1e-6), "network": network}


QUICK = (
    *(("friedman1", "Ridge"), ("friedman1", "ExtraTree"), ("friedman1", "boosting")),
    *(("smooth10", "kNN"), ("smooth10", "KernelRidge"), ("sparse30", "Lasso")),
)


@dataclass(frozen=True, kw_only=True)
class KnownCell:
    """The expected error of a learner, its parts and its ratios, from fresh training sets."""

    values: Mapping[str, float]
    deviation: float  # standard error of the total, as a share of it

    @classmethod
    def of(cls, generator: str, model: Any) -> "KnownCell":
        """Decompose a learner on fresh training sets of every size."""
        sample, noise = GENERATORS[generator]
        totals: dict[int, Estimate] = {}
        values: dict[str, float] = {}
        for growth, sets in TRUTH.items():
            source = dt.GeneratorSource(sample, n_samples=growth * ROWS, noise=noise, n_test=4000)
            split = dt.decompose(model, source, n_data=sets, n_init=2, n_noise=1, progress=False)
            error = split.error()
            totals[growth] = error.total + noise**2
            if growth == 1:
                seeds = 0.0 if split.design.deterministic else float(error.initialization)
                values = {"initialization": seeds, "sampling": float(error.sampling)}
        now = totals[1]
        values["total"] = float(now)
        values |= {f"{growth}x": float(totals[growth]) / float(now) for growth in GROWTHS}
        return cls(values=values, deviation=float(now.standard_error) / float(now))


# --- estimates from one data set ---


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate and the ends of its interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, estimate: Estimate) -> "Interval":
        """The interval of an estimate."""
        low, high = estimate.confidence_interval(LEVEL)
        return cls(value=float(estimate), low=float(low), high=float(high))


def diagnosed(model: Any, x: FloatArray, y: FloatArray, seed: int) -> dict[str, Interval]:
    """The parts and ratios by `diagnose`, as far as they are not withheld."""
    diagnosis = dt.diagnose(model, x, y, seed=seed, progress=False)
    assert diagnosis.n_fits <= MOST_FITS
    error, advice = diagnosis.error(), diagnosis.advise()
    found = {"total": Interval.of(error.total), "sampling": Interval.of(error.sampling)}
    if diagnosis.design.seeded:
        found["initialization"] = Interval.of(error.initialization)
    for growth in GROWTHS:
        gain = advice[f"{growth}x data"].gain
        if isinstance(gain, dt.Estimate):
            found[f"{growth}x"] = Interval.of(1 - gain)
    return found


def power_law(model: Any, x: FloatArray, y: FloatArray, seed: int) -> dict[str, Interval]:
    """The ratios by scikit-learn: cross-validated errors at five sizes, fitted by c + a n^-α."""
    from scipy.optimize import OptimizeWarning, curve_fit
    from sklearn.base import clone
    from sklearn.model_selection import KFold, learning_curve

    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=np.random.RandomState(seed))
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    options = {"cv": folds, "scoring": "neg_mean_squared_error", "train_sizes": SHARES}
    sizes, _, scores = learning_curve(model, x, y, **options)
    n, errors = sizes / len(y), -scores.mean(axis=1)

    def curve(n: Any, c: float, a: float, alpha: float) -> Any:
        return c + a * n**-alpha

    start, limits = (errors.min() / 2, errors.min() / 2, 0.5), ([0, 0, 0], [np.inf, np.inf, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimizeWarning)  # of a covariance that is infinite
        best, covariance = curve_fit(curve, n, errors, start, bounds=limits, max_nfev=20_000)
    found = {}
    for growth in GROWTHS:

        def ratio(parameters: FloatArray, growth: int = growth) -> float:
            return float(curve(growth, *parameters) / curve(1.0, *parameters))

        steps = 1e-6 * np.eye(3)
        slope = np.array([(ratio(best + s) - ratio(best - s)) / 2e-6 for s in steps])
        variance = float(slope @ covariance @ slope)
        reach = 1.645 * math.sqrt(variance) if math.isfinite(variance) else math.inf
        value = ratio(best)
        found[f"{growth}x"] = Interval(value=value, low=value - reach, high=value + reach)
    return found


# --- deviations ---


@dataclass(frozen=True, kw_only=True)
class Deviations:
    """Deviations from the truth of one quantity over data sets, and how often it is covered."""

    errors: Sequence[float]  # of parts: as shares of the total
    covered: Sequence[bool]

    @classmethod
    def of(cls, name: str, found: Sequence[dict[str, Interval]], truth: KnownCell) -> "Deviations":
        """Compare one quantity with the truth."""
        expected = truth.values[name]
        scale = truth.values["total"] if name in ("total", "initialization", "sampling") else 1.0
        known = [one[name] for one in found if name in one]
        return cls(
            errors=[(one.value - expected) / scale for one in known],
            covered=[one.low <= expected <= one.high for one in known],
        )

    def __add__(self, other: "Deviations") -> "Deviations":
        return Deviations(
            errors=[*self.errors, *other.errors], covered=[*self.covered, *other.covered]
        )

    def __str__(self) -> str:
        if not self.errors:
            return f"{'':>13}"
        return f"{math.sqrt(np.mean(np.square(self.errors))):7.3f} / {np.mean(self.covered):.2f}"


QUANTITIES = ("total", "initialization", "sampling", "2x", "4x")
COLUMNS = (*QUANTITIES, "curve 2x", "curve 4x")


def accuracy(cells: Sequence[tuple[str, str]], sets: int) -> None:
    print(f"M = {ROWS}, {sets} data sets a cell; rms deviation / coverage of {LEVEL:.0%} intervals")
    print(f"{'':<24}{''.join(f'{name:>16}' for name in COLUMNS)}   truth ±   s a set")
    pooled = {name: Deviations(errors=[], covered=[]) for name in COLUMNS}
    withheld = total = 0
    for generator, name in cells:
        model, truth = learners()[name], KnownCell.of(generator, learners()[name])
        data, started = [draw(generator, number) for number in range(sets)], time.perf_counter()
        ours = [diagnosed(model, x, y, number) for number, (x, y) in enumerate(data)]
        seconds = (time.perf_counter() - started) / sets
        theirs = [power_law(model, x, y, number) for number, (x, y) in enumerate(data)]
        row = {one: Deviations.of(one, ours, truth) for one in QUANTITIES}
        row |= {f"curve {one}": Deviations.of(one, theirs, truth) for one in ("2x", "4x")}
        text = "".join(f"{row[one]!s:>16}" for one in COLUMNS)
        print(f"{generator + ' ' + name:<24}{text}   {truth.deviation:7.3f}   {seconds:7.2f}")
        pooled = {one: pooled[one] + row[one] for one in COLUMNS}
        withheld, total = withheld + sum("2x" not in one for one in ours), total + sets
    print(f"{'all':<24}{''.join(f'{pooled[one]!s:>16}' for one in COLUMNS)}")
    bars = "".join(f"{BARS.get(one, ''):>16}" for one in COLUMNS)
    print(f"{'bar of the deviation':<24}{bars}   coverage {COVERED[0]} to {COVERED[1]}")
    print(f"2x and 4x withheld: {withheld} of {total} data sets (bar {FALSE_ALARMS:.0%})")


def alarms(sets: int) -> None:
    """How often more data is withheld at an interpolation peak."""
    for name, model in peaked().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of fits that did not converge
            found = [diagnosed(model, *draw("sparse30", number), number) for number in range(sets)]
        share = np.mean(["2x" not in one for one in found])
        print(f"sparse30 {name}: withheld on {share:.0%} of {sets} data sets (bar {WITHHELD:.0%})")


def draw(generator: str, number: int) -> tuple[FloatArray, FloatArray]:
    """A data set; learners on one generator have the same ones."""
    (sample, noise), rng = GENERATORS[generator], np.random.default_rng([number, ROWS])
    x, y = sample(rng, ROWS)
    return x, y + noise * rng.standard_normal(ROWS)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="18 cells, and two at a peak")
    parser.add_argument("--sets", type=int, help="data sets a cell: 4, or 16 with --full")
    options = parser.parse_args([] if arguments is None else arguments)
    every = [(generator, name) for generator in GENERATORS for name in learners()]
    sets = options.sets or (16 if options.full else 4)
    accuracy(every if options.full else QUICK, sets)
    alarms(sets)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
