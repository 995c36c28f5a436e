"""Printed results: width, alignment and digits, for errors of every size; HTML, JSON and frames."""

import json
import math
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doubletrouble as dt
from doubletrouble._display import (
    ROWS,
    WIDTH,
    Column,
    Content,
    Shown,
    Table,
    _cause_bars,
    _table_lines,
    as_html,
    as_text,
    decimal_aligned,
    fit_verdict,
    table_by_part,
)
from doubletrouble._numbers import alone, between, percent, plain, whole, with_error
from doubletrouble.networks import LazyCurve, LazyRun

SCALES = (1e-9, 1e-3, 1.0, 4820.0, 1e9)

# --- every public result -------------------------------------------------------------------------


def mean_fit(X: Any, y: Any, seed: int) -> Any:
    """A learner with bias, variance over rows, and variance over seeds."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(X), len(X))
    weights = np.linalg.lstsq(X[rows], y[rows], rcond=None)[0]
    return lambda X: X @ weights


def rows_of(scale: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return X, math.sqrt(scale) * (X[:, 0] + np.tanh(2 * X[:, 1]) + 0.3 * rng.normal(size=60))


def problem_of(scale: float, **fields: Any) -> dt.Problem:
    size = math.sqrt(scale)
    return dt.Problem(**{"features_per_dim": 2.0, "ridge": 0.01, **fields}, signal=size, noise=0.5)


@cache
def diagnosis(scale: float) -> Any:
    return dt.diagnose(mean_fit, *rows_of(scale), progress=False)


@cache
def forecast(scale: float) -> Any:
    return dt.forecast(*rows_of(scale))


@cache
def decomposition(scale: float) -> Any:
    return dt.decompose(mean_fit, *rows_of(scale), n_samples=10, n_data=4, progress=False)


@cache
def simulation(scale: float, points: bool) -> Any:
    ridge = np.geomspace(1e-3, 1, 3) if points else 0.01
    return dt.simulate(problem_of(scale, ridge=ridge), dim=10, n_data=4, n_init=2)


def scores(scale: float, *shape: int) -> tuple[Any, Any]:
    """Scores of networks, and classes, of a squared error in proportion to `scale`."""
    rng = np.random.default_rng(0)
    classes = math.sqrt(scale) * np.sign(rng.normal(size=50))
    return classes + math.sqrt(scale) * rng.normal(size=(*shape, 50)), classes


def lazy_run(
    scale: float, n_members: int = 7, width: int = 8, laziness: float = 100.0, status: str = "zero"
) -> LazyRun:
    predictions, classes = scores(scale, n_members)
    some = np.full(n_members, scale)
    lost = status == "diverged"
    return LazyRun(
        predictions=np.where(np.arange(n_members)[:, None] < lost, np.nan, predictions),
        y_test=classes,
        train_error=0 * some,
        train_loss=some,
        displacement=some,
        steps=np.full(n_members, 12),
        status=(status, *["converged"] * (n_members - 1)),
        width=width,
        laziness=laziness,
        settings={"loss": "squared"},
    )


def lazy_curve(scale: float) -> LazyCurve:
    at = [(alpha, width) for alpha in (scale, math.inf) for width in (2, 64)]
    return LazyCurve(runs=tuple(lazy_run(scale, width=w, laziness=a) for a, w in at))


def lazy_split(scale: float) -> Any:
    pytest.importorskip("torch")
    predictions, classes = scores(scale, 3, 2, 4)
    return dt.results.LazySplit(
        predictions=predictions,
        y_test=classes,
        squared=dt.decompose_predictions(predictions, y_test=classes, noiseless=False),
        train_error=np.zeros((3, 2, 4)),
        settings={"loss": "hinge"},
    )


@cache
def sweep(scale: float) -> tuple[dt.Sweep, Path]:
    """A grid and its store, of which some cells fail."""
    problem = dt.Problem(ridge=[1e-3, 0.1], signal=math.sqrt(scale), noise=0.5)
    grid = dt.Sweep(problem, dim=[8, 10], n_data=2, n_init=2)
    path = Path(folder().name) / f"{scale}.sqlite"
    grid.run(path, workers=1, progress=False)
    return grid, path


@cache
def folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


LAW = dt.PowerLaw(capacity=1.5, source=0.8)


def spectral(scale: float) -> Any:
    return dt.SpectralProblem.from_law(
        LAW, n_samples=1e4, n_features=1e3, noise=math.sqrt(scale) * 0.1
    )


RESULTS: dict[str, Callable[[float], Any]] = {
    "exact_error": lambda s: dt.exact_error(problem_of(s)),
    "exact_error over a grid": lambda s: dt.exact_error(
        problem_of(s, ridge=np.geomspace(1e-4, 1, 9)[:, None]), [1, 5, math.inf]
    ),
    "anova": lambda s: dt.anova(problem_of(s)),
    "difference": lambda s: dt.exact_error(problem_of(s)) - dt.exact_error(problem_of(s), 5),
    "optimal_ridge": lambda s: dt.optimal_ridge(problem_of(s)),
    "best_stopping_time": lambda s: dt.best_stopping_time(problem_of(s)),
    "committee": lambda s: dt.committee([problem_of(s)] * 3),
    "advise, problem": lambda s: dt.advise(problem_of(s)),
    "advise, spectrum": lambda s: dt.advise(spectral(s)),
    "exponents": lambda s: dt.exponents(spectral(s)),
    "scaling_frontier": lambda s: dt.scaling_frontier(spectral(s), [1e9, 1e12]),
    "simulate": lambda s: simulation(s, False),
    "simulate a curve": lambda s: simulation(s, True),
    "simulate().error": lambda s: simulation(s, True).error([[1], [5]]),
    "simulate().psi": lambda s: simulation(s, False).psi,
    "simulate, ensembles": lambda s: dt.simulate(
        problem_of(s), dim=10, n_data=4, n_init=2, ensembles=[dt.Divide(2), dt.Bootstrap(4)]
    ),
    "simulate, classes": lambda s: dt.simulate(
        problem_of(s, task="classification", loss="hinge", flips=0.1), dim=10, n_data=4, n_init=2
    ),
    "simulate, members": lambda s: dt.simulate(
        [dt.Member(ridge=0.1), dt.Member(ridge=0.1, activation="tanh")],
        signal=math.sqrt(s),
        noise=0.5,
        dim=10,
        n_data=4,
    ),
    "ridge_path": lambda s: dt.RandomFeaturesRidge(9, random_state=0).ridge_path(*rows_of(s)),
    "plan_repeats": lambda s: dt.plan_repeats(decomposition(s)),
    "decompose": decomposition,
    "decompose().by_row": lambda s: decomposition(s).by_row(),
    "decompose().anova": lambda s: decomposition(s).anova(),
    "advise, decomposition": lambda s: dt.advise(decomposition(s)),
    "diagnose": diagnosis,
    "diagnose().error": lambda s: diagnosis(s).error(n_samples=[30, 60]),
    "diagnose().advise": lambda s: diagnosis(s).advise(),
    "diagnose().learning_curve": lambda s: diagnosis(s).learning_curve(),
    "diagnose().by_row": lambda s: diagnosis(s).by_row(),
    "compare": lambda s: dt.compare(
        {"least squares": mean_fit, "a learner of a long name": mean_fit},
        *rows_of(s),
        progress=False,
    ),
    "forecast": forecast,
    "forecast().error": lambda s: forecast(s).error(n_features=[10, 100, math.inf]),
    "forecast().advise": lambda s: forecast(s).advise(n_features=50),
    "compare().advise": lambda s: RESULTS["compare"](s).advise(),
    "calibration": lambda s: dt.calibration(
        dt.Problem(task="classification", loss="logistic", flips=0.1, ridge=0.1), 5
    ),
    "psi_terms": lambda s: dt.theory.psi_terms(problem_of(s, ridge=[0.1, 1.0])),
    "frontier exponents": lambda s: dt.scaling_frontier(spectral(s), [1e9, 1e12]).exponents,
    "asymptotic exponents": lambda s: dt.scaling_frontier(spectral(s), [1e9, 1e12]).asymptotic,
    "part exponents": lambda s: dt.exponents(spectral(s)).by_n_samples,
    "marginal_value": lambda s: dt.advice.marginal_value(spectral(s)),
    "option": lambda s: forecast(s).advise(n_features=50)["2x data"],
    "option of a diagnosis": lambda s: diagnosis(s).advise()["bag of 10"],
    "label noise": lambda s: forecast(s).noise,
    "noise above its bound": lambda s: dt.diagnose(
        mean_fit, *rows_of(s), noise=1.2 * math.sqrt(s), progress=False
    ),
    "check": lambda s: forecast(s).checks["back_test"],
    "best_stopping_time over a grid": lambda s: dt.best_stopping_time(
        problem_of(s, ridge=[0.1, 1.0])
    ),
    "order_parameters": lambda s: dt.convex.order_parameters(
        dt.Problem(task="classification", loss="hinge", ridge=[0.1, 1.0])
    ),
    "calibration of several": lambda s: dt.calibration(
        dt.Problem(task="classification", loss="logistic", flips=0.1, ridge=[0.01, 0.1])
    ),
    "exponents of several": lambda s: dt.exponents(
        dt.SpectralProblem.from_law(LAW, n_samples=[[1e3], [1e4]], n_features=[1e2, 1e3, 1e4])
    ),
    "best_allocation": lambda s: dt.best_allocation(problem_of(s), 10.0),
    "forecast().checks": lambda s: forecast(s).checks,
    "forecast().best_allocation": lambda s: forecast(s).best_allocation(100),
    "part exponents of several": lambda s: RESULTS["exponents of several"](s).by_n_samples,
    "train_lazy": lambda s: lazy_run(s),
    "train_lazy, one network": lambda s: lazy_run(s, n_members=1),
    "train_lazy, diverged": lambda s: lazy_run(s, status="diverged"),
    "lazy_curve": lazy_curve,
    "lazy_split": lazy_split,
    "sweep": lambda s: sweep(s)[0].results(sweep(s)[1]),
    "sweep, cell": lambda s: sweep(s)[0].cells()[0],
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", RESULTS)
def test_text_is_narrow_aligned_and_has_the_digits_of_its_numbers(name: str, scale: float) -> None:
    result = RESULTS[name](scale)
    text = str(result)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "nan" not in text.lower().split()
    assert "\n" not in repr(result)
    content = result._content()
    if content.verdict:
        assert text.replace("\n", " ").endswith(" ".join(content.verdict.split()))
    for table in content.tables:
        check_table(table)


NUMBER = re.compile(r"[<+-]?(?:[\d,]+(?:\.\d+)?(?:e[+-]\d+)?|∞)%?")


def check_table(table: Table) -> None:
    """Read the numbers of a printed table back, and compare them with its rows."""
    printed = [column for column in table.columns if column.printed]
    columns = [c for k, c in enumerate(printed) if k == 0 or c.form not in ("words", "multiples")]
    cells = [[row[table.columns.index(column)] for column in columns] for row in table.rows]
    if columns[:1] and columns[0].form == "words":  # labels without digits, which do not wrap
        cells = [["abcdefgh"[k % 8] * 3, *row[1:]] for k, row in enumerate(cells)]
    known = [k for k, column in enumerate(columns) if any(row[k] is not None for row in cells)]
    columns = [columns[k] for k in known]
    cells = [[row[k] for k in known] for row in cells][:ROWS]
    if not cells or not columns:
        return
    alone = Table(name="t", columns=columns, rows=cells, confidence=table.confidence)
    panels = "\n".join(_table_lines(alone)).split("\n\n")
    keys = 1  # the first column begins every panel
    for k, row in enumerate(cells):
        read: list[str] = []
        for number, panel in enumerate(panels):
            line = panel.split("\n")[k - len(cells)]
            found = NUMBER.findall(line)
            read += found[keys * (number > 0 and columns[0].form != "words") :]
        wanted = [
            x
            for column, cell in zip(columns, row, strict=True)
            for x in numbers(column, cell, table)
        ]
        assert len(read) == len(wanted), (read, wanted)
        for text, (value, tolerance) in zip(read, wanted, strict=True):
            check_number(text, value, tolerance)
    for panel in panels:  # signs of errors are below each other
        signs = {
            line.find("±") for line in panel.split("\n")[-len(cells) :] if line.count("±") == 1
        }
        assert len(signs) <= 1


def numbers(column: Column, cell: Any, table: Table) -> list[tuple[float, float]]:
    """What a cell prints: numbers, and how far rounding may move them."""
    if cell is None or column.form == "words":
        return []
    value = float(getattr(cell, "value", cell))
    if math.isnan(value):
        return []
    if column.form in ("exponent", "skill"):
        return [(value, 5e-4 if column.form == "exponent" else max(5e-3, 5e-3 * abs(value)))]
    scale, least = (100.0, 0.5) if column.form in ("share", "gain") else (1.0, 0.0)
    tolerance = max(5.1e-3 * scale * abs(value), least)
    if not hasattr(cell, "standard_error"):
        return [(scale * value, tolerance)]
    if column.interval and table.confidence is not None:
        low, high = cell.confidence_interval(table.confidence)
        if not low < high:
            return [(scale * value, tolerance)]
        wide = max(0.051 * scale * (high - low) / 2, 5.1e-3 * scale * max(-low, high), least)
        return [(scale * x, max(wide, tolerance)) for x in (value, low, high)]
    if column.form != "number":
        return [(scale * value, tolerance)]
    error = float(cell.standard_error)
    if column.without_error:  # with the digits that the error leaves
        tolerance = max(tolerance, 0.051 * error)
        index = table.columns.index(column)
        if not any(is_rounded_away(row[index]) for row in table.rows[:ROWS]):
            return [(value, tolerance)]
    rounding = 1e-15 * abs(value)  # is printed as no error
    return [(value, max(tolerance, 0.051 * error)), (error, max(0.051 * error, rounding))]


def is_rounded_away(cell: Any) -> bool:
    """Whether an uncertain number reads as 0 without its error."""
    return bool(getattr(cell, "standard_error", 0.0)) and not float(alone(cell).replace(",", ""))


def check_number(text: str, value: float, tolerance: float) -> None:
    if "∞" in text:
        assert math.isinf(value)
        return
    if text.startswith("<"):
        assert 0 < abs(value) < 0.1
        return
    assert abs(float(text.strip("%").replace(",", "")) - value) <= 1.001 * tolerance + 1e-300


def test_numbers_that_are_off_are_found() -> None:
    with pytest.raises(AssertionError):
        check_number("4,820", 4860.0, 24.1)
    table = diagnosis(4820.0)._content().tables[0]
    wanted = [
        one
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if column.printed
        for one in numbers(column, cell, table)
    ]
    assert len(wanted) == 4 * 3 + 3  # values with intervals, and shares


# --- numbers -------------------------------------------------------------------------------------

finite = st.floats(-1e12, 1e12, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-12)


@given(finite)
def test_numbers_have_three_digits_and_plain_notation(value: float) -> None:
    text = plain(value)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=5.001e-3, abs=0)
    near = float(f"{value:.2e}")
    assert ("e" in text) == (value != 0 and not 1e-4 <= abs(near) < 1e7)


@given(finite, st.floats(1e-6, 1e3))
def test_a_value_and_its_error_end_at_the_same_place(value: float, relative: float) -> None:
    error = relative * (abs(value) or 1.0)
    first, second = with_error(value, error).split(" ± ")
    assert float(second.replace(",", "")) == pytest.approx(error, rel=0.051)
    assert abs(float(first.replace(",", "")) - value) <= 0.051 * error
    for text in (first, second):
        assert ("e" in text) == ("e" in first)
    assert first.partition("e")[0][::-1].find(".") == second.partition("e")[0][::-1].find(".")


@given(finite, finite)
def test_ends_of_an_interval_are_those_of_the_numbers(a: float, b: float) -> None:
    low, high = sorted((a, b))
    texts = between(low, high).split(" to ")
    assert len(texts) == 2
    for text, number in zip(texts, (low, high), strict=True):
        half = (high - low) / 2
        off = abs(float(text.replace(",", "")) - number)
        assert off <= max(0.051 * half, 5.001e-3 * abs(number))


def test_values_of_users_read_as_they_write_them() -> None:
    assert [plain(4820.0), plain(1e9), plain(1e-9)] == ["4,820", "1.00e+09", "1.00e-09"]
    assert with_error(32.5, 950.0) == "30 ± 950"
    assert [whole(x) for x in (442.0, 0.0153784, 1e-5, math.inf)] == ["442", "0.0154", "1e-05", "∞"]
    assert [percent(x) for x in (0.478, 1.0, 0.0, 1e-5, -0.02)] == [
        "48%",
        "100%",
        "0%",
        "<0.1%",
        "-2%",
    ]
    assert [percent(x, "+") for x in (0.2, -24.2, 0.0)] == ["+20%", "-2,420%", "0%"]


def test_numbers_line_up_at_their_points() -> None:
    cells = decimal_aligned(["0.5", "4,820", "12.25", "∞", "1.00e+09"])
    assert len({len(cell) for cell in cells}) == 1
    assert len({cell.index(".") for cell in cells if "." in cell}) == 1


# --- tables --------------------------------------------------------------------------------------

WIDE = Table(
    name="wide",
    columns=[
        Column(name="learner", form="words"),
        *(Column(name=f"a quantity of a long name {k}") for k in range(12)),
        Column(name="how it is known", form="words"),
    ],
    rows=[
        ["forest", *(4820.0 * (k + 1) for k in range(12)), "measured, paired by rows, " * 4],
        ["a learner with a name of many words", *(-1e-9 for _ in range(12)), "law"],
    ],
)


def test_wide_tables_wrap_words_and_continue_below() -> None:
    text = as_text(Content(tables=[WIDE]))
    assert max(map(len, text.splitlines())) <= WIDTH
    words = text.split()
    assert words.count("forest") > 1  # the first column is in every panel
    assert all(plain(4820.0 * (k + 1)) in words for k in range(12))


def test_long_tables_print_their_first_and_last_rows() -> None:
    curve = dt.exact_error(dt.Problem(features_per_dim=np.geomspace(0.1, 10, 30)), 10)
    lines = str(curve).splitlines()
    assert "30 points" in lines
    assert sum("…" in line for line in lines) == 1
    assert len(curve.to_frame()) == 30


# --- HTML, JSON and frames -----------------------------------------------------------------------


class Page(HTMLParser):
    """The text, the tags and the number of open elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.open += 1

    def handle_endtag(self, tag: str) -> None:
        self.open -= 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", RESULTS)
def test_results_show_themselves_in_notebooks_and_export(name: str) -> None:
    result = RESULTS[name](1.0)
    assert isinstance(result, Shown)
    content = result._content()
    page = Page(result._repr_html_())
    assert page.open == 0
    if any(column.printed for table in content.tables for column in table.columns):
        assert "table" in page.tags
    assert "pre" not in page.tags
    if content.verdict:
        assert page.texts[0] == content.verdict  # the heading
    document = json.loads(result.to_json(), parse_constant=refuse_constant)
    assert all(table.name in document for table in result._tables())
    frame = result.to_frame()
    assert len(frame) == sum(len(table.rows) for table in result._tables())


@pytest.mark.parametrize("scale", [1.0, 4820.0])
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_drawn_inside_of_their_figures(name: str, scale: float) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    if name == "sweep, cell":
        pytest.skip("parameters have no picture")
    result, ordinary = RESULTS[name](scale), pyplot.subplots()[1]
    assert result.plot(ordinary) is ordinary
    for ax in (ordinary, result.plot()):
        assert ax.get_xlabel()
        ax.figure.canvas.draw()  # no warnings
        box, whole = ax.figure.get_tightbbox(), ax.figure.bbox_inches
        assert min(box.x0, box.y0) >= -0.01
        assert max(box.x1 - whole.x1, box.y1 - whole.y1) <= 0.01
    pyplot.close("all")


def refuse_constant(text: str) -> Any:
    raise ValueError(text)  # NaN and Infinity are not strict JSON


def test_causes_are_a_bar_in_their_colours() -> None:
    terms = dt.exact_error(dt.Problem(noise=0.5))
    page = terms._repr_html_()
    widths = [
        float(x) for x in re.findall(r"display:inline-block;height:100%;width:([\d.]+)%", page)
    ]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    assert len(widths) == sum(part > 0 for part in terms.parts.values())
    labels = re.findall(r'aria-label="([^"]*)"', page)
    shares = [
        f"{name} {share}"
        for name, share in zip(
            ("noise", "initialization", "sampling", "bias", "noise floor"),
            [percent(float(part / terms.total)) for part in terms.parts.values()],
            strict=True,
        )
    ]
    assert labels == [", ".join(shares)]


def test_parts_that_are_no_shares_have_no_bar_and_no_shares() -> None:
    result = RESULTS["noise above its bound"](1.0)
    table = result._content().tables[0]
    assert not table.parts
    assert all(row[3] is None for row in table.rows)
    assert "these rows allow at most" in str(result)
    assert result.verdict.startswith("The given noise is more than the error allows")


def test_words_of_users_are_escaped() -> None:
    table = Table(name="t", columns=[Column(name="a", form="words")], rows=[["<script>"]])
    assert "<script>" not in as_html(Content(title="<b>", tables=[table], verdict="<i>"))


def test_all_cells_of_a_column_have_their_errors_where_one_rounds_to_zero() -> None:
    estimates = [dt.Estimate(value=v, standard_error=s, n_draws=9) for v, s in ((60, 4), (3, 130))]
    column = Column(name="noise", without_error=True)
    lines = _table_lines(Table(name="t", columns=[column], rows=[[one] for one in estimates]))
    assert [line.split() for line in lines[1:]] == [["60.0", "±", "4.0"], ["0", "±", "130"]]


def test_numbers_have_the_same_digits_with_an_interval_and_with_an_error() -> None:
    e = dt.Estimate(value=3318.0, standard_error=83.0, n_draws=9)
    terms = dt.ErrorTerms(bias=e, bayes=0.0)
    tables = [table_by_part(terms, level) for level in (None, 0.9)]
    texts = [as_text(Content(tables=[table])) for table in tables]
    assert all("3,318" in text for text in texts)
    assert "3,164 to 3,472" in texts[1]


def test_a_worse_error_is_named_so_where_its_interval_excludes_the_mean() -> None:
    for error, word in ((700.0, "Not better than"), (7.0, "Worse than")):
        total = dt.Estimate(value=5710.0, standard_error=error, n_draws=99)
        terms = dt.ErrorTerms(bias=total, bayes=0.0, baseline=5660.0)
        assert str(terms).startswith(f"{word} predicting the mean: error ")


@pytest.mark.parametrize("variance", [0.39, 0.45, 0.55, 0.61])
def test_causes_of_similar_shares_are_both_named(variance: float) -> None:
    terms = dt.ErrorTerms(
        initialization=0.0,
        sampling=variance,
        bias=1 - variance,
        includes={"bias": "noise floor"},
    )
    verdict, _ = fit_verdict(terms)
    assert ("Overfitting" in verdict) == (variance > 0.4)
    assert ("nderfitting or label noise" in verdict) == (variance < 0.6)
    shares = [int(word[:-1]) for word in verdict.split() if word.endswith("%")]
    assert sum(shares) == (100 if 0.4 < variance < 0.6 else 61)


def test_a_column_with_large_numbers_has_one_notation() -> None:
    column = Column(name="budget", form="count")
    lines = _table_lines(Table(name="t", columns=[column], rows=[[0.0], [1e6], [2.15e7], [np.inf]]))
    assert [line.strip() for line in lines[1:]] == ["0", "1.00e+06", "2.15e+07", "∞"]


def test_a_bar_that_is_cut_has_a_gap() -> None:
    totals = [{"bias": 1.0}, {"bias": 1.2}, {"bias": 90.0}]
    gaps = [bar.count("width:6.0%;") for bar in _cause_bars(totals, {})]
    assert gaps == [0, 0, 2]
