"""Load a data set by its name: read or download the images, project them, select two classes.

Stored projections are .npz files with inputs in the authors' scaling and classes: X_train, y_train,
y_test and one or two test inputs, X_test_ownstats, normalized by the statistics of the test images,
and X_test. Those of a published set are named after it and the number of directions, such as
cifar10_pca10.npz.
"""

from __future__ import annotations  # help() then shows the types as written

import os
import re
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from doubletrouble.data._dataset import Data
from doubletrouble.data._formats import DataError, read_npz
from doubletrouble.data._originals import (
    ORIGINS,
    Origin,
    download_originals,
    find_originals,
    read_originals,
    search_roots,
)
from doubletrouble.data._projection import (
    Classes,
    LabelledArrays,
    LabelRule,
    ProjectionOptions,
    ScalingName,
    StatisticsName,
    label_rule,
    signs,
)
from doubletrouble.errors import require
from doubletrouble.parameters import whole_number

NAMES = ("digits", *ORIGINS)

_OWN, _TRAIN = "X_test_ownstats", "X_test"
_ARRAYS = ("X_train", "y_train", _OWN, _TRAIN, "y_test")
_DIGITS_TEST = 500  # test images of the digits


def load_data(
    name: str | os.PathLike[str] = "digits",
    *,
    pca: int | None = 10,
    labels: Literal["parity"] | tuple[int, int] = "parity",
    n_samples: int | None = 1000,
    n_test: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    scaling: ScalingName = "authors",
    test_statistics: StatisticsName = "own",
    download: bool = True,
) -> Data:
    """Load images as two classes of `pca` coordinates each.

    Parameters
    ----------
    name : str or path, default: "digits"
        "digits" (with scikit-learn), "mnist", "fashion-mnist" or "cifar10"; or the path of an .npz
        file, a stored projection.
    pca : int or None, default: 10
        The number of singular or principal directions, at least 1; None for the pixels.
    labels : "parity" or tuple of two ints, default: "parity"
        "parity" makes odd classes +1 and even ones -1; a pair such as (3, 8) selects these two, the
        first as -1.
    n_samples : int or None, default: 1000
        The number of training samples, from the first on; None for all.
    n_test : int or None, default: None
        The number of test samples, from the first on; None for all.
    folder : str or path or None, default: None
        An existing folder with the files of a published set; None for the one in the environment
        variable DOUBLETROUBLE_DATA, if it is set, and the cache of downloads.
    scaling : {"authors", "whiten"}, default: "authors"
        "authors" projects on singular directions of the uncentred images and divides by the root of
        the singular value [dascoli2020]; "whiten" makes the covariance of the training images the
        identity.
    test_statistics : {"own", "train"}, default: "own"
        Whether, with `scaling="authors"`, the test images are normalized by their own mean and
        standard deviation, or by those of the training images.
    download : bool, default: True
        Whether files that are not in `folder` or in the cache are downloaded.

    Returns
    -------
    Data
        The training and test set; its pool are all training samples of the two classes.

    Raises
    ------
    ValueError
        If a name, class, number of samples or number of directions is not available; `DataError` of
        `doubletrouble.data`, a subclass, if a file cannot be read or downloaded.
    TypeError
        If `name`, `folder` or `download` is not of the type above.
    MissingExtraError
        If scikit-learn (for the digits) or pooch (for downloads) is not installed.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.load_data("digits", pca=10, labels="parity", n_samples=1000)
    Data('digits', N=1000, D=10, n_test=500)
    >>> dt.load_data("digits", labels=(3, 8), n_samples=200).y_train[:4]
    array([-1.,  1.,  1.,  1.])
    """
    rule = label_rule(labels)
    k = None if pca is None else whole_number("pca", pca, 1)
    options = ProjectionOptions(pca=k, scaling=scaling, test_statistics=test_statistics)
    for argument, value in (("n_samples", n_samples), ("n_test", n_test)):
        if value is not None:
            whole_number(argument, value, 1)
    if not isinstance(download, bool):
        raise TypeError(f"download must be True or False, got {download!r}")
    arrays = _arrays(name, options, folder, download)
    train, y_pool = signs(arrays.train_classes, rule)
    test, y_test = signs(arrays.test_classes, rule)
    what = _selection(rule, arrays)
    n = _count("n_samples", n_samples, len(train), what)
    m = _count("n_test", n_test, len(test), what)
    x_pool, x_test = arrays.inputs(train, test[:m], options)
    return Data(
        x_train=x_pool[:n],
        y_train=y_pool[:n],
        x_test=x_test,
        y_test=y_test[:m],
        name=arrays.name,
        pool_x=x_pool,
        pool_y=y_pool,
        settings={
            "pca": k,
            "labels": rule,
            "scaling": scaling,
            "source": arrays.source,
            "test_statistics": arrays.statistics(options),
        },
    )


def _selection(rule: LabelRule, arrays: LabelledArrays) -> str:
    """The selected classes as text; raise ValueError for a class that does not occur."""
    if isinstance(rule, str):
        return arrays.name
    present = np.unique(arrays.train_classes).tolist()
    if not set(rule) <= set(present):
        listed = ", ".join(map(str, present))
        raise ValueError(f"labels must be among the classes {listed} of {arrays.name}, got {rule}")
    return f"classes {rule[0]} and {rule[1]} of {arrays.name}"


def _count(name: str, value: int | None, most: int, what: str) -> int:
    if value is None:
        return most
    if value > most:
        raise ValueError(
            f"{name} must be at most {most}, the number of samples of {what}, or None for all, "
            f"got {value}"
        )
    return value


def _arrays(
    name: str | os.PathLike[str],
    options: ProjectionOptions,
    folder: str | os.PathLike[str] | None,
    download: bool,
) -> LabelledArrays:
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"name must be a string or a path, got {name!r}")
    if os.fspath(name).endswith(".npz"):
        return _stored(Path(name).expanduser(), options)
    known = os.fspath(name).lower().replace("_", "-").replace("cifar-10", "cifar10")
    if known not in NAMES:
        raise ValueError(
            f"name must be one of {', '.join(NAMES)} or the path of an .npz file, got {name!r}"
        )
    if known == "digits":
        return digits()
    return _published(ORIGINS[known], options, folder, download)


def digits() -> LabelledArrays:
    """The digits of scikit-learn: 1797 images of 8 x 8 pixels, with values 0 to 16.

    They are ordered by writer, and shuffled here: in the order of the first 1797 numbers of the bit
    generator PCG64 with seed 0. The last 500 are the test set.

    >>> arrays = digits()
    >>> arrays.train.shape, arrays.test.shape
    ((1297, 64), (500, 64))
    """
    stored = require("sklearn.datasets", "networks").load_digits()
    # of all random numbers of NumPy, only those of a bit generator never change
    order = np.argsort(np.random.PCG64(0).random_raw(len(stored.target)), kind="stable")
    images, classes = stored.data[order].astype(np.uint8), stored.target[order].astype(np.uint8)
    return LabelledArrays(
        name="digits",
        source="scikit-learn",
        train=images[:-_DIGITS_TEST],
        train_classes=classes[:-_DIGITS_TEST],
        test=images[-_DIGITS_TEST:],
        test_classes=classes[-_DIGITS_TEST:],
    )


def _published(
    origin: Origin,
    options: ProjectionOptions,
    folder: str | os.PathLike[str] | None,
    download: bool,
) -> LabelledArrays:
    """A published set from its original files, a stored projection, or a download."""
    roots = search_roots(folder)
    paths = find_originals(origin, roots)
    missing = [name for name in origin.files if name not in paths]
    if missing:
        stored = _find_stored(origin, options, roots)
        if stored:
            return _stored(stored, options, origin.name)
        if not download:
            raise DataError(
                f"{origin.name} must be in {' or '.join(map(str, roots))} with download=False, "
                f"got no {', '.join(missing)}"
            )
        download_originals(origin, missing, roots[-1])
        paths = find_originals(origin, roots)
    return read_originals(origin, paths)


def _find_stored(origin: Origin, options: ProjectionOptions, roots: list[Path]) -> Path | None:
    """The smallest stored projection of a set with enough directions."""
    if options.pca is None or options.scaling != "authors":
        return None
    prefix = origin.name.replace("-", "_")
    for folder in (root / folder for root in roots for folder in origin.folders):
        sizes = {}
        for path in folder.glob(f"{prefix}_pca*.npz"):
            size = re.fullmatch(r".*_pca(\d+)", path.stem)
            if size and int(size[1]) >= options.pca:
                sizes[int(size[1])] = path
        if sizes:
            return sizes[min(sizes)]
    return None


def _stored(path: Path, options: ProjectionOptions, name: str | None = None) -> LabelledArrays:
    """Read a stored projection, or raise DataError."""
    if options.scaling != "authors":
        raise ValueError(
            f"scaling must be 'authors' for the stored projection {path.name}, got "
            f"{options.scaling!r}"
        )
    arrays = read_npz(path, _ARRAYS)
    test, statistics = _TRAIN, "as stored"
    if _OWN in arrays:
        test = _OWN if options.test_statistics == "own" else _TRAIN
        statistics = options.test_statistics
    missing = [key for key in ("X_train", "y_train", test, "y_test") if key not in arrays]
    if missing:
        raise DataError(
            f"{path} must have {', '.join(missing)}, got {', '.join(arrays) or 'nothing'}"
        )
    x_train, x_test = (_stored_inputs(f"{key} in {path}", arrays[key]) for key in ("X_train", test))
    columns = min(x_train.shape[1], x_test.shape[1])
    if options.pca is not None and options.pca > columns:
        raise ValueError(f"pca must be at most {columns}, the columns of {path}, got {options.pca}")
    return LabelledArrays(
        name=name or path.stem,
        source=path.name,
        train=x_train,
        train_classes=_stored_classes(f"y_train in {path}", arrays["y_train"], x_train),
        test=x_test,
        test_classes=_stored_classes(f"y_test in {path}", arrays["y_test"], x_test),
        stored_statistics=statistics,
    )


def _stored_inputs(name: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
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


def _stored_classes(name: str, array: npt.NDArray[Any], x: npt.NDArray[Any]) -> Classes:
    if array.dtype.kind not in "iu" or array.shape != (len(x),) or array.min() < 0:
        raise DataError(
            f"{name} must be {len(x)} classes, whole numbers from 0, "
            f"got {array.dtype} of shape {array.shape}"
        )
    return array
