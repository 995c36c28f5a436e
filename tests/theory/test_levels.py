"""The balance of a measured spectrum: Newton's method from a table gives what bracketing gives."""

import numpy as np
import pytest

from doubletrouble.parameters import FloatArray
from doubletrouble.theory import levels
from doubletrouble.theory.balance import Balance


def spectra(seed: int) -> tuple[FloatArray, float]:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    kinds = (
        np.arange(1, count + 1) ** -rng.uniform(0.3, 3),
        10 ** rng.uniform(-30, 0, count),
        np.where(np.arange(count) < count // 2, 1.0, 10 ** -rng.uniform(3, 200)),  # a gap
        np.ones(count),
    )
    return np.asarray(kinds[seed % 4], dtype=np.float64), float(rng.choice([1e-12, 1e-3, 0.5]))


def solved(seed: int) -> Balance:
    eigenvalues, tail = spectra(seed)
    rng, count = np.random.default_rng(seed), 60
    P, N, r = (10 ** rng.uniform(*ends, count) for ends in ((-3, 4), (-3, 4), (-12, 6)))
    P[:5], P[5:10] = N[:5], N[5:10] * (1 + 1e-12)
    P[10:14], N[14:20] = np.inf, eigenvalues.size
    r[::7], r[1::9], r[2::6] = 1e-300, 1e-100, 0.0
    with np.errstate(all="ignore"):
        return levels.balance_levels(P, N, P - N, r, eigenvalues, tail)


@pytest.mark.parametrize("seed", range(40))
def test_both_routes_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = solved(seed)
    monkeypatch.setattr(levels, "_FAST", 0)
    for name, one, other in zip(Balance._fields, fast, solved(seed), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300, err_msg=name)
