r"""Finite-size simulation of a problem, with standard errors.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features; products
of independent copies give every Ψ term without bias (`terms`), and the draws give the standard
errors. Means deviate from the theory by O(1/D).
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from doubletrouble.problems import Problem
from doubletrouble.simulation.draw import feature_draw
from doubletrouble.simulation.features import slope_by_power
from doubletrouble.simulation.kernel import kernel_draw
from doubletrouble.simulation.place import Place, in_order
from doubletrouble.simulation.plan import MODELS, Axis, plan
from doubletrouble.simulation.progress import shown
from doubletrouble.simulation.result import Draws, Simulation, untaught
from doubletrouble.simulation.setting import Setting, Table


def simulate(
    problem: Problem, *, dim: int, model: str = "features", n_data: int = 10, n_init: int = 10,
    n_members: float | Iterable[float] = (1, 2, 10, math.inf),
    schemes: str | Iterable[str] = ("ensemble",),
    seed: int = 0, device: str = "cpu", widths: Axis | None = None, ridges: Axis | None = None,
    times: Axis | None = None, fraction: float | None = None, bank_per_dim: float | None = None,
    test: str = "auto", center: bool = True, dtype: str = "float64", progress: bool = True,
) -> Simulation:  # fmt: skip
    """Simulate a problem at dimension `dim`, with P and N rounded to whole numbers.

    - `model="features"` uses the true activation, `"gaussian"` the equivalent Gaussian covariates,
      `"kernel"` (with `features_per_dim=math.inf`) the exact kernel of infinitely many features.
    - An ensemble of any size follows from the same draws. With "divide" among `schemes`, each of
      `n_members` is simulated on disjoint splits of the data.
    - `widths` (values of P/D) and `ridges` (values of λ) replace those of the problem by a whole
      curve each: all values come from the same draws, the results gain an axis for each, and
      `exact_error(sim.problem)` has the same shape. Neighbouring points are correlated.
    - "subbag" and "bootstrap" among `schemes`: each member draws its own `fraction` of the samples,
      or as many as there are, with replacement. "feature_bank": each member draws its features
      from `bank_per_dim`·D common ones. Ensembles of any size follow, with a part `resampling`.
    - `times` (in the unit of `clock`) stop gradient flow from zero at each time, in the place of
      ridge regression; they are the last axis of the results, and share one eigendecomposition.
    - `test` says how the average over test points is taken: "exact" by closed forms (relu,
      leaky_relu, abs, erf, sign, sin, cos, linear, quadratic, and the Gaussian model), "sample" at
      sampled points beyond the linear part, which is always exact; "auto" is exact where that is
      cheaper. `sim.test` tells which it was.
    - `center=False` leaves the mean of the activation in the features (see `features`).
    - `device` is "cpu" (NumPy), "torch", or a device of torch such as "cuda": the draws are the
      same. `dtype="float32"` is refused where the ridge is too small for it.

    A nonlinear teacher is a random quadratic form of the inputs (`teacher`). The kernel has nothing
    to initialize: `n_init` means nothing to it.

    >>> from doubletrouble import Problem
    >>> run = simulate(Problem(features_per_dim=2.0, ridge=0.1), dim=50, n_data=20, n_init=2)
    >>> abs(run.psi.psi1.z_score(0.3916)) < 5
    True
    """
    planned = plan(
        problem, dim=dim, model=model, n_data=n_data, n_init=n_init, n_members=n_members,
        schemes=schemes, seed=seed, test=test, center=center, dtype=dtype, widths=widths,
        ridges=ridges, times=times, fraction=fraction, bank_per_dim=bank_per_dim,
    )  # fmt: skip
    at, place = planned.problem, Place(device=device, dtype=dtype)
    order = np.argsort(planned.widths, kind="stable")
    setting = Setting(
        activation=at.moments,
        dim=planned.dim,
        n_samples=planned.n_samples,
        widths=tuple(planned.widths[k] for k in order),
        ridges=planned.ridges,
        times=(math.inf,) if planned.times is None else tuple(planned.times.tolist()),
        divisions=planned.divisions,
        resampled=planned.resampled,
        n_init=n_init,
        n_test=planned.n_test,
        curved=bool(at.nonlinear_signal),
        center=bool(center),
        place=place,
        slope=slope_by_power(at.moments, planned.dim) if model == "features" else None,
    )
    draw = kernel_draw if model == "kernel" else feature_draw
    rngs = np.random.default_rng([seed, MODELS.index(model)]).spawn(n_data)
    drawn = in_order(partial(draw, setting), rngs, place)
    table = list(shown(drawn, n_data, progress, unit="draw"))
    shape = (n_data, *planned.shape)
    back = np.argsort(order)
    found = {
        k: _collected([row.divided[k] for row in table], back, shape) for k in table[0].divided
    }
    subset, bank = planned.size_of("subbag"), planned.size_of("feature_bank")
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
        draws=found[1],
        divided={
            k: untaught(found[1]) if math.isinf(k) else found[int(k)] for k in planned.divided
        },
        resampled={
            name: _collected([row.resampled[name] for row in table], back, shape)
            for name in table[0].resampled
        },
        fraction=subset and subset / planned.n_samples,
        bank_per_dim=bank and bank / planned.dim,
        times=planned.times,
    )


def _collected(
    tables: Sequence[Table], order: np.ndarray[Any, Any], shape: tuple[int, ...]
) -> Draws:
    """Every term of one scheme, draws foremost, widths in the order asked for."""
    return {
        name: np.array([table[name][order] for table in tables]).reshape(shape)
        for name in tables[0]
    }
