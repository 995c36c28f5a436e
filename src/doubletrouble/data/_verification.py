"""Whether a file is the one that was published, by its name, its length and its SHA-256.

A file as long as the published one of its name must be that one; of another length, it may be
somebody's own, and nobody can tell whether it is whole. One set's file in place of another's is
refused whatever its length.
"""

from hashlib import file_digest
from pathlib import Path

from doubletrouble.data._errors import REPLACE, DataError
from doubletrouble.data._sources import SOURCES, Origin, Original


def is_known(name: str, source: Origin) -> bool:
    """Whether there is a checksum for a name."""
    return any(original.name == name for original in source.known)


def is_published(found: Original, where: str, source: Origin) -> bool:
    """Compare what was found with what was published; refuse what is damaged or another file."""
    if found in source.known:
        return True
    for other in SOURCES.values():
        for original in other.known:
            if original.sha256 == found.sha256:
                own = f"keep {source.name} in a folder of that name"
                advice = REPLACE if other.name == source.name else own
                raise DataError(
                    f"{where} must be {found.name} of {source.name}, "
                    f"got {original.name} of {other.name}; {advice}"
                )
    if any((file.name, file.size) == (found.name, found.size) for file in source.known):
        raise DataError(
            f"{where} is damaged, or of another set: it has the size of the original but another "
            f"checksum; {REPLACE}"
        )
    return False


def as_it_lies(path: Path) -> Original:
    """What a file is, without unpacking it."""
    try:
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
            return Original(name=path.name, size=file.tell(), sha256=digest)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def is_of_another(path: Path, source: Origin) -> bool:
    """Whether a file is another set's: MNIST and Fashion-MNIST use the same names."""
    size = path.stat().st_size
    return any(
        original.name == path.name and original.size == size
        for other in SOURCES.values()
        if other.name != source.name
        for original in other.files
    )
