"""The numbers of data sets, initializations and noise draws for a given precision.

A standard error squared is V_d, which falls as 1/n_data, and V_k, which falls as 1/n_init
(`_components`); that of the test points remains. More initializations also make each data set more
precise, which is not counted, and fewer than the present ones are not considered: the plan is
conservative.
"""

from __future__ import annotations  # help() then shows names, not their definitions

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble._numbers import whole
from doubletrouble.estimates import Estimate
from doubletrouble.learners._components import Variances, weighted_sum
from doubletrouble.learners._decomposition import Decomposition
from doubletrouble.palette import printed_name
from doubletrouble.parameters import Parameter, number, shown

_RELATIVE = Parameter(
    symbol="ε", meaning="standard error of a part over the part", typical=(0.01, 0.5), low=1e-9
)
_SMALL = 0.05  # of the total: smaller parts have the tolerance of one of this size
_TRIED = 60  # numbers of initializations
_ROUNDING = 1e-12
_FEW = 10  # with fewer data sets, errors grow faster than 1/n_data


@dataclass(frozen=True, kw_only=True, repr=False)
class RepeatPlan(Shown):
    """Repeats that give every part the requested precision with the fewest fits."""

    n_data: int
    n_init: int
    n_noise: int
    n_fits: int
    parts: Mapping[str, Estimate]  # the parts and the total, by the repeats so far
    standard_errors: Mapping[str, float]  # the expected ones, by part
    notes: tuple[str, ...] = ()

    def _content(self) -> Content:
        rows = [
            [name, printed_name(name), part, self.standard_errors[name]]
            for name, part in self.parts.items()
        ]
        columns = (
            Column(name="part", form="words", printed=False),
            Column(name="label", heading="part", form="words", exported=False),
            Column(name="error", heading="error ± s.e. now"),
            Column(name="planned_standard_error", heading="s.e. with the plan"),
        )
        sizes = {name: getattr(self, name) for name in ("n_data", "n_init", "n_noise", "n_fits")}
        return Content(
            tables=[Table(name="parts", columns=columns, rows=rows)],
            notes=self.notes,
            verdict=f"{whole(self.n_fits)} fits: n_data={self.n_data}, n_init={self.n_init}, "
            f"n_noise={self.n_noise}.",
            facts=sizes,
        )

    def _picture(self) -> _plots.Bars:
        bars = [
            _plots.Bar(label=label, value=value, part=name)
            for name, part in self.parts.items()
            for label, value in (
                (printed_name(name), float(part.standard_error)),
                ("with the plan", self.standard_errors[name]),
            )
        ]
        return _plots.Bars(rows=bars, xlabel="standard error", note=f"plan: {self.n_fits:,} fits")


def plan_repeats(result: Decomposition, relative_error: float = 0.1) -> RepeatPlan:
    """Repeats for which the standard error of every part is a given share of the part.

    Parts below 5% of the total have the tolerance of a part of 5%.

    Parameters
    ----------
    result : Decomposition
        A decomposition with few repeats, of the same learner and source; it must have standard
        errors.
    relative_error : float, default: 0.1
        The standard error of a part over the part, at least 1e-9.

    Returns
    -------
    RepeatPlan
        The numbers of data sets, initializations and noise draws with the fewest fits, and the
        expected standard errors; its `notes` name parts that need more test points.

    Raises
    ------
    ValueError
        If `result` has no total, an infinite one, or no standard errors; if `relative_error` is
        below 1e-9.
    TypeError
        If `result` is not a `Decomposition`, or `relative_error` is not one number.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=(8, 1, 1, 50)) + rng.normal(size=(8, 1, 3, 50))
    >>> pilot = dt.decompose_predictions(f + rng.normal(size=(8, 2, 3, 50)), truth=np.zeros(50))
    >>> plan = dt.plan_repeats(pilot, 0.2)
    >>> plan.n_data, plan.n_init, plan.n_noise
    (101, 3, 2)
    >>> dt.plan_repeats(pilot, 0.05).n_fits > plan.n_fits
    True
    """
    if not isinstance(result, Decomposition):
        raise TypeError(f"result must be a Decomposition, got {shown(result)}")
    wanted, design = number("relative_error", relative_error, _RELATIVE), result.design
    if not design.targets:
        raise ValueError("result must have a total, against truth or y_test, got none")
    error = result.error()
    rows = {**error.parts, "total": error.total}
    if math.isinf(error.total.value):
        raise ValueError("result must be finite, got an infinite total")
    unknown = [name for name, part in rows.items() if math.isinf(part.standard_error)]
    if unknown:
        raise ValueError(
            f"result must have standard errors, got none of {', '.join(unknown)}: it needs 3 or "
            "more data sets, and 3 or more initializations"
        )
    total = abs(float(error.total))
    weights = result._weights()
    needs = []
    for name, part in rows.items():
        spread = weighted_sum(weights[name], result.statistics).variances()
        clear = _clear(spread, design.n_init)
        needs.append(
            _Need(
                name=name,
                of_data=(spread.data + spread.init - clear) * design.n_data,
                of_init=clear * design.n_init,
                of_test=spread.test,
                allowed=(wanted * max(abs(float(part)), _SMALL * total)) ** 2,
            )
        )
    n_init = design.n_init
    if n_init > 1:
        part = error.initialization
        if max(abs(float(part)), float(part.standard_error)) <= _ROUNDING * total:
            n_init = 1  # all initializations predicted the same
    D, K = _fewest_fits(needs, n_init, min(_FEW, design.n_data))
    notes = [
        f"{need.name} does not reach this precision with {design.n_test} test points: use more "
        "of them"
        for need in needs
        if need.is_limited
    ]
    if (most := getattr(result, "most_data", math.inf)) < D:
        notes.append(f"the pool has {whole(most)} training sets: use smaller ones, or more rows")
    draws = design.n_noise + (design.injected is not None)  # and the labels without added noise
    return RepeatPlan(
        n_data=D,
        n_init=K,
        n_noise=design.n_noise,
        n_fits=D * K * draws,
        parts=rows,
        standard_errors={
            need.name: math.sqrt(need.of_data / D + need.of_init / K + need.of_test)
            for need in needs
        },
        notes=tuple(notes),
    )


class _Need(NamedTuple):
    """The contributions to the variance of a part, and its largest allowed value."""

    name: str
    of_data: float  # over n_data
    of_init: float  # over n_init
    of_test: float
    allowed: float

    @property
    def is_limited(self) -> bool:
        """Whether the test points alone exceed the allowed variance."""
        return self.of_test >= self.allowed

    @property
    def room(self) -> float:
        """For data sets and initializations; with too few test points, as much as for these."""
        return self.of_test if self.is_limited else self.allowed - self.of_test


def _clear(spread: Variances, n_init: int) -> float:
    """The part of V_k beyond its own standard error, which is large for few initializations."""
    if n_init < 2:
        return 0.0
    V_d, V_k = spread.data, spread.init
    return max(0.0, V_k - math.sqrt(2 / (n_init - 1)) * (V_k + V_d))


def _fewest_fits(needs: list[_Need], least_init: int, least_data: int) -> tuple[int, int]:
    """The numbers of data sets and initializations whose product is smallest."""
    tried = [1] if least_init == 1 else _numbers_of_inits(needs, least_init)
    plans = []
    for K in tried:
        room = [need.room - need.of_init / K for need in needs]
        if min(room) > 0:
            most = max(need.of_data / left for need, left in zip(needs, room, strict=True))
            D = max(least_data, math.ceil(most))
            plans.append((D * K, D, K))
    _, D, K = min(plans)  # not empty: the last K tried adds next to nothing
    return D, K


def _numbers_of_inits(needs: list[_Need], least: int) -> list[int]:
    """Numbers of initializations to consider."""
    most = max(need.of_init / need.room for need in needs)
    high = max(least, math.ceil(4 * most))
    steps = range(_TRIED + 1)
    return sorted({round(least * (high / least) ** (k / _TRIED)) for k in steps} | {high + 1})
