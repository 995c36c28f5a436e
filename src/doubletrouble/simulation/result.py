"""What a simulation returns: every Ψ term of every draw, and what follows from them."""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import FloatArray, Value, number
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate, PsiTerms

Draws: TypeAlias = dict[str, FloatArray]
"""Every Ψ term, one entry for each draw along the first axis."""

# For a teacher of each kind: its overlap with one student, and those of two students that share
# features and data, data, or nothing.
LINEAR = ("psi1", "psi2_vanilla", "psi2_ensemble", "psi2_divide")
CURVED = ("curved_overlap", "curved_vanilla", "curved_ensemble", "curved_divide")


@dataclass(frozen=True, kw_only=True)
class ErrorEstimates:
    """The test error by cause, each part with its standard error."""

    noise: Estimate
    initialization: Estimate
    sampling: Estimate
    bias: Estimate
    bayes: Estimate
    total: Estimate

    def interval(self, confidence: float = 0.95) -> tuple[Value, Value]:
        """A confidence interval for the total."""
        return self.total.interval(confidence)

    def __str__(self) -> str:
        """One line a part."""
        if np.ndim(self.total.value):
            return repr(self)
        parts = ((f.name, getattr(self, f.name)) for f in fields(self))
        return "\n".join(
            f"{name:<16} {part.value:12.6g} ± {part.standard_error:.2g}" for name, part in parts
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Simulation:
    """What was simulated, at the sizes realized, and every term of every draw.

    Where several widths or ridges were asked for, arrays have axes for them after that of the
    draws, and `problem` broadcasts to the same shape: `exact_error(sim.problem)` is the theory
    for every value here.
    """

    problem: Problem
    dim: int
    model: str
    seed: int
    n_init: int
    test: str  # how the average over test points was taken: "exact" or "sample"
    n_test: int  # test points sampled in each draw
    center: bool
    dtype: str
    draws: Draws
    divided: dict[float, Draws]  # by the number of learners the data are divided among

    def __repr__(self) -> str:
        """What was simulated, without the draws."""
        n_draws = next(iter(self.draws.values())).shape[0]
        return (
            f"Simulation(problem={self.problem!r}, dim={self.dim}, model={self.model!r}, "
            f"seed={self.seed}, n_data={n_draws}, n_init={self.n_init}, test={self.test!r})"
        )

    @property
    def psi(self) -> PsiTerms[Estimate]:
        """Every Ψ term as an `Estimate`."""
        return PsiTerms(**{f.name: Estimate.of(self.draws[f.name]) for f in fields(PsiTerms)})

    def error(self, n_members: float = 1, scheme: str = "ensemble") -> ErrorEstimates:
        """The test error of K models averaged, by cause.

        An ensemble may have any number of members. Divided data are simulated for the numbers
        `simulate` was given; divided among infinitely many, they teach nothing.
        """
        K = number("n_members", n_members, glossary.N_MEMBERS)
        if scheme == "ensemble":
            return self._parts(self.draws, data=1.0, member=1 / K)
        if scheme == "divide" and K in self.divided:
            return self._parts(self.divided[K], data=1 / K, member=1 / K)
        known = ", ".join(f"{k:g}" for k in self.divided) or "none"
        raise ValueError(
            f"scheme must be 'ensemble', or 'divide' with n_members simulated ({known}), "
            f"got {scheme!r} with {K:g}"
        )

    def _parts(self, t: Draws, *, data: float, member: float) -> ErrorEstimates:
        """[dascoli2020] Sec. 5, as in `theory.error`, draw by draw."""
        p = self.problem
        powers = (p.signal, p.nonlinear_signal, p.noise, p.test_noise)
        F2, G2, T2, bayes = (float(np.square(v)) for v in powers)
        shared, own = t["psi3_ensemble"], t["psi3_vanilla"] - t["psi3_ensemble"]
        parts = {"noise": T2 * (data * shared + member * own)}
        parts |= {name: np.zeros_like(shared) for name in ("initialization", "sampling", "bias")}
        parts["bayes"] = bayes + np.zeros_like(shared)
        for power, names in ((F2, LINEAR), (G2, CURVED)):
            if power:
                overlap, vanilla, ensemble, divide = (t[name] for name in names)
                parts["initialization"] += member * power * (vanilla - ensemble)
                parts["sampling"] += data * power * (ensemble - divide)
                parts["bias"] += power * (1 - 2 * overlap + divide)
        parts["total"] = np.sum(list(parts.values()), axis=0)
        return ErrorEstimates(**{name: Estimate.of(v) for name, v in parts.items()})


def untaught(draws: Draws) -> Draws:
    """Every term of a learner that has seen nothing."""
    return {name: np.zeros_like(values) for name, values in draws.items()}
