r"""The ensemble: K models with features of their own, trained on the same data, and averaged.

[dascoli2020] Sec. 5.
"""

from typing import TYPE_CHECKING

from doubletrouble.figures import diagram as kinds
from doubletrouble.figures.diagram import Diagram, Edge, Node, column, connect, shown, table
from doubletrouble.figures.spec import FigureSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLOCK = 1.75  # height of one model


def rf_multiple_data(
    *, models_shown: int = 2, inputs_shown: int = 3, features_per_model: int = 3
) -> Diagram:
    r"""Return the units and connections of an ensemble; more than are shown are meant.

    >>> diagram = rf_multiple_data()
    >>> [node.text for node in diagram.nodes if node.kind == "output"]
    ['$\\hat{f}_{1}$', '$\\hat{f}_{2}$', '$\\hat{f}_{K}$']
    """
    left = column(kinds.INPUT, 0.0, 0.0, 0.62, shown(inputs_shown, "x", "D"))
    nodes = [n for n in left if n.text]
    inputs, edges = range(len(nodes)), list[Edge]()
    dots = [(n.x, n.y) for n in left if not n.text]
    names = shown(models_shown, r"\hat{f}", "K")
    heights = [n.y for n in column(kinds.OUTPUT, 0.0, 0.0, _BLOCK, names)]
    # dots between models need less room than a model
    place = names.index("")
    heights = [y - _BLOCK * 0.25 if i < place else y + _BLOCK * 0.25 for i, y in enumerate(heights)]
    outputs = []
    for text, height in zip(names, heights, strict=True):
        if not text:
            dots += [(2.0, height - _BLOCK * 0.25), (3.6, height - _BLOCK * 0.25)]
            continue
        start = len(nodes)
        nodes += column(kinds.FEATURE, 2.0, height, 0.42, [" "] * features_per_model)
        hidden = range(start, len(nodes))
        nodes.append(Node(kinds.OUTPUT, 3.6, height, text))
        outputs.append(len(nodes) - 1)
        edges += connect(inputs, hidden, kinds.FIXED) + connect(hidden, outputs[-1:], kinds.TRAINED)
    nodes.append(Node(kinds.AVERAGE, 5.2, 0.0, r"$\frac{1}{K}\sum$"))
    edges += connect(outputs, [len(nodes) - 1], kinds.SHARED)
    return Diagram(nodes=tuple(nodes), edges=tuple(edges), dots=tuple(dots))


def label(axes: "Axes", diagram: Diagram) -> None:
    """Name the features of each model, and the layers."""
    outputs = [node for node in diagram.nodes if node.kind == kinds.OUTPUT]
    low = min(node.y for node in diagram.nodes) - 0.35
    high = max(node.y for node in diagram.nodes) + 0.3
    for node in outputs:
        index = node.text.partition("_")[2].rstrip("$")
        above = max(
            n.y for n in diagram.nodes if n.kind == kinds.FEATURE and abs(n.y - node.y) < 0.9
        )
        axes.text(
            2.0, above + 0.2, rf"$\mathbf{{\Theta}}_{index}$", ha="center", va="bottom",
            color="#555555",
        )  # fmt: skip
        axes.text(
            2.95, node.y + 0.28, rf"$\mathbf{{a}}_{index}$", ha="center", va="bottom",
            color="#B34700",
        )  # fmt: skip
    names = {
        0.0: "Same input,\nsame training data",
        2.0: "Independent\nrandom features",
        3.6: "Trained\none by one",
        5.2: "Average",
    }
    kinds.name_layers(axes, low, names)
    axes.set(xlim=(-1.0, 6.0), ylim=(low - 0.65, high + 0.3))


def plot(diagram: Diagram) -> "Figure":
    """Make the whole figure."""
    return kinds.figure_of(diagram, label, height=5.4)


FIGURE = FigureSpec(
    name="rf-multiple",
    title="The ensemble",
    caption=(
        "An ensemble of K random-features models. All see the same training data; each has its own "
        "draw Θₖ of the random features, and its own weights aₖ, trained without regard to the "
        "others. The prediction is the average of theirs. Averaging many models stands for "
        "training a network from many initializations."
    ),
    alt=(
        "Diagram of an ensemble: inputs x 1 to x D feed K models, each with its own random "
        "features Theta k and trained weights a k leading to its output f k; the outputs meet in "
        "one average, one over K times their sum."
    ),
    data=rf_multiple_data,
    plot=plot,
    table=table,
)
