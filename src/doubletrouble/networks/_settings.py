"""How networks are trained: everything but the data and the networks themselves, checked.

Nothing here needs torch.
"""

import math
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, Literal, Self, TypeAlias, get_args

from doubletrouble import glossary
from doubletrouble.parameters import number, whole_number

LossName: TypeAlias = Literal["hinge", "squared_hinge", "squared", "logistic"]
LOSSES: tuple[LossName, ...] = get_args(LossName)
"""By name; `losses` has the functions."""

OptimizerName: TypeAlias = Literal["auto", "adam", "gd", "sgd", "exact"]
OPTIMIZERS: tuple[OptimizerName, ...] = get_args(OptimizerName)
""""auto" solves the linearized network with squared loss exactly, and trains others by Adam."""

DTypeName: TypeAlias = Literal["float32", "tf32", "float64"]
DTYPES: tuple[DTypeName, ...] = get_args(DTypeName)
"""Of the arithmetic; "tf32" is float32 with matrix products on a GPU's tensor cores."""

LINEAR_AS = 100.0
"""Adam has no limit α → ∞ at a fixed rate: the linearized network takes the steps of this α."""


LAPTOP: dict[str, Any] = {
    "n_train": 700, "widths": (2, 3, 4, 6, 8, 11, 16, 23, 32, 64), "laziness": (100.0, math.inf),
    "ensemble": 10, "loss": "squared", "learning_rate": 0.01, "max_steps": 2000,
}  # fmt: skip
"""A small experiment on the digits that shows the peak and its suppression within minutes."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """The loss, the optimizer, and when to stop.

    >>> Training(loss="hinge").rate(0.5)
    0.05
    """

    loss: LossName = "hinge"
    optimizer: OptimizerName = "auto"
    learning_rate: float | None = None
    max_steps: int = 100_000
    patience: int | None = None
    tolerance: float = 1e-3
    batch_size: int | None = None

    def __post_init__(self) -> None:
        for name, value, known in (
            ("loss", self.loss, LOSSES), ("optimizer", self.optimizer, OPTIMIZERS),
        ):  # fmt: skip
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        hold = partial(object.__setattr__, self)  # plain numbers, which JSON can write
        if (rate := self.learning_rate) is not None:
            hold("learning_rate", number("learning_rate", rate, glossary.LEARNING_RATE))
        hold("tolerance", number("tolerance", self.tolerance, glossary.TOLERANCE))
        hold("max_steps", whole_number("max_steps", self.max_steps, 1, floats=True))
        for name in ("patience", "batch_size"):
            if (value := getattr(self, name)) is not None:
                hold(name, whole_number(name, value, 1, floats=True))
        if (self.batch_size is None) == (self.optimizer == "sgd"):
            raise ValueError(
                f"batch_size must be given for optimizer 'sgd' and for no other, got "
                f"{self.batch_size!r} for {self.optimizer!r}"
            )
        if self.optimizer == "exact" and self.loss != "squared":
            raise ValueError(f"loss must be 'squared' to be solved exactly, got {self.loss!r}")

    @classmethod
    def of(cls, **options: Any) -> Self:
        """The training that options by name ask for.

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
        """Whether steps are Adam's."""
        return self.optimizer in ("auto", "adam")

    def solves(self, laziness: float) -> bool:
        """Whether a network is solved exactly instead of trained."""
        linear = math.isinf(laziness)
        if self.optimizer == "exact" and not linear:
            raise ValueError(f"laziness must be inf for optimizer 'exact', got {laziness!r}")
        return linear and self.loss == "squared" and self.optimizer in ("auto", "exact")

    @property
    def window(self) -> int:
        """Steps that the rule of convergence averages over: a tenth of all, at least 100."""
        return self.patience or max(100, self.max_steps // 10)

    def rate(self, laziness: float) -> float:
        """The step size at some α, that of [dascoli2020] unless given: 0.1 min(1, α)."""
        rate = 0.1 * min(1.0, laziness) if self.learning_rate is None else self.learning_rate
        return rate * (LINEAR_AS if math.isinf(laziness) and self.by_adam else 1.0)
