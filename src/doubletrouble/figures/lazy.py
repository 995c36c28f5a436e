r"""Trained networks: the test error against their width, for one and for an ensemble of them.

[dascoli2020] Fig. 8: networks of 5 layers on CIFAR-10, 10 principal components, labels by parity,
trained lazily, F = α (f_θ - f_θ₀). The results of that experiment are kept with the package, as it
needs a GPU; a run of one's own, of any size, takes their place on request.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from doubletrouble import glossary
from doubletrouble.figures import _authors, drawing, style
from doubletrouble.figures.network_panel import NetworkPanel
from doubletrouble.figures.spec import FigureSpec, Table
from doubletrouble.networks import LAPTOP
from doubletrouble.parameters import FloatArray
from doubletrouble.ranges import number_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STORED = Path(__file__).parent / "stored" / "lazy_cifar10.csv"
"""20 networks for each width and α: N = 5000, at most 100,000 steps of Adam."""

_FILE = "fig_lazy_digitised_from_plot_ipynb_png.csv"
SourceName: TypeAlias = Literal["stored", "run"]
_SOURCES: tuple[SourceName, ...] = get_args(SourceName)
_PAPER = (10.0, 100.0)
_CIFAR = "CIFAR-10"
_COLUMNS = (
    "laziness", "width", "n_members", "single_error", "single_std", "ensemble_error", "vote_error",
    "train_error", "train_loss", "interpolating", "median_steps",
)  # fmt: skip
"""Those that are there: the results stored first have no `train_loss`."""
_BESIDE = 1.16  # published points stand beside ours, this factor to the right


def lazy_data(
    *,
    source: SourceName = "stored",
    laziness: Sequence[float] | None = None,
    data: str | None = None,
    widths: Sequence[int] | None = None,
    ensemble: int | None = None,
    n_train: int | None = None,
    loss: str | None = None,
    learning_rate: float | None = None,
    max_steps: int | None = None,
    seed: int | None = None,
    store: str | Path | None = None,
) -> tuple[NetworkPanel, ...]:
    """Return a panel for each α: from the results that are `stored`, or from a `run`.

    Where none are stored, a run takes their place; the figure names its data. `source` is
    "stored" or "run".
    Those stored are of CIFAR-10, shown at α = 10 and 100 unless `laziness` names others. All other
    arguments are of a run, by default the small experiment on the digits that `networks.settings`
    has, at α = 100 and, linearized and solved exactly, at α = ∞.

    >>> left, right = lazy_data()
    >>> right.laziness, bool(right["single_error"].max() > right["ensemble_error"][2:].max())
    (100.0, True)
    """
    asked = {
        "widths": widths, "ensemble": ensemble, "loss": loss, "learning_rate": learning_rate,
        "max_steps": max_steps, "seed": seed,
    }  # fmt: skip
    given = {name: value for name, value in asked.items() if value is not None}
    of_data = {"data": data, "n_train": n_train}
    if source == "run" or (source == "stored" and not STORED.is_file()):
        size = LAPTOP["n_train"] if n_train is None else n_train
        shown = number_axis("laziness", laziness or LAPTOP["laziness"], glossary.LAZINESS)
        options = {name: value for name, value in LAPTOP.items() if name != "n_train"}
        return _run(data or "digits", size, {**options, **given, "laziness": shown}, store)
    if source != "stored":
        raise ValueError(f"source must be one of {', '.join(_SOURCES)}, got {source!r}")
    for name, value in {**of_data, **given}.items():
        if value is not None:
            raise ValueError(f"{name} must be left out unless source is 'run', got {value!r}")
    return _stored(laziness)


def _stored(laziness: Sequence[float] | None) -> tuple[NetworkPanel, ...]:
    with STORED.open(encoding="utf-8", newline="") as file:
        words = list(csv.DictReader(file))
    rows = [{k: float(text) for k, text in row.items() if k != "precision"} for row in words]
    known = sorted({row["laziness"] for row in rows})
    shown = number_axis("laziness", laziness or _PAPER, glossary.LAZINESS)
    for alpha in shown:
        if alpha not in known:
            listed = ", ".join(f"{a:g}" for a in known)
            raise ValueError(f"laziness must be among the stored {listed}, got {alpha:g}")
    return tuple(_panel(a, f"{_CIFAR}, N = 5000", "hinge", rows) for a in shown)


def _run(
    name: str, n_train: int, options: Mapping[str, Any], store: str | Path | None
) -> tuple[NetworkPanel, ...]:
    from doubletrouble.data import load_data
    from doubletrouble.networks import lazy_curve  # needs torch

    rows = lazy_curve(load_data(name, n_train=n_train), store=store, **options).table()
    data, loss = f"{name}, N = {n_train}", options["loss"]
    return tuple(_panel(a, data, loss, rows) for a in options["laziness"])


def _panel(
    laziness: float, data: str, loss: str, rows: Sequence[Mapping[str, float]]
) -> NetworkPanel:
    mine = [row for row in rows if row["laziness"] == laziness]
    ordered = sorted(mine, key=lambda row: row["width"])
    columns = {
        name: np.array([float(row[name]) for row in ordered])
        for name in _COLUMNS
        if all(name in row for row in ordered)
    }
    return NetworkPanel(laziness=laziness, data=data, loss=loss, columns=columns)


def table(panels: Sequence[NetworkPanel]) -> Table:
    """Return the numbers drawn."""
    columns = tuple(name for name in _COLUMNS if all(name in panel.columns for panel in panels))
    rows = [
        tuple(float(panel[name][k]) for name in columns)
        for panel in panels
        for k in range(len(panel["width"]))
    ]
    return Table(columns, rows)


def draw(test: "Axes", train: "Axes", panel: NetworkPanel) -> None:
    """Draw one α on axes that the caller owns: the test error, and the training error below."""
    width, K = panel["width"], int(panel["n_members"].max())
    one, many, fitted = style.SERIES[0], style.SERIES[1], style.SERIES[2]
    for place, name, stroke, label, bars in (
        (test, "single_error", one, "$K=1$ (bars: standard deviation)", panel["single_std"]),
        (test, "ensemble_error", many, f"Mean of $K={K}$", None),
        (train, "train_error", fitted, "Training error, $K=1$", None),
    ):
        place.errorbar(
            width, panel[name], yerr=bars, label=label, color=stroke.color,
            linestyle=stroke.linestyle, marker=stroke.marker, markerfacecolor=stroke.face,
            markeredgewidth=1.0, linewidth=1.5, elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
    _published(test, panel)
    if panel.threshold is not None:
        for place in (test, train):
            drawing.threshold(place, panel.threshold, "")
        done = "have zero loss" if panel.loss == "squared" else "fit all samples"
        train.lines[-1].set_label(f"Half of the networks {done}")
    drawing.corner(test, rf"$\alpha={style.scientific(panel.laziness)}$")


def plot(panels: Sequence[NetworkPanel]) -> "Figure":
    """Make the whole figure."""
    with drawing.page(height=4.5) as figure:
        grid = figure.subplots(
            2, len(panels), sharex=True, sharey="row", squeeze=False,
            gridspec_kw={"height_ratios": (3, 1)},
        )  # fmt: skip
        widths = np.concatenate([panel["width"] for panel in panels])
        for panel, (test, train) in zip(panels, grid.T, strict=True):
            draw(test, train, panel)
            test.set(ylabel=drawing.ERROR)
            train.set(xlabel="Nodes per layer, $w$", ylabel="Training", ylim=(-0.03, 0.55))
            train.set_xscale("log", base=2)
            train.set_xticks(_round(widths), minor=False)
            train.xaxis.set_major_formatter(style.plain_number)
            train.set_xlim(widths.min() / 1.35, widths.max() * 1.35)
        for each in grid.flat:
            each.label_outer()
        drawing.letters(grid[0])
        entries = {label for axes in grid.flat for label in axes.get_legend_handles_labels()[1]}
        columns = math.ceil(len(entries) / 2)
        drawing.legend_above(figure, title=_title(panels[0]), ncols=columns, narrow=0.8)
    return figure


def _title(panel: NetworkPanel) -> str:
    return panel.data.replace("N", "$N$")


def _round(widths: FloatArray) -> list[float]:
    """Every other power of two among the widths."""
    low, high = math.ceil(math.log2(widths.min())), math.floor(math.log2(widths.max()))
    return [2.0**k for k in range(low, high + 1, 2 if high - low > 5 else 1)]


def _published(test: "Axes", panel: NetworkPanel) -> None:
    """The authors' points beside ours, of CIFAR-10."""
    for name, kind, marker in (
        ("K1_mean_test_error", "K=1", "D"),
        ("ensemble_K20_test_error", "K=20", "x"),
    ):
        width, _, value = _published_values(panel, name)
        _, _, spread = _published_values(panel, "K1_std")
        if width:
            test.errorbar(
                _BESIDE * np.array(width), value, yerr=spread if kind == "K=1" else None,
                linestyle="none", marker=marker, color="#000000", markerfacecolor="white",
                markersize=4.4, markeredgewidth=1.1, elinewidth=0.8, capsize=1.5,
                label=f"Published, ${kind}$", zorder=3,
            )  # fmt: skip


def _published_values(panel: NetworkPanel, name: str) -> tuple[list[int], list[int], FloatArray]:
    """Widths of the published figure that are among ours, their places there, and the values."""
    rows = _authors.stored(_FILE) if panel.data.startswith(_CIFAR) else []
    mine = [row for row in rows if float(row["alpha"]) == panel.laziness and row[name]]
    where = {int(w): k for k, w in enumerate(panel["width"])}
    mine = [row for row in mine if int(row["width"]) in where]
    widths = [int(row["width"]) for row in mine]
    return widths, [where[w] for w in widths], _authors.column(mine, name)


def agrees(panels: Sequence[NetworkPanel]) -> tuple[str, ...]:
    """What was trained, ours against the published points, and what happens at the peak."""
    said = [_PROTOCOL] if panels[0].data.startswith(_CIFAR) else []
    said += [_against_authors(panel) for panel in panels]
    said += [_of_peak(panel) for panel in panels]
    return tuple(filter(None, said))


_PROTOCOL = (
    "Stored results: L = 5, K = 20, hinge loss, Adam at the rate 0.1, at most 100 000 steps, "
    "float32 (TF32 from width 1024 on); at α = ∞ stopped where the loss no longer fell."
)


def _of_peak(panel: NetworkPanel) -> str:
    """Where one network errs most, if that is more than at some smaller width."""
    alpha, width, error, at = panel.laziness, panel["width"], panel["single_error"], panel.peak
    if width.size < 3 or not np.isfinite(error).all():
        return ""
    if at is None:
        return (
            f"α = {alpha:g}: no peak; the error of one network goes from {error[0]:.3f} at width "
            f"{width[0]:g} to {error[-1]:.3f} at {width[-1]:g}."
        )
    return (
        f"α = {alpha:g}: the error of one network has a peak at width {width[at]:g}, "
        f"{error[at]:.3f} ± {panel['single_std'][at]:.3f} (standard deviation over networks), "
        f"where {panel['ensemble_error'][at]:.3f} is the error of {panel['n_members'][at]:g} "
        f"averaged and {panel['train_error'][at]:.3f} the training error."
    )


def _against_authors(panel: NetworkPanel) -> str:
    width, place, theirs = _published_values(panel, "ensemble_K20_test_error")
    if not width:
        return ""
    off = np.abs(panel["ensemble_error"][place] - theirs)
    good = off <= 0.02
    others, at, mean = _published_values(panel, "K1_mean_test_error")
    _, _, spread = _published_values(panel, "K1_std")
    score = np.abs(panel["single_error"][at] - mean) / spread
    beyond = ", ".join(f"{w} ({s:.1f})" for w, s in zip(others, score, strict=True) if s > 2)
    apart = ", ".join(f"{w} ({d:.3f})" for w, d in zip(width, off, strict=True) if d > 0.02)
    return (
        f"α = {panel.laziness:g}, ours against the published points: K = 20 within 0.02 at "
        f"{good.sum()} of {good.size} widths" + (f", not at {apart}" if apart else "")
        + f"; K = 1 within 2 published standard deviations at {np.sum(score <= 2)} of {score.size}"
        + (f", not at {beyond}." if beyond else ".")
    )  # fmt: skip


FIGURE = FigureSpec(
    name="lazy",
    title="Networks in the lazy regime",
    caption=(
        "Networks of 5 layers, trained on 5000 images of CIFAR-10 (10 principal components, "
        "classes by the parity of the label) with F = α (f_θ - f_θ₀), from 20 initializations. "
        "Above: the share of test images that one network gets wrong, with its standard deviation "
        "over initializations, and that of the average of all 20. Below: the training error.\n"
        "Around the width at which networks begin to interpolate one network errs most, and "
        "averaging removes nearly all of it: the peak is variance of initialization, as for random "
        "features. Yet at α = 100 part of the peak is the optimizer's: after 100,000 steps of Adam "
        "with the paper's step size most of the networks of width 32 no longer fit their data.\n"
        "Dashed: from there on at least half of the networks fit all samples. Diamonds and "
        "crosses: the published points, a little to the right of their width, one network with its "
        "standard deviation."
    ),
    alt=(
        "Two columns of panels, α = 10 and α = 100, against nodes per layer from 2 to 2048. Test "
        "error of one network: falls to 0.35 at 8 nodes, rises to a peak at 32 nodes, 0.38 and "
        "0.43, and falls to 0.35 and 0.34. Error of 20 averaged: about 0.31 to 0.33 from 8 nodes "
        "on, without a peak. Training error: falls from 0.47 to zero at 64 to 128 nodes. The "
        "published points lie close to these."
    ),
    data=lazy_data,
    plot=plot,
    table=table,
    agreement=agrees,
)
