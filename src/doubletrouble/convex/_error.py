r"""The error of an ensemble by cause with any convex loss.

The order parameters of one member, and the overlaps q₁₂ of pairs that share features f₁, samples f₂
and label noise, give the power of the mean score of K members and its chain of means over the
causes in turn: the label noise, (the members' own choices,) the initialization, the sampling. With
E(f₁, f₂) = q₁₂ - m²/ρ, a prime for labels drawn independently, a pair of different members (f₁, f₂)
and one member with itself (1, 1), each part is shared + own/K as for ridge regression
(`theory.combine`):

    noise            E(f₁, f₂) - E'(f₁, f₂)
    initialization   E'(f₁, f₂) - E'(0, f₂)
    sampling         E'(0, f₂)

**Regression.** The error is ρ - 2m + q*, q* being the power of the mean score: the parts add up to
it, and for the squared loss they are those of the closed form.

**Classification.** A centred Gaussian score of power Q and overlap m with the target has, for a
target of power ρ, labels with noise τ, flipped with probability p,

    zero_one         arccos(m/√(ρ Q))/π, against the clean sign
    zero_one_noisy   p + (1-2p) arccos(m/√((ρ+τ²) Q))/π, against labels with noise and flips
    squared          1 - 2m √(2/(πρ)) + Q, against the clean sign
    log              E log(1 + exp(√Q z)) - (1-2p) m/√(2π(ρ+τ²)), against noisy labels

for log(1 + exp(-y f)) is log(1 + exp(f)) - f [y = 1], and E f [y = 1] = E y f/2. The measure of the
mean predictor, Q = q_d = m²/ρ, is the bias; the power that a cause adds to Q increases the measure
by its part. A part is non-negative, depends on the order of the causes, and the parts sum to the
error. The 0/1 error of the mean predictor is 0 for a linear target: all of it is fluctuation, also
for labels without information (p = 1/2), where the parts are the limits p → 1/2.

**Majority vote.** Given the common part C ~ N(0, q₁₂) of the scores, votes are independent and
positive with probability Φ(C/√(q - q₁₂)). The chain replaces members by their means over the
noise, and then over initializations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import betainc, ndtr, xlogy

from doubletrouble._numerics import limit_value, minimizers
from doubletrouble.convex._labels import ValueAndSlope, gaussian_mean
from doubletrouble.convex._order_parameters import SolvedMember
from doubletrouble.convex._separability import separability
from doubletrouble.ensembles import SCHEMES, CrossTerms, MemberTerms, Scheme, Vote
from doubletrouble.losses import Logistic, MaxMargin
from doubletrouble.parameters import FloatArray, IntArray, Numbers, Parts, Value, common_shape
from doubletrouble.problems import Mixture, Problem

CHAIN = ("sampling", "initialization", "resampling", "noise")
"""Causes in the order in which their powers are added to that of the mean predictor."""

Share: TypeAlias = Literal["none", "part", "all"]
"""The share of features, or of samples, that two members have in common."""

_MANY = 1e12  # members that stand for infinitely many parts of the data


@dataclass(slots=True, kw_only=True)
class ConvexMembers:
    """The members of an ensemble, and the overlaps of any two of them."""

    problem: Problem
    scheme: Scheme
    member: SolvedMember
    per_member: FloatArray  # 1/K
    shared_features: Value
    shared_samples: Value
    noisy: bool
    _known: dict[tuple[Share, Share, bool], FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, scheme: Scheme) -> ConvexMembers:
        """The members of an ensemble of a scheme."""
        if scheme.with_replacement:
            kinds = [kind for kind in SCHEMES.values() if not kind.with_replacement]
            names = ", ".join(kind.__name__ for kind in kinds)
            raise ValueError(
                f"ensemble must be one of {names} for loss {problem.loss}, got {scheme!r}"
            )
        if isinstance(scheme, Vote) and problem.task != "classification":
            raise ValueError(f"ensemble must average for {problem.task}, got {scheme!r}")
        shape = common_shape({"the problem's fields": problem.shape, "ensemble": scheme.shape})
        numerator, denominator = (np.asarray(v) for v in scheme.sample_share)
        K = np.asarray(scheme.n_members)
        parted = np.isinf(denominator)
        numerator, denominator = np.broadcast_arrays(
            numerator, np.where(parted, _MANY, denominator)
        )
        samples = np.multiply(problem.samples_per_dim, numerator) / denominator
        noise = problem.noise
        with np.errstate(all="ignore"):
            return cls(
                problem=problem,
                scheme=scheme,
                member=SolvedMember.of(problem, samples, shape),
                per_member=1 / np.where(parted, _MANY, K),
                shared_features=scheme.shared_features(problem) if scheme.shares_features else 0.0,
                shared_samples=scheme.shared_samples,
                noisy=isinstance(noise, Mixture)
                or bool(np.any(np.asarray(noise) > 0) or np.any(np.asarray(problem.flips) > 0)),
            )

    @property
    def pair(self) -> tuple[Share, Share]:
        """The features and the samples that two different members share."""
        if np.all(self.per_member == 1):
            return "all", "all"
        return _share(self.shared_features), _share(self.shared_samples)

    def excess(self, features: Share, samples: Share, *, same_noise: bool) -> FloatArray:
        """q₁₂ - m²/ρ of two members."""
        same_noise = same_noise or not self.noisy
        self._solve([(features, samples)], same_noise=same_noise)
        return self._known[features, samples, same_noise]

    def _solve(self, pairs: Sequence[tuple[Share, Share]], *, same_noise: bool) -> None:
        """Solve for several overlaps: a batch costs little more than one of them."""
        missing = [pair for pair in set(pairs) if (*pair, same_noise) not in self._known]
        if not missing:
            return
        features: dict[Share, Value] = {"none": 0.0, "part": self.shared_features, "all": 1.0}
        samples: dict[Share, Value] = {"none": 0.0, "part": self.shared_samples, "all": 1.0}
        shape = self.member.shape
        values = self.member.excess(
            np.stack([np.broadcast_to(features[f1], shape) for f1, _ in missing]),
            np.stack([np.broadcast_to(samples[f2], shape) for _, f2 in missing]),
            shared_noise=same_noise,
        )
        for pair, value in zip(missing, values, strict=True):
            self._known[*pair, same_noise] = value

    def mean_excess(self) -> FloatArray:
        """The power of the mean score, less m²/ρ."""
        two = self.excess(*self.pair, same_noise=True)
        one = self.excess("all", "all", same_noise=True)
        return two + (one - two) * self.per_member

    @property
    def bias(self) -> FloatArray:
        """The squared error of the mean predictor."""
        along = np.sqrt(self.member.q_d)
        if self.problem.task == "regression":
            return np.asarray((np.asarray(self.problem.signal) - along) ** 2)
        return ClassMeasure.of(self.problem, "squared").value(along, 0.0)

    def terms(self, *, interactions: bool = False) -> MemberTerms:
        """The parts of the squared error of the scores, for two members and for one."""
        pairs: tuple[tuple[Share, Share], ...] = (self.pair, ("all", "all"))
        if self.noisy:
            self._solve([*pairs, ("none", self.pair[1])], same_noise=False)
        shared, one = (self._cross_terms(*pair, interactions=interactions) for pair in pairs)
        own = one.map(lambda a, b: np.maximum(a - b, 0.0), shared)
        return MemberTerms(shared=shared, own=own)

    def _cross_terms(self, features: Share, samples: Share, *, interactions: bool) -> CrossTerms:
        """The parts of the overlap of two members.

        Without `interactions` main effects of features and noise count to interactions: they are
        reported as one, and an overlap less is solved.
        """
        E = self.excess
        noisy, noiseless = (E(features, samples, same_noise=same) for same in (True, False))
        sampling = E("none", samples, same_noise=False)
        initialization = E(features, "none", same_noise=True) if interactions else 0.0
        noise_sampling = E("none", samples, same_noise=True) - sampling if interactions else 0.0
        terms = CrossTerms(
            bias=self.bias,
            initialization=initialization,
            sampling=sampling,
            interaction=noiseless - sampling - initialization,
            noise_sampling=noise_sampling,
            noise_interaction=noisy - noiseless - noise_sampling,
        )
        return terms.map(lambda part: np.maximum(part, 0.0))

    def measured(self, powers: Mapping[str, Numbers | float], measure: str) -> Parts:
        """The parts of a measure of classes, given those of the power of the mean score."""
        classes, along = ClassMeasure.of(self.problem, measure), np.sqrt(self.member.q_d)
        return _positive(classes.parts(lambda excess: classes.value(along, excess), powers))

    def vote_parts(self, measure: str) -> Parts:
        """The parts of the error of the majority vote."""
        E, K = self.excess, np.asarray(self.scheme.n_members)
        classes, q_d = ClassMeasure.of(self.problem, measure), self.member.q_d
        bayes, along = classes.bayes, np.sqrt(q_d)
        noisy, noiseless = (
            _vote_error(
                classes,
                K,
                q_d,
                E("none", "all", same_noise=same_noise),
                E("all", "all", same_noise=same_noise),
            )
            for same_noise in (True, False)
        )
        bias = classes.value(along, 0.0)
        infinite = classes.value(along, E("none", "all", same_noise=False))
        parts = {
            "noise": noisy - noiseless,
            "initialization": noiseless - infinite,
            "sampling": infinite - bias,
            "bias": bias - bayes,
            "bayes": bayes,
        }
        return _positive(parts)

    def at_limits(self, parts: Mapping[str, Value]) -> Parts:
        """Parts as floats or arrays, with the limits of those at a surrogate."""
        member = self.member
        power = np.square(self.problem.signal) + np.square(self.problem.noise_sd)
        classes = self.problem.task == "classification"
        unit: Value = 1.0 if classes else np.where(power > 0, power, 1.0)
        results: Parts = {}
        for name, part in parts.items():
            value = np.broadcast_to(limit_value(np.asarray(part), member.limit, unit), member.shape)
            results[name] = np.array(value) if member.shape else float(value)
        return results


def _share(fraction: Value) -> Share:
    if np.ndim(fraction) == 0 and fraction in (0, 1):
        return "all" if fraction else "none"
    return "part"


def _positive(parts: Mapping[str, Value]) -> Parts:
    """Parts that are differences: below 0 by rounding only."""
    return {name: np.maximum(part, 0.0) for name, part in parts.items()}


def total_error(problem: Problem, scheme: Scheme, measure: str) -> Value:
    """The error without its causes: fewer overlaps are needed."""
    with np.errstate(all="ignore"):
        members = ConvexMembers.of(problem, scheme)
        if isinstance(scheme, Vote):
            total: Value = sum(members.vote_parts(measure).values())
        elif problem.task == "regression":
            total = members.bias + members.mean_excess() + np.square(problem.test_noise)
        else:
            along = np.sqrt(members.member.q_d)
            total = ClassMeasure.of(problem, measure).value(along, members.mean_excess())
        return members.at_limits({"total": total})["total"]


def training_parts(problem: Problem, scheme: Scheme) -> Parts:
    """The error on the training labels, and the mean loss there, of one model."""
    if np.any(np.asarray(scheme.n_members) != 1):
        raise ValueError(
            f"ensemble must be one model for the training error with loss {problem.loss}, got "
            f"{scheme!r}"
        )
    if scheme.sample_share != (1.0, 1.0):
        raise ValueError(
            f"ensemble must have all of the data for the training error, got {scheme!r}"
        )
    members = ConvexMembers.of(problem, scheme)
    error, loss = members.member.training()
    return members.at_limits({"error": error, "loss": loss})


# --- measures of classes -------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class ClassMeasure:
    """A measure of scores, as a function of m/√ρ and of the power beyond q_d = m²/ρ."""

    name: str
    flips: FloatArray
    variance: FloatArray  # τ²/ρ

    @classmethod
    def of(cls, problem: Problem, name: str) -> ClassMeasure:
        """The measure of a name; labels without a signal are flipped with probability 1/2."""
        signal, noise = np.asarray(problem.signal), np.asarray(problem.noise_sd)
        seen = signal > 0
        variance = np.where(seen, noise / np.where(seen, signal, 1.0), 0.0) ** 2
        return cls(name=name, flips=np.where(seen, problem.flips, 0.5), variance=variance)

    def value(self, along: FloatArray, excess: Value) -> FloatArray:
        """The measure of a score of overlap `along` = m/√ρ and power m²/ρ + excess."""
        p, power = self.flips, along * along + excess
        if self.name == "zero_one":
            return _angle(along, excess)
        if self.name == "zero_one_noisy":
            return p + (1 - 2 * p) * _angle(along, excess + self.variance * power)
        if self.name == "squared":
            return 1 - 2 * math.sqrt(2 / math.pi) * along + power
        aligned = (1 - 2 * p) * along / np.sqrt(2 * np.pi * (1 + self.variance))
        return mean_softplus(np.sqrt(np.maximum(power, 0.0))) - aligned

    @property
    def bayes(self) -> Value:
        """The least value of the measure, due to flipped and noisy test labels."""
        p = self.flips
        if self.name == "zero_one_noisy":
            return p + (1 - 2 * p) * np.arctan(np.sqrt(self.variance)) / np.pi
        if self.name == "log":
            return label_entropy(p, self.variance)
        return 0.0

    def parts(
        self, value: Callable[[Value], FloatArray], powers: Mapping[str, Numbers | float]
    ) -> dict[str, Value]:
        """The parts of the measure, given by the power beyond q_d, for the powers of causes."""
        excess: Value = 0.0
        last, bayes = value(excess), self.bayes
        result: dict[str, Value] = {"bias": last - bayes, "bayes": bayes}
        for name in CHAIN:
            if name in powers:
                excess = excess + powers[name]
                new = value(excess)
                result[name], last = new - last, new
        return result


def _angle(along: FloatArray, across: Value) -> FloatArray:
    """The angle of a score to the label's field, over π; 1/2 without correlation."""
    angle = np.arctan2(np.sqrt(np.maximum(across, 0.0)), along) / np.pi
    return np.where(np.asarray(along) == 0, 0.5, angle)


def mean_softplus(sd: FloatArray) -> FloatArray:
    """E log(1 + exp(sd z)) for a standard normal z: the mean of max(0, sd z), and the rest."""
    rest = _half_line_mean(sd, lambda f: np.log1p(np.exp(-f)))
    return np.asarray(sd) / math.sqrt(2 * math.pi) + rest


def mean_slope(sd: FloatArray) -> FloatArray:
    """E σ'(sd z) for a standard normal z."""
    return _half_line_mean(sd, lambda f: np.exp(-f) / (1 + np.exp(-f)) ** 2)


_RULE = np.polynomial.legendre.leggauss(24)


def _half_line_mean(sd: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """E function(sd |z|), z standard normal, of a function that is 0 beyond 40: Gauss's rule."""
    s = np.asarray(sd, dtype=np.float64)[..., None]
    x, w = _RULE
    scale = np.minimum(1.0, 4.5 / np.maximum(s, 1e-300))
    total = np.zeros(s.shape[:-1])
    for low, high in pairwise((0.0, 1.0, 3.0, 6.0, 9.0)):
        z = scale * (low + (high - low) * (x + 1) / 2)
        weights = scale * (high - low) * w * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        total = total + (weights * function(s * z)).sum(-1)
    return total


def label_entropy(flips: FloatArray, variance: FloatArray) -> FloatArray:
    """The entropy of a noisy label given its input, a mean over inputs."""
    shape = np.broadcast_shapes(np.shape(flips), np.shape(variance))
    p, sd = (
        np.broadcast_to(v, shape).astype(np.float64).reshape(-1) for v in (flips, np.sqrt(variance))
    )

    def entropy(x: FloatArray, i: IntArray) -> ValueAndSlope:
        noise = np.maximum(sd[i], 1e-150)[:, None]
        plus, minus = (
            p[i][:, None] + (1 - 2 * p[i][:, None]) * ndtr(np.clip(sign * x / noise, -40, 40))
            for sign in (1, -1)
        )
        value = np.asarray(-xlogy(plus, plus) - xlogy(minus, minus), dtype=np.float64)
        return value, value

    mean, _ = gaussian_mean(entropy, np.ones(p.size), [(np.zeros(p.size), sd)])
    return mean.reshape(shape)


# --- votes ---------------------------------------------------------------------------------------


def _vote_error(
    classes: ClassMeasure,
    n_members: FloatArray,
    q_d: FloatArray,
    common: FloatArray,
    own: FloatArray,
) -> FloatArray:
    """The 0/1 error of the majority of K votes; ties count half."""
    noisy = classes.name == "zero_one_noisy"
    variance = classes.variance if noisy else 0.0
    shape = np.broadcast_shapes(*map(np.shape, (common, own, n_members, q_d, variance)))

    def flat(value: Value) -> FloatArray:
        return np.broadcast_to(np.asarray(value, dtype=np.float64), shape).reshape(-1)

    x, K, power = flat(common), flat(n_members), flat(q_d)
    sd, width = np.sqrt(power + x), np.sqrt(np.maximum(flat(own) - x, 0.0))
    across = x + flat(variance) * (power + x)
    tilt = np.where(power > 0, np.sqrt(power / np.maximum(across, 1e-300)), 0.0)
    tilt = np.minimum(tilt, 1e12)
    half = np.where(np.isinf(K), 1.0, np.ceil(K / 2))  # K even is as good as K - 1

    def wrong(z: FloatArray, i: IntArray) -> tuple[FloatArray, FloatArray]:
        at = np.clip(sd[i][:, None] * z / np.maximum(width[i], 1e-150)[:, None], -40, 40)
        share = ndtr(at)
        right = betainc(half[i][:, None], half[i][:, None], share)
        right = np.where(np.isinf(K[i])[:, None], 0.5 * (1 + np.sign(z)), right)
        value = 2 * ndtr(np.clip(-tilt[i][:, None] * z, -40, 40)) * right
        return value, value

    # the majority is a step of width √(q - q₁₂)/√K at 0
    layers = [
        (0.0 * sd, np.where(np.isinf(K), 0.0, width / np.sqrt(K))),
        (0.0 * sd, sd / np.maximum(tilt, 1e-9)),
    ]
    error, _ = gaussian_mean(wrong, sd, layers)
    error = error.reshape(shape)
    if not noisy:
        return error
    return classes.flips + (1 - 2 * classes.flips) * error


# --- the best ridge ------------------------------------------------------------------------------

_NODES = 10.0 ** np.arange(-10.0, 8.25, 0.5)


def best_ridge(problem: Problem, scheme: Scheme, measure: str) -> FloatArray:
    """The ridge of least error at every point; 0 and inf are limits."""
    if isinstance(problem.loss_function, MaxMargin):
        raise ValueError("loss must depend on the ridge, got max_margin")
    shape = common_shape({"the problem's fields": problem.shape, "ensemble": scheme.shape})
    # outputs are noise where the labels have no linear part, or the features none
    learned = np.multiply(problem.signal, problem.moments.linear) * (
        1 - 2 * np.asarray(problem.flips)
    )
    if np.all(learned == 0):
        return np.full(shape, np.inf)

    def risk(log_ridge: FloatArray) -> FloatArray:
        ridge = np.exp(log_ridge)
        return np.broadcast_to(
            total_error(replace(problem, ridge=ridge), scheme, measure), ridge.shape
        )

    nodes = np.log(_NODES)
    risks = risk(np.broadcast_to(nodes.reshape(-1, *(1 for _ in shape)), (nodes.size, *shape)))
    least = np.argmin(risks, axis=0)
    inner = np.clip(least, 1, nodes.size - 2)
    three = np.stack([inner - 1, inner, inner + 1])
    ridge = np.exp(minimizers(risk, nodes[three], np.take_along_axis(risks, three, axis=0)))
    none = least == 0
    if isinstance(problem.loss_function, Logistic):  # without a limit on separable data
        samples = np.asarray(problem.samples_per_dim) * scheme.sample_share[0]
        features = np.asarray(problem.features_per_dim) * scheme.sample_share[1]
        with np.errstate(invalid="ignore"):
            # NaN is ∞ · 0: linear features of rank D, which are separable for small N at most
            separable = ~(samples >= features * separability(problem))
        ridge = np.where(none & separable, _NODES[0], ridge)
        none = none & ~separable
    infinite = (least == nodes.size - 1) | np.broadcast_to(learned == 0, shape)
    return np.where(infinite, np.inf, np.where(none, 0.0, ridge))
