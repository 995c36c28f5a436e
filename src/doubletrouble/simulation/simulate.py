r"""Finite-size simulation of a problem, with standard errors.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features; products
of independent copies give every Ψ term without bias (`terms`), and the draws give the standard
errors. Means deviate from the theory by O(1/D).
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from tqdm import tqdm

from doubletrouble import glossary
from doubletrouble.parameters import FloatArray, checked, refuse
from doubletrouble.problems import Problem
from doubletrouble.simulation.draw import Draw, Setting, feature_draw
from doubletrouble.simulation.features import slope_by_power
from doubletrouble.simulation.kernel import kernel_draw
from doubletrouble.simulation.overlap import CLOSED, closed_form
from doubletrouble.simulation.place import Place, in_order
from doubletrouble.simulation.precision import refuse_too_small
from doubletrouble.simulation.result import Draws, Simulation, untaught

MODELS = ("features", "gaussian", "kernel")
SCHEMES = ("ensemble", "divide")
TESTS = ("auto", "exact", "sample")

Axis: TypeAlias = Sequence[float] | FloatArray


def simulate(
    problem: Problem, *, dim: int, model: str = "features", n_data: int = 10, n_init: int = 10,
    n_members: Sequence[float] = (1, 2, 10, math.inf), schemes: Sequence[str] = ("ensemble",),
    seed: int = 0, device: str = "cpu", widths: Axis | None = None, ridges: Axis | None = None,
    test: str = "auto", center: bool = True,
    dtype: str = "float64", progress: bool = True,
) -> Simulation:  # fmt: skip
    """Simulate a problem at dimension `dim`, with P and N rounded to whole numbers.

    - `model="features"` uses the true activation, `"gaussian"` the equivalent Gaussian covariates,
      `"kernel"` (with `features_per_dim=math.inf`) the exact kernel of infinitely many features.
    - An ensemble of any size follows from the same draws. With "divide" among `schemes`, each of
      `n_members` is simulated on disjoint splits of the data, none larger than N.
    - `widths` (values of P/D) and `ridges` (values of λ) replace those of the problem by a whole
      curve each: all values come from the same draws, the results gain an axis for each, and
      `exact_error(sim.problem)` has the same shape. Neighbouring points are correlated.
    - `test` says how the average over test points is taken: "exact" by closed forms (relu,
      leaky_relu, abs, erf, sign, sin, cos, linear, quadratic, and the Gaussian model), "sample" at
      sampled points beyond the linear part, which is always exact; "auto" is exact where that is
      cheaper. `sim.test` tells which it was.
    - `center=False` leaves the mean of the activation in the features (see `features`).
    - `device` is "cpu" (NumPy), "torch", or a device of torch such as "cuda": the draws are the
      same. `dtype="float32"` is refused where the ridge is too small for it.

    A nonlinear teacher is a random quadratic form of the inputs (`teacher`).

    >>> from doubletrouble import Problem
    >>> run = simulate(Problem(features_per_dim=2.0, ridge=0.1), dim=50, n_data=20, n_init=2)
    >>> abs(run.psi.psi1.z_score(0.3916)) < 5
    True
    """
    _check_options(model, n_data, n_init, schemes, test, seed)
    place = Place(device=device, dtype=dtype)
    at, counts = _realized(problem, dim, model, widths, ridges)
    dim, n_samples = counts[0], counts[1]
    order = np.argsort(counts[2], kind="stable")
    lambdas = tuple(np.atleast_1d(np.asarray(at.ridge, dtype=np.float64)).tolist())
    exact = _is_exact(test, at, model, n_init * max(counts[2]), n_samples)
    setting = Setting(
        activation=at.moments,
        dim=dim,
        n_samples=n_samples,
        widths=tuple(counts[2][k] for k in order),
        ridges=lambdas,
        divisions=_divisions(n_members, schemes, n_samples),
        n_init=n_init,
        n_test=0 if exact else _test_points(model, n_samples),
        curved=bool(at.nonlinear_signal),
        center=bool(center),
        place=place,
        slope=slope_by_power(at.moments, dim) if model == "features" else None,
    )
    if dtype == "float32":
        refuse_too_small(setting)
    draw = kernel_draw if model == "kernel" else feature_draw
    rngs = np.random.default_rng([seed, MODELS.index(model)]).spawn(n_data)
    drawn = in_order(partial(draw, setting), rngs, place)
    quiet = None if progress else True  # None: only where there is a terminal
    table = list(tqdm(drawn, total=n_data, desc="simulate", unit="draw", delay=2, disable=quiet))
    shape = (n_data, *np.broadcast_shapes(np.shape(at.features_per_dim), np.shape(at.ridge)))
    found = {k: _collected(table, k, np.argsort(order), shape) for k in setting.divisions}
    divided: dict[float, Draws] = {}
    if "divide" in schemes:
        wanted = {float(k) for k in n_members}
        divided = {k: found[int(k)] for k in sorted(wanted - {math.inf})}
        if math.inf in wanted:
            divided[math.inf] = untaught(found[1])
    return Simulation(
        problem=at,
        dim=dim,
        model=model,
        seed=seed,
        n_init=n_init,
        test="exact" if exact else "sample",
        n_test=setting.n_test,
        center=bool(center),
        dtype=dtype,
        draws=found[1],
        divided=divided,
    )


def _collected(
    table: Sequence[Draw], parts: int, order: np.ndarray[Any, Any], shape: tuple[int, ...]
) -> Draws:
    """Every term of one division, draws foremost, widths in the order asked for."""
    return {
        name: np.array([row[parts][name][order] for row in table]).reshape(shape)
        for name in table[0][parts]
    }


def _check_options(
    model: str, n_data: int, n_init: int, schemes: Sequence[str], test: str, seed: int
) -> None:
    for name, value, known in (("model", model, MODELS), ("test", test, TESTS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    if isinstance(schemes, str):
        raise ValueError(f"schemes must be a sequence such as ({schemes!r},), got {schemes!r}")
    for scheme in schemes:
        if scheme not in SCHEMES:
            raise ValueError(f"schemes must be among {', '.join(SCHEMES)}, got {scheme!r}")
    for name, count, low in (("n_data", n_data, 2), ("n_init", n_init, 2), ("seed", seed, 0)):
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not whole or count < low:
            raise ValueError(f"{name} must be a whole number of at least {low}, got {count!r}")


def _realized(
    problem: Problem, dim: int, model: str, widths: Axis | None, ridges: Axis | None
) -> tuple[Problem, tuple[int, int, list[float]]]:  # fmt: skip
    """The problem at whole P and N, and D, N and every P."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.shape:
        raise ValueError(f"problem must be a single point, got fields of shape {problem.shape}")
    D = int(float(checked("dim", dim, glossary.WHOLE_DIM)))
    kernel = model == "kernel"
    ratios, ridge = _axis("widths", widths), _axis("ridges", ridges)
    if ratios is not None and ridge is not None:
        ratios = ratios[:, None]  # an axis beside that of the ridges
    asked = replace(
        problem,
        features_per_dim=problem.features_per_dim if ratios is None else ratios,
        ridge=problem.ridge if ridge is None else ridge,
    )
    width, lam = np.asarray(asked.features_per_dim), np.asarray(asked.ridge)
    refuse("ridge", lam, np.isinf(lam), "finite to be simulated")
    wanted = "inf for model 'kernel'" if kernel else f"finite for model {model!r}"
    refuse("features_per_dim", width, np.isinf(width) != kernel, wanted)
    N = round(float(np.multiply(problem.samples_per_dim, D)))
    P = [math.inf if kernel else round(ratio * D) for ratio in width.ravel().tolist()]
    if min(*P, N) < 1:
        raise ValueError(f"dim must be large enough for a feature and a sample, got {D}")
    realized = np.reshape(P, width.shape) / D
    return replace(asked, features_per_dim=realized, samples_per_dim=N / D), (D, N, P)


def _axis(name: str, values: Axis | None) -> np.ndarray[Any, Any] | None:
    if values is None:
        return None
    axis = np.asarray(values, dtype=np.float64)
    if axis.ndim != 1 or not axis.size:
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}")
    return axis


def _divisions(
    n_members: Sequence[float], schemes: Sequence[str], n_samples: int
) -> tuple[int, ...]:
    """The whole, and every number of parts the data are divided in."""
    members = [float(checked("n_members", k, glossary.N_MEMBERS)) for k in n_members]
    parts = {int(k) for k in members if math.isfinite(k)} if "divide" in schemes else set()
    if parts and max(parts) > n_samples:
        raise ValueError(
            f"n_members must be at most N = {n_samples} to divide the data, got {max(parts)}"
        )
    return tuple(sorted({1, *parts}))


def _test_points(model: str, n_samples: int) -> int:
    """Enough that sampling them adds little to the spread over draws."""
    return max(64, n_samples // 4)


def _is_exact(test: str, at: Problem, model: str, n_features: float, n_samples: int) -> bool:
    """Whether the average over test points is exact; `n_features` over all feature sets."""
    if model == "gaussian":
        if test == "sample":
            raise ValueError("test must be 'exact' or 'auto' for model 'gaussian', got 'sample'")
        return True
    known = closed_form(at.moments) is not None
    if model == "kernel":
        if not known:
            raise ValueError(
                f"activation must have a kernel in closed form ({', '.join(CLOSED)}) for model "
                f"'kernel', got {at.moments.name!r}"
            )
        if test == "exact":
            raise ValueError("test must be 'sample' or 'auto' for model 'kernel', got 'exact'")
        return False
    if test == "exact":
        if not known:
            raise ValueError(
                f"activation must have a closed form ({', '.join(CLOSED)}) for test 'exact', "
                f"got {at.moments.name!r}"
            )
        if at.nonlinear_signal:
            raise ValueError(
                "nonlinear_signal must be 0 for test 'exact', "
                f"got {float(np.asarray(at.nonlinear_signal))!r}"
            )
        return True
    # F (P J, P J) takes the place of the sampled remainder
    affordable = n_features <= _test_points(model, n_samples)
    return test == "auto" and known and not at.nonlinear_signal and affordable
