r"""Calibration of the mean score of classifiers, read as log-odds.

A mean score f ~ N(0, q_K) has the labels P(y = 1 | f) = p + (1-2p) Φ(a f/√q_K), with a the tangent
form of its correlation with the labels' field (`convex`). As log-odds f predicts σ(f): its
calibration error is the mean of |σ(f) - P(y = 1 | f)|, and its calibration slope is the factor b
for which σ(b f) has the least cross-entropy (below one for overconfident scores).
"""

from __future__ import annotations  # help() then shows the alias Value

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import erf, expit, logit, ndtr

from doubletrouble import _plots
from doubletrouble._display import Content, Quantity, Shown, quantity_table
from doubletrouble._numbers import plain
from doubletrouble._numerics import bisected, limit_value
from doubletrouble.convex._error import ClassMeasure, ConvexMembers, mean_slope
from doubletrouble.ensembles import EnsembleLike, Scheme, as_ensemble, coordinates
from doubletrouble.palette import BLACK
from doubletrouble.parameters import BoolArray, FloatArray, Parts, Value
from doubletrouble.problems import Problem

_SPREAD = 4.0  # standard deviations of the scores drawn
_NEARLY = 0.005  # the distance of the slope of calibrated scores from 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Calibration(Shown):
    """The calibration of scores as log-odds; numbers, or arrays of the problem's shape.

    The label is +1 at the score f with probability p + (1-2p) Φ(a f/s), with p `flips`, a `tilt`
    and s `score_sd`.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(ridge=1e-4, task="classification", loss="logistic", flips=0.1)
    >>> print(dt.calibration(problem))
    quantity           value
    slope              0.0872
    calibration error  0.310
    sd of the score    6.11
    The scores are overconfident: times 0.0872 they have the least cross-entropy.
    """

    score_sd: Value  # standard deviation of the mean score
    tilt: Value  # ρ/√(1 - ρ²), ρ the correlation of the score with the noisy teacher
    flips: Value  # probability that a label is flipped
    slope: Value  # the factor of the score with the least cross-entropy, 1 for calibrated scores
    calibration_error: Value  # mean distance of the predicted probability from the actual one
    coordinates: Mapping[str, Value] = field(default_factory=dict)  # that vary along the axes

    def predicted(self, scores: npt.ArrayLike) -> FloatArray:
        """Return the probability σ(f) of the label +1 that scores predict.

        Parameters
        ----------
        scores : array_like
            Scores f.

        Returns
        -------
        numpy.ndarray
            Probabilities, in the shape of the scores.
        """
        return np.asarray(expit(np.asarray(scores, dtype=np.float64)))

    def actual(self, scores: npt.ArrayLike) -> FloatArray:
        """Return the probability of the label +1 given scores.

        Parameters
        ----------
        scores : array_like
            Scores f.

        Returns
        -------
        numpy.ndarray
            Probabilities, in the shape of the scores; of arrays, scores are the last axis.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> problem = dt.Problem(ridge=1e-4, task="classification", loss="logistic", flips=0.1)
        >>> one = dt.calibration(problem)
        >>> one.predicted([0.0, 5.0]).round(3), one.actual([0.0, 5.0]).round(3)
        (array([0.5  , 0.993]), array([0.5  , 0.609]))
        """
        f = np.asarray(scores, dtype=np.float64)
        ratio, p = np.divide(self.tilt, self.score_sd), np.asarray(self.flips)
        if np.ndim(self.score_sd) and f.ndim:
            ratio, p = ratio[..., None], np.broadcast_to(p, np.shape(self.score_sd))[..., None]
        return np.asarray(p + (1 - 2 * p) * ndtr(ratio * f))

    def _content(self) -> Content:
        values = [
            Quantity(name="slope", value=self.slope),
            Quantity(name="calibration_error", value=self.calibration_error),
            Quantity(name="score_sd", value=self.score_sd, heading="sd of the score"),
        ]
        table = quantity_table("calibration", values, self.coordinates)
        slope, error = np.asarray(self.slope), np.asarray(self.calibration_error)
        if slope.shape:
            verdict = f"The least calibration error is {plain(float(error.min()))}."
            return Content(tables=[table], verdict=verdict)
        verdict = f"The scores are calibrated: slope {plain(float(slope))}."
        if abs(slope - 1) > _NEARLY:
            kind = "overconfident" if slope < 1 else "underconfident"
            verdict = (
                f"The scores are {kind}: times {plain(float(slope))} they have the least "
                "cross-entropy."
            )
        return Content(tables=[table], verdict=verdict)

    def _picture(self) -> _plots.Picture:
        if np.ndim(self.slope):
            return self._family()
        scores = np.linspace(-_SPREAD, _SPREAD, 201) * self.score_sd
        predicted = self.predicted(scores)
        return _plots.Curves(
            x=predicted,
            xlabel="predicted probability",
            lines=[
                _plots.Curve(label="this classifier", y=self.actual(scores)),
                _plots.Curve(label="calibrated", y=predicted, dotted=True, color=BLACK),
            ],
            ylabel="actual probability",
            logx=False,
            logy=False,
        )

    def _family(self) -> _plots.CurveFamily:
        """A curve for each point, over its scores."""
        predicted = np.linspace(0.01, 0.99, 99)
        scores = logit(predicted)
        actual = self.actual(scores).reshape(-1, scores.size)
        spread = np.reshape(np.broadcast_to(self.score_sd, np.shape(self.slope)), (-1, 1))
        shape = np.shape(self.slope)
        across = {name: np.broadcast_to(v, shape).ravel() for name, v in self.coordinates.items()}
        diagonal = _plots.Curve(label="calibrated", y=predicted, dotted=True, color=BLACK)
        return _plots.CurveFamily(
            x=predicted,
            xlabel="predicted probability",
            totals=np.where(np.abs(scores) <= _SPREAD * spread, actual, np.nan),
            ylabel="actual probability",
            others=[diagonal],
            logx=False,
            logy=False,
            **_plots.levels_of(across, len(actual)),
        )


def calibration(problem: Problem, ensemble: EnsembleLike = 1) -> Calibration:
    """Return the calibration of an ensemble's mean score, read as the log-odds of the label.

    Parameters
    ----------
    problem : Problem
        A problem of classification; its fields may be arrays.
    ensemble : int or array_like or Scheme, default: 1
        The models: any ensemble of `exact_error` but `Bootstrap` and `Vote`.

    Returns
    -------
    Calibration
        The slope (1 for calibrated scores), the calibration error, and both probabilities as
        functions of the score.

    Raises
    ------
    ValueError
        If the task is not classification, the ensemble is not supported, shapes do not broadcast,
        or data are not separable with the loss "max_margin".
    TypeError
        If an argument is not of the type above.
    DivergenceError
        For the logistic loss without ridge on separable data.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(ridge=1e-4, task="classification", loss="logistic", flips=0.1)
    >>> one, five = dt.calibration(problem), dt.calibration(problem, 5)
    >>> round(one.slope, 4), round(five.slope, 4)
    (0.0872, 0.1542)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.task != "classification":
        raise ValueError(f"task must be classification for calibration, got {problem.task!r}")
    scheme = as_ensemble(ensemble, "calibration")
    parts = _parts(problem, scheme)
    varying = coordinates(problem, scheme) if problem.shape or scheme.shape else {}
    return Calibration(**parts, coordinates=varying)


def _parts(problem: Problem, scheme: Scheme) -> Parts:
    """The fields of `Calibration` at every point."""
    with np.errstate(all="ignore"):
        members = ConvexMembers.of(problem, scheme)
        member, classes = members.member, ClassMeasure.of(problem, "zero_one_noisy")
        flips, q_d = classes.flips, member.q_d
        power = q_d + (excess := members.mean_excess())
        learned = (q_d > 0) & (flips < 0.5)
        squared_tilt = np.where(learned, q_d / (excess + classes.variance * power), 0.0)
        sd, tilt = np.sqrt(power), np.sqrt(squared_tilt)
        # log-odds b f are best where b q E σ'(b √q z) = (1-2p) m/√(2π(ρ+τ²)), in c = b √q
        pull = (1 - 2 * flips) * tilt / np.sqrt((1 + squared_tilt) * 2 * np.pi)
        bounds = np.full(member.shape, -300.0), np.full(member.shape, 300.0)
        log_c = bisected(lambda log_c: np.exp(log_c) * mean_slope(np.exp(log_c)) < pull, *bounds)
        limit_sd = np.sqrt(limit_value(power, member.limit))
        parts = {
            "score_sd": limit_sd,
            "tilt": np.sqrt(limit_value(squared_tilt, member.limit)),
            "flips": flips,
            "slope": np.where(pull > 0, np.exp(log_c) / limit_sd, 0.0),
            "calibration_error": _calibration_error(sd, tilt, flips, member.shape),
        }
    return members.at_limits(parts)


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

    def is_before(z: FloatArray) -> BoolArray:
        return np.asarray(np.sign(gap_of(z, s[row, 0], a[row, 0], p[row, 0])) == sign[cell])

    zero = high.copy()  # without a zero the second part is empty
    zero[cell] = bisected(is_before, low[cell], high[cell])
    x, w = np.polynomial.legendre.leggauss(8)
    total = np.zeros(s.shape[0])
    for start, stop in ((low, zero), (zero, high)):
        half = 0.5 * (stop - start)
        for node, weight in zip(x, w, strict=True):
            z = start + half * (1 + node)
            density = 2 * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
            total = total + (half * weight * np.abs(gap(z)) * density).sum(-1)
    return total.reshape(shape)
