"""The error of this room: files and downloads that cannot be used."""

from doubletrouble.errors import DoubleTroubleError

REPLACE = "replace it, or delete it to have it downloaded"


class DataError(DoubleTroubleError, ValueError):
    """A data set cannot be read or downloaded; the message has the reason and a remedy."""
