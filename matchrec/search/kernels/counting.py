"""Count how far the starting rows come that begin no match, and why they come no further.

A starting row is represented by one of its runs, the *nearest*: the one after which a match needs
the fewest rows more; of several the one with the most rows; of several the most preferred one.

    PATTERN (A B C D), rows A B X

    row 0: the nearest run is A0 B1; it needs 2 rows more, and ended because C was false on row 2

The kernels that count are depth-first searches, `coverage` and `selection_coverage`. They call the
functions here. They keep the nearest run from each row of its path
on. When they go back a row, they compare that run, with the row put before it, with the nearest one
from the row before.

    ends[d]    the nearest run after d rows: its state; how far it came; the choice of its last row,
               or NO_CHOICE if it has no row from here on; the row after that; and, if they are
               known, the row before which it ended (past the last row if it did not end) and why
    trails[d]  the occurrences of variables in PATTERN that its rows took from here on, as bits
    known      what has been found out, beside each failure that is remembered

If no row is skipped, what follows a state and a row does not depend on how they were reached, so it
is remembered with their failure. Only if a run ends there at once, its last row is the one by which
it came there. A run ends where no condition is true that would have brought it nearer to a match.
"""

from typing import NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import ChoiceArray, Progress, RowArrays
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.partitions import IntArray


class RunCounts(NamedTuple):
    """What is counted, and what a search keeps for it."""

    # int64[s], how many rows a match needs at least from a state on.
    remaining: IntArray
    # State i has the choices nearer[nearer_first[i] : nearer_first[i + 1]], by which a match would
    # need fewer rows.
    nearer_first: IntArray
    nearer: IntArray
    # int64[c], for each choice the occurrence of a variable in PATTERN that a row takes by it, its
    # target, and the variable whose condition is tested.
    occurrences: IntArray
    targets: IntArray
    tested: IntArray
    # The condition of variable i has the parts parts[parts_first[i] : parts_first[i + 1]], int64[3]
    # each: see the columns below.
    parts_first: IntArray
    parts: IntArray

    # What is counted:
    # int64[o], starting rows by occurrence that their nearest run, or match, took.
    came: IntArray
    # int64[c + 1, 5], starting rows by the last choice of the nearest run, then by the reason why
    # it ended. The first entry is for starting rows whose runs have no row.
    ended: IntArray
    # int64[o + 1, k], how often each part of a condition was false, by the last occurrence. The
    # first entry is for starting rows whose runs have no row.
    parts_false: IntArray
    # int64[2], the nearest run of all.
    best: IntArray
    # int64[n, 5], the nearest run of each starting row without a match; int64[0, 5] if not wanted.
    notes: IntArray

    # What the search keeps, see above:
    trails: IntArray  # of type int64[d + 1, t]
    ends: IntArray  # of type int64[d + 1, 6]
    # int64[r, b, 2 + t], see the columns below; int64[0, 0, 0] if no failures are remembered.
    known: IntArray


# Why a run ended, as columns of `ended`. FALSE: no condition was true that would have brought it
# nearer to a match. NO_ROW: the partition has no other row. OUT_OF_WINDOW: its window has none.
# ANCHORED: only an anchor would have had to hold. FORBIDDEN: a negation forbids how it went on.
FALSE, NO_ROW, OUT_OF_WINDOW, ANCHORED, FORBIDDEN, REASONS = range(6)

# Columns of `parts`. Word and mask are as in `program`; mask 0 stands for all that depends on the
# run. PART_START is the starting row for which it was counted last, because two choices of a state
# may have the same variable.
PART_WORD, PART_MASK, PART_START, PART_SIZE = range(4)

# Indices of `best`.
BEST_REMAINING, BEST_START = range(2)

# Columns of `notes`: how many rows a match still needed, or NOTHING_NOTED; the choice of the last
# row plus one, or 0 without a row; why the run ended; the row after its last one; bits of the parts
# that were false, for the first 63.
NOTE_REMAINING, NOTE_CHOICE, NOTE_REASON, NOTE_ROW, NOTE_PARTS, NOTE_SIZE = range(6)
NOTED_PARTS = 63
NOTHING_NOTED = -1

# Columns of `ends`.
END_STATE, END_LENGTH, END_CHOICE, END_ROW, END_UNTIL, END_REASON, END_SIZE = range(7)

# Columns of `known`; the last ones are a trail.
KNOWN_CHOICE, KNOWN_ROW, KNOWN_TRAIL = range(3)

NO_CHOICE = -1
UNKNOWN = -1


@inlined
def begin_nearest(
    depth: int, state: int, row: int, length: int, until: int, counting: RunCounts
) -> None:
    """Begin with the nearest run from a state at a row: it ends here until a choice is tried."""
    end = counting.ends[depth]
    end[END_STATE] = state
    end[END_LENGTH] = length
    end[END_CHOICE] = NO_CHOICE
    end[END_ROW] = row
    end[END_UNTIL] = until
    end[END_REASON] = UNKNOWN
    for word in range(counting.trails.shape[1]):
        counting.trails[depth, word] = 0


@inlined
def is_nearer(depth: int, state: int, length: int, counting: RunCounts) -> bool:
    """Return whether a run that ends in a state is nearer than the nearest one from `depth` on."""
    end = counting.ends[depth]
    nearest_remaining, remaining = counting.remaining[end[END_STATE]], counting.remaining[state]
    return bool(
        remaining < nearest_remaining
        or (remaining == nearest_remaining and length > end[END_LENGTH])
    )


@inlined
def prepend_row(depth: int, choice: int, counting: RunCounts) -> None:
    """Put a row that `choice` maps before the nearest run from `depth` on."""
    if counting.ends[depth, END_CHOICE] == NO_CHOICE:
        counting.ends[depth, END_CHOICE] = choice
    occurrence = counting.occurrences[choice]
    counting.trails[depth, occurrence >> 6] |= np.int64(1) << (occurrence & 63)


@inlined
def keep_nearer(depth: int, choice: int, counting: RunCounts) -> None:
    """Keep the nearest run from the next row on as the one from `depth` on, if it is nearer."""
    ends, trails, after = counting.ends, counting.trails, depth + 1
    if is_nearer(depth, ends[after, END_STATE], ends[after, END_LENGTH], counting):
        for column in range(END_SIZE):
            ends[depth, column] = ends[after, column]
        for word in range(trails.shape[1]):
            trails[depth, word] = trails[after, word]
        prepend_row(depth, choice, counting)


@inlined
def recall_nearest(depth: int, choice: int, bit: int, row: int, counting: RunCounts) -> None:
    """Do as `keep_nearer`, for a state and row whose nearest run is remembered."""
    entry = counting.known[row & (counting.known.shape[0] - 1), bit]
    end, last = entry[KNOWN_ROW], entry[KNOWN_CHOICE]
    state = counting.targets[choice if last == NO_CHOICE else last]
    if is_nearer(depth, state, end, counting):
        begin_nearest(depth, state, end, end, end + 1, counting)
        counting.ends[depth, END_CHOICE] = last
        for word in range(counting.trails.shape[1]):
            counting.trails[depth, word] = entry[KNOWN_TRAIL + word]
        prepend_row(depth, choice, counting)


@inlined
def remember_nearest(depth: int, bit: int, row: int, counting: RunCounts) -> None:
    """Remember the nearest run from `depth` on, beside the failure of a state at a row."""
    entry = counting.known[row & (counting.known.shape[0] - 1), bit]
    entry[KNOWN_CHOICE] = counting.ends[depth, END_CHOICE]
    entry[KNOWN_ROW] = counting.ends[depth, END_ROW]
    for word in range(counting.trails.shape[1]):
        entry[KNOWN_TRAIL + word] = counting.trails[depth, word]


@inlined
def ends_here(depth: int, counting: RunCounts) -> bool:
    """Return whether the nearest run from `depth` on ends here, at a row that is not known yet."""
    end = counting.ends[depth]
    return bool(end[END_CHOICE] == NO_CHOICE and end[END_UNTIL] == UNKNOWN)


@inlined
def note_reason(reason: int, depth: int, counting: RunCounts) -> None:
    """Note why the nearest run from `depth` on ends, if it ends here."""
    if ends_here(depth, counting):
        counting.ends[depth, END_REASON] = reason


@inner
def count_match(length: int, choices: ChoiceArray, counting: RunCounts) -> None:
    """Count the occurrences that the rows of a match have taken, by their choices."""
    for word in range(counting.trails.shape[1]):
        counting.trails[0, word] = 0
    for index in range(length):
        occurrence = counting.occurrences[choices[index]]
        counting.trails[0, occurrence >> 6] |= np.int64(1) << (occurrence & 63)
    count_trail(0, counting)


@inner
def count_trail(trail: int, counting: RunCounts) -> None:
    """Count the occurrences in a trail."""
    for occurrence in range(counting.came.shape[0]):
        word = counting.trails[trail, occurrence >> 6]
        counting.came[occurrence] += (word >> (occurrence & 63)) & 1


@inner
def count_start(
    otherwise: int,
    end: int,
    program: IntArray,
    rows: RowArrays,
    progress: Progress,
    counting: RunCounts,
) -> None:
    """Count where the nearest run of a starting row ended, why, and which conditions were false.

    `otherwise` is the reason if no choice would have brought the run nearer. `end` is the row
    before which runs of the starting row end.
    """
    nearest = counting.ends[0]
    choice, state, until = nearest[END_CHOICE], nearest[END_STATE], nearest[END_UNTIL]
    if choice != NO_CHOICE:
        count_trail(0, counting)
        remaining = counting.remaining[state]
        if remaining < counting.best[BEST_REMAINING]:
            counting.best[BEST_REMAINING] = remaining
            counting.best[BEST_START] = progress.start
    reason = np.int64(otherwise)
    for index in range(counting.nearer_first[state], counting.nearer_first[state + 1]):
        other = counting.nearer[index]
        guard = program[other, layout.GUARD]
        if guard == 0 or is_anchored(guard, nearest[END_ROW], progress):
            reason = np.int64(FALSE)
            if until > end:
                reason = np.int64(NO_ROW if end == progress.upper else OUT_OF_WINDOW)
            count_parts(other, min(until, end), program, rows, progress, counting)
    if nearest[END_REASON] != UNKNOWN:
        reason = nearest[END_REASON]
    counting.ended[choice + 1, reason] += 1
    if counting.notes.shape[0] > 0:
        note = counting.notes[progress.start]
        note[NOTE_REMAINING] = counting.remaining[state]
        note[NOTE_CHOICE] = choice + 1
        note[NOTE_REASON] = reason
        note[NOTE_ROW] = nearest[END_ROW]


@spliced
def count_parts(
    other: int,
    until: int,
    program: IntArray,
    rows: RowArrays,
    progress: Progress,
    counting: RunCounts,
) -> None:
    """Count which parts of a choice's condition were true on none of the rows before `until`."""
    parts, start, first = counting.parts, progress.start, counting.ends[0, END_ROW]
    choice = counting.ends[0, END_CHOICE]
    occurrence = 0 if choice == NO_CHOICE else counting.occurrences[choice] + 1
    variable = counting.tested[other]
    word, mask = program[other, layout.WORD], program[other, layout.MASK]
    for part in range(counting.parts_first[variable], counting.parts_first[variable + 1]):
        is_on_run = (
            parts[part, PART_MASK] == 0
        )  # it is false if all else was true on one of the rows
        part_word = word if is_on_run else parts[part, PART_WORD]
        part_mask = mask if is_on_run else parts[part, PART_MASK]
        holds = False
        row = first
        while row < until and not holds:
            holds = rows.satisfied[row, part_word] & part_mask == part_mask
            row += 1
        if until > first and holds == is_on_run and parts[part, PART_START] != start:
            parts[part, PART_START] = start
            counting.parts_false[occurrence, part] += 1
            if part < NOTED_PARTS and counting.notes.shape[0] > 0:
                counting.notes[start, NOTE_PARTS] |= np.int64(1) << part
