r"""Finite-size simulation of a problem, with standard errors.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features; products
of independent copies give every Ψ term without bias (`terms`), and the draws give the standard
errors. Means deviate from the theory by O(1/D).
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from doubletrouble.ensembles import Scheme
from doubletrouble.problems import Problem
from doubletrouble.simulation._draw import feature_draw
from doubletrouble.simulation._features import slope_by_power
from doubletrouble.simulation._kernel import kernel_draw
from doubletrouble.simulation._place import ArrayDevice, Dtype, in_order
from doubletrouble.simulation._plan import (
    MODELS,
    Ensembles,
    Model,
    Numbers,
    SimulationPlan,
    TestAverage,
    plan,
)
from doubletrouble.simulation._progress import shown
from doubletrouble.simulation._result import DrawnEnsemble, Simulation, TermDraws, untaught
from doubletrouble.simulation._setting import Draw, DrawSetting, TermTable
from doubletrouble.simulation._shares import is_untaught, n_members


def simulate(
    problem: Problem, *, dim: int, model: Model = "features", n_data: int = 10,
    n_init: int = 10, ensembles: Ensembles = (), seed: int = 0, device: str = "auto",
    features_per_dim: Numbers | None = None, ridge: Numbers | None = None,
    times: Numbers | None = None, test: TestAverage = "auto", center: bool = True,
    dtype: Dtype = "float64", progress: bool = True,
) -> Simulation:  # fmt: skip
    """Simulate a problem at dimension `dim`, with P and N rounded to whole numbers.

    - `model="features"` uses the true activation, `"gaussian"` the equivalent Gaussian covariates,
      `"kernel"` (with `features_per_dim=math.inf`) the exact kernel of infinitely many features.
    - `ensembles` are those to draw, one or several: `Divide(2)`, `Subsample(10, fraction=0.6)`,
      `Bootstrap(10)`, `FeatureBank(10, bank_per_dim=5.0)`. Numbers of models with all of the data
      need not be drawn: `sim.error(K)` has them for any K. Where the shares of a scheme do not
      depend on K, as in all of these but `Divide`, `sim.error` has any K, too. What one draws does
      not depend on the others. A fraction, or a bank, is rounded to whole numbers: see
      `Simulation.realized`.
    - `features_per_dim` (values of P/D) and `ridge` (values of λ) replace those of the problem by a
      whole curve each: all values come from the same draws, the results gain an axis for each, and
      `exact_error(sim.problem)` has the same shape. Neighbouring points are correlated.
    - `times` (in the unit of `clock`) stop gradient flow from zero at each time, in the place of
      ridge regression; they are the last axis of the results, and share one eigendecomposition.
    - `test` is how the average over test points is taken: "exact" by closed forms (relu,
      leaky_relu, abs, erf, sign, sin, cos, linear, quadratic, and the Gaussian model), "sample" at
      sampled points beyond the linear part, which is always exact; "auto" is exact where that is
      cheaper. `sim.test` is the one that was used.
    - `center=False` leaves the mean of the activation in the features (see `features`).
    - `device` is "cpu" (NumPy), "torch", or a device of torch such as "cuda": the draws are the
      same. "auto" is torch's GPU where torch is imported already and has one, else NumPy.
      `dtype="float32"` is refused where the ridge is too small for it.

    A nonlinear teacher is a random quadratic form of the inputs (`teacher`). The kernel has nothing
    to initialize: `n_init` has no effect on it.

    >>> from doubletrouble import Problem
    >>> run = simulate(Problem(features_per_dim=2.0, ridge=0.1), dim=50, n_data=20, n_init=2)
    >>> abs(run.psi.psi1.z_score(0.3916)) < 5
    True
    """
    planned = plan(
        problem, dim=dim, model=model, n_data=n_data, n_init=n_init, ensembles=ensembles,
        seed=seed, test=test, center=center, dtype=dtype, features_per_dim=features_per_dim,
        ridge=ridge, times=times,
    )  # fmt: skip
    at, place = planned.problem, ArrayDevice.of(device, dtype)
    order = np.argsort(planned.widths, kind="stable")
    setting = DrawSetting(
        activation=at.moments,
        dim=planned.dim,
        n_samples=planned.n_samples,
        widths=tuple(planned.widths[k] for k in order),
        ridges=planned.ridges,
        times=(math.inf,) if planned.times is None else tuple(planned.times.tolist()),
        divisions=planned.divisions,
        schemes=planned.schemes,
        banks={one: tuple(sizes[k] for k in order) for one, sizes in planned.banks.items()},
        n_init=n_init,
        n_test=planned.n_test,
        curved=bool(at.nonlinear_signal),
        center=bool(center),
        place=place,
        slope=slope_by_power(at.moments, planned.dim) if model == "features" else None,
    )
    draw = kernel_draw if model == "kernel" else feature_draw
    rngs = np.random.default_rng([seed, MODELS.index(model)]).spawn(n_data)
    rows = list(shown(in_order(partial(draw, setting), rngs, place), n_data, progress, unit="draw"))
    back = np.argsort(order)
    whole = _collected([row.divided[1] for row in rows], back, planned)
    return Simulation(
        problem=at,
        dim=planned.dim,
        model=model,
        seed=seed,
        n_init=n_init,
        test="sample" if planned.n_test else "exact",
        n_test=planned.n_test,
        center=bool(center),
        dtype=dtype,
        draws=whole,
        drawn=tuple(
            DrawnEnsemble(
                requested=one,
                realized=realized,
                terms=untaught(whole)
                if is_untaught(one)
                else _collected([_table(row, realized) for row in rows], back, planned),
            )
            for one, realized in planned.ensembles.items()
        ),
        times=planned.times,
    )


def _table(row: Draw, scheme: Scheme) -> TermTable:
    """The terms of one scheme in one draw."""
    return row.paired[scheme] if scheme in row.paired else row.divided[int(n_members(scheme))]


def _collected(
    tables: Sequence[TermTable], order: np.ndarray[Any, Any], planned: SimulationPlan
) -> TermDraws:
    """Every term of one scheme, draws foremost, widths in the order requested."""
    shape = (len(tables), *planned.shape)
    return {
        name: np.array([table[name][order] for table in tables]).reshape(shape)
        for name in tables[0]
    }
