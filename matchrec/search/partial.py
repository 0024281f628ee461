"""Find the runs that are output in addition to the matches: SHOW TIMEOUT AND UNFINISHED MATCHES.

A run that is not a match is *timed out* if it was live when its window ended, and *unfinished* if
it was live when its partition ended before its window did.

1. Any strategy finds the matches, and `add_partial_runs` passes them on.
2. `find_starts_without_match` finds the starting rows that the search came to and that begin no
   match.
3. `PartialSearch` finds, for each of these, the most preferred run that is live where its window or
   its partition ends.

    PATTERN (A B+ C), SKIP PAST LAST ROW, each window has 3 rows

    row         0    1    2    3    4    5    6    7    8
                A    B    C    A    B    B    B    A    B
    match       0 .. 2    so rows 1 and 2 are not starting rows
    timed out             3 .. 5    its window ends before row 6
    unfinished                                    7 .. 8    the partition ends first
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from matchrec.automaton.facts import mark_live_states
from matchrec.automaton.run_endings import A_MATCH, NOTHING, TIMED_OUT, UNFINISHED
from matchrec.plan.clauses import MatchOutput
from matchrec.search.kernel_input import prepare_input
from matchrec.search.kernel_search import Shapes
from matchrec.search.kernels import layout
from matchrec.search.kernels.layout import RunStarts
from matchrec.search.kernels.skipping import SkippingSearch, search_live_runs
from matchrec.search.matches import Matches, find_next_starts
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.task import Capacity, Task


def add_partial_runs(
    chunks: Iterator[Matches], task: Task, partitions: Partitions, capacity: Capacity
) -> Iterator[Matches]:
    """Yield the matches of a task in chunks, as they are found, then the other runs, numbered -1.

    Args:
        chunks: the matches of the task, which the caller has begun to search.
        task: a task that outputs runs.
        partitions: the rows that are searched.
        capacity: how much a chunk can hold.

    Raises:
        RunFailure: a search has failed because of the rows.
    """
    match_starts = [np.zeros(0, np.int64)]
    next_rows = [np.zeros(0, np.int64)]
    for matches in chunks:
        partition_end = partitions.starts[matches.partition + 1]
        next_row = find_next_starts(task.after_match, task.members, matches)
        match_starts.append(matches.start)
        next_rows.append(np.minimum(next_row, partition_end))
        yield replace(matches, kind=np.full(matches.count, A_MATCH))
    starts = find_starts_without_match(
        task, partitions, np.concatenate(match_starts), np.concatenate(next_rows)
    )
    for runs in PartialSearch(task, partitions, capacity, starts).find_matches():
        yield replace(runs, number=np.full(runs.count, -1))


def find_starts_without_match(
    task: Task, partitions: Partitions, match_starts: IntArray, next_rows: IntArray
) -> RunStarts:
    """Return the starting rows to which a search comes and that begin no match.

    Args:
        task: a task that outputs runs.
        partitions: the rows that are searched.
        match_starts: int64[m], the starting row of each match.
        next_rows: int64[m], the row from which the search goes on after each match. No run begins
            between the starting row and this row.
    """
    partial = task.partial
    assert partial is not None
    starts = partitions.starts
    row_count = partitions.row_count
    # For each row, how many matches begin with it.
    begun_matches = np.bincount(match_starts, minlength=row_count + 1)
    # For each row, after how many matches the search goes on with it.
    ended_matches = np.bincount(next_rows, minlength=row_count + 1)
    # A row is passed over if the search has not gone on yet after a match that began up to it.
    is_passed_over = np.cumsum(begun_matches - ended_matches)[:-1] != 0
    matches_before = np.cumsum(begun_matches) - begun_matches

    sizes = np.diff(starts)
    partition_begin = np.repeat(starts[:-1], sizes)
    partition_end = np.repeat(starts[1:], sizes)
    end = partition_end if partitions.window_end is None else partitions.window_end
    is_unfinished = partial.shows_unfinished & (end == partition_end)
    is_in_own_window = end > np.arange(row_count)  # not if its first ORDER BY key is NULL
    is_wanted = is_unfinished | partial.shows_timed_out
    is_output = ~is_passed_over & is_in_own_window & is_wanted
    kind_if_output = np.where(is_unfinished, UNFINISHED, TIMED_OUT)
    ending_kind = np.where(is_output, kind_if_output, NOTHING)
    return RunStarts(
        ending_kind=ending_kind,
        match_number=matches_before[:-1] - matches_before[partition_begin],
        last_unfinished_partition=np.full(1, -1, np.int64),
    )


class PartialSearch(SkippingSearch):
    """A search of one run at a time for runs that are live where their windows end.

    It is the search of `kernels.skipping` with other rules: no choice accepts, and a run in any
    state from which a match could be reached is output when its window ends.

    Args:
        task: a task that outputs runs.
        partitions: the rows to search.
        capacity: how much a chunk can hold.
        starts: the starting rows, with the kind of output of a run from each of them.
    """

    kernel = search_live_runs

    def __init__(
        self, task: Task, partitions: Partitions, capacity: Capacity, starts: RunStarts
    ) -> None:
        max_steps = None if task.needs_event_selection or task.reads_only_data else task.max_steps
        preferred_task = replace(task, output=MatchOutput.PREFERRED, max_steps=max_steps)
        self.starts = starts
        arrays = prepare_input(preferred_task, partitions)
        super().__init__(preferred_task, arrays, capacity)
        self.replace_rules()

    def replace_rules(self) -> None:
        """Replace the rules: no choice accepts, and live runs are output when their windows end."""
        accepts = self.rules.program[:, layout.TARGET] == layout.ACCEPT
        program = self.rules.program[~accepts]
        states = np.arange(len(self.rules.first_choice))
        first_choice = np.searchsorted(program[:, layout.SOURCE], states)
        self.rules = self.rules._replace(program=program, first_choice=first_choice)

        is_live = np.array(mark_live_states(self.task.pattern.folding.choices), np.int64)
        assert self.selection_rules is not None
        self.selection_rules = self.selection_rules._replace(ending_kinds=is_live)

    @property
    def keeps_states(self) -> bool:
        """Return whether reached states are kept, because some failures cannot be remembered."""
        compiled_task = self.arrays.compiled_task
        return compiled_task.linked_conditions is not None and not compiled_task.remembers_all

    @property
    def shapes(self) -> Shapes:
        """Return the arrays of the search, and the table of states, which is empty if unused."""
        size = self.sizes[layout.RUNS_FULL] if self.keeps_states else 0
        return super().shapes | self.shape_table(size)

    def build_arguments(self) -> tuple[object, ...]:
        """Return the arguments of the kernel, which gets no negation, because it finds no match."""
        rules = self.rules
        selection_rules = self.selection_rules
        rows = self.arrays.rows
        table = self.working_arrays["table"]
        return rules, selection_rules, rows, self.work, self.conditions, table, self.starts
