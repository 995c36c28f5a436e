"""What is drawn: the setting of a curve, and the view of one or two of them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Self

import numpy as np

from doubletrouble.ensembles import SCHEMES, Scheme
from doubletrouble.page import fields
from doubletrouble.page.kinds import Field, NumberField
from doubletrouble.parameters import FloatArray, Numeric
from doubletrouble.problems import Problem, noise_at
from doubletrouble.theory import DISTINCT

NEAR = 0.25  # how far from P = N curves are denser, in log P
_PEAKS = 5.0  # how far a linear axis goes beyond P = N
_LINEAR_TIMES = 100.0  # how far a linear axis goes, of time
_BEYOND = 100  # how far an axis goes out of its way to show where a slider stands

BANK = "bank_per_dim"
_OPTIONS = {"fraction": fields.FRACTION, BANK: fields.BANK}
"""The fields that set an option of a scheme."""


@cache
def _members_range(scheme: str) -> tuple[float, float]:
    """The fewest models of a scheme, and the most that can be set here."""
    kind = SCHEMES[scheme]
    least = next((K for K in range(1, 100) if _exists(kind, K)), 1)
    return float(least), math.inf if _exists(kind, math.inf) else fields.MEMBERS.spec.high


def _exists(kind: type[Scheme], members: float) -> bool:
    known = _OPTIONS.items()
    given = {name: field.default for name, field in known if kind.name in field.schemes}
    try:
        kind(members, **given)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, kw_only=True)
class PageSetting:
    """One learning problem and its ensemble, in the page's terms; F is 1."""

    per: str = fields.PER.default
    width: float = fields.WIDTH["N"].default
    samples: float = fields.SAMPLES.default
    ridge: float = fields.RIDGE.default
    time: float = fields.TIME.default
    snr: float = fields.SNR.default
    nonlinear: float = fields.NONLINEAR.default
    members: float = fields.MEMBERS.default
    scheme: str = fields.SCHEME.default
    fraction: float = fields.FRACTION.default
    bank: float = fields.BANK.default
    activation: str = fields.ACTIVATION.default

    def __post_init__(self) -> None:
        if not self.uses(fields.TIME):
            object.__setattr__(self, "time", math.inf)
        low, high = self.members_range
        object.__setattr__(self, "members", min(max(self.members, low), high))

    @property
    def fields(self) -> Iterator[Field]:
        """Every field, in the order of the controls."""
        return (fields.WIDTH[self.per] if f is fields.WIDTH["N"] else f for f in fields.SETTING)

    def uses(self, field: Field) -> bool:
        """Whether a field means something here."""
        schemes = field.schemes if isinstance(field, NumberField) else ()
        return not schemes or self.scheme in schemes

    def field(self, name: str) -> Field:
        """One field by its name."""
        return {field.name: field for field in self.fields}[name]

    @property
    def problem(self) -> Problem:
        """The problem where the sliders stand."""
        return self.problem_along("width", self.width)

    def problem_along(self, along: str, values: Numeric) -> Problem:
        """The problem with other values of what is varied."""
        at: dict[str, Any] = {"width": self.width, "samples": self.samples, "ridge": self.ridge}
        if along in at:
            at[along] = np.asarray(values) if np.ndim(values) else float(np.asarray(values))
        features = at["width"] * at["samples"] if self.per == "N" else at["width"]
        return Problem(
            features_per_dim=features, samples_per_dim=at["samples"], ridge=at["ridge"],
            noise=noise_at(self.snr), nonlinear_signal=self.nonlinear, activation=self.activation,
        )  # fmt: skip

    def members_along(self, along: str, values: Numeric) -> Numeric:
        """The number of models, with other values of what is varied."""
        return values if along == "members" else self.members

    @property
    def kind(self) -> type[Scheme]:
        """The class of the ensemble."""
        kind: type[Scheme] = SCHEMES[self.scheme]
        return kind

    @property
    def options(self) -> dict[str, float]:
        """The options of the scheme; the bank is counted in features of one model."""
        known = _OPTIONS.items()
        return {name: getattr(self, field.name) for name, field in known if self.uses(field)}

    def ensemble(self, problem: Problem, members: Numeric | None = None) -> Scheme:
        """The ensemble for a problem; of other numbers of models, if they are given."""
        given: dict[str, Any] = self.options
        if BANK in given:
            given[BANK] = given[BANK] * np.asarray(problem.features_per_dim)
        return self.kind(self.members if members is None else members, **given)

    @property
    def members_range(self) -> tuple[float, float]:
        """The fewest and the most models that the scheme has."""
        return _members_range(self.scheme)

    @cached_property
    def sample_share(self) -> tuple[float, float]:
        """The share of the (different) samples that each model has: numerator and denominator."""
        above, below = (float(v) for v in self.ensemble(self.problem).sample_share)
        return above * DISTINCT if self.kind.with_replacement else above, below

    @property
    def is_resampled(self) -> bool:
        """Whether members draw from a common set, which is a cause of its own."""
        return self.kind.resamples is not None

    @property
    def is_trained(self) -> bool:
        """Whether training goes to its end."""
        return math.isinf(self.time)

    def thresholds(self, along: str) -> list[float]:
        """Where, along an axis, a model has as many features as (different) samples."""
        above, below = self.sample_share
        if along == "width":
            found = (1.0 if self.per == "N" else self.samples) * above / below
        elif along == "samples" and self.per == "D":
            found = self.width / above * below
        elif along == "members":
            found = self._threshold_members()
        else:
            return []
        return [found] if 0 < found < math.inf else []

    def _threshold_members(self) -> float:
        """K at which P = m; NaN for none.

        Numerator and denominator of m/N are taken to be linear in K.
        """
        if self.kind.any_size:
            return math.nan
        first = self.members_range[0]
        shares = [self.ensemble(self.problem, K).sample_share for K in (first, first + 1)]
        (a, c), (b, d) = (tuple(float(np.asarray(v)) for v in share) for share in shares)
        slope, below_slope = b - a, d - c
        features, samples = self.width, 1.0 if self.per == "N" else self.samples
        change = samples * slope - features * below_slope
        if not change or not math.isfinite(change):
            return math.nan
        return first + (features * c - samples * a) / change

    def changed(self, values: Mapping[str, Any]) -> Self:
        """With other values; a width counted anew stays the same number of features."""
        per = str(values.get("per", self.per))
        if per != self.per and "width" not in values:
            values = {**values, "width": fields.WIDTH[per].nearest(self.recounted(per))}
        return replace(self, **values)

    def recounted(self, per: str) -> float:
        """The width, counted per N or per D."""
        if per == self.per:
            return self.width
        return self.width / self.samples if per == "N" else self.width * self.samples


@dataclass(frozen=True, kw_only=True)
class PageView:
    """One setting, or two beside each other, and how they are looked at."""

    first: PageSetting = PageSetting()
    second: PageSetting | None = None
    along: str = fields.ALONG.default
    split: str = fields.SPLIT.default
    form: str = fields.FORM.default
    x: str = fields.X_SCALE.default
    y: str = fields.Y_SCALE.default
    points: float = fields.POINTS.default
    dim: float = fields.DIM.default
    draws: float = fields.DRAWS.default
    cost: str = fields.COST.default
    budget: float = fields.BUDGET.default

    def __post_init__(self) -> None:
        if self.second is not None and self.second.per != self.first.per:  # they share an axis
            same = self.second.changed({"per": self.first.per})
            object.__setattr__(self, "second", same)
        if self.along == "time" and not all(s.uses(fields.TIME) for s in self.settings):
            object.__setattr__(self, "along", fields.ALONG.default)
        if not self.has_effects:
            object.__setattr__(self, "split", fields.SPLIT.default)

    @property
    def has_effects(self) -> bool:
        """Whether there is a symmetric split: of what is trained to the end, and not resampled."""
        known = all(s.is_trained and not s.is_resampled for s in self.settings)
        return known and self.along != "time"

    @property
    def settings(self) -> tuple[PageSetting, ...]:
        """The one or two settings."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every field of the look."""
        return fields.LOOK

    def axis(self) -> NumberField:
        """The declaration of what is on the horizontal axis."""
        found = self.first.field(self.along)
        assert isinstance(found, NumberField)  # a choice has no axis
        return found

    def range(self) -> tuple[float, float]:
        """The ends of the horizontal axis: typical values, and where the sliders stand."""
        low, high = self.axis().spec.typical
        marks = [float(getattr(setting, self.along)) for setting in self.settings]
        seen = [mark for mark in marks if low / _BEYOND <= mark <= high * _BEYOND]
        peaks = [place for setting in self.settings for place in setting.thresholds(self.along)]
        if self.x == "linear" and peaks and self.along != "members":
            # or the peak would be a line at the left edge
            high = min(high, max(_PEAKS * max(peaks), _PEAKS * low))
        if self.x == "linear" and self.along == "time":
            high = _LINEAR_TIMES
        return min([low, *seen]), max([high, *seen])

    @property
    def close(self) -> int:
        """How many values there are near P = N, which is the middle one of them."""
        return max(int(self.points) // 3, 1) * 2 + 1

    def grid(self, setting: PageSetting) -> FloatArray:
        """The values along the axis: denser where P = N, which is among them."""
        low, high = self.range()
        count = int(self.points)
        even = np.geomspace(low, high, count) if self.x == "log" else np.linspace(low, high, count)
        if self.along == "members":
            return np.unique(np.clip(np.round(even), *setting.members_range))
        found = [even]
        for place in setting.thresholds(self.along):
            close = place * np.exp(np.linspace(-NEAR, NEAR, self.close))
            found.append(close[(close >= low) & (close <= high)])
        grid: FloatArray = np.unique(np.concatenate([np.asarray(part) for part in found]))
        return grid
