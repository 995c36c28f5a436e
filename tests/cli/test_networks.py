"""lazy: the numbers of the library, which every flag reaches."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.cli import _experiments as commands
from doubletrouble.cli import main
from doubletrouble.cli._app import load
from doubletrouble.losses import CLASSIFIER_LOSSES
from doubletrouble.networks import _settings as settings
from tests.cli.results import (
    CalledError,
    Capture,
    check_errors,
    csv_rows,
    error_message,
    json_result,
    lines,
)

SMALL = "--n-samples 60 --device cpu --max-steps 30 --quiet"
DIGITS = dt.load_data("digits", n_samples=60)

Calls = list[dict[str, Any]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Arguments of the library functions, without training."""
    result: Calls = []

    def load_data(**options: Any) -> dt.Data:
        result.append(options)
        return DIGITS

    def train(data: dt.Data, **options: Any) -> None:
        assert data is DIGITS
        result.append(options)
        raise CalledError

    monkeypatch.setattr(commands, "load_data", load_data)
    monkeypatch.setattr(dt, "lazy_curve", train, raising=False)
    return result


# --- lazy ----------------------------------------------------------------------------------------


def test_rows_are_those_of_lazy_curve(capsys: Capture) -> None:
    words = f"lazy {SMALL} --width 2,5 --laziness 1,inf --n-members 3 --seed 4 --depth 3"
    result = json_result(words, capsys)
    curve = dt.lazy_curve(
        DIGITS,
        widths=[2, 5],
        laziness=[1, math.inf],
        ensemble=3,
        seed=4,
        depth=3,
        max_steps=30,
        device="cpu",
    )
    rows = [{**row, "laziness": float(row["laziness"])} for row in result["runs"]]
    assert rows == curve.to_frame().to_dict("records")
    assert [(row["laziness"], row["width"]) for row in result["runs"]] == [
        (1.0, 2),
        (1.0, 5),
        ("inf", 2),
        ("inf", 5),
    ]


def test_csv_has_the_errors_of_one_run(capsys: Capture) -> None:
    (row,) = csv_rows(f"lazy {SMALL} --width 3 --n-members 2", capsys)
    run = dt.train_lazy(DIGITS, width=3, ensemble=2, max_steps=30, device="cpu")
    assert float(row["single_error"]) == float(run.error(1, measure="zero_one").total)
    assert float(row["ensemble_error"]) == float(run.error(2, measure="zero_one").total)
    assert float(row["vote_error"]) == float(run.error(dt.Vote(2), measure="zero_one").total)
    assert float(row["mean_distance"]) == run.distance.mean()


def test_table_has_a_row_for_every_width_and_laziness(capsys: Capture) -> None:
    text = lines(f"lazy {SMALL} --width 2,30 --laziness 10,inf --n-members 3", capsys)
    start = next(k for k, line in enumerate(text) if line.startswith("laziness"))
    rows = [line.split() for line in text[start + 1 : start + 5]]
    assert [row[:2] for row in rows] == [["10", "2"], ["10", "30"], ["∞", "2"], ["∞", "30"]]
    assert all("max_steps" in row for row in (rows[0], rows[2]))
    assert rows[3][-2:] == ["3", "zero"]
    assert text[start + 5].startswith("The mean of 3 networks has the least error")
    assert "None" not in "".join(text)
    assert max(map(len, text)) <= 80


def test_one_member_has_no_standard_deviation(capsys: Capture) -> None:
    words = f"lazy {SMALL} --width 3 --n-members 1"
    assert json_result(words, capsys)["runs"][0]["single_std"] is None
    assert not any(" ± 0" in line for line in lines(words, capsys))


def test_diverged_networks_are_reported(capsys: Capture) -> None:
    words = f"lazy {SMALL} --width 3 --n-members 2 --learning-rate 1e12 --loss squared"
    assert main([*words.split(), "--json"]) == commands.DIVERGED
    out, error = capsys.readouterr()
    assert error.startswith("2 of 2 networks diverged")
    assert "--learning-rate" in error
    assert '"single_error": null' in out
    assert '"diverged": 2' in out


def test_stored_ensembles_are_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    words = f"lazy {SMALL} --width 2,3 --n-members 2 --store lazy.sqlite"
    first = json_result(words, capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["lazy.sqlite"]

    def fails(*_: Any, **__: Any) -> None:
        pytest.fail("trained again")

    monkeypatch.setattr("doubletrouble.networks._training.train_members", fails)
    assert json_result(words, capsys) == first


def test_flags_of_lazy_reach_the_library(calls: Calls) -> None:
    words = (
        "lazy --data cifar10 --folder here --pca 7 --labels 3,8 --n-samples all --n-test 50 "
        "--scaling whiten --no-download --width 2:8:log:3 --laziness 0.5,inf --depth 4 "
        "--n-members 6 --loss logistic --optimizer sgd --learning-rate 0.2 --max-steps 70 "
        "--patience 9 --tolerance 0.25 --batch-size 16 --seed 8 --device cuda:1 --dtype tf32 "
        "--memory 1e9 --store file.sqlite --quiet"
    )
    with pytest.raises(CalledError):
        main(words.split())
    assert calls == [
        {
            "name": "cifar10",
            "folder": "here",
            "pca": 7,
            "labels": (3, 8),
            "n_samples": None,
            "n_test": 50,
            "scaling": "whiten",
            "download": False,
        },
        {
            "widths": (2, 4, 8),
            "laziness": (0.5, math.inf),
            "depth": 4,
            "ensemble": 6,
            "loss": "logistic",
            "optimizer": "sgd",
            "learning_rate": 0.2,
            "max_steps": 70,
            "patience": 9,
            "tolerance": 0.25,
            "batch_size": 16,
            "seed": 8,
            "device": "cuda:1",
            "dtype": "tf32",
            "memory": 1e9,
            "store": "file.sqlite",
            "progress": False,
        },
    ]


def test_a_range_of_widths_is_rounded(calls: Calls) -> None:
    with pytest.raises(CalledError):
        main(["lazy", "--width", "2:9:log:3,16"])
    assert calls[1]["widths"] == (2, 4, 9, 16)


def test_out_of_memory_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise MemoryError("memory must be smaller than 1e+09 bytes")

    monkeypatch.setattr(dt, "lazy_curve", refuse, raising=False)
    message = error_message(f"lazy {SMALL}".split(), capsys)
    assert message == "memory must be smaller than 1e+09 bytes\n"


# --- names, defaults and errors ----------------------------------------------------------------


def test_other_flags_change_the_small_experiment(calls: Calls) -> None:
    with pytest.raises(CalledError):
        main(["lazy", "--loss", "hinge", "--max-steps", "9", "--laziness", "3"])
    assert calls[0]["n_samples"] == settings.LAPTOP["n_samples"]
    given = {"loss": "hinge", "max_steps": 9, "laziness": (3.0,)}
    names = ("widths", "ensemble", "learning_rate")
    assert calls[1].items() >= ({n: settings.LAPTOP[n] for n in names} | given).items()


def test_losses_and_optimizers_are_those_of_the_library() -> None:
    from doubletrouble.networks import _losses as losses

    assert set(losses.LOSSES) == set(CLASSIFIER_LOSSES)
    text = {param.name: param.help for param in load("lazy").params}
    assert all(f"'{name}'" in text["optimizer"] for name in settings.OPTIMIZERS)


def test_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    message = error_message(["lazy", *SMALL.split()], capsys)
    assert message == "torch is needed: pip install 'doubletrouble[networks]'\n"


def test_errors_name_the_argument(capsys: Capture) -> None:
    cases = [
        ("lazy --width 0", "width must"),
        ("lazy --width 2.5:9:log:3", "width must"),
        ("lazy --laziness 0", "laziness must"),
        ("lazy --loss l1", "loss must"),
        ("lazy --optimizer sgd", "batch_size must"),
        ("lazy --memory -1", "memory must"),
        ("lazy --n-samples many", "n_samples must"),
        ("lazy --pca 0", "pca must"),
        ("lazy --labels odd", "labels must"),
        ("lazy --labels 3", "labels must"),
        ("lazy --data faces", "name must"),
        ("lazy --data none.npz", "none.npz"),
        ("lazy --depth 1", "depth must"),
        ("lazy --depth x", "depth must"),
        ("lazy --seed x", "seed must be a whole number, got 'x'"),
        ("lazy --dtype half", "dtype must"),
        ("lazy --device moon", "device must"),
        ("lazy --n-members 2,3", "n_members must be one number"),
        ("lazy --n-members inf", "n_members must be a whole number in [1, 1e+06]"),
        ("lazy --scheme divide", "No such option: --scheme"),
    ]
    check_errors(cases, capsys)
