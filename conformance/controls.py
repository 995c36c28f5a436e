"""Negative controls beyond the paper: cases that are compared with the theory of something else.

Each must be noticed, or agreement on the other cases means nothing.
"""

from functools import cache
from typing import NamedTuple

import doubletrouble as dt
from conformance.beyond import Case, Flow, Resampled, Unequal
from conformance.compare import Row, Sizes
from conformance.theory import Wrong

FEW = Sizes(dims=(16, 32, 64), draws=(100, 60, 50))

NARROW = Resampled(  # elsewhere bootstrap and subsampling are much alike
    activation="relu", model="gaussian", widths=(0.5,), samples_per_dim=8.0, ridge=1e-3,
    bank_per_dim=1.0,
)  # fmt: skip
TRAINED = Flow(activation="tanh", widths=(2.0,))
ODD = Unequal(
    members=tuple(
        dt.Member(features_per_dim=0.8, samples_per_dim=1.5, ridge=1e-2, activation=name)
        for name in ("tanh", "sign")
    ),
    sharing="both",
    model="gaussian",
)


class Control(NamedTuple):
    """What is taken for what, and on which rows of a case it must be noticed."""

    what: str
    case: Case
    scheme: str

    def rows(self, seed: int) -> list[Row]:
        """Those rows, against the wrong theory."""
        return [row for row in _rows(self.case, seed) if row.scheme == self.scheme]


@cache
def _rows(case: Case, seed: int) -> list[Row]:
    return case.rows(seed, FEW, Wrong())


CONTROLS = (
    Control("a bootstrap taken for 0.632 of the samples", NARROW, "bootstrap"),
    Control("subsampling taken for all of the samples", NARROW, "subsample"),
    Control("gradient flow for twice the time", TRAINED, "t = 3"),
    Control("features in common taken for others", ODD, "members 1, 2"),
)
