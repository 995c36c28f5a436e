"""Every claim of docs/claims.md is checked by its own lines, which print the numbers it names."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from doubletrouble.figures import FIGURES
from tests.docs.pages import Step, commands, numbers, run, same, text_of, unit

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


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, list[Step]]]:
    """What every block printed, by the number of its claim."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("claims"))
        patch.setenv("COLUMNS", "80")
        names: dict[str, Any] = {"__name__": "__main__"}
        list(run(PAGE[: PAGE.index("## 1. ")], names))
        yield {number: list(run(claim.text, names)) for number, claim in CLAIMS.items()}


@pytest.mark.xdist_group("claims")
@pytest.mark.parametrize("number", CLAIMS)
def test_every_line_runs_and_prints_the_output_shown(
    steps: dict[int, list[Step]], number: int
) -> None:
    shown = [step for step in steps[number] if step.shown is not None]
    assert shown
    for step in shown:
        assert step.shown is not None
        assert same(step.printed, step.shown), step.block.code


@pytest.mark.xdist_group("claims")
@pytest.mark.parametrize("number", CLAIMS)
def test_every_number_of_a_verdict_is_printed_by_its_lines(
    steps: dict[int, list[Step]], number: int
) -> None:
    words = CLAIMS[number].words
    sources = {number, *map(int, re.findall(r"\(see (\d+)\)", words))}
    printed = [
        float(value)
        for source in sources
        for step in steps[source]
        for value in numbers(step.printed + step.block.code)
    ]
    missing = [
        named
        for named in DECIMAL.findall(words)
        if not any(abs(float(named) - value) <= 0.501 * unit(named) for value in printed)
    ]
    assert missing == []


def test_there_are_claims_of_every_verdict() -> None:
    assert list(CLAIMS) == list(range(1, len(CLAIMS) + 1))
    assert len(CLAIMS) >= 12
    assert {claim.verdict for claim in CLAIMS.values()} == {
        "true", "true with a condition", "false",
    }  # fmt: skip


def test_the_table_has_the_verdicts_of_the_sections() -> None:
    rows = [(int(n), title, verdict) for n, title, verdict, _ in ROW.findall(PAGE)]
    assert rows == [(c.number, c.title, c.verdict) for c in CLAIMS.values()]


def test_the_figures_named_exist() -> None:
    names = {name for *_, name in ROW.findall(PAGE) if name}
    assert len(names) > 5
    assert names <= set(FIGURES)


def test_both_the_command_line_and_python_are_used() -> None:
    shells = [line for claim in CLAIMS.values() for line in commands(claim.text)]
    assert len(shells) > 5
    assert any(line.startswith("doubletrouble figure ") for line in shells)


# --- the verdicts that contradict the paper, once more and without the page ----------------------


def test_an_ensemble_does_not_always_beat_the_best_ridge() -> None:
    import doubletrouble as dt

    clean, noisy = (dt.Problem(features_per_dim=10.0, noise=noise) for noise in (0.1, 1.0))
    many = [dt.exact_error(problem, float("inf")).total for problem in (clean, noisy)]
    best = [dt.optimal_ridge(problem).error.total for problem in (clean, noisy)]
    assert many[0] < best[0]
    assert many[1] > best[1] * 1.05
