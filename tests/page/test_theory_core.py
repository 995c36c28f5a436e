"""The theory in the browser (static/theory.js) gives Python's numbers, at every limit.

Settings are drawn over the whole declared domain, for every scheme and activation. Every part of an
error is compared relative to itself; only what is below 1e-250 of the total, where products
underflow, is not compared.
"""

import base64
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import SCHEMES, Scheme, named_ensemble
from doubletrouble.page._declarations import STATIC
from doubletrouble.parameters import FloatArray, declarations
from doubletrouble.problems import noise_at
from doubletrouble.theory import psi_terms
from tests.schemes import ensemble, supported
from tests.test_no_nan import random_members, random_problem, random_shares

pytestmark = pytest.mark.xdist_group("browser")

SOURCE = (STATIC / "theory.js").read_text(encoding="utf-8")
TOLERANCE = 1e-11
UNDERFLOW = 1e-250
COUNT = 26  # points of every scheme and activation: 2,028 in all

RUN = """async ([source, calls]) => {
  const core = await import("data:text/javascript;base64," + source);
  const result = ([name, ...given]) => {
    try {
      return typeof core[name] === "function" ? core[name](...given) : core[name];
    } catch (error) {
      return { error: error.name, message: error.message };
    }
  };
  const plain = (key, value) => ArrayBuffer.isView(value) ? [...value]
    : typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
  return JSON.stringify(new Function("return " + calls)().map(result), plain);
}"""

NUMBERS = {k: v for k, v in declarations(dt.Problem).items() if k not in dt.Problem().excluded}
"""The numbers of ridge regression, which the browser computes."""

Setting: TypeAlias = tuple[dt.Problem, Scheme]
Arrays: TypeAlias = dict[str, FloatArray]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def results(page: Page, calls: list[list[Any]], source: str = SOURCE) -> list[Any]:
    """The results of calls, each a function of the module and its arguments."""
    encoded = base64.b64encode(source.encode()).decode()
    loaded: list[Any] = json.loads(page.evaluate(RUN, [encoded, json.dumps(calls)]))
    return loaded


def arguments(setting: Setting) -> list[list[Any]]:
    """The problem and the scheme of each point, as the module has them."""
    problem, members = setting
    shape = np.broadcast_shapes(problem.shape, members.shape)

    def columns(owner: Any, names: Any) -> list[dict[str, float]]:
        values = {name: np.broadcast_to(getattr(owner, name), shape).ravel() for name in names}
        return [{k: float(v[i]) for k, v in values.items()} for i in range(math.prod(shape))]

    return [
        [{**fields, "activation": problem.activation}, {"name": members.name, **options}]
        for fields, options in zip(
            columns(problem, NUMBERS),
            columns(members, ["n_members", *members.options]),
            strict=True,
        )
    ]


def columns(rows: list[Any]) -> Arrays:
    """Numbers, or objects of numbers, as an array for each name."""
    named = [row if isinstance(row, dict) else {"value": row} for row in rows]
    assert [row for row in named if "message" in row] == []
    assert all(row.keys() == named[0].keys() for row in named)
    return {key: np.array([float(row[key]) for row in named]) for key in named[0]}


def arrays(curve: dict[str, list[Any]]) -> Arrays:
    """The parts of a curve."""
    return {name: np.array([float(value) for value in values]) for name, values in curve.items()}


def parts(terms: Any) -> Arrays:
    with np.errstate(over="ignore"):
        return {**terms.parts, "total": terms.total}


FUNCTIONS: dict[str, Callable[..., Arrays]] = {
    "exactError": lambda *setting: parts(dt.exact_error(*setting)),
    "anova": lambda *setting: parts(dt.anova(*setting)),
    "trainingError": lambda *setting: {"value": np.asarray(dt.training_error(*setting))},
    "psiTerms": lambda problem, _: {
        name: np.asarray(value) for name, value in psi_terms(problem).by_name.items()
    },
}


def assert_same(got: Arrays, expected: Arrays, *, to_total: bool = False) -> None:
    """Each number relative to itself; with `to_total`, relative to the total."""
    assert got.keys() == expected.keys()
    shape = next(iter(got.values())).shape
    with np.errstate(all="ignore"):
        whole = np.broadcast_to(np.ravel(expected.get("total", 0.0)), shape)
        for name, value in got.items():
            wanted = np.broadcast_to(np.ravel(expected[name]), shape)
            scale = np.abs(whole if to_total else wanted)
            near = np.abs(value - wanted) <= TOLERANCE * scale + UNDERFLOW * np.minimum(
                whole, 1e300
            )
            bad = np.flatnonzero(~(near | (value == wanted)))
            assert bad.size == 0, (name, int(bad[0]), value[bad[0]], wanted[bad[0]])


def compare(page: Page, settings: list[Setting], source: str = SOURCE) -> int:
    """Compare all functions at all points; return how many points there are."""
    rows = [arguments(setting) for setting in settings]
    calls = [[name, *row] for name in FUNCTIONS for group in rows for row in group]
    values = iter(results(page, calls, source))
    for function in FUNCTIONS.values():
        for setting, group in zip(settings, rows, strict=True):
            got = columns([next(values) for _ in group])
            assert_same(got, function(*setting))
    return sum(map(len, rows))


def drawn(
    rng: np.random.Generator, name: str, activation: str, count: int, **kind: bool
) -> Setting:
    problem = random_problem(rng, activation, count, **kind)
    members, shares = random_members(rng, count), random_shares(rng, count)
    return problem, ensemble(name, problem, members, shares)


# --- numbers -------------------------------------------------------------------------------------


def test_random_settings(page: Page) -> None:
    rng = np.random.default_rng(1)
    settings = [drawn(rng, name, sigma, COUNT) for name in supported() for sigma in NAMES]
    assert compare(page, settings) >= 2000


def limits(name: str, activation: str) -> Setting:
    """All combinations of P = N, P → ∞, few samples, λ = 0 and ∞, K → ∞, and no noise."""
    sizes = [(P, N) for N in (1.0, 2.0, 1e-50) for P in (N, 2 * N, 1.0, math.inf)]
    others = product((0.0, 1e-300, 1e-12, math.inf), (0.0, 1.0), (1.0, 2.0, math.inf))
    P, N, ridge, noise, K = np.array([(*a, *b) for a, b in product(sizes, others)]).T
    problem = dt.Problem(
        features_per_dim=P,
        samples_per_dim=N,
        ridge=ridge,
        noise=noise,
        nonlinear_signal=0.5 * noise,
        activation=activation,
    )
    return problem, ensemble(name, problem, K, np.where(noise > 0, 0.5, 1.0))


def test_limits(page: Page) -> None:
    settings = [limits(*kind) for kind in product(supported(), ("relu", "linear", "abs"))]
    assert compare(page, settings) == 288 * len(settings)


def test_moments_and_noise(page: Page) -> None:
    given = [(2.0, 1.0), (math.inf, 3.0), (0.3, 0.7)]
    assert results(page, [["noiseAt", *pair] for pair in given]) == [noise_at(*p) for p in given]
    moments = [(1.0, 1e-9), (1e-9, 1.0), (0.0, 0.0), (-0.3, 0.2), (1e100, 1e99), (1e-130, 0.0)]
    rng = np.random.default_rng(2)
    for linear, nonlinear in moments:
        sigma = dt.Activation(name="own", mean=0.0, linear=linear, nonlinear=nonlinear)
        problem, members = drawn(rng, "subsample", "relu", 20)
        rows = arguments((problem, members))
        for row in rows:
            row[0]["activation"] = {"linear": linear, "nonlinear": nonlinear}
        got = columns(results(page, [["exactError", *row] for row in rows]))
        assert_same(got, parts(dt.exact_error(replace(problem, activation=sigma), members)))


def test_optimal_ridge(page: Page) -> None:
    """Where the minimum is flat the ridge is not determined, but the error is."""
    rng = np.random.default_rng(3)
    apart = points = 0
    for name, sigma in product(supported("optimal_ridge"), ("relu", "tanh", "linear", "softplus")):
        problem, members = setting = drawn(rng, name, sigma, 24, mild=True)
        rows = results(page, [["optimalRidge", *row] for row in arguments(setting)])
        best = dt.optimal_ridge(problem, members)
        assert_same(columns([row["error"] for row in rows]), parts(best.error), to_total=True)
        ridge = np.array([float(row["ridge"]) for row in rows])
        with np.errstate(invalid="ignore"):
            far = ~((np.abs(ridge / best.ridge - 1) < 1e-6) | (ridge == best.ridge))
        inner = np.where((best.ridge > 0) & np.isfinite(best.ridge), best.ridge, ridge)
        for factor in (1.5, 1 / 1.5):
            other = dt.exact_error(replace(problem, ridge=inner * factor), members)
            risen = other.total - best.error.total > 1e-9 * (best.error.total - best.error.bayes)
            assert not np.any(far & risen)
        apart, points = apart + int(far.sum()), points + far.size
    assert apart < 0.01 * points


def test_optimal_ridge_at_its_limits(page: Page) -> None:
    problems = [
        dt.Problem(noise=0.1),
        dt.Problem(noise=0.0, activation="linear", features_per_dim=1.0),
        dt.Problem(signal=0.0),
        dt.Problem(activation="abs"),
        dt.Problem(samples_per_dim=1e-50),
    ]
    for problem, members in product(problems, [1, 3, math.inf]):
        setting = (problem, dt.Ensemble(members))
        (optimum,) = results(page, [["optimalRidge", *arguments(setting)[0]]])
        best = dt.optimal_ridge(*setting)
        assert float(optimum["ridge"]) == pytest.approx(best.ridge, rel=1e-6)
        assert float(optimum["error"]["total"]) == pytest.approx(best.error.total, rel=TOLERANCE)


def test_training_time(page: Page) -> None:
    """Sums over complex ridges: the parts are exact relative to the total."""
    rng = np.random.default_rng(4)
    for name in supported("gradient_flow"):
        for sigma in ("relu", "tanh", "linear", "abs"):
            sizes: dict[str, Any] = {
                n: 10 ** rng.uniform(-1, 1, 12) for n in ("features_per_dim", "samples_per_dim")
            }
            ridges = np.where(rng.random(12) < 0.4, 0.0, 10 ** rng.uniform(-8, 1, 12))
            sizes["features_per_dim"][:2] = sizes["samples_per_dim"][0], math.inf
            problem = dt.Problem(**sizes, ridge=ridges, nonlinear_signal=0.3, activation=sigma)
            members = ensemble(name, problem, random_members(rng, 12), rng.uniform(0.1, 1, 12))
            times = np.concatenate([[0.0, math.inf], 10 ** rng.uniform(-4, 10, 10)])
            rng.shuffle(times)
            rows = arguments((problem, members))
            calls = [
                ["gradientFlow", row[0], t, row[1]] for row, t in zip(rows, times, strict=True)
            ]
            expected = parts(dt.gradient_flow(problem, times, members))
            assert_same(columns(results(page, calls)), expected, to_total=True)


CURVES = [
    ("features_per_dim", np.geomspace(0.1, 10, 41)),
    ("samples_per_dim", np.geomspace(0.1, 10, 41)),
    ("ridge", np.array([0.0, 1e-5, 1.0, math.inf])),
    ("n_members", np.array([2.0, 10.0, math.inf])),
]


def test_curves(page: Page) -> None:
    for (axis, values), name in product(CURVES, SCHEMES):
        varied: dict[str, Any] = {axis: values} if axis in NUMBERS else {}
        problem = dt.Problem(**varied)
        members = ensemble(name, dt.Problem(features_per_dim=10.0), 1 if varied else values)
        first = arguments((problem, members))[0]
        for split, function in (("causes", dt.exact_error), ("effects", dt.anova)):
            call = ["errorCurve", *first, axis, values.tolist(), {"split": split}]
            (curve,) = results(page, [call])
            assert_same(arrays(curve), parts(function(problem, members)))


def test_curve_of_two_axes_and_of_time(page: Page) -> None:
    sizes, times = np.geomspace(0.1, 10, 21), np.array([0.0, 0.1, 10.0, 1e3, math.inf])
    axes = [["features_per_dim", "samples_per_dim"], [(2 * sizes).tolist(), sizes.tolist()]]
    both, over = results(
        page, [["errorCurve", {}, 3, *axes], ["errorCurve", {}, 3, "time", times.tolist()]]
    )
    together = dt.Problem(features_per_dim=2 * sizes, samples_per_dim=sizes)
    assert_same(arrays(both), parts(dt.exact_error(together, 3)))
    expected = parts(dt.gradient_flow(dt.Problem(), times, 3))
    assert_same(arrays(over), expected, to_total=True)


# --- declarations and messages -------------------------------------------------------------------


def test_declarations_are_those_of_python(page: Page) -> None:
    moments, numbers, schemes = results(page, [["ACTIVATIONS"], ["PARAMETERS"], ["SCHEMES"]])
    assert sorted(moments) == sorted(NAMES)
    for name in NAMES:  # quadratures differ in the last digit between processors
        known = dt.activation(name)
        expected = {"linear": known.linear, "nonlinear": known.nonlinear}
        assert moments[name] == pytest.approx(expected, rel=1e-14)
    assert schemes.keys() == SCHEMES.keys()
    for name, kind in SCHEMES.items():
        options = set(declarations(kind)) - {"n_members", "n_bank"}
        assert schemes[name] == {"options": sorted(options), "resamples": kind.resamples}
    others = [declarations(kind) for kind in SCHEMES.values() if kind is not dt.Folds]
    for declared_by in (NUMBERS, *others):
        for name, spec in declared_by.items():
            if name == "n_bank":
                continue
            declared = numbers[name]
            assert (float(declared["low"]), float(declared["high"])) == (spec.low, spec.high), name
            for flag in ("or_inf", "whole", "open_low"):
                assert declared[flag] == getattr(spec, flag), name
    defaults = {name: getattr(dt.Problem(), name) for name in NUMBERS}
    assert {name: numbers[name]["default"] for name in defaults} == defaults


BAD: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"features_per_dim": 0.0}, {}),
    ({"samples_per_dim": math.inf}, {}),
    ({"ridge": -1.0}, {}),
    ({"noise": math.nan}, {}),
    ({"test_noise": 1e151}, {}),
    ({"activation": "step"}, {}),
    ({}, {"n_members": 1.5}),
    ({}, {"name": "folds", "n_members": 1}),
    ({}, {"name": "subsample", "fraction": 0.0}),
    ({}, {"name": "feature_bank", "bank_per_dim": 1.0}),
    ({}, {"name": "divide", "fraction": 0.5}),
    ({}, {"name": "bagging"}),
]


def test_bad_values_throw_the_message_of_python(page: Page) -> None:
    found = results(page, [["exactError", *bad] for bad in BAD])
    for (fields, options), thrown in zip(BAD, found, strict=True):
        others = {key: value for key, value in options.items() if key != "name"}
        with pytest.raises(ValueError, match="must be") as raised:
            dt.exact_error(
                dt.Problem(**fields), named_ensemble(options.get("name", "ensemble"), **others)
            )
        assert thrown["error"] == "RangeError", (fields, options)
        assert thrown["message"].partition(", got")[0] == str(raised.value).partition(", got")[0]


def test_other_bad_arguments_throw(page: Page) -> None:
    calls: list[list[Any]] = [
        ["exactError", {"width": 2}, 1],
        ["exactError", {"ridge": "1"}, 1],
        ["exactError", {}, {"name": "subsample"}],
        ["errorCurve", {}, 1, "activation", [1]],
        ["errorCurve", {}, 1, "ridge", [1, -1]],
        ["gradientFlow", {}, 1, {"name": "bootstrap"}],
        ["gradientFlow", {}, -1, 1],
        ["noiseAt", 0],
    ]
    assert [row.get("error") for row in results(page, calls)] == ["RangeError"] * len(calls)


# --- negative control ----------------------------------------------------------------------------


CHANGES = [
    ("0.30140513749454345", "0.301405137500"),
    ("const R_s = (g * Q_N) / W_g;", "const R_s = (1.0000000001 * g * Q_N) / W_g;"),
    ("[M * M, L * M]", "[M * M * (1 + 5e-11), L * M]"),
    ("const LAST_STEP = 1e-8;", "const LAST_STEP = 1e-4;"),
]


def test_a_changed_coefficient_is_detected(page: Page) -> None:
    settings = [drawn(np.random.default_rng(1), "ensemble", "relu", 200)]
    for before, after in CHANGES:
        assert SOURCE.count(before) == 1, before
        with pytest.raises(AssertionError, match=r"\('"):
            compare(page, settings, SOURCE.replace(before, after))
