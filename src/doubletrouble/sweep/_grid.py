"""A grid of simulations: every combination of the values given, each cell stored once done.

The cells are the product of all axes in the order of the fields, the last changing fastest. Every
value is checked when the grid is made, and every parameter reaches `simulate`.
"""

from __future__ import annotations  # help() then shows Axis, not what it stands for

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from doubletrouble import glossary
from doubletrouble.ensembles import Ensemble
from doubletrouble.parameters import declarations, whole_number
from doubletrouble.problems import Problem
from doubletrouble.ranges import Axis, choice_axis, number_axis, seed_axis, whole_axis
from doubletrouble.runs import Cell, canonical, digest
from doubletrouble.simulation import (
    DTYPES,
    MODELS,
    TESTS,
    Dtype,
    Model,
    TestAverage,
    is_device,
    simulate,
)
from doubletrouble.sweep import _axes as axes
from doubletrouble.sweep._axes import EnsembleAxis
from doubletrouble.sweep._simulated import KIND, PROBLEM, REVISION, check_cell, simulate_cell

if TYPE_CHECKING:
    from doubletrouble.sweep._outcome import SweepResult, SweepStatus

AXES = (*PROBLEM, "dim", "model", "seed")
"""The fields that may have several values."""

ENSEMBLES = tuple(map(Ensemble, (1, 2, 10, math.inf)))
"""Unless others are given."""

_DEFAULTS: dict[str, Any] = simulate.__kwdefaults__ or {}


def _of_problem(name: str) -> Any:
    """A field as `Problem` has it, with its default."""
    return field(default=next(f.default for f in fields(Problem) if f.name == name))


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A grid of simulations; fields of `Problem`, `dim`, `model` and `seed` are its axes.

    An axis is one value, a sequence, or a range such as "0.1:10:log:50" or "0:1:linear:11". The
    other fields hold for every cell, and mean what they mean to `simulate`: every cell has all
    `ensembles`, and all `times` where they are given. With `device="cpu"` cells have the same bits
    wherever they are computed.

    >>> sweep = Sweep(features_per_dim="0.1:10:log:3", ridge=[0.01, 1.0], dim=40, seed=range(5))
    >>> len(sweep.cells())
    30
    >>> sweep.features_per_dim
    (0.1, 1.0, 10.0)
    """

    features_per_dim: Axis = _of_problem("features_per_dim")
    samples_per_dim: Axis = _of_problem("samples_per_dim")
    ridge: Axis = _of_problem("ridge")
    signal: Axis = _of_problem("signal")
    noise: Axis = _of_problem("noise")
    nonlinear_signal: Axis = _of_problem("nonlinear_signal")
    test_noise: Axis = _of_problem("test_noise")
    activation: str | Sequence[str] = _of_problem("activation")
    dim: Axis
    model: Model | Sequence[Model] = _DEFAULTS["model"]
    seed: Axis = _DEFAULTS["seed"]

    n_data: int = _DEFAULTS["n_data"]
    n_init: int = _DEFAULTS["n_init"]
    ensembles: EnsembleAxis = ENSEMBLES
    times: Axis | None = _DEFAULTS["times"]
    test: TestAverage = _DEFAULTS["test"]
    center: bool = _DEFAULTS["center"]
    dtype: Dtype = _DEFAULTS["dtype"]
    device: str = _DEFAULTS["device"]

    def __post_init__(self) -> None:
        for name, spec in declarations(Problem).items():
            self._set(name, number_axis(name, getattr(self, name), spec))
        self._set("activation", axes.activation_axis("activation", self.activation))
        self._set("dim", whole_axis("dim", self.dim, glossary.WHOLE_DIM))
        self._set("model", choice_axis("model", self.model, MODELS))
        self._set("seed", seed_axis("seed", self.seed))
        self._set("ensembles", axes.ensemble_axis("ensembles", self.ensembles))
        if self.times is not None:
            self._set("times", number_axis("times", self.times, glossary.TIME))
        for name, known in (("test", TESTS), ("dtype", DTYPES)):
            (value,) = choice_axis(name, [getattr(self, name)], known)
            self._set(name, value)
        for name in ("n_data", "n_init"):
            self._set(name, whole_number(name, getattr(self, name), 2))
        if not isinstance(self.center, bool):
            raise TypeError(f"center must be true or false, got {self.center!r}")
        if not is_device(self.device):
            raise ValueError(
                f"device must be 'auto', 'cpu', 'torch' or of torch, got {self.device!r}"
            )
        for combination in self._combinations("noise", "signal", "test_noise", "seed"):
            check_cell(combination)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a grid from a TOML file, or its text: `field = value`, `[...]` or a range."""
        from doubletrouble.sweep._specification import read_toml

        return cls(**read_toml(path, [f.name for f in fields(cls)]))

    def to_toml(self) -> str:
        """The grid as the text of a TOML file, all values written out."""
        from doubletrouble.sweep._specification import toml_text

        return toml_text(self._values())

    @classmethod
    def from_store(cls, store: str | Path, hash: str | None = None) -> Self:
        """Take a grid from a store; `hash`, or its beginning, chooses from several."""
        from doubletrouble.sweep._specification import read_specification, stored_specification

        return cls(**read_specification(stored_specification(store, hash), KIND, REVISION))

    @classmethod
    def all_from_store(cls, store: str | Path) -> list[Self]:
        """Take every grid from a store, the oldest first."""
        from doubletrouble.sweep._specification import read_specification, stored_specifications

        texts = stored_specifications(store)
        return [cls(**read_specification(text, KIND, REVISION)) for text in texts]

    @property
    def summary(self) -> str:
        """What is not as by default, in few words.

        >>> Sweep(ridge=[0.1, 1.0], dim=20, seed=range(5), center=False).summary
        '2 x ridge, dim 20, 5 x seed, center False'
        """
        words = []
        for f in fields(self):
            value, default = getattr(self, f.name), f.default
            if value in (default, (default,)):
                continue
            if isinstance(value, tuple) and len(value) > 1:
                words.append(f"{len(value)} x {f.name}")
            else:
                words.append(f"{f.name} {value[0] if isinstance(value, tuple) else value}")
        return ", ".join(words)

    @property
    def specification(self) -> str:
        """The grid as it is noted in a store."""
        return canonical({"kind": KIND, "revision": REVISION, "fields": self._values()})

    @cached_property
    def hash(self) -> str:
        """What the grid is called in a store; any change makes another."""
        return digest(self.specification)

    def cells(self) -> list[Cell]:
        """Every cell with its key, in the order of the grid."""
        return [Cell.of(KIND, REVISION, parameters) for parameters in self._combinations()]

    def run(
        self, store: str | Path, *, executor: Any = None, workers: int | None = None,
        scheduler: str | None = None, progress: bool = True,
    ) -> SweepResult:  # fmt: skip
        """Compute every cell that the store does not hold yet.

        Cells run in `workers` processes (as many as there are processors), on a Dask cluster
        (`scheduler="tcp://host:port"`, or "local"), or on any `executor` with a method `submit`.
        The numbers are the same. Cells that failed before stay so: see `retry`.
        """
        from doubletrouble.sweep._outcome import run_grid

        where = {"executor": executor, "workers": workers, "scheduler": scheduler}
        return run_grid(self, store, simulate_cell, again=False, progress=progress, **where)

    def retry(
        self, store: str | Path, *, executor: Any = None, workers: int | None = None,
        scheduler: str | None = None, progress: bool = True,
    ) -> SweepResult:  # fmt: skip
        """Compute the cells that failed once more; options as for `run`."""
        from doubletrouble.sweep._outcome import run_grid

        where = {"executor": executor, "workers": workers, "scheduler": scheduler}
        return run_grid(self, store, simulate_cell, again=True, progress=progress, **where)

    def status(self, store: str | Path) -> SweepStatus:
        """How many cells are done, failed and missing."""
        from doubletrouble.sweep._outcome import status

        return status(self, store)

    def results(self, store: str | Path) -> SweepResult:
        """What the store holds of this grid, cell by cell in its order."""
        from doubletrouble.sweep._outcome import results

        return results(self, store)

    def to_frame(self, store: str | Path) -> Any:
        """What the store holds of this grid as a pandas table; see `export`."""
        return self.results(store).to_frame()

    def export(self, store: str | Path, path: str | Path) -> Path:
        """Write a .csv, .parquet or .json file: a row for every cell, ensemble and time."""
        return self.results(store).export(path)

    def _values(self) -> dict[str, Any]:
        """Every field as TOML files and stores have it."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["ensembles"] = [axes.stored_ensemble(one) for one in values["ensembles"]]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    def _combinations(self, *fixed: str) -> list[dict[str, Any]]:
        """The parameters of every cell; axes that are `fixed` stay at their first value."""
        values = self._values()
        along = [values[name][:1] if name in fixed else values[name] for name in AXES]
        others = {name: value for name, value in values.items() if name not in AXES}
        return [dict(zip(AXES, point, strict=True)) | others for point in itertools.product(*along)]
