r"""Finite-size simulation of a problem or of members, with standard errors.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features. A draw
gives learners (`_learners`), their outputs, and the table of mean products of two of them without
bias (`_pairs`), of which the result makes the error by cause (`combine`); the draws give the
standard errors. Means deviate from the theory by O(1/D).

**Draws without a fit.** The maximum margin of data that are not separable, and the weights of the
logistic loss without ridge on separable data, do not exist. Near N = N⋆ some draws of a finite
model are separable and others are not. No draw is left out, which would be a selection by norm:
the simulation raises an error with the draws concerned.

**Unequal members.** Every two have draws of their own. Of the samples of member a, the last are the
first of b; likewise the features, as weight vectors θ: each member applies its own activation to
them. With responses W (`_learners`) to y = Xβ + ε,

    E (f* - f_a)(f* - f_b) = F² (1 - tr X_aᵀ W_a/D - tr X_bᵀ W_b/D + tr (X_aᵀ W_a)(X_bᵀ W_b)ᵀ/D)
                             + τ² Σ_common tr W_a W_bᵀ,

averaged over the noise, the teacher's direction and the linear part of the test point exactly. The
remainders ρ_a and ρ_b are evaluated at common test points. The Gaussian covariates of both,
φ = μ₁ θ·x/√D + μ⋆ w, have at a common weight and sample w_a and w_b of correlation
r = μ⋆ab²/(μ⋆a μ⋆b), μ⋆ab² = E σ_a σ_b - μ₀a μ₀b - μ₁a μ₁b.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TypeVar, overload

import numpy as np

from doubletrouble.activations import correlation
from doubletrouble.errors import DivergenceError
from doubletrouble.losses import MaxMargin
from doubletrouble.parameters import Array, FloatArray, check_choice, check_flag
from doubletrouble.problems import Member, Problem
from doubletrouble.simulation._devices import ArrayDevice, Dtype
from doubletrouble.simulation._draws import (
    N_HELD_OUT,
    all_draws,
    draw_data,
    draw_features,
    draw_labels,
    draw_weights,
    gaussian_features,
    slope_by_power,
    true_features,
)
from doubletrouble.simulation._learners import (
    Block,
    ConvexFits,
    FeatureFits,
    KernelFits,
    LearnerKey,
    feature_learner,
    scheme_members,
)
from doubletrouble.simulation._pairs import (
    OutputLayout,
    SimulatedTerms,
    convex_terms,
    label_origins,
    ridge_terms,
)
from doubletrouble.simulation._plan import (
    MEMBER_MODELS,
    MODELS,
    Ensembles,
    MemberPlan,
    Model,
    RidgeFit,
    SimulationPlan,
    TestAverage,
    Times,
    drawn_scheme,
    has_no_samples,
    n_test_points,
    plan,
    plan_members,
)
from doubletrouble.simulation._result import CommitteeSimulation, DrawnEnsemble, Simulation
from doubletrouble.theory import Sharing

Output = TypeVar("Output")


def draw(plan: SimulationPlan, rng: np.random.Generator) -> list[FloatArray] | DivergenceError:
    """The terms of one draw, (terms, fits), of every scheme of the plan.

    All schemes start from copies of one generator. The draws of a scheme do not depend on the
    others, and those of one class are correlated: smaller subsamples are parts of larger ones,
    which reduces the standard errors of differences between schemes. A draw in which a fit has no
    minimum is the error of the first.
    """
    data, test = draw_data(plan, rng)
    problem, most = plan.problem, max(plan.n_features)
    inputs: Sequence[Array] = data.inputs
    fits: FeatureFits | KernelFits | ConvexFits
    if plan.model == "kernel":
        assert test is not None  # the kernel has no exact average
        fits = KernelFits(plan, data, test)
    elif problem.is_ridge_regression:
        fits = FeatureFits(plan, draw_features(plan, inputs, test, int(most), rng))
    else:
        F, held = (
            float(np.asarray(problem.signal)),
            plan.device.normals(rng, (N_HELD_OUT, plan.dim)),
        )
        labels = [draw_labels(problem, F * x[:, 0], rng) for x in inputs]
        inputs = (*inputs, held)
        sets = draw_features(plan, inputs, test, int(most), rng)
        fits = ConvexFits(plan, sets, labels, F * held[:, 0])
    (common,) = rng.spawn(1)
    drawn = []
    for s, scheme in enumerate(plan.schemes):
        own, of_scheme = deepcopy(rng if plan.n_parts[s] else common), fits
        if scheme.shares_features and not isinstance(fits, KernelFits):
            of_scheme = fits.of_banks(draw_features(plan, inputs, test, 2 * int(most), own))
        drawn.append((of_scheme, scheme_members(plan, s, data, of_scheme.n_sets, own)))
    tables: list[list[FloatArray]] = [[np.empty(0)] * len(plan.n_features) for _ in drawn]
    try:
        for w in plan.by_features:
            fits.grow(w)
            for (of_scheme, blocks), table in zip(drawn, tables, strict=True):
                if of_scheme is not fits:
                    of_scheme.grow(w)
                of_blocks = [block_terms(of_scheme, block, plan.n_fits(w)) for block in blocks[w]]
                table[w] = np.mean(of_blocks, axis=0)
    except DivergenceError as error:
        return error
    return [np.concatenate(table, axis=1) for table in tables]


def block_terms(
    fits: FeatureFits | KernelFits | ConvexFits, block: Block, n_fits: int
) -> FloatArray:
    """The terms of every fit, (terms, fits), of the learners on one block of data."""
    kernel_test = fits.test if isinstance(fits, KernelFits) else None
    layout = OutputLayout(fits.plan.dim, fits.n_shared, kernel_test)
    if isinstance(fits, ConvexFits):
        outputs = _outputs(fits.learner, block, n_fits)
        points = (fits.plan.problem, layout, fits.held)
        tables = [convex_terms(outputs(k), *points) for k in range(n_fits)]
    else:
        responses = _outputs(fits.learner, block, n_fits)
        tables = [ridge_terms(responses(k), block.data, layout) for k in range(n_fits)]
    return np.stack(tables, axis=1)


def _outputs(
    learner: Callable[[LearnerKey, int], Callable[[int], Output]], block: Block, n_fits: int
) -> Callable[[int], Iterator[tuple[list[list[Output]], int]]]:
    """The k-th fits of all groups of learners, and the features common to twins."""
    groups: Iterable[tuple[list[list[Callable[[int], Output]]], int]] = (
        ([[learner(key, i) for i in (0, 1)] for key in group], n_common)
        for group, n_common in zip(block.groups, block.n_common, strict=True)
    )
    if n_fits > 1:  # they share factorizations; for a single one, learners are made one by one
        groups = list(groups)

    def of_fit(k: int) -> Iterator[tuple[list[list[Output]], int]]:
        for group, n_common in groups:
            yield [[fit(k) for fit in both] for both in group], n_common

    return of_fit


def _complete(
    problem: Problem, draws: Sequence[list[FloatArray] | DivergenceError]
) -> list[list[FloatArray]]:
    """The tables of all draws, or DivergenceError with those without a fit: the rest is biased."""
    failed = {k: one for k, one in enumerate(draws) if isinstance(one, DivergenceError)}
    if not failed:
        return [one for one in draws if not isinstance(one, DivergenceError)]
    shown = ("draw " if len(failed) == 1 else "draws ") + ", ".join(map(str, list(failed)[:10]))
    shown += ", …" if len(failed) > 10 else ""
    remedy = (
        "loss 'hinge' at ridge 0 is the maximum margin where there is one, and a minimum elsewhere"
        if isinstance(problem.loss_function, MaxMargin)
        else "a positive ridge has a minimum in every draw"
    )
    raise DivergenceError(
        f"every draw must have a minimum, got {len(failed)} of {len(draws)} without one ({shown}): "
        f"{next(iter(failed.values()))}; {remedy}"
    )


# --- unequal members ------------------------------------------------------------------------------


def draw_members(plan: MemberPlan, rng: np.random.Generator) -> FloatArray:
    """The mean products of the errors of every two members in one draw, (2, K, K).

    They are those for unit power of the teacher, and for unit noise.
    """
    products = np.empty((2, *plan.n_features.shape))
    pairs = list(combinations_with_replacement(range(len(plan.members)), 2))
    for (a, b), own in zip(pairs, rng.spawn(len(pairs)), strict=True):
        products[:, a, b] = products[:, b, a] = _member_product(plan, a, b, own)
    return products


def _member_product(
    plan: MemberPlan, a: int, b: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The mean products of the errors of members a and b."""
    dim, device, gaussian = plan.dim, plan.device, plan.model == "gaussian"
    (P_a, P_b, P_ab), (N_a, N_b, N_ab) = (
        (int(shared[a, a]), int(shared[b, b]), int(shared[a, b]))
        for shared in (plan.n_features, plan.n_samples)
    )
    sigma, other = (plan.members[k].moments for k in (a, b))
    x = device.normals(rng, (N_a + N_b - N_ab, dim))
    theta = draw_weights(rng, P_a + P_b - P_ab, dim, device)
    n_test = 0 if gaussian else n_test_points(max(N_a, N_b))
    test = device.normals(rng, (n_test, dim))

    def response(k: int, x: Array, theta: Array, w: Array) -> Array:
        sigma = plan.members[k].moments
        if gaussian:
            features = gaussian_features(sigma, theta, [x], [w], sigma.mean)
        else:
            slope = slope_by_power(sigma, dim)
            features = true_features(sigma, theta, slope, [x], test, sigma.mean, device)
        (phi,) = features.train
        alpha = phi.shape[0] * phi.shape[1] * float(np.asarray(plan.members[k].ridge)) / dim
        return feature_learner(phi, features.outputs, features.own, [RidgeFit(alpha)])(0)

    x_a, x_b = x[:N_a], x[N_a - N_ab :]
    w = device.normals(rng, (N_a, P_a) if gaussian else (0, 0))
    left = right = response(a, x_a, theta[:P_a], w)  # (N, R)
    r = 1.0 if sigma == other or not P_ab else correlation(sigma, other)
    if a != b:
        shared = w[N_a - N_ab :, P_a - P_ab :]
        w = device.normals(rng, (N_b, P_b) if gaussian else (0, 0))
        if gaussian:
            w[:N_ab, :P_ab] *= math.sqrt(max(0.0, 1 - r**2))
            w[:N_ab, :P_ab] += r * shared
        right = response(b, x_b, theta[P_a - P_ab :], w)
    projected_a, projected_b = x_a.T @ left, x_b.T @ right  # (D, R), by the teacher's directions
    layout = OutputLayout(dim, dim + n_test)

    def product(one: Array, other: Array) -> float:
        common, own = layout.products(one, other, n_features=P_ab)
        return common + r * own

    overlap = (layout.overlap(projected_a) + layout.overlap(projected_b)) / dim
    power = product(projected_a, projected_b) / dim
    return 1 - overlap + power, product(left[N_a - N_ab :], right[:N_ab])


def _simulate_members(
    plan: MemberPlan, *, n_data: int, seed: int, progress: bool
) -> CommitteeSimulation:
    rngs = np.random.default_rng([seed, 10 + MEMBER_MODELS.index(plan.model)]).spawn(n_data)
    draws = all_draws(lambda rng: draw_members(plan, rng), rngs, progress=progress)
    return CommitteeSimulation(
        members=plan.members,
        shared_features=plan.n_features / plan.dim,
        shared_samples=plan.n_samples / plan.dim,
        signal=plan.signal,
        noise=plan.noise,
        dim=plan.dim,
        model=plan.model,
        seed=seed,
        terms=np.stack(draws, axis=1),
    )


# --- the public function --------------------------------------------------------------------------


@overload
def simulate(
    problem: Problem,
    *,
    dim: int,
    model: Model = ...,
    n_data: int = ...,
    n_init: int = ...,
    ensembles: Ensembles = ...,
    seed: int = ...,
    device: str = ...,
    times: Times | None = ...,
    test: TestAverage = ...,
    center: bool = ...,
    dtype: Dtype = ...,
    progress: bool = ...,
) -> Simulation: ...


@overload
def simulate(
    problem: Sequence[Member],
    *,
    dim: int,
    sharing: Sharing = ...,
    signal: float | None = ...,
    noise: float | None = ...,
    model: Model = ...,
    n_data: int = ...,
    seed: int = ...,
    device: str = ...,
    progress: bool = ...,
) -> CommitteeSimulation: ...


def simulate(
    problem: Problem | Sequence[Member],
    *,
    dim: int,
    model: Model = "features",
    n_data: int = 10,
    n_init: int = 10,
    ensembles: Ensembles = (),
    seed: int = 0,
    device: str = "auto",
    times: Times | None = None,
    test: TestAverage = "auto",
    center: bool = True,
    dtype: Dtype = "float64",
    sharing: Sharing = "samples",
    signal: float | None = None,
    noise: float | None = None,
    progress: bool = True,
) -> Simulation | CommitteeSimulation:
    """Simulate a problem, or a list of members, at dimension `dim`.

    P and N are rounded to whole numbers. The fields of the problem may be arrays, which broadcast
    as in `exact_error`; the result has the same axes, and `exact_error(sim.problem)` is the theory
    for every point. Points that differ in P/D, λ, or the powers of a problem of ridge regression
    are computed from the same draws, so that neighbours are correlated; every other value is a run
    of its own, from the same seed. A nonlinear teacher is a random quadratic form of the inputs.

    Means of finite models deviate from the theory by a share of order 1/D, which standard errors do
    not include; those of Gaussian covariates (`model="gaussian"`) deviate less.

    For classification, and for losses other than the squared loss, labels are drawn and every
    learner is fitted with its loss. This needs `center`, float64 and the CPU, and has no model
    "kernel" and no `times`, and the ensembles `Divide`, `Subsample` and `FeatureBank`.

    Of a list of `Member`s, which may differ in P, N, ridge and activation, every two are
    simulated together, with draws of their own.

    Parameters
    ----------
    problem : Problem or sequence of Member
        The problem, whose fields may be arrays, or members, each a single point.
    dim : int
        The dimension D, in [1, 1e7].
    model : "features" or "gaussian" or "kernel", default: "features"
        "features" uses the true activation, "gaussian" the equivalent Gaussian covariates,
        "kernel" (with `features_per_dim=math.inf`) the exact kernel of infinitely many features.
    n_data : int, default: 10
        Independent draws, from which the standard errors are computed, at least 2.
    n_init : int, default: 10
        Sets of features in each draw, at least 2; no effect for the kernel.
    ensembles : Scheme or float or sequence of them, default: ()
        Ensembles to draw, one or several: `Divide(2)`, `Subsample(10, fraction=0.6)`,
        `Bootstrap(10)`, `FeatureBank(10, bank_per_dim=5.0)`. Numbers of models with all of the data
        need not be drawn: `sim.error(K)` is available for any K. Where the shares of a scheme do
        not depend on K, as in all of these but `Divide`, `sim.error` is available for any K, too.
        The draws of one ensemble do not depend on the others. A fraction, or a bank, is rounded to
        whole numbers: see `Simulation.realized`.
    seed : int, default: 0
        Seed of the random numbers, which are the same on every device, in [0, 2³²).
    device : str, default: "auto"
        "cpu" (NumPy), "torch", or a device of torch such as "cuda". "auto" is torch's GPU where
        torch is imported already and has one, else NumPy.
    times : sequence of float or None, default: None
        Times (in the unit of `gradient_flow`) at which gradient flow from zero is stopped, in place
        of ridge regression; the last axis of the results.
    test : "auto" or "exact" or "sample", default: "auto"
        How the average over test points is taken: "exact" by closed forms (relu, leaky_relu, abs,
        erf, sign, sin, cos, linear, quadratic, and the Gaussian model), "sample" at sampled points
        beyond the linear part, which is always exact; "auto" is exact where that is cheaper.
        `sim.test` is the one used.
    center : bool, default: True
        Whether the mean of the activation is subtracted.
    dtype : "float64" or "float32", default: "float64"
        The precision; "float32" is for ridges that are not too small for it.
    sharing : str or pair or mapping, default: "samples"
        What any two members have in common: "samples", "features", "both" (the smaller of two is
        part of the larger), "nothing", or the overlaps (features, samples) per dimension, numbers
        or matrices, as in `committee`.
    signal : float or None, default: None
        F, the norm of the linear teacher of members, in [0, 1e150]; 1 unless given.
    noise : float or None, default: None
        τ, the standard deviation of the label noise of members, in [0, 1e150]; 1 unless given.
    progress : bool, default: True
        Whether a progress bar, or lines in a log, are shown where the draws take more than two
        seconds.

    Returns
    -------
    Simulation or CommitteeSimulation
        Every term of every draw, with methods for the error by cause; of members the mean product
        of the errors of every two, and the error for any weights.

    Raises
    ------
    ValueError
        If a number is out of range, an option is not one of those listed or not one of a problem
        or of members, or the settings cannot be simulated: as without a ridge at P = N, where the
        mean error is infinite.
    TypeError
        If `problem` is neither a `Problem` nor a list of `Member`, or an option is not of the type
        above.
    DivergenceError
        If a draw has no fit: the maximum margin of data that are not separable, or the logistic
        loss without ridge on separable data. The message lists the draws; none is left out.
    MissingExtraError
        If a device of torch is given and torch is not installed.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, ridge=[0.1, 1.0])
    >>> run = dt.simulate(problem, dim=50, n_data=20, n_init=2)
    >>> theory = dt.exact_error(problem, 5).total
    >>> abs(run.error(5).total.z_score(theory)) < 5
    array([ True,  True])

    >>> a = dt.Member(features_per_dim=2.0, ridge=0.1)
    >>> b = dt.Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=0.1, activation="tanh")
    >>> run = dt.simulate([a, b], dim=20, n_data=4, noise=0.5)
    >>> run.pair_errors.value.shape, float(run.shared_samples[0, 1])
    ((2, 2), 0.8)
    """
    check_flag("progress", progress)
    if not isinstance(problem, Problem):
        wanted = "problem must be a Problem or a list of Members, got "
        if isinstance(problem, str | Member) or not isinstance(problem, Sequence):
            raise TypeError(f"{wanted}{type(problem).__name__}")
        if not problem:
            raise ValueError(f"{wanted}an empty {type(problem).__name__}")
        for one in problem:
            if not isinstance(one, Member):
                raise TypeError(f"{wanted}a {type(problem).__name__} with a {type(one).__name__}")
        others = {"n_init": n_init, "ensembles": ensembles, "times": times, "test": test}
        _refuse_given(others | {"center": center, "dtype": dtype}, " for members")
        check_choice("device", device, ("auto", "cpu"), "members")
        members = plan_members(
            problem,
            sharing=sharing,
            signal=signal,
            noise=noise,
            dim=dim,
            n_data=n_data,
            seed=seed,
            model=model,
        )
        return _simulate_members(members, n_data=n_data, seed=seed, progress=progress)
    _refuse_given({"signal": signal, "noise": noise}, ", as it is a field of Problem")
    _refuse_given({"sharing": sharing}, " for a Problem")
    planned = plan(
        problem,
        dim=dim,
        model=model,
        n_data=n_data,
        n_init=n_init,
        ensembles=ensembles,
        seed=seed,
        test=test,
        center=center,
        dtype=dtype,
        times=times,
    )
    convex = not problem.is_ridge_regression
    if convex:
        check_choice("device", device, ("auto", "cpu"), f"loss {problem.loss}")
        device = "cpu"
    where = ArrayDevice.of(device, dtype)
    items = [
        (replace(run, device=where), rng)
        for run in planned.runs
        for rng in np.random.default_rng([seed, MODELS.index(model)]).spawn(n_data)
    ]
    draws = all_draws(lambda item: draw(*item), items, device=where, progress=progress)
    runs, origins = planned.runs, label_origins(problem)
    by_run = [_complete(problem, draws[k : k + n_data]) for k in range(0, len(draws), n_data)]

    def terms(positions: Sequence[int]) -> SimulatedTerms:
        """Those of the scheme at one position in each run."""
        tables = [[of_draw[s] for of_draw in one] for one, s in zip(by_run, positions, strict=True)]
        return SimulatedTerms(origins=origins, values=planned.of_fits(tables))

    whole = terms([0] * len(runs))
    drawn = []
    for k, requested in enumerate(planned.ensembles):
        if has_no_samples(requested):
            own = replace(whole, values=np.zeros_like(whole.values))
        else:
            own = terms([run.schemes.index(drawn_scheme(run.ensembles[k])) for run in runs])
        drawn.append(DrawnEnsemble(requested=requested, realized=planned.realized(k), terms=own))
    n_test = planned.n_test
    return Simulation(
        problem=planned.problem,
        dim=runs[0].dim,
        model=model,
        seed=seed,
        n_init=n_init,
        test="sample" if np.all(n_test) else "auto" if np.any(n_test) else "exact",
        n_test=n_test,
        center=runs[0].center,
        dtype=dtype,
        draws=whole,
        drawn=tuple(drawn),
        times=planned.times,
    )


def _refuse_given(options: Mapping[str, object], reason: str) -> None:
    """Raise ValueError for an option that differs from its default."""
    defaults: Mapping[str, object] = simulate.__kwdefaults__ or {}
    for name, value in options.items():
        if not (isinstance(value, type(defaults[name])) and value == defaults[name]):
            raise ValueError(f"{name} must be left out{reason}, got {value!r}")
