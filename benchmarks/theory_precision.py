"""Accuracy of every term and part: the largest relative deviation from 800-digit arithmetic."""

import sys
import time

from tests.theory import oracle
from tests.theory.test_precision import ACTIVATIONS, PARTS, deviation, random_points

import doubletrouble as dt


def main(seconds: float = 60.0) -> None:
    worst: dict[str, float] = {}
    powers = {"signal": 1.3, "noise": 0.7, "nonlinear_signal": 0.4}
    start, count, seed = time.monotonic(), 0, 1000
    while time.monotonic() - start < seconds:
        activation = ACTIVATIONS[seed % len(ACTIVATIONS)]
        for features, samples, ridge in random_points(seed, 20):
            if ridge == 0 and activation == "linear":
                continue
            problem = dt.Problem(
                features_per_dim=features, samples_per_dim=samples, ridge=ridge,
                activation=activation, **powers,
            )  # fmt: skip
            moments = problem.moments
            psi = oracle.psi(features, samples, ridge, moments.linear, moments.nonlinear)
            parts = oracle.error(psi, members=3, scheme="ensemble", **powers)
            symmetric = oracle.anova(psi, **powers)
            terms, error, split = (
                dt.psi_terms(problem),
                dt.exact_error(problem, 3),
                dt.anova(problem),
            )
            pairs = {name: (getattr(terms, name), psi[name]) for name in psi}
            pairs |= {name: (getattr(error, name), parts[name]) for name in PARTS}
            pairs |= {f"anova {n}": (getattr(split, n), symmetric[n]) for n in symmetric}
            for name, (got, expected) in pairs.items():
                worst[name] = max(worst.get(name, 0.0), deviation(got, expected))
            count += 1
        seed += 1
    print(
        f"{count} random points: P/D and N/D in [1e-4, 1e4] (also equal, and equal to 1e-12), "
        "ridge 0 or in [1e-300, 1e6]"
    )
    for name, value in worst.items():
        print(f"  {name:<40} {value:.1e}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
