"""How far starting rows come that begin no match: what is counted of each, and by what.

A starting row is told by one of its runs, the *nearest*: the one after which a match needed the
fewest rows more, of several the one with the most rows, of several the most preferred one.

A search keeps the nearest run from each row of its path on. Going back, it compares that with the
nearest run from the row before on.

    ends[d]    of the nearest run after d rows: its state, how far it came, the choice of its last
               row, NO_CHOICE where it has none from here on, the row after that, and, where they
               are known, the row before which it ended, past the last one if that did not, and why
    trails[d]  the occurrences that its rows took from here on, as bits
    known      what has been found out beside a failure that is remembered

What comes after a state and row where no row is skipped does not depend on how these were reached,
so it is remembered with their failure; but where a run ends at once, its last row is the one by
which it came there. Each way ends where nothing that would have brought it nearer was true.
"""

from typing import Any, NamedTuple

import numpy as np

from matchrec.jit.decorators import inlined, inner, spliced
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import ChoiceArray, Progress, RowArrays, Rules
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.partitions import IntArray


class RunCounts(NamedTuple):
    """What is counted, and what a search keeps for it.

    remaining: int64[s], how many rows a match needs from a state at least. nearer_first:
    int64[s + 1], the choices by which it would need fewer are entries of `nearer`. taken, targets,
    asked: int64[c], of each choice its occurrence in PATTERN, its target, and the variable whose
    condition is asked. parts_first: int64[v + 1], the parts of a variable's condition are rows of
    `parts`, int64[k, 3].

    Counts: came: int64[o], starting rows by occurrence. ended: int64[c + 1, 5], by choice, then
    reason. parts_false: int64[o + 1, k], by occurrence. In the last two the first entry is that of
    starting rows without any row. best: int64[2], the nearest run of all that began no match.
    notes: int64[n, 5], of each starting row that began none its nearest run, if somebody asks.

    Kept: trails: int64[p + 1, t], ends: int64[p + 1, 6], known: int64[r, b, 2 + t]. between: with
    event selection, those absences that are decided when a row is mapped; never None there, as no
    kernel is without.
    """

    remaining: IntArray
    nearer_first: IntArray
    nearer: IntArray
    taken: IntArray
    targets: IntArray
    asked: IntArray
    parts_first: IntArray
    parts: IntArray
    came: IntArray
    ended: IntArray
    parts_false: IntArray
    best: IntArray
    notes: IntArray
    trails: IntArray
    ends: IntArray
    known: IntArray
    between: Any


# Why a run ended, columns of `ended`: no condition that would have brought it nearer to a match was
# true; there was no further row; or none in its window; or only an anchor could have held; where
# rows may be skipped, something was there that must not be.
FALSE, NO_ROW, OUT_OF_WINDOW, ANCHORED, FORBIDDEN, REASONS = range(6)

# Columns of `parts`: as in `program`, mask 0 is what depends on the run; for which starting row it
# was counted last, as two choices of a state may be of one variable.
PART_WORD, PART_MASK, PART_START, PART_SIZE = range(4)

# Indices of `best`.
BEST_REMAINING, BEST_START = range(2)

# Columns of `notes`: how many rows a match still needed, NOTHING_NOTED of other rows; the choice of
# the last row and one, 0 without any; why it ended; the row after that; the parts that were false,
# of which the first 63 have a bit.
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
def begin(depth: int, state: int, row: int, length: int, until: int, counting: RunCounts) -> None:
    """The nearest run from a state and row on, before any choice is tried: it ends here."""
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
    """Whether a run that ends in a state is nearer than the nearest one from `depth` on so far."""
    end = counting.ends[depth]
    known, remaining = counting.remaining[end[END_STATE]], counting.remaining[state]
    return bool(remaining < known or (remaining == known and length > end[END_LENGTH]))


@inlined
def put_before(depth: int, choice: int, counting: RunCounts) -> None:
    """Put a row that `choice` maps before the nearest run from `depth` on."""
    if counting.ends[depth, END_CHOICE] == NO_CHOICE:
        counting.ends[depth, END_CHOICE] = choice
    taken = counting.taken[choice]
    counting.trails[depth, taken >> 6] |= np.int64(1) << (taken & 63)


@inlined
def go_back(depth: int, choice: int, counting: RunCounts) -> None:
    """Compare the nearest run from the next row on with that from `depth` on."""
    ends, trails, after = counting.ends, counting.trails, depth + 1
    if is_nearer(depth, ends[after, END_STATE], ends[after, END_LENGTH], counting):
        for column in range(END_SIZE):
            ends[depth, column] = ends[after, column]
        for word in range(trails.shape[1]):
            trails[depth, word] = trails[after, word]
        put_before(depth, choice, counting)


@inlined
def recall(depth: int, choice: int, bit: int, row: int, counting: RunCounts) -> None:
    """As `go_back`, where the nearest run from the state and row on is remembered."""
    found = counting.known[row & (counting.known.shape[0] - 1), bit]
    end, last = found[KNOWN_ROW], found[KNOWN_CHOICE]
    state = counting.targets[choice if last == NO_CHOICE else last]
    if is_nearer(depth, state, end, counting):
        begin(depth, state, end, end, end + 1, counting)
        counting.ends[depth, END_CHOICE] = last
        for word in range(counting.trails.shape[1]):
            counting.trails[depth, word] = found[KNOWN_TRAIL + word]
        put_before(depth, choice, counting)


@inlined
def remember_nearest(depth: int, bit: int, row: int, counting: RunCounts) -> None:
    found = counting.known[row & (counting.known.shape[0] - 1), bit]
    found[KNOWN_CHOICE] = counting.ends[depth, END_CHOICE]
    found[KNOWN_ROW] = counting.ends[depth, END_ROW]
    for word in range(counting.trails.shape[1]):
        found[KNOWN_TRAIL + word] = counting.trails[depth, word]


@inlined
def ends_here(depth: int, counting: RunCounts) -> bool:
    """Whether the nearest run from `depth` on has no row more, and where it ended is not known."""
    end = counting.ends[depth]
    return bool(end[END_CHOICE] == NO_CHOICE and end[END_UNTIL] == UNKNOWN)


@inlined
def note_reason(reason: int, depth: int, counting: RunCounts) -> None:
    if ends_here(depth, counting):
        counting.ends[depth, END_REASON] = reason


@inner
def count_match(length: int, choices: ChoiceArray, counting: RunCounts) -> None:
    """Count the occurrences that the rows of a match have taken, by their choices."""
    for word in range(counting.trails.shape[1]):
        counting.trails[0, word] = 0
    for index in range(length):
        taken = counting.taken[choices[index]]
        counting.trails[0, taken >> 6] |= np.int64(1) << (taken & 63)
    count_trail(0, counting)


@inner
def count_trail(trail: int, counting: RunCounts) -> None:
    for occurrence in range(counting.came.shape[0]):
        word = counting.trails[trail, occurrence >> 6]
        counting.came[occurrence] += (word >> (occurrence & 63)) & 1


@inner
def count_start(
    otherwise: int, end: int, rules: Rules, rows: RowArrays, progress: Progress, counting: RunCounts
) -> None:
    """Count where the nearest run of a starting row ended, what ended it, and the parts of that.

    otherwise: the reason where no choice would have brought it nearer. end: the row before which
    runs of the starting row end.
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
        guard = rules.program[other, layout.GUARD]
        if guard == 0 or is_anchored(guard, nearest[END_ROW], progress):
            reason = np.int64(FALSE)
            if until > end:
                reason = np.int64(NO_ROW if end == progress.upper else OUT_OF_WINDOW)
            count_parts(other, min(until, end), rules, rows, progress, counting)
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
    other: int, until: int, rules: Rules, rows: RowArrays, progress: Progress, counting: RunCounts
) -> None:
    """Count which parts of a choice's condition were true of none of the rows before `until`."""
    parts, start, first = counting.parts, progress.start, counting.ends[0, END_ROW]
    choice = counting.ends[0, END_CHOICE]
    place = 0 if choice == NO_CHOICE else counting.taken[choice] + 1
    asked = counting.asked[other]
    word, mask = rules.program[other, layout.WORD], rules.program[other, layout.MASK]
    for part in range(counting.parts_first[asked], counting.parts_first[asked + 1]):
        on_run = parts[part, PART_MASK] == 0  # to blame where all else was true of one of them
        one_word = word if on_run else parts[part, PART_WORD]
        one_mask = mask if on_run else parts[part, PART_MASK]
        holds = False
        at = first
        while at < until and not holds:
            holds = rows.satisfied[at, one_word] & one_mask == one_mask
            at += 1
        if until > first and holds == on_run and parts[part, PART_START] != start:
            parts[part, PART_START] = start
            counting.parts_false[place, part] += 1
            if part < NOTED_PARTS and counting.notes.shape[0] > 0:
                counting.notes[start, NOTE_PARTS] |= np.int64(1) << part
