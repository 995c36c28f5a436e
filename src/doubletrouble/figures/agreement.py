"""Statements of the agreement of numbers with references."""

from collections.abc import Iterable, Sequence

import numpy as np

from doubletrouble.figures.simulated import Points
from doubletrouble.parameters import FloatArray


def with_simulation(points: Sequence[Points]) -> str:
    """Theory against simulation, with and without the O(1/D) deviation of finite sizes."""
    z = np.concatenate([p.z for p in points])
    free = np.concatenate([p.limit_z for p in points])
    apart = np.concatenate([np.abs(p.value / p.theory - 1) for p in points])
    first = points[0]
    return (
        f"Theory and simulation: largest |z| = {np.max(free):.1f} of {free.size} values "
        f"(root mean square {np.sqrt(np.mean(free**2)):.1f}), after removing the O(1/D) deviation "
        f"of finite sizes with a second simulation at D = {first.dim // 2}. As simulated at "
        f"D = {first.dim} with {first.n_data} draws, that deviation included: largest "
        f"|z| = {np.max(z):.1f}, median {np.median(apart):.1%} apart."
    )


def with_authors(
    pairs: Iterable[tuple[FloatArray, FloatArray]], *, scale: FloatArray | None = None
) -> tuple[str, ...]:
    """Ours against the authors' stored values; nothing where there are none.

    Deviations are relative to each value, or to `scale`, such as the total error.

    >>> with_authors([(np.array([1.0, 2.0]), np.array([1.0, 2.002]))])
    ("Theory and the authors' stored values: at most 1.0e-03 apart (relative), 2 values.",)
    """
    parts = [
        (np.abs(ours - theirs) / np.abs(theirs if scale is None else scale))[np.isfinite(theirs)]
        for ours, theirs in pairs
    ]
    off = np.concatenate(parts) if parts else np.empty(0)
    if off.size == 0:
        return ()
    of_what = "relative" if scale is None else "relative to the total error"
    return (
        f"Theory and the authors' stored values: at most {np.max(off):.1e} apart ({of_what}), "
        f"{off.size} values.",
    )
