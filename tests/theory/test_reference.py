"""The authors' stored values and 60-digit oracles, stored with the figures."""

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import doubletrouble as dt
from doubletrouble.theory import psi_terms

FOLDER = Path(dt.__file__).parent / "figures" / "reference"

PSI = {
    "Psi1": "psi1",
    "Psi2v": "psi2_vanilla",
    "Psi3v": "psi3_vanilla",
    "Psi2e": "psi2_ensemble",
    "Psi3e": "psi3_ensemble",
    "Psi2d": "psi2_divide",
}
FloatArray = npt.NDArray[np.float64]


def table(name: str) -> dict[str, FloatArray]:
    with (FOLDER / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {
        column: np.array([float(row[column]) for row in rows])
        for column in rows[0]
        if rows[0][column]  # a column the authors left empty
    }


def problem_at(columns: dict[str, FloatArray]) -> dt.Problem:
    return dt.Problem(
        features_per_dim=columns["psi1"], samples_per_dim=columns["psi2"], ridge=columns["lambda"]
    )


@pytest.mark.parametrize(
    "name",
    [
        "four_points",
        "psi1_0.5_lambda1e-5_vs_N_over_D",
        "psi1_1.5_psi2_1_vs_lambda",
        "psi1_10_lambda1e-5_vs_N_over_D",
        "psi1_1_lambda1e-5_vs_N_over_D",
        "psi1_2_psi2_1_vs_lambda",
        "psi1_5_lambda1e-5_vs_N_over_D",
        "psi2_1_lambda1e-1",
        "psi2_1_lambda1e-5",
    ],
)
def test_terms_equal_sixty_digits(name: str) -> None:
    columns = table(f"oracle_mp60_{name}")
    got = psi_terms(problem_at(columns))
    for theirs, ours in PSI.items():
        # grid points in the table have more digits than a float: next to P = N that shows
        np.testing.assert_allclose(getattr(got, ours), columns[theirs], rtol=1e-12, err_msg=ours)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("fig2_psi_lambda1e-5_psi2_1", 1e-6),
        ("fig3b_psi_lambda1e-1_psi2_1", 1e-10),
        ("fig7left_psi_vs_lambda_psi1_1.5_psi2_1", 1e-10),
    ],
)
def test_terms_equal_the_authors_values(name: str, tolerance: float) -> None:
    columns = table(name)
    got = psi_terms(problem_at(columns))
    compared = [theirs for theirs in PSI if theirs in columns]
    assert len(compared) >= 5
    for theirs in compared:
        np.testing.assert_allclose(
            getattr(got, PSI[theirs]), columns[theirs], rtol=tolerance, err_msg=theirs
        )


@pytest.mark.parametrize(
    ("name", "ridge", "members", "tolerance"),
    [
        ("fig3_top_decomposition_lambda1e-5_SNR1_K1", 1e-5, 1, 1e-6),
        ("fig3_bottom_decomposition_lambda1e-1_SNR1_K1", 1e-1, 1, 1e-10),
        ("fig6_decomposition_lambda1e-5_SNR1_K10", 1e-5, 10, 1e-6),
    ],
)
def test_parts_equal_the_authors_values(
    name: str, ridge: float, members: int, tolerance: float
) -> None:
    columns = table(name)
    problem = dt.Problem(features_per_dim=10 ** columns["log10_P_over_N"], ridge=ridge)
    error = dt.exact_error(problem, members)
    total = columns["total"]
    np.testing.assert_allclose(error.total, total, rtol=tolerance)
    parts = {
        "init_variance": "initialization",
        "noise_variance": "noise",
        "sampling_variance": "sampling",
        "bias": "bias",
    }
    for theirs, ours in parts.items():
        # their parts are differences of terms with an error of 1e-7: small parts lose digits
        off = np.abs(getattr(error, ours) - columns[theirs])
        assert np.max(off / total) < tolerance, ours


def test_errors_along_the_width_equal_the_authors_values() -> None:
    columns = table("fig5_test_error_lambda1e-5_SNR10")
    problem = dt.Problem(features_per_dim=10 ** columns["log10_P_over_N"], noise=0.1)
    for column, members in {"K1": 1, "K2": 2, "K10": 10, "Kinf": np.inf}.items():
        np.testing.assert_allclose(
            dt.exact_error(problem, members).total, columns[column], rtol=1e-6, err_msg=column
        )


def test_errors_along_the_ridge_equal_the_authors_values() -> None:
    columns = table("fig7left_test_error_vs_lambda_psi1_1.5_SNR10")
    problem = dt.Problem(features_per_dim=1.5, ridge=10 ** columns["log10_lambda"], noise=0.1)
    for column, members in {"K1": 1, "K2": 2, "K10": 10, "Kinf": np.inf}.items():
        np.testing.assert_allclose(
            dt.exact_error(problem, members).total, columns[column], rtol=1e-10, err_msg=column
        )


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_errors_at_the_best_ridge_equal_the_authors_values(noise: float) -> None:
    columns = table(f"fig7right_optimal_lambda_tau{noise:g}")
    problem = dt.Problem(features_per_dim=columns["psi1"], ridge=columns["lambda_opt"], noise=noise)
    np.testing.assert_allclose(dt.exact_error(problem).total, columns["errV_opt_K1"], rtol=1e-6)
    best = dt.optimal_ridge(problem)
    assert np.all(best.error.total <= columns["errV_opt_K1"] * (1 + 1e-6))
    assert np.all(best.error.total >= columns["errV_opt_K1"] * (1 - 2e-2))  # theirs is on a grid
    many = dt.Problem(features_per_dim=columns["psi1"], ridge=1e-5, noise=noise)
    np.testing.assert_allclose(dt.exact_error(many, np.inf).total, columns["err_Kinf"], rtol=1e-6)


@pytest.mark.parametrize("features", [0.5, 5])
def test_errors_of_wider_models_and_ensembles_equal_the_authors_values(features: float) -> None:
    """The authors' teacher is nonlinear."""
    with (FOLDER / f"fig_morevsbig_psi1_{features:g}_K2_tau0.1_FStar0.1.csv").open() as file:
        rows = list(csv.DictReader(file))
    curves = {row["curve"] for row in rows}
    off = {}
    for curve in curves:
        points = [row for row in rows if row["curve"] == curve]
        samples = np.array([10 ** float(row["log10_N_over_D"]) for row in points])
        stored = np.array([float(row["test_error"]) for row in points])
        bigger, members = curve.startswith("bigger"), 2 if curve.startswith("ensemble") else 1
        problem = dt.Problem(
            features_per_dim=features * (2 if bigger else 1),
            samples_per_dim=samples,
            noise=0.1,
            nonlinear_signal=0.1,
        )
        total = np.asarray(dt.exact_error(problem, members).total)
        off[curve] = np.abs(total / stored - 1)
    assert len(off) == 3
    every = np.concatenate(list(off.values()))
    # one stored value of 284 is itself 1.3e-6 from the 50-digit result (P/D = 0.5, N/D = 0.132)
    assert np.count_nonzero(every > 1e-6) == (1 if features == 0.5 else 0)
    assert every.max() < 2e-6
