"""Order parameters from the raw definitions, by a program that shares nothing with the package.

Features: integrals over the Marchenko-Pastur law of the spectrum of ΘΘᵀ/D. Labels: proximal points
by root finding on the derivative of the loss, responses by the derivative of the proximal map in
closed form of the loss's curvature, means by Gauss's rule on panels between the kinks of the force.
Pairs: the bivariate law of both outputs, in two dimensions, with the labels' probabilities given
both outputs from the trivariate Gaussian law of outputs and target.

    python -m tests.convex.oracle    writes oracle.json
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import root, root_scalar
from scipy.special import expit, ndtr

STORED = Path(__file__).with_name("oracle.json")
MOMENTS = {"relu": (0.5, np.sqrt(0.25 - 0.5 / np.pi)), "linear": (1.0, 0.0)}

POINTS: list[dict[str, Any]] = [
    {"loss": "squared", "psi1": 0.7, "psi2": 1.5, "ridge": 1e-2, "flips": 0.1, "tau": 0.0},
    {"loss": "hinge", "psi1": 2.0, "psi2": 2.0, "ridge": 1e-2, "flips": 0.1, "tau": 0.0},
    {"loss": "hinge", "psi1": 0.5, "psi2": 4.0, "ridge": 1.0, "flips": 0.0, "tau": 0.5},
    {"loss": "squared_hinge", "psi1": 3.0, "psi2": 1.0, "ridge": 1e-3, "flips": 0.2, "tau": 0.3},
    {"loss": "max_margin", "psi1": 2.0, "psi2": 1.5, "ridge": 1.0, "flips": 0.0, "tau": 0.0},
    {"loss": "logistic", "psi1": 2.0, "psi2": 2.0, "ridge": 1e-2, "flips": 0.1, "tau": 0.0},
    {"loss": "logistic", "psi1": 0.4, "psi2": 5.0, "ridge": 1e-3, "flips": 0.0, "tau": 0.4},
    {"loss": "logistic", "psi1": 8.0, "psi2": 0.5, "ridge": 0.3, "flips": 0.3, "tau": 0.0},
    {"loss": "absolute", "psi1": 0.6, "psi2": 2.0, "ridge": 1e-2, "tau": 0.7},
    {"loss": "huber", "psi1": 2.0, "psi2": 1.5, "ridge": 1e-2, "tau": 0.5},
    {"loss": "quantile:0.8", "psi1": 1.0, "psi2": 3.0, "ridge": 0.1, "tau": 0.6},
    {"loss": "squared", "psi1": 1.5, "psi2": 1.0, "ridge": 1e-2, "tau": 0.5},
]

Function = Callable[[Any], Any]


# --- losses, by their derivatives -----------------------------------------------------------------


def slope(loss: str, margin: bool) -> tuple[Function, Function, list[float]]:
    """-ℓ' and ℓ'' in the output z (of label +1, or of label 0), and the kinks of ℓ'."""
    name, _, option = loss.partition(":")
    if name == "logistic":
        return lambda z: expit(-z), lambda z: expit(z) * expit(-z), []
    e0 = 1.0 if margin else 0.0  # e = e0 - z
    if name == "squared":
        return lambda z: e0 - z, lambda z: np.ones_like(z), []
    if name == "squared_hinge":
        return lambda z: np.maximum(1 - z, 0), lambda z: (z < 1) * 1.0, [1.0]
    if name == "huber":
        return lambda z: np.clip(-z, -1, 1), lambda z: (np.abs(z) < 1) * 1.0, [-1.0, 1.0]
    jump = {"hinge": (1.0, 0.0), "absolute": (1.0, -1.0), "max_margin": (np.inf, 0.0)}
    t = float(option or 0.5)
    high, low = jump.get(name, (t, t - 1))
    corner = 1.0 if margin else 0.0
    return lambda z: np.where(z < corner, high, low), lambda z: 0.0 * z, [corner]


class Force:
    """g(ω) = (z - ω)/V at the proximal point z, and -g'(ω)."""

    def __init__(self, loss: str, margin: bool, V: float) -> None:
        self.pull, self.curve, self.corners = slope(loss, margin)
        self.V, self.jumps = (
            V,
            loss.split(":")[0] in ("hinge", "absolute", "quantile", "max_margin"),
        )
        self.kinks: list[float] = []  # where ω reaches and leaves a corner of the loss
        for corner in self.corners:
            for side in (-1e-9, 1e-9):
                pull = float(self.pull(np.asarray(corner + side)))
                if np.isfinite(pull):
                    self.kinks.append(corner - V * pull)

    def __call__(self, omega: Any) -> tuple[Any, Any]:
        V, omega = self.V, np.asarray(omega, dtype=float)
        if self.jumps:
            corner = self.corners[0]
            with np.errstate(invalid="ignore"):
                low, high = self.pull(corner + 1e-9), self.pull(corner - 1e-9)
                wanted = (corner - omega) / V  # the force that reaches the corner
            inside = (wanted > low) & (wanted < high)
            return np.clip(wanted, low, high), inside / V
        z = _roots(lambda z: z - omega - V * self.pull(z), omega)
        curve = self.curve(z)
        return (z - omega) / V, curve / (1 + V * curve)


def _roots(function: Function, omega: Any) -> Any:
    """Roots of increasing functions by bisection."""
    low, high = omega - 1.0, omega + 1.0
    for _ in range(200):
        low = np.where(function(low) > 0, low - 2 * (high - low), low)
        high = np.where(function(high) < 0, high + 2 * (high - low), high)
        if (function(low) <= 0).all() and (function(high) >= 0).all():
            break
    for _ in range(70):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


# --- integrals ------------------------------------------------------------------------------------

_X, _W = np.polynomial.legendre.leggauss(24)


def panels(sd: float, kinks: list[float], scale: float) -> tuple[Any, Any]:
    """Nodes and weights on ±10 sd, with panels no longer than `scale` and ends at the kinks."""
    count = int(np.ceil(20 * sd / min(scale, sd)))
    edges = np.unique(
        [*np.linspace(-10 * sd, 10 * sd, count + 1), *np.clip(kinks, -10 * sd, 10 * sd)]
    )
    half = np.diff(edges)[:, None] / 2
    nodes = edges[:-1, None] + half * (1 + _X)
    return nodes.ravel(), (half * _W).ravel()


def normal(x: Any, variance: float) -> Any:
    return np.exp(-0.5 * x**2 / variance) / np.sqrt(2 * np.pi * variance)


def marchenko_pastur(psi1: float) -> tuple[Any, Any]:
    """Nodes and weights of P/D times the law of the eigenvalues of ΘΘᵀ/D, without those at 0."""
    theta = (np.arange(4000) + 0.5) * np.pi / 4000
    x = 1 + psi1 + 2 * np.sqrt(psi1) * np.cos(theta)
    density = 2 * psi1 * np.sin(theta) ** 2 / (np.pi * x)
    return x, density * np.pi / 4000


class Features:
    def __init__(self, psi1: float, activation: str = "relu") -> None:
        self.x, self.w = marchenko_pastur(psi1)
        self.zeros = psi1 - self.w.sum()  # eigenvalues 0, where P > D
        mu1, mus = MOMENTS[activation]
        self.mu1, self.mus = mu1**2, mus**2

    def mean(self, function: Function) -> float:
        return float(self.w @ function(self.x) + self.zeros * function(0.0))

    def step(
        self, lam: float, v: float, m: float, q: float, rho: float
    ) -> tuple[float, float, float]:
        """V, m and q from the forces."""

        def total(x: Any) -> Any:
            return self.mu1 * x + self.mus

        def inverse(x: Any) -> Any:
            return 1 / (lam + v * total(x))

        signal = self.mean(lambda x: self.mu1 * x * total(x) * inverse(x) ** 2)
        noise = self.mean(lambda x: (total(x) * inverse(x)) ** 2)
        aligned = self.mean(lambda x: self.mu1 * x * inverse(x))
        V = self.mean(lambda x: total(x) * inverse(x))
        return V, rho * m * aligned, rho * m**2 * signal + q * noise

    def aligned(self, lam: float, v: float) -> float:
        return self.mean(lambda x: self.mu1 * x / (lam + v * (self.mu1 * x + self.mus)))


# --- classes --------------------------------------------------------------------------------------


def label_forces(at: dict[str, Any], V: float, m: float, q: float) -> tuple[float, float, float]:
    """v̂, m̂ and q̂ over ω ~ N(0, q) and both labels, for a target of unit power."""
    p, tau, psi2 = at["flips"], at["tau"], at["psi2"]
    force = Force(at["loss"], True, V)
    kinks = [*force.kinks, *(-k for k in force.kinks)]
    mean, spread = m / q, np.sqrt(1 - m**2 / q + tau**2)
    omega, w = panels(np.sqrt(q), kinks, min(np.sqrt(q), 1.0, np.sqrt(q) * spread / max(mean, 0.1)))
    w = w * normal(omega, q)
    v_hat = m_hat = q_hat = 0.0
    for y in (1, -1):
        g, drop = force(y * omega)
        chance = p + (1 - 2 * p) * ndtr(y * mean * omega / spread)
        by_mean = y * (1 - 2 * p) * normal(mean * omega / spread, 1.0) / spread
        v_hat += w @ (chance * drop)
        q_hat += w @ (chance * g * g)
        m_hat += w @ (by_mean * y * g)
    return psi2 * v_hat, psi2 * m_hat, psi2 * q_hat


def label_product(
    at: dict[str, Any], V: float, m: float, q: float, q12: float, same: bool
) -> float:
    """q̂₁₂ of two members on the same samples, with the same labels or with own label noise."""
    p, tau = at["flips"], at["tau"]
    force = Force(at["loss"], True, V)
    kinks = [*force.kinks, *(-k for k in force.kinks)]
    own = q - q12**2 / q
    x, w = panels(np.sqrt(q), kinks, 2 * min(np.sqrt(own), 1.5))
    w = w * np.sqrt(normal(x, q))
    x, w = x[w > 1e-14], w[w > 1e-14]
    law = np.exp(-0.5 * (x[None] - q12 / q * x[:, None]) ** 2 / own) / np.sqrt(2 * np.pi * own)
    law *= np.sqrt(normal(x, q))[:, None] / np.sqrt(normal(x, q))[None]  # w carries the roots
    law *= w[:, None] * w[None]
    # ν given both outputs: mean m (ω₁ + ω₂)/(q + q₁₂), variance 1 - 2 m²/(q + q₁₂)
    spread2 = 1 - 2 * m**2 / (q + q12)
    plus = ndtr(m * (x[:, None] + x[None]) / (q + q12) / np.sqrt(spread2 + tau**2))
    both = {(1, 1): plus, (1, -1): 0.0 * plus, (-1, -1): 1 - plus}  # chances of clean labels
    if tau > 0 and not same:
        mean, node = m * (x[:, None] + x[None]) / (q + q12), np.sqrt(2 * spread2)
        both = dict.fromkeys(both, 0.0 * plus)
        for z, weight in zip(*np.polynomial.hermite.hermgauss(140), strict=True):
            sides = {y: ndtr(y * (mean + node * z) / tau) for y in (1, -1)}
            for y1, y2 in both:
                both[y1, y2] += weight / np.sqrt(np.pi) * sides[y1] * sides[y2]
    both[-1, 1] = both[1, -1]
    forces = {y: y * force(y * x)[0] for y in (1, -1)}
    total = 0.0
    for y1 in (1, -1):
        for y2 in (1, -1):
            if same:
                chance = (y1 == y2) * (p + (1 - 2 * p) * (plus if y1 > 0 else 1 - plus))
            else:
                chance = sum(
                    both[c1, c2] * (p if c1 != y1 else 1 - p) * (p if c2 != y2 else 1 - p)
                    for c1, c2 in both
                )
            total += forces[y1] @ (law * chance) @ forces[y2]
    return float(at["psi2"] * total)


def classes(at: dict[str, Any]) -> dict[str, float]:
    features = Features(at["psi1"])
    lam = at["psi1"] * at["psi2"] * at["ridge"]

    def mismatch(unknowns: Any) -> Any:
        V, q, r = np.exp(unknowns[0]), np.exp(unknowns[1]), expit(unknowns[2])
        v, m_hat, q_hat = label_forces(at, V, r * np.sqrt(q), q)
        new = features.step(lam, v, m_hat, q_hat, 1.0)
        ratio = new[1] / np.sqrt(new[2])
        target = np.log(new[0]), np.log(new[2]), np.log(ratio / (1 - ratio))
        return np.array(target) - unknowns

    unknowns = np.array([0.0, 0.0, 0.0])
    for _ in range(60):
        unknowns = unknowns + 0.5 * mismatch(unknowns)
    found = root(mismatch, unknowns, tol=1e-14, method="hybr")
    V, q, r = np.exp(found.x[0]), np.exp(found.x[1]), expit(found.x[2])
    m = r * np.sqrt(q)
    v, m_hat, _ = label_forces(at, V, m, q)
    kernel = features.aligned(lam, v) ** 2
    result = {"m": m, "q": q, "V": V, "residual": float(np.abs(mismatch(found.x)).max())}
    names = {"q1": True} | ({"q_init": False} if at["flips"] > 0 or at["tau"] > 0 else {})
    for name, same in names.items():

        def step(x: Any, same: bool = same) -> Any:
            return m_hat**2 * kernel + label_product(at, V, m, q, x, same) * kernel

        result[name] = _overlap(step, m**2)
    return {k: float(value) for k, value in result.items()}


def _overlap(step: Function, low: float) -> float:
    """The fixed point of a convex increasing map, by secants from the left."""
    start = low * (1 + 1e-9)
    found = root_scalar(lambda x: step(x) - x, x0=start, x1=step(start), xtol=1e-15, rtol=1e-14)
    return float(found.root)


# --- regression -----------------------------------------------------------------------------------


def residuals(at: dict[str, Any]) -> dict[str, float]:
    """Unit signal; unknowns V, q, m and, for a quantile, the intercept b."""
    features, tau, psi2 = Features(at["psi1"]), at["tau"], at["psi2"]
    lam = at["psi1"] * psi2 * at["ridge"]
    intercept = at["loss"].startswith("quantile")

    def forces(V: float, m: float, q: float, b: float) -> tuple[float, float, float, float]:
        """Moments over (ν + τε, ω): label y, output ω + b; the force acts on ω + b - y."""
        force = Force(at["loss"], False, V)
        variance = 1 - 2 * m + q + tau**2
        shift = [k - b for k in force.kinks]
        x, w = panels(np.sqrt(variance), shift, np.sqrt(variance))  # x = ω - y
        w = w * normal(x, variance)
        g, drop = force(x + b)
        # m̂ = E g (y - mω/q)/Var(y|ω), whose covariance with x = ω - y is -1
        align = -(w @ (g * x)) / variance
        return psi2 * (w @ drop), psi2 * align, psi2 * (w @ (g * g)), w @ g

    def mismatch(unknowns: Any) -> Any:
        V, q, m, b = np.exp(unknowns[0]), np.exp(unknowns[1]), unknowns[2], unknowns[3]
        v, m_hat, q_hat, mean = forces(V, m, q, b)
        new = features.step(lam, v, m_hat, q_hat, 1.0)
        target = np.log(new[0]), np.log(new[2]), new[1], b + V * mean if intercept else 0.0
        return np.array(target) - unknowns

    unknowns = np.array([0.0, 0.0, 0.5, 0.0])
    for _ in range(200):
        unknowns = unknowns + 0.3 * mismatch(unknowns)
    found = root(mismatch, unknowns, tol=1e-14)
    V, q, m, b = np.exp(found.x[0]), np.exp(found.x[1]), found.x[2], found.x[3]
    v, m_hat, _, _ = forces(V, m, q, b)
    kernel = features.aligned(lam, v) ** 2
    force = Force(at["loss"], False, V)

    def product(q12: float, same: bool) -> float:
        """Residuals x = ω - y of both members, a bivariate Gaussian."""
        variance = 1 - 2 * m + q + tau**2
        common = 1 - 2 * m + q12 + (tau**2 if same else 0.0)
        own = variance - common**2 / variance
        shift = [k - b for k in force.kinks]
        x, w = panels(np.sqrt(variance), shift, np.sqrt(own))
        w = w * normal(x, variance)
        g = force(x + b)[0]
        law = np.exp(-0.5 * (x[None] - common / variance * x[:, None]) ** 2 / own)
        law /= np.sqrt(2 * np.pi * own) * normal(x, variance)
        return float(psi2 * (w * g) @ law @ (w * g))

    result = {"m": m, "q": q, "V": V, "residual": float(np.abs(mismatch(found.x)).max())}
    if intercept:
        result["intercept"] = b
    for name, same in (("q1", True), ("q_init", False)):

        def step(x: Any, same: bool = same) -> Any:
            return m_hat**2 * kernel + product(x, same) * kernel

        result[name] = _overlap(step, m**2)
    return {k: float(value) for k, value in result.items()}


def main() -> None:
    rows = []
    for at in POINTS:
        solve = classes if "flips" in at else residuals
        rows.append(at | solve(at))
        print(rows[-1], flush=True)
    STORED.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
