"""The view as the query of an address, and back: whatever is typed there, something is shown.

Only what differs from the defaults is written, so that links are short. The second setting has
its names after "second.", and differs from the first by what is written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from doubletrouble.page.fields import PER, WIDTH
from doubletrouble.page.kinds import Field
from doubletrouble.page.setting import PageSetting, PageView

SECOND = "second."
_LONGEST = 4000  # characters of a query
_MOST_NOTES = 6
_OVERRULED = {
    "members": "This scheme does not have as many models; the nearest number is shown.",
    "time": "Training in time is not known for this scheme; t = ∞ is shown.",
    "along": "Training in time is not known for this scheme; the width is along.",
    "split": (
        "The symmetric split is known for ensembles and divided data, trained to the end; "
        "the split by cause is shown."
    ),
}
"""What is said where something does not go with the rest."""


def write(view: PageView) -> str:
    """The query that stands for a view, without the question mark.

    >>> write(PageView(first=PageSetting(ridge=0.1, members=10.0)))
    'ridge=0.1&members=10'
    """
    plain = PageView(first=PageSetting(per=view.first.per))
    items = _differing(view.first, PageSetting()) + _differing(view, plain)
    if view.second is not None:
        others = [(f"{SECOND}{name}", text) for name, text in _differing(view.second, view.first)]
        items += others or [(f"{SECOND}per", view.second.per)]
    return urlencode(items)


def read(query: str) -> tuple[PageView, tuple[str, ...]]:
    """The view a query asks for, or the nearest there is, and what had to be changed.

    >>> view, notes = read("ridge=-1&members=10")
    >>> view.first.ridge, view.first.members
    (0.0, 10.0)
    >>> notes
    ("λ must be a number in [0, 1e+06] or inf, got '-1'; 0 is shown.",)
    """
    if len(query) > _LONGEST:
        said = (
            f"An address must have at most {_LONGEST} characters, got {len(query)}; it is not read."
        )
        return PageView(), (said,)
    try:
        pairs = parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return PageView(), ("An address must have at most 100 fields; it is not read.",)
    given = dict(pairs)
    notes = _doubled(pairs)
    view, more = changed(PageView(), {k: v for k, v in given.items() if not k.startswith(SECOND)})
    notes += more
    beside = {k.removeprefix(SECOND): v for k, v in given.items() if k.startswith(SECOND)}
    if beside:
        second, more = _setting(view.first, beside)
        notes += [f"Second setting: {note}" for note in more]
        both = replace(view, second=second)
        notes += _overruled(_look(view), both)
        view = both
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"There are {len(notes) - _MOST_NOTES} more such values."]
    return view, tuple(notes)


def changed(view: PageView, texts: Mapping[str, str]) -> tuple[PageView, list[str]]:
    """A view with other values, given as text by name."""
    of_look = {name: text for name, text in texts.items() if name in _look(view)}
    of_curve = {name: text for name, text in texts.items() if name not in of_look}
    first, notes = _setting(view.first, of_curve)
    values, more = _values(view, view.fields, of_look)
    found = replace(view, first=first, **values)
    return found, notes + more + _overruled(_look(view) | values, found)


def _setting(owner: PageSetting, texts: Mapping[str, str]) -> tuple[PageSetting, list[str]]:
    """A setting with other values."""
    # what a width is counted per tells what it is
    per = str(PER.read(texts[PER.name], owner.per)[0]) if PER.name in texts else owner.per
    known = tuple(owner.changed({PER.name: per}).fields)
    values, notes = _values(owner, known, texts)
    width = next(field for field in known if field.name == WIDTH[PER.default].name)
    if width.name not in values:  # counted anew, it may be more than can be shown
        values[width.name], note = width.read(width.write(owner.recounted(per)))
        notes += [note] * bool(note)
    found = owner.changed(values)
    return found, notes + _overruled({"time": owner.time, "members": owner.members} | values, found)


def _values(
    owner: Any, known: Iterable[Field], texts: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """The values that texts stand for, and what had to be changed."""
    by_name = {field.name: field for field in known}
    values: dict[str, Any] = {}
    notes: list[str] = []
    for name, text in texts.items():
        if name not in by_name:
            notes.append(f"There is nothing called {name[:40]!r} to set.")
            continue
        values[name], note = by_name[name].read(text, getattr(owner, name))
        notes += [note] * bool(note)
    return values, notes


def _look(view: PageView) -> dict[str, Any]:
    """The values of everything that is of no setting."""
    return {field.name: getattr(view, field.name) for field in view.fields}


def _overruled(wanted: Mapping[str, Any], found: Any) -> list[str]:
    """What goes with nothing else that was asked for."""
    return [
        words
        for name, words in _OVERRULED.items()
        if name in wanted and getattr(found, name) != wanted[name]
    ]


def _doubled(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Names that have several values."""
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    return [
        f"{name[:40]!r} must be given once, got {len(given)} values; the last one is read."
        for name, given in texts.items()
        if len(set(given)) > 1
    ]


def _differing(owner: Any, from_: Any) -> list[tuple[str, str]]:
    """The names and texts of what is not as in another setting or view."""
    recounted = getattr(owner, PER.name, "") != getattr(from_, PER.name, "")
    return [
        (field.name, field.write(getattr(owner, field.name)))
        for field in owner.fields
        if getattr(owner, field.name) != getattr(from_, field.name)
        or (recounted and field.name == WIDTH[PER.default].name)
    ]
