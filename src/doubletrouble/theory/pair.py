r"""The product of two learners' errors, E (f⋆ - f_a)(f⋆ - f_b), and its parts.

All of it is the formula of `meeting`, at the balance of each learner. The parts mean for a product
what they mean for a square: bias is what is left when each learner is averaged over features, data
and noise; sampling is the covariance that the samples in common cause; initialization that of the
features in common; noise that of the label noise on the samples in common.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import correlation
from doubletrouble.parameters import FloatArray, Numeric, Value, checked, common_shape
from doubletrouble.problems import USUAL, Learner, SpectralProblem
from doubletrouble.results import ErrorTerms
from doubletrouble.sharing import shared
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.blocks import BLOCK, blockwise
from doubletrouble.theory.error import causes
from doubletrouble.theory.evaluate import Weights, zero_wins
from doubletrouble.theory.meeting import Parts, Shares, meet, parts
from doubletrouble.theory.modes import BoolArray, IsotropicModes, Modes, SpectralModes
from doubletrouble.theory.split import at_limits, solvable

AnyLearner: TypeAlias = Learner | SpectralProblem

_COMMON = ("eigenvalues", "target_powers", "tail", "noise", "nonlinear_signal", "test_noise")


class Student(NamedTuple):
    """A learner, solved."""

    features: FloatArray
    samples: FloatArray
    balance: Balance
    limit: BoolArray  # where a limit stands for it

    @classmethod
    def of(
        cls, modes: Modes, features: FloatArray, samples: FloatArray, ridge: FloatArray
    ) -> Student:
        """Solve the balance equation, limits included."""
        r = modes.scaled_ridge(ridge, samples)
        solved, r, limit = solvable(modes, features, samples, r)
        return cls(features, solved, modes.solve(features, solved, features - samples, r), limit)

    def take(self, index: Any) -> Student:
        """Some of several students."""
        balance = Balance(*(v[..., index] for v in self.balance))
        return Student(self.features[index], self.samples[index], balance, self.limit[index])


class Powers(NamedTuple):
    """What is to be learned, and what disturbs it."""

    signal: Value
    nonlinear_signal: Value
    noise: Value

    @classmethod
    def of(
        cls, learners: Sequence[AnyLearner], signal: Numeric | None, noise: Numeric | None,
        nonlinear_signal: Numeric | None,
    ) -> Powers:  # fmt: skip
        """What was said, checked; a measured spectrum brings its own."""
        given = {"signal": signal, "nonlinear_signal": nonlinear_signal, "noise": noise}
        first = learners[0]
        if isinstance(first, SpectralProblem):
            for name, value in given.items():
                if value is not None:
                    raise ValueError(
                        f"{name} must be left out, as a SpectralProblem has it, got {value!r}"
                    )
            power = float(np.sqrt(np.sum(first.target_powers)))
            return cls(power, first.nonlinear_signal, first.noise)  # type: ignore[arg-type]
        specs = (glossary.SIGNAL, glossary.NONLINEAR_SIGNAL, glossary.NOISE)
        return cls(*(
            checked(name, USUAL[name] if value is None else value, spec)
            for (name, value), spec in zip(given.items(), specs, strict=True)
        ))  # fmt: skip


def pair_error(
    a: AnyLearner, b: AnyLearner, *, shared_features: Numeric = 0.0, shared_samples: Numeric = 0.0,
    signal: Numeric | None = None, noise: Numeric | None = None,
    nonlinear_signal: Numeric | None = None,
) -> Value:  # fmt: skip
    """Return E (f⋆ - f_a)(f⋆ - f_b), the average product of two learners' errors at test points.

    `shared_features` and `shared_samples` are what they have in common, counted like the sizes of
    the learners themselves: per dimension for a `Learner`, in features and samples for two
    `SpectralProblem`s with the same spectrum. `signal` F is 1, `noise` τ is 1 and
    `nonlinear_signal` F⋆ is 0 unless given. Everything but the activation may be an array. Test
    points are without noise. The ridge of a `SpectralProblem` is δ on its own Gram matrix: a
    member of divided data, or of a bag, has it in proportion to its samples.

    >>> from doubletrouble import Learner
    >>> a = Learner(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3)
    >>> b = Learner(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-2, activation="tanh")
    >>> round(pair_error(a, b, shared_features=0.3, shared_samples=0.8, noise=0.5), 6)
    0.458124
    """
    return pair_terms(
        a, b, shared_features=shared_features, shared_samples=shared_samples, signal=signal,
        noise=noise, nonlinear_signal=nonlinear_signal,
    ).total  # fmt: skip


def pair_terms(
    a: AnyLearner, b: AnyLearner, *, shared_features: Numeric = 0.0, shared_samples: Numeric = 0.0,
    signal: Numeric | None = None, noise: Numeric | None = None,
    nonlinear_signal: Numeric | None = None,
) -> ErrorTerms:  # fmt: skip
    """Return the product of two learners' errors by cause; the arguments are those of `pair_error`.

    What two learners do not share cannot covary: without features in common there is no
    `initialization`, without samples no `sampling` and no `noise`.

    >>> from doubletrouble import Learner
    >>> a = Learner(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3)
    >>> pair_terms(a, a, shared_samples=1.0).initialization
    0.0
    """
    both = checked_learners((a, b))
    powers = Powers.of(both, signal, noise, nonlinear_signal)
    (P_a, N_a), (P_b, N_b) = (sizes(one) for one in both)
    k = shared("shared_features", shared_features, glossary.SHARED_FEATURES, P_a, P_b)
    n = shared("shared_samples", shared_samples, glossary.SHARED_SAMPLES, N_a, N_b)
    kinship = kinship_of(a, b) if np.any(k) else 0.0 if activations_differ(a, b) else None
    first, second = modes_of_learner(a), modes_of_learner(b)
    inputs: Any = (P_a, N_a, a.ridge, P_b, N_b, b.ridge, k, n, *powers)
    names: Any = {"the fields of a": a.shape, "the fields of b": b.shape}
    names |= {"shared_features": k, "shared_samples": n, **powers._asdict()}

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        P_a, N_a, r_a, P_b, N_b, r_b, k, n, *amplitudes = np.broadcast_arrays(*values)
        one, other = Student.of(first, P_a, N_a, r_a), Student.of(second, P_b, N_b, r_b)
        return covariances(pair_parts(one, other, first, k, n, kinship), *amplitudes)

    block = max(1, BLOCK // first.cost)
    noise_, initialization, sampling, bias = blockwise(
        kernel,
        inputs,
        common_shape(names),
        block=block,
    )
    none = 0.0 if isinstance(bias, float) else np.zeros_like(bias)
    return ErrorTerms(
        noise=noise_, initialization=initialization, sampling=sampling, bias=bias, bayes=none
    )


def pair_parts(
    a: Student, b: Student, modes: Modes, features: FloatArray, samples: FloatArray,
    kinship: float | FloatArray | None,
) -> Parts:  # fmt: skip
    """The parts of the product of two students that share this many features and samples."""
    of_features = np.nan_to_num(features / b.features)  # inf/inf: infinitely many share nothing
    # what is left of a data set too small to be one is shared in the same proportion
    of_samples = np.fmin(samples / a.samples, 1.0)
    shares = Shares(a.features, b.samples, of_features, of_samples)
    found = parts(meet(a.balance, b.balance, modes, shares, kinship))
    return Parts(*at_limits(found, np.asarray(a.limit | b.limit)))


def covariances(
    p: Parts, signal: FloatArray, nonlinear_signal: FloatArray, noise: FloatArray
) -> tuple[FloatArray, ...]:
    """Noise, initialization, sampling and bias of a product."""
    one = np.ones_like(signal)
    weights = Weights(one, one, signal**2, nonlinear_signal**2, noise**2)
    return causes(p, weights, zero_wins)  # type: ignore[arg-type]


def checked_learners(learners: Sequence[Any]) -> Sequence[AnyLearner]:
    """Learners of one kind, about one spectrum; or a sentence."""
    first = learners[0]
    for one in learners:
        if not isinstance(one, Learner | SpectralProblem):
            raise TypeError(
                f"learners must be Learners or SpectralProblems, got {type(one).__name__}"
            )
        if type(one) is not type(first):
            kinds = f"{type(first).__name__} and {type(one).__name__}"
            raise TypeError(f"learners must be of one kind, got {kinds}")
        if isinstance(first, SpectralProblem):
            for field in _COMMON:
                both = (getattr(first, field), getattr(one, field))
                if not np.array_equal(*both):
                    shown = " and ".join(np.array2string(np.asarray(v), threshold=4) for v in both)
                    raise ValueError(f"{field} must be the same for all learners, got {shown}")
    return learners


def bayes_of(learner: AnyLearner) -> Value:
    """The error that the noise of test labels makes, whatever is learned."""
    noise = learner.test_noise if isinstance(learner, SpectralProblem) else 0.0
    squared = np.square(noise)
    return squared if np.ndim(squared) else float(squared)


def sizes(learner: AnyLearner) -> tuple[Value, Value]:
    """P and N in the learner's units."""
    if isinstance(learner, Learner):
        return learner.features_per_dim, learner.samples_per_dim  # type: ignore[return-value]
    return learner.n_features, learner.n_samples  # type: ignore[return-value]


def modes_of_learner(learner: AnyLearner) -> Modes:
    """The levels that a learner sees."""
    if isinstance(learner, Learner):
        return IsotropicModes(learner)
    return SpectralModes(learner)


def activations_differ(a: AnyLearner, b: AnyLearner) -> bool:
    """Whether two learners see the same weights differently."""
    return isinstance(a, Learner) and isinstance(b, Learner) and a.moments != b.moments


def kinship_of(a: AnyLearner, b: AnyLearner) -> float | None:
    """κ of two activations; None for one."""
    if not (isinstance(a, Learner) and isinstance(b, Learner) and activations_differ(a, b)):
        return None
    sign = -1.0 if a.moments.linear * b.moments.linear < 0 else 1.0
    return sign * correlation(a.moments, b.moments)
