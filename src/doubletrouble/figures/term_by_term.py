r"""The dimensionless terms Ψ against P/N: which of them diverge at P = N, and which do not.

[dascoli2020] Eqs. (12)-(17), with the seventh term that the paper lacks, beside traces of random
matrices of the Gaussian covariate model at finite size, as in the paper's figure.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.figures import _authors, agreement, drawing, style
from doubletrouble.figures.panel import Panel, beside_simulation, table
from doubletrouble.figures.ratios import along_ratios, spaced
from doubletrouble.figures.simulated import two_sizes
from doubletrouble.figures.spec import FigureSpec
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import psi_terms

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIVERGING = ("psi2_vanilla", "psi3_vanilla")
_SYMBOLS = {
    "psi2_vanilla": r"$\Psi_2^v$",
    "psi3_vanilla": r"$\Psi_3^v$",
    "psi1": r"$\Psi_1$",
    "psi2_ensemble": r"$\Psi_2^e$",
    "psi3_ensemble": r"$\Psi_3^e$",
    "psi2_divide": r"$\Psi_2^d$",
    "psi2_features": r"$\Psi_2^p$",
}
_STROKES = dict(zip(_SYMBOLS, (*style.SERIES[:2], *style.SERIES), strict=True))
_RELU = {"activation": "relu"}
_FILE = "fig2_psi_lambda1e-5_psi2_1.csv"
_COLUMNS = {
    "psi1": "Psi1", "psi2_vanilla": "Psi2v", "psi3_vanilla": "Psi3v",
    "psi2_ensemble": "Psi2e", "psi3_ensemble": "Psi3e", "psi2_divide": "Psi2d",
}  # fmt: skip


def term_by_term_data(
    *,
    ridge: float = 1e-5,
    samples_per_dim: float = 1.0,
    activation: str = "relu",
    ratios: Numeric | None = None,
    simulated_ratios: tuple[float, float, int] = (0.1, 10.0, 13),
    dim: int = 200,
    n_data: int = 10,
    n_init: int = 4,
    seed: int = 0,
    store: str | Path | None = None,
) -> Panel:
    """Return every term along `ratios` = P/N, and simulated ones near `simulated_ratios`.

    >>> panel = term_by_term_data(ratios=[1.0], simulated_ratios=(1.0, 1.0, 1), dim=10, n_data=2)
    >>> round(float(panel.line("psi2_vanilla").y[0]), 2)
    32.32
    """
    constants = {"ridge": ridge, "samples_per_dim": samples_per_dim, "activation": activation}
    ratio, problem = along_ratios(ratios, **constants)
    runs = two_sizes(
        problem, dim=dim, n_data=n_data, ratios=spaced(simulated_ratios), store=store,
        model="gaussian", n_init=n_init, seed=seed,
    )  # fmt: skip
    return beside_simulation(
        ratio, problem, runs, theory=every_term,
        measured={term: attrgetter(f"psi.{term}") for term in _SYMBOLS},
    )  # fmt: skip


def every_term(problem: Problem) -> dict[str, FloatArray]:
    """All terms by name."""
    psi = psi_terms(problem)
    return {term: np.asarray(getattr(psi, term)) for term in _SYMBOLS}


def draw(axes: "Axes", panel: Panel, terms: Sequence[str] = tuple(_SYMBOLS)) -> None:
    """Draw some of the terms on axes that the caller owns."""
    drawing.log_axes(axes, [panel.lines[0].x], ylabel=r"Term $\Psi$", room=1.12)
    drawing.threshold(axes)
    for term in terms:
        drawing.curve(axes, panel.line(term), _STROKES[term], label=_SYMBOLS[term], markers=0)
    for found in panel.points:
        if found.label in terms:
            drawing.points(axes, found, _STROKES[found.label])


def plot(panel: Panel) -> "Figure":
    """Make the whole figure: terms that diverge, and terms that do not, with their own scales."""
    with drawing.page(height=3.6) as figure:
        row = figure.subplots(1, 2, sharex=True)
        others = [term for term in _SYMBOLS if term not in DIVERGING]
        for axes, terms in zip(row, (DIVERGING, others), strict=True):
            draw(axes, panel, terms)
            drawing.labels_above(axes, ncols=3)
        row[1].set_ylabel("")
        figure.suptitle(drawing.setting(panel, snr=False, dim=True), fontsize=10)
        drawing.letters(row)
    return figure


def agrees(panel: Panel) -> tuple[str, ...]:
    """Theory, simulation and the authors' values."""
    statements: tuple[str, ...] = (agreement.with_simulation(panel.points),)
    if _authors.constants(panel.problem, ridge=1e-5, samples_per_dim=1, **_RELU):
        ratio, rows = _authors.along(_FILE)
        ours = every_term(replace(panel.problem, features_per_dim=ratio))
        statements += agreement.with_authors(
            (ours[term], _authors.column(rows, name)) for term, name in _COLUMNS.items()
        )
    return statements


FIGURE = FigureSpec(
    name="term-by-term",
    title="The terms of the theory, one by one",
    caption=(
        "Everything the theory needs to know of a learner is in a few numbers Ψ: how much of the "
        "teacher it has picked up (Ψ₁), how large its output is, alone (v) or in common with a "
        "learner that has other features (e), other features and other data (d), or the same "
        "features and other data (p, which the paper does not define); Ψ₃ is the response to "
        "label noise.\n"
        "Left: the two terms of a single learner diverge at P = N as the penalty vanishes. Right: "
        "terms shared with another learner do not. They bend at P = N, and those that share no "
        "features stay level beyond. Lines: exact theory for infinite sizes. Markers: "
        "the Gaussian covariate model at finite size, with bars of two standard errors, mostly "
        "smaller than the marker."
    ),
    alt=(
        "Two panels against features per sample P/N, logarithmic axes. Left: Psi 2 v and Psi 3 v "
        "rise to a peak of 32 and 71 at P = N and fall again. Right: Psi 1, Psi 2 e, Psi 3 e and "
        "Psi 2 d rise until P = N and are flat from there on; Psi 2 p rises, then sinks a little. "
        "Simulated points lie on the lines."
    ),
    data=term_by_term_data,
    plot=plot,
    table=table,
    agreement=agrees,
    presets={
        "paper": {"simulated_ratios": (0.1, 31.6, 26), "n_data": 20},
    },
)
