r"""The terms of members that draw their samples, or their features, from a common set.

On each of two data sets there are J pairs of twins. Twins share what was drawn of the common set
and nothing else: of samples, the choice, with features of their own; of features, the bank, with
choices of their own. Learners of different pairs share the data only. With R the mean product of
two errors, that gives four kinds of it, each without bias,

    same       a learner with itself             twin    with its twin
    other      with one of another pair          apart   with one of another pair on other data

and what each step from one to the next adds is the variance by one more cause. Label noise, the
teacher's direction and test points are averaged as in `terms`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from array_api_compat import array_namespace

from doubletrouble.kernels import Array
from doubletrouble.simulation._result import PAIRED, PAIRED_CURVED
from doubletrouble.simulation._terms import DataPair, Products, Terms, bent_overlap, over_data


class LabelMap(Protocol):
    """The maps of all N labels, (N, R), that a member has for each fit."""

    def response(self, k: int) -> Array:
        """Return W of the k-th fit."""


class Twins(NamedTuple):
    """Two members on each data set."""

    first: tuple[LabelMap, LabelMap]
    second: tuple[LabelMap, LabelMap]
    n_common: int = 0  # features both have: the last of the first, the first of the second


class _Kinds:
    """Mean products of every kind."""

    def __init__(self, n_shared: int, metrics: Sequence[Array] | None = None) -> None:
        self.each = (Products(n_shared, metrics), Products(n_shared, metrics))
        self.between = 0.0

    def add(self, twins: Sequence[Sequence[Array]], n_common: int) -> None:
        """Take in the maps of twins, one of each for each data set."""
        shared = self.each[0].n_shared
        for products, maps in zip(self.each, twins, strict=True):
            products.add(maps)
        for i, (left, right) in enumerate(zip(*twins, strict=True)):
            self.between += self.each[0].product(i, i, left[:, :shared], right[:, :shared]) / 2
            if n_common and left.shape[1] > shared:  # what common features have for themselves
                ours = left[:, left.shape[1] - n_common :]
                theirs = right[:, shared : shared + n_common]
                self.between += self.each[0].product(i, i, ours, theirs) / 2

    @property
    def found(self) -> tuple[float, float, float, float]:
        """Same, twin, other, apart."""
        one, two = self.each
        return (
            (over_data(one.together) + over_data(two.together)) / 2,
            self.between / one.count,
            (over_data(one.apart) + over_data(two.apart)) / 2,
            (one.apart(0, 1) + two.apart(0, 1)) / 2,
        )


def twin_terms(pairs: Iterable[Twins], data: DataPair, k: int, n_shared: int) -> Terms:
    """Every term of the k-th fit; the first `n_shared` outputs mean the same for all learners."""
    xp, dim, bent = array_namespace(data.inputs[0]), data.inputs[0].shape[1], data.curvature
    teachers, noises = _Kinds(n_shared), _Kinds(n_shared)
    curved = _Kinds(n_shared, bent.blocks) if bent else None
    overlap, curved_overlap, count = 0.0, 0.0, 0
    for twins in pairs:
        noise = [[one.response(k) for one in both] for both in twins[:2]]  # (N, R)
        teacher = [[x.T @ w for x, w in zip(data.inputs, maps, strict=True)] for maps in noise]
        overlap += sum(float(xp.linalg.trace(m[:, :dim])) for maps in teacher for m in maps) / 4
        teachers.add(teacher, twins.n_common)
        noises.add(noise, twins.n_common)
        count += 1
        if curved and bent:
            curved.add(noise, twins.n_common)
            seen = (bent_overlap(bent, [w[:, dim:n_shared] for w in maps]) for maps in noise)
            curved_overlap += sum(seen) / 2
    powers = (power / dim for power in teachers.found)
    terms = dict(zip(PAIRED, (overlap / count / dim, *powers, *noises.found[:3]), strict=True))
    if curved:
        terms |= dict(zip(PAIRED_CURVED, (curved_overlap / count, *curved.found), strict=True))
    return terms
