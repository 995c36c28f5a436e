"""Advice: the error after every single change, and the best allocation of a budget."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble import glossary
from doubletrouble.advice import COSTS, FIGURE_SIZE, Advice, check_cost, widest
from doubletrouble.advice import advise as advised
from doubletrouble.cli.flags import (
    ACTIVATION,
    FORMS,
    PROBLEM_FLAGS,
    SIZES,
    ensemble_flags,
    explained,
    flag,
    number,
    takes,
)
from doubletrouble.cli.output import note, show, show_json, show_lines
from doubletrouble.cli.question import Question, one_number
from doubletrouble.cli.report import Report, one_form
from doubletrouble.errors import require

_ROUNDING = 1e-12
_CHARTS = (".png", ".pdf", ".svg")
_FLAGS = (
    *(number(f.name, several=False) for f in PROBLEM_FLAGS),
    *(number(name, several=False) for name in SIZES),
    ACTIVATION,
    *ensemble_flags(several=False),
    flag(
        "budget",
        str,
        f"{explained('budget')}; per D and D³, or counts where P, N and D are "
        "[default: the present cost]",
        metavar="NUMBER",
    ),
    flag(
        "cost",
        str,
        "'features': P·K; 'training': K·n·P·min(n, P), each on n samples",
        COSTS[0],
        choices=COSTS,
        metavar="NAME",
    ),
    *FORMS,
    flag("chart", Path, "Write the bars to this file, too: .png, .pdf or .svg.", metavar="FILE"),
)


@takes(*_FLAGS)
def advise(**given: Any) -> None:
    """Print the error after each change: widen, ensemble, regularize, divide, or collect.

    Prints a table of the exact error and the cost of every single change and of the best P, K and λ
    under a budget, the errors as bars (a letter for each cause), and the best change.

    With --n-samples, --dim and --budget alone, the present setting is one that spends the whole
    budget: --n-features is then as large as the budget allows.
    """
    one_form(json=given["json"], csv=given["csv"])
    chart = given["chart"]
    if chart is not None and chart.suffix.lower() not in _CHARTS:
        raise ValueError(f"chart must end in {', '.join(_CHARTS)}, got {str(chart)!r}")
    advice = _advice(given)
    if given["json"]:
        show_json(advice.to_dict())
    elif given["csv"]:
        _report(advice).show(json=False, csv=True)
    else:
        show(f"{advice.table()}\n\n{advice.bars()}\n")
        show_lines(advice.summary)
    if chart is not None:
        _write(advice, chart)


def _advice(given: Mapping[str, Any]) -> Advice:
    """Call `advise`; for counts P, N and D the budget is a count, too."""
    cost = check_cost(given["cost"])
    budget = one_number("budget", given["budget"], glossary.BUDGET)
    flags = {name: text for name, text in given.items() if name != "budget"}
    question = Question.of(_with_features(flags, budget))
    if question.varying:
        name, values = next(iter(question.varying.items()))
        raise ValueError(f"{name} must be one number here, got {len(values)} of them")
    (dim,) = question.axes.get("dim", (None,))
    if budget is not None and dim is not None:
        budget /= dim if cost == "features" else dim**3
    return advised(question.problem, question.ensemble, budget=budget, cost=cost, dim=dim)


def _with_features(given: Mapping[str, Any], budget: float | None) -> Mapping[str, Any]:
    """Add P where N, D and a budget are given without it: the most features within the budget."""
    if budget is None or given["n_features"] is not None:
        return given
    N, D = (one_number(name, given[name], SIZES[name]) for name in ("n_samples", "dim"))
    if N is None or D is None:
        return given
    K = one_number("n_members", given["n_members"], glossary.N_MEMBERS) or 1.0
    if math.isinf(K):
        raise ValueError("n_features must be given for n_members inf, got a budget only")
    (P,) = widest(budget, N, np.array([K]), given["scheme"], given["cost"]).tolist()
    most = float(math.floor(P * (1 + _ROUNDING))) if 1 <= P < math.inf else P
    return {**given, "n_features": repr(most)}


def _report(advice: Advice) -> Report:
    """One row per option."""
    rows = advice.to_dict()["options"]
    return Report(
        title="", parameters={}, columns={name: [row[name] for row in rows] for name in rows[0]}
    )


def _write(advice: Advice, chart: Path) -> None:
    """Draw the bars into a file."""
    make = require("matplotlib.figure", "figures").Figure
    figure = make(figsize=FIGURE_SIZE, layout="constrained")
    advice.plot(figure.add_subplot())
    figure.savefig(chart, dpi=200)
    note(f"{chart} written")
