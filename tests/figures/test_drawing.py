"""Every figure is drawn once on small data: nothing clipped, nothing covered, all explained."""

import inspect
import re
from typing import Any

import numpy as np
import pytest

from doubletrouble.figures import FIGURES
from doubletrouble.figures.diagram import FIXED, TRAINED
from doubletrouble.figures.registry import ORDER
from doubletrouble.figures.rf_multiple import rf_multiple_data
from doubletrouble.figures.rf_single import rf_single_data
from doubletrouble.figures.spec import PRESETS

RATIOS = 10.0 ** np.linspace(-1, 2, 25)
SIMULATED = {"simulated_ratios": (0.5, 2.0, 3), "dim": 10, "n_data": 2, "n_init": 2}
SMALL: dict[str, dict[str, Any]] = {
    "term-by-term": {"ratios": RATIOS, **SIMULATED},
    "decomposition": {"ratios": RATIOS},
    "double-descent": {"ratios": RATIOS, **SIMULATED},
    "multiple-k-decomposition": {"ratios": RATIOS},
    "ensemble-vs-overparametrize": {"samples": RATIOS},
    "ensemble-vs-regularize": {"ratios": RATIOS, "ridges": 10.0 ** np.linspace(-5, 2, 15)},
    "divide-and-conquer": {"ratios": RATIOS},
    "under-or-over": {"ratios": RATIOS},
    "anova": {"ratios": RATIOS},
    "ensemble-or-regularize-map": {
        "ratio_range": (0.1, 100.0, 15), "snr_range": (0.3, 10.0, 11),
    },
    "bagging": {
        "ratios": RATIOS, "simulated_ratios": (0.5, 2.0, 2), "dim": 40, "n_data": 2,
    },
    "equivalences": {
        "ratio_range": (0.1, 10.0, 9), "ridge_range": (1e-3, 10.0, 9),
        "fraction_range": (0.1, 1.0, 7), "dim": 20, "n_data": 2,
    },
    "committee": {"snr_range": (0.5, 10.0, 5), "dim": 20, "n_data": 2},
    "training-time": {
        "time_range": (0.1, 1e4, 11), "ratio_range": (0.1, 10.0, 9),
        "simulated_times": (1.0, 10.0, 2), "dim": 10, "n_data": 2,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_clipped_or_covered(name: str) -> None:
    spec = FIGURES[name]
    data = spec.data(**SMALL.get(name, {}))
    figure = spec.plot(data)
    page = figure.bbox
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert box is not None
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
        assert axes.get_window_extent().width > 0.25 * page.width
        for legend in (*figure.legends, axes.get_legend()):
            if legend is not None:
                assert not legend.get_window_extent().overlaps(axes.get_window_extent())
    for legend in figure.legends:
        assert page.x0 <= legend.get_window_extent().x0
        assert legend.get_window_extent().x1 <= page.x1
    if axes.axison:
        assert axes.get_xlabel()
        assert figure.axes[0].get_ylabel()
    columns, rows = spec.table(data)
    assert rows
    assert {len(row) for row in rows} == {len(columns)}
    assert len(set(columns)) == len(columns)
    assert all(isinstance(text, str) for text in spec.agreement(data))


def test_figures_stand_in_the_papers_order() -> None:
    assert [name for name in ORDER if name in FIGURES] == list(FIGURES)
    assert set(ORDER) == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_explains_itself(name: str) -> None:
    spec = FIGURES[name]
    assert spec.name == name
    assert len(spec.caption) > 200
    assert len(spec.alt) > 100
    assert not re.search(r"\$|\\", spec.caption + spec.alt + spec.title)  # plain text
    parameters = inspect.signature(spec.data).parameters
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters.values())
    for preset in PRESETS:
        assert set(spec.with_preset(preset)) <= set(parameters)
    compile(spec.source(spec.with_preset("paper")), name, "exec")


def test_paper_preset_simulates_as_the_paper_did_at_least() -> None:
    for spec in FIGURES.values():
        arguments = spec.with_preset("paper")
        if "dim" in arguments:
            assert arguments["dim"] >= 200  # type: ignore[operator]
            assert arguments["n_data"] >= 10  # type: ignore[operator]


def test_simulated_points_have_bars() -> None:
    spec = FIGURES["double-descent"]
    axes = spec.plot(spec.data(**SMALL["double-descent"])).axes[0]
    assert len(axes.containers) == 4
    texts = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert texts == ["$K=1$", "$K=2$", "$K=10$", r"$K\to\infty$"]


def test_ticks_of_an_axis_are_all_powers_or_none() -> None:
    spec = FIGURES["ensemble-vs-regularize"]
    along, _, across = spec.plot(spec.data(**SMALL[spec.name])).axes
    low, high = along.get_xlim()
    shown = [t.get_text() for t in along.get_xticklabels() if low <= t.get_position()[0] <= high]
    assert shown == ["$10^{-4}$", "$10^{-2}$", "$10^{0}$", "$10^{2}$"]
    assert {"0.1", "1", "10", "100"} <= {text.get_text() for text in across.get_xticklabels()}


def test_rows_of_a_legend_are_read_from_left_to_right() -> None:
    spec = FIGURES["under-or-over"]
    legend = spec.plot(spec.data(**SMALL[spec.name])).axes[0].get_legend()
    assert legend is not None
    boxes = {text.get_text(): text.get_window_extent() for text in legend.get_texts()}
    rows = sorted(boxes, key=lambda text: (-round(boxes[text].y0), boxes[text].x0))
    assert rows == ["$1$", "$2$", "$10$", "$100$", r"$\infty$"]


def test_no_marker_stands_on_the_edge() -> None:
    spec = FIGURES["divide-and-conquer"]
    for axes in spec.plot(spec.data()).axes:
        low, high = axes.get_xlim()
        for line in axes.lines:
            marked: Any = line.get_markevery()
            if line.get_marker() != "None":
                assert all(low < x < high for x in np.asarray(line.get_xdata())[marked])


def test_diagrams_connect_all_neighbours() -> None:
    one = rf_single_data(inputs_shown=2, features_shown=3)
    assert sum(edge.weight == FIXED for edge in one.edges) == 3 * 4
    assert sum(edge.weight == TRAINED for edge in one.edges) == 4
    many = rf_multiple_data(models_shown=2, inputs_shown=2, features_per_model=3)
    assert sum(edge.weight == FIXED for edge in many.edges) == 3 * (3 * 3)
    assert sum(edge.weight == TRAINED for edge in many.edges) == 3 * 3
    places = [(node.x, node.y) for node in many.nodes]
    assert len(set(places)) == len(places)
    with pytest.raises(ValueError, match="units shown must be a whole number"):
        rf_single_data(inputs_shown=0)
