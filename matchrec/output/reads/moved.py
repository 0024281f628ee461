"""Reads over columns that stand at other places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matchrec.output.reads.aggregates import ReadAggregate, ReadCount
from matchrec.output.reads.of_rows import ReadAt, ReadMatch, ReadMatchedRows, ReadRow
from matchrec.output.reads.read import Read


def moved(read: Read, places: Sequence[int]) -> Read:
    """The same read. places: by the index of a column, its new one.

    >>> from matchrec.output.reads import ReadRow
    >>> moved(ReadRow(1), (5, 7))
    ReadRow(column=7)
    """
    match read:
        case ReadMatchedRows(columns):
            return ReadMatchedRows(tuple(places[one] for one in columns))
        case (
            ReadRow(column=int() as column)
            | ReadAt(column=int() as column)
            | ReadMatch(column=int() as column)
            | ReadAggregate(column=int() as column)
            | ReadCount(column=int() as column)
        ):
            return replace(read, column=places[column])
        case _:
            return read
