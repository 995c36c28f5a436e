"""The application of the server: what it serves, computes and refuses."""

import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

import doubletrouble as dt
from doubletrouble._display import content_of, printed_json
from doubletrouble.advice import advise_problem
from doubletrouble.page._app import application
from doubletrouble.page._declarations import FILE, SETTING, STATIC, VIEW, NumberControl, as_json
from doubletrouble.page._forecasts import Forecasts
from doubletrouble.page._settings import PageSetting
from doubletrouble.page._simulations import Simulations

SIMULATION = {
    "along": "features_per_sample",
    "range": [0.5, 2.0],
    "dim": 10,
    "n_data": 2,
    "settings": [{}],
}


@pytest.fixture
def client() -> Iterator[FlaskClient]:
    simulations = Simulations()
    yield application(simulations, Forecasts()).test_client()
    simulations.close()


def test_declarations_of_the_browser_are_current() -> None:
    claims = Path("docs/claims.md").read_text(encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == as_json(claims), (
        "run python -m doubletrouble.page._declarations docs/claims.md"
    )


def test_defaults_are_in_their_domains() -> None:
    for name, control in (SETTING | VIEW).items():
        if isinstance(control, NumberControl):
            assert not control.spec.outside(np.asarray(control.default)), name
        else:
            assert control.default in control.choices, name


def test_index_is_marked_as_served(client: FlaskClient) -> None:
    for path in ("/", "/index.html"):
        response = client.get(path)
        assert response.status_code == 200
        assert 'name="doubletrouble-server"' in response.get_data(as_text=True)


def test_static_files_have_a_strict_policy_and_may_be_framed(client: FlaskClient) -> None:
    with client.get("/theory.js") as response:
        headers = response.headers
    assert headers["Content-Type"].startswith("text/javascript")
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "frame-ancestors" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] in (STATIC / "index.html").read_text(encoding="utf-8")


def test_results_may_not_be_framed(client: FlaskClient) -> None:
    policy = client.post("/api/advice", json={"setting": {}}).headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "path", ["/../_app.py", "/..%2f_app.py", "/%2e%2e/_app.py", "/no.js", "/etc/passwd"]
)
def test_only_static_files_are_served(path: str, client: FlaskClient) -> None:
    assert client.get(path).status_code in (404, 308)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "example.org"},
        {"Host": "127.0.0.1.example.org:8050"},
        {"Origin": "http://example.org"},
        {"Origin": "null"},
        {"Origin": "evil://localhost"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/", "/api/advice"])
def test_foreign_requests_are_refused(
    path: str, headers: dict[str, str], client: FlaskClient
) -> None:
    send = client.get if path == "/" else client.post
    assert send(path, headers=headers).status_code == 403


def test_another_name_is_accepted_where_it_is_served() -> None:
    response = application(Simulations(), Forecasts(), ("example.org",)).test_client()
    assert response.get("/", headers={"Host": "example.org:8050"}).status_code == 200
    assert response.get("/", headers={"Host": "LOCALHOST:8050"}).status_code == 200


def test_large_bodies_are_refused(client: FlaskClient) -> None:
    response = client.post("/api/advice", data=b"[" + b" " * 100_000 + b"]")
    assert response.status_code == 413


def test_deep_json_is_refused(client: FlaskClient) -> None:
    assert client.post("/api/advice", data=b"[" * 50_000).status_code == 400


def test_other_methods_are_refused(client: FlaskClient) -> None:
    for method in (client.put, client.delete, client.patch):
        assert method("/api/simulations").status_code == 405


def test_advice_is_that_of_the_library(client: FlaskClient) -> None:
    setting = {"features_per_sample": 3, "n_members": 10, "snr": "inf", "ridge": 0.01}
    given = {"setting": setting, "budget": 40, "cost": "features"}
    response = client.post("/api/advice", json=given)
    problem = dt.Problem(features_per_dim=3.0, samples_per_dim=1.0, ridge=0.01, noise=0.0)
    expected = advise_problem(problem, 10, budget=40.0, cost="features")
    assert response.json == printed_json(content_of(expected))


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ({"ridge": -1}, "ridge"),
        ({"features_per_sample": "wide"}, "features_per_sample"),
        ({"features_per_sample": 1, "features_per_dim": 2}, "features_per_dim"),
        ({"n_members": 1.5}, "n_members"),
        ({"scheme": "committee"}, "scheme"),
        ({"activation": ["relu"]}, "activation"),
        ({"snr": True}, "snr"),
        ({"color": 1}, "color"),
        ([], "setting"),
        ({"time": 3}, "time"),
    ],
)
def test_invalid_settings_are_named(setting: Any, name: str, client: FlaskClient) -> None:
    response = client.post("/api/advice", json={"setting": setting})
    assert response.status_code == 400
    assert name in (response.json or {})["message"]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"action": "delete"}, "action"),
        ({"settings": []}, "settings"),
        ({"settings": [{}] * 3}, "settings"),
        ({"range": [1, 1]}, "range"),
        ({"range": "all"}, "range"),
        ({"range": [0, 1]}, "range"),
        ({"dim": 1e9}, "dim"),
        ({"n_data": 1}, "n_data"),
        ({"along": "noise"}, "along"),
        ({"range": [0.1, [10]]}, "range"),
        ({"range": [1e3, 1e4], "dim": 400}, "range"),
        ({"range": [8, 10], "dim": 400, "n_data": 200}, "n_data"),
    ],
)
def test_invalid_simulations_are_named(
    change: dict[str, Any], name: str, client: FlaskClient
) -> None:
    response = client.post("/api/simulations", json={"action": "start", **SIMULATION, **change})
    assert response.status_code == 400
    assert (response.json or {})["message"].startswith(f"{name} must")


def test_hostile_requests_are_refused_or_answered(client: FlaskClient) -> None:
    rng = random.Random(0)
    odd: list[Any] = [
        None,
        True,
        -1,
        0,
        1e308,
        "inf",
        "-inf",
        "nan",
        "",
        "1",
        "__class__",
        "../x",
        "<b>",
        [],
        {},
    ]
    odd += [[0.1, 10], [[]], {"__proto__": 1}, "🤷", "x" * 3000, 2**70]
    names = [*SETTING, *VIEW, "settings", "setting", "range", "action"]
    for _ in range(100):
        body: dict[str, Any] = {rng.choice(names): rng.choice(odd) for _ in range(rng.randrange(6))}
        if rng.random() < 0.5:
            setting = {rng.choice(names): rng.choice(odd) for _ in range(rng.randrange(4))}
            body |= {"action": "status", **SIMULATION, "settings": [setting], "setting": setting}
        for path in ("/api/advice", "/api/simulations"):
            response = client.post(path, data=json.dumps(body))
            assert response.status_code in (200, 400), (path, body)
            assert isinstance(response.json, dict)


def test_errors_of_the_program_are_not_those_of_a_request(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it takes no arguments
    monkeypatch.setattr("doubletrouble.page._app.advise_problem", lambda: None)
    assert client.post("/api/advice", json={"setting": {}}).status_code == 500


@pytest.mark.parametrize("ratio", ["features_per_sample", "features_per_dim"])
def test_settings_are_problems_and_ensembles(ratio: str) -> None:
    given: dict[str, Any] = {
        ratio: 3,
        "samples_per_dim": 2,
        "snr": 4,
        "scheme": "feature_bank",
        "bank_per_feature": 5,
    }
    setting = PageSetting.from_json({**given, "n_members": "inf"})
    problem = setting.problem()
    assert problem.features_per_dim == (6.0 if ratio == "features_per_sample" else 3.0)
    for along, value in (("features_per_sample", 4), ("features_per_dim", 8)):
        assert setting.problem(along, value).features_per_dim == 8.0
    assert problem.noise == 0.25
    bank = 5 * float(np.asarray(problem.features_per_dim))
    assert setting.ensemble(problem) == dt.FeatureBank(math.inf, bank_per_dim=bank)


def test_threshold_is_where_features_equal_samples_of_a_model() -> None:
    divided = PageSetting.from_json({"scheme": "divide", "n_members": 4})
    assert divided.threshold("features_per_sample") == 0.25
    drawn = PageSetting.from_json(
        {"scheme": "subsample", "fraction": 0.5, "samples_per_dim": 2, "features_per_dim": 2}
    )
    assert drawn.threshold("features_per_dim") == 1.0
    assert drawn.threshold("samples_per_dim") == 4.0
    assert drawn.threshold("ridge") is None
