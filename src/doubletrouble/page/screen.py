"""Where a plot is looked at, and the colours it has there."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from doubletrouble import palette

PART = "part-"
"""How the names of parts begin in the style sheet."""


@dataclass(frozen=True, kw_only=True)
class Screen:
    """Dark or light, narrow or wide, and what of the axes is looked at."""

    dark: bool = False
    narrow: bool = False
    zoom: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # in units of the axes

    def colors(self, split: str = "causes") -> Mapping[str, str]:
        """The colour of each part of a split."""
        known = palette.EFFECTS if split == "effects" else palette.CAUSES
        return known[self._paper]

    @property
    def ink(self) -> str:
        """Of words and axes."""
        return palette.PAPER[self._paper]["ink"]

    @property
    def soft(self) -> str:
        """Of what should not be seen first."""
        return palette.PAPER[self._paper]["soft"]

    @property
    def rule(self) -> str:
        """Of the grid."""
        return palette.PAPER[self._paper]["rule"]

    @property
    def paper(self) -> str:
        """Of the background."""
        return palette.PAPER[self._paper]["paper"]

    @property
    def _paper(self) -> str:
        return "dark" if self.dark else "light"


def style() -> str:
    """The same colours for the style sheet, by the scheme of the reader's system."""
    light, dark = (
        "".join(f"--{name}: {color}; " for name, color in colors.items())
        for colors in (_named("light"), _named("dark"))
    )
    return (
        f"<style>:root {{ {light}}} "
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}</style>"
    )


def _named(paper: str) -> dict[str, str]:
    parts = palette.CAUSES[paper] | palette.EFFECTS[paper] | palette.CAUSES[paper]
    return palette.PAPER[paper] | {PART + name: color for name, color in parts.items()}
