"""A compiled query: what Spark computes before the match, the task of the search, and the result.

`build_query` makes a `CompiledQuery`, and Spark carries it to its workers. Most other classes are
parts of it: `SentColumns` are the columns that a worker receives, `SentWindow` says which of them
decide where windows end, `ResultColumn` is a column of the result, and `TotalledColumn` is a column
that is read by aggregates over all matches. A `SorterChoice` says who sorts the rows; the split of
the conditions depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from matchrec.compile.lookaround import Lookaround, find_lookaround
from matchrec.conditions.row_column import RowColumn
from matchrec.errors.run.origins import SqlOrigin
from matchrec.output.measure_sql import ReadInSql, RowAggregate, SqlPieces
from matchrec.output.reads import Read
from matchrec.plan.clauses import Distance, RowsPerMatch
from matchrec.plan.expression import Frame
from matchrec.search.strategy import Strategy
from matchrec.search.task import NearbyCondition, Task


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of the result."""

    name: str
    # The column as SQL: texts, and reads and aggregates between them.
    pieces: SqlPieces
    # Whether the column is NULL on a row without a match, as measures are.
    is_measure: bool
    # Where the user wrote the column; None for a column that nobody wrote.
    origin: SqlOrigin | None = None

    @property
    def is_read(self) -> bool:
        """Return whether the column is a read, so that Spark computes nothing."""
        return len(self.pieces) == 1 and isinstance(self.pieces[0], ReadInSql)


@dataclass(frozen=True, slots=True)
class SentWindow:
    """What a worker needs to find the end of the window that begins with each row.

    Either `end` or `distance` is None.
    """

    # The index in `SentColumns.columns` of the order column, along which the window is measured.
    order: int
    # The index of the column with the order value at which the window of each row ends.
    end: int | None
    # How far the window reaches after its first row, if that is known when the query is compiled.
    distance: Distance | None


@dataclass(frozen=True, slots=True)
class SentColumns:
    """The columns that Spark computes for every row and sends, and the purpose of each.

    The integers in the tuples and sets are indices in `columns`, from 0.
    """

    # All columns that are sent, for this query and for the other rules of its set.
    columns: tuple[RowColumn, ...]
    # The columns that this query uses.
    used_columns: tuple[int, ...]
    # The columns that conditions on the run read as integers.
    integer_columns: tuple[int, ...]
    # The columns that conditions on the run read as doubles.
    float_columns: tuple[int, ...]
    # The columns that conditions on the run read as ranks of their values.
    ranked_columns: frozenset[int]
    # The name and the column of each partition key, for messages.
    partition_keys: tuple[tuple[str, int], ...]
    # The window of a match; None if only a number of rows limits a match, or nothing does.
    window: SentWindow | None = None
    # The window between each row of a match and the next one; None if there is no such limit.
    gap: SentWindow | None = None
    # For a plan of stages with windows between neighbouring rows, the ends of all windows that
    # begin with a row: first the window of the match, if there is one, then the windows between
    # neighbours, the shortest first. Empty for other plans.
    window_end_columns: tuple[int, ...] = ()


class ResultForm(Enum):
    """The way in which the columns of the result are made from the reads of the workers."""

    # The workers return the columns of the result, with their names.
    RETURNED = "the workers return the result"
    # Each column is a read, which the engine selects and names.
    SELECTED = "the engine selects the result from the reads"
    # At least one column is SQL over reads, or an aggregate.
    COMPUTED = "the engine computes the result over the reads"


class ColumnAspect(Enum):
    """What aggregates over all matches need to know about a column's values."""

    NUMBERS = "numbers"  # the values, as numbers to add up
    ORDER = "order"  # numbers in the order of the values
    PRESENCE = "presence"  # only which values are NULL


@dataclass(frozen=True, slots=True)
class TotalledColumn:
    """A column that is read by aggregates over all matches."""

    # The index of the column in `SentColumns.columns`.
    column: int
    aspect: ColumnAspect


class SorterKind(Enum):
    """Who sorts the rows, and who computes conditions that read neighbouring rows."""

    WORKERS = "the workers sort and read neighbouring rows"
    SPARK_SORTS = "Spark sorts, and the workers read neighbouring rows"
    SPARK_SORTS_AND_READS = "Spark sorts and reads neighbouring rows"
    STREAM = "events arrive in their order, and the search reads neighbouring rows"


@dataclass(frozen=True, slots=True)
class SorterChoice:
    """The choice of who sorts the rows of each partition, with the reason for it."""

    kind: SorterKind
    # Why the engine sorts; empty if the workers sort, or nobody does.
    reason: str = ""

    @property
    def is_worker(self) -> bool:
        """Return whether the workers sort."""
        return self.kind is SorterKind.WORKERS

    def __str__(self) -> str:
        """Return the sentence that `explain` prints after "sorted by"."""
        if self.is_worker:
            return "the workers; the engine only groups the rows by partition"
        return f"the engine: {self.reason}"


WORKERS_SORT = SorterChoice(SorterKind.WORKERS)


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A compiled query. Picklable: Spark carries it to its workers."""

    # The row pattern as text, for the name of the operator in Spark's plans.
    pattern_text: str
    # The task of the search.
    task: Task
    # The strategy that runs the task.
    strategy: Strategy
    # Why this strategy was chosen: a sentence for `explain`.
    strategy_reason: str
    # The option for the rows of a match that are output rows.
    rows_per_match: RowsPerMatch
    sent_columns: SentColumns
    # The row conditions that Spark computes, before the match. Each is packed as one bit.
    row_conditions: tuple[RowColumn, ...]
    # The bits of `row_conditions` that this query tests. If several rules share the conditions, a
    # rule tests some of them; otherwise the query tests all.
    tested_bits: tuple[int, ...]
    # Filters. A row is sent if it passes at least one of them; all rows are sent if there are none.
    row_filters: tuple[RowColumn, ...]
    # The values that a worker returns for each output row.
    reads: tuple[Read, ...]
    # The aggregates that Spark computes over the rows of each match.
    aggregates: tuple[RowAggregate, ...]
    # The columns of the result, as SQL over the reads and the aggregates, in their order.
    outputs: tuple[ResultColumn, ...]
    # Whether the session is in ANSI mode, so that overflow is an error.
    ansi: bool
    # The number of rows in the frame of a row pattern window; None if the frame is unbounded.
    window_rows: int | None = None
    # The columns that are read by aggregates over all matches.
    totalled_columns: tuple[TotalledColumn, ...] = ()
    # The row conditions that the worker computes for all rows before the search.
    nearby_conditions: tuple[NearbyCondition, ...] = ()
    # Bits of `row_conditions`. A partition has output only if, for each of these bits, it has a row
    # with the bit. So other partitions need not be searched.
    bits_needed_for_output: tuple[int, ...] = ()
    # Whether a partition can be searched in pieces, in the order of its rows.
    can_be_searched_in_pieces: bool = True

    @property
    def result_form(self) -> ResultForm:
        """Return how the columns of the result are made from the reads of the workers.

        The workers can return the result if it has one column for each read, in the same order, and
        if the names of these columns differ and do not begin like internal names.
        """
        if self.aggregates or not all(output.is_read for output in self.outputs):
            return ResultForm.COMPUTED
        names = [output.name for output in self.outputs]
        read_pieces = [(ReadInSql(index),) for index in range(len(self.reads))]
        are_reads_in_order = [output.pieces for output in self.outputs] == read_pieces
        has_distinct_names = len({name.lower() for name in names}) == len(names)
        has_internal_name = any(not name or name.startswith("__") for name in names)
        if are_reads_in_order and has_distinct_names and not has_internal_name:
            return ResultForm.RETURNED
        return ResultForm.SELECTED

    @property
    def lookaround(self) -> Lookaround | None:
        """Return how many rows around a run are read; None if it may read the whole partition."""
        if not self.can_be_searched_in_pieces:
            return None
        offsets = [offset for condition in self.nearby_conditions for offset in condition.offsets]
        return find_lookaround(
            self.task, len(self.sent_columns.integer_columns), self.reads, offsets
        )

    @property
    def is_bounded(self) -> bool:
        """Return whether every run ends by its window or its length, whatever rows follow."""
        pattern = self.task.pattern
        has_longest_run = pattern.longest_match is not None and not pattern.program.can_skip_rows
        return self.task.has_window or has_longest_run

    @property
    def frame(self) -> Frame | None:
        """Return the frame of a row pattern window, which begins with the first row of a match."""
        if not self.rows_per_match.is_window_output:
            return None
        return Frame(0, None if self.window_rows is None else self.window_rows - 1)
