"""Training lazy networks: all members in one batch, against one network after the other.

`python -m benchmarks.lazy_speed 37 110` measures these widths only.
"""

import itertools
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from doubletrouble.networks import Training
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._network import NetworkMember
from doubletrouble.networks._training import TrainingTask, train_members

MEMBERS, DIM, DEPTH, LAZINESS = 20, 10, 5, 100.0


class Eager(torch.nn.Module):
    """One network in plain PyTorch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        sizes = [DIM] + [width] * (DEPTH - 1) + [2]
        pairs = list(itertools.pairwise(sizes))
        self.weights = torch.nn.ParameterList(torch.randn(a, b) for a, b in pairs)
        self.biases = torch.nn.ParameterList(torch.zeros(b) for _, b in pairs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Both outputs."""
        for k, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            x = (x @ w + b) / w.shape[0] ** 0.5
            x = x if k == DEPTH - 1 else torch.relu(x)
        return x


def seconds(step: Callable[[], object], device: str, at_least: float = 1.0) -> float:
    """The time of a step: the best of three runs."""

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    for _ in range(5):
        step()
    wait()
    start = time.perf_counter()
    step()
    wait()
    count = max(3, int(at_least / 3 / (time.perf_counter() - start)))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(count):
            step()
        wait()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def eager(width: int, n: int, device: TorchDevice) -> float:
    """A step of one network with torch's own autograd and Adam."""
    torch.manual_seed(0)
    x = torch.randn(n, DIM, device=device.name)
    labels = torch.randn(n, device=device.name).sign()
    target = torch.stack([-labels, labels], 1)
    with torch.enable_grad():
        network = Eager(width).to(device.name)
        start = network(x).detach()
        optimizer = torch.optim.Adam(network.parameters(), lr=0.1)

        def step() -> None:
            optimizer.zero_grad()
            scaled = LAZINESS * (network(x) - start)
            loss = torch.relu(1 - target * scaled).mean() / LAZINESS**2
            torch.autograd.backward(loss)
            optimizer.step()

        return seconds(step, device.name)


def batched(width: int, n: int, device: TorchDevice, at_least: float = 3.0) -> float:
    """A step of all networks: the slope of the time of training against its steps."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((1, n, DIM)), np.sign(rng.standard_normal((1, n)))
    members = [NetworkMember(width=width, laziness=LAZINESS, number=k) for k in range(MEMBERS)]

    def timed(steps: int) -> float:
        training = Training(max_steps=steps, patience=10**9)
        start = time.perf_counter()
        task = TrainingTask(
            members=members,
            x=x,
            y=y,
            x_test=x[0, :10],
            depth=DEPTH,
            training=training,
            device=device,
        )
        train_members(task, progress=False)
        return time.perf_counter() - start

    timed(20)  # compilation
    few = 40
    many = few + max(10, int(at_least / max(1e-5, (timed(few) - timed(few // 2)) / (few // 2))))
    return min((timed(many) - timed(few)) / (many - few) for _ in range(2))


def matrix_rate(width: int, n: int, device: str) -> float:
    """Operations a second of the products a step consists of, at their shape."""
    a = torch.randn(MEMBERS, n, width, device=device)
    b = torch.randn(MEMBERS, width, width, device=device)
    return 2 * MEMBERS * n * width**2 / seconds(lambda: torch.bmm(a, b), device)


def operations(width: int, n: int) -> float:
    """Multiplications and additions of a step of all networks: forward once, backward twice."""
    weights = DIM * width + (DEPTH - 2) * width**2 + 2 * width
    return 6 * MEMBERS * n * weights - 2 * MEMBERS * n * DIM * width  # no gradient of the inputs


def main() -> None:
    gpu = torch.cuda.is_available()
    usual = (32, 37, 64, 110, 330, 2048) if gpu else (2, 8, 17, 37, 64, 128, 256, 512, 1024)
    n = 5000 if gpu else 1000
    name = torch.cuda.get_device_name() if gpu else f"{torch.get_num_threads()} threads"
    print(f"{MEMBERS} members, {DIM} inputs, {DEPTH} layers, hinge loss, Adam ({name})")
    for dtype in ("tf32", "float32") if gpu else ("float32",):
        for width in [int(word) for word in sys.argv[1:] if word.isdigit()] or usual:
            device = TorchDevice.of("auto", dtype)
            all_ = batched(width, n, device)
            with device.computing():
                torch.set_num_threads(device.threads)
                one = eager(width, n, device)
                line = (
                    f"{dtype} width {width:4d}, N = {n}: eager {1e3 * one:8.3f} ms a network, "
                    f"ours {1e3 * all_:8.3f} ms for {MEMBERS}, ratio {MEMBERS * one / all_:6.1f}"
                )
                if width >= 256:
                    rate, limit = operations(width, n) / all_, matrix_rate(width, n, device.name)
                    line += (
                        f", {rate / 1e12:.2f} Tflop/s, {rate / limit:.0%} of a product's "
                        f"{limit / 1e12:.2f}"
                    )
            print(line, flush=True)


if __name__ == "__main__":
    main()
