"""What can be taken away: the numbers as CSV, and the Python lines that remake the plot."""

import csv
import io
import math
from collections.abc import Sequence

from doubletrouble.page.curves import PARTS, Curves, curves
from doubletrouble.page.frame import limits
from doubletrouble.page.plot import Measured
from doubletrouble.page.setting import NEAR, Setting, View
from doubletrouble.problems import noise_at


def table(view: View, drawn: Sequence[Curves], measured: Sequence[Sequence[Measured]] = ()) -> str:
    """The curves as CSV, then the simulated points: one row for each setting and place."""
    names = ("total", *drawn[0].parts)
    constants = [f.name for f in view.first.fields]
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    bars = [f"standard_error_{name}" for name in names]
    rows.writerow(["kind", "setting", *constants, *names, *bars])
    for place, one in enumerate(drawn):
        for k, x in enumerate(one.x):
            values = [one.total[k], *(one.parts[name][k] for name in names[1:])]
            fixed = _constants(one.setting, view.along, float(x))
            rows.writerow(["theory", place + 1, *fixed, *map(_number, values), *[""] * len(names)])
    for place, points in enumerate(measured):
        by_name = {points_.name: points_ for points_ in points}
        for k, x in enumerate(by_name["total"].x if by_name else ()):
            fixed = _constants(drawn[place].setting, view.along, float(x))
            found = [_number(by_name[n].value[k]) if n in by_name else "" for n in names]
            spread = [_number(by_name[n].error[k]) if n in by_name else "" for n in names]
            rows.writerow(["simulation", place + 1, *fixed, *found, *spread])
    return out.getvalue()


def _constants(setting: Setting, along: str, x: float) -> list[str]:
    """Every field of a setting, with the place on the axis for what varies."""
    return [
        _number(x) if field.name == along else field.write(getattr(setting, field.name))
        for field in setting.fields
    ]


def _number(value: float) -> str:
    return repr(float(value))


def script(view: View) -> str:
    """Python lines that compute and draw what is seen.

    >>> script(View()).splitlines()[3]
    'import doubletrouble as dt'
    """
    both = view.second is not None
    head = ["import matplotlib.pyplot as plt", "import numpy as np", "",
            "import doubletrouble as dt", ""]  # fmt: skip
    figure = (
        "figure, row = plt.subplots(1, 2, sharey=True)"
        if both
        else ("figure, axes = plt.subplots()")
    )
    drawn = [curves(view, setting) for setting in view.settings]
    low, high = limits(view, drawn)  # which cut a peak off
    ends = f"({low:.4g}, {high:.4g})"
    lines = [*head, figure]
    for place, setting in enumerate(view.settings):
        lines += ["", *_drawn(view, setting, f"row[{place}]" if both else "axes", ends)]
    legend = "row[0].legend()" if both else "axes.legend()"
    return "\n".join([*lines, "", legend, "plt.show()", ""])


def _drawn(view: View, setting: Setting, axes: str, ends: str) -> list[str]:
    """The lines for one setting; `ends` are those of the vertical axis."""
    split = "anova" if view.split == "effects" else "exact_error"
    members = "x" if view.along == "members" else _code(setting.members)
    parts = ", ".join(f'"{name}"' for name in PARTS[view.split])
    lines = [
        *_grid(view, setting),
        *_problem(view, setting),
        f'error = dt.{split}(problem, n_members={members}, scheme="{setting.scheme}")',
    ]
    if view.form == "areas":
        stack = ", ".join(f'"{name}"' for name in reversed(PARTS[view.split]))
        lines += [
            f"parts = ({stack})",
            f"{axes}.stackplot(x, *(getattr(error, part) for part in parts), labels=parts)",
            f'{axes}.plot(x, error.total, "k", label="total")',
        ]
    else:
        lines += [
            f'for part in ("total", {parts}):',
            f"    {axes}.plot(x, getattr(error, part), label=part)",
        ]
    low, high = view.range()
    lines += [
        f'{axes}.set(xscale="{view.x}", xlim=({_code(low)}, {_code(high)}))',
        f'{axes}.set(yscale="{view.y}", ylim={ends})',
        f'{axes}.set(xlabel="{view.axis().label}", ylabel="Test error")',
    ]
    return lines


def _grid(view: View, setting: Setting) -> list[str]:
    low, high = (_code(end) for end in view.range())
    spaced = "geomspace" if view.x == "log" else "linspace"
    even = f"np.{spaced}({low}, {high}, {int(view.points)})"
    if view.along == "members":
        return [f"x = np.unique(np.round({even}))  # {view.axis().label}"]
    lines = [f"x = {even}  # {view.axis().label}"]
    for place in setting.thresholds(view.along):
        close = f"{_code(place)} * np.exp(np.linspace(-{NEAR}, {NEAR}, {view.close}))"
        lines.append(f"x = np.unique([*x, *{close}])  # denser where P = N")
        lines.append(f"x = x[(x >= {low}) & (x <= {high})]")
    return lines


def _problem(view: View, setting: Setting) -> list[str]:
    at = {name: _code(getattr(setting, name)) for name in ("width", "samples", "ridge")}
    at |= {view.along: "x"}
    features = f"{at['width']} * {at['samples']}" if setting.per == "N" else at["width"]
    values = {
        "features_per_dim": features,
        "samples_per_dim": at["samples"],
        "ridge": at["ridge"],
        "noise": _code(noise_at(setting.snr)),
        "nonlinear_signal": _code(setting.nonlinear),
        "activation": f'"{setting.activation}"',
    }
    return ["problem = dt.Problem(", *(f"    {k}={v}," for k, v in values.items()), ")"]


def _code(value: float) -> str:
    """A number as Python reads it."""
    return "np.inf" if math.isinf(value) else repr(float(value))
