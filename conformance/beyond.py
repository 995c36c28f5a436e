"""Beyond the paper: members that draw samples or features, gradient flow, unequal learners.

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
from doubletrouble.problems import Learner
from doubletrouble.sharing import overlaps
from doubletrouble.simulation.committee import simulate_committee

MEMBERS = (1.0, 2.0, math.inf)
CHANGING = ("noise", "initialization", "resampling", "total")  # with K


def _of_scheme(theory: Theory, members: float, scheme: str, at: tuple[dt.Problem, Parts]) -> Parts:
    return theory.error(at[0], members, scheme, at[1])


def _of_time(theory: Theory, members: float, time: float, at: dt.Problem) -> Parts:
    return theory.flow(at, time, members)


def _of_pair(
    theory: Theory, noise: float, at: tuple[Learner, Learner, tuple[float, float]]
) -> Parts:
    return {"product": theory.pair(*at, noise)}


def _rows(
    ratio: float, scheme: str, members: float, parts: Sequence[str],
    theory: Callable[[Any], Parts], asked: Any, at: Sequence[Any],
    found: Sequence[Mapping[str, dt.Estimate]], index: tuple[int, ...], sizes: Sizes,
) -> Iterator[Row]:  # fmt: skip
    """Rows of one element of the results found at each size.

    Sizes are rounded: each is compared with the theory `at` its own, not with the one `asked` for.
    """
    wanted, real = theory(asked), [theory(one) for one in at]
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
    model: str = "features"

    def problem(self, width: float) -> dt.Problem:
        """One point."""
        return dt.Problem(
            features_per_dim=width, samples_per_dim=self.samples_per_dim, ridge=self.ridge,
            noise=self.noise, activation=self.activation,
        )  # fmt: skip

    def _runs(self, seed: int, sizes: Sizes, **options: Any) -> list[Any]:
        return [
            dt.simulate(
                self.problem(self.widths[0]), dim=dim, n_data=draws, n_init=sizes.n_init,
                seed=seed, model=self.model, widths=self.widths, progress=False, **options,
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
        """What tells this case from the others."""
        return f"Resampling: {self._where}, η = {self.fraction:g}, B/D = {self.bank_per_dim:g}"

    def rows(self, seed: int, sizes: Sizes, theory: Theory) -> list[Row]:
        """Every quantity."""
        kernel = self.model == "kernel"
        options: dict[str, Any] = {"schemes": ("subbag", "bootstrap"), "fraction": self.fraction}
        if not kernel:
            options["schemes"] += ("feature_bank",)
            options["bank_per_dim"] = self.bank_per_dim
        runs = self._runs(seed, sizes, **options)
        own = {"subbag": ("fraction",), "bootstrap": (), "feature_bank": ("bank_per_dim",)}
        rows: list[Row] = []
        for k, width in enumerate(self.widths):
            for scheme in options["schemes"]:
                asked = (self.problem(width), {n: getattr(self, n) for n in own[scheme]})
                at = [
                    (self._realized(run, k), {n: getattr(run, n) for n in own[scheme]})
                    for run in runs
                ]
                for members in MEMBERS:
                    rows += _rows(
                        width / self.samples_per_dim, scheme, members,
                        EVERY if members == 1 else CHANGING,
                        partial(_of_scheme, theory, members, scheme), asked, at,
                        [vars(run.error(members, scheme)) for run in runs], (k,), sizes,
                    )  # fmt: skip
        return rows


@dataclass(frozen=True, kw_only=True)
class Flow(_OnCurve):
    """Gradient flow, stopped."""

    times: tuple[float, ...] = (0.5, 3.0, 20.0, 300.0)

    @property
    def name(self) -> str:
        """What tells this case from the others."""
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
                        [vars(run.error(members)) for run in runs], (k, t), sizes,
                    )  # fmt: skip
        return rows


@dataclass(frozen=True, kw_only=True)
class Unequal:
    """Learners of unequal width, data, ridge and activation."""

    learners: tuple[Learner, ...]
    sharing: str | tuple[float, float]
    model: str = "features"
    noise: float = 0.5

    @property
    def name(self) -> str:
        """What tells this case from the others."""
        shared = (
            self.sharing
            if isinstance(self.sharing, str)
            else f"P_ab/D = {self.sharing[0]:g}, N_ab/D = {self.sharing[1]:g}"
        )
        return f"Unequal learners: {self.model}, in common {shared}"

    @property
    def described(self) -> list[str]:
        """Every learner."""
        return [
            f"{one.activation}, P/D = {one.features_per_dim:g}, N/D = {one.samples_per_dim:g}, "
            f"λ = {one.ridge:g}"
            for one in self.learners
        ]

    def rows(self, seed: int, sizes: Sizes, theory: Theory) -> list[Row]:
        """The product of errors of every two."""
        runs = [
            simulate_committee(
                self.learners, sharing=self.sharing, noise=self.noise, dim=dim, n_draws=draws,
                seed=seed, model=self.model, progress=False,
            )
            for dim, draws in zip(sizes.dims, sizes.draws, strict=True)
        ]  # fmt: skip
        rows: list[Row] = []
        wanted = overlaps(
            [float(np.asarray(one.features_per_dim)) for one in self.learners],
            [float(np.asarray(one.samples_per_dim)) for one in self.learners],
            self.sharing,
        )
        for a in range(len(self.learners)):
            for b in range(a, len(self.learners)):
                pairs = [
                    (one.learners[a], one.learners[b],
                     (one.shared_features[a, b], one.shared_samples[a, b]))
                    for one in runs
                ]  # fmt: skip
                asked = (self.learners[a], self.learners[b],
                         (wanted.features[a, b], wanted.samples[a, b]))  # fmt: skip
                rows += _rows(
                    math.nan, f"learners {a + 1}, {b + 1}", math.nan, ["product"],
                    partial(_of_pair, theory, self.noise), asked, pairs,
                    [{"product": run.pair_errors} for run in runs], (a, b), sizes,
                )  # fmt: skip
        return rows


Case: TypeAlias = Resampled | Flow | Unequal

MIXED = (
    Learner(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-2, activation="relu"),
    Learner(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-1, activation="tanh"),
    Learner(features_per_dim=1.2, samples_per_dim=1.5, ridge=3e-2, activation="sign"),
)

BEYOND: tuple[Case, ...] = (
    Resampled(activation="relu", widths=(0.5, 2.0)),
    Resampled(activation="tanh", widths=(0.5, 2.0)),
    Resampled(activation="relu", model="gaussian", widths=(1.0,), samples_per_dim=2.0, ridge=1e-3),
    Resampled(activation="relu", model="kernel", widths=(math.inf,), fraction=0.4),
    Flow(activation="relu", widths=(0.5, 1.0, 2.0), ridge=0.0),
    Flow(activation="tanh", widths=(0.5, 2.0)),
    Flow(activation="relu", model="gaussian", widths=(1.5,), samples_per_dim=2.0, ridge=0.0),
    Unequal(learners=MIXED, sharing="samples"),
    Unequal(learners=MIXED, sharing="both"),
    Unequal(learners=MIXED, sharing=(0.4, 0.5)),
    Unequal(learners=MIXED, sharing="both", model="gaussian"),
    Unequal(learners=MIXED, sharing=(0.4, 0.5), model="gaussian"),
)
