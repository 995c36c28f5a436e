"""The error in the limit of large P, N and D: exact, by cause, and at its best."""

from dataclasses import fields
from typing import Any

from doubletrouble.cli.flags import (
    ACTIVATION,
    ENSEMBLE,
    FORMS,
    PROBLEM,
    SIZE_FLAGS,
    number,
    takes,
    without,
)
from doubletrouble.cli.question import Question
from doubletrouble.cli.report import PSI, parts
from doubletrouble.results import PsiTerms
from doubletrouble.theory import _error, optimal_ridge

_MEANING = {
    "psi1": "overlap of teacher and student",
    "psi2_vanilla": "power of the noise-free student",
    "psi3_vanilla": "response to label noise",
    "psi2_ensemble": "overlap of two students: same data, fresh features",
    "psi3_ensemble": "overlap of their responses to label noise",
    "psi2_divide": "overlap of two students: fresh data, fresh features",
    "psi2_features": "overlap of two students: fresh data, same features",
}


@takes(*PROBLEM, *ENSEMBLE, *FORMS)
def exact(**given: Any) -> None:
    """Print the exact test error, split by cause.

    The parts are noise (fitted label noise), initialization (the variance over random features),
    sampling (the variance over training inputs), bias (what is left when everything is averaged)
    and bayes (noise on the test labels). Models that draw samples or features from a common set
    have resampling as well: the variance over what they drew.
    """
    asked = Question.of(given)
    ensemble = asked.ensemble
    found = _error.exact_error(asked.problem, ensemble)
    report = asked.report("Test error", parts(found, ensemble), str(found))
    report.show(json=given["json"], csv=given["csv"])


@takes(*PROBLEM, *ENSEMBLE, *FORMS)
def anova(**given: Any) -> None:
    """Print the symmetric split of the test error: main effects and interactions.

    Only the interactions with the initialization diverge at P = N.
    """
    asked = Question.of(given)
    ensemble = asked.ensemble
    found = _error.anova(asked.problem, ensemble)
    report = asked.report(
        "Symmetric split of the test error", parts(found, ensemble), str(found)
    )  # fmt: skip
    report.show(json=given["json"], csv=given["csv"])


@takes(*without(PROBLEM, "ridge"), *ENSEMBLE, *FORMS)
def optimum(**given: Any) -> None:
    """Print the ridge λ of least test error, and the error there.

    Both 0 (no ridge helps) and inf (predict zero) are answers.
    """
    asked = Question.of(given)
    ensemble = asked.ensemble
    found = optimal_ridge(asked.problem, ensemble)
    results = {"ridge": found.ridge} | parts(found.error, ensemble)
    summary = f"{'best λ':<16} {found.ridge:12.6g}\n{found.error}" if not asked.varying else ""
    report = asked.report("Test error at the best ridge", results, summary)
    report.show(json=given["json"], csv=given["csv"])


@takes(*without(PROBLEM, "test_noise"), *ENSEMBLE, *FORMS)
def training(**given: Any) -> None:
    """Print the training error: the mean squared error on the training labels, noise included.

    The average of the models is evaluated on the whole data set, where each may have seen a part.
    """
    asked = Question.of(given)
    error = _error.training_error(asked.problem, asked.ensemble)
    summary = "" if asked.varying else f"{'training error':<16} {error:12.6g}"
    report = asked.report("Training error", {"training_error": error}, summary)
    report.show(json=given["json"], csv=given["csv"])


@takes(*(number(name) for name in ("features_per_dim", "samples_per_dim", "ridge")), *SIZE_FLAGS,
       ACTIVATION, *FORMS)  # fmt: skip
def psi(**given: Any) -> None:
    """Print the terms Ψ of the theory, of which every error of the paper is made.

    They are dimensionless: the powers of signal and noise are not in them. Ψ₂ᵖ is not in the paper.
    """
    asked = Question.of(given)
    found = _error.psi_terms(asked.problem)
    terms = {f.name: getattr(found, f.name) for f in fields(PsiTerms)}
    lines = () if asked.varying else (
        f"{PSI[name]:<4} {value:12.6g}   {_MEANING[name]}" for name, value in terms.items()
    )  # fmt: skip
    report = asked.report("Terms of the theory", terms, "\n".join(lines))
    report.show(json=given["json"], csv=given["csv"])
