"""The decomposition of an error: every part with its standard error."""

from __future__ import annotations  # help() then shows names, not their definitions

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table, error_verdict, table_by_part
from doubletrouble._numbers import percent, whole
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.estimates import Estimate, Statistic, Variances, draws_digest, estimate_of
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.learners._components import (
    ANOVA,
    ProductWeights,
    Target,
    anova,
    mean_squares,
    missing_parts,
    sequential,
    weighted_sum,
)
from doubletrouble.learners._design import Design
from doubletrouble.learners._losses import (
    MEMBERS_OF,
    SINGLE,
    absorbed_causes,
    error_statistics,
    parts_of_losses,
)
from doubletrouble.losses import LearnerMeasure, measure_name
from doubletrouble.options import (
    DATA,
    MANY,
    N_MODELS,
    NOW,
    TEN,
    WORTHWHILE,
    Advice,
    Option,
    option_after,
    removed,
)
from doubletrouble.palette import MEASURED, printed_name
from doubletrouble.parameters import (
    FloatArray,
    Labels,
    Parameter,
    Value,
    number,
    shown,
    without_rounding,
)
from doubletrouble.results import AnovaTerms, ErrorTerms, RowErrors, unsplit_error

_FEW_MEMBERS = 5
_ONE_SIZE = (
    "a decomposition has one size of training sets, which does not determine the error at "
    "another; dt.diagnose(model, X, y) extrapolates it"
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Decomposition(Shown):
    """The error of a learner by cause, from predictions: `error()`, `anova()`.

    The error is the squared one (for probabilities of classes, the Brier score), or with another
    `measure` the cross-entropy or the error rate of a classifier.

    All estimates of one decomposition are of the same draws: their sums and differences have the
    standard errors of paired draws, as has the difference `a.error() - b.error()` of two
    decompositions of the same data, seed and numbers of draws; others are independent.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> f = 1 + rng.normal(size=(20, 1, 1, 50)) + rng.normal(size=(20, 1, 3, 50))
    >>> result = dt.decompose_predictions(f, truth=np.zeros(50), noiseless=True)
    >>> print(result)
    Squared error ± standard error
    20 training sets, 3 seeds, 50 test points
    <BLANKLINE>
    part             error ± s.e.  share
    noise           0     ± 0         0%
    initialization  0.996 ± 0.032    35%
    sampling        0.957 ± 0.065    34%
    bias            0.895 ± 0.077    31%
    total           2.85  ± 0.11
    <BLANKLINE>
    Averaged over K seeds
    K        error
    5  2.05 ± 0.10
    ∞  1.85 ± 0.10
    <BLANKLINE>
    35% of the error is variance over initializations. Averaging over infinitely
    many seeds removes 35% of the error.
    >>> round(result.anova().sampling.value, 2)
    0.96
    """

    design: Design
    notes: tuple[str, ...]  # on what each part contains, and on standard errors
    confidence: float  # of the intervals in tables and plots
    statistics: Mapping[str, Statistic]  # mean products, with keys of pairs (name, value)
    measure: LearnerMeasure = "squared"

    def error(self, ensemble: EnsembleLike = 1) -> ErrorTerms[Estimate]:
        """The error of K averaged re-initializations on the same data, in the sequential order.

        Initialization falls as 1/K, and so does the part of noise that depends on it. Measures
        other than the squared error do not fall as 1/K. For `measure="log"`, K = inf is the limit
        of geometric means of probabilities; for `measure="zero_one"`, the vote of all
        initializations. For other K, up to their number, the total alone is given: that of K
        averaged probabilities, or of K votes.

        Parameters
        ----------
        ensemble : float or Ensemble, default: 1
            K, a whole number of at least 1 or inf, or `Ensemble(K)`.

        Returns
        -------
        ErrorTerms of Estimate
            Every part and the total. A part that the design does not identify is None: `reasons`
            has the reason, and `notes` name the part that contains it.

        Raises
        ------
        ValueError
            If `ensemble` is another scheme, is above 1 with a single initialization, or is not
            available for the measure.
        TypeError
            If `ensemble` is neither a number nor a scheme.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> f = np.random.default_rng(0).normal(size=(8, 2, 3, 50))
        >>> result = dt.decompose_predictions(f, truth=np.zeros(50))
        >>> round(result.error().total.value, 2), round(result.error(10).total.value, 2)
        (1.0, 0.09)
        """
        design, measure = self.design, self.measure
        K = self._size(ensemble, "Decomposition.error")
        missing = missing_parts(design, measure=measure)
        if measure != "squared" and 1 < K < math.inf and not design.deterministic:
            return self._of_members(K)
        weights = self._weights(K)
        squares = mean_squares(design, K) if measure == "squared" else {}
        if self._is_infinite:
            reason = "is not defined: probabilities of 0 make the cross-entropy infinite"
            missing |= {
                name: f"{printed_name(name)} {reason}"
                for name in ErrorTerms.names()
                if name not in ("bias", "resampling")
            }
            weights = {name: {SINGLE: 1.0} for name in ("bias", "total") if name in weights}
        parts = self._estimates(weights, squares)
        total = parts.pop("total", None)
        includes = absorbed_causes(design, measure)
        return ErrorTerms(
            **parts,
            reasons=missing,
            includes={name: cause for name, cause in includes.items() if name in parts},
            separate_total=total,
            label=self._label,
        )

    def _of_members(self, K: float) -> ErrorTerms[Estimate]:
        """The cross-entropy or the error rate of K averaged members, as a whole."""
        design, measure, name = self.design, self.measure, f"{MEMBERS_OF}{K:g}"
        if (reason := design.lacks("total", ("target",))) is not None:
            raise ValueError(f"the design must identify the total, got none: {reason}")
        if name not in self.statistics:
            raise ValueError(
                f"ensemble must be inf or an integer up to {design.n_init}, the number of "
                f"initializations, for measure={measure!r}, got {K:g}"
            )
        reason = f"the causes are identified for ensemble = 1 and inf with measure={measure!r}"
        (total,) = self._estimates({name: {name: 1.0}}, {}).values()
        return unsplit_error(total, reason, label=self._label)

    @property
    def _label(self) -> str:
        """The name of the error."""
        return measure_name(self.measure)

    @property
    def _is_infinite(self) -> bool:
        return self.measure == "log" and math.isinf(self._value(SINGLE))

    def _value(self, name: str) -> float:
        return float(self.statistics[name].table[0, 0])

    def _weights(self, K: float = 1.0) -> dict[str, ProductWeights]:
        """The parts and the total of K averaged members, as weights of statistics."""
        if self.measure == "squared":
            return sequential(self.design, K)
        return parts_of_losses(self.design, self.measure, K)

    def anova(self, ensemble: EnsembleLike = 1) -> AnovaTerms[Estimate]:
        """The same error as main effects and interactions; of the squared error only.

        Parameters
        ----------
        ensemble : float or Ensemble, default: 1
            K, a whole number of at least 1 or inf, or `Ensemble(K)`.

        Returns
        -------
        AnovaTerms of Estimate
            Every main effect and interaction, and the total.

        Raises
        ------
        ValueError
            If the measure is not "squared", or `ensemble` is another scheme or is above 1 with a
            single initialization.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        if self.measure != "squared":
            raise ValueError(f"measure must be squared for main effects, got {self.measure!r}")
        design, K = self.design, self._size(ensemble, "Decomposition.anova")
        parts = self._estimates(anova(design, K), mean_squares(design, K, effects=True))
        total = parts.pop("total", None)
        includes = design.absorbed
        includes.pop("initialization", None)  # the main effect does not depend on the labels
        return AnovaTerms(
            **parts,
            reasons=missing_parts(design, ANOVA),
            includes=includes,
            separate_total=total,
            label=self._label,
        )

    def advise(self, ensemble: EnsembleLike = 1) -> Advice:
        """The error of averaged seeds beside the present one, and the gain.

        The error on more data is not determined by one size of training sets: `diagnose`
        extrapolates it.

        Parameters
        ----------
        ensemble : float or Ensemble, default: 1
            The present number of averaged seeds, as for `error`.

        Returns
        -------
        Advice
            The options of more seeds, and "2x data", which is withheld.

        Raises
        ------
        ValueError
            If the total is not identified, or `ensemble` is not available.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        design, measure, confidence = self.design, self.measure, self.confidence
        if (missing := design.lacks("total", ("target",))) is not None:
            raise ValueError(f"the design must identify the total, got none: {missing}")
        now = self.error(ensemble)
        present = self._size(ensemble, "Decomposition.error")
        at_present = Option(
            name=NOW,
            error=now,
            status=MEASURED,
            cost={"fits": 1.0, "data": 1.0},
            setting={"n_members": present},
        )
        reason = design.lacks("the error of an ensemble", ("init",)) or ""
        if design.deterministic:
            reason = "the learner has no seed: averaging changes nothing"
        elif math.isinf(float(now.total)):
            reason = "the error is infinite"
        # other measures do not fall as 1/K
        sizes = {name: N_MODELS[name] for name in (TEN, MANY)}
        if measure != "squared" and not design.deterministic:
            sizes = {f"{design.n_init} models": design.n_init}
        options = []
        for models, K in sizes.items():
            options.append(
                option_after(
                    f"vote of {models}" if measure == "zero_one" else models,
                    None if reason else self.error(K),
                    at_present,
                    confidence=confidence,
                    status=MEASURED,
                    cost={"fits": K / present, "data": 1.0},
                    reason=reason,
                    setting={"n_members": K},
                )
            )
        cost = {"fits": 1.0, "data": 2.0}
        more = option_after(DATA, None, at_present, cost=cost, reason=_ONE_SIZE)
        return Advice(now=at_present, changes=(*options, more), confidence=confidence)

    def _size(self, ensemble: EnsembleLike, function: str) -> float:
        """K; more than one member needs a second initialization."""
        K = number("ensemble", as_ensemble(ensemble, function).n_members, N_MEMBERS)
        if K > 1 and (reason := self.design.lacks("the error of an ensemble", ("init",))):
            raise ValueError(f"ensemble must be 1, got {K:g}: {reason}")
        return K

    def _estimates(
        self,
        weights: Mapping[str, ProductWeights],
        squares: Mapping[str, ProductWeights],
    ) -> dict[str, Any]:
        """Weighted sums of statistics, with the mean square of each; inf of an infinite one."""
        estimates = {}
        for name, part in weights.items():
            if any(math.isinf(self._value(one)) for one in part):
                estimates[name] = Estimate(
                    value=math.inf, standard_error=0.0, n_draws=self.design.n_data
                )
                continue
            square = None
            if any(part.values()) and name in squares:
                known = {one: weight for one, weight in squares[name].items() if weight}
                square = sum(weight * self._value(one) for one, weight in known.items())
            estimates[name] = estimate_of(weighted_sum(part, self.statistics), square)
        return estimates

    def _averaged(self) -> dict[float, Estimate]:
        """The total error of K averaged members, where the design identifies it."""
        identified = self.design.lacks("total", ("target", "init")) is None
        if not identified or self.design.deterministic:
            return {}
        if self.measure != "squared":
            sizes: list[float] = [min(_FEW_MEMBERS, self.design.n_init)]
            if self.measure == "log" and not self._is_infinite:
                sizes.append(math.inf)
            return {K: self.error(K).total for K in sizes}
        return {K: self.error(K).total for K in (_FEW_MEMBERS, math.inf)}

    # --- shown ---

    def _content(self) -> Content:
        parts = replace(table_by_part(self.error()), confidence=self.confidence)
        tables = [parts, self._averaged_table()]
        if self.measure == "squared":
            effects = table_by_part(self.anova())
            exported = [replace(column, printed=False) for column in effects.columns]
            tables.insert(
                1, replace(effects, name="anova", columns=exported, confidence=self.confidence)
            )
        return Content(
            title=f"{self._label.capitalize()} ± standard error\n{_sizes(self.design)}",
            tables=[table for table in tables if table.rows],
            notes=self.notes,
            verdict=self._verdict(),
            facts={
                "measure": self.measure,
                "design": asdict(self.design),
                "confidence": self.confidence,
            },
        )

    def _averaged_table(self) -> Table:
        """The error of K averaged members."""
        return Table(
            name="averaged",
            title="Averaged over K seeds",
            columns=(
                Column(name="n_members", form="count"),
                Column(name="averaged", form="words", exported=self.measure != "squared"),
                Column(name="error"),
            ),
            rows=[[K, self._averages(K), total] for K, total in self._averaged().items()],
            confidence=self.confidence,
        )

    def _averages(self, K: float) -> str:
        """What the mean is of, if not of predictions."""
        if self.measure == "log":
            return "logarithms" if math.isinf(K) else "probabilities"
        return "votes" if self.measure == "zero_one" else ""

    def _verdict(self) -> str:
        """The largest part, and the share of the error that the mean of all seeds removes."""
        error = self.error()
        text, many = error_verdict(error), self._averaged().get(math.inf)
        if not text or many is None or self.measure != "squared":
            return text
        gain = removed(float(many), float(error.total))
        if gain < WORTHWHILE:
            return f"{text} Averaging over seeds does not reduce it."
        share = percent(min(gain, 1.0))
        return f"{text} Averaging over infinitely many seeds removes {share} of the error."

    def _picture(self) -> _plots.Picture:
        picture = _plots.error_picture(self.error())
        assert isinstance(picture, _plots.Bars)
        rows = list(picture.rows)
        for K, total in self._averaged().items():
            what = self._averages(K)
            label = f"mean of {whole(K)} seeds{f' ({what})' if what else ''}"
            rows.append(_plots.Bar(label=label, value=total))
        return replace(picture, rows=rows, confidence=self.confidence)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerDecomposition(Decomposition):
    """The error of a learner by cause, and its predictions."""

    predictions: FloatArray  # [data, noise, init, test] or [data, noise, init, test, class]
    y_test: FloatArray  # the target of the predictions, one-hot for classes
    classes: Labels | None  # the sorted class labels, or None
    index: Sequence[Hashable]  # of the test rows, in the pool
    n_fits: int
    most_data: float  # the largest number of training sets of the source
    seconds: float  # the time of the whole call
    label_noise: Value | None = None  # the standard deviation of the noise in y_test, if known

    @property
    def _label(self) -> str:
        return measure_name(self.measure, probabilities=self.classes is not None)

    def by_row(self) -> RowErrors:
        """The error at every test row by cause; the means over them are those of `error()`.

        Returns
        -------
        RowErrors
            Every part, with a number for each test row.

        Raises
        ------
        ValueError
            If the error is infinite.

        Examples
        --------
        >>> import doubletrouble as dt, numpy as np
        >>> from sklearn.tree import ExtraTreeRegressor
        >>> X = np.random.default_rng(0).normal(size=(300, 3))
        >>> tree = ExtraTreeRegressor()
        >>> result = dt.decompose(tree, X, X[:, 0], n_samples=30, n_data=6, progress=False)
        >>> rows = result.by_row()
        >>> bool(np.isclose(rows.sampling.mean(), result.error().sampling.value))
        True
        """
        design, error = self.design, self.error()
        if self._is_infinite:
            raise ValueError("measure must be finite to be split by row, got an infinite one")
        sigma = np.asarray(0.0 if self.label_noise is None else self.label_noise, dtype=float)
        wide = sigma.reshape(sigma.shape + (1,) * (self.y_test.ndim - 1)) if sigma.ndim else sigma
        target = Target(self.y_test, np.broadcast_to(wide**2, self.y_test.shape))
        statistics, _ = error_statistics(
            self.predictions[:, :, : design.n_init],
            {design.target: target},
            design,
            self.measure,
            parts=[slice(None)],
            key="",
        )
        known = {name: statistic.points[0] for name, statistic in statistics.items()}
        zero = np.zeros(design.n_test)
        parts: dict[str, Any] = {
            name: sum((w * known[one] for one, w in part.items() if w), start=zero)
            for name, part in self._weights().items()
            if name != "total"
        }
        scale = float(np.abs(sum(parts.values(), start=zero)).mean())
        parts = {name: without_rounding(part, scale) for name, part in parts.items()}
        return RowErrors(
            **parts,
            coordinates={"row": np.arange(design.n_test, dtype=np.float64)},
            includes=error.includes,
            index=self.index,
            rows_key=(draws_digest(self.y_test), tuple(self.index)),
            reasons=missing_parts(design, measure=self.measure),
            label=self._label,
        )


def _sizes(design: Design) -> str:
    """The numbers of draws in words; one draw of noise is not mentioned."""
    counts = {
        "training set": design.n_data,
        "noise draw": design.n_noise,
        "seed": design.n_init,
        "test point": design.n_test,
    }
    return ", ".join(
        f"{whole(count)} {name}{'s' if count > 1 else ''}"
        for name, count in counts.items()
        if count > 1 or name != "noise draw"
    )


# --- repeats for a given precision ---
#
# A standard error squared is V_d, which falls as 1/n_data, and V_k, which falls as 1/n_init
# (`_components`); that of the test points remains. More initializations also make each data set
# more precise, which is not counted, and fewer than the present ones are not considered: the plan
# is conservative.

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
