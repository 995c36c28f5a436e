"""The presets are the theory figures, with their constants."""

import math
from typing import Any

import numpy as np
import pytest

from doubletrouble.figures import FIGURES
from doubletrouble.page import address
from doubletrouble.page.curves import curves
from doubletrouble.page.frame import limits
from doubletrouble.page.plot import figure
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.screen import Screen
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.palette import LABELS

DRAWINGS = {"rf-single", "rf-multiple", "lazy", "committee"}  # no curves, or none of the page's
SCHEMES = {"divide-and-conquer": "divide", "bagging": "subsample"}
RIVALS = {1.0, math.inf}  # one model, or very many, stand beside any other number


def test_every_theory_figure_has_one() -> None:
    assert set(PRESETS) == set(FIGURES) - DRAWINGS


@pytest.mark.parametrize("name", PRESETS)
def test_its_address_is_valid_and_short(name: str) -> None:
    view, notes = address.read(PRESETS[name].query)
    assert notes == ()
    assert address.read(address.write(view)) == (view, ())
    assert 10 < len(PRESETS[name].title) < 70


def allowed(given: Any) -> set[float]:
    return {float(v) for v in given} if isinstance(given, tuple | list) else {float(given)}


def constants(name: str) -> dict[str, set[float]]:
    """What the figure's data function has for each field, by its defaults."""
    given = FIGURES[name].arguments
    found: dict[str, set[float]] = {}
    for field, keys in {
        "ridge": ("ridge", "ridges"), "samples": ("samples_per_dim",), "members": ("n_members",),
        "width": ("features_per_dim",), "snr": ("snrs",), "nonlinear": ("nonlinear_signal",),
    }.items():  # fmt: skip
        values = [allowed(given[key]) for key in keys if key in given]
        if values:
            found[field] = set().union(*values)
    if "noise" in given:
        found["snr"] = {float(str(given["signal"])) / float(str(given["noise"]))}
    found["members"] = found.get("members", set()) | RIVALS
    if "width" in found:  # one model as wide as all the others together
        found["width"] |= {2 * width for width in found["width"]}
    return found


@pytest.mark.parametrize("name", PRESETS)
def test_its_constants_are_those_of_the_figure(name: str) -> None:
    view, _ = address.read(PRESETS[name].query)
    expected = constants(name)
    for setting in view.settings:
        for field, values in expected.items():
            if field != view.along:
                assert getattr(setting, field) in values, field
        assert setting.activation == FIGURES[name].arguments["activation"]
        assert setting.scheme in ("ensemble", SCHEMES.get(name))


def test_the_decomposition_has_both_ridges_and_the_ensembles_both_sizes() -> None:
    view, _ = address.read(PRESETS["decomposition"].query)
    assert [s.ridge for s in view.settings] == list(FIGURES["decomposition"].arguments["ridges"])  # type: ignore[call-overload]
    view, _ = address.read(PRESETS["multiple-k-decomposition"].query)
    assert {s.members for s in view.settings} == {1.0, 10.0}
    view, _ = address.read(PRESETS["anova"].query)
    assert view == PageView(first=PageSetting(), split="effects")
    view, _ = address.read(PRESETS["bagging"].query)
    assert view.first.fraction in FIGURES["bagging"].arguments["fractions"]  # type: ignore[operator]
    view, _ = address.read(PRESETS["training-time"].query)
    assert view.along == "time"
    assert view.first.width in FIGURES["training-time"].arguments["cuts"]  # type: ignore[operator]


def peak(name: str, part: str, place: int = 0) -> float:
    """How much higher a part is at P = N than beside it."""
    view, _ = address.read(PRESETS[name].query)
    found = curves(view, view.settings[place])
    middle = np.argmin(np.abs(found.x - 1.0))
    return float(found.parts[part][middle] / found.parts[part][middle + 40])


def test_the_titles_are_true() -> None:
    for part in ("noise", "initialization"):
        assert peak("term-by-term", part) > 5
    for part in ("sampling", "bias"):
        assert peak("term-by-term", part) == pytest.approx(1, abs=0.2)

    view, _ = address.read(PRESETS["bagging"].query)
    half, whole = (curves(view, setting) for setting in view.settings)
    assert half.here["total"] < 0.9 * whole.here["total"]

    view, _ = address.read(PRESETS["training-time"].query)
    one, many = (curves(view, setting) for setting in view.settings)
    assert np.argmax(one.total) == one.x.size - 1
    assert one.total[-1] > 100 * one.total.min()
    assert many.total.max() <= 1.0

    view, _ = address.read(PRESETS["equivalences"].query)
    wide, narrow = (curves(view, setting) for setting in view.settings)
    assert narrow.x[np.argmin(narrow.total)] < wide.x[np.argmin(wide.total)]
    assert narrow.total.min() == pytest.approx(wide.total.min(), rel=1e-3)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("narrow", [False, True])
def test_every_name_in_the_legend_has_a_curve(name: str, narrow: bool) -> None:
    view, _ = address.read(PRESETS[name].query)
    drawn = [curves(view, setting) for setting in view.settings]
    made = figure(view, drawn, Screen(narrow=narrow), [()] * len(drawn))
    low, _ = limits(view, drawn)
    by_label = {LABELS[n]: n for n in LABELS}
    seen = {trace["name"] for trace in made["data"] if trace["showlegend"]}
    for label in seen & set(by_label):
        values = [
            one.total if by_label[label] == "total" else one.parts[by_label[label]]
            for one in drawn
            if by_label[label] in ("total", *one.parts)
        ]
        assert any(np.any(v >= low) for v in values), label
    missing = {LABELS[n] for one in drawn for n in one.parts} - seen
    for label in missing:
        assert all(np.all(one.parts[by_label[label]] < low) for one in drawn), label
