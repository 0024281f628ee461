"""Count how far starting rows without a match come, and why they come no further.

A starting row is represented by its *nearest run*: the run after which a match needs the fewest
further rows. Ties go to the longest run, then to the most preferred run.

    PATTERN (A B C D), rows A B X

    row 0: the nearest run is A0 B1; it needs 2 further rows, and ended because C was false on row 2

Two depth-first kernels count: `coverage` and `selection_coverage`. They call the functions of this
module. For each depth d of their path, they keep the nearest run among the runs that begin with the
first d rows of the path:

    ends[d]            how this run ended: see the columns END_...
    trails[d]          the occurrences in PATTERN that its rows after the first d took, as bits

They also keep, for each failure that is remembered:

    remembered_runs    the nearest run from the state at the row on

When a search goes back a row, it puts this row before the nearest run from the next depth on, and
compares the result with the nearest run from this depth on (`keep_nearer`).

If no row is skipped, the nearest run from a state at a row on does not depend on the way to the
state. So the run is remembered with the failure of the state. If the run has no row after the
state, its last choice is the choice that led to the state, which differs from way to way. So
NO_CHOICE is remembered, and replaced when the run is recalled.

A run ends where no condition is true that would bring it nearer to a match.
"""

from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import ChoiceArray, Progress, RowArrays
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.memo import find_in_ring
from matchrec.search.partitions import IntArray


class RunCounts(NamedTuple):
    """The counts over starting rows, and the arrays that a search needs for them."""

    # int64[s], the least number of further rows that a match needs, by state.
    remaining_rows: IntArray
    # The choices by which a match would need fewer rows: those of state i are
    # nearer_choices[first_nearer[i] : first_nearer[i + 1]].
    first_nearer: IntArray
    nearer_choices: IntArray
    # int64[c], for each choice, the occurrence in PATTERN of the variable that it maps a row to.
    occurrences: IntArray
    # int64[c], the target state of each choice.
    target_states: IntArray
    # int64[c], the variable whose condition each choice tests.
    tested_variables: IntArray
    # The condition of variable i has the parts parts[parts_first[i] : parts_first[i + 1]], int64[3]
    # each: see the columns below.
    parts_first: IntArray
    parts: IntArray

    # The counts:
    # int64[o], for each occurrence, the number of starting rows whose match or nearest run took it.
    reached_counts: IntArray
    # int64[c + 1, 5], the number of starting rows without a match, by the last choice of their
    # nearest run plus one, then by the reason why it ended. Row 0 is for runs without rows.
    end_counts: IntArray
    # int64[o + 1, k], how often each part of a condition was false after the nearest run, by the
    # last occurrence of that run plus one. Row 0 is for nearest runs without rows.
    false_parts: IntArray
    # int64[2], the nearest run of all starting rows: see the indices below.
    nearest_of_all: IntArray
    # int64[n, 5], the nearest run of each starting row without a match; int64[0, 5] if not wanted.
    notes: IntArray

    # The working arrays of the search:
    # int64[d + 1, t], the trail of the nearest run after each row of the path.
    trails: IntArray
    # int64[d + 1, 6], how the nearest run after each row of the path ended: see the columns below.
    ends: IntArray
    # int64[r, b, 2 + t], the nearest run from a state at a row on, by row in a ring and by memo
    # number: see the columns below. It is int64[0, 0, 0] in `selection_coverage`, which remembers
    # no failures. If `coverage` remembers none, the ring never grows.
    remembered_runs: IntArray


# Why a run ended, as columns of `end_counts`.
FALSE = 0  # no condition was true that would have brought it nearer to a match
NO_ROW = 1  # the partition has no further row
OUT_OF_WINDOW = 2  # its window has no further row
ANCHORED = 3  # only an anchor would have had to hold
FORBIDDEN = 4  # a negation forbids the way in which it would have gone on
REASON_COUNT = 5

# Columns of `parts`. Word and mask are as in `program`; mask 0 is for the part of the condition
# that depends on the run. PART_START is the starting row for which the part was counted last: two
# choices of a state can have the same variable, and the part counts once.
PART_WORD, PART_MASK, PART_START, PART_SIZE = range(4)

# Indices of `nearest_of_all`.
NEAREST_REMAINING, NEAREST_START = range(2)

# Columns of `notes`.
NOTE_REMAINING = 0  # how many rows a match still needed, or NOTHING_NOTED
NOTE_CHOICE = 1  # the choice of the last row plus one; 0 if the run has no row
NOTE_REASON = 2  # why the run ended
NOTE_ROW = 3  # the row after its last one
NOTE_PARTS = 4  # a bit for each of the first NOTED_PARTS parts, set if the part was false
NOTE_SIZE = 5
NOTED_PARTS = 63
NOTHING_NOTED = -1

# Columns of `ends`.
END_STATE = 0  # the state in which the run ended
END_LENGTH = 1  # how many rows it has
END_CHOICE = 2  # the choice of its last row; NO_CHOICE if it has no row after the first d
END_ROW = 3  # the row after its last one
# The row after the last row that the run read without coming nearer to a match. If the run read all
# rows before `end`, the row before which runs end, this is `end` + 1. UNKNOWN while it reads rows.
END_UNTIL = 4
END_REASON = 5  # why it ended, or UNKNOWN
END_SIZE = 6

# Columns of `remembered_runs`. The words of the trail begin at REMEMBERED_TRAIL.
REMEMBERED_CHOICE, REMEMBERED_ROW, REMEMBERED_TRAIL = range(3)

NO_CHOICE = -1
UNKNOWN = -1


@inlined
def begin_nearest(
    depth: int, state: int, row: int, length: int, until: int, counts: RunCounts
) -> None:
    """Make the run that ends at once the nearest one from `depth` on, before any choice is tried.

    The arguments are columns of `ends`: the run ends in `state` before `row`. `length` is compared
    only with lengths of the same search, so it can count from any row. `until` can be UNKNOWN.
    """
    end = counts.ends[depth]
    end[END_STATE] = state
    end[END_LENGTH] = length
    end[END_CHOICE] = NO_CHOICE
    end[END_ROW] = row
    end[END_UNTIL] = until
    end[END_REASON] = UNKNOWN
    for word in range(counts.trails.shape[1]):
        counts.trails[depth, word] = 0


@inlined
def add_to_trail(trail: IntArray, occurrence: int) -> None:
    """Set the bit of an occurrence in a trail."""
    trail[occurrence >> 6] |= np.int64(1) << (occurrence & 63)


@inlined
def is_in_trail(trail: IntArray, occurrence: int) -> int:
    """Return 1 if the bit of an occurrence is set in a trail, otherwise 0."""
    return int((trail[occurrence >> 6] >> (occurrence & 63)) & 1)


@inlined
def is_nearer(depth: int, state: int, length: int, counts: RunCounts) -> bool:
    """Return whether a run is nearer than the nearest run from `depth` on.

    The run ends in `state` after `length` rows. If both runs need as many further rows, the longer
    run is nearer.
    """
    end = counts.ends[depth]
    fewest_rows = counts.remaining_rows[end[END_STATE]]
    needed_rows = counts.remaining_rows[state]
    return bool(
        needed_rows < fewest_rows or (needed_rows == fewest_rows and length > end[END_LENGTH])
    )


@inlined
def prepend_row(depth: int, choice: int, counts: RunCounts) -> None:
    """Put a row that `choice` maps before the nearest run from `depth` on."""
    if counts.ends[depth, END_CHOICE] == NO_CHOICE:
        counts.ends[depth, END_CHOICE] = choice
    add_to_trail(counts.trails[depth], counts.occurrences[choice])


@inlined
def keep_nearer(depth: int, choice: int, counts: RunCounts) -> None:
    """Keep the nearest run from the next row on as the one from `depth` on, if it is nearer."""
    ends = counts.ends
    trails = counts.trails
    after = depth + 1
    if is_nearer(depth, ends[after, END_STATE], ends[after, END_LENGTH], counts):
        for column in range(END_SIZE):
            ends[depth, column] = ends[after, column]
        for word in range(trails.shape[1]):
            trails[depth, word] = trails[after, word]
        prepend_row(depth, choice, counts)


@inlined
def recall_nearest(depth: int, choice: int, memo_number: int, row: int, counts: RunCounts) -> None:
    """Keep the remembered nearest run of a state at a row as the one from `depth` on, if nearer.

    It does what `keep_nearer` does after a search. `choice` leads to the state, which has the memo
    number `memo_number`, at `row`.
    """
    index = find_in_ring(row, counts.remembered_runs.shape[0])
    entry = counts.remembered_runs[index, memo_number]
    end_row = entry[REMEMBERED_ROW]
    last_choice = entry[REMEMBERED_CHOICE]
    state = counts.target_states[choice if last_choice == NO_CHOICE else last_choice]
    if is_nearer(depth, state, end_row, counts):
        begin_nearest(depth, state, end_row, end_row, end_row + 1, counts)
        counts.ends[depth, END_CHOICE] = last_choice
        for word in range(counts.trails.shape[1]):
            counts.trails[depth, word] = entry[REMEMBERED_TRAIL + word]
        prepend_row(depth, choice, counts)


@inlined
def remember_nearest(depth: int, memo_number: int, row: int, counts: RunCounts) -> None:
    """Remember the nearest run from `depth` on, together with the failure of a state at a row."""
    index = find_in_ring(row, counts.remembered_runs.shape[0])
    entry = counts.remembered_runs[index, memo_number]
    entry[REMEMBERED_CHOICE] = counts.ends[depth, END_CHOICE]
    entry[REMEMBERED_ROW] = counts.ends[depth, END_ROW]
    for word in range(counts.trails.shape[1]):
        entry[REMEMBERED_TRAIL + word] = counts.trails[depth, word]


@inlined
def ends_here(depth: int, counts: RunCounts) -> bool:
    """Return whether the nearest run from `depth` on has no row, and still reads rows."""
    end = counts.ends[depth]
    return bool(end[END_CHOICE] == NO_CHOICE and end[END_UNTIL] == UNKNOWN)


@inlined
def note_reason(reason: int, depth: int, counts: RunCounts) -> None:
    """Note why the nearest run from `depth` on ends, if `ends_here`."""
    if ends_here(depth, counts):
        counts.ends[depth, END_REASON] = reason


@inner
def count_match(length: int, choices: ChoiceArray, counts: RunCounts) -> None:
    """Count the occurrences that a match has reached, given the choices of its `length` rows."""
    for word in range(counts.trails.shape[1]):
        counts.trails[0, word] = 0
    for index in range(length):
        add_to_trail(counts.trails[0], counts.occurrences[choices[index]])
    count_trail(0, counts)


@inner
def count_trail(depth: int, counts: RunCounts) -> None:
    """Count the occurrences in the trail after `depth` rows."""
    for occurrence in range(counts.reached_counts.shape[0]):
        counts.reached_counts[occurrence] += is_in_trail(counts.trails[depth], occurrence)


@inner
def count_start(
    default_reason: int,
    end: int,
    program: IntArray,
    rows: RowArrays,
    progress: Progress,
    counts: RunCounts,
) -> None:
    """Count where the nearest run of progress.start ended, why, and which conditions were false.

    Args:
        default_reason: the reason if no choice would have brought the run nearer to a match.
        end: the row before which all runs of the starting row end.
        program: the choices of the query.
        rows: the partitions.
        progress: the progress of the search.
        counts: has the nearest run, and is updated.
    """
    nearest = counts.ends[0]
    choice = nearest[END_CHOICE]
    state = nearest[END_STATE]
    until = nearest[END_UNTIL]
    if choice != NO_CHOICE:
        count_trail(0, counts)
        needed_rows = counts.remaining_rows[state]
        if needed_rows < counts.nearest_of_all[NEAREST_REMAINING]:
            counts.nearest_of_all[NEAREST_REMAINING] = needed_rows
            counts.nearest_of_all[NEAREST_START] = progress.start
    reason = np.int64(default_reason)
    for index in range(counts.first_nearer[state], counts.first_nearer[state + 1]):
        nearer_choice = counts.nearer_choices[index]
        guard = program[nearer_choice, layout.GUARD]
        if guard == 0 or is_anchored(guard, nearest[END_ROW], progress):
            reason = np.int64(FALSE)
            if until > end:
                reason = np.int64(NO_ROW if end == progress.partition_end else OUT_OF_WINDOW)
            count_parts(nearer_choice, min(until, end), program, rows, progress, counts)
    if nearest[END_REASON] != UNKNOWN:
        reason = nearest[END_REASON]
    counts.end_counts[choice + 1, reason] += 1
    if counts.notes.shape[0] > 0:
        note = counts.notes[progress.start]
        note[NOTE_REMAINING] = counts.remaining_rows[state]
        note[NOTE_CHOICE] = choice + 1
        note[NOTE_REASON] = reason
        note[NOTE_ROW] = nearest[END_ROW]


@spliced
def count_parts(
    nearer_choice: int,
    until: int,
    program: IntArray,
    rows: RowArrays,
    progress: Progress,
    counts: RunCounts,
) -> None:
    """Count the parts of a choice's condition that kept the nearest run from coming nearer.

    The rows from the end of the nearest run to the row before `until` are tested. A part that
    depends on the data only counts if it was true on none of them. A part that depends on the run
    counts if the rest of the condition was true on one of them.
    """
    parts = counts.parts
    start = progress.start
    first = counts.ends[0, END_ROW]
    choice = counts.ends[0, END_CHOICE]
    occurrence = 0 if choice == NO_CHOICE else counts.occurrences[choice] + 1
    variable = counts.tested_variables[nearer_choice]
    word = program[nearer_choice, layout.WORD]
    mask = program[nearer_choice, layout.MASK]
    for part in range(counts.parts_first[variable], counts.parts_first[variable + 1]):
        is_on_run = parts[part, PART_MASK] == 0
        part_word = word if is_on_run else parts[part, PART_WORD]
        part_mask = mask if is_on_run else parts[part, PART_MASK]
        holds = False
        row = first
        while row < until and not holds:
            holds = rows.condition_bits[row, part_word] & part_mask == part_mask
            row += 1
        # For a part on the run, `holds` is about the rest of the condition.
        if until > first and holds == is_on_run and parts[part, PART_START] != start:
            parts[part, PART_START] = start
            counts.false_parts[occurrence, part] += 1
            if part < NOTED_PARTS and counts.notes.shape[0] > 0:
                counts.notes[start, NOTE_PARTS] |= np.int64(1) << part
