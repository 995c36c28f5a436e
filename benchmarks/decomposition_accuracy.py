"""`decompose` on the paper's model, whose parts are known, and the bootstrap of mlxtend beside it.

Random features with N = D = 120 and SNR 1. The truth is that of the finite model, by `simulate`;
the theory, for infinite sizes, stands beside it. `decompose` and `bias_variance_decomp` have 200
fits each: the first on 20 data sets, the second on resamples of one. Where mlxtend is not
installed (the extra `bench`), its part is left out.

    python -m benchmarks.decomposition_accuracy [--repeats R] [--draws N] [--no-cost]
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.estimates import Estimate
from doubletrouble.learners import DataSource
from doubletrouble.parameters import FloatArray, Value
from doubletrouble.results import ErrorTerms

DIM, RIDGE, NOISE, N_TEST = 120, 1e-3, 1.0, 1000  # N = D
RATIOS = (0.3, 0.632, 1.0, 2.0, 5.0)  # P/N
DRAWS: dict[str, Any] = {"n_data": 20, "n_init": 5, "n_noise": 2}
ROUNDS = 200  # of the bootstrap: as many fits
PARTS = ("noise", "initialization", "sampling", "bias", "total")
BAR, AT = 5.0, (0.632, 1.0)
COST_BAR = 0.05


@dataclass(frozen=True)
class Linear:
    """Inputs of identity covariance and a linear teacher of norm 1: clean labels of variance 1."""

    teacher: FloatArray  # (D,)

    def __call__(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        """Inputs (n, D) and clean labels (n,)."""
        x = rng.standard_normal((n, self.teacher.size))
        return x, x @ self.teacher


def linear(seed: int) -> Linear:
    direction = np.random.default_rng(seed).standard_normal(DIM)
    return Linear(direction / np.linalg.norm(direction))


def n_features(ratio: float) -> int:
    return round(ratio * DIM)


def truths(draws: int) -> Iterator[tuple[dict[str, Estimate], ErrorTerms[Value]]]:
    """The parts of the finite model with their standard errors, and the theory, at every ratio."""
    for ratio in RATIOS:
        problem = dt.Problem(features_per_dim=n_features(ratio) / DIM, ridge=RIDGE, noise=NOISE)
        run = dt.simulate(problem, dim=DIM, n_data=draws, n_init=4, test="exact", progress=False)
        error = run.error()
        yield {name: getattr(error, name) for name in PARTS}, dt.exact_error(run.problem)


def ours(ratio: float, seed: int) -> dict[str, Estimate]:
    source = dt.GeneratorSource(linear(seed), n_samples=DIM, noise=NOISE, n_test=N_TEST)
    model = dt.RandomFeaturesRidge(n_features(ratio), ridge=RIDGE)
    error = dt.decompose(model, source, seed=seed, progress=False, **DRAWS).error()
    return {**error.parts, "total": error.total}


def bootstrap(ratio: float, seed: int) -> tuple[float, float] | None:
    """Variance and squared bias by mlxtend, from one fresh training set; clean test labels."""
    try:
        from mlxtend.evaluate import bias_variance_decomp
    except ModuleNotFoundError:
        return None
    rng, sample = np.random.default_rng([seed, 1]), linear(seed)
    (x, clean), (x_test, y_test) = sample(rng, DIM), sample(rng, N_TEST)
    y = clean + NOISE * rng.standard_normal(DIM)
    model = dt.RandomFeaturesRidge(
        n_features(ratio), ridge=RIDGE, random_state=np.random.RandomState(seed)
    )
    _, bias, variance = bias_variance_decomp(
        model, x, y, x_test, y_test, loss="mse", num_rounds=ROUNDS, random_seed=seed
    )
    return float(variance), float(bias)


def pair(parts: dict[str, Any]) -> tuple[float, float]:
    """Variance, which is all but bias, and squared bias."""
    bias = float(parts["bias"].value)
    return float(parts["total"].value) - bias, bias


def accuracy(repeats: int, draws: int) -> None:
    fits = f"{DRAWS['n_data']} data sets x {DRAWS['n_noise']} noise x {DRAWS['n_init']} init"
    print(f"N = D = {DIM}, SNR 1, ridge {RIDGE:g}, relu; truth: simulate, {draws} draws")
    print(f"decompose, {fits}, {N_TEST} test points, seed 0")
    rows = []
    for ratio, (truth, theory) in zip(RATIOS, truths(draws), strict=True):
        found = [ours(ratio, seed) for seed in range(repeats)]
        print(f"P/N = {ratio:g}")
        for name in PARTS:
            print(_compared(name, found, truth[name], getattr(theory, name)))
        others = [bootstrap(ratio, seed) for seed in range(repeats)]
        mine = np.array([pair(parts) for parts in found])
        rows.append((ratio, np.array(pair(truth)), mine, None if None in others else others))
    _beside(rows, repeats)


def _compared(name: str, found: list[dict[str, Estimate]], truth: Estimate, theory: float) -> str:
    one = found[0][name]
    spread = np.hypot(one.standard_error, truth.standard_error)
    worst = max(
        abs(f[name].value - truth.value) / np.hypot(f[name].standard_error, truth.standard_error)
        for f in found
    )
    return (
        f"  {name:<15}{one.value:9.4f} ± {one.standard_error:<7.2g} "
        f"simulated {truth.value:8.4f} ± {truth.standard_error:<7.2g} "
        f"z {(one.value - truth.value) / spread:+5.1f}   theory {theory:8.4f} "
        f"z {one.z_score(theory):+5.1f}   largest |z| of {len(found)} seeds {worst:.1f}"
    )


def _beside(rows: list[Any], repeats: int) -> None:
    """Means over repeats, root mean square deviations from the truth, and their ratio."""
    print(f"variance / bias²: mean of {repeats} runs of {ROUNDS} fits (rms deviation from truth)")
    for ratio, truth, mine, others in rows:
        print(f"P/N = {ratio:g}")
        off = np.sqrt(np.mean((mine - truth) ** 2, axis=0))
        print(f"  truth              {truth[0]:8.3f}          {truth[1]:7.3f}")
        print(f"  decompose          {_cells(mine, off)}")
        if others is None:
            print("  mlxtend            not installed: pip install --group bench")
            continue
        theirs = np.array(others)
        far = np.sqrt(np.mean((theirs - truth) ** 2, axis=0))
        print(f"  mlxtend            {_cells(theirs, far)}")
        bar = f" (bar {BAR:g})" if ratio in AT else ""
        print(f"  times closer       {far[0] / off[0]:8.1f}          {far[1] / off[1]:7.1f}{bar}")


def _cells(runs: FloatArray, off: FloatArray) -> str:
    (variance, bias), (a, b) = runs.mean(axis=0), off
    return f"{variance:8.3f} ({a:5.3f})  {bias:7.3f} ({b:5.3f})"


# --- the cost of decompose beyond the fits ---


def bare(model: Any, source: DataSource, seed: int, n_data: int, n_noise: int, n_init: int) -> None:
    """As many draws, clones, seeds, fits and predictions, and nothing else."""
    from sklearn.base import clone

    x_test, found = source.test(seed, classification=False).X, []
    for d in range(n_data):
        training = source.training(d, n_noise=n_noise, seed=seed, classes=None)
        for n, k in product(range(n_noise), range(n_init)):
            one = clone(model).set_params(random_state=k)
            found.append(one.fit(training.X, training.y[n]).predict(x_test))


def cost() -> None:
    from sklearn.ensemble import RandomForestRegressor

    source = dt.GeneratorSource(linear(0), n_samples=DIM, noise=NOISE, n_test=N_TEST)
    learners: dict[str, tuple[Any, dict[str, Any], int]] = {
        "RandomFeaturesRidge, P = N = 120": (dt.RandomFeaturesRidge(DIM, ridge=RIDGE), DRAWS, 40),
        "RandomForestRegressor, 50 trees": (
            RandomForestRegressor(50),
            {"n_data": 4, "n_init": 2, "n_noise": 2},
            7,
        ),
    }
    print(f"decompose beyond its fits (bar {COST_BAR:.0%}), runs of both in turn")
    for name, (model, draws, repeats) in learners.items():

        def whole(model: Any = model, draws: dict[str, Any] = draws) -> None:
            dt.decompose(model, source, progress=False, **draws)

        def loop(model: Any = model, draws: dict[str, Any] = draws) -> None:
            bare(model, source, 0, **draws)

        count = int(np.prod(list(draws.values())))
        times = np.array([[seconds(loop), seconds(whole)] for _ in range(repeats)])
        alone, together = times.min(axis=0)
        low, middle, high = np.quantile(times[:, 1] / times[:, 0] - 1, [0.25, 0.5, 0.75])
        print(
            f"  {name:<34}{count:4} fits: bare loop {alone:.3f} s ({alone / count * 1e3:.2f} ms a "
            f"fit), decompose {together:.3f} s: {together / alone - 1:+.1%} by the best of "
            f"{repeats}; turn by turn {middle:+.1%}, half of them {low:+.1%} to {high:+.1%}"
        )


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=8, help="seeds, each with data of its own")
    parser.add_argument("--draws", type=int, default=200, help="of the simulation")
    parser.add_argument("--no-cost", action="store_true", help="leave out the cost of decompose")
    options = parser.parse_args([] if arguments is None else arguments)
    accuracy(options.repeats, options.draws)
    if not options.no_cost:
        cost()


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
