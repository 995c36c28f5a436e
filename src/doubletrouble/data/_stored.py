"""Stored projections: .npz files with inputs made before, in the authors' way, and classes.

They hold X_train, y_train, y_test and one or two test inputs: X_test_ownstats, normalized by the
statistics of the test images, and X_test. Those of a known set are named after it and the number of
directions, such as cifar10_pca10.npz.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.npyio import NpzFile

from doubletrouble.data._errors import DataError
from doubletrouble.data._labels import Classes, Rows
from doubletrouble.data._projection import ProjectionOptions
from doubletrouble.data._sources import Origin
from doubletrouble.parameters import FloatArray

OWN, TRAIN = "X_test_ownstats", "X_test"
KEYS = ("X_train", "y_train", OWN, TRAIN, "y_test")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What a stored projection holds, with one of its test inputs."""

    name: str
    train: npt.NDArray[Any]
    train_classes: Classes
    test: npt.NDArray[Any]
    test_classes: Classes
    file: str
    test_statistics: str

    def inputs(
        self, train: Rows, test: Rows, view: ProjectionOptions
    ) -> tuple[FloatArray, FloatArray]:
        """The inputs of these samples: the first columns."""
        x = self.train[train, : view.pca], self.test[test, : view.pca]
        return x[0].astype(np.float64), x[1].astype(np.float64)

    def settings(self, view: ProjectionOptions) -> Mapping[str, Any]:
        """How the inputs were made."""
        return {"source": self.file, "test_statistics": self.test_statistics}


def find_stored(source: Origin, view: ProjectionOptions, folders: Iterable[Path]) -> Path | None:
    """The smallest stored projection of a set that has the requested directions."""
    if view.pca is None or view.scaling != "authors":
        return None
    for folder in folders:
        found = {}
        for path in folder.glob(f"{source.slug}_pca*.npz"):
            size = re.fullmatch(r".*_pca(\d+)", path.stem)
            if size and int(size[1]) >= view.pca:
                found[int(size[1])] = path
        if found:
            return found[min(found)]
    return None


def read_stored(path: Path, view: ProjectionOptions, name: str | None = None) -> Stored:
    """Read a stored projection, or raise DataError."""
    if view.scaling != "authors":
        raise ValueError(
            f"scaling must be 'authors' for the stored projection {path.name}, got {view.scaling!r}"
        )
    arrays = _arrays(path)
    test, statistics = _test(path, set(arrays), view)
    missing = [key for key in ("X_train", "y_train", test, "y_test") if key not in arrays]
    if missing:
        raise DataError(
            f"{path} must hold {', '.join(missing)}, got {', '.join(arrays) or 'nothing'}"
        )
    x_train, x_test = (_inputs(f"{key} in {path}", arrays[key]) for key in ("X_train", test))
    columns = min(x_train.shape[1], x_test.shape[1])
    if view.pca is not None and view.pca > columns:
        raise ValueError(f"pca must be at most {columns}, the columns of {path}, got {view.pca}")
    return Stored(
        name=name or path.stem, file=path.name, test_statistics=statistics,
        train=x_train, train_classes=_classes(f"y_train in {path}", arrays["y_train"], x_train),
        test=x_test, test_classes=_classes(f"y_test in {path}", arrays["y_test"], x_test),
    )  # fmt: skip


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with path.open("rb") as raw, NpzFile(raw, allow_pickle=False) as file:
            return {key: np.asarray(file[key]) for key in KEYS if key in file.files}
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except (
        ValueError, EOFError, LookupError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error
    ) as error:  # fmt: skip
        raise DataError(f"{path} is damaged, or no .npz file of numbers: {error}") from error


def _test(path: Path, names: set[str], view: ProjectionOptions) -> tuple[str, str]:
    """Which test inputs to take, and by whose statistics they are normalized."""
    if view.test_statistics == "own":
        return (OWN, "own") if OWN in names else (TRAIN, "as stored")
    if TRAIN not in names and OWN in names:
        raise ValueError(f"test_statistics must be 'own', since {path} has no {TRAIN}, got 'train'")
    return TRAIN, "train" if OWN in names else "as stored"


def _inputs(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind not in "fiu" or array.ndim != 2 or not array.size:
        raise DataError(
            f"{name} must be a matrix of numbers, got {array.dtype} of shape {array.shape}"
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = map(int, bad[0])
        raise DataError(
            f"{name} must be finite, got {float(array[row, column])!r} at index ({row}, {column})"
        )
    return array


def _classes(name: str, array: npt.NDArray[Any], x: npt.NDArray[Any]) -> Classes:
    if array.dtype.kind not in "iu" or array.shape != (len(x),) or array.min() < 0:
        raise DataError(
            f"{name} must be {len(x)} classes, whole numbers from 0, "
            f"got {array.dtype} of shape {array.shape}"
        )
    return array
