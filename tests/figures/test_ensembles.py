"""The figures about terms and ensembles: their shapes in the paper."""

import math

import numpy as np
import pytest

from doubletrouble.figures import (
    _decomposition,
    _double_descent,
    _ensemble_vs_overparametrize,
    _ensemble_vs_regularize,
    _term_by_term,
)
from doubletrouble.figures._ensemble_vs_regularize import BEST, MANY, table
from doubletrouble.figures._panel import Line, Panel
from doubletrouble.figures._term_by_term import DIVERGING
from doubletrouble.parameters import FloatArray

double_descent_data = _double_descent.FIGURE.compute
ensemble_vs_overparametrize_data = _ensemble_vs_overparametrize.FIGURE.compute
ensemble_vs_regularize_data = _ensemble_vs_regularize.FIGURE.compute
multiple_k_decomposition_data = _decomposition.MULTIPLE_K.compute
term_by_term_data = _term_by_term.FIGURE.compute

SMALL = {"simulated_ratios": (0.5, 2.0, 3), "dim": 40, "n_data": 4, "n_init": 2}


def part(line: Line, low: float = 0.0, high: float = math.inf) -> FloatArray:
    """The values of a line with low ≤ x ≤ high."""
    values: FloatArray = line.y[(line.x >= low) & (line.x <= high)]
    return values


@pytest.fixture(scope="module")
def terms() -> Panel:
    return term_by_term_data(**SMALL)


@pytest.fixture(scope="module")
def ensembles() -> Panel:
    return double_descent_data(**SMALL)


@pytest.mark.parametrize("term", DIVERGING)
def test_terms_of_one_learner_diverge_at_the_threshold(terms: Panel, term: str) -> None:
    line = terms.line(term)
    assert line.x[np.argmax(line.y)] == pytest.approx(1.0, abs=2e-3)
    assert line.y.max() > 30
    assert np.all(np.diff(part(line, low=1.01)) < 0)


@pytest.mark.parametrize("term", ["psi1", "psi2_ensemble", "psi3_ensemble", "psi2_divide"])
def test_terms_of_two_learners_have_a_kink_and_a_plateau(terms: Panel, term: str) -> None:
    line = terms.line(term)
    assert np.all(np.diff(part(line, high=0.95)) > 0)
    plateau = part(line, low=1.2)
    assert np.ptp(plateau) < 1e-3 * plateau.min()


def test_limits_of_the_seventh_term(terms: Panel) -> None:
    same_features = terms.line("psi2_features")
    np.testing.assert_allclose(
        part(same_features, high=0.9), part(terms.line("psi1"), high=0.9), rtol=1e-3
    )
    assert same_features.y[-1] == pytest.approx(terms.line("psi2_divide").y[-1], rel=1e-2)


def test_simulated_points_are_near_their_lines(terms: Panel, ensembles: Panel) -> None:
    for panel in (terms, ensembles):
        for points in panel.points:
            outside = points.x != 1.0
            np.testing.assert_allclose(points.value[outside], points.theory[outside], rtol=0.2)


def test_more_members_reduce_the_error_and_the_peak(ensembles: Panel) -> None:
    assert [line.label for line in ensembles.lines] == [
        "one_model",
        "2_models",
        "10_models",
        "infinitely_many_models",
    ]
    for one, more in zip(ensembles.lines, ensembles.lines[1:], strict=False):
        assert np.all(more.y < one.y)
    peaks = {line.label: float(part(line, 1.0, 1.0)[0]) for line in ensembles.lines}
    excess = [
        peaks[k] - peaks["infinitely_many_models"] for k in ("one_model", "2_models", "10_models")
    ]
    assert excess[0] / excess[1] == pytest.approx(2)
    assert excess[0] / excess[2] == pytest.approx(10)


def test_infinitely_many_have_no_peak_and_are_a_kernel_beyond(ensembles: Panel) -> None:
    line = ensembles.line("infinitely_many_models")
    assert np.all(np.diff(part(line, high=0.98)) < 0)
    plateau = part(line, low=1.2)
    assert np.ptp(plateau) < 1e-3 * plateau.min()
    for label in ("one_model", "2_models", "10_models"):
        assert ensembles.line(label).y[-1] == pytest.approx(line.y[-1], rel=0.02)


def test_ensembling_divides_two_parts_and_not_the_others() -> None:
    one, ten = multiple_k_decomposition_data()
    np.testing.assert_allclose(
        one.line("initialization").y, 10 * ten.line("initialization").y, rtol=1e-12
    )
    for cause in ("sampling", "bias"):
        np.testing.assert_array_equal(one.line(cause).y, ten.line(cause).y)
    assert one.line("noise").y.max() / ten.line("noise").y.max() == pytest.approx(10, rel=0.06)


def test_each_model_peaks_where_samples_equal_its_features() -> None:
    for panel in ensemble_vs_overparametrize_data():
        width = panel.constant("features_per_dim")
        for label, peak in (("single", width), ("ensemble", width), ("wider", 2 * width)):
            line = panel.line(label)
            around = (line.x > 0.8 * peak) & (line.x < 1.25 * peak)
            position = line.x[around][np.argmax(line.y[around])]
            assert position == pytest.approx(peak, rel=0.03), (width, label)


def test_wide_model_is_worse_only_around_its_own_peak() -> None:
    small, large = ensemble_vs_overparametrize_data()
    for panel in (small, large):
        width, wide, two = (
            panel.constant("features_per_dim"),
            panel.line("wider"),
            panel.line("ensemble"),
        )
        assert np.all(part(wide, high=0.9 * width) < part(two, high=0.9 * width))
        assert np.all(part(wide, 1.9 * width, 2.1 * width) > part(two, 1.9 * width, 2.1 * width))
        assert wide.y[-1] < two.y[-1] < panel.line("single").y[-1]
    gaps = [p.line("ensemble").y[-1] - p.line("wider").y[-1] for p in (small, large)]
    assert gaps[1] < gaps[0] / 10  # the more features, the less the choice matters


def test_nonlinear_teacher_increases_the_error() -> None:
    plain = ensemble_vs_overparametrize_data(samples_per_dim=[1.0, 10.0])
    bent = ensemble_vs_overparametrize_data(samples_per_dim=[1.0, 10.0], nonlinear_signal=0.1)
    for p, q in zip(plain, bent, strict=True):
        for a, b in zip(p.lines, q.lines, strict=True):
            assert np.all(b.y > a.y)


def test_best_penalty_decreases_with_the_number_of_members() -> None:
    for panel in ensemble_vs_regularize_data(ratios=[1.0]).along:
        best = [line.x[np.argmin(line.y)] for line in panel.lines]
        assert best == sorted(best, reverse=True)
        assert best[0] > 10 * best[2]
        assert best[-1] == panel.lines[-1].x[0]  # infinitely many need none


def test_many_models_are_better_than_the_best_penalty_at_the_papers_noise() -> None:
    data = ensemble_vs_regularize_data(ridges=[0.1])
    best, many = data.optimal.line(BEST), data.optimal.line(MANY)
    assert np.all(many.y < best.y)
    assert np.all(np.diff(best.y) < 0)  # no peak
    assert np.all(np.diff(data.best_ridge) <= 0)
    assert np.all(data.best_ridge[best.x <= 1] > 0.1)


def test_many_models_are_worse_than_the_best_penalty_for_noisy_labels() -> None:
    data = ensemble_vs_regularize_data(ridges=[0.1], ratios=[10.0], noise=1.0)
    assert data.optimal.line(BEST).y[0] == pytest.approx(0.6661, abs=1e-4)
    assert data.optimal.line(MANY).y[0] == pytest.approx(0.7270, abs=1e-4)


def test_table_of_the_comparison_holds_both_axes() -> None:
    data = ensemble_vs_regularize_data(ridges=[0.1, 1.0], ratios=[1.0, 2.0, 3.0])
    columns, rows = table(data)
    assert len(rows) == 2 * 2 + 3
    assert {len(row) for row in rows} == {len(columns)}
    assert rows[-1][-2:] == (data.optimal.line(BEST).y[-1], data.optimal.line(MANY).y[-1])
