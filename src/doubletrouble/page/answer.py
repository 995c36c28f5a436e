"""What the server answers when a control was moved.

The browser sends what it was last told (a query) and the controls that moved since, in order, with
their raw values; it interprets nothing. Whatever arrives is checked here, and something valid comes
back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from doubletrouble.page import address
from doubletrouble.page.curves import Curves, curves, parts_of
from doubletrouble.page.fields import TIME
from doubletrouble.page.jobs import Jobs
from doubletrouble.page.kinds import BOX, CHOICE, SLIDER, NumberField
from doubletrouble.page.plot import Measured, figure
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.simulation import request
from doubletrouble.page.stops import Stops

BUTTONS = ("compare", "swap", "single")
_MOST_MOVES = 100  # in one question
_TIMED = "Training in time is not known for this scheme: ensembles on all samples are shown."


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A view, what had to be changed to get it, and everything drawn of it."""

    view: PageView
    notes: tuple[str, ...]
    drawn: tuple[Curves, ...]
    measured: tuple[tuple[Measured, ...], ...]
    figure: dict[str, Any]

    @property
    def query(self) -> str:
        """The address of the view."""
        return address.write(self.view)

    @property
    def controls(self) -> dict[str, float | str | int]:
        """The value of every control."""
        found: dict[str, float | str | int] = {"preset": self.preset}
        owners: tuple[Any, ...] = (self.view.first, self.view)
        for owner in owners:
            for field in owner.fields:
                value = getattr(owner, field.name)
                if isinstance(field, NumberField):
                    if field.slider:
                        found[SLIDER + field.name] = field.nearest_stop(value)
                    found[BOX + field.name] = field.write(value)
                else:
                    found[CHOICE + field.name] = value
        return found

    @property
    def preset(self) -> str:
        """The figure that is shown, if it is one."""
        return next((name for name in PRESETS if _preset(self.view, name) == self.view), "")

    @property
    def spoken(self) -> dict[str, str]:
        """What a screen reader says of each slider."""
        return {
            SLIDER + field.name: f"{field.label} = {field.shown(getattr(owner, field.name))}"
            for owner in (self.view.first, self.view)
            for field in owner.fields
            if isinstance(field, NumberField) and field.slider
        }


def answer(asked: Any, jobs: Jobs, stops: Stops | None = None) -> Answer:
    """Answer what a browser sends, whatever that is."""
    given = asked if isinstance(asked, Mapping) else {}
    view, notes = _shown(given)
    screen = Screen(
        dark=bool(given.get("dark")),
        narrow=bool(given.get("narrow")),
        zoom=_zoom(given.get("zoom")),
    )
    drawn = tuple(curves(view, setting) for setting in view.settings)
    if stops and view.along == "time":
        drawn = tuple(replace(one, stop=stops.known(one.setting)) for one in drawn)
    measured = tuple(_measured(view, s, _simulated(view, s, jobs)) for s in view.settings)
    return Answer(
        view=view,
        notes=notes,
        drawn=drawn,
        measured=measured,
        figure=figure(view, drawn, screen, measured),
    )


def _shown(given: Mapping[Any, Any]) -> tuple[PageView, tuple[str, ...]]:
    """The view a browser was last told, and every move since, one after the other."""
    query = given.get("query")
    view, notes = address.read(query if isinstance(query, str) else "")
    for control, value in _moves(given.get("changes")):
        view, more = _moved(view, control, value)
        notes = (*notes, *more)
    return view, tuple(dict.fromkeys(notes))


def _zoom(given: Any) -> dict[str, tuple[float, float]]:
    """The ranges of axes that a reader dragged, if that is what they are."""
    found = {}
    for axis, ends in given.items() if isinstance(given, Mapping) else ():
        if axis in ("x", "y") and isinstance(ends, list) and len(ends) == 2:
            numbers = [end for end in ends if isinstance(end, int | float) and abs(end) < 1e300]
            if len(numbers) == 2 and numbers[0] != numbers[1]:
                found[str(axis)] = (float(numbers[0]), float(numbers[1]))
    return found


def _moves(changes: Any) -> list[tuple[str, Any]]:
    """Controls and their values, in the order they were moved."""
    pairs = changes.items() if isinstance(changes, Mapping) else changes
    if not isinstance(pairs, Iterable) or isinstance(pairs, str):
        return []
    found = [pair for pair in pairs if isinstance(pair, list | tuple) and len(pair) == 2]
    return [(str(control), value) for control, value in found[:_MOST_MOVES]]


def _moved(view: PageView, control: str, value: Any) -> tuple[PageView, list[str]]:
    """A view after one control was moved."""
    if control == "preset":
        return _preset(view, str(value)), []
    if control in BUTTONS:
        return _compared(view, control), []
    text = _text(view, control, value)
    if text is None:
        return view, []
    texts = dict([text])
    if "form" in texts:  # heights of areas are shares on a linear axis only
        texts["y"] = "linear" if texts["form"] == "areas" else "log"
    if texts.get("along") == "time":  # what was chosen last goes before what was there
        timed = _timed(view)
        found, notes = address.changed(timed, texts)
        return found, notes + [_TIMED] * (timed != view)
    return address.changed(view, texts)


def _timed(view: PageView) -> PageView:
    """A view of settings that are known in time."""
    first, *others = (
        s if s.uses(TIME) else s.changed({"scheme": TIME.schemes[0]}) for s in view.settings
    )
    return replace(view, first=first, second=others[0] if others else None)


def _preset(view: PageView, name: str) -> PageView:
    """The view of a figure; the sizes of simulations stay as they are."""
    if name not in PRESETS:
        return view
    found, _ = address.read(PRESETS[name].query)
    return replace(found, dim=view.dim, draws=view.draws, points=view.points, budget=view.budget,
                   cost=view.cost)  # fmt: skip


def _compared(view: PageView, control: str) -> PageView:
    if control == "compare":
        return replace(view, second=view.first)
    if control == "single":
        return replace(view, second=None)
    return replace(view, first=view.second or view.first, second=view.second and view.first)


def _text(view: PageView, control: str, value: Any) -> tuple[str, str] | None:
    """The field that a control sets, and the text it sets it to."""
    kind, dash, name = control.partition("-")
    known = {f.name: f for f in (*view.first.fields, *view.fields)}
    field = known.get(name)
    if field is None:
        return None
    if kind + dash == SLIDER and isinstance(field, NumberField):
        if not isinstance(value, int | float | str):
            return None
        return name, field.write(field.stops[_position(value, len(field.stops))])
    if kind + dash in (BOX, CHOICE):
        return name, "" if value is None else str(value)
    return None


def _position(value: float | str, count: int) -> int:
    """A place on a slider, from whatever the browser says."""
    try:
        place = round(float(value))
    except (ValueError, OverflowError):
        return 0
    return min(max(place, 0), count - 1)


def _simulated(view: PageView, setting: PageSetting, jobs: Jobs) -> list[dict[str, Any]]:
    """The points simulated so far for a setting."""
    try:
        job = jobs.find(request(view, setting))
    except ValueError:  # beyond what this page simulates
        return []
    return list(job.points) if job else []


def _measured(
    view: PageView, setting: PageSetting, points: list[dict[str, Any]]
) -> tuple[Measured, ...]:
    """The parts of simulated points: of a stack, its top; those that can be told."""
    if not points:
        return ()
    known = points[0][view.split]
    wanted = ("total", *parts_of(view, setting)) if view.form == "lines" else ("total",)
    return tuple(
        Measured(
            name=name,
            at=[point["at"] for point in points],
            x=[point["x"] for point in points],
            value=[point[view.split][name][0] for point in points],
            standard_error=[point[view.split][name][1] for point in points],
        )
        for name in wanted
        if name in known
    )
