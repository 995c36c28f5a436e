r"""Ensembling against the best penalty: the test error along λ, and at the best λ.

[dascoli2020] Sec. 5. The best λ is computed exactly (`optimal_ridge`), not on a grid of values.

**Differs from the paper.** Its text has P/D = 2 along λ and 50 values to choose λ from; the
authors' files have P/D = 1.5 and 51 values. Both values of P/D are drawn here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._double_descent import authors_name, error_lines
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import (
    Line,
    Panel,
    PanelTable,
    along_ratios,
    axis_values,
    number_list,
)
from doubletrouble.figures._settings import ErrorSettings, setting
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem
from doubletrouble.theory import exact_error, optimal_ridge

BEST, MANY = "one_model_best_ridge", "infinitely_many_models_small_ridge"
_LABELS = {BEST: r"$K=1$, best $\lambda$", MANY: r"$K\to\infty$, $\lambda={ridge}$"}
_ALONG = "fig7left_test_error_vs_lambda_psi1_1.5_SNR10.csv"
_OPTIMAL = {0.1: "fig7right_optimal_lambda_tau0.1.csv", 0.0: "fig7right_optimal_lambda_tau0.csv"}
_CHOICE = np.geomspace(1e-5, 1e2, 51)  # the authors' grid of λ
_MEMBERS = (1, 2, 10, math.inf)  # the authors' K


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Test errors along λ for each P/D, then along P/N at the best λ of one model."""

    along: tuple[Panel, ...]
    optimal: Panel
    best_ridge: FloatArray  # of one model, along P/N


@dataclass(frozen=True, kw_only=True, eq=False)
class RegularizeSettings(ErrorSettings):
    """The settings of the figure."""

    features_per_dim: Sequence[float] = setting((2.0, 1.5), glossary.FEATURES_PER_DIM)
    n_members: Sequence[float] = setting(_MEMBERS, glossary.N_MEMBERS)
    noise: float = setting(0.1, glossary.NOISE)
    ridges: Numeric | None = setting(None, glossary.RIDGE)
    ratios: Numeric | None = setting(None, glossary.FEATURES_PER_SAMPLE)


def ensemble_vs_regularize_data(settings: RegularizeSettings) -> Comparison:
    """Return test errors along `ridges` for each P/D, and both alternatives along `ratios` = P/N.

    >>> data = ensemble_vs_regularize_data(RegularizeSettings(ridges=[0.1], ratios=[10.0]))
    >>> [round(float(line.y[0]), 4) for line in data.optimal.lines]
    [0.3438, 0.293]
    """
    problem, ridges = settings.problem, settings.ridges
    grid = axis_values(
        "ridges", np.geomspace(1e-5, 1e2, 281) if ridges is None else ridges, "ridge"
    )
    along = []
    members = number_list("n_members", settings.n_members)
    for features_per_dim in number_list("features_per_dim", settings.features_per_dim):
        there = replace(problem, features_per_dim=features_per_dim, ridge=grid)
        lines = error_lines(grid, there, members)
        along.append(
            Panel(
                axis="ridge",
                keys={"features_per_dim": features_per_dim},
                problem=there,
                lines=lines,
            )
        )
    ratio, problem = along_ratios(problem, settings.ratios)
    best = optimal_ridge(problem)
    many = exact_error(problem, math.inf).total
    curves = (Line(BEST, ratio, np.asarray(best.error.total)), Line(MANY, ratio, np.asarray(many)))
    return Comparison(
        along=tuple(along),
        optimal=Panel(axis="features_per_sample", problem=problem, lines=curves),
        best_ridge=np.asarray(best.ridge),
    )


def table(data: Comparison) -> PanelTable:
    """Return the numbers drawn: rows along λ, then rows along P/N; NaN for the other axis."""
    best, many = data.optimal.lines
    optimal = {
        "features_per_dim": best.x * data.optimal.constant("samples_per_dim"),
        "best_ridge": data.best_ridge,
        BEST: best.y,
        MANY: many.y,
    }
    return PanelTable.stack(*(block for panel in data.along for block in panel.blocks), optimal)


def draw_along(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the errors along λ on the given axes, with an arrow at the least of each."""
    drawing.log_axes(axes, panel.x, xlabel=r"Penalty $\lambda$")
    for line, stroke in zip(panel.lines, drawing.strokes(), strict=False):
        drawing.curve(axes, line, stroke, label=drawing.members_label(line.n_members))
        least = int(np.argmin(line.y))
        if 0 < least < line.y.size - 1:
            drawing.arrow_to_minimum(axes, line.x[least], line.y[least], stroke)
    drawing.legend_line(
        axes, "Least error", color=drawing.INK, linestyle="none", marker=r"$\uparrow$", markersize=9
    )
    drawing.corner(axes, f"$P/D={drawing.scientific(panel.constant('features_per_dim'))}$")


def draw_optimal(axes: "drawing.Axes", panel: Panel) -> None:
    """Draw the two curves along P/N on the given axes."""
    drawing.log_axes(axes, panel.x)
    drawing.threshold(axes)
    ridge = drawing.scientific(panel.constant("ridge"))
    labels = {name: text.replace("{ridge}", ridge) for name, text in _LABELS.items()}
    drawing.curves(axes, panel, drawing.labelled(labels, (drawing.SERIES[4], drawing.SERIES[3])))


def plot(data: Comparison) -> "drawing.Figure":
    """Draw the figure: a panel for each P/D along λ, then one along P/N."""
    with drawing.new_figure(height=3.7) as figure:
        row = figure.subplots(1, len(data.along) + 1, sharey=True)
        for axes, panel in zip(row, data.along, strict=False):
            draw_along(axes, panel)
        draw_optimal(row[-1], data.optimal)
        for axes in row[1:]:
            axes.set_ylabel("")
        drawing.figure_legend(
            figure, title=drawing.constants_title(data.optimal, ridge=False), ncols=5, narrow=0.9
        )
        drawing.letters(row)
    return figure


def comparisons(data: Comparison) -> tuple[agreement.Agreement, ...]:
    """The authors' values, along λ at P/D = 1.5 and at the best of 51 values of λ."""
    base = data.optimal.problem
    if not agreement.has_constants(base, noise=0.1):
        return ()
    ridges, rows = agreement.stored_curve(_ALONG, "log10_lambda")
    lines = error_lines(ridges, replace(base, features_per_dim=1.5, ridge=ridges), _MEMBERS)
    along = [(line.y, agreement.column(rows, authors_name(line.n_members))) for line in lines]
    optimal, loss = [], []
    for noise, file in _OPTIMAL.items():
        rows = agreement.stored_rows(file)
        problem = replace(base, features_per_dim=agreement.column(rows, "psi1"), noise=noise)
        chosen = best_of(problem, _CHOICE)
        many = np.asarray(exact_error(problem, agreement.column(rows, "K_ens")).total)
        optimal += [
            (chosen, agreement.column(rows, "errV_opt_K1")),
            (many, agreement.column(rows, "err_Kinf")),
        ]
        loss.append(chosen / np.asarray(optimal_ridge(problem).error.total) - 1)
    return (
        agreement.with_authors(along, at=" along λ at P/D = 1.5"),
        agreement.with_authors(optimal, at=" at the best λ of 51, τ = 0.1 and 0"),
        agreement.Agreement.of(
            "The error at the exact best λ, and at the best of 51", np.concatenate(loss)
        ),
    )


def best_of(problem: Problem, choice: FloatArray) -> FloatArray:
    """The least test error of one model over a choice of penalties."""
    grid = replace(problem, ridge=choice[:, None])
    least: FloatArray = np.min(np.asarray(exact_error(grid).total), axis=0)
    return least


FIGURE = FigureSpec(
    name="ensemble-vs-regularize",
    number=8,
    title="Averaging models, or choosing the penalty",
    caption=(
        "(a, b) The test error against the penalty λ for averages of K models; arrows mark the "
        "least error of each curve. The more models, the smaller the best penalty: members of an "
        "ensemble should be under-regularized, and infinitely many need no penalty here.\n"
        "(c) A single model with the best penalty at each P/N has no peak at P = N. At this "
        "signal-to-noise ratio its error is higher than that of infinitely many models with a "
        "small penalty, at every P/N. The paper states that this is always so; the figure “When "
        "to average, and when to regularize” shows where it is not."
    ),
    alt=(
        "Three panels of test error, logarithmic axes. Two against the penalty, at P/D = 2 and "
        "1.5: curves for more models lie lower and have their minimum further left. One "
        "against P/N: a single model with the best penalty decreases from 0.97 to 0.3; infinitely "
        "many models lie below it and are flat from P = N on."
    ),
    settings=RegularizeSettings(),
    data=ensemble_vs_regularize_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    notes=(
        "The paper's text has P/D = 2 (panel a) where the authors' file has 1.5 (panel b), and 50 "
        "values of λ where it has 51.",
    ),
)
