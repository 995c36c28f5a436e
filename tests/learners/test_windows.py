"""The design: windows, blocks, and the rows that fits share."""

from itertools import combinations

import numpy as np
import pytest

from doubletrouble.learners._windows import (
    DISJOINT,
    HALF_SHARED,
    N_BLOCKS,
    PROBES,
    RUNGS,
    WindowDesign,
    WindowFit,
    deal,
)


def design(*, seeded: bool, n_samples: int = 200) -> WindowDesign:
    first, second = (deal(n_samples, seed=0, round=r) for r in range(2))
    return WindowDesign(
        blocks=(first, first if seeded else second), seeded=seeded, rungs=RUNGS, seed=0
    )


@pytest.mark.parametrize("seeded", [True, False])
def test_all_fits_are_120_with_the_probes(seeded: bool) -> None:
    fits = design(seeded=seeded).fits
    assert len(set(fits)) == len(fits)
    assert len(fits) + len(PROBES) == 120
    repeated = {fit for fit in fits if fit in PROBES}
    assert repeated == ({fit for fit in PROBES if fit.round} if not seeded else set())


@pytest.mark.parametrize("shifts", [DISJOINT, HALF_SHARED])
def test_pairs_share_no_rows_or_half_of_them(shifts: dict[int, tuple[int, ...]]) -> None:
    windows = design(seeded=True)
    for rung, several in shifts.items():
        for shift in several:
            for w in range(N_BLOCKS):
                a, b = (windows.in_window(WindowFit(rung, v % 10, 0)) for v in (w, w + shift))
                assert np.sum(a & b) == (0 if shifts is DISJOINT else np.sum(a) / 2)
                assert np.any(~a & ~b)


def test_seeds_differ_between_fits_and_are_equal_for_the_check() -> None:
    fits = [*design(seeded=True).fits, *PROBES]
    check = PROBES[0]._replace(again=True)
    assert check.seed(7) == PROBES[0].seed(7)
    assert len({fit.seed(7) for fit in fits if fit != check}) == len(fits) - 1


def test_classes_have_equal_shares_in_every_block() -> None:
    classes = np.repeat([0, 1, 2], [100, 60, 40])
    blocks = deal(200, seed=3, round=0, classes=classes)
    counts = [np.bincount(classes[blocks == b], minlength=3) for b in range(N_BLOCKS)]
    assert all(np.array_equal(count, [10, 6, 4]) for count in counts)


def test_groups_stay_in_one_block_of_nearly_equal_size() -> None:
    groups = np.repeat(np.arange(40), np.arange(1, 41))
    blocks = deal(len(groups), seed=0, round=1, groups=groups)
    for g in range(40):
        assert len(set(blocks[groups == g])) == 1
    sizes = np.bincount(blocks, minlength=N_BLOCKS)
    assert sizes.max() - sizes.min() <= 2


def test_bootstrap_fits_draw_rows_of_their_window_and_differ() -> None:
    windows = design(seeded=False)
    draws = [windows.split(WindowFit(9, 2, r, bootstrap=True))[0] for r in range(2)]
    inside = np.flatnonzero(windows.in_window(WindowFit(9, 2, 0)))
    for rows in draws:
        assert len(rows) == len(inside)
        assert set(rows) < set(inside)
    assert not any(np.array_equal(a, b) for a, b in combinations(draws, 2))
