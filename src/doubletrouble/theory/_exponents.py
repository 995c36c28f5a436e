r"""Scaling exponents of the test error by cause: exact local slopes, and asymptotic laws.

**Local.** The derivatives of the logarithm of each part by log N, log P (complex steps, as in
`_optimum`) and log K (parts are shared + own/K), at the given ridge.

**Asymptotic.** Let the eigenvalues be i^-α and the target powers i^-(1+2αr), with infinitely many
modes. Sums over modes are powers of the degrees of freedom z of the fit,

    Σ L, Σ L², Σ L(1-L) ~ z,    Σ v² (1-L)² ~ z^-b, b = 2α min(r, 1),
                                Σ v² L (1-L) ~ z^-c, c = 2α min(r, 1/2),

with logarithms at r = 1 and r = 1/2, so that the parts of K members (`_cross_terms`) are

    noise ~ τ² z/N      initialization ~ z^(1-c)/(K P)      sampling ~ z^(1-b)/N      bias ~ z^-b.

What limits z is the regime: at a given ridge δ on the Gram matrix the least of

    samples  z = N          features  z = P          ridge  z ~ (N/δ)^(1/α)

and at the best ridge the least of N, P and the z at which the noise balances what falls with z,

    noise  z ~ (N/τ²)^(1/(1+b))     (the bias)      or, where it is more,
    noise and initialization  z ~ (N/(τ² K P))^(1/c)    (the initialization, if c > 1).

For infinitely many features this is the rate N^(-b/(b+1)) of [caponnetto2007]. On a path P = M^ℓ,
K = M^(1-ℓ) with N → ∞, the error of the total of M features falls as M^-s with
s = min(ℓ b, 1 - ℓ + ℓ c), as in [ruben2025]; the two are equal at ℓ⋆ = 1/(1 + b - c).
"""

from __future__ import annotations  # help() then shows the alias Value

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._display import (
    Column,
    Content,
    Entries,
    Quantity,
    Shown,
    Table,
    point_table,
    quantity_table,
)
from doubletrouble._numbers import power
from doubletrouble.ensembles import EnsembleLike, MemberTerms, Scheme, as_ensemble, coordinates
from doubletrouble.glossary import axis_label, symbol
from doubletrouble.palette import BLUE, GREEN, VERMILION
from doubletrouble.parameters import (
    FloatArray,
    Numbers,
    Numeric,
    Parameter,
    Parts,
    Value,
    as_value,
    check_choice,
    number,
)
from doubletrouble.problems import Problem, SpectralProblem, require_ridge_regression
from doubletrouble.results import ErrorTerms
from doubletrouble.spectra import PowerLaw, SpectralLaw, TwoPowerLaw
from doubletrouble.theory._cross_terms import member_terms, product_or_zero
from doubletrouble.theory._error import (
    AnyProblem,
    Inputs,
    combine,
    ensemble_parts,
    evaluate,
    exact_error,
    on_flat_points,
)
from doubletrouble.theory._fixed_point import Spectrum
from doubletrouble.theory._optimum import best_ridges, moved_member_terms, optimal_ridge

AtRidge: TypeAlias = Literal["fixed", "best"]
_AT: tuple[AtRidge, ...] = get_args(AtRidge)
_POWER = Parameter(
    symbol="p", meaning="power of a size on a path", typical=(-1.0, 1.0), low=-1e3, high=1e3
)
_PARTS = ("noise", "initialization", "sampling", "bias")
_NAMES = (*_PARTS, "total")
_SIZES = {f"by_{name}": symbol(name) for name in ("n_samples", "n_features", "n_members")}
_DIRECTIONS = tuple(_SIZES)
_COLORS = (BLUE, VERMILION, GREEN)  # of N, P and K
_HUGE = 1e30  # features per sample, or members, in place of infinitely many
_LARGEST_RIDGE = 1e30  # in units of the kernel's weight per sample, in place of inf
_IMAGINARY = 1e-20  # the step of log K
_STEP = 1e-3  # of central differences at the best ridge


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PartExponents(Shown):
    """The exponent of each part of the error, and of the total, along one direction."""

    noise: Value
    initialization: Value
    sampling: Value
    bias: Value
    total: Value
    coordinates: Mapping[str, Value] = field(default_factory=dict)  # that vary along the axes

    def _content(self) -> Content:
        values = [Quantity(name=n, value=getattr(self, n), form="exponent") for n in _NAMES]
        table = quantity_table("exponents", values, self.coordinates)
        shape = np.shape(self.total)
        title = "d log(part)/d log(size)"
        verdict = "" if shape else f"The error changes as size^{power(float(self.total))}."
        return Content(title=title, tables=[table], verdict=verdict)

    def _picture(self) -> _plots.Picture:
        values = {name: getattr(self, name) for name in ("total", *_PARTS)}
        parts = dict(zip(values, values, strict=True))
        label = "d log(part)/d log(size)"
        return _plots.quantity_picture(values, label, self.coordinates, parts, signed=True)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exponents(Shown):
    """Exponents d log(part)/d log(size) of the test error, by cause; floats or arrays.

    Those of a part that is 0 because the noise, the target or 1/K is 0 are the limits. At P = N
    without ridge, where the error has a kink or diverges, they are the derivatives to the right in
    each direction, and -inf of a divergence. `asymptotic` and `regime` are None where no law is
    known. The total of `asymptotic` has the exponent of the largest part.
    """

    by_n_samples: PartExponents  # by log N
    by_n_features: PartExponents  # by log P
    by_n_members: PartExponents  # by log K
    regime: str | npt.NDArray[np.str_] | None = (
        None  # what limits the degrees of freedom: its name, or an array of names
    )
    asymptotic: Exponents | None = None  # those of the power law of this regime
    coordinates: Mapping[str, Value] = field(default_factory=dict)  # that vary along the axes

    def along(
        self, *, n_samples: float = 0.0, n_features: float = 0.0, n_members: float = 0.0
    ) -> PartExponents:
        """Return the exponents by log s on a path along which N, P and K are powers of s.

        Parameters
        ----------
        n_samples, n_features, n_members : float, default: 0
            The powers of s, in [-1000, 1000]: N ~ s^n_samples, P ~ s^n_features, K ~ s^n_members.

        Returns
        -------
        PartExponents
            The exponents of the parts and of the total.

        Raises
        ------
        ValueError
            If a power is outside its domain.
        TypeError
            If a power is not one number.

        Examples
        --------
        Of 10³⁰ features in all, K = 10¹² models of 10¹⁸ features:

        >>> import doubletrouble as dt
        >>> law = dt.PowerLaw(capacity=1.5, source=0.8)
        >>> problem = dt.SpectralProblem.from_law(law, n_features=1e18, n_samples=1e40)
        >>> local = dt.exponents(problem, 1e12)
        >>> for exponents in (local, local.asymptotic):
        ...     print(f"{exponents.along(n_features=0.6, n_members=0.4).total:.4f}")
        -1.3000
        -1.3000
        """
        powers = {"n_samples": n_samples, "n_features": n_features, "n_members": n_members}
        weights = [number(name, value, _POWER) for name, value in powers.items()]
        tables = (self.by_n_samples, self.by_n_features, self.by_n_members)
        slopes = {
            name: sum(
                weight * np.asarray(getattr(table, name))
                for weight, table in zip(weights, tables, strict=True)
                if weight  # 0 · inf
            )
            for name in _NAMES
        }
        values = {name: as_value(value) for name, value in slopes.items()}
        return PartExponents(**values, coordinates=self.coordinates)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays; () for numbers."""
        return np.shape(self.by_n_samples.total)

    def _columns(self, name: str) -> list[tuple[Column, Value]]:
        """The exponents of a part by N, P and K, and those of the law."""
        return [
            (
                Column(
                    name=prefix + direction,
                    heading=f"{'law ' if prefix else ''}by {size}",
                    form="exponent",
                ),
                getattr(getattr(source, direction), name),
            )
            for prefix, source in (("", self), ("asymptotic_", self.asymptotic))
            if source is not None
            for direction, size in _SIZES.items()
        ]

    def _tables(self) -> tuple[Table, ...]:
        """A row for each point and part."""
        tables = [self._point_table(name, Column(name="part", form="words")) for name in _NAMES]
        rows = [row for rows in zip(*(table.rows for table in tables), strict=True) for row in rows]
        return (replace(tables[0], name="exponents", rows=rows, keys=1, omitted=""),)

    def _point_table(self, name: str, part: Column | None = None) -> Table:
        """The exponents of one part, a row for each point."""
        columns: list[tuple[Column, Entries]] = [] if part is None else [(part, name)]
        columns += self._columns(name)
        if self.regime is not None:
            regime = Column(name="regime", heading="limited by", form="words", printed=part is None)
            columns.append((regime, np.asarray(self.regime)))
        return point_table("points", self.shape, self.coordinates, columns)

    def _content(self) -> Content:
        title = "d log(part)/d log(size) by N, P and K"
        if not self.shape:
            powers = [f"{n}^{power(float(getattr(self, d).total))}" for d, n in _SIZES.items()]
            verdict = f"The error changes as {', '.join(powers)}"
            if self.asymptotic is not None:
                verdict += f"; the law is that of large sizes, limited by {self.regime}"
            return Content(title=title, tables=self._tables(), verdict=f"{verdict}.")
        table = self._point_table("total")
        slopes = np.ravel(self.by_n_samples.total)
        verdict = f"The exponents by N are from {power(slopes.min())} to {power(slopes.max())}."
        return Content(title=title.replace("part", "total"), tables=[table], verdict=verdict)

    def _picture(self) -> _plots.Picture:
        label = "d log(part)/d log(size)"
        if not self.shape:
            bars = [
                _plots.Bar(label=f"{prefix}by {size}", value=getattr(source, name).total, part=part)
                for name, size in _SIZES.items()
                for prefix, source, part in (("", self, "total"), ("law, ", self.asymptotic, ""))
                if source is not None
            ]
            label = label.replace("part", "total")
            return _plots.Bars(rows=bars, xlabel=label, signed=True)
        if len(self.shape) > 1:
            totals = {f"by {size}": getattr(self, name).total for name, size in _SIZES.items()}
            label = label.replace("part", "total")
            return _plots.quantity_picture(totals, label, self.coordinates, signed=True)
        name, x = next(iter(self.coordinates.items()), ("point", np.arange(self.shape[0])))
        lines = [
            _plots.Curve(
                label=f"{prefix}by {size}",
                y=getattr(source, direction).total,
                dotted=source is not self,
                color=color,
            )
            for prefix, source in (("", self), ("law, ", self.asymptotic))
            if source is not None
            for (direction, size), color in zip(_SIZES.items(), _COLORS, strict=True)
        ]
        return _plots.Curves(
            x=np.broadcast_to(x, self.shape),
            xlabel=axis_label(name),
            lines=lines,
            ylabel=label.replace("part", "total"),
            signed=True,
            logy=False,
        )


def exponents(
    problem: AnyProblem, ensemble: EnsembleLike = 1, *, ridge: AtRidge = "fixed"
) -> Exponents:
    """Return the scaling exponents of the test error by cause, by N, P and K.

    Parameters
    ----------
    problem : SpectralProblem or Problem
        A problem of ridge regression; its fields may be arrays.
    ensemble : int or array_like or Ensemble, default: 1
        The models, all with all of the data.
    ridge : "fixed" or "best", default: "fixed"
        "fixed" holds the ridge (the `gram_ridge` of a `SpectralProblem`) constant; "best" replaces
        it by the best ridge at all sizes, with central differences of an error of about 1e-5.

    Returns
    -------
    Exponents
        Local exponents by cause, and for infinite power-law spectra the asymptotic ones.

    Raises
    ------
    ValueError
        For losses other than the squared loss of regression, ensembles other than `Ensemble`, an
        unknown `ridge`, or shapes that do not broadcast.
    TypeError
        If an argument is not of the type above.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> law = dt.PowerLaw(capacity=1.5, source=0.8)
    >>> problem = dt.SpectralProblem.from_law(law, n_features=1e14, n_samples=1e10, noise=0.1)
    >>> slopes = dt.exponents(problem)
    >>> slopes.regime, round(slopes.asymptotic.by_n_samples.bias, 3)
    ('samples', -2.4)
    >>> print(slopes)
    d log(part)/d log(size) by N, P and K
    part              by N    by P    by K  law by N  law by P  law by K
    noise            0.000   0.000   0.000     0.000     0.000     0.000
    initialization  -0.500  -1.000  -1.000    -0.500    -1.000    -1.000
    sampling        -2.400   0.000   0.000    -2.400     0.000     0.000
    bias            -2.400   0.000   0.000    -2.400     0.000     0.000
    total            0.000   0.000   0.000     0.000     0.000     0.000
    The error changes as N^0.000, P^0.000, K^0.000; the law is that of large sizes,
    limited by samples.
    """
    scheme = as_ensemble(ensemble, "exponents")
    check_choice("ridge", ridge, _AT)
    if isinstance(problem, Problem):
        require_ridge_regression(problem, "exponents")
    best = ridge == "best"
    values = evaluate(problem, scheme, _at_best_ridge if best else _at_fixed_ridge, block=2048)
    at = coordinates(problem, scheme) if problem.shape or scheme.shape else {}
    by_N, by_P, by_K = (
        PartExponents(**{part: values[f"{part}_{name}"] for part in _NAMES}, coordinates=at)
        for name in _DIRECTIONS
    )
    # a nonlinear target has no law: its parts follow the noise, and its bias is constant
    law = None
    if (
        isinstance(problem, SpectralProblem)
        and has_power_law(problem)
        and not np.any(problem.nonlinear_signal)
    ):
        error = optimal_ridge(problem, scheme).error if best else exact_error(problem, scheme)
        law = _asymptotic(problem, scheme, error, at, best=best)
    return Exponents(
        by_n_samples=by_N,
        by_n_features=by_P,
        by_n_members=by_K,
        regime=None if law is None else law.regime,
        asymptotic=law,
        coordinates=at,
    )


# --- local exponents -----------------------------------------------------------------------------


def _with_all_parts(at: Inputs) -> Inputs:
    """The inputs without infinitely many features, and with unit powers in place of 0.

    The exponents of absent parts are those of unit powers, and of very many features.
    """
    no_target = (at.signal == 0) & (at.nonlinear_signal == 0)
    many = _HUGE * np.maximum(at.samples, 1.0)
    return replace(
        at,
        features=np.where(np.isinf(at.features), many, at.features),
        noise=np.where(at.noise == 0, 1.0, at.noise),
        signal=np.where(no_target, 1.0, at.signal),
    )


@on_flat_points
def _at_fixed_ridge(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    unit = _with_all_parts(at)
    now = ensemble_parts(spectrum, scheme, at)
    total = np.asarray(sum(now.values()))
    point, moves = moved_member_terms(spectrum, unit)
    by_members = member_terms(point, spectrum, 0.0, 1.0), _IMAGINARY
    directions: dict[str, tuple[MemberTerms, Value]] = {**moves, "by_n_members": by_members}
    results: Parts = {}
    for name, (moved, step) in directions.items():
        turn = 1j * step if name == "by_n_members" else 0.0
        # at a divergence more samples or features reduce any part, and members as 1/K
        at_peak = -1.0 if turn else -np.inf
        slopes = {"bayes": 0.0 * total}
        parts = _parts(moved, unit, (1 - turn) / unit.n_members)
        # in proportion to 1/K: its exponents are those of one model
        parts["initialization"] = _parts(moved, unit, (1 - turn) + 0.0 * total)["initialization"]
        for part in _PARTS:
            value = parts[part]
            slope = value.imag / step / value.real
            finite = np.isfinite(slope) & np.isfinite(value.real)
            slopes[part] = np.where(finite, slope, at_peak)
        mean = sum(product_or_zero(now[part], slopes[part]) for part in now) / total
        slopes["total"] = np.where(np.isfinite(total), mean, at_peak)
        results |= {f"{part}_{name}": slopes[part] for part in _NAMES}
    return results


def _parts(terms: MemberTerms, at: Inputs, per_member: Numbers) -> Parts:
    nonlinear = terms.unlearned() if np.any(at.nonlinear_signal) else None
    return combine(terms, nonlinear, at, per_member, None, times=product_or_zero)


@on_flat_points
def _at_best_ridge(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    """Central differences, as the best ridge moves with the sizes."""
    unit = _with_all_parts(at)
    names = {"by_n_samples": "samples", "by_n_features": "features", "by_n_members": "n_members"}
    results: Parts = {}
    for direction, name in names.items():
        logs = []
        for factor in (math.exp(_STEP), math.exp(-_STEP)):
            there, all_parts = (
                replace(some, **{name: getattr(some, name) * factor}) for some in (at, unit)
            )
            ridge = best_ridges(spectrum, scheme, there)
            ridge = np.minimum(ridge, _LARGEST_RIDGE * spectrum.scale * at.samples)
            total = sum(ensemble_parts(spectrum, scheme, replace(there, ridge=ridge)).values())
            all_parts = replace(all_parts, ridge=ridge)
            parts = ensemble_parts(spectrum, scheme, all_parts)
            if np.any(np.isinf(at.n_members)):  # in proportion to 1/K, at the ridge of K = ∞
                few = np.full_like(at.samples, factor if name == "n_members" else 1.0)
                single = replace(all_parts, n_members=few)
                one = ensemble_parts(spectrum, scheme, single)["initialization"]
                parts["initialization"] = np.where(
                    np.isinf(at.n_members), one, parts["initialization"]
                )
            parts["total"] = total
            with np.errstate(divide="ignore"):  # of a part that is 0
                logs.append({part: np.log(parts[part]) for part in _NAMES})
        for part, value in logs[0].items():
            absent = np.isneginf(value) & np.isneginf(logs[1][part])
            with np.errstate(invalid="ignore"):
                slope = np.where(absent, -np.inf, (value - logs[1][part]) / (2 * _STEP))
            results[f"{part}_{direction}"] = slope
    return results


# --- asymptotic laws -----------------------------------------------------------------------------


def has_power_law(problem: SpectralProblem) -> bool:
    """Whether infinitely many eigenvalues fall as a power of their rank."""
    law = problem.law
    return isinstance(law, PowerLaw | TwoPowerLaw) and math.isinf(law.n_modes)


def mode_exponents(
    law: SpectralLaw | None, rank: Numeric
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """α, b and c of the modes near a rank."""
    assert isinstance(law, PowerLaw | TwoPowerLaw)
    alpha = np.full(np.shape(rank), law.capacity)
    if isinstance(law, TwoPowerLaw):
        alpha = np.where(np.asarray(rank) > law.knee, law.later_capacity, alpha)
    return alpha, 2 * alpha * min(law.source, 1.0), 2 * alpha * min(law.source, 0.5)


@dataclass(frozen=True, kw_only=True, eq=False)
class Regime:
    """What limits the degrees of freedom z: their size, and its exponents by N, P and K."""

    degrees: FloatArray
    by_n_samples: Value = 0.0
    by_n_features: Value = 0.0
    by_n_members: Value = 0.0


def regimes(problem: SpectralProblem, n_members: Numeric, *, best: bool) -> dict[str, Regime]:
    """The regimes at the given, or at the best ridge, by name; that of least z is the one."""
    sizes = (problem.n_samples, problem.n_features, n_members)
    N, P, K = np.broadcast_arrays(*(np.asarray(size, dtype=np.float64) for size in sizes))
    noise, ridge = np.asarray(problem.noise_sd), np.asarray(problem.gram_ridge)
    law = problem.law
    assert isinstance(law, PowerLaw | TwoPowerLaw)
    found = {
        "samples": Regime(degrees=N, by_n_samples=1.0),
        "features": Regime(degrees=P, by_n_features=1.0),
    }
    with np.errstate(all="ignore"):
        if not best:
            rank = _crossing(law, 1.0, 0.0, N / ridge)  # l(i) = δ/N, and z is in proportion
            alpha, _, _ = mode_exponents(law, rank)
            share = np.pi / alpha / np.sin(np.pi / alpha)
            return found | {"ridge": Regime(degrees=share * rank, by_n_samples=1 / alpha)}
        source, per_noise = min(law.source, 1.0), N / noise**2
        bias = _crossing(law, 2 * source, 1.0, per_noise)  # l^(2 min(r, 1)) = τ² z/N
        _, b, _ = mode_exponents(law, bias)
        spread = _crossing(law, min(2 * law.source, 1.0), 0.0, per_noise / (K * P))
        _, _, c = mode_exponents(law, spread)
        more = (c > 1) & (spread > bias)
    found["noise"] = Regime(degrees=np.where(more, np.inf, bias), by_n_samples=1 / (1 + b))
    found["noise and initialization"] = Regime(
        degrees=np.where(more, spread, np.inf),
        by_n_samples=1 / c,
        by_n_features=-1 / c,
        by_n_members=-1 / c,
    )
    return found


def _crossing(
    law: PowerLaw | TwoPowerLaw, power: float, growth: float, size: FloatArray
) -> FloatArray:
    """The rank i with size · l(i)^power = i^growth."""
    early = size ** (1 / (power * law.capacity + growth))
    if not isinstance(law, TwoPowerLaw):
        return early
    # beyond the knee l is l(knee) (i/knee)^-α'
    slope = power * law.later_capacity + growth
    scaled = np.log(size) + power * (law.later_capacity - law.capacity) * math.log(law.knee)
    return np.where(early > law.knee, np.exp(scaled / slope), early)


def _asymptotic(
    problem: SpectralProblem,
    ensemble: Scheme,
    error: ErrorTerms[Value],
    at: Mapping[str, Value],
    *,
    best: bool,
) -> Exponents:
    """The exponents of the law of each point, with its regime."""
    shape = np.broadcast_shapes(
        error.shape, *map(np.shape, (problem.n_samples, problem.n_features, ensemble.n_members))
    )
    known = regimes(problem, ensemble.n_members, best=best)
    degrees = np.stack([np.broadcast_to(one.degrees, shape) for one in known.values()])
    which = np.argmin(degrees, axis=0)
    _, b, c = mode_exponents(problem.law, degrees.min(axis=0))
    causes = (*_PARTS, "bayes")
    largest = np.argmax([np.broadcast_to(error.parts[part], shape) for part in causes], axis=0)
    tables = []
    for direction in _DIRECTIONS:
        own = [np.broadcast_to(getattr(one, direction), shape) for one in known.values()]
        z = np.choose(which, own)
        by_N, by_P, by_K = (float(direction == name) for name in _DIRECTIONS)
        slopes = {
            "noise": z - by_N,
            "initialization": (1 - c) * z - by_P - by_K,
            "sampling": (1 - b) * z - by_N,
            "bias": -b * z,
        }
        slopes["total"] = np.choose(largest, [*slopes.values(), 0.0 * z])
        values = {name: as_value(slope) for name, slope in slopes.items()}
        tables.append(PartExponents(**values, coordinates=at))
    names = np.asarray(list(known))[which]
    regime = names if names.ndim else str(names)
    by_n_samples, by_n_features, by_n_members = tables
    return Exponents(
        by_n_samples=by_n_samples,
        by_n_features=by_n_features,
        by_n_members=by_n_members,
        regime=regime,
        coordinates=at,
    )
