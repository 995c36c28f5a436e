"""The view as the query of an address, and back: whatever is typed there, something is shown.

Only what differs from the defaults is written, so that links are short. The second setting has
its names after "second.", and differs from the first by what is written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from doubletrouble.page.fields import PER, WIDTH, Field
from doubletrouble.page.setting import Setting, View

SECOND = "second."
_LONGEST = 4000  # characters of a query
_MOST_NOTES = 6


def write(view: View) -> str:
    """The query that stands for a view, without the question mark.

    >>> write(View(first=Setting(ridge=0.1, members=10.0)))
    'ridge=0.1&members=10'
    """
    plain = View(first=Setting(per=view.first.per))
    items = _differing(view.first, Setting()) + _differing(view, plain)
    if view.second is not None:
        others = [(f"{SECOND}{name}", text) for name, text in _differing(view.second, view.first)]
        items += others or [(f"{SECOND}per", view.second.per)]
    return urlencode(items)


def read(query: str) -> tuple[View, tuple[str, ...]]:
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
        return View(), (said,)
    try:
        given = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=100))
    except ValueError:
        return View(), ("An address must have at most 100 fields; it is not read.",)
    view, notes = changed(View(), {k: v for k, v in given.items() if not k.startswith(SECOND)})
    beside = {k.removeprefix(SECOND): v for k, v in given.items() if k.startswith(SECOND)}
    if beside:
        second, more = _applied(view.first, view.first.fields, beside)
        notes += [f"Second setting: {note}" for note in more]
        view = replace(view, second=second)
    if len(notes) > _MOST_NOTES:
        notes = [*notes[:_MOST_NOTES], f"There are {len(notes) - _MOST_NOTES} more such values."]
    return view, tuple(notes)


def changed(view: View, texts: Mapping[str, str]) -> tuple[View, list[str]]:
    """A view with other values, given as text by name."""
    look = {f.name for f in view.fields}
    of_look = {name: text for name, text in texts.items() if name in look}
    of_curve = {name: text for name, text in texts.items() if name not in look}
    first, notes = _applied(view.first, view.first.fields, of_curve)
    view, more = _applied(replace(view, first=first), view.fields, of_look)
    return view, notes + more


def _applied(owner: Any, known: Iterable[Field], texts: Mapping[str, str]) -> tuple[Any, list[str]]:
    """A setting or a view with other values."""
    if isinstance(owner, Setting) and PER.name in texts:  # it tells what a width is
        known = owner.changed({PER.name: PER.read(texts[PER.name])[0]}).fields
    by_name = {field.name: field for field in known}
    values: dict[str, float | str] = {}
    notes: list[str] = []
    for name, text in texts.items():
        if name not in by_name:
            notes.append(f"There is nothing called {name[:40]!r} to set.")
            continue
        value, note = by_name[name].read(text, getattr(owner, name))
        values[name] = value
        notes += [note] * bool(note)
    if not isinstance(owner, Setting):
        return replace(owner, **values), notes
    width = by_name[WIDTH[PER.default].name]
    if width.name not in values:  # counted anew, it may be more than can be shown
        values[width.name], note = width.read(
            width.write(owner.recounted(str(values.get("per", owner.per))))
        )
        notes += [note] * bool(note)
    return owner.changed(values), notes


def _differing(owner: Any, from_: Any) -> list[tuple[str, str]]:
    """The names and texts of what is not as in another setting or view."""
    recounted = getattr(owner, PER.name, "") != getattr(from_, PER.name, "")
    return [
        (field.name, field.write(getattr(owner, field.name)))
        for field in owner.fields
        if getattr(owner, field.name) != getattr(from_, field.name)
        or (recounted and field.name == WIDTH[PER.default].name)
    ]
