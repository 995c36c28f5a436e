"""The version of the package, for the header of the site."""

from mkdocs.config.defaults import MkDocsConfig

from doubletrouble import __version__


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the version that the theme shows."""
    config.extra["release"] = __version__
    return config
