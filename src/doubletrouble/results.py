"""What the computations return: named parts that add up to a total.

Fields are Python floats, or arrays of the shape the problem broadcasts to.
"""

import math
from dataclasses import dataclass, field, fields
from typing import Generic, Self, TypeVar

import numpy as np

from doubletrouble.parameters import FloatArray, Value

Term = TypeVar("Term")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Result:
    """Compare by value, arrays included."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return False
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(a == b if isinstance(a, _Result) else np.array_equal(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Parts(_Result):
    """Parts of an error by cause; `total` is their sum, and str() a small table."""

    @property
    def total(self) -> Value:
        """The sum of all parts."""
        first, *others = (getattr(self, f.name) for f in fields(self))
        with np.errstate(over="ignore"):  # what does not fit a float is inf
            total: Value = sum(others, first)
        return total

    def __str__(self) -> str:
        """One line a part, with its share of the total; the plain repr for arrays."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        if any(isinstance(part, np.ndarray) for part in parts.values()):
            return repr(self)
        total, width = float(self.total), max(map(len, parts))
        lines = []
        for name, part in parts.items():
            share = f"{part / total:7.1%}" if 0 < total < np.inf else ""
            lines.append(f"{name.replace('_', ' × '):<{width + 4}} {part:12.6g} {share}".rstrip())
        return "\n".join([*lines, f"{'total':<{width + 4}} {total:12.6g}"])


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorTerms(_Parts):
    """The test error by cause, in the paper's sequential order; the parts add up to `total`.

    >>> terms = ErrorTerms(noise=1.0, initialization=0.5, sampling=0.25, bias=0.25, bayes=0.0)
    >>> terms.total
    2.0
    """

    noise: Value  # label noise of the training set
    initialization: Value  # the draw of the random features
    sampling: Value  # the draw of the training inputs
    bias: Value  # what remains when everything is averaged
    bayes: Value  # label noise of the test set


@dataclass(frozen=True, kw_only=True, eq=False)
class ResampledErrorTerms(ErrorTerms):
    """The test error by cause where members draw samples, or features, from a common set.

    `resampling` is what the choice alone adds: for samples, the variance, over each member's
    choice, of what is expected of it over its features; for a bank of features, the variance over
    the choice of features from a given bank. Then `initialization` is what is left of the
    variance that the features cause: given the choice of samples, or over banks.
    """

    resampling: Value


@dataclass(frozen=True, kw_only=True, eq=False)
class AnovaTerms(_Parts):
    """The test error by cause, main effects and interactions apart [adlam2020].

    In the paper's terms: sampling is `sampling`; initialization is `initialization` +
    `initialization_sampling`; noise is `noise_sampling` + `noise_initialization_sampling`.
    Only the interactions with the initialization diverge at P = N.
    """

    bias: Value
    initialization: Value  # V_P: the features alone
    sampling: Value  # V_X: the inputs alone
    initialization_sampling: Value  # V_PX: features and inputs together
    noise_sampling: Value  # V_Xε: label noise seen through the inputs
    noise_initialization_sampling: Value  # V_PXε: label noise seen through inputs and features
    bayes: Value


@dataclass(frozen=True, kw_only=True, eq=False)
class PsiTerms(_Result, Generic[Term]):
    """The dimensionless terms of [dascoli2020] Eqs. (12)-(17), and one the paper lacks."""

    psi1: Term  # overlap of teacher and student
    psi2_vanilla: Term  # power of the noise-free student
    psi3_vanilla: Term  # response to label noise
    psi2_ensemble: Term  # overlap of two students: same data, fresh features
    psi3_ensemble: Term
    psi2_divide: Term  # overlap of two students: fresh data, fresh features
    psi2_features: Term  # overlap of two students: fresh data, same features; not in the paper


@dataclass(frozen=True, kw_only=True, eq=False)
class OptimalRidge(_Result):
    """The ridge of least total test error (0 and inf are answers), and the error there."""

    ridge: Value
    error: ErrorTerms


@dataclass(frozen=True, kw_only=True, eq=False)
class Committee(_Result):
    """The exact test error of learners averaged with weights, and what it is made of.

    `terms` has the error by cause. `pair_errors` are E (f⋆ - f_a)(f⋆ - f_b) of every two members at
    test points without noise: with weights w the error is wᵀ R w, and the noise of test labels.
    `shared_features` and `shared_samples` are what every two have in common.
    """

    error: float
    weights: FloatArray  # (K,)
    pair_errors: FloatArray  # (K, K): E (f⋆ - f_a)(f⋆ - f_b)
    terms: ErrorTerms  # `error` by cause
    shared_features: FloatArray  # (K, K), the members' own sizes on the diagonal
    shared_samples: FloatArray  # (K, K)

    def __str__(self) -> str:
        """The error by cause, and a line a member: its weight, and its products with the others."""
        rows = zip(self.weights, self.pair_errors, strict=True)
        lines = [
            f"{place:>6} {weight:>10.4g}   " + " ".join(f"{value:>9.4g}" for value in row)
            for place, (weight, row) in enumerate(rows, start=1)
        ]
        return "\n".join([str(self.terms), "", "member     weight   error with each", *lines])


@dataclass(frozen=True, kw_only=True, eq=False)
class StoppingTime(_Result):
    """The time of least total test error along gradient flow, and the error there.

    `ridge` is what the best ridge reaches, trained to the end.
    """

    time: Value
    error: ErrorTerms
    ridge: OptimalRidge

    def __str__(self) -> str:
        """The time, the error there by cause, and the best ridge; the plain repr for arrays."""
        if np.ndim(self.time):
            return repr(self)
        other = f"{self.ridge.error.total:.6g} at the best ridge, {self.ridge.ridge:.6g}"
        return f"best time to stop: {self.time:.6g}\n{self.error}\ninstead: {other}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate(_Result):
    """A mean over independent draws, with its standard error; numbers, or arrays of one shape.

    >>> Estimate.of(np.array([1.0, 2.0, 3.0]))
    Estimate(value=2.0, standard_error=0.5773502691896258, n_draws=3)
    """

    value: Value
    standard_error: Value
    n_draws: int
    confidence: float = field(default=0.95, repr=False)  # of `interval`

    def __post_init__(self) -> None:
        check_confidence(self.confidence)

    @classmethod
    def of(cls, draws: FloatArray) -> Self:
        """The mean of independent draws, along the first axis."""
        count = draws.shape[0]
        mean = draws.mean(axis=0)
        spread = draws.std(axis=0, ddof=1) if count > 1 else np.full_like(mean, math.inf)
        return cls(
            value=_plain(mean), standard_error=_plain(spread / math.sqrt(count)), n_draws=count
        )

    @property
    def interval(self) -> "Interval":
        """A confidence interval for the mean, by Student's distribution.

        It is at `confidence`; called with another one, at that.

        >>> estimate = Estimate(value=1.0, standard_error=0.1, n_draws=10)
        >>> low, high = estimate.interval
        >>> round(low, 3), round(high, 3), round(estimate.interval(0.99).low, 3)
        (0.774, 1.226, 0.675)
        """
        return Interval.of(self, self.confidence)

    def z_score(self, expected: Value) -> Value:
        """How many standard errors the mean lies above an expected value; 0 where they agree.

        >>> Estimate(value=1.0, standard_error=0.25, n_draws=10).z_score(0.5)
        2.0
        """
        off = np.asarray(self.value - expected)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plain(np.where(off == 0, 0.0, off / np.asarray(self.standard_error)))


class Interval(tuple[Value, Value]):
    """The lower and the upper end of a confidence interval.

    Called with another confidence, it is the interval at that.
    """

    _estimate: Estimate

    @classmethod
    def of(cls, estimate: Estimate, confidence: float) -> Self:
        """The interval of an estimate."""
        check_confidence(confidence)
        from scipy.special import stdtrit

        few = estimate.n_draws < 2  # one draw says nothing of its spread
        quantile = 1.0 if few else float(stdtrit(estimate.n_draws - 1, 0.5 + confidence / 2))
        reach = quantile * estimate.standard_error
        found = cls((estimate.value - reach, estimate.value + reach))
        found._estimate = estimate
        return found

    @property
    def low(self) -> Value:
        """The lower end."""
        return self[0]

    @property
    def high(self) -> Value:
        """The upper end."""
        return self[1]

    def __call__(self, confidence: float = 0.95) -> "Interval":
        """The interval of the same estimate at another confidence."""
        return Interval.of(self._estimate, confidence)

    def __reduce__(self) -> tuple[object, ...]:
        return Interval.of, (self._estimate, self._estimate.confidence)


def check_confidence(confidence: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), got {confidence!r}")


def _plain(array: FloatArray) -> Value:
    """A Python float for a scalar."""
    return array if np.ndim(array) else float(array)
