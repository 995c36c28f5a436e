r"""Calibration of the mean score of classifiers, read as log-odds.

A mean score f ~ N(0, q_K) has the labels P(y = 1 | f) = p + (1-2p) Φ(a f/√q_K), with a the tangent
form of its correlation with the labels' field (`convex`). As log-odds f predicts σ(f): its
calibration error is the mean of |σ(f) - P(y = 1 | f)|, and its calibration slope is the factor b
for which σ(b f) has the least log loss (below one for overconfident scores).
"""

from __future__ import annotations  # help() then shows the alias Value

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.errors import require
from doubletrouble.palette import BLACK
from doubletrouble.parameters import FloatArray, Value
from doubletrouble.problems import Problem


@dataclass(frozen=True, kw_only=True, eq=False)
class Calibration:
    """The calibration of scores as log-odds; numbers, or arrays of the problem's shape.

    The label is +1 at the score f with probability p + (1-2p) Φ(a f/s), with p `flips`, a `tilt`
    and s `score_sd`.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(ridge=1e-4, task="classification", loss="logistic", flips=0.1)
    >>> print(dt.calibration(problem))
    calibration slope 0.08716, calibration error 0.3101
    """

    score_sd: Value  # standard deviation of the mean score
    tilt: Value  # ρ/√(1 - ρ²), ρ the correlation of the score with the noisy teacher
    flips: Value  # probability that a label is flipped
    slope: Value  # the factor of the score with the least log loss, 1 for calibrated scores
    calibration_error: Value  # mean distance of the predicted probability from the actual one

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
        from scipy.special import expit

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
        from scipy.special import ndtr

        f = np.asarray(scores, dtype=np.float64)
        ratio, p = np.divide(self.tilt, self.score_sd), np.asarray(self.flips)
        if np.ndim(self.score_sd) and f.ndim:
            ratio, p = ratio[..., None], np.broadcast_to(p, np.shape(self.score_sd))[..., None]
        return np.asarray(p + (1 - 2 * p) * ndtr(ratio * f))

    def __str__(self) -> str:
        """The slope and the calibration error."""
        if np.ndim(self.slope):
            return f"calibration of {np.size(self.slope)} points"
        return f"calibration slope {self.slope:.4g}, calibration error {self.calibration_error:.4g}"

    def plot(self, axes: Any = None) -> Any:
        """Draw the actual against the predicted probability.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ValueError
            If the calibration is an array.
        MissingExtraError
            If matplotlib is not installed.
        """
        if np.ndim(self.slope):
            raise ValueError(f"plot must be of one point, got shape {np.shape(self.slope)}")
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            axes = pyplot.figure(figsize=(4.0, 3.6), layout="constrained").add_subplot()
        scores = np.linspace(-4, 4, 201) * self.score_sd
        axes.plot([0, 1], [0, 1], color=BLACK, linewidth=0.8, linestyle=":")
        axes.plot(self.predicted(scores), self.actual(scores), label=str(self))
        axes.set_xlabel("predicted probability")
        axes.set_ylabel("actual probability")
        axes.spines[["top", "right"]].set_visible(False)
        return axes


def calibration(problem: Problem, ensemble: EnsembleLike = 1) -> Calibration:
    """Return the calibration of an ensemble's mean score, read as the log-odds of the label.

    Parameters
    ----------
    problem : Problem
        A problem of classification; its fields may be arrays.
    ensemble : int, array_like or Scheme, default: 1
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
    from doubletrouble.theory._any_loss import calibration_parts

    parts = calibration_parts(problem, as_ensemble(ensemble, "calibration"))
    return Calibration(score_sd=parts.pop("sd"), **parts)
