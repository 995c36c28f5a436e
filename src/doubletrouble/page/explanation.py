"""The largest part of the error of a setting in a sentence, and the error of the alternative."""

import math
from typing import Any

from doubletrouble.advice import rounded
from doubletrouble.ensembles import SUPPORT
from doubletrouble.page.curves import CAUSES, RESAMPLED_CAUSES
from doubletrouble.page.setting import PageSetting, PageView
from doubletrouble.page.stops import Stops
from doubletrouble.results import ErrorTerms, StoppingTime
from doubletrouble.theory import exact_error, gradient_flow

MEANINGS = {
    "noise": "fitted label noise",
    "initialization": "variance over random features",
    "sampling": "variance over training inputs",
    "bias": "error of the mean prediction",
    "resampling": "variance over the samples or features that each model draws",
}
UNADVISED = (
    "The advisor answers for ensembles and divided data, trained to the end: choose one of these "
    "schemes, and t = ∞."
)


def is_advised(setting: PageSetting) -> bool:
    """Whether `advise` takes a setting."""
    return setting.is_trained and SUPPORT["advise"](setting.kind)


def explanation(view: PageView, stops: Stops) -> str:
    """The largest part of the error, by cause."""
    setting = view.first
    if view.along == "time" or not setting.is_trained:
        return _in_time(setting, stops.best(setting))
    if not is_advised(setting):
        return _unadvised(setting)
    now = exact_error(setting.problem, setting.ensemble(setting.problem))
    words = _opening(setting, now)
    return f"By cause: {words}" if view.split == "effects" else words


def _unadvised(setting: PageSetting) -> str:
    problem, members = setting.problem, setting.members
    now = exact_error(problem, setting.ensemble(problem))
    own = "with features of its own" if setting.kind.shares_features else "on all samples"
    other = float(exact_error(problem, members).total)
    models = "the model" if members == 1 else "each model"
    return f"{_opening(setting, now)} With {models} {own}, it would be {rounded(other)}."


def _in_time(setting: PageSetting, best: StoppingTime | None) -> str:
    problem = setting.problem
    ensemble = setting.ensemble(problem)
    now = gradient_flow(problem, setting.time, ensemble)
    when = "At the end of training" if setting.is_trained else f"At t = {rounded(setting.time)}"
    end = float(exact_error(problem, ensemble).total)
    later = "" if setting.is_trained else f" Trained to the end, it would be {rounded(end)}."
    opening = _opening(setting, now)
    so_far = f"{when}, {opening[0].lower()}{opening[1:]}{later}"
    if best is None:
        return f"{so_far} Infinitely many features are trained at once: time makes no difference."
    time, least = float(best.time), float(best.error.total)
    if math.isinf(time):
        stop = "To train to the end is best"
    elif time == 0:
        stop = f"Not to train at all is best, with {rounded(least)}"
    else:
        stop = f"The best time to stop is t = {rounded(time)}, with {rounded(least)}"
    ridge = (
        f"the best ridge, trained to the end, has {rounded(float(best.optimal_ridge.error.total))}"
    )
    return f"{so_far} {stop}; {ridge}."


def _opening(setting: PageSetting, now: ErrorTerms[Any]) -> str:
    total = float(now.total)
    if math.isinf(total):
        return "The error is infinite."
    if total == 0:
        return "The error is 0."
    names = RESAMPLED_CAUSES if setting.is_resampled else CAUSES
    parts = {name: float(getattr(now, name)) for name in names}
    name = max(parts, key=lambda one: parts[one])
    share = f"{100 * parts[name] / total:.0f} %"
    return f"{share} of the error of {rounded(total)} is {name}: {MEANINGS[name]}."
