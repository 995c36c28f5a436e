"""Commands of figures: one figure, all of them, and the live page."""

import json as json_format
import re
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from doubletrouble.cli._output import note, show
from doubletrouble.figures import FIGURES, PRESETS, PresetName, make_figure, write_gallery
from doubletrouble.page import LOOPBACK, PORT, serve, write_static
from doubletrouble.ranges import numbers

PresetFlag = Annotated[
    str,
    typer.Option(
        help="Amount of simulation: laptop (two minutes in all), or paper (more points and draws).",
        metavar="NAME",
        autocompletion=lambda: list(PRESETS),
    ),
]
Out = Annotated[Path, typer.Option(help="The folder to write into.", metavar="FOLDER")]


def figure(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The name of a figure; all figures are listed if it is omitted.",
            autocompletion=lambda: list(FIGURES),
        ),
    ] = None,
    preset: PresetFlag = PRESETS[0],
    out: Out = Path("out"),
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="NAME=VALUE: another value of a parameter of the figure.",
            metavar="NAME=VALUE",
        ),
    ] = None,
) -> None:
    """Make one figure of the paper, or beyond it: PNG, PDF, SVG, and its numbers as CSV.

    Prints its number in the paper, the files, and the agreement of theory, simulation and the
    authors' values. Parameters of a figure, such as its ridges, are changed by --set, with values
    as in JSON, or a range of numbers: --set ridges=[1e-3].
    """
    if name is None:
        for spec in FIGURES.values():
            number = "beyond" if spec.number is None else f"Fig. {spec.number}"
            show(f"{spec.name:<30} {number:<8} {spec.title}")
        return
    options = _options(set_ or [])
    try:
        made = make_figure(name, out, preset=cast(PresetName, preset), options=options)
    except TypeError as error:  # a value of another type
        if not options:
            raise
        raise ValueError(str(error)) from error
    for line in (made.spec.source, *map(str, made.files), *made.agreement):
        show(line)
    if set_ and (out / "index.html").exists():
        note(
            f"{out / 'index.html'} shows the figure with other parameters; "
            "doubletrouble reproduce writes both again"
        )


def reproduce(preset: PresetFlag = PRESETS[0], out: Out = Path("out")) -> None:
    """Make every figure of the paper, those beyond it, and a gallery in HTML, `index.html`.

    Finished simulations are stored in the folder: an interrupted run continues with the next one.
    """
    show(str(write_gallery(out, preset=cast(PresetName, preset), progress=True)))


def _options(words: list[str]) -> dict[str, Any]:
    """NAME=VALUE pairs; values that are not JSON are text."""
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise ValueError(f"--set must be NAME=VALUE, got {word!r}")
        options[name.replace("-", "_")] = _value(text)
    return options


def _value(text: str) -> Any:
    """A value as in JSON, where inf is a number; a range of numbers; or text.

    >>> _value("[1, inf]"), _value("0.1:10:log:3"), _value("relu")
    ([1, inf], [0.1, 1.0, 10.0], 'relu')
    """
    try:
        return json_format.loads(re.sub(r"\binf\b", "Infinity", text))
    except ValueError:
        return list(numbers("--set", text)) if text.count(":") == 3 else text


def page(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to serve on; 0: a free one.")
    ] = PORT,
    host: Annotated[
        str,
        typer.Option(help="The address to serve on; the default is local to this machine."),
    ] = LOOPBACK,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(help="Write the page into this folder, for any file server, and end."),
    ] = None,
) -> None:
    """Open a page that explains double descent, with exact curves, simulations and advice.

    It runs on this machine until Ctrl-C, and contacts no other. All settings of the page are in its
    address, so that a view can be bookmarked and shared.
    """
    if export is not None:
        show(str(write_static(export)))
        return
    serve(host=host, port=port, browser=not no_browser, report=note)
