"""Tables of the user: CSV and Parquet as numbers and texts, inputs, and messages with lines."""

import bz2
import gzip
import lzma
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from doubletrouble.tables import (
    Columns,
    TableRows,
    first_text,
    has_few_classes,
    left_out,
    read_csv,
    read_table,
)

TEXT = """row,size,city,when,open,flag,const,y
3,1.5,Oslo,2020-01-01,True,yes,7,1
1,,Bern,2020-01-02,False,no,7,2
2,2.5,Oslo,2020-01-03,True,no,7,3
4,0.5,,2020-01-04,False,yes,7,4
"""


def table_of(text: str = TEXT) -> Any:
    return read_csv(text.encode())


def test_columns_have_numbers_or_text() -> None:
    table = table_of()
    assert {name: first_text(values) for name, values in table.items() if first_text(values)} == {
        "city": "'Oslo' in line 2",
        "when": "'2020-01-01' in line 2",
        "flag": "'yes' in line 2",
    }
    assert {name: left_out(values) for name, values in table.items() if left_out(values)} == {
        "row": "numbers the rows",
        "const": "constant",
    }
    assert [name for name in table if has_few_classes(table[name])] == ["city", "open", "flag"]
    np.testing.assert_array_equal(table["open"], [1, 0, 1, 0])
    assert table["size"].isna().idxmax() == "line 3"
    assert columns(targets=["size"], inputs=["open"]).rows(drop_missing=True).labels.dtype == float
    with pytest.raises(
        ValueError, match=r"^target must be numbers, got 'city' \('Oslo' in line 2\)"
    ):
        columns(targets=["city"], inputs=["open"])


@pytest.mark.parametrize(
    ("name", "values", "remark"),
    [
        ("year", [2005, 2003, 2004], ""),
        ("sample_id", [812, 7, 99], "numbers the rows"),
        ("PassengerId", [1, 2, 3], "numbers the rows"),
        ("rownames", [1, 2, 3], "numbers the rows"),
        ("price", [812, 7, 99], ""),
        ("humid", [812, 7, 99], ""),
        ("id", [812, 7, 7], ""),
        ("id", [0.5, 1.5, 2.5], ""),
        ("a", ["NA", "", "nan"], "empty"),
        ("a", ["x", "x", ""], "constant"),
    ],
)
def test_columns_that_say_nothing_are_left_out(name: str, values: list[Any], remark: str) -> None:
    text = "\n".join([f"{name},y", *(f"{value},1" for value in values)])
    assert left_out(table_of(text)[name]) == remark


@pytest.mark.parametrize(
    ("text", "names", "values"),
    [
        ("a;b\n1,5;2\n-3;,5\n", "ab", [[1.5, -3.0], [2.0, 0.5]]),
        ('a\tb\r\n1e3\t"2"\r\n\r\n3\t4\r\n', "ab", [[1000.0, 3.0], [2.0, 4.0]]),
        ("\ufeffa,b\n1,NA\n,4", "ab", [[1.0, math.nan], [math.nan, 4.0]]),
        ("a;b\n1.5;2\n3;4\n", "ab", [[1.5, 3.0], [2.0, 4.0]]),
        (",b\ntrue,1\nFALSE,2\n", ["Unnamed: 0", "b"], [[1.0, 0.0], [1.0, 2.0]]),
        ("a,b\nTrue,1\n,2\n", "ab", [[1.0, math.nan], [1.0, 2.0]]),
        ('"","a"\n"1",0.5\n"2",1\n', ["Unnamed: 0", "a"], [[1.0, 2.0], [0.5, 1.0]]),
        ('"";"a"\n"1";0,5\n"2";1\n', ["Unnamed: 0", "a"], [[1.0, 2.0], [0.5, 1.0]]),
        ('"acidity, g";"pH"\n7.4;3.51\n7.8;3.2\n', ["acidity, g", "pH"], [[7.4, 7.8], [3.51, 3.2]]),
        ("height, cm;weight, kg\n1,5;2,5\n3,5;4\n", None, [[1.5, 3.5], [2.5, 4.0]]),
        ("a|b\n1,5|2\n3|4\n", "ab", [[1.5, 3.0], [2.0, 4.0]]),
        ("a   b\n1.5 2\n 3  4\n", "ab", [[1.5, 3.0], [2.0, 4.0]]),
    ],
    ids=[
        *("decimal comma", "tab and quotes", "missing", "decimal point", "true and false"),
        *("true or missing", "write.csv of R", "write.csv2 of R", "wine", "commas everywhere"),
        *("vertical bars", "spaces"),
    ],
)
def test_numbers_and_names_are_those_of_pandas(
    text: str, names: Any, values: list[list[float]], tmp_path: Path
) -> None:
    table = table_of(text)
    np.testing.assert_array_equal(table.to_numpy(float).T, values)
    assert names is None or list(table) == list(names)
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode())
    read = pd.read_csv(file, **table.attrs)
    assert list(read) == list(table)
    np.testing.assert_array_equal(read.to_numpy(float).T, values)


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (["1", "True"], "'True' in line 3, 1 of 2 values"),
        (["1", "inf", "3", "-inf"], "'inf' in line 3, 2 of 4 values"),
        (["1", "", "-"], "'-' in line 4, 1 of 2 values"),
        (["1_0", "2"], "'1_0' in line 2"),
        (["1", "x" * 99], "'" + "x" * 20),
        (['"1,5"', "2"], "'1,5' in line 2, with a decimal comma: write points, or separate"),
        (["1", "2020-01-01"], "'2020-01-01' in line 3"),
        (["no", "yes"], "'no' in line 2"),
    ],
    ids=str,
)
def test_columns_of_numbers_have_numbers_only(cells: list[str], shown: str) -> None:
    text = first_text(table_of("a,b\n" + "".join(f"{cell},1\n" for cell in cells))["a"])
    assert text.startswith(shown)
    assert len(text) < 110


def test_a_question_mark_is_a_missing_value() -> None:
    table = table_of("a,b\n1,2\n?,3\n")
    assert table["a"].isna().tolist() == [False, True]
    assert not first_text(table["a"])


def test_quoted_line_breaks_and_empty_lines_are_counted() -> None:
    table = table_of('a,b\n"x\ny",1\n\nz,\n')
    assert list(table.index) == ["line 3", "line 5"]
    assert table["a"].tolist() == ["x\ny", "z"]


def test_parquet_has_the_columns_of_csv(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(TEXT)
    frame = pd.read_csv(tmp_path / "table.csv", parse_dates=["when"])
    frame["open"] = frame["open"].astype("boolean")
    frame["city"] = frame["city"].astype("category")
    frame["size"] = [None if math.isnan(size) else Decimal(size) for size in frame["size"]]
    frame.assign(nothing=None).to_parquet(tmp_path / "table.parquet")
    first, second = (read_table(tmp_path / f"table.{kind}") for kind in ("csv", "parquet"))
    assert left_out(second.pop("nothing")) == "empty"
    assert second["size"].isna().idxmax() == "row 2"
    pd.testing.assert_frame_equal(first, second.set_axis(first.index))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the first line must name 2 columns or more"),
        (b"a\n1\n2\n", "the first line must name 2 columns or more"),
        (b"a,b\n", "file must have rows below the first line, got none"),
        (b"1,-2.5e3\n3,4\n", "names of the columns, got numbers"),
        (b"a,a\n1,2\n", "different names, got 'a' twice"),
        (b"a,b\n1,2\n1\n", "line 3 must have 2 values, as the first line has, got 1"),
        (b"a;b\n1;2\n1;2;3\n", "line 3 must have 2 values, as the first line has, got 3"),
        (b'a,b\n1,"2\n', "line 2 must be CSV, got unexpected end of data"),
        (b"a,b\n1,\xff\n", "UTF-8, got other bytes in line 2: save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "other bytes in line 1: save the file as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "other bytes in line 1: save the file as UTF-8"),
        (b"a,b\0\n1,2\n", "other bytes in line 1: save the file as UTF-8"),
        (b"PK\x03\x04\x14\0", "other bytes in line 1: export the workbook as CSV"),
        (b"a,b\n1," + b"9" * 200_000 + b"\n", "line 2 must be CSV, got field larger"),
    ],
    ids=range(14),
)
def test_bad_files_are_refused_with_their_line(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_csv(content)


@pytest.mark.parametrize(
    ("suffix", "compress"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
    ids=["gzip", "bzip2", "xz"],
)
def test_compressed_files_are_read(
    suffix: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    file = tmp_path / f"table.csv{suffix}"
    file.write_bytes(compress(TEXT.encode()))
    pd.testing.assert_frame_equal(read_table(file), table_of())
    for content in (TEXT.encode(), file.read_bytes()[:-9]):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=rf"^file must be a table.*table.csv{suffix}"):
            read_table(file)


def test_files_are_named(tmp_path: Path) -> None:
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(ValueError, match=rf"^file must be a table.*{name}"):
            read_table(tmp_path / name)
    (tmp_path / "text.parquet").write_text(TEXT)
    with pytest.raises(ValueError, match=r"^file must be a table"):
        read_table(tmp_path / "text.parquet")


def columns(**use: Any) -> Columns:
    return Columns(**{"table": table_of(), "targets": ["y"], "inputs": ["open"], **use})


def rows_of(use: dict[str, Any], **missing: bool) -> TableRows:
    return columns(**use).rows(**missing)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ({"inputs": ["y"]}, "inputs must not have the target, got 'y'"),
        ({"groups": "open"}, "inputs must not have the groups, got 'open'"),
        ({"groups": "y"}, "groups must be another column than the target, got 'y'"),
        (
            {"inputs": ["open", "city", "flag"], "encoded": ["city"]},
            r"^inputs must be numbers, got 'flag' \('yes' in line 2, 2 classes\): leave them out",
        ),
        (
            {"inputs": ["when"], "encoded": ["when"]},
            "few classes, got 4 different values in 4 rows of 'when'",
        ),
        (
            {"inputs": ["row"], "encoded": ["row"]},
            "few classes, got 4 different values in 4 rows of 'row'",
        ),
    ],
    ids=range(6),
)
def test_use_of_columns_is_validated(use: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        columns(**use)


def test_numbers_are_encoded_as_classes() -> None:
    table = table_of("zone,half,y\n1,0.5,1\n2,,2\n1,0.5,3\n,0.5,4\n2,1.5,5\n1,0.5,6")
    use = {"table": table, "inputs": ["zone", "half"], "encoded": ["zone", "half"]}
    rows = rows_of(use, drop_missing=True)
    assert list(rows.inputs) == ["zone_1", "zone_2", "half_0.5", "half_1.5"]
    np.testing.assert_array_equal(rows.inputs["zone_2"], [0, 0, 1, 0])
    holes = rows_of(use, missing_inputs=True)
    assert list(holes.inputs) == ["zone_1", "zone_2", "zone_nan", *holes.inputs.columns[3:]]
    assert holes.notes == ("Columns of classes are one-hot encoded, as 6: 'zone', 'half'.",)


def test_columns_become_inputs_labels_and_groups() -> None:
    some = {"inputs": ["size", "city"], "encoded": ["city"]}
    with pytest.raises(ValueError, match=r"got 2 rows with 1 in column 'size' \(first in line 3\)"):
        rows_of(some)
    rows = rows_of(
        {
            "inputs": ["open", "flag"],
            "targets": ["row", "y"],
            "groups": "when",
            "encoded": ["flag"],
        }
    )
    assert list(rows.inputs) == ["open", "flag_no", "flag_yes"]
    np.testing.assert_array_equal(rows.inputs, [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(rows.labels, [[3, 1], [1, 2], [2, 3], [4, 4]])
    assert rows.groups.tolist() == [f"2020-01-0{k}" for k in range(1, 5)]
    assert rows.notes == ("Columns of classes are one-hot encoded, as 2: 'flag'.",)
    fewer = rows_of(some, drop_missing=True)
    np.testing.assert_array_equal(fewer.labels, [1, 3])
    assert fewer.notes[0] == "2 rows with missing values are left out."
    holes = rows_of(some, missing_inputs=True)
    assert list(holes.inputs) == ["size", "city_Bern", "city_Oslo", "city_nan"]
    assert np.isnan(holes.inputs["size"][1])
