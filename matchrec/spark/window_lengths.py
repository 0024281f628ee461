"""Lengths of windows that only the engine can compute, such as `WITHIN 2 - 2` or `WITHIN :gap`.

A length of WITHIN that is not more than 0 is an error in every spelling, and so is a length of a
frame that is negative. Literals are checked when they are read (`plan.rules`,
`syntax.lower_windows`); other constants are computed here, in one query of one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from matchrec.conditions.row_column import OrderType
from matchrec.conditions.types import Family
from matchrec.errors.rules import within_without_length
from matchrec.errors.sql.window import wrong_frame_length
from matchrec.plan.clauses import RowExpression
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import template
from matchrec.spark.relation import Runner
from matchrec.spark.session import FAILURES

# Months have 28 to 31 days, so a length of months and days is tried from two days of a year. Two
# months are longest from 1 July on; one is as long as it can be from either day.
_STARTS = ("2000-01-01 00:00:00", "2000-07-01 00:00:00")

_TIMES = {
    Family.DATE: "CAST(TIMESTAMP_NTZ'{start}' AS DATE)",
    Family.TIMESTAMP: "TIMESTAMP'{start}'",
    Family.TIMESTAMP_NTZ: "TIMESTAMP_NTZ'{start}'",
}

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")


def find_constants(plan: MatchPlan) -> tuple[RowExpression, ...]:
    """Return the lengths of windows that are constants with an unknown value."""
    return tuple(one for one in plan.intervals if one.is_constant and one.amount is None)


def check_constant_lengths(
    constants: tuple[RowExpression, ...], order: OrderType, runner: Runner
) -> None:
    """Raise MatchRecognizePlanError for a constant length that is NULL, 0 or negative.

    A length that the engine refuses is left to the checks of types, which say what is wrong.
    """
    for constant in constants:
        row = _compute(_tests(constant.text, order), runner)
        if row and True not in row:
            length = "NULL" if None in row else "0 or less"
            raise within_without_length(constant.span, length=length)


def check_frame_length(constant: RowExpression, runner: Runner) -> None:
    """Raise MatchRecognizePlanError if a constant is not a length of a frame."""
    length = f"({constant.text})"
    type_name = "".join(map(str, _compute([f"typeof({length})"], runner)))
    if type_name == "void":
        raise wrong_frame_length(constant.span, length="NULL")
    if type_name and type_name.partition("(")[0] not in _NUMBERS:
        words = f"of type {type_name}, which is not a number"
        raise wrong_frame_length(constant.span, length=words)
    row = _compute([f"{length} < 0", f"{length} <> floor({length})"], runner)
    if None in row:
        raise wrong_frame_length(constant.span, length="NULL")
    for words, is_so in zip(("negative", "not a whole number"), row, strict=False):
        if is_so:
            raise wrong_frame_length(constant.span, length=words)


def _compute(items: Iterable[str], runner: Runner) -> tuple[object, ...]:
    """Return the values of constant expressions; an empty tuple if the engine refuses them."""
    query = runner.in_scope(template("SELECT ", runner.written(", ".join(items))))
    with suppress(*FAILURES):
        return tuple(runner.sql(query).collect()[0])
    return ()


def _tests(length: str, order: OrderType) -> Iterator[str]:
    """Yield SQL conditions; a length that fulfils none of them is not more than 0."""
    if (time := _TIMES.get(order.type.family)) is None:
        yield f"({length}) > 0"
        return
    for written in _STARTS:
        start = time.format(start=written)
        yield f"{start} + ({length}) > {start}"
