"""Several learners on the same rows, and the differences of their errors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from doubletrouble import _plots
from doubletrouble._display import Column, Content, Shown, Table, against_mean, skill_name
from doubletrouble._numbers import alone, between, level, plain
from doubletrouble._plots import part_labels
from doubletrouble.ensembles import EnsembleLike, as_ensemble
from doubletrouble.estimates import Estimate
from doubletrouble.learners._diagnosis import Diagnosis, described, diagnosed, no_gain
from doubletrouble.losses import LearnerMeasure
from doubletrouble.options import NOW, Advice, Option, option_after
from doubletrouble.palette import MEASURED, NO_SEED, PAIRED
from doubletrouble.parameters import by_name
from doubletrouble.results import ErrorTerms


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LearnerComparison(Shown):
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
    def baseline(self) -> float:
        """The error of predicting the mean, or the class frequencies."""
        return self[self.reference].baseline

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
            key: other.status[key] if how == NO_SEED else how for key, how in own.status.items()
        } | {"total": PAIRED}
        return replace(own - other, status=status)

    def advise(
        self, ensemble: EnsembleLike = 1, *, measure: LearnerMeasure | None = None
    ) -> Advice:
        """The other learners as options beside the first: their errors, paired by rows.

        Those of one learner are `comparison["forest"].advise()`.

        Parameters
        ----------
        ensemble : float or Ensemble or Bootstrap, default: 1
            The number of averaged seeds, or bagged learners, of each, as for `Diagnosis.error`.
        measure : None or "squared" or "log" or "zero_one", default: None
            The measure of the error, as for `Diagnosis.error`; None for that of the comparison.

        Returns
        -------
        Advice
            An option for each of the other learners.

        Raises
        ------
        ValueError
            If `ensemble` or `measure` is not available.
        TypeError
            If `ensemble` is not a number.
        """
        first, scheme = self[self.reference], as_ensemble(ensemble, "Diagnosis.error")
        measure = measure or first.measure
        averaged = (f"Errors are of {described(scheme)} each.",) if scheme.n_members != 1 else ()
        errors = {k: d.error(scheme, measure=measure) for k, d in self.diagnoses.items()}
        now = Option(name=NOW, error=errors.pop(self.reference), status=MEASURED)
        reason = no_gain(now)
        changes = (
            option_after(
                name,
                None if reason else error,
                now,
                confidence=first.confidence,
                status=PAIRED,
                reason=reason,
            )
            for name, error in errors.items()
        )
        return Advice(
            now=now,
            changes=tuple(changes),
            confidence=first.confidence,
            notes=(f"Now: {self.reference}.", *averaged),
            reference=self.reference,
        )

    @property
    def verdict(self) -> str:
        """The learner of least error, its largest cause, and its difference to the next one."""
        first = self[self.reference]
        totals = {name: one.error().total for name, one in self.diagnoses.items()}
        best, second = sorted(totals, key=lambda name: float(totals[name]))[:2]
        if math.isinf(float(totals[best])):
            return f"The {first.error().label} of every learner is infinite."
        difference = self.difference(second, best).total
        low, high = map(float, difference.confidence_interval(first.confidence))
        word = "significant" if low > 0 else "not significant"
        interval = between(low, high, float(difference.standard_error))
        least, excess = (alone(one) for one in (totals[best], difference))
        return (
            f"Least error: {best}, {least}. {diagnosed(self[best])} "
            f"The error of the next one, {second}, is larger by {excess} "
            f"({level(first.confidence)} interval {interval}): {word}."
        )

    def _parts_table(
        self, name: str, columns: Sequence[Column], rows: Sequence[list[Any]], **about: Any
    ) -> Table:
        """A table with a row for each learner, which ends with the parts of the error."""
        first = self[self.reference]
        labels = part_labels(first.error())
        parts = (Column(name=k, heading=text, without_error=True) for k, text in labels.items())
        return Table(
            name=name,
            columns=[Column(name="learner", form="words"), *columns, *parts],
            rows=rows,
            confidence=first.confidence,
            **about,
        )

    def _learner_table(self) -> Table:
        errors = {name: one.error() for name, one in self.diagnoses.items()}
        first = errors[self.reference]
        skill = Column(name="skill", heading=skill_name(first.baseline_name), form="skill")
        return self._parts_table(
            "learners",
            [Column(name="error", interval=True), skill],
            [[k, one.total, self[k].skill, *one.parts.values()] for k, one in errors.items()],
            causes=[one.parts for one in errors.values()],
            labels=part_labels(first),
        )

    def _difference_table(self) -> Table:
        differences = {name: self.difference(name) for name in list(self.diagnoses)[1:]}
        return self._parts_table(
            "differences",
            [Column(name="error", heading="difference", interval=True)],
            [[name, d.total, *d.parts.values()] for name, d in differences.items()],
            title=f"Difference to {self.reference}, paired by rows",
        )

    def _content(self) -> Content:
        first = self[self.reference]
        kind, confidence, leads = first._baseline_name, first.confidence, []
        for name, one in self.diagnoses.items():
            total = one.error().total
            lead, _ = against_mean(total, self.baseline, name=kind, confidence=confidence)
            leads += [f"{name}: {lead}"] if lead else []
        lines = [f"Predicting {kind}: {plain(self.baseline)}."]
        if first.floor is None and first.measure == "squared":
            bound = self.largest_noise.confidence_interval(confidence).high
            lines.append(f"Variance of label noise: at most {plain(float(bound))}.")
        notes: dict[str, list[str]] = {}
        for name, one in self.diagnoses.items():
            for note in one.notes:
                notes.setdefault(note, []).append(name)
        return Content(
            title=f"{first.error().label.capitalize()}, trained on all {first.n_samples:,} rows "
            f"({level(confidence)} intervals)",
            lead="\n".join(leads),
            tables=[self._learner_table(), self._difference_table()],
            lines=lines,
            notes=[f"{', '.join(names)}: {note}" for note, names in notes.items()],
            verdict=self.verdict,
            facts={
                "reference": self.reference,
                "n_samples": first.n_samples,
                "confidence": confidence,
                "baseline": self.baseline,
            },
        )

    def _picture(self) -> _plots.Picture:
        first = self[self.reference]
        error = first.error()
        return _plots.Stack(
            rows=[
                _plots.StackRow(label=name, total=one.error().total, parts=one.error().parts)
                for name, one in self.diagnoses.items()
            ],
            xlabel=error.label,
            confidence=first.confidence,
            labels=part_labels(error),
            baseline=self.baseline if self.baseline > 0 else None,
            baseline_label=f"predicting {first._baseline_name}",
        )
