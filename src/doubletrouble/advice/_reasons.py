"""The reasons of an advice as text."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from doubletrouble.advice._equality import WORTH, helps, less
from doubletrouble.advice._option import AdviceOption, changed
from doubletrouble.advice._table import ratio
from doubletrouble.advice._units import Units
from doubletrouble.advice._words import (
    MEANINGS,
    divergence,
    largest,
    models,
    noise_ratios,
    noun,
    said,
    seen_below,
    share,
    times,
)
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import AnyProblem, exact_error

if TYPE_CHECKING:
    from doubletrouble.advice._result import Advice

_VERBS = {
    "regularize": "Regularize", "widen": "Widen", "ensemble": "Ensemble", "divide": "Divide",
    "collect": "Collect",
}  # fmt: skip
_ROUNDING = 1e9  # one value that is as many times another: the other is nothing, after rounding
_NEXT_TO_ZERO = 1e-3  # of the target's power: what has learned less might as well predict zero
_NO_RIDGE = 0.01  # a ridge that changes the error by a hundredth is as good as none


def reasons(advice: "Advice") -> tuple[str, ...]:
    """Every reason, the advice itself first."""
    units = Units.of(advice.now.problem, advice.dim)
    found = (
        _choice(advice), _present(advice.now), _equal_cost(advice), _a_little(advice),
        _best(advice, units), _at_this_ridge(advice, units), _many(advice, units),
        _marginal(advice, units),
    )  # fmt: skip
    return tuple(text for text in found if text)


def _choice(advice: "Advice") -> str:
    now, choice = advice.now, advice.choice
    if choice is now:
        if now.total == 0:
            return "Leave it: the error is 0."
        short = " short of K → ∞" if helps(advice["many"].total, now.total) else ""
        return (
            f"Leave it: no single change{short} takes as much as {100 * WORTH:g} % of the error of "
            f"{said(now.total, 4)} away."
        )
    short = " short of K → ∞" if seen_below(advice["many"].total, choice.total) else ""
    ridge = f" = {said(choice.ridge)}" if choice.name == "regularize" else ""
    return (
        f"{_VERBS[choice.name]}: of the single changes{short}, {choice.label}{ridge} helps most "
        f"and takes the error from {said(now.total)} to {said(choice.total)}{_price(choice, now)}."
    )


def _price(option: AdviceOption, now: AdviceOption) -> str:
    """What a change costs: features, data and training, as far as they change."""
    costs = {
        "features": ratio(option.features, now.features),
        "data": ratio(option.samples, now.samples),
        "training": ratio(option.training, now.training),
    }
    paid = [f"{times(value)} the {name}" for name, value in costs.items() if value != 1]
    return f", for {' and '.join(paid)}" if paid else ", which costs nothing"


def _present(now: AdviceOption) -> str:
    if math.isinf(now.total):
        why = divergence(now.problem, now.ensemble)
        return f"Now the error is infinite: {why}."
    if now.total == 0:
        return "Now the error is 0."
    name = largest(now.error)
    part = share(float(getattr(now.error, name)), now.total)
    return f"Now {part} of the error of {said(now.total)} is {name}: {MEANINGS[name]}."


def _equal_cost(advice: "Advice") -> str:
    if math.isinf(advice.now.features):
        return ""
    options = [advice[name] for name in ("widen", "ensemble", "divide")]
    options = [one for one in options if one.features == 2 * advice.now.features]
    least, *others = sorted(options, key=lambda option: option.total)
    if not seen_below(least.total, min(others[0].total, advice.now.total)):
        return ""
    training = [said(ratio(one.training, advice.now.training)) for one in (least, *others)]
    price = [f" (training ×{value})" if len(set(training)) > 1 else "" for value in training]
    rest = " and ".join(
        f"{one.label} {said(one.total)}{paid}" for one, paid in zip(others, price[1:], strict=True)
    )
    why = {
        "widen": "wider models are better than twice as many",
        "ensemble": "averaging removes what depends on the features, and each model keeps all data",
        "divide": _divided(advice["ensemble"].error, advice["divide"].error),
    }[least.name]  # fmt: skip
    best = f"{least.label} gives {said(least.total)}{price[0]}"
    return f"For twice the features, {best}, {rest}: {why}."


def _divided(whole: ErrorTerms[Any], parts: ErrorTerms[Any]) -> str:
    """What falls most, and what rises most, when each model sees a part of the data."""
    before, after = (
        {name: float(getattr(error, name)) for name in MEANINGS} for error in (whole, parts)
    )
    gain = {n: 0.0 if before[n] == after[n] else before[n] - after[n] for n in MEANINGS}
    least, most = min(gain, key=gain.__getitem__), max(gain, key=gain.__getitem__)
    found = (
        f"with parts of the data in place of all of it, {most} falls from {said(before[most])} to "
        f"{said(after[most])}"
    )
    if not seen_below(before[least], after[least]):
        return found
    return f"{found}, while {least} rises from {said(before[least])} to {said(after[least])}"


def _a_little(advice: "Advice") -> str:
    """Only next to the peak."""
    now, little, more = advice.now, advice["widen_a_little"], advice["ensemble"]
    shared = now.scheme == "ensemble" or now.n_members == 1
    if not (shared and 1 < now.width / now.samples < 2 and seen_below(more.total, little.total)):
        return ""
    units = Units.of(now.problem, advice.dim)
    far = 2 * now.width - now.samples
    as_far = exact_error(changed(now.problem, width=far), now.n_members)
    worth = ""
    if abs(float(as_far.total) - more.total) <= _NO_RIDGE * more.total:  # exact without ridge
        worth = f": it is worth as much as twice the distance P - N, {units.width(far)}"
    return (
        f"So close beyond the peak at P = N, {more.label} ({said(more.total)}) also beats a little "
        f"more width, {little.label} ({said(little.total)}){worth}."
    )


def _best(advice: "Advice", units: Units) -> str:
    best, under = advice.best, units.under(advice.budget, advice.cost)
    if math.isinf(best.ridge):
        return f"At the best λ, ∞, all models predict zero, with an error of {said(best.total)}."
    why = ""
    if best.n_members == 1 and math.isfinite(best.width):
        why = ": at its best ridge one wide model beats several narrow ones"
    elif best.n_members > 1 and advice.cost == "training":
        cheap = "parts of the data" if best.scheme == "divide" else "narrow models"
        why = f": {cheap} are cheaper to fit, so that more models can be averaged"
    verb = "is" if best.n_members == 1 else "are"
    return (
        f"{under}, {_what(best, units)} with λ = {said(best.ridge)} {verb} best, with an error of "
        f"{said(best.total)}{why}."
    )


def _at_this_ridge(advice: "Advice", units: Units) -> str:
    best, now = advice.best_at_this_ridge, advice.now
    if not less(best.total, now.total):
        return "With λ as it is, no other allocation is better than the present one."
    zero = exact_error(changed(best.problem, ridge=math.inf))
    nothing, target = float(zero.total), float(zero.total) - float(zero.bayes)
    found = _what(best, units)
    if best.total < nothing - _NEXT_TO_ZERO * target:
        return f"With λ as it is, {found} would be best, with an error of {said(best.total)}."
    if said(best.total, 4) == said(nothing, 4) or best.total > nothing:
        better = "nothing is better" if best.total >= nothing else "nothing is seen to be better"
        return f"With λ as it is, {better} than to predict zero, with an error of {said(nothing)}."
    return (
        f"With λ as it is, little is better than to predict zero, with an error of {said(nothing)}:"
        f" {found} would be best, with {said(best.total, 4)}."
    )


def _many(advice: "Advice", units: Units) -> str:
    many, narrow = advice.many_at_best_width, advice.prefers_narrow
    if (many.ideal or many).width < 1e-6 * many.samples:
        return "Infinitely many models at this λ would do best to predict zero."
    if math.isinf(many.width):
        what = "with as many features as can be"
    elif narrow:
        what = f"with fewer features than samples, {units.width(many.width)}"
    else:
        what = f"with as many features as samples, or more, {units.width(many.width)}"
    found = f"Infinitely many models at this λ are best {what}"
    ratios = noise_ratios(many.problem)
    why = ""
    decided = ratios and narrow == (ratios[0] > ratios[1])  # which decides when there is no ridge
    if ratios and decided and _hardly_penalized(many):
        why = f": {_noisy(many.problem, narrow=narrow)} μ⋆²/μ₁² = {said(ratios[1])}"
    return f"{found} ({said(many.total)}){why}."


def _noisy(problem: AnyProblem, *, narrow: bool) -> str:
    """What acts as noise, and how strong it is; a nonlinear part of the teacher does."""
    ratios = noise_ratios(problem)
    assert ratios is not None
    tau, nonlinear = (bool(np.any(v)) for v in (problem.noise, problem.nonlinear_signal))
    if not nonlinear:
        symbol = "τ²/F²"
        what = "labels are so noisy that narrowness helps" if narrow else "labels are clean enough"
    else:
        symbol = "(τ² + F⋆²)/F²" if tau else "F⋆²/F²"
        label = "label noise and the" if tau else "the"
        are = "too, are" if tau else "is"
        strong = "so strong that narrowness helps" if narrow else "weak enough"
        what = f"{label} nonlinear part of the teacher, which acts as noise, {are} {strong}"
    return f"{what}, {symbol} = {said(ratios[0])} {'>' if narrow else '≤'}"


def _hardly_penalized(option: AdviceOption) -> bool:
    """Whether the error would be about the same without ridge."""
    bare = exact_error(changed(option.problem, ridge=0.0), option.ensemble)
    return abs(float(bare.total) - option.total) <= _NO_RIDGE * option.total


def _marginal(advice: "Advice", units: Units) -> str:
    if advice.now.total == 0:
        return ""
    worth = advice.marginal.features_per_sample
    sample, feature = (
        advice.marginal.sample_at_best_ridge, advice.marginal.feature_at_best_ridge,
    )  # fmt: skip
    if sample <= 0 and feature <= 0:
        return "At the best λ neither a sample nor a feature is worth anything."
    more = "" if advice.now.n_members == 1 else " of every model"
    if worth > _ROUNDING:
        return "At the best λ one more sample helps, and one more feature is worth nothing."
    if worth < 1 / _ROUNDING:
        return "At the best λ one more feature helps, and one more sample is worth nothing."
    found = (
        f"At the best λ one more sample is worth {said(worth)} {noun(said(worth), 'feature')}"
        f"{more}: the error "
        f"falls by {said(sample / units.scale)} per unit of {units.samples} and by "
        f"{said(feature / units.scale)} per unit of {units.features}"
    )
    harm = [name for name in ("sample", "feature") if getattr(advice.marginal, name) < 0]
    if harm:
        here = " or one more ".join(harm)
        return f"{found}; with λ as it is, one more {here} would even raise the error."
    return f"{found}."


def _what(option: AdviceOption, units: Units) -> str:
    """Models of some width, and which data each one has."""
    found = f"{models(option.n_members)} of {units.width(option.width)}"
    if option.n_members == 1:
        return found
    whole = "its own part of the data" if option.scheme == "divide" else "all data"
    return f"{found}, each on {whole},"
