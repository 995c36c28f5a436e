"""decompose: the numbers of the library, from predictions in a file."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from doubletrouble.learners import decompose_predictions
from doubletrouble.parameters import FloatArray
from tests.cli.results import Capture, check_errors, check_forms, error_message, lines
from tests.learners.random_effects import Effects


def predictions() -> FloatArray:
    return Effects().draw((6, 2, 4, 20), np.random.default_rng(0))


def test_every_form_is_that_of_the_library(tmp_path: Path, capsys: Capture) -> None:
    f, y = predictions(), np.linspace(-1, 1, 20)
    np.save(tmp_path / "f.npy", f)
    np.save(tmp_path / "y.npy", y)
    files = f"{tmp_path / 'f.npy'} --y-test {tmp_path / 'y.npy'}"
    expected = decompose_predictions(f, y_test=y, label_noise=0.5, crossed=False, confidence=0.8)
    words = f"decompose {files} --label-noise 0.5 --confidence 0.8 --fresh"
    check_forms(words, expected, capsys)


@pytest.mark.parametrize("measure", ["log", "zero_one"])
def test_losses_of_classes_are_those_of_the_library(
    measure: Literal["log", "zero_one"], tmp_path: Path, capsys: Capture
) -> None:
    rng = np.random.default_rng(0)
    f = rng.dirichlet(np.ones(3), size=(6, 3, 4, 20))
    y = rng.integers(3, size=20)
    np.savez(tmp_path / "f.npz", predictions=f, y_test=y)
    words = f"decompose {tmp_path / 'f.npz'} --measure {measure}"
    check_forms(words, decompose_predictions(f, y_test=y, measure=measure), capsys)
    title = {"log": "Cross-entropy", "zero_one": "Error rate"}[measure]
    assert lines(words, capsys)[0].startswith(title)
    check_errors(
        [
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
    expected = decompose_predictions(f, truth=y, y_test=y + 1)
    check_forms(f"decompose {tmp_path / 'f.npz'}", expected, capsys)


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
        (f"decompose {file} --confidence 2", "confidence must"),
    ]
    check_errors(cases, capsys)
