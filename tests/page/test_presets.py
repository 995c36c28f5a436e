"""The presets are the theory figures, with their constants."""

import math
from typing import Any

import pytest

from doubletrouble.figures.registry import FIGURES
from doubletrouble.page import address
from doubletrouble.page.presets import PRESETS
from doubletrouble.page.setting import Setting, View

DRAWINGS = {"rf-single", "rf-multiple", "lazy"}  # no curves, or no theory
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
        assert setting.scheme == "ensemble" or name == "divide-and-conquer"


def test_the_decomposition_has_both_ridges_and_the_ensembles_both_sizes() -> None:
    view, _ = address.read(PRESETS["decomposition"].query)
    assert [s.ridge for s in view.settings] == list(FIGURES["decomposition"].arguments["ridges"])  # type: ignore[call-overload]
    view, _ = address.read(PRESETS["multiple-k-decomposition"].query)
    assert {s.members for s in view.settings} == {1.0, 10.0}
    view, _ = address.read(PRESETS["anova"].query)
    assert view == View(first=Setting(), split="effects")
