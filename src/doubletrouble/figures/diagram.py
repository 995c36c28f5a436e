"""Networks as circles and lines: where they are, and how they are drawn.

A learner is a column of inputs, a column of random features and one output. The first weights are
fixed (thin, grey, dashed), the second trained (thick, coloured): distinguishable without colour.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from doubletrouble.errors import require
from doubletrouble.figures import drawing
from doubletrouble.figures.spec import Table
from doubletrouble.palette import BLACK, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INPUT, FEATURE, OUTPUT, AVERAGE = "input", "feature", "output", "average"
FIXED, TRAINED, SHARED = 0, 1, 2  # weights, and the lines that only pass a value on
_FACES = {INPUT: "#ffffff", FEATURE: "#cfe6f5", OUTPUT: "#f9d9c4", AVERAGE: "#d5ece3"}
_RADIUS = {INPUT: 0.13, FEATURE: 0.15, OUTPUT: 0.2, AVERAGE: 0.24}


class Node(NamedTuple):
    """A unit: what it is, where it stands, and what is written in it."""

    kind: str
    x: float
    y: float
    text: str = ""


class Edge(NamedTuple):
    """A connection between two units, by their number."""

    start: int
    end: int
    weight: int


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """Units, connections, and places with three dots for what is left out."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    dots: tuple[tuple[float, float], ...]


def column(kind: str, x: float, middle: float, step: float, texts: Sequence[str]) -> list[Node]:
    """A column of units from the top down; an empty text is a place for dots, not a unit."""
    top = middle + step * (len(texts) - 1) / 2
    return [Node(kind, x, top - step * i, text) for i, text in enumerate(texts)]


def shown(count: int, symbol: str, last: str) -> list[str]:
    """The first units of a column by number, dots, and the last by letter.

    >>> shown(2, "x", "D")
    ['$x_{1}$', '$x_{2}$', '', '$x_{D}$']
    """
    if count != int(count) or count < 1:
        raise ValueError(f"units shown must be a whole number of at least 1, got {count!r}")
    return [*(f"${symbol}_{{{i + 1}}}$" for i in range(int(count))), "", f"${symbol}_{{{last}}}$"]


def table(diagram: Diagram) -> Table:
    """Return what is drawn: a row for each connection."""
    ends = [(diagram.nodes[e.start], diagram.nodes[e.end], e.weight) for e in diagram.edges]
    rows: list[tuple[float, ...]] = [(a.x, a.y, b.x, b.y, float(w)) for a, b, w in ends]
    return Table(("x_start", "y_start", "x_end", "y_end", "weight"), rows)


def draw(axes: "Axes", diagram: Diagram) -> None:
    """Draw on axes that the caller owns, with equal scales and no frame."""
    circle = require("matplotlib.patches", "figures").Circle
    axes.set_aspect("equal")
    axes.axis("off")
    looks: dict[int, dict[str, Any]] = {
        FIXED: {"color": "#8a8a8a", "linewidth": 0.7, "linestyle": (0, (4, 2))},
        TRAINED: {"color": VERMILION, "linewidth": 1.8},
        SHARED: {"color": BLACK, "linewidth": 1.1},
    }
    for edge in diagram.edges:
        a, b = diagram.nodes[edge.start], diagram.nodes[edge.end]
        axes.plot([a.x, b.x], [a.y, b.y], zorder=1, **looks[edge.weight])
    for node in diagram.nodes:
        axes.add_patch(
            circle(
                (node.x, node.y), _RADIUS[node.kind], facecolor=_FACES[node.kind],
                edgecolor="#222222", linewidth=0.9, zorder=2,
            )
        )  # fmt: skip
        axes.text(node.x, node.y, node.text, ha="center", va="center", fontsize=9.5, zorder=3)
    for x, y in diagram.dots:
        axes.text(x, y, r"$\vdots$", ha="center", va="center", fontsize=12, zorder=3)


def name_layers(axes: "Axes", y: float, names: Mapping[float, str]) -> None:
    """Write a name below each layer, by its x, its lines level with those of the others."""
    for x, words in names.items():
        for place, line in enumerate(words.split("\n")):
            axes.annotate(
                line, (x, y), (0, -10 - 15 * place), textcoords="offset points", ha="center"
            )


def figure_of(
    diagram: Diagram, label: "Callable[[Axes, Diagram], None]", *, height: float
) -> "Figure":
    """Make the whole figure of a diagram: draw it, and let `label` write around it."""
    with drawing.page(height=height) as figure:
        axes = figure.subplots()
        draw(axes, diagram)
        label(axes, diagram)
    return figure


def connect(starts: Iterable[int], ends: Iterable[int], weight: int) -> list[Edge]:
    """Every unit of one column with every unit of another."""
    targets = list(ends)
    return [Edge(start, end, weight) for start in starts for end in targets]
