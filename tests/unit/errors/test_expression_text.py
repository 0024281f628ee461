"""Expressions in the user's text, as errors split them."""

from __future__ import annotations

import pytest

from matchrec.errors.run.expression_text import (
    OperationText,
    list_indexed_values,
    read_tokens,
    split_at_operator,
    split_chain,
)
from matchrec.errors.run.repairs import guard_divisors


@pytest.mark.parametrize(
    "value", ["'x--y'", "'/* x */'", "'it''s -- x'", r"'\'--'", "`x--y`", "`/*`"]
)
def test_a_text_in_quotes_has_no_comments(value: str) -> None:
    assert split_at_operator(f"a = {value}") == OperationText("a", "=", value)


def test_a_string_over_several_lines_is_one_token() -> None:
    assert split_at_operator("a = 'x\ny'") == OperationText("a", "=", "'x\ny'")
    assert split_at_operator("a = 'x\\\ny'") == OperationText("a", "=", "'x\\\ny'")


@pytest.mark.parametrize("text", ["a = b -- c", "a = /* c */ b", "a = b /* c", "'x' = '--' --"])
def test_a_text_with_a_comment_has_no_tokens(text: str) -> None:
    assert read_tokens(text) is None
    assert split_at_operator(text) is None


def test_two_dashes_in_a_string_do_not_hide_a_division() -> None:
    assert guard_divisors("'--' < a / b") == "'--' < a / NULLIF(b, 0)"


def test_parentheses_around_a_chain_are_dropped() -> None:
    assert split_chain("((A.v < B.v < 5) )") == "A.v < B.v AND B.v < 5"
    assert split_chain("( 1 <= a + 1 < b )") == "1 <= a + 1 AND a + 1 < b"
    assert split_chain("(A.v < B.v) < 5") is None


def test_a_name_in_backticks_may_have_a_backtick() -> None:
    (indexed,) = list_indexed_values("`a``[b]`[n]")
    assert (indexed.value, indexed.index) == ("`a``[b]`", "n")
