"""What a figure consists of: a data function, a drawing, a table, a check, and texts.

The defaults of the data function are the paper's constants. They are written there once; presets
and a reader's options replace some of them, and the gallery's parameter list and the lines that
remake the figure are read from what results.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    get_args,
)

from doubletrouble.ensembles import Scheme
from doubletrouble.parameters import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FigureData = TypeVar("FigureData")

PresetName: TypeAlias = Literal["laptop", "paper"]
PRESETS: tuple[PresetName, ...] = get_args(PresetName)
"""All figures in a few minutes, or with simulations as large as the paper's and denser grids."""

STORE = "store"  # the argument of a data function that simulates: where finished curves are kept


class Line(NamedTuple):
    """One curve: its label, and y at every x."""

    label: str
    x: FloatArray
    y: FloatArray


class Table(NamedTuple):
    """The numbers behind a figure: column names, and one tuple of floats a row."""

    columns: tuple[str, ...]
    rows: list[tuple[float, ...]]


def nothing_to_check(_: Any) -> tuple[str, ...]:
    """A figure without numbers has nothing to agree with."""
    return ()


@dataclass(frozen=True, kw_only=True)
class FigureSpec(Generic[FigureData]):
    """A figure of the gallery; `name` is also the stem of its files."""

    name: str
    title: str
    caption: str  # plain text, one paragraph a line
    alt: str  # alternative text for screen readers
    data: Callable[..., FigureData]
    plot: Callable[[FigureData], "Figure"]
    table: Callable[[FigureData], Table]
    agreement: Callable[[FigureData], Sequence[str]] = nothing_to_check  # one statement a line
    presets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, object]:
        """The parameters of the figure: the defaults of its data function, None left out."""
        parameters = inspect.signature(self.data).parameters
        return {n: p.default for n, p in parameters.items() if p.default is not None}

    @property
    def simulates(self) -> bool:
        """Whether the data function keeps simulations in a store."""
        return STORE in inspect.signature(self.data).parameters

    def with_preset(
        self, preset: PresetName, options: Mapping[str, object] | None = None
    ) -> dict[str, object]:
        """The arguments under a preset, with `options` on top."""
        if preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}")
        known = [n for n in inspect.signature(self.data).parameters if n != STORE]
        for name in options or {}:
            if name not in known:
                listed = ", ".join(known) or "none"
                raise ValueError(f"options of {self.name} must be among {listed}, got {name!r}")
        return {**self.arguments, **self.presets.get(preset, {}), **(options or {})}

    def source(self, arguments: Mapping[str, object] | None = None) -> str:
        """The Python lines that write this figure's files into the folder `out`."""
        functions = (self.data, self.plot, self.table)
        data, plot, table = names = [function.__name__ for function in functions]
        chosen = self.arguments if arguments is None else arguments
        lines = "".join(f"    {name}={_literal(value)},\n" for name, value in chosen.items())
        schemes = {type(value).__name__ for value in chosen.values() if isinstance(value, Scheme)}
        imports = "".join(f"from doubletrouble import {name}\n" for name in schemes)
        return (
            f"{imports}from {self.data.__module__} import {', '.join(sorted(names))}\n"
            "from doubletrouble.figures.save import save\n\n"
            f"data = {data}(\n{lines})\n"
            f'save("out/{self.name}", {plot}(data), {table}(data))\n'
        )


def _literal(value: object) -> str:
    """A value as Python source, which repr of inf is not.

    >>> _literal((1, float("inf")))
    '(1, float("inf"))'
    """
    if isinstance(value, tuple | list):
        inside = ", ".join(map(_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, Scheme):
        fields = {"n_members": value.n_members, **value.options}
        inside = ", ".join(f"{name}={_literal(field)}" for name, field in fields.items())
        return f"{type(value).__name__}({inside})"
    return 'float("inf")' if value == float("inf") else repr(value)
