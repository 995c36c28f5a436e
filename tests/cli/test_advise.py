"""advise on the command line: the library's numbers, in counts where counts are given."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from tests.cli.results import Capture, error_message, json_result


def test_json_equals_the_library(capsys: Capture) -> None:
    result = json_result(
        "advise --features-per-dim 1.2 --noise 0.5 --budget 3 --n-members 2", capsys
    )
    problem = dt.Problem(features_per_dim=1.2, noise=0.5)
    expected = dt.advise(problem, 2, budget=3).to_dict()
    assert result == json.loads(json.dumps(expected))


def test_counts_are_read_and_printed(capsys: Capture) -> None:
    words = "--n-features 240 --n-samples 200 --dim 200 --snr 2"
    result = json_result(f"advise {words} --budget 1000", capsys)
    advice = dt.advise(dt.Problem(features_per_dim=1.2, noise=0.5), budget=5.0)
    assert result["budget"] == 1000
    assert result["unit"] == "one"
    rows = {row["name"]: row for row in result["options"]}
    assert rows["now"]["features"] == 240
    assert rows["collect"]["samples"] == 400
    assert rows["best"]["features"] == pytest.approx(1000)
    assert rows["best"]["error_total"] == pytest.approx(advice.best.total)
    assert result["marginal"]["sample"] == pytest.approx(advice.marginal.sample / 200)
    training = json_result(f"advise {words} --cost training --budget {240 * 200 * 200}", capsys)
    assert training["budget"] == pytest.approx(240 * 200 * 200)
    expected = dt.advise(dt.Problem(features_per_dim=1.2, noise=0.5), cost="training")
    best = training["options"][-1]
    assert best["ideal_error_total"] == pytest.approx(expected.best.total)
    assert best["ideal_features"] == pytest.approx(200 * expected.best.width)
    assert best["features"] == pytest.approx(round(best["features"]))
    assert best["error_total"] == pytest.approx(expected.best.total, rel=1e-2)


def test_allocations_of_counts_are_whole(capsys: Capture) -> None:
    words = "--n-features 40 --n-samples 30 --dim 35 --budget 40"
    for row in json_result(f"advise {words}", capsys)["options"]:
        if row["features"] != "inf":
            assert row["features"] == pytest.approx(round(row["features"]), rel=1e-9)
        if row["scheme"] == "divide":
            assert row["n_members"] <= 30
    few = json_result("advise --n-samples 200 --dim 200 --budget 1000 --n-members 3", capsys)
    assert few["options"][0]["features"] == 333


def test_the_text_is_table_bars_and_summary(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    assert main(["advise", "--features-per-dim", "1.2", "--budget", "inf"]) == 0
    advice = dt.advise(dt.Problem(features_per_dim=1.2), budget=math.inf)
    expected = f"{advice.table()}\n\n{advice.bars()}\n\n{advice.summary}"
    assert capsys.readouterr().out.split() == expected.split()


def test_csv_has_a_row_for_every_option(capsys: Capture) -> None:
    assert main(["advise", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    advice = dt.advise(dt.Problem())
    assert [row["name"] for row in rows] == [option.name for option in advice.options]
    assert [float(row["error_total"]) for row in rows] == [
        option.total for option in advice.options
    ]


@pytest.mark.parametrize(
    ("words", "P"),
    [
        ("--budget 1000", 1000.0),
        ("--budget 1000 --n-members 4", 250.0),
        ("--budget 1000 --n-members 4 --scheme divide", 250.0),
        (f"--budget {500 * 200 * 200} --cost training", 500.0),
        (f"--budget {3 * 200 * 50 * 50} --cost training --n-members 3", 50.0),
        (f"--budget {200 * 70 * 50} --cost training --n-members 4 --scheme divide", 70.0),
        ("--budget inf", "inf"),
    ],
)
def test_the_default_features_spend_the_budget(words: str, P: float | str, capsys: Capture) -> None:
    result = json_result(f"advise --n-samples 200 --dim 200 --snr 3 {words}", capsys)
    now = result["options"][0]
    assert now["features"] == (P if isinstance(P, str) else pytest.approx(P))
    spent = now["training_cost" if result["cost"] == "training" else "total_features"]
    assert spent == (P if isinstance(P, str) else pytest.approx(result["budget"]))
    again = json_result(
        f"advise --n-samples 200 --dim 200 --snr 3 {words} --n-features {P}", capsys
    )
    assert again["summary"] == result["summary"]


@pytest.mark.parametrize("ending", ["png", "pdf", "svg", "PNG"])
def test_a_chart_is_written(ending: str, tmp_path: Path, capsys: Capture) -> None:
    chart = tmp_path / f"advice.{ending}"
    assert main(["advise", "--ridge", "0", "--features-per-dim", "1", "--chart", str(chart)]) == 0
    assert chart.stat().st_size > 1000
    assert capsys.readouterr().err == f"{chart} written\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("advise --ridge 1,2", "ridge must be"),
        ("advise --budget 1,2", "budget must be"),
        ("advise --budget 0", "budget must be"),
        ("advise --budget much", "budget must be"),
        ("advise --cost money", "cost must be"),
        ("advise --scheme both", "scheme must be"),
        ("advise --scheme bootstrap", "scheme must be"),
        ("advise --scheme subsample", "fraction must be"),
        ("advise --n-members 1,2", "n_members must be"),
        ("advise --snr 1 --noise 1", "noise must not be"),
        ("advise --snr -1", "snr must be"),
        ("advise --chart bars.jpg", "chart must end in"),
        ("advise --json --csv", "json must be"),
        ("advise --n-samples 2 --dim 3", "n_features, n_samples, dim must be"),
        ("advise --n-samples 2 --dim 3 --budget 1 --n-members inf", "n_features must be"),
        ("advise --n-samples 2,3 --dim 3 --budget 1", "n_samples must be"),
    ],
)
def test_an_error_is_one_line_and_code_two(words: str, message: str, capsys: Capture) -> None:
    assert error_message(words.split(), capsys).startswith(message)


def test_an_unwritable_chart_is_an_error(tmp_path: Path, capsys: Capture) -> None:
    assert main(["advise", "--chart", str(tmp_path / "none" / "bars.png")]) == 2
    assert "bars.png" in capsys.readouterr().err


def test_the_flag_cost_completes_to_the_costs_of_the_library() -> None:
    from doubletrouble.advice import COSTS
    from doubletrouble.cli import _theory

    assert _theory._COSTS == COSTS
