"""The enumerated list of curves on which theory and simulation must agree."""

import math
from dataclasses import dataclass

import doubletrouble as dt
from doubletrouble.simulation import Model

MEMBERS = (1.0, 2.0, 10.0, math.inf)
DIVIDED = (2.0, 10.0)
ENSEMBLES = (*map(dt.Ensemble, MEMBERS), *map(dt.Divide, DIVIDED))
NEAR = (0.1, 0.3, 0.7, 0.95, 1.0, 1.05, 1.5, 3.0)  # P/N
ACROSS = (*NEAR, 10.0)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One curve over P/N; a linear teacher of norm 1, a nonlinear part, label noise."""

    activation: str
    model: Model = "features"
    ridge: float = 1e-3
    samples_per_dim: float = 1.0
    ratios: tuple[float, ...] = ACROSS
    noise: float = 0.5
    nonlinear_signal: float = 0.5

    @property
    def name(self) -> str:
        """What tells this curve from the others."""
        return (
            f"{self.model}, {self.activation}, N/D = {self.samples_per_dim:g}, λ = {self.ridge:g}"
        )

    @property
    def problem(self) -> dt.Problem:
        """The first point of the curve."""
        return dt.Problem(
            features_per_dim=self.widths[0],
            samples_per_dim=self.samples_per_dim,
            ridge=self.ridge,
            noise=self.noise,
            nonlinear_signal=self.nonlinear_signal,
            activation=self.activation,
        )

    @property
    def widths(self) -> list[float]:
        """P/D of every point."""
        return [ratio * self.samples_per_dim for ratio in self.ratios]


CURVES = (
    Curve(activation="relu"),
    Curve(activation="tanh"),
    Curve(activation="erf"),
    Curve(activation="abs"),
    Curve(activation="relu", ridge=0.1),
    Curve(activation="relu", ridge=1e-5, ratios=(0.1, 0.3, 3.0, 10.0)),
    Curve(activation="relu", samples_per_dim=2.0, ratios=(0.1, 0.5, 0.95, 1.05, 2.0)),
    Curve(activation="tanh", samples_per_dim=0.5, ridge=1e-2),
    Curve(activation="relu", model="gaussian", ratios=NEAR),
    Curve(activation="sign", model="gaussian", ridge=1e-2, ratios=NEAR),
    Curve(activation="relu", model="kernel", ridge=1e-2, ratios=(math.inf,)),
    Curve(activation="erf", model="kernel", ridge=0.1, ratios=(math.inf,)),
)
