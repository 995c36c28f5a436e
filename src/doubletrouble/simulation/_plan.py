"""The settings of a simulation, checked and in whole numbers, before anything is drawn.

Points of a problem with arrays that differ in P/D and λ share their draws; so do the powers of the
signal and of the noise in ridge regression, by which terms are multiplied afterwards. Points that
differ in anything else are runs of their own from the same seed.

Simulations depend on the shares that a scheme declares (`doubletrouble.ensembles`), not on its
class. There are three cases:

- members with all of the samples and with features of their own (`has_all_samples`): the terms of
  one draw give every number of members;
- K disjoint parts of the samples (`is_division`): consecutive blocks, all of which are averaged;
- everything else: members that draw their samples, or share features (`_learners`).
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.ensembles import (
    Divide,
    EnsembleLike,
    FeatureBank,
    Scheme,
    Subsample,
    as_ensemble,
)
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
from doubletrouble.problems import USUAL, Member, Problem
from doubletrouble.simulation._devices import DTYPES, ArrayDevice, Dtype
from doubletrouble.theory import Sharing, overlaps

Model: TypeAlias = Literal["features", "gaussian", "kernel"]
MODELS: tuple[str, ...] = get_args(Model)
MEMBER_MODELS = ("features", "gaussian")
TestAverage: TypeAlias = Literal["auto", "exact", "sample"]
TESTS: tuple[str, ...] = get_args(TestAverage)

Times: TypeAlias = Sequence[float] | FloatArray
Ensembles: TypeAlias = float | Scheme | Iterable[float | Scheme]
"""One ensemble or several; a number of models stands for `Ensemble`."""

_LEAST_RIDGE = 1e-12  # below, fits of as many features as samples diverge
_DEVIATIONS = 6.0  # standard deviations beyond which a number is not drawn in practice
_SINGLE_ERROR = 1e-2  # relative error that is accepted of float32
_ROUNDING = 1e-9  # relative, of shares


class RidgeFit(NamedTuple):
    """The penalty alpha of a fit, and the time t/D at which gradient flow is stopped."""

    alpha: float
    time: float = math.inf


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationPlan:
    """A run: points that share their draws, and every other setting in whole numbers."""

    problem: Problem  # what the points have in common
    model: str
    dim: int
    n_samples: int
    n_features: tuple[float, ...]  # every P, in the order requested; inf for the kernel
    ridges: tuple[tuple[float, ...], ...]  # of the fits at every P
    n_init: int
    ensembles: tuple[Scheme, ...]  # at the sizes realized, in the order requested
    schemes: tuple[Scheme, ...]  # to draw: all of the data, `Divide(1)`, then those of ensembles
    banks: tuple[tuple[float, ...], ...]  # of each scheme, B for every P where features are shared
    times: FloatArray | None  # of gradient flow; None: ridge regression
    n_test: int  # sampled test points; 0: the average over test points is exact
    center: bool
    device: ArrayDevice = ArrayDevice()

    @cached_property
    def n_parts(self) -> tuple[int, ...]:
        """The parts of the data of each scheme that divides them; 0 for all others."""
        return tuple(int(n_members(one)) if is_division(one) else 0 for one in self.schemes)

    @property
    def by_features(self) -> list[int]:
        """The indices of all P, in increasing order."""
        return [int(w) for w in np.argsort(self.n_features, kind="stable")]

    @cached_property
    def mean(self) -> float:
        """The mean μ₀ that is subtracted from the activation."""
        return self.problem.moments.mean if self.center else 0.0

    def n_fits(self, w: int) -> int:
        """The number of fits with the w-th P."""
        return len(self.ridges[w]) * (1 if self.times is None else self.times.size)

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
    ensembles: tuple[Scheme, ...]  # as requested
    runs: tuple[SimulationPlan, ...]
    run_index: IntArray  # the run of every point
    fit_index: IntArray  # its P and λ, among those of all runs one after the other

    def of_fits(self, tables: Sequence[Sequence[FloatArray]]) -> FloatArray:
        """The tables of all draws of each run, (terms, fits), as one (terms, draws, points)."""
        fits = np.concatenate([np.stack(of_run, axis=1) for of_run in tables], axis=-1)
        if self.times is not None:
            fits = fits.reshape(*fits.shape[:2], -1, self.times.size)
        return np.take(fits, self.fit_index, axis=2)

    @property
    def n_test(self) -> int | IntArray:
        """The number of test points sampled: an array where points differ in it."""
        counts = [run.n_test for run in self.runs]
        return counts[0] if len(set(counts)) == 1 else self._of_runs(counts).astype(np.int64)

    def realized(self, k: int) -> Scheme:
        """The k-th ensemble at the sizes realized; options in which points differ are arrays."""
        every = [run.ensembles[k] for run in self.runs]
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
        members = tuple(realized_ensemble(one, D, N) for one in drawn)
        shared = [one for one in members if one.shares_features]
        if shared and model == "kernel":
            raise ValueError(
                f"ensembles must not share features for model 'kernel', got {shared[0]!r}"
            )
        as_drawn = (drawn_scheme(one) for one in members if not has_no_samples(one))
        schemes = tuple(dict.fromkeys([Divide(1), *as_drawn]))
        run = SimulationPlan(
            problem=common,
            model=model,
            dim=D,
            n_samples=N,
            n_features=tuple(P),
            ridges=tuple(tuple(ridges) for ridges in points.values()),
            n_init=n_init,
            ensembles=members,
            schemes=schemes,
            banks=tuple(
                bank_sizes(one, common, D, P) if one.shares_features else () for one in schemes
            ),
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
        ensembles=drawn,
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
        _refuse_empty(name, value, count, dim)
        sizes[name] = count / dim
    return replace(problem, **sizes)


def _refuse_empty(name: str, ratio: Numeric, count: Numeric, dim: int) -> None:
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


# --- members --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberPlan:
    """Members, and what any two of them have in common, in whole numbers."""

    members: tuple[Member, ...]  # at the sizes realized
    n_features: IntArray  # (K, K) common features; the diagonal holds the members' own
    n_samples: IntArray  # (K, K)
    signal: float
    noise: float
    dim: int
    model: str
    device: ArrayDevice = ArrayDevice()


def plan_members(
    members: Sequence[Member],
    *,
    sharing: Sharing,
    signal: float | None,
    noise: float | None,
    dim: int,
    n_data: int,
    seed: int,
    model: str,
) -> MemberPlan:
    """Check all settings together, as in `plan`; P, N and overlaps are rounded."""
    if shapes := [one.shape for one in members if one.shape]:
        raise ValueError(f"members must be single points, got fields of shape {shapes[0]}")
    P, N, ridge = (
        [float(np.asarray(getattr(one, name))) for one in members]
        for name in ("features_per_dim", "samples_per_dim", "ridge")
    )
    for name, values in (("features_per_dim", P), ("ridge", ridge)):
        refuse(name, np.array(values), np.isinf(values), "finite to be simulated")
    strength, noise_sd = (
        number(name, USUAL[name] if value is None else value, spec)
        for name, value, spec in (
            ("signal", signal, glossary.SIGNAL),
            ("noise", noise, glossary.NOISE),
        )
    )
    check_choice("model", model, MEMBER_MODELS)
    whole_number("n_data", n_data, 2)
    whole_number("seed", seed, 0, MOST_SEEDS)
    D = int(number("dim", dim, glossary.WHOLE_DIM))
    features, samples = overlaps(P, N, sharing)
    n_features = _whole_overlaps("features_per_dim", features, D)
    n_samples = _whole_overlaps("samples_per_dim", samples, D)
    realized = []
    for k, one in enumerate(members):
        own, drawn = int(n_features[k, k]), int(n_samples[k, k])
        if wanted := required_ridge(own, ridge[k], [drawn]):
            raise ValueError(f"ridge must be {wanted}, got {ridge[k]!r}")
        realized.append(replace(one, features_per_dim=own / D, samples_per_dim=drawn / D))
    return MemberPlan(
        members=tuple(realized),
        n_features=n_features,
        n_samples=n_samples,
        signal=strength,
        noise=noise_sd,
        dim=D,
        model=model,
    )


def _whole_overlaps(name: str, overlap: FloatArray, dim: int) -> IntArray:
    """Overlaps in whole numbers, at most all that both have; the sizes on the diagonal."""
    sizes = np.rint(np.diag(overlap) * dim)
    _refuse_empty(name, np.diag(overlap), sizes, dim)
    rounded = np.minimum(np.rint(overlap * dim), np.minimum.outer(sizes, sizes))
    np.fill_diagonal(rounded, sizes)
    return rounded.astype(np.int64)


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
    N, ensembles = run.n_samples, run.ensembles
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


# --- ensembles at finite size ---------------------------------------------------------------------


def single_ensemble(
    name: str, value: EnsembleLike, function: str, *, any_members: bool = False
) -> Scheme:
    """One ensemble, all of whose parameters are numbers; `name` is the argument in messages.

    With `any_members` the number of members may be an array, where draws serve every number.
    """
    try:
        scheme = as_ensemble(value, function)
    except (TypeError, ValueError) as error:
        raise type(error)(name + str(error).removeprefix("ensemble")) from None
    options = any(map(np.ndim, scheme.options.values()))
    if scheme.shape and (options or not (any_members and scheme.any_size)):
        raise ValueError(f"{name} must have numbers, not arrays, got {scheme!r}")
    return scheme


def n_members(scheme: Scheme) -> float:
    """The number of members K."""
    return float(np.asarray(scheme.n_members))


def sample_share(scheme: Scheme) -> float:
    """The share m/N of the samples that a member has."""
    numerator, denominator = (float(np.asarray(part)) for part in scheme.sample_share)
    return numerator / denominator


def has_all_samples(scheme: Scheme) -> bool:
    """Whether every member has all of the samples, and features of its own."""
    chosen = scheme.resamples is not None or scheme.with_replacement or scheme.shares_features
    whole = sample_share(scheme) == 1 and float(np.asarray(scheme.shared_samples)) == 1
    return scheme.any_size and whole and not chosen


def is_division(scheme: Scheme) -> bool:
    """Whether the members have all of the samples together, in K disjoint parts.

    >>> from doubletrouble.ensembles import Divide, Subsample
    >>> is_division(Divide(3)), is_division(Subsample(3, fraction=0.3))
    (True, False)
    """
    if scheme.shares_features or float(np.asarray(scheme.shared_samples)) != 0:
        return False
    return has_no_samples(scheme) or math.isclose(sample_share(scheme) * n_members(scheme), 1.0)


def drawn_scheme(scheme: Scheme) -> Scheme:
    """The scheme whose draws serve an ensemble, at the sizes realized."""
    return Divide(int(n_members(scheme))) if is_division(scheme) else scheme


def has_no_samples(scheme: Scheme) -> bool:
    """Whether members have no samples: finite data divided among infinitely many."""
    return math.isinf(n_members(scheme)) and sample_share(scheme) == 0


def same_terms(one: Scheme, other: Scheme) -> bool:
    """Whether two ensembles have the same terms: for `any_size`, with any number of members."""
    if type(one) is not type(other) or one.options.keys() != other.options.keys():
        return False
    if not all(np.array_equal(value, other.options[n]) for n, value in one.options.items()):
        return False
    return one.any_size or one.n_members == other.n_members


def member_sizes(scheme: Scheme, n_samples: int) -> tuple[int, int]:
    """The smallest and the largest number of samples of a member: N m/N, rounded down and up.

    >>> from doubletrouble.ensembles import Divide, Subsample
    >>> member_sizes(Divide(3), 10), member_sizes(Subsample(3, fraction=0.3), 10)
    ((3, 4), (3, 3))
    """
    size = n_samples * sample_share(scheme)
    return math.floor(size * (1 + _ROUNDING)), math.ceil(size * (1 - _ROUNDING))


def realized_ensemble(scheme: Scheme, dim: int, n_samples: int) -> Scheme:
    """The ensemble with whole numbers of samples and features, checked.

    Fractions of the samples and banks per dimension are rounded.

    >>> from doubletrouble.ensembles import Subsample
    >>> realized_ensemble(Subsample(2, fraction=0.58), dim=10, n_samples=10)
    Subsample(2, fraction=0.6)
    """
    rounded = {}
    for name, spec in declarations(scheme).items():
        value = getattr(scheme, name)
        unit = {glossary.FRACTION: n_samples, glossary.BANK_PER_DIM: dim}.get(spec)
        if unit is not None and value is not None and math.isfinite(value):
            rounded[name] = round(value * unit) / unit
            if spec == glossary.FRACTION and not rounded[name]:
                raise ValueError(
                    f"{name} must be large enough for one of N = {n_samples} samples, got {value!r}"
                )
    realized = replace(scheme, **rounded) if rounded else scheme
    _check_members(realized, n_samples)
    return realized


def _check_members(scheme: Scheme, n_samples: int) -> None:
    K = n_members(scheme)
    if has_no_samples(scheme):
        return
    if is_division(scheme):
        if n_samples < K:
            raise ValueError(
                f"n_members must be at most N = {n_samples} to divide the data, got {K:g}"
            )
    elif not scheme.any_size and not 2 <= K <= n_samples:
        raise ValueError(
            f"n_members must be at least 2 and at most N = {n_samples} to simulate "
            f"{type(scheme).__name__}, got {K:g}"
        )
    if member_sizes(scheme, n_samples)[0] < 1:
        raise ValueError(
            f"ensembles must have members of one of N = {n_samples} samples or more, got {scheme!r}"
        )
    if scheme.shares_features and (scheme.with_replacement or sample_share(scheme) != 1):
        raise ValueError(
            "ensembles must have members with all of the samples where these share features, "
            f"got {scheme!r}"
        )


def bank_sizes(
    scheme: Scheme, problem: Problem, dim: int, n_features: Iterable[float]
) -> tuple[float, ...]:
    """The size B = P²/k of a bank for every P, where two members share k features.

    k is then the mean number of features that two members have in common.

    >>> from doubletrouble.ensembles import FeatureBank
    >>> bank_sizes(FeatureBank(2, bank_per_dim=3.0), Problem(), dim=10, n_features=(10, 20))
    (30.0, 30.0)
    """
    sizes = []
    for P in n_features:
        share = float(
            np.asarray(scheme.shared_features(replace(problem, features_per_dim=P / dim)))
        )
        if not 0 <= share <= 1:
            raise ValueError(f"shared_features must return k/P in [0, 1], got {share!r}")
        size = P / share if share else math.inf
        whole = round(size) if math.isfinite(size) else size
        sizes.append(float(whole) if math.isclose(size, whole, rel_tol=_ROUNDING) else size)
    return tuple(sizes)


def draw_counts(
    scheme: Scheme, n_samples: int, count: int, rng: np.random.Generator
) -> Sequence[IntArray]:
    """The number of times each of the N samples is in each of `count` members, checked."""
    counts = np.asarray(scheme.draw_samples(n_samples, count, rng))
    if counts.shape != (count, n_samples) or counts.dtype.kind not in "biu" or (counts < 0).any():
        raise ValueError(
            f"draw_samples must return whole numbers of shape ({count}, {n_samples}), got an "
            f"array of {counts.dtype} of shape {counts.shape} for {scheme!r}"
        )
    low, high = member_sizes(scheme, n_samples)
    sums = counts.sum(axis=1)
    if sums.min() < low or sums.max() > high:
        wanted = f"{low}" if low == high else f"{low} or {high}"
        off = next(int(size) for size in sums if not low <= size <= high)
        raise ValueError(
            f"draw_samples must return rows that sum to {wanted}, the samples of a member by "
            f"sample_share, got {off} for {scheme!r}"
        )
    return list(counts.astype(np.int64, copy=False))
