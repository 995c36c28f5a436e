r"""The error of an ensemble by cause with any convex loss.

The order parameters (`convex`) of one member, and the overlaps q₁₂ of pairs that share features f₁,
samples f₂ and label noise, give the power of the mean score of K members and its chain of means
over the causes in turn: the label noise, (the members' own choices,) the initialization, the
sampling. With E(f₁, f₂) = q₁₂ - m²/ρ, a prime for labels drawn independently, a pair of different
members (f₁, f₂) and one member with itself (1, 1), each part is shared + own/K as in `ensembles`:

    noise            E(f₁, f₂) - E'(f₁, f₂)
    initialization   E'(f₁, f₂) - E'(0, f₂)
    sampling         E'(0, f₂)

**Measures.** For regression the error is ρ - 2m + q*, q* being the power of the mean score: the
parts add up to it, and for the squared loss they are those of the closed form. For classes a
measure is a function of q_d = m²/ρ and q*, and its parts are those of `convex.ClassMeasure`. The
0/1 error of the mean predictor, q* = q_d, is 0 for a linear target: all of it is fluctuation, also
for labels without information (p = 1/2), where the parts are the limits p → 1/2.

**Majority vote.** Given the common part C ~ N(0, q₁₂) of the scores, votes are independent and
positive with probability Φ(C/√(q - q₁₂)). The chain replaces members by their means over the
noise, and then over initializations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.special import betainc, erf, ndtr

from doubletrouble.convex import (
    ClassMeasure,
    OrderParameters,
    gaussian_mean,
    mean_slope,
    separability,
    solved,
)
from doubletrouble.ensembles import SCHEMES, CrossTerms, MemberTerms, Scheme, Vote
from doubletrouble.losses import Logistic, MaxMargin
from doubletrouble.parameters import FloatArray, IntArray, Parts, Value, common_shape
from doubletrouble.problems import Mixture, Problem
from doubletrouble.theory._error import Amplitudes, checked_measure, combine

_DIVERGENT = 1e70  # values at a surrogate ridge that stand for inf, in units of the labels' power
_MANY = 1e12  # members that stand for infinitely many parts of the data


@dataclass(slots=True, kw_only=True)
class _Ensemble:
    """The order parameters of the members of an ensemble, and the overlaps of two of them."""

    problem: Problem
    scheme: Scheme
    one: OrderParameters
    shape: tuple[int, ...]
    per_member: FloatArray  # 1/K
    shared_features: Value
    shared_samples: Value
    noisy: bool
    known: dict[tuple[float, float, bool], FloatArray]

    @classmethod
    def of(cls, problem: Problem, scheme: Scheme) -> _Ensemble:
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
        K = np.where(parted, _MANY, K)
        samples = np.multiply(problem.samples_per_dim, numerator) / denominator
        noise = problem.noise
        return cls(
            problem=problem,
            scheme=scheme,
            one=solved(problem, samples, shape, limits=False),
            shape=shape,
            per_member=1 / K,
            shared_features=scheme.shared_features(problem) if scheme.shares_features else 0.0,
            shared_samples=scheme.shared_samples,
            noisy=isinstance(noise, Mixture)
            or bool(np.any(np.asarray(noise) > 0) or np.any(np.asarray(problem.flips) > 0)),
            known={},
        )

    def excess(self, f1: Value, f2: Value, *, same_noise: bool) -> FloatArray:
        """q₁₂ - m²/ρ of two members."""
        same_noise = same_noise or not self.noisy
        key = self._key(f1, f2, same_noise=same_noise)
        if key not in self.known:
            self.known[key] = self.one._excess(f1, f2, shared_noise=same_noise)
        return self.known[key]

    def _solve_together(self, pairs: list[tuple[Value, Value]]) -> None:
        """Overlaps with labels drawn independently: a batch costs little more than one of them."""
        if not self.noisy:
            return
        missing = {self._key(*pair, same_noise=False): pair for pair in pairs}
        missing = {key: pair for key, pair in missing.items() if key not in self.known}
        if not missing:
            return
        f1, f2 = (
            np.stack([np.broadcast_to(pair[k], self.shape) for pair in missing.values()])
            for k in (0, 1)
        )
        values = self.one._excess(f1, f2, shared_noise=False)
        self.known |= dict(zip(missing, values, strict=True))

    @staticmethod
    def _key(f1: Value, f2: Value, *, same_noise: bool) -> tuple[float, float, bool]:
        # arrays are those of `pair`, which live as long as this object
        first, second = (id(f) if np.ndim(f) else float(f) for f in (f1, f2))
        return first, second, same_noise

    @property
    def single(self) -> bool:
        """Whether every ensemble has one member."""
        return bool(np.all(self.per_member == 1))

    def pair(self) -> tuple[Value, Value]:
        """The shared fractions (f₁, f₂) of two different members."""
        return (1.0, 1.0) if self.single else (self.shared_features, self.shared_samples)

    def mean_excess(self) -> FloatArray:
        """The power of the mean score, less m²/ρ."""
        two = self.excess(*self.pair(), same_noise=True)
        one = self.excess(1.0, 1.0, same_noise=True)
        return two + (one - two) * self.per_member

    def parts(self, *, interactions: bool = False) -> Parts:
        """The squared error of the mean score by cause."""
        pairs = (self.pair(), (1.0, 1.0))
        self._solve_together([*pairs, (0.0, self.pair()[1])])
        shared, one = (self.cross_terms(*pair, interactions=interactions) for pair in pairs)
        own = {
            f.name: np.maximum(getattr(one, f.name) - getattr(shared, f.name), 0.0)
            for f in fields(CrossTerms)
        }
        return combine(
            MemberTerms(shared=shared, own=CrossTerms(**own)),
            None,
            Amplitudes(
                signal=1.0,
                nonlinear_signal=0.0,
                noise=1.0,
                test_noise=np.asarray(self.problem.test_noise),
            ),
            self.per_member,
            self.scheme.resamples,
            interactions=interactions,
        )

    def cross_terms(self, f1: Value, f2: Value, *, interactions: bool) -> CrossTerms:
        """The parts of the overlap of two members.

        Without `interactions` main effects of features and noise count to interactions: they are
        reported as one, and an overlap less is solved.
        """
        E = self.excess
        noisy, noiseless = (E(f1, f2, same_noise=same) for same in (True, False))
        sampling = E(0.0, f2, same_noise=False)
        initialization = E(f1, 0.0, same_noise=True) if interactions else 0.0
        noise_sampling = E(0.0, f2, same_noise=True) - sampling if interactions else 0.0
        parts = {
            "bias": self.bias,
            "initialization": initialization,
            "sampling": sampling,
            "interaction": noiseless - sampling - initialization,
            "noise_sampling": noise_sampling,
            "noise_interaction": noisy - noiseless - noise_sampling,
        }
        return CrossTerms(**{name: np.maximum(part, 0.0) for name, part in parts.items()})

    @property
    def bias(self) -> FloatArray:
        """The squared error of the mean predictor."""
        q_d = np.asarray(self.one.q_d)
        if self.problem.task == "regression":
            return np.asarray((np.asarray(self.problem.signal) - np.sqrt(q_d)) ** 2)
        return ClassMeasure.of(self.problem, "squared").value(np.sqrt(q_d), 0.0)


# --- calibration ---------------------------------------------------------------------------------


def calibration_parts(problem: Problem, scheme: Scheme) -> Parts:
    """The power of the mean score, its tilt towards the label, and the slope of calibration."""
    with np.errstate(all="ignore"):
        ensemble = _Ensemble.of(problem, scheme)
        classes, power = ClassMeasure.of(problem, "zero_one_noisy"), np.asarray(ensemble.one.q_d)
        excess = ensemble.mean_excess()
        across = excess + classes.variance * (power + excess)
        learned = (power > 0) & (classes.flips < 0.5)
        tilt = np.where(learned, np.sqrt(power / across), 0.0)
        sd = np.sqrt(power + excess)
        # log-odds b f are best where b q E σ'(b √q z) = (1-2p) m/√(2π(ρ+τ²)), in c = b √q
        pull = (1 - 2 * classes.flips) * tilt / np.sqrt((1 + tilt**2) * 2 * np.pi)
        low, high = np.full(ensemble.shape, -300.0), np.full(ensemble.shape, 300.0)
        for _ in range(70):
            middle = 0.5 * (low + high)
            steep = np.exp(middle)
            below = steep * mean_slope(steep) < pull
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        slope = np.where(pull > 0, np.exp(0.5 * (low + high)), 0.0) / sd
        parts = {"sd": sd, "tilt": tilt, "flips": classes.flips, "slope": slope}
        parts["calibration_error"] = _calibration_error(sd, tilt, classes.flips, ensemble.shape)
        divergent = power + excess > _DIVERGENT
        parts["sd"] = np.where(divergent, np.inf, sd)
        parts["slope"] = np.where(divergent, 0.0, slope)
        parts["tilt"] = np.where(divergent & (tilt**2 < 1 / _DIVERGENT), 0.0, tilt)
    return at_limits(parts, problem, ensemble.shape)


_PIECES = np.concatenate([[0.0], np.geomspace(1e-8, 9.0, 400)])  # of z, for one zero at most


def _calibration_error(
    sd: FloatArray, tilt: FloatArray, flips: FloatArray, shape: tuple[int, ...]
) -> FloatArray:
    """E |σ(f) - P(y = 1 | f)| over scores f = sd z: twice that over z > 0, split at the zeros."""
    s, a, p = (np.broadcast_to(v, shape).reshape(-1, 1) for v in (sd, tilt, flips))

    def gap_of(
        z: FloatArray, s: FloatArray, a: FloatArray, p: FloatArray
    ) -> FloatArray:  # both less 1/2: σ(f) - 1/2 = tanh(f/2)/2
        return 0.5 * (np.tanh(0.5 * s * z) - (1 - 2 * p) * erf(math.sqrt(0.5) * a * z))

    def gap(z: FloatArray) -> FloatArray:
        return gap_of(z, s, a, p)

    low = np.broadcast_to(_PIECES[:-1], (s.size, _PIECES.size - 1))
    high = np.broadcast_to(_PIECES[1:], low.shape)
    sign = np.sign(gap(low))
    crossing = sign * np.sign(gap(high)) < 0
    row, _ = cell = np.nonzero(crossing)
    left, right = low[cell], high[cell]
    for _ in range(60):
        middle = 0.5 * (left + right)
        same = np.sign(gap_of(middle, s[row, 0], a[row, 0], p[row, 0])) == sign[cell]
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    zero = high.copy()  # without a zero the second part is empty
    zero[cell] = left
    x, w = np.polynomial.legendre.leggauss(8)
    total = np.zeros(s.shape[0])
    for start, stop in ((low, zero), (zero, high)):
        half = 0.5 * (stop - start)
        for node, weight in zip(x, w, strict=True):
            z = start + half * (1 + node)
            density = 2 * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
            total = total + (half * weight * np.abs(gap(z)) * density).sum(-1)
    return total.reshape(shape)


# --- the best ridge ------------------------------------------------------------------------------

_NODES = 10.0 ** np.arange(-10.0, 8.25, 0.5)
# scipy.optimize.elementwise.find_minimum, for arrays, takes 0.3 s to import
_GOLDEN = (3 - math.sqrt(5)) / 2


def best_ridge(problem: Problem, scheme: Scheme, measure: str | None) -> FloatArray:
    """The ridge of least error at every point; 0 and inf are limits."""
    measure = checked_measure(problem, measure)
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
    low, middle, high = (nodes[inner + k] for k in (-1, 0, 1))
    at_low, at_middle, at_high = (
        np.take_along_axis(risks, (inner + k)[None], axis=0)[0] for k in (-1, 0, 1)
    )
    for turn in range(40):
        # the minimum of a parabola through three points, or a golden section of the longer side
        left, right = middle - low, high - middle
        up, down = left**2 * (at_middle - at_high), right**2 * (at_middle - at_low)
        bottom = left * (at_middle - at_high) + right * (at_middle - at_low)
        with np.errstate(all="ignore"):
            x = middle - 0.5 * (up - down) / bottom
        longer = np.where(right > left, middle + _GOLDEN * right, middle - _GOLDEN * left)
        near = np.abs(x - middle) < 1e-3 * (high - low)
        x = np.where(np.isfinite(x) & (x > low) & (x < high) & ~near & (turn % 3 < 2), x, longer)
        value = risk(np.asarray(x))
        better, above = value < at_middle, x > middle
        low = np.where(better & above, middle, np.where(~better & ~above, x, low))
        at_low = np.where(better & above, at_middle, np.where(~better & ~above, value, at_low))
        high = np.where(better & ~above, middle, np.where(~better & above, x, high))
        at_high = np.where(better & ~above, at_middle, np.where(~better & above, value, at_high))
        middle, at_middle = np.where(better, x, middle), np.where(better, value, at_middle)
        if np.all(high - low < 1e-7):
            break
    ridge = np.exp(middle)
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


# --- errors by cause -----------------------------------------------------------------------------


def error_parts(problem: Problem, scheme: Scheme, measure: str | None) -> Parts:
    """The parts of `ErrorTerms` at every point."""
    vote = isinstance(scheme, Vote)
    measure = checked_measure(problem, measure, vote=vote)
    with np.errstate(all="ignore"):
        ensemble = _Ensemble.of(problem, scheme)
        if vote:
            parts = _vote_parts(ensemble, measure)
        elif problem.task == "regression":
            parts = ensemble.parts()
        else:
            classes, along = ClassMeasure.of(problem, measure), np.sqrt(ensemble.one.q_d)
            chain = classes.parts(lambda excess: classes.value(along, excess), ensemble.parts())
            parts = _positive(chain)
    return at_limits(parts, problem, ensemble.shape)


def anova_parts(problem: Problem, scheme: Scheme) -> Parts:
    """The parts of `AnovaTerms`, for classes those of the squared error of the scores."""
    with np.errstate(all="ignore"):
        ensemble = _Ensemble.of(problem, scheme)
        parts = ensemble.parts(interactions=True)
    return at_limits(parts, problem, ensemble.shape)


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
    ensemble = _Ensemble.of(problem, scheme)
    error, loss = ensemble.one._training()
    return at_limits({"error": error, "loss": loss}, problem, ensemble.shape)


def total_error(problem: Problem, scheme: Scheme, measure: str) -> FloatArray:
    """The error without its causes: fewer overlaps are needed."""
    with np.errstate(all="ignore"):
        ensemble = _Ensemble.of(problem, scheme)
        if isinstance(scheme, Vote):
            return np.asarray(sum(_vote_parts(ensemble, measure).values()))
        excess = ensemble.mean_excess()
        if problem.task == "regression":
            return ensemble.bias + excess + np.square(problem.test_noise)
        return ClassMeasure.of(problem, measure).value(np.sqrt(ensemble.one.q_d), excess)


def at_limits(parts: Mapping[str, Value], problem: Problem, shape: tuple[int, ...]) -> Parts:
    """Parts as floats or arrays; where the ridge is 0 or inf they are at a surrogate ridge.

    There values far beyond the power of the labels stand for inf, and far below it for 0.
    """
    ridge = np.asarray(problem.ridge)
    limit = (ridge == 0) | np.isinf(ridge)
    power = np.square(problem.signal) + np.square(problem.noise_sd)
    unit = np.where(power > 0, power, 1.0) if problem.task == "regression" else 1.0
    results: Parts = {}
    for name, part in parts.items():
        value = np.asarray(part)
        value = np.where(limit & (value > _DIVERGENT * unit), np.inf, value)
        value = np.where(limit & (np.abs(value) * _DIVERGENT < unit), 0.0, value)
        whole = np.broadcast_to(value, shape)
        results[name] = np.array(whole) if shape else float(whole)
    return results


def _positive(parts: Mapping[str, Value]) -> Parts:
    """Parts that are differences: below 0 by rounding only."""
    return {name: np.maximum(part, 0.0) for name, part in parts.items()}


def _vote_parts(ensemble: _Ensemble, measure: str) -> Parts:
    E, K = ensemble.excess, np.asarray(ensemble.scheme.n_members)
    one = E(1.0, 1.0, same_noise=True), E(1.0, 1.0, same_noise=False)
    two = E(0.0, 1.0, same_noise=True), E(0.0, 1.0, same_noise=False)
    classes, q_d = ClassMeasure.of(ensemble.problem, measure), np.asarray(ensemble.one.q_d)
    bayes, along = classes.bayes, np.sqrt(q_d)
    bias, noiseless = classes.value(along, 0.0), classes.value(along, two[1])
    votes = [_vote(classes, K, q_d, *pair) for pair in zip(two, one, strict=True)]
    parts = {
        "noise": votes[0] - votes[1],
        "initialization": votes[1] - noiseless,
        "sampling": noiseless - bias,
        "bias": bias - bayes,
        "bayes": bayes,
    }
    return _positive(parts)


def _vote(
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
    spare = x + flat(variance) * (power + x)
    tilt = np.where(power > 0, np.sqrt(power / np.maximum(spare, 1e-300)), 0.0)
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
