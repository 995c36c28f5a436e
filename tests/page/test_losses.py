"""The view of any convex loss: its controls, its curves, and the page that has them."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient
from playwright.sync_api import expect

import doubletrouble as dt
from doubletrouble._display import content_of, printed_json
from doubletrouble.losses import LOSSES
from doubletrouble.page._app import application
from doubletrouble.page._declarations import LOSS, SETTING, VIEW, NumberControl
from doubletrouble.page._forecasts import Forecasts
from doubletrouble.page._simulations import Simulations
from tests.page.conftest import Opener, visit
from tests.page.test_browser import violations


@pytest.fixture
def client() -> Iterator[FlaskClient]:
    simulations = Simulations()
    yield application(simulations, Forecasts()).test_client()
    simulations.close()


def curve(client: FlaskClient, **given: Any) -> dict[str, Any]:
    response = client.post("/api/losses", json={"setting": {}, **given})
    assert response.status_code == 200, response.json
    return dict(response.json or {})


def test_served_page_declares_the_controls(client: FlaskClient) -> None:
    declared: Any = client.get("/declarations.json").json
    assert LOSS.keys() & (SETTING | VIEW).keys() == set()
    for name, control in LOSS.items():
        assert declared["controls"][name]["default"] == control.default
        if isinstance(control, NumberControl):
            assert not control.spec.outside(np.asarray(control.default)), name
        else:
            assert control.default in control.choices
    assert declared["losses"] == {name: list(kind.tasks) for name, kind in LOSSES.items()}


def test_curves_are_those_of_the_library(client: FlaskClient) -> None:
    setting = {"samples_per_dim": 2, "ridge": 1e-3, "n_members": 5, "features_per_sample": 3}
    found = curve(client, setting=setting, loss="hinge", flips=0.2)
    sizes: dict[str, Any] = {"samples_per_dim": 2.0, "ridge": 1e-3}
    sizes |= {"task": "classification", "loss": "hinge", "flips": 0.2}
    problem = dt.Problem(features_per_dim=2 * np.array(found["x"]), **sizes)
    error = dt.exact_error(problem, 5)
    for name, part in error.parts.items():
        np.testing.assert_array_equal(found["parts"][name], part)
    for name, members in (("total", 5), ("one_model", 1), ("infinite_models", math.inf)):
        total = dt.exact_error(problem, members).total
        np.testing.assert_allclose(found[name], total, rtol=1e-9)
    here = eval(found["python"], {"dt": dt, "math": math})
    assert here.total == found["here"]["total"]
    assert found["here"]["printed"] == printed_json(content_of(here))


def test_threshold_is_that_of_separability(client: FlaskClient) -> None:
    # ReLU at N/D = 2: without and with one label in ten flipped
    for flips, expected in ((0.0, 0.3842), (0.1, 0.4267)):
        given = {
            "setting": {"samples_per_dim": 2, "ridge": 0.1},
            "loss": "squared_hinge",
            "flips": flips,
        }
        assert curve(client, **given)["threshold"] == pytest.approx(expected, abs=5e-5)
    assert curve(client, task="regression", loss="huber")["threshold"] == 1


def test_regression_has_its_noise_with_outliers(client: FlaskClient) -> None:
    given = {"setting": {"snr": 4, "ridge": 0.01}, "task": "regression", "loss": "huber"}
    found = curve(client, **given, outliers=0.1, flips=0.3)  # classes only have flips
    noise = dt.Mixture([(0.9, 0.25), (0.1, 2.0)])
    problem = dt.Problem(ridge=0.01, loss="huber", noise=noise)
    assert found["here"]["total"] == dt.exact_error(problem).total
    assert eval(found["python"], {"dt": dt}).total == found["here"]["total"]


def test_maximum_margin_begins_at_its_threshold(client: FlaskClient) -> None:
    found = curve(client, setting={"features_per_sample": 0.2}, loss="max_margin")
    assert min(found["x"]) > found["threshold"]
    assert "separable" in found["here"]["message"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"loss": "huber"}, "loss"),
        ({"loss": "mean"}, "loss"),
        ({"task": "ranking"}, "task"),
        ({"flips": 0.7}, "flips"),
        ({"outliers": "many", "task": "regression", "loss": "huber"}, "outliers"),
        ({"setting": {"ridge": -1}}, "ridge"),
        ({"setting": None}, "setting"),
    ],
    ids=str,
)
def test_invalid_requests_are_named(given: dict[str, Any], name: str, client: FlaskClient) -> None:
    response = client.post("/api/losses", json={"setting": {}, **given})
    assert response.status_code == 400
    assert (response.json or {})["message"].startswith(f"{name} must")


def test_view_follows_its_controls_and_the_address(opened: Opener, page_server: str) -> None:
    query = "view=losses&loss=hinge&ridge=0.01&samples_per_dim=2"
    for width, height in ((360, 740), (1600, 1000)):
        page = opened(query, base=page_server, viewport={"width": width, "height": height})
        expect(page.locator("#losses .sentence")).to_contain_text("P/N = 0.427")
        expect(page.locator("#losses pre")).to_contain_text("loss='hinge', flips=0.1), 1)")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    page.locator("#loss-first-n_members-slider").press("End")
    expect(page.locator("#losses .sentence")).to_contain_text("K = ∞")
    page.locator("#loss-view-task").select_option("regression")
    expect(page.locator("#losses pre")).to_contain_text("loss='huber'")  # hinge is for classes
    assert "loss=huber" in page.url
    assert not page.locator("#loss-view-flips-box").is_visible()
    expect(page.locator("#losses .sentence")).to_contain_text("squared test error")
    page.go_back()
    expect(page.locator("#losses pre")).to_contain_text("loss='hinge'")
    visit(page, "view=losses&task=regression&loss=hinge", page_server)
    expect(page.locator("#losses .messages")).to_contain_text("is for two classes")
    expect(page.locator("#losses pre")).to_contain_text("loss='huber'")


def test_static_page_does_not_have_the_view(opened: Opener) -> None:
    page = opened("view=explore")
    assert page.get_by_role("link", name="Losses").count() == 0
    assert page.locator('[data-control="flips"]').count() == 0
