"""Check lengths of windows that only the engine can compute, such as `WITHIN 2 - 2`.

A length of WITHIN must be greater than 0, and the number of rows in a frame must not be negative.
Literals are checked when they are read (`plan.rules`, `syntax.lower_windows`). Other constants,
such as `2 - 2` or `:gap`, are computed here, by a query of one row.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from matchrec.conditions.types import Family
from matchrec.conditions.window_columns import OrderType
from matchrec.errors.rules import within_not_positive
from matchrec.errors.sql.window import wrong_frame_length
from matchrec.plan.clauses import RowExpression
from matchrec.plan.templates import join_template, nest_in_with_clauses
from matchrec.spark.runner import Runner
from matchrec.spark.session_errors import SESSION_ERRORS

# The instants to which a length is added to find out whether it is greater than 0. A length can
# have months and days: one month minus 30 days is greater than 0 only if the month has 31 days.
# Both instants begin such a month, and the second one also begins the two longest months in a row.
_STARTS = ("2000-01-01 00:00:00", "2000-07-01 00:00:00")

# Templates of SQL of such an instant, by the type of the ORDER BY column.
_START_TEMPLATES = {
    Family.DATE: "CAST(TIMESTAMP_NTZ'{start}' AS DATE)",
    Family.TIMESTAMP: "TIMESTAMP'{start}'",
    Family.TIMESTAMP_NTZ: "TIMESTAMP_NTZ'{start}'",
}

# Spark's names of numeric types.
_NUMERIC_TYPES = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def check_constant_lengths(
    constants: tuple[RowExpression, ...], order: OrderType, runner: Runner
) -> None:
    """Check that constant lengths of WITHIN are greater than 0. Runs a job for each length.

    A length that the engine rejects passes this check, because the checks of types report it.

    Args:
        constants: the lengths, as SQL without columns.
        order: the type of the first ORDER BY column, to which the lengths are added.
        runner: runs the queries.

    Raises:
        MatchRecognizePlanError: a length is NULL, 0 or negative.
    """
    for constant in constants:
        results = _compute_constants(_write_length_tests(constant.text, order), runner)
        if results is not None and True not in results:
            length = "NULL" if None in results else "0 or less"
            is_time = order.type.family in _START_TEMPLATES
            raise within_not_positive(constant.span, length=length, is_time=is_time)


def check_frame_length(constant: RowExpression, runner: Runner) -> None:
    """Check that a constant can be the number of rows in a frame. Runs two jobs.

    A constant that the engine rejects passes this check: the query itself raises the error.

    Raises:
        MatchRecognizePlanError: the constant is NULL, negative or not a whole number.
    """
    length = f"({constant.text})"
    types = _compute_constants([f"typeof({length})"], runner)
    if types is None:
        return
    type_name = str(types[0])
    if type_name == "void":
        raise wrong_frame_length(constant.span, length="NULL")
    if type_name.partition("(")[0] not in _NUMERIC_TYPES:
        problem = f"of type {type_name}, which is not a number"
        raise wrong_frame_length(constant.span, length=problem)
    results = _compute_constants([f"{length} < 0", f"{length} <> floor({length})"], runner)
    if results is None:
        return
    is_negative, is_fractional = results
    if is_negative is None:
        raise wrong_frame_length(constant.span, length="NULL")
    if is_negative:
        raise wrong_frame_length(constant.span, length="negative")
    if is_fractional:
        raise wrong_frame_length(constant.span, length="not a whole number")


def _compute_constants(items: Iterable[str], runner: Runner) -> tuple[object, ...] | None:
    """Return the values of constant expressions; None if the engine rejects them. Runs a job.

    Args:
        items: the expressions, as SQL.
        runner: runs the query.
    """
    select = join_template("SELECT ", runner.find_holes(", ".join(items)))
    query = nest_in_with_clauses(select, runner.with_clauses)
    with suppress(*SESSION_ERRORS):
        return tuple(runner.sql(query).collect()[0])
    return None


def _write_length_tests(length: str, order: OrderType) -> list[str]:
    """Return tests as SQL. A length is greater than 0 if it passes at least one of them.

    Args:
        length: the length, as SQL.
        order: the type of the first ORDER BY column.
    """
    template = _START_TEMPLATES.get(order.type.family)
    if template is None:
        return [f"({length}) > 0"]
    starts = [template.format(start=start_text) for start_text in _STARTS]
    return [f"{start} + ({length}) > {start}" for start in starts]
