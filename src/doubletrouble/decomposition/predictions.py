"""The squared error of a learner by cause, from its predictions."""

import numpy as np
import numpy.typing as npt

from doubletrouble.decomposition import parts
from doubletrouble.decomposition.design import Design
from doubletrouble.decomposition.jackknife import estimate
from doubletrouble.decomposition.products import LARGEST, combine, mean_products
from doubletrouble.decomposition.result import AnovaEstimates, Decomposition
from doubletrouble.parameters import FloatArray, Numeric, Parameter, checked
from doubletrouble.results import Estimate

_TARGET = Parameter(
    symbol="y", meaning="target at a test point", typical=(-1.0, 1.0), low=-LARGEST, high=LARGEST
)


def decompose_predictions(
    predictions: npt.ArrayLike,
    truth: Numeric | None = None,
    y_test: Numeric | None = None,
    *,
    crossed: bool = True,
    include_test: bool = False,
) -> Decomposition:
    """Split the squared error into noise, initialization, sampling and bias, without bias.

    `predictions` is an array [data, noise, init, test]: training sets drawn independently; on the
    inputs of each, independent draws of the label noise; for each of these, the learner trained
    from several initializations; its outputs at the test points, the same for all. Within a data
    set, the k-th initialization and the n-th noise are the same wherever they occur. `crossed`
    says that the k-th initialization is the same for all data sets, too (the same seed);
    `crossed=False`, that every data set has initializations of its own.

    `truth` is the target at the test points without noise. `y_test` alone may be noisy, and its
    noise is then part of bias and total. With both, bias is against the truth, total against
    `y_test`, and `bayes` is the difference. With neither, there is no bias and no total.

    Estimates come from products of distinct draws: they are unbiased however few the draws, and
    may be negative. An axis of length one leaves a part that cannot be told; `notes` says where
    it went. Standard errors are for these test points: they say how the estimates would vary
    with other data sets, noise and initializations. `include_test=True` adds how they vary with
    the draw of the test points (a little too much: what is uncertain at each point by itself is
    counted twice).

    >>> rng = np.random.default_rng(0)
    >>> data, init = rng.normal(size=(30, 1, 1, 200)), rng.normal(size=(30, 1, 5, 200))
    >>> noise = rng.normal(size=(30, 2, 5, 200))
    >>> result = decompose_predictions(1 + data + 0.7 * init + 0.5 * noise, truth=np.zeros(200))
    >>> print(result.table())
    part                  value   ± SE       share
    noise              0.250047 ± 0.0033      9.2%
    initialization     0.490413 ± 0.0061     18.0%
    sampling           0.991718 ± 0.022      36.3%
    bias               0.998563 ± 0.027      36.6%
    total               2.73074 ± 0.037     100.0%
    >>> round(result.ensemble(n_members=10).value, 2)
    2.06
    """
    array = _as_predictions(predictions)
    n_data, n_noise, n_init, n_test = array.shape
    given = {"truth": truth, "y_test": y_test}
    targets = {name: _as_target(name, y, n_test) for name, y in given.items() if y is not None}
    design = Design(
        n_data=n_data, n_noise=n_noise, n_init=n_init, n_test=n_test,
        crossed=bool(crossed), targets=tuple(targets),
    )  # fmt: skip
    statistics = mean_products(array, targets, design)

    def estimates(weights: dict[str, parts.Weights]) -> dict[str, Estimate]:
        return {
            name: estimate(combine(sums, statistics), include_test=include_test)
            for name, sums in weights.items()
        }

    return Decomposition(
        design=design,
        parts=estimates(parts.sequential(design)),
        anova=AnovaEstimates(design=design, parts=estimates(parts.anova(design))),
        notes=design.notes,
        include_test=include_test,
        statistics=statistics,
    )


def _as_predictions(value: npt.ArrayLike) -> npt.NDArray[np.generic]:
    wanted = "predictions must be an array [data, noise, init, test]"
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{wanted}, got {error}") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{wanted} of numbers, got an array of {array.dtype}")
    if array.ndim != 4 or not array.size:
        raise ValueError(f"{wanted} with every axis of length 1 or more, got shape {array.shape}")
    return array


def _as_target(name: str, value: Numeric, n_test: int) -> FloatArray:
    target = checked(name, value, _TARGET)
    if np.shape(target) != (n_test,):
        raise ValueError(
            f"{name} must have one number for each of {n_test} test points, "
            f"got shape {np.shape(target)}"
        )
    return np.asarray(target)
