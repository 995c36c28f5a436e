"""What is asked of a simulation, checked and in whole numbers, before anything is drawn."""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from doubletrouble import glossary
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
from doubletrouble.sharing import RESAMPLED
from doubletrouble.sharing import SCHEMES as SCHEMES  # of the paper; `RESAMPLED` are further ones
from doubletrouble.simulation.overlap import CLOSED, closed_form
from doubletrouble.simulation.place import DTYPES
from doubletrouble.simulation.precision import refuse_too_small
from doubletrouble.simulation.schemes import resamplings
from doubletrouble.simulation.setting import Resampling
from doubletrouble.simulation.square import refuse_square

MODELS = ("features", "gaussian", "kernel")
TESTS = ("auto", "exact", "sample")

Axis: TypeAlias = Sequence[float] | FloatArray


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The problem at the sizes realized, and everything else in whole numbers."""

    problem: Problem
    dim: int
    n_samples: int
    widths: tuple[float, ...]  # P, in the order asked for; (inf,) for the kernel
    divided: tuple[float, ...]  # K, wherever data are divided among K learners
    resampled: tuple[Resampling, ...]
    times: FloatArray | None  # of gradient flow; None: ridge regression
    n_test: int  # test points to sample; 0: the average over them is exact

    @property
    def divisions(self) -> tuple[int, ...]:
        """The whole, and every number of parts the data are divided in."""
        return tuple(sorted({1, *(int(k) for k in self.divided if math.isfinite(k))}))

    @property
    def ridges(self) -> tuple[float, ...]:
        """Every λ."""
        return tuple(np.ravel(self.problem.ridge).tolist())

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the results of one draw."""
        times = () if self.times is None else self.times.shape
        return np.broadcast_shapes(self.problem.shape, times)

    def size_of(self, scheme: str) -> float | None:
        """How much members draw by a scheme; None if it is not asked for."""
        return next((one.size for one in self.resampled if one.scheme == scheme), None)


def plan(
    problem: Problem, *, dim: int, model: str, n_data: int, n_init: int,
    n_members: float | Iterable[float], schemes: str | Iterable[str], seed: int, test: str,
    center: bool, dtype: str, widths: Axis | None = None, ridges: Axis | None = None,
    times: Axis | None = None, fraction: float | None = None, bank_per_dim: float | None = None,
) -> Plan:  # fmt: skip
    """Check everything that is asked, together; a `ValueError` says what cannot be simulated."""
    chosen = _listed("schemes", schemes)
    _check_options(model, n_data, n_init, chosen, test, seed, dtype, center)
    members = _members(n_members)
    moments = _times(times, model)
    at, (D, N, P) = _realized(problem, dim, model, widths, ridges, timed=moments is not None)
    resampled = resamplings(
        chosen, fraction, bank_per_dim, dim=D, n_samples=N, widths=P
    )  # fmt: skip
    if model == "kernel" and "feature_bank" in chosen:
        raise ValueError("schemes must be without a bank for model 'kernel', got 'feature_bank'")
    n_test = 0 if _is_exact(test, at, model, n_init * max(P), N) else n_test_points(N)
    found = Plan(
        problem=at, dim=D, n_samples=N, widths=tuple(P),
        divided=members if "divide" in chosen else (), resampled=resampled, times=moments,
        n_test=n_test,
    )  # fmt: skip
    if found.divisions[-1] > N:
        raise ValueError(
            f"n_members must be at most N = {N} to divide the data, got {found.divisions[-1]}"
        )
    if moments is None or np.isinf(moments).any():
        bags = [one.size for one in resampled if one.scheme == "subbag"]
        for width in P:
            refuse_square(
                width, min(found.ridges), [*(N // parts for parts in found.divisions), *bags],
                bootstrap=N if "bootstrap" in chosen else 0,
            )  # fmt: skip
    if dtype == "float32":
        sizes = [(N // parts, width) for parts in found.divisions for width in P]
        sizes += [(int(one.size), width) for one in resampled if one.size <= N for width in P]
        refuse_too_small(min(found.ridges), at.moments, D, sizes, center)
    return found


def _times(times: Axis | None, model: str) -> FloatArray | None:
    found = _axis("times", times, glossary.TIME)
    if found is not None and model == "kernel":
        raise ValueError(
            "times must be left out for model 'kernel', whose infinitely many features have "
            f"learned all they can at any time, got {found.tolist()!r}"
        )
    return found


def _check_options(
    model: str, n_data: int, n_init: int, schemes: Sequence[str], test: str, seed: int, dtype: str,
    center: bool,
) -> None:  # fmt: skip
    options = (("model", model, MODELS), ("test", test, TESTS), ("dtype", dtype, DTYPES))
    for name, value, known in options:
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    every = (*SCHEMES, *RESAMPLED)
    for scheme in schemes:
        if scheme not in every:
            raise ValueError(f"schemes must be among {', '.join(every)}, got {scheme!r}")
    whole_number("n_data", n_data, 2)
    whole_number("n_init", n_init, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    if not isinstance(center, bool | np.bool_):
        raise TypeError(f"center must be true or false, got {center!r}")


def _listed(name: str, value: Any) -> tuple[Any, ...]:
    """One value or several, but not none."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    found = tuple(value) if several else (value,)
    if not found:
        raise ValueError(f"{name} must not be empty")
    return found


def _members(n_members: Any) -> tuple[float, ...]:
    """Every K once, in order."""
    found = {number("n_members", k, glossary.N_MEMBERS) for k in _listed("n_members", n_members)}
    return tuple(sorted(found))


def _realized(
    problem: Problem, dim: int, model: str, widths: Axis | None, ridges: Axis | None, *,
    timed: bool,
) -> tuple[Problem, tuple[int, int, list[float]]]:  # fmt: skip
    """The problem at whole P and N, and D, N and every P."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.shape:
        raise ValueError(f"problem must be a single point, got fields of shape {problem.shape}")
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    kernel = model == "kernel"
    ratios = _axis("widths", widths, glossary.FEATURES_PER_DIM)
    ridge = _axis("ridges", ridges, glossary.RIDGE)
    if ratios is not None and ridge is not None:
        ratios = ratios[:, None]  # an axis beside that of the ridges
    if timed:  # another one, for the times
        ratios, ridge = (axis if axis is None else axis[..., None] for axis in (ratios, ridge))
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
        raise ValueError(
            f"dim must be large enough for a feature and a sample, got {D}, which gives "
            f"P = {min(P):g} and N = {N}"
        )
    realized = np.reshape(P, width.shape) / D
    return replace(asked, features_per_dim=realized, samples_per_dim=N / D), (D, N, P)


def _axis(name: str, values: Axis | None, spec: Parameter) -> FloatArray | None:
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
