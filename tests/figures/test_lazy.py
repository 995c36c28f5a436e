"""The figure of networks: the stored experiment, and a small run in its place."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from doubletrouble.figures import lazy, reference
from doubletrouble.figures.lazy import Ensembles, agrees, lazy_data, plot, table

SMALL = {"source": "run", "widths": (2, 4), "n_members": 3, "n_train": 60, "max_steps": 20}


@pytest.fixture(scope="module")
def stored() -> dict[float, Ensembles]:
    panels = lazy_data(laziness=(1.0, 10.0, 100.0, math.inf))
    return {panel.laziness: panel for panel in panels}


@pytest.mark.parametrize("alpha", [10.0, 100.0])
def test_one_network_errs_most_near_interpolation(
    stored: dict[float, Ensembles], alpha: float
) -> None:
    panel = stored[alpha]
    wide = panel["width"] >= 16
    width, error = panel["width"][wide], panel["single_error"][wide]
    assert width[np.argmax(error)] == 32
    assert np.all(np.diff(error[width >= 32][:4]) < 0)
    assert panel.threshold is not None
    assert 16 < panel.threshold < 64


@pytest.mark.parametrize("alpha", [1.0, 10.0, 100.0])
def test_averaging_removes_the_peak(stored: dict[float, Ensembles], alpha: float) -> None:
    panel = stored[alpha]
    at = int(np.flatnonzero(panel["width"] == 32)[0])
    assert panel["ensemble_error"][at] < panel["single_error"][at] - 0.05
    wide = panel["width"] >= 32
    assert np.ptp(panel["ensemble_error"][wide]) < 0.03
    assert np.all(panel["ensemble_error"][wide] < panel["single_error"][wide])


def test_the_linearized_ensemble_is_flat(stored: dict[float, Ensembles]) -> None:
    panel = stored[math.inf]
    wide = panel["ensemble_error"][panel["width"] >= 64]
    assert len(wide) >= 4
    assert np.ptp(wide) < 0.005


def test_wide_networks_interpolate(stored: dict[float, Ensembles]) -> None:
    for panel in stored.values():
        wide = panel["width"] >= 128
        assert np.all(panel["train_error"][wide] == 0)
        assert np.all(panel["interpolating"][wide] == panel["n_members"][wide])


def test_no_network_is_missing_or_lost() -> None:
    with lazy.STORED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["n_members"] == "20" and row["diverged"] == "0" for row in rows)
    reasons = ("zero", "converged", "max_steps")
    assert all(sum(int(row[reason]) for reason in reasons) == 20 for row in rows)
    assert len({(row["laziness"], row["width"]) for row in rows}) == len(rows)


@pytest.mark.skipif(not reference.stored(lazy._FILE), reason="../shared/reference is absent")
def test_published_points_are_near(stored: dict[float, Ensembles]) -> None:
    for alpha in (10.0, 100.0):
        panel = stored[alpha]
        widths, places, theirs = lazy._authors(panel, "ensemble_K20_test_error")
        off = np.abs(panel["ensemble_error"][places] - theirs)
        assert [w for w, d in zip(widths, off, strict=True) if d > 0.02 and w > 4] == []
    words = " ".join(agrees(lazy_data()))
    assert "K = 20 within 0.02 at 9 of 10 widths" in words


def test_agreement_says_nothing_of_published_points_that_are_absent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    words = agrees(lazy_data())
    assert len(words) == 3
    assert "at most 100 000 steps" in words[0]
    assert not any("published" in word for word in words)


def test_a_run_of_ones_own(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    panels = lazy_data(**SMALL, store=store)  # type: ignore[arg-type]
    assert {panel.data for panel in panels} == {"digits, N = 60"}
    assert [panel.laziness for panel in panels] == [100.0, math.inf]
    assert [panel["width"].tolist() for panel in panels] == [[2, 4], [2, 4]]
    again = lazy_data(**SMALL, store=store)  # type: ignore[arg-type]
    assert table(again) == table(panels)


def test_a_run_takes_the_place_of_results_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lazy, "STORED", tmp_path / "none.csv")
    small = {**SMALL, "source": "stored"}
    assert [p.data for p in lazy_data(**small)] == ["digits, N = 60"] * 2  # type: ignore[arg-type]


def test_the_table_has_a_row_for_each_ensemble(stored: dict[float, Ensembles]) -> None:
    panels = tuple(stored.values())
    found = table(panels)
    assert len(found.rows) == sum(len(panel["width"]) for panel in panels)
    assert found.columns[:2] == ("laziness", "width")


def test_it_is_drawn_with_one_panel_or_several(stored: dict[float, Ensembles]) -> None:
    for panels in (tuple(stored.values()), (stored[math.inf],)):
        figure = plot(panels)
        assert len(figure.axes) == 2 * len(panels)
        drawn = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
        assert np.array_equal(drawn["$K=20$"], panels[0]["ensemble_error"])


def test_the_gallery_names_what_was_drawn_and_nothing_else() -> None:
    assert lazy.FIGURE.arguments == {"source": "stored"}
    assert "digits" not in lazy.FIGURE.source()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "web"}, "source must be one of stored, run, got 'web'"),
        ({"n_members": 5}, "n_members must be left out unless source is 'run', got 5"),
        ({"data": "mnist"}, "data must be left out unless source is 'run', got 'mnist'"),
        ({"laziness": [-1.0]}, "laziness must be in"),
        ({"laziness": [3.0]}, "laziness must be among the stored 1, 10, 100, inf, got 3"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lazy_data(**options)  # type: ignore[arg-type]
