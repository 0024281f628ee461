"""Small kernels, compiled so that Python can call them."""

import numpy as np

from matchrec.automaton.program import ANCHOR_END, ANCHOR_START
from matchrec.jit.decorators import kernel
from matchrec.jit.views import share_with_python
from matchrec.plan.clauses import SkipTo
from matchrec.search.kernel_input import prepare_input
from matchrec.search.kernels import layout
from matchrec.search.kernels.all_matches import AllMatchesProgress
from matchrec.search.kernels.buffer import compact, unwind
from matchrec.search.kernels.distances import DistanceProgress
from matchrec.search.kernels.mapping import is_anchored
from matchrec.search.kernels.match_order import MappedRows, mark_repeated_matches, sort_groups
from matchrec.search.kernels.memo import has_failed, remember_failure
from matchrec.search.kernels.search_loop import finish_match
from matchrec.search.kernels.skipping import SkippingProgress
from matchrec.search.matches import encode_skip, find_skip_targets
from tests.tasks.contiguous import make_query, read_rows


def build_kernel(function):
    """Return a compiled function that Python can call."""
    return kernel(function.py_func)


def test_a_ring_of_four_rows_remembers_the_four_from_the_starting_row_on() -> None:
    bits = np.zeros((4, 2), np.uint8)
    progress = layout.make_record(layout.RememberedRows)
    remember, failed = build_kernel(remember_failure), build_kernel(has_failed)
    assert remember(bits, progress, 9, 3)
    assert failed(bits, progress, 9, 3)
    assert not failed(bits, progress, 8, 3)
    assert not failed(bits, progress, 9, 7)
    assert not remember(bits, progress, 9, 4)
    progress.start = 2
    assert remember(bits, progress, 0, 5)
    assert failed(bits, progress, 9, 3)
    assert not failed(bits, progress, 9, 4)
    progress.memo_from = 4
    assert not failed(bits, progress, 9, 3)


def test_matches_that_are_found_out_of_order_are_sorted_and_equal_ones_marked() -> None:
    matches_in_order = [
        ([1, 2], [0, 1]),
        ([1, 2], [0, 0]),
        ([1, 2], [0, 1]),
        ([0, 2], [1, 1]),
        ([1], [0]),
    ]
    offsets = np.cumsum([0, *(len(rows) for rows, _ in matches_in_order)])
    rows = np.concatenate([rows for rows, _ in matches_in_order]).astype(np.int64)
    variables = np.concatenate([names for _, names in matches_in_order]).astype(np.int16)
    groups, order = np.array([0, 4, 5]), np.arange(5)
    is_repeated, matches = np.zeros(5, np.bool_), MappedRows(offsets, rows, variables)
    assert not mark_repeated_matches(groups, order, is_repeated, matches)
    sort_groups(groups, order, np.empty_like(order), matches)
    assert mark_repeated_matches(groups, order, is_repeated, matches)
    assert [matches_in_order[index] for index in order[:4]] == sorted(matches_in_order[:4])
    assert is_repeated.tolist() == [False, False, False, True, False]


def test_anchors_hold_only_at_the_ends_of_a_partition() -> None:
    anchored, progress = build_kernel(is_anchored), layout.make_record(layout.Progress)
    progress.partition_begin, progress.partition_end = 3, 9
    assert anchored(ANCHOR_START, 3, progress)
    assert not anchored(ANCHOR_START, 4, progress)
    assert anchored(ANCHOR_END, 9, progress)
    assert not anchored(ANCHOR_START | ANCHOR_END, 9, progress)


def test_a_finished_match_sets_the_next_starting_row() -> None:
    variables = np.array([0, 1, 1, 2], np.int32)

    names = make_query("A B C")
    rows = read_rows("A").partitions(names.variables)
    rules = prepare_input(names.task(), rows, for_event_selection=False).rules

    def finish(to: SkipTo, length: int = 4, variable: str | None = None) -> tuple[int, int]:
        """Finish a match, and return the status and the next starting row."""
        program = np.zeros((3, layout.CHOICE_SIZE), np.int64)
        members = {"B": frozenset([1])}
        program[:, layout.IS_TARGET] = find_skip_targets(variable, members, np.arange(3))
        match_arrays = np.zeros((4, 2), np.int64)
        progress = layout.make_record(layout.RememberedRows)
        progress.match_limit = layout.NO_LIMIT
        skip_rules = rules._replace(program=program, skip=encode_skip(to))
        output = layout.OutputArrays(match_arrays, variables, np.zeros(0, np.int64))
        status = build_kernel(finish_match)(10, length, skip_rules, output, progress, None)
        assert match_arrays[:, 0].tolist()[:3] == [0, 1, 10]
        assert match_arrays[layout.MATCH_OFFSET, 1] == length
        return status, int(progress.start)

    assert finish(SkipTo.NEXT_ROW) == (layout.DONE, 11)
    assert finish(SkipTo.PAST_LAST_ROW) == (layout.DONE, 14)
    assert finish(SkipTo.FIRST, variable="B") == (layout.DONE, 11)
    assert finish(SkipTo.LAST, variable="B") == (layout.DONE, 12)
    assert finish(SkipTo.LAST, 0, "B") == (layout.DONE, 11)
    assert finish(SkipTo.LAST, 1, "B")[0] == layout.SKIP_TO_NO_ROW


def test_compacting_keeps_what_runs_and_the_best_match_reach() -> None:
    nodes = np.array([[7, -1], [8, 0], [9, 0], [5, 1], [6, 2]], np.int32)
    runs = np.zeros((2, 2, layout.RUN_SIZE), np.int64)
    runs[0, 0] = 1, 4, 0
    runs[0, 1] = -8, 3, 0  # waits with a failed condition: its node is a choice
    progress = layout.make_record(layout.BufferState)
    progress.node_count, progress.run_count, progress.best_node = 5, 2, 2
    compact(0, None, runs, nodes, np.empty(5, np.int32), progress)
    assert progress.node_count == 3
    assert nodes[:3].tolist() == [[7, -1], [9, 0], [6, 1]]
    assert runs[0, :, layout.RUN_NODE].tolist() == [2, 3]
    assert progress.best_node == 1
    variables = np.zeros(4, np.int32)
    build_kernel(unwind)(nodes, 2, layout.NODE_CHOICE, variables, 1, 3)
    assert variables.tolist() == [0, 7, 9, 6]


def list_classes(kind: type[layout.Record]) -> set[type[layout.Record]]:
    """Return a class and all its subclasses."""
    subclasses = {other for subclass in kind.__subclasses__() for other in list_classes(subclass)}
    return {kind} | subclasses


def test_no_progress_begins_with_all_fields_of_another() -> None:
    """Otherwise numba would run code that was compiled for the shorter record, and warn."""
    kinds = list_classes(layout.Progress)
    assert {DistanceProgress, SkippingProgress, AllMatchesProgress} <= kinds
    fields = [tuple(layout.iterate_fields(kind)) for kind in kinds]
    for names in fields:
        assert len(set(names)) == len(names)
        longer = [other for other in fields if len(other) > len(names)]
        assert [other for other in longer if other[: len(names)] == names] == []


def test_conditions_and_python_see_the_progress_of_a_search() -> None:
    progress = layout.make_record(SkippingProgress)
    read_by_conditions = layout.view_progress(progress)
    read_by_python = share_with_python(progress)
    progress.match_number, read_by_python.partition_end, progress.best_start = 7, 9, 5
    assert (read_by_conditions.match_number, read_by_conditions.partition_end) == (7, 9)
    assert share_with_python(read_by_conditions).match_number == 7
    assert (read_by_python.best_start, progress.partition_end) == (5, 9)
