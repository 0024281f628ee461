"""The part of a query that an engine refuses is found, and a part that it accepts is not blamed."""

from __future__ import annotations

import pytest

from matchrec.errors.sql.refused_parts import (
    find_computed_index,
    find_invalid_literal,
    find_wrong_window,
)


def name_literal(type_name: str, content: str, text: str) -> str:
    """Return Spark's message about a literal: it names the literal, and repeats the query."""
    return (
        f'[INVALID_TYPED_LITERAL] The value of the typed literal "{type_name}" is invalid: '
        f"'{content}'. SQLSTATE: 42604\n== SQL (line 1, position 1) ==\n{text}"
    )


@pytest.mark.parametrize(
    ("valid", "type_name", "content", "note"),
    [
        ("DATE'now'", "DATE", "2024-13-01", "the month is 13"),
        ("DATE'2024-01-01 x'", "DATE", "2024-13-01", "the month is 13"),
        ("TIMESTAMP'10:00:00'", "TIMESTAMP", "2024-01-01 10:61:00", "the minute is 61"),
        ("TIMESTAMP'12:30'", "DATE", "12:30", ""),
    ],
)
def test_the_wrong_literal_is_found_by_the_message_of_spark(
    valid: str, type_name: str, content: str, note: str
) -> None:
    wrong = f"{type_name}'{content}'"
    text = f"x > {valid} OR x < {wrong}"
    error = find_invalid_literal(name_literal(type_name, content, text), text, "DEFINE")
    assert error is not None
    (span,) = error.spans
    assert text[span.start : span.end] == wrong
    assert error.notes == ((note,) if note else ())


def test_sail_accepts_any_text_after_a_date() -> None:
    text = "x > DATE'2024-01-01 25:00' OR x < DATE'2024-13-01'"
    error = find_invalid_literal("DateValue { year: 2024, month: 13, day: 1 }", text)
    assert error is not None
    assert error.notes == ("the month is 13",)


def test_over_without_a_window_may_follow_nested_calls() -> None:
    text = "SELECT sum(coalesce(abs(x), 0)) OVER FROM t"
    error = find_wrong_window("undefined window: FROM", text)
    assert error is not None
    assert error.message == "missing parentheses after OVER"
    (span,) = error.spans
    assert span.start == text.index("OVER")


@pytest.mark.parametrize(
    ("text", "notes", "hint"),
    [
        (
            "WITH a AS (SELECT 1), weeks AS (SELECT 2) SELECT sum(x) OVER week FROM weeks",
            (),
            "add WINDOW week AS (PARTITION BY ... ORDER BY ...), or write these in OVER",
        ),
        (
            "SELECT sum(x) OVER week FROM t WINDOW a AS (ORDER BY (x)),weak AS (ORDER BY y)",
            ("WINDOW has: a, weak",),
            "write weak",
        ),
        (
            "SELECT sum(x) OVER week FROM t WINDOW `weak` AS (ORDER BY x)",
            ("WINDOW has: weak",),
            "write weak",
        ),
        (
            "WITH t AS (SELECT sum(x) OVER week FROM s WINDOW weak AS ()), a AS (TABLE t) TABLE a",
            ("WINDOW has: weak",),
            "write weak",
        ),
    ],
)
def test_the_windows_are_those_of_window(text: str, notes: tuple[str, ...], hint: str) -> None:
    error = find_wrong_window("undefined window: week", text)
    assert error is not None
    assert (error.message, error.notes, error.hint) == ("unknown window `week`", notes, hint)


def test_an_index_may_be_computed_from_the_column_in_the_message() -> None:
    """The column `day` is not in the first index, because `today` is another word."""
    text = "xs[today] > tags[A.day + 1]"
    error = find_computed_index("Cannot cast string 'day' to value of bigint type", text)
    assert error is not None
    (span,) = error.spans
    assert text[span.start : span.end] == "tags[A.day + 1]"
