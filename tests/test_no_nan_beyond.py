"""No NaN and nothing negative beyond the paper, too: over the whole declared domain."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.parameters import FloatArray
from tests.test_no_nan import (
    Rng,
    assert_adds_up,
    decades,
    mixed,
    random_members,
    random_problem,
    random_ridges,
    random_shares,
    random_sizes,
    random_spectrum,
)
from tests.theory.schemes import ensemble, supported


def random_times(rng: Rng, count: int) -> FloatArray:
    special = rng.choice([0.0, 1.0, math.inf, 5e-324, 1e150], count)
    return mixed(rng, special, decades(rng, 1e-307, 1e150, count), decades(rng, 1e-6, 1e12, count))


@pytest.mark.parametrize("name", supported("gradient_flow"))
@pytest.mark.parametrize("activation", NAMES)
def test_times(activation: str, name: str) -> None:
    rng, count = np.random.default_rng(7), 150
    problem = random_problem(rng, activation, count)
    members = ensemble(name, problem, random_members(rng, count), random_shares(rng, count))
    assert_adds_up(dt.gradient_flow(problem, random_times(rng, count), members))


@pytest.mark.parametrize("name", supported("gradient_flow"))
@pytest.mark.parametrize("seed", range(5))
def test_times_of_measured_spectra(seed: int, name: str) -> None:
    rng = np.random.default_rng([8, seed])
    spectrum = random_spectrum(rng)
    members = ensemble(name, spectrum, random_members(rng, 40), random_shares(rng, 40))
    assert_adds_up(dt.gradient_flow(spectrum, random_times(rng, 40), members))


def random_member(rng: Rng, activation: str, count: int) -> dt.Member:
    width = mixed(rng, random_sizes(rng, count), random_sizes(rng, count), np.full(count, math.inf))
    return dt.Member(
        features_per_dim=width,
        samples_per_dim=random_sizes(rng, count),
        ridge=random_ridges(rng, count),
        activation=activation,
    )


@pytest.mark.parametrize("first", NAMES)
def test_pairs(first: str) -> None:
    rng, count = np.random.default_rng(9), 150
    following = NAMES[(NAMES.index(first) + 1) % len(NAMES)]
    for second in (first, following, "tanh"):
        a, b = random_member(rng, first, count), random_member(rng, second, count)
        share = mixed(rng, np.zeros(count), rng.uniform(0, 1, count), np.ones(count))
        with np.errstate(invalid="ignore"):
            common: Any = np.minimum(a.features_per_dim, b.features_per_dim)
            k = np.where(share == 0, 0.0, share * common)
        n = rng.uniform(0, 1, count) * np.minimum(a.samples_per_dim, b.samples_per_dim)
        found = dt.pair_terms(a, b, shared_features=k, shared_samples=n)
        assert not np.isnan(found.total).any()
        assert np.all(np.asarray(found.bias) >= 0)
        if first == second:  # tails that differ may covary negatively
            assert_adds_up(found)
