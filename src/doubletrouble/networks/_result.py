"""The result of training an ensemble of lazy networks. Nothing here needs torch."""

from __future__ import annotations  # help() shows the names of types, not their definitions

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table
from doubletrouble._numbers import percent, whole
from doubletrouble.ensembles import Ensemble, EnsembleLike, Vote, as_ensemble
from doubletrouble.errors import DivergenceError
from doubletrouble.estimates import Estimate, Statistic, draws_digest, estimate_of
from doubletrouble.losses import NETWORK_MEASURES, NetworkMeasure, measure_name
from doubletrouble.networks._misclassification import ensemble_error, grouped, vote_error
from doubletrouble.networks._settings import FITTED, TrainingOutcome, settings_used
from doubletrouble.palette import printed_name
from doubletrouble.parameters import FloatArray, check_choice, whole_number
from doubletrouble.results import ErrorTerms, unsplit_error

_SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)  # numbers of members in plots
_ROUNDING = 1e-9  # squared loss of labels ±1 that counts as zero for an exact solution


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LazyRun(Shown):
    """An ensemble of trained networks; arrays have an entry for each member.

    `predictions` are scores whose sign is the class: half the difference of the two outputs.

    Examples
    --------
    >>> import doubletrouble as dt, math
    >>> digits = dt.load_data("digits", n_samples=50)
    >>> run = dt.train_lazy(
    ...     digits, width=8, laziness=math.inf, ensemble=4, loss="squared", device="cpu"
    ... )
    >>> print(run)
    4 networks of width 8, α = ∞: 4 exact
    error of     K  error rate
    one network  1  0.407 ± 0.027
    mean         4  0.428
    vote         4  0.367
    One network misclassifies 41% of the test points, and the mean of 4 networks
    43%; 2 of 4 fit every training sample.
    >>> bool(run.error(4).total.value < run.error(1).total.value)
    True
    """

    predictions: FloatArray  # [member, test]
    y_test: FloatArray  # [test]
    train_error: FloatArray  # [member]: fraction of training samples misclassified
    train_loss: FloatArray  # [member]: not divided by α²
    displacement: FloatArray  # [member]: α |θ - θ₀|, which has a limit as α → ∞
    steps: npt.NDArray[np.int64]  # [member]
    status: tuple[str, ...]  # [member]: "zero", "converged", "exact", "max_steps", "diverged"
    width: int
    laziness: float
    settings: Mapping[str, Any] = field(default_factory=dict)  # defaults resolved

    @classmethod
    def _of(
        cls,
        outcomes: Sequence[TrainingOutcome],
        y_test: FloatArray,
        *,
        width: int,
        laziness: float,
        settings: Mapping[str, Any],
    ) -> LazyRun:
        """Combine the outcomes of the members."""
        names = ("train_error", "train_loss", "displacement", "steps")
        numbers = {name: np.array([getattr(o, name) for o in outcomes]) for name in names}
        return cls(
            **numbers,
            predictions=np.stack([o.scores for o in outcomes]),
            y_test=y_test,
            status=tuple(o.status for o in outcomes),
            width=width,
            laziness=laziness,
            settings=settings_used(settings, laziness),
        )

    @property
    def members(self) -> list[TrainingOutcome]:
        """The outcome of each member."""
        return [
            TrainingOutcome(
                scores=self.predictions[k],
                train_error=float(self.train_error[k]),
                train_loss=float(self.train_loss[k]),
                displacement=float(self.displacement[k]),
                steps=int(self.steps[k]),
                status=status,
            )
            for k, status in enumerate(self.status)
        ]

    @property
    def n_members(self) -> int:
        """Number of networks."""
        return len(self.status)

    @property
    def converged(self) -> npt.NDArray[np.bool_]:
        """Members with zero loss, with a converged loss, or solved exactly."""
        return np.array([s in FITTED for s in self.status])

    @property
    def diverged(self) -> npt.NDArray[np.bool_]:
        """Members without a finite loss; their predictions are NaN."""
        return np.array([s == "diverged" for s in self.status])

    @property
    def interpolates(self) -> npt.NDArray[np.bool_]:
        """Members that fit every training sample.

        With the squared loss: the loss is zero up to rounding. With the other losses: no training
        sample is misclassified.
        """
        squared = self.settings.get("loss") == "squared"
        fitted = self.train_loss <= _ROUNDING if squared else self.train_error == 0
        return np.array([s == "zero" for s in self.status]) | fitted

    @property
    def distance(self) -> FloatArray:
        """Distance of the weights from initialization, |θ - θ₀|; 0 for α = ∞."""
        return self.displacement / self.laziness

    def without_diverged(self) -> LazyRun:
        """Return the ensemble without the members that diverged.

        Returns
        -------
        LazyRun
            The other members.

        Raises
        ------
        DivergenceError
            If all members diverged.
        """
        left = [member for member in self.members if member.status != "diverged"]
        if not left:
            raise DivergenceError(f"all {self.n_members} members diverged; lower learning_rate")
        return LazyRun._of(
            left, self.y_test, width=self.width, laziness=self.laziness, settings=self.settings
        )

    def by_group(
        self, ensemble: EnsembleLike = 1, *, measure: NetworkMeasure = "squared"
    ) -> FloatArray:
        """Return the test error of every disjoint group of K members.

        Parameters
        ----------
        ensemble : int or Ensemble or Vote, default: 1
            K, up to the number of members: the mean score of K, as `Ensemble(K)`; or `Vote(K)`.
        measure : "squared" or "zero_one", default: "squared"
            The squared error of the mean score against ±1, or the error rate: the share of test
            points of the wrong class.

        Returns
        -------
        ndarray of shape (groups,)
            An error for each group; remaining members are dropped.

        Raises
        ------
        ValueError
            If K is more than the number of members, or the measure is unknown, or is not
            "zero_one" for a vote.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        DivergenceError
            If members diverged.
        """
        K = ensemble_size(ensemble, "LazyRun.error", measure)
        lost = np.flatnonzero(self.diverged)
        if lost.size:
            raise DivergenceError(
                f"{lost.size} of {self.n_members} members diverged "
                f"({', '.join(map(str, lost))}); run.without_diverged() leaves them out"
            )
        groups = grouped(self.predictions, K)
        if measure == "squared":
            return np.asarray(((groups.mean(axis=1) - self.y_test) ** 2).mean(axis=-1))
        return zero_one_error(groups, self.y_test, ensemble)

    def error(
        self, ensemble: EnsembleLike = 1, *, measure: NetworkMeasure = "squared"
    ) -> ErrorTerms[Estimate]:
        """Return the test error of K members: the mean over disjoint groups of K.

        For the squared error the variance over initializations is a separate part, and bias
        contains the rest. Standard errors are over groups of members, at this data set and these
        test points; with a single group they are infinite.

        Parameters
        ----------
        ensemble : int or Ensemble or Vote, default: 1
            K, up to the number of members: the mean score of K, as `Ensemble(K)`; or `Vote(K)`.
        measure : "squared" or "zero_one", default: "squared"
            The squared error of the mean score against ±1, or the error rate: the share of test
            points of the wrong class.

        Returns
        -------
        ErrorTerms of Estimate
            The total; for the squared error also initialization and bias.

        Raises
        ------
        ValueError
            If K is more than the number of members, or the measure is unknown, or is not
            "zero_one" for a vote.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        DivergenceError
            If members diverged.
        """
        errors = self.by_group(ensemble, measure=measure)
        K = ensemble_size(ensemble, "LazyRun.error", measure)
        if measure == "zero_one":
            return zero_one_terms(Estimate.of(errors, key=self._key(K, "rate")))
        missing = {
            "noise": "noise needs 2 or more draws of label noise, got 1: see lazy_split",
            "sampling": "sampling needs 2 or more data sets, got 1: see lazy_split",
            "bayes": f"{printed_name('bayes')} needs labels with and without noise",
        }
        groups = grouped(self.predictions, K)
        n_groups, _, n_test = groups.shape
        key = self._key(K, "squared")

        def estimate(table: FloatArray) -> Estimate:
            points = np.zeros((0, n_test))
            return estimate_of(Statistic(table=table[:, None], points=points, key=key))

        total = leave_one_out(errors)
        rest = "sampling, label noise and noise floor"
        if n_groups * K == 1:
            missing["initialization"] = "initialization needs 2 or more members, got 1"
            parts: dict[str, Any] = {"bias": estimate(total)}
            rest = f"initialization, {rest}"
        else:
            variance = _leave_one_out_variances(groups) / K
            parts = {"initialization": estimate(variance), "bias": estimate(total - variance)}
        return ErrorTerms(
            **parts, reasons=missing, separate_total=estimate(total), includes={"bias": rest}
        )

    def _key(self, K: int, statistic: str) -> Hashable:
        """Return a key that is equal for statistics of the same groups of members."""
        return ("LazyRun.error", draws_digest(self.predictions), K, statistic)

    # --- shown ---

    def _content(self) -> Content:
        lost = int(self.diverged.sum())
        left = self.n_members - lost
        counts = [f"{self.status.count(one)} {one}" for one in dict.fromkeys(self.status)]
        names = ("width", "laziness", "n_members", "settings")
        content = Content(
            title=f"{self.n_members} network{'s' if self.n_members > 1 else ''} of width "
            f"{self.width}, α = {whole(self.laziness)}: {', '.join(counts)}",
            notes=[f"{lost} of {self.n_members} networks diverged, and are left out"] * (lost > 0),
            verdict="All networks diverged.",
            facts={name: getattr(self, name) for name in names},
        )
        if not left:
            return content
        valid = self.without_diverged()
        fitted = int(valid.interpolates.sum())
        rows: list[list[Any]] = [["one network", 1, valid.error(1, measure="zero_one").total]]
        if left > 1:
            rows += [["mean", left, valid.error(left, measure="zero_one").total]]
            rows += [["vote", left, valid.error(Vote(left), measure="zero_one").total]]
        for row in rows:
            if not np.isfinite(row[2].standard_error):
                row[2] = float(row[2])
        verdict = f"One network misclassifies {percent(float(rows[0][2]))} of the test points"
        if left > 1:
            verdict += f", and the mean of {left} networks {percent(float(rows[1][2]))}"
        columns = (
            Column(name="error_of", heading="error of", form="words"),
            Column(name="n_members", form="count"),
            Column(name="error", heading="error rate"),
        )
        return replace(
            content,
            tables=[Table(name="errors", columns=columns, rows=rows)],
            verdict=f"{verdict}; {fitted} of {left} fit every training sample.",
        )

    def _picture(self) -> _plots.Curves:
        valid = self.without_diverged()
        sizes = [K for K in _SIZES if valid.n_members > K] + [valid.n_members]
        lines = [
            _plots.Curve(
                label=label,
                y=np.array([float(valid.error(kind(K), measure="zero_one").total) for K in sizes]),
                points=True,
                joined=True,
            )
            for label, kind in (("mean", Ensemble), ("vote", Vote))
        ]
        return _plots.Curves(
            x=sizes,
            xlabel="networks K",
            lines=lines,
            ylabel=measure_name("zero_one"),
            logy=False,
        )


def ensemble_size(ensemble: EnsembleLike, function: str, measure: str = "squared") -> int:
    """Return K of an ensemble of networks, each trained on all samples, for `function`."""
    check_choice("measure", measure, NETWORK_MEASURES)
    scheme = as_ensemble(ensemble, function)
    if isinstance(scheme, Vote) and measure != "zero_one":
        raise ValueError(f"measure must be zero_one for {scheme!r}, got {measure!r}")
    return whole_number("ensemble", scheme.n_members, 1, floats=True)


def zero_one_error(
    groups: FloatArray, y_test: FloatArray, ensemble: EnsembleLike = 1
) -> FloatArray:
    """Return the share of test points that groups [..., K, test] misclassify."""
    rate = vote_error if isinstance(ensemble, Vote) else ensemble_error
    return np.asarray(rate(groups, y_test))


def zero_one_terms(total: Estimate) -> ErrorTerms[Estimate]:
    """Return the terms of an error rate, which is not split."""
    return unsplit_error(
        total, "parts need measure 'squared', got 'zero_one'", label=measure_name("zero_one")
    )


def leave_one_out(values: FloatArray) -> FloatArray:
    """Return the mean over the first axis, then without one of its entries; NaN for that of none.

    >>> leave_one_out(np.array([[1.0], [3.0]])).ravel()
    array([2., 3., 1.])
    """
    total, count = values.sum(axis=0), len(values)
    return np.array([total / count, *((total - values) / ((count - 1) or np.nan))])


def _leave_one_out_variances(groups: FloatArray) -> FloatArray:
    """Return the variance over members (G, K, T), mean over test points, then without a group."""
    n_groups, K, _ = groups.shape
    h = groups - groups.mean(axis=(0, 1))
    sums, squares = h.sum(axis=1), np.square(h).sum(axis=1)  # (G, T)

    def variance(total: FloatArray, square: FloatArray, count: int) -> float:
        return float(np.mean(square - total**2 / count) / (count - 1)) if count > 1 else np.nan

    total, square = sums.sum(axis=0), squares.sum(axis=0)
    left_out = [
        variance(total - sums[g], square - squares[g], (n_groups - 1) * K) for g in range(n_groups)
    ]
    return np.array([variance(total, square, n_groups * K), *left_out])
