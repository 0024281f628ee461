"""Reads of matches that share their rows give what the same matches give without sharing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.run_condition import Reduction
from matchrec.output.aggregates import AggregateReader, find_total_rows
from matchrec.output.exact_sums import (
    are_float_sums_exact,
    are_integer_sums_exact,
    find_common_exponent,
)
from matchrec.output.match_reader import MatchReader
from matchrec.output.reads import (
    ReadBasicAggregate,
    ReadChosenValue,
    ReadClassifierName,
    ReadList,
    ReadNavigation,
    ReadPosition,
    can_read_all_from_chains,
)
from matchrec.output.rows import find_output_rows
from matchrec.output.total_kernels import sum_each_match
from matchrec.plan.clauses import AfterMatchSkip, RowsPerMatch, SkipTo
from matchrec.plan.expression import End, Navigation, Semantics
from matchrec.search.matches import Matches
from matchrec.search.partitions import Partitions
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity
from matchrec.syntax.row_pattern import parse_row_pattern
from matchrec.worker.sort_keys import encode_float_order
from tests.quick.scale import examples
from tests.tasks.contiguous import Query, Rows, search

ONE_ROW, FINAL = RowsPerMatch.ONE_ROW, Semantics.FINAL
NEXT_ROW = AfterMatchSkip(SkipTo.NEXT_ROW)
TEXTS = (
    "A+",
    "A*",
    "A B* C?",
    "(A B)* C",
    "(A | A B)* C",
    "A*? B",
    "A{2,4} (B | C)+",
    "PERMUTE(A, B+)",
)
VARIABLES = ("A", "B", "C")
FLOATS = [0.0, -0.0, 1.5, -2.5, float("nan"), float("inf")]
# No sum of these is exact, and most depend on the order of the additions.
FRACTIONS = [0.1, -0.2, 1e16, 1.0, 3e-17, -7.3]


@st.composite
def searches(draw: st.DrawFn) -> tuple[Query, Partitions]:
    """Draw a query whose matches can share rows, and rows."""
    pattern = parse_row_pattern(draw(st.sampled_from(TEXTS)))
    row = st.sets(st.sampled_from(VARIABLES)).map(frozenset)
    words = draw(st.lists(st.lists(row, min_size=1, max_size=9).map(tuple), min_size=1, max_size=3))
    query = Query(pattern, NEXT_ROW)
    return query, Rows(tuple(words)).partitions(query.variables)


def list_bits(chunks: list[Matches], read) -> list:
    """Return what is read of the matches of all chunks, one match after the other."""
    return [values for chunk in chunks for values in read(chunk)]


@settings(max_examples=examples(150), deadline=None, database=None)
@given(searches(), st.data())
def test_chains_are_read_as_the_rows_written_out(
    case: tuple[Query, Partitions], data: st.DataObject
) -> None:
    query, partitions = case
    task, rows = query.task(), partitions.row_count
    capacity = data.draw(
        st.sampled_from([Capacity(), Capacity(mapped_rows=3, matches=2, initial_rows=1)])
    )
    algorithm = SearchAlgorithm("backtracking", capacity)
    chained = list(search(algorithm, replace(task, wants_chains=True), partitions))
    plain = list(search(algorithm, task, partitions))
    variable = data.draw(st.sampled_from([None, *query.variables]))
    end, distance = data.draw(st.sampled_from(End)), data.draw(st.sampled_from([0, -1, 2]))
    offset = data.draw(st.integers(0, 3))
    navigation = Navigation(variable, end, offset, distance)
    valid = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    any_integer = st.integers(-(2**63), 2**63 - 1)
    integers = np.array(data.draw(st.lists(any_integer, min_size=rows, max_size=rows)), np.int64)
    words = np.stack([integers, integers[::-1]], axis=1)
    some = st.sampled_from(FLOATS)
    floats = encode_float_order(np.array(data.draw(st.lists(some, min_size=rows, max_size=rows))))
    few = st.integers(0, 2)  # so that some keys are equal
    keys = np.array(data.draw(st.lists(few, min_size=rows, max_size=rows)), np.int64)
    some = st.sampled_from(data.draw(st.sampled_from([FLOATS, FRACTIONS])))
    added = np.array(data.draw(st.lists(some, min_size=rows, max_size=rows)))

    def read_matches(chunk: Matches) -> list[tuple]:
        """Return what each match reads."""
        reader = MatchReader(chunk, find_output_rows(chunk, ONE_ROW), partitions, task.members)
        totals = AggregateReader(reader, variable, valid)
        index = find_total_rows(totals.reader, FINAL)
        answers = [
            chunk.start,
            reader.find_match_numbers(),
            reader.find_row_positions(navigation),
            reader.find_classifiers(Navigation(variable, end, offset)),
            totals.count_values(FINAL),
            take_or_zero(totals.sum_integers(integers, ansi=False), index),
            take_or_zero(totals.sum_decimals(words)[:, 0], index),
            take_or_zero(totals.sum_decimals(words)[:, 1], index),
            take_or_zero(totals.find_extreme_rows(integers, greatest=False), index),
            take_or_zero(totals.find_extreme_rows(floats, greatest=True), index),
            take_or_zero(totals.find_extreme_rows(floats, greatest=False), index),
            take_or_zero(totals.find_extreme_rows(keys, greatest=True, takes_last=True), index),
            take_or_zero(totals.find_extreme_rows(keys, greatest=False, takes_last=True), index),
            totals.sum_floats(added, FINAL).view(np.int64),
        ]
        return list(zip(*(answer.tolist() for answer in answers), strict=True))

    assert list_bits(chained, read_matches) == list_bits(plain, read_matches)


def take_or_zero(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the values at indices, and 0 at -1."""
    return np.where(index >= 0, np.append(values, 0)[index], 0)


@pytest.mark.parametrize("text", ["A+", "(A B)* A", "A{1,50}", "A A* B?"])
def test_a_row_is_searched_once_for_each_state(text: str) -> None:
    query = Query(parse_row_pattern(text), NEXT_ROW)
    rows = Rows((tuple([frozenset("AB")] * 2_000),)).partitions(query.variables)
    chunks = list(
        search(SearchAlgorithm("backtracking"), replace(query.task(), wants_chains=True), rows)
    )
    assert sum(int(chunk.offsets[-1]) for chunk in chunks) > 20 * rows.row_count
    searched = sum(len(chunk.rows) for chunk in chunks if chunk.rows is not None)
    # each chunk begins with the rows of a match that the one before has seen
    assert (
        searched <= 51 * (rows.row_count + 51 * len(chunks)) if "50" in text else 4 * rows.row_count
    )


def test_reads_that_chains_do_not_support() -> None:
    first = ReadNavigation(0, Navigation("A", End.FIRST, 2, 3))
    for function in Reduction:
        assert can_read_all_from_chains(
            [first, ReadBasicAggregate(function, "A", 0, FINAL)], ONE_ROW
        )
    for function in ("first_value", "max_by"):
        assert can_read_all_from_chains([first, ReadChosenValue(function, "A", 0, FINAL)], ONE_ROW)
    assert not can_read_all_from_chains([first], RowsPerMatch.ALL_ROWS_SHOW_EMPTY)
    beyond = ReadClassifierName(Navigation("A", End.FIRST, 0, 1))
    for read in (beyond, ReadList("A", 0, FINAL), ReadPosition()):
        assert not can_read_all_from_chains([first, read], ONE_ROW)


LARGEST = 2**53  # from which on a double does not hold every whole number
ONE_MATCH, TWO_MATCHES = np.array([-1, 0, 1], np.int32), np.array([-1, 0, -1], np.int32)


@pytest.mark.parametrize(
    ("values", "links", "expected"),
    [
        ([LARGEST - 3, -1, 1], ONE_MATCH, True),
        ([LARGEST - 2, -1, 1], ONE_MATCH, False),
        ([LARGEST - 2, -1, 1], TWO_MATCHES, True),
        ([LARGEST - 1, -1, 1], TWO_MATCHES, False),
        ([1.0, -0.0, 3.0], ONE_MATCH, True),
        ([0.0, -0.0, 0.0], ONE_MATCH, True),
        # all are multiples of 1/4, and so is every sum of a double
        ([0.75, 0.5, 2.0**50], ONE_MATCH, True),
        ([0.75, 0.5, 2.0**51], ONE_MATCH, False),
        # all are multiples of 2^10
        ([2.0**62, 1024.0, 3072.0], ONE_MATCH, True),
        ([2.0**63, 1024.0, 3072.0], ONE_MATCH, False),
        # floats have 24 digits, so a double adds up millions of them
        (np.float32([0.1, 0.2, 99.9]).tolist(), ONE_MATCH, True),
        ([0.1, 0.2, 0.3], ONE_MATCH, False),
        ([5e-324, 5e-324, 1e-320], ONE_MATCH, True),
        ([5e-324, 1.0, 0.0], ONE_MATCH, False),
        # their sum is infinite in this order, but not from the other end
        ([2.0**1023, 2.0**1023, -(2.0**1023)], ONE_MATCH, False),
        ([1.0, float("nan"), 3.0], ONE_MATCH, False),
        ([1.0, float("inf"), 3.0], ONE_MATCH, False),
    ],
)
def test_sums_of_doubles_that_are_rounded_on_their_way(
    values: list[float], links: np.ndarray, expected: bool
) -> None:
    rows = np.arange(3)
    assert are_float_sums_exact(np.array(values, np.float64), rows, links) is expected


def test_values_of_rows_that_do_not_count_are_not_rounded() -> None:
    values = np.array([1.0, 0.1, float("nan"), 2.0])
    assert are_float_sums_exact(values, np.array([0, -1, -1, 3]), np.array([-1, 0, 1, 2], np.int32))
    assert are_float_sums_exact(values, np.array([-1]), np.array([-1], np.int32))


def test_values_are_multiples_of_a_power_of_two() -> None:
    assert find_common_exponent(np.array([6.0, 0.0, -20.0])) == 1
    assert find_common_exponent(np.array([1.5, 2.0**60])) == -1
    assert find_common_exponent(np.array([0.0])) is None


def test_each_match_is_added_up_in_the_order_of_its_rows() -> None:
    """Four matches lead to two ends: 3-1-0, 4-1-0, 2-0 and 6-5; node 6 has two, and one is empty.

    A double cannot hold 1e16 + 1. So 1 counts only if it is added to another 1 before 1e16.
    """
    following = np.array([-1, 0, 0, 1, 1, -1, 5], np.int32)
    values = np.array([1e16, 1.0, -1e16, 1.0, 2.0, 0.5, 0.25])
    first = np.array([3, 6, 4, -1, 2, 6])
    every = np.arange(7)
    sums = sum_each_match(values, every, following, first)
    assert sums.tolist() == [1e16 + 2, 0.75, 1e16 + 4, 0.0, 0.0, 0.75]
    without = np.where(every == 1, -1, every)  # as if its value were NULL
    assert sum_each_match(values, without, following, first).tolist()[0] == 1e16


def test_sums_that_may_overflow_on_their_way() -> None:
    assert are_integer_sums_exact(np.array([2**61, -(2**61), 5]))
    assert are_integer_sums_exact(np.array([], np.int64))
    assert are_integer_sums_exact(np.array([2**62, 1]))
    assert are_integer_sums_exact(np.array([2**62, 2**62 - 1]))
    assert not are_integer_sums_exact(np.array([2**62, 2**62]))
    assert not are_integer_sums_exact(np.array([2**62, -1, 2**62 - 1]))
    assert not are_integer_sums_exact(np.array([-(2**63)]))
