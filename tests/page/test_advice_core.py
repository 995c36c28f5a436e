"""The advice that the page computes in the browser is that of `dt.advise`."""

import json
import math
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser

import doubletrouble as dt
from doubletrouble._display import content_of
from doubletrouble._numbers import percent, plain, whole

pytestmark = pytest.mark.xdist_group("browser")

TOLERANCE = 1e-10
EVALUATE = """async (settings) => {
    const [{ advise, meaning }, declared] = await Promise.all([
        import("./advice.js"), fetch("declarations.json").then((response) => response.json()),
    ]);
    const read = (text) => JSON.parse(text, (_, value) => (value === "inf" ? Infinity : value));
    return JSON.stringify(
        read(settings).map(({ problem, scheme }) => {
            const found = advise(problem, scheme);
            const totals = found.options.map(({ name, total }) => [name, total]);
            return {
                now: found.now.total, totals, choice: found.choice.name, sentence: found.sentence,
                meaning: meaning(found, declared.parts),
            };
        }),
        (_, value) => (value === Infinity ? "inf" : value),
    );
}"""


def settings() -> list[dict[str, Any]]:
    """Sixty settings: random ones, limits, and numbers that are rounded at a tie."""
    rng = np.random.default_rng(18)
    found = []
    for _ in range(44):
        ratio, samples, ridge, noise = 10 ** rng.uniform([-1, -1, -6, -1], [1.5, 1, 1, 1])
        members = float(rng.choice([1, 2, 3, 10, 100]))
        scheme = str(rng.choice(["ensemble", "divide"]))
        found.append((ratio * samples, samples, ridge, noise, members, scheme))
    for ridge in (0.0, 1e-5):
        for ratio in (1.0, 1.05, 1.2, 0.64, 100.0, math.inf):
            found.append((ratio, 1.0, ridge, 1.0, 1.0, "ensemble"))
    found += [
        (0.5, 1.0, 0.0, 1.0, 2.0, "divide"),
        (0.52, 1.0, 0.0, 0.5, 2.0, "divide"),
        (2.0, 1.0, 1e-5, 1.0, math.inf, "ensemble"),
        (2.0, 1.0, 0.0, 1.0, math.inf, "divide"),
        (2.0, 1.0, 0.1, 0.0, 1.0, "ensemble"),
    ]
    names = ("features_per_dim", "samples_per_dim", "ridge", "noise")
    return [
        {
            "problem": dict(zip(names, map(float, numbers), strict=True)) | {"activation": "relu"},
            "scheme": {"name": scheme, "n_members": members},
        }
        for *numbers, members, scheme in found
    ]


def in_browser(browser: Browser, address: str, given: list[dict[str, Any]]) -> Any:
    tab = browser.new_page()
    tab.goto(address)
    found = json.loads(tab.evaluate(EVALUATE, _strict(given)))
    tab.close()
    return found


def _strict(value: object) -> str:
    return json.dumps(value).replace("Infinity", '"inf"')


def test_browser_advice_is_that_of_python(browser: Browser, file_server: str) -> None:
    given = settings()
    assert len(given) >= 60
    for setting, found in zip(given, in_browser(browser, file_server, given), strict=True):
        scheme = dt.Divide if setting["scheme"]["name"] == "divide" else dt.Ensemble
        problem = dt.Problem(**setting["problem"])
        advice = dt.advise(problem, scheme(setting["scheme"]["n_members"]))
        names = [option.name for option in advice.changes]
        assert names == [name for name, _ in found["totals"]], setting
        expected = [advice.now.total, *(option.total for option in advice.changes)]
        totals = [found["now"], *(total for _, total in found["totals"])]
        np.testing.assert_allclose([float(t) for t in totals], expected, rtol=TOLERANCE)
        assert found["choice"] == advice.choice.name, setting
        assert found["sentence"] == advice.verdict, setting
        assert advice.now.error is not None
        verdict = content_of(advice.now.error).verdict
        assert found["meaning"] == f"{verdict} {advice.verdict}", setting


def test_numbers_are_those_of_python(browser: Browser, file_server: str) -> None:
    rng = np.random.default_rng(3)
    known = [0.0, 0.0025, 0.0075, 0.0049, 0.00049, 0.5, 0.005, 0.125, 0.005, 0.00995, 0.995, 10.25]
    values = [*known, *(10 ** rng.uniform(-5, 6, 300)).tolist()]
    tab = browser.new_page()
    tab.goto(file_server)
    found = tab.evaluate(
        """async (values) => {
            const { percent, plain, whole } = await import("./numbers.js");
            return values.map((value) => [percent(value), plain(value), whole(value)]);
        }""",
        values,
    )
    tab.close()
    assert found == [[percent(one), plain(one), whole(one)] for one in values]
