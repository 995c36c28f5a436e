"""Simulations of a view: what is asked, what is refused, and what a worker finds."""

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

import doubletrouble as dt
from doubletrouble.page import fields, worker
from doubletrouble.page.curves import EFFECTS, curves
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.simulation import N_INIT, N_POINTS, request, sizes
from tests.page.views import patient, views

SMALL = PageView(dim=10.0, draws=2.0)


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
def test_any_view_is_asked_for_or_refused_with_a_sentence(view: PageView) -> None:
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
        (PageView(dim=400.0, draws=200.0, first=PageSetting(samples=5.0)), "must take at most"),
        (
            PageView(dim=400.0, draws=100.0),
            r"at most 1e\+12 operations on this page, got 1\.\d*[1-9]\d*e\+12",
        ),
        (
            PageView(dim=400.0, first=PageSetting(samples=1000.0)),
            r"N must be at most 4000 .* got 400000 at D = 400; no D up to 400 would do",
        ),
        (
            PageView(dim=400.0, first=PageSetting(samples=50.0)),
            r"N must be at most 4000 .* got 20000 at D = 400; D = 80 would do",
        ),
        (
            PageView(first=PageSetting(per="D", width=1e5), along="ridge"),
            r"P must be at most 4000 .* got 6000000 at D = 60; no D",
        ),
        (
            PageView(dim=20.0, draws=3.0, first=PageSetting(samples=0.001)),
            r"N must be at least 1 .* got 0 at D = 20; no D up to 400 would do",
        ),
        (
            PageView(dim=20.0, first=PageSetting(samples=0.01)),
            r"N must be at least 1 .* got 0 at D = 20; D = 60 would do",
        ),
        (
            PageView(first=PageSetting(members=100.0, scheme="divide"), along="ridge"),
            "a sample for each of K models, got D = 60; D = 100 would do",
        ),
        (
            PageView(first=PageSetting(width=math.inf, time=3.0), along="ridge"),
            "P/N must be finite",
        ),
        (PageView(first=PageSetting(width=math.inf), along="time"), "P/N must be finite"),
    ],
)
def test_too_much_is_refused(view: PageView, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        request(view, view.first)


def test_fewer_draws_that_are_named_are_enough() -> None:
    view = PageView(dim=400.0, draws=100.0)
    with pytest.raises(ValueError, match="at most") as refused:
        request(view, view.first)
    found = re.search(r"at most (\d+) draws", str(refused.value))
    assert found is not None
    request(replace(view, draws=float(found[1])), view.first)
    with pytest.raises(ValueError, match="at most"):
        request(replace(view, draws=float(found[1]) + 1), view.first)


def test_a_dimension_that_is_named_will_do() -> None:
    view = PageView(dim=20.0, first=PageSetting(samples=0.01))
    assert request(replace(view, dim=60.0), view.first).places


def test_the_place_of_the_slider_makes_no_other_simulation() -> None:
    one, other = (replace(SMALL, first=PageSetting(width=width)) for width in (0.5, 3.0))
    assert request(one, one.first).signature == request(other, other.first).signature
    third = replace(SMALL, first=PageSetting(ridge=0.5))
    assert request(one, one.first).signature != request(third, third.first).signature


def worked(view: PageView) -> list[dict[str, object]]:
    sink = io.StringIO()
    worker.main(io.StringIO(worker.text(request(view, view.first))), sink)
    return [
        json.loads(line, parse_constant=lambda name: pytest.fail(name))
        for line in sink.getvalue().splitlines()
    ]


@pytest.mark.parametrize(
    ("along", "setting"),
    [
        ("width", PageSetting(ridge=0.1, members=2.0, snr=2.0)),
        ("samples", PageSetting(per="D", width=1.0, ridge=0.01)),
        ("ridge", PageSetting(members=2.0, scheme="divide", activation="tanh")),
        ("members", PageSetting(ridge=0.5, nonlinear=0.3)),
        ("ridge", PageSetting(width=math.inf)),
        ("width", PageSetting(members=math.inf)),
        ("width", PageSetting(ridge=0.1, members=3.0, scheme="subsample", fraction=0.6)),
        ("ridge", PageSetting(width=0.4, members=2.0, scheme="bootstrap")),
        ("samples", PageSetting(ridge=0.1, members=2.0, scheme="feature_bank", bank=3.0)),
        ("members", PageSetting(ridge=0.1, scheme="feature_bank", bank=math.inf)),
        ("time", PageSetting(width=1.0, ridge=0.0, members=2.0)),
        ("width", PageSetting(time=5.0, ridge=0.01)),
        ("members", PageSetting(time=5.0)),
        ("time", PageSetting(width=1.0, ridge=0.0, members=2.0, scheme="divide")),
        ("width", PageSetting(time=5.0, members=2.0, scheme="subsample")),
        ("ridge", PageSetting(time=5.0, members=2.0, scheme="feature_bank")),
    ],
)
def test_a_worker_finds_what_the_library_does(along: str, setting: PageSetting) -> None:
    view = replace(SMALL, along=along, first=setting)
    found = worked(view)
    places = request(view, setting).places
    assert len(found) == len(places)
    for point, x in [*zip(found, places, strict=True)][::3]:
        problem = setting.problem_along(along, x)
        ensemble = setting.ensemble(problem, x if along == "members" else setting.members)
        run = dt.simulate(
            problem, dim=10, n_data=2, n_init=N_INIT, ensembles=[ensemble], progress=False,
            model="kernel" if math.isinf(setting.width) else "features",
            times=[x] if along == "time" else [setting.time] if setting.time < math.inf else None,
        )  # fmt: skip
        expected = run.error(ensemble)
        parts = point["causes"]
        assert isinstance(parts, dict)
        names = {"total", "noise", "initialization", "sampling", "bias"}
        assert names <= set(parts)
        assert ("resampling" in parts) == setting.is_resampled
        for name in parts:
            estimate = getattr(expected, name)
            assert parts[name] == [float(np.ravel(v)[0]) for v in (
                estimate.value, estimate.standard_error)]  # fmt: skip
        P, N = (float(np.ravel(v)[0]) for v in (
            run.problem.features_per_dim, run.problem.samples_per_dim))  # fmt: skip
        at = {"width": P / N if setting.per == "N" else P, "samples": N}.get(along, x)
        assert point["x"] == at


NAMES = {"total", *EFFECTS}


@pytest.mark.parametrize(
    "setting",
    [
        PageSetting(ridge=0.1, members=3.0, snr=2.0),
        PageSetting(ridge=0.1, members=2.0, scheme="divide"),
        PageSetting(ridge=0.1, nonlinear=0.5),
        PageSetting(ridge=0.1, members=math.inf),
    ],
)
def test_effects_are_those_of_the_same_draws(setting: PageSetting) -> None:
    for point in worked(replace(SMALL, along="ridge", first=setting)):
        causes, effects = point["causes"], point["effects"]
        assert isinstance(causes, dict)
        assert isinstance(effects, dict)
        assert set(effects) - {"bayes"} == NAMES
        for name in ("total", "sampling", "bias"):
            assert effects[name] == pytest.approx(causes[name], rel=1e-9)
        value = {name: found[0] for name, found in effects.items()}
        noise = value["noise_sampling"] + value["noise_initialization_sampling"]
        assert noise == pytest.approx(causes["noise"][0], rel=1e-9)
        both = value["initialization"] + value["initialization_sampling"]
        assert both == pytest.approx(causes["initialization"][0], rel=1e-9, abs=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize("nonlinear", [0.0, 0.5])
def test_effects_are_those_of_the_theory(nonlinear: float) -> None:
    setting = PageSetting(ridge=0.1, snr=1.0, members=2.0, nonlinear=nonlinear)
    view = PageView(dim=60.0, draws=8.0, along="ridge", first=setting)
    for point in worked(view):
        effects, x = point["effects"], point["x"]
        assert isinstance(effects, dict)
        assert isinstance(x, float)
        exact = dt.anova(setting.problem_along("ridge", x), 2)
        wrong = dt.anova(setting.problem_along("ridge", x), 1)
        for name, (value, error) in effects.items():
            expected = getattr(exact, name)
            assert abs(value - expected) < 5 * error + 0.05 * exact.total  # D is finite
        at = effects["noise_initialization_sampling"]
        apart = abs(at[0] - wrong.noise_initialization_sampling)
        assert apart > 5 * at[1] or wrong.noise_initialization_sampling < 0.05


@pytest.mark.statistical
def test_the_points_lie_on_the_curve() -> None:
    view = PageView(dim=60.0, draws=6.0, along="ridge")
    for point in worked(view):
        parts = point["causes"]
        assert isinstance(parts, dict)
        assert isinstance(point["x"], float)
        value, error = parts["total"]
        exact = dt.exact_error(view.first.problem_along("ridge", point["x"])).total
        assert abs(value - exact) < 5 * error + 0.05 * exact  # D is finite


@pytest.mark.full
@pytest.mark.statistical
@pytest.mark.parametrize(
    "setting",
    [
        PageSetting(ridge=0.1, members=5.0, scheme="subsample", fraction=0.5),
        PageSetting(ridge=0.1, members=5.0, scheme="bootstrap"),
        PageSetting(ridge=0.1, members=2.0, scheme="feature_bank", bank=2.0),
        PageSetting(width=1.0, ridge=0.0, members=2.0, time=10.0),
    ],
)
def test_so_do_those_of_members_that_draw_and_of_early_stops(setting: PageSetting) -> None:
    view = PageView(dim=60.0, draws=6.0, along="ridge", first=setting)
    if not setting.is_trained:
        view = replace(view, along="time")
    for point in worked(view)[::3]:
        parts, x = point["causes"], point["x"]
        assert isinstance(parts, dict)
        assert isinstance(x, float)
        here = curves(view, setting.changed({view.along: x})).here
        for name in here:
            value, error = parts[name]
            assert abs(value - here[name]) < 5 * error + 0.05 * here["total"]  # D is finite
