"""The balance of a measured spectrum: Newton's method from a table gives what bracketing gives."""

from typing import Any

import numpy as np
import pytest

from doubletrouble.parameters import FloatArray
from doubletrouble.theory import levels
from doubletrouble.theory.balance import Balance

GAP = 2  # the kind of spectrum that has one


def spectra(seed: int) -> tuple[FloatArray, float]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    kinds = (
        np.arange(1, count + 1) ** -rng.uniform(0.3, 3),
        10 ** rng.uniform(-30, 0, count),
        np.where(np.arange(count) < count // 2, 1.0, 10 ** -rng.uniform(3, 200)),  # a gap
        np.ones(count),
    )
    tail = 1e-220 if seed % 4 == GAP else float(rng.choice([1e-12, 1e-3, 0.5]))
    return np.asarray(kinds[seed % 4], dtype=np.float64), tail


COUNT = 60


def solved(seed: int, *, more_ridge: float = 0.0) -> Balance:
    eigenvalues, tail = spectra(seed)
    rng = np.random.default_rng(seed)
    P, N, r = (10 ** rng.uniform(*ends, COUNT) for ends in ((-3, 4), (-3, 4), (-12, 6)))
    P[:5], P[5:10] = N[:5], N[5:10] * (1 + 1e-12)
    P[10:14], N[14:20] = np.inf, eigenvalues.size
    P[20:26] = max(eigenvalues.size // 2, 1)  # where the gap is
    r[::7], r[1::9], r[2::6] = 1e-300, 1e-100, 0.0
    with np.errstate(all="ignore"):
        return levels.balance_levels(P, N, P - N, r * (1 + more_ridge), eigenvalues, tail)


def same(one: Balance, other: Balance) -> bool:
    return all(np.allclose(a, b, rtol=1e-12, atol=1e-300) for a, b in zip(one, other, strict=True))


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many points are bracketed, call by call."""
    counts: list[int] = []
    searched = levels._searched

    def counted(excess: Any, ends: Any, args: Any) -> FloatArray:
        counts.append(ends[0].size)
        return searched(excess, ends, args)

    monkeypatch.setattr(levels, "_searched", counted)
    return counts


@pytest.mark.parametrize("seed", range(40))
def test_both_routes_agree(
    seed: int, monkeypatch: pytest.MonkeyPatch, bracketed: list[int]
) -> None:
    fast = solved(seed)
    assert sum(bracketed) < COUNT / 2  # most points take the fast route
    bracketed.clear()
    monkeypatch.setattr(levels, "_FAST", 0)
    assert same(fast, solved(seed))
    assert bracketed == [COUNT]
    assert not same(fast, solved(seed, more_ridge=1e-9))  # the control


def test_spectra_saturated_up_to_a_gap_take_the_long_route(bracketed: list[int]) -> None:
    """The fallback is needed, and not there for nothing; without a gap (the control) it is not."""
    taken = {}
    for seed in range(40):
        bracketed.clear()
        solved(seed)
        taken[seed] = sum(bracketed)
    gaps = {seed for seed in taken if seed % 4 == GAP}
    assert sum(taken[seed] > 0 for seed in gaps) > 5
    assert not any(taken[seed] for seed in taken if seed % 4 in (0, 3))
