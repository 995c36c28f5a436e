"""The random weights of every member of an ensemble, Θ ~ N(0, 1) of shape (P, D).

Members are spawned and rows drawn one after the other: member k does not depend on how many
members there are, nor feature h on how many features.
"""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from doubletrouble.ensembles import FeatureBank
from doubletrouble.parameters import FloatArray, whole_number

Seed: TypeAlias = npt.NDArray[np.int64]
"""Four numbers, from which all draws of a fit follow."""

_CHOICES = (0, 0)  # the key of choices from a common set: those of members have one number


def seed_of(random_state: Any) -> Seed:
    """The seed of one fit, for whatever scikit-learn takes as a random state."""
    return np.asarray(check_random_state(random_state).randint(2**31 - 1, size=4), dtype=np.int64)


def choices(seed: Seed) -> np.random.Generator:
    """The generator by which members choose rows, or features of a bank."""
    return np.random.default_rng(np.random.SeedSequence(seed.tolist(), spawn_key=_CHOICES))


def random_weights(seed: Seed, *, n_members: int, n_features: int, dim: int) -> FloatArray:
    """Θ of all members, (K, P, D).

    >>> few = random_weights(seed_of(0), n_members=1, n_features=2, dim=3)
    >>> many = random_weights(seed_of(0), n_members=4, n_features=9, dim=3)
    >>> bool(np.all(few[0] == many[0, :2]))
    True
    """
    theta = np.empty((n_members, n_features, dim))
    for rng, member in zip(np.random.default_rng(seed).spawn(n_members), theta, strict=True):
        rng.standard_normal(out=member)
    return theta


def bank_weights(
    seed: Seed, bank: FeatureBank, *, n_members: int, n_features: int, dim: int
) -> FloatArray:
    """Θ of members that each choose P features of a common bank, (K, P, D).

    >>> bank = FeatureBank(2, n_bank=3)
    >>> theta = bank_weights(seed_of(0), bank, n_members=2, n_features=3, dim=1)
    >>> bool(np.all(np.sort(theta[0], axis=0) == np.sort(theta[1], axis=0)))
    True
    """
    if bank.bank_per_dim is None:
        name, size = "n_bank", whole_number("n_bank", bank.n_bank, 1, floats=True)
    else:
        many = float(np.round(np.multiply(bank.bank_per_dim, dim)))
        name, size = "bank_per_dim", whole_number("features of the bank", many, 1, floats=True)
    if size < n_features:
        raise ValueError(
            f"{name} must leave each member its {n_features} features, got a bank of {size}"
        )
    (common,) = random_weights(seed, n_members=1, n_features=size, dim=dim)
    rng = choices(seed)
    return np.stack([common[rng.permutation(size)[:n_features]] for _ in range(n_members)])
