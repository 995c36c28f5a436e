r"""One penalty, asked for in either convention, or left to the leave-one-out error.

The conversion alpha = λ P N / D is that of `doubletrouble.conventions`. With sample weights w the
paper's loss is a weighted mean,

    (1/W) Σ_i w_i (y_i - f(x_i))² + (P λ / D) |a|²,        W = Σ_i w_i,

so that W takes the place of N: a row of weight 2 counts as two rows, one of weight 0 as none,
and a common factor of all weights changes nothing. scikit-learn's loss is a weighted sum, in which
alpha would need the same factor.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble.conventions import ridge_from, ridge_to
from doubletrouble.parameters import FloatArray, checked, number, refuse

DEFAULT_RIDGE = 1e-3
"""The paper's λ where neither `ridge` nor `alpha` is given."""

LOO = "loo"


class Penalty(NamedTuple):
    """A number in one of two conventions; both None: to be chosen by the leave-one-out error."""

    ridge: float | None
    alpha: float | None

    @property
    def by_loo(self) -> bool:
        """Whether the number is still to be chosen."""
        return self.ridge is None and self.alpha is None

    def alpha_for(self, *, n_features: int, weight: float, dim: int) -> float:
        """The penalty in scikit-learn's convention, for samples of that total weight."""
        if self.alpha is not None:
            return self.alpha
        assert self.ridge is not None
        sizes: dict[str, Any] = {"n_features": n_features, "n_samples": weight, "dim": dim}
        return float(ridge_to("sklearn", self.ridge, **sizes))

    def ridge_for(self, *, n_features: int, weight: float, dim: int) -> float:
        """The penalty in the paper's convention."""
        if self.ridge is not None:
            return self.ridge
        assert self.alpha is not None
        sizes: dict[str, Any] = {"n_features": n_features, "n_samples": weight, "dim": dim}
        return float(ridge_from("sklearn", self.alpha, **sizes))


def penalty(ridge: Any, alpha: Any) -> Penalty:
    """What was asked for, or a sentence.

    >>> penalty(None, 2).alpha
    2.0
    >>> penalty("loo", None).by_loo
    True
    """
    if ridge is not None and alpha is not None:
        raise ValueError(f"alpha must be None where ridge is given, got {alpha!r} and {ridge!r}")
    if isinstance(ridge, str):
        if ridge != LOO:
            raise ValueError(f"ridge must be a number in [0, inf) or 'loo', got {ridge!r}")
        return Penalty(None, None)
    if alpha is not None:
        return Penalty(None, _finite("alpha", alpha))
    return Penalty(DEFAULT_RIDGE if ridge is None else _finite("ridge", ridge), None)


def ridge_grid(ridges: npt.ArrayLike | None) -> FloatArray:
    """The ridges of a path, in the paper's convention: four a decade unless given.

    >>> ridge_grid(None).size
    33
    """
    if ridges is None:
        return np.geomspace(1e-6, 1e2, 33)
    found = np.atleast_1d(np.asarray(checked("ridges", ridges, glossary.RIDGE)))
    refuse("ridges", found, np.isinf(found), "in [0, inf)")
    if found.ndim > 1:
        raise ValueError(f"ridges must be a list of numbers, got an array of shape {found.shape}")
    return found


def _finite(name: str, value: Any) -> float:
    found = number(name, value, glossary.RIDGE)
    if np.isinf(found):
        raise ValueError(f"{name} must be in [0, inf), got {value!r}")
    return found
