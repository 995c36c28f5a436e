"""docs/networks.md: the examples run as shown, and the numbers are those of the stored results."""

import csv
import re
import shlex
from pathlib import Path

import pytest

from doubletrouble.cli._app import load
from doubletrouble.figures._agreement import stored_rows
from doubletrouble.figures._lazy import PUBLISHED
from doubletrouble.losses import CLASSIFIER_LOSSES
from doubletrouble.networks import DTYPES, OPTIMIZERS, STATUSES
from doubletrouble.networks._curve import WIDTHS
from tests.docs.pages import ROOT, compared, text_of

PAGE = "networks.md"
STORED = ROOT / "src" / "doubletrouble" / "figures" / "stored" / "lazy_cifar10.csv"

Row = dict[str, str]


def published() -> list[Row]:
    """The points read off the paper's figure."""
    return stored_rows(PUBLISHED)


@pytest.fixture(scope="module")
def stored() -> dict[tuple[str, int], Row]:
    with STORED.open(encoding="utf-8", newline="") as file:
        return {(row["laziness"], int(row["width"])): row for row in csv.DictReader(file)}


@pytest.mark.full
def test_examples_print_the_output_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert compared(PAGE) == 6
    assert [path.name for path in tmp_path.iterdir()] == ["lazy.sqlite"]


def test_every_name_is_documented() -> None:
    text = text_of(PAGE)
    assert all(f"`{status}`" in text for status in STATUSES)
    assert all(f'`"{name}"`' in text for name in (*CLASSIFIER_LOSSES, *OPTIMIZERS, *DTYPES))


def test_every_parameter_is_documented() -> None:
    from doubletrouble import glossary

    specs = {
        "width": glossary.WIDTH,
        "depth": glossary.DEPTH,
        "laziness": glossary.LAZINESS,
        "learning_rate": glossary.LEARNING_RATE,
        "tolerance": glossary.TOLERANCE,
        "flips": glossary.LABEL_FLIPS,
        "noise": glossary.NOISE,
    }
    for name, spec in specs.items():
        assert f"| {spec.symbol} | `{name}` | {spec.meaning} |" in text_of(PAGE)


def test_command_of_the_experiment_is_valid() -> None:
    result = re.findall(r"^    (doubletrouble lazy .*\\\n.*) > ", text_of(PAGE), flags=re.MULTILINE)
    (line,) = result
    words = shlex.split(line.replace("\\\n", ""))[2:]
    given = load("lazy").make_context("lazy", words).params
    assert given["data"] == "cifar10"
    assert given["patience"] == given["max_steps"]
    assert {given[name] for name in ("optimizer", "dtype", "loss")} == {None}  # the defaults
    assert tuple(2**k for k in range(1, 12)) == WIDTHS
    assert given["width"] == WIDTHS


def cells(row: Row | None, *, training: bool = False) -> list[str]:
    """Cells of the table for an ensemble."""
    if row is None:
        return ["", "", *([""] if training else [])]
    one = f"{float(row['single_error']):.3f} ± {float(row['single_std']):.3f}"
    lost = float(row["train_error"])
    more = [f"{lost:.3f}" if lost else "0"] if training else []
    return [one, f"{float(row['ensemble_error']):.3f}", *more]


def test_table_agrees_with_the_stored_results(stored: dict[tuple[str, int], Row]) -> None:
    lines = re.findall(r"^\| (\d+) \|(.*)\|$", text_of(PAGE), flags=re.MULTILINE)
    assert [int(width) for width, _ in lines] == list(WIDTHS)
    for width, line in lines:
        ten, hundred, linear = (stored.get((a, int(width))) for a in ("10", "100", "inf"))
        expected = [*cells(ten), *cells(hundred, training=True), *cells(linear)]
        assert [cell.strip() for cell in line.split("|")] == expected


def test_text_agrees_with_the_stored_results(stored: dict[tuple[str, int], Row]) -> None:
    assert {width for (_, width), row in stored.items() if row["precision"] == "tf32"} == {
        1024,
        2048,
    }
    peak = stored["100", 32]
    assert (peak["max_steps"], peak["n_members"]) == ("18", "20")
    moved = [round(float(stored[alpha, 128]["mean_distance"])) for alpha in ("1", "10", "100")]
    assert f"at width 128 it is {moved[0]}, {moved[1]} and {moved[2]} for" in text_of(PAGE)
    rising = [float(stored["100", width]["ensemble_error"]) for width in (64, 2048)]
    flat = [float(stored["inf", width]["ensemble_error"]) for width in WIDTHS if width >= 64]
    assert rising[1] - rising[0] > 5 * (max(flat) - min(flat))
    assert f"{min(flat):.3f} to {max(flat):.3f} from 64 to 2048" in text_of(PAGE)
    assert {alpha for alpha, _ in stored} == {"1", "10", "100", "inf"}
    assert len(stored) == 4 * len(WIDTHS)
    for width in (1024, 2048):
        row = stored["inf", width]
        assert (row["zero"], row["interpolating"], row["precision"]) == ("20", "20", "tf32")
        assert f"{float(row['train_error']):.4f}" == "0.0004"


def test_text_agrees_with_the_published_points(stored: dict[tuple[str, int], Row]) -> None:
    text, apart, beyond = " ".join(text_of(PAGE).split()), [], []
    near: dict[str, list[bool]] = {"10": [], "100": []}
    close: dict[str, list[bool]] = {"10": [], "100": []}
    for theirs in published():
        alpha, width = theirs["alpha"], int(theirs["width"])
        ours, mean = stored[alpha, width], float(theirs["ensemble_K20_test_error"])
        near[alpha].append(abs(float(ours["ensemble_error"]) - mean) <= 0.02)
        if not near[alpha][-1]:
            apart += [f"{float(ours['ensemble_error']):.3f}", f"{mean + 1e-9:.3f}"]
        if theirs["K1_std"]:
            one, spread = float(theirs["K1_mean_test_error"]), float(theirs["K1_std"])
            score = (float(ours["single_error"]) - one) / spread
            close[alpha].append(abs(score) <= 2)
            if not close[alpha][-1]:
                assert f"{score:.1f}" in text
                beyond += [f"{float(ours['single_error']):.4f}", f"{one:.4f} ± {spread:.4f}"]
    assert [(sum(result), len(result)) for result in near.values()] == [(10, 11), (9, 11)]
    assert [(sum(result), len(result)) for result in close.values()] == [(9, 10), (8, 10)]
    assert r"at 10 of 11 widths at $\alpha = 10$, and at 9 of 11 at $\alpha = 100$" in text
    assert r"at 9 of 10 widths at $\alpha = 10$, and at 8 of 10 at $\alpha = 100$" in text
    assert [number for number in (*apart, *beyond) if number not in text] == []
