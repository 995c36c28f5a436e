"""What docs/data.md shows works as typed, and prints what is shown."""

from pathlib import Path

import pytest

from doubletrouble.data._sources import SOURCES
from tests.docs.pages import compared, text_of

PAGE = "data.md"


def test_every_block_runs_and_prints_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compared(PAGE) == 7
    assert list(tmp_path.iterdir()) == []


def test_every_folder_and_archive_is_told() -> None:
    text = text_of(PAGE)
    for source in SOURCES.values():
        assert f'`"{source.name}"`' in text
        assert all(f"`{folder}`" in text for folder in source.folders if folder)
        assert source.name == "cifar10" or f"`{source.files[0].name}`" in text
    assert f"`{SOURCES['cifar10'].files[0].name}`" in text
