"""Tables of the user: CSV and Parquet as numbers, roles of columns, and messages with lines."""

import math
from pathlib import Path

import numpy as np
import pytest

from doubletrouble.errors import require
from doubletrouble.tables import DataTable

TEXT = """row,size,city,when,open,flag,const,y
3,1.5,Oslo,2020-01-01,True,yes,7,1
1,,Bern,2020-01-02,False,no,7,2
2,2.5,Oslo,2020-01-03,True,no,7,3
4,0.5,,2020-01-04,False,yes,7,4
"""


def table_of(text: str = TEXT) -> DataTable:
    return DataTable.from_csv(text.encode())


def test_columns_are_described() -> None:
    columns = {column.name: column for column in table_of().columns}
    assert {name: column.remark for name, column in columns.items()} == {
        "row": "numbers the rows",
        "size": "",
        "city": "not numbers: 'Oslo' in line 2",
        "when": "not numbers: '2020-01-01' in line 2",
        "open": "",
        "flag": "not numbers: 'yes' in line 2",
        "const": "constant",
        "y": "numbers the rows",
    }
    np.testing.assert_array_equal(columns["open"].values, [1, 0, 1, 0])
    assert columns["city"].classes == ("Bern", "Oslo")
    np.testing.assert_array_equal(columns["city"].values, [1, 0, 1, math.nan])
    assert [name for name, column in columns.items() if column.is_encodable] == ["city", "flag"]
    assert (columns["size"].missing, columns["size"].first_missing) == (1, "line 3")


@pytest.mark.parametrize(
    ("name", "values", "remark"),
    [
        ("a", [5, 3, 4], "numbers the rows"),
        ("sample_id", [812, 7, 99], "numbers the rows"),
        ("price", [812, 7, 99], ""),
        ("humid", [812, 7, 99], ""),
        ("id", [812, 7, 7], ""),
        ("id", [0.5, 1.5, 2.5], ""),
    ],
)
def test_numbers_of_rows_are_recognized(name: str, values: list[float], remark: str) -> None:
    text = "\n".join([f"{name},y", *(f"{value},1" for value in values)])
    assert table_of(text).columns[0].remark == remark


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a;b\n1,5;2\n-3;,5\n", [[1.5, -3.0], [2.0, 0.5]]),
        ('a\tb\r\n1e3\t"2"\r\n\r\n3\t4\r\n', [[1000.0, 3.0], [2.0, 4.0]]),
        ("\ufeffa,b\n1,NA\n,4", [[1.0, math.nan], [math.nan, 4.0]]),
        ("a;b\n1.5;2\n3;4\n", [[1.5, 3.0], [2.0, 4.0]]),
        (",b\ntrue,1\nFALSE,2\n", [[1.0, 0.0], [1.0, 2.0]]),
    ],
    ids=["decimal comma", "tab and quotes", "missing", "decimal point", "true and false"],
)
def test_numbers_are_those_of_pandas(text: str, values: list[list[float]], tmp_path: Path) -> None:
    table = table_of(text)
    for column, expected in zip(table.columns, values, strict=True):
        np.testing.assert_array_equal(column.values, expected)
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode())
    read = require("pandas", "tables").read_csv(file, sep=table.separator, decimal=table.decimal)
    assert list(read.columns) == [column.name for column in table.columns]
    np.testing.assert_array_equal(read.to_numpy(float).T, values)


@pytest.mark.parametrize("cells", [["1", "True"], ["1", "inf"], ["1_0", "2"], ["1", "x"]], ids=str)
def test_columns_of_numbers_have_numbers_only(cells: list[str]) -> None:
    column = table_of("a,b\n" + "".join(f"{cell},1\n" for cell in cells)).columns[0]
    assert not column.is_numeric
    assert column.classes == tuple(sorted(cells))


def test_parquet_has_the_columns_of_csv(tmp_path: Path) -> None:
    pandas = require("pandas", "tables")
    (tmp_path / "table.csv").write_text(TEXT)
    frame = pandas.read_csv(tmp_path / "table.csv", parse_dates=["when"])
    frame["open"] = frame["open"].astype("boolean")
    frame["city"] = frame["city"].astype("category")
    frame.to_parquet(tmp_path / "table.parquet")
    first, second = (DataTable.from_file(tmp_path / f"table.{kind}") for kind in ("csv", "parquet"))
    for a, b in zip(first.columns, second.columns, strict=True):
        assert (a.name, a.missing, a.is_numeric) == (b.name, b.missing, b.is_numeric)
        np.testing.assert_array_equal(a.values, b.values)
    assert second.columns[1].first_missing == "row 2"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the first line must name 2 columns or more"),
        (b"a\n1\n2\n", "the first line must name 2 columns or more"),
        (b"a,b\n", "file must have rows below the first line, got none"),
        (b"1,2\n3,4\n", "names of the columns, got numbers"),
        (b"a,a\n1,2\n", "different names, got 'a' twice"),
        (b"a,b\n1,2\n1\n", "line 3 must have 2 values, as the first line has, got 1"),
        (b"a,b\n1,2\n1,2,3\n", "line 3 must have 2 values, as the first line has, got 3"),
        (b'a,b\n1,"2\n', "line 2 must be CSV, got unexpected end of data"),
        (b"a,b\n1,\xff\n", "UTF-8, got other bytes in line 2"),
        (b"a,b\n1,\0\n", "zero byte"),
        (b"PK\x03\x04" + b"0" * 99, "workbook"),
        (b"a,b\n1," + b"9" * 200_000 + b"\n", "line 2 must be CSV, got field larger"),
    ],
    ids=range(12),
)
def test_bad_files_are_refused_with_their_line(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DataTable.from_csv(content)


def test_columns_become_inputs_labels_and_groups() -> None:
    table = table_of()
    with pytest.raises(ValueError, match=r"got 2 rows with 1 in column 'size' \(first in line 3\)"):
        table.rows(inputs=[1, 2], targets=[7])
    with pytest.raises(ValueError, match="few classes, got 4 different values in 4 rows of 'when'"):
        table.rows(inputs=[3, 4], targets=[7])
    rows = table.rows(inputs=[4, 5], targets=[0, 7], groups=3)
    assert rows.names == ("open", "flag_no", "flag_yes")
    np.testing.assert_array_equal(rows.inputs, [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(rows.labels, [[3, 1], [1, 2], [2, 3], [4, 4]])
    np.testing.assert_array_equal(rows.groups, [0, 1, 2, 3])
    assert rows.notes == ("Columns that are not numbers are one-hot encoded, as 2: 'flag'.",)
    fewer = table.rows(inputs=[1, 2], targets=[7], drop_missing=True)
    np.testing.assert_array_equal(fewer.labels, [1, 3])
    assert fewer.notes[0] == "2 rows with missing values are left out."
    holes = table.rows(inputs=[1, 2], targets=[7], missing_inputs=True)
    assert holes.names == ("size", "city_Bern", "city_Oslo", "city_nan")
    assert np.isnan(holes.inputs[1, 0])
