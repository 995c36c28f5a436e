"""A problem as numbers: what the formulas are evaluated at, point by point."""

from typing import NamedTuple, TypeAlias

import numpy as np

from doubletrouble.glossary import BANK_PER_DIM, FRACTION, N_BANK, N_MEMBERS
from doubletrouble.parameters import FloatArray, Numeric, Value, checked, common_shape, refuse
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.sharing import RESAMPLED, SCHEMES
from doubletrouble.theory.modes import Modes, modes_of

AnyProblem: TypeAlias = Problem | SpectralProblem


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
    portion: FloatArray  # of the samples, or of the bank, that each member draws

    def each(self, scheme: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P and N of each member, and P - N to full precision where they are close."""
        if scheme == "subbag":
            part = self.samples * self.portion
            spare = self.features - part
        elif scheme == "divide":
            part = self.samples / self.members
            left = _remainder(self.samples, part, self.members)
            spare = (self.features - part) - left / self.members
        else:
            return self.features, self.samples, self.features - self.samples
        # P = N/K is meant when the floats given for P and N cannot tell
        spare = np.where(np.abs(spare) <= 2.5e-16 * part, 0.0, spare)
        return self.features, part, spare


_INSTEAD = {"bootstrap": ", which draws N of the N samples ('subbag' draws fewer)"}


class Drawing(NamedTuple):
    """What members draw, as it was asked for; None where it was not."""

    fraction: Numeric | None = None  # of the samples
    bank_per_dim: Numeric | None = None  # features to choose from, per dimension
    n_bank: Numeric | None = None  # the same for a measured spectrum, in features

    def portion(self, problem: AnyProblem, scheme: str) -> Value:
        """Of the samples, or of the bank, that each member draws; checked."""
        bank = "bank_per_dim" if isinstance(problem, Problem) else "n_bank"
        wanted = {"subbag": "fraction", "feature_bank": bank}.get(scheme)
        for name, value in self._asdict().items():
            if value is not None and name != wanted:
                what = f"scheme {scheme!r} of a {type(problem).__name__}{_INSTEAD.get(scheme, '')}"
                raise ValueError(f"{name} must be left out for {what}, got {value!r}")
        if wanted and getattr(self, wanted) is None:
            raise ValueError(f"{wanted} must be given for scheme {scheme!r}, got None")
        if scheme == "subbag":
            return checked("fraction", self.fraction, FRACTION)  # type: ignore[arg-type]
        if scheme != "feature_bank":
            return 1.0
        spec = BANK_PER_DIM if isinstance(problem, Problem) else N_BANK
        size = checked(bank, getattr(self, bank), spec)
        width = getattr(problem, "features_per_dim" if spec is BANK_PER_DIM else "n_features")
        common_shape({"the problem's fields": problem.shape, bank: size})
        few = np.asarray(size) < np.asarray(width)
        refuse(bank, np.broadcast_to(size, few.shape) if few.ndim else size, few,
               "at least the features of one member")  # fmt: skip
        with np.errstate(invalid="ignore"):
            portion = np.fmin(np.divide(width, size), 1.0)  # inf/inf: nothing is shared anyway
        return portion if np.ndim(portion) else float(portion)


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
    problem: AnyProblem, n_members: Numeric, scheme: str, draw: "Drawing | None" = None
) -> tuple[Modes, Point, tuple[int, ...]]:
    """Check the arguments; return the modes, the numbers, and the shape they broadcast to.

    Where members may draw from a common set, `draw` says how much.
    """
    if not isinstance(problem, Problem | SpectralProblem):
        raise TypeError(
            f"problem must be a Problem or a SpectralProblem, got {type(problem).__name__}"
        )
    known = SCHEMES if draw is None else SCHEMES + RESAMPLED
    if not isinstance(scheme, str) or scheme not in known:
        raise ValueError(f"scheme must be one of {', '.join(known)}, got {scheme!r}")
    members = checked("n_members", n_members, N_MEMBERS)
    if isinstance(problem, Problem):
        sizes = (problem.features_per_dim, problem.samples_per_dim)
        signal = problem.signal
    else:
        sizes = (problem.n_features, problem.n_samples)
        signal = float(np.sqrt(np.sum(problem.target_powers)))
    portion: Value = 1.0 if draw is None else draw.portion(problem, scheme)
    values = (*sizes, problem.ridge, signal, problem.nonlinear_signal, problem.noise,
              problem.test_noise, members, portion)  # fmt: skip
    names = {"the problem's fields": problem.shape, "n_members": members}
    shape = common_shape(names if draw is None else names | {"what members draw": portion})
    return modes_of(problem), Point(*values), shape  # type: ignore[arg-type]
