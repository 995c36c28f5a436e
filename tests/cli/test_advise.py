"""advise on the command line: the library's numbers, in counts where counts are given."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

import doubletrouble as dt
from doubletrouble.cli.main import main
from tests.cli.answers import Capture, answer, refusal


def test_json_is_the_librarys(capsys: Capture) -> None:
    found = answer("advise --features-per-dim 1.2 --noise 0.5 --budget 3 --n-members 2", capsys)
    problem = dt.Problem(features_per_dim=1.2, noise=0.5)
    expected = dt.advise(problem, 2, budget=3).to_dict()
    assert found == json.loads(json.dumps(expected))


def test_counts_go_in_and_out(capsys: Capture) -> None:
    words = "--n-features 240 --n-samples 200 --dim 200 --snr 2"
    found = answer(f"advise {words} --budget 1000", capsys)
    advice = dt.advise(dt.Problem(features_per_dim=1.2, noise=0.5), budget=5.0)
    assert found["budget"] == 1000
    assert found["unit"] == "one"
    rows = {row["name"]: row for row in found["options"]}
    assert rows["now"]["features"] == 240
    assert rows["collect"]["samples"] == 400
    assert rows["best"]["features"] == pytest.approx(1000)
    assert rows["best"]["error_total"] == pytest.approx(advice.best.total)
    assert found["marginal"]["sample"] == pytest.approx(advice.marginal.sample / 200)
    training = answer(f"advise {words} --cost training --budget {240 * 200 * 200}", capsys)
    assert training["budget"] == pytest.approx(240 * 200 * 200)
    expected = dt.advise(dt.Problem(features_per_dim=1.2, noise=0.5), cost="training")
    best = training["options"][-1]
    assert best["ideal_error_total"] == pytest.approx(expected.best.total)
    assert best["ideal_features"] == pytest.approx(200 * expected.best.width)
    assert best["features"] == pytest.approx(round(best["features"]))  # of what can be done
    assert best["error_total"] == pytest.approx(expected.best.total, rel=1e-2)


def test_counts_that_are_advised_are_whole(capsys: Capture) -> None:
    words = "--n-features 40 --n-samples 30 --dim 35 --budget 40"
    for row in answer(f"advise {words}", capsys)["options"]:
        if row["features"] != "inf":
            assert row["features"] == pytest.approx(round(row["features"]), rel=1e-9)
        if row["scheme"] == "divide":
            assert row["n_members"] <= 30
    few = answer("advise --n-samples 200 --dim 200 --budget 1000 --n-members 3", capsys)
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
def test_a_budget_can_take_the_place_of_the_features(
    words: str, P: float | str, capsys: Capture
) -> None:
    found = answer(f"advise --n-samples 200 --dim 200 --snr 3 {words}", capsys)
    now = found["options"][0]
    assert now["features"] == (P if isinstance(P, str) else pytest.approx(P))
    spent = now["training_cost" if found["cost"] == "training" else "total_features"]
    assert spent == (P if isinstance(P, str) else pytest.approx(found["budget"]))
    again = answer(f"advise --n-samples 200 --dim 200 --snr 3 {words} --n-features {P}", capsys)
    assert again["summary"] == found["summary"]


@pytest.mark.parametrize("ending", ["png", "pdf", "svg", "PNG"])
def test_a_chart_is_written(ending: str, tmp_path: Path, capsys: Capture) -> None:
    chart = tmp_path / f"advice.{ending}"
    assert main(["advise", "--ridge", "0", "--features-per-dim", "1", "--chart", str(chart)]) == 0
    assert chart.stat().st_size > 1000
    assert capsys.readouterr().err == f"{chart} written\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("advise --ridge 1,2", "ridge must be one number here, got 2 of them"),
        ("advise --budget 1,2", "budget must be one number here, got 2 of them"),
        ("advise --budget 0", "budget must be in [1e-40, inf], got 0.0"),
        ("advise --budget much", "budget must be a number"),
        ("advise --cost money", "cost must be one of features, training, got 'money'"),
        ("advise --scheme both", "scheme must be one of ensemble, divide"),
        ("advise --scheme bootstrap", "ensemble must be one of Ensemble, Divide for advise, got"),
        ("advise --scheme subsample", "fraction must be given for scheme 'subsample', got None"),
        ("advise --n-members 1,2", "n_members must be one number here, got 2 of them"),
        ("advise --snr 1 --noise 1", "noise must be left out beside snr, got '1'"),
        ("advise --snr -1", "snr must be in [1e-06, 1e+06] or inf, got -1.0"),
        ("advise --chart bars.jpg", "chart must end in .png, .pdf, .svg, got 'bars.jpg'"),
        ("advise --json --csv", "json must be left out where csv is given, got both"),
        ("advise --n-samples 2 --dim 3", "n_features, n_samples, dim must be given together"),
        ("advise --n-samples 2 --budget 3", "n_features, n_samples, dim must be given together"),
        (
            "advise --n-samples 2 --dim 3 --budget 1 --n-members inf",
            "n_features must be given for n_members inf",
        ),
        ("advise --n-samples 2,3 --dim 3 --budget 1", "n_samples must be one number here"),
        ("advise --dim 3", "n_features, n_samples, dim must be given together, got dim alone"),
    ],
)
def test_an_error_is_one_sentence_and_code_two(words: str, said: str, capsys: Capture) -> None:
    assert refusal(words.split(), capsys).startswith(said)


def test_a_chart_that_cannot_be_written_is_said(tmp_path: Path, capsys: Capture) -> None:
    assert main(["advise", "--chart", str(tmp_path / "none" / "bars.png")]) == 2
    assert "bars.png" in capsys.readouterr().err
