"""A search that stops and goes on finds the same matches as one search over all rows.

Rows arrive in pieces. A window ends by the clock before the next row arrives, or with that row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.search.beginnings import mark_possible_first_rows
from matchrec.search.compiled_task import compile_task
from matchrec.search.incremental import ResumedSearch, SearchCall, SearchState, make_empty_state
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import IntArray, Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Task
from matchrec.spark.streaming.bucket_state import (
    BucketState,
    ColumnMap,
    read_bucket_state,
    write_bucket_state,
)
from matchrec.spark.streaming.event_selection import EventSelectionSearch
from matchrec.spark.streaming.event_selection_states import EventSelectionStates
from matchrec.spark.streaming.key_states import read_key_states, write_key_states
from matchrec.spark.streaming.keyed_values import KeyedValues
from matchrec.spark.streaming.search import KeyStates
from tests.generators.selection import cases, sequences
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.tasks.contiguous import search
from tests.tasks.selection import WindowedRows, build_task

EXAMPLES = examples(75)
FoundMatch = tuple[int, tuple[int, ...], tuple[int, ...]]  # number, rows, variables


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
            steps=(0,),  # no front end reads neighbours in streams: they may not have arrived yet
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
    task = build_task(query)
    for partition in range(len(rows.rows.words)):
        partition_rows = take_partition(rows.partitions(task.variables), partition)
        try:
            expected = list_matches(
                list(search(SearchAlgorithm("breadth_first"), task, partition_rows)),
                np.arange(partition_rows.row_count),
            )
        except RunFailure:
            continue
        assert search_in_pieces(task, partition_rows, pieces) == expected


def take_partition(all_rows: Partitions, partition: int) -> Partitions:
    """Return one of several partitions, with windows."""
    begin, end = all_rows.starts[partition : partition + 2]
    rows = take_rows(all_rows, np.arange(begin, end))
    ends = np.full(end - begin, end - begin)
    if all_rows.window_end is not None:
        ends = all_rows.window_end[begin:end] - begin
    return replace(rows, window_end=ends)


def take_rows(rows: Partitions, numbers: IntArray) -> Partitions:
    """Return some of the rows as one partition, without their windows."""
    return Partitions(
        np.array([0, len(numbers)]),
        rows.condition_bits[numbers],
        rows.columns[:, numbers],
        rows.valid[:, numbers],
        rows.integer_count,
    )


def search_in_pieces(
    task: Task, partition_rows: Partitions, pieces: list[tuple[int, bool]]
) -> list[FoundMatch]:
    """Return the matches of a partition whose rows arrive in pieces.

    Args:
        task: the task of the search.
        partition_rows: all rows of the partition, with windows.
        pieces: for each piece, the number of rows, and whether windows end by the clock.
    """
    state = make_empty_state(compile_task(task, partition_rows.integer_count).register_count)
    arrived = 0
    result = []
    for size, ends_by_clock in (*pieces, (partition_rows.row_count, True)):
        arrived = min(partition_rows.row_count, arrived + size)
        numbers = np.concatenate([state.row_numbers, np.arange(state.rows_searched, arrived)])
        call = make_call(
            task,
            partition_rows,
            numbers,
            kept=len(state.row_numbers),
            arrived=arrived,
            ends_by_clock=ends_by_clock,
        )
        matches, (next_state, kept) = search_and_finish(task, state, call)
        if not (task.absences or len(state.row_numbers) or can_begin(task, call)):
            assert sum(match.count for match in matches) == len(kept) == 0
            assert next_state.is_idle
        result += list_matches(matches, numbers)
        assert next_state.row_numbers.tolist() == numbers[kept].tolist()
        state = write_and_read(next_state)
    assert state.is_idle
    return result


def search_and_finish(
    task: Task, state: SearchState, call: SearchCall
) -> tuple[list[Matches], tuple[SearchState, IntArray]]:
    """Return the matches of a call, the state after it, and the rows that the next call needs."""
    search = ResumedSearch(task, state, call)
    return list(search.find_matches()), search.finish()


def can_begin(task: Task, call: SearchCall) -> bool:
    """Return whether a run may begin with a row. If not, a key without kept rows has no run."""
    return bool(mark_possible_first_rows(task, call.partitions).any())


def make_call(
    task: Task,
    partition_rows: Partitions,
    numbers: IntArray,
    *,
    kept: int,
    arrived: int,
    ends_by_clock: bool,
) -> SearchCall:
    """Return the call of a search over some rows of a partition.

    Args:
        task: the task of the search.
        partition_rows: all rows of the partition, with windows.
        numbers: the numbers of the rows of the call.
        kept: how many of these were kept from earlier calls.
        arrived: how many rows of the partition have arrived.
        ends_by_clock: whether windows end by the clock before the next row arrives.
    """
    assert partition_rows.window_end is not None
    true_end = partition_rows.window_end[numbers]
    partitions = replace(
        take_rows(partition_rows, numbers), window_end=np.searchsorted(numbers, true_end)
    )
    ended = (true_end <= arrived) if ends_by_clock else (true_end < arrived)
    stop = needed = len(numbers)
    if any(absence.variables_after is None for absence in task.absences):
        stop = kept + int(ended[kept:].sum())
    if any(absence.variables_before is None for absence in task.absences):
        next_row = numbers[stop] if stop < len(numbers) else arrived
        needed = int(np.searchsorted(true_end, next_row, side="right"))
    return SearchCall(partitions, stop, ended, min(stop, needed))


def write_and_read(state: SearchState) -> SearchState:
    """Return the state after it was written to bytes and read again."""
    query: Any = None  # storing needs no query
    key_states = KeyStates(
        keys=np.zeros(1, np.int64),
        search_states=EventSelectionStates.join([state]),
        wake_up_times=np.zeros(1, np.int64),
        has_failed=np.zeros(1, np.bool_),
        kept_rows=KeyedValues.concatenate([np.zeros(0, np.int64)]),
    )
    arrays = write_key_states("0", key_states)
    bucket_state = BucketState(None, arrays, pa.table({}), pa.table({}), ColumnMap({}, ()), {})
    stored = read_bucket_state(write_bucket_state(bucket_state, "of this test"), "of this test")
    read_states = read_key_states(EventSelectionSearch(query), stored.arrays)
    assert isinstance(read_states.search_states, EventSelectionStates)
    (result,) = read_states.search_states.split()
    return result


def list_matches(chunks: list[Matches], numbers: IntArray) -> list[FoundMatch]:
    """Return the matches of some chunks."""
    result = []
    for matches in chunks:
        assert matches.rows is not None
        for i in range(matches.count):
            part = slice(*matches.offsets[i : i + 2])
            rows = numbers[matches.rows[part]].tolist()
            variables = matches.classifiers[part].tolist()
            result.append((int(matches.number[i]), tuple(rows), tuple(variables)))
    return result
