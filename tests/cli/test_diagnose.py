"""diagnose: the numbers of the library, from a table in a file and the path of a class."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import doubletrouble as dt
from doubletrouble.cli import main
from tests.cli.results import CalledError, Capture, check_errors, csv_rows, json_result, lines, stop

TREE = "sklearn.tree.DecisionTreeRegressor"
RIDGE = "sklearn.linear_model.Ridge"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["city"] = rng.choice(["Bern", "Oslo", "Rome"], 60)
    frame["y"] = frame["a"] + (frame["city"] == "Oslo") + 0.3 * rng.normal(size=60)
    return frame.round(6)  # read as they are by any version of pandas


@pytest.fixture
def file(table: pd.DataFrame, tmp_path: Path) -> Path:
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def encoded(table: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(table[["a", "b", "city"]], dtype=float)


def test_every_form_has_the_numbers_of_the_library(
    table: pd.DataFrame, file: Path, capsys: Capture
) -> None:
    depth = ["--params", '{"max_depth": 3}', "--alternative", 'deep={"max_depth": null}']
    table_and_model = ["diagnose", str(file), "--target=y", "--one-hot=city", "--model", TREE]
    words = [*table_and_model, *depth, "--seed", "2", "--quiet"]
    expected = dt.diagnose(
        DecisionTreeRegressor(max_depth=3),
        encoded(table),
        table["y"],
        alternatives={"deep": DecisionTreeRegressor()},
        seed=2,
        progress=False,
    )
    found = json_result(words, capsys)
    known = json.loads(expected.to_json())
    assert found["notes"].pop().startswith("Columns of classes are one-hot encoded")
    assert found == known
    rows = {row["part"] or row["option"]: row for row in csv_rows(words, capsys)}
    assert float(rows["total"]["error"]) == expected.error().total.value
    assert rows["total"]["gain"] == ""
    assert float(rows["deep"]["gain"]) == float(expected.advise()["deep"].gain)  # type: ignore[arg-type]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert text.startswith(str(expected).partition("\n\nnote: ")[0].partition("Best change")[0])
    assert "one-hot encoded, as 3: 'city'" in text


def test_options_are_forwarded(
    table: pd.DataFrame, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("doubletrouble.learners.diagnose", stop)
    table.assign(site=np.arange(60) // 3).to_parquet(file.with_suffix(".parquet"))
    words = [
        *["diagnose", str(file.with_suffix(".parquet")), "--target", "y", "--model", TREE],
        *["--one-hot", "city"],
        *["--groups", "site", "--drop", "b", "--noise", "0.3", "--seed", "4", "--workers", "2"],
        *["--measure", "squared"],
        *["--store", "fits.sqlite", "--quiet", "--alternative", f'ridge={RIDGE} {{"alpha": 10}}'],
    ]
    with pytest.raises(CalledError) as called:
        main(words)
    model, X, y, options = called.value.args
    assert isinstance(model, DecisionTreeRegressor)
    pd.testing.assert_frame_equal(X, encoded(table).drop(columns="b"))
    np.testing.assert_array_equal(y, table["y"])
    np.testing.assert_array_equal(options.pop("groups"), np.arange(60) // 3)
    assert options.pop("alternatives")["ridge"].alpha == 10
    assert options == {
        "noise": 0.3,
        "measure": "squared",
        "seed": 4,
        "workers": 2,
        "store": Path("fits.sqlite"),
        "confidence": 0.9,
        "progress": False,
    }


def test_target_of_a_classifier_has_classes(
    table: pd.DataFrame, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    chart = tmp_path / "chart.svg"
    words = f"diagnose {file} --target city --model sklearn.tree.DecisionTreeClassifier --quiet"
    text = lines(f"{words} --chart {chart}", capsys)
    assert any(line.startswith("Brier score") for line in text)
    assert chart.stat().st_size > 0
    inputs = table[["a", "b", "y"]]
    expected = dt.diagnose(DecisionTreeClassifier(), inputs, table["city"], progress=False)
    assert json_result(words, capsys)["parts"] == json.loads(expected.to_json())["parts"]


def test_missing_values_need_a_model_that_accepts_them(
    table: pd.DataFrame, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    holes = table.copy()
    holes.loc[3, "a"] = np.nan
    holes.loc[5, "city"] = None
    holes.to_csv(file, index=False)
    words = f"diagnose {file} --target y --one-hot city"
    tree = f"{words} --model sklearn.ensemble.HistGradientBoostingRegressor"
    message = (
        "values must not be missing, got 2 rows with 1 in column 'a' (first in line 5), "
        "1 in column 'city' (first in line 7): leave out the columns"
    )
    check_errors(
        [
            (f"{words} --model {RIDGE}", message),
            (f"{tree} --alternative ridge={RIDGE}", message),
            (f"{tree.replace('target y', 'target a')}", "values must not be missing, got 1 row"),
        ],
        capsys,
    )
    monkeypatch.setattr("doubletrouble.learners.diagnose", stop)
    with pytest.raises(CalledError) as called:
        main(tree.split())
    X = called.value.args[1]
    assert np.isnan(X.loc[3, "a"])
    assert X.loc[5, "city_nan"] == 1  # a class of its own


def test_invalid_input_is_named(table: pd.DataFrame, file: Path, capsys: Capture) -> None:
    table.assign(name=[f"n{k}" for k in range(60)]).to_csv(file.with_name("names.csv"), index=False)
    file.with_name("empty.csv").write_text("")
    dated = table.assign(
        when=pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(60) // 9, "D")
    )
    dated.to_parquet(file.with_name("dated.parquet"))
    words = ["diagnose", str(file), "--target", "y", "--one-hot", "city"]
    fit = [*words, "--model", RIDGE]
    cases: list[tuple[Any, str]] = [
        (["diagnose", "none.csv", *fit[2:]], "file must"),
        (["diagnose", str(file.with_name("empty.csv")), *fit[2:]], "file must"),
        (["diagnose", str(file.with_name("names.csv")), *fit[2:]], "inputs must be numbers"),
        (["diagnose", str(file.with_name("dated.parquet")), *fit[2:]], "inputs must be numbers"),
        ([*fit[:2], "--target", "z", *fit[4:]], "target must be one of the columns 'a'"),
        ([*fit[:2], "--target", "city", *fit[6:]], "target must be numbers, got"),
        ([*fit, "--groups", "z"], "groups must"),
        ([*fit, "--groups", "y"], "groups must"),
        ([*fit, "--drop", "z"], "drop must"),
        ([*words, "--model", "Ridge"], "model must be the import path"),
        ([*words, "--model", "sklearn.linear_model.Rigde"], "model must be importable"),
        ([*words, "--model", "no_module.Ridge"], "model must be importable"),
        ([*words, "--model", "sklearn.base.clone"], "model must be an estimator class"),
        ([*words, "--model", "pathlib.Path"], "model must be an estimator class"),
        ([*fit, "--params", "alpha=1"], "params must be a JSON object"),
        ([*fit, "--params", "[1]"], "params must be a JSON object"),
        ([*fit, "--params", '{"beta": 1}'], "params must be arguments of Ridge"),
        ([*fit, "--alternative", RIDGE], "alternative must"),
        ([*fit, "--alternative", f"r={RIDGE} {{"], "alternative must be a JSON object"),
        ([*fit, "--alternative", f"r={RIDGE}", "--alternative", f"r={RIDGE}"], "alternative must"),
        ([*fit, "--noise", "-1"], "noise must"),
        ([*fit, "--seed", "-1"], "seed must"),
        ([*fit, "--workers", "0"], "workers must"),
        ([*fit, "--confidence", "2"], "confidence must"),
        ([*fit, "--chart", "chart.txt"], "chart must"),
    ]
    check_errors(cases, capsys)
