"""What members have in common, as it is asked for: checked, and in whole numbers."""

import math
from collections.abc import Sequence
from typing import Any

from doubletrouble import glossary
from doubletrouble.parameters import number
from doubletrouble.sharing import RESAMPLED
from doubletrouble.simulation.setting import Resampling


def resamplings(
    schemes: Sequence[str], fraction: Any, bank_per_dim: Any, *, dim: int, n_samples: int,
    widths: Sequence[float],
) -> tuple[Resampling, ...]:  # fmt: skip
    """The schemes that draw from a common set, with how much they draw."""
    for name, value, scheme in (
        ("fraction", fraction, "subbag"),
        ("bank_per_dim", bank_per_dim, "feature_bank"),
    ):
        if value is None and scheme in schemes:
            raise ValueError(f"{name} must be given for scheme {scheme!r}, got None")
        if value is not None and scheme not in schemes:
            raise ValueError(f"{name} must be left out without scheme {scheme!r}, got {value!r}")
    sizes: dict[str, float] = {"bootstrap": n_samples}
    if fraction is not None:
        sizes["subbag"] = _drawn(fraction, n_samples)
    if bank_per_dim is not None:
        sizes["feature_bank"] = _bank(bank_per_dim, dim, widths)
    return tuple(Resampling(name, sizes[name]) for name in RESAMPLED if name in schemes)


def _drawn(fraction: Any, n_samples: int) -> int:
    found = round(number("fraction", fraction, glossary.FRACTION) * n_samples)
    if found < 1:
        raise ValueError(
            f"fraction must be large enough for one of N = {n_samples} samples, got {fraction!r}"
        )
    return found


def _bank(bank_per_dim: Any, dim: int, widths: Sequence[float]) -> float:
    per_dim = number("bank_per_dim", bank_per_dim, glossary.BANK_PER_DIM)
    found = per_dim if math.isinf(per_dim) else round(per_dim * dim)
    if found < max(widths):
        raise ValueError(
            f"bank_per_dim must be at least features_per_dim, which is {max(widths) / dim:g}, "
            f"got {bank_per_dim!r}"
        )
    return found
