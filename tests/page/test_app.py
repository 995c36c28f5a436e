"""The application over HTTP, without a browser: what it refuses, and what it never does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubletrouble.advice.meaning import meaning
from doubletrouble.page.app import application
from doubletrouble.page.jobs import Jobs
from doubletrouble.page.setting import Setting
from tests.page.test_answer import garbage
from tests.page.views import patient

UPDATE = "/_dash-update-component"


@pytest.fixture(scope="module")
def app() -> Iterator[Any]:
    jobs = Jobs()
    yield application(jobs)
    jobs.close()


@pytest.fixture(scope="module")
def client(app: Any) -> Any:
    return app.server.test_client()


def served(app: Any) -> list[str]:
    """The callbacks that the server answers."""
    return [key for key, one in app.callback_map.items() if "callback" in one]


def asked(app: Any, output: str, values: Any, triggered: int = 0) -> dict[str, Any]:
    """What a browser posts for a callback, with these values for all it is given."""
    one = app.callback_map[output]
    names = [n for n in output.strip(".").split("...") if n]
    outputs = [dict(zip(("id", "property"), n.rsplit(".", 1), strict=True)) for n in names]
    return {
        "output": output,
        "outputs": outputs if output.startswith("..") else outputs[0],
        "inputs": [{**given, "value": values} for given in one["inputs"]],
        "state": [{**given, "value": values} for given in one["state"]],
        "changedPropIds": ["{id}.{property}".format(**one["inputs"][triggered])],
    }


def test_the_redrawn_page_says_what_it_means(app: Any, client: Any) -> None:
    (output,) = [key for key in served(app) if "plot.figure" in key]
    given = {"query": "ridge=0.3", "changes": {"box-members": "3"}}
    got = client.post(UPDATE, json=asked(app, output, given))
    assert got.status_code == 200
    found = json.loads(got.data, parse_constant=lambda name: pytest.fail(name))["response"]
    said = found["meaning"]["children"]
    assert said == meaning(Setting(ridge=0.3, members=3.0).problem, 3.0)
    assert found["answered"]["data"]["query"] == "ridge=0.3&members=3"


@patient
@given(values=garbage, triggered=st.integers(0, 1))
def test_no_callback_breaks(values: Any, triggered: int, app: Any, client: Any) -> None:
    for output in served(app):
        inputs = app.callback_map[output]["inputs"]
        if any(given["id"] == "simulate" for given in inputs):
            triggered = 1  # starting simulations has tests of its own
        question = asked(app, output, values, min(triggered, len(inputs) - 1))
        got = client.post(UPDATE, data=json.dumps(question), content_type="application/json")
        assert got.status_code in (200, 204), (output, values)


def test_a_foreign_name_is_refused(client: Any) -> None:
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil"):
        assert client.get("/", headers={"Host": host}).status_code == 403
        assert client.post(UPDATE, json={}, headers={"Host": host}).status_code == 403
    for host in ("127.0.0.1", "127.0.0.1:8050", "localhost:9", "[::1]:8050", "[::1]"):
        assert client.get("/", headers={"Host": host}).status_code == 200


def test_a_foreign_page_is_refused(client: Any) -> None:
    for origin in ("http://evil.example", "https://127.0.0.1.evil.example", "null"):
        got = client.post(UPDATE, json={}, headers={"Host": "127.0.0.1:9", "Origin": origin})
        assert got.status_code == 403
    own = {"Host": "127.0.0.1:9", "Origin": "http://127.0.0.1:9"}
    assert client.get("/", headers=own).status_code == 200


def test_a_page_told_to_serve_others_answers_to_any_name() -> None:
    jobs = Jobs()
    client = application(jobs, ("*",)).server.test_client()
    assert client.get("/", headers={"Host": "machine.example:80"}).status_code == 200
    jobs.close()


def test_what_is_too_long_is_refused(app: Any, client: Any) -> None:
    (output,) = [key for key in served(app) if "plot.figure" in key]
    got = client.post(UPDATE, json=asked(app, output, {"query": "x" * 100_000}))
    assert got.status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../app.py",
        "/assets/%2e%2e/app.py",
        "/assets/..%2fapp.py",
        "/assets//etc/passwd",
        "/_dash-component-suites/dash/../../../../etc/passwd",
    ],
)
def test_no_path_leads_out(path: str, client: Any) -> None:
    try:
        got = client.get(path)
    except Exception as error:  # noqa: BLE001  Dash has its own errors for what it does not serve
        assert "registered" in str(error)  # noqa: PT017
        return
    assert b"root:" not in got.data
    assert b"def application" not in got.data


def test_the_document_asks_nothing_of_others(client: Any) -> None:
    text = client.get("/").get_data(as_text=True)
    assert "<html lang" in text
    for word in ("https://", 'src="http', 'href="http', "//cdn"):
        assert word not in text.replace("http://www.w3.org", "")


def test_the_document_shows_the_curves_before_any_script(client: Any) -> None:
    plain = client.get("/").get_data(as_text=True)
    assert plain.count("<polyline") == 5
    both = client.get("/?second.ridge=0.1&split=effects").get_data(as_text=True)
    assert both.count("<polyline") == 14
    assert "nan" not in plain.partition('id="preview"')[2].partition("</svg>")[0]


def test_the_document_repeats_nothing_of_the_address(client: Any) -> None:
    text = client.get("/?ridge=<script>owned</script>&owned=1").get_data(as_text=True)
    assert "owned" not in text


def test_assets_are_our_own(client: Any) -> None:
    folder = Path(application.__code__.co_filename).with_name("assets")
    for name in ("page.js", "page.css"):
        text = (folder / name).read_text()
        assert "http" not in text.replace("http://www.w3.org", "")
        with client.get(f"/assets/{name}") as got:
            assert got.get_data(as_text=True) == text
