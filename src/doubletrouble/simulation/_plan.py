"""The settings of a simulation, checked and in whole numbers, before anything is drawn."""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Divide, FeatureBank, Scheme, Subsample
from doubletrouble.kernels import CLOSED, closed_form
from doubletrouble.losses import loss
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
from doubletrouble.simulation._devices import DTYPES, ArrayDevice, Dtype
from doubletrouble.simulation._ensembles import (
    bank_sizes,
    has_all_samples,
    has_no_samples,
    is_division,
    member_sizes,
    n_members,
    realized_ensemble,
    same_terms,
    single_ensemble,
)
from doubletrouble.simulation._fits import RidgeFit

Model: TypeAlias = Literal["features", "gaussian", "kernel"]
MODELS: tuple[str, ...] = get_args(Model)
TestAverage: TypeAlias = Literal["auto", "exact", "sample"]
TESTS: tuple[str, ...] = get_args(TestAverage)

Numbers: TypeAlias = Sequence[float] | FloatArray
Ensembles: TypeAlias = float | Scheme | Iterable[float | Scheme]
"""One ensemble or several; a number of models stands for `Ensemble`."""

_LEAST_RIDGE = 1e-12  # below, fits of as many features as samples diverge
_DEVIATIONS = 6.0  # standard deviations beyond which a number is not drawn in practice
_SINGLE_ERROR = 1e-2  # relative error that is accepted of float32


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """A problem at the sizes realized, and every other setting in whole numbers."""

    problem: Problem
    model: str
    dim: int
    n_samples: int
    widths: tuple[float, ...]  # P, in the order requested; inf for the kernel
    n_init: int
    ensembles: dict[Scheme, Scheme]  # each as requested, and at the sizes realized
    banks: dict[Scheme, tuple[float, ...]]  # B for every width, where members share features
    times: FloatArray | None  # of gradient flow; None: ridge regression
    n_test: int  # sampled test points; 0: the average over test points is exact
    center: bool
    device: ArrayDevice = ArrayDevice()

    @property
    def divisions(self) -> tuple[int, ...]:
        """Every number of parts of divided data; 1 is the whole."""
        parts = (n_members(one) for one in self.ensembles.values() if is_division(one))
        return tuple(sorted({1, *(int(K) for K in parts if math.isfinite(K))}))

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """Every scheme whose members draw samples or share features, at the sizes realized."""
        drawn = (one for one in self.ensembles.values() if not is_division(one))
        return tuple(dict.fromkeys(drawn))

    @property
    def mean(self) -> float:
        """The mean μ₀ that is subtracted from the activation."""
        return self.problem.moments.mean if self.center else 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the results of one draw."""
        times = () if self.times is None else self.times.shape
        return np.broadcast_shapes(self.problem.shape, times)

    def fits(self, n_samples: int, n_features: int = 1) -> list[RidgeFit]:
        """All fits of one learner: every ridge, and every time of each."""
        times = [math.inf] if self.times is None else self.times.tolist()
        ridges = np.ravel(self.problem.ridge).tolist()
        alphas = [n_samples * n_features * ridge / self.dim for ridge in ridges]
        return [RidgeFit(alpha, time / self.dim) for alpha in alphas for time in times]


def plan(
    problem: Problem,
    *,
    dim: int,
    model: Model,
    n_data: int,
    n_init: int,
    ensembles: Ensembles,
    seed: int,
    test: TestAverage,
    center: bool,
    dtype: Dtype,
    features_per_dim: Numbers | None = None,
    ridge: Numbers | None = None,
    times: Numbers | None = None,
) -> SimulationPlan:
    """Check all settings together; a `ValueError` names the one that cannot be simulated."""
    options = (("model", model, MODELS), ("test", test, TESTS), ("dtype", dtype, DTYPES))
    for name, value, known in options:
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    whole_number("n_data", n_data, 2)
    whole_number("n_init", n_init, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    if not isinstance(center, bool | np.bool_):
        raise TypeError(f"center must be true or false, got {center!r}")
    stops = _axis("times", times, glossary.TIME)
    if stops is not None and model == "kernel":
        raise ValueError(
            "times must be None for model 'kernel', in which infinitely many features are "
            f"fitted at once, got {stops.tolist()!r}"
        )
    if isinstance(problem, Problem) and not problem.is_ridge_regression:
        _refuse_for_convex_losses(problem, model, center, dtype, times)
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    at = _realized_problem(problem, D, model, features_per_dim, ridge, timed=stops is not None)
    N = round(float(np.asarray(at.samples_per_dim)) * D)
    P = [ratio if math.isinf(ratio) else round(ratio * D) for ratio in _flat(at.features_per_dim)]
    least = min(_flat(at.ridge))
    drawn = {one: realized_ensemble(one, D, N) for one in requested_ensembles(ensembles)}
    if not at.is_ridge_regression:
        for one in drawn:
            if type(one) not in (Divide, Subsample, FeatureBank):
                raise ValueError(
                    "ensembles must be numbers, Divide, Subsample or FeatureBank for loss "
                    f"{at.loss!s}, as in the theory, got {one!r}"
                )
    shared = [one for one in drawn.values() if one.shares_features]
    if shared and model == "kernel":
        raise ValueError(f"ensembles must not share features for model 'kernel', got {shared[0]!r}")
    point = replace(at, ridge=least)
    planned = SimulationPlan(
        problem=at,
        model=model,
        dim=D,
        n_samples=N,
        widths=tuple(P),
        n_init=n_init,
        ensembles=drawn,
        banks={one: bank_sizes(one, point, D, P) for one in shared},
        times=stops,
        n_test=0 if _is_exact(test, at, model, n_init * max(P), N) else n_test_points(N),
        center=bool(center),
    )
    trained = (one for one in drawn.values() if not has_no_samples(one))
    sizes = sorted({N, *(size for one in trained for size in member_sizes(one, N))})
    interpolates = not loss(at.loss).margin  # for P = N, without a ridge
    if interpolates and (stops is None or np.isinf(stops).any()):
        bootstrap = N if any(one.with_replacement for one in drawn) else 0
        for width in P:
            refuse_square(width, least, sizes, bootstrap=bootstrap)
    if dtype == "float32":
        _refuse_single_precision(planned, least, sizes)
    return planned


def _refuse_for_convex_losses(
    problem: Problem, model: str, center: bool, dtype: str, times: Any
) -> None:
    """Raise ValueError for settings that only the squared loss of regression has."""
    case = f"{problem.task} with loss {problem.loss!s}"
    for name, value, wanted, known in (
        ("model", model, "'features' or 'gaussian'", model != "kernel"),
        ("center", center, "True", bool(center)),
        ("dtype", dtype, "'float64'", dtype == "float64"),
        ("times", times, "None", times is None),
    ):
        if not known:
            raise ValueError(f"{name} must be {wanted} for {case}, got {value!r}")


def requested_ensembles(ensembles: Any) -> tuple[Scheme, ...]:
    """Every ensemble to draw, once; those with all of the data need not be drawn.

    Where the terms of a scheme hold for any number of members, one of them is enough.
    """
    several = isinstance(ensembles, Iterable) and not isinstance(ensembles, str | bytes)
    several &= not isinstance(ensembles, np.ndarray) or ensembles.ndim > 0
    schemes: list[Scheme] = []
    for given in ensembles if several else (ensembles,):
        scheme = single_ensemble("ensembles", given, "simulate")
        if not has_all_samples(scheme) and not any(same_terms(scheme, one) for one in schemes):
            schemes.append(scheme)
    return tuple(schemes)


def _realized_problem(
    problem: Problem,
    dim: int,
    model: str,
    features_per_dim: Numbers | None,
    ridges: Numbers | None,
    *,
    timed: bool,
) -> Problem:
    """The problem along its curves, with P and N rounded to whole numbers."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    if problem.shape:
        raise ValueError(f"problem must be a single point, got fields of shape {problem.shape}")
    kernel = model == "kernel"
    ratios = _axis("features_per_dim", features_per_dim, glossary.FEATURES_PER_DIM)
    ridge = _axis("ridge", ridges, glossary.RIDGE)
    if ratios is not None and ridge is not None:
        ratios = ratios[:, None]  # ridges are the next axis
    if timed:  # times are the last axis
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
    N = round(float(np.multiply(problem.samples_per_dim, dim)))
    P = [math.inf if kernel else round(ratio * dim) for ratio in _flat(width)]
    refuse_empty(dim, min(P), N)
    realized = np.reshape(P, width.shape) / dim
    return replace(requested, features_per_dim=realized, samples_per_dim=N / dim)


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


def _flat(values: Any) -> list[float]:
    return [float(value) for value in np.ravel(values)]


def refuse_empty(dim: int, n_features: float, n_samples: int) -> None:
    """Raise a ValueError where no feature or no sample is left by rounding."""
    if min(n_features, n_samples) < 1:
        raise ValueError(
            f"dim must be large enough for a feature and a sample, got {dim}, which gives "
            f"P = {n_features:g} and N = {n_samples}"
        )


# --- test points ---------------------------------------------------------------------------------


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
    # the exact average factorizes a covariance of all features
    affordable = n_features <= n_test_points(n_samples)
    return test == "auto" and known and not at.nonlinear_signal and affordable


# --- ridges that are too small -------------------------------------------------------------------


def refuse_square(width: float, ridge: float, samples: Iterable[float], bootstrap: int = 0) -> None:
    """Raise ValueError for a fit without ridge of `width` features to as many `samples`.

    Its mean error is infinite. The number of different samples in a `bootstrap` of N is random,
    0.632 N ± 0.312 √N. Any number has some probability, so that strictly the mean is infinite
    everywhere; but beyond 6 standard deviations it occurs in no simulation, nor in the theory, in
    which the number is 0.632 N exactly.

    >>> refuse_square(20, 0.0, [40, 20])
    Traceback (most recent call last):
    ValueError: ridge must be at least 1e-12 for P = 20 features and 20 samples, where the mean \
error is infinite without a ridge, got 0.0
    """
    if ridge >= _LEAST_RIDGE:
        return
    square = [f"{n:.0f} samples" for n in samples if abs(width - n) <= 1]
    empty = math.exp(-1.0)
    mean, spread = bootstrap * (1 - empty), math.sqrt(bootstrap * empty * (1 - 2 * empty))
    if bootstrap and abs(width - mean) <= 1 + _DEVIATIONS * spread:
        square.append(f"the {mean:.0f} ± {spread:.0f} different samples of a bootstrap")
    if square:
        raise ValueError(
            f"ridge must be at least {_LEAST_RIDGE:g} for P = {width:.0f} features and "
            f"{square[0]}, where the mean error is infinite without a ridge, got {ridge!r}"
        )


def _refuse_single_precision(plan: SimulationPlan, ridge: float, samples: Sequence[int]) -> None:
    r"""Raise a ValueError where float32 is off by more than 1 %, for any N and P.

    The Gram matrix of the features has a largest eigenvalue e and, near P = N, smallest ones down
    to zero: adding alpha makes its condition number e/alpha, and rounding disturbs a fit by about
    e/alpha times the precision. For features with moments μ₁, μ⋆ (and mean μ₀, if not subtracted)

        e ≈ μ₁² (√N + √D)² (√P + √D)²/D + μ⋆² (√N + √P)² + μ₀² N P
    """
    sigma, D = plan.problem.moments, plan.dim
    N = np.array(samples, dtype=float)[:, None]
    P = np.minimum(plan.widths, 1e12)  # the kernel: e is proportional to P
    largest = (
        (sigma.linear * (np.sqrt(N) + np.sqrt(D)) * (np.sqrt(P) + np.sqrt(D))) ** 2 / D
        + (sigma.nonlinear * (np.sqrt(N) + np.sqrt(P))) ** 2
        + (sigma.mean - plan.mean) ** 2 * N * P
    )
    alpha = largest * np.finfo(np.float32).eps / _SINGLE_ERROR
    least = np.max(alpha * D / (N * P))
    if ridge < least:
        raise ValueError(
            f"ridge must be at least {least:.1e} for dtype 'float32' at these sizes, got "
            f"{ridge!r}; use dtype 'float64'"
        )
