"""Results as text, HTML, tables and JSON.

A result declares its `Content`: a title, tables, remarks and a verdict. A `Table` has columns,
and rows of numbers, estimates, intervals, words, or mappings of them; the same rows are printed
with three significant digits, drawn in notebooks, and exported without rounding:

    text    at most 80 columns wide; numbers are aligned at their decimal points
    HTML    the verdict, a bar of the causes in their colours, and tables with bars for intervals
    frame   a row for each row; an estimate has further columns for its error and interval
    JSON    strict: infinities are "inf" and "-inf", NaN is null
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._numbers import (
    CONFIDENCE,
    Cell,
    Uncertain,
    alone,
    between,
    interval_of,
    level,
    number_in,
    percent,
    percents,
    percents_between,
    plain,
    power,
    range_of,
    skill_text,
    whole,
    with_error,
)
from doubletrouble._plots import (
    Axes,
    ByCause,
    bar_limit,
    identified,
    part_label,
    part_labels,
    varying_parameters,
)
from doubletrouble.errors import require
from doubletrouble.glossary import heading
from doubletrouble.palette import (
    CAUSES,
    EFFECTS,
    FORECAST,
    OTHER_CAUSES,
    STRIPES,
    in_sentences,
    printed_name,
)
from doubletrouble.parameters import ROUNDING, FloatArray

WIDTH = 80
"""Columns of printed text."""

ROWS = 12
"""Rows of a printed table: longer ones show their first and last rows."""

_ENDS = ("_low", "_high")

_LONGEST = 30  # columns of a word that is not broken
_NARROWEST = 14  # columns of wrapped words
_GAP = "  "
_SIGNIFICANT = 2.0  # standard errors
_NAMED_SHARE = 0.4  # of an error, from which its causes are named in a verdict
UNBROKEN = "\N{NO-BREAK SPACE}"

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame  # type: ignore[import-untyped]
else:  # pandas is imported where a frame is made
    DataFrame = Any


Json: TypeAlias = dict[str, Any]
"""A JSON object."""

Form: TypeAlias = Literal[
    "words", "number", "count", "exponent", "skill", "share", "gain", "multiples", "settings"
]
"""What the cells of a column are, and how they are printed:

words       text
number      a quantity: three significant digits, with the standard error of an estimate
count       a parameter: whole numbers with all digits, others with three
exponent    a power: three decimals
skill       an R² or a skill: two decimals
share       a part of a whole, in percent
gain        a change, in percent with a sign
multiples   costs by name in multiples of the present ones: "features ×2"
settings    parameters by name, a column for each in tables and JSON
"""


@dataclass(frozen=True, kw_only=True)
class Column:
    """The name of a column in tables and JSON, its heading where it is printed, and its form."""

    name: str
    heading: str | None = None  # None: the symbol, or the name
    form: Form = "number"
    printed: bool = True
    exported: bool = True  # to frames and JSON
    interval: bool = False  # estimates are printed with their interval, not their standard error
    without_error: bool = False  # estimates are printed without either
    estimated: bool = False  # exported with errors and intervals, even where none is known

    @property
    def title(self) -> str:
        """The heading."""
        return heading(self.name) if self.heading is None else self.heading


@dataclass(frozen=True, kw_only=True)
class Table:
    """Columns, and rows with a cell for each of them."""

    name: str  # in JSON
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    confidence: float | None = None  # of intervals
    parts: Mapping[int, str] = field(default_factory=dict)  # rows that are causes of an error
    omitted: str = ""  # the name of the rows, of which only some are printed
    keys: int = 1  # columns that are printed again where a wide table continues below
    index: str = ""  # the column that is the index of a frame
    causes: Sequence[Mapping[str, Any]] = ()  # of every row, drawn as bars in notebooks
    labels: Mapping[str, str] = field(default_factory=dict)  # of causes, if not the usual ones
    shape: tuple[int, ...] = ()  # of the points that are its rows
    choice: int | None = None  # the row of the best option

    def records(self) -> list[Json]:
        """The rows for programs: a mapping from names to numbers and words for each."""
        entries: dict[str, list[Any]] = {}
        for column, cells in zip(self.columns, zip(*self.rows, strict=True), strict=False):
            if column.exported:
                entries |= _entries(column, cells, self.confidence)
        return [
            dict(zip(entries, values, strict=True))
            for values in zip(*entries.values(), strict=True)
        ]


Entries: TypeAlias = Cell | npt.NDArray[Any] | Sequence[Any]
"""The entries of a column at the points of a table: arrays, or one for all of them."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number, an estimate, or an array of them, with its name."""

    name: str
    value: Cell
    heading: str | None = None
    meaning: str = ""
    form: Form = "number"


def point_table(
    name: str,
    shape: tuple[int, ...],
    coordinates: Mapping[str, Entries],
    columns: Sequence[tuple[Column, Entries]],
    **options: Any,
) -> Table:
    """A row for each point of arrays: the numbers that vary, and those of the columns."""
    count = math.prod(shape)
    varying = dict(coordinates) or ({"point": np.arange(count).reshape(shape)} if shape else {})
    cells: list[tuple[Column, Entries]] = [
        (Column(name=k, form="count"), value) for k, value in varying.items()
    ]
    cells += columns
    return Table(
        name=name,
        columns=[column for column, _ in cells],
        rows=list(zip(*(_at_every_point(value, shape) for _, value in cells), strict=True)),
        omitted="points",
        keys=max(len(varying), 1),
        shape=shape,
        **options,
    )


def _at_every_point(value: Entries, shape: tuple[int, ...]) -> list[Any]:
    """The items of an array, or a number, at every point."""
    if not isinstance(value, Uncertain):
        return list(np.broadcast_to(value, shape).reshape(-1).tolist())
    inner = np.shape(value.value)
    items: Any = value
    flat = [items[index] for index in np.ndindex(inner)] if inner else [value]
    order = np.broadcast_to(np.arange(len(flat)).reshape(inner), shape)
    return [flat[k] for k in order.reshape(-1)]


def quantity_table(
    name: str, quantities: Sequence[Quantity], coordinates: Mapping[str, Any] | None = None
) -> Table:
    """A row for each quantity; of arrays, a row for each point."""
    shape = np.broadcast_shapes(*(np.shape(number_in(q.value)) for q in quantities))
    if shape:
        columns = [
            (Column(name=q.name, heading=q.heading, form=q.form), q.value) for q in quantities
        ]
        return point_table(name, shape, coordinates or {}, columns)
    head = (
        Column(name="quantity", form="words"),
        Column(name="value", form=quantities[0].form),
        Column(name="meaning", form="words"),
    )
    rows = [[q.heading or q.name.replace("_", " "), q.value, q.meaning] for q in quantities]
    return Table(name=name, columns=head, rows=rows)


@dataclass(frozen=True, kw_only=True)
class Content:
    """All that a result shows."""

    title: str = ""
    lead: str = ""  # a warning that comes first
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()  # below the tables
    notes: Sequence[str] = ()  # remarks
    verdict: str = ""  # the last line
    facts: Mapping[str, Any] = field(default_factory=dict)  # further entries of the JSON


# --- errors by cause -----------------------------------------------------------------------------

SQUARED = "squared error"
"""The name of an error, if it is of no other measure."""

MEAN = "the mean"
"""What the baseline of an error predicts, if not the frequencies of classes."""


def skill_name(baseline_name: str) -> str:
    """What the share is called by which an error is less than its baseline."""
    return "R²" if baseline_name == MEAN else "skill"


def against_mean(
    error: Any,
    baseline: float,
    *,
    name: str = MEAN,
    where: str = "",
    confidence: float = CONFIDENCE,
) -> tuple[str, str]:
    """A warning if an error is not less than that of predicting the mean, and a line with both.

    For classes `name` is "the class frequencies", and the skill is what R² is for numbers.

    >>> against_mean(6880.0, 5930.0)
    ('Worse than predicting the mean: error 6,880 against 5,930.',
     'Predicting the mean: 5,930 (R² -0.16).')
    >>> against_mean(3084.0, 5930.0, where="there")
    ('', 'Predicting the mean: 5,930 (R² 0.48 there).')
    """
    total, lead, interval = float(error), "", ""
    least = total
    if isinstance(error, Uncertain):
        least, high = map(float, error.confidence_interval(confidence))
        if baseline > 0:
            ends = (skill_text(1 - end / baseline) for end in (high, least))
            interval = f", {level(confidence)} interval {' to '.join(ends)}"
    if total > baseline:
        word = "Worse" if least > baseline else "Not better"
        lead = f"{word} than predicting {name}: error {alone(error)} against {plain(baseline)}."
    if not baseline > 0 or not math.isfinite(total):
        return lead, f"Predicting {name}: {plain(baseline)}."
    skill = f"{skill_name(name)} {skill_text(1 - total / baseline)} {where}".strip()
    return lead, f"Predicting {name}: {plain(baseline)} ({skill}{interval})."


def table_by_part(error: ByCause, confidence: float | None = None) -> Table:
    """An error at one point: a row for each part, and for the total."""
    columns = identified(error)
    total = float(number_in(columns["total"])) if "total" in columns else math.nan
    split = 0 < total < math.inf and not (error.is_difference or excessive_parts(error))
    estimated = any(isinstance(part, Uncertain) for part in columns.values())
    rows = [
        [
            name,
            part_label(error, name),
            part,
            float(number_in(part)) / total if split and name != "total" else None,
            str(error.status.get(name, "")),
            error.includes.get(name, ""),
        ]
        for name, part in columns.items()
    ]
    return Table(
        name="parts",
        columns=(
            Column(name="part", form="words", printed=False),
            Column(name="label", heading="part", form="words", exported=False),
            Column(
                name="error",
                heading="error ± s.e." if estimated and confidence is None else "error",
                interval=confidence is not None,
            ),
            Column(name="share", form="share"),
            Column(
                name="status",
                heading="how it is known",
                form="words",
                printed=_tells_status(error),
            ),
            Column(name="includes", form="words", printed=False),
        ),
        rows=rows,
        confidence=confidence,
        parts={} if error.is_difference or excessive_parts(error) else dict(enumerate(columns)),
        labels=part_labels(error),
    )


def _tells_status(error: ByCause) -> bool:
    """Whether tables print how an error is known: not where all of it is a forecast."""
    known = error.status.get("total", "")
    return {known} != {FORECAST} if isinstance(known, str) else {*known} != {FORECAST}


def excessive_parts(error: ByCause) -> list[str]:
    """The parts of one error that are larger than it, of estimates by two standard errors.

    The noise floor is, where more noise is given than the error allows.
    """
    found: list[str] = []
    if not math.isfinite(float(number_in(error.total))):
        return found
    for name, part in error.parts.items():
        excess: Any = part - error.total
        spread = float(excess.standard_error) if isinstance(excess, Uncertain) else 0.0
        least = max(_SIGNIFICANT * spread, ROUNDING * abs(float(error.total)))
        found += [name] if float(excess) > least else []
    return found


def table_by_point(
    error: ByCause,
    confidence: float | None = None,
    coordinates: Mapping[str, Any] | None = None,
) -> Table:
    """An error at every point: the varying parameters, every part, and the total."""
    shape = error.shape
    columns: list[tuple[Column, Entries]] = [
        (
            Column(
                name=name,
                heading=part_label(error, name),
                interval=confidence is not None and name == "total",
                without_error=name != "total",
            ),
            part,
        )
        for name, part in identified(error).items()
    ]
    how_known = "how it is known" if len(error.status) == 1 else "the total is"
    for name, how in error.status.items():
        column = Column(name=f"{name}_status", form="words", printed=False)
        if name == "total":
            printed = _tells_status(error)
            column = Column(name="status", heading=how_known, form="words", printed=printed)
        known = np.array(how, dtype=object)
        columns.append((column, known.reshape(shape) if known.shape else known))
    at = varying_parameters(error, coordinates)
    return point_table("points", shape, at, columns, confidence=confidence)


def error_content(error: ByCause) -> Content:
    """An error by part, or by point, and its largest part, or least total."""
    table = table_by_point(error) if error.shape else table_by_part(error)
    if error.baseline is None:
        others = [one for one in error.reasons.values() if one.endswith(OTHER_CAUSES)]
        notes = [f"{one[:1].upper()}{one[1:]}." for one in others]
        return Content(
            title=_title(error), tables=[table], verdict=error_verdict(error), notes=notes
        )
    where = "at best" if error.shape else ""
    lead, line = against_mean(_least(error), error.baseline, name=error.baseline_name, where=where)
    return Content(
        title=_title(error),
        lead=lead,
        tables=[table],
        lines=[line],
        verdict=error_verdict(error),
        facts={"baseline": error.baseline},
    )


def _title(error: ByCause) -> str:
    """The name of an error that is not the squared one."""
    return "" if error.label == SQUARED else error.label.capitalize()


def solved_content(
    error: ByCause,
    name: str,
    value: Any,
    verdict: str = "",
    facts: Mapping[str, Any] | None = None,
) -> Content:
    """An error with the best value of a parameter, which comes first, and further facts.

    Of facts about every point, the totals are printed.
    """
    others = facts or {}
    if not error.shape:
        table = table_by_part(error)
        best = Column(name=name, printed=False)
        rows = [[*row, value] for row in table.rows]
        table = replace(table, columns=[*table.columns, best], rows=rows)
        facts = {name: value, **others}
        return Content(title=_title(error), tables=[table], verdict=verdict, facts=facts)
    at = {name: value, **error.coordinates}
    table = table_by_point(error, coordinates=at)
    headings = {k: f"total at {k.removesuffix('_total').replace('_', ' ')}" for k in others}
    columns = [Column(name=k, heading=headings[k], printed=k.endswith("_total")) for k in others]
    cells = [np.broadcast_to(each, error.shape).ravel().tolist() for each in others.values()]
    rows = [[*row, *more] for row, *more in zip(table.rows, *cells, strict=True)]
    table = replace(table, columns=[*table.columns, *columns], rows=rows)
    return Content(title=_title(error), tables=[table], verdict=error_verdict(error, at))


def row_content(error: ByCause, index: Sequence[Any]) -> Content:
    """The error at every row of the data, and the share of the worst tenth."""
    table = table_by_point(error)
    columns = [Column(name="row", form="words"), *table.columns[1:]]
    rows = [[name, *row[1:]] for name, row in zip(index, table.rows, strict=True)]
    table = replace(table, columns=columns, rows=rows, omitted="rows", index="row")
    if error.is_difference:
        return Content(tables=[table], verdict=error_verdict(error))
    total = np.sort(np.asarray(error.total))[::-1]
    count = max(1, len(total) // 10)
    if not total.sum() > 0:
        return Content(tables=[table])
    share = percent(total[:count].sum() / total.sum())
    return Content(tables=[table], verdict=f"The {count} worst rows have {share} of the error.")


def error_verdict(error: ByCause, coordinates: Mapping[str, Any] | None = None) -> str:
    """The largest part of the total, or the point of least total, in a sentence."""
    if "total" in error.reasons:
        return ""
    if error.is_difference:
        return _difference_verdict(error)
    if error.shape:
        return _least_verdict(error, varying_parameters(error, coordinates))
    total, parts = error.total, {n: float(number_in(p)) for n, p in error.parts.items()}
    number = float(number_in(total))
    infinite = [part_label(error, name) for name, part in parts.items() if math.isinf(part)]
    if infinite:
        return f"The error is infinite: {', '.join(infinite)}."
    if not parts or not 0 < number < math.inf:
        return f"The total is {total if isinstance(total, Uncertain) else plain(number)}."
    if excessive := excessive_parts(error):
        above = " and ".join(part_label(error, name) for name in excessive)
        below = " and ".join(part_label(error, name) for name, part in parts.items() if part < 0)
        return f"The parts are not shares of the error: {above} is above it, {below} below 0."
    if "total" in error.status:  # of a learner on data, whose error is measured or forecast
        return fit_verdict(error)[0]
    largest = max(parts, key=parts.__getitem__)
    cause = part_label(error, largest) if largest in error.includes else in_sentences(largest)
    return f"{percent(min(parts[largest] / number, 1.0))} of the error is {cause}."


def fit_verdict(error: ByCause, what: str = "the error") -> tuple[str, tuple[str, ...]]:
    """Overfitting, underfitting or label noise, with their shares; and the named fixed parts.

    Each that makes up 40% of the error is named, or the largest. Bias and a noise floor that is
    estimated are one part: what one has too much, the other has too little.
    """
    share = {n: float(number_in(p)) / float(number_in(error.total)) for n, p in error.parts.items()}
    seeds, floor = share.get("initialization", 0.0), error.parts.get("bayes")
    variance = sum(x for name, x in share.items() if name not in ("bias", "bayes"))
    if seeds:
        rows = percent(variance - seeds)
        spread = f"variance ({percent(seeds)} by seeds, {rows} by training rows)"
    else:
        spread = "variance over training rows"
    apart = floor is not None and not (isinstance(floor, Uncertain) and floor.standard_error)
    lacking, kind = share["bias"], "underfitting" if apart else "underfitting or label noise"
    label = part_label(error, "bias")
    if floor is not None and not apart:
        lacking, label = lacking + share["bayes"], "bias + noise floor"
    causes = [("overfitting", variance, spread, ()), (kind, lacking, label, ("bias",))]
    if apart:
        causes.append(("label noise", share["bayes"], part_label(error, "bayes"), ("bayes",)))
    named = [cause for cause in causes if cause[1] >= _NAMED_SHARE]
    named = named or [max(causes, key=lambda cause: cause[1])]
    words = " and ".join(cause[0] for cause in named)
    shown = [f"{percent(min(cause[1], 1.0))} of {what} is {cause[2]}" for cause in named[:1]]
    shown += [f"{percent(min(cause[1], 1.0))} is {cause[2]}" for cause in named[1:]]
    parts = tuple(name for cause in named for name in cause[3])
    text = f"{words[:1].upper()}{words[1:]}: {', and '.join(shown)}."
    return text, parts


def _difference_verdict(error: ByCause) -> str:
    total = error.total
    if error.shape:
        values = np.broadcast_to(number_in(total), error.shape)
        least, most = plain(values.min()), plain(values.max())
        return f"The differences of the totals are {least} to {most}."
    if not isinstance(total, Uncertain):
        return f"The difference of the totals is {plain(float(total))}."
    text = f"The difference of the totals is {total}"
    if not total.standard_error:
        return f"{text}."
    return f"{text}, {abs(total.value / total.standard_error):.1f} standard errors."


def _least_verdict(error: ByCause, at: Mapping[str, Any]) -> str:
    shape = error.shape
    values = np.broadcast_to(number_in(error.total), shape)
    if not values.size or np.isnan(values).all():
        return ""
    k = int(np.nanargmin(values))
    where = [
        f"{heading(name)} = {whole(float(np.broadcast_to(v, shape).flat[k]))}"
        for name, v in at.items()
    ]
    place = ", ".join(where) or f"point {k}"
    least = _least(error)
    if not isinstance(least, Uncertain):
        return f"The least total is {alone(least)}, at {place}."
    excess = (error.total - least).z_score(0.0)
    if values.size > 1 and not np.any(np.asarray(excess) > _SIGNIFICANT):
        return "No total is larger than another one by two standard errors."
    return f"The least total is {least}, at {place}."


def _least(error: ByCause) -> Any:
    """The least total, as a number or an estimate; NaN where there is none."""
    values = np.broadcast_to(number_in(error.total), error.shape)
    if not values.size or np.isnan(values).all():
        return math.nan
    k = np.unravel_index(int(np.nanargmin(values)), error.shape)
    return error.total[k] if np.ndim(number_in(error.total)) else error.total


def power_verdict(one: Any, same_data: Any, apart: Any) -> str:
    """The shares of the power of a student that are variance, from the overlaps of two."""
    single, pair, other = (np.asarray(number_in(term)) for term in (one, same_data, apart))
    if not np.all((single > 0) & np.isfinite(single)):
        return ""
    seeds, samples = percents((single - pair) / single), percents((pair - other) / single)
    return (
        f"Of the power of the noise-free student {seeds} is variance over initializations, "
        f"and {samples} over training samples."
    )


def committee_content(error: ByCause, weights: FloatArray, pair_errors: Any) -> Content:
    """The error of a weighted average, and the weight and error of each member."""
    members = range(len(weights))
    own = [pair_errors[k, k] + error.parts.get("bayes", 0.0) for k in members]
    columns = [Column(name="member", form="count"), Column(name="weight"), Column(name="error")]
    columns += [Column(name=f"error_with_{k + 1}", printed=False) for k in members]
    rows = [[k + 1, weights[k], own[k], *(pair_errors[k, j] for j in members)] for k in members]
    best = min(members, key=lambda k: float(own[k]))
    verdict = error_verdict(error) if error.parts else ""
    if len(members) > 1:
        verdict += (
            f" Averaged, the error is {alone(error.total)}; "
            f"member {best + 1} alone, the best one, has {alone(own[best])}."
        )
    table = Table(name="members", title="Members", columns=columns, rows=rows, omitted="members")
    return Content(tables=[table_by_part(error), table], verdict=verdict.strip())


class Shown:
    """A result: it prints, shows itself in notebooks, converts to pandas and JSON, and plots."""

    def _content(self) -> Content:
        """What is shown."""
        raise NotImplementedError

    def _picture(self) -> _plots.Picture:
        """What is drawn: one of the pictures of `_plots`."""
        raise ValueError(f"plot must be of a result with a picture, got {type(self).__name__}")

    def _tables(self) -> Sequence[Table]:
        """The tables that are exported."""
        return self._content().tables

    def _frame(self) -> DataFrame:
        """The exported tables as one DataFrame."""
        pandas, tables = require("pandas", "tables"), self._tables()
        frame = pandas.DataFrame(records_of(self))
        index = tables[0].index if len(tables) == 1 else ""
        return frame.set_index(index).rename_axis(None) if index else frame

    def __str__(self) -> str:
        """The tables as text, and the verdict as its last line."""
        return as_text(self._content())

    def __repr__(self) -> str:
        """The numbers of the first table, on one line."""
        return one_line(type(self).__name__, self._content())

    def _repr_html_(self) -> str:
        return as_html(self._content())

    def to_frame(self) -> DataFrame:
        """Return the numbers as a table, without rounding.

        Returns
        -------
        pandas.DataFrame
            A row for each row that is printed. An estimate has further columns for its standard
            error and the ends of its interval. Where the result has several tables, the column
            `table` has their names.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return self._frame()

    def to_json(self) -> str:
        """Return the numbers, the remarks and the verdict as JSON, without rounding.

        Returns
        -------
        str
            The text, indented. Infinities are "inf" and "-inf", NaN is null.
        """
        return as_json(document_of(self))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ValueError
            If the result has too many axes to be drawn.
        MissingExtraError
            If matplotlib is not installed.
        """
        return _plots.draw(self._picture(), ax)


def content_of(result: Shown) -> Content:
    """All that a result shows."""
    return result._content()


def tables_of(result: Shown) -> Sequence[Table]:
    """The tables of a result that are exported."""
    return result._tables()


def records_of(result: Shown) -> list[dict[str, Any]]:
    """The rows of the tables; of several, with the names of the tables."""
    tables = tables_of(result)
    if len(tables) == 1:
        return tables[0].records()
    return [{"table": table.name, **row} for table in tables for row in table.records()]


def document_of(result: Shown) -> dict[str, Any]:
    """The numbers, the remarks and the verdict, as JSON has them."""
    content = content_of(result)
    return {
        **content.facts,
        **{table.name: table.records() for table in tables_of(result)},
        **({"notes": list(content.notes)} if content.notes else {}),
        **({"verdict": content.verdict} if content.verdict else {}),
    }


# --- JSON ----------------------------------------------------------------------------------------


def strict_json(value: Any) -> Any:
    """A value as strict JSON has it: infinities are "inf" and "-inf", NaN is None.

    >>> strict_json({"error": [1.5, math.inf, math.nan]})
    {'error': [1.5, 'inf', None]}
    """
    if isinstance(value, Mapping):
        return {str(name): strict_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [strict_json(one) for one in value]
    if isinstance(value, np.ndarray | np.generic):
        return strict_json(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def as_json(value: Any) -> str:
    """Strict JSON, indented."""
    return json.dumps(strict_json(value), indent=2, ensure_ascii=False, allow_nan=False)


# --- cells ----------------------------------------------------------------------------------------


def _entries(
    column: Column, cells: Sequence[Any], confidence: float | None
) -> dict[str, list[Any]]:
    """The columns of a frame that one column makes."""
    name = column.name
    if column.form in ("multiples", "settings"):
        keys = dict.fromkeys(key for cell in cells for key in cell or ())
        multiples = column.form == "multiples"
        prefix = f"{name}_" if multiples else ""
        each = {f"{prefix}{key}": [(cell or {}).get(key) for cell in cells] for key in keys}
        if multiples:
            each[name] = [_multiples(cell).replace(UNBROKEN, " ") for cell in cells]
        return each
    if not column.estimated and not any(isinstance(cell, Uncertain) for cell in cells):
        blank = "" if column.form == "words" else math.nan
        unknown = {f"{name}{e}": [math.nan] * len(cells) for e in _ENDS if column.interval}
        return {name: [blank if cell is None else cell for cell in cells], **unknown}
    entries: dict[str, list[Any]] = {
        name: [_number(cell) for cell in cells],
        f"{name}_standard_error": [
            float(cell.standard_error) if isinstance(cell, Uncertain) else math.nan
            for cell in cells
        ],
    }
    if confidence is not None or column.estimated:
        ends = [
            (math.nan, math.nan) if confidence is None else _ends(cell, confidence)
            for cell in cells
        ]
        entries |= {f"{name}{end}": [pair[k] for pair in ends] for k, end in enumerate(_ENDS)}
    return entries


def _number(cell: Any) -> float:
    """The number in a cell, NaN where there is none."""
    if cell is None:
        return math.nan
    return float(number_in(cell))


def _ends(cell: Any, confidence: float | None) -> tuple[float, float]:
    """The interval of a cell, NaN where there is none."""
    low, high = interval_of(cell, confidence)
    return float(low), float(high)


def settings_text(pairs: Mapping[str, Any]) -> str:
    """Parameters on one line, which breaks between them only.

    >>> settings_text({"λ": 0.0154, "K": 2}).replace(UNBROKEN, " ")
    'λ = 0.0154, K = 2'
    """
    shown = (f"{name} = {_word(value)}".replace(" ", UNBROKEN) for name, value in pairs.items())
    return ", ".join(shown)


def _multiples(pairs: Mapping[str, float] | None) -> str:
    """Factors by name, but for those of 1; "none" where there are no others.

    >>> _multiples({"features": 2.0, "data": 1 - 1e-15}).replace(UNBROKEN, " ")
    'features ×2'
    """
    shown = [f"{name}{UNBROKEN}×{whole(x)}" for name, x in (pairs or {}).items() if whole(x) != "1"]
    return ", ".join(shown) or ("none" if pairs else "")


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return whole(float(value)) if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class _Printed:
    """A column as text, before its width is known."""

    heading: str
    cells: list[str]
    numeric: bool


def _printed(column: Column, cells: Sequence[Any], confidence: float | None) -> list[_Printed]:
    """The columns of text that one column makes: an interval has its own."""
    form = column.form
    if form == "words":
        words = ["" if c is None else _word(c) if isinstance(c, bool) else str(c) for c in cells]
        return [_Printed(column.title, words, False)]
    if form == "multiples":
        return [_Printed(column.title, list(map(_multiples, cells)), False)]
    uncertain = any(isinstance(cell, Uncertain) for cell in cells)
    split = uncertain and column.interval and confidence is not None
    bare = split or column.without_error
    texts = ["" if cell is None else _text(cell, form, confidence, bare=bare) for cell in cells]
    if column.without_error and form == "number" and any(map(_is_rounded_away, texts, cells)):
        texts = [
            "" if cell is None else _text(cell, form, confidence, bare=False) for cell in cells
        ]
    if not uncertain and form in ("count", "number"):
        texts = _in_one_notation(texts, cells)
    printed = [_Printed(column.title, decimal_aligned(texts), True)]
    if split:
        ends = [_ends(cell, confidence) for cell in cells]
        texts = [
            _interval(cell, low, high, form) if low < high else ""
            for cell, (low, high) in zip(cells, ends, strict=True)
        ]
        heading = f"{level(confidence or 0.0)} interval"
        printed.append(_Printed(heading, decimal_aligned(texts), True))
    return printed


def _in_one_notation(texts: list[str], cells: Sequence[Any]) -> list[str]:
    """Numbers as powers of ten, if one of them is too large for another notation."""
    large = ["e+" in text for text in texts]
    if not any(large) or all(large):
        return texts
    return [
        f"{_number(cell):.2e}" if re.search("[1-9]", text) else text
        for text, cell in zip(texts, cells, strict=True)
    ]


def _is_rounded_away(text: str, cell: Any) -> bool:
    """Whether an uncertain number would read as an exact 0."""
    uncertain = isinstance(cell, Uncertain) and bool(cell.standard_error)
    return uncertain and _ZERO.fullmatch(text) is not None


def _text(cell: Any, form: Form, confidence: float | None, *, bare: bool) -> str:
    """One cell, with its standard error or bare."""
    value = _number(cell)
    if form == "share":
        return percent(value)
    if form == "gain":
        low, high = _ends(cell, confidence)
        return percents_between(low, high, value=value, sign="+")[2]
    if form == "count":
        return whole(value)
    if form == "exponent":
        return power(value)
    if form == "skill":
        return skill_text(value)
    if isinstance(cell, Uncertain) and not bare:
        return with_error(value, float(cell.standard_error))
    return alone(cell)


def _interval(cell: Uncertain, low: float, high: float, form: Form) -> str:
    if form not in ("gain", "share"):
        return between(low, high, float(cell.standard_error))
    ends = percents_between(low, high, sign="+" if form == "gain" else "")
    return f"{ends[0]} to {ends[1]}"


_ZERO = re.compile(r"-?[0.]+(e.*)?")
_SEPARATOR = re.compile(r" (?:±|to) ")


def decimal_aligned(texts: Sequence[str]) -> list[str]:
    """Numbers of one width, with their decimal points, and the second ones of pairs, aligned.

    >>> decimal_aligned(["12.5 ± 0.8", "4 ± 1", "–"])
    ['12.5 ± 0.8', ' 4   ± 1  ', ' –        ']
    """
    pairs = [_SEPARATOR.split(text) for text in texts]
    separator = next((found[0] for text in texts if (found := _SEPARATOR.search(text))), "")
    firsts = _at_points([pair[0] for pair in pairs])
    if not separator:
        return firsts
    seconds = _at_points([pair[1] if len(pair) > 1 else "" for pair in pairs])
    blank = " " * len(separator)
    return [
        f"{first}{separator if len(pair) > 1 else blank}{second}"
        for first, second, pair in zip(firsts, seconds, pairs, strict=True)
    ]


def _at_points(numbers: Sequence[str]) -> list[str]:
    """Numbers padded on both sides, so that their points, or signs of percent, line up."""
    if any(number.endswith("%") for number in numbers):
        width = max(map(len, numbers))
        return [f"{number:>{width}}" for number in numbers]
    halves = [re.fullmatch(r"([^.e%]*)(.*)", number) for number in numbers]
    before = [match[1] if match else "" for match in halves]
    after = [match[2] if match else "" for match in halves]
    left, right = max(map(len, before), default=0), max(map(len, after), default=0)
    return [f"{a:>{left}}{b:<{right}}" for a, b in zip(before, after, strict=True)]


# --- text -----------------------------------------------------------------------------------------


def as_text(content: Content) -> str:
    """A result as text."""

    def joined(texts: Iterable[str], indent: str = "") -> str:
        return "\n".join(line for text in texts for line in paragraph(text, indent))

    blocks = [
        joined([content.lead, content.title]),
        *("\n".join([*paragraph(t.title), *_table_lines(t)]) for t in content.tables if t.rows),
        joined(content.lines),
        joined([f"note: {note}" for note in content.notes], "  "),
        joined([content.verdict]),
    ]
    shown = [block for block in blocks if block]
    if len(content.tables) < 2 and not content.lines and not content.notes:
        return "\n".join(shown)  # short ones without empty lines
    return "\n\n".join(shown)


def printed_json(content: Content) -> Json:
    """A result as it is printed, its texts and the cells of its tables, for a page."""
    return {
        "title": content.title,
        "lead": content.lead,
        "tables": [_printed_table(table) for table in content.tables if table.rows],
        "lines": list(content.lines),
        "notes": list(content.notes),
        "verdict": content.verdict,
    }


def _printed_table(table: Table) -> Json:
    """The headings and cells of a table, and the parts of an error that are its rows."""
    shown = [each for _, _, some in _shown_columns(table, table.rows) for each in some]
    columns = [list(map(_figure_spaces, c.cells)) if c.numeric else c.cells for c in shown]
    return {
        "title": table.title,
        "columns": [{"heading": each.heading, "numeric": each.numeric} for each in shown],
        "rows": [list(cells) for cells in zip(*columns, strict=True)],
        "parts": [table.parts.get(k, "") for k in range(len(table.rows))],
        "choice": table.choice,
    }


def one_line(name: str, content: Content) -> str:
    """A result on one line: the rows of its first table, of points their ranges, or its title."""
    shown = [content.title] if content.title else []
    for table in content.tables[:1]:
        if table.shape:
            shown = [f"shape={table.shape}", *_ranges(table)]
        if table.columns[0].form != "words":
            continue
        texts = [
            (each, column.form == "count")
            for column, cells in zip(table.columns, zip(*table.rows, strict=True), strict=False)
            if column.printed
            for each in _printed(column, cells, None)
        ]
        label = texts[0][0].cells if texts and not texts[0][0].numeric else []
        number = next((each.cells for each, is_count in texts if each.numeric > is_count), [])
        if label and number and len(label) <= ROWS:
            shown = [f"{a}={' '.join(b.split())}" for a, b in zip(label, number, strict=True)]
    text = ", ".join(shown) or content.verdict
    return f"{name}({'; '.join(text.splitlines())})".replace(UNBROKEN, " ")


def _ranges(table: Table) -> list[str]:
    """The ranges of the columns that do not vary by definition; of an error, that of the total."""
    columns = {
        column.name: [number_in(cell) for cell in cells]
        for column, cells in zip(table.columns, zip(*table.rows, strict=True), strict=False)
        if column.printed and column.form not in ("words", "count", "multiples", "settings")
    }
    if "total" in columns:
        columns = {"total": columns["total"]}
    return [f"{name}={range_of(numbers)}" for name, numbers in columns.items()]


def paragraph(text: str, indent: str = "") -> list[str]:
    """Lines of at most 80 columns; line breaks stay."""
    return [
        line.replace(UNBROKEN, " ")
        for one in text.split("\n")
        for line in wrap(one, WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [""]
        if text
    ]


def _printed_rows(table: Table, rows: Sequence[Any]) -> list[Any]:
    """The rows, or what belongs to them; of a long table the first and last ones."""
    if table.omitted and len(rows) > ROWS:
        return [*rows[: ROWS // 2], *rows[-ROWS // 2 :]]
    return list(rows)


def _table_lines(table: Table) -> list[str]:
    """A table as lines; one that is too wide continues below, with its first columns again."""
    count, rows = len(table.rows), _printed_rows(table, table.rows)
    panels: list[list[_Printed]] = [[], []]  # the leading columns, and the others
    for k, (_, _, shown) in enumerate(_shown_columns(table, rows)):
        for each in shown:
            panels[k >= table.keys].append(_with_gap(each) if len(rows) < count else each)
    lines: list[str] = []
    for panel in _panels(*panels):
        lines += ([""] if lines else []) + _panel_lines(panel)
    return [*lines, f"{count:,} {table.omitted}"] if len(rows) < count else lines


def _shown_columns(
    table: Table, rows: Sequence[Any]
) -> Iterable[tuple[Column, Sequence[Any], list[_Printed]]]:
    """Every column, its cells, and the columns of text that it makes, without blank ones."""
    for column, cells in zip(table.columns, zip(*rows, strict=True), strict=True):
        printed = _printed(column, cells, table.confidence) if column.printed else []
        yield column, cells, [each for each in printed if any(map(str.strip, each.cells))]


def _with_gap(column: _Printed) -> _Printed:
    """A column with a mark where rows are omitted."""
    half = ROWS // 2
    return replace(column, cells=[*column.cells[:half], "…", *column.cells[half:]])


def _least_width(column: _Printed) -> int:
    """The width of a column with its words wrapped."""
    longest = max((len(word) for word in column.heading.split()), default=0)
    if column.numeric:
        return max([longest, *map(len, column.cells)])
    words = [min(len(word), _LONGEST) for cell in column.cells for word in cell.split(" ")]
    return max(longest, min(max(map(len, column.cells), default=0), _NARROWEST, WIDTH), *words, 1)


def _panels(first: list[_Printed], others: Sequence[_Printed]) -> Iterable[list[_Printed]]:
    """Columns that fit into the width together; the first ones are in every panel."""
    gap = len(_GAP)
    least = sum(_least_width(column) + gap for column in first) - gap
    panel, used = [*first], least
    for column in others:
        width = gap + _least_width(column)
        if used + width > WIDTH and len(panel) > len(first):
            yield panel
            panel, used = [*first], least
        panel.append(column)
        used += width
    if panel:
        yield panel


def _panel_lines(columns: Sequence[_Printed]) -> list[str]:
    """Columns side by side: words wrap, and headings above numbers do."""
    widths = [max([len(c.heading), *map(len, c.cells)]) for c in columns]
    least = [_least_width(c) for c in columns]
    room = WIDTH - len(_GAP) * (len(columns) - 1)
    while sum(widths) > room:
        excess = [width - low for width, low in zip(widths, least, strict=True)]
        if max(excess) <= 0:
            break
        # headings first, then the widest words
        of_heads = [e if c.numeric else 0 for e, c in zip(excess, columns, strict=True)]
        of_words = [
            0 if c.numeric or not e else w for e, c, w in zip(excess, columns, widths, strict=True)
        ]
        widest = of_heads if max(of_heads) > 0 else of_words
        widths[widest.index(max(widest))] -= 1
    heads = [wrap(c.heading, w) or [""] for c, w in zip(columns, widths, strict=True)]
    depth = max(map(len, heads))
    blocks = [[[""] * (depth - len(head)) + head for head in heads]]
    for cells in zip(*(c.cells for c in columns), strict=True):
        wrapped = [
            [cell]
            if c.numeric
            else wrap(cell, w, subsequent_indent=" " if k == 0 else "", break_on_hyphens=False)
            or [""]
            for k, (c, cell, w) in enumerate(zip(columns, cells, widths, strict=True))
        ]
        depth = max(map(len, wrapped))
        blocks.append([one + [""] * (depth - len(one)) for one in wrapped])
    return [
        _GAP.join(
            f"{cell:>{w}}" if c.numeric else f"{cell:<{w}}"
            for c, cell, w in zip(columns, line, widths, strict=True)
        )
        .replace(UNBROKEN, " ")
        .rstrip()
        for block in blocks
        for line in zip(*block, strict=True)
    ]


# --- HTML -----------------------------------------------------------------------------------------

_RULE = "1px solid color-mix(in srgb, currentColor 25%, transparent)"
_SOFT = "opacity:.75"
_BREAK = 12  # percent of a bar that is cut: a gap, and as much behind it
_HEADING = "font-weight:600;font-size:1.08em;margin:0 0 .3em 0"
_NUMBERS = "text-align:right;font-variant-numeric:tabular-nums;white-space:pre"


def as_html(content: Content) -> str:
    """A result for a notebook: the verdict, a bar of the causes, and tables."""
    blocks = [
        _html("h4", f"{content.lead} {content.verdict}".strip(), _HEADING),
        _html("div", content.title, _SOFT),
        *(
            _table_html(table)
            for table in content.tables
            if table.rows and any(column.printed for column in table.columns)
        ),
        *(_html("div", line) for line in content.lines),
        *(_html("div", f"note: {note}", f"{_SOFT};font-size:.9em") for note in content.notes),
    ]
    style = "max-width:75em;overflow-x:auto;line-height:1.45;color:inherit;background:transparent"
    return f'<div style="{style}">{"".join(blocks)}</div>'


def _html(tag: str, text: str, style: str = "") -> str:
    """An element with escaped text; nothing for an empty one."""
    lines = escape(text).replace("\n", "<br/>")
    return f'<{tag} style="{style}">{lines}</{tag}>' if text else ""


def _filling(part: str) -> str:
    """The background of a cause, its colour under its pattern; what is not split is faint."""
    if part == "total":
        return "background:currentColor;opacity:.4"
    color = {**EFFECTS["light"], **CAUSES["light"]}.get(part, "#8A8F98")
    return f"background:{STRIPES[part]},{color}" if part in STRIPES else f"background:{color}"


def _table_html(table: Table) -> str:
    count, rows = len(table.rows), _printed_rows(table, table.rows)
    head: list[str] = []
    body: list[list[str]] = [[] for _ in rows]
    first = next(column for column in table.columns if column.printed)
    for column, cells, shown in _shown_columns(table, rows):
        for each in shown:
            side = "right" if each.numeric else "left"
            head.append(_html("th", each.heading or " ", f"text-align:{side};padding:2px 5px"))
            for k, cell in enumerate(each.cells):
                swatch = _swatch(table.parts.get(k, "")) if column is first else ""
                style = f"{_NUMBERS if each.numeric else 'text-align:left'};padding:2px 5px"
                if column is first and not each.numeric and len(cell) <= _LONGEST:
                    style += ";white-space:nowrap"
                text = _figure_spaces(cell) if each.numeric else cell
                body[k].append(f'<td style="{style}">{swatch}{escape(text)}</td>')
        bars = _interval_bars(cells, column, table.confidence) if column.printed else None
        if bars:
            head.append("<th></th>")
            for cells_of_row, bar in zip(body, bars, strict=True):
                cells_of_row.append(f'<td style="padding:2px 5px">{bar}</td>')
    foot = _html("div", f"{count:,} {table.omitted}", _SOFT) if len(rows) < count else ""
    if table.causes:
        causes = _printed_rows(table, table.causes)
        names = dict.fromkeys(part for each in causes for part in each if part != "total")
        legend = " &nbsp; ".join(
            f"{_swatch(part)}{escape(table.labels.get(part, printed_name(part)))}" for part in names
        )
        foot = f'<div style="{_SOFT}">{legend}</div>{foot}'
        head.insert(1, "<th></th>")
        for cells_of_row, bar in zip(body, _cause_bars(causes, table.labels), strict=True):
            cells_of_row.insert(1, f'<td style="padding:2px 5px">{bar}</td>')
    weights = {table.choice: ";font-weight:600"}
    lines = [
        f'<tr style="border-top:{_RULE}{weights.get(k, "")}">{"".join(cells)}</tr>'
        for k, cells in enumerate(body)
    ]
    if len(rows) < count:
        lines.insert(ROWS // 2, f'<tr><td colspan="{len(head)}">…</td></tr>')
    style = "border-collapse:collapse;margin:.5em 0;border:none;color:inherit;font-size:inherit"
    return (
        f"{_html('div', table.title, 'margin-top:.6em')}{_stacked_bar(table)}"
        f'<table style="{style}"><thead><tr>{"".join(head)}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{foot}"
    )


_FIGURE, _POINT = "\u2007", "\u2008"  # spaces as wide as a digit, and as a point


def _figure_spaces(text: str) -> str:
    """A number with spaces behind it that are as wide as the digits of others."""

    def padded(match: re.Match[str]) -> str:
        number, blank = match.groups()
        point = "" if "." in number else _POINT
        return f"{number}{point}{_FIGURE * (len(blank) - len(point))}"

    return re.sub(r"([^\s±]+)( +)(?= ± | to |$)", padded, text.lstrip())


def _swatch(part: str) -> str:
    """A small square in the colour of a cause."""
    if not part:
        return ""
    size = "display:inline-block;width:.8em;height:.8em;margin-right:.5em;vertical-align:-.05em"
    color = "background:currentColor" if part == "total" else _filling(part)
    return f'<span style="{size};{color}"></span>'


def _stacked_bar(table: Table) -> str:
    """The shares of the causes as one bar in their colours."""
    index = next((k for k, c in enumerate(table.columns) if c.form == "number"), None)
    if index is None:
        return ""
    values = {
        part: _number(table.rows[k][index]) for k, part in table.parts.items() if part != "total"
    }
    if len(values) < 2:
        return ""
    (bar,) = _cause_bars([values], table.labels, "30em", "1.1em")
    return f'<div style="margin:.5em 0">{bar}</div>' if bar else ""


def _cause_bars(
    causes: Sequence[Mapping[str, Any]],
    labels: Mapping[str, str],
    width: str = "6em",
    height: str = "1em",
) -> list[str]:
    """Errors as bars of their causes in their colours, on one scale; long ones have a gap."""
    values = [{part: max(_number(v), 0.0) for part, v in each.items()} for each in causes]
    totals = [sum(each.values()) for each in values]
    limit = bar_limit([total for total in totals if total > 0])
    bars = []
    for each, total in zip(values, totals, strict=True):
        if not 0 < total < math.inf:
            bars.append("")
            continue
        cut = total > limit * (1 + ROUNDING)
        scale = (100 - _BREAK) / total if cut else 100 / limit
        words = {
            part: f"{labels.get(part, printed_name(part))} {percent(value / total)}"
            for part, value in each.items()
        }
        pieces = "".join(
            f'<span title="{escape(words[part])}" '
            f'style="display:inline-block;height:100%;width:{scale * value:.2f}%;'
            f'{_filling(part)}"></span>'
            for part, value in each.items()
            if value > 0
        )
        if cut:  # a gap, and the end of the last part
            last = [part for part, value in each.items() if value > 0][-1]
            pieces += "".join(
                f'<span style="display:inline-block;height:100%;width:{_BREAK / 2}%;{look}"></span>'
                for look in ("", _filling(last))
            )
        style = f"height:{height};width:{width};max-width:100%;white-space:nowrap;overflow:hidden"
        label = ", ".join(words.values())
        bars.append(f'<div role="img" aria-label="{escape(label)}" style="{style}">{pieces}</div>')
    return bars


def _interval_bars(
    cells: Sequence[Any], column: Column, confidence: float | None
) -> list[str] | None:
    """Every interval of a column as a line with a dot at its estimate, on one scale from 0."""
    drawn = column.form not in ("share", "skill") and not column.without_error
    if not drawn or not any(isinstance(cell, Uncertain) for cell in cells):
        return None
    ends = []
    for cell in cells:
        low, high = _ends(cell, confidence)
        ends.append((low, _number(cell), high))
    finite = [x for triple in ends for x in triple if math.isfinite(x)]
    if not finite or max(finite) == min(finite):
        return None
    least, most = min(0.0, *finite), max(0.0, *finite)

    def at(x: float) -> float:
        return 100 * (x - least) / (most - least)

    bars = []
    for low, value, high in ends:
        marks = f'<span style="position:absolute;left:{at(0.0):.1f}%;top:0;bottom:0;width:1px;'
        marks += 'background:currentColor;opacity:.35"></span>'
        if math.isfinite(low + high):
            line = f"left:{at(low):.1f}%;width:{at(high) - at(low):.1f}%;top:45%;height:2px"
            marks += f'<span style="position:absolute;{line};background:currentColor"></span>'
        if math.isfinite(value):
            dot = f"left:calc({at(value):.1f}% - 3px);top:calc(50% - 3px);width:6px;height:6px"
            marks += (
                f'<span style="position:absolute;{dot};border-radius:3px;'
                'background:currentColor"></span>'
            )
        style = "position:relative;display:inline-block;width:6em;height:1em;vertical-align:middle"
        bars.append(f'<span style="{style}">{marks}</span>')
    return bars
