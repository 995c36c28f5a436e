"""From the measured rungs to all rows and beyond: draws from the distribution of every part.

**Total.** The falls T(x) - T(0.9), x the share of all rows, are fitted by a(x^-α - 0.9^-α). Levels
are not fitted: the error they share, that of the test labels, would pull the curve away from its
points. Given α the model is linear, and its posterior is a mixture of normal distributions. Draws
that fall below the noise of the labels are excluded. If the noise σ² is given, the curve may also
fall to it: with prior probability 1/2, T(x) - σ² is in proportion to x^-α.

**Variances.** VI and VS follow v(x) = v₁ x^-γ; VS past an interpolation peak at x₀ falls with the
distance from it, v₁ ((x - x₀)/(1 - x₀))^-γ, where that fits the rungs better. VS is measured by
windows without a common row up to x = 0.4, and at x = 0.6 by the overlap law: the inverse of
E (y - f_a)(y - f_b) is linear in the part h of rows that two learners share, exactly for ridge,
kernel and random-features learners in the proportional limit (`pair_error`), and nearly for others.
With D = d(h) - VI and A = T - VI,

    VS = D / (1 - h + h D/A).

For every learner D <= VS <= D/(1 - h), since the covariance of two learners is convex in h. Of
trees and boosting the law is up to a quarter too high. At x = 0.4, VS is measured both ways from
the same fits, and their ratio is precise: the law at 0.6 is divided by it, shrunk by its error, and
kept in the bracket.

The variance of a mean over rows lacks that of the training sets, which all rows share; it is taken
from the spread between windows. The constants are calibrated on simulated data of known error
(`benchmarks.diagnosis_accuracy`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import percent
from doubletrouble.learners._sources import generator
from doubletrouble.learners._windows import (
    FULL,
    LAW,
    N_BLOCKS,
    N_DRAWS,
    RUNGS,
    Measurement,
    Measurements,
    RowMultipliers,
)
from doubletrouble.parameters import FloatArray, Value

_OVERLAP = 0.5  # the part of rows that windows of the law share
_TOTAL_WINDOWS, _SEED_WINDOWS, _PAIRS = 0.8**2 / 10, 2.0 / 10, 0.5**2
"""Factors of the variance between windows."""
_MISFIT = 0.2  # of a power law, relative, at ln x = 1
_ALPHAS, _ALPHA_MEDIAN, _ALPHA_SPREAD = np.geomspace(0.03, 2.0, 48), 0.4, 1.0
_GAMMAS, _GAMMA_MEAN, _GAMMA_SPREAD = np.linspace(-1.4, 2.8, 43), 0.7, 0.7
_PEAKS = np.array([0.0, *np.arange(0.05, 0.56, 0.05)])  # positions of a peak that is passed
_NEAREST = 0.04  # share of rows: sizes nearer to the peak are not used
_PEAK_ODDS, _SEEN_PEAK_ODDS = 0.1, 10.0  # if the total has no peak at a smaller size, or has one
_GAMMA_PAST_PEAK = (1.0, 0.25)  # mean and standard deviation: least squares has γ = 1
_LEAST_RELATIVE = 1e-3  # error of a measured variance, of the largest: fits may be all equal
_LEAST_VARIANCE = 0.05  # of its noise: the lower end of v₁
_MOST_SCALED = 5.0  # largest factor of an error, where a variance is above its measurement
_LAW_SPREAD = 0.2  # of the logarithm of the law over the truth, among learners
_RATIO_ROWS = 1.5**2  # factor of the variance over rows of the measured ratio
_RATIO_PAIRS = 0.25  # factor of the relative spread between pairs in its standard error
_FAR = 1000.0  # times the rows: the curve is not below the noise there
_RISE = 1.75  # standard errors by which the error rises between two sizes
_PLATEAU = 0.5  # standard errors by which the slope decreases towards small sizes
_LEAST_TOTAL = 0.01  # of the error now: no draw of a forecast is below it
_FEWEST_FALLS = 2
_SEEDS_FELL, _SEEDS_GROW, _SEEDS_GROW_STRONGLY, _STILL_FALLS = 2.0, 0.45, 2.5, 1.0
"""Standard errors: of the variance over seeds, and of the total between the last two sizes."""
_SEEDS_SHARE, _PEAK_SHARE = 0.02, 0.15  # of the total: the growth, and the variance over seeds

_CURVE, _SEEDS, _SETS, _ORDER, _RUNGS, _LOSS = range(22, 28)  # kinds of draws


# --- the learning curve of the total ---


@dataclass(frozen=True, kw_only=True, eq=False)
class TotalCurve:
    """Draws of T(x) = level + fall (x^-α - 0.9^-α)/(0.1^-α - 1)."""

    level: FloatArray  # T(0.9)
    fall: FloatArray  # T(0.1) - T(1)
    alpha: FloatArray
    misfit: FloatArray  # standard normal, of the fall beyond x = 1
    floor: float  # the variance of label noise, 0 if it is not known
    dropped: tuple[int, ...]  # rungs that do not lie on the curve
    least: float  # the smallest share of rows on the curve

    def at(self, x: float) -> FloatArray:
        """Draws of the error with x times the rows."""
        here = self.level + self.fall * _shape(x, self.alpha)
        least = np.maximum(self.floor, _LEAST_TOTAL * self.level)
        if x <= 1:
            return np.maximum(here, least)
        now = self.at(1.0)
        gain = (now - here) * np.maximum(1 + _MISFIT * math.log1p(x) * self.misfit, 0.0)
        return np.maximum(now - gain, least)


def _shape(x: Value, alpha: FloatArray) -> FloatArray:
    shape: FloatArray = (x**-alpha - (FULL / N_BLOCKS) ** -alpha) / (0.1**-alpha - 1)
    return shape


@dataclass(frozen=True, kw_only=True, eq=False)
class Falls:
    """The measured falls T(x) - T(0.9), and their covariance."""

    rungs: tuple[int, ...]  # without the largest
    values: FloatArray
    covariance: FloatArray

    @classmethod
    def of(cls, totals: Mapping[int, Measurement], rows: RowMultipliers) -> Self:
        """The falls of row-paired means, and of the training sets, and the misfit of the curve."""
        top = totals[FULL]
        rungs = tuple(sorted(rung for rung in totals if rung != FULL))
        values = np.array([totals[rung].mean - top.mean for rung in rungs])
        paired = np.array([rows.deviations(totals[r]) - rows.deviations(top) for r in rungs])
        windows = np.array([_TOTAL_WINDOWS * totals[rung].spread ** 2 for rung in rungs])
        misfit = (_MISFIT * np.log(N_BLOCKS / np.array(rungs)) * values) ** 2
        return cls(
            rungs=rungs, values=values, covariance=paired @ paired.T + np.diag(windows + misfit)
        )

    def _combined(self, weights: FloatArray) -> tuple[float, float]:
        """A linear combination and its standard error."""
        variance = float(weights @ self.covariance @ weights)
        return float(weights @ self.values), math.sqrt(variance)

    def _fall_between(self, low: int, high: int) -> float:
        """T at one index less T at another, in standard errors; the last index is the top rung."""
        weights = np.zeros(len(self.rungs) + 1)
        weights[low] += 1.0
        weights[high] -= 1.0
        value, error = self._combined(weights[:-1])
        return value / max(error, 1e-300)

    @property
    def passed_peak(self) -> int:
        """The index of the largest error, after which it falls to the top rung; -1 if none."""
        top = len(self.rungs)
        peak = int(np.argmax([*self.values, 0.0]))
        rises = any(self._fall_between(k, k + 1) < -_RISE for k in range(peak))
        return peak if rises and peak < top and self._fall_between(peak, top) > 2 else -1

    def rise(self) -> tuple[int, int] | None:
        """Two rungs between which the error rises significantly, after a peak that is passed."""
        rungs = (*self.rungs, FULL)
        for k in reversed(range(self.passed_peak + 1, len(self.rungs))):
            if self._fall_between(k, k + 1) < -_RISE:
                return rungs[k], rungs[k + 1]
        return None

    def on_curve(self) -> Self:
        """The falls after a peak, without the lowest rungs while the slope decreases to them."""
        x = np.log([*self.rungs, FULL])
        count = len(self.rungs)
        first = min(self.passed_peak + 1, count - 1)
        while count - first > _FEWEST_FALLS:
            slopes = np.zeros((2, count + 1))
            for one, k in enumerate((first, first + 1)):
                slopes[one, [k, k + 1]] = np.array([1.0, -1.0]) / (x[k + 1] - x[k])
            value, error = self._combined((slopes[1] - slopes[0])[:count])
            if value <= _PLATEAU * error:
                break
            first += 1
        kept = slice(first, None)
        return type(self)(
            rungs=self.rungs[kept],
            values=self.values[kept],
            covariance=self.covariance[kept, kept],
        )

    def draws(self, rng: np.random.Generator, level: float, floor: float) -> list[FloatArray]:
        """Draws of the fall and of α from their posterior."""
        x = np.array(self.rungs) / N_BLOCKS
        scale = float(np.trace(self.covariance)) / len(x)
        if not scale > 0:  # the same error at every size
            return [np.zeros(N_DRAWS), np.full(N_DRAWS, _ALPHA_MEDIAN)]
        precision = np.linalg.inv(self.covariance + 1e-12 * scale * np.eye(len(x)))
        g = _shape(x, _ALPHAS[:, None])
        variance = 1 / np.einsum("ai,ij,aj->a", g, precision, g)
        best = variance * (g @ precision @ self.values)
        prior = -0.5 * (np.log(_ALPHAS / _ALPHA_MEDIAN) / _ALPHA_SPREAD) ** 2
        weights = _normalized(prior + 0.5 * best**2 / variance + 0.5 * np.log(variance))
        picked = rng.choice(len(_ALPHAS), 2 * N_DRAWS, p=weights)
        fall = best[picked] + np.sqrt(variance[picked]) * rng.standard_normal(2 * N_DRAWS)
        alpha = _ALPHAS[picked]
        (possible,) = np.nonzero(level + fall * _shape(_FAR, alpha) >= floor)
        if len(possible) == 0:
            possible = np.arange(len(fall))
        chosen = np.resize(possible, N_DRAWS)
        return [fall[chosen], alpha[chosen]]

    def reaching(self, rng: np.random.Generator, excess: float) -> tuple[float, FloatArray]:
        """The probability that the error falls to the noise, and draws of α if it does.

        `excess` is T(0.9) less the noise: the error falls to it if it is in proportion to x^-α. The
        other possibility, of the same prior probability, is a limit anywhere between both.
        """
        x = np.array(self.rungs) / N_BLOCKS
        scale = float(np.trace(self.covariance)) / len(x)
        if not (scale > 0 and excess > 0):
            return 0.0, np.full(N_DRAWS, _ALPHA_MEDIAN)
        precision = np.linalg.inv(self.covariance + 1e-12 * scale * np.eye(len(x)))
        prior = -0.5 * (np.log(_ALPHAS / _ALPHA_MEDIAN) / _ALPHA_SPREAD) ** 2
        limits = np.linspace(0.0, 1.0, 41)  # shares of the excess that remain
        fitted = excess * (1 - limits[:, None, None]) * _fall_to_zero(_ALPHAS)[:, None]
        off = self.values - fitted * _shape(x, _ALPHAS[:, None])
        logarithms = prior - 0.5 * np.einsum("lai,ij,laj->la", off, precision, off)
        weights = np.exp(logarithms - logarithms.max())
        first, others = weights[0].sum(), weights[1:].sum(axis=1).mean()
        alpha = _ALPHAS[rng.choice(len(_ALPHAS), N_DRAWS, p=_normalized(logarithms[0]))]
        return float(first / (first + others)), alpha


def _fall_to_zero(alpha: FloatArray) -> FloatArray:
    """T(0.1) - T(1) over T(0.9), of an error in proportion to x^-α."""
    return (0.1**-alpha - 1) / (FULL / N_BLOCKS) ** -alpha


def _normalized(logarithms: FloatArray) -> FloatArray:
    weights: FloatArray = np.exp(logarithms - logarithms.max())
    return weights / float(weights.sum())


# --- power laws of the variances ---


@dataclass(frozen=True, kw_only=True, eq=False)
class VariancePower:
    """Draws of a variance v(x) = v₁ u^-γ, u = (x - x₀)/(1 - x₀).

    x₀ is the position of an interpolation peak that is passed, and 0 if there is none: past its
    peak the variance of least squares is in proportion to 1/(n - p).
    """

    at_all_rows: FloatArray
    gamma: FloatArray
    peak: FloatArray  # x₀

    def at(self, x: float) -> FloatArray:
        """Draws of the variance with x times the rows; more data does not increase it."""
        distance = _distance(x, self.peak)
        return self.at_all_rows * distance ** -(
            np.maximum(self.gamma, 0.0) if x > 1 else self.gamma
        )

    def reordered(self, order: npt.NDArray[np.intp]) -> Self:
        """The same draws in another order."""
        return type(self)(
            at_all_rows=self.at_all_rows[order], gamma=self.gamma[order], peak=self.peak[order]
        )

    @classmethod
    def fitted(
        cls,
        x: FloatArray,
        values: FloatArray,
        variances: FloatArray,
        rng: np.random.Generator,
        *,
        peak_odds: float = 0.0,
    ) -> Self:
        """The posterior on a grid; v₁ is log-uniform down to its noise.

        `peak_odds` are those of a passed peak to none, before the data: sizes up to it say nothing.
        """
        if not np.any(values):
            return cls(
                at_all_rows=np.zeros(N_DRAWS), gamma=np.zeros(N_DRAWS), peak=np.zeros(N_DRAWS)
            )
        variances = np.maximum(variances, _LEAST_RELATIVE**2 * float(np.max(values**2)))
        spread = np.sqrt(variances)
        most = 3 * float(np.max(values + 2 * spread))
        grid = np.geomspace(max(_LEAST_VARIANCE * float(spread[-1]), 1e-9 * most), most, 120)
        gamma, v1 = np.meshgrid(_GAMMAS, grid, indexing="ij")
        any_value = -0.5 * (1 + np.log(values**2 + variances))  # of sizes up to the peak
        candidates = _PEAKS[x[-1] - _NEAREST > _PEAKS] if peak_odds else np.zeros(1)
        logarithms = []
        for x0 in candidates:
            u = _distance(x, x0)
            fitted = v1[..., None] * u ** -gamma[..., None]
            ratio = fitted / np.maximum(values, 1e-300)
            larger = np.where(values > 0, np.clip(ratio, 1.0, _MOST_SCALED), 1.0)
            variance = variances * larger**2 + (_MISFIT * np.log(u) ** 2 * fitted) ** 2
            terms = -0.5 * ((values - fitted) ** 2 / variance + np.log(variance))
            log_likelihood = np.where(x > x0 + _NEAREST, terms, any_value).sum(-1)
            mean, width = (_GAMMA_MEAN, _GAMMA_SPREAD) if x0 == 0 else _GAMMA_PAST_PEAK
            prior = -0.5 * ((gamma - mean) / width) ** 2 - math.log(width)
            share = 1.0 if x0 == 0 else peak_odds / len(_PEAKS)
            logarithms.append(log_likelihood + prior + math.log(share))
        weights = _normalized(np.array(logarithms)).ravel()
        which, index = np.divmod(rng.choice(weights.size, N_DRAWS, p=weights), v1.size)
        step = math.log(grid[1] / grid[0])
        jitter = np.exp(step * (rng.random(N_DRAWS) - 0.5))
        return cls(
            at_all_rows=v1.ravel()[index] * jitter,
            gamma=gamma.ravel()[index],
            peak=candidates[which],
        )


def _distance(x: Value, peak: Value) -> FloatArray:
    """U = (x - x₀)/(1 - x₀), at least a little beyond the peak."""
    distance: FloatArray = np.maximum(x - peak, np.where(peak > 0, _NEAREST, 0.0)) / (1 - peak)
    return distance


def law_sampling(shared: float, averaged: float) -> tuple[float, float, float]:
    """VS by the overlap law, from D and A = T - VI; and its derivatives by both.

    >>> round(law_sampling(0.2, 1.0)[0], 6)
    0.333333
    """
    h = _OVERLAP
    below = (1 - h) * averaged + h * shared  # A times the denominator: A may be nearly 0
    rise, fall = averaged / below, shared / below
    return shared * rise, (1 - h) * rise**2, h * fall**2


# --- all parts together ---


@dataclass(frozen=True, kw_only=True, eq=False)
class Extrapolation:
    """Draws of the total and of both variances at any number of rows."""

    total: TotalCurve
    initialization: VariancePower
    sampling: VariancePower
    at_rungs: Mapping[
        float, Mapping[str, FloatArray]
    ]  # draws of what is measured, by share of rows
    withheld: str  # why no error is predicted beyond the rows; empty if it is
    law_excess: float  # the logarithm of the law over what is measured at 0.4, if significant

    @classmethod
    def of(
        cls, measured: Measurements, rows: RowMultipliers, *, seed: int, floor: float | None = None
    ) -> Self:
        """Fit the curves; `floor` is the variance of label noise, if it is known."""
        falls = Falls.of(measured.total, rows)
        own = _salt(measured.total[FULL])
        top = measured.total[FULL]
        curve = total_curve(falls, top, rows, generator(seed, _CURVE, own), floor)
        seeds = _of_seeds(measured, rows, generator(seed, _SEEDS, own))
        odds = _PEAK_ODDS if falls.passed_peak < 0 else _SEEN_PEAK_ODDS
        sets, law_excess = _of_sets(measured, rows, generator(seed, _SETS, own), odds)
        order = _possible(curve.at(1.0), seeds.at(1.0), sets.at(1.0), generator(seed, _ORDER, own))
        return cls(
            total=curve,
            initialization=seeds.reordered(order),
            sampling=sets.reordered(order),
            at_rungs=_measured_draws(measured, rows, generator(seed, _RUNGS, own)),
            withheld=_rise_of_error(falls)
            or _just_past_peak(falls)
            or _growth_of_seeds(measured, rows),
            law_excess=law_excess,
        )

    def parts(self, x: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draws of the total, VI and VS with x times the rows: measured ones where there are.

        Near an interpolation peak, those at all rows are those at 90% of them.
        """
        if self.withheld and x > FULL / N_BLOCKS:
            x = FULL / N_BLOCKS
        known = self.at_rungs.get(round(x, 6), {})
        total, seeds, sets = (
            known[name] if name in known else getattr(self, name).at(x)
            for name in ("total", "initialization", "sampling")
        )
        variance = np.asarray(seeds + sets)
        scale = np.divide(total, variance, out=np.ones_like(variance), where=variance > total)
        return total, seeds * scale, sets * scale


def _measured_draws(
    measured: Measurements, rows: RowMultipliers, rng: np.random.Generator
) -> dict[float, dict[str, FloatArray]]:
    """Draws of the measured total and variances at every rung, by the share of rows."""
    draws = {}
    for rung, total in measured.total.items():
        own = {"total": rows.positive_draws(total)}
        if rung in measured.initialization:
            seeds = measured.initialization[rung]
            spread = math.sqrt(_seed_variance(seeds, rows))
            own["initialization"] = seeds.mean + spread * rng.standard_normal(N_DRAWS)
        if rung in measured.sampling:
            value, variance = _direct(measured.sampling[rung], rows)
            own["sampling"] = value + math.sqrt(variance) * rng.standard_normal(N_DRAWS)
        draws[rung / N_BLOCKS] = own
    return draws


def _salt(total: Measurement) -> int:
    """A number of the learner's own, so that draws of two learners share that of the rows only."""
    return int.from_bytes(blake2b(total.by_row.tobytes(), digest_size=4).digest(), "big")


def total_curve(
    falls: Falls,
    top: Measurement,
    rows: RowMultipliers,
    rng: np.random.Generator,
    floor: float | None = None,
) -> TotalCurve:
    """The learning curve of a total error: its falls, and its mean at the largest rung."""
    on_curve, least = falls.on_curve(), floor or 0.0
    level = np.maximum(rows.positive_draws(top), least)
    fall, alpha = on_curve.draws(rng, top.mean, least)
    if floor is not None:
        probability, own = on_curve.reaching(rng, top.mean - floor)
        reaches = rng.random(N_DRAWS) < probability
        fall = np.where(reaches, (level - floor) * _fall_to_zero(own), fall)
        alpha = np.where(reaches, own, alpha)
    return TotalCurve(
        level=level,
        fall=np.where(level > 0, fall, 0.0),  # an error of 0 stays 0
        alpha=alpha,
        misfit=rng.standard_normal(N_DRAWS),
        floor=least,
        dropped=tuple(rung for rung in falls.rungs if rung not in on_curve.rungs),
        least=on_curve.rungs[0] / N_BLOCKS,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LossCurve:
    """Draws of an error that is measured as a whole, at any number of rows."""

    totals: Mapping[int, Measurement]  # by rung
    rows: RowMultipliers
    seed: int
    floor: float | None  # the variance of label noise, if it is known

    def at(self, x: float) -> FloatArray:
        """Draws with x times the rows: measured, or along the curve; ValueError without one."""
        here = {rung / N_BLOCKS: total for rung, total in self.totals.items()}.get(round(x, 6))
        top = self.totals[FULL]
        if here is None and x == 1 and self._infinite:
            here = top  # there is no curve: the loss at 90% of the rows
        if here is not None:
            if math.isinf(here.mean):  # a class of probability 0 occurs
                return np.full(N_DRAWS, math.inf)
            return self.rows.positive_draws(here)
        if reason := self.lacks(x):
            raise ValueError(reason)
        rng = generator(self.seed, _LOSS, _salt(top))
        return total_curve(Falls.of(self.totals, self.rows), top, self.rows, rng, self.floor).at(x)

    @property
    def _infinite(self) -> list[int]:
        return [rung for rung, total in self.totals.items() if math.isinf(total.mean)]

    def lacks(self, x: float) -> str:
        """Why there is no curve to x times the rows; empty if there is one."""
        if self._infinite:
            return f"the loss is infinite at {percent(self._infinite[-1] / N_BLOCKS)} of the rows"
        rises = x > 1 and Falls.of(self.totals, self.rows).rise()
        return "this loss rises with the rows" if rises else ""


def _of_seeds(
    measured: Measurements, rows: RowMultipliers, rng: np.random.Generator
) -> VariancePower:
    rungs = sorted(measured.initialization)
    means = np.array([measured.initialization[rung].mean for rung in rungs])
    variances = np.array([_seed_variance(measured.initialization[r], rows) for r in rungs])
    return VariancePower.fitted(np.array(rungs) / N_BLOCKS, means, variances, rng)


def _seed_variance(measured: Measurement, rows: RowMultipliers) -> float:
    return float(np.sum(rows.deviations(measured) ** 2)) + _SEED_WINDOWS * measured.spread**2


def _direct(measured: Measurement, rows: RowMultipliers) -> tuple[float, float]:
    """VS from windows without a common row, and its variance."""
    variance = float(np.sum(rows.deviations(measured) ** 2)) + _PAIRS * measured.spread**2
    return measured.mean, variance


def _of_sets(
    measured: Measurements, rows: RowMultipliers, rng: np.random.Generator, odds: float = _PEAK_ODDS
) -> tuple[VariancePower, float]:
    """VS from disjoint windows and from the overlap law; and the deviation of the law."""
    rungs = sorted(measured.sampling)
    direct = [_direct(measured.sampling[rung], rows) for rung in rungs]
    law, correction = _by_law(measured, rows, LAW), _law_correction(measured, rows)
    factor, shared = math.exp(-correction.mean), measured.shared[LAW].mean
    variance = (factor * law.spread) ** 2 + (factor * law.value * correction.spread) ** 2
    value = factor * law.value
    if shared > 0:  # the bracket of every learner
        value = min(max(value, shared), shared / (1 - _OVERLAP))
    values, variances = np.array([*direct, (value, variance)]).T
    x = np.array([*rungs, LAW]) / N_BLOCKS
    power = VariancePower.fitted(x, values, variances, rng, peak_odds=odds)
    return power, correction.significant


class _Law(NamedTuple):
    """VS by the overlap law at one rung."""

    value: float
    deviations: FloatArray  # of units of rows
    spread: float  # its standard error


def _by_law(measured: Measurements, rows: RowMultipliers, rung: int) -> _Law:
    shared, total = measured.shared[rung], measured.total[rung]
    seeds = measured.initialization.get(rung)
    averaged = total.mean - (seeds.mean if seeds else 0.0)
    value, by_shared, by_averaged = law_sampling(shared.mean, max(averaged, 1e-300))
    deviations = by_shared * rows.deviations(shared) + by_averaged * rows.deviations(total)
    variance = float(np.sum(deviations**2)) + _PAIRS * (by_shared * shared.spread) ** 2
    return _Law(value, deviations, math.sqrt(variance))


class _Correction(NamedTuple):
    """The logarithm of the law over the truth, shrunk towards 0 by the error of its measurement."""

    mean: float = 0.0
    spread: float = 0.0
    significant: float = 0.0  # as measured, if that is significant


def _law_correction(measured: Measurements, rows: RowMultipliers) -> _Correction:
    """How far the law is off at rung 4, where VS is measured too, from the same fits.

    The ratio of both is far more precise than either: they share their training rows. It is about
    the same at the rung of the law.
    """
    rung = 4
    direct, law = measured.sampling[rung], _by_law(measured, rows, rung)
    if min(direct.mean, law.value) <= 0:
        return _Correction()
    deviations = law.deviations / law.value - rows.deviations(direct) / direct.mean
    between = (_RATIO_PAIRS * direct.spread / direct.mean) ** 2
    variance = _RATIO_ROWS * float(np.sum(deviations**2)) + between
    ratio, prior = math.log(law.value / direct.mean), _LAW_SPREAD**2
    share = prior / (prior + variance)
    significant = ratio if abs(ratio) > 2 * math.sqrt(variance) else 0.0
    return _Correction(share * ratio, math.sqrt(share * variance), significant)


def _possible(
    most: FloatArray, seeds: FloatArray, sets: FloatArray, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """An order of the draws of variances in which their sum is not above the total, if possible."""
    order = np.arange(N_DRAWS)
    for _ in range(20):
        (bad,) = np.nonzero(seeds[order] + sets[order] > most)
        if not bad.size:
            break
        order[bad] = rng.integers(N_DRAWS, size=bad.size)
    return order


def _rise_of_error(falls: Falls) -> str:
    if (rungs := falls.rise()) is None:
        return ""
    low, high = (percent(rung / N_BLOCKS) for rung in rungs)
    return f"the error rises between {low} and {high} of the rows: an interpolation peak is near"


def _just_past_peak(falls: Falls) -> str:
    if falls.passed_peak < 0 or len(falls.rungs) - falls.passed_peak > _FEWEST_FALLS:
        return ""
    peak = falls.rungs[falls.passed_peak] / N_BLOCKS
    return f"the error has a peak at {percent(peak)} of the rows, and too few sizes lie beyond it"


def _growth_of_seeds(measured: Measurements, rows: RowMultipliers) -> str:
    """The reason to withhold more data if the variance over seeds grows; "" otherwise.

    Before an interpolation peak this variance increases, and the total does not decrease clearly.
    For trees, which are deeper on more data, it increases slowly from the smallest size. An
    increase therefore counts if it follows a decrease, or if it is strong.
    """
    seeds, total = measured.initialization, measured.total
    if set(RUNGS) - set(seeds) or not total[FULL].mean > 0:
        return ""

    def significance(means: Mapping[int, Measurement], weights: Mapping[int, float]) -> float:
        value = sum(weight * means[rung].mean for rung, weight in weights.items())
        parts = [weight * rows.deviations(means[rung]) for rung, weight in weights.items()]
        windows = sum((w * means[rung].spread) ** 2 for rung, w in weights.items()) / N_BLOCKS
        variance = float(np.sum(np.sum(parts, axis=0) ** 2)) + windows
        return value / max(math.sqrt(variance), 1e-300)

    growth = significance(seeds, {FULL: 1.0, LAW: -0.5, 4: -0.5})
    fell = significance(seeds, {1: 0.5, 2: 0.5, LAW: -0.5, 4: -0.5})
    still_falls = significance(total, {LAW: 1.0, FULL: -1.0})
    share = (seeds[FULL].mean - (seeds[LAW].mean + seeds[4].mean) / 2) / total[FULL].mean
    after_fall = fell > _SEEDS_FELL and growth > _SEEDS_GROW
    grows = (after_fall or growth > _SEEDS_GROW_STRONGLY) and share > _SEEDS_SHARE
    matters = seeds[FULL].mean > _PEAK_SHARE * total[FULL].mean
    if not (grows and matters) or still_falls > _STILL_FALLS:
        return ""
    return "the variance over seeds grows up to 90% of the rows: an interpolation peak is near"
