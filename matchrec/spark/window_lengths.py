"""Check lengths of windows that only the engine can compute, such as `WITHIN 2 - 2`.

A length of WITHIN that is not greater than 0 is an error in every spelling, and so is a length of a
frame that is negative. Literals are checked when they are read (`plan.rules`,
`syntax.lower_windows`). Other constants, such as `2 - 2` or `:gap`, are computed here, by a query
of one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from matchrec.conditions.types import Family
from matchrec.conditions.window_columns import OrderType
from matchrec.errors.rules import within_not_positive
from matchrec.errors.sql.window import wrong_frame_length
from matchrec.plan.clauses import RowExpression
from matchrec.plan.templates import join_template, nest_in_with_clauses
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import SESSION_ERRORS

# The instants to which a length of months and days is added, because months have 28 to 31 days. Two
# months are longest from 1 July on, and one month is as long as it can be from either instant.
_STARTS = ("2000-01-01 00:00:00", "2000-07-01 00:00:00")

# Templates for SQL of such an instant, by the type of the ORDER BY column.
_START_SQL = {
    Family.DATE: "CAST(TIMESTAMP_NTZ'{start}' AS DATE)",
    Family.TIMESTAMP: "TIMESTAMP'{start}'",
    Family.TIMESTAMP_NTZ: "TIMESTAMP_NTZ'{start}'",
}

# Spark's names of numeric types.
_NUMERIC_TYPES = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def check_constant_lengths(
    constants: tuple[RowExpression, ...], order: OrderType, runner: Runner
) -> None:
    """Check that constant lengths of WITHIN are greater than 0. Runs a job for each.

    A length that the engine rejects passes this check: the checks of types report it.

    Args:
        constants: the lengths.
        order: the type of the first ORDER BY column, to which the lengths are added.
        runner: runs the queries.

    Raises:
        MatchRecognizePlanError: a length is NULL, 0 or negative.
    """
    for constant in constants:
        results = _compute_constants(_write_length_tests(constant.text, order), runner)
        if results and True not in results:
            length = "NULL" if None in results else "0 or less"
            is_time = order.type.family in _START_SQL
            raise within_not_positive(constant.span, length=length, is_time=is_time)


def check_frame_length(constant: RowExpression, runner: Runner) -> None:
    """Check that a constant can be the number of rows in a frame. Runs jobs.

    Raises:
        MatchRecognizePlanError: the constant is NULL, negative or not a whole number.
    """
    length = f"({constant.text})"
    type_name = "".join(map(str, _compute_constants([f"typeof({length})"], runner)))
    if type_name == "void":
        raise wrong_frame_length(constant.span, length="NULL")
    if type_name and type_name.partition("(")[0] not in _NUMERIC_TYPES:
        problem = f"of type {type_name}, which is not a number"
        raise wrong_frame_length(constant.span, length=problem)
    results = _compute_constants([f"{length} < 0", f"{length} <> floor({length})"], runner)
    if None in results:
        raise wrong_frame_length(constant.span, length="NULL")
    for problem, has_problem in zip(("negative", "not a whole number"), results, strict=False):
        if has_problem:
            raise wrong_frame_length(constant.span, length=problem)


def _compute_constants(items: Iterable[str], runner: Runner) -> tuple[object, ...]:
    """Return the values of constant expressions; an empty tuple if the engine rejects them."""
    select = join_template("SELECT ", runner.find_holes(", ".join(items)))
    query = nest_in_with_clauses(select, runner.with_clauses)
    with suppress(*SESSION_ERRORS):
        return tuple(runner.sql(query).collect()[0])
    return ()


def _write_length_tests(length: str, order: OrderType) -> Iterator[str]:
    """Yield SQL tests of whether a length is greater than 0. Such a length passes one of them."""
    start_sql = _START_SQL.get(order.type.family)
    if start_sql is None:
        yield f"({length}) > 0"
        return
    for start_text in _STARTS:
        start = start_sql.format(start=start_text)
        yield f"{start} + ({length}) > {start}"
