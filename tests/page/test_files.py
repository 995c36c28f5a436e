"""What can be taken away: the numbers, and the lines that remake the plot."""

import csv
import io
import json
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from doubletrouble.page import address, files, worker
from doubletrouble.page.answer import answer
from doubletrouble.page.curves import CAUSES, EFFECTS, RESAMPLED_CAUSES, curves
from doubletrouble.page.jobs import Jobs
from doubletrouble.page.marks import marks
from doubletrouble.page.plot import Measured
from doubletrouble.page.setting import PageView
from doubletrouble.page.simulation import request
from tests.page.views import patient, views

QUERIES = (
    "",
    "along=samples&per=D&width=0.5&members=3&scheme=divide&snr=inf",
    "along=ridge&x=linear&y=linear&points=50&activation=tanh&nonlinear=0.5",
    "along=members&width=inf&split=effects",
    "along=members&scheme=divide&width=0.2&samples=3&per=D",
    "width=1&ridge=0&split=effects&points=2000",
    "second.ridge=0.1&second.per=D&samples=2",
    "form=areas&y=linear&ridge=0.1&second.members=inf",
    "form=areas&split=effects&ridge=0.1&along=samples&per=D&width=3",
    "width=300&samples=0.05&points=10",
    "scheme=subsample&members=10&second.scheme=ensemble",
    "scheme=bootstrap&along=members&points=40",
    "scheme=feature_bank&bank=3&form=areas&y=linear&per=D&along=samples&width=2",
    "along=time&width=1&ridge=0&second.members=inf",
    "time=10&members=3&along=ridge&second.time=inf",
    "along=time&scheme=divide&members=2&second.scheme=subsample",
    "time=3&scheme=feature_bank&members=3&points=20",
)


@patient
@given(views)
def test_the_table_holds_the_curves_to_the_last_bit(view: PageView) -> None:
    drawn = [curves(view, setting) for setting in view.settings]
    rows = list(csv.DictReader(io.StringIO(files.table(view, drawn))))
    assert len(rows) == sum(one.x.size for one in drawn)
    for place, (setting, one) in enumerate(zip(view.settings, drawn, strict=True)):
        own = [row for row in rows if row["setting"] == str(place + 1)]
        assert {row["kind"] for row in own} == {"theory"}
        assert [float(row[view.along]) for row in own] == one.x.tolist()
        for name, values in {"total": one.total, **one.parts}.items():
            assert [float(row[name]) for row in own] == values.tolist()
        assert {row.get("resampling", "") for row in own} == {""} or "resampling" in one.parts
        for field in setting.fields:
            if field.name != view.along:
                assert field.read(own[0][field.name]) == (getattr(setting, field.name), "")


def test_simulated_points_are_in_the_table() -> None:
    view = PageView()
    points = [Measured(name=name, at=[1.0], x=[1.0], value=[2.0 + k], standard_error=[0.5])
              for k, name in enumerate(("total", *CAUSES))]  # fmt: skip
    text = files.table(view, [curves(view, view.first)], [points])
    last = list(csv.DictReader(io.StringIO(text)))[-1]
    assert last["kind"] == "simulation"
    assert (last["width"], last["total"], last["noise"]) == ("1.0", "2.0", "3.0")
    assert last["standard_error_total"] == "0.5"


@pytest.fixture
def plt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    import_module("matplotlib").use("Agg")
    pyplot = import_module("matplotlib.pyplot")
    monkeypatch.setattr(pyplot, "show", lambda: None)  # it would warn that there is no screen
    yield pyplot
    pyplot.close("all")


def labelled(axes: Any) -> list[Any]:
    return [line for line in axes.get_lines() if not line.get_label().startswith("_")]


@pytest.mark.parametrize("query", QUERIES)
def test_the_lines_mark_the_threshold_as_the_page_does(query: str, plt: Any) -> None:
    view, _ = address.read(query)
    exec(compile(files.script(view), "remade", "exec"), {})
    for axes, setting in zip(plt.gcf().axes, view.settings, strict=True):
        dotted = [line for line in axes.get_lines() if line.get_linestyle() == ":"]
        expected = marks(view, setting)
        assert [line.get_xdata()[0] for line in dotted] == [place for place, _ in expected]
        assert [text.get_text().strip() for text in axes.texts] == [words for _, words in expected]


SMALL = "dim=10&draws=2&ridge=0.1"


@pytest.mark.full
@pytest.mark.parametrize(
    "query",
    [
        SMALL,
        f"{SMALL}&split=effects&second.nonlinear=0.5",
        f"{SMALL}&form=areas&y=linear&along=samples&per=D&width=0.5",
        f"{SMALL}&along=members&scheme=divide&samples=3",
        f"{SMALL}&along=ridge&width=inf&split=effects",
        f"{SMALL}&scheme=subsample&members=2&second.scheme=bootstrap",
        f"{SMALL}&scheme=feature_bank&along=ridge",
        f"{SMALL}&along=time&width=1&second.members=3",
        f"{SMALL}&time=5&along=samples&per=D&width=0.5",
    ],
)
def test_the_lines_simulate_the_points_again(query: str, plt: Any) -> None:
    view, notes = address.read(query)
    assert notes == ()
    hexadecimal = import_module("matplotlib.colors").to_hex
    jobs = Jobs()
    for job in jobs.start([request(view, setting) for setting in view.settings]):
        sink = io.StringIO()
        worker.main(io.StringIO(worker.text(job.request)), sink)
        jobs.cancel(job)  # what it finds is found here
        job.points[:] = [json.loads(line) for line in sink.getvalue().splitlines()[::4]]
    found = answer({"query": query}, jobs)
    jobs.close()
    exec(compile(files.script(found.view, found.measured), "remade", "exec"), {})
    for axes, measured in zip(plt.gcf().axes, found.measured, strict=True):
        remade = sorted(
            (float(x), float(y), (segment[1][1] - segment[0][1]) / 4)
            for bars in axes.containers
            for x, y, segment in zip(*bars[0].get_data(), bars[2][0].get_segments(), strict=True)
        )
        expected = sorted(
            (x, value, error)
            for points in measured
            for x, value, error in zip(points.x, points.value, points.standard_error, strict=True)
        )
        assert len(expected) >= 2 * len(measured)
        assert np.allclose(remade, expected, rtol=1e-9, atol=1e-12)
        colors = {hexadecimal(bars[0].get_color()) for bars in axes.containers}
        assert len(colors) == len(measured)
        assert colors <= {hexadecimal(line.get_color()) for line in labelled(axes)}


@pytest.mark.parametrize("query", QUERIES)
def test_the_lines_remake_the_plot(query: str, plt: Any) -> None:
    view, notes = address.read(query)
    assert notes == ()
    exec(compile(files.script(view), "remade", "exec"), {})
    made = plt.gcf().axes
    assert len(made) == len(view.settings)
    for axes, setting in zip(made, view.settings, strict=True):
        found = curves(view, setting)
        lines = {line.get_label(): line for line in labelled(axes)}
        names = ["total"] if view.form == "areas" else ["total", *found.parts]
        assert list(lines) == names
        for name, values in ({"total": found.total} | found.parts).items():
            if name in names:
                assert lines[name].get_xdata().tolist() == found.x.tolist()
                drawn = lines[name].get_ydata()
                assert drawn == pytest.approx(values, rel=1e-12)
                assert drawn.tolist() == values.tolist() or setting.scheme == "bootstrap"
        if view.form == "areas":
            assert [area.get_label() for area in axes.collections] == [*found.parts][::-1]
            for area, top in zip(axes.collections, _tops(found.parts), strict=True):
                heights = area.get_paths()[0].vertices[:, 1]
                assert set(top) <= set(heights)
        ends = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
        expected = [] if found.level is None else [found.level]
        assert [line.get_ydata()[0] for line in ends] == pytest.approx(expected)
        assert (axes.get_xscale(), axes.get_yscale()) == (view.x, view.y)
        assert axes.get_xlim() == pytest.approx(view.range())
        assert view.axis().label in axes.get_xlabel()


def _tops(parts: dict[str, Any]) -> list[list[float]]:
    """The upper ends of a stack, from its lowest part up, as Matplotlib adds them."""
    stack = np.cumsum([parts[name] for name in reversed(parts)], axis=0)
    return [row.tolist() for row in stack]


@patient
@given(views)
def test_the_lines_hold_nothing_but_numbers_and_names_of_ours(view: PageView) -> None:
    text = files.script(view)
    compile(text, "remade", "exec")
    words = set(re.findall(r'"([^"]*)"', text))
    words = {word for word in words if not re.fullmatch(r" P = [\d.e-]+ N", word)}  # of folds
    ours = {"causes", "effects", "log", "linear", "k", "total", "Test error"}
    ours |= {"grey", ":", "--", "-.", "top"}
    ours |= {" P = N", " P = N/K", " P = ηN", " P = (1 − 1/e) N"}
    ours |= {s.activation for s in view.settings}
    ours |= {*RESAMPLED_CAUSES, *EFFECTS}
    assert {word for word in words if word not in ours and view.axis().label not in word} == set()
    assert "import os" not in text


def test_text_that_was_typed_is_in_no_line() -> None:
    evil = "__import__('os').system('touch owned')"
    view, notes = address.read(f"ridge={evil}&activation={evil}&{evil}=1&scheme={evil}")
    assert notes
    assert "touch" not in files.script(view)
    assert "touch" not in files.table(view, [curves(view, view.first)])
