"""The types of values that the worker computes are the types that Spark gives them."""

import pytest

from matchrec.compile.columns import find_step_columns
from matchrec.conditions.functions.function import DEFAULT_SETTINGS, SessionSettings
from matchrec.conditions.residual import ColumnRead, CombinedStep
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.run_condition import (
    Arithmetic,
    BasicOperator,
    Constant,
    OnFailure,
    ReadValue,
    RunAggregate,
    RunExpression,
    RunOperation,
    walk_expression,
)
from matchrec.conditions.split import RowScope, split_conditions
from matchrec.conditions.types import FLOAT, INT, Family, Kind, ValueType
from matchrec.conditions.typing.constants import find_constant
from matchrec.conditions.typing.steps import StepTyper, type_deferred
from matchrec.conditions.typing.typer import Typer
from matchrec.errors import MatchRecognizeError
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_row_expression
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.tokenize import read_tokens

TYPES = {
    "i": ValueType(Family.INTEGER, "int", 32),
    "b": ValueType(Family.INTEGER, "bigint", 64),
    "d": ValueType(Family.FLOATING, "double"),
    "f": FLOAT,
    "s": ValueType(Family.STRING, "string"),
    "day": ValueType(Family.DATE, "date"),
    "ts": ValueType(Family.TIMESTAMP, "timestamp"),
    "m": ValueType(Family.DECIMAL, "decimal(10,2)", 64, 10, 2),
    "w": ValueType(Family.DECIMAL, "decimal(30,2)", 64, 30, 2),
    "m * 2": ValueType(Family.DECIMAL, "decimal(12,2)", 64, 12, 2),
    "n": ValueType(Family.DECIMAL, "decimal(12,4)", 64, 12, 4),
    "INTERVAL 1 HOUR": ValueType(Family.INTERVAL, "interval hour"),
    "local": ValueType(Family.TIMESTAMP_NTZ, "timestamp_ntz"),
    "'DAY'": ValueType(Family.STRING, "string"),
    "1.5": ValueType(Family.DECIMAL, "decimal(2,1)", 64, 2, 1),
    **dict.fromkeys(map(str, range(10)), INT),
}


def type_condition_of_b(
    condition: str, settings: SessionSettings = DEFAULT_SETTINGS, *, ansi: bool = True
) -> tuple[RunExpression, Typer]:
    """Return the expression of B's condition in PATTERN (A+ B)."""
    plan = lower_clause(parse_clause(f"ORDER BY t PATTERN (A+ B) DEFINE B AS {condition}"))
    (condition_parts,) = split_conditions(plan, RowScope.SPARK)
    step = condition_parts.run_step
    assert step is not None
    typer = StepTyper(
        {build_row_column(text): type_ for text, type_ in TYPES.items()}, ansi, settings
    )
    return typer.type_condition(step), typer


def find_operator(expression: RunExpression) -> object:
    """Return the operator of an expression; None if it is not an operation."""
    return expression.operator if isinstance(expression, RunOperation) else None


def type_comparison_of_b(condition: str) -> RunOperation:
    """Return the typed comparison of a condition."""
    expression, _ = type_condition_of_b(condition)
    assert isinstance(expression, RunOperation)
    return expression


@pytest.mark.parametrize(
    ("value", "is_deferred"),
    [
        ("i + 1", True),
        ("-b", True),
        ("d * 2 + d", False),  # doubles do not overflow
        ("m * 2", False),  # nor has the type too few digits
        ("10 / d", True),
        ("d / 2", False),
        ("CAST(s AS INT)", True),
        ("CAST(b AS INT)", True),
        ("CAST(i AS BIGINT)", False),
        ("levenshtein(CAST(i AS STRING), s)", False),
        ("CAST(m AS DOUBLE)", False),
        ("levenshtein(CAST(CAST(s AS INT) AS STRING), s)", True),
        ("CAST(ts AS DATE)", False),
        ("greatest(i, xs[1])", False),  # an element is Spark's alone
    ],
)
def test_expressions_that_may_fail_after_other_conditions_are_deferred(
    value: str, is_deferred: bool
) -> None:
    step = build_guarded_step(value)
    known_types = {build_row_column(text): type_ for text, type_ in TYPES.items()}
    types = {
        column: known_types.get(column, TYPES["m" if "m" in column.text else "i"])
        for column in find_step_columns(step)
    }
    typer = StepTyper(types, ansi=True)
    assert (type_deferred(typer, step) is not None) is is_deferred
    assert type_deferred(StepTyper(types, ansi=False), step) is None


def build_guarded_step(value: str) -> ColumnRead:
    """Return the step of a value that is compared after a condition on another row.

    The value is on the left side of the second comparison in `A.i > B.i AND value > A.i`.
    """
    text = f"A.i > B.i AND {value} > A.i"
    plan = lower_clause(parse_clause(f"ORDER BY t PATTERN (A+ B) DEFINE B AS {text}"))
    (condition,) = split_conditions(plan, RowScope.SPARK)
    step = condition.run_step
    assert isinstance(step, CombinedStep)
    second_comparison = step.operands[1]
    assert isinstance(second_comparison, CombinedStep)
    read = second_comparison.operands[0]
    assert isinstance(read, ColumnRead)
    return read


def test_integers_stay_integers() -> None:
    expression = type_comparison_of_b("i - FIRST(A.i) > 3")
    assert isinstance(expression.operands[0], Arithmetic)
    assert (
        expression.operands[0].kind,
        expression.operands[0].bits,
        expression.operands[0].on_error,
    ) == (Kind.INTEGER, 32, OnFailure.RAISE)
    assert expression.operands[1] == Constant(3, Kind.INTEGER)


def test_an_integer_with_a_float_is_widened() -> None:
    expression = type_comparison_of_b("d > FIRST(A.i)")
    assert isinstance(expression.operands[0], ReadValue)
    assert expression.operands[0].kind is Kind.FLOATING
    assert find_operator(expression.operands[1]) is BasicOperator.WIDEN


@pytest.mark.parametrize("condition", ["f + A.f = A.f", "-(f * A.f) = A.f", "round(f - A.f) = A.f"])
def test_floats_are_rounded_to_32_bits(condition: str) -> None:
    assert BasicOperator.NARROW in set(
        map(find_operator, walk_expression(type_condition_of_b(condition)[0]))
    )


@pytest.mark.parametrize(
    "condition",
    ["f / A.f = A.f", "f % A.f = A.f", "f + A.d = A.f", "f + A.i = A.f", "f + sum(A.f) = 1"],
)
def test_exact_and_double_operands_are_not_rounded(condition: str) -> None:
    assert BasicOperator.NARROW not in set(
        map(find_operator, walk_expression(type_condition_of_b(condition)[0]))
    )


def test_an_integer_with_a_float_is_rounded_without_ansi() -> None:
    expression, _ = type_condition_of_b("b = A.f", ansi=False)
    assert isinstance(expression, RunOperation)
    assert find_operator(expression.operands[0]) is BasicOperator.NARROW
    assert find_operator(type_comparison_of_b("b = A.f").operands[0]) is BasicOperator.WIDEN


@pytest.mark.parametrize("condition", ["greatest(d, A.f, A.b) > 1", "d IN (A.b, A.f)"])
@pytest.mark.parametrize("ansi", [False, True])
def test_three_types_are_brought_to_double_at_once(condition: str, ansi: bool) -> None:
    assert BasicOperator.NARROW not in set(
        map(find_operator, walk_expression(type_condition_of_b(condition, ansi=ansi)[0]))
    )


def test_division_is_floating() -> None:
    expression = type_comparison_of_b("i / FIRST(A.i) > 2")
    assert isinstance(expression.operands[0], Arithmetic)
    assert expression.operands[0].kind is Kind.FLOATING


def test_timestamps_subtract_to_intervals() -> None:
    expression = type_comparison_of_b("ts - FIRST(A.ts) < INTERVAL 1 HOUR")
    assert isinstance(expression.operands[0], Arithmetic)
    assert expression.operands[1] == Constant(3_600_000_000, Kind.INTEGER)


def test_dates_subtract_to_days_or_intervals() -> None:
    assert isinstance(
        type_comparison_of_b("datediff(day, LAST(A.day)) <= 3").operands[0], Arithmetic
    )
    assert isinstance(
        type_comparison_of_b("day - LAST(A.day) < INTERVAL 1 HOUR").operands[0], Arithmetic
    )


def test_two_decimals_are_brought_to_one_scale() -> None:
    expression = type_comparison_of_b("m > LAST(A.n)")
    assert isinstance(expression.operands[0], Arithmetic)
    assert expression.operands[0].operands[1] == Constant(100, Kind.INTEGER)
    assert isinstance(expression.operands[1], ReadValue)


def test_decimals_too_wide_for_an_int64_are_cast_by_spark_and_ranked() -> None:
    _, typer = type_condition_of_b("m > LAST(A.w)")
    texts = [column.text for column in typer.columns.integer_columns]
    assert texts == ["CAST(m AS decimal(30,2))", "w"]
    assert typer.columns.ranked_columns == set(typer.columns.integer_columns)


def test_arithmetic_of_decimals_keeps_the_point() -> None:
    expression = type_comparison_of_b("m * 2 + LAST(A.m) > avg(A.m)")
    assert isinstance(expression.operands[0], Arithmetic)
    assert isinstance(expression.operands[1], Arithmetic)


def test_functions_of_several_rows_are_written_with_basic_ones() -> None:
    for condition in (
        "abs(d - FIRST(A.d)) / FIRST(A.d) > 1.5",
        "coalesce(LAST(A.i), b) > 2",
        "greatest(i, LAST(A.i), FIRST(A.i)) > 2",
        "if(i > LAST(A.i), i, LAST(A.b)) > 2",
        "s IS DISTINCT FROM LAST(A.s)",
        "(i > LAST(A.i)) IS NOT TRUE",
        "nullif(i, LAST(A.i)) IS NULL",
    ):
        type_condition_of_b(condition)


def test_a_decimal_literal_with_a_float_is_a_float() -> None:
    expression, typer = type_condition_of_b("d - FIRST(A.d) > 1.5")
    assert isinstance(expression, RunOperation)
    assert expression.operands[1] == Constant(1.5, Kind.FLOATING)
    assert [column.text for column in typer.columns.float_columns] == ["d"]


@pytest.mark.parametrize(
    ("text", "type_", "held"),
    [
        ("(7)", TYPES["b"], 7),
        ("300", ValueType(Family.INTEGER, "tinyint", 8), None),
        ("0.25", TYPES["m"], 25),
        ("0.125", TYPES["m"], None),
        ("123456789", TYPES["m"], None),
        ("1.5", TYPES["w"], None),
        ("0.1", TYPES["d"], 0.1),
        ("0.1", TYPES["f"], None),
        ("90", TYPES["INTERVAL 1 HOUR"], None),
        ("INTERVAL '1.5' SECOND", TYPES["INTERVAL 1 HOUR"], 1_500_000),
        ("INTERVAL '1' HOUR", TYPES["b"], None),
        ("rand()", TYPES["d"], None),
    ],
)
def test_a_literal_is_a_constant_if_its_type_can_hold_it(
    text: str, type_: ValueType, held: int | float | None
) -> None:
    written = parse_row_expression(read_tokens(text), ClausePart.WITHIN)
    column = build_row_column(written.text, written.amount)
    constant = find_constant(ColumnRead(column, None, None, Span(0, 0)), type_)
    assert (constant and constant.expression) == (held and Constant(held, type_.kind))


def test_aggregates_have_sparks_types() -> None:
    for condition, kind in (("sum(A.i) > b", Kind.INTEGER), ("avg(A.i) > d", Kind.FLOATING)):
        expression = type_comparison_of_b(condition)
        assert isinstance(expression.operands[0], RunAggregate)
        assert expression.operands[0].kind is kind


def test_count_needs_no_value() -> None:
    _, typer = type_condition_of_b("count(A.s) > 2")
    assert [column.text for column in typer.columns.integer_columns] == ["IF((s) IS NULL, NULL, 1)"]


def test_strings_are_compared_by_rank() -> None:
    _, typer = type_condition_of_b("s > LAST(A.s)")
    assert typer.columns.ranked_columns == {build_row_column("s")}


def test_between_and_in_are_comparisons() -> None:
    between, _ = type_condition_of_b("b BETWEEN FIRST(A.i) AND LAST(A.b)")
    assert find_operator(between) is BasicOperator.AND


@pytest.mark.parametrize(
    "condition",
    [
        "s - LAST(A.i) > 1",
        "ts > greatest(A.day, LAST(B.day))",
        "sum(A.s) > 1",
        "m / LAST(A.ts) > i",
        "b + sum(A.b)",
    ],
)
def test_an_unsupported_operation_raises_an_error_with_advice(condition: str) -> None:
    with pytest.raises(MatchRecognizeError) as caught:
        type_condition_of_b(condition)
    assert caught.value.hint


@pytest.mark.parametrize(
    "condition",
    [
        "CAST(greatest(A.day, day) AS TIMESTAMP) > local",
        "greatest(A.day, day)::timestamp > local",
        "try_cast(greatest(A.ts, ts) AS TIMESTAMP) > local",
        "to_timestamp(greatest(A.day, day)) > local",
        "timestamp(greatest(A.day, day)) > ts",
    ],
)
def test_the_session_decides_the_type_of_timestamp(condition: str) -> None:
    # typeof() of each in Spark 4.1 with that setting
    type_condition_of_b(condition, SessionSettings(timestamp_type="timestamp_ntz"))


def test_a_time_zone_that_python_lacks() -> None:
    in_systemv = SessionSettings("systemv/pst8pdt")
    type_condition_of_b("levenshtein(s, A.s) > 2", in_systemv)
    with pytest.raises(MatchRecognizeError, match="needs the time zone `systemv/pst8pdt`"):
        type_condition_of_b("datediff(greatest(A.ts, ts), ts) > 2", in_systemv)
