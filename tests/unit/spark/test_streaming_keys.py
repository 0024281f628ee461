"""Keys of a bucket: equal keys get the same number, and flat arrays hold values of several keys."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pyarrow as pa

from matchrec.plan.clauses import EventSelection, Grouping
from matchrec.search.flat_arrays import list_positions
from matchrec.search.incremental import make_empty_state
from matchrec.search.kernels import carried_totals as layout
from matchrec.search.matches import make_empty_matches, make_one_row_matches
from matchrec.search.task import TaskTotals, Total, TotalFunction
from matchrec.spark.streaming.arrival import SearchRows
from matchrec.spark.streaming.event_selection_states import EventSelectionStates, HeldMatchesOfKeys
from matchrec.spark.streaming.key_rows import number_search_rows, shift_to_partition
from matchrec.spark.streaming.key_states import write_key_states
from matchrec.spark.streaming.keyed_values import KeyedValues
from matchrec.spark.streaming.search import KeyStates
from matchrec.worker.equal_codes import encode_by_equality, number_rows
from tests.tasks.selection import build_task, make_query


def test_keys_are_numbered_as_they_first_come() -> None:
    codes = [
        encode_by_equality(pa.array(values))
        for values in (["b", None, "b", "a", None], [1, 1, 2, 1, 1])
    ]
    keys = number_rows(codes)
    assert keys.numbers.tolist() == [0, 1, 2, 3, 1]
    assert keys.first_rows.tolist() == [0, 1, 2, 3]
    no_keys = number_rows([np.zeros(0, np.int64)])
    assert not len(no_keys.numbers)
    assert not len(no_keys.first_rows)


def test_a_null_struct_differs_from_a_struct_of_nulls() -> None:
    fields = {"x": 0.0, "y": None}
    values = pa.array([fields, None, {"x": -0.0, "y": None}, {"x": None, "y": None}, {"x": None}])
    assert encode_by_equality(values)[[0, 2]].tolist() == [encode_by_equality(values)[0]] * 2
    assert len(set(encode_by_equality(values).tolist())) == 3
    assert encode_by_equality(values)[1] == -1


def test_values_of_some_keys_in_another_order() -> None:
    values = KeyedValues(np.array([1, 2, 3, 4]), np.array([2, 0, 1, 1]))
    chosen = values.take(np.array([3, 1, 0, 0]))
    assert chosen.values.tolist() == [4, 1, 2, 1, 2]
    assert chosen.sizes.tolist() == [1, 0, 2, 2]
    assert [part.tolist() for part in values.split()] == [[1, 2], [], [3], [4]]
    both = values.append(chosen).take(np.array([4, 0]))
    assert both.values.tolist() == [4, 1, 2]
    assert list_positions(np.array([5, 0]), np.array([2, 3])).tolist() == [5, 6, 0, 1, 2]


def test_arrays_of_a_state_have_the_names_of_its_fields() -> None:
    """A change of these names needs another `bucket_state.FORMAT`."""
    key_states = KeyStates(
        keys=np.array([0]),
        search_states=EventSelectionStates.join([make_empty_state(0)]),
        wake_up_times=np.array([5]),
        has_failed=np.array([False]),
        kept_rows=KeyedValues.concatenate([np.array([7])]),
    )
    arrays = write_key_states("rule", key_states)
    single = ["keys", "wake_up_times", "has_failed", "kept_rows", "held.offsets"]
    single += ["rows_searched", "last_match_number"]
    several = ["row_numbers", "live_runs.runs", "live_runs.registers", "live_runs.nodes"]
    several += ["start_bounds", "held.partition", "held.number", "held.start", "held.classifiers"]
    several += ["held.is_excluded", "held.rows", "held.completing_rows", "held.kind"]
    names = [*single, *several, *(f"{name} sizes" for name in several)]
    assert sorted(arrays) == sorted(f"rule {name}" for name in names)
    assert arrays["rule kept_rows"].tolist() == [7]


def test_rows_that_were_kept_and_not_searched_have_numbers() -> None:
    """Rows 1 and 2 of key 0 were kept, and only row 1 was searched. Key 1 is new."""
    empty_state = make_empty_state(0)
    searched_state = replace(empty_state, rows_searched=2, row_numbers=np.array([1]))
    search_rows = SearchRows(
        table=pa.table({"x": [0, 0, 0, 0, 0]}),
        starts=np.array([0, 3, 5]),
        new_counts=np.array([1, 2]),
        indices=np.arange(5),
        watermark=0,
    )
    states = EventSelectionStates.join([searched_state, empty_state])
    assert number_search_rows(states, search_rows).tolist() == [1, 2, 3, 0, 1]


def test_all_fields_of_matches_that_wait_are_kept() -> None:
    matches = make_empty_matches()
    set_fields = [
        field.name for field in fields(matches) if getattr(matches, field.name) is not None
    ]
    assert sorted(field.name for field in fields(HeldMatchesOfKeys)) == sorted(set_fields)


def test_rows_of_one_key_are_found_among_those_of_several() -> None:
    """Rows of extremes are found, too. An extreme that is not known has no row."""
    totals = (
        Total(TotalFunction.MIN, TotalFunction.FIRST, frozenset([0]), 0, is_float=False),
        Total(TotalFunction.SUM, TotalFunction.FIRST, frozenset([0]), 0, is_float=False),
    )
    task = replace(
        build_task(make_query("A+", EventSelection.SKIP_TILL_ANY_MATCH)),
        totals=TaskTotals(totals, Grouping.END),
    )
    words = np.zeros((2, layout.count_words(len(totals))), np.int64)
    extreme, added = layout.locate_total(0), layout.locate_total(1)
    words[0, extreme + layout.KNOWN_COUNT + 2] = words[:, added + layout.KNOWN_COUNT + 2] = 1
    words[:, extreme + layout.VALUE + layout.ROW] = words[:, added + layout.VALUE + layout.ROW] = 2
    matches = make_one_row_matches(np.zeros(2, np.int64), np.array([3, 4]), np.zeros(2, np.int16))
    shifted = shift_to_partition(task, replace(matches, totals=words), 6, 100)
    assert (shifted.partition.tolist(), shifted.start.tolist()) == ([6, 6], [103, 104])
    assert shifted.totals is not None
    assert shifted.totals[:, extreme + layout.VALUE + layout.ROW].tolist() == [102, 2]
    assert shifted.totals[:, added + layout.VALUE + layout.ROW].tolist() == [2, 2]
