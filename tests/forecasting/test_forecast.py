"""The whole forecast: held-out errors of the estimator, parts, arrays, noise, and checks."""

import math
import pickle
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.forecasting._forecast import _feature_check, _feature_draws
from doubletrouble.parameters import FloatArray
from tests.forecasting.datasets import DIM, NOISE, draw, forecast, forecast_of

N_ROWS = 100
Case = tuple[Any, float, int, int]
CASES: list[Case] = [  # P, λ, K, N
    (30, 1e-3, 1, N_ROWS),
    (100, 1e-2, 3, N_ROWS),
    (100, 1e-5, 1, N_ROWS),
    (100, 1e-2, 1, N_ROWS // 2),
    (100, 1e-2, 1, 90),
    (60, 1e-2, 1, 2 * N_ROWS),
]
DATA_SETS = 24


@cache
def held_out(case: Case, *, intercept: bool) -> dt.Estimate:
    """Held-out errors of the estimator, for data sets of their own."""
    P, ridge, K, n = case
    offset = 2.0 if intercept else 0.0
    test_x, test_y = draw(2000, np.random.default_rng(99), offset=offset)
    errors = []
    for seed in range(DATA_SETS):
        x, y = draw(n, np.random.default_rng((1, seed)), offset=offset)
        model = dt.RandomFeaturesRidge(
            P, ridge=ridge, ensemble=K, fit_intercept=intercept, random_state=seed
        )
        errors.append(np.square(model.fit(x, y).predict(test_x) - test_y).mean())
    return dt.Estimate.of(errors)


@cache
def forecasts(*, intercept: bool) -> list[Any]:
    """Forecasts from other data sets."""
    offset = 2.0 if intercept else 0.0
    samples = (draw(N_ROWS, np.random.default_rng((2, k)), offset=offset) for k in range(DATA_SETS))
    return [forecast_of(x, y, fit_intercept=intercept, check=False) for x, y in samples]


def mean_forecast(case: Case, *, intercept: bool) -> dt.Estimate:
    P, ridge, K, n = case
    found = forecasts(intercept=intercept)[:: 1 if n == N_ROWS else 3]
    return dt.Estimate.of(
        [f.error(n_features=P, ridge=ridge, ensemble=K, n_samples=n).total.value for f in found]
    )


@pytest.mark.statistical
@pytest.mark.parametrize("intercept", [False, True])
def test_forecast_is_the_held_out_error_of_the_estimator(intercept: bool) -> None:
    for case in CASES if not intercept else CASES[:3]:
        difference = mean_forecast(case, intercept=intercept) - held_out(case, intercept=intercept)
        assert abs(float(difference.z_score(0.0))) < 4, case
    # controls: the ridge in another convention, and no variance over features
    P, ridge, K, n = CASES[2]
    for wrong in ((P, ridge * DIM / n, K, n), (math.inf, ridge, K, n)):
        off = mean_forecast(wrong, intercept=intercept) - held_out(CASES[2], intercept=intercept)
        assert abs(float(off.z_score(0.0))) > 6


@pytest.mark.statistical
def test_standard_errors_cover_the_truth() -> None:
    """Two standard errors of one forecast contain the expected error, nine times of ten."""
    within = []
    for case in CASES:
        P, ridge, K, n = case
        truth = held_out(case, intercept=False)
        for f in forecasts(intercept=False)[:: 1 if n == N_ROWS else 3]:
            total = f.error(n_features=P, ridge=ridge, ensemble=K, n_samples=n).total
            reach = 2 * math.hypot(float(total.standard_error), float(truth.standard_error))
            within.append(abs(float(total) - float(truth)) < reach)
    assert np.mean(within) > 0.85


# --- parts and arrays ---


def test_parts_add_up_and_are_not_negative() -> None:
    error = forecast().error(
        n_features=[2, 30, 120, 1000, math.inf],
        ridge=[[0], [1e-3], [10]],
        ensemble=2,
        n_samples=300,
    )
    total = sum(part.value for part in error.parts.values())
    finite = np.isfinite(error.total.value)
    assert error.total.value[finite] == pytest.approx(total[finite], rel=1e-12)
    for name, part in error.parts.items():
        assert np.all(part.value >= 0), name
        assert np.all(np.isfinite(part.standard_error)), name
    assert error.total.value == pytest.approx(
        forecast()._total([2, 30, 120, 1000, math.inf], [[0], [1e-3], [10]], 2, 300), rel=1e-12
    )


def test_standard_error_of_a_divergence_is_zero() -> None:
    terms = forecast().error(n_features=[120, 60], ridge=0.0)
    for part in (terms.noise, terms.initialization, terms.total):
        values, errors = np.asarray(part.value), np.asarray(part.standard_error)
        assert np.array_equal(np.isinf(values), [True, False])
        assert np.array_equal(errors == 0, [True, False])


def test_arrays_broadcast_like_numbers() -> None:
    f = forecast()
    widths, ridges, sizes = [20, 500], [[1e-3], [1.0]], [60, 240]
    error = f.error(n_features=widths, ridge=ridges, ensemble=3, n_samples=sizes)
    assert error.shape == (2, 2)
    for row, ridge in enumerate(np.ravel(ridges)):
        for column, (P, size) in enumerate(zip(widths, sizes, strict=True)):
            one = f.error(n_features=P, ridge=float(ridge), ensemble=3, n_samples=size)
            index = (row, column)
            for name, part in one.parts.items():
                whole = error.parts[name]
                assert whole.value[index] == pytest.approx(float(part), rel=1e-12), name
                assert whole.standard_error[index] == pytest.approx(
                    float(part.standard_error), rel=1e-9, abs=1e-15
                )
            assert bool(error.extrapolated[index]) is one.extrapolated


def test_limits_of_the_settings() -> None:
    f = forecast()
    y = draw(120, np.random.default_rng(0))[1]
    assert float(f.error(n_features=50, ridge=math.inf).total) == pytest.approx(
        np.square(y).mean(), rel=1e-3
    )
    assert (
        f.error(n_features=120, ridge=0.0).total.value == math.inf
    )  # as many features as rows, and no ridge
    assert f.error(n_features=120, ridge=0.0).initialization.standard_error == 0
    assert math.isfinite(float(f.error(n_features=120, ridge=0.0, ensemble=math.inf).total))
    assert float(f.error(n_features=50, ridge=1e-2, ensemble=math.inf).initialization) == 0
    for P in (40, 400, math.inf):
        tiny, none = (
            f.error(n_features=P, ridge=1e-300).total.value,
            f.error(n_features=P, ridge=0.0).total.value,
        )
        assert tiny == pytest.approx(none, rel=1e-6)
        assert f.error(n_features=P, ridge=1e-10).total.value == pytest.approx(none, rel=0.01)


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": True}])
def test_error_falls_with_the_number_of_rows(settings: dict[str, Any]) -> None:
    x, y = draw(120, np.random.default_rng(4))
    sizes = np.array([20, 60, 96, 97, 110, 119, 120, 121, 200, 1000, 10**6])
    totals = (
        forecast_of(x, y, check=False, **settings)
        .error(n_features=200, ridge=1e-2, ensemble=1, n_samples=sizes)
        .total.value
    )
    assert np.all(np.diff(totals) < 0.02 * totals[:-1])
    near = totals[sizes == 119], totals[sizes == 120], totals[sizes == 121]
    assert near[0] == pytest.approx(near[1], rel=0.02)
    assert near[2] == pytest.approx(near[1], rel=0.02)


def test_same_seed_same_result() -> None:
    x, y = draw(60, np.random.default_rng(1))
    settings = {"n_features": [10, 100], "n_samples": [[30], [120]]}
    one, two = (forecast_of(x, y, seed=3).error(**settings) for _ in range(2))
    other = forecast_of(x, y, seed=4).error(**settings)
    assert one == two
    assert one != other


def test_forecasts_of_the_same_rows_are_paired() -> None:
    """The luck of the rows cancels in the ratio of two activations, as in gains."""
    x, y = draw(120, np.random.default_rng(0))
    other = forecast_of(x, y, activation="erf", check=False)
    one, two = (
        forecast().error(n_features=200, ridge=1e-2).total,
        other.error(n_features=200, ridge=1e-2).total,
    )
    ratio = two / one
    independent = math.hypot(
        float(one.standard_error) / float(one), float(two.standard_error) / float(two)
    )
    assert float(ratio.standard_error) / float(ratio) < 0.7 * independent


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_scale_of_the_labels_is_that_of_the_errors(scale: float) -> None:
    x, y = draw(60, np.random.default_rng(1))
    settings = {"n_features": [10, 100], "n_samples": [[30], [60], [120]]}
    plain = forecast_of(x, y).error(**settings)
    scaled = forecast_of(x, scale * y).error(**settings)
    for name, part in plain.parts.items():
        assert scaled.parts[name].value == pytest.approx(scale**2 * part.value, rel=1e-6), name


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_scale_of_the_kernel_is_that_of_the_ridge(scale: float) -> None:
    x, y = draw(60, np.random.default_rng(1))
    gram = dt.kernel("relu", x)
    plain = forecast_of(None, y, kernel=gram, check=False)
    scaled = forecast_of(None, y, kernel=scale * gram, check=False)
    one = plain.error(
        n_features=[10, 100, math.inf], ridge=1e-3, ensemble=1, n_samples=[[30], [60], [120]]
    ).total.value
    two = scaled.error(
        n_features=[10, 100, math.inf],
        ridge=scale * 1e-3,
        ensemble=1,
        n_samples=[[30], [60], [120]],
    ).total.value
    assert two == pytest.approx(one, rel=1e-6)
    assert scaled.best_ridge(100) == pytest.approx(scale * plain.best_ridge(100), rel=1e-6)


def test_kernel_of_the_activation_is_its_forecast_with_gaussian_features() -> None:
    x, y = draw(60, np.random.default_rng(1))
    gram = dt.kernel("relu", x, center=True)
    given = forecast_of(None, y, kernel=gram, dim=DIM, check=False)
    own = forecast_of(x, y, check=False)
    assert given.error(n_features=math.inf, ridge=1e-3).total.value == pytest.approx(
        own.error(n_features=math.inf, ridge=1e-3).total.value, rel=1e-12
    )
    assert given.error(n_features=60, ridge=1e-3).total.value == pytest.approx(
        own.error(n_features=60, ridge=1e-3).total.value, rel=0.2
    )
    assert "given kernel" in str(given)


def test_columns_of_labels_are_summed() -> None:
    x, y = draw(60, np.random.default_rng(1))
    z = x[:, 0]
    both = forecast_of(x, np.column_stack([y, z]), check=False)
    single = [forecast_of(x, labels, check=False) for labels in (y, z)]
    for size in (30, 60, 120):
        total = sum(
            f.error(n_features=50, ridge=1e-2, ensemble=1, n_samples=size).total.value
            for f in single
        )
        tolerance = 0.02 if size > 60 else 1e-6
        assert both.error(
            n_features=50, ridge=1e-2, ensemble=1, n_samples=size
        ).total.value == pytest.approx(total, rel=tolerance)


def test_columns_are_scaled_and_an_intercept_is_fitted_by_default() -> None:
    x, y = draw(60, np.random.default_rng(1), offset=5.0)
    x = np.column_stack([1e3 + 7 * x, np.full(60, 0.1)])  # the last column is constant
    scaled = (x[:, :-1] - x[:, :-1].mean(axis=0)) / x[:, :-1].std(axis=0)
    f = dt.forecast(x, y)
    assert (f.scale, f.fit_intercept, f.dim) == (True, True, 6)
    expected = dt.forecast(scaled, y, scale=False, fit_intercept=True)
    total, again = (one.error(n_features=50, ridge=1e-2).total.value for one in (f, expected))
    assert total == pytest.approx(again, rel=1e-12)
    assert f.notes == ("1 of 7 columns of X are constant, and left out.",)
    assert "inputs scaled to mean 0 and variance 1, with an intercept" in f._content().title
    assert "inputs not scaled, with an intercept" in expected._content().title
    assert "fit_intercept" not in str(f)
    moved = dt.forecast(3 + 2 * x, y - 100, check=False)
    assert moved.error(n_features=50, ridge=1e-2).total.value == pytest.approx(
        f.error(n_features=50, ridge=1e-2).total.value
    )


def test_kernel_is_not_scaled() -> None:
    x, y = draw(60, np.random.default_rng(1))
    gram = dt.kernel("relu", x, center=True)
    f, raw = dt.forecast(None, y, kernel=gram), dt.forecast(None, y, kernel=gram, scale=False)
    assert f.scale is raw.scale is False
    assert f.error(n_features=50) == raw.error(n_features=50)


def test_columns_too_small_to_square_are_constant() -> None:
    x, y = draw(60, np.random.default_rng(1))
    f = dt.forecast(np.column_stack([x, 1e-250 * x[:, 0]]), y, check=False)
    assert math.isfinite(f.error(n_features=50).total.value)


def test_device_is_chosen_by_default() -> None:
    x, y = draw(60, np.random.default_rng(1))
    assert dt.forecast(x, y).error(n_features=50) == dt.forecast(x, y, device="cpu").error(
        n_features=50
    )


def test_data_frames_are_data() -> None:
    pandas = pytest.importorskip("pandas")
    x, y = draw(60, np.random.default_rng(1))
    frame = pandas.DataFrame(x, columns=list("abcdef"), index=np.arange(60)[::-1])
    found = forecast_of(frame, pandas.Series(y), check=False)
    assert (
        found.error(n_features=50).total.value
        == forecast_of(x, y, check=False).error(n_features=50).total.value
    )


def test_repeated_rows_with_groups_are_single_rows() -> None:
    x, y = draw(60, np.random.default_rng(1))
    once = forecast_of(x, y, check=False)
    x2, y2 = np.tile(x, (2, 1)), np.tile(y, 2)
    with pytest.warns(UserWarning, match="groups="):
        wrong = forecast_of(x2, y2, check=False)
    assert any("groups=" in note for note in wrong.notes)
    grouped = forecast_of(x2, y2, groups=np.tile(np.arange(60), 2))
    for P in (30, 200, math.inf):
        one, two = (
            once.error(n_features=P, ridge=1e-2).total,
            grouped.error(n_features=P, ridge=1e-2).total,
        )
        assert float(two) == pytest.approx(float(one), rel=0.01)
        assert float(two.standard_error) > 0.7 * float(one.standard_error)
        assert wrong.error(n_features=P, ridge=1e-2).total.value < 0.8 * float(
            one
        )  # a copy of each row is left in
    assert math.isfinite(
        grouped.error(n_features=30, ridge=1e-2, ensemble=1, n_samples=60).total.value
    )
    assert set(grouped.checks) == set(forecast(check=True).checks)


def test_many_rows_are_sub_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doubletrouble.forecasting._forecast._MOST_ROWS", 50)
    x, y = draw(60, np.random.default_rng(1))
    for inputs, kernel in ((x, None), (None, dt.kernel("relu", x))):
        f = forecast_of(inputs, y, kernel=kernel, groups=np.arange(60) // 2, check=False)
        assert f.n_samples == 50
        assert any("50 of 60 rows" in note for note in f.notes)


def test_first_error_changes_no_later_one() -> None:
    x, y = draw(60, np.random.default_rng(1))
    one, two = (forecast_of(x, y, check=False) for _ in range(2))
    one.error(n_features=10, n_samples=57)
    assert (
        one.error(n_features=10, n_samples=50).total.value
        == two.error(n_features=10, n_samples=50).total.value
    )


def difficult(name: str, rng: np.random.Generator) -> dict[str, Any]:
    """Data that are heavy-tailed, sparse, of few directions, smooth, or without noise."""
    n = 40
    x = rng.standard_normal((n, 3))
    y = np.tanh(x[:, 0]) + 0.1 * rng.standard_normal(n)
    distance = np.square(x[:, None] - x).sum(axis=-1)
    heavy = x * np.exp(1.5 * rng.standard_normal((n, 1)))
    return {
        "heavy tails": {"X": heavy, "y": heavy.sum(axis=1)},
        "outlier": {"X": x, "y": y * np.r_[1e4, np.ones(n - 1)], "fit_intercept": True},
        "small inputs": {"X": 1e-6 * x, "y": y, "activation": "tanh"},
        "large inputs": {"X": 1e4 * x, "y": y, "activation": "quadratic"},
        "sign": {"X": x[:, :1], "y": y, "activation": "sign"},
        "few directions": {"X": heavy[:, :2], "y": y, "activation": "linear"},
        "no error": {"X": x, "y": x[:, 0], "activation": "linear", "noise": 0.0},
        "smooth kernel": {"X": None, "y": y, "kernel": np.exp(-distance / 200)},
        "no kernel but ones": {"X": None, "y": y, "kernel": np.eye(n)},
        "a constant half": {
            "X": np.r_[np.zeros((n - 3, 1)), x[:3, :1]],
            "y": y,
            "activation": "linear",
            "groups": np.arange(n),
        },
    }[name]


DIFFICULT = (
    *("heavy tails", "outlier", "small inputs", "large inputs", "sign", "few directions"),
    *("no error", "smooth kernel", "no kernel but ones", "a constant half"),
)


@pytest.mark.parametrize("name", DIFFICULT)
def test_difficult_data_have_errors_that_are_numbers(name: str) -> None:
    data = difficult(name, np.random.default_rng(0))
    f = forecast_of(**data)
    sizes = np.array([5, 20, 39, 40, 41, 80, 4000])
    ridges = np.array([0.0, 1e-300, 1e-6, 1e-2, 10.0, 1e300, math.inf])
    error = f.error(
        n_features=[1, 5, 40, 120, math.inf],
        ridge=ridges[:, None, None],
        ensemble=1,
        n_samples=sizes[:, None],
    )
    for part, estimate in error.parts.items():
        assert np.all(estimate.value >= 0), part
        assert np.all(np.isfinite(estimate.standard_error)), part
    kernel_limit = error.total.value[..., -1]
    assert np.all(np.isfinite(kernel_limit))
    assert str(f)
    assert str(f.advise(n_features=20, ridge=1e-3))


def test_ridge_below_rounding_is_refused() -> None:
    """The eigenvalues of a smooth kernel in one dimension decrease to rounding."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 1))
    f = forecast_of(x, np.sin(2 * x[:, 0]) + 0.1 * rng.standard_normal(60), activation="erf")
    for size in (30, 60, 120):
        with pytest.raises(ValueError, match=r"^ridge must be at least .* got 0$"):
            f.error(ridge=[0.0, 1e-3], n_samples=size)
        assert (
            f.error(n_features=5, ridge=0.0, n_samples=size).total.value < 1
        )  # few features are a ridge
    assert "rounding" in f.notes[0]
    rows = np.repeat(x, 2, axis=0)  # a singular matrix of a certain rank
    gram = np.exp(-np.abs(rows - rows.T))
    repeated = forecast_of(None, rng.standard_normal(120), kernel=gram)
    assert np.isfinite(repeated.error(ridge=0.0).total.value)


# --- label noise ---


@pytest.mark.parametrize("sigma", [0.0, 0.3, 1.0])
def test_bound_on_the_noise_holds(sigma: float) -> None:
    bounds = []
    for seed in range(6):
        x, y = draw(150, np.random.default_rng(seed), noise=sigma)
        noise = forecast_of(x, y, check=False).noise
        assert noise.interval == (0.0, noise.upper)
        assert 0 <= noise.estimate <= noise.upper
        assert "too fine for 150 rows" in noise.verdict
        bounds.append(noise.upper**2)
    bound = dt.Estimate.of(bounds)
    assert float(bound) > sigma**2 - 2 * float(bound.standard_error)
    assert float(bound) < 1.3 * sigma**2 + 0.25


def test_known_noise_is_used() -> None:
    x, y = draw(150, np.random.default_rng(0))
    known, unknown = forecast_of(x, y, noise=NOISE, check=False), forecast_of(x, y, check=False)
    assert known.noise.given == NOISE
    assert known.noise.interval == (NOISE, NOISE)
    assert known.notes == ()
    error = known.error(n_features=100, ridge=1e-2)
    assert float(error.bayes) == pytest.approx(NOISE**2)
    assert float(error.total) == pytest.approx(
        float(unknown.error(n_features=100, ridge=1e-2).total), rel=1e-12
    )


def test_noise_is_that_of_one_column() -> None:
    x, y = draw(150, np.random.default_rng(0))
    labels = np.column_stack([y, y])
    known = forecast_of(x, labels, noise=NOISE, check=False)
    assert known.noise.estimate == pytest.approx(NOISE)
    assert float(known.error(n_features=100, ridge=1e-2).bayes) == pytest.approx(2 * NOISE**2)
    both, one = (forecast_of(x, columns, check=False).noise for columns in (labels, y))
    assert both.estimate == pytest.approx(one.estimate)
    assert both.upper == pytest.approx(one.upper)


def test_labels_far_from_zero_without_an_intercept_are_noted() -> None:
    x, y = draw(60, np.random.default_rng(0))
    assert "fit_intercept" in " ".join(forecast_of(x, y + 10, check=False).notes)
    assert not forecast_of(x, y + 10, fit_intercept=True, check=False).notes


def test_heavy_tails_are_noted() -> None:
    rng = np.random.default_rng(0)
    x, y = draw(200, rng)
    heavy = y + rng.standard_t(2, size=200)
    (note,) = forecast_of(x, heavy, check=False).notes
    assert note.startswith("10 of 200 rows make up ")
    assert not forecast_of(x, y, check=False).notes


def test_more_noise_than_the_rows_allow_is_noted() -> None:
    x, y = draw(150, np.random.default_rng(0))
    f = forecast_of(x, y, noise=2.0, check=False)
    assert any(note.startswith("These rows bound the noise at") for note in f.notes)
    assert "These rows bound the noise at" in str(f)
    error = f.error(n_features=100, ridge=1e-2)
    assert float(error.bayes) == pytest.approx(f.noise.estimate**2)
    assert float(error.bias) < 0
    total = forecast_of(x, y, check=False).error(n_features=100, ridge=1e-2).total.value
    assert float(error.total) == pytest.approx(total, rel=1e-9)


# --- checks ---


def test_checks_pass_on_well_behaved_data() -> None:
    trust = forecast(check=True).checks
    assert set(trust) == {"spectrum", "features", "loo_over_gcv", "back_test"}
    for name in ("spectrum", "features", "back_test"):
        assert trust[name].passed, name
    assert len(forecast().checks) == 0


def test_spectrum_check_fails_for_rare_directions() -> None:
    rng = np.random.default_rng(0)
    x, y = draw(120, rng)
    rare = 10.0 * (rng.random((120, 40)) < 0.01)
    f = forecast_of(np.column_stack([x, rare]), y)
    assert not f.checks["spectrum"].passed
    assert f.checks["spectrum"] in f.checks.failed
    assert f.checks["spectrum"].verdict == "FAILED"
    assert "checks failed: spectrum" in str(f)


def test_feature_check_fails_for_fewer_features_than_said() -> None:
    f = forecast()
    x, _ = draw(120, np.random.default_rng(0))
    features = _feature_draws(x, dt.activation("relu"), center=True)
    rng = np.random.default_rng(0)
    assert _feature_check(f._rows, features, f._energy, rng).passed

    def fewer(count: int, generator: np.random.Generator) -> FloatArray:
        """Every third feature only: the variance over features is three times as large."""
        return np.repeat(features(-(-count // 3), generator), 3, axis=1)[:, :count]

    assert not _feature_check(f._rows, fewer, f._energy, rng).passed


def test_feature_check_of_few_rows_does_not_claim_agreement() -> None:
    check = forecast_of(*draw(20, np.random.default_rng(0))).checks["features"]
    assert check.passed
    assert check.limit > 0.2
    assert "vary too much" in check.meaning


def test_back_test_is_part_of_the_standard_error() -> None:
    with_check, without = forecast(check=True), forecast()
    at = {"n_features": 200, "ridge": 1e-2}
    assert (
        with_check.error(**at, n_samples=480).total.value
        == without.error(**at, n_samples=480).total.value
    )
    more = with_check.error(**at, n_samples=480).total.standard_error
    assert more > 1.01 * without.error(**at, n_samples=480).total.standard_error
    same = with_check.error(**at).total.standard_error
    assert same == without.error(**at).total.standard_error


def test_numbers_of_rows_have_an_axis_of_their_own_where_lengths_differ() -> None:
    f = forecast_of(*draw(60, np.random.default_rng(1)), check=False)
    widths, sizes = np.geomspace(10, 300, 5), [30, 60, 120]
    found = f.error(n_features=widths, n_samples=sizes)
    assert found.extrapolated.shape == (3, 5)
    expected = f.error(n_features=widths, n_samples=np.reshape(sizes, (3, 1)))
    np.testing.assert_array_equal(found.total.value, expected.total.value)
    assert f.error(n_features=widths[:3], n_samples=sizes).extrapolated.shape == (3,)
    assert np.shape(f.error(n_features=widths, n_samples=sizes).total.value) == (3, 5)
    assert f.error(n_features=widths, n_samples=[30]).extrapolated.shape == (5,)


def test_progress_counts_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[tuple[float, float]] = []

    class Bar:
        def __init__(self, total: int, **_: object) -> None:
            self.total, self.done = total, 0.0

        def __enter__(self) -> "Bar":
            return self

        def __exit__(self, *_: object) -> None:
            done.append((self.done, self.total))

        def update(self, n: float = 1) -> None:
            self.done += n

    monkeypatch.setattr("doubletrouble.forecasting._forecast.progress_bar", Bar)
    X = np.random.default_rng(0).standard_normal((30, 3))
    for check in (True, False):
        dt.forecast(X, X[:, 0], check=check)
    assert done == [(20.0, 20), (8.0, 8)]


def test_a_forecast_is_a_plain_record() -> None:
    f = forecast()
    assert asdict(f)["seed"] == f.seed
    assert replace(f.checks) == f.checks
    assert str(pickle.loads(pickle.dumps(f)).checks) == str(f.checks)
    assert not hasattr(f, "trust")
