"""Output rows of matches, and navigation in them, over arrays worked out by hand."""

import numpy as np
import pytest

from matchrec.output.aggregates import AggregateReader, find_total_rows
from matchrec.output.match_reader import MatchReader, find_last_marked
from matchrec.output.rows import (
    OutputRows,
    find_matched_rows,
    find_output_rows,
    find_unmatched_rows,
)
from matchrec.output.total_kernels import sum_values
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.search.matches import Matches, RunFailure
from matchrec.search.partitions import Partitions

A, B = 0, 1
ROWS = 8

# partition 0 is rows 0-4, partition 1 rows 5-7
# match 0: rows 1-3 as A B A, the B excluded; match 1: empty at row 4; match 2: rows 5-6 as B B
MATCHES = Matches(
    partition=np.array([0, 0, 1]),
    number=np.array([1, 2, 1]),
    start=np.array([1, 4, 5]),
    offsets=np.array([0, 3, 3, 5]),
    classifiers=np.array([A, B, A, B, B], np.int16),
    is_excluded=np.array([False, True, False, False, False]),
)
PARTITIONS = Partitions(
    starts=np.array([0, 5, 8]),
    condition_bits=np.zeros((ROWS, 1), np.uint64),
    columns=np.zeros((0, ROWS), np.int64),
    valid=np.zeros((0, ROWS), np.bool_),
    integer_count=0,
)
MEMBERS = {"A": frozenset({A}), "B": frozenset({B}), "U": frozenset({A, B})}


def make_reader(rows: OutputRows) -> MatchReader:
    """Return a reader of the matches."""
    return MatchReader(MATCHES, rows, PARTITIONS, MEMBERS)


ONE_ROW = find_output_rows(MATCHES, RowsPerMatch.ONE_ROW)
ALL_ROWS = find_output_rows(MATCHES, RowsPerMatch.ALL_ROWS_SHOW_EMPTY)


def test_one_row_per_match() -> None:
    assert ONE_ROW.input_rows.tolist() == [1, 4, 5]
    assert ONE_ROW.current_rows.tolist() == [2, -1, 4]


def test_all_rows_leave_out_excluded_ones_and_show_empty_matches() -> None:
    assert ALL_ROWS.input_rows.tolist() == [1, 3, 4, 5, 6]
    assert ALL_ROWS.match_indices.tolist() == [0, 0, 1, 2, 2]
    assert ALL_ROWS.current_rows.tolist() == [0, 2, -1, 3, 4]


def test_empty_matches_may_be_omitted() -> None:
    rows = find_output_rows(MATCHES, RowsPerMatch.ALL_ROWS_OMIT_EMPTY)
    assert rows.input_rows.tolist() == [1, 3, 5, 6]


def test_unmatched_rows_are_in_no_match_and_not_in_an_empty_one() -> None:
    rows = find_unmatched_rows(find_matched_rows(MATCHES, ROWS), PARTITIONS)
    assert rows.input_rows.tolist() == [0, 7]
    assert make_reader(rows).find_match_numbers().tolist() == [-1, -1]
    assert make_reader(rows).find_row_positions(Navigation("A")).tolist() == [-1, -1]


RUNNING, FINAL = Semantics.RUNNING, Semantics.FINAL


@pytest.mark.parametrize(
    ("navigation", "on_each_row"),
    [
        (Navigation("A", semantics=RUNNING), [1, 3, -1, -1, -1]),
        (Navigation("A", semantics=FINAL), [3, 3, -1, -1, -1]),
        (Navigation("A", End.FIRST, 1, semantics=RUNNING), [-1, 3, -1, -1, -1]),
        (Navigation("A", End.FIRST, 1, semantics=FINAL), [3, 3, -1, -1, -1]),
        (Navigation("B", semantics=RUNNING), [-1, 2, -1, 5, 6]),
        (Navigation("B", End.LAST, 1, semantics=FINAL), [-1, -1, -1, 5, 5]),
        (Navigation(None, End.FIRST), [1, 1, -1, 5, 5]),
        (Navigation(None, End.LAST, 0, -1), [0, 2, -1, -1, 5]),
        (Navigation(None, End.LAST, 0, 2), [3, -1, -1, 7, -1]),
        (Navigation("U", End.LAST, 1, 1), [-1, 3, -1, -1, 6]),
    ],
)
def test_navigation_finds_a_row_for_each_output_row(
    navigation: Navigation, on_each_row: list[int]
) -> None:
    assert make_reader(ALL_ROWS).find_row_positions(navigation).tolist() == on_each_row


def test_classifiers_are_read_at_the_navigated_row() -> None:
    read = make_reader(ALL_ROWS)
    assert read.find_classifiers(Navigation()).tolist() == [A, A, -1, B, B]
    assert read.find_classifiers(Navigation(physical_offset=-1)).tolist() == [-1, B, -1, -1, B]
    following = Navigation(physical_offset=1, semantics=RUNNING)
    assert read.find_classifiers(following).tolist() == [B, -1, -1, B, -1]


def test_running_and_final_sums_are_read_for_each_output_row() -> None:
    values = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
    valid = np.array([True] * 6 + [False] + [True])
    read = AggregateReader(make_reader(ALL_ROWS), None, valid)
    sums = sum_values(values, read.counted_rows, read.links)
    assert sums[find_total_rows(read.reader, RUNNING)[[0, 1, 3, 4]]].tolist() == [
        1.0,
        7.0,
        16.0,
        16.0,
    ]
    assert read.count_values(RUNNING).tolist() == [1, 3, 0, 1, 1]
    assert read.count_values(FINAL).tolist() == [3, 3, 0, 1, 1]
    greatest = read.find_extreme_rows(values.astype(np.int64), greatest=True)
    assert greatest.tolist() == [1, 2, 3, 5, 5]


def test_counts_of_all_rows() -> None:
    """A match of three rows, one without rows, and one of two; then the counts of B alone."""
    every_row = np.ones(ROWS, np.bool_)
    read = AggregateReader(make_reader(ALL_ROWS), None, every_row)
    assert read.count_values(RUNNING).tolist() == [1, 3, 0, 1, 2]
    assert read.count_values(FINAL).tolist() == [3, 3, 0, 2, 2]
    read_b = AggregateReader(make_reader(ALL_ROWS), "B", every_row)
    assert read_b.count_values(FINAL).tolist() == [1, 1, 0, 2, 2]


def test_an_integer_sum_that_overflows_names_its_row() -> None:
    values = np.full(ROWS, 2**62)
    read = AggregateReader(make_reader(ONE_ROW), None, np.ones(ROWS, np.bool_))
    with pytest.raises(RunFailure) as caught:
        read.sum_integers(values, ansi=True)
    assert caught.value.row == 2
    assert read.sum_integers(values, ansi=False)[0] == 2**62


def test_the_last_marked_row_is_the_nth_from_the_end() -> None:
    generator = np.random.default_rng(7)
    for _ in range(200):
        mapped_count = int(generator.integers(0, 12))
        classifiers = generator.integers(0, 3, mapped_count).astype(np.int16)
        is_marked = generator.random(3) < 0.5
        begin = generator.integers(0, mapped_count + 1, 6)
        end = np.minimum(mapped_count, begin + generator.integers(0, 6, 6))
        marked_rows = [
            [row for row in range(*bounds) if is_marked[classifiers[row]]]
            for bounds in zip(begin.tolist(), end.tolist(), strict=True)
        ]
        last_rows = find_last_marked(classifiers, is_marked, begin, end)
        assert last_rows.tolist() == [rows[-1] if rows else -1 for rows in marked_rows]
