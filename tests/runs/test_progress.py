"""The progress of a computation: lines in a log, a bar in a terminal."""

import sys

import pytest

from doubletrouble.runs import progress_bar


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tqdm.std.time", clock.time)
    return clock


def test_log_has_a_line_every_ten_seconds(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(40, unit="fit", description="decompose") as bar:
        for _ in range(40):
            clock.now += 1
            bar.update()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "decompose: 10/40 fits (25%), 00:10 elapsed, 00:30 left",
        "decompose: 20/40 fits (50%), 00:20 elapsed, 00:20 left",
        "decompose: 30/40 fits (75%), 00:30 elapsed, 00:10 left",
        "decompose: 40/40 fits (100%), 00:40 elapsed, 00:00 left",
    ]


def test_last_line_of_a_log_is_the_end(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(1000, unit="draw", initial=500) as bar:
        for _ in range(5):
            clock.now += 6
            bar.update(1)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["502/1000", "504/1000", "505/1000"]


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
