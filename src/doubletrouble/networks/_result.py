"""What an ensemble of lazy networks has learned."""

from __future__ import annotations  # help() then shows names, not what they stand for

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from doubletrouble.decomposition import Statistic, digest, ensemble_error, grouped, vote_error
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.errors import DivergenceError
from doubletrouble.networks._outcome import FITTED, TrainingOutcome
from doubletrouble.networks._settings import Training
from doubletrouble.parameters import FloatArray, whole_number
from doubletrouble.results import ErrorTerms, Estimate

Measure: TypeAlias = Literal["classification", "vote", "squared"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

_ROUNDING = 1e-9  # squared loss of labels ±1 that the exact solution may leave


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LazyRun:
    """An ensemble of trained networks; arrays have an entry for each member.

    `predictions` are scores whose sign is the class: half the difference of the two outputs.
    """

    predictions: FloatArray  # [member, test]
    y_test: FloatArray  # [test]
    train_error: FloatArray  # [member]: share of training samples on the wrong side
    train_loss: FloatArray  # [member]: not divided by α²
    displacement: FloatArray  # [member]: α |θ - θ₀|, which has a limit as α → ∞
    steps: npt.NDArray[np.int64]  # [member]
    status: tuple[str, ...]  # of `outcome.STATUSES`
    width: int
    laziness: float
    settings: Mapping[str, Any] = field(default_factory=dict)  # as they were used: see `as_used`

    @classmethod
    def of(
        cls, outcomes: Sequence[TrainingOutcome], y_test: FloatArray, *, width: int,
        laziness: float, settings: Mapping[str, Any],
    ) -> LazyRun:  # fmt: skip
        """Put the members together."""
        return cls(
            predictions=np.stack([o.scores for o in outcomes]),
            y_test=y_test,
            train_error=np.array([o.train_error for o in outcomes]),
            train_loss=np.array([o.train_loss for o in outcomes]),
            displacement=np.array([o.displacement for o in outcomes]),
            steps=np.array([o.steps for o in outcomes], dtype=np.int64),
            status=tuple(o.status for o in outcomes),
            width=width, laziness=laziness, settings=as_used(settings, laziness),
        )  # fmt: skip

    @property
    def members(self) -> list[TrainingOutcome]:
        """The members one by one."""
        arrays = (self.predictions, self.train_error, self.train_loss, self.displacement)
        rows = zip(*arrays, self.steps, self.status, strict=True)
        return [
            TrainingOutcome(
                scores=scores, train_error=float(error), train_loss=float(loss),
                displacement=float(moved), steps=int(steps), status=status,
            )
            for scores, error, loss, moved, steps, status in rows
        ]  # fmt: skip

    @property
    def n_members(self) -> int:
        """How many networks there are."""
        return len(self.status)

    @property
    def converged(self) -> npt.NDArray[np.bool_]:
        """Which members reached zero loss, no longer improved, or were solved exactly."""
        return np.array([s in FITTED for s in self.status])

    @property
    def diverged(self) -> npt.NDArray[np.bool_]:
        """Which members have no finite loss; their predictions are NaN."""
        return np.array([s == "diverged" for s in self.status])

    @property
    def interpolates(self) -> npt.NDArray[np.bool_]:
        """Which members fit every training sample.

        With the squared loss, those whose loss is zero but for rounding: they meet the labels. With
        the others, those that have every sample on its side.
        """
        met = self.settings.get("loss") == "squared"
        fitted = self.train_loss <= _ROUNDING if met else self.train_error == 0
        return np.array([s == "zero" for s in self.status]) | fitted

    @property
    def distance(self) -> FloatArray:
        """How far the weights of each member moved, |θ - θ₀|; 0 for α = ∞."""
        return self.displacement / self.laziness

    def without_diverged(self) -> LazyRun:
        """The same ensemble without the members that diverged."""
        kept = np.flatnonzero(~self.diverged)
        if not kept.size:
            raise DivergenceError(f"all {self.n_members} members diverged; lower learning_rate")
        names = ("predictions", "train_error", "train_loss", "displacement", "steps")
        arrays: dict[str, Any] = {name: getattr(self, name)[kept] for name in names}
        return replace(self, **arrays, status=tuple(self.status[k] for k in kept))

    def errors(self, ensemble: EnsembleLike = 1, measure: Measure = "classification") -> FloatArray:
        """The test error of every disjoint group of K averaged members.

        `ensemble` is K, or `Ensemble(K)`; `measure` is "classification" (the sign of the mean
        score), "vote" (the majority) or "squared" (of the mean score, against ±1).
        """
        if measure not in MEASURES:
            raise ValueError(f"measure must be one of {', '.join(MEASURES)}, got {measure!r}")
        lost = np.flatnonzero(self.diverged)
        if lost.size:
            raise DivergenceError(
                f"{lost.size} of {self.n_members} members diverged "
                f"({', '.join(map(str, lost))}); run.without_diverged() leaves them out"
            )
        groups = grouped(self.predictions, ensemble_size(ensemble, "LazyRun.error"))
        if measure == "squared":
            return np.asarray(((groups.mean(axis=1) - self.y_test) ** 2).mean(axis=-1))
        rate = vote_error if measure == "vote" else ensemble_error
        return np.atleast_1d(rate(groups, self.y_test))

    def error(
        self, ensemble: EnsembleLike = 1, measure: Measure = "classification"
    ) -> ErrorTerms[Estimate]:
        """The test error of K averaged members: the mean over disjoint groups of K.

        Of the squared error the variance over initializations is a part of its own, and all else
        is in bias. Standard errors are over groups of members, for this data set and these test
        points; those of a single group are infinite.
        """
        errors = self.errors(ensemble, measure)
        if measure != "squared":
            missing = dict.fromkeys(
                ("noise", "initialization", "sampling", "bias", "bayes"),
                f"parts need the squared error, got measure {measure!r}",
            )
            total_error = Estimate.of(errors, key=self._key(ensemble, "rate"))
            return ErrorTerms.identified({}, missing=missing, total=total_error)
        missing = {
            "noise": "noise needs 2 or more draws of label noise, got 1: see lazy_split",
            "sampling": "sampling needs 2 or more data sets, got 1: see lazy_split",
            "bayes": "bayes needs both truth and y_test",
        }
        groups = grouped(self.predictions, ensemble_size(ensemble, "LazyRun.error"))
        n_groups, K, n_test = groups.shape
        key = self._key(ensemble, "squared")

        def estimate(table: FloatArray) -> Estimate:
            points = np.zeros((0, n_test))
            return Estimate.of_draws(Statistic(table=table[:, None], points=points, key=key))

        total = _means_left_out(errors)
        if n_groups * K == 1:
            missing["initialization"] = "initialization needs 2 or more members, got 1"
            parts, more = {"bias": estimate(total)}, "initialization, "
        else:
            variance = _variances_left_out(groups) / K
            parts, more = (
                {"initialization": estimate(variance), "bias": estimate(total - variance)},
                "",
            )
        return ErrorTerms.identified(
            parts, missing=missing, total=estimate(total),
            includes={"bias": f"{more}sampling, label noise and noise floor"},
        )  # fmt: skip

    def _key(self, ensemble: EnsembleLike, statistic: str) -> Hashable:
        """Equal for statistics of the same groups of members."""
        K = ensemble_size(ensemble, "LazyRun.error")
        return ("LazyRun.error", digest(self.predictions), K, statistic)

    def __repr__(self) -> str:
        """Sizes, and how it went."""
        how = ", ".join(f"{self.status.count(s)} {s}" for s in dict.fromkeys(self.status))
        return f"LazyRun({self.n_members} x width {self.width}, α = {self.laziness:g}: {how})"


def ensemble_size(ensemble: EnsembleLike, function: str) -> int:
    """K of an ensemble of networks, each trained on all samples, for `function`."""
    scheme = as_ensemble(ensemble, function)
    return whole_number("ensemble", scheme.n_members, 1, floats=True)


def _means_left_out(values: FloatArray) -> FloatArray:
    """The mean, then those with one value left out: (1 + G,); NaN for the mean of none."""
    total, count = values.sum(), len(values)
    return np.array([total / count, *((total - values) / ((count - 1) or np.nan))])


def _variances_left_out(groups: FloatArray) -> FloatArray:
    """The variance over members (G, K, T), mean over test points, then with a group left out."""
    n_groups, K, _ = groups.shape
    h = groups - groups.mean(axis=(0, 1))
    sums, squares = h.sum(axis=1), np.square(h).sum(axis=1)  # (G, T)

    def variance(total: FloatArray, square: FloatArray, count: int) -> float:
        return float(np.mean(square - total**2 / count) / (count - 1)) if count > 1 else np.nan

    whole, all_squares = sums.sum(axis=0), squares.sum(axis=0)
    left = [
        variance(whole - total, all_squares - square, (n_groups - 1) * K)
        for total, square in zip(sums, squares, strict=True)
    ]
    return np.array([variance(whole, all_squares, n_groups * K), *left])


def as_used(settings: Mapping[str, Any], laziness: float) -> dict[str, Any]:
    """Settings with what was used where nothing was asked for.

    A `learning_rate` of None remains for gradient descent, where every network has its own, that
    which its curvature allows, and for networks that were solved.

    >>> as_used({"optimizer": "auto", "max_steps": 500, "seed": 3}, laziness=0.5)
    {'optimizer': 'adam', 'max_steps': 500, 'seed': 3, 'patience': 100, 'learning_rate': 0.05}
    """
    given = {f.name: settings[f.name] for f in fields(Training) if f.name in settings}
    if not given:
        return dict(settings)
    training = Training(**given)
    used: dict[str, Any] = {"patience": training.window}
    if training.solves(laziness):
        used |= {"optimizer": "exact", "learning_rate": None}
    elif training.by_adam:
        rate = training.rate(min(laziness, 1.0))  # that of α = ∞ is scaled, not another
        used |= {"optimizer": "adam", "learning_rate": rate}
    return {**settings, **used}
