"""Theory against simulation for every convex loss.

The finite model, at one dimension, has every overlap of `order_parameters` and errors of ensembles.
Each deviation is compared with Student's distribution of its standard error. The ten quantities of
a problem are from the same draws, and their deviations correlated: shares are those of several
seeds. As a negative control the theory without flipped labels, or without noise, is compared, too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

import doubletrouble as dt
from conformance.compare import normal_score
from doubletrouble.convex import order_parameters
from doubletrouble.simulation import Simulation

UNLIKELY = 0.01
MOST_UNLIKELY = 0.03  # share of comparisons that may be less probable than UNLIKELY
LEAST_CONTROL = 5.0  # median |t| of the negative control

ENSEMBLES = (dt.Ensemble(1), dt.Ensemble(3), dt.Divide(2))
OVERLAPS = {  # shared features, shared samples, shared noise
    "q1": (0.0, 1.0, True),
    "q_noise": (1.0, 1.0, False),
    "q_init": (0.0, 1.0, False),
    "q_features": (1.0, 0.0, True),
    "q_d": (0.0, 0.0, True),
}

_OUTLIERS = dt.Mixture(((0.9, 0.5), (0.1, 4.0)))


def _classes(loss: str, width: float, samples: float, ridge: float, **others: Any) -> dt.Problem:
    return dt.Problem(
        features_per_dim=width,
        samples_per_dim=samples,
        ridge=ridge,
        loss=loss,
        task="classification",
        **others,
    )


def _values(loss: str, width: float, samples: float, ridge: float, **others: Any) -> dt.Problem:
    return dt.Problem(
        features_per_dim=width, samples_per_dim=samples, ridge=ridge, loss=loss, **others
    )


PROBLEMS: tuple[dt.Problem, ...] = (
    _classes("logistic", 2.0, 2.0, 1e-2, flips=0.1),
    _classes("logistic", 0.5, 2.0, 1e-1, noise=0.5),
    _classes("logistic", 1.0, 1.0, 1e-3, flips=0.2, activation="tanh"),
    _classes("hinge", 2.0, 2.0, 1e-2, flips=0.1),
    _classes("hinge", 0.5, 2.0, 1e-1, noise=0.5),
    _classes("hinge", 1.5, 1.0, 1e-3, flips=0.2, activation="tanh"),
    _classes("squared_hinge", 2.0, 1.5, 1e-2, flips=0.1),
    _classes("squared_hinge", 0.7, 2.0, 1e-1, flips=0.1, activation="erf"),
    _classes("squared", 0.5, 2.0, 1e-2, flips=0.1),
    _classes("squared", 2.0, 1.0, 1e-1, noise=1.0, activation="tanh"),
    _classes("max_margin", 2.0, 1.0, 0.0, flips=0.1),
    _classes("max_margin", 3.0, 1.5, 0.0, noise=0.3, activation="tanh"),
    _values("huber", 0.5, 2.0, 1e-2, noise=_OUTLIERS),
    _values("huber:0.5", 2.0, 1.5, 1e-1, noise=0.5),
    _values("huber:2", 1.0, 1.5, 1e-2, noise=_OUTLIERS, activation="tanh"),
    _values("absolute", 0.5, 2.0, 1e-2, noise=0.5),
    _values("absolute", 2.0, 1.0, 1e-1, noise=_OUTLIERS),
    _values("absolute", 1.0, 1.5, 1e-1, noise=1.0, activation="tanh"),
    _values("quantile:0.5", 0.5, 1.5, 1e-1, noise=0.5),
    _values("quantile:0.75", 2.0, 2.0, 1e-1, noise=0.5),
    _values("quantile:0.25", 0.7, 2.0, 1e-1, noise=_OUTLIERS, activation="erf"),
    _classes("logistic", 3.0, 1.0, 1.0, flips=0.3),
    _classes("hinge", 3.0, 2.0, 1e-1, flips=0.3),
    _classes("squared_hinge", 1.0, 1.0, 1.0, flips=0.1, activation="tanh"),
)


class LossRow(NamedTuple):
    """One quantity at one point."""

    problem: dt.Problem
    quantity: str
    theory: float
    found: dt.Estimate

    @property
    def t(self) -> float:
        """The deviation in standard errors."""
        return float(self.found.z_score(self.theory))

    @property
    def probability(self) -> float:
        """That of a deviation as large, by Student's distribution."""
        return 2 * float(stats.t.sf(abs(self.t), self.found.n_draws - 1))

    @property
    def z(self) -> float:
        """The normal score of the same probability."""
        return normal_score(self.t, self.found.n_draws - 1)


@dataclass(frozen=True, kw_only=True)
class LossSizes:
    """The dimension, and independent draws."""

    dim: int = 200
    draws: int = 16
    n_init: int = 2


def compared(
    problem: dt.Problem, seed: int, sizes: LossSizes | None = None, *, control: bool = False
) -> list[LossRow]:
    """Every quantity of a problem; the `control` is the theory without noise and flips."""
    sizes = sizes or LossSizes()
    run = dt.simulate(
        problem,
        dim=sizes.dim,
        n_data=sizes.draws,
        n_init=sizes.n_init,
        ensembles=[one for one in ENSEMBLES if isinstance(one, dt.Divide)],
        seed=seed,
        progress=False,
    )
    silent: dict[str, Any] = {"noise": 0.0, "flips": 0.0}
    at = replace(run.problem, **silent) if control else run.problem
    return [LossRow(problem, *row) for row in _quantities(run, at)]


def _quantities(run: Simulation, at: dt.Problem) -> Iterator[tuple[str, float, dt.Estimate]]:
    one: Any = order_parameters(at)
    yield "m", one.m, run.m
    yield "q", one.q, run.q
    for name, (features, samples, noise) in OVERLAPS.items():
        theory: Any = one.overlap(features, samples, noise)
        yield name, theory, run.overlap(features, samples, noise)
    for ensemble in ENSEMBLES:
        theory = float(dt.exact_error(at, ensemble).total)
        yield repr(ensemble), theory, run.error(ensemble).total


def of_problem(k: int, seed: int, sizes: LossSizes | None = None) -> list[LossRow]:
    """Every quantity of the k-th problem; its random numbers are those of no other problem."""
    return compared(PROBLEMS[k], len(PROBLEMS) * seed + k, sizes)


def unlikely(rows: Sequence[LossRow]) -> float:
    """The share of comparisons with a probability below 1%."""
    return float(np.mean([row.probability < UNLIKELY for row in rows]))
