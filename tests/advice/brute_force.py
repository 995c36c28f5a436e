"""The best allocation by brute force: a grid over K, P and λ, refined around its minimum.

Only the error is shared with the search of the package.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.advice._settings import n_features_of, n_samples_of
from doubletrouble.costs import CostName, cost_of
from doubletrouble.ensembles import named_ensemble
from doubletrouble.options import Option
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import ridge_name

AnyProblem = dt.Problem | dt.SpectralProblem


def sizes(problem: AnyProblem) -> tuple[str, float]:
    """The name of P, and N."""
    if isinstance(problem, dt.Problem):
        return "features_per_dim", float(np.asarray(problem.samples_per_dim))
    return "n_features", float(np.asarray(problem.n_samples))


def setting(option: Option) -> tuple[AnyProblem, dt.Scheme]:
    """The problem and the models of an option."""
    assert option.problem is not None
    assert option.ensemble is not None
    return option.problem, option.ensemble


def features(option: Option) -> float:
    """P in the units of the problem."""
    return n_features_of(setting(option)[0])


def samples(option: Option) -> float:
    """N in the units of the problem."""
    return n_samples_of(setting(option)[0])


def models(option: Option) -> float:
    """The number of models of an option."""
    return float(np.asarray(setting(option)[1].n_members))


def scheme_of(option: Option) -> str:
    """The name of the scheme of an option."""
    return setting(option)[1].name


def paid(option: Option, measure: CostName) -> float:
    """The cost of an option, in the units of its problem."""
    sizes = features(option), samples(option), models(option)
    return cost_of(*sizes, scheme_of(option), measure)


def total(
    problem: AnyProblem, K: Any, scheme: str, *, ridge: Any = None, **changes: Any
) -> FloatArray:
    if ridge is not None:
        changes[ridge_name(problem)] = ridge
    return np.asarray(dt.exact_error(replace(problem, **changes), named_ensemble(scheme, K)).total)


def cost(P: Any, N: float, K: Any, scheme: str, measure: str) -> Any:
    if measure == "features":
        return P * K
    n = N / K if scheme == "divide" else N
    return K * n * P * np.minimum(n, P)


def widest(budget: float, N: float, K: FloatArray, scheme: str, measure: str) -> FloatArray:
    """The greatest affordable P, by bisection."""
    low, high = np.full_like(K, -60.0), np.full_like(K, 60.0)
    for _ in range(200):
        middle = (low + high) / 2
        fits = cost(np.exp(middle), N, K, scheme, measure) <= budget
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.exp(low)


def members() -> FloatArray:
    """Numbers of models of the first grid."""
    return np.unique(np.round(np.geomspace(1, 3e5, 120)))


def between(K: FloatArray, errors: FloatArray) -> FloatArray:
    """Whole numbers around the best two."""
    tried = [K[np.argsort(errors)[:10]]]
    for i in np.argsort(errors)[:2]:
        low, high = K[max(i - 1, 0)], K[min(i + 1, K.size - 1)]
        tried.append(np.rint(np.linspace(low, high, int(min(high - low + 1, 200)))))
    return np.unique(np.concatenate(tried))


def least_at_this_ridge(problem: AnyProblem, budget: float, scheme: str, measure: str) -> float:
    """The least error over K and P, at the ridge of the problem."""
    name, N = sizes(problem)

    def at(K: FloatArray, x: FloatArray) -> FloatArray:
        top = widest(budget, N, K, scheme, measure)
        P = top[:, None] * np.exp(x)
        return total(problem, K[:, None], scheme, **{name: P})

    return _refined(at, low=-16.0, high=0.0, points=400)


def least(problem: AnyProblem, budget: float, scheme: str, measure: str) -> float:
    """The least error over K, P and λ."""
    name, N = sizes(problem)
    best = math.inf
    for share in (1.0, 0.97, 0.8, 0.5, 0.2, 0.05):

        def at(K: FloatArray, x: FloatArray, share: float = share) -> FloatArray:
            P = (share * widest(budget, N, K, scheme, measure))[:, None]
            some = total(problem, K[:, None], scheme, **{name: P}, ridge=np.exp(x))
            ends = np.array([0.0, math.inf])
            limits = total(problem, K[:, None], scheme, **{name: P}, ridge=ends)
            least: FloatArray = np.minimum(some, limits.min(axis=1)[:, None])
            return least

        best = min(best, _refined(at, low=-30.0, high=20.0, points=800))
    return best


def _refined(
    at: Callable[[FloatArray, FloatArray], FloatArray], *, low: float, high: float, points: int
) -> float:
    """A grid for every K, then all K around the best, then finer grids for these."""
    K, grid = members(), np.linspace(low, high, points)
    errors = at(K, grid[None, :])
    K = between(K, errors.min(axis=1))
    errors = at(K, grid[None, :])
    K = np.union1d(K[np.argsort(errors.min(axis=1))[:60]], np.arange(1.0, 6.0))
    x = np.broadcast_to(grid, (K.size, points))
    rows = np.arange(K.size)
    for _ in range(8):
        errors = at(K, x)
        i = errors.argmin(axis=1)
        ends = x[rows, np.maximum(i - 1, 0)], x[rows, np.minimum(i + 1, x.shape[1] - 1)]
        x = np.linspace(*ends, 21, axis=1)
    return float(at(K, x).min())


def random_problem(rng: np.random.Generator, *, spectral: bool = False) -> tuple[AnyProblem, float]:
    """A problem of typical size, and a budget on its features."""
    ridge = 0.0 if rng.random() < 0.2 else 10 ** rng.uniform(-6, 1)
    shared: dict[str, Any] = {
        "noise": 10 ** rng.uniform(-1.5, 1),
        "nonlinear_signal": rng.uniform(0, 1) * (rng.random() < 0.3),
    }
    if not spectral:
        problem = dt.Problem(
            features_per_dim=10 ** rng.uniform(-1, 1),
            samples_per_dim=10 ** rng.uniform(-1, 1),
            activation=str(rng.choice(["relu", "tanh", "erf", "sign"])),
            ridge=ridge,
            **shared,
        )
        return problem, 10 ** rng.uniform(-1, 1.7)
    levels = np.arange(1, rng.integers(5, 40)) ** -rng.uniform(0.5, 2.5)
    powers = rng.permutation(levels) if rng.random() < 0.3 else levels
    spectrum = dt.SpectralProblem(
        eigenvalues=levels,
        target_powers=powers,
        tail=rng.uniform(0.001, 0.3),
        n_features=10 ** rng.uniform(0.5, 2.5),
        n_samples=10 ** rng.uniform(0.5, 2.5),
        gram_ridge=ridge,
        **shared,
    )
    return spectrum, 10 ** rng.uniform(0.5, 3)
