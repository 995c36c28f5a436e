"""Make one figure: its pictures, its numbers, and a note of what they were made from."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doubletrouble.figures import stamp
from doubletrouble.figures.registry import FIGURES
from doubletrouble.figures.save import FORMATS, save
from doubletrouble.figures.spec import PRESETS, STORE, FigureSpec, PresetName

SIMULATIONS = "simulations.sqlite"
"""The store beside the figures that keeps every finished simulation."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """A figure that was made, or found up to date."""

    spec: FigureSpec[Any]
    preset: PresetName
    arguments: Mapping[str, object]
    agreement: tuple[str, ...]  # one statement a line
    files: tuple[Path, ...]
    remade: bool


def make_figure(
    name: str,
    folder: str | Path,
    *,
    preset: PresetName = PRESETS[0],
    options: Mapping[str, object] | None = None,
    figures: Mapping[str, FigureSpec[Any]] = FIGURES,
) -> Made:
    """Write `name`.png, .pdf, .svg and .csv into `folder`, unless they are there and up to date.

    `preset` and then `options` replace arguments of the figure's data function. Finished
    simulations are kept in the folder, so that a run that was stopped goes on where it was.
    """
    if name not in figures:
        raise ValueError(f"figure must be one of {', '.join(figures)}, got {name!r}")
    spec = figures[name]
    arguments = spec.with_preset(preset, options)
    place = usable(folder)
    files = tuple(place / f"{name}.{suffix}" for suffix in FORMATS)
    agreement = stamp.read(place, name, arguments)
    if remade := agreement is None:
        stamp.path_of(place, name).unlink(missing_ok=True)
        kept = {STORE: place / SIMULATIONS} if spec.simulates else {}
        data = spec.data(**arguments, **kept)
        save(place / name, spec.plot(data), spec.table(data))
        agreement = list(spec.agreement(data))
        stamp.write(place, name, arguments, files, agreement)
    return Made(
        spec=spec, preset=preset, arguments=arguments, agreement=tuple(agreement or ()),
        files=files, remade=remade,
    )  # fmt: skip


def usable(folder: str | Path) -> Path:
    """Create the folder if necessary, or raise ValueError."""
    shown, place = os.fspath(folder), Path(folder)
    if not shown:
        raise ValueError("the output folder must have a name, got ''")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"the output folder must be a folder, got the file {shown}") from None
    except OSError as error:
        raise ValueError(f"cannot make the output folder {shown}: {error.strerror}") from error
    if not os.access(place, os.W_OK | os.X_OK):
        raise ValueError(f"the output folder must be writable, got {shown}")
    return place
