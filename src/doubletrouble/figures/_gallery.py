"""All figures, and one page, `index.html`, that shows them with captions, parameters and commands.

The page contains the pictures and refers only to files in its folder: it can be opened from disk,
sent or served. A new figure is one module and one entry in `FIGURES`.
"""

import math
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from doubletrouble import glossary
from doubletrouble.figures import (
    _anova,
    _asymptotics,
    _bagging,
    _committee,
    _decomposition,
    _divide_and_conquer,
    _double_descent,
    _ensemble_or_regularize_map,
    _ensemble_vs_overparametrize,
    _ensemble_vs_regularize,
    _equivalences,
    _lazy,
    _network_diagrams,
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
from doubletrouble.parameters import declarations
from doubletrouble.problems import Problem
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

    `preset` and then `options` replace arguments of the figure's data function. Finished
    simulations are stored in the folder: an interrupted run continues with the next one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = make_figure("decomposition", folder, options={"ratios": [0.5, 1.0, 2.0]})
    >>> [file.name for file in made.files]
    ['decomposition.png', 'decomposition.pdf', 'decomposition.svg', 'decomposition.csv']
    """
    if isinstance(figure, FigureSpec):
        return figure.write(folder, preset=preset, options=options)
    if figure not in FIGURES:
        raise ValueError(f"figure must be one of {', '.join(FIGURES)}, got {figure!r}")
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


# Symbol and meaning of arguments of data functions that are not fields of a problem.
_OTHERS = {
    "n_members": (glossary.N_MEMBERS.symbol, glossary.N_MEMBERS.meaning),
    "ensemble": (glossary.N_MEMBERS.symbol, "models averaged, or an ensemble"),
    "dim": (glossary.WHOLE_DIM.symbol, "input dimensions of the simulation"),
    "n_data": ("draws", "independent draws of data and features; four times as many at D/2"),
    "n_init": ("feature sets", "sets of random features in each draw"),
    "seed": ("seed", "of the random numbers"),
    "simulated_ratios": ("P/N", "where to simulate: from, to, number of values"),
    "ratio_range": ("P/N", "features per sample: from, to, number of values"),
    "snr": ("F/τ", "signal-to-noise ratio"),
    "snr_range": ("F/τ", "signal-to-noise ratio: from, to, number of values"),
    "ridge_range": ("λ", "penalty: from, to, number of values"),
    "gain_ridge": ("λ", "penalty of the third panel"),
    "fraction": ("fraction", "of the samples, that each member draws"),
    "fraction_range": ("fraction", "of the samples that each member has: from, to, number"),
    "split_ratio": ("P/N", "of the splits"),
    "member_ratios": ("P/N", "of the members"),
    "cuts": ("P/N", "of the cuts through the maps"),
    "time_range": ("t", "training time: from, to, number of values"),
    "simulated_times": ("t", "where to simulate: from, to, number of values"),
    "third_snr": ("F/τ", "signal-to-noise ratio of the third panel"),
    "middle": ("K, F/τ, N/D", "where they are not varied"),
    "activation": ("σ", "activation function"),
    "source": ("source", "results stored with the package, or a run"),
    "laziness": (glossary.LAZINESS.symbol, glossary.LAZINESS.meaning),
    "widths": (glossary.WIDTH.symbol, glossary.WIDTH.meaning),
    "data": ("data", "by name, see load_data"),
    "n_train": (glossary.N_SAMPLES.symbol, glossary.N_SAMPLES.meaning),
    "loss": ("loss", "of the training"),
    "learning_rate": (glossary.LEARNING_RATE.symbol, glossary.LEARNING_RATE.meaning),
    "max_steps": ("steps", "of training, at most"),
    "inputs_shown": ("inputs", "drawn before the dots"),
    "features_shown": ("features", "drawn before the dots"),
    "models_shown": ("models", "drawn before the dots"),
    "features_per_model": ("features", "drawn in each model"),
}


def _page(figures: Sequence[WrittenFigure], preset: PresetName) -> str:
    links = (f'<a href="#{f.spec.name}">{escape(f.spec.title)}</a>' for f in figures)
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
        settings="\n".join(_setting(*item) for item in figure.arguments.items()),
        links=" · ".join(links),
        preset=figure.preset,
    )


def _setting(name: str, value: object) -> str:
    """One row of the parameter list, with the symbol and meaning from the declaration."""
    known = {n: (p.symbol, p.meaning) for n, p in declarations(Problem).items()} | _OTHERS
    entry = known.get(name) or known.get(name.removesuffix("s"))
    symbol, meaning = entry or (name.replace("_", " "), "")
    values = value if isinstance(value, list | tuple) else (value,)
    cells = (symbol, ", ".join(map(_number, values)), meaning.replace("`math.inf`", "∞"))
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _number(value: object) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return "∞" if value == math.inf else f"{value:g}"
