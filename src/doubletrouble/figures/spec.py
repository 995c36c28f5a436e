"""What a figure consists of: a data function, a drawing, a table, and words about it.

The defaults of the data function are the figure's parameters. They are written there once; the
gallery's parameter list and the lines that remake the figure are read from them.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from doubletrouble.parameters import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Data = TypeVar("Data")


class Line(NamedTuple):
    """One curve: `label` says what it is, `y` belongs to `x` point by point."""

    label: str
    x: FloatArray
    y: FloatArray


class Table(NamedTuple):
    """The numbers behind a figure: column names, and one tuple of floats a row."""

    columns: tuple[str, ...]
    rows: list[tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class FigureSpec(Generic[Data]):
    """A figure of the gallery; `name` is also the stem of its files."""

    name: str
    title: str
    caption: str  # plain text, one paragraph a line
    alt: str  # the picture in words, for those who cannot see it
    data: Callable[..., Data]
    plot: Callable[[Data], "Figure"]
    table: Callable[[Data], Table]

    @property
    def arguments(self) -> dict[str, object]:
        """The parameters of the figure: the defaults of its data function, None left out."""
        parameters = inspect.signature(self.data).parameters
        return {n: p.default for n, p in parameters.items() if p.default is not None}

    @property
    def source(self) -> str:
        """The Python lines that write this figure's files into the folder `out`."""
        functions = (self.data, self.plot, self.table)
        data, plot, table = (function.__name__ for function in functions)
        arguments = "".join(f"    {name}={value!r},\n" for name, value in self.arguments.items())
        return (
            f"from {self.data.__module__} import {', '.join(sorted((data, plot, table)))}\n"
            "from doubletrouble.figures.save import save\n\n"
            f"data = {data}(\n{arguments})\n"
            f'save("out/{self.name}", {plot}(data), {table}(data))\n'
        )
