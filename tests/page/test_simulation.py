"""Simulations of a view: what is asked, what is refused, and what a worker finds."""

import io
import json
import math
from dataclasses import replace

import pytest
from hypothesis import given

import doubletrouble as dt
from doubletrouble.page import fields, worker
from doubletrouble.page.setting import Setting, View
from doubletrouble.page.simulation import N_INIT, N_POINTS, request, sizes
from tests.page.views import patient, views

SMALL = View(dim=10.0, draws=2.0)


@pytest.mark.parametrize("along", fields.ALONG.choices)
def test_the_points_are_along_the_axis(along: str) -> None:
    view = replace(SMALL, along=along)
    asked = request(view, view.first)
    low, high = view.range()
    assert (asked.dim, asked.draws) == (10, 2)
    assert 5 <= len(asked.places) <= N_POINTS + 1  # and the peak
    assert list(asked.places) == sorted(asked.places)
    assert low * (1 - 1e-9) <= asked.places[0]
    assert asked.places[-1] <= high * (1 + 1e-9)


@patient
@given(views)
def test_any_view_is_asked_for_or_refused_with_a_sentence(view: View) -> None:
    for setting in view.settings:
        asked, said = None, "D must be …, got …"
        try:
            asked = request(view, setting)
        except ValueError as error:
            said = str(error)
        assert " must " in said
        assert "got" in said
        for x in asked.places if asked else ():
            P, N = sizes(setting, view.along, x, asked.dim if asked else 0)
            assert 1 <= N <= 4000
            assert 1 <= P <= 4000 or math.isinf(P)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (View(dim=400.0, draws=200.0, first=Setting(samples=5.0)), "must take at most"),
        (View(dim=400.0, first=Setting(samples=1000.0)), "at most 4000"),
        (View(first=Setting(per="D", width=1e5), along="ridge"), "at most 4000"),
    ],
)
def test_too_much_is_refused(view: View, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        request(view, view.first)


def test_the_place_of_the_slider_makes_no_other_simulation() -> None:
    one, other = (replace(SMALL, first=Setting(width=width)) for width in (0.5, 3.0))
    assert request(one, one.first).signature == request(other, other.first).signature
    third = replace(SMALL, first=Setting(ridge=0.5))
    assert request(one, one.first).signature != request(third, third.first).signature


def worked(view: View) -> list[dict[str, object]]:
    sink = io.StringIO()
    worker.main(io.StringIO(worker.text(request(view, view.first))), sink)
    return [
        json.loads(line, parse_constant=lambda name: pytest.fail(name))
        for line in sink.getvalue().splitlines()
    ]


@pytest.mark.parametrize(
    ("along", "setting"),
    [
        ("width", Setting(ridge=0.1, members=2.0, snr=2.0)),
        ("samples", Setting(per="D", width=1.0, ridge=0.01)),
        ("ridge", Setting(members=2.0, scheme="divide", activation="tanh")),
        ("members", Setting(ridge=0.5, nonlinear=0.3)),
        ("ridge", Setting(width=math.inf)),
        ("width", Setting(members=math.inf)),
    ],
)
def test_a_worker_finds_what_the_library_does(along: str, setting: Setting) -> None:
    view = replace(SMALL, along=along, first=setting)
    found = worked(view)
    places = request(view, setting).places
    assert len(found) == len(places)
    for point, x in [*zip(found, places, strict=True)][::3]:
        members = x if along == "members" else setting.members
        run = dt.simulate(
            setting.problem_along(along, x), dim=10, n_data=2, n_init=N_INIT, n_members=members,
            schemes=setting.scheme, progress=False,
            model="kernel" if math.isinf(setting.width) else "features",
        )  # fmt: skip
        expected = run.error(members, setting.scheme)
        parts = point["parts"]
        assert isinstance(parts, dict)
        for name in ("total", "noise", "initialization", "sampling", "bias"):
            estimate = getattr(expected, name)
            assert parts[name] == [estimate.value, estimate.standard_error]
        P, N = float(run.problem.features_per_dim), float(run.problem.samples_per_dim)  # type: ignore[arg-type]
        at = {"width": P / N if setting.per == "N" else P, "samples": N}.get(along, x)
        assert point["x"] == at


@pytest.mark.statistical
def test_the_points_lie_on_the_curve() -> None:
    view = View(dim=60.0, draws=6.0, along="ridge")
    for point in worked(view):
        parts = point["parts"]
        assert isinstance(parts, dict)
        assert isinstance(point["x"], float)
        value, error = parts["total"]
        exact = dt.exact_error(view.first.problem_along("ridge", point["x"])).total
        assert abs(value - exact) < 5 * error + 0.05 * exact  # D is finite
