"""The test error in the limit of large P, N and D: exact, by cause, and at its best."""

from dataclasses import fields
from typing import Any

from doubletrouble.cli.flags import (
    ACTIVATION,
    FORMS,
    MEMBERS,
    PROBLEM_FLAGS,
    SCHEME,
    SIZE_FLAGS,
    takes,
    without,
)  # fmt: skip
from doubletrouble.cli.question import Question
from doubletrouble.cli.report import ERROR
from doubletrouble.parameters import Value
from doubletrouble.results import AnovaTerms, ErrorTerms
from doubletrouble.theory import error
from doubletrouble.theory.optimum import optimal_ridge

_PROBLEM = (*PROBLEM_FLAGS, *SIZE_FLAGS, ACTIVATION)


@takes(*_PROBLEM, MEMBERS, SCHEME, *FORMS)
def exact(**given: Any) -> None:
    """Print the exact test error, split by cause.

    The parts are noise (fitted label noise), initialization (the luck of the random features),
    sampling (the luck of the training inputs), bias (what is left when everything is averaged) and
    bayes (noise on the test labels).
    """
    asked = Question.of(given)
    found = error.exact_error(asked.problem, asked.n_members, given["scheme"])
    report = asked.report("Test error", _parts(found), str(found))
    report.show(json=given["json"], csv=given["csv"])


@takes(*_PROBLEM, MEMBERS, SCHEME, *FORMS)
def anova(**given: Any) -> None:
    """Print the symmetric split of the test error: main effects and interactions.

    Only the interactions with the initialization diverge at P = N.
    """
    asked = Question.of(given)
    found = error.anova(asked.problem, asked.n_members, given["scheme"])
    report = asked.report("Symmetric split of the test error", _parts(found), str(found))
    report.show(json=given["json"], csv=given["csv"])


@takes(*without(_PROBLEM, "ridge"), MEMBERS, SCHEME, *FORMS)
def optimum(**given: Any) -> None:
    """Print the ridge λ of least test error, and the error there.

    Both 0 (no ridge helps) and inf (predict zero) are answers.
    """
    asked = Question.of(given)
    found = optimal_ridge(asked.problem, asked.n_members, given["scheme"])
    summary = f"{'best λ':<18} {found.ridge:12.6g}\n{found.error}" if not asked.varying else ""
    results = {"ridge": found.ridge} | _parts(found.error)
    report = asked.report("Test error at the best ridge", results, summary)
    report.show(json=given["json"], csv=given["csv"])


def _parts(found: ErrorTerms | AnovaTerms) -> dict[str, Value]:
    names = (*(f.name for f in fields(found)), "total")
    return {f"{ERROR}{name}": getattr(found, name) for name in names}
