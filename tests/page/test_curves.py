"""The numbers of the plot are those of the library, to the last bit."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble.ensembles import named_ensemble
from doubletrouble.page import fields
from doubletrouble.page.curves import Curves, curves
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.parameters import FloatArray
from tests.page.views import near, patient, views


def by_hand(view: PageView, setting: PageSetting, x: FloatArray) -> Any:
    """The error along an axis, asked of the library without the page."""
    at: dict[str, Any] = {
        "width": setting.width, "samples": setting.samples, "ridge": setting.ridge,
        "members": setting.members, "time": setting.time, view.along: x,
    }  # fmt: skip
    problem = dt.Problem(
        features_per_dim=at["width"] * (at["samples"] if setting.per == "N" else 1.0),
        samples_per_dim=at["samples"],
        ridge=at["ridge"],
        noise=0.0 if math.isinf(setting.snr) else 1 / setting.snr,
        nonlinear_signal=setting.nonlinear,
        activation=setting.activation,
    )
    drawn: dict[str, Any] = {}
    if setting.scheme == "subsample":
        drawn = {"fraction": setting.fraction}
    elif setting.scheme == "feature_bank":
        drawn = {"bank_per_dim": setting.bank * np.asarray(problem.features_per_dim)}
    ensemble = named_ensemble(setting.scheme, at["members"], **drawn)
    if view.along == "time" or not math.isinf(setting.time):
        return dt.gradient_flow(problem, at["time"], ensemble)
    if view.split == "effects":
        return dt.anova(problem, ensemble)
    return dt.exact_error(problem, ensemble)


def check(view: PageView, setting: PageSetting, found: Curves) -> None:
    exact = by_hand(view, setting, found.x)
    here = by_hand(view, setting, getattr(setting, view.along))
    resampling = {"resampling"} if setting.is_resampled else set()
    assert set(found.parts) == {*exact.parts, *resampling} - {"bayes"}
    at_once = view.along == "time" or setting.time < math.inf or setting.scheme == "bootstrap"
    for name, values in {"total": found.total, **found.parts}.items():
        expected = np.broadcast_to(getattr(exact, name), found.x.shape)
        if at_once:  # their last bits depend on what else is asked for
            assert values == pytest.approx(expected, rel=1e-9, abs=1e-15)
            assert found.here[name] == pytest.approx(getattr(here, name), rel=1e-9, abs=1e-15)
        else:
            assert values.tolist() == expected.tolist()
            assert found.here[name] == getattr(here, name)
    assert found.mark == getattr(setting, view.along)


@pytest.mark.full
@pytest.mark.parametrize("split", fields.SPLIT.choices)
@pytest.mark.parametrize("scheme", fields.SCHEME.choices)
@pytest.mark.parametrize("per", fields.PER.choices)
@pytest.mark.parametrize("along", fields.ALONG.choices)
def test_the_curves_are_those_of_the_library(along: str, per: str, scheme: str, split: str) -> None:
    setting = PageSetting(per=per, width=1.7, samples=0.8, ridge=1e-3, snr=3.0, nonlinear=0.4,
                      members=3.0, scheme=scheme, activation="tanh")  # fmt: skip
    view = PageView(first=setting, along=along, split=split)
    setting = view.first
    check(view, setting, curves(view, setting))


@patient
@given(views)
def test_so_are_those_of_any_view(view: PageView) -> None:
    for setting in view.settings:
        check(view, setting, curves(view, setting))


@patient
@given(near, st.sampled_from([*fields.ALONG.choices]), st.sampled_from([*fields.SPLIT.choices]))
def test_the_parts_add_up_to_the_total(setting: PageSetting, along: str, split: str) -> None:
    view = PageView(first=setting, along=along, split=split, points=41.0)
    found = curves(view, view.first)
    finite = np.isfinite(found.total)
    whole = sum(found.parts.values())
    assert isinstance(whole, np.ndarray)
    assert whole[finite] == pytest.approx(found.total[finite], rel=1e-12)
    assert np.all(found.total >= 0)


@patient
@given(near, st.sampled_from([*fields.ALONG.choices]))
def test_at_the_threshold_a_model_has_as_many_features_as_samples(
    setting: PageSetting, along: str
) -> None:
    for place in setting.thresholds(along):
        problem = setting.problem_along(along, place)
        K = place if along == "members" else max(setting.members, setting.members_range[0])
        share = {
            "divide": 1 / K,
            "folds": (K - 1) / K,
            "subsample": setting.fraction,
            "bootstrap": 1 - math.exp(-1),
        }
        P, N = (np.asarray(v) for v in (problem.features_per_dim, problem.samples_per_dim))
        assert float(P) == pytest.approx(float(N) * share.get(setting.scheme, 1.0))


def test_which_axes_have_a_threshold() -> None:
    one, divided = PageSetting(width=0.5), PageSetting(width=0.5, members=4.0, scheme="divide")
    assert one.thresholds("width") == [1.0]
    assert one.thresholds("ridge") == one.thresholds("samples") == one.thresholds("members") == []
    assert PageSetting(per="D", width=0.5).thresholds("samples") == [0.5]
    assert PageSetting(per="D", samples=3.0).thresholds("width") == [3.0]
    assert divided.thresholds("width") == [0.25]
    assert divided.thresholds("members") == [2.0]
    assert PageSetting(width=math.inf).thresholds("samples") == []
    assert PageSetting(members=math.inf, scheme="divide").thresholds("width") == []
    assert PageSetting(scheme="subsample", fraction=0.3).thresholds("width") == [0.3]
    assert PageSetting(scheme="bootstrap").thresholds("width") == [pytest.approx(1 - math.exp(-1))]
    assert PageSetting(scheme="feature_bank").thresholds("width") == [1.0]
    bag = PageSetting(scheme="subsample", fraction=0.25, per="D", width=0.5)
    assert bag.thresholds("samples") == [2.0]
    assert one.thresholds("time") == bag.thresholds("members") == []


@pytest.mark.parametrize(
    "setting",
    [PageSetting(scheme="subsample", fraction=0.3), PageSetting(scheme="bootstrap"),
     PageSetting(scheme="feature_bank"), PageSetting(members=3.0, scheme="divide")],
)  # fmt: skip
def test_without_ridge_the_error_is_infinite_at_the_threshold(setting: PageSetting) -> None:
    view = PageView(first=setting.changed({"ridge": 0.0}))
    found = curves(view, view.first)
    (place,) = view.first.thresholds("width")
    assert math.isinf(found.total[found.x == place][0])


def test_what_does_not_go_together_is_put_right() -> None:
    assert PageSetting(scheme="bootstrap", time=3.0).time == math.inf
    assert PageSetting(scheme="subsample", time=3.0).time == 3.0
    assert PageSetting(time=3.0).time == 3.0
    assert PageView(first=PageSetting(scheme="divide"), along="time").along == "time"
    assert PageView(first=PageSetting(scheme="bootstrap"), along="time").along == "width"
    assert PageView(second=PageSetting(scheme="bootstrap"), along="time").along == "width"
    for first in (PageSetting(scheme="subsample"), PageSetting(time=3.0)):
        assert PageView(first=first, split="effects").split == "causes"
        assert PageView(second=first, split="effects").split == "causes"
    assert PageView(along="time", split="effects").split == "causes"
    assert PageView(first=PageSetting(scheme="divide"), split="effects").split == "effects"


@patient
@given(views)
def test_the_grid_is_in_order_and_within_the_axis(view: PageView) -> None:
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
    assert PageView(first=PageSetting(width=0.05)).range() == (0.05, high)
    assert PageView(first=PageSetting(width=500.0)).range() == (low, 500.0)
    assert PageView(first=PageSetting(width=math.inf)).range() == (low, high)
    assert PageView(second=PageSetting(width=300.0)).range() == (low, 300.0)


def test_many_models_are_told_where_k_is_on_the_axis() -> None:
    view = PageView(along="members")
    assert curves(view, view.first).level == dt.exact_error(view.first.problem, math.inf).total
    assert curves(PageView(), PageSetting()).level is None


def test_the_end_of_training_is_told_where_time_is_on_the_axis() -> None:
    view = PageView(first=PageSetting(members=3.0, time=5.0), along="time")
    found = curves(view, view.first)
    end, here = (dt.gradient_flow(view.first.problem, t, 3).total for t in (math.inf, 5.0))
    assert found.level == pytest.approx(end, rel=1e-12)
    assert end == pytest.approx(dt.exact_error(view.first.problem, 3).total, rel=1e-12)
    assert found.here["total"] == pytest.approx(here, rel=1e-12)
