r"""Overlaps of learners fitted with any convex loss, without bias: the terms of one draw.

A learner with a loss other than the squared loss does not depend linearly on its labels, so that
labels are drawn, and averages over their noise are taken over copies. A draw has two data sets,
J sets of features, and for the inputs of each data set two draws of the label noise (one where
there is no noise). Every learner is fitted by `convex.LinearModel`. With h its output at a Gaussian
test point x, and ν = ⟨β, x⟩ the teacher's, the overlaps are

    m = E ν h,        q = E h²,        E h h' of two learners that share less,

averaged over all pairs of a kind. The averages over x are those of `_draws`: exact for the linear
part of the features, and closed or sampled for the rest. By rotation invariance β = F e₁.

| overlap       | features | inputs | noise |
|---------------|----------|--------|-------|
| q             | same     | same   | same  |
| q_noise       | same     | same   | other |
| q1            | other    | same   | same  |
| q_init        | other    | same   | other |
| q_features    | same     | other  | other |
| q_d           | other    | other  | other |

Members that draw samples, or features from a bank, have twins as in `_terms`: learners that share
the choice of samples, or the bank. Their overlaps are q_twin (same noise) and q_twin_noise.

**By cause.** The power of the mean score of K members, q1 + (q - q1)/K for an ensemble, is q_d and
a part for each cause (`power_parts`): these are the parts of the squared error. The measures of
classes, and their parts, are those of `convex.ClassMeasure`. As a check, the error is also counted
at test points that were held out.

**Rates** depend on directions only: they are computed from learners scaled to outputs of power one
(`directions`), and several learners are averaged with equal weights. In the limit D → ∞ all norms
are equal, so that scaling changes nothing. At finite D norms differ, near N = N⋆ at a small ridge
by large factors, and the plain overlaps are those of the largest learners.

**Majority votes** are counted at these points. Where w of the J learners with the same data are
wrong, a majority of K of them is wrong with the probability of a hypergeometric number: the mean
over all choices of K is unbiased for K ≤ J, and the numbers of points with each w are enough.

**Draws without a fit.** The maximum margin of data that are not separable, and the weights of the
logistic loss without ridge on separable data, do not exist. Near N = N⋆ some draws of a finite
model are separable and others are not. No draw is left out, which would be a selection by norm:
the simulation raises an error with the draws concerned.
"""

from __future__ import annotations  # help() then shows the alias Numeric

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from doubletrouble.convex import LinearModel
from doubletrouble.ensembles import Divide, Scheme
from doubletrouble.errors import DivergenceError
from doubletrouble.parameters import FloatArray, IntArray, Numeric
from doubletrouble.problems import Mixture, Problem
from doubletrouble.simulation._draws import FeatureSet, draw_data, draw_features
from doubletrouble.simulation._ensembles import (
    draw_counts,
    has_disjoint_samples,
    n_members,
    sample_share,
)
from doubletrouble.simulation._members import n_common
from doubletrouble.simulation._plan import SimulationPlan

N_HELD_OUT = 1000
"""Test points at which errors are counted, in each draw."""

_Mask: TypeAlias = npt.NDArray[np.bool_]

_DIRECTION = "direction_"
_BY_VOTES = ("wrong_votes", "noisy_wrong_votes")  # arrays with a last axis


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnerOverlaps:
    """Overlaps of learners of every kind; an axis for the draws, and further ones for curves."""

    m: FloatArray  # of a learner with the teacher
    q: FloatArray  # of a learner with itself
    q_noise: FloatArray
    q1: FloatArray
    q_init: FloatArray
    q_d: FloatArray
    q_features: FloatArray | None = None  # of members with all of the data, or a block of it
    q_twin: FloatArray | None = None  # of members that draw from a common set
    q_twin_noise: FloatArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class OverlapDraws(LearnerOverlaps):
    """Every overlap of a simulation, and the errors at points held out."""

    intercept: FloatArray
    held_out: FloatArray  # error at points held out: of one learner
    held_out_mean: FloatArray  # of the mean of all learners with the same data
    # shares of points held out at which 0, 1, … J of the learners with the same data are wrong, for
    # classes: against the clean sign, and against labels with noise, before flips
    wrong_votes: FloatArray | None = None
    noisy_wrong_votes: FloatArray | None = None
    directions: LearnerOverlaps | None = None  # of classes: scaled to outputs of power one

    def named(self) -> dict[str, FloatArray]:
        """Every overlap by its name; those of `directions` have a prefix."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        directions = values.pop("directions")
        if directions is not None:
            unit = {f.name: getattr(directions, f.name) for f in fields(directions)}
            values |= {_DIRECTION + name: value for name, value in unit.items()}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_named(cls, values: dict[str, FloatArray]) -> Self:
        """The overlaps of `named`."""
        unit = {
            name.removeprefix(_DIRECTION): value
            for name, value in values.items()
            if name.startswith(_DIRECTION)
        }
        own = {name: value for name, value in values.items() if not name.startswith(_DIRECTION)}
        return cls(**own, directions=LearnerOverlaps(**unit) if unit else None)

    @classmethod
    def combined(
        cls, function: Callable[[list[FloatArray]], FloatArray], several: Sequence[Self]
    ) -> Self:
        """Every overlap as a function of the list of its values in several."""
        values = [one.named() for one in several]

        def of(name: str) -> FloatArray:
            arrays = [one[name] for one in values]
            if name not in _BY_VOTES:
                return function(arrays)
            counts = range(arrays[0].shape[-1])
            return np.stack([function([a[..., w] for a in arrays]) for w in counts], axis=-1)

        return cls.from_named({name: of(name) for name in values[0]})


def power_parts(
    scheme: Scheme, at: LearnerOverlaps, n_members: FloatArray
) -> dict[str, FloatArray]:
    """The power of the mean of K members over q_d by cause, in the order of the chain."""
    share = 1 / n_members
    if at.q_twin is None or at.q_twin_noise is None:
        disjoint = has_disjoint_samples(scheme)
        of_data = share if disjoint else 1.0
        noise = at.q1 - at.q_init
        return {
            "sampling": of_data * (at.q_init - at.q_d),
            "initialization": share * (at.q_noise - at.q_init),
            "noise": of_data * noise + share * (at.q - at.q_noise - noise),
        }
    if scheme.shares_features:  # twins are two members
        noise = at.q_twin - at.q_twin_noise
        return {
            "sampling": at.q_init - at.q_d,
            "initialization": at.q_twin_noise - at.q_init,
            "resampling": share * (at.q_noise - at.q_twin_noise),
            "noise": noise + share * (at.q - at.q_noise - noise),
        }
    noise = at.q1 - at.q_init
    return {
        "sampling": at.q_init - at.q_d,
        "initialization": share * (at.q_noise - at.q_twin_noise),
        "resampling": share * (at.q_twin_noise - at.q_init),
        "noise": noise + share * (at.q - at.q_noise - noise),
    }


def majority(wrong_votes: FloatArray, n_members: Numeric) -> FloatArray:
    """The rate at which a majority of K of J votes is wrong; ties count half.

    `wrong_votes` are the shares of points with 0, 1, … J wrong votes, the last axis. Numbers of
    members broadcast with the axes before it.

    >>> majority(np.array([0.5, 0.3, 0.1, 0.1]), [1, 2, 3]).round(4)
    array([0.2667, 0.2667, 0.2   ])
    """
    from scipy.stats import hypergeom

    J = wrong_votes.shape[-1] - 1
    K, wrong = np.asarray(n_members, dtype=np.float64)[..., None], np.arange(J + 1)
    half = K / 2
    chosen = hypergeom(J, wrong, K)
    above, below = chosen.sf(np.floor(half)), chosen.cdf(np.ceil(half) - 1)
    return np.asarray(np.sum(wrong_votes * 0.5 * (1 + above - below), axis=-1))


def jackknife(function: Callable[..., FloatArray], *draws: FloatArray) -> FloatArray:
    """Pseudo-values, one for each draw, of a function of means over draws (the first axis)."""
    count = len(draws[0])
    means = [values.mean(axis=0) for values in draws]
    others = [
        (count * mean - values) / (count - 1) for mean, values in zip(means, draws, strict=True)
    ]
    return np.asarray(count * function(*means) - (count - 1) * function(*others))


# --- one draw ------------------------------------------------------------------------------------


def draw_labels(
    problem: Problem, teacher: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, ...]:
    """Labels for outputs of the teacher, (N,), with two draws of the noise; one without noise."""
    noise, flips = problem.noise, float(np.asarray(problem.flips))
    count = 2 if np.any(problem.noise_sd) or flips else 1
    uninformative = not np.any(problem.signal) and not np.any(problem.noise_sd)
    labels = []
    for _ in range(count):
        normal = rng.standard_normal(teacher.shape)
        if isinstance(noise, Mixture):
            weights, sds = np.transpose(noise.components)
            noisy = teacher + normal * sds[rng.choice(len(sds), size=teacher.shape, p=weights)]
        else:
            noisy = teacher + normal * np.asarray(noise)
        if problem.task == "classification":
            wrong = rng.random(teacher.shape) < flips
            noisy = normal if uninformative else noisy  # the sign of 0 is drawn
            noisy = np.where((noisy > 0) != wrong, 1.0, -1.0)
        labels.append(noisy)
    return tuple(labels)


class _Samples(NamedTuple):
    """The samples of one learner."""

    data: int  # the data set
    choice: int  # learners of equal choices have equal samples
    rows: slice | npt.NDArray[np.intp]


class _Features(NamedTuple):
    """The features of one learner: those of a set from a start."""

    which: int
    twin: int = 0  # one of two choices from a bank
    start: int = 0


class _FittedLearners:
    """All fits of one draw to the samples and features of some members, at one P and ridge."""

    def __init__(self) -> None:
        self.keys: list[tuple[int, int, int, int, int]] = []  # set, twin, choice, data, noise
        self.starts: list[int] = []
        self.outputs: list[FloatArray] = []  # (R,)
        self.weights: list[FloatArray] = []  # (P,)
        self.intercepts: list[float] = []
        self.held_out: list[FloatArray] = []  # (T,)

    def overlaps(self, problem: Problem, own: float, held: FloatArray) -> OverlapDraws:
        """The means over all pairs of each kind."""
        sets, twins, choices, data, noise = np.transpose(self.keys)
        outputs = np.stack(self.outputs)
        products = outputs @ outputs.T

        def equal(key: IntArray) -> _Mask:
            return np.equal.outer(key, key)

        same_set, same_data, same_noise = equal(sets), equal(data), equal(noise)
        if own:  # a part of the outputs is independent for each feature
            placed = np.zeros((len(outputs), 2 * len(self.weights[0])))
            for row, start, a in zip(placed, self.starts, self.weights, strict=True):
                row[start : start + len(a)] = a
            products = products + own**2 * (placed @ placed.T) * same_set
        one = same_set & equal(twins) & equal(choices) & same_data
        drawn_samples, drawn_features = len(set(choices)) > 1, len(set(twins)) > 1
        other = ~same_set & same_data & ~(equal(choices) & drawn_samples)
        twin = same_data & (
            same_set & ~equal(twins) if drawn_features else ~same_set & equal(choices)
        )
        silent = len(set(noise)) == 1
        features = same_set & equal(twins) & ~same_data
        drawn = drawn_samples or drawn_features
        along = float(np.asarray(problem.signal)) * outputs[:, 0]

        def means(along: FloatArray, products: FloatArray) -> dict[str, FloatArray]:
            def mean(pairs: _Mask, *, noisy: bool) -> FloatArray:
                kind = pairs & (same_noise if noisy or silent else ~same_noise)
                return np.asarray(products[kind].mean())

            values = {
                "m": np.asarray(along.mean()),
                "q": np.asarray(np.diagonal(products).mean()),
                "q_noise": mean(one, noisy=False),
                "q1": mean(other, noisy=True),
                "q_init": mean(other, noisy=False),
                "q_d": np.asarray(products[~same_set & ~same_data].mean()),
            }
            if drawn:
                twins = {"q_twin": mean(twin, noisy=True), "q_twin_noise": mean(twin, noisy=False)}
                return values | twins
            return values | {"q_features": np.asarray(products[features].mean())}

        directions = None
        if problem.task == "classification":
            power = np.diagonal(products)
            scale = 1 / np.sqrt(np.where(power > 0, power, 1.0))
            directions = LearnerOverlaps(**means(scale * along, scale[:, None] * products * scale))
        every = np.arange(len(outputs))
        errors = [self._held_out(problem, held, every == k) for k in every]
        groups = [(data == i) & (noise == n) for i in (0, 1) for n in sorted(set(noise))]
        return OverlapDraws(
            **means(along, products),
            intercept=np.asarray(np.mean(self.intercepts)),
            held_out=np.asarray(np.mean(errors)),
            held_out_mean=np.asarray(np.mean([self._held_out(problem, held, g) for g in groups])),
            directions=directions,
            **({} if drawn else self._wrong_votes(problem, held, groups)),
        )

    def _wrong_votes(
        self, problem: Problem, held: FloatArray, groups: Sequence[_Mask]
    ) -> dict[str, FloatArray]:
        """Shares of points held out by the number of wrong votes, over learners of each group."""
        if problem.task != "classification":
            return {}
        scores = np.stack(self.held_out)
        size, noise = int(np.sum(groups[0])), float(np.asarray(problem.noise_sd))
        # the probability that the label with noise has the sign of the teacher
        sure = ndtr(np.abs(held) / noise) if noise else np.ones_like(held)
        tables = []
        for group in groups:
            wrong = np.sum((scores[group] > 0) != (held > 0), axis=0)
            clean = np.bincount(wrong, minlength=size + 1)
            right, other = (
                np.bincount(wrong, weights=weight, minlength=size + 1)
                for weight in (sure, 1 - sure)
            )
            tables.append((clean, right + other[::-1]))
        clean, noisy = np.mean(tables, axis=0) / held.size
        return {"wrong_votes": clean, "noisy_wrong_votes": noisy}

    def _held_out(self, problem: Problem, held: FloatArray, which: _Mask) -> float:
        """The error of the mean of some learners at points held out, without label noise."""
        score = np.mean([self.held_out[k] for k in np.flatnonzero(which)], axis=0)
        if problem.task == "classification":
            return float(np.mean((score > 0) != (held > 0)))
        return float(np.mean((score - held) ** 2))


def draw(plan: SimulationPlan, rng: np.random.Generator) -> dict[Scheme, OverlapDraws]:
    """Every overlap of one draw, for every fit; the whole of the data is `Divide(1)`."""
    problem, F = plan.problem, float(np.asarray(plan.problem.signal))
    data, test = draw_data(plan, rng)
    held = plan.device.normals(rng, (N_HELD_OUT, plan.dim))
    labels = [draw_labels(problem, F * x[:, 0], rng) for x in data.inputs]
    inputs = (*data.inputs, held)
    most = int(max(plan.n_features))
    sets = draw_features(plan, inputs, test, most, rng)
    results = {}
    for scheme in (*map(Divide, plan.divisions), *plan.schemes):
        (own,) = rng.spawn(1)
        shared = scheme.shares_features
        pools = draw_features(plan, inputs, test, 2 * most, own) if shared else sets
        blocks, table = _blocks(plan, scheme, own), []
        for w in range(len(plan.n_features)):
            members = _features(plan, scheme, w, own)
            parts = [
                _fits(plan, pools, w, labels, F * held[:, 0], members, samples)
                for samples in blocks
            ]
            table += [
                OverlapDraws.combined(lambda values: np.mean(values, axis=0), several)
                for several in zip(*parts, strict=True)
            ]
        results[scheme] = OverlapDraws.combined(np.array, table)
    return results


def _blocks(plan: SimulationPlan, scheme: Scheme, rng: np.random.Generator) -> list[list[_Samples]]:
    """The samples of all learners, for each block of divided data."""
    N = plan.n_samples
    if isinstance(scheme, Divide):
        parts = int(n_members(scheme))
        ends = [round(k * N / parts) for k in range(parts + 1)]
        return [[_Samples(i, 0, slice(*ends_of)) for i in (0, 1)] for ends_of in pairwise(ends)]
    if sample_share(scheme) == 1:
        return [[_Samples(i, 0, slice(0, N)) for i in (0, 1)]]
    return [
        [
            _Samples(i, choice, np.flatnonzero(counts))
            for i in (0, 1)
            for choice, counts in enumerate(draw_counts(scheme, N, plan.n_init, rng))
        ]
    ]


def _features(
    plan: SimulationPlan, scheme: Scheme, w: int, rng: np.random.Generator
) -> list[_Features]:
    """The features of all learners of the w-th P: whole sets, or two choices from each bank."""
    if not scheme.shares_features:
        return [_Features(j) for j in range(plan.n_init)]
    P, members = int(plan.n_features[w]), []
    for j in range(plan.n_init):
        start = P - n_common(P, plan.banks[scheme][w], rng)
        members += [_Features(j), _Features(j, 1, start)]
    return members


def _fits(
    plan: SimulationPlan,
    sets: Sequence[FeatureSet],
    w: int,
    labels: Sequence[tuple[FloatArray, ...]],
    held: FloatArray,
    members: Sequence[_Features],
    samples: Sequence[_Samples],
) -> Iterator[OverlapDraws]:
    """The overlaps for every ridge, of learners with some features on some samples."""
    P, ridges = int(plan.n_features[w]), plan.ridges[w]
    tables = [_FittedLearners() for _ in ridges]
    drawn = any(one.choice for one in samples)
    for member in members:
        part = slice(member.start, member.start + P)
        chosen = sets[member.which]
        for own in samples:
            # a choice of samples is given to two sets of features
            if drawn and (own.choice - member.which) % len(sets) > 1:
                continue
            phi = chosen.train[own.data][own.rows, part]
            model, n = LinearModel(phi), len(phi)
            for noise, y in enumerate(labels[own.data]):
                for ridge, table in zip(ridges, tables, strict=True):
                    try:
                        alpha = n * P * ridge / plan.dim
                        fit = model.fit(y[own.rows], plan.problem.loss_function, alpha)
                    except DivergenceError as error:
                        raise DivergenceError(f"at P = {P} and N = {n}, {error}") from None
                    a = fit.weights
                    assert a is not None
                    table.keys.append((member.which, member.twin, own.choice, own.data, noise))
                    table.starts.append(member.start)
                    table.outputs.append(a @ chosen.outputs[part])
                    table.weights.append(a)
                    table.intercepts.append(fit.intercept)
                    table.held_out.append(chosen.train[2][:, part] @ a + fit.intercept)
    for table in tables:
        yield table.overlaps(plan.problem, sets[0].own, held)
