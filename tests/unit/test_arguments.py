"""Arguments of the functions that users call: what is accepted, and what messages suggest."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

from matchrec import AfterMatch, Pattern
from matchrec.arguments import COUNT, TEXT, check_arguments, find_table_library
from matchrec.errors import MatchRecognizePlanError


@check_arguments(query=TEXT, count=COUNT, frames=TEXT)
def return_arguments(
    query: str, *, count: int = 1, **frames: str
) -> tuple[str, int, dict[str, str]]:
    """Return the arguments."""
    return query, count, frames


def test_the_greatest_count_is_accepted() -> None:
    assert return_arguments("q", count=2_147_483_647) == ("q", 2_147_483_647, {})
    with pytest.raises(MatchRecognizePlanError, match="a whole number from 1 to 2147483647"):
        return_arguments("q", count=2_147_483_648)


def test_a_missing_argument_next_to_names_of_the_user() -> None:
    call: Any = return_arguments
    with pytest.raises(
        TypeError, match=r"^return_arguments\(\) missing a required argument: 'query'$"
    ):
        call(df="x")


def test_an_argument_by_position_and_by_name() -> None:
    call: Any = return_arguments
    with pytest.raises(
        TypeError, match=r"^return_arguments\(\) got multiple values for argument 'query'$"
    ):
        call("q", query="r")


def test_too_many_positional_arguments_are_rejected() -> None:
    call: Any = return_arguments
    takes_query = "return_arguments() takes query by position, and nothing else"
    with pytest.raises(TypeError, match=f"^{re.escape(takes_query)}; write count=2$"):
        call("q", 2)
    with pytest.raises(TypeError, match=f"^{re.escape(takes_query)}; it takes count=$"):
        call("q", "r")


def test_a_class_that_is_derived_from_a_frame_of_pandas() -> None:
    derived = type("Table", (pd.DataFrame,), {"to_arrow": None})
    assert find_table_library(derived({"x": [1]})) == "pandas"
    assert find_table_library(pd.Series([1])) is None


def test_a_skip_strategy_in_another_method() -> None:
    """In Flink, `begin` takes the strategy."""
    begin: Any = Pattern.begin
    with pytest.raises(TypeError) as raised:
        begin("a", AfterMatch.skip_to_first("b"))
    assert str(raised.value).endswith("; write .after_match(AfterMatch.skip_to_first('b'))")
