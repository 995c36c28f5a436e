"""Problems from flags: the values of each parameter, and all their combinations."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from doubletrouble.activations import activation
from doubletrouble.cli.flags import DEFAULTS, RATIOS, SCHEME_OPTIONS, SIZES, SPECS
from doubletrouble.cli.report import Report
from doubletrouble.ensembles import SCHEMES, Scheme, named_ensemble
from doubletrouble.parameters import Numeric, Parameter, Value, declarations
from doubletrouble.problems import Problem, noise_at
from doubletrouble.ranges import number_axis

_MOST = 1_000_000  # rows of a table
_OF_PROBLEM = {*SIZES, *declarations(Problem)}
_NOISE_AT = np.vectorize(noise_at, otypes=[np.float64])

Axes = dict[str, tuple[float, ...]]


def axes(given: Mapping[str, Any]) -> Axes:
    """The values of every parameter of a command, in the order of the columns.

    >>> axes({"ridge": "0,0.1", "noise": None})
    {'ridge': (0.0, 0.1), 'noise': (1.0,)}
    """
    dropped = "noise" if has_snr(given) else "snr"
    texts = {name: given[name] for name in SPECS if name in given and name != dropped}
    texts = {name: DEFAULTS.get(name) if text is None else text for name, text in texts.items()}
    values = {n: number_axis(n, text, SPECS[n]) for n, text in texts.items() if text is not None}
    if (rows := math.prod(map(len, values.values()))) > _MOST:
        raise ValueError(f"ranges must have at most {_MOST} combinations, got {rows}")
    return values


def has_snr(given: Mapping[str, Any]) -> bool:
    """Whether the signal-to-noise ratio is given instead of the noise."""
    if given.get("snr") is None:
        return False
    if given["noise"] is not None:
        raise ValueError(f"noise must be left out beside snr, got {given['noise']!r}")
    return True


def ensembles(
    names: Sequence[str], n_members: Numeric, options: Mapping[str, Numeric | None]
) -> list[Scheme]:
    """The ensembles of some schemes, each with its own options.

    >>> ensembles(["divide", "subsample"], 4, {"fraction": 0.6})
    [Divide(4), Subsample(4, fraction=0.6)]
    >>> ensembles(["divide"], 4, {"fraction": 0.6})
    Traceback (most recent call last):
    ValueError: fraction must be left out for scheme 'divide', got 0.6
    """
    owned = {name: declarations(SCHEMES[name]) for name in names if name in SCHEMES}
    orphans = {name for name in options if not any(name in own for own in owned.values())}
    schemes = []
    for name in names:
        own = {*owned.get(name, ()), *orphans}  # the first scheme refuses options of none
        given = {option: value for option, value in options.items() if option in own}
        schemes.append(named_ensemble(name, n_members, **given))
    return schemes


def one_number(name: str, value: Any, spec: Parameter) -> float | None:
    """The value of a flag with a single number; None if it is not given."""
    if value is None:
        return None
    values = number_axis(name, value, spec)
    if len(values) > 1:
        raise ValueError(f"{name} must be one number here, got {len(values)} of them")
    return values[0]


def one_ensemble(given: Mapping[str, Any], n_members: int) -> Scheme:
    """The ensemble of a command with a single one; `n_members` is the default size."""
    size = one_number("n_members", given["n_members"], SPECS["n_members"]) or n_members
    options = {name: one_number(name, given[name], SPECS[name]) for name in SCHEME_OPTIONS}
    (ensemble,) = ensembles([given["scheme"]], size, options)
    return ensemble


@dataclass(frozen=True, kw_only=True)
class Question:
    """A problem at every combination of the given values, with an axis for each varying one."""

    axes: Axes
    names: Mapping[str, str]  # activation, scheme and clock

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Question":
        """Read the flags of a command: ratios, or the counts P, N and D."""
        counts = [name for name in SIZES if given[name] is not None]
        dropped = RATIOS if counts else tuple(SIZES)
        if counts and len(counts) < len(SIZES):
            raise ValueError(
                f"{', '.join(SIZES)} must be given together, got only {' and '.join(counts)}"
            )
        for name in RATIOS:
            if counts and given[name] is not None:
                raise ValueError(
                    f"{name} must be left out if counts are given, got {given[name]!r}"
                )
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
        if "snr" in self.axes:
            values["noise"] = self.noise
        make = Problem.from_sizes if "dim" in values else Problem
        return make(**values, activation=self.names["activation"])

    @property
    def ensemble(self) -> Scheme:
        """The ensemble, with each of its numbers on its own axis."""
        options = {name: self.given(name) for name in SCHEME_OPTIONS}
        (ensemble,) = ensembles([self.names["scheme"]], self._spread("n_members"), options)
        return ensemble

    @property
    def noise(self) -> Value:
        """τ = F/SNR, if the signal-to-noise ratio is given."""
        noise = _NOISE_AT(self._spread("snr"), self._spread("signal"))
        return noise if np.ndim(noise) else float(noise)

    def given(self, name: str) -> Numeric | None:
        """Another number on its own axis; None if it is not given."""
        return self._spread(name) if name in self.axes else None

    def _spread(self, name: str) -> Numeric:
        """One number, or an array along the axis of this parameter."""
        values = self.axes[name]
        shape = [-1 if axis == name else 1 for axis in self.varying]
        return np.reshape(values, shape) if len(values) > 1 else values[0]

    def report(self, title: str, results: Mapping[str, Value], summary: str) -> Report:
        """The results as rows, one for each combination; `summary` if there is only one."""
        varying = self.varying
        shape = tuple(map(len, varying.values()))
        exact = {name: written(name, values) for name, values in self.axes.items()}
        combinations = list(product(*(exact[name] for name in varying)))
        columns = {column(n): [row[k] for row in combinations] for k, n in enumerate(varying)}
        fixed = {name: values[0] for name, values in exact.items() if name not in varying}
        noise = self.noise if "snr" in self.axes else None
        if isinstance(noise, float):
            fixed["noise"] = noise
        elif noise is not None:
            columns["noise"] = np.broadcast_to(noise, shape).ravel().tolist()
        for name, values in results.items():
            columns[name] = np.broadcast_to(values, shape).ravel().tolist()
        fixed = {column(name): fixed[name] for name in SPECS if name in fixed}
        return Report(
            title=title,
            parameters={**fixed, **self.names},
            columns=columns,
            summary="" if varying else summary,
        )


def column(name: str) -> str:
    """The name of a parameter in a row: "time" for `times`."""
    return "time" if name == "times" else name


def written(name: str, values: Sequence[float]) -> list[float]:
    """Whole numbers without a decimal point."""
    return [int(v) if SPECS[name].whole and math.isfinite(v) else v for v in values]
