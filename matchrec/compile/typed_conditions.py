"""Type the conditions that Spark does not compute.

The conditions of a query are split between Spark, the workers and the search: see
`conditions.split`. This module types two of these parts:

- conditions on the run, which the search evaluates, such as `price > 2 * LAST(A.price)`;
- nearby conditions, which a worker computes for all rows before the search, such as
  `price > PREV(price)`.

A nearby condition is rejected if computing it in the worker would cost more than letting Spark sort
the rows, or would not give exactly Spark's result. Then Spark sorts the rows, and computes the
condition itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from matchrec.compile.columns import find_dividing_columns
from matchrec.compile.joined_queries import JoinedQueries, NearbyKey
from matchrec.compile.split_query import SplitQuery
from matchrec.conditions.functions.function import SessionSettings
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

    # The type of each column of the query, and of the queries that share its rows.
    types: Mapping[RowColumn, ValueType]
    # The part of each variable's condition that depends on the run, by the name of the variable.
    run_conditions: Mapping[str, RunExpression]
    # The distinct row conditions that the worker computes.
    nearby_conditions: tuple[NearbyCondition, ...]
    # The columns that these expressions read.
    columns: RunColumns
    # Whether the session is in ANSI mode.
    ansi: bool
    # Other settings of the session.
    session: SessionSettings


def type_conditions(
    query: SplitQuery,
    types: Mapping[RowColumn, ValueType],
    joined_queries: JoinedQueries,
    *,
    ansi: bool,
    session: SessionSettings,
) -> TypedConditions:
    """Type those conditions of a query that the worker and the search compute.

    Args:
        query: the split query, which has the conditions without types.
        types: the types of `joined_queries.columns`, and perhaps of other columns.
        joined_queries: all queries that share the input rows. It numbers the bits of their
            conditions.
        ansi: whether the session is in ANSI mode.
        session: other settings of the session.

    Raises:
        MatchRecognizePlanError: a condition is not boolean.
        MatchRecognizeUnsupportedError: the types do not allow an operation, or only Spark can
            compute a condition of the worker.
    """
    typer = StepTyper(types, ansi, session)
    run_conditions = {
        condition.variable: typer.type_condition(condition.run_step)
        for condition in query.conditions
        if condition.run_step is not None
    }
    nearby_conditions = type_nearby_conditions(query, typer, joined_queries)
    return TypedConditions(
        types=types,
        run_conditions=run_conditions,
        nearby_conditions=nearby_conditions,
        columns=typer.columns,
        ansi=ansi,
        session=session,
    )


def type_nearby_conditions(
    query: SplitQuery, typer: Typer, joined_queries: JoinedQueries
) -> tuple[NearbyCondition, ...]:
    """Type each distinct condition that the worker computes.

    Two conditions are equal if they have the same bit: see `JoinedQueries.nearby_bits`.

    Raises:
        MatchRecognizeUnsupportedError: only Spark can compute one of these conditions.
    """
    dividing_columns = find_dividing_columns(query.plan)
    conditions_by_bit: dict[int, NearbyCondition] = {}
    for condition, test in query.find_nearby_tests():
        spark_bit = joined_queries.find_spark_bit(condition)
        bit = joined_queries.nearby_bits[NearbyKey(dividing_columns, spark_bit, test.column)]
        if bit not in conditions_by_bit:
            conditions_by_bit[bit] = NearbyCondition(
                expression=type_nearby_expression(test, typer),
                spark_bit=spark_bit,
                column=test.column,
                bit=bit,
                name=condition.variable,
            )
    return tuple(conditions_by_bit.values())


def type_nearby_expression(test: NearbyTest, typer: Typer) -> RunExpression:
    """Return the expression of a row condition that the worker computes.

    Raises:
        MatchRecognizeUnsupportedError: only Spark can compute the condition.
    """
    typed_step = typer.type_step(test.step)
    expression = typer.index_columns(typer.type_truth(typed_step))
    operations = list(iterate_operations(typed_step))
    # Calling a function for each row costs more than Spark's sort.
    has_function_call = any(calls_function(part) for part in walk_expression(expression))
    # The worker has only ranks of wide decimals. A decimal that is computed has no rank.
    has_wide_decimals = any(is_wide_decimal(operation.type) for operation in operations)
    # The worker has only ranks of arrays, structs and maps, and no parts of them.
    has_nested_operands = any(
        operand.type.family in NESTED for operation in operations for operand in operation.operands
    )
    if has_function_call or has_wide_decimals or has_nested_operands:
        raise only_engine_can_compute(test.step.span, condition=show_column(test.column))
    return expression


def calls_function(expression: RunExpression) -> bool:
    """Return whether an expression itself is a call of a Python or a mathematical function."""
    if isinstance(expression, PythonExpression):
        return True
    return isinstance(expression, RunOperation) and isinstance(expression.operator, MathFunction)


def iterate_operations(step: TypedStep) -> Iterator[TypedStep]:
    """Yield a step and the steps in it that have operands, outer steps first."""
    if step.operands:
        yield step
    for operand in step.operands:
        yield from iterate_operations(operand)
