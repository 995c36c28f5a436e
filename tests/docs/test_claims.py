"""docs/claims.md: the blocks of each claim print the numbers of its verdict."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import doubletrouble as dt
from doubletrouble.figures import FIGURES
from tests.docs.pages import commands, numbers, run, same, text_of, unit

PAGE = text_of("claims.md")
SECTION = re.compile(r"^## (\d+)\. ([^\n]+)\n(.*?)(?=^## )", re.DOTALL | re.MULTILINE)
VERDICT = re.compile(
    r"^\*\*(True with a condition|True|False)\b.*?(?=\n\n)", re.DOTALL | re.MULTILINE
)
ROW = re.compile(r"^\| (\d+) \| \[([^\]]+)\]\(#[\w-]+\) \| ([a-z ]+) \| (?:`([\w-]+)`)? *\|$", re.M)
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+")


class Claim(NamedTuple):
    """One section: its number, its title, its verdict in full, and all of its text."""

    number: int
    title: str
    verdict: str
    words: str
    text: str


def claims() -> list[Claim]:
    found = []
    for number, title, text in SECTION.findall(PAGE):
        (verdict,) = VERDICT.finditer(text)
        found.append(Claim(int(number), title, verdict[1].lower(), verdict[0], text))
    return found


CLAIMS = {claim.number: claim for claim in claims()}


@pytest.mark.full
def test_blocks_print_the_output_shown_and_every_number_of_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    names: dict[str, Any] = {"__name__": "__main__"}
    list(run(PAGE[: PAGE.index("## 1. ")], names))
    steps = {number: list(run(claim.text, names)) for number, claim in CLAIMS.items()}
    for number, claim in CLAIMS.items():
        shown = [step for step in steps[number] if step.shown is not None]
        assert shown, claim.title
        for step in shown:
            assert same(step.printed, step.shown or ""), step.block.code
        sources = {number, *map(int, re.findall(r"\(see (\d+)\)", claim.words))}
        printed = [
            float(value.replace(",", ""))
            for source in sources
            for step in steps[source]
            for value in numbers(step.printed + step.block.code)
        ]
        missing = [
            named
            for named in DECIMAL.findall(claim.words)
            if not any(abs(float(named) - value) <= 0.501 * unit(named) for value in printed)
        ]
        assert missing == [], claim.title


@pytest.mark.full
def test_blocks_on_other_losses_print_the_output_shown() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    list(run(PAGE[: PAGE.index("## 1. ")], names))
    section = PAGE[PAGE.index("## Other losses") : PAGE.index("## Not checked here")]
    shown = [step for step in run(section, names) if step.shown is not None]
    assert shown
    for step in shown:
        assert same(step.printed, step.shown or ""), step.block.code


def test_there_are_claims_of_every_verdict() -> None:
    assert list(CLAIMS) == list(range(1, len(CLAIMS) + 1))
    assert {claim.verdict for claim in CLAIMS.values()} == {
        "true", "true with a condition", "false",
    }  # fmt: skip


def test_table_has_the_verdicts_of_the_sections_and_existing_figures() -> None:
    rows = [(int(n), title, verdict) for n, title, verdict, _ in ROW.findall(PAGE)]
    assert rows == [(c.number, c.title, c.verdict) for c in CLAIMS.values()]
    names = {name for *_, name in ROW.findall(PAGE) if name}
    assert names
    assert names <= set(FIGURES)


def test_claims_use_the_command_line_and_python() -> None:
    shells = [line for claim in CLAIMS.values() for line in commands(claim.text)]
    assert any(line.startswith("doubletrouble figure ") for line in shells)


def test_an_ensemble_is_better_than_the_best_ridge_for_clean_labels_only() -> None:
    clean, noisy = (dt.Problem(features_per_dim=10.0, noise=noise) for noise in (0.1, 1.0))
    many = [dt.exact_error(problem, float("inf")).total for problem in (clean, noisy)]
    best = [dt.optimal_ridge(problem).error.total for problem in (clean, noisy)]
    assert many[0] < best[0]
    assert many[1] > best[1] * 1.05
