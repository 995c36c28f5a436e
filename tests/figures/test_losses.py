"""The figures of any convex loss: stored values, thresholds, borders and outliers."""

from typing import Any

import numpy as np
import pytest

from doubletrouble.convex import threshold_ratio
from doubletrouble.figures import (
    _calibration,
    _classification,
    _hinge_ensemble,
    _huber,
    _losses_ensemble_or_regularize,
    _separability,
)
from doubletrouble.figures._panel import Panel

SMALL: dict[str, Any] = {"simulated_ratios": (0.5, 2.0, 2), "dim": 20, "n_data": 6}
STORED = 1e-5  # relative


@pytest.fixture(scope="module")
def classes() -> Panel:
    return _classification.FIGURE.compute(**SMALL)


def test_peak_of_margin_losses_is_at_separability_and_that_of_the_square_loss_at_interpolation(
    classes: Panel,
) -> None:
    assert threshold_ratio(classes.problem) == pytest.approx(0.384217, rel=1e-5)
    stored = {"squared": (1.0, 0.4276), "hinge": (0.41, 0.3776), "logistic": (0.41, 0.3719)}
    for name, (place, height) in stored.items():
        one, many = (
            classes.line(f"{name}_one_model"),
            classes.line(f"{name}_infinitely_many_models"),
        )
        near = (one.x > 0.8 * place) & (one.x < 1.25 * place)
        assert one.x[near][np.argmax(one.y[near])] == pytest.approx(place, rel=0.05), name
        assert one.y[near].max() == pytest.approx(height, rel=2e-3), name
        rising = np.diff(many.y)
        assert rising.max() < 2e-4, name  # no peak
    assert np.all(
        classes.line("hinge_infinitely_many_models").y < classes.line("hinge_one_model").y
    )


def test_simulated_classifiers_agree(classes: Panel) -> None:
    for one in _classification.comparisons(classes):
        assert one.largest < 5, one


def test_causes_of_misclassification_have_the_stored_values() -> None:
    one, ten = _classification.CAUSES_FIGURE.compute(ratio_range=(0.5, 0.5, 1))
    stored = {
        "noise": (0.0451653, 0.0636327),
        "initialization": (0.1606675, 0.0423308),
        "sampling": (0.1870355, 0.1870355),
        "bias": (0.0, 0.0),
        "total": (0.3928683, 0.2929989),
    }
    for name, values in stored.items():
        found = [float(panel.line(name).y[0]) for panel in (one, ten)]
        assert found == pytest.approx(values, rel=STORED, abs=1e-12), name


def test_marked_thresholds_are_on_the_curves_and_have_the_stored_values() -> None:
    data = _separability.FIGURE.compute()
    assert data.marked == pytest.approx((0.384217, 0.426729, 0.342330, 0.399080), rel=1e-5)
    for line, ratio in zip(data.curves, data.marked, strict=True):
        assert np.interp(2.0, line.x, line.y) == pytest.approx(ratio, rel=1e-3)
    assert data.samples_per_feature[-1] == pytest.approx(2.0)  # half of the labels flipped
    assert np.all(np.diff(data.samples_per_feature, axis=0) < 0)
    columns, rows = _separability.table(data)
    assert len(rows) == 4 * (len(data.features_per_dim) + 1) + data.samples_per_feature.size
    assert {len(row) for row in rows} == {len(columns)}


def test_penalty_wins_only_for_wide_models_and_noisy_labels() -> None:
    maps = _losses_ensemble_or_regularize.FIGURE.compute(
        ratio_range=(0.5, 20.0, 2), flip_range=(0.0, 0.3, 2)
    )
    stored = {
        "squared": [[-0.417755, -0.032491], [-0.114479, 0.034807]],
        "hinge": [[-0.437085, -0.046064], [-0.115063, 0.032667]],
        "logistic": [[-0.425316, -0.034874], [-0.112092, 0.026917]],
    }
    for data in maps:
        found = stored[str(data.problem.loss)]
        np.testing.assert_allclose(data.excess, found, atol=5e-6, err_msg=str(data.problem.loss))


def test_only_averaged_support_vector_machines_are_better_than_their_kernel_limit() -> None:
    many, difference = _hinge_ensemble.FIGURE.compute(
        features_per_dim_range=(2.0, 2.0, 1), n_members=[4, 64]
    )
    stored = {
        "squared": (0.304679, 0.304679, 1.0795e-3, 1.206e-4),
        "hinge": (0.302868, 0.304760, 3.642e-4, -1.6412e-3),
        "logistic": (0.305023, 0.305021, 9.758e-4, 1.054e-4),
    }
    for name, (ensemble, kernel, few, most) in stored.items():
        lines = [many.line(name), many.line(name + _hinge_ensemble.KERNEL), difference.line(name)]
        found = [lines[0].y[0], lines[1].y[0], *lines[2].y]
        assert found == pytest.approx([ensemble, kernel, few, most], abs=2e-6), name


def test_robust_losses_have_less_noise_below_interpolation_only() -> None:
    noise, total = _huber.FIGURE.compute(ratio_range=(0.25, 5.0, 2))
    stored = {
        "squared": (0.5773816, 1.4758257),
        "huber": (0.1827709, 1.0878988),
        "absolute": (0.2892441, 1.2125328),
    }
    for name, values in stored.items():
        found = [float(panel.line(name).y[0]) for panel in (noise, total)]
        assert found == pytest.approx(values, rel=STORED), name
    assert noise.line("huber").y[1] == pytest.approx(noise.line("squared").y[1], rel=1e-6)
    two, _ = _huber.FIGURE.compute(ratio_range=(1.0, 1.0, 1), losses=("huber:0.5", "huber:2"))
    assert [line.label for line in two.lines] == ["huber:0.5", "huber:2"]


def test_averaging_raises_the_calibration_slope_and_a_penalty_corrects_it() -> None:
    reliability, slopes = _calibration.FIGURE.compute(ridge_range=(1e-3, 0.1, 2))
    stored = {
        "one_model": (0.231245, 1.396493),
        "5_models": (0.325733, 1.818290),
        "infinitely_many_models": (0.362923, 1.967222),
    }
    for name, values in stored.items():
        assert slopes.line(name).y == pytest.approx(values, rel=STORED), name
        line = reliability.line(name)
        assert line.y + line.y[::-1] == pytest.approx(1.0)  # symmetric in the classes
        assert line.y[-1] < line.x[-1]  # overconfident
