"""A problem as numbers: what the formulas are evaluated at, point by point."""

from typing import NamedTuple, TypeAlias

import numpy as np

from doubletrouble.parameters import N_MEMBERS, FloatArray, Numeric, checked, common_shape
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory.modes import Modes, modes_of

AnyProblem: TypeAlias = Problem | SpectralProblem

SCHEMES = ("ensemble", "divide")


class Point(NamedTuple):
    """The numbers of a problem of either kind, and of the ensemble built on it."""

    features: FloatArray  # P/D, or P for a measured spectrum
    samples: FloatArray  # N/D, or N
    ridge: FloatArray
    signal: FloatArray
    nonlinear_signal: FloatArray
    noise: FloatArray
    test_noise: FloatArray
    members: FloatArray

    def shares(self, scheme: str) -> tuple[FloatArray, FloatArray]:
        """What averaging leaves of a variance that comes with the data, and with each member."""
        member = 1 / self.members
        return (member if scheme == "divide" else np.ones_like(member)), member

    def samples_each(self, scheme: str) -> FloatArray:
        """The samples each member is trained on."""
        return self.samples / self.members if scheme == "divide" else self.samples


def prepare(
    problem: AnyProblem, n_members: Numeric, scheme: str
) -> tuple[Modes, Point, tuple[int, ...]]:
    """Check the arguments; return the modes, the numbers, and the shape they broadcast to."""
    if not isinstance(problem, Problem | SpectralProblem):
        raise TypeError(
            f"problem must be a Problem or a SpectralProblem, got {type(problem).__name__}"
        )
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    members = checked("n_members", n_members, N_MEMBERS)
    if isinstance(problem, Problem):
        sizes = (problem.features_per_dim, problem.samples_per_dim)
        signal = problem.signal
    else:
        sizes = (problem.n_features, problem.n_samples)
        signal = float(np.sqrt(np.sum(problem.target_powers)))
    values = (*sizes, problem.ridge, signal, problem.nonlinear_signal, problem.noise,
              problem.test_noise, members)  # fmt: skip
    shape = problem.shape
    if not isinstance(members, float):
        others = np.broadcast_to(np.float64(0.0), shape) if shape else 0.0
        shape = common_shape({"the problem's fields": others, "n_members": members})
    return modes_of(problem), Point(*values), shape  # type: ignore[arg-type]
