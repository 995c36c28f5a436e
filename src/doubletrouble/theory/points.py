"""A problem as numbers: what the formulas are evaluated at, point by point."""

from typing import NamedTuple, TypeAlias

import numpy as np

from doubletrouble.glossary import N_MEMBERS
from doubletrouble.parameters import FloatArray, Numeric, checked, common_shape
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

    def each(self, scheme: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P and N of each member, and P - N to full precision where they are close."""
        if scheme == "ensemble":
            return self.features, self.samples, self.features - self.samples
        part = self.samples / self.members
        spare = (self.features - part) - _remainder(self.samples, part, self.members) / self.members
        # P = N/K is meant when the floats given for P and N cannot tell
        spare = np.where(np.abs(spare) <= 2.5e-16 * part, 0.0, spare)
        return self.features, part, spare


def _remainder(whole: FloatArray, part: FloatArray, count: FloatArray) -> FloatArray:
    """Whole - part · count without rounding, by Dekker's exact product."""
    product, halves = part * count, []
    for factor in (part, count):
        high = factor * 134217729.0  # 2²⁷ + 1
        high = high - (high - factor)
        halves.append((high, factor - high))
    (a, b), (c, d) = halves
    error = ((a * c - product) + a * d + b * c) + b * d
    return np.where(count < 1e15, (whole - product) - error, 0.0)


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
    shape = common_shape({"the problem's fields": problem.shape, "n_members": members})
    return modes_of(problem), Point(*values), shape  # type: ignore[arg-type]
