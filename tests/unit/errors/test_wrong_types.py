"""Hints for values of wrong types, which repeat the user's operands."""

from matchrec.errors.sql.wrong_types import TypedText, find_operands_hint


def test_a_condition_about_a_value_keeps_all_of_its_text() -> None:
    """The words `or` in the user's text and between two conditions are not the same."""
    value = TypedText("if(a or b, 1, 2)", "int")
    assert find_operands_hint("NOT", [value]) == "write NOT (if(a or b, 1, 2) > 0)"
    assert find_operands_hint("ANY", [value]) == (
        "write a condition in it: any(if(a or b, 1, 2) > 0)"
    )
