"""`RandomFeaturesRidge` against scikit-learn pipelines, a million rows in parts, and its limit.

A pipeline computes the same features in a FunctionTransformer (in place, without copies) and fits
a Ridge with one of its solvers, to a tolerance of 1e-6 where it iterates (with scikit-learn's 1e-4
predictions are off by 1e-3). Every fit runs in its own process, which is stopped at a time limit.
The limit of infinitely many features is compared with 20 members of as many features as rows.

    python -m benchmarks.random_features_speed [--rows N] [--features P] [--dim D] [--limit S]
"""

import argparse
import math
import multiprocessing
import resource
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

import doubletrouble as dt
from benchmarks.timing import best_time
from doubletrouble.parameters import FloatArray

SOLVERS = ("cholesky", "svd", "lsqr", "sparse_cg", "sag", "saga")
RIDGE, BATCH, SET_UP, MEMBERS = 1e-3, 10_000, 60.0, 20
OURS = "ours"


def labelled(rows: int, dim: int, seed: int) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, dim))
    beta = np.random.default_rng(0).standard_normal(dim) / np.sqrt(dim)
    return x, x @ beta + 0.5 * rng.standard_normal(rows)


def pipeline(theta: FloatArray, alpha: float, solver: str) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    weights, mean = theta.T / np.sqrt(theta.shape[1]), dt.activation("relu").mean

    def features(x: FloatArray) -> FloatArray:
        z: FloatArray = x @ weights
        np.maximum(z, 0.0, out=z)
        z -= mean
        return z

    ridge = Ridge(alpha, fit_intercept=False, copy_X=False, solver=solver, tol=1e-6)
    return make_pipeline(FunctionTransformer(features), ridge)


def one_fit(connection: Connection, name: str, rows: int, features: int, dim: int) -> None:
    """Seconds of a fit, its peak memory beyond the data in MB, and predictions."""
    x, y = labelled(rows, dim, 1)
    model: Any = dt.RandomFeaturesRidge(features, ridge=RIDGE, random_state=0)
    if name != OURS:
        theta = model.fit(x[:2], y[:2]).weights_[0]
        alpha = dt.convert_ridge(
            RIDGE, "paper", "sklearn", n_features=features, n_samples=rows, dim=dim
        )
        model = pipeline(theta, float(alpha), name)
    model.fit(x[:200], y[:200])  # loads modules, starts threads
    before, start = peak(), time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - start
    connection.send((seconds, peak() - before, model.predict(labelled(1000, dim, 2)[0])))


def in_parts(connection: Connection, rows: int, features: int, dim: int) -> None:
    """Seconds of `partial_fit` alone, growth of memory after the first tenth, and the error."""
    model = dt.RandomFeaturesRidge(features, ridge=RIDGE, random_state=0)
    spent, early = 0.0, 0.0
    for batch in range(rows // BATCH):
        x, y = labelled(BATCH, dim, 10 + batch)
        start = time.perf_counter()
        model.partial_fit(x, y)
        spent += time.perf_counter() - start
        if batch == rows // BATCH // 10:
            early = peak()
    start = time.perf_counter()
    x, y = labelled(BATCH, dim, 2)
    score = model.score(x, y)
    connection.send((spent, time.perf_counter() - start, early, peak() - early, score))


def peak() -> float:
    """Peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(work: Callable[..., None], limit: float, *args: object) -> Any:
    """The message sent by `work` from its own process; None where it fails or takes longer."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(theirs, *args))
    process.start()
    theirs.close()
    message = None
    try:
        if ours.poll(limit):
            message = ours.recv()
    except EOFError:
        pass
    process.terminate()
    process.join()
    return message


def compare(
    rows: int, features: int, dim: int, solvers: list[str], limit: float, repeats: int
) -> None:
    """The best of interleaved repeats; slow solvers are tried once."""
    runs: dict[str, list[Any]] = {name: [] for name in (OURS, *solvers)}
    for repeat in range(repeats):
        for name, fits in runs.items():
            if repeat == 0 or (fits[0] is not None and fits[0][0] < 3 * runs[OURS][0][0]):
                fits.append(apart(one_fit, limit + SET_UP, name, rows, features, dim))
    best: dict[str, Any] = {
        name: None if None in fits else min(fits, key=lambda fit: fit[0])
        for name, fits in runs.items()
    }
    seconds, memory, expected = best.pop(OURS)
    print(f"{rows} rows x {dim} inputs, {features} features, ridge {RIDGE:g}")
    print(f"  RandomFeaturesRidge    {seconds:7.2f} s, {memory:6.0f} MB beside the data")
    for solver, fit in best.items():
        if fit is None:
            print(f"  Ridge {solver:<16} > {limit:g} s, or failed: > {limit / seconds:.1f} x ours")
            continue
        theirs, memory, other = fit
        off = np.linalg.norm(other - expected) / np.linalg.norm(expected)
        print(
            f"  Ridge {solver:<16} {theirs:7.2f} s, {memory:6.0f} MB: {theirs / seconds:5.2f} x "
            f"ours; predictions differ by {off:.0e}"
        )
    print("  Ridge lbfgs            skipped: only for positive coefficients")


def stream(rows: int, features: int, dim: int) -> None:
    print(f"partial_fit, {rows} rows x {dim} inputs in parts of {BATCH}, {features} features")
    spent, solving, early, growth, score = apart(in_parts, 3600.0, rows, features, dim)
    print(
        f"  {spent:.1f} s ({rows / spent:.0f} rows a second), then {solving:.2f} s to solve and "
        f"score; R² {score:.3f}"
    )
    print(f"  peak memory {early:.0f} MB after a tenth of the rows, {growth:+.0f} MB at the end")


def infinite_fits(connection: Connection, rows: int, dim: int) -> None:
    """Seconds of fits: the limit, the same with 33 ridges, and members; their distance from it."""
    x, y = labelled(rows, dim, 1)
    new, _ = labelled(1000, dim, 2)
    exact = dt.RandomFeaturesRidge(math.inf, ridge=RIDGE)
    chosen = dt.RandomFeaturesRidge(math.inf, ridge="loo")
    members = dt.RandomFeaturesRidge(rows, ridge=RIDGE, ensemble=MEMBERS, random_state=0)
    seconds = []
    for model, repeats in ((exact, 5), (chosen, 2), (members, 2)):
        seconds.append(best_time(partial(model.fit, x, y), repeats))
    limit, mean = exact.predict(new), members.predict(new)
    connection.send((seconds, np.linalg.norm(mean - limit) / np.linalg.norm(limit)))


def infinite(rows: int, dim: int) -> None:
    print(f"infinitely many features, {rows} rows x {dim} inputs, ridge {RIDGE:g}")
    (exact, chosen, members), off = apart(infinite_fits, 3600.0, rows, dim)
    print(f"  exact kernel           {exact:7.2f} s, {chosen:.2f} s with leave-one-out ridge")
    ratio, width = members / exact, f"{MEMBERS} members, P = {rows}"
    print(f"  {width:<22} {members:7.2f} s: {ratio:.1f} x; predictions differ by {off:.3f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=2000)
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for one fit")
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--infinite-rows", type=int, default=2000)
    parser.add_argument("--stream-rows", type=int, default=1_000_000)
    parser.add_argument("--stream-features", type=int, default=1000)
    args = parser.parse_args([] if arguments is None else arguments)
    compare(args.rows, args.features, args.dim, args.solvers.split(","), args.limit, args.repeats)
    infinite(args.infinite_rows, args.dim)
    stream(args.stream_rows, args.stream_features, args.dim)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
