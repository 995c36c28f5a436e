"""Small files in the formats of the published sets, and a local server for downloads."""

import gzip
import io
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

from doubletrouble.data._formats import BINARY, CIFAR_PIXELS, PYTHON
from doubletrouble.data._originals import PublishedFile

Bytes = npt.NDArray[np.uint8]

SHARED = next(
    (
        folder / "shared" / "data"
        for folder in Path(__file__).resolve().parents
        if (folder / "shared" / "data").is_dir()
    ),
    Path("shared/data"),
)


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
    return [images(n, CIFAR_PIXELS, seed=batch) for batch in range(6)]


def cifar_binary(n: int = 10) -> dict[str, bytes]:
    rows = [np.column_stack([c[:, None], x]).tobytes() for x, c in cifar_batches(n)]
    return dict(zip(BINARY.batches, rows, strict=True))


def python2_pickle(x: Bytes, classes: list[int]) -> bytes:
    """A batch as Python 2 pickled it, in protocol 2."""
    labels = b"](" + b"".join(b"K" + bytes([c]) for c in classes) + b"e"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    dtype = (
        b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ"
        + b"\xff" * 4
        + b"J"
        + b"\xff" * 4
        + b"K\x00tb"
    )
    shape = b"J" + struct.pack("<i", x.shape[0]) + b"J" + struct.pack("<i", x.shape[1]) + b"\x86"
    raw = b"T" + struct.pack("<i", x.size) + x.tobytes()
    state = b"(K\x01" + shape + dtype + b"\x89" + raw + b"tb"
    return b"\x80\x02}q\x01(U\x06labels" + labels + b"U\x04data" + array + state + b"u."


def cifar_python(n: int = 10) -> dict[str, bytes]:
    contents = [python2_pickle(x, c.tolist()) for x, c in cifar_batches(n)]
    return dict(zip(PYTHON.batches, contents, strict=True))


def tar(files: dict[str, bytes], folder: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


def published(files: dict[str, bytes]) -> dict[str, PublishedFile]:
    return {
        name: PublishedFile(len(content), sha256(content).hexdigest())
        for name, content in files.items()
    }


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, and every folder as well."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b"a folder"
        for path in sorted(folder.rglob("*"))
    }


class Server(ThreadingHTTPServer):
    """Serves `files`, those in `cut` incompletely; `requests` lists every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.cut: set[str] = set()
        self.requests: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        self.server.requests.append(name)
        content = self.server.files.get(name)
        self.close_connection = True
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if name in self.server.cut else content)

    def log_message(self, *_: Any) -> None:
        """Suppress messages on stderr."""


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
