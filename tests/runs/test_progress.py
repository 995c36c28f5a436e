"""The progress of a computation: lines in a log, a bar in a terminal."""

import sys

import pytest

from doubletrouble.runs import _progress as module
from doubletrouble.runs import progress_bar


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_log_has_a_line_for_every_tenth(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(40, unit="fit", description="decompose") as bar:
        for _ in range(40):
            clock.now += 1
            bar.update()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "decompose: 4/40 fits (10%), 00:04 elapsed, 00:36 left"
    assert lines[-1] == "decompose: 40/40 fits (100%), 00:40 elapsed, 00:00 left"
    assert len(lines) == 10


def test_log_has_a_line_every_thirty_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar(1000, unit="draw", initial=500) as bar:
        for _ in range(8):
            clock.now += 10
            bar.update(1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["503/1000", "506/1000", "508/1000"]


def test_output_is_empty_within_two_seconds(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar(10, unit="draw") as bar:
        for _ in range(10):
            clock.now += 0.15
            bar.update()
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("clock")
def test_output_is_empty_without_progress(
    clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with progress_bar(10, unit="draw", progress=False) as bar:
            clock.now += 100
            bar.update(5)
    assert capsys.readouterr().err == ""


def test_terminal_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    from tqdm import tqdm

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar(10, unit="draw") as bar:
        assert isinstance(bar, tqdm)
        bar.update(10)
