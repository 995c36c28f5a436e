"""Make pages of the notebooks in docs/notebooks, and execute them.

The site shows the stored outputs, so that building it needs no kernel. A figure takes its
alternative text from the metadata `alt` of its cell.

    python docs/hooks/notebooks.py                   # execute all notebooks in place
    python docs/hooks/notebooks.py paper             # one of them
    python docs/hooks/notebooks.py --out FOLDER      # write the executed notebooks there

Every notebook runs in a fresh kernel and an empty folder; errors and warnings stop it. Stored are
the text and the pictures of the outputs, and no other metadata than the language.
"""

import argparse
import os
import re
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from nbconvert import MarkdownExporter
from traitlets.config import Config

FOLDER = Path(__file__).parents[1] / "notebooks"

_LANGUAGE = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_STORED = ("image/png", "text/plain")  # in this order of preference
_KERNEL = {
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
_TIMEOUT = 300  # seconds a cell

_TEMPLATE = """
{%- extends 'markdown/index.md.j2' -%}
{% block stream %}
```text
{{ output.text.rstrip() }}
```
{% endblock stream %}
{% block data_text scoped %}
```text
{{ output.data['text/plain'] }}
```
{% endblock data_text %}
{% block data_png %}
![{{ cell.metadata.alt }}]({{ output.metadata.filenames['image/png'] | path2url }})
{% endblock data_png %}
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page and its pictures for each notebook; called by mkdocs."""
    for file in list(files):
        source = PurePosixPath(file.src_uri)
        if source.suffix == ".ipynb":
            try:
                text, pictures = page(nbformat.reads(file.content_string, 4), source.stem)
            except ValueError as error:
                raise PluginError(f"{source}: {error}") from error
            page_uri = str(source.with_suffix(".md"))
            files.append(File.generated(config, page_uri, content=text))
            for name, picture in pictures.items():
                uri = str(source.parent / name)
                files.append(File.generated(config, uri, content=picture))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace links to notebooks by links to their pages; called by mkdocs."""
    return re.sub(r"\]\((notebooks/\w+)\.ipynb\)", r"](\1.md)", markdown)


def page(notebook: Any, name: str) -> tuple[str, dict[str, bytes]]:
    """The Markdown of a notebook, and its pictures by file name.

    Raises ValueError where a picture has no alternative text.
    """
    for cell in notebook.cells:
        pictures = [out for out in cell.get("outputs", ()) if "image/png" in out.get("data", ())]
        if pictures and not cell.metadata.get("alt"):
            raise ValueError(f"the picture of cell {cell.id!r} needs a text, metadata.alt")
    settings = Config()
    settings.NbConvertBase.display_data_priority = list(_STORED)
    exporter = MarkdownExporter(config=settings, raw_template=_TEMPLATE)
    resources = {"unique_key": name, "output_files_dir": f"{name}_files"}
    text, resources = exporter.from_notebook_node(notebook, resources)
    title, _, body = text.strip().partition("\n")
    body = re.sub(r"\]\((\w+)\.ipynb\)", r"](\1.md)", body)  # the page of another notebook
    link = f'[Download this notebook]({name}.ipynb){{ download="{name}.ipynb" }}'
    return f"{title}\n\n{link}\n{body}\n", resources["outputs"]


def execute(notebook: Any) -> Any:
    """Execute a notebook, and return it with clean metadata.

    Raises nbclient's CellExecutionError where a cell raises, RuntimeError where one writes to
    standard error.
    """
    from nbclient import NotebookClient  # not needed to build the site

    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=_TIMEOUT,
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=os.environ | _KERNEL)
    notebook.metadata = nbformat.from_dict(_LANGUAGE)
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in ("alt",) if key in cell.metadata}
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise RuntimeError(f"cell {cell.id!r} writes to standard error:\n{output.text}")
            if "data" in output:
                output.data = _preferred(output.data)
                output.metadata = {}
    return notebook


def _preferred(data: dict[str, Any]) -> dict[str, Any]:
    """A picture, or else the text of an output."""
    kind = next(kind for kind in _STORED if kind in data)
    return {kind: data[kind]}


def main() -> None:
    """Execute notebooks and store them."""
    parser = argparse.ArgumentParser(description="Execute notebooks and store their outputs.")
    names = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder; default: in place")
    arguments = parser.parse_args()
    for name in arguments.names or names:
        notebook = execute(nbformat.read(FOLDER / f"{name}.ipynb", 4))
        nbformat.write(notebook, arguments.out / f"{name}.ipynb")


if __name__ == "__main__":
    main()
