"""Theory against Monte Carlo, in standard errors: |z| < 5 everywhere, and controls that fail."""

import os
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.theory import psi_terms
from tests.oracles import replica
from tests.selection import full_beyond
from tests.theory import features, traces
from tests.theory.traces import FloatArray, Setting

pytestmark = pytest.mark.statistical

LIMIT = 5.0
SEED = int(os.environ.get("DOUBLETROUBLE_SEED", "0"))  # any seed must pass
CONTROL = 10.0
LARGE = ((200, 40), (400, 16))  # dimension and number of draws
SMALL = ((60, 100), (120, 50))  # of the cases that every run checks
POWERS = {"signal": 1.2, "noise": 0.6, "nonlinear_signal": 0.5}


class Case(NamedTuple):
    activation: str
    features: float  # P/D
    samples: float  # N/D, of each learner
    ridge: float
    decay: float = 0.0  # the inputs' variances fall as exp(-decay · i/D)
    sizes: tuple[tuple[int, int], ...] = LARGE


CASES = (
    *(
        Case(activation, p, n, ridge)
        for activation in ("relu", "tanh", "erf")
        for p, n, ridge in ((0.5, 1.0, 1e-3), (1.0, 1.0, 1e-2), (2.0, 1.0, 0.1), (1.5, 0.6, 1e-3))
    ),
    Case("relu", 0.8, 2.0, 1e-5),
    Case("sign", 2.0, 1.0, 1e-6),
    Case("abs", 0.7, 1.0, 1e-2),
    Case("linear", 1.6, 0.8, 1e-2),
    Case("relu", 0.5, 1.0, 1e-2, decay=3.0),
    Case("relu", 1.0, 1.0, 1e-2, decay=3.0),
    Case("tanh", 2.0, 1.0, 1e-2, decay=3.0),
)
DEFAULT = (
    Case("relu", 2.0, 1.0, 0.1, sizes=SMALL),
    Case("relu", 1.0, 1.0, 1e-2, decay=3.0, sizes=SMALL),
)


def variances(case: Case, dim: int) -> FloatArray:
    """Input variances, and teacher powers that fall even faster (none of either if isotropic)."""
    return np.exp(-case.decay * (np.arange(dim) + 0.5) / dim)


@cache
def measured(case: Case) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    tables = []
    for dim, n_draws in case.sizes:
        spread = variances(case, dim)
        setting = Setting(
            dim=dim,
            features_per_dim=case.features,
            samples_per_dim=case.samples,
            ridge=case.ridge,
            activation=dt.activation(case.activation),
            variances=spread,
            powers=spread**2,
        )
        tables.append(traces.draws(setting, n_draws, seed=SEED))
    small, large = tables
    return small, large


def z_scores(case: Case, expected: dict[str, Any], combine: Any) -> dict[str, float]:
    small, large = (combine(table) for table in measured(case))
    return {
        name: traces.extrapolated(small[name], large[name]).z_score(value)
        for name, value in expected.items()
    }


def problem_of(case: Case, **powers: Any) -> dt.Problem | dt.SpectralProblem:
    if not case.decay:
        return dt.Problem(
            features_per_dim=case.features,
            samples_per_dim=case.samples,
            ridge=case.ridge,
            activation=case.activation,
            **powers,
        )
    dim, moments = 2000, dt.activation(case.activation)  # fine enough for D → ∞
    spread = variances(case, dim)
    weights = spread**2 / np.sum(spread**2)
    return dt.SpectralProblem(
        eigenvalues=moments.linear**2 * spread / dim,
        target_powers=powers.pop("signal") ** 2 * weights,
        tail=moments.nonlinear**2,
        n_features=case.features * dim,
        n_samples=case.samples * dim,
        gram_ridge=dt.convert_ridge(
            case.ridge,
            "paper",
            "gram",
            n_features=case.features * dim,
            n_samples=case.samples * dim,
            dim=dim,
        ),
        **powers,
    )


def check_psi_terms(case: Case) -> None:
    if case.decay:  # they are defined for isotropic data
        return
    problem = problem_of(case)
    assert isinstance(problem, dt.Problem)
    z = z_scores(case, psi_terms(problem).by_name, lambda table: table)
    assert max(map(abs, z.values())) < LIMIT, z


def ensemble_of_ten(t: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """The decomposition for K = 10 on one data set, draw by draw, from the measured terms."""
    F2, T2, G2 = (POWERS[k] ** 2 for k in ("signal", "noise", "nonlinear_signal"))
    own = t["psi3_vanilla"] - t["psi3_ensemble"]
    return {
        "noise": T2 * (t["psi3_ensemble"] + own / 10),
        "initialization": (F2 * (t["psi2_vanilla"] - t["psi2_ensemble"]) + G2 * own) / 10,
        "sampling": F2 * (t["psi2_ensemble"] - t["psi2_divide"]) + G2 * t["psi3_ensemble"],
        "bias": F2 * (1 - 2 * t["psi1"] + t["psi2_divide"]) + G2,
    }


def twice_the_data(problem: dt.Problem | dt.SpectralProblem) -> dt.Problem | dt.SpectralProblem:
    """The problem whose two halves are simulated."""
    if isinstance(problem, dt.Problem):
        return replace(problem, samples_per_dim=2 * np.asarray(problem.samples_per_dim))
    # δ/2 on each half is the ridge of each learner
    twice = [2 * np.asarray(v) for v in (problem.n_samples, problem.gram_ridge)]
    return replace(problem, n_samples=twice[0], gram_ridge=twice[1])


def half_the_data_each(t: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Two learners with fresh data and features: the error of their mean."""
    F2, G2 = POWERS["signal"] ** 2, POWERS["nonlinear_signal"] ** 2
    own = F2 * t["psi2_vanilla"] + (POWERS["noise"] ** 2 + G2) * t["psi3_vanilla"]
    return {"total": F2 * (1 - 2 * t["psi1"]) + G2 + own / 2 + F2 * t["psi2_divide"] / 2}


def check_decomposition_of_an_ensemble(case: Case) -> None:
    error = dt.exact_error(problem_of(case, **POWERS), 10)
    expected = {
        name: getattr(error, name) for name in ("noise", "initialization", "sampling", "bias")
    }
    z = z_scores(case, expected, ensemble_of_ten)
    assert max(map(abs, z.values())) < LIMIT, z


def check_divide_and_conquer(case: Case) -> None:
    problem = twice_the_data(problem_of(case, **POWERS))
    expected = {"total": dt.exact_error(problem, dt.Divide(2)).total}
    z = z_scores(case, expected, half_the_data_each)
    assert abs(z["total"]) < LIMIT, z


def check_symmetric_split(case: Case) -> None:
    split = dt.anova(problem_of(case, **POWERS))

    def combine(t: dict[str, FloatArray]) -> dict[str, FloatArray]:
        F2, G2 = POWERS["signal"] ** 2, POWERS["nonlinear_signal"] ** 2
        own = t["psi3_vanilla"] - t["psi3_ensemble"]
        both = t["psi2_vanilla"] - t["psi2_ensemble"] - t["psi2_features"] + t["psi2_divide"]
        return {
            "initialization": F2 * (t["psi2_features"] - t["psi2_divide"]),
            "initialization_sampling": F2 * both + G2 * own,
        }

    expected = {
        name: getattr(split, name) for name in ("initialization", "initialization_sampling")
    }
    z = z_scores(case, expected, combine)
    assert max(map(abs, z.values())) < LIMIT, z


def check_training_error(case: Case) -> None:
    signal, noise = POWERS["signal"] ** 2, POWERS["noise"] ** 2
    problem = problem_of(case, signal=POWERS["signal"], noise=POWERS["noise"])

    def combine(t: dict[str, FloatArray]) -> dict[str, FloatArray]:
        one = signal * t["train_signal"] + noise * t["train_noise"]
        pair = signal * t["train_pair_signal"] + noise * t["train_pair_noise"]
        divided = signal * t["train_divide_signal"] + noise * t["train_divide_noise"]
        return {"one": one, "three": one / 3 + 2 * pair / 3, "divided": divided}

    expected = {"one": dt.training_error(problem), "three": dt.training_error(problem, 3)}
    expected["divided"] = dt.training_error(twice_the_data(problem), dt.Divide(2))
    z = z_scores(case, expected, combine)
    assert max(map(abs, z.values())) < LIMIT, z


CHECKS = (
    check_psi_terms,
    check_decomposition_of_an_ensemble,
    check_divide_and_conquer,
    check_symmetric_split,
    check_training_error,
)
MISPRINTS = {5: "psi3_ensemble", 6: "psi2_ensemble", 7: "psi2_divide", 8: "psi2_divide"}
MISPRINTS |= {9: "psi3_vanilla", 10: "psi3_ensemble"}


@pytest.mark.parametrize(
    "case",
    full_beyond(DEFAULT, (*DEFAULT, *CASES)),
    ids=lambda c: f"{'-'.join(map(str, c[:-1]))}-D={c.sizes[-1][0]}",
)
def test_theory_agrees_with_monte_carlo(case: Case) -> None:
    """All checks of a case are in one test, since they share its draws."""
    for check in CHECKS:
        check(case)
    if case != DEFAULT[0]:
        return
    problem = problem_of(case)
    assert isinstance(problem, dt.Problem)
    for erratum, term in MISPRINTS.items():  # negative control: every single misprint is detected
        wrong = replica.psi_terms(problem, printed={erratum})
        z = z_scores(case, {term: wrong[term]}, lambda table: table)
        assert abs(z[term]) > CONTROL, erratum


CURVED = POWERS | {"nonlinear_signal": 1.0}


def curved_theory(**powers: Any) -> dt.ErrorTerms[Any]:
    return dt.exact_error(
        dt.Problem(features_per_dim=1.5, samples_per_dim=1.0, ridge=1e-2, **powers)
    )


SIZES_OF_TRUE_FEATURES = (((50, 240), (100, 120)), ((100, 400), (200, 150)))


@pytest.mark.parametrize(
    "sizes",
    full_beyond(SIZES_OF_TRUE_FEATURES[:1], SIZES_OF_TRUE_FEATURES),
    ids=lambda s: f"D={s[1][0]}",
)
def test_nonlinear_teacher_is_not_label_noise(sizes: tuple[tuple[int, int], ...]) -> None:
    """F⋆ contributes to bias, sampling and initialization, and not to noise.

    The features are true ReLU features, the teacher is truly quadratic.
    """
    setting = features.Setting(features_per_dim=1.5, samples_per_dim=1.0, ridge=1e-2, **CURVED)
    small, large = (features.draws(setting, dim, n, seed=SEED + 1) for dim, n in sizes)
    simulated = {name: traces.extrapolated(small[name], large[name]) for name in small}
    theory = curved_theory(**CURVED)
    z = {name: value.z_score(getattr(theory, name)) for name, value in simulated.items()}
    assert max(map(abs, z.values())) < LIMIT, z
    # negative control: F⋆ as label noise changes sampling and initialization
    loud = float(np.hypot(CURVED["noise"], CURVED["nonlinear_signal"]))
    wrong = curved_theory(signal=CURVED["signal"], noise=loud)
    z = {name: value.z_score(getattr(wrong, name)) for name, value in simulated.items()}
    assert min(abs(z[name]) for name in ("noise", "initialization", "bias")) > CONTROL, z
    assert z["sampling"] > LIMIT, z
