"""Comparison of two simulations, term by term."""

import numpy as np

import doubletrouble as dt
from doubletrouble.simulation import Simulation

PARTS = ("noise", "initialization", "sampling", "bias", "bayes", "total")


def same(a: Simulation, b: Simulation, rtol: float) -> None:
    assert a.draws.named().keys() == b.draws.named().keys()
    assert a.ensembles == b.ensembles
    for ensemble in (dt.Ensemble(), *a.ensembles):
        for name, values in a.terms_of(ensemble).named().items():
            np.testing.assert_allclose(
                b.terms_of(ensemble).named()[name], values, rtol=rtol, atol=1e-12
            )
