r"""The limit P → ∞ at finite size: ridge regression with the exact kernel of the features.

With infinitely many features f(x) = k(x)ᵀ (K + δ)⁻¹ y, where K = E_θ φ(x_μ) φ(x_ν) is the overlap
of `overlap` with the roles of inputs and features exchanged, and δ = λ N/D. There is nothing left
to initialize: one fit for each data set gives all terms. Test points are sampled.
"""

import math
from collections.abc import Sequence

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.activations import Activation
from doubletrouble.parameters import FloatArray
from doubletrouble.simulation.features import Convert
from doubletrouble.simulation.learner import gains
from doubletrouble.simulation.overlap import Overlap, closed_form
from doubletrouble.simulation.terms import Array


def kernel_terms(
    activation: Activation, data: Sequence[FloatArray], test: FloatArray, ridge: float,
    convert: Convert,
) -> dict[str, float]:  # fmt: skip
    """Every Ψ term of one draw of the kernel model; `ridge` is δ."""
    known = closed_form(activation)
    if known is None:
        raise ValueError(
            "activation must have a kernel in closed form for model 'kernel', "
            f"got {activation.name!r}"
        )
    n_test, dim = test.shape
    x_test = convert(test / math.sqrt(n_test))
    teachers, responses, overlaps = [], [], []
    for points in data:
        x = convert(points)
        xp = array_namespace(x)
        values, vectors = xp.linalg.eigh(_gram(known, activation.mean, x, x))
        to_test = _gram(known, activation.mean, convert(test), x) / math.sqrt(n_test)
        student = ((to_test @ vectors) * gains(values, ridge)) @ vectors.T  # (T, N)
        teachers.append(student @ x)  # (T, D)
        responses.append(float(xp.sum(student * student)))
        overlaps.append(float(xp.sum(x_test * teachers[-1])) / dim)
    power = float(np.mean([float(xp.sum(t * t)) for t in teachers])) / dim
    apart = float(xp.sum(teachers[0] * teachers[1])) / dim
    response = float(np.mean(responses))
    return {
        "psi1": float(np.mean(overlaps)),
        "psi2_vanilla": power,
        "psi3_vanilla": response,
        "psi2_ensemble": power,
        "psi3_ensemble": response,
        "psi2_divide": apart,
        "psi2_features": apart,
    }


def _gram(known: Overlap, mean: float, x: Array, z: Array) -> Array:
    """E_θ of centred features at the rows of x and z."""
    xp = array_namespace(x, z)
    dim = x.shape[1]
    a, b = xp.sum(x * x, axis=1)[:, None] / dim, xp.sum(z * z, axis=1)[None, :] / dim
    raw = known.overlap(a, b, x @ z.T / dim)
    return raw - mean * (known.mean(a) + known.mean(b)) + mean**2
