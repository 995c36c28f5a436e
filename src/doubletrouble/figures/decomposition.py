r"""The test error by cause against P/N: where the peak of double descent comes from.

The decomposition of [dascoli2020] Sec. 4, for a weak and a strong ridge penalty λ. With
P features, N samples of dimension D, a linear teacher of norm F and label noise τ, the test error
is noise + initialization + sampling + bias, each exact in the limit of large P, N and D.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from doubletrouble.activations import Activation
from doubletrouble.figures import style
from doubletrouble.figures.spec import FigureSpec, Line, Table
from doubletrouble.parameters import FloatArray, Numeric, checked, declarations
from doubletrouble.problems import Problem
from doubletrouble.theory.error import exact_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAUSES = ("noise", "initialization", "sampling", "bias")


@dataclass(frozen=True, kw_only=True, eq=False)
class Panel:
    """One panel: the problem along P/N, the scheme, and a line for each cause and the total."""

    ratios: FloatArray  # P/N
    problem: Problem
    n_members: Numeric
    scheme: str
    lines: tuple[Line, ...]

    @property
    def ridge(self) -> float:
        """The penalty λ of this panel."""
        return float(np.asarray(self.problem.ridge))

    def line(self, label: str) -> Line:
        """Return the line of one cause, or of the `total`."""
        return {line.label: line for line in self.lines}[label]


def default_ratios() -> FloatArray:
    """P/N from 0.1 to 100, evenly spaced in log and ten times denser around P = N, which is in it.

    >>> bool(1.0 in default_ratios())
    True
    """
    wide, close = np.linspace(-1, 2, 241), np.linspace(-0.1, 0.1, 161)
    exponents = np.unique(np.round(np.concatenate([wide, close]), 9))
    ratios: FloatArray = 10.0**exponents
    return ratios


def decomposition_data(
    *,
    ridges: Sequence[float] = (1e-5, 1e-1),
    samples_per_dim: float = 1.0,
    signal: float = 1.0,
    noise: float = 1.0,
    n_members: float = 1,
    scheme: str = "ensemble",
    activation: str | Activation = "relu",
    ratios: Numeric | None = None,
) -> tuple[Panel, ...]:
    """Return one panel for each ridge: the exact test error by cause, along `ratios` = P/N.

    >>> (panel,) = decomposition_data(ridges=[0.1], ratios=[1.0])
    >>> [(line.label, round(float(line.y[0]), 3)) for line in panel.lines[:2]]
    [('noise', 0.47), ('initialization', 0.301)]
    """
    grid = default_ratios() if ratios is None else ratios
    ratio = np.atleast_1d(checked("ratios", grid, declarations(Problem)["features_per_dim"]))
    if ratio.ndim != 1:
        raise ValueError(f"ratios must be one-dimensional, got shape {ratio.shape}")
    if np.ndim(ridges) != 1 or np.size(ridges) == 0:
        raise ValueError(f"ridges must be a list with at least one number, got {ridges!r}")
    panels = []
    for ridge in ridges:
        problem = Problem(
            features_per_dim=ratio * samples_per_dim,
            samples_per_dim=samples_per_dim,
            ridge=ridge,
            signal=signal,
            noise=noise,
            activation=activation,
        )
        error = exact_error(problem, n_members=n_members, scheme=scheme)
        labels = (*CAUSES, "total")
        lines = tuple(Line(label, ratio, np.asarray(getattr(error, label))) for label in labels)
        panels.append(
            Panel(ratios=ratio, problem=problem, n_members=n_members, scheme=scheme, lines=lines)
        )
    return tuple(panels)


def table(panels: Sequence[Panel]) -> Table:
    """Return the numbers drawn: one row for each ridge and P/N."""
    rows = [
        (panel.ridge, *(float(v) for v in values))
        for panel in panels
        for values in zip(panel.ratios, *(line.y for line in panel.lines), strict=True)
    ]
    return Table(("ridge", "P_over_N", *CAUSES, "total"), rows)


def draw(axes: "Axes", panel: Panel) -> None:
    """Draw one panel on axes that the caller owns."""
    axes.set(xscale="log", yscale="log", xlabel="Features per sample, $P/N$", ylabel="Test error")
    axes.axvline(1.0, color="#555555", linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    axes.annotate(
        "$P=N$", (1.0, 1.0), (0, 3), xycoords=("data", "axes fraction"),
        textcoords="offset points", ha="center", va="bottom", color="#333333", annotation_clip=True,
    )  # fmt: skip
    for place, (label, stroke) in enumerate(style.STROKES.items()):
        line = panel.line(label)
        if not np.any((line.y > 0) & np.isfinite(line.y)):
            continue  # an absent cause has no place on a logarithmic axis
        axes.plot(
            line.x, line.y, label=stroke.label, color=stroke.color, linestyle=stroke.linestyle,
            linewidth=stroke.width, marker=stroke.marker, markerfacecolor=stroke.face,
            markeredgewidth=1.0, markevery=style.spread(line.x, count=6, shift=0.2 * place),
        )  # fmt: skip
    style.plain_ticks(axes)
    inside = panel.ratios[np.isfinite(panel.ratios)]
    if inside.size > 1:
        axes.set_xlim(inside.min(), inside.max())
    axes.set_title(rf"$\lambda={style.scientific(panel.ridge)}$", loc="right")


def plot(panels: Sequence[Panel]) -> "Figure":
    """Make the whole figure: the panels side by side, one legend above, one range of errors."""
    with style.journal():
        figure = style.blank(height=3.1)
        row = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for place, (axes, panel) in enumerate(zip(row, panels, strict=True)):
            draw(axes, panel)
            if len(panels) > 1:
                axes.set_title(f"({chr(ord('a') + place)})", loc="left")
            axes.label_outer()
        row[0].set_ylim(style.log_range(line.y for panel in panels for line in panel.lines))
        handles, labels = row[0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            title=_setting(panels[0]),
            ncols=len(labels),
            loc="outside upper center",
        )
        figure.draw_without_rendering()  # ticks are made in this style, not at a later save
    return figure


def _setting(panel: Panel) -> str:
    """What the panels share, as the figure prints it."""
    problem = panel.problem
    signal, noise, samples, members = (
        float(np.asarray(value))
        for value in (problem.signal, problem.noise, problem.samples_per_dim, panel.n_members)
    )
    snr = signal / noise if noise else np.inf
    words = [
        f"$N/D={style.scientific(samples)}$",
        rf"$\mathrm{{SNR}}=F/\tau={style.scientific(snr)}$",
    ]
    if members != 1:
        divided = " (divided data)" if panel.scheme == "divide" else ""
        words.append(f"$K={style.scientific(members)}${divided}")
    return r",$\quad$".join(words)


FIGURE = FigureSpec(
    name="decomposition",
    title="Where the double-descent peak comes from",
    caption=(
        "The exact test error of random-features ridge regression (thick black line) and its four "
        "causes, as features are added: P/N is the number of features per training sample.\n"
        "Left, with almost no penalty (λ = 10⁻⁵): label noise and the random draw of the features "
        "shoot up at the interpolation threshold P = N, where the model can just fit every sample, "
        "and fall again beyond it. Sampling variance and bias take no part in the peak: they bend "
        "at P = N and are flat from there on. Larger models do better only because the first two "
        "causes shrink; initialization dies out as 1/P, while some noise stays for ever.\n"
        "Right, with a real penalty (λ = 10⁻¹): the peak and the bend are gone, at the price of a "
        "larger bias."
    ),
    alt=(
        "Two panels of test error against features per sample P/N, both axes logarithmic. "
        "Left, λ = 10⁻⁵: total error, noise and initialization variance rise to a sharp peak at "
        "P = N, near 100, 70 and 30, then fall; sampling variance and bias level off at 0.09 and "
        "0.2. Right, λ = 10⁻¹: all curves are smooth and the total never exceeds 1.5."
    ),
    data=decomposition_data,
    plot=plot,
    table=table,
)
