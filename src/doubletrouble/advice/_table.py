"""An advice as text: a table, and bars made of letters."""

import math
from typing import TYPE_CHECKING

from doubletrouble.advice._equality import less
from doubletrouble.advice._option import AdviceOption
from doubletrouble.advice._units import Units
from doubletrouble.advice._words import count, said

if TYPE_CHECKING:
    from doubletrouble.advice._result import Advice

LETTERS = {"noise": "n", "initialization": "i", "sampling": "s", "bias": "b", "bayes": "y"}
_BAR = 48
_CUT = 4.0  # bars longer than this many times the median are cut off


def table(advice: "Advice") -> str:
    """One line an option."""
    units = Units.of(advice.now.problem, advice.dim)
    head = ("option", "error", units.features, units.samples, "K", "λ", "features", "training")
    rows = [head, *(_cells(option, advice.now, units) for option in advice.options)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{row[0]:<{wide[0]}}  " + "  ".join(
            f"{cell:>{size}}" for cell, size in zip(row[1:], wide[1:], strict=True))
        for row in rows
    ]  # fmt: skip
    return "\n".join(line.rstrip() for line in lines)


def _cells(option: AdviceOption, now: AdviceOption, units: Units) -> tuple[str, ...]:
    parts = "/K" if option.scheme == "divide" and option.n_members > 1 else ""
    return (
        option.label,
        said(option.total, 4),
        units.number(option.width),
        f"{units.number(option.samples)}{parts}",
        count(option.n_members),
        said(option.ridge),
        f"×{said(ratio(option.features, now.features))}",
        f"×{said(ratio(option.training, now.training))}",
    )


def ratio(value: float, now: float) -> float:
    """A cost by that of now; two infinite ones are equal, and so are two of nothing.

    >>> ratio(3.0, 2.0), ratio(math.inf, math.inf), ratio(math.inf, 2.0), ratio(0.0, 0.0)
    (1.5, 1.0, inf, 1.0)
    """
    if value == now:
        return 1.0
    return value / now if now > 0 else math.inf


def longest(advice: "Advice") -> float:
    """The error at which bars end: longer ones are cut off, or the others would not be seen.

    Bars of letters, of a chart and of the page all call `lengths` and `is_cut` with it.
    """
    totals = sorted(option.total for option in advice.options if math.isfinite(option.total))
    if not totals or totals[-1] == 0:
        return 1.0
    return min(totals[-1], _CUT * totals[len(totals) // 2] or totals[-1])


def lengths(option: AdviceOption, most: float) -> dict[str, float]:
    """How long each part of an option's bar is, in units of error; together `most` at the most.

    A bar that is cut off keeps the proportions of its parts. One of an infinite error is full, in
    equal shares of the parts that are infinite.
    """
    parts = {name: float(getattr(option.error, name)) for name in LETTERS}
    if math.isinf(option.total):
        parts = {name: float(math.isinf(part)) for name, part in parts.items()}
    total = sum(parts.values())
    scale = min(1.0, most / total) if total > 0 and math.isfinite(option.total) else most / (
        total or 1.0)  # fmt: skip
    return {name: part * scale for name, part in parts.items()}


def is_cut(option: AdviceOption, most: float) -> bool:
    """Whether an option's bar is cut off, its error being greater than `most`."""
    return less(most, option.total)


def bars(advice: "Advice") -> str:
    """The error of every option as a row of letters, one for each cause."""
    most = longest(advice)
    wide = max(len(option.label) for option in advice.options)
    lines = []
    for option in advice.options:
        row, end = "", 0.0
        for name, length in lengths(option, most).items():
            end += length
            row += LETTERS[name] * (round(_BAR * end / most) - len(row))
        cut = "…" if is_cut(option, most) else ""
        lines.append(f"{option.label:<{wide}}  {row}{cut} {said(option.total, 4)}")
    shown = {name for option in advice.options for name in LETTERS if getattr(option.error, name)}
    legend = ", ".join(f"{LETTERS[name]} {name}" for name in LETTERS if name in shown)
    return "\n".join([*lines, *([legend] if legend else [])])
