"""sweep status and export of stores with ensembles of networks, alone or with sweeps."""

import csv
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.networks import LazyCurve
from tests.cli.results import Capture, error_message, json_result
from tests.networks.literal import small_data
from tests.runs.work import AtOnce

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
SWEEP = dt.Sweep(dim=10, n_data=2, n_init=2)
STORE = "k.sqlite"


@pytest.fixture
def curve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LazyCurve:
    monkeypatch.chdir(tmp_path)
    return dt.lazy_curve(small_data(10), store=STORE, **OPTIONS)


def listed(n_members: int = 3, widths: tuple[int, ...] = (3, 6)) -> dict[str, Any]:
    return {
        "ensembles": 2 * len(widths),
        "laziness": [2.0, "inf"],
        "width": list(widths),
        "n_members": n_members,
        "depth": 3,
        "data": "small",
        "loss": "squared",
        "seed": 0,
        "dtype": "float32",
    }


def test_status_lists_ensembles_of_networks(curve: LazyCurve, capsys: Capture) -> None:
    assert json_result(f"sweep status {STORE}", capsys) == {"store": STORE, "networks": [listed()]}
    dt.lazy_curve(small_data(10), store=STORE, **{**OPTIONS, "ensemble": 2, "widths": 4})
    result = json_result(f"sweep status {STORE}", capsys)["networks"]
    assert sorted(result, key=lambda group: group["n_members"]) == [listed(2, (4,)), listed()]
    assert main(["sweep", "status", STORE]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "k.sqlite: ensembles of networks"
    assert lines[1].split()[:5] == ["ensembles", "α", "w", "K", "L"]
    assert any(line.split()[:6] == ["4", "2", "inf", "3", "6", "3"] for line in lines)
    assert curve.runs


def test_export_is_the_table_of_the_curve(curve: LazyCurve, capsys: Capture) -> None:
    for name in ("t.csv", "t.json", "t.parquet"):
        assert main(["sweep", "export", STORE, name]) == 0
        assert capsys.readouterr() == (f"{name}\n", "")
    expected = curve.table()
    with Path("t.csv").open(newline="") as file:
        text = list(csv.DictReader(file))
    content = json.loads(Path("t.json").read_text(), parse_constant=pytest.fail)
    for row, line, fields in zip(expected, text, content, strict=True):
        assert {name: float(line[name]) for name in row} == row
        assert {name: float(fields[name]) for name in row} == row
        assert (line["data"], line["loss"], line["most_steps"]) == ("small", "squared", "20")
    assert [line["optimizer"] for line in text] == ["adam", "adam", "exact", "exact"]
    assert [fields["learning_rate"] for fields in content] == [0.1, 0.1, None, None]


def test_store_with_sweeps_and_networks(curve: LazyCurve, capsys: Capture) -> None:
    SWEEP.run(STORE, executor=AtOnce(), progress=False)
    result = json_result(f"sweep status {STORE}", capsys)
    assert (result["done"], result["networks"]) == (1, [listed()])
    assert main(["sweep", "status", STORE]) == 0
    out = capsys.readouterr().out
    assert SWEEP.hash[:12] in out
    assert "and ensembles of networks\n" in out
    assert main(["sweep", "export", STORE, "t.csv"]) == 0
    assert capsys.readouterr().err == (
        "k.sqlite holds 4 ensembles of networks as well: --networks exports them\n"
    )
    assert "error_total" in Path("t.csv").read_text()
    assert main(["sweep", "export", STORE, "n.csv", "--networks"]) == 0
    assert len(Path("n.csv").read_text().splitlines()) == 1 + len(curve.runs)
    capsys.readouterr()
    dt.Sweep(dim=11, n_data=2, n_init=2).run(STORE, executor=AtOnce(), progress=False)
    assert main(["sweep", "status", STORE, "--json"]) == 0
    *sweeps, networks = json.loads(capsys.readouterr().out)
    assert len(sweeps) == 2
    assert networks == {"store": STORE, "networks": [listed()]}


def test_complete_store_may_be_read_only(curve: LazyCurve, capsys: Capture) -> None:
    Path(STORE).chmod(0o444)
    assert json_result(f"sweep status {STORE}", capsys)["networks"] == [listed()]
    assert main(["sweep", "export", STORE, "t.csv"]) == 0
    again = dt.lazy_curve(small_data(10), store=STORE, **OPTIONS)
    assert again.table() == curve.table()
    with pytest.raises(ValueError, match=r"^store must be writable, got k.sqlite, which is read-"):
        dt.lazy_curve(small_data(10), store=STORE, **{**OPTIONS, "seed": 1})
    assert [path.name for path in Path().glob("k.*")] == [STORE]


def test_reading_does_not_need_torch(curve: LazyCurve) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from doubletrouble.cli import main\n"
        f"sys.exit(main(['sweep', 'status', '{STORE}']) + main(['sweep', 'export', '{STORE}', "
        "'t.csv']))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
    assert len(Path("t.csv").read_text().splitlines()) == 1 + len(curve.runs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"export {STORE} t.txt", "path must end in .csv, .parquet or .json, got 't.txt'"),
        (f"export {STORE} t.csv --networks --sweep ab", "sweep must not be given with networks"),
        ("export sweeps t.csv --networks", "store must hold ensembles of networks, got sweeps"),
        (f"retry {STORE}", f"store must hold a sweep of simulations, got {STORE}, which holds 4"),
    ],
)
@pytest.mark.usefixtures("curve")
def test_invalid_arguments(words: str, message: str, capsys: Capture) -> None:
    SWEEP.run("sweeps", executor=AtOnce(), progress=False)
    assert error_message(["sweep", *words.split()], capsys).startswith(message)
