"""The pictures of results: what is drawn, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble import _plots
from doubletrouble.palette import CAUSES, EFFECTS, HATCHES, PAPER, STRIPES
from doubletrouble.results import Estimate

matplotlib = pytest.importorskip("matplotlib")
pyplot = pytest.importorskip("matplotlib.pyplot")

X = np.geomspace(0.1, 10.0, 12)
PARTS = {"noise": 1200.0, "initialization": 900.0, "sampling": 420.0, "bias": 2300.0}


@pytest.fixture(autouse=True)
def _no_windows() -> None:
    pyplot.switch_backend("Agg")


def estimate(value: Any, error: Any) -> Estimate:
    return Estimate(value=value, standard_error=error, n_draws=10)


def bars(scale: float = 1.0) -> _plots.Bars:
    rows = [
        _plots.Bar(label=name, value=estimate(scale * value, scale * 800.0), part=name)
        for name, value in PARTS.items()
    ]
    rows += [
        _plots.Bar(label="diverged", value=np.inf, part="total"),
        _plots.Bar(label="one draw", value=Estimate(value=1.0, standard_error=np.inf, n_draws=1)),
    ]
    return _plots.Bars(rows=rows, xlabel="squared error", confidence=0.9)


def stack() -> _plots.Stack:
    now = sum(PARTS.values())
    double = {name: value / 2 for name, value in PARTS.items()}
    return _plots.Stack(
        rows=[
            _plots.StackRow(label="now", parts=PARTS, total=estimate(now, 2 * now)),
            _plots.StackRow(label="2x features", parts=double, total=now / 2, new_group=True),
            _plots.StackRow(label="peak", parts={**PARTS, "noise": 1e6}, total=1e6 + now),
            _plots.StackRow(label="diverged", parts={**PARTS, "noise": np.inf}, total=np.inf),
            _plots.StackRow(label="ridge", total=estimate(3300.0, 100.0)),
            _plots.StackRow(label="2x data", total=None, note="withheld: the loss rises"),
        ],
        xlabel="squared error",
        confidence=0.9,
    )


def breakdown(baseline: float | None = 5930.0) -> _plots.Breakdown:
    changes = [
        _plots.Change(label="10 models", after=3400.0, gain=0.3, low=0.25, high=0.35),
        _plots.Change(label="ridge", after=estimate(5000.0, 9000.0), gain=-0.037),
        _plots.Change(
            label="2x data", after=4700.0, gain=0.02, low=-0.1, high=1.4, extrapolated=True
        ),
        _plots.Change(label="4x data", note="withheld: the loss rises with the rows"),
    ]
    return _plots.Breakdown(
        parts={name: (name, estimate(value, 900.0)) for name, value in PARTS.items()},
        total=estimate(sum(PARTS.values()), 400.0),
        xlabel="squared error",
        changes=changes,
        confidence=0.9,
        baseline=baseline,
    )


def curves(**settings: Any) -> _plots.Curves:
    falling = 1.0 / X
    lines = [
        _plots.Curve(label="total", y=falling + 1, part="total", extrapolated=X > 5),
        _plots.Curve(label="bias", y=estimate(falling, 3 * falling), part="bias", points=True),
        _plots.Curve(label="noise", y=estimate(falling / 2, falling), part="noise"),
        _plots.Curve(label="noise floor", y=np.zeros_like(X), part="bayes"),
    ]
    given: dict[str, Any] = {
        "lines": lines,
        "marks": [_plots.Mark(label="P = N", x=1.0)],
    } | settings
    return _plots.Curves(x=X, xlabel="features", ylabel="squared error", **given)


def family(rows: int, **settings: Any) -> _plots.CurveFamily:
    levels = np.geomspace(1e-4, 1.0, rows)
    return _plots.CurveFamily(
        x=X,
        xlabel="features",
        names=[f"ridge = {level:.2g}" for level in levels],
        totals=levels[:, None] + 1 / X,
        ylabel="total squared error",
        **settings,
    )


def colored_map() -> _plots.Map:
    z = 1 / np.abs(np.log(X)[None] ** 2 + X[:, None] ** 2 - 1e-2)
    z[2, 3] = np.inf
    return _plots.Map(
        x=X,
        y=X,
        z=z,
        xlabel="features",
        ylabel="ridge",
        zlabel="squared error",
        points=[
            _plots.MapPoint(x=1.2, y=0.1, label="now"),
            _plots.MapPoint(x=9, y=9, label="best"),
        ],
        marks=[_plots.Mark(label="P = N", x=1.0)],
    )


def waterfall() -> _plots.Waterfall:
    steps = [("noise", "noise", -1200.0), ("bias", "bias", 300.0), ("floor", "bayes", 1e-13)]
    return _plots.Waterfall(
        start_label="now",
        start=4820.0,
        steps=steps,
        end_label="best ridge",
        end=3920.0,
        gain=0.187,
        xlabel="x",
    )


PICTURES: dict[str, Callable[[], _plots.Picture]] = {
    "bars": bars,
    "stack": stack,
    "breakdown": breakdown,
    "curves": curves,
    "family": lambda: family(4),
    "large family": lambda: family(12, levels=np.geomspace(1e-4, 1, 12), levels_label="ridge"),
    "map": colored_map,
    "waterfall": waterfall,
}


def drawn_axes(picture: _plots.Picture) -> Any:
    """The axes of a picture, untyped: artists of matplotlib have no types of their own."""
    return _plots.draw(picture)


def texts(ax: Any) -> list[str]:
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.texts]


def row_labels(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def contrast(color: str, background: str) -> float:
    """The ratio of luminances of the guidelines for web content."""
    rgb = np.array([matplotlib.colors.to_rgb(one) for one in (color, background)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    low, high = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return float((high + 0.05) / (low + 0.05))


def whiskers(ax: Any) -> np.ndarray[Any, Any]:
    """All end points of error bars."""
    segments = [
        np.asarray(segment)
        for collection in ax.collections
        if type(collection).__name__ == "LineCollection"
        for segment in collection.get_segments()
    ]
    return np.concatenate(segments)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_drawn_on_given_axes_or_new_ones(name: str) -> None:
    picture = PICTURES[name]()
    ax = drawn_axes(picture)
    ax.figure.canvas.draw()  # no warnings
    assert ax.get_xlabel()
    figure, given = pyplot.subplots()
    assert _plots.draw(picture, given) is given
    assert given.figure is figure
    part = pyplot.figure(layout="constrained").subfigures(1, 2)[1].add_subplot()
    assert _plots.draw(picture, part) is part


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("columns", [1, 2])
def test_all_of_a_picture_is_inside_of_a_figure_of_ordinary_subplots(
    name: str, columns: int
) -> None:
    figure, axes = pyplot.subplots(1, columns, figsize=(5.2 * columns, 4.8), squeeze=False)
    for ax in axes[0]:
        _plots.draw(PICTURES[name](), ax)
        ax.set_title("a title")
    figure.canvas.draw()
    box = figure.get_tightbbox(figure.canvas.get_renderer())
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= figure.bbox_inches.x1
    assert box.y1 <= figure.bbox_inches.y1


def test_layouts_and_positions_that_are_given_stay() -> None:
    figure = pyplot.figure(layout="constrained")
    engine = figure.get_layout_engine()
    _plots.draw(bars(), figure.add_subplot())
    assert figure.get_layout_engine() is engine
    figure = pyplot.figure()
    ax = figure.add_axes((0.4, 0.3, 0.5, 0.5))
    _plots.draw(bars(), ax)
    figure.canvas.draw()
    assert figure.get_layout_engine() is None
    assert ax.get_position().bounds == pytest.approx((0.4, 0.3, 0.5, 0.5))


@pytest.mark.parametrize("name", PICTURES)
def test_entries_of_legends_are_visible(name: str) -> None:
    ax = drawn_axes(PICTURES[name]())
    legend = ax.get_legend()
    if legend is None:
        return
    assert all(text.get_text() for text in legend.get_texts())
    for handle in legend.legend_handles:
        if isinstance(handle, matplotlib.lines.Line2D):
            color, drawn = handle.get_color(), np.asarray(handle.get_xydata())
            assert len(drawn)
            assert np.isfinite(drawn).all()
            assert handle.get_linestyle() != "None" or handle.get_marker() != "None"
        elif isinstance(handle, matplotlib.patches.Patch):
            color = handle.get_facecolor()
        else:
            color = handle.get_colors()[0]  # of whiskers
        assert np.dot(matplotlib.colors.to_rgb(color), [0.2126, 0.7152, 0.0722]) < 0.85


@pytest.mark.parametrize("name", ["bars", "stack", "breakdown"])
def test_no_whisker_of_bars_is_below_zero(name: str) -> None:
    ax = drawn_axes(PICTURES[name]())
    assert whiskers(ax)[:, 0].min() >= 0
    assert ax.get_xlim()[0] == 0


@pytest.mark.parametrize("logy", [True, False])
def test_no_whisker_or_band_of_curves_is_below_zero(logy: bool) -> None:
    ax = drawn_axes(curves(logy=logy))
    assert ax.get_yscale() == ("log" if logy else "linear")
    lowest = whiskers(ax)[:, 1].min()
    assert lowest > 0 if logy else lowest >= 0
    for band in ax.collections:
        for path in band.get_paths() if type(band).__name__ != "LineCollection" else ():
            assert path.vertices[:, 1].min() >= 0


def test_whiskers_of_a_difference_cross_zero() -> None:
    rows = [_plots.Bar(label="bias", value=estimate(1.0, 2.0), part="bias")]
    ax = drawn_axes(_plots.Bars(rows=rows, xlabel="difference", confidence=0.9, signed=True))
    assert whiskers(ax)[:, 0].min() < 0
    assert texts(ax)[0].startswith("+1.0")


def test_curves_have_a_gap_and_a_note_where_an_estimate_is_not_positive() -> None:
    y = np.array([3.0, 1.0, 0.3, -0.1, 0.05, 0.0, 0.02])
    lines = [
        _plots.Curve(label="bias", y=y, part="bias"),
        _plots.Curve(label="total", y=np.maximum(y, 0.0) + 1, part="total"),
    ]
    ax = drawn_axes(
        _plots.Curves(x=np.arange(1.0, 8.0), xlabel="x", ylabel="y", lines=lines, logy=True)
    )
    bias = next(line for line in ax.lines if line.get_color() == CAUSES["light"]["bias"])
    np.testing.assert_array_equal(np.isnan(bias.get_ydata()), y <= 0)
    assert any("bias at or below zero" in text for text in texts(ax))


def test_lines_that_are_zero_are_in_no_legend() -> None:
    shown = [text.get_text() for text in drawn_axes(curves()).get_legend().get_texts()]
    assert "noise floor" not in shown
    assert {"total", "bias", "noise"} <= set(shown)


def test_lines_below_a_logarithmic_axis_are_in_a_note_only() -> None:
    lines = [
        _plots.Curve(label="total", y=np.ones_like(X), part="total"),
        _plots.Curve(label="noise", y=1e-9 * X, part="noise"),
    ]
    ax = drawn_axes(curves(lines=lines))
    assert ax.get_legend() is None
    assert ax.get_ylim()[0] > 1e-8
    assert any("not shown: noise" in text for text in texts(ax))


def test_lines_that_leave_a_logarithmic_axis_are_in_a_note() -> None:
    lines = [
        _plots.Curve(label="total", y=np.ones_like(X), part="total"),
        _plots.Curve(label="noise", y=np.geomspace(1.0, 1e-9, X.size), part="noise"),
    ]
    ax = drawn_axes(curves(lines=lines))
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"total", "noise"}
    assert any("in part below the axis: noise" in text for text in texts(ax))


@pytest.mark.parametrize("logy", [True, False])
def test_estimates_that_are_cut_off_at_zero_have_a_gap_and_a_note(logy: bool) -> None:
    y = np.where(X < 1, 0.0, X)
    lines = [
        _plots.Curve(label="total", y=1 + X, part="total"),
        _plots.Curve(label="bias", y=estimate(y, 3500.0 + X), part="bias", band=False),
        _plots.Curve(label="noise", y=estimate(0 * X, 3500.0 + X), part="noise"),
        _plots.Curve(label="noise floor", y=0 * X, part="bayes"),  # known to be 0
    ]
    ax = drawn_axes(curves(lines=lines, logy=logy))
    bias = next(line for line in ax.lines if line.get_color() == CAUSES["light"]["bias"])
    np.testing.assert_array_equal(np.isnan(bias.get_ydata()), X < 1)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"total", "bias"}
    assert not ax.collections
    notes = " ".join(" ".join(texts(ax)).split())
    assert "not shown: bias, noise at or below zero" in notes
    assert "noise floor" not in notes


def test_parts_without_difference_are_in_a_note() -> None:
    lines = [
        _plots.Curve(label="total", y=1 - X, part="total"),
        _plots.Curve(label="noise", y=1 - X, part="noise"),
        _plots.Curve(label="bias", y=1e-17 * X, part="bias"),
    ]
    ax = drawn_axes(curves(lines=lines, signed=True))
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"total", "noise"}
    assert any("no difference: bias" in text for text in texts(ax))


def test_notes_have_the_meaning_of_whiskers_and_bands() -> None:
    band = _plots.Curve(label="total", y=estimate(X, X / 9), part="total")
    points = _plots.Curve(label="bias", y=estimate(X, X / 9), part="bias", points=True)
    for lines, meaning in (
        ([band], "bands: 90% intervals"),
        ([points], "whiskers: 90% intervals"),
        ([band, points], "whiskers and bands: 90% intervals"),
    ):
        assert meaning in texts(_plots.draw(curves(lines=lines, marks=(), confidence=0.9)))


def test_extrapolated_pieces_are_dashed() -> None:
    ax = drawn_axes(curves())
    styles = {line.get_linestyle() for line in ax.lines if line.get_color() == "#000000"}
    assert styles == {"-", "--"}
    assert any("dashed: extrapolated" in text for text in texts(ax))


def test_infinite_numbers_of_the_axis_are_left_out_and_said() -> None:
    x = np.append(X[:-1], np.inf)
    line = _plots.Curve(label="total", y=1 + 1 / X, part="total")
    ax = drawn_axes(_plots.Curves(x=x, xlabel="features", ylabel="error", lines=[line]))
    assert ax.get_xlabel() == "features (∞ not shown)"
    assert np.isfinite(ax.get_xlim()).all()


def test_axes_are_logarithmic_over_wide_ranges_only() -> None:
    line = _plots.Curve(label="total", y=np.linspace(1, 2, 12), part="total")
    wide = _plots.draw(curves(lines=[line]))
    assert (wide.get_xscale(), wide.get_yscale()) == ("log", "linear")
    assert wide.get_ylim()[0] == 0
    narrow = _plots.Curves(x=np.arange(1, 13), xlabel="x", ylabel="y", lines=[line])
    assert _plots.draw(narrow).get_xscale() == "linear"


def test_marks_beyond_the_axis_are_left_out() -> None:
    marks = [_plots.Mark(label="now", x=1.1), _plots.Mark(label="far", x=99.0)]
    marks.append(_plots.Mark(label="P = N", x=1.0))
    shown = drawn_axes(curves(marks=marks)).texts
    sides = {text.get_text(): text.get_ha() for text in shown}
    assert (sides.get("P = N"), sides.get("now")) == ("right", "left")  # close to each other
    assert "far" not in sides


def test_stacked_parts_end_at_the_total() -> None:
    ax = drawn_axes(stack())
    ends = {bar.get_y(): 0.0 for bar in ax.patches if hasattr(bar, "get_width")}
    for bar in ax.patches:
        if hasattr(bar, "get_width"):
            ends[bar.get_y()] = max(ends[bar.get_y()], bar.get_x() + bar.get_width())
    now, double, *cut, _ridge = ends.values()
    assert now == pytest.approx(4820.0)
    assert double == pytest.approx(2410.0)
    assert cut[0] == cut[1] < 1e6
    shown = texts(ax)
    assert {"4,800", "2,410", "∞", "withheld: the loss rises"} <= set(shown)
    assert any("bars with a gap are cut" in text for text in shown)


def test_negative_parts_are_left_of_zero() -> None:
    row = _plots.StackRow(label="3", parts={"bias": 5.0, "sampling": -2.0}, total=3.0)
    ax = drawn_axes(_plots.Stack(rows=[row], xlabel="squared error"))
    assert {(bar.get_x(), bar.get_width()) for bar in ax.patches} == {(0.0, -2.0), (0.0, 5.0)}
    assert ax.get_xlim()[0] < -2


def test_legends_have_the_causes_that_occur() -> None:
    row = _plots.StackRow(label="now", parts={**PARTS, "noise": 0.0}, total=3620.0)
    ax = drawn_axes(_plots.Stack(rows=[row], xlabel="x", labels={"sampling": "sampling + noise"}))
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["initialization", "sampling + noise", "bias"]


def test_causes_of_a_breakdown_lead_up_to_the_total() -> None:
    ax = drawn_axes(breakdown())
    bars = list(ax.patches)
    for first, second in pairwise(bars[: len(PARTS)]):
        assert second.get_x() == pytest.approx(first.get_x() + first.get_width())
    total = bars[len(PARTS)]
    assert (total.get_x(), total.get_width()) == (0.0, pytest.approx(4820.0))
    shown = texts(ax)
    assert any("30" in text and "%" in text for text in shown)
    assert "predicting the mean: 5,930" in shown
    assert {"where the error comes from", "what would change it"} <= set(shown)


def test_a_baseline_beyond_the_axis_is_in_a_note() -> None:
    ax = drawn_axes(breakdown(baseline=1e6))
    assert ax.get_xlim()[1] < 1e5
    assert any("1,000,000, beyond the axis" in " ".join(text.split()) for text in texts(ax))


def test_large_families_have_a_colour_bar_and_small_ones_a_legend() -> None:
    few = drawn_axes(family(4))
    assert [text.get_text() for text in few.get_legend().get_texts()] == list(family(4).names)
    many = drawn_axes(family(12, levels=np.geomspace(1e-4, 1, 12), levels_label="ridge λ"))
    assert many.get_legend() is None
    assert many.figure.axes[-1].get_ylabel() == "ridge λ"
    assert len(drawn_axes(family(12)).get_legend().get_texts()) <= 6


def test_estimates_of_a_family_have_whiskers() -> None:
    totals = np.array([1 / X, 1 + 1 / X])
    settings: dict[str, Any] = {
        "x": X,
        "xlabel": "features",
        "names": ["1", "2"],
        "ylabel": "error",
    }
    ax = drawn_axes(_plots.CurveFamily(totals=estimate(totals, 2 * totals), **settings))
    assert whiskers(ax)[:, 1].min() > 0


def test_a_map_shows_points_and_marks() -> None:
    ax = drawn_axes(colored_map())
    assert {"now", "best", "P = N"} <= set(texts(ax))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert ax.figure.axes[-1].get_ylabel() == "squared error"


def test_maps_of_few_cells_have_numbers_and_axes_that_are_not_negative() -> None:
    z = np.arange(6.0).reshape(2, 3) + 1
    labels: dict[str, Any] = {"xlabel": "P", "ylabel": "λ", "zlabel": "error"}
    for x, scale in (([50, 200, 800], "log"), ([50, 100, 150], "linear"), ([1, 10, 18], "linear")):
        ax = drawn_axes(_plots.Map(x=x, y=[1e-4, 1e-2], z=z, **labels))
        assert (ax.get_xscale(), ax.get_yscale()) == (scale, "log")
        assert ax.get_xlim()[0] >= 0
        assert {"1.00", "2.00", "6.00"} <= set(texts(ax))
        assert len(ax.collections) == 1  # no contour lines


def test_steps_of_a_waterfall_join() -> None:
    ax = drawn_axes(waterfall())
    start, noise, bias, end = ax.patches
    assert noise.get_x() == start.get_width()
    assert bias.get_x() == noise.get_x() + noise.get_width()
    assert end.get_width() == bias.get_x() + bias.get_width()
    assert {"4,820", "3,920, gain +19%"} <= set(texts(ax))
    assert row_labels(ax) == ["now", "noise −1,200", "bias +300", "best ridge"]
    assert [line.get_marker() for line in ax.lines if line.get_marker() != "None"] == ["<", ">"]


def test_small_steps_of_a_waterfall_are_in_a_note() -> None:
    steps = [("noise", "noise", -0.3), ("sampling", "sampling", 8e-5), ("bias", "bias", 2e-3)]
    ends: dict[str, Any] = {"start_label": "now", "start": 1.0, "end_label": "2x", "end": 0.70208}
    ax = drawn_axes(_plots.Waterfall(steps=steps, xlabel="error", **ends))
    assert row_labels(ax) == ["now", "noise −0.300", "bias +0.00200", "2x"]
    assert "not shown: sampling, less than 0.1%" in texts(ax)


QUANTITIES = {"m": 0.5 * X, "q": X, "V": 3 * X}


def test_quantities_are_bars_curves_or_a_family() -> None:
    single = drawn_axes(_plots.quantity_picture({k: v[0] for k, v in QUANTITIES.items()}, "value"))
    assert row_labels(single) == ["m", "q", "V"]
    curve = drawn_axes(_plots.quantity_picture(QUANTITIES, "value", {"ridge": X}))
    assert {text.get_text() for text in curve.get_legend().get_texts()} == {"m", "q", "V"}
    assert (curve.get_xlabel(), curve.get_ylabel()) == ("ridge λ", "value")
    grid = {name: value + np.array([[0.0], [1.0]]) for name, value in QUANTITIES.items()}
    at = {"ridge": X, "n_members": np.array([[1.0], [2.0]])}
    family = drawn_axes(_plots.quantity_picture(grid, "value", at))
    assert [text.get_text() for text in family.get_legend().get_texts()] == ["K = 1", "K = 2"]
    assert family.get_ylabel() == "m (value)"
    with pytest.raises(ValueError, match="plot must be of at most two axes"):
        _plots.quantity_picture({"m": np.ones((2, 2, 2))}, "value")


def test_counts_have_all_of_their_digits() -> None:
    counts = {"done": 12345, "failed": 0, "missing": 7}
    bars = [_plots.Bar(label=name, value=count) for name, count in counts.items()]
    ax = drawn_axes(_plots.Bars(rows=bars, xlabel="cells"))
    assert row_labels(ax) == ["done", "failed", "missing"]
    assert texts(ax)[:3] == ["12,345", "0", "7"]


def test_points_without_neighbours_have_markers() -> None:
    point = _plots.Curve(label="total", y=np.array([2.0]), part="total")
    ax = drawn_axes(_plots.Curves(x=[1e9], xlabel="x", ylabel="y", lines=[point]))
    assert [line.get_marker() for line in ax.lines] == ["o"]
    assert len(ax.get_xticks()) == 1


@pytest.mark.parametrize(("value", "edge", "marker"), [(np.inf, 1.0, "^"), (-np.inf, 0.0, "v")])
def test_infinite_values_are_triangles_at_the_edge(value: float, edge: float, marker: str) -> None:
    lines = [
        _plots.Curve(label="total", y=np.array([3.0, value, 2.0]), part="total"),
        _plots.Curve(label="noise", y=np.array([2.0, value, 1.0]), part="noise"),
        _plots.Curve(label="bias", y=np.array([1.0, 1.0, 1.0]), part="bias"),
    ]
    ax = drawn_axes(
        _plots.Curves(x=[1, 2, 3], xlabel="x", ylabel="y", lines=lines, signed=True, logy=False)
    )
    colors = {CAUSES["light"][name] for name in ("total", "noise")}
    triangles = [line for line in ax.lines if line.get_marker() == marker]
    assert {line.get_color() for line in triangles} == colors
    assert all(tuple(line.get_xydata()[0]) == (2.0, edge) for line in triangles)
    assert len({tuple(line.get_transform().transform((2.0, edge))) for line in triangles}) == 2
    assert {line.get_color() for line in ax.lines if line.get_marker() == "o"} == colors
    assert "triangles: infinite" in texts(ax)


def test_curves_of_zeros_are_shown_in_signed_pictures() -> None:
    lines = [_plots.Curve(label=name, y=np.full(12, n)) for n, name in enumerate(["law", "here"])]
    legend = drawn_axes(curves(lines=lines, signed=True)).get_legend()
    assert {text.get_text() for text in legend.get_texts()} == {"law", "here"}


def test_curves_of_one_colour_differ_by_markers_and_dashes() -> None:
    lines = [
        _plots.Curve(label=str(n), y=n + X, color="#000000", style=n, points=True, joined=True)
        for n in range(3)
    ]
    handles = drawn_axes(curves(lines=lines, marks=())).get_legend().legend_handles
    assert len({handle.get_marker() for handle in handles}) == 3
    assert all(handle.get_linestyle() != "None" for handle in handles)


@pytest.mark.parametrize("rows", [3, 12])
def test_sequential_colours_are_readable_on_white(rows: int) -> None:
    ax = drawn_axes(family(rows, levels=np.geomspace(1e-4, 1, rows), levels_label="ridge"))
    drawn = {line.get_color() for line in ax.lines}
    assert len(drawn) >= rows
    assert min(contrast(color, "white") for color in drawn) > 2.5


@pytest.mark.parametrize("error", [0.45, 3.0])
def test_wide_whiskers_end_before_the_number(error: float) -> None:
    rows = [_plots.StackRow(label="now", parts={"bias": 1.0}, total=estimate(1.0, error))]
    stacked = _plots.Stack(rows=rows, xlabel="x", confidence=0.9)
    split = _plots.Breakdown(
        parts={"bias": ("bias", estimate(1.0, error))},
        total=estimate(1.0, error),
        xlabel="x",
        confidence=0.9,
    )
    for picture in (stacked, split):
        ax = drawn_axes(picture)
        numbers = [text.xy[0] for text in ax.texts if text.get_text().startswith("1.0")]
        assert whiskers(ax)[:, 0].max() == pytest.approx(max(numbers))
        assert max(numbers) < ax.get_xlim()[1]
        assert any(line.get_marker() == ">" for line in ax.lines) == (error > 1)


@pytest.mark.parametrize("name", ["tree", "a decision tree of depth three, with its options"])
@pytest.mark.parametrize("cause", ["bias", "bias and the noise floor that no learner can remove"])
def test_legends_and_notes_are_inside_of_the_figure(name: str, cause: str) -> None:
    rows = [_plots.StackRow(label=name, parts=PARTS, total=estimate(4820.0, 100.0))]
    labels = dict.fromkeys(PARTS, cause)
    ax = drawn_axes(
        _plots.Stack(rows=rows, xlabel="x", confidence=0.9, labels=labels, baseline=5930.0)
    )
    ax.figure.canvas.draw()
    whole = ax.figure.bbox
    for box in [ax.get_legend().get_window_extent(), ax.get_tightbbox()]:
        assert whole.x0 <= box.x0
        assert box.x1 <= whole.x1
        assert whole.y0 <= box.y0
        assert box.y1 <= whole.y1


@pytest.mark.parametrize("label", ["2x data", "twice the data, with all other settings as now"])
def test_notes_in_the_place_of_bars_have_room(label: str) -> None:
    note = "withheld: one size of training sets does not determine the error at another; "
    note += "dt.diagnose(model, X, y) extrapolates it"
    rows = [_plots.StackRow(label=label, total=None, note=k * note) for k in (1, 2)]
    rows.append(_plots.StackRow(label="now", total=1.0))
    ax = drawn_axes(_plots.Stack(rows=rows, xlabel="x"))
    shown = texts(ax)
    assert any("dt.diagnose(model,\xa0X,\xa0y)" in text for text in shown)
    rows_at = ax.transData.transform([(0.0, 0.5), (0.0, 1.5), (0.0, -0.5)])[:, 1]
    first, second = (text.get_window_extent() for text in ax.texts[:2])
    assert rows_at[0] <= first.y0
    assert first.y1 <= rows_at[2]
    assert rows_at[1] <= second.y0
    assert second.x1 <= ax.figure.bbox.x1


def test_long_labels_of_rows_are_in_lines() -> None:
    name = "RandomForestRegressor(max_depth=3, min_samples_leaf=4, n_estimators=10)"
    ax = drawn_axes(_plots.Bars(rows=[_plots.Bar(label=name, value=1.0)], xlabel="x"))
    lines = ["RandomForestRegressor(", "max_depth=3,", "min_samples_leaf=4,", "n_estimators=10)"]
    assert row_labels(ax) == ["\n".join(lines)]


def test_labels_of_a_map_do_not_overlap_those_of_contours() -> None:
    ax = drawn_axes(colored_map())
    ax.figure.canvas.draw()
    points = [text for text in ax.texts if text.get_text() in {"now", "best"}]
    others = [text for text in ax.texts if text.get_text()[:1].isdigit()]
    assert others
    for point in points:
        box = point.get_window_extent()
        assert not any(box.overlaps(text.get_window_extent()) for text in others)


def test_parts_are_readable_on_their_background() -> None:
    for theme, paper in PAPER.items():
        for part, color in {**CAUSES[theme], "floor": EFFECTS[theme]["bayes"]}.items():
            assert contrast(color, paper["paper"]) > 2.5, (theme, part)
    assert set(HATCHES) == set(CAUSES["light"]) - {"total"}
    patterned = {"noise", "total"} ^ STRIPES.keys()  # noise is plain
    assert patterned == EFFECTS["light"].keys()
    assert len(set(STRIPES.values())) == len(STRIPES)


@pytest.mark.parametrize("name", sorted(set(PICTURES) - {"map"}))
def test_texts_and_lines_are_readable_on_a_dark_background(name: str) -> None:
    with pyplot.style.context("dark_background"):
        axes = _plots.draw(PICTURES[name]())
        legend = axes.get_legend()
        texts = [*axes.texts, *([] if legend is None else legend.get_texts())]
        inks = [text.get_color() for text in texts] + [line.get_color() for line in axes.lines]
        pyplot.close("all")
    assert inks
    to_hex = matplotlib.colors.to_hex
    assert min(contrast(to_hex(ink), "black") for ink in inks) > 2.0


def test_baselines_of_curves_are_drawn_within_or_near_the_axis_else_in_a_note() -> None:
    for at, is_drawn in ((1.5, True), (1e6, False)):
        axes = drawn_axes(curves(baseline=at))
        in_legend = [text.get_text() for text in axes.get_legend().get_texts()]
        assert any(label.startswith("predicting the mean") for label in in_legend) == is_drawn
        assert any(list(line.get_ydata()) == [at, at] for line in axes.lines) == is_drawn
        beyond = any("predicting the mean" in text for text in texts(axes))
        assert beyond == (not is_drawn)
    bottom, top = drawn_axes(curves(baseline=11.0)).get_ylim()
    assert bottom < 11.0 < top


def test_errors_state_their_settings_and_mark_the_peak() -> None:
    problem = dt.Problem(features_per_dim=[0.5, 2.0], samples_per_dim=1.5, ridge=0.1, noise=0.5)
    run = dt.simulate(problem, dim=20, n_data=3, n_init=2)
    for error, stated in ((dt.exact_error(problem), ""), (run.error(), "D = 20, ")):
        axes: Any = error.plot()
        assert any(
            text.startswith(f"{stated}λ = 0.1, K = 1, N/D = 1.5, τ = 0.5") for text in texts(axes)
        )
        assert "P = N" in texts(axes)
    assert (dt.exact_error(problem) - dt.exact_error(problem, 2)).settings.keys() == {
        "ridge",
        "samples_per_dim",
        "noise",
    }


def test_baselines_have_gaps_at_the_texts_beside_bars() -> None:
    total = sum(PARTS.values())
    near, apart = (
        next(one for one in drawn_axes(breakdown(at)).lines if set(one.get_xdata()) == {at})
        for at in (1.2 * total, 0.05 * total)
    )
    rows = range(len(PARTS) + 2)
    assert {row for row in rows if row - 0.5 in near.get_ydata()} < set(rows)
    assert {row for row in rows if row - 0.5 in apart.get_ydata()} == set(rows)
