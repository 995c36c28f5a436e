"""Advice: the error now, after every change, and which change to make.

An `Option` is a change with the error after it; its gain is the share of the present error that it
removes, 1 - error/error now, positive if the error falls. Errors are exact for a problem, and
estimates with intervals for forecasts, diagnoses, comparisons and decompositions.

The best change is the one of largest gain among those that are finite, and whose gain is at least
1% (`WORTHWHILE`): of estimates, whose interval lies above 1%. Of equal gains it is the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from doubletrouble import _plots
from doubletrouble._display import (
    UNBROKEN,
    Column,
    Content,
    Shown,
    Table,
    against_mean,
    excessive_parts,
    settings_text,
    table_by_part,
)
from doubletrouble._numbers import CONFIDENCE, alone, level, percent, percents_between, plain, whole
from doubletrouble._plots import Axes, part_label, part_labels
from doubletrouble.estimates import ConfidenceInterval, Estimate
from doubletrouble.glossary import symbol
from doubletrouble.palette import EXACT, WITHHELD
from doubletrouble.parameters import Value, by_name
from doubletrouble.results import ErrorTerms

if TYPE_CHECKING:
    from doubletrouble.ensembles import Scheme
    from doubletrouble.problems import Problem, SpectralProblem

WORTHWHILE = 0.01
"""The least gain of a change that is recommended."""

NOW, RIDGE, DATA, MORE_DATA = "now", "best ridge", "2x data", "4x data"
FEATURES, SLIGHTLY, MODELS = "2x features", "slightly more features", "2x models"
DIVIDED, MANY, TEN, BAG = "divided data", "∞ models", "10 models", "bag of 10"
MANY_AT_BEST = "∞ models at the best P"
BEST, BEST_AT_THIS_RIDGE, FRONTIER = "best allocation", "best at this ridge", "frontier"
"""Names of options."""

N_MODELS: Mapping[str, float] = {TEN: 10, BAG: 10, MANY: math.inf}
"""Models of the options that have their number as their name."""

_NEAR_PEAK = 0.1  # relative distance of P from N
_EQUAL = 1e-10  # relative difference of equal errors
_PARTS = tuple(ErrorTerms.names())
_NAMED = {FEATURES, MODELS, MANY, TEN, BAG, DATA, MORE_DATA}  # which state their setting


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Option(Shown):
    """One change: the error after it, the gain, what it costs, and how the error is known."""

    name: str  # "2x features"
    error: ErrorTerms[Any] | None  # after the change; None where it is withheld
    gain: float | Estimate | None = None  # 1 - error/error now
    interval: ConfidenceInterval | None = None  # of the gain, where it is estimated
    confidence: float | None = None  # of the interval
    status: str = EXACT  # how the error is known
    cost: Mapping[str, float] = field(default_factory=dict)  # in multiples of the present ones
    reason: str = ""  # why the error is withheld
    setting: Mapping[str, Any] = field(default_factory=dict)  # sizes and ridge after the change
    problem: Problem | SpectralProblem | None = None  # of an exact error
    ensemble: Scheme | None = None  # of an exact error

    @property
    def total(self) -> float:
        """The total error after the change; NaN where it is withheld."""
        return math.nan if self.error is None else float(self.error.total)

    @property
    def is_finite(self) -> bool:
        """Whether the change can be made: infinitely many models cannot."""
        return all(map(math.isfinite, self.cost.values()))

    @property
    def is_free(self) -> bool:
        """Whether the change has costs, and none above the present ones."""
        return bool(self.cost) and all(factor <= 1 + _EQUAL for factor in self.cost.values())

    @property
    def is_sure(self) -> bool:
        """Whether the gain is worth the change; of an estimate, all of its interval."""
        if self.gain is None:
            return False
        least = float(self.gain) if self.interval is None else float(self.interval.low)
        return least >= WORTHWHILE

    @property
    def is_at_peak(self) -> bool:
        """Whether P is within a tenth of N, or of N/K where the models divide the data."""
        at = self.setting
        sizes = [at.get(f"{kind}_per_dim", at.get(f"n_{kind}")) for kind in ("features", "samples")]
        if None in sizes or not all(map(math.isfinite, sizes)):
            return False
        P, N = sizes
        members = at.get("n_members", 1) if at.get("scheme") == "divide" else 1
        return bool(abs(P * members / N - 1) < _NEAR_PEAK)

    def _described(self, now: Option | None) -> str:
        """The name, with the sizes and the ridge that differ from the present ones."""
        present = {} if now is None else now.setting
        changed = {k: v for k, v in self.setting.items() if k not in present or present[k] != v}
        if self is now or self.name in _NAMED or not changed:
            return self.name
        return f"{self.name} ({_in_words(changed)})"

    def _content(self) -> Content:
        tables = [_table("options", [self], None, self.confidence)]
        if self.error is not None and not self.error.shape and len(self.error.parts) > 1:
            tables.append(table_by_part(self.error, self.confidence))
        return Content(tables=tables, verdict=self.verdict)

    def _tables(self) -> Sequence[Table]:
        """The option as a row of its advice, which has the parts of the error."""
        return self._content().tables[:1]

    @property
    def verdict(self) -> str:
        """The change, the error after it, and its gain, as text."""
        if self.error is None:
            return f"{self.name}: withheld, because {self.reason}."
        setting = f" at {_in_words(self.setting)}" if self.setting else ""
        text = f"{self.name}: error {alone(self.error.total)}{setting}"
        known = "" if self.status == EXACT else f", {self.status}"
        if self.gain is None:
            return f"{text}{known}."
        text = f"{text}, {less(float(self.gain), self.interval)} than now"
        if self.interval is None or self.confidence is None:
            return f"{text}{known}."
        low, high, _ = percents_between(*map(float, self.interval))
        return f"{text} ({level(self.confidence)} interval {low} to {high}, {self.status})."

    def _picture(self) -> _plots.Stack:
        return _plots.Stack(rows=[_bar(self)], xlabel=_label(self))


def option_after(
    name: str,
    error: ErrorTerms[Any] | None,
    now: Option,
    *,
    confidence: float | None = None,
    gain: Estimate | None = None,
    **about: Any,
) -> Option:
    """A change of the present option: its gain, which ends at the whole error, with its interval.

    `gain` is for an estimate of it that is better than that from the two totals; `about` are
    further fields.
    """
    if error is None or now.error is None:
        return Option(name=name, error=None, **about | {"status": WITHHELD})
    share = removed(error.total, now.error.total) if gain is None else gain
    interval = None
    if isinstance(share, Estimate) and confidence is not None:
        low, high = share.confidence_interval(confidence)
        interval = ConfidenceInterval(min(low, 1.0), min(high, 1.0))
        if share.value > 1:  # an error that is estimated below 0
            share = Estimate(value=1.0, standard_error=share.standard_error, n_draws=share.n_draws)
    known = None if interval is None else confidence
    return Option(name=name, error=error, gain=share, interval=interval, confidence=known, **about)


@overload
def removed(after: float, now: float) -> float: ...
@overload
def removed(after: Value | Estimate, now: Value | Estimate) -> float | Estimate | None: ...
def removed(after: Value | Estimate, now: Value | Estimate) -> float | Estimate | None:
    """The share of the present error that a change removes, 1 - error/error now.

    Of an infinite one that becomes finite it is all; of two that are equal, nothing. An estimated
    share of an error that is not positive is not defined.

    >>> removed(1.0, 4.0), removed(1.0, math.inf), removed(math.inf, math.inf), removed(1.0, 0.0)
    (0.75, 1.0, 0.0, -1.0)
    """
    present, rest = float(now), float(after)
    if not isinstance(now, Estimate):
        if rest == present:
            return 0.0
        ratio = rest / present if 0 < present < math.inf else None
        return math.copysign(1.0, present - rest) if ratio is None else 1 - ratio
    if 0 < present < math.inf:
        return 1 - after / now
    if math.isinf(present) and math.isfinite(rest):
        return Estimate(value=1.0, standard_error=0.0, n_draws=now.n_draws)
    return None


@dataclass(frozen=True, kw_only=True)
class _GainCell:
    """An estimated gain with the interval of its option."""

    value: float
    standard_error: float
    interval: ConfidenceInterval

    def confidence_interval(self, confidence: float = CONFIDENCE) -> ConfidenceInterval:
        """The interval of the option, at whatever confidence it has."""
        return self.interval


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Advice(Shown):
    """The error now and after every change; `advice["2x data"]` is one of them.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> advice = dt.advise(dt.Problem(features_per_dim=1.2, samples_per_dim=1.0, ridge=1e-5))
    >>> advice.choice.name, round(float(advice["2x models"].gain), 2)
    ('best ridge', 0.45)
    """

    now: Option  # the present error
    changes: tuple[Option, ...]  # every single change
    allocations: tuple[Option, ...] = ()  # the best sizes under a budget
    confidence: float | None = None  # of intervals; None for exact errors
    notes: tuple[str, ...] = ()
    reference: str = ""  # the learner whose error is the present one
    facts: Mapping[str, Any] = field(default_factory=dict)  # further numbers, for programs

    @property
    def label(self) -> str:
        """The name of the error: "squared error"."""
        return _label(self.now)

    @property
    def baseline(self) -> float | None:
        """The error of predicting the mean, of classes their frequencies; None if not known."""
        return None if self.now.error is None else self.now.error.baseline

    @property
    def options(self) -> tuple[Option, ...]:
        """All options in the order of the table: now, the changes, the best allocations."""
        return (self.now, *self.changes, *self.allocations)

    def __getitem__(self, name: str) -> Option:
        """An option by its name."""
        return by_name("option", {one.name: one for one in self.options}, name)

    def __iter__(self) -> Iterator[Option]:
        """All changes, without the present state."""
        return iter((*self.changes, *self.allocations))

    def __len__(self) -> int:
        return len(self.changes) + len(self.allocations)

    @property
    def choice(self) -> Option:
        """The best change; `now` if none is worth it. Of nearly equal ones, one at no cost."""
        known = [one for one in self.changes if one.is_finite and one.is_sure]
        best = min(known, key=lambda option: option.total, default=self.now)
        if not best.total < self.now.total * (1 - _EQUAL):
            return self.now
        enough = best.total * (1 + WORTHWHILE * (self.confidence is not None) + _EQUAL)
        return next((one for one in known if one.is_free and one.total <= enough), best)

    @property
    def verdict(self) -> str:
        """The best change, its error and its gain, as text."""
        text, now = self._best_change(), self.now.error
        if now is None or now.baseline is None or not self.choice.total > now.baseline:
            return text
        return f"{text} Predicting {now.baseline_name} is better: {plain(now.baseline)}."

    def _best_change(self) -> str:
        """The best change, or that there is none."""
        now, choice, error = self.now, self.choice, self.label
        if choice is now:
            if all(one.error is None for one in self.changes):
                return f"The {error} is {self._in_digits(now)}; no change is compared with it."
            kind = "single" if all(one.is_finite for one in self.changes) else "finite single"
            sure = "" if self.confidence is None else f" with {level(self.confidence)} confidence"
            total = self._in_digits(now)
            return f"No {kind} change reduces the {error} of {total} by 1% or more{sure}."
        paid = [
            f"{whole(factor)} times the {name}"
            for name, factor in choice.cost.items()
            if whole(factor) != "1"
        ]
        cost = f", for {' and '.join(paid)}" if paid else ", at no cost" if choice.cost else ""
        gain = _gain(choice, self.confidence) if math.isfinite(now.total) else ""
        return (
            f"Best change: {choice._described(now)}, which reduces the {error} from "
            f"{self._in_digits(now)} to {self._in_digits(choice)}{gain}{cost}."
        )

    def _in_digits(self, option: Option) -> str:
        """The total of an option, as the table has it."""
        return alone(math.nan if option.error is None else option.error.total)

    def waterfall(self, name: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the way from the present error to the error after a change, by cause.

        Parameters
        ----------
        name : str or None, default: None
            The option; None for the best change, or the one of least error, with a note, where none
            is recommended.
        ax : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        KeyError
            If there is no option of this name.
        ValueError
            If the error after the change is withheld or infinite, or no change has a finite one.
        MissingExtraError
            If matplotlib is not installed.
        """
        option, note = self.choice if name is None else self[name], ""
        if name is None and option is self.now:
            known = [one for one in self.changes if math.isfinite(one.total)]
            option = min(known, key=lambda one: one.total, default=option)
            note = "the change of least error; no change is recommended"
        if option is self.now and name is None:
            raise ValueError("advice must have a change to a finite error, got none")
        before, after = self.now.error, option.error
        if before is None or after is None or not math.isfinite(self.now.total + option.total):
            why = option.reason or f"from {plain(self.now.total)} to {plain(option.total)}"
            wanted = "name must be of a change between finite errors"
            raise ValueError(f"{wanted}, got {option.name!r}: {why}")
        steps: list[tuple[str, str, Any]] = []
        if before.parts.keys() == after.parts.keys() and before.includes == after.includes:
            for part, value in before.parts.items():
                change = after.parts[part] - value
                if float(change):
                    steps.append((part_label(before, part), part, change))
        # a total may be estimated apart from its parts
        rest = option.total - self.now.total - sum(float(change) for *_, change in steps)
        if abs(rest) > _EQUAL * self.now.total:
            steps.append(("not by cause" if steps else "all causes", "total", rest))
        picture = _plots.Waterfall(
            start_label=self._present,
            start=before.total,
            steps=steps,
            end_label=option._described(self.now),
            end=after.total,
            gain=None if option.gain is None else float(option.gain),
            xlabel=self.label,
            note="; ".join(filter(None, (self._settings, note))),
        )
        return _plots.draw(picture, ax)

    def _content(self) -> Content:
        known = {one.status for one in self.options if one is not self.now}
        title = self.label[:1].upper() + self.label[1:]
        if len(known) == 1 and known != {WITHHELD}:
            title = f"{title}, {known.pop()}"
        if self.now.setting:
            title = f"{title}; now {_in_words(self.now.setting)}"
        if self.now.setting.get("scheme") == "divide":
            title = f"{title}, of divided data"
        facts: dict[str, Any] = {"measure": self.label, "choice": self.choice.name}
        if self.confidence is not None:
            facts["confidence"] = self.confidence
        lead, line, now = "", "", self.now.error
        if now is not None and now.baseline is not None:
            facts["baseline"] = now.baseline
            if now.baseline > 0:
                facts["skill"] = 1 - self.now.total / now.baseline
            lead, line = against_mean(
                now.total,
                now.baseline,
                name=now.baseline_name,
                where="now",
                confidence=self.confidence or CONFIDENCE,
            )
        table = _table("options", self.options, self.now, self.confidence)
        return Content(
            title=title,
            lead=lead,
            tables=[replace(table, choice=self.options.index(self.choice))],
            lines=[*_legend(self), *([line] if line else []), *_withheld(self)],
            notes=self.notes,
            verdict=self.verdict,
            facts={**facts, **self.facts},
        )

    @property
    def _present(self) -> str:
        """The label of the present error in plots."""
        return f"{self.now.name}: {self.reference}" if self.reference else self.now.name

    @property
    def _settings(self) -> str:
        """The present sizes and ridge, as a note of plots."""
        return f"now {_in_words(self.now.setting)}" if self.now.setting else ""

    def _picture(self) -> _plots.Stack:
        rows = [_bar(option) for option in self.options]
        rows[0] = replace(rows[0], label=self._present)
        for first in {1, 1 + len(self.changes)}:
            if first < len(rows):
                rows[first] = _bar(self.options[first], new_group=True)
        error = self.now.error
        labels = part_labels(error)
        return _plots.Stack(
            rows=rows,
            xlabel=self.label,
            confidence=self.confidence,
            labels=labels,
            note=self._settings,
            baseline=self.baseline or None,
            baseline_label=f"predicting {error.baseline_name if error else ''}",
        )


def _label(option: Option) -> str:
    """The name of the error."""
    return "test error" if option.error is None else option.error.label


def _legend(advice: Advice) -> list[str]:
    """What the symbols stand for, and which options are at the peak of double descent."""
    known = {symbol(name) for name in advice.now.setting}
    if not any(text.startswith("P") for text in known):
        return []
    samples = "N: training samples" if advice.confidence is None else "N: rows"
    letters = ["P: features", samples, "D: input dimensions", "K: models", "λ: ridge"]
    shown = [text for text in letters if any(text[0] in one for one in known)]
    peaks = [one.name for one in advice if one.is_at_peak and one.total > advice.now.total]
    lines = [f"Closer to the peak of double descent at P = N: {', '.join(peaks)}."] if peaks else []
    return [f"{'; '.join(shown)}.", *lines]


def _withheld(advice: Advice) -> list[str]:
    """Why errors are withheld, in one line for each reason."""
    names: dict[str, list[str]] = {}
    for option in advice.options:
        if option.error is None:
            names.setdefault(option.reason, []).append(option.name)
    return [f"Withheld: {', '.join(some)} ({reason})." for reason, some in names.items()]


def _table(
    name: str,
    options: tuple[Option, ...] | list[Option],
    now: Option | None,
    confidence: float | None,
) -> Table:
    """The table of options, with their parts in frames; a common status is not printed."""
    tells = now is None or len({one.status for one in options if one is not now}) > 1
    estimated = any(one.status != EXACT for one in options)
    parts = [{} if one.error is None else one.error.parts for one in options]
    columns = (
        Column(name="option", form="words", printed=False),
        Column(name="described", heading="option", form="words", exported=False),
        # the gains are what is compared
        Column(name="error", without_error=True, estimated=estimated),
        Column(name="gain", form="gain", interval=True, estimated=estimated),
        Column(name="cost", form="multiples"),
        Column(name="status", heading="how it is known", form="words", printed=tells),
        Column(name="reason", form="words", printed=False),
        Column(name="setting", form="settings", printed=False),
        *(Column(name=f"error_{name}", printed=False, estimated=estimated) for name in _PARTS),
    )
    rows = [
        [
            one.name,
            one._described(now).replace(" = ", f"{UNBROKEN}={UNBROKEN}"),
            None if one.error is None else one.error.total,
            _gain_cell(one),
            None if one is now or (now is None and one.gain is None) else one.cost,
            one.status,
            one.reason,
            one.setting,
            *(each.get(name) for name in _PARTS),
        ]
        for one, each in zip(options, parts, strict=True)
    ]
    causes = [dict(each) for each in parts]
    labels: dict[str, str] = {}
    for one in options:
        labels |= part_labels(one.error)
    for k, one in enumerate(options):
        if one.error is not None and (not causes[k] or excessive_parts(one.error)):
            causes[k] = {"total": one.error.total}  # not split by cause
    return Table(
        name=name, columns=columns, rows=rows, confidence=confidence, causes=causes, labels=labels
    )


def _gain_cell(option: Option) -> float | Estimate | _GainCell | None:
    """The gain, with the interval of the option where it has one."""
    gain, interval = option.gain, option.interval
    if gain is None or interval is None:
        return gain
    error = float(gain.standard_error) if isinstance(gain, Estimate) else math.nan
    return _GainCell(value=float(gain), standard_error=error, interval=interval)


def _bar(option: Option, *, new_group: bool = False) -> Any:
    """An option in a plot."""
    error = option.error
    note = f"withheld: {option.reason}" if error is None else ""
    return _plots.StackRow(
        label=option.name,
        parts={} if error is None else error.parts,
        total=None if error is None else error.total,
        note=note,
        new_group=new_group,
    )


def _in_words(setting: Mapping[str, Any]) -> str:
    """Sizes and ridge with their symbols; the scheme is in the name of the option."""
    shown = {symbol(name): value for name, value in setting.items() if name != "scheme"}
    return settings_text(shown).replace(UNBROKEN, " ")


def less(gain: float, interval: tuple[Value, Value] | None = None) -> str:
    """A gain in words, with the decimals of its interval.

    >>> less(0.784), less(-1.09), less(-0.001, (-0.001, 0.08))
    ('78% less', '109% more', '0%')
    """
    ends = (math.nan, math.nan) if interval is None else interval
    text = percents_between(*map(float, ends), value=abs(gain))[2]
    if not text.strip("0.%"):
        return text
    return f"{text} {'less' if gain >= 0 else 'more'}"


def _gain(option: Option, confidence: float | None) -> str:
    """The gain with its interval."""
    if option.gain is None:
        return ""
    if option.interval is None or confidence is None:
        return f" by {percent(float(option.gain))}"
    low, high, gain = percents_between(*map(float, option.interval), value=float(option.gain))
    return f" by {gain} ({level(confidence)} interval {low} to {high}, {option.status})"
