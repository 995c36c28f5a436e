"""Images to train networks on, as two classes, and user arrays.

Images are the rows of X [n, D], with pixels from 0 to 255 (a common factor drops out of all that
follows). With V the leading directions as columns, a sample is

    authors   (x - m)/s · V / √σ     m, s: mean and standard deviation of all pixels of all images;
                                     V, σ: right singular vectors and singular values of the
                                     training matrix (X - m)/s, whose columns are not centred
    whiten    (x - μ) · V / d        μ: mean of each pixel over the training images; V: principal
                                     directions; d: standard deviation along each, divisor n

The authors normalize the test images by their own m and s [dascoli2020]; V and σ are those of the
training images. Both follow from XᵀX, whose entries are whole numbers below 2⁵³: they are exact in
float64, for any blocks of rows. The sign of a direction is such that its entry of largest magnitude
is positive.
"""

from __future__ import annotations  # help() then shows FloatArray, not its definition

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble.errors import DoubleTroubleError, require
from doubletrouble.parameters import (
    FloatArray,
    Parameter,
    check_choice,
    check_flag,
    checked,
    refuse,
    whole_number,
)

ScalingName: TypeAlias = Literal["authors", "whiten"]
SCALINGS: tuple[ScalingName, ...] = get_args(ScalingName)
StatisticsName: TypeAlias = Literal["own", "train"]
STATISTICS: tuple[StatisticsName, ...] = get_args(StatisticsName)
PARITY = "parity"

Bytes: TypeAlias = npt.NDArray[np.uint8]
Classes: TypeAlias = npt.NDArray[np.integer[Any]]
Rows: TypeAlias = npt.NDArray[np.intp]

# networks are trained in float32, whose largest number is 3e38, and inputs are squared
_INPUT = Parameter(
    symbol="x", meaning="a coordinate of a sample", typical=(-1.0, 1.0), low=-1e15, high=1e15
)


class DataError(DoubleTroubleError, ValueError):
    """A data set cannot be read or downloaded."""


# --- a data set ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Data:
    """Two classes of samples, from `load_data` or from user arrays.

    Arrays are copied and read-only; invalid ones raise ValueError or TypeError.

    Parameters
    ----------
    x_train : array_like of shape (N, D)
        Training inputs, a row for each sample, with numbers up to 1e15 in magnitude.
    y_train : array_like of shape (N,)
        Training labels, -1 or +1; both must occur.
    x_test : array_like of shape (n_test, D)
        Test inputs.
    y_test : array_like of shape (n_test,)
        Test labels, -1 or +1.
    name : str, default: "own"
        The name of the data set, as printed and stored.
    pool_x : array_like of shape (n, D) or None, default: None
        Inputs of all available training samples, of which `x_train` are the first; `blocks` makes
        several data sets from them.
    pool_y : array_like of shape (n,) or None, default: None
        Labels of `pool_x`, of which `y_train` are the first.
    settings : mapping, default: {}
        How the data were made; nothing is computed from it.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> data = dt.Data(x_train=[[0, 1], [2, 3]], y_train=[-1, 1], x_test=[[1, 1]], y_test=[1])
    >>> data
    Data('own', N=2, D=2, n_test=1)
    >>> dt.Data(x_train=[[0, 1], [2, 3]], y_train=[1, 1], x_test=[[1, 1]], y_test=[1])
    Traceback (most recent call last):
    ValueError: y_train must hold both classes, got only 1.0
    """

    x_train: FloatArray
    y_train: FloatArray
    x_test: FloatArray
    y_test: FloatArray
    name: str = "own"
    pool_x: FloatArray | None = None
    pool_y: FloatArray | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, got {self.name!r}")
        if not isinstance(self.settings, Mapping):
            raise TypeError(f"settings must be a mapping, got {self.settings!r}")
        if (self.pool_x is None) != (self.pool_y is None):
            raise ValueError("pool_x and pool_y must be given together, got only one of them")
        x_train, y_train = _samples("x_train", self.x_train, "y_train", self.y_train)
        x_test, y_test = _samples("x_test", self.x_test, "y_test", self.y_test)
        if x_test.shape[1] != x_train.shape[1]:
            raise ValueError(
                f"x_test must have as many columns as x_train, {x_train.shape[1]}, "
                f"got {x_test.shape[1]}"
            )
        if np.all(y_train == y_train[0]):
            raise ValueError(f"y_train must hold both classes, got only {float(y_train[0])!r}")
        values: dict[str, Any] = {"settings": MappingProxyType(dict(self.settings))}
        if self.pool_x is not None:  # of which the training set becomes a view
            x, y = _samples("pool_x", self.pool_x, "pool_y", self.pool_y)
            first = slice(len(y_train))
            if not (np.array_equal(x[first], x_train) and np.array_equal(y[first], y_train)):
                raise ValueError(
                    "x_train and y_train must be the first rows of pool_x and pool_y, got others"
                )
            x_train, y_train = x[first], y[first]
            values |= {"pool_x": x, "pool_y": y}
        values |= {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """The name and the sizes."""
        (n, d), n_test = self.x_train.shape, len(self.y_test)
        return f"Data({self.name!r}, N={n}, D={d}, n_test={n_test})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Construct again: unpickled arrays would be writable."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return partial(type(self), **{**values, "settings": dict(self.settings)}), ()

    def blocks(self, n_data: int) -> list[Data]:
        """Return disjoint training sets of N samples of the pool, with the same test set.

        Parameters
        ----------
        n_data : int
            The number of sets, at least 1.

        Returns
        -------
        list of Data
            The sets, in the order of the pool; `settings["block"]` is their index.

        Raises
        ------
        ValueError
            If `n_data` is not a whole number of at least 1, or the pool has fewer than `n_data`
            times N samples.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> x, y = [[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]
        >>> data = dt.Data(x_train=x[:2], y_train=y[:2], x_test=x, y_test=y, pool_x=x, pool_y=y)
        >>> [block.x_train.ravel().tolist() for block in data.blocks(2)]
        [[0.0, 1.0], [2.0, 3.0]]
        """
        whole_number("n_data", n_data, 1)
        (pool_x, pool_y), n = self._pool, len(self.y_train)
        most = len(pool_y) // n
        if n_data > most:
            raise ValueError(
                f"n_data must be at most {most}, since {len(pool_y)} training samples make no more "
                f"disjoint sets of {n}, got {n_data}; load_data(n_samples={len(pool_y) // n_data}) "
                "would fit"
            )
        return [
            Data(
                x_train=pool_x[block * n : (block + 1) * n],
                y_train=pool_y[block * n : (block + 1) * n],
                x_test=self.x_test,
                y_test=self.y_test,
                name=self.name,
                settings={**self.settings, "block": block},
            )
            for block in range(n_data)
        ]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all numbers, and of nothing else."""
        digest = sha256(f"data 1, N = {len(self.y_train)}".encode())
        for array in (*self._pool, self.x_test, self.y_test):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array, dtype="<f8").data)
        return digest.hexdigest()

    @property
    def _pool(self) -> tuple[FloatArray, FloatArray]:
        if self.pool_x is None or self.pool_y is None:
            return self.x_train, self.y_train
        return self.pool_x, self.pool_y


def as_data(value: object) -> Data:
    """Return a data set, or raise TypeError."""
    if not isinstance(value, Data):
        raise TypeError(f"data must be a Data, as from load_data, got {type(value).__name__}")
    return value


def _samples(x_name: str, x_value: Any, y_name: str, y_value: Any) -> tuple[FloatArray, FloatArray]:
    """Inputs and labels, validated."""
    x = _numbers(x_name, x_value)
    if x.ndim != 2 or not x.size:
        raise ValueError(
            f"{x_name} must have a row for each sample and a column for each dimension, "
            f"got shape {x.shape}"
        )
    # two numbers suffice (NaN propagates); a mask would take memory
    if not max(x.max(), -x.min()) <= _INPUT.high:
        refuse(x_name, x, ~np.isfinite(x), "finite")
        refuse(x_name, x, _INPUT.outside(x), _INPUT.domain)
    y = _numbers(y_name, y_value)
    if y.shape != x.shape[:1]:
        raise ValueError(
            f"{y_name} must have one label for each of the {len(x)} rows of {x_name}, "
            f"got shape {y.shape}"
        )
    refuse(y_name, y, np.abs(y) != 1, "-1 or 1")
    return x, y


def _numbers(name: str, value: Any) -> FloatArray:
    """Numbers as a read-only, C-contiguous float64 array; immutable arrays are not copied."""
    if _is_immutable(value):
        return np.asarray(value)
    plain = type(value) is np.ndarray and value.dtype.kind in "iuf"
    numbers = value if plain else np.asarray(checked(name, value, _INPUT))
    array = np.array(numbers, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def _is_immutable(value: object) -> bool:
    """Whether an array is immutable: neither it nor its base is writable."""
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.flags.writeable:
        return False
    return value.flags.c_contiguous and (value.base is None or _is_immutable(value.base))


# --- images as two classes -----------------------------------------------------------------------


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
        file of images or of their stored projection.
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
        An existing folder with files of a set, and for downloads; None for that of the environment
        variable DOUBLETROUBLE_DATA or, if it is not set, for the cache of scikit-learn.
    scaling : "authors" or "whiten", default: "authors"
        "authors" projects on singular directions of the uncentred images and divides by the root of
        the singular value [dascoli2020]; "whiten" makes the covariance of the training images the
        identity.
    test_statistics : "own" or "train", default: "own"
        Whether, with `scaling="authors"`, the test images are normalized by their own mean and
        standard deviation, or by those of the training images.
    download : bool, default: True
        Whether a set without files is read from OpenML or its cache, by scikit-learn.

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
        If scikit-learn, or pandas (for downloads), is not installed.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.load_data("digits", pca=10, labels="parity", n_samples=1000)
    Data('digits', N=1000, D=10, n_test=500)
    >>> dt.load_data("digits", labels=(3, 8), n_samples=200).y_train[:4]
    array([-1.,  1.,  1.,  1.])
    """
    pair = _pair(labels)
    k = None if pca is None else whole_number("pca", pca, 1)
    for option, value, known in (
        ("scaling", scaling, SCALINGS),
        ("test_statistics", test_statistics, STATISTICS),
    ):
        check_choice(option, value, known)
    for option, count in (("n_samples", n_samples), ("n_test", n_test)):
        if count is not None:
            whole_number(option, count, 1)
    check_flag("download", download)
    images = _find(name, folder, download, scaling, test_statistics)
    what = images.name
    if pair is not None:
        present = np.unique(images.classes[: images.n_pool]).tolist()
        if not set(pair) <= set(present):
            listed = ", ".join(map(str, present))
            raise ValueError(f"labels must be among the classes {listed} of {what}, got {pair}")
        what = f"classes {pair[0]} and {pair[1]} of {what}"
    train, y_pool = _signs(images.classes[: images.n_pool], pair)
    test, y_test = _signs(images.classes[images.n_pool :], pair)
    n = _count("n_samples", n_samples, len(train), what)
    m = _count("n_test", n_test, len(test), what)
    x_pool, x_test = _inputs(images, train, test[:m], k, scaling, test_statistics)
    own = "train" if scaling == "whiten" else test_statistics
    return Data(
        x_train=x_pool[:n],
        y_train=y_pool[:n],
        x_test=x_test,
        y_test=y_test[:m],
        name=images.name,
        pool_x=x_pool,
        pool_y=y_pool,
        settings={
            "pca": k,
            "labels": pair or PARITY,
            "scaling": scaling,
            "source": images.source,
            "test_statistics": images.stored or own,
        },
    )


def _pair(labels: object) -> tuple[int, int] | None:
    """Two classes, or None for the parity."""
    if isinstance(labels, str) and labels == PARITY:
        return None
    if isinstance(labels, list | tuple | np.ndarray) and np.shape(labels) == (2,):
        a, b = labels
        whole = all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in (a, b))
        if whole and a != b:
            return int(a), int(b)
    raise ValueError(f"labels must be 'parity' or two different classes, got {labels!r}")


def _signs(classes: Classes, pair: tuple[int, int] | None) -> tuple[Rows, FloatArray]:
    """The samples, and +1 for odd classes or the second of a pair, -1 for the others."""
    if pair is None:
        return np.arange(len(classes)), np.where(classes % 2 == 1, 1.0, -1.0)
    rows = np.flatnonzero(np.isin(classes, pair))
    return rows, np.where(classes[rows] == pair[1], 1.0, -1.0)


def _count(name: str, value: int | None, most: int, what: str) -> int:
    if value is not None and value > most:
        raise ValueError(
            f"{name} must be at most {most}, the number of samples of {what}, or None for all, "
            f"got {value}"
        )
    return most if value is None else value


# --- sources -------------------------------------------------------------------------------------

# The number of a set at OpenML, its training images, and the first half of the SHA-256 of its
# classes: a byte each, of the training and the test images in their published order.
_PUBLISHED = {
    "mnist": (554, 60_000, "671ff9d70b4811116d55c3dd479efa7a"),
    "fashion-mnist": (40996, 60_000, "8ab940a680640f36c0bf1d2549cb2f3b"),
    "cifar10": (40927, 50_000, "3edb456524d5918aefded81f5aef7c32"),
}
NAMES = ("digits", *_PUBLISHED)

_BINARY = "cifar-10-batches-bin"
_BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
_BYTES = 1 + 3 * 32 * 32  # the class of an image, and its pixels
_VARIABLE = "DOUBLETROUBLE_DATA"


class _Images(NamedTuple):
    """Images (uint8) or a projection of them, first those for training, with their classes."""

    name: str
    source: str
    rows: npt.NDArray[Any]
    classes: Classes
    n_pool: int
    stored: str | None = None  # the statistics of the test inputs of a projection


def _find(name: object, folder: object, download: bool, scaling: str, statistics: str) -> _Images:
    """The images of a set, from its first source that is there."""
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"name must be a string or a path, got {name!r}")
    if os.fspath(name).endswith(".npz"):
        path = Path(name).expanduser()
        return _npz(path, path.stem, scaling, statistics)
    known = os.fspath(name).lower().replace("_", "-").replace("cifar-10", "cifar10")
    if known not in NAMES:
        raise ValueError(
            f"name must be one of {', '.join(NAMES)} or the path of an .npz file, got {name!r}"
        )
    if known == "digits":
        return _digits()
    root = _folder(folder)
    file = f"{known.replace('-', '_')}.npz"
    for place in (root / known, root) if root else ():
        if (place / file).is_file():
            return _npz(place / file, known, scaling, statistics)
        for batches in (place / _BINARY, place):
            if known == "cifar10" and all((batches / batch).is_file() for batch in _BATCHES):
                return _binary_cifar(batches)
    if download:
        return _openml(known, root)
    files = f"{file} or {_BINARY}" if known == "cifar10" else file
    where = root or f"folder or {_VARIABLE}"
    raise DataError(f"{known} must be in {where} with download=False, got no {files}")


def _folder(folder: object) -> Path | None:
    """The folder that is given, or that of the environment."""
    name = "folder" if folder is not None else _VARIABLE
    named = folder if folder is not None else os.environ.get(_VARIABLE) or None
    if not isinstance(named, str | os.PathLike | None):
        raise TypeError(f"{name} must be a path, got {named!r}")
    path = None if named is None else Path(named).expanduser()
    if path is not None and not path.is_dir():
        raise ValueError(f"{name} must be an existing folder, got {str(named)!r}")
    return path


def _digits() -> _Images:
    """The digits of scikit-learn: 1797 images of 8 x 8 pixels, with values 0 to 16.

    They are ordered by writer, and shuffled here: in the order of the first 1797 numbers of the bit
    generator PCG64 with seed 0. The last 500 are the test set.
    """
    stored = require("sklearn.datasets", "networks").load_digits()
    # of all random numbers of NumPy, only those of a bit generator never change
    order = np.argsort(np.random.PCG64(0).random_raw(len(stored.target)), kind="stable")
    images, classes = stored.data[order].astype(np.uint8), stored.target[order].astype(np.uint8)
    return _Images("digits", "scikit-learn", images, classes, len(images) - 500)


def _openml(name: str, folder: Path | None) -> _Images:
    """A published set by scikit-learn, from the network or its cache."""
    fetch = require("sklearn.datasets", "data").fetch_openml
    require("pandas", "data")  # which parses the file
    number, n_pool, digest = _PUBLISHED[name]
    source = f"data set {number} of OpenML"
    options: dict[str, Any] = {"as_frame": False, "return_X_y": True, "n_retries": 1}
    # numbers for the classes, too: scikit-learn 1.9 cannot read categories with pandas 3.1
    options |= {"parser": "pandas", "read_csv_kwargs": {"dtype": np.float32}}
    try:
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            warnings.simplefilter("ignore")  # of a retry: if it fails, there is an error
            pixels, target = fetch(data_id=number, data_home=folder, **options)
            images, classes = (np.asarray(a).astype(np.uint8) for a in (pixels, target))
    except (OSError, HTTPException, ValueError, KeyError) as error:
        raise DataError(
            f"{name}, {source}, cannot be read: {_line(error)}; without a network, give a folder "
            "with its files, or the path of an .npz file"
        ) from error
    if sha256(classes.tobytes()).hexdigest()[:32] != digest:
        raise DataError(f"{source} must have the classes of {name} in their published order")
    if images.ndim != 2 or len(images) != len(classes) or not np.array_equal(images, pixels):
        raise DataError(f"{source} must have a row of pixels from 0 to 255 for each image")
    return _Images(name, source, images, classes, n_pool)


def _binary_cifar(folder: Path) -> _Images:
    """The binary version of CIFAR-10: a class and 3072 pixels for each image of six files."""
    batches = []
    for path in (folder / name for name in _BATCHES):
        try:
            content = np.fromfile(path, dtype=np.uint8)
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
        if not content.size or content.size % _BYTES or content[::_BYTES].max() > 9:
            raise DataError(
                f"{path} must have {_BYTES} bytes for every image of CIFAR-10, the first a class "
                f"from 0 to 9, got {content.size} bytes: it is truncated or damaged"
            )
        batches.append(content.reshape(-1, _BYTES))
    rows, n_pool = np.concatenate(batches), sum(map(len, batches[:-1]))
    return _Images("cifar10", folder.name, rows[:, 1:], rows[:, 0], n_pool)


def _npz(path: Path, name: str, scaling: str, statistics: str) -> _Images:
    """Images (uint8) or their projection by the authors' scaling (other numbers), with classes.

    A projection may have X_test_ownstats, test inputs normalized by the statistics of the test
    images, beside X_test or in its place.
    """
    wanted = ("X_train", "X_test", "X_test_ownstats", "y_train", "y_test")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            names = {one.lower(): one for one in archive.files}
            arrays = {
                key: np.asarray(archive[names[key.lower()]])
                for key in wanted
                if key.lower() in names
            }
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # zipfile and NumPy raise many classes
        raise DataError(f"{path} is damaged, or not an .npz file of numbers") from error
    stored, test = None, "X_test"
    if "X_train" in arrays and arrays["X_train"].dtype != np.uint8:
        stored = "as stored"
        if "X_test_ownstats" in arrays:
            stored, test = statistics, "X_test_ownstats" if statistics == "own" else "X_test"
    pairs = (("X_train", "y_train"), (test, "y_test"))
    for key in (key for pair in pairs for key in pair if key not in arrays):
        raise DataError(f"{path} must have {key}, got {_few(names.values()) or 'nothing'}")
    for x_key, y_key in pairs:
        x, y = arrays[x_key], arrays[y_key]
        if stored is None and x.ndim > 2 and x.size:
            x = arrays[x_key] = x.reshape(len(x), -1)
        alike = x.dtype.kind in "fiu" if stored else x.dtype == np.uint8
        matrix = alike and x.ndim == 2 and x.size and np.isfinite(x).all()
        if not matrix or x.shape[1] != arrays["X_train"].shape[1]:
            raise DataError(
                f"{x_key} in {path} must be images as uint8, or a matrix of finite numbers, and "
                f"X_test like X_train, got {x.dtype} of shape {x.shape}"
            )
        if y.dtype.kind not in "iu" or y.shape != x.shape[:1] or y.min() < 0:
            raise DataError(
                f"{y_key} in {path} must be {len(x)} classes, whole numbers from 0, "
                f"got {y.dtype} of shape {y.shape}"
            )
    if stored is not None:
        _check_projection(path, arrays["X_train"])
        if scaling != "authors":
            raise ValueError(f"scaling must be authors for a projection, {path}, got {scaling!r}")
    rows, classes = (np.concatenate([arrays[pair[i]] for pair in pairs]) for i in (0, 1))
    return _Images(name, path.name, rows, classes, len(arrays["y_train"]), stored)


def _check_projection(path: Path, x: npt.NDArray[Any]) -> None:
    """ValueError unless the columns of a matrix are orthogonal, as those of XV are."""
    gram, _ = _gram(x)
    norms = np.sqrt(np.diag(gram))
    if np.any(np.abs(gram - np.diag(norms**2)) > _ROUNDING * norms[:, None] * norms):
        raise DataError(
            f"X_train in {path} must be images with pixels from 0 to 255 as uint8, or their "
            "projection on singular directions, whose columns are orthogonal, "
            f"got {x.dtype} from {x.min():g} to {x.max():g}"
        )


def _few(names: Iterable[str], most: int = 8) -> str:
    every = list(names)
    return ", ".join(every[:most] + ["…"] * (len(every) > most))


def _line(error: Exception) -> str:
    """An error on one line of bounded length: messages may contain parts of a file."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:120]


# --- projections ---------------------------------------------------------------------------------

_BLOCK = 2**22  # numbers in a block of rows
_ROUNDING = 1e-4  # of stored projections: those in float32 are orthogonal up to 1e-9


def _inputs(
    images: _Images, train: Rows, test: Rows, pca: int | None, scaling: str, statistics: str
) -> tuple[FloatArray, FloatArray]:
    """Training and test inputs of some samples, with directions from all training images."""
    most, n = images.rows.shape[1], images.n_pool
    if pca is not None and pca > most:
        raise ValueError(f"pca must be at most {most}, the columns of {images.name}, got {pca}")
    x, x_test = images.rows[:n], images.rows[n:]
    if images.stored is not None:
        return x[train, :pca].astype(np.float64), x_test[test, :pca].astype(np.float64)
    centre, spread, V = (_whitening if scaling == "whiten" else _authors)(x, pca)
    inputs = _mapped(x, train, centre, spread, V)
    if scaling == "authors" and statistics == "own":
        centre, spread = _statistics(x_test, "test")
    return inputs, _mapped(x_test, test, centre, spread, V)


def _mapped(
    images: Bytes, rows: Rows, centre: float | FloatArray, spread: float, V: FloatArray | None
) -> FloatArray:
    """(x - centre)/spread · V of some of the images, in their order; without V, the pixels."""
    if V is None:
        out = np.empty((len(rows), images.shape[1]))
        for part in _parts(*out.shape):
            out[part] = (images[rows[part]] - centre) / spread
    else:
        # all images: the last digits of a matrix product depend on the other rows of a block,
        # and the inputs of an image must not depend on the selection
        out = np.empty((len(images), V.shape[1]))
        for part in _parts(*images.shape):
            out[part] = ((images[part] - centre) / spread) @ V
        out = out if len(rows) == len(images) else out[rows]
    out.flags.writeable = False
    return out


def _authors(train: Bytes, pca: int | None) -> tuple[float, float, FloatArray | None]:
    m, s = _statistics(train, "training")
    if pca is None:
        return m, s, None
    gram, sums = _gram(train)
    gram -= m * (sums[:, None] + sums)
    gram += len(train) * m**2
    squares, V = _leading(gram / s**2, pca)
    return m, s, V / squares**0.25  # √σ, as [dascoli2020]


def _whitening(train: Bytes, pca: int | None) -> tuple[FloatArray, float, FloatArray]:
    (gram, sums), n = _gram(train), len(train)
    # in this order the difference is of whole numbers, too, and therefore exact
    variances, V = _leading((n * gram - sums[:, None] * sums) / n**2, pca)
    return sums / n, 1.0, V / np.sqrt(variances)


def _leading(matrix: FloatArray, pca: int | None) -> tuple[FloatArray, FloatArray]:
    """The leading eigenvalues and eigenvectors of a symmetric matrix; all of its rank for None."""
    values, V = np.linalg.eigh(matrix)
    values, V = values[::-1], V[:, ::-1]
    rank = int(np.sum(values > len(values) * np.finfo(float).eps * max(values[0], 0.0)))
    if not rank or (pca is not None and pca > rank):
        raise ValueError(f"pca must be at most {rank}, the rank of the training images, got {pca}")
    values, V = values[: pca or rank], V[:, : pca or rank]
    largest = np.take_along_axis(V, np.abs(V).argmax(axis=0)[None], axis=0)
    return values, V * np.sign(largest)


def _gram(images: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """XᵀX and the sum of every pixel, exactly; with a progress bar after two seconds."""
    from doubletrouble.runs import progress_bar

    n, d = images.shape
    gram, sums = np.zeros((d, d)), np.zeros(d)
    with progress_bar(n, unit="image", description="directions") as bar:
        for part in _parts(n, d):
            x = images[part].astype(np.float64)
            gram += x.T @ x
            sums += x.sum(axis=0)
            bar.update(len(x))
    return gram, sums


def _statistics(images: Bytes, which: str) -> tuple[float, float]:
    """Mean and standard deviation of all pixels of all images."""
    total = square = 0.0
    for part in _parts(*images.shape):
        x = images[part].astype(np.float64)
        total, square = total + float(x.sum()), square + float(np.vdot(x, x))
    mean = total / images.size
    variance = square / images.size - mean**2
    if not variance > 0:
        value = float(images.flat[0])
        raise ValueError(f"{which} images must have pixels that differ, got only {value:g}")
    return mean, float(np.sqrt(variance))


def _parts(n: int, d: int) -> Iterator[slice]:
    """Blocks of rows."""
    step = max(1, _BLOCK // d)
    return (slice(start, start + step) for start in range(0, n, step))
