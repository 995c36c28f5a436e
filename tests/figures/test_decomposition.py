"""The decomposition figure: the paper's claims, and the drawing."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from doubletrouble.ensembles import Divide, EnsembleLike
from doubletrouble.errors import require
from doubletrouble.figures._decomposition import CAUSES, FIGURE, decomposition_data, draw, plot
from doubletrouble.figures._drawing import PARTS
from doubletrouble.figures._panel import Panel, table
from doubletrouble.parameters import FloatArray

Panels = tuple[Panel, ...]


@pytest.fixture(scope="module")
def panels() -> Panels:
    return decomposition_data()


def values(panel: Panel, label: str, low: float = 0.0, high: float = math.inf) -> FloatArray:
    """The part of one line with low ≤ P/N ≤ high."""
    line = panel.line(label)
    part: FloatArray = line.y[(line.x >= low) & (line.x <= high)]
    return part


def test_grid_has_the_range_of_the_paper_and_the_threshold(panels: Panels) -> None:
    assert [panel.constant("ridge") for panel in panels] == [1e-5, 1e-1]
    for panel in panels:
        assert panel.x[0] == pytest.approx(0.1)
        assert panel.x[-1] == pytest.approx(100.0)
        assert 1.0 in panel.x
        assert np.all(np.diff(panel.x) > 0)


@pytest.mark.parametrize("ensemble", [3, Divide(3)])
def test_parts_add_up(ensemble: EnsembleLike) -> None:
    for panel in decomposition_data(ensemble=ensemble):
        parts = sum(panel.line(cause).y for cause in CAUSES)
        np.testing.assert_allclose(parts, panel.line("total").y, rtol=1e-14)


@pytest.mark.parametrize("label", ["noise", "initialization", "total"])
def test_noise_and_initialization_make_the_peak(panels: Panels, label: str) -> None:
    line = panels[0].line(label)
    assert line.x[np.argmax(line.y)] == pytest.approx(1.0, abs=2e-3)
    assert np.all(np.diff(values(panels[0], label, low=1.01)) < 0)
    assert line.y.max() > 20 * line.y[0]


@pytest.mark.parametrize("label", ["sampling", "bias"])
def test_sampling_and_bias_have_a_kink_and_a_plateau(panels: Panels, label: str) -> None:
    plateau = values(panels[0], label, low=1.1)
    assert np.ptp(plateau) < 1e-3 * plateau.min()
    before, after = values(panels[0], label, 0.8, 0.95), values(panels[0], label, 1.05, 1.2)
    assert np.ptp(before) > 10 * np.ptp(after)  # the kink


def test_initialization_vanishes_and_noise_has_a_limit(panels: Panels) -> None:
    initialization = panels[0].line("initialization")
    beyond = initialization.x >= 1.5
    scaled = initialization.y[beyond] * (initialization.x[beyond] - 1)
    np.testing.assert_allclose(scaled, scaled[-1], rtol=2e-3)  # proportional to 1/(P/N - 1)
    (far,) = decomposition_data(ridges=[1e-5], ratios=[math.inf])
    assert far.line("initialization").y[0] == 0
    assert far.line("noise").y[0] > 0.4


def test_larger_penalty_smooths_peak_and_kink(panels: Panels) -> None:
    weak, strong = panels
    assert values(strong, "total").max() < values(weak, "total").max() / 50
    assert values(strong, "total").max() < 1.3 * strong.line("total").y[0]
    before, after = values(strong, "bias", 0.8, 0.95), values(strong, "bias", 1.05, 1.2)
    assert np.ptp(before) < 2 * np.ptp(after)


def test_table_holds_every_point_once(panels: Panels) -> None:
    columns, rows = table(panels)
    assert columns == ("ridge", "features_per_sample", *CAUSES, "total")
    assert len(rows) == len({row[:2] for row in rows}) == sum(len(p.x) for p in panels)
    assert rows[0][2:] == tuple(float(line.y[0]) for line in panels[0].lines)


@pytest.fixture(scope="module")
def figure(panels: Panels) -> Any:
    return plot(panels)


def test_axes_and_legend_are_labelled(figure: Any) -> None:
    left, right = figure.axes
    assert [axes.get_title(loc="right") for axes in figure.axes] == [
        r"$\lambda=10^{-5}$",
        r"$\lambda=10^{-1}$",
    ]
    assert left.get_ylim() == right.get_ylim()
    assert left.get_xlabel() == right.get_xlabel() == "Features per sample, $P/N$"
    assert left.get_ylabel() == "Test error"
    assert (left.get_xscale(), left.get_yscale()) == ("log", "log")
    assert "$P=N$" in [text.get_text() for text in left.texts]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "Total",
        "Noise",
        "Initialization",
        "Sampling",
        "Bias",
    ]
    assert legend.get_title().get_text() == r"$N/D=1$,$\quad$$\mathrm{SNR}=F/\tau=1$"
    ticks = [tick.get_text() for tick in left.get_xticklabels()]
    assert {"0.1", "1", "10", "100"} <= set(ticks)


def test_lines_differ_without_colour(figure: Any) -> None:
    lines = [line for line in figure.axes[0].lines if len(np.asarray(line.get_xdata())) > 2]
    assert len(lines) == 5
    assert len({(stroke.linestyle, stroke.width) for stroke in PARTS.values()}) == 5
    assert len({line.get_color() for line in lines}) == 5


def test_panel_is_drawn_on_the_given_axes(panels: Panels) -> None:
    figure = require("matplotlib.figure", "figures").Figure()
    mine, other = figure.subplots(2)
    draw(mine, panels[0])
    assert len(mine.lines) == 6  # five curves and the threshold
    assert len(other.lines) == 0


def test_infinite_and_absent_parts_are_drawn() -> None:
    figure = plot(FIGURE.compute(ridges=[0.0], noise=0.0, ensemble=10))
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert shown == ["Total", "Initialization", "Sampling", "Bias"]
    assert np.all(np.isfinite(figure.axes[0].get_ylim()))
    assert r"=\infty$" in figure.legends[0].get_title().get_text()
    assert "$K=10$" in figure.legends[0].get_title().get_text()


def test_invalid_arguments_are_named() -> None:
    cases: list[tuple[str, Any]] = [
        *(("ridges", value) for value in ([], 0.1, [-1.0])),
        *(("ratios", value) for value in ([[1.0]], [0.0])),
        ("ensemble", 0),
    ]
    for name, value in cases:
        with pytest.raises(ValueError, match=f"{name}? must be"):
            decomposition_data(**{name: value})


def test_data_needs_no_matplotlib() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
from doubletrouble.figures import FIGURES, decomposition_data
panels = decomposition_data(ratios=[1.0, 2.0])
try:
    FIGURES["decomposition"].plot(panels)
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "doubletrouble[figures]" in run.stdout
