"""The nearest run of a starting row that begins no match: kept while all runs are tried, counted.

It is the run after which a match needed the fewest rows more, of several the one with the most
rows, of several the most preferred one.
"""

from typing import NamedTuple

from matchrec.engine.contiguous.kernels import coverage_layout as counted
from matchrec.engine.contiguous.kernels.starts import is_anchored
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.seen import Seen, is_seen
from matchrec.engine.partitions import IntArray
from matchrec.engine.selection.kernels import layout as own
from matchrec.engine.selection.kernels.backtracking import BLOCKED, STOPPED
from matchrec.engine.selection.kernels.layout import Rows, Rules, Work
from matchrec.jit.decorators import inlined, inner, spliced

UNKNOWN = -1

# Indices of `nearest`.
REMAINING = 0
DEPTH = 1
ROW = 2  # the row after its last one
CHOICE = 3  # by which that was mapped, NO_CHOICE of a run without rows
STATE = 4
UNTIL = 5  # the row before which it ended, past the last one if that did not; or UNKNOWN
REASON = 6  # if it is known already, or UNKNOWN
NEAREST_SIZE = 7
NO_CHOICE = -1


class Counting(NamedTuple):
    """What is counted, and by what: see `CoverageWork` of `contiguous`.

    asked: int64[c], of each choice the variable whose condition is asked. trails: int64[p + 1, t],
    the occurrences that the run has taken at each depth; the last row is that of the nearest run,
    which `nearest` describes. seen: see `engine.kernels.seen`; empty where runs must not merge.
    """

    remaining: IntArray
    nearer_first: IntArray
    nearer: IntArray
    taken: IntArray
    asked: IntArray
    parts_first: IntArray
    parts: IntArray
    came: IntArray
    ended: IntArray
    parts_false: IntArray
    best: IntArray
    nearest: IntArray
    trails: IntArray
    seen: IntArray


@spliced
def put(choice: int, row: int, depth: int, blocked: int, path: IntArray) -> None:
    """Map a row in the path, which has so many rows."""
    path[own.ROWS, depth] = row
    path[own.CHOICES, depth] = choice
    path[own.MARKS, depth] = blocked


@spliced
def take(choice: int, depth: int, counting: Counting) -> None:
    """Add to the trail the occurrence that the row after `depth` rows has taken."""
    trails, occurrence = counting.trails, counting.taken[choice]
    for word in range(trails.shape[1]):
        trails[depth + 1, word] = 0 if depth == 0 else trails[depth, word]
    trails[depth + 1, occurrence >> 6] |= 1 << (occurrence & 63)


@inlined
def arrive(choice: int, state: int, row: int, depth: int, counting: Counting) -> None:
    """Keep the run of `depth` rows that a choice has led to a state, if none is nearer."""
    nearest, remaining = counting.nearest, counting.remaining[state]
    longer = remaining == nearest[REMAINING] and depth > nearest[DEPTH]
    if nearest[DEPTH] != UNKNOWN and remaining >= nearest[REMAINING] and not longer:
        return
    nearest[REMAINING] = remaining
    nearest[DEPTH] = depth
    nearest[ROW] = row
    nearest[CHOICE] = choice
    nearest[STATE] = state
    nearest[UNTIL] = UNKNOWN
    nearest[REASON] = UNKNOWN
    trails = counting.trails
    for word in range(trails.shape[1]):
        trails[trails.shape[0] - 1, word] = 0 if depth == 0 else trails[depth, word]


@inlined
def is_nearest(depth: int, path: IntArray, nearest: IntArray) -> bool:
    """Whether the run is the nearest one, and it is not known yet where that ended."""
    if depth != nearest[DEPTH] or nearest[UNTIL] != UNKNOWN:
        return False
    if depth == 0:
        return True
    mapped = path[own.CHOICES, depth - 1] == nearest[CHOICE]
    return bool(mapped and path[own.ROWS, depth - 1] == nearest[ROW] - 1)


@inlined
def note(reason: int, depth: int, path: IntArray, nearest: IntArray) -> None:
    """Note why the run has ended, if it is the nearest one."""
    if is_nearest(depth, path, nearest):
        nearest[REASON] = reason


@spliced
def react(target: int, depth: int, blocked: int, path: IntArray, nearest: IntArray) -> int:
    """What a row that is not mapped makes of `blocked`."""
    if target == own.CUTS:
        return blocked
    if target == own.TIMES_OUT:
        note(counted.OUT_OF_WINDOW, depth, path, nearest)
    if target == own.ENDS or target == own.STOPS:
        note(counted.FORBIDDEN, depth, path, nearest)
    return STOPPED if target == own.STOPS else max(blocked, BLOCKED)


@spliced
def is_full(progress: IntArray, seen: IntArray) -> bool:
    """Whether the table of computation states, if there is one, has no room for another."""
    return bool(seen.shape[0] > 0 and 2 * progress[layout.RUNS] >= seen.shape[0])


@inner
def is_new(target: int, row: int, depth: int, rules: Rules, work: Work, counting: Counting) -> bool:
    """Whether no run has come to a state after a row that has the same future; now one has."""
    if counting.seen.shape[0] == 0:
        return True
    seen = Seen(work.progress, work.registers, counting.seen)
    return not is_seen(depth + 1, target, row + 1, rules, seen)


@inlined
def count_trail(depth: int, counting: Counting) -> None:
    """Count a starting row at each occurrence that its run of `depth` rows has taken."""
    if depth == 0:
        return
    for occurrence in range(counting.came.shape[0]):
        word = counting.trails[depth, occurrence >> 6]
        counting.came[occurrence] += (word >> (occurrence & 63)) & 1


@inner
def count_nearest(
    lower: int, upper: int, rules: Rules, rows: Rows, work: Work, counting: Counting
) -> None:
    """Count where the nearest run of a starting row ended, and what ended it."""
    nearest, best = counting.nearest, counting.best
    choice, row, until = nearest[CHOICE], nearest[ROW], nearest[UNTIL]
    if nearest[DEPTH] > 0:
        count_trail(counting.trails.shape[0] - 1, counting)
        if nearest[REMAINING] < best[counted.BEST_REMAINING]:
            best[counted.BEST_REMAINING] = nearest[REMAINING]
            best[counted.BEST_START] = work.progress[layout.START]
    end = rows.run_end[work.progress[layout.START]]
    reason = counted.ANCHORED if nearest[REMAINING] > 0 else counted.FORBIDDEN
    for index in range(
        counting.nearer_first[nearest[STATE]], counting.nearer_first[nearest[STATE] + 1]
    ):
        other = counting.nearer[index]
        guard = rules.program[other, layout.GUARD]
        if guard == 0 or is_anchored(guard, row, lower, upper):
            reason = counted.FALSE
            if until > end:
                reason = counted.NO_ROW if end == upper else counted.OUT_OF_WINDOW
            count_parts(other, choice, row, min(until, end), rules, rows, work, counting)
    if nearest[REASON] != UNKNOWN:
        reason = nearest[REASON]
    counting.ended[choice + 1, reason] += 1


@spliced
def count_parts(
    other: int,
    choice: int,
    row: int,
    until: int,
    rules: Rules,
    rows: Rows,
    work: Work,
    counting: Counting,
) -> None:
    """Count which parts of the condition of a choice were true of none of the rows before `until`.

    What depends on the run is to blame where all else was true of one of them.
    """
    parts, start = counting.parts, work.progress[layout.START]
    place = 0 if choice == NO_CHOICE else counting.taken[choice] + 1
    asked = counting.asked[other]
    word, mask = rules.program[other, layout.WORD], rules.program[other, layout.MASK]
    for part in range(counting.parts_first[asked], counting.parts_first[asked + 1]):
        on_run = parts[part, counted.PART_MASK] == 0
        one_word = word if on_run else parts[part, counted.PART_WORD]
        one_mask = mask if on_run else parts[part, counted.PART_MASK]
        holds = False
        at = row
        while at < until and not holds:
            holds = rows.satisfied[at, one_word] & one_mask == one_mask
            at += 1
        if until > row and holds == on_run and parts[part, counted.PART_START] != start:
            parts[part, counted.PART_START] = start
            counting.parts_false[place, part] += 1
