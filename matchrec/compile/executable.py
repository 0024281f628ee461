"""What can run: columns of Spark before the match, an engine's task, what is read, SQL after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from matchrec.conditions.row_column import RowColumn
from matchrec.engine.engines import Strategy
from matchrec.engine.interface import NearbyCondition, Task
from matchrec.errors.run.origins import SqlOrigin
from matchrec.nfa.program import GUARD_END, GUARD_START
from matchrec.output.measure_reader import Pieces, RowAggregate
from matchrec.output.reads import Read, ReadAt
from matchrec.plan.clauses import Distance, RowsPerMatch
from matchrec.plan.expression import Frame

# How far from the rows of a run a query looks, so that a partition may come in pieces.
#
# A search decides on a starting row once it has seen the rows that it looks at, so a partition may
# come to the engine in pieces that overlap by what conditions and measures see around a match.


@dataclass(frozen=True, slots=True)
class Lookaround:
    """The most rows before a run's first row, and after its last one, that are read."""

    before: int
    after: int


def find_lookaround(
    task: Task, integers: int, reads: Iterable[Read], offsets: Iterable[int] = ()
) -> Lookaround | None:
    """How far conditions and measures see; None where a partition must be at hand as a whole.

    integers: how many integer columns conditions read. offsets: how far row conditions see.
    """
    if task.selects or task.partial is not None:
        return None
    from matchrec.engine.records import compile_task

    guards = task.pattern.guards
    steps = [*offsets, -int(guards & GUARD_START != 0), int(guards & GUARD_END != 0)]
    steps += [one.navigation.physical_offset for one in reads if isinstance(one, ReadAt)]
    steps += compile_task(task, integers).offsets
    return Lookaround(-min([0, *steps]), max([0, *steps]))


@dataclass(frozen=True, slots=True)
class Output:
    """A column of the result. pieces: SQL over reads. is_measure: NULL on a row without a match."""

    name: str
    pieces: Pieces
    is_measure: bool
    origin: SqlOrigin | None = None


@dataclass(frozen=True, slots=True)
class Crossing:
    """The columns that Spark computes for every row and sends, and what each of them is for.

    All else are indices of columns. own: those of this query, where several share the columns that
    cross; then columns are those of the queries up to this one. integers, floats: those that run
    conditions read. ranked: those of them that are replaced by their rank. keys: the partition's,
    by name, for messages. window: the key along which a window is measured and the end of each
    row's window, or none. distance: how far it reaches, where that is known; then `window` is the
    key alone. gap, gap_distance: as these, of the window between a row and the next one. ends: if
    there are others between neighbours, the ends of the windows that begin with a row: that of the
    match, if it has one, then those between neighbours, the smallest first.
    """

    columns: tuple[RowColumn, ...]
    own: tuple[int, ...]
    integers: tuple[int, ...]
    floats: tuple[int, ...]
    ranked: frozenset[int]
    keys: tuple[tuple[str, int], ...]
    window: tuple[int, ...] = ()
    distance: Distance | None = None
    gap: tuple[int, ...] = ()
    gap_distance: Distance | None = None
    ends: tuple[int, ...] = ()


class TotalledBy(Enum):
    NUMBERS = "numbers"
    ORDER = "order"
    PRESENCE = "presence"


@dataclass(frozen=True, slots=True)
class Totalled:
    """A column of which totals read numbers, the order of values, or which of them are NULL."""

    column: int
    reads: TotalledBy


@dataclass(frozen=True, slots=True)
class Executable:
    """A linked query. Picklable: Spark carries it to its workers.

    strategy, reason: what runs the task, and why. conditions: what Spark computes for every row
    and packs as one bit each, own_bits: those of this query. relevant: those of which a row must
    satisfy one to be sent at all, or none. aggregates: those that Spark computes over the rows of
    each match. nearby: row conditions that the worker computes, as it sorts the rows. totalled: the
    columns that totals over all matches read. needed: conditions of which each holds of some row of
    every partition from which anything comes out. in_pieces: whether a partition may come so.
    """

    pattern: str
    task: Task
    strategy: Strategy
    reason: str
    rows_per_match: RowsPerMatch
    crossing: Crossing
    conditions: tuple[RowColumn, ...]
    own_bits: tuple[int, ...]
    relevant: tuple[RowColumn, ...]
    reads: tuple[Read, ...]
    aggregates: tuple[RowAggregate, ...]
    outputs: tuple[Output, ...]
    ansi: bool
    window_rows: int | None = None
    totalled: tuple[Totalled, ...] = ()
    nearby: tuple[NearbyCondition, ...] = ()
    needed: tuple[int, ...] = ()
    in_pieces: bool = True

    @property
    def lookaround(self) -> Lookaround | None:
        """How much of a partition must be at hand around a match; None for all of it."""
        if not self.in_pieces:
            return None
        offsets = [offset for condition in self.nearby for offset in condition.offsets]
        return find_lookaround(self.task, len(self.crossing.integers), self.reads, offsets)

    @property
    def is_bounded(self) -> bool:
        """Whether every run ends with its window or by its length, whatever rows come."""
        pattern = self.task.pattern
        return self.task.windowed or not (pattern.longest is None or pattern.program.waits)

    @property
    def frame(self) -> Frame | None:
        """The frame of a row pattern window, from the first row of a match on."""
        if self.rows_per_match is not RowsPerMatch.EACH_ROW:
            return None
        return Frame(0, None if self.window_rows is None else self.window_rows - 1)

    def limit(self, max_steps: int) -> Executable:
        """The executable, which may take so many steps in a partition at most: see `Task`."""
        return replace(self, task=replace(self.task, max_steps=max_steps))
