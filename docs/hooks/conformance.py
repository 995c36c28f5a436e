"""Make the page of theory against simulation of the numbers that were measured."""

import runpy
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_PAGE = Path(__file__).parents[2] / "conformance" / "page.py"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    files.append(
        File.generated(config, "conformance.md", content=runpy.run_path(str(_PAGE))["page"]())
    )
    return files
