"""Every draw has a seed of its own, which does not depend on how many others there are.

More data sets, noise draws or initializations therefore leave the earlier ones as they were, and
what a store holds of them stays of use.
"""

from functools import cache

import numpy as np

TEST, DATA, NOISE, INIT = range(4)


def generator(seed: int, *key: int) -> np.random.Generator:
    """The generator of one draw: which kind, and which of them."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


@cache
def init_seed(seed: int, number: int) -> int:
    """The seed of an initialization, as scikit-learn and others take it.

    >>> init_seed(0, 1) == init_seed(0, 1), init_seed(0, 1) == init_seed(0, 2)
    (True, False)
    """
    return int(generator(seed, INIT, number).integers(2**31))
