"""The original files of a known set, found in the folders people keep them in, and read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.data._cifar import BINARY, PYTHON, Version, read_cifar
from doubletrouble.data._idx import read_idx, unpacked
from doubletrouble.data._images import Images
from doubletrouble.data._sources import CIFAR10, Origin, Original
from doubletrouble.data._verification import as_it_lies, is_known, is_of_another, is_published

ORIGINAL, AS_FOUND = "original files", "files as found, not verified"

Bytes: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True)
class Originals:
    """Where the files of a set are, and which of them are missing."""

    source: Origin
    paths: tuple[Path, ...] = ()  # the files in their order, or where CIFAR-10's batches are
    version: Version | None = None  # of CIFAR-10
    missing: tuple[str, ...] = ()

    @property
    def to_download(self) -> list[Original]:
        """The files that complete the set."""
        files = self.source.files
        return [file for file in files if file.name in self.missing] or list(files)

    def read(self) -> Images:
        """Read the images; raise `DataError` for a file that is not valid."""
        if self.version is not None:
            return _read_cifar(self.source, self.version, *self.paths)
        pairs = zip(self.paths, (3, 1, 3, 1), strict=True)
        files = [_numbers(path, axes, self.source) for path, axes in pairs]
        (train, train_classes, test, test_classes), published = zip(*files, strict=True)
        return Images(
            name=self.source.name, source=ORIGINAL if all(published) else AS_FOUND,
            train=train.reshape(len(train), -1), train_classes=train_classes,
            test=test.reshape(len(test), -1), test_classes=test_classes,
        )  # fmt: skip


def folders_of(source: Origin, roots: Iterable[Path]) -> list[Path]:
    """Every folder that may hold files of a set."""
    return [root / folder for root in roots for folder in source.folders]


def find_originals(source: Origin, roots: Iterable[Path]) -> Originals:
    """Look for every file of a set."""
    folders = folders_of(source, roots)
    if source.name == CIFAR10.name:
        return _find_cifar(source, folders)
    found = {file.name: _first(file.name, source, folders) for file in source.files}
    return Originals(
        source=source,
        paths=tuple(path for path in found.values() if path),
        missing=tuple(name for name, path in found.items() if not path),
    )


def _first(name: str, source: Origin, folders: list[Path]) -> Path | None:
    """The first of a file's forms: compressed, or unpacked under either name in use."""
    plain = name.removesuffix(".gz")
    for folder in folders:
        for form in (name, plain, plain.replace("-idx", ".idx")):
            path = folder / form
            if path.is_file() and not is_of_another(path, source):
                return path
    return None


def _numbers(path: Path, axes: int, source: Origin) -> tuple[Bytes, bool]:
    """What an idx file holds, and whether it was published."""
    name = path.name.replace(".idx", "-idx").removesuffix(".gz")
    # packed anew it is the same still: what it packs decides, if only that has a checksum
    as_a_whole = not is_known(name, source) and is_published(as_it_lies(path), str(path), source)
    numbers = read_idx(path, axes)
    return numbers, is_published(unpacked(name, numbers), str(path), source) or as_a_whole


def _find_cifar(source: Origin, folders: list[Path]) -> Originals:
    """A version that is complete, in a folder or an archive, or what the fullest folder lacks."""
    fewest: list[str] = [BINARY.archive, *BINARY.names]
    for base in folders:
        for version in (BINARY, PYTHON):
            for folder in (base / version.folder, base):
                missing = [name for name in version.names if not (folder / name).is_file()]
                if not missing:
                    return Originals(source=source, paths=(folder,), version=version)
                fewest = min(fewest, missing, key=len)
            archive = base / version.archive
            if archive.is_file():
                return Originals(source=source, paths=(archive,), version=version)
    none_at_all = len(fewest) >= len(BINARY.names)
    return Originals(source=source, missing=(BINARY.archive,) if none_at_all else tuple(fewest))


def _read_cifar(source: Origin, version: Version, path: Path) -> Images:
    batches_known = all(is_known(name, source) for name in version.names)
    published = []

    def look(name: str, content: bytes, where: str) -> None:
        if batches_known:
            found = Original(name=name, size=len(content), sha256=sha256(content).hexdigest())
            published.append(is_published(found, where, source))

    if not batches_known:
        published.append(path.is_file() and is_published(as_it_lies(path), str(path), source))
    (train, train_classes), (test, test_classes) = read_cifar(version, path, look)
    return Images(
        name=source.name, source=ORIGINAL if all(published) else AS_FOUND,
        train=train, train_classes=train_classes, test=test, test_classes=test_classes,
    )  # fmt: skip
