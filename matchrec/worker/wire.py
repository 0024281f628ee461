"""The names of our own columns, from the user's rows to the result; no other module spells one.

Before the match    __c0 ...       columns that cross to the workers; a stream's keep this name
                    __x0 ...       SQL over one row from which others are made, and which stays
                    __s0 ...       values of rows at a fixed distance
                    __bits0 ...    truth values: of a partition's first row, then of conditions
                    __n            a row's number in its partition
Across pandas       __null0 ...    truth values: which of the other columns are NULL
After the match     __r0 ...       what the measures read, where that is not the result itself
                    __g0 ...       aggregates that Spark computes over the rows of a match
                    __v0 ...       an array of the values that such an aggregate is over
                    __e            a row of a match, see `output.measure_reader`
                    __counters     what a worker has counted
Of rule sets        __rule, __kind, __k0 ..., __first, __last, __events, __message
                                   see `worker.rule_set`
Of ranges           __class        a number for some of the keys       __place        in the order
                    __placed       a stretch of places                  __range        of stretches
Of streams          __bucket       a number for some of the keys
                    __time         the column with the watermark       __t         in microseconds

Bit 0 of the first column of bits marks the first row of a partition, bit c + 1 the rows on which
condition c holds; a further column takes over every 62 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from matchrec.shortcuts import taken

if TYPE_CHECKING:
    import pyarrow as pa

    from matchrec.compile.executable import Executable
    from matchrec.search.partitions import IntArray

ROW_NUMBER = "__n"
COUNTERS = "__counters"
EVENT_TIME = "__time"
MICROSECONDS = "__t"
BUCKET = "__bucket"
CLASS = "__class"
PLACE = "__place"
PLACED = "__placed"
RANGE = "__range"
FIRST_BITS = "__bits0"
RULE = "__rule"
KIND = "__kind"
FIRST = "__first"
LAST = "__last"
EVENTS = "__events"
MESSAGE = "__message"

BITS_A_COLUMN = 62


def bits_a_column() -> int:
    return BITS_A_COLUMN if taken().packing else 1


def bit_columns_of(conditions: int) -> int:
    """How many columns the bits of so many conditions take, after that of a mark."""
    return conditions // bits_a_column() + 1


class SelectItem(NamedTuple):
    """An item of a select list: SQL, and the column's name.

    >>> f"SELECT {SelectItem('a + 1', 'b')}, {SelectItem('a', 'a')}"
    'SELECT a + 1 AS b, a'
    """

    sql: str
    name: str

    def __str__(self) -> str:
        return self.name if self.sql == self.name else f"{self.sql} AS {self.name}"


class Struct(NamedTuple):
    """A column of structs, never NULL. parts: the columns of a table that its fields are."""

    name: str
    fields: tuple[str, ...]
    parts: tuple[str, ...]


Structs = tuple[Struct, ...]


@dataclass(frozen=True, slots=True)
class SortColumn:
    """An item of ORDER BY. name: of a column of the batches."""

    name: str
    descending: bool
    nulls_first: bool


class CountsTies(Protocol):
    """Counts the ties of sorted rows: see `sorting.ties.TieWatch`."""

    def count(self, table: pa.Table, ties: IntArray) -> None: ...


@dataclass(frozen=True, slots=True)
class Sorting:
    """What rows are sorted by. keys: columns whose values a partition's rows have in common, where
    NULL equals NULL. needed: the conditions of which each must hold of some row of a partition, or
    that may be left out. watch: counts rows that the order does not tell apart, if anyone asks.
    """

    keys: tuple[str, ...]
    order: tuple[SortColumn, ...]
    needed: tuple[int, ...] = ()
    watch: CountsTies | None = None

    @property
    def columns(self) -> tuple[SortColumn, ...]:
        keys = (SortColumn(key, descending=False, nulls_first=True) for key in self.keys)
        return (*keys, *self.order)


@dataclass(frozen=True, slots=True)
class PlannedColumn:
    """A column that the workers read, as it was when the query was built."""

    text: str  # what the user wrote for it
    type_name: str  # its type in SQL
    field: pa.Field  # its name in the batches, its type, and whether it could be NULL
    in_utc: bool = False  # whether the session was in UTC


def packed_columns(tests: Sequence[str], name: Callable[[int], str]) -> list[SelectItem]:
    """Columns of packed tests, up to 62 in each. name: of each by its number.

    They are BIGINT, as most keys and numbers are: what a column costs on its way to Python is for
    the number of different types, not for bytes (docs/contributing/decisions/bytes_of_a_batch.md).
    """
    items, size = [], bits_a_column()
    for index, begin in enumerate(range(0, len(tests), size)):
        chunk = enumerate(tests[begin : begin + size])
        marks = (f"CASE WHEN {test} THEN {1 << i}L ELSE 0L END" for i, test in chunk)
        items.append(SelectItem(" | ".join(marks), name(index)))
    return items


# Each is called with a number.

column = "__c{}".format  # that crosses to the workers
inner = "__x{}".format  # SQL over one row that other columns are made from
other_row = "__s{}".format  # a value of a row at a fixed distance
bits = "__bits{}".format  # packed truth values
nulls = "__null{}".format  # packed truth values: which columns are NULL
read = "__r{}".format  # what a measure reads
aggregate = "__g{}".format  # an aggregate over the rows of a match that Spark computes
values = "__v{}".format  # the values that such an aggregate is over
key = "__k{}".format  # what the rows of a rule set are partitioned by


def is_result(executable: Executable) -> bool:
    """Whether the workers give the result as it is, and no name of it may be one of ours."""
    names, count = [one.name for one in executable.outputs], len(executable.reads)
    are_reads = [one.pieces for one in executable.outputs] == [(place,) for place in range(count)]
    differ = len({name.lower() for name in names}) == count
    return are_reads and differ and all(name and not name.startswith("__") for name in names)


def names_of(executable: Executable) -> list[str]:
    """The names of the columns that the workers give."""
    if is_result(executable):
        return [one.name for one in executable.outputs]
    return list(map(read, range(len(executable.reads))))
