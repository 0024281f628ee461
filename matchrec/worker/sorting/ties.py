"""Rows that ORDER BY does not tell apart, counted where a worker sorts.

Two neighbours among sorted rows tie if they have the same partition and the same ORDER BY values.
Which of the two comes first is random. It matters only if they differ in a column that the query
reads.

The sort has packed what it compares into words, so one comparison of each word with its neighbour
finds all ties (`order.find_ties`); further columns are compared for ties alone.

A worker reports its ties to the program that runs the query:

    workers that are threads of that program, as Sail's       put it into `reported` themselves
    workers of Spark Classic                                  add it to an accumulator, whose
                                                              updates Spark brings to the program
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.errors.run.place import LONGEST_VALUE
from matchrec.worker import arrays, wire

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    from matchrec.search.partitions import BoolArray, IntArray

_PROGRAM = uuid4().hex  # a fork has the same one, but another process id


def this_program() -> str:
    """Return an id of this process."""
    return f"{os.getpid()}-{_PROGRAM}"


@dataclass(frozen=True, slots=True)
class TiedRows:
    """Ties that workers have found in the rows of one query."""

    number: int
    clause: str  # what the language of the query calls ORDER BY
    example: str  # `sym = 'X', ts = 3`, of one of the ties

    def add(self, other: TiedRows) -> TiedRows:
        """Return the ties of two workers."""
        return replace(self, number=self.number + other.number)


TiesOfQueries = Mapping[str, TiedRows]  # by the ids of queries


class ReportedTies:
    """Ties that workers have reported to this program, by the ids of queries."""

    def __init__(self) -> None:
        self._ties: dict[str, TiedRows] = {}
        self._lock = Lock()

    def __bool__(self) -> bool:
        return bool(self._ties)

    def add(self, ties: TiesOfQueries) -> None:
        with self._lock:
            merge_ties(self._ties, ties)

    def take(self) -> TiesOfQueries:
        """Return all ties that were reported since the last call."""
        with self._lock:
            taken = self._ties
            self._ties = {}
        return taken


def merge_ties(totals: dict[str, TiedRows], ties: TiesOfQueries) -> None:
    """Add the ties of some queries to the totals of all queries."""
    for query, tied_rows in ties.items():
        totals[query] = totals[query].add(tied_rows) if query in totals else tied_rows


reported = ReportedTies()


class Channel(Protocol):
    """Brings ties from a worker to the program that runs the query. Picklable."""

    def report(self, ties: TiesOfQueries) -> None: ...


@dataclass(frozen=True, slots=True)
class ThreadChannel:
    """The channel of workers that are threads of the program. Other workers report nothing."""

    program: str  # its id: see `this_program`

    def report(self, ties: TiesOfQueries) -> None:
        if self.program == this_program():
            reported.add(ties)


@dataclass(frozen=True, slots=True)
class AccumulatorChannel:
    """The channel of Spark Classic."""

    accumulator: Any  # of the program, with `TiesParameter`

    def report(self, ties: TiesOfQueries) -> None:
        self.accumulator.add(ties)


@dataclass(frozen=True, slots=True)
class TiesParameter:
    """Adds up ties for an accumulator: in a worker the ties of a task, in the program all ties."""

    program: str

    def zero(self, _value: TiesOfQueries) -> TiesOfQueries:
        return {}

    def addInPlace(self, known: TiesOfQueries, ties: TiesOfQueries) -> TiesOfQueries:  # noqa: N802 -- PySpark's name
        if self.program == this_program():
            reported.add(ties)
            return {}
        merged = dict(known)
        merge_ties(merged, ties)
        return merged


@dataclass(frozen=True, slots=True)
class TieWatch:
    """Counts and reports the ties of one query. Picklable."""

    query: str
    channel: Channel
    clause: str  # see `TiedRows`
    columns: tuple[tuple[str, str], ...]  # names of keys and order, and what the user wrote

    def count(self, table: pa.Table, ties: IntArray) -> None:
        """Report those ties of sorted rows that may change the result.

        Args:
            table: the rows in order.
            ties: int64[k], the numbers of the rows that tie with the row before them.
        """
        if not len(ties):
            return
        sorted_by = {name for name, _ in self.columns}
        others = [name for name in table.column_names if name not in sorted_by]
        differing = ties[differ_from_row_before(table, others, ties)]
        if len(differing):
            example = self.example(table, int(differing[0]))
            self.channel.report({self.query: TiedRows(len(differing), self.clause, example)})

    def example(self, table: pa.Table, row: int) -> str:
        """Return the key and ORDER BY values of a row, as a message shows them."""
        return ", ".join(
            f"{text} = {sql_text(table.column(name)[row])}" for name, text in self.columns
        )


def sql_text(scalar: pa.Scalar) -> str:
    """Return a value about as SQL writes it, without the end if it is long."""
    try:
        value = scalar.as_py()
    except (OverflowError, ValueError):  # Python has no such date or time
        value = scalar.cast(pa.string()).as_py()
    if value is None:
        text = "NULL"
    elif isinstance(value, str):
        text = f"'{value}'"
    else:
        text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def differ_from_row_before(table: pa.Table, names: Sequence[str], rows: IntArray) -> BoolArray:
    """Return for each of these rows whether it differs from the row before in one of the columns.

    Values that Arrow cannot compare, such as arrays, count as different.
    """
    differs = np.zeros(len(rows), np.bool_)
    for name in names:
        same = np.flatnonzero(~differs)  # rows that differ already need no further comparison
        values = arrays.column(table, name)
        here = values.take(arrays.arrow_of(rows[same]))
        before = values.take(arrays.arrow_of(rows[same] - 1))
        differs[same] = differ(here, before, is_bits=name == wire.FIRST_BITS)
    return differs


def differ(here: pa.Array, before: pa.Array, *, is_bits: bool) -> BoolArray:
    """Return for each pair of values whether they differ; NULL equals NULL, and NaN equals NaN.

    is_bits: the first bit says where a partition begins, and does not count.
    """
    if pa.types.is_nested(here.type):
        return np.ones(len(here), np.bool_)
    if is_bits:
        different = (arrays.numbers_of(here) ^ arrays.numbers_of(before)) & ~1 != 0
        return np.asarray(different, np.bool_)
    equal = pc.fill_null(pc.equal(here, before), fill_value=False)
    equal = pc.or_(equal, pc.and_(pc.is_null(here), pc.is_null(before)))
    if pa.types.is_floating(here.type):
        both = pc.and_(pc.is_nan(here), pc.is_nan(before))
        equal = pc.or_(equal, pc.fill_null(both, fill_value=False))
    return ~np.asarray(equal.to_numpy(zero_copy_only=False), np.bool_)
