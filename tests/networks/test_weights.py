"""Initial weights: standard normal over √n, independent from member to member, and repeatable."""

import numpy as np
import pytest
import torch
from scipy import stats

from doubletrouble.networks._weights import (
    Architecture,
    NetworkMember,
    NetworkWeights,
    initial,
    scales,
    weighted_norm,
)
from doubletrouble.parameters import FloatArray

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
@pytest.mark.parametrize("seed", range(5))
def test_weights_are_normal_over_the_root_of_the_inputs(seed: int) -> None:
    for matrix in layers(drawn(members(3, seed=seed))):
        n = matrix.shape[1]
        standard = matrix * np.sqrt(n)
        assert max(map(abs, moments(standard))) < 5
        assert stats.kstest(standard.ravel(), "norm").pvalue > 1e-6


@pytest.mark.statistical
def test_another_scale_would_be_noticed() -> None:
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


def test_a_member_is_drawn_from_its_numbers_alone() -> None:
    """Not from its batch, its α, or the data set it learns; but from width, seed and number."""
    one = NetworkMember(width=5, laziness=1.0, number=3, seed=2)
    shape = Architecture(dim=4, width=9, depth=3)

    def of(*some: NetworkMember) -> NetworkWeights:
        return initial(some, shape, torch.float64, "cpu")

    alone = of(one)
    crowd = of(
        NetworkMember(width=9, laziness=2.0, number=3, seed=2), one,
        NetworkMember(width=5, laziness=7.0, number=3, seed=2, data=6),
    )  # fmt: skip
    for place in (1, 2):
        for a, b in zip(alone, crowd.take(torch.tensor([place])), strict=True):
            np.testing.assert_array_equal(a, b)
    for other in ({"number": 4}, {"seed": 3}):
        changed = of(NetworkMember(width=5, laziness=1.0, **{"number": 3, "seed": 2, **other}))
        assert not torch.equal(changed.first, alone.first)


def test_float32_is_the_same_draw_rounded() -> None:
    single = initial(members(2), SHAPE, torch.float32, "cpu")
    for a, b in zip(single, drawn(members(2)), strict=True):
        np.testing.assert_array_equal(a, b.float())


@pytest.mark.parametrize("depth", [2, 3, 6])
def test_the_number_of_weights_and_their_norm(depth: int) -> None:
    shape = Architecture(dim=3, width=4, depth=depth)
    one = NetworkMember(width=4, laziness=1.0, number=0)
    weights = initial([one], shape, torch.float64, "cpu")
    factors = scales([one], shape, torch.float64, "cpu")
    assert sum(t.numel() for t in weights) == shape.n_weights
    inverse = NetworkWeights(*(1 / s for s in factors))
    expected = np.sqrt(
        sum(((m * np.sqrt(m.shape[1])) ** 2).sum() for m in layers(weights))
    )  # of the standard normal numbers
    assert weighted_norm(weights, inverse).item() == pytest.approx(expected)
