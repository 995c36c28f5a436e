"""What a simulation returns: every Ψ term of every draw, and what follows from them."""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from dataclasses import dataclass, field, fields
from typing import TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.parameters import FloatArray, Value, number
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate, PsiTerms
from doubletrouble.sharing import RESAMPLED as RESAMPLED

Draws: TypeAlias = dict[str, FloatArray]
"""Every Ψ term, one entry for each draw along the first axis."""

# For a teacher of each kind: its overlap with one student, and those of two students that share
# features and data, data, or nothing.
LINEAR = ("psi1", "psi2_vanilla", "psi2_ensemble", "psi2_divide")
CURVED = ("curved_overlap", "curved_vanilla", "curved_ensemble", "curved_divide")

# Where members draw from a common set (`twins`): the overlaps of two that are farther and farther
# apart.
_APART = ("same", "twin", "other", "apart")
PAIRED = ("psi1", *(f"psi2_{how}" for how in _APART), "psi3_same", "psi3_twin", "psi3_other")
PAIRED_CURVED = ("curved_overlap", *(f"curved_{how}" for how in _APART))


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
        """One line a part, and the total last."""
        if np.ndim(self.total.value):
            return repr(self)
        names = [f.name for f in fields(self) if f.name != "total"]
        parts = ((name, getattr(self, name)) for name in (*names, "total"))
        return "\n".join(
            f"{name:<16} {part.value:12.6g} ± {part.standard_error:.2g}" for name, part in parts
        )


@dataclass(frozen=True, kw_only=True)
class ResampledErrorEstimates(ErrorEstimates):
    """The test error by cause where members draw samples, or features, from a common set.

    `resampling` is the variance by the choice alone, as in `ResampledErrorTerms`.
    """

    resampling: Estimate


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Simulation:
    """What was simulated, at the sizes realized, and every term of every draw.

    Where several widths or ridges were asked for, arrays have axes for them after that of the
    draws, and `problem` broadcasts to the same shape: `exact_error(sim.problem)` is the theory
    for every value here. `times` are the last axis: `gradient_flow(sim.problem, sim.times)`.
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
    resampled: dict[str, Draws] = field(default_factory=dict)  # by the scheme
    fraction: float | None = None  # of the samples, that each member of a subbag has
    bank_per_dim: float | None = None  # features to choose from
    times: FloatArray | None = None  # of gradient flow; None: ridge regression

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

        An ensemble may have any number of members, and so may one that draws samples or features,
        by a scheme that was simulated; then there is a further part, `resampling`. Divided data
        are simulated for the numbers `simulate` was given; divided among infinitely many, they
        teach nothing.
        """
        K = number("n_members", n_members, glossary.N_MEMBERS)
        if scheme == "ensemble":
            return self._parts(self.draws, data=1.0, member=1 / K)
        if scheme == "divide" and K in self.divided:
            return self._parts(self.divided[K], data=1 / K, member=1 / K)
        if scheme in self.resampled:
            return self._resampled_parts(self.resampled[scheme], scheme, member=1 / K)
        known = ", ".join(f"{k:g}" for k in self.divided) or "none"
        others = ", ".join(self.resampled) or "none"
        raise ValueError(
            f"scheme must be 'ensemble', or 'divide' with n_members simulated ({known}), or one "
            f"more that was simulated ({others}), got {scheme!r} with {K:g}"
        )

    @property
    def _powers(self) -> tuple[float, ...]:
        """F², F⋆², τ² and τ̃²."""
        p = self.problem
        amplitudes = (p.signal, p.nonlinear_signal, p.noise, p.test_noise)
        return tuple(float(np.square(v)) for v in amplitudes)

    def _parts(self, t: Draws, *, data: float, member: float) -> ErrorEstimates:
        """[dascoli2020] Sec. 5, as in `theory.error`, draw by draw."""
        F2, G2, T2, bayes = self._powers
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
        return ErrorEstimates(**_estimates(parts))

    def _resampled_parts(self, t: Draws, scheme: str, *, member: float) -> ResampledErrorEstimates:
        """Each step from one kind of pair to the next is a cause.

        Two members of a bank are twins, so that only what is between a member and its twin falls
        with their number; two members with samples of their own are not.
        """
        F2, G2, T2, bayes = self._powers
        bank = scheme == "feature_bank"
        met = t["psi3_twin"] if bank else t["psi3_other"]  # two members
        parts = {"noise": T2 * (met + member * (t["psi3_same"] - met))}
        names = ("initialization", "sampling", "bias", "resampling")
        parts |= {name: np.zeros_like(met) for name in names}
        parts["bayes"] = bayes + np.zeros_like(met)
        for power, kinds in ((F2, PAIRED[:5]), (G2, PAIRED_CURVED)):
            if power:
                overlap, same, twin, other, apart = (t[name] for name in kinds)
                alone, beyond = power * member * (same - twin), power * (twin - other)
                parts["initialization"] += beyond if bank else alone
                parts["resampling"] += alone if bank else member * beyond
                parts["sampling"] += power * (other - apart)
                parts["bias"] += power * (1 - 2 * overlap + apart)
        return ResampledErrorEstimates(**_estimates(parts))


def _estimates(parts: Draws) -> dict[str, Estimate]:
    """Every part, and their total."""
    total = np.sum(list(parts.values()), axis=0)
    return {name: Estimate.of(v) for name, v in {**parts, "total": total}.items()}


def untaught(draws: Draws) -> Draws:
    """Every term of a learner that has seen nothing."""
    return {name: np.zeros_like(values) for name, values in draws.items()}
