"""One browser and one file server for all tests of the page in Chromium."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    WebError,
    expect,
    sync_playwright,
)

from tests.page import chromium, serving

expect.set_options(timeout=1000 * serving.WAIT)  # 5 s by default: a busy machine needs more

Opener = Callable[..., Page]
"""Opens a tab with some options, and the page in it with a query unless it is None."""
DESKTOP: ViewportSize = {"width": 1280, "height": 900}


@pytest.fixture(scope="package")
def file_server() -> Iterator[str]:
    """The address of the static page on a plain file server."""
    with serving.file_server() as address:
        yield address


@pytest.fixture(scope="package")
def page_server() -> Iterator[str]:
    """The address of a page that has a server."""
    with serving.served() as address:
        yield address


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = chromium.path()
    if path is None:
        pytest.skip(chromium.MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def context(browser: Browser, file_server: str) -> Iterator[BrowserContext]:
    """One context for all tests, so that files are loaded once."""
    with browser.new_context(base_url=file_server) as context:
        context.set_default_timeout(1000 * serving.WAIT)
        yield context


@pytest.fixture
def opened(context: BrowserContext, file_server: str) -> Iterator[Opener]:
    """Open the page in a tab; errors on a console, and requests to other hosts, fail the test."""
    errors: list[str] = []
    bases = {file_server, "data:", "blob:", "about:"}

    def note_error(error: WebError) -> None:
        errors.append(str(error.error))

    def note_line(line: ConsoleMessage) -> None:
        errors.extend([line.text] * (line.type == "error"))

    def note_request(request: Request) -> None:
        errors.extend([f"request to {request.url}"] * (not request.url.startswith(tuple(bases))))

    listeners: dict[Any, Any] = {
        "weberror": note_error,
        "console": note_line,
        "request": note_request,
    }

    def open_(
        query: str | None = "",
        *,
        base: str = file_server,
        viewport: ViewportSize = DESKTOP,
        reduced_motion: Literal["reduce", "no-preference"] = "no-preference",
    ) -> Page:
        bases.add(base)
        page = context.new_page()
        page.set_viewport_size(viewport)
        page.emulate_media(reduced_motion=reduced_motion)
        if query is not None:
            visit(page, query, base)
        return page

    for event, note in listeners.items():
        context.on(event, note)
    yield open_
    for page in context.pages:
        page.close()
    for event, note in listeners.items():
        context.remove_listener(event, note)
    assert not errors


def visit(page: Page, query: str, base: str = "/") -> None:
    """Load the page with a query in a tab, by default from the file server."""
    page.goto(f"{base}?{query}")
    page.wait_for_selector("html.ready")
