"""Every figure, drawn once on small data: its layout, legends, markers, table and texts."""

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from doubletrouble.errors import require
from doubletrouble.figures import FIGURES, PRESETS
from doubletrouble.figures._drawing import SIMULATION
from doubletrouble.figures._network_diagrams import FIXED, MULTIPLE, SINGLE, TRAINED
from doubletrouble.figures._settings import STORE

pytestmark = pytest.mark.xdist_group("drawing")
RATIOS = 10.0 ** np.linspace(-1, 2, 25)
SIMULATED = {"simulated_ratios": (0.5, 2.0, 3), "dim": 10, "n_data": 2, "n_init": 2}
SMALL: dict[str, dict[str, Any]] = {
    "term-by-term": {"ratios": RATIOS, **SIMULATED},
    "decomposition": {"ratios": RATIOS},
    "double-descent": {"ratios": RATIOS, **SIMULATED},
    "multiple-k-decomposition": {"ratios": RATIOS},
    "ensemble-vs-overparametrize": {"samples_per_dim": RATIOS},
    "ensemble-vs-regularize": {"ratios": RATIOS, "ridges": 10.0 ** np.linspace(-5, 2, 15)},
    "divide-and-conquer": {"ratios": RATIOS},
    "under-or-over": {"ratios": RATIOS},
    "anova": {"ratios": RATIOS},
    "ensemble-or-regularize-map": {"ratio_range": (0.1, 100.0, 15), "snr_range": (0.3, 10.0, 11)},
    "bagging": {"ratios": RATIOS, "simulated_ratios": (0.5, 2.0, 2), "dim": 40, "n_data": 2},
    "equivalences": {
        "ratio_range": (0.1, 10.0, 9),
        "ridge_range": (1e-3, 10.0, 9),
        "fraction_range": (0.1, 1.0, 7),
        "dim": 20,
        "n_data": 2,
    },
    "committee": {"snr_range": (0.5, 10.0, 5), "dim": 20, "n_data": 2},
    "training-time": {
        "time_range": (0.1, 1e4, 11),
        "ratio_range": (0.1, 10.0, 9),
        "simulated_times": (1.0, 10.0, 2),
        "dim": 10,
        "n_data": 2,
    },
    "forecast": {"n_samples": 60, "n_data": 2, "fitted_ratios": (0.5, 1.0)},
    "classification": {"ratio_range": (0.1, 10.0, 15), **SIMULATED},
    "classification-causes": {"ratio_range": (0.1, 10.0, 15)},
    "losses-ensemble-or-regularize": {
        "losses": ["squared", "hinge"],
        "ratio_range": (0.1, 50.0, 9),
        "flip_range": (0.0, 0.4, 5),
    },
    "hinge-ensemble": {
        "losses": ["squared", "hinge"],
        "features_per_dim_range": (0.25, 32.0, 8),
        "n_members": [1, 4, 16],
    },
    "huber": {"ratio_range": (0.1, 10.0, 15)},
    "calibration": {"ridge_range": (1e-3, 1.0, 9)},
    "power-law-peak": {"ratio_range": (0.1, 100.0, 13)},
    "scaling-laws": {"size_range": (1e2, 1e12, 9)},
    "phases": {"size_range": (1e2, 1e12, 11)},
    "no-free-lunch": {
        "best_range": (0.1, 100.0, 4),
        "total_range": (0.1, 100.0, 11),
        "n_spectra": 2,
    },
    "frontier": {"compute_range": (1e12, 1e24, 4)},
}


@cache
def drawn(name: str) -> tuple[Any, Any]:
    """The data and the drawing of a figure."""
    data = FIGURES[name].compute(**SMALL.get(name, {}))
    return data, FIGURES[name].plot(data)


def every_figure() -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Every figure by name."""
    return ((name, drawn(name)) for name in FIGURES)


def legends(figure: Any) -> list[Any]:
    """All legends of a figure and its axes."""
    own = [axes.get_legend() for axes in figure.axes]
    return [*figure.legends, *(legend for legend in own if legend is not None)]


def texts(figure: Any) -> list[str]:
    """The entries of all legends."""
    return [text.get_text() for legend in legends(figure) for text in legend.get_texts()]


def test_axes_and_legends_are_within_the_page() -> None:
    for name, (_, figure) in every_figure():
        page = figure.bbox
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert page.x0 <= box.x0 < box.x1 <= page.x1, name
            assert page.y0 <= box.y0 < box.y1 <= page.y1, name
            assert axes.get_window_extent().width > 0.25 * page.width, name
        for legend in legends(figure):
            assert page.x0 <= legend.get_window_extent().x0, name
            assert legend.get_window_extent().x1 <= page.x1, name
        if figure.axes[-1].axison:
            assert figure.axes[-1].get_xlabel(), name
            assert figure.axes[0].get_ylabel(), name


def test_legends_cover_no_curve_and_no_other_panel() -> None:
    for name, (_, figure) in every_figure():
        boxes = [(legend, legend.get_window_extent()) for legend in legends(figure)]
        for axes in figure.axes:
            extent, inside = axes.get_window_extent(), axes.get_legend()
            paths = [
                line.get_transform().transform(line.get_path().interpolated(20).vertices)
                for line in axes.lines
                if len(np.asarray(line.get_xdata())) > 2
            ]
            for box in (box for legend, box in boxes if box.overlaps(extent)):
                assert inside is not None, name
                assert not any(np.any(box.count_contains(path)) for path in paths), name
            assert not [1 for legend, box in boxes if legend is not inside and box.overlaps(extent)]


def test_markers_are_data_and_are_named_in_the_legend() -> None:
    for name, (data, figure) in every_figure():
        columns = FIGURES[name].table(data).columns
        simulated = any(column.startswith("simulated") for column in columns)
        assert (SIMULATION in texts(figure)) == simulated, name
        for axes in figure.axes:
            bars = [c.lines[0] for c in axes.containers if hasattr(c, "lines")]
            for line in axes.lines:
                marked = line.get_marker() not in ("", "None", "_")  # ends of bars
                if marked and line not in bars and len(np.asarray(line.get_xdata())):
                    assert line.get_markevery() == [], name  # in the legend only


def test_tables_have_every_number() -> None:
    for name, (data, _) in every_figure():
        columns, rows = FIGURES[name].table(data)
        assert {len(row) for row in rows} == {len(columns)}, name
        assert len(set(columns)) == len(columns), name
        for one in FIGURES[name].agreement(data):
            assert np.isfinite(one.largest), (name, one)
            assert str(one).startswith(one.reference), (name, one)


@pytest.mark.parametrize(
    "name",
    [
        "training-time",
        "ensemble-or-regularize-map",
        "equivalences",
        "losses-ensemble-or-regularize",
        "no-free-lunch",
    ],
)
def test_contours_are_named_in_the_legend(name: str) -> None:
    assert any(text.startswith("Contours: ") for text in texts(drawn(name)[1]))


def test_figures_have_the_numbers_of_the_paper_in_order() -> None:
    numbers = [spec.number for spec in FIGURES.values()]
    assert numbers == [*range(1, 13), *[None] * 19]
    assert FIGURES["lazy"].source == "Figure 9 of d’Ascoli et al. (2020)"
    assert FIGURES["anova"].source == "Beyond d’Ascoli et al. (2020)"


def test_every_figure_has_texts_and_every_parameter_a_meaning() -> None:
    for name, spec in FIGURES.items():
        assert spec.name == name
        assert len(spec.caption) > 200, name
        assert len(spec.alt) > 100, name
        assert not re.search(r"\$|\\", spec.caption + spec.alt + spec.title), name  # plain text
        for field in fields(spec.settings):
            assert field.name == STORE or field.metadata["symbol"], (name, field.name)
            assert field.name == STORE or field.metadata["meaning"], (name, field.name)
        assert set(spec.presets) <= set(PRESETS), name


def test_paper_preset_is_at_least_as_large_as_in_the_paper() -> None:
    for spec in FIGURES.values():
        arguments = {**spec.arguments, **spec.presets.get("paper", {})}
        if "dim" in arguments:
            assert arguments["dim"] >= 200  # type: ignore[operator]
            assert arguments["n_data"] >= 10  # type: ignore[operator]


def test_simulated_points_have_bars() -> None:
    _, figure = drawn("double-descent")
    assert len(figure.axes[0].containers) == 4
    assert texts(figure) == ["$K=1$", "$K=2$", "$K=10$", r"$K\to\infty$", SIMULATION]


def test_ticks_of_an_axis_are_all_powers_or_none() -> None:
    along, _, across = drawn("ensemble-vs-regularize")[1].axes
    low, high = along.get_xlim()
    shown = [t.get_text() for t in along.get_xticklabels() if low <= t.get_position()[0] <= high]
    exponents = [float(text.removeprefix("$10^{").removesuffix("}$")) for text in shown]
    assert len(exponents) == 4
    assert set(np.diff(exponents)) == {2}
    assert {"0.1", "1", "10", "100"} <= {text.get_text() for text in across.get_xticklabels()}


def test_rows_of_a_legend_are_read_from_left_to_right() -> None:
    legend = drawn("under-or-over")[1].axes[0].get_legend()
    boxes = {text.get_text(): text.get_window_extent() for text in legend.get_texts()}
    rows = sorted(boxes, key=lambda text: (-round(boxes[text].y0, -1), boxes[text].x0))
    assert rows == ["$1$", "$2$", "$10$", "$100$", r"$\infty$"]


def test_labels_of_minima_do_not_overlap() -> None:
    axes = drawn("under-or-over")[1].axes[0]
    labels = [t for t in axes.texts if re.fullmatch(r"0\.\d\d", t.get_text())]
    extent = require("matplotlib.text", "figures").Text.get_window_extent  # without the arrow
    boxes = [extent(label) for label in labels]
    assert len(boxes) == 2
    assert not boxes[0].overlaps(boxes[1])


@pytest.mark.parametrize("name", ["under-or-over", "term-by-term", "committee"])
def test_headings_of_panels_are_level(name: str) -> None:
    axes = drawn(name)[1].axes
    assert len({round(each.get_window_extent().y1) for each in axes}) == 1


def test_diagrams_connect_all_neighbours() -> None:
    one = SINGLE.compute(inputs_shown=2, features_shown=3)
    assert sum(edge.weight == FIXED for edge in one.edges) == 3 * 4
    assert sum(edge.weight == TRAINED for edge in one.edges) == 4
    many = MULTIPLE.compute(models_shown=2, inputs_shown=2, features_per_model=3)
    assert sum(edge.weight == FIXED for edge in many.edges) == 3 * (3 * 3)
    assert sum(edge.weight == TRAINED for edge in many.edges) == 3 * 3
    positions = [(node.x, node.y) for node in many.nodes]
    assert len(set(positions)) == len(positions)
    with pytest.raises(ValueError, match="units shown must be a whole number"):
        SINGLE.compute(inputs_shown=0)
