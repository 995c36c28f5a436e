r"""The Ψ terms from the saddle point: [dascoli2020] App. B, "Results".

Ψ₁ is the value of its prefactor at the saddle point. The other prefactors vanish there, and what
remains is the Gaussian fluctuation around it,

    Ψ = ± Tr[H[S]⁻¹ H[P_Ψ]].

The sign is minus for the vanilla terms: 2n replicas have 2n(2n-1)/2 → -n pairs as n → 0.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from decimal import Context, localcontext

import numpy as np

from doubletrouble.parameters import Value, common_shape, refuse
from doubletrouble.problems import Problem
from doubletrouble.results import PsiTerms
from doubletrouble.theory.replica import actions, prefactors
from doubletrouble.theory.replica.hessian import Jet, expand, trace
from doubletrouble.theory.replica.saddle import saddle_point
from doubletrouble.theory.replica.setting import ERRATA, Setting

_SIZES = ("features_per_dim", "samples_per_dim", "ridge")


def psi_terms(problem: Problem, printed: Iterable[int] = frozenset()) -> PsiTerms[Value]:
    """Return the Ψ terms by the paper's own route: saddle point, Hessians, prefactors.

    It agrees with `doubletrouble.psi_terms`, slowly (20 ms a point), and shares nothing with it.
    `printed` lists errata (numbers in docs/errata.md) to leave as the paper prints them. The
    route needs a positive, finite ridge and finitely many features.

    >>> from doubletrouble import Problem
    >>> problem = Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1)
    >>> round(psi_terms(problem).psi2_divide, 5)
    0.15333
    >>> round(psi_terms(problem, printed={8}).psi2_divide, 5)
    0.77534
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
    kept = _errata(printed)
    sizes = {name: getattr(problem, name) for name in _SIZES}
    needed = "positive and finite for the replica route (doubletrouble.psi_terms covers the limits)"
    for name, value in sizes.items():
        refuse(name, value, ~((np.asarray(value) > 0) & np.isfinite(value)), needed)
    mu1, mustar = problem.moments.linear, problem.moments.nonlinear
    shape = common_shape(sizes)
    points = np.stack([np.broadcast_to(v, shape) for v in sizes.values()], axis=-1)
    settings = (
        Setting.of(psi1=psi1, psi2=psi2, lam=lam, mu1=mu1, mustar=mustar, printed=kept)
        for psi1, psi2, lam in points.reshape(-1, 3).tolist()
    )
    rows = [_at_point(at) for at in settings]
    columns = [np.reshape(column, shape) for column in zip(*rows, strict=True)]
    values = [column if shape else float(column) for column in columns]
    return PsiTerms(**{f.name: v for f, v in zip(fields(PsiTerms), values, strict=True)})


def _errata(printed: Iterable[int]) -> frozenset[int]:
    known = f"errata from {min(ERRATA)} to {max(ERRATA)}, as numbered in docs/errata.md"
    try:
        kept = frozenset(printed)
    except TypeError:
        raise TypeError(f"printed must be a set of {known}, got {printed!r}") from None
    if not kept <= ERRATA.keys():
        raise ValueError(f"printed must be a set of {known}, got {printed!r}")
    return kept


def _at_point(at: Setting) -> tuple[float, ...]:
    """The seven terms, in the order of `PsiTerms`."""
    with localcontext(Context(prec=at.digits)):
        q, r = saddle_point(at)

        def on(F: Callable[[Setting, Jet, Jet, Jet, Jet], Jet]) -> Jet:
            return expand(lambda q, r, qt, rt: F(at, q, r, qt, rt), q, r)

        v, e, d, p = (on(S) for S in (actions.S_v, actions.S_e, actions.S_d, actions.S_p))
        P1 = on(prefactors.P_psi1)
        sign = +1 if 3 in at.printed else -1  # erratum 3
        values = (  # [dascoli2020] App. B
            trace(v, P1) if 1 in at.printed else P1.value,  # erratum 1
            sign * trace(v, on(prefactors.P_psi2_v)),
            sign * trace(v, on(prefactors.P_psi3_v)),
            trace(e, on(prefactors.P_psi2_e)),
            trace(e, on(prefactors.P_psi3_e)),
            trace(d, on(prefactors.P_psi2_d)),
            trace(p, on(prefactors.P_psi2_p)),  # not in the paper
        )
        return tuple(float(value) for value in values)
