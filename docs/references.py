"""Make a page of REFERENCES.md, which lies outside the folder of the site."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page; links into docs/ start from there."""
    source = Path(config.config_file_path).with_name("REFERENCES.md")
    text = source.read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "references.md", content=text))
    return files
