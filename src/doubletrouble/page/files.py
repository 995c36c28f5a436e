"""What can be taken away: the numbers as CSV, and the Python lines that remake the plot."""

import csv
import io
import math
from collections.abc import Sequence

from doubletrouble.page.curves import Curves, curves, has_end, parts_of
from doubletrouble.page.frame import limits
from doubletrouble.page.marks import marks
from doubletrouble.page.plot import Measured
from doubletrouble.page.setting import BANK, NEAR, PageSetting, PageView
from doubletrouble.page.simulation import N_INIT
from doubletrouble.problems import noise_at


def table(
    view: PageView, drawn: Sequence[Curves], measured: Sequence[Sequence[Measured]] = ()
) -> str:
    """The curves as CSV, then the simulated points: one row for each setting and place."""
    names = ("total", *max((list(one.parts) for one in drawn), key=len))
    constants = [f.name for f in view.first.fields]
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    bars = [f"standard_error_{name}" for name in names]
    rows.writerow(["kind", "setting", *constants, *names, *bars])
    for place, one in enumerate(drawn):
        for k, x in enumerate(one.x):
            fixed = _constants(one.setting, view.along, float(x))
            values = [_number(one.parts[n][k]) if n in one.parts else "" for n in names[1:]]
            total = _number(one.total[k])
            rows.writerow(["theory", place + 1, *fixed, total, *values, *[""] * len(names)])
    for place, points in enumerate(measured):
        by_name = {points_.name: points_ for points_ in points}
        for k, x in enumerate(by_name["total"].x if by_name else ()):
            fixed = _constants(drawn[place].setting, view.along, float(x))
            found = [_number(by_name[n].value[k]) if n in by_name else "" for n in names]
            spread = [_number(by_name[n].standard_error[k]) if n in by_name else "" for n in names]
            rows.writerow(["simulation", place + 1, *fixed, *found, *spread])
    return out.getvalue()


def _constants(setting: PageSetting, along: str, x: float) -> list[str]:
    """Every field of a setting, with the place on the axis for what varies."""
    return [
        _number(x) if field.name == along else field.write(getattr(setting, field.name))
        for field in setting.fields
    ]


def _number(value: float) -> str:
    return repr(float(value))


def script(view: PageView, measured: Sequence[Sequence[Measured]] = ()) -> str:
    """Python lines that compute and draw what is seen, with points where they were simulated.

    >>> script(PageView()).splitlines()[3]
    'import doubletrouble as dt'
    """
    both = view.second is not None
    head = ["import matplotlib.pyplot as plt", "import numpy as np", "",
            "import doubletrouble as dt"]  # fmt: skip
    figure = "row = plt.subplots(1, 2, sharey=True)" if both else "axes = plt.subplots()"
    drawn = [curves(view, setting) for setting in view.settings]
    low, high = limits(view, drawn)  # which cut a peak off
    ends = f"({low:.4g}, {high:.4g})"
    lines = [*head, "", f"figure, {figure}"]
    for place, setting in enumerate(view.settings):
        axes = f"row[{place}]" if both else "axes"
        lines += ["", *_drawn(view, setting, axes, ends)]
        if any(measured):
            lines += _simulated(view, setting, axes, measured[place])
    legend = "row[0].legend()" if both else "axes.legend()"
    return "\n".join([*lines, "", legend, "plt.show()", ""])


def _drawn(view: PageView, setting: PageSetting, axes: str, ends: str) -> list[str]:
    """The lines for one setting; `ends` are those of the vertical axis."""
    names = [f'"{name}"' for name in parts_of(view, setting)]
    lines = [
        *_grid(view, setting),
        *_problem(view, setting),
        f"error = {_error(view, setting, _ensemble(view, setting), 'x')}",
    ]
    if view.form == "areas":
        stack = ", ".join(reversed(names))
        lines += [
            f"parts = ({stack})",
            f"{axes}.stackplot(x, *(getattr(error, part) for part in parts), labels=parts)",
            f'{axes}.plot(x, error.total, "k", label="total")',
        ]
    else:
        lines += [
            f'parts = ("total", {", ".join(names)})',
            "for part in parts:",
            f"    {axes}.plot(x, getattr(error, part), label=part)",
        ]
    low, high = view.range()
    if has_end(view, setting):
        level = _error(view, setting, _ensemble(view, setting, x="np.inf"), "np.inf")
        lines.append(f'{axes}.axhline({level}.total, color="grey", linestyle="--")')
    if view.along == "time":
        lines += [
            f"best = dt.best_stopping_time(problem(x), {_ensemble(view, setting)}).time",
            "if np.isfinite(best):",
            f'    {axes}.axvline(best, color="grey", linestyle="-.")',
        ]
    for place, words in marks(view, setting):
        top = f'{_code(place)}, 1, " {words}", transform={axes}.get_xaxis_transform(), va="top"'
        lines += [f'{axes}.axvline({_code(place)}, color="grey", linestyle=":")',
                  f"{axes}.text({top})"]  # fmt: skip
    return [
        *lines,
        f'{axes}.set(xscale="{view.x}", xlim=({_code(low)}, {_code(high)}))',
        f'{axes}.set(yscale="{view.y}", ylim={ends})',
        f'{axes}.set(xlabel="{view.axis().label}", ylabel="Test error")',
    ]


def _error(view: PageView, setting: PageSetting, ensemble: str, time: str) -> str:
    """The call of the library that has the error along the axis."""
    if view.along == "time":
        return f"dt.gradient_flow(problem(x), {time}, {ensemble})"
    if not setting.is_trained:
        return f"dt.gradient_flow(problem(x), {_code(setting.time)}, {ensemble})"
    split = "anova" if view.split == "effects" else "exact_error"
    return f"dt.{split}(problem(x), {ensemble})"


def _ensemble(view: PageView, setting: PageSetting, x: str = "x") -> str:
    """The ensemble; `x` is the number of models where that is on the axis."""
    K = setting.members
    members = x if view.along == "members" else _code(K) if math.isinf(K) else f"{K:.0f}"
    given = "".join(
        f", {name}={_code(value)}{' * problem(x).features_per_dim' * (name == BANK)}"
        for name, value in setting.options.items()
    )
    return f"dt.{setting.kind.__name__}({members}{given})"


def _simulated(
    view: PageView, setting: PageSetting, axes: str, measured: Sequence[Measured]
) -> list[str]:
    """The lines that simulate what was simulated, and draw it with two standard errors."""
    if not measured:
        return []
    kernel = ', model="kernel"' if math.isinf(setting.width) and view.along != "width" else ""
    if view.along == "time":
        times = ", times=[x]"
    else:
        times = "" if setting.is_trained else f", times=[{_code(setting.time)}]"
    split = "anova" if view.split == "effects" else "error"
    ratio = "run.problem.features_per_dim" + " / run.problem.samples_per_dim" * (setting.per == "N")
    where = {"width": ratio, "samples": "run.problem.samples_per_dim"}.get(view.along, "x")
    names = ", ".join(f'"{points.name}"' for points in measured)
    color = 'f"C{parts.index(part)}"' if view.form == "lines" else '"k"'
    return [
        "",
        f"for x in {[float(x) for x in measured[0].at]}:",
        f"    ensemble = {_ensemble(view, setting)}",
        "    run = dt.simulate(",
        f"        problem(x), dim={int(view.dim)}, n_data={int(view.draws)}, n_init={N_INIT},",
        f"        ensembles=[ensemble], progress=False{kernel}{times},",
        "    )",
        f"    found = run.{split}(ensemble)",
        f"    at = {where}  # P and N are whole numbers",
        f"    for part in ({names},):",
        "        point = getattr(found, part)",
        "        bar = 2 * point.standard_error",
        f'        {axes}.errorbar(at, point.value, bar, fmt="o", capsize=3, color={color})',
    ]


def _grid(view: PageView, setting: PageSetting) -> list[str]:
    low, high = (_code(end) for end in view.range())
    spaced = "geomspace" if view.x == "log" else "linspace"
    even = f"np.{spaced}({low}, {high}, {int(view.points)})"
    if view.along == "members":
        rounded = f"np.round({even})"
        if setting.members_range != (1.0, math.inf):
            fewest, most = (_code(end) for end in setting.members_range)
            rounded = f"np.clip({rounded}, {fewest}, {most})"
        return [f"x = np.unique({rounded})  # {view.axis().label}"]
    lines = [f"x = {even}  # {view.axis().label}"]
    for place in setting.thresholds(view.along):
        close = f"{_code(place)} * np.exp(np.linspace(-{NEAR}, {NEAR}, {view.close}))"
        lines.append(f"x = np.unique([*x, *{close}])  # denser where P = N")
        lines.append(f"x = x[(x >= {low}) & (x <= {high})]")
    return lines


def _problem(view: PageView, setting: PageSetting) -> list[str]:
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
    inner = (f"        {k}={v}," for k, v in values.items())
    return ["", "", "def problem(x):", "    return dt.Problem(", *inner, "    )", "", ""]


def _code(value: float) -> str:
    """A number as Python reads it."""
    return "np.inf" if math.isinf(value) else repr(float(value))
