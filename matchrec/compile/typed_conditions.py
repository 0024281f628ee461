"""Type the conditions that Spark does not compute.

Conditions of the worker are typed like conditions on the run. A condition of the worker is rejected
if computing it there would cost more than Spark's sort, or would not give exactly Spark's result.
Then Spark sorts the rows of the query, and computes the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from matchrec.compile.columns import find_dividing_columns
from matchrec.compile.joined_queries import JoinedQueries, NearbyKey
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.functions.function import DEFAULT_SETTINGS, SessionSettings
from matchrec.conditions.residual import NearbyTest, TypedStep
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.run_condition import (
    MathFunction,
    PythonExpression,
    RunExpression,
    RunOperation,
    walk_expression,
)
from matchrec.conditions.types import NESTED, ValueType, is_wide_decimal
from matchrec.conditions.typing.run_columns import RunColumns
from matchrec.conditions.typing.steps import StepTyper
from matchrec.conditions.typing.typer import Typer
from matchrec.errors.conditions import only_engine_can_compute
from matchrec.search.task import NearbyCondition


@dataclass(frozen=True)
class TypedConditions:
    """The conditions of a query that the search and the workers compute, typed."""

    # The types of the columns of the query.
    types: Mapping[RowColumn, ValueType]
    # By the name of the variable, the part of its condition that depends on the run.
    run_conditions: Mapping[str, RunExpression]
    # The row conditions that the worker computes, each once.
    nearby: tuple[NearbyCondition, ...]
    # The columns that these expressions read.
    columns: RunColumns
    # Whether the session is in ANSI mode.
    ansi: bool
    # Other settings of the session.
    session: SessionSettings


def type_conditions(
    query: SplitQuery,
    types: Mapping[RowColumn, ValueType],
    joined: JoinedQueries,
    *,
    ansi: bool,
    session: SessionSettings = DEFAULT_SETTINGS,
) -> TypedConditions:
    """Type the conditions of a query that Spark does not compute.

    Args:
        query: the split query, which has the conditions without types.
        types: the types of `joined.columns`.
        joined: all queries that share the rows; they have the bits of the conditions.
        ansi: whether the session is in ANSI mode.
        session: other settings of the session.

    Raises:
        MatchRecognizePlanError: a condition is not boolean.
        MatchRecognizeUnsupportedError: the types do not allow an operation.
    """
    typer = StepTyper(types, ansi, session)
    run_conditions = {
        condition.variable: typer.type_condition(condition.run_step)
        for condition in query.conditions
        if condition.run_step is not None
    }
    nearby = type_nearby_tests(query, typer, joined)
    return TypedConditions(
        types=types,
        run_conditions=run_conditions,
        nearby=nearby,
        columns=typer.columns,
        ansi=ansi,
        session=session,
    )


def type_nearby_tests(
    query: SplitQuery, typer: Typer, joined: JoinedQueries
) -> tuple[NearbyCondition, ...]:
    """Return the row conditions that the worker computes, each once, typed.

    Raises:
        MatchRecognizeUnsupportedError: only Spark can compute one of these conditions.
    """
    dividing_columns = find_dividing_columns(query.plan)
    conditions: dict[int, NearbyCondition] = {}
    for condition, test in query.find_nearby_tests():
        spark_bit = joined.find_spark_bit(condition)
        bit = joined.nearby_bits[NearbyKey(dividing_columns, spark_bit, test.column)]
        if bit not in conditions:
            conditions[bit] = NearbyCondition(
                expression=type_nearby_test(test, typer),
                spark_bit=spark_bit,
                column=test.column,
                bit=bit,
                name=condition.variable,
            )
    return tuple(conditions.values())


def type_nearby_test(test: NearbyTest, typer: Typer) -> RunExpression:
    """Return the expression of a row condition that the worker computes.

    Raises:
        MatchRecognizeUnsupportedError: only Spark can compute the condition.
    """
    typed = typer.type_step(test.step)
    expression = typer.place_columns(typer.type_truth(typed))
    operations = list(find_operations(typed))
    calls_function = any(is_call(part) for part in walk_expression(expression))
    has_wide_decimals = any(is_wide_decimal(operation.type) for operation in operations)
    has_nested_operands = any(
        operand.type.family in NESTED for operation in operations for operand in operation.operands
    )
    if calls_function or has_wide_decimals or has_nested_operands:
        raise only_engine_can_compute(test.step.span, condition=show_column(test.column))
    return expression


def is_call(part: RunExpression) -> bool:
    """Return whether an expression is a call of a Python function or a mathematical function."""
    is_mathematical = isinstance(part, RunOperation) and isinstance(part.operator, MathFunction)
    return isinstance(part, PythonExpression) or is_mathematical


def find_operations(typed: TypedStep) -> Iterator[TypedStep]:
    """Yield the operations of an expression, outer operations first."""
    if typed.operands:
        yield typed
    for part in typed.operands:
        yield from find_operations(part)
