"""Speed of the theory of other losses, and of a literal solve for one logistic learner.

The literal solve is the method of GCMProject (arXiv:2102.08127): the proximal map by
`scipy.optimize.minimize_scalar`, means over the field by `scipy.integrate.quad`, sums over the
sampled eigenvalues of the features' covariance, and a damped iteration of m, q and V. It has one
learner; errors by cause need overlaps of two, too.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import expit, ndtr

import doubletrouble as dt
from doubletrouble.convex import order_parameters

CLASSES = {"task": "classification", "flips": 0.1}
CLIPPED: dict[str, dict[str, Any]] = {
    "hinge": CLASSES, "squared_hinge": CLASSES, "max_margin": CLASSES,
    "huber": {"noise": 0.5}, "absolute": {"noise": 0.5}, "quantile:0.9": {"noise": 0.5},
}  # fmt: skip
POINTS = 2000
LITERAL = ((2.0, 2.0, 0.1), (0.5, 2.0, 0.01))  # P/D, N/D, ridge
DIM = 1000  # of the sampled spectrum


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"CPU per point of {POINTS}: P/D and N/D from 0.05 to 20, λ from 1e-6 to 100")
    for loss, others in (CLIPPED | {"logistic": CLASSES}).items():
        batch = _batch(loss, others, rng)
        one = dt.Problem(**{**others, "loss": loss, "features_per_dim": 2.0, "ridge": 1e-2})
        calls: dict[str, Callable[[dt.Problem], object]] = {
            "order parameters": order_parameters,
            "with overlap": lambda problem: order_parameters(problem).overlap(),
            "error by cause, K = 5": partial(dt.exact_error, ensemble=5),
        }
        for name, call in calls.items():
            many = _cpu(partial(call, batch), 2) / POINTS
            single = min(_cpu(partial(call, one), 5) for _ in range(3))
            print(f"{loss:<14} {name:<22} {many * 1e3:7.3f} ms; one point {single * 1e3:5.1f} ms")
    batch = _batch("logistic", CLASSES, rng)
    in_batch = _cpu(partial(order_parameters, batch), 2) / POINTS
    for sizes in LITERAL:
        _compare(*sizes, in_batch)


def _batch(loss: str, others: dict[str, Any], rng: np.random.Generator) -> dt.Problem:
    """Random points; separable ones for the maximum margin."""
    features, samples = np.exp(rng.uniform(math.log(0.05), math.log(20), (2, POINTS)))
    ridge = 10 ** rng.uniform(-6, 2, POINTS)
    problem = dt.Problem(
        **others, loss=loss, features_per_dim=features, samples_per_dim=samples, ridge=ridge
    )
    if loss != "max_margin":
        return problem
    most = features * dt.separability(problem)
    return dt.Problem(
        **others,
        loss=loss,
        features_per_dim=features,
        samples_per_dim=np.minimum(samples, 0.9 * most),
    )


def _cpu(work: Callable[[], object], repeats: int = 1) -> float:
    """CPU seconds of a call: the mean over repeats, after a first call."""
    work()
    start = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - start) / repeats


def _compare(features: float, samples: float, ridge: float, in_batch: float) -> None:
    problem = dt.Problem(
        task="classification", loss="logistic", features_per_dim=features, samples_per_dim=samples,
        ridge=ridge,
    )  # fmt: skip
    spectrum = _spectrum(features, problem.moments.linear, problem.moments.nonlinear)
    start = time.process_time()
    literal, steps = _literal(spectrum, features, samples, ridge)
    theirs = time.process_time() - start
    ours = _cpu(partial(order_parameters, problem), 5)
    exact = order_parameters(problem)
    off = [abs(a / b - 1) for a, b in zip(literal, (exact.m, exact.q, exact.V), strict=True)]
    print(
        f"logistic, P/D = {features:g}, N/D = {samples:g}, λ = {ridge:g}: literal {theirs:.2f} s "
        f"in {steps} steps, order_parameters {ours * 1e3:.2f} ms: {theirs / ours:.0f} x, per point "
        f"of a batch {theirs / in_batch:.0f} x; m, q, V "
        f"differ by {', '.join(f'{one:.0e}' for one in off)} (finite D = {DIM} of its spectrum)"
    )


# --- the literal method --------------------------------------------------------------------------


def _spectrum(features: float, mu1: float, star: float) -> tuple[Any, Any]:
    """Eigenvalues of the features' covariance, and the teacher's square components there."""
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((round(features * DIM), DIM)) / math.sqrt(DIM)  # (P, D)
    values, vectors = np.linalg.eigh(mu1**2 * theta @ theta.T + star**2 * np.eye(len(theta)))
    # the mean over teachers of norm 1
    return values, mu1**2 * np.sum((vectors.T @ theta) ** 2, axis=1) / DIM  # (P,)


def _literal(
    spectrum: tuple[Any, Any], features: float, samples: float, ridge: float
) -> tuple[tuple[float, float, float], int]:
    """m, q and V by damped iteration, until they stop moving by 1e-7."""
    values, teacher = spectrum
    m, q, V, change, steps = 0.1, 1.0, 1.0, 1.0, 0
    while change > 1e-7:
        m_hat, q_hat, v_hat = _forces(m, q, V, samples)
        stiff = ridge * features * samples + v_hat * values
        new = (
            m_hat * float(np.sum(teacher / stiff)),
            float(np.sum((m_hat**2 * teacher + q_hat * values / DIM) * values / stiff**2)),
            float(np.sum(values / stiff)) / DIM,
        )
        damped = [0.5 * a + 0.5 * b for a, b in zip((m, q, V), new, strict=True)]
        change = max(abs(a - b) for a, b in zip((m, q, V), damped, strict=True))
        (m, q, V), steps = damped, steps + 1
    return (m, q, V), steps


def _forces(m: float, q: float, V: float, samples: float) -> tuple[float, float, float]:
    """The response of the outputs to their labels: m̂, q̂ and v̂."""
    rest = math.sqrt(1 - m**2 / q)

    def force(field: float) -> float:
        def objective(z: float) -> float:
            return (z - field) ** 2 / (2 * V) + float(np.logaddexp(0.0, -z))

        return (float(minimize_scalar(objective).x) - field) / V

    def mean(function: Callable[[float, float], float]) -> float:
        """Over a normal field of power q; both labels count alike."""

        def integrand(x: float) -> float:
            field = math.sqrt(q) * x
            density = math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
            return density * function(field, m / math.sqrt(q) * x / rest)

        return 2 * float(quad(integrand, -10, 10, epsabs=1e-9, epsrel=1e-9)[0])

    def slope(field: float) -> float:
        second = float(expit(z := field + V * force(field)) * expit(-z))
        return second / (1 + V * second)

    def normal(t: float) -> float:
        return math.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)

    return (
        samples * mean(lambda field, t: force(field) * normal(t) / rest),
        samples * mean(lambda field, t: force(field) ** 2 * float(ndtr(t))),
        samples * mean(lambda field, t: slope(field) * float(ndtr(t))),
    )


if __name__ == "__main__":
    main()
