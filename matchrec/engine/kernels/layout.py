"""The records that kernels read, work in and write; the columns and indices of their arrays.

The arrays travel in four records, so that a function says what it needs in one word. What only
conditions on the run need is None where there are none, which is compiled as a kernel of its own
without what would use it: such a function takes `work.registers` beside the record, because the
compiler leaves out what follows from an argument that is None, not from a field.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from matchrec.engine.partitions import IntArray

ByteArray = npt.NDArray[np.uint8]
ChoiceArray = npt.NDArray[np.int32]
RunArray = Any  # an array, or None where no condition depends on the run


class SkipRule(NamedTuple):
    """AFTER MATCH SKIP, see `kernels.next_start`.

    backwards: whether the last target counts. past: how many rows beyond it the search goes on.
    """

    backwards: bool
    past: int


class Rules(NamedTuple):
    """The query.

    first: int64[s + 1], the choices of state s are rows first[s] .. first[s + 1] of `program`.
    program: int64[c, 13], columns as below. merge_runs: whether runs with the same future are
    searched once. forgets: whether failures hold only until the next match, as conditions read its
    number. longest: whether the longest match of a starting row wins, not the preferred one.
    instructions, live_first, live: see `evaluate.kernels` and `kernels.merging`; may be None.
    """

    first: IntArray
    program: IntArray
    skip: SkipRule
    merge_runs: bool
    forgets: bool
    longest: bool
    instructions: RunArray
    live_first: RunArray
    live: RunArray


class Rows(NamedTuple):
    """The partitions. starts: int64[p + 1].

    frontier: int64[5, p], how far each search has come, rows as below. satisfied: int64[n, w], the
    row conditions of `Partitions`, bit for bit.
    window_end: int64[n], see `Partitions`, or int64[0] without a window.
    columns, valid, mathematics, python: see `evaluate.kernels`; may be None.
    """

    starts: IntArray
    frontier: IntArray
    satisfied: IntArray
    window_end: IntArray
    columns: RunArray
    valid: RunArray
    mathematics: Any
    python: Any


class Partition(NamedTuple):
    """The partition that is searched: its first row, and the row after its last one.

    edge: the row from which on no search may look, `NO_EDGE` where all are here. until: the row
    before which matches begin.
    """

    lower: int
    upper: int
    edge: int
    until: int


class PathWork(NamedTuple):
    """What a search works in that goes back.

    path: int32[p], the choice taken at each row. memo: see `kernels.memo`.
    registers, stack: see `evaluate.kernels`; may be None.
    """

    progress: IntArray
    path: ChoiceArray
    memo: ByteArray
    registers: RunArray
    stack: RunArray


class RunsWork(NamedTuple):
    """What a search works in that follows all runs at once.

    runs: int64[2, r, 3], those at this row and those at the next, in turn. nodes: int32[n, 2], the
    shared buffer of mapped rows. moved: int32[n], scratch. seen: int64[s, 2], columns as below.
    memo: see `kernels.memo`. registers, stack: see `evaluate.kernels`; table: see
    `kernels.merging`; may be None.
    """

    progress: IntArray
    runs: IntArray
    nodes: ChoiceArray
    moved: ChoiceArray
    seen: IntArray
    memo: ByteArray
    registers: RunArray
    stack: RunArray
    table: RunArray


class DistanceWork(NamedTuple):
    """What a search works in that finds out how far acceptance is.

    distances: int32[r, s], see `kernels.windowed` and `kernels.longest`; r is a power of two, and
    row position p stands at distances[p & (r - 1)]. path, best_before: int32[r], the choice that is
    tried at each row from the starting row on, and the best distance by those before it.
    """

    progress: IntArray
    distances: ChoiceArray
    path: ChoiceArray
    best_before: ChoiceArray


class ChainWork(NamedTuple):
    """What a search works in whose matches share rows: see `kernels.chained`."""

    progress: IntArray
    known: ChoiceArray
    path: ChoiceArray


Work = PathWork | RunsWork
AnyWork = Work | DistanceWork | ChainWork


class Found(NamedTuple):
    """The output. found: int64[4, m + 1], what is known of each match, rows as below.

    taken: int32[k], the choice taken at each mapped row, match after match.
    """

    found: IntArray
    taken: ChoiceArray


# Columns of `program`, which are those of `nfa.tables.ProgramTables` and the row condition: the
# choice needs `satisfied[row, WORD] & MASK == MASK`; mask 0 needs nothing.
SOURCE = 0
TARGET = 1
VARIABLE = 2
GUARD = 3
MEMO = 4
WORD = 5
MASK = 6
IS_TARGET = 7  # whether AFTER MATCH SKIP goes to rows mapped by this choice
STEPS = 8  # instructions: what mapping the row does to the registers
STEPS_END = 9
CODE = 10  # and the condition that then must hold
CODE_END = 11
BLOCKS = 12  # whether a row that can be taken by it may not be skipped
CHOICE_SIZE = 13

NO_LIMIT = 2**62

ACCEPT = -1  # the target of a choice that accepts
NOT_REMEMBERED = -1  # the memo number of a target whose failures are not remembered

# Rows of `found`.
FOUND_PARTITION = 0
FOUND_NUMBER = 1
FOUND_START = 2
FOUND_OFFSET = 3

# What a kernel returns.
DONE = 0
OUTPUT_FULL = 1  # take the matches away
PATH_FULL = 2
MEMO_FULL = 3
RUNS_FULL = 4
NODES_FULL = 5  # before a row
SKIP_TO_NO_ROW = 6  # failures: at progress[PARTITION], progress[ROW]
SKIP_TO_FIRST_ROW = 7
CONDITION_FAILED = 6  # added to what `evaluate.kernels.holds` answers, which gives one of:
OVERFLOW = 8
DIVISION_BY_ZERO = 9
FUNCTION_FAILED = 10
MORE_ROWS = 11  # the search from progress[START] has come to the edge of the rows that are here
TOO_MANY_STEPS = 12  # conditions on the run were evaluated more often than allowed; as MORE_ROWS

# What a kernel keeps between calls, indices of `progress`.
NUMBER = 0  # matches found in the partition; conditions on the run read it
PARTITION = 1  # the partition being searched
START = 2  # the next starting row
MATCHES = 3  # matches in the output
MAPPED = 4  # rows in the output
NEEDED = 5  # rows that what is full must hold
ROW = 6  # where a failure showed
MEMO_FROM = 7  # remembered failures count from this row on
MEMO_TO = 8  # and before this one
CHOICE = 9  # of the condition that failed
BEST_START = 10  # the preferred match so far: first row or -1, row after the last, its last node
BEST_END = 11
BEST_NODE = 12
RUNS = 13  # runs that go on to the next row
NODES = 14  # nodes in the buffer
STAMP = 15  # a number of its own for each row of each search
HORIZON = 16  # up to which row it is known where acceptances are
MEMO_WINDOW = 17  # the end of the window for which failures are remembered
STEP_COUNT = 18  # how often conditions on the run were evaluated in the partition
STEP_LIMIT = 19  # and how often at most
BANK = 20  # of the runs before the row
COUNT = 21  # of these runs; of a search for one match after the other, if it is to go on with them
NEXT_ROW = 22  # then the row
PROGRESS_SIZE = 23

# Rows of `frontier`, see `Frontier`.
FRONTIER_START = 0
FRONTIER_UNTIL = 1
FRONTIER_EDGE = 2
FRONTIER_NUMBER = 3
FRONTIER_STEPS = 4

# Columns of `runs`, in preferment order. A run whose condition failed waits for what is preferred
# to it: its state is minus a status, its node a choice, its start the row.
RUN_STATE = 0
RUN_NODE = 1
RUN_START = 2
RUN_SIZE = 3

# Columns of `seen`, by state: the stamp of the last run that came there, the end of its window.
SEEN_AT = 0
SEEN_WINDOW = 1
SEEN_SIZE = 2

# Columns of `nodes`: the choice by which a row was mapped, and the node of the row before, or -1.
NODE_CHOICE = 0
NODE_PREDECESSOR = 1
NODE_SIZE = 2
