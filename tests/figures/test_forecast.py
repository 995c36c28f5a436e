"""The figure of forecasts on real data: stored values, the peak, and fitted models."""

import math

import numpy as np
import pytest

from doubletrouble.figures._forecast import (
    EXTRAPOLATED,
    FIGURE,
    HELD_OUT,
    ForecastPanel,
    comparisons,
    table,
)

ROWS = 100


@pytest.fixture(scope="module")
def panels() -> tuple[ForecastPanel, ...]:
    return FIGURE.compute(n_samples=ROWS, n_data=3, fitted_ratios=(0.2, 1.0, 5.0))


def test_forecasts_have_the_stored_values(panels: tuple[ForecastPanel, ...]) -> None:
    stored = {
        ("Diabetes", 1.0, 100): [0.69809, 3.398, 1.3993],
        ("Diabetes", math.inf, 100): [0.60379, 1.1234, 1.1978],
        ("Breast cancer", 1.0, 100): [0.27666, 1.6085, 0.27008],
        ("Breast cancer", math.inf, 100): [0.16563, 0.21397, 0.22011],
        ("Digits", 1.0, 100): [0.64112, 6.4837, 0.31553],
        ("Digits", math.inf, 100): [0.38756, 0.26009, 0.2604],
        ("Digits", 1.0, 200): [0.56634, 0.48758, 0.29134],
        ("Digits", math.inf, 200): [0.3748, 0.19061, 0.18481],
    }
    found = {
        (panel.name, curve.n_members, curve.n_samples): curve.forecast
        for panel in panels
        for curve in panel.curves
    }
    assert list(found) == list(stored)
    for key, values in stored.items():
        np.testing.assert_allclose(found[key], values, rtol=2e-3, err_msg=str(key))


def test_one_model_has_a_peak_at_as_many_features_as_rows(
    panels: tuple[ForecastPanel, ...],
) -> None:
    for panel in panels:
        one, many = panel.curves[:2]
        assert one.ratio[np.argmax(one.total)] == pytest.approx(1.0), panel.name
        assert abs(np.log(many.ratio[np.argmax(many.total)])) > 1, panel.name
        assert one.held_out[1] > 2.5 * max(one.held_out[0], one.held_out[2]), panel.name
    more = panels[-1].curves[2]  # twice the rows
    assert more.ratio[np.argmax(more.total)] == pytest.approx(2.0, rel=0.06)


def test_fitted_models_agree_with_the_forecast(panels: tuple[ForecastPanel, ...]) -> None:
    for one in comparisons(panels):
        assert one.largest < 5, one


def test_only_more_rows_are_extrapolated(panels: tuple[ForecastPanel, ...]) -> None:
    marks = {
        (panel.name, curve.n_samples): curve.extrapolated.astype(bool)
        for panel in panels
        for curve in panel.curves
    }
    more = marks.pop(("Digits", 2 * ROWS))
    assert not np.any([*marks.values()])
    ratio = panels[-1].curves[-1].ratio
    np.testing.assert_array_equal(more, ratio >= ratio[more][0])  # from some P on
    assert 0.5 < ratio[more][0] < 2


def test_table_and_legend_have_forecasts_and_fitted_models(
    panels: tuple[ForecastPanel, ...],
) -> None:
    columns, rows = table(panels)
    count = sum(len(curve.ratio) + 3 for panel in panels for curve in panel.curves)
    assert len(rows) == count
    assert {row[columns.index("n_members")] for row in rows} == {1.0, math.inf}
    texts = [text.get_text() for text in FIGURE.plot(panels).legends[0].get_texts()]
    assert {HELD_OUT, EXTRAPOLATED} <= set(texts)


def test_rows_must_leave_others_to_test_on() -> None:
    with pytest.raises(ValueError, match="n_samples must be at most 331 for Diabetes, got 400"):
        FIGURE.compute(n_samples=400)
