r"""Two models averaged, or one model with twice the features? Against the number of samples.

[dascoli2020] Sec. 5. For P > N and λ → 0 the comparison is exact: K models of P features have
the error of infinitely many plus c/(K (P/N - 1)), one of K P features c/(K P/N - 1), which is less.

**Differs from the paper.** The authors' values contain a part of the teacher that cannot be
learned, of power F⋆² = 0.01, which the text does not mention. `nonlinear_signal=0.1` draws theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Ensemble
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, axis_values, number_list, table
from doubletrouble.figures._settings import FigureSettings, setting
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error

_LABELS = {
    "single": "One model, $P$ features",
    "wider": "One model, ${k}P$ features",
    "ensemble": "{k} models, $P$ features each",
}
_FILES = {
    0.5: "fig_morevsbig_psi1_0.5_K2_tau0.1_FStar0.1.csv",
    5.0: "fig_morevsbig_psi1_5_K2_tau0.1_FStar0.1.csv",
}
_CURVES = {
    "single": "baseline_K1(ptsB)",
    "wider": "bigger_2P_K1(ptsV)",
    "ensemble": "ensemble_K2(ptsM)",
}
_NONLINEAR = 0.1  # the authors' F⋆


@dataclass(frozen=True, kw_only=True, eq=False)
class OverparametrizeSettings(FigureSettings):
    """The settings of the figure."""

    features_per_dim: Sequence[float] = setting((0.5, 5.0), glossary.FEATURES_PER_DIM)
    n_members: int = setting(2, glossary.N_MEMBERS)
    ridge: float = setting(1e-5, glossary.RIDGE)
    signal: float = setting(1.0, glossary.SIGNAL)
    noise: float = setting(0.1, glossary.NOISE)
    nonlinear_signal: float = setting(0.0, glossary.NONLINEAR_SIGNAL)
    activation: str = setting("relu", "σ", "activation function")
    samples_per_dim: Numeric | None = setting(None, glossary.SAMPLES_PER_DIM)

    @property
    def constants(self) -> dict[str, Any]:
        """The settings that are fields of a problem, without the axis."""
        return {k: v for k, v in super().constants.items() if k != "samples_per_dim"}


def ensemble_vs_overparametrize_data(settings: OverparametrizeSettings) -> tuple[Panel, ...]:
    """Return a panel for each P/D: the test errors of the three choices along N/D.

    >>> settings = OverparametrizeSettings(samples_per_dim=[1.0])
    >>> small, large = ensemble_vs_overparametrize_data(settings)
    >>> [round(float(line.y[0]), 2) for line in large.lines]
    [0.41, 0.34, 0.35]
    """
    n_members, samples = settings.n_members, settings.samples_per_dim
    grid = np.unique(np.append(10.0 ** np.linspace(-1, 2, 601), [0.5, 1.0, 5.0, 10.0]))
    ratio = axis_values("samples_per_dim", grid if samples is None else samples, "samples_per_dim")
    panels = []
    for features_per_dim in number_list("features_per_dim", settings.features_per_dim):
        along = replace(settings.problem, features_per_dim=features_per_dim, samples_per_dim=ratio)
        curves = errors(along, n_members)
        panels.append(
            Panel(
                axis="samples_per_dim",
                keys={"features_per_dim": features_per_dim, "n_members": n_members},
                problem=along,
                lines=tuple(Line(label, ratio, y) for label, y in curves.items()),
                ensemble=Ensemble(n_members),
            )
        )
    return tuple(panels)


def errors(problem: Problem, n_members: float) -> dict[str, FloatArray]:
    """The test error of one model, of one that has K times the features, and of K models."""
    wider = replace(problem, features_per_dim=np.multiply(problem.features_per_dim, n_members))
    results = (exact_error(problem), exact_error(wider), exact_error(problem, n_members))
    return {label: np.asarray(error.total) for label, error in zip(_LABELS, results, strict=True)}


def draw(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw one panel on the given axes."""
    drawing.log_axes(axes, panel.x, xlabel="Samples per dimension, $N/D$")
    features_per_dim, k = panel.constant("features_per_dim"), panel.n_members
    drawing.threshold(axes, features_per_dim, "$N=P$  ", align="right")
    drawing.threshold(axes, k * features_per_dim, f"  $N={k:g}P$", align="left")
    labels = {name: text.format(k=f"{k:g}") for name, text in _LABELS.items()}
    drawing.curves(axes, panel, drawing.labelled(labels))
    drawing.corner(axes, f"$P/D={drawing.scientific(features_per_dim)}$")


def plot(panels: Sequence[Panel]) -> "drawing.Figure":
    """Draw the figure: the panels side by side, one legend above."""
    with drawing.new_figure(height=3.3) as figure:
        drawing.side_by_side(figure, panels, draw)
        drawing.figure_legend(figure, title=drawing.constants_title(panels[0]))
    return figure


def comparisons(panels: Sequence[Panel]) -> tuple[agreement.Agreement, ...]:
    """The authors' values, with their nonlinear teacher, and without it as in the paper's text."""
    pairs, plain = [], []
    for panel in panels:
        rows = agreement.stored_rows(_FILES.get(panel.constant("features_per_dim"), ""))
        samples = panel.problem.samples_per_dim  # the axis
        same = agreement.has_constants(panel.problem, noise=0.1, samples_per_dim=samples)
        if not rows or panel.n_members != 2 or not same:
            continue
        for label, curve in _CURVES.items():
            chosen = [row for row in rows if row["curve"] == curve]
            samples = 10.0 ** agreement.column(chosen, "log10_N_over_D")
            theirs = agreement.column(chosen, "test_error")
            problem = replace(panel.problem, samples_per_dim=samples, nonlinear_signal=_NONLINEAR)
            pairs.append((errors(problem, 2)[label], theirs))
            plain.append((errors(replace(problem, nonlinear_signal=0.0), 2)[label], theirs))
    return (
        agreement.with_authors(pairs),
        agreement.with_authors(plain, at=" without their F⋆"),
    )


FIGURE = FigureSpec(
    name="ensemble-vs-overparametrize",
    title="Two models, or one twice as wide?",
    number=7,
    caption=(
        "A model with P features is improved by averaging it with a second one that has other "
        "features, or by doubling its features. Which is better depends on the number of samples "
        "N.\n"
        "Each model has its peak where N equals its number of features; the wide one therefore "
        "has it at N = 2P, and around N = 2P two models are better. For fewer samples, N < P, the "
        "wide model is always better (exactly so as λ vanishes); with many samples it is better, "
        "too. With more features the difference is smaller (b)."
    ),
    alt=(
        "Two panels of test error against samples per dimension, logarithmic axes, for P/D = 0.5 "
        "and 5. One model and two averaged peak at N = P, the latter half as high; one with 2P "
        "features peaks at N = 2P. With many samples the wide model is lowest; the gap is smaller "
        "in the right panel."
    ),
    settings=OverparametrizeSettings(),
    data=ensemble_vs_overparametrize_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    notes=(
        f"The authors' files have a part of the teacher that cannot be learned, F⋆ = "
        f"{_NONLINEAR:g}, which is not in the paper's text and not drawn by default.",
    ),
)
