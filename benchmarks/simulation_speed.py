"""The paper's Fig. 5 simulation against a literal one, and the rate of a large one against dgemm.

Run with one BLAS thread: both sides use the same.
"""

import time

import numpy as np
import numpy.typing as npt

import doubletrouble as dt
from benchmarks.counted import counting
from benchmarks.timing import best_time
from doubletrouble.results import Simulation

DIM, RIDGE, NOISE, DRAWS = 200, 1e-5, 0.1, 10
RATIOS = np.geomspace(0.1, 10, 20)  # P/N, at N = D
MEMBERS = (1, 2, 10)

Errors = npt.NDArray[np.float64]


def literal_draw(p: int, rng: np.random.Generator, solve: bool = True) -> Errors:
    """The published method: one data set, ten learners, each by a P x P system; K = 1, 2, 10."""
    n_test, mean = 1000, 1 / np.sqrt(2 * np.pi)
    beta = rng.standard_normal(DIM)
    beta /= np.linalg.norm(beta)
    x, test = rng.standard_normal((DIM, DIM)), rng.standard_normal((n_test, DIM))
    y = x @ beta + NOISE * rng.standard_normal(DIM)
    predictions = []
    for _ in range(10):
        theta = rng.standard_normal((p, DIM)) / np.sqrt(DIM)
        phi = np.maximum(x @ theta.T, 0) - mean
        gram = phi.T @ phi + p * RIDGE * np.eye(p)
        weights = np.linalg.solve(gram, phi.T @ y) if solve else np.linalg.pinv(gram) @ (phi.T @ y)
        predictions.append((np.maximum(test @ theta.T, 0) - mean) @ weights)
    outputs, truth = np.array(predictions), test @ beta
    return np.array(
        [np.mean((outputs.reshape(10 // k, k, -1).mean(axis=1) - truth) ** 2) for k in MEMBERS]
    )


def literal_curve() -> tuple[float, Errors]:
    """Seconds, and the standard error for every K and P/D."""
    start, errors = time.perf_counter(), []
    for ratio in RATIOS:
        rng = np.random.default_rng(0)
        draws = np.array([literal_draw(round(ratio * DIM), rng) for _ in range(DRAWS)])
        errors.append(draws.std(axis=0, ddof=1) / np.sqrt(DRAWS))
    return time.perf_counter() - start, np.array(errors).T


def our_curve(n_data: int) -> tuple[float, Errors]:
    def work() -> Simulation:
        problem = dt.Problem(features_per_dim=RATIOS, ridge=RIDGE, noise=NOISE)
        return dt.simulate(
            problem,
            dim=DIM,
            n_data=n_data,
            n_init=2,
            device="cpu",
            progress=False,
        )

    run = work()  # also warms up
    return best_time(work, 1), np.array([run.error(k).total.standard_error for k in MEMBERS])


def published_inverse() -> float:
    """Seconds of the published pseudo-inverse over those of a solve, at the widest of a few."""
    rng, p = np.random.default_rng(0), 500
    return best_time(lambda: literal_draw(p, rng, solve=False), 1) / best_time(
        lambda: literal_draw(p, rng), 1
    )


def fig5() -> None:
    seconds, errors = literal_curve()
    print(
        f"Fig. 5 (D = N = {DIM}, ridge {RIDGE:g}, SNR {1 / NOISE:g}, {RATIOS.size} values of P/D, "
        f"{DRAWS} data draws)"
    )
    print(f"  literal, one P x P solve a learner: {seconds:.1f} s")
    print(
        f"  (the published pseudo-inverse takes {published_inverse():.0f} x that solve at P = 500)"
    )
    for n_data in (DRAWS, DRAWS // 2):
        ours, ours_error = our_curve(n_data)
        ratio = ours_error / errors
        print(
            f"  simulate, n_data = {n_data} ({2 * n_data} data sets): {ours:.2f} s, "
            f"1/{seconds / ours:.0f} of the time; standard errors {ratio.min():.2f} to "
            f"{ratio.max():.2f} of the literal ones over all P/D and K; "
            f"1/{np.min(seconds / ours / ratio**2):.0f} or less at equal standard error"
        )


def big_cell(size: int = 2000) -> None:
    a = np.random.default_rng(0).standard_normal((size, size))
    product = 2 * size**3 / best_time(lambda: a @ a[::-1], 3)
    problem = dt.Problem(features_per_dim=1.0, ridge=1e-3)
    with counting() as tally:
        start = time.perf_counter()
        dt.simulate(problem, dim=size, n_data=2, n_init=2, device="cpu", progress=False)
        total = time.perf_counter() - start
        print(f"N = P = D = {size}, two draws of 2 feature sets on 2 data sets: {total:.1f} s")
        print(
            f"  {tally.seconds / total:.0%} of the time in BLAS and LAPACK; "
            f"{tally.flops / 1e9:.0f} Gflop at {tally.flops / total / 1e9:.1f} Gflop/s, "
            f"{tally.flops / total / product:.0%} of the {product / 1e9:.1f} of dgemm"
        )


def main() -> None:
    fig5()
    big_cell()


if __name__ == "__main__":
    main()
