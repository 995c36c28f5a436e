"""What a diagnosis says: the kind of the error, its tables, and its picture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doubletrouble import _plots
from doubletrouble._display import Content, content_of, fit_verdict, records_of, table_by_part
from doubletrouble._numbers import level, plain
from doubletrouble._plots import part_label
from doubletrouble.options import DATA, MORE_DATA, Advice, Option, less, removed
from doubletrouble.palette import EXTRAPOLATED

if TYPE_CHECKING:
    from doubletrouble.learners._diagnosis import Diagnosis


def verdict(d: Diagnosis, advice: Advice) -> str:
    """The largest cause, and the best change, as text."""
    text = diagnosed(d, advice.choice)
    return f"{text} {advice.verdict}" if advice.now.total > 0 else text


def diagnosed(d: Diagnosis, change: Option | None = None) -> str:
    """Overfitting, underfitting or noise, with the share of the part that shows it.

    If the change is more data: its effect on this part, and on the rest.
    """
    error = d.error(measure="squared")
    what = "the error" if d.measure == "squared" else f"the {d._label_of()}"
    if not float(error.total) > 0:
        return "The measured error is 0."
    if d.excess_noise:
        return "The given noise is more than the error allows: the causes are not separated."
    text, names = fit_verdict(error, what)
    if change is None or change.error is None or change.name not in (DATA, MORE_DATA):
        return text
    if len(names) != 1 or d.measure != "squared":
        return text
    name, total, later = names[0], float(error.total), change.error.parts
    part = float(error.parts[name]) / total
    rest = 1 - part
    if not rest > 0:
        return text
    after = float(later[name]) / total
    others = sum(float(one) for key, one in later.items() if key != name) / total
    effects = f"it is {less(removed(after, part))}, and the rest {less(removed(others, rest))}"
    return f"{text} With {change.name} {effects}."


def content(d: Diagnosis) -> Content:
    """The error by cause, and what would change it."""
    error, advice = d.error(), d.advise()
    title = "Where the error comes from" if error.parts else "The error as a whole"
    shown = content_of(advice)
    lines = [*shown.lines]
    if d.floor is None and d.measure == "squared":
        bound = d.largest_noise.confidence_interval(d.confidence).high
        lines.append(f"Variance of label noise: at most {plain(float(bound))}.")
    return Content(
        title=f"{error.label.capitalize()}, trained on all {d.n_samples:,} rows "
        f"({d.n_fits} fits, {level(d.confidence)} intervals)",
        lead=shown.lead,
        tables=[
            replace(table_by_part(error, d.confidence), title=title),
            replace(shown.tables[0], title="What would change it"),
        ],
        lines=lines,
        notes=d.notes,
        verdict=verdict(d, advice),
        facts={
            "measure": d.measure,
            "n_samples": d.n_samples,
            "n_fits": d.n_fits,
            "confidence": d.confidence,
            "baseline": d.baseline,
            "skill": float(d.skill),
            "withheld": d.withheld,
            "learning_curve": records_of(d.learning_curve()),
        },
    )


def picture(d: Diagnosis) -> _plots.Picture:
    """The causes of the error, and the gain of each option."""
    error = d.error()
    changes = []
    for option in d.advise():
        low, high = (None, None) if option.interval is None else map(float, option.interval)
        changes.append(
            _plots.Change(
                label=option.name,
                after=None if option.error is None else option.error.total,
                gain=None if option.gain is None else float(option.gain),
                low=low,
                high=high,
                note=f"withheld: {option.reason}",
                extrapolated=option.status == EXTRAPOLATED,
            )
        )
    return _plots.Breakdown(
        parts={part_label(error, name): (name, part) for name, part in error.parts.items()},
        total=error.total,
        xlabel=error.label,
        changes=changes,
        confidence=d.confidence,
        baseline=d.baseline if d.baseline > 0 else None,
        baseline_label=f"predicting {error.baseline_name}",
    )
