"""Engines' errors in our words, for sentences that Spark 4 gives."""

from __future__ import annotations

import pytest

from matchrec.errors.sql import engine_errors, engine_explanations, types_and_literals

CAST_HINT = "write a CAST around one of them, so that both have one type"
CONDITION_HINT = "compare the value with something, such as x > 0"
ARRAY_HINT = "write a value computed from it, such as x[0] or size(x)"


@pytest.mark.parametrize(
    ("expression", "types", "sentence", "hint"),
    [
        ("((price > 1) AND 1)", ("BOOLEAN", "INT"), "AND needs BOOLEAN, but gets INT",
         CONDITION_HINT),
        ("(1 OR (s = a b))", ("INT", "BOOLEAN"), "OR needs BOOLEAN, but gets INT",
         CONDITION_HINT),
        ("((price > 1) + 1)", ("BOOLEAN", "INT"), "BOOLEAN and INT cannot be combined", CAST_HINT),
        ("(price + (price > 1))", ("INT", "BOOLEAN"), "INT and BOOLEAN cannot be combined",
         CAST_HINT),
        ("((price + 1) <=> a)", ("INT", "ARRAY<INT>"), "INT and ARRAY<INT> cannot be compared",
         ARRAY_HINT),
        # Spark leaves out the quotes of strings: '(a' = a.
        ("((a = a)", ("STRING", "ARRAY<INT>"), "STRING and ARRAY<INT> cannot be compared",
         ARRAY_HINT),
    ],
)  # fmt: skip
def test_the_outermost_operator_gets_two_types(
    expression: str, types: tuple[str, str], sentence: str, hint: str
) -> None:
    explanation = engine_explanations.explain_engine_error(
        f'Cannot resolve "{expression}" due to data type mismatch: the left and right operands of '
        f'the binary operator have incompatible types ("{types[0]}" and "{types[1]}").'
    )
    assert explanation == engine_explanations.EngineErrorExplanation(sentence, hint)


@pytest.mark.parametrize(
    ("source", "target", "hint"),
    [
        ("INT", "DATE", "write date_from_unix_date(x) for a number of days since 1970"),
        ("DECIMAL(2,1)", "DATE", "write date_from_unix_date(x) for a number of days since 1970"),
        ("BOOLEAN", "DATE", "compute a value that can be cast to DATE first"),
        ("INTERVAL DAY", "DATE", "compute a value that can be cast to DATE first"),
        ("DATE", "DOUBLE", "write unix_date(x) for the number of days since 1970"),
        ("DATE", "DECIMAL(5,1)", "write unix_date(x) for the number of days since 1970"),
        ("DATE", "BOOLEAN", "compute a value that can be cast to BOOLEAN first"),
        ("DATE", "ARRAY<INT>", "compute a value that can be cast to ARRAY<INT> first"),
    ],
)
def test_only_numbers_are_days_since_1970(source: str, target: str, hint: str) -> None:
    explanation = engine_explanations.explain_engine_error(f'cannot cast "{source}" to "{target}".')
    assert explanation is not None
    assert explanation.hint == hint


@pytest.mark.parametrize("text", ["NOT 'a'", "LIKE 'a'", "in 'a'", "r'x'"])
def test_a_word_before_a_string_is_not_always_a_type(text: str) -> None:
    assert types_and_literals.find_literal_hint(text) is None


def test_a_literal_of_a_type_in_lower_case_has_a_hint() -> None:
    hint = "write a valid TIMESTAMP_NTZ, such as TIMESTAMP_NTZ'2026-01-31 12:00:00'"
    assert types_and_literals.find_literal_hint("timestamp_ntz'x'") == hint


@pytest.mark.parametrize(("column", "written"), [("temp", "temp"), ("my col", "`my col`")])
def test_a_column_in_quotes_is_suggested_without_them(column: str, written: str) -> None:
    sentence = f"Cannot cast string '{column}' to value of Int32 type"
    hint = engine_errors.find_quoted_column_hint(sentence, ["id", column])
    assert hint == f"quotes make it a string: write {written} for the column"
