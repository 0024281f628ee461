"""The catalogue of functions that Python computes, and its page in the docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from matchrec.conditions.functions import TIME_PREFIX, load_functions
from matchrec.conditions.functions.comparisons import COMPARISONS
from matchrec.conditions.residual import ColumnRead, CombinedStep
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.conditions.typing.python_values import NEVER_IN_PYTHON
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.operators import BASIC_OPERATORS, OperatorKind, find_operator_names
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "functions.md"
WRITTEN = {"[]": "x[i]"}
SPECIAL = {"x::T"}
"""Another way to write CAST."""


def test_the_basic_operations_that_python_computes_are_those_of_the_catalogue() -> None:
    assert BASIC_OPERATORS & load_functions().keys() == BASIC_OPERATORS - NEVER_IN_PYTHON


def test_the_page_lists_all_functions() -> None:
    text = PAGE.read_text(encoding="utf-8")
    _, _, after_title = text.partition("## Functions in Python\n")
    table, _, _ = after_title.partition("\n## ")
    names = re.findall(r"`([^`]+)`", table.replace("\\|", "|"))
    listed = {name.lower() for name in names} - {"+", "-", "*", "/"}
    signs = find_operator_names(OperatorKind.ARITHMETIC) | COMPARISONS.keys()
    computed = {
        WRITTEN.get(name, name).lower()
        for name in load_functions().keys() | find_operator_names(OperatorKind.CAST)
        if name not in signs and not name.startswith(TIME_PREFIX)
    }
    assert listed - {name.lower() for name in SPECIAL} == computed


FUNCTIONS_OF_ONE_ROW = """
    bin bit_count bit_get getbit conv factorial width_bucket octet_length bit_length initcap
    lpad rpad overlay reverse repeat space substring_index translate find_in_set ascii chr char
    soundex mask elt md5 sha sha1 sha2 crc32 base64 hex unhex hash xxhash64 format_string printf
    url_encode url_decode luhn_check date_format from_unixtime make_timestamp make_timestamp_ltz
    make_timestamp_ntz make_dt_interval make_ym_interval make_date date_from_unix_date
    timestamp_seconds timestamp_millis timestamp_micros next_day regexp_extract_all regexp_count
    regexp_substr regexp_instr array_remove array_append array_prepend array_repeat
    array_compact sequence map_from_arrays map_from_entries map_concat map_entries map_keys
    map_values cbrt expm1 log1p rint degrees tan cot sec csc atan sinh cosh tanh asinh acosh atanh
    dayname monthname array_distinct array_sort btrim bround year quarter month weekofyear day
    dayofmonth dayofweek weekday dayofyear hour minute second last_day unix_timestamp
    to_unix_timestamp unix_seconds unix_millis unix_micros unix_date flatten array array_min
    array_max sort_array struct length len char_length character_length upper ucase lower lcase
    trim ltrim rtrim
"""
FUNCTIONS_OF_TWO_ROWS = """
    hypot atan2 split array_except map map_contains_key from_utc_timestamp to_utc_timestamp
    concat_ws regexp_extract months_between add_months trunc date_trunc array_position array_join
    get array_union pmod substring substr left right instr locate position replace split_part
    startswith endswith contains element_at try_element_at
"""
WITH_LAMBDAS = """
    aggregate exists filter forall map_filter map_zip_with reduce transform transform_keys
    transform_values zip_with
"""
CALLS = {
    **dict.fromkeys(FUNCTIONS_OF_ONE_ROW.split(), "{}(A.x || B.y)"),
    **dict.fromkeys(FUNCTIONS_OF_TWO_ROWS.split(), "{}(A.x, B.y)"),
    "extract": "{}(DAY FROM B.t - A.t)",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_that_spark_alone_computes_is_refused_of_several_rows(name: str) -> None:
    call = CALLS[name].format(name)
    plan = lower_clause(parse_clause(f"PATTERN (A B) DEFINE B AS {call} IS NULL"))
    with pytest.raises(MatchRecognizeUnsupportedError) as caught:
        split_conditions(plan, RowScope.SPARK)
    assert caught.value.message.startswith(
        f"`{name.upper()}` over several rows of the match is not"
    )
    assert caught.value.hint.startswith("make it a measure")


@pytest.mark.parametrize("operator", ["ILIKE", "NOT ILIKE", "RLIKE"])
def test_an_operator_that_spark_alone_computes_is_refused_of_several_rows(operator: str) -> None:
    plan = lower_clause(parse_clause(f"PATTERN (A B) DEFINE B AS B.x {operator} A.y"))
    with pytest.raises(MatchRecognizeUnsupportedError) as caught:
        split_conditions(plan, RowScope.SPARK)
    assert caught.value.message.startswith(f"`{operator}` over several rows of the match is not")


@pytest.mark.parametrize(
    "call",
    ["to_date(A.x || B.y, 'yyyy')", "to_timestamp(A.x || B.y, B.z)", "date_add(A.x, B.y, 1)"],
)
def test_a_call_with_further_arguments_is_refused_of_several_rows(call: str) -> None:
    """With fewer arguments, the call is a cast or a sum of days."""
    plan = lower_clause(parse_clause(f"PATTERN (A B) DEFINE B AS {call} > B.d"))
    name = call.partition("(")[0]
    with pytest.raises(MatchRecognizeUnsupportedError, match=f"(?i)^`{name}` over several rows"):
        split_conditions(plan, RowScope.SPARK)


@pytest.mark.parametrize("name", WITH_LAMBDAS.split())
def test_a_function_that_takes_a_lambda_is_refused_of_several_rows(name: str) -> None:
    plan = lower_clause(
        parse_clause(f"PATTERN (A B) DEFINE B AS {name}(A.x, (k, v) -> k > B.y) IS NULL")
    )
    with pytest.raises(MatchRecognizeUnsupportedError, match=f"^`{name}` with a lambda in DEFINE"):
        split_conditions(plan, RowScope.SPARK)


def test_a_call_that_reads_one_row_is_computed_by_spark() -> None:
    plan = lower_clause(parse_clause("PATTERN (A B) DEFINE B AS md5(A.x || A.y) = md5(B.x)"))
    ((step,),) = ([condition.run_step] for condition in split_conditions(plan, RowScope.SPARK))
    assert isinstance(step, CombinedStep)
    assert [type(operand) for operand in step.operands] == [ColumnRead, ColumnRead]
