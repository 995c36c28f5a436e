"""Ensembles at finite size: the samples and features of their members in whole numbers.

A simulation depends on the shares that a scheme declares (`doubletrouble.ensembles`), not on its
class. There are three cases:

- members with all of the samples and with features of their own (`has_all_samples`): the terms of
  one draw give every number of members;
- K disjoint parts of the samples (`is_division`): consecutive blocks, all of which are averaged;
- everything else: members that draw their samples, or share features (`_members`).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import EnsembleLike, Scheme, as_ensemble
from doubletrouble.parameters import IntArray, declarations
from doubletrouble.problems import Problem

_ROUNDING = 1e-9  # relative, of shares


def single_ensemble(
    name: str, value: EnsembleLike, function: str, *, any_members: bool = False
) -> Scheme:
    """One ensemble, all of whose parameters are numbers; `name` is the argument in messages.

    With `any_members` the number of members may be an array, where draws serve every number.
    """
    try:
        scheme = as_ensemble(value, function)
    except (TypeError, ValueError) as error:
        raise type(error)(name + str(error).removeprefix("ensemble")) from None
    options = any(map(np.ndim, scheme.options.values()))
    if scheme.shape and (options or not (any_members and scheme.any_size)):
        raise ValueError(f"{name} must have numbers, not arrays, got {scheme!r}")
    return scheme


def n_members(scheme: Scheme) -> float:
    """The number of members K."""
    return float(np.asarray(scheme.n_members))


def sample_share(scheme: Scheme) -> float:
    """The share m/N of the samples that a member has."""
    numerator, denominator = (float(np.asarray(part)) for part in scheme.sample_share)
    return numerator / denominator


def has_all_samples(scheme: Scheme) -> bool:
    """Whether every member has all of the samples, and features of its own."""
    chosen = scheme.resamples is not None or scheme.with_replacement or scheme.shares_features
    whole = sample_share(scheme) == 1 and float(np.asarray(scheme.shared_samples)) == 1
    return scheme.any_size and whole and not chosen


def has_disjoint_samples(scheme: Scheme) -> bool:
    """Whether no two members have a sample in common."""
    return float(np.asarray(scheme.shared_samples)) == 0


def is_division(scheme: Scheme) -> bool:
    """Whether the members have all of the samples together, in K disjoint parts.

    >>> from doubletrouble.ensembles import Divide, Subsample
    >>> is_division(Divide(3)), is_division(Subsample(3, fraction=0.3))
    (True, False)
    """
    if scheme.shares_features or not has_disjoint_samples(scheme):
        return False
    return has_no_samples(scheme) or math.isclose(sample_share(scheme) * n_members(scheme), 1.0)


def has_no_samples(scheme: Scheme) -> bool:
    """Whether members have no samples: finite data divided among infinitely many."""
    return math.isinf(n_members(scheme)) and sample_share(scheme) == 0


def same_terms(one: Scheme, other: Scheme) -> bool:
    """Whether two ensembles have the same terms: for `any_size`, with any number of members."""
    if type(one) is not type(other) or one.options.keys() != other.options.keys():
        return False
    if not all(np.array_equal(value, other.options[n]) for n, value in one.options.items()):
        return False
    return one.any_size or one.n_members == other.n_members


def member_sizes(scheme: Scheme, n_samples: int) -> tuple[int, int]:
    """The smallest and the largest number of samples of a member: N m/N, rounded down and up.

    >>> from doubletrouble.ensembles import Divide, Subsample
    >>> member_sizes(Divide(3), 10), member_sizes(Subsample(3, fraction=0.3), 10)
    ((3, 4), (3, 3))
    """
    size = n_samples * sample_share(scheme)
    return math.floor(size * (1 + _ROUNDING)), math.ceil(size * (1 - _ROUNDING))


def realized_ensemble(scheme: Scheme, dim: int, n_samples: int) -> Scheme:
    """The ensemble with whole numbers of samples and features, checked.

    Fractions of the samples and banks per dimension are rounded.

    >>> from doubletrouble.ensembles import Subsample
    >>> realized_ensemble(Subsample(2, fraction=0.58), dim=10, n_samples=10)
    Subsample(2, fraction=0.6)
    """
    rounded = {}
    for name, spec in declarations(scheme).items():
        value = getattr(scheme, name)
        unit = {glossary.FRACTION: n_samples, glossary.BANK_PER_DIM: dim}.get(spec)
        if unit is not None and value is not None and math.isfinite(value):
            rounded[name] = round(value * unit) / unit
            if spec == glossary.FRACTION and not rounded[name]:
                raise ValueError(
                    f"{name} must be large enough for one of N = {n_samples} samples, got {value!r}"
                )
    realized = replace(scheme, **rounded) if rounded else scheme
    _check_members(realized, n_samples)
    return realized


def _check_members(scheme: Scheme, n_samples: int) -> None:
    K = n_members(scheme)
    if has_no_samples(scheme):
        return
    if is_division(scheme):
        if n_samples < K:
            raise ValueError(
                f"n_members must be at most N = {n_samples} to divide the data, got {K:g}"
            )
    elif not scheme.any_size and not 2 <= K <= n_samples:
        raise ValueError(
            f"n_members must be at least 2 and at most N = {n_samples} to simulate "
            f"{type(scheme).__name__}, got {K:g}"
        )
    if member_sizes(scheme, n_samples)[0] < 1:
        raise ValueError(
            f"ensembles must have members of one of N = {n_samples} samples or more, got {scheme!r}"
        )
    if scheme.shares_features and (scheme.with_replacement or sample_share(scheme) != 1):
        raise ValueError(
            "ensembles must have members with all of the samples where these share features, "
            f"got {scheme!r}"
        )


def bank_sizes(
    scheme: Scheme, problem: Problem, dim: int, n_features: Iterable[float]
) -> tuple[float, ...]:
    """The size B = P²/k of a bank for every P, where two members share k features.

    k is then the mean number of features that two members have in common.

    >>> from doubletrouble.ensembles import FeatureBank
    >>> bank_sizes(FeatureBank(2, bank_per_dim=3.0), Problem(), dim=10, n_features=(10, 20))
    (30.0, 30.0)
    """
    sizes = []
    for P in n_features:
        share = float(
            np.asarray(scheme.shared_features(replace(problem, features_per_dim=P / dim)))
        )
        if not 0 <= share <= 1:
            raise ValueError(f"shared_features must return k/P in [0, 1], got {share!r}")
        size = P / share if share else math.inf
        whole = round(size) if math.isfinite(size) else size
        sizes.append(float(whole) if math.isclose(size, whole, rel_tol=_ROUNDING) else size)
    return tuple(sizes)


def draw_counts(
    scheme: Scheme, n_samples: int, count: int, rng: np.random.Generator
) -> Sequence[IntArray]:
    """The number of times each of the N samples is in each of `count` members, checked."""
    counts = np.asarray(scheme.draw_samples(n_samples, count, rng))
    if counts.shape != (count, n_samples) or counts.dtype.kind not in "biu" or (counts < 0).any():
        raise ValueError(
            f"draw_samples must return whole numbers of shape ({count}, {n_samples}), got an "
            f"array of {counts.dtype} of shape {counts.shape} for {scheme!r}"
        )
    low, high = member_sizes(scheme, n_samples)
    sums = counts.sum(axis=1)
    if sums.min() < low or sums.max() > high:
        wanted = f"{low}" if low == high else f"{low} or {high}"
        off = next(int(size) for size in sums if not low <= size <= high)
        raise ValueError(
            f"draw_samples must return rows that sum to {wanted}, the samples of a member by "
            f"sample_share, got {off} for {scheme!r}"
        )
    return list(counts.astype(np.int64, copy=False))
