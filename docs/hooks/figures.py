"""Show the figures of the gallery on the pages that discuss them, and all of them on one page.

A paragraph `![title](figures/NAME.png)` becomes the picture with the alternative text and the title
of the figure, and a link to its section of the gallery. The pictures are those that `make pictures`
draws: `python docs/hooks/figures.py out` reduces the files of the folder to 128 colours.
"""

import logging
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from PIL import Image

from doubletrouble.figures import FIGURES, FigureSpec, parameter_rows
from doubletrouble.figures._figure import PAPER

PICTURES = Path(__file__).parents[1] / "figures"
_SHOWN = re.compile(r"^!\[[^\]]*\]\(figures/([\w-]+)\.png\)$", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_COLORS = 128
_log = logging.getLogger("mkdocs.hooks.figures")


def picture(name: str, caption: str) -> str:
    """A figure in Markdown: its picture, alternative text and caption."""
    alt = FIGURES[name].alt.replace("[", r"\[").replace("]", r"\]")
    image = f"![{alt}](figures/{name}.png){{ loading=lazy }}"
    return (
        f'<figure markdown="1">\n\n[{image}](figures/{name}.png)\n\n'
        f'<figcaption markdown="1">{caption}</figcaption>\n</figure>'
    )


def numbered(spec: FigureSpec[Any]) -> str:
    """The title of a figure, with its number in the paper."""
    return spec.title if spec.number is None else f"Figure {spec.number}: {spec.title}"


def section(spec: FigureSpec[Any], discussed: str) -> str:
    """The section of one figure in the gallery."""
    rows = [f"| `{key}` | {' | '.join(cells)} |" for key, *cells in parameter_rows(spec)]
    numbers = [name for name, value in spec.arguments.items() if isinstance(value, float)]
    change = f" --set {numbers[0]}={spec.arguments[numbers[0]]:g}" if numbers else ""
    return "\n\n".join(
        [
            f"### {numbered(spec)} {{ #{spec.name} }}",
            picture(spec.name, f"{spec.source.replace(PAPER, '[dascoli2020]')}. {discussed}"),
            *spec.caption.split("\n"),
            '??? note "Parameters and code"\n',
            "    | parameter | symbol | value | meaning |\n    |---|---|---|---|\n    "
            + "\n    ".join(rows),
            "    As PNG, PDF, SVG and CSV; `--set` changes a parameter:",
            f"    ```sh\n    doubletrouble figure {spec.name}{change}\n    ```",
            "    ```python\n    from doubletrouble.figures import make_figure\n\n"
            f'    make_figure("{spec.name}", "out")\n    ```',
        ]
    )


def gallery(pages: dict[str, str]) -> str:
    """The page of all figures, with links to the pages that show them."""
    shown = {name: [] for name in FIGURES}
    for path, text in pages.items():
        title = _TITLE.search(text)
        for name in dict.fromkeys(_SHOWN.findall(text)):
            shown[name].append(f"[{title[1] if title else path}]({path})")
    for name in [name for name, links in shown.items() if not links]:
        _log.warning("figure %s is shown on no page", name)  # an error in a strict build
    thumbnails = [
        f"[![{spec.title}](figures/{spec.name}.png){{ loading=lazy }}](#{spec.name})"
        for spec in FIGURES.values()
    ]
    parts = [
        "---\nhide: [navigation]\n---",
        "# Gallery",
        _INTRODUCTION,
        '<div class="thumbnails" markdown="1">\n\n' + "\n".join(thumbnails) + "\n\n</div>",
    ]
    for heading, of_paper in (("Figures of the paper", True), ("Beyond the paper", False)):
        specs = [spec for spec in FIGURES.values() if (spec.number is not None) == of_paper]
        sections = [section(spec, f"Discussed in {', '.join(shown[spec.name])}") for spec in specs]
        parts += [f"## {heading}", *sections]
    return "\n\n".join(parts) + "\n"


_INTRODUCTION = (
    "`make reproduce` draws these figures in two minutes, each as PNG, PDF and SVG with its data "
    "as CSV, and compares them with simulations and with the authors' values."
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the gallery."""
    pages = {file.src_uri: file.content_string for file in files.documentation_pages()}
    files.append(File.generated(config, "gallery.md", content=gallery(pages)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Show the figures of a page."""

    def shown(match: re.Match[str]) -> str:
        name = match[1]
        return picture(name, f"{FIGURES[name].title}. [Caption and code](gallery.md#{name})")

    return _SHOWN.sub(shown, markdown)


def reduce(folder: Path) -> None:
    """Write the pictures of a folder, with few colours, into the documentation."""
    for name in FIGURES:
        drawn = Image.open(folder / f"{name}.png").convert("RGB")
        reduced = drawn.quantize(_COLORS, dither=Image.Dither.NONE)
        reduced.save(PICTURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    reduce(Path(sys.argv[1]))
