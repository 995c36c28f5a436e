"""Small files of images, and the folder of the real ones."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
PIXELS = 3 * 32 * 32

SHARED = next(
    (
        folder / "shared" / "data"
        for folder in Path(__file__).resolve().parents
        if (folder / "shared" / "data").is_dir()
    ),
    Path("shared/data"),
)


def images(n: int, d: int, seed: int = 0) -> tuple[Bytes, Bytes]:
    """Random images and classes; every class occurs."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n, d), dtype=np.uint8), np.arange(n, dtype=np.uint8) % 10


def store(path: Path, **arrays: Any) -> Path:
    """Write an .npz file; None leaves an array out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **{key: array for key, array in arrays.items() if array is not None})
    return path


def cifar_batches(n: int = 10) -> list[tuple[Bytes, Bytes]]:
    """Five batches to train on, and one to test on."""
    return [images(n, PIXELS, seed=batch) for batch in range(6)]


def write_cifar(folder: Path, n: int = 10) -> Path:
    """Write the batches of the binary version."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (x, classes) in zip(BATCHES, cifar_batches(n), strict=True):
        np.column_stack([classes[:, None], x]).tofile(folder / name)
    return folder
