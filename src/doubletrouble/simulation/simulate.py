r"""Simulate ridge regression on random features at finite size.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features; products
of independent copies give every Ψ term without bias (`terms`), and the draws give the standard
errors. Means deviate from the theory by O(1/D).
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble.errors import require
from doubletrouble.parameters import FloatArray, checked, refuse
from doubletrouble.problems import Problem
from doubletrouble.results import Estimate, PsiTerms
from doubletrouble.ridge import ridge_to
from doubletrouble.simulation.features import (
    Convert,
    Slope,
    gaussian_features,
    slope_by_power,
    true_features,
)
from doubletrouble.simulation.kernel import kernel_terms
from doubletrouble.simulation.terms import draw_terms

MODELS = ("features", "gaussian", "kernel")
SCHEMES = ("ensemble", "divide")

Draws: TypeAlias = dict[str, FloatArray]
"""Every Ψ term, one number for each draw."""


@dataclass(frozen=True, kw_only=True)
class ErrorEstimates:
    """The test error by cause, each part with its standard error."""

    noise: Estimate
    initialization: Estimate
    sampling: Estimate
    bias: Estimate
    total: Estimate


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """What was simulated, at the sizes realized, and every term of every draw."""

    problem: Problem
    dim: int
    model: str
    seed: int
    draws: Draws
    divided: dict[float, Draws]  # by the number of learners the data are divided among

    @property
    def psi(self) -> PsiTerms[Estimate]:
        """Every Ψ term as an `Estimate`."""
        return PsiTerms(**{name: Estimate.of(v) for name, v in self.draws.items()})

    def error(self, n_members: float = 1, scheme: str = "ensemble") -> ErrorEstimates:
        """The test error of K models averaged, by cause.

        An ensemble may have any number of members. Divided data are simulated for the numbers
        `simulate` was given.
        """
        K = float(checked("n_members", n_members, glossary.N_MEMBERS))
        if scheme == "ensemble":
            return self._parts(self.draws, data=1.0, member=1 / K)
        if scheme != "divide" or K not in self.divided:
            known = ", ".join(f"{k:g}" for k in self.divided) or "none"
            raise ValueError(
                f"scheme must be 'ensemble', or 'divide' with n_members simulated ({known}), "
                f"got {scheme!r} with {K:g}"
            )
        return self._parts(self.divided[K], data=1 / K, member=1 / K)

    def _parts(self, t: Draws, *, data: float, member: float) -> ErrorEstimates:
        p = self.problem
        powers = (p.signal, p.nonlinear_signal, p.noise, p.test_noise)
        F2, G2, T2, bayes = (float(np.square(v)) for v in powers)
        shared, own = t["psi3_ensemble"], t["psi3_vanilla"] - t["psi3_ensemble"]
        parts = {
            "noise": T2 * (data * shared + member * own),
            "initialization": member * (F2 * (t["psi2_vanilla"] - t["psi2_ensemble"]) + G2 * own),
            "sampling": data * (F2 * (t["psi2_ensemble"] - t["psi2_divide"]) + G2 * shared),
            "bias": F2 * (1 - 2 * t["psi1"] + t["psi2_divide"]) + G2,
        }
        parts["total"] = np.sum(list(parts.values()), axis=0) + bayes
        return ErrorEstimates(**{name: Estimate.of(v) for name, v in parts.items()})


def simulate(
    problem: Problem, *, dim: int, model: str = "features", n_data: int = 10, n_init: int = 10,
    n_members: Sequence[float] = (1,), schemes: Sequence[str] = ("ensemble",), seed: int = 0,
    device: str = "cpu",
) -> Simulation:  # fmt: skip
    """Simulate a problem at dimension `dim`, with P and N rounded to whole numbers.

    `model="features"` uses the true activation, `"gaussian"` the equivalent Gaussian covariates,
    `"kernel"` (with `features_per_dim=math.inf`) the exact kernel of infinitely many features.
    With "divide" among `schemes`, each finite number of `n_members` is simulated on its share of
    the data. `device` is "cpu" (NumPy), or "torch" or "cuda" for torch: the draws are the same.

    >>> from doubletrouble import Problem
    >>> run = simulate(Problem(features_per_dim=2.0, ridge=0.1), dim=50, n_data=20, n_init=2)
    >>> abs(run.psi.psi1.z_score(0.3916)) < 5
    True
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, got {model!r}")
    for scheme in schemes:
        if scheme not in SCHEMES:
            raise ValueError(f"schemes must be among {', '.join(SCHEMES)}, got {scheme!r}")
    for name, count in (("n_data", n_data), ("n_init", n_init)):
        if not isinstance(count, int) or isinstance(count, bool) or count < 2:
            raise ValueError(f"{name} must be a whole number of at least 2, got {count!r}")
    convert = _converter(device)

    def run(at: Problem, sizes: tuple[int, float, int], members: int) -> Draws:
        rngs = np.random.default_rng([seed, members]).spawn(n_data)
        table = [_draw(at, sizes, model, n_init, slope, rng, convert) for rng in rngs]
        return {f.name: np.array([row[f.name] for row in table]) for f in fields(PsiTerms)}

    at, sizes = _realized(problem, dim, model)
    slope = slope_by_power(at.moments, dim) if model == "features" else None
    draws, divided = run(at, sizes, 1), {}
    if "divide" in schemes:
        members = (checked("n_members", k, glossary.N_MEMBERS) for k in n_members)
        for k in sorted({float(k) for k in members} - {math.inf}):
            part = replace(at, samples_per_dim=float(np.divide(at.samples_per_dim, k)))
            divided[k] = draws if k == 1 else run(*_realized(part, dim, model), int(k))
    return Simulation(
        problem=at, dim=sizes[0], model=model, seed=seed, draws=draws, divided=divided
    )


def _realized(problem: Problem, dim: int, model: str) -> tuple[Problem, tuple[int, float, int]]:
    """The problem at whole P and N, and D, P, N."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.shape:
        raise ValueError(f"problem must be a single point, got fields of shape {problem.shape}")
    D = int(float(checked("dim", dim, glossary.WHOLE_DIM)))
    kernel = model == "kernel"
    width, ridge = np.asarray(problem.features_per_dim), np.asarray(problem.ridge)
    refuse("ridge", ridge, np.isinf(ridge), "finite to be simulated")
    wanted = "inf for model 'kernel'" if kernel else f"finite for model {model!r}"
    refuse("features_per_dim", width, np.isinf(width) != kernel, wanted)
    N, P = round(float(np.multiply(problem.samples_per_dim, D))), math.inf
    if not kernel:
        P = round(float(width * D))
    if min(P, N) < 1:
        raise ValueError(f"dim must be large enough for a feature and a sample, got {D}")
    return replace(problem, features_per_dim=P / D, samples_per_dim=N / D), (D, P, N)


def _draw(
    problem: Problem, sizes: tuple[int, float, int], model: str, n_init: int,
    slope: Slope | None, rng: np.random.Generator, convert: Convert,
) -> dict[str, float]:  # fmt: skip
    """Every Ψ term of one draw."""
    D, P, N = sizes
    data = [rng.standard_normal((N, D)) for _ in range(2)]
    test = rng.standard_normal((max(64, N // 2), D))
    moments = problem.moments
    if model == "kernel":
        delta = ridge_to("gram", problem.ridge, n_features=P, n_samples=N, dim=D)
        return kernel_terms(moments, data, test, float(delta), convert)
    features = [
        gaussian_features(moments, data, int(P), rng, convert)
        if slope is None
        else true_features(moments, data, test, int(P), slope, rng, convert)
        for _ in range(n_init)
    ]
    alpha = float(ridge_to("sklearn", problem.ridge, n_features=P, n_samples=N, dim=D))
    (terms,) = draw_terms((convert(data[0]), convert(data[1])), features, [alpha])
    return terms


def _converter(device: str) -> Convert:
    """How NumPy arrays get to where the arithmetic is done."""
    if device == "cpu":
        return lambda array: array
    torch = require("torch", "torch")
    try:
        where = torch.device("cpu" if device == "torch" else device)
        torch.zeros(1, device=where)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(
            f"device must be 'cpu', 'torch' or a device torch has, got {device!r}"
        ) from error
    return lambda array: torch.as_tensor(array, device=where)
