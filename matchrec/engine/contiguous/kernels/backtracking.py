"""Depth-first search in preferment order: the first way that reaches acceptance is the match.

`path` holds the choice taken at each row and is the only stack: going back a row, the search tries
the choices after the one in the path. registers[d] is the computation state after d rows, so going
back restores it. A pair of state and row whose choices are all exhausted has failed for every
starting row, unless what comes depends on the registers; where it can be reached again, that is
remembered, with windows for the starting rows whose windows end together. Where there are windows
and conditions depend on the data only, `distances` takes the place of this kernel.

With `counting` the search also tells how far each starting row came that begins no match; without,
nothing of that is compiled. Where the ways through the pattern multiply and no failure can be
remembered, as conditions depend on the run, it keeps the computation states that a starting row has
seen: equal ones have the same future.

Counting keeps the nearest run from each row of the path on. It does not depend on how its first
state and row were reached, so it is remembered with the failure of these; but where a run ends at
once, its last row is the one by which it came there. Each way ends where nothing that would have
brought it nearer was true.

    ends[d]    the nearest run from d rows after the starting row on: what a match would still need,
               the row after its last one, the choice of its last row, NO_CHOICE where it has none
    trails[d]  the occurrences that its rows took, as bits
    known      the same beside the failures of the memo

Cost: rows x choices where conditions depend on the data only; exponential at worst where they
depend on the run. Counting: times the words of a trail. Sources: SASE+, "Backtracking algorithm"
and "Merging equivalent runs"; failures are remembered as in RE2's BitState.
"""

import numpy as np

from matchrec.engine.kernels import counting as counted
from matchrec.engine.kernels import layout
from matchrec.engine.kernels.counting import (
    NO_CHOICE,
    NearestRun,
    StartCounting,
    count_match,
    count_nearest,
)
from matchrec.engine.kernels.layout import (
    FoundArrays,
    Partition,
    RowArrays,
    Rules,
    RunArray,
    Work,
)
from matchrec.engine.kernels.mapping import (
    RegisterPlaces,
    has_failed,
    is_anchored,
    map_row,
    note_failure,
    note_state,
    on_run_of,
    remember_failure,
    takes_too_many_steps,
)
from matchrec.engine.kernels.starts import (
    NO_MATCH,
    NO_ROOM,
    UNDECIDED,
    begin_start,
    go_on_without,
    search_partitions,
    write_path,
)
from matchrec.engine.partitions import IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import inlined, inner, kernel, spliced

# Columns of `ends`.
END_REMAINING = 0
END_ROW = 1
END_CHOICE = 2
END_SIZE = 3

# Columns of `known`; the last ones are a trail.
KNOWN_CHOICE = 0
KNOWN_ROW = 1
KNOWN_TRAIL = 2


@inlined
def begin(depth: int, state: int, row: int, counting: StartCounting) -> None:
    """The nearest run from a state and row on, before any choice is tried: it ends here."""
    counting.ends[depth, END_REMAINING] = counting.remaining[state]
    counting.ends[depth, END_ROW] = row
    counting.ends[depth, END_CHOICE] = NO_CHOICE
    for word in range(counting.trails.shape[1]):
        counting.trails[depth, word] = 0


@inlined
def is_nearer(depth: int, remaining: int, row: int, counting: StartCounting) -> bool:
    """Whether a run is nearer than the nearest one from `depth` on so far."""
    known = counting.ends[depth, END_REMAINING]
    return bool(remaining < known or (remaining == known and row > counting.ends[depth, END_ROW]))


@inlined
def take(depth: int, choice: int, end: int, row: int, counting: StartCounting) -> None:
    """Make the run whose first row `choice` maps the nearest one; its trail has the other rows."""
    last = choice if end == NO_CHOICE else end
    counting.ends[depth, END_REMAINING] = counting.remaining[counting.targets[last]]
    counting.ends[depth, END_ROW] = row
    counting.ends[depth, END_CHOICE] = last
    taken = counting.taken[choice]
    counting.trails[depth, taken >> 6] |= np.int64(1) << (taken & 63)


@inlined
def go_back(depth: int, choice: int, counting: StartCounting) -> None:
    """Compare the nearest run from the next row on with that from `depth` on."""
    after = depth + 1
    end, row = counting.ends[after, END_CHOICE], counting.ends[after, END_ROW]
    if is_nearer(depth, counting.ends[after, END_REMAINING], row, counting):
        for word in range(counting.trails.shape[1]):
            counting.trails[depth, word] = counting.trails[after, word]
        take(depth, choice, end, row, counting)


@inlined
def recall(depth: int, choice: int, bit: int, row: int, counting: StartCounting) -> None:
    """As `go_back`, where the nearest run from the state and row on is remembered."""
    found = counting.known[row & (counting.known.shape[0] - 1), bit]
    end = found[KNOWN_CHOICE]
    last = choice if end == NO_CHOICE else end
    remaining = counting.remaining[counting.targets[last]]
    if is_nearer(depth, remaining, found[KNOWN_ROW], counting):
        for word in range(counting.trails.shape[1]):
            counting.trails[depth, word] = found[KNOWN_TRAIL + word]
        take(depth, choice, end, found[KNOWN_ROW], counting)


@inlined
def remember_nearest(depth: int, bit: int, row: int, counting: StartCounting) -> None:
    """Remember the nearest run beside the failure of a state and row."""
    found = counting.known[row & (counting.known.shape[0] - 1), bit]
    found[KNOWN_CHOICE] = counting.ends[depth, END_CHOICE]
    found[KNOWN_ROW] = counting.ends[depth, END_ROW]
    for word in range(counting.trails.shape[1]):
        found[KNOWN_TRAIL + word] = counting.trails[depth, word]


@inner
def count_start(
    bound: int,
    partition: Partition,
    rules: Rules,
    rows: RowArrays,
    progress: IntArray,
    counting: StartCounting,
) -> None:
    """Count where the nearest run of a starting row ended, and what ended it."""
    row, choice = counting.ends[0, END_ROW], counting.ends[0, END_CHOICE]
    state = np.int64(0) if choice == NO_CHOICE else counting.targets[choice]
    run = NearestRun(choice, state, row, row + 1, np.int64(0))
    upper, otherwise = partition.upper, counted.ANCHORED
    reason = count_nearest(run, otherwise, upper, bound, rules, rows, progress, counting)
    counting.ended[choice + 1, reason] += 1


@kernel
def search(
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    registers: RunArray,
    counting: StartCounting | None,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status."""
    return search_partitions(search_start, rules, rows, work, output, registers, counting)


@spliced
def search_start(
    partition: Partition,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    output: FoundArrays,
    registers: RunArray,
    counting: StartCounting | None,
) -> int:
    """Write out the preferred match at progress[START], and go on to the next starting row."""
    bound = begin_start(rows, partition, work.progress)
    length = find_match(bound, partition, rules, rows, work, registers, counting)
    if counting is not None:
        if length == NO_MATCH:
            count_start(bound, partition, rules, rows, work.progress, counting)
    if length < 0:
        return go_on_without(length, work.progress)
    status = write_path(length, rules, work, output)
    if counting is not None:
        if status == layout.DONE:
            count_match(length, work.path, counting)
    return status


@spliced
def find_match(
    bound: int,
    partition: Partition,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    registers: RunArray,
    counting: StartCounting | None,
) -> int:
    """Length of the preferred match at progress[START], NO_MATCH, or NO_MATCH - status.

    One loop over choices, forward and back, so that all of it stays in machine registers. Where two
    `if` stand in place of one `and`, the first leaves out what is not counted.
    """
    first, program, satisfied = rules.first, rules.program, rows.satisfied
    path, memo, progress = work.path, work.memo, work.progress
    start = progress[layout.START]
    if start >= partition.edge:
        return UNDECIDED
    row = start
    state = np.int64(0)
    choice = first[0]
    tried_further = False  # whether the search has been beyond this pair of state and row
    if counting is not None:
        begin(0, state, row, counting)
        progress[layout.STAMP] += 1
        progress[layout.RUNS] = 0
    while True:
        last = first[state + 1]
        while choice < last:
            guard = program[choice, layout.GUARD]
            if guard == 0 or is_anchored(guard, row, partition.lower, partition.upper):
                if program[choice, layout.TARGET] == layout.ACCEPT:
                    return int(row - start)
                mask = program[choice, layout.MASK]
                if row < bound and satisfied[row, program[choice, layout.WORD]] & mask == mask:
                    bit = program[choice, layout.MEMO]
                    failed = bit >= 0 and has_failed(memo, progress, bit, row + 1)
                    asked = not failed
                    if counting is not None:
                        asked = True  # what has failed may come nearer from here
                    if asked:
                        answer = np.int64(HOLDS)
                        if registers is not None:
                            answer = np.int64(
                                ask(choice, row, failed, partition, rules, rows, work, counting)
                            )
                            if answer < 0:
                                return int(answer)
                        if answer == HOLDS and not failed:
                            break
                        if counting is not None:
                            if answer == HOLDS:
                                recall(row - start, choice, bit, row + 1, counting)
            choice += 1
        if choice < last:
            if row - start == path.shape[0]:
                return NO_MATCH - layout.PATH_FULL
            path[row - start] = choice
            row += 1
            if row == partition.edge:
                return UNDECIDED
            state = program[choice, layout.TARGET]
            choice = first[state]
            tried_further = False
            if counting is not None:
                begin(row - start, state, row, counting)
            continue
        if row == start:
            return NO_MATCH
        row -= 1
        choice = path[row - start]
        bit = program[choice, layout.MEMO]
        if tried_further and bit >= 0:
            if not remember_failure(memo, progress, bit, row + 1):
                progress[layout.NEEDED] = row + 2 - start
                return NO_ROOM
            if counting is not None:
                remember_nearest(row + 1 - start, bit, row + 1, counting)
        if counting is not None:
            go_back(row - start, choice, counting)
        state = program[choice, layout.SOURCE]
        choice += 1
        tried_further = True


@spliced
def ask(
    choice: int,
    row: int,
    failed: bool,
    partition: Partition,
    rules: Rules,
    rows: RowArrays,
    work: Work,
    counting: StartCounting | None,
) -> int:
    """Whether the condition on the run lets a choice map a row.

    HOLDS, HOLDS_NOT, or NO_MATCH - status. HOLDS_NOT, too, of a run with the same future as one
    before it. failed: whether it is known that no match follows: then an error is none.
    """
    progress, program = work.progress, rules.program
    depth = row - progress[layout.START]
    if depth == work.path.shape[0]:
        return NO_MATCH - layout.PATH_FULL
    if takes_too_many_steps(progress):
        return NO_MATCH - layout.TOO_MANY_STEPS
    on_run = on_run_of(partition, rules, rows, work)
    answer = map_row(choice, RegisterPlaces(depth, depth + 1), row, program, on_run)
    if answer != HOLDS and answer != HOLDS_NOT and not failed:
        answer = NO_MATCH - note_failure(answer, choice, row, progress)
    if counting is not None:
        if answer == HOLDS and program[choice, layout.MEMO] < 0:
            answer = note_state(choice, row, depth, rules, work)
            if answer < 0:
                answer = NO_MATCH + answer
    return int(answer)
