r"""The error of two learners at infinite size, written as printed, for tests alone.

With ψ₁ = P/D, ψ₂ = N/D and η = μ⋆²/μ₁², a learner has s = Ψ₁, u = 1 - s of

    (ψ₁ - Δ)(ψ₂ - Δ) = λ ψ₁ ψ₂ s/(u μ₁²),      Δ = s (1 + η/u),

and two learners a, b with c₁ = ψ₁ab/(ψ₁a ψ₁b) of features in common, c₂ likewise of samples, have

    R = (F² N + τ² c₂ T)/(1 - c₂ T),
    N = (u_a u_b + c₁ s_a s_b η_ab)/(1 - c₁ s_a s_b),
    T = s_a s_b + c₁ s_a s_b (u_a u_b + η_ab)²/(u_a u_b (1 - c₁ s_a s_b)).

Nothing of the package's theory is used. At real ridges there is a route of 60 digits (`half`,
`bootstrap`, `error`); the other is in floats, and ridges may be complex, which gives gradient flow
(`level`, `Point`). The formula above is the same for both.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
import numpy.typing as npt
from mpmath import mpf

from tests.theory import oracle

DIGITS = 60

Values = npt.NDArray[np.float64]


class Level(NamedTuple):
    """The quantities of one learner: Ψ₁, 1 - Ψ₁ (numbers or arrays), and its sizes."""

    s: Any
    u: Any
    features: Any
    samples: Any

    def common(self, other: "Level", features: Any, samples: Any) -> tuple[Any, Any]:
        """c₁ and c₂, from the features and samples in common."""
        c1 = features / (self.features * other.features)
        return c1, samples / (self.samples * other.samples)


class Product(NamedTuple):
    """R per unit of F² without noise, and per unit of noise power."""

    signal: Any
    noise: Any


def product(a: Level, b: Level, c1: Any, c2: Any, tails: Any) -> Product:
    """The formula above; `tails` is η_ab = E σ_a⊥ σ_b⊥/(μ₁a μ₁b)."""
    ss, uu = a.s * b.s, a.u * b.u
    N = (uu + c1 * ss * tails) / (1 - c1 * ss)
    T = ss + c1 * ss / (1 - c1 * ss) * (uu + tails) ** 2 / uu
    return Product(N / (1 - c2 * T), c2 * T / (1 - c2 * T))


# --- real ridges, in 60 digits --------------------------------------------------------------------


def half(features: float, samples: float, ridge: float, linear: Any, nonlinear: Any) -> Level:
    """Solve the scalar equation of one learner."""
    with mpmath.workdps(oracle.DIGITS):
        s = oracle.psi(features, samples, ridge, linear, nonlinear)["psi1"]
        return Level(s, 1 - s, mpf(features), mpf(samples))


def error(
    a: Level,
    b: Level,
    shared_features: float,
    shared_samples: float,
    tails: Any,
    signal: float,
    noise: float,
) -> Any:
    """E (f⋆ - f_a)(f⋆ - f_b)."""
    with mpmath.workdps(DIGITS):
        p = product(a, b, *a.common(b, mpf(shared_features), mpf(shared_samples)), tails)
        return mpf(signal) ** 2 * p.signal + mpf(noise) ** 2 * p.noise


@cache
def bootstrap(
    features: float, samples: float, ridge: float, linear: float, tails: float
) -> tuple[Level, Any]:
    """A learner with Poisson weights w on its samples, and its c₂ with itself.

    With a_k = E (w/(1 + w V))ᵏ and V = Δ/(ψ₂ a₁), the features have the ridge λ/a₁ and infinitely
    many samples, ψ₁ - Δ = λ ψ₁ s/(u μ₁² a₁), and c₂ = a₂/(ψ₂ a₁²).
    """
    with mpmath.workdps(DIGITS):
        P, N, eta = mpf(features), mpf(samples), mpf(tails)
        chances = [mpmath.exp(-1) / mpmath.factorial(w) for w in range(DIGITS)]

        def mean(V: Any, power: int) -> Any:
            return mpmath.fsum(p * (w / (1 + w * V)) ** power for w, p in enumerate(chances))

        def at(log_a1: Any) -> tuple[Level, Any, Any]:
            a1 = mpmath.exp(log_a1)
            omega = eta + P * mpf(ridge) / (a1 * mpf(linear) ** 2)
            b = omega + P - 1
            u = (mpmath.sqrt(b**2 + 4 * omega) - b) / 2
            return Level(1 - u, u, P, N), a1, (1 - u) * (1 + eta / u) / (N * a1)

        def off(log_a1: Any) -> Any:
            _, a1, V = at(log_a1)
            return mpmath.log(mean(V, 1) / a1)

        result, a1, V = at(mpmath.findroot(off, (-30, 0), solver="anderson", maxsteps=300))
        return result, mean(V, 2) / (N * a1**2)


# --- ridges that may be complex, in floats --------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Values], Values]] = {
    "relu": lambda z: np.maximum(z, 0.0),
    "tanh": np.tanh,
    "sign": np.sign,
}


def gaussian_mean(function: Callable[[Values], Values]) -> float:
    """E f(z), each side of the kink at 0 by Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    z = 6 * (nodes + 1)
    density = 6 * weights * np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    return float(density @ (function(z) + function(-z)))


@cache
def linear(name: str) -> float:
    """μ₁."""
    return gaussian_mean(lambda z: z * FUNCTIONS[name](z))


@cache
def rest(first: str, second: str) -> float:
    """η_ab: the product of the nonlinear parts of two activations at one weight, over μ₁a μ₁b."""
    f, g = FUNCTIONS[first], FUNCTIONS[second]
    means = gaussian_mean(f) * gaussian_mean(g)
    both = linear(first) * linear(second)
    return (gaussian_mean(lambda z: f(z) * g(z)) - means) / both - 1


@cache
def level(psi1: float, psi2: float, ridge: float | tuple[complex, ...], name: str) -> Level:
    """Newton's method, followed from a large ridge down along a ray."""
    own = rest(name, name)
    lam = np.atleast_1d(np.asarray(ridge, dtype=np.complex128)) * psi1 * psi2 / linear(name) ** 2
    scale = np.maximum(1e4 / np.abs(lam), 1.0)
    s = psi1 * psi2 / (lam * scale)
    for factor in np.linspace(1.0, 0.0, 60):
        now = lam * scale**factor
        for _ in range(30):
            u = 1 - s
            delta, slope = s * (1 + own / u), 1 + own / u**2
            value = (psi1 - delta) * (psi2 - delta) - now * s / u
            step = value / (-slope * (psi1 + psi2 - 2 * delta) - now / u**2)
            s = s - step
            if np.max(np.abs(step / s)) < 1e-13:
                break
    result = s if isinstance(ridge, tuple) else s.real[0]
    return Level(result, 1 - result, psi1, psi2)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One problem, with a linear teacher."""

    psi1: float
    psi2: float
    ridge: float
    name: str
    signal: float = 1.0
    noise: float = 0.5

    def error(self, scheme: str, members: float, **options: float) -> dict[str, float]:
        """The parts of the error of K members; `own` replaces c₂ of a member with itself."""
        p1, p2, member, tails = self.psi1, self.psi2, 1 / members, rest(self.name, self.name)
        samples, bank = p2, 0.0
        if "fraction" in options:
            samples = options["fraction"] * p2
        if "bank_per_dim" in options:
            bank = 1 / options["bank_per_dim"]
        at, own = level(p1, samples, self.ridge, self.name), 1 / samples
        if scheme == "bootstrap":
            at, own = bootstrap(p1, p2, self.ridge, linear(self.name), tails)
        own = options.get("own", own)
        kinds = ((1 / p1, own), (0.0, own), (bank, 1 / p2), (0.0, 1 / p2), (0.0, 0.0))
        same, choice, met, other, apart = (product(at, at, *kind, tails) for kind in kinds)
        parts = {
            "noise": met.noise + member * (same.noise - met.noise),
            "initialization": member * (same.signal - choice.signal),
            "resampling": member * (choice.signal - other.signal),
            "sampling": other.signal - apart.signal,
            "bias": apart.signal,
        }
        if scheme == "feature_bank":
            parts["initialization"] = met.signal - other.signal
            parts["resampling"] = member * (same.signal - met.signal)
        return self._in_units(parts)

    def _in_units(self, parts: dict[str, Any]) -> dict[str, float]:
        F2, T2 = self.signal**2, self.noise**2
        result = {k: float(v) * (T2 if k == "noise" else F2) for k, v in parts.items()}
        return {**result, "total": sum(result.values())}

    def flow(
        self, time: float, members: float, scheme: str = "ensemble", **options: float
    ) -> dict[str, float]:
        """Parts at a time of gradient flow.

        e^-x = Σ c/(x + z), by the trapezoidal rule for ∫ e^z/(x + z) dz on a parabola, not on the
        contour of the package, makes of (1 - e^(-t x))/x a sum of ridge fits: Σ (c/z)/(x + z/t).
        """
        poles = 28
        theta = math.pi * (-poles + 1 + 2 * np.arange(poles)) / poles
        z = poles * (0.1309 - 0.1194 * theta**2 + 0.25j * theta)
        weights = np.exp(z) * poles * (-0.2388 * theta + 0.25j) / (1j * poles) / z
        divided, p1, member = scheme == "divide", self.psi1, 1 / members
        p2 = self.psi2 * (member if divided else options.get("fraction", 1.0))
        at = level(p1, p2, tuple((z / (time * p1 * p2) + self.ridge).tolist()), self.name)
        rows, columns = (
            at._replace(s=at.s.reshape(shape), u=at.u.reshape(shape))
            for shape in ((-1, 1), (1, -1))
        )
        bank = 1 / options.get("bank_per_dim", math.inf)
        between = 0.0 if divided else 1 / self.psi2
        result = []
        for kind in ((1 / p1, 1 / p2), (0.0, 1 / p2), (bank, between), (0.0, between), (0.0, 0.0)):
            signal, noise = product(rows, columns, *kind, rest(self.name, self.name))
            overlap = signal - 1 + rows.s + columns.s
            both = [float((weights @ value @ weights).real) for value in (overlap, noise)]
            result.append(Product(1 - 2 * float((weights @ at.s).real) + both[0], both[1]))
        same, choice, met, other, apart = result
        own_data = member * (choice.signal - other.signal)
        parts = {
            "noise": met.noise + member * (same.noise - met.noise),
            "initialization": member * (same.signal - choice.signal),
            "resampling": 0.0 if divided else own_data,
            "sampling": other.signal - apart.signal + (own_data if divided else 0.0),
            "bias": apart.signal,
        }
        if bank:
            parts["initialization"] = met.signal - other.signal
            parts["resampling"] = member * (same.signal - met.signal)
        return self._in_units(parts)
