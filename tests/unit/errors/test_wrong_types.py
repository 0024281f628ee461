"""Hints for values of wrong types, which repeat the user's operands."""

from matchrec.errors.sql.operand_hints import find_operands_hint
from matchrec.errors.sql.type_kinds import TypedText
from matchrec.errors.surface import COMMAND_LINE, use_surface


def test_a_condition_about_a_value_keeps_all_of_its_text() -> None:
    """The words `or` in the user's text and between two conditions are not the same."""
    value = TypedText("if(a or b, 1, 2)", "int")
    assert find_operands_hint("NOT", [value]) == "write NOT (if(a or b, 1, 2) > 0)"
    assert find_operands_hint("ANY", [value]) == (
        "write a condition in it: any(if(a or b, 1, 2) > 0)"
    )


def test_a_parameter_for_a_length_of_time_stays_a_parameter() -> None:
    """The value is wrong, and not the query, which the user may have for other values."""
    start, past = TypedText("FIRST(at)", "timestamp"), TypedText("at - PREV(at)", "interval day")
    operations = (
        ("+", [start, TypedText(":gap", "string")]),
        ("-", [start, TypedText(":gap", "int")]),
        ("<", [past, TypedText(":gap", "string")]),
        (">", [TypedText(":gap", "int"), past]),
    )
    for operator, operands in operations:
        timedelta = "pass a timedelta, such as timedelta(minutes=10)"
        assert find_operands_hint(operator, operands) == timedelta
        with use_surface(COMMAND_LINE):
            interval = "pass --arg gap=\"INTERVAL '10' MINUTE\""
            assert find_operands_hint(operator, operands) == interval
    added = find_operands_hint("+", [start, TypedText(":gap || 's'", "string")])
    assert added == "write FIRST(at) + INTERVAL '1' DAY, or HOUR, MINUTE or SECOND"


def test_a_date_in_quotes_becomes_a_date() -> None:
    operands = [TypedText("'2026-01-01'", "string"), TypedText("1", "int")]
    assert find_operands_hint("+", operands) == "write DATE'2026-01-01' + 1"


def test_operands_that_are_several_calls_get_parentheses() -> None:
    joined = TypedText("f(a) || g(b)", "array<int>")
    assert find_operands_hint("CAST", [joined], "INT") == (
        "write CAST((f(a) || g(b))[0] AS INT) for one element"
    )


def test_an_array_after_in_keeps_the_parentheses_of_its_calls() -> None:
    operands = [TypedText("'a'", "string"), TypedText("(split(s, ','))", "array<string>")]
    assert find_operands_hint("IN", operands) == "write array_contains(split(s, ','), 'a')"


def test_a_number_that_differs_from_true_is_zero() -> None:
    number, true = TypedText("n", "int"), TypedText("TRUE", "boolean")
    assert find_operands_hint("<>", [number, true]) == "write n = 0"
    assert find_operands_hint("<>", [number, true._replace(text="FALSE")]) == "write n <> 0"


def test_a_pattern_of_like_that_is_computed_is_cast() -> None:
    operands = [TypedText("s", "string"), TypedText("n + 1", "int")]
    assert find_operands_hint("LIKE", operands) == "write s LIKE CAST(n + 1 AS STRING)"


def test_a_chain_of_comparisons_may_contain_calls() -> None:
    """The sign in `f(a < b)` is not a part of the chain."""
    chain = TypedText("PREV(price) < price", "boolean")
    assert find_operands_hint("<", [chain, TypedText("5", "int")]) == (
        "write PREV(price) < price AND price < 5"
    )
    call = TypedText("f(a < b)", "boolean")
    assert find_operands_hint("<", [call, TypedText("5", "int")]) == (
        "write x > 1 AND x < 5 for a value between two others"
    )
