"""The fixed point of a measured spectrum: Newton's method from a table agrees with bracketing."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.parameters import FloatArray
from doubletrouble.theory import _fixed_point
from doubletrouble.theory._fixed_point import FixedPoint, MeasuredSpectrum

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


def solved(seed: int, *, more_ridge: float = 0.0) -> FixedPoint:
    eigenvalues, tail = spectra(seed)
    rng = np.random.default_rng(seed)
    P, N, r = (10 ** rng.uniform(*ends, COUNT) for ends in ((-3, 4), (-3, 4), (-12, 6)))
    P[:5], P[5:10] = N[:5], N[5:10] * (1 + 1e-12)
    P[10:14], N[14:20] = np.inf, eigenvalues.size
    P[20:26] = max(eigenvalues.size // 2, 1)  # where the gap is
    r[::7], r[1::9], r[2::6] = 1e-300, 1e-100, 0.0
    spectrum = MeasuredSpectrum(
        dt.SpectralProblem(
            eigenvalues=eigenvalues,
            target_powers=np.ones_like(eigenvalues),
            tail=tail,
            n_features=1,
            n_samples=1,
        )
    )
    with np.errstate(all="ignore"):
        return spectrum.solve(P, N, P - N, r * (1 + more_ridge))


def same(one: FixedPoint, other: FixedPoint) -> bool:
    names = (f.name for f in fields(FixedPoint))
    return all(
        np.allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-300)
        for name in names
    )


@pytest.fixture
def bracketed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of bracketed points of each call."""
    counts: list[int] = []
    bracketed = MeasuredSpectrum._bracketed

    def counted(self: Any, excess: Any, bracket: Any, sizes: Any, ridge: Any, active: Any) -> Any:
        counts.append(active.size)
        return bracketed(self, excess, bracket, sizes, ridge, active)

    monkeypatch.setattr(MeasuredSpectrum, "_bracketed", counted)
    return counts


def test_newton_and_bracketing_agree(monkeypatch: pytest.MonkeyPatch, bracketed: list[int]) -> None:
    for seed in range(40):
        bracketed.clear()
        fast = solved(seed)
        assert sum(bracketed) < COUNT / 2, seed  # most points take the fast route
        bracketed.clear()
        with monkeypatch.context() as patch:
            patch.setattr(_fixed_point, "_FAST", 0)
            assert same(fast, solved(seed)), seed
            assert bracketed == [COUNT]
            assert not same(fast, solved(seed, more_ridge=1e-9))  # the control


def test_spectra_saturated_up_to_a_gap_are_bracketed(bracketed: list[int]) -> None:
    """With a gap the fallback is used; without a gap (negative control) it is not."""
    taken = {}
    for seed in range(40):
        bracketed.clear()
        solved(seed)
        taken[seed] = sum(bracketed)
    gaps = {seed for seed in taken if seed % 4 == GAP}
    assert sum(taken[seed] > 0 for seed in gaps) > 5
    assert not any(taken[seed] for seed in taken if seed % 4 in (0, 3))
