"""Results: parts, tables, frames, plots, and estimates with their draws."""

import math
import pickle
from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble._numbers import plain
from doubletrouble.results import AnovaTerms, PsiTerms
from doubletrouble.theory import effective_ridge, psi_terms

TERMS = dt.ErrorTerms(noise=1.0, initialization=0.5, sampling=0.25, bias=0.25, bayes=0.0)
SPLIT = AnovaTerms(
    bias=0.25,
    initialization=0.125,
    sampling=0.25,
    initialization_sampling=0.375,
    noise_sampling=0.5,
    noise_initialization_sampling=0.5,
    bayes=0.0,
)
CURVE = dt.exact_error(dt.Problem(features_per_dim=np.geomspace(0.1, 10, 30)), 10)


ERROR_TERMS: Any = dt.ErrorTerms

# --- errors by cause -----------------------------------------------------------------------------


def test_parts_are_the_documented_ones() -> None:
    assert dt.ErrorTerms.names() == (
        "noise",
        "initialization",
        "sampling",
        "bias",
        "bayes",
        "resampling",
    )
    assert AnovaTerms.names() == (
        "bias",
        "initialization",
        "sampling",
        "initialization_sampling",
        "noise_sampling",
        "noise_initialization_sampling",
        "bayes",
        "resampling",
    )
    assert [*PsiTerms.symbols()] == [
        "psi1",
        "psi2_vanilla",
        "psi3_vanilla",
        "psi2_ensemble",
        "psi3_ensemble",
        "psi2_divide",
        "psi2_features",
    ]


def test_total_is_the_sum_of_all_parts() -> None:
    for terms in (TERMS, SPLIT):
        assert terms.total == sum(terms.parts.values()) == 2.0
        assert type(terms.total) is float


def test_resampling_is_a_part_where_members_resample() -> None:
    assert "resampling" not in TERMS.parts
    assert "resampling" not in TERMS.parts
    bag = dt.exact_error(dt.Problem(), dt.Subsample(3, fraction=0.5))
    assert bag.parts["resampling"] == bag.resampling > 0


def test_total_of_arrays_has_their_shape() -> None:
    ones = np.ones((2, 3))
    terms: Any = dt.ErrorTerms(
        noise=ones, initialization=ones, sampling=0.5, bias=2 * ones, bayes=0.0
    )
    assert np.array_equal(terms.total, np.full((2, 3), 4.5))
    assert terms.shape == (2, 3)


def test_total_overflows_to_inf_without_a_warning() -> None:
    big = np.array([1e308])
    terms: Any = dt.ErrorTerms(noise=big, initialization=big, sampling=0.0, bias=0.0, bayes=0.0)
    assert np.array_equal(terms.total, [math.inf])
    peak = dt.exact_error(dt.Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0))
    assert (peak.noise, peak.total) == (math.inf, math.inf)
    assert math.isfinite(peak.bias + peak.sampling)


def test_results_are_frozen_and_named() -> None:
    with pytest.raises(FrozenInstanceError):
        TERMS.noise = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        ERROR_TERMS(1.0, 0.5, 0.25, 0.25, 0.0)
    assert pickle.loads(pickle.dumps(TERMS)) == TERMS


def test_scalars_give_python_floats() -> None:
    problem = dt.Problem(ridge=0.1)
    best = dt.optimal_ridge(problem)
    values = [
        *dt.exact_error(problem).parts.values(),
        *dt.anova(problem).parts.values(),
        *(getattr(psi_terms(problem), name) for name in PsiTerms.symbols()),
        *best.error.parts.values(),
        dt.training_error(problem),
        best.ridge,
        best.error.total,
        effective_ridge(problem),
    ]
    assert {type(value) for value in values} == {float}


def test_arrays_give_arrays() -> None:
    problem = dt.Problem(ridge=[[0.1], [0.2]], noise=[0.0, 1.0, 2.0])
    best = dt.optimal_ridge(problem)
    results: list[Any] = [dt.exact_error(problem), dt.anova(problem), best.error]
    values = [value for terms in results for value in terms.parts.values()]
    shapes = {np.shape(value) for value in [*values, dt.training_error(problem), best.ridge]}
    assert shapes == {(2, 3)}


# --- shown ---------------------------------------------------------------------------------------


def test_table_has_values_and_shares() -> None:
    assert [line.split() for line in str(TERMS).splitlines()] == [
        ["part", "error", "share"],
        ["noise", "1.00", "50%"],
        ["initialization", "0.500", "25%"],
        ["sampling", "0.250", "12%"],
        ["bias", "0.250", "12%"],
        ["noise", "floor", "0", "0%"],
        ["total", "2.00"],
        [
            "50%",
            "of",
            "the",
            "error",
            "is",
            "variance",
            "by",
            "noise",
            "in",
            "the",
            "training",
            "labels.",
        ],
    ]


def test_interactions_are_labelled_as_products() -> None:
    lines = str(SPLIT).splitlines()
    assert [line.split("  ")[0] for line in lines[1:-1]] == [
        "bias",
        "initialization",
        "sampling",
        "initialization × sampling",
        "noise × sampling",
        "noise × initialization × sampling",
        "noise floor",
        "total",
    ]


def test_shares_of_zero_or_infinite_totals_are_blank() -> None:
    for noise, shown in ((0.0, "0"), (math.inf, "∞")):
        terms = dt.ErrorTerms(noise=noise, initialization=0.0, sampling=0.0, bias=0.0, bayes=0.0)
        assert "%" not in str(terms)
        assert "nan" not in str(terms)
        assert str(terms).splitlines()[-2].split() == ["total", shown]
    assert str(terms).endswith("The error is infinite: noise.")


def test_a_difference_has_no_shares() -> None:
    gain = dt.exact_error(dt.Problem(ridge=0.01)) - dt.exact_error(dt.Problem(ridge=0.01), 5)
    assert "%" not in str(gain)
    assert "difference" in str(gain).splitlines()[-1]


def test_frame_has_a_row_for_each_point() -> None:
    frame = dt.exact_error(
        dt.Problem(ridge=[0.1, 0.2]), dt.Subsample([[1], [5]], fraction=0.5)
    ).to_frame()
    assert list(frame.columns) == [
        "ridge",
        "n_members",
        "noise",
        "initialization",
        "sampling",
        "bias",
        "bayes",
        "resampling",
        "total",
    ]
    assert len(frame) == 4
    assert TERMS.to_frame()["part"].tolist() == [*TERMS.parts, "total"]
    assert CURVE.to_frame()["total"].to_numpy() == pytest.approx(CURVE.total)


def test_every_result_can_be_drawn() -> None:
    results: list[Any] = [TERMS, SPLIT, CURVE]
    for terms in results:
        axes = terms.plot()
        shown = [text.get_text() for text in (axes.get_yticklabels() or [])]
        legend = axes.get_legend()
        shown += [text.get_text() for text in legend.get_texts()] if legend else []
        assert any("total" in label for label in shown)
        assert terms.plot(axes) is axes


def test_two_dimensional_results_plot_totals() -> None:
    widths = dt.Problem(features_per_dim=np.geomspace(0.1, 10, 9))
    axes: Any = dt.exact_error(widths, [[1], [5]]).plot()
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["K = 1", "K = 5"]
    assert axes.get_xlabel() == "features per dimension P/D"
    infinite = dt.exact_error(dt.Problem(), [1, 2, math.inf]).plot()
    assert infinite.get_xlabel() == "models K (∞ not shown)"
    with pytest.raises(ValueError, match="at most two axes"):
        dt.exact_error(dt.Problem(ridge=[[[0.1]], [[0.2]]]), [[1], [5]]).plot()


def test_text_of_an_optimum_has_its_value_and_error() -> None:
    problem = dt.Problem(features_per_dim=1.0, ridge=0.0, noise=0.5)
    best, stop = dt.optimal_ridge(problem), dt.best_stopping_time(problem)
    assert f"{best.ridge:.3g}" in str(best).splitlines()[-1]
    assert str(stop).splitlines()[1:3] == str(stop.error).splitlines()[1:3]
    last = " ".join(str(stop).splitlines()[-2:])
    assert f"{stop.time:.3g}" in last
    assert f"{stop.optimal_ridge.error.total:.3g}" in last
    curve = str(dt.optimal_ridge(dt.Problem(noise=[0.5, 1.0])))
    assert curve.split()[:2] == ["λ", "τ"]


def test_unidentified_parts_are_none_with_a_reason() -> None:
    terms: dt.ErrorTerms[Any] = dt.ErrorTerms(
        bias=0.5,
        sampling=0.25,
        reasons={"noise": "noise needs 2 draws"},
        includes={"sampling": "label noise"},
    )
    assert terms.total == 0.75
    assert "sampling + label noise" in str(terms)
    assert terms.noise is None
    assert getattr(terms, "noise", 1.0) is None
    assert hasattr(terms, "noise")
    assert not hasattr(terms, "unknown")
    assert asdict(terms)["reasons"] == {"noise": "noise needs 2 draws"}
    assert replace(terms, noise=0.25).total == 1.0
    copied = pickle.loads(pickle.dumps(terms))
    assert (copied, copied.reasons) == (terms, terms.reasons)
    alone: dt.ErrorTerms[Any] = dt.ErrorTerms(noise=1.0, reasons={"total": "total needs y_test"})
    assert math.isnan(alone.total)
    assert "total" not in str(alone)


def test_errors_subtract_part_by_part() -> None:
    problem = dt.Problem(ridge=[0.01, 0.1])
    one, many = dt.exact_error(problem), dt.exact_error(problem, 10)
    gain = one - many
    np.testing.assert_array_equal(gain.initialization, one.initialization - many.initialization)
    np.testing.assert_allclose(gain.total, one.total - many.total, rtol=1e-13)
    without = replace(gain, noise=0.0 * gain.noise).total
    np.testing.assert_allclose(without, gain.total - gain.noise, rtol=1e-12)
    assert list(gain.coordinates) == ["ridge"]
    assert "resampling" not in gain.parts
    with pytest.raises(TypeError):
        _ = one - 1.0
    with pytest.raises(TypeError):
        _ = one - dt.anova(problem)


def test_errors_of_other_points_do_not_subtract() -> None:
    run = dt.simulate(dt.Problem(features_per_dim=[0.31, 1.0], ridge=0.1), dim=10, n_data=2)
    gap = run.error() - dt.exact_error(run.problem)
    assert np.shape(gap.total.value) == (2,)
    with pytest.raises(ValueError, match=r"^errors must be of the same features_per_dim"):
        _ = run.error() - dt.exact_error(dt.Problem(features_per_dim=[0.31, 1.0], ridge=0.1))


def test_errors_of_other_measures_axes_or_shapes_do_not_subtract() -> None:
    classes = dt.Problem(task="classification", flips=0.1, ridge=0.1)
    with pytest.raises(ValueError, match=r"^errors must be of the same measure, got error"):
        _ = dt.exact_error(classes) - dt.exact_error(classes, measure="squared")
    by_ridge = dt.exact_error(dt.Problem(ridge=[0.1, 1.0]))
    with pytest.raises(ValueError, match=r"^errors must vary by the same parameter .* ridge and n"):
        _ = by_ridge - dt.exact_error(dt.Problem(noise=[0.1, 1.0]))
    with pytest.raises(ValueError, match=r"^errors must have shapes that broadcast, got \(2,\)"):
        _ = by_ridge - dt.exact_error(dt.Problem(ridge=[0.1, 1.0, 2.0]))
    across = by_ridge - dt.exact_error(dt.Problem(noise=[[0.1], [1.0], [2.0]]))
    assert (across.shape, sorted(across.coordinates)) == ((3, 2), ["noise", "ridge"])
    assert (by_ridge - dt.exact_error(dt.Problem())).shape == (2,)


def test_a_number_is_combined_with_an_array_at_every_point() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=20, n_data=6, n_init=2)
    theory = dt.exact_error(dt.Problem(ridge=[0.1, 1.0, 10.0]))
    gap = run.error() - theory
    assert np.asarray(gap.total.value)[2] == run.error().total.value - np.asarray(theory.total)[2]
    third: Any = gap.total[2]
    assert third.standard_error == run.error().total.standard_error
    assert (third - run.error().total).standard_error == 0.0
    assert "differences of the totals" in str(gap)


def test_parts_and_estimates_must_be_numbers() -> None:
    wrong: Any = [1.0, 2.0]
    with pytest.raises(TypeError, match=r"^noise must be a number, .* got \[1.0, 2.0\]"):
        dt.ErrorTerms(noise=wrong)
    with pytest.raises(ValueError, match=r"^bias must broadcast with noise"):
        dt.ErrorTerms(noise=np.ones(3), bias=np.ones(2))
    text: Any = "a"
    with pytest.raises(TypeError, match=r"^value must be a number"):
        dt.Estimate(value=text, standard_error=0.1, n_draws=3)
    with pytest.raises(TypeError, match=r"^standard_error must be a number"):
        dt.Estimate(value=1.0, standard_error=text, n_draws=3)
    ones = np.ones((2, 3))
    assert dt.Estimate(value=ones, standard_error=ones, n_draws=3).shape == (2, 3)


def test_differences_of_the_same_draws_are_paired() -> None:
    run = dt.simulate(dt.Problem(ridge=0.1), dim=20, n_data=6, n_init=2)
    other = dt.simulate(dt.Problem(ridge=0.1), dim=20, n_data=6, n_init=2, seed=1)
    assert (run.error() - run.error()).total.standard_error == 0.0
    paired, apart = run.error(1) - run.error(10), run.error(1) - other.error(10)
    assert 0 < paired.total.standard_error < apart.total.standard_error
    assert paired.noise.value == (run.error(1).noise - run.error(10).noise).value


def test_causes_contained_in_one_error_alone_do_not_subtract() -> None:
    whole: dt.ErrorTerms[Any] = dt.ErrorTerms(
        initialization=0.5, bias=1.0, includes={"bias": "noise floor"}
    )
    split: dt.ErrorTerms[Any] = dt.ErrorTerms(initialization=0.25, bias=0.5, bayes=0.25)
    gain = whole - split
    assert (gain.initialization, gain.bias, gain.bayes, gain.total) == (0.25, None, None, 0.5)
    assert "other causes" in gain.reasons["bias"]
    assert (whole - whole).includes == {"bias": "noise floor"}


# --- estimates -----------------------------------------------------------------------------------

# two columns that move together
RNG = np.random.default_rng(0)
DRAWS = RNG.normal(1.0, 0.5, (40, 2)) + RNG.normal(0.0, 3.0, (40, 1))


def test_estimate_converts_to_float_and_text() -> None:
    e = dt.Estimate.of(np.array([1.0, 2.0, 3.0]))
    assert (float(e), e.n_draws) == (2.0, 3)
    assert e.standard_error == pytest.approx(3**-0.5)
    low, high = e.confidence_interval(0.9)
    assert (low, high) == (e.confidence_interval().low, e.confidence_interval().high)
    assert high - 2 == pytest.approx(2.919985580355516 * e.standard_error)
    with pytest.raises(ValueError, match=r"^confidence must"):
        e.confidence_interval(1)
    with pytest.raises(TypeError, match="must be one number"):
        float(dt.Estimate.of(DRAWS))


def test_estimates_are_formatted_with_matching_digits() -> None:
    for value, error, spec, text in (
        (1.2342, 0.0432, ".3g", "1.23 ± 0.04"),
        (1.2342, 0.0432, "", "1.234 ± 0.043"),
        (3453.12, 183.0, "", "3,450 ± 180"),
        (3453.12, 183.0, ".2g", "3,500 ± 200"),
        (0.000123456, 0.0000032, "", "0.0001235 ± 0.0000032"),
        (0.0000123456, 0.0000032, "", "1.23e-05 ± 0.32e-05"),
        (2.5e9, 3.1e7, "", "2.500e+09 ± 0.031e+09"),
        (-0.5, 0.21, "", "-0.50 ± 0.21"),
        (0.2, 30.0, "", "0 ± 30"),
        (123456.0, 0.012, ".3g", "123,456.00 ± 0.01"),
        (1.0, math.inf, "", "1.00 ± ∞"),
        (1.5, 0.0, "", "1.50 ± 0"),
        (1.25, 0.5, ".1f", "1.2 ± 0.5"),
        (9.996, 0.0999, "", "10.00 ± 0.10"),
        (1.0, 3.5e-17, "", "1.00 ± 0"),
        (0.0, 0.0, "", "0 ± 0"),
        (5e-324, 5e-324, "", "4.94e-324 ± 4.9e-324"),
        (1.2342, 0.0432, ">15.3g", "    1.23 ± 0.04"),
        (1.2342, 0.0432, "+.3g", "+1.23 ± 0.04"),
    ):
        assert format(dt.Estimate(value=value, standard_error=error, n_draws=9), spec) == text


def test_estimates_from_the_same_draws_are_paired() -> None:
    a, b = (dt.Estimate.of(column, key="run") for column in DRAWS.T)
    paired = a - b
    draws = DRAWS[:, 0] - DRAWS[:, 1]
    assert paired.standard_error == pytest.approx(draws.std(ddof=1) / 40**0.5)
    assert (a - a).standard_error == 0.0
    assert (a - b + b).standard_error == pytest.approx(a.standard_error)
    assert (2 * a - a / 2).standard_error == pytest.approx(1.5 * a.standard_error)
    ratio = a / b  # to first order
    linear = DRAWS[:, 0] / b.value - a.value * DRAWS[:, 1] / b.value**2
    assert ratio.standard_error == pytest.approx(linear.std(ddof=1) / 40**0.5)


def test_estimates_from_different_draws_are_independent() -> None:
    a, b = (dt.Estimate.of(column, key=key) for column, key in zip(DRAWS.T, "ab", strict=True))
    apart = a - b
    assert apart.standard_error == pytest.approx(math.hypot(a.standard_error, b.standard_error))
    assert apart.n_draws > 40  # Welch's degrees of freedom
    paired = dt.Estimate.of(DRAWS[:, 0], key=1) - dt.Estimate.of(DRAWS[:, 1], key=1)
    assert apart.standard_error > 3 * paired.standard_error  # the control


def test_sums_of_several_sources_stay_paired() -> None:
    a, b = (dt.Estimate.of(column, key=key) for column, key in zip(DRAWS.T, "ab", strict=True))
    assert ((a - b) + b).standard_error == pytest.approx(a.standard_error)
    assert ((a + b) - (a - b)).standard_error == pytest.approx(2 * b.standard_error)
    known = dt.Estimate(value=1.0, standard_error=0.5, n_draws=9)
    assert (known - known).standard_error == 0.0
    assert (1 / known).standard_error == pytest.approx(0.5)
    assert (0 * dt.Estimate.of([1.0])).value == 0.0


def test_a_curve_is_paired_with_one_of_its_points() -> None:
    curve, point = dt.Estimate.of(DRAWS, key=0), dt.Estimate.of(DRAWS[:, 0], key=0)
    assert (curve - point).standard_error[0] == 0.0  # type: ignore[index]
    assert (point - curve).standard_error[1] > 0.0  # type: ignore[index]


def test_columns_of_varying_parameters_are_distinct() -> None:
    for name in ("noise", "ridge", "features_per_dim"):
        varied: dict[str, Any] = {name: np.array([0.1, 1.0])}
        terms = dt.exact_error(dt.Problem(**varied))
        frame = terms.to_frame()
        assert len(frame.columns) == 1 + len(terms.parts) + 1
        assert frame.iloc[:, 0].tolist() == [0.1, 1.0]
        assert len(set(frame.columns)) == len(frame.columns)


def test_arrays_of_estimates_have_items() -> None:
    curve = dt.Estimate.of(DRAWS, key=0)
    point = dt.Estimate.of(DRAWS[:, 1], key=0)
    assert len(curve) == 2
    assert (curve[1] - point).standard_error == 0.0
    assert str(curve) == f"[{curve[0]}, {curve[1]}]"
    with pytest.raises(TypeError, match="must be an array"):
        _ = point[0]


def test_fields_of_an_estimate_are_validated() -> None:
    for name, value in (("standard_error", -0.1), ("n_draws", 0)):
        known: dict[str, Any] = {"value": 1.0, "standard_error": 0.1, "n_draws": 5}
        with pytest.raises(ValueError, match=f"^{name} must"):
            dt.Estimate(**{**known, name: value})


def test_estimates_are_scaled_and_shifted_by_numbers_and_arrays() -> None:
    e = dt.Estimate.of(DRAWS)
    assert (1 - e).value == pytest.approx(1 - e.value)
    factors = np.array([2.0, 3.0])
    assert (factors * e).standard_error == pytest.approx(factors * e.standard_error)
    assert (-e).value == pytest.approx(-e.value)
    text: Any = "one"
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = e + text


def test_terms_of_estimates_have_a_paired_total() -> None:
    a, b = (dt.Estimate.of(column, key="run") for column in DRAWS.T)
    terms = dt.ErrorTerms(noise=a, initialization=b, sampling=0 * a, bias=b, bayes=0 * b)
    assert terms.total.standard_error == pytest.approx((a + b + b).standard_error)
    assert "±" in str(terms)
    assert terms.to_frame()["error_standard_error"].notna().all()
    terms.plot()


def test_confidence_interval_of_one_draw_is_infinite() -> None:
    one = dt.Estimate.of(np.array([1.0]))
    assert one.standard_error == math.inf
    assert one.confidence_interval() == (-math.inf, math.inf)


@pytest.mark.parametrize(
    "make", [dt.exact_error, dt.anova, dt.optimal_ridge, dt.best_stopping_time]
)
def test_arrays_are_represented_by_their_range_on_one_line(make: Any) -> None:
    problem = dt.Problem(ridge=[[0.1], [1.0], [2.0]], features_per_dim=[0.5, 2.0])
    result = make(problem)
    total = np.asarray(getattr(result, "error", result).total)
    ends = f"{plain(total.min())} to {plain(total.max())}"
    assert repr(result) == f"{type(result).__name__}(shape=(3, 2), total={ends})"
    estimate = dt.Estimate(value=total, standard_error=np.ones(total.shape), n_draws=4)
    expected = f"Estimate(shape=(3, 2), value={ends}, standard_error=1.00, n_draws=4)"
    assert repr(estimate) == expected


def test_an_error_of_another_measure_says_its_name() -> None:
    for problem in (
        dt.Problem(task="classification", loss="hinge", ridge=0.1),
        dt.Problem(task="classification", loss="hinge", ridge=[0.1, 1.0]),
    ):
        assert str(dt.exact_error(problem)).startswith("Error rate\n")
        assert str(dt.exact_error(problem, measure="squared")).split()[0] != "Error"
