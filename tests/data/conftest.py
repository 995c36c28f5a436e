"""No test of data sets reads the network, a cache or a folder of the environment."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def offline(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of scikit-learn, and requests that fail."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("no network in tests")

    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(folder))
    monkeypatch.delenv("DOUBLETROUBLE_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refuse)
    return folder
