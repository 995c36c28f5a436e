r"""The test error by cause, the training error, and the paper's Ψ terms.

With the split of unit powers (`split`) and K models averaged, [dascoli2020] Sec. 5 reads

    noise = τ² (N_s + N_o/K)                  initialization = (F² (V_P + V_PX) + F⋆² N_o)/K
    sampling = F² V_X + F⋆² N_s               bias = F² ρ + F⋆²

for an ensemble on one data set. Dividing the data into K parts puts N/K in place of N and makes
the learners independent, so that every variance is divided by K ([dascoli2020] App. A.2). The
nonlinear teacher F⋆ is responded to as noise, but it is a function of the inputs, so by the
paper's definitions its fluctuation is sampling and initialization variance, not noise.

The training error is the test error on noisy labels, times the square of the unused fraction of
the samples (generalized cross-validation, exact here), also across learners.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from doubletrouble.parameters import FloatArray, Numeric, Value
from doubletrouble.problems import Problem
from doubletrouble.results import AnovaTerms, ErrorTerms, PsiTerms
from doubletrouble.theory.blocks import BLOCK, blockwise
from doubletrouble.theory.points import AnyProblem, Point, prepare
from doubletrouble.theory.split import Split, split_at

Combination: TypeAlias = Callable[..., tuple[FloatArray, ...]]


def psi_terms(problem: Problem) -> PsiTerms:
    """Return the paper's dimensionless terms Ψ (and Ψ₂ᵖ, for shared features and fresh data).

    >>> from doubletrouble import Problem
    >>> terms = psi_terms(Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1))
    >>> round(terms.psi1, 5), round(terms.psi2_vanilla, 5), round(terms.psi3_ensemble, 5)
    (0.39157, 0.37695, 0.1811)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")

    modes, point, _ = prepare(problem, 1, "ensemble")

    def kernel(
        features: FloatArray, samples: FloatArray, ridge: FloatArray
    ) -> tuple[FloatArray, ...]:
        p = split_at(modes, features, samples, modes.scaled_ridge(ridge, samples))
        ensemble = p.square + p.data
        return (
            p.overlap,
            ensemble + p.features + p.features_data,
            p.noise_shared + p.noise_own,
            ensemble,
            p.noise_shared,
            p.square,
            p.square + p.features,
        )

    inputs = (point.features, point.samples, point.ridge)
    values = blockwise(kernel, inputs, np.broadcast_shapes(*(np.shape(v) for v in inputs)))
    names = ("psi1", "psi2_vanilla", "psi3_vanilla", "psi2_ensemble", "psi3_ensemble",
             "psi2_divide", "psi2_features")  # fmt: skip
    return PsiTerms(**dict(zip(names, values, strict=True)))


def exact_error(
    problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble"
) -> ErrorTerms:
    """Return the exact test error of K averaged models, split by cause.

    `scheme="ensemble"`: all members see all samples; `scheme="divide"`: each of the K members
    sees its own N/K of them. `n_members` may be `math.inf`.

    >>> from doubletrouble import Problem
    >>> problem = Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
    >>> print(exact_error(problem, n_members=10))
    noise                  0.538322   61.8%
    initialization        0.0447761    5.1%
    sampling              0.0879596   10.1%
    bias                   0.200651   23.0%
    bayes                         0    0.0%
    total                   0.87171
    """

    def combine(p: Split, data: FloatArray, member: FloatArray, F2: FloatArray, G2: FloatArray,
                T2: FloatArray, times: Any) -> tuple[FloatArray, ...]:  # fmt: skip
        return (
            times(T2, times(data, p.noise_shared) + times(member, p.noise_own)),
            times(member, times(F2, p.features + p.features_data) + times(G2, p.noise_own)),
            times(data, times(F2, p.data) + times(G2, p.noise_shared)),
            F2 * p.missed + G2,
        )

    *parts, bayes = _evaluate(problem, n_members, scheme, combine)
    noise, initialization, sampling, bias = parts
    return ErrorTerms(
        noise=noise, initialization=initialization, sampling=sampling, bias=bias, bayes=bayes
    )


def anova(problem: AnyProblem) -> AnovaTerms:
    """Return the symmetric split of one model's test error: main effects and interactions.

    >>> from doubletrouble import Problem
    >>> at_peak = anova(Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0))
    >>> round(at_peak.initialization, 4), at_peak.initialization_sampling
    (0.2473, inf)
    """

    def combine(p: Split, _: Any, __: Any, F2: FloatArray, G2: FloatArray, T2: FloatArray,
                times: Any) -> tuple[FloatArray, ...]:  # fmt: skip
        return (
            F2 * p.missed + G2,
            F2 * p.features,
            times(F2, p.data) + times(G2, p.noise_shared),
            times(F2, p.features_data) + times(G2, p.noise_own),
            times(T2, p.noise_shared),
            times(T2, p.noise_own),
        )

    *parts, bayes = _evaluate(problem, 1, "ensemble", combine)
    names = ("bias", "initialization", "sampling", "initialization_sampling", "noise_sampling",
             "noise_initialization_sampling")  # fmt: skip
    return AnovaTerms(**dict(zip(names, parts, strict=True)), bayes=bayes)


def training_error(problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble") -> Value:
    """Return the mean squared error on the (noisy) training labels of K averaged models.

    With `scheme="divide"` the average is judged on the whole data set: on each sample, one
    member has trained and the others have not.

    >>> from doubletrouble import Problem
    >>> training_error(Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.0))
    0.0
    """

    def combine(p: Split, _: Any, member: FloatArray, F2: FloatArray, G2: FloatArray,
                T2: FloatArray, times: Any) -> tuple[FloatArray, ...]:  # fmt: skip
        noise2, unused = T2 + G2, p.unused_samples
        variance = times(F2, p.features + p.features_data) + times(noise2, p.noise_own)
        same = F2 * p.missed + noise2
        fluctuating = times(F2, p.data) + times(noise2, p.noise_shared)
        if scheme == "ensemble":
            test = same + fluctuating + times(member, variance)
            return (times(unused**2, test),)
        # of K members one was trained on the sample: its residual shrinks by `unused`
        mean = 1 - member * (1 - unused)
        spread = times(member, 1 - member * (1 - unused**2))
        return (mean**2 * same + times(spread, variance + fluctuating),)

    return _evaluate(problem, n_members, scheme, combine)[0]


def _evaluate(
    problem: AnyProblem, n_members: Numeric, scheme: str, combine: Combination
) -> list[Value]:
    """Solve at every point and combine; the last value returned is the Bayes error."""
    modes, inputs, shape = prepare(problem, n_members, scheme)

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        point = Point(*values)
        data, member = point.shares(scheme)
        ridge = modes.scaled_ridge(point.ridge, point.samples)
        p = split_at(modes, point.features, point.samples_each(scheme), ridge)
        powers = (point.signal**2, point.nonlinear_signal**2, point.noise**2)
        parts = combine(p, data, member, *powers, np.multiply)
        if any(np.isnan(part).any() for part in parts):  # 0 · inf: the factor 0 is exact
            parts = combine(p, data, member, *powers, _zero_wins)
        return (*parts, point.test_noise**2)

    return blockwise(kernel, inputs, shape, block=max(1, BLOCK // modes.cost))


def _zero_wins(factor: FloatArray, value: FloatArray) -> FloatArray:
    """Factor · value, with 0 · inf = 0: a cause that is absent contributes nothing."""
    return np.where((factor == 0) | (value == 0), 0.0, factor * value)
