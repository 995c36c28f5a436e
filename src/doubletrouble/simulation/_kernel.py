r"""The limit P → ∞ at finite size: ridge regression with the exact kernel of the features.

With infinitely many features f(x) = k(x)ᵀ (K + δ)⁻¹ y, where K = E_θ φ(x_μ) φ(x_ν) is the overlap
of `kernels` with the roles of inputs and features exchanged, and δ = λ N/D. There is nothing left
to initialize: one fit for each data set gives all terms.

Test points are sampled. The kernel is nearly linear, k(x, x') ≈ μ₁² x·x'/D + …; the linear
student ℓ(x) = μ₁² x·Xᵀ (K + δ)⁻¹ y/D is the control variate: its products are known exactly, and
only the difference from the sampled ones is sampled.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.ensembles import Scheme
from doubletrouble.kernels import Array, closed_form
from doubletrouble.simulation._draw import empty_draw
from doubletrouble.simulation._features import centred_overlap
from doubletrouble.simulation._learner import Fit, fitted
from doubletrouble.simulation._resampling import Choice, choices, generators, paired_zeros
from doubletrouble.simulation._result import CURVED, PAIRED, PAIRED_CURVED
from doubletrouble.simulation._setting import Draw, DrawSetting, TermTable, drawn_data
from doubletrouble.simulation._teacher import PAIRS, Curvature
from doubletrouble.simulation._terms import DataPair, Terms, dot


def kernel_draw(at: DrawSetting, rng: np.random.Generator) -> Draw:
    """Draw data, and return every term."""
    whole, test = drawn_data(at, rng)
    assert test is not None  # the kernel has no other way
    found = empty_draw(at)
    for parts, terms in found.items():
        for rows in at.blocks(parts, deepcopy(rng)):  # no division depends on the others
            data = whole.rows(rows)
            fits = [_students(at, x, test) for x in data.inputs]
            for r, students in enumerate(zip(*fits, strict=True)):
                for name, value in _terms(students, data, test).items():
                    terms[name][:, r] += value / parts  # whatever the number of infinite widths
    paired = {
        scheme: _drawn_members(at, scheme, whole, test, own)
        for scheme, own in generators(at.schemes, rng).items()
    }
    return Draw(found, paired)


class _Maps(NamedTuple):
    """What labels, or teachers, become: at test points, by the linear student, and there."""

    sampled: Array  # (·, T)
    linear: Array  # (·, D)
    linear_sampled: Array  # (·, T)


def _students(
    at: DrawSetting, inputs: Array, test: Array, choice: Choice | None = None
) -> list[_Maps]:
    """What each ridge makes of the labels of one data set, or of samples chosen from it."""
    known = closed_form(at.activation)
    assert known is not None  # asked at the door
    x = inputs if choice is None else inputs[choice.rows]
    xp, scaled = array_namespace(x), x / math.sqrt(at.dim)
    mean = at.activation.mean if at.center else 0.0
    gram = centred_overlap(known, scaled, scaled, mean)
    to_test = centred_overlap(known, scaled, test / math.sqrt(at.dim), mean)
    right = xp.concat([to_test, x], axis=1)
    if choice is not None:
        gram, right = gram * (choice.roots * choice.roots.T), choice.roots * right
    size = x.shape[0] if choice is None else choice.n_drawn
    fits = [Fit(size * ridge / at.dim) for ridge in at.ridges]
    one = fitted(gram, right, fits)
    students = []
    for fit in fits:
        response = one.respond(fit)  # (N, T + D)
        if choice is not None:
            response = choice.embedded(response)
        linear = response[:, at.n_test :] * (at.activation.linear**2 / at.dim)
        students.append(_Maps(response[:, : at.n_test], linear, linear @ test.T))
    return students


def _product(a: _Maps, b: _Maps, metric: Array | None = None) -> float:
    """The mean product of two maps over test points, with a metric between them."""
    left = _Maps(*(metric.T @ part for part in a)) if metric is not None else a
    n_test: int = a.sampled.shape[1]
    difference = dot(left.sampled, b.sampled) - dot(left.linear_sampled, b.linear_sampled)
    return difference / n_test + dot(left.linear, b.linear)


def _taught(noise: Sequence[_Maps], data: DataPair) -> list[_Maps]:
    """What is made of teachers, on each data set."""
    return [
        _Maps(*(x.T @ part for part in maps)) for x, maps in zip(data.inputs, noise, strict=True)
    ]


def _overlap(teachers: Sequence[_Maps], test: Array) -> float:
    """The mean overlap of a student with its teacher."""
    xp, (n_test, dim) = array_namespace(test), test.shape
    overlaps = [
        dot(t.sampled - t.linear_sampled, test.T) / n_test + float(xp.linalg.trace(t.linear))
        for t in teachers
    ]
    return float(sum(overlaps) / len(overlaps) / dim)


def _terms(noise: Sequence[_Maps], data: DataPair, test: Array) -> Terms:
    dim, teachers = test.shape[1], _taught(noise, data)
    power = sum(_product(t, t) for t in teachers) / 2 / dim
    response = sum(_product(n, n) for n in noise) / 2
    apart = _product(teachers[0], teachers[1]) / dim
    terms = {
        "psi1": _overlap(teachers, test),
        "psi2_vanilla": power,
        "psi3_vanilla": response,
        "psi2_ensemble": power,
        "psi3_ensemble": response,
        "psi2_divide": apart,
        "psi2_features": apart,
    }
    return terms | (_curved_terms(noise, data.curvature) if data.curvature else {})


def _curved_terms(noise: Sequence[_Maps], bent: Curvature) -> Terms:
    assert bent.to_test is not None  # test points are sampled
    first, second, between = (
        _product(noise[i], noise[k], block)
        for (i, k), block in zip(PAIRS, bent.blocks, strict=True)
    )
    power = (first + second) / 2
    values = (_curved_overlap(noise, bent), power, power, between, between)
    return dict(zip(CURVED, values, strict=True))


def _curved_overlap(noise: Sequence[_Maps], bent: Curvature) -> float:
    assert bent.to_test is not None
    overlaps = (
        dot(seen, maps.sampled - maps.linear_sampled) / int(seen.shape[1])
        for seen, maps in zip(bent.to_test, noise, strict=True)
    )
    return sum(overlaps) / 2


# --- members with samples of their own -----------------------------------------------------------


def _drawn_members(
    at: DrawSetting, scheme: Scheme, data: DataPair, test: Array, rng: np.random.Generator
) -> TermTable:
    """Two members on each data set; a twin, with other features, is the same learner."""
    terms, fits = paired_zeros(at), []
    for x in data.inputs:
        fits.append([_students(at, x, test, own) for own in choices(scheme, 2, at, rng, x)])
    for r in range(len(at.ridges)):
        members = [[on_data[member][r] for on_data in fits] for member in range(2)]
        for name, value in _paired(members, data, test).items():
            terms[name][:, r] = value
    return terms


def _paired(members: Sequence[Sequence[_Maps]], data: DataPair, test: Array) -> Terms:
    """Every term; `members` are two, each on both data sets."""
    dim, bent = test.shape[1], data.curvature
    teachers = [_taught(maps, data) for maps in members]
    powers = [power / dim for power in _kinds(teachers)]
    overlap = sum(_overlap(both, test) for both in teachers) / 2
    terms = dict(zip(PAIRED, (overlap, *powers, *_kinds(members)[:3]), strict=True))
    if bent:
        seen = sum(_curved_overlap(maps, bent) for maps in members) / 2
        terms |= dict(zip(PAIRED_CURVED, (seen, *_kinds(members, bent.blocks)), strict=True))
    return terms


def _kinds(
    members: Sequence[Sequence[_Maps]], metrics: Sequence[Array] | None = None
) -> tuple[float, float, float, float]:
    """Mean products: same, twin, other, apart."""
    one, two = members
    at = dict(zip(PAIRS, metrics or [None] * len(PAIRS), strict=True))
    same = sum(_product(m[i], m[i], at[i, i]) for m in members for i in range(2)) / 4
    other = sum(_product(one[i], two[i], at[i, i]) for i in range(2)) / 2
    apart = sum(_product(a[0], b[1], at[0, 1]) for a in members for b in members) / 4
    return same, same, other, apart
