"""The site builds strictly, links lead somewhere, and pages ask nothing of any other host."""

import importlib.util
import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES, SUPPORT
from tests.docs.pages import DOCS, ROOT, text_of
from tests.schemes import KINDS, example, sharing

pytestmark = pytest.mark.xdist_group("site")

NEEDED = ("mkdocs", "material", "mkdocstrings")
FETCHING = {
    "script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src",
    "video": "src", "audio": "src", "embed": "src", "object": "data", "input": "src",
}  # fmt: skip
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
OUTSIDE = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


class Page(HTMLParser):
    """What a page fetches, where it links, and what can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if found.get(FETCHING.get(tag, "")):
            self.fetched.append(found[FETCHING[tag]])
        self.fetched += [part.split()[0] for part in found.get("srcset", "").split(",") if part]
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.names |= {found[key] for key in ("id", "name") if key in found}
        self._in_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install '.[docs]'")
    place = tmp_path_factory.mktemp("site")
    nowhere = "http://127.0.0.1:9"  # whatever asked for another host would fail
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | dict.fromkeys(PROXIES, nowhere),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}


def test_every_page_of_the_folder_is_built_and_in_the_navigation(pages: dict[str, Page]) -> None:
    written = {
        path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")
    }
    assert {"tutorial.html", "claims.html", "api.html"} <= written
    assert written <= set(pages)
    assert written <= {urlsplit(link).path for link in pages["index.html"].links}


def test_links_lead_somewhere(site: Path, pages: dict[str, Page]) -> None:
    broken = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            target = (
                (site / name).parent.joinpath(unquote(parts.path)) if parts.path else site / name
            )
            if target.is_dir():
                target /= "index.html"
            known = target.resolve().relative_to(site.resolve()).as_posix()
            exists = target.is_file()
            anchor = unquote(parts.fragment)
            if not exists or (anchor and known in pages and anchor not in pages[known].names):
                broken.append(f"{name}: {link}")
    assert broken == []


def test_pages_fetch_nothing_from_another_host(site: Path, pages: dict[str, Page]) -> None:
    fetched = [url for page in pages.values() for url in page.fetched]
    assert any(url.endswith("decomposition.png") for url in fetched)
    assert [url for url in fetched if OUTSIDE.match(url) and not url.startswith("data:")] == []
    scripts = "".join(script for page in pages.values() for script in page.scripts)
    assert "http" not in scripts
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text) == []


def test_every_public_name_is_in_the_reference(pages: dict[str, Page]) -> None:
    names = pages["api.html"].names
    for name in set(dt.__all__) - {"__version__", "replica"}:
        assert f"doubletrouble.{name}" in names, name
    assert "doubletrouble.replica.psi_terms" in names


def test_every_public_name_is_listed_once() -> None:
    listed = re.findall(r"^::: doubletrouble\.(\w+)$", api := text_of("api.md"), re.MULTILINE)
    assert sorted([*listed, "__version__", "replica"]) == list(dt.__all__)
    assert "::: doubletrouble.replica." in api


def test_the_committed_tables_are_current() -> None:
    hook = runpy.run_path(str(DOCS / "support_table.py"))
    assert hook["on_page_markdown"](text_of("ensembles.md")) == text_of("ensembles.md")


def test_the_table_of_support_is_that_of_the_code(site: Path) -> None:
    shown = (site / "ensembles.html").read_text(encoding="utf-8")
    tables = [_cells(table) for table in re.findall(r"<table>.*?</table>", shown, re.DOTALL)]
    (table,) = (cells for cells in tables if cells[0][0] == "function")
    head, *rows = table
    assert head[1:] == [kind.__name__ for kind in SCHEMES.values()]
    assert [row[0].removeprefix("dt.") for row in rows] == list(SUPPORT)
    for (function, *marks), supports in zip(rows, SUPPORT.values(), strict=True):
        known = [{"yes": True, "no": False}[mark] for mark in marks]
        assert known == [supports(kind) for kind in SCHEMES.values()], function


def test_the_table_of_shares_has_every_scheme(site: Path) -> None:
    shown = (site / "ensembles.html").read_text(encoding="utf-8")
    tables = [_cells(table) for table in re.findall(r"<table>.*?</table>", shown, re.DOTALL)]
    (table,) = (cells for cells in tables if cells[0][0] == "scheme")
    names = [re.split(r"[.(]", row[0])[1] for row in table[1:]]
    assert names == [kind.__name__ for kind in SCHEMES.values()]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.with_replacement])
def test_shares_as_formulas_have_the_value_of_the_shares(kind: type[dt.Scheme]) -> None:
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=1.5)
    ensemble = example(kind, 4, problem)
    numbers = {"K": 4, "P": 3.0, "B": 7.5, "η": ensemble.options.get("fraction")}
    written = [float(eval(text, {}, numbers)) for text in kind.shares]
    samples, features, common = sharing(ensemble, problem)
    assert written == pytest.approx([samples / 1.5, common / samples, features / 3.0])


def _cells(table: str) -> list[list[str]]:
    rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
    return [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def test_doctests_are_shown_as_code(site: Path) -> None:
    shown = (site / "api.html").read_text(encoding="utf-8")
    assert "&gt;&gt;&gt; " in shown
    assert "<blockquote>" not in shown
