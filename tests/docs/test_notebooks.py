"""Notebooks: their stored outputs are those of an execution, and they become pages of the site.

`pytest tests/docs/test_notebooks.py` executes all of them, in about a minute on one core.
"""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import doubletrouble as dt
from tests.docs.pages import DOCS, same

NAMES = ("data", "learner", "paper")
HOOK = DOCS / "hooks" / "notebooks.py"
LANGUAGE = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
LARGEST = 600_000  # bytes
WIDEST = 100  # characters of code and outputs
OWN_PATH = re.compile(
    r"(?:^|[\s'\"(])(?:/(?:home|root|tmp|usr|Users|work|opt)/|[A-Z]:\\)|site-packages"
)


def cells(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    """The cells of a notebook, all or those of one kind."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in found if kind in (None, cell["cell_type"])]


def source(name: str) -> Path:
    return DOCS / "notebooks" / f"{name}.ipynb"


def text(output: dict[str, Any]) -> str:
    """The text of an output; empty for a picture."""
    return "".join(output.get("text", ()) or output.get("data", {}).get("text/plain", ()))


def is_picture(output: dict[str, Any]) -> bool:
    return "image/png" in output.get("data", {})


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_execution_gives_the_stored_outputs(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(HOOK), name, "--out", str(tmp_path)],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    stored, executed = (cells(path, "code") for path in (source(name), tmp_path / f"{name}.ipynb"))
    for old, new in zip(stored, executed, strict=True):
        assert [*map(is_picture, new["outputs"])] == [*map(is_picture, old["outputs"])], old["id"]
        printed, shown = ("".join(map(text, cell["outputs"])) for cell in (new, old))
        assert same(printed, shown), f"{old['id']}:\n{printed}"


def test_all_notebooks_are_tested() -> None:
    assert {path.stem for path in (DOCS / "notebooks").glob("*.ipynb")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_stored_notebook_is_complete_and_clean(name: str) -> None:
    path = source(name)
    assert path.stat().st_size < LARGEST
    assert json.loads(path.read_text(encoding="utf-8"))["metadata"] == LANGUAGE
    title, *_ = cells(path)
    assert title["cell_type"] == "markdown"
    assert title["source"][0].startswith("# ")
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    for cell in code:
        outputs = cell["outputs"]
        pictures = [output for output in outputs if is_picture(output)]
        assert outputs or cell is code[0], cell["id"]
        assert len(pictures) <= 1
        assert set(cell["metadata"]) == ({"alt"} if pictures else set()), cell["id"]
        assert {output.get("name", "stdout") for output in outputs} <= {"stdout"}
        assert all(set(output.get("data", ())) <= {"image/png", "text/plain"} for output in outputs)
        lines = "".join([*cell["source"], "\n", *map(text, outputs)]).splitlines()
        assert max(map(len, lines)) <= WIDEST, cell["id"]
    for cell in cells(path):
        assert not OWN_PATH.search("".join(cell["source"]))
        assert not OWN_PATH.search("".join(map(text, cell.get("outputs", ()))))


@pytest.mark.parametrize("name", NAMES)
def test_code_names_public_names(name: str) -> None:
    code = "\n".join("".join(cell["source"]) for cell in cells(source(name), "code"))
    assert set(re.findall(r"\bdt\.(\w+)", code)) <= set(dt.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_links_have_a_target(name: str) -> None:
    """The strict build of the site checks anchors as well."""
    words = "".join("".join(cell["source"]) for cell in cells(source(name), "markdown"))
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", words)
    assert links
    assert [link for link in links if not (DOCS / "notebooks" / link).is_file()] == []


# --- pages of the site ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hook() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(HOOK)))


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_page_has_the_cells_outputs_and_pictures(name: str, hook: SimpleNamespace) -> None:
    page, pictures = hook.page(hook.nbformat.read(source(name), 4), name)
    assert page.startswith("# ")
    assert f"[Download this notebook]({name}.ipynb)" in page
    assert ".ipynb)" not in page.replace(f"({name}.ipynb)", "")  # links between notebooks
    code = cells(source(name), "code")
    assert page.count("```python\n") == len(code)
    alts = [cell["metadata"]["alt"] for cell in code if cell["metadata"]]
    assert re.findall(r"^!\[(.*)\]\((.*)\)$", page, re.MULTILINE) == list(
        zip(alts, pictures, strict=True)
    )
    assert all(picture.startswith(b"\x89PNG") for picture in pictures.values())
    for cell in code:
        for output in filter(text, cell["outputs"]):
            assert f"```text\n{text(output).rstrip()}\n```" in page


@pytest.mark.full
def test_picture_without_text_is_refused(hook: SimpleNamespace) -> None:
    notebook = hook.nbformat.read(source("paper"), 4)
    cell = next(cell for cell in notebook.cells if cell.metadata.get("alt"))
    del cell.metadata["alt"]
    with pytest.raises(ValueError, match=r"metadata\.alt"):
        hook.page(notebook, "paper")
