"""Terms of equal members by subtraction-free formulas, against differences of the general one."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.ensembles import CrossTerms
from doubletrouble.theory._cross_terms import cross_terms, member_terms
from doubletrouble.theory._fixed_point import FixedPoint, Spectrum, spectrum_of

TERMS = [f.name for f in fields(CrossTerms)]
COUNT = 500


def solved(*, measured: bool) -> tuple[Spectrum, FixedPoint]:
    """Fixed points away from the peak, where differences are accurate enough."""
    rng = np.random.default_rng(2)
    P, N = 10 ** rng.uniform(-1, 1, COUNT), 10 ** rng.uniform(-1, 1, COUNT)
    if measured:
        modes = np.arange(1.0, 13.0)
        spectrum = spectrum_of(
            dt.SpectralProblem(
                eigenvalues=modes**-1.2,
                target_powers=1 / modes,
                tail=0.1,
                n_features=1,
                n_samples=1,
            )
        )
    else:
        spectrum = spectrum_of(dt.Problem(activation="tanh"))
    return spectrum, spectrum.fixed_point(P, N, P - N, 10 ** rng.uniform(-3, 1, COUNT))


@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.parametrize("sizes", ["between", "edges"])
def test_partial_overlap_equals_the_general_formula(sizes: str, *, measured: bool) -> None:
    """The formula of two different members, at a = b, for shares f of features and g of samples."""
    spectrum, point = solved(measured=measured)
    rng = np.random.default_rng(3)
    f, g = rng.uniform(0.01, 0.99, (2, COUNT))
    if sizes == "edges":
        f, g = rng.choice([0.0, 1e-9, 0.5, 1 - 1e-9, 1.0], (2, COUNT))
    terms = member_terms(point, spectrum, f, g)
    shared: Any = cross_terms(point, point, spectrum, f, g)
    one: Any = cross_terms(point, point, spectrum, 1.0, 1.0)
    for name in TERMS:
        two, difference = getattr(shared, name), getattr(one, name) - getattr(shared, name)
        own = np.broadcast_to(getattr(terms.own, name), (COUNT,))
        np.testing.assert_allclose(getattr(terms.shared, name), two, rtol=1e-12, atol=1e-300)
        assert np.all(np.abs(own - difference) <= 1e-12 * np.abs(getattr(one, name))), name
        assert np.all(own >= 0)


@pytest.mark.parametrize("g", [0.0, 1.0])
def test_scalar_shares_equal_array_shares(g: float) -> None:
    """The members have independent features."""
    spectrum, point = solved(measured=False)
    fast = member_terms(point, spectrum, 0.0, g)
    general = member_terms(point, spectrum, np.zeros(COUNT), np.full(COUNT, g))
    for kind in ("shared", "own"):
        for name in TERMS:
            np.testing.assert_allclose(
                getattr(getattr(fast, kind), name),
                getattr(getattr(general, kind), name),
                rtol=1e-12,
                atol=1e-300,
            )
