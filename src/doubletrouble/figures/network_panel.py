"""Networks of several widths, with the threshold and the peak of their errors."""

import math
from dataclasses import dataclass

import numpy as np

from doubletrouble.parameters import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkPanel:
    """One panel: networks of several widths at one α."""

    laziness: float
    data: str
    loss: str
    columns: dict[str, FloatArray]  # as the table has them, along the widths

    def __getitem__(self, name: str) -> FloatArray:
        return self.columns[name]

    @property
    def threshold(self) -> float | None:
        """Between the widths where less and where more than half of the networks fit all samples.

        With the squared loss that is a loss of zero; with the others, no sample on the wrong side.
        """
        width, share = self["width"], self["interpolating"] / self["n_members"]
        first = int(np.argmax(share >= 0.5))
        if not first or share[first] < 0.5:
            return None
        return math.sqrt(width[first - 1] * width[first])

    @property
    def peak(self) -> int | None:
        """The place where one network errs most above what it does at a smaller width.

        None if that is no more than two standard errors, which the draw of the networks explains,
        or if the error rises to the end.
        """
        error, spread = self["single_error"], np.nan_to_num(self["single_std"])
        if not error.size or not np.isfinite(error).all():
            return None
        least = np.array([int(np.argmin(error[: k + 1])) for k in range(error.size)])
        top = int(np.argmax(error - error[least]))
        low = least[top]
        bar = math.hypot(spread[top], spread[low]) / math.sqrt(self["n_members"][top])
        risen = error[top] - error[low] > 2 * bar
        return top if risen and top < error.size - 1 else None
