"""simulate and sweep: the numbers of the library, the theory beside them, and stores."""

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.networks import LazyCurve
from doubletrouble.results import Simulation
from doubletrouble.runs import Store
from tests.cli.results import (
    Capture,
    check_errors,
    check_forms,
    csv_rows,
    error_message,
    json_result,
    lines,
)
from tests.networks.literal import small_data
from tests.runs.work import AtOnce

pytestmark = pytest.mark.xdist_group("processes")

SMALL = "simulate --dim 12 --n-data 3 --n-init 2 --quiet"
OF_SMALL: dict[str, Any] = {"dim": 12, "n_data": 3, "n_init": 2, "progress": False}


def simulated(problem: dt.Problem, *ensembles: dt.Scheme, **options: Any) -> Simulation:
    return dt.simulate(problem, ensembles=ensembles, **{**OF_SMALL, **options})


def test_every_form_is_the_comparison_of_the_library(capsys: Capture) -> None:
    words = "--features-per-dim 0.5,2 --ridge 0.1,1 --n-members 2,inf --seed 3"
    members = np.array([2.0, math.inf])
    problem = dt.Problem(features_per_dim=[[[0.5]], [[2.0]]], ridge=[[[0.1], [1.0]]])
    run = simulated(problem, seed=3)
    expected = run.compare(dt.exact_error(run.problem, members), members)
    check_forms(f"{SMALL} {words}", expected, capsys)
    check_forms(f"{SMALL} {words} --no-theory", run.error(members), capsys)


def test_every_option_reaches_the_library(capsys: Capture) -> None:
    words = (
        "--samples-per-dim 0.5 --noise 0.3 --activation erf --dtype float32 --ridge 1 "
        "--test sample --no-center"
    )
    problem = dt.Problem(samples_per_dim=0.5, noise=0.3, activation="erf", ridge=1.0)
    run = simulated(problem, dtype="float32", test="sample", center=False)
    check_forms(f"{SMALL} {words}", run.compare(dt.exact_error(run.problem)), capsys)
    kernel = json_result(f"{SMALL} --features-per-dim inf --model kernel", capsys)
    assert (kernel["problem"]["features_per_dim"], kernel["model"]) == ("inf", "kernel")
    by_snr = json_result(f"{SMALL} --signal 2 --snr 4", capsys)
    assert by_snr == json_result(f"{SMALL} --signal 2 --noise 0.5", capsys)


def test_members_may_draw_samples_or_features(capsys: Capture) -> None:
    given = {
        "subsample --fraction 0.51": dt.Subsample(2, fraction=0.51),
        "feature_bank --bank-per-dim 4": dt.FeatureBank(2, bank_per_dim=4.0),
    }
    for words, ensemble in given.items():
        run = simulated(dt.Problem(ridge=0.1), ensemble)
        theory = dt.exact_error(run.problem, run.realized(ensemble))
        words = f"{SMALL} --ridge 0.1 --n-members 2 --scheme {words}"
        check_forms(words, run.compare(theory, ensemble), capsys)


def test_training_may_stop_at_times(capsys: Capture) -> None:
    words = "--features-per-dim 0.5,2 --ridge 0 --n-members 1,inf --times 0,1,inf"
    problem = dt.Problem(features_per_dim=[[0.5], [2.0]], ridge=0.0)
    run = simulated(problem, times=[0.0, 1.0, math.inf])
    assert run.times is not None
    members = np.array([[1.0], [math.inf]])
    expected = run.compare(dt.gradient_flow(run.problem, run.times, members), members)
    assert expected.simulated.shape == (2, 2, 3)
    check_forms(f"{SMALL} {words}", expected, capsys)
    for scheme, flag in (("divide", "--theory"), ("bootstrap", "--no-theory")):
        assert main([*SMALL.split(), "--scheme", scheme, "--times", "1", flag]) == 0


def test_table_has_a_line_for_every_part(capsys: Capture) -> None:
    text = lines(f"{SMALL} --test-noise 0.5 --n-members 1,inf", capsys)
    heads = [line.split() for line in text]
    first = heads.index(["K", "part", "simulated", "theory", "z"]) + 1
    assert len(text[first:]) == 2 * 6 + 1
    assert all("±" in line for line in text[first:-1])
    assert text[-1].startswith("Simulation and theory differ by at most")
    assert max(map(len, text)) <= 80


def test_errors_of_simulations_name_the_argument(capsys: Capture) -> None:
    cases = [
        ("simulate", "Missing option '--dim'"),
        ("simulate --dim x", "dim must"),
        ("simulate --dim 2.5", "dim must"),
        ("simulate --dim 12 --n-data x", "n_data must be a whole number, got 'x'"),
        (f"{SMALL} --model deep", "model must"),
        (f"{SMALL} --scheme both", "scheme must"),
        (f"{SMALL} --scheme divide -K 1,2", "n_members must be one number"),
        (f"{SMALL} --scheme subsample --fraction 0.5,1", "fraction must be one number"),
        (f"{SMALL} --scheme bootstrap --times 1", "scheme must"),
        (f"{SMALL} --snr 1 --noise 1", "snr must"),
        (f"{SMALL} --snr 1,2", "snr must be one number"),
        (f"{SMALL} --times -1", "times must"),
        (f"{SMALL} --ridge inf", "ridge must"),
        (f"{SMALL} --n-data 1", "n_data must"),
        (f"{SMALL} --device moon", "device must"),
    ]
    check_errors(cases, capsys)
    message = error_message(f"{SMALL} --scheme bootstrap --times 1".split(), capsys)
    assert "--no-theory" in message


# --- sweep ---------------------------------------------------------------------------------------

FLAGS = "--ridge 0.1,1.0 --dim 12 --n-data 2 --n-init 2 --workers 1 --quiet"
OPTIONS: dict[str, Any] = {
    "widths": [3, 6],
    "laziness": [2.0, math.inf],
    "ensemble": 3,
    "depth": 3,
    "max_steps": 20,
    "loss": "squared",
    "device": "cpu",
    "progress": False,
}
STORE = "k.sqlite"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, LazyCurve]:
    """A store with ensembles of networks, and their curve."""
    path = tmp_path_factory.mktemp("networks") / STORE
    return path, dt.lazy_curve(small_data(10), store=path, **OPTIONS)


@pytest.fixture
def curve(folder: Path, networks: tuple[Path, LazyCurve]) -> LazyCurve:
    """The curve; its store is copied into the current folder."""
    shutil.copy(networks[0], folder)
    return networks[1]


def small_sweep(dim: Any) -> dt.Sweep:
    return dt.Sweep(dt.Problem(), dim=dim, n_data=2, n_init=2)


def finish(sweep: dt.Sweep, store: str = STORE) -> None:
    sweep.run(store, executor=AtOnce(), progress=False)


@pytest.mark.usefixtures("folder")
def test_a_finished_sweep_has_a_status_a_table_and_checksums(capsys: Capture) -> None:
    text = "\n".join(lines(f"sweep run grid.sqlite {FLAGS}", capsys))
    sweep = dt.Sweep(dt.Problem(ridge=[0.1, 1.0]), dim=12, n_data=2, n_init=2)
    result = sweep.results("grid.sqlite")
    assert (text, result.done) == (str(result), 2)
    for words in (f"sweep run grid.sqlite {FLAGS}", "sweep status grid.sqlite"):
        check_forms(words, result, capsys)
    for name in ("out.csv", "out.parquet"):
        assert lines(f"sweep export grid.sqlite {name}", capsys) == [name]
        assert Path(name).stat().st_size > 0
    verified = lines("sweep verify grid.sqlite", capsys)
    assert verified == ["2 rows of grid.sqlite are undamaged"]
    content = Path("grid.sqlite").read_bytes()
    position = content.index(b'"record":')
    Path("grid.sqlite").write_bytes(content[:position] + b"R" + content[position + 1 :])
    assert "row" in error_message(["sweep", "verify", "grid.sqlite"], capsys)


@pytest.mark.usefixtures("folder")
def test_every_flag_reaches_the_sweep() -> None:
    words = (
        "sweep run grid.sqlite --workers 1 --quiet --features-per-dim 0.5:2:log:3 --ridge 0.1,1 "
        "--snr 2 --activation abs --dim 10,12 --seed 0:1:linear:2 --model features,gaussian "
        "--n-data 3 --n-init 2 -K 2,inf --scheme ensemble,subsample --fraction 0.5 --no-center"
    )
    assert main(words.split()) == 0
    problem = dt.Problem(
        features_per_dim=[[0.5], [1.0], [2.0]], ridge=[[0.1, 1.0]], noise=0.5, activation="abs"
    )
    expected = dt.Sweep(
        problem,
        dim=[10, 12],
        seed=[0, 1],
        model=["features", "gaussian"],
        n_data=3,
        n_init=2,
        ensembles=[
            one for K in (2, math.inf) for one in (dt.Ensemble(K), dt.Subsample(K, fraction=0.5))
        ],
        center=False,
    )
    assert dt.Sweep.from_store("grid.sqlite") == expected


@pytest.mark.usefixtures("folder")
def test_failed_cells_are_reported_and_tried_again(capsys: Capture) -> None:
    name = small_sweep(dim=[12, 10_000_000]).hash[:12]
    run = "run grid.sqlite --dim 12,10_000_000 --n-data 2 --n-init 2"
    for words in (run, f"retry grid.sqlite --sweep {name}"):
        assert main(f"sweep {words} --workers 1 --quiet".split()) == 1
        out, error = capsys.readouterr()
        assert re.search(r"Cells that failed\ncells +message\n +1 +MemoryError: Unable to", out)
        assert error.startswith("1 of 2 cells failed")
        assert error.endswith(f"doubletrouble sweep retry grid.sqlite --sweep {name}\n")


@pytest.mark.usefixtures("folder")
def test_a_store_of_several_sweeps_needs_a_hash(capsys: Capture) -> None:
    sweeps = [small_sweep(dim) for dim in (10, 11)]
    names = [sweep.hash[:12] for sweep in sweeps]
    for sweep in sweeps:
        finish(sweep)
    text = "\n".join(lines(f"sweep status {STORE}", capsys))
    assert all(word in text for word in (*names, "dim 10", "dim 11"))
    result = json_result(f"sweep status {STORE}", capsys)["sweeps"]
    assert [row["sweep"] for row in result] == names
    for words in (["retry", STORE], ["export", STORE, "a.csv"]):
        message = error_message(["sweep", *words], capsys)
        assert message.startswith("sweep must")
        assert all(name in message for name in names)
    check_forms(f"sweep status {STORE} --sweep {names[1][:6]}", sweeps[1].results(STORE), capsys)


@pytest.mark.usefixtures("curve")
def test_errors_of_sweeps_name_the_argument(capsys: Capture) -> None:
    Path("text.sqlite").write_text("dim = 12")
    Store.open("empty.sqlite").close()
    finish(small_sweep(dim=10), "sweeps")
    cases = [
        ("sweep run", "Missing argument"),
        ("sweep go", "No such command 'go'"),
        ("sweep run grid.sqlite --n-data 2", "Missing option '--dim'"),
        ("sweep run grid.sqlite --dim 10 --ridge=-1", "ridge must"),
        ("sweep run grid.sqlite --dim 10 --model deep", "model must"),
        ("sweep run grid.sqlite --dim 10 --seed x", "seed must"),
        ("sweep run grid.sqlite --dim 10 --noise-mixture 1:0.5", "noise must"),
        ("sweep run grid.sqlite --dim 10 --workers 0", "workers must"),
        ("sweep run grid.sqlite --dim 10 --workers x", "workers must be a whole number, got 'x'"),
        ("sweep run grid.sqlite --dim 10 --scheduler tcp://127.0.0.1:1", "scheduler must"),
        ("sweep run text.sqlite --dim 10", "store must"),
        ("sweep status none.sqlite", "store must"),
        ("sweep status empty.sqlite", "store must"),
        ("sweep export none.sqlite out.csv", "store must"),
        ("sweep retry none.sqlite", "store must"),
        ("sweep export sweeps t.txt", "path must"),
        ("lazy --stored sweeps", "store must hold ensembles of networks"),
        ("lazy --stored none.sqlite", "store must"),
        (f"lazy --stored {STORE} --seed 1", "stored must be given without seed"),
        (f"sweep status {STORE}", "store must hold a sweep"),
        (f"sweep retry {STORE}", "store must hold a sweep"),
    ]
    check_errors(cases, capsys)
    assert Path("text.sqlite").read_text() == "dim = 12"


# --- stores of networks --------------------------------------------------------------------------


@pytest.mark.usefixtures("curve")
def test_stored_ensembles_are_those_of_the_curve(capsys: Capture) -> None:
    curve = dt.lazy_curve(small_data(10), store=STORE, **OPTIONS)
    check_forms(f"lazy --stored {STORE}", LazyCurve(runs=curve.runs), capsys)
    rows = csv_rows(f"lazy --stored {STORE}", capsys)
    for row in rows:
        assert (row["data"], row["loss"], row["most_steps"]) == ("small", "squared", "20")
    assert [row["optimizer"] for row in rows] == ["adam", "adam", "exact", "exact"]
    assert [row["learning_rate"] for row in rows] == ["0.1", "0.1", "", ""]


def test_a_store_may_hold_sweeps_and_networks(curve: LazyCurve, capsys: Capture) -> None:
    sweep = small_sweep(dim=10)
    finish(sweep)
    check_forms(f"sweep status {STORE}", sweep.results(STORE), capsys)
    check_forms(f"lazy --stored {STORE}", curve, capsys)


@pytest.mark.usefixtures("curve")
def test_settings_in_which_stored_ensembles_differ_are_printed(capsys: Capture) -> None:
    words = f"lazy --stored {STORE}"
    assert "depth" not in "\n".join(lines(words, capsys))
    dt.lazy_curve(small_data(10), store=STORE, **{**OPTIONS, "depth": 4})
    assert "depth" in "\n".join(lines(words, capsys))


def test_complete_store_may_be_read_only(curve: LazyCurve, capsys: Capture) -> None:
    Path(STORE).chmod(0o444)
    check_forms(f"lazy --stored {STORE}", curve, capsys)
    again = dt.lazy_curve(small_data(10), store=STORE, **OPTIONS)
    assert again.to_frame().equals(curve.to_frame())
    with pytest.raises(ValueError, match=r"^store must be writable"):
        dt.lazy_curve(small_data(10), store=STORE, **{**OPTIONS, "seed": 1})
    assert [path.name for path in Path().glob("k.*")] == [STORE]


def test_reading_a_store_of_networks_does_not_need_torch(curve: LazyCurve) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from doubletrouble.cli import main\n"
        f"sys.exit(main(['lazy', '--stored', '{STORE}', '--csv']))"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=300)
    assert len(done.stdout.splitlines()) == 1 + len(curve.runs)
