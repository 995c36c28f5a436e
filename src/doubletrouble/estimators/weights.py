"""The random weights of every member of an ensemble, Θ ~ N(0, 1) of shape (P, D).

Members are spawned and rows drawn one after the other: member k does not depend on how many
members there are, nor feature h on how many features.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from doubletrouble.parameters import FloatArray


def random_weights(random_state: Any, *, n_members: int, n_features: int, dim: int) -> FloatArray:
    """Θ of all members, (K, P, D), for whatever scikit-learn takes as a random state.

    >>> few = random_weights(0, n_members=1, n_features=2, dim=3)
    >>> many = random_weights(0, n_members=4, n_features=9, dim=3)
    >>> bool(np.all(few[0] == many[0, :2]))
    True
    """
    seed = check_random_state(random_state).randint(2**31 - 1, size=4)
    theta = np.empty((n_members, n_features, dim))
    for rng, member in zip(np.random.default_rng(seed).spawn(n_members), theta, strict=True):
        rng.standard_normal(out=member)
    return theta
