"""Why: the numbers of an advice as sentences."""

import math
from typing import TYPE_CHECKING

from doubletrouble.advice.equality import less
from doubletrouble.advice.option import Option, changed
from doubletrouble.advice.units import Units
from doubletrouble.advice.words import (
    MEANINGS,
    counted,
    divergence,
    largest,
    models,
    noise_ratios,
    said,
    seen_below,
    share,
)
from doubletrouble.results import ErrorTerms
from doubletrouble.theory.error import exact_error

if TYPE_CHECKING:
    from doubletrouble.advice.result import Advice

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
    return tuple(sentence for sentence in found if sentence)


def _choice(advice: "Advice") -> str:
    now, choice = advice.now, advice.choice
    short = " short of K → ∞" if seen_below(advice["many"].total, choice.total) else ""
    if choice is now:
        return f"Leave it: no single change{short} takes the error below {said(now.total)}."
    twice = ", for twice the features" if math.isfinite(now.features) else ""
    price = {
        "regularize": ", which costs nothing", "collect": ", for twice the data",
    }.get(choice.name, twice)  # fmt: skip
    ridge = f" = {said(choice.ridge)}" if choice.name == "regularize" else ""
    return (
        f"{_VERBS[choice.name]}: of the single changes{short}, {choice.label}{ridge} helps most "
        f"and takes the error from {said(now.total)} to {said(choice.total)}{price}."
    )


def _present(now: Option) -> str:
    if math.isinf(now.total):
        why = divergence(now.problem, now.n_members, now.scheme)
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
    least, *others = sorted(options, key=lambda option: option.total)
    if not seen_below(least.total, min(others[0].total, advice.now.total)):
        return ""
    rest = " and ".join(f"{one.label} {said(one.total)}" for one in others)
    why = {
        "widen": "wider models are better than twice as many",
        "ensemble": "averaging removes what depends on the features, and each model keeps all data",
        "divide": _divided(advice["ensemble"].error, advice["divide"].error),
    }[least.name]  # fmt: skip
    return f"For twice the features, {least.label} gives {said(least.total)}, {rest}: {why}."


def _divided(whole: ErrorTerms, parts: ErrorTerms) -> str:
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
    """Said where it matters: next to the peak."""
    now, little, more = advice.now, advice["widen_a_little"], advice["ensemble"]
    if not (1 <= now.width / now.samples < 2 and seen_below(more.total, little.total)):
        return ""
    return (
        f"So close beyond the peak at P = N, {more.label} ({said(more.total)}) also beats a little "
        f"more width, {little.label} ({said(little.total)})."
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
    return (
        f"{under}, {_what(best, units)} with λ = {said(best.ridge)}{_how(best)} {_verb(best)} best"
        f", with an error of {said(best.total)}{why}."
    )


def _at_this_ridge(advice: "Advice", units: Units) -> str:
    best, now = advice.best_at_this_ridge, advice.now
    if not less(best.total, now.total):
        return "With λ as it is, no other allocation is better than the present one."
    zero = exact_error(changed(best.problem, ridge=math.inf))
    target = float(zero.total) - float(zero.bayes)
    if best.total >= float(zero.total) - _NEXT_TO_ZERO * target:
        return (
            f"With λ as it is nothing is better than to predict zero, with an error of "
            f"{said(float(zero.total))}."
        )
    return (
        f"With λ as it is, {_what(best, units)}{_how(best)} would be best, with an error of "
        f"{said(best.total)}."
    )


def _many(advice: "Advice", units: Units) -> str:
    many, narrow = advice.many_at_best_width, advice.prefers_narrow
    if many.width < 1e-6 * many.samples:
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
        noisy = "labels are so noisy that narrowness helps" if narrow else "labels are clean enough"
        sign = ">" if narrow else "≤"
        why = f": {noisy}, σ²/F² = {said(ratios[0])} {sign} μ⋆²/μ₁² = {said(ratios[1])}"
    return f"{found} ({said(many.total)}){why}."


def _hardly_penalized(option: Option) -> bool:
    """Whether the error would be about the same without ridge."""
    bare = exact_error(changed(option.problem, ridge=0.0), option.n_members, option.scheme)
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
        f"At the best λ one more sample is worth {counted(worth, 'feature')}{more}: the error "
        f"falls by {said(sample / units.scale)} per unit of {units.samples} and by "
        f"{said(feature / units.scale)} per unit of {units.features}"
    )
    harm = [name for name in ("sample", "feature") if getattr(advice.marginal, name) < 0]
    if harm:
        here = " or one more ".join(harm)
        return f"{found}; with λ as it is, one more {here} would even raise the error."
    return f"{found}."


def _what(option: Option, units: Units) -> str:
    each = "" if option.n_members == 1 else " each"
    return f"{models(option.n_members)} of {units.width(option.width)}{each}"


def _verb(option: Option) -> str:
    return "is" if option.n_members == 1 else "are"


def _how(option: Option) -> str:
    return ", each on its own part of the data" if option.scheme == "divide" and (
        option.n_members > 1) else ""  # fmt: skip
