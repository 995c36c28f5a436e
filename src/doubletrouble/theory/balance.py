r"""The scalar equation behind every term, and its solution.

A ridge learner with P features and N samples uses up some of both. If the kernel has eigenvalues
l_i and a tail of total weight t, and y is the inverse of the effective ridge, then mode i is
learned to the fraction L_i = l_i y/(1 + l_i y), and the degrees of freedom in use are

    z(y) = Σ_i L_i + t y,        Q(y) = Σ_i L_i²,        z - Q = Σ_i L_i (1 - L_i) + t y.

The unused fractions of features and samples balance the ridge ([simon2023], [defilippis2024]):

    (1 - z/P) (1 - z/N) = r y.                                                              (*)

The isotropic problem is the case of one level, counted per dimension: l = μ₁², t = μ⋆², r = λ,
P → ψ₁ = P/D, N → ψ₂ = N/D; then L = Ψ₁ = 1 - r/q with (q, r) of [dascoli2020] App. B.
For a measured spectrum with ridge δ on the Gram matrix, r = δ/N.

**Numerical form.** With small = min(P, N), big = max(P, N) and gap = 1 - small/big, the smaller
unused fraction h solves h (gap + h small/big) = r y, so h(y) is known without subtraction, and
(*) reads z(y) + small·h(y) = small: a sum of increasing positive terms. Every quantity is then
accurate to a few units in the last place, also at P = N and for r down to 1e-300.
"""

from typing import NamedTuple

import numpy as np

from doubletrouble.parameters import FloatArray

TINIEST = 5e-324


class Balance(NamedTuple):
    """The solution of (*): what is learned of each mode, and what is left of the resources."""

    learned: FloatArray  # L
    missed: FloatArray  # 1 - L, without subtraction
    unused_features: FloatArray  # 1 - z/P
    unused_samples: FloatArray  # 1 - z/N
    partial_features: FloatArray  # (z - Q)/P
    partial_samples: FloatArray  # (z - Q)/N
    squared_samples: FloatArray  # Q/N
    tail: FloatArray  # t y: degrees of freedom that go into the tail


class Sizes(NamedTuple):
    """P and N, sorted: what the smaller unused fraction depends on."""

    small: FloatArray
    twice_ratio: FloatArray  # 2 small/big, 0 in the kernel limit
    gap: FloatArray  # 1 - small/big, exact near P = N
    square: FloatArray  # gap²

    @classmethod
    def of(cls, features: FloatArray, samples: FloatArray, spare: FloatArray) -> "Sizes":
        """Sort the two sizes; `spare` is P - N, to full precision where they are close."""
        small, big = np.minimum(features, samples), np.maximum(features, samples)
        gap = np.fmin(np.abs(spare) / big, 1.0)  # fmin turns inf/inf, the kernel limit, into 1
        return cls(small, 2 * small / big, gap, gap * gap)

    def unused(self, twice_ry: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The unused fractions of the smaller and of the bigger resource, given 2 r y."""
        twice = self.gap + np.sqrt(self.square + self.twice_ratio * twice_ry)
        return twice_ry / (twice + TINIEST), 0.5 * twice  # TINIEST: 0/0 at P = N, r = 0 is 0


def balance_of(
    features: FloatArray, samples: FloatArray, unused: tuple[FloatArray, FloatArray],
    learned: FloatArray, missed: FloatArray, partial: FloatArray, squared: FloatArray,
    tail: FloatArray,
) -> Balance:  # fmt: skip
    """Assemble a balance from z - Q, Q and the unused fractions of the smaller and bigger size."""
    smaller, bigger = unused
    narrow = features <= samples
    return Balance(
        learned=learned,
        missed=missed,
        unused_features=np.where(narrow, smaller, bigger),
        unused_samples=np.where(narrow, bigger, smaller),
        partial_features=partial / features,
        partial_samples=partial / samples,
        squared_samples=squared / samples,
        tail=tail,
    )


def stepped(
    balance: Balance,
    turned: FloatArray,
    features: FloatArray,
    samples: FloatArray,
    step: FloatArray,
) -> Balance:
    """The balance a complex step i·`step` of log y away: its imaginary part is the derivative.

    d L = L (1-L), d z = z - Q, d Q = 2 Σ L² (1-L); `turned` is Σ L² (1-L).
    """
    L, M, A, B, e_P, e_N, Q_N, tail = balance
    i, t_P, t_N = 1j * step, 2 * turned / features, 2 * turned / samples
    return Balance(
        learned=L + i * (L * M),
        missed=M - i * (L * M),
        unused_features=A - i * e_P,
        unused_samples=B - i * e_N,
        partial_features=e_P + i * (e_P - t_P),
        partial_samples=e_N + i * (e_N - t_N),
        squared_samples=Q_N + i * t_N,
        tail=tail + i * tail,
    )
