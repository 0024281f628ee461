"""The records of event selection, beside those of `kernels.layout`.

No array is missing: without conditions on the run, a row of registers is empty; without a window,
it ends with the partition.
"""

from typing import Any, NamedTuple

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ByteArray, ChoiceArray
from matchrec.engine.partitions import BoolArray, IntArray


class Rules(NamedTuple):
    """The query. first, program: see `kernels.layout`.

    output: a code below. merge_runs: whether runs may merge. starts: how many of the states, from 0
    on, begin a run. tests_before_mapping: whether a condition is asked before the row is mapped.
    accepts: int64[s], the guard under which a run that arrives in a state is a match, or -1.
    goes_on: int64[s], whether a run in a state may map further rows, or is there to be completed.
    waits: int64[s], the state in which a run waits that skips a row, -1 where it may not. ends:
    int64[s], what a run is whose window or partition ends in a state, 0 for nothing, see KIND.
    flushes: whether there is such a state.
    forgets, instructions, live_first, live: see `kernels.layout`.
    """

    first: IntArray
    program: IntArray
    output: int
    skip: layout.SkipRule
    merge_runs: bool
    starts: int
    tests_before_mapping: bool
    accepts: IntArray
    goes_on: IntArray
    waits: IntArray
    ends: IntArray
    flushes: bool
    forgets: bool
    instructions: IntArray
    live_first: IntArray
    live: IntArray


class Rows(NamedTuple):
    """The partitions. starts: int64[p + 1]. satisfied: int64[n, w]. columns, valid: [c, n].

    mathematics, python: see `evaluate.kernels`.

    window_end: int64[n], see `Partitions`. run_end: int64[n], the row before which a run ends that
    starts at a row: the end of its window, or of the partition where that is looked at last.
    """

    starts: IntArray
    satisfied: IntArray
    window_end: IntArray
    run_end: IntArray
    columns: IntArray
    valid: BoolArray
    mathematics: Any
    python: Any


class Negation(NamedTuple):
    """What a match as a whole is tested by; None where it is not, which is a kernel of its own.

    absent: int64[a, 3], columns below. members: bool[a, 2, v], the variables before that part and
    after it. closing: int64[0 or 1, 4], the condition of the match as a whole. following:
    int64[a, n + 1], the next row from a row on that satisfies the row condition of an absence.
    """

    absent: IntArray
    members: BoolArray
    closing: IntArray
    following: IntArray


class Work(NamedTuple):
    """What a search works in.

    progress: int64[PROGRESS_SIZE]. counters: int64[COUNTERS], of what is done and need not be done
    again. registers, stack: see `evaluate.kernels`.
    path: int64[5, p], a match's rows and choices, those of the best match so far, and for a search
    that goes back, whether the row at a depth may be skipped and how many matches were before it.
    memo: uint8[r, b], remembered failures of a search that goes back.
    runs: int64[2, r, 3], those before this row and those after it, in turn, in the order in which
    depth-first search would come to them; columns as in `kernels.layout`, and the start is the
    latest first row of the runs that one stands for. table: int64[t, 2], hash table of runs.
    nodes: int64[n, 5], the shared buffer: a pointer from each selected row to the one before, for
    every run that selects it; a join where runs have merged leads to the ends of both. moved:
    int64[n], scratch. ways: int64[q, 2], joins whose other side is still to be unwound, and how
    many rows come after them. last_live: int64[n or 0], for each row the last at which a run is
    live that began there, if that is needed.
    """

    progress: IntArray
    counters: IntArray
    registers: IntArray
    stack: IntArray
    path: IntArray
    memo: ByteArray
    runs: IntArray
    table: IntArray
    nodes: IntArray
    moved: IntArray
    ways: IntArray
    last_live: IntArray


class Found(NamedTuple):
    """The output. found: int64[6, m + 1], see `kernels.layout` and below. taken: int32[k] and rows:
    int64[k], the choice by which each row was mapped and its position, match after match.
    """

    found: IntArray
    taken: ChoiceArray
    rows: IntArray


# Rows of `found` beyond those of `kernels.layout`.
FOUND_COMPLETED = 4  # the row at which a match is complete
FOUND_KIND = 5  # what it is, see `nfa.outcomes`: a match, or a run whose window has ended
FOUND_SIZE = 6

# Columns of `nodes`.
NODE_CHOICE = 0  # by which the row was mapped, JOIN for a join
NODE_ROW = 1
NODE_BEFORE = 2  # the node of the row before, or -1; of a join, its first side
NODE_OTHER = 3  # of a join, its second side
NODE_START = 4  # the latest first row of what ends here
NODE_SIZE = 5
JOIN = -1
COMPLETES = -2  # in place of another side: a match ends here, which the graph of all matches keeps

# Rows of `path`: those of choices come after those of rows.
ROWS = 0
CHOICES = 1
BEST_ROWS = 2
BEST_CHOICES = 3
MARKS = 4
PATH_SIZE = 5

# Columns of `absent`.
KIND = 0
ABSENT_CODE = 1
ABSENT_CODE_END = 2
ABSENT_SIZE = 3
IN_THE_MIDDLE = 0
AT_THE_BEGINNING = 1
AT_THE_END = 2

# Columns of `closing`.
CLOSING_WORD = 0
CLOSING_MASK = 1
CLOSING_CODE = 2
CLOSING_CODE_END = 3
CLOSING_SIZE = 4

# What a row does that is not mapped, in place of a choice's target: see `nfa.closure.Effect`.
ENDS = -2
STOPS = -3
COMPLETES_HERE = -5
TIMES_OUT = -6
CUTS = -7

# Which matches come out.
PREFERRED = 0
ALL = 1
NON_OVERLAPPING = 2
GRAPH = 3
COUNT_ONLY = 4  # for measurement: runs that accept are counted, not written out

# Indices of `progress` beyond those of `kernels.layout`.
BEST_LENGTH = layout.PROGRESS_SIZE  # of the best match so far, whose last row is BEST_END
WINDOW = layout.PROGRESS_SIZE + 1  # the end of the window for which failures are remembered
MERGED = layout.PROGRESS_SIZE + 2  # how many runs went on from the last row that merged them
COMPLETED = layout.PROGRESS_SIZE + 3  # of the match to be written out next: see `found`
MATCH_KIND = layout.PROGRESS_SIZE + 4
STOP = layout.PROGRESS_SIZE + 5  # the row to stop at as more may come, or -1: see `incremental`
ALONE = layout.PROGRESS_SIZE + 6  # up to how many reads runs of one starting row are followed alone
ALONE_FROM = layout.PROGRESS_SIZE + 7  # that row
PROGRESS_SIZE = layout.PROGRESS_SIZE + 8

# What `counters` count.
READS = 0  # how often a run has looked at a row
RUNS_CREATED = 1
MOST_LIVE = 2
FORKS = 3
MERGES = 4
NODES_CREATED = 5
NODES_PRUNED = 6
MATCHES_FOUND = 7
COUNTERS = 8
