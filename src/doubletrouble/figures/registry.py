"""All figures of the gallery, in its order; a new figure is one module and one entry here."""

from typing import Any

from doubletrouble.figures.decomposition import FIGURE as DECOMPOSITION
from doubletrouble.figures.spec import FigureSpec

FIGURES: dict[str, FigureSpec[Any]] = {spec.name: spec for spec in (DECOMPOSITION,)}
