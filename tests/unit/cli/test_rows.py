"""Rows as text: programs read back the same values, with quotes and NULLs."""

from __future__ import annotations

import csv
import json
import re
from io import StringIO
from pathlib import Path

import pytest

from matchrec.cli.formats import JsonArrayFormat
from tests.quick.embedded import invoke

AWKWARD = """
SELECT * FROM VALUES
  (1, 'a,b "c"', ARRAY(1, NULL), NAMED_STRUCT('x', 'it\\'s'), X'00FF', 1.50BD, DATE'2026-01-31'),
  (2, '', ARRAY(), NAMED_STRUCT('x', NULL), X'', 0.00BD, NULL),
  (3, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, ' two\\nlines|*\\\\ ', ARRAY(2), NAMED_STRUCT('x', '"'), NULL, -2.25BD, DATE'0001-01-01')
AS t(n, s, `a list`, record, bytes, money, day) ORDER BY n
"""
NAMES = ["n", "s", "a list", "record", "bytes", "money", "day"]


def print_rows(form: str, query: str = AWKWARD, *options: str) -> str:
    """Return what a query prints in a format."""
    result = invoke("run", "-", "--format", form, *options, stdin=query)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_values_are_written_as_csv(embedded: Path) -> None:
    text = print_rows("csv")
    assert list(csv.reader(StringIO(text, newline=""))) == [
        NAMES,
        ["1", 'a,b "c"', "[1,null]", '{"x":"it\'s"}', "AP8=", "1.50", "2026-01-31"],
        ["2", "", "[]", '{"x":null}', "", "0.00", ""],
        ["3", "", "", "", "", "", ""],
        ["4", " two\nlines|*\\ ", "[2]", '{"x":"\\""}', "", "-2.25", "0001-01-01"],
    ]
    assert '\n2,"",[]' in text, "an empty text"
    assert "\n3,,,,,,\n" in text, "NULL"


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_null_that_is_alone_in_its_row_is_no_blank_line(embedded: Path, form: str) -> None:
    query = "SELECT * FROM VALUES (1), (NULL), (2) AS t(n) ORDER BY n"
    text = print_rows(form, query)
    assert text == 'n\n""\n1\n2\n'
    assert list(csv.reader(StringIO(text))) == [["n"], [""], ["1"], ["2"]]
    assert print_rows(form, "SELECT '' AS s") == 's\n""\n', "an empty text"


def test_values_are_written_as_json(embedded: Path) -> None:
    rows = [
        [1, 'a,b "c"', [1, None], {"x": "it's"}, "AP8=", 1.5, "2026-01-31"],
        [2, "", [], {"x": None}, "", 0.0, None],
        [3, None, None, None, None, None, None],
        [4, " two\nlines|*\\ ", [2], {"x": '"'}, None, -2.25, "0001-01-01"],
    ]
    expected = [dict(zip(NAMES, row, strict=True)) for row in rows]
    assert json.loads(print_rows("json")) == expected
    assert [json.loads(line) for line in print_rows("jsonl").splitlines()] == expected
    nothing = "SELECT 1 AS n WHERE FALSE"
    assert json.loads(print_rows("json", nothing)) == []
    assert print_rows("jsonl", nothing) == ""


def test_a_time_without_a_zone_has_none_in_json(embedded: Path) -> None:
    query = "SELECT TIMESTAMP_NTZ'2026-01-31 10:00:00.25' AS t, CAST(NULL AS TIMESTAMP_NTZ) AS n"
    assert json.loads(print_rows("json", query)) == [{"t": "2026-01-31T10:00:00.25", "n": None}]


TIMES = """
SELECT
  TIMESTAMP'2026-01-31 10:00:00.123456' AS t,
  NAMED_STRUCT('t', TIMESTAMP'2026-07-31 10:00:00.000001', 'n', CAST(NULL AS TIMESTAMP)) AS s,
  ARRAY(TIMESTAMP'2026-01-31 10:00:00', NULL) AS a,
  MAP(TIMESTAMP'2026-01-31 10:00:00.5', ARRAY(TIMESTAMP_NTZ'2026-01-31 10:00:00.654321')) AS m
"""
# The session is in New York: five hours behind UTC, four in summer.
IN_NEW_YORK = {
    "t": "2026-01-31T10:00:00.123456-05:00",
    "s": {"t": "2026-07-31T10:00:00.000001-04:00", "n": None},
    "a": ["2026-01-31T10:00:00-05:00", None],
    "m": {"2026-01-31T10:00:00.5-05:00": ["2026-01-31T10:00:00.654321"]},
}
NEW_YORK = ("--conf", "spark.sql.session.timeZone=America/New_York")


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_has_microseconds(form: str, embedded: Path) -> None:
    rows = json.loads(print_rows(form, TIMES, *NEW_YORK))
    assert rows == ([IN_NEW_YORK] if form == "json" else IN_NEW_YORK)


@pytest.mark.parametrize("suffix", [".json", ".csv", ".tsv"])
def test_files_have_microseconds(suffix: str, embedded: Path) -> None:
    result = invoke("run", "-", "--output", f"x{suffix}", *NEW_YORK, stdin=TIMES)
    assert result.exit_code == 0, result.stderr
    text = (embedded / f"x{suffix}").read_text()
    if suffix == ".json":
        assert json.loads(text) == IN_NEW_YORK
        return
    delimiter = "\t" if suffix == ".tsv" else ","
    (row,) = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter)
    assert row["t"] == "2026-01-31 10:00:00.123456"
    nested = {name: json.loads(row[name]) for name in ("s", "a", "m")}
    assert nested == {name: IN_NEW_YORK[name] for name in nested}


@pytest.mark.parametrize(
    ("zone", "offset"), [("+05:30", "+05:30"), ("-03:00", "-03:00"), ("UTC", "Z")]
)
def test_json_in_a_time_zone_that_is_an_offset(zone: str, offset: str, embedded: Path) -> None:
    query = "SELECT TIMESTAMP'2026-01-31 10:00:00.25' AS t"
    text = print_rows("jsonl", query, "--conf", f"spark.sql.session.timeZone={zone}")
    assert json.loads(text) == {"t": f"2026-01-31T10:00:00.25{offset}"}


def test_numbers_and_times_of_other_types_in_json(embedded: Path) -> None:
    query = """
        SELECT
          ARRAY(DOUBLE('NaN'), DOUBLE('-Infinity'), 1.5D) AS d,
          INTERVAL '1 02:00:00' DAY TO SECOND AS i,
          MAP(7, X'00FF') AS m,
          NAMED_STRUCT('a `b` "c"', 12345678901234567890123456789BD) AS s,
          NULL AS n
    """
    assert json.loads(print_rows("jsonl", query)) == {
        "d": ["NaN", "-Infinity", 1.5],
        "i": "INTERVAL '1 02:00:00' DAY TO SECOND",
        "m": {"7": "AP8="},
        "s": {'a `b` "c"': 12345678901234567890123456789},
        "n": None,
    }


def test_rows_are_written_as_a_markdown_table(embedded: Path) -> None:
    query = AWKWARD.replace("SELECT *", "SELECT n, s, n AS `a|b`, s AS top_date").replace(
        "4,", "5,"
    )
    assert print_rows("markdown", query, "--limit", "4").splitlines() == [
        "| n | s | a\\|b | top_date |",
        "| ---: | --- | ---: | --- |",
        '| 1 | a,b "c" | 1 | a,b "c" |',
        "| 2 |  | 2 |  |",
        "| 3 | NULL | 3 | NULL |",
        "| 5 |  two<br>lines\\|\\*\\\\  | 5 |  two<br>lines\\|\\*\\\\  |",
    ]


def test_a_table_is_aligned_and_reads_nothing_as_markup(embedded: Path) -> None:
    query = """
        SELECT * FROM VALUES (1, '[red]', ARRAY(1, NULL)), (10, ':smile: and a long text', NULL)
        AS t(n, `[s]`, list) ORDER BY n
    """
    assert print_rows("table", query).splitlines() == [
        " n  [s]                      list",
        " 1  [red]                    [1, null]",
        "10  :smile: and a long text  NULL",
    ]


def test_a_table_in_a_file_is_as_wide_as_it_must_be(embedded: Path) -> None:
    query = "SELECT repeat('x', 500) AS s"
    assert print_rows("table", query).splitlines() == ["s", "x" * 500]


HOSTILE = "SELECT '\\u001b]0;owned\\u0007 \\u001b[2J\\u009b1m' AS `a\x1b[2Jb`, 'two\\nlines' AS t"


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_a_value_does_not_command_the_terminal(embedded: Path, form: str) -> None:
    text = print_rows(form, HOSTILE)
    assert not [
        character
        for character in text
        if character != "\n" and (ord(character) < 32 or 127 <= ord(character) < 160)
    ]
    assert "␛]0;owned␇ ␛" in text
    assert "a␛" in text.splitlines()[0]


def test_a_program_reads_the_value_itself(embedded: Path) -> None:
    (row,) = json.loads(print_rows("json", HOSTILE))
    assert row["a\x1b[2Jb"] == "\x1b]0;owned\x07 \x1b[2J\x9b1m"


@pytest.mark.parametrize("query", ["SELECT `\x1b[2J` FROM VALUES (1) AS t(x)", "SELECT \x1b[2J"])
def test_a_message_does_not_command_the_terminal(embedded: Path, query: str) -> None:
    result = invoke("run", "-", stdin=query)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert "␛" in result.stderr  # Spark 4.3 names only this character of the second query


def test_a_json_array_has_commas_at_the_ends_of_lines() -> None:
    lines = JsonArrayFormat().format_lines([], [('{"n":1}',), ('{"n":2}',)])
    assert list(lines) == ["[", '  {"n":1},', '  {"n":2}', "]"]
    assert list(JsonArrayFormat().format_lines([], [])) == ["[]"]


def test_a_table_shows_bytes_as_literals(embedded: Path) -> None:
    """Engines cast bytes to different texts, and inside of other values, too."""
    del embedded
    query = """
        SELECT X'4142' AS a, X'FF00' AS b, X'' AS c, CAST(NULL AS BINARY) AS d,
               ARRAY(MAP('k', X'0A')) AS e, MAP(X'0B', 1) AS f,
               NAMED_STRUCT('x y', X'0C', 'n', 7) AS g, ARRAY(7) AS h
    """
    values = ["X'4142'", "X'FF00'", "X''", "NULL", "[{k -> X'0A'}]", "{X'0B' -> 1}", "{X'0C', 7}"]
    header, row = print_rows("table", query).splitlines()
    assert header.split() == ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert re.split(" {2,}", row) == [*values, "[7]"]
    markdown = print_rows("markdown", query).splitlines()[-1].replace("\\", "")
    assert markdown == f"| {' | '.join([*values, '[7]'])} |"


def test_a_struct_of_bytes_that_is_null(embedded: Path) -> None:
    del embedded
    query = "SELECT IF(n = 1, NAMED_STRUCT('x', X'0C'), NULL) AS g FROM VALUES (1), (2) AS t(n)"
    assert print_rows("table", f"{query} ORDER BY n").splitlines() == ["g", "{X'0C'}", "NULL"]
