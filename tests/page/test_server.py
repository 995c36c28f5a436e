"""The command `doubletrouble page`: address, port, connections and end."""

import errno
import json
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from doubletrouble.cli import main
from doubletrouble.page import PORT, serve, write_static
from tests.page.serving import WAIT, address, served, start, stop

pytestmark = pytest.mark.xdist_group("processes")


def test_page_is_served_on_the_loopback_until_ctrl_c() -> None:
    process = start("--no-browser", "--port", "0")
    where = address(process)
    assert urlsplit(where).hostname == "127.0.0.1"
    with urllib.request.urlopen(where, timeout=WAIT) as response:
        assert b"doubletrouble" in response.read()
    out, error = stop(process)
    assert (process.returncode, out, error) == (0, "", "stopped\n")


def test_simulations_and_forecasts_end_with_a_killed_server() -> None:
    process = start("--no-browser", "--port", "0")
    where = address(process)

    def post(path: str, body: bytes) -> Any:
        request = urllib.request.Request(f"{where}api/{path}", body)
        with urllib.request.urlopen(request, timeout=WAIT) as response:
            return json.load(response)

    body = {"action": "start", "settings": [{}], "along": "features_per_sample", "range": [1, 10]}
    run = post("simulations", json.dumps({**body, "dim": 100, "n_data": 100}).encode())
    assert run["settings"][0]["status"] == "running"
    table = "\n".join(["x,y", *(f"{i * i % 997},{i}" for i in range(1500))])
    data = post("data", table.encode())["data"]
    start_it = {"action": "start", "data": data, "choice": {"target": 1, "inputs": [0]}}
    assert post("forecast", json.dumps(start_it).encode())["status"] == "running"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        stop(process)
        pytest.skip("this system does not list the children of a process")
    pids = [
        pid
        for task in Path(f"/proc/{process.pid}/task").iterdir()
        for pid in (task / "children").read_text().split()
    ]
    assert len(pids) == 2
    process.kill()
    process.communicate()
    end = time.monotonic() + WAIT
    while any(_runs(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(_runs(pid) for pid in pids)


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_taken_port_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=rf"^port must be free on 127.0.0.1, got {port}"):
            serve(port=port, browser=False)


def test_port_is_fixed_by_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> socket.socket:
        raise OSError(errno.EADDRINUSE, "in use")

    monkeypatch.setattr(socket, "create_server", refuse)
    assert main(["page", "--no-browser"]) == 2
    assert f"port must be free on 127.0.0.1, got {PORT}" in capsys.readouterr().err


def test_silent_connections_are_closed() -> None:
    """Half a request does not hold a connection for ever."""
    code = (
        "import sys; from doubletrouble.page import serve\n"
        "def report(text): print(text, file=sys.stderr, flush=True)\n"
        "serve(port=0, browser=False, timeout=1, report=report)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        where = urlsplit(address(process))
        with socket.create_connection((where.hostname, where.port), timeout=WAIT) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
            assert connection.recv(1) == b""  # closed by the server
    finally:
        stop(process, signal.SIGTERM)


def test_browser_is_opened_at_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {seen}.new && mv {seen}.new {seen}\n')
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    process = start("--port", "0")
    where = address(process)
    end = time.monotonic() + WAIT
    while not seen.exists() and time.monotonic() < end:
        time.sleep(0.05)
    stop(process)
    assert seen.read_text() == where


def test_other_hosts_are_served_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waitress.server.create_server", lambda *_, **__: _Stopped())
    lines: list[str] = []
    serve(host="0.0.0.0", port=0, browser=False, report=lines.append)
    assert lines[0].startswith("warning: anyone who reaches 0.0.0.0")
    assert lines[-1] == "stopped"


class _Stopped:
    """A server that stops at once."""

    def run(self) -> None:
        """Return at once."""

    def close(self) -> None:
        """Close nothing."""


def test_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "flask", None)
    assert main(["page", "--no-browser"]) == 2
    assert "flask" in capsys.readouterr().err


def test_page_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "--export", str(tmp_path / "site")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'site' / 'index.html'}\n"
    assert (tmp_path / "site" / "theory.js").exists()
    assert write_static(tmp_path / "site").exists()  # again


@pytest.mark.full
def test_many_connections_at_once() -> None:
    """The server answers while others are silent."""
    with served() as where:
        at = urlsplit(where)
        silent = [socket.create_connection((at.hostname, at.port)) for _ in range(60)]
        codes: list[int] = []

        def get() -> None:
            with urllib.request.urlopen(where, timeout=WAIT) as response:
                codes.append(response.status)

        threads = [threading.Thread(target=get) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in silent:
            one.close()
    assert codes == [200] * 20
