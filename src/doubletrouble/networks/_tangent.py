r"""The linearized network with squared loss, solved exactly: regression with its tangent kernel.

The tangent kernel at initialization is Θ(x, x') = ∇f(x)·∇f(x'), a 2 × 2 block for each pair of
samples, as there are two outputs. It is a sum over layers z = (h W + b)/√n, with h the inputs of a
layer and s = ∂f/∂z [jacot2018]:

    Θ = Σ_layers (h·h' + 1)/n  (s·s')

Gradient flow from zero ends at δ = Σ c ∇f(x) with Θ c = y, the solution of least norm; where Θ is
singular, at the least-squares solution of least norm.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from doubletrouble._ridge import minimum_norm
from doubletrouble.networks._network import (
    OUTPUTS,
    Architecture,
    Linearized,
    NetworkMember,
    NetworkWeights,
    Samples,
    activations,
    gradient,
    initial,
    misclassified,
    scales,
    scores_at,
    scores_of,
    weighted_norm,
)
from doubletrouble.networks._settings import TrainingOutcome


def solved(member: NetworkMember, samples: Samples, *, depth: int) -> TrainingOutcome:
    """Return the linearized network at the minimum of the squared loss, in double precision."""
    shape = Architecture(dim=samples.x.shape[2], width=member.width, depth=depth)
    options = (shape, torch.float64, str(samples.x.device))
    theta0, scale = initial([member], *options), scales([member], *options)
    x, targets = (tensor.double() for tensor in samples.of([member]))
    inputs = activations(theta0, x)[:-1]
    y = targets[0].T.reshape(-1)  # outputs first, as in the kernel
    solve = _by_features if shape.n_weights < len(y) else _by_kernel
    delta = solve(theta0, scale, inputs, y)
    F = Linearized(delta, theta0, x).outputs()
    scores = scores_at(partial(Linearized, delta, theta0), samples.x_test.double()[None])
    return TrainingOutcome(
        scores=scores[0].cpu().numpy(),
        train_error=misclassified(scores_of(F), targets[:, :, 1]).mean().item(),
        train_loss=(F - targets).square().mean().item(),
        displacement=weighted_norm(delta, NetworkWeights(*(1 / s for s in scale))).item(),
        steps=0,
        status="exact",
    )


def _by_kernel(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor], y: Tensor
) -> NetworkWeights:
    """Return δ = Σ c ∇f with Θ c = y."""
    kernel = tangent_kernel(theta0, scale, inputs)
    c = minimum_norm(kernel, y[:, None]).reshape(OUTPUTS, -1).T[None]
    delta = theta0.zeros_like()
    gradient(theta0, inputs, c, delta)
    for d, s in zip(delta, scale, strict=True):
        d.mul_(s * s)
    return delta


def _by_features(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor], y: Tensor
) -> NetworkWeights:
    """Return the same δ by the normal equations, for fewer weights than samples."""
    J = _tangent_features(theta0, scale, inputs)
    solution = minimum_norm(J.T @ J, (J.T @ y)[:, None])[:, 0]
    delta, start = theta0.zeros_like(), 0
    for (matrix, bias), (s, _) in zip(delta.layers, scale.layers, strict=True):
        for part in (matrix, bias):
            end = start + part.numel()
            part.copy_(solution[start:end].reshape(part.shape) * s)
            start = end
    return delta


def _tangent_features(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor]
) -> Tensor:
    """Return ∇f of one network at all samples, (2N, P), outputs first: a factor of Θ."""
    columns = []
    for h, slope, (s, _) in zip(inputs, _slopes(theta0, inputs), scale.layers, strict=True):
        scaled = slope * s.reshape(())
        repeated = h[0].repeat(OUTPUTS, 1)
        columns += [(repeated[:, :, None] * scaled[:, None, :]).flatten(1), scaled]
    return torch.cat(columns, dim=1)


def tangent_kernel(
    theta0: NetworkWeights, scale: NetworkWeights, inputs: Sequence[Tensor]
) -> Tensor:
    """Return Θ of one network between all samples, (2N, 2N), outputs first."""
    n = inputs[0].shape[1]
    kernel = inputs[0].new_zeros(OUTPUTS * n, OUTPUTS * n)
    for h, slope, (s, _) in zip(inputs, _slopes(theta0, inputs), scale.layers, strict=True):
        products = (h[0] @ h[0].T + 1).mul_(s[0].reshape(()) ** 2)
        kernel += products.repeat(OUTPUTS, OUTPUTS) * (slope @ slope.T)
    return kernel


def _slopes(theta0: NetworkWeights, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Return ∂f/∂z of each layer, (2N, ·), outputs first."""
    matrices = [matrix[0] for matrix, _ in theta0.layers]
    eye = torch.eye(OUTPUTS, dtype=inputs[0].dtype, device=inputs[0].device)
    slopes = [eye.repeat_interleave(inputs[0].shape[1], dim=0)]  # last layer first
    for matrix, h in zip(reversed(matrices[1:]), reversed(inputs[1:]), strict=True):
        slopes.append((slopes[-1] @ matrix.T) * (h[0] > 0).repeat(OUTPUTS, 1))
    return slopes[::-1]
