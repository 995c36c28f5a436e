"""Beyond the paper: members that draw samples or features, gradient flow, unequal members.

Each case is simulated at three sizes and extrapolated, as in `compare`. The theory is handed in, so
that another one can take its place.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

import doubletrouble as dt
from conformance.compare import Row, Sizes, extrapolated
from conformance.theory import EVERY, Parts, Theory
from doubletrouble.simulation import Model
from doubletrouble.theory import overlaps

MEMBERS = (1.0, 2.0, math.inf)
CHANGING = ("noise", "initialization", "resampling", "total")  # with K


def _of_scheme(theory: Theory, at: tuple[dt.Problem, dt.Scheme]) -> Parts:
    return theory.error(*at)


def _of_time(theory: Theory, members: float, time: float, at: dt.Problem) -> Parts:
    return theory.flow(at, time, members)


def _of_pair(
    theory: Theory, noise: float, at: tuple[dt.Member, dt.Member, tuple[float, float]]
) -> Parts:
    return {"product": theory.pair(*at, noise)}


def _estimates(error: dt.ErrorTerms[dt.Estimate]) -> dict[str, dt.Estimate]:
    return error.parts | {"total": error.total}


def _rows(
    ratio: float, scheme: str, members: float, parts: Sequence[str],
    theory: Callable[[Any], Parts], requested: Any, at: Sequence[Any],
    found: Sequence[Mapping[str, dt.Estimate]], index: tuple[int, ...], sizes: Sizes,
) -> Iterator[Row]:  # fmt: skip
    """Rows of one element of the results found at each size.

    Sizes are rounded: each is compared with the theory `at` its own, not with the one requested.
    """
    wanted, real = theory(requested), [theory(one) for one in at]
    for part in parts:
        means, errors = (
            np.array([float(np.asarray(getattr(one[part], name))[index]) for one in found])
            for name in ("value", "standard_error")
        )
        off = wanted[part] - np.array([one[part] for one in real])
        yield extrapolated(
            ratio, scheme, members, part, theory=wanted[part], means=means + off, errors=errors,
            sizes=sizes,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _OnCurve:
    """Some widths of one problem, with a linear teacher of norm 1."""

    activation: str
    widths: tuple[float, ...]  # P/D
    samples_per_dim: float = 1.0
    ridge: float = 1e-2
    noise: float = 0.5
    model: Model = "features"

    def problem(self, width: float | Sequence[float]) -> dt.Problem:
        """One point, or several."""
        return dt.Problem(
            features_per_dim=width, samples_per_dim=self.samples_per_dim, ridge=self.ridge,
            noise=self.noise, activation=self.activation,
        )  # fmt: skip

    def _runs(self, seed: int, sizes: Sizes, **options: Any) -> list[Any]:
        return [
            dt.simulate(
                self.problem(self.widths), dim=dim, n_data=draws, n_init=sizes.n_init,
                seed=seed, model=self.model, progress=False, **options,
            )
            for dim, draws in zip(sizes.dims, sizes.draws, strict=True)
        ]  # fmt: skip

    def _realized(self, run: Any, k: int) -> dt.Problem:
        """The k-th point at the sizes of a run."""
        return replace(
            self.problem(float(np.ravel(run.problem.features_per_dim)[k])),
            samples_per_dim=run.problem.samples_per_dim,
        )

    @property
    def _where(self) -> str:
        return (
            f"{self.model}, {self.activation}, N/D = {self.samples_per_dim:g}, λ = {self.ridge:g}"
        )


@dataclass(frozen=True, kw_only=True)
class Resampled(_OnCurve):
    """Members that draw samples, or features from a bank."""

    fraction: float = 0.6
    bank_per_dim: float = 3.0

    @property
    def name(self) -> str:
        """The name of this case, different from those of the others."""
        return f"Resampling: {self._where}, η = {self.fraction:g}, B/D = {self.bank_per_dim:g}"

    def rows(self, seed: int, sizes: Sizes, theory: Theory) -> list[Row]:
        """Every quantity."""
        runs = self._runs(seed, sizes, ensembles=self.ensembles(1))
        rows: list[Row] = []
        for k, width in enumerate(self.widths):
            for of_scheme in zip(*map(self.ensembles, MEMBERS), strict=True):
                for members, ensemble in zip(MEMBERS, of_scheme, strict=True):
                    requested = (self.problem(width), ensemble)
                    at = [(self._realized(run, k), run.realized(ensemble)) for run in runs]
                    rows += _rows(
                        width / self.samples_per_dim, ensemble.name, members,
                        EVERY if members == 1 else CHANGING,
                        partial(_of_scheme, theory), requested, at,
                        [_estimates(run.error(ensemble)) for run in runs], (k,), sizes,
                    )  # fmt: skip
        return rows

    def ensembles(self, members: float) -> list[dt.Scheme]:
        """Every ensemble of K members."""
        found: list[dt.Scheme] = [
            dt.Subsample(members, fraction=self.fraction), dt.Bootstrap(members)
        ]  # fmt: skip
        if self.model != "kernel":
            found.append(dt.FeatureBank(members, bank_per_dim=self.bank_per_dim))
        return found


@dataclass(frozen=True, kw_only=True)
class Flow(_OnCurve):
    """Gradient flow, stopped."""

    times: tuple[float, ...] = (0.5, 3.0, 20.0, 300.0)

    @property
    def name(self) -> str:
        """The name of this case, different from those of the others."""
        return f"Gradient flow: {self._where}"

    def rows(self, seed: int, sizes: Sizes, theory: Theory) -> list[Row]:
        """Every quantity."""
        runs = self._runs(seed, sizes, times=self.times)
        rows: list[Row] = []
        for k, width in enumerate(self.widths):
            for t, time in enumerate(self.times):
                for members in MEMBERS:
                    parts = EVERY if members == 1 else CHANGING
                    rows += _rows(
                        width / self.samples_per_dim, f"t = {time:g}", members,
                        [part for part in parts if part != "resampling"],
                        partial(_of_time, theory, members, time),
                        self.problem(width), [self._realized(run, k) for run in runs],
                        [_estimates(run.error(members)) for run in runs], (k, t), sizes,
                    )  # fmt: skip
        return rows


@dataclass(frozen=True, kw_only=True)
class Unequal:
    """Members with unequal features, data, ridge and activation."""

    members: tuple[dt.Member, ...]
    sharing: str | tuple[float, float]
    model: Model = "features"
    noise: float = 0.5

    @property
    def name(self) -> str:
        """The name of this case, different from those of the others."""
        shared = (
            self.sharing
            if isinstance(self.sharing, str)
            else f"P_ab/D = {self.sharing[0]:g}, N_ab/D = {self.sharing[1]:g}"
        )
        return f"Unequal members: {self.model}, in common {shared}"

    @property
    def described(self) -> list[str]:
        """Every member."""
        return [
            f"{one.activation}, P/D = {one.features_per_dim:g}, N/D = {one.samples_per_dim:g}, "
            f"λ = {one.ridge:g}"
            for one in self.members
        ]

    def rows(self, seed: int, sizes: Sizes, theory: Theory) -> list[Row]:
        """The product of errors of every two."""
        runs = [
            dt.simulate(
                self.members, sharing=self.sharing, noise=self.noise, dim=dim, n_data=draws,
                seed=seed, model=self.model, progress=False,
            )
            for dim, draws in zip(sizes.dims, sizes.draws, strict=True)
        ]  # fmt: skip
        rows: list[Row] = []
        wanted = overlaps(
            [float(np.asarray(one.features_per_dim)) for one in self.members],
            [float(np.asarray(one.samples_per_dim)) for one in self.members],
            self.sharing,
        )
        for a in range(len(self.members)):
            for b in range(a, len(self.members)):
                pairs = [
                    (one.members[a], one.members[b],
                     (one.shared_features[a, b], one.shared_samples[a, b]))
                    for one in runs
                ]  # fmt: skip
                requested = (self.members[a], self.members[b],
                         (wanted.features[a, b], wanted.samples[a, b]))  # fmt: skip
                rows += _rows(
                    math.nan, f"members {a + 1}, {b + 1}", math.nan, ["product"],
                    partial(_of_pair, theory, self.noise), requested, pairs,
                    [{"product": run.pair_errors} for run in runs], (a, b), sizes,
                )  # fmt: skip
        return rows


Case: TypeAlias = Resampled | Flow | Unequal

MIXED = (
    dt.Member(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-2, activation="relu"),
    dt.Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-1, activation="tanh"),
    dt.Member(features_per_dim=1.2, samples_per_dim=1.5, ridge=3e-2, activation="sign"),
)

BEYOND: tuple[Case, ...] = (
    Resampled(activation="relu", widths=(0.5, 2.0)),
    Resampled(activation="tanh", widths=(0.5, 2.0)),
    Resampled(activation="relu", model="gaussian", widths=(1.0,), samples_per_dim=2.0, ridge=1e-3),
    Resampled(activation="relu", model="kernel", widths=(math.inf,), fraction=0.4),
    Flow(activation="relu", widths=(0.5, 1.0, 2.0), ridge=0.0),
    Flow(activation="tanh", widths=(0.5, 2.0)),
    Flow(activation="relu", model="gaussian", widths=(1.5,), samples_per_dim=2.0, ridge=0.0),
    Unequal(members=MIXED, sharing="samples"),
    Unequal(members=MIXED, sharing="both"),
    Unequal(members=MIXED, sharing=(0.4, 0.5)),
    Unequal(members=MIXED, sharing="both", model="gaussian"),
    Unequal(members=MIXED, sharing=(0.4, 0.5), model="gaussian"),
)
