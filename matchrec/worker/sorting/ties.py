"""Count rows that ORDER BY does not tell apart, while a worker sorts.

Two neighbours among sorted rows tie if they have the same partition and the same ORDER BY values.
Which of the two comes first is random. It matters only if they differ in a column that the query
reads.

The sort has packed the values that it compares into words. So `OrderedWords.find_ties` finds all
ties by comparing each word with its neighbour. Other columns are compared only for rows that tie.

A worker reports its ties to the program that runs the query:

    workers of Sail, which are threads of that program    put them into `reported` themselves
    workers of Spark Classic                              add them to an accumulator, and Spark
                                                          brings its updates to the program
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.errors.run.location import LONGEST_VALUE
from matchrec.worker import arrays, wire

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    from matchrec.search.partitions import BoolArray, IntArray

_PROGRAM = uuid4().hex  # a fork has the same one, but another process id


def identify_process() -> str:
    """Return an id of this process."""
    return f"{os.getpid()}-{_PROGRAM}"


@dataclass(frozen=True, slots=True)
class TiedRows:
    """Ties that workers have found in the rows of one query."""

    number: int
    clause: str  # what the language of the query calls ORDER BY
    example: str  # `sym = 'X', ts = 3`, of one of the ties

    def add(self, other: TiedRows) -> TiedRows:
        """Return the sum of the ties of two workers. The example is the first worker's."""
        return replace(self, number=self.number + other.number)


TiesOfQueries = Mapping[str, TiedRows]  # by the ids of queries


class ReportedTies:
    """Ties that workers have reported to this program, by the ids of queries."""

    def __init__(self) -> None:
        self._ties: dict[str, TiedRows] = {}
        self._lock = Lock()

    def __bool__(self) -> bool:
        """Return whether there are ties that nobody has taken."""
        return bool(self._ties)

    def add(self, ties: TiesOfQueries) -> None:
        """Add the ties of some queries."""
        with self._lock:
            merge_ties(self._ties, ties)

    def take(self) -> TiesOfQueries:
        """Return all ties that were reported since the last call."""
        with self._lock:
            ties = self._ties
            self._ties = {}
        return ties


def merge_ties(totals: dict[str, TiedRows], ties: TiesOfQueries) -> None:
    """Add the ties of some queries to the totals of all queries."""
    for query, tied_rows in ties.items():
        totals[query] = totals[query].add(tied_rows) if query in totals else tied_rows


reported = ReportedTies()


class Channel(Protocol):
    """A way by which a worker reports ties to the program that runs the query. Picklable."""

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries."""


@dataclass(frozen=True, slots=True)
class ThreadChannel:
    """The channel of workers that are threads of the program. Other workers report nothing."""

    program: str  # its id, see `identify_process`

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries, if this process is the program."""
        if self.program == identify_process():
            reported.add(ties)


class TiesAccumulator(Protocol):
    """An accumulator of PySpark that adds up ties."""

    def add(self, term: TiesOfQueries) -> None:
        """Add the ties of some queries."""


@dataclass(frozen=True, slots=True)
class AccumulatorChannel:
    """The channel of Spark Classic."""

    accumulator: TiesAccumulator  # of the program, with `TiesParameter`

    def report(self, ties: TiesOfQueries) -> None:
        """Report the ties of some queries."""
        self.accumulator.add(ties)


@dataclass(frozen=True, slots=True)
class TiesParameter:
    """The rule by which an accumulator adds up ties.

    In a worker it adds up the ties of a task. In the program that runs the query it reports them.
    """

    program: str  # its id, see `identify_process`

    def zero(self, _value: TiesOfQueries) -> TiesOfQueries:
        """Return the first value of an accumulator."""
        return {}

    def addInPlace(self, before: TiesOfQueries, ties: TiesOfQueries) -> TiesOfQueries:  # noqa: N802 -- PySpark's name
        """Return the sum of ties. In the program they are reported, and nothing is kept."""
        if self.program == identify_process():
            reported.add(ties)
            return {}
        merged = dict(before)
        merge_ties(merged, ties)
        return merged


@dataclass(frozen=True, slots=True)
class TieWatch:
    """A counter of the ties of one query, which reports them. Picklable."""

    query_id: str
    channel: Channel
    clause: str  # see `TiedRows`
    # The columns of keys and order: their names, and what the user wrote for them.
    columns: tuple[tuple[str, str], ...]

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
            example = self.show_row(table, int(differing[0]))
            self.channel.report({self.query_id: TiedRows(len(differing), self.clause, example)})

    def show_row(self, table: pa.Table, row: int) -> str:
        """Return the key and ORDER BY values of a row, as a message shows them."""
        return ", ".join(
            f"{text} = {show_value_as_sql(table.column(name)[row])}" for name, text in self.columns
        )


def show_value_as_sql(scalar: pa.Scalar) -> str:
    """Return a value roughly as SQL writes it. A long value is cut off."""
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
    """Return whether rows differ from the row before them in some column: bool[k].

    Values that Arrow cannot compare, such as arrays, count as different.
    """
    differs = np.zeros(len(rows), np.bool_)
    for name in names:
        same = np.flatnonzero(~differs)  # rows that differ already need no further comparison
        column = arrays.take_column(table, name)
        values = column.take(arrays.make_array(rows[same]))
        values_before = column.take(arrays.make_array(rows[same] - 1))
        differs[same] = differ(values, values_before, is_bits=name == wire.FIRST_BITS)
    return differs


def differ(values: pa.Array, others: pa.Array, *, is_bits: bool) -> BoolArray:
    """Return for each pair of values whether they differ. NULL equals NULL, and NaN equals NaN.

    Args:
        values: the first value of each pair.
        others: the second value of each pair.
        is_bits: whether the values are words of bits whose bit 0 marks the start of a partition. It
            is not compared.
    """
    if pa.types.is_nested(values.type):
        return np.ones(len(values), np.bool_)
    if is_bits:
        changed_bits = arrays.read_numbers(values) ^ arrays.read_numbers(others)
        return np.asarray(changed_bits & ~1 != 0, np.bool_)
    equal = pc.fill_null(pc.equal(values, others), fill_value=False)
    equal = pc.or_(equal, pc.and_(pc.is_null(values), pc.is_null(others)))
    if pa.types.is_floating(values.type):
        both_nan = pc.and_(pc.is_nan(values), pc.is_nan(others))
        equal = pc.or_(equal, pc.fill_null(both_nan, fill_value=False))
    return ~np.asarray(equal.to_numpy(zero_copy_only=False), np.bool_)
