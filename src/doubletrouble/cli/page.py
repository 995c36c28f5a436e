"""The live page, served from this machine."""

from typing import Annotated

import typer

from doubletrouble.cli.output import note
from doubletrouble.page.server import LOOPBACK, serve


def page(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to serve on; 0: one that is free.")
    ] = 0,
    host: Annotated[
        str,
        typer.Option(help="The address to serve on; only this machine reaches the default."),
    ] = LOOPBACK,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.")
    ] = False,
) -> None:
    """Open a page with sliders: exact curves, simulations and advice, live.

    It runs on this machine until Ctrl-C, and contacts no other. All settings of the page are in its
    address, so that a view can be bookmarked and shared.
    """
    serve(host=host, port=port, browser=not no_browser, tell=note)
