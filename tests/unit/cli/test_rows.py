"""Rows as text: what programs read back is what the query gave, marks, NULLs and all."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

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


def printed(form: str, query: str = AWKWARD, *options: str) -> str:
    """What a query prints in a format."""
    result = invoke("run", "-", "--format", form, *options, given=query)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_csv(embedded: Path) -> None:
    text = printed("csv")
    assert list(csv.reader(StringIO(text, newline=""))) == [
        NAMES,
        ["1", 'a,b "c"', "[1,null]", '{"x":"it\'s"}', "AP8=", "1.50", "2026-01-31"],
        ["2", "", "[]", '{"x":null}', "", "0.00", ""],
        ["3", "", "", "", "", "", ""],
        ["4", " two\nlines|*\\ ", "[2]", '{"x":"\\""}', "", "-2.25", "0001-01-01"],
    ]
    assert '\n2,"",[]' in text, "an empty text"
    assert "\n3,,,,,,\n" in text, "NULL"


def test_json(embedded: Path) -> None:
    rows = [
        [1, 'a,b "c"', [1, None], {"x": "it's"}, "AP8=", 1.5, "2026-01-31"],
        [2, "", [], {"x": None}, "", 0.0, None],
        [3, None, None, None, None, None, None],
        [4, " two\nlines|*\\ ", [2], {"x": '"'}, None, -2.25, "0001-01-01"],
    ]
    expected = [dict(zip(NAMES, row, strict=True)) for row in rows]
    assert json.loads(printed("json")) == expected
    assert [json.loads(line) for line in printed("jsonl").splitlines()] == expected
    nothing = "SELECT 1 AS n WHERE FALSE"
    assert json.loads(printed("json", nothing)) == []
    assert printed("jsonl", nothing) == ""


def test_a_time_without_a_zone_has_none_in_json(embedded: Path) -> None:
    query = "SELECT TIMESTAMP_NTZ'2026-01-31 10:00:00.25' AS t, CAST(NULL AS TIMESTAMP_NTZ) AS n"
    assert json.loads(printed("json", query)) == [{"t": "2026-01-31T10:00:00.25", "n": None}]


def test_markdown(embedded: Path) -> None:
    query = AWKWARD.replace("SELECT *", "SELECT n, s, n AS `a|b`, s AS top_date").replace(
        "4,", "5,"
    )
    assert printed("markdown", query, "--limit", "4").splitlines() == [
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
    assert printed("table", query).splitlines() == [
        " n  [s]                      list",
        " 1  [red]                    [1, null]",
        "10  :smile: and a long text  NULL",
    ]


def test_a_table_in_a_file_is_as_wide_as_it_must_be(embedded: Path) -> None:
    query = "SELECT repeat('x', 500) AS s"
    assert printed("table", query).splitlines() == ["s", "x" * 500]


HOSTILE = "SELECT '\\u001b]0;owned\\u0007 \\u001b[2J\\u009b1m' AS `a\x1b[2Jb`, 'two\\nlines' AS t"


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_a_value_does_not_command_the_terminal(embedded: Path, form: str) -> None:
    text = printed(form, HOSTILE)
    assert not [one for one in text if one != "\n" and (ord(one) < 32 or 127 <= ord(one) < 160)]
    assert "␛]0;owned␇ ␛" in text
    assert "a␛" in text.splitlines()[0]


def test_a_program_reads_the_value_itself(embedded: Path) -> None:
    (row,) = json.loads(printed("json", HOSTILE))
    assert row["a\x1b[2Jb"] == "\x1b]0;owned\x07 \x1b[2J\x9b1m"


@pytest.mark.parametrize("query", ["SELECT `\x1b[2J` FROM VALUES (1) AS t(x)", "SELECT \x1b[2J"])
def test_a_message_does_not_command_the_terminal(embedded: Path, query: str) -> None:
    result = invoke("run", "-", given=query)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert "␛[2J" in result.stderr
