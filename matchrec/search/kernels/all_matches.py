"""The kernel of `search.all_matches`: all runs at once, row by row, for all matches.

`search.runs_search` calls the kernel, also for streams. The kernel of `kernels.totals` gives rows
to runs by the same functions.

1. Each row is given to every live run and to a new run (`step_runs`). For each choice whose
   conditions the row satisfies, the run goes on with the row. If the row can be skipped, the run
   also waits (`step_run`).
2. If a run accepts, its last node leads to one match, or to several matches if runs have merged.
   Each match is unwound to `path`, tested and written out (`accept_run`). For totals, the totals
   that the run carries are added to its group instead.
3. A run that goes on is added to the runs after the row, or merges with an equal run (`add_run`).

    SEQ(A a, B b) with skip till any match, rows A B B

    row 0 A     run 1 (A) begins
    row 1 B     run 1 goes on with B: match A0 B1; it also skips the row and waits
    row 2 B     run 1 goes on with B: match A0 B2; and so on

Runs are in the order of depth-first search: runs with earlier starting rows come first, and a run
that maps a row comes before the run that skips it. Equal runs stay equal, so it does no harm to
merge them late: runs are compared only every few rows, and when they have become many.

A call completes a row or leaves the runs before the row as they are. So if an array was full, the
row is searched again with a larger array.

If a skip strategy leaves out matches, the runs of one starting row are followed alone: see
`match_order`. Then rows are read once for each starting row, except for the starting rows that the
strategy passes over.

Cost: rows x runs, plus the rows of the matches. Runs multiply with the ways through the pattern,
and with skip till any match also with the choice to map a row or to skip it. Equal runs merge.

Source: SASE+, "Basic algorithm", "The shared versioned match buffer" (retrieval) and "Merging
equivalent runs".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matchrec.automaton.program import ANCHOR_END
from matchrec.automaton.run_endings import A_MATCH, NOTHING
from matchrec.conditions.evaluate.instructions import HOLDS, HOLDS_NOT
from matchrec.jit.decorators import spliced, stoppable_kernel
from matchrec.search.kernels import layout
from matchrec.search.kernels.buffer import add_node, is_expired, put_run
from matchrec.search.kernels.carried_totals import add_totals, carry_totals, join_totals
from matchrec.search.kernels.finished_matches import (
    SelectionProgress,
    keep_better_match,
    satisfies_closing_condition,
    satisfies_negations,
    write_match,
    write_path_row,
)
from matchrec.search.kernels.layout import (
    BufferState,
    NegationArrays,
    OutputArrays,
    RowArrays,
    Rules,
    RunConditions,
    SelectionRules,
    TotalArrays,
)
from matchrec.search.kernels.mapping import (
    can_map_row,
    copy_registers,
    find_slot,
    make_failure_status,
    note_failure,
)
from matchrec.search.kernels.match_order import find_first_next_start
from matchrec.search.kernels.memo import NOT_FOUND, find_or_add_state, get_live_registers
from matchrec.search.kernels.search_loop import go_to_next_partition, seek_start
from matchrec.search.partitions import IntArray

# Equal runs merge after every this many rows, a power of two.
MERGE_INTERVAL = 8


class AllMatchesProgress(SelectionProgress, BufferState):
    """The progress of a search for all matches, of all runs at once.

    There is a best match only if matches are not allowed to overlap: the best of the matches that
    are complete at the current row.
    """

    # The number of runs after equal runs were merged last.
    merged_run_count: int
    # 1 if runs are kept at the end of the rows, because more rows will arrive: see `incremental`.
    keeps_runs: int
    # The runs of one starting row are followed alone until this many rows were read, counting each
    # run that reads a row. 0 if all runs are followed at once.
    solo_read_limit: int
    # The starting row whose runs are followed alone.
    solo_start: int


class AllMatchesWork(NamedTuple):
    """The arrays and records in which the search works."""

    progress: AllMatchesProgress
    output: OutputArrays
    # int64[2, k, 3], room for k runs before a row and k runs after it: see `layout`.
    runs: IntArray
    # int64[n, 5], the shared buffer: see `layout`. For totals, nodes have more columns: see
    # `carried_totals`.
    nodes: IntArray
    # int64[t, 4 + r], a hash table of computation states, if a run has r registers: see `memo`.
    table: IntArray
    # int64[5, d], the match that is written out, and the best one: see `layout`.
    path: IntArray
    # int64[q, 2], a stack of the sides of joins that are still to be unwound: the node of the side,
    # and the number of rows of the match after that node.
    pending_sides: IntArray
    # int64[COUNTER_COUNT], the counters: see `layout`. Work that is repeated with more room counts
    # once.
    counters: IntArray
    # int64[n], for each starting row the last row at which a run from it is live; int64[0] if this
    # is not needed.
    last_live_rows: IntArray


@stoppable_kernel
def search(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(
                search_from_start(rules, selection_rules, rows, work, conditions, negation)
            )
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def begin_partition(work: AllMatchesWork) -> None:
    """Drop the runs of the previous partition, unless more of its rows will arrive.

    Before partition 0 no runs are dropped: they are the runs with which a resumed search goes on.
    """
    progress = work.progress
    if progress.partition > 0 and progress.keeps_runs == 0:
        progress.run_count = 0


@spliced
def search_from_start(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Give the row progress.start to all live runs and to new runs, see `step_runs`.

    Returns:
        DONE, or another status. After another status, the runs, the nodes and the matches are as
        they were before the call.
    """
    progress = work.progress
    counters = work.counters
    nodes = work.nodes
    row = progress.start
    if progress.match_number >= progress.match_limit:
        return layout.MORE_ROWS  # with this status, `search` goes on with the next partition
    if progress.run_count == 0 and rules.output != layout.GRAPH:
        progress.solo_start = row
        counters[layout.NODES_PRUNED] += progress.node_count
        progress.node_count = 0
    elif 2 * progress.node_count > nodes.shape[0]:
        return layout.NODES_FULL
    node_count_before = progress.node_count
    match_number_before = progress.match_number
    match_count_before = progress.match_count
    mapped_count_before = progress.mapped_count
    progress.stamp += 1
    progress.completing_row = row
    status = step_runs(row, rules, selection_rules, rows, work, conditions, negation, None)
    progress.best_start = -1
    if status != layout.DONE:
        progress.node_count = node_count_before
        progress.match_number = match_number_before
        progress.match_count = match_count_before
        progress.mapped_count = mapped_count_before
        return status
    progress.bank = 1 - progress.bank
    progress.run_count = progress.next_run_count
    progress.start = row + 1
    if progress.solo_read_limit != 0:
        set_next_solo_row(progress.start_limit, match_count_before, rules, work)
    return layout.DONE


@spliced
def set_next_solo_row(end: int, matches_before: int, rules: Rules, work: AllMatchesWork) -> None:
    """Set the next row while the runs of one starting row are followed alone.

    1. If a match of this starting row has a next start after its own start, the search goes on
       there, because no more runs of the starting row are needed.
    2. Otherwise, while runs are live, it goes on with the next row.
    3. Otherwise it goes back to the row after the starting row. If runs have read rows too often,
       all runs are followed at once from there on, so that runs of several starting rows can merge.

    Args:
        end: the row before which runs get rows.
        matches_before: the number of matches in the output before the row that was searched last.
        rules: the part of the query that every search needs.
        work: the arrays and records of the search.
    """
    progress = work.progress
    start = work.progress.solo_start
    next_row = find_first_next_start(
        matches_before, rules.skip, rules.program, progress, work.output
    )
    if next_row <= start:
        if progress.run_count > 0 and progress.start < end:
            return
        next_row = start + 1
        if work.counters[layout.READS] > progress.solo_read_limit:
            progress.solo_read_limit = 0
    progress.run_count = 0
    progress.start = next_row


class Run(NamedTuple):
    """A run before it gets a row: a live run or a new one."""

    state: int
    node: int  # the node of the row that it has mapped last; -1 for a new run
    start: int  # its starting row; the latest one of theirs if runs have merged
    slot: int  # the slot of its registers


@spliced
def get_run(index: int, row: int, work: AllMatchesWork) -> Run:
    """Return the live run with an index, or a new run at `row` if there are fewer live runs.

    The index `run_count` + s is for the new run that begins in state s.
    """
    count = work.progress.run_count
    run = Run(np.int64(index - count), np.int64(-1), np.int64(row), np.int64(0))
    if index < count:
        bank = work.progress.bank
        live = work.runs[bank, index]
        state = live[layout.RUN_STATE]
        node = live[layout.RUN_NODE]
        start = live[layout.RUN_START]
        run = Run(state, node, start, find_slot(index, bank))
    return run


@spliced
def step_runs(
    row: int,
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays | None,
) -> int:
    """Give a row to all live runs, and begin new runs with it; return DONE or a status.

    `row` can be the row after the last row of the partition. Then no run begins, and the row is
    only given to the runs that are output because the partition has ended.
    """
    progress = work.progress
    last_live_rows = work.last_live_rows
    window_end = rows.window_end
    ending_kinds = selection_rules.ending_kinds
    run_count = progress.run_count
    nodes_before = progress.node_count
    next_count = unmerged_count = read_count = fork_count = begun_count = np.int64(0)
    is_merging = is_merging_row(row, run_count, rules, progress, totals)
    can_begin_runs = row < progress.partition_end and (
        run_count == 0 or progress.solo_read_limit == 0
    )
    for index in range(run_count + selection_rules.start_count if can_begin_runs else run_count):
        run = get_run(index, row, work)
        is_live = index < run_count
        if is_live and last_live_rows.shape[0] > 0:
            last_live_rows[run.start] = row
        has_ended = window_end[run.start] <= row
        if has_ended and (not is_live or ending_kinds[run.state] == NOTHING):
            continue
        read_count += not has_ended
        step = step_run(
            run,
            row,
            has_ended,
            next_count,
            is_merging,
            rules,
            selection_rules,
            rows,
            work,
            conditions,
            negation,
            totals,
        )
        if step.status != layout.DONE:
            return int(step.status)
        next_count = step.next_count
        unmerged_count += step.unmerged_count
        fork_count += step.way_count - int(step.way_count > 0)  # all ways but the first are forks
        begun_count += int(step.way_count > 0 and index == run_count)
    counts = StepCounts(next_count, unmerged_count, read_count, fork_count, begun_count)
    return finish_step(counts, nodes_before, is_merging, work)


class RunStep(NamedTuple):
    """The result of giving a row to one run."""

    status: int  # DONE, or the status with which the step ended early
    next_count: int  # how many runs there are after the row so far
    unmerged_count: int  # how many runs follow from this run; those that merge count as well
    way_count: int  # in how many ways the run goes on, also if a run that follows ends at once


@spliced
def step_run(
    run: Run,
    row: int,
    has_ended: bool,
    next_count: int,
    is_merging: bool,
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays | None,
) -> RunStep:
    """Give a row to one run: write out its matches, and add the runs that follow from it.

    Args:
        run: the run before the row.
        row: the position of the row.
        has_ended: whether the window of the run ends before the row.
        next_count: how many runs there are after the row so far.
        is_merging: whether equal runs merge at the row.
        rules: the part of the query that every search needs.
        selection_rules: the part of the query for event selection.
        rows: the partitions.
        work: the arrays and records of the search.
        conditions: the conditions on the run.
        negation: the tests of a match as a whole; None if there are none.
        totals: the aggregates over all matches; None if matches are output.
    """
    progress = work.progress
    program = rules.program
    can_continue = selection_rules.can_continue
    ending_kind = selection_rules.ending_kinds[run.state]
    status = np.int64(layout.DONE)
    unmerged_count = way_count = np.int64(0)
    must_not_wait = np.int64(0)  # 1 once a choice keeps the run from skipping the row
    must_end = np.int64(0)  # 1 once the run can only be completed by the row
    end_of_choices = rules.first_choice[run.state + 1]
    choice = (end_of_choices if has_ended else rules.first_choice[run.state]) - 1
    # The last pass, with the index after the choices, is for a run that does not map the row: it
    # waits, or it is output because its window has ended.
    while choice < end_of_choices:
        choice += 1
        # 1. Is there room for the run that can follow?
        if next_count == work.runs.shape[1]:
            status = np.int64(layout.RUNS_FULL)
            break
        new_slot = find_slot(next_count, 1 - progress.bank)
        new_node = run.node
        # 2. Map the row, or wait. `target` is an effect, or the state of the next run; -1 for none.
        target = -1
        is_match = has_ended
        progress.match_kind = ending_kind if has_ended else A_MATCH
        if choice == end_of_choices and not has_ended and must_not_wait == 0 and run.node >= 0:
            target = selection_rules.states_after_skip[run.state]
            copy_registers(run.slot, new_slot, conditions.registers)
        elif choice < end_of_choices:
            target = program[choice, layout.TARGET]
            if target == layout.ACCEPT or (must_end and target >= 0 and can_continue[target]):
                continue
            answer = can_map_row(
                choice, run.slot, new_slot, row, program, rows.condition_bits, progress, conditions
            )
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                status = np.int64(note_failure(answer, choice, row, progress))
                break
            if target == layout.IGNORE_LATER_CHOICES:
                choice = end_of_choices - 1
                continue
            if target >= 0:
                must_not_wait |= program[choice, layout.BLOCKS]
                new_node = add_row_node(choice, row, run.node, run.start, work, totals)
                if new_node < 0:
                    status = np.int64(layout.NODES_FULL)
                    break
                is_match = is_accepting(target, row, selection_rules, progress)
            else:
                must_not_wait = np.int64(1)
                must_end |= target == layout.END_UNLESS_COMPLETED
                is_match = note_completion(target, ending_kind, progress)
        way_count += target >= 0
        # 3. Write out the matches with which the run ends here.
        if is_match:
            # An error names this row and choice, if a test of the match as a whole raises it.
            progress.row = row
            progress.choice = choice
            last_slot = run.slot if has_ended else new_slot
            last_row = row - has_ended
            status = np.int64(
                accept_run(
                    new_node, last_slot, last_row, rules, rows, work, conditions, negation, totals
                )
            )
            if status != layout.DONE:
                break
        # 4. Go on with the run that follows, if it can still become a match.
        if target == layout.END_RUN or target == layout.TIME_OUT:
            break
        if target >= 0 and (choice == end_of_choices or can_continue[target]):
            unmerged_count += 1
            next_count = add_run(
                target, new_node, run.start, is_merging, next_count, work, conditions, totals
            )
            if next_count < 0:
                status = np.int64(layout.NODES_FULL)
                break
    return RunStep(status, next_count, unmerged_count, way_count)


@spliced
def is_accepting(
    state: int, row: int, selection_rules: SelectionRules, progress: AllMatchesProgress
) -> bool:
    """Return whether a run that has mapped a row and entered a state is a match."""
    guard = selection_rules.accepting_guards[state]
    return bool(guard == 0 or (guard == ANCHOR_END and row + 1 == progress.partition_end))


@spliced
def note_completion(effect: int, ending_kind: int, progress: AllMatchesProgress) -> bool:
    """Note the kind of output of a run on which a row has an effect; return whether it is output.

    A run is output as a match, or as timed out. If the run times out, progress.match_kind becomes
    `ending_kind`; NOTHING means that it is not output.
    """
    if effect == layout.TIME_OUT:
        progress.match_kind = ending_kind
        return bool(ending_kind != NOTHING)
    return effect == layout.COMPLETE_RUN


class StepCounts(NamedTuple):
    """The counts of a step in which all runs got a row."""

    next_count: int  # how many runs there are after the row
    unmerged_count: int  # how many runs there would be if none had merged
    read_count: int  # how many runs have read the row
    fork_count: int  # how many runs were added because a run went on in several ways
    begun_count: int  # how many runs began with the row


@spliced
def finish_step(
    counts: StepCounts, nodes_before: int, is_merging: bool, work: AllMatchesWork
) -> int:
    """Write out the best match of a row, if any, and add the counts of the step to the counters.

    Args:
        counts: the counts of the step.
        nodes_before: how many nodes there were before the row.
        is_merging: whether equal runs have merged.
        work: the arrays and records of the search.

    Returns:
        DONE or OUTPUT_FULL.
    """
    progress = work.progress
    counters = work.counters
    next_count = counts.next_count
    if is_merging:
        progress.merged_run_count = next_count
    new_nodes = progress.node_count - nodes_before
    merged = counts.unmerged_count - next_count
    if progress.best_start >= 0:
        if write_path_row(layout.PATH_BEST_ROWS, progress.best_length, work) != layout.DONE:
            return layout.OUTPUT_FULL
        next_count = np.int64(0)  # the search goes on after the match
    progress.next_run_count = next_count
    counters[layout.READS] += counts.read_count
    if new_nodes + merged > 0:  # seldom, so most rows do not pay for the counters
        counters[layout.MERGES] += merged
        counters[layout.FORKS] += counts.fork_count
        counters[layout.RUNS_CREATED] += counts.fork_count + counts.begun_count
        counters[layout.NODES_CREATED] += new_nodes
        counters[layout.MAX_LIVE] = max(counters[layout.MAX_LIVE], next_count)
    return layout.DONE


@spliced
def is_merging_row(
    row: int, run_count: int, rules: Rules, progress: AllMatchesProgress, totals: TotalArrays | None
) -> bool:
    """Return whether runs are compared at a row, so that equal runs merge.

    `run_count` is the number of live runs before the row. Runs that carry totals merge at each row.
    """
    if totals is not None:
        return True
    is_due = row & (MERGE_INTERVAL - 1) == 0  # faster than the remainder
    have_grown = run_count >= 2 * progress.merged_run_count
    return bool(rules.merges_runs and (is_due or have_grown))


@spliced
def add_row_node(
    choice: int, row: int, node: int, start: int, work: AllMatchesWork, totals: TotalArrays | None
) -> int:
    """Add a node for a row that is mapped after `node`; return its number, -1 if there is no room.

    `start` is the starting row of the run. If there are totals, the new node carries them.
    """
    nodes = work.nodes
    new_node = add_node(choice, row, node, -1, start, nodes, work.progress)
    if totals is not None:
        if new_node >= 0:
            carry_totals(nodes[new_node], nodes[node], node < 0, row, totals)
    return int(new_node)


@spliced
def accept_run(
    node: int,
    slot: int,
    row: int,
    rules: Rules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays | None,
) -> int:
    """Write out the matches of a run that accepts, or add up its totals.

    Args:
        node: the node of the last row of the run.
        slot: the slot of its registers.
        row: its last row.
        rules: the part of the query that every search needs.
        rows: the partitions.
        work: the arrays and records of the search.
        conditions: the conditions on the run.
        negation: the tests of a match as a whole; None if there are none.
        totals: the aggregates over all matches; None if matches are output.

    Returns:
        DONE, also if the tests of a match as a whole reject the matches; or another status.
    """
    if negation is not None:
        answer = satisfies_closing_condition(row, slot, negation, rows.condition_bits, conditions)
        if answer == HOLDS_NOT:
            return layout.DONE
        if answer != HOLDS:
            return make_failure_status(answer)
    if totals is not None:
        return add_to_group(node, slot, row, rules, rows, work, conditions, negation, totals)
    return unwind_matches(node, row, slot, rules, rows, work, conditions, negation)


@spliced
def add_to_group(
    node: int,
    slot: int,
    row: int,
    rules: Rules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays,
) -> int:
    """Add the totals of a run that accepts to the totals of its group.

    The arguments are the same as for `accept_run`, and so is the result. A run with totals stands
    for several matches. All of them begin with the starting row in the node and end with `row`.
    """
    last_node = work.nodes[node]
    path = work.path
    partition_begin = work.progress.partition_begin
    start = last_node[layout.NODE_START]
    # Negations read only the first and the last row of these matches.
    path[layout.PATH_ROWS, 0] = start
    path[layout.PATH_ROWS, 1] = row
    if negation is not None:
        answer = satisfies_negations(
            0, 2, slot, negation, rules.program, rows.window_end, path, partition_begin, conditions
        )
        if answer != HOLDS:
            return layout.DONE if answer == HOLDS_NOT else make_failure_status(answer)
    group = row if totals.grouping == layout.BY_END else work.progress.partition
    if totals.grouping == layout.BY_START:
        group = start
    add_totals(totals.groups[group], last_node[layout.NODE_SIZE :], totals)
    return layout.DONE


@spliced
def add_run(
    state: int,
    node: int,
    start: int,
    is_merging: bool,
    index: int,
    work: AllMatchesWork,
    conditions: RunConditions,
    totals: TotalArrays | None,
) -> int:
    """Add a run to the runs after the row, or merge it with an equal run among them.

    Args:
        state: the state of the run.
        node: the node of the row that it has mapped last.
        start: its starting row; the latest one of theirs if runs have merged.
        is_merging: whether equal runs merge at the row.
        index: how many runs there are after the row so far. The run gets this index, and its
            registers are already in the slot for it.
        work: the arrays and records of the search.
        conditions: the conditions on the run.
        totals: the aggregates over all matches; None if matches are output.

    Returns:
        How many runs there are after the row now; -1 if there is no room for a node.
    """
    runs = work.runs
    nodes = work.nodes
    progress = work.progress
    bank = 1 - progress.bank
    put_run(runs[bank, index], state, node, start)
    twin = np.int64(NOT_FOUND)
    if is_merging:
        # Runs whose windows end at different rows can merge: see `memo`.
        key = np.int64(0)
        if totals is not None:
            key = totals.merge_keys[start]
        run_registers = conditions.registers[find_slot(index, bank)]
        live_registers = get_live_registers(state, conditions)
        twin = np.int64(
            find_or_add_state(
                state, key, run_registers, live_registers, index, progress.stamp, work.table
            )
        )
    if twin == NOT_FOUND:
        return index + 1
    other = runs[bank, twin]
    if start < other[layout.RUN_START]:
        start = other[layout.RUN_START]
    join = add_node(layout.JOIN, 0, other[layout.RUN_NODE], node, start, nodes, progress)
    if join < 0:
        return -1
    if totals is not None:
        join_totals(nodes[join], nodes[other[layout.RUN_NODE]], nodes[node], totals)
    other[layout.RUN_NODE] = join
    other[layout.RUN_START] = start
    return index


@spliced
def unwind_matches(
    node: int,
    row: int,
    slot: int,
    rules: Rules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
) -> int:
    """Write out each match that ends at `node`, or compare it with the best match so far.

    `row` is the last row of the matches, and `slot` has their registers. A match is written to
    `path` from its end: the last column has the last row. So the rows after a join are written
    once, for both sides of the join. A match whose window has ended is left out.

        rows A0 B1 C2 and A0 B2' joined before D3:    path  [..., A0, B1, C2, D3]
        then the other side is written before D3:     path  [..., A0, B2', D3]

    Returns:
        DONE or another status.
    """
    nodes = work.nodes
    path = work.path
    pending_sides = work.pending_sides
    window_end = rows.window_end
    progress = work.progress
    output_kind = rules.output
    output = work.output
    size = path.shape[1]
    pending_sides[0, 0] = node
    pending_sides[0, 1] = 0
    top = np.int64(1)
    while top > 0:
        top -= 1
        current = pending_sides[top, 0]
        length = pending_sides[top, 1]
        expired = is_expired(nodes, current, row, window_end)
        while current >= 0 and not expired:
            choice = nodes[current, layout.NODE_CHOICE]
            if choice != layout.JOIN:  # the node is a row
                if length == size:
                    return layout.PATH_FULL
                length += 1
                path[layout.PATH_ROWS, size - length] = nodes[current, layout.NODE_ROW]
                path[layout.PATH_CHOICES, size - length] = choice
                current = nodes[current, layout.NODE_BEFORE]
                continue
            # The node is a join: put its second side onto the stack, and go on with the first one.
            if top == pending_sides.shape[0]:
                return layout.PATH_FULL
            pending_sides[top, 0] = nodes[current, layout.NODE_OTHER]
            pending_sides[top, 1] = length
            top += 1
            current = nodes[current, layout.NODE_BEFORE]
            expired = is_expired(nodes, current, row, window_end)
        if expired:
            continue
        if negation is not None:
            answer = satisfies_negations(
                size - length,
                length,
                slot,
                negation,
                rules.program,
                window_end,
                path,
                progress.partition_begin,
                conditions,
            )
            if answer == HOLDS_NOT:
                continue
            if answer != HOLDS:
                return make_failure_status(answer)
        if output_kind == layout.GRAPH:
            nodes[node, layout.NODE_OTHER] = layout.COMPLETES
            continue
        if output_kind == layout.NON_OVERLAPPING:
            keep_better_match(size - length, length, path, progress)
            continue
        status = write_match(layout.PATH_ROWS, size - length, length, path, progress, output)
        if status != layout.DONE:
            return status
    return layout.DONE
