r"""What one more feature, or one more sample, does to the test error.

Move log P by dx and log N by dw in the balance (1 - z/P)(1 - z/N) = r y, with d log r = -κ dw: the
ridge of an isotropic problem stays as it is (κ = 0), and δ/N of a measured spectrum falls (κ = 1).
With A, B the unused fractions, e = z - Q and J = AB + B e/P + A e/N,

    J d log y = B (z/P) dx + A (z/N + κ B) dw
    J dA = A (B + e/N) (z/P) dx - (e/P) A (z/N + κ B) dw
    J dB = B ((e/P + A (1-κ)) (z/N) + κ A Q/N) dw - (e/N) B (z/P) dx

and J itself, the determinant that vanishes at P = N without ridge, moves by

    J dJ = (z/P) (AB (B + e/N) + g e/N) dx
         + ((z/N) (AB (A + e/P) - g e/P) - κ AB (B e/P + A e/N + 2 (e/P)(e/N))) dw
         + J (A d(e/N) + B d(e/P)),       g = A e/N - B e/P = (e/N)(1 - N/P).

Written like this nothing cancels next to P = N, where g is as exact as P - N is. Everything else
follows from the error formulas themselves, evaluated a complex step away, as in `optimum`.

Without ridge and tail, P and N that reach the number of modes d learn all of them in full. The
error is then that of linear regression, (σ² + ρ) d/(N - d) + ρ with ρ the power that no feature
sees: it depends on P no more, and diverges at N = d, or (σ² + ρ = 0) has a corner there.

**Limits of accuracy.** At a ridge, what is left to rounding is the motion of 1 - Q/N of a saturated
learner: a linear network at N = D exactly has 6 digits at λ = 1e-20, and none at 1e-300.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray, Numeric, Value
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.blocks import BLOCK, blockwise
from doubletrouble.theory.error import causes
from doubletrouble.theory.evaluate import Weights, zero_wins
from doubletrouble.theory.modes import Modes
from doubletrouble.theory.points import AnyProblem, Point, prepare
from doubletrouble.theory.split import Split, complete, settled, solvable, split

_STEP = 1e-20  # its square is far below rounding


class Slopes(NamedTuple):
    """The derivatives of the total test error, in the problem's units of P and N."""

    by_features: Value  # ∂R/∂P, every model getting the feature
    by_samples: Value  # ∂R/∂N


class _Moves(NamedTuple):
    """What a step along log P or log N moves."""

    y: FloatArray  # its logarithm
    unused_features: FloatArray
    unused_samples: FloatArray
    joint: FloatArray  # J, by the unused fractions alone
    features: float  # d log P
    samples: float  # d log N


def error_slopes(problem: AnyProblem, n_members: Numeric = 1, scheme: str = "ensemble") -> Slopes:
    """Return the derivatives of the total test error by P and by N, at fixed ridge.

    Where the error is infinite (P = N without ridge) one more of either takes it away: -inf. A
    linear network at N = D without ridge only needs a sample: another feature changes nothing, 0.
    At a kink (infinitely many models at P = N, linear networks at P = D and N = D) the derivative
    is that of one more, not of one less.

    >>> from doubletrouble import Problem
    >>> slopes = error_slopes(Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.0))
    >>> round(slopes.by_features, 4)
    -1.4479
    """
    modes, inputs, shape = prepare(problem, n_members, scheme)

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        point = Point(*np.broadcast_arrays(*values))
        found = _slopes(modes, Point(*(v.reshape(-1) for v in point)), scheme)
        return tuple(v.reshape(point.features.shape) for v in found)

    return Slopes(*blockwise(kernel, inputs, shape, block=max(1, BLOCK // modes.cost)))


def _slopes(modes: Modes, point: Point, scheme: str) -> tuple[FloatArray, FloatArray]:
    """The slopes at every point of a flat block."""
    ridge = modes.scaled_ridge(point.ridge, point.samples)
    features, samples, spare = point.each(scheme)
    full = complete(modes, features, samples, ridge)
    corner = full & (samples == modes.rank)
    samples, ridge, limit = solvable(modes, features, samples, ridge)
    balance = modes.solve(features, samples, spare, ridge)
    turned = modes.count(balance.learned**2 * balance.missed)
    weights = Weights.of(point, scheme)

    def slope(moves: _Moves, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        p, step = _split_beside(balance, modes, turned / features, turned / samples, moves)
        risk = np.sum(causes(p, weights, zero_wins), axis=0)
        value, total = risk.imag / step, risk.real
        value, total = (np.where(limit, settled(v), v) for v in (value, total))
        diverges = ~np.isfinite(total) | ~np.isfinite(value)
        return np.where(np.isinf(size), 0.0, np.where(diverges, -np.inf, value / size)), total

    wide, rich = _moves(balance, features, spare, float(modes.ridge_falls_with_samples))
    (by_features, total), (by_samples, _) = slope(wide, point.features), slope(rich, point.samples)
    # where all is learned, another feature does nothing, and a sample takes a divergence away
    useless = full & (np.isinf(total) | np.isfinite(by_features))
    by_features = np.where(useless, 0.0, by_features)
    return by_features, np.where(corner & np.isfinite(by_samples), 0.0, by_samples)


def _moves(
    balance: Balance, features: FloatArray, spare: FloatArray, falls: float
) -> tuple[_Moves, _Moves]:
    """The derivatives above, by log P and by log N; `falls` is κ."""
    _, _, A, B, e_P, e_N, Q_N, _ = balance
    z_N = e_N + Q_N
    z_P = np.where(e_N > 0, e_P / e_N, 0.0) * z_N
    g = e_N * np.where(np.isinf(features), 1.0, spare / features)
    J = A * B + B * e_P + A * e_N
    peak = J == 0  # P = N, no ridge: with one more of either, the other one is what binds
    J = np.where(peak, 1.0, J)
    x, w = z_P / J, (z_N + falls * B) / J
    wide = _Moves(
        y=B * x,
        unused_features=np.where(peak, z_P, A * (B + e_N) * x),
        unused_samples=-e_N * B * x,
        joint=(A * B * (B + e_N) + e_N * g) * x,
        features=1.0,
        samples=0.0,
    )
    rich = _Moves(
        y=A * w,
        unused_features=-e_P * A * w,
        unused_samples=np.where(
            peak, z_N, B * (((e_P + A * (1 - falls)) * z_N + falls * A * Q_N) / J)
        ),
        joint=z_N * ((A * B * (A + e_P) - e_P * g) / J)
        - falls * A * B * ((B * e_P + A * e_N + 2 * e_P * e_N) / J),
        features=0.0,
        samples=1.0,
    )
    return wide, rich


def _split_beside(
    balance: Balance, modes: Modes, turned_P: FloatArray, turned_N: FloatArray, moves: _Moves
) -> tuple[Split, FloatArray]:
    """The split a complex step away, its imaginary part being the derivative; and the step."""
    L, M, A, B, e_P, e_N, Q_N, tail = balance
    dy, t_P, t_N = moves.y, 2 * turned_P, 2 * turned_N
    de_P = (e_P - t_P) * dy - e_P * moves.features
    de_N = (e_N - t_N) * dy - e_N * moves.samples
    J = A * B + B * e_P + A * e_N
    # next to P = N at a small ridge J moves fastest: the step is small against that
    step = _STEP / np.fmax(np.abs(moves.joint) / J, 1.0)
    i = 1j * step
    there = Balance(
        learned=L + i * dy * (L * M),
        missed=M - i * dy * (L * M),
        unused_features=A + i * moves.unused_features,
        unused_samples=B + i * moves.unused_samples,
        partial_features=e_P + i * de_P,
        partial_samples=e_N + i * de_N,
        squared_samples=Q_N + i * (t_N * dy - Q_N * moves.samples),
        tail=tail + i * (tail * dy),
    )
    return split(there, modes, J + i * (moves.joint + A * de_N + B * de_P)), step
