"""The theories that simulations beyond the paper are compared with."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import doubletrouble as dt

EVERY = ("noise", "initialization", "resampling", "sampling", "bias", "total")

Parts = Mapping[str, float]


class Theory(Protocol):
    """A theory to compare with the simulation."""

    def error(self, problem: dt.Problem, ensemble: dt.Scheme) -> Parts:
        """The error of members that draw samples, or features, by cause."""

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        """The error of an ensemble at a time of gradient flow, by cause."""

    def pair(self, a: dt.Member, b: dt.Member, shared: tuple[float, float], noise: float) -> float:
        """The product of two errors; `shared` are features and samples per dimension."""


class Library:
    """The theory of this project."""

    def error(self, problem: dt.Problem, ensemble: dt.Scheme) -> Parts:
        """`exact_error`."""
        found = dt.exact_error(problem, ensemble)
        return {part: float(getattr(found, part)) for part in EVERY}

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        """`gradient_flow`."""
        found = dt.gradient_flow(problem, time, members)
        return {part: float(getattr(found, part)) for part in EVERY if part != "resampling"}

    def pair(self, a: dt.Member, b: dt.Member, shared: tuple[float, float], noise: float) -> float:
        """`pair_error`."""
        features, samples = shared
        found = dt.pair_error(
            a, b, shared_features=features, shared_samples=samples, noise=noise
        )  # fmt: skip
        return float(found.total)


class Wrong(Library):
    """The theory of something else, for negative controls: it must be noticed."""

    def error(self, problem: dt.Problem, ensemble: dt.Scheme) -> Parts:
        """A bootstrap taken for the share of samples it has; a fraction taken for the whole."""
        if isinstance(ensemble, dt.Bootstrap):
            return super().error(problem, dt.Subsample(ensemble.n_members, fraction=0.632))
        if isinstance(ensemble, dt.Subsample):
            return super().error(problem, replace(ensemble, fraction=1.0))
        return super().error(problem, ensemble)

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        """Time in another unit."""
        return super().flow(problem, 2 * time, members)

    def pair(self, a: dt.Member, b: dt.Member, shared: tuple[float, float], noise: float) -> float:
        """No features in common."""
        return super().pair(a, b, shared if a == b else (0.0, shared[1]), noise)
