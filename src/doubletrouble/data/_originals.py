"""The published files of MNIST, Fashion-MNIST and CIFAR-10: search, verification and download.

A folder that is given is the only one searched. Otherwise they are the folder of the environment
variable DOUBLETROUBLE_DATA, if it is set, and the cache: `doubletrouble` in XDG_CACHE_HOME or, if
that is not set, in `.cache` in the home directory. Downloads, by pooch, go to the given folder, or
to the cache.

A file of the published name and size must have the published SHA-256, and a published file under
the name of another raises `DataError`. A file of another size is read, but not verified.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from doubletrouble.data._formats import (
    BINARY,
    PYTHON,
    DataError,
    ImageBatch,
    parse_idx,
    read_content,
)
from doubletrouble.data._projection import LabelledArrays
from doubletrouble.errors import require

VARIABLE = "DOUBLETROUBLE_DATA"
TIMEOUT = 30.0  # seconds without a response of the server
RETRIES = 2

# Size in bytes, SHA-256 and name. CIFAR-10's page publishes MD5 for its archives, c32a1d4a… for the
# binary version and c58f3010… for Python's; these are of the same files. The contents of the files
# of Fashion-MNIST and of CIFAR-10's binary archive have no published checksum.
_MNIST = """
9912422 440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609 train-images-idx3-ubyte.gz
28881 3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c train-labels-idx1-ubyte.gz
1648877 8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6 t10k-images-idx3-ubyte.gz
4542 f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6 t10k-labels-idx1-ubyte.gz
47040016 ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db train-images-idx3-ubyte
60008 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 train-labels-idx1-ubyte
7840016 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 t10k-images-idx3-ubyte
10008 ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 t10k-labels-idx1-ubyte
"""
_FASHION_MNIST = """
26421880 3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84 train-images-idx3-ubyte.gz
29515 a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845 train-labels-idx1-ubyte.gz
4422102 346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073 t10k-images-idx3-ubyte.gz
5148 67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5 t10k-labels-idx1-ubyte.gz
"""
_CIFAR10 = """
170052171 c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd cifar-10-binary.tar.gz
170498071 6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce cifar-10-python.tar.gz
31035704 54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd data_batch_1
31035320 766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8 data_batch_2
31035999 0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9 data_batch_3
31035696 3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b data_batch_4
31035623 d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154 data_batch_5
31035526 f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831 test_batch
"""


class PublishedFile(NamedTuple):
    """Size and checksum of a file as it was published."""

    size: int  # bytes
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A published data set: its address, its files, and the folders in which they are searched."""

    name: str
    url: str
    folders: tuple[str, ...]
    files: tuple[str, ...]  # to download
    published: dict[str, PublishedFile]  # in all forms, by name

    def verify(self, name: str, file: PublishedFile, where: object) -> bool:
        """Whether a file is the published one of that name; DataError if it should be."""
        if self.published.get(name) == file:
            return True
        for origin in ORIGINS.values():
            for other, known in origin.published.items():
                if known.sha256 == file.sha256:
                    raise DataError(
                        f"{where} must be {name} of {self.name}, got {other} of {origin.name}: "
                        f"replace it, or move {self.name} to a folder of that name"
                    )
        if name in self.published and self.published[name].size == file.size:
            raise DataError(
                f"{where} is damaged, or a file of another data set: it has the size but not the "
                "checksum of the original; replace it, or delete it to download it again"
            )
        return False


def _published(table: str) -> dict[str, PublishedFile]:
    rows = (line.split() for line in table.split("\n") if line)
    return {name: PublishedFile(int(size), digest) for size, digest, name in rows}


_IDX_FILES = tuple(_published(_FASHION_MNIST))
ORIGINS = {
    "mnist": Origin(
        name="mnist",
        url="https://ossci-datasets.s3.amazonaws.com/mnist/",
        folders=("mnist", "MNIST/raw", ""),
        files=_IDX_FILES,
        published=_published(_MNIST),
    ),
    "fashion-mnist": Origin(
        name="fashion-mnist",
        url="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        folders=("fashion-mnist", "fashion_mnist", "FashionMNIST/raw", ""),
        files=_IDX_FILES,
        published=_published(_FASHION_MNIST),
    ),
    "cifar10": Origin(
        name="cifar10",
        url="https://www.cs.toronto.edu/~kriz/",
        folders=("cifar10", "cifar-10", ""),
        files=(BINARY.archive,),
        published=_published(_CIFAR10),
    ),
}


def search_roots(folder: str | os.PathLike[str] | None) -> list[Path]:
    """The folders to search, in this order; those that a user names must exist."""
    if folder is not None:
        return [_existing("folder", folder)]
    named = os.environ.get(VARIABLE)
    return [*([_existing(VARIABLE, named)] if named else []), _cache()]


def _cache() -> Path:
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (named if named.is_absolute() else Path("~/.cache").expanduser()) / "doubletrouble"


def _existing(name: str, folder: object) -> Path:
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {folder!r}")
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ValueError(f"{name} must be an existing folder, got {str(folder)!r}")
    return path


def find_originals(origin: Origin, roots: list[Path]) -> dict[str, Path]:
    """The path of every file of a set that exists, by the name of the file to download."""
    folders = [root / folder for root in roots for folder in origin.folders]
    if origin.name == "cifar10":
        for path in (path for folder in folders for path in _cifar_paths(folder)):
            return {BINARY.archive: path}
        return {}
    paths = {}
    for name in origin.files:
        plain = name.removesuffix(".gz")
        forms = (name, plain, plain.replace("-idx", ".idx"))
        for path in (folder / form for folder in folders for form in forms):
            if path.is_file() and not _is_of_another(path, origin):
                paths[name] = path
                break
    return paths


def _cifar_paths(base: Path) -> Iterator[Path]:
    """Complete folders of batches, and archives."""
    for version in (BINARY, PYTHON):
        yield from filter(version.is_complete, (base / version.folder, base))
        if (base / version.archive).is_file():
            yield base / version.archive


def _is_of_another(path: Path, origin: Origin) -> bool:
    """Whether a file has the size of that of another set: those of MNIST have the same names."""
    others = (other.published.get(path.name) for other in ORIGINS.values() if other is not origin)
    return path.stat().st_size in [other.size for other in others if other]


def read_originals(origin: Origin, paths: dict[str, Path]) -> LabelledArrays:
    """Read and verify the files of a set."""
    if origin.name == "cifar10":
        train, test, verified = _read_cifar(origin, paths[BINARY.archive])
    else:
        train, test, verified = _read_idx(origin, [paths[name] for name in origin.files])
    for which, (images, classes) in (("training", train), ("test", test)):
        pixels = train[0].shape[1]
        if len(images) != len(classes) or images.shape[1] != pixels or classes.max() > 9:
            raise DataError(
                f"the {which} files of {origin.name} must have images of {pixels} pixels with one "
                f"class from 0 to 9 each, got {len(images)} images of {images.shape[1]} pixels "
                f"and {len(classes)} classes up to {classes.max()}"
            )
    return LabelledArrays(
        name=origin.name,
        source="original files" if verified else "files as found, not verified",
        train=train[0],
        train_classes=train[1],
        test=test[0],
        test_classes=test[1],
    )


def _read_idx(origin: Origin, paths: list[Path]) -> tuple[ImageBatch, ImageBatch, bool]:
    arrays, verified = [], True
    for name, path in zip(origin.files, paths, strict=True):
        content, plain = read_content(path), name.removesuffix(".gz")
        known = origin.verify(plain, _published_as(content), path)
        if path.suffix == ".gz" and plain not in origin.published:
            known = origin.verify(name, _digest(path), path)
        verified &= known
        arrays.append(parse_idx(content, 3 if "images" in name else 1, path))
    train, train_classes, test, test_classes = arrays
    flat = train.reshape(len(train), -1), test.reshape(len(test), -1)
    return (flat[0], train_classes), (flat[1], test_classes), verified


def _read_cifar(origin: Origin, path: Path) -> tuple[ImageBatch, ImageBatch, bool]:
    binary = path.name == BINARY.archive or BINARY.is_complete(path)
    version, batches, verified = BINARY if binary else PYTHON, {}, True
    if binary:
        verified = path.is_file() and origin.verify(path.name, _digest(path), path)
    for name, content, where in version.contents(path):
        if not binary:
            verified &= origin.verify(name, _published_as(content), where)
        batches[name] = version.decode(content, where)
    missing = [name for name in version.batches if name not in batches]
    if missing:
        raise DataError(f"{path} must have all batches of CIFAR-10, got no {', '.join(missing)}")
    *train, test = (batches[name] for name in version.batches)
    images, classes = zip(*train, strict=True)
    return (np.concatenate(images), np.concatenate(classes)), test, verified


def _published_as(content: bytes) -> PublishedFile:
    return PublishedFile(len(content), sha256(content).hexdigest())


def _digest(path: Path) -> PublishedFile:
    try:
        with path.open("rb") as file:
            return PublishedFile(path.stat().st_size, file_digest(file, "sha256").hexdigest())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def download_originals(origin: Origin, names: list[str], root: Path) -> None:
    """Download files into the folder of a set, with a progress bar; raise DataError on failure."""
    pooch = require("pooch", "data")
    folder = root / origin.folders[0]
    registry = {name: f"sha256:{origin.published[name].sha256}" for name in names}
    cache = pooch.create(folder, origin.url, registry=registry, retry_if_failed=RETRIES)
    get = pooch.HTTPDownloader(progressbar=True, chunk_size=2**16, timeout=TIMEOUT)
    for name in names:
        try:
            path = Path(cache.fetch(name, downloader=get))
            path.chmod(0o644)  # temporary files, by which it arrives, are private
        except (OSError, ValueError) as error:  # of the network, the disk or the checksum
            reason = " ".join(str(error).split())
            raise DataError(
                f"{origin.url}{name} cannot be downloaded to {folder}: {reason}; try again later, "
                f"or put {', '.join(names)} there"
            ) from error
