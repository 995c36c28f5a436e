"""What simulations beyond the paper are compared with."""

from collections.abc import Mapping
from typing import Protocol

import doubletrouble as dt
from doubletrouble.problems import Learner

EVERY = ("noise", "initialization", "resampling", "sampling", "bias", "total")

Parts = Mapping[str, float]


class Theory(Protocol):
    """What is compared with the simulation."""

    def error(self, problem: dt.Problem, members: float, scheme: str, options: Parts) -> Parts:
        """The error of members that draw samples, or features, by cause."""

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        """The error of an ensemble at a time of gradient flow, by cause."""

    def pair(self, a: Learner, b: Learner, shared: tuple[float, float], noise: float) -> float:
        """The product of two errors; `shared` are features and samples per dimension."""


class Library:
    """The theory of this project."""

    def error(self, problem: dt.Problem, members: float, scheme: str, options: Parts) -> Parts:
        """`exact_error`."""
        found = dt.exact_error(problem, n_members=members, scheme=scheme, **options)
        return {part: float(getattr(found, part)) for part in EVERY}

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        """`gradient_flow`."""
        found = dt.gradient_flow(problem, time, n_members=members)
        return {part: float(getattr(found, part)) for part in EVERY if part != "resampling"}

    def pair(self, a: Learner, b: Learner, shared: tuple[float, float], noise: float) -> float:
        """`pair_error`."""
        features, samples = shared
        found = dt.pair_error(
            a, b, shared_features=features, shared_samples=samples, noise=noise
        )  # fmt: skip
        return float(found)


class Wrong(Library):
    """The theory of something else, for negative controls: it must be noticed."""

    def error(self, problem: dt.Problem, members: float, scheme: str, options: Parts) -> Parts:
        """A bootstrap taken for the share of samples it has; a fraction taken for the whole."""
        if scheme == "bootstrap":
            return super().error(problem, members, "subbag", {"fraction": 0.632})
        whole = {"fraction": 1.0} if scheme == "subbag" else options
        return super().error(problem, members, scheme, whole)

    def flow(self, problem: dt.Problem, time: float, members: float) -> Parts:
        """Time in another unit."""
        return super().flow(problem, 2 * time, members)

    def pair(self, a: Learner, b: Learner, shared: tuple[float, float], noise: float) -> float:
        """No features in common."""
        return super().pair(a, b, shared if a == b else (0.0, shared[1]), noise)
