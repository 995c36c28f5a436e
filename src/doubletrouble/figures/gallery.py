"""Make every figure and one page, `index.html`, with the figures and the code that remakes them.

The page refers only to files beside it: it can be opened from disk, mailed or put on a server.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from doubletrouble.figures.html import page
from doubletrouble.figures.make import make_figure, usable
from doubletrouble.figures.registry import FIGURES
from doubletrouble.figures.spec import PRESETS, FigureSpec, PresetName


def write_gallery(
    folder: str | Path,
    figures: Mapping[str, FigureSpec[Any]] = FIGURES,
    *,
    preset: PresetName = PRESETS[0],
    progress: bool = False,
) -> str:
    """Write all figures, their numbers and the page into `folder`; return the page's path.

    Figures that are there and up to date are not made again, so that a run that was stopped goes
    on where it was. `progress=True` shows a bar on stderr. A folder that cannot be used raises
    `ValueError`.
    """
    place, made = usable(folder), []
    with tqdm(total=len(figures), desc="figures", unit="figure", disable=not progress) as bar:
        for name in figures:
            bar.set_postfix_str(name)
            made.append(make_figure(name, place, preset=preset, figures=figures))
            bar.update()
        bar.set_postfix_str("")
    (place / "index.html").write_text(page(made, preset), encoding="utf-8", newline="\n")
    return os.path.join(folder, "index.html")  # Path would rewrite what the user typed
