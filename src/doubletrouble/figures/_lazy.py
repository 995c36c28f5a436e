r"""Trained networks: the test error against their width, for one network and for an ensemble.

[dascoli2020] Fig. 9: networks of 5 layers on CIFAR-10, 10 principal components, labels by parity,
trained lazily, F = α (f_θ - f_θ₀). The results of that experiment are stored with the package,
because it needs a GPU; with `source="run"` networks of any size are trained instead.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _agreement as agreement
from doubletrouble.figures import _drawing as drawing
from doubletrouble.figures._figure import FigureSpec
from doubletrouble.figures._panel import PanelTable
from doubletrouble.figures._settings import STORE, FigureSettings, setting
from doubletrouble.networks import LAPTOP
from doubletrouble.parameters import FloatArray, check_choice
from doubletrouble.ranges import number_axis

STORED = Path(__file__).parent / "stored" / "lazy_cifar10.csv"
"""20 networks for each width and α: N = 5000, at most 100,000 steps of Adam."""

PUBLISHED = "fig_lazy_digitised_from_plot_ipynb_png.csv"
SourceName: TypeAlias = Literal["stored", "run"]
_SOURCES: tuple[SourceName, ...] = get_args(SourceName)
_PAPER_LAZINESS = (10.0, 100.0)
_CIFAR = "CIFAR-10"
_COLUMNS = [
    "laziness",
    "width",
    "n_members",
    "single_error",
    "single_std",
    "ensemble_error",
    "vote_error",
    "train_error",
    "train_loss",
    "interpolating",
    "median_steps",
]
"""Of the table, where present: the stored results have no `train_loss`."""
_OFFSET = 1.16  # published points are drawn this factor to the right


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkPanel:
    """One panel: networks of several widths at one α."""

    laziness: float
    data: str
    loss: str
    columns: dict[str, FloatArray]  # of the table, along the widths

    def __getitem__(self, name: str) -> FloatArray:
        return self.columns[name]

    @property
    def threshold(self) -> float | None:
        """The width from which at least half of the networks fit all samples, or None.

        A network fits all samples if its squared loss is zero, or, with the other losses, if its
        training error is zero. The value is the geometric mean of two neighbouring widths.
        """
        width, share = self["width"], self["interpolating"] / self["n_members"]
        first = int(np.argmax(share >= 0.5))
        if not first or share[first] < 0.5:
            return None
        return math.sqrt(width[first - 1] * width[first])


@dataclass(frozen=True, kw_only=True, eq=False)
class LazySettings(FigureSettings):
    """The settings of the figure.

    The stored results are of CIFAR-10, at α = 10 and 100 unless `laziness` has other values. All
    fields after it are of a run, by default the small experiment on the digits
    (`networks.LAPTOP`), at α = 100 and, linearized and solved exactly, at α = ∞.
    """

    source: SourceName = setting("stored", "source", "results stored with the package, or a run")
    laziness: Sequence[float] | None = setting(None, glossary.LAZINESS)
    data: str | None = setting(None, "data", "by name, see load_data")
    widths: Sequence[int] | None = setting(None, glossary.WIDTH)
    ensemble: int | None = setting(None, glossary.N_MEMBERS)
    n_samples: int | None = setting(None, glossary.N_SAMPLES)
    loss: str | None = setting(None, "loss", "of the training")
    learning_rate: float | None = setting(None, glossary.LEARNING_RATE)
    max_steps: int | None = setting(None, "steps", "of training, at most")
    seed: int | None = setting(None, "seed", "of the random numbers")
    store: str | Path | None = None


def lazy_data(settings: LazySettings) -> tuple[NetworkPanel, ...]:
    """Return a panel for each α, from the stored results or from a run.

    >>> left, right = lazy_data(LazySettings())
    >>> right.laziness, bool(right["single_error"].max() > right["ensemble_error"][2:].max())
    (100.0, True)
    """
    given = {f.name: getattr(settings, f.name) for f in fields(settings)}
    source, laziness, store = (given.pop(name) for name in ("source", "laziness", STORE))
    given = {name: value for name, value in given.items() if value is not None}
    if source == "run":
        return _run(laziness, given, store)
    check_choice("source", source, _SOURCES)
    for name, value in given.items():
        raise ValueError(f"{name} must be left out unless source is 'run', got {value!r}")
    return _stored(laziness)


def _stored(laziness: Sequence[float] | None) -> tuple[NetworkPanel, ...]:
    rows = agreement.stored_rows(STORED)
    known = sorted({float(row["laziness"]) for row in rows})
    alphas = _PAPER_LAZINESS if laziness is None else laziness
    shown = number_axis("laziness", alphas, glossary.LAZINESS)
    for alpha in shown:
        if alpha not in known:
            listed = ", ".join(f"{a:g}" for a in known)
            raise ValueError(f"laziness must be among the stored {listed}, got {alpha:g}")
    return tuple(_panel(a, f"{_CIFAR}, N = 5000", "hinge", rows) for a in shown)


def _run(
    laziness: Sequence[float] | None, given: Mapping[str, Any], store: str | Path | None
) -> tuple[NetworkPanel, ...]:
    from doubletrouble.data import load_data
    from doubletrouble.networks import lazy_curve, table_row  # needs torch

    options: dict[str, Any] = {"data": "digits", **LAPTOP, **given}
    alphas = LAPTOP["laziness"] if laziness is None else laziness
    shown = number_axis("laziness", alphas, glossary.LAZINESS)
    name, n_samples = options.pop("data"), options.pop("n_samples")
    data = load_data(name, n_samples=n_samples)
    curve = lazy_curve(data, store=store, **{**options, "laziness": shown})
    rows = [table_row(run) for run in curve.runs]
    return tuple(_panel(a, f"{name}, N = {n_samples}", options["loss"], rows) for a in shown)


def _panel(
    laziness: float, data: str, loss: str, rows: Sequence[Mapping[str, Any]]
) -> NetworkPanel:
    mine = [row for row in rows if float(row["laziness"]) == laziness]
    ordered = sorted(mine, key=lambda row: float(row["width"]))
    columns = {
        name: np.array([float(row[name]) for row in ordered])
        for name in _COLUMNS
        if all(name in row for row in ordered)
    }
    return NetworkPanel(laziness=laziness, data=data, loss=loss, columns=columns)


def table(panels: Sequence[NetworkPanel]) -> PanelTable:
    """Return the numbers drawn."""
    return PanelTable.stack(*(panel.columns for panel in panels))


def draw(test: "drawing.Axes", train: "drawing.Axes", panel: NetworkPanel) -> None:
    """Draw one α: the test error on `test`, the training error on `train`."""
    width, K = panel["width"], int(panel["n_members"].max())
    one, many, fitted, *_ = drawing.SERIES
    for axes, name, stroke, label, bars in (
        (test, "single_error", one, "$K=1$ (bars: standard deviation)", panel["single_std"]),
        (test, "ensemble_error", many, f"Mean of $K={K}$", None),
        (train, "train_error", fitted, "Training error, $K=1$", None),
    ):
        look = stroke.line | stroke.data | {"linewidth": 1.5, "elinewidth": 1.0, "capsize": 2.5}
        axes.errorbar(width, panel[name], yerr=bars, label=label, **look)
    _draw_published(test, panel)
    if panel.threshold is not None:
        for axes in (test, train):
            drawing.threshold(axes, panel.threshold, "")
        done = "have zero loss" if panel.loss == "squared" else "fit all samples"
        train.lines[-1].set_label(f"Half of the networks {done}")
    drawing.corner(test, rf"$\alpha={drawing.scientific(panel.laziness)}$")


def plot(panels: Sequence[NetworkPanel]) -> "drawing.Figure":
    """Draw the figure."""
    with drawing.new_figure(height=4.5) as figure:
        grid = figure.subplots(
            2,
            len(panels),
            sharex=True,
            sharey="row",
            squeeze=False,
            gridspec_kw={"height_ratios": (3, 1)},
        )
        widths = np.concatenate([panel["width"] for panel in panels])
        for panel, (test, train) in zip(panels, grid.T, strict=True):
            draw(test, train, panel)
            test.set(ylabel=drawing.ERROR)
            train.set(xlabel="Nodes per layer, $w$", ylabel="Training", ylim=(-0.03, 0.55))
            train.set_xscale("log", base=2)
            train.set_xticks(_round(widths), minor=False)
            train.xaxis.set_major_formatter(drawing.plain_number)
            train.set_xlim(widths.min() / 1.35, widths.max() * 1.35)
        for each in grid.flat:
            each.label_outer()
        drawing.letters(grid[0])
        entries = {label for axes in grid.flat for label in axes.get_legend_handles_labels()[1]}
        columns = math.ceil(len(entries) / 2)
        drawing.figure_legend(figure, title=_title(panels[0]), ncols=columns, narrow=0.8)
    return figure


def _title(panel: NetworkPanel) -> str:
    return f"{panel.data.replace('N', '$N$')};  markers: trained networks"


def _round(widths: FloatArray) -> list[float]:
    """Every other power of two among the widths."""
    low, high = math.ceil(math.log2(widths.min())), math.floor(math.log2(widths.max()))
    return [2.0**k for k in range(low, high + 1, 2 if high - low > 5 else 1)]


def _draw_published(test: "drawing.Axes", panel: NetworkPanel) -> None:
    """Draw the authors' points, for CIFAR-10."""
    for name, kind, marker in (
        ("K1_mean_test_error", "K=1", "D"),
        ("ensemble_K20_test_error", "K=20", "x"),
    ):
        at, value = _published(panel, name)
        if at:
            test.errorbar(
                _OFFSET * panel["width"][at],
                value,
                yerr=_published(panel, "K1_std")[1] if kind == "K=1" else None,
                linestyle="none",
                marker=marker,
                color="#000000",
                markerfacecolor="white",
                markersize=4.4,
                markeredgewidth=1.1,
                elinewidth=0.8,
                capsize=1.5,
                label=f"Published, ${kind}$",
                zorder=3,
            )


def _published(panel: NetworkPanel, name: str) -> tuple[list[int], FloatArray]:
    """Indices of the widths with a published value, and these values."""
    rows = agreement.stored_rows(PUBLISHED) if panel.data.startswith(_CIFAR) else []
    values = {
        float(row["width"]): float(row[name])
        for row in rows
        if float(row["alpha"]) == panel.laziness and row[name]
    }
    indices = [k for k, width in enumerate(panel["width"]) if width in values]
    return indices, np.array([values[panel["width"][k]] for k in indices])


def comparisons(panels: Sequence[NetworkPanel]) -> tuple[agreement.Agreement, ...]:
    """The published points: the error of 20 averaged networks, and the mean of single ones."""
    return tuple(one for panel in panels for one in _against_authors(panel))


def _against_authors(panel: NetworkPanel) -> tuple[agreement.Agreement, ...]:
    at = f"The published points at α = {panel.laziness:g}"
    many, theirs = _published(panel, "ensemble_K20_test_error")
    one, mean = _published(panel, "K1_mean_test_error")
    off = np.abs(panel["ensemble_error"][many] - theirs)
    score = np.abs(panel["single_error"][one] - mean) / _published(panel, "K1_std")[1]
    return (
        agreement.Agreement.of(f"{at}, K = 20", off, unit="test error"),
        agreement.Agreement.of(f"{at}, K = 1", score, unit="published standard deviations"),
    )


FIGURE = FigureSpec(
    name="lazy",
    number=9,
    title="Networks in the lazy regime",
    caption=(
        "Networks of 5 layers, trained on 5000 images of CIFAR-10 (10 principal components, "
        "classes by the parity of the label) with F = α (f_θ - f_θ₀), from 20 initializations. "
        "Above: the share of test images that are misclassified by one network, with its standard "
        "deviation over initializations, and by the average of all 20. Below: the training error.\n"
        "Near the width at which networks begin to interpolate, the error of one network has a "
        "peak, and averaging removes nearly all of it: the peak is initialization variance, as for "
        "random features. At α = 100 part of the peak is due to the optimizer: after 100,000 steps "
        "of Adam with the paper's step size most of the networks of width 32 do not fit their "
        "data.\n"
        "Beyond the dashed line at least half of the networks fit all samples. Published points, "
        "read off the paper's figure, are drawn slightly to the right of their width."
    ),
    alt=(
        "Two columns of panels, α = 10 and α = 100, against nodes per layer from 2 to 2048. Test "
        "error of one network: falls to 0.35 at 8 nodes, rises to a peak at 32 nodes, 0.38 and "
        "0.43, and falls to 0.35 and 0.34. Error of 20 averaged: about 0.31 to 0.33 from 8 nodes "
        "on, without a peak. Training error: falls from 0.47 to zero at 64 to 128 nodes. The "
        "published points lie close to these."
    ),
    settings=LazySettings(),
    data=lazy_data,
    plot=plot,
    table=table,
    agreement=comparisons,
    notes=(
        "Stored results: L = 5, K = 20, hinge loss, Adam at the rate 0.1, at most 100 000 steps, "
        "float32 (TF32 from width 1024 on); at α = ∞ stopped where the loss no longer fell.",
    ),
)
