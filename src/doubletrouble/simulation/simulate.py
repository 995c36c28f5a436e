r"""Finite-size simulation of a problem, with standard errors.

Each of `n_data` independent draws consists of two data sets and `n_init` sets of features; products
of independent copies give every Ψ term without bias (`terms`), and the draws give the standard
errors. Means deviate from the theory by O(1/D).
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from doubletrouble.problems import Problem
from doubletrouble.simulation.draw import Draw, Setting, feature_draw
from doubletrouble.simulation.features import slope_by_power
from doubletrouble.simulation.kernel import kernel_draw
from doubletrouble.simulation.place import Place, in_order
from doubletrouble.simulation.plan import MODELS, Axis, plan
from doubletrouble.simulation.result import Draws, Simulation, untaught


def simulate(
    problem: Problem, *, dim: int, model: str = "features", n_data: int = 10, n_init: int = 10,
    n_members: float | Iterable[float] = (1, 2, 10, math.inf),
    schemes: str | Iterable[str] = ("ensemble",),
    seed: int = 0, device: str = "cpu", widths: Axis | None = None, ridges: Axis | None = None,
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
        ridges=ridges,
    )  # fmt: skip
    at, place = planned.problem, Place(device=device, dtype=dtype)
    order = np.argsort(planned.widths, kind="stable")
    setting = Setting(
        activation=at.moments,
        dim=planned.dim,
        n_samples=planned.n_samples,
        widths=tuple(planned.widths[k] for k in order),
        ridges=planned.ridges,
        divisions=planned.divisions,
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
    table = list(_shown(drawn, n_data, progress))
    shape = (n_data, *planned.shape)
    found = {k: _collected(table, k, np.argsort(order), shape) for k in setting.divisions}
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
    )


def _shown(draws: Iterator[Draw], count: int, progress: bool) -> Iterable[Draw]:
    """The draws, with a progress bar on a terminal where they take more than two seconds."""
    from tqdm import tqdm

    quiet = None if progress else True  # None: where there is no terminal
    return tqdm(draws, total=count, desc="simulate", unit="draw", delay=2, disable=quiet)


def _collected(
    table: Sequence[Draw], parts: int, order: np.ndarray[Any, Any], shape: tuple[int, ...]
) -> Draws:
    """Every term of one division, draws foremost, widths in the order asked for."""
    return {
        name: np.array([row[parts][name][order] for row in table]).reshape(shape)
        for name in table[0][parts]
    }
