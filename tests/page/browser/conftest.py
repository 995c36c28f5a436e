"""One server and one browser for all these tests.

They end with this package: while Playwright runs, no other test could run an event loop.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.page import chromium
from tests.page.serving import served

pytest.register_assert_rewrite("tests.page.browser.shown")

from tests.page.browser.shown import Shown  # noqa: E402

Opener = Callable[..., Shown]


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    with served() as found:
        yield found


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
def _kept(browser: Browser, address: str) -> Iterator[Shown]:
    """A page that stays open: to load one takes longer than most tests."""
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    shown = Shown(context.new_page(), address)
    shown.open()
    yield shown
    context.close()


@pytest.fixture
def shown(_kept: Shown) -> Iterator[Shown]:
    """The page with nothing set."""
    _kept.go("")
    yield _kept
    _kept.check_quiet()


@pytest.fixture(scope="package")
def _pocketed(browser: Browser, address: str) -> Iterator[Shown]:
    """The same on a telephone."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    shown = Shown(context.new_page(), address)
    shown.open()
    yield shown
    context.close()


@pytest.fixture
def telephone(_pocketed: Shown) -> Iterator[Shown]:
    """The page with nothing set, on a telephone."""
    _pocketed.go("")
    yield _pocketed
    _pocketed.check_quiet()


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Opener]:
    """A way to open the page anew, on another screen or with another address."""
    contexts, pages = [], []

    def open_(query: str = "", width: int = 1600, **options: Any) -> Shown:
        viewport = {"width": width, "height": 1000 if width > 700 else 740}
        context = browser.new_context(viewport=viewport, **options)  # type: ignore[arg-type]
        contexts.append(context)
        shown = Shown(context.new_page(), address)
        pages.append(shown)
        shown.open(query)
        return shown

    yield open_
    for shown in pages:
        shown.check_quiet()
    for context in contexts:
        context.close()
