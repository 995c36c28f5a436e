"""Run every benchmark: python -m benchmarks [name ...]."""

import sys
from importlib import import_module

BENCHMARKS = (
    "theory_speed",
    "theory_precision",
    "import_time",
    "advice_speed",
    "flow_speed",
    "simulation_speed",
    "simulation_gpu",
    "lazy_speed",
    "random_features_speed",
    "scaling_speed",
    "losses_speed",
    "convex_fits",
    "decomposition_accuracy",
    "store_speed",
    "kills",
    "diagnosis_accuracy",
    "forecast_accuracy",
    "tangent_blocks",
    "coverage",
    "page_speed",
    "hinge_ensemble",
)
"""Modules of this package, imported when they run: some need optional packages."""


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"benchmark must be one of {', '.join(BENCHMARKS)}, got {unknown[0]!r}\n")
        return 2
    for name in names or BENCHMARKS:
        print(f"\n== {name}")
        import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
