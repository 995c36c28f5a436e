"""Everything drawn, fitted by plain linear algebra, and evaluated: one error of one ensemble."""

import numpy as np
import numpy.typing as npt

import doubletrouble as dt

Values = npt.NDArray[np.float64]

N_TEST = 200


def features(x: Values, theta: Values) -> Values:
    """Centred ReLU features."""
    return np.asarray(np.maximum(x @ theta.T / np.sqrt(x.shape[1]), 0.0) - 1 / np.sqrt(2 * np.pi))


def weights(phi: Values, y: Values, alpha: float, time: float, dim: int) -> Values:
    """Ridge regression, or gradient flow at a time by its matrix exponential."""
    gram = phi.T @ phi + alpha * np.eye(phi.shape[1])
    if np.isinf(time):
        return np.asarray(np.linalg.solve(gram, phi.T @ y))
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(
        vectors @ (-np.expm1(-time / dim * values) / values * (vectors.T @ phi.T @ y))
    )


def error(
    ensemble: dt.Scheme,
    rng: np.random.Generator,
    *,
    dim: int,
    psi1: float,
    psi2: float,
    ridge: float,
    noise: float,
    time: float = np.inf,
) -> float:
    """The test error of the mean of an ensemble, once."""
    members, options = int(np.asarray(ensemble.n_members)), ensemble.options
    p, n = round(psi1 * dim), round(psi2 * dim)
    beta = rng.standard_normal(dim)
    beta /= np.linalg.norm(beta)
    x = rng.standard_normal((n, dim))
    y = x @ beta + noise * rng.standard_normal(n)
    test = rng.standard_normal((N_TEST, dim))
    bank = rng.standard_normal((round(options.get("bank_per_dim", 1) * dim), dim))
    mean = np.zeros(N_TEST)
    for k in range(members):
        rows, theta = np.arange(n), rng.standard_normal((p, dim))
        if isinstance(ensemble, dt.Subsample):
            rows = rng.choice(n, round(options["fraction"] * n), replace=False)
        elif isinstance(ensemble, dt.Bootstrap):
            rows = rng.choice(n, n)  # a sample drawn twice is there twice
        elif isinstance(ensemble, dt.Divide):
            rows = np.arange(k * n // members, (k + 1) * n // members)
        elif isinstance(ensemble, dt.FeatureBank):
            theta = bank[rng.choice(len(bank), p, replace=False)]
        phi = features(x[rows], theta)
        a = weights(phi, y[rows], rows.size * p * ridge / dim, time, dim)
        mean += features(test, theta) @ a / members
    return float(np.mean((test @ beta - mean) ** 2))
