"""Roles of the columns that are sent to a worker: what it does with them besides matching.

A column can be a field of a struct, be sorted by, be shown in errors, or be compared with the plan.
`task_input.TaskInput` has the columns of each role. Their names are those in the batches that the
worker gets (`worker.wire`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:  # the module is loaded while a query is planned, without kernels
    import pyarrow as pa

    from matchrec.search.partitions import IntArray


class Struct(NamedTuple):
    """A column of structs, never NULL, whose fields are sent as columns of their own."""

    name: str
    fields: tuple[str, ...]  # the names of the fields
    field_columns: tuple[str, ...]  # for each field, the name of the column that holds it


class ShownColumn(NamedTuple):
    """A column of a key, whose value on a row errors and warnings show."""

    text: str  # the key in SQL, as it is shown
    name: str  # the name of the column


@dataclass(frozen=True, slots=True)
class PlannedColumn:
    """A column that the workers read, as it was when the query was built."""

    text: str  # what the user wrote for it
    type_name: str  # its type in SQL
    field: pa.Field  # its name, its type, and whether it could be NULL
    in_utc: bool = False  # whether the session was in UTC


# How a worker sorts.


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column by which rows are sorted, and its direction."""

    name: str
    descending: bool
    nulls_first: bool


class TieCounter(Protocol):
    """A counter of rows that the order does not tell apart: see `sorting.ties.TieWatch`."""

    def count(self, table: pa.Table, ties: IntArray) -> None:
        """Count the ties in a table of sorted rows.

        Args:
            table: the rows.
            ties: the rows that equal the row before them in all sort columns.
        """


@dataclass(frozen=True, slots=True)
class Sorting:
    """The order in which a worker sorts the rows of a task."""

    # The columns of the partition keys. Here NULL equals NULL.
    keys: tuple[str, ...]
    # How rows are sorted in each partition.
    order: tuple[SortColumn, ...]
    # Bits of row conditions that the engine computes. A partition without a row for each of them
    # may be dropped. The worker of a query sets them.
    needed_bits: tuple[int, ...] = ()
    # Counts the rows that the order does not tell apart; None to leave them uncounted.
    tie_counter: TieCounter | None = None

    @property
    def columns(self) -> tuple[SortColumn, ...]:
        """Return all columns that rows are sorted by: the keys, then the order in a partition."""
        keys = (SortColumn(key, descending=False, nulls_first=True) for key in self.keys)
        return (*keys, *self.order)
