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
from doubletrouble.simulation.terms import Labels, Terms, dot


def kernel_draw(at: Setting, rng: np.random.Generator) -> Draw:
    """Draw data, and return every term."""
    data, test = drawn_data(at, rng)
    assert test is not None  # the kernel has no other way
    found = empty_draw(at)
    for parts, terms in found.items():
        for rows in at.blocks(parts):
            deltas = [(rows.stop - rows.start) * ridge / at.dim for ridge in at.ridges]
            fits = [_students(at, labels.rows(rows), test, deltas) for labels in data]
            for r, students in enumerate(zip(*fits, strict=True)):
                for name, value in _terms(students, test).items():
                    terms[name][0, r] += value / parts
    return found


class _Maps(NamedTuple):
    """What labels, or teachers, become: at test points, by the linear student, and there."""

    sampled: Array  # (·, T)
    linear: Array  # (·, D)
    linear_sampled: Array  # (·, T)


class _Student(NamedTuple):
    noise: _Maps
    teacher: _Maps
    curved: _Maps | None
    curved_overlap: float


def _students(at: Setting, labels: Labels, test: Array, deltas: Sequence[float]) -> list[_Student]:
    """One student for each ridge."""
    known = closed_form(at.activation)
    assert known is not None  # asked at the door
    x, curvature = labels
    xp, root = array_namespace(x), math.sqrt(at.dim)
    mean = at.activation.mean if at.center else 0.0
    gram = centred_overlap(known, x / root, x / root, mean)
    to_test = centred_overlap(known, x / root, test / root, mean)
    one = fitted(gram, xp.concat([to_test, x], axis=1), deltas)
    students = []
    for delta in deltas:
        response = one.respond(delta)  # (N, T + D)
        linear = response[:, at.n_test :] * (at.activation.linear**2 / at.dim)
        noise = _Maps(response[:, : at.n_test], linear, linear @ test.T)
        curved, overlap = None, 0.0
        if curvature is not None and curvature.to_test is not None:
            curved = _Maps(*(curvature.factor.T @ part for part in noise))
            overlap = dot(curvature.to_test, noise.sampled - noise.linear_sampled) / at.n_test
        teacher = _Maps(*(x.T @ part for part in noise))
        students.append(_Student(noise, teacher, curved, overlap))
    return students


def _product(a: _Maps, b: _Maps) -> float:
    n_test: int = a.sampled.shape[1]
    difference = dot(a.sampled, b.sampled) - dot(a.linear_sampled, b.linear_sampled)
    return difference / n_test + dot(a.linear, b.linear)


def _terms(students: Sequence[_Student], test: Array) -> Terms:
    xp, (n_test, dim) = array_namespace(test), test.shape
    overlaps = [
        dot(s.teacher.sampled - s.teacher.linear_sampled, test.T) / n_test
        + float(xp.linalg.trace(s.teacher.linear))
        for s in students
    ]
    power = sum(_product(s.teacher, s.teacher) for s in students) / 2 / dim
    response = sum(_product(s.noise, s.noise) for s in students) / 2
    apart = _product(students[0].teacher, students[1].teacher) / dim
    terms = {
        "psi1": sum(overlaps) / 2 / dim,
        "psi2_vanilla": power,
        "psi3_vanilla": response,
        "psi2_ensemble": power,
        "psi3_ensemble": response,
        "psi2_divide": apart,
        "psi2_features": apart,
    }
    bent = [s.curved for s in students if s.curved]
    if bent:
        curved = sum(_product(m, m) for m in bent) / 2
        terms |= {
            "curved_overlap": sum(s.curved_overlap for s in students) / 2,
            "curved_vanilla": curved,
            "curved_ensemble": curved,
            "curved_divide": _product(bent[0], bent[1]),
        }
    return terms
