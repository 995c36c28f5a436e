"""The settings of a simulation, checked and in whole numbers, before anything is drawn.

Points of a problem with arrays that differ in P/D and λ share their draws; so do the powers of the
signal and of the noise in ridge regression, by which terms are multiplied afterwards. Points that
differ in anything else are runs of their own from the same seed.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import Divide, FeatureBank, Scheme, Subsample
from doubletrouble.kernels import CLOSED, closed_form
from doubletrouble.parameters import (
    MOST_SEEDS,
    FloatArray,
    IntArray,
    Numeric,
    check_choice,
    check_flag,
    checked,
    declarations,
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

Times: TypeAlias = Sequence[float] | FloatArray
Ensembles: TypeAlias = float | Scheme | Iterable[float | Scheme]
"""One ensemble or several; a number of models stands for `Ensemble`."""

_LEAST_RIDGE = 1e-12  # below, fits of as many features as samples diverge
_DEVIATIONS = 6.0  # standard deviations beyond which a number is not drawn in practice
_SINGLE_ERROR = 1e-2  # relative error that is accepted of float32


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """A run: points that share their draws, and every other setting in whole numbers."""

    problem: Problem  # what the points have in common
    model: str
    dim: int
    n_samples: int
    n_features: tuple[float, ...]  # every P, in the order requested; inf for the kernel
    ridges: tuple[tuple[float, ...], ...]  # of the fits at every P
    n_init: int
    ensembles: dict[Scheme, Scheme]  # each as requested, and at the sizes realized
    banks: dict[Scheme, tuple[float, ...]]  # B for every P, where members share features
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

    def fits(self, n_samples: int, w: int) -> list[RidgeFit]:
        """All fits of one learner with the w-th P: every ridge, and every time of each."""
        times = [math.inf] if self.times is None else self.times.tolist()
        n_features = 1 if self.model == "kernel" else int(self.n_features[w])
        alphas = [n_samples * n_features * ridge / self.dim for ridge in self.ridges[w]]
        return [RidgeFit(alpha, time / self.dim) for alpha in alphas for time in times]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlannedPoints:
    """All points of a problem at the sizes realized, and the runs that they are part of."""

    problem: Problem  # with times, arrays have a last axis of length one
    times: FloatArray | None
    runs: tuple[SimulationPlan, ...]
    run_index: IntArray  # the run of every point
    fit_index: IntArray  # its P and λ, among those of all runs one after the other

    def of_fits(self, values: Sequence[FloatArray]) -> FloatArray:
        """The values of all fits of each draw, run after run, as (draws, points)."""
        count = len(values) // len(self.runs)
        by_run = [np.stack(values[k : k + count]) for k in range(0, len(values), count)]
        times = () if self.times is None else self.times.shape
        fits = np.concatenate(by_run, axis=1).reshape(count, -1, *times)
        return np.take(fits, self.fit_index, axis=1)

    @property
    def n_test(self) -> int | IntArray:
        """The number of test points sampled: an array where points differ in it."""
        counts = [run.n_test for run in self.runs]
        return counts[0] if len(set(counts)) == 1 else self._of_runs(counts).astype(np.int64)

    def realized(self, requested: Scheme) -> Scheme:
        """An ensemble at the sizes realized; options in which points differ are arrays."""
        every = [run.ensembles[requested] for run in self.runs]
        options = {name: [float(one.options[name]) for one in every] for name in every[0].options}
        differ = {n: self._of_runs(values) for n, values in options.items() if len(set(values)) > 1}
        return replace(every[0], **differ)

    def _of_runs(self, values: Sequence[float]) -> FloatArray:
        """The values of runs at all points."""
        at = np.asarray(values, dtype=np.float64)[self.run_index]
        return at if self.times is None else at[..., None]


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
    times: Times | None = None,
) -> PlannedPoints:
    """Check all settings together; a `ValueError` names the one that cannot be simulated."""
    options = (("model", model, MODELS), ("test", test, TESTS), ("dtype", dtype, DTYPES))
    for name, value, known in options:
        check_choice(name, value, known)
    whole_number("n_data", n_data, 2)
    whole_number("n_init", n_init, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    check_flag("center", center)
    stops = _checked_times(times)
    if stops is not None and model == "kernel":
        raise ValueError(
            "times must be None for model 'kernel', in which infinitely many features are "
            f"fitted at once, got {stops.tolist()!r}"
        )
    drawn = requested_ensembles(ensembles)
    if not problem.is_ridge_regression:
        _refuse_for_convex_losses(problem, model, center, dtype, times, drawn)
    _refuse_test_average(test, problem, model)
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    realized = _realized_sizes(problem, D, model)
    shape, own, groups = _grouped(problem)
    largest = {
        name: float(np.max(getattr(problem, name)))
        for name in declarations(problem)
        if np.ndim(getattr(problem, name))
    }
    runs: list[SimulationPlan] = []
    run_index = np.empty(math.prod(shape), dtype=np.int64)
    fit_index = run_index.copy()
    n_fits = 0
    for key, points in groups.items():
        N = round(key[0] * D)
        P = [ratio if math.isinf(ratio) else round(ratio * D) for ratio in points]
        sizes = {"features_per_dim": max(P) / D, "ridge": min(map(min, points.values()))}
        here: dict[str, Any] = {**largest, **dict(zip(own, key, strict=True)), **sizes}
        common = replace(problem, **here | {"samples_per_dim": N / D})
        members = {one: realized_ensemble(one, D, N) for one in drawn}
        shared = [one for one in members.values() if one.shares_features]
        if shared and model == "kernel":
            raise ValueError(
                f"ensembles must not share features for model 'kernel', got {shared[0]!r}"
            )
        run = SimulationPlan(
            problem=common,
            model=model,
            dim=D,
            n_samples=N,
            n_features=tuple(P),
            ridges=tuple(tuple(ridges) for ridges in points.values()),
            n_init=n_init,
            ensembles=members,
            banks={one: bank_sizes(one, common, D, P) for one in shared},
            times=stops,
            n_test=0 if _is_exact(test, common, model, n_init * max(P), N) else n_test_points(N),
            center=bool(center),
        )
        for w, ridges in enumerate(points.values()):
            least = min(ridges)
            if wanted := _required_ridge(run, w, least, dtype):
                bad = np.arange(run_index.size).reshape(shape) == ridges[least][0]
                refuse("ridge", np.broadcast_to(problem.ridge, shape), bad, wanted)
            for positions in ridges.values():
                run_index[positions], fit_index[positions] = len(runs), n_fits
                n_fits += 1
        runs.append(run)
    if stops is not None:  # times are the last axis
        arrays = {name: getattr(realized, name) for name in largest}
        realized = replace(realized, **{name: value[..., None] for name, value in arrays.items()})
    return PlannedPoints(
        problem=realized,
        times=stops,
        runs=tuple(runs),
        run_index=run_index.reshape(shape),
        fit_index=fit_index.reshape(shape),
    )


Points: TypeAlias = dict[float, dict[float, list[int]]]
"""The positions of points by P/D and by λ."""


def _grouped(
    problem: Problem,
) -> tuple[tuple[int, ...], tuple[str, ...], dict[tuple[float, ...], Points]]:
    """The shape of the points, and the points of every run by the fields that runs differ in."""
    own: tuple[str, ...] = ("samples_per_dim",)
    shape = np.broadcast_shapes(
        *(np.shape(getattr(problem, name)) for name in ("features_per_dim", "ridge", *own))
    )
    if not problem.is_ridge_regression:  # labels are drawn
        own, shape = (*own, "signal", "noise", "flips"), problem.shape
    values = [getattr(problem, name) for name in ("features_per_dim", "ridge", *own)]
    columns = [np.broadcast_to(value, shape).ravel().tolist() for value in values]
    groups: dict[tuple[float, ...], Points] = {}
    for position, (ratio, ridge, *key) in enumerate(zip(*columns, strict=True)):
        points = groups.setdefault(tuple(key), {})
        points.setdefault(ratio, {}).setdefault(ridge, []).append(position)
    return shape, own, groups


def _refuse_for_convex_losses(
    problem: Problem,
    model: str,
    center: bool,
    dtype: str,
    times: Times | None,
    ensembles: Sequence[Scheme],
) -> None:
    """Raise ValueError for settings that only the squared loss of regression has."""
    case = f"{problem.task} with loss {problem.loss}"
    for name, value, wanted, known in (
        ("model", model, "'features' or 'gaussian'", model != "kernel"),
        ("center", center, "True", bool(center)),
        ("dtype", dtype, "'float64'", dtype == "float64"),
        ("times", times, "None", times is None),
    ):
        if not known:
            raise ValueError(f"{name} must be {wanted} for {case}, got {value!r}")
    for one in ensembles:
        if type(one) not in (Divide, Subsample, FeatureBank) or has_no_samples(one):
            raise ValueError(
                "ensembles must be numbers, Divide (of finitely many), Subsample or FeatureBank "
                f"for loss {problem.loss}, got {one!r}"
            )


def requested_ensembles(ensembles: Ensembles) -> tuple[Scheme, ...]:
    """Every ensemble to draw, once; those with all of the data need not be drawn.

    Where the terms of a scheme hold for any number of members, one of them is enough.
    """
    several = isinstance(ensembles, Iterable) and not isinstance(ensembles, str | bytes)
    several &= not isinstance(ensembles, np.ndarray) or ensembles.ndim > 0
    schemes: list[Scheme] = []
    each: Any = ensembles if several else (ensembles,)
    for given in each:
        scheme = single_ensemble("ensembles", given, "simulate")
        if not has_all_samples(scheme) and not any(same_terms(scheme, one) for one in schemes):
            schemes.append(scheme)
    return tuple(schemes)


def _realized_sizes(problem: Problem, dim: int, model: str) -> Problem:
    """The problem with P and N rounded to whole numbers, at least 1."""
    kernel = model == "kernel"
    ridge, ratio = np.asarray(problem.ridge), np.asarray(problem.features_per_dim)
    refuse("ridge", ridge, np.isinf(ridge), "finite to be simulated")
    wanted = "inf for model 'kernel'" if kernel else f"finite for model {model!r}"
    refuse("features_per_dim", ratio, np.isinf(ratio) != kernel, wanted)
    sizes = {}
    for name in ("features_per_dim", "samples_per_dim"):
        value = np.asarray(getattr(problem, name))
        count = np.rint(value * dim)
        refuse_empty(name, value, count, dim)
        sizes[name] = count / dim
    return replace(problem, **sizes)


def refuse_empty(name: str, ratio: Numeric, count: Numeric, dim: int) -> None:
    """Raise a ValueError where no feature, or no sample, is left by rounding."""
    one = name.partition("s_per_dim")[0]
    refuse(name, np.asarray(ratio), np.asarray(count) < 1, f"enough for one {one} at D = {dim}")


def _checked_times(times: object) -> FloatArray | None:
    if times is None:
        return None
    if isinstance(times, str) or not isinstance(times, Sequence | np.ndarray):
        raise TypeError(f"times must be a sequence of numbers, got {times!r}")
    stops = np.asarray(checked("times", times, glossary.TIME))
    if stops.ndim != 1:
        raise ValueError(f"times must be a sequence of numbers, got shape {stops.shape}")
    return stops


# --- test points ---------------------------------------------------------------------------------


def n_test_points(n_samples: int) -> int:
    """Enough that sampling them adds little to the spread over draws."""
    return max(64, n_samples // 4)


def _refuse_test_average(test: str, problem: Problem, model: str) -> None:
    """Raise a ValueError where the average over test points cannot be taken as requested."""
    known = closed_form(problem.moments) is not None
    if model == "gaussian" and test == "sample":
        raise ValueError("test must be one of auto, exact for model 'gaussian', got 'sample'")
    if model == "kernel":
        if not known:
            raise ValueError(
                f"activation must have a kernel in closed form ({', '.join(CLOSED)}) for model "
                f"'kernel', got {problem.moments.name!r}"
            )
        if test == "exact":
            raise ValueError("test must be one of auto, sample for model 'kernel', got 'exact'")
    if model == "features" and test == "exact":
        if not known:
            raise ValueError(
                f"activation must have a closed form ({', '.join(CLOSED)}) for test 'exact', "
                f"got {problem.moments.name!r}"
            )
        power = np.asarray(problem.nonlinear_signal)
        refuse("nonlinear_signal", power, power != 0, "0 for test 'exact'")


def _is_exact(test: str, at: Problem, model: str, n_features: float, n_samples: int) -> bool:
    """Whether the average over test points is exact; `n_features` over all feature sets."""
    if model != "features" or test != "auto":
        return model == "gaussian" or test == "exact"
    # the exact average factorizes a covariance of all features
    affordable = n_features <= n_test_points(n_samples)
    return closed_form(at.moments) is not None and not at.nonlinear_signal and affordable


# --- ridges that are too small -------------------------------------------------------------------


def required_ridge(
    n_features: float, ridge: float, samples: Iterable[float], bootstrap: int = 0
) -> str:
    """What the ridge must be, if it is zero for a fit of as many features as samples; else "".

    The mean error of such a fit is infinite. The number of different samples in a `bootstrap` of N
    is random, 0.632 N ± 0.312 √N. Any number has some probability, so that strictly the mean is
    infinite everywhere; but beyond 6 standard deviations it occurs in no simulation, nor in the
    theory, in which the number is 0.632 N exactly.

    >>> required_ridge(20, 0.0, [40, 20])
    'at least 1e-12 for P = 20 features and 20 samples, where the mean error is infinite without \
a ridge'
    """
    if ridge >= _LEAST_RIDGE:
        return ""
    square = [f"{n:.0f} samples" for n in samples if abs(n_features - n) <= 1]
    empty = math.exp(-1.0)
    mean, spread = bootstrap * (1 - empty), math.sqrt(bootstrap * empty * (1 - 2 * empty))
    if bootstrap and abs(n_features - mean) <= 1 + _DEVIATIONS * spread:
        square.append(f"the {mean:.0f} ± {spread:.0f} different samples of a bootstrap")
    if not square:
        return ""
    return (
        f"at least {_LEAST_RIDGE:g} for P = {n_features:.0f} features and {square[0]}, where the "
        "mean error is infinite without a ridge"
    )


def _required_ridge(run: SimulationPlan, w: int, ridge: float, dtype: str) -> str:
    """What the ridge of fits with the w-th P must be, if it is too small; else ""."""
    N, ensembles = run.n_samples, run.ensembles.values()
    trained = (one for one in ensembles if not has_no_samples(one))
    sizes = sorted({N, *(size for one in trained for size in member_sizes(one, N))})
    # a maximum margin interpolates no labels, and a limited time is like a ridge
    if not run.problem.loss_function.margin and (run.times is None or np.isinf(run.times).any()):
        bootstrap = N if any(one.with_replacement for one in ensembles) else 0
        if wanted := required_ridge(run.n_features[w], ridge, sizes, bootstrap):
            return wanted
    if dtype == "float32" and ridge < (least := _least_single_ridge(run, w, sizes)):
        return f"at least {least:.1e} for dtype 'float32' at these sizes, or dtype 'float64'"
    return ""


def _least_single_ridge(run: SimulationPlan, w: int, samples: Sequence[int]) -> float:
    r"""The ridge below which float32 is off by more than 1%, for the w-th P.

    The Gram matrix of the features has a largest eigenvalue e and, near P = N, smallest ones down
    to zero: adding alpha makes its condition number e/alpha, and rounding disturbs a fit by about
    e/alpha times the precision. For features with moments μ₁, μ⋆ (and mean μ₀, if not subtracted)

        e ≈ μ₁² (√N + √D)² (√P + √D)²/D + μ⋆² (√N + √P)² + μ₀² N P
    """
    sigma, D = run.problem.moments, run.dim
    N = np.array(samples, dtype=float)
    P = min(run.n_features[w], 1e12)  # the kernel: e is proportional to P
    largest = (
        (sigma.linear * (np.sqrt(N) + np.sqrt(D)) * (np.sqrt(P) + np.sqrt(D))) ** 2 / D
        + (sigma.nonlinear * (np.sqrt(N) + np.sqrt(P))) ** 2
        + (sigma.mean - run.mean) ** 2 * N * P
    )
    alpha = largest * np.finfo(np.float32).eps / _SINGLE_ERROR
    return float(np.max(alpha * D / (N * P)))
