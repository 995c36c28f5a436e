"""A known set: from its original files, else a stored projection, else the well-known archives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from doubletrouble.data import _places as places
from doubletrouble.data._errors import DataError
from doubletrouble.data._originals import Originals, find_originals, folders_of
from doubletrouble.data._sources import SOURCES
from doubletrouble.data._stored import Stored, find_stored, read_stored

if TYPE_CHECKING:
    from doubletrouble.data._images import Images
    from doubletrouble.data._projection import ProjectionOptions


def known_set(
    name: str, view: ProjectionOptions, folder: str | os.PathLike[str] | None, download: bool
) -> Images | Stored:
    """The images of a set, or a stored projection; DataError where there is neither."""
    source, roots = SOURCES[name], places.roots(folder)
    originals = find_originals(source, roots)
    if originals.missing:
        stored = find_stored(source, view, folders_of(source, roots))
        if stored:
            return read_stored(stored, view, source.name)
        if not download:
            where = " or ".join(map(str, roots))
            raise DataError(
                f"{name} must be in {where}, where {', '.join(originals.missing)} cannot be found, "
                "and downloads are switched off"
            )
        _fetch(originals, folder)
        originals = find_originals(source, roots)
    return originals.read()


def _fetch(originals: Originals, folder: str | os.PathLike[str] | None) -> None:
    from doubletrouble.data._download import download

    source = originals.source
    target = places.target(folder) / source.folders[0]
    for file in originals.to_download:
        try:
            download(source.url + file.name, file, target)
        except DataError as error:
            files = [file.name for file in originals.to_download]
            lacking = [name for name in originals.missing if name not in files]
            also = f" ({', '.join(lacking)} are missing there)" if lacking else ""
            raise DataError(f"{error}; or put {', '.join(files)} into {target}{also}") from error
