r"""Convex losses ℓ(y, f) of a label y and an output f.

A model is fitted by minimizing (1/N) Σ_μ 2 ℓ(y_μ, f(x_μ)) + (P λ/D) |a|², for the squared loss
that of [dascoli2020] Eq. (4). Residual losses depend on e = y - f; margin losses, for labels ±1
only, on e = 1 - y f (or, the logistic loss, on y f). All but the logistic loss are one family of
three numbers (c, l, h), in which the slope of the proximal map is piecewise linear:

    ℓ(e) = max over l ≤ g ≤ h of g e - c g²/2,
    g(e) = clip(e/(c + V), l, h)    at the minimum z of ℓ(z) + (e - z)²/(2V),  z = e - V g

| loss          | c | l     | h    |
|---------------|---|-------|------|
| squared       | 1 | -inf  | inf  |
| huber         | 1 | -δ    | δ    |
| absolute      | 0 | -1    | 1    |
| quantile      | 0 | t - 1 | t    |
| hinge         | 0 | 0     | 1    |
| squared_hinge | 1 | 0     | inf  |
| max_margin    | 0 | 0     | inf  |

>>> from doubletrouble.losses import Huber, loss
>>> loss("huber:1.35")
Huber(1.35)
>>> Huber(1.0).value(0.0, [0.5, 3.0])
array([0.125, 2.5  ])
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble.parameters import FloatArray, check_choice, check_flag, number

Task: TypeAlias = Literal["regression", "classification"]
TASKS: tuple[Task, ...] = get_args(Task)

ClassifierLoss: TypeAlias = Literal["squared", "logistic", "hinge", "squared_hinge"]
"""Losses that the estimators and networks fit to classes."""
CLASSIFIER_LOSSES: tuple[ClassifierLoss, ...] = get_args(ClassifierLoss)

Measure: TypeAlias = Literal["zero_one", "zero_one_noisy", "squared", "log"]
"""The error of classes in the theory; that of regression is the squared one."""
MEASURES: tuple[Measure, ...] = get_args(Measure)
VOTE_MEASURES: tuple[Measure, ...] = ("zero_one", "zero_one_noisy")
"""Measures of a majority vote, which has no score."""
LearnerMeasure: TypeAlias = Literal["squared", "log", "zero_one"]
"""The error of a fitted learner: those of probabilities are for classifiers alone."""
NetworkMeasure: TypeAlias = Literal["squared", "zero_one"]
"""The error of networks, whose score has no probability."""
NETWORK_MEASURES: tuple[NetworkMeasure, ...] = get_args(NetworkMeasure)

_MEASURE_NAMES: dict[str, str] = {
    "squared": "squared error",
    "log": "cross-entropy",
    "zero_one": "error rate",
    "zero_one_noisy": "rate of wrong noisy labels",
}

LOSSES: dict[str, type[Loss]] = {}
"""Losses by name."""


def measure_name(measure: str, *, probabilities: bool = False) -> str:
    """What a measure is called where it is printed; `probabilities` of classes have a Brier score.

    >>> measure_name("zero_one"), measure_name("squared", probabilities=True)
    ('error rate', 'Brier score')
    """
    return "Brier score" if probabilities and measure == "squared" else _MEASURE_NAMES[measure]


@dataclass(frozen=True, repr=False)
class Loss:
    """Base of all losses; `tasks` are those it is for."""

    name: ClassVar[str] = ""
    tasks: ClassVar[tuple[Task, ...]] = ()
    margin: ClassVar[bool] = False  # a function of y f
    softness: ClassVar[float] = 0.0  # c

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.name:
            LOSSES[cls.name] = cls

    @property
    def slopes(self) -> tuple[float, float]:
        """The least and the largest slope in the residual: l and h."""
        raise NotImplementedError

    @property
    def intercept(self) -> bool:
        """Whether a constant is fitted without penalty."""
        return False

    def residual(self, labels: npt.ArrayLike, outputs: npt.ArrayLike) -> FloatArray:
        """Return the residual e: y - f, or 1 - y f for margin losses.

        Parameters
        ----------
        labels, outputs : array_like
            Labels y and outputs f; their shapes broadcast.

        Returns
        -------
        numpy.ndarray
            The residuals, element by element.
        """
        y, f = np.asarray(labels, dtype=np.float64), np.asarray(outputs, dtype=np.float64)
        return np.asarray(1 - y * f if self.margin else y - f)

    def value(self, labels: npt.ArrayLike, outputs: npt.ArrayLike) -> FloatArray:
        """Return the loss ℓ(y, f).

        Parameters
        ----------
        labels, outputs : array_like
            Labels y and outputs f; their shapes broadcast.

        Returns
        -------
        numpy.ndarray
            The losses, element by element.

        Examples
        --------
        >>> from doubletrouble.losses import Hinge
        >>> Hinge().value([1.0, -1.0], 0.5)
        array([0.5, 1.5])
        """
        e, c = self.residual(labels, outputs), self.softness
        low, high = self.slopes
        with np.errstate(invalid="ignore", over="ignore"):
            g = np.clip(e / c if c else np.where(e > 0, high, np.where(e < 0, low, 0.0)), low, high)
            curved = c * g * g / 2 if c else 0.0
            return np.asarray(np.where(e * g == 0, 0.0, g * e - curved))

    def __str__(self) -> str:
        """The name, with its number and what is left out: the shorthand that `loss` reads."""
        numbers = [f"{getattr(self, f.name)!r}" for f in fields(self)[:1]]
        unset = [f"no_{f.name}" for f in fields(self)[1:] if getattr(self, f.name) is False]
        return ":".join([self.name, *numbers, *unset])

    def __repr__(self) -> str:
        values = [getattr(self, f.name) for f in fields(self)]
        shown = [repr(v) for v in values[:1]]
        shown += [f"{f.name}={v!r}" for f, v in list(zip(fields(self), values, strict=True))[1:]]
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclass(frozen=True, repr=False)
class Squared(Loss):
    """(y - f)²/2, the loss of ridge regression; labels ±1 are regressed on as numbers."""

    name = "squared"
    tasks = TASKS
    softness = 1.0
    slopes = (-math.inf, math.inf)


@dataclass(frozen=True, repr=False)
class Huber(Loss):
    """(y - f)²/2 up to |y - f| = δ, linear beyond: outliers pull with a bounded force.

    Parameters
    ----------
    delta : float, default: 1
        The residual δ from which the loss is linear, in [1e-150, 1e150].
    """

    delta: float = 1.0

    name = "huber"
    tasks = ("regression",)
    softness = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", number("delta", self.delta, glossary.HUBER_DELTA))

    @property
    def slopes(self) -> tuple[float, float]:
        """-δ and δ."""
        return -self.delta, self.delta


@dataclass(frozen=True, repr=False)
class Absolute(Loss):
    """|y - f|, least absolute deviations: the conditional median."""

    name = "absolute"
    tasks = ("regression",)
    slopes = (-1.0, 1.0)


@dataclass(frozen=True, repr=False)
class Quantile(Loss):
    """The quantile ("pinball") loss: t (y - f) above, (1 - t)(f - y) below.

    Parameters
    ----------
    level : float, default: 0.5
        The level t of the quantile, in (0, 1).
    intercept : bool, default: True
        Fit a constant without penalty; without it all quantiles but the median are off by a
        constant.
    """

    level: float = 0.5
    intercept: bool = True

    name = "quantile"
    tasks = ("regression",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", number("level", self.level, glossary.QUANTILE_LEVEL))
        check_flag("intercept", self.intercept)

    @property
    def slopes(self) -> tuple[float, float]:
        """The slopes t - 1 and t."""
        return self.level - 1, self.level


@dataclass(frozen=True, repr=False)
class Logistic(Loss):
    """log(1 + exp(-y f)), logistic regression."""

    name = "logistic"
    tasks = ("classification",)
    margin = True

    def value(self, labels: npt.ArrayLike, outputs: npt.ArrayLike) -> FloatArray:  # noqa: D102
        return np.asarray(np.logaddexp(0.0, self.residual(labels, outputs) - 1))


@dataclass(frozen=True, repr=False)
class Hinge(Loss):
    """max(0, 1 - y f), the support vector machine."""

    name = "hinge"
    tasks = ("classification",)
    margin = True
    slopes = (0.0, 1.0)


@dataclass(frozen=True, repr=False)
class SquaredHinge(Loss):
    """max(0, 1 - y f)²/2."""

    name = "squared_hinge"
    tasks = ("classification",)
    margin = True
    softness = 1.0
    slopes = (0.0, math.inf)


@dataclass(frozen=True, repr=False)
class MaxMargin(Loss):
    """0 where y f ≥ 1, else inf: the least |a| that separates the data with margin 1.

    The ridge has no effect on the fit. It exists where the data are separable
    (`doubletrouble.separability`).
    """

    name = "max_margin"
    tasks = ("classification",)
    margin = True
    slopes = (0.0, math.inf)


LossLike: TypeAlias = str | Loss


def loss(given: LossLike) -> Loss:
    """Return the loss for a name or a `Loss`.

    Parameters
    ----------
    given : str or Loss
        A name: "squared", "huber", "absolute", "quantile", "logistic", "hinge", "squared_hinge" or
        "max_margin", for huber and quantile with a number; "quantile:0.9:no_intercept" has no
        intercept.

    Returns
    -------
    Loss
        The loss itself.

    Raises
    ------
    ValueError
        For an unknown name, or a number that the loss does not take.
    TypeError
        If `given` is neither a name nor a `Loss`.

    Examples
    --------
    >>> from doubletrouble.losses import Quantile, loss
    >>> loss("quantile:0.9"), str(loss("huber"))
    (Quantile(0.9, intercept=True), 'huber:1.0')
    >>> str(Quantile(0.9, intercept=False))
    'quantile:0.9:no_intercept'
    """
    if isinstance(given, Loss):
        return given
    if not isinstance(given, str):
        raise TypeError(f"loss must be a name or a Loss, got {given!r}")
    name, *options = given.split(":")
    if name not in LOSSES:
        check_choice("loss", given, LOSSES)
    kind = LOSSES[name]
    if not options:
        return kind()
    try:
        (value, *words), (first, *others) = options, (f.name for f in fields(kind))
        unset = {f"no_{field}": False for field in others}
        values = {first: float(value)} | {word.removeprefix("no_"): unset[word] for word in words}
    except (KeyError, ValueError):
        raise ValueError(
            "loss must be a name, for huber and quantile with a number (huber:1.35, "
            f"quantile:0.9:no_intercept), got {given!r}"
        ) from None
    return kind(**values)


def name_or_loss(given: Loss) -> LossLike:
    """The shorthand of a loss, or the loss itself if `loss` does not read its shorthand back.

    >>> name_or_loss(Huber(1.35))
    'huber:1.35'
    """
    try:
        return str(given) if loss(str(given)) == given else given
    except ValueError:  # without a name
        return given


def __dir__() -> list[str]:
    classes = [k for k, v in globals().items() if isinstance(v, type) and issubclass(v, Loss)]
    return sorted([*classes, "loss"])
