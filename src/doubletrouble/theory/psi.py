"""The paper's dimensionless terms Ψ, from the split of unit powers."""

from dataclasses import fields

import numpy as np

from doubletrouble.parameters import FloatArray, Value
from doubletrouble.problems import Problem
from doubletrouble.results import PsiTerms
from doubletrouble.theory.blocks import blockwise
from doubletrouble.theory.points import prepare
from doubletrouble.theory.split import split_at

_PSITERMS = tuple(f.name for f in fields(PsiTerms))


def psi_terms(problem: Problem) -> PsiTerms[Value]:
    """Return the paper's dimensionless terms Ψ (and Ψ₂ᵖ, for shared features and fresh data).

    They depend on P/D, N/D, λ and the activation only, and have the shape these broadcast to.

    >>> from doubletrouble import Problem
    >>> terms = psi_terms(Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1))
    >>> round(terms.psi1, 5), round(terms.psi2_vanilla, 5), round(terms.psi3_ensemble, 5)
    (0.39157, 0.37695, 0.1811)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    modes, point, _ = prepare(problem, 1, "ensemble")

    def kernel(
        features: FloatArray, samples: FloatArray, ridge: FloatArray
    ) -> tuple[FloatArray, ...]:
        scaled = modes.scaled_ridge(ridge, samples)
        p = split_at(modes, features, samples, features - samples, scaled)
        ensemble = p.square + p.data
        return (  # in the order of PsiTerms
            p.overlap,
            ensemble + p.features + p.features_data,
            p.noise_shared + p.noise_own,
            ensemble,
            p.noise_shared,
            p.square,
            p.square + p.features,
        )

    inputs = (point.features, point.samples, point.ridge)
    values = blockwise(kernel, inputs, np.broadcast_shapes(*(np.shape(v) for v in inputs)))
    return PsiTerms(**dict(zip(_PSITERMS, values, strict=True)))
