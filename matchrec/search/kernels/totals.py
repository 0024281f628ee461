"""The kernel of `search.totals`: aggregates over all matches, carried along the runs.

The kernel gives each row to all runs by `step_runs`, as the kernel of `all_matches` does, but it
builds no match. Each run carries totals instead, as `carried_totals` explains. Totals that were
added to a group cannot be taken back. So a row is searched only if the arrays have room for all
runs and nodes that it can create.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.jit.decorators import kernel, spliced
from matchrec.search.kernel_search import Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.all_matches import AllMatchesWork, begin_partition, step_runs
from matchrec.search.kernels.carried_totals import PATH_COUNT
from matchrec.search.kernels.layout import (
    NegationArrays,
    RowArrays,
    Rules,
    RunConditions,
    SelectionRules,
    TotalArrays,
)
from matchrec.search.kernels.search_loop import go_to_next_partition, seek_start
from matchrec.search.live_runs import LiveRuns, count_node_columns, list_row_extremes
from matchrec.search.matches import DOUBLE_WORD, Matches, make_one_row_matches
from matchrec.search.runs_search import RunsSearch


# Not a `stoppable_kernel`: sums are computed in words that wrap, and only words of machine code do.
@kernel
def search(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays,
) -> int:
    """Search from `progress` on; return a status. `search_loop` explains this loop."""
    progress = work.progress
    while progress.partition < rows.starts.shape[0] - 1:
        status = np.int64(layout.DONE)
        while status == layout.DONE and seek_start(rows.can_begin, progress):
            status = np.int64(
                search_from_start(rules, selection_rules, rows, work, conditions, negation, totals)
            )
        if status != layout.DONE and status != layout.MORE_ROWS:
            return int(status)
        go_to_next_partition(rows.starts, rows.frontier, progress)
        begin_partition(work)
    return layout.DONE


@spliced
def search_from_start(
    rules: Rules,
    selection_rules: SelectionRules,
    rows: RowArrays,
    work: AllMatchesWork,
    conditions: RunConditions,
    negation: NegationArrays | None,
    totals: TotalArrays,
) -> int:
    """Give the row progress.start to all live runs and to new runs, see `step_runs`.

    Returns:
        DONE, or another status. After another status, no group has been changed.
    """
    progress = work.progress
    nodes = work.nodes
    row = progress.start
    if progress.run_count == 0:
        work.counters[layout.NODES_PRUNED] += progress.node_count
        progress.node_count = 0
    elif 2 * progress.node_count > nodes.shape[0]:
        return layout.NODES_FULL
    most_runs = totals.max_branches * (progress.run_count + selection_rules.start_count)
    if most_runs > work.runs.shape[1]:
        return layout.RUNS_FULL
    if progress.node_count + 2 * most_runs > nodes.shape[0]:
        return layout.NODES_FULL
    node_count_before = progress.node_count
    progress.stamp += 1
    status = step_runs(row, rules, selection_rules, rows, work, conditions, negation, totals)
    if status != layout.DONE:
        progress.node_count = node_count_before
        return status
    progress.bank = 1 - progress.bank
    progress.run_count = progress.next_run_count
    progress.start = row + 1
    return layout.DONE


class TotalsSearch(RunsSearch):
    """A search of all runs at once, for aggregates over all matches. No match is written out."""

    kernel = search

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel."""
        return *super().build_arguments(), self.arrays.totals

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of `RunsSearch`, with totals in each node."""
        size = self.sizes[layout.NODES_FULL], count_node_columns(self.task)
        return super().shapes | {"nodes": (size, np.int64)}

    def prune_if_enough(self) -> bool:
        """Prune the nodes, and return whether the next row then surely has room for its nodes.

        Nodes are pruned even in a small buffer, because no written match needs them.
        """
        self.prune()
        node_count = int(self.progress.node_count)
        run_count = int(self.progress.run_count)
        assert self.arrays.totals is not None
        assert self.selection_rules is not None
        new_node_count = (
            2 * self.arrays.totals.max_branches * (run_count + self.selection_rules.start_count)
        )
        return 2 * (node_count + new_node_count) <= self.sizes[layout.NODES_FULL]

    def restore(self, live_runs: LiveRuns) -> None:
        """Go on with live runs and their nodes.

        Extremes are compared by numbers, which can be ranks among the rows that are present. More
        rows change the ranks, so each extreme in a node gets the number that its row has now.
        """
        totals = self.arrays.totals
        nodes = live_runs.nodes.copy()
        assert totals is not None
        for extreme in list_row_extremes(self.task):
            has_value = extreme.has_value(nodes)
            rows = nodes[has_value, extreme.row]
            nodes[has_value, extreme.value] = totals.values[extreme.column, rows]
        super().restore(replace(live_runs, nodes=nodes))

    def find_matches(self) -> Iterator[Matches]:
        """Yield the groups that have a match, each as a match of one row.

        Raises:
            RunFailure: the search has failed because of the rows.
        """
        self.run_to_end()
        totals = self.arrays.totals
        assert totals is not None
        group = np.flatnonzero(totals.groups[:, PATH_COUNT + DOUBLE_WORD])
        starts = self.arrays.rows.starts
        if totals.grouping == layout.BY_PARTITION:
            partition = group
            row = starts[group]
        else:
            partition = np.searchsorted(starts, group, side="right") - 1
            row = group
        groups = make_one_row_matches(partition, row, np.zeros(len(group), np.int16))
        yield replace(groups, totals=totals.groups[group])
