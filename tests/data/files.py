"""Small files in the formats of the known sets, and a server that misbehaves as it is told."""

import gzip
import io
import pickle
import struct
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.data._cifar import BINARY, PIXELS, PYTHON
from doubletrouble.data._sources import Original

Bytes = npt.NDArray[np.uint8]

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def idx(array: Bytes) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.tobytes()


def images(n: int, d: int, seed: int = 0) -> tuple[Bytes, Bytes]:
    """Random images and classes; every class occurs."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (n, d), dtype=np.uint8), np.arange(n, dtype=np.uint8) % 10


def mnist_files(n_train: int = 40, n_test: int = 20, side: int = 4) -> dict[str, bytes]:
    """The four files of a small MNIST, uncompressed, under the names they have when compressed."""
    train, train_classes = images(n_train, side**2, seed=1)
    test, test_classes = images(n_test, side**2, seed=2)
    return {
        "train-images-idx3-ubyte.gz": idx(train.reshape(-1, side, side)),
        "train-labels-idx1-ubyte.gz": idx(train_classes),
        "t10k-images-idx3-ubyte.gz": idx(test.reshape(-1, side, side)),
        "t10k-labels-idx1-ubyte.gz": idx(test_classes),
    }


def write(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def packed(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: gzip.compress(content, mtime=0) for name, content in files.items()}


def unpacked(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name.removesuffix(".gz"): content for name, content in files.items()}


def cifar_batches(n: int = 10) -> list[tuple[Bytes, Bytes]]:
    """Five batches to train on, and one to test on."""
    return [images(n, PIXELS, seed=batch) for batch in range(6)]


def cifar_binary(n: int = 10) -> dict[str, bytes]:
    rows = [np.column_stack([c[:, None], x]).tobytes() for x, c in cifar_batches(n)]
    return dict(zip(BINARY.names, rows, strict=True))


def cifar_python(n: int = 10, protocol: int = 2) -> dict[str, bytes]:
    batches = ({"data": x, "labels": c.tolist(), "filenames": ["a"]} for x, c in cifar_batches(n))
    contents = [pickle.dumps(batch, protocol=protocol) for batch in batches]
    return dict(zip(PYTHON.names, contents, strict=True))


def tar(files: dict[str, bytes], folder: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def originals(files: dict[str, bytes]) -> tuple[Original, ...]:
    return tuple(
        Original(name=name, size=len(content), sha256=sha256(content).hexdigest())
        for name, content in files.items()
    )


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and every folder as well."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b"a folder"
        for path in sorted(folder.rglob("*"))
    }


class Server(ThreadingHTTPServer):
    """Serves `files`; `cut` of them end early, and `asked` lists every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.chunked: set[str] = set()
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        self.server.asked.append(name)
        content = self.server.files.get(name)
        self.close_connection = True
        if content is None:
            self.send_error(404)
            return
        chunked = name in self.server.chunked
        self.send_response(200)
        length = ("Transfer-Encoding", "chunked") if chunked else ("Content-Length", None)
        self.send_header(length[0], length[1] or str(len(content)))
        self.end_headers()
        sent = content[: len(content) // 2] if name in self.server.cut else content
        self.wfile.write(f"{len(content):x}\r\n".encode() + sent if chunked else sent)
        if chunked and name not in self.server.cut:
            self.wfile.write(b"\r\n0\r\n\r\n")

    def log_message(self, *_: Any) -> None:
        """Nothing on stderr."""


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
