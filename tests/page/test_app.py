"""The application over HTTP, without a browser: what it refuses, and what it never does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubletrouble.page.app import ANSWER, application
from doubletrouble.page.explanation import explanation
from doubletrouble.page.jobs import Jobs
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.stops import Stops
from doubletrouble.page.watch import UPDATE
from tests.page.test_answer import garbage
from tests.page.views import patient

WORDS = "..meaning.children...advice.children...stops.data.."


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


def told(got: Any) -> Any:
    """An answer, if it is strict JSON."""
    assert got.status_code == 200
    return json.loads(got.data, parse_constant=lambda name: pytest.fail(name))


def test_an_answer_has_the_plot_and_the_words(client: Any) -> None:
    given = {"number": 7, "query": "ridge=0.3", "changes": [["box-members", "3"]]}
    found = told(client.post(ANSWER, json=given))
    assert (found["number"], found["query"]) == (7, "ridge=0.3&members=3")
    assert found["controls"]["box-members"] == "3"
    assert found["shown"]["plot"]["figure"]["data"][-2]["name"] == "Total"  # then the ring
    assert found["shown"]["readout"]["children"]["type"] == "Table"


def test_a_setting_at_rest_is_explained(app: Any, client: Any) -> None:
    found = told(client.post(UPDATE, json=asked(app, WORDS, "ridge=0.3&members=3")))
    view = PageView(first=PageSetting(ridge=0.3, members=3.0))
    assert found["response"]["meaning"]["children"] == explanation(view, Stops())


@patient
@given(asked=garbage)
def test_whatever_is_asked_is_answered_or_refused(asked: Any, client: Any) -> None:
    got = client.post(ANSWER, data=json.dumps(asked), content_type="application/json")
    assert got.status_code == (200 if isinstance(asked, dict) else 400)
    if isinstance(asked, dict):
        told(got)


DEEP = "[" * 30_000 + "]" * 30_000
LIKE_ONE = {
    "output": WORDS, "outputs": [{"id": "meaning", "property": "children"},
                                 {"id": "advice", "property": "children"},
                                 {"id": "stops", "property": "data"}],
    "inputs": [{"id": "settled", "property": "data", "value": ""}],
    "state": [{"id": "stops", "property": "data", "value": None}],
    "changedPropIds": ["settled.data"],
}  # fmt: skip
OTHER: list[dict[str, Any]] = [{"id": "plot", "property": "figure", "value": 1}]
NO_QUESTIONS = {
    "nothing": "", "an empty object": "{}", "a list": "[]", "null": "null", "a number": "NaN",
    "text": '"output"', "garbage": "}{", "no text": b"\xff\xfe\x00", "too deep": DEEP,
    "an unknown output": '{"output": "x.y", "inputs": [], "outputs": []}',
    "a list for a name": '{"output": [1]}',
    "the name alone": json.dumps({"output": WORDS}),
    "other inputs": json.dumps(LIKE_ONE | {"inputs": OTHER}),
    "inputs that are none": json.dumps(LIKE_ONE | {"inputs": 3}),
    "too many outputs": json.dumps(LIKE_ONE | {"outputs": [OTHER[0]] * 3}),
    "an output alone": json.dumps(LIKE_ONE | {"outputs": OTHER[0]}),
    "a state": json.dumps(LIKE_ONE | {"state": OTHER}),
    "changes of nothing": json.dumps(LIKE_ONE | {"changedPropIds": {"a": [1]}}),
    "changes that are none": json.dumps(LIKE_ONE | {"changedPropIds": [[1]]}),
}  # fmt: skip


def test_what_is_one_is_answered(client: Any) -> None:
    told(client.post(UPDATE, json=LIKE_ONE))


def test_what_runs_in_the_browser_is_not_asked_here(app: Any, client: Any) -> None:
    theirs = [key for key in app.callback_map if key not in served(app)]
    assert theirs
    for key in theirs:
        body = {"output": key, "outputs": [], "inputs": [], "changedPropIds": []}
        assert client.post(UPDATE, json=body).status_code == 400


@pytest.mark.parametrize("what", NO_QUESTIONS)
def test_what_is_no_question_is_refused_with_a_sentence(
    what: str, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for kind in ("application/json", "text/plain"):
        got = client.post(UPDATE, data=NO_QUESTIONS[what], content_type=kind)
        assert got.status_code == 400
        assert " must " in got.get_data(as_text=True)
    assert caplog.records == []  # where a traceback would be


@patient
@given(body=garbage, kept=st.sets(st.sampled_from(["output", "outputs", "inputs", "state"])))
def test_what_resembles_one_is_refused_or_answered(
    body: Any, kept: set[str], app: Any, client: Any
) -> None:
    whole = asked(app, WORDS, "ridge=0.3")
    odd = {key: value if key in kept else body for key, value in whole.items()}
    got = client.post(UPDATE, data=json.dumps(odd), content_type="application/json")
    assert got.status_code in (200, 400)


def test_a_file_that_is_not_there_is_not_found(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    for path in ("dash/none.js", "none/none.js"):
        assert client.get(f"/_dash-component-suites/{path}").status_code == 404
    assert caplog.records == []


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
        for place in (UPDATE, ANSWER):
            got = client.post(place, json={}, headers={"Host": "127.0.0.1:9", "Origin": origin})
            assert got.status_code == 403
    own = {"Host": "127.0.0.1:9", "Origin": "http://127.0.0.1:9"}
    assert client.get("/", headers=own).status_code == 200


def test_a_page_told_to_serve_others_answers_to_any_name() -> None:
    jobs = Jobs()
    client = application(jobs, ("*",)).server.test_client()
    assert client.get("/", headers={"Host": "machine.example:80"}).status_code == 200
    jobs.close()


def test_what_is_too_long_is_refused(app: Any, client: Any) -> None:
    long = {"query": "x" * 100_000}
    assert client.post(UPDATE, json=asked(app, WORDS, long)).status_code == 413
    assert client.post(ANSWER, json=long).status_code == 413


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
    got = client.get(path)
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
