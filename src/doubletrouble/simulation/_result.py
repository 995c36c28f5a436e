"""The results of a simulation: every Ψ term of every draw, and the errors they give."""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np

from doubletrouble.ensembles import (
    Amplitudes,
    CrossTerms,
    EnsembleLike,
    MemberTerms,
    Scheme,
    combine,
)
from doubletrouble.parameters import FloatArray, common_shape
from doubletrouble.problems import Problem
from doubletrouble.results import AnovaTerms, ErrorTerms, Estimate, PsiTerms
from doubletrouble.simulation._shares import (
    has_all_samples,
    has_disjoint_samples,
    single_ensemble,
)

TermDraws: TypeAlias = dict[str, FloatArray]
"""Every Ψ term, one entry for each draw along the first axis."""

# Of the quadratic teacher: its overlap with one student, and those of two students that share
# features and data, data, nothing, or features; as `PsiTerms` of the linear one.
CURVED = (
    "curved_overlap", "curved_vanilla", "curved_ensemble", "curved_divide", "curved_features",
)  # fmt: skip

# Where members draw from a common set (`twins`): the overlaps of two that share less and less.
_APART = ("same", "twin", "other", "apart")
PAIRED = ("psi1", *(f"psi2_{how}" for how in _APART), "psi3_same", "psi3_twin", "psi3_other")
PAIRED_CURVED = ("curved_overlap", *(f"curved_{how}" for how in _APART))


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnEnsemble:
    """An ensemble as requested and as realized, and every term of every draw."""

    requested: Scheme
    realized: Scheme  # with fraction or bank in whole numbers of samples or features
    terms: TermDraws

    def covers(self, scheme: Scheme) -> bool:
        """Whether the terms are those of an ensemble; for `any_size`, of any number of members."""
        same = type(scheme) is type(self.requested)
        same &= scheme.any_size or scheme.n_members == self.requested.n_members
        return same and scheme.options in (self.requested.options, self.realized.options)

    def __str__(self) -> str:
        if not self.requested.any_size:
            return repr(self.requested)
        options = "".join(f", {name}={value:g}" for name, value in self.requested.options.items())
        return f"{type(self.requested).__name__}(K{options})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Simulation:
    """A simulation at the sizes realized, with every term of every draw.

    For curves along `features_per_dim` or `ridge`, arrays have axes for them after that of the
    draws, and `problem` broadcasts to the same shape: `exact_error(sim.problem, ensemble)` is the
    theory for every value. `times` are the last axis: `gradient_flow(sim.problem, sim.times)`.

    All estimates of a simulation, and of others with the same model, seed and number of draws, are
    of the same random numbers: arithmetic between them is paired, draw by draw.
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
    draws: TermDraws  # of members with all of the data
    drawn: tuple[DrawnEnsemble, ...] = ()  # further ensembles
    times: FloatArray | None = None  # of gradient flow; None: ridge regression

    @property
    def n_data(self) -> int:
        """The number of independent draws."""
        return int(self.draws["psi1"].shape[0])

    @property
    def ensembles(self) -> tuple[Scheme, ...]:
        """The ensembles drawn beside those with all of the data, as they were requested."""
        return tuple(one.requested for one in self.drawn)

    def __repr__(self) -> str:
        """The settings, without the draws."""
        ensembles = f", ensembles={list(self.ensembles)!r}" if self.drawn else ""
        return (
            f"Simulation(problem={self.problem!r}, dim={self.dim}, model={self.model!r}, "
            f"seed={self.seed}, n_data={self.n_data}, n_init={self.n_init}, test={self.test!r}"
            f"{ensembles})"
        )

    @property
    def psi(self) -> PsiTerms[Estimate]:
        """Every Ψ term as an `Estimate`."""
        return PsiTerms(**{f.name: self.estimate(self.draws[f.name]) for f in fields(PsiTerms)})

    def error(self, ensemble: EnsembleLike = 1) -> ErrorTerms[Estimate]:
        """The test error of an ensemble, by cause.

        A number of models K, or `Ensemble(K)`, is always available. Other ensembles must be among
        those drawn, the `ensembles` of `simulate`: `Subsample`, `Bootstrap` and `FeatureBank` are
        then available for any K, or an array of them, which broadcasts with the curves of the
        simulation; schemes whose shares depend on K are available for the K drawn.
        """
        scheme = single_ensemble("ensemble", ensemble, "Simulation.error", any_members=True)
        return ErrorTerms(**self._parts(scheme), coordinates=self._coordinates(scheme))

    def anova(self, ensemble: EnsembleLike = 1) -> AnovaTerms[Estimate]:
        """The symmetric split of the test error: main effects and interactions.

        With the overlap of two students that share their features alone, Ψ₂(features), the parts
        of `doubletrouble.anova` are differences of mean products, and as unbiased:

            V_P = F² (Ψ₂ᶠ - Ψ₂ᵈ)        V_PX = F² (Ψ₂ᵛ - Ψ₂ᵉ - Ψ₂ᶠ + Ψ₂ᵈ)
            V_Xε = τ² Ψ₃ᵉ               V_PXε = τ² (Ψ₃ᵛ - Ψ₃ᵉ)

        where v, e, f and d are one student, and two that share data, features, or nothing.
        """
        scheme = single_ensemble("ensemble", ensemble, "Simulation.anova", any_members=True)
        parts = self._parts(scheme, interactions=True)
        return AnovaTerms(**parts, coordinates=self._coordinates(scheme))

    def realized(self, ensemble: EnsembleLike = 1) -> Scheme:
        """The ensemble at the sizes realized, to compare with theory.

        A fraction of the samples, or the size of a bank, is rounded to whole numbers:
        `exact_error(sim.problem, sim.realized(ensemble))` is the theory for `sim.error(ensemble)`.
        """
        scheme = single_ensemble("ensemble", ensemble, "Simulation.error", any_members=True)
        if has_all_samples(scheme):
            return scheme
        return replace(self._drawn(scheme).realized, n_members=scheme.n_members)

    def terms_of(self, ensemble: EnsembleLike = 1) -> TermDraws:
        """Every term of every draw of the members of an ensemble."""
        scheme = single_ensemble("ensemble", ensemble, "Simulation.error", any_members=True)
        return self.draws if has_all_samples(scheme) else self._drawn(scheme).terms

    def estimate(self, draws: FloatArray) -> Estimate:
        """The mean of a quantity over draws, the first axis, with its standard error."""
        return Estimate.of(draws, key=self._key)

    # --- from draws to parts ---

    @property
    def _key(self) -> Hashable:
        """Equal for simulations of the same random numbers."""
        return ("simulate", self.model, self.seed, self.n_data)

    def _coordinates(self, scheme: Scheme) -> dict[str, Any]:
        """The parameters that vary along the axes of the results."""
        values = {f.name: getattr(self.problem, f.name) for f in fields(self.problem)}
        values |= {"time": self.times, "n_members": scheme.n_members}
        return {name: value for name, value in values.items() if np.ndim(value)}

    def _drawn(self, scheme: Scheme) -> DrawnEnsemble:
        for one in self.drawn:
            if one.covers(scheme):
                return one
        known = ", ".join(map(str, self.drawn))
        raise ValueError(
            f"ensemble must be a number, or one of those drawn ({known or 'none'}), got {scheme!r}"
        )

    def _parts(self, scheme: Scheme, *, interactions: bool = False) -> dict[str, Any]:
        members, p = np.asarray(scheme.n_members), self.problem
        count, *shape = self.draws["psi1"].shape
        points = common_shape({"the simulation": tuple(shape), "ensemble": members.shape})
        deep = (1 for _ in range(members.ndim - len(shape)))  # axes for the numbers of members
        wide = (count, *deep, *shape)
        draws = {name: term.reshape(wide) for name, term in self.terms_of(scheme).items()}
        F, G, tau, test = (
            float(np.asarray(v)) for v in (p.signal, p.nonlinear_signal, p.noise, p.test_noise)
        )
        at = Amplitudes(signal=F, nonlinear_signal=G, noise=tau, test_noise=test)
        parts = combine(
            _member_terms(scheme, draws, curved=False),
            _member_terms(scheme, draws, curved=True) if G else None,
            at, 1 / members, scheme.resamples, interactions=interactions,
        )  # fmt: skip
        return {
            name: self.estimate(np.array(np.broadcast_to(value, (count, *points))))
            for name, value in parts.items()
        }


def _member_terms(scheme: Scheme, t: TermDraws, *, curved: bool) -> MemberTerms:
    """The terms of two members, and of one beyond them, draw by draw.

    Each step from one kind of pair to the next, which shares less, is one more cause
    ([dascoli2020] Sec. 5). The noise is the same for both teachers.
    """
    power = "curved" if curved else "psi2"
    overlap = t["curved_overlap" if curved else "psi1"]
    if f"{power}_vanilla" in t:
        vanilla, ensemble = t[f"{power}_vanilla"], t[f"{power}_ensemble"]
        divide, features = t[f"{power}_divide"], t[f"{power}_features"]
        shared = CrossTerms(bias=1 - 2 * overlap + divide)
        own = CrossTerms(
            initialization=features - divide,
            interaction=vanilla - ensemble - features + divide,
            noise_interaction=t["psi3_vanilla"] - t["psi3_ensemble"],
        )
        of_data = own if has_disjoint_samples(scheme) else shared
        of_data.sampling, of_data.noise_sampling = ensemble - divide, t["psi3_ensemble"]
        return MemberTerms(shared=shared, own=own)
    same, twin = t[f"{power}_same"], t[f"{power}_twin"]
    other, apart = t[f"{power}_other"], t[f"{power}_apart"]
    shared = CrossTerms(
        bias=1 - 2 * overlap + apart, sampling=other - apart, noise_sampling=t["psi3_other"]
    )
    own = CrossTerms(
        interaction=same - twin, noise_interaction=t["psi3_same"] - t["psi3_twin"]
    )  # fmt: skip
    if scheme.shares_features:  # twins are two members: they have the bank in common
        shared.interaction = twin - other
        shared.noise_interaction = t["psi3_twin"] - t["psi3_other"]
    else:  # twins share the choice of samples, two members do not
        own.sampling, own.noise_sampling = twin - other, t["psi3_twin"] - t["psi3_other"]
    return MemberTerms(shared=shared, own=own)


def untaught(draws: TermDraws) -> TermDraws:
    """Every term of a learner without data."""
    return {name: np.zeros_like(values) for name, values in draws.items()}
