"""The result of a diagnosis: the error by cause, options, and single rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import (
    MEAN,
    Content,
    Shown,
    content_of,
    fit_verdict,
    records_of,
    table_by_part,
)
from doubletrouble._numbers import CONFIDENCE, level, plain, whole
from doubletrouble._plots import part_label
from doubletrouble.ensembles import Bootstrap, Ensemble, EnsembleLike, Scheme, as_ensemble
from doubletrouble.estimates import Estimate, PosteriorDraws, estimate_of
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.learners._curves import LearningCurve
from doubletrouble.learners._extrapolation import Extrapolation, LossCurve
from doubletrouble.learners._windows import (
    FULL,
    N_BLOCKS,
    N_DRAWS,
    Alternative,
    Measurement,
    Measurements,
    RowMultipliers,
    WindowDesign,
)
from doubletrouble.losses import LearnerMeasure, measure_name
from doubletrouble.options import (
    BAG,
    DATA,
    MORE_DATA,
    N_MODELS,
    NOW,
    TEN,
    Advice,
    Option,
    less,
    option_after,
    removed,
)
from doubletrouble.palette import (
    EXTRAPOLATED,
    GIVEN,
    INTERPOLATED,
    LAW,
    MEASURED,
    NO_SEED,
    PAIRED,
    REST,
)
from doubletrouble.parameters import (
    FloatArray,
    Labels,
    Numeric,
    check_choice,
    number,
    without_rounding,
)
from doubletrouble.results import ErrorTerms, RowErrors, unsplit_error

OPTIONS = (NOW, TEN, BAG, DATA, MORE_DATA)
_GROWTHS = {DATA: 2.0, MORE_DATA: 4.0}
_FARTHEST = 100  # times the rows: the error of more is not predicted
_INCLUDES = {"sampling": "label noise", "bias": "noise floor"}
_NO_NOISE = (
    "label noise is not separated: that of training labels is in sampling, that of test labels in "
    "bias, unless its standard deviation is given as noise"
)
_NO_CAUSES = "the causes of this error are not identified: only the total is measured"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Diagnosis(Shown):
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
    measure: LearnerMeasure  # of the error, unless another one is given
    baselines: Mapping[LearnerMeasure, float]  # of the mean, class frequencies or largest class
    index: Any  # of the rows
    rows_key: Hashable  # equal for the same rows
    design: WindowDesign
    measured: Measurements
    other_measures: Mapping[LearnerMeasure, LossCurve]  # of a classifier
    extrapolation: Extrapolation
    multipliers: RowMultipliers
    alternatives: Mapping[str, Alternative]  # other learners on the same folds
    key: Hashable  # equal for the same data and seed
    confidence: float = CONFIDENCE  # of printed intervals

    # --- estimates ---

    def _estimate(self, draws: FloatArray) -> Estimate:
        return estimate_of(PosteriorDraws(values=np.asarray(draws), key=self.key))

    @property
    def baseline(self) -> float:
        """The error of predicting the mean, or the class frequencies or most frequent class."""
        return self.baselines[self.measure]

    @property
    def _baseline_name(self) -> str:
        name: str = self._about(self.measure)["baseline_name"]
        return name

    def _label_of(self, measure: LearnerMeasure = "squared") -> str:
        """The name of the error."""
        return measure_name(measure, probabilities=self.classes is not None)

    def _about(self, measure: LearnerMeasure) -> dict[str, Any]:
        """The name of the error, and its baseline."""
        name = "the most frequent class" if measure == "zero_one" else "the class frequencies"
        return {
            "label": self._label_of(measure),
            "baseline": self.baselines[measure],
            "baseline_name": MEAN if self.classes is None else name,
        }

    @property
    def _total_now(self) -> FloatArray:
        """Draws of the error of one learner on all rows."""
        return self.extrapolation.parts(1.0)[0]

    @property
    def withheld(self) -> str:
        """Why no error is predicted for more data; empty where it is."""
        return self.extrapolation.withheld

    def error(
        self,
        ensemble: EnsembleLike = 1,
        *,
        n_samples: Numeric | None = None,
        measure: LearnerMeasure | None = None,
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
        measure : None or "squared" or "log" or "zero_one", default: None
            "squared" is the squared error, of classes the Brier score. Cross-entropy and error
            rate of a classifier are given as a whole. None is the `measure` of the diagnosis.

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
        measure = self.measure if measure is None else measure
        check_choice("measure", measure, get_args(LearnerMeasure))
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
            raise ValueError(
                f"n_samples must be at most {self.n_samples}, got {n_samples!r}: {self.withheld}"
            )
        return shares

    def _parts(self, x: float, K: float) -> dict[str, FloatArray]:
        """Draws of the parts of K averaged seeds with x times the rows."""
        total, seeds, sets = self.extrapolation.parts(x)
        bias = without_rounding(total - seeds - sets - (self.floor or 0.0), total)
        return {"initialization": seeds / K, "sampling": sets, "bias": bias}

    def _averaged(self, K: float, sizes: FloatArray) -> ErrorTerms[Estimate]:
        drawn = [self._parts(float(x), K) for x in sizes.ravel()]
        parts: dict[str, Any] = {}
        for name in ("initialization", "sampling", "bias"):
            values = np.stack([one[name] for one in drawn], axis=-1)
            parts[name] = self._estimate(values.reshape(N_DRAWS, *sizes.shape))
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
        return ErrorTerms(
            **parts,
            reasons=missing,
            includes=includes,
            status=self._status(sizes, parts),
            coordinates=self._coordinates(sizes),
            **self._about("squared"),
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

        At all rows, the total and initialization are those at 90% of them, but for a last step of
        their curves.
        """
        rungs = [rung / N_BLOCKS for rung in self.measured.total]
        direct = [rung / N_BLOCKS for rung in self.measured.sampling]
        size = round(x, 6)
        total = MEASURED if size in (*rungs, 1.0) else INTERPOLATED if x < 1 else EXTRAPOLATED
        sampling = total
        if x <= 1 and size not in direct:
            sampling = INTERPOLATED if x < max(direct) else LAW
        seeds = total if self.design.seeded else NO_SEED
        bias = total if x > 1 else REST
        parts = {"initialization": seeds, "sampling": sampling, "bias": bias}
        return parts | {"total": total, "bayes": GIVEN}

    def _bag_ratio(self, K: float) -> FloatArray:
        """Draws of the error of a bag over that of one learner, paired by rows."""
        one, pair = self.measured.bags
        return self._ratio(
            pair.mean + (one.mean - pair.mean) / K,
            self.multipliers.deviations(pair) * (1 - 1 / K) + self.multipliers.deviations(one) / K,
        )

    def _ratio_of(self, other: Measurement) -> FloatArray:
        """Draws of the error of another learner over that of this one."""
        return self._ratio(other.mean, self.multipliers.deviations(other))

    def _ratio(self, mean: float, deviations: FloatArray) -> FloatArray:
        """Draws of an error at 90% of the rows over that of the learner there."""
        now = self.measured.total[FULL]
        ratio = mean / now.mean
        paired = (deviations - ratio * self.multipliers.deviations(now)) / now.mean
        return np.maximum(ratio + self.multipliers.draws(paired), 0.0)

    def _bagged(self, scheme: Bootstrap, K: float, sizes: FloatArray) -> ErrorTerms[Estimate]:
        """The error of a bag as a whole: its causes are not identified."""
        if np.any(sizes != 1.0):
            got = (sizes * self.n_samples).tolist()
            raise ValueError(
                f"n_samples must be left out for a bag, which is measured at all rows, got {got}"
            )
        return self._of_total(self._total_now * self._bag_ratio(K))

    def _of_total(self, draws: FloatArray) -> ErrorTerms[Estimate]:
        """An error measured as a whole, in pairs with that of this learner."""
        return unsplit_error(
            self._estimate(draws),
            _NO_CAUSES,
            status={"total": PAIRED},
            **self._about("squared"),
        )

    def _total_of_measure(
        self, measure: LearnerMeasure, scheme: Scheme, sizes: FloatArray
    ) -> ErrorTerms[Estimate]:
        """The total of another measure, from the same fits; its causes are not identified."""
        if self.classes is None:
            raise ValueError(f"measure must be squared for regression, got {measure!r}")
        if scheme != Ensemble(1):
            raise ValueError(
                f"ensemble must be 1 for measure={measure!r}, got {scheme!r}: two fits do not "
                "determine the loss of an average"
            )
        reason = f"measure={measure!r} is measured as a whole; decompose splits it by cause"
        curve, drawn = self.other_measures[measure], []
        for x in sizes.ravel():
            try:
                drawn.append(curve.at(float(x)))
            except ValueError as error:
                given = f"{x * self.n_samples:g}"
                raise ValueError(f"n_samples must be left out, got {given}: {error}") from None
        draws = np.stack(drawn, axis=-1)
        return unsplit_error(
            self._estimate(draws.reshape(N_DRAWS, *sizes.shape)),
            reason,
            status=self._status(sizes, ()),
            coordinates=self._coordinates(sizes),
            **self._about(measure),
        )

    def _coordinates(self, sizes: FloatArray) -> dict[str, FloatArray]:
        """The numbers of rows, if there are several."""
        return {"n_samples": np.round(sizes * self.n_samples)} if sizes.shape else {}

    # --- options, curves, rows ---

    def advise(
        self, ensemble: EnsembleLike = 1, *, measure: LearnerMeasure | None = None
    ) -> Advice:
        """The error now and after each change, and its gain; measured ones first.

        A gain is 1 less the ratio to the error now: the noise of the labels cancels in it.

        Parameters
        ----------
        ensemble : float or Ensemble or Bootstrap, default: 1
            The present learners: K, `Ensemble(K)` or `Bootstrap(K)`, as for `error`.
        measure : None or "squared" or "log" or "zero_one", default: None
            The measure of the error, as for `error`. Of "log" and "zero_one" more data alone is
            measured.

        Returns
        -------
        Advice
            The alternatives, averaged seeds, a bag, and more data.

        Raises
        ------
        ValueError
            If `ensemble` or `measure` is not available.
        TypeError
            If `ensemble` is not a number.
        """
        scheme, measure = as_ensemble(ensemble, "Diagnosis.error"), measure or self.measure
        now = self.error(scheme, measure=measure)
        present = Option(
            name=NOW,
            error=now,
            status=str(now.status["total"]),
            cost={"fits": 1.0, "data": 1.0},
        )
        return Advice(
            now=present,
            changes=tuple(self._changes(scheme, measure, present)),
            confidence=self.confidence,
            notes=(f"Now: {described(scheme)}.",) if scheme.n_members != 1 else (),
        )

    def _changes(
        self, scheme: Scheme, measure: LearnerMeasure, present: Option
    ) -> Iterable[Option]:
        """The options: alternatives, averaged seeds, a bag, and more data."""
        K = number("ensemble", scheme.n_members, N_MEMBERS)
        no_total = no_gain(present)
        alone = no_total or (
            "" if measure == "squared" else f"measure={measure!r} is measured for one fit alone"
        )
        for name, other in self.alternatives.items():
            total = None if alone else self._total_now * self._ratio_of(other.total)
            error = None if total is None else self._of_total(total)
            yield self._option(name, error, present, PAIRED, reason=alone)
        more: dict[str, Any] = {
            "cost": {"fits": N_MODELS[TEN] / K, "data": 1.0},
            "setting": {"n_members": N_MODELS[TEN]},
            "reason": alone,
        }
        averaged: dict[str, tuple[Scheme, str]] = {BAG: (Bootstrap(N_MODELS[BAG]), PAIRED)}
        if self.design.seeded:
            averaged = {TEN: (Ensemble(N_MODELS[TEN]), MEASURED), **averaged}
        for name, (many, status) in averaged.items():
            if type(many) is not type(scheme) or N_MODELS[name] > K:
                error = None if alone else self.error(many, measure=measure)
                yield self._option(name, error, present, status, **more)
        reason = no_total or self._no_more_data(scheme, measure)
        for name, growth in _GROWTHS.items():
            size = growth * self.n_samples
            yield self._option(
                name,
                None if reason else self.error(scheme, n_samples=size, measure=measure),
                present,
                EXTRAPOLATED,
                cost={"fits": 1.0, "data": growth},
                setting={"n_samples": size},
                reason=reason,
            )

    def _no_more_data(self, scheme: Scheme, measure: LearnerMeasure) -> str:
        """Why no error on more rows is given; empty if it is."""
        if isinstance(scheme, Bootstrap):
            return "the error of a bag is measured on all rows alone"
        if measure != "squared" and not self.withheld:
            return self.other_measures[measure].lacks(max(_GROWTHS.values()))
        return self.withheld

    def _option(
        self,
        name: str,
        error: ErrorTerms[Estimate] | None,
        present: Option,
        status: str,
        *,
        reason: str,
        cost: Mapping[str, float] | None = None,
        setting: Mapping[str, Any] | None = None,
    ) -> Option:
        """A change, with its gain: that of the means, with the spread of the ratio."""
        gain = None
        if error is not None and present.error is not None:
            now, after = (_draws(terms.total) for terms in (present.error, error))
            ratio = after / now
            share = removed(float(np.mean(after)), float(np.mean(now)))
            gain = self._estimate(share + float(np.mean(ratio)) - ratio)
        return option_after(
            name,
            error,
            present,
            confidence=self.confidence,
            gain=gain,
            status=status,
            cost=cost or {},
            reason=reason,
            setting=setting or {},
        )

    def learning_curve(self) -> LearningCurve:
        """The error by cause at the sizes of the design, all rows, and more unless withheld.

        Returns
        -------
        LearningCurve
            Every part at every size.
        """
        shares = [rung / N_BLOCKS for rung in self.design.rungs] + [1.0]
        withheld = self._no_more_data(Ensemble(1), self.measure)
        if not withheld:
            shares += _GROWTHS.values()
        sizes = np.round(np.array(shares) * self.n_samples)
        return LearningCurve(
            error=self.error(n_samples=sizes),
            present=self.n_samples,
            doubled=self.advise()[DATA],
            withheld=withheld,
            confidence=self.confidence,
        )

    def by_row(self) -> RowErrors:
        """The error at every row by cause, of a learner trained on the other rows.

        Returns
        -------
        RowErrors
            Every part, with a number for each row; the means over rows are those of `error()`.
        """
        measured, now = self.measured, self.error(measure="squared")
        few = [measured.sampling[rung].by_row for rung in (2, 4) if rung in measured.sampling]
        total = _with_mean(measured.total[FULL].by_row, float(now.total))
        seeds = np.zeros(self.n_samples)
        if self.design.seeded:
            seeds = _with_mean(measured.initialization[FULL].by_row, float(now.initialization))
            seeds = without_rounding(seeds, float(now.total))
        sets = _with_mean(np.nanmean(few, axis=0), float(now.sampling))
        bias = without_rounding(total - seeds - sets - (self.floor or 0.0), total)
        parts: dict[str, Any] = {"initialization": seeds, "sampling": sets, "bias": bias}
        if self.floor is not None:
            parts["bayes"] = np.full(self.n_samples, self.floor)
        missing = {name: _NO_NOISE for name in ("noise", "bayes") if name not in parts}
        return RowErrors(
            **parts,
            coordinates={"row": np.arange(self.n_samples, dtype=np.float64)},
            includes=now.includes,
            index=self.index,
            rows_key=self.rows_key,
            reasons=missing,
            label=self._label_of(),
        )

    # --- shown ---

    @property
    def largest_noise(self) -> Estimate:
        """The upper bound of the variance of label noise, by this learner or an alternative.

        It is all of the bias, or the error of an alternative less its variance over seeds.
        """
        error, now = self.error(measure="squared"), self._total_now
        bounds = [error.bias if self.floor is None else error.bias + error.bayes]
        if self.measured.total[FULL].mean > 0:
            for other in self.alternatives.values():
                bounds.append(self._estimate(now * self._ratio_of(other.averaged)))
        return min(bounds, key=lambda bound: bound.confidence_interval(self.confidence).high)

    @property
    def excess_noise(self) -> str:
        """That the given noise is more than these rows allow, with both; empty if it is not."""
        if self.floor is None:
            return ""
        bound = float(self.largest_noise.confidence_interval(self.confidence).high)
        if self.floor <= bound:
            return ""
        given = f"The given noise has variance {plain(self.floor)}"
        return f"{given}, and these rows allow at most {plain(bound)}: bias is below 0."

    @property
    def skill(self) -> Estimate:
        """The share by which the error is less than the baseline: R² of a regression.

        It is negative if predicting the mean is better, and NaN where all labels are equal.
        """
        if not self.baseline > 0:
            return Estimate(value=math.nan, standard_error=math.inf, n_draws=N_DRAWS)
        total = self.error().total
        if math.isinf(total.value):
            return Estimate(value=-math.inf, standard_error=0.0, n_draws=N_DRAWS)
        return 1 - total / self.baseline

    @property
    def verdict(self) -> str:
        """The largest cause, and the best change, as text."""
        return self._verdict(self.advise())

    def _verdict(self, advice: Advice) -> str:
        text = diagnosed(self, advice.choice)
        return f"{text} {advice.verdict}" if advice.now.total > 0 else text

    def _content(self) -> Content:
        """The error by cause, and what would change it."""
        error, advice = self.error(), self.advise()
        title = "Where the error comes from" if error.parts else "The error as a whole"
        shown = content_of(advice)
        lines = [*shown.lines]
        if self.floor is None and self.measure == "squared":
            bound = self.largest_noise.confidence_interval(self.confidence).high
            lines.append(f"Variance of label noise: at most {plain(float(bound))}.")
        return Content(
            title=f"{error.label.capitalize()}, trained on all {self.n_samples:,} rows "
            f"({self.n_fits} fits, {level(self.confidence)} intervals)",
            lead=shown.lead,
            tables=[
                replace(table_by_part(error, self.confidence), title=title),
                replace(shown.tables[0], title="What would change it"),
            ],
            lines=lines,
            notes=self.notes,
            verdict=self._verdict(advice),
            facts={
                "measure": self.measure,
                "n_samples": self.n_samples,
                "n_fits": self.n_fits,
                "confidence": self.confidence,
                "baseline": self.baseline,
                "skill": float(self.skill),
                "withheld": self.withheld,
                "learning_curve": records_of(self.learning_curve()),
            },
        )

    def _picture(self) -> _plots.Picture:
        """The causes of the error, and the gain of each option."""
        error = self.error()
        changes = []
        for option in self.advise():
            low, high = (None, None) if option.interval is None else map(float, option.interval)
            changes.append(
                _plots.Change(
                    label=option.name,
                    after=None if option.error is None else option.error.total,
                    gain=None if option.gain is None else float(option.gain),
                    low=low,
                    high=high,
                    note=f"withheld: {option.reason}",
                    extrapolated=option.status == EXTRAPOLATED,
                )
            )
        return _plots.Breakdown(
            parts={part_label(error, name): (name, part) for name, part in error.parts.items()},
            total=error.total,
            xlabel=error.label,
            changes=changes,
            confidence=self.confidence,
            baseline=self.baseline if self.baseline > 0 else None,
            baseline_label=f"predicting {error.baseline_name}",
        )


def _with_mean(rows: FloatArray, mean: float) -> FloatArray:
    """Measurements of rows at a smaller size, scaled down and shifted to the mean at all rows."""
    known = np.where(np.isfinite(rows), rows, np.nanmean(rows))
    here = float(known.mean())
    scaled = known * (min(1.0, mean / here) if here > 0 else 0.0)
    return scaled + (mean - float(scaled.mean()))


def _draws(estimate: Estimate) -> FloatArray:
    """The draws behind an estimate of a diagnosis."""
    source: Any = estimate.sources[0]
    draws: FloatArray = source.values
    return draws


def described(scheme: Scheme) -> str:
    """What is averaged, in words."""
    count = whole(number("ensemble", scheme.n_members, N_MEMBERS))
    return f"a bag of {count}" if isinstance(scheme, Bootstrap) else f"{count} averaged seeds"


def no_gain(present: Option) -> str:
    """Why nothing is compared with the present error; empty if it is finite and not 0."""
    if not present.total > 0:
        return "the measured error is 0"
    return "the present error is infinite" if math.isinf(present.total) else ""


def diagnosed(d: Diagnosis, change: Option | None = None) -> str:
    """Overfitting, underfitting or noise, with the share of the part that shows it.

    If the change is more data: its effect on this part, and on the rest.
    """
    error = d.error(measure="squared")
    what = "the error" if d.measure == "squared" else f"the {d._label_of()}"
    if not float(error.total) > 0:
        return "The measured error is 0."
    if d.excess_noise:
        return "The given noise is more than the error allows: the causes are not separated."
    text, names = fit_verdict(error, what)
    if change is None or change.error is None or change.name not in (DATA, MORE_DATA):
        return text
    if len(names) != 1 or d.measure != "squared":
        return text
    name, total, later = names[0], float(error.total), change.error.parts
    part = float(error.parts[name]) / total
    rest = 1 - part
    if not rest > 0:
        return text
    after = float(later[name]) / total
    others = sum(float(one) for key, one in later.items() if key != name) / total
    effects = f"it is {less(removed(after, part))}, and the rest {less(removed(others, rest))}"
    return f"{text} With {change.name} {effects}."
