"""Preferred matches inside windows, where conditions look only at the data.

`nearest` is how many rows a run in a state is away from the nearest acceptance, from a row on. A
run leads to a match inside its window if that is no further than the window's end, so the search
steps to the first choice that does, row by row, and never goes back.

A value holds for every starting row. It is found out when it is asked for, and no further than to a
horizon behind the window's end: a window that ends behind the horizon sets a new one, twice as far,
and then only what was too far is asked again. So each pair of state and row is looked at a few
times, however long the windows are.

Cost: rows x choices, and the rows of the matches.

nearest: int32[r, s], r a power of two; row position p stands at nearest[p & (r - 1)].
path: int32[r] and least: int32[r], the choice that is tried at each row from the starting row on,
and the best of those before it.
"""

from matchrec.engine.kernels.layout import (
    ACCEPT,
    DONE,
    GUARD,
    HORIZON,
    MAPPED,
    MASK,
    MEMO_FULL,
    MEMO_TO,
    MORE_ROWS,
    NEEDED,
    NO_EDGE,
    NUMBER,
    OUTPUT_FULL,
    PARTITION,
    SOURCE,
    START,
    TARGET,
    WORD,
    ChoiceArray,
)
from matchrec.engine.kernels.starts import edge_of, finish_match, has_room, is_anchored
from matchrec.engine.partitions import IntArray
from matchrec.jit.decorators import inlined, kernel

NEVER = 2**31 - 1  # no acceptance can be reached
TOO_FAR = NEVER - 1  # none up to the horizon
UNKNOWN = -1
NO_ROOM = -2  # the arrays are too small; of what is kept, NO_ROOM - k: none up to k rows on

NO_MATCH = -1  # `walk` returns a length, this, NO_ROOM, or UNDECIDED
UNDECIDED = -3


@kernel
def search(
    first: IntArray,
    program: IntArray,
    starts: IntArray,
    searched: IntArray,
    satisfied: IntArray,
    window_end: IntArray,
    skip_to: int,
    nearest: ChoiceArray,
    path: ChoiceArray,
    least: ChoiceArray,
    found: IntArray,
    taken: ChoiceArray,
    progress: IntArray,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    while progress[PARTITION] < starts.shape[0] - 1:
        lower = starts[progress[PARTITION]]
        upper = starts[progress[PARTITION] + 1]
        edge = edge_of(starts, progress)
        while progress[START] < searched[1, progress[PARTITION]]:
            start = progress[START]
            bound = window_end[start]
            if bound > progress[HORIZON]:
                end = min(upper, edge)
                progress[HORIZON] = min(end, 2 * bound - start + 16)
            length = walk(
                first,
                program,
                satisfied,
                nearest,
                path,
                least,
                progress,
                bound,
                edge,
                lower,
                upper,
            )
            if length == NO_MATCH:
                progress[START] = start + 1
                continue
            if length == NO_ROOM:
                return MEMO_FULL
            if length == UNDECIDED:
                return MORE_ROWS
            if not has_room(found, taken, progress, length):
                progress[NEEDED] = length
                return OUTPUT_FULL
            mapped = progress[MAPPED]
            for index in range(length):
                taken[mapped + index] = path[index]
            status = finish_match(program, skip_to, found, taken, progress, start, length)
            if status != DONE:
                return status
        if edge != NO_EDGE:
            return MORE_ROWS
        progress[PARTITION] += 1
        progress[START] = searched[0, progress[PARTITION]]
        progress[NUMBER] = 0
        progress[MEMO_TO] = progress[START]
        progress[HORIZON] = progress[START]
    return DONE


@inlined
def walk(
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    nearest: ChoiceArray,
    path: ChoiceArray,
    least: ChoiceArray,
    progress: IntArray,
    bound: int,
    edge: int,
    lower: int,
    upper: int,
) -> int:
    """Length of the preferred match at progress[START] that ends at `bound` or before it.

    Its choices are in `path`. NO_MATCH where there is none; NO_ROOM; UNDECIDED where rows behind
    `edge` decide.
    """
    start = progress[START]
    row = start
    state = 0
    while True:
        if row >= edge:
            return UNDECIDED
        chosen = -1
        for choice in range(first[state], first[state + 1]):
            guard = program[choice, GUARD]
            if guard != 0 and not is_anchored(guard, row, lower, upper):
                continue
            target = program[choice, TARGET]
            if target == ACCEPT:
                return int(row - start)
            mask = program[choice, MASK]
            if row >= bound or satisfied[row, program[choice, WORD]] & mask != mask:
                continue
            away = look(first, program, nearest, progress, target, row + 1, edge, lower, upper)
            if away == UNKNOWN:
                away = explore(
                    target,
                    row + 1,
                    first,
                    program,
                    satisfied,
                    nearest,
                    path,
                    least,
                    progress,
                    edge,
                    lower,
                    upper,
                )
                if away == NO_ROOM:
                    return NO_ROOM
            if away == TOO_FAR and bound >= edge:
                return UNDECIDED
            if row + 1 + away <= bound:
                chosen = choice
                break
        if chosen < 0:
            return NO_MATCH
        if row - start == path.shape[0]:
            return no_room(progress)
        path[row - start] = chosen
        row += 1
        state = program[chosen, TARGET]


@inlined
def explore(
    state: int,
    row: int,
    first: IntArray,
    program: IntArray,
    satisfied: IntArray,
    nearest: ChoiceArray,
    path: ChoiceArray,
    least: ChoiceArray,
    progress: IntArray,
    edge: int,
    lower: int,
    upper: int,
) -> int:
    """How many rows a run in `state` at `row` is away from the nearest acceptance, or NO_ROOM.

    Depth first, so that what comes later is known when a pair of state and row is left.
    """
    start = progress[START]
    begin = row
    choice = first[state]
    best = NEVER
    if row - start >= path.shape[0]:
        return no_room(progress)
    while True:
        while choice < first[state + 1]:
            mask = program[choice, MASK]
            guard = program[choice, GUARD]
            if (
                program[choice, TARGET] != ACCEPT
                and satisfied[row, program[choice, WORD]] & mask == mask
                and (guard == 0 or is_anchored(guard, row, lower, upper))
            ):
                target = program[choice, TARGET]
                away = look(first, program, nearest, progress, target, row + 1, edge, lower, upper)
                if away == UNKNOWN:
                    break
                best = min(best, one_more(away))
            choice += 1
        if choice < first[state + 1]:
            path[row - start] = choice
            least[row - start] = best
            row += 1
            if row - start == path.shape[0]:
                return no_room(progress)
            state = program[choice, TARGET]
            choice = first[state]
            best = NEVER
            continue
        keep(nearest, progress, state, row, best)
        if row == begin:
            return best
        row -= 1
        choice = path[row - start]
        state = program[choice, SOURCE]
        best = min(least[row - start], one_more(best))
        choice += 1


@inlined
def no_room(progress: IntArray) -> int:
    """Say how many rows the arrays must hold."""
    progress[NEEDED] = progress[HORIZON] + 1 - progress[START]
    return NO_ROOM


@inlined
def one_more(away: int) -> int:
    """The distance from one row before."""
    return away if away >= TOO_FAR else away + 1


@inlined
def look(
    first: IntArray,
    program: IntArray,
    nearest: ChoiceArray,
    progress: IntArray,
    state: int,
    row: int,
    edge: int,
    lower: int,
    upper: int,
) -> int:
    """What is known of a state and row: a distance, NEVER, TOO_FAR or UNKNOWN."""
    if row < progress[MEMO_TO]:
        away = nearest[row & (nearest.shape[0] - 1), state]
        if away >= 0:
            return int(away)
        if row - away + NO_ROOM == progress[HORIZON]:
            return TOO_FAR
    if row >= edge:
        return TOO_FAR
    for choice in range(first[state], first[state + 1]):
        if program[choice, TARGET] == ACCEPT:
            guard = program[choice, GUARD]
            if guard == 0 or is_anchored(guard, row, lower, upper):
                return 0
    if row == progress[HORIZON]:
        return NEVER if row == upper else TOO_FAR
    return UNKNOWN


@inlined
def keep(nearest: ChoiceArray, progress: IntArray, state: int, row: int, away: int) -> None:
    """Note what has been found out; rows that are new are unknown but for that."""
    size, states = nearest.shape
    if row >= progress[MEMO_TO]:
        for new in range(max(progress[MEMO_TO], progress[START]), row + 1):
            for other in range(states):
                nearest[new & (size - 1), other] = UNKNOWN
        progress[MEMO_TO] = row + 1
    kept = away if away != TOO_FAR else NO_ROOM - (progress[HORIZON] - row)
    nearest[row & (size - 1), state] = kept
