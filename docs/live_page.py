"""Add the live page to the site, under explore/."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from doubletrouble.page import write_static


def on_post_build(config: MkDocsConfig) -> None:
    """Copy the static page; its links lead to the pages of the site."""
    write_static(Path(config.site_dir) / "explore", docs="../")
