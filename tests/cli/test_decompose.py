"""decompose: the numbers of the library, from predictions in a file."""

import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from doubletrouble.learners import decompose_predictions
from doubletrouble.parameters import FloatArray
from tests.cli.results import Capture, check_errors, csv_rows, error_message, json_result, lines
from tests.learners.random_effects import Effects


def predictions() -> FloatArray:
    return Effects().draw((6, 2, 4, 20), np.random.default_rng(0))


def named(row: dict[str, str]) -> str:
    """The part of a row, or the number of members."""
    return row["part"] or f"K={float(row['n_members']):g}"


def test_json_has_the_numbers_of_the_library(tmp_path: Path, capsys: Capture) -> None:
    f, y = predictions(), np.linspace(-1, 1, 20)
    np.save(tmp_path / "f.npy", f)
    np.save(tmp_path / "y.npy", y)
    files = [str(tmp_path / "f.npy"), "--y-test", str(tmp_path / "y.npy")]
    words = [*files, "--label-noise", "0.5", "--confidence", "0.8", "--fresh", "-K", "3,inf"]
    result = json_result(["decompose", *words], capsys)
    expected = decompose_predictions(f, y_test=y, label_noise=0.5, crossed=False, confidence=0.8)
    own = json.loads(expected.to_json())
    assert {k: v for k, v in result.items() if k != "averaged"} == {
        k: v for k, v in own.items() if k != "averaged"
    }
    assert [row["n_members"] for row in result["averaged"]] == [3, "inf"]
    rows = {named(row): row for row in csv_rows(["decompose", *words], capsys)}
    error = expected.error()
    parts = {
        **error.parts,
        "total": error.total,
        "K=3": expected.error(3).total,
        "K=inf": expected.error(np.inf).total,
    }
    assert rows.keys() == parts.keys()
    for name, part in parts.items():
        numbers = (part.value, part.standard_error, *part.confidence_interval(0.8))
        ends = ("error", "error_standard_error", "error_low", "error_high")
        assert tuple(float(rows[name][end]) for end in ends) == numbers


@pytest.mark.parametrize("measure", ["log", "zero_one"])
def test_losses_of_classes_are_those_of_the_library(
    measure: Literal["log", "zero_one"], tmp_path: Path, capsys: Capture
) -> None:
    rng = np.random.default_rng(0)
    f = rng.dirichlet(np.ones(3), size=(6, 3, 4, 20))
    y = rng.integers(3, size=20)
    np.savez(tmp_path / "f.npz", predictions=f, y_test=y)
    words = f"decompose {tmp_path / 'f.npz'} --measure {measure}"
    rows = {named(row): float(row["error"]) for row in csv_rows(words, capsys)}
    expected = decompose_predictions(f, y_test=y, measure=measure)
    parts = {name: part.value for name, part in expected.error().parts.items()}
    totals = {f"K={K:g}": expected.error(K).total.value for K in (1, np.inf)}
    assert rows == parts | {"total": expected.error().total.value} | totals
    title = {"log": "Cross-entropy", "zero_one": "Error rate"}[measure]
    assert lines(words, capsys)[0].startswith(title)
    check_errors(
        [
            (f"{words} --n-members 5", "ensemble must"),
            (f"{words} --label-noise 1", "label_noise must"),
            (f"decompose {tmp_path / 'f.npz'} --measure hinge", "measure must be one of"),
        ],
        capsys,
    )


def test_without_targets_there_is_no_ensemble(tmp_path: Path, capsys: Capture) -> None:
    np.savez(tmp_path / "f.npz", predictions=predictions())
    text = "\n".join(lines(f"decompose {tmp_path / 'f.npz'}", capsys))
    assert "Averaged" not in text
    assert "neither truth nor y_test" in " ".join(text.split())


def test_archive_has_predictions_truth_and_labels(tmp_path: Path, capsys: Capture) -> None:
    f, y = predictions(), np.linspace(-1, 1, 20)
    np.savez(tmp_path / "f.npz", predictions=f, truth=y, y_test=y + 1)
    rows = csv_rows(f"decompose {tmp_path / 'f.npz'}", capsys)
    expected = decompose_predictions(f, truth=y, y_test=y + 1)
    assert [named(row) for row in rows][-3:] == ["K=1", "K=5", "K=inf"]
    assert float(rows[-2]["error"]) == expected.error(5).total.value


def test_files_without_predictions_are_an_error(tmp_path: Path, capsys: Capture) -> None:
    contents = {b"": "neither", b"text": "neither", b"PK\x03\x04 truncated": "neither"}
    file = tmp_path / "f.npy"
    message = error_message(["decompose", str(file)], capsys)
    assert message.startswith("file must")
    assert "does not exist" in message
    for content, reason in contents.items():
        file.write_bytes(content)
        message = error_message(["decompose", str(file)], capsys)
        assert message.startswith("file must"), content
        assert reason in message, content
    np.savez(tmp_path / "f.npz", other=np.zeros(3))
    np.save(file, predictions())
    text = tmp_path / "text.npy"
    np.save(text, np.full((2, 1, 2, 3), "a"))
    cases: list[tuple[str | list[str], str]] = [
        (f"decompose {tmp_path / 'f.npz'}", "file must have an array 'predictions', got other"),
        (f"decompose {file} --truth {tmp_path / 'f.npz'}", "truth must"),
        (f"decompose {text}", "predictions must"),
        (f"decompose {file} --n-members 0", "n_members must"),
        (f"decompose {file} --confidence 2", "confidence must"),
    ]
    check_errors(cases, capsys)
