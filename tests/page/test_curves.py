"""The numbers of the plot are those of the library, to the last bit."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.page import fields
from doubletrouble.page.curves import PARTS, Curves, curves
from doubletrouble.page.setting import Setting, View
from doubletrouble.parameters import FloatArray
from tests.page.views import near, patient, views


def by_hand(view: View, setting: Setting, x: FloatArray) -> Any:
    """The error along an axis, asked of the library without the page."""
    at: dict[str, Any] = {
        "width": setting.width, "samples": setting.samples, "ridge": setting.ridge,
        "members": setting.members, view.along: x,
    }  # fmt: skip
    problem = dt.Problem(
        features_per_dim=at["width"] * (at["samples"] if setting.per == "N" else 1.0),
        samples_per_dim=at["samples"],
        ridge=at["ridge"],
        noise=0.0 if math.isinf(setting.snr) else 1 / setting.snr,
        nonlinear_signal=setting.nonlinear,
        activation=setting.activation,
    )
    split = dt.anova if view.split == "effects" else dt.exact_error
    return split(problem, at["members"], setting.scheme)


def check(view: View, setting: Setting, found: Curves) -> None:
    exact = by_hand(view, setting, found.x)
    here = by_hand(view, setting, getattr(setting, view.along))
    assert tuple(found.parts) == PARTS[view.split]
    for name, values in {"total": found.total, **found.parts}.items():
        assert values.tolist() == np.broadcast_to(getattr(exact, name), found.x.shape).tolist()
        assert found.here[name] == getattr(here, name)
    assert found.mark == getattr(setting, view.along)


@pytest.mark.parametrize("split", fields.SPLIT.choices)
@pytest.mark.parametrize("scheme", fields.SCHEME.choices)
@pytest.mark.parametrize("per", fields.PER.choices)
@pytest.mark.parametrize("along", fields.ALONG.choices)
def test_the_curves_are_those_of_the_library(along: str, per: str, scheme: str, split: str) -> None:
    setting = Setting(per=per, width=1.7, samples=0.8, ridge=1e-3, snr=3.0, nonlinear=0.4,
                      members=3.0, scheme=scheme, activation="tanh")  # fmt: skip
    view = View(first=setting, along=along, split=split)
    check(view, setting, curves(view, setting))


@patient
@given(views)
def test_so_are_those_of_any_view(view: View) -> None:
    for setting in view.settings:
        check(view, setting, curves(view, setting))


@patient
@given(near, st.sampled_from([*fields.ALONG.choices]), st.sampled_from([*fields.SPLIT.choices]))
def test_the_parts_add_up_to_the_total(setting: Setting, along: str, split: str) -> None:
    found = curves(View(first=setting, along=along, split=split, points=41.0), setting)
    finite = np.isfinite(found.total)
    whole = sum(found.parts.values())
    assert isinstance(whole, np.ndarray)
    assert whole[finite] == pytest.approx(found.total[finite], rel=1e-12)
    assert np.all(found.total >= 0)


@patient
@given(near, st.sampled_from([*fields.ALONG.choices]))
def test_at_the_threshold_a_model_has_as_many_features_as_samples(
    setting: Setting, along: str
) -> None:
    for place in setting.thresholds(along):
        problem = setting.problem_along(along, place)
        members = place if along == "members" else setting.members
        parts = members if setting.scheme == "divide" else 1.0
        P, N = (np.asarray(v) for v in (problem.features_per_dim, problem.samples_per_dim))
        assert float(P) == pytest.approx(float(N) / parts)


def test_which_axes_have_a_threshold() -> None:
    one, divided = Setting(width=0.5), Setting(width=0.5, members=4.0, scheme="divide")
    assert one.thresholds("width") == [1.0]
    assert one.thresholds("ridge") == one.thresholds("samples") == one.thresholds("members") == []
    assert Setting(per="D", width=0.5).thresholds("samples") == [0.5]
    assert Setting(per="D", samples=3.0).thresholds("width") == [3.0]
    assert divided.thresholds("width") == [0.25]
    assert divided.thresholds("members") == [2.0]
    assert Setting(width=math.inf).thresholds("samples") == []
    assert Setting(members=math.inf, scheme="divide").thresholds("width") == []


@patient
@given(views)
def test_the_grid_is_in_order_and_within_the_axis(view: View) -> None:
    low, high = view.range()
    assert 0 < low < high < math.inf
    for setting in view.settings:
        x = view.grid(setting)
        assert np.all(np.diff(x) > 0)
        assert low * (1 - 1e-12) <= x[0] <= x[-1] <= high * (1 + 1e-12)
        assert 2 <= x.size <= 5000
        for place in setting.thresholds(view.along):
            if low <= place <= high and view.along != "members":
                assert place in x


def test_an_axis_goes_as_far_as_its_slider() -> None:
    low, high = fields.WIDTH["N"].spec.typical
    assert View(first=Setting(width=0.05)).range() == (0.05, high)
    assert View(first=Setting(width=500.0)).range() == (low, 500.0)
    assert View(first=Setting(width=math.inf)).range() == (low, high)
    assert View(second=Setting(width=300.0)).range() == (low, 300.0)


def test_many_models_are_told_where_k_is_on_the_axis() -> None:
    view = View(along="members")
    assert curves(view, view.first).many == dt.exact_error(view.first.problem, math.inf).total
    assert curves(View(), Setting()).many is None
