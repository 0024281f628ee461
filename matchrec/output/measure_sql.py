"""Measures as the engine evaluates them after the match: SQL with holes for reads and aggregates.

    MEASURES LAST(A.price) - 1 AS p, stddev(A.price) AS s

    p    (ReadInSql(0), " - 1")      read 0 is LAST(A.price)
    s    (AggregateInSql(0),)        aggregate 0 is a `RowAggregate`

A worker fills a column with each read. The engine computes each `RowAggregate` over the rows of the
match, which are an array of structs. Its terms are SQL over one of these structs, `MATCH_ROW`:

    stddev(A.price * 2)                  the term ("__e.c0",): workers get `price * 2` as a column
    stddev(A.price * MATCH_NUMBER())     the term ("__e.c0", " * ", ReadInSql(0))
"""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.output.reads import POSITION_FIELD, VARIABLE_FIELD, name_value_field
from matchrec.plan.expression import Aggregate


@dataclass(frozen=True, slots=True)
class ReadInSql:
    """The value of a read."""

    index: int  # among the reads of the query


@dataclass(frozen=True, slots=True)
class AggregateInSql:
    """The value of an aggregate that the engine computes."""

    index: int  # among the `RowAggregate`s of the query


# A piece of SQL after the match: text, or what is inserted there.
SqlPiece = str | ReadInSql | AggregateInSql
SqlPieces = tuple[SqlPiece, ...]

# SQL over a row of the match.
RowTerm = tuple[str | ReadInSql, ...]

# The SQL in a `RowTerm` for a row of the match, the name of its variable, and its position, from 0.
MATCH_ROW = "__e"
ROW_VARIABLE = f"{MATCH_ROW}.{VARIABLE_FIELD}"
ROW_POSITION = f"{MATCH_ROW}.{POSITION_FIELD}"


def name_row_value(number: int) -> str:
    """Return the SQL of a column's value on a row of the match.

    Args:
        number: the number of the column among those that `RowAggregate`s read.
    """
    return f"{MATCH_ROW}.{name_value_field(number)}"


@dataclass(frozen=True, slots=True)
class RowAggregate:
    """An aggregate that the engine computes over the rows of each match."""

    # The aggregate as the user wrote it.
    call: Aggregate
    # The primary variables whose rows are aggregated.
    variables: tuple[str, ...]
    # The arguments, as SQL over a row of the match.
    arguments: tuple[RowTerm, ...]
    # The keys of WITHIN GROUP, each with the words after it, such as "DESC".
    ordering: tuple[tuple[RowTerm, str], ...]
    # The condition of FILTER, or None.
    condition: RowTerm | None
    # The read with the position of the last row that counts; None if all rows do.
    last_position: ReadInSql | None


def write_case(
    subject: ReadInSql, branches: list[tuple[int, SqlPieces]], otherwise: SqlPieces | None = None
) -> SqlPieces:
    """Return the SQL of a CASE that compares a read with numbers.

    >>> write_case(ReadInSql(3), [(2, ("'TIMED OUT'",))], ("'MATCHED'",))
    ('CASE ', ReadInSql(index=3), ' WHEN 2 THEN ', "'TIMED OUT'", ' ELSE ', "'MATCHED'", ' END')

    Args:
        subject: the read that is compared.
        branches: one or more numbers, each with the value if the read is this number.
        otherwise: the value if the read is another number; None for NULL.
    """
    pieces: list[SqlPiece] = ["CASE ", subject]
    for number, value in branches:
        pieces += [f" WHEN {number} THEN ", *value]
    if otherwise is not None:
        pieces += [" ELSE ", *otherwise]
    return (*pieces, " END")
