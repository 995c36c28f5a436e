"""`doubletrouble decompose`: predictions in a file, the library's numbers out."""

import json
from pathlib import Path

import numpy as np
import pytest

from doubletrouble.cli import main
from doubletrouble.decomposition import decompose_predictions
from doubletrouble.parameters import FloatArray
from tests.cli.results import error_message
from tests.decomposition.random_effects import Effects


def predictions() -> FloatArray:
    return Effects().draw((6, 2, 4, 20), np.random.default_rng(0))


def test_json_has_the_numbers_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    f, y = predictions(), np.linspace(-1, 1, 20)
    np.save(tmp_path / "f.npy", f)
    np.save(tmp_path / "y.npy", y)
    files = [str(tmp_path / "f.npy"), "--y-test", str(tmp_path / "y.npy")]
    words = [*files, "--label-noise", "0.5", "--confidence", "0.8", "--fresh", "-K", "3,inf"]
    assert main(["decompose", *words, "--json"]) == 0
    rows = {row["part"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    expected = decompose_predictions(f, y_test=y, label_noise=0.5, crossed=False)
    error = expected.error()
    parts = {
        **error.parts,
        "total": error.total,
        "K=3": expected.error(3).total,
        "K=inf": expected.error(np.inf).total,
    }
    assert rows.keys() == parts.keys()
    for name, part in parts.items():
        assert rows[name]["value"] == part.value
        assert rows[name]["standard_error"] == part.standard_error
        assert (rows[name]["low"], rows[name]["high"]) == part.confidence_interval(0.8)


def test_without_targets_there_is_no_ensemble(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "f.npz", predictions=predictions())
    assert main(["decompose", str(tmp_path / "f.npz")]) == 0
    out = capsys.readouterr().out
    assert "averaged" not in out
    assert "neither truth nor y_test" in out


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (None, "which does not exist"),
        (b"nonsense", "which is neither"),
        (b"", "which is neither"),
        (b"PK\x03\x04 and then nothing", "which is neither"),
    ],
)
def test_files_without_an_array_are_an_error(
    content: bytes | None, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "f.npy"
    if content is not None:
        file.write_bytes(content)
    assert main(["decompose", str(file)]) == 2
    assert capsys.readouterr().err.strip().endswith(ending)


def test_an_archive_without_predictions_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "f.npz", other=np.zeros(3))
    assert main(["decompose", str(tmp_path / "f.npz")]) == 2
    assert "must have an array 'predictions', got other" in capsys.readouterr().err
    np.save(tmp_path / "f.npy", predictions())
    words = [str(tmp_path / "f.npy"), "--truth", str(tmp_path / "f.npz")]
    assert main(["decompose", *words]) == 2
    assert "truth must be one array, as .npy, got the archive" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--scheme divide", "scheme must be one of ensemble for Decomposition.error"),
        ("--scheme subsample", "fraction must be given for scheme 'subsample', got None"),
        ("--scheme both", "scheme must be one of ensemble, divide"),
        ("--n-members 0", "n_members must be a whole number in [1, inf], got 0"),
        ("--confidence 2", "confidence must be a number in (0, 1), got 2.0"),
    ],
)
def test_an_ensemble_that_is_not_supported_is_an_error(
    words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "f.npy", predictions())
    assert error_message(["decompose", str(tmp_path / "f.npy"), *words.split()], capsys).startswith(
        message
    )
