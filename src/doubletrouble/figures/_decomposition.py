r"""The parts of the test error against P/N: the origin of the double-descent peak.

The decomposition of [dascoli2020] Sec. 4, for a weak and a strong ridge penalty λ. With
P features, N samples of dimension D, a linear teacher of norm F and label noise τ, the test error
is noise + initialization + sampling + bias, each exact in the limit of large P, N and D.

A second figure has the parts for K averaged models, beside those of a single one ([dascoli2020]
Sec. 5): averaging divides the initialization variance by K, and the part of the noise variance that
the members do not share; sampling variance and bias do not change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Divide, Ensemble, EnsembleLike, Scheme, as_ensemble
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Columns, Line, Panel, along_ratios, number_list, table
from doubletrouble.figures._settings import ErrorSettings, FigureSettings, setting
from doubletrouble.parameters import Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error

CAUSES = ("noise", "initialization", "sampling", "bias")
COLUMNS = {  # the authors' names
    "noise": "noise_variance",
    "initialization": "init_variance",
    "sampling": "sampling_variance",
    "bias": "bias",
    "total": "total",
}
_FILES = {  # by λ and K
    (1e-5, 1.0): "fig3_top_decomposition_lambda1e-5_SNR1_K1.csv",
    (1e-1, 1.0): "fig3_bottom_decomposition_lambda1e-1_SNR1_K1.csv",
    (1e-5, 10.0): "fig6_decomposition_lambda1e-5_SNR1_K10.csv",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DecompositionSettings(FigureSettings):
    """The settings of the figure."""

    ridges: Sequence[float] = setting((1e-5, 1e-1), glossary.RIDGE)
    samples_per_dim: float = setting(1.0, glossary.SAMPLES_PER_DIM)
    signal: float = setting(1.0, glossary.SIGNAL)
    noise: float = setting(1.0, glossary.NOISE)
    activation: str = setting("relu", "σ", "activation function")
    ensemble: EnsembleLike = setting(1, glossary.N_MEMBERS, "models averaged, or an ensemble")
    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)


def parts_by_ridge(settings: DecompositionSettings) -> tuple[Panel, ...]:
    """Return one panel for each ridge: the parts of the exact test error along `ratios` = P/N.

    >>> (panel,) = parts_by_ridge(DecompositionSettings(ridges=[0.1], ratios=[1.0]))
    >>> [(line.label, round(float(line.y[0]), 3)) for line in panel.lines[:2]]
    [('noise', 0.47), ('initialization', 0.301)]
    """
    problem, ensemble = settings.problem, as_ensemble(settings.ensemble)
    return tuple(
        parts_along(replace(problem, ridge=ridge), ensemble, settings.ratios, {"ridge": ridge})
        for ridge in number_list("ridges", settings.ridges)
    )


def parts_along(problem: Problem, ensemble: Scheme, ratios: Numeric | None, keys: Columns) -> Panel:
    """The parts of the exact test error of an ensemble along `ratios` = P/N."""
    ratio, along = along_ratios(problem, ratios)
    error = exact_error(along, ensemble)
    lines = (Line(name, ratio, np.asarray(getattr(error, name))) for name in (*CAUSES, "total"))
    return Panel(
        axis="features_per_sample", keys=keys, problem=along, lines=tuple(lines), ensemble=ensemble
    )


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw one panel on the given axes."""
    drawing.log_axes(axes, panel.x)
    drawing.threshold(axes)
    drawing.curves(axes, panel, drawing.PARTS)
    axes.set_title(rf"$\lambda={drawing.scientific(panel.constant('ridge'))}$", loc="right")


def plot(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure: the panels side by side, one legend above, one range of errors."""
    with drawing.new_figure(height=3.1) as figure:
        row = drawing.side_by_side(figure, panels, draw)
        row[0].set_ylim(drawing.log_range(line.y for panel in panels for line in panel.lines))
        drawing.figure_legend(figure, title=_title(panels[0]))
    return figure


def comparisons(panels: Sequence[Panel]) -> tuple[agreement.Agreement, ...]:
    """The authors' values, for the panels with a stored table."""
    return tuple(one for panel in panels for one in _with_authors(panel))


def _with_authors(panel: Panel) -> tuple[agreement.Agreement, ...]:
    """One panel against the authors' table of its ridge and number of members, if there is one."""
    ridge = panel.constant("ridge")
    file = _FILES.get((ridge, panel.n_members), "")
    ratios, rows = agreement.stored_curve(file)
    plain = type(panel.ensemble) is Ensemble
    if not rows or not plain or not agreement.has_constants(panel.problem, ridge=ridge):
        return ()
    problem = replace(panel.problem, features_per_dim=ratios)
    error = exact_error(problem, panel.ensemble)
    # at 1e-5 their Ψ are good to 1e-7; a small part is a difference of two of them
    compared = agreement.with_authors(
        (
            (np.asarray(getattr(error, cause)), agreement.column(rows, name))
            for cause, name in COLUMNS.items()
        ),
        scale=agreement.column(rows, "total"),
        at=f" at λ = {ridge:g}, K = {panel.n_members:g}",
    )
    return (compared,)


def _title(panel: Panel) -> str:
    """The constants that the panels share."""
    constants, scheme, kind = drawing.constants_title(panel, ridge=False), panel.ensemble, ""
    if isinstance(scheme, Divide):
        kind = " (divided data)"
    elif type(scheme) is not Ensemble:
        kind = f" ({scheme.name.replace('_', ' ')})"
    if panel.n_members == 1 and not kind:
        return constants
    return rf"{constants},$\quad$$K={drawing.scientific(panel.n_members)}${kind}"


FIGURE = FigureSpec(
    name="decomposition",
    number=3,
    title="The origin of the double-descent peak",
    caption=(
        "The exact test error of random-features ridge regression (thick black line) and its four "
        "parts against the number of features per training sample, P/N.\n"
        "(a) With a very small penalty (λ = 10⁻⁵), noise and initialization variance have a sharp "
        "peak at the interpolation threshold P = N, where the model can just fit every sample, and "
        "decrease beyond it. Sampling variance and bias have no peak: they have a kink at P = N "
        "and are constant from there on. Larger models are better only because the first two parts "
        "decrease; initialization variance vanishes as 1/P, noise variance tends to a limit.\n"
        "(b) With a larger penalty (λ = 10⁻¹) the peak is a small bump and the kink is gone, and "
        "the bias is larger."
    ),
    alt=(
        "Two panels of test error against features per sample P/N, both axes logarithmic. "
        "Left, λ = 10⁻⁵: total error, noise and initialization variance rise to a sharp peak at "
        "P = N, near 100, 70 and 30, then fall; sampling variance and bias level off at 0.09 and "
        "0.2. Right, λ = 10⁻¹: all curves are smooth and the total never exceeds 1.5."
    ),
    settings=DecompositionSettings(),
    data=parts_by_ridge,
    plot=plot,
    table=table,
    agreement=comparisons,
)

decomposition_data = FIGURE.compute


# --- K averaged models ---------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class MultipleSettings(ErrorSettings):
    """The settings of the figure of averaged models."""

    n_members: Sequence[float] = setting((1, 10), glossary.N_MEMBERS)
    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)


def parts_by_members(settings: MultipleSettings) -> tuple[Panel, ...]:
    """Return the decomposition for each number of members, along `ratios` = P/N.

    >>> one, ten = parts_by_members(MultipleSettings(ratios=[1.0]))
    >>> round(float(one.line("initialization").y[0] / ten.line("initialization").y[0]), 6)
    10.0
    """
    return tuple(
        parts_along(settings.problem, Ensemble(k), settings.ratios, {"n_members": k})
        for k in number_list("n_members", settings.n_members)
    )


def draw_members(axes: "drawing.Axes", panels: Sequence[Panel]) -> None:
    """Draw on the given axes: the last panel thick, the others thin beneath it."""
    *others, main = panels
    drawing.log_axes(axes, main.x)
    drawing.threshold(axes)
    for label, stroke in drawing.PARTS.items():
        for panel in others:
            drawing.curve(axes, panel.line(label), stroke._replace(width=0.9), label="_")
    thick = {k: stroke._replace(width=stroke.width + 0.7) for k, stroke in drawing.PARTS.items()}
    drawing.curves(axes, main, thick)


def plot_members(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure of averaged models."""
    with drawing.new_figure(height=3.9) as figure:
        axes = figure.subplots()
        draw_members(axes, panels)
        axes.set_ylim(drawing.log_range(line.y for panel in panels for line in panel.lines))
        shown = [drawing.scientific(panel.n_members) for panel in panels]
        thin = "".join(rf",$\quad$thin: $K={k}$" for k in shown[:-1])
        constants = drawing.constants_title(panels[0])
        drawing.figure_legend(figure, title=rf"Thick: $K={shown[-1]}${thin},$\quad${constants}")
    return figure


MULTIPLE_K = FigureSpec(
    name="multiple-k-decomposition",
    number=6,
    title="The effect of ensembling on each part",
    caption=(
        "The parts of the test error for an average of K = 10 models (thick) and for a single "
        "model (thin). Averaging divides the initialization variance by K everywhere, and the part "
        "of the noise variance that the members do not share: both peaks at P = N are ten times "
        "lower.\n"
        "Sampling variance and bias are the same for any K: their thin lines coincide with the "
        "thick ones. All members have the same training data, and averaging does not reduce these "
        "parts."
    ),
    alt=(
        "Parts of the test error against features per sample P/N, logarithmic axes, for K = 10 "
        "and K = 1. Total, noise and initialization peak at P = N, ten times lower for K = 10. "
        "Sampling variance and bias coincide for both and are flat beyond P = N."
    ),
    settings=MultipleSettings(),
    data=parts_by_members,
    plot=plot_members,
    table=table,
    agreement=comparisons,
)
