"""Settings that the browser sends: validated, and turned into problems and ensembles."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from doubletrouble.ensembles import SCHEMES, Scheme
from doubletrouble.page._declarations import (
    FEATURES,
    LOSS,
    SETTING,
    VIEW,
    ChoiceControl,
    Control,
    NumberControl,
)
from doubletrouble.parameters import Parameter, check_choice, number
from doubletrouble.problems import Problem, noise_at
from doubletrouble.theory import DISTINCT


@dataclass(frozen=True, kw_only=True)
class PageSetting:
    """The learning problem and the ensemble of one curve, with F = 1."""

    features_per_sample: float | None  # one of the two is None
    features_per_dim: float | None
    n_members: float
    ridge: float
    snr: float
    samples_per_dim: float
    scheme: str
    fraction: float
    bank_per_feature: float
    activation: str
    nonlinear_signal: float
    time: float

    @classmethod
    def from_json(cls, given: object) -> Self:
        """Validate what the browser sends; controls that are left out have their defaults."""
        values = _object("setting", given, {f.name for f in fields(cls)})
        if FEATURES.keys() <= values.keys():
            got = values["features_per_dim"]
            raise ValueError(
                f"features_per_dim must be left out with features_per_sample, got {got!r:.60}"
            )
        none = "features_per_sample" if "features_per_dim" in values else "features_per_dim"
        return cls(
            **{
                name: _value(name, values.get(name, control.default), control)
                for name, control in SETTING.items()
                if name != none
            }
            | {none: None}
        )

    def problem(self, along: str = "", value: float = math.nan) -> Problem:
        """The problem, with other features, samples or ridge."""
        if along in (*FEATURES, "samples_per_dim", "ridge"):
            changes: dict[str, Any] = dict.fromkeys(FEATURES) if along in FEATURES else {}
            return replace(self, **changes | {along: value}).problem()
        return Problem(
            features_per_dim=self.features("features_per_dim"),
            samples_per_dim=self.samples_per_dim,
            ridge=self.ridge,
            noise=noise_at(self.snr),
            nonlinear_signal=self.nonlinear_signal,
            activation=self.activation,
        )

    def ensemble(self, problem: Problem, along: str = "", value: float = math.nan) -> Scheme:
        """The ensemble for a problem, with another number of models."""
        kind: type[Scheme] = SCHEMES[self.scheme]
        options: dict[str, Any] = {}
        if self._uses("fraction"):
            options["fraction"] = self.fraction
        if self._uses("bank_per_feature"):
            features = float(np.asarray(problem.features_per_dim))
            options["bank_per_dim"] = self.bank_per_feature * features
        return kind(value if along == "n_members" else self.n_members, **options)

    def threshold(self, along: str) -> float | None:
        """P, or N, at which a model has as many features as distinct samples.

        None along other axes.
        """
        held = along == "samples_per_dim" and self.features_per_dim is not None
        if along not in FEATURES and not held:
            return None
        scheme = self.ensemble(self.problem())
        numerator, denominator = (float(np.asarray(v)) for v in scheme.sample_share)
        share = numerator / denominator * (DISTINCT if scheme.with_replacement else 1.0)
        if along in FEATURES:
            return share * (1.0 if along == "features_per_sample" else self.samples_per_dim)
        return self.features("features_per_dim") / share if share else None

    def features(self, name: str) -> float:
        """P as one of the ratios of `FEATURES`, whichever of them is given."""
        ratios = {one: getattr(self, one) for one in FEATURES}
        given, ratio = next((one, ratio) for one, ratio in ratios.items() if ratio is not None)
        if given == name:
            return float(ratio)
        N = self.samples_per_dim
        return float(ratio * N if name == "features_per_dim" else ratio / N)

    @property
    def is_trained(self) -> bool:
        """Whether training is at its end."""
        return math.isinf(self.time) or not self._uses("time")

    def _uses(self, name: str) -> bool:
        control = SETTING[name]
        assert isinstance(control, NumberControl)
        return not control.schemes or self.scheme in control.schemes


def view_value(name: str, given: Mapping[str, Any]) -> Any:
    """The validated value of a control of the view, or its default."""
    control = (VIEW | LOSS)[name]
    return _value(name, given.get(name, control.default), control)


def json_number(name: str, value: Any, spec: Parameter) -> float:
    """A number of the browser, where an infinite one is text, in its domain."""
    value = math.inf if value == "inf" else value
    if type(value) not in (int, float):
        raise ValueError(f"{name} must be a number, got {value!r:.60}")
    return number(name, value, spec)


def _value(name: str, value: Any, control: Control) -> Any:
    if isinstance(control, ChoiceControl):
        check_choice(name, value, control.choices)
        return value
    return json_number(name, value, control.spec)


def _object(name: str, given: object, names: set[str]) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{name} must be an object, got {type(given).__name__}")
    unknown = given.keys() - names
    if unknown:
        raise ValueError(f"{name} must have names of controls only, got {min(unknown)!r}")
    return given
