"""The figure of networks: the stored experiment, and a small run."""

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from doubletrouble.figures import _lazy as lazy
from doubletrouble.figures._lazy import FIGURE, NetworkPanel, comparisons, plot, table
from doubletrouble.networks._curve import WIDTHS

lazy_data = FIGURE.compute
SMALL = {"source": "run", "widths": (2, 4), "ensemble": 3, "n_samples": 60, "max_steps": 20}


@pytest.fixture(scope="module")
def stored() -> dict[float, NetworkPanel]:
    panels = lazy_data(laziness=(1.0, 10.0, 100.0, math.inf))
    return {panel.laziness: panel for panel in panels}


def test_error_of_one_network_has_a_peak_near_interpolation(
    stored: dict[float, NetworkPanel],
) -> None:
    for panel in (stored[10.0], stored[100.0]):
        width, error = panel["width"], panel["single_error"]
        beyond = width >= 8
        assert width[beyond][np.argmax(error[beyond])] == 32
        assert np.all(np.diff(error[width >= 32][:4]) < 0)
        assert panel.threshold is not None
        assert 16 < panel.threshold < 64


def test_averaging_removes_the_peak(stored: dict[float, NetworkPanel]) -> None:
    for panel in (stored[1.0], stored[10.0], stored[100.0]):
        at = int(np.flatnonzero(panel["width"] == 32)[0])
        assert panel["ensemble_error"][at] < panel["single_error"][at] - 0.05
        wide = panel["width"] >= 32
        assert np.ptp(panel["ensemble_error"][wide]) < 0.03
        assert np.all(panel["ensemble_error"][wide] < panel["single_error"][wide])


def test_linearized_ensemble_is_flat(stored: dict[float, NetworkPanel]) -> None:
    panel = stored[math.inf]
    wide = panel["ensemble_error"][panel["width"] >= 64]
    assert len(wide) == 6
    assert np.ptp(wide) < 0.005


def test_wide_networks_interpolate(stored: dict[float, NetworkPanel]) -> None:
    for panel in stored.values():
        wide = panel["width"] >= 128
        # zero loss in TF32 products is not quite zero error in float32
        coarse = math.isinf(panel.laziness) & (panel["width"] >= 1024)
        assert np.all(panel["train_error"][wide & ~coarse] == 0)
        assert np.all(panel["train_error"][coarse] < 0.0005)
        assert np.all(panel["interpolating"][wide] == panel["n_members"][wide])


def test_no_network_is_missing_or_diverged() -> None:
    with lazy.STORED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["n_members"] == "20" and row["diverged"] == "0" for row in rows)
    reasons = ("zero", "converged", "max_steps")
    assert all(sum(int(row[reason]) for reason in reasons) == 20 for row in rows)
    pairs = [(float(row["laziness"]), int(row["width"])) for row in rows]
    assert pairs == [(alpha, width) for alpha in (1, 10, 100, math.inf) for width in WIDTHS]


def test_published_points_are_near(stored: dict[float, NetworkPanel]) -> None:
    for alpha in (10.0, 100.0):
        panel = stored[alpha]
        indices, theirs = lazy._published(panel, "ensemble_K20_test_error")
        off = np.abs(panel["ensemble_error"][indices] - theirs)
        assert np.all(off[panel["width"][indices] > 4] <= 0.02)
    expected = [(10.0, 0.034, 2.6), (100.0, 0.048, 2.6)]
    for alpha, many, one in expected:
        ensemble, single = comparisons([stored[alpha]])
        assert (ensemble.count, single.count) == (11, 10)
        assert ensemble.largest == pytest.approx(many, abs=5e-4)
        assert single.largest == pytest.approx(one, abs=0.05)


def test_squared_loss_is_fitted_where_it_is_zero(tmp_path: Path) -> None:
    """Not where every sample is on its side, which is at a smaller width."""
    options: dict[str, Any] = {**SMALL, "widths": (4, 8, 12), "laziness": [math.inf]}
    (panel,) = lazy_data(**{**options, "n_samples": 100}, store=tmp_path / "store")
    assert panel["train_error"][1] == 0
    assert panel["train_loss"][1] > 1e-3
    assert panel["interpolating"].tolist() == [0, 0, 3]
    assert panel["train_loss"][2] < 1e-9
    assert panel.threshold == pytest.approx(math.sqrt(8 * 12))
    assert "train_loss" in table([panel]).columns
    label = plot([panel]).axes[1].get_legend_handles_labels()[1][0]
    assert label == "Half of the networks have zero loss"


def test_run_is_stored_and_read(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    panels = lazy_data(**SMALL, store=store)
    assert {panel.data for panel in panels} == {"digits, N = 60"}
    assert [panel.laziness for panel in panels] == [100.0, math.inf]
    assert [panel["width"].tolist() for panel in panels] == [[2, 4], [2, 4]]
    again = lazy_data(**SMALL, store=store)
    assert table(again) == table(panels)


def test_table_has_a_row_for_each_ensemble(stored: dict[float, NetworkPanel]) -> None:
    panels = tuple(stored.values())
    result = table(panels)
    assert len(result.rows) == sum(len(panel["width"]) for panel in panels)
    assert result.columns[:2] == ("laziness", "width")
    assert "train_loss" not in result.columns  # the stored results have none


def drawn(axes: Any) -> dict[str, Any]:
    """Curves and points with their bars, by their legend entry."""
    return {bars.get_label(): bars for bars in axes.containers}


def test_panels_have_curves_and_the_threshold_of_interpolation(
    stored: dict[float, NetworkPanel],
) -> None:
    for panels in ((stored[10.0], stored[100.0]), (stored[math.inf],)):
        figure = plot(panels)
        assert len(figure.axes) == 2 * len(panels)
        mean = drawn(figure.axes[0])["Mean of $K=20$"].lines[0]
        assert np.array_equal(mean.get_ydata(), panels[0]["ensemble_error"])
        train = figure.axes[len(panels)].get_legend_handles_labels()[1]
        assert "Half of the networks fit all samples" in train


def test_published_points_are_drawn_with_bars(
    stored: dict[float, NetworkPanel],
) -> None:
    (test, _) = plot([stored[10.0]]).axes
    one = drawn(test)["Published, $K=1$"]
    indices, values = lazy._published(stored[10.0], "K1_mean_test_error")
    widths = stored[10.0]["width"][indices]
    assert np.allclose(one.lines[0].get_xdata(), lazy._OFFSET * widths)
    assert np.array_equal(one.lines[0].get_ydata(), values)
    assert one.has_yerr
    assert not drawn(test)["Published, $K=20$"].has_yerr


def test_gallery_lists_only_the_parameters_in_use() -> None:
    assert lazy.FIGURE.arguments == {"source": "stored"}


def test_invalid_options_are_named() -> None:
    cases: list[tuple[str, Any]] = [
        ("source", "web"),
        ("ensemble", 5),
        ("data", "mnist"),
        *(("laziness", value) for value in ([-1.0], [], np.array([3.0, 4.0]), [3.0])),
    ]
    for name, value in cases:
        with pytest.raises(ValueError, match=f"{name} must"):
            lazy_data(**{name: value})
