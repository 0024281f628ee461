"""Errors of `why` and `coverage`, most of them about the clause, partition or row that users name.

Several errors list rows in a note, as lines that `format_rows` returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote

from matchrec.errors.arguments import wrong_argument
from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.language import current_surface
from matchrec.errors.misspellings import find_nearest
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
        argument: "partition" or "row".
        value: the value that the user passed.
        name: the column.
        type_name: the type of the column.
        example: a value of the column, as the user would write it.
    """
    surface = current_surface()
    option = surface.name_option(argument)
    note_on_name = ""
    if argument == "row" and isinstance(value, str) and "=" in value:
        note_on_name = f"{option} has a value of `{name}` alone, without a name"
    if surface.is_python:
        advice = "a value of this type"
    elif argument == "partition":
        advice = f"--partition {quote(f'{name}={example}')}"
    else:
        advice = f"--row {quote(example)}"
    return MatchRecognizePlanError(
        f"`{option}` has {value!r} for column `{name}` of type {type_name}",
        notes=(f"a value of `{name}` is {example}", note_on_name),
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


def several_clauses(*, count: int, names: str) -> MatchRecognizePlanError:
    """Return the error for a query with several clauses, if the user has chosen none.

    Args:
        count: the number of clauses.
        names: a line for each clause, in the order in which they are evaluated, each after a line
            break.
    """
    surface = current_surface()
    return MatchRecognizePlanError(
        f"the query has {count} MATCH_RECOGNIZE clauses, but none is chosen",
        notes=(f"they are:{names}",),
        hint=f"write {surface.write_option('clause', 1)} for the first of them",
        code="several-clauses",
    )


def unknown_clause(*, clause: int | str, count: int, names: str) -> MatchRecognizePlanError:
    """Return the error for a clause that the query does not have.

    Args:
        clause: the clause that the user chose.
        count: the number of clauses.
        names: a line for each clause, in the order in which they are evaluated; "" if the query is
            one clause and nothing else.
    """
    surface = current_surface()
    if count == 1:
        hint = f"leave `{surface.name_option('clause')}` out: the query has one clause"
    else:
        hint = f"choose one by its number, such as {surface.write_option('clause', 1)}"
    return MatchRecognizePlanError(
        f"unknown clause {clause!r}",
        notes=(f"the query has:{names}" if names else "",),
        hint=hint,
        code="unknown-clause",
    )


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
        keys: the keys as the query writes them, by the names of their columns.
    """
    surface = current_surface()
    near = find_nearest(name, keys) or (next(iter(keys)) if len(keys) == 1 else None)
    option = surface.name_option("partition")
    note = show_list("PARTITION BY has", map(drop_backticks, keys.values()), "columns")
    if not keys:
        note = "the query has no PARTITION BY, so all rows are one partition"
        hint = f"leave {option} out, or add PARTITION BY {name}"
    elif near and surface.is_python:
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
    name: str, keys: Iterable[str], example: str = ""
) -> MatchRecognizePlanError:
    """Return the error for a partition without a value of a key.

    Args:
        name: the column of the key.
        keys: the columns of all keys.
        example: the option that chooses a partition that exists; empty if no partition exists.
    """
    surface = current_surface()
    return MatchRecognizePlanError(
        f"missing value of `{name}` in `{surface.name_option('partition')}`",
        hint=f"write {example or surface.write_partition([(key, ...) for key in keys])}",
        code="partition-column-missing",
    )


def several_partitions(*, some: str, example: str) -> MatchRecognizePlanError:
    """Return the error for `why` without a partition if there are several.

    Args:
        some: a line for each of some partitions, as `format_rows` returns them.
        example: the option that chooses one of these partitions.
    """
    return MatchRecognizePlanError(
        "`why` looks at one partition, but there are several",
        notes=(f"some partitions:{some}",),
        hint=f"write {example}",
        code="several-partitions",
    )


def unknown_partition(*, partition: str, some: str, example: str) -> MatchRecognizePlanError:
    """Return the error for a partition that has no rows.

    Args:
        partition: the partition that the user chose.
        some: a line for each of some partitions with rows, as `format_rows` returns them.
        example: the option that chooses one of these partitions.
    """
    return MatchRecognizePlanError(
        f"the partition with {partition} has no rows",
        notes=(f"some partitions with rows:{some}",),
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


def format_rows(rows: Iterable[Mapping[str, str | None]]) -> str:
    """Return rows as lines of a message, each after a line break.

    >>> format_rows([{"sym": "A", "day": None}, {"sym": "B", "day": "2"}])
    '\\nsym = A, day = NULL\\nsym = B, day = 2'
    """
    lines = []
    for row in rows:
        values = ", ".join(f"{name} = {show_key_value(value)}" for name, value in row.items())
        lines.append(f"\n{values}")
    return "".join(lines)


def write_partition_example(
    keys: Mapping[str, str | None], integer_columns: Collection[str]
) -> str:
    """Return the option that chooses a partition, as the user would write it.

    Args:
        keys: for the column of each key, its value in the partition; None is NULL.
        integer_columns: the columns of keys that are whole numbers, which need no quotes.

    >>> write_partition_example({"name": 'the "X"', "day": "7"}, ["day"])
    'partition={"name": "the \\\\"X\\\\"", "day": 7}'
    """
    pairs: list[tuple[str, object]] = []
    for name, value in keys.items():
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


def unknown_row(*, row: str, rows: str, nearest: Sequence[object]) -> MatchRecognizePlanError:
    """Return the error for a row that the partition does not have.

    Args:
        row: the row that the user chose.
        rows: a line for each of the nearest rows, as `format_rows` returns them.
        nearest: the ORDER BY values of the row that is closest to `row`.
    """
    return MatchRecognizePlanError(
        f"the partition has no row with {row}",
        notes=(f"the nearest rows:{rows}",),
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
