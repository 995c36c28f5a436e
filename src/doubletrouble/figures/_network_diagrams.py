r"""Diagrams of the model and of the ensemble: units as circles, connections as lines.

The model is f(x) = Σ_h a_h σ(θ_h·x/√D), [dascoli2020] Eq. (1): Θ is drawn once and fixed, a is
fitted by ridge regression. An ensemble averages K models with independent features, trained on the
same data ([dascoli2020] Sec. 5). Fixed weights are thin, grey and dashed, trained ones thick and
coloured: distinguishable without colour.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from doubletrouble.errors import require
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable
from doubletrouble.figures._settings import FigureSettings, setting
from doubletrouble.palette import BLACK, VERMILION

INPUT, FEATURE, OUTPUT, AVERAGE = "input", "feature", "output", "average"
FIXED, TRAINED, SHARED = 0, 1, 2  # kinds of weights; SHARED lines pass a value on
_FACES = {INPUT: "#ffffff", FEATURE: "#cfe6f5", OUTPUT: "#f9d9c4", AVERAGE: "#d5ece3"}
_SHOWN = "drawn before the dots"
_BLOCK = 1.75  # height of one model in the diagram of the ensemble
_RADIUS = {INPUT: 0.13, FEATURE: 0.15, OUTPUT: 0.2, AVERAGE: 0.24}


class Node(NamedTuple):
    """A unit: its kind, its position, and the text in it."""

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
    """Units, connections, and positions of the dots that stand for omitted units."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    dots: tuple[tuple[float, float], ...]


def column(kind: str, x: float, middle: float, step: float, texts: Sequence[str]) -> list[Node]:
    """A column of units from the top down; an empty text stands for dots."""
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


def table(diagram: Diagram) -> PanelTable:
    """Return the numbers drawn: a row for each connection."""
    ends = [(diagram.nodes[e.start], diagram.nodes[e.end], e.weight) for e in diagram.edges]
    rows: list[tuple[float, ...]] = [(a.x, a.y, b.x, b.y, float(w)) for a, b, w in ends]
    return PanelTable(("x_start", "y_start", "x_end", "y_end", "weight"), rows)


def draw(axes: "drawing.Axes", diagram: Diagram) -> None:
    """Draw on the given axes, with equal scales and no frame."""
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
                (node.x, node.y),
                _RADIUS[node.kind],
                facecolor=_FACES[node.kind],
                edgecolor="#222222",
                linewidth=0.9,
                zorder=2,
            )
        )
        axes.text(node.x, node.y, node.text, ha="center", va="center", fontsize=9.5, zorder=3)
    for x, y in diagram.dots:
        axes.text(x, y, r"$\vdots$", ha="center", va="center", fontsize=12, zorder=3)


def name_layers(axes: "drawing.Axes", y: float, names: Mapping[float, str]) -> None:
    """Write a name below each layer, by its x, with the lines of all names aligned."""
    for x, words in names.items():
        for index, line in enumerate(words.split("\n")):
            axes.annotate(
                line, (x, y), (0, -10 - 15 * index), textcoords="offset points", ha="center"
            )


def plot(
    diagram: Diagram, *, label: "Callable[[drawing.Axes, Diagram], None]", height: float
) -> "drawing.Figure":
    """Draw the figure of a diagram, with the texts that `label` adds."""
    with drawing.new_figure(height=height) as figure:
        axes = figure.subplots()
        draw(axes, diagram)
        label(axes, diagram)
    return figure


def connect(starts: Iterable[int], ends: Iterable[int], weight: int) -> list[Edge]:
    """Every unit of one column with every unit of another."""
    targets = list(ends)
    return [Edge(start, end, weight) for start in starts for end in targets]


# --- one model -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSettings(FigureSettings):
    """The settings of the diagram of one model."""

    inputs_shown: int = setting(3, "inputs", _SHOWN)
    features_shown: int = setting(4, "features", _SHOWN)


def rf_single_data(settings: ModelSettings) -> Diagram:
    """Return the units and connections of one model; dots stand for the others.

    >>> diagram = rf_single_data(ModelSettings())
    >>> len(diagram.nodes), len(diagram.edges)
    (10, 25)
    """
    left = column(INPUT, 0.0, 0.0, 0.55, shown(settings.inputs_shown, "x", "D"))
    middle = column(FEATURE, 2.0, 0.0, 0.5, shown(settings.features_shown, r"\sigma", "P"))
    dots = tuple((n.x, n.y) for n in (*left, *middle) if not n.text)
    inputs = [n for n in left if n.text]
    hidden = [n for n in middle if n.text]
    nodes = (*inputs, *hidden, Node(OUTPUT, 4.0, 0.0, r"$\hat{f}$"))
    first, last = range(len(inputs)), len(nodes) - 1
    second = range(len(inputs), last)
    edges = (*connect(first, second, FIXED), *connect(second, [last], TRAINED))
    return Diagram(nodes=nodes, edges=edges, dots=dots)


def label_single(axes: "drawing.Axes", diagram: Diagram) -> None:
    """Name the layers below them, and the weights above them."""
    low = min(node.y for node in diagram.nodes) - 0.3
    high = max(node.y for node in diagram.nodes) + 0.3
    names = {
        0.0: "Input\n" r"$\mathbf{x}\in\mathbb{R}^D$",
        2.0: "Random features\n" r"$\sigma_h=\sigma(\mathbf{\theta}_h\!\cdot\mathbf{x}/\sqrt{D})$",
        4.0: "Output\n" r"$\hat{f}(\mathbf{x})=\sum_h\,a_h\,\sigma_h$",
    }
    name_layers(axes, low, names)
    for x, words, color in (
        (
            1.0,
            r"$\mathbf{\Theta}\in\mathbb{R}^{P\times D}$" "\nfixed, $\\mathcal{N}(0,1)$",
            "#555555",
        ),
        (3.0, r"$\mathbf{a}\in\mathbb{R}^P$" "\ntrained by ridge regression", "#B34700"),
    ):
        axes.text(x, high, words, ha="center", va="bottom", color=color, linespacing=1.5)
    axes.set(xlim=(-0.9, 5.0), ylim=(low - 0.75, high + 0.65))


SINGLE = FigureSpec(
    name="rf-single",
    number=1,
    title="The model",
    caption=(
        "A random-features model: an input of D numbers is projected on P random directions, each "
        "projection passes through an activation σ, and the output is a weighted sum. The "
        "directions Θ are drawn once and never change (thin, dashed); only the weights a of "
        "the sum are learned (thick), by ridge regression on N samples. Another draw of Θ "
        "corresponds to another initialization of a network."
    ),
    alt=(
        "Diagram of a network with three layers: inputs x 1 to x D, random features sigma 1 to "
        "sigma P, and one output. Thin dashed lines, the fixed weights Theta, join inputs and "
        "features; thick lines, the trained weights a, join features and output."
    ),
    settings=ModelSettings(),
    data=rf_single_data,
    plot=partial(plot, label=label_single, height=4.2),
    table=table,
)


# --- an ensemble ---------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class EnsembleSettings(FigureSettings):
    """The settings of the diagram of an ensemble."""

    models_shown: int = setting(2, "models", _SHOWN)
    inputs_shown: int = setting(3, "inputs", _SHOWN)
    features_per_model: int = setting(3, "features", "drawn in each model")


def rf_multiple_data(settings: EnsembleSettings) -> Diagram:
    r"""Return the units and connections of an ensemble; dots stand for the others.

    >>> diagram = rf_multiple_data(EnsembleSettings())
    >>> [node.text for node in diagram.nodes if node.kind == "output"]
    ['$\\hat{f}_{1}$', '$\\hat{f}_{2}$', '$\\hat{f}_{K}$']
    """
    left = column(INPUT, 0.0, 0.0, 0.62, shown(settings.inputs_shown, "x", "D"))
    nodes = [n for n in left if n.text]
    inputs, edges = range(len(nodes)), list[Edge]()
    dots = [(n.x, n.y) for n in left if not n.text]
    names = shown(settings.models_shown, r"\hat{f}", "K")
    heights = [n.y for n in column(OUTPUT, 0.0, 0.0, _BLOCK, names)]
    # dots between models need less room than a model
    gap = names.index("")
    heights = [y - _BLOCK * 0.25 if i < gap else y + _BLOCK * 0.25 for i, y in enumerate(heights)]
    outputs = []
    for text, height in zip(names, heights, strict=True):
        if not text:
            dots += [(2.0, height - _BLOCK * 0.25), (3.6, height - _BLOCK * 0.25)]
            continue
        start = len(nodes)
        nodes += column(FEATURE, 2.0, height, 0.42, [" "] * settings.features_per_model)
        hidden = range(start, len(nodes))
        nodes.append(Node(OUTPUT, 3.6, height, text))
        outputs.append(len(nodes) - 1)
        edges += connect(inputs, hidden, FIXED) + connect(hidden, outputs[-1:], TRAINED)
    nodes.append(Node(AVERAGE, 5.2, 0.0, r"$\frac{1}{K}\sum$"))
    edges += connect(outputs, [len(nodes) - 1], SHARED)
    return Diagram(nodes=tuple(nodes), edges=tuple(edges), dots=tuple(dots))


def label_multiple(axes: "drawing.Axes", diagram: Diagram) -> None:
    """Name the features of each model, and the layers."""
    outputs = [node for node in diagram.nodes if node.kind == OUTPUT]
    low = min(node.y for node in diagram.nodes) - 0.35
    high = max(node.y for node in diagram.nodes) + 0.3
    for node in outputs:
        index = node.text.partition("_")[2].rstrip("$")
        above = max(n.y for n in diagram.nodes if n.kind == FEATURE and abs(n.y - node.y) < 0.9)
        axes.text(
            2.0,
            above + 0.2,
            rf"$\mathbf{{\Theta}}_{index}$",
            ha="center",
            va="bottom",
            color="#555555",
        )
        axes.text(
            2.95,
            node.y + 0.28,
            rf"$\mathbf{{a}}_{index}$",
            ha="center",
            va="bottom",
            color="#B34700",
        )
    names = {
        0.0: "Same input,\nsame training data",
        2.0: "Independent\nrandom features",
        3.6: "Trained\none by one",
        5.2: "Average",
    }
    name_layers(axes, low, names)
    axes.set(xlim=(-1.0, 6.0), ylim=(low - 0.65, high + 0.3))


MULTIPLE = FigureSpec(
    name="rf-multiple",
    number=4,
    title="The ensemble",
    caption=(
        "An ensemble of K random-features models. All have the same training data; each has its "
        "own draw Θₖ of the random features, and its own weights aₖ, trained independently of the "
        "others. The prediction is the average of their predictions. Averaging many models "
        "corresponds to averaging networks trained from many initializations."
    ),
    alt=(
        "Diagram of an ensemble: inputs x 1 to x D feed K models, each with its own random "
        "features Theta k and trained weights a k leading to its output f k; the outputs are "
        "averaged, one over K times their sum."
    ),
    settings=EnsembleSettings(),
    data=rf_multiple_data,
    plot=partial(plot, label=label_multiple, height=5.4),
    table=table,
)
