"""The Ψ terms by the paper's own route, at every point of a problem."""

from collections.abc import Iterable
from decimal import Context, localcontext

import numpy as np

from doubletrouble.parameters import Value
from doubletrouble.problems import Problem
from doubletrouble.replica._errata import checked_errata, formulas
from doubletrouble.replica._point import ReplicaPoint, points_of, shape_of
from doubletrouble.replica._saddle import stationary_point
from doubletrouble.replica._shared_features import psi2_features
from doubletrouble.results import PsiTerms


def psi_terms(problem: Problem, printed: Iterable[int] = frozenset()) -> PsiTerms[Value]:
    """Return the Ψ terms by the paper's own route: saddle point, Hessians, prefactors.

    The values agree with those of `doubletrouble.psi_terms`, which shares no formula with this
    route and is faster (20 ms per point here). `printed` lists errata (numbers in docs/errata.md)
    to leave as the paper prints them; 12 and 13, two forms of one matrix, exclude each other. The
    route needs a positive, finite ridge and finitely many features.

    >>> from doubletrouble import Problem
    >>> problem = Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    >>> round(psi_terms(problem).psi2_divide, 5)
    0.15333
    >>> round(psi_terms(problem, printed={8}).psi2_divide, 5)
    0.77534
    """
    shape, errata = shape_of(problem), checked_errata(printed)
    rows = [_at_point(at, errata) for at in points_of(problem)]
    if not shape:
        return PsiTerms(**rows[0])
    return PsiTerms(**{name: np.reshape([row[name] for row in rows], shape) for name in rows[0]})


def _at_point(at: ReplicaPoint, printed: frozenset[int]) -> dict[str, float]:
    with localcontext(Context(prec=at.digits)):
        q, r = stationary_point(at)
        terms = formulas(printed)(at).psi(q, r)
        terms["psi2_features"] = psi2_features(at, q, r)
        return {name: float(value) for name, value in terms.items()}
