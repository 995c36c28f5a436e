"""The test error in the limit of large P, N and D: exact, by cause, and at its best."""

from typing import Any

from doubletrouble.cli.flags import (
    DRAWN,
    DRAWN_SCHEME,
    FORMS,
    MEMBERS,
    PROBLEM,
    SCHEME,
    takes,
    without,
)  # fmt: skip
from doubletrouble.cli.question import Question
from doubletrouble.cli.report import parts
from doubletrouble.theory import error
from doubletrouble.theory.optimum import optimal_ridge


@takes(*PROBLEM, MEMBERS, DRAWN_SCHEME, *DRAWN, *FORMS)
def exact(**given: Any) -> None:
    """Print the exact test error, split by cause.

    The parts are noise (fitted label noise), initialization (the luck of the random features),
    sampling (the luck of the training inputs), bias (what is left when everything is averaged) and
    bayes (noise on the test labels). Models that draw samples or features from a common set have
    resampling as well: the luck of what they drew.
    """
    asked = Question.of(given)
    found = error.exact_error(
        asked.problem, asked.n_members, given["scheme"], fraction=asked.given("fraction"),
        bank_per_dim=asked.given("bank_per_dim"),
    )  # fmt: skip
    report = asked.report("Test error", parts(found), str(found))
    report.show(json=given["json"], csv=given["csv"])


@takes(*PROBLEM, MEMBERS, SCHEME, *FORMS)
def anova(**given: Any) -> None:
    """Print the symmetric split of the test error: main effects and interactions.

    Only the interactions with the initialization diverge at P = N.
    """
    asked = Question.of(given)
    found = error.anova(asked.problem, asked.n_members, given["scheme"])
    report = asked.report("Symmetric split of the test error", parts(found), str(found))
    report.show(json=given["json"], csv=given["csv"])


@takes(*without(PROBLEM, "ridge"), MEMBERS, SCHEME, *FORMS)
def optimum(**given: Any) -> None:
    """Print the ridge λ of least test error, and the error there.

    Both 0 (no ridge helps) and inf (predict zero) are answers.
    """
    asked = Question.of(given)
    found = optimal_ridge(asked.problem, asked.n_members, given["scheme"])
    summary = f"{'best λ':<18} {found.ridge:12.6g}\n{found.error}" if not asked.varying else ""
    results = {"ridge": found.ridge} | parts(found.error)
    report = asked.report("Test error at the best ridge", results, summary)
    report.show(json=given["json"], csv=given["csv"])
