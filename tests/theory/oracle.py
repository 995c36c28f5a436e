"""The closed forms of the theory in high-precision arithmetic, written the textbook way.

Nothing here is shared with the package: the scalar equation is solved as printed and differences
are taken as differences, with enough digits for the cancellation not to matter.
"""

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath
from mpmath import mpf
from mpmath.calculus.quadrature import GaussLegendre

# With ridge 1e-300 next to P = N, terms of order 1e-150 are differences of terms of order one,
# and enter squared.
DIGITS = 800


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "relu": lambda z: z if z > 0 else mpf(0),
    "leaky_relu": lambda z: z if z > 0 else z / 100,
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)),
    "sign": mpmath.sign,
    "abs": abs,
    "gelu": lambda z: z * mpmath.ncdf(z),
    "softplus": lambda z: mpmath.log1p(mpmath.exp(z)),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "linear": lambda z: z,
    "quadratic": lambda z: z * z - 1,
}


def moments(name: str) -> tuple[Any, Any, Any]:
    """μ₀, μ₁, μ⋆² of an activation (40 digits)."""
    return *_hermite(name), tails(name, name, relative=False)


def tails(a: str, b: str, *, relative: bool = True) -> Any:
    """E σ_a⊥ σ_b⊥ of the nonlinear parts of two activations, over μ₁a μ₁b where `relative`."""
    (a0, a1), (b0, b1) = _hermite(a), _hermite(b)
    f, g = FUNCTIONS[a], FUNCTIONS[b]
    with mpmath.workdps(40):
        both = mpmath.fsum(
            w * (f(z) - a0 - a1 * z) * (g(z) - b0 - b1 * z) for z, w in _gaussian_nodes()
        )
        return both / (a1 * b1) if relative else both


@cache
def _hermite(name: str) -> tuple[Any, Any]:
    """μ₀ and μ₁."""
    with mpmath.workdps(40):
        values = [(z, w * FUNCTIONS[name](z)) for z, w in _gaussian_nodes()]
        return mpmath.fsum(y for _, y in values), mpmath.fsum(z * y for z, y in values)


@cache
def _gaussian_nodes() -> list[tuple[Any, Any]]:
    """Points and weights for E f(z) with a kink at 0, by Gauss and Legendre on pieces."""
    ends = [-40, -12, -6, -3, -1, 0, 1, 3, 6, 12, 40]
    rule = GaussLegendre(mpmath.mp)
    with mpmath.workdps(40):
        unit = rule.calc_nodes(5, mpmath.mp.prec)  # 48 on each piece
        pairs = [
            ((b - a) * x / 2 + mpf(a + b) / 2, (b - a) * w / 2)
            for a, b in itertools.pairwise(ends)
            for x, w in unit
        ]
        return [(z, w * mpmath.npdf(z)) for z, w in pairs]


def psi(features: float, samples: Any, ridge: float, linear: Any, nonlinear: Any) -> dict[str, Any]:
    """The seven Ψ, from the scalar equation and the closed forms as usually written."""
    with mpmath.workdps(DIGITS):
        psi1, psi2, lam = mpf(features), mpf(samples), mpf(ridge)
        mu1sq, eta = mpf(linear) ** 2, (mpf(nonlinear) / mpf(linear)) ** 2
        x = _root(psi1, psi2, lam / mu1sq, eta)
        s, u = x / (1 + x), 1 / (1 + x)
        delta = s + x * eta
        d0 = psi1 * psi2 - s**2 * (psi1 + psi2) + 2 * s**2 * delta - delta**2
        gamma = s**2 / psi2
        e = delta - s**2
        return {
            "psi1": s,
            "psi2_vanilla": 2 * s - 1 + psi2 * (psi1 * u**2 + s**2 * eta) / d0,
            "psi3_vanilla": (s**2 * (psi1 - delta) + delta * e) / d0,
            "psi2_ensemble": s**2 + u**2 * gamma / (1 - gamma),
            "psi3_ensemble": gamma / (1 - gamma),
            "psi2_divide": s**2,
            "psi2_features": s**2 + s**2 * (u**2 + eta) / (psi1 - s**2),
        }


def _root(psi1: Any, psi2: Any, ridge: Any, eta: Any) -> Any:
    """The root of (ψ₁-Δ)(ψ₂-Δ) = λ ψ₁ ψ₂ x/μ₁², by bisection, then Newton's method."""
    small = min(psi1, psi2)
    b = 1 + eta - small  # Δ(x) = small
    if eta:
        top = (mpmath.sqrt(b**2 + 4 * small * eta) - b) / (2 * eta)
    else:
        top = small / (1 - small) if small < 1 else mpf(10) ** 700
    if not ridge:
        return top

    def delta(x: Any) -> Any:
        return x / (1 + x) + x * eta

    def excess(x: Any) -> Any:
        d = delta(x)
        return (psi1 - d) * (psi2 - d) - ridge * psi1 * psi2 * x

    # excess is positive at 0 and decreases until Δ = small; bisect in log x over 3000 decades
    low, high = mpmath.log(mpf(10)) * -1500, mpmath.log(min(top, 1 / ridge))
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(mpmath.exp(middle)) > 0 else (low, middle)
    x = mpmath.exp(low)  # Newton's method climbs from below; next to a double root it only halves
    for _ in range(2000):
        d, slope = delta(x), 1 / (1 + x) ** 2 + eta
        change = excess(x) / (slope * (psi1 + psi2 - 2 * d) + ridge * psi1 * psi2)
        x += change
        if abs(change) < x * mpf(10) ** -400:
            return x
    raise AssertionError("the oracle did not converge")


def error(
    terms: dict[str, Any],
    *,
    signal: float,
    noise: float,
    nonlinear_signal: float,
    members: float,
    scheme: str,
) -> dict[str, Any]:
    """The decomposition of [dascoli2020] from the Ψ terms, by subtraction."""
    with mpmath.workdps(DIGITS):
        F2, T2, G2 = (mpf(v) ** 2 for v in (signal, noise, nonlinear_signal))
        member = 1 / mpf(members)
        data = member if scheme == "divide" else mpf(1)
        p2v, p3v = terms["psi2_vanilla"], terms["psi3_vanilla"]
        p2e, p3e, p2d = terms["psi2_ensemble"], terms["psi3_ensemble"], terms["psi2_divide"]
        return {
            "noise": T2 * (data * p3e + member * (p3v - p3e)),
            "initialization": member * (F2 * (p2v - p2e) + G2 * (p3v - p3e)),
            "sampling": data * (F2 * (p2e - p2d) + G2 * p3e),
            "bias": F2 * (1 - 2 * terms["psi1"] + p2d) + G2,
        }


def spectral_risk(
    features: Any,
    samples: Any,
    gram_ridge: float,
    *,
    levels: list[float],
    powers: list[float],
    tail: float,
    noise: float,
    members: int,
    scheme: str,
    digits: int = DIGITS,
) -> Any:
    """The total error of a measured spectrum, from products of two learners' errors.

    Each is (M + σ² c T)/(1 - c T) as in `theory._cross_terms`, c = 1/n where the two have their
    samples in common, else 0. The equation is solved by bisection alone.
    """
    with mpmath.workdps(digits):
        P, N, K = mpf(features), mpf(samples), mpf(members)
        n = N / K if scheme == "divide" else N
        r = mpf(gram_ridge) / N
        modes = [(mpf(u), mpf(v)) for u, v in zip(levels, powers, strict=True)]

        def used(y: Any) -> Any:
            return sum(u * y / (1 + u * y) for u, _ in modes) + tail * y

        def below(y: Any) -> bool:
            z = used(y)
            return bool(z < min(P, n) and (1 - z / P) * (1 - z / n) > r * y)

        low = mpf(1)
        while not below(low):
            low /= 2
        while below(2 * low):
            low *= 2
        step = low
        for _ in range(int(3.33 * digits)):
            step /= 2
            low = low + step if below(low + step) else low
        learned = [(u * low / (1 + u * low), v) for u, v in modes]
        Q = sum(s**2 for s, _ in learned)
        e = used(low) - Q
        rho = sum(v * (1 - s) ** 2 for s, v in learned)
        chi = sum(v * s * (1 - s) for s, v in learned)

        def product(own: Any, shared: Any) -> Any:
            T = Q + own * e**2 / (1 - own * Q)
            M = rho + chi * own * e / (1 - own * Q)
            return (M + mpf(noise) ** 2 * shared * T) / (1 - shared * T)

        apart = product(0, 0 if scheme == "divide" else 1 / n)
        return product(1 / P, 1 / n) / K + (1 - 1 / K) * apart


def anova(
    terms: dict[str, Any], *, signal: float, noise: float, nonlinear_signal: float
) -> dict[str, Any]:
    """The symmetric split from the Ψ terms, by subtraction."""
    with mpmath.workdps(DIGITS):
        F2, T2, G2 = (mpf(v) ** 2 for v in (signal, noise, nonlinear_signal))
        p2v, p2e, p2d, p2p = (
            terms[f"psi2_{n}"] for n in ("vanilla", "ensemble", "divide", "features")
        )
        p3v, p3e = terms["psi3_vanilla"], terms["psi3_ensemble"]
        return {
            "bias": F2 * (1 - 2 * terms["psi1"] + p2d) + G2,
            "initialization": F2 * (p2p - p2d),
            "sampling": F2 * (p2e - p2d) + G2 * p3e,
            "initialization_sampling": F2 * (p2v - p2e - p2p + p2d) + G2 * (p3v - p3e),
            "noise_sampling": T2 * p3e,
            "noise_initialization_sampling": T2 * (p3v - p3e),
        }
