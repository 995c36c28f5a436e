"""Committees of unequal members at finite size, with standard errors."""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import correlation
from doubletrouble.ensembles import (
    Overlaps,
    Sharing,
    checked_members,
    checked_weights,
    overlaps,
)
from doubletrouble.parameters import MOST_SEEDS, FloatArray, Numeric, number, whole_number
from doubletrouble.problems import USUAL, Member
from doubletrouble.results import ErrorTerms, Estimate
from doubletrouble.simulation._features import slope_by_power
from doubletrouble.simulation._pairs import Common, Sized, pair_draw
from doubletrouble.simulation._plan import n_test_points
from doubletrouble.simulation._progress import shown
from doubletrouble.simulation._square import refuse_square

CommitteeModel: TypeAlias = Literal["features", "gaussian"]
MODELS: tuple[str, ...] = get_args(CommitteeModel)


_TOTAL_ONLY = "{} must be computed by theory: simulate_committee estimates the total alone"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CommitteeSimulation:
    """A simulated committee at the sizes realized, with every mean product of every draw."""

    members: tuple[Member, ...]
    shared_features: FloatArray  # (K, K) per dimension; the diagonal holds the members' own
    shared_samples: FloatArray  # (K, K)
    signal: float
    noise: float
    dim: int
    model: str
    seed: int
    draws: FloatArray  # (draws, K, K)

    @property
    def n_data(self) -> int:
        """The number of independent draws."""
        return int(self.draws.shape[0])

    def __repr__(self) -> str:
        """The settings, without the draws."""
        return (
            f"CommitteeSimulation(members={list(self.members)!r}, dim={self.dim}, "
            f"model={self.model!r}, seed={self.seed}, n_data={self.n_data})"
        )

    @property
    def pair_errors(self) -> Estimate:
        """E (f* - f_a)(f* - f_b) for every two members, at test points without noise."""
        return Estimate.of(self.draws, key=self._key)

    def error(self, weights: Numeric | None = None) -> ErrorTerms[Estimate]:
        """The test error of the weighted mean of all members; of the plain mean unless given.

        The total is estimated, its parts are not.
        """
        count = len(self.members)
        if weights is None or (isinstance(weights, str) and weights == "equal"):
            given = np.full(count, 1 / count)
        else:
            given = checked_weights(weights, count)
        draws = np.einsum("a,dab,b->d", given, self.draws, given)
        return ErrorTerms.identified(
            parts={},
            total=Estimate.of(draws, key=self._key),
            missing={name: _TOTAL_ONLY.format(name) for name in ErrorTerms.names()},
        )

    @property
    def _key(self) -> Hashable:
        """Equal for simulations of the same random numbers."""
        return ("simulate_committee", self.model, self.seed, self.n_data)


def simulate_committee(
    members: Sequence[Member], *, sharing: Sharing = "samples",
    signal: float = USUAL["signal"], noise: float = USUAL["noise"], dim: int, n_data: int = 40,
    seed: int = 0, model: CommitteeModel = "features", progress: bool = True,
) -> CommitteeSimulation:  # fmt: skip
    """Simulate members of unequal width, data, ridge and activation at dimension `dim`.

    - `sharing` is what they have in common: "samples", "features", "both" (the smaller of two is
      part of the larger), "nothing", or the overlaps (features, samples) per dimension, numbers or
      matrices.
    - `model="features"` uses the true activations, `"gaussian"` the equivalent Gaussian covariates.

    The teacher is linear, of norm `signal`; `noise` is that of the labels. Every two members have
    draws of their own, `n_data` of them, of which all that can be is averaged exactly (`pairs`). P,
    N and overlaps are rounded to whole numbers; the result has those realized.

    >>> a = Member(features_per_dim=2.0, ridge=0.1)
    >>> b = Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=0.1, activation="tanh")
    >>> run = simulate_committee([a, b], dim=20, n_data=4)
    >>> run.pair_errors.value.shape, float(run.shared_samples[0, 1])
    ((2, 2), 0.8)
    """
    checked = _checked(members)
    strength = number("signal", signal, glossary.SIGNAL)
    noisiness = number("noise", noise, glossary.NOISE)
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    whole_number("n_data", n_data, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    wanted = overlaps(
        [_plain(one.features_per_dim) for one in checked],
        [_plain(one.samples_per_dim) for one in checked],
        sharing,
    )
    sizes = [_sized(one, D, model) for one in checked]
    counts = _counted(wanted, sizes, D)
    tasks = [
        _task(sizes, counts, a, b, model)
        for a, b in combinations_with_replacement(range(len(sizes)), 2)
    ]
    work = partial(_draw, tasks, dim=D, signal=strength, noise=noisiness, exact=model != "features")
    rngs = np.random.default_rng([seed, 10 + MODELS.index(model)]).spawn(n_data)
    table = list(shown(map(work, rngs), n_data, progress, unit="draw"))
    return CommitteeSimulation(
        members=tuple(
            replace(one, features_per_dim=at.n_features / D, samples_per_dim=at.n_samples / D)
            for one, at in zip(checked, sizes, strict=True)
        ),
        shared_features=counts.features / D,
        shared_samples=counts.samples / D,
        signal=strength,
        noise=noisiness,
        dim=D,
        model=model,
        seed=seed,
        draws=np.array(table),
    )


class _PairTask(NamedTuple):
    """Two members to be drawn together."""

    a: int
    b: int
    first: Sized
    second: Sized | None
    common: Common


def _task(sizes: Sequence[Sized], counts: Overlaps, a: int, b: int, model: str) -> _PairTask:
    features, samples = int(counts.features[a, b]), int(counts.samples[a, b])
    if a == b:
        return _PairTask(a, b, sizes[a], None, Common(features, samples, 1.0))
    first, second = sizes[a], sizes[b]
    r = 0.0
    if model == "gaussian" and features:  # the true features have it by themselves
        alike = first.activation == second.activation
        r = 1.0 if alike else correlation(first.activation, second.activation)
    return _PairTask(a, b, first, second, Common(features, samples, r))


def _draw(
    tasks: Sequence[_PairTask], rng: np.random.Generator, *, dim: int, signal: float, noise: float,
    exact: bool,
) -> FloatArray:  # fmt: skip
    """Every mean product once; what one pair draws does not depend on the others."""
    count = 1 + max(task.b for task in tasks)
    found = np.empty((count, count))
    for task, own in zip(tasks, rng.spawn(len(tasks)), strict=True):
        most = max(one.n_samples for one in (task.first, task.second) if one is not None)
        value = pair_draw(
            task.first, task.second, task.common, dim=dim, signal=signal, noise=noise,
            n_test=0 if exact else n_test_points(most), rng=own,
        )  # fmt: skip
        found[task.a, task.b] = found[task.b, task.a] = value
    return found


def _checked(members: Any) -> tuple[Member, ...]:
    checked: tuple[Member, ...] = checked_members(members, (Member,))
    for one in checked:
        for name in ("features_per_dim", "ridge"):
            value = _plain(getattr(one, name))
            if math.isinf(value):
                raise ValueError(f"{name} must be finite to be simulated, got {value!r}")
    return checked


def _sized(one: Member, dim: int, model: str) -> Sized:
    P, N = (round(_plain(r) * dim) for r in (one.features_per_dim, one.samples_per_dim))
    ridge = _plain(one.ridge)
    if min(P, N) < 1:
        raise ValueError(
            f"dim must be large enough for a feature and a sample, got {dim}, which gives "
            f"P = {P} and N = {N}"
        )
    refuse_square(P, ridge, [N])
    slope = slope_by_power(one.moments, dim) if model == "features" else None
    return Sized(P, N, ridge, one.moments, slope)


def _counted(wanted: Overlaps, sizes: Sequence[Sized], dim: int) -> Overlaps:
    """Overlaps in whole numbers, at most all that both have."""
    found = []
    for requested, own in (
        (wanted.features, [one.n_features for one in sizes]),
        (wanted.samples, [one.n_samples for one in sizes]),
    ):
        rounded = np.minimum(np.rint(requested * dim), np.minimum.outer(own, own))
        found.append(np.where(np.eye(len(own)) > 0, np.asarray(own, dtype=float), rounded))
    return Overlaps(*found)


def _plain(value: Numeric) -> float:
    return float(np.asarray(value))
