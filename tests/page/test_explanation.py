"""What is said of a setting, also where the advisor has no answer."""

import math

import pytest
from hypothesis import given

import doubletrouble as dt
from doubletrouble.advice import rounded
from doubletrouble.page import address, advisor
from doubletrouble.page.explanation import MEANINGS, UNADVISED, explanation, is_advised
from doubletrouble.page.readout import cautions, of_scheme, of_split
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.stops import Stops
from tests.page.views import patient, views


def told(query: str) -> str:
    view, notes = address.read(query)
    assert notes == ()
    return explanation(view, Stops())


def test_the_largest_part_is_named() -> None:
    error = dt.exact_error(PageSetting(members=3.0, ridge=0.1).problem, 3)
    largest = max(error.parts, key=lambda name: float(error.parts[name]))
    share = float(error.parts[largest]) / float(error.total)
    assert told("members=3&ridge=0.1") == (
        f"{100 * share:.0f} % of the error of {rounded(float(error.total))} is {largest}: "
        f"{MEANINGS[largest]}."
    )
    assert told("split=effects").startswith("By cause: ")


@pytest.mark.parametrize("scheme", ["subsample", "bootstrap", "feature_bank"])
def test_of_members_that_draw_the_largest_part_is_told_and_the_alternative(scheme: str) -> None:
    setting = PageSetting(members=4.0, scheme=scheme)
    error = dt.exact_error(setting.problem, setting.ensemble(setting.problem))
    whole = dt.exact_error(setting.problem, 4)
    words = told(f"members=4&scheme={scheme}")
    largest = max(("noise", "initialization", "sampling", "bias", "resampling"),
                  key=lambda name: float(getattr(error, name)))  # fmt: skip
    assert f"of the error of {rounded(float(error.total))} is {largest}: " in words
    assert words.endswith(f"it would be {rounded(float(whole.total))}.")


def test_resampling_can_be_the_largest() -> None:
    words = told("scheme=feature_bank&bank=100&snr=inf&width=1")
    assert f" is resampling: {MEANINGS['resampling']}." in words


def test_in_time_the_best_stop_is_told_and_the_end() -> None:
    best = dt.best_stopping_time(PageSetting(width=1.0).problem)
    words = told("width=1&time=100")
    assert words.startswith("At t = 100, ")
    end = float(dt.exact_error(PageSetting(width=1.0).problem).total)
    assert f"Trained to the end, it would be {rounded(end)}." in words
    stop = f"The best time to stop is t = {rounded(float(best.time))}, "
    assert f"{stop}with {rounded(float(best.error.total))}; the best ridge" in words
    assert told("width=1&along=time").startswith("At the end of training, ")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("width=1&ridge=0&along=time", "At the end of training, the error is infinite. The best"),
        (
            "scheme=subsample&fraction=0.5&width=0.5&ridge=0",
            "The error is infinite. With the model",
        ),
        ("along=time&ridge=10", "To train to the end is best"),
        ("along=time&snr=0.000001", "with 1"),
    ],
)
def test_of_ends_and_infinities(query: str, words: str) -> None:
    assert words in told(query)


@patient
@given(views)
def test_every_view_is_explained(view: PageView) -> None:
    words = explanation(view, Stops())
    assert words.endswith(".")
    assert "nan" not in words
    if not is_advised(view.first):
        assert advisor.panel(view).children == UNADVISED
    assert (of_split(view) == "") == view.has_effects
    timed = view.along == "time" or view.first.time < math.inf
    assert (of_scheme(view) != "") == timed


def test_areas_on_a_logarithmic_axis_are_warned_of() -> None:
    assert "not its share" in cautions(PageView(form="areas", y="log"))[0]
    assert cautions(PageView(form="areas", y="linear")) == cautions(PageView()) == []


def test_the_best_times_are_kept_for_some_settings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.page.stops._KEPT", 2)
    stops, settings = Stops(), [PageSetting(ridge=ridge) for ridge in (0.1, 0.2, 0.3)]
    for setting in settings:
        stops.best(setting)
    assert stops.known(settings[0]) is None
    assert stops.known(settings[2].changed({"time": 7.0})) is stops.known(settings[2])
