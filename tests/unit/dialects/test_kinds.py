"""Kinds of the values of expressions. The expected kinds are from the docs of the products."""

import pytest
import sqlglot
from sqlglot import exp

import matchrec
from matchrec.dialects.rules.value_kinds import ValueKind, find_kind

COLUMNS = {
    "i": ValueKind.INTEGER,
    "f": ValueKind.FRACTION,
    "n": ValueKind.DECIMAL,
    "d": ValueKind.DATE,
    "ts": ValueKind.TIMESTAMP,
    "tn": ValueKind.TIMESTAMP_NTZ,
    "iv": ValueKind.INTERVAL,
    "s": ValueKind.TEXT,
}  # `u` is a column of an unknown kind

ALTERNATIVES = [
    ("GREATEST(1, 2.5)", ValueKind.DECIMAL),
    ("LEAST(2.5, 1, 1E0)", ValueKind.FRACTION),
    ("GREATEST(i, 1)", ValueKind.INTEGER),
    ("GREATEST(i, u)", None),
    ("IF(u, 1, 2.5E0)", ValueKind.FRACTION),
    ("IF(u, 1, NULL)", ValueKind.INTEGER),
    ("IF(u, 1)", ValueKind.INTEGER),
    ("CASE WHEN u > 0 THEN 1 ELSE 2.5 END", ValueKind.DECIMAL),
    ("CASE u WHEN 0 THEN i WHEN 1 THEN n WHEN 2 THEN f END", ValueKind.FRACTION),
    ("CASE WHEN u > 0 THEN NULL ELSE 1 END", ValueKind.INTEGER),
    ("CASE WHEN u > 0 THEN (NULL) ELSE u END", None),
    ("COALESCE(u, 0)", None),
    ("COALESCE(0, u)", None),
    ("COALESCE(NULL, NULL)", None),
    ("COALESCE(i, 0.5)", ValueKind.DECIMAL),
    ("NVL(i, f)", ValueKind.FRACTION),
    ("COALESCE(s, 'a')", ValueKind.TEXT),
    ("COALESCE(i, 'a')", None),
    ("COALESCE(s, d)", None),
    ("COALESCE(d, d)", ValueKind.DATE),
    ("COALESCE(d, ts)", ValueKind.TIMESTAMP),
    ("COALESCE(tn, d)", ValueKind.TIMESTAMP_NTZ),
    ("COALESCE(ts, tn)", None),
    ("COALESCE(d, i)", None),
    ("COALESCE(iv, ts - ts)", None),
    ("COALESCE(i > 1, u > 1)", ValueKind.OTHER),
    ("COALESCE(IF(u, 1, 2.5), 1)", ValueKind.DECIMAL),
    ("LAG(i)", ValueKind.INTEGER),
    ("LAG(i, 1, 2.5)", ValueKind.DECIMAL),
    ("LEAD(i, 1, NULL)", ValueKind.INTEGER),
    ("LEAD(i, 1, u)", None),
    ("NULLIF(i, 2.5)", ValueKind.INTEGER),
    ("MOD(i, 2.5)", ValueKind.DECIMAL),
    ("MOD(i, 2)", ValueKind.INTEGER),
    ("ROUND(i)", ValueKind.INTEGER),
    ("ROUND(n, 1)", ValueKind.DECIMAL),
    ("ROUND(f)", ValueKind.FRACTION),
    ("ROUND(s)", ValueKind.FRACTION),
    ("ROUND(u)", None),
    ("CEIL(i)", ValueKind.INTEGER),
    ("FLOOR(f)", None),  # a DOUBLE in Trino, a BIGINT in Spark
    ("i & 3", ValueKind.INTEGER),
    ("RANK() OVER (ORDER BY u)", ValueKind.INTEGER),
]

ARITHMETIC = [
    ("d + INTERVAL '1' HOUR", ValueKind.TIMESTAMP),
    ("d - INTERVAL '90' MINUTES", ValueKind.TIMESTAMP),
    ("INTERVAL '1' DAY + d", ValueKind.DATE),
    ("(d + INTERVAL '1' HOUR) - d", ValueKind.DIFFERENCE),
    ("i + 1", ValueKind.INTEGER),
    ("i - 1.5", ValueKind.DECIMAL),
    ("n * f", ValueKind.FRACTION),
    ("i % 2", ValueKind.INTEGER),
    ("i / 2", ValueKind.FRACTION),
    ("i / 2.5", ValueKind.DECIMAL),
    ("i + u", None),
    ("u * 1.5", None),
    ("'1' + 2", None),
    ("2 + '1'", None),
    ("s + s", None),
    ("d - ts", ValueKind.DIFFERENCE),
    ("ts - ts", ValueKind.DIFFERENCE),
    ("ts + ts", None),
    ("d * d", None),
    ("ts - u", None),
    ("ts + iv", ValueKind.TIMESTAMP),
    ("tn - iv", ValueKind.TIMESTAMP_NTZ),
    ("INTERVAL '1' DAY + ts", ValueKind.TIMESTAMP),
    ("iv - ts", None),
    ("iv * ts", None),
    ("(ts - ts) + ts", ValueKind.TIMESTAMP),
    ("ts - ts + ts", ValueKind.TIMESTAMP),
    ("ts - (ts - ts)", ValueKind.TIMESTAMP),
    ("d + 1", ValueKind.DATE),
    ("1 + d", ValueKind.DATE),
    ("d - 0.5", ValueKind.TIMESTAMP),
    ("ts - 1", ValueKind.TIMESTAMP),
    ("1 - d", None),
    ("d * 2", None),
    ("ts + s", None),
    ("iv + iv", ValueKind.INTERVAL),
    ("iv - INTERVAL '1' DAY", ValueKind.INTERVAL),
    ("iv + (ts - ts)", ValueKind.DIFFERENCE),
    ("iv * 2", ValueKind.INTERVAL),
    ("2 * iv", ValueKind.INTERVAL),
    ("iv / 2", ValueKind.INTERVAL),
    ("2 / iv", None),
    ("iv + 1", None),
    ("iv % 2", None),
    ("iv / iv", None),
]


def look_up(column: exp.Column) -> ValueKind | None:
    """Return the kind of a column."""
    return COLUMNS.get(column.name)


@pytest.mark.parametrize(("text", "expected"), [*ALTERNATIVES, *ARITHMETIC])
def test_an_expression_has_the_kind_of_its_value(text: str, expected: ValueKind | None) -> None:
    assert find_kind(sqlglot.parse_one(text, dialect="spark"), look_up) is expected


def test_a_call_of_mod_that_sqlglot_does_not_know() -> None:
    call = exp.Anonymous(this="mod", expressions=[exp.column("i"), exp.Literal.number("2.5")])
    assert find_kind(call, look_up) is ValueKind.DECIMAL


DIVISIONS = [
    # The digits of a decimal quotient in Trino depend on digits that are not known here.
    ("GREATEST(1, 2.5) / 2", "GREATEST(1, 2.5) / 2", ["Trino rounds a quotient of decimals"]),
    ("IF(x, 1, 2.5E0) / 2", "IF(x, 1, 2.5E0) / 2", []),
    (
        "CASE WHEN x > 0 THEN 1 ELSE 2.5 END / 2",
        "CASE WHEN x > 0 THEN 1 ELSE 2.5 END / 2",
        ["Trino rounds a quotient of decimals"],
    ),
    ("COALESCE(x, 1) / 2", "COALESCE(x, 1) / 2", ["the quotient of two integers is an integer"]),
    ("IF(x, 1, 3) / 2", "IF(x, 1, 3) DIV 2", []),
]


@pytest.mark.parametrize(("text", "expected", "notes"), DIVISIONS)
def test_a_quotient_of_alternatives_is_translated_by_their_kinds(
    text: str, expected: str, notes: list[str]
) -> None:
    translation = matchrec.transpile(f"SELECT {text} AS y FROM t", read="trino", write="spark")
    assert translation.text == f"SELECT {expected} AS y FROM t"
    assert len(translation.notes) == len(notes)
    for note, beginning in zip(translation.notes, notes, strict=True):
        assert note.message.startswith(beginning)


# Queries that are read by `SELECT x / 2`, and whether the quotient is one of integers.
UNIONS = [
    ("SELECT 1 AS x UNION ALL SELECT 2", "x DIV 2", []),
    ("SELECT 1 AS x UNION ALL SELECT NULL UNION ALL SELECT 3", "x DIV 2", []),
    ("SELECT 1 AS x UNION ALL SELECT 1E0", "x / 2", []),
    ("SELECT 1E0 AS x UNION ALL SELECT y FROM u", "x / 2", []),
    ("SELECT 1 AS x UNION ALL SELECT y FROM u", "x / 2", ["the quotient of two integers"]),
    ("SELECT 1 AS x UNION ALL SELECT * FROM u", "x / 2", ["the quotient of two integers"]),
    ("SELECT NULL AS x UNION ALL SELECT y FROM u", "x / 2", ["the quotient of two integers"]),
]


@pytest.mark.parametrize(("query", "expected", "notes"), UNIONS)
def test_a_quotient_of_a_unions_column_is_translated_by_its_kinds(
    query: str, expected: str, notes: list[str]
) -> None:
    text = f"SELECT x / 2 AS y FROM ({query}) AS q"
    translation = matchrec.transpile(text, read="trino", write="spark")
    assert translation.text == f"SELECT {expected} AS y FROM ({query}) AS q"
    assert len(translation.notes) == len(notes)
    for note, beginning in zip(translation.notes, notes, strict=True):
        assert note.message.startswith(beginning)


def test_a_recursion_has_the_kinds_of_its_first_query() -> None:
    query = "SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 9"
    text = f"WITH RECURSIVE r AS ({query}) SELECT x / 2 AS y FROM r"
    translation = matchrec.transpile(text, read="trino", write="spark")
    assert translation.text.endswith("SELECT x DIV 2 AS y FROM r")
    assert not any("quotient" in note.message for note in translation.notes)
