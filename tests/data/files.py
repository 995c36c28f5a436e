"""Small files of images, and the folder of the real ones."""

import io
import json
import os
from hashlib import md5
from pathlib import Path
from typing import Any
from urllib.request import Request

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
PIXELS = 3 * 32 * 32

BESIDE = Path(__file__).resolve().parents[2].with_name("shared") / "data"
REAL = Path(os.environ.get("DOUBLETROUBLE_DATA", BESIDE))


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


class OpenML:
    """Answers the requests of `fetch_openml` for one data set, and lists their addresses."""

    def __init__(self, x: Bytes, classes: Bytes) -> None:
        self.requests: list[str] = []
        pixels = [(f"pixel{i}", "numeric", "REAL") for i in range(x.shape[1])]
        columns = [*pixels, ("class", "nominal", "{0,1,2,3,4,5,6,7,8,9}")]
        header = [f"@ATTRIBUTE {name} {kind}" for name, _, kind in columns]
        rows = np.column_stack([x, classes]).tolist()
        lines = ["@RELATION images", *header, "@DATA", *(",".join(map(str, row)) for row in rows)]
        self.arff = "\n".join(lines).encode()
        self.features = [
            {
                "index": str(index),
                "name": name,
                "data_type": kind,
                "is_target": str(name == "class").lower(),
                "is_ignore": "false",
                "is_row_identifier": "false",
                "number_of_missing_values": "0",
            }
            for index, (name, kind, _) in enumerate(columns)
        ]

    def urlopen(self, request: Request, *_: Any, **__: Any) -> "_Response":
        url = request.full_url
        self.requests.append(url)
        if "/download/" in url:
            return _Response(self.arff)
        if "features" in url:
            answer: dict[str, Any] = {"data_features": {"feature": self.features}}
        elif "qualities" in url:
            answer = {"data_qualities": {"quality": []}}
        else:
            description = {
                "id": "1",
                "name": "images",
                "version": "1",
                "format": "ARFF",
                "file_id": "1",
                "url": "https://api.openml.org/data/v1/download/1/images.arff",
                "md5_checksum": md5(self.arff).hexdigest(),
                "default_target_attribute": "class",
                "status": "active",
            }
            answer = {"data_set_description": description}
        return _Response(json.dumps(answer).encode())


class _Response(io.BytesIO):
    def info(self) -> dict[str, str]:
        return {}
