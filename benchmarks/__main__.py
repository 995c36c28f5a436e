"""Run every benchmark: python -m benchmarks [name ...]."""

import sys

from benchmarks import (
    advice_speed,
    call_path,
    decomposition_accuracy,
    flow_speed,
    import_time,
    kills,
    lazy_speed,
    page_speed,
    random_features_speed,
    simulation_gpu,
    simulation_speed,
    store_speed,
    theory_precision,
    theory_speed,
)

BENCHMARKS = {
    "theory_speed": theory_speed.main,
    "call_path": call_path.main,
    "theory_precision": theory_precision.main,
    "import_time": import_time.main,
    "advice_speed": advice_speed.main,
    "flow_speed": flow_speed.main,
    "simulation_speed": simulation_speed.main,
    "simulation_gpu": simulation_gpu.main,
    "lazy_speed": lazy_speed.main,
    "random_features_speed": random_features_speed.main,
    "decomposition_accuracy": decomposition_accuracy.main,
    "store_speed": store_speed.main,
    "kills": kills.main,
    "page_speed": page_speed.main,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(f"benchmark must be one of {', '.join(BENCHMARKS)}, got {unknown[0]!r}\n")
        return 2
    for name in names or BENCHMARKS:
        print(f"\n== {name}")
        BENCHMARKS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
