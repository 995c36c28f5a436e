r"""The linearized network with squared loss, solved exactly: regression with its tangent kernel.

The tangent kernel at initialization is Θ(x, x') = ∇f(x)·∇f(x'), for two outputs a 2 × 2 block a
pair of samples. Layer by layer, with h its inputs, b = ∂f/∂z, z = (h W + b)/√n [jacot2018]:

    Θ = Σ_layers (h·h' + 1)/n  (b·b')

Gradient flow from zero ends at δ = Σ c ∇f(x), Θ c = y, the solution of least norm; where Θ is
singular, at the least squares of least norm.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from doubletrouble.networks._lazy import Linearized
from doubletrouble.networks._outcome import TrainingOutcome
from doubletrouble.networks._run import BLOCK, wrong
from doubletrouble.networks._samples import Samples
from doubletrouble.networks._weights import (
    OUTPUTS,
    Architecture,
    NetworkMember,
    NetworkWeights,
    activations,
    gradient,
    initial,
    scales,
    weighted_norm,
)

EXACT = "exact"
"""The status of a network that was solved, not trained."""

_SAFE = 1e-10  # of the smallest against the largest pivot, for Cholesky's method


def solved(member: NetworkMember, samples: Samples, *, depth: int) -> TrainingOutcome:
    """A linearized network with its squared loss at its minimum, in double precision."""
    shape = Architecture(dim=samples.x.shape[2], width=member.width, depth=depth)
    where = (shape, torch.float64, str(samples.x.device))
    theta0, scale = initial([member], *where), scales([member], *where)
    x, targets = (tensor.double() for tensor in samples.of([member]))
    inputs = activations(theta0, x)[:-1]
    y = targets[0].T.reshape(-1)  # outputs foremost, as the kernel has them
    solve = _by_features if shape.n_weights < len(y) else _by_kernel
    delta = solve(theta0, scale, inputs, y)
    F = Linearized(delta, theta0, x).outputs()
    parts = torch.split(samples.x_test.double()[None], BLOCK, dim=1)
    test = torch.cat([Linearized(delta, theta0, part).outputs() for part in parts], dim=1)
    return TrainingOutcome(
        scores=((test[0, :, 1] - test[0, :, 0]) / 2).cpu().numpy(),
        train_error=wrong((F[:, :, 1] - F[:, :, 0]) / 2, targets[:, :, 1]).mean().item(),
        train_loss=(F - targets).square().mean().item(),
        displacement=weighted_norm(delta, NetworkWeights(*(1 / s for s in scale))).item(),
        steps=0,
        status=EXACT,
    )


def _by_kernel(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor], y: Tensor
) -> NetworkWeights:
    """δ = Σ c ∇f with Θ c = y."""
    c = _solution(tangent_kernel(theta0, scale, inputs), y).reshape(OUTPUTS, -1).T[None]
    delta = theta0.zeros_like()
    gradient(theta0, inputs, c, delta)
    for d, s in zip(delta, scale, strict=True):
        d.mul_(s * s)
    return delta


def _by_features(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor], y: Tensor
) -> NetworkWeights:
    """The same δ by its normal equations, which are fewer than samples."""
    J = tangent_features(theta0, scale, inputs)
    found, delta, start = _solution(J.T @ J, J.T @ y), theta0.zeros_like(), 0
    for (matrix, bias), (s, _) in zip(delta.layers, scale.layers, strict=True):
        for part in (matrix, bias):
            end = start + part.numel()
            part.copy_(found[start:end].reshape(part.shape) * s)
            start = end
    return delta


def tangent_features(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor]
) -> Tensor:
    """∇f of one network at all samples, (2N, P), outputs foremost: a factor of Θ."""
    found = []
    slopes = reversed(list(_slopes(theta0, inputs)))
    for h, slope, (s, _) in zip(inputs, slopes, scale.layers, strict=True):
        scaled = slope * s.reshape(())
        of_inputs = h[0].repeat(OUTPUTS, 1)
        found += [(of_inputs[:, :, None] * scaled[:, None, :]).flatten(1), scaled]
    return torch.cat(found, dim=1)


def tangent_kernel(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor]
) -> Tensor:
    """Θ of one network between all samples, (2N, 2N), outputs foremost."""
    n = inputs[0].shape[1]
    found = inputs[0].new_zeros(OUTPUTS * n, OUTPUTS * n)
    backward = list(_slopes(theta0, inputs))  # last layer first
    sizes = [s[0].reshape(()) for s in scale.layers]
    for layer, slopes in enumerate(reversed(backward)):
        h = inputs[layer][0]
        found += (h @ h.T + 1).mul_(sizes[layer] ** 2).repeat(OUTPUTS, OUTPUTS) * (
            slopes @ slopes.T
        )
    return found


def _slopes(theta0: NetworkWeights, inputs: Sequence[Tensor]) -> Iterator[Tensor]:
    """∂f/∂z of each layer, the last first, (2N, ·), outputs foremost."""
    matrices = [matrix[0] for matrix, _ in theta0.layers]
    eye = torch.eye(OUTPUTS, dtype=inputs[0].dtype, device=inputs[0].device)
    slope = eye.repeat_interleave(inputs[0].shape[1], dim=0)
    yield slope
    for matrix, h in zip(reversed(matrices[1:]), reversed(inputs[1:]), strict=True):
        slope = (slope @ matrix.T) * (h[0] > 0).repeat(OUTPUTS, 1)
        yield slope


def _solution(kernel: Tensor, y: Tensor) -> Tensor:
    """The solution of Θ c = y for a Θ that is positive, of least norm where it is singular."""
    factor, failed = torch.linalg.cholesky_ex(kernel)
    pivots = factor.diagonal().square()
    if not failed.item() and (pivots.min() > _SAFE * pivots.max()).item():
        return torch.cholesky_solve(y[:, None], factor)[:, 0]
    values, vectors = torch.linalg.eigh(kernel)
    kept = values > len(y) * torch.finfo(kernel.dtype).eps * values.max()
    weights = torch.where(kept, 1 / values, 0.0)
    found: Tensor = vectors @ (weights * (vectors.T @ y))
    return found
