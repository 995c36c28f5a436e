r"""The model: one hidden layer of fixed random features, and weights trained on top.

f(x) = Σ_h a_h σ(θ_h·x/√D), [dascoli2020] Eq. (1): Θ is drawn once and kept, a is fitted by
ridge regression.
"""

from typing import TYPE_CHECKING

from doubletrouble.figures import diagram as kinds
from doubletrouble.figures.diagram import Diagram, Node, column, connect, shown, table
from doubletrouble.figures.spec import FigureSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def rf_single_data(*, inputs_shown: int = 3, features_shown: int = 4) -> Diagram:
    """Return the units and connections of one model; more than are shown are meant.

    >>> len(rf_single_data().nodes), len(rf_single_data().edges)
    (10, 25)
    """
    left = column(kinds.INPUT, 0.0, 0.0, 0.55, shown(inputs_shown, "x", "D"))
    middle = column(kinds.FEATURE, 2.0, 0.0, 0.5, shown(features_shown, r"\sigma", "P"))
    dots = tuple((n.x, n.y) for n in (*left, *middle) if not n.text)
    inputs = [n for n in left if n.text]
    hidden = [n for n in middle if n.text]
    nodes = (*inputs, *hidden, Node(kinds.OUTPUT, 4.0, 0.0, r"$\hat{f}$"))
    first, last = range(len(inputs)), len(nodes) - 1
    second = range(len(inputs), last)
    edges = (*connect(first, second, kinds.FIXED), *connect(second, [last], kinds.TRAINED))
    return Diagram(nodes=nodes, edges=edges, dots=dots)


def label(axes: "Axes", diagram: Diagram) -> None:
    """Write what the layers are below them, and what the weights are between them."""
    low = min(node.y for node in diagram.nodes) - 0.3
    high = max(node.y for node in diagram.nodes) + 0.3
    names = {
        0.0: "Input\n" r"$\mathbf{x}\in\mathbb{R}^D$",
        2.0: "Random features\n" r"$\sigma_h=\sigma(\mathbf{\theta}_h\!\cdot\mathbf{x}/\sqrt{D})$",
        4.0: "Output\n" r"$\hat{f}(\mathbf{x})=\sum_h\,a_h\,\sigma_h$",
    }
    kinds.name_layers(axes, low, names)
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


def plot(diagram: Diagram) -> "Figure":
    """Make the whole figure."""
    return kinds.figure_of(diagram, label, height=4.2)


FIGURE = FigureSpec(
    name="rf-single",
    title="The model",
    caption=(
        "A random-features model: an input of D numbers is projected on P random directions, each "
        "projection passes through an activation σ, and the output is a weighted sum. The "
        "directions Θ are drawn once and never change (thin, dashed); only the weights a of "
        "the sum are learned (thick), by ridge regression on N samples. Drawing Θ anew stands "
        "for initializing a network anew."
    ),
    alt=(
        "Diagram of a network with three layers: inputs x 1 to x D, random features sigma 1 to "
        "sigma P, and one output. Thin dashed lines, the fixed weights Theta, join inputs and "
        "features; thick lines, the trained weights a, join features and output."
    ),
    data=rf_single_data,
    plot=plot,
    table=table,
)
