"""lazy and lazy-split: the library's numbers, every word handed on, and no torch before work."""

import csv
import inspect
import io
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.cli import lazy
from doubletrouble.cli.app import load
from doubletrouble.cli.main import main
from doubletrouble.networks import _settings as settings
from tests.cli.answers import Capture, answer, refusal

SMALL = "--n-train 60 --device cpu --max-steps 30"
DIGITS = dt.load_data("digits", n_train=60)

Calls = list[dict[str, Any]]


class CalledError(Exception):
    """A library function was called; the rest of the command is not wanted."""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What the library is called with; training is left out."""
    found: Calls = []

    def note_data(*name: Any, **options: Any) -> dt.Data:
        found.append({"name": name[0], **options})
        return DIGITS

    def note_training(data: dt.Data, **options: Any) -> None:
        assert data is DIGITS
        found.append(options)
        raise CalledError

    monkeypatch.setattr(lazy, "load_data", note_data)
    monkeypatch.setattr(dt, "lazy_curve", note_training, raising=False)
    monkeypatch.setattr(dt, "lazy_split", note_training, raising=False)
    return found


# --- lazy ----------------------------------------------------------------------------------------


def test_a_table_is_one_curve(capsys: Capture) -> None:
    words = f"lazy {SMALL} --width 2,5 --laziness 1,inf --n-members 3 --seed 4 --depth 3"
    found = answer(words, capsys)
    curve = dt.lazy_curve(
        DIGITS, widths=[2, 5], laziness=[1, math.inf], ensemble=3, seed=4, depth=3, max_steps=30,
        device="cpu",
    )  # fmt: skip
    rows = [{**row, "laziness": float(row["laziness"])} for row in found["rows"]]
    assert rows == curve.table()
    assert [(row["laziness"], row["width"]) for row in found["rows"]] == [
        (1.0, 2), (1.0, 5), ("inf", 2), ("inf", 5),
    ]  # fmt: skip
    told = {"data": "digits", "n_train": 60, "n_test": 500, "dim": 10, "n_members": 3, "depth": 3}
    told |= {"labels": "parity", "scaling": "authors", "max_steps": 30, "patience": 100, "seed": 4}
    assert found["parameters"].items() >= told.items()


def test_a_csv_has_every_column(capsys: Capture) -> None:
    assert main(f"lazy {SMALL} --width 3 --n-members 2 --csv".split()) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    run = dt.train_lazy(DIGITS, width=3, ensemble=2, max_steps=30, device="cpu")
    assert float(row["single_error"]) == float(run.error().total)
    assert float(row["ensemble_error"]) == float(run.error(2).total)
    assert float(row["vote_error"]) == float(run.error(2, "vote").total)
    assert float(row["mean_distance"]) == run.distance.mean()


def test_the_table_for_people(capsys: Capture) -> None:
    assert main(f"lazy {SMALL} --width 2,30 --laziness 10,inf --n-members 3".split()) == 0
    out, error = capsys.readouterr()
    assert error == ""
    lines = out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("─"))
    assert lines[start - 1].split() == [
        "α", "w", "one", "network", "averaged", "vote", "training", "steps", "stopped",
    ]  # fmt: skip
    assert [line.split()[:2] for line in lines[start + 1 :]] == [
        ["10", "2"], ["10", "30"], ["inf", "2"], ["inf", "30"],
    ]  # fmt: skip
    assert all("±" in line and "max_steps" in line for line in (lines[start + 1], lines[start + 3]))
    assert "3 zero" in lines[-1]
    assert "None" not in out
    assert max(map(len, lines)) <= 80


def test_one_member_has_no_spread(capsys: Capture) -> None:
    words = f"lazy {SMALL} --width 3 --n-members 1"
    assert answer(words, capsys)["rows"][0]["single_std"] is None
    assert main(words.split()) == 0
    assert "±" not in capsys.readouterr().out


def test_networks_that_diverged_are_told(capsys: Capture) -> None:
    words = f"lazy {SMALL} --width 3 --n-members 2 --learning-rate 1e12 --loss squared"
    assert main([*words.split(), "--json"]) == lazy.LOST
    out, error = capsys.readouterr()
    assert error == "2 of 2 networks diverged; a smaller --learning-rate may help\n"
    assert '"single_error": null' in out
    assert '"diverged": 2' in out


def test_a_store_is_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    words = f"lazy {SMALL} --width 2,3 --n-members 2 --store lazy.sqlite"
    first = answer(words, capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["lazy.sqlite"]
    from doubletrouble.networks import _curve as curves

    monkeypatch.setattr(curves, "train_all", lambda *_, **__: pytest.fail("trained again"))
    assert answer(words, capsys) == first


def test_every_word_is_handed_on(calls: Calls) -> None:
    words = (
        "lazy --data cifar10 --folder here --pca 7 --labels 3,8 --n-train all --n-test 50 "
        "--scaling whiten --no-download --width 2:8:log:3 --laziness 0.5,inf --depth 4 "
        "--n-members 6 --loss logistic --optimizer sgd --learning-rate 0.2 --max-steps 70 "
        "--patience 9 --tolerance 0.25 --batch-size 16 --seed 8 --device cuda:1 --dtype tf32 "
        "--memory 1e9 --store file.sqlite --quiet"
    )
    with pytest.raises(CalledError):
        main(words.split())
    assert calls == [
        {
            "name": "cifar10", "folder": "here", "pca": 7, "labels": (3, 8), "n_train": None,
            "n_test": 50, "scaling": "whiten", "download": False,
        },
        {
            "widths": (2, 4, 8), "laziness": (0.5, math.inf), "depth": 4,
            "ensemble": dt.Ensemble(6), "loss": "logistic", "optimizer": "sgd",
            "learning_rate": 0.2, "max_steps": 70, "patience": 9, "tolerance": 0.25,
            "batch_size": 16, "seed": 8, "device": "cuda:1", "dtype": "tf32",
            "memory": 1e9, "store": "file.sqlite", "progress": False,
        },
    ]  # fmt: skip


def test_a_range_of_widths_is_rounded(calls: Calls) -> None:
    with pytest.raises(CalledError):
        main(["lazy", "--width", "2:9:log:3,16"])
    assert calls[1]["widths"] == (2, 4, 9, 16)


def test_too_little_memory_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise MemoryError("a network of width 30 must fit into memory, and does not")

    monkeypatch.setattr(dt, "lazy_curve", refuse, raising=False)
    said = refusal(f"lazy {SMALL}".split(), capsys)
    assert said == "a network of width 30 must fit into memory, and does not\n"


# --- lazy-split ----------------------------------------------------------------------------------


def test_a_split_is_the_librarys(capsys: Capture) -> None:
    words = f"{SMALL} --width 20 --laziness inf --noise 0.5 --n-data 3 --n-init 3 --seed 1"
    (row,) = answer(f"lazy-split {words}", capsys)["rows"]
    split = dt.lazy_split(
        DIGITS, width=20, laziness=math.inf, noise=0.5, n_data=3, n_init=3, seed=1, device="cpu"
    )
    for name in ("noise", "initialization", "sampling", "bias", "total"):
        part = getattr(split.error(), name)
        assert row[f"error_{name}"] == part.value
        assert float(row[f"error_{name}_standard_error"]) == part.standard_error
    assert row["single_error"] == split.classification_error
    assert row["ensemble_error"] == split.ensemble_error
    assert row["vote_error"] == split.vote_error
    assert row["train_error"] == split.train_error.mean()


def test_the_signal_to_noise_ratio_may_take_the_place_of_the_noise(
    calls: Calls, capsys: Capture
) -> None:
    with pytest.raises(CalledError):
        main(["lazy-split", "--snr", "4"])
    assert calls[1]["noise"] == 0.25
    for noise in ("0", "1"):
        said = refusal(["lazy-split", "--snr", "4", "--noise", noise], capsys)
        assert said.startswith("noise must be left out beside snr")


def test_that_there_is_no_noise_is_said(capsys: Capture) -> None:
    words = f"lazy-split {SMALL} --width 6 --laziness inf --n-data 3 --n-init 2"
    assert answer(words, capsys)["rows"][0]["error_noise"] == 0
    assert main(words.split()) == 0
    out = capsys.readouterr().out
    assert "misclassified by one network" in out
    assert "No label noise (noise and flips are 0)" in out
    assert "n_noise=1" in out


def test_every_word_is_handed_on_to_a_split(calls: Calls) -> None:
    words = (
        "lazy-split --n-train 100 --width 7 --laziness 5 --depth 3 --n-data 4 --n-init 3 "
        "--n-noise 5 --noise 0.1 --flips 0.2 --optimizer gd --learning-rate 2 --max-steps 10 "
        "--patience 3 --tolerance 0 --seed 2 --device cpu --dtype float64 --store c.npz"
    )
    with pytest.raises(CalledError):
        main(words.split())
    assert calls[0]["n_train"] == 100
    assert calls[1] == {
        "width": 7, "laziness": 5.0, "depth": 3, "n_data": 4, "n_init": 3, "n_noise": 5,
        "noise": 0.1, "flips": 0.2, "loss": "squared", "optimizer": "gd", "learning_rate": 2.0,
        "max_steps": 10, "patience": 3, "tolerance": 0.0, "batch_size": None, "seed": 2,
        "device": "cpu", "dtype": "float64", "memory": None, "store": "c.npz",
        "progress": True,
    }  # fmt: skip


# --- names, defaults and refusals ----------------------------------------------------------------


def test_defaults_are_the_librarys() -> None:
    from doubletrouble.networks import lazy_split, train_lazy

    known = {name: p.default for name, p in inspect.signature(train_lazy).parameters.items()}
    split = {name: p.default for name, p in inspect.signature(lazy_split).parameters.items()}
    loaded = {name: p.default for name, p in inspect.signature(dt.load_data).parameters.items()}
    expected = {**split, **known}
    assert {name: expected[name] for name in lazy.DEFAULTS} == lazy.DEFAULTS
    flags = {param.name: param.default for param in load("lazy").params}
    for name in ("loss", "optimizer", "learning_rate", "max_steps", "patience", "tolerance"):
        assert flags[name] == known[name]
    for name in ("pca", "n_train"):
        assert flags[name] == str(loaded[name])
    assert (flags["data"], flags["labels"]) == (loaded["name"], loaded["labels"])
    assert {p.name: p.default for p in load("lazy-split").params}["loss"] == split["loss"]


def test_names_are_those_of_the_functions() -> None:
    from doubletrouble.networks import _losses as losses

    assert tuple(losses.LOSSES) == settings.LOSSES
    text = {param.name: param.help for param in load("lazy").params}
    assert all(f"'{name}'" in text["optimizer"] for name in settings.OPTIMIZERS)


@pytest.mark.parametrize("words", [["lazy", "--help"], ["lazy", "--loss", "l1"]])
def test_words_are_read_without_heavy_modules(words: list[str]) -> None:
    heavy = ("torch", "sklearn", "sqlite3", "matplotlib", "scipy.optimize")
    code = (
        f"import sys; from doubletrouble.cli.main import main; main({words!r})\n"
        f"sys.exit(str([m for m in {heavy!r} if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_a_missing_torch_is_named() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"from doubletrouble.cli.main import main; sys.exit(main({['lazy', *SMALL.split()]!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr == "torch is needed: pip install 'doubletrouble[networks]'\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("lazy --width 0", "width must be a whole number in [1, 100000], got 0\n"),
        ("lazy --width 4,4", "width must hold every value once, got 4 twice"),
        ("lazy --width 2.5:9:log:3", "width must be a whole number in [1, 100000], got 2.5"),
        ("lazy --memory -1", "memory must be in [0, inf], got -1.0"),
        ("lazy --width 2.5", "width must be a whole number in [1, 100000], got 2.5"),
        ("lazy --laziness 0", "laziness must be in [1e-06, 1e+06] or inf, got 0.0"),
        ("lazy --laziness 1,1", "laziness must hold every value once, got 1.0 twice"),
        ("lazy --loss l1", "loss must be one of hinge, squared_hinge, squared, logistic, got 'l1'"),
        ("lazy --optimizer sgd", "batch_size must be given for optimizer 'sgd'"),
        ("lazy --tolerance 2", "tolerance must be in [0, 1], got 2.0"),
        ("lazy --json --csv", "json must be left out where csv is given, got both"),
        ("lazy --n-train many", "n_train must be a whole number or 'all', got 'many'"),
        ("lazy --pca 0", "pca must be a whole number of at least 1, got 0"),
        ("lazy --labels odd", "labels must be 'parity' or two different classes, got 'odd'"),
        ("lazy --labels 3", "labels must be 'parity' or two different classes, got (3,)"),
        ("lazy --data faces", "name must be one of digits, mnist, fashion-mnist, cifar10 or"),
        ("lazy --data none.npz", "none.npz"),
        ("lazy --depth 1", "depth must be a whole number in [2, 100], got 1"),
        ("lazy --depth x", "Invalid value for '--depth'"),
        ("lazy --dtype half", "dtype must be one of float32, tf32, float64, got 'half'"),
        ("lazy --device moon", "device must be 'auto', 'cpu' or a GPU torch has here"),
        ("lazy --n-members 0", "n_members must be a whole number in [1, inf], got 0"),
        ("lazy --n-members 2,3", "n_members must be one number here, got 2 of them"),
        ("lazy --n-members inf --n-train 60", "ensemble must be a whole number"),
        ("lazy --scheme divide", "ensemble must be one of Ensemble for train_lazy, got Divide(10)"),
        ("lazy --fraction 0.5", "fraction must be left out for scheme 'ensemble', got 0.5"),
        ("lazy-split --width 2,3", "Invalid value for '--width'"),
        ("lazy-split --n-data 7", "n_data must be at most 6, since 1297 training samples make"),
        ("lazy-split --noise 1 --loss hinge", "noise must be 0 for loss 'hinge'"),
        ("lazy-split --flips 2", "flips must be in [0, 1], got 2.0"),
    ],
)
def test_an_error_is_one_sentence_and_code_two(words: str, said: str, capsys: Capture) -> None:
    assert refusal(words.split(), capsys).startswith(said)
