"""Initial weights and gradients of many networks."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from doubletrouble.networks._network import (
    OUTPUTS,
    Architecture,
    NetworkMember,
    NetworkWeights,
    activations,
    gradient,
    initial,
    product_in_pieces,
    scales,
    weighted_norm,
)
from doubletrouble.parameters import FloatArray
from tests.selection import full_beyond

WIDTH, DIM, DEPTH = 120, 30, 4
SHAPE = Architecture(dim=DIM, width=WIDTH, depth=DEPTH)


def members(count: int, **options: int) -> list[NetworkMember]:
    return [NetworkMember(width=WIDTH, laziness=1.0, number=k, **options) for k in range(count)]


def drawn(some: list[NetworkMember]) -> NetworkWeights:
    return initial(some, SHAPE, torch.float64, "cpu")


def layers(weights: NetworkWeights) -> list[FloatArray]:
    return [matrix.numpy() for matrix, _ in weights.layers]


def moments(numbers: FloatArray) -> tuple[float, float, float]:
    """How far mean, variance and fourth moment are from those of N(0, 1), in standard errors."""
    z = numbers.ravel()
    n = z.size
    return (
        z.mean() * n**0.5,
        (np.mean(z**2) - 1) / np.sqrt(2 / n),
        (np.mean(z**4) - 3) / np.sqrt(96 / n),
    )


@pytest.mark.statistical
@pytest.mark.parametrize("seed", full_beyond([0], range(5)))
def test_weights_are_standard_normal_over_the_root_of_the_inputs(seed: int) -> None:
    for matrix in layers(drawn(members(3, seed=seed))):
        n = matrix.shape[1]
        standard = matrix * np.sqrt(n)
        assert max(map(abs, moments(standard))) < 5
        assert stats.kstest(standard.ravel(), "norm").pvalue > 1e-6


@pytest.mark.statistical
def test_other_distributions_are_detected() -> None:
    """The negative controls: He's scale, one input more, uniform numbers."""
    matrix = layers(drawn(members(3)))[1]
    n = matrix.shape[1]
    assert abs(moments(matrix * np.sqrt(n / 2))[1]) > 10
    assert abs(moments(matrix * np.sqrt(1.1 * n))[1]) > 10
    uniform = np.random.default_rng(0).uniform(-(3**0.5), 3**0.5, matrix.size)
    assert abs(moments(uniform)[2]) > 10


@pytest.mark.statistical
def test_members_and_layers_are_independent() -> None:
    def correlation(a: FloatArray, b: FloatArray) -> float:
        return float(np.corrcoef(a.ravel(), b.ravel())[0, 1] * np.sqrt(a.size))

    weights, other = drawn(members(4)), drawn(members(4, seed=1))
    for matrix, elsewhere in zip(layers(weights), layers(other), strict=True):
        for k in range(1, 4):
            assert abs(correlation(matrix[0], matrix[k])) < 5
        assert abs(correlation(matrix, elsewhere)) < 5
        assert correlation(matrix, matrix) > 10  # the control
    hidden = layers(weights)[1:3]
    assert abs(correlation(*hidden)) < 5


def test_biases_start_at_zero() -> None:
    weights = drawn(members(2))
    assert not weights.biases.any()
    assert not weights.last_bias.any()


def test_weights_depend_on_number_width_and_seed_only() -> None:
    one = NetworkMember(width=5, laziness=1.0, number=3, seed=2)
    shape = Architecture(dim=4, width=9, depth=3)

    def of(*some: NetworkMember) -> NetworkWeights:
        return initial(some, shape, torch.float64, "cpu")

    alone = of(one)
    crowd = of(
        NetworkMember(width=9, laziness=2.0, number=3, seed=2),
        one,
        NetworkMember(width=5, laziness=7.0, number=3, seed=2, data=6),
    )
    for position in (1, 2):
        for a, b in zip(alone, crowd.take(torch.tensor([position])), strict=True):
            np.testing.assert_array_equal(a, b)
    for other in ({"number": 4}, {"seed": 3}):
        changed = of(NetworkMember(width=5, laziness=1.0, **{"number": 3, "seed": 2, **other}))
        assert not torch.equal(changed.first, alone.first)


def test_float32_weights_are_rounded_float64_weights() -> None:
    single = initial(members(2), SHAPE, torch.float32, "cpu")
    for a, b in zip(single, drawn(members(2)), strict=True):
        np.testing.assert_array_equal(a, b.float())


def test_norm_of_weights_is_in_units_of_their_initial_scale() -> None:
    one = NetworkMember(width=4, laziness=1.0, number=0)
    for depth in (2, 3, 6):
        shape = Architecture(dim=3, width=4, depth=depth)
        weights = initial([one], shape, torch.float64, "cpu")
        factors = scales([one], shape, torch.float64, "cpu")
        assert sum(t.numel() for t in weights) == shape.n_weights, depth
        inverse = NetworkWeights(*(1 / s for s in factors))
        standard = [m * np.sqrt(m.shape[1]) for m in layers(weights)]  # standard normal numbers
        expected = np.sqrt(sum((m**2).sum() for m in standard))
        assert weighted_norm(weights, inverse).item() == pytest.approx(expected), depth


def test_gradient_is_added_to_the_output() -> None:
    shape = Architecture(dim=3, width=4, depth=3)
    one = NetworkMember(width=4, laziness=math.inf, number=0)
    weights = initial([one], shape, torch.float64, "cpu")
    x = torch.randn(1, 20, 3, generator=torch.Generator().manual_seed(0)).double()
    once, twice = weights.zeros_like(), weights.zeros_like()
    slope = torch.ones(1, 20, OUTPUTS, dtype=torch.float64)
    inputs = activations(weights, x)[:-1]
    gradient(weights, inputs, slope, once)
    for _ in range(2):
        gradient(weights, inputs, slope, twice, add=True)
    for a, b in zip(once, twice, strict=True):
        np.testing.assert_allclose(2 * a, b, rtol=1e-13)


def test_products_of_pieces_sum_to_the_product() -> None:
    generator = torch.Generator().manual_seed(0)
    left, right = (torch.randn(3, 12, n, generator=generator).double() for n in (5, 2))
    pieces = product_in_pieces(left, right, 4)
    assert pieces.shape == (3, 4, 5, 2)
    torch.testing.assert_close(pieces.sum(1), torch.bmm(left.mT, right))
    shared = left[:1].expand(3, -1, -1)  # one data set for all
    torch.testing.assert_close(
        product_in_pieces(shared, right, 6).sum(1), torch.bmm(shared.mT, right)
    )
