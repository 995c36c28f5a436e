"""The regressor on Gaussian data against the exact theory, in standard errors."""

import numpy as np
import pytest

import doubletrouble as dt

DIM, DRAWS, N_TEST = 120, 100, 1500


def estimated(
    ratio: float, samples: float, ridge: float, members: int, scheme: str, activation: str = "relu"
) -> dt.Estimate:
    """The test error of fits on independent data."""
    errors = []
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        x, new = (rng.standard_normal((n, DIM)) for n in (round(samples * DIM), N_TEST))
        beta = rng.standard_normal(DIM)
        beta /= np.linalg.norm(beta)
        y = x @ beta + 0.5 * rng.standard_normal(len(x))
        model = dt.RandomFeaturesRidge(
            round(ratio * DIM), ridge=ridge, n_members=members, scheme=scheme,
            activation=activation, random_state=seed,
        )  # fmt: skip
        errors.append(np.mean((model.fit(x, y).predict(new) - new @ beta) ** 2))
    return dt.Estimate.of(np.array(errors))


def off(found: dt.Estimate, expected: float) -> float:
    """Deviation in standard errors, beyond 2/D of the value for finite size."""
    return (abs(float(found.value) - expected) - 2 / DIM * expected) / float(found.standard_error)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("ratio", "samples", "members", "scheme"),
    [
        (0.5, 1.0, 1, "ensemble"),
        (2.0, 1.0, 1, "ensemble"),
        (2.0, 1.0, 4, "ensemble"),
        (1.5, 2.0, 2, "divide"),
    ],
)
def test_agrees_with_theory(ratio: float, samples: float, members: int, scheme: str) -> None:
    problem = dt.Problem(features_per_dim=ratio, samples_per_dim=samples, ridge=0.01, noise=0.5)
    found = estimated(ratio, samples, 0.01, members, scheme)
    assert off(found, float(dt.exact_error(problem, members, scheme).total)) < 4


@pytest.mark.statistical
def test_another_convention_of_the_ridge_is_noticed() -> None:
    """Negative controls: ridge without the factor P/D, and another activation."""
    problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1, noise=0.5)
    expected = float(dt.exact_error(problem).total)
    assert off(estimated(2.0, 1.0, 0.1, 1, "ensemble"), expected) < 4
    assert off(estimated(2.0, 1.0, 0.1 / 2, 1, "ensemble"), expected) > 6
    assert off(estimated(2.0, 1.0, 0.1, 1, "ensemble", "tanh"), expected) > 6
