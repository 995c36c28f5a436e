"""The part of the page that is beyond the paper, as Markdown."""

from collections.abc import Mapping

from conformance.beyond import BEYOND, Case, Unequal
from conformance.compare import LIMIT, Row, Sizes, agree, largest, noticed, told
from conformance.controls import CONTROLS, FEW, Control
from conformance.report import Report, number, summary, table, verdict
from conformance.theory import Library

SIZES = Sizes(dims=(60, 120, 240), draws=(40, 24, 16))

HEAD = """## Beyond the paper

Members that draw samples (subsample, bootstrap) or features (from a bank), gradient flow stopped
at a time, and members of unequal sizes, ridge and activation, for {seeds} seeds, compared as
above, with {draws} draws at D = {dims}: a linear teacher of norm 1, label noise τ = {noise:g}.

- **Parts.** *resampling* is the variance over the choice of samples, or of features from a bank.
- **Time** is in the unit of `doubletrouble.conventions`.
- **Verdict.** |z| < {limit:g} on every row of every seed: {verdict}.
"""


def compared_beyond(case: Case, seed: int) -> list[Row]:
    """Every quantity of a case, at the sizes of the page."""
    return case.rows(seed, SIZES, Library())


def report_beyond(found: Mapping[tuple[Case, int], list[Row]]) -> Report:
    """The part of the page, with all cases."""
    seeds = sorted({seed for _, seed in found})
    every = [row for rows in found.values() for row in rows]
    controls = {control: control.rows(0) for control in CONTROLS}
    text = [
        HEAD.format(
            seeds=len(seeds), limit=LIMIT, noise=BEYOND[0].noise,
            draws=", ".join(map(str, SIZES.draws)), dims=", ".join(map(str, SIZES.dims)),
            verdict=verdict(every),
        ),
        summary([[row for (_, s), rows in found.items() if s == seed for row in rows]
                 for seed in seeds], seeds, heading="###", bias=False),
        _controls(controls),
    ]  # fmt: skip
    for case in BEYOND:
        first = ["scheme"] if isinstance(case, Unequal) else ["P/N", "scheme", "K", "part"]
        text.append(f"### {case.name}\n")
        if isinstance(case, Unequal):
            text.append("\n".join(f"{k}. {one}" for k, one in enumerate(case.described, 1)) + "\n")
        rows = found[case, seeds[0]]
        text.append(table(first, [_labels(case, row) for row in rows], rows, seeds[0], SIZES))
    return Report(
        "\n".join(text), largest(every), agree(every), all(map(noticed, controls.values()))
    )


def _labels(case: Case, row: Row) -> list[str]:
    if isinstance(case, Unequal):
        return [row.scheme.removeprefix("members ")]
    return [number(row.ratio), row.scheme, number(row.members), row.part]


def _controls(found: Mapping[Control, list[Row]]) -> str:
    """The same comparisons with theories of something else."""
    return (
        f"**Negative controls**, with {', '.join(map(str, FEW.draws))} draws at D = "
        f"{', '.join(map(str, FEW.dims))}: "
        + "; ".join(f"{control.what}: {told(rows)}" for control, rows in found.items())
        + ".\n"
    )
