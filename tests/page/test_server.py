"""Serving: a free port, a warning for elsewhere, and an end."""

import re
import socket
import threading
import webbrowser
from typing import Any, ClassVar

import pytest
from werkzeug import serving

from doubletrouble.page import server


class Served:
    """A server that ends at once; the real one ends at Ctrl-C."""

    made: ClassVar[list[tuple[Any, ...]]] = []

    def __init__(self, *where: Any, **_: Any) -> None:
        self.made.append(where)
        self.port = where[1] or 4321

    def serve_forever(self) -> None:
        pass


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> type[Served]:
    monkeypatch.setattr(serving, "make_server", Served)
    Served.made.clear()
    return Served


def serve(**options: Any) -> list[str]:
    told: list[str] = []
    server.serve(**{"browser": False} | options, tell=told.append)
    return told


def test_it_is_on_the_loopback_and_says_where(served: type[Served]) -> None:
    assert serve() == ["the page is at http://127.0.0.1:4321/ until Ctrl-C", "stopped"]
    assert [where[:2] for where in served.made] == [("127.0.0.1", 0)]


def test_elsewhere_it_warns(served: type[Served]) -> None:
    warning, others, address, _ = serve(host="0.0.0.0")
    assert re.match(r"others reach it at http://\S+:4321/", others)
    assert warning.startswith("warning: anyone who reaches 0.0.0.0 can use this page")
    assert "http://127.0.0.1:4321/" in address
    assert served.made[0][0] == "0.0.0.0"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_loopback_needs_no_warning(host: str, served: type[Served]) -> None:
    assert "warning" not in " ".join(serve(host=host))


def test_an_address_of_version_six_can_be_opened(served: type[Served]) -> None:
    try:
        told = serve(host="::1")
    except ValueError:
        pytest.skip("this machine has no ::1")
    assert told[0] == "the page is at http://[::1]:4321/ until Ctrl-C"


def test_a_busy_port_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        with pytest.raises(ValueError, match=rf"^port must be free on 127.0.0.1, got {port}: "):
            serve(port=port)


def test_a_browser_is_opened_at_the_address(
    served: type[Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = threading.Event()
    where: list[str] = []

    def open_(address: str) -> bool:
        where.append(address)
        opened.set()
        return True

    monkeypatch.setattr(webbrowser, "open", open_)
    serve(browser=True)
    assert opened.wait(10)
    assert where == ["http://127.0.0.1:4321/"]
