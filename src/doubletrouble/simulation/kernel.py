r"""The limit P → ∞ at finite size: ridge regression with the exact kernel of the features.

With infinitely many features f(x) = k(x)ᵀ (K + δ)⁻¹ y, where K = E_θ φ(x_μ) φ(x_ν) is the overlap
of `overlap` with the roles of inputs and features exchanged, and δ = λ N/D. There is nothing left
to initialize: one fit for each data set gives all terms.

Test points are sampled. The kernel is nearly linear, k(x, x') ≈ μ₁² x·x'/D + …; the linear
student ℓ(x) = μ₁² x·Xᵀ (K + δ)⁻¹ y/D is the control variate: its products are known exactly, and
only the difference from the sampled ones is sampled.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.simulation.draw import Draw, Setting, drawn_data, empty_draw
from doubletrouble.simulation.features import centred_overlap
from doubletrouble.simulation.learner import fitted
from doubletrouble.simulation.overlap import closed_form
from doubletrouble.simulation.place import Array
from doubletrouble.simulation.result import CURVED
from doubletrouble.simulation.teacher import PAIRS, Curvature
from doubletrouble.simulation.terms import Data, Terms, dot


def kernel_draw(at: Setting, rng: np.random.Generator) -> Draw:
    """Draw data, and return every term."""
    whole, test = drawn_data(at, rng)
    assert test is not None  # the kernel has no other way
    found = empty_draw(at)
    for parts, terms in found.items():
        for rows in at.blocks(parts, rng):
            data = whole.rows(rows)
            fits = [_students(at, x, test) for x in data.inputs]
            for r, students in enumerate(zip(*fits, strict=True)):
                for name, value in _terms(students, data, test).items():
                    terms[name][:, r] += value / parts  # whatever the number of infinite widths
    return found


class _Maps(NamedTuple):
    """What labels, or teachers, become: at test points, by the linear student, and there."""

    sampled: Array  # (·, T)
    linear: Array  # (·, D)
    linear_sampled: Array  # (·, T)


def _students(at: Setting, x: Array, test: Array) -> list[_Maps]:
    """What each ridge makes of the labels of one data set."""
    known = closed_form(at.activation)
    assert known is not None  # asked at the door
    xp, scaled = array_namespace(x), x / math.sqrt(at.dim)
    mean = at.activation.mean if at.center else 0.0
    gram = centred_overlap(known, scaled, scaled, mean)
    to_test = centred_overlap(known, scaled, test / math.sqrt(at.dim), mean)
    deltas = [x.shape[0] * ridge / at.dim for ridge in at.ridges]
    one = fitted(gram, xp.concat([to_test, x], axis=1), deltas)
    students = []
    for delta in deltas:
        response = one.respond(delta)  # (N, T + D)
        linear = response[:, at.n_test :] * (at.activation.linear**2 / at.dim)
        students.append(_Maps(response[:, : at.n_test], linear, linear @ test.T))
    return students


def _product(a: _Maps, b: _Maps, metric: Array | None = None) -> float:
    """The mean product of two maps over test points, with a metric between them."""
    left = _Maps(*(metric.T @ part for part in a)) if metric is not None else a
    n_test: int = a.sampled.shape[1]
    difference = dot(left.sampled, b.sampled) - dot(left.linear_sampled, b.linear_sampled)
    return difference / n_test + dot(left.linear, b.linear)


def _terms(noise: Sequence[_Maps], data: Data, test: Array) -> Terms:
    xp, (n_test, dim) = array_namespace(test), test.shape
    teachers = [
        _Maps(*(x.T @ part for part in maps)) for x, maps in zip(data.inputs, noise, strict=True)
    ]
    overlaps = [
        dot(t.sampled - t.linear_sampled, test.T) / n_test + float(xp.linalg.trace(t.linear))
        for t in teachers
    ]
    power = sum(_product(t, t) for t in teachers) / 2 / dim
    response = sum(_product(n, n) for n in noise) / 2
    apart = _product(teachers[0], teachers[1]) / dim
    terms = {
        "psi1": sum(overlaps) / 2 / dim,
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
    overlaps = (
        dot(seen, maps.sampled - maps.linear_sampled) / seen.shape[1]
        for seen, maps in zip(bent.to_test, noise, strict=True)
    )
    power = (first + second) / 2
    return dict(zip(CURVED, (sum(overlaps) / 2, power, power, between), strict=True))
