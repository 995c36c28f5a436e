r"""Mean products of two predictions, and the same with a data set or an initialization left out.

At one test point a prediction is f_dnk: data set d, noise draw n on its labels, initialization k.
Two predictions may differ in each of these. The mean over all pairs that differ in the same way is
unbiased for the expectation of such a product (a U-statistic):

    same               f_dnk f_dnk            other_noise         f_dnk f_dn'k
    other_init         f_dnk f_dnk'           other_noise_init    f_dnk f_dn'k'
    other_data         f_dnk f_d'n'k          other_data_init     f_dnk f_d'n'k'

Sums over pairs come from sums over predictions, as in Σ_{k≠k'} f_k f_k' = (Σ_k f_k)² - Σ_k f_k². It
is enough to know, for each (d, k), its products with the same initialization and those with any:
leaving out d or k, or both, takes a row and a column away from a matrix that is never formed.

Predictions are measured from their mean m at each test point, so that no large numbers are
subtracted. A level gives back what that takes from a square: (f - y)² = h² + (2bh + b²) with
h = f - m and b = m - y; every kind of product against the target y is corrected by the same amount.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from doubletrouble.decomposition._design import Design
from doubletrouble.decomposition._jackknife import Statistic
from doubletrouble.parameters import FloatArray

BLOCK = 2**16  # predictions taken in at a time: they stay in the processor's cache
LARGEST = 1e60  # fourth powers, of which variances are made, must stay representable


class Target(NamedTuple):
    """What predictions are held against, and the variance of the noise in it."""

    value: FloatArray  # (T,)
    floor: FloatArray  # (T,)


def mean_products(
    predictions: npt.NDArray[np.generic], targets: Mapping[str, Target], design: Design,
    *, by_point: bool, key: Hashable,
) -> dict[str, Statistic]:  # fmt: skip
    """Every mean product that the design allows, and the level of each target, by name.

    `predictions` are (D, N, K, T C), the C outputs at a test point together; their products are
    added up. `by_point`: whether the statistics at each test point are kept, too; `key` is theirs.
    """
    tables: dict[str, FloatArray] = {}
    points: dict[str, list[list[FloatArray]]] = {}
    for part, f in _blocks(predictions):
        here = {k: Target(t.value[part], t.floor[part]) for k, t in targets.items()}
        moments = _PredictionSums.of(f)
        alone = list(_alone(moments, here, design))
        for name, sums, data, init in (*alone, *_paired(moments, design)):
            table = _left_out(_left_out(sums.sum(axis=-1), data).T, init).T / design.n_test
            tables[name] = tables[name] + table if name in tables else table
        for k, half in enumerate(_halves(design) if by_point else []):
            count = len(moments.u[half])
            some = [(name, sums[half], _Count(count, 0, None), i) for name, sums, _, i in alone]
            paired = _paired(moments.some(half), replace(design, n_data=count))
            for name, sums, data, init in (*some, *paired):
                at_points = sums.sum(axis=(0, 1)) / (data.all * init.all)
                points.setdefault(name, [[], []])[k].append(at_points)
    return {
        name: Statistic(table=table, points=_by_point(points.get(name, []), design), key=key)
        for name, table in tables.items()
    }


def _halves(design: Design) -> list[slice]:
    """Two halves of the data sets, each with pairs in it; all, where there are too few."""
    return [slice(0, None, 2), slice(1, None, 2)] if design.n_data > 3 else [slice(None)]


def _by_point(blocks: list[list[FloatArray]], design: Design) -> FloatArray:
    """The blocks of test points together, outputs added up: (H, T)."""
    found = [np.concatenate(half) for half in blocks if half]
    rows = [half.reshape(design.n_test, -1).sum(axis=1) for half in found]
    return np.array(rows).reshape(len(rows), design.n_test)


class _Count(NamedTuple):
    """How many terms a sum along an axis has."""

    all: int
    left: int  # with one index left out
    lost: int | None  # how often the terms of that index go; None: no index is left out


def _left_out(sums: FloatArray, count: _Count) -> FloatArray:
    """The mean along the first axis, then those with one index left out."""
    whole = sums.sum(axis=0, keepdims=True)
    if count.lost is None:
        return np.asarray(whole / count.all)
    without = (whole - count.lost * sums) / (count.left or np.nan)
    return np.concatenate([whole / count.all, without])


class _PredictionSums(NamedTuple):
    """Sums over noise draws and initializations of predictions h, measured from their mean."""

    mean: FloatArray  # (T,)
    u: FloatArray  # (D, K, T): Σ_n h
    v: FloatArray  # (D, 1, T): Σ_nk h
    diagonal: FloatArray  # (D, K, T): Σ_n h_k h_k
    row: FloatArray  # (D, K, T): Σ_nk' h_k h_k'

    @classmethod
    def of(cls, f: FloatArray) -> Self:
        """Those of predictions (D, N, K, T)."""
        mean = f.mean(axis=(0, 1, 2))
        h = f - mean
        u = h.sum(axis=1)
        diagonal = np.einsum("dnkt,dnkt->dkt", h, h)
        row = np.einsum("dnkt,dnt->dkt", h, h.sum(axis=2))
        return cls(mean, u, u.sum(axis=1, keepdims=True), diagonal, row)

    def some(self, data: slice) -> Self:
        """Those of some data sets, from the same mean."""
        return self._replace(
            u=self.u[data], v=self.v[data], diagonal=self.diagonal[data], row=self.row[data]
        )


class _PairSums(NamedTuple):
    """Sums (D, K, T) over pairs of a kind, and how many there are along D and K."""

    name: str
    sums: FloatArray
    data: _Count
    init: _Count


def _alone(
    moments: _PredictionSums, targets: Mapping[str, Target], design: Design
) -> Iterator[_PairSums]:
    """Levels, and products within a data set."""
    N, K, one_data = design.n_noise, design.n_init, _Count(design.n_data, design.n_data - 1, 1)
    one_init, two_init = _inits(design)
    mean, u, v, diagonal, row = moments
    for name, target in targets.items():
        b = mean - target.value
        yield _PairSums(name, (2 / N * b) * u + (b**2 - target.floor), one_data, one_init)
    yield _PairSums("same", diagonal / N, one_data, one_init)
    if K > 1:
        yield _PairSums("other_init", (row - diagonal) / N, one_data, two_init)
    if N > 1:
        again, any_again = u**2 - diagonal, u * v - row
        yield _PairSums("other_noise", again / (N * (N - 1)), one_data, one_init)
        if K > 1:
            others = (any_again - again) / (N * (N - 1))
            yield _PairSums("other_noise_init", others, one_data, two_init)


def _paired(moments: _PredictionSums, design: Design) -> Iterator[_PairSums]:
    """Products of two data sets."""
    D, N, K = design.n_data, design.n_noise, design.n_init
    if D == 1:
        return
    two_data, (one_init, two_init) = _Count(D * (D - 1), (D - 1) * (D - 2), 2), _inits(design)
    u, v = moments.u, moments.v
    others = u.sum(axis=0) - u  # (D, K, T): over the other data sets
    same_init = u * others / N**2
    any_init = (u * others.sum(axis=1, keepdims=True) + v * others) / (2 * N**2)
    if not design.crossed:  # the k-th ones of two data sets are different initializations
        yield _PairSums("other_data_init", any_init, two_data, _Count(K * K, 0, None))
        return
    yield _PairSums("other_data", same_init, two_data, one_init)
    if K > 1:
        yield _PairSums("other_data_init", any_init - same_init, two_data, two_init)


def _inits(design: Design) -> tuple[_Count, _Count]:
    """One initialization, or two that differ."""
    K, lost = design.n_init, design.shares_inits
    one = _Count(K, K - 1, 1 if lost else None)
    return one, _Count(K * (K - 1), (K - 1) * (K - 2), 2 if lost else None)


def _blocks(predictions: npt.NDArray[np.generic]) -> Iterator[tuple[slice, FloatArray]]:
    """Predictions at some test points after others, as float64; a sentence if one is no number."""
    *draws, n_test = predictions.shape
    step = max(1, BLOCK // int(np.prod(draws)))
    for start in range(0, n_test, step):
        part = slice(start, min(start + step, n_test))
        block = predictions[..., part].astype(np.float64)
        bad = ~(np.abs(block) <= LARGEST)
        if bad.any():
            found = tuple(int(i) for i in np.argwhere(bad)[0])
            where = (*found[:-1], found[-1] + start)
            raise ValueError(
                f"predictions must be finite numbers up to {LARGEST:g}, "
                f"got {float(block[found])!r} at index {where}"
            )
        yield part, block
