"""The single changes: one thing doubled, the best ridge, or infinitely many models.

Twice the width, twice the models and data divided among twice the models cost the same in features,
which is what makes them comparable; the best ridge costs nothing. Doubling what is infinite
changes nothing.
"""

import math

from doubletrouble.advice.option import Option, changed, richer, samples, wider, width
from doubletrouble.advice.words import said
from doubletrouble.theory.points import AnyProblem

A_LITTLE = 1.1


def present(problem: AnyProblem, n_members: float, scheme: str) -> Option:
    """The setting as it is."""
    return Option.of("now", "now", problem, n_members, scheme)


def single_changes(
    problem: AnyProblem, n_members: float, scheme: str, best_ridge: float
) -> tuple[Option, ...]:
    """Every single change; `best_ridge` is λ* of the present setting."""
    P, N, K = width(problem), samples(problem), n_members
    whole = "" if scheme == "ensemble" else ", all data each"
    wide, little = (changed(problem, width=wider(P, factor)) for factor in (2.0, A_LITTLE))
    twice = changed(problem, samples=richer(N, 2.0))
    return (
        Option.of("widen", "P → 2P", wide, K, scheme),
        Option.of("widen_a_little", f"P → {A_LITTLE:g}P", little, K, scheme),
        Option.of("ensemble", f"K → 2K{whole}", problem, 2 * K, "ensemble"),
        Option.of("divide", f"divide among {said(2 * K, 6)}", problem, 2 * K, "divide"),
        Option.of("regularize", "λ → λ*", changed(problem, ridge=best_ridge), K, scheme),
        Option.of("collect", "N → 2N", twice, K, scheme),
        Option.of("many", f"K → ∞{whole}", problem, math.inf, "ensemble"),
    )
