"""Speed of what goes beyond the paper: gradient flow, committees, resampling schemes.

Gradient flow over times and P/D is timed against the least that any method at finite size would
do: one eigendecomposition for each P/D, of one draw at D = 200, which gives one noisy curve.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from functools import partial

import numpy as np

import doubletrouble as dt
from benchmarks.timing import best_time

TIMES, FEATURES_PER_DIM = np.geomspace(1e-2, 1e8, 200), np.geomspace(0.05, 20.0, 200)
DIM, SAMPLED = 200, 4  # values of P/D at finite size, for their mean


def main() -> None:
    grid = dt.Problem(features_per_dim=FEATURES_PER_DIM[:, None], ridge=0.0, noise=0.5)
    for members in (1, np.inf):
        seconds = best_time(partial(dt.gradient_flow, grid, TIMES, members), 3)
        print(
            f"gradient_flow, 200 times x 200 values of P/D, K = {members:g}: {seconds:.2f} s "
            f"({seconds / grid.shape[0] / TIMES.size * 1e6:.0f} us a point; bar 2 s)"
        )
    literal = best_time(_eigendecompositions, 2) / SAMPLED
    print(
        f"one draw of N = D = {DIM} at one P/D: {literal * 1e3:.0f} ms, so "
        f"{literal * FEATURES_PER_DIM.size / seconds:.1f} x for 200 values of P/D"
    )
    coarse, fine = (dt.gradient_flow(grid, TIMES, n_poles=n).total for n in (20, 40))
    off = np.max(np.abs(np.asarray(coarse) / np.asarray(fine) - 1))
    print(f"20 poles against 40: {off:.0e} at most (bar 1e-8)")
    rng = np.random.default_rng(0)
    members_ = [dt.Member(features_per_dim=w) for w in rng.uniform(0.1, 5.0, 50)]
    seconds = best_time(lambda: dt.committee(members_, weights="optimal"))
    print(f"committee of 50 unequal members, best weights: {seconds * 1e3:.0f} ms")
    curve = dt.Problem(features_per_dim=np.geomspace(0.05, 20.0, 10_000))
    plain = best_time(lambda: dt.exact_error(curve, 10))
    bank = dt.FeatureBank(10, bank_per_dim=20.0)
    for ensemble in (dt.Subsample(10, fraction=0.6), bank, dt.Bootstrap(10)):
        seconds = best_time(partial(dt.exact_error, curve, ensemble))
        print(
            f"{ensemble.name}, 10^4 values of P/D: {seconds * 1e3:.1f} ms, "
            f"{seconds / plain:.0f} x an ensemble"
        )


def _eigendecompositions() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((DIM, DIM))
    for ratio in np.geomspace(0.05, 20.0, SAMPLED):
        theta = rng.standard_normal((DIM, round(ratio * DIM))) / np.sqrt(DIM)
        features = np.maximum(x @ theta, 0.0)
        small = features @ features.T if features.shape[1] > DIM else features.T @ features
        np.linalg.eigh(small)


if __name__ == "__main__":
    main()
