"""The design of a diagnosis: the rows each fit is trained on, and the pairs of fits to compare.

Rows are dealt into ten blocks on a circle. A fit of rung L is trained on a window, L consecutive
blocks, and predicts the rows outside. A learner with a seed is fitted on every window from two
seeds; one without, on the windows of two permutations of the rows. With two bootstrap fits on every
window of nine blocks and one check, these are 120 fits, the cost of 62 to 65 on all rows.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.learners._sources import generator
from doubletrouble.parameters import Labels

N_BLOCKS = 10
FULL, LAW = 9, 6  # the rungs of cross-validation and of the overlap law
RUNGS = (1, 2, 4, LAW, FULL)
DISJOINT = {1: (1, 2, 3, 4, 5), 2: (2, 3, 4, 5), 4: (4, 5)}
"""Shifts between two windows of a rung without a common row."""
HALF_SHARED = {4: (2,), LAW: (3,)}
"""Shifts between two windows of a rung that share half of their rows."""

Blocks: TypeAlias = npt.NDArray[np.intp]
"""The block of each row."""
Mask: TypeAlias = npt.NDArray[np.bool_]

_ORDER, _BOOTSTRAP, _SEED = 10, 11, 12  # kinds of draws


class WindowFit(NamedTuple):
    """One fit of the design."""

    rung: int  # the number of blocks of the window
    window: int  # its first block
    round: int  # 0 or 1: the seed, or the permutation
    bootstrap: bool = False  # trained on rows of the window drawn with replacement
    again: bool = False  # an earlier fit once more, as a check

    def seed(self, seed: int) -> int:
        """The seed of the learner: every fit has its own, the repeated one that of the first."""
        key = (_SEED, self.rung, self.window, self.round, int(self.bootstrap))
        return int(generator(seed, *key).integers(2**31))


@dataclass(frozen=True, kw_only=True, eq=False)
class WindowDesign:
    """The blocks of both rounds, and the fits."""

    blocks: tuple[Blocks, Blocks]
    seeded: bool  # rounds are seeds on the same blocks, not permutations
    fixed: bool = False  # permutations have the same blocks in another order
    rungs: tuple[int, ...]
    seed: int

    @property
    def fits(self) -> list[WindowFit]:
        """All fits after `PROBES`, and last the check."""
        plain = [
            WindowFit(rung, window, r)
            for rung in self.rungs
            for window in range(N_BLOCKS)
            for r in range(1 if self._is_repeated(rung) else 2)
        ]
        bags = [WindowFit(FULL, w, r, bootstrap=True) for w in range(N_BLOCKS) for r in range(2)]
        done = {*self.left_out, *(fit for fit in PROBES if self.seeded or fit.round == 0)}
        return [fit for fit in plain if fit not in done] + bags + [CHECK]

    def _is_repeated(self, rung: int) -> bool:
        """Whether the second permutation has the same windows: all but one of the same blocks."""
        return self.fixed and not self.seeded and rung in (1, N_BLOCKS - 1)

    @property
    def left_out(self) -> list[WindowFit]:
        """The fits that make room for the check, and for probes of seeds without effect."""
        extra = 0 if self.seeded else sum(fit.round for fit in PROBES)
        windows = range(N_BLOCKS - 1 - extra, N_BLOCKS)
        return [WindowFit(self.rungs[0], window, 1) for window in windows]

    def in_window(self, fit: WindowFit) -> Mask:
        """Whether each row is in the window of a fit."""
        blocks = self.blocks[0 if fit.bootstrap else fit.round]
        mask: Mask = (blocks - fit.window) % N_BLOCKS < fit.rung
        return mask

    def training_rows(self, fit: WindowFit) -> Blocks:
        """The rows a fit is trained on; with a bootstrap, some of them several times."""
        (rows,) = np.nonzero(self.in_window(fit))
        if fit.bootstrap:
            rng = generator(self.seed, _BOOTSTRAP, fit.window, fit.round)
            rows = np.sort(rng.choice(rows, len(rows)))
        return rows


PROBES = tuple(WindowFit(FULL, window, r) for window in (0, 3, 6) for r in range(2))
"""Two fits from two seeds on each of three windows: if all are equal, seeds have no effect."""
CHECK = PROBES[0]._replace(again=True)
"""The first fit once more after all others: equal, unless a learner is not reproducible."""


def deal(
    n_samples: int,
    *,
    seed: int,
    round: int,
    classes: Labels | None = None,
    groups: Labels | None = None,
) -> Blocks:
    """Rows in blocks at random: of equal shares of the classes, or of whole groups.

    >>> deal(6, seed=0, round=0, groups=np.array([0, 0, 1, 1, 2, 2])).tolist()
    [2, 2, 7, 7, 6, 6]
    """
    rng = generator(seed, _ORDER, round)
    if groups is not None:
        return _whole_groups(groups, rng)
    order = rng.permutation(n_samples)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    blocks = np.empty(n_samples, dtype=np.intp)
    blocks[order] = 3 * np.arange(n_samples) % N_BLOCKS  # few rows of a class: in distant blocks
    return blocks


def _whole_groups(groups: Labels, rng: np.random.Generator) -> Blocks:
    """Groups in blocks of nearly equal size: the largest first, each into the smallest block."""
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    block_of, filled = np.empty(len(sizes), dtype=np.intp), np.zeros(N_BLOCKS)
    for one in order:
        block_of[one] = np.argmin(filled)
        filled[block_of[one]] += sizes[one]
    return rng.permutation(N_BLOCKS)[block_of[group]]
