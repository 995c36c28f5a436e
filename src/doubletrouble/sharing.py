"""Overlaps of the members of a committee: common features, samples, both, or part of them.

An overlap is counted like the sizes themselves: per dimension for a `Member`, in features and
samples for a `SpectralProblem`. Overlaps of several members must be sizes of intersections of
sets: of any three, what the first shares with the others fits into it, and the matrix of overlaps
has no negative eigenvalue. (For more than three members these are necessary, not sufficient.)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import FloatArray, Numeric, Parameter, Value, checked

Shared: TypeAlias = Literal["samples", "features", "both", "nothing"]
"""Names of what the members of a committee share."""

Sharing: TypeAlias = Shared | Sequence[Numeric] | Mapping[str, Numeric]
"""A name, or the overlaps (features, samples), each a number or a matrix."""

KINDS: tuple[str, ...] = get_args(Shared)

_SLACK = 1e-12  # by which an overlap may exceed a size, by rounding
_SUM = 1e-9  # by which weights may fail to add up to one


class Overlaps(NamedTuple):
    """Matrices of overlaps; the diagonal holds the members' own sizes."""

    features: FloatArray  # (K, K)
    samples: FloatArray  # (K, K)


def overlaps(features: Sequence[float], samples: Sequence[float], sharing: Sharing) -> Overlaps:
    """Return the overlaps of members of these sizes, or raise ValueError if they are impossible.

    >>> overlaps([2.0, 0.5], [1.0, 0.8], "samples").samples
    array([[1. , 0.8],
           [0.8, 0.8]])
    >>> overlaps([2.0, 0.5], [1.0, 0.8], {"features": 0.6})
    Traceback (most recent call last):
    ValueError: shared features must be at most 0.5, which is all that a member has, got 0.6
    """
    if isinstance(sharing, str):
        if sharing not in KINDS:
            raise ValueError(
                f"sharing must be one of {', '.join(KINDS)}, or (features, samples) in common, "
                f"got {sharing!r}"
            )
        wanted: tuple[Any, Any] = (
            np.inf if sharing in ("features", "both") else 0.0,
            np.inf if sharing in ("samples", "both") else 0.0,
        )
        return Overlaps(_most(features, wanted[0]), _most(samples, wanted[1]))
    if isinstance(sharing, Mapping):
        if unknown := sorted(set(map(str, sharing)) - {"features", "samples"}):
            raise ValueError(f"sharing must name features and samples only, got {unknown[0]!r}")
        wanted = (sharing.get("features", 0.0), sharing.get("samples", 0.0))
    elif isinstance(sharing, Sequence) and len(sharing) == 2:
        wanted = (sharing[0], sharing[1])
    else:
        raise TypeError(
            f"sharing must be one of {', '.join(KINDS)}, or (features, samples) in common, "
            f"got {sharing!r}"
        )
    return Overlaps(
        _matrix("shared features", wanted[0], features, glossary.SHARED_FEATURES),
        _matrix("shared samples", wanted[1], samples, glossary.SHARED_SAMPLES),
    )


def shared(name: str, value: Numeric, spec: Parameter, first: Value, second: Value) -> Value:
    """Check an overlap of two members against the sizes of both."""
    found = checked(name, value, spec)
    _refuse_more(name, np.asarray(found), np.minimum(first, second))
    return found


def _refuse_more(name: str, overlap: FloatArray, most: FloatArray) -> None:
    """Raise ValueError for an overlap larger than the smaller of the two members."""
    overlap, most = np.broadcast_arrays(overlap, most)
    over = overlap > most * (1 + _SLACK)
    if np.any(over):
        bound = f"at most {most[over][0]:g}, which is all that a member has"
        raise ValueError(f"{name} must be {bound}, got {overlap[over][0]:g}")


def _most(sizes: Sequence[float], wanted: float) -> FloatArray:
    """The largest possible overlaps, or none."""
    own = np.asarray(sizes, dtype=np.float64)
    found = np.where(np.eye(own.size) > 0, np.inf, wanted)
    return np.minimum(found, np.minimum.outer(own, own))


def _matrix(name: str, value: Any, sizes: Sequence[float], spec: Parameter) -> FloatArray:
    """One overlap for every two members, or a matrix of them."""
    own = np.asarray(sizes, dtype=np.float64)
    count, found = own.size, np.asarray(checked(name, value, spec))
    if found.ndim == 0:
        found = np.full((count, count), found)
    elif found.shape != (count, count):
        raise ValueError(
            f"{name} must be one number, or a matrix for {count} members, got shape {found.shape}"
        )
    elif not np.array_equal(found, found.T):
        raise ValueError(f"{name} must be a symmetric matrix, got {found.tolist()!r}")
    found = np.where(np.eye(count) > 0, own, found)
    most = np.minimum.outer(own, own)
    _refuse_more(name, found, most)
    found = np.asarray(np.minimum(found, most))
    finite = np.isfinite(own)
    if not _fit_together(found[np.ix_(finite, finite)]):
        raise ValueError(f"{name} must be possible for all members at once, got {found.tolist()!r}")
    return found


def _fit_together(overlap: FloatArray) -> bool:
    """Check the necessary conditions for intersections of sets: triples, and eigenvalues."""
    own = np.diag(overlap)
    for i, row in enumerate(overlap):
        inside = row[:, None] + row[None, :] - overlap  # of member i: shared with j or with k
        np.fill_diagonal(inside, 0.0)
        if np.any(inside > own[i] * (1 + 1e-9)):
            return False
    scale = np.sqrt(own)
    scaled = overlap / np.outer(scale, scale)
    return not own.size or bool(np.linalg.eigvalsh(scaled)[0] > -1e-9 * own.size)


def checked_weights(weights: Numeric, count: int) -> FloatArray:
    """Weights of `count` members, which add up to one.

    >>> checked_weights([0.25, 0.75], 2)
    array([0.25, 0.75])
    """
    given = np.asarray(checked("weights", weights, glossary.WEIGHT))
    if given.shape != (count,):
        raise ValueError(f"weights must be one for each of {count}, got shape {given.shape}")
    if not abs(float(given.sum()) - 1) <= _SUM:
        raise ValueError(f"weights must add up to 1, got {float(given.sum()):g}")
    return given


def checked_members(members: Any, kinds: tuple[type, ...]) -> tuple[Any, ...]:
    """One member or more of some kinds, each a single point; anything else raises."""
    if isinstance(members, kinds) or not isinstance(members, Sequence):
        raise TypeError(f"members must be a list of one member or more, got {members!r}")
    if not members:
        raise ValueError("members must be a list of one member or more, got none")
    found: tuple[Any, ...] = tuple(members)
    for one in found:
        if not isinstance(one, kinds):
            wanted = " or ".join(f"{kind.__name__}s" for kind in kinds)
            raise TypeError(f"members must be {wanted}, got {type(one).__name__}")
    if shapes := [one.shape for one in found if one.shape]:
        raise ValueError(f"members must be single points, got fields of shape {shapes[0]}")
    return found
