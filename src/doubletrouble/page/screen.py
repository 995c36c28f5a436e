"""Where a plot is looked at, and the colours it has there."""

from collections.abc import Mapping
from dataclasses import dataclass

from doubletrouble import palette


@dataclass(frozen=True, kw_only=True)
class Screen:
    """Where the plot is looked at."""

    dark: bool = False
    narrow: bool = False

    def colors(self, split: str = "causes") -> Mapping[str, str]:
        """The colour of each part of a split."""
        known = palette.EFFECTS if split == "effects" else palette.CAUSES
        return known["dark" if self.dark else "light"]

    @property
    def ink(self) -> str:
        """Of words and axes."""
        return "#e8e8e8" if self.dark else "#1b1b1b"

    @property
    def soft(self) -> str:
        """Of what should not be seen first."""
        return "#a8adb5" if self.dark else "#5a5a5a"

    @property
    def rule(self) -> str:
        """Of the grid."""
        return "#33383f" if self.dark else "#e6e6e6"

    @property
    def paper(self) -> str:
        """Of the background."""
        return "#16181c" if self.dark else "#ffffff"
