"""Errors of `why` and `coverage`, most of them about the clause, partition or row that users name.

Several errors list clauses, partitions or rows in a note, one in a line. A partition is shown by
the values of its PARTITION BY columns, a row by its ORDER BY values. `None` in them is NULL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote

from matchrec.errors.arguments import wrong_argument
from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import (
    describe_value,
    drop_backticks,
    join_names,
    show_count,
    show_list,
)
from matchrec.source import Span


def not_a_literal(*, argument: str, value: object) -> MatchRecognizePlanError:
    """Return the error for a value in `partition` or `row` of a type that `why` does not take."""
    return MatchRecognizePlanError(
        f"a value in `{argument}` must be a string, a number, True, False, None, a date, a "
        f"datetime or a timedelta, but is {describe_value(value)}",
        hint="write the value as a string; an array as \"[1, 2]\" or \"['a', 'b']\"",
        code="not-a-literal",
    )


def value_of_wrong_type(
    *, argument: str, value: object, name: str, type_name: str, example: str
) -> MatchRecognizePlanError:
    """Return the error for a value in `partition` or `row` of another type than its column.

    Args:
        argument: the name of the argument.
        value: the value that the user passed.
        name: the column.
        type_name: the type of the column.
        example: a value of the column, as the user would write it.
    """
    surface = current_surface()
    option = surface.name_option(argument)
    rows = "one row" if argument == "row" else "one partition"
    note_on_name = ""
    if argument == "row" and isinstance(value, str) and "=" in value:  # `row="ts=3"`
        note_on_name = f"{option} has a value of `{name}` alone, without a name"
    if surface.has_python_calls:
        advice = "a value of this type"
    elif argument == "partition":
        advice = f"--partition {quote(f'{name}={example}')}"
    else:
        advice = f"--row {quote(example)}"
    return MatchRecognizePlanError(
        f"`{option}` has {value!r} for column `{name}` of type {type_name}",
        notes=(f"for example, {rows} has `{name}` = {example}", note_on_name),
        hint=f"write {advice}, or leave {option} out",
        code="value-of-wrong-type",
    )


def method_not_for_stream(*, call: str) -> MatchRecognizeUnsupportedError:
    """Return the error for `why` or `coverage` of a query over a stream."""
    return MatchRecognizeUnsupportedError(
        f"{call} is not supported over a stream, whose rows come over time",
        hint="read the same rows as a table: spark.read instead of spark.readStream",
        code="method-not-for-stream",
    )


def missing_clause() -> MatchRecognizePlanError:
    """Return the error for a query without MATCH_RECOGNIZE, passed to a call that needs one."""
    return MatchRecognizePlanError(
        "missing MATCH_RECOGNIZE clause in the query",
        hint="pass the query that has the clause",
        code="missing-clause",
    )


def several_clauses(clauses: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a query with several clauses, if the user has chosen none.

    Args:
        clauses: the input and the name of each clause, in the order in which they are evaluated,
            as in `ticks AS m`.
    """
    surface = current_surface()
    return MatchRecognizePlanError(
        f"the query has {len(clauses)} MATCH_RECOGNIZE clauses, but none is chosen",
        notes=(_show_lines("they are", _number_clauses(clauses)),),
        hint=f"write {surface.write_option('clause', 1)} for the first of them",
        code="several-clauses",
    )


def unknown_clause(clause: int | str, clauses: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a clause that the query does not have.

    Args:
        clause: the number or the name by which the user chose a clause.
        clauses: as for `several_clauses`; empty if the query is one clause and nothing else.
    """
    surface = current_surface()
    if len(clauses) <= 1:
        hint = f"leave `{surface.name_option('clause')}` out: the query has one clause"
    else:
        hint = f"choose one by its number, such as {surface.write_option('clause', 1)}"
    return MatchRecognizePlanError(
        f"unknown clause {clause!r}",
        notes=(_show_lines("the query has", _number_clauses(clauses)) if clauses else "",),
        hint=hint,
        code="unknown-clause",
    )


def _number_clauses(clauses: Sequence[str]) -> list[str]:
    """Return clauses with the numbers by which users choose them: `1: ticks AS m`."""
    return [f"{number}: {clause}" for number, clause in enumerate(clauses, 1)]


def _show_lines(title: str, lines: Iterable[str]) -> str:
    """Return a note that has a title and lines under it.

    >>> _show_lines("the query has", ["1: ticks AS m", "2: quotes"])
    'the query has:\\n1: ticks AS m\\n2: quotes'
    """
    return "\n".join((f"{title}:", *lines))


# The values of a row or of a partition as texts, by the names of their columns; None is NULL.
Row = Mapping[str, str | None]

# Completes "`partition` must be" in messages.
PARTITION_DESCRIPTION = "a dict that maps PARTITION BY columns to values, or None"


def wrong_partition(value: object, hint: str) -> MatchRecognizePlanError:
    """Return the error for a partition without the names of its columns, as in `partition="X"`.

    Args:
        value: what the user passed.
        hint: what to write.
    """
    return wrong_argument("`Query.why`", "partition", value, PARTITION_DESCRIPTION, hint)


def unknown_partition_column(*, name: str, keys: Mapping[str, str]) -> MatchRecognizePlanError:
    """Return the error for a name in `partition` that PARTITION BY does not have.

    Args:
        name: the name.
        keys: for the name of each PARTITION BY column, its SQL in the query.
    """
    surface = current_surface()
    option = surface.name_option("partition")
    near = find_nearest(name, keys)
    if near is None and len(keys) == 1:
        (near,) = keys
    note = show_list("PARTITION BY has", map(drop_backticks, keys.values()), "columns")
    if not keys:
        note = "the query has no PARTITION BY, so all rows are one partition"
        hint = f"leave {option} out, or add PARTITION BY {name}"
    elif near and surface.has_python_calls:
        hint = f"write {near}"
    elif near:
        hint = f"write --partition {quote(f'{near}=VALUE')}"
    else:
        hint = f"write one of these, or leave {option} out"
    return MatchRecognizePlanError(
        f"unknown column `{name}` in `{option}`",
        notes=(note,),
        hint=hint,
        code="unknown-partition-column",
    )


def partition_column_missing(
    name: str, columns: Iterable[str], example: str = ""
) -> MatchRecognizePlanError:
    """Return the error for a value of `partition` that lacks a PARTITION BY column.

    Args:
        name: the column without a value.
        columns: all PARTITION BY columns.
        example: the option that chooses a partition that exists; "" if no partition exists.
    """
    surface = current_surface()
    any_partition = surface.write_partition([(column, ...) for column in columns])
    return MatchRecognizePlanError(
        f"missing value of `{name}` in `{surface.name_option('partition')}`",
        hint=f"write {example or any_partition}",
        code="partition-column-missing",
    )


def several_partitions(*, partitions: Sequence[Row], example: str) -> MatchRecognizePlanError:
    """Return the error for `why` without a partition if there are several.

    Args:
        partitions: some of the partitions.
        example: the option that chooses one of these partitions.
    """
    return MatchRecognizePlanError(
        "`why` looks at one partition, but there are several",
        notes=(_show_lines("some partitions", map(_show_row, partitions)),),
        hint=f"write {example}",
        code="several-partitions",
    )


def unknown_partition(
    *, equalities: Sequence[str], partitions: Sequence[Row], example: str
) -> MatchRecognizePlanError:
    """Return the error for a partition that has no rows.

    Args:
        equalities: the PARTITION BY columns with the values that the user passed, as in `sym = 1`.
        partitions: some partitions that have rows.
        example: the option that chooses one of these partitions.
    """
    return MatchRecognizePlanError(
        f"the partition with {', '.join(equalities)} has no rows",
        notes=(_show_lines("some partitions with rows", map(_show_row, partitions)),),
        hint=f"write {example}",
        code="unknown-partition",
    )


def no_rows() -> MatchRecognizePlanError:
    """Return the error for a query whose input is empty."""
    return MatchRecognizePlanError(
        "the input of the clause has no rows",
        hint="check the table and the filters in FROM",
        code="no-rows",
    )


def show_key_value(text: str | None) -> str:
    """Return a value as a message shows it; None is NULL."""
    return "NULL" if text is None else text


def _show_row(row: Row) -> str:
    """Return a row, or the values of a partition, as one line of a message.

    >>> _show_row({"sym": "A", "day": None})
    'sym = A, day = NULL'
    """
    return ", ".join(f"{column} = {show_key_value(value)}" for column, value in row.items())


def write_partition_example(partition: Row, integer_columns: Collection[str]) -> str:
    """Return the option that chooses a partition, as the user would write it.

    Args:
        partition: the values of the partition.
        integer_columns: the columns that have whole numbers, which need no quotes.

    >>> write_partition_example({"name": 'the "X"', "day": "7"}, ["day"])
    'partition={"name": "the \\\\"X\\\\"", "day": 7}'
    """
    pairs: list[tuple[str, object]] = []
    for name, value in partition.items():
        if value is not None and name in integer_columns:
            pairs.append((name, int(value)))
        else:
            pairs.append((name, value))
    return current_surface().write_partition(pairs)


def partition_too_large(*, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for `why` of a partition with too many rows."""
    return MatchRecognizeUnsupportedError(
        f"the partition has more than {limit:,} rows, which is too many for `why`",
        hint="look at a part of it: filter the rows in a subquery in FROM, or pass fewer rows",
        code="partition-too-large",
    )


def wrong_number_of_order_values(
    value_count: int, order_columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for `row=` with no values, or with more than ORDER BY has columns.

    Args:
        value_count: the number of values in `row=`.
        order_columns: the columns of ORDER BY.
    """
    surface = current_surface()
    if len(order_columns) == 1:
        hint = f"write one value, of `{drop_backticks(order_columns[0])}`"
    elif order_columns:
        hint = f"write the value of the first column, or {surface.all_order_values}"
    else:
        hint = f"write ORDER BY, or leave {surface.name_option('row')} out"
    values = show_count(value_count, "value")
    columns = show_count(len(order_columns), "column")
    return MatchRecognizePlanError(
        f"`{surface.name_option('row')}` has {values}, but ORDER BY has {columns}",
        notes=(f"ORDER BY has: {join_names(order_columns)}" if order_columns else "",),
        hint=hint,
        code="wrong-number-of-order-values",
    )


def unknown_row(
    *, equalities: Sequence[str], near_rows: Sequence[Row], nearest: Sequence[object]
) -> MatchRecognizePlanError:
    """Return the error for a row that the partition does not have.

    Args:
        equalities: the ORDER BY columns with the values that the user passed, as in `ts = 3`.
        near_rows: rows of the partition around the place where the row would be, in their order.
        nearest: the ORDER BY values of the nearest row, as Python objects.
    """
    return MatchRecognizePlanError(
        f"the partition has no row with {', '.join(equalities)}",
        notes=(_show_lines("the nearest rows", map(_show_row, near_rows)),),
        hint=f"write one of these, such as {current_surface().write_row(nearest)}",
        code="unknown-row",
    )


def write_why_call() -> str:
    """Return the call or the command that explains the matches of one partition."""
    return current_surface().write_why({}, ())


def coverage_of_match_number() -> MatchRecognizeUnsupportedError:
    """Return the error for coverage of conditions with MATCH_NUMBER() if rows are skipped."""
    return MatchRecognizeUnsupportedError(
        "coverage is not supported for a query with event selection and MATCH_NUMBER() in a "
        "condition",
        notes=("with event selection every row is a starting row, so no match has a number",),
        hint=f"remove that condition, or look at one partition: {write_why_call()}",
        code="coverage-of-match-number",
    )


def coverage_of_longest_match() -> MatchRecognizeUnsupportedError:
    """Return the error for coverage of a clause with LONGEST MATCH."""
    return MatchRecognizeUnsupportedError(
        "coverage is not supported for LONGEST MATCH",
        notes=("coverage follows the search for the preferred match of each starting row",),
        hint="remove LONGEST MATCH; it changes which match a row starts, not whether it starts one",
        code="coverage-of-longest-match",
    )


def coverage_of_negation(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for coverage of a clause with NOT in PATTERN."""
    return MatchRecognizeUnsupportedError(
        "coverage is not supported for a query with NOT in PATTERN",
        span,
        notes=("coverage counts how often each variable takes a row, and NOT takes none",),
        hint=f"look at one starting row: {write_why_call()}",
        code="coverage-of-negation",
    )
