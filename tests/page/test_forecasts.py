"""Forecasts of tables: the choice of columns, processes, questions and limits."""

import json
import math
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

import doubletrouble as dt
from doubletrouble._display import content_of, printed_json
from doubletrouble.page import _forecasts
from doubletrouble.page._app import application
from doubletrouble.page._forecasts import (
    MOST_BYTES,
    MOST_WAITING,
    ForecastChoice,
    Forecasts,
)
from doubletrouble.page._processes import Worker
from doubletrouble.page._simulations import Simulations
from doubletrouble.results import Forecast
from doubletrouble.tables import read_csv
from tests.cli.results import Capture, json_result
from tests.page.serving import WAIT

pytestmark = pytest.mark.xdist_group("processes")

ROWS = 60
SETTING = {"n_features": 40, "ridge": 1e-3, "n_members": 2, "n_samples": ROWS}


def csv_of(n_rows: int = ROWS, seed: int = 0) -> bytes:
    """Two inputs, a name, and a target that depends on the inputs."""
    x = np.random.default_rng(seed).standard_normal((n_rows, 3))
    lines = [
        f"{i},{a!r},case {i},{b!r},{100 + 20 * math.tanh(a) + 5 * noise!r}"
        for i, (a, b, noise) in enumerate(x.tolist())
    ]
    return "\n".join([",first,name,second,height", *lines]).encode()


def with_classes(content: bytes) -> bytes:
    """Pairs of rows of one number, three names, and a name that is missing."""
    head, *lines = content.decode().splitlines()
    cells = [line.split(",") for line in lines]
    rows = [[str(i // 2), a, f"case {i % 3}", *more] for i, (_, a, _, *more) in enumerate(cells)]
    rows[7][2] = ""
    return "\n".join([head, *map(",".join, rows)]).encode()


@pytest.fixture
def client() -> Iterator[FlaskClient]:
    simulations, forecasts = Simulations(), Forecasts()
    yield application(simulations, forecasts).test_client()
    simulations.close()
    forecasts.close()


def texts(printed: dict[str, Any]) -> str:
    """What is printed, without the digits of numbers: those of another process may differ."""
    return re.sub(
        r"[-+<\d.,\u2007\u2008]*\d[%\u2007\u2008]*", "#", json.dumps(printed, ensure_ascii=False)
    )


def post(client: FlaskClient, action: str, data: str, **more: Any) -> dict[str, Any]:
    """The answer to a request that is accepted."""
    response = client.post("/api/forecast", json={"action": action, "data": data, **more})
    assert response.status_code == 200, response.json
    return dict(response.json or {})


def loaded(client: FlaskClient, content: bytes = b"") -> str:
    response = client.post("/api/data", data=content or csv_of())
    assert response.status_code == 200, response.json
    return str((response.json or {})["data"])


def ready(client: FlaskClient, data: str, **choice: Any) -> dict[str, Any]:
    """The status of a forecast at its end."""
    answer = post(client, "start", data, choice={"target": 4, "inputs": [1, 3], **choice})
    end = time.monotonic() + WAIT
    while answer["status"] == "running" and time.monotonic() < end:
        time.sleep(0.02)
        answer = post(client, "status", data)
    return answer


def test_bad_files_are_refused(client: FlaskClient) -> None:
    wide = b",".join([b"a%d" % i for i in range(3000)]) + b"\n"
    for content, message in (
        (b"a,b\n1,2\n1\n", "line 3 must have 2 values"),
        (wide, "columns must be at most 2000"),
    ):
        response = client.post("/api/data", data=content)
        assert response.status_code == 400
        assert message in (response.json or {})["message"]


def test_columns_are_described_for_the_browser(client: FlaskClient) -> None:
    content = b'"";"size";"city";"name";"y"\n"1";0,5;"Oslo";"a";1\n"2";;"Bern";"b";4\n'
    content += b'"3";1,5;"Oslo";"c";2\n"4";2;"Bern";"d";7,5\n'
    answer = client.post("/api/data", data=content).json or {}
    keys = ("name", "numeric", "classes", "remark", "missing", "first_missing")
    assert [tuple(column[key] for key in keys) for column in answer["columns"]] == [
        ("Unnamed: 0", True, 0, "numbers the rows", 0, ""),
        ("size", True, 0, "", 1, "line 3"),
        ("city", False, 2, "not numbers: 'Oslo' in line 2", 0, ""),
        ("name", False, 0, "not numbers: 'a' in line 2", 0, ""),
        ("y", True, 0, "", 0, ""),
    ]
    assert (answer["rows"], answer["target"]) == (4, 4)


def test_sizes_of_bodies_are_limited(client: FlaskClient) -> None:
    assert client.post("/api/data", data=b" " * (MOST_BYTES + 1)).status_code == 413
    assert client.post("/api/forecast", data=b" " * 100_000).status_code == 413


def test_foreign_requests_are_refused(client: FlaskClient) -> None:
    for path in ("/api/data", "/api/forecast"):
        for headers in ({"Host": "example.org"}, {"Origin": "http://example.org"}):
            assert client.post(path, data=csv_of(), headers=headers).status_code == 403


def test_files_of_the_view_need_the_server(client: FlaskClient) -> None:
    for name, kind in (("data.js", "text/javascript"), ("data.css", "text/css")):
        with client.get(f"/{name}") as response:
            assert response.status_code == 200
            assert response.headers["Content-Type"].startswith(kind)
    assert client.get("/served/data.js").status_code == 404


CHOICES: dict[str, tuple[bytes, dict[str, Any]]] = {
    "default": (csv_of(), {}),
    "classes, groups and noise": (
        with_classes(csv_of()),
        {"inputs": [1, 2], "groups": 0, "noise": 4.0, "drop_missing": True},
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_forecast_is_that_of_the_library(name: str, client: FlaskClient, tmp_path: Path) -> None:
    content, choice = CHOICES[name]
    data = loaded(client, content)
    summary = ready(client, data, **choice)["summary"]
    answer = post(client, "error", data, setting=SETTING)
    advice = post(client, "advice", data, setting=SETTING)
    script = post(client, "python", data, setting=SETTING, file=str(tmp_path / "a 'table'.csv"))
    (tmp_path / "a 'table'.csv").write_bytes(content)
    found: dict[str, Any] = {}
    lines = script["python"].replace("import matplotlib.pyplot as plt\n", "")
    exec(lines.replace("curve.plot()\nplt.show()\n", ""), found)
    f, curve = found["f"], found["curve"]
    assert isinstance(f, Forecast)
    assert texts(summary["printed"]) == texts(printed_json(content_of(f)))
    np.testing.assert_allclose(answer["n_features"], found["n_features"])
    np.testing.assert_allclose(answer["total"], curve.total.value, rtol=1e-6)
    for part, values in answer["parts"].items():
        expected = getattr(curve, part).value
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-6, err_msg=part)
    here = f.error(n_features=40, ridge=1e-3, ensemble=2, n_samples=SETTING["n_samples"])
    assert answer["here"]["total"] == pytest.approx(here.total.value, rel=1e-9)
    assert answer["here"]["printed"] == printed_json(content_of(here))
    expected = f.advise(n_features=40, ridge=1e-3, ensemble=2)
    ridge = expected["best ridge"].setting["ridge"]
    assert advice.pop("best_ridge") == pytest.approx(ridge, rel=0.05)  # the error is flat there
    assert texts(advice) == texts(printed_json(content_of(expected)))


def test_python_shell_and_page_have_the_same_numbers(
    client: FlaskClient, tmp_path: Path, capsys: Capture
) -> None:
    frame = pytest.importorskip("sklearn.datasets").load_diabetes(as_frame=True).frame
    frame.insert(0, "unit", 1.0)  # constant: left out by all
    frame.to_csv(tmp_path / "diabetes.csv", index=False)
    f = dt.forecast(frame.drop(columns="target"), frame["target"], progress=False)
    expected = f.error(n_features=100, ridge=0.1)
    words = f"forecast {tmp_path}/diabetes.csv --target target --quiet"
    shell = json_result(f"{words} --n-features 100 --ridge 0.1", capsys)["parts"]
    noise = json_result(words, capsys)["noise"]
    data = loaded(client, (tmp_path / "diabetes.csv").read_bytes())
    choice = {"target": 11, "inputs": list(range(11))}
    assert ready(client, data, **choice)["status"] == "ready"
    setting = {"n_features": 100, "ridge": 0.1, "n_members": 1, "n_samples": len(frame)}
    page = post(client, "error", data, setting=setting)["here"]
    rows = {row["part"]: row for row in shell}
    for name, part in (*expected.parts.items(), ("total", expected.total)):
        in_shell = [rows[name]["error"], rows[name]["error_standard_error"]]
        assert in_shell == pytest.approx([part.value, part.standard_error], rel=1e-11), name
    assert page["total"] == pytest.approx(float(expected.total), rel=1e-9)
    assert page["printed"] == printed_json(content_of(expected))
    assert float(expected.total) == pytest.approx(3084, abs=0.5)
    assert noise["high"] == pytest.approx(f.noise.upper, rel=1e-12)


def test_limits_of_a_model_are_answered(client: FlaskClient) -> None:
    data = loaded(client)
    assert ready(client, data)["status"] == "ready"
    for change in (
        {"n_features": "inf", "n_members": "inf"},
        {"n_features": ROWS, "ridge": 0, "n_members": 1},
        {"n_samples": 12},
        {"n_samples": 5 * ROWS, "ridge": 1e-9},
    ):
        for action in ("error", "advice"):
            post(client, action, data, setting={**SETTING, **change})
    for name, wrong in (
        ("n_samples", 6 * ROWS),
        ("n_samples", 20.5),
        ("n_features", 0),
        ("ridge", "1"),
        ("n_members", None),
    ):
        body = {"action": "error", "data": data, "setting": {**SETTING, name: wrong}}
        response = client.post("/api/forecast", json=body)
        assert response.status_code == 400
        assert (response.json or {})["message"].startswith(f"{name} must")


def test_missing_values_are_named_and_left_out_on_request(client: FlaskClient) -> None:
    lines = csv_of().decode().splitlines()
    lines[6] = "5,,x,1.0,100.0"
    lines[9] = "8,1.0,x,,100.0"
    data = loaded(client, "\n".join(lines).encode())
    choice = {"target": 4, "inputs": [1, 3]}
    response = client.post(
        "/api/forecast", json={"action": "start", "data": data, "choice": choice}
    )
    assert response.status_code == 400
    message = (response.json or {})["message"]
    assert "got 2 rows with 1 in column 'first' (first in line 7), 1 in column 'second'" in message
    answer = ready(client, data, drop_missing=True)
    assert answer["summary"]["n_samples"] == ROWS - 2
    assert answer["notes"][0] == "2 rows with missing values are left out."


def test_rows_are_sampled_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_forecasts, "MOST_ROWS", 50)
    table = read_csv(csv_of())
    choice = ForecastChoice.from_json({"target": 4, "inputs": [1, 3]}, table)
    rows = choice.rows()
    assert (rows.inputs.shape, rows.labels.shape) == ((50, 2), (50,))
    assert rows.notes[0].startswith("50 of 60 rows are used")
    assert np.isin(rows.inputs["first"], table["first"]).all()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"target": 2}, "target must be numbers, got 'name' ('case 0' in line 2)"),
        ({"target": 9}, "target must be the number of a column"),
        ({"target": True}, "target must be the number of a column"),
        ({"inputs": []}, "inputs must be one column or more"),
        ({"inputs": [4]}, "inputs must not have the target"),
        ({"inputs": [1, "x"]}, "inputs must be the number of a column"),
        ({"activation": "os.system"}, "activation must be one of"),
        ({"scale": 1}, "scale must be true or false"),
        ({"inputs": [1, 2]}, "inputs must have numbers or few classes, got 60 different values"),
        ({"groups": 9}, "groups must be the number of a column"),
        ({"groups": 4}, "groups must be another column than the target"),
        ({"groups": 3}, "inputs must not have the groups, got 'second'"),
        ({"noise": -1}, "noise must be in [0, "),
        ({"noise": "loud"}, "noise must be a number, got 'loud'"),
        ({"colour": 1}, "choice must have names among activation"),
    ],
    ids=str,
)
def test_invalid_choices_are_named(
    choice: dict[str, Any], message: str, client: FlaskClient
) -> None:
    body = {"choice": {"target": 4, "inputs": [1, 3], **choice}, "data": loaded(client)}
    response = client.post("/api/forecast", json={"action": "start", **body})
    assert response.status_code == 400
    assert message in (response.json or {})["message"]


def test_messages_of_the_library_are_shown(client: FlaskClient) -> None:
    answer = ready(client, loaded(client, csv_of(10)))
    assert (answer["status"], answer["message"]) == (
        "failed",
        "y must have at least 20 rows, got 10",
    )


def test_process_of_a_refused_table_exits() -> None:
    worker = Worker(_forecasts.__name__, threads=1)
    column = np.arange(2.0).tobytes()
    worker.send({"shape": [2, 1], "grouped": False}, column, column)
    assert "20 rows" in next(worker.answers())["message"]
    worker.process.wait(WAIT)
    assert worker.close() == "the process ended with exit code 0"


def test_a_forecast_is_cancelled_superseded_and_released(client: FlaskClient) -> None:
    data = loaded(client, csv_of(1500))
    choice = {"target": 4, "inputs": [1, 3]}
    post(client, "start", data, choice=choice)
    assert post(client, "cancel", data)["status"] == "cancelled"
    post(client, "start", data, choice=choice)
    post(client, "start", data, choice=choice)  # in place of the first
    assert post(client, "status", data)["status"] == "running"
    small = loaded(client)
    assert ready(client, small)["status"] == "ready"
    others = [loaded(client), loaded(client)]  # of which two are held
    for gone in (data, small):
        assert (
            client.post("/api/forecast", json={"action": "status", "data": gone}).status_code == 400
        )
    post(client, "release", others[0])
    message = client.post("/api/forecast", json={"action": "status", "data": others[0]}).json
    assert "load it again" in (message or {})["message"]
    question = {"action": "error", "data": others[1], "setting": SETTING}
    assert "ready" in (client.post("/api/forecast", json=question).json or {})["message"]


def test_a_killed_process_is_a_failed_forecast() -> None:
    forecasts = Forecasts()
    data = forecasts.load(csv_of())["data"]
    forecasts.start(data, {"target": 4, "inputs": [1, 3]})
    computation = forecasts._known[data].computation
    assert computation is not None
    with pytest.raises(ValueError, match="forecast must be ready"):
        forecasts.ask(data, "error", SETTING)
    computation.worker.process.kill()
    end = time.monotonic() + WAIT
    while forecasts.status(data)["status"] == "running" and time.monotonic() < end:
        time.sleep(0.02)
    assert forecasts.status(data)["message"] == "the process ended with exit code -9"
    forecasts.close()
    with pytest.raises(ValueError, match="server must be running"):
        forecasts.load(csv_of())


def test_questions_and_reading_are_bounded() -> None:
    forecasts = Forecasts()
    data = forecasts.load(csv_of())["data"]
    forecasts.start(data, {"target": 4, "inputs": [1, 3]})
    computation = forecasts._known[data].computation
    assert computation is not None
    end = time.monotonic() + WAIT
    while computation.status == "running" and time.monotonic() < end:
        time.sleep(0.02)
    computation.waiting = MOST_WAITING
    with pytest.raises(ValueError, match="questions must be at most"):
        forecasts.ask(data, "error", SETTING)
    computation.waiting = 0
    computation.worker.process.kill()
    with pytest.raises(ValueError, match=r"^forecast must be"):
        forecasts.ask(data, "error", SETTING)
    with forecasts._reading, pytest.raises(ValueError, match="one at a time"):
        forecasts.load(csv_of())
    forecasts.close()


def test_hostile_requests_are_refused(client: FlaskClient) -> None:
    data = loaded(client)
    odd: list[Any] = [None, True, -1, 1e308, "inf", "", [], {}, [[]], {"__class__": 1}, "x" * 3000]
    for value in odd:
        for body in (
            {"action": value},
            {"action": "start", "data": value},
            {"action": "start", "data": data, "choice": value},
            {"action": "start", "data": data, "choice": {"target": value, "inputs": value}},
            {"action": "error", "data": data, "setting": value},
            {"action": "python", "data": data, "setting": SETTING, "file": value},
        ):
            response = client.post("/api/forecast", data=json.dumps(body))
            assert response.status_code == 400, body
            assert isinstance((response.json or {})["message"], str)
