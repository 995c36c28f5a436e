"""One browser and one file server for all tests of the page in Chromium."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.page import chromium, serving

expect.set_options(timeout=1000 * serving.WAIT)  # 5 s by default: a busy machine needs more

Opener = Callable[..., Page]
"""Opens the page with a query, and options of the browser's context."""


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


@pytest.fixture
def opened(browser: Browser, file_server: str) -> Iterator[Opener]:
    """Open the page; errors on a console, and requests to other hosts, fail the test."""
    contexts, errors = [], []

    def open_(query: str = "", *, base: str = file_server, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        contexts.append(context)
        context.set_default_timeout(1000 * serving.WAIT)
        context.on("weberror", lambda error: errors.append(str(error.error)))
        context.on("console", lambda line: errors.extend([line.text] * (line.type == "error")))
        context.on("request", lambda request: errors.extend(_foreign(request.url, base)))
        page = context.new_page()
        if options.get("java_script_enabled", True):
            visit(page, query, base)
        else:
            page.goto(base)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert not errors


def visit(page: Page, query: str, base: str = "") -> None:
    """Load the page with a query in a tab, by default where its page is from."""
    page.goto(f"{base or page.url.partition('?')[0]}?{query}")
    page.wait_for_selector("html.ready")


def _foreign(url: str, base: str) -> list[str]:
    return [] if url.startswith((base, "data:", "blob:")) else [f"request to {url}"]
