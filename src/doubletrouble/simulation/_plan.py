"""The settings of a simulation, checked and in whole numbers, before anything is drawn."""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Scheme
from doubletrouble.kernels import CLOSED, closed_form
from doubletrouble.parameters import (
    MOST_SEEDS,
    FloatArray,
    Parameter,
    checked,
    number,
    refuse,
    whole_number,
)
from doubletrouble.problems import Problem
from doubletrouble.simulation._place import DTYPES, Dtype
from doubletrouble.simulation._precision import refuse_too_small
from doubletrouble.simulation._shares import (
    bank_sizes,
    has_all_samples,
    is_division,
    is_untaught,
    member_sizes,
    n_members,
    realized_ensemble,
    single_ensemble,
)
from doubletrouble.simulation._square import refuse_square

Model: TypeAlias = Literal["features", "gaussian", "kernel"]
MODELS: tuple[str, ...] = get_args(Model)
TestAverage: TypeAlias = Literal["auto", "exact", "sample"]
TESTS: tuple[str, ...] = get_args(TestAverage)

Numbers: TypeAlias = Sequence[float] | FloatArray
Ensembles: TypeAlias = float | Scheme | Iterable[float | Scheme]
"""One ensemble or several; a number of models stands for `Ensemble`."""


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """The problem at the sizes realized, and everything else in whole numbers."""

    problem: Problem
    dim: int
    n_samples: int
    widths: tuple[float, ...]  # P, in the order requested; (inf,) for the kernel
    ensembles: dict[Scheme, Scheme]  # each as requested, and at the sizes realized
    banks: dict[Scheme, tuple[float, ...]]  # B for every width, where members share features
    times: FloatArray | None  # of gradient flow; None: ridge regression
    n_test: int  # test points to sample; 0: the average over them is exact

    @property
    def divisions(self) -> tuple[int, ...]:
        """The whole, and every number of parts the data are divided in."""
        parts = (n_members(one) for one in self.ensembles.values() if is_division(one))
        return tuple(sorted({1, *(int(K) for K in parts if math.isfinite(K))}))

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """Every scheme whose members draw samples or share features, at the sizes realized."""
        drawn = (one for one in self.ensembles.values() if not is_division(one))
        return tuple(dict.fromkeys(drawn))

    @property
    def ridges(self) -> tuple[float, ...]:
        """Every λ."""
        return tuple(np.ravel(self.problem.ridge).tolist())

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the results of one draw."""
        times = () if self.times is None else self.times.shape
        return np.broadcast_shapes(self.problem.shape, times)


def plan(
    problem: Problem, *, dim: int, model: Model, n_data: int, n_init: int, ensembles: Ensembles,
    seed: int, test: TestAverage, center: bool, dtype: Dtype,
    features_per_dim: Numbers | None = None, ridge: Numbers | None = None,
    times: Numbers | None = None,
) -> SimulationPlan:  # fmt: skip
    """Check all settings together; a `ValueError` names the one that cannot be simulated."""
    _check_options(model, n_data, n_init, test, seed, dtype, center)
    moments = _times(times, model)
    at, (D, N, P) = _realized(
        problem, dim, model, features_per_dim, ridge, timed=moments is not None
    )
    drawn = {one: realized_ensemble(one, D, N) for one in requested_ensembles(ensembles)}
    shared = [one for one in drawn.values() if one.shares_features]
    if shared and model == "kernel":
        raise ValueError(f"ensembles must not share features for model 'kernel', got {shared[0]!r}")
    point = replace(at, ridge=float(np.min(at.ridge)))
    banks = {one: bank_sizes(one, point, D, P) for one in shared}
    n_test = 0 if _is_exact(test, at, model, n_init * max(P), N) else n_test_points(N)
    found = SimulationPlan(
        problem=at, dim=D, n_samples=N, widths=tuple(P), ensembles=drawn, banks=banks,
        times=moments, n_test=n_test,
    )  # fmt: skip
    trained = (one for one in drawn.values() if not is_untaught(one))
    sizes = sorted({N, *(size for one in trained for size in member_sizes(one, N))})
    if moments is None or np.isinf(moments).any():
        bootstrap = N if any(one.with_replacement for one in drawn) else 0
        for width in P:
            refuse_square(width, min(found.ridges), sizes, bootstrap=bootstrap)
    if dtype == "float32":
        every = [(size, width) for size in sizes for width in P]
        refuse_too_small(min(found.ridges), at.moments, D, every, center)
    return found


def requested_ensembles(ensembles: Any) -> tuple[Scheme, ...]:
    """Every ensemble to draw, once; those with all of the data need not be drawn.

    Where the terms of a scheme serve any number of members, one of them is enough.
    """
    several = isinstance(ensembles, Iterable) and not isinstance(ensembles, str | bytes)
    several &= not isinstance(ensembles, np.ndarray) or ensembles.ndim > 0
    found: list[Scheme] = []
    for given in ensembles if several else (ensembles,):
        scheme = single_ensemble("ensembles", given, "simulate")
        same = (one for one in found if type(one) is type(scheme) and one.options == scheme.options)
        known = any(scheme.any_size or one.n_members == scheme.n_members for one in same)
        if not has_all_samples(scheme) and not known:
            found.append(scheme)
    return tuple(found)


def _times(times: Numbers | None, model: str) -> FloatArray | None:
    found = _axis("times", times, glossary.TIME)
    if found is not None and model == "kernel":
        raise ValueError(
            "times must be left out for model 'kernel', whose infinitely many features have "
            f"learned all they can at any time, got {found.tolist()!r}"
        )
    return found


def _check_options(
    model: str, n_data: int, n_init: int, test: str, seed: int, dtype: str, center: bool
) -> None:
    options = (("model", model, MODELS), ("test", test, TESTS), ("dtype", dtype, DTYPES))
    for name, value, known in options:
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    whole_number("n_data", n_data, 2)
    whole_number("n_init", n_init, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    if not isinstance(center, bool | np.bool_):
        raise TypeError(f"center must be true or false, got {center!r}")


def _realized(
    problem: Problem, dim: int, model: str, features_per_dim: Numbers | None,
    ridges: Numbers | None, *, timed: bool,
) -> tuple[Problem, tuple[int, int, list[float]]]:  # fmt: skip
    """The problem at whole P and N, and D, N and every P."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.shape:
        raise ValueError(f"problem must be a single point, got fields of shape {problem.shape}")
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    kernel = model == "kernel"
    ratios = _axis("features_per_dim", features_per_dim, glossary.FEATURES_PER_DIM)
    ridge = _axis("ridge", ridges, glossary.RIDGE)
    if ratios is not None and ridge is not None:
        ratios = ratios[:, None]  # an axis beside that of the ridges
    if timed:  # another one, for the times
        ratios, ridge = (axis if axis is None else axis[..., None] for axis in (ratios, ridge))
    requested = replace(
        problem,
        features_per_dim=problem.features_per_dim if ratios is None else ratios,
        ridge=problem.ridge if ridge is None else ridge,
    )
    width, lam = np.asarray(requested.features_per_dim), np.asarray(requested.ridge)
    refuse("ridge", lam, np.isinf(lam), "finite to be simulated")
    wanted = "inf for model 'kernel'" if kernel else f"finite for model {model!r}"
    refuse("features_per_dim", width, np.isinf(width) != kernel, wanted)
    N = round(float(np.multiply(problem.samples_per_dim, D)))
    P = [math.inf if kernel else round(ratio * D) for ratio in width.ravel().tolist()]
    if min(*P, N) < 1:
        raise ValueError(
            f"dim must be large enough for a feature and a sample, got {D}, which gives "
            f"P = {min(P):g} and N = {N}"
        )
    realized = np.reshape(P, width.shape) / D
    at = replace(requested, features_per_dim=realized, samples_per_dim=N / D)
    return at, (D, N, P)


def _axis(name: str, values: Numbers | None, spec: Parameter) -> FloatArray | None:
    if values is None:
        return None
    given: Any = values
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise TypeError(f"{name} must be a sequence of numbers, got {values!r}")
    axis = np.asarray(checked(name, values, spec))
    if axis.ndim != 1:
        raise ValueError(f"{name} must be a sequence of numbers, got shape {axis.shape}")
    return axis


def n_test_points(n_samples: int) -> int:
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
    affordable = n_features <= n_test_points(n_samples)
    return test == "auto" and known and not at.nonlinear_signal and affordable
