"""The figure about training time: what rises at P = N, when to stop, and that it never ends."""

import math
from dataclasses import replace

import numpy as np
import pytest

from doubletrouble.conventions import time_to
from doubletrouble.figures.time_map import TimeMap, label_places, second_descent, stops
from doubletrouble.figures.training_time import (
    EVERYONE,
    TrainingTime,
    agrees,
    split,
    table,
    training_time_data,
)
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory import gradient_flow, psi_terms


@pytest.fixture(scope="module")
def found() -> TrainingTime:
    return training_time_data(
        time_range=(0.1, 1e4, 51), ratio_range=(0.1, 10.0, 21), simulated_times=(1.0, 10.0, 2),
        dim=20, n_data=2,
    )  # fmt: skip


def test_the_rise_is_noise_and_initialization_and_nothing_else(found: TrainingTime) -> None:
    at_peak, beyond = found.cuts
    late = {line.label: float(line.y[-1]) for line in at_peak.lines}
    assert late == pytest.approx(
        {
            "total": 43.1471, "noise": 29.4882, "initialization": 13.3665, "sampling": 0.0877,
            "bias": 0.2046, EVERYONE: 0.7207,
        },
        abs=6e-5,
    )  # fmt: skip
    for panel in found.cuts:
        assert np.all(np.diff(panel.line("bias").y) < 1e-14)
        assert panel.line("sampling").y.max() < 0.1
    assert beyond.line("noise").y[-1] == pytest.approx(1.4385, abs=6e-5)
    assert beyond.line("initialization").y[-1] == pytest.approx(0.4479, abs=6e-5)


def test_at_the_threshold_it_rises_for_ever_as_the_square_root_of_time(
    found: TrainingTime,
) -> None:
    total = found.cuts[0].line("total")
    steps = np.diff(np.log(total.y)) / np.diff(np.log(total.x))
    assert steps[-1] == pytest.approx(0.5, abs=0.01)
    plateau = found.cuts[1].line("total")
    assert np.ptp(plateau.y[plateau.x > 1e3]) < 1e-3


@pytest.mark.parametrize(("snr", "larger"), [(1.0, "noise"), (2.0, "initialization")])
def test_which_of_the_two_is_larger_depends_on_the_noise(snr: float, larger: str) -> None:
    problem = Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0, noise=1 / snr)
    late = split(problem, np.array([1e6]))
    ratio = float(late["noise"][0] / late["initialization"][0])
    missed = 1 - float(psi_terms(problem).psi1)
    assert ratio == pytest.approx(1 / (snr**2 * missed), rel=0.01)
    assert (ratio > 1) == (larger == "noise")


def test_nothing_falls_again_once_it_has_risen(found: TrainingTime) -> None:
    for one in found.maps:
        assert second_descent(one) < 1e-9
    for bumpy, fall in (  # it would be seen, wherever the error is least
        ([1.0, 0.5, 2.0, 1.0, 3.0], 0.5),
        ([1.0, 0.9, 1.5, 0.5, 2.0], 2 / 3),
        ([1.0, 1.0 + 1e-12, 0.5, 0.3, 0.3], 0.0),
    ):
        assert second_descent(replace(found.maps[0], total=np.array([bumpy]))) == pytest.approx(
            fall
        )


def test_two_scales_have_a_second_descent(found: TrainingTime) -> None:
    """The caption speaks of isotropic data."""
    spectrum = SpectralProblem(
        eigenvalues=np.repeat([0.01, 0.0001], [100, 20]),
        target_powers=np.repeat([0.002, 0.04], [100, 20]),
        n_features=1000, n_samples=150, noise=0.3,
    )  # fmt: skip
    errors = np.asarray(gradient_flow(spectrum, np.geomspace(0.1, 1e4, 51)).total)
    assert second_descent(replace(found.maps[0], total=errors[None])) > 0.8


def test_one_model_stops_early_and_narrow_ensembles_never(found: TrainingTime) -> None:
    one, everyone = found.maps
    assert np.all(one.best < 1)
    narrow = everyone.ratios < 0.606
    assert np.all(np.isinf(everyone.best[narrow]))
    assert np.all(np.isfinite(everyone.best[~narrow]))
    assert everyone.best[everyone.ratios == 1.0] == pytest.approx(7.7758, abs=1e-3)
    clean = Problem(features_per_dim=[0.5, 2.0], ridge=0.0, noise=0.5)
    assert np.all(np.isinf(stops(clean, math.inf)))
    # what waiting costs infinitely many models
    excess = everyone.total[:, -1] / everyone.total.min(axis=1) - 1
    assert 0.165 < excess.max() < 0.18


def test_averaging_takes_the_rise_away_at_every_time(found: TrainingTime) -> None:
    one, everyone = found.maps
    assert np.all(everyone.total < one.total)
    assert everyone.total.max() < 1
    assert one.total.max() > 40


def test_lines_are_named_where_they_are(found: TrainingTime) -> None:
    for one in found.maps:
        places = label_places(one)
        assert len(places) >= 3
        for level, (time, ratio) in places:
            column = int(np.argmin(np.abs(one.times - time)))
            values = one.total[:, column]
            near = int(np.argmin(np.abs(np.log(one.ratios / ratio))))
            around = values[max(near - 1, 0) : near + 2]
            assert around.min() <= level <= around.max()
    assert label_places(TimeMap(**{**vars(found.maps[0]), "n_members": 3.0})) == []


def test_the_table_has_maps_and_cuts_and_the_text_the_clock(found: TrainingTime) -> None:
    columns, rows = table(found)
    assert {len(row) for row in rows} == {len(columns)}
    maps = [row for row in rows if not math.isnan(row[columns.index("map_Kinf")])]
    assert len(maps) == 51 * 21
    assert len(rows) == len(maps) + 2 * (51 + 2)
    assert time_to("mean", 1e4, n_samples=1.0, dim=1.0) == 5000
    assert any("steps × learning rate = 5000" in text for text in agrees(found))
