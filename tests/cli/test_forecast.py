"""forecast: the numbers of the library, from a table in a file."""

import csv
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.tables import read_table
from tests.cli.results import CalledError, Capture, check_errors, csv_rows, json_result, lines, stop


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(100 + 7 * rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    frame["city"] = rng.choice(["Bern", "Oslo"], 60)
    frame["y"] = 50 + frame["a"] + 5 * (frame["city"] == "Oslo") + rng.normal(size=60)
    return frame


@pytest.fixture
def file(table: pd.DataFrame, tmp_path: Path) -> Path:
    table.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def inputs(table: pd.DataFrame) -> pd.DataFrame:
    return pd.get_dummies(table[["a", "b", "c", "city"]], dtype=float)


def test_every_form_has_the_numbers_of_the_library(
    table: pd.DataFrame, file: Path, capsys: Capture
) -> None:
    f = dt.forecast(inputs(table), table["y"])
    expected = f.error(n_features=[[30], [60]], ridge=1e-3, ensemble=1, n_samples=[60, 120])
    words = f"forecast {file} --quiet --target y --one-hot city"
    grid = f"{words} --n-features 30,60 --n-samples 60,120"
    found, rows = json_result(grid, capsys)["points"], csv_rows(grid, capsys)
    settings = [(row["n_features"], row["n_samples"]) for row in found]
    assert settings == [(30, 60), (30, 120), (60, 60), (60, 120)]
    for name, part in (*expected.parts.items(), ("total", expected.total)):
        for suffix, numbers in (("", part.value), ("_standard_error", part.standard_error)):
            column = [row[f"{name}{suffix}"] for row in found]
            np.testing.assert_allclose(column, np.ravel(numbers), rtol=1e-9)
            assert column == [float(row[f"{name}{suffix}"]) for row in rows]
    marks = [row.get("status") == "extrapolated" for row in found]
    assert marks == np.ravel(expected.extrapolated).tolist()
    document = json_result(words, capsys)
    assert [check["check"] for check in document["checks"]] == list(f.checks)
    assert document["noise"]["estimate"] == pytest.approx(f.noise.estimate)
    assert document["best_ridge"] == pytest.approx(f.best_ridge())
    assert [note.split()[0] for note in document["notes"]] == ["Columns", "Errors"]
    text = "\n".join(lines(words, capsys))
    assert text.startswith(str(f).partition("\nChecks")[0])
    assert max(map(len, text.splitlines())) <= 80


def test_all_columns_that_are_not_numbers_are_refused_at_once(
    table: pd.DataFrame, file: Path, capsys: Capture
) -> None:
    texts = {
        "when": [f"2020-01-{1 + k % 28}" for k in range(60)],
        "name": [f"n{k}" for k in range(60)],
        "a": np.where(table.index == 3, np.inf, table["a"]),
    }
    table.assign(**texts).to_csv(file, index=False)
    words = f"forecast {file} --quiet --target y"
    message = (
        "inputs must be numbers, got 'a' ('inf' in line 5, 1 of 60 values), "
        f"'city' ({table['city'][0]!r} in line 2, 2 classes), "
        "'when' ('2020-01-1' in line 2, 28 classes), 'name' ('n0' in line 2): "
        "leave them out with --drop 'a,city,when,name', "
        "or encode classes with --one-hot 'city,when'"
    )
    check_errors([(words, message)], capsys)
    found = json_result(f"{words} --drop a,name --drop when --one-hot city", capsys)
    assert found["dim"] == 4


def test_row_numbers_and_constants_are_left_out_with_a_note(
    table: pd.DataFrame, file: Path, capsys: Capture
) -> None:
    table.drop(columns="city").assign(d=1.0).to_csv(file)  # with the index
    words = f"forecast {file} --quiet --target y"
    found = json_result(words, capsys)
    assert found["dim"] == 3
    assert found["notes"][0] == (
        "Columns are left out unless --keep names them: 'Unnamed: 0' (numbers the rows), "
        "'d' (constant)."
    )
    kept = json_result([*words.split(), "--keep", "Unnamed: 0"], capsys)
    assert kept["dim"] == 4


def test_numbers_are_encoded_on_request(
    table: pd.DataFrame, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("doubletrouble.forecasting.forecast", stop)
    table.assign(zone=np.arange(60) % 5).to_csv(file, index=False)
    words = f"forecast {file} --quiet --target y --drop city --one-hot zone"
    with pytest.raises(CalledError) as called:
        main(words.split())
    zones = [f"zone_{k}" for k in range(5)]
    np.testing.assert_array_equal(called.value.args[0][zones], np.tile(np.eye(5), (12, 1)))


@pytest.mark.parametrize("targets", ["--target y,c", "--target y --target c"])
def test_several_targets_are_the_columns_of_y(
    table: pd.DataFrame, file: Path, capsys: Capture, targets: str
) -> None:
    words = f"forecast {file} --quiet {targets} --drop city"
    found = json_result(f"{words} --n-features 30", capsys)
    X = table[["a", "b"]]
    f = dt.forecast(X, table[["y", "c"]])
    total = found["parts"][-1]["error"]
    assert total == pytest.approx(f.error(n_features=30, ridge=1e-3).total.value, rel=1e-9)
    note = "Errors are in squared units of 'y', 'c', summed."
    assert json_result(words, capsys)["notes"][-1] == note


def test_quoted_headers_are_read(table: pd.DataFrame, file: Path, capsys: Capture) -> None:
    words = f"forecast {file} --quiet --target y --drop city"
    expected = json_result(words, capsys)
    named = table.set_axis((table.index + 1).astype(str))
    named.to_csv(file, index_label="", quoting=csv.QUOTE_NONNUMERIC)  # as write.csv of R
    assert file.read_text().startswith('"","a","b","c","city","y"\n"1",')
    found = json_result(words, capsys)
    note = found["notes"].pop(0)
    assert note.endswith("'Unnamed: 0' (numbers the rows).")
    assert found == expected
    table.to_csv(file, index=False, sep=";", quoting=csv.QUOTE_NONNUMERIC)  # as UCI's wine quality
    assert file.read_text().startswith('"a";"b";"c";"city";"y"\n')
    assert json_result(words, capsys) == expected


def test_advice_is_on_one_model(table: pd.DataFrame, file: Path, capsys: Capture) -> None:
    read = read_table(file)  # whose columns have the same order in memory
    f = dt.forecast(inputs(read), read["y"])
    advice = f.advise(n_features=40, ridge=0.01, ensemble=2, budget=300, cost="training")
    words = f"forecast {file} --quiet --target y --one-hot city --n-features 40 --ridge 0.01 -K 2"
    words += " --advise --budget 300 --cost training"
    assert json_result(words, capsys) == json.loads(advice.to_json())
    assert "\n".join(lines(words, capsys)) == str(advice)


def test_options_are_forwarded(
    table: pd.DataFrame, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("doubletrouble.forecasting.forecast", stop)
    table.assign(site=np.arange(60) // 2).to_parquet(file.with_suffix(".parquet"))
    words = [
        *["forecast", str(file.with_suffix(".parquet")), "--target", "y", "--drop", "city"],
        *["--groups", "site", "--noise", "0.3", "--seed", "4", "--activation", "tanh"],
        *["--no-scale", "--no-fit-intercept", "--confidence", "0.8", "--device", "cuda"],
        "--quiet",
    ]
    with pytest.raises(CalledError) as called:
        main(words)
    X, y, options = called.value.args
    np.testing.assert_array_equal(X, table[["a", "b", "c"]])
    np.testing.assert_array_equal(y, table["y"])
    np.testing.assert_array_equal(options.pop("groups"), np.arange(60) // 2)
    assert options == {
        "scale": False,
        "fit_intercept": False,
        "activation": "tanh",
        "noise": 0.3,
        "seed": 4,
        "confidence": 0.8,
        "device": "cuda",
        "progress": False,
    }


def test_repeated_rows_are_noted(table: pd.DataFrame, file: Path, capsys: Capture) -> None:
    pd.concat([table, table[:5]]).to_csv(file, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = json_result(f"forecast {file} --quiet --target y --drop city", capsys)
    assert found["notes"][0].startswith("5 rows of X are repeated")


@pytest.mark.parametrize("options", ["", "--ridge 0.01,0.1"])
def test_chart_is_written(file: Path, capsys: Capture, options: str) -> None:
    chart = file.with_suffix(".svg")
    lines(f"forecast {file} --quiet --target y --drop city {options} --chart {chart}", capsys)
    assert chart.stat().st_size > 0


def test_invalid_input_is_named(table: pd.DataFrame, file: Path, capsys: Capture) -> None:
    holes = table.copy()
    holes.loc[3, "a"] = np.nan
    others = {
        "holes": holes,
        "few": table[:10],
        "constant": table.assign(y=1.0),
    }
    for name, frame in others.items():
        frame.to_csv(file.with_name(f"{name}.csv"), index=False)
    words = f"forecast {file} --quiet --target y --drop city"
    other = {name: words.replace("data.csv", f"{name}.csv") for name in others}
    cases = [
        (
            other["holes"],
            "values must not be missing, got 1 row with 1 in column 'a' (first in line 5): "
            "leave out the columns with --drop, or the rows with --drop-missing",
        ),
        (other["few"], "y must have at least 20 rows"),
        (other["constant"], "y must not be constant"),
        (f"forecast {file} --quiet --target city", "target must be numbers, got"),
        (f"{words} --one-hot city", "one_hot must be columns of inputs, got 'city'"),
        (f"{words} --drop y", "drop must be columns of inputs, got 'y'"),
        (f"{words} --one-hot z", "one_hot must be one of the columns"),
        (f"{words} --keep y", "keep must be columns of inputs, got 'y'"),
        (f"{words} --drop a,b,c", "file must have columns of inputs that vary, got none"),
        (f"{words} --target z", "target must be one of the columns"),
        (f"{words} --groups z", "groups must"),
        (f"{words} --groups city", "groups must have at least 20"),
        (f"{words} --groups y", "groups must be another column"),
        (f"{words} --n-features 0.5", "n_features must"),
        (f"{words} --ridge -1", "ridge must"),
        (f"{words} --n-samples 2", "n_samples must"),
        (f"{words} --n-members 0", "n_members must"),
        (f"{words} --noise -1", "noise must"),
        (f"{words} --activation gelo", "activation must"),
        (f"{words} --n-features 9 --budget 100", "budget must be left out without advise"),
        (f"{words} --n-features 9,10 --advise", "n_features must be one number with advise"),
        (f"{words} --n-features 9 --advise --budget 0", "budget must"),
        (f"{words} --n-features 9 --advise --cost money", "cost must"),
        (f"{words} --confidence 2", "confidence must"),
        (f"{words} --seed -1", "seed must"),
        (f"{words} --chart chart.txt", "chart must"),
    ]
    check_errors(cases, capsys)
