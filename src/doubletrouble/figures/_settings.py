"""The settings of a figure: one frozen dataclass, each field with its symbol and meaning.

The defaults are those of the figure; presets and options replace fields by name, and the gallery
lists the values in use. Constants and simulations that figures share are in base classes.
"""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from doubletrouble import glossary
from doubletrouble.parameters import Numeric, Parameter
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.spectra import PowerLaw

GridBounds: TypeAlias = tuple[float, float, int]
"""The first value, the last, and their number, evenly spaced in log."""

RANGE = "from, to, number of values"
STORE = "store"  # the field with the file of finished simulations, which is not listed


def setting(default: Any, declared: Parameter | str, meaning: str = "") -> Any:
    """A field of the settings: its default, its symbol, and its meaning unless declared."""
    symbol = declared
    if isinstance(declared, Parameter):
        symbol, meaning = declared.symbol, meaning or declared.meaning
    return field(default=default, metadata={"symbol": symbol, "meaning": meaning})


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureSettings:
    """Base of the settings of all figures."""

    @property
    def problem(self) -> Problem:
        """The problem with the constants among the settings; the others have their defaults."""
        return Problem(**self.constants)

    @property
    def constants(self) -> dict[str, Any]:
        """The settings that are fields of a problem."""
        names = {f.name for f in fields(self)} & {f.name for f in fields(Problem)}
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True, eq=False)
class TermSettings(FigureSettings):
    """The constants on which the terms Ψ depend."""

    ridge: float = setting(1e-5, glossary.RIDGE)
    samples_per_dim: float = setting(1.0, glossary.SAMPLES_PER_DIM)
    activation: str = setting("relu", "σ", "activation function")


@dataclass(frozen=True, kw_only=True, eq=False)
class SignalSettings(TermSettings):
    """The constants of a figure with several signal-to-noise ratios."""

    signal: float = setting(1.0, glossary.SIGNAL)


@dataclass(frozen=True, kw_only=True, eq=False)
class ErrorSettings(SignalSettings):
    """The constants on which the test error depends."""

    noise: float = setting(1.0, glossary.NOISE)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassSettings(FigureSettings):
    """The constants of a figure on classification."""

    ridge: float = setting(1e-4, glossary.RIDGE)
    samples_per_dim: float = setting(2.0, glossary.SAMPLES_PER_DIM)
    flips: float = setting(0.0, glossary.FLIPS)
    activation: str = setting("relu", "σ", "activation function")

    @property
    def problem(self) -> Problem:
        """The problem of classification with the constants among the settings."""
        return Problem(task="classification", **self.constants)


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawSettings(FigureSettings):
    """The size of the simulations of a figure, their seed, and the store of finished ones."""

    dim: int = setting(200, glossary.WHOLE_DIM, "input dimensions of the simulation")
    n_data: int = setting(
        10, "draws", "independent draws of data and features; four times as many at D/2"
    )
    seed: int = setting(0, "seed", "of the random numbers")
    store: str | Path | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulationSettings(DrawSettings):
    """The settings of simulations that have several sets of features in each draw."""

    n_init: int = setting(4, "feature sets", "sets of random features in each draw")


@dataclass(frozen=True, kw_only=True, eq=False)
class LawSettings(FigureSettings):
    """The constants of a figure on a power-law spectrum."""

    capacity: float = setting(1.5, glossary.CAPACITY)
    source: float = setting(0.8, glossary.SOURCE)
    noise: float = setting(0.1, glossary.NOISE)

    def at(self, n_features: Numeric, n_samples: Numeric, **others: Any) -> SpectralProblem:
        """The problem of the law with these sizes."""
        law = PowerLaw(capacity=self.capacity, source=self.source)
        sizes = {"n_features": n_features, "n_samples": n_samples}
        return SpectralProblem.from_law(law, **{"noise": self.noise, **sizes, **others})
