"""From words to a problem: the values given for each parameter, and all their combinations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from doubletrouble.activations import activation
from doubletrouble.cli.flags import DEFAULTS, RATIOS, SIZES, SPECS
from doubletrouble.cli.report import Report
from doubletrouble.parameters import Numeric, Value, declarations
from doubletrouble.problems import Problem
from doubletrouble.sweep.axes import number_axis

_MOST = 1_000_000  # rows of a table
_OF_PROBLEM = {*SIZES, *declarations(Problem)}

Axes = dict[str, tuple[float, ...]]


def axes(given: Mapping[str, Any]) -> Axes:
    """The values of every parameter that a command takes, in the order of the columns.

    >>> axes({"ridge": "0,0.1", "noise": None})
    {'ridge': (0.0, 0.1), 'noise': (1.0,)}
    """
    texts = {name: given[name] for name in SPECS if name in given}
    texts = {name: DEFAULTS.get(name) if text is None else text for name, text in texts.items()}
    found = {n: number_axis(n, text, SPECS[n]) for n, text in texts.items() if text is not None}
    if (rows := math.prod(map(len, found.values()))) > _MOST:
        raise ValueError(f"ranges must have at most {_MOST} combinations, got {rows}")
    return found


@dataclass(frozen=True, kw_only=True)
class Question:
    """A problem at every combination of the values given, an axis for each that varies."""

    axes: Axes
    names: Mapping[str, str]  # activation, scheme and clock

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Question":
        """Read the flags of a command; P, N and D may take the place of the ratios."""
        counts = [name for name in SIZES if given[name] is not None]
        dropped = RATIOS if counts else tuple(SIZES)
        if counts and len(counts) < len(SIZES):
            raise ValueError(
                f"{', '.join(SIZES)} must be given together, got {' and '.join(counts)} alone"
            )
        for name in RATIOS:
            if counts and given[name] is not None:
                raise ValueError(f"{name} must be left out beside counts, got {given[name]!r}")
        return cls(
            axes=axes({name: text for name, text in given.items() if name not in dropped}),
            names={
                "activation": activation(given["activation"]).name,
                **{name: given[name] for name in ("scheme", "clock") if given.get(name)},
            },
        )

    @property
    def varying(self) -> Axes:
        """The parameters that take several values."""
        return {name: values for name, values in self.axes.items() if len(values) > 1}

    @property
    def problem(self) -> Problem:
        """The problem at all combinations at once."""
        values: dict[str, Any] = {n: self._spread(n) for n in self.axes if n in _OF_PROBLEM}
        make = Problem.from_sizes if "dim" in values else Problem
        return make(**values, activation=self.names["activation"])

    @property
    def n_members(self) -> Numeric:
        """K, on an axis of its own."""
        return self._spread("n_members")

    def given(self, name: str) -> Numeric | None:
        """Another number on an axis of its own; None where it was not asked for."""
        return self._spread(name) if name in self.axes else None

    def _spread(self, name: str) -> Numeric:
        """One number, or an array along the axis of this parameter."""
        values = self.axes[name]
        shape = [-1 if axis == name else 1 for axis in self.varying]
        return np.reshape(values, shape) if len(values) > 1 else values[0]

    def report(self, title: str, results: Mapping[str, Value], summary: str) -> Report:
        """The results as rows, one for each combination; `summary` if there is but one."""
        varying = self.varying
        shape = tuple(map(len, varying.values()))
        exact = {name: written(name, values) for name, values in self.axes.items()}
        combinations = list(product(*(exact[name] for name in varying)))
        columns = {column(n): [row[k] for row in combinations] for k, n in enumerate(varying)}
        for name, values in results.items():
            columns[name] = np.broadcast_to(values, shape).ravel().tolist()
        fixed = {column(n): values[0] for n, values in exact.items() if n not in varying}
        return Report(
            title=title, parameters={**fixed, **self.names}, columns=columns,
            summary="" if varying else summary,
        )  # fmt: skip


def column(name: str) -> str:
    """What a parameter is called in a row: one of the times is a time."""
    return "time" if name == "times" else name


def written(name: str, values: Sequence[float]) -> list[float]:
    """Whole numbers without a decimal point."""
    return [int(v) if SPECS[name].whole and math.isfinite(v) else v for v in values]
