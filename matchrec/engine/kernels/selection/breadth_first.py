"""All runs at once, row by row, where rows may be skipped or all matches are asked for.

Each row goes to every run: for each choice that the row satisfies a run goes on with it, and where
the row may be skipped the run waits. Runs stand in the order of depth-first search: earlier starts
first, a row taken before the same row skipped. Runs of equal computation state merge. A step either
completes its row or leaves the runs before it as they are, so that it can be done again with more
room.

Cost: rows x runs, plus the rows of the matches. Without skip till any match there are polynomially
many runs, with it exponentially many unless they merge.
Source: SASE+, "Basic algorithm", "Merging equivalent runs".
"""

from matchrec.engine.kernels.layout import (
    ACCEPT,
    BEST_NODE,
    BEST_START,
    BLOCKS,
    CHOICE,
    CONDITION_FAILED,
    DONE,
    GUARD,
    MAPPED,
    MASK,
    MATCHES,
    NODES,
    NODES_FULL,
    PARTITION,
    ROW,
    RUNS,
    RUNS_FULL,
    STAMP,
    START,
    TARGET,
    WORD,
    ChoiceArray,
    RunArray,
)
from matchrec.engine.kernels.mapping import map_row
from matchrec.engine.kernels.selection.buffer import add_node, compact
from matchrec.engine.kernels.selection.layout import (
    BANK,
    BEST_LENGTH,
    BEST_ROWS,
    COUNT,
    FORKS,
    JOIN,
    MATCHES_FOUND,
    MERGES,
    MOST_ALIVE,
    READS,
    RUN_NODE,
    RUN_START,
    RUN_STATE,
    RUNS_CREATED,
    STRICT,
    TILL_ANY,
)
from matchrec.engine.kernels.selection.matches import closes, write_match
from matchrec.engine.kernels.selection.merging import NONE, find_twin
from matchrec.engine.kernels.selection.unwinding import unwind_matches
from matchrec.engine.kernels.starts import is_anchored
from matchrec.engine.partitions import BoolArray, IntArray
from matchrec.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.evaluate.jit import inner, kernel
from matchrec.nfa.closure import GUARD_END

NO_ACCEPTANCE = -1  # in `accepts`


@kernel
def search(
    first: IntArray,
    program: IntArray,
    accepts: IntArray,
    goes_on: IntArray,
    starts: IntArray,
    satisfied: IntArray,
    window_end: RunArray,
    selection: int,
    output: int,
    merge_runs: bool,
    runs: IntArray,
    nodes: IntArray,
    moved: IntArray,
    path: IntArray,
    ways: IntArray,
    found: IntArray,
    taken: ChoiceArray,
    taken_rows: IntArray,
    progress: IntArray,
    counters: RunArray,
    absent: IntArray,
    members: BoolArray,
    following: IntArray,
    closing: IntArray,
    table: IntArray,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
    live_first: RunArray,
    live: RunArray,
) -> int:
    """Search from `progress` on until all is done or something is full; return the status.

    accepts: int64[s], the guard under which a run that arrives in a state is a match, or
    NO_ACCEPTANCE. goes_on: int64[s], whether it may map further rows.
    """
    while progress[PARTITION] < starts.shape[0] - 1:
        lower = starts[progress[PARTITION]]
        upper = starts[progress[PARTITION] + 1]
        while progress[START] < upper:
            row = progress[START]
            if progress[COUNT] == 0:
                progress[NODES] = 0
            elif 2 * progress[NODES] > nodes.shape[0]:
                compact(nodes, moved, runs, progress[BANK], row, window_end, progress, counters)
                if 4 * progress[NODES] > nodes.shape[0]:
                    return NODES_FULL
            kept_nodes, kept_matches = progress[NODES], progress[MATCHES]
            kept_mapped = progress[MAPPED]
            if counters is not None:
                counters[1, :] = counters[0, :]
            status = step(
                row,
                lower,
                upper,
                first,
                program,
                accepts,
                goes_on,
                satisfied,
                window_end,
                selection,
                output,
                merge_runs,
                runs,
                nodes,
                path,
                ways,
                found,
                taken,
                taken_rows,
                progress,
                counters,
                absent,
                members,
                following,
                closing,
                table,
                instructions,
                registers,
                columns,
                valid,
                stack,
                live_first,
                live,
            )
            if status == DONE and progress[BEST_START] >= 0:
                status = write_match(
                    path,
                    BEST_ROWS,
                    0,
                    progress[BEST_LENGTH],
                    found,
                    taken,
                    taken_rows,
                    progress,
                )
                progress[BEST_START] = -1
                progress[RUNS] = 0  # the search goes on behind the match
            if status != DONE:
                progress[NODES] = kept_nodes
                progress[MATCHES] = kept_matches
                progress[MAPPED] = kept_mapped
                progress[BEST_START] = -1
                if counters is not None:
                    counters[0, :] = counters[1, :]
                return status
            progress[BANK] = 1 - progress[BANK]
            progress[COUNT] = progress[RUNS]
            progress[START] = row + 1
            if counters is not None:
                counters[0, MATCHES_FOUND] += progress[MATCHES] - kept_matches
                counters[0, MOST_ALIVE] = max(counters[0, MOST_ALIVE], progress[COUNT])
        progress[PARTITION] += 1
        progress[COUNT] = 0
    return DONE


@inner
def step(
    row: int,
    lower: int,
    upper: int,
    first: IntArray,
    program: IntArray,
    accepts: IntArray,
    goes_on: IntArray,
    satisfied: IntArray,
    window_end: RunArray,
    selection: int,
    output: int,
    merge_runs: bool,
    runs: IntArray,
    nodes: IntArray,
    path: IntArray,
    ways: IntArray,
    found: IntArray,
    taken: ChoiceArray,
    taken_rows: IntArray,
    progress: IntArray,
    counters: RunArray,
    absent: IntArray,
    members: BoolArray,
    following: IntArray,
    closing: IntArray,
    table: IntArray,
    instructions: RunArray,
    registers: RunArray,
    columns: RunArray,
    valid: RunArray,
    stack: RunArray,
    live_first: RunArray,
    live: RunArray,
) -> int:
    """Give a row to all runs and to a new one; DONE or a status."""
    bank, size = progress[BANK], runs.shape[1]
    count = progress[COUNT]
    progress[RUNS] = 0
    progress[STAMP] += 1
    for run in range(count + 1):
        state, node, start, place = 0, -1, row, 2 * size
        if run < count:
            state, node = runs[bank, run, RUN_STATE], runs[bank, run, RUN_NODE]
            start, place = runs[bank, run, RUN_START], bank * size + run
        if window_end is not None and window_end[start] <= row:
            continue
        blocked = False
        ways_on = 0
        if counters is not None:
            counters[0, READS] += 1
        for choice in range(first[state], first[state + 1]):
            target = program[choice, TARGET]
            mask = program[choice, MASK]
            if target == ACCEPT or satisfied[row, program[choice, WORD]] & mask != mask:
                continue
            guard = program[choice, GUARD]
            if guard != 0 and not is_anchored(guard, row, lower, upper):
                continue
            if progress[RUNS] == size:
                return RUNS_FULL
            after = (1 - bank) * size + progress[RUNS]
            if registers is not None:
                answer = map_row(
                    program,
                    choice,
                    place,
                    after,
                    row,
                    lower,
                    upper,
                    instructions,
                    registers,
                    columns,
                    valid,
                    stack,
                )
                if answer == HOLDS_NOT:
                    continue
                if answer != HOLDS:
                    progress[ROW] = row
                    progress[CHOICE] = choice
                    return CONDITION_FAILED + answer
            blocked = blocked or program[choice, BLOCKS] != 0
            ways_on += 1
            chosen = add_node(nodes, progress, choice, row, node, -1, start, counters)
            if chosen < 0:
                return NODES_FULL
            guard = accepts[target]
            if guard == 0 or (guard == GUARD_END and row + 1 == upper):
                answer = closes(
                    row,
                    after,
                    satisfied,
                    closing,
                    lower,
                    upper,
                    instructions,
                    registers,
                    columns,
                    valid,
                    stack,
                )
                status = -answer if answer != HOLDS_NOT else DONE
                if answer == HOLDS:
                    status = unwind_matches(
                        chosen,
                        row,
                        after,
                        output,
                        nodes,
                        path,
                        ways,
                        found,
                        taken,
                        taken_rows,
                        progress,
                        program,
                        window_end,
                        absent,
                        members,
                        following,
                        lower,
                        upper,
                        instructions,
                        registers,
                        columns,
                        valid,
                        stack,
                    )
                if status < 0:
                    progress[ROW] = row
                    progress[CHOICE] = choice
                    return CONDITION_FAILED - status
                if status != DONE:
                    return status
            if goes_on[target] and not go_on(
                target,
                chosen,
                start,
                merge_runs,
                runs,
                1 - bank,
                nodes,
                progress,
                counters,
                table,
                registers,
                live_first,
                live,
            ):
                return NODES_FULL
        if counters is not None:
            counters[0, FORKS] += max(0, ways_on - 1)
            counters[0, RUNS_CREATED] += ways_on if run == count else max(0, ways_on - 1)
        waits = run < count and selection != STRICT and (selection == TILL_ANY or not blocked)
        if waits:
            if counters is not None and ways_on > 0:
                counters[0, FORKS] += 1
                counters[0, RUNS_CREATED] += 1
            if progress[RUNS] == size:
                return RUNS_FULL
            after = (1 - bank) * size + progress[RUNS]
            if registers is not None:
                for register in range(registers.shape[1]):
                    registers[after, register] = registers[place, register]
            if not go_on(
                state,
                node,
                start,
                merge_runs,
                runs,
                1 - bank,
                nodes,
                progress,
                counters,
                table,
                registers,
                live_first,
                live,
            ):
                return NODES_FULL
    return DONE


@inner
def go_on(
    state: int,
    node: int,
    start: int,
    merge_runs: bool,
    runs: IntArray,
    bank: int,
    nodes: IntArray,
    progress: IntArray,
    counters: RunArray,
    table: IntArray,
    registers: RunArray,
    live_first: RunArray,
    live: RunArray,
) -> bool:
    """Add a run, whose registers stand in their place, or merge it; false if nodes are full."""
    run = progress[RUNS]
    runs[bank, run, RUN_STATE] = state
    runs[bank, run, RUN_NODE] = node
    runs[bank, run, RUN_START] = start
    if merge_runs:
        twin = find_twin(
            runs, bank, run, False, registers, live_first, live, table, progress[STAMP]
        )
        if twin != NONE:
            other = runs[bank, twin, RUN_NODE]
            latest = max(runs[bank, twin, RUN_START], start)
            joined = add_node(nodes, progress, JOIN, 0, other, node, latest, counters)
            if joined < 0:
                return False
            runs[bank, twin, RUN_NODE] = joined
            runs[bank, twin, RUN_START] = latest
            if counters is not None:
                counters[0, MERGES] += 1
            return True
    progress[RUNS] = run + 1
    return True
