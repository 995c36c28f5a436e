"""Ensembles of every registered scheme, for tests."""

from dataclasses import MISSING, fields
from typing import Any

import numpy as np

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES, Scheme
from doubletrouble.parameters import declarations

KINDS = [kind for kind in SCHEMES.values() if kind.__module__.startswith("doubletrouble")]
NAMES = [kind.name for kind in KINDS]


def example(kind: type[Scheme], n_members: Any = 4, problem: Any = None) -> Scheme:
    """An ensemble of a scheme: options in the middle of their typical ranges, banks wide enough."""
    width = problem or dt.Problem()
    options: dict[str, Any] = {}
    for f in fields(kind):
        if f.name == "n_members":
            continue
        low, high = declarations(kind)[f.name].typical
        middle = low + 0.5 * (high - low)
        if f.default is MISSING:
            options[f.name] = middle
        elif f.name == "bank_per_dim" and isinstance(width, dt.Problem):
            options[f.name] = 2.5 * np.asarray(width.features_per_dim)
        elif f.name == "n_bank" and not isinstance(width, dt.Problem):
            options[f.name] = 2.5 * np.asarray(width.n_features)
    return kind(n_members, **options)


def sharing(ensemble: Scheme, problem: dt.Problem) -> tuple[float, float, float]:
    """The samples of a member and the overlaps (k, n) of two, per dimension."""
    numerator, denominator = ensemble.sample_share
    samples = float(np.asarray(problem.samples_per_dim)) * float(numerator) / float(denominator)
    features = float(np.asarray(problem.features_per_dim))
    common = ensemble.shared_features(problem) if ensemble.shares_features else 0.0
    return samples, float(common) * features, float(ensemble.shared_samples) * samples


AnyProblem = dt.Problem | dt.SpectralProblem


def supported(function: str = "exact_error") -> list[str]:
    """The names of the schemes that a function supports."""
    return [name for name, kind in SCHEMES.items() if function in kind.functions()]


def ensemble(name: str, problem: AnyProblem, members: Any, share: Any = 0.6) -> Scheme:
    """Members of a scheme that have `share` of the samples, or of a bank of features.

    The number of members is raised to the smallest one of the scheme.
    """
    kind = SCHEMES[name]
    known = declarations(kind)
    members = np.maximum(members, known["n_members"].low)
    if kind.shares_features:
        flat = isinstance(problem, dt.Problem)
        width: Any = getattr(problem, "features_per_dim" if flat else "n_features")
        bank = np.minimum(np.divide(width, share), known["n_bank"].high)
        bank = np.where(np.isinf(width), np.inf, np.maximum(bank, width))
        options = {"bank_per_dim" if flat else "n_bank": bank}
    else:
        options = {"fraction": share} if "fraction" in known else {}
    members_of_scheme: Scheme = kind(members, **options)
    return members_of_scheme
