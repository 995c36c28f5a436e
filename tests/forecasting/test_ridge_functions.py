"""The functions of κ: leave-one-out and splits against direct solution, limits, singular cases."""

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.forecasting._ridge_functions import (
    _MOST_SPLITS,
    DataRows,
    Eigenbasis,
    LeaveOneOut,
    RidgeTable,
    one_split,
    split_functions,
)
from doubletrouble.parameters import FloatArray
from tests.forecasting.smoothers import direct, label_energy

N_ROWS = 24


def rows_of(*, intercept: bool, activation: str = "relu", dim: int = 6, **rows: object) -> DataRows:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((N_ROWS, dim))
    y = np.column_stack([np.tanh(2 * x[:, 0]), x[:, 1] + 0.5 * rng.standard_normal(N_ROWS)])
    gram = dt.kernel(activation, x, center=True)
    return DataRows(gram=gram, labels=y, intercept=intercept, **rows)  # type: ignore[arg-type]


def loo_of(rows: DataRows) -> LeaveOneOut:
    return LeaveOneOut.of(Eigenbasis.of(rows), rows.groups)


GROUPS = {"rows": None, "groups": np.r_[np.arange(N_ROWS - 8), np.repeat([16, 17, 18], [2, 2, 4])]}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_is_that_of_refits(intercept: bool, groups: str) -> None:
    rows = rows_of(intercept=intercept, groups=GROUPS[groups])
    codes = np.arange(N_ROWS) if rows.groups is None else rows.groups
    loo = loo_of(rows)
    everyone = np.arange(N_ROWS)
    for index in (0, len(loo.kappa) // 3, len(loo.kappa) // 2, len(loo.kappa) - 1):
        kappa = float(loo.kappa[index])
        whole = label_energy(rows.gram, rows.labels, everyone, kappa, intercept=intercept)
        sampling, features = np.empty(N_ROWS), np.empty(N_ROWS)
        for code in range(codes.max() + 1):
            left, rest = everyone[codes == code], everyone[codes != code]
            refit = direct(rows.gram, rows.labels, rest, left, kappa, intercept=intercept)
            assert loo.row_errors[left, index] == pytest.approx(refit.error, rel=1e-8)
            assert loo.row_variance[left, index] == pytest.approx(refit.variance, rel=1e-5)
            assert loo.row_feature_error[left, index] == pytest.approx(
                refit.feature_error, rel=1e-8
            )
            sampling[left], features[left] = refit.sampling, refit.feature_error
            change = loo.row_label_energy[left, index].sum()
            without = label_energy(rows.gram, rows.labels, rest, kappa, intercept=intercept)
            assert change == pytest.approx(whole - without, rel=1e-6, abs=1e-9 * whole)
        found = loo.functions
        assert found.error[index] == pytest.approx(loo.row_errors[:, index].mean(), rel=1e-12)
        assert found.sampling[index] == pytest.approx(sampling.mean(), rel=1e-8)
        assert found.feature_error[index] == pytest.approx(features.mean(), rel=1e-8)
        assert found.label_energy[index] == pytest.approx(whole, rel=1e-8)


def test_degrees_of_freedom_do_not_cancel() -> None:
    rows = rows_of(intercept=False)
    d = np.linalg.eigvalsh(rows.gram)
    whole = RidgeTable.of(loo_of(rows).kappa, loo_of(rows).functions, N_ROWS)
    log_kappa = np.linspace(np.log(d[0]) - 30, np.log(d[-1]) + 30, 61)  # far beyond the grid
    kappa = np.exp(log_kappa)[:, None]
    found = whole.at(log_kappa)
    assert found.unused == pytest.approx((kappa / (d + kappa)).sum(axis=1), rel=1e-4)
    assert found.df1 == pytest.approx((d / (d + kappa)).sum(axis=1), rel=1e-4)
    assert found.noise_energy == pytest.approx((d / (d + kappa) ** 2).sum(axis=1), rel=2e-4)


@pytest.mark.parametrize("intercept", [False, True])
def test_limit_of_no_ridge_is_the_interpolating_fit(intercept: bool) -> None:
    rows = rows_of(intercept=intercept)
    loo, everyone = loo_of(rows), np.arange(N_ROWS)
    found = RidgeTable.of(loo.kappa, loo.functions, rows.n_modes).at(np.array(-700.0))
    refits = [
        direct(rows.gram, rows.labels, np.delete(everyone, i), [i], 0.0, intercept=intercept)
        for i in everyone
    ]
    assert found.error == pytest.approx(np.mean([refit.error for refit in refits]), rel=1e-3)
    assert found.sampling == pytest.approx(np.mean([refit.sampling for refit in refits]), rel=1e-3)


def test_singular_gram_matrix_is_linear_regression() -> None:
    """With fewer directions than rows the limit of no ridge is least squares in D dimensions."""
    dim = 4
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((N_ROWS, dim)), rng.standard_normal((N_ROWS, 1))
    rows = DataRows(gram=x @ x.T / dim, labels=y)
    loo = loo_of(rows)
    found = RidgeTable.of(loo.kappa, loo.functions, N_ROWS).at(np.array([-700.0]))
    hat = x @ np.linalg.solve(x.T @ x, x.T)
    residual = (y[:, 0] - hat @ y[:, 0]) / (1 - np.diagonal(hat))
    assert found.error == pytest.approx(np.square(residual).mean(), rel=1e-3)
    assert found.df1 == pytest.approx(dim, rel=1e-3)
    assert found.unused == pytest.approx(N_ROWS - dim, rel=1e-3)
    assert found.noise_energy == pytest.approx(np.trace(np.linalg.inv(x.T @ x / dim)), rel=1e-3)
    # a feature is predicted with the error |κ (AᵀA + κ)⁻¹ a|², for A without the row a
    index = len(loo.kappa) // 4
    for row in range(N_ROWS):
        a = np.delete(x, row, axis=0) / np.sqrt(dim)
        left = np.linalg.solve(a.T @ a + loo.kappa[index] * np.eye(dim), x[row] / np.sqrt(dim))
        expected = np.square(loo.kappa[index] * left).sum()
        assert loo.row_feature_error[row, index] == pytest.approx(expected, rel=1e-6)


def test_repeated_rows_in_groups_are_one_row() -> None:
    """Every row twice, left out together: kernel ridge regression on single rows at κ/2."""
    once = rows_of(intercept=False)
    twice = DataRows(
        gram=np.tile(once.gram, (2, 2)),
        labels=np.tile(once.labels, (2, 1)),
        groups=np.tile(np.arange(N_ROWS), 2),
    )
    single, double = loo_of(once), loo_of(twice)
    log_kappa = np.log(single.kappa)
    one = RidgeTable.of(single.kappa, single.functions, N_ROWS).at(log_kappa)
    two = RidgeTable.of(double.kappa, double.functions, 2 * N_ROWS).at(log_kappa + np.log(2))
    for name in ("error", "feature_error", "df1", "label_energy"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=2e-3), name
    assert two.noise_energy == pytest.approx(one.noise_energy / 2, rel=2e-3)
    assert two.sampling == pytest.approx(one.sampling / 2, rel=2e-3)  # their noise is averaged


# --- splits ---


@pytest.mark.parametrize("intercept", [False, True])
def test_split_is_that_of_direct_solution(intercept: bool) -> None:
    rows = rows_of(intercept=intercept)
    train, test = np.arange(15), np.arange(15, N_ROWS)
    kappa = np.geomspace(1e-3, 1e6, 5)
    found = one_split(rows, train, test, kappa)
    for index, ridge in enumerate(kappa):
        refit = direct(rows.gram, rows.labels, train, test, ridge, intercept=intercept)
        assert found.error[index] == pytest.approx(refit.error.mean(), rel=1e-8)
        assert found.sampling[index] == pytest.approx(refit.sampling.mean(), rel=1e-8)
        assert found.feature_error[index] == pytest.approx(refit.feature_error.mean(), rel=1e-8)
        energy = label_energy(rows.gram, rows.labels, train, ridge, intercept=intercept)
        assert found.label_energy[index] == pytest.approx(energy, rel=1e-8)
    assert found.unused + found.df1 == pytest.approx(15 - int(intercept))


def test_splits_are_averaged_and_leave_groups_together() -> None:
    rows = rows_of(intercept=False, groups=np.repeat(np.arange(N_ROWS // 2), 2))
    left_out = LeaveOneOut.of(Eigenbasis.of(rows), rows.groups)
    kappa = left_out.kappa
    found = split_functions(rows, 11, left_out, np.random.default_rng(3))
    rng, errors, counts = np.random.default_rng(3), [], np.zeros(N_ROWS)
    for _ in range(_MOST_SPLITS):
        order = rows.shuffled(rng)
        assert np.all(np.diff(np.flatnonzero(np.isin(order, [0, 1]))) == 1)
        errors.append(one_split(rows, order[:11], order[12:], kappa).error)
        counts[order[12:]] += 1
    mean = np.mean(errors, axis=0)
    tested = counts @ left_out.row_errors / counts.sum()
    slope = np.minimum(1.0, mean / tested)  # of the control variate
    expected = mean + slope * (left_out.row_errors.mean(axis=0) - tested)
    np.testing.assert_allclose(found.error, expected, rtol=1e-12)


def test_curve_does_not_depend_on_which_rows_are_tested_on() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 3))
    labels = x @ rng.standard_normal((3, 1)) + rng.standard_t(3, (80, 1))
    rows = DataRows(gram=np.exp(x @ x.T / 6), labels=labels)
    left_out = LeaveOneOut.of(Eigenbasis.of(rows))
    middle = int(np.searchsorted(left_out.kappa, 10.0))

    def spread(errors: list[float]) -> float:
        return float(np.std(errors) / np.mean(errors))

    plain, corrected = [], []
    for seed in range(10):
        draws, found = np.random.default_rng(seed), np.random.default_rng(seed)
        orders = [rows.shuffled(draws) for _ in range(_MOST_SPLITS)]
        kappa = left_out.kappa[middle : middle + 1]
        splits = [one_split(rows, order[:64], order[64:], kappa).error[0] for order in orders]
        plain.append(float(np.mean(splits)))
        corrected.append(float(split_functions(rows, 64, left_out, found).error[middle]))
    assert spread(corrected) < spread(plain) / 3


def test_feature_error_of_a_split_vanishes_without_cancellation() -> None:
    dim = 4
    rng = np.random.default_rng(2)
    x = rng.standard_normal((N_ROWS, dim)) / np.sqrt(dim)
    rows = DataRows(gram=x @ x.T, labels=rng.standard_normal((N_ROWS, 1)))
    kappa = np.geomspace(1e-5, 1.0, 6)
    found = one_split(rows, np.arange(12), np.arange(12, N_ROWS), kappa).feature_error
    inside: FloatArray = x[:12].T @ x[:12]
    for value, ridge in zip(found, kappa, strict=True):
        left = ridge * np.linalg.solve(inside + ridge * np.eye(dim), x[12:].T)
        assert value == pytest.approx(np.square(left).sum(axis=0).mean(), rel=1e-4)
