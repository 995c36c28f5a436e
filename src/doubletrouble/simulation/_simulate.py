r"""Finite-size simulation of a problem, with standard errors.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features; products
of independent copies give every Ψ term without bias (`_terms`), and the draws give the standard
errors. Means deviate from the theory by O(1/D). Learners with losses other than the squared one are
fitted one by one, and have overlaps in place of Ψ terms (`_overlaps`).
"""

from __future__ import annotations  # help() then shows the alias Numeric

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from doubletrouble.ensembles import Divide, Scheme
from doubletrouble.errors import DivergenceError
from doubletrouble.losses import MaxMargin
from doubletrouble.problems import Problem
from doubletrouble.runs import progress_bar
from doubletrouble.simulation._devices import ArrayDevice, Dtype, Result
from doubletrouble.simulation._ensembles import has_no_samples, is_division, n_members
from doubletrouble.simulation._members import draw
from doubletrouble.simulation._overlaps import OverlapDraws
from doubletrouble.simulation._overlaps import draw as draw_overlaps
from doubletrouble.simulation._plan import (
    MODELS,
    Ensembles,
    Model,
    Numbers,
    SimulationPlan,
    TestAverage,
    plan,
)
from doubletrouble.simulation._result import ConvexSimulation, DrawnEnsemble, Simulation
from doubletrouble.simulation._terms import SimulatedTerms


def all_draws(
    work: Callable[[np.random.Generator], Result],
    rngs: Sequence[np.random.Generator],
    *,
    device: ArrayDevice | None = None,
    progress: bool,
) -> list[Result]:
    """The result of every draw, with a progress bar."""
    results = []
    with progress_bar(len(rngs), unit="draw", description="simulate", progress=progress) as bar:
        for result in (device or ArrayDevice()).map(work, rngs):
            results.append(result)
            bar.update()
    return results


def _draw_or_divergence(planned: SimulationPlan, rng: np.random.Generator) -> Any:
    """The overlaps of one draw, or the error of the first fit that has no minimum."""
    try:
        return draw_overlaps(planned, rng)
    except DivergenceError as error:
        return error


def _refuse_diverged(problem: Problem, draws: Sequence[Any]) -> None:
    """Raise DivergenceError with the draws that have no fit: without them, rates are biased."""
    failed = {k: one for k, one in enumerate(draws) if isinstance(one, DivergenceError)}
    if not failed:
        return
    shown = ("draw " if len(failed) == 1 else "draws ") + ", ".join(map(str, list(failed)[:10]))
    shown += ", …" if len(failed) > 10 else ""
    remedy = (
        "loss 'hinge' at ridge 0 is the maximum margin where there is one, and a minimum elsewhere"
        if isinstance(problem.loss, MaxMargin)
        else "a positive ridge has a minimum in every draw"
    )
    raise DivergenceError(
        f"every draw must have a minimum, got {len(failed)} of {len(draws)} without one ({shown}): "
        f"{next(iter(failed.values()))}; {remedy}"
    )


def simulate(
    problem: Problem,
    *,
    dim: int,
    model: Model = "features",
    n_data: int = 10,
    n_init: int = 10,
    ensembles: Ensembles = (),
    seed: int = 0,
    device: str = "auto",
    features_per_dim: Numbers | None = None,
    ridge: Numbers | None = None,
    times: Numbers | None = None,
    test: TestAverage = "auto",
    center: bool = True,
    dtype: Dtype = "float64",
    progress: bool = True,
) -> Simulation:
    """Simulate a problem at dimension `dim`, with P and N rounded to whole numbers.

    A nonlinear teacher is a random quadratic form of the inputs. For classification, and for losses
    other than the squared loss, labels are drawn and every learner is fitted with its loss; the
    result is a `ConvexSimulation`. It needs `center`, float64 and the CPU, has no model "kernel"
    and no `times`, and the ensembles `Divide`, `Subsample` and `FeatureBank`.

    Parameters
    ----------
    problem : Problem
        The problem, a single point.
    dim : int
        The dimension D, in [1, 1e7].
    model : {"features", "gaussian", "kernel"}, default: "features"
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
    features_per_dim, ridge : sequence of float or None, default: None
        Values of P/D and of λ that replace those of the problem by a curve each: all values come
        from the same draws, the results have an axis for each, and `exact_error(sim.problem)` has
        the same shape. Neighbouring points are correlated.
    times : sequence of float or None, default: None
        Times (in the unit of `gradient_flow`) at which gradient flow from zero is stopped, in place
        of ridge regression; the last axis of the results.
    test : {"auto", "exact", "sample"}, default: "auto"
        How the average over test points is taken: "exact" by closed forms (relu, leaky_relu, abs,
        erf, sign, sin, cos, linear, quadratic, and the Gaussian model), "sample" at sampled points
        beyond the linear part, which is always exact; "auto" is exact where that is cheaper.
        `sim.test` is the one used.
    center : bool, default: True
        Whether the mean of the activation is subtracted.
    dtype : {"float64", "float32"}, default: "float64"
        The precision; "float32" is for ridges that are not too small for it.
    progress : bool, default: True
        Whether a progress bar, or lines in a log, are shown where the draws take more than two
        seconds.

    Returns
    -------
    Simulation
        Every term of every draw, with methods for the error by cause.

    Raises
    ------
    ValueError
        If a number is out of range, an option is not one of those listed, or the settings cannot be
        simulated: as without a ridge at P = N, where the mean error is infinite.
    TypeError
        If `problem` is not a `Problem`, or an option is not of the type above.
    DivergenceError
        If a draw has no fit: the maximum margin of data that are not separable, or the logistic
        loss without ridge on separable data. The message lists the draws; none is left out.
    MissingExtraError
        If a device of torch is given and torch is not installed.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=2.0, ridge=0.1)
    >>> run = dt.simulate(problem, dim=50, n_data=20, n_init=2)
    >>> theory = dt.exact_error(problem, 5).total
    >>> abs(run.error(5).total.z_score(theory)) < 5
    True
    """
    checked = plan(
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
        features_per_dim=features_per_dim,
        ridge=ridge,
        times=times,
    )
    if not problem.is_ridge_regression:
        if device not in ("auto", "cpu"):
            raise ValueError(
                f"device must be 'auto' or 'cpu' for loss {problem.loss!s}, got {device!r}"
            )
        device = "cpu"
    planned = replace(checked, device=ArrayDevice.of(device, dtype))
    rngs = np.random.default_rng([seed, MODELS.index(model)]).spawn(n_data)
    convex = not planned.problem.is_ridge_regression
    one_draw: Any = _draw_or_divergence if convex else draw
    draws = all_draws(partial(one_draw, planned), rngs, device=planned.device, progress=progress)
    _refuse_diverged(problem, draws)

    def terms(scheme: Scheme) -> Any:
        kind: Any = OverlapDraws if convex else SimulatedTerms
        return kind.combined(
            lambda values: np.reshape(values, (n_data, *planned.shape)),
            [tables[scheme] for tables in draws],
        )

    whole = terms(Divide(1))
    drawn = []
    for requested, realized in planned.ensembles.items():
        if has_no_samples(realized):
            drawn_terms = SimulatedTerms.combined(lambda values: np.zeros_like(values[0]), [whole])
        elif is_division(realized):
            drawn_terms = terms(Divide(int(n_members(realized))))
        else:
            drawn_terms = terms(realized)
        drawn.append(DrawnEnsemble(requested=requested, realized=realized, terms=drawn_terms))
    kind = ConvexSimulation if convex else Simulation
    return kind(
        problem=planned.problem,
        dim=planned.dim,
        model=model,
        seed=seed,
        n_init=n_init,
        test="sample" if planned.n_test else "exact",
        n_test=planned.n_test,
        center=planned.center,
        dtype=dtype,
        draws=whole,
        drawn=tuple(drawn),
        times=planned.times,
    )
