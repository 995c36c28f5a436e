"""The tables beside the repository, or a skipped test where there are none."""

import pytest

from doubletrouble.figures import reference
from doubletrouble.parameters import FloatArray

Rows = list[dict[str, str]]


def stored(file: str) -> Rows:
    """The rows of a table."""
    rows = reference.stored(file)
    if not rows:
        pytest.skip(f"the table {file} is not beside the repository")
    return rows


def along(file: str, axis: str = "log10_P_over_N") -> tuple[FloatArray, Rows]:
    """The values of a logarithmic axis, and all rows."""
    stored(file)
    return reference.along(file, axis)
