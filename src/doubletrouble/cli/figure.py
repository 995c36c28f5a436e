"""The figures of the paper, one or all."""

import json as notation
import re
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from doubletrouble.cli.output import note, show, show_json
from doubletrouble.figures.gallery import write_gallery
from doubletrouble.figures.make import make_figure
from doubletrouble.figures.registry import FIGURES
from doubletrouble.figures.spec import PRESETS, PresetName
from doubletrouble.ranges import numbers

PresetFlag = Annotated[
    str,
    typer.Option(
        help="How large: laptop (a minute in all), or paper (more simulated points and draws).",
        autocompletion=lambda: list(PRESETS),
    ),
]
Out = Annotated[Path, typer.Option(help="The folder to write into.")]


def figure(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A figure by name; their names and titles if left out.",
            autocompletion=lambda: list(FIGURES),
        ),
    ] = None,
    preset: PresetFlag = PRESETS[0],
    out: Out = Path("out"),
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE: another value of a parameter of the figure."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make one figure of the paper, or beyond it: PNG, PDF, SVG, and its numbers as CSV.

    Prints the files, and how well theory, simulation and the authors' values agree. Parameters of a
    figure, such as its ridges, are changed by --set, with values as in JSON, or a range of numbers:
    --set ridges=[1e-3].
    """
    if name is None:
        for spec in FIGURES.values():
            show(f"{spec.name:<28} {spec.title}")
        return
    made = make_figure(name, out, preset=cast(PresetName, preset), options=_options(set_ or []))
    if json:
        show_json({"files": [str(file) for file in made.files], "agreement": list(made.agreement)})
        return
    for line in (*map(str, made.files), *made.agreement):
        show(line)
    if not made.remade:
        note("the files were up to date")
    if set_ and (out / "index.html").exists():
        note(f"{out / 'index.html'} tells of the figure as it was; `doubletrouble reproduce` "
             "makes both agree again")  # fmt: skip


def reproduce(preset: PresetFlag = PRESETS[0], out: Out = Path("out")) -> None:
    """Make every figure of the paper, those beyond it, and a page to open, `index.html`.

    What is up to date stays as it is: a run that was stopped goes on where it was.
    """
    show(str(write_gallery(out, preset=cast(PresetName, preset), progress=True)))


def _options(words: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs; what is not JSON is text."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ValueError(f"--set must be NAME=VALUE, got {word!r}")
        found[name.replace("-", "_")] = _value(text)
    return found


def _value(text: str) -> Any:
    """A value as in JSON, where inf is a number; a range of numbers; or text.

    >>> _value("[1, inf]"), _value("0.1:10:log:3"), _value("relu")
    ([1, inf], [0.1, 1.0, 10.0], 'relu')
    """
    try:
        return notation.loads(re.sub(r"\binf\b", "Infinity", text))
    except ValueError:
        return list(numbers("--set", text)) if text.count(":") == 3 else text
