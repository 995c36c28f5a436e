"""The symmetric split of a simulation, as far as its draws tell it.

With the overlap of two students that share their features alone, E_P = Ψ₂(features), the parts of
`theory.error.anova` are differences of mean products, draw by draw, and as free of bias:

    V_P = F² (E_P - Ψ₂ᵈ)          V_PX = F² (Ψ₂ᵛ - Ψ₂ᵉ - E_P + Ψ₂ᵈ)
    V_Xε = τ² Ψ₃ᵉ                 V_PXε = τ² (Ψ₃ᵛ - Ψ₃ᵉ)

where v, e and d are one student, two with the same data, and two with nothing in common. The first
two, the features' own, are shared among K members; so is the last. A nonlinear teacher has no such
overlap among the draws: V_P and V_PX are then left out.
"""

import math

import numpy as np

from doubletrouble.results import Estimate
from doubletrouble.simulation.result import Simulation


def effects(run: Simulation, n_members: float = 1, scheme: str = "ensemble") -> dict[str, Estimate]:
    """Each part of the symmetric split that can be told, with its standard error."""
    found = run.error(n_members, scheme)
    t = run.draws if scheme == "ensemble" else run.divided[n_members]
    data, member = (1.0 if scheme == "ensemble" else 1 / n_members), 1 / n_members
    F2, T2 = (float(np.square(v)) for v in (run.problem.signal, run.problem.noise))
    parts = {
        "noise_sampling": data * T2 * t["psi3_ensemble"],
        "noise_initialization_sampling": member * T2 * (t["psi3_vanilla"] - t["psi3_ensemble"]),
    }
    if math.isclose(float(np.asarray(run.problem.nonlinear_signal)), 0.0):
        alone = t["psi2_features"] - t["psi2_divide"]
        both = t["psi2_vanilla"] - t["psi2_ensemble"] - alone
        parts |= {
            "initialization": member * F2 * alone,
            "initialization_sampling": member * F2 * both,
        }
    shared = {"total": found.total, "sampling": found.sampling, "bias": found.bias}
    return shared | {name: Estimate.of(values) for name, values in parts.items()}
