"""`doubletrouble page`: its address, its port, and its end by Ctrl-C."""

import signal
import socket
import stat
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from doubletrouble.cli import main
from tests.cli.results import error_message
from tests.page.serving import address, start, stop

pytestmark = pytest.mark.xdist_group("processes")


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "--help"]) == 0
    out = capsys.readouterr().out
    for word in ("--port", "--host", "--no-browser", "Ctrl-C"):
        assert word in out


def test_page_prints_its_address_and_ends_with_ctrl_c() -> None:
    process = start("--no-browser")
    where = urlsplit(address(process))
    assert where.hostname == "127.0.0.1"
    connection = HTTPConnection(where.netloc, timeout=10)
    connection.request("GET", "/")
    got = connection.getresponse()
    assert got.status == 200
    assert b"doubletrouble" in got.read()
    connection.close()
    out, error = stop(process)
    assert process.returncode == 0
    assert out == ""
    assert error == "stopped\n"


def test_page_serves_on_the_given_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = start("--no-browser", "--port", str(port))
    assert address(process) == f"http://127.0.0.1:{port}/"
    again = start("--no-browser", "--port", str(port))  # now it is busy
    out, error = again.communicate(timeout=60)
    assert again.returncode == 2
    assert out == ""
    assert error.startswith(f"port must be free on 127.0.0.1, got {port}: ")
    assert error.count("\n") == 1
    stop(process)


def test_it_ends_with_sigterm() -> None:
    process = start("--no-browser")
    address(process)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=20)
    assert "Traceback" not in error


def test_it_opens_the_browser(tmp_path: Path) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    process = start(BROWSER=f"{browser} %s")
    message = address(process)
    end = time.monotonic() + 30
    while not seen.exists() and time.monotonic() < end:
        time.sleep(0.05)
    stop(process)
    assert seen.read_text() == message


def test_other_hosts_print_a_warning() -> None:
    process = start("--no-browser", "--host", "0.0.0.0")
    assert process.stderr is not None
    warning = process.stderr.readline()
    assert warning.startswith("warning: anyone who reaches 0.0.0.0 can use this page")
    address(process)
    stop(process)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--port", "70000"], "Invalid value for '--port'"),
        (["--port", "x"], "Invalid value for '--port'"),
        (["--host", "999.1.2.3"], "999.1.2.3"),
        (["--host", "no such host"], "no such host"),
        (["--colour"], "No such option"),
    ],
)
def test_invalid_flags_are_named(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in error_message(["page", "--no-browser", *words], capsys)


def test_a_missing_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['dash'] = None\n"
        "from doubletrouble.cli import main; sys.exit(main(['page', '--no-browser']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr == "dash is needed: pip install 'doubletrouble[page]'\n"
