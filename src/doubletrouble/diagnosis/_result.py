"""The result of a diagnosis: the error by cause, options, the learning curve, and single rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from textwrap import fill
from typing import Any

import numpy as np

from doubletrouble.decomposition import (
    COLORS,
    Labels,
    LearnerMeasure,
    check_option,
    draw_bars,
    generator,
)
from doubletrouble.diagnosis._design import FULL, N_BLOCKS, WindowDesign
from doubletrouble.diagnosis._extrapolation import (
    LOSS_CURVE,
    N_DRAWS,
    Extrapolation,
    Falls,
    RowMultipliers,
    learner_salt,
    total_curve,
)
from doubletrouble.diagnosis._measurements import Alternative, Measurement, Measurements
from doubletrouble.ensembles import Bootstrap, Ensemble, EnsembleLike, Scheme, as_ensemble
from doubletrouble.errors import require
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.palette import BLACK
from doubletrouble.parameters import FloatArray, Numeric, Value, number
from doubletrouble.results import (
    WORTHWHILE,
    ConfidenceInterval,
    ErrorTerms,
    Estimate,
    PosteriorDraws,
    RowErrors,
    by_name,
    strict_json,
)

MEASURED, PAIRED, INTERPOLATED = "measured", "measured, paired", "measured, interpolated"
LAW, EXTRAPOLATED, WITHHELD = "law", "extrapolated", "withheld"
_NO_SEED, _GIVEN = "none", "given"  # the status of initialization without seeds, and of noise

CONFIDENCE = 0.9  # of printed intervals
_MEMBERS = 10  # of options
_GROWTHS = (2, 4)
_ROUNDING = 1e-12  # of the total: a smaller bias is 0
_FARTHEST = 100  # times the rows: the error of more is not predicted
_SEEDS, _BAG, _DATA = f"{_MEMBERS} models", f"bag of {_MEMBERS}", "{}x data"
OPTIONS = (_SEEDS, _BAG, *(_DATA.format(growth) for growth in _GROWTHS))
_INCLUDES = {"sampling": "label noise", "bias": "noise floor"}
_NO_NOISE = (
    "label noise is not separated: that of training labels is in sampling, that of test labels in "
    "bias, unless its standard deviation is given as noise"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class DiagnosisOption:
    """One change of a learner or its data: the error after it, and the gain.

    The gain is the share of the error that is removed, as in the advice of a forecast; it is
    positive if the error falls.
    """

    name: str
    status: str  # measured, extrapolated or withheld
    total: Estimate | None  # the error; None where it is withheld
    gain: Estimate | None  # 1 - error/error now
    fits: float  # to make the new learner
    growth: float = 1.0  # of the number of rows
    reason: str = ""  # why it is withheld


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DiagnosisAdvice:
    """The options as a table; `advice["2x data"]` is one of them.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    >>> def fit(X, y, seed):
    ...     return lambda X: np.full(len(X), y.mean())
    >>> advice = dt.diagnose(fit, X, y).advise()
    >>> [option.name for option in advice], advice["2x data"].status
    (['bag of 10', '2x data', '4x data'], 'extrapolated')
    """

    options: tuple[DiagnosisOption, ...]
    confidence: float = CONFIDENCE

    def __getitem__(self, name: str) -> DiagnosisOption:
        """An option by its name."""
        return by_name("option", {one.name: one for one in self.options}, name)

    def __iter__(self) -> Iterator[DiagnosisOption]:
        """All options."""
        return iter(self.options)

    def __len__(self) -> int:
        return len(self.options)

    def records(self) -> list[dict[str, Any]]:
        """The options as rows.

        Returns
        -------
        list of dict
            A row for each option: total and gain with intervals, status, fits, growth and reason.
        """
        table = []
        for option in self.options:
            record: dict[str, Any] = {"option": option.name, "status": option.status}
            for name, estimate in (("total", option.total), ("gain", option.gain)):
                interval = ConfidenceInterval(math.nan, math.nan)
                if estimate is not None:
                    interval = estimate.confidence_interval(self.confidence)
                low, high = interval
                value = math.nan if estimate is None else float(estimate)
                record |= {name: value, f"{name}_low": low, f"{name}_high": high}
            table.append(
                record | {"fits": option.fits, "growth": option.growth, "reason": option.reason}
            )
        return table

    def to_frame(self) -> Any:
        """The options as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each option.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return require("pandas", "tables").DataFrame(self.records())

    def __str__(self) -> str:
        """One line for each option."""
        wide = max([20, *(len(option.name) + 2 for option in self.options)])
        head = f"{'What would change it':<{wide}} {'error':>8}  {'gain':>7}   "
        lines = [f"{head}{f'{self.confidence:.0%} interval':<16}  fits"]
        for option in self.options:
            if option.total is None or option.gain is None:
                lines.append(f"  {option.name:<{wide - 2}} withheld: {option.reason}")
                continue
            low, high = option.gain.confidence_interval(self.confidence)
            interval = f"[{_percent(low)}, {_percent(high)}]"
            lines.append(
                f"  {option.name:<{wide - 2}} {float(option.total):>8.3g}  "
                f"{_percent(option.gain):>7}   {interval:<16}  {_fits(option):<5} "
                f"{option.status}"
            )
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def _percent(gain: Estimate | Value) -> str:
    """A gain in percent with its sign, which 0 has not.

    >>> _percent(0.2), _percent(-0.001)
    ('+20%', '0%')
    """
    text = f"{float(gain):+.0%}"
    return "0%" if text in ("+0%", "-0%") else text


def _fits(option: DiagnosisOption) -> str:
    return "∞" if math.isinf(option.fits) else f"{option.fits:g}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearningCurve:
    """The error by cause at several numbers of rows, measured or extrapolated."""

    error: ErrorTerms[Estimate]  # arrays along `n_samples`
    withheld: str  # why no error beyond the rows is given, or ""
    label: str  # the name of the error
    confidence: float = CONFIDENCE

    @property
    def n_samples(self) -> FloatArray:
        """The numbers of rows."""
        return np.asarray(self.error.coordinates["n_samples"])

    @property
    def status(self) -> tuple[str, ...]:
        """How the total is known at each size; `error.status` has that of every part."""
        return tuple(self.error.status["total"])

    def to_frame(self) -> Any:
        """The curve as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each size, with every part and the interval of the total.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        low, high = self.error.total.confidence_interval(self.confidence)
        return self.error.to_frame().assign(total_low=low, total_high=high)

    def records(self) -> list[dict[str, Any]]:
        """The curve as rows.

        Returns
        -------
        list of dict
            A row for each size: the total and, under "parts", every part, with intervals and
            status.
        """
        parts = {**self.error.parts, "total": self.error.total}
        rows = []
        for k, n in enumerate(self.n_samples.tolist()):
            entries = {}
            for name, part in parts.items():
                low, high = part[k].confidence_interval(self.confidence)
                status = self.error.status[name][k]
                value = float(part[k])
                entries[name] = {"value": value, "low": low, "high": high, "status": status}
            total = entries.pop("total")
            rows.append({"n_samples": n, "total": total.pop("value"), **total, "parts": entries})
        return rows

    def plot(self, axes: Any = None) -> Any:
        """Draw the total with its interval, dashed where it is extrapolated, and the parts.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            axes = pyplot.figure(figsize=(5.6, 3.6), layout="constrained").add_subplot()
        n, total = self.n_samples, self.error.total
        value = np.asarray(total.value)
        low, high = total.confidence_interval(self.confidence)
        known = np.array([status != EXTRAPOLATED for status in self.status])
        last = int(np.flatnonzero(known)[-1])
        axes.fill_between(
            n, low, high, color="#BBBBBB", alpha=0.5, lw=0, label=f"{self.confidence:.0%} interval"
        )
        axes.plot(n[: last + 1], value[: last + 1], "o-", color=BLACK, label="total")
        dashed = {"linestyle": "--", "color": BLACK, "marker": "o", "markerfacecolor": "white"}
        later = list(range(1, len(n) - last))
        if later:
            axes.plot(n[last:], value[last:], markevery=later, label="extrapolated", **dashed)
        for name, part in self.error.parts.items():
            if name != "bias" and np.any(part.value):
                color = self.error._colors[name]
                axes.plot(n, part.value, "-", color=color, label=self.error._label(name))
        if self.withheld:
            axes.set_title(fill(f"larger sizes withheld: {self.withheld}", 60), fontsize="small")
        axes.set_xscale("log")
        ticks = n[np.array([k + 1 == len(n) or n[k + 1] > 1.3 * n[k] for k in range(len(n))])]
        axes.set_xticks(ticks, [f"{size:.0f}" for size in ticks])
        axes.minorticks_off()
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("training rows")
        axes.set_ylabel(self.label)
        axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def __str__(self) -> str:
        """One line for each size, and the reason if larger ones are withheld."""
        more = [f"larger sizes withheld: {self.withheld}"] if self.withheld else []
        return "\n".join([str(self.error), *more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Diagnosis:
    """The error of a learner on all rows by cause, and the gain of each option.

    All estimates come from 4000 draws of their joint distribution: sums, differences and intervals
    take account of what they share. The totals of two diagnoses of the same data and seed share the
    draw of the test rows, so that their difference is paired.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + 0.5 * rng.normal(size=60)
    >>> def fit(X, y, seed):
    ...     weights = np.linalg.lstsq(X, y, rcond=None)[0]
    ...     return lambda X: X @ weights
    >>> d = dt.diagnose(fit, X, y)
    >>> d.learning_curve().n_samples.tolist()
    [6.0, 12.0, 24.0, 36.0, 54.0, 60.0, 120.0, 240.0]
    >>> bool(d.error(n_samples=120).total.value < d.error().total.value)
    True
    >>> d.by_row().bias.shape
    (60,)
    """

    n_samples: int
    n_fits: int
    seconds: float  # the time of the whole call
    notes: tuple[str, ...]
    classes: Labels | None  # the sorted class labels, or None
    floor: float | None  # the variance of label noise, summed over outputs, if it is given
    index: Any  # of the rows
    design: WindowDesign
    measured: Measurements
    other_measures: Mapping[LearnerMeasure, Mapping[int, Measurement]]  # of a classifier, by rung
    extrapolation: Extrapolation
    multipliers: RowMultipliers
    alternatives: Mapping[str, Alternative]  # other learners on the same folds
    key: Hashable  # equal for the same data and seed
    confidence: float = CONFIDENCE  # of printed intervals

    # --- estimates ---

    def _estimate(self, draws: FloatArray) -> Estimate:
        return Estimate._of_draws(PosteriorDraws(values=np.asarray(draws), key=self.key))

    @property
    def _label(self) -> str:
        """The name of the error."""
        return "squared test error" if self.classes is None else "Brier score"

    @property
    def withheld(self) -> str:
        """Why no error is predicted for more data; empty where it is."""
        return self.extrapolation.withheld

    def error(
        self,
        ensemble: EnsembleLike = 1,
        *,
        n_samples: Numeric | None = None,
        measure: LearnerMeasure = "squared",
    ) -> ErrorTerms[Estimate]:
        """The expected test error by cause, of one learner or several, at any number of rows.

        Parameters
        ----------
        ensemble : float or Ensemble or Bootstrap, default: 1
            K, `Ensemble(K)` or `Bootstrap(K)`: the number of averaged seeds, or of bagged learners,
            a whole number of at least 1 or inf. Of a bag, the total alone is measured, at all rows.
        n_samples : float or array_like or None, default: None
            The number of training rows, up to 100 times those at hand; None for all. Beyond all
            rows the error is extrapolated.
        measure : {"squared", "log", "zero_one"}, default: "squared"
            "squared" is the squared error, of classes the Brier score. Logarithmic and 0/1 loss of
            a classifier are given as a whole.

        Returns
        -------
        ErrorTerms of Estimate
            Every part and the total, arrays for an array `n_samples`; `status` is how each is
            known.

        Raises
        ------
        ValueError
            If `n_samples` is out of range, or beyond all rows where the error there is withheld
            (the message has the reason); if `ensemble` or `measure` is not available.
        TypeError
            If `ensemble` or `n_samples` are not numbers.
        """
        scheme = as_ensemble(ensemble, "Diagnosis.error")
        K = number("ensemble", scheme.n_members, N_MEMBERS)
        sizes = self._shares(n_samples)
        check_option("measure", measure, LearnerMeasure)
        if measure != "squared":
            return self._total_of_measure(measure, scheme, sizes)
        if isinstance(scheme, Bootstrap):
            return self._bagged(scheme, K, sizes)
        return self._averaged(K, sizes)

    def _shares(self, n_samples: Numeric | None) -> FloatArray:
        """The numbers of rows as shares of all; those of a rung, to half a row, exactly."""
        given = self.n_samples if n_samples is None else n_samples
        try:
            sizes = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise TypeError(f"n_samples must be numbers, got {n_samples!r}") from None
        shares = sizes / self.n_samples
        measured = np.zeros(sizes.shape, dtype=bool)
        for rung in self.design.rungs:
            here = np.abs(sizes - rung / N_BLOCKS * self.n_samples) <= 0.5
            shares, measured = np.where(here, rung / N_BLOCKS, shares), measured | here
        least = self.extrapolation.total.least
        if not np.all(measured | ((shares >= least) & (shares <= _FARTHEST))):
            fewest, most = math.ceil(least * self.n_samples), _FARTHEST * self.n_samples
            raise ValueError(f"n_samples must be in [{fewest}, {most}], got {n_samples!r}")
        if self.withheld and np.any(shares > 1):
            raise ValueError(f"n_samples beyond {self.n_samples} is withheld: {self.withheld}")
        return shares

    def _parts(self, x: float) -> dict[str, FloatArray]:
        """Draws of the parts with x times the rows."""
        total, seeds, sets = self.extrapolation.parts(x)
        bias = total - seeds - sets - (self.floor or 0.0)
        bias = np.where(np.abs(bias) < _ROUNDING * total, 0.0, bias)
        return {"initialization": seeds, "sampling": sets, "bias": bias}

    def _averaged(self, K: float, sizes: FloatArray) -> ErrorTerms[Estimate]:
        drawn = [self._parts(float(x)) for x in sizes.ravel()]
        parts = {}
        for name in ("initialization", "sampling", "bias"):
            values = np.stack([one[name] for one in drawn], axis=-1)
            if name == "initialization":
                values = values / K
            parts[name] = self._estimate(values.reshape(len(values), *sizes.shape))
        return self._terms(parts, sizes)

    def _terms(self, parts: dict[str, Estimate], sizes: FloatArray) -> ErrorTerms[Estimate]:
        missing, includes = {"noise": _NO_NOISE, "bayes": _NO_NOISE}, dict(_INCLUDES)
        if self.floor is not None:
            del missing["bayes"], includes["bias"]
            draws = PosteriorDraws(
                values=np.full((N_DRAWS, *sizes.shape), self.floor), key=self.key
            )
            exact = np.full(sizes.shape, self.floor) if sizes.shape else self.floor
            parts["bayes"] = Estimate(
                value=exact, standard_error=0.0 * exact, n_draws=N_DRAWS, sources=(draws,)
            )
        status = self._status(sizes, parts)
        return ErrorTerms(
            **parts,
            reasons=missing,
            includes=includes,
            status=status,
            coordinates=self._coordinates(sizes),
        )

    def _status(self, sizes: FloatArray, parts: Iterable[str]) -> dict[str, str | tuple[str, ...]]:
        """How the total and some parts are known: one word, or one for each size."""
        known = [self._status_at(float(x)) for x in sizes.ravel()]
        names = (*parts, "total")
        if not sizes.shape:
            return {name: known[0][name] for name in names}
        return {name: tuple(one[name] for one in known) for name in names}

    def _status_at(self, x: float) -> dict[str, str]:
        """How the total and the parts with x times the rows are known.

        At all rows, the total and initialization are those at 90 % of them, but for a last step of
        their curves. Bias is the rest of the total, and as sampling is.
        """
        rungs = [rung / N_BLOCKS for rung in self.measured.total]
        direct = [rung / N_BLOCKS for rung in self.measured.sampling]
        size = round(x, 6)
        total = MEASURED if size in (*rungs, 1.0) else INTERPOLATED if x < 1 else EXTRAPOLATED
        sampling = total
        if x <= 1 and size not in direct:
            sampling = INTERPOLATED if x < max(direct) else LAW
        seeds = total if self.design.seeded else _NO_SEED
        parts = {"initialization": seeds, "sampling": sampling, "bias": sampling}
        return parts | {"total": total, "bayes": _GIVEN}

    def _bag_ratio(self, K: float) -> FloatArray:
        """Draws of the error of a bag over that of one learner, paired by rows."""
        one, pair = self.measured.bags
        return self._ratio(
            pair.mean + (one.mean - pair.mean) / K,
            self.multipliers.deviations(pair) * (1 - 1 / K) + self.multipliers.deviations(one) / K,
        )

    def _ratio(self, mean: float, deviations: FloatArray) -> FloatArray:
        """Draws of an error at 90 % of the rows over that of the learner there."""
        now = self.measured.total[FULL]
        ratio = mean / now.mean
        paired = (deviations - ratio * self.multipliers.deviations(now)) / now.mean
        return np.maximum(ratio + self.multipliers.draws(paired), 0.0)

    def _measured_ratio(self, other: Measurement) -> FloatArray:
        """Draws of the error of another learner over that of this one."""
        return self._ratio(other.mean, self.multipliers.deviations(other))

    def _growth_ratio(self, x: float) -> FloatArray:
        """Draws of the error with x times the rows over that with all."""
        return self.extrapolation.total.at(x) / self.extrapolation.total.at(1.0)

    def _bagged(self, scheme: Bootstrap, K: float, sizes: FloatArray) -> ErrorTerms[Estimate]:
        """The error of a bag as a whole: its causes are not identified."""
        if np.any(sizes != 1.0):
            raise ValueError("n_samples must be left out for a bag: it is measured at all rows")
        total = self.extrapolation.parts(1.0)[0] * self._bag_ratio(K)
        reason = "the causes of a bag's error are not identified: only the total is measured"
        return ErrorTerms._of_total(self._estimate(total), reason, status={"total": PAIRED})

    def _total_of_measure(
        self, measure: LearnerMeasure, scheme: Scheme, sizes: FloatArray
    ) -> ErrorTerms[Estimate]:
        """The total of another measure, from the same fits; its causes are not identified."""
        if self.classes is None:
            raise ValueError(f"measure must be 'squared' for regression, got {measure!r}")
        if scheme != Ensemble(1):
            raise ValueError(
                f"ensemble must be 1 for measure={measure!r}, got {scheme!r}: two fits do not "
                "determine the loss of an average"
            )
        measured = self.other_measures[measure]
        reason = f"measure={measure!r} is measured as a whole; decompose splits it by cause"
        draws = np.stack([self._loss_draws(measured, float(x)) for x in sizes.ravel()], axis=-1)
        total = self._estimate(draws.reshape(N_DRAWS, *sizes.shape))
        status = self._status(sizes, ())
        return ErrorTerms._of_total(
            total, reason, status=status, coordinates=self._coordinates(sizes)
        )

    def _loss_draws(self, measured: Mapping[int, Measurement], x: float) -> FloatArray:
        """Draws of another loss with x times the rows: measured, or along its own curve."""
        infinite = [rung for rung, total in measured.items() if math.isinf(total.mean)]
        here = {rung / N_BLOCKS: total for rung, total in measured.items()}.get(round(x, 6))
        if here is None and x == 1 and infinite:
            here = measured[FULL]  # there is no curve: the loss at 90 % of the rows
        if here is not None:
            if math.isinf(here.mean):  # a class of probability 0 occurs
                return np.full(N_DRAWS, math.inf)
            return self.multipliers.positive_draws(here)
        if infinite:
            raise ValueError(
                f"n_samples must be left out, got {x * self.n_samples:g}: the loss is infinite at "
                f"{infinite[-1] / N_BLOCKS:.0%} of the rows"
            )
        falls = Falls.of(measured, self.multipliers)
        if x > 1 and falls.rise():
            raise ValueError(
                f"n_samples beyond {self.n_samples} is withheld: this loss rises with the rows"
            )
        own = generator(self.design.seed, LOSS_CURVE, learner_salt(measured[FULL]))
        return total_curve(falls, measured[FULL], self.multipliers, own, self.floor).at(x)

    def _coordinates(self, sizes: FloatArray) -> dict[str, FloatArray]:
        """The numbers of rows, if there are several."""
        return {"n_samples": np.round(sizes * self.n_samples)} if sizes.shape else {}

    # --- options, curves, rows ---

    def advise(self) -> DiagnosisAdvice:
        """The error after each change, and its gain; measured ones first.

        A gain is 1 less the ratio to the error now: the noise of the labels cancels in it.

        Returns
        -------
        DiagnosisAdvice
            The alternatives, averaged seeds, a bag, and more data.
        """
        now, seeds, _ = self.extrapolation.parts(1.0)
        zero = "" if self.measured.total[FULL].mean > 0 else "the measured error is 0"
        rows = []

        def add(
            name: str,
            ratio: Callable[[], FloatArray],
            status: str,
            *,
            fits: float = 1,
            growth: float = 1,
            reason: str = zero,
        ) -> None:
            draws = None if reason else ratio()
            gain = None
            if draws is not None:  # the gain of the mean, with the spread of the ratio
                mean = float(np.mean(now * draws) / np.mean(now))
                gain = self._estimate(1 - mean + float(np.mean(draws)) - draws)
            rows.append(
                DiagnosisOption(
                    name=name,
                    status=WITHHELD if draws is None else status,
                    total=None if draws is None else self._estimate(now * draws),
                    gain=gain,
                    fits=fits,
                    growth=growth,
                    reason=reason,
                )
            )

        for name, other in self.alternatives.items():
            add(name, partial(self._measured_ratio, other.total), PAIRED)
        K = _MEMBERS
        if self.design.seeded:
            add(_SEEDS, lambda: 1 - (1 - 1 / K) * seeds / now, MEASURED, fits=K)
        add(_BAG, partial(self._bag_ratio, K), PAIRED, fits=K)
        for x in _GROWTHS:
            more = partial(self._growth_ratio, x)
            add(_DATA.format(x), more, EXTRAPOLATED, growth=x, reason=self.withheld or zero)
        return DiagnosisAdvice(options=tuple(rows), confidence=self.confidence)

    def learning_curve(self) -> LearningCurve:
        """The error by cause at the sizes of the design, all rows, and more unless withheld.

        Returns
        -------
        LearningCurve
            Every part at every size.
        """
        shares = [rung / N_BLOCKS for rung in self.design.rungs] + [1.0]
        if not self.withheld:
            shares += map(float, _GROWTHS)
        sizes = np.round(np.array(shares) * self.n_samples)
        return LearningCurve(
            error=self.error(n_samples=sizes),
            withheld=self.withheld,
            label=self._label,
            confidence=self.confidence,
        )

    def by_row(self) -> RowErrors:
        """The error at every row by cause, of a learner trained on the other rows.

        Returns
        -------
        RowErrors
            Every part, with a number for each row; the means over rows are those of `error()`.
        """
        measured, now = self.measured, self.error()
        few = [measured.sampling[rung].by_row for rung in (2, 4) if rung in measured.sampling]
        total = _with_mean(measured.total[FULL].by_row, float(now.total))
        seeds = np.zeros(self.n_samples)
        if self.design.seeded:
            seeds = _with_mean(measured.initialization[FULL].by_row, float(now.initialization))
        sets = _with_mean(np.nanmean(few, axis=0), float(now.sampling))
        bias = total - seeds - sets - (self.floor or 0.0)
        bias = np.where(np.abs(bias) < _ROUNDING * total, 0.0, bias)
        parts: dict[str, Any] = {"initialization": seeds, "sampling": sets, "bias": bias}
        if self.floor is not None:
            parts["bayes"] = np.full(self.n_samples, self.floor)
        missing = {name: _NO_NOISE for name in ("noise", "bayes") if name not in parts}
        return RowErrors(
            **parts,
            coordinates={"row": np.arange(self.n_samples, dtype=np.float64)},
            includes=now.includes,
            index=self.index,
            reasons=missing,
            label=self._label,
        )

    # --- shown ---

    @property
    def largest_noise(self) -> Estimate:
        """The upper bound of the variance of label noise, by this learner or an alternative.

        It is all of the bias, or the error of an alternative less its variance over seeds.
        """
        error, now = self.error(), self.extrapolation.parts(1.0)[0]
        bounds = [error.bias if self.floor is None else error.bias + error.bayes]
        if self.measured.total[FULL].mean > 0:
            for other in self.alternatives.values():
                bounds.append(self._estimate(now * self._measured_ratio(other.averaged)))
        return min(bounds, key=lambda bound: bound.confidence_interval(self.confidence).high)

    def _described_status(self) -> dict[str, str]:
        """How each part at all rows is known, in words."""
        low = "by law, the rest"
        if self.floor is None:
            bound = self.largest_noise.confidence_interval(self.confidence).high
            low = f"{low}; noise of labels at most {bound:.3g}"
        return {
            "total": f"measured ({N_BLOCKS}-fold)",
            "initialization": MEASURED
            if self.design.seeded
            else f"{_NO_SEED}: seeds have no effect",
            "sampling": "overlap law, from 60% of the rows",
            "bias": low,
            "bayes": _GIVEN,
        }

    def records(self) -> list[dict[str, Any]]:
        """The error as rows.

        Returns
        -------
        list of dict
            The total and each part with interval, share and status.
        """
        error, status = self.error(), self._described_status()
        total, rows = float(error.total), []
        for name, part in {"total": error.total, **error.parts}.items():
            interval = part.confidence_interval(self.confidence)
            rows.append(
                {
                    "part": name,
                    "includes": error.includes.get(name, ""),
                    "value": float(part),
                    "low": interval.low,
                    "high": interval.high,
                    "share": float(part) / total if total > 0 else math.nan,
                    "status": status[name],
                }
            )
        return rows

    def to_frame(self) -> Any:
        """The diagnosis as a table.

        Returns
        -------
        pandas.DataFrame
            A row for the total, for each part, and for each option.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        pandas = require("pandas", "tables")
        options = [
            {
                "part": option["option"],
                "value": option["total"],
                "low": option["total_low"],
                "high": option["total_high"],
                **{name: option[name] for name in ("gain", "gain_low", "gain_high")},
                **{name: option[name] for name in ("status", "fits", "growth", "reason")},
            }
            for option in self.advise().records()
        ]
        kinds = [("part", self.records()), ("option", options)]
        return pandas.DataFrame([{"kind": kind, **row} for kind, rows in kinds for row in rows])

    def to_json(self) -> str:
        """The diagnosis as JSON.

        Returns
        -------
        str
            The parts, the options, the learning curve, the summary and the notes.
        """
        content = {
            "n_samples": self.n_samples,
            "n_fits": self.n_fits,
            "confidence": self.confidence,
            "parts": self.records(),
            "options": self.advise().records(),
            "learning_curve": self.learning_curve().records(),
            "withheld": self.withheld,
            "summary": self.summary,
            "notes": list(self.notes),
        }
        return json.dumps(strict_json(content), ensure_ascii=False, allow_nan=False, indent=2)

    def plot(self, axes: Any = None) -> Any:
        """Draw the parts and the error of each option with intervals.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            axes = pyplot.figure(figsize=(6.6, 4.2), layout="constrained").add_subplot()
        bars: list[tuple[str, Estimate | None, str, str]] = []
        error = self.error()
        for name, part in error.parts.items():
            color, hatch = COLORS[name]
            bars.append((error._label(name), part, color, hatch))
        bars.append(("total", error.total, *COLORS["total"]))
        for option in self.advise():
            if option.reason:
                text = fill(f" withheld: {option.reason}", 50, subsequent_indent=" ")
                axes.text(0.0, len(bars), text, va="center", fontsize="x-small")
            hatch = "////" if option.status == EXTRAPOLATED else ""
            bars.append((f"{option.name} ({option.status})", option.total, "#BBBBBB", hatch))
        return draw_bars(bars, self.confidence, axes, self._label)

    @property
    def summary(self) -> str:
        """The largest part, and the option of largest gain."""
        error = self.error()
        if not float(error.total) > 0:
            return "The measured error is 0."
        shares = {name: float(part) / float(error.total) for name, part in error.parts.items()}
        largest = max(shares, key=shares.__getitem__)
        cause = {
            "initialization": "the draw of seeds",
            "sampling": "the draw of the training rows",
            "bias": "bias or label noise" if self.floor is None else "bias",
            "bayes": "label noise",
        }[largest]
        size = "Most" if shares[largest] > 0.5 else "The largest part"
        confidence = self.confidence
        sure = [
            (float(option.gain), option)
            for option in self.advise()
            if option.gain is not None
            and option.gain.confidence_interval(confidence).low > WORTHWHILE
        ]
        first = f"{size} of the error is {cause} ({shares[largest]:.0%})."
        if not sure:
            return f"{first} No option reduces it significantly; try other models as alternatives."
        gain, best = max(sure, key=lambda pair: pair[0])
        return f"{first} The largest significant gain: {best.name}, {gain:.0%} ({best.status})."

    def __str__(self) -> str:
        """The error by cause, the options, a summary, and notes."""
        design = f"{self.n_fits} fits, {self.confidence:.0%} intervals"
        lines = [f"{self._label.capitalize()}, trained on all {self.n_samples} rows ({design})"]
        error = self.error()
        for row in self.records():
            name = error._label(row["part"])
            interval = f"[{row['low']:.3g}, {row['high']:.3g}]"
            share = "" if math.isnan(row["share"]) else f"{row['share']:z.0%}"
            lines.append(
                f"  {name:<22} {row['value']:>8.3g}   {interval:<18} {share:>4}   {row['status']}"
            )
        lines += ["", str(self.advise()), "", self.summary]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        """The parts on one line."""
        parts = ", ".join(
            f"{k}={v.value:.4g}±{v.standard_error:.1g}" for k, v in self.error().parts.items()
        )
        return f"Diagnosis({parts})"


def _with_mean(rows: FloatArray, mean: float) -> FloatArray:
    """Measurements of rows at a smaller size, scaled down and shifted to the mean at all rows."""
    known = np.where(np.isfinite(rows), rows, np.nanmean(rows))
    level = float(known.mean())
    scaled = known * (min(1.0, mean / level) if level > 0 else 0.0)
    return scaled + (mean - float(scaled.mean()))


# --- several learners ---


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerComparison:
    """Several learners on the same rows; `comparison["forest"]` is the diagnosis of one."""

    diagnoses: Mapping[str, Diagnosis]

    def __getitem__(self, name: str) -> Diagnosis:
        """The diagnosis of a learner."""
        return by_name("learner", self.diagnoses, name)

    @property
    def reference(self) -> str:
        """The learner that others are compared with: the first."""
        return next(iter(self.diagnoses))

    @property
    def largest_noise(self) -> Estimate:
        """The upper bound of the variance of label noise: the least bias of all learners."""
        confidence = self[self.reference].confidence
        bounds = (one.largest_noise for one in self.diagnoses.values())
        return min(bounds, key=lambda bound: bound.confidence_interval(confidence).high)

    def difference(self, name: str, reference: str | None = None) -> ErrorTerms[Estimate]:
        """The error of a learner less that of the reference, by cause, paired by rows.

        Parameters
        ----------
        name : str
            The name of the learner.
        reference : str or None, default: None
            The name of the learner to compare with; None for the first.

        Returns
        -------
        ErrorTerms of Estimate
            The difference of every part and of the total.

        Raises
        ------
        KeyError
            If a name is not that of a learner.
        """
        own, other = self[name].error(), self[reference or self.reference].error()
        status = {
            key: other.status[key] if how == _NO_SEED else how for key, how in own.status.items()
        } | {"total": PAIRED}
        return replace(own - other, status=status)

    def advise(self) -> DiagnosisAdvice:
        """The other learners as options beside the first: their errors, paired by rows.

        Those of one learner are `comparison["forest"].advise()`.

        Returns
        -------
        DiagnosisAdvice
            An option for each of the other learners.
        """
        first = self[self.reference]
        now = first.error().total
        zero = "" if float(now) > 0 else "the measured error is 0"
        rows = []
        for name in list(self.diagnoses)[1:]:
            total = None if zero else self[name].error().total
            rows.append(
                DiagnosisOption(
                    name=name,
                    status=WITHHELD if zero else PAIRED,
                    total=total,
                    gain=None if total is None else 1 - total / now,
                    fits=1,
                    reason=zero,
                )
            )
        return DiagnosisAdvice(options=tuple(rows), confidence=first.confidence)

    def records(self) -> list[dict[str, Any]]:
        """The errors and differences as rows.

        Returns
        -------
        list of dict
            A row for each learner and part: its error, and the difference to the reference.
        """
        rows, confidence = [], self[self.reference].confidence
        for name, diagnosis in self.diagnoses.items():
            error, difference = diagnosis.error(), self.difference(name)
            columns = {**error.parts, "total": error.total}
            differences = {**difference.parts, "total": difference.total}
            for part, estimate in columns.items():
                low, high = estimate.confidence_interval(confidence)
                row = {"learner": name, "part": part, "value": float(estimate)}
                row |= {"low": low, "high": high, "status": error.status[part]}
                low, high = differences[part].confidence_interval(confidence)
                row |= {"difference": float(differences[part])}
                rows.append(row | {"difference_low": low, "difference_high": high})
        return rows

    def to_frame(self) -> Any:
        """The errors and differences as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each learner and part.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.
        """
        return require("pandas", "tables").DataFrame(self.records())

    def to_json(self) -> str:
        """The errors and differences as JSON.

        Returns
        -------
        str
            The name of the reference, and a row for each learner and part.
        """
        content = {"reference": self.reference, "parts": self.records()}
        return json.dumps(strict_json(content), ensure_ascii=False, allow_nan=False, indent=2)

    def plot(self, axes: Any = None) -> Any:
        """Draw the parts of every learner as stacked bars.

        Parameters
        ----------
        axes : matplotlib.axes.Axes or None, default: None
            The axes to draw on; None for a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        if axes is None:
            pyplot = require("matplotlib.pyplot", "figures")
            size = (6.4, 0.5 * len(self.diagnoses) + 1.4)
            axes = pyplot.figure(figsize=size, layout="constrained").add_subplot()
        confidence = self[self.reference].confidence
        for row, diagnosis in enumerate(self.diagnoses.values()):
            error, left = diagnosis.error(), 0.0
            for part, estimate in error.parts.items():
                color, hatch = COLORS[part]
                label = error._label(part) if row == 0 else None
                style = {"color": color, "hatch": hatch, "edgecolor": "white", "lw": 0.0}
                axes.barh(row, float(estimate), left=left, height=0.6, label=label, **style)
                left += float(estimate)
            low, high = error.total.confidence_interval(confidence)
            total = float(error.total)
            reach = [[total - low], [high - total]]
            axes.errorbar(total, row, xerr=reach, color=BLACK, capsize=3)
        axes.set_yticks(range(len(self.diagnoses)), list(self.diagnoses))
        axes.invert_yaxis()
        axes.set_xlabel(self[self.reference]._label)
        axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        axes.spines[["top", "right"]].set_visible(False)
        return axes

    def __str__(self) -> str:
        """The errors of all learners by cause, and their differences to the first."""
        first = self[self.reference]
        confidence, error, status = first.confidence, first.error(), first._described_status()
        if any(one.design.seeded for one in self.diagnoses.values()):
            status["initialization"] = MEASURED
        wide = max(map(len, self.diagnoses)) + 4
        parts = {error._label(name): status[name].partition(";")[0] for name in error.parts}
        heads = {**parts, "total": status["total"]}
        widths = [max(26, len(label) + 2, len(how) + 2) for label, how in heads.items()]

        def line(name: str, cells: Iterable[str]) -> str:
            shown = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            return f"{name:<{wide}}" + "".join(shown)

        def intervals(terms: ErrorTerms[Estimate], sign: str) -> list[str]:
            cells = []
            for part in (*terms.parts.values(), terms.total):
                low, high = part.confidence_interval(confidence)
                cells.append(f"{float(part):{sign}.3g} [{low:{sign}.2g}, {high:{sign}.2g}]")
            return cells

        intro = f"{first._label.capitalize()}, trained on all {first.n_samples} rows"
        lines = [f"{intro} ({confidence:.0%} intervals)", line("", heads), line("", heads.values())]
        for name, diagnosis in self.diagnoses.items():
            lines.append(line(f"  {name}", intervals(diagnosis.error(), "")))
        lines += ["", f"Difference to {self.reference}: totals are paired by rows"]
        for name in list(self.diagnoses)[1:]:
            lines.append(line(f"  {name}", intervals(self.difference(name), "+")))
        if first.floor is None:
            bound = self.largest_noise.confidence_interval(confidence).high
            lines += ["", f"Noise of labels: at most {bound:.3g}, by the least bias of all."]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
