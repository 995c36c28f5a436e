"""Accuracy of every term and part: the largest relative deviation from 800-digit arithmetic."""

import sys
import time

from tests.theory.test_precision import ACTIVATIONS, deviations, random_points


def main(seconds: float = 60.0) -> None:
    worst: dict[str, float] = {}
    start, count, seed = time.monotonic(), 0, 1000
    while time.monotonic() - start < seconds:
        for point in random_points(seed, 20):
            found = deviations(point, ACTIVATIONS[seed % len(ACTIVATIONS)], 0.4)
            count += bool(found)
            for name, off in found.items():
                worst[name] = max(worst.get(name, 0.0), off)
        seed += 1
    print(
        f"{count} random points: P/D and N/D in [1e-4, 1e4] (also equal, and equal to 1e-12), "
        "ridge 0 or in [1e-300, 1e6]"
    )
    for name, value in worst.items():
        print(f"  {name:<40} {value:.1e}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
