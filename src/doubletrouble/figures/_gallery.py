"""All figures, and one page, `index.html`, that shows them with captions, parameters and commands.

The page contains the pictures and refers only to files in its folder: it can be opened from disk,
sent or served. A new figure is one module and one entry in `FIGURES`.
"""

import math
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from doubletrouble.figures import (
    _anova,
    _asymptotics,
    _bagging,
    _calibration,
    _classification,
    _committee,
    _decomposition,
    _divide_and_conquer,
    _double_descent,
    _ensemble_or_regularize_map,
    _ensemble_vs_overparametrize,
    _ensemble_vs_regularize,
    _equivalences,
    _forecast,
    _frontier,
    _hinge_ensemble,
    _huber,
    _lazy,
    _losses_ensemble_or_regularize,
    _network_diagrams,
    _no_free_lunch,
    _phases,
    _power_law_peak,
    _scaling_laws,
    _separability,
    _term_by_term,
    _training_time,
    _under_or_over,
)
from doubletrouble.figures._figure import (
    FORMATS,
    PRESETS,
    FigureSpec,
    PresetName,
    WrittenFigure,
    writable,
)
from doubletrouble.parameters import check_choice
from doubletrouble.runs import progress_bar

_FOLDER = Path(__file__).parent

FIGURES: dict[str, FigureSpec[Any]] = {
    spec.name: spec
    for spec in (
        _network_diagrams.SINGLE,
        _term_by_term.FIGURE,
        _decomposition.FIGURE,
        _network_diagrams.MULTIPLE,
        _double_descent.FIGURE,
        _decomposition.MULTIPLE_K,
        _ensemble_vs_overparametrize.FIGURE,
        _ensemble_vs_regularize.FIGURE,
        _lazy.FIGURE,
        _asymptotics.FIGURE,
        _divide_and_conquer.FIGURE,
        _under_or_over.FIGURE,
        _anova.FIGURE,
        _ensemble_or_regularize_map.FIGURE,
        _bagging.FIGURE,
        _equivalences.FIGURE,
        _committee.FIGURE,
        _training_time.FIGURE,
        _forecast.FIGURE,
        _classification.FIGURE,
        _classification.CAUSES_FIGURE,
        _separability.FIGURE,
        _losses_ensemble_or_regularize.FIGURE,
        _hinge_ensemble.FIGURE,
        _huber.FIGURE,
        _calibration.FIGURE,
        _power_law_peak.FIGURE,
        _scaling_laws.FIGURE,
        _phases.FIGURE,
        _no_free_lunch.FIGURE,
        _frontier.FIGURE,
    )
}
"""The figures of the paper in its order, then those beyond it."""


def make_figure(
    figure: str | FigureSpec[Any],
    folder: str | Path,
    *,
    preset: PresetName = PRESETS[0],
    options: Mapping[str, object] | None = None,
) -> WrittenFigure:
    """Write a figure, by name or as a `FigureSpec`, as PNG, PDF, SVG and CSV into `folder`.

    `preset` and then `options` replace settings of the figure. Finished
    simulations are stored in the folder: an interrupted run continues with the next one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = make_figure("decomposition", folder, options={"ratios": [0.5, 1.0, 2.0]})
    >>> [file.name for file in made.files]
    ['decomposition.png', 'decomposition.pdf', 'decomposition.svg', 'decomposition.csv']
    """
    if isinstance(figure, FigureSpec):
        return figure.write(folder, preset=preset, options=options)
    check_choice("figure", figure, FIGURES)
    return FIGURES[figure].write(folder, preset=preset, options=options)


def write_gallery(
    folder: str | Path,
    figures: Sequence[str | FigureSpec[Any]] = tuple(FIGURES),
    *,
    preset: PresetName = PRESETS[0],
    progress: bool = False,
) -> str:
    """Write all figures, their numbers and the page into `folder`; return the page's path.

    Finished simulations are stored in the folder: an interrupted run continues with the next one.
    `progress=True` shows a bar on stderr. A folder that cannot be used raises `ValueError`.
    """
    writable(folder)  # before the progress bar
    written = []
    with progress_bar(len(figures), unit="figure", progress=progress) as bar:
        for figure in figures:
            written.append(make_figure(figure, folder, preset=preset))
            bar.update()
    index = os.path.join(folder, "index.html")  # Path would change the spelling of `folder`
    Path(index).write_text(_page(written, preset), encoding="utf-8", newline="\n")
    return index


def _contents(spec: FigureSpec[Any]) -> str:
    """The line of a figure in the list of contents."""
    return spec.title if spec.number is None else f"Fig. {spec.number}: {spec.title}"


def _page(figures: Sequence[WrittenFigure], preset: PresetName) -> str:
    links = (f'<a href="#{f.spec.name}">{escape(_contents(f.spec))}</a>' for f in figures)
    template = Template((_FOLDER / "gallery.html").read_text(encoding="utf-8"))
    return template.substitute(
        command=f"doubletrouble reproduce --preset {preset} --out out",
        contents="\n".join(links),
        figures="\n".join(map(_section, figures)),
    )


def _section(figure: WrittenFigure) -> str:
    spec, name = figure.spec, escape(figure.spec.name)
    links = [f'<a href="{name}.{suffix}">{suffix.upper()}</a>' for suffix in FORMATS]
    statements = "".join(f"<li>{escape(text)}</li>" for text in figure.agreement)
    (picture,) = (file for file in figure.files if file.suffix == ".svg")
    template = Template((_FOLDER / "section.html").read_text(encoding="utf-8"))
    return template.substitute(
        name=name,
        picture=b64encode(picture.read_bytes()).decode(),
        title=escape(spec.title),
        source=escape(spec.source),
        alt=escape(spec.alt),
        caption="\n".join(f"<p>{escape(text)}</p>" for text in spec.caption.split("\n")),
        agreement=f'<ul class="agreement">{statements}</ul>' if statements else "",
        settings="\n".join(map(_row, parameter_rows(spec, figure.arguments))),
        links=" · ".join(links),
        preset=figure.preset,
    )


def parameter_rows(
    spec: FigureSpec[Any], arguments: Mapping[str, object] | None = None
) -> list[tuple[str, str, str, str]]:
    """The name, symbol, value and meaning of each parameter of a figure, as text."""
    metadata = {f.name: f.metadata for f in fields(spec.settings)}
    rows = []
    for name, value in (spec.arguments if arguments is None else arguments).items():
        values = value if isinstance(value, list | tuple) else (value,)
        meaning = metadata[name]["meaning"].replace("`math.inf`", "∞")
        symbol = metadata[name]["symbol"]
        rows.append((name, symbol, ", ".join(map(_number, values)), meaning))
    return rows


def _row(cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _number(value: object) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return "∞" if value == math.inf else f"{value:g}"
