"""One big cell on a GPU, against the matrix rate measured in the same run."""

import time
from typing import Any

import doubletrouble as dt
from benchmarks.counted import counting
from doubletrouble.errors import require

SIZE, SMALL, DRAWS = 8000, 256, 10


def operations(size: int) -> float:
    """Of one draw at N = P = D: counted at a small size, all terms being cubic."""
    problem = dt.Problem(features_per_dim=1.0, ridge=1e-3)
    with counting() as tally:
        dt.simulate(problem, dim=SMALL, n_data=2, n_init=2, device="cpu", progress=False)
        return tally.flops / 2 * (size / SMALL) ** 3


def main(size: int = SIZE, device: str = "cuda") -> None:
    torch = require("torch", "torch")
    if not torch.cuda.is_available():
        print("no GPU available")
        return
    problem = dt.Problem(features_per_dim=1.0, ridge=1e-3)
    options: dict[str, Any] = {"n_init": 2, "device": device, "progress": False}
    dt.simulate(problem, dim=size, n_data=2, **options)  # warm up: libraries, memory
    a = torch.randn(size, size, dtype=torch.float64, device=device)
    best = float("inf")
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        a @ a
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    product = 2 * size**3 / best
    del a
    start = time.perf_counter()
    dt.simulate(problem, dim=size, n_data=DRAWS, **options)
    total = time.perf_counter() - start
    rate = DRAWS * operations(size) / total
    print(
        f"N = P = D = {size}, float64, {DRAWS} draws of 2 feature sets on 2 data sets: "
        f"{total:.2f} s, {rate / 1e12:.1f} Tflop/s, {rate / product:.0%} of the "
        f"{product / 1e12:.1f} of a matrix product ({torch.cuda.get_device_name()})"
    )


if __name__ == "__main__":
    main()
