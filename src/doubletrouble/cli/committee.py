"""Members of different width, ridge, activation or data, that vote with weights."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from doubletrouble.cli.flags import FORMS, RATIOS, flag, number, takes
from doubletrouble.cli.question import has_snr
from doubletrouble.cli.report import Report, heading, parts, words
from doubletrouble.ensembles import SHARINGS
from doubletrouble.glossary import SNR
from doubletrouble.parameters import declarations
from doubletrouble.parameters import number as single
from doubletrouble.problems import USUAL, Member, noise_at
from doubletrouble.ranges import numbers
from doubletrouble.results import Committee
from doubletrouble.theory import committee as averaged

_WEIGHTS = ("equal", "optimal")
_SPECS = declarations(Member)
_KNOWN = {f.name: f.name for f in fields(Member)} | {
    **{spec.symbol: name for name, spec in _SPECS.items()}, "σ": "activation",
}  # fmt: skip
_OVERLAPS = {"features": "features", "samples": "samples"}
_POWERS = ("signal", "noise", "nonlinear_signal")


@takes(
    flag("member", list[str], "One member, as NAME=VALUE words: P/D, N/D, ridge (or λ) and "
         "activation (or σ); what is left out is that of the default problem. Once for each "
         "member.", metavar="WORDS", required=True),
    flag("sharing", str, "What members have in common: 'samples' (one data set; features are "
         "their own), 'features', 'both' or 'nothing'; or how much every two share, per "
         "dimension, as features=0.3,samples=0.8", SHARINGS[0], choices=SHARINGS, metavar="NAME"),
    flag("weights", str, "'equal', 'optimal' (the best, which may be negative), or one for each "
         "member, as 0.3,0.7, that add up to 1", _WEIGHTS[0], choices=_WEIGHTS, metavar="NAME"),
    *(number(name, several=False) for name in (*_POWERS, "snr")), *FORMS,
)  # fmt: skip
def committee(**given: Any) -> None:
    """Print the exact test error of different members averaged with weights, split by cause.

    A member is written as "P/D=2 N/D=1 ridge=1e-3 activation=relu". A row for each member has its
    weight w, and E (f⋆ - f_a)(f⋆ - f_b), the average product of its error and that of every member:
    its own squared error is on the diagonal.
    """
    members = [_member(text) for text in given["member"]]
    powers = {name: _one(name, given[name]) for name in _POWERS if given[name] is not None}
    ratio = {}
    if has_snr(given):
        ratio["snr"] = single("snr", _one("snr", given["snr"]), SNR)
        powers["noise"] = noise_at(ratio["snr"], powers.get("signal", USUAL["signal"]))
    found = averaged(
        members, sharing=_sharing(given["sharing"]), weights=_weights(given["weights"]), **powers
    )
    usual = {name: USUAL[name] for name in _POWERS}
    asked = {name: given[name] for name in ("sharing", "weights")}
    columns = _columns(members, found)
    report = Report(
        title="Test error of a committee", parameters={**usual, **powers, **ratio, **asked},
        columns=columns | {n: [v] * len(members) for n, v in parts(found.error).items()},
        summary=str(found.error),
        cells={_head(name): words(values) for name, values in columns.items()},
    )  # fmt: skip
    report.show(json=given["json"], csv=given["csv"])


def _columns(members: Sequence[Member], found: Committee) -> dict[str, list[Any]]:
    """A row for each member: what it is, its weight, and its error with every other."""
    columns: dict[str, list[Any]] = {"member": [*range(1, len(members) + 1)]}
    columns |= {f.name: [getattr(one, f.name) for one in members] for f in fields(Member)}
    columns["weight"] = found.weights.tolist()
    return columns | {
        f"pair_error_{k}": row for k, row in enumerate(found.pair_errors.tolist(), start=1)
    }


def _head(name: str) -> str:
    if name.startswith("pair_error_"):
        return f"with {name.removeprefix('pair_error_')}"
    return heading(name) if name in (*RATIOS, "ridge", "activation") else name


def _member(text: str) -> Member:
    """Read a member.

    >>> _member("P/D=0.5 λ=0.1 σ=tanh").activation
    'tanh'
    >>> _member("P/D=0.5 features-per-dim=1")
    Traceback (most recent call last):
    ValueError: member must have every NAME once, got 'features-per-dim=1' as well
    """
    found: dict[str, Any] = _words("member", text, _KNOWN)
    sizes = {name: _one(name, found[name]) for name in _SPECS if name in found}
    return Member(**found | sizes)


def _sharing(text: str) -> str | Mapping[str, float]:
    if "=" not in text:
        return text.strip()
    amounts = _words("sharing", text, _OVERLAPS)
    return {name: _one(f"shared {name}", value) for name, value in amounts.items()}


def _words(what: str, text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Values by the names that `known` gives to names."""
    found: dict[str, str] = {}
    for piece in text.replace(",", " ").split():
        name, _, value = piece.partition("=")
        proper = known.get(name.replace("-", "_"))
        if proper is None or not value:
            names = ", ".join(sorted(known, key=len))
            raise ValueError(f"{what} must be NAME=VALUE words, NAME one of {names}, got {piece!r}")
        if proper in found:
            raise ValueError(f"{what} must have every NAME once, got {piece!r} as well")
        found[proper] = value
    return found


def _weights(text: str) -> str | list[float]:
    wanted = text.strip()
    return wanted if wanted.isalpha() else list(numbers("weights", wanted))


def _one(name: str, text: str) -> float:
    """One number."""
    values = numbers(name, text)
    if len(values) > 1:
        raise ValueError(f"{name} must be one number here, got {text!r}")
    return values[0]
