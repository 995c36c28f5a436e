"""The linearized network: derivative, tangent kernel, exact solution, limit α → ∞."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import functional_call, jacrev

from doubletrouble.networks import Training, train_lazy
from doubletrouble.networks._network import (
    Architecture,
    Linearized,
    NetworkMember,
    NetworkWeights,
    activations,
    initial,
    scales,
)
from doubletrouble.networks._tangent import solved, tangent_kernel
from doubletrouble.parameters import FloatArray
from tests.networks.literal import (
    DIM,
    Network,
    as_samples,
    literal_weights,
    program,
    scores_at_test,
    small_data,
)
from tests.selection import full_beyond

DATA = small_data()


def parts(member: NetworkMember, depth: int) -> tuple[NetworkWeights, NetworkWeights]:
    shape = Architecture(dim=DIM, width=member.width, depth=depth)
    where = (shape, torch.float64, "cpu")
    return initial([member], *where), scales([member], *where)


def jacobian(member: NetworkMember, depth: int, x: FloatArray) -> FloatArray:
    """∂f/∂θ of the literal network at initialization, (2N, P), outputs foremost."""
    network = Network(member, depth)
    theta = {name: value.detach() for name, value in network.named_parameters()}

    def f(theta: dict[str, Tensor]) -> Tensor:
        result: Tensor = functional_call(network, theta, (torch.tensor(x),))
        return result.T.reshape(-1)

    blocks: dict[str, Tensor] = jacrev(f)(theta)
    return torch.cat([b.flatten(1) for b in blocks.values()], dim=1).numpy()


def slope(x: FloatArray, y: FloatArray) -> float:
    """The exponent of a power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


@pytest.mark.parametrize(
    ("depth", "blocks"),
    [(2, (slice(None),)), (3, (slice(0, 7), slice(7, 20))), (5, (slice(0, 7), slice(7, 20)))],
)
def test_outputs_are_a_directional_derivative(depth: int, blocks: tuple[slice, ...]) -> None:
    member = NetworkMember(width=6, laziness=math.inf, number=2)
    theta0, _ = parts(member, depth)
    generator = torch.Generator().manual_seed(0)
    delta = NetworkWeights(
        *(torch.randn(t.shape, generator=generator, dtype=torch.float64) for t in theta0)
    )
    held = literal_weights(delta, 0, member)
    direction = np.concatenate([array.ravel() for array in held[::2] + held[1::2]])
    expected = (jacobian(member, depth, DATA.x_train) @ direction).reshape(2, -1).T
    x = torch.tensor(DATA.x_train)
    with torch.no_grad():
        tangent = Linearized(delta, theta0, x[None], blocks)
        result = torch.cat([tangent.outputs(block) for block in blocks], dim=1)
    np.testing.assert_allclose(result[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("width", "depth"), [(1, 2), (3, 5), (9, 3)])
def test_tangent_kernel_is_the_product_of_jacobians(width: int, depth: int) -> None:
    member = NetworkMember(width=width, laziness=math.inf, number=1)
    theta0, scale = parts(member, depth)
    with torch.no_grad():
        inputs = activations(theta0, torch.tensor(DATA.x_train)[None])[:-1]
        result = tangent_kernel(theta0, scale, inputs)
    J = jacobian(member, depth, DATA.x_train)
    np.testing.assert_allclose(result, J @ J.T, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(
    ("width", "depth", "n"),
    [(40, 3, 8), (20, 5, 5), (2, 2, 60), (3, 3, 80)],
    ids=["overparametrized", "overparametrized, deep", "underparametrized", "under, deeper"],
)
def test_exact_solution_is_least_squares_of_least_norm(width: int, depth: int, n: int) -> None:
    data = small_data(n)
    member = NetworkMember(width=width, laziness=math.inf, number=3)
    with torch.no_grad():
        result = solved(member, as_samples([data]), depth=depth)
    J, J_test = (jacobian(member, depth, x) for x in (data.x_train, data.x_test))
    targets = np.concatenate([-data.y_train, data.y_train])
    delta = np.linalg.lstsq(J, targets, rcond=1e-7)[0]
    first, second = (J_test @ delta).reshape(2, -1)
    np.testing.assert_allclose(result.scores, (second - first) / 2, rtol=1e-6, atol=1e-6)
    assert result.displacement == pytest.approx(np.linalg.norm(delta), rel=1e-6)
    assert result.train_loss == pytest.approx(np.mean((J @ delta - targets) ** 2), abs=1e-9)
    assert (result.train_loss < 1e-9) == (2 * n <= J.shape[1])
    assert (result.status, result.steps) == ("exact", 0)


def test_gradient_descent_ends_at_the_exact_solution() -> None:
    data = small_data(4)
    options: dict[str, Any] = {
        "width": 30,
        "depth": 3,
        "laziness": math.inf,
        "ensemble": 2,
        "loss": "squared",
        "device": "cpu",
        "dtype": "float64",
    }
    exact = train_lazy(data, **options)
    assert exact.status == ("exact", "exact")
    assert exact.converged.all()
    descended = train_lazy(data, optimizer="gd", max_steps=4000, tolerance=0, **options)
    assert descended.train_loss.max() < 1e-12
    np.testing.assert_allclose(descended.predictions, exact.predictions, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(descended.displacement, exact.displacement, rtol=1e-5)
    np.testing.assert_array_equal(exact.distance, 0)


@pytest.mark.parametrize(
    "loss", full_beyond(["hinge"], ["hinge", "squared_hinge", "squared", "logistic"])
)
def test_difference_from_the_limit_falls_as_one_over_laziness(loss: str) -> None:
    """The distance of the weights falls alike, after equal steps of gradient descent."""
    alphas = np.array([10.0, 100.0, 1000.0])
    data = small_data(30, 200)  # many points: ReLUs switch at random
    options: dict[str, Any] = {
        "width": 20,
        "depth": 3,
        "ensemble": 60,
        "loss": loss,
        "optimizer": "gd",
        "learning_rate": 0.1,
        "max_steps": 40,
        "device": "cpu",
        "dtype": "float64",
    }
    limit = train_lazy(data, laziness=math.inf, **options)
    runs = [train_lazy(data, laziness=alpha, **options) for alpha in alphas]
    off = np.array([np.abs(run.predictions - limit.predictions).mean() for run in runs])
    assert slope(alphas, off) == pytest.approx(-1, abs=0.2)
    distance = np.array([run.distance.mean() for run in runs])
    assert slope(alphas, distance) == pytest.approx(-1, abs=0.1)
    np.testing.assert_allclose(runs[-1].displacement, limit.displacement, rtol=1e-2)


@pytest.mark.full
def test_networks_trained_to_convergence_approach_the_exact_solution() -> None:
    data = small_data(6)
    options: dict[str, Any] = {
        "width": 40,
        "depth": 3,
        "ensemble": 3,
        "loss": "squared",
        "device": "cpu",
        "dtype": "float64",
    }
    exact = train_lazy(data, laziness=math.inf, **options)
    off = [
        np.abs(
            train_lazy(
                data, laziness=alpha, optimizer="gd", max_steps=1500, tolerance=0, **options
            ).predictions
            - exact.predictions
        ).mean()
        for alpha in (1, 10, 100)
    ]
    assert off[0] > 2 * off[1] > 6 * off[2]


def test_adam_at_infinite_laziness_takes_the_steps_of_100() -> None:
    """Adam on δ = α(θ - θ₀) with the rate and ε of α = 100."""
    member = NetworkMember(width=5, laziness=math.inf, number=0)
    training = Training(loss="logistic", max_steps=30)
    with torch.no_grad():
        trained = program([member], [DATA], training, 3)
        trained.advance(30)
    J, J_test = (torch.tensor(jacobian(member, 3, x)) for x in (DATA.x_train, DATA.x_test))
    y = torch.tensor(DATA.y_train)
    targets = torch.cat([-y, y])
    delta = torch.zeros(J.shape[1], dtype=torch.float64, requires_grad=True)
    adam = torch.optim.Adam([delta], lr=10.0, eps=1e-6)
    for _ in range(30):
        adam.zero_grad()
        torch.autograd.backward(torch.log(1 + torch.exp(-targets * (J @ delta))).mean())
        adam.step()
    first, second = (J_test @ delta.detach()).reshape(2, -1)
    expected = ((second - first) / 2).numpy()
    np.testing.assert_allclose(scores_at_test(trained, DATA)[0], expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("laziness", [1.0, 50.0, math.inf])
def test_default_rate_of_gradient_descent_is_one_over_the_curvature(laziness: float) -> None:
    """1 / (ℓ'' times the largest eigenvalue of the kernel), times α/10 below α = 10."""
    member = NetworkMember(width=8, laziness=laziness, number=0)
    training = Training(loss="squared", optimizer="gd", max_steps=5)
    with torch.no_grad():
        blocks = ((slice(None),), (slice(0, 3), slice(3, 20)))
        result = [program([member], [DATA], training, 3, blocks=b)._rate.item() for b in blocks]
    J = jacobian(member, 3, DATA.x_train)
    largest = np.linalg.eigvalsh(J @ J.T)[-1] / len(J)
    assert result[0] == pytest.approx(min(1, laziness / 10) / (2 * largest), rel=0.02)
    assert result[1] == pytest.approx(result[0], rel=1e-9)
