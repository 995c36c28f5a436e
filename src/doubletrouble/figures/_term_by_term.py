r"""The dimensionless terms Ψ against P/N: terms that diverge at P = N, and terms that do not.

[dascoli2020] Eqs. (12)-(17), with a seventh term that the paper does not define, and traces of
random matrices of the Gaussian covariate model at finite size, as in the paper's figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import Line, Panel, along_ratios, log_grid, table
from doubletrouble.figures._settings import (
    RANGE,
    GridBounds,
    SimulationSettings,
    TermSettings,
    setting,
)
from doubletrouble.figures._simulated import two_sizes, with_simulated_points
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.results import PsiTerms
from doubletrouble.theory import psi_terms

DIVERGING = ("psi2_vanilla", "psi3_vanilla")
_TEX = {term.name: f"${term.metadata['tex']}$" for term in fields(PsiTerms) if term.metadata}
_SYMBOLS = {term: _TEX[term] for term in dict.fromkeys((*DIVERGING, *_TEX))}
_STROKES = drawing.labelled(_SYMBOLS)
_FILE = "fig2_psi_lambda1e-5_psi2_1.csv"
_COLUMNS = {
    "psi1": "Psi1",
    "psi2_vanilla": "Psi2v",
    "psi3_vanilla": "Psi3v",
    "psi2_ensemble": "Psi2e",
    "psi3_ensemble": "Psi3e",
    "psi2_divide": "Psi2d",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class TermByTermSettings(SimulationSettings, TermSettings):
    """The settings of the figure."""

    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)
    simulated_ratios: GridBounds = setting((0.1, 10.0, 13), "P/N", f"where to simulate: {RANGE}")


def term_by_term_data(settings: TermByTermSettings) -> Panel:
    """Return every term along `ratios` = P/N, and simulated ones near `simulated_ratios`.

    >>> small = TermByTermSettings(ratios=[1.0], simulated_ratios=(1, 1, 1), dim=10, n_data=2)
    >>> round(float(term_by_term_data(small).line("psi2_vanilla").y[0]), 2)
    32.32
    """
    ratio, problem = along_ratios(settings.problem, settings.ratios)
    ratios = log_grid(settings.simulated_ratios)
    return with_simulated_points(
        ratio,
        problem,
        two_sizes(problem, settings, ratios=ratios, model="gaussian"),
        theory=term_lines,
        measured=lambda line, simulation: getattr(simulation.psi, line.label),
    )


def term_lines(x: FloatArray, problem: Problem) -> tuple[Line, ...]:
    """All terms along `x`."""
    psi = psi_terms(problem)
    return tuple(Line(term, x, np.asarray(getattr(psi, term))) for term in _SYMBOLS)


def draw(axes: "drawing.Axes", panel: Panel, terms: Sequence[str] = tuple(_SYMBOLS)) -> None:
    """Draw some of the terms on the given axes."""
    drawing.log_axes(axes, panel.x, ylabel=r"Term $\Psi$", room=1.12)
    drawing.threshold(axes)
    drawing.curves(axes, panel, {term: _STROKES[term] for term in terms})


def plot(panel: Panel) -> "drawing.Figure":
    """Draw the figure: terms that diverge, and terms that do not, with their own scales."""
    with drawing.new_figure(height=3.6) as figure:
        row = figure.subplots(1, 2, sharex=True)
        others = [term for term in _SYMBOLS if term not in DIVERGING]
        for axes, terms in zip(row, (DIVERGING, others), strict=True):
            draw(axes, panel, terms)
        row[1].set_ylabel("")
        drawing.letters(row)
        drawing.figure_legend(
            figure, title=drawing.constants_title(panel, snr=False, dim=True), ncols=4
        )
    return figure


def comparisons(panel: Panel) -> tuple[agreement.Agreement, ...]:
    """Theory, simulation and the authors' values."""
    compared = agreement.with_simulation(panel.points)
    if not agreement.has_constants(panel.problem):
        return compared
    ratio, rows = agreement.stored_curve(_FILE)
    lines = term_lines(ratio, replace(panel.problem, features_per_dim=ratio))
    authors = agreement.with_authors(
        (line.y, agreement.column(rows, _COLUMNS[line.label]))
        for line in lines
        if line.label in _COLUMNS
    )
    return (*compared, authors)


FIGURE = FigureSpec(
    name="term-by-term",
    number=2,
    title="The terms of the theory",
    caption=(
        "The test error is a sum of a few dimensionless terms: Ψ₁ is the overlap of a model with "
        "the teacher, Ψ₂ the second moment of the outputs and Ψ₃ the response to label noise, of "
        "one model (v), or of two models with different features (e), different features and data "
        "(d), or the same features and different data (p, which the paper does not define).\n"
        "(a) The two terms of a single model diverge at P = N as the penalty vanishes. (b) Terms "
        "of two models do not. They have a kink at P = N, and those of models with different "
        "features are constant beyond. Lines: exact theory for infinite sizes. Markers: simulation "
        "of the Gaussian covariate model at finite size, with bars of two standard errors."
    ),
    alt=(
        "Two panels against features per sample P/N, logarithmic axes. Left: Psi 2 v and Psi 3 v "
        "rise to a peak of 32 and 71 at P = N and fall again. Right: Psi 1, Psi 2 e, Psi 3 e and "
        "Psi 2 d rise until P = N and are flat from there on; Psi 2 p rises, then sinks a little. "
        "Simulated points lie on the lines."
    ),
    settings=TermByTermSettings(),
    data=term_by_term_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    presets={"paper": {"simulated_ratios": (0.1, 31.6, 26), "n_data": 20}},
)
