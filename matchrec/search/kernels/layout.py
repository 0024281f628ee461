"""The records that kernels read, work in and write; the columns and indices of their arrays.

Arrays travel in a few records, so that a function can name what it needs in one word. What only
some searches need is None for the others: a record with another None is compiled as a kernel of its
own, without the code that would use it. A function that depends on whether something is None takes
it as an argument of its own, a *hook*, because the compiler leaves out what follows from an
argument that is None, but not what follows from a field that is None.

A search is *contiguous* if it skips no row and finds one match of a starting row. With *event
selection*, rows may be skipped, or more is asked for. With event selection no array is missing:
without conditions on the run, a row of registers is empty; without a window, the window ends with
the partition.

In comments n is the number of rows, p of partitions, s of states, c of choices, v of variables.
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
RunArray = Any  # an array, or None if a search does not need it
Hook = Any  # an array or a record, or None if a search does not have the feature


class SkipRule(NamedTuple):
    """AFTER MATCH SKIP: see `starts`."""

    # Whether the search goes on from the last target, not from the first one.
    backwards: bool
    # How many rows after the target the search goes on.
    past: int


class Rules(NamedTuple):
    """The query."""

    # int64[s + 1], state i has the choices first[i] .. first[i + 1] - 1 of `program`.
    first: IntArray
    # int64[c, 16], the choices; see the columns below.
    program: IntArray
    # AFTER MATCH SKIP, or the skip strategy of stages.
    skip: SkipRule
    # Which matches are output: a code below.
    output: int
    # Whether failures hold only until the next match, because conditions read the match number.
    forgets: bool

    # With event selection:
    # Whether equal runs may merge. The graph of all matches shows each of them.
    merge_runs: bool
    # The states 0 .. starts - 1 are those in which a run begins.
    starts: int
    # Whether a condition is evaluated before the row is mapped.
    tests_before_mapping: bool
    # Whether some runs are output when their windows end.
    flushes: bool
    # int64[s], the guard under which a run that enters a state is a match; -1 if it is not.
    accepts: RunArray
    # int64[s], whether a run in a state may map further rows, or waits to be completed.
    goes_on: RunArray
    # int64[s], the state in which a run waits after it skips a row; -1 if it may not skip one.
    waits: RunArray
    # int64[s], what a run is output as if its window or partition ends in a state: 0 for nothing,
    # or a kind of `automaton.program`.
    ends: RunArray

    # Conditions on the run: see `conditions.evaluate.kernels.machine`.
    instructions: RunArray
    # State i has the live registers live[live_first[i] : live_first[i + 1]]: see `mapping`.
    live_first: RunArray
    live: RunArray


class RowArrays(NamedTuple):
    """The partitions. They are as in `Partitions` unless a comment says otherwise."""

    # int64[p + 1].
    starts: IntArray
    # How far the search of each partition has come. Searches update it.
    frontier: Frontier
    # int64[n, w], the words of `Partitions.satisfied`, signed.
    satisfied: IntArray
    # int64[n]; int64[0] for a contiguous search without a window.
    window_end: IntArray
    # bool[n], whether a match may begin with a row; bool[0] if any row may begin one.
    begins: BoolArray
    # What conditions on the run read: see `conditions.evaluate.kernels.machine`.
    columns: RunArray
    valid: RunArray
    mathematics: Any
    python: Any


class NegationArrays(NamedTuple):
    """What a match as a whole is tested by; None if nothing tests it. It has a absences."""

    # int64[a, 3], the absences: see the columns below.
    absent: IntArray
    # bool[a, 2, v], the variables before and after the part of the match where nothing may be.
    members: BoolArray
    # int64[0 or 1, 4], the condition of the match as a whole: see the columns below.
    closing: IntArray
    # int64[a, n + 1], from each row on, the next row that satisfies the row condition of an absence
    following: IntArray


class TotalArrays(NamedTuple):
    """What is added up over t aggregates of all matches; None if matches are output.

    See `kernels.totals`.
    """

    # int64[t, 4], what each aggregate is: see the columns in `totals`.
    asked: IntArray
    # bool[t, v], the variables whose rows it reads.
    members: BoolArray
    # int64[k, n], the k columns that are read, floats as their bits.
    values: IntArray
    # bool[k, n], false where the value is NULL.
    valid: BoolArray
    # int64[c], the variable of each choice.
    variables: IntArray
    # int64[n], two runs are equal only if it is the same for their first rows.
    apart: IntArray
    # int64[g, w], the totals of the matches of each group.
    groups: IntArray
    # By what matches are grouped: a code below.
    grouped: int
    # The largest number of ways in which a run can go on from one row to the next.
    widest: int


class RunStarts(NamedTuple):
    """The starting rows from which live runs are sought."""

    # int64[n], what a run that is live at the end of its window is output as; NOTHING if none is
    # sought from a row.
    kind: IntArray
    # int64[n], how many matches of the partition came before the row.
    number: IntArray


class Progress(Protocol):
    """What a kernel keeps between calls: a record of int64, which `new_progress` makes."""

    # Matches found in the partition; conditions on the run read it.
    number: int
    # The partition that is searched, and its first row.
    partition: int
    lower: int
    # The row after the partition's last one; after the edge if that is not present.
    upper: int
    # The first row that no search may look at; `NO_EDGE` if all are present.
    edge: int
    # Matches begin before this row, which is the edge at most.
    until: int
    # Whether runs are kept at the end of the rows, because more will arrive: see `incremental`.
    goes_on: int
    # The next starting row.
    start: int
    # Matches, and mapped rows, in the output.
    matches: int
    mapped: int
    # How many rows an array that is full must hold.
    needed: int
    # The row and the choice of the condition that failed.
    row: int
    choice: int
    # Remembered failures count from the first of these rows on, and before the second.
    memo_from: int
    memo_to: int
    # The end of the window for which failures are remembered.
    memo_window: int
    # The first row of the best match so far, or -1.
    best_start: int
    # The row after its last one; with event selection, its last row.
    best_end: int
    # Its last node, and how many rows it has.
    best_node: int
    best_length: int
    # How many runs go on to the next row, or computation states are in the table.
    runs: int
    # How many nodes are in the buffer.
    nodes: int
    # Which half of `Work.runs` has the runs before the row.
    bank: int
    # How many runs these are. Searches for preferred matches set it to 0 unless they are to go on
    # with these runs when they are called again.
    count: int
    # If they are, the row with which they go on.
    next_row: int
    # How many runs went on from the last row at which equal runs merged.
    merged: int
    # A number for each row of each search, which tells entries of the table that count from others.
    stamp: int
    # Up to which row distances to acceptance are known: see `distances`.
    horizon: int
    # How often conditions on the run were evaluated in the partition, and how often they may be.
    step_count: int
    step_limit: int
    # How many matches of a partition are sought.
    match_limit: int
    # How the match that is about to be written out goes on: see `chained`.
    known: int
    # At which row the match that is written out next is complete, and what it is: see `found`.
    completed: int
    match_kind: int
    # How many reads of rows there may be while runs of one starting row are followed alone, 0 if
    # they are not; and that row.
    alone: int
    alone_from: int
    # The last partition that has output an unfinished run.
    unfinished_in: int


PROGRESS = np.dtype((np.record, [(field, np.int64) for field in Progress.__annotations__]))


def new_progress() -> Progress:
    """Return a progress of zeros that a kernel can write to."""
    progress: Progress = np.zeros(1, PROGRESS)[0]
    return progress


class Fields(ctypes.Structure):
    """The fields of a progress, which Python reads several times as fast as numpy's record."""

    _fields_ = tuple((field, ctypes.c_int64) for field in Progress.__annotations__)


def share_fields(progress: Progress) -> Progress:
    """Return a progress that shares its memory with another one and is fast to read in Python."""
    fields: Any = Fields.from_buffer(cast("Any", progress).base)
    return cast("Progress", fields)


class OutputArrays(NamedTuple):
    """The output, with room for m matches and k mapped rows."""

    # int64[f, m + 1], what is known of each match: see the rows below.
    found: IntArray
    # int32[k], the choice by which each row is mapped, match after match.
    choices: ChoiceArray
    # int64[k], positions of the mapped rows; None if the rows of a match follow each other.
    rows: RunArray = None


class Work(NamedTuple):
    """What a search works in. What it does not need is None."""

    progress: Progress
    # `OutputArrays`, made for each chunk.
    output: Any = None
    # int64[COUNTERS], what has been done and need not be done again.
    counters: RunArray = None
    # Of conditions on the run: see `conditions.evaluate.kernels.machine`.
    registers: RunArray = None
    stack: RunArray = None

    # One run at a time:
    # int32[d], the choice taken at each depth. With event selection int64[5, d]: see the rows of
    # `path` below.
    path: RunArray = None
    # uint8[r, b], the failures that are remembered: see `mapping`.
    memo: RunArray = None
    # int32[r, s], what is known of states and rows: see `distances` and `chained`.
    known: RunArray = None
    # int32[d], see `distances`.
    best_before: RunArray = None

    # All runs at once:
    # int64[2, r, 3], the runs before the row and those after it. They swap halves at each row.
    # They are in the order in which depth-first search would come to them. If all matches are
    # sought, a run may stand for several that merged, and its start is the latest of theirs.
    runs: RunArray = None
    # A hash table of computation states: see `mapping`. If the state alone tells them apart, it is
    # int64[s, 2], by state.
    table: RunArray = None
    # The shared buffer: a pointer from each selected row to the one before, for every run that
    # selects it. int32[n, 2 or 3] for preferred matches. For all matches int64[n, 5], where a join
    # leads to the ends of two runs that have merged.
    nodes: RunArray = None
    # int64[q, 2], joins whose other side is still to be unwound, and how many rows come after them.
    ways: RunArray = None
    # int64[n or 0], for each row the last row at which a run is live that began there, if needed.
    last_live: RunArray = None


# Columns of `program`: the choices of all states, state after state, in preferment order within a
# state. A search begins in state 0.
SOURCE = 0
TARGET = 1  # a state, ACCEPT, or an effect of a row that is not mapped
VARIABLE = 2  # -1 if the choice accepts
GUARD = 3  # see `automaton.closure`
MEMO = 4  # the memo number of the target, if its failures are worth remembering
WORD = 5  # the row condition: `satisfied[row, WORD] & MASK == MASK`; mask 0 is always true
MASK = 6
IS_TARGET = 7  # whether AFTER MATCH SKIP can go to rows mapped by this choice
STEPS = 8  # begin and end of the instructions by which mapping the row changes the registers
STEPS_END = 9
CODE = 10  # begin and end of the instructions of the condition that must then hold
CODE_END = 11
BLOCKS = 12  # whether a row that this choice can map may not be skipped
TEST = 13  # the variable whose condition must hold, -1 for none
EXCLUDED = 14  # whether rows are mapped inside an exclusion
AGAIN = 15  # whether it maps one more row of the loop over one variable that the state is in
CHOICE_SIZE = 16

NO_LIMIT = 2**62
ACCEPT = -1  # the target of a choice that accepts
NOT_REMEMBERED = -1  # the memo number of a target whose failures are not remembered

# Effects of a row that is not mapped, instead of a choice's target: see `automaton.closure.Effect`.
ENDS, STOPS, _, COMPLETES_HERE, TIMES_OUT, CUTS = map(int, Effect)

# Which matches are output, in the order of `MatchOutput`.
PREFERRED, LONGEST, ALL, NON_OVERLAPPING, GRAPH = range(len(MatchOutput))

# Rows of `found`. The last two are for event selection: the row at which a match is complete, and
# whether it is a match or a run whose window has ended, see `automaton.program`.
FOUND_PARTITION, FOUND_NUMBER, FOUND_START, FOUND_OFFSET = range(4)
FOUND_COMPLETED, FOUND_KIND, FOUND_SIZE = range(4, 7)

# The statuses that a kernel returns.
DONE = 0
OUTPUT_FULL = 1  # the matches must be taken away
PATH_FULL = 2
MEMO_FULL = 3
RUNS_FULL = 4
NODES_FULL = 5  # returned between two rows
SKIP_TO_NO_ROW = 6  # from here on failures, at progress.partition and progress.row
SKIP_TO_FIRST_ROW = 7
CONDITION_FAILED = 6  # added to the answer of `evaluate.kernels.machine.holds`, it is one of these:
OVERFLOW = 8
DIVISION_BY_ZERO = 9
FUNCTION_FAILED = 10
MORE_ROWS = 11  # the search from progress.start has come to the edge of the rows that are present
TOO_MANY_STEPS = 12  # conditions on the run were evaluated too often in the search from there

# Columns of `runs`, in preferment order. A run whose condition failed waits until all runs that are
# preferred to it have died: its state is minus a status, its node the choice, its start the row.
RUN_STATE, RUN_NODE, RUN_START, RUN_SIZE = range(4)

# Columns of `table`. An entry counts if its stamp is the row's or the starting row's. The live
# registers begin at TABLE_REGISTERS.
TABLE_STAMP, TABLE_ENTRY, TABLE_STATE, TABLE_KEY, TABLE_REGISTERS = range(5)

# Columns of `nodes`. For preferred matches there are two, or three if rows may be skipped.
NODE_CHOICE = 0  # by which the row was mapped; JOIN for a join
NODE_BEFORE = 1  # the node of the row before, or -1; the first side of a join
NODE_ROW = 2
NODE_OTHER = 3  # the second side of a join
NODE_START = 4  # the latest first row of the runs that lead here
NODE_SIZE = 5
JOIN = -1
COMPLETES = -2  # as NODE_OTHER: a match ends here, which the graph of all matches keeps

# Rows of `path` with event selection. Choices follow rows, as `write_match` relies on. The best
# rows and choices belong to the best match so far. A mark is 4 times how many matches were found
# before a depth, plus whether the row there may be skipped.
PATH_ROWS, PATH_CHOICES, PATH_BEST_ROWS, PATH_BEST_CHOICES, PATH_MARKS, PATH_SIZE = range(6)

# By what matches are grouped: their partition, or the row with which they start or end.
BY_PARTITION, BY_START, BY_END = range(len(Grouping))

# Columns of `absent`: where nothing may be, and the condition on the run.
ABSENT_KIND, ABSENT_CODE, ABSENT_CODE_END, ABSENT_SIZE = range(4)
IN_THE_MIDDLE, AT_THE_BEGINNING, AT_THE_END = range(3)

# Columns of `closing`.
CLOSING_WORD, CLOSING_MASK, CLOSING_CODE, CLOSING_CODE_END, CLOSING_SIZE = range(5)

# What `counters` count. READS is how often a run has looked at a row.
READS, RUNS_CREATED, MOST_LIVE, FORKS, MERGES, NODES_CREATED, NODES_PRUNED, COUNTERS = range(8)
