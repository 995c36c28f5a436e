"""Inputs that several fits share, and that no learner may change for the next one.

They are handed out as they are: a copy for every fit would cost as much as a fast learner. After
each fit some rows are compared with those kept, and put right if a learner worked in place.
"""

import copy
from typing import Any

import numpy as np

from doubletrouble.learners._samples import rows

_ROWS = 4  # compared after every fit; work in place changes all of them


class Lent:
    """Inputs that are lent, and looked at when they come back."""

    def __init__(self, X: Any) -> None:
        count = X.shape[0]
        self._kept, self._given = X, copied(X)
        self._index = np.unique(np.linspace(0, count - 1, min(_ROWS, count)).astype(np.intp))
        self._probe = self._looks(X)

    def lend(self, *, shared: bool) -> Any:
        """The inputs; where several fits have them at the same time, each its own."""
        return copied(self._kept) if shared else self._given

    def look(self) -> None:
        """Put right what a learner has changed."""
        if self._probe is None or self._looks(self._given) != self._probe:
            self._given = copied(self._kept)

    def _looks(self, X: Any) -> bytes | None:
        """The numbers in some rows; None where they cannot be had, as of a sparse matrix."""
        some = rows(X, self._index)
        plain = some.to_numpy() if hasattr(some, "to_numpy") else some
        return plain.tobytes() if isinstance(plain, np.ndarray) else None


def copied(X: Any) -> Any:
    """A copy to work on."""
    return X.copy() if hasattr(X, "copy") else copy.deepcopy(X)
