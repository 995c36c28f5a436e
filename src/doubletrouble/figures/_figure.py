"""A figure: its settings, data, drawing, table, comparisons and texts, and the files it becomes.

The same input gives the same bytes in every file.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from doubletrouble.errors import file_errors
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._agreement import Agreement
from doubletrouble.figures._panel import PanelTable
from doubletrouble.figures._settings import STORE, FigureSettings
from doubletrouble.parameters import check_choice

FigureData = TypeVar("FigureData")

PresetName: TypeAlias = Literal["laptop", "paper"]
PRESETS: tuple[PresetName, ...] = get_args(PresetName)
"""All figures in two minutes, or with simulations as large as the paper's and denser grids."""

SIMULATIONS = "simulations.sqlite"  # the file of finished simulations, in the output folder
FORMATS = ("png", "pdf", "svg", "csv")
PIXELS = 1600  # width of a PNG
PAPER = "d’Ascoli et al. (2020)"


def no_comparison(_: Any) -> tuple[Agreement, ...]:
    """The comparisons of a figure without a reference: none."""
    return ()


@dataclass(frozen=True, kw_only=True)
class FigureSpec(Generic[FigureData]):
    """A figure of the gallery; `name` is also the stem of its files."""

    name: str
    title: str
    caption: str  # plain text, one paragraph a line
    alt: str  # alternative text for screen readers
    settings: FigureSettings  # with the defaults of the figure
    data: Callable[[Any], FigureData]  # of the settings
    plot: Callable[[FigureData], "drawing.Figure"]
    table: Callable[[FigureData], PanelTable]
    number: int | None = None  # of the figure in the paper; None: beyond the paper
    agreement: Callable[[FigureData], Sequence[Agreement]] = no_comparison
    notes: tuple[str, ...] = ()  # differences from the paper, one statement a line
    presets: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The figure of the paper that this one reproduces."""
        return f"Beyond {PAPER}" if self.number is None else f"Figure {self.number} of {PAPER}"

    @property
    def arguments(self) -> dict[str, object]:
        """The parameters of the figure by name, with their defaults except None."""
        values = {f.name: getattr(self.settings, f.name) for f in fields(self.settings)}
        return {name: value for name, value in values.items() if value is not None}

    def compute(self, **options: Any) -> FigureData:
        """The data of the figure, with `options` in place of some of its parameters."""
        known = [f.name for f in fields(self.settings)]
        for name in options:
            if name not in known:
                listed = ", ".join(each for each in known if each != STORE)
                raise ValueError(f"options of {self.name} must be among {listed}, got {name!r}")
        return self.data(replace(self.settings, **options))

    def write(
        self,
        folder: str | Path,
        *,
        preset: PresetName = PRESETS[0],
        options: Mapping[str, object] | None = None,
    ) -> "WrittenFigure":
        """Compute and draw the figure, and write its files into `folder`.

        Finished simulations are stored in the folder and not repeated.
        """
        check_choice("preset", preset, PRESETS)
        if options and STORE in options:
            raise ValueError(
                f"{STORE} must be left out, as it is in the output folder, got {options[STORE]!r}"
            )
        changes = {**self.presets.get(preset, {}), **(options or {})}
        out = writable(folder)
        store = {STORE: out / SIMULATIONS} if hasattr(self.settings, STORE) else {}
        data = self.compute(**changes, **store)
        files = {suffix: out / f"{self.name}.{suffix}" for suffix in FORMATS}
        figure = self.plot(data)
        if self.number is not None:
            drawing.corner_text(figure, f"Fig. {self.number} of {PAPER}")
        self._save_pictures(figure, files)
        with file_errors(files["csv"]):
            files["csv"].write_text(csv_text(self.table(data)), encoding="utf-8", newline="\n")
        return WrittenFigure(
            spec=self,
            preset=preset,
            arguments={**self.arguments, **changes},
            agreement=(*(str(one) for one in self.agreement(data) if one.count), *self.notes),
            files=tuple(files.values()),
        )

    def _save_pictures(self, figure: "drawing.Figure", files: Mapping[str, Path]) -> None:
        title = f"{self.title} ({self.source})"
        # By default matplotlib adds the date and its version.
        metadata: dict[str, dict[str, Any]] = {
            "png": {"Software": None, "Title": title},
            "pdf": {"Creator": None, "Producer": None, "CreationDate": None, "Title": title},
            "svg": {"Creator": None, "Date": None, "Title": title},
        }
        with drawing.house_style():
            for suffix, entries in metadata.items():
                dpi = PIXELS / figure.get_figwidth() if suffix == "png" else "figure"
                with file_errors(files[suffix]):
                    figure.savefig(files[suffix], format=suffix, dpi=dpi, metadata=entries)


@dataclass(frozen=True, kw_only=True)
class WrittenFigure:
    """A figure, the arguments it was made with, its files, and its statements of agreement."""

    spec: FigureSpec[Any]
    preset: PresetName
    arguments: Mapping[str, object]
    agreement: tuple[str, ...]  # one statement a line
    files: tuple[Path, ...]


def csv_text(table: PanelTable) -> str:
    """Format a table as comma-separated values from which the same floats are read.

    >>> csv_text(PanelTable(("x", "y"), [(0.1, 1 / 3)]))
    'x,y\\n0.1,0.3333333333333333\\n'
    """
    rows = [",".join(repr(float(value)) for value in row) for row in table.rows]
    return "\n".join([",".join(table.columns), *rows, ""])


def writable(folder: str | Path) -> Path:
    """The output folder, created if necessary; ValueError if it cannot be used."""
    shown, path = os.fspath(folder), Path(folder)
    if not shown:
        raise ValueError("the output folder must have a name, got ''")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"the output folder must be a folder, got the file {shown}") from None
    except OSError as error:
        raise ValueError(
            f"the output folder must be one that can be made, got {shown}: {error.strerror}"
        ) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"the output folder must be writable, got {shown}")
    return path
