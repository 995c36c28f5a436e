"""The error of a learner by cause, from its predictions."""

from __future__ import annotations  # help() then shows names, not their definitions

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import get_args

import numpy as np
import numpy.typing as npt

from doubletrouble._numbers import CONFIDENCE
from doubletrouble.estimates import Estimate, draws_digest
from doubletrouble.glossary import NOISE
from doubletrouble.learners._components import LARGEST, Target, halves
from doubletrouble.learners._decomposition import Decomposition
from doubletrouble.learners._design import Design
from doubletrouble.learners._losses import error_statistics
from doubletrouble.losses import LearnerMeasure
from doubletrouble.palette import printed_name
from doubletrouble.parameters import (
    FloatArray,
    Parameter,
    check_choice,
    check_flag,
    check_level,
    checked,
    number,
    refuse_masked,
)

_TARGET = Parameter(
    symbol="y", meaning="target at a test point", typical=(-1.0, 1.0), low=-LARGEST, high=LARGEST
)
_FAR = 5.0  # standard errors below zero, which chance does not explain
_NORMALIZED = 1e-4  # largest deviation of a sum of probabilities from 1
_RATIO = Parameter(
    symbol="σ²/s²", meaning="variance of the labels' own noise over that added", typical=(0.5, 2.0)
)


def decompose_predictions(
    predictions: npt.ArrayLike,
    truth: npt.ArrayLike | None = None,
    y_test: npt.ArrayLike | None = None,
    *,
    label_noise: npt.ArrayLike | None = None,
    crossed: bool = True,
    include_test: bool = True,
    deterministic: bool = False,
    noiseless: bool = False,
    hidden_noise: bool = False,
    injected: float | None = None,
    measure: LearnerMeasure = "squared",
    confidence: float = CONFIDENCE,
) -> Decomposition:
    """Return unbiased estimates of the squared error and its parts by cause.

    The parts are noise, initialization, sampling and bias. Estimates come from products of distinct
    draws: they are unbiased however few the draws, and may be negative. With an axis of length one
    a part is not identified; the `notes` of the result name the part that contains it.

    Parameters
    ----------
    predictions : array_like of shape (data, noise, init, test) or (data, noise, init, test, output)
        Training sets drawn independently; on the inputs of each, independent draws of the label
        noise; for each of these, the learner trained from several initializations; its outputs at
        the test points, the same for all. Within a data set, the k-th initialization and the n-th
        noise are the same wherever they occur. Squares are added up over outputs: probabilities of
        classes against one-hot labels give the Brier score.
    truth : array_like of shape (test,) or (test, output) or None, default: None
        The target at the test points without noise.
    y_test : array_like of shape (test,) or (test, output) or None, default: None
        Labels of the test points. Alone, their noise is part of bias and total; with `truth`, bias
        is against the truth, total against `y_test`, and `bayes` is the difference. With neither,
        there is no bias and no total.
    label_noise : float or array_like of shape (test,) or None, default: None
        The standard deviation of the noise in `y_test`, where it is given without `truth`: its
        square is subtracted from bias and total.
    crossed : bool, default: True
        Whether the k-th initialization is the same for all data sets, too (the same seed).
    include_test : bool, default: True
        Whether standard errors are those over other data sets, noise, initializations and test
        points; False for these test points.
    deterministic : bool, default: False
        True for a learner without randomness, which needs one initialization.
    noiseless : bool, default: False
        True for labels without noise, which need one noise draw.
    hidden_noise : bool, default: False
        True where noise draws were added to labels that have noise of their own.
    injected : float or None, default: None
        The variance of the labels' own noise over that of the added noise, where it is known; the
        first of the noise draws is then the labels without added noise.
    measure : "squared" or "log" or "zero_one", default: "squared"
        For probabilities of classes: the Brier score, which is the squared error, the cross-entropy
        or the error rate.
    confidence : float, default: 0.9
        The level of intervals in tables and plots, in (0, 1).

    Returns
    -------
    Decomposition
        Every part with its standard error: `error()`, `anova()`, `to_frame()`, `plot()`.

    Raises
    ------
    ValueError
        If an array has another shape or is not finite; if options contradict each other or the
        numbers of draws.
    TypeError
        If an array has masked elements or does not hold numbers.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> data, init = rng.normal(size=(30, 1, 1, 200)), rng.normal(size=(30, 1, 5, 200))
    >>> noise = rng.normal(size=(30, 2, 5, 200))
    >>> f = 1 + data + 0.7 * init + 0.5 * noise
    >>> result = dt.decompose_predictions(f, truth=np.zeros(200))
    >>> print(result.error())
    part               error ± s.e.  share
    noise           0.2500 ± 0.0032     9%
    initialization  0.4904 ± 0.0043    18%
    sampling        0.992  ± 0.026     36%
    bias            0.999  ± 0.029     37%
    total           2.731  ± 0.041
    37% of the error is bias.
    >>> round(result.error(10).total.value, 2)
    2.06
    """
    check_level("confidence", confidence)
    check_choice("measure", measure, get_args(LearnerMeasure))
    flags = {"crossed": crossed, "deterministic": deterministic, "noiseless": noiseless}
    flags |= {"hidden_noise": hidden_noise, "include_test": include_test}
    for name, flag in flags.items():
        check_flag(name, flag)
    array = _as_predictions(predictions)
    n_data, n_noise, n_init, n_test = array.shape[:4]
    if measure != "squared":
        array = _class_predictions(array, measure)
    targets = (
        _targets(truth, y_test, label_noise, array.shape[3:])
        if measure == "squared"
        else _class_targets(truth, y_test, label_noise, injected, array.shape[3:], measure)
    )
    if deterministic and n_init > 1:
        raise ValueError(f"deterministic must be False for {n_init} initializations, got True")
    identical = n_init > 1 and bool((array == array[:, :, :1]).all())
    if identical:  # rounding errors of the general estimate would not be exactly 0
        array, n_init, deterministic = array[:, :, :1], 1, True
    if noiseless and n_noise > 1:
        raise ValueError(f"noiseless must be False for {n_noise} noise draws, got True")
    if injected is not None:
        n_noise -= 1  # the first are the labels without added noise
        if n_noise < 2:
            raise ValueError(
                f"injected must be None with fewer than 2 draws of added noise, got {injected!r} "
                f"and {n_noise} beside the labels without added noise"
            )
    design = Design(
        n_data=n_data,
        n_noise=n_noise,
        n_init=n_init,
        n_test=n_test,
        crossed=crossed,
        targets=tuple(targets),
        deterministic=deterministic,
        noiseless=noiseless,
        hidden_noise=hidden_noise,
        injected=None if injected is None else number("injected", injected, _RATIO),
    )
    key: tuple[Hashable, ...] = (
        ("predictions", draws_digest(array)),
        ("design", replace(design, targets=())),
        ("include_test", include_test),
        ("measure", measure),
    )
    parts = halves(n_data) if include_test else []
    statistics, own = error_statistics(array, targets, design, measure, parts=parts, key=key)
    result = Decomposition(
        design=design, notes=(), confidence=confidence, statistics=statistics, measure=measure
    )
    notes = [*design.notes, *own]
    if identical:
        notes.append("All initializations predict the same: the learner is deterministic here.")
    if n_test == 1 and include_test:
        notes.append(
            "Standard errors are infinite: they need 2 or more test points (include_test=False is "
            "for one fixed test point)."
        )
    if measure == "squared":
        notes += _negative_parts(result.error().parts, design)
    return replace(result, notes=tuple(notes))


def _negative_parts(parts: Mapping[str, Estimate], design: Design) -> list[str]:
    """The reason why a part is estimated below 0, where one is."""
    below = {printed_name(name): part for name, part in parts.items() if part.value < 0}
    far = [name for name, part in below.items() if part.value < -_FAR * part.standard_error]
    near = [name for name in below if name not in far]
    notes = []
    if near:
        notes.append(
            f"Estimated below 0: {' and '.join(near)}. Unbiased estimates of a part near 0 may be, "
            "and are not truncated."
        )
    if far:
        why = "The noise of the labels differs from the one given"
        if design.injected is not None:
            why += ", or the learner is not linear in them"
        notes.append(f"Estimated far below 0: {' and '.join(far)}. {why}.")
    return notes


def _as_predictions(value: npt.ArrayLike) -> npt.NDArray[np.generic]:
    wanted = "predictions must be an array [data, noise, init, test] or one with outputs last"
    refuse_masked("predictions", value)
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise ValueError(f"{wanted}, got {error}") from error
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{wanted} of numbers, got an array of {array.dtype}")
    if array.ndim not in (4, 5) or not array.size:
        raise ValueError(f"{wanted} with every axis of length 1 or more, got shape {array.shape}")
    return array


def _targets(
    truth: npt.ArrayLike | None,
    y_test: npt.ArrayLike | None,
    label_noise: npt.ArrayLike | None,
    shape: tuple[int, ...],
) -> dict[str, Target]:
    """The targets; labels whose noise is known stand for the truth."""
    given = {"truth": truth, "y_test": y_test}
    values = {name: _as_target(name, y, shape) for name, y in given.items() if y is not None}
    if label_noise is None:
        return {name: Target(value, np.zeros(shape)) for name, value in values.items()}
    if truth is not None or y_test is None:
        reason = "truth beside it" if truth is not None else "no y_test"
        raise ValueError(
            f"label_noise must be left out without y_test, or where truth is given, got {reason}"
        )
    refuse_masked("label_noise", label_noise)
    sigma = np.asarray(checked("label_noise", label_noise, NOISE), dtype=float)
    if sigma.shape == shape[:1]:
        sigma = sigma.reshape(-1, *(1 for _ in shape[1:]))
    try:
        floor = np.broadcast_to(sigma**2, shape)
    except ValueError as error:
        raise ValueError(
            f"label_noise must be a number, or one for each of {shape[0]} test points, "
            f"got shape {sigma.shape}"
        ) from error
    return {"truth": Target(values["y_test"], floor)}


def _class_targets(
    truth: npt.ArrayLike | None,
    y_test: npt.ArrayLike | None,
    label_noise: npt.ArrayLike | None,
    injected: float | None,
    shape: tuple[int, ...],
    measure: LearnerMeasure,
) -> dict[str, Target]:
    """The targets as probabilities of classes."""
    if label_noise is not None:
        raise ValueError(f"label_noise must be left out for {measure=}, got {label_noise!r}")
    if injected is not None:  # the response to added noise is not proportional to it
        raise ValueError(f"injected must be None for {measure=}, got {injected!r}")
    given = {"truth": truth, "y_test": y_test}
    targets = {k: _class_target(k, y, shape, measure) for k, y in given.items() if y is not None}
    if not targets and measure == "zero_one":
        raise ValueError(f"truth or y_test must be given for {measure=}, got neither")
    return {name: Target(value, np.zeros(shape)) for name, value in targets.items()}


def _as_target(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    refuse_masked(name, value)
    target = checked(name, value, _TARGET)
    if np.shape(target) != shape:
        outputs = f" and {shape[1]} outputs" if len(shape) > 1 else ""
        raise ValueError(
            f"{name} must have one number for each of {shape[0]} test points{outputs}, "
            f"got shape {np.shape(target)}"
        )
    return np.asarray(target)


def _class_predictions(
    array: npt.NDArray[np.generic], measure: LearnerMeasure
) -> npt.NDArray[np.generic]:
    """Predictions of classes, which are probabilities for cross-entropy, or ValueError."""
    if array.ndim != 5 or array.shape[-1] < 2:
        raise ValueError(
            f"measure must be squared for predictions without an axis of 2 or more classes, "
            f"[data, noise, init, test, class], got {measure!r} and shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError("predictions must be finite numbers, got some that are not")
    if measure == "log":
        off = float(np.abs(array.sum(axis=-1, dtype=np.float64) - 1).max())
        if array.min() < 0 or off > _NORMALIZED:
            raise ValueError(
                "predictions must be probabilities of classes with sum 1 for measure='log', got "
                f"a smallest one of {float(array.min()):.3g} and sums that deviate by {off:.2g}"
            )
    return array


def _class_target(
    name: str, value: npt.ArrayLike, shape: tuple[int, ...], measure: LearnerMeasure
) -> FloatArray:
    """A target as probabilities (T, C), from class indices, one-hot rows or, if true, others."""
    refuse_masked(name, value)
    target, (T, C) = np.asarray(value), shape
    wanted = f"{name} must be a class from 0 to {C - 1} for each of {T} test points, or one-hot"
    if target.shape == (T,) and target.dtype.kind in "iu":
        if target.min() < 0 or target.max() >= C:
            raise ValueError(f"{wanted}, got classes from {target.min()} to {target.max()}")
        return np.asarray(np.eye(C)[target])
    if target.shape != shape or target.dtype.kind not in "iufb":
        raise ValueError(f"{wanted}, got shape {target.shape} of {target.dtype}")
    probabilities = target.astype(np.float64)
    soft = name == "truth" and measure == "log"
    allowed = (probabilities >= 0) if soft else (probabilities == 0) | (probabilities == 1)
    if not allowed.all() or np.abs(probabilities.sum(axis=1) - 1).max() > _NORMALIZED:
        raise ValueError(f"{wanted}, got rows that are not")
    return probabilities
