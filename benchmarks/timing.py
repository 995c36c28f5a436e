"""Wall-clock timing: the best of several runs, which is the least disturbed one."""

import time
from collections.abc import Callable


def best_time(work: Callable[[], object], repeats: int = 5) -> float:
    """Seconds of the fastest of `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
