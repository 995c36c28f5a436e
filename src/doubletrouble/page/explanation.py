"""What a setting means, in words: by the advisor's rules, or by our own where it has none.

The advisor knows ensembles and divided data, trained to the end. Of members that draw from a common
set, and of models that stop early, less is said: what dominates, and what the alternative has.
"""

import math

from doubletrouble.advice.meaning import meaning
from doubletrouble.advice.words import MEANINGS, said, share
from doubletrouble.page.curves import CAUSES, RESAMPLED_CAUSES
from doubletrouble.page.setting import Setting, View
from doubletrouble.page.stops import Stops
from doubletrouble.results import ErrorTerms, StoppingTime
from doubletrouble.theory.error import exact_error
from doubletrouble.theory.flow import gradient_flow

UNADVISED = (
    "The advisor answers for ensembles and divided data, trained to the end: choose one of these "
    "schemes, and t = ∞."
)
_CHOICE = {
    "subbag": "the luck of which samples each model draws",
    "bootstrap": "the luck of which samples each model draws, and how often",
    "feature_bank": "the luck of which features of the bank each model draws",
}


def is_advised(setting: Setting) -> bool:
    """Whether the advisor knows a setting."""
    return setting.is_trained and not setting.is_resampled


def explanation(view: View, stops: Stops) -> str:
    """What dominates, and what would make it less; always by cause."""
    setting = view.first
    if setting.is_resampled:
        return _resampled(setting)
    if view.along == "time" or not setting.is_trained:
        return _in_time(setting, stops.best(setting))
    words = meaning(setting.problem, setting.members, setting.scheme)
    return f"By cause: {words}" if view.split == "effects" else words


def _resampled(setting: Setting) -> str:
    problem, members = setting.problem, setting.members
    now = exact_error(problem, members, setting.scheme, **setting.drawing(problem))
    own = "with features of its own" if setting.scheme == "feature_bank" else "on all samples"
    other = float(exact_error(problem, members).total)
    models = "the model" if members == 1 else "each model"
    return f"{_opening(setting, now)} With {models} {own}, it would be {said(other)}."


def _in_time(setting: Setting, best: StoppingTime | None) -> str:
    now = gradient_flow(setting.problem, setting.time, setting.members)
    when = "At the end of training" if setting.is_trained else f"At t = {said(setting.time)}"
    end = float(exact_error(setting.problem, setting.members).total)
    later = "" if setting.is_trained else f" Trained to the end, it would be {said(end)}."
    opening = _opening(setting, now)
    so_far = f"{when}, {opening[0].lower()}{opening[1:]}{later}"
    if best is None:
        return f"{so_far} Infinitely many features are trained at once: time makes no difference."
    time, least = float(best.time), float(best.error.total)
    if math.isinf(time):
        stop = "To train to the end is best"
    elif time == 0:
        stop = f"Not to train at all is best, with {said(least)}"
    else:
        stop = f"The best time to stop is t = {said(time)}, with {said(least)}"
    ridge = f"the best ridge, trained to the end, has {said(float(best.ridge.error.total))}"
    return f"{so_far} {stop}; {ridge}."


def _opening(setting: Setting, now: ErrorTerms) -> str:
    total = float(now.total)
    if math.isinf(total):
        return "The error is infinite."
    if total == 0:
        return "The error is 0."
    names = RESAMPLED_CAUSES if setting.is_resampled else CAUSES
    parts = {name: float(getattr(now, name)) for name in names}
    name = max(parts, key=lambda one: parts[one])
    means = (MEANINGS | {"resampling": _CHOICE.get(setting.scheme, "")})[name]
    return f"{share(parts[name], total)} of the error of {said(total)} is {name}: {means}."
