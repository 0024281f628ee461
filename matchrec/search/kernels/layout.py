"""The records that kernels read, work in and write; the columns and indices of their arrays.

Arrays travel in a few records, so that a function can name what it needs in one word:

    Rules, SelectionRules   the query; the second one for event selection
    RowArrays               the partitions
    RunConditions           the conditions on the run, and the registers of all runs
    NegationArrays, ...     the parts that only some queries have
    a record of work        the arrays that a search changes; its class is in the file of the kernel

Between calls, a search keeps its state in a record of int64 that kernels write to: `Progress`, or a
class that adds fields to it.

An argument that only some queries need, such as `negation`, can be None. For None, the kernel is
compiled once more, without the code that uses the argument. So the kernel itself must have the
argument: the compiler removes code that depends on an argument that is None, but not code that
depends on a field that is None.

A search is *contiguous* if it skips no row and finds one match of each starting row. A search has
*event selection* if rows can be skipped, or if all matches are sought. With event selection, no
array is missing: without conditions on the run, each row of registers is empty; without a window,
the window ends with the partition.

In comments, n is the number of rows, p of partitions, s of states, c of choices, v of variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from inspect import get_annotations
from typing import NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from matchrec.automaton.folding import Effect
from matchrec.conditions.evaluate import instructions
from matchrec.conditions.evaluate.kernels.machine import MachineInput
from matchrec.jit.views import get_record_array
from matchrec.plan.clauses import Grouping, MatchOutput
from matchrec.search.partitions import BoolArray, Frontier, IntArray

ByteArray = npt.NDArray[np.uint8]
ChoiceArray = npt.NDArray[np.int32]


class SkipRule(NamedTuple):
    """The rule of AFTER MATCH SKIP, as two numbers: see `search_loop`."""

    # Whether the search goes on from the last target of the match, instead of the first.
    uses_last_target: bool
    # How many rows after that target the search goes on: 0 or 1.
    rows_after_target: int


class Rules(NamedTuple):
    """The part of a compiled query that every search needs."""

    # int64[s + 1], state i has the choices first_choice[i] .. first_choice[i + 1] - 1 of `program`.
    first_choice: IntArray
    # int64[c, CHOICE_SIZE], the choices; see the columns below.
    program: IntArray
    # AFTER MATCH SKIP, or the skip strategy of stages.
    skip: SkipRule
    # Which matches are output: a code below.
    output: int
    # Whether failures hold only until the next match, because conditions read the match number.
    forgets_after_match: bool
    # Whether equal runs are allowed to merge. They are not if each run is output: in the graph of
    # all matches, or if runs are output when their windows end.
    merges_runs: bool


class SelectionRules(NamedTuple):
    """The part of a compiled query for event selection: where runs begin, wait and are output."""

    # How many states a run can begin in: the states 0 .. start_count - 1.
    start_count: int
    # int64[s], the guard under which a run that enters a state is a match: 0 if it always is,
    # GUARD_END if it is at the end of the partition; -1 if it is not a match.
    accepting_guards: IntArray
    # int64[s], 1 if a state has a choice that does not accept; 0 if a run that enters it is over.
    can_continue: IntArray
    # int64[s], the state in which a run waits after it skips a row; -1 if it is not allowed to skip
    # one.
    states_after_skip: IntArray
    # int64[s], for a run in a state, the kind of its output if its window or partition ends: a
    # number of `automaton.run_endings`; NOTHING, which is 0, if it is not output.
    ending_kinds: IntArray


class RowArrays(NamedTuple):
    """The partitions that are searched. `Partitions` describes a field if no comment does."""

    # int64[p + 1].
    starts: IntArray
    # How far the search of each partition has come. Searches update it.
    frontier: Frontier
    # int64[n, w], the words of `Partitions.condition_bits`, signed.
    condition_bits: IntArray
    # int64[n]; int64[0] for a contiguous search without a window.
    window_end: IntArray
    # bool[n], whether a match can begin with a row; bool[0] if any row can begin one.
    can_begin: BoolArray


class RunConditions(NamedTuple):
    """The conditions on the run, and the registers of all runs.

    See `conditions.evaluate.kernels.machine`. Spliced functions read a field at no cost. A function
    that is not spliced costs the compiler time for each word of a record that is passed to it, so
    such functions get single fields.
    """

    # int64[i, 5]; int64[0, 5] if no condition depends on the run.
    instructions: IntArray
    # Whether a condition is evaluated before the row is mapped, as for stages, not after it.
    tests_before_mapping: bool
    # State i has the live registers live_registers[live_first[i] : live_first[i + 1]]: see `memo`.
    live_first: IntArray
    live_registers: IntArray
    # int64[k, r], the registers of k runs: a row is a *slot*.
    registers: IntArray
    # int64[2, d], the stack on which conditions are evaluated.
    stack: IntArray
    # The columns of the rows and the fields of the search that conditions read.
    machine_input: MachineInput


class NegationArrays(NamedTuple):
    """The tests of a match as a whole: `a` negations, and at most one closing condition.

    A kernel gets None if a task has neither. The closing condition must hold for the whole match:
    it is evaluated after the last row has been mapped.
    """

    # int64[a, 3], for each negation where no row is allowed to be: see the columns below.
    absences: IntArray
    # bool[a, 2, v], the variables before and after the part of the match in which no row is
    # allowed to be: see the sides below.
    members: BoolArray
    # int64[0 or 1, 4], the closing condition: see the columns below.
    closing_conditions: IntArray
    # int64[a, n + 1], for each negation, the first row from each row on that satisfies the row
    # condition of the negation; n if no row does.
    next_satisfying_rows: IntArray


class TotalArrays(NamedTuple):
    """The t aggregates over all matches, and the values that they read: see `carried_totals`.

    A kernel gets None if matches are output.
    """

    # int64[t, 4], the aggregates: see the columns in `carried_totals`.
    aggregates: IntArray
    # bool[t, v], for each aggregate, the variables whose rows it reads.
    members: BoolArray
    # int64[k, n], the k columns that aggregates read; the bits of doubles.
    values: IntArray
    # bool[k, n], which of these values are not NULL.
    valid: BoolArray
    # int64[c], the variable of each choice.
    variables: IntArray
    # int64[n], a key for each starting row: runs merge only if they have equal keys.
    merge_keys: IntArray
    # int64[g, w], the totals of the matches of each group.
    groups: IntArray
    # The code of what matches are grouped by: see BY_PARTITION below.
    grouping: int
    # The largest number of runs that one run can become at a row.
    max_branches: int


class RunStarts(NamedTuple):
    """The starting rows from which live runs are sought."""

    # int64[n], for each starting row, the kind of output of a run that is live at the end of its
    # window: a number of `automaton.run_endings`; NOTHING if no live run is sought.
    ending_kind: IntArray
    # int64[n], the number of the last match of the partition that begins before the row.
    match_number: IntArray
    # int64[1], the last partition that has output an unfinished run.
    last_unfinished_partition: IntArray


# The state of a search between calls is one record of int64, which `make_record` makes. A search
# that needs more fields than `Progress` has a class that adds them. It is a single record,
# because a loop that has a pointer to each of several records is up to 14 % slower.


class Record:
    """A record of int64 that a kernel can write to, with the fields of a class and its bases.

    A subclass has no instances: `make_record` makes a NumPy record with the same fields.
    """


class Progress(Record):
    """How far a search has come: the fields that every search has."""

    # The number of the last match in the partition; conditions on the run read it.
    match_number: int
    # The partition that is searched; -1 before the first one.
    partition: int
    # The first row of the partition.
    partition_begin: int
    # The row after the last row of the partition. If its last rows have not arrived, one row more,
    # so that no row that is present is taken for the last one.
    partition_end: int
    # The first row that no search is allowed to look at; `NO_EDGE` if all are present.
    edge: int
    # Matches begin before this row, which is never after the edge.
    start_limit: int
    # The next starting row.
    start: int
    # The number of matches in the output.
    match_count: int
    # The number of mapped rows in the output.
    mapped_count: int
    # After MEMO_FULL or OUTPUT_FULL, the number of rows that the full array must hold.
    needed_rows: int
    # After a failure, the row of the condition that failed.
    row: int
    # After a failure, the choice of the condition that failed.
    choice: int
    # How often conditions on the run have been evaluated in the partition.
    step_count: int
    # How often conditions on the run are evaluated in a partition at most; NO_LIMIT for any number.
    step_limit: int
    # How many matches are sought in each partition at most; NO_LIMIT for all.
    match_limit: int


class RememberedRows(Progress):
    """A progress with the range of rows for which a memo, a ring of rows, holds valid entries."""

    # Entries are valid for the rows memo_from .. memo_to - 1.
    memo_from: int
    memo_to: int
    # Entries are valid for starting rows whose windows end before this row.
    memo_window: int


class ReachedStates(Progress):
    """A progress with the computation states that a starting row has reached."""

    # The number of these computation states in the table.
    state_count: int
    # A number for each starting row. Only entries of the table with this number count.
    state_stamp: int


class BestMatch(Progress):
    """A progress with the best match so far."""

    # The first row of the best match, or -1 if there is none.
    best_start: int
    # The node of its last row, in a search with a shared buffer.
    best_node: int
    # The number of its rows.
    best_length: int


class BufferState(BestMatch):
    """A progress with the runs and the nodes of a search of all runs at once."""

    # The number of runs before the row.
    run_count: int
    # The number of runs after the row so far.
    next_run_count: int
    # Which half of `runs` has the runs before the row.
    bank: int
    # How many nodes are in the buffer.
    node_count: int
    # A number for each row of each search. Only entries of the table with this number count.
    stamp: int


class Completion(Progress):
    """A progress with two columns of the match that is written out next."""

    # The row at which the match is complete.
    completing_row: int
    # The kind of output, a match or a run whose window has ended: see `automaton.run_endings`.
    match_kind: int


R = TypeVar("R", bound=Record)


def iterate_fields(kind: type[Record]) -> Iterator[str]:
    """Yield the names of the fields of a record: its own first, then the fields of its bases.

    In this order, no record begins with all fields of another one. If one did, numba would run code
    that it has compiled for the shorter record, with a warning that this is experimental.
    """
    for base in kind.__mro__:
        yield from get_annotations(base)


def make_record_type(kind: type[Record]) -> np.dtype[np.void]:
    """Return the NumPy type of a record with the fields of a class."""
    return np.dtype((np.record, [(field, np.int64) for field in iterate_fields(kind)]))


def make_record(kind: type[R]) -> R:
    """Return a record of zeros that a kernel can write to."""
    return cast("R", np.zeros(1, make_record_type(kind))[0])


def view_progress(progress: Progress) -> Progress:
    """Return a record of `Progress` that shares the memory of one with more fields.

    So functions that read a progress for a condition are compiled once, for `Progress`, and not for
    each class that adds fields. This works because the fields of `Progress` come last in a record.
    """
    array = get_record_array(progress)
    kind = make_record_type(Progress)
    offset = array.dtype.itemsize - kind.itemsize
    return cast("Progress", np.frombuffer(array, kind, count=1, offset=offset)[0])


class OutputArrays(NamedTuple):
    """The output, with room for m matches and k mapped rows."""

    # int64[6, m + 1], a column for each match, and a column in which only MATCH_OFFSET is set, for
    # the end of the last match: see the rows below.
    matches: IntArray
    # int32[k], the choice by which each row is mapped, match after match; for chains int32[5, k],
    # see `chained`.
    choices: ChoiceArray
    # int64[k], positions of the mapped rows; int64[0] if the rows of a match follow each other.
    rows: IntArray


class Work(Protocol):
    """The fields that the records of work of all searches have in common."""

    @property
    def progress(self) -> Progress:
        """The record of how far the search has come."""

    @property
    def output(self) -> OutputArrays:
        """The output, which is made for each chunk."""


# Columns of `program`: the choices of all states, state after state, in preferment order within a
# state. A search begins in state 0.
SOURCE = 0
TARGET = 1  # a state, ACCEPT, or an effect of a row that is not mapped
VARIABLE = 2  # -1 if the choice accepts
GUARD = 3  # the anchors that must hold before the row: see `automaton.folding.Choice`
MEMO = 4  # the memo number of the target, if its failures are worth remembering
WORD = 5  # the row condition: `condition_bits[row, WORD] & MASK == MASK`; mask 0 is always true
MASK = 6
IS_TARGET = 7  # whether AFTER MATCH SKIP can go to rows mapped by this choice
STEPS = 8  # begin and end of the instructions by which mapping the row changes the registers
STEPS_END = 9
CODE = 10  # begin and end of the instructions of the condition that must then hold
CODE_END = 11
BLOCKS = 12  # whether a row that this choice can map must not be skipped
TEST = 13  # the variable whose condition must hold, -1 for none
EXCLUDED = 14  # whether rows are mapped inside an exclusion
REPEATS_LOOP = 15  # whether the choice repeats the loop over one variable in which the state is
CHOICE_SIZE = 16

ACCEPT = -1  # as TARGET: the choice accepts
NOT_REMEMBERED = -1  # as MEMO: failures of the target are not remembered

NO_LIMIT = 2**62  # of matches or steps

# Effects of a row that is not mapped, instead of a choice's target: see `automaton.folding.Effect`.
# FORBID_SKIP needs no name: kernels let every effect but IGNORE_LATER_CHOICES keep a run from
# skipping the row.
END_RUN, END_UNLESS_COMPLETED, _, COMPLETE_RUN, TIME_OUT, IGNORE_LATER_CHOICES = map(int, Effect)

# Which matches are output, in the order of `MatchOutput`.
PREFERRED, LONGEST, ALL, NON_OVERLAPPING, GRAPH = range(len(MatchOutput))

# Rows of `OutputArrays.matches`.
MATCH_PARTITION = 0
MATCH_NUMBER = 1
MATCH_START = 2  # the starting row
MATCH_OFFSET = 3  # where its mapped rows begin; they end where those of the next match begin
MATCH_COMPLETED = 4  # with event selection, the row at which the match is complete
MATCH_KIND = 5  # with event selection, a kind of `automaton.run_endings`: a match, or an ended run
MATCH_SIZE = 6

# The statuses that a kernel returns.
DONE = 0
# Arrays are full. `KernelSearch` makes them larger, and calls the kernel again.
OUTPUT_FULL = 1  # the matches must be taken away
PATH_FULL = 2
MEMO_FULL = 3
RUNS_FULL = 4
NODES_FULL = 5  # the search is between two rows, so that nodes can be pruned
# Failures, at progress.partition and progress.row.
SKIP_TO_NO_ROW = 6
SKIP_TO_FIRST_ROW = 7
OVERFLOW = 8
DIVISION_BY_ZERO = 9
FUNCTION_FAILED = 10
TOO_MANY_STEPS = 11  # conditions on the run were evaluated too often from progress.start on
# Not a failure: the search of the partition ends, because it has come to the edge of the rows that
# are present, or because enough matches have been found.
MORE_ROWS = 12

# The errors of `evaluate.kernels.machine.evaluate_condition` and the statuses for them are in the
# same order: OVERFLOW, DIVISION_BY_ZERO, FUNCTION_FAILED. An error plus this number is its status.
ERROR_TO_STATUS = OVERFLOW - instructions.OVERFLOW

# Functions inside a kernel often return a status instead of a result, encoded so that it cannot be
# taken for a result:
#
#     kernel              functions                 result                 encoded status
#     memoised, plain,    find_match, find_path,    a length, NO_MATCH     NO_MATCH - status, see
#     distances, chained, find_goal                                        `encode_status`
#     coverage
#     plain, coverage     evaluate_choice           HOLDS, HOLDS_NOT       NO_MATCH - status
#     merging             expand_run                GOES_ON, CUTS_OFF      as it is
#                         RUN_STATE of a run        a state                -status
#     skipping            search_from, try_choices  DONE, ACCEPTED         as it is
#                         evaluate_choice,          HOLDS, HOLDS_NOT       -status
#                         is_worth_following
#                         is_match                  HOLDS, HOLDS_NOT,      as it is, see
#                                                   REJECTED               `is_failure_status`
#     all_matches,        step_run, accept_run      DONE                   as it is
#     totals              add_row_node, add_run     a node, a number       -1 for NODES_FULL

# In a search of all runs at once, `runs` is int64[2, k, 3]. One half has the runs before the row,
# and the other half the runs after it; they change places at each row. Runs are in the order in
# which a depth-first search would come to them. If all matches are sought, several runs may have
# merged into one run, whose start is the latest of their starts.

# Columns of `runs`. A run whose condition has raised an error waits until all runs that are
# preferred to it have died. RUN_STATE of such a run is minus the status, RUN_NODE is the choice,
# and progress.row is the row of the error.
RUN_STATE = 0
RUN_NODE = 1  # the node of the row that it has mapped last
RUN_START = 2  # its starting row
RUN_SIZE = 3

# Columns of `table`: see `memo`.
TABLE_STAMP = 0  # an entry counts only if its stamp is the current one
TABLE_ENTRY = 1  # the number that the entry stands for, such as the index of a run
TABLE_STATE = 2  # with the key and the live registers, the computation state
TABLE_KEY = 3
TABLE_REGISTERS = 4  # the first live register; the others are in the next columns

# `nodes` is the shared buffer: see `buffer`. Each node is a row that a run has mapped, with the
# node of the row that the run mapped before. For preferred matches it is int32[n, 2 or 3]. For all
# matches it is int64[n, 5], and some nodes are joins, which lead to the last nodes of two runs.

# Columns of `nodes`. For preferred matches there are two, or three if rows can be skipped.
NODE_CHOICE = 0  # the choice by which the row was mapped; JOIN for a join
NODE_BEFORE = 1  # the node of the row before, or -1; the first side of a join
NODE_ROW = 2
NODE_OTHER = 3  # the second side of a join; -1 or COMPLETES otherwise
NODE_START = 4  # the latest starting row of the runs that share the node
NODE_SIZE = 5
JOIN = -1  # as NODE_CHOICE
COMPLETES = -2  # as NODE_OTHER: a match ends with the node, which the graph of all matches keeps

# Rows of `path` with event selection. Choices follow rows, as `write_match` relies on. The best
# rows and choices belong to the best match so far. See `skipping.pack_mark` for marks.
PATH_ROWS, PATH_CHOICES, PATH_BEST_ROWS, PATH_BEST_CHOICES, PATH_MARKS, PATH_SIZE = range(6)

# What the matches of one group have in common: the partition, the first row, or the last row.
BY_PARTITION, BY_START, BY_END = range(len(Grouping))

# Columns of `absences`: the part of the match in which no row is allowed to satisfy the condition,
# and begin and end of the instructions of the condition on the run.
ABSENCE_KIND, ABSENCE_CODE, ABSENCE_CODE_END, ABSENCE_SIZE = range(4)
IN_THE_MIDDLE, AT_THE_BEGINNING, AT_THE_END = range(3)

# Indices of the second axis of `NegationArrays.members`: the variables before and after the part.
BEFORE_ABSENCE, AFTER_ABSENCE, SIDE_COUNT = range(3)

# Columns of `closing_conditions`.
CLOSING_WORD, CLOSING_MASK, CLOSING_CODE, CLOSING_CODE_END, CLOSING_SIZE = range(5)

# Indices of `counters`. Only searches with event selection count:
#
#                     all_matches, totals        merging                    skipping
#     READS           runs that get a row,       runs that get a row,       how often the run comes
#                     over all rows              over all rows              to a row
#     RUNS_CREATED    runs that begin with a     runs after each row,       forks, and one for each
#                     row, and forks             over all rows              search of a starting row
#     MAX_LIVE        the most runs after a row  the most runs after a row  the most rows of a path
#     FORKS           ways in which a run goes   -                          how often the run goes
#                     on, without the first one                             back
#     MERGES          runs that are joined to    runs that are dropped for  -
#                     an equal one               an equal one
#     NODES_CREATED   nodes, joins included      -                          rows that are mapped
#     NODES_PRUNED    nodes that are dropped     -                          -
#
# Waiting is one of the ways in which a run goes on.
READS = 0
RUNS_CREATED = 1
MAX_LIVE = 2
FORKS = 3
MERGES = 4
NODES_CREATED = 5
NODES_PRUNED = 6
COUNTER_COUNT = 7
