"""Roles of the columns that are sent to a worker: what the worker uses them for besides matching.

A column can be a field of a struct, be a column that rows are sorted by, be shown in errors, or be
compared with the plan. `task_input.TaskInput` has the columns of each role. A column is named as in
the batches that the worker gets (`worker.internal_names`).
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

    text: str  # the key in SQL, as messages show it
    name: str  # the name of the column


@dataclass(frozen=True, slots=True)
class PlannedColumn:
    """A column that the workers read, as it was when the query was built."""

    text: str  # the column in SQL, as messages show it
    type_name: str  # the SQL name of the column's type
    field: pa.Field  # the column's name and type in Arrow, and whether it could be NULL
    in_utc: bool = False  # whether the session was in UTC


# How a worker sorts.


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column by which rows are sorted, and its direction."""

    name: str
    descending: bool
    nulls_first: bool


class TieCounter(Protocol):
    """A counter of rows that the order does not tell apart: see `sorting.ties.TieReporter`."""

    def count(self, table: pa.Table, ties: IntArray) -> None:
        """Count the ties in a table of sorted rows.

        Args:
            table: the rows, in order.
            ties: int64[k], the positions of the rows that equal the row before them in all sort
                columns.
        """


@dataclass(frozen=True, slots=True)
class Sorting:
    """The order in which a worker sorts the rows of a task."""

    # The names of the columns of the partition keys. In a key, NULL equals NULL.
    keys: tuple[str, ...]
    # The columns by which rows are sorted in each partition.
    order: tuple[SortColumn, ...]
    # The numbers of row conditions that the engine has computed. A partition may be dropped if one
    # of these conditions holds for none of its rows. `TaskInput.read_pieces` sets them.
    bits_needed_for_output: tuple[int, ...] = ()
    # Counts the rows that the order does not tell apart; None to leave them uncounted.
    tie_counter: TieCounter | None = None

    @property
    def columns(self) -> tuple[SortColumn, ...]:
        """Return all columns that rows are sorted by: the keys, then the order in a partition."""
        keys = (SortColumn(key, descending=False, nulls_first=True) for key in self.keys)
        return (*keys, *self.order)
