"""How far starting rows come that begin no match: what is counted of each, and by what.

A starting row is told by one of its runs, the *nearest*: the one after which a match needed the
fewest rows more, of several the one with the most rows, of several the most preferred one.
"""

from typing import Any, NamedTuple

import numpy as np

from matchrec.engine.kernels import layout
from matchrec.engine.kernels.layout import ChoiceArray, RowArrays, Rules
from matchrec.engine.kernels.mapping import is_anchored
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inner, spliced


class StartCounting(NamedTuple):
    """What is counted, and what a search keeps for it.

    remaining: int64[s], how many rows a match needs from a state at least. nearer_first:
    int64[s + 1], the choices by which it would need fewer are entries of `nearer`. taken, targets,
    asked: int64[c], of each choice its occurrence in PATTERN, its target, and the variable whose
    condition is asked. parts_first: int64[v + 1], the parts of a variable's condition are rows of
    `parts`, int64[k, 3].

    Counts: came: int64[o], starting rows by occurrence. ended: int64[c + 1, 5], by choice, then
    reason. parts_false: int64[o + 1, k], by occurrence. In the last two the first entry is that of
    starting rows without any row. best: int64[2], the nearest run of all that began no match.

    Kept: trails: int64[p + 2, t], the occurrences that a run has taken, by its rows, as bits. ends:
    int64[p + 1, 3] and known: int64[r, b, 2 + t] for `contiguous.kernels.backtracking`. nearest:
    int64[7] for `selection.kernels.matches`. between: with event selection, those absences that
    are decided when a row is mapped; never None there, as no kernel is without.
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
    trails: IntArray
    ends: IntArray
    known: IntArray
    nearest: IntArray
    between: Any


# Why a run ended, columns of `ended`: no condition that would have brought it nearer to a match was
# true; there was no further row; or none in its window; or only an anchor could have held.
FALSE = 0
NO_ROW = 1
OUT_OF_WINDOW = 2
ANCHORED = 3
FORBIDDEN = 4  # where rows may be skipped: something was there that must not be
REASONS = 5

# Columns of `parts`: as in `program`, mask 0 is what depends on the run; for which starting row it
# was counted last, as two choices of a state may be of one variable.
PART_WORD = 0
PART_MASK = 1
PART_START = 2
PART_SIZE = 3

# Indices of `best`.
BEST_REMAINING = 0
BEST_START = 1
BEST_SIZE = 2

NO_CHOICE = -1


class NearestRun(NamedTuple):
    """The nearest run of a starting row.

    choice: by which its last row was mapped, NO_CHOICE of a run without rows. state: in which it
    then is. row: after its last one. until: the row before which it ended, past the last one if
    that did not. trail: a row of `trails`.
    """

    choice: int
    state: int
    row: int
    until: int
    trail: int


@inner
def count_match(length: int, choices: ChoiceArray, counting: StartCounting) -> None:
    """Count the occurrences that the rows of a match have taken, by their choices."""
    for word in range(counting.trails.shape[1]):
        counting.trails[0, word] = 0
    for index in range(length):
        taken = counting.taken[choices[index]]
        counting.trails[0, taken >> 6] |= np.int64(1) << (taken & 63)
    count_trail(0, counting)


@inner
def count_trail(trail: int, counting: StartCounting) -> None:
    """Count a starting row at each occurrence of a trail."""
    for occurrence in range(counting.came.shape[0]):
        word = counting.trails[trail, occurrence >> 6]
        counting.came[occurrence] += (word >> (occurrence & 63)) & 1


@inner
def count_nearest(
    run: NearestRun,
    otherwise: int,
    upper: int,
    end: int,
    rules: Rules,
    rows: RowArrays,
    progress: IntArray,
    counting: StartCounting,
) -> int:
    """Count the nearest run of a starting row, and the parts that ended it; why it did.

    otherwise: the reason where no choice would have brought it nearer. upper: the row after the
    partition. end: the row before which runs of the starting row end.
    """
    if run.choice != NO_CHOICE:
        count_trail(run.trail, counting)
        remaining = counting.remaining[run.state]
        if remaining < counting.best[BEST_REMAINING]:
            counting.best[BEST_REMAINING] = remaining
            counting.best[BEST_START] = progress[layout.START]
    reason, lower = otherwise, rows.starts[progress[layout.PARTITION]]
    for index in range(counting.nearer_first[run.state], counting.nearer_first[run.state + 1]):
        other = counting.nearer[index]
        guard = rules.program[other, layout.GUARD]
        if guard == 0 or is_anchored(guard, run.row, lower, upper):
            reason = FALSE
            if run.until > end:
                reason = NO_ROW if end == upper else OUT_OF_WINDOW
            count_parts(other, run, min(run.until, end), rules, rows, progress, counting)
    return reason


@spliced
def count_parts(
    other: int,
    run: NearestRun,
    until: int,
    rules: Rules,
    rows: RowArrays,
    progress: IntArray,
    counting: StartCounting,
) -> None:
    """Count which parts of the condition of a choice were true of none of the rows before `until`.

    What depends on the run is to blame where all else was true of one of them.
    """
    parts, start = counting.parts, progress[layout.START]
    place = 0 if run.choice == NO_CHOICE else counting.taken[run.choice] + 1
    asked = counting.asked[other]
    word, mask = rules.program[other, layout.WORD], rules.program[other, layout.MASK]
    for part in range(counting.parts_first[asked], counting.parts_first[asked + 1]):
        on_run = parts[part, PART_MASK] == 0
        one_word = word if on_run else parts[part, PART_WORD]
        one_mask = mask if on_run else parts[part, PART_MASK]
        holds = False
        at = run.row
        while at < until and not holds:
            holds = rows.satisfied[at, one_word] & one_mask == one_mask
            at += 1
        if until > run.row and holds == on_run and parts[part, PART_START] != start:
            parts[part, PART_START] = start
            counting.parts_false[place, part] += 1
