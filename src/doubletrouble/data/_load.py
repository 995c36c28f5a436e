"""Load a data set by its name: find the images, project them, keep two classes."""

from __future__ import annotations  # help() then shows the types as written

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from doubletrouble.data._dataset import Data
from doubletrouble.data._labels import check_classes, label_rule, signs
from doubletrouble.data._projection import ProjectionOptions, ScalingName, StatisticsName
from doubletrouble.parameters import whole_number

if TYPE_CHECKING:
    from doubletrouble.data._images import Images
    from doubletrouble.data._stored import Stored

NAMES = ("digits", "mnist", "fashion-mnist", "cifar10")

_OTHERWISE = {"cifar-10": "cifar10"}  # after underscores have become hyphens
_SUFFIX = ".npz"


def load_data(
    name: str | os.PathLike[str] = "digits",
    *,
    pca: int | None = 10,
    labels: Literal["parity"] | tuple[int, int] = "parity",
    n_train: int | None = 1000,
    n_test: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    scaling: ScalingName = "authors",
    test_statistics: StatisticsName = "own",
    download: bool = True,
) -> Data:
    """Load images as two classes of `pca` coordinates each.

    `name` is "digits" (with scikit-learn), "mnist", "fashion-mnist" or "cifar10", whose files are
    looked for in `folder` and otherwise downloaded, or the path of a stored projection. `pca=None`
    keeps the pixels; `n_train` and `n_test` count samples from the first, None for all.

    `labels="parity"` has odd classes as +1 and even ones as -1; a pair such as (3, 8) keeps these
    two, the first as -1. `scaling="authors"` projects on singular directions of the uncentred
    images and divides by the root of the singular value [dascoli2020], with the test images
    normalized by their own mean and spread (`test_statistics="train"`: by those of the training
    images); `scaling="whiten"` makes the covariance of the training images the identity.

    >>> data = load_data("digits", pca=10, labels="parity", n_train=1000)
    >>> data
    Data('digits', N=1000, D=10, n_test=500)
    >>> load_data("digits", labels=(3, 8), n_train=200).y_train[:4]
    array([-1.,  1.,  1.,  1.])
    """
    rule = label_rule(labels)
    k = None if pca is None else whole_number("pca", pca, 1)
    view = ProjectionOptions(pca=k, scaling=scaling, test_statistics=test_statistics)
    for argument, value in (("n_train", n_train), ("n_test", n_test)):
        if value is not None:
            whole_number(argument, value, 1)
    if not isinstance(download, bool):
        raise TypeError(f"download must be true or false, got {download!r}")
    found = _found(name, view, folder, download)
    check_classes(rule, found.train_classes, found.name)
    train, y_pool = signs(found.train_classes, rule)
    test, y_test = signs(found.test_classes, rule)
    what = (
        found.name if isinstance(rule, str) else f"classes {rule[0]} and {rule[1]} of {found.name}"
    )
    n = _count("n_train", n_train, len(train), what)
    m = _count("n_test", n_test, len(test), what)
    x_pool, x_test = found.inputs(train, test[:m], view)
    return Data(
        x_train=x_pool[:n], y_train=y_pool[:n], x_test=x_test, y_test=y_test[:m], name=found.name,
        pool_x=x_pool, pool_y=y_pool,
        settings={"pca": k, "labels": rule, "scaling": scaling, **found.settings(view)},
    )  # fmt: skip


def _found(name: Any, view: ProjectionOptions, folder: Any, download: bool) -> Images | Stored:
    """The images of a set, or a stored projection."""
    if not isinstance(name, str | os.PathLike):
        raise TypeError(f"name must be a string or a path, got {name!r}")
    if os.fspath(name).endswith(_SUFFIX):
        from doubletrouble.data._stored import read_stored

        return read_stored(Path(name).expanduser(), view)
    known = os.fspath(name).lower().replace("_", "-")
    known = _OTHERWISE.get(known, known)
    if known not in NAMES:
        raise ValueError(
            f"name must be one of {', '.join(NAMES)} or the path of an {_SUFFIX} file, got {name!r}"
        )
    if known == "digits":
        from doubletrouble.data._digits import digits

        return digits()
    from doubletrouble.data._known import known_set

    return known_set(known, view, folder, download)


def _count(name: str, value: int | None, most: int, what: str) -> int:
    if value is None:
        return most
    if value > most:
        raise ValueError(
            f"{name} must be at most {most}, the samples there are of {what}, got {value}; "
            f"{name}=None takes them all"
        )
    return value
