"""The moments of an activation."""

from typing import Annotated, Any

import typer

from doubletrouble import activations
from doubletrouble.cli.digits import aligned
from doubletrouble.cli.report import Report
from doubletrouble.kernels import closed_form


def _names() -> list[str]:
    return list(activations.NAMES)


def activation(
    name: Annotated[
        str | None,
        typer.Argument(help="An activation by name; all if left out.", autocompletion=_names),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, at full precision.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV, at full precision.")] = False,
) -> None:
    """Print the Gaussian moments of activations: all that the theory needs of them.

    μ₀ is the mean, which is subtracted; μ₁ the linear part, which can learn; μ⋆ the rest, which
    acts as noise. With a closed form, simulations average over test points exactly (--test exact)
    and know the kernel of infinitely many features (--model kernel).
    """
    names = activations.NAMES if name is None else (name,)
    found = [activations.activation(one) for one in names]
    columns: dict[str, list[Any]] = {
        "activation": [one.name for one in found],
        "mean": [one.mean for one in found],
        "linear": [one.linear for one in found],
        "nonlinear": [one.nonlinear for one in found],
        "closed_form": [closed_form(one) is not None for one in found],
    }
    moments = zip(("μ₀", "μ₁", "μ⋆"), ("mean", "linear", "nonlinear"), strict=True)
    cells = {
        "activation": columns["activation"],
        **{symbol: aligned(columns[moment]) for symbol, moment in moments},
        "closed form": ["yes" if known else "no" for known in columns["closed_form"]],
    }
    report = Report(title="Gaussian moments", parameters={}, columns=columns, cells=cells)
    report.show(json=json, csv=csv)
