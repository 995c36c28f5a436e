"""From images to inputs and labels: principal directions, their scaling, and two classes.

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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble.parameters import FloatArray

ScalingName: TypeAlias = Literal["authors", "whiten"]
SCALINGS: tuple[ScalingName, ...] = get_args(ScalingName)
StatisticsName: TypeAlias = Literal["own", "train"]
STATISTICS: tuple[StatisticsName, ...] = get_args(StatisticsName)
PARITY = "parity"

Classes: TypeAlias = npt.NDArray[np.integer[Any]]
"""The class of each sample: whole numbers from 0."""
Rows: TypeAlias = npt.NDArray[np.intp]
LabelRule: TypeAlias = str | tuple[int, int]

_BLOCK = 2**22  # numbers in a block of rows


def label_rule(labels: object) -> LabelRule:
    """Validate the labels: "parity", or two classes.

    >>> label_rule([3, 8])
    (3, 8)
    """
    if isinstance(labels, str) and labels == PARITY:
        return PARITY
    if isinstance(labels, list | tuple | np.ndarray) and np.shape(labels) == (2,):
        a, b = labels
        whole = all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in (a, b))
        if whole and a != b:
            return int(a), int(b)
    raise ValueError(f"labels must be 'parity' or two different classes, got {labels!r}")


def signs(classes: Classes, rule: LabelRule) -> tuple[Rows, FloatArray]:
    """The samples of a rule, and +1 for odd classes or the second of a pair, -1 for the others.

    >>> rows, labels = signs(np.array([5, 0, 4, 1]), "parity")
    >>> rows, labels
    (array([0, 1, 2, 3]), array([ 1., -1., -1.,  1.]))
    >>> rows, labels = signs(np.array([5, 0, 4, 1]), (4, 5))
    >>> rows, labels
    (array([0, 2]), array([ 1., -1.]))
    """
    if isinstance(rule, str):
        return np.arange(len(classes)), np.where(classes % 2 == 1, 1.0, -1.0)
    rows = np.flatnonzero(np.isin(classes, rule))
    return rows, np.where(classes[rows] == rule[1], 1.0, -1.0)


@dataclass(frozen=True, kw_only=True)
class ProjectionOptions:
    """The number of directions and their scale; with `pca` None, pixels are not projected."""

    pca: int | None = 10
    scaling: ScalingName = "authors"
    test_statistics: StatisticsName = "own"

    def __post_init__(self) -> None:
        for name, known in (("scaling", SCALINGS), ("test_statistics", STATISTICS)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")


@dataclass(frozen=True, kw_only=True)
class Projection:
    """The map x ↦ (x - centre)/spread · directions."""

    centre: float | FloatArray
    spread: float
    directions: FloatArray | None  # [D, k], scaled; None: the identity

    def __call__(self, images: npt.NDArray[np.uint8], rows: Rows) -> FloatArray:
        """Map some of the images, in their order."""
        if self.directions is None:
            out = np.empty((len(rows), images.shape[1]))
            for part in _parts(*out.shape):
                out[part] = (images[rows[part]] - self.centre) / self.spread
        else:
            # all images: the last digits of a matrix product depend on the other rows of a block,
            # and the inputs of an image must not depend on the selection
            whole = np.empty((len(images), self.directions.shape[1]))
            for part in _parts(*images.shape):
                whole[part] = ((images[part] - self.centre) / self.spread) @ self.directions
            out = whole if len(rows) == len(images) else whole[rows]
        out.flags.writeable = False
        return out


def projections(
    train: npt.NDArray[np.uint8], test: npt.NDArray[np.uint8], options: ProjectionOptions
) -> tuple[Projection, Projection]:
    """The maps for the training and for the test images.

    >>> train = np.array([[0, 2], [2, 0], [2, 2], [0, 0]], dtype=np.uint8)
    >>> project, _ = projections(train, train, ProjectionOptions(pca=2, scaling="whiten"))
    >>> x = project(train, np.arange(4))
    >>> np.round(x.T @ x / 4, 12)
    array([[1., 0.],
           [0., 1.]])
    """
    if options.pca is not None and options.pca > train.shape[1]:
        raise ValueError(
            f"pca must be at most {train.shape[1]}, the pixels of an image, got {options.pca}"
        )
    if options.scaling == "whiten":
        whitened = _whitened(train, options.pca)
        return whitened, whitened
    standardized = _authors(train, options.pca)
    if options.test_statistics == "train":
        return standardized, standardized
    centre, spread = _statistics(test, "test")
    return standardized, replace(standardized, centre=centre, spread=spread)


@dataclass(frozen=True, kw_only=True)
class LabelledArrays:
    """All images of a set, or a stored projection of them, with their classes."""

    name: str
    source: str
    train: npt.NDArray[Any]
    train_classes: Classes
    test: npt.NDArray[Any]
    test_classes: Classes
    stored_statistics: str | None = None  # of the test inputs; None for images

    def inputs(
        self, train: Rows, test: Rows, options: ProjectionOptions
    ) -> tuple[FloatArray, FloatArray]:
        """Training and test inputs of some samples, with directions from all training images."""
        if self.stored_statistics is not None:
            x, x_test = self.train[train, : options.pca], self.test[test, : options.pca]
            return x.astype(np.float64), x_test.astype(np.float64)
        for_train, for_test = projections(self.train, self.test, options)
        return for_train(self.train, train), for_test(self.test, test)

    def statistics(self, options: ProjectionOptions) -> str:
        """The statistics by which the test inputs are normalized."""
        if self.stored_statistics is not None:
            return self.stored_statistics
        return "train" if options.scaling == "whiten" else options.test_statistics


def _authors(train: npt.NDArray[np.uint8], pca: int | None) -> Projection:
    m, s = _statistics(train, "training")
    if pca is None:
        return Projection(centre=m, spread=s, directions=None)
    gram, sums = _gram(train)
    gram -= m * (sums[:, None] + sums)
    gram += len(train) * m**2
    squares, V = _leading(gram / s**2, pca)
    return Projection(centre=m, spread=s, directions=V / squares**0.25)  # √σ, as [dascoli2020]


def _whitened(train: npt.NDArray[np.uint8], pca: int | None) -> Projection:
    gram, sums = _gram(train)
    n = len(train)
    # in this order the difference is of whole numbers, too, and therefore exact
    variances, V = _leading((n * gram - sums[:, None] * sums) / n**2, pca)
    return Projection(centre=sums / n, spread=1.0, directions=V / np.sqrt(variances))


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


def _gram(images: npt.NDArray[np.uint8]) -> tuple[FloatArray, FloatArray]:
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


def _statistics(images: npt.NDArray[np.uint8], which: str) -> tuple[float, float]:
    """Mean and standard deviation of all pixels of all images."""
    total = square = 0.0
    for part in _parts(*images.shape):
        x = images[part].astype(np.float64)
        total, square = total + float(x.sum()), square + float(np.vdot(x, x))
    mean = total / images.size
    variance = square / images.size - mean**2
    if not variance > 0:
        raise ValueError(f"the {which} images must have pixels of different values")
    return mean, float(np.sqrt(variance))


def _parts(n: int, d: int) -> Iterator[slice]:
    step = max(1, _BLOCK // d)
    return (slice(start, start + step) for start in range(0, n, step))
