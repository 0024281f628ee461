"""Errors of `why`: which clause, partition or row it is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matchrec.errors.arguments import shown
from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    listed,
    nearest,
)


def no_literal(argument: str, value: object) -> MatchRecognizePlanError:
    """A value that cannot be written as SQL."""
    return MatchRecognizePlanError(
        f"a value of `{argument}` is {shown(value)}",
        notes=("wanted: a text, a number, True, False, None, a date, a datetime or a timedelta",),
        hint="write the value as text",
    )


def trace_of_stream() -> MatchRecognizeUnsupportedError:
    """Why over a streaming DataFrame."""
    return MatchRecognizeUnsupportedError(
        "`why` over a stream: its rows come little by little",
        hint="ask about the same rows as a table: spark.read in place of spark.readStream",
    )


def no_clause() -> MatchRecognizePlanError:
    """A query without MATCH_RECOGNIZE."""
    return MatchRecognizePlanError(
        "the query has no MATCH_RECOGNIZE clause to ask about",
        hint="pass the query that has it",
    )


def several_clauses(names: Sequence[str]) -> MatchRecognizePlanError:
    """Several clauses, and none is named. names: in the order in which they are evaluated."""
    return MatchRecognizePlanError(
        f"the query has {len(names)} MATCH_RECOGNIZE clauses",
        notes=tuple(f"{number}: {name}" for number, name in enumerate(names, 1)),
        hint="write clause=1 for the first of them",
    )


def unknown_clause(given: object, names: Sequence[str]) -> MatchRecognizePlanError:
    """clause= names none of them."""
    return MatchRecognizePlanError(
        f"there is no clause {given!r}",
        notes=tuple(f"{number}: {name}" for number, name in enumerate(names, 1)),
        hint="write the number of one of them, clause=1",
    )


def unknown_partition_column(name: str, known: Iterable[str]) -> MatchRecognizePlanError:
    """partition= names a column by which the rows are not partitioned."""
    known = list(known)
    near = nearest(name, known)
    return MatchRecognizePlanError(
        f"`{name}` of `partition` divides no partitions",
        notes=(f"PARTITION BY has: {listed(known)}",),
        hint=f"write {near or known[0]}" if known else "leave partition out",
    )


def partition_column_missing(name: str, known: Iterable[str]) -> MatchRecognizePlanError:
    """partition= lacks one of the columns."""
    values = ", ".join(f'"{one}": ...' for one in known)
    return MatchRecognizePlanError(
        f"`partition` has no value of `{name}`", hint=f"write partition={{{values}}}"
    )


def several_partitions(
    names: Sequence[str], keys: Sequence[tuple[str, ...]]
) -> MatchRecognizePlanError:
    """No partition is named, and there are several. keys: of some of them, as text."""
    return MatchRecognizePlanError(
        "`why` is about one partition, and there are several",
        notes=key_notes(names, keys),
        hint=f"write partition={example(names, keys)}",
    )


def no_such_partition(
    names: Sequence[str], keys: Sequence[tuple[str, ...]]
) -> MatchRecognizePlanError:
    """The partition that is named has no rows. keys: of some that have, as text."""
    return MatchRecognizePlanError(
        "the partition has no rows" if names and keys else "there are no rows",
        notes=key_notes(names, keys) if keys else (),
        hint=f"write partition={example(names, keys)}" if keys else None,
    )


def key_notes(names: Sequence[str], keys: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Some partitions, one a line."""
    rows = (", ".join(f"{n} = {v}" for n, v in zip(names, row, strict=True)) for row in keys)
    return ("some of them:", *(f"  {row}" for row in rows))


def example(names: Sequence[str], keys: Sequence[tuple[str, ...]]) -> str:
    """A partition as `partition=` takes it."""
    pairs = zip(names, keys[0], strict=True)
    return "{" + ", ".join(f'"{name}": "{value}"' for name, value in pairs) + "}"


def partition_too_large(most: int) -> MatchRecognizeUnsupportedError:
    """Too many rows for the driver."""
    return MatchRecognizeUnsupportedError(
        f"the partition has more than {most:,} rows, which `why` does not bring to the driver",
        hint="ask about a part of it: put WHERE before the clause, or pass fewer rows",
    )


def other_number_of_order_values(given: int, orders: Sequence[str]) -> MatchRecognizePlanError:
    """row= has more values than there are columns, or there is no order."""
    return MatchRecognizePlanError(
        f"`row` has {given} values, ORDER BY has {len(orders)} columns",
        notes=(f"ORDER BY: {listed(orders)}",),
        hint="write the value of the first one, or a tuple of all"
        if orders
        else "write ORDER BY, or leave row out",
    )


def no_such_row(
    given: Sequence[object], orders: Sequence[str], near: Sequence[tuple[str, ...]]
) -> MatchRecognizePlanError:
    """No row has these values. near: places of rows about there, as text."""
    values = zip(orders, given, strict=False)
    wanted = ", ".join(f"{order} = {value}" for order, value in values)
    rows = tuple(
        "  " + ", ".join(f"{o} = {v}" for o, v in zip(orders, row, strict=True)) for row in near
    )
    return MatchRecognizePlanError(
        f"the partition has no row with {wanted}",
        notes=("the nearest rows:", *rows),
        hint="write row= one of these, with all ORDER BY columns as a tuple",
    )
