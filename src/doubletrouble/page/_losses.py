"""Errors along P/N with any convex loss, for the page.

The browser has the theory of ridge regression; that of other losses is evaluated here.
One curve at a time is computed, and the last ones are kept: a slider that is dragged requests many.
"""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np

from doubletrouble._display import Json, content_of, printed_json
from doubletrouble.convex import threshold_ratio
from doubletrouble.ensembles import Ensemble
from doubletrouble.errors import ConvergenceError
from doubletrouble.losses import MaxMargin, loss
from doubletrouble.page._declarations import OUTLIER_SD, SETTING, NumberControl
from doubletrouble.page._settings import PageSetting, view_value
from doubletrouble.parameters import FloatArray
from doubletrouble.problems import USUAL, Mixture, Problem, noise_at
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import exact_error, total_of

N_POINTS = 61
_CURVES = 64  # that are kept
_NEAR = np.array([0.8, 0.88, 0.94, 1.0, 1.06, 1.14, 1.25])  # P/N next to the threshold
_ABOVE = 1.01  # the first P/N of a maximum-margin curve, in units of the threshold
_NEVER = 1e9  # the threshold of classes that no number of features separates
_LOCK = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class LossRequest:
    """A problem with some loss, and the number of models."""

    features_per_sample: float  # P/N
    samples_per_dim: float
    n_members: float
    ridge: float
    activation: str
    task: str
    loss: str
    flips: float = 0.0
    noise: float = 0.0
    outliers: float = 0.0

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Self:
        """Validate a request of the browser; what a task does not have is left out."""
        setting = PageSetting.from_json(given.get("setting"))
        task, kind = view_value("task", given), view_value("loss", given)
        classes = task == "classification"
        of_task = (
            {"flips": view_value("flips", given)}
            if classes
            else {"noise": noise_at(setting.snr), "outliers": view_value("outliers", given)}
        )
        request = cls(
            features_per_sample=setting.features("features_per_sample"),
            samples_per_dim=setting.samples_per_dim,
            n_members=setting.n_members,
            ridge=setting.ridge,
            activation=setting.activation,
            task=task,
            loss=kind,
            **of_task,
        )
        request.problem()
        return request

    def problem(self, features_per_sample: Any = None) -> Problem:
        """The problem, at another P/N."""
        ratio = self.features_per_sample if features_per_sample is None else features_per_sample
        noise: Any = self.noise
        if self.outliers:
            shares = ((1 - self.outliers, 1.0), (self.outliers, OUTLIER_SD))
            noise = Mixture(tuple((share, sd * self.noise) for share, sd in shares))
        return Problem(
            features_per_dim=np.multiply(ratio, self.samples_per_dim),
            samples_per_dim=self.samples_per_dim,
            ridge=self.ridge,
            activation=self.activation,
            noise=noise,
            flips=self.flips,
            task=self.task,  # type: ignore[arg-type]
            loss=self.loss,
        )

    def python(self) -> str:
        """The Python line of this error."""
        problem = self.problem()
        fields = {
            "features_per_dim": problem.features_per_dim,
            "samples_per_dim": self.samples_per_dim,
            "ridge": self.ridge,
            "noise": self.noise,
            "activation": self.activation,
            "task": self.task,
            "loss": self.loss,
            "flips": self.flips,
        }
        usual = USUAL | {"noise": Problem(task=self.task).noise, "loss": str(USUAL["loss"])}  # type: ignore[arg-type]
        written = {n: _code(v) for n, v in fields.items() if v != usual[n]}
        if isinstance(problem.noise, Mixture):
            written["noise"] = f"dt.Mixture({list(problem.noise.components)!r})"
        arguments = ", ".join(f"{name}={value}" for name, value in written.items())
        return f"dt.exact_error(dt.Problem({arguments}), {_code(self.n_members)})"

    def threshold(self) -> float:
        """The least P/N at which a fit without ridge fits every label."""
        if not loss(self.loss).margin:
            return 1.0
        return min(float(threshold_ratio(self.problem(1.0))), _NEVER)


def _code(value: Any) -> str:
    """A value as Python code."""
    if isinstance(value, str):
        return repr(value)
    number = float(value)
    if math.isinf(number):
        return "math.inf"
    return repr(int(number) if number.is_integer() and abs(number) < 1e15 else number)


def loss_curve(request: LossRequest) -> Json:
    """The error by cause along P/N, and at one P/N."""
    try:
        with _LOCK:
            curves = _along(replace(request, features_per_sample=1.0))
            return {**curves, "here": _here(request), "python": request.python()}
    except ConvergenceError as error:  # its message is for programmers
        shown = f"{request.ridge:g}"
        raise ValueError(f"ridge must be one at which the theory converges, got {shown}") from error


@lru_cache(_CURVES)
def _along(request: LossRequest) -> Json:
    """The curves, which do not depend on the P/N of the request."""
    threshold = request.threshold()
    control = SETTING["features_per_sample"]
    assert isinstance(control, NumberControl)
    low, high = control.spec.typical
    first = _ABOVE * threshold if isinstance(loss(request.loss), MaxMargin) else low
    x = np.unique([*np.geomspace(low, high, N_POINTS), *threshold * _NEAR, first])
    x = x[(x >= first) & (x <= high)]
    if not x.size:
        raise ValueError(
            "samples_per_dim must be less for loss max_margin, got "
            f"{request.samples_per_dim:g}: the classes are not separable at any number of features"
        )
    if loss(request.loss).margin and not request.ridge:  # the weights have no limit there
        x = x[x != threshold]
    problem = request.problem(x)
    error = exact_error(problem, request.n_members)
    one, many = (total_of(problem, Ensemble(K)) for K in (1, math.inf))
    return {
        "x": x.tolist(),
        "parts": {name: _list(part, x) for name, part in error.parts.items()},
        "total": _list(error.total, x),
        "one_model": _list(one, x),
        "infinite_models": _list(many, x),
        "threshold": threshold,
    }


@lru_cache(_CURVES)
def _here(request: LossRequest) -> Json:
    separable = request.features_per_sample > request.threshold()
    if isinstance(loss(request.loss), MaxMargin) and not separable:
        return {"message": "the classes are not separable with these features: there is no margin"}
    error: ErrorTerms[Any] = exact_error(request.problem(), request.n_members)
    return {"total": error.total, "printed": printed_json(content_of(error))}


def _list(values: Any, x: FloatArray) -> list[float]:
    numbers: list[float] = np.broadcast_to(values, x.shape).tolist()
    return numbers
