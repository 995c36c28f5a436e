"""The examples of docs/simulation.md run."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

GUIDE = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_code_blocks_run() -> None:
    namespace: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for code in re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL):
            exec(compile(code, "simulation.md", "exec"), namespace)
    assert np.shape(namespace["z"]) == (12,)
    assert "±" in printed.getvalue()
