"""The site: generated tables and public names, and the built pages in a browser without a network.

The tests marked `full` need mkdocs; `make check-docs` runs them.
"""

import functools
import os
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Request, sync_playwright

import doubletrouble as dt
from doubletrouble.figures import FIGURES
from doubletrouble.losses import LOSSES
from doubletrouble.results import _HOMES as RESULTS
from tests.docs.pages import DOCS, ROOT, text_of
from tests.page import chromium
from tests.schemes import KINDS, example, sharing

# --- sources -------------------------------------------------------------------------------------


def test_every_public_name_is_described_once() -> None:
    api = "".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "api").glob("*.md")))
    described = re.findall(r"^::: doubletrouble\.(\w+)$", api, re.MULTILINE)
    modules = ["convex", "losses", "results", "theory"]
    assert sorted([*described, *modules, "__version__"]) == list(dt.__all__)
    assert [name for name in modules[:-2] if f"::: doubletrouble.{name}." not in api] == []
    results = re.findall(r"^::: doubletrouble\.\w+\.([A-Z]\w+)$", api, re.MULTILINE)
    assert set(RESULTS) <= set(results)
    losses = re.findall(r"^::: doubletrouble\.losses\.(\w+)$", api, re.MULTILINE)
    assert losses == ["Loss", *(kind.__name__ for kind in LOSSES.values())]


def test_every_figure_has_a_picture() -> None:
    assert {path.stem for path in (DOCS / "figures").glob("*.png")} == set(FIGURES)


def test_tables_of_schemes_are_those_of_the_code() -> None:
    page = text_of("ensembles.md")
    hook = runpy.run_path(str(DOCS / "hooks" / "support_table.py"))
    assert hook["on_page_markdown"](page) == page
    assert hook["shares_table"]() in page
    assert hook["support_table"]() in page


def test_shares_as_formulas_have_the_value_of_the_shares() -> None:
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=1.5)
    for kind in KINDS:
        if not kind.with_replacement:
            ensemble = example(kind, 4, problem)
            numbers = {"K": 4, "P": 3.0, "B": 7.5, "η": ensemble.options.get("fraction")}
            written = [float(eval(text, {}, numbers)) for text in kind.shares]
            samples, features, common = sharing(ensemble, problem)
            expected = pytest.approx([samples / 1.5, common / samples, features / 3.0])
            assert written == expected, kind.__name__


@pytest.mark.full
def test_citations_have_the_authors_and_the_year() -> None:
    hook = runpy.run_path(str(DOCS / "hooks" / "citations.py"))
    assert hook["NAMES"]["dascoli2020"] == "d'Ascoli et al. 2020"
    assert hook["NAMES"]["mei2019"] == "Mei and Montanari 2019"
    assert hook["NAMES"]["heskes1998"] == "Heskes 1998"
    assert len(hook["NAMES"]) == hook["REFERENCES"].read_text(encoding="utf-8").count("- **[")
    assert hook["linked"]("see `[mei2019]`") == "see [Mei and Montanari 2019][mei2019]"
    code = "```python\n# [mei2019]\n```"
    assert hook["linked"](code) == code


# --- the built site ------------------------------------------------------------------------------

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
READ = (
    *("index.html", "which.html", "mathematics.html", "gallery.html", "diagnose.html", "cli.html"),
    *("api/index.html", "api/theory.html", "notebooks/paper.html", "explore/index.html"),
)
"""Pages of every kind, for axe-core."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a missing page, link, anchor, name or figure is an error."""
    folder = tmp_path_factory.mktemp("site")
    closed = "http://127.0.0.1:9"  # requests to other hosts fail
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | dict.fromkeys(PROXIES, closed),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """No line for each request."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on a plain file server."""
    handler = functools.partial(_Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium.path()
    if path is None:
        pytest.skip(chromium.MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.ARGUMENTS)
        yield browser
        browser.close()


@pytest.mark.full
@pytest.mark.xdist_group("site")
def test_parameters_are_tables_and_citations_are_linked(site: Path) -> None:
    pages = [path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html")]
    assert "<blockquote>" not in "".join(pages)  # doctests are code
    theory = (site / "api" / "theory.html").read_text(encoding="utf-8")
    assert "Parameters:" in theory
    assert "references.html#jacot2020" in theory
    assert 'id="mei2019"' in (site / "references.html").read_text(encoding="utf-8")
    assert dt.__version__ in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.full
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("width", [360, 1600])
def test_pages_fit_the_screen_and_load_nothing_from_other_hosts(
    browser: Browser, address: str, site: Path, width: int
) -> None:
    wrong: list[str] = []

    def note(request: Request) -> None:
        wrong.extend([request.url] * (not request.url.startswith((address, "data:", "blob:"))))

    with browser.new_context(viewport={"width": width, "height": 900}) as context:
        context.on("request", note)
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        page = context.new_page()
        page.on(
            "response", lambda got: wrong.extend([f"{got.status}: {got.url}"] * (got.status >= 400))
        )
        names = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
        for name in sorted(names - {"404.html"}):  # whose addresses begin at the root of the host
            page.goto(address + name, wait_until="load")
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wrong.append(f"{name} is wider than the screen")
            if count := page.locator(".katex-error").count():
                wrong.append(f"{name} has {count} invalid formulas")
            if page.locator(".arithmatex:not(:has(.katex))").count():
                wrong.append(f"{name} has formulas that are not typeset")
    assert wrong == []


@pytest.mark.full
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(
    browser: Browser, address: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    found = []
    with browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        for name in READ:
            page.goto(address + name, wait_until="networkidle")
            page.evaluate(AXE)
            options = {"resultTypes": ["violations"]}
            for one in page.evaluate("all => axe.run(all).then(one => one.violations)", options):
                found += [f"{name}, {one['id']}: {node['html'][:120]}" for node in one["nodes"]]
    assert found == []


@pytest.mark.full
@pytest.mark.xdist_group("site")
def test_live_figures_are_drawn_and_the_search_has_results(browser: Browser, address: str) -> None:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"{address}index.html", wait_until="networkidle")
        page.frame_locator("figure.live iframe").locator("svg path").first.wait_for()
        page.locator(".md-search__input").press_sequentially("bagging")
        page.locator(".md-search-result__item a").first.wait_for()
