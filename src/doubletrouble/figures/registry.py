"""All figures of the gallery, in its order; a new figure is one module and one entry here."""

from typing import Any

from doubletrouble.figures import (
    anova,
    asymptotics,
    bagging,
    committee,
    decomposition,
    divide_and_conquer,
    double_descent,
    ensemble_or_regularize_map,
    ensemble_vs_overparametrize,
    ensemble_vs_regularize,
    equivalences,
    lazy,
    multiple_k_decomposition,
    rf_multiple,
    rf_single,
    term_by_term,
    training_time,
    under_or_over,
)
from doubletrouble.figures.spec import FigureSpec

ORDER = (
    "rf-single",
    "term-by-term",
    "decomposition",
    "rf-multiple",
    "double-descent",
    "multiple-k-decomposition",
    "ensemble-vs-overparametrize",
    "ensemble-vs-regularize",
    "lazy",
    "asymptotics",
    "divide-and-conquer",
    "under-or-over",
    "anova",
    "ensemble-or-regularize-map",
    "bagging",
    "equivalences",
    "committee",
    "training-time",
)
"""The paper's figures as the paper has them, then those beyond it."""

_MODULES = (
    term_by_term,
    decomposition,
    double_descent,
    multiple_k_decomposition,
    ensemble_vs_overparametrize,
    ensemble_vs_regularize,
    lazy,
    asymptotics,
    divide_and_conquer,
    under_or_over,
    anova,
    ensemble_or_regularize_map,
    bagging,
    equivalences,
    committee,
    training_time,
    rf_single,
    rf_multiple,
)

FIGURES: dict[str, FigureSpec[Any]] = {
    spec.name: spec
    for spec in sorted(
        (module.FIGURE for module in _MODULES), key=lambda spec: ORDER.index(spec.name)
    )
}
