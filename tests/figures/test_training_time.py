"""The figure on training time: growth at P = N, best stopping times, maps."""

import math
from dataclasses import replace

import numpy as np
import pytest

from doubletrouble.figures import _training_time
from doubletrouble.figures._training_time import (
    MANY,
    TimeMap,
    TrainingTime,
    label_positions,
    second_descent,
    split,
    stops,
    table,
)
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.theory import gradient_flow, psi_terms

training_time_data = _training_time.FIGURE.compute


@pytest.fixture(scope="module")
def data() -> TrainingTime:
    return training_time_data(
        time_range=(0.1, 1e4, 51),
        ratio_range=(0.1, 10.0, 21),
        simulated_times=(1.0, 10.0, 2),
        dim=20,
        n_data=2,
    )


def test_only_noise_and_initialization_increase(data: TrainingTime) -> None:
    at_peak, beyond = data.cuts
    late = {line.label: float(line.y[-1]) for line in at_peak.lines}
    assert late == pytest.approx(
        {
            "total": 43.1471,
            "noise": 29.4882,
            "initialization": 13.3665,
            "sampling": 0.0877,
            "bias": 0.2046,
            MANY: 0.7207,
        },
        abs=6e-5,
    )
    for panel in data.cuts:
        assert np.all(np.diff(panel.line("bias").y) < 1e-14)
        assert panel.line("sampling").y.max() < 0.1
    assert beyond.line("noise").y[-1] == pytest.approx(1.4385, abs=6e-5)
    assert beyond.line("initialization").y[-1] == pytest.approx(0.4479, abs=6e-5)


def test_error_at_the_threshold_grows_as_the_square_root_of_time(data: TrainingTime) -> None:
    total = data.cuts[0].line("total")
    steps = np.diff(np.log(total.y)) / np.diff(np.log(total.x))
    assert steps[-1] == pytest.approx(0.5, abs=0.01)
    plateau = data.cuts[1].line("total")
    assert np.ptp(plateau.y[plateau.x > 1e3]) < 1e-3


@pytest.mark.parametrize(("snr", "larger"), [(1.0, "noise"), (2.0, "initialization")])
def test_ratio_of_noise_and_initialization(snr: float, larger: str) -> None:
    problem = Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0, noise=1 / snr)
    late = split(problem, np.array([1e6]))
    ratio = float(late["noise"][0] / late["initialization"][0])
    missed = 1 - float(psi_terms(problem).psi1)
    assert ratio == pytest.approx(1 / (snr**2 * missed), rel=0.01)
    assert (ratio > 1) == (larger == "noise")


def test_isotropic_data_have_no_second_descent(data: TrainingTime) -> None:
    for one in data.maps:
        assert second_descent(one).max() < 1e-9
    for bumpy, fall in (  # a second descent would be detected
        ([1.0, 0.5, 2.0, 1.0, 3.0], 0.5),
        ([1.0, 0.9, 1.5, 0.5, 2.0], 2 / 3),
        ([1.0, 1.0 + 1e-12, 0.5, 0.3, 0.3], 0.0),
    ):
        assert second_descent(replace(data.maps[0], total=np.array([bumpy]))) == pytest.approx(
            [fall]
        )


def test_two_scales_have_a_second_descent(data: TrainingTime) -> None:
    """The caption is about isotropic data."""
    spectrum = SpectralProblem(
        eigenvalues=np.repeat([0.01, 0.0001], [100, 20]),
        target_powers=np.repeat([0.002, 0.04], [100, 20]),
        n_features=1000,
        n_samples=150,
        noise=0.3,
    )
    errors = np.asarray(gradient_flow(spectrum, np.geomspace(0.1, 1e4, 51)).total)
    assert second_descent(replace(data.maps[0], total=errors[None]))[0] > 0.8


def test_only_ensembles_of_wide_models_gain_from_stopping(data: TrainingTime) -> None:
    one, many = data.maps
    assert np.all(one.best < 1)
    narrow = many.ratios < 0.606
    assert np.all(np.isinf(many.best[narrow]))
    assert np.all(np.isfinite(many.best[~narrow]))
    assert many.best[many.ratios == 1.0] == pytest.approx(7.7758, abs=1e-3)
    clean = Problem(features_per_dim=[0.5, 2.0], ridge=0.0, noise=0.5)
    assert np.all(np.isinf(stops(clean, math.inf)))
    # the increase after the best time
    excess = many.total[:, -1] / many.total.min(axis=1) - 1
    assert 0.165 < excess.max() < 0.18


def test_averaging_lowers_the_error_at_every_time(data: TrainingTime) -> None:
    one, many = data.maps
    assert np.all(many.total < one.total)
    assert many.total.max() < 1
    assert one.total.max() > 40


def test_contour_labels_are_on_their_contours(data: TrainingTime) -> None:
    for one in data.maps:
        positions = [(level, x, y) for level, x, y in label_positions(one) if y is not None]
        assert len(positions) >= 3
        for level, time, ratio in positions:
            column = int(np.argmin(np.abs(one.times - time)))
            values = one.total[:, column]
            near = int(np.argmin(np.abs(np.log(one.ratios / ratio))))
            around = values[max(near - 1, 0) : near + 2]
            assert around.min() <= level <= around.max()
    assert label_positions(TimeMap(**{**vars(data.maps[0]), "n_members": 3.0})) == []


def test_table_has_maps_and_cuts(data: TrainingTime) -> None:
    columns, rows = table(data)
    assert {len(row) for row in rows} == {len(columns)}
    maps = [row for row in rows if not math.isnan(row[columns.index("map_infinitely_many_models")])]
    assert len(maps) == 51 * 21
    assert len(rows) == len(maps) + 2 * (51 + 2)
