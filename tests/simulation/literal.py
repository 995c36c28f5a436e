"""Everything drawn, fitted by plain linear algebra, and evaluated: test errors of ensembles."""

import numpy as np
import numpy.typing as npt

import doubletrouble as dt

Values = npt.NDArray[np.float64]

N_TEST = 200


def features(x: Values, theta: Values) -> Values:
    """Centred ReLU features."""
    hidden = x @ theta.swapaxes(1, 2) / np.sqrt(x.shape[2])
    return np.asarray(np.maximum(hidden, 0.0) - 1 / np.sqrt(2 * np.pi))


def weights(phi: Values, y: Values, alpha: float, time: float, dim: int) -> Values:
    """Ridge regression, or gradient flow at a time by its matrix exponential."""
    gram = phi.swapaxes(1, 2) @ phi + alpha * np.eye(phi.shape[2])
    right = phi.swapaxes(1, 2) @ y
    if np.isinf(time):
        return np.asarray(np.linalg.solve(gram, right))
    values, vectors = np.linalg.eigh(gram)
    gain = -np.expm1(-time / dim * values) / values
    return np.asarray(vectors @ (gain[:, :, None] * (vectors.swapaxes(1, 2) @ right)))


def errors(
    ensemble: dt.Scheme,
    count: int,
    *,
    dim: int,
    psi1: float,
    psi2: float,
    ridge: float,
    noise: float,
    time: float = np.inf,
) -> Values:
    """The test error of the mean of an ensemble, in independent repetitions, the first axis."""
    rng = np.random.default_rng(0)
    members = int(np.asarray(ensemble.n_members))
    options = {name: float(value) for name, value in ensemble.options.items()}
    p, n = round(psi1 * dim), round(psi2 * dim)
    beta = rng.standard_normal((count, dim, 1))
    beta /= np.linalg.norm(beta, axis=1, keepdims=True)
    x = rng.standard_normal((count, n, dim))
    y = x @ beta + noise * rng.standard_normal((count, n, 1))
    test = rng.standard_normal((count, N_TEST, dim))
    bank = rng.standard_normal((count, round(options.get("bank_per_dim", 1) * dim), dim))
    each, mean = np.arange(count)[:, None], np.zeros((count, N_TEST, 1))

    def shuffled(size: int) -> npt.NDArray[np.int64]:
        return rng.permuted(np.tile(np.arange(size), (count, 1)), axis=1)

    for k in range(members):
        rows, theta = shuffled(n), rng.standard_normal((count, p, dim))
        if isinstance(ensemble, dt.Subsample):
            rows = rows[:, : round(options["fraction"] * n)]
        elif isinstance(ensemble, dt.Bootstrap):
            rows = rng.integers(n, size=(count, n))  # a sample may be drawn twice
        elif isinstance(ensemble, dt.Divide):
            rows = np.tile(np.arange(k * n // members, (k + 1) * n // members), (count, 1))
        elif isinstance(ensemble, dt.FeatureBank):
            theta = bank[each, shuffled(bank.shape[1])[:, :p]]
        phi = features(x[each, rows], theta)
        a = weights(phi, y[each, rows], rows.shape[1] * p * ridge / dim, time, dim)
        mean += features(test, theta) @ a / members
    return np.asarray(np.mean((test @ beta - mean) ** 2, axis=(1, 2)))
