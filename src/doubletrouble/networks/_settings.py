"""Options of training, and the outcome of training one network. Nothing here needs torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self, TypeAlias, get_args

from doubletrouble import glossary
from doubletrouble.losses import CLASSIFIER_LOSSES, ClassifierLoss
from doubletrouble.parameters import FloatArray, check_choice, number, whole_number

OptimizerName: TypeAlias = Literal["auto", "adam", "gd", "sgd", "exact"]
OPTIMIZERS: tuple[OptimizerName, ...] = get_args(OptimizerName)
""""auto" solves the linearized network with squared loss exactly, and trains others by Adam."""

DTypeName: TypeAlias = Literal["float32", "tf32", "float64"]
DTYPES: tuple[DTypeName, ...] = get_args(DTypeName)
""""tf32" is float32 with matrix products on the tensor cores of a GPU."""

STATUSES = ("zero", "converged", "exact", "max_steps", "diverged")
"""Why training stopped: zero loss, converged, solved exactly, limit of steps, diverged."""

FITTED = STATUSES[:3]
"""Statuses of networks whose training is complete."""

REVISION = 1
"""Of the meaning of all settings; part of the keys of checkpoints and stores."""

LINEAR_AS = 100.0
"""Adam has no limit α → ∞ at a fixed rate: the linearized network takes the steps of this α."""

DEFAULTS: dict[str, Any] = {
    "width": 30,
    "depth": 5,
    "laziness": 100.0,
    "ensemble": 20,
    "n_data": 5,
    "n_init": 5,
    "n_noise": 2,
}
"""Default arguments of `train_lazy`, `lazy_curve` and `lazy_split`, besides those of `Training`."""

LAPTOP: dict[str, Any] = {
    "n_samples": 700,
    "widths": (2, 3, 4, 6, 8, 11, 16, 23, 32, 64),
    "laziness": (100.0, math.inf),
    "ensemble": 10,
    "loss": "squared",
    "learning_rate": 0.01,
    "max_steps": 2000,
}
"""A small experiment on the digits that shows the peak and its suppression within minutes."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """The loss, the optimizer, and the stopping rule.

    >>> Training(loss="hinge").rate(0.5)
    0.05
    """

    loss: ClassifierLoss = "hinge"
    optimizer: OptimizerName = "auto"
    learning_rate: float | None = None
    max_steps: int = 100_000
    patience: int | None = None
    tolerance: float = 1e-3
    batch_size: int | None = None

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, CLASSIFIER_LOSSES)
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        checked: dict[str, Any] = {  # Python's own numbers, which JSON can write
            "tolerance": number("tolerance", self.tolerance, glossary.TOLERANCE),
            "max_steps": whole_number("max_steps", self.max_steps, 1, floats=True),
        }
        if self.learning_rate is not None:
            rate = number("learning_rate", self.learning_rate, glossary.LEARNING_RATE)
            checked["learning_rate"] = rate
        if self.patience is not None:
            checked["patience"] = whole_number("patience", self.patience, 1, floats=True)
        if self.batch_size is not None:
            checked["batch_size"] = whole_number("batch_size", self.batch_size, 1, floats=True)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if (self.batch_size is None) == (self.optimizer == "sgd"):
            raise ValueError(
                f"batch_size must be given for optimizer 'sgd' and for no other, got "
                f"{self.batch_size!r} for {self.optimizer!r}"
            )
        if self.optimizer == "exact" and self.loss != "squared":
            raise ValueError(f"loss must be squared for optimizer exact, got {self.loss!r}")

    @classmethod
    def of(cls, **options: Any) -> Self:
        """Return the training with these options; raise TypeError for an unknown name.

        >>> Training.of(momentum=0.9)
        Traceback (most recent call last):
        TypeError: options of training must be among loss, optimizer, ..., got 'momentum'
        """
        known = [f.name for f in fields(cls)]
        for name in options:
            if name not in known:
                names = ", ".join(known)
                raise TypeError(f"options of training must be among {names}, got {name!r}")
        return cls(**options)

    @property
    def by_adam(self) -> bool:
        """Whether the optimizer is Adam."""
        return self.optimizer in ("auto", "adam")

    @property
    def window(self) -> int:
        """Steps in a window of the stopping rule: `patience`, or a tenth of all, at least 100."""
        return self.patience or max(100, self.max_steps // 10)

    def solves(self, laziness: float) -> bool:
        """Whether a network is solved exactly instead of trained."""
        linear = math.isinf(laziness)
        if self.optimizer == "exact" and not linear:
            raise ValueError(f"laziness must be inf for optimizer exact, got {laziness!r}")
        return linear and self.loss == "squared" and self.optimizer in ("auto", "exact")

    def rate(self, laziness: float) -> float:
        """Return the step size at α: `learning_rate`, or 0.1 min(1, α) as in [dascoli2020]."""
        rate = 0.1 * min(1.0, laziness) if self.learning_rate is None else self.learning_rate
        return rate * (LINEAR_AS if math.isinf(laziness) and self.by_adam else 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingOutcome:
    """One trained network."""

    scores: FloatArray  # (T,): half the difference of the outputs at the test inputs
    train_error: float  # fraction of training samples misclassified
    train_loss: float  # not divided by α²
    displacement: float  # α |θ - θ₀|
    steps: int
    status: str  # one of STATUSES


def settings_used(settings: Mapping[str, Any], laziness: float) -> dict[str, Any]:
    """Return settings with defaults replaced by the optimizer, rate and window they stand for.

    `learning_rate` remains None for gradient descent, where each network has its own rate by its
    curvature, and for networks that are solved exactly.

    >>> settings_used({"optimizer": "auto", "max_steps": 500, "seed": 3}, laziness=0.5)
    {'optimizer': 'adam', 'max_steps': 500, 'seed': 3, 'patience': 100, 'learning_rate': 0.05}
    """
    options = {f.name: settings[f.name] for f in fields(Training) if f.name in settings}
    if not options:
        return dict(settings)
    training = Training(**options)
    used: dict[str, Any] = {"patience": training.window}
    if training.solves(laziness):
        used |= {"optimizer": "exact", "learning_rate": None}
    elif training.by_adam:
        rate = training.rate(min(laziness, 1.0))  # the rate before the scaling at α = ∞
        used |= {"optimizer": "adam", "learning_rate": rate}
    return {**settings, **used}
