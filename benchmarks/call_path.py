"""The files and functions that one call of the theory runs through, traced.

Every Python function of the package that is entered counts once, comprehensions included.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import doubletrouble as dt

PACKAGE = str(Path(dt.__file__).parent)


def traced(call: Callable[[], object]) -> list[tuple[str, str]]:
    """File and name of every function that a call enters, in the order of first entry."""
    found: dict[tuple[str, str, int], None] = {}

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            file = str(Path(code.co_filename).relative_to(PACKAGE))
            found.setdefault((file, code.co_qualname, code.co_firstlineno))

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [(file, name) for file, name, _ in found]


def main() -> None:
    problem, exact_error = dt.Problem(), dt.exact_error
    path = traced(lambda: exact_error(problem, 10))
    files = list(dict.fromkeys(file for file, _ in path))
    print(f"exact_error(problem, 10): {len(path)} functions in {len(files)} files")
    for file, name in path:
        print(f"  {file:<32} {name}")


if __name__ == "__main__":
    main()
