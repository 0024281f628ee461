"""A compiled query: what Spark computes before the match, the task of the search, its output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from matchrec.automaton.program import GUARD_END, GUARD_START
from matchrec.conditions.row_column import RowColumn
from matchrec.errors.run.origins import SqlOrigin
from matchrec.output.measure_reader import Pieces, RowAggregate
from matchrec.output.reads import Read, ReadAt
from matchrec.plan.clauses import Distance, RowsPerMatch
from matchrec.plan.expression import Frame
from matchrec.search.interface import NearbyCondition, Task
from matchrec.search.strategies import Strategy

# How far a query looks beyond the rows of a run, so that a partition can come in chunks.
#
# A search decides on a starting row once it has seen the rows that it looks at. So a partition can
# come to the engine in chunks that overlap by what conditions and measures read around a match.


@dataclass(frozen=True, slots=True)
class Lookaround:
    """The number of rows that are read before the first row of a run, and after its last row."""

    before: int
    after: int


def find_lookaround(
    task: Task, integers: int, reads: Iterable[Read], offsets: Iterable[int] = ()
) -> Lookaround | None:
    """Return how far conditions and measures look, or None if they need the whole partition.

    Args:
        task: the task of the search.
        integers: the number of integer columns that conditions on the run read.
        reads: what is read of each output row.
        offsets: how far the row conditions that the worker computes look.
    """
    if task.selects or task.partial is not None:
        return None
    from matchrec.search.records import compile_task

    guards = task.pattern.guards
    steps = [0, *offsets]
    if guards & GUARD_START:
        steps.append(-1)
    if guards & GUARD_END:
        steps.append(1)
    steps += [read.navigation.physical_offset for read in reads if isinstance(read, ReadAt)]
    steps += compile_task(task, integers).offsets
    return Lookaround(before=-min(steps), after=max(steps))


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result."""

    name: str
    pieces: Pieces  # the column as SQL text over reads, which are given by their indices
    is_measure: bool  # a measure is NULL on a row without a match
    origin: SqlOrigin | None = None  # where the user wrote it


@dataclass(frozen=True, slots=True)
class Crossing:
    """The columns that Spark computes for every row and sends, and what each of them is for.

    All numbers are indices in `columns`.
    """

    # All columns that are sent. If rules share them: the columns of the rules up to this one.
    columns: tuple[RowColumn, ...]
    # The columns that this query uses.
    used: tuple[int, ...]
    # The columns that conditions on the run read as integers and as doubles.
    integers: tuple[int, ...]
    floats: tuple[int, ...]
    # The columns that conditions on the run read as ranks of their values.
    ranked: frozenset[int]
    # The name and the column of each partition key, for messages.
    keys: tuple[tuple[str, int], ...]
    # The key along which the window of a match is measured, and the end of the window that begins
    # with each row. Empty without a window; the key alone if `distance` is known.
    window: tuple[int, ...] = ()
    # How far the window of a match reaches, if that is known when the query is compiled.
    distance: Distance | None = None
    # The same two for the window between a row of a match and the next one.
    gap: tuple[int, ...] = ()
    gap_distance: Distance | None = None
    # The ends of all windows that begin with a row, if some of them are between neighbours in the
    # pattern: first the end of the window of the match, if it has one, then the ends of those
    # between neighbours, the smallest window first.
    ends: tuple[int, ...] = ()


class ColumnAspect(Enum):
    """What totals over all matches read of a column."""

    NUMBERS = "numbers"  # its values, as numbers to add up
    ORDER = "order"  # numbers that are in the order of its values
    PRESENCE = "presence"  # only which of its values are NULL


@dataclass(frozen=True, slots=True)
class TotalledColumn:
    """A column that totals over all matches read."""

    column: int  # its index in `Crossing.columns`
    aspect: ColumnAspect


@dataclass(frozen=True, slots=True)
class Sorter:
    """Who sorts the rows of each partition: the workers, or Spark."""

    is_worker: bool
    # Why Spark sorts; empty if the workers do.
    reason: str = ""

    def __str__(self) -> str:
        if self.is_worker:
            return "the workers: Spark only brings the rows of a partition together"
        return f"Spark: {self.reason}"


WORKERS_SORT = Sorter(is_worker=True)


@dataclass(frozen=True, slots=True)
class Executable:
    """A compiled query. Picklable: Spark carries it to its workers."""

    # The row pattern as text, for the name of the operator in Spark's plans.
    pattern: str
    task: Task
    # The algorithm that runs the task, and why it was chosen.
    strategy: Strategy
    reason: str
    rows_per_match: RowsPerMatch
    crossing: Crossing
    # The conditions that Spark computes for every row and packs as one bit each.
    conditions: tuple[RowColumn, ...]
    # The bits that this query uses, if several rules share the conditions.
    used_bits: tuple[int, ...]
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    relevant: tuple[RowColumn, ...]
    # What is read of each output row.
    reads: tuple[Read, ...]
    # The aggregates that Spark computes over the rows of each match.
    aggregates: tuple[RowAggregate, ...]
    outputs: tuple[Output, ...]
    # Whether overflow is an error.
    ansi: bool
    # The number of rows in the frame of a row pattern window; None if the frame is unbounded.
    window_rows: int | None = None
    # The columns that totals over all matches read.
    totalled: tuple[TotalledColumn, ...] = ()
    # The row conditions that the worker computes while it sorts the rows.
    nearby: tuple[NearbyCondition, ...] = ()
    # Bits of `conditions`. Each of these conditions holds for some row of every partition that
    # yields output, so a partition without such a row need not be searched.
    needed: tuple[int, ...] = ()
    # Whether a partition can be searched in chunks, in the order of its rows.
    in_chunks: bool = True

    @property
    def lookaround(self) -> Lookaround | None:
        """Return how many rows around a match are needed; None for the whole partition."""
        if not self.in_chunks:
            return None
        offsets = [offset for condition in self.nearby for offset in condition.offsets]
        return find_lookaround(self.task, len(self.crossing.integers), self.reads, offsets)

    @property
    def is_bounded(self) -> bool:
        """Return whether every run ends by its window or its length, whatever rows follow."""
        pattern = self.task.pattern
        has_longest_run = pattern.longest is not None and not pattern.program.waits
        return self.task.windowed or has_longest_run

    @property
    def frame(self) -> Frame | None:
        """Return the frame of a row pattern window, which begins with the first row of a match."""
        if self.rows_per_match is not RowsPerMatch.EACH_ROW:
            return None
        return Frame(0, None if self.window_rows is None else self.window_rows - 1)

    def limit(self, max_steps: int) -> Executable:
        """Return the query with a limit on the steps in one partition, see `Task.max_steps`."""
        return replace(self, task=replace(self.task, max_steps=max_steps))
