"""The regressor on Gaussian data against the exact theory, in standard errors."""

import math

import numpy as np
import pytest

import doubletrouble as dt

DIM = 120
CASES = [  # P/D, N/D, ensemble
    (2.0, 1.0, 4),
    (0.8, 1.0, dt.Bootstrap(3)),
    (1.0, 1.0, dt.FeatureBank(3, bank_per_dim=1.5)),
    (math.inf, 1.0, dt.Divide(2)),
    (math.inf, 1.0, 1),
    (0.5, 1.0, 1),
    (2.0, 1.0, 1),
    (1.5, 2.0, dt.Divide(2)),
    (1.0, 1.5, dt.Subsample(3, fraction=0.6)),
]


def estimated(
    ratio: float,
    samples: float,
    ridge: float,
    ensemble: int | dt.Scheme = 1,
    activation: str = "relu",
    draws: int = 50,
    n_test: int = 500,
) -> dt.Estimate:
    """The test error of fits on independent data."""
    errors = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        x, new = (rng.standard_normal((n, DIM)) for n in (round(samples * DIM), n_test))
        beta = rng.standard_normal(DIM)
        beta /= np.linalg.norm(beta)
        y = x @ beta + 0.5 * rng.standard_normal(len(x))
        model = dt.RandomFeaturesRidge(
            ratio if math.isinf(ratio) else round(ratio * DIM),
            ridge=ridge,
            ensemble=ensemble,
            activation=activation,
            random_state=seed,
        )
        errors.append(np.mean((model.fit(x, y).predict(new) - new @ beta) ** 2))
    return dt.Estimate.of(np.array(errors))


def deviation(estimate: dt.Estimate, expected: float) -> float:
    """Deviation in standard errors, beyond 2/D of the value for finite size."""
    return (abs(float(estimate.value) - expected) - 2 / DIM * expected) / float(
        estimate.standard_error
    )


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("cases", "draws", "n_test"),
    [(CASES[:4], 50, 500), pytest.param(CASES, 100, 1500, marks=pytest.mark.full)],
)
def test_agrees_with_theory(
    cases: list[tuple[float, float, int | dt.Scheme]], draws: int, n_test: int
) -> None:
    for ratio, samples, ensemble in cases:
        problem = dt.Problem(features_per_dim=ratio, samples_per_dim=samples, ridge=0.01, noise=0.5)
        result = estimated(ratio, samples, 0.01, ensemble, draws=draws, n_test=n_test)
        expected = float(dt.exact_error(problem, ensemble).total)
        assert deviation(result, expected) < 4, (ratio, samples, ensemble)


@pytest.mark.statistical
def test_wrong_ridge_or_activation_deviates() -> None:
    """Negative controls: ridge without the factor P/D, and another activation."""
    problem = dt.Problem(features_per_dim=0.5, samples_per_dim=0.5, ridge=0.1, noise=0.5)
    expected = float(dt.exact_error(problem).total)
    assert deviation(estimated(0.5, 0.5, 0.1), expected) < 4
    assert deviation(estimated(0.5, 0.5, 0.1 / 0.5), expected) > 6
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1, noise=0.5)
    expected = float(dt.exact_error(problem).total)
    assert deviation(estimated(2.0, 1.0, 0.1), expected) < 4
    assert deviation(estimated(2.0, 1.0, 0.1, activation="tanh"), expected) > 6
