"""The values of P/N along which curves are drawn, and the problem there."""

from typing import Any

import numpy as np

from doubletrouble.parameters import FloatArray, Numeric, checked, declarations
from doubletrouble.problems import Problem
from doubletrouble.problems import noise_at as noise_of_snr


def default_ratios() -> FloatArray:
    """P/N from 0.1 to 100, evenly spaced in log and ten times denser around P = N, which is in it.

    >>> bool(1.0 in default_ratios())
    True
    """
    wide, close = np.linspace(-1, 2, 241), np.linspace(-0.1, 0.1, 161)
    exponents = np.unique(np.round(np.concatenate([wide, close]), 9))
    ratios: FloatArray = 10.0**exponents
    return ratios


def axis(name: str, values: Numeric, parameter: str) -> FloatArray:
    """Values along an axis, in the domain of a parameter of `Problem`."""
    found = np.atleast_1d(checked(name, values, declarations(Problem)[parameter]))
    if found.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {found.shape}")
    return found


def along_ratios(ratios: Numeric | None, **constants: Any) -> tuple[FloatArray, Problem]:
    """P/N as an array, and the problem along it."""
    grid = default_ratios() if ratios is None else ratios
    ratio = axis("ratios", grid, "features_per_dim")
    samples = constants["samples_per_dim"]
    return ratio, Problem(features_per_dim=ratio * samples, **constants)


def numbers(name: str, values: Any) -> list[float]:
    """A list with at least one number, as options that make several curves or panels are."""
    if np.ndim(values) != 1 or np.size(values) == 0:
        raise ValueError(f"{name} must be a list with at least one number, got {values!r}")
    return [float(value) for value in values]


def noise_at(snr: float, signal: float) -> float:
    """The label noise τ that makes F/τ this ratio, one of a figure's `snrs`."""
    if not snr > 0:
        raise ValueError(f"snrs must be positive, got {snr:g}")
    return noise_of_snr(snr, signal)


def spaced(bounds: tuple[float, float, int], name: str = "simulated_ratios") -> FloatArray:
    """From, to and how many values, evenly spaced in log.

    >>> spaced((0.1, 10, 3))
    array([ 0.1,  1. , 10. ])
    """
    wanted = f"{name} must be two positive numbers and how many between them, got {bounds}"
    if np.shape(bounds) != (3,):
        raise ValueError(wanted)
    low, high, count = bounds
    if not 0 < low <= high < np.inf or count != int(count) or count < 1:
        raise ValueError(wanted)
    found: FloatArray = np.geomspace(low, high, int(count))
    return found
