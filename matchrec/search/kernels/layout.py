"""The records that kernels read, work in and write; the columns and indices of their arrays.

The arrays travel in a few records, so that a function says what it needs in one word. What only
some searches need is None for the others: a record with another None is compiled as a kernel of its
own, without what would use it. Such a function takes what may be None beside the record, as a
hook, because the compiler leaves out what follows from an argument that is None, not from a field.

*Contiguous* is a search that skips no row and finds one match of a starting row; with *event
selection* rows may be skipped, or more is asked for. There no array is missing: without conditions
on the run, a row of registers is empty; without a window, it ends with the partition.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from matchrec.automaton.closure import Effect
from matchrec.plan.clauses import Grouping, MatchOutput
from matchrec.search.partitions import BoolArray, Frontier, IntArray

ByteArray = npt.NDArray[np.uint8]
ChoiceArray = npt.NDArray[np.int32]
RunArray = Any  # an array, or None where a search needs none
Hook = Any  # an array or a record, or None where a search does nothing about it


class SkipRule(NamedTuple):
    """AFTER MATCH SKIP: `past` rows beyond the first target, `backwards` the last: see `starts`."""

    backwards: bool
    past: int


class Rules(NamedTuple):
    """The query.

    first: int64[s + 1], the choices of state s are rows first[s] .. first[s + 1] of `program`.
    program: int64[c, 16], columns as below. output: which matches come out, a code below. forgets:
    whether failures hold only until the next match, as conditions read its number. instructions,
    live_first, live: see `conditions.evaluate.kernels.machine` and `kernels.mapping`.

    Of event selection: merge_runs: whether runs may merge, of which the graph shows every one.
    starts: how many of the states, from 0 on, begin a run. tests_before_mapping: whether a
    condition is asked before the row is mapped. flushes: whether a run comes out as its window
    ends. accepts: int64[s], the guard under which a run that arrives in a state is a match, or -1.
    goes_on: int64[s], whether a run in a state may map further rows, or is there to be completed.
    waits: int64[s], the state in which a run waits that skips a row, -1 where it may not. ends:
    int64[s], what a run is whose window or partition ends in a state, 0 or a FOUND_KIND.
    """

    first: IntArray
    program: IntArray
    skip: SkipRule
    output: int
    forgets: bool
    merge_runs: bool
    starts: int
    tests_before_mapping: bool
    flushes: bool
    accepts: RunArray
    goes_on: RunArray
    waits: RunArray
    ends: RunArray
    instructions: RunArray
    live_first: RunArray
    live: RunArray


class RowArrays(NamedTuple):
    """The partitions. starts: int64[p + 1]. satisfied: int64[n, w], as in `Partitions`.

    frontier: how far each search has come, which moves it.
    window_end: int64[n], see `Partitions`; contiguous searches without a window have int64[0].
    begins: bool[n], whether a match may begin with a row; bool[0] where any may.
    columns, valid, mathematics, python: see `conditions.evaluate.kernels.machine`.
    """

    starts: IntArray
    frontier: Frontier
    satisfied: IntArray
    window_end: IntArray
    begins: BoolArray
    columns: RunArray
    valid: RunArray
    mathematics: Any
    python: Any


class NegationArrays(NamedTuple):
    """What a match as a whole is tested by; None where it is not.

    absent: int64[a, 3], columns below. members: bool[a, 2, v], the variables before that part and
    after it. closing: int64[0 or 1, 4], the condition of the match as a whole. following:
    int64[a, n + 1], the next row from a row on that satisfies the row condition of an absence.
    """

    absent: IntArray
    members: BoolArray
    closing: IntArray
    following: IntArray


class TotalArrays(NamedTuple):
    """What is added up over all matches, see `kernels.totals`; None where they come out.

    asked: int64[t, 4], what each total is. members: bool[t, v], the variables that it reads.
    values, valid: int64[c, n] and bool[c, n], the columns that it reads, a float as its bits.
    variables: int64[k], of each choice. apart: int64[n], runs are equal only where it is the same
    for their first rows. groups: int64[g, w], what is known of the matches of each group. grouped:
    by what, a code below. widest: how many ways on a state has at most.
    """

    asked: IntArray
    members: BoolArray
    values: IntArray
    valid: BoolArray
    variables: IntArray
    apart: IntArray
    groups: IntArray
    grouped: int
    widest: int


class Wanted(NamedTuple):
    """The starting rows of live runs. int64[n] each: what a run is that is live at the end of its
    window, `NOTHING` where none is sought; how many matches of the partition came before.
    """

    kind: IntArray
    number: IntArray


class Progress(Protocol):
    """What a kernel keeps between calls: a record of int64, which `new_progress` makes."""

    number: int  # matches found in the partition; conditions on the run read it
    partition: int  # the partition being searched
    lower: int  # its first row
    upper: int  # the row after its last one, after the edge if that is not here
    edge: int  # the first row that no search may look at, `NO_EDGE` where all are here
    until: int  # the row before which matches begin, the edge at most
    goes_on: int  # whether runs are kept at its end, as more rows come: see `incremental`
    start: int  # the next starting row
    matches: int  # matches in the output
    mapped: int  # rows in the output
    needed: int  # rows that what is full must hold
    row: int  # where a failure showed
    choice: int  # of the condition that failed
    memo_from: int  # remembered failures count from this row on
    memo_to: int  # and before this one
    memo_window: int  # the end of the window for which they are remembered
    best_start: int  # the first row of the best match so far, or -1
    best_end: int  # the row after its last one; with event selection its last one
    best_node: int  # its last node
    best_length: int  # how many rows it has
    runs: int  # runs that go on to the next row, or computation states in a table
    nodes: int  # nodes in the buffer
    bank: int  # of the runs before the row
    count: int  # of these runs; where matches are found in turn, 0 unless it is to go on with them
    next_row: int  # then the row
    merged: int  # how many runs went on from the last row that merged them
    stamp: int  # a number of its own for each row of each search
    horizon: int  # up to which row it is known where acceptances are
    step_count: int  # how often conditions on the run were evaluated in the partition
    step_limit: int  # and how often at most
    match_limit: int  # how many matches of a partition are sought at most
    known: int  # how the match goes on that is about to be written out, see `kernels.chained`
    completed: int  # of the match to be written out next: see `found`
    match_kind: int
    alone: int  # up to how many reads runs of one starting row are followed alone
    alone_from: int  # that row
    unfinished_in: int  # the last partition of which an unfinished run has come out


PROGRESS = np.dtype((np.record, [(field, np.int64) for field in Progress.__annotations__]))


def new_progress() -> Progress:
    """All of it 0; a kernel writes to it."""
    progress: Progress = np.zeros(1, PROGRESS)[0]
    return progress


class Fields(ctypes.Structure):
    """What a kernel keeps, as Python reads it several times as fast."""

    _fields_ = tuple((field, ctypes.c_int64) for field in Progress.__annotations__)


def fields_of(progress: Progress) -> Progress:
    fields: Any = Fields.from_buffer(cast("Any", progress).base)
    return cast("Progress", fields)


class FoundArrays(NamedTuple):
    """The output. found: int64[f, m + 1], what is known of each match, rows as below.

    taken: int32[k], the choice taken at each mapped row, match after match. rows: int64[k], their
    positions; None where rows follow each other.
    """

    found: IntArray
    taken: ChoiceArray
    rows: RunArray = None


class Work(NamedTuple):
    """What a search works in; None where it needs no such.

    output: where matches are written, made for each chunk. counters: int64[COUNTERS], of what is
    done and need not be done again. registers, stack: see `conditions.evaluate.kernels.machine`.

    Of a search that goes back: path: int32[p], the choice taken at each row; with event selection
    int64[5, p], a match's rows and choices, those of the best match so far, and whether the row at
    a depth may be skipped and how many matches were before it. memo: uint8[r, b], remembered
    failures: see `kernels.mapping`. known: int32[r, s], what is known of states and rows: see
    `distances` and `chained`. best_before: int32[p], see `distances`.

    Of a search that follows all runs at once: runs: int64[2, r, 3], those before this row and those
    after it, in turn, in the order in which depth-first search would come to them; where all
    matches are sought the start is the latest first row of the runs that one stands for. nodes: the
    shared buffer, int32[n, 2 or 3] for preferred matches; for all of them int64[n, 5], a pointer
    from each selected row to the one before, for every run that selects it; a join where runs have
    merged leads to the ends of both. ways: int64[q, 2], joins whose other side is still to be
    unwound, and how many rows come after them. last_live: int64[n or 0], for each row the last at
    which a run is live that began there, if that is needed.

    table: hash table of computation states: see `kernels.mapping`; where the state alone tells
    them, int64[s, 2] by state.
    """

    progress: Progress
    output: Any = None
    counters: RunArray = None
    registers: RunArray = None
    stack: RunArray = None
    path: RunArray = None
    memo: RunArray = None
    known: RunArray = None
    best_before: RunArray = None
    runs: RunArray = None
    table: RunArray = None
    nodes: RunArray = None
    ways: RunArray = None
    last_live: RunArray = None


# Columns of `program`: the choices of all states one after the other, in preferment order within a
# state; state 0 starts.
SOURCE = 0
TARGET = 1  # a state, ACCEPT, or below that what a row does that is not mapped
VARIABLE = 2  # -1 where the choice accepts
GUARD = 3  # see `automaton.closure`
MEMO = 4  # a number for the target where its failures are worth remembering
WORD = 5  # the row condition: `satisfied[row, WORD] & MASK == MASK`; mask 0 needs nothing
MASK = 6
IS_TARGET = 7  # whether AFTER MATCH SKIP goes to rows mapped by this choice
STEPS = 8  # instructions: what mapping the row does to the registers
STEPS_END = 9
CODE = 10  # and the condition that then must hold
CODE_END = 11
BLOCKS = 12  # whether a row that can be taken by it may not be skipped
TEST = 13  # the variable whose condition is asked, -1 for none
EXCLUDED = 14
AGAIN = 15  # whether it takes one more row of the loop over one variable that the state is in
CHOICE_SIZE = 16

NO_LIMIT = 2**62
ACCEPT = -1  # the target of a choice that accepts
NOT_REMEMBERED = -1  # the memo number of a target whose failures are not remembered

# What a row does that is not mapped, in place of a choice's target: see `automaton.closure.Effect`.
ENDS, STOPS, _, COMPLETES_HERE, TIMES_OUT, CUTS = map(int, Effect)

# Which matches come out, in the order of `MatchOutput`.
PREFERRED, LONGEST, ALL, NON_OVERLAPPING, GRAPH = range(len(MatchOutput))

# Rows of `found`; the last two are those of event selection: the row at which a match is complete,
# and what it is, see `automaton.program`: a match, or a run whose window has ended.
FOUND_PARTITION, FOUND_NUMBER, FOUND_START, FOUND_OFFSET = range(4)
FOUND_COMPLETED, FOUND_KIND, FOUND_SIZE = range(4, 7)

# What a kernel returns.
DONE = 0
OUTPUT_FULL = 1  # take the matches away
PATH_FULL = 2
MEMO_FULL = 3
RUNS_FULL = 4
NODES_FULL = 5  # before a row
SKIP_TO_NO_ROW = 6  # failures: at progress.partition, progress.row
SKIP_TO_FIRST_ROW = 7
CONDITION_FAILED = 6  # added to what `evaluate.kernels.machine.holds` answers, which gives one of:
OVERFLOW = 8
DIVISION_BY_ZERO = 9
FUNCTION_FAILED = 10
MORE_ROWS = 11  # the search from progress.start has come to the edge of the rows that are here
TOO_MANY_STEPS = 12  # conditions on the run were evaluated more often than allowed; as MORE_ROWS

# Columns of `runs`, in preferment order. A run whose condition failed waits for what is preferred
# to it: its state is minus a status, its node a choice, its start the row.
RUN_STATE, RUN_NODE, RUN_START, RUN_SIZE = range(4)

# Columns of `table`: an entry counts if its stamp is that of the row, or of the starting row. From
# TABLE_REGISTERS on there are the live ones.
TABLE_STAMP, TABLE_ENTRY, TABLE_STATE, TABLE_KEY, TABLE_REGISTERS = range(5)

# Columns of `nodes`. Where one preferred match is sought there are two, with the row three.
NODE_CHOICE = 0  # by which the row was mapped, JOIN for a join
NODE_BEFORE = 1  # the node of the row before, or -1; of a join, its first side
NODE_ROW = 2  # where rows may be skipped
NODE_OTHER = 3  # of a join, its second side
NODE_START = 4  # the latest first row of what ends here
NODE_SIZE = 5
JOIN = -1
COMPLETES = -2  # in place of another side: a match ends here, which the graph of all matches keeps

# Rows of `path` with event selection: those of choices come after those of rows.
PATH_ROWS, PATH_CHOICES, PATH_BEST_ROWS, PATH_BEST_CHOICES, PATH_MARKS, PATH_SIZE = range(6)

# By what matches are grouped: their partition, the row with which they start or end.
BY_PARTITION, BY_START, BY_END = range(len(Grouping))

# Columns of `absent`.
ABSENT_KIND, ABSENT_CODE, ABSENT_CODE_END, ABSENT_SIZE = range(4)
IN_THE_MIDDLE, AT_THE_BEGINNING, AT_THE_END = range(3)

# Columns of `closing`.
CLOSING_WORD, CLOSING_MASK, CLOSING_CODE, CLOSING_CODE_END, CLOSING_SIZE = range(5)

# What `counters` count; READS is how often a run has looked at a row.
READS, RUNS_CREATED, MOST_LIVE, FORKS, MERGES, NODES_CREATED, NODES_PRUNED, COUNTERS = range(8)
