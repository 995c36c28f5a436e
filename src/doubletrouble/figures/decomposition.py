r"""The test error by cause against P/N: where the peak of double descent comes from.

The decomposition of [dascoli2020] Sec. 4, for a weak and a strong ridge penalty λ. With
P features, N samples of dimension D, a linear teacher of norm F and label noise τ, the test error
is noise + initialization + sampling + bias, each exact in the limit of large P, N and D.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.ensembles import Divide, Ensemble, EnsembleLike, Scheme, as_ensemble
from doubletrouble.figures import _authors, agreement, drawing, style
from doubletrouble.figures.panel import Panel, table
from doubletrouble.figures.ratios import along_ratios, numbers
from doubletrouble.figures.spec import FigureSpec, Line
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.theory import exact_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAUSES = ("noise", "initialization", "sampling", "bias")
COLUMNS = {  # the authors' names
    "noise": "noise_variance",
    "initialization": "init_variance",
    "sampling": "sampling_variance",
    "bias": "bias",
    "total": "total",
}
_FILES = {
    (1e-5, 1.0): "fig3_top_decomposition_lambda1e-5_SNR1_K1.csv",
    (1e-1, 1.0): "fig3_bottom_decomposition_lambda1e-1_SNR1_K1.csv",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DecompositionPanel(Panel):
    """One panel along P/N: a line for each cause and the `total`, and how models are averaged."""

    ensemble: Scheme

    @property
    def ratios(self) -> FloatArray:
        """P/N."""
        return self.lines[0].x

    @property
    def ridge(self) -> float:
        """The penalty λ of this panel."""
        return self.constant("ridge")

    @property
    def n_members(self) -> float:
        """The number of models K."""
        return float(np.asarray(self.ensemble.n_members))


def decomposition_data(
    *,
    ridges: Sequence[float] = (1e-5, 1e-1),
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    noise: float = 1.0,
    ensemble: EnsembleLike = 1,
    activation: str | Activation = "relu",
    ratios: Numeric | None = None,
) -> tuple[DecompositionPanel, ...]:
    """Return one panel for each ridge: the exact test error by cause, along `ratios` = P/N.

    >>> (panel,) = decomposition_data(ridges=[0.1], ratios=[1.0])
    >>> [(line.label, round(float(line.y[0]), 3)) for line in panel.lines[:2]]
    [('noise', 0.47), ('initialization', 0.301)]
    """
    averaged = as_ensemble(ensemble)
    panels = []
    for ridge in numbers("ridges", ridges):
        ratio, problem = along_ratios(
            ratios, samples_per_dim=samples_per_dim, ridge=ridge, signal=signal, noise=noise,
            activation=activation,
        )  # fmt: skip
        error = exact_error(problem, averaged)
        labels = (*CAUSES, "total")
        lines = tuple(Line(label, ratio, np.asarray(getattr(error, label))) for label in labels)
        panels.append(
            DecompositionPanel(
                axis="P_over_N", keys={"ridge": ridge}, problem=problem, lines=lines,
                ensemble=averaged,
            )
        )  # fmt: skip
    return tuple(panels)


def draw(axes: "Axes", panel: DecompositionPanel) -> None:
    """Draw one panel on axes that the caller owns."""
    drawing.log_axes(axes, [panel.ratios])
    drawing.threshold(axes)
    for place, (label, stroke) in enumerate(style.STROKES.items()):
        drawing.curve(axes, panel.line(label), stroke, label=stroke.label, place=place)
    axes.set_title(rf"$\lambda={style.scientific(panel.ridge)}$", loc="right")


def plot(panels: Sequence[DecompositionPanel]) -> "Figure":
    """Make the whole figure: the panels side by side, one legend above, one range of errors."""
    with drawing.page(height=3.1) as figure:
        row = drawing.side_by_side(figure, panels, draw)
        row[0].set_ylim(style.log_range(line.y for panel in panels for line in panel.lines))
        drawing.legend_above(figure, title=setting(panels[0]))
    return figure


def agrees(panels: Sequence[DecompositionPanel]) -> tuple[str, ...]:
    """The authors' values, for the panels they have."""
    return tuple(f"λ = {p.ridge:g}: {said}" for p in panels for said in with_stored(p, _FILES))


def with_stored(
    panel: DecompositionPanel, files: Mapping[tuple[float, float], str]
) -> tuple[str, ...]:
    """One panel against the authors' table of its ridge and number of members, if it has one."""
    ratios, rows = _authors.along(files.get((panel.ridge, panel.n_members), ""))
    same: dict[str, float | str] = {
        "samples_per_dim": 1.0,
        "signal": 1.0,
        "noise": 1.0,
        "activation": "relu",
    }
    plain = type(panel.ensemble) is Ensemble
    if not rows or not plain or not _authors.constants(panel.problem, **same):
        return ()
    problem = replace(panel.problem, features_per_dim=ratios)
    error = exact_error(problem, panel.ensemble)
    # at 1e-5 their Ψ are good to 1e-7; a small part is a difference of two of them
    return agreement.with_authors(
        (
            (np.asarray(getattr(error, cause)), _authors.column(rows, name))
            for cause, name in COLUMNS.items()
        ),
        scale=_authors.column(rows, "total"),
    )


def setting(panel: DecompositionPanel, *, ridge: bool = False) -> str:
    """What the panels share, as the figure prints it."""
    words = drawing.setting(panel, ridge=ridge)
    kind = "" if type(panel.ensemble) is Ensemble else f" ({_named(panel.ensemble)})"
    if panel.n_members == 1 and not kind:
        return words
    return rf"{words},$\quad$$K={style.scientific(panel.n_members)}${kind}"


def _named(ensemble: Scheme) -> str:
    return "divided data" if isinstance(ensemble, Divide) else ensemble.name.replace("_", " ")


FIGURE = FigureSpec(
    name="decomposition",
    title="Where the double-descent peak comes from",
    caption=(
        "The exact test error of random-features ridge regression (thick black line) and its four "
        "causes, as features are added: P/N is the number of features per training sample.\n"
        "Left, with almost no penalty (λ = 10⁻⁵): label noise and the random draw of the features "
        "shoot up at the interpolation threshold P = N, where the model can just fit every sample, "
        "and fall again beyond it. Sampling variance and bias take no part in the peak: they bend "
        "at P = N and are flat from there on. Larger models do better only because the first two "
        "causes shrink; initialization dies out as 1/P, while some noise stays for ever.\n"
        "Right, with a real penalty (λ = 10⁻¹): the peak is down to a hump and the bend is gone, "
        "at the price of a larger bias."
    ),
    alt=(
        "Two panels of test error against features per sample P/N, both axes logarithmic. "
        "Left, λ = 10⁻⁵: total error, noise and initialization variance rise to a sharp peak at "
        "P = N, near 100, 70 and 30, then fall; sampling variance and bias level off at 0.09 and "
        "0.2. Right, λ = 10⁻¹: all curves are smooth and the total never exceeds 1.5."
    ),
    data=decomposition_data,
    plot=plot,
    table=table,
    agreement=agrees,
)
