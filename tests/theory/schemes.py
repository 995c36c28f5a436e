"""One ensemble of every scheme that a function supports."""

from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES, SUPPORT, Scheme
from doubletrouble.parameters import declarations

AnyProblem = dt.Problem | dt.SpectralProblem


def supported(function: str = "exact_error") -> list[str]:
    """The names of the schemes that a function supports."""
    return [name for name, kind in SCHEMES.items() if SUPPORT[function](kind)]


def ensemble(name: str, problem: AnyProblem, members: Any, share: Any = 0.6) -> Scheme:
    """Members of a scheme that have `share` of the samples, or of a bank of features.

    The number of members is raised to the smallest one of the scheme.
    """
    kind = SCHEMES[name]
    known = declarations(kind)
    members = np.maximum(members, known["n_members"].low)
    if kind.shares_features:
        flat = isinstance(problem, dt.Problem)
        width: Any = problem.features_per_dim if flat else problem.n_features  # type: ignore[union-attr]
        bank = np.minimum(np.divide(width, share), known["n_bank"].high)
        bank = np.where(np.isinf(width), np.inf, np.maximum(bank, width))
        found: Scheme = kind(members, **{"bank_per_dim" if flat else "n_bank": bank})
    else:
        found = kind(members, **({"fraction": share} if "fraction" in known else {}))
    return found
