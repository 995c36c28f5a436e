"""The site: navigation, links, tables and public names; `make test-all` builds it as well."""

import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

import pytest

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES, SUPPORT
from doubletrouble.losses import LOSSES
from tests.docs.pages import DOCS, ROOT, text_of
from tests.schemes import KINDS, example, sharing

PAGES = {
    **{path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")},
    "references.md": (ROOT / "REFERENCES.md").read_text(encoding="utf-8").replace("](docs/", "]("),
}
CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
OUTSIDE = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


# --- sources -------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The anchors of headings."""
    bare = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", bare, flags=re.MULTILINE)
    titles = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    ascii_ = (normalize("NFKD", title).encode("ascii", "ignore").decode() for title in titles)
    words = (re.sub(r"[^\w\s-]", "", title).strip().lower() for title in ascii_)
    named = {
        f"doubletrouble.{name}" for name in re.findall(r"^::: doubletrouble\.(\S+)", text, re.M)
    }
    return {re.sub(r"[\s-]+", "-", title) for title in words} | named


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\ntheme:")[0]
    assert sorted(re.findall(r": (\w+\.md)$", navigation, re.MULTILINE)) == sorted(PAGES)


def test_links_between_pages_have_a_target() -> None:
    broken = []
    for name, text in PAGES.items():
        for link in LINK.findall(CODE.sub("", text)):
            path, _, anchor = link.partition("#")
            if OUTSIDE.match(link) or link.startswith("mailto:"):
                continue
            target = path or name
            known = target in PAGES or (DOCS / target).is_file()
            if not known or (anchor and anchor not in anchors(PAGES[target])):
                broken.append(f"{name}: {link}")
    assert broken == []
    assert "one-scalar-equation" in anchors(PAGES["mathematics.md"])
    assert "two-scalar-equations" not in anchors(PAGES["mathematics.md"])


def test_every_public_name_is_listed_once() -> None:
    listed = re.findall(r"^::: doubletrouble\.(\w+)$", api := text_of("api.md"), re.MULTILINE)
    assert sorted([*listed, "__version__", "losses", "replica"]) == list(dt.__all__)
    assert "::: doubletrouble.replica." in api
    losses = re.findall(r"^::: doubletrouble\.losses\.(\w+)$", api, re.MULTILINE)
    assert losses == ["Loss", *(kind.__name__ for kind in LOSSES.values())]


def table(first: str) -> list[list[str]]:
    """The rows of the table in docs/ensembles.md that starts with a heading."""
    lines = text_of("ensembles.md").partition(f"| {first} |")[2].splitlines()
    rows = [f"| {first} |{lines[0]}"]
    for line in lines[2:]:
        if not line.startswith("|"):
            break
        rows.append(line)
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in rows]


def test_tables_of_schemes_are_those_of_the_code() -> None:
    page = text_of("ensembles.md")
    assert runpy.run_path(str(DOCS / "support_table.py"))["on_page_markdown"](page) == page
    kinds = [kind.__name__ for kind in SCHEMES.values()]
    head, *rows = table("function")
    assert head[1:] == kinds
    assert [row[0].removeprefix("dt.") for row in rows] == list(SUPPORT)
    for (function, *marks), supports in zip(rows, SUPPORT.values(), strict=True):
        known = [{"yes": True, "no": False}[mark] for mark in marks]
        assert known == [supports(kind) for kind in SCHEMES.values()], function
    assert [re.split(r"[.(]", row[0])[1] for row in table("scheme")[1:]] == kinds


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


# --- the built site ------------------------------------------------------------------------------

FETCHING = {
    "script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src",
    "video": "src", "audio": "src", "embed": "src", "object": "data", "input": "src",
}  # fmt: skip
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")


class Page(HTMLParser):
    """Resources, links, anchors and scripts of a page."""

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


@pytest.mark.full
def test_site_builds_strictly_with_every_name_and_no_outside_resource(tmp_path: Path) -> None:
    site = tmp_path / "site"
    closed = "http://127.0.0.1:9"  # requests to other hosts fail
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"} | dict.fromkeys(PROXIES, closed),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(site).as_posix(): Page(path) for path in site.rglob("*.html")}
    assert {Path(name).with_suffix(".html").as_posix() for name in PAGES} <= set(pages)
    assert broken_links(site, pages) == []

    names = pages["api.html"].names
    public = {
        f"doubletrouble.{name}" for name in set(dt.__all__) - {"__version__", "losses", "replica"}
    }
    assert public - names == set()
    assert "doubletrouble.replica.psi_terms" in names
    reference = (site / "api.html").read_text(encoding="utf-8")
    assert "&gt;&gt;&gt; " in reference  # doctests are code
    assert "<blockquote>" not in reference

    fetched = [url for page in pages.values() for url in page.fetched]
    assert any(url.endswith("decomposition.png") for url in fetched)
    assert [url for url in fetched if OUTSIDE.match(url) and not url.startswith("data:")] == []
    assert "http" not in "".join(script for page in pages.values() for script in page.scripts)
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text) == [], sheet


def broken_links(site: Path, pages: dict[str, Page]) -> list[str]:
    broken = []
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            target = site / name
            if parts.path:
                target = target.parent.joinpath(unquote(parts.path))
            if target.is_dir():
                target /= "index.html"
            known = target.resolve().relative_to(site.resolve()).as_posix()
            anchor = unquote(parts.fragment)
            missing = anchor and known in pages and anchor not in pages[known].names
            if missing or not target.is_file():
                broken.append(f"{name}: {link}")
    return broken
