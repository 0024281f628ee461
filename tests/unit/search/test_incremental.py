"""A search that stops and goes on finds what one search over all rows finds.

Rows come in pieces; a window ends by the clock before the next row comes, or with it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.incremental import (
    ResumedSearch,
    SearchCall,
    SearchState,
    find_possible_starts,
    make_empty_state,
    pack_state,
    unpack_state,
)
from matchrec.search.kernel_input import compile_task
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Task
from matchrec.spark.streaming.arrival import ColumnMap, Memory, read_memory, write_memory
from tests.generators.selection import cases, sequences
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.tasks.contiguous import search
from tests.tasks.selection import WindowedRows, task

EXAMPLES = examples(75)
Found = tuple[int, tuple[int, ...], tuple[int, ...]]  # number, rows, variables


@pytest.mark.slow  # compiles a search of its own
@settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
@given(
    st.one_of(
        cases(
            shapes=sequences(),
            selection=selection,
            output=output,
            depends_on_run=depends,
            most_rows=7,
            steps=(0,),  # a row's neighbours may not have come yet: no front end asks for them
        )
        for selection in EventSelection
        for output in (MatchOutput.ALL, MatchOutput.NON_OVERLAPPING)
        for depends in (False, True)
    ),
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=6),
)
def test_pieces_give_what_the_whole_gives(
    case: tuple[SelectionQuery, WindowedRows], pieces: list[tuple[int, bool]]
) -> None:
    query, rows = case
    asked = task(query)
    for partition in range(len(rows.rows.words)):
        whole = one_partition(rows.partitions(asked.variables), partition)
        try:
            expected = listed(
                list(search(SearchAlgorithm("breadth_first"), asked, whole)), np.arange(whole.rows)
            )
        except RunFailure:
            continue
        assert in_pieces(asked, whole, pieces) == expected


def one_partition(all_rows: Partitions, partition: int) -> Partitions:
    begin, end = all_rows.starts[partition : partition + 2]
    taken = chosen(all_rows, np.arange(begin, end))
    ends = np.full(end - begin, end - begin)
    if all_rows.window_end is not None:
        ends = all_rows.window_end[begin:end] - begin
    return replace(taken, window_end=ends)


def chosen(rows: Partitions, numbers: IntArray) -> Partitions:
    """Return some of the rows as one partition, without their windows."""
    return Partitions(
        np.array([0, len(numbers)]),
        rows.satisfied[numbers],
        rows.columns[:, numbers],
        rows.valid[:, numbers],
        rows.integers,
    )


def in_pieces(asked: Task, whole: Partitions, pieces: list[tuple[int, bool]]) -> list[Found]:
    state = make_empty_state(compile_task(asked, whole.integers).registers)
    come, found = 0, []
    for size, clock in (*pieces, (whole.rows, True)):
        come = min(whole.rows, come + size)
        numbers = np.concatenate([state.row_numbers, np.arange(state.rows_searched, come)])
        call = call_of(asked, whole, numbers, (len(state.row_numbers), come, clock))
        matches, (then, kept) = matches_and_answer(asked, state, call)
        if not (asked.absences or len(state.row_numbers) or may_begin(asked, call)):
            assert sum(match.count for match in matches) == len(kept) == 0
            assert then.is_idle
        found += listed(matches, numbers)
        assert then.row_numbers.tolist() == numbers[kept].tolist()
        state = through_bytes(then)
    assert state.is_idle
    return found


def matches_and_answer(
    asked: Task, state: SearchState, call: SearchCall
) -> tuple[list[Matches], tuple[SearchState, IntArray]]:
    """Return what a call finds, and what the next one needs."""
    search = ResumedSearch(asked, state, call)
    return list(search.find_matches()), search.finish()


def may_begin(asked: Task, call: SearchCall) -> bool:
    """Return whether a run may begin with a row. If not, a key that keeps nothing has no run."""
    return bool(find_possible_starts(asked, call.partitions).any())


def call_of(
    asked: Task, whole: Partitions, numbers: IntArray, moment: tuple[int, int, bool]
) -> SearchCall:
    """moment: how many rows are kept, how many have come, whether the clock says so first."""
    kept, come, clock = moment
    assert whole.window_end is not None
    true_end = whole.window_end[numbers]
    known = replace(chosen(whole, numbers), window_end=np.searchsorted(numbers, true_end))
    ended = (true_end <= come) if clock else (true_end < come)
    stop = needed = len(numbers)
    if any(one.before is None for one in asked.absences):
        stop = kept + int(ended[kept:].sum())
    if any(one.after is None for one in asked.absences):
        next_row = numbers[stop] if stop < len(numbers) else come
        needed = int(np.searchsorted(true_end, next_row, side="right"))
    return SearchCall(known, stop, ended, min(stop, needed))


def through_bytes(state: SearchState) -> SearchState:
    memory = Memory(None, pack_state(state), pa.table({}), pa.table({}), ColumnMap({}, ()), {})
    return unpack_state(read_memory(write_memory(memory, "of this test"), "of this test").arrays)


def listed(chunks: list[Matches], numbers: IntArray) -> list[Found]:
    found = []
    for matches in chunks:
        assert matches.rows is not None
        for i in range(matches.count):
            part = slice(*matches.offsets[i : i + 2])
            rows = numbers[matches.rows[part]].tolist()
            variables = matches.classifiers[part].tolist()
            found.append((int(matches.number[i]), tuple(rows), tuple(variables)))
    return found
