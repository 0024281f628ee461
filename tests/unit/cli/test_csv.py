"""Types and values of CSV files, which are the same on every engine."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from matchrec import MatchRecognizeError
from matchrec.spark.csv_types import find_arrow_zone
from tests.quick.embedded import invoke

ZONE = ("--conf", "spark.sql.session.timeZone=America/New_York")


def run(query: str, *options: str) -> list[dict[str, Any]]:
    """Run a query and return its rows."""
    result = invoke("run", "-c", query, "--format", "jsonl", *options)
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


# The fields of a column, its type, and its values in a session in New York. Clocks there go forward
# at 02:00 on 2024-03-10, and back at 02:00 on 2024-11-03.
COLUMNS = [
    (["true", "False"], "boolean", [True, False]),
    (["+5", " 7 "], "int", [5, 7]),
    (["007", "2147483647"], "int", [7, 2147483647]),
    (["1", "2147483648"], "bigint", [1, 2147483648]),
    (["9", "12345678901234567890"], "decimal(38,0)", [9, 12345678901234567890]),
    (["1", "2.5"], "double", [1.0, 2.5]),
    (["-.5e3", "NaN"], "double", [-500.0, "NaN"]),
    (["2024-02-29", "1500-01-01"], "date", ["2024-02-29", "1500-01-01"]),
    (
        ["2024-01-05 10:00", "2024-07-05"],
        "timestamp",
        ["2024-01-05T10:00:00-05:00", "2024-07-05T00:00:00-04:00"],
    ),
    (
        ["2024-01-05T10:00:00.25Z", "2024-01-05 10:00:00+05:30"],
        "timestamp",
        ["2024-01-05T05:00:00.25-05:00", "2024-01-04T23:30:00-05:00"],
    ),
    (
        ["2024-03-10 02:30:00", "2024-11-03 01:30:00"],
        "timestamp",
        ["2024-03-10T03:30:00-04:00", "2024-11-03T01:30:00-04:00"],
    ),
    (
        ["2040-07-01 12:00", "2040-01-01 12:00"],
        "timestamp",
        ["2040-07-01T12:00:00-04:00", "2040-01-01T12:00:00-05:00"],
    ),
    # On 2040-03-11 and 2040-11-04 the clocks are changed, too.
    (
        ["2040-03-11 02:30:00", "2040-11-04 01:30:00"],
        "timestamp",
        ["2040-03-11T03:30:00-04:00", "2040-11-04T01:30:00-04:00"],
    ),
    (["10:00:00", "11:30:00"], "string", ["10:00:00", "11:30:00"]),
    (["2023-02-29", "2024-02-29"], "string", ["2023-02-29", "2024-02-29"]),
    (["2024-01-05 10:00 UTC", ""], "string", ["2024-01-05 10:00 UTC", None]),
    (["1", "true"], "string", ["1", "true"]),
    (["9" * 39, "1"], "string", ["9" * 39, "1"]),
    (['""', "3"], "int", [None, 3]),
    (['""', " x "], "string", ["", " x "]),
    (["", ""], "string", [None, None]),
    (['"a ""b""\n c"', "\\"], "string", ['a "b"\n c', "\\"]),
]


def test_a_column_has_the_first_type_that_fits(embedded: Path) -> None:
    names = [f"c{index}" for index in range(len(COLUMNS))]
    lines = [",".join(values[row] for values, _, _ in COLUMNS) for row in (0, 1)]
    text = "\n".join([",".join(["n", *names]), f"1,{lines[0]}", f"2,{lines[1]}", ""])
    (embedded / "x.csv").write_text(text)
    rows = run("SELECT * FROM 'x.csv' ORDER BY n", *ZONE)
    kinds = ", ".join(f"typeof({name}) AS {name}" for name in names)
    (types,) = run(f"SELECT {kinds} FROM 'x.csv' LIMIT 1", *ZONE)
    for name, (written, kind, values) in zip(names, COLUMNS, strict=True):
        assert (types[name], [row[name] for row in rows]) == (kind, values), written


def test_a_type_fits_all_rows_not_only_the_first(embedded: Path) -> None:
    lines = [f"{number},{number}" for number in range(60_000)]
    (embedded / "x.csv").write_text("\n".join(["a,b", *lines, "60000,1.5", ""]))
    query = "SELECT typeof(a) AS a, typeof(b) AS b, b AS last FROM 'x.csv' WHERE a = 60000"
    assert run(query) == [{"a": "int", "b": "double", "last": 1.5}]


def test_long_numbers_are_sorted_as_numbers(embedded: Path) -> None:
    (embedded / "x.csv").write_text("id\n9\n12345678901234567890\n10\n")
    ids = [row["id"] for row in run("SELECT id FROM 'x.csv' ORDER BY id")]
    assert ids == [9, 10, 12345678901234567890]


def test_times_of_nanoseconds_are_cut_with_a_notice(embedded: Path) -> None:
    (embedded / "x.csv").write_text("t\n2024-01-05 10:00:00.123456789\n")
    query = ("run", "-c", "SELECT date_format(t, 'SSSSSS') AS s FROM 'x.csv'", "--format", "csv")
    result = invoke(*query)
    assert result.stdout == "s\n123456\n"
    assert "times of `t` of table `x` are cut to microseconds" in result.stderr


@pytest.mark.parametrize(
    ("values", "problem", "cure"),
    [
        (["9", "10.5", "N/A", "8"], "`N/A` cannot be read as a number", "TRY_CAST(v AS DOUBLE)"),
        (
            ["2024-01-05", "0000-00-00", "2024-01-06 10:00"],
            "`0000-00-00` cannot be read as a date or time",
            "TRY_CAST(v AS TIMESTAMP)",
        ),
        (
            ["1/31/2024", "02/01/2024"],
            "`1/31/2024` is not written as 2024-01-31",
            "TO_DATE(v, 'M/d/yyyy')",
        ),
        (
            ["01/02/2024", "31/01/2024", "30/01/2024"],
            "`01/02/2024` is not written as 2024-01-31",
            "TO_DATE(v, 'd/M/yyyy')",
        ),
        (
            ["31.1.2024", "01.02.2024"],
            "`31.1.2024` is not written as 2024-01-31",
            "TO_DATE(v, 'd.M.yyyy')",
        ),
        (
            ['"$1,234.50"', '"2,000"', "7"],
            "`$1,234.50` is not written as 1234.50",
            "CAST(REGEXP_REPLACE(v, '[^0-9.-]', '') AS DOUBLE)",
        ),
    ],
)
def test_a_notice_says_why_numbers_and_times_are_strings(
    values: list[str], problem: str, cure: str, embedded: Path
) -> None:
    (embedded / "x.csv").write_text("\n".join(["v", *values, ""]))
    result = invoke(
        "run",
        "-c",
        f"SELECT typeof({cure}) AS t, count({cure}) AS n FROM 'x.csv' GROUP BY 1",
        "--format",
        "csv",
    )
    assert result.stderr == (
        f"the column `v` of table `x` is a STRING, because {problem}; to read it, write {cure}\n"
    )
    readable_count = len([value for value in values if value not in ("N/A", "0000-00-00")])
    (row,) = result.stdout.splitlines()[1:]
    assert row in {f"{type_name},{readable_count}" for type_name in ("double", "date", "timestamp")}


def test_no_notice_for_words_among_which_some_are_numbers(embedded: Path) -> None:
    (embedded / "x.csv").write_text("v\n7\nIBM\n8\nAAPL\n")
    result = invoke("run", "-c", "SELECT count(*) AS n FROM 'x.csv'", "--format", "csv")
    assert result.stderr == ""


def test_no_notice_for_readable_numbers_after_a_file_of_dates(embedded: Path) -> None:
    """The values of the second file are no reason: each of them can be read as a number."""
    (embedded / "parts").mkdir()
    (embedded / "parts/1.csv").write_text("v\n2024-01-05\n")
    (embedded / "parts/2.csv").write_text("v\n7\n8\n")
    query = "SELECT count(*) AS n FROM t WHERE typeof(v) = 'string'"
    result = invoke("run", "-c", query, "--table", "t=parts", "--format", "csv")
    assert (result.stdout, result.stderr) == ("n\n3\n", "")


def test_columns_without_a_name_of_their_own_get_numbers(embedded: Path) -> None:
    """The columns have two equal names, an empty name, and a name that SQL must quote."""
    (embedded / "x.csv").write_text('a,A,,"b.`c (d)"\n1,2,3,4\n')
    assert run("SELECT * FROM 'x.csv'") == [{"a0": 1, "A1": 2, "_c2": 3, "b.`c (d)": 4}]


def test_columns_of_one_name_are_renamed_with_a_notice(embedded: Path) -> None:
    (embedded / "x.csv").write_text("a,b,A,a0\n1,2,3,4\n")
    result = invoke("run", "-c", "SELECT * FROM 'x.csv'", "--format", "csv")
    assert result.stdout == "a0_,b,A2,a0\n1,2,3,4\n"
    assert result.stderr == "the columns `a` of table `x` are named a0_, A2\n"


def test_new_names_differ_from_all_other_names(embedded: Path) -> None:
    (embedded / "x.csv").write_text(",_c0\n1,2\n")
    assert run("SELECT * FROM 'x.csv'") == [{"_c0_": 1, "_c0": 2}]
    # The index 1 after `a1` and the index 11 after `a` both make `a11`.
    (embedded / "y.csv").write_text("b,a1,a1,c,d,e,f,g,h,i,j,a,a\n" + ",".join("0123456789abc"))
    result = invoke("run", "-c", "SELECT * FROM 'y.csv'", "--format", "csv")
    assert result.stdout.startswith("b,a11,a12,c,d,e,f,g,h,i,j,a11_,a12_\n")


def test_files_can_have_columns_in_another_order(embedded: Path) -> None:
    (embedded / "parts").mkdir()
    (embedded / "parts/1.csv").write_text("a,b\n1,2\n")
    (embedded / "parts/2.csv").write_text("b;a\n4;3.5\n")
    query = "SELECT a, b FROM t ORDER BY a"
    assert run(query, "--table", "t=parts") == [{"a": 1.0, "b": 2}, {"a": 3.5, "b": 4}]
    (embedded / "parts/3.csv").write_text("a,c\n1,2\n")
    result = invoke("run", "-c", query, "--table", "t=parts")
    assert result.exit_code == 1
    assert "the files of table `t` have different columns" in result.stderr
    assert "`parts/3.csv` has: a, c" in result.stderr


def test_folders_define_columns(embedded: Path) -> None:
    for year, place in (("2023", "a%20b"), ("2024", "c")):
        folder = embedded / f"hive/year={year}/place={place}"
        folder.mkdir(parents=True)
        (folder / "x.csv").write_text(f"v\n{year[-1]}\n")
    rows = [{"v": 3, "year": 2023, "place": "a b"}, {"v": 4, "year": 2024, "place": "c"}]
    assert run("SELECT * FROM t ORDER BY v", "--table", "t=hive") == rows
    assert run("SELECT * FROM t ORDER BY v", "--table", "t=hive/year=*/**/*.csv") == rows


def test_a_row_with_another_number_of_fields_is_rejected(embedded: Path) -> None:
    (embedded / "x.csv").write_text("a,b\n1,2\n3\n")
    result = invoke("run", "-c", "SELECT * FROM 'x.csv'")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        "`x.csv` of table `x` cannot be read: line 3 has 1 field, and the header has 2 ["
        in result.stderr
    )
    assert "help: write 2 fields; put a field" in result.stderr
    assert "check the path" not in result.stderr


def test_the_line_counts_newlines_in_quotes(embedded: Path) -> None:
    (embedded / "x.csv").write_text('a,b\n"1\n1",2\n\n3,4,5\n')  # the second row has two lines
    result = invoke("run", "-c", "SELECT * FROM 'x.csv'")
    assert "line 5 has 3 fields, and the header has 2 [" in result.stderr


@pytest.mark.parametrize("name", ["x.csv.gz", "x.csv.bz2", "x.json.gz"])
def test_a_file_that_is_not_compressed_is_rejected(name: str, embedded: Path) -> None:
    (embedded / name).write_text("a\n1\n")
    result = invoke("run", "-c", "SELECT * FROM t", "--table", f"t={name}")
    assert result.exit_code == 1
    assert f"`{name}` of table `t` cannot be read: " in result.stderr


@pytest.mark.parametrize("name", ["x.csv.gz", "x.json.gz"])
def test_a_damaged_compressed_file_is_rejected(name: str, embedded: Path) -> None:
    content = bytearray(gzip.compress(b'{"a": 1}\n' * 1000))
    content[20:22] = bytes(byte ^ 0xFF for byte in content[20:22])
    (embedded / name).write_bytes(content)
    result = invoke("run", "-c", "SELECT * FROM t", "--table", f"t={name}")
    assert result.exit_code == 1
    assert f"`{name}` of table `t` cannot be read: Error -3 while" in result.stderr


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("\n\na,b\n1,2\n", {"a": 1, "b": 2}),
        ("\ufeffa,b\n1,2\n", {"a": 1, "b": 2}),
        ('"a\nx",b\r\n1,2\r\n\r\n', {"a\nx": 1, "b": 2}),
        ("a\n\n2", {"a": 2}),
    ],
    ids=["empty lines first", "byte order mark", "a name of two lines", "empty line between"],
)
def test_empty_lines_and_marks_around_the_names_are_skipped(
    text: str, row: dict[str, Any], embedded: Path
) -> None:
    (embedded / "x.csv").write_bytes(text.encode())
    assert run("SELECT * FROM 'x.csv'") == [row]


def test_a_file_without_names_has_numbered_columns(embedded: Path) -> None:
    (embedded / "x.csv").write_bytes("\ufeff\n1,a\n".encode())
    assert run("SELECT * FROM 'x.csv'", "--no-header") == [{"_c0": 1, "_c1": "a"}]


def test_the_delimiter_is_for_a_file_in_from_too(embedded: Path) -> None:
    (embedded / "x.csv").write_text("a,b#c\n1,2#3\n")
    assert run("SELECT * FROM 'x.csv'", "--delimiter", "#") == [{"a,b": "1,2", "c": 3}]


@pytest.mark.parametrize("command", ["run", "check", "coverage"])
def test_a_wrong_delimiter_is_suspected(command: str, embedded: Path) -> None:
    (embedded / "x.csv").write_text("ts,price\n1,2\n")
    clause = "MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS price > 1)"
    result = invoke(
        command, "-c", f"SELECT * FROM t {clause}", "--table", "t=x.csv", "--delimiter", ";"
    )
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-3:] == [
        "  note: --delimiter ';' makes one column of the file",
        "  note: the input has: ts,price",
        "  help: leave out --delimiter, or write --delimiter ,",
    ]


def test_a_time_zone_can_be_an_offset(embedded: Path) -> None:
    (embedded / "x.csv").write_text("t\n2024-01-05 10:00\n")
    rows = run("SELECT t FROM 'x.csv'", "--conf", "spark.sql.session.timeZone=+05:30")
    assert rows == [{"t": "2024-01-05T10:00:00+05:30"}]


def test_a_time_zone_that_only_java_knows_is_rejected() -> None:
    with pytest.raises(MatchRecognizeError, match="time zone `PST` is not supported for csv files"):
        find_arrow_zone("PST")


@pytest.mark.parametrize("zone", ["Mars", "Europe/Pariss"])
def test_a_time_zone_that_does_not_exist_is_rejected(zone: str) -> None:
    with pytest.raises(MatchRecognizeError) as refused:
        find_arrow_zone(zone)
    assert refused.value.code == "wrong-setting-value"
    assert refused.value.message == (
        f"unknown value `{zone}` of the setting spark.sql.session.timeZone"
    )
    assert refused.value.hint is not None
    assert "Europe/Paris" in refused.value.hint
