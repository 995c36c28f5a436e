"""The original files of a known set, found in the folders people keep them in, and read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from doubletrouble.data.cifar import BINARY, PYTHON, Version, read_cifar
from doubletrouble.data.idx import read_idx
from doubletrouble.data.images import Images
from doubletrouble.data.sources import CIFAR10, Original, Source, check_original, is_of_another

_SOURCE = "original files"


@dataclass(frozen=True, kw_only=True)
class Originals:
    """Where the files of a set are, and which of them are missing."""

    source: Source
    paths: tuple[Path, ...] = ()  # the files in their order, or where CIFAR-10's batches are
    version: Version | None = None  # of CIFAR-10
    missing: tuple[str, ...] = ()

    @property
    def to_download(self) -> list[Original]:
        """The files that complete the set."""
        files = self.source.files
        return [file for file in files if file.name in self.missing] or list(files)

    def read(self) -> Images:
        """Read the images; `DataError` says what is wrong with a file."""
        if self.version is not None:
            return _read_cifar(self.source, self.version, *self.paths)
        for path in self.paths:
            check_original(path, self.source)
        train, train_classes, test, test_classes = map(read_idx, self.paths, (3, 1, 3, 1))
        return Images(
            name=self.source.name, source=_SOURCE,
            train=train.reshape(len(train), -1), train_classes=train_classes,
            test=test.reshape(len(test), -1), test_classes=test_classes,
        )  # fmt: skip


def folders_of(source: Source, roots: Iterable[Path]) -> list[Path]:
    """Every folder that may hold files of a set."""
    return [root / folder for root in roots for folder in source.folders]


def find_originals(source: Source, roots: Iterable[Path]) -> Originals:
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


def _first(name: str, source: Source, folders: list[Path]) -> Path | None:
    """The first of a file's forms: compressed, or unpacked under either name in use."""
    plain = name.removesuffix(".gz")
    for folder in folders:
        for form in (name, plain, plain.replace("-idx", ".idx")):
            path = folder / form
            if path.is_file() and not is_of_another(path, source):
                return path
    return None


def _find_cifar(source: Source, folders: list[Path]) -> Originals:
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


def _read_cifar(source: Source, version: Version, path: Path) -> Images:
    for file in (path / name for name in version.names) if path.is_dir() else (path,):
        check_original(file, source)
    (train, train_classes), (test, test_classes) = read_cifar(version, path)
    return Images(
        name=source.name, source=_SOURCE,
        train=train, train_classes=train_classes, test=test, test_classes=test_classes,
    )  # fmt: skip
