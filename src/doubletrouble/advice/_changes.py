"""The single changes: one thing doubled, the best ridge, or infinitely many models.

Twice the width, twice the models and data divided among twice the models cost the same in features,
which is what makes them comparable; the best ridge costs nothing. Doubling what is infinite
changes nothing.

What "a little more width" is depends on the peak at P = n, the samples each model has. Beyond it,
and without ridge, the error of K models is R∞ + c/(K (P/n - 1)): twice the models are worth as much
as twice the distance P - n. A little more is less than that: a tenth of P, or half of P - n where
that is less.
"""

import math

from doubletrouble.advice._counts import is_whole, most_parts
from doubletrouble.advice._option import (
    AdviceOption,
    changed,
    richer,
    samples,
    scalar,
    wider,
    width,
)
from doubletrouble.advice._words import count
from doubletrouble.ensembles import Divide, Ensemble, Scheme
from doubletrouble.theory import AnyProblem

A_LITTLE = 1.1


def present(problem: AnyProblem, ensemble: Scheme) -> AdviceOption:
    """The setting as it is."""
    return AdviceOption.of("now", "now", problem, ensemble)


def single_changes(
    problem: AnyProblem, ensemble: Scheme, best_ridge: float, one: float | None
) -> tuple[AdviceOption, ...]:
    """Every single change; `best_ridge` is λ* of the present setting.

    Where features and samples are counted, `one` of them is the least change, and data cannot be
    divided into more parts than there are samples.
    """
    P, N, K = width(problem), samples(problem), scalar(ensemble.n_members)
    whole = "" if isinstance(ensemble, Ensemble) else ", all data each"
    wide, twice = changed(problem, width=wider(P, 2.0)), changed(problem, samples=richer(N, 2.0))
    each = ("N/K", N / K) if isinstance(ensemble, Divide) and K > 1 else ("N", N)
    label, little = _a_little(P, *each, one)
    parts = min(2 * K, most_parts(problem, one))
    return (
        AdviceOption.of("widen", "P → 2P", wide, ensemble),
        AdviceOption.of("widen_a_little", label, changed(problem, width=little), ensemble),
        AdviceOption.of("ensemble", f"K → 2K{whole}", problem, Ensemble(2 * K)),
        AdviceOption.of("divide", f"divide among {count(parts)}", problem, Divide(parts)),
        AdviceOption.of("regularize", "λ → λ*", changed(problem, ridge=best_ridge), ensemble),
        AdviceOption.of("collect", "N → 2N", twice, ensemble),
        AdviceOption.of("many", f"K → ∞{whole}", problem, Ensemble(math.inf)),
    )


def _a_little(P: float, symbol: str, n: float, one: float | None) -> tuple[str, float]:
    """The label of a little more width, and the width; a model has `n` samples, named `symbol`."""
    near = math.isfinite(P) and 0 < (P - n) / 2 < (A_LITTLE - 1) * P
    more = P + (P - n) / 2 if near else wider(P, A_LITTLE)
    if one is not None and math.isfinite(more):
        exact = (more - P) / one
        steps = max(1.0, float(round(exact)))
        if exact < 0.5 or not is_whole(exact):
            return f"P → P + {count(steps)}", wider(P + steps * one, 1.0)
    return f"P → P + (P-{symbol})/2" if near else f"P → {A_LITTLE:g}P", more
